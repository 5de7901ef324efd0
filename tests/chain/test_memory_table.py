#!/usr/bin/env python3
"""What is said about an artifact before it runs is what is: the memory table to the byte and its reasons
line by line, the size of the file, what fits; and a dump goes on only with what it was made of."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, expect_exit, main, run, run_well, scratch
from tiny_model import make_model

KEPT = scratch()
# Values far enough apart that a part that depends on a key changes by whole pages.
VALUES = {
    "precision.activations": ["f32", "int8", "bf16"],
    "precision.kv_cache": ["f32", "f16"],
    "input_constraints.seq_len.max": ["512", "64"],
    "input_constraints.seq_len.step": ["512", "128"],
    "input_constraints.kv_cache_seq_len.max": ["8192", "32768"],
    "targets[].cpu": ["[x86-64-v3, x86-64-v4]", "x86-64-v3"],
    "targets[].threads": ["2", "40"],
    "memory_optimization.kv_cache_page_size": ["64", "512"],
}
FIRST = {key: values[0] for key, values in VALUES.items()}


def recipe(name, values, left_out=()):
    """A recipe file with one key a line, so that lines are keys."""
    lines = ["version: 1", "model_name: tiny"]
    section = None
    for key in sorted(values):
        if key in left_out:
            continue
        head, leaf = key.split(".", 1)
        if head != section:
            lines.append("targets:\n  - arch: x86_64" if head == "targets[]" else f"{head}:")
            section = head
        lines.append(f"    {leaf}: {values[key]}" if head == "targets[]" else
                     f"  {leaf.replace('.', ': {')}: {values[key]}" + ("}" if "." in leaf else ""))
    text = "\n".join(lines) + "\n"
    # seq_len has two leaves: one flow mapping over two lines.
    text = re.sub(r"  seq_len: \{max: (\d+)\}\n  seq_len: \{step: (\d+)\}",
                  r"  seq_len: {max: \1,\n            step: \2}", text)
    path = os.path.join(KEPT.name, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def model(name="tiny.gguf", **shape):
    path = os.path.join(KEPT.name, name)
    if not os.path.exists(path):
        make_model(path, context=32768, vocab_multiple=32, weights="Q8_0", **shape)
    return path


def dry_run(path, *options):
    return json.loads(run_well("compile", path, "--model", model(), "--dry-run", "--json", *options,
                               timeout=400))


def compiled(path, *options, name="m.ingot"):
    artifact = os.path.join(KEPT.name, name)
    said = json.loads(run_well("compile", path, "--model", model(), "-o", artifact, "--json", *options,
                               timeout=400))
    return artifact, said


def check_the_same_everywhere():
    """Dry run, compile, inspect and the running process say the same; the lines add up exactly."""
    path = recipe("same.yaml", FIRST)
    artifact, said = compiled(path)
    seen = json.loads(run_well("inspect", artifact, "--json"))
    planned = dry_run(path)
    for document in (said, seen, planned):
        memory = document["memory"]
        expect(sum(part["bytes"] for part in memory["parts"]) == memory["total_bytes"], memory)
        expect(memory == seen["memory"], (memory, seen["memory"]))
        expect(document["capacity"] == seen["capacity"], document["capacity"])
    ran = json.loads(run_well("run", artifact, "-p", "a", "-n", "2", "--json"))
    expect(ran["memory_bytes"] == seen["memory"]["total_bytes"], ran)
    # The text says what the JSON says.
    for text in (run_well("inspect", artifact).decode(),
                 run_well("compile", path, "--model", model(), "--dry-run", timeout=400).decode()):
        table = text[text.index("\nmemory"):text.index("\ncapacity")]
        numbers = dict(re.findall(r"^  (\S.{20,21}?) +(\d[\d ]*\d|\d) +\d+\.\d{3}", table, re.M))
        numbers = {name.strip(): int(value.replace(" ", "")) for name, value in numbers.items()}
        process = numbers.pop("process")
        total = numbers.pop("total")
        expect(sum(numbers.values()) == total == seen["memory"]["total_bytes"], (numbers, total))
        expect(process == seen["memory"]["outside"][0]["bytes"], process)


def check_the_printed_size_is_the_files():
    artifact, said = compiled(recipe("size.yaml", FIRST))
    size = os.stat(artifact).st_size
    expect(said["artifact_bytes"] == size, (said["artifact_bytes"], size))
    expect(json.loads(run_well("inspect", artifact, "--json"))["file_bytes"] == size, size)
    done = run("compile", recipe("size.yaml", FIRST), "--model", model(), "-o", artifact, timeout=400)
    for text in (done.stderr, run_well("inspect", artifact)):
        expect(f"{size:,} bytes".replace(",", " ").encode() in text, text)


def check_reasons_are_lines_of_the_recipe():
    path = recipe("lines.yaml", FIRST)
    with open(path, encoding="utf-8") as source:
        lines = source.read().splitlines()
    for part in dry_run(path)["memory"]["parts"]:
        reasons = part["set_by"].split(", ")
        expect(part["set_by"], part)
        for reason in reasons:
            found = re.fullmatch(r"recipe:(\d+) (\S+)", reason)
            if found:
                leaf = found[2].split(".")[-1]
                expect(leaf in lines[int(found[1]) - 1], (reason, lines[int(found[1]) - 1]))
            else:
                expect(reason == "model file" or re.fullmatch(r"default \S+: \S+", reason), reason)


def check_each_key_is_named_where_it_counts():
    """A part whose bytes change with a key names that key; the others are no bytes off."""
    planned = {part["name"]: part for part in dry_run(recipe("base.yaml", FIRST))["memory"]["parts"]}
    changes, unnamed = [], []
    for key, values in VALUES.items():
        changed = {part["name"]: part["bytes"] for part in
                   dry_run(recipe("flip.yaml", FIRST | {key: values[1]}))["memory"]["parts"]}
        for name, part in planned.items():
            if changed[name] == part["bytes"]:
                continue
            changes.append(f"{key} -> {name}")
            if key not in part["set_by"]:
                unnamed.append(f"{key} -> {name}: {part['bytes']} to {changed[name]}")
    expect(not unnamed, "parts change with keys that they do not name:\n" + "\n".join(unnamed))
    for name in planned:
        expect(name in ("scratch", "reserve") or any(change.endswith(name) for change in changes),
               f"no key changes {name}: {changes}")
    return f"{len(changes)} parts changed"


def check_defaults_and_options_are_named():
    path = recipe("default.yaml", FIRST, left_out=("precision.kv_cache", "targets[].threads"))
    parts = {part["name"]: part["set_by"] for part in dry_run(path)["memory"]["parts"]}
    expect("default precision.kv_cache: f16" in parts["kv pages"], parts)
    expect("default targets[].threads: 2" in parts["run time"], parts)
    parts = {part["name"]: part["set_by"] for part in
             dry_run(recipe("base.yaml", FIRST), "--threads=1", "--cpu=x86-64-v3")["memory"]["parts"]}
    expect("--threads" in parts["run time"] and "targets[].threads" not in parts["run time"], parts)
    expect("--cpu" in parts["code"] and "targets[].cpu" not in parts["code"], parts)


def check_a_dump_goes_on_with_its_own_recipe_and_model_only():
    path, dumps = recipe("dump.yaml", FIRST), os.path.join(KEPT.name, "ir")
    artifact, _ = compiled(path, "--dump-ir-after=all", f"--dump-dir={dumps}")
    with open(artifact, "rb") as source:
        whole = source.read()
    # Up to hold-fusion, which ends what the record in the manifest is read off.
    names = sorted(name for name in os.listdir(dumps) if "x86-64" not in name)
    for name in (names[0], *(name for name in names if "hold-fusion" in name)):
        dump = os.path.join(dumps, name)
        again, _ = compiled(path, f"--resume-from={dump}", name="again.ingot")
        with open(again, "rb") as source:
            expect(source.read() == whole, f"{name}: the same artifact")
        out = os.path.join(KEPT.name, "other.ingot")
        for key in ("precision.activations", "input_constraints.seq_len.max", "targets[].threads",
                    "memory_optimization.kv_cache_page_size"):
            other = recipe("other.yaml", FIRST | {key: VALUES[key][1]})
            done = run("compile", other, "--model", model(), "-o", out, f"--resume-from={dump}")
            expect_exit(done, 3)
            text = done.stderr.decode()
            expect(re.match(re.escape(dump) + r":\d+:\d+: error\[P0013\]: ", text), text)
            expect("evidence: " in text and "other.yaml" in text, text)
            expect(not os.path.exists(out), "nothing is written")
        other = model("other.gguf", seed=2, ffn=192)
        done = run("compile", path, "--model", other, "-o", out, f"--resume-from={dump}")
        expect_exit(done, 3)
        text = done.stderr.decode()
        expect(re.match(re.escape(dump) + r":\d+:\d+: error\[P0012\]: ", text), text)
        expect("other.gguf" in text, text)
        expect(not os.path.exists(out), "nothing is written")
    # Comments, order and names are no settings.
    same = recipe("renamed.yaml", FIRST)
    with open(same, "a", encoding="utf-8") as out:
        out.write("# a comment\n")
    compiled(same, f"--resume-from={os.path.join(dumps, names[0])}", name="again.ingot")


if __name__ == "__main__":
    main(globals())
