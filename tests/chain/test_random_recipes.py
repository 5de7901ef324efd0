#!/usr/bin/env python3
"""Random recipes, good and bad, with three tiny models: verify, dry run, compile, inspect and run agree about what is
accepted, with which codes, how many bytes it takes and which buckets there are; and the buckets are those that the
recipe's ranges mean. INGOT_RANDOM_RECIPES=N tries N recipes, INGOT_TEST_SEED=S the one of that seed."""
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import Kept, expect, main, run, run_well
from tiny_model import make_model

KEPT = Kept()
path_of = KEPT.at
CONTEXT = 256
MODELS = {
    "llama": {"layers": 1, "weights": "F32"},
    "qwen3": {"layers": 1, "weights": "Q8_0", "head_dim": 32, "tied": False},
    "gemma3": {"layers": 2, "weights": "Q4_0", "head_dim": 32, "kv_heads": 1, "pattern": 2},
}
DEFAULT_NUM = 3
LEVELS = ("x86-64-v3", "v3-vnni", "x86-64-v4", "v4-vnni")


def model(family):
    path = path_of(family + ".gguf")
    if not os.path.exists(path):
        make_model(path, family=family, context=CONTEXT, **MODELS[family])
    return path


# ---------------------------------------------------------------- recipes

def some(rng, table, share=0.5):
    """A value for some of the keys of the table."""
    return {key: choose(rng) for key, choose in table.items() if rng.random() < share}


def one_of(*values):
    return lambda rng: rng.choice(values)


