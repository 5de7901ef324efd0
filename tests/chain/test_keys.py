#!/usr/bin/env python3
"""Every key of the recipe does what its line in the table says: one row per key flips it and looks where the
effect is named. Every key misspelt by one letter is recognised."""
import collections
import copy
import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, expect, main, run, run_well, scratch
from tiny_model import make_model

KEPT = scratch()
DIMS = {"architecture": "llama", "layers": 2, "hidden": 64, "heads": 4, "kv_heads": 2, "ffn": 160, "vocab": 320,
        "norm_eps": 1e-5}
MODEL = {"version": 1, "model_name": "m", "dims": DIMS, "precision": {"weights": "Q8_0"},
         "input_constraints": {"seq_len": {"min": 1, "max": 32, "step": 32}, "kv_cache_seq_len": {"max": 64}},
         "targets": [{"arch": "x86_64", "cpu": "x86-64-v3", "threads": 2}],
         "memory_optimization": {"kv_cache_page_size": 16}}
TEXT = """func.func @f(%x: tensor<?x8xf32> {ingot.dims = ["rows", ""]}) -> tensor<?x8xf32> {
  %n = arith.constant 0 : index
  %d = tensor.dim %x, %n : tensor<?x8xf32>
  %e = tensor.empty(%d) : tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %y = math.OP %a : f32
    linalg.yield %y : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
"""
SUBGRAPH = {"version": 1, "model_name": "s", "subgraph": {"text": TEXT.replace("OP", "exp")},
            "input_constraints": {"rows": {"min": 1, "max": 16, "step": 8}},
            "targets": [{"arch": "x86_64", "cpu": "x86-64-v3", "threads": 2}]}
SOFTMAX = {"version": 1, "model_name": "s", "subgraph": {"file": os.path.join(
    ROOT, "tests", "chain", "modules", "matmul_softmax.mlir")}}
LARGE = MODEL | {"dims": DIMS | {"hidden": 1024, "ffn": 4096, "vocab": 32000}}
BATCH = MODEL | {"input_constraints": MODEL["input_constraints"] | {"batch_size": {"max": 8, "step": 4}}}
FROM_FILE = {k: v for k, v in MODEL.items() if k not in ("dims", "precision")} | {"model": "two.gguf", "input_constraints": {
    "seq_len": {"max": 8}, "kv_cache_seq_len": {"max": 64}, "batch_size": {"max": 4}}}
LATE = FROM_FILE | {"input_constraints": {"seq_len": {"min": 4, "max": 8, "step": 4}, "kv_cache_seq_len": {"max": 64},
                                          "batch_size": {"min": 4, "max": 4}}}
LAID = MODEL | {"input_layouts": [{"name": "q_proj_weight"}]}
OTHER_BASE = {k: v for k, v in MODEL.items() if k not in ("dims", "precision")} | {"model": "two.gguf", "dims": {"rope_base": 50000}}
APART = MODEL | {"input_layouts": {"qkv_packed": False}}  # three products that need not wait for one another
WINDOW = MODEL | {"dims": DIMS | {"architecture": "olmo2", "sliding_window": 32}}


def machine(**numbers):
    return MODEL | {"targets": [numbers]}


def ruled(**rule):
    return MODEL | {"fusion_rules": [rule]}


