#!/usr/bin/env python3
"""What `ingot diff` says of two artifacts or recipes: nothing of equal ones, wherever they were made; of a
change its key and what follows from it, under the right heading; of equal manifests with other bytes, the place."""
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from support import (INGOT, ROOT, TINY_RECIPE, Kept, Skip, clean_environment, expect, expect_exit, main, run, run_well,
                     with_numpy)

(jsonschema,) = with_numpy("jsonschema")
KEPT = Kept()
path_of, write = KEPT.at, KEPT.write
SUBGRAPH = """version: 1
model_name: s
subgraph:
  text: |
    func.func @f(%x: tensor<?x8xf32> {ingot.dims = ["rows", ""]}) -> tensor<?x8xf32> {
      %n = arith.constant 0 : index
      %d = tensor.dim %x, %n : tensor<?x8xf32>
      %e = tensor.empty(%d) : tensor<?x8xf32>
      %y = linalg.softmax dimension(1) ins(%x : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
      return %y : tensor<?x8xf32>
    }
input_constraints:
  rows: {min: 1, max: 8, step: 4}
targets: [{arch: x86_64, cpu: x86-64-v3, threads: 1}]
"""


def read(name):
    with open(path_of(name), "rb") as source:
        return source.read()


def model():
    return KEPT.model(layers=1)


def artifact(name, text=TINY_RECIPE, *options, file=None):
    """Compiled once: NAME.yaml to NAME.ingot."""
    out = path_of(name + ".ingot")
    if not os.path.exists(out):
        arguments = [] if "subgraph:" in text else ["--model", file or model()]
        run_well("compile", write(name + ".yaml", text), *arguments, *options, "-o", out, timeout=400)
    return out


def diff(a, b, *options, code=1):
    """The document; what it says of itself holds, and the text says the same."""
    done = run("diff", a, b, "--json", *options, timeout=400)
    expect_exit(done, code)
    said = json.loads(done.stdout)
    expect(said["equal"] == (code == 0) == (said["num_different"] == 0), said["num_different"])
    for key in ("num_compared", "num_different"):
        expect(said[key] == sum(topic[key] for topic in said["topics"]), key)
    for topic in said["topics"]:
        differing = [fact for fact in topic["facts"] if fact["change"] != "equal"]
        expect(len(differing) == topic["num_different"], topic["name"])
        for fact in differing:
            expect(fact["a"] != fact["b"], fact)
            if isinstance(fact["a"], int) and isinstance(fact["b"], int) and not isinstance(fact["a"], bool):
                expect(fact["delta"] == fact["b"] - fact["a"], fact)
    return said


def facts(said, topic):
    return [fact for of in said["topics"] if of["name"] == topic for fact in of["facts"]]


def fact_of(said, topic, what, field):
    found = [f for f in facts(said, topic) if f["what"] == what and f["field"] == field]
    expect(len(found) == 1, f"{topic}: {what}, {field}: {[(f['what'], f['field']) for f in facts(said, topic)]}")
    return found[0]


def check_equal_artifacts_of_two_folders_are_equal():
    first = artifact("base")
    second = artifact("other/folder/name")
    said = diff(first, second, code=0)
    expect(said["num_compared"] > 200 and said["first_cause"] is None and not said["not_compared"], said)
    text = run_well("diff", first, second).decode()
    expect(text.count("\n") == 1 and text.endswith("equal, byte by byte\n"), text)
    everything = run_well("diff", first, second, "--all").decode()
    expect("kv pages, bytes: " in everything and ", in both" in everything, everything[:300])


def changed(old, new):
    expect(TINY_RECIPE.count(old) == 1, old)
    return TINY_RECIPE.replace(old, new)


