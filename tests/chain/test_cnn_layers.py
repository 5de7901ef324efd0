#!/usr/bin/env python3
"""Layers of convolutional networks one by one, from module text to machine code, on maps held channels-last and
channels-first: sizes that fill no tile, strides, dilations, groups, windows of unequal length. The reference is
float64 (tests/cnn_models.py, numpy)."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, Skip, expect, main, run, run_well, scratch, with_numpy

np, cnn_models = with_numpy("numpy", "cnn_models")

EPSILON = 2.0 ** -23


def both_orders(shape, build, terms, magnitude, *options):
    """`terms` roundings at most on the way to a result, of numbers of at most `magnitude` times the largest
    result: 2 eps of it each. The parameters are the same for both orders, and so are the sums."""
    if np is None:
        raise Skip("numpy is not installed")
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    worst = 0.0
    for first in (False, True):
        net = cnn_models.Net(shape, first=first)
        y = build(net, net.x)
        want = net.answer(y, x)
        with scratch() as folder:
            path = os.path.join(folder, "net")
            net.write(path, y)
            run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot", *options)
            np.save(path + ".x.npy", np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if first else x)
            run_well("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy")
            got = np.load(path + ".y.npy")
        got = got.transpose(0, 2, 3, 1) if first and got.ndim == 4 else got
        expect(got.shape == want.shape, f"a result of shape {got.shape} instead of {want.shape}")
        bound = 2 * EPSILON * terms * magnitude * np.abs(want).max()
        off = float(np.abs(got - want).max())
        expect(off <= bound, f"{'channels-first' if first else 'channels-last'}: off by {off:.3g}, bound {bound:.3g}")
        worst = max(worst, off / bound if bound else 0.0)
    return f"off by {worst:.2g} of the bound"


def one_conv(shape, k, r, **options):
    c = shape[3] // options.get("groups", 1)
    size = r * r if isinstance(r, int) else r[0] * r[1]
    terms = size * (1 if options.get("depthwise") else c)
    return both_orders(shape, lambda net, x: net.conv(x, k, r, **options), terms, 1)


def check_conv_odd_sizes():
    return one_conv((2, 7, 9, 5), 13, 3)


def check_conv_pointwise():
    return one_conv((1, 5, 11, 24), 40, 1)


def check_conv_pointwise_stride():
    return one_conv((2, 9, 7, 16), 32, 1, stride=2, pad=0)


def image_orders(shape, k):
    """by_image of every convolution of one layer, on a machine with 1 MB of second-level cache per core."""
    net, machine = cnn_models.Net(shape), os.path.join(ROOT, "data", "targets", "epyc-9654.yaml")
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, net.conv(net.x, k, 3))
        report = json.loads(run_well("compile", path + ".mlir", "--model", path + ".gguf", "--dry-run", "--json",
                                     f"--target-file={machine}"))
    return {kernel["candidates"][0].get("by_image", 0)
            for level in report["predicted"] for kernel in level["schedules"] if kernel["kernel"].startswith("conv")}


def check_conv_of_odd_channels_and_large_weights():
    """The last tile of weights is filled with zeros when they are made: 592 KB of them."""
    return one_conv((1, 5, 6, 130), 130, 3)


def check_residual_of_odd_channels():
    """Maps of 88 KB an image, and of 33 channels, which fill no tile."""
    def build(net, x):
        c = net.conv(net.relu(net.conv(x, 33, 3)), 33, 3)
        return net.relu(net.add(c, x))
    return both_orders((3, 26, 29, 33), build, 2 * 9 * 33 + 2, 2)


def check_conv_image_by_image():
    """3 MB of images are more than half the second-level cache, 147 KB of weights are not; 0.3 MB and 1.2 MB."""
    if np is None:
        raise Skip("numpy is not installed")
    expect(image_orders((24, 20, 20, 64), 64) == {1}, "images that do not fit are read once per group")
    expect(image_orders((24, 7, 7, 64), 512) == {0}, "weights that do not fit are read once per image")
    expect(image_orders((1, 20, 20, 64), 64) == {0}, "one image has no order")
    return one_conv((24, 20, 20, 64), 64, 3)


def machine_with(path, l2_bytes):
    """A machine with AVX2 and this second cache, written to path."""
    with open(os.path.join(ROOT, "data", "targets", "x86-64-v3.yaml"), encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("bytes: [262144, T]", f"bytes: [{l2_bytes}, T]"))


def check_conv_in_bands():
    """Where a group's weights do not fit the second cache, sums stay in memory while one block of input channels
    after the other is added: chosen for that reason only, and the sums are the same to the bit."""
    if np is None:
        raise Skip("numpy is not installed")
    def grouped(net, x):
        return net.relu(net.conv(x, 64, 3, groups=2))
    def chain(net, x):
        return net.add(net.block(net.block(x, 64, 3), 64, 3), x)
    layers = [((2, 13, 17, 64), lambda net, x: net.block(x, 48, 3, stride=2), 10 * 64),
              ((2, 7, 7, 96), lambda net, x: net.relu(net.conv(x, 80, 3)), 9 * 96),
              ((1, 9, 6, 64), lambda net, x: net.conv(x, 32, (5, 3), dilation=2), 15 * 64),
              ((2, 12, 14, 160), grouped, 9 * 80), ((1, 14, 14, 64), chain, 20 * 64)]
    for shape, build, terms in layers:
        net = cnn_models.Net(shape)
        y = build(net, net.x)
        x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
        want, results, bands = net.answer(y, x), [], []
        with scratch() as folder:
            path = os.path.join(folder, "net")
            net.write(path, y)
            np.save(path + ".x.npy", x)
            for l2_bytes in (16 << 10, 16 << 20):
                machine_with(path + ".yaml", l2_bytes)
                run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot",
                         f"--target-file={path}.yaml")
                run_well("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy")
                results.append(np.load(path + ".y.npy"))
                report = json.loads(run_well("explain", path + ".ingot", "--json"))
                bands.append([kernel["candidates"][0].get("band", 0) for level in report["schedules"]
                              for kernel in level["kernels"] if kernel["kernel"].startswith("conv")])
        expect(bands[0] and all(band > 1 for band in bands[0]), f"{shape}: bands {bands[0]} where they spare a cache")
        expect(not any(bands[1]), f"{shape}: bands {bands[1]} where the second cache holds the weights")
        expect((results[0] == results[1]).all(), f"{shape}: bands change the sums")
        off, bound = np.abs(results[0] - want).max(), 4 * EPSILON * terms * np.abs(want).max()
        expect(off <= bound, f"{shape}: off by {off:.3g}, bound {bound:.3g}")


def check_schedules_that_no_code_has():
    """Numbers of a dump's schedule that say nothing of its kernel are refused, not ignored."""
    net = cnn_models.Net((1, 6, 6, 32))
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, net.dense(net.global_average(net.max_pool(net.conv(net.x, 32, 3), 2, 2)), 8))
        run_well("compile", path + ".mlir", "--model", path + ".gguf", "--dump-ir-after=loop-schedule",
                 "--cpu=x86-64-v3", "--dump-dir", folder, "-o", path + ".ingot")
        (dump,) = [name for name in os.listdir(folder) if name.endswith("-loop-schedule.mlir")]
        with open(os.path.join(folder, dump), encoding="utf-8") as file:
            text = file.read()
        kernels = re.findall(r"func\.func private @(\w+)\(.*ingot\.schedule = \{([^}]*)\}", text)
        expect({name.rstrip("_0123456789") for name, _ in kernels} == {"conv", "matmul"}, kernels)
        for name, numbers in kernels:
            for more in ("band = 2", "band = 0", "band = 65", "by_image = 1", "by_image = 2"):
                edited = os.path.join(folder, "edited.mlir")
                line = next(line for line in text.splitlines() if f"func.func private @{name}(" in line)
                with open(edited, "w", encoding="utf-8") as file:
                    file.write(text.replace(line, line.replace(f"ingot.schedule = {{{numbers}}}",
                                                               f"ingot.schedule = {{{more} : i64, {numbers}}}")))
                done = run("opt", edited, "--pipeline=vectorize")
                is_sum = name == "conv" and more in ("band = 2", "by_image = 1")
                is_window = name != "conv" and name.startswith("conv") and more == "by_image = 1"
                expect(done.returncode == 0 if is_sum or is_window
                       else done.returncode != 0 and b"ingot.schedule" in done.stderr, f"{name} {more}: {done.stderr}")


