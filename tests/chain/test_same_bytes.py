#!/usr/bin/env python3
"""An artifact is made of what its inputs say, not of what their files are called."""
import hashlib
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import TINY_RECIPE, expect, expect_exit, main, run, run_well, scratch
from tiny_model import make_model

RULES = """fusion_rules:
  - {pattern: mlp_gate_up, enabled: true}
  - {pattern: qkv_proj, mode: forbid}
"""
SUBGRAPH = """version: 1
model_name: s
subgraph:
  text: |
    func.func @f(%x: tensor<?x8xf32> {ingot.dims = ["rows", ""]}, %i: index) -> tensor<?x8xf32> {
      %c = arith.constant 2.0 : f32
      %v = tensor.extract %x[%i, %i] : tensor<?x8xf32>
      %z = arith.mulf %v, %c : f32
      %n = arith.constant 0 : index
      %d = tensor.dim %x, %n : tensor<?x8xf32>
      %e = tensor.empty(%d) : tensor<?x8xf32>
      %r = linalg.fill ins(%z : f32) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
      return %r : tensor<?x8xf32>
    }
input_constraints:
  rows: {min: 1, max: 8, step: 4}
targets: [{arch: x86_64, cpu: x86-64-v3, threads: 1}]
fusion_rules: [{pattern: elementwise, mode: allow}]
"""


def compiled(folder, name, text, *args):
    """The artifact of a recipe that is written to FOLDER/NAME."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)
    artifact = os.path.join(folder, "out.ingot")
    run_well("compile", os.path.join(folder, name), *args, "-o", artifact)
    with open(artifact, "rb") as made:
        return made.read()


def check_names_and_folders_of_recipes():
    with scratch() as folder:
        make_model(os.path.join(folder, "m.gguf"))
        for text, args in ((TINY_RECIPE + RULES, ("--model", os.path.join(folder, "m.gguf"))), (SUBGRAPH, ())):
            first = compiled(os.path.join(folder, "a"), "one.yaml", text, *args)
            second = compiled(os.path.join(folder, "b", "deeper"), "another-name.yml", text, *args)
            expect(first == second, "the artifacts differ")
            expect(b"one.yaml" not in first and b"another-name" not in second, "an artifact knows its recipe's name")
            changed = compiled(os.path.join(folder, "a"), "one.yaml", "# a line more\n" + text, *args)
            expect(changed != first, "the recipe's lines are in the artifact")


def check_the_name_of_the_model_file():
    """Weights are known by their hash: where they lay and what the file was called is not in the artifact."""
    with scratch() as folder:
        made = []
        for name in ("m.gguf", "deeper/quite-another-name.gguf"):
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            make_model(path)
            made.append(compiled(os.path.join(folder, "r"), "r.yaml", TINY_RECIPE, "--model", path))
            expect(os.path.basename(path).encode() not in made[-1], "an artifact knows the name of its model's file")
        expect(made[0] == made[1], "the artifacts differ")


def check_threads_and_locale():
    """Neither how many threads compile (as many as the machine lends) nor a locale's words and numbers change a byte."""
    with scratch() as folder:
        make_model(os.path.join(folder, "m.gguf"))
        recipe, made = os.path.join(folder, "r.yaml"), []
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(TINY_RECIPE)
        lent = os.sched_getaffinity(0)
        for cpus, locale in (({min(lent)}, "C"), (lent, "de_DE.UTF-8")):
            artifact = os.path.join(folder, f"{len(made)}.ingot")
            run_well("compile", recipe, "--model", os.path.join(folder, "m.gguf"), "-o", artifact, env={"LC_ALL": locale},
                     preexec_fn=lambda cpus=cpus: os.sched_setaffinity(0, cpus))
            with open(artifact, "rb") as out:
                made.append(out.read())
        expect(made[0] == made[1], "the artifacts differ")


def check_a_pipe_is_read_once():
    """The manifest's hash is that of the text that was compiled, also where it cannot be read again."""
    with scratch() as folder:
        artifact = os.path.join(folder, "out.ingot")
        run_well("compile", "/dev/stdin", "-o", artifact, stdin=SUBGRAPH.encode())
        recorded = json.loads(run_well("inspect", artifact, "--json"))["manifest"]["recipe"]["sha256"]
        expect(recorded == hashlib.sha256(SUBGRAPH.encode()).hexdigest(), recorded)


def check_messages_name_the_file():
    with scratch() as folder:
        path = os.path.join(folder, "broken.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write(SUBGRAPH.replace("arith.mulf", "arith.mulg"))
        for verb in ("compile", "verify"):
            done = run(verb, path, *(["--dry-run"] if verb == "compile" else []))
            expect_exit(done, 3)
            expect(f"{path}:8:".encode() in done.stderr and b"arith.mulf" in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