# key: (where, base, the value there if not the base's own, the other value, what must differ or be said).
#   ir: the module as imported; typed: more conversions to that type reach the kernels; plan: that part of the
#   dry run's report; diagnostic: codes and exit code of a dry run with the other value, the base being accepted;
#   run, prompt, batch: of a call.
ROWS = {
    "version": ("diagnostic", MODEL, 1, 2, ("R0005", 3)),
    "model_name": ("plan", MODEL, "m", "other", "model_name"),
    "model": ("plan", {k: v for k, v in MODEL.items() if k not in ("dims", "precision")}, "two.gguf", "three.gguf", "memory"),
    "subgraph.text": ("ir", SUBGRAPH, TEXT.replace("OP", "exp"), TEXT.replace("OP", "tanh"), None),
    "subgraph.file": ("ir", SUBGRAPH | {"subgraph": {}}, "exp.mlir", "tanh.mlir", None),
    "dims.architecture": ("ir", MODEL, "llama", "qwen2", None),
    "dims.layers": ("ir", MODEL, 2, 3, None),
    "dims.hidden": ("ir", MODEL, 64, 128, None),
    "dims.heads": ("ir", MODEL, 4, 2, None),
    "dims.kv_heads": ("ir", MODEL, 2, 4, None),
    "dims.head_dim": ("ir", MODEL, 16, 32, None),
    "dims.ffn": ("ir", MODEL, 160, 192, None),
    "dims.vocab": ("ir", MODEL, 320, 352, None),
    "dims.context": ("diagnostic", MODEL, 64, 32, ("F0016", 3)),
    "dims.sliding_window": ("ir", WINDOW, 32, 16, None),
    "dims.rope_base": ("ir", MODEL, 10000, 50000, None),
    "dims.norm_eps": ("ir", MODEL, 1e-5, 1e-6, None),
    "dims.tied_embeddings": ("ir", MODEL, False, True, None),
    "precision.weights": ("plan", MODEL, "Q8_0", "Q4_0", "memory"),
    "precision.activations": ("plan", MODEL, "int8", "f32", "kernels"),
    "precision.kv_cache": ("plan", MODEL, "f16", "f32", "memory"),
    "precision.default": ("diagnostic", MODEL, "fp32", "fp16", ("R0020", 0)),
    "precision.embedding_precision": ("typed", MODEL, "fp32", "fp16", "f16"),
    "precision.layernorm_precision": ("typed", MODEL, "fp32", "bf16", "bf16"),
    "precision.rope_precision": ("typed", MODEL, "fp32", "fp16_storage", "f16"),
    "precision.softmax_precision": ("typed", MODEL, "fp32", "fp16_sum32", "f16"),
    "precision.activation_precision": ("typed", MODEL, "fp32", "bf16_sum32", "bf16"),
    "precision.residual_precision": ("typed", MODEL, "fp32", "bf16_storage", "bf16"),
    "precision.matmul_precision": ("typed", MODEL, "fp32", "fp16_storage", "f16"),
    "precision.logits_precision": ("typed", MODEL, "fp32", "bf16_storage", "bf16"),
    "input_constraints.batch_size.min": ("plan", BATCH, 1, 5, "entries"),
    "input_constraints.batch_size.max": ("plan", MODEL, 1, 4, "capacity"),
    "input_constraints.batch_size.step": ("plan", BATCH, 4, 8, "entries"),
    "input_constraints.seq_len.min": ("plan", MODEL | {"input_constraints": {"seq_len": {"max": 32, "step": 8}}}, 1, 16, "entries"),
    "input_constraints.seq_len.max": ("plan", MODEL, 32, 64, "entries"),
    "input_constraints.seq_len.step": ("plan", MODEL, 32, 16, "entries"),
    "input_constraints.kv_cache_seq_len.max": ("plan", MODEL, 64, 128, "memory"),
    "relations": ("plan", BATCH, ["batch_size * kv_cache_seq_len <= 512"], ["batch_size * kv_cache_seq_len <= 128"], "capacity"),
    "input_constraints.batch_size.hot": ("plan", BATCH, [4], [3], "entries"),
    "input_constraints.seq_len.hot": ("plan", MODEL, [32], [5, 17], "entries"),
    "enable_custom_rope": ("diagnostic", OTHER_BASE, True, False, ("R0011", 3)),
    "unsupported_ops": ("diagnostic", MODEL, ["math.tanh"], ["math.tanh", "math.exp"], ("P0063", 1)),
    "fallback": ("diagnostic", MODEL, "allow", "forbid", ("P0064", 1)),
    "enable_async_execution": ("plan", APART, True, False, "entries"),
    "enable_sync_all": ("plan", APART, False, True, "entries"),
    "memory_optimization.enable_recomputation": ("diagnostic", MODEL, False, True, ("R0012", 3)),
    "reserve": ("plan", MODEL, "4096 B", "8192 B", "memory"),
    "fusion_rules[].flash_attention_version": ("diagnostic", ruled(pattern="attn_softmax"), 2, 3, ("R0012", 3)),
    "fusion_rules[].fuse_order": ("plan", MODEL | {"fusion_rules": [{"pattern": "attn_softmax"}, {"pattern": "matmul_softmax",
                                                                                                  "fuse_order": 2}]},
                                  1, 3, "kernels"),
    "input_constraints.seq_len.off_step": ("prompt", FROM_FILE, "pad", "reject", ("X0021", 3)),
    "input_constraints.seq_len.out_of_range": ("prompt", LATE, "next_bucket", "reject", ("X0021", 3)),
    "input_constraints.batch_size.off_step": ("batch", FROM_FILE, "pad", "reject", ("X0021", 3)),
    "input_constraints.batch_size.out_of_range": ("batch", LATE, "next_bucket", "reject", ("X0021", 3)),
    "input_layouts[].name": ("diagnostic", MODEL | {"input_layouts": [{}]}, "q_proj_weight", "p_proj_weight", ("R0010", 3)),
    "input_layouts[].dtype": ("diagnostic", LAID, "q8_0", "f16", ("R0011", 3)),
    "input_layouts[].shape": ("diagnostic", LAID, [64, 64], [64, 32], ("R0011", 3)),
    "input_layouts[].format": ("diagnostic", LAID, "row_major", "col_major", ("R0012", 3)),
    "input_layouts[].tile_size": ("diagnostic", LAID, None, 16, ("R0011", 3)),
    "input_layouts[].block_size": ("diagnostic", LAID, None, 16, ("R0011", 3)),
    "input_constraints[].min": ("plan", SUBGRAPH, 1, 9, "entries"),
    "input_constraints[].max": ("plan", SUBGRAPH, 16, 32, "entries"),
    "input_constraints[].step": ("plan", SUBGRAPH, 8, 4, "entries"),
    "input_constraints[].hot": ("plan", SUBGRAPH, [8], [3], "entries"),
    "input_constraints[].off_step": ("run", SUBGRAPH, "pad", "reject", ("X0021", 3)),
    "input_constraints[].out_of_range": ("run", SUBGRAPH | {"input_constraints": {"rows": {"min": 5, "max": 16, "step": 8}}},
                                         "next_bucket", "reject", ("X0021", 3)),
    "input_layouts.qkv_packed": ("plan", MODEL, True, False, "kernels"),
    "targets[].name": ("plan", machine(), "l40s", "a100-sxm-80gb", "target"),
    "targets[].arch": ("diagnostic", MODEL, "x86_64", "vax", (None, 3)),
    "targets[].cpu": ("plan", MODEL, "x86-64-v3", "v4-vnni", "cpu_levels"),
    "targets[].threads": ("plan", MODEL, 2, 4, "max_threads"),
    "targets[].sm_count": ("diagnostic", machine(name="l40s"), 142, 100, (None, 3)),
    "targets[].core_count": ("diagnostic", machine(name="ascend-910b2"), 24, 5, (None, 3)),
    "targets[].l2_cache_mb": ("diagnostic", machine(name="l40s"), 96, 40, (None, 3)),
    "targets[].mem_bandwidth_gbps": ("plan", LARGE, 20, 200, "predicted"),
    "targets[].compute_capability": ("diagnostic", machine(name="l40s"), "8.9", "9.0", (None, 3)),
    "targets[].gfx_arch": ("diagnostic", machine(name="mi300x"), "gfx942", "gfx90a", (None, 3)),
    "targets[].ai_core_type": ("diagnostic", machine(name="l40s"), None, "cube", (None, 3)),
    "targets[].ai_core_preference": ("diagnostic", machine(name="ascend-910b2"), "balanced", "cube", (None, 0)),
    "memory_optimization.enable_paged_kv_cache": ("diagnostic", MODEL, True, False, ("R0012", 3)),
    "memory_optimization.kv_cache_page_size": ("plan", MODEL, 16, 32, "capacity"),
    "memory_optimization.max_pages_per_sequence": ("diagnostic", MODEL, 4, 5, ("R0011", 3)),
    "max_memory_gb": ("diagnostic", MODEL, 1, "4096 B", ("M0001", 4)),
    "memory_optimization.max_scratch_bytes": ("plan", SOFTMAX, 131072, 64, "kernels"),
    "fusion_rules[].pattern": ("plan", ruled(enabled=False), "mlp_gate_up", "qkv_proj", "kernels"),
    "fusion_rules[].enabled": ("plan", ruled(pattern="qkv_proj"), True, False, "kernels"),
    "fusion_rules[].mode": ("plan", ruled(pattern="qkv_proj"), "allow", "forbid", "kernels"),
    "fusion_rules[].atomic": ("diagnostic", ruled(pattern="conv_relu_bn"), False, True, ("P0061", 1)),
    "fusion_rules[].use_flash_attention": ("plan", ruled(pattern="attn_softmax"), True, False, "kernels"),
}