def check_inputs_that_take_registers():
    """Where no operation takes an input from memory into all lanes, the tile of many rows of one vector is dearer and
    not the cheapest, and has its sums added to once a turn: they would not stay in their registers."""
    with open(os.path.join(ROOT, "data", "targets", "x86-64-v3.yaml"), encoding="utf-8") as file:
        machine = file.read()
    net, seen = cnn_models.Net((1, 28, 28, 128)), []
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, net.conv(net.x, 64, 3))
        free = "".join(line for line in machine.splitlines(True) if not re.match(" *(broadcast|lost):", line))
        for text in (machine, free):
            with open(path + ".yaml", "w", encoding="utf-8") as file:
                file.write(text)
            report = json.loads(run_well("compile", path + ".mlir", "--model", path + ".gguf", "--dry-run", "--json",
                                         f"--target-file={path}.yaml"))
            (kernel,) = [k for k in report["predicted"][0]["schedules"] if k["kernel"] == "conv"]
            (tall,) = [c for c in kernel["candidates"]
                       if (c["row_tile"], c["col_tile"]) == (14, 1) and "band" not in c]
            seen.append((tall["clocks"], tall.get("unroll", 1)))
            expect(tall is not kernel["candidates"][0], f"{text}: a load for every multiply-add is chosen")
    expect([unroll for _, unroll in seen] == [1, 2] and seen[0][0] > 1.1 * seen[1][0], seen)


