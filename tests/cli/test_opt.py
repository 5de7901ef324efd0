#!/usr/bin/env python3
"""`ingot opt` and the compiler's lists: text in, text out, passes, the interpreter, places of parts."""
import json
import os
import re
import resource
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import Skip, expect, expect_exit, main, run, run_well, scratch

ADD = b"""func.func @main() -> (f32, tensor<3xi32>) {
  %0 = arith.constant 1.5 : f32
  %1 = arith.constant dense<[1, -2, 3]> : tensor<3xi32>
  %2 = arith.addf %0, %0 : f32
  return %2, %1 : f32, tensor<3xi32>
}
"""


def check_prints_to_a_fixpoint():
    once = run_well("opt", stdin=ADD)
    expect(once.startswith(b"module {\n") and b"arith.addf" in once, once)
    expect(run_well("opt", stdin=once) == once, "printing what was printed changes nothing")
    expect(run_well("opt", "-", stdin=ADD) == once, "- is standard input")


LEFT_OUT = b"""func.func @f(%t: tensor<2x3xf32>, %n: index, %z: tensor<8x64xf32>) {
  %2 = linalg.pack %t outer_dims_perm = [] inner_dims_pos = [] inner_tiles = [] into %t : tensor<2x3xf32> -> tensor<2x3xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %3 = scf.forall (%k) = (%c0) to (%n) step (%c1) shared_outs(%o = %z) -> (tensor<8x64xf32>) {
  }
  return
}
"""


def check_leaves_out_what_stock_mlir_leaves_out():
    """Bounds that are constants, a permutation of nothing: stock prints neither."""
    tool = shutil.which("mlir-opt-22")
    if not tool:
        raise Skip("mlir-opt-22 is not installed")
    ours = run_well("opt", stdin=LEFT_OUT)
    theirs = subprocess.run([tool], input=ours, capture_output=True, timeout=60, check=True).stdout
    expect(run_well("opt", stdin=theirs) == ours, theirs.decode())


def check_output_file():
    with scratch() as folder:
        path = os.path.join(folder, "out.mlir")
        expect(run_well("opt", "-o", path, stdin=ADD) == b"", "nothing on stdout")
        with open(path, "rb") as source:
            expect(source.read() == run_well("opt", stdin=ADD), "the same text")
        expect_exit(run("opt", "-o", os.path.join(folder, "no", "folder"), stdin=ADD), 6)


def check_runs_the_interpreter():
    out = run_well("opt", "--run", stdin=ADD)
    expect(out == b"result 0 : f32 = 3\nresult 1 : tensor<3xi32> = 1 -2 3\n", out)
    done = run("opt", "--run", "--entry=nothing", stdin=ADD)
    expect_exit(done, 2)
    expect(b"nothing" in done.stderr, done.stderr)


TWICE = """#id = affine_map<(i) -> (i)>
func.func @f(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
FIRST
SECOND
  return %p, %q, %y : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
"""
ONE = """  %zR = arith.constant 1.0 : f32
  %eR = tensor.empty() : tensor<64xf32>
  %R = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%A, %B : tensor<64xf32>, tensor<64xf32>) outs(%eR : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = math.exp %L : f32
    %1 = arith.addf %0, %zR : f32
    %2 = arith.mulf %1, %b : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
"""


MERGE = "--pipeline=inline-functions,canonicalize,merge-equal"


def twice(*second):
    """What merge-equal leaves of x, y combined by an op and of second combined by another."""
    ops = []
    for name, values in (("p", "xya"), ("q", second)):
        text = ONE.replace("R", name)
        for mark, value in zip("ABL", values):
            text = text.replace("%" + mark, "%" + value)
        ops.append(text)
    return TWICE.replace("FIRST", ops[0]).replace("SECOND", ops[1])


def check_equal_ops_are_merged():
    """Equal operands, bodies and constants make one op; anything else stays as it is."""
    for second, left in (("xya", 1), ("yxa", 2), ("xxa", 2), ("xyb", 2)):
        text = run_well("opt", MERGE, stdin=twice(*second).encode())
        expect(text.count(b"math.exp") == left, f"{second}: {text.decode()}")
    dumped = run("opt", MERGE, "--verify-each", stdin=twice(*"xya").encode())
    expect_exit(dumped, 0)
    other = twice(*"xya").replace("%zq = arith.constant 1.0", "%zq = arith.constant 2.0")
    text = run_well("opt", MERGE, stdin=other.encode())
    expect(text.count(b"math.exp") == 2, text)


PRODUCTS = """#id = affine_map<(i, j) -> (i, j)>
func.func @f(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>, %z: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %p = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = linalg.matmul ins(%x, %y : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%p, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
"""


