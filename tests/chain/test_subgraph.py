#!/usr/bin/env python3
"""Recipes that hold a subgraph instead of a model: IR text inline or beside them, with fusion rules
and a bound on what a worker keeps. Rules and bound decide how many kernels there are and what is
stored between them; the results stay those of the interpreter."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from support import expect, expect_exit, main, run, run_well, scratch
from test_module_text import make_inputs, outputs, read_npy, signature, to_floats

RECIPE = os.path.join(HERE, "..", "..", "data", "recipes", "matmul-softmax.yaml")
ROW = 12800 * 4  # bytes of a row of the product


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def report(path, *options):
    return json.loads(run_well("compile", path, "--dry-run", "--json", *options))


def explained(folder, path):
    artifact = os.path.join(folder, "explained.ingot")
    run_well("compile", path, "-o", artifact, "--cpu=x86-64-v3")
    return json.loads(run_well("explain", artifact, "--json"))


def part(document, name):
    return next(p["bytes"] for p in document["memory"]["parts"] if p["name"] == name)


def refused(path, code, *words):
    out = path + ".ingot"
    done = run("compile", path, "-o", out)
    expect_exit(done, code)
    message = done.stderr.decode()
    for word in words:
        expect(word in message, f"'{word}' is not in: {message}")
    expect(not os.path.exists(out), "something was written")


def check_one_kernel():
    """Atomic: one kernel, no buffer for the product, two rows of it per worker."""
    with scratch() as folder:
        document = report(RECIPE)
        expect(document["num_kernels"] == 1, document["kernels"])
        expect(document["kernels"][0]["scratch_bytes"] == 2 * ROW, document["kernels"])
        expect(part(document, "arena") < ROW, document["memory"])
        record = explained(folder, RECIPE)
        expect(record["summary"]["num_buffers"] == 0, record["summary"])
        expect(all(e["applied"] for e in record["edges"]), record["edges"])
        expect(record["kernels"][0]["scratch_bytes"] == 2 * ROW, record["kernels"])
        text = run_well("compile", RECIPE, "--dry-run").decode()
        expect(f"{2 * ROW} of scratch per worker" in text, text)


def check_bound():
    """At the need it compiles; one byte less is refused with the number, or parted where that is
    allowed: then no kernel keeps more than the bound."""
    with scratch() as folder:
        def bounded(name, size, rule="atomic: true"):
            text = re.sub(r"max_scratch_bytes: \d+", f"max_scratch_bytes: {size}", text_of(RECIPE))
            return write(folder, name, text.replace("atomic: true", rule))

        expect(report(bounded("at.yaml", 2 * ROW))["num_kernels"] == 1, "not at the need")
        low = bounded("low.yaml", 2 * ROW - 1)
        line = text_of(low).split("\n").index("  - {pattern: matmul_softmax, atomic: true}") + 1
        refused(low, 1, f"low.yaml:{line}:", "P0061", f"would keep {2 * ROW} bytes per worker",
                f"allows {2 * ROW - 1}", f"max_scratch_bytes: {2 * ROW}")
        refused(bounded("lower.yaml", 40000), 1, "P0061", f"would keep {ROW} bytes")
        for size in (2 * ROW - 1, 40000):
            document = report(bounded("allow.yaml", size, "mode: allow"))
            expect(document["num_kernels"] > 1, document["kernels"])
            expect(all(k["scratch_bytes"] <= size for k in document["kernels"]), document["kernels"])
        record = explained(folder, bounded("allow.yaml", 40000, "mode: allow"))
        expect(any(e["reason"] == "capacity" for e in record["edges"]), record["edges"])


def check_bound_of_what_cannot_be_parted():
    """A tensor that every kernel which reads it makes for itself."""
    kind = "tensor<8x1024xf32>"
    text = f"""version: 1
model_name: m
subgraph:
  text: |
    func.func @main(%x: {kind}, %s: f32) -> {kind} {{
      %c = arith.constant 1.5 : f32
      %e = tensor.empty() : tensor<1024xf32>
      %f = linalg.fill ins(%c : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
      %o = tensor.empty() : {kind}
      %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
          iterator_types = ["parallel", "parallel"]}} ins(%x, %f : {kind}, tensor<1024xf32>) outs(%o : {kind}) {{
      ^bb0(%a: f32, %b: f32, %d: f32):
        %p = arith.mulf %a, %b : f32
        linalg.yield %p : f32
      }} -> {kind}
      return %y : {kind}
    }}
