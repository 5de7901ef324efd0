#!/usr/bin/env python3
"""`ingot doctor`: every symptom of its table is recognised in something that has it, with a number and its source,
and passes in something that has not."""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_edit import edit
from support import ROOT, TINY_RECIPE, Kept, expect, expect_exit, main, run, run_well

KEPT = Kept()
kept, write, tiny = KEPT.at, KEPT.write, KEPT.tiny
GATHER = """func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}
"""


def findings(*args, status=0):
    done = run("doctor", *args, "--json", timeout=400)
    expect_exit(done, status)
    report = json.loads(done.stdout)
    expect(report["schema"] == "ingot-doctor" and report["healthy"] == (status == 0), report)
    found = {finding["name"]: finding for finding in report["findings"]}
    for finding in found.values():
        if finding["state"] == "not seen here":
            continue
        expect(finding["evidence"] and finding["source"] and finding["unit"], finding)
        expect(isinstance(finding["value"], (int, float)), finding)
        expect((finding["change"] is not None) == (finding["state"] in ("warn", "fail")), finding)
    return found


def only(name, state, *args, status=0, parts=()):
    finding = findings(*args, f"--symptom={name}", status=status)
    expect(list(finding) == [name], finding)
    finding = finding[name]
    expect(finding["state"] == state, finding)
    text = " ".join(str(value) for value in finding.values())
    for part in parts:
        expect(part in text, f"{part} is not in {finding}")
    return finding


def is_sanitized():
    return "sanitize" in json.loads(run_well("version", "--json"))["build_mode"]


def check_table_has_every_name_once():
    with open(os.path.join(ROOT, "src", "cli", "doctor.def"), encoding="utf-8") as source:
        names = re.findall(r'^SYMPTOM\(\w+, "([\w-]+)"', source.read(), re.MULTILINE)
    found = findings(tiny()[2])
    expect(sorted(found) == sorted(names) and len(names) >= 20, names)
    if is_sanitized():
        return
    recipe = findings(tiny()[0], "--model", tiny()[1])
    unseen = [name for name in names if recipe[name]["state"] == "not seen here"]
    expect(not unseen, f"a recipe that compiles shows every symptom: {unseen}")


def check_a_machine_alone():
    found = findings()
    host = [name for name, finding in found.items() if finding["state"] != "not seen here"]
    expect(host == ["host-cpu", "host-memory", "huge-pages", "clock"], host)
    expect(b"passed" in run_well("doctor"), "text")


def check_processor_levels():
    """The loader refuses code for a better processor, and takes the lesser level if there is one."""
    artifact = tiny()[2]
    module = write("m.mlir", GATHER)
    run_well("compile", module, "--cpu=x86-64-v3,x86-64-v4", "-o", kept("both.ingot"))
    run_well("compile", module, "--cpu=x86-64-v4", "-o", kept("v4.ingot"))
    found = only("cpu-level", "warn", kept("both.ingot"), "--as-cpu=x86-64-v3", parts=["avx512f", "x86-64-v3 is used"])
    expect(found["value"] == 1, found)
    only("cpu-level", "fail", kept("v4.ingot"), "--as-cpu=x86-64-v3", status=1, parts=["X0007", "avx512f", "none is used"])
    only("cpu-level", "pass", kept("v4.ingot"), "--as-cpu=x86-64-v4")
    only("cpu-level", "pass", artifact, "--as-cpu=x86-64-v3")
    expect_exit(run("doctor", artifact, "--as-cpu=x86-64-v9"), 2)


