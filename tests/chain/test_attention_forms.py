#!/usr/bin/env python3
"""Attention of modules in its two forms: whole rows of scores, and an online softmax over blocks of keys, in one kernel
that keeps no more than a block. The rule attn_softmax asks for one of them or leaves the choice to the cost; whatever
the form, the answer is the interpreter's for the ops as they are written, rows that see nothing included. What has no
such form is refused with what is in the way."""
import json
import os
import random
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from pattern_modules import SUM_OF_PRODUCTS, Case, Module, attention, causal, masked, scaled
from support import expect, expect_exit, main, run, run_well, scratch
from test_module_text import accept_dumps
from test_ranges import MODULES as SIZED, cases, compare_call, signature
from tiny_compile import compile_model, divergence

INFINITY = float("inf")
FIRST_CACHE = 32 << 10  # bytes, of the least machine of the hardware table


def bound(keys, size=16, width=1.0):
    """Scores are of at most S = size / 16 + width (factors of 1/2, the scale, a mask). One is off by (size + 4) S / 2
    eps, an exponential of a difference of two by twice that and 2 ulp. Rescaling, once per block of at least 8 keys,
    adds the rounding of a difference of maxima, 2 S, an exponential and a product. A sum over the keys adds a rounding
    for each. That is the relative error of numerator and denominator, on both sides, for values of at most 1/2."""
    scores, blocks = size / 16 + width, keys / 8 + 1
    return 2 * ((size + 4) * scores + 4 + blocks * (2 * scores + 4) + keys)


def grouped():
    """Heads in two dimensions, [key heads, group], as keys and values are shared; rows in front in the result."""
    heads, group, rows, keys, size = 2, 3, 20, 70, 16
    m, shape = Module(), (heads, group, rows, keys)
    q, k, v = m.argument(rows, heads, group, size), m.argument(keys, heads, size), m.argument(keys, heads, size)
    x = m.generic(["k, i, j, m", "l, i, m", "i, j, k, l"], [q, k], shape, SUM_OF_PRODUCTS, loops="ppppr",
                  onto=m.filled("0.0", shape))
    number = m.constant("0.25")
    x = m.generic(["i, j, k, l"] * 2, [x], shape, f"%r = arith.mulf %a, {number[0]} : f32")
    out = (rows, heads, group, size)
    return m.text(m.generic(["j, k, i, m", "m, j, l", "i, j, k, l"], [m.softmax(x, 3), v], out, SUM_OF_PRODUCTS,
                            loops="ppppr", onto=m.filled("0.0", out)))


def narrow():
    """Keys and values of two bytes, without a scale."""
    rows, keys, size = 24, 72, 16
    m, shape = Module(), (2, rows, keys)
    q = m.argument(2, rows, size)
    k, v = [m.argument(2, keys, size, elem="f16") for _ in range(2)]
    body = "%w = arith.extf %b : f16 to f32; %s = arith.mulf %a, %w : f32; %r = arith.addf %s, %old : f32"
    x = m.generic(["i, j, l", "i, k, l", "i, j, k"], [q, k], shape, body, loops="pppr", onto=m.filled("0.0", shape))
    out = (2, rows, size)
    return m.text(m.generic(["i, j, l", "i, l, k", "i, j, k"], [m.softmax(x, 2), v], out, body, loops="pppr",
                            onto=m.filled("0.0", out)))


