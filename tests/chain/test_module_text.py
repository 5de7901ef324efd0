#!/usr/bin/env python3
"""Modules of IR text, compiled as they are: the machine code answers as the interpreter does, for one
and for several threads, and MLIR's own tool accepts what every pass makes of them.

Each module states its bound: `bound: K terms, magnitude S` means that no result is off by more than
2 K eps S. K is the number of roundings on the longest way to a result, S bounds what is rounded on
it, for arguments between -0.5 and 0.5. Integers are equal."""
import array
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from support import expect, expect_exit, main, run, run_well, scratch

MODULES = os.path.join(HERE, "modules")
# IR name: (code of .npy, array code or None, bytes)
TYPES = {"i1": ("|b1", "b"), "i8": ("|i1", "b"), "i16": ("<i2", "h"), "i32": ("<i4", "i"),
         "i64": ("<i8", "q"), "index": ("<i8", "q"), "f16": ("<f2", "H"), "bf16": ("|V2", "H"),
         "f32": ("<f4", "f"), "f64": ("<f8", "d")}
EPSILON = {"f16": 2.0 ** -10, "bf16": 2.0 ** -7, "f32": 2.0 ** -23, "f64": 2.0 ** -52}


def write_npy(path, type_name, shape, values):
    code, kind = TYPES[type_name]
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(array.array(kind, values).tobytes())


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    length = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10:10 + length])  # pylint: disable=eval-used
    name = next(t for t, (code, _) in TYPES.items() if code == header["descr"])
    values = array.array(TYPES[name][1])
    values.frombytes(data[10 + length:])
    return name, header["shape"], values


def to_floats(name, values):
    if name == "f16":
        return [struct.unpack("<e", struct.pack("<H", v))[0] for v in values]
    if name == "bf16":
        return [struct.unpack("<f", struct.pack("<I", v << 16))[0] for v in values]
    return list(values)


def random_values(name, count, generator):
    if name == "i1":
        return [generator.randrange(2) for _ in range(count)]
    if name in ("i8", "i16", "i32", "i64"):
        return [generator.randrange(-100, 101) for _ in range(count)]
    if name == "index":
        return [generator.randrange(4) for _ in range(count)]
    numbers = [generator.uniform(-0.5, 0.5) for _ in range(count)]
    if name == "f16":
        return [struct.unpack("<H", struct.pack("<e", v))[0] for v in numbers]
    if name == "bf16":
        return [struct.unpack("<I", struct.pack("<f", v))[0] >> 16 for v in numbers]
    return numbers


def signature(artifact):
    entry = json.loads(run_well("inspect", artifact, "--json"))["entries"][0]
    return entry["arguments"], entry["results"]


def count(shape):
    total = 1
    for size in shape:
        total *= size
    return total


def make_inputs(folder, arguments, seed):
    generator = random.Random(seed)
    options = []
    for argument in arguments:
        path = os.path.join(folder, argument["name"] + ".npy")
        values = random_values(argument["type"], count(argument["shape"]), generator)
        write_npy(path, argument["type"], argument["shape"], values)
        options += ["--input", f"{argument['name']}={path}"]
    return options


def outputs(folder, results, tag, option="--output"):
    paths = [os.path.join(folder, f"{r['name']}-{tag}.npy") for r in results]
    options = []
    for result, path in zip(results, paths):
        options += [option, f"{result['name']}={path}"]
    return options, paths


def bound_of(text):
    match = re.search(r"// bound: (\d+) terms, magnitude ([\d.]+)", text)
    expect(match or "// exact" in text, "the module states no bound")
    return 2 * float(match[1]) * float(match[2]) if match else 0.0


