#!/usr/bin/env python3
"""Relations between sizes: how many KV pages they leave, which ranges and texts are refused, which calls; and
that prompts are cut into chunks that keep to them without changing an answer."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, main, run, run_well, scratch
from tiny_compile import compile_model, divergence

PLANNED = """version: 1
model_name: llama-7b
precision: {{weights: Q4_0}}
input_constraints:
  batch_size: {{max: {batch}, step: 8}}
  seq_len: {{max: 512}}
  kv_cache_seq_len: {{max: 2048}}
memory_optimization: {{kv_cache_page_size: 256}}
relations: [{relations}]
"""


def planned(folder, *relations, batch=16):
    path = os.path.join(folder, "r.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(PLANNED.format(batch=batch, relations=", ".join(f'"{r}"' for r in relations)))
    return path


def pages_needed(batch, bound, context=2048, page=256):
    """Counted one batch after the other: b sequences of equal length, as long as the bound allows."""
    return max(b * -(-min(context, bound // b) // page) for b in range(1, batch + 1))


def check_pages_follow():
    with scratch() as folder:
        seen = []
        for bound in (2048, 4096, 16000, 1 << 20):
            path = planned(folder, f"batch_size*kv_cache_seq_len<={bound}")
            plan = json.loads(run_well("compile", path, "--dry-run", "--json"))
            expect(plan["capacity"]["pages"] == pages_needed(16, bound), (bound, plan["capacity"]))
            part = next(part for part in plan["memory"]["parts"] if part["name"] == "kv pages")
            expect(part["bytes"] == plan["capacity"]["pages"] * plan["capacity"]["page_bytes"], part)
            expect("recipe:9 relations" in part["set_by"], part)
            seen.append(plan["capacity"]["pages"])
        expect(seen == sorted(seen) and seen[0] < seen[-1] == 16 * 8, seen)
        return f"pages {seen}"


def check_what_would_fit_fits():
    """Over a bound the changes that are named are enough, also where a relation already leaves fewer pages."""
    with scratch() as folder:
        path = planned(folder, "batch_size * kv_cache_seq_len <= 4096")
        with open(path, encoding="utf-8") as source:
            text = source.read().replace("max: 512", "max: 128")
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        need = json.loads(run_well("compile", path, "--dry-run", "--json"))["memory"]["total_bytes"]
        bound = text + f'max_memory_gb: "{need - (1 << 30)} B"\n'
        with open(path, "w", encoding="utf-8") as out:
            out.write(bound)
        done = run("compile", path, "--dry-run")
        said = re.search(r"write: +(.*)", done.stderr.decode())[1].split(" | ")
        expect(done.returncode == 4 and len(said) > 1, done.stderr)
        for change in said[:-1]:
            key, value = change.split(": ", 1)
            with open(path, "w", encoding="utf-8") as out:
                out.write(re.sub(rf"{key}: \{{.*\}}", change, bound))
            run_well("compile", path, "--dry-run")
        return ", ".join(said)


def check_texts_and_ranges_are_refused():
    cases = (("batch_size * rows <= 9", "R0015", "no size is called rows"), ("batch_size < 9", "R0015", "<= must follow"),
             ("seq_len * <= 9", "R0015", "each *"), ("8 * 8 <= 64", "R0015", "names no size"), (" ", "R0015", "each *"),
             ("seq_len <= 0", "R0015", "whole number from 1"), ("seq_len <= 9 9", "R0015", "nothing follows"),
             ("seq_len <= 99999999999999999999", "R0015", "whole number"), ("seq_len <= 12a", "R0015", "whole number"),
             ("9999999999 * 9999999999 * seq_len <= 9", "R0015", "a factor"),
             (" * ".join(["seq_len"] * 5) + " <= 9", "R0015", "more than 4"), ("kv_seq_len <= 4096", "R0015", "no size"),
             ("seq_len * batch_size <= 511", "R0011", "write:    seq_len: {max: 511}"),
             ("seq_len * seq_len <= 262143", "R0011", "write:    seq_len: {max: 511}"),
             ("seq_len * kv_cache_seq_len <= 262143", "R0011", "write:    seq_len: {max: 511}"),
             ("2 * kv_cache_seq_len <= 4095", "R0011", "write:    kv_cache_seq_len: {max: 2047}"))
    with scratch() as folder:
        for relation, code, words in cases:
            path = planned(folder, relation)
            done = run("compile", path, "--dry-run")
            text = done.stderr.decode()
            expect(done.returncode == 3 and re.search(rf":9:\d+: error\[{code}\]", text) and words in text, text)
        done = run("verify", planned(folder, *["seq_len <= 512"] * 9))
        expect(done.returncode == 3 and b"9 relations, at most 8" in done.stderr, done.stderr)
        run_well("verify", planned(folder, "seq_len*seq_len <= 262144", "2 *kv_cache_seq_len<= 4096"))
    return f"{len(cases)} cases"


def check_calls_are_held_against_them():
    """Of 4 sequences of at most 16 tokens each 4 x 17 is refused before anything runs, by name, value and line."""
    with scratch() as folder:
        _, artifact = compile_model(folder, weights="Q8_0", batch="{max: 4}",
                                    rules='relations: ["batch_size * kv_cache_seq_len <= 64"]\n')
        seen = json.loads(run_well("inspect", artifact, "--json"))
        expect(seen["capacity"]["pages"] == max(pages_needed(4, 64, 64, 16), 4), seen["capacity"])
        bench = ["bench", artifact, "--prefill", "0", "--runs", "1"]
        run_well(*bench, "--batch", "4", "--depth", "12", "--decode", "4")
        run_well(*bench, "--batch", "1", "--depth", "56", "--decode", "8")
        done = run(*bench, "--batch", "4", "--depth", "12", "--decode", "5")
        text = done.stderr.decode()
        expect(done.returncode == 4, text)
        for words in ("error[X0023]: batch_size 4 and kv_cache_seq_len 17: the artifact allows "
                      "batch_size * kv_cache_seq_len <= 64", "68 is more than 64 (recipe:11)",
                      "write:    batch_size 3, or kv_cache_seq_len 16"):
            expect(words in text, text)


def check_prompts_are_cut_to_fit():
    """A prompt of 12 tokens goes in chunks of 8 and 4, one of 62 in the end token by token; one of 63 is one too
    many although the last page has room."""
    with scratch() as folder:
        rules = 'relations: ["seq_len * kv_cache_seq_len <= 64", "kv_cache_seq_len <= 62"]\n'
        reference, artifact = compile_model(folder, rules=rules, kv_max=62)
        worst = divergence(folder, reference, artifact)
        expect(worst < 1e-9, f"KL {worst}")
        bench = ["bench", artifact, "--runs", "1", "--decode", "0", "--prefill"]
        run_well(*bench, "62")
        done = run(*bench, "63")
        expect(done.returncode == 4 and b"X0023" in done.stderr and b"kv_cache_seq_len 62" in done.stderr, done.stderr)


def check_sizes_between_buckets_may_be_refused():
    """off_step and out_of_range of a model: what is padded, or refused before it runs, with the nearest sizes."""
    with scratch() as folder:
        cases = (({}, "12", "3", None, None), ({"off_step": "reject"}, "12", "3", "seq_len is 4, no bucket's", "1 or 8"),
                 ({"min": 5, "out_of_range": "reject"}, "12", "2", "seq_len is 4, less than", "1 or 5"))
        for range_, prompt, batch, words, nearest in cases:
            text = "".join(f", {key}: {value}" for key, value in range_.items())
            sizes = "{max: 4" + text.replace("min: 5", "min: 3") + "}"
            _, artifact = compile_model(folder, batch=sizes, seq_more=text.replace(", min: 5", ""),
                                        seq_min=range_.get("min", 1))
            bench = ["bench", artifact, "--runs", "1"]
            for ok in ("8", "9", "16"):
                run_well(*bench, "--prefill", ok, "--decode", "0")
            run_well(*bench, "--prefill", "0", "--decode", "2", "--batch", "4")
            for done, name in ((run(*bench, "--prefill", prompt, "--decode", "0"), "seq_len"),
                               (run(*bench, "--prefill", "0", "--decode", "2", "--batch", batch), "batch_size")):
                said = done.stderr.decode()
                if not words:
                    expect(done.returncode == 0, said)
                    continue
                expect(done.returncode == 3 and "error[X0021]" in said and "recipe:" in said, said)
                if name == "seq_len":
                    expect(words in said and f"write:    {nearest}" in said, said)
                else:
                    expect(f"batch_size is {batch}, " in said, said)


def check_a_dump_of_others_is_refused():
    with scratch() as folder:
        one, other = "seq_len * kv_cache_seq_len <= 4096", "seq_len * kv_cache_seq_len <= 4095"
        dumps, recipe = os.path.join(folder, "ir"), os.path.join(folder, "r.yaml")
        compile_model(folder, rules=f'relations: ["{one}"]\n',
                      options=["--dump-ir-after=canonicalize", f"--dump-dir={dumps}"])
        again = ["compile", recipe, "--model", os.path.join(folder, "m.gguf"), "--dry-run",
                 f"--resume-from={os.path.join(dumps, os.listdir(dumps)[0])}"]
        run_well(*again)
        with open(recipe, encoding="utf-8") as source:
            text = source.read().replace(one, other)
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(text)
        done = run(*again)
        expect(done.returncode == 3 and b"P0013" in done.stderr and other.encode() in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