# Rows that blocks divide and prime numbers of them; fewer keys than a block, whole blocks, a rest of one.
MODULES = {
    "one block": attention(), "blocks": attention(rows=32, keys=128), "a rest": attention(rows=37, keys=129),
    "one row": attention(rows=1, keys=70), "one head": attention(heads=1, rows=12, keys=65),
    "one row of one head": attention(heads=1, rows=1, keys=70), "one key": attention(rows=5, keys=1),
    "causal": attention(rows=80, keys=80, masks=[causal]),
    "added": attention(rows=24, keys=100, masks=[masked("j, k", (24, 100))]),
    "added per head": attention(rows=24, keys=100, masks=[masked("i, j, k", (3, 24, 100))]),
    "added per key": attention(rows=24, keys=100, masks=[masked("k", (100,))]),
    "turned": attention(rows=24, keys=100, masks=[masked("k, j", (100, 24))]),
    "seen": attention(rows=24, keys=100, masks=[masked("j, k", (24, 100), "i1")]),
    "added and causal": attention(rows=70, keys=70, masks=[masked("0, j, k", (1, 70, 70)), causal]),
    "shared heads": attention(heads=6, rows=20, keys=70, group=3), "grouped": grouped(), "narrow": narrow(),
}


def check_forms():
    """In flash form one kernel, which keeps less per worker than the scores of one head where those are more than a
    block, and nothing in the arena; forbidden, every step is a kernel of its own and the scores are stored."""
    for name, text in MODULES.items():
        with scratch() as folder:
            flash, apart = [Case(folder, text, "attn_softmax", mode) for mode in ("flash-atomic", "forbid")]
            for case in (flash, apart):
                try:
                    case.answers(bound(130))
                except AssertionError as error:
                    raise AssertionError(f"{name}: {error}") from error
            record = flash.record()
            (rule,) = [r for r in record["rules"] if r["pattern"] == "attn_softmax"]
            expect(rule["outcome"] == "applied" and "online softmax" in rule["places"][0]["detail"], rule)
            (kernel,) = record["kernels"]
            expect(kernel["scratch_bytes"] <= 2 * 4 * 16 * 64 + 16 * 16 * 4 + 1024 + 4 * 16 * 64, kernel)
            expect(record["summary"]["num_buffers"] == 0, f"{name}: {record['summary']}")
            expect(apart.shape()[0] > 1 and apart.record()["summary"]["num_buffers"] > 0, f"{name}: {apart.shape()}")
            expect(apart.rule()["outcome"] in ("not applied", "no candidate"), apart.rule())
    return f"{len(MODULES)} modules"


def seen_from(rows, keys, first):
    """Row r sees the keys from first(r) on."""
    return [0.0 if key >= first(row) else -INFINITY for row in range(rows) for key in range(keys)]


def check_rows_that_see_little():
    """Rows that see nothing are NaN, as a softmax of nothing but -inf is; those that see nothing of their first blocks,
    or scores below all finite ones but one, are numbers. So for both forms, and for one and two threads."""
    rows, keys = 16, 130
    text = attention(heads=2, rows=rows, keys=keys, masks=[masked("j, k", (rows, keys))])
    least = -3.4028234663852886e38
    masks = {"nothing": seen_from(rows, keys, lambda row: keys if row % 3 == 0 else 0),
             "late": seen_from(rows, keys, lambda row: row * 8 + 9), "all": [-INFINITY] * (rows * keys),
             "far below": [-1e30 + row for row in range(rows) for _ in range(keys)],
             "least": [least] * (rows * keys),
             "one": [0.0 if key == (row * 29) % keys else least for row in range(rows) for key in range(keys)],
             "infinite": [INFINITY if key == row * 8 else 0.0 for row in range(rows) for key in range(keys)]}
    for mode in ("flash", "plain"):
        with scratch() as folder:
            case = Case(folder, text, "attn_softmax", mode)
            for name, mask in masks.items():
                try:
                    case.answers(bound(keys), {"x3": mask})
                except AssertionError as error:
                    raise AssertionError(f"{mode}, {name}: {error}") from error


def chosen(text, mode, extra="", given=True):
    with scratch() as folder:
        case = Case(folder, text, "attn_softmax", mode, extra)
        if not given:
            with open(case.recipe, encoding="utf-8") as file:
                lines = [line for line in file if "fusion_rules" not in line]
            with open(case.recipe, "w", encoding="utf-8") as file:
                file.write("".join(lines))
        case.answers(bound(256))
        record = case.record()
        places = [p for r in record["rules"] if r["pattern"] == "attn_softmax" for p in r["places"]]
        return len(record["kernels"]), [k["scratch_bytes"] for k in record["kernels"]], places, case.shape()[1]


