#!/usr/bin/env python3
"""Schedules are measured on request only, and then they are an input: `ingot tune` writes a lock, a compile takes
the lock's schedules and no others, says so, and makes the same artifact of the same lock; a lock that is not
what it should be is refused by place, and one of another model warned about."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, TINY_RECIPE, Kept, expect, expect_exit, main, run, run_well
from tiny_model import make_model

KEPT = Kept()
path_of, write = KEPT.at, KEPT.write
ENTRY = re.compile(r"\{lanes: (\d+), row_tile: (\d+), col_tile: (\d+), unroll: (\d+), measured_ns: (\d+)\}")


def read(name):
    with open(path_of(name), "rb") as file:
        return file.read()


def inputs():
    if not os.path.exists(path_of("m.gguf")):
        make_model(path_of("m.gguf"), weights="Q8_0")
        write("r.yaml", TINY_RECIPE.replace("activations: f32", "activations: int8"))
    return [path_of("r.yaml"), "--model", path_of("m.gguf")]


def lock():
    if not os.path.exists(path_of("lock.yaml")):
        run_well("tune", *inputs(), "-o", path_of("lock.yaml"), "--runs", "1", "--candidates", "3")
    return read("lock.yaml").decode()


def schedules(*options):
    report = json.loads(run_well("compile", *inputs(), "--dry-run", "--json", *options))
    return report["num_pinned_kernels"], {
        s["key"]: s["candidates"] for s in report["predicted"][0]["schedules"]}


def check_a_lock_decides():
    kernels = lock().split("  - name: ")[1:]
    expect(len(kernels) > 2, lock())
    none, free = schedules()
    expect(none == 0 and all("measured_ns" not in c for list_ in free.values() for c in list_),
           "nothing is measured silently")
    turned, wanted = lock(), {}
    for kernel in kernels:
        key = re.search(r'key: "([0-9a-f]{16})"', kernel).group(1)
        entries = ENTRY.findall(kernel)
        times = [int(entry[4]) for entry in entries]
        expect(1 <= len(entries) <= 3 and times == sorted(times) and times[0] > 0, kernel)
        wanted[key] = tuple(int(n) for n in entries[-1][:3])
        lines = [line for line in kernel.splitlines(True) if ENTRY.search(line)]
        turned = turned.replace("".join(lines), "".join(lines[::-1])) # the slowest instead
    num, pinned = schedules("--tuning", write("turned.yaml", turned))
    expect(num == len(kernels) == len(free), num)
    for key, chosen in wanted.items():
        first = pinned[key][0]
        expect((first["lanes"], first["row_tile"], first["col_tile"]) == chosen and first["measured_ns"] > 0,
               (key, first, chosen))
        expect(len(pinned[key]) == len(free[key]), "all candidates stay to be compared")
    return f"{len(kernels)} kernels"


def check_equal_locks_equal_artifacts():
    lock()
    for name in ("a", "b"):
        run_well("compile", *inputs(), "--tuning", path_of("lock.yaml"), "-o", path_of(name + ".ingot"))
    expect(read("a.ingot") == read("b.ingot"), "byte for byte")
    manifest = json.loads(run_well("inspect", path_of("a.ingot"), "--json"))
    expect("tuning" in json.dumps(manifest), "the manifest names the lock")
    answers = []
    run_well("compile", *inputs(), "-o", path_of("c.ingot"))
    for name in ("a", "c"):
        done = json.loads(run_well("run", path_of(name + ".ingot"), "-p", "a b", "-n", "8", "--greedy",
                                   "--json"))
        answers.append(done["text"])
    expect(answers[0] == answers[1], "a schedule changes no result")


def refused(text, code, pattern):
    done = run("compile", *inputs(), "--dry-run", "--tuning", write("bad.yaml", text))
    expect_exit(done, code)
    expect(re.search(pattern, done.stderr.decode()), done.stderr)


def check_faulty_locks():
    good = lock()
    refused(good.replace("version: 1", "version: 2"), 3, r"bad\.yaml:2:\d+: error")
    refused(good.replace("row_tile", "row_tlie", 1), 3, r"bad\.yaml:8:\d+: error\[P0071\].*row_tlie(.|\n)*row_tile")
    refused(re.sub(r'key: "[0-9a-f]*"', 'key: "12"', good, count=1), 3, r"P0071.*16 hex digits")
    refused(good.replace("level: ", "level: x", 1), 3, r"P0071.*CPU level")
    refused(re.sub(r"lanes: \d+", "lanes: 0", good, count=1), 3, r"bad\.yaml:8:\d+: error")
    refused(re.sub(r"lanes: \d+", "lanes: 15", good, count=1), 3, r"bad\.yaml:8:\d+: error\[P0071\]")
    refused(re.sub(r"row_tile: \d+, col_tile: \d+", "row_tile: 16, col_tile: 8", good, count=1), 3, "P0071")
    refused(good + good.split("kernels:\n")[1], 3, r"P0071.*second entry")
    # No kernel has 7 rows held for lanes that are no vector's; a list of them is at hand.
    refused(re.sub(r"row_tile: \d+, col_tile: \d+", "row_tile: 31, col_tile: 1", good, count=1), 3, "P0070")
    refused("version: 1\nkernels: {}\n", 3, r"bad\.yaml:2:\d+: error")
    other = re.sub(r'key: "[0-9a-f]{4}', 'key: "0000', good)
    done = run("compile", *inputs(), "--dry-run", "--tuning", write("other.yaml", other))
    expect_exit(done, 0)
    expect(b"warning[P0072]" in done.stderr, done.stderr)


def check_explain_shows_the_choice():
    lock()
    run_well("compile", *inputs(), "--tuning", path_of("lock.yaml"), "-o", path_of("e.ingot"))
    record = json.loads(run_well("explain", path_of("e.ingot"), "--schedules", "--json"))
    expect(record["schedules"] and not record["edges"], "only what was asked for")
    kernels = record["schedules"][0]["kernels"]
    first = kernels[0]
    expect(all(k["candidates"][0]["measured_ns"] > 0 and k["candidates"][0]["clocks"] > 0 for k in kernels),
           kernels)
    rest = [[c["clocks"] for c in k["candidates"] if "measured_ns" not in c] for k in kernels]
    expect(all(clocks == sorted(clocks) for clocks in rest), "the others by what was predicted")
    text = run_well("explain", path_of("e.ingot"), "--schedules", "--kernel", first["kernel"]).decode()
    expect(text.count("chosen") == len(record["schedules"]) and "measured" in text, text)
    expect(text.count("clocks") == sum(
        len(k["candidates"]) for level in record["schedules"] for k in level["kernels"]
        if k["kernel"] == first["kernel"]), text)
    expect(b"--schedules" in run_well("explain", *inputs()), "the summary names the option")


def check_modules():
    """What takes tensors is measured on arguments made up for it, tuned and benched."""
    module = os.path.join(ROOT, "tests", "chain", "modules", "conv_channels_first.mlir")
    run_well("tune", module, "-o", path_of("conv.yaml"), "--runs", "1", "--candidates", "2")
    kernels = read("conv.yaml").decode().split("  - name: ")[1:]
    measured = [int(entry[4]) for kernel in kernels for entry in ENTRY.findall(kernel)]
    expect(len(kernels) == 4 and len(measured) >= 4 and min(measured) > 0, kernels)
    swapped = []  # the second candidate first: it must be the one that is taken
    for kernel in kernels:
        lines = kernel.split("\n")
        at = [i for i, line in enumerate(lines) if ENTRY.search(line)]
        if len(at) > 1:
            lines[at[0]], lines[at[1]] = lines[at[1]], lines[at[0]]
        swapped.append("\n".join(lines))
    head = read("conv.yaml").decode().split("  - name: ")[0]
    write("swapped.yaml", "  - name: ".join([head, *swapped]))
    artifacts = []
    for name in ("conv", "swapped"):
        options = ["--tuning", path_of(name + ".yaml"), "-o", path_of(name + ".ingot"), "--json"]
        report = json.loads(run_well("compile", module, *options))
        expect(report["num_pinned_kernels"] == 4, report["num_pinned_kernels"])
        artifacts.append(read(name + ".ingot"))
    expect(artifacts[0] != artifacts[1], "the lock does not decide")
    report = json.loads(run_well("bench", path_of("conv.ingot"), "--runs", "2", "--json"))
    entry, = report["entries"]
    expect(entry["entry"] == "main" and entry["arguments"].startswith("1x3x9x10xf32, 8x3x3x3xf32"), entry)
    expect(0 < entry["call_ns_min"] <= entry["call_ns"] <= entry["call_ns_max"], entry)
    rows = report["predicted"]["rows"]
    expect(len(rows) > 4 and all(row["measured_ns"] > 0 and row["predicted_ns"] > 0 for row in rows), rows)
    text = run_well("bench", path_of("conv.ingot"), "--runs", "2").decode()
    expect("| main | 1x3x9x10xf32" in text and "median error" in text, text)


def check_usage():
    expect_exit(run("tune"), 2)
    expect_exit(run("tune", path_of("r.yaml")), 2)
    inputs()
    expect_exit(run("tune", *inputs(), "-o", path_of("r.yaml")), 2)
    expect_exit(run("tune", "--probe", "--candidates", "3"), 2)
    expect(read("r.yaml"), "the recipe is still there")
    expect_exit(run("compile", *inputs(), "--dry-run", "--tuning", path_of("none.yaml")), 6)
    nowhere = os.path.join(KEPT.name, "nowhere")
    done = run("tune", *inputs(), "-o", path_of("never.yaml"), env={"TMPDIR": nowhere})
    expect_exit(done, 6)
    expect(b"[U0003]" in done.stderr and nowhere.encode() in done.stderr, done.stderr)
    left = [name for name in os.listdir(KEPT.name) if name.startswith("ingot-tune")]
    run_well("tune", *inputs(), "-o", path_of("again.yaml"), "--runs", "1", "--candidates", "1",
             env={"TMPDIR": KEPT.name})
    expect(left == [name for name in os.listdir(KEPT.name) if name.startswith("ingot-tune")],
           "the measured artifacts are removed")


if __name__ == "__main__":
    main(globals())
