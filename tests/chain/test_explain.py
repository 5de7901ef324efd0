#!/usr/bin/env python3
"""What a compile says of its decisions, and that each can be turned: fusion rules, disabled passes,
the record in the artifact. Every flip must show in kernels, buffers or bytes and keep the results."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, expect_exit, main, run, run_well, scratch
from test_tiny import divergence
from tiny_model import make_model

RECIPE_TEXT = """version: 1
model_name: tiny
precision: {{weights: as_stored, activations: {activations}, kv_cache: {kv}}}
input_constraints:
  seq_len: {{min: 1, max: 8, step: 8}}
  kv_cache_seq_len: {{max: 64}}
targets:
  - {{arch: x86_64, cpu: x86-64-v3, threads: 2}}
memory_optimization: {{kv_cache_page_size: 16}}
"""
FLIPS = ["qkv_proj", "mlp_gate_up", "elementwise", "matmul_activation", "matmul_residual",
         "norm_quantize"]


class Tiny:
    """A tiny model and recipes for it in one folder."""

    def __init__(self, folder, activations="f32"):
        self.folder, self.activations = folder, activations
        self.model = os.path.join(folder, "m.gguf")
        self.reference = make_model(self.model, weights="Q4_1" if activations == "int8" else "F32")

    def recipe(self, rules=""):
        path = os.path.join(self.folder, "r.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(RECIPE_TEXT.format(activations=self.activations,
                                         kv="f32" if self.activations == "f32" else "f16") + rules)
        return path

    def explain(self, rules="", *args):
        return json.loads(run_well("explain", self.recipe(rules), "--model", self.model, "--json",
                                   "-q", *args, timeout=400))

    def artifact(self, rules="", *args, name="m.ingot"):
        path = os.path.join(self.folder, name)
        run_well("compile", self.recipe(rules), "--model", self.model, "-o", path, *args, timeout=400)
        return path

    def kl(self, artifact):
        return divergence(self.folder, self.reference, artifact)


def shape_of(record):
    summary = record["summary"]
    return {key: summary[key] for key in ("num_kernels", "num_buffers", "buffer_bytes",
                                          "stake_bytes", "num_applied")}


def rule(pattern, mode):
    return f"fusion_rules: [{{pattern: {pattern}, mode: {mode}}}]\n"


def check_every_edge_has_a_reason():
    with scratch() as folder:
        record = Tiny(folder, "int8").explain()
        expect(len(record["edges"]) == record["summary"]["num_edges"], "all edges are listed")
        for edge in record["edges"]:
            reasons = [reason["reason"] for reason in edge["reasons"]]
            expect(edge["applied"] == (not reasons), f"edge {edge['id']}: {reasons}")
            expect(edge["applied"] or edge["reason"] == reasons[0], "the first reason counts")
            expect(all(reason["write"] for reason in edge["reasons"]), f"edge {edge['id']} remedy")
        for buffer in record["buffers"]:
            expect(buffer["reason"], f"a buffer without a reason: {buffer}")
        expect(all(copy["reason"] for copy in record["copies"]), "a copy without a reason")
        between = [b["reason"] for b in record["buffers"] if not b["in_kernel"]]
        expect(len(set(between)) >= 3, f"reasons of buffers: {set(between)}")
        return f"{len(record['edges'])} edges, {len(record['buffers'])} buffers"


def scratch_of(record):
    """Per kernel the buffers that are listed in it, each at a multiple of 64 bytes."""
    sizes = {kernel["name"]: 0 for kernel in record["kernels"]}
    for buffer in record["buffers"]:
        if buffer["in_kernel"]:
            sizes[buffer["func"]] += -(-buffer["bytes"] // 64) * 64
    return sizes


def check_buffers_in_kernels_are_those_of_the_code():
    """What fused loops keep in registers is no buffer, what they keep a row of is one row: the record
    has the allocations of the vectorised kernels, of the type they have there."""
    seen = {}
    for module in ("modules/conv_bn_relu.mlir", "modules/mlp.mlir", "modules/conv_channels_first.mlir",
                   "modules_sized/mlp_softmax.mlir"):
        with scratch() as folder:
            artifact = os.path.join(folder, "m.ingot")
            run_well("compile", os.path.join(os.path.dirname(os.path.abspath(__file__)), module), "--target=host",
                     "-o", artifact, "--dump-ir-after=vectorize", f"--dump-dir={folder}")
            record = json.loads(run_well("explain", artifact, "--json"))
            (dump,) = [name for name in os.listdir(folder) if "vectorize" in name]
            with open(os.path.join(folder, dump), encoding="utf-8") as file:
                text = file.read()
            held = {}
            for func in re.split(r"(?m)^  func.func ", text)[1:]:
                if 'ingot.kernel = "init"' not in func.split("\n")[0]:
                    held[re.search(r"@(\w+)", func)[1]] = re.findall(r"memref\.alloca\(\).* : (memref<\S+>)", func)
            listed = {name: [b["type"] for b in record["buffers"] if b["in_kernel"] and b["func"] == name]
                      for name in held}
            expect(held == listed, f"{module}: {listed} are listed, {held} are there")
            expect(scratch_of(record) == {k["name"]: k["scratch_bytes"] for k in record["kernels"]}, record["buffers"])
            seen[module] = sum(map(len, listed.values()))
    expect(seen["modules/conv_bn_relu.mlir"] == 0, "convolution, scale and rectifier keep a buffer")
    expect(seen["modules/mlp.mlir"] == 2, f"{seen}")
    with scratch() as folder:
        record = Tiny(folder, "int8").explain()
        expect(scratch_of(record) == {k["name"]: k["scratch_bytes"] for k in record["kernels"]}, record["buffers"])
        return f"{seen}"


def check_record_is_the_artifacts_and_stable():
    with scratch() as one, scratch() as two:
        first, second = Tiny(one, "int8"), Tiny(two, "int8")
        told = first.explain()
        stored = json.loads(run_well("explain", first.artifact(), "--json"))
        expect(told == stored, "the artifact holds another record")
        expect(told == second.explain(), "two builds give two records")
        text = run_well("explain", os.path.join(one, "m.ingot")).decode()
        expect(len(text.splitlines()) <= 60, f"{len(text.splitlines())} lines are no summary")


def check_flips_show_and_keep_the_results():
    with scratch() as folder:
        tiny = Tiny(folder, "int8")
        base = shape_of(tiny.explain())
        plain = tiny.kl(tiny.artifact())
        for pattern in FLIPS:
            flipped = shape_of(tiny.explain(rule(pattern, "forbid")))
            expect(flipped != base, f"{pattern}: forbid changes nothing")
            worst = tiny.kl(tiny.artifact(rule(pattern, "forbid")))
            # The same sums in another kernel: what int8 costs stays what it is.
            expect(abs(worst - plain) <= 0.05 * plain + 1e-9, f"{pattern}: KL {plain} -> {worst}")


def check_forbidden_edges_name_the_rule():
    with scratch() as folder:
        record = Tiny(folder).explain(rule("matmul_residual", "forbid"))
        apart = [edge for edge in record["edges"] if edge["pattern"] == "matmul_residual"]
        expect(apart and not any(edge["applied"] for edge in apart), "some are joined")
        for edge in apart:
            user = [r for r in edge["reasons"] if r["reason"] == "user"]
            expect(user and edge["recipe"].startswith("recipe:"), f"edge {edge['id']}")
            expect("mode: allow" in user[0]["write"], user[0])


def check_required_rules_are_held():
    with scratch() as folder:
        tiny = Tiny(folder)
        for pattern in ("qkv_proj", "matmul_residual"):
            record = tiny.explain(rule(pattern, "require"))
            outcome = next(r for r in record["rules"] if r["pattern"] == pattern)
            expect(outcome["outcome"] == "applied" and outcome["num_applied"] > 0, outcome)
        for pattern, evidence in (("matmul_softmax", "no candidate"), ("elementwise", "multi-use")):
            done = run("compile", tiny.recipe(rule(pattern, "require")), "--model", tiny.model,
                       "--dry-run", timeout=400)
            expect_exit(done, 1)
            text = done.stderr.decode()
            expect("P0061" in text and evidence in text and "r.yaml:10" in text, text)
        done = run("compile", tiny.recipe("fusion_rules: [{pattern: qkv_proj, mode: require, "
                                          "enabled: false}]\n"), "--model", tiny.model, "--dry-run")
        expect_exit(done, 3)
        expect("R0011" in done.stderr.decode(), "mode and enabled contradict each other")


def check_bias_of_a_family():
    """Stacked, Q, K and V have one product and one row of biases, in its kernel; apart, each has its own."""
    with scratch() as folder:
        tiny = Tiny(folder, "int8")
        tiny.reference = make_model(tiny.model, weights="Q4_1", family="qwen2")
        outcome = next(r for r in tiny.explain(f"fusion_rules: [{{pattern: matmul_bias, mode: require}}]\n")["rules"]
                       if r["pattern"] == "matmul_bias")
        expect(outcome["outcome"] == "applied", outcome)
        seen = {}
        for mode in ("require", "forbid"):
            rules = f"fusion_rules: [{{pattern: qkv_proj, mode: forbid}}, {{pattern: matmul_bias, mode: {mode}}}]\n"
            outcome = next(r for r in tiny.explain(rules)["rules"] if r["pattern"] == "matmul_bias")
            expect(outcome["outcome"] == ("applied" if mode == "require" else "not applied"), outcome)
            seen[mode] = tiny.kl(tiny.artifact(rules))
        expect(seen["require"] == seen["forbid"], seen)  # the same additions in another kernel


def check_atomic_rules():
    """Of a language model: what is joined is nowhere stored; what cannot be is refused."""
    with scratch() as folder:
        tiny = Tiny(folder, "int8")
        for pattern in ("qkv_proj", "matmul_activation", "norm_quantize", "attn_softmax"):
            record = tiny.explain(f"fusion_rules: [{{pattern: {pattern}, atomic: true}}]\n")
            outcome = next(r for r in record["rules"] if r["pattern"] == pattern)
            expect(outcome["outcome"] == "applied" and outcome["num_applied"] > 0, outcome)
        done = run("compile", tiny.recipe("fusion_rules: [{pattern: attn_softmax, atomic: true, "
                                          "use_flash_attention: false}]\n"), "--model", tiny.model, "--dry-run")
        expect_exit(done, 3)
        expect("R0012" in done.stderr.decode() and "stores its scores" in done.stderr.decode(), done.stderr)


def check_disabled_passes():
    with scratch() as folder:
        tiny = Tiny(folder)
        for name in ("pack-projections", "dedupe", "hold-fusion"):
            artifact = tiny.artifact("", f"--disable-pass={name}", name=f"{name}.ingot")
            worst = tiny.kl(artifact)
            expect(worst < 1e-9, f"without {name}: KL {worst}")
            report = json.loads(run_well("compile", tiny.recipe(), "--model", tiny.model, "--dry-run",
                                         "--json", f"--disable-pass={name}", timeout=400))
            cost = report["disabled"]
            expect(cost["passes"] == name, cost)
            more = cost["without"]["num_kernels"] - cost["all_passes"]["num_kernels"]
            expect(more > 0 if name != "hold-fusion" else more == 0, f"{name}: {cost}")
        for name, needed_by in (("canonicalize", "merge-equal"), ("hoist-weights", "outline-kernels"),
                                ("bufferize", "loop-schedule"), ("lower-target", "machine code")):
            done = run("compile", tiny.recipe(), "--model", tiny.model, "--dry-run",
                       f"--disable-pass={name}")
            expect_exit(done, 3)
            text = done.stderr.decode()
            expect("P0062" in text and name in text and needed_by in text, text)


MODULE = """func.func @f(%x: tensor<4x22xf32>, %w: tensor<{n}xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {{
  %r = linalg.generic {{indexing_maps = [affine_map<(d0, d1) -> (d0, d1 * 3)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}} ins(%x, %w : tensor<4x22xf32>, tensor<{n}xf32>) outs(%o : tensor<4x8xf32>) {{
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  }} -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}}
"""


def check_ir_text_is_explained():
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(MODULE.format(n=8))
        access = json.loads(run_well("explain", path, "--json"))["access"]
        expect([a["inner"] for a in access] == ["stride-3", "unit", "unit"], access)
        expect(access[0]["used_percent"] == 33 and access[0]["strides"] == [22, 3], access[0])
        with open(path, "w", encoding="utf-8") as out: # a scale of 4 features for 8 channels
            out.write(MODULE.format(n=4))
        done = run("explain", path)
        expect_exit(done, 3)
        expect("8" in done.stderr.decode() and "4" in done.stderr.decode(), done.stderr.decode())


def generic(maps, loops, ins, out, args, result="%a"):
    maps = ", ".join(f"affine_map<{m}>" for m in maps)
    iterators = ", ".join('"parallel"' if c == "p" else '"reduction"' for c in loops)
    names, types = ", ".join(n for n, _ in ins), ", ".join(t for _, t in ins)
    arrow = f" -> {out[1]}" if out[1].startswith("tensor") else ""
    return (f"  {'%r = ' if arrow else ''}linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} "
            f"ins({names} : {types}) outs({out[0]} : {out[1]}) {{\n  ^bb0({args}):\n    linalg.yield {result} : f32\n  }}{arrow}\n")


def function(arguments, body, result=""):
    given = ", ".join(f"{name}: {kind}" for name, kind in arguments)
    tail = f"  return %r : {result}\n" if result else "  return\n"
    return f"func.func @f({given}){' -> ' + result if result else ''} {{\n{body}{tail}}}\n"


def product(weight, maps=""):
    x, out = ("%x", "tensor<4x64xf32>"), ("%o", "tensor<4x32xf32>")
    return function([x, ("%w", weight), out], f"  %r = linalg.matmul {maps} ins(%x, %w : {x[1]}, {weight}) "
                    f"outs(%o : {out[1]}) -> {out[1]}\n", out[1])


def vectors():
    """name: (module, operand, strides, class, what to write begins with)."""
    rope, heads = "tensor<8x6x4x2xf32>", "(d0, d1, d2, d3, d4) -> "
    queries, keys, scores = "tensor<8x2x3x8xf32>", "tensor<16x2x8xf32>", "tensor<2x3x8x16xf32>"
    codes, scales = "memref<8x2x32xi8, strided<[68, 34, 1], offset: 2>>", "memref<8x2xf16, strided<[34, 17]>>"
    third = function([("%x", "tensor<22xf32>"), ("%o", "tensor<8xf32>")],
                     generic(["(d0) -> (d0 * 3)", "(d0) -> (d0)"], "p", [("%x", "tensor<22xf32>")],
                             ("%o", "tensor<8xf32>"), "%a: f32, %b: f32"), "tensor<8xf32>")
    partner = function([("%x", rope), ("%o", rope)],
                       generic(["(d0, d1, d2, d3) -> (d0, d1, d2, -d3 + 1)", "(d0, d1, d2, d3) -> (d0, d1, d2, d3)"],
                               "pppp", [("%x", rope)], ("%o", rope), "%a: f32, %b: f32"), rope)
    grouped = function([("%q", queries), ("%k", keys), ("%o", scores)],
                       f"  %r = linalg.contract indexing_maps = [affine_map<{heads}(d2, d0, d1, d4)>, "
                       f"affine_map<{heads}(d3, d0, d4)>, affine_map<{heads}(d0, d1, d2, d3)>] "
                       f"ins(%q, %k : {queries}, {keys}) outs(%o : {scores}) -> {scores}\n", scores)
    blocks = function([("%c", codes), ("%s", scales), ("%o", "memref<4x8xf32>")],
                      generic(["(d0, d1, d2, d3) -> (d1, d2, d3)", "(d0, d1, d2, d3) -> (d1, d2)",
                               "(d0, d1, d2, d3) -> (d0, d1)"], "pprr", [("%c", codes), ("%s", scales)],
                              ("%o", "memref<4x8xf32>"), "%a: i8, %b: f16, %acc: f32", "%acc"))
    rows = ("indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, "
            "affine_map<(d0, d1, d2) -> (d0, d1)>]")
    return {"every third": (third, 0, [3], "stride-3", "transpose or pack"),
            "rotary partner": (partner, 0, [48, 8, 2, -1], "reversed", ""),
            "grouped keys": (grouped, 1, [8, 0, 0, 16, 1], "unit", ""),
            "weight [n, k]": (product("tensor<32x64xf32>", rows), 1, [0, 64, 1], "unit", ""),
            "weight [k, n]": (product("tensor<64x32xf32>"), 1, [0, 1, 32], "strided", "interchange: with loop d1"),
            "codes in place": (blocks, 0, [0, 68, 34, 1], "unit", ""),
            "scales in place": (blocks, 1, [0, 34, 17, 0], "broadcast", "")}


def check_how_operands_are_walked():
    """Documented access patterns, read from text: strides, class, and what would make them unit stride."""
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        for name, (module, operand, strides, inner, remedy) in vectors().items():
            with open(path, "w", encoding="utf-8") as out:
                out.write(module)
            a = next(a for a in json.loads(run_well("explain", path, "--json"))["access"] if a["operand"] == operand)
            expect((a["strides"], a["inner"]) == (strides, inner), f"{name}: {a}")
            expect(a["write"].startswith(remedy) and bool(a["write"]) == bool(remedy), f"{name}: {a}")
            expect(not remedy or a["flagged"], f"{name}: {a}")
            text = run_well("explain", path, "--access").decode()
            expect(f"strides={strides} inner={inner} " in text and a["write"] in text, f"{name}: {text}")


def check_text_says_what_json_says():
    """Each number and each reason of the record, in the text of its part."""
    with scratch() as folder:
        artifact = Tiny(folder, "int8").artifact(rule("matmul_residual", "forbid"))
        record = json.loads(run_well("explain", artifact, "--json"))
        edges = run_well("explain", artifact, "--edges").decode().split("\nedge ")
        expect(len(edges) == len(record["edges"]), f"{len(edges)} and {len(record['edges'])} edges")
        for text, edge in zip(edges, record["edges"]):
            said = [edge["producer"]["op"], edge["consumer"]["op"], f" {edge['bytes']} bytes, ", edge["pattern"],
                    f"{edge['predicted_ns'] / 1000:.1f} us", f" {edge['count']} times", edge["recipe"]]
            for r in edge["reasons"]:
                said += [f"{r['reason']}: {r['detail']}", r["meaning"], f"write: {r['write']}"]
            expect(all(part in text for part in said), f"{[p for p in said if p not in text]} is not in: {text}")
        lines = [line for line in run_well("explain", artifact, "--access").decode().splitlines()
                 if line.startswith("access ")]
        expect(len(lines) == len(record["access"]), f"{len(lines)} and {len(record['access'])} operands")
        for line, a in zip(lines, record["access"]):
            strides = ", ".join("?" if s is None else str(s) for s in a["strides"])
            said = [a["at"]["op"], f"operand={a['operand']}", f"map=affine_map<{a['map']}>", f"strides=[{strides}]",
                    f"inner={a['inner']} used={a['used_percent']}% align={a['align_bytes']}"]
            expect(all(part in line for part in said), f"{said} is not in: {line}")
        fallen = [k for k in record["kernels"] if k["fallback"] or k["scalar_loops"]]
        lines = run_well("explain", artifact, "--fallbacks").decode().splitlines()
        expect(len(lines) == len(fallen), f"{len(lines)} lines, {len(fallen)} kernels")
        for line, k in zip(lines, fallen):
            expect(all(part in line for part in (k["name"], k["wanted"], k["got"], k["fallback"])), line)
        return f"{len(record['edges'])} edges, {len(record['access'])} operands, {len(fallen)} fallbacks"


def check_keys_and_words():
    text = run_well("explain", "fusion_rules[].mode").decode()
    expect("allow forbid require" in text, text)
    expect_exit(run("explain", "nosuchword"), 2)
    expect_exit(run("explain", "/nosuch/model.ingot"), 6)


if __name__ == "__main__":
    main(globals())