def check_short_attentions():
    """One query of one head, one key: in plain form too one kernel that keeps the scores, and forbidden, two."""
    for heads, rows, keys in ((1, 1, 70), (1, 1, 8), (3, 1, 70), (3, 5, 1), (3, 1, 1), (1, 1, 1)):
        text, what = attention(heads=heads, rows=rows, keys=keys), (heads, rows, keys)
        for mode in ("plain", "allow", "require"):
            expect(chosen(text, mode)[0] == 1, f"{what}, {mode}")
        expect(chosen(text, "forbid")[0] > 1, what)


def check_choice():
    """Left open, scores of one head that stay in the first cache are kept whole, more are not; the record says what
    was weighed. Asked for, either form is taken."""
    small, large = attention(rows=32, keys=48), attention(rows=48, keys=64)  # 4 times 6 and 12 KiB
    for text, is_flash in ((small, False), (large, True)):
        for given in (True, False):
            kernels, _, places, _ = chosen(text, "allow", given=given)
            word = "online softmax, which costs less" if is_flash else "whole rows, which cost less"
            expect(kernels == 1 and places[0]["applied"] and word in places[0]["detail"], places)
            for part in ("whole rows: ", "bytes per worker", str(FIRST_CACHE)):
                expect(part in places[0]["detail"], places)
    _, scratch_bytes, places, _ = chosen(small, "flash-allow")
    expect("as the rule asks" in places[0]["detail"], places)
    _, more, places, _ = chosen(small, "plain")
    expect(max(more) > max(scratch_bytes) and not any(p.get("detail") for p in places), places)
    with scratch() as folder:
        Case(folder, attention(rows=128, keys=256), "attn_softmax", "plain").refused(
            "capacity", f"keep {128 * 256 * 4} bytes per worker")


def check_scratch():
    """A bound makes the blocks smaller; no kernel keeps more than it; below the least block it is refused, where flash
    is required, and apart, where it is not."""
    text, sizes = attention(rows=96, keys=128), []
    for limit in (16384, 8192, 2048):
        _, kept, _, _ = chosen(text, "flash", f"memory_optimization: {{max_scratch_bytes: {limit}}}\n")
        expect(max(kept) <= limit, f"{limit}: {kept}")
        sizes.append(max(kept))
    expect(sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1], sizes)
    with scratch() as folder:
        low = "memory_optimization: {max_scratch_bytes: 256}\n"
        Case(folder, text, "attn_softmax", "flash", low).refused("capacity", "256 are allowed")
    kernels, kept, places, _ = chosen(text, "allow", low)
    expect(kernels > 1 and max(kept) <= 256, (kept, places))


# Heads of queries and keys in any number, the products and the scale as generic ops.
VARYING = """
#q = affine_map<(h, i, j, l) -> (h, i, l)>
#k = affine_map<(h, i, j, l) -> (h, j, l)>
#o = affine_map<(h, i, j, l) -> (h, i, j)>
#v = affine_map<(h, i, j, l) -> (h, l, j)>
#id = affine_map<(h, i, j) -> (h, i, j)>
#row = affine_map<(h, i, j) -> (h, i)>
func.func @main(%q: tensor<2x?x4xf32> {ingot.dims = ["", "n", ""]}, %k: tensor<2x?x4xf32> {ingot.dims = ["", "k", ""]},
    %v: tensor<2x?x8xf32> {ingot.dims = ["", "k", ""]}) -> tensor<2x?x8xf32>
    attributes {ingot.ranges = {n = {max = 38 : i64, step = 32 : i64}, k = {max = 150 : i64, step = 70 : i64}}} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.25 : f32
  %n = tensor.dim %q, %c1 : tensor<2x?x4xf32>
  %m = tensor.dim %k, %c1 : tensor<2x?x4xf32>
  %e = tensor.empty(%n, %m) : tensor<2x?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%q, %k : tensor<2x?x4xf32>, tensor<2x?x4xf32>) outs(%f : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<2x?x?xf32>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s : tensor<2x?x?xf32>) outs(%e : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.mulf %a, %scale : f32
    linalg.yield %t : f32
  } -> tensor<2x?x?xf32>
  %p = linalg.softmax dimension(2) ins(%x : tensor<2x?x?xf32>) outs(%e : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %ey = tensor.empty(%n) : tensor<2x?x8xf32>
  %fy = linalg.fill ins(%zero : f32) outs(%ey : tensor<2x?x8xf32>) -> tensor<2x?x8xf32>
  %y = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %v : tensor<2x?x?xf32>, tensor<2x?x8xf32>) outs(%fy : tensor<2x?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %o, %t : f32
    linalg.yield %u : f32
  } -> tensor<2x?x8xf32>
  return %y : tensor<2x?x8xf32>
}
"""