def table():
    """(scope, path) of every key."""
    with open(os.path.join(ROOT, "src", "recipe", "recipe.def"), encoding="utf-8") as source:
        return re.findall(r'^RECIPE_(?:(\w+)_)?KEY\(\w+, "([^"]+)"', source.read(), re.M)


def with_value(base, path, value):
    """The base with one value set; None leaves the key out."""
    recipe = copy.deepcopy(base)
    node, parts = recipe, path.split(".")
    for at, part in enumerate(parts):
        name = part.removesuffix("[]")
        if at + 1 == len(parts):
            if value is not None:
                node[name] = value
            return recipe
        node = node.setdefault(name, {})
        if part.endswith("[]"):
            node = node["rows"] if name == "input_constraints" else node[0]
    return recipe


def written(recipe):
    path = os.path.join(KEPT.name, "r.json")
    with open(path, "w", encoding="utf-8") as out:
        json.dump(recipe, out)
    return path


SEEN = {}  # rows have bases in common


def seen(look, recipe):
    key = (look.__name__, json.dumps(recipe, sort_keys=True))
    if key not in SEEN:
        SEEN[key] = look(written(recipe))
    return SEEN[key]


def ir_of(path):
    return re.sub(r"(model|recipe) = -?\d+ : i64", "", run_well("compile", path, "--emit-ir=1").decode())


