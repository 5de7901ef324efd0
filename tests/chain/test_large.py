#!/usr/bin/env python3
"""On request (INGOT_LARGE_FOLDER names a folder with 8 GB of room): the shape of LLaMA 7B with random Q4_0 weights,
compiled for this machine and run to the end of its context; what the process takes is what was planned."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from large_model import make_large_model
from support import Skip, expect, main, run_well

RECIPE = """version: 1
model_name: llama-7b
precision: {weights: Q4_0, activations: int8, kv_cache: f16}
input_constraints:
  seq_len: {min: 128, max: 2048, step: 128}
  kv_cache_seq_len: {max: 2048}
targets: [{arch: x86_64, cpu: all, threads: 2}]
memory_optimization: {kv_cache_page_size: 256, max_pages_per_sequence: 8}
"""


def check_the_7b_shape_runs_in_what_is_planned():
    folder = os.environ.get("INGOT_LARGE_FOLDER")
    if not folder:
        raise Skip("INGOT_LARGE_FOLDER names no folder for files of several gigabytes")
    model, recipe, artifact = (os.path.join(folder, name) for name in ("large.gguf", "large.yaml", "large.ingot"))
    try:
        make_large_model(model)
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(RECIPE)
        made = json.loads(run_well("compile", recipe, "--model", model, "-o", artifact, "--json", timeout=7200))
        os.unlink(model)
        memory = made["memory"]
        said = json.loads(run_well("run", artifact, "-p", "!" * 2040, "-n", "4", "--ignore-eos", "--json", timeout=14400))
    finally:
        for path in (model, recipe, artifact):
            if os.path.exists(path):
                os.unlink(path)
    expect(sum(part["bytes"] for part in memory["parts"]) == memory["total_bytes"] == said["memory_bytes"], memory)
    most = memory["total_bytes"] + sum(part["bytes"] for part in memory["outside"])
    expect(said["prompt_tokens"] > 1024 and said["peak_rss_bytes"] <= most, (said, most))
    seconds = sum(made["phase_ns"].values()) * 1e-9
    return (f"compiled in {seconds:.0f} s, planned {memory['total_bytes']} and {most - memory['total_bytes']} outside, "
            f"peak {said['peak_rss_bytes']}")


if __name__ == "__main__":
    main(globals())
