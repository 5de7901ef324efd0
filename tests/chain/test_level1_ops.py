#!/usr/bin/env python3
"""Every op that ops.def lists for level 1: a small function with it compiles, and its machine code gives
the interpreter's numbers; stock MLIR accepts what each pass makes of it. An op without a case here fails
the test.

Inputs are small whole numbers, so that sums and products are exact in whatever order they are made:
results are equal to the bit, except where a function of the C library is approximated."""
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from support import ROOT, expect, expect_exit, main, run, run_well, scratch
from test_module_text import EPSILON, accept_dumps, count, outputs, read_npy, to_floats, write_npy
from window_ops import KERNEL, window_case, window_ops

# Twice what tests/codegen/test_math_ulp.c allows, in ulp: the C library is off as well; and a softmax
# of six numbers: exp twice, five additions, a division.
ULPS = {"math.exp": 4, "math.log": 4, "math.tanh": 4, "math.erf": 4, "math.sin": 4, "math.cos": 4,
        "linalg.softmax": 2 * 4 + 5 + 1}
# Ops whose inputs must be positive, for divisors and roots; and below the width, for shifts.
POSITIVE = {"arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.shli", "arith.shrsi",
            "arith.shrui", "arith.fptoui", "math.log", "math.sqrt", "math.rsqrt", "affine.apply",
            "affine.min", "affine.max"}

# A buffer beside tensors is neither of level 1 nor of level 2: what has one is refused by its type.
BOUNDARY = {"bufferization.to_tensor", "bufferization.to_buffer"}

F32, I32 = "f32", "i32"
BINARY_FLOAT = "addf subf mulf divf maximumf minimumf maxnumf minnumf"
BINARY_INT = ("addi subi muli divsi divui remsi remui andi ori xori shli shrsi shrui minsi maxsi minui "
              "maxui")
UNARY_MATH = "exp log sqrt rsqrt tanh erf sin cos absf floor ceil roundeven"
CASTS = {"extf": ("f16", "f32"), "truncf": ("f32", "bf16"), "sitofp": ("i32", "f32"),
         "uitofp": ("i8", "f32"), "fptosi": ("f32", "i8"), "fptoui": ("f32", "i32"),
         "extsi": ("i8", "i32"), "extui": ("i8", "i64"), "trunci": ("i32", "i8"),
         "bitcast": ("f32", "i32"), "index_cast": ("i32", "index"), "index_castui": ("index", "i64")}


def scalar_ops():
    """op: (types of operands, type of the result, the op between operands {0}, {1}, {2})."""
    ops = {}
    for name in BINARY_FLOAT.split():
        ops["arith." + name] = ([F32] * 2, F32, f"arith.{name} {{0}}, {{1}} : f32")
    for name in BINARY_INT.split():
        ops["arith." + name] = ([I32] * 2, I32, f"arith.{name} {{0}}, {{1}} : i32")
    for name in UNARY_MATH.split():
        ops["math." + name] = ([F32], F32, f"math.{name} {{0}} : f32")
    for name, (source, to) in CASTS.items():
        ops["arith." + name] = ([source], to, f"arith.{name} {{0}} : {source} to {to}")
    ops["arith.negf"] = ([F32], F32, "arith.negf {0} : f32")
    ops["math.fma"] = ([F32] * 3, F32, "math.fma {0}, {1}, {2} : f32")
    ops["arith.cmpf"] = ([F32] * 2, "i1", "arith.cmpf olt, {0}, {1} : f32")
    ops["arith.cmpi"] = ([I32] * 2, "i1", "arith.cmpi sle, {0}, {1} : i32")
    ops["arith.select"] = (["i1", F32, F32], F32, "arith.select {0}, {1}, {2} : f32")
    ops["affine.apply"] = (["index"] * 2, "index",
                           "affine.apply affine_map<(d0)[s0] -> (d0 mod s0 + d0 ceildiv s0)>({0})[{1}]")
    ops["affine.min"] = (["index"] * 2, "index",
                         "affine.min affine_map<(d0)[s0] -> (d0 floordiv s0, d0 - 2)>({0})[{1}]")
    ops["affine.max"] = (["index"] * 2, "index",
                         "affine.max affine_map<(d0)[s0] -> (d0 * 2 - s0, s0 floordiv 2)>({0})[{1}]")
    return ops


