#!/usr/bin/env python3
"""Schemas that are published: what other programs are told of recipes agrees with what the reader takes, and
`inspect --json` with what it says."""
import copy
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, TINY_RECIPE, Skip, expect, expect_exit, main, run, run_well, scratch, with_numpy
from tiny_model import make_model

jsonschema, yaml = with_numpy("jsonschema", "yaml")
MODEL = """
version: 1
model_name: m
dims: {architecture: llama, layers: 2, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, vocab: 300, norm_eps: 1.0e-5}
precision: {weights: Q8_0, activations: int8, kv_cache: f16}
input_constraints: {seq_len: {min: 1, max: 8, step: 8}, kv_cache_seq_len: {max: 64}}
targets: [{arch: x86_64, cpu: [x86-64-v3, v4-vnni], threads: 2}]
memory_optimization: {kv_cache_page_size: 16}
max_memory_gb: 4GiB
fusion_rules: [{pattern: qkv_proj, enabled: true}]
"""
SUBGRAPH = """
version: 1
model_name: s
subgraph: {text: "func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }"}
input_constraints: {x.0: {min: 1, max: 64, step: 8, hot: [5], off_step: reject}}
memory_optimization: {max_scratch_bytes: 4096}
"""
# What is written at a place of one of the two: the reader refuses it, and so does the schema.
FAULTS = [
    (MODEL, ["version"], 2), (MODEL, ["version"], None), (MODEL, ["model_name"], None), (MODEL, ["modle"], "x"),
    (MODEL, ["dims", "layers"], 0), (MODEL, ["dims", "layers"], "two"), (MODEL, ["dims", "tied_embeddings"], "perhaps"),
    (MODEL, ["dims", "norm_eps"], 0), (MODEL, ["dims", "deepness"], 1), (MODEL, ["precision", "weights"], "Q3_X"),
    (MODEL, ["precision"], "fast"), (MODEL, ["input_constraints", "seq_len", "max"], 65537),
    (MODEL, ["input_constraints", "batch_size"], {"max": 257}), (MODEL, ["input_constraints", "rows"], {"max": 2}),
    (MODEL, ["targets", 0, "cpu"], "x86-64-v9"), (MODEL, ["targets", 0, "cpu"], []), (MODEL, ["targets", 0, "threads"], 257),
    (MODEL, ["targets", 0, "core"], 2), (MODEL, ["max_memory_gb"], 0), (MODEL, ["max_memory_gb"], "much"),
    (MODEL, ["fusion_rules", 0, "pattern"], None), (MODEL, ["fusion_rules", 0, "mode"], "maybe"),
    (MODEL, ["input_layouts"], [{"dtype": "f16"}]), (MODEL, ["input_layouts"], [{"name": "input_ids", "shape": [1.5]}]),
    (MODEL, ["input_layouts"], [{"qkv_packed": 2}]), (MODEL, ["input_layouts"], [{"name": "input_ids", "shape": ["B"]}]),
    (MODEL, ["input_constraints", "seq_len", "off_step"], "skip"), (MODEL, ["input_constraints", "seq_len", "hot"], [0]),
    (MODEL, ["input_constraints", "seq_len", "hot"], 8), (MODEL, ["unsupported_ops"], ["exp"]), (MODEL, ["fallback"], True),
    (MODEL, ["reserve"], {}), (MODEL, ["fusion_rules", 0, "flash_attention_version"], 4),
    (MODEL, ["relations"], "seq_len <= 8"), (MODEL, ["relations"], ["seq_len < 8"]), (MODEL, ["relations"], ["seq_len <= 8"] * 9),
    (MODEL, ["memory_optimization", "max_scratch_bytes"], 4096), (SUBGRAPH, ["precision"], {"kv_cache": "f16"}),
    (SUBGRAPH, ["input_constraints", "x.0", "max"], None), (SUBGRAPH, ["input_constraints", "x.0", "off_step"], "skip"),
    (SUBGRAPH, ["input_constraints", "x.0", "hot"], [0]), (SUBGRAPH, ["input_constraints", "x.0", "out_of_range"], "pad"),
    (SUBGRAPH, ["memory_optimization", "max_scratch_bytes"], 1),
]


def schema():
    if not jsonschema or not yaml:
        raise Skip("Python has no jsonschema or no yaml (Debian: python3-jsonschema, python3-yaml)")
    text = json.loads(run_well("explain", "--schema"))
    jsonschema.Draft202012Validator.check_schema(text)
    return jsonschema.Draft202012Validator(text)


def faults_of(validator, recipe):
    return [error.message for error in validator.iter_errors(recipe)]


def check_every_recipe_of_the_project_is_valid():
    validator, num = schema(), 0
    texts = [TINY_RECIPE, MODEL, SUBGRAPH]
    for path in glob.glob(os.path.join(ROOT, "data", "recipes", "*.yaml")):
        texts.append(open(path, encoding="utf-8").read())
    for path in glob.glob(os.path.join(ROOT, "docs", "recipe.md")):
        texts += [text for text in re.findall(r"```yaml\n(.*?)```", open(path, encoding="utf-8").read(), re.S)
                  if "version: 1" in text]
    for text in texts:
        num += 1
        expect(not faults_of(validator, yaml.safe_load(text)), f"{faults_of(validator, yaml.safe_load(text))}: {text}")
    return f"{num} recipes"