def compare(name, ours, theirs, bound):
    kind, shape, values = read_npy(ours)
    other_kind, other_shape, other_values = read_npy(theirs)
    expect((kind, shape) == (other_kind, other_shape), f"{name}: {kind}{shape} and {other_kind}{other_shape}")
    limit = bound * EPSILON.get(kind, 0.0)
    worst = 0.0
    for a, b in zip(to_floats(kind, values), to_floats(kind, other_values)):
        if a == b or (a != a and b != b):
            continue
        worst = max(worst, abs(a - b))
        expect(abs(a - b) <= limit, f"{name}: {a} and {b} differ by more than {limit}")
    return worst


def accept_dumps(folder):
    tool = shutil.which("mlir-opt-22")
    if not tool:
        return
    for name in sorted(os.listdir(folder)):
        done = subprocess.run([tool, "--verify-each", os.path.join(folder, name)],
                              capture_output=True, timeout=120, check=False)
        expect(done.returncode == 0, f"{name}: {done.stderr.decode()[:400]}")


def run_module(path, seed=1, levels=None):
    with open(path, encoding="utf-8") as file:
        bound = bound_of(file.read())
    with scratch() as folder:
        artifact, dumps = os.path.join(folder, "m.ingot"), os.path.join(folder, "ir")
        options = ["--cpu=" + levels] if levels else ["--target=host"]
        run_well("compile", path, *options, "-o", artifact, "--dump-ir-after=all",
                 f"--dump-dir={dumps}")
        accept_dumps(dumps)
        arguments, results = signature(artifact)
        inputs = make_inputs(folder, arguments, seed)
        want, wanted = outputs(folder, results, "interpreted", "--result")
        run_well("opt", path, "--run", *inputs, *want)
        got, paths = outputs(folder, results, "compiled")
        run_well("run", artifact, *inputs, *got, "--threads=1")
        worst = max(compare(r["name"], a, b, bound) for r, a, b in zip(results, paths, wanted))
        more, again = outputs(folder, results, "threads")
        run_well("run", artifact, *inputs, *more, "--warm-up")
        for result, a, b in zip(results, again, paths):
            compare(result["name"] + " for several threads", a, b, 0.0)
        return worst


def check_modules():
    notes = []
    for name in sorted(os.listdir(MODULES)):
        worst = max(run_module(os.path.join(MODULES, name), seed) for seed in (1, 2))
        notes.append(f"{name[:-5]} {worst:.2g}")
    return ", ".join(notes)


IDENTITY = """func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  return %x : tensor<2x3xf32>
}
"""


def refused(folder, text, code, what, *options):
    path = os.path.join(folder, "refused.mlir")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = run("compile", path, "-o", os.path.join(folder, "refused.ingot"), *options)
    expect_exit(done, code)
    message = done.stderr.decode()
    expect(what in message, f"'{what}' is not in: {message}")
    expect("refused.mlir:" in message, f"no place in: {message}")
    expect(not os.path.exists(os.path.join(folder, "refused.ingot")), "something was written")


def check_refusals():
    with scratch() as folder:
        refused(folder, IDENTITY.replace("return", '%q = "linalg.fillup"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>\n  return'),
                3, "linalg.fill")
        refused(folder, IDENTITY.replace("return", '%q = "tosa.add"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>\n  return'),
                3, "tosa")
        refused(folder, IDENTITY.replace("@main", "private @main"), 3, "no public function")
        for size, dim in (("?x3", 0), ("2x?", 1)):
            refused(folder, IDENTITY.replace("2x3", size), 3, f"nothing bounds dimension {dim} of argument x")
        refused(folder, "func.func @main(%x: tensor<4xf32> {ingot.arena}) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n",
                3, "ingot.arena")
        refused(folder, """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = func.call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
""", 3, "calls itself")


