#!/usr/bin/env python3
"""What a compiled module does with inputs that its ops cannot stand: an index outside, a divisor of
zero, a shift beyond the width. It refuses in the words of the interpreter, at the same place, writes
no result, and goes on answering; with good inputs it gives the same bits. What intervals prove is not
checked."""
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from support import expect, expect_exit, main, run, run_well, scratch
from test_module_text import read_npy, write_npy

INT_MIN = {8: -2 ** 7, 16: -2 ** 15, 32: -2 ** 31, 64: -2 ** 63}


class Module:
    """A module compiled once and called often, beside the interpreter."""

    def __init__(self, folder, name, text, arguments, threads=2):
        self.folder, self.arguments, self.threads = folder, arguments, threads
        self.path, self.artifact = os.path.join(folder, name + ".mlir"), os.path.join(folder, name + ".ingot")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        run_well("compile", self.path, "--target=host", f"--threads={threads}", "-o", self.artifact)
        self.results = [r["name"] for r in
                        json.loads(run_well("inspect", self.artifact, "--json"))["entries"][0]["results"]]

    def call(self, *values):
        """The fault's line, None if there is none; results of both must agree."""
        inputs = []
        for (name, kind, shape), value in zip(self.arguments, values):
            path = os.path.join(self.folder, name + ".npy")
            write_npy(path, kind, shape, value)
            inputs += ["--input", f"{name}={path}"]
        messages, files = [], []
        for tool in ("run", "opt"):
            paths = [os.path.join(self.folder, f"{r}-{tool}.npy") for r in self.results]
            for path in paths:
                if os.path.exists(path):
                    os.unlink(path)
            option = "--output" if tool == "run" else "--result"
            outputs = [part for r, path in zip(self.results, paths) for part in (option, f"{r}={path}")]
            command = ["run", self.artifact] if tool == "run" else ["opt", self.path, "--run"]
            done = run(*command, *inputs, *outputs)
            line = done.stderr.decode().split("\n", maxsplit=1)[0]
            expect(done.returncode in (0, 3), f"{tool} ended with {done.returncode}: {line}")
            messages.append(line.replace(self.folder + "/", "") if done.returncode else None)
            if done.returncode:
                expect(not any(os.path.exists(p) for p in paths), "a result was written")
            files.append(paths)
        expect(messages[0] == messages[1], f"compiled: {messages[0]}\ninterpreted: {messages[1]}")
        if messages[0] is None:
            for ours, theirs in zip(*files):
                with open(ours, "rb") as a, open(theirs, "rb") as b:
                    expect(a.read() == b.read(), f"{ours} and {theirs} differ")
        return messages[0]

    def checks(self):
        return json.loads(run_well("explain", self.artifact, "--json"))["checks"]


def expect_fault(message, what):
    expect(message and "error[I0301]" in message and what in message, f"'{what}' is not in: {message}")
    expect(re.match(r"\w+\.mlir:\d+:\d+: ", message), f"no place in: {message}")


def elementwise(name, body, types, result, shape="8x40"):
    """One generic over all arguments of one shape; body makes %v of %a0, %a1, ..."""
    n = shape.count("x") + 1
    dims = ", ".join(f"d{i}" for i in range(n))
    maps = ", ".join([f"affine_map<({dims}) -> ({dims})>"] * (len(types) + 1))
    args = ", ".join(f"%x{i}: tensor<{shape}x{t}>" for i, t in enumerate(types))
    ins = ", ".join(f"%x{i}" for i in range(len(types)))
    in_types = ", ".join(f"tensor<{shape}x{t}>" for t in types)
    block = ", ".join(f"%a{i}: {t}" for i, t in enumerate(types))
    iterators = ", ".join(['"parallel"'] * n)
    return f"""func.func @{name}({args}) -> tensor<{shape}x{result}> {{
  %e = tensor.empty() : tensor<{shape}x{result}>
  %y = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins({ins} : {in_types}) outs(%e : tensor<{shape}x{result}>) {{
    ^bb0({block}, %o: {result}):
      {body}
      linalg.yield %v : {result}
    }} -> tensor<{shape}x{result}>
  return %y : tensor<{shape}x{result}>
}}
"""