def check_every_key_is_there_with_its_meaning():
    validator = schema()
    with open(os.path.join(ROOT, "src", "recipe", "recipe.def"), encoding="utf-8") as source:
        keys = re.findall(r'^RECIPE_(?:(\w+)_)?KEY\(\w+, "([^"]+)"', source.read(), re.M)
    expect(len(keys) > 50, keys)
    for scope, path in keys:
        for kind in [scope.lower()] if scope else ["model", "subgraph"]:
            node = validator.schema["$defs"][kind]
            for part in path.split("."):
                expect(node["additionalProperties"] is False, f"{path}: {node}")
                node = node["properties"][part.removesuffix("[]")]
                if "anyOf" in node and "properties" in node["anyOf"][0]:  # a mapping, or a list
                    node = node["anyOf"][1]["items"]["anyOf"][1] if part.endswith("[]") else node["anyOf"][0]
                    continue
                if part.endswith("[]"):
                    node = node["items"] if node["type"] == "array" else node["additionalProperties"]
            expect(" Effect: " in node["description"], path)
    return f"{len(keys)} keys"


def changed(text, place, value):
    recipe = copy.deepcopy(yaml.safe_load(text))
    node = recipe
    for part in place[:-1]:
        node = node.setdefault(part, {}) if isinstance(node, dict) else node[part]
    if value is None:
        del node[place[-1]]
    else:
        node[place[-1]] = value
    return recipe


def check_what_it_refuses_the_reader_refuses():
    validator = schema()
    with scratch() as folder:
        path = os.path.join(folder, "r.json")
        for text in (MODEL, SUBGRAPH):
            with open(path, "w", encoding="utf-8") as out:
                json.dump(yaml.safe_load(text), out)
            run_well("verify", path)
        for text, place, value in FAULTS:
            recipe = changed(text, place, value)
            expect(faults_of(validator, recipe) or place == ["max_memory_gb"], f"the schema takes {place}: {value}")
            with open(path, "w", encoding="utf-8") as out:
                json.dump(recipe, out)
            expect_exit(run("verify", path), 3)
    return f"{len(FAULTS)} faults"


def check_whole_floats_are_whole_numbers():
    """JSON Schema knows no difference between 8 and 8.0, so the reader must not."""
    validator = schema()
    with scratch() as folder:
        path = os.path.join(folder, "r.json")
        recipe = changed(MODEL, ["input_constraints", "seq_len", "max"], 8.0)
        recipe["input_constraints"]["kv_cache_seq_len"]["max"] = 6.4e1
        for value, whole in ((2.0, True), (2.5, False)):
            recipe["targets"][0]["threads"] = value
            with open(path, "w", encoding="utf-8") as out:
                json.dump(recipe, out)
            expect((not faults_of(validator, recipe)) == whole, value)
            expect_exit(run("verify", path), 0 if whole else 3)


def check_inspect_is_what_its_schema_says():
    """Of an artifact of a language model, of a subgraph with sizes, and of a module; the manifest included."""
    if not jsonschema or not yaml:
        raise Skip("Python has no jsonschema or no yaml (Debian: python3-jsonschema, python3-yaml)")
    with open(os.path.join(ROOT, "data", "schemas", "inspect-artifact.json"), encoding="utf-8") as source:
        published = json.load(source)
    jsonschema.Draft202012Validator.check_schema(published)
    validator = jsonschema.Draft202012Validator(published)
    with scratch() as folder:
        model, artifact = os.path.join(folder, "m.gguf"), os.path.join(folder, "a.ingot")
        make_model(model)
        for name, text, options in (("m.yaml", TINY_RECIPE, ["--model", model]), ("s.yaml", SUBGRAPH, ["--cpu=x86-64-v3"])):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
            run_well("compile", os.path.join(folder, name), *options, "-o", artifact)
            said = json.loads(run_well("inspect", artifact, "--json"))
            expect(not faults_of(validator, said), faults_of(validator, said)[:3])
        run_well("compile", os.path.join(ROOT, "tests", "chain", "modules", "mlp.mlir"), "--cpu=x86-64-v3", "-o", artifact)
        said = json.loads(run_well("inspect", artifact, "--json"))
        expect(not faults_of(validator, said), faults_of(validator, said)[:3])
    for change in (lambda d: d.pop("memory"), lambda d: d.update(more=1), lambda d: d["manifest"].pop("recipe"),
                   lambda d: d["manifest"]["recipe"].update(sha256="x"), lambda d: d["kernels"][0].update(code_bytes=-1)):
        other = copy.deepcopy(said)
        change(other)
        expect(faults_of(validator, other), "the schema takes anything")


if __name__ == "__main__":
    main(globals())
