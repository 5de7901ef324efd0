#!/usr/bin/env python3
"""Recipes without a model file: what is planned from `dims`, or from a known model's name, is what the file
would give; with a file every number of `dims` is held against it; nothing pretends to have weights."""
import json
import os
import re
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, TINY_RECIPE, expect, expect_exit, main, run, run_well, scratch
from tiny_model import FAMILIES, make_model

KEPT = scratch()
TINY = {"layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "ffn": 160, "context": 256, "rope_base": 10000,
        "norm_eps": "1e-5", "tied_embeddings": "true"}
RECIPE_7B = os.path.join(ROOT, "data", "recipes", "llama-7b.yaml")


def recipe(dims, name="r.yaml", weights="Q8_0"):
    path = os.path.join(KEPT.name, name)
    block = "".join(f"  {key}: {value}\n" for key, value in dims.items())
    with open(path, "w", encoding="utf-8") as out:
        out.write(TINY_RECIPE.replace("as_stored", weights) + ("dims:\n" + block if dims else ""))
    return path


def model(family="llama", **changes):
    path = os.path.join(KEPT.name, f"{family}.gguf")
    if not os.path.exists(path):
        make_model(path, weights="Q8_0", family=family, **changes)
    return path


def vocabulary():
    inspected = json.loads(run_well("inspect", model(), "--json", "--all"))
    return next(t["shape"][0] for t in inspected["tensors"] if t["name"] == "token_embd.weight")


def dims(family="llama", **changes):
    traits = FAMILIES[family]
    values = {"architecture": family, "vocab": vocabulary(), **TINY}
    if "rope_base" in traits:
        values["rope_base"] = int(traits["rope_base"])
    if "window" in traits:
        values["sliding_window"] = traits["window"]
    values.update(changes)
    return values


def refused(path, code, exit_code, *words, options=("--dry-run",)):
    done = run("compile", path, *options)
    text = done.stderr.decode()
    expect_exit(done, exit_code)
    expect(f"error[{code}]" in text and all(word in text for word in words), text)
    return text


def check_the_plan_is_the_files():
    """IR and bytes are those of a file of that shape, in every family."""
    for family in FAMILIES:
        layers = 6 if family == "gemma3" else 2
        with_file = ("--model", model(family, layers=layers))
        path = recipe(dims(family, layers=layers))
        irs = [run_well("compile", path, "--emit-ir=1", *options).decode() for options in ((), with_file)]
        irs = [re.sub(r"model = -?\d+ : i64|: i32, (?=})", "", text) for text in irs]
        expect(irs[0] == irs[1], f"{family}: the modules differ")
        parts = []
        for options in ((), with_file):
            memory = json.loads(run_well("compile", path, "--dry-run", "--json", *options, timeout=400))["memory"]
            expect(sum(p["bytes"] for p in memory["parts"]) == memory["total_bytes"], memory)
            parts.append({p["name"]: p["bytes"] for p in memory["parts"]})
        for name in ("weights", "kv pages", "arena", "scratch", "io"):
            expect(parts[0][name] == parts[1][name], f"{family}: {name}: {parts}")


def check_every_number_is_held_against_the_file():
    good = dims()
    wrong = {"architecture": "qwen2", "layers": 3, "hidden": 32, "heads": 2, "kv_heads": 4, "ffn": 96,
             "vocab": 300, "context": 512, "rope_base": 20000, "norm_eps": "1e-6", "tied_embeddings": "false",
             "head_dim": 32}
    expect_exit(run("compile", recipe(good), "--model", model(), "--emit-ir=1"), 0)
    for key, value in wrong.items():
        text = refused(recipe({**good, key: value}), "R0011", 3, key, options=("--model", model(), "--dry-run"))
        mended = re.search(rf"write: +{key}: (\S+)", text)
        expect(mended or key == "tied_embeddings", text)
        if mended:
            expect_exit(run("compile", recipe({**good, key: mended[1]}), "--model", model(), "--emit-ir=1"), 0)
    refused(recipe({**good, "sliding_window": 64}), "R0012", 3, "dims.sliding_window",
            options=("--model", model(), "--dry-run"))
    refused(recipe(good, weights="Q4_0"), "R0011", 3, "weights: as_stored", options=("--model", model(), "--dry-run"))


