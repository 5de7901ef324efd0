#!/usr/bin/env python3
"""The examples of `ingot explain CODE` do what the manual says: the failing one gives the code, the mended one
ends with 0 and does not. src/base/diags/all.def says how an example is written.

INGOT_EXAMPLES=all runs every one, INGOT_EXAMPLES=R0001,I0007 those; else some are."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from gguf_edit import edit
from support import INGOT, ROOT, TINY_RECIPE, Kept, clean_environment, expect, main, run_well
from tiny_model import make_model

KEPT = Kept()
kept = KEPT.at
# What is done with a document where the example does not say.
DEFAULTS = {
    "recipe.yaml": "ingot verify recipe.yaml --model model.gguf",
    "module.mlir": "ingot opt module.mlir",
    "model.gguf": "ingot verify recipe.yaml --model model.gguf",
}
MODULE = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"
ONES = "func.func @main() -> tensor<4xf32> {\n  %x = arith.constant dense<1.0> : tensor<4xf32>\n  return %x : tensor<4xf32>\n}\n"


def put(path, data):
    with open(path, "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())
    return path


def get(path):
    with open(path, "rb") as source:
        return source.read()


def base():
    """The folder every example begins with: a model, its recipe, a module, and what is compiled of them."""
    folder = kept("base")
    if os.path.isdir(folder):
        return folder
    os.mkdir(folder)
    at = lambda name: os.path.join(folder, name)
    make_model(at("model.gguf"), layers=1, dim=32, ffn=64, heads=2, kv_heads=1, weights="Q8_0", vocab_multiple=32)
    put(at("recipe.yaml"), TINY_RECIPE)
    put(at("module.mlir"), MODULE)
    put(at("ones.mlir"), ONES)
    shutil.copy(os.path.join(ROOT, "data", "targets", "x86-64-v3.yaml"), at("here.yaml"))
    run_well("compile", at("recipe.yaml"), "--model", at("model.gguf"), "-o", at("model.ingot"), timeout=400)
    run_well("compile", at("module.mlir"), "--cpu=x86-64-v3", "-o", at("module.ingot"), timeout=400)
    run_well("opt", at("ones.mlir"), "--run", f"--result={at('x.npy')}")
    return folder


def laid_over(fragment):
    """The recipe with the top-level keys of the fragment in place of its own; a fragment that is a recipe by
    itself, or no mapping of lines, stands alone."""
    keys = re.findall(r"^([A-Za-z_]\w*):", fragment, re.MULTILINE)
    if not keys or "subgraph" in keys or re.search(r"^[^\s#\w]", fragment, re.MULTILINE):
        return fragment + "\n"
    blocks = re.findall(r"^\w+:.*\n(?:[ -].*\n)*", TINY_RECIPE, re.MULTILINE)
    rest = [block for block in blocks if block.split(":")[0] not in keys]
    return fragment + "\n" + "".join(rest)


def document(text, folder):
    """Writes the document of an example; returns the file's name."""
    kind = ("model.gguf" if re.match(r"\{[%{]|[a-z0-9_]+\.\S+: ", text) else
            "module.mlir" if re.match(r"func\.func|module|#", text) else "recipe.yaml")
    path = os.path.join(folder, kind)
    if kind == "recipe.yaml":
        put(path, laid_over(text))
    elif kind == "module.mlir":
        put(path, text + "\n")
    elif text.startswith("{"):
        put(path, edit(get(path), {"tokenizer.chat_template": text}))
    else:
        changes = dict(line.split(": ", 1) for line in text.replace("\\t", "\t").splitlines())
        put(path, edit(get(path), {key: json.loads(change) for key, change in changes.items()}))
    return kind


def perform(example):
    """Runs an example in a folder of its own; returns the exit code and what was said."""
    lines = example.split("\n")
    commands = [line[2:] for line in lines if line.startswith("$ ")]
    text = "\n".join(line for line in lines if not line.startswith("$ "))
    folder = kept("run")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base(), folder)
    kind = document(text, folder) if text else None
    script = "\n".join(commands or [DEFAULTS[kind]])
    path = os.path.dirname(INGOT) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(["sh", "-e", "-c", script], cwd=folder, capture_output=True, timeout=400,
                          env=clean_environment({"PATH": path}), stdin=subprocess.DEVNULL)
    return done.returncode, done.stderr.decode("utf-8", "replace")


def catalogue():
    return json.loads(run_well("explain", "--json"))["codes"]


def is_slow(info):
    """A language model is compiled, not only planned for."""
    return any(word in info["bad"] + info["good"] for word in ("ingot compile recipe", "ingot tune")) or info["code"] == "M0001"


def chosen():
    shown, wanted = [info for info in catalogue() if info["bad"]], os.environ.get("INGOT_EXAMPLES")
    if wanted:
        return [info for info in shown if wanted == "all" or info["code"] in wanted.split(",")]
    every = 16 if "sanitize" in json.loads(run_well("version", "--json"))["build_mode"] else 4
    quick, slow = [info for info in shown if not is_slow(info)], [info for info in shown if is_slow(info)]
    return quick[::every] + slow[1::2 * every]


def check_every_code_has_both_examples_or_says_why_not():
    for info in catalogue():
        code = info["code"]
        expect(bool(info["bad"]) == bool(info["good"]), f"{code}: one example of two")
        expect(bool(info["bad"]) != bool(info["no_example"]), f"{code}: neither example nor reason")
        expect(info["bad"] != info["good"] or not info["bad"], f"{code}: the examples are equal")
        expect(info["title"] and len(info["cause"]) > 20, code)
        said = run_well("explain", code).decode()
        indent = lambda text: "\n".join("  " + line for line in text.split("\n"))
        for text in (info["bad"], info["good"], info["no_example"]):
            expect(indent(text) in said or not text, f"{code}: not shown by explain")


def check_examples():
    count, wrong = 0, []
    for info in chosen():
        code = info["code"]
        status, said = perform(info["bad"])
        if f"[{code}]" not in said or (status == 0) != (f"error[{code}]" not in said):
            wrong.append(f"{code} fails otherwise: exit {status}: {said[:700]}")
        status, said = perform(info["good"])
        if status or f"[{code}]" in said:
            wrong.append(f"{code} is not mended: exit {status}: {said[:700]}")
        count += 1
    expect(not wrong, "\n".join(wrong))
    return f"{count} codes"


if __name__ == "__main__":
    main(globals())
