#!/usr/bin/env python3
"""Compiling a real model: dumps that stock MLIR takes, the same bytes twice, resuming, interruption,
time, memory as planned."""
import glob
import json
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import INGOT, RECIPE, Skip, clean_environment, expect, main, real_model, run, run_well, scratch


def compile_into(folder, *args, name="m.ingot", **kwargs):
    artifact = os.path.join(folder, name)
    run_well("compile", RECIPE, "--model", real_model(), "-o", artifact, *args, timeout=300, **kwargs)
    return artifact


KEPT = scratch()
SHARED = {}


def shared_artifact():
    """The recipe compiled once for all checks that only use the result."""
    if "path" not in SHARED:
        SHARED["path"] = compile_into(KEPT.name, name="shared.ingot")
    return SHARED["path"]


def read(path):
    with open(path, "rb") as source:
        return source.read()


def check_shares_kernels():
    with scratch() as folder:
        start = time.monotonic()
        artifact = compile_into(folder)
        seconds = time.monotonic() - start
        document = json.loads(run_well("inspect", artifact, "--json"))
        expect(len(document["kernels"]) < 40, f"{len(document['kernels'])} kernels")
        expect(document["num_kernels"] == len(document["kernels"]), "the count is the list's")
        return f"{seconds:.1f} s, {len(document['kernels'])} kernels"


def check_memory_parts_add_up():
    artifact = shared_artifact()
    memory = json.loads(run_well("inspect", artifact, "--json"))["memory"]
    expect(sum(part["bytes"] for part in memory["parts"]) == memory["total_bytes"], memory)
    plan = json.loads(run_well("compile", RECIPE, "--model", real_model(), "--dry-run", "--json",
                               timeout=300))
    expect(plan["memory"]["total_bytes"] == memory["total_bytes"], "dry run and inspect agree")
    document = json.loads(run_well("run", artifact, "-p", "Hello", "-n", "4", "--greedy",
                                   "--json"))
    planned, measured = memory["total_bytes"], document["peak_rss_bytes"]
    expect(measured <= planned * 1.01 + (16 << 20), f"planned {planned}, used {measured}")
    return f"planned {planned}, used {measured}"


def check_same_bytes_in_two_folders():
    with scratch() as one, scratch() as two:
        first = read(compile_into(one))
        only_one = next(iter(os.sched_getaffinity(0)))
        second = read(compile_into(two, cwd=two,
                                   preexec_fn=lambda: os.sched_setaffinity(0, {only_one})))
        expect(first == second, "the artifacts differ")


def check_dumps_are_mlir():
    optimizer, translator = shutil.which("mlir-opt-22"), shutil.which("mlir-translate-22")
    if not optimizer or not translator:
        raise Skip("mlir-opt-22 and mlir-translate-22 are not installed")
    with scratch() as folder:
        dumps = os.path.join(folder, "ir")
        compile_into(folder, "--dump-ir-after=all", f"--dump-dir={dumps}")
        files = sorted(glob.glob(os.path.join(dumps, "*.mlir")))
        expect(len(files) > 5, f"{len(files)} dumps")
        refused = []
        for path in files:
            done = subprocess.run([optimizer, "--verify-each", path, "-o", os.devnull],
                                  capture_output=True, text=True)
            if done.returncode:
                refused.append(os.path.basename(path) + ": " + done.stderr[:300])
            elif b"llvm.func" in read(path) and b"func.func" not in read(path):
                done = subprocess.run([translator, "--mlir-to-llvmir", path, "-o", os.devnull],
                                      capture_output=True, text=True)
                if done.returncode:
                    refused.append(os.path.basename(path) + " (translate): " + done.stderr[:300])
        expect(not refused, "\n".join(refused))
        return f"{len(files)} dumps"


def check_resuming_gives_the_same_artifact():
    with scratch() as folder:
        dumps = os.path.join(folder, "ir")
        whole = compile_into(folder, "--dump-ir-after=all", f"--dump-dir={dumps}")
        kernels = json.loads(run_well("inspect", whole, "--json"))["kernels"]
        files = sorted(os.listdir(dumps))
        common = [name for name in files if "x86-64" not in name and "vnni" not in name]
        for name in (common[0], common[len(common) // 2], common[-1]):
            resumed = compile_into(folder, f"--resume-from={os.path.join(dumps, name)}",
                                   name="resumed.ingot")
            again = json.loads(run_well("inspect", resumed, "--json"))["kernels"]
            expect(again == kernels, name)
        # Behind the passes that all CPU levels share, a dump is of one level.
        name = next(name for name in files if "x86-64-v4" in name)
        resumed = compile_into(folder, f"--resume-from={os.path.join(dumps, name)}",
                               name="resumed.ingot")
        for one, other in zip(json.loads(run_well("inspect", resumed, "--json"))["kernels"], kernels):
            expect(one["code_bytes"] == {"x86-64-v4": other["code_bytes"]["x86-64-v4"]}, name)
        return f"{len(common)} of {len(files)} dumps are of all levels"


def check_interrupted_compile_leaves_nothing():
    with scratch() as folder:
        artifact = os.path.join(folder, "m.ingot")
        for delay in (0.05, 0.3, 0.8, 1.5, 2.5):
            process = subprocess.Popen(
                [INGOT, "compile", RECIPE, "--model", real_model(), "-o", artifact],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            code = process.wait(60)
            left = os.listdir(folder)
            expect((code == 130 and left == []) or (code == 0 and left == ["m.ingot"]) or
                   (code == -signal.SIGINT and left == []), f"after {delay} s: {code}, {left}")
            if code == 0:
                os.unlink(artifact)


def check_threads_do_not_change_the_answer():
    artifact = shared_artifact()
    answers = {run_well("run", artifact, "-p", "The sea is", "-n", "40", "--greedy", "--threads",
                        threads) for threads in ("1", "2")}
    expect(len(answers) == 1, answers)


def check_seed_decides_the_answer():
    artifact = shared_artifact()
    args = ["run", artifact, "-p", "Once upon a time", "-n", "30", "--temperature", "1.2"]
    same = {run_well(*args, "--seed", "7") for _ in range(2)}
    expect(len(same) == 1, "the same seed gives the same answer")
    expect(len({run_well(*args, "--seed", str(seed)) for seed in range(4)}) > 1, "seeds differ")


def check_full_context_stops_with_a_note():
    artifact = shared_artifact()
    prompt = "a" + " a" * 2039
    done = run("run", artifact, "-", "--ignore-eos", "--greedy", "--json", stdin=prompt.encode(),
               timeout=300)
    document = json.loads(done.stdout)
    expect(document["finish_reason"] == "context_full", document["finish_reason"])
    total = document["prompt_tokens"] + document["generated_tokens"]
    expect(total == 2049, f"{total}: the context, and one token that needs no place any more")
    expect(b"X0011" in done.stderr, done.stderr)
    done = run("run", artifact, "-", "--greedy", stdin=(prompt + " a" * 20).encode())
    expect(done.returncode == 4 and b"X0011" in done.stderr, done.stderr)


def check_stop_text_is_never_shown():
    artifact = shared_artifact()
    whole = run_well("run", artifact, "-p", "Count: one two three four", "-n", "30",
                     "--greedy").decode()
    expect(len(whole) > 12, whole)
    stop = whole[8:12]
    cut = run_well("run", artifact, "-p", "Count: one two three four", "-n", "30", "--greedy",
                   "--stop", stop).decode()
    expect(cut == whole[:whole.index(stop)], (stop, cut, whole))


if __name__ == "__main__":
    main(globals())
