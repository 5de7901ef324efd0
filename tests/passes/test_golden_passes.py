#!/usr/bin/env python3
"""Every pass on the text the pass before it left, against the text on record in golden/: a change of
what a pass writes shows as a difference of lines. INGOT_BLESS=1 writes the record anew. Of kernels as
loops and vectors the record holds one, the others are long and change with every schedule. Each text
is stock MLIR, and the pipeline at hand keeps results (--verify-each)."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, expect_exit, main, run, run_well

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
PASSES = [row["name"] for row in json.loads(run_well("opt", "--list-passes", "--json"))["passes"]]
BLESS = os.environ.get("INGOT_BLESS") == "1"


def path_of(number):
    name = PASSES[number - 1] if number else "input"
    return os.path.join(GOLDEN, f"{number:02d}-{name}.mlir")


LONG = PASSES.index("vectorize") + 1  # from here on the record holds one kernel
KERNEL = "@rows_0("


def input_of(number):
    """The text pass `number` reads."""
    if number <= LONG:
        return read(path_of(number - 1))
    passes = ",".join(PASSES[LONG - 1:number - 1])
    return run_well("opt", path_of(LONG - 1), "--pipeline=" + passes).decode()


def recorded(number, text):
    if number < LONG:
        return text
    lines = text.splitlines(keepends=True)
    first = next(i for i, line in enumerate(lines) if KERNEL in line and "call" not in line)
    last = next(i for i in range(first, len(lines)) if lines[i] == "  }\n")
    maps = "".join(line for line in lines if line.startswith("#map"))
    return maps + "module {\n" + "".join(lines[first:last + 1]) + "}\n"


def read(path):
    with open(path, encoding="utf-8") as source:
        return source.read()


def expect_recorded(path, text):
    if BLESS:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    if text == read(path):
        return f"{len(text.splitlines())} lines"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as out:
        out.write(text)
        out.flush()
        differs = subprocess.run(["diff", "-u", path, out.name], capture_output=True, text=True, check=False).stdout
    return expect(False, "\n".join(differs.splitlines()[:40]))


def pass_check(number):
    def check():
        text = run_well("opt", f"--pipeline={PASSES[number - 1]}", stdin=input_of(number).encode())
        return expect_recorded(path_of(number), recorded(number, text.decode()))

    return check


def check_maps_in_blocks():
    """Two convolutions on a machine whose second cache holds nothing: the map between them is in blocks, what the
    network takes and gives is not; the relayouts around the activation and the padding are gone in the end."""
    folder = os.path.join(os.path.dirname(GOLDEN), "golden_maps")
    names = ["layout-optimize", "propagate-layout"]
    path = os.path.join(folder, "input.mlir")
    for name in names:
        text = run_well("opt", f"--pipeline={name}", stdin=read(path).encode()).decode()
        path = os.path.join(folder, name + ".mlir")
        expect_recorded(path, text)
        tool = shutil.which("mlir-opt-22")
        if tool:
            run_stock = subprocess.run([tool, "--verify-each", path, "-o", os.devnull], capture_output=True, text=True,
                                       check=False)
            expect(run_stock.returncode == 0, run_stock.stderr[:400])
    done = run("opt", os.path.join(folder, "input.mlir"), "--pipeline=" + ",".join(names), "--verify-each")
    expect_exit(done, 0)
    expect("2 passes" in done.stderr.decode(), done.stderr)


def check_golden_has_no_other_files():
    there = sorted(name for name in os.listdir(GOLDEN) if name.endswith(".mlir"))
    wanted = sorted(os.path.basename(path_of(i)) for i in range(len(PASSES) + 1))
    expect(there == wanted, f"{there} instead of {wanted}")


def check_golden_is_stock_mlir():
    tool = shutil.which("mlir-opt-22")
    if not tool:
        return "mlir-opt-22 is not installed: not checked"
    for i in range(len(PASSES) + 1):
        done = subprocess.run([tool, "--verify-each", path_of(i), "-o", os.devnull],
                              capture_output=True, text=True, check=False)
        expect(done.returncode == 0, done.stderr[:400])
    return f"{len(PASSES) + 1} files"


def check_results_are_kept():
    done = run("opt", path_of(0), "--pipeline=" + ",".join(PASSES), "--verify-each")
    expect_exit(done, 0)
    said = done.stderr.decode()
    expect(f"verify-each: {len(PASSES)} passes" in said and "no valid inputs" not in said, said)
    return said.strip()


for index in range(1, len(PASSES) + 1):
    globals()[f"check_{index:02d}_{PASSES[index - 1].replace('-', '_')}"] = pass_check(index)

if __name__ == "__main__":
    main(globals())