# The same softmax in steps: its maxima and sums are bounded by the number of keys of a call.
IN_STEPS = VARYING.replace("  %p = linalg.softmax dimension(2) ins(%x : tensor<2x?x?xf32>) outs(%e : tensor<2x?x?xf32>) "
                           "-> tensor<2x?x?xf32>\n", """
  %least = arith.constant 0xFF800000 : f32
  %er = tensor.empty(%n) : tensor<2x?xf32>
  %fl = linalg.fill ins(%least : f32) outs(%er : tensor<2x?xf32>) -> tensor<2x?xf32>
  %mx = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<2x?x?xf32>) outs(%fl : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.maximumf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %ex = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mx : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%e : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    %u = math.exp %t : f32
    linalg.yield %u : f32
  } -> tensor<2x?x?xf32>
  %fz = linalg.fill ins(%zero : f32) outs(%er : tensor<2x?xf32>) -> tensor<2x?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%ex : tensor<2x?x?xf32>) outs(%fz : tensor<2x?xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %a, %o : f32
    linalg.yield %t : f32
  } -> tensor<2x?xf32>
  %p = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%ex, %sum : tensor<2x?x?xf32>, tensor<2x?xf32>) outs(%e : tensor<2x?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.divf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x?x?xf32>
""")


def sized_module(name):
    with open(os.path.join(SIZED, name), encoding="utf-8") as file:
        return file.read()


def answers_at_every_size(folder, case):
    generator = random.Random(1)
    for call in cases(signature(case.built())[2]):
        compare_call(folder, os.path.join(folder, "module.mlir"), case.built(), call, bound(150), generator)


def check_keys_that_vary():
    """Rows and keys in any number: flash where it is asked for, in each version one kernel of the attention, and the
    answers of every size, with what blocks of padding hold left out. Products may be generic ops or named ones."""
    for name, text in (("generic", VARYING), ("named", sized_module("attention.mlir"))):
        with scratch() as folder:
            case = Case(folder, text, "attn_softmax", "flash-atomic")
            answers_at_every_size(folder, case)
            places = [p for p in case.rule()["places"] if "online softmax, as the rule asks" in p.get("detail", "")]
            expect(len(places) == len(case.record()["versions"]) and all(p["applied"] for p in places), f"{name}: {places}")


def check_softmax_in_steps_over_keys_that_vary():
    """It has no such form: refused where flash is required, with what to write; told, and right, where it is not."""
    with scratch() as folder:
        Case(folder, IN_STEPS, "attn_softmax", "flash").refused("map", "linalg.softmax", "a size that varies")
        case = Case(folder, IN_STEPS, "attn_softmax", "flash-allow")
        answers_at_every_size(folder, case)
        places = [p for p in case.rule()["places"] if not p["applied"]]
        expect(any("linalg.softmax" in p["detail"] for p in places), places)