def check_a_dump_is_no_source():
    """Refused by the dump's own name, with the option that goes on from it; by its line where settings were written in."""
    with scratch() as folder:
        source, dumps = os.path.join(folder, "m.mlir"), os.path.join(folder, "ir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(IDENTITY)
        run_well("compile", source, "--dry-run", "--dump-ir-after=all", f"--dump-dir={dumps}")
        first = os.path.join(dumps, sorted(os.listdir(dumps))[0])
        said = run("compile", first, "--dry-run").stderr.decode()
        expect(f"{first}: error[P0008]" in said and f"--resume-from={first}" in said, said)
        refused(folder, "\nmodule attributes {ingot.config = {}} {\n" + IDENTITY + "}\n", 3, "refused.mlir:2:1: error[P0008]")


def doubled(name, rows):
    kind = f"tensor<{rows}x64xf32>"
    return f"""func.func @{name}(%x: {kind}) -> {kind} {{
  %e = tensor.empty() : {kind}
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}}
    ins(%x : {kind}) outs(%e : {kind}) {{
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    }} -> {kind}
  return %y : {kind}
}}
"""


def check_targets():
    """Every entry is predicted, by its own kernels; a module has no target but host."""
    h100 = os.path.join(HERE, "..", "..", "data", "targets", "h100-sxm.yaml")
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(doubled("large", 512) + doubled("small", 2))
        for options in (["--target=host"], ["--cpu=x86-64-v3"], [f"--target-file={h100}"]):
            report = json.loads(run_well("compile", path, "--dry-run", "--json", *options))
            times = {}
            expect(len(report["entries"]) == len(report["predicted"][0]["entries"]) == 2, report)
            for entry, predicted in zip(report["entries"], report["predicted"][0]["entries"]):
                expect(sum(k["calls"] for k in predicted["kernels"]) == 1, predicted)
                times[entry["name"]] = predicted["kernels"][0]["one_thread_ns"][0]
            expect(times["large"] > times["small"] > 0, times)
        refused(folder, doubled("main", 2), 3, "not for nosuch", "--target=nosuch")
        refused(folder, doubled("main", 2), 3, "and levels", "--target=host", "--cpu=x86-64-v3")
        done = run("compile", path, f"--target-file={h100}", "-o", os.path.join(folder, "m.ingot"))
        expect_exit(done, 5)
        expect("H0007" in done.stderr.decode(), done.stderr.decode())


def check_calls_that_do_not_fit():
    with scratch() as folder:
        path, artifact = os.path.join(folder, "m.mlir"), os.path.join(folder, "m.ingot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(IDENTITY)
        run_well("compile", path, "-o", artifact)
        good, other, ints = (os.path.join(folder, n) for n in ("g.npy", "o.npy", "i.npy"))
        write_npy(good, "f32", (2, 3), [1, 2, 3, 4, 5, 6])
        write_npy(other, "f32", (3, 2), [1, 2, 3, 4, 5, 6])
        write_npy(ints, "i32", (2, 3), [1, 2, 3, 4, 5, 6])
        out = os.path.join(folder, "out.npy")
        run_well("run", artifact, "--input", f"x={good}", "--input", f"y={good}", "--output", out)
        expect(list(read_npy(out)[2]) == [1, 2, 3, 4, 5, 6], "the argument is not the result")
        cases = [(["--input", f"x={good}"], 3, "y is not given"),
                 (["--input", f"x={good}", "--input", f"y={other}"], 3, "3x2xf32"),
                 (["--input", f"x={good}", "--input", f"y={ints}"], 3, "i32"),
                 (["--input", f"x={good}", "--input", f"yy={good}"], 3, "no argument yy"),
                 (["--input", f"x={good}", "--input", f"yy={good}"], 3, "its arguments are x, y\n"),
                 (["--input", good], 2, "names none"),
                 (["--input", f"x={good}", "--input", f"y={good}", "--output", "z=z.npy"], 2, "no result z\n"),
                 (["--input", f"x={good}", "--input", f"y={good}", "--output", "z=z.npy"], 2, "the results are result0\n"),
                 (["--input", f"x={good}", "--input", f"y={good}", "--output", "result=z.npy"], 2, "write:    --output result0=z.npy"),
                 (["--input", f"x={good}", "-n", "3"], 2, "exclude each other"),
                 (["--entry", "mian"], 3, "no entry mian"),
                 ([], 2, "--input NAME=FILE.npy"),
                 (["--input", ""], 2, "names no file"),
                 (["--input", "x="], 2, "--input 'x=' names no file"),
                 (["--input", f"x={good}", "--input", f"x={good}"], 2, "--input gives x twice"),
                 (["--input", f"x={good}", "--input", f"y={good}", "--output", "result0="], 2, "names no file"),
                 (["--input", f"x={good}", "--input", f"y={good}", "--output", "a.npy", "--output", "result0=b.npy"],
                  2, "--output gives result0 twice: a.npy and b.npy"),
                 (["-p", "Hello"], 3, "takes tensors")]
        for options, code, what in cases:
            done = run("run", artifact, *options, cwd=folder)
            expect_exit(done, code)
            expect(what in done.stderr.decode(), f"'{what}' is not in: {done.stderr.decode()}")
            expect(not os.path.exists(os.path.join(folder, "a.npy")), "something was written")
        with open(path, "w", encoding="utf-8") as file:
            file.write(IDENTITY.replace("-> tensor<2x3xf32>", "-> (tensor<2x3xf32>, tensor<2x3xf32>)")
                       .replace("return %x : tensor<2x3xf32>", "return %x, %y : tensor<2x3xf32>, tensor<2x3xf32>"))
        run_well("compile", path, "-o", artifact)
        done = run("run", artifact, "--input", f"x={good}", "--input", f"y={good}", "--output", "result_1=a.npy", cwd=folder)
        expect_exit(done, 2)
        for what in ("the results are result0, result1\n", "write:    --output result1=a.npy"):
            expect(what in done.stderr.decode(), f"'{what}' is not in: {done.stderr.decode()}")


PRODUCT = """// bound: %(k)d terms, magnitude 1.0
func.func @main(%%x: tensor<%(m)dx%(k)dxf32>, %%w: tensor<%(w)sxf32>) -> tensor<%(m)dx%(n)dxf32> {
  %%z = arith.constant 0.0 : f32
  %%e = tensor.empty() : tensor<%(m)dx%(n)dxf32>
  %%f = linalg.fill ins(%%z : f32) outs(%%e : tensor<%(m)dx%(n)dxf32>) -> tensor<%(m)dx%(n)dxf32>
  %%y = linalg.matmul indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (%(order)s)>,
    affine_map<(i, j, k) -> (i, j)>] ins(%%x, %%w : tensor<%(m)dx%(k)dxf32>, tensor<%(w)sxf32>)
    outs(%%f : tensor<%(m)dx%(n)dxf32>) -> tensor<%(m)dx%(n)dxf32>
  return %%y : tensor<%(m)dx%(n)dxf32>
}
"""


def check_products_of_few_columns():
    """A weight that is one tile, or part of one, has a dimension of one element, which is left out of its shape."""
    with scratch() as folder:
        path, count_ = os.path.join(folder, "m.mlir"), 0
        for m in (1, 7):
            for n in (1, 7, 16, 17):
                for k in (1, 12):
                    for order, w in (("j, k", f"{n}x{k}"), ("k, j", f"{k}x{n}")):
                        with open(path, "w", encoding="utf-8") as out:
                            out.write(PRODUCT % {"m": m, "n": n, "k": k, "w": w, "order": order})
                        run_module(path)
                        count_ += 1
        return f"{count_} shapes"


NUMBERS = """// exact
func.func @main(%x: tensor<8xf32>, %n: index, %f: i1) -> (f32, i64, tensor<8xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %zi = arith.constant 3 : i64
  %s:3 = scf.for %i = %c0 to %c8 step %c1 iter_args(%t = %z, %k = %zi, %y = %x) -> (f32, i64, tensor<8xf32>) {
    %v = tensor.extract %y[%i] : tensor<8xf32>
    %u = arith.addf %t, %v : f32
    %k2 = arith.muli %k, %k : i64
    %y2 = tensor.insert %u into %y[%i] : tensor<8xf32>
    scf.yield %u, %k2, %y2 : f32, i64, tensor<8xf32>
  }
  %q = scf.if %f -> f32 {
    %w = arith.mulf %s#0, %s#0 : f32
    scf.yield %w : f32
  } else {
    scf.yield %z : f32
  }
  return %s#0, %s#1, %s#2, %q : f32, i64, tensor<8xf32>, f32
}
"""


def check_numbers_that_loops_carry():
    """They lie in tensors of rank 0, which kernels can give."""
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(NUMBERS)
        run_module(path)


ANY_ARGUMENT = """func.func @main(%a: tensor<?x2xf32>, %m: memref<?xf32>, %v: vector<3xi32>, %k: i64)
    -> (tensor<?x2xf32>, vector<3xi32>, i64) {
  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0, %c0] : tensor<?x2xf32>
  memref.store %x, %m[%c0] : memref<?xf32>
  %w = arith.addi %v, %v : vector<3xi32>
  return %a, %w, %k : tensor<?x2xf32>, vector<3xi32>, i64
}
"""


def check_two_results_may_be_equal():
    """Results that are computed alike, or are copies of one argument, have a buffer each."""
    op = """  %%%s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%%x : tensor<64xf32>) outs(%%e : tensor<64xf32>) {
  ^bb0(%%v: f32, %%o: f32):
    %%r = math.exp %%v : f32
    linalg.yield %%r : f32
  } -> tensor<64xf32>
"""
    insert = "  %%%s = tensor.insert_slice %%x into %%x[0] [64] [1] : tensor<64xf32> into tensor<64xf32>\n"
    for text in (op, insert):
        with scratch() as folder:
            path = os.path.join(folder, "m.mlir")
            with open(path, "w", encoding="utf-8") as out:
                out.write("// bound: 1 terms, magnitude 2.0\nfunc.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {\n"
                          "  %e = tensor.empty() : tensor<64xf32>\n" + text % "a" + text % "b" +
                          "  return %a, %b : tensor<64xf32>, tensor<64xf32>\n}\n")
            run_module(path)


def check_the_interpreter_takes_every_kind_of_argument():
    """Unknown sizes are those of the file, a memref is written where it stands, vectors are their lanes."""
    with scratch() as folder:
        at = lambda name: os.path.join(folder, name + ".npy")
        write_npy(at("a"), "f32", [2, 2], [5, 6, 7, 8])
        write_npy(at("wide"), "f32", [2, 3], [5, 6, 7, 8, 9, 10])
        write_npy(at("m"), "f32", [3], [1, 2, 3])
        write_npy(at("v"), "i32", [3], [1, -2, 3])
        write_npy(at("k"), "i64", [], [-9])
        inputs = [option for name in "amvk" for option in ("--input", f"{name}={at(name)}")]
        run_in = lambda *args: run("opt", "--run", *args, stdin=ANY_ARGUMENT.encode())
        done = run_in(*inputs)
        expect(done.stdout.decode().split("\n")[:4] ==
               ["result 0 : tensor<2x2xf32> = 5 6 7 8", "result 1 : vector<3xi32> = 2 -4 6", "result 2 : i64 = -9",
                "argument 1 : memref<3xf32> = 5 2 3"], done.stdout + done.stderr)
        expect_exit(run_in(*inputs, "--result", f"m={at('out')}", "--result", f"result1={at('lanes')}"), 0)
        expect(list(read_npy(at("out"))[-1]) == [5, 2, 3] and list(read_npy(at("lanes"))[-1]) == [2, -4, 6], "files")
        done = run_in("--input", f"a={at('wide')}", *inputs[2:])
        expect_exit(done, 2)
        expect(b"a holds 2x3xf32, the argument is ?x2xf32" in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