SEQ = "input_constraints.seq_len.max"
PAGE = "memory_optimization.kv_cache_page_size"
BATCH = "input_constraints.batch_size.max"
FORBID = "fusion_rules[qkv_proj].mode"
# name: recipe, options, the setting that is the first cause with both values and its place, facts that
# follow: topic, what,
# field, a, b (None: not looked at)
CHANGES = {
    "buckets": (changed("max: 8, step: 8", "max: 16, step: 8"), [], (SEQ, "8", "16", "recipe:5"), [
        ("buckets", "entry forward_s16", "num_steps", None, None), ("memory", "arena", "bytes", None, None),
        ("predicted time", "x86-64-v3, forward_s16", "", None, None)]),
    "batch": (changed("  seq_len", "  batch_size: {max: 2}\n  seq_len"), [], (BATCH, "1", "2", "recipe:5"), [
        ("buckets", "entry forward_batch_b2", "num_steps", None, None),
        ("memory", "KV pages", "computed_at_once", 1, 2), ("memory", "KV pages", "pages", 4, 8)]),
    "precision": (changed("kv_cache: f32", "kv_cache: f16"), [], ("precision.kv_cache", "f32", "f16", "recipe:3"), [
        ("precision", "", "kv", "f32", "f16"), ("memory", "kv pages", "bytes", 16384, 8192)]),
    "fusion": (TINY_RECIPE + "fusion_rules: [{pattern: qkv_proj, mode: forbid}]\n", [], (FORBID, None, "forbid", "recipe:10"), [
        ("fusions", "rule qkv_proj", "outcome", "applied", "not applied"),
        ("buckets", "entry forward_s1", "num_steps", None, None), ("fusions", "all edges", "num_edges", None, None)]),
    "page": (changed("page_size: 16", "page_size: 32"), [], (PAGE, "16", "32", "recipe:9"), [
        ("memory", "KV pages", "page_tokens", 16, 32),
        ("predicted time", "x86-64-v3, forward_s1", "one_thread_ns.empty_context", None, None)]),
    "threads": (TINY_RECIPE, ["--threads=1"], ("--threads", None, "1", "option"), [
        ("inputs", "threads", "", 2, 1),
        ("predicted time", "x86-64-v3, forward_s8", "all_threads_ns.empty_context", None, None)]),
    "levels": (TINY_RECIPE, ["--cpu=x86-64-v3,v3-vnni"], ("--cpu", None, "x86-64-v3,v3-vnni", "option"), [
        ("inputs", "cpu levels", "", ["x86-64-v3"], ["x86-64-v3", "v3-vnni"]),
        ("bytes", "code v3-vnni", "bytes", None, None), ("memory", "file", "", None, None)]),
    "machine": (changed("arch: x86_64", "name: epyc-9654"), [], ("targets[0].name", None, "epyc-9654", "recipe:8"), [
        ("inputs", "machine x86-64-v3", "target", "x86-64-v3", "epyc-9654"),
        ("predicted time", "x86-64-v3, forward_s1", "one_thread_ns.empty_context", None, None)]),
    "passes": (TINY_RECIPE, ["--disable-pass=merge-equal"], ("--disable-pass", None, "merge-equal", "option"), []),
}


def check_a_change_is_named_with_what_follows():
    for name, (text, options, (key, a, b, at), wanted) in CHANGES.items():
        said = diff(artifact("base"), artifact(name, text, *options))
        told = {f["what"]: (f["a"], f["b"], f.get("b_at", "")) for f in facts(said, "settings")}
        expect(told.pop(key, None) == (a, b, at), f"{name}: {facts(said, 'settings')}")
        expect(told == ({"targets[0].arch": ("x86_64", None, "")} if name == "machine" else {}), f"{name}: {told}")
        expect(said["first_cause"]["topic"] == "settings", f"{name}: {said['first_cause']}")
        expect(name == "machine" or said["first_cause"]["what"] == key, f"{name}: {said['first_cause']}")
        for topic, what, field, old, new in wanted:
            fact = fact_of(said, topic, what, field)
            expect(old is None or (fact["a"], fact["b"]) == (old, new), f"{name}: {fact}")
            expect(topic == "inputs" or key in fact["set_by"], f"{name}: {fact}")
        for topic in ("inputs", "build"):
            expect(all(f["what"] in ("text of recipe or module", "threads", "cpu levels", "machine x86-64-v3")
                       for f in facts(said, topic)), f"{name}: {facts(said, topic)}")
    return f"{len(CHANGES)} changes"


