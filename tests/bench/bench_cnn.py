#!/usr/bin/env python3
"""Convolutional networks: Ingot against onnxruntime and OpenVINO in one run, with the same weights.

The engines take turns on every network, batch size and thread count, each in a process of its own that
is stopped (SIGSTOP) while it is not its turn. A cell is the median of the ratios to the better peer of each
turn; beside it stand the medians of the times and the share of the multiply-add peak that was measured in
the same turn. Shares count every multiply-add of the definition, those on padding too.

A second table sets each single convolution against itself with what follows it apart: the same convolution schedule,
batch norm and activation as kernels of their own (the rules conv_relu_bn and elementwise forbid joining them), in turns.

Prints markdown tables; --json FILE writes all single measurements too.
Needs numpy, onnx, onnxruntime and openvino: `./dev bench-cnn` makes an environment that has them.
"""
import argparse
import ctypes
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import cnn_models

# name: (network, its arguments, batch sizes)
CELLS = {
    "resnet18": ("resnet18", {}, (1, 8)),
    "conv3x3 128x128x64": ("single", {}, (1,)),
    "conv1x1 128x128x64": ("single", {"r": 1}, (1,)),
    "depthwise3x3 128x128x64": ("single", {"depthwise": True}, (1,)),
}


# Both ways of a module that is compiled with and without joining what follows a convolution.
WAYS = {"fused": "[]", "unfused": "[{pattern: conv_relu_bn, mode: forbid}, {pattern: elementwise, mode: forbid}]"}


def say(text):
    print("bench: " + text, file=sys.stderr, flush=True)


# ---------------------------------------------------------------- engines, each in its own process

class Tensor(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("type", ctypes.c_char_p), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("len_bytes", ctypes.c_size_t)]


class Options(ctypes.Structure):
    _fields_ = [("num_threads", ctypes.c_uint32), ("cpu_level", ctypes.c_char_p)]


