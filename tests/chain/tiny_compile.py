"""Compiling tiny random models, and how far their answers are from a float64 evaluation."""
import json
import os

from support import expect, run_well, scratch
from tiny_model import make_model

RECIPE_TEXT = """version: 1
model_name: tiny
precision: {{weights: as_stored, activations: {activations}, kv_cache: {kv}}}
input_constraints:
  seq_len: {{min: {seq_min}, max: {bucket}, step: {bucket}{seq_more}}}
  kv_cache_seq_len: {{max: {kv_max}}}
targets:
  - {{arch: x86_64, cpu: all, threads: 3}}
memory_optimization: {{kv_cache_page_size: 16}}
"""
PROMPTS = {"short": [4, 40, 200], "longer": [7, 100, 101, 3, 258, 90, 91, 92, 93, 94, 40, 41]}


def recipe_text(activations="f32", kv="f32", bucket=8, kv_max=64, seq_min=1, seq_more=""):
    return RECIPE_TEXT.format(activations=activations, kv=kv, bucket=bucket, kv_max=kv_max, seq_min=seq_min,
                              seq_more=seq_more)


def compile_model(folder, activations="f32", kv="f32", rules="", bucket=8, batch="", kv_max=64, seq_min=1, seq_more="", options=(), **shape):
    model, recipe = os.path.join(folder, "m.gguf"), os.path.join(folder, "r.yaml")
    reference = make_model(model, **shape)
    with open(recipe, "w", encoding="utf-8") as out:
        text = recipe_text(activations, kv, bucket, kv_max, seq_min, seq_more) + rules
        sizes = f"input_constraints:\n  batch_size: {batch}\n" if batch else "input_constraints:\n"
        out.write(text.replace("input_constraints:\n", sizes))
    artifact = os.path.join(folder, f"m-{activations}.ingot")
    run_well("compile", recipe, "--model", model, "-o", artifact, *options, timeout=400)
    return reference, artifact


def divergence(folder, reference, artifact, *args, prompts=None, num_greedy=0):
    """The worst KL(reference || ours) of the prompts."""
    prompts = prompts or PROMPTS
    entries = [reference.entry(name, ids, num_greedy=num_greedy) for name, ids in prompts.items()]
    path = os.path.join(folder, "reference.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(entries, out)
    summary = run_well("eval", artifact, "--prompts", path, "--reference", path, "--json", *args,
                       timeout=400)
    return json.loads(summary)["kl_worst"]


def exact(bound=1e-9, **shape):
    with scratch() as folder:
        reference, artifact = compile_model(folder, **shape)
        worst = divergence(folder, reference, artifact)
        expect(worst < bound, f"KL {worst}")
        return f"KL {worst:.2g}"