def check_recipes_that_have_a_symptom():
    """Each with the recipe's line and what to write."""
    _, model, _ = tiny()
    target = "  - {arch: x86_64, cpu: x86-64-v3, threads: 2}"
    cases = [
        ("hardware-number", "fail", "  - {name: l40s, sm_count: 184}", ["H0005", "142", "r2.yaml:8"]),
        ("gfx-arch", "fail", "  - {arch: amdgpu}", ["H0008", "gfx_arch", "r2.yaml:8"]),
        ("cube-only", "warn", "  - {name: ascend-910b2, ai_core_preference: cube}", ["H0013", "balanced", "r2.yaml:8"]),
        ("arch", "fail", "  - {name: l40s}", ["H0007", "1 of 1 targets"]),
        ("arch", "warn", "  - {name: l40s}\n" + target, ["1 of 2 targets"]),
    ]
    for name, state, line, parts in cases:
        expect(target in TINY_RECIPE, "the recipe's target")
        recipe = write("r2.yaml", TINY_RECIPE.replace(target, line))
        only(name, state, recipe, "--model", model, status=state == "fail", parts=parts)
    bound = write("r2.yaml", TINY_RECIPE + 'max_memory_gb: "100 kB"\n')
    only("too-large", "fail", bound, "--model", model, status=1, parts=["M0001", "max_memory_gb"])
    module = write("bad.mlir", GATHER.replace("math.exp", "math.expo"))
    only("unknown-op", "fail", module, status=1, parts=["I0002", "math.expo", "bad.mlir:6"])
    wide = TINY_RECIPE.replace("{min: 1, max: 8, step: 8}", "{min: 1, max: 64}")
    found = only("bucket-step", "warn", write("r2.yaml", wide), "--model", model, parts=["32 times the work"])
    mended = wide.replace("{min: 1, max: 64}", re.search(r"seq_len: (\{.*?\})", found["change"]).group(1))
    expect(mended != wide, found)
    only("bucket-step", "pass", write("r2.yaml", mended), "--model", model)
    # A fault that is no symptom is told as what it is.
    broken = run("doctor", write("r2.yaml", TINY_RECIPE.replace("version: 1", "versoin: 1")), "--model", model)
    expect_exit(broken, 3)
    expect(b"R0008" in broken.stderr and broken.stdout == b"", broken.stderr)


def check_overflow_is_found_and_cured():
    _, model, _ = tiny()
    with open(model, "rb") as source:
        data = source.read()
    # Products of more than 65504 behind one tensor, and the precisions without which they are none.
    for precision, tensor, value, parts, cure in (
            ("default: fp16, softmax_precision: fp32", "output_norm.weight", 1.5e4, ["outside the layers", "arith.truncf"],
             {"logits_precision: fp32"}),
            ("default: fp16_storage, softmax_precision: fp32", "blk.0.ffn_up.weight", 3e4,
             ["in layer 0", "blk.0.ffn_gate.weight + blk.0.ffn_up.weight"], {"matmul_precision: fp32", "activation_precision: fp32"}),
            ("kv_cache: f16", "blk.0.attn_v.weight", 3e4, ["in layer 0"], {"kv_cache: f32"})):
        with open(kept("o.gguf"), "wb") as out:
            out.write(edit(data, {tensor: {"fill": value}}))
        words = {"weights: as_stored", "activations: f32", "kv_cache: f32"} - ({"kv_cache: f32"} if "kv_cache" in precision else set())
        text = TINY_RECIPE.replace("weights: as_stored, activations: f32, kv_cache: f32", ", ".join(sorted(words)) + ", " + precision)
        found = only("nan-logits", "fail", write("o.yaml", text), "--model", kept("o.gguf"), status=1,
                     parts=["the first infinity is made at token 1", *parts])
        change = re.search(r"precision: \{(.*)\}", found["change"]).group(1)
        expect(cure <= set(change.split(", ")), found)
        # As it says: with the change no logit is infinite.
        for key in change.split(", "):
            text = re.sub(r", " + key.split(":")[0] + r": \w+", "", text)
        mended = write("o.yaml", text.replace("precision: {", f"precision: {{{change}, "))
        only("nan-logits", "pass", mended, "--model", kept("o.gguf"))
    # Where no precision helps, it says so; where the file is at fault, which tensor.
    for value, parts in ((3e38, ["fp32 everywhere"]), (math.nan, ["blk.0.attn_norm.weight holds", "is finite"])):
        with open(kept("o.gguf"), "wb") as out:
            out.write(edit(data, {"blk.0.attn_norm.weight": {"fill": value}}))
        only("nan-logits", "fail", write("o.yaml", TINY_RECIPE), "--model", kept("o.gguf"), status=1, parts=parts)


