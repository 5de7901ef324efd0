#!/usr/bin/env python3
"""What loop-schedule weighs for a kernel does not depend on which other kernels are there."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, main, run_well, scratch

KEPT = scratch()
RECIPE = """version: 1
model_name: shape
dims: {{architecture: llama, layers: 2, hidden: 256, heads: 4, kv_heads: 2, ffn: 704, vocab: 512, norm_eps: 1e-5}}
precision: {{weights: {weights}, activations: {activations}}}
input_constraints:
  seq_len: {{min: {first}, max: {last}, step: 32}}
  kv_cache_seq_len: {{max: 512}}
targets: [{{arch: x86_64, cpu: {cpu}, threads: 2}}]
memory_optimization: {{kv_cache_page_size: 32}}
"""


def schedules(first, last, **more):
    path = os.path.join(KEPT.name, "recipe.yaml")
    with open(path, "w", encoding="utf-8") as out:
        out.write(RECIPE.format(first=first, last=last, **more))
    report = json.loads(run_well("compile", path, "--dry-run", "--json"))
    return {kernel["key"]: kernel["candidates"] for kernel in report["predicted"][0]["schedules"]}


def check_buckets_do_not_change_one_another():
    """Kernels of buckets that differ in their rows share the code their candidates are counted from: each must
    come out as if it were the only one. 32 rows are counted by themselves, 64 and 96 from those of 32."""
    for form in ({"weights": "Q4_0", "activations": "int8", "cpu": "v4-vnni"},
                 {"weights": "Q8_0", "activations": "f32", "cpu": "x86-64-v3"}):
        together = schedules(32, 96, **form)
        alone = schedules(96, 96, **form)
        expect(len(alone) >= 6 and len(together) > len(alone), f"{len(alone)} of {len(together)} kernels")
        for key, candidates in alone.items():
            expect(together[key] == candidates, f"{form}: {key}: {together[key][0]} instead of {candidates[0]}")
        expect(len({json.dumps(c) for c in together.values()}) == len(together), "every size has figures of its own")


if __name__ == "__main__":
    main(globals())
