#!/usr/bin/env python3
"""Op classes in 16-bit types: what they do to results, to the text of the IR, and what is said of them."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, expect_exit, main, run, run_well, scratch
from tiny_model import make_model

RECIPE_TEXT = """version: 1
model_name: tiny
precision: {{activations: f32, kv_cache: f32{precision}}}
input_constraints:
  batch_size: {{max: 2}}
  seq_len: {{min: 1, max: 8, step: 8}}
  kv_cache_seq_len: {{max: 32}}
targets: [{{arch: x86_64, cpu: x86-64-v3, threads: 2}}]
memory_optimization: {{kv_cache_page_size: 16}}
{rules}
"""
IDS = [7, 100, 101, 3, 258, 90, 91, 92, 93, 94, 40, 41]
# The relative rounding of a type, and so how far a distribution may move: with n roundings of size u on the way to
# the logits, whose spread is about 1, the divergence is about (n u)^2 / 2. The tiny models have some 60 in a row.
ROUNDING = {"fp16": 2.0 ** -11, "bf16": 2.0 ** -8}
KEPT = scratch()


def recipe(precision, rules=""):
    path = os.path.join(KEPT.name, "r.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(RECIPE_TEXT.format(precision=precision, rules=rules))
    return path


def divergence(reference, model, precision):
    artifact, prompts = os.path.join(KEPT.name, "m.ingot"), os.path.join(KEPT.name, "prompts.json")
    with open(prompts, "w", encoding="utf-8") as out:
        json.dump([reference.entry("a", IDS, num_greedy=0)], out)
    run_well("compile", recipe(precision), "--model", model, "-o", artifact)
    return json.loads(run_well("eval", artifact, "--prompts", prompts, "--reference", prompts, "--json"))["kl_worst"]


def check_results_move_as_far_as_the_type():
    for family in ("llama", "gemma3", "olmo2"):
        model = os.path.join(KEPT.name, family + ".gguf")
        reference = make_model(model, family=family)
        exact = divergence(reference, model, "")
        for name, unit in ROUNDING.items():
            found = divergence(reference, model, f", default: {name}, softmax_precision: {name}")
            expect(exact < found < (60 * unit) ** 2 / 2 * 8, f"{family} in {name}: {found}, in fp32 {exact}")


def check_the_text_is_mlir():
    stock = shutil.which("mlir-opt-22")
    with scratch() as folder:
        model = os.path.join(folder, "m.gguf")
        make_model(model)
        run_well("compile", recipe(", default: bf16, softmax_precision: fp16_sum32"), "--model", model, "--dry-run",
                 "--dump-ir-after=assign-precision", "--dump-dir", folder)
        dump = next(os.path.join(folder, n) for n in os.listdir(folder) if n.endswith(".mlir"))
        with open(dump, encoding="utf-8") as text:
            text = text.read()
        expect("truncf" in text and "to bf16" in text and "to f16" in text, "no conversion is in the text")
        expect('op_precision = {activation = "bf16"' in text and 'softmax = "fp16_sum32"' in text, "the settings are not there")
        if stock:
            done = subprocess.run([stock, "--verify-each", "--allow-unregistered-dialect", dump], capture_output=True, timeout=60)
            expect(done.returncode == 0, done.stderr[:400])


def check_fp16_reaches_the_softmax_only_when_meant():
    with scratch() as folder:
        model = os.path.join(folder, "m.gguf")
        make_model(model)
        for precision, rules, code, status in (
                (", default: fp16", "", b"warning[R0020]", 0),
                (", default: fp16_storage", "", b"warning[R0020]", 0),
                (", default: fp16, softmax_precision: fp32", "", b"", 0),
                (", default: fp16, softmax_precision: fp16", "", b"", 0),
                (", default: bf16", "", b"", 0),
                (", softmax_precision: bf16", "fusion_rules: [{pattern: attn_softmax, use_flash_attention: true}]",
                 b"error[R0011]", 3),
                (", matmul_precision: fp16", "", b"error[R0010]", 3)):
            done = run("compile", recipe(precision, rules), "--model", model, "--dry-run")
            expect_exit(done, status)
            expect(code in done.stderr if code else b"R0020" not in done.stderr, (precision, done.stderr[-600:]))


if __name__ == "__main__":
    main(globals())
