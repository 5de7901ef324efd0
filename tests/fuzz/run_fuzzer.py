#!/usr/bin/env python3
"""Runs one libFuzzer program for a while, starting from its seeds, and reports what it covered.

A crash leaves its input under build-fuzz/crashes and ends with status 1. New inputs stay in
.cache/fuzz/<name>, so that the next run goes on from there.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=int, default=60)
    args = parser.parse_args()
    name = os.path.basename(args.program).removeprefix("fuzz_")
    corpus = os.path.join(ROOT, ".cache", "fuzz", name)
    seeds = os.path.join(ROOT, "tests", "fuzz", "seeds", name)
    crashes = os.path.join(os.path.dirname(os.path.abspath(args.program)), "crashes", "")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(crashes, exist_ok=True)
    command = [args.program, f"-max_total_time={args.seconds}", "-timeout=20", "-rss_limit_mb=3000",
               "-print_final_stats=1", f"-artifact_prefix={crashes}", corpus]
    if os.path.isdir(seeds):
        command.append(seeds)
    dictionary = os.path.join(ROOT, "tests", "fuzz", name + ".dict")
    if os.path.exists(dictionary):
        command.insert(1, "-dict=" + dictionary)
    nice = [shutil.which("nice"), "-n", "10"] if shutil.which("nice") else []
    done = subprocess.run(nice + command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", done.stdout)
    runs = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stdout)
    edges, features, inputs = covered[-1] if covered else ("?", "?", "?")
    summary = (f"{name}: {runs.group(1) if runs else '?'} runs, {edges} edges, {features} features, "
               f"{inputs} inputs in the corpus")
    if done.returncode:
        print(done.stdout[-6000:])
        print(f"not ok fuzz-{summary}: status {done.returncode}")
        return 1
    print(f"ok fuzz-{summary}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
