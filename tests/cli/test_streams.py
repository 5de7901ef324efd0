#!/usr/bin/env python3
"""What goes where, and what stays out: model text alone on stdout, no escape bytes off a terminal, quiet
closed pipes, no socket, and diagnostics that depend on the input alone."""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import (INGOT, TINY_RECIPE, Skip, clean_environment, expect, expect_exit, main, run,
                     run_well, scratch)
from tiny_model import make_model

MLIR = "func.func @main() -> f32 {\n  %0 = arith.constant 1.0 : f32\n  return %0 : f32\n}\n"
KEPT = scratch()


def fill(folder):
    """The files that the command lines below name, in a folder."""
    path = lambda name: os.path.join(folder, name)
    if not os.path.exists(os.path.join(KEPT.name, "m.ingot")):
        make_model(os.path.join(KEPT.name, "m.gguf"), layers=1, weights="Q8_0")
        for name, text in (("r.yaml", TINY_RECIPE), ("m.mlir", MLIR), ("t.txt", "hello hello"),
                           ("bad.yaml", TINY_RECIPE.replace("threads: 2", "threads: 2k").replace("tiny", "x: y: z")),
                           ("worse.yaml", TINY_RECIPE.replace("seq_len: {min", "seq_lne: {min") + "fuse: 1\n"),
                           ("bad.mlir", MLIR.replace("arith.constant", "arith.constnat")),
                           ("p.json", '[{"name": "a", "ids": [4, 5]}]'), ("bad.json", '[{"name": 1}]')):
            with open(os.path.join(KEPT.name, name), "w", encoding="utf-8") as out:
                out.write(text)
        run_well("compile", "r.yaml", "--model", "m.gguf", "-o", "m.ingot", cwd=KEPT.name, timeout=400)
        with open(os.path.join(KEPT.name, "m.ingot"), "rb") as source:
            data = source.read()
        with open(os.path.join(KEPT.name, "cut.ingot"), "wb") as out:
            out.write(data[:len(data) // 2])
        with open(os.path.join(KEPT.name, "bad.gguf"), "wb") as out:
            out.write(b"GGUF\3\0\0\0" + b"\xff" * 40)
    if folder != KEPT.name:
        shutil.copytree(KEPT.name, folder, dirs_exist_ok=True)
    return path


GOOD = ["run m.ingot -p hello -n 3 --ignore-eos", "run m.ingot --chat -p hello -n 3 --ignore-eos",
        "inspect m.gguf", "inspect m.ingot --verify", "tokenize m.gguf hello", "explain U0001",
        "eval m.ingot --text t.txt", "eval m.ingot --prompts p.json -o o.json", "version",
        "bench m.ingot --prefill 8 --decode 2 --runs 2", "opt m.mlir", "opt m.mlir --run",
        "compile r.yaml --model m.gguf --dry-run", "compile r.yaml --model m.gguf -o new.ingot"]
BAD = ["run m.gguf -p x", "run cut.ingot -p x", "run m.ingot -p x -t 9", "run m.ingot", "inspect cut.ingot",
       "inspect bad.gguf", "tokenize bad.gguf x", "eval m.ingot --prompts bad.json -o o.json", "explain Q1",
       "opt bad.mlir", "opt m.mlir --pipeline=nosuch", "compile bad.yaml --dry-run", "compile worse.yaml --dry-run",
       "compile r.yaml --model bad.gguf --dry-run", "compile m.gguf --dry-run", "bench absent.ingot", "vresion"]


def check_an_answer_in_a_file_is_model_text_only():
    fill(KEPT.name)
    for extra in ([], ["--progress=json"], ["--show-prompt"], ["--chat"]):
        args = ["run", "m.ingot", "-p", "hello", "-n", "6", "--ignore-eos", "--greedy", *extra]
        alone = run(*args, cwd=KEPT.name)
        expect_exit(alone, 0)
        text = json.loads(run_well(*args, "--json", cwd=KEPT.name))["text"]
        expect(alone.stdout.decode() == text, (alone.stdout, text))


def check_failures_leave_stdout_empty():
    fill(KEPT.name)
    for line in BAD:
        done = run(*line.split(), cwd=KEPT.name)
        expect(done.returncode not in (0, 1, 70) and done.returncode < 128, f"{line}: {done.returncode}")
        expect(done.stdout == b"", f"{line}: {done.stdout[:200]}")
        expect(re.search(rb"error\[[A-Z]\d{4}\]", done.stderr), f"{line}: {done.stderr}")


def check_no_escape_byte_off_a_terminal():
    fill(KEPT.name)
    for env in ({"TERM": "xterm"}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": "dumb"},
                {"TERM": "dumb", "CLICOLOR_FORCE": "1", "NO_COLOR": "1"}):
        for line in GOOD + BAD:
            done = run(*line.split(), cwd=KEPT.name, env=env)
            # The random model may say any byte below 32 itself.
            shown = done.stderr + (b"" if line.startswith("run m.ingot") else done.stdout)
            expect(b"\x1b" not in shown, (env, line))
    return f"{len(GOOD + BAD)} command lines"


def check_every_verb_bears_a_closed_stdout():
    fill(KEPT.name)
    for line in GOOD:
        done = subprocess.run(f"exec '{INGOT}' {line} -q >&-", shell=True, cwd=KEPT.name,
                              stderr=subprocess.PIPE, env=clean_environment(), timeout=120)
        expect(done.returncode in (0, 6), f"{line}: {done.returncode}")
        read_end, write_end = os.pipe()
        os.close(read_end)
        done = subprocess.run([INGOT, *line.split(), "--progress=none"], stdout=write_end, cwd=KEPT.name,
                              stderr=subprocess.PIPE, env=clean_environment(), timeout=120)
        os.close(write_end)
        expect(done.returncode in (0, 141, -13), f"{line}: {done.returncode}")
        expect(b"error" not in done.stderr and b"SIGPIPE" not in done.stderr, f"{line}: {done.stderr}")


def check_a_full_stdout_is_6():
    fill(KEPT.name)
    for line in GOOD:
        if "-o new.ingot" in line:
            continue  # it says nothing on stdout
        with open("/dev/full", "wb") as full:
            done = subprocess.run([INGOT, *line.split()], stdout=full, stderr=subprocess.PIPE,
                                  cwd=KEPT.name, env=clean_environment(), timeout=120)
        expect(done.returncode == 6 and b"error[U0003]" in done.stderr, f"{line}: {done.returncode} {done.stderr}")


def check_no_verb_opens_a_socket():
    strace = shutil.which("strace")
    if not strace:
        raise Skip("strace is not installed")
    fill(KEPT.name)
    log = os.path.join(KEPT.name, "trace")
    for line in GOOD:
        done = subprocess.run([strace, "-f", "-qq", "-e", "trace=%network,execve", "-o", log, INGOT,
                               *line.split()], capture_output=True, cwd=KEPT.name,
                              env=clean_environment(), timeout=300)
        if b"PTRACE" in done.stderr or b"ptrace" in done.stderr:
            raise Skip("tracing is not allowed here")
        with open(log, encoding="utf-8", errors="replace") as source:
            calls = source.read()
        expect("execve(" in calls, f"{line}: nothing was traced: {done.stderr}")
        expect(not re.search(r"\b(socket|connect|bind|sendto|sendmsg)\w*\(", calls), f"{line}: {calls[:500]}")
    return f"{len(GOOD)} command lines"


def check_diagnostics_depend_on_the_input_alone():
    """Byte-equal in two folders, two locales, two time zones, whatever the width of the terminal."""
    fill(KEPT.name)
    with scratch() as folder:
        other = os.path.join(folder, "with a longer name")
        os.mkdir(other)
        fill(other)
        for line in BAD:
            here = run(*line.split(), cwd=KEPT.name, env={"LC_ALL": "C", "TZ": "UTC"})
            there = run(*line.split(), cwd=other,
                        env={"LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "TZ": "Asia/Tokyo", "COLUMNS": "47"})
            for done in (here, there):  # finished phases carry their time
                done.stderr = re.sub(rb"^\w+: \d+\.\d+ s\n", b"", done.stderr, flags=re.MULTILINE)
            expect((here.returncode, here.stderr) == (there.returncode, there.stderr),
                   f"{line}: {here.stderr} is not {there.stderr}")


def check_misspelt_variables_are_named():
    for wrong, right in (("INGOT_THREAD", "INGOT_THREADS"), ("INGOT_COLOUR", "INGOT_COLOR"),
                         ("INGOT_PROGRES", "INGOT_PROGRESS")):
        done = run("explain", "U0001", env={wrong: "1"})
        expect_exit(done, 0)
        expect(b"warning[U0006]" in done.stderr and wrong.encode() in done.stderr, done.stderr)
        expect(f"write:    {right}".encode() in done.stderr, done.stderr)
    done = run("explain", "U0001", env={"INGOT_QQQQQQQQQQ": "1"})
    expect(b"warning[U0006]" in done.stderr and b"write:" not in done.stderr, done.stderr)
    done = run("opt", stdin=MLIR.encode(), env={"INGOT_THREAD": "2"})
    expect(done.stderr.count(b"U0006") == 1, f"once, though two programs run: {done.stderr}")


if __name__ == "__main__":
    main(globals())
