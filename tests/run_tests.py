#!/usr/bin/env python3
"""Runs the tests that meson knows and counts single cases.

A test program is a cmocka program, or prints lines `ok NAME`, `not ok NAME: why`, `skip NAME: why`.
A program that fails without a failed case counts as one failure. The last line is
`N passed, N failed, N skipped`; exit status 1 if anything failed.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time

CMOCKA_LINE = re.compile(r"^\[\s*(OK|FAILED|SKIPPED|ERROR)\s*\] (\S+)")


def load_tests(build_dir, names, suites):
    text = subprocess.run(["meson", "introspect", "--tests", build_dir], check=True,
                          capture_output=True, text=True).stdout
    tests = json.loads(text)
    if suites:
        tests = [t for t in tests if any(s.split(":")[-1] in suites for s in t["suite"])]
    if names:
        tests = [t for t in tests if any(n in t["name"] for n in names)]
    return tests


def count_cases(output):
    """Returns (passed, [failed names], [(skipped name, reason)])."""
    passed, failed, skipped, said = 0, [], [], ""
    in_summary = False
    for line in output.splitlines():
        in_summary = in_summary or line.startswith("[==========] ") and " run." in line
        cmocka = CMOCKA_LINE.match(line)
        word, _, rest = line.partition(" ")
        if cmocka and not in_summary:
            kind, name = cmocka.groups()
            if kind == "OK":
                passed += 1
            elif kind == "SKIPPED":
                skipped.append((name, said or "no reason given"))
            else:
                failed.append(name)
        elif word == "ok" and rest:
            passed += 1
        elif line.startswith("not ok "):
            failed.append(line[7:])
        elif word == "skip" and rest:
            name, _, reason = rest.partition(": ")
            skipped.append((name, reason or "no reason given"))
        if not line.startswith("["):
            said = line.strip()
    return passed, failed, skipped


def run_test(test, slow_factor):
    env = dict(os.environ, **test["env"])
    start = time.monotonic()
    timeout = (test["timeout"] or 1800) * slow_factor
    try:
        done = subprocess.run(test["cmd"], cwd=test["workdir"] or None, env=env, timeout=timeout,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL)
        output, code = done.stdout.decode("utf-8", "replace"), done.returncode
    except subprocess.TimeoutExpired as error:
        output = (error.stdout or b"").decode("utf-8", "replace")
        output, code = output + f"\nnot ok {test['name']}: ran out of time ({timeout:.0f} s)\n", 1
    passed, failed, skipped = count_cases(output)
    if code == 77 and not failed:
        lines = [line for line in output.splitlines() if line.strip()]
        if not skipped:
            skipped.append((test["name"], lines[-1] if lines else "no reason given"))
    elif code != 0 and not failed:
        failed.append(f"{test['name']} ended with status {code}")
    elif code == 0 and not (passed or failed or skipped):
        passed = 1
    return test["name"], passed, failed, skipped, output, time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", default="build")
    parser.add_argument("--suite", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=max(1, min(2, os.cpu_count() or 1)))
    parser.add_argument("--slow-factor", type=float, default=1.0, help="multiplies every timeout")
    parser.add_argument("--label", default="", help="named in front of each line")
    parser.add_argument("--leave-out", action="append", default=[], metavar="NAME=WHY",
                        help="a test that is skipped, and why")
    parser.add_argument("--counts", help="file to append the three counts to")
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()

    total = [0, 0, 0]
    tests = load_tests(args.build, args.names, args.suite)
    if not tests:
        print("no test has that name")
        return 1
    if not all("=" in entry for entry in args.leave_out):
        parser.error("--leave-out takes NAME=WHY: a suite is left out for a reason only")
    left_out = dict(entry.split("=", 1) for entry in args.leave_out)
    for test in [t for t in tests if t["name"] in left_out]:
        print(f"skip {args.label}{test['name']}: {left_out[test['name']]}", flush=True)
        tests.remove(test)
        total[2] += 1
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name, passed, failed, skipped, output, seconds in pool.map(
                lambda t: run_test(t, args.slow_factor), tests):
            total = [total[0] + passed, total[1] + len(failed), total[2] + len(skipped)]
            word = "FAIL" if failed else "ok  " if passed else "skip"
            print(f"{word} {args.label}{name}: {passed} passed, {len(failed)} failed, "
                  f"{len(skipped)} skipped ({seconds:.1f} s)", flush=True)
            for case, reason in skipped:
                print(f"     skipped {case}: {reason}")
            if failed:
                print("\n".join("    | " + line for line in output.splitlines()[-80:]))
                print("     failed: " + "; ".join(failed), flush=True)
    if args.counts:
        with open(args.counts, "a", encoding="utf-8") as out:
            out.write("%d %d %d\n" % tuple(total))
    print("%d passed, %d failed, %d skipped" % tuple(total))
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