memory_optimization: {{max_scratch_bytes: BOUND}}
""".replace(", %s: f32", "")
    with scratch() as folder:
        refused(write(folder, "r.yaml", text.replace("BOUND", "4095")), 4, "P0044", "4096 bytes",
                "max_scratch_bytes: 4096")
        report(write(folder, "r.yaml", text.replace("BOUND", "4096")))


def check_rule_off():
    """Forbidden, the product is stored: one buffer, written and read."""
    with scratch() as folder:
        path = write(folder, "off.yaml", text_of(RECIPE).replace("atomic: true", "enabled: false"))
        record = explained(folder, path)
        expect(record["summary"]["num_buffers"] == 1, record["summary"])
        expect(record["summary"]["buffer_bytes"] == 32 * ROW, record["summary"])
        apart = [e for e in record["edges"] if not e["applied"]]
        expect(apart and all(e["reason"] == "user" and e["pattern"] == "matmul_softmax" for e in apart), apart)
        expect(all(e["recipe"].startswith("recipe:") for e in apart), apart)


def check_forbidden_pair_in_one_kernel():
    """A kernel that joins what the rule forbids is refused, whoever made it: here, an edited dump."""
    with scratch() as folder:
        path = write(folder, "r.yaml", text_of(RECIPE).replace("atomic: true", "mode: allow"))
        run_well("compile", path, "--cpu=x86-64-v3", "--dry-run", "--dump-ir-after=outline-kernels",
                 f"--dump-dir={folder}")
        name = next(n for n in os.listdir(folder) if n.endswith("outline-kernels.mlir"))
        text = text_of(os.path.join(folder, name))
        dump = write(folder, "edited.mlir", text.replace('mode = "allow"', 'mode = "forbid"'))
        done = run("compile", path, "--dry-run", f"--resume-from={dump}")
        expect_exit(done, 1)
        expect("P0061" in done.stderr.decode() and "are one kernel" in done.stderr.decode(), done.stderr)


def close(folder, recipe, artifact_name):
    """The artifact's results, for one and for two threads, against the interpreter's.

    Products of two f16 are exact in f32. A sum of K = 96 of at most 1/4 is off by at most
    K 2^-24 (K / 4) = 1.4e-4 in each of two orders, which moves numerator and denominator of a
    softmax by that much each: 5.6e-4 in all. exp, sum and division add less than 200 2^-23.
    Rounding to f16 then gives neighbours at most: 2^-10 of the value."""
    artifact = os.path.join(folder, artifact_name)
    level_1 = write(folder, "level1.mlir", run_well("compile", recipe, "--emit-ir=1").decode())
    run_well("compile", recipe, "-o", artifact)
    arguments, results = signature(artifact)
    inputs = make_inputs(folder, arguments, 3)
    want, wanted = outputs(folder, results, "interpreted", "--result")
    run_well("opt", level_1, "--run", *inputs, *want)
    for threads in (1, 2):
        got, paths = outputs(folder, results, f"compiled{threads}")
        run_well("run", artifact, *inputs, *got, f"--threads={threads}")
        kind, shape, values = read_npy(paths[0])
        other_kind, other_shape, other = read_npy(wanted[0])
        expect((kind, shape) == (other_kind, other_shape), f"{kind}{shape}, {other_kind}{other_shape}")
        for a, b in zip(to_floats(kind, values), to_floats(kind, other)):
            expect(abs(a - b) <= (2.0 ** -10 + 6e-4 + 200 * 2.0 ** -23) * max(a, b), f"{a} and {b}")
        expect(abs(sum(to_floats(kind, values)) - shape[-2]) < 0.1, "rows do not add up to 1")


def small_recipe():
    return text_of(RECIPE).replace("12800", "200").replace("4096", "96").replace("1x32x", "1x5x")


TRANSPOSED = """version: 1
model_name: transposed
subgraph:
  text: |
    func.func @main(%x: tensor<5x96xf16>, %w: tensor<48x96xf16>) -> tensor<5x48xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<5x48xf32>
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
      %m = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
          ins(%x, %w : tensor<5x96xf16>, tensor<48x96xf16>) outs(%z : tensor<5x48xf32>) -> tensor<5x48xf32>
      %r = linalg.softmax dimension(1) ins(%m : tensor<5x48xf32>) outs(%e : tensor<5x48xf32>) -> tensor<5x48xf32>
      return %r : tensor<5x48xf32>
    }
fusion_rules:
  - {pattern: matmul_softmax, mode: MODE}
