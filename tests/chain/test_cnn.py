#!/usr/bin/env python3
"""Convolutional networks from module text to machine code: what they answer, what is left of their ops, and
how parameters that do not fit are refused. The reference is float64 (tests/cnn_models.py, numpy)."""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import Skip, expect, expect_exit, main, run, run_well, scratch, with_numpy

np, cnn_models = with_numpy("numpy", "cnn_models")

EPSILON = 2.0 ** -23


def need_numpy():
    if np is None:
        raise Skip("numpy is not installed")


def compile_net(folder, net, y, *options):
    path = os.path.join(folder, "net")
    net.write(path, y)
    run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot", *options)
    return path


def answer(path, x, threads):
    np.save(path + ".x.npy", x)
    run_well("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy",
             env={"INGOT_THREADS": str(threads)})
    return np.load(path + ".y.npy")


def compare(net, y):
    """Rounding errors of the layers add up, at most `terms` of them in a sum; they are random, so that their
    sum grows as a root, and four times that is not reached: 4 eps sqrt(terms) of the largest value per layer.
    One and two workers give the same bits."""
    x = np.random.default_rng(3).standard_normal(net.x[1]).astype(np.float32)
    want = net.answer(y, x)
    weights = [net.params[node[1][1]] for node in net.nodes if node[0] in ("Conv", "Gemm")]
    bound = sum(4 * EPSILON * (w.size / w.shape[-1]) ** 0.5 for w in weights) * np.abs(want).max()
    worst = 0.0
    with scratch() as folder:
        for cpu in ("x86-64-v3", "x86-64-v4", "v4-vnni"):
            path = compile_net(folder, net, y, "--cpu", cpu, "--threads", "2")
            np.save(path + ".x.npy", x)
            done = run("run", path + ".ingot", "--input", path + ".x.npy", "--output", path + ".y.npy")
            if done.returncode == 5:
                continue  # not on this machine
            one, two = answer(path, x, 1), answer(path, x, 2)
            expect((one == two).all(), f"{cpu}: one and two workers differ")
            worst = max(worst, float(np.abs(one - want).max()))
            expect(worst <= bound, f"{cpu}: off by {worst:.3g}, bound {bound:.3g}")
    return f"off by {worst:.2g}, bound {bound:.2g}"


def check_resnet():
    need_numpy()
    return compare(*cnn_models.resnet18(batch=2, size=32, width=8, classes=10))


def check_resnet_whole_tiles():
    need_numpy()
    return compare(*cnn_models.resnet18(size=64, width=32, classes=32))


def check_unet():
    need_numpy()
    return compare(*cnn_models.unet(batch=1, size=32))


def check_mobile():
    need_numpy()
    return compare(*cnn_models.mobile(batch=3))


def check_one_kernel_without_intermediate():
    """A convolution, its padding, its batch norm and its activation are one kernel, and no buffer is left between
    them: the arena is empty."""
    need_numpy()
    for depthwise, r, groups in ((False, 3, 1), (False, 1, 1), (True, 3, 1), (False, 3, 4)):
        net, y = cnn_models.single(size=16, channels=32, k=32, r=r, depthwise=depthwise, groups=groups)
        with scratch() as folder:
            path = compile_net(folder, net, y)
            artifact = json.loads(run_well("inspect", path + ".ingot", "--json"))
            expect(len(artifact["kernels"]) == 1, f"{len(artifact['kernels'])} kernels instead of 1")
            (arena,) = [p["bytes"] for p in artifact["memory"]["parts"] if p["name"] == "arena"]
            expect(arena <= 4096, f"an arena of {arena} bytes, where one page is the least")


def check_batch_norm_is_in_the_weights():
    """After fold-batch-norm the network's own loop has no root, and a factor that is no weight is left alone."""
    need_numpy()
    net, y = cnn_models.single(size=8, channels=8, k=8)
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, y)
        run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot",
                 "--dump-ir-after=hoist-weights", f"--dump-dir={folder}")
        (dump,) = [name for name in os.listdir(folder) if "hoist-weights" in name]
        with open(os.path.join(folder, dump)) as file:
            text = file.read()
        entry = text[text.index("func.func @main"):]
        entry = entry[:entry.index("\n  }")]
        expect("rsqrt" in text and "rsqrt" not in entry, "the root is still computed at run time")


def check_batch_norm_of_channels_first_is_in_the_weights():
    """The weights are turned before they are scaled; all of it happens at compile time, and what is left are the
    convolution and the turning of the network's own input and result."""
    need_numpy()
    for groups in (1, 4):
        net = cnn_models.Net((1, 8, 8, 32), first=True)
        y = net.relu(net.batch_norm(net.conv(net.x, 32, 3, groups=groups)))
        with scratch() as folder:
            path = compile_net(folder, net, y)
            artifact = json.loads(run_well("inspect", path + ".ingot", "--json"))
            expect(len(artifact["kernels"]) == 3, f"{len(artifact['kernels'])} kernels instead of 3")


