#!/usr/bin/env python3
"""Fusion rules as a contract, pattern by pattern, on modules: required, two ops are one kernel and what was between
them is not stored; forbidden, they are apart and it is; atomic, nothing between them is in the arena. Whatever the rule,
the answer is the interpreter's. What looks like a pattern and is none is computed as it is written, and a rule that
requires it is refused with the reason and the place."""
import contextlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
import pattern_modules
from pattern_modules import K, M, MODES, N, Case, Module, add, attention, product, quantised, relu, scaled
from support import expect, main, scratch


# ---------------------------------------------------------------- modules

def chain():
    m = Module()
    x = m.argument(M, N)
    a = m.generic(["i, j"] * 3, [x, x], (M, N), "%r = arith.mulf %a, %b : f32")
    return m.text(m.generic(["i, j"] * 3, [a, x], (M, N), "%r = arith.subf %a, %b : f32"))


def bias(where="j", **options):
    m, p = product(**options)
    return m.text(add(m, p, m.argument(p[1]["ij".index(where)]), where))


def activation(**options):
    m, p = product(**options)
    return m.text(relu(m, p))


def residual(**options):
    m, p = product(**options)
    return m.text(add(m, p, m.argument(*p[1])))


def scale(**options):
    m, p = product(**options)
    return m.text(scaled(m, p))


def softmax(**options):
    m, p = product(**options)
    return m.text(m.softmax(p, 1))


def projections(transposed=True, params=True, biases=()):
    """Three products of one input, whose results go on into other ops; a bias of each lies along "j", its columns."""
    m = Module()
    x = m.argument(M, K)
    sizes = (64, 48, 32)
    weights = [m.argument(*((n, K) if transposed else (K, n)), param=f"w{i}" if params else None)
               for i, n in enumerate(sizes)]
    results = [m.product(x, w, transposed) for w in weights]
    for i, where in enumerate(biases):
        bias = m.argument(sizes[i] if where == "j" else M, param=f"b{i}" if params else None)
        results[i] = add(m, results[i], bias, where)
    return m.text(*[m.softmax(y, 1) for y in results])


def gated():
    m = Module()
    x = m.argument(M, K)
    gate, up = [m.product(x, m.argument(N, K, param=f"w{i}"), True) for i in range(2)]
    return m.text(m.generic(["i, j"] * 3, [gate, up], (M, N),
                            "%n = arith.negf %a : f32; %e = math.exp %n : f32; %one = arith.constant 1.0 : f32;"
                            "%s = arith.addf %e, %one : f32; %q = arith.divf %a, %s : f32; %r = arith.mulf %q, %b : f32"))


def norm_quantise():
    m = Module()
    x, gain = m.argument(M, K), m.argument(K)
    squares = m.generic(["i, j", "i"], [x], (M,), "%s = arith.mulf %a, %a : f32; %r = arith.addf %s, %old : f32",
                        loops="pr", onto=m.filled("0.0", (M,)))
    y = m.generic(["i, j", "i", "j", "i, j"], [x, squares, gain], (M, K),
                  f"%n = arith.constant {K}.0 : f32; %e = arith.constant 1.0e-5 : f32; %d = arith.divf %b, %n : f32;"
                  "%f = arith.addf %d, %e : f32; %h = math.rsqrt %f : f32; %p = arith.mulf %a, %h : f32;"
                  "%r = arith.mulf %p, %c : f32")
    return m.text(*quantised(m, y))


# ---------------------------------------------------------------- the patterns

PACKED = ("qkv_proj", "mlp_gate_up")
ROWS = {"transposed": False}  # of weights as [k, n] products are sums over rows
def patterns():
    return [("elementwise", chain()),
            ("matmul_bias", bias()), ("matmul_bias", bias(**ROWS)), ("matmul_bias", bias(param="w")),
            ("matmul_activation", activation()), ("matmul_activation", activation(**ROWS)),
            ("matmul_residual", residual()), ("matmul_residual", residual(**ROWS)),
            ("matmul_scale", scale()), ("matmul_scale", scale(**ROWS)),
            ("matmul_softmax", softmax()), ("matmul_softmax", softmax(**ROWS)),
            ("mlp_gate_up", gated()), ("qkv_proj", projections()),
            ("qkv_proj", projections(biases="jjj")), ("qkv_proj", projections(biases="jji")),
            ("norm_quantize", norm_quantise()), ("attn_softmax", attention(rows=M))]


def hold_to_rules(modules, fills_pages=True):
    for number, (pattern, text) in enumerate(modules):
        seen = {}
        for mode in MODES:
            with scratch() as folder:
                case = Case(folder, text, pattern, mode)
                seen[mode] = case.shape()
                if mode != "allow":
                    case.answers()
                    rule = case.rule()
                    if mode == "forbid":
                        expect(rule["outcome"] in ("not applied", "no candidate"), rule)
                        expect(all(p["reason"] == "user" for p in rule["places"] if pattern in PACKED), rule)
                    else:
                        expect(rule["outcome"] == "applied" and rule["num_applied"] > 0, rule)
        what = f"{pattern} ({number}): {seen}"
        expect(seen["require"][0] < seen["forbid"][0], what)
        # Weights stacked, what the product makes is as large as the products were.
        is_less = seen["require"][1] < seen["forbid"][1]
        expect(is_less or not fills_pages or pattern in ("qkv_proj", "attn_softmax"), what)
        expect(seen["atomic"] <= seen["require"] and seen["allow"][0] <= seen["forbid"][0], what)
        expect(seen["atomic"][0] == 1 or pattern in PACKED or "ingot.param" in text, what)
    return f"{len(modules)} modules, {len(MODES)} rules each"


