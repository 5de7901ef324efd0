#!/usr/bin/env python3
"""A level-1 module, as imported, in MLIR's own runner: lowered by stock passes alone, it answers as the
artifact does. Skipped where mlir-opt-22 and mlir-runner-22 are not installed."""
import json
import math
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import Skip, expect, main, run_well, scratch
from tiny_model import make_model

PAGE, PAGES = 16, 2
RECIPE_TEXT = f"""version: 1
model_name: tiny
precision: {{weights: as_stored, activations: f32, kv_cache: f32}}
input_constraints:
  seq_len: {{min: 1, max: 8, step: 8}}
  kv_cache_seq_len: {{max: {PAGE * PAGES}}}
targets:
  - {{arch: x86_64, cpu: x86-64-v3, threads: 1}}
memory_optimization: {{kv_cache_page_size: {PAGE}}}
"""
IDS = [4, 40, 200, 7, 100]
SHAPE = {"layers": 1, "dim": 32, "ffn": 64, "heads": 4, "kv_heads": 2, "weights": "F32"}
# linalg.softmax has no lowering of its own: this library expands it.
SOFTMAX = """module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %s = transform.structured.match ops{["linalg.softmax"]} in %m : (!transform.any_op) -> !transform.any_op
    transform.foreach %s : !transform.any_op {
    ^bb0(%op: !transform.any_op):
      %d = transform.structured.decompose_interface %op : (!transform.any_op) -> !transform.any_op
    }
    transform.yield
  }
}
"""
LOWERING = """--one-shot-bufferize=bufferize-function-boundaries allow-return-allocs-from-loops function-boundary-type-conversion=identity-layout-map
--convert-linalg-to-loops --convert-bufferization-to-memref --lower-affine --convert-scf-to-cf
--expand-strided-metadata --lower-affine --convert-math-to-llvm --convert-math-to-libm
--convert-arith-to-llvm --convert-index-to-llvm --finalize-memref-to-llvm --convert-cf-to-llvm
--convert-func-to-llvm --reconcile-unrealized-casts"""


def lowering_options():
    first, *rest = LOWERING.split("\n")
    return [first] + " ".join(rest).split()


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f"{name} is not installed")
    return path


def runner_library():
    for folder in ("/usr/lib/llvm-22/lib", "/usr/lib/x86_64-linux-gnu"):
        for ending in (".so", ".so.22.1"):
            path = os.path.join(folder, "libmlir_runner_utils" + ending)
            if os.path.exists(path):
                return path
    raise Skip("libmlir_runner_utils is not installed")


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def dense(rows):
    """Nested lists as the text of a dense attribute; floats by their bits."""
    if isinstance(rows, list):
        return "[" + ", ".join(map(dense, rows)) + "]"
    return str(rows) if isinstance(rows, int) else f"0x{struct.unpack('<I', struct.pack('<f', rows))[0]:08X}"


def rope_table(function, shape, head_dim):
    return [[f32(function(position * 10000.0 ** (-2 * i / head_dim))) for i in range(shape[1])]
            for position in range(shape[0])]


def shape_of(kind):
    return [int(size) for size in re.findall(r"(\d+)x", kind)]


def constant(kind, attributes, reference):
    """The value of an argument of @forward, as text of a dense attribute."""
    name = re.search(r'ingot\.param = "([^"]+)"', attributes)
    if not name:
        if "ingot.kv" in attributes:
            return "dense<0.000000e+00>"
        return f"dense<{dense([PAGES - 1 - i for i in range(PAGES)])}>"
    if name[1].startswith("rope."):
        function = math.cos if name[1] == "rope.cos" else math.sin
        return f"dense<{dense(rope_table(function, shape_of(kind), reference.head_dim))}>"
    return f"dense<{dense(reference.tensors[name[1]])}>"


