#!/usr/bin/env python3
"""input_layouts: what is said of inputs, caches and weights is held against the model, and a -1 needs the
constraint of its own dimension."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import expect, main, run, scratch
from test_keys import BATCH, MODEL

FULL = BATCH | {"input_layouts": [
    {"name": "input_ids", "dtype": "i32", "shape": ["batch", -1]},
    {"name": "past_key_values", "dtype": "f16", "shape": [2, "batch", "heads", -1, "head_dim"]},
    {"name": "logits", "dtype": "f32", "shape": [8, "vocab"]},
    {"name": "q_proj_weight", "dtype": "q8_0", "shape": [64, 64], "format": "row_major"},
    {"name": "k_proj_weight", "shape": [32, 64]}, {"name": "gate_proj_weight", "shape": [160, 64]},
    {"name": "down_proj_weight", "shape": [64, 160]}, {"name": "embed_tokens_weight", "shape": [320, 64]},
    {"qkv_packed": True}]}


def verified(folder, recipe, *options):
    path = os.path.join(folder, "r.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(recipe, out, indent=1)
    return run("verify", path, *options)


def check_what_holds_is_taken():
    with scratch() as folder:
        done = verified(folder, FULL)
        expect(done.returncode == 0, done.stderr)
        numbers = {"name": "past_key_values", "shape": [2, 8, 2, 64, 16]}
        expect(verified(folder, BATCH | {"input_layouts": [numbers]}).returncode == 0, "numbers for words")
        expect(verified(folder, BATCH | {"input_layouts": {"qkv_packed": False}}).returncode == 0, "the mapping")
        done = verified(folder, BATCH | {"input_layouts": [{"qkv_packed": True}],
                                         "fusion_rules": [{"pattern": "qkv_proj", "enabled": False}]})
        expect(done.returncode == 3 and b"R0011" in done.stderr, done.stderr)


def check_what_does_not_is_refused():
    no_batch = MODEL | {"input_constraints": {"seq_len": {"max": 32}}}
    cases = (
        (BATCH, {"name": "q_proj_weight", "shape": [64, 32]}, "R0011", "q_proj_weight: dimension 1 is 32, the model has 64"),
        (BATCH, {"name": "q_proj_weight", "shape": [64]}, "R0011", "has 1 dimensions here, the model's has 2"),
        (BATCH, {"name": "q_proj_weight", "shape": [64, -1]}, "R0016", "nothing bounds dimension 1"),
        (BATCH, {"name": "q_proj_weight", "shape": [64, "heads"]}, "R0011", "dimension 1 is heads"),
        (BATCH, {"name": "q_proj_weight", "dtype": "f16"}, "R0011", "write:    dtype: q8_0"),
        (BATCH, {"name": "past_key_values", "dtype": "f32"}, "R0011", "dtype is f32, the model has f16"),
        (BATCH, {"name": "past_key_values", "shape": [2, "batch", 4, -1, 16]}, "R0011", "dimension 2 is 4, the model has 2"),
        (no_batch, {"name": "past_key_values", "shape": [2, 1, 2, -1, 16]}, "R0016", "it is kv_cache_seq_len, which input_constraints"),
        (no_batch, {"name": "input_ids", "shape": [-1, -1]}, "R0016", "nothing bounds dimension 0"),
        (BATCH, {"name": "input_ids", "shape": ["batch", 16]}, "R0011", "write:    -1, or 32"),
        (BATCH, {"name": "input_ids", "shape": ["batch", 0]}, "R0004", "a number from 1"),
        (BATCH, {"name": "q_proj_wieght"}, "R0010", "write:    name: q_proj_weight"),
        (BATCH, {"name": "q_proj_weight", "format": "col_major"}, "R0012", "col_major is not taken for x86_64"),
        (BATCH, {"name": "q_proj_weight", "format": "block_cyclic", "block_size": 32}, "R0012", "block_cyclic"),
        (BATCH, {"name": "q_proj_weight", "tile_size": 32}, "R0011", "row_major has no tile_size"),
    )
    with scratch() as folder:
        for base, layout, code, words in cases:
            done = verified(folder, base | {"input_layouts": [layout]})
            text = done.stderr.decode()
            expect(done.returncode == 3 and f"error[{code}]" in text and words in text, f"{layout}: {text}")
            expect("r.json:" in text.splitlines()[0], text)
    return f"{len(cases)} cases"


if __name__ == "__main__":
    main(globals())
