#!/usr/bin/env python3
"""Every pass left out, one at a time, of every kind of input: what is compiled gives the same numbers and
says what it costs, or the refusal names the pass and what becomes impossible."""
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
sys.path.insert(0, HERE)
from support import ROOT, expect, expect_exit, main, run, run_well, scratch
from test_explain import Tiny
from test_module_text import bound_of, compare, make_inputs, outputs, signature

# A module without sizes that vary, one with them, a network with padding, and one that gives back what
# it was given, beside numbers.
PORTS = """// exact
func.func @main(%x: tensor<4xf32>, %f: f32, %c: i1) -> (tensor<4xf32>, f32, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %z = linalg.fill ins(%f : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = arith.select %c, %x, %z : tensor<4xf32>
  return %x, %f, %r : tensor<4xf32>, f32, tensor<4xf32>
}
"""
MODULES = ["modules/mlp.mlir", "modules_sized/mlp_softmax.mlir", "modules/conv_bn_relu.mlir", None]


def passes():
    with open(os.path.join(ROOT, "src", "passes", "passes.def"), encoding="utf-8") as file:
        names = re.findall(r'(?m)^PASS\(\w+, "([\w-]+)"', file.read())
    expect(len(names) > 20, f"only {len(names)} passes were read from the table")
    return names


def refusal_names(done, name):
    expect_exit(done, 3)
    text = done.stderr.decode()
    expect("P0062" in text and f"without pass {name} " in text and " is impossible" in text, text)


def results_of(folder, path, artifact, inputs, results, tag):
    options, paths = outputs(folder, results, tag)
    run_well("run", artifact, *inputs, *options)
    return paths


def check_module(folder, path, bound):
    artifact = os.path.join(folder, "all.ingot")
    run_well("compile", path, "--target=host", "-o", artifact)
    arguments, results = signature(artifact)
    for argument in arguments:
        argument["shape"] = [3 if isinstance(size, str) else size for size in argument["shape"]]
    inputs = make_inputs(folder, arguments, 1)
    wanted = results_of(folder, path, artifact, inputs, results, "all")
    num_refused = 0
    for name in passes():
        without = os.path.join(folder, "without.ingot")
        done = run("compile", path, "--target=host", "-o", without, "--json", f"--disable-pass={name}")
        if done.returncode:
            refusal_names(done, name)
            num_refused += 1
            continue
        cost = json.loads(done.stdout)["disabled"]
        expect(cost["passes"] == name and cost["all_passes"] and cost["without"], f"{name}: {cost}")
        got = results_of(folder, path, without, inputs, results, "without")
        for result, ours, theirs in zip(results, got, wanted):
            compare(f"{result['name']} without {name}", ours, theirs, bound)
    return num_refused


def check_modules():
    notes = []
    for module in MODULES:
        with scratch() as folder:
            path = os.path.join(folder, "m.mlir")
            text = PORTS
            if module:
                with open(os.path.join(HERE, module), encoding="utf-8") as file:
                    text = file.read()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            refused = check_module(folder, path, bound_of(text))
            notes.append(f"{module or 'ports'}: {refused} of {len(passes())} refused")
    return ", ".join(notes)


def check_language_model():
    with scratch() as folder:
        tiny = Tiny(folder)
        recipe = tiny.recipe()
        for name in passes():
            done = run("compile", recipe, "--model", tiny.model, "--dry-run", "--json",
                       f"--disable-pass={name}", timeout=400)
            if done.returncode:
                refusal_names(done, name)
            else:
                cost = json.loads(done.stdout)["disabled"]
                expect(cost["passes"] == name and cost["without"], f"{name}: {cost}")


if __name__ == "__main__":
    main({name: value for name, value in globals().items() if name != "check_module"})
