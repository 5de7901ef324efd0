#!/usr/bin/env python3
"""Compiled models in the executor: bit-identical logits, memory as planned, and artifacts that were
damaged, cut, or are for a lesser processor: always a code and the documented exit code."""
import json
import os
import random
import subprocess
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import INGOT, RECIPE, expect, expect_exit, main, real_model, run, run_well, scratch
from tiny_model import make_model

PROGRAM = os.path.join(os.path.dirname(INGOT), "tests", "runtime", "check_artifact")
RECIPE_TEXT = """version: 1
model_name: tiny
precision: {{weights: as_stored, activations: {activations}, kv_cache: {kv}}}
input_constraints:
  seq_len: {{min: 1, max: 64, step: 32}}
  kv_cache_seq_len: {{max: 512}}
targets:
  - {{arch: x86_64, cpu: all, threads: 3}}
memory_optimization: {{kv_cache_page_size: 16}}
"""
KEPT = scratch()
TINY = {}


def tiny(activations, kv, **shape):
    key = f"{activations}-{kv}"
    if key not in TINY:
        model, recipe = (os.path.join(KEPT.name, key + end) for end in (".gguf", ".yaml"))
        make_model(model, context=512, vocab_multiple=32, **shape)
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(RECIPE_TEXT.format(activations=activations, kv=kv))
        TINY[key] = os.path.join(KEPT.name, key + ".ingot")
        run_well("compile", recipe, "--model", model, "-o", TINY[key], timeout=400)
    return TINY[key]


def program_says(artifact, prompt_tokens, conversations, steps):
    done = subprocess.run([PROGRAM, artifact, str(prompt_tokens), str(conversations), str(steps)],
                          capture_output=True, text=True, timeout=800)
    expect(done.returncode == 0, done.stdout + done.stderr)
    return "; ".join(line.split("(", 1)[1].rstrip(")") for line in done.stdout.splitlines())


def check_tiny_f32_bits_and_memory():
    return program_says(tiny("f32", "f32", weights="Q8_0"), 101, 20, 500)


def check_tiny_int8_bits_and_memory():
    return program_says(tiny("int8", "f16", weights="Q4_0"), 101, 20, 500)


def check_warm_up_changes_no_answer():
    """What it does to the steps is tested with the executor."""
    said = [json.loads(run_well("run", tiny("f32", "f32", weights="Q8_0"), "-p", "!!!", "-n", "5", "--greedy", "--json",
                                *options)) for options in ((), ("--warm-up",))]
    expect("warm_up_ns" not in said[0] and said[1]["warm_up_ns"] > 0, said)
    expect(said[0]["text"] == said[1]["text"] and said[0]["memory_bytes"] == said[1]["memory_bytes"], said)


def check_plot():
    """A picture of two curves, and a row for each border of a bucket and of a page; nothing that is ignored."""
    artifact, picture = tiny("f32", "f32", weights="Q8_0"), os.path.join(KEPT.name, "x.svg")
    said = json.loads(run_well("bench", artifact, "--plot", picture, "--runs", "1", "--json", timeout=400))
    # Buckets 1, 32, 64; chunks of 64 up to 512. Pages of 16.
    ends = sorted({start + bucket for start in range(0, 512, 64) for bucket in (1, 32, 64)} - {512})
    expect([b["tokens"] for b in said["prefill"]["borders"]] == ends, said["prefill"]["borders"])
    expect([b["tokens"] for b in said["decode"]["borders"]] == list(range(15, 511, 16)), said["decode"]["borders"])
    filled = {b["tokens"]: b["filled_tokens"] for b in said["prefill"]["borders"]}
    expect((filled[1], filled[32], filled[64], filled[65]) == (32, 64, 65, 96), filled)
    root = xml.etree.ElementTree.parse(picture).getroot()
    drawn = [line.get("points").split() for line in root.iter("{http://www.w3.org/2000/svg}polyline")]
    expect([len(points) for points in drawn] == [len(said[k]["points"]) for k in ("prefill", "decode")], drawn)
    for points in drawn:
        xs = [float(point.split(",")[0]) for point in points]
        expect(xs == sorted(xs), xs)
    expect(all(p["ms"] > 0 for k in ("prefill", "decode") for p in said[k]["points"]), "times")
    expect_exit(run("bench", artifact, "--plot", picture, "--depth", "3"), 2)
    expect_exit(run("bench", artifact, "--plot", artifact), 2)