def check_the_remedy_is_enough():
    """Whole rows of several versions: the bound that is written as the remedy of the first is one for all."""
    text = VARYING.replace("n = {max = 38 : i64, step = 32 : i64}", "n = {max = 70 : i64, step = 16 : i64}")
    with scratch() as folder:
        case = Case(folder, text, "attn_softmax", "plain")
        done = run("compile", case.recipe, "-o", case.artifact)
        expect_exit(done, 1)
        (limit,) = re.findall(rb"max_scratch_bytes: (\d+)", done.stderr)
        run_well("compile", Case(folder, text, "attn_softmax", "plain",
                                 f"memory_optimization: {{max_scratch_bytes: {limit.decode()}}}\n").recipe, "--dry-run")


def check_side_conditions():
    """What looks like it and is not, or has no such form: refused where flash is required, and right where it is not."""
    wide = {"rows": 16, "keys": 16}
    relative = masked("j - k + 15", (31,))

    def turned(m, x):
        return m.generic(["i, k, j", "i, j, k"], [x], x[1], "%r = arith.negf %a : f32")

    cases = {"softmax along dimension 1 of the scores, the weighted sum along 2":
             (attention(**wide, axis=1), "the softmax runs along dimension 1"),
             "weights with another reader": (attention(**wide, keep=True), "another reader"),
             "heads that leave a rest": (attention(heads=5, **wide, group=2), "5 heads of queries in groups of 2"),
             "a mask by distance": (attention(**wide, masks=[relative]), "is read at"),
             "scores turned": (attention(**wide, masks=[turned]), "no product")}
    for name, (text, reason) in cases.items():
        with scratch() as folder:
            Case(folder, text, "attn_softmax", "flash").refused("map" if "reader" not in name else "multi-use", reason)
            for mode in ("allow", "flash-allow"):
                case = Case(folder, text, "attn_softmax", mode)
                case.answers(bound(130))
            places = [p for p in case.rule()["places"] if not p["applied"]]
            expect(any(reason in p["detail"] for p in places), f"{name}: {places}")


def check_mask_of_another_shape():
    """[keys, rows] read as [rows, keys]: no index fits both."""
    text = attention(rows=24, keys=100, masks=[masked("j, k", (100, 24))])
    with scratch() as folder:
        done = run("compile", Case(folder, text, "attn_softmax", "flash").recipe, "-o", os.path.join(folder, "a"))
        expect_exit(done, 3)
        for word in (b"module.mlir:", b"24", b"100"):
            expect(word in done.stderr, done.stderr[:600])


def check_contradiction():
    with scratch() as folder:
        case = Case(folder, attention(), "attn_softmax", "forbid")
        with open(case.recipe, encoding="utf-8") as file:
            text = file.read().replace("mode: forbid", "mode: forbid, use_flash_attention: true")
        with open(case.recipe, "w", encoding="utf-8") as file:
            file.write(text)
        done = run("compile", case.recipe, "--dry-run")
        expect_exit(done, 3)
        expect(b"R0011" in done.stderr and b"use_flash_attention" in done.stderr, done.stderr)


def check_order():
    """The rule that comes first has the softmax: by blocks of keys as part of the attention, or in whole rows with the
    product before it, though blocks would cost less. An order that decides nothing is refused."""
    text = attention(rows=48, keys=64)
    def rules(*orders):
        return "fusion_rules: [" + ", ".join(f"{{pattern: {p}{order}}}" for p, order in orders) + "]\n"
    def case_of(folder, *orders):
        case = Case(folder, text, "attn_softmax", "allow")
        with open(case.recipe, encoding="utf-8") as file:
            lines = [line for line in file if "fusion_rules" not in line]
        with open(case.recipe, "w", encoding="utf-8") as file:
            file.write("".join(lines) + rules(*orders))
        return case
    for first, second, is_flash in ((1, 2, True), (2, 1, False)):
        with scratch() as folder:
            case = case_of(folder, ("attn_softmax", f", fuse_order: {first}"), ("matmul_softmax", f", fuse_order: {second}"))
            case.answers(bound(256))
            places = [p for r in case.record()["rules"] if r["pattern"] == "attn_softmax" for p in r["places"]]
            expect(any("online softmax" in p.get("detail", "") for p in places) == is_flash, places)
    for orders, code in (((("attn_softmax", ", fuse_order: 1"),), b"R0011"),
                         ((("attn_softmax", ", fuse_order: 1"), ("matmul_softmax", ", fuse_order: 1")), b"R0011"),
                         ((("attn_softmax", ", fuse_order: 2, use_flash_attention: true"), ("matmul_softmax", ", fuse_order: 1")),
                          b"R0011"),
                         ((("elementwise", ", fuse_order: 1"), ("matmul_bias", ", fuse_order: 2")), b"R0012")):
        with scratch() as folder:
            done = run("compile", case_of(folder, *orders).recipe, "--dry-run")
            expect_exit(done, 3)
            expect(code in done.stderr and b"fuse_order" in done.stderr, done.stderr)