def ingot_engine(build, path, threads, x):
    lib = ctypes.CDLL(os.path.join(build, "libingot.so"))
    lib.ingot_error_message.restype = ctypes.c_char_p
    lib.ingot_entry_argument.restype = Tensor
    model, error = ctypes.c_void_p(), ctypes.c_void_p()

    def check(status):
        if status:
            raise SystemExit("ingot: " + lib.ingot_error_message(error).decode())

    options = Options(threads, None)
    check(lib.ingot_model_open(path.encode() + b".ingot", ctypes.byref(options), ctypes.byref(model),
                               ctypes.byref(error)))
    argument = lib.ingot_entry_argument(model, ctypes.c_uint32(0), ctypes.c_uint32(0))
    ctypes.memmove(argument.data, x.ctypes.data, x.nbytes)  # no engine copies the input in a run
    result = Tensor()

    def run():
        check(lib.ingot_call(model, None, ctypes.byref(argument), ctypes.c_size_t(1), ctypes.byref(result),
                             ctypes.c_size_t(1), ctypes.byref(error)))

    def answer():
        run()
        shape = [result.dims[i] for i in range(result.rank)]
        data = (ctypes.c_float * (result.len_bytes // 4)).from_address(result.data)
        return np.array(data, np.float32).reshape(shape)

    return run, answer


def nchw(x):
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if x.ndim == 4 else x


def nhwc(y):
    return y.transpose(0, 2, 3, 1) if y.ndim == 4 else y


def onnxruntime_engine(_, path, threads, x):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(path + ".onnx", options, providers=["CPUExecutionProvider"])
    feed = {"x": nchw(x)}
    return lambda: session.run(None, feed), lambda: nhwc(session.run(None, feed)[0])


def openvino_engine(_, path, threads, x):
    import openvino
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
    request = openvino.Core().compile_model(path + ".onnx", "CPU", settings).create_infer_request()
    feed = {0: nchw(x)}
    shared = {"share_inputs": True, "share_outputs": True}
    return lambda: request.infer(feed, **shared), lambda: nhwc(request.infer(feed, **shared)[0])


ENGINES = {"ingot": ingot_engine, "onnxruntime": onnxruntime_engine, "openvino": openvino_engine}


def serve(name, build, path, threads):
    """One line in: seconds to spend; one line out: the median time of a run. First: the answer, to a file."""
    x = np.load(path + ".x.npy")
    run, answer = ENGINES[name](build, path, threads, x)
    np.save(f"{path}.{name}.npy", answer())
    print("ready", flush=True)
    for line in sys.stdin:
        until, times = time.perf_counter() + float(line), []
        while len(times) < 3 or time.perf_counter() < until:
            start = time.perf_counter()
            run()
            times.append(time.perf_counter() - start)
        print(statistics.median(times), flush=True)


class Engine:
    """The engine called name, with the model at path."""

    def __init__(self, name, build, path, threads, cpus):
        self.process = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--serve", name, build, path, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus))
        if self.process.stdout.readline().strip() != "ready":
            raise SystemExit(f"bench: {name} ended with {self.process.wait()}")
        self.process.send_signal(signal.SIGSTOP)

    def seconds(self, budget):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{budget}\n")
        self.process.stdin.flush()
        seconds = float(self.process.stdout.readline())
        self.process.send_signal(signal.SIGSTOP)
        return seconds

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


# ---------------------------------------------------------------- cells

def multiply_adds(net):
    """Of the convolutions and products, as defined."""
    return sum(net.params[ins[1]].size * int(np.prod(net.shapes[outs[0]][:-1]))
               for kind, ins, outs, _ in net.nodes if kind in ("Conv", "Gemm"))


def peak(build, threads):
    done = subprocess.run([os.path.join(build, "tests", "bench", "peak"), str(threads), "1"], capture_output=True,
                          text=True, check=True)
    return json.loads(done.stdout)["f32_ops_per_s"]


def prepare(folder, build, cell, batch):
    network, arguments, _ = CELLS[cell]
    net, y = cnn_models.NETWORKS[network](batch, **arguments)
    path = os.path.join(folder, cell.replace(" ", "_") + f"_{batch}")
    net.write(path, y)
    import onnx
    onnx.save(net.onnx(y), path + ".onnx")
    np.save(path + ".x.npy", np.random.default_rng(7).standard_normal(net.x[1]).astype(np.float32))
    subprocess.run([os.path.join(build, "ingot"), "compile", path + ".mlir", "--model", path + ".gguf", "-o",
                    path + ".ingot", "--quiet"], check=True)
    return path, multiply_adds(net)


def agree(path):
    """All engines sum in float32, in different orders."""
    want = np.load(path + ".onnxruntime.npy")
    for name in ("ingot", "openvino"):
        got = np.load(f"{path}.{name}.npy")
        worst = float(np.max(np.abs(got - want)) / np.max(np.abs(want)))
        if not worst < 1e-4:
            raise SystemExit(f"bench: {name} differs from onnxruntime by {worst:.2g} of the largest value")


def measure(path, threads, args):
    cpus = set(sorted(os.sched_getaffinity(0))[-threads:])
    engines = {name: Engine(name, args.build, path, threads, cpus) for name in ENGINES}
    agree(path)
    turns = []
    for _ in range(args.turns):
        turn = {name: engine.seconds(args.seconds) for name, engine in engines.items()}
        turn["peak"] = peak(args.build, threads)
        turns.append(turn)
    for engine in engines.values():
        engine.close()
    return turns


def compare_engines(folder, args, record):
    print("| network | batch | threads | ingot ms | onnxruntime ms | openvino ms | better peer / ingot | of peak |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for cell in args.cells:
        for batch in CELLS[cell][2]:
            path, macs = prepare(folder, args.build, cell, batch)
            for threads in map(int, args.threads.split(",")):
                turns = measure(path, threads, args)
                ratio = statistics.median(min(t["onnxruntime"], t["openvino"]) / t["ingot"] for t in turns)
                ms = {n: statistics.median(t[n] for t in turns) * 1e3 for n in ENGINES}
                share = 100 * statistics.median(2 * macs / t["ingot"] / t["peak"] for t in turns)
                print(f"| {cell} | {batch} | {threads} | {ms['ingot']:.2f} | {ms['onnxruntime']:.2f} | "
                      f"{ms['openvino']:.2f} | {ratio:.2f} | {share:.0f} % |", flush=True)
                record.append({"cell": cell, "batch": batch, "threads": threads, "multiply_adds": macs,
                               "turns": turns, "ratio": ratio})


# ---------------------------------------------------------------- joined and apart

def prepare_ways(folder, build, cell):
    """Both artifacts of a cell: {way: (path, record)}."""
    network, arguments, _ = CELLS[cell]
    net, y = cnn_models.NETWORKS[network](1, **arguments)
    made = {}
    for way, rules in WAYS.items():
        path = os.path.join(folder, f"{way}_{cell.replace(' ', '_')}")
        net.write(path, y)
        name = os.path.basename(path)
        with open(path + ".yaml", "w") as out:
            out.write(f"version: 1\nmodel_name: cell\nmodel: {name}.gguf\nsubgraph: {{file: {name}.mlir}}\n"
                      f"fusion_rules: {rules}\n")
        tool = os.path.join(build, "ingot")
        subprocess.run([tool, "compile", path + ".yaml", "-o", path + ".ingot", "--quiet"], check=True)
        np.save(path + ".x.npy", np.random.default_rng(7).standard_normal(net.x[1]).astype(np.float32))
        done = subprocess.run([tool, "explain", path + ".ingot", "--json"], capture_output=True, check=True)
        made[way] = (path, json.loads(done.stdout))
    chosen = [schedule_of(record) for _, record in made.values()]
    if chosen[0] != chosen[1]:
        raise SystemExit(f"bench: {cell}: the convolution has another schedule when it stands alone: {chosen}")
    return made


def schedule_of(record):
    """Of the only convolution, for each CPU level."""
    names = ("lanes", "row_tile", "col_tile", "unroll")
    return [[k["candidates"][0].get(n, 1) for n in names] for level in record["schedules"] for k in level["kernels"]]


def measure_ways(made, threads, args):
    cpus = set(sorted(os.sched_getaffinity(0))[-threads:])
    engines = {way: Engine("ingot", args.build, path, threads, cpus) for way, (path, _) in made.items()}
    answers = [np.load(f"{path}.ingot.npy") for path, _ in made.values()]
    if not np.max(np.abs(answers[0] - answers[1])) < 1e-4 * np.max(np.abs(answers[0])):
        raise SystemExit("bench: joined and apart give different answers")
    turns = [{way: engine.seconds(args.seconds) for way, engine in engines.items()} for _ in range(args.turns)]
    for engine in engines.values():
        engine.close()
    return turns


def compare_ways(folder, args, record):
    print("\n| network | threads | fused ms | unfused ms | unfused / fused | buffers | MB between kernels |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for cell in args.cells:
        if CELLS[cell][0] != "single":
            continue
        made = prepare_ways(folder, args.build, cell)
        # Between kernels, and the result.
        buffers = [1 + r["summary"]["num_buffers"] for _, r in made.values()]
        moved = [r["summary"]["stake_bytes"] / 1e6 for _, r in made.values()]
        for threads in map(int, args.threads.split(",")):
            turns = measure_ways(made, threads, args)
            ms = {way: statistics.median(t[way] for t in turns) * 1e3 for way in WAYS}
            ratio = statistics.median(t["unfused"] / t["fused"] for t in turns)
            print(f"| {cell} | {threads} | {ms['fused']:.3f} | {ms['unfused']:.3f} | {ratio:.2f} | {buffers[0]}, not "
                  f"{buffers[1]} | {moved[0]:.1f}, not {moved[1]:.1f} |", flush=True)
            record.append({"cell": cell, "threads": threads, "ways": turns, "ratio": ratio})


def cell_list(text):
    names = text.split(",")
    for name in names:
        if name not in CELLS:
            raise argparse.ArgumentTypeError(f"there is no cell '{name}', the cells are: {','.join(CELLS)}")
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--seconds", type=float, default=0.3, help="of every engine in a turn")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--cells", type=cell_list, default=list(CELLS), help=f"of {','.join(CELLS)}")
    parser.add_argument("--ways-only", action="store_true", help="the second table alone, which needs no peers")
    parser.add_argument("--json")
    args = parser.parse_args()
    record = []
    with tempfile.TemporaryDirectory() as folder:
        if not args.ways_only:
            compare_engines(folder, args, record)
        compare_ways(folder, args, record)
    if args.json:
        with open(args.json, "w") as out:
            json.dump(record, out, indent=1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:5], int(sys.argv[5]))
    else:
        main()
