#!/usr/bin/env python3
"""Modules of IR text and small convolutional networks in MLIR's own runner: lowered by stock passes alone, they
answer as the artifacts do. Skipped where mlir-opt-22, mlir-runner-22 or numpy are not installed."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from support import Skip, expect, main, run_well, scratch, with_numpy
from test_stock_runner import stock_output

np, cnn_models = with_numpy("numpy", "cnn_models")

MODULES = os.path.join(HERE, "modules")
DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "i32": "int32", "i64": "int64"}
PRINTED = {"f32": "F32", "f64": "F64", "i32": "I32", "i64": "I64"}
DIGITS = 5e-6  # the runner prints six


def need_numpy():
    if np is None:
        raise Skip("numpy is not installed")


def tensor_type(item):
    return "tensor<" + "".join(f"{size}x" for size in item["shape"]) + item["type"] + ">"


def constant(name, item, values):
    text = values.tobytes().hex().upper()
    return f'    %{name} = arith.constant dense<"0x{text}"> : {tensor_type(item)}\n'


def with_driver(text, arguments, results, values):
    """The module with a @driver that calls its function once and prints the results."""
    name = re.search(r"func\.func @(\w+)\(", text)[1]
    names = [f"a{i}" for i in range(len(arguments))]
    body = "".join(constant(n, a, values[a["name"]]) for n, a in zip(names, arguments))
    body += (f"    %r:{len(results)} = func.call @{name}({', '.join('%' + n for n in names)}) : "
             f"({', '.join(map(tensor_type, arguments))}) -> ({', '.join(map(tensor_type, results))})\n")
    kinds = set()
    for i, result in enumerate(results):
        kind, memref = result["type"], tensor_type(result).replace("tensor", "memref")
        expect(kind in PRINTED, f"the runner prints no {kind}")
        kinds.add(kind)
        body += (f"    %m{i} = bufferization.to_buffer %r#{i} : {tensor_type(result)} to {memref}\n"
                 f"    %u{i} = memref.cast %m{i} : {memref} to memref<*x{kind}>\n"
                 f"    func.call @printMemref{PRINTED[kind]}(%u{i}) : (memref<*x{kind}>) -> ()\n")
    declared = "".join(f"  func.func private @printMemref{PRINTED[kind]}(memref<*x{kind}>) "
                       "attributes {llvm.emit_c_interface}\n" for kind in sorted(kinds))
    end = text.rindex("}")
    return text[:end] + declared + "  func.func @driver() {\n" + body + "    return\n  }\n" + text[end:]


def stock_results(folder, text, results):
    printed = stock_output(folder, text, "driver").split("Unranked Memref")[1:]
    expect(len(printed) == len(results), f"{len(printed)} results are printed")
    return [np.array([float(v) for v in re.findall(r"[-+]?(?:\d[\d.e+-]*|inf|nan)", p[p.index("data ="):])])
            .reshape(r["shape"]) for p, r in zip(printed, results)]


def agree(path, model, bound, values_of):
    """Both sum within `bound` roundings of the largest value; bound 0: equal as printed."""
    with scratch() as folder:
        artifact = os.path.join(folder, "m.ingot")
        run_well("compile", path, *model, "-o", artifact)
        entry = json.loads(run_well("inspect", artifact, "--json"))["entries"][0]
        given, results = entry["arguments"], entry["results"]
        text = run_well("compile", path, *model, "--emit-ir=1").decode()
        signature = re.search(r"func\.func @\w+\((.*?)\) -> ", text)[1]
        arguments = [{"name": match[1] or match[4], "type": match[3],
                      "shape": [int(size) for size in match[2].split("x") if size]}
                     for match in (re.search(r'()tensor<((?:\d+x)*)(\w+)>(?: \{.*?ingot\.(?:name|param) = "([^"]+)")?', a)
                                   for a in re.split(r", (?=%)", signature))]
        values = values_of(arguments)
        options = []
        for argument in given:
            at = os.path.join(folder, argument["name"] + ".npy")
            np.save(at, values[argument["name"]])
            options += ["--input", f"{argument['name']}={at}"]
        paths = [os.path.join(folder, f"out{i}.npy") for i in range(len(results))]
        for result, at in zip(results, paths):
            options += ["--output", f"{result['name']}={at}"]
        run_well("run", artifact, *options)
        theirs = stock_results(folder, with_driver(text, arguments, results, values), results)
        worst = 0.0
        for result, at, want in zip(results, paths, theirs):
            got = np.load(at).astype(np.float64)
            limit = bound * 2.0 ** -23 * max(1.0, float(np.abs(want).max())) + DIGITS * np.abs(want) + 1e-12
            expect((np.abs(got - want) <= limit).all(), f"{result['name']}: off by {np.abs(got - want).max():.3g}")
            worst = max(worst, float(np.abs(got - want).max()))
        return f"off by {worst:.2g}"


def random_values(arguments):
    generator = np.random.default_rng(1)
    return {a["name"]: generator.integers(-100, 101, a["shape"], dtype=DTYPES[a["type"]]) if a["type"][0] == "i" else
            generator.uniform(-0.5, 0.5, a["shape"]).astype(DTYPES[a["type"]]) for a in arguments}


def module_agrees(name):
    need_numpy()
    path = os.path.join(MODULES, name)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    terms = re.search(r"// bound: (\d+) terms, magnitude ([\d.]+)", text)
    return agree(path, [], 2 * float(terms[1]) * float(terms[2]) if terms else 0, random_values)


def net_agrees(make, **arguments):
    """The bound of test_cnn.py, twice: both round."""
    need_numpy()
    net, y = make(**arguments)
    weights = [net.params[node[1][1]] for node in net.nodes if node[0] in ("Conv", "Gemm")]
    bound = 2 * sum(4 * (w.size / w.shape[-1]) ** 0.5 for w in weights)
    x = np.random.default_rng(3).standard_normal(net.x[1]).astype(np.float32)
    with scratch() as folder:
        path = os.path.join(folder, "net")
        net.write(path, y)
        values_of = lambda names: {a["name"]: np.ascontiguousarray(
            net.stored.get(a["name"], net.params[a["name"]]) if a["name"] in net.params else x) for a in names}
        return agree(path + ".mlir", ["--model", path + ".gguf"], bound, values_of)


def check_unet():
    return net_agrees(cnn_models and cnn_models.unet, size=16, width=4)


def check_mobile():
    return net_agrees(cnn_models and cnn_models.mobile, size=16, width=8)


def check_resnet18():
    return net_agrees(cnn_models and cnn_models.resnet18, size=32, width=4, classes=10)


MODULE_CHECKS = {f"check_{name[:-5]}": lambda name=name: module_agrees(name)
                 for name in sorted(os.listdir(MODULES)) if name.endswith(".mlir")}

if __name__ == "__main__":
    main({**MODULE_CHECKS, **globals()})