def report_of(path):
    report = json.loads(run_well("compile", path, "--dry-run", "--json"))
    for part in report["memory"]["parts"]:
        part.pop("set_by")
    return report


def casts_of(path):
    """Conversions to 16-bit types in the module that kernels are cut from."""
    with tempfile.TemporaryDirectory(dir=KEPT.name) as folder:
        run_well("compile", path, "--dry-run", "--dump-ir-after=check-faults", "--dump-dir", folder)
        with open(os.path.join(folder, os.listdir(folder)[0]), encoding="utf-8") as dump:
            return collections.Counter(re.findall(r"arith\.truncf .* : f32 to (\w+)", dump.read()))


def codes_of(path):
    done = run("compile", path, "--dry-run")
    return set(re.findall(r"(?:error|warning)\[(\w+)\]", done.stderr.decode())), done.returncode


def off_step(path):
    """Of a call with 3 rows, which is no step's."""
    artifact, x = os.path.join(KEPT.name, "s.ingot"), os.path.join(KEPT.name, "x.npy")
    run_well("compile", path, "-o", artifact)
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 8), }".ljust(117) + "\n"
    with open(x, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(96))
    done = run("run", artifact, "--input", x)
    return set(re.findall(r"error\[(\w+)\]", done.stderr.decode())), done.returncode


def called(path, *options):
    artifact = os.path.join(KEPT.name, "c.ingot")
    run_well("compile", path, "-o", artifact)
    done = run("bench", artifact, "--runs", "1", *options)
    return set(re.findall(r"error\[(\w+)\]", done.stderr.decode())), done.returncode


def prompt_of_3(path):
    return called(path, "--prefill", "3", "--decode", "0")


def batch_of_3(path):
    return called(path, "--prefill", "0", "--decode", "2", "--batch", "3")


def flip(key, where, base, value, other, what):
    first = with_value(base, key, value)
    second = with_value(base, key, other)
    if where == "ir":
        expect(seen(ir_of, first) != seen(ir_of, second), f"{key}: the IR is the same")
    elif where == "plan":
        expect(seen(report_of, first)[what] != seen(report_of, second)[what], f"{key}: {what} is the same")
    elif where == "typed":
        expect(seen(casts_of, first)[what] < seen(casts_of, second)[what], f"{key}: no conversion to {what} is made")
    else:
        look = {"diagnostic": codes_of, "run": off_step, "prompt": prompt_of_3, "batch": batch_of_3}[where]
        (said, status), (now, now_status) = seen(look, first), seen(look, second)
        code, exit_code = what
        expect(status == 0, f"{key}: {value} is refused: {said}")
        expect(now - said and (code is None or code in now) and now_status == exit_code,
               f"{key}: {other} says {now}, exit {now_status}")


