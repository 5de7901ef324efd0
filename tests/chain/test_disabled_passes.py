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


def impossible(name, makes_code):
    """What cannot be without a pass, by the declarations alone: {what: facts it lacks}."""
    facts, lost = set(), {}
    for row in json.loads(run_well("opt", "--list-passes", "--json"))["passes"]:
        lacks = set(row["needs"]) - facts
        if lacks:
            lost["pass " + row["name"]] = lacks
        elif row["name"] != name:
            facts = facts - set(row["destroys"]) | set(row["establishes"])
    if makes_code and "lowered" not in facts:
        lost["machine code"] = {"lowered"}
    return lost


def refusal_names(done, name, makes_code):
    """The pass, and everything that falls with it: what needs it, and what needs that."""
    expect_exit(done, 3)
    (said,) = [json.loads(line) for line in done.stderr.decode().splitlines() if '"P0062"' in line]
    expect(f"without pass {name} " in said["message"] and " is impossible" in said["message"], said)
    text = said["evidence"]
    named = {what: set(re.findall(r"([\w-]+) \(of [\w-]+\)", facts))
             for what, facts in re.findall(r"(?m)^    (.*) is impossible: it needs (.*)$", text)}
    expect(named == impossible(name, makes_code), f"{name}: {named}, not {impossible(name, makes_code)}")


def check_cost(name, report, plain):
    """The predicted times are those that the report of either compile states of its entries."""
    cost = report["disabled"]
    expect(cost["passes"] == name, cost)
    for side, told in (("all_passes", plain), ("without", report)):
        entries = told["predicted"][-1]["entries"]
        calls = cost[side]["calls"]
        context = 2 if report["context_len_tokens"] else 1
        expect([c["predicted_ns"] for c in calls] == [e["all_threads_ns"][:context] for e in entries],
               f"{name}, {side}: {calls}, not {entries}")
        expect([c["entry"] for c in calls] == [e["name"] for e in told["entries"]], f"{name}: {calls}")
        total = sum(e["all_threads_ns"][0] for e in entries)
        expect(total > 0 and abs(cost[side]["predicted_ns"] - total) <= len(entries), f"{name}: {cost[side]}")
    without = cost["without"]["predicted_ns"] - cost["all_passes"]["predicted_ns"]
    return without


def results_of(folder, path, artifact, inputs, results, tag):
    options, paths = outputs(folder, results, tag)
    run_well("run", artifact, *inputs, *options)
    return paths


def check_module(folder, path, bound):
    artifact = os.path.join(folder, "all.ingot")
    plain = json.loads(run_well("compile", path, "--target=host", "-o", artifact, "--json"))
    arguments, results = signature(artifact)
    for argument in arguments:
        argument["shape"] = [3 if isinstance(size, str) else size for size in argument["shape"]]
    inputs = make_inputs(folder, arguments, 1)
    wanted = results_of(folder, path, artifact, inputs, results, "all")
    num_refused, slower = 0, {}
    for name in passes():
        without = os.path.join(folder, "without.ingot")
        done = run("compile", path, "--target=host", "-o", without, "--json", f"--disable-pass={name}")
        if done.returncode:
            refusal_names(done, name, True)
            num_refused += 1
            continue
        slower[name] = check_cost(name, json.loads(done.stdout), plain)
        got = results_of(folder, path, without, inputs, results, "without")
        for result, ours, theirs in zip(results, got, wanted):
            compare(f"{result['name']} without {name}", ours, theirs, bound)
    return num_refused, slower


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
            refused, slower = check_module(folder, path, bound_of(text))
            if module and "conv" in module:
                expect(slower["raise-convolutions"] > 0, f"convolutions as plain loops are no slower: {slower}")
            notes.append(f"{module or 'ports'}: {refused} of {len(passes())} refused")
    return ", ".join(notes)


def check_language_model():
    with scratch() as folder:
        tiny = Tiny(folder)
        recipe = tiny.recipe()
        plain = json.loads(run_well("compile", recipe, "--model", tiny.model, "--dry-run", "--json", timeout=400))
        for name in passes():
            done = run("compile", recipe, "--model", tiny.model, "--dry-run", "--json",
                       f"--disable-pass={name}", timeout=400)
            if done.returncode:
                refusal_names(done, name, True)
                continue
            slower = check_cost(name, json.loads(done.stdout), plain)
            if name == "pack-projections":
                expect(slower > 0, f"more kernels take no longer: {slower}")