def scalar_function(name, types, to, op):
    """The op on numbers, and on all elements of tensors."""
    numbers = [f"%s{i}" for i in range(len(types))]
    elements = [f"%e{i}" for i in range(len(types))]
    tensors = ", ".join(f"%t{i}" for i in range(len(types)))
    shapes = ", ".join(f"tensor<3x5x{t}>" for t in types)
    arguments = [f"%s{i}: {t}, %t{i}: tensor<3x5x{t}>" for i, t in enumerate(types)]
    inner = ", ".join(f"%e{i}: {t}" for i, t in enumerate(types))
    maps = ", ".join(["affine_map<(d0, d1) -> (d0, d1)>"] * (len(types) + 1))
    return f"""func.func @{name}({", ".join(arguments)}) -> ({to}, tensor<3x5x{to}>) {{
  %one = {op.format(*numbers)}
  %empty = tensor.empty() : tensor<3x5x{to}>
  %all = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins({tensors} : {shapes}) outs(%empty : tensor<3x5x{to}>) {{
  ^bb0({inner}, %old: {to}):
    %v = {op.format(*elements)}
    linalg.yield %v : {to}
  }} -> tensor<3x5x{to}>
  return %one, %all : {to}, tensor<3x5x{to}>
}}
"""


def structured(name, ins, out, attributes="", init="%z"):
    """A structured op on arguments of the shapes of ins, onto zeros."""
    arguments = ", ".join(f"%a{i}: {t}" for i, t in enumerate(ins))
    values = ", ".join(f"%a{i}" for i in range(len(ins)))
    elem = out[:-1].split("x")[-1]
    zero = "0.0" if elem.startswith("f") else "0"
    return f"""func.func @{name}({arguments}) -> {out} {{
  %c = arith.constant {zero} : {elem}
  %e = tensor.empty() : {out}
  %z = linalg.fill ins(%c : {elem}) outs(%e : {out}) -> {out}
  %r = {name} {attributes} ins({values} : {", ".join(ins)}) outs({init} : {out}) -> {out}
  return %r : {out}
}}
"""


def structured_ops():
    windows = {f"linalg.{name}": structured(f"linalg.{name}", *window_case(name, KERNEL)) for name in window_ops()}
    return {
        **windows,
        "linalg.fill": structured("linalg.fill", ["f32"], "tensor<3x5xf32>", init="%e"),
        "linalg.copy": structured("linalg.copy", ["tensor<3x5xf32>"], "tensor<3x5xf32>", init="%e"),
        "linalg.matmul": structured("linalg.matmul", ["tensor<5x7xf32>", "tensor<7x6xf32>"],
                                    "tensor<5x6xf32>"),
        "linalg.batch_matmul": structured("linalg.batch_matmul",
                                          ["tensor<2x5x7xf32>", "tensor<2x7x6xf32>"], "tensor<2x5x6xf32>"),
        "linalg.contract": structured(
            "linalg.contract", ["tensor<5x7xi8>", "tensor<6x7xi8>"], "tensor<5x6xi32>",
            "indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, "
            "affine_map<(m, n, k) -> (m, n)>]"),
        "linalg.mmt4d": structured("linalg.mmt4d", ["tensor<2x3x4x1xf32>", "tensor<5x3x8x1xf32>"],
                                   "tensor<2x5x4x8xf32>"),
    }


def functions():
    """Functions named after the op that each of them is the case of."""
    texts = structured_ops()
    for name, case in scalar_ops().items():
        texts[name] = scalar_function(name, *case)
    with open(os.path.join(HERE, "level1_ops.mlir"), encoding="utf-8") as file:
        parts = re.split(r"(?m)^(?=func\.func @)", file.read())
    for part in parts[1:]:
        name = re.match(r"func\.func @([\w.]+)", part)[1]
        expect(name not in texts, f"two cases for {name}")
        texts[name] = part
    return texts


def level1_ops():
    with open(os.path.join(ROOT, "src", "ir", "ops.def"), encoding="utf-8") as file:
        rows = re.findall(r'(?m)^OP\(\w+, "([\w.]+)", ([L\d |]+),', file.read())
    names = [name for name, levels in rows if "L1" in levels.split(" | ")]
    expect(len(names) > 90, f"only {len(names)} ops of level 1 were read from the table")
    return names


