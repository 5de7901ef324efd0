#!/usr/bin/env python3
"""Keys about how a plan runs, seen where they work: barriers, variants of exact sizes, another rotary base,
memory that is left to others, ops and kernels that are not wanted; and the memory planner's log."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, main, run, run_well, scratch
from test_keys import APART, BATCH, MODEL, SUBGRAPH
from tiny_compile import compile_model, divergence
from tiny_model import make_model


def saved(folder, recipe):
    path = os.path.join(folder, "r.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(recipe, out)
    return path


def planned(folder, recipe, *options):
    return json.loads(run_well("compile", saved(folder, recipe), "--dry-run", "--json", *options))


def refused(folder, recipe, code, status, *words):
    done = run("compile", saved(folder, recipe), "--dry-run")
    text = done.stderr.decode()
    expect(done.returncode == status and f"error[{code}]" in text, text)
    for word in words:
        expect(word in text, text)


def check_barriers_after_every_step():
    with scratch() as folder:
        for recipe in (APART, SUBGRAPH):
            few, all_of = (planned(folder, recipe | {"enable_sync_all": sync})["entries"] for sync in (False, True))
            again = planned(folder, recipe | {"enable_async_execution": False})["entries"]
            expect(again == all_of and len(few) == len(all_of), again)
            for entry in all_of:
                expect(entry["num_barriers"] == entry["num_steps"], entry)
            expect(recipe is SUBGRAPH or few[0]["num_barriers"] < all_of[0]["num_barriers"], few)
        refused(folder, MODEL | {"enable_async_execution": True, "enable_sync_all": True}, "R0011", 3, "contraries")
        reference, artifact = compile_model(folder, rules="enable_sync_all: true\n")
        expect(divergence(folder, reference, artifact) < 1e-9, "barriers change no answer")


def check_hot_sizes_have_variants():
    with scratch() as folder:
        sizes = BATCH["input_constraints"] | {"seq_len": {"max": 32, "step": 16, "hot": [17, 5, 16, 1]},
                                              "batch_size": {"max": 8, "hot": [3]}}
        entries = planned(folder, BATCH | {"input_constraints": sizes})["entries"]
        expect([e["bucket_tokens"] for e in entries if "sequences" not in e] == [1, 5, 16, 17, 32], entries)
        expect([e["sequences"] for e in entries if "sequences" in e] == [3, 8], entries)
        sizes["seq_len"]["max"] = 64
        for hot, words in (([65], "outside"), ([2, 2], "twice"), ([0], "from 1"), (list(range(2, 34)), "more than 32")):
            sizes["seq_len"]["hot"] = hot
            refused(folder, BATCH | {"input_constraints": sizes}, {"outside": "R0011", "twice": "R0011"}.get(words, "R0005"), 3, words)


def check_another_rotary_base():
    """Of a file with one base, compiled with another by the recipe: the answers of a file with that one."""
    with scratch() as folder:
        rules = "enable_custom_rope: true\ndims: {rope_base: 5000}\n"
        reference, artifact = compile_model(folder, rules=rules, rope_base=5000.0)
        other = os.path.join(folder, "other.gguf")
        make_model(other, rope_base=10000.0)
        expect(divergence(folder, reference, artifact) < 1e-9, "the file's own")
        custom = os.path.join(folder, "custom.ingot")
        run_well("compile", os.path.join(folder, "r.yaml"), "--model", other, "-o", custom)
        expect(divergence(folder, reference, custom) < 1e-9, "the recipe's instead of the file's")
        refused(folder, MODEL | {"enable_custom_rope": True}, "R0011", 3, "dims.rope_base is not given")


def check_reserve_counts():
    with scratch() as folder:
        plain, more = planned(folder, MODEL), planned(folder, MODEL | {"reserve": "5000 B"})
        expect(more["memory"]["total_bytes"] == plain["memory"]["total_bytes"] + 5000, more["memory"])
        bound = MODEL | {"reserve": "5000 B", "max_memory_gb": f"{plain['memory']['total_bytes'] + 4999} B"}
        refused(folder, bound, "M0001", 4, "reserve 5000")
        planned(folder, bound | {"max_memory_gb": f"{plain['memory']['total_bytes'] + 5000} B"})
        _, artifact = compile_model(folder, rules="reserve: 1 GiB\n")
        seen = json.loads(run_well("inspect", artifact, "--json"))["memory"]
        part = next(part for part in seen["parts"] if part["name"] == "reserve")
        expect(part == {"name": "reserve", "bytes": 1 << 30, "set_by": "recipe:10 reserve"}, part)
        ran = json.loads(run_well("run", artifact, "-p", "a", "-n", "1", "--json"))
        expect(ran["memory_bytes"] == seen["total_bytes"], ran)


def check_ops_and_kernels_that_are_not_wanted():
    with scratch() as folder:
        refused(folder, MODEL | {"unsupported_ops": ["linalg.softmax"]}, "P0063", 1, "linalg.softmax", "x86_64", "first is in @")
        refused(folder, SUBGRAPH | {"unsupported_ops": ["math.exp"]}, "P0063", 1, "s has 1 of the op math.exp")
        refused(folder, MODEL | {"unsupported_ops": ["linalg.softmx"]}, "R0010", 3, "write:    linalg.softmax")
        refused(folder, MODEL | {"fallback": "forbid"}, "P0064", 1, "wants vpdpbusd", "target-lacks")
        vnni = MODEL | {"fallback": "forbid", "targets": [{"arch": "x86_64", "cpu": "v4-vnni"}]}
        done = run("compile", saved(folder, vnni), "--dry-run")
        expect(b"vpdpbusd" not in done.stderr, done.stderr)
        gpu = MODEL | {"fallback": "forbid", "targets": [{"name": "l40s"}]}
        refused(folder, gpu, "R0012", 3, "l40s", "no backend")
        for version, word in ((1, "every block of keys"), (3, "sm_90a")):
            rule = {"pattern": "attn_softmax", "flash_attention_version": version}
            refused(folder, MODEL | {"fusion_rules": [rule]}, "R0012", 3, f"version {version} is not made for x86_64", word)
        rule = {"pattern": "attn_softmax", "flash_attention_version": 2, "use_flash_attention": False}
        refused(folder, MODEL | {"fusion_rules": [rule]}, "R0011", 3)


def check_the_planners_log():
    """Buffers that live at one time share no bytes; those that share are named by both; the arena is as large
    as the memory table says."""
    with scratch() as folder:
        plan = planned(folder, MODEL, "--verbose")
        entries = {}
        for buffer in plan["buffers"]:
            entries.setdefault(buffer["entry"], []).append(buffer)
        expect(set(entries) == {entry["name"] for entry in plan["entries"]}, entries.keys())
        end, num = 0, 0
        for buffers in entries.values():
            expect([b["number"] for b in buffers] == list(range(len(buffers))), buffers)
            for a in buffers:
                end = max(end, a["offset"] + a["bytes"])
                for b in buffers:
                    shares = a is not b and a["offset"] < b["offset"] + b["bytes"] and b["offset"] < a["offset"] + a["bytes"]
                    lives = a["first_step"] <= b["last_step"] and b["first_step"] <= a["last_step"]
                    expect((b["number"] in a["shares"]) == shares and not (shares and lives), (a, b))
                    num += shares
        arena = next(part["bytes"] for part in plan["memory"]["parts"] if part["name"] == "arena")
        expect(num > 0 and end <= arena < end + 8192, (num, end, arena))
        expect("buffers" not in planned(folder, MODEL), "only where it is asked for")
        text = run("compile", saved(folder, MODEL), "--dry-run", "--verbose").stderr.decode()
        expect(len(re.findall(r"^arena of ", text, re.M)) == len(entries), text)
        expect(len(re.findall(r"step \d+ @\w+ to \d+ @\w+", text)) == len(plan["buffers"]), text)
        gpu = planned(folder, MODEL | {"targets": [{"name": "l40s"}]}, "--verbose")
        expect(gpu["buffers"], "of machines without a backend too")


def check_both_spellings_of_the_command_line():
    with scratch() as folder:
        two = MODEL | {"targets": MODEL["targets"] + [{"name": "l40s"}]}
        path = saved(folder, two)
        for target in ("x86_64", "l40s"):
            one = run_well("compile", path, "--dry-run", f"--target={target}")
            expect(run_well("compile", "--dry-run", f"--recipe={path}", f"--target={target}") == one, target)
        path = saved(folder, MODEL)
        expect(run_well("compile", path, "--emit-ir") == run_well("compile", f"--recipe={path}", "--emit-ir=1"), "level 1")
        expect(run_well("compile", "--emit-ir", path) != run_well("compile", path, "--emit-ir=2"), "level 2 is another")
        expect(run("compile", path, "--emit-ir=4").returncode == 2, "there are three")
        expect(run_well("compile", path, "--verify-recipe") == run_well("verify", path), "the same words")


if __name__ == "__main__":
    main(globals())
