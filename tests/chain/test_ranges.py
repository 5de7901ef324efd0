#!/usr/bin/env python3
"""Modules of IR text whose sizes vary: compiled once per bucket, they answer for every size as the interpreter
does for exactly that size - at the least size, off a step, at the end of a bucket, at the beginning of the
next, at the largest - and refuse every other size by name. What lies in the padding reaches no result, even if
it is the NaN of the call before.

The modules state their bounds as those of test_module_text do."""
import json
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, ".."))
from support import INGOT, expect, expect_exit, main, run, run_well, scratch
from test_module_text import (accept_dumps, bound_of, compare, count, outputs, random_values, read_npy,
                              write_npy)

MODULES = os.path.join(HERE, "modules_sized")


def signature(artifact):
    """Arguments and results of the first entry, and the ranges of its sizes by name."""
    entry = json.loads(run_well("inspect", artifact, "--json"))["entries"][0]
    return entry["arguments"], entry["results"], {s["name"]: s for s in entry["sizes"]}


def buckets(size):
    steps = range(-(-size["min"] // size["step"]) * size["step"], size["max"], size["step"])
    return sorted({*steps, *size["hot"], size["max"]})


def cases(sizes):
    """Calls by size name: each size at its borders while the others go through theirs."""
    borders = {}
    for name, size in sizes.items():
        last = buckets(size)
        known = {size["min"], size["min"] + 1, last[0], last[0] + 1, last[-1] - 1, size["max"]}
        known.update(hot + off for hot in size["hot"] for off in (-1, 0, 1))
        borders[name] = sorted(n for n in known if size["min"] <= n <= size["max"])
    return [{name: of[(i + k) % len(of)] for k, (name, of) in enumerate(borders.items())}
            for i in range(max(len(of) for of in borders.values()))]


def shape_of(port, call):
    return [call.get(name, size) for name, size in zip(port.get("dims", [""] * len(port["shape"])), port["shape"])]


def make_inputs(folder, arguments, call, generator):
    options = []
    for argument in arguments:
        path = os.path.join(folder, argument["name"] + ".npy")
        shape = shape_of(argument, call)
        write_npy(path, argument["type"], shape, random_values(argument["type"], count(shape), generator))
        options += ["--input", f"{argument['name']}={path}"]
    return options


def compare_call(folder, module, artifact, call, bound, generator):
    arguments, results, _ = signature(artifact)
    inputs = make_inputs(folder, arguments, call, generator)
    want, wanted = outputs(folder, results, "interpreted", "--result")
    run_well("opt", module, "--run", *inputs, *want)
    got, paths = outputs(folder, results, "compiled")
    run_well("run", artifact, *inputs, *got, "--warm-up")
    for result, ours, theirs in zip(results, paths, wanted):
        expect(list(read_npy(ours)[1]) == shape_of(result, call), f"{result['name']} of {call}: {read_npy(ours)[1]}")
        compare(f"{result['name']} of {call}", ours, theirs, bound)


def check_modules():
    notes = []
    for name in sorted(os.listdir(MODULES)):
        path = os.path.join(MODULES, name)
        with open(path, encoding="utf-8") as file:
            bound = bound_of(file.read())
        with scratch() as folder:
            artifact, dumps = os.path.join(folder, "m.ingot"), os.path.join(folder, "ir")
            run_well("compile", path, "--target=host", "-o", artifact, "--dump-ir-after=all", f"--dump-dir={dumps}")
            accept_dumps(dumps)
            generator, calls = random.Random(1), cases(signature(artifact)[2])
            for call in calls:
                compare_call(folder, path, artifact, call, bound, generator)
            notes.append(f"{name[:-5]} {len(calls)} calls")
    return ", ".join(notes)


def check_padding_of_nan():
    program = os.path.join(os.path.dirname(INGOT), "tests", "runtime", "call_in_turn")
    with scratch() as folder:
        artifact = os.path.join(folder, "m.ingot")
        run_well("compile", os.path.join(MODULES, "reductions.mlir"), "-o", artifact)
        done = subprocess.run([program, artifact, "40", "2", "3", "8", "9", "39", "40"], capture_output=True,
                              timeout=120, check=False)
        expect(done.returncode == 0, (done.stdout + done.stderr).decode())


def check_padding_is_told():
    """Dry run, inspect and explain name the calls of every version and the padding they have: of n from 2 to 40
    by 8 the version for 8 serves 2 to 8, on average 5 of 8 elements, and 2 at least."""
    module = os.path.join(MODULES, "reductions.mlir")
    with scratch() as folder:
        artifact = os.path.join(folder, "m.ingot")
        run_well("compile", module, "-o", artifact)
        report = json.loads(run_well("compile", module, "--dry-run", "--json"))
        shown = json.loads(run_well("inspect", artifact, "--json"))
        told = json.loads(run_well("explain", artifact, "--json"))["versions"]
        expect([v["sizes"][0]["bucket"] for v in told] == [8, 16, 24, 32, 40], told)
        for i, (least, bucket) in enumerate(((2, 8), (9, 16), (17, 24), (25, 32), (33, 40))):
            mean, most = 1 - (least + bucket) / 2 / bucket, 1 - least / bucket
            for entry in (report["entries"][i], shown["entries"][i]):
                size = entry["sizes"][0]
                expect((size["name"], size["least"], size["bucket"]) == ("n", least, bucket), size)
                expect(abs(entry["padding"]["mean"] - mean) < 1e-6, entry["padding"])
                expect(abs(entry["padding"]["most"] - most) < 1e-6, entry["padding"])
            expect(told[i]["sizes"][0]["least"] == least and told[i]["entry"] == "main", told[i])
            expect(told[i]["padding_mean_percent"] == int(mean * 100 + 0.5), told[i])
        for text in (run_well("inspect", artifact), run_well("compile", module, "--dry-run"), run_well("explain", artifact)):
            expect(b"n 2 to 8" in (text.encode() if isinstance(text, str) else text), text)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


EXP = """%c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<?x4xf32>"""


def rows(dims='["n", ""]', ranges="{n = {max = 40, step = 16}}", kind="tensor<?x4xf32>", body=None, result=None):
    attributes = f" attributes {{ingot.ranges = {ranges}}}" if ranges else ""
    named = f" {{ingot.dims = {dims}}}" if dims else ""
    result = result or kind
    return f"""func.func @main(%x: {kind}{named}) -> {result}{attributes} {{
  {body or EXP}
  return %y : {result}
}}
"""


def refused(folder, path, code, *what):
    target = os.path.join(folder, "refused.ingot")
    done = run("compile", path, "-o", target)
    expect_exit(done, code)
    for text in what:
        expect(text in done.stderr.decode(), f"'{text}' is not in: {done.stderr.decode()}")
    expect(not os.path.exists(target), "something was written")


def check_what_cannot_be_exact():
    """Nothing is computed that padding would change; the message names what and why."""
    slice_part = "%y = tensor.extract_slice %x[OFFSET, 0] [SIZES] [STRIDE, 1] : tensor<?x4xf32> to RESULT"
    shifted = slice_part.replace("OFFSET", "%o").replace("SIZES", "%n, 4").replace("STRIDE", "1")
    shifted = ("%o = arith.constant 0 : index\n %n = tensor.dim %x, %o : tensor<?x4xf32>\n"
               + shifted.replace("RESULT", "tensor<?x4xf32>"))
    head = slice_part.replace("OFFSET", "2").replace("SIZES", "2, 4").replace("STRIDE", "1").replace("RESULT", "tensor<2x4xf32>")
    window = ("%e = arith.constant dense<0.0> : tensor<1x2x2x3xf32>\n%w = tensor.empty() : tensor<2x2xf32>\n"
              "%y = linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} "
              "ins(%x, %w : tensor<1x?x3x3xf32>, tensor<2x2xf32>) outs(%e : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>")
    pad = ("%z = arith.constant 0.0 : f32\n%y = tensor.pad %x low[1, 0] high[0, 0] {\n^bb0(%i: index, %j: index):\n"
           "tensor.yield %z : f32\n} : tensor<?x4xf32> to tensor<?x4xf32>")
    fixed = ("%e = tensor.empty() : tensor<7x4xf32>\n%y = linalg.copy ins(%x : tensor<?x4xf32>) outs(%e : tensor<7x4xf32>)"
             " -> tensor<7x4xf32>")
    cases = [
        (rows(body=shifted), 3, "P0015", "slice", "moves elements"),
        (rows(body=head, result="tensor<2x4xf32>"), 3, "P0015", "is not there for the smallest size"),
        (rows(body="%y = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>", result="tensor<?xf32>"),
         3, "P0015", "splits or joins"),
        (rows('["", "n", "", ""]', kind="tensor<1x?x3x3xf32>", body=window, result="tensor<1x2x2x3xf32>"), 3, "P0015", "a window moves"),
        (rows(body=pad), 3, "P0015", "makes an unknown size larger"),
        (rows(body=fixed, result="tensor<7x4xf32>"), 3, "P0015", "needs the size n to be 7"),
        (rows('["n", "m"]', "{n = {max = 4}, m = {max = 4}}", "tensor<?x?xf32>",
              "%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 : tensor<?x?xf32>\n%e = tensor.empty(%n, %n) : tensor<?x?xf32>\n"
              "%y = linalg.copy ins(%x : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>"),
         3, "P0015", "to be equal"),
        (rows(body="%c0 = arith.constant 0 : index\n%n = tensor.dim %x, %c0 : tensor<?x4xf32>\n%m = arith.addi %n, %n : index\n"
              "%e = tensor.empty(%m) : tensor<?x4xf32>\n%z = arith.constant 0.0 : f32\n"
              "%y = linalg.fill ins(%z : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>"), 3, "P0004", "none is computed from others"),
        (rows(None), 3, "P0004", "nothing bounds dimension 0 of argument x"),
        (rows(ranges=None), 3, "P0004", "nothing bounds dimension 0 of argument x", "the name n"),
        (rows('["n"]'), 3, "P0011", "as many names as there are dimensions"),
        (rows('["n", "m"]'), 3, "P0011", "names a dimension that is a number"),
        (rows(ranges="{n = {max = 4}, nn = {max = 4}}"), 3, "P0011", "is called nn"),
        (rows(ranges="{n = {max = 4, min = 5}}"), 3, "P0011", "is no range"),
        (rows(ranges="{n = {max = 4, mix = 5}}"), 3, "P0011", "is no range"),
        (rows(ranges="{n = {max = 4096, step = 8}}"), 4, "P0016", "n: 512", "a larger step for n"),
    ]
    with scratch() as folder:
        for text, code, *what in cases:
            refused(folder, write(folder, "m.mlir", text), code, "m.mlir:", *what)


RECIPE = """version: 1
model_name: rows
subgraph: {file: m.mlir}
input_constraints:
  %s: {min: %d, max: 40, step: 16%s}
"""


def call_rows(folder, artifact, num):
    given = write_npy(os.path.join(folder, "x.npy"), "f32", (num, 4), [0.0] * (4 * num))
    out = os.path.join(folder, "y.npy")
    done = run("run", artifact, "--input", os.path.join(folder, "x.npy"), "--output", out)
    if done.returncode == 0:
        expect(given is None and read_npy(out)[1] == (num, 4) and set(read_npy(out)[2]) == {1.0}, read_npy(out))
    return done


def check_calls():
    """Outside the range, and off a step where the recipe says so: refused with the nearest size and the line."""
    with scratch() as folder:
        artifact = os.path.join(folder, "m.ingot")
        module = write(folder, "m.mlir", rows(ranges="{n = {min = 3, max = 40, step = 16}}"))
        run_well("compile", module, "-o", artifact)
        for num in (3, 16, 17, 33, 40):
            expect_exit(call_rows(folder, artifact, num), 0)
        for num, nearest in ((0, 3), (2, 3), (41, 40)):
            done = call_rows(folder, artifact, num)
            expect_exit(done, 3)
            for text in ("X0021", f"the size n, is {num}", "3 to 40", "16, 32, 40", "m.mlir:1", f"write:    {nearest}\n"):
                expect(text in done.stderr.decode(), f"'{text}' is not in: {done.stderr.decode()}")
        for text, name in ((rows(ranges=None), "n"), (rows(None, None), "x.0")):
            write(folder, "m.mlir", text)
            for off_step, codes in (("", (0, 0, 0)), (", off_step: pad", (0, 0, 0)), (", off_step: reject", (3, 0, 3))):
                recipe = write(folder, "r.yaml", RECIPE % (name, 2, off_step))
                run_well("compile", recipe, "-o", artifact)
                for num, code in zip((5, 32, 33), codes):
                    done = call_rows(folder, artifact, num)
                    expect_exit(done, code)
                    nearest = {5: "16", 33: "32 or 40"}.get(num)
                    for want in ("none of its steps", "recipe:5", f"write:    {nearest}\n") if code else ():
                        expect(want in done.stderr.decode(), f"'{want}' is not in: {done.stderr.decode()}")


SLICES = """func.func @main(%x: tensor<?x4xf32> {ingot.dims = ["n", ""]}, %y: tensor<2x4xf32>, %k: tensor<1xi64>)
    -> (tensor<?x4xf32>, tensor<2x4xf32>) attributes {ingot.ranges = {n = {min = 2, max = 21, step = 8}}} {
  %c0 = arith.constant 0 : index
  %i0 = tensor.extract %k[%c0] : tensor<1xi64>
  %i = arith.index_cast %i0 : i64 to index
  %r = tensor.insert_slice %y into %x[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<?x4xf32>
  %s = tensor.extract_slice %r[%i, 0] [2, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  return %r, %s : tensor<?x4xf32>, tensor<2x4xf32>
}
"""


SCORES = """// A product that is summed over one size, and the softmax of its rows over another.
func.func @main(%x: tensor<?x?xf32> {ingot.dims = ["n", "k"]}, %w: tensor<?x?xf32> {ingot.dims = ["k", "m"]})
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %m = tensor.dim %w, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%z : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = linalg.softmax dimension(1) ins(%p : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %p, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
"""
SCORES_BOUND = bound_of("// bound: 100 terms, magnitude 128")


def scores(folder, sizes, more=""):
    """The recipe of SCORES with these input_constraints, and its artifact."""
    module = write(folder, "scores.mlir", SCORES)
    recipe = write(folder, "r.yaml", "version: 1\nmodel_name: scores\nsubgraph: {file: scores.mlir}\ninput_constraints:\n"
                   + "".join(f"  {name}: {{{of}}}\n" for name, of in sizes.items()) + more)
    artifact = os.path.join(folder, "s.ingot")
    return module, recipe, artifact


def call_scores(folder, artifact, call):
    return run("run", artifact, *make_inputs(folder, signature(artifact)[0], call, random.Random(2)))


def versions(artifact):
    """(least, bucket) of every size, of every version of an artifact."""
    return [tuple((s["least"], s["bucket"]) for s in entry["sizes"])
            for entry in json.loads(run_well("inspect", artifact, "--json"))["entries"]]


def check_hot_sizes():
    """A hot size is the end of a bucket of its own, in recipe and module, and is computed as exactly as others."""
    with scratch() as folder:
        rest = {"k": "max: 5", "n": "min: 3, max: 40, step: 16"}
        for hot, want in (("", [(3, 16), (17, 32), (33, 40)]),
                          (", hot: [20, 5, 32]", [(3, 5), (6, 16), (17, 20), (21, 32), (33, 40)])):
            module, recipe, artifact = scores(folder, rest | {"n": rest["n"] + hot, "m": "max: 9, step: 9"})
            run_well("compile", recipe, "-o", artifact)
            expect([v[2] for v in versions(artifact)] == want, versions(artifact))
        sizes = signature(artifact)[2]
        expect(sizes["n"]["hot"] == [5, 20, 32] and sizes["m"]["hot"] == [], sizes)
        calls, generator = cases(sizes), random.Random(7)
        expect({4, 5, 6, 19, 20, 21} <= {call["n"] for call in calls}, calls)
        for call in calls:
            compare_call(folder, module, artifact, call, SCORES_BOUND, generator)
        _, recipe, artifact = scores(folder, rest | {"m": "max: 9", "n": rest["n"] + ", hot: [5, 20], off_step: reject"})
        run_well("compile", recipe, "-o", artifact)
        for num, nearest in ((5, None), (16, None), (20, None), (40, None), (4, "5"), (19, "16 or 20"), (21, "20 or 32")):
            done = call_scores(folder, artifact, {"n": num, "k": 5, "m": 9})
            expect_exit(done, 3 if nearest else 0)
            said = done.stderr.decode()
            expect(not nearest or f"write:    {nearest}\n" in said and "5, 16, 20, 32, 40 (recipe:6)" in said, said)
        for hot in (2, 41):
            _, recipe, _ = scores(folder, rest | {"m": "max: 9", "n": rest["n"] + f", hot: [5, {hot}]"})
            refused(folder, recipe, 3, "R0011", f"n.hot {hot} lies outside min 3 to max 40", "r.yaml:6")
        _, recipe, _ = scores(folder, rest | {"m": f"max: 9, hot: {list(range(1, 9))}", "n": rest["n"] + ", hot: [5]"})
        refused(folder, recipe, 4, "P0016", "m: 9 (recipe:7)")
        module = write(folder, "m.mlir", rows(ranges="{n = {max = 40, step = 16, hot = [5, 20]}}"))
        run_well("compile", module, "-o", artifact)
        expect([v[0] for v in versions(artifact)] == [(1, 5), (6, 16), (17, 20), (21, 32), (33, 40)], versions(artifact))
        for hot in ("[41]", "[20, 5]", "[5, 5]", "5", '["5"]', "[0]"):
            module = write(folder, "m.mlir", rows(ranges=f"{{n = {{max = 40, hot = {hot}}}}}"))
            refused(folder, module, 3, "P0011", "is no range", "hot is an ascending list")


def check_sizes_below_the_first_bucket():
    """out_of_range: what is less than min is refused, or computed in the first version as exactly as in any."""
    with scratch() as folder:
        rest, generator = {"k": "max: 5", "m": "min: 4, max: 9, step: 3, hot: [5], out_of_range: next_bucket"}, random.Random(8)
        module, recipe, artifact = scores(folder, rest | {"n": "min: 20, max: 40, step: 16, out_of_range: next_bucket"})
        run_well("compile", recipe, "-o", artifact)
        expect(sorted({v[2] for v in versions(artifact)}) == [(1, 32), (33, 40)], versions(artifact))
        expect(sorted({v[1] for v in versions(artifact)}) == [(1, 5), (6, 6), (7, 9)], versions(artifact))
        for n, m in ((1, 1), (2, 4), (19, 3), (20, 5), (32, 6), (33, 7), (40, 9)):
            compare_call(folder, module, artifact, {"n": n, "k": 5, "m": m}, SCORES_BOUND, generator)
        for n, nearest in ((0, 1), (41, 40)):
            done = call_scores(folder, artifact, {"n": n, "k": 5, "m": 4})
            expect_exit(done, 3)
            expect(f"the size n, is {n}" in done.stderr.decode() and f"write:    {nearest}\n" in done.stderr.decode(), done.stderr)
        for said in ("", ", out_of_range: reject"):
            _, recipe, artifact = scores(folder, rest | {"n": "min: 20, max: 40, step: 16" + said})
            run_well("compile", recipe, "-o", artifact)
            done = call_scores(folder, artifact, {"n": 19, "k": 5, "m": 4})
            expect_exit(done, 3)
            expect("less than its smallest" in done.stderr.decode() and "write:    20\n" in done.stderr.decode(), done.stderr)
        _, recipe, _ = scores(folder, rest | {"n": "max: 40, off_step: reject, out_of_range: next_bucket"})
        refused(folder, recipe, 3, "R0011", "contradicts off_step reject", "r.yaml:7")
        module = write(folder, "m.mlir", rows(ranges='{n = {min = 5, max = 40, step = 16, out_of_range = "next_bucket"}}'))
        run_well("compile", module, "-o", artifact)
        expect([v[0] for v in versions(artifact)] == [(1, 16), (17, 32), (33, 40)], versions(artifact))
        head = ("%y = tensor.extract_slice %x[2, 0] [2, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>")
        four = rows(ranges="{n = {min = 4, max = 40MORE}}", body=head, result="tensor<2x4xf32>")
        run_well("compile", write(folder, "m.mlir", four.replace("MORE", "")), "-o", artifact)
        refused(folder, write(folder, "m.mlir", four.replace("MORE", ', out_of_range = "next_bucket"')), 3, "P0015",
                "is not there for the smallest size")
        for more in (', hot = [4], out_of_range = "next_bucket"', ', out_of_range = "pad"',
                     ', out_of_range = "next_bucket", off_step = "reject"'):
            module = write(folder, "m.mlir", rows(ranges=f"{{n = {{min = 5, max = 40{more}}}}}"))
            refused(folder, module, 3, "P0011", "is no range", "out_of_range")


def wide(folder, relations="", n="max: 32, step: 8", m="max: 32, step: 8", k="max: 6"):
    more = f"relations: {json.dumps(relations)}\n" if relations else ""
    return scores(folder, {"n": n, "m": m, "k": k}, more)


def check_relations_leave_versions_out():
    """A version exists exactly if a call that keeps to the relations is served by it; what a version would need that
    is not there, is not planned either."""
    with scratch() as folder:
        seen = {}
        grid = ((1, 8), (9, 16), (17, 24), (25, 32))
        for tag, relations, holds in (("none", [], lambda n, m: True), ("all", ["2 * n * m <= 2048"], lambda n, m: True),
                                      ("one", ["n * m <= 64"], lambda n, m: n * m <= 64),
                                      ("two", ["n * m <= 200", "n*n*m <= 1100"], lambda n, m: n * m <= 200 and n * n * m <= 1100)):
            _, recipe, artifact = wide(folder, relations)
            run_well("compile", recipe, "-o", artifact)
            want = [((1, 6), m, n) for m in grid for n in grid if holds(n[0], m[0])]
            expect(versions(artifact) == want, (relations, versions(artifact)))
            report = json.loads(run_well("inspect", artifact, "--json"))
            seen[tag] = {part["name"]: part["bytes"] for part in report["memory"]["parts"]} | {"versions": len(want)}
        expect(seen["none"]["versions"] == 16 and seen["one"]["versions"] == 7 and seen["two"]["versions"] == 8, seen)
        for part in ("io", "code"):
            expect(seen["one"][part] < seen["none"][part] == seen["all"][part], (part, seen))
        _, recipe, _ = wide(folder, n="max: 128, step: 8")
        refused(folder, recipe, 4, "P0016", "n: 16")
        _, recipe, _ = wide(folder, ["n * m <= 128"], n="max: 128, step: 8")
        run_well("compile", recipe, "--dry-run")


def check_relations_are_kept_by_calls():
    """At the bound a call is answered as the interpreter answers it, in every version; beyond it is refused before
    it runs, with argument, dimension, value, what is allowed and the recipe's line."""
    with scratch() as folder:
        generator = random.Random(9)
        module, recipe, artifact = wide(folder, ["n * m <= 64"])
        run_well("compile", recipe, "-o", artifact, "--verify-each")
        calls = [(1, 1), (8, 8), (7, 9), (9, 7), (2, 32), (32, 2), (32, 1), (1, 32), (16, 4), (4, 16), (3, 17), (17, 3), (25, 2)]
        for i, (n, m) in enumerate(calls):
            compare_call(folder, module, artifact, {"n": n, "m": m, "k": 1 + i % 6}, SCORES_BOUND, generator)
        for n, m, could in ((9, 8, "n 8, or m 7"), (33, 1, None), (32, 3, "n 21, or m 2"), (32, 32, "n 2, or m 2")):
            done = call_scores(folder, artifact, {"n": n, "m": m, "k": 2})
            said = done.stderr.decode()
            if could is None:
                expect(done.returncode == 3 and "X0021" in said, said)
                continue
            expect(done.returncode == 4, said)
            for words in ("error[X0023]: @main: ", f"dimension 0 of argument x, the size n, is {n}",
                          f"dimension 1 of argument w, the size m, is {m}", "the artifact allows n * m <= 64",
                          f"{n * m} is more than 64 (recipe:8)", f"write:    {could}\n"):
                expect(words in said, (words, said))
        _, recipe, artifact = wide(folder, ["n * m <= 64"], n="min: 4, max: 32, step: 8, off_step: reject", m="min: 2, max: 8")
        run_well("compile", recipe, "-o", artifact)
        done = call_scores(folder, artifact, {"n": 24, "m": 3, "k": 2})
        expect(done.returncode == 4 and "n 16" in done.stderr.decode() and "m 2" in done.stderr.decode(), done.stderr)
        done = call_scores(folder, artifact, {"n": 32, "m": 8, "k": 2})
        expect(done.returncode == 4 and "n 8" in done.stderr.decode() and "m 2" in done.stderr.decode(), done.stderr)


def check_relations_that_cannot_be():
    """Names that the module does not have, ranges that no call could have, sizes of different entries."""
    two = ("func.func @F(%x: tensor<?x4xf32> {ingot.dims = [\"SIZE\", \"\"]}) -> tensor<?x4xf32> {\n  " + EXP
           + "\n  return %y : tensor<?x4xf32>\n}\n")
    with scratch() as folder:
        for relations, code, *words in (
                (["n * mm <= 64"], "R0015", "no size called mm", "write:    m\n"), (["n < 4"], "R0015", "<= must follow"),
                (["n * m <= 31"], "R0011", "no call can have the", ".max of 32", "allows 31"),
                (["seq_len <= 64"], "R0015", "no size called seq_len"), (["n <= 32"] * 9, "R0012", "9 relations")):
            _, recipe, _ = wide(folder, relations)
            refused(folder, recipe, 3, code, "r.yaml:8", *words)
        _, recipe, _ = wide(folder, ["n * m <= 64"], n="min: 3, max: 32, step: 8")
        refused(folder, recipe, 3, "R0011", "the m.max of 32", "allows 21", "write:    m: {max: 21}, or a larger bound")
        write(folder, "m.mlir", two.replace("F", "f").replace("SIZE", "a") + two.replace("F", "g").replace("SIZE", "b"))
        text = ("version: 1\nmodel_name: two\nsubgraph: {file: m.mlir}\n"
                "input_constraints: {a: {max: 8}, b: {max: 8}}\nrelations: [\"%s\"]\n")
        refused(folder, write(folder, "r.yaml", text % "a * b <= 16"), 3, "R0015", "no entry of the module has all", "r.yaml:5")
        recipe, artifact = write(folder, "r.yaml", text % "2 * b <= 16"), os.path.join(folder, "two.ingot")
        run_well("compile", recipe, "-o", artifact)
        refused(folder, write(folder, "r.yaml", text % "3 * b <= 16"), 3, "R0011", "the b.max of 8", "allows 5")
        # A function that is no entry has no sizes, whatever stands on it, and however many.
        many = ", ".join(f"n{i} = {{max = 8 : i64}}" for i in range(400))
        write(folder, "m.mlir", two.replace("F", "f").replace("SIZE", "a") + two.replace("F", "g").replace("SIZE", "b") +
              "func.func private @h(%x: tensor<4xf32>) -> tensor<4xf32> attributes {ingot.ranges = {" + many + "}} {\n"
              "  return %x : tensor<4xf32>\n}\n")
        refused(folder, write(folder, "r.yaml", text % "n1 * n2 <= 16"), 3, "R0015", "no size called n1", "r.yaml:5")
        run_well("compile", write(folder, "r.yaml", text % "2 * b <= 16"), "-o", artifact)


def check_one_name_is_one_size():
    """Dimensions of several arguments with one name are equal: proven of the module, checked of every call."""
    with scratch() as folder:
        _, recipe, artifact = scores(folder, {"k": "max: 5", "n": "max: 8", "m": "max: 9"})
        run_well("compile", recipe, "-o", artifact)
        arguments = signature(artifact)[0]
        expect([a["dims"] for a in arguments] == [["n", "k"], ["k", "m"]], arguments)
        call = make_inputs(folder, arguments, {"n": 3, "k": 4, "m": 2}, random.Random(3))
        run_well("run", artifact, *call)
        write_npy(os.path.join(folder, "w.npy"), "f32", (5, 2), [0.0] * 10)
        done = run("run", artifact, *call)
        expect_exit(done, 3)
        expect("X0021" in done.stderr.decode() and "dimension 0 of argument w, the size k, is 5; an argument before it has 4"
               in done.stderr.decode() and "(recipe:5)" in done.stderr.decode(), done.stderr)
        apart = SCORES.replace('["k", "m"]', '["l", "m"]')
        expect(apart != SCORES, "the module names its sizes otherwise")
        _, recipe, _ = scores(folder, {"k": "max: 5", "l": "max: 5", "n": "max: 8", "m": "max: 9"})
        write(folder, "scores.mlir", apart)
        refused(folder, recipe, 3, "P0015", "to be equal")


def check_largest_sizes_must_exist():
    """What no type could say is refused before anything multiplies it; what no machine holds, before it is written."""
    three = ('func.func @main(%x: tensor<?x?x?xf32> {ingot.dims = ["a", "b", "c"]}) -> tensor<?x?x?xf32>\n  attributes '
             "{ingot.ranges = {a = {max = MAX}, b = {max = MAX}, c = {max = MAX}}} {\n"
             "  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>], iterator_types = "
             '["parallel", "parallel", "parallel"]} outs(%x : tensor<?x?x?xf32>) {\n'
             "  ^bb0(%a: f32):\n    %e = math.exp %a : f32\n    linalg.yield %e : f32\n  } -> tensor<?x?x?xf32>\n"
             "  return %y : tensor<?x?x?xf32>\n}\n")
    with scratch() as folder:
        module = write(folder, "m.mlir", three.replace("MAX", "16777216"))
        refused(folder, module, 3, "P0016", "2^48", "m.mlir:1")
        module = write(folder, "m.mlir", three.replace("MAX", "65536"))
        done = run("compile", module, "-o", os.path.join(folder, "never.ingot"))
        expect_exit(done, 4)
        expect(b"m.mlir:1:1: error[M0001]" in done.stderr and b"more than any machine has" in done.stderr, done.stderr)
        expect(not os.path.exists(os.path.join(folder, "never.ingot")), "an artifact was written")


def check_slices_end_where_the_call_does():
    """Behind the size of the call lies padding up to the bucket's end: no slice reaches it."""
    with scratch() as folder:
        module, artifact = write(folder, "m.mlir", SLICES), os.path.join(folder, "m.ingot")
        run_well("compile", module, "-o", artifact)
        for size in (2, 3, 8, 9, 21):
            for at in (-2 ** 63, -1, 0, size - 2, size - 1, size, 22, 2 ** 62):
                shapes = {"x": ("f32", [size, 4], [float(i) for i in range(4 * size)]),
                          "y": ("f32", [2, 4], [-1.0] * 8), "k": ("i64", [1], [at])}
                inputs, results = [], []
                for name, (kind, shape, values) in shapes.items():
                    write_npy(os.path.join(folder, name + ".npy"), kind, shape, values)
                    inputs += ["--input", f"{name}={os.path.join(folder, name)}.npy"]
                for option, tag in (("--result", "w"), ("--output", "g")):
                    results.append([v for r in ("result0", "result1")
                                    for v in (option, f"{r}={os.path.join(folder, r + tag)}.npy")])
                want = run("opt", module, "--run", *inputs, *results[0])
                got = run("run", artifact, *inputs, *results[1])
                expect(want.returncode == got.returncode == (0 if 0 <= at <= size - 2 else 3),
                       f"{size} {at}: {want.returncode} {got.returncode} {got.stderr}")
                if got.returncode:
                    expect(b"m.mlir:6:8" in got.stderr and b"[I0301]" in got.stderr, got.stderr)
                    continue
                for name in ("result0", "result1"):
                    expect(read_npy(os.path.join(folder, name + "w.npy")) ==
                           read_npy(os.path.join(folder, name + "g.npy")), f"{size} {at} {name}")


def check_recipes():
    """A recipe bounds sizes of its module only, and only what the module leaves open."""
    with scratch() as folder:
        write(folder, "m.mlir", rows(ranges=None))
        refused(folder, write(folder, "r.yaml", RECIPE % ("m", 1, "")), 3, "P0004", "the name n")
        write(folder, "m.mlir", rows())
        refused(folder, write(folder, "r.yaml", RECIPE % ("n", 1, "")), 3, "R0011", "bounds the size n too", "m.mlir:1")
        refused(folder, write(folder, "r.yaml", RECIPE % ("nn", 1, "")), 3, "R0012", "no size called nn")
        write(folder, "m.mlir", rows(ranges=None))
        refused(folder, write(folder, "r.yaml", RECIPE % ("n", 41, "")), 3, "R0011", "n.min 41 is above n.max 40")
        refused(folder, write(folder, "r.yaml", RECIPE % ("n", 1, ", of_step: pad")), 3, "R0008", "off_step")
        refused(folder, write(folder, "r.yaml", RECIPE.replace("max: 40, ", "") % ("n", 1, "")), 3, "R0009", "max")


if __name__ == "__main__":
    main(globals())