def check_tiles_by_the_cost_model():
    """A convolution's tiles are candidates like a product's, each with what it was predicted to take; the chosen
    one is the quickest. A 3x3 convolution of a small map has not the tile of the product that reads the same rows,
    nor that of a large map."""
    need_numpy()
    net = cnn_models.Net((1, 7, 7, 64))
    small = net.conv(net.x, 64, 3)
    y = net.dense(net.places(small), 64)
    wide, wide_y = cnn_models.single(size=28)
    tiles = {}
    for name, (graph, result) in {"small": (net, y), "wide": (wide, wide_y)}.items():
        with scratch() as folder:
            path = os.path.join(folder, "net")
            graph.write(path, result)
            report = json.loads(run_well("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot",
                                         "--cpu", "x86-64-v4", "--json"))
        for kernel in report["predicted"][0]["schedules"]:
            first, *others = kernel["candidates"]
            expect(others, f"{kernel['kernel']}: no alternative was weighed")
            expect(all(c["clocks"] > 0 and c["bytes"] >= 0 and c["fits"] for c in kernel["candidates"]), "no costs")
            least = min(c["clocks"] for c in kernel["candidates"])
            expect(first["clocks"] <= 1.002 * least, f"{kernel['kernel']}: {first['clocks']} clocks, not {least}")
            tiles[name, kernel["kernel"]] = (first["row_tile"], first["col_tile"])
    expect(tiles["small", "conv"][0] <= 7, "a tile wider than the map")
    expect(tiles["small", "conv"] != tiles["small", "matmul"], f"one tile for both: {tiles}")
    expect(tiles["small", "conv"] != tiles["wide", "conv"], f"one tile for every map: {tiles}")


def check_dumps():
    """Stock MLIR verifies what every pass leaves."""
    need_numpy()
    tool = shutil.which("mlir-opt-22")
    if not tool:
        raise Skip("mlir-opt-22 is not installed")
    groups = cnn_models.single(size=8, channels=16, k=16, groups=2)
    for net, y in (cnn_models.unet(size=16, width=8), cnn_models.mobile(size=16, width=8),
                   cnn_models.resnet18(size=32, width=8, classes=10, first=True), groups):
        with scratch() as folder:
            compile_net(folder, net, y, "--dump-ir-after=all", f"--dump-dir={folder}")
            dumps = sorted(name for name in os.listdir(folder) if re.match(r"\d+-.*\.mlir", name))
            expect(len(dumps) > 20, f"only {len(dumps)} dumps")
            for name in dumps:
                done = subprocess.run([tool, "--verify-each", os.path.join(folder, name)], capture_output=True)
                expect(done.returncode == 0, f"{name}: {done.stderr.decode()[:300]}")


class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("len_bytes", ctypes.c_size_t)]


def check_argument_in_place():
    """An argument that is written where the model reads it gives what a copied one gives, twice."""
    need_numpy()
    try:
        lib = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(sys.argv[1])), "libingot.so"))
    except OSError as error:  # one built with a sanitizer needs a host that has it
        raise Skip(f"libingot.so: {error}") from error
    lib.ingot_entry_argument.restype = Tensor
    net, y = cnn_models.single(size=8, channels=16, k=16)
    x = np.random.default_rng(3).standard_normal(net.x[1]).astype(np.float32)
    with scratch() as folder:
        path = compile_net(folder, net, y)
        want = answer(path, x, 1)
        model, result = ctypes.c_void_p(), Tensor()
        expect(lib.ingot_model_open(path.encode() + b".ingot", None, ctypes.byref(model), None) == 0, "not opened")
        for sign in (1, -1, 1):  # what a call leaves there is what the next one must not see
            argument = lib.ingot_entry_argument(model, ctypes.c_uint32(0), ctypes.c_uint32(0))
            expect(argument.data and argument.len_bytes == x.nbytes, "no place for the argument")
            data = np.ascontiguousarray(x * sign)
            ctypes.memmove(argument.data, data.ctypes.data, x.nbytes)
            done = lib.ingot_call(model, None, ctypes.byref(argument), ctypes.c_size_t(1), ctypes.byref(result),
                                  ctypes.c_size_t(1), None)
            expect(done == 0, "the call failed")
            got = np.array((ctypes.c_float * want.size).from_address(result.data)).reshape(want.shape)
            expect((got == want).all() == (sign == 1), "another answer than that of a copied argument")
        lib.ingot_model_close(model)


def check_parameters_refused():
    need_numpy()
    net, y = cnn_models.single(size=8, channels=8, k=8)
    with scratch() as folder:
        path = compile_net(folder, net, y)
        done = run("compile", path + ".mlir", "-o", path + ".ingot")
        expect(done.returncode != 0 and b"--model FILE.gguf" in done.stderr, "no file of parameters is no error")
        names = list(net.used_params())
        wrong = dict(net.used_params())
        wrong[names[1]] = np.zeros(128, np.float32)  # num_features of another network
        cnn_models.write_gguf(path + ".gguf", wrong)
        done = run("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot")
        expect(done.returncode == 3 and names[1].encode() in done.stderr, "a parameter of another shape is taken")
        del wrong[names[1]]
        cnn_models.write_gguf(path + ".gguf", wrong)
        done = run("compile", path + ".mlir", "--model", path + ".gguf", "-o", path + ".ingot")
        expect(done.returncode == 3 and b"F0018" in done.stderr, "a missing parameter is taken")


if __name__ == "__main__":
    main(globals())
