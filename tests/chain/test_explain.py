#!/usr/bin/env python3
"""What a compile says of its decisions, and that each can be turned: fusion rules, disabled passes,
the record in the artifact. Every flip must show in kernels, buffers or bytes and keep the results."""
import json
import os
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
            expect(user and edge["recipe"].startswith("r.yaml:"), f"edge {edge['id']}")
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
                                ("bufferize", "loop-schedule")):
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


def check_keys_and_words():
    text = run_well("explain", "fusion_rules[].mode").decode()
    expect("allow forbid require" in text, text)
    expect_exit(run("explain", "nosuchword"), 2)
    expect_exit(run("explain", "/nosuch/model.ingot"), 6)


if __name__ == "__main__":
    main(globals())