def check_merging_saves_what_disabling_costs():
    with scratch() as folder:
        path = os.path.join(folder, "twice.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(PRODUCTS)
        cost = json.loads(run_well("compile", path, "--target=host", "--dry-run", "--json",
                                   "--disable-pass=merge-equal"))["disabled"]
        for key in ("buffer_bytes", "moved_bytes", "predicted_ns"):
            expect(cost["without"][key] > cost["all_passes"][key], cost)
        return f"{cost['all_passes']['moved_bytes']} bytes moved instead of {cost['without']['moved_bytes']}"


ADD_ONTO = b"""func.func private @soft(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
func.func @f(%a: tensor<4x4xf32>, %b: tensor<?x4xf32>, %c: tensor<2x4xf32>, %d: tensor<2x4xf32>)
    -> (tensor<?x4xf32>, tensor<2x4xf32>) {
  %r = func.call @soft(%b) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = linalg.matmul ins(%c, %a : tensor<2x4xf32>, tensor<4x4xf32>) outs(%d : tensor<2x4xf32>)
      -> tensor<2x4xf32>
  return %r, %s : tensor<?x4xf32>, tensor<2x4xf32>
}
"""


def check_verify_each_runs_functions_around_passes():
    done = run("opt", "--pipeline=inline-functions,canonicalize", "--verify-each", stdin=ADD_ONTO)
    expect_exit(done, 0)
    expect(b"verify-each: 2 passes, 2 functions compared" in done.stderr, done.stderr)
    listed = run_well("opt", "--list-passes")
    expect(b"canonicalize       level 1  rounding" in listed, listed)
    by_name = {row["name"]: row for row in json.loads(run_well("opt", "--list-passes", "--json"))["passes"]}
    expect(by_name["bufferize"]["results"] == "bits", by_name["bufferize"])
    expect(by_name["assign-precision"]["results"] == "precision", by_name["assign-precision"])


def check_verify_each_looks_at_a_function_once():
    """Functions that call the next one twice, 60 deep: there are more ways down than anyone could walk."""
    kept = 'attributes {ingot.composite = "f"} '
    text = "".join(
        f"func.func {'private ' if i else ''}@f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {kept if i else ''}{{\n"
        f"  %a = call @f{i + 1}(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        f"  %b = call @f{i + 1}(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  return %b : tensor<4xf32>\n}\n" for i in range(60))
    last = (f"func.func private @f60(%x: tensor<4xf32>) -> tensor<4xf32> {kept}{{\n"
            "  %d = arith.constant 1 : index\n  return %x : tensor<4xf32>\n}\n")
    done = run("opt", "--pipeline=inline-functions,canonicalize", "--verify-each", "--verify-ops=10000",
               stdin=(text + last).encode())
    expect_exit(done, 0)
    # The first pass changes none; the second the last, so that all that call it have changed.
    expect(b", 61 unchanged" in done.stderr, done.stderr)


def check_verify_each_says_what_it_took():
    options = ("opt", "--pipeline=inline-functions,canonicalize", "--verify-each")
    told = run(*options, stdin=ADD_ONTO).stderr.decode()
    expect(re.search(r"; verification took \d+\.\d{3} s of CPU, the passes \d+\.\d{3} s: \d+\.\d times as much$",
                     told.strip()), told)
    done = run(*options, "--json", stdin=ADD_ONTO)
    expect_exit(done, 0)
    expect(b"verify-each" not in done.stderr, done.stderr)
    (said,) = json.loads(done.stdout)["verify_each"]
    expect(said["num_passes"] == 2 and said["num_compared"] == 2 and said["num_runs"] >= 2, said)
    expect(said["verify_cpu_ns"] > said["passes_cpu_ns"] > 0, f"running functions takes longer than folding them: {said}")
    expect(0 <= said["worst_of_bound"] <= 1, said)
    parts = run(*options, "--json", "--split-input-file", stdin=ADD_ONTO + b"// -----\n" + ADD_ONTO)
    expect(len(json.loads(parts.stdout)["verify_each"]) == 2, parts.stdout[-300:])
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(PRODUCTS)
        said = json.loads(run_well("compile", path, "--target=host", "--dry-run", "--json", "--verify-each"))["verify_each"]
        expect(said["num_passes"] > 20 and said["num_compared"] > 0 and said["worst_of_bound"] <= 1, said)


def check_names_are_not_empty():
    """Of every list of names with commas: its option, which name, and the list as it was meant."""
    verbs = {"--pipeline": ["opt"], "--disable-pass": ["compile", "m.mlir", "--dry-run"],
             "--cpu": ["compile", "m.mlir", "--dry-run"]}
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(PRODUCTS)
        for option, names in (("--pipeline", ("inline-functions", "canonicalize")),
                              ("--disable-pass", ("merge-equal", "dedupe")), ("--cpu", ("x86-64-v3", "v3-vnni"))):
            a, b = names
            verb = [path if word == "m.mlir" else word for word in verbs[option]] + ([path] if option == "--pipeline" else [])
            expect_exit(run(*verb, f"{option}={a},{b}"), 0)
            for text, number, column, meant in ((f"{a},,{b}", 2, len(a) + 2, f"{option}={a},{b}"),
                                                (f"{a},", 2, len(a) + 2, f"{option}={a}"), (f",{b}", 1, 1, f"{option}={b}"),
                                                (",", 1, 1, f"no {option}"), ("", 1, 1, f"no {option}")):
                done = run(*verb, f"{option}={text}")
                expect_exit(done, 2)
                said = done.stderr.decode()
                for word in ("U0004", f"{option}:1:{column}:", f"name {number} of {option} is empty", meant):
                    expect(word in said, f"{option}={text}: no '{word}' in {said}")


def check_unknown_names_say_where_the_known_are():
    for op, want in (("foo.bar", "--list-dialects"), ("stablehlo.add", "--list-dialects"),
                     ("tosa.foo", "--list-dialects"), ("arit.addf", "arith.addf"),
                     ("linalg.qqqqqqqqqqqqqqqqqqqqqqq", "--list-dialects")):
        done = run("opt", stdin=f"func.func @f(%a: f32) {{\n  %0 = {op} %a, %a : f32\n  return\n}}\n".encode())
        expect_exit(done, 3)
        expect(want.encode() in done.stderr and op.encode() in done.stderr, done.stderr)
    for option in ("--disable-pass", "--dump-ir-after", "--pipeline"):
        for name, want in (("canonicalise", "canonicalize"), ("nosuchpassatall", "--list-passes")):
            verb = ["opt"] if option == "--pipeline" else ["compile", "m.mlir", "-o", "m.ingot"]
            verb += ["--dump-dir=."] if option == "--dump-ir-after" else []
            done = run(*verb, f"{option}={name}", stdin=b"")
            expect_exit(done, 2)
            expect(want.encode() in done.stderr and name.encode() in done.stderr, done.stderr)


def check_faults_of_the_program_are_diagnostics():
    text = b"""func.func @main() -> i32 {
  %0 = arith.constant 1 : i32
  %1 = arith.constant 0 : i32
  %2 = arith.divsi %0, %1 : i32
  return %2 : i32
}
"""
    done = run("opt", "--run", stdin=text)
    expect_exit(done, 3)
    expect(re.search(rb"<stdin>:4:\d+: error\[I\d{4}\]", done.stderr), done.stderr)


BACKWARDS = """func.func @main() -> tensor<4xf32> {{
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %i = arith.constant {offset} : index
  %s = arith.constant -1 : index
  %p = tensor.extract_slice %a[%i] [{size}] [%s] : tensor<4xf32> to tensor<{size}xf32>
  %r = tensor.insert_slice %p into %a[%i] [{size}] [%s] : tensor<{size}xf32> into tensor<4xf32>
  return %r : tensor<4xf32>
}}
"""


def check_slices_that_go_backwards():
    """Their first element is the last one in memory: it must be there, unless there is none."""
    for offset, size, good in ((3, 4, True), (3, 1, True), (0, 1, True), (4, 1, False), (4, 4, False), (2, 4, False),
                               (4, 0, True), (5, 0, False), (-1, 0, False)):
        done = run("opt", "--run", stdin=BACKWARDS.format(offset=offset, size=size).encode())
        expect_exit(done, 0 if good else 3)
        expect(not good or done.stdout == b"result 0 : tensor<4xf32> = 1 2 3 4\n", f"{offset} {size}: {done.stdout}")


ENDLESS = b"""func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 9000000000000000000 : index
  %z = arith.constant 0 : i64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %z) -> (i64) {
    scf.yield %a : i64
  }
  return %r : i64
}
"""
HUGE = b"""func.func @main() -> tensor<1099511627776xi8> {
  %e = tensor.empty() : tensor<1099511627776xi8>
  return %e : tensor<1099511627776xi8>
}
"""
# Few bytes, many elements: strides of 0, and a size of 0 beside large ones.
STRIDE_0 = b"""func.func @main() {
  %a = memref.alloc() : memref<1xf32>
  %b = memref.reinterpret_cast %a to offset: [0], sizes: [1099511627776, 16], strides: [0, 0]
    : memref<1xf32> to memref<1099511627776x16xf32, strided<[0, 0]>>
  memref.copy %b, %b : memref<1099511627776x16xf32, strided<[0, 0]>>
    to memref<1099511627776x16xf32, strided<[0, 0]>>
  return
}
"""
MANY_EMPTY = b"""func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 9000000000000000000 : index
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<0xf32>
  }
  return
}
"""
EMPTY_SOFTMAX = b"""func.func @main() -> tensor<8388608x0x8388608xf32> {
  %e = tensor.empty() : tensor<8388608x0x8388608xf32>
  %s = linalg.softmax dimension(1) ins(%e : tensor<8388608x0x8388608xf32>)
    outs(%e : tensor<8388608x0x8388608xf32>) -> tensor<8388608x0x8388608xf32>
  return %s : tensor<8388608x0x8388608xf32>
}
"""


def check_the_interpreter_stops():
    for name, text in (("endless", ENDLESS), ("huge", HUGE), ("stride 0", STRIDE_0),
                       ("many empty", MANY_EMPTY)):
        done = run("opt", "--run", "--max-steps=3000000", stdin=text,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (60, 60)))
        expect(done.returncode == 4, f"{name}: {done.returncode} {done.stderr}")
        expect(re.search(rb"<stdin>:\d+:\d+: error\[I0303\]", done.stderr), (name, done.stderr))
        expect(done.stdout == b"", name)
    expect_exit(run("opt", "--run", "--max-steps=1000", stdin=EMPTY_SOFTMAX), 0)
    # A bound that suffices changes nothing.
    expect(run_well("opt", "--run", "--max-steps=100", stdin=ADD) == run_well("opt", "--run", stdin=ADD),
           "the same result")
    expect_exit(run("opt", "--run", "--max-steps=2", stdin=ADD), 4)
    expect_exit(run("opt", "--run", "--max-steps=0", stdin=ADD), 2)


def check_parts_keep_their_places():
    done = run("opt", "--split-input-file", stdin=ADD + b"// -----\n\nfunc.func @g() { nonsense.op }\n")
    expect_exit(done, 3)
    expect(re.search(rb"<stdin>:9:\d+: error\[I\d{4}\]", done.stderr), done.stderr)
    out = run_well("opt", "--split-input-file", stdin=ADD + b"// -----\n" + ADD)
    expect(out.count(b"// -----\n") == 1 and out.count(b"arith.addf") == 2, out)


def check_pipeline():
    dead = b"func.func @f(%a: f32) -> f32 {\n  %0 = arith.addf %a, %a : f32\n  return %a : f32\n}\n"
    expect(b"addf" in run_well("opt", stdin=dead), "nothing happens without a pipeline")
    out = run_well("opt", "--pipeline=inline-functions,canonicalize", stdin=dead)
    expect(b"addf" not in out, out)
    done = run("opt", "--pipeline=canonicalise", stdin=dead)
    expect_exit(done, 2)
    expect(b"--pipeline=canonicalize" in done.stderr, done.stderr)


def check_order_of_passes_is_held():
    done = run("opt", "--pipeline=lower-target", stdin=ADD)
    expect_exit(done, 3)
    expect(b"P0001" in done.stderr, done.stderr)


def check_lists():
    passes = json.loads(run_well("opt", "--list-passes", "--json"))["passes"]
    text = run_well("compile", "--list-passes").decode()
    expect(len(passes) > 10 and all(p["name"] in text and p["doc"] in text for p in passes), text)
    dialects = json.loads(run_well("opt", "--list-dialects", "--json"))["dialects"]
    expect({"arith", "func", "linalg", "tensor"} <= dialects.keys(), dialects.keys())
    expect("arith.addf" in dialects["arith"], dialects["arith"])
    expect(all(name.startswith(dialect + ".") for dialect in dialects for name in dialects[dialect]),
           "every op is listed under its dialect")


MEMREFS = """func.func @main(%x: memref<1x4x4x1xf32>, %w: memref<3x3xf32>, %y: memref<1x2x2x1xf32>) {
  linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : memref<1x4x4x1xf32>, memref<3x3xf32>) outs(%y : memref<1x2x2x1xf32>)
  return
}
"""


def check_passes_of_level_1_refuse_memrefs():
    """Their ops have no results there, which the passes count on."""
    for name in ("raise-convolutions", "canonicalize", "merge-equal", "fold-batch-norm"):
        done = run("opt", f"--pipeline={name}", stdin=MEMREFS.encode())
        expect_exit(done, 3)
        expect(b"memref" in done.stderr and name.encode() in done.stderr, done.stderr)
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as out:
            out.write(MEMREFS)
        done = run("compile", path, "--target=host", "-o", os.path.join(folder, "m.ingot"))
        expect_exit(done, 3)
        expect(b"[I0134]" in done.stderr and b"m.mlir:1:" in done.stderr, done.stderr)


def check_level_is_held():
    expect_exit(run("opt", "--level=1", stdin=ADD), 0)
    done = run("opt", "--level=3", stdin=ADD)
    expect_exit(done, 3)


if __name__ == "__main__":
    main(globals())