def check_patterns():
    """Each rule shows: fewer kernels and less in the arena where the pattern is joined; the record says so too."""
    return hold_to_rules(patterns())


@contextlib.contextmanager
def sizes(rows, columns, terms):
    """Modules of x [rows, terms] times weights [columns, terms]."""
    global M, N, K
    known = M, N, K
    try:
        M, N, K = pattern_modules.M, pattern_modules.N, pattern_modules.K = rows, columns, terms
        yield
    finally:
        M, N, K = pattern_modules.M, pattern_modules.N, pattern_modules.K = known


def check_patterns_of_one_row():
    """A batch of one: what is one row is not a vector in which the bias looks like a residual, or a sum of everything
    that nothing can join."""
    with sizes(1, N, K):
        return hold_to_rules(patterns(), fills_pages=False)


def single_sizes():
    """One column, one term, and one of everything: loops of one iteration go, and what an op is must not go with them.
    Projections have sizes of their own; of attentions one is of nothing but ones, and one of a single key."""
    for one in ((M, 1, K), (1, 1, K), (1, N, 1), (1, 1, 1)):
        with sizes(*one):
            of_products = [(pattern, text) for pattern, text in patterns() if pattern not in ("qkv_proj", "attn_softmax")]
            yield one, of_products + [("matmul_bias", bias("i")), ("matmul_bias", bias("i", **ROWS))]
    yield "attention", [("attn_softmax", attention(heads, rows, keys, size)) for heads, rows, keys, size in
                        ((1, 1, 1, 1), (1, 1, 1, 16), (2, 5, 1, 8), (2, 5, 9, 1))]


def check_patterns_of_single_sizes():
    """A bias of one column is no residual, a product of one term no elementwise op, a softmax over one column none."""
    return ", ".join(f"{size}: {hold_to_rules(modules, fills_pages=False)}" for size, modules in single_sizes())


def check_an_allowed_pattern_changes_nothing():
    """A rule that allows what is done anyway, and one about what the module does not have, leave the program as it is."""
    number = 0
    for _, modules in single_sizes():
        for pattern, text in modules:
            with scratch() as folder:
                programs = [Case(folder, text, pattern, None).program(), Case(folder, text, pattern, "allow").program(),
                            Case(folder, text, "conv_relu_bn", "forbid").program()]
            expect(programs[0] == programs[1], f"{pattern}, allowed: {text}")
            expect(programs[0] == programs[2], f"{pattern}, another forbidden: {text}")
            number += 1
    return f"{number} modules"


def products_that_fill_no_tile():
    """Columns that are no multiple of 16, or of which several read, or a softmax: tiles pass nothing on."""
    for columns in (1, 17):
        with sizes(M, columns, K):
            for pattern, text in patterns():
                if pattern.startswith("matmul") and "affine_map<(i, j, k) -> (j, k)>" in text:
                    yield pattern, text
    yield "matmul_softmax", softmax()
    m, p = product()
    yield "matmul_activation", m.text(relu(m, p), m.generic(["i, j"] * 2, [p], (M, N), "%r = math.tanh %a : f32"))


def check_the_advice_is_true():
    """What `explain` says to write does join them, and where a rule would, it does not say that nothing does."""
    number = 0
    for pattern, text in products_that_fill_no_tile():
        with scratch() as folder:
            apart = [e for e in Case(folder, text, pattern, "allow").record()["edges"]
                     if e["pattern"] == pattern and not e["applied"]]
            case = Case(folder, text, pattern, "require")
            case.answers()
            expect(case.rule()["outcome"] == "applied" and case.shape()[0] == 1, case.rule())
            expect(apart, f"{pattern} is joined without a rule: {text}")
            for reason in [r for e in apart for r in e["reasons"]]:
                expect(reason["write"].startswith(f"{{pattern: {pattern}, mode: require}}"), reason)
            number += 1
    return f"{number} modules"


def check_copies_between_kernels():
    """A kernel that only copies a part is the end of no edge, but buffers stand before and behind it, with the reason
    for which they are there; the edge has all bytes that are moved. A column of 16: it is written whole."""
    for pattern, text in [*products_that_fill_no_tile(), *next(single_sizes())[1]]:
        with scratch() as folder:
            for mode in ("allow", "forbid"):
                for buffer in Case(folder, text, pattern, mode).record()["buffers"]:
                    expect(buffer["reason"] != "result" or not buffer["consumer"], f"{pattern}, {mode}: {buffer}")
    with sizes(M, 1, K), scratch() as folder:
        (edge,) = [e for e in Case(folder, activation(), "matmul_activation", "allow").record()["edges"]
                   if e["pattern"] == "matmul_activation"]
        # 16 columns written; of one column the copy reads and writes all rows, and its reader reads them.
        expect(edge["bytes"] == 4 * M * (16 + 3), edge)
        expect(any("1 of 16 columns; 1 fill no tiles" in r["detail"] for r in edge["reasons"]), edge)


if __name__ == "__main__":
    main(globals())