def check_what_is_missing_is_named():
    good = dims()
    for key in ("architecture", "layers", "hidden", "heads", "ffn", "vocab", "norm_eps"):
        refused(recipe({k: v for k, v in good.items() if k != key}), "R0009", 3, f"dims.{key} is missing")
    refused(recipe(good, weights="as_stored"), "R0009", 3, "weights: Q4_0")
    refused(recipe({}), "P0009", 3, "no model of data/models is called tiny")
    refused(recipe({**good, "architecture": "llamma"}), "F0014", 3, "known architectures: ")
    refused(recipe({**good, "heads": 5}), "F0016", 3, "dims.heads")
    refused(recipe({**good, "layers": 0}), "R0005", 3, "dims.layers")
    refused(recipe(good, weights="Q4_K"), "R0011", 3, "blocks of 256")
    refused(recipe({**good, "hidden": 1 << 20, "head_dim": 16, "vocab": 1 << 24}), "R0005", 3, "elements")


def check_the_largest_numbers_hold():
    """Memory that grew with the square of the layers took more than eight gigabytes here."""
    sanitized = "sanitize" in json.loads(run_well("version", "--json"))["build_mode"]

    def bounded():
        if not sanitized:  # which needs the address space
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    for values in (dims(layers=512), dims(head_dim=1024)):
        expect_exit(run("compile", recipe(values), "--dry-run", timeout=400, preexec_fn=bounded), 0)
    refused(recipe(dims(layers=513)), "R0005", 3, "dims.layers", "512")
    refused(recipe(dims(head_dim=1026)), "R0005", 3, "dims.head_dim", "1024")


def check_no_weights_no_artifact():
    out = os.path.join(KEPT.name, "x.ingot")
    refused(recipe(dims()), "P0009", 3, "an artifact holds", options=("-o", out))
    expect(not os.path.exists(out), "nothing is written")
    expect_exit(run("compile", recipe(dims()), "-o", out, "--dry-run"), 0)
    expect(not os.path.exists(out), "nothing is written")


def check_each_number_changes_the_plan():
    """Without a file; norm_eps and rope_base change constants alone, context what is allowed."""
    good = dims(architecture="olmo2", sliding_window=12)

    def of(values):
        path = recipe(values)
        return run_well("compile", path, "--emit-ir=1")
    base = of(good)
    for key, value in {"architecture": "qwen2", "layers": 3, "hidden": 32, "heads": 2, "kv_heads": 4, "ffn": 96,
                       "vocab": 300, "rope_base": 20000, "norm_eps": "1e-6", "tied_embeddings": "false",
                       "head_dim": 32, "sliding_window": 16}.items():
        changed = {**good, key: value}
        if key == "architecture":
            del changed["sliding_window"]
        expect(of(changed) != base, f"dims.{key} changes nothing")
    refused(recipe({**good, "context": 32}), "F0016", 3, "context")
    expect(of(good) != run_well("compile", recipe(good, weights="F16"), "--emit-ir=1"), "precision.weights")


def check_known_models():
    """Each is found under its name however it is spelt, and its weights have the bytes of its shape."""
    def bytes_of(rows, columns):
        return rows * columns // 32 * 18  # Q4_0
    for name in sorted(os.listdir(os.path.join(ROOT, "data", "models"))):
        name = name[:-len(".yaml")]
        with open(os.path.join(ROOT, "data", "models", name + ".yaml"), encoding="utf-8") as source:
            d = {k: v for k, v in re.findall(r"(\w+): ([\w.-]+)[,}]", source.read())}
        for spelt in (name, name.replace("-", "").upper()):
            path = os.path.join(KEPT.name, "known.yaml")
            with open(path, "w", encoding="utf-8") as out:
                out.write(f"version: 1\nmodel_name: {spelt}\nprecision: {{weights: Q4_0}}\ntargets: [{{name: l40s}}]\n")
            expect(b"func.func @forward" in run_well("compile", path, "--emit-ir=1"), spelt)
        n = {k: int(d[k]) for k in ("layers", "hidden", "heads", "kv_heads", "ffn", "vocab")}
        kv = n["kv_heads"] * n["hidden"] // n["heads"]
        matrices = [(n["hidden"], n["hidden"])] * 2 + [(kv, n["hidden"])] * 2 + [(n["ffn"], n["hidden"])] * 3
        want = n["layers"] * sum(bytes_of(*m) for m in matrices)
        want += bytes_of(n["vocab"], n["hidden"]) * (1 if d.get("tied_embeddings") == "true" else 2)
        want += 4 * n["hidden"] * (2 * n["layers"] + 1)
        document = json.loads(run_well("compile", path, "--dry-run", "--json", timeout=400))
        weights = next(p["bytes"] for p in document["memory"]["parts"] if p["name"] == "weights")
        # Beside the weights stand the rotary tables, of context + largest bucket rows in f32.
        rows, half = 2048 + 512, n["hidden"] // n["heads"] // 2
        want += 2 * 4 * rows * half
        # Beside them stand tables and the padding of packed weights, far less than any matrix left out.
        expect(want <= weights < want + (1 << 21), f"{name}: {weights} bytes, {want} by hand")


