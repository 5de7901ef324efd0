#!/usr/bin/env python3
"""Every model family of data/arch: tiny random models of it through the whole chain, against a float64
evaluation of its published definition in plain Python; what it refuses."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, Skip, expect, main, run, run_well, scratch
from tiny_compile import compile_model, divergence, recipe_text
from tiny_model import FAMILIES, SAMPLE, TOKENIZERS, make_model, vocabulary

# The last one is longer than a sliding window and crosses page borders.
PROMPTS = {"short": [4, 40, 200], "longer": [7, 100, 101, 3, 258, 90, 91, 92, 93, 94, 40, 41],
           "beyond": [(i * 37 + 11) % 250 for i in range(37)]}
# A head is larger than dim / heads where the family says its size.
SHAPES = {"gemma": {"head_dim": 32, "kv_heads": 1}, "qwen3": {"head_dim": 32}, "olmo2": {"layers": 3, "pattern": 2},
          "gemma3": {"head_dim": 32, "kv_heads": 1, "layers": 3, "pattern": 3}}


def answers(family, bound=1e-9, bucket=8, activations="f32", prompts=None, options=(), **shape):
    with scratch() as folder:
        reference, artifact = compile_model(folder, activations, "f32", bucket=bucket, options=options,
                                            family=family, **{**SHAPES.get(family, {}), **shape})
        worst = divergence(folder, reference, artifact, prompts=prompts or PROMPTS)
        expect(worst <= bound, f"KL {worst}")
        return f"KL {worst:.2g}"


def check_every_family_is_tested():
    files = {name[:-5] for name in os.listdir(os.path.join(ROOT, "data", "arch")) if name.endswith(".yaml")}
    expect(files == set(FAMILIES), f"{files} have descriptions, {set(FAMILIES)} references")


def dumps_are_mlir(family):
    optimizer = shutil.which("mlir-opt-22")
    if not optimizer:
        raise Skip("mlir-opt-22 is not installed")
    with scratch() as folder, scratch() as dumps:
        compile_model(folder, "int8", "f16", options=("--dump-ir-after=all", f"--dump-dir={dumps}"),
                      family=family, weights="Q4_0", **SHAPES.get(family, {}))
        names = sorted(os.listdir(dumps))
        for name in names:
            done = subprocess.run([optimizer, "--verify-each", os.path.join(dumps, name), "-o", os.devnull],
                                  capture_output=True, timeout=120, check=False)
            expect(done.returncode == 0, f"{name}: {done.stderr[:300]}")
        expect(len(names) > 10, names)
        return f"{len(names)} dumps"


def tokens_are(kind, family):
    """Of the file and of the artifact."""
    with scratch() as folder:
        _, artifact = compile_model(folder, family=family, tokenizer=kind, layers=1, **{
            key: value for key, value in SHAPES.get(family, {}).items() if key not in ("layers", "pattern")})
        tokens, _ = vocabulary(kind, 1)
        want = [tokens.index(piece) for piece in TOKENIZERS[kind]]
        for path in (artifact, os.path.join(folder, "m.gguf")):
            got = [int(word) for word in run_well("tokenize", path, stdin=SAMPLE.encode()).split()]
            expect(got == want, f"{path}: {[tokens[i] for i in got]}")
        return f"{len(want)} tokens"


def family_checks(family):
    # With its own head: one tied to so wide an embedding would only repeat the last token.
    wide = {"dim": 256, "ffn": 256, "heads": 8, "tied": False, "layers": 1}
    if "window" in FAMILIES[family]:
        wide |= {"layers": 2, "pattern": 2}
    short = {"prompt": [7, 100, 101, 3, 258, 90, 91, 92, 93, 94, 40, 41, 5, 6]}
    return {
        f"check_{family}": lambda: answers(family, weights="F32", tied=False),
        f"check_{family}_token_by_token": lambda: answers(family, weights="F16", bucket=1),
        f"check_{family}_q8_0": lambda: answers(family, weights="Q8_0"),
        f"check_{family}_q4_k": lambda: answers(family, weights="Q4_K", prompts=short, **wide),
        f"check_{family}_int8": lambda: answers(family, 1e-2, activations="int8", weights="Q4_0"),
        f"check_{family}_dumps": lambda: dumps_are_mlir(family),
        f"check_{family}_tokens": lambda: tokens_are(FAMILIES[family]["tokenizer"], family),
    }


def check_llama_tokens():
    for kind in TOKENIZERS:
        tokens_are(kind, "llama")


def built(family, rules="", activations="f32", **shape):
    """Number of kernels, record of explain and divergence of a tiny model."""
    with scratch() as folder:
        reference, artifact = compile_model(folder, activations, "f32", rules, family=family, tied=False,
                                            options=("--cpu=x86-64-v3",), **shape)
        plan = json.loads(run_well("inspect", artifact, "--json"))
        record = json.loads(run_well("explain", artifact, "--json"))
        return len(plan["kernels"]), record, divergence(folder, reference, artifact, prompts={"one": PROMPTS["longer"]})


def check_biases_of_projections():
    """Queries, keys and values with biases take as many kernels as without: the biases are one row of numbers, added
    to the one product while it is in registers. Forbidden, each product has its own kernel, and its own bias in it."""
    for weights in ("F32", "Q8_0"):
        plain, _, _ = built("llama", weights=weights)
        kernels, record, worst = built("qwen2", weights=weights)
        expect(kernels == plain and worst < 1e-9, f"{kernels} kernels, {plain} without biases; KL {worst}")
        (rule,) = [r for r in record["rules"] if r["pattern"] == "qkv_proj"]
        names = [f"blk.0.attn_{x}.{kind}" for kind in ("weight", "bias") for x in "qkv"]
        expect(all(name in rule["places"][0]["what"] for name in names) and rule["outcome"] == "applied", rule)
        sums = [e for e in record["edges"] if e["pattern"] == "matmul_bias"]
        expect(sums and all(e["applied"] for e in sums), sums)
    for mode, apart in (("require", 0), ("forbid", 2)):
        more, record, worst = built("qwen2", f"fusion_rules: [{{pattern: qkv_proj, mode: {mode}}}]\n", weights="Q8_0")
        expect(more == kernels + apart and worst < 1e-9, f"{mode}: {more} kernels, KL {worst}")
    more, record, worst = built("qwen2", "fusion_rules: [{pattern: matmul_bias, mode: forbid}]\n", weights="Q8_0")
    sums = [e for e in record["edges"] if e["pattern"] == "matmul_bias"]
    expect(worst < 1e-9 and sums and not any(e["applied"] for e in sums), sums)


# Where the published pattern of layers and the scaling of positions show.
def check_gemma3_six_layers():
    return answers("gemma3", weights="F32", layers=7, pattern=6, linear=4.0)


# The one size whose scores are not divided by the root of the head size.
def check_gemma3_of_62_layers():
    return answers("gemma3", weights="F32", layers=62, dim=32, ffn=32, heads=2, kv_heads=1, head_dim=32, pattern=6,
                   score_dim=16, prompts={"one": PROMPTS["longer"] + [9, 8]})


def refused(family, code, more_metadata=None, name=None, **shape):
    with scratch() as folder:
        model, recipe = os.path.join(folder, "m.gguf"), os.path.join(folder, "r.yaml")
        make_model(model, family=family, layers=1, dim=32, ffn=32, heads=2, kv_heads=1,
                   more_metadata=more_metadata, **shape)
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(recipe_text())
        done = run("compile", recipe, "--model", model, "--dry-run")
        expect(done.returncode == 3 and f"[{code}]".encode() in done.stderr,
               f"{name or more_metadata}: {done.returncode} {done.stderr[:400]}")


def check_what_is_not_honoured_is_refused():
    for key, value in (("expert_count", 8), ("final_logit_softcapping", 30.0), ("attn_logit_softcapping", 50.0),
                       ("rope.local.freq_base", 5000.0), ("rope.scaling.type", "yarn"),
                       ("rope.scaling.type", "longrope"), ("attention.scale", 0.5)):
        for family in FAMILIES:
            refused(family, "F0017", {f"{family}.{key}": value})
    for family in ("llama", "qwen2", "qwen3"):
        refused(family, "F0017", {f"{family}.attention.sliding_window": 4096})


def check_other_families_are_refused():
    for name in ("gemma2", "qwen2moe", "qwen2vl", "decoder", "parts/decoder"):
        refused("llama", "F0014", {"general.architecture": name})


def check_tensors_of_another_family_are_refused():
    refused("qwen2", "F0018", bias=False, name="qwen2 without biases")
    refused("qwen3", "F0018", head_norm=False, name="qwen3 without head norms")
    refused("llama", "F0020", bias=True, name="llama with biases")
    refused("qwen2", "F0020", head_norm=True, name="qwen2 with head norms")
    refused("gemma3", "F0018", post_norm=False, name="gemma3 without norms behind")


FAMILY_CHECKS = {name: check for family in FAMILIES if family != "llama"
                 for name, check in family_checks(family).items()}

if __name__ == "__main__":
    main({**FAMILY_CHECKS, **globals()})
