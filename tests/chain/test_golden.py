#!/usr/bin/env python3
"""A real model's answers against an independent evaluation of its definition: token ids, and the
distance of the answers with exact and with fast activations."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import (RECIPE, expect, expect_exit, golden_folder, main, real_model, run, run_well,
                     scratch)


def read_json(path):
    with open(path, encoding="utf-8") as source:
        return json.load(source)


def check_tokens_of_all_strings():
    listed = os.path.join(golden_folder(), "tokenizer.jsonl")
    for flags in ([], ["--special"]):
        done = run("tokenize", real_model(), "--against", listed, *flags)
        expect_exit(done, 0)
        expect(done.stdout == b"3000 of 3000 equal\n", done.stdout)


def check_tokens_of_all_prompts():
    count = 0
    for prompt in read_json(os.path.join(golden_folder(), "prompts.json")):
        if "rendered" in prompt:
            text, ids, flags = prompt["rendered"], prompt["ids_whole"], ["--special"]
        else:
            text, ids, flags = prompt["text"], prompt["ids"], []
        out = run_well("tokenize", real_model(), *flags, stdin=text.encode())
        expect([int(word) for word in out.split()] == ids, prompt["name"])
        count += 1
    expect(count == 30, f"{count} prompts")


def evaluate(precision):
    golden, model = golden_folder(), real_model()
    with scratch() as folder:
        recipe, artifact = os.path.join(folder, "recipe.yaml"), os.path.join(folder, "m.ingot")
        with open(RECIPE, encoding="utf-8") as source:
            text = source.read()
        for key, value in precision.items():
            text, found = re.subn(rf"(?m)^(  {key}:) *\S+", rf"\1 {value}", text)
            expect(found == 1, f"the recipe has no {key}")
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(text)
        run_well("compile", recipe, "--model", model, "-o", artifact, timeout=300)
        out = os.path.join(folder, "ours.json")
        summary = json.loads(run_well(
            "eval", artifact, "--prompts", os.path.join(golden, "prompts.json"), "--reference",
            os.path.join(golden, "reference.json"), "-o", out, "--json", timeout=800))
        compare_written(read_json(out), read_json(os.path.join(golden, "reference.json")))
        return summary


def compare_written(ours, reference):
    """The file says the same as the summary was made from."""
    expect([p["name"] for p in ours] == [p["name"] for p in reference], "same prompts")
    for mine, theirs in zip(ours, reference):
        expect(mine["ids"] == theirs["ids"], "same ids")
        expect(len(mine["top"]) == 64 and len(mine["greedy"]) == 48, "lengths")
        expect(len(mine["teacher"]) == 48, "a token for every step")
        expect([pair[0] for pair in mine["listed"]] == [pair[0] for pair in theirs["top"]], "listed")



def note(summary):
    return (f"KL mean {summary['kl_mean']:.3g}, worst {summary['kl_worst']:.3g}, "
            f"{summary['steps_that_differ']} of {summary['steps']} steps differ")


def check_exact_activations():
    summary = evaluate({"activations": "f32", "kv_cache": "f32"})
    expect(summary["steps"] == 30 * 48, summary)
    expect(summary["kl_mean"] <= 1e-10 and summary["kl_worst"] <= 1e-9, note(summary))
    expect(summary["steps_that_differ"] == 0, note(summary))
    return note(summary)


def check_fast_activations():
    summary = evaluate({})
    expect(summary["kl_mean"] <= 0.0042 and summary["kl_worst"] <= 0.031, note(summary))
    gaps = summary["largest_gaps_that_differ"]
    expect(summary["steps_that_differ"] <= 45, note(summary))
    expect(sum(gap > 0.3 for gap in gaps) <= 4 and max(gaps, default=0) <= 1.3, gaps)
    return note(summary)


if __name__ == "__main__":
    main(globals())