def check_the_setting_that_decides_is_told_from_another():
    both = CHANGES["buckets"][0].replace("page_size: 16", "page_size: 32")
    said = diff(artifact("base"), artifact("both", both))
    expect(fact_of(said, "memory", "KV pages", "page_tokens")["set_by"] == [PAGE], "a page")
    expect(fact_of(said, "memory", "arena", "bytes")["set_by"] == [SEQ], "the arena")
    expect(fact_of(said, "memory", "total", "")["set_by"] == [SEQ, PAGE], "the sum")


def check_one_byte_of_the_model():
    weights = bytearray(read(os.path.basename(model())))
    weights[-1000] ^= 1
    said = diff(artifact("base"), artifact("flipped", file=write("flip/m.gguf", bytes(weights))))
    cause = said["first_cause"]
    expect((cause["topic"], cause["what"], cause["field"]) == ("inputs", "model", "sha256"), cause)
    different = {(topic["name"], fact["what"]) for topic in said["topics"] for fact in topic["facts"]}
    expect(different == {("inputs", "model"), ("bytes", "manifest"), ("bytes", "weights")}, different)
    expect(fact_of(said, "bytes", "weights", "content")["set_by"] == ["model"], "the model is why")


def check_a_lock_and_a_machine_are_inputs():
    lock = path_of("lock.yaml")
    run_well("tune", write("r.yaml", TINY_RECIPE), "--model", model(), "-o", lock, "--runs", "1", "--candidates", "1")
    with open(os.path.join(ROOT, "data", "targets", "x86-64-v3.yaml"), encoding="utf-8") as source:
        target = write("here.yaml", source.read())
    for option, what in ((f"--tuning={lock}", "tuning lock"), (f"--target-file={target}", "target description")):
        said = diff(artifact("base"), artifact(what.split()[0], TINY_RECIPE, option))
        cause = said["first_cause"]
        expect((cause["topic"], cause["what"], cause["change"]) == ("inputs", what, "added"), cause)
        expect(all(what in fact["set_by"] for fact in facts(said, "bytes")), facts(said, "bytes"))


def check_equal_manifests_with_other_bytes():
    """A byte of the weights changed in the file: opening does not read them, so only the bytes tell."""
    whole = bytearray(read(os.path.basename(artifact("base"))))
    weights = len(whole) - 4096 * 3 - 7
    whole[weights] ^= 0x10
    said = diff(artifact("base"), write("damaged.ingot", bytes(whole)))
    expect(said["first_cause"] is None and said["num_different"] == 1, said["num_different"])
    fact = fact_of(said, "bytes", "weights", "content")
    number = int(fact["a"].split()[1])
    start = weights - number
    expect(start > 0 and start % 4096 == 0 and fact["b"] == f"byte {number} is {whole[weights]:02x}", fact)
    text = run("diff", artifact("base"), path_of("damaged.ingot")).stdout.decode()
    expect("no cause is known" in text and fact["b"] in text, text)


def check_sizes_of_a_subgraph():
    first = artifact("s", SUBGRAPH)
    said = diff(first, artifact("s2", SUBGRAPH.replace("max: 8, step: 4", "max: 12, step: 4")))
    expect(said["first_cause"]["what"] == "input_constraints.rows.max", said["first_cause"])
    expect(fact_of(said, "buckets", "entry f rows=12", "num_steps")["change"] == "added", "a version more")
    fact = fact_of(said, "buckets", "size f rows=8, rows", "max")
    expect((fact["a"], fact["b"], fact["set_by"]) == (8, 12, ["input_constraints.rows.max"]), fact)
    reject = SUBGRAPH.replace("step: 4}", "step: 4, off_step: reject}")
    fact = fact_of(diff(first, artifact("s3", reject)), "buckets", "size f rows=4, rows", "off_step")
    expect((fact["a"], fact["b"]) == ("pad", "reject"), fact)