def check_every_op_has_a_case():
    ops, texts = level1_ops(), functions()
    missing = [name for name in ops if name not in texts]
    expect(not missing, f"level 1 without a case: {', '.join(missing)}")
    for name in set(texts) - set(ops):
        expect(False, f"a case for {name}, which is no op of level 1")
    for name in ops:
        word = name.removeprefix("func.")  # text leaves the prefix out; a case is a function in a module
        expect(name in ("builtin.module", "func.func") or re.search(rf"(?<![\w.@]){re.escape(word)}(?![\w.])", texts[name]),
               f"{name} is not in its case")


def values_of(kind, number, is_positive, generator):
    if kind == "i1":
        return [generator.randrange(2) for _ in range(number)]
    low = 1 if is_positive else 0 if kind == "index" else -4
    numbers = [generator.randrange(low, 5) for _ in range(number)]
    if kind == "f16":
        sign = {True: 0x8000, False: 0}
        halves = [0, 0x3c00, 0x4000, 0x4200, 0x4400]  # 0, 1, 2, 3, 4
        return [sign[n < 0] | halves[abs(n)] for n in numbers]
    return [float(n) for n in numbers] if kind.startswith("f") else numbers


def compare(op, result, ours, theirs):
    kind, shape, values = read_npy(ours)
    stated = result["type"].replace("index", "i64")  # a file's type
    expect((kind, list(shape)) == (stated, result["shape"]), f"{op}: {kind}{shape}")
    other_kind, other_shape, wanted = read_npy(theirs)
    expect((kind, shape) == (other_kind, other_shape), f"{op}: {other_kind}{other_shape} interpreted")
    expect(len(values) == count(shape), f"{op}: {len(values)} numbers")
    for a, b in zip(to_floats(kind, values), to_floats(kind, wanted)):
        limit = ULPS.get(op, 0) * EPSILON.get(kind, 0.0) * abs(b)
        expect(a == b or (a != a and b != b) or abs(a - b) <= limit, f"{op}: {a}, interpreted {b}")


def check_refused_at_the_boundary():
    texts = functions()
    with scratch() as folder:
        for op in sorted(BOUNDARY):
            path = os.path.join(folder, "m.mlir")
            with open(path, "w", encoding="utf-8") as file:
                file.write(texts[op])
            done = run("compile", path, "--target=host", "-o", path + ".ingot")
            expect_exit(done, 3)
            expect(b"I0134" in done.stderr and b"'bufferization.to_buffer' op has the memref type" in done.stderr,
                   done.stderr.decode()[:300])


def check_compiled_as_interpreted():
    texts = {op: text for op, text in functions().items() if op not in BOUNDARY}
    with scratch() as folder:
        path, artifact = os.path.join(folder, "m.mlir"), os.path.join(folder, "m.ingot")
        dumps = os.path.join(folder, "ir")
        with open(path, "w", encoding="utf-8") as file:
            file.write("module {\n" + "\n".join(texts.values()) + "}\n")
        run_well("compile", path, "--target=host", "-o", artifact, "--dump-ir-after=all",
                 f"--dump-dir={dumps}")
        accept_dumps(dumps)
        entries = {e["name"]: e for e in json.loads(run_well("inspect", artifact, "--json"))["entries"]}
        for op in texts:
            entry, generator = entries[op], random.Random(op)
            inputs = []
            for argument in entry["arguments"]:
                npy = os.path.join(folder, argument["name"] + ".npy")
                number = count(argument["shape"])
                write_npy(npy, argument["type"], argument["shape"],
                          values_of(argument["type"], number, op in POSITIVE, generator))
                inputs += ["--input", f"{argument['name']}={npy}"]
            want, wanted = outputs(folder, entry["results"], "interpreted", "--result")
            got, paths = outputs(folder, entry["results"], "compiled")
            run_well("opt", path, "--run", "--entry=" + op, *inputs, *want)
            run_well("run", artifact, "--entry=" + op, *inputs, *got)
            for result, ours, theirs in zip(entry["results"], paths, wanted):
                compare(op, result, ours, theirs)
    return f"{len(texts)} ops"


if __name__ == "__main__":
    main(globals())
