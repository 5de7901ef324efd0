"""What the script tests share: running ingot, checks, and the loop over a module's check_* functions.

Each check prints one line: `ok NAME`, `not ok NAME: why`, `skip NAME: why`.
"""
import importlib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INGOT = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
RECIPE = os.path.join(ROOT, "data", "recipes", "smollm2-135m.yaml")
TINY_RECIPE = """version: 1
model_name: tiny
precision: {weights: as_stored, activations: f32, kv_cache: f32}
input_constraints:
  seq_len: {min: 1, max: 8, step: 8}
  kv_cache_seq_len: {max: 64}
targets:
  - {arch: x86_64, cpu: x86-64-v3, threads: 2}
memory_optimization: {kv_cache_page_size: 16}
"""


class Skip(Exception):
    """Raised with the reason."""


def clean_environment(extra=None):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("INGOT_")}
    environment.update(extra or {})
    return environment


def run(*args, stdin=b"", env=None, timeout=120, **kwargs):
    return subprocess.run([INGOT, *map(str, args)], input=stdin, capture_output=True,
                          timeout=timeout, env=clean_environment(env), **kwargs)


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def expect_exit(done, code):
    expect(done.returncode == code, f"exit {done.returncode} instead of {code}: "
           f"{done.stderr.decode('utf-8', 'replace')[:600]}")


def run_well(*args, **kwargs):
    """Runs and expects exit 0; returns what was on stdout."""
    done = run(*args, **kwargs)
    expect_exit(done, 0)
    return done.stdout


def real_model():
    path = os.environ.get("INGOT_MODEL")
    if not path or not os.path.exists(path):
        raise Skip("INGOT_MODEL names no model file (`./dev fetch` downloads one)")
    return path


def golden_folder():
    folder = os.environ.get("INGOT_GOLDEN_DIR")
    if not folder or not os.path.isdir(os.path.join(folder, "smollm2-135m")):
        raise Skip("INGOT_GOLDEN_DIR holds no smollm2-135m")
    return os.path.join(folder, "smollm2-135m")


def scratch():
    return tempfile.TemporaryDirectory(prefix="ingot-test-")


class Kept:
    """A folder for what the checks of one test share; it goes with the test."""

    def __init__(self):
        self.folder = scratch()
        self.name = self.folder.name

    def at(self, name):
        return os.path.join(self.name, name)

    def write(self, name, content):
        path = self.at(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
        return path

    def model(self, name="m.gguf", **shape):
        """A tiny model, made where it is not yet there; without a shape, of one layer that is quick to compile."""
        if not os.path.exists(self.at(name)):
            make = importlib.import_module("tiny_model").make_model
            make(self.at(name), **(shape or dict(layers=1, dim=32, ffn=64, heads=2, kv_heads=1, weights="Q8_0",
                                                 vocab_multiple=32)))
        return self.at(name)

    def tiny(self):
        """Recipe, model, and an artifact with a code level beside the least."""
        recipe, model, artifact = self.at("r.yaml"), self.model(), self.at("m.ingot")
        if not os.path.exists(artifact):
            self.write("r.yaml", TINY_RECIPE)
            run_well("compile", recipe, "--model", model, "-o", artifact, timeout=400)
        return recipe, model, artifact


def with_numpy(*names):
    """These modules, which need numpy; None for each where no Python here has it. Debian's numpy belongs to
    Debian's Python, which need not be the first one in PATH: the test starts over in that one."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError:
        system = "/usr/bin/python3"
        if os.path.exists(system) and not os.path.samefile(system, sys.executable):
            os.execv(system, [system, *sys.argv])
        return [None] * len(names)


def main(module):
    """Runs the check_* functions of a module (its globals()) in order of definition."""
    failed = 0
    for name, function in list(module.items()):
        if not name.startswith("check_"):
            continue
        label = name[6:].replace("_", "-")
        try:
            note = function()
            print(f"ok {label}" + (f" ({note})" if note else ""), flush=True)
        except Skip as reason:
            print(f"skip {label}: {reason}", flush=True)
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"not ok {label}: {type(error).__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)