def check_recipes_and_artifacts():
    base, page = artifact("base"), artifact("page", CHANGES["page"][0])
    recipe = write("again.yaml", "# a comment\n" + TINY_RECIPE)
    options = ["--model", model()]
    said = diff(path_of("base.yaml"), recipe, *options, code=0)
    expect([said[side]["kind"] for side in "ab"] == ["recipe", "recipe"], said["a"])
    said = diff(path_of("base.yaml"), base, *options, code=0)
    expect([said[side]["kind"] for side in "ab"] == ["recipe", "artifact"], said["a"])
    expect(said["num_compared"] > 150 and said["not_compared"] == ["file_bytes"], said["not_compared"])
    said = diff(page, recipe, *options)
    expect(said["first_cause"]["what"] == PAGE and said["first_cause"]["b_at"] == "recipe:10", said["first_cause"])
    expect(fact_of(said, "memory", "KV pages", "page_tokens")["set_by"] == [PAGE], "from 32 to 16")
    said = diff(path_of("base.yaml"), path_of("page.yaml"), *options)
    expect(fact_of(said, "memory", "KV pages", "page_tokens")["b"] == 32, "planned")


def check_a_module_of_text_is_planned():
    mlp = os.path.join(HERE, "modules", "mlp.mlir")
    diff(mlp, mlp, code=0)


def check_artifacts_need_no_compiler():
    alone = shutil.copy(INGOT, path_of("alone"))
    for other, code in ((artifact("page", CHANGES["page"][0]), 1), (path_of("base.yaml"), 5)):
        done = subprocess.run([alone, "diff", artifact("base"), other], capture_output=True, env=clean_environment())
        expect_exit(done, code)
        expect((PAGE in done.stdout.decode()) == (code == 1), done.stdout)


def check_what_cannot_be_compared_is_refused():
    base = artifact("base")
    whole = read("base.ingot")
    cases = [(write("cut.ingot", whole[:5000]), 3, "X0003"), (write("none.ingot", b"x" * 100), 3, "X0001"),
             (write("flip.ingot", whole[:4200] + bytes([whole[4200] ^ 1]) + whole[4201:]), 3, "X0004"),
             (path_of("missing.ingot"), 6, "U0002"), (write("bad.yaml", "version: 2\n"), 3, "R0")]
    for other, code, name in cases:
        for pair in ((base, other), (other, base)):
            done = run("diff", *pair)
            expect_exit(done, code)
            expect(b"error[" + name.encode() in done.stderr and not done.stdout, done.stderr)
    for arguments in ((base,), (base, base, base), (base, base, "--model", model()), (base, base, "--target=host")):
        expect_exit(run("diff", *arguments), 2)


def check_json_is_what_its_schema_says_and_text_agrees():
    if not jsonschema:
        raise Skip("Python has no jsonschema (Debian: python3-jsonschema)")
    with open(os.path.join(ROOT, "data", "schemas", "diff.json"), encoding="utf-8") as source:
        published = json.load(source)
    jsonschema.Draft202012Validator.check_schema(published)
    validator = jsonschema.Draft202012Validator(published)
    base = artifact("base")
    for name in ("buckets", "fusion", "threads"):
        other = artifact(name, CHANGES[name][0], *CHANGES[name][1])
        for options in ((), ("--all",)):
            said = diff(base, other, *options)
            faults = [error.message for error in validator.iter_errors(said)]
            expect(not faults, faults[:3])
        text = run("diff", base, other, "--all").stdout.decode()
        for topic in said["topics"]:
            if topic["facts"]:
                part = text.split(f"\n\n{topic['name']}", 1)[1].split("\n\n")[0]
                lines = part.split("\n")[1:]
                expect(len([line for line in lines if line]) == len(topic["facts"]), topic["name"])
                for fact, line in zip(topic["facts"], lines):
                    expect(fact["what"] in line and line.count(" -> ") >= (fact["change"] == "changed"), line)
    said["topics"][0]["facts"] = [{"what": 1}]
    expect(list(validator.iter_errors(said)), "the schema takes anything")


if __name__ == "__main__":
    main(globals())