def check_real_model_bits_and_memory():
    artifact = os.path.join(KEPT.name, "real.ingot")
    run_well("compile", RECIPE, "--model", real_model(), "-o", artifact, timeout=400)
    note = program_says(artifact, 101, 3, 40)
    os.unlink(artifact)
    return note


def refused(done, codes, exits=(3,)):
    expect(done.returncode in exits, f"exit {done.returncode}: {done.stderr[-300:]}")
    expect(any(code.encode() in done.stderr for code in codes), done.stderr[-300:])
    expect(done.stdout == b"", "nothing on stdout")


def check_cut_anywhere():
    path, copy = tiny("f32", "f32", weights="Q8_0"), os.path.join(KEPT.name, "cut.ingot")
    with open(path, "rb") as source:
        data = source.read()
    rng = random.Random(1)
    for length in [0, 1, 7, 8, 39, 40, 4095, 4096, len(data) - 1] + \
            [rng.randrange(len(data)) for _ in range(60)]:
        with open(copy, "wb") as out:
            out.write(data[:length])
        refused(run("run", copy, "-p", "a"), ("X0001", "X0003"))


def check_flipped_bits():
    """A diagnostic, or a file that differs only in its weights and says so on --verify."""
    path, copy = tiny("f32", "f32", weights="Q8_0"), os.path.join(KEPT.name, "flip.ingot")
    with open(path, "rb") as source:
        data = bytearray(source.read())
    rng = random.Random(2)
    weights_flips = 0
    for i in range(150):
        place = rng.randrange(len(data) if i % 2 else 16384)
        data[place] ^= 1 << rng.randrange(8)
        flipped = data[place]
        with open(copy, "wb") as out:
            out.write(data)
        with open(path, "rb") as source:
            source.seek(place)
            data[place] = source.read(1)[0]
        expect(flipped != data[place], "a bit was flipped")
        done = run("inspect", copy, "--verify")
        refused(run("inspect", copy, "--verify") if done.returncode else done,
                ("X0001", "X0002", "X0003", "X0004", "X0013"), (3, 5))
        weights_flips += b"X0013" in done.stderr
    expect(weights_flips > 0, "some flips fell into the weights")
    return f"{weights_flips} of 150 in the weights"


def check_other_version_is_5():
    path, copy = tiny("f32", "f32", weights="Q8_0"), os.path.join(KEPT.name, "version.ingot")
    with open(path, "rb") as source:
        data = bytearray(source.read())
    data[8] += 1
    with open(copy, "wb") as out:
        out.write(data)
    refused(run("run", copy, "-p", "a"), ("X0002",), (5,))


def check_every_level_answers():
    """Each level of the artifact that this processor has can be forced; one it lacks is refused by name."""
    path = tiny("f32", "f32", weights="Q8_0")
    ran, lacking = [], []
    for level in ("x86-64-v3", "v3-vnni", "x86-64-v4", "v4-vnni"):
        done = run("run", path, "-p", "abc", "-n", "4", "--greedy", "--ignore-eos", "--cpu", level)
        if done.returncode == 0:
            ran.append(level)
        else:
            lacking.append(level)
            refused(done, ("X0007",), (5,))
    expect(ran, "no level runs here")
    done = run("run", path, "-p", "a", "--cpu", "x86-64-v5")
    expect_exit(done, 2)
    return f"ran {', '.join(ran)}" + (f"; lacking {', '.join(lacking)}" if lacking else "")


main(globals())