GATHER = """func.func @main(%x: tensor<10x7xf32>, %i: tensor<6xi64>, %k: tensor<6xi32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
    ins(%i, %k : tensor<6xi64>, tensor<6xi32>) outs(%e : tensor<6xf32>) {
    ^bb0(%a: i64, %b: i32, %o: f32):
      %r = arith.index_cast %a : i64 to index
      %c = arith.index_cast %b : i32 to index
      %v = tensor.extract %x[%r, %c] : tensor<10x7xf32>
      linalg.yield %v : f32
    } -> tensor<6xf32>
  return %y : tensor<6xf32>
}
"""


def check_indices():
    generator = random.Random(5)
    with scratch() as folder:
        m = Module(folder, "gather", GATHER,
                   [("x", "f32", (10, 7)), ("i", "i64", (6,)), ("k", "i32", (6,))])
        x = [float(n) for n in range(70)]
        expect(m.call(x, [0, 9, 5, 3, 2, 1], [0, 6, 1, 2, 3, 4]) is None, "good indices are refused")
        for bad in (10, -1, 2 ** 40, INT_MIN[64], 2 ** 63 - 1):
            at = generator.randrange(6)
            rows = [generator.randrange(10) for _ in range(6)]
            rows[at] = bad
            expect_fault(m.call(x, rows, [0] * 6), f"index {bad} is out of range for dimension 0 of size 10")
        for bad in (7, -1, INT_MIN[32]):
            expect_fault(m.call(x, [3] * 6, [0, 0, 0, bad, 0, 99]), f"index {bad} is out of range for dimension 1 of size 7")
        faults = 0
        for _ in range(30):
            rows = [generator.choice([generator.randrange(10), generator.randrange(-3, 14)]) for _ in range(6)]
            columns = [generator.randrange(7) for _ in range(6)]
            faults += m.call(x, rows, columns) is not None
        expect(0 < faults < 30, f"{faults} of 30 random calls were refused")
        return f"{faults} of 30 random calls refused, as by the interpreter"


PLACES = """func.func @main(%x: tensor<10x4xf32>, %i: tensor<3xi64>, %s: tensor<2xindex>) -> (tensor<4xf32>, tensor<10x4xf32>, tensor<4xf32>, tensor<10x4xf32>, tensor<3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = arith.constant 0.0 : f32
  %a = tensor.extract %i[%c0] : tensor<3xi64>
  %ai = arith.index_cast %a : i64 to index
  %b = tensor.extract %i[%c1] : tensor<3xi64>
  %bi = arith.index_cast %b : i64 to index
  %d = tensor.extract %i[%c2] : tensor<3xi64>
  %di = arith.index_cast %d : i64 to index
  %row = tensor.extract_slice %x[%ai, 0] [1, 4] [1, 1] : tensor<10x4xf32> to tensor<4xf32>
  %e4 = tensor.empty() : tensor<4xf32>
  %row2 = linalg.copy ins(%row : tensor<4xf32>) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %put = tensor.insert %z into %x[%bi, %di] : tensor<10x4xf32>
  %step = tensor.extract %s[%c0] : tensor<2xindex>
  %end = tensor.extract %s[%c1] : tensor<2xindex>
  %f = linalg.fill ins(%z : f32) outs(%e4 : tensor<4xf32>) -> tensor<4xf32>
  %sum = scf.for %k = %c0 to %end step %step iter_args(%t = %f) -> tensor<4xf32> {
    %o = tensor.extract %x[%k, %c0] : tensor<10x4xf32>
    %q = arith.remui %k, %c2 : index
    %n = tensor.insert %o into %t[%q] : tensor<4xf32>
    scf.yield %n : tensor<4xf32>
  }
  %two = tensor.insert_slice %row2 into %x[%bi, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<10x4xf32>
  %part = tensor.extract_slice %x[%di, 1] [3, 1] [2, 1] : tensor<10x4xf32> to tensor<3xf32>
  %e3 = tensor.empty() : tensor<3xf32>
  %part2 = linalg.copy ins(%part : tensor<3xf32>) outs(%e3 : tensor<3xf32>) -> tensor<3xf32>
  return %row2, %put, %sum, %two, %part2 : tensor<4xf32>, tensor<10x4xf32>, tensor<4xf32>, tensor<10x4xf32>, tensor<3xf32>
}
"""


