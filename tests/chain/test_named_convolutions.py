#!/usr/bin/env python3
"""Named convolutions and poolings of one, two and three directions, in every order of dimensions that MLIR names:
machine code answers as the interpreter does and as MLIR's own runner does with what stock passes make of the text.

Inputs are small whole numbers, so that sums are exact in whatever order they are made, and results equal to the bit."""
import json
import os
import random
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from support import expect, main, run_well, scratch, with_numpy

with_numpy("numpy")  # before the modules below: the test starts over where numpy is
from test_module_text import accept_dumps, count, outputs, read_npy, write_npy
from test_stock_modules import agree, need_numpy, np
from window_ops import GENERAL, KERNEL, window_case, window_ops

# What has a kernel in f32, onto zeros (a pooling onto anything), where channels fill vectors.
WITHOUT_KERNEL = re.compile(r"conv_\dd$|conv_3d|pooling_nd")


def module(names, sizes, elem):
    """One function: every op on arguments of its own, onto zeros."""
    arguments, lines, results = [], [f"  %zero = arith.constant {'0.0' if elem[0] == 'f' else '0'} : {elem}"], []
    for i, name in enumerate(names):
        (x, w), y, attributes = window_case(name, sizes, elem)
        arguments.append(f"%x{i}: {x}")
        if name.startswith("pooling_"):
            lines.append(f"  %w{i} = tensor.empty() : {w}")
        else:
            arguments.append(f"%w{i}: {w}")
        lines += [f"  %e{i} = tensor.empty() : {y}",
                  f"  %z{i} = linalg.fill ins(%zero : {elem}) outs(%e{i} : {y}) -> {y}",
                  f"  %y{i} = linalg.{name} {attributes} ins(%x{i}, %w{i} : {x}, {w}) outs(%z{i} : {y}) -> {y}"]
        results.append(y)
    values = ", ".join(f"%y{i}" for i in range(len(names)))
    return (f"func.func @main({', '.join(arguments)}) -> ({', '.join(results)}) {{\n" + "\n".join(lines) +
            f"\n  return {values} : {', '.join(results)}\n}}\n")


# Maps along one direction with padding around them, a sum per channel and a maximum behind: [n, w, c] and [n, c, w].
CHAIN = {
    "wc": ("2x9x8", "3x8x16", "2x11x8", "2x9x16", "2x4x16", "[0, 1, 0]", "conv_1d_nwc_wcf", "pooling_nwc_max", 2),
    "cw": ("2x8x9", "16x8x3", "2x8x11", "2x16x9", "2x16x4", "[0, 0, 1]", "conv_1d_ncw_fcw", "pooling_ncw_max", 1),
}


def chain(order):
    x, w, wide, y, small, pad, conv, pooling, channel = CHAIN[order]
    x, w, wide, y, small = (f"tensor<{shape}xf32>" for shape in (x, w, wide, y, small))
    return f"""#id = affine_map<(a, b, c) -> (a, b, c)>
#channel = affine_map<(a, b, c) -> ({'abc'[channel]})>
func.func @main(%x: {x}, %w: {w}, %bias: tensor<16xf32>) -> {small} {{
  %zero = arith.constant 0.0 : f32
  %around = tensor.pad %x low{pad} high{pad} {{
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  }} : {x} to {wide}
  %e = tensor.empty() : {y}
  %z = linalg.fill ins(%zero : f32) outs(%e : {y}) -> {y}
  %c = linalg.{conv} ins(%around, %w : {wide}, {w}) outs(%z : {y}) -> {y}
  %r = linalg.generic {{indexing_maps = [#id, #channel, #id], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%c, %bias : {y}, tensor<16xf32>) outs(%e : {y}) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  }} -> {y}
  %window = tensor.empty() : tensor<3xf32>
  %e1 = tensor.empty() : {small}
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : {small}) -> {small}
  %p = linalg.{pooling} {{strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}}
      ins(%r, %window : {y}, tensor<3xf32>) outs(%z1 : {small}) -> {small}
  return %p : {small}
}}
"""


