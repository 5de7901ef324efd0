#!/usr/bin/env python3
"""max_memory_gb: a plan that needs one byte more is refused with every part, one that needs as much is not;
every change proposed is enough by itself; sizes are read as written or refused."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, expect_exit, main, run, run_well, scratch
from tiny_model import make_model

KEPT = scratch()
# Enough pages that fewer of them free whole huge pages.
TEXT = """version: 1
model_name: tiny
precision: {weights: as_stored, activations: f32, kv_cache: f32}
input_constraints:
  seq_len: {min: 1, max: 8, step: 8}
  kv_cache_seq_len: {max: 32768}
targets:
  - {arch: x86_64, cpu: x86-64-v3, threads: 64}
memory_optimization: {kv_cache_page_size: 64}
"""


def model():
    path = os.path.join(KEPT.name, "tiny.gguf")
    if not os.path.exists(path):
        make_model(path, context=32768, weights="Q8_0")
    return path


def recipe(bound=None, text=TEXT):
    path = os.path.join(KEPT.name, "r.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text + (f"max_memory_gb: {bound}\n" if bound is not None else ""))
    return path


def dry(path, *options):
    return run("compile", path, "--model", model(), "--dry-run", "--json", *options, timeout=400)


def total():
    return json.loads(dry(recipe()).stdout)["memory"]


def check_to_the_byte():
    memory = total()
    need = memory["total_bytes"]
    expect_exit(dry(recipe(f'"{need} B"')), 0)
    out = os.path.join(KEPT.name, "m.ingot")
    done = run("compile", recipe(f'"{need - 1} B"'), "--model", model(), "-o", out, timeout=400)
    expect_exit(done, 4)
    expect(not os.path.exists(out), "nothing is written")
    text = done.stderr.decode()
    expect("r.yaml:10:16: error[M0001]" in text and f"takes {need} bytes, 1 more" in text, text)
    for part in memory["parts"]:
        expect(f"{part['name']} {part['bytes']}" in text, part)


def check_each_proposed_change_is_enough():
    memory = total()
    parts = {p["name"]: p["bytes"] for p in memory["parts"]}
    seen = set()
    for less in (1, parts["kv pages"] // 3, memory["total_bytes"] - 1):
        bound = f'"{memory["total_bytes"] - less} B"'
        done = dry(recipe(bound))
        expect_exit(done, 4)
        write = json.loads(done.stderr.decode().splitlines()[-1])["write"]
        for change in write.split(" | "):
            key = re.match(r"\w+", change)[0]
            seen.add(key)
            if key == "max_memory_gb":
                path = recipe(change.split(": ", 1)[1])
            else:
                value = re.search(r"(\w+)\}?$", change)[1]
                old = {"threads": r"(threads: )\d+", "kv_cache": r"(kv_cache: )f32",
                       "kv_cache_seq_len": r"(kv_cache_seq_len: \{max: )\d+"}[key]
                text, count = re.subn(old, rf"\g<1>{value}", TEXT)
                expect(count == 1, change)
                path = recipe(bound, text)
            expect_exit(dry(path), 0)
    # Fewer threads are proposed where workers have scratch.
    expect(seen - {"threads"} == {"kv_cache_seq_len", "kv_cache", "max_memory_gb"}, seen)


def check_sizes():
    """On a plan without code, which is quick."""
    gib = 1 << 30
    text = ("version: 1\nmodel_name: tiny\nprecision: {weights: Q8_0}\ntargets: [{name: l40s}]\n"
            "dims: {architecture: llama, layers: 1, hidden: 64, heads: 4, ffn: 160, vocab: 288, norm_eps: 1e-5}\n")
    plan = lambda bound=None: run("compile", recipe(bound, text), "--dry-run", "--json")
    need = json.loads(plan().stdout)["memory"]["total_bytes"]
    for written in ("64", '"64GiB"', "64 GiB", "64.5", '"70 GB"', '"70000 MB"'):
        expect_exit(plan(written), 0)
    for written, bytes_ in (("0.001", gib // 1000), ('"1MiB"', 1 << 20), ("1 kB", 1000), ('"7 B"', 7)):
        done = plan(written)
        expect_exit(done, 4)
        expect(f"takes {need} bytes, {need - bytes_} more than the {bytes_}".encode() in done.stderr, done.stderr)
    for written, code, word in (("4k", "R0006", '4KiB'), ("4G", "R0006", "4GB"), ("4 gigs", "R0006", "one of B"),
                                ("0", "R0005", "from 1 byte"), ("-1", "R0004", "a number"), ("x", "R0004", "a number"),
                                ("1e400", "R0005", "2^46"), ("99999999", "R0005", "2^46"), ("[4]", "R0004", "single"),
                                ('"4."', "R0004", "a number"), ('""', "R0004", "nothing")):
        done = run("compile", recipe(written), "--model", model(), "--dry-run")
        expect_exit(done, 3)
        expect(f"error[{code}]".encode() in done.stderr and word.encode() in done.stderr, (written, done.stderr))


if __name__ == "__main__":
    main(globals())
