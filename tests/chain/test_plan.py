#!/usr/bin/env python3
"""Memory plans of models and modules hold for a checker of its own (tests/plan_check.py), which finds what is wrong in
plans made wrong: in the text, in what is compiled from that text, in a table, in a sum."""
import copy
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import plan_check
from support import ROOT, expect, expect_exit, main, run, run_well, scratch
from test_families import SHAPES
from tiny_compile import compile_model

V3 = "--cpu=x86-64-v3"
BATCHES = "{min: 1, max: 4, step: 2}"


def dump_options(folder):
    return "--dump-ir-before=memory-planner", "--dump-ir-after=memory-planner", f"--dump-dir={folder}"


def read(path, mode="r"):
    with open(path, mode, **({} if "b" in mode else {"encoding": "utf-8"})) as source:
        return source.read()


def dumps(folder):
    """(before, after) of each level that was planned for."""
    names = sorted(glob.glob(os.path.join(folder, "*-memory-planner-before*.mlir")))
    expect(names, folder)
    return [(read(name), read(name.replace("-before", ""))) for name in names]


def holds(artifact, folder):
    said = json.loads(run_well("inspect", artifact, "--json"))["memory"]
    seen = [0, 0]
    for before, after in dumps(folder):
        faults, counts = plan_check.check(before, after, read(artifact, "rb"), said)
        expect(not faults, "\n".join(faults[:5]))
        seen = [a + b for a, b in zip(seen, counts)]
    return f"{seen[0]} buffers, {seen[1]} steps"


def model_holds(options=(V3,), **shape):
    with scratch() as folder:
        ir = os.path.join(folder, "ir")
        _, artifact = compile_model(folder, options=(*options, *dump_options(ir)), **shape)
        return holds(artifact, ir)


def check_model_on_two_levels():
    return model_holds(options=("--cpu=x86-64-v3,v4-vnni",), weights="Q8_0", activations="int8", kv="f16")


def check_model_with_batches_and_several_buckets():
    return model_holds(batch=BATCHES, weights="Q4_0", bucket=4)


def check_model_with_windows():
    return model_holds(family="gemma3", weights="F32", **SHAPES["gemma3"])


def check_modules():
    notes = []
    for name in ("modules/conv_bn_relu", "modules_sized/attention", "modules_sized/layers"):
        with scratch() as folder:
            artifact, ir = os.path.join(folder, "m.ingot"), os.path.join(folder, "ir")
            run_well("compile", os.path.join(ROOT, "tests", "chain", name + ".mlir"), "--target=host", "-o", artifact,
                     *dump_options(ir))
            notes.append(f"{os.path.basename(name)}: {holds(artifact, ir)}")
    return "; ".join(notes)


# ---------------------------------------------------------------- plans made wrong

def move(text, number, change):
    """The offset of view `number` of the text, changed."""
    view = list(re.finditer(r"memref\.view %\w+\[(%\w+)\]", text))[number]
    constant = list(re.finditer(re.escape(view[1]) + r" = arith\.constant (-?\d+) : index", text[:view.start()]))[-1]
    return text[:constant.start(1)] + str(change(int(constant[1]))) + text[constant.end(1):]


def check_faults_are_found():
    with scratch() as folder:
        ir = os.path.join(folder, "ir")
        _, artifact = compile_model(folder, options=(V3, *dump_options(ir)))
        (before, after), = dumps(ir)
        said = json.loads(run_well("inspect", artifact, "--json"))["memory"]
        good = read(artifact, "rb")

        def finds(what, text=after, data=good, memory=said):
            faults, _ = plan_check.check(before, text, data, memory)
            expect(any(what in fault for fault in faults), f"{what}: {faults[:3]}")

        expect(not plan_check.check(before, after, good, said)[0], "as it was made, the plan holds")
        arena = max(int(size) for size in re.findall(r"memref\.view %\w+\[%\w+\]\[\].*? : memref<(\d+)xi8>", after))
        # The second buffer of the first entry is written from what the first holds.
        first = int(re.search(r"arith\.constant (\d+) : index", after)[1])
        finds("share bytes", move(after, 1, lambda _: first))
        finds("reads", move(after, 1, lambda _: first))
        finds("is not aligned", move(after, 0, lambda at: at + 4))
        finds("leaves its space", move(after, 0, lambda _: arena))
        finds("leaves its space", after.replace(f"memref<{arena}xi8>", f"memref<{arena - 64}xi8>"))
        # Nothing is compiled from a wrong text.
        wrong, other = os.path.join(folder, "wrong.mlir"), os.path.join(folder, "wrong.ingot")
        with open(wrong, "w", encoding="utf-8") as out:
            out.write(move(after, 1, lambda _: first))
        done = run("compile", os.path.join(folder, "r.yaml"), "--model", os.path.join(folder, "m.gguf"),
                   V3, f"--resume-from={wrong}", "-o", other)
        expect_exit(done, 3)
        expect(b"error[I0128]" in done.stderr and not os.path.exists(other), done.stderr)
        finds("a barrier", data=without_a_barrier(good))
        for i in range(len(said["parts"])):
            less = copy.deepcopy(said)
            less["parts"][i]["bytes"] -= 1
            finds("memory table: " + said["parts"][i]["name"], memory=less)
        finds("the total", memory={**said, "total_bytes": said["total_bytes"] + 1})


def without_a_barrier(data):
    """The artifact with the first step's barrier gone."""
    plan = next(s[2] for s in plan_check.Artifact(data).sections if s[0] == plan_check.SECTION_PLAN)
    header = plan_check.struct.unpack_from("<10I9Q20Q", data, plan)
    steps = header[19 + 2 * plan_check.Artifact.TABLES.index("steps")]
    at = plan + steps + 12
    expect(data[at] == 1, "the first step has a barrier")
    return data[:at] + b"\0" + data[at + 1:]


if __name__ == "__main__":
    main(globals())