def with_main(text, reference):
    """The module with a @main that calls @forward once and prints the logits."""
    signature = re.search(r"func\.func @forward\((.*?)\) -> \((.*?)\)(?: attributes \{.*?\})? \{\n", text)
    expect(signature, "the module has @forward")
    arguments = re.findall(r"%\w+: (tensor<[^>]*>|index)( \{[^}]*\})?", signature[1])
    body, names, kinds = [], [], []
    for i, (kind, attributes) in enumerate(arguments):
        if kind == "index":
            body.append(f"%a{i} = arith.constant 0 : index")
        elif "?" in kind:
            body.append(f"%ids = arith.constant dense<{dense(IDS)}> : tensor<{len(IDS)}xi32>")
            body.append(f"%a{i} = tensor.cast %ids : tensor<{len(IDS)}xi32> to {kind}")
        else:
            body.append(f"%a{i} = arith.constant {constant(kind, attributes, reference)} : {kind}")
        names.append(f"%a{i}")
        kinds.append(kind)
    results = re.findall(r"tensor<[^>]*>", signature[2])
    logits, memref = results[0], results[0].replace("tensor", "memref")
    body.append(f"%r:{len(results)} = func.call @forward({', '.join(names)}) : ({', '.join(kinds)}) -> "
                f"({', '.join(results)})")
    body.append(f"%m = bufferization.to_buffer %r#0 : {logits} to {memref}")
    body.append(f"%u = memref.cast %m : {memref} to memref<*xf32>")
    body.append("func.call @printMemrefF32(%u) : (memref<*xf32>) -> ()")
    function = ("  func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}\n"
                "  func.func @main() {\n    " + "\n    ".join(body) + "\n    return\n  }\n")
    end = text.rindex("}")
    return text[:end] + function + text[end:]


def stock_output(folder, text, entry):
    """What a function of the module prints, lowered by stock passes and run by MLIR's own runner."""
    optimizer, runner, library = tool("mlir-opt-22"), tool("mlir-runner-22"), runner_library()
    source, softmax = os.path.join(folder, "source.mlir"), os.path.join(folder, "softmax.mlir")
    lowered = os.path.join(folder, "lowered.mlir")
    for path, content in ((source, text), (softmax, SOFTMAX)):
        with open(path, "w", encoding="utf-8") as out:
            out.write(content)
    done = subprocess.run([optimizer, source, "--verify-each",
                           f"--transform-preload-library=transform-library-paths={softmax}",
                           "--transform-interpreter", *lowering_options(), "-o", lowered],
                          capture_output=True, text=True, timeout=300, check=False)
    expect(done.returncode == 0, done.stderr[:800])
    libraries = ",".join([library, library.replace("mlir_runner", "mlir_c_runner")])
    done = subprocess.run([runner, lowered, "-e", entry, "-entry-point-result=void", f"-shared-libs={libraries}"],
                          capture_output=True, text=True, timeout=300, check=False)
    expect(done.returncode == 0, done.stderr[:800])
    return done.stdout


def stock_logits(folder, text):
    printed = stock_output(folder, text, "main")
    return [float(number) for number in re.findall(r"[-+0-9.e]+", printed[printed.index("data ="):])]


def check_stock_runner_answers_as_the_artifact():
    tool("mlir-runner-22")
    with scratch() as folder:
        model, recipe = os.path.join(folder, "m.gguf"), os.path.join(folder, "r.yaml")
        artifact, prompts = os.path.join(folder, "m.ingot"), os.path.join(folder, "p.json")
        answers = os.path.join(folder, "a.json")
        reference = make_model(model, **SHAPE)
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(RECIPE_TEXT)
        with open(prompts, "w", encoding="utf-8") as out:
            json.dump([{"name": "p", "ids": IDS}], out)
        text = run_well("compile", recipe, "--model", model, "--emit-ir=1").decode()
        logits = stock_logits(folder, with_main(text, reference))
        run_well("compile", recipe, "--model", model, "-o", artifact)
        run_well("eval", artifact, "--prompts", prompts, "--topk", str(len(logits)), "-o", answers)
        with open(answers, encoding="utf-8") as source:
            ours = dict(map(tuple, json.load(source)[0]["top"]))
        expect(len(ours) == len(logits), f"{len(ours)} and {len(logits)} tokens")
        top = max(logits)
        total = top + math.log(math.fsum(math.exp(v - top) for v in logits))
        largest = max(map(abs, logits))
        worst = max(abs(v - total - ours[i]) for i, v in enumerate(logits))
        # 10 products of at most 64 terms, each within 64 * 2^-24 of its absolute sum, on either side; the
        # runner prints 6 digits, eval 7 decimals.
        bound = (2 * 10 * SHAPE["ffn"] * 2 ** -24 + 2e-6) * largest + 1e-7
        expect(worst <= bound, f"{worst} of {bound}")
        return f"{worst:.2g} of {bound:.2g}"


if __name__ == "__main__":
    main(globals())
