#!/usr/bin/env python3
"""Side conditions of fusion, proven and not assumed: modules that look like a pattern and are not quite one - a scale
along the wrong axis, a mean over the wrong axis or a part of a row, statistics of another tensor, a bias along the rows,
a product that has another reader. Each is valid, so it must be computed as it is written, whatever is joined; where a
rule requires what cannot be, it is refused with what is in the way."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from pattern_modules import K, M, N, Case, Module, add, kind, product, quantised, relu, scaled
from support import expect, expect_exit, main, run, scratch

# ---------------------------------------------------------------- norms and what quantises them

def norm(scale_map="j", scale_shape=(K,), axis=1, part=K, inside=True, of_another=False):
    """A norm of the rows of x, with one thing changed, and the codes of its result."""
    m = Module()
    x = m.argument(M, K)
    of = m.argument(M, K) if of_another else x
    gain = m.argument(*scale_shape)
    along = "i" if axis == 1 else "j"
    if axis == 1:
        sums = part_of_row(m, of, part) if part != K else m.generic(
            ["i, j", "i"], [of], (M,), "%p = arith.mulf %a, %a : f32; %r = arith.addf %p, %old : f32", loops="pr",
            onto=m.filled("0.0", (M,)))
    else:
        sums = m.generic(["j, i", "i"], [of], (K,), "%p = arith.mulf %a, %a : f32; %r = arith.addf %p, %old : f32",
                         loops="pr", onto=m.filled("0.0", (K,)))
    terms = float(part if axis == 1 else M)
    deviation = ("%f = arith.addf %d, %e : f32; %h = math.rsqrt %f : f32" if inside else
                 "%g = math.sqrt %d : f32; %f = arith.addf %g, %e : f32; %one = arith.constant 1.0 : f32;"
                 "%h = arith.divf %one, %f : f32")
    y = m.generic(["i, j", along, scale_map, "i, j"], [x, sums, gain], (M, K),
                  f"%n = arith.constant {terms} : f32; %e = arith.constant 0.25 : f32; %d = arith.divf %b, %n : f32;"
                  f"{deviation}; %p = arith.mulf %a, %h : f32; %r = arith.mulf %p, %c : f32")
    return m.text(*quantised(m, y))


def part_of_row(m, x, part):
    """Sums of squares of the first columns."""
    piece = m.new((M, part))
    m.line(f"{piece[0]} = tensor.extract_slice {x[0]}[0, 0] [{M}, {part}] [1, 1] : {kind(x)} to {kind(piece)}")
    return m.generic(["i, j", "i"], [piece], (M,), "%p = arith.mulf %a, %a : f32; %r = arith.addf %p, %old : f32",
                     loops="pr", onto=m.filled("0.0", (M,)))


def layer_norm(mean_axis=1, gain_axis=1):
    """Mean and variance, not only squares; the mean of the rows or, wrong for a norm of rows, of the columns."""
    m = Module()
    x, gain, shift = m.argument(M, K), m.argument(K if gain_axis else M), m.argument(K)
    mean = scaled(m, m.reduce(x, mean_axis), str(1.0 / (K if mean_axis else M)))
    by, at = ("i", "j")[1 - mean_axis], ("i", "j")[gain_axis]
    squares = m.generic(["i, j", by, "i"], [x, mean], (M,),
                        "%d = arith.subf %a, %b : f32; %q = arith.mulf %d, %d : f32; %r = arith.addf %q, %old : f32",
                        loops="pr", onto=m.filled("0.0", (M,)))
    y = m.generic(["i, j", by, "i", at, "j", "i, j"], [x, mean, squares, gain, shift], (M, K),
                  "%n = arith.constant 64.0 : f32; %k = arith.constant 1.0e-3 : f32; %v = arith.divf %c, %n : f32;"
                  "%w = arith.addf %v, %k : f32; %h = math.rsqrt %w : f32; %p = arith.subf %a, %b : f32;"
                  "%q = arith.mulf %p, %h : f32; %s = arith.mulf %q, %d : f32; %r = arith.addf %s, %e : f32")
    return m.text(*quantised(m, y))


def check_norms():
    """Every variant is right and one kernel from the norm to the codes: rows are what decides, not names."""
    variants = {"plain": norm(), "scale along the rows": norm("i", (M,)), "one scale for all": norm("0", (1,)),
                "scale of [rows, 1]": norm("i, 0", (M, 1)), "squares of 32 of 64": norm(part=K // 2),
                "epsilon outside the root": norm(inside=False), "squares of another tensor": norm(of_another=True),
                "layer norm": layer_norm(), "layer norm, gain along the rows": layer_norm(gain_axis=0)}
    for name, text in variants.items():
        with scratch() as folder:
            case = Case(folder, text, "norm_quantize", "require")
            try:
                case.answers()
                expect(case.rule()["outcome"] == "applied", case.rule())
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error
    return f"{len(variants)} variants"


def check_statistics_over_the_wrong_axis():
    """A mean of the columns needs all rows first: it stays apart, with the reason, and the answer is right."""
    for text in (norm(axis=0), layer_norm(mean_axis=0)):
        with scratch() as folder:
            case = Case(folder, text, "norm_quantize", "require")
            case.answers()
            apart = [e for e in case.record()["edges"] if not e["applied"]]
            expect(apart and all(e["reason"] in ("reduction-producer", "map") for e in apart), apart)
            expect(all(r["detail"] and r["write"] for e in apart for r in e["reasons"]), apart)


def check_gain_of_another_length():
    """A norm of 128 channels with a gain of 64, and the other way round: no index fits both."""
    for there, here in ((128, 64), (64, 128)):
        m = Module()
        x, gain = m.argument(M, there), m.argument(here)
        text = m.text(m.generic(["i, j", "j", "i, j"], [x, gain], (M, there), "%r = arith.mulf %a, %b : f32"))
        with scratch() as folder:
            case = Case(folder, text, "elementwise", "require")
            done = run("compile", case.recipe, "-o", case.artifact)
            expect_exit(done, 3)
            for word in (b"module.mlir:", b"64", b"128"):
                expect(word in done.stderr, f"{word} is not in: {done.stderr.decode()[:600]}")


# ---------------------------------------------------------------- softmax

def check_softmax_over_the_wrong_axis():
    """Along the columns of the product no row is complete: required, it is refused; allowed, it is right."""
    for transposed in (True, False):
        m, p = product(transposed=transposed)
        text = m.text(m.softmax(p, 0))
        with scratch() as folder:
            Case(folder, text, "matmul_softmax", "require").refused("stay apart", "module.mlir:")
            Case(folder, text, "matmul_softmax", "allow").answers()


def exponentials(subtract):
    """A softmax of the rows written out; without the maximum it is the same number, and another computation."""
    m, p = product(transposed=False)
    most = m.generic(["i, j", "i"], [p], (M,), "%r = arith.maximumf %a, %old : f32", loops="pr",
                     onto=m.filled("0xFF800000", (M,)))
    body = "%d = arith.subf %a, %b : f32; %r = math.exp %d : f32" if subtract else "%r = math.exp %a : f32"
    e = m.generic(["i, j", "i", "i, j"] if subtract else ["i, j", "i, j"], [p, most] if subtract else [p], (M, N), body)
    total = m.reduce(e, 1)
    return m.text(m.generic(["i, j", "i", "i, j"], [e, total], (M, N), "%r = arith.divf %a, %b : f32"))


def check_softmax_without_its_maximum():
    with scratch() as folder:
        case = Case(folder, exponentials(True), "matmul_softmax", "require")
        case.answers()
        expect(case.shape()[0] == 1, case.shape())
    with scratch() as folder:
        text = exponentials(False)
        Case(folder, text, "matmul_softmax", "require").refused("no candidate")
        Case(folder, text, "matmul_activation", "require").answers()


# ---------------------------------------------------------------- what reads a product

def check_bias_along_the_rows():
    """One number for each row instead of each column, and a residual of one row or one column."""
    shapes = {"j": (N,), "i": (M,), "0, j": (1, N), "i, 0": (M, 1)}
    for where, shape in shapes.items():
        for transposed in (True, False):
            m, p = product(transposed=transposed)
            with scratch() as folder:
                case = Case(folder, m.text(add(m, p, m.argument(*shape), where)), "matmul_bias", "allow")
                case.answers()
                if len(shape) == 1:
                    case = Case(folder, case.text, "matmul_bias", "require")
                    expect(case.rule()["outcome"] == "applied", case.rule())


def check_product_with_another_reader():
    """The product is a result too: one kernel can give both, but then it is stored, which is not atomic."""
    for transposed in (True, False):
        m, p = product(transposed=transposed)
        text = m.text(relu(m, p), p)
        with scratch() as folder:
            case = Case(folder, text, "matmul_activation", "require")
            case.answers()
            expect(case.rule()["outcome"] == "applied", case.rule())
            Case(folder, text, "matmul_activation", "atomic").refused("multi-use", "returns it", "mode: require")
            Case(folder, text, "matmul_activation", "allow").answers()


def check_product_turned_before_it_is_read():
    """Read at the transposed place, a product is no product with an epilogue."""
    m = Module()
    x, w = m.argument(N, K), m.argument(N, K)
    p = m.product(x, w, True)
    other = m.argument(N, N)
    text = m.text(m.generic(["j, i", "i, j", "i, j"], [p, other], (N, N), "%r = arith.addf %a, %b : f32"))
    with scratch() as folder:
        Case(folder, text, "matmul_residual", "require").refused("map: ", "(d1, d0)")
        case = Case(folder, text, "matmul_residual", "allow")
        case.answers()
        apart = [e for e in case.record()["edges"] if not e["applied"]]
        expect(apart and "map" in [r["reason"] for e in apart for r in e["reasons"]], apart)


def check_attention_of_given_scores():
    """A softmax of what is no product, and one whose scores another kernel makes: no attention in one kernel."""
    m = Module()
    scores, v = m.argument(M, N), m.argument(N, K)
    text = m.text(m.product(m.softmax(scores, 1), v))
    with scratch() as folder:
        Case(folder, text, "attn_softmax", "require").refused("does not make them")
        Case(folder, text, "attn_softmax", "allow").answers()
        Case(folder, text, "attn_softmax", "flash").refused("map: ", "no product")


def check_chain_behind_a_product():
    """Bias, residual and activation, each an op of its own, run on the sums; a sum of products of odd width too."""
    for width in (N, N + 4):
        m, p = product(n=width)
        y = relu(m, add(m, scaled(m, add(m, p, m.argument(width), "j")), m.argument(M, width)))
        with scratch() as folder:
            case = Case(folder, m.text(y), "matmul_bias", "require")
            case.answers()
            kernels = case.shape()[0]
            expect(kernels == (2 if width == N else 1), f"{width} columns: {kernels} kernels")
            if width == N:
                parted = Case(folder, m.text(y), "elementwise", "forbid")
                parted.answers()
                expect(parted.shape()[0] > kernels, parted.shape())


def check_what_a_kernel_cannot_take():
    """Operands that are made in the kernel or are parts of others: no epilogue, and no refusal either."""
    def slice_of(m, shape):
        whole, piece = m.argument(M + 2, N + 3), m.new((M, N))
        m.line(f"{piece[0]} = tensor.extract_slice {whole[0]}[1, 2] [{M}, {N}] [1, 1] : {kind(whole)} to {kind(piece)}")
        return piece

    makers = {"filled": lambda m, shape: m.filled("0.75", shape), "slice": slice_of}
    for make in makers.values():
        m, p = product()
        with scratch() as folder:
            Case(folder, m.text(add(m, p, make(m, (M, N)))), "matmul_residual", "allow").answers()
    m, p = product()
    with scratch() as folder:  # onto what the result held
        text = m.text(m.generic(["i, j", "i, j"], [p], (M, N), "%r = arith.addf %a, %old : f32", onto=m.argument(M, N)))
        Case(folder, text, "matmul_residual", "allow").answers()
    m, p = product()
    with scratch() as folder:  # as twice the rows
        turned, half = m.new((M, 3, N // 3)), m.new((M * 3, N // 3))
        m.line(f"{turned[0]} = tensor.expand_shape {p[0]} [[0], [1, 2]] output_shape [{M}, 3, {N // 3}] : "
               f"{kind(p)} into {kind(turned)}")
        m.line(f"{half[0]} = tensor.collapse_shape {turned[0]} [[0, 1], [2]] : {kind(turned)} into {kind(half)}")
        Case(folder, m.text(relu(m, half)), "matmul_activation", "allow").answers()


if __name__ == "__main__":
    main(globals())