# Tensors that kernels could be made of, with what a compile would have put on the module.
OPT = """module attributes {ingot.config = {threads = 2 : i64}, ingot.target = "x86-64-v3"} {
  func.func @main(%x: tensor<24x32xf32>, %w: tensor<32x16xf32>) -> tensor<24x16xf32> {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<24x16xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<24x16xf32>) -> tensor<24x16xf32>
    %r = linalg.matmul ins(%x, %w : tensor<24x32xf32>, tensor<32x16xf32>) outs(%f : tensor<24x16xf32>) -> tensor<24x16xf32>
    %t = tensor.empty() : tensor<24x16xf32>
    %s = linalg.softmax dimension(1) ins(%r : tensor<24x16xf32>) outs(%t : tensor<24x16xf32>) -> tensor<24x16xf32>
    return %s : tensor<24x16xf32>
  }
}
"""


def opt_cost(pipeline, disabled):
    done = run("opt", "--pipeline=" + ",".join(pipeline), f"--disable-pass={disabled}", "--json", stdin=OPT.encode())
    expect_exit(done, 0)
    (cost,) = json.loads(done.stdout)["disabled"]
    told = run("opt", "--pipeline=" + ",".join(pipeline), f"--disable-pass={disabled}", stdin=OPT.encode()).stderr.decode()
    for side in ("all_passes", "without"):
        why = cost[side].get("not_predicted")
        expect(not why or f"not predicted: {why}" in told, told)
    return cost


def check_pipelines_on_text():
    """Predicted as far as the pipeline goes, else the reason by name."""
    names = passes()
    whole = names[:names.index("lower-target")]
    for pipeline in (whole, names, names[:names.index("loop-schedule")]):
        cost = opt_cost(pipeline, "order-loops")
        expect(cost["lost"] == ["ordered"], cost)
        for side in ("all_passes", "without"):
            expect(cost[side]["predicted_ns"] > 0 and [c["entry"] for c in cost[side]["calls"]] == ["main"], cost)
            expect(cost[side]["num_kernels"] > 0, cost)
    for pipeline, disabled, word in ((whole, "vectorize", "without pass vectorize nothing is vectorized"),
                                     (names[:names.index("loop-schedule")], "bufferize", "without pass bufferize")):
        cost = opt_cost(pipeline, disabled)
        expect(word in cost["without"]["not_predicted"] and cost["all_passes"]["predicted_ns"] > 0, cost)
        expect("predicted_ns" not in cost["without"], cost)
    cost = opt_cost(names[:names.index("dedupe")], "merge-equal")
    expect(all("ends before pass bufferize" in cost[side]["not_predicted"] for side in ("all_passes", "without")), cost)


def check_calls_without_end():
    """Functions that call the next one twice, 40 deep: there are more ways down than anyone could follow.
    A pipeline that inlines refuses them; one that does not says that it cannot predict, or schedule."""
    text = 'module attributes {PASSESingot.target = "x86-64-v3", ingot.config = {threads = 1 : i64}} {\n'
    for i in range(41):
        text += f"  func.func {'private ' if i else ''}@f{i}(%x: memref<4xf32>) {{\n"
        text += f"    call @f{i + 1}(%x) : (memref<4xf32>) -> ()\n" * 2 if i < 40 else ""
        text += "    return\n  }\n"
    text += "}\n"
    scheduled = text.replace("PASSES", 'ingot.passes = ["bufferize", "loop-schedule"], ')
    done = run("opt", "--pipeline=vectorize", "--disable-pass=vectorize", "--json", stdin=scheduled.encode(), timeout=60)
    expect_exit(done, 0)
    (cost,) = json.loads(done.stdout)["disabled"]
    expect("too many to follow" in cost["all_passes"]["not_predicted"], cost)
    done = run("opt", "--pipeline=loop-schedule", stdin=text.replace("PASSES", 'ingot.passes = ["bufferize"], ').encode(),
               timeout=60)
    expect_exit(done, 3)
    expect(b"P0014" in done.stderr, done.stderr)


if __name__ == "__main__":
    main({name: value for name, value in globals().items() if name not in ("check_module", "check_cost")})
