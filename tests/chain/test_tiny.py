#!/usr/bin/env python3
"""Tiny random models of every weight format and shape through the whole chain, against a float64
evaluation in plain Python."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, main, run, run_well, scratch
from tiny_compile import compile_model, divergence, exact
from tiny_model import FORMATS

def format_check(name):
    # Blocks of 256 need rows of 256.
    shape = {"dim": 256, "ffn": 512} if FORMATS[name][1] == 256 else {}
    return lambda: exact(weights=name, **shape)


def check_rules_switched_off_keep_the_results():
    rules = ("fusion_rules:\n  - {pattern: qkv_proj, enabled: false}\n"
             "  - {pattern: mlp_gate_up, enabled: false}\n")
    return exact(weights="Q4_0", rules=rules)


def check_cpu_levels_agree_with_the_reference():
    with scratch() as folder:
        reference, artifact = compile_model(folder, weights="Q4_0")
        levels = json.loads(run_well("inspect", artifact, "--json"))["cpu_levels"]
        runnable = [level["name"] for level in levels if level["runs_here"]]
        for level in runnable:
            worst = divergence(folder, reference, artifact, f"--cpu={level}")
            expect(worst < 1e-9, f"{level}: KL {worst}")
        return ", ".join(runnable)


def check_fast_activations_are_near():
    worst = 0
    for name in ("Q4_0", "Q4_1", "Q8_0"):
        with scratch() as folder:
            reference, artifact = compile_model(folder, "int8", "f16", weights=name)
            worst = max(worst, divergence(folder, reference, artifact))
    expect(worst <= 1e-2, f"KL {worst}")
    return f"KL {worst:.2g}"


def check_chat_and_streams():
    with scratch() as folder:
        _, artifact = compile_model(folder, weights="Q8_0")
        done = run("run", artifact, "--chat", "-p", "hello", "-n", "12", "--ignore-eos", "--seed", "3")
        expect(done.returncode == 0, done.stderr)
        done.stdout.decode("utf-8")  # whole characters only
        document = json.loads(run_well("run", artifact, "--chat", "-p", "hello", "-n", "12",
                                       "--ignore-eos", "--seed", "3", "--json"))
        expect(document["text"].encode() == done.stdout, "the same text in both forms")
        expect(document["generated_tokens"] == 12, document)
        for key in ("prompt_tokens", "prefill_tokens_per_s", "decode_tokens_per_s",
                    "first_token_ns", "peak_rss_bytes", "finish_reason"):
            expect(key in document, key)


def check_context_too_small_is_4():
    with scratch() as folder:
        _, artifact = compile_model(folder, weights="F32")
        done = run("run", artifact, "-p", "x" * 100)
        expect(done.returncode == 4 and b"X0011" in done.stderr, done.stderr)
        done = run("run", artifact, "-p", "x", "--threads", "4")
        expect(done.returncode in (3, 4), f"more threads than planned: {done.returncode}")
        done = run("run", artifact, "-p", "x", "--cpu", "nosuch")
        expect(done.returncode == 2, done.stderr)


def check_bench_and_perplexity():
    with scratch() as folder:
        _, artifact = compile_model(folder, weights="F16")
        document = json.loads(run_well("bench", artifact, "--prefill", "8", "--decode", "4", "--depth",
                                       "5", "--runs", "3", "--json"))
        for key in ("prefill_tokens_per_s", "decode_tokens_per_s", "peak_rss_bytes", "start_ns"):
            expect(document[key] > 0, key)
        expect(len(document["runs"]) == 3, document["runs"])
        text = os.path.join(folder, "text.txt")
        with open(text, "w", encoding="utf-8") as out:
            out.write("hello, hello there. " * 8)
        whole = json.loads(run_well("eval", artifact, "--text", text, "--window", "30", "--json"))
        expect(whole["perplexity"] > 1 and whole["scored_tokens"] > 80, whole)


EXACT_CHECKS = {f"check_{name.lower()}_weights": format_check(name) for name in FORMATS}
EXACT_CHECKS["check_untied_head"] = lambda: exact(weights="F32", tied=False)
EXACT_CHECKS["check_odd_vocabulary"] = lambda: exact(weights="Q4_0", vocab_multiple=1)
for groups in (1, 2, 4):
    EXACT_CHECKS[f"check_{groups}_query_heads_per_kv_head"] = (
        lambda groups=groups: exact(weights="Q8_0", heads=4, kv_heads=4 // groups))

if __name__ == "__main__":
    main({**EXACT_CHECKS, **globals()})