def check_every_key_has_its_effect():
    keys = [path for _, path in table()]
    expect(len(keys) > 50 and set(keys) == set(ROWS), f"no row: {set(keys) - set(ROWS)}; no key: {set(ROWS) - set(keys)}")
    make_model(os.path.join(KEPT.name, "two.gguf"), layers=2)
    make_model(os.path.join(KEPT.name, "three.gguf"), layers=3)
    for op in ("exp", "tanh"):
        with open(os.path.join(KEPT.name, op + ".mlir"), "w", encoding="utf-8") as out:
            out.write(TEXT.replace("OP", op))
    faults = []
    for key, row in ROWS.items():
        try:
            flip(key, *row)
        except AssertionError as fault:
            faults.append(str(fault)[:300])
    expect(not faults, "\n".join(faults))
    return f"{len(keys)} keys"


# ---------------------------------------------------------------- one wrong letter

def distance(a, b):
    """Insertions, deletions, substitutions and exchanged neighbours."""
    rows = [list(range(len(b) + 1))]
    for i in range(1, len(a) + 1):
        rows.append([i] + [0] * len(b))
        for j in range(1, len(b) + 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[len(a)][len(b)]


def misspelt(word):
    for i in range(len(word)):
        yield word[:i] + word[i + 1:]
        yield word[:i] + ("q" if word[i] != "q" else "z") + word[i + 1:]
        if i + 1 < len(word):
            yield word[:i] + word[i + 1] + word[i] + word[i + 2:]


def check_one_wrong_letter_is_recognised():
    """All misspellings of the keys of a mapping stand in one recipe; the suggestion must be the key that is meant,
    or one that is as near."""
    places = {}
    for scope, path in table():
        kind = "subgraph" if scope == "SUBGRAPH" else "model"
        parts = path.split(".")
        for at in range(len(parts)):
            name = parts[at].removesuffix("[]")
            places.setdefault((kind, ".".join(parts[:at])), set()).add(name)
    for scope, path in table():  # what both kinds have, for what is as near
        for (kind, prefix), names in places.items():
            if path.startswith(prefix + "." if prefix else ""):
                names.add(path[len(prefix) + 1 if prefix else 0:].split(".")[0].removesuffix("[]"))
    num = 0
    for (kind, prefix), names in places.items():
        words = sorted({wrong for name in names for wrong in misspelt(name) if wrong} - names)
        head = ["version: 1", "model_name: x"] + (['subgraph: {text: "x"}'] if kind == "subgraph" else [])
        indent = ""
        for part in prefix.split(".") if prefix else []:
            name = part.removesuffix("[]")
            head = [line for line in head if not line.startswith(name + ":")]
            head.append(f"{indent}{name}:")
            indent += "  "
            if part.endswith("[]") and name == "input_constraints":
                head.append(f"{indent}rows:")
                indent += "  "
            elif part.endswith("[]"):
                head.append(f"{indent}-")
                indent += "  "
        path = os.path.join(KEPT.name, "wrong.yaml")
        with open(path, "w", encoding="utf-8") as out:
            out.write("\n".join(head + [f"{indent}{word}: 1" for word in words]) + "\n")
        done = run("verify", path, "--json")
        said = {}
        for line in done.stderr.decode().splitlines():
            diagnostic = json.loads(line)
            if diagnostic["code"] == "R0008":
                said[diagnostic["line"] - len(head)] = diagnostic.get("write", "").rstrip(":")
        for at, word in enumerate(words, 1):
            meant = min(distance(word, name) for name in names)
            expect(at in said and distance(word, said[at]) <= meant, f"{prefix}: {word} gives {said.get(at)}")
            num += 1
    return f"{num} misspellings"


if __name__ == "__main__":
    main(globals())
