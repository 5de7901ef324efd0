#!/usr/bin/env python3
"""Batches: one token each of several sequences in one pass over the weights gives every sequence the numbers
it has alone; what the plan takes for them; what is refused."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import INGOT, Skip, expect, main, run, run_well, scratch
from test_families import SHAPES
from tiny_compile import compile_model

DECODE_BATCH = os.path.join(os.path.dirname(INGOT), "tests", "runtime", "decode_batch")
FIVE = "{min: 2, max: 5, step: 2}"  # buckets of 2, 4 and 5


def same_as_alone(activations="f32", kv="f32", threads=("1", "3"), batch=FIVE, **shape):
    with scratch() as folder:
        _, artifact = compile_model(folder, activations, kv, batch=batch, **shape)
        for number in threads:
            done = subprocess.run([DECODE_BATCH, artifact, number, "20"], capture_output=True, timeout=300,
                                  check=False)
            expect(done.returncode == 0, (done.stdout + done.stderr).decode()[:600])


def check_f32():
    same_as_alone(weights="F32")


def check_block_quantised():
    same_as_alone("int8", "f16", weights="Q4_0")


def check_larger_batches():
    same_as_alone("int8", "f32", batch="{max: 16}", weights="Q8_0")


def check_families():
    for family in ("qwen2", "gemma3"):
        same_as_alone("int8", "f16", threads=("2",), family=family, weights="Q8_0", **SHAPES.get(family, {}))


def check_chunks_of_a_prompt():
    """Into which chunks a prompt is cut, and in which bucket each is computed, does not change a bit: the divergence
    from a reference, a sum over all logits of the last token, is the same number to its last digit."""
    ids = [3 + 37 * i % 240 for i in range(45)]
    for activations, kv, weights in (("f32", "f32", "F32"), ("int8", "f16", "Q4_1"), ("bf16", "f16", "BF16")):
        found = set()
        for bucket in (1, 8, 17, 45):
            with scratch() as folder:
                reference, artifact = compile_model(folder, activations, kv, bucket=bucket, weights=weights,
                                                    options=("--cpu=native",))
                prompts = os.path.join(folder, "prompts.json")
                with open(prompts, "w", encoding="utf-8") as out:
                    json.dump([reference.entry("a", ids, num_greedy=4)], out)
                document = json.loads(run_well("eval", artifact, "--prompts", prompts, "--reference", prompts, "--json"))
                found.add((document["kl_worst"], document["steps_that_differ"]))
        expect(len(found) == 1, f"{weights}, {activations}: {found}")


def check_cpu_levels():
    with scratch() as folder:
        _, artifact = compile_model(folder, "int8", "f16", batch=FIVE, weights="Q4_1")
        levels = json.loads(run_well("inspect", artifact, "--json"))["cpu_levels"]
        names = [level["name"] for level in levels if level["runs_here"]]
        for name in names:
            document = json.loads(run_well("bench", artifact, "--batch", "5", "--decode", "4", "--prefill", "0",
                                           "--runs", "1", f"--cpu={name}", "--json"))
            expect(document["batch_sequences"] == 5 and document["decode_tokens_per_s"] > 0, document)
        return ", ".join(names)


def entries_and_memory(folder, **options):
    _, artifact = compile_model(folder, "int8", "f16", weights="Q8_0", **options)
    document = json.loads(run_well("inspect", artifact, "--json"))
    parts = {part["name"]: part["bytes"] for part in document["memory"]["parts"]}
    expect(sum(parts.values()) == document["memory"]["total_bytes"], "parts add up")
    return [(e["name"], e.get("sequences")) for e in document["entries"]], parts, document


def check_entries_and_memory():
    with scratch() as folder:
        alone, small, _ = entries_and_memory(folder)
        batch, large, document = entries_and_memory(folder, batch=FIVE)
        expect([size for _, size in alone] == [None, None], alone)
        expect([size for _, size in batch] == [None, None, 2, 4, 5], batch)
        # Keys and values of 2 layers, 2 heads of 16, 64 tokens, in f16; five times as many.
        expect(small["kv pages"] == 2 * 2 * 2 * 16 * 64 * 2, small)
        expect(large["kv pages"] == 5 * small["kv pages"], large)
        logits = 4 * document["vocab_size"]
        grown = large["io"] - small["io"]
        # Rounded to pages before and after; positions and page tables are small.
        expect(4 * logits - 4096 <= grown <= 4 * logits + 2 * 4096, f"{grown} more bytes for four more rows of logits")
        expect(document["capacity"]["pages"] == 5 * 4 and document["capacity"]["computed_at_once"] == 5, document)


def check_parts_name_the_batch():
    with scratch() as folder:
        _, artifact = compile_model(folder, weights="Q8_0", batch=FIVE)
        document = json.loads(run_well("inspect", artifact, "--json"))
        named = {part["name"] for part in document["memory"]["parts"] if "batch_size.max" in part["set_by"]}
        expect(named == {"kv pages", "arena", "io", "code", "tables", "run time"}, named)


def check_plan_is_kept():
    if "sanitize" in json.loads(run_well("version", "--json"))["build_mode"]:
        raise Skip("sanitizers have memory of their own")
    with scratch() as folder:
        _, artifact = compile_model(folder, "int8", "f16", batch="{max: 8}", weights="Q8_0")
        document = json.loads(run_well("inspect", artifact, "--json"))
        bench = json.loads(run_well("bench", artifact, "--batch", "8", "--prefill", "0",
                                    "--decode", "20", "--depth", "40", "--json"))
        process = next(part["bytes"] for part in document["memory"]["outside"] if part["name"] == "process")
        # The program's own code and its dynamic libraries count in the resident set too, not in the plan.
        allowed = document["memory"]["total_bytes"] + process + (8 << 20)
        expect(bench["peak_rss_bytes"] <= allowed, f"{bench['peak_rss_bytes']} of {allowed}")


def check_refusals():
    with scratch() as folder:
        _, artifact = compile_model(folder, batch="{max: 4}", weights="F32")
        done = run("bench", artifact, "--batch", "5", "--prefill", "0", "--decode", "2")
        expect(done.returncode == 4 and b"X0022" in done.stderr and b"at most 4" in done.stderr, done.stderr)
        done = run("bench", artifact, "--batch", "4", "--prefill", "0", "--decode", "2", "--depth", "63")
        expect(done.returncode == 4 and b"X0011" in done.stderr, done.stderr)
    for batch, want in (("{min: 3, max: 2}", b"batch_size.min 3 is above batch_size.max 2"), ("{max: 257}", b"1 to 256"),
                        ("{max: 200, step: 2}", b"batch_size gives 101 buckets, at most 32")):
        with scratch() as folder:
            recipe = os.path.join(folder, "r.yaml")
            with open(recipe, "w", encoding="utf-8") as out:
                out.write(f"version: 1\nmodel_name: llama-7b\nprecision: {{weights: Q4_0}}\n"
                          f"input_constraints: {{batch_size: {batch}}}\n")
            done = run("compile", recipe, "--dry-run")
            expect(done.returncode == 3 and want in done.stderr, done.stderr)


def check_every_pass_keeps_the_meaning():
    with scratch() as folder, scratch() as dumps:
        compile_model(folder, "int8", "f16", bucket=4, batch="{max: 3}", weights="Q8_0", layers=1, dim=32, ffn=64,
                      heads=2, kv_heads=1, options=("--verify-each", "--dump-ir-after=all", f"--dump-dir={dumps}"))
        optimizer = shutil.which("mlir-opt-22")
        if not optimizer:
            raise Skip("mlir-opt-22 is not installed")
        names = sorted(os.listdir(dumps))
        expect(len(names) > 10, names)
        for name in names:
            done = subprocess.run([optimizer, "--verify-each", os.path.join(dumps, name), "-o", os.devnull],
                                  capture_output=True, timeout=120, check=False)
            expect(done.returncode == 0, f"{name}: {done.stderr[:300]}")
        return f"{len(names)} dumps"


if __name__ == "__main__":
    main(globals())