def side_by_side(channels, levels):
    """By level: the most output channels of a schedule, which are those that lie side by side in the weights."""
    net = cnn_models.Net((1, 14, 14, channels))
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, net.conv(net.x, 64, 1))
        run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot", "--cpu=" + levels)
        report = json.loads(run_well("explain", path + ".ingot", "--json"))
    return [max(c["lanes"] * c.get("col_tile", 1) for c in kernel["candidates"])
            for level in report["schedules"] for kernel in level["kernels"] if kernel["kernel"].startswith("conv")]


def check_conv_of_weights_beyond_the_first_cache():
    """64 KB of weights for 32 channels are read from the second cache once per row, and twice where a register tile
    takes half of every line: only 16 lie side by side, unless there are vectors of 16. 32 KB stay in the first."""
    if np is None:
        raise Skip("numpy is not installed")
    seen = [side_by_side(*case) for case in ((512, "x86-64-v3"), (256, "x86-64-v3"), (512, "x86-64-v4"),
                                             (512, "x86-64-v3,x86-64-v4"))]
    expect(seen == [[16], [32], [32], [32, 32]], f"channels side by side: {seen}")
    return one_conv((2, 7, 9, 520), 48, 1)


def check_conv_stride_of_two_kinds():
    return one_conv((1, 13, 17, 8), 16, 3, stride=(2, 3))


def check_conv_dilation():
    return one_conv((1, 15, 13, 8), 24, 3, dilation=2)


def check_conv_dilation_of_two_kinds():
    return one_conv((1, 17, 11, 6), 16, 3, dilation=(3, 1), stride=(1, 2))


def check_conv_wide_window():
    return one_conv((1, 9, 20, 4), 8, (1, 7))


def check_conv_without_padding():
    return one_conv((2, 8, 8, 3), 8, 5, pad=0)


def check_conv_of_no_channels():
    """A sum of nothing is zero."""
    if np is None:
        raise Skip("numpy is not installed")
    text = """func.func @main(%x: tensor<1x4x4x0xf32>, %w: tensor<3x3x0x16xf32>) -> tensor<1x2x2x16xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x2x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x2x16xf32>) -> tensor<1x2x2x16xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
    ins(%x, %w : tensor<1x4x4x0xf32>, tensor<3x3x0x16xf32>) outs(%f : tensor<1x2x2x16xf32>) -> tensor<1x2x2x16xf32>
  return %y : tensor<1x2x2x16xf32>
}
"""
    with scratch() as folder:
        path = os.path.join(folder, "net")
        with open(path + ".mlir", "w") as out:
            out.write(text)
        run_well("compile", path + ".mlir", "-o", path + ".ingot")
        np.save(path + ".x.npy", np.zeros((1, 4, 4, 0), np.float32))
        np.save(path + ".w.npy", np.zeros((3, 3, 0, 16), np.float32))
        run_well("run", path + ".ingot", "--input", f"x={path}.x.npy", "--input", f"w={path}.w.npy", "--output",
                 path + ".y.npy")
        expect((np.load(path + ".y.npy") == 0).all(), "a sum of nothing is not zero")


def check_depthwise():
    return one_conv((2, 9, 11, 24), 24, 3, depthwise=True)


def check_depthwise_odd_channels():
    return one_conv((1, 7, 5, 11), 11, 3, depthwise=True)


def check_depthwise_stride_dilation():
    return one_conv((1, 14, 13, 16), 16, 3, stride=2, dilation=2, depthwise=True)


def check_groups_whole_vectors():
    return one_conv((2, 7, 9, 32), 48, 3, groups=2)


def check_groups_stride_pointwise():
    return one_conv((1, 9, 9, 24), 64, 1, groups=4, stride=2, pad=0)


def check_groups_dilation_odd_input():
    return one_conv((1, 11, 9, 15), 24, 3, groups=3, dilation=2)


def check_groups_narrower_than_a_vector():
    return one_conv((1, 7, 6, 12), 12, 3, groups=3)


def check_groups_with_batch_norm():
    """Three roundings of the norm behind 9 x 8 products."""
    return both_orders((1, 9, 8, 32), lambda net, x: net.relu(net.batch_norm(net.conv(x, 32, 3, groups=4))), 75, 4)