"""


def check_results():
    with scratch() as folder:
        text = small_recipe()
        for name, change in (("atomic", ("x", "x")), ("off", ("atomic: true", "enabled: false")),
                             ("parted", ("131072", "64"))):
            path = write(folder, name + ".yaml", text.replace(*change) if name != "parted" else
                         text.replace(*change).replace("atomic: true", "mode: allow"))
            close(folder, path, name + ".ingot")
        for mode in ("require", "allow", "forbid"):
            path = write(folder, f"{mode}.yaml", TRANSPOSED.replace("MODE", mode))
            expect((report(path)["num_kernels"] == 1) == (mode == "require"), report(path)["kernels"])
            close(folder, path, mode + ".ingot")


def elementwise(result, first, second, op):
    kind = "tensor<64x48xf32>"
    return f"""  {result} = linalg.generic {{indexing_maps = [#same, #same, #same], iterator_types = ["parallel", "parallel"]}}
    ins({first}, {second} : {kind}, {kind}) outs(%e : {kind}) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %r = {op} %p, %q : f32
    linalg.yield %r : f32
  }} -> {kind}
"""


CHAIN = "#same = affine_map<(i, j) -> (i, j)>\n" + """func.func @main(%x: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
""" + elementwise("%a", "%x", "%x", "arith.mulf") + elementwise("%b", "%a", "%x", "arith.subf") + \
    elementwise("%c", "%b", "%a", "arith.divf") + "  return %c : tensor<64x48xf32>\n}\n"


def check_module_beside():
    """A recipe that names the file, as YAML and as JSON: the rule decides what is stored."""
    with scratch() as folder:
        write(folder, "chain.mlir", CHAIN)
        bytes_of = {}
        for mode in ("allow", "require", "forbid"):
            recipe = {"version": 1, "model_name": "chain", "subgraph": {"file": "chain.mlir"},
                      "fusion_rules": [{"pattern": "elementwise", "mode": mode}]}
            record = explained(folder, write(folder, mode + ".json", json.dumps(recipe)))
            bytes_of[mode] = (record["summary"]["num_buffers"], record["summary"]["buffer_bytes"],
                              record["summary"]["stake_bytes"])
        size = 64 * 48 * 4
        expect(bytes_of["allow"] == bytes_of["require"] == (0, 0, 0), bytes_of)
        expect(bytes_of["forbid"] == (2, 2 * size, 3 * 2 * size), bytes_of)
        inline = {"version": 1, "model_name": "chain", "subgraph": {"text": CHAIN}}
        expect(report(write(folder, "inline.json", json.dumps(inline)))["num_kernels"] == 1, "inline")
        again = write(folder, "again.yaml", "version: 1\nmodel_name: m\nsubgraph: {file: chain.mlir}\n"
                      "fusion_rules: [{pattern: matmul_bias, atomic: true}]\n")
        refused(again, 1, "P0061", "no candidate")


def calls_and_reasons(dump):
    """Of the outlined module: results of kernels that other kernels read, by kernel."""
    body = dump[dump.index("func.func @"):]
    body = body[:body.index("\n  }")]
    calls = re.findall(r"(%\w+)(?::\d+)? = func\.call @(\w+)\(([^)]*)\)", body)
    makers = {value: kernel for value, kernel, _ in calls}
    views = dict(re.findall(r"(%\w+) = tensor\.\w+_?\w* (%\w+)", body))
    pairs = set()
    for _, kernel, operands in calls:
        for operand in re.findall(r"%\w+", operands):
            while operand in views:
                operand = views[operand]
            if operand in makers:
                pairs.add((makers[operand], kernel))
    return pairs


def check_every_edge_has_a_record():
    """Each value between two kernels of each module of ours: a record with its reasons, what they
    are about and what to write; each kernel: what it wanted, what it got, and why not."""
    modules = os.path.join(HERE, "modules")
    num = 0
    with scratch() as folder:
        for name in sorted(os.listdir(modules)):
            path, dumps = os.path.join(modules, name), os.path.join(folder, name)
            record = explained(folder, path)
            run_well("compile", path, "--cpu=x86-64-v3", "--dry-run", "--dump-ir-after=hold-fusion",
                     f"--dump-dir={dumps}")
            wanted = calls_and_reasons(text_of(os.path.join(dumps, os.listdir(dumps)[0])))
            apart = [e for e in record["edges"] if not e["applied"]]
            known = {tuple(e[end]["op"].split(":")[0].lstrip("@") for end in ("producer", "consumer"))
                     for e in apart}
            expect(known == wanted, f"{name}: edges {known}, calls {wanted}")
            for edge in apart:
                expect(edge["reason"] and edge["reason"] == edge["reasons"][0]["reason"], edge)
                expect(all(r["detail"] and r["meaning"] and r["write"] for r in edge["reasons"]), edge)
            expect(record["access"] and record["kernels"], name)
            for kernel in record["kernels"]:
                expect(kernel["wanted"] and kernel["got"], kernel)
                expect((kernel["got"] == "scalar") <= bool(kernel["fallback"]), kernel)
            num += len(record["edges"])
    return f"{num} edges"


def check_refusals():
    with scratch() as folder:
        text = text_of(RECIPE)
        faulty = text.replace("arith.extf %a", "arith.ext %a")
        line = next(i + 1 for i, t in enumerate(faulty.split("\n")) if "arith.ext %a" in t)
        refused(write(folder, "op.yaml", faulty), 3, f"op.yaml:{line}:", "I0002", "arith.extf")
        faulty = json.dumps({"version": 1, "model_name": "m", "subgraph": {"text": "\nnonsense"}})
        refused(write(folder, "op.json", faulty), 3, "op.json:subgraph.text:2:")
        refused(write(folder, "scope.yaml", text + "precision: {activations: f32}\n"), 3, "R0012",
                "precision.activations")
        refused(write(folder, "twice.yaml", text.replace("  text: |", "  file: a.mlir\n  text: |")), 3,
                "R0011", "twice.yaml:")
        refused(write(folder, "none.yaml", "version: 1\nmodel_name: m\nsubgraph: {file: none.mlir}\n"), 6,
                "none.mlir")
        done = run("compile", RECIPE, "-o", RECIPE)
        expect_exit(done, 2)


if __name__ == "__main__":
    main(globals())