def check_slices_and_loops():
    with scratch() as folder:
        m = Module(folder, "places", PLACES, [("x", "f32", (10, 4)), ("i", "i64", (3,)), ("s", "index", (2,))])
        x = [float(n) for n in range(40)]
        for i, s in (([3, 4, 2], [1, 10]), ([0, 9, 3], [3, 10]), ([9, 0, 0], [2, 0])):
            expect(m.call(x, i, s) is None, f"{i}, {s} are refused")
        for bad in (10, -1, INT_MIN[64], 2 ** 63 - 1):
            expect_fault(m.call(x, [bad, 0, 0], [1, 10]), f"slice along dimension 0 runs out-of-bounds: offset {bad}, size 1")
            expect_fault(m.call(x, [0, bad, 0], [1, 10]), f"'tensor.insert' op index {bad} is out of range for dimension 0")
        expect_fault(m.call(x, [0, 0, 4], [1, 10]), "'tensor.insert' op index 4 is out of range for dimension 1")
        for step in (0, -1, INT_MIN[64]):
            expect_fault(m.call(x, [0, 0, 0], [step, 10]), f"has the step {step}")
        expect_fault(m.call(x, [0, 0, 0], [1, 11]), "index 10 is out of range for dimension 0 of size 10")
        # A loop that would never end ends with its first fault.
        expect_fault(m.call(x, [0, 0, 0], [1, 2 ** 62]), "index 10 is out of range for dimension 0 of size 10")
        proven = [c for c in m.checks() if c["proven"]]
        expect(any(c["op"] == "arith.remui" for c in proven), proven)


FORALL = """func.func @main(%x: tensor<10x4xf32>, %i: tensor<3xindex>) -> tensor<10x4xf32> {
  %r = scf.forall (%n) in (3) shared_outs(%o = %x) -> (tensor<10x4xf32>) {
    %at = tensor.extract %i[%n] : tensor<3xindex>
    %row = tensor.extract_slice %x[%n, 0] [2, 4] [1, 1] : tensor<10x4xf32> to tensor<2x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<10x4xf32>
    }
  }
  return %r : tensor<10x4xf32>
}
"""


def check_parallel_slices_keep_their_name():
    """scf.forall is a loop when it runs; what it inserts is spoken of as the module has it."""
    with scratch() as folder:
        m = Module(folder, "forall", FORALL, [("x", "f32", (10, 4)), ("i", "index", (3,))])
        x = [float(n) for n in range(40)]
        expect(m.call(x, [4, 8, 6]) is None, "good places are refused")
        for bad in (9, -1):
            message = m.call(x, [4, bad, 6])
            expect_fault(message, f"'tensor.parallel_insert_slice' op slice along dimension 0 runs out-of-bounds: offset {bad}, size 2")
            expect(message.startswith("forall.mlir:6:7: "), message)


def check_divisions():
    with scratch() as folder:
        for op, bits in (("divsi", 32), ("remsi", 32), ("divui", 16), ("remui", 64), ("divsi", 8)):
            kind = f"i{bits}"
            m = Module(folder, f"{op}{bits}", elementwise("main", f"%v = arith.{op} %a0, %a1 : {kind}", [kind] * 2, kind),
                       [("x0", kind, (8, 40)), ("x1", kind, (8, 40))])
            a = [(n * 37) % 120 - 60 for n in range(320)]
            d = [n % 19 + 1 if n % 3 else -(n % 19) - 1 for n in range(320)]
            expect(m.call(a, d) is None, "good divisors are refused")
            for at in (0, 37, 39, 319):
                expect_fault(m.call(a, d[:at] + [0] + d[at + 1:]), "divides by zero")
            a[100], d[100] = INT_MIN[bits], -1
            if op in ("divsi", "remsi"):
                expect_fault(m.call(a, d), f"overflows: {INT_MIN[bits]} divided by -1")
            else:
                expect(m.call(a, d) is None, "an unsigned division has no overflow")