def check_artifacts_that_have_a_symptom():
    recipe, model, artifact = tiny()
    with open(model, "rb") as source:
        data = source.read()
    with open(kept("inf.gguf"), "wb") as out:
        out.write(edit(data, {"output_norm.weight": {"fill": 3e38}}))
    run_well("compile", recipe, "--model", kept("inf.gguf"), "-o", kept("inf.ingot"), timeout=400)
    found = only("nan-logits", "fail", kept("inf.ingot"), status=1, parts=["X0102", "precision"])
    expect(found["value"] > 0 and found["recipe"] == "recipe:3: precision.weights: as_stored", found)
    expect(only("nan-logits", "pass", artifact)["value"] == 0, "none")
    expect(only("memory-grows", "pass", artifact)["value"] < 1 << 20, "flat")
    expect(findings(artifact, "--symptom=kv-pages")["kv-pages"]["value"] > 0, "a ratio of two times")
    module = write("g.mlir", GATHER)
    run_well("compile", module, "--cpu=x86-64-v3", "-o", kept("g.ingot"))
    # A transposed read takes one element of each line of 64 bytes: 4 of 64.
    found = only("cache-lines", "warn", kept("g.ingot"), parts=["1 of 2 operands"])
    expect(found["value"] == 6, found)
    straight = write("s.mlir", GATHER.replace("(j, i)", "(i, j)"))
    run_well("compile", straight, "--cpu=x86-64-v3", "-o", kept("s.ingot"))
    only("cache-lines", "pass", kept("s.ingot"), parts=["0 of 2 operands"])
    only("fallback", "pass", kept("s.ingot"), parts=["0 of 1 kernels"])
    found = only("fallback", "warn", artifact, parts=["rows_"])
    kernels = json.loads(run_well("explain", artifact, "--json"))["kernels"]
    expect(found["value"] == sum(bool(k["fallback"] or k["scalar_loops"]) for k in kernels), found)
    for name in ("batch-jump", "host-bound", "barriers"):
        finding = findings(artifact, f"--symptom={name}")[name]
        expect(finding["value"] >= 0 and "measured" in finding["source"], finding)
    entry = json.loads(run_well("inspect", artifact, "--json"))["entries"][0]
    said = findings(artifact, "--symptom=barriers")["barriers"]["evidence"]
    expect(0 < int(said.split()[0]) <= entry.get("num_steps", 1 << 30), (said, entry))


def check_symptoms_by_words():
    artifact = tiny()[2]
    for words, name in (("first token slow after idle", "batch-jump"), ("AVX-512 illegal instruction", "cpu-level"),
                        ("out of memory", "too-large"), ("memory leak", "memory-grows"), ("garbage output", "nan-logits"),
                        ("cache misses because of the tile", "cache-lines")):
        expect(name in findings(artifact, f"--symptom={words}"), words)
    done = run("doctor", artifact, "--symptom=kv-page")
    expect(done.returncode == 2 or b"kv-pages" in done.stdout, done)
    done = run("doctor", artifact, "--symptom=xyzzy")
    expect_exit(done, 2)
    expect(b"--symptom=" in done.stderr and b"kv-pages" in done.stderr, done.stderr)


def check_usage():
    expect_exit(run("doctor", kept("none.ingot")), 6)
    expect_exit(run("doctor", "a", "b"), 2)
    cut = kept("cut.ingot")
    with open(tiny()[2], "rb") as source, open(cut, "wb") as out:
        out.write(source.read()[:5000])
    done = run("doctor", cut)
    expect(done.returncode == 3 and b"X0003" in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