def compiled_as_interpreted(text, accept=False):
    """The number of kernels of convolutions and windows that raise-convolutions made. accept: stock MLIR takes every
    dump (tests/chain/test_level1_ops.py asks it about all ops)."""
    with scratch() as folder:
        path, artifact, dumps = (os.path.join(folder, name) for name in ("m.mlir", "m.ingot", "ir"))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        run_well("compile", path, "--target=host", "-o", artifact, "--dump-ir-after=all", f"--dump-dir={dumps}")
        if accept:
            accept_dumps(dumps)
        entry = json.loads(run_well("inspect", artifact, "--json"))["entries"][0]
        generator, inputs = random.Random(1), []
        for argument in entry["arguments"]:
            npy = os.path.join(folder, argument["name"] + ".npy")
            numbers = [generator.randrange(-4, 5) for _ in range(count(argument["shape"]))]
            write_npy(npy, argument["type"], argument["shape"], numbers)
            inputs += ["--input", f"{argument['name']}={npy}"]
        want, wanted = outputs(folder, entry["results"], "interpreted", "--result")
        got, paths = outputs(folder, entry["results"], "compiled")
        run_well("opt", path, "--run", *inputs, *want)
        run_well("run", artifact, *inputs, *got)
        for result, ours, theirs in zip(entry["results"], paths, wanted):
            expect(read_npy(ours) == read_npy(theirs), f"{result['name']}: {read_npy(ours)}, {read_npy(theirs)}")
            expect(any(read_npy(ours)[2]), f"{result['name']} is all zero")
        raised = next(name for name in os.listdir(dumps) if name.endswith("-raise-convolutions.mlir"))
        with open(os.path.join(dumps, raised), encoding="utf-8") as file:
            return len(re.findall(r'ingot\.contract = "(?:conv|window)"', file.read()))


def halves():
    """A function has at most 64 arguments and results."""
    names = window_ops()
    expect(len(names) > 30, f"only {len(names)} ops were read from the table")
    return [[n for n in names if n.startswith("conv_")], [n for n in names if not n.startswith("conv_")]]


def check_with_kernels():
    kernels = 0
    for names in halves():
        found, wanted = compiled_as_interpreted(module(names, KERNEL, "f32")), [n for n in names if not WITHOUT_KERNEL.search(n)]
        expect(found == len(wanted), f"{found} kernels for {len(wanted)} ops that have one")
        kernels += found
    return f"{kernels} kernels"


def check_several_results_per_channel():
    """Eight fill a vector: the convolution in groups of one channel, without a copy of its input."""
    names = [n for n in window_ops() if n.endswith("cm") and "3d" not in n]
    kernels = compiled_as_interpreted(module(names, {**KERNEL, "m": 8}, "f32"))
    expect(len(names) == kernels == 2, f"{kernels} kernels of {names}")


def check_channels_that_fill_no_vector():
    for names in halves():
        compiled_as_interpreted(module(names, GENERAL, "f32"))


def check_whole_numbers():
    for names in halves():
        kernels = compiled_as_interpreted(module(names, KERNEL, "i32"))
        expect(kernels == 0, f"{kernels} kernels for whole numbers")


def check_one_direction_with_padding():
    for order in CHAIN:
        kernels = compiled_as_interpreted(chain(order), accept=True)
        expect(kernels == 2, f"{order}: {kernels} kernels")


def check_stock_runner():
    need_numpy()
    with scratch() as folder:
        path = os.path.join(folder, "m.mlir")
        with open(path, "w", encoding="utf-8") as file:
            file.write(module(window_ops(), KERNEL, "f32"))
        values = lambda arguments: {a["name"]: np.random.default_rng(i).integers(-4, 5, a["shape"]).astype(np.float32)
                                    for i, a in enumerate(arguments)}
        return agree(path, [], 0, values)


if __name__ == "__main__":
    main(globals())