def check_shifts():
    with scratch() as folder:
        for op, bits in (("shli", 32), ("shrsi", 64), ("shrui", 8)):
            kind = f"i{bits}"
            m = Module(folder, op, elementwise("main", f"%v = arith.{op} %a0, %a1 : {kind}", [kind] * 2, kind),
                       [("x0", kind, (8, 40)), ("x1", kind, (8, 40))])
            a, by = [n - 100 for n in range(-60, 260)], [n % bits for n in range(320)]
            a = [max(-128, min(127, n)) for n in a]
            expect(m.call(a, by) is None, "good amounts are refused")
            for bad in (bits, bits + 9, -1):
                message = m.call(a, by[:77] + [bad] + by[78:])
                expect_fault(message, f"shifts a value of {bits} bits by {bad % 2 ** bits}")


def check_conversions():
    cases = (("f32", "i8", "fptosi", [-128.9, 127.9], [128.0, -129.0, float("nan"), float("inf"), 1e30]),
             ("f32", "i32", "fptosi", [-2.0 ** 31, 2147483520.0], [2.0 ** 31, -2147483904.0, float("-inf")]),
             ("f32", "i64", "fptosi", [-2.0 ** 63, 2.0 ** 62], [2.0 ** 63, -2.0 ** 63 - 2.0 ** 40]),
             ("f64", "i32", "fptosi", [-2147483648.9, 2147483647.9], [2147483648.0, -2147483649.0]),
             ("f32", "i8", "fptoui", [-0.9, 255.9], [256.0, -1.0, float("nan")]))
    with scratch() as folder:
        for number, (source, target, op, good, bad) in enumerate(cases):
            m = Module(folder, f"cast{number}", elementwise("main", f"%v = arith.{op} %a0 : {source} to {target}", [source], target),
                       [("x0", source, (8, 40))])
            x = [good[n % 2] if n % 7 == 0 else n % 100 / 3 for n in range(320)]
            expect(m.call(x) is None, f"{op} of {source} to {target}: good values are refused")
            for value in bad:
                expect_fault(m.call(x[:61] + [value] + x[62:]), f"which is outside of {target}")


# The body makes an index of %a0 that intervals prove.
PROOFS = {
    "remainder": "%n = arith.constant 9 : i32\n      %r = arith.remui %a0, %n : i32\n      %v = arith.addi %r, %c0 : i32",
    "clamp": "%h = arith.constant 8 : i32\n      %q = arith.minsi %a0, %h : i32\n      %v = arith.maxsi %q, %c0 : i32",
    "unsigned": "%h = arith.constant 9 : i32\n      %v = arith.minui %a0, %h : i32",
    "mask": "%h = arith.constant 7 : i32\n      %v = arith.andi %a0, %h : i32",
    "choice": "%h = arith.constant 10 : i32\n      %q = arith.cmpi ult, %a0, %h : i32\n      %v = arith.select %q, %a0, %c0 : i32",
    "shift": "%h = arith.constant 29 : i32\n      %v = arith.shrui %a0, %h : i32",
}


def check_proofs():
    """Accesses that are proven have no check in the IR; a bound one larger and they have."""
    with scratch() as folder:
        for name, body in PROOFS.items():
            index = f"""%c0 = arith.constant 0 : i32
      {body.replace('%v', '%w')}
      %i = arith.index_cast %w : i32 to index
      %v = tensor.extract %table[%i] : tensor<10xf32>"""
            text = elementwise("main", index, ["i32"], "f32").replace("(%x0", "(%table: tensor<10xf32>, %x0", 1)
            for size, is_proven in ((10, True), (7, False)):
                path = os.path.join(folder, f"{name}{size}.mlir")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace("10xf32", f"{size}xf32"))
                out = os.path.join(folder, "m.ingot")
                run_well("compile", path, "--target=host", "-o", out, "--dump-ir-after=check-faults", f"--dump-dir={folder}")
                dump = next(n for n in os.listdir(folder) if n.endswith("check-faults.mlir"))
                with open(os.path.join(folder, dump), encoding="utf-8") as file:
                    has_check = "cf.assert" in file.read()
                expect(has_check != is_proven, f"{name} of {size}: {'checked' if has_check else 'not checked'}")
                entries = json.loads(run_well("explain", out, "--json"))["checks"]
                indices = [c for c in entries if c["op"] == "tensor.extract"]
                expect([c["proven"] for c in indices] == [is_proven], indices)
                expect(is_proven or indices[0]["times"] == 320, indices)
                line = f"faults: {sum(c['proven'] for c in entries)} proven to be none, {int(not is_proven)} checked"
                expect(line in run_well("explain", out).decode(), line)