def random_range(rng, most):
    top = rng.randint(1, most)
    made = {"max": top}
    if rng.random() < 0.5:
        made["min"] = rng.randint(1, top)
    if rng.random() < 0.7:
        made["step"] = rng.randint(-(-top // 3), top)  # three variants at most: time
    return made


def random_targets(rng):
    targets = [{"arch": "x86_64", **some(rng, {
        "cpu": lambda rng: rng.sample(LEVELS, 2) if rng.random() < 0.1 else rng.choice(LEVELS),
        "threads": lambda rng: rng.randint(1, 5)}, 0.95)}]
    if rng.random() < 0.15:
        targets.insert(rng.randint(0, 1), {"name": rng.choice(("l40s", "a100-sxm-80gb", "ascend-910b2", "graviton4"))})
    return targets


RULES = {"qkv_proj": ("allow", "forbid", "require"), "mlp_gate_up": ("allow", "forbid", "require"),
         "elementwise": ("allow", "forbid"), "matmul_activation": ("allow", "forbid"),
         "matmul_residual": ("allow", "forbid", "require"), "norm_quantize": ("allow", "forbid", "require"),
         "attn_softmax": ("allow", "forbid", "require")}


def good_recipe(rng):
    page = rng.choice((16, 32, 48, 64))
    context = rng.randint(1, CONTEXT)
    memory = some(rng, {"enable_paged_kv_cache": one_of(True), "kv_cache_page_size": one_of(page)}, 0.7)
    if rng.random() < 0.3:
        memory["max_pages_per_sequence"] = -(-context // memory.get("kv_cache_page_size", 64))
    recipe = {
        "version": 1, "model_name": "random",
        "precision": some(rng, {"weights": one_of("as_stored"), "activations": one_of("int8", "f32", "bf16"),
                                "kv_cache": one_of("f16", "f32")}, 0.7),
        "input_constraints": {"kv_cache_seq_len": {"max": context}, "seq_len": random_range(rng, 48)},
        "targets": random_targets(rng),
        "memory_optimization": memory,
    }
    if rng.random() < 0.4:
        recipe["input_constraints"]["batch_size"] = random_range(rng, 6)
    if rng.random() < 0.4:
        patterns = rng.sample(sorted(RULES), rng.randint(1, 3))
        recipe["fusion_rules"] = [{"pattern": name, "mode": rng.choice(RULES[name])} for name in patterns]
    return recipe


def put(recipe, path, value):
    *folders, leaf = path.split(".")
    for name in folders:
        recipe = recipe.setdefault(name, {})
    recipe[leaf] = value


# What becomes of a recipe that is made wrong, or perhaps is not: all that counts is that everyone agrees.
FAULTS = (
    lambda rng, r: put(r, "precision.activation", "int8"),
    lambda rng, r: put(r, "precision.activations", "f17"),
    lambda rng, r: put(r, "precision.weights", rng.choice(("Q4_0", "Q8_0", "F32", "F16"))),
    lambda rng, r: put(r, "input_constraints.seq_len", {"min": 9, "max": 8}),
    lambda rng, r: put(r, "input_constraints.seq_len.step", 0),
    lambda rng, r: put(r, "input_constraints.seq_len", 8),
    lambda rng, r: put(r, "input_constraints.kv_cache_seq_len.max", CONTEXT + 1),
    lambda rng, r: put(r, "input_constraints.batch_size.max", 257),
    lambda rng, r: put(r, "memory_optimization.kv_cache_page_size", rng.choice((0, 15, 24, 8192))),
    lambda rng, r: put(r, "memory_optimization.max_pages_per_sequence", rng.randint(1, 40)),
    lambda rng, r: put(r, "memory_optimization.enable_paged_kv_cache", False),
    lambda rng, r: put(r, "memory_optimization.max_scratch_bytes", 4096),
    lambda rng, r: put(r, "input_layouts.qkv_packed", False),
    lambda rng, r: put(r, "dims", {"layers": rng.randint(1, 2)}),
    lambda rng, r: put(r, "targets", [{"arch": "x86_65"}]),
    lambda rng, r: put(r, "targets", [{"arch": "x86_64", "cpu": "x86-64-v3", "l2_cache_mb": rng.choice((0, 1, 5000))}]),
    lambda rng, r: put(r, "fusion_rules", [{"pattern": "conv_relu_bn", "mode": "require"}]),
    lambda rng, r: put(r, "fusion_rules", [{"pattern": "attn_softmax", "atomic": True, "use_flash_attention": False}]),
    lambda rng, r: put(r, "fusion_rules", [{"pattern": "attn_softmax", "use_flash_attention": rng.random() < 0.5}]),
    lambda rng, r: put(r, "max_memory_gb", rng.choice(("1 B", "0 B", "2 GB", 1e-5, 1e-3, "four"))),
    lambda rng, r: r.pop("version"),
)


def random_recipe(rng):
    recipe = good_recipe(rng)
    if rng.random() < 0.35:
        rng.choice(FAULTS)(rng, recipe)
    return recipe


def buckets_of(range_, also=()):
    """What the documents say of min, max and step; no bucket without a use for it."""
    if not range_:
        return set(also)
    top, low = range_["max"], range_.get("min", 1)
    step = range_.get("step", top)
    return {size for size in range(step, top + 1, step) if size >= low} | {top} | set(also)


# ---------------------------------------------------------------- the verbs

def codes(done):
    """Of the errors, which are JSON lines."""
    said = [json.loads(line) for line in done.stderr.splitlines() if line.startswith(b"{")]
    return sorted({item["code"] for item in said if item["severity"] == "error"})


class Case:
    """A recipe, as a file, with a model."""

    def __init__(self, recipe, family, name):
        self.recipe, self.family, self.path = recipe, family, path_of(name + ".json")
        self.artifact = path_of(name + ".ingot")
        with open(self.path, "w", encoding="utf-8") as out:
            json.dump(recipe, out)
        targets = recipe.get("targets", [{}])
        self.targets = [t.get("name", t.get("arch", "x86_64")) for t in targets]

    def call(self, verb, target, *options):
        return run(verb, self.path, "--model", model(self.family), f"--target={target}", "--json", *options, timeout=300)


def agree_on_refusal(verified, dry, made, artifact):
    """verify says 1 of a model that breaks a recipe; the others, which made no promise about models, 3."""
    expect(codes(dry) and codes(verified) == codes(dry) == codes(made),
           f"codes: verify {codes(verified)}, dry run {codes(dry)}, compile {codes(made)}")
    expect(dry.returncode == made.returncode, f"exits: dry run {dry.returncode}, compile {made.returncode}")
    expect(verified.returncode == dry.returncode or (verified.returncode, dry.returncode) == (1, 3),
           f"exits: verify {verified.returncode}, dry run {dry.returncode}")
    expect(not os.path.exists(artifact), "nothing is written")


def agree_on_bytes(case, verified, planned, made, seen):
    total = planned["memory"]["total_bytes"]
    for document in (planned, made, seen):
        memory = document["memory"]
        expect(memory == planned["memory"] and document["capacity"] == planned["capacity"],
               f"{memory} instead of {planned['memory']}")
        expect(sum(part["bytes"] for part in memory["parts"]) == total, memory)
    code = next(part["bytes"] for part in planned["memory"]["parts"] if part["name"] == "code")
    expect(verified["targets"][0]["total_bytes"] == total - (0 if verified["counts_code"] else code),
           f"verify: {verified}, dry run: {total}, code {code}")
    expect(os.stat(case.artifact).st_size == made["artifact_bytes"] == seen["file_bytes"], "size of the file")


def agree_on_buckets(case, verified, planned, made, seen):
    constraints = case.recipe["input_constraints"]
    batches = buckets_of(constraints.get("batch_size"))
    wanted = ([(size, False) for size in sorted(buckets_of(constraints["seq_len"], (1,)))] +
              [(size, True) for size in sorted(batches - {1})])
    for document in (planned, made, seen):
        listed = [(e["bucket_tokens"], "sequences" in e) for e in document["entries"]]
        expect(listed == wanted, f"buckets {listed}, the recipe means {wanted}")
        expect([e["num_steps"] for e in document["entries"]] == [e["num_steps"] for e in planned["entries"]], document)
    expect(verified["targets"][0]["num_versions"] == len(wanted), verified)


def buckets_are_accounted(planned):
    """Each serves what the one before does not; what of it is padding, and its share of arena and code."""
    parts = {part["name"]: part["bytes"] for part in planned["memory"]["parts"]}
    expect(-(-max(e["arena_bytes"] for e in planned["entries"]) // 4096) * 4096 == parts["arena"], planned["entries"])
    for e in planned["entries"]:
        expect(0 <= e["own_code_bytes"] <= e["code_bytes"] <= parts["code"], e)
    for total in planned["buckets"]:
        entries = [e for e in planned["entries"] if ("sequences" in e) == (total["of"] == "sequences")]
        sizes = [e["bucket_tokens"] for e in entries]
        least = [2 if total["of"] == "sequences" else 1] + [size + 1 for size in sizes[:-1]]
        expect([e["least"] for e in entries] == least and total["variants"] == len(entries), (entries, least))
        used = [[n / size for n in range(low, size + 1)] for low, size in zip(least, sizes)]
        for e, shares in zip(entries, used):
            expect(abs(e["padding"]["mean"] - (1 - sum(shares) / len(shares))) < 1e-9, e)
            expect(abs(e["padding"]["most"] - (1 - shares[0])) < 1e-9, e)
        flat = [share for shares in used for share in shares]
        lengths = range(least[0], sizes[-1] + 1)
        expect(abs(total["utilisation"] - sum(flat) / len(flat)) < 1e-9, total)
        expect(abs(total["utilisation_of_largest_alone"] - sum(lengths) / len(lengths) / sizes[-1]) < 1e-9, total)


def runs_as_planned(case, planned, seen):
    """Up to the last token of the context, in chunks of every size, and not beyond; code for better machines only is
    refused."""
    if not any(level["runs_here"] for level in seen["cpu_levels"]):
        done = run("run", case.artifact, "-p", "!", "-n", "1", "--json")
        expect(done.returncode == 5 and b"X0007" in done.stderr + done.stdout, f"code for a better machine: {done}")
        return
    context = case.recipe["input_constraints"]["kv_cache_seq_len"]["max"]
    expect(planned["context_len_tokens"] >= context, planned["context_len_tokens"])
    prompt = max(1, min(context - 1, max(e["bucket_tokens"] for e in planned["entries"]) + 1))
    done = run("run", case.artifact, "-p", "!" * prompt, "-n", "3", "--ignore-eos", "--json", timeout=300)
    expect(done.returncode == 0, f"run: exit {done.returncode}: {done.stderr[:400]}")
    said = json.loads(done.stdout)
    expect(said["memory_bytes"] == planned["memory"]["total_bytes"], f"run: {said['memory_bytes']} bytes")
    batch = planned["capacity"]["computed_at_once"]
    for number, code in ((batch, 0), (batch + 1, 2 if batch + 1 > 256 else None)):
        done = run("bench", case.artifact, "--prefill=0", "--decode=1", "--runs=1", "-q", "--json", f"--batch={number}")
        expect(done.returncode == code if code is not None else done.returncode not in (0, 70),
               f"bench --batch {number}: exit {done.returncode}: {done.stderr[:300]}")


def agree(recipe, family, name, seen_codes):
    case = Case(recipe, family, name)
    for target in case.targets:
        verified = case.call("verify", target)
        dry = case.call("compile", target, "--dry-run")
        made = case.call("compile", target, "-o", case.artifact)
        for done in (verified, dry, made):
            expect(done.returncode in (0, 1, 3, 4, 5), f"exit {done.returncode}: {done.stderr[:400]}")
        if dry.returncode == 0 and target not in ("x86_64",):
            expect(verified.returncode == 0 and made.returncode == 5, "a plan without code")
            continue
        if dry.returncode or verified.returncode or made.returncode:
            agree_on_refusal(verified, dry, made, case.artifact)
            for code in codes(dry):
                seen_codes[code] = seen_codes.get(code, 0) + 1
            continue
        seen = json.loads(run_well("inspect", case.artifact, "--json"))
        documents = [json.loads(done.stdout) for done in (verified, dry, made)] + [seen]
        agree_on_bytes(case, *documents)
        agree_on_buckets(case, *documents)
        buckets_are_accounted(documents[1])
        runs_as_planned(case, documents[1], seen)
        os.remove(case.artifact)
        seen_codes["accepted"] = seen_codes.get("accepted", 0) + 1


def held_to_the_byte(recipe, family, name):
    """With the bytes of the plan as its bound a recipe is accepted everywhere, with one less nowhere."""
    case = Case({**recipe, "targets": [{"arch": "x86_64", "cpu": "x86-64-v3"}]}, family, name)
    dry = case.call("compile", "x86_64", "--dry-run")
    if dry.returncode:
        return
    need = json.loads(dry.stdout)["memory"]["total_bytes"]
    for bound, code in ((need, 0), (need - 1, 4)):
        case = Case({**case.recipe, "max_memory_gb": f"{bound} B"}, family, name)
        for verb, options in (("verify", ()), ("compile", ("--dry-run",)), ("compile", ("-o", case.artifact))):
            done = case.call(verb, "x86_64", *options)
            expect(done.returncode == code, f"{verb} with {bound} of {need} bytes: exit {done.returncode}")


def check_everyone_agrees():
    one, number = os.environ.get("INGOT_TEST_SEED"), int(os.environ.get("INGOT_RANDOM_RECIPES", DEFAULT_NUM))
    seeds = [int(one)] if one else range(1, number + 1)
    faults, seen_codes = [], {}
    for seed in seeds:
        rng = random.Random(seed)
        recipe, bound = random_recipe(rng), rng.random() < 0.2
        # A few recipes take turns with the models; many are tried with each.
        families = sorted(MODELS) if one or number > DEFAULT_NUM else [sorted(MODELS)[seed % len(MODELS)]]
        for family in families:
            try:
                agree(recipe, family, f"{seed}-{family}", seen_codes)
                if bound:
                    held_to_the_byte(recipe, family, f"{seed}-{family}-bound")
            except Exception as error:  # pylint: disable=broad-except
                faults.append(f"seed {seed}, {family}: {type(error).__name__}: {error}\n  {json.dumps(recipe)}")
                print(faults[-1], file=sys.stderr, flush=True)
    expect(not faults, f"{len(faults)} of {len(seeds)} recipes:\n" + "\n".join(faults[:5]))
    return ", ".join(f"{key} {count}" for key, count in sorted(seen_codes.items()))


if __name__ == "__main__":
    main(globals())