def check_the_7b_recipe_on_all_its_targets():
    seen, modules = set(), set()
    for target in ("a100-sxm-80gb", "l40s", "ascend-910b2", "x86_64"):
        document = json.loads(run_well("compile", RECIPE_7B, "--dry-run", "--json", f"--target={target}", timeout=400))
        memory = document["memory"]
        expect(sum(p["bytes"] for p in memory["parts"]) == memory["total_bytes"], memory)
        parts = {p["name"]: p["bytes"] for p in memory["parts"]}
        expect(parts["kv pages"] == 32 * 2 * 32 * 2048 * 4096 * 2, parts)  # sequences, K and V, layers, tokens, f16
        expect([e["bucket_tokens"] for e in document["entries"]] == [1, *range(128, 2049, 128), 8, 16, 24, 32],
               "buckets of tokens, then of sequences")
        times = [entry["all_threads_ns"][1] for entry in document["predicted"][0]["entries"][:17]]
        expect(times == sorted(times) and times[0] > 0, times)
        seen.add(times[0])
        text = run_well("compile", RECIPE_7B, "--emit-ir=1", f"--target={target}")
        modules.add(re.sub(rb"(threads|recipe) = -?\d+", b"", text))
    expect(len(seen) == 4, "each machine has its own times")
    expect(len(modules) == 1, "the tensor-level module is the same for every target but for its threads")


def seven(*changes, more=""):
    """The 7B recipe with texts replaced, one after the other."""
    with open(RECIPE_7B, encoding="utf-8") as source:
        text = source.read()
    for old, new in changes:
        expect(old in text, old)
        text = text.replace(old, new)
    path = os.path.join(KEPT.name, "seven.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text + more)
    return path


def check_wrong_hardware_numbers_are_told_the_right_ones():
    for key, right, wrong, machine in (
            ("sm_count", 108, 128, "a100-sxm-80gb"), ("mem_bandwidth_gbps", 2039, 1555, "a100-sxm-80gb"),
            ("l2_cache_mb", 96, 48, "l40s"), ("mem_bandwidth_gbps", 864, 960, "l40s"), ("core_count", 24, 20, "ascend-910b2"),
            ("mem_bandwidth_gbps", 1600, 1200, "ascend-910b2")):
        path = seven((f"{key}: {right}", f"{key}: {wrong}"))
        refused(path, "H0005", 3, f"{key} {wrong} contradicts", f"{machine} has {right}", f"write:    {key}: {right}",
                options=("--dry-run", "--target=x86_64"))


def check_a_bound_on_the_7b_plan_is_held_to_the_byte():
    document = json.loads(run_well("compile", RECIPE_7B, "--dry-run", "--json", "--target=l40s", timeout=400))
    need = document["memory"]["total_bytes"]
    run_well("compile", seven(more=f'max_memory_gb: "{need} B"\n'), "--dry-run", "--target=l40s", timeout=400)
    text = refused(seven(more=f'max_memory_gb: "{need - 1} B"\n'), "M0001", 4, "kv pages",
                   options=("--dry-run", "--target=l40s"))
    expect(f"{need - 1:,}".replace(",", " ") in text or str(need - 1) in text, text)


if __name__ == "__main__":
    main(globals())