ASSERTED = """func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0 : i32
  %a = tensor.extract %x[%c0] : tensor<4xi32>
  %ok = arith.cmpi sgt, %a, %z : i32
  cf.assert %ok, "the first is positive"
  %e = tensor.empty() : tensor<4xi32>
  %y = linalg.copy ins(%x : tensor<4xi32>) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  return %y : tensor<4xi32>
}
"""


def check_assertions():
    with scratch() as folder:
        m = Module(folder, "asserted", ASSERTED, [("x", "i32", (4,))])
        expect(m.call([1, -2, 3, 4]) is None, "a true assertion is refused")
        expect_fault(m.call([0, 1, 2, 3]), "'cf.assert' op failed: the first is positive")
        # A check of constants is a kernel without arguments.
        text = "\n".join("  %ok = arith.constant false" if "cmpi" in line else line
                         for line in ASSERTED.split("\n"))
        expect_fault(Module(folder, "constant", text, [("x", "i32", (4,))]).call([1, 2, 3, 4]),
                     "'cf.assert' op failed: the first is positive")


COUNTED = """func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
  %begin = arith.constant 9223372036854775803 : index
  %end = arith.constant 9223372036854775807 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %begin to %end step %c1 iter_args(%s = %x) -> (tensor<4xi32>) {
    %at = arith.subi %i, %begin : index
    %v = arith.index_cast %at : index to i32
    %n = tensor.insert %v into %s[%at] : tensor<4xi32>
    scf.yield %n : tensor<4xi32>
  }
  return %y : tensor<4xi32>
}
"""


UNREAD = """func.func @main(%x: tensor<4xf32>, %i: tensor<1xi64>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.extract %i[%c0] : tensor<1xi64>
  %k = arith.index_cast %n : i64 to index
  %unread = tensor.extract %x[%k] : tensor<4xf32>
  return %x : tensor<4xf32>
}
"""


