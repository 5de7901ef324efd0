#!/usr/bin/env python3
"""Faults that users of other engines have reported (docs/public_faults.md lists the threads): ours are refused, and the
message names the tensor or key, the value, what is allowed, and the line of the recipe where there is one. Then ten
broken recipes, each mended by what the message says to write, without looking at anything else."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_edit import edit
from support import ROOT, TINY_RECIPE, Kept, expect, expect_exit, main, run, run_well

KEPT = Kept()
at, write = KEPT.at, KEPT.write
RANGED = """func.func @main(%x: tensor<?x4xf32> {ingot.dims = ["n", ""]}) -> tensor<?x4xf32>
    attributes {ingot.ranges = {n = {min = 4, max = 8, step = 4}}} {
  return %x : tensor<?x4xf32>
}
"""
FILLED = "func.func @main() -> tensor<%dx%dxf32> {\n  %%x = arith.constant dense<1.0> : tensor<%dx%dxf32>\n  return %%x : tensor<%dx%dxf32>\n}\n"
DIMS = "version: 1\nmodel_name: d\nprecision: {weights: F32}\ndims: {architecture: llama, layers: 2, hidden: 64, heads: 4, kv_heads: %d, ffn: 160, vocab: 300%s}\n"


def recipe(old, new):
    expect(old in TINY_RECIPE, old)
    return run("verify", write("f.yaml", TINY_RECIPE.replace(old, new)), "--model", KEPT.model())


def file_with(**changes):
    with open(KEPT.model(), "rb") as source:
        data = source.read()
    named = {key.replace("__", "."): change for key, change in changes.items()}
    return run("verify", write("r.yaml", TINY_RECIPE), "--model", write("e.gguf", edit(data, named)))


def ranged(rows, cols, name="x"):
    if not os.path.exists(at("n.ingot")):
        run_well("compile", write("n.mlir", RANGED), "--cpu=x86-64-v3", "-o", at("n.ingot"))
    run_well("opt", write("x.mlir", FILLED % ((rows, cols) * 3)), "--run", f"--result={at('x.npy')}")
    return run("run", at("n.ingot"), "--input", f"{name}={at('x.npy')}", "--output", at("y.npy"))


# name of the row in docs/public_faults.md: how it is done here, exit code, what the message must name
FAULTS = {
    "context-beyond-model": (lambda: recipe("{max: 64}", "{max: 4096}"), 1,
                             ["f.yaml:6:", "4096", "llama.context_length", "256", "max: 256"]),
    "prompt-truncated": (lambda: run("run", KEPT.tiny()[2], "-p", "x " * 200, "-n", "1"), 4,
                         ["64 tokens", "more do not fit", "kv_cache_seq_len.max", "recipe:6", "max: "]),
    "profile-above": (lambda: ranged(9, 4), 3, ["dimension 0", "argument x", "size n", "is 9", "4 to 8", "n.mlir:1"]),
    "profile-below": (lambda: ranged(3, 4), 3, ["dimension 0", "argument x", "size n", "is 3", "4 to 8", "n.mlir:1"]),
    "profile-fixed-dim": (lambda: ranged(8, 5), 3, ["argument x", "8x5xf32", "?x4xf32"]),
    "unknown-input": (lambda: ranged(8, 4, "input_ids"), 3, ["no argument input_ids", "its arguments are x"]),
    "off-step": (lambda: recipe_off_step(), 3, ["argument x", "size n", "is 6", "4 or 8", "recipe:5"]),
    "batch-over-bucket": (lambda: run("bench", KEPT.tiny()[2], "--batch=7", "--prefill=0", "--decode=1", "--runs=1"), 4,
                          ["7 sequences", "at most 1", "batch_size: {max: 7}"]),
    "memory-by-estimate": (lambda: recipe("version: 1", 'version: 1\nmax_memory_gb: "100 kB"'), 4,
                           ["f.yaml:2:", "100000", "weights ", "kv pages ", "max_memory_gb: "]),
    "kv-heads": (lambda: run("verify", write("d.yaml", DIMS % (3, ", norm_eps: 1e-5"))), 3,
                 ["d.yaml:4:", "HEADS = 4", "KV_HEADS = 3", "dims.kv_heads"]),
    "head-count-of-file": (lambda: recipe("version: 1", "version: 1\ndims: {heads: 4}"), 1,
                           ["f.yaml:2:", "dims.heads is 4", "has 2", "llama.attention.head_count", "heads: 2"]),
    "rope-base-missing": (lambda: file_with(llama__rope__freq_base=None), 0,
                          ["warning[F0023]", "llama.rope.freq_base", "10000"]),
    "rope-scaling-ignored": (lambda: file_with(llama__rope__scaling__type="yarn"), 1, ["llama.rope.scaling.type", "yarn"]),
    "metadata-missing": (lambda: file_with(llama__attention__layer_norm_rms_epsilon=None), 1,
                         ["llama.attention.layer_norm_rms_epsilon"]),
    "tensor-shape": (lambda: file_with(**{"blk.0.attn_k.weight": {"dims": [32, 8]}}), 1,
                     ["blk.0.attn_k.weight", "8 x 32", "16 x 32"]),
    "tensor-missing": (lambda: file_with(**{"blk.0.attn_q.weight": None}), 1, ["blk.0.attn_q.weight", "missing"]),
    "pre-tokenizer": (lambda: file_with(tokenizer__ggml__pre="klingon-r1"), 1, ["tokenizer.ggml.pre", "klingon-r1"]),
    "merges-missing": (lambda: file_with(tokenizer__ggml__merges=None), 1, ["tokenizer.ggml.merges", "missing"]),
    "file-cut": (lambda: run("verify", write("r.yaml", TINY_RECIPE), "--model", write("cut.gguf", cut())), 3,
                 ["cut.gguf", "F00"]),
    "unknown-dim": (lambda: run("compile", write("u.mlir", RANGED.replace(", step = 4}}", "}, rows = {max = 4}}")),
                                "--cpu=x86-64-v3", "--dry-run"), 3, ["u.mlir:", "rows", "n"]),
    "architecture": (lambda: file_with(general__architecture="qwen3moe"), 1, ["qwen3moe", "known architectures", "qwen3"]),
    "code-for-better-cpu": (lambda: better_cpu(), 1, ["x86-64-v4 (lacks avx512f", "X0007", "none is used"]),
}


def cut():
    with open(KEPT.model(), "rb") as source:
        return source.read()[:20000]


def better_cpu():
    run_well("compile", write("n.mlir", RANGED), "--cpu=x86-64-v4", "-o", at("v4.ingot"))
    return run("doctor", at("v4.ingot"), "--as-cpu=x86-64-v3", "--symptom=cpu-level")


def recipe_off_step():
    text = ("version: 1\nmodel_name: s\ntargets: [{arch: x86_64, cpu: x86-64-v3, threads: 1}]\ninput_constraints:\n"
            "  n: {min: 4, max: 8, step: 4, off_step: reject}\nsubgraph:\n  text: |\n")
    module = RANGED.replace("\n    attributes {ingot.ranges = {n = {min = 4, max = 8, step = 4}}}", "")
    text += "".join("    " + line + "\n" for line in module.splitlines())
    run_well("compile", write("s.yaml", text), "-o", at("s.ingot"))
    run_well("opt", write("x.mlir", FILLED % ((6, 4) * 3)), "--run", f"--result={at('x.npy')}")
    return run("run", at("s.ingot"), "--input", f"x={at('x.npy')}", "--output", at("y.npy"))


def check_faults_name_what_is_wrong():
    wrong = []
    for name, (do, status, parts) in FAULTS.items():
        done = do()
        said = done.stderr.decode() + done.stdout.decode()
        missing = [part for part in parts if part not in said]
        if done.returncode != status or missing:
            wrong.append(f"{name}: exit {done.returncode}, not {missing}: {said}")
    expect(len(FAULTS) >= 20 and not wrong, "\n".join(wrong))
    return f"{len(FAULTS)} faults"


def check_every_fault_has_its_threads():
    with open(os.path.join(ROOT, "docs", "public_faults.md"), encoding="utf-8") as source:
        rows = re.findall(r"^\| `([\w-]+)` \|.*<https://github\.com/", source.read(), re.MULTILINE)
    expect(sorted(rows) == sorted(FAULTS), set(rows) ^ set(FAULTS))


# ---------------------------------------------------------------- mended from the message alone

TARGET = "{arch: x86_64, cpu: x86-64-v3, threads: 2}"
BROKEN = [
    ("version: 1", "versoin: 1"),
    ("activations: f32", "activations: fp32"),
    ("weights: as_stored", "weights: Q4_0"),
    ("{max: 64}", "{max: 4096}"),
    ("kv_cache_seq_len: {max: 64}", "kv_cache_seq_len: 64"),
    ("seq_len: {min: 1, max: 8, step: 8}", "seq_len: {min: 1, max: 64, step: 1}"),
    ("kv_cache_page_size: 16", "kv_cache_page_size: 24"),
    ("kv_cache_page_size: 16", "kv_cache_page_size: 16, max_pages_per_sequence: 9"),
    ("version: 1", 'version: 1\nmax_memory_gb: "250 kB"'),
    ("version: 1", "version: 1\ndims: {layers: 3}"),
    (TARGET, "{name: l40s, sm_count: 184}"),
    (TARGET, "{arch: amdgpu}"),
    (TARGET, "{name: ascend-910b2, ai_core_preference: cube}"),
    ("version: 1", "version: 1\nfusion_rules: [{pattern: qkv_proj, mode: forbid, enabled: true}]"),
]


def applied(text, said):
    """The one edit that the first message asks for: its place, what it marks, and its `write:` line."""
    place = re.search(r"^\S+?:(\d+):(\d+): \w+\[\w+\]", said, re.MULTILINE)
    wanted = re.search(r"^  write:    (.*?)(?: \[safe to apply\])?$", said, re.MULTILINE)
    expect(place and wanted, f"no place or nothing to write: {said}")
    lines, number, col = text.split("\n"), int(place.group(1)) - 1, int(place.group(2)) - 1
    line, write_ = lines[number], wanted.group(1).strip()
    key, _, value = write_.partition(": ")
    marked = re.match(r"[\w.-]+", line[col:])
    if write_.endswith(":"):  # a key in place of the marked one
        lines[number] = line[:col] + write_[:-1] + line[col + len(marked.group()):]
    elif re.search(rf"\b{re.escape(key)}: ", line):  # a value in place of the key's
        lines[number] = re.sub(rf"\b{re.escape(key)}: (\{{[^}}]*\}}|\"[^\"]*\"|[^,}}\]]+)", write_, line, count=1)
    elif "{" in line:  # a key that is missing
        end = line.index("}", col) if "}" in line[col:] else line.rindex("}")
        lines[number] = line[:end] + f", {write_}" + line[end:]
    else:
        raise AssertionError(f"cannot be applied: {said}")
    return "\n".join(lines)


def check_broken_recipes_are_mended_by_one_edit():
    mended = 0
    for old, new in BROKEN:
        expect(old in TINY_RECIPE, old)
        text = TINY_RECIPE.replace(old, new)
        first = run("verify", write("b.yaml", text), "--model", KEPT.model())
        said = first.stderr.decode()
        expect("[" in said and (first.returncode or "warning[" in said), f"{new}: nothing is wrong: {said}")
        after = applied(text, said)
        expect(sum(a != b for a, b in zip(text.split("\n"), after.split("\n"))) == 1, after)
        second = run("verify", write("b.yaml", after), "--model", KEPT.model())
        expect(second.returncode == 0 and second.stderr == b"", f"{new}: {said}\n{after}\n{second.stderr.decode()}")
        mended += 1
    expect(mended >= 10, mended)
    return f"{mended} recipes"


if __name__ == "__main__":
    main(globals())
