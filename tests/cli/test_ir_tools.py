#!/usr/bin/env python3
"""What takes IR text apart: reduce, diff-ir, text for comparing."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, expect_exit, main, run, run_well, scratch

CONFIG = ('ingot.config = {activations = "f32", buckets = [1, 8], kv = "f32", max_pages = 4 : i64, '
          'page_len = 16 : i64, threads = 1 : i64}')
MODULE = """module attributes {%s} {
  func.func private @helper(%%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %%e = tensor.empty() : tensor<4x8xf32>
    %%r = linalg.softmax dimension(1) ins(%%x : tensor<4x8xf32>) outs(%%e : tensor<4x8xf32>)
        -> tensor<4x8xf32>
    return %%r : tensor<4x8xf32>
  }
  func.func @f(%%a: tensor<4x8xf32>, %%b: tensor<?x?xf32>, %%n: index)
      -> (tensor<4x8xf32>, tensor<?x?xf32>) {
    %%c = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>
    %%e = tensor.empty() : tensor<4x8xf32>
    %%h = func.call @helper(%%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %%s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                                          affine_map<(i, j) -> (i, j)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%%h, %%c : tensor<4x8xf32>, tensor<8xf32>) outs(%%e : tensor<4x8xf32>) {
    ^bb0(%%x: f32, %%y: f32, %%o: f32):
      %%0 = arith.mulf %%x, %%y : f32
      linalg.yield %%0 : f32
    } -> tensor<4x8xf32>
    return %%s, %%b : tensor<4x8xf32>, tensor<?x?xf32>
  }
}
""" % CONFIG


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def check_reduce_by_pipeline():
    with scratch() as folder:
        path, small = write(folder, "m.mlir", MODULE), os.path.join(folder, "small.mlir")
        pipeline = "--pipeline=bind-recipe,refine-shapes"
        before = run("opt", path, pipeline)
        expect_exit(before, 3)
        done = run("reduce", path, pipeline, "-o", small)
        expect_exit(done, 0)
        with open(small, encoding="utf-8") as source:
            text = source.read()
        expect("softmax" not in text and "generic" not in text and "?x?" in text, text)
        expect(len(text.splitlines()) <= 6, text)
        after = run("opt", small, pipeline)
        expect_exit(after, 3)
        expect(b"P0004" in before.stderr and b"P0004" in after.stderr, after.stderr)
        again = run_well("reduce", path, pipeline).decode()
        expect(again == text, "the same text twice")


def check_reduce_by_command():
    with scratch() as folder:
        path = write(folder, "m.mlir", MODULE)
        text = run_well("reduce", path, "--test=grep -q arith.mulf").decode()
        expect("arith.mulf" in text and "softmax" not in text and "4x8" not in text, text)
        expect(len(text.splitlines()) <= 14, text)


def check_reduce_refuses():
    with scratch() as folder:
        path = write(folder, "m.mlir", MODULE)
        done = run("reduce", path, "--pipeline=bind-recipe")
        expect_exit(done, 1)
        expect(b"P0051" in done.stderr, done.stderr)
        expect_exit(run("reduce", path), 2)
        expect_exit(run("reduce", path, "--pipeline=nosuch"), 2)
        done = run("reduce", path, "--pipeline=canonicalize", "-o", os.path.join(folder, "small.mlir"))
        expect_exit(done, 3)
        expect(b"P0001" in done.stderr and not os.path.exists(os.path.join(folder, "small.mlir")), done.stderr)


def check_pipelines_of_the_help_are_in_order():
    with scratch() as folder:
        path = write(folder, "m.mlir", MODULE)
        pipelines = re.findall(r"--pipeline=([a-z,-]+)", run_well("opt", "--help").decode() + run_well("reduce", "--help").decode())
        expect(len(pipelines) > 2, pipelines)
        for pipeline in pipelines:
            done = run("opt", path, "--pipeline=" + pipeline)
            expect(b"P0001" not in done.stderr, f"{pipeline}: {done.stderr.decode()}")


def check_stable_ids_survive_an_insertion():
    with scratch() as folder:
        path = write(folder, "m.mlir", MODULE)
        more = MODULE.replace("    %h = func.call", "    %t = arith.constant 7 : index\n"
                              "    %h = func.call").replace("tensor<?x?xf32>\n  }",
                                                            "tensor<?x?xf32>\n  }")
        longer = write(folder, "l.mlir", more)
        old = run_well("opt", path, "--stable-ids").decode().splitlines()
        new = run_well("opt", longer, "--stable-ids").decode().splitlines()
        added = [line for line in new if line not in old]
        expect(len(new) == len(old) + 1 and len(added) == 1 and "constant 7" in added[0], added)
        plain = run_well("opt", path)
        renamed = write(folder, "r.mlir", "\n".join(old) + "\n")
        expect(run_well("opt", renamed) == plain, "only names differ")


def check_constants_are_elided():
    numbers = ", ".join(f"{i}.5" for i in range(17))
    text = f"func.func @f() -> tensor<17xf32> {{\n  %0 = arith.constant dense<[{numbers}]> : " \
           "tensor<17xf32>\n  return %0 : tensor<17xf32>\n}\n"
    out = run_well("opt", "--elide-constants", stdin=text.encode()).decode()
    expect("dense_resource<__elided__> : tensor<17xf32>" in out and "16.5" not in out, out)


def check_diff_ir():
    with scratch() as folder:
        a = write(folder, "a.mlir", MODULE)
        same = write(folder, "s.mlir", run_well("opt", a, "--stable-ids").decode())
        done = run("diff-ir", a, same)
        expect_exit(done, 0)
        expect(done.stdout == b"", done.stdout)
        b = write(folder, "b.mlir", MODULE.replace("arith.mulf", "arith.addf")
                  .replace("dimension(1)", "dimension(0)"))
        done = run("diff-ir", a, b, "--json")
        expect_exit(done, 1)
        found = json.loads(done.stdout)
        kinds = {(d["in"], d["what"]) for d in found["differences"]}
        expect(("helper", "changed") in kinds and ("f", "added") in kinds and
               ("f", "removed") in kinds, kinds)
        softmax = [d for d in found["differences"] if d["in"] == "helper"]
        expect(len(softmax) == 1 and "dimension(1)" in softmax[0]["a"] and
               "dimension(0)" in softmax[0]["b"], softmax)
        c = write(folder, "c.mlir", MODULE.replace("@helper", "@other"))
        text = run("diff-ir", a, c).stdout.decode()
        expect("helper: removed" in text and "other: added" in text, text)


main(globals())