def check_dead_code():
    """A fault goes with the operation that nobody reads, in the interpreter not before the passes; an assertion stays."""
    with scratch() as folder:
        path, out, y = (os.path.join(folder, n) for n in ("unread.mlir", "unread.ingot", "y.npy"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(UNREAD)
        write_npy(os.path.join(folder, "x.npy"), "f32", (4,), [1, 2, 3, 4])
        write_npy(os.path.join(folder, "i.npy"), "i64", (1,), [9])
        inputs = [f"--input=x={folder}/x.npy", f"--input=i={folder}/i.npy"]
        run_well("compile", path, "--target=host", "-o", out)
        run_well("run", out, *inputs, f"--output={y}")
        expect(list(read_npy(y)[2]) == [1, 2, 3, 4], "a dead operation changed the result")
        done = run("opt", path, "--run", *inputs)
        expect_exit(done, 3)
        expect(b"index 9 is out of range for dimension 0 of size 4" in done.stderr, done.stderr)
        run_well("opt", path, "--pipeline=inline-functions,canonicalize", "--run", *inputs)
        assertion = '%ok = arith.cmpi ult, %k, %c4 : index\n  cf.assert %ok, "in range"\n'
        generic = ("%unread = linalg.generic {indexing_maps = "
                   "[affine_map<(i) -> (i)>], iterator_types = [\"parallel\"]} outs(%x : tensor<4xf32>) {\n"
                   "  ^bb0(%o: f32):\n  " + assertion + "  linalg.yield %o : f32\n  } -> tensor<4xf32>")
        for name, instead in (("asserted", assertion), ("inside", generic)):
            text = UNREAD.replace("%unread = tensor.extract %x[%k] : tensor<4xf32>", instead)
            m = Module(folder, name, text, [("x", "f32", (4,)), ("i", "i64", (1,))])
            expect_fault(m.call([1, 2, 3, 4], [9]), "in range")
            expect(m.call([1, 2, 3, 4], [3]) is None, f"{name}: refused without a fault")


def check_loops_to_the_last_index():
    """Rounds of step 1 never count beyond their end, whatever it is; one of step 2 may."""
    with scratch() as folder:
        m = Module(folder, "counted", COUNTED, [("x", "i32", (4,))])
        expect(m.call([9, 9, 9, 9]) is None, "a loop to the last index is refused")
        path, out = os.path.join(folder, "by_two.mlir"), os.path.join(folder, "by_two.ingot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(COUNTED.replace("%c1 = arith.constant 1", "%c1 = arith.constant 2"))
        run_well("compile", path, "--target=host", "-o", out)
        write_npy(os.path.join(folder, "x.npy"), "i32", (4,), [9] * 4)
        done = run("run", out, f"--input=x={folder}/x.npy", f"--output=result0={folder}/y.npy")
        expect_exit(done, 3)
        expect(b"which leaves no room for the step" in done.stderr, done.stderr)


def check_threads():
    """The fault found does not depend on the number of workers."""
    with scratch() as folder:
        body = "%v = arith.divsi %a0, %a1 : i32"
        found = set()
        for threads in (1, 2):
            m = Module(folder, "threads", elementwise("main", body, ["i32"] * 2, "i32", "64x16").replace("%v = arith.divsi %a0", "%c = arith.constant 3 : i32\n      %s = arith.shli %c, %a0 : i32\n      %v = arith.divsi %s"),
                       [("x0", "i32", (64, 16)), ("x1", "i32", (64, 16))], threads)
            a, d = [1] * 1024, [3] * 1024
            for at, bad in ((1000, 77), (900, 55), (650, 44)):
                a[at] = bad
            expect_fault(m.call(a, d), "by 44")
            d[600] = 0
            found.add(m.call(a, d))
        expect(len(found) == 1, found)


SIZED = """func.func @main(%x: tensor<?xf32> {ingot.dims = ["n"]}, %i: tensor<6xi64>, %y: tensor<?xf32> {ingot.dims = ["k"]}) -> (tensor<6xf32>, tensor<?xi8>)
    attributes {ingot.ranges = {n = {min = 1, max = 64, step = 16}, k = {min = 1, max = 32, step = 32}}} {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
    ins(%i : tensor<6xi64>) outs(%e : tensor<6xf32>) {
    ^bb0(%a: i64, %o: f32):
      %q = arith.index_cast %a : i64 to index
      %v = tensor.extract %x[%q] : tensor<?xf32>
      linalg.yield %v : f32
    } -> tensor<6xf32>
  %c0 = arith.constant 0 : index
  %k = tensor.dim %y, %c0 : tensor<?xf32>
  %e2 = tensor.empty(%k) : tensor<?xi8>
  %s = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> (r)>], iterator_types = ["parallel"]}
    ins(%y : tensor<?xf32>) outs(%e2 : tensor<?xi8>) {
    ^bb0(%a: f32, %o: i8):
      %one = arith.constant 1.0 : f32
      %inv = arith.divf %one, %a : f32
      %v = arith.fptosi %inv : f32 to i8
      linalg.yield %v : i8
    } -> tensor<?xi8>
  return %r, %s : tensor<6xf32>, tensor<?xi8>
}
"""


def check_sizes():
    """Padding fails in nothing, and an index that reaches it is refused like one beyond."""
    with scratch() as folder:
        path, artifact = os.path.join(folder, "sized.mlir"), os.path.join(folder, "sized.ingot")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SIZED)
        run_well("compile", path, "--target=host", "-o", artifact)
        for n, last, k, zero, what in ((17, 16, 5, None, None), (17, 17, 5, None, "below its size n"),
                                       (17, 31, 5, None, "below its size n"), (17, 32, 5, None, "below its size n"),
                                       (64, 63, 32, None, None), (64, 64, 32, None, "below its size n"),
                                       (20, 1, 20, 7, "converts inf, which is outside of i8")):
            values = {"x": ("f32", [float(i) for i in range(n)]), "i": ("i64", [0, 1, last, 3, 4, 5]),
                      "y": ("f32", [0.0 if i == zero else 0.5 for i in range(k)])}
            inputs, files = [], {}
            for name, (kind, numbers) in values.items():
                file = os.path.join(folder, name + ".npy")
                write_npy(file, kind, (len(numbers),), numbers)
                inputs += ["--input", f"{name}={file}"]
            for tool, option in ((["run", artifact], "--output"), (["opt", path, "--run"], "--result")):
                files[tool[0]] = [os.path.join(folder, f"{tool[0]}{r}.npy") for r in range(2)]
                outs = [part for r in range(2) for part in (option, f"result{r}={files[tool[0]][r]}")]
                done = run(*tool, *inputs, *outs)
                expect_exit(done, 3 if what else 0)
                if what and tool[0] == "run":
                    expect(what in done.stderr.decode(), done.stderr.decode())
            if not what:
                expect([list(read_npy(f)[2]) for f in files["run"]] == [list(read_npy(f)[2]) for f in files["opt"]],
                       f"sizes {n}, {k}")


def check_affine_divisors():
    """An affine map that divides by a value: every sign of it, and a divisor that is not positive."""
    text = """func.func @main(%n: index, %d: index, %t: tensor<4xindex>) -> (index, index, index, tensor<4xindex>) {
  %q = affine.apply affine_map<()[s0, s1] -> (s0 floordiv s1)>()[%n, %d]
  %c = affine.apply affine_map<(d0)[s0] -> (d0 ceildiv s0 + d0 * s0)>(%n)[%d]
  %m = affine.max affine_map<(d0)[s0] -> (d0 mod s0, d0 - 3, s0 - 2)>(%n)[%d]
  %e = tensor.empty() : tensor<4xindex>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%t : tensor<4xindex>) outs(%e : tensor<4xindex>) {
  ^bb0(%a: index, %o: index):
    %i = linalg.index 0 : index
    %v = affine.min affine_map<(d0)[s0] -> (d0 * 5 mod s0, d0 floordiv (s0 + 1))>(%i)[%a]
    linalg.yield %v : index
  } -> tensor<4xindex>
  return %q, %c, %m, %r : index, index, index, tensor<4xindex>
}
"""
    arguments = [("n", "index", ()), ("d", "index", ()), ("t", "index", (4,))]
    with scratch() as folder:
        module = Module(folder, "affine", text, arguments)
        for n in (-9, -6, -1, 0, 1, 5, 6, 2 ** 40):
            for d in (1, 2, 3, 7):
                expect(module.call([n], [d], [1, 2, 3, 4]) is None, f"{n}, {d} failed")
        for d in (0, -1, INT_MIN[64]):
            line = module.call([7], [d], [1, 2, 3, 4])
            expect(line and f"'affine.apply' op divides by {d}, which is not positive" in line, line)
        line = module.call([7], [1], [1, 2, -3, 4])
        expect(line and "'affine.min' op divides by -3, which is not positive" in line, line)


def check_vectors_are_refused():
    """Level 1 reads them; what could fail on some of their elements has no check, and no kernel is made of them."""
    for op, kinds in (("arith.fptoui", "f32 i32"), ("arith.fptosi", "f32 i8"), ("arith.divsi", "i32"),
                      ("arith.shli", "i32"), ("arith.addi", "i32")):
        operand, *result = kinds.split()
        sign = f" : vector<4x{operand}>" + (f" to vector<4x{result[0]}>" if result else "")
        arguments = "%x" if result else "%x, %x"
        text = (f"func.func @main(%t: tensor<4x{operand}>) -> tensor<4x{operand}> {{\n"
                f"  %x = arith.constant dense<1{'.0' if operand[0] == 'f' else ''}> : vector<4x{operand}>\n"
                f"  %y = {op} {arguments}{sign}\n  return %t : tensor<4x{operand}>\n}}\n")
        with scratch() as folder:
            path = os.path.join(folder, "m.mlir")
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            done = run("compile", path, "-o", os.path.join(folder, "m.ingot"))
            # What nobody reads is left out before anything looks at it.
            expect(done.returncode in (0, 3), f"{op}: {done.returncode} {done.stderr}")
            used = text.replace("-> tensor", "-> vector").replace(
                f"return %t : tensor<4x{operand}>", f"return %y : vector<4x{(result or [operand])[0]}>")
            used = used.replace(f"-> vector<4x{operand}>", f"-> vector<4x{(result or [operand])[0]}>")
            with open(path, "w", encoding="utf-8") as out:
                out.write(used)
            done = run("compile", path, "-o", os.path.join(folder, "m.ingot"))
            expect_exit(done, 3)
            expect(b"[P0005]" in done.stderr and b"m.mlir:3" in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