def check_every_pass():
    """What every pass makes of it is accepted by MLIR's own tool and has the same results."""
    for name in ("a rest", "added and causal", "grouped"):
        with scratch() as folder:
            case, dumps = Case(folder, MODULES[name], "attn_softmax", "flash"), os.path.join(folder, "ir")
            run_well("compile", case.recipe, "-o", case.artifact, "--cpu=x86-64-v3", "--verify-each",
                     "--dump-ir-after=all", f"--dump-dir={dumps}")
            accept_dumps(dumps)
            (dump,) = [name for name in os.listdir(dumps) if name.endswith("raise-patterns.mlir")]
            with open(os.path.join(dumps, dump), encoding="utf-8") as file:
                expect(file.read().count("ingot.attention") == 1, dump)
    return "mlir-opt-22" if shutil.which("mlir-opt-22") else "without mlir-opt-22"


# ---------------------------------------------------------------- language models

RULES = {"default": "", "required": "require, use_flash_attention: false", "forbidden": "forbid",
         "allowed": "allow, use_flash_attention: false", "flash": "require, use_flash_attention: true"}


def check_language_model():
    """Whole rows of scores, where they are asked for: the same answers, the scores of all heads, tokens and positions
    in the arena; by default, and with the rule that asks for it, an online softmax and the same code to the byte."""
    scores = 2 * 2 * 8 * 64 * 4  # heads, queries of each, tokens of a call, context
    with scratch() as folder:
        kernels, arena = {}, {}
        for name, rule in RULES.items():
            rules = f"fusion_rules: [{{pattern: attn_softmax, mode: {rule}}}]\n" if rule else ""
            reference, artifact = compile_model(folder, "f32", "f32", rules, options=("--cpu=x86-64-v3",), weights="Q8_0",
                                                layers=1, heads=4, kv_heads=2)
            record = json.loads(run_well("explain", artifact, "--json"))
            plan = json.loads(run_well("inspect", artifact, "--json"))
            kernels[name] = [k["name"] for k in record["kernels"]]
            (arena[name],) = [p["bytes"] for p in plan["memory"]["parts"] if p["name"] == "arena"]
            worst = divergence(folder, reference, artifact, prompts={"one": [7, 100, 101, 3, 258, 90, 91, 92, 93, 94]})
            expect(worst < 1e-9, f"{name}: KL {worst}")
            places = [p for r in record["rules"] if r["pattern"] == "attn_softmax" for p in r["places"]]
            if name in ("required", "allowed"):
                expect(any(p["applied"] and f"{scores} bytes of scores" in p["detail"] for p in places), places)
            if name == "forbidden":
                expect(places and not any(p["applied"] for p in places), places)
        expect(kernels["default"] == kernels["flash"] and arena["default"] == arena["flash"], (kernels, arena))
        for name in ("required", "allowed", "forbidden"):
            expect(len(kernels[name]) > len(kernels["default"]) and not any("attention" in k for k in kernels[name]),
                   kernels[name])
            expect(arena[name] >= arena["default"] + scores / 2, arena)


if __name__ == "__main__":
    main(globals())