def check_max_pool():
    return both_orders((1, 11, 9, 24), lambda net, x: net.max_pool(x, 3, 2, 1), 1, 1)


def check_max_pool_odd_channels():
    return both_orders((2, 7, 8, 5), lambda net, x: net.max_pool(x, (3, 2), (1, 2)), 1, 1)


def check_adaptive_average_whole():
    return both_orders((2, 12, 6, 16), lambda net, x: net.adaptive_average(x, (4, 2)), 10, 4)


def check_adaptive_average_unequal():
    return both_orders((1, 7, 11, 9), lambda net, x: net.adaptive_average(x, (3, 4)), 13, 4)


def check_adaptive_average_after_conv():
    return both_orders((1, 7, 7, 8), lambda net, x: net.adaptive_average(net.block(x, 16), 3), 72 + 3 + 10, 4)


def check_global_average_and_dense():
    return both_orders((2, 7, 5, 19), lambda net, x: net.dense(net.global_average(x), 10), 35 + 19, 4)


def check_dense_at_every_place():
    """The product's rows are three dimensions of what it reads."""
    return both_orders((2, 3, 5, 16), lambda net, x: net.dense(net.places(x), 16), 17, 1)


def check_dense_of_one_place():
    return both_orders((1, 1, 1, 16), lambda net, x: net.dense(net.places(x), 16), 17, 1)


def check_resize_double():
    return both_orders((1, 5, 7, 9), lambda net, x: net.upsample(x), 1, 1)


def check_resize_any():
    return both_orders((1, 5, 7, 9), lambda net, x: net.resize(x, (13, 6)), 1, 1)


def check_resize_between_convs():
    def build(net, x):
        return net.conv(net.resize(net.conv(x, 16, 3), (9, 11)), 8, 3)
    return both_orders((1, 5, 6, 8), build, 72 + 144, 2)


def check_concat_uneven_channels():
    def build(net, x):
        return net.conv(net.concat(net.conv(x, 5, 3), net.conv(x, 16, 1)), 8, 3)
    return both_orders((1, 6, 7, 8), build, 72 + 9 * 21, 2)


def check_concat_of_what_no_conv_made():
    """Before, between and behind parts that a convolution made: no pass may read what a part leaves undefined."""
    def build(net, x):
        plain = net.resize(x, (8, 10))
        made = net.conv(plain, 8, 3)
        last = net.resize(net.conv(x, 8, 3), (8, 10))
        return net.concat(net.concat(plain, made), net.concat(made, last))
    return both_orders((1, 4, 5, 8), build, 72, 1, "--verify-each")


def check_layout_is_explained():
    """One record for the maps that have one layout: what was chosen, why, and what the other would copy. A network
    that comes channels-first is turned at its edges in any case, one that comes channels-last is not."""
    if np is None:
        raise Skip("numpy is not installed")
    for first in (False, True):
        net = cnn_models.Net((1, 8, 8, 16), first=first)
        y = net.conv(net.relu(net.conv(net.x, 16, 1)), 16, 1)
        with scratch() as folder:
            path = os.path.join(folder, "net")
            net.write(path, y)
            run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot")
            layouts = json.loads(run_well("explain", path + ".ingot", "--json"))["layouts"]
            shown = run_well("explain", path + ".ingot").decode()
        image = 8 * 8 * 16 * 4
        expect(len(layouts) == 3 and "channels-last" in shown, f"not three records: {layouts}")
        copies = []
        for note in layouts:
            (other,) = note["alternatives"]
            expect(note["chosen"]["layout"] == "channels-last" and note["chosen"]["bytes"] == 0, f"no choice: {note}")
            expect(other["layout"] == "blocked" and other["reason"] and note["chosen"]["reason"], f"no reason: {note}")
            copies.append(other["bytes"])
        expect(copies == [0 if first else 2 * image, 0, 0 if first else 2 * image], f"copies of {copies} bytes")


def check_small_resnet_channels_first():
    if np is None:
        raise Skip("numpy is not installed")
    net, y = cnn_models.resnet18(size=32, width=8, classes=10, first=True)
    x = np.random.default_rng(3).standard_normal(net.x[1]).astype(np.float32)
    want = net.answer(y, x)
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, y)
        run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot")
        np.save(path + ".x.npy", np.ascontiguousarray(x.transpose(0, 3, 1, 2)))
        run_well("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy")
        got = np.load(path + ".y.npy")
    weights = [net.params[node[1][1]] for node in net.nodes if node[0] in ("Conv", "Gemm")]
    bound = sum(4 * EPSILON * (w.size / w.shape[-1]) ** 0.5 for w in weights) * np.abs(want).max()
    off = float(np.abs(got - want).max())
    expect(off <= bound, f"off by {off:.3g}, bound {bound:.3g}")


if __name__ == "__main__":
    main(globals())
