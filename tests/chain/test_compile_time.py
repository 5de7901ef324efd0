#!/usr/bin/env python3
"""Compile time of every entry: parts that add up, and no clock in what must be the same every time."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, TINY_RECIPE, Kept, expect, main, run, run_well

KEPT = Kept()
path_of, write, model = KEPT.at, KEPT.write, KEPT.model
BUCKETS = TINY_RECIPE.replace("step: 8}", "step: 4}").replace("  seq_len:", "  batch_size: {max: 2, step: 2}\n  seq_len:").replace(
    "cpu: x86-64-v3", "cpu: [x86-64-v3, v3-vnni]")
SIZED = os.path.join(ROOT, "tests", "chain", "modules_sized", "mlp_softmax.mlir")


def cases():
    return {
        "buckets of tokens and sequences, two levels": [write("b.yaml", BUCKETS), "--model", model()],
        "one thread compiles": [write("b.yaml", BUCKETS), "--model", model()],
        "versions of a module": [SIZED],
        "one entry": [os.path.join(ROOT, "tests", "chain", "modules", "mlp.mlir")],
        "no backend, no code": [os.path.join(ROOT, "data", "recipes", "llama-7b.yaml"), "--target=l40s"],
    }


def parts_of(report):
    entries, shared = report["compile_ns"]["entries"], report["compile_ns"]["shared"]
    expect([e["name"] for e in entries] == [e["name"] for e in report["entries"]] != [], entries)
    expect(set(shared) == {"import", "passes", "kernels", "weights"}, shared)
    parts = [e["code"] for e in entries] + list(shared.values())
    expect(all(isinstance(part, int) and part >= 0 for part in parts), parts)
    return parts


def check_parts_of_every_entry_add_up():
    """Nothing is counted twice or left out: else a bucket would seem dearer or cheaper than it is."""
    for name, args in cases().items():
        pinned = (lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})) if "thread" in name else None
        report = json.loads(run_well("compile", *args, "--dry-run", "--json", preexec_fn=pinned))
        total, times = sum(report["phase_ns"].values()), report["compile_ns"]
        expect(sum(parts_of(report)) == total, f"{name}: {parts_of(report)}, {total}")
        own, shared = sum(e["code"] for e in times["entries"]), times["shared"]["kernels"]
        expect(own + shared == sum(k["code"] for k in times["kernels"]), f"{name}: {times}")
        expect([k["name"] for k in times["kernels"]] == [k["name"] for k in report["kernels"]], f"{name}: {times}")
        for time, of in (*zip(times["kernels"], report["kernels"]), *zip(times["entries"], report["entries"])):
            expect((time["code"] > 0) == (of.get("own_code_bytes", of["code_bytes"]) > 0), f"{name}: {time}, {of}")
        is_shared = sum(e["own_code_bytes"] for e in report["entries"]) < sum(k["code_bytes"] for k in report["kernels"])
        expect((shared > 0) == is_shared, f"{name}: {times}")
        expect(("buckets" in name) <= (len(report["entries"]) >= 3 and is_shared), f"{name}: kernels that entries share")


def check_a_made_artifact_has_the_same_parts_and_none_of_them_inside():
    args, made, said = cases()["buckets of tokens and sequences, two levels"], [], []
    for name in ("a.ingot", "b.ingot"):
        report = json.loads(run_well("compile", *args, "-o", path_of(name), "--json"))
        expect(sum(parts_of(report)) == sum(report["phase_ns"].values()), report)
        said.append({key: value for key, value in report.items() if not key.endswith("_ns")})
        with open(path_of(name), "rb") as source:
            made.append(source.read())
    expect(made[0] == made[1], "the clock is in the artifact")
    expect(said[0] == said[1], "the clock is in what else is reported")
    seen = json.loads(run_well("inspect", path_of("a.ingot"), "--json", "--all"))
    expect("compile_ns" not in json.dumps(seen), "an artifact knows no time of its compile")


def check_the_text_says_seconds_of_each():
    """On stderr, so that the plan on stdout is the same twice."""
    args = cases()["buckets of tokens and sequences, two levels"]
    names = [e["name"] for e in json.loads(run_well("compile", *args, "--dry-run", "--json"))["entries"]]
    done = run("compile", *args, "--dry-run")
    expect(run_well("compile", *args, "--dry-run") == done.stdout, "the plan has a clock in it")
    text = done.stderr.decode()
    listed = re.findall(r"^  (\S+) +(\d+\.\d\d) s, code of its own kernels$", text, re.M)
    expect([name for name, _ in listed] == names, text)
    total, shared = (float(re.search(rf"^ *{words} +(\d+\.\d\d) s", text, re.M)[1]) for words in ("compile time", "all entries"))
    expect(abs(total - shared - sum(float(s) for _, s in listed)) < 0.005 * (len(listed) + 2) + 1e-9, text)
    parts = re.findall(r"(?:import|passes and plan|kernels of several|weights) (\d+\.\d\d)", text)
    expect(len(parts) == 4 and abs(sum(map(float, parts)) - shared) < 0.005 * 5 + 1e-9, text)
    labels = re.findall(r"^  main, (.*?) +\d+\.\d\d s,", run("compile", SIZED, "--dry-run").stderr.decode(), re.M)
    expect(len(labels) == len(set(labels)) > 1, f"versions of an entry look the same: {labels}")
    out = path_of("t.ingot")
    for options, is_said in ((["--dry-run", "-q"], False), (["-o", out], False), (["-o", out, "--verbose"], True)):
        expect((b"compile time" in run("compile", *args, *options).stderr) == is_said, options)


if __name__ == "__main__":
    main(globals())
