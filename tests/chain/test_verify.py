#!/usr/bin/env python3
"""`ingot verify`: what it says, a dry run and a compile say too, before any code is made."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import ROOT, TINY_RECIPE, Kept, Skip, expect, expect_exit, main, run, run_well, with_numpy

(jsonschema,) = with_numpy("jsonschema")
KEPT = Kept()
path_of, write, model = KEPT.at, KEPT.write, KEPT.model
# name: (what is written instead of what, the code). Of the recipe by itself; of the model against it; of the plan.
FAULTS = {
    "a key misspelt": ("seq_len:", "seq_lem:", "R0008", 3),
    "a value out of range": ("threads: 2", "threads: 0", None, 3),
    "a range upside down": ("{min: 1, max: 8, step: 8}", "{min: 9, max: 8, step: 8}", None, 3),
    "an unknown level": ("cpu: x86-64-v3", "cpu: x86-64-v9", None, 3),
    "an unknown precision": ("activations: f32", "activations: f8", None, 3),
    "no YAML": ("version: 1", "version: [1", None, 3),
    "a context beyond the model's": ("kv_cache_seq_len: {max: 64}", "kv_cache_seq_len: {max: 65536}", None, 1),
    "a forbidden fusion that must be": ("version: 1", "version: 1\nfusion_rules: [{pattern: conv_relu_bn, mode: require}]",
                                        None, 1),
    "another model's layers": ("version: 1", "version: 1\ndims: {layers: 7}", None, 1),
    "too little memory": ("version: 1", 'version: 1\nmax_memory_gb: "1000 B"', "M0001", 4),
}


def codes(done):
    return re.findall(rb"error\[(\w+)\]", done.stderr)


def check_verify_dry_run_and_compile_agree():
    for name, (old, new, code, status) in FAULTS.items():
        expect(old in TINY_RECIPE, name)
        recipe = write("bad.yaml", TINY_RECIPE.replace(old, new))
        verified = run("verify", recipe, "--model", model())
        expect_exit(verified, status)
        dry = run("compile", recipe, "--model", model(), "--dry-run")
        made = run("compile", recipe, "--model", model(), "-o", path_of("never.ingot"))
        expect(codes(verified) and codes(verified) == codes(dry) == codes(made),
               f"{name}: {codes(verified)}, {codes(dry)}, {codes(made)}")
        expect(dry.returncode == made.returncode and (dry.returncode == status or (status, dry.returncode) == (1, 3)),
               f"{name}: {dry.returncode}")
        expect(code is None or code.encode() in codes(verified), f"{name}: {codes(verified)}")
        expect(verified.stdout == b"" and not os.path.exists(path_of("never.ingot")), name)


def check_a_bound_is_held_to_the_byte():
    """With a bound, code is made to be counted, so that both say the same of the last byte."""
    recipe = write("good.yaml", TINY_RECIPE)
    need = json.loads(run_well("compile", recipe, "--model", model(), "--dry-run", "--json"))["memory"]["total_bytes"]
    for bound, status in ((need, 0), (need - 1, 4)):
        recipe = write("bound.yaml", TINY_RECIPE + f'max_memory_gb: "{bound} B"\n')
        done = run("verify", recipe, "--model", model(), "--json")
        expect_exit(done, status)
        report = json.loads(done.stdout)
        expect(report["holds"] == (status == 0) and report["counts_code"], report)
        expect(status or report["targets"][0]["total_bytes"] == need, report)
        expect_exit(run("compile", recipe, "--model", model(), "--dry-run"), status)


def check_bytes_beside_the_code():
    """Without code the levels it would be made for are counted all the same: tables have a column for each."""
    recipe = write("levels.yaml", TINY_RECIPE + "targets: [{arch: x86_64, cpu: all, threads: 2}]\n"
                   if "targets:" not in TINY_RECIPE else TINY_RECIPE)
    memory = json.loads(run_well("compile", recipe, "--model", model(), "--dry-run", "--json"))["memory"]
    code = next(part["bytes"] for part in memory["parts"] if part["name"] == "code")
    report = json.loads(run_well("verify", recipe, "--model", model(), "--json"))
    expect(report["targets"][0]["total_bytes"] == memory["total_bytes"] - code, (report, memory))


def check_what_holds_is_said_per_target():
    out = run_well("verify", write("good.yaml", TINY_RECIPE), "--model", model()).decode()
    expect(re.fullmatch(r"\S+good\.yaml holds for x86_64: [\d ]+ bytes beside the code, 2 versions\n", out), out)
    seven = os.path.join(ROOT, "data", "recipes", "llama-7b.yaml")
    report = json.loads(run_well("verify", seven, "--json"))
    expect([t["name"] for t in report["targets"]] == ["a100-sxm-80gb", "l40s", "ascend-910b2", "x86_64"], report)
    one = json.loads(run_well("compile", seven, "--verify-recipe", "--target=l40s", "--json"))
    expect(one["targets"] == [t for t in report["targets"] if t["name"] == "l40s"], one)
    module = os.path.join(ROOT, "tests", "chain", "modules", "mlp.mlir")
    expect(b"holds for this machine" in run_well("verify", module), "modules too")


def check_without_a_model_the_recipe_is_at_fault():
    """Exit 1 is about a model that breaks a recipe; a module or numbers that are wrong by themselves are 3."""
    bad = write("bad.mlir", "func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }")
    expect_exit(run("verify", bad), 3)
    inside = write("bad.yaml", "version: 1\nmodel_name: s\nsubgraph: {file: bad.mlir}\n")
    expect_exit(run("verify", inside, "--model", model()), 3)
    dims = "dims: {architecture: llama, layers: 2, hidden: 64, heads: 3, ffn: 160, vocab: 300, norm_eps: 1e-5}"
    expect_exit(run("verify", write("dims.yaml", f"version: 1\nmodel_name: d\nprecision: {{weights: F32}}\n{dims}")), 3)


def check_sarif():
    """The parts of SARIF 2.1.0 that readers need: version, rules, results with level, message and region."""
    recipe = write("two.yaml", TINY_RECIPE.replace("seq_len:", "seq_lem:").replace("threads", "treads"))
    done = run("verify", recipe, "--model", model(), "--sarif")
    expect_exit(done, 3)
    log = json.loads(done.stdout)
    expect(log["version"] == "2.1.0" and "sarif-2.1.0" in log["$schema"] and len(log["runs"]) == 1, log)
    driver, results = log["runs"][0]["tool"]["driver"], log["runs"][0]["results"]
    expect(driver["name"] == "ingot" and len(results) >= 2, log)
    rules = [rule["id"] for rule in driver["rules"]]
    expect(len(rules) == len(set(rules)), rules)
    for result in results:
        expect(result["ruleId"] in rules and result["level"] == "error" and result["message"]["text"], result)
        place = result["locations"][0]["physicalLocation"]
        expect(place["artifactLocation"]["uri"] == recipe, place)
        line = TINY_RECIPE.split("\n")[place["region"]["startLine"] - 1]
        expect("seq_len" in line or "threads" in line, line)
        expect(place["region"]["endColumn"] > place["region"]["startColumn"] >= 1, place)
    expect(log["runs"][0]["invocations"] == [{"executionSuccessful": True, "exitCode": 3}], log)
    spaced = write("a b%c.yaml", TINY_RECIPE.replace("seq_len:", "seq_lem:"))
    uri = json.loads(run("verify", spaced, "--sarif").stdout)["runs"][0]["results"][0]["locations"][0]
    expect(uri["physicalLocation"]["artifactLocation"]["uri"].endswith("/a%20b%25c.yaml"), uri)
    log = json.loads(run_well("verify", write("good.yaml", TINY_RECIPE), "--model", model(), "--sarif"))
    expect(log["runs"][0]["results"] == [], "nothing found, nothing listed")


# Written and mended: what --fix makes of one line, and the line as it must be.
MENDS = [
    ("version: 1", "versoin: 1", "version: 1"),
    ("  seq_len:", "  seq_lem:", "  seq_len:"),
    ("activations: f32", "activations: fp32", "activations: f32"),
    ("kv_cache: f32", "kv_cache: \"f23\"", "kv_cache: \"f32\""),
    ("cpu: x86-64-v3", "cpu: x86-64-v3, tests: 1", None),  # nothing is near: left alone
    ("{max: 64}", "64  # tokens", "{max: 64}  # tokens"),
    ("threads: 2", "threads: '2'", "threads: 2"),
    ("threads: 2", "threads: two", None),
    ("kv_cache_page_size: 16", "kv_cache_page_size: 17", "kv_cache_page_size: 32"),
    ("kv_cache_page_size: 16", "kv_cache_page_size: 16, max_pages_per_sequence: 3",
     "kv_cache_page_size: 16, max_pages_per_sequence: 4"),
    ("seq_len: {min: 1, max: 8, step: 8}", "seq_len: {min: 1, max: 64, step: 1}",
     "seq_len: {min: 1, max: 64, step: 3}"),
]


def check_fix_writes_what_verifies_and_nothing_else():
    """Every line but the faulty one stays as it is, to the byte; what is not safe stays for its reader."""
    for old, new, mended in MENDS:
        expect(old in TINY_RECIPE, old)
        text = TINY_RECIPE.replace(old, new, 1)
        recipe = write("fix.yaml", text)
        done = run("verify", recipe, "--model", model(), "--fix")
        with open(recipe, encoding="utf-8") as source:
            now = source.read()
        if mended is None:
            expect_exit(done, 3)
            expect(now == text, now)
            continue
        expect_exit(done, 0)
        expect(now == TINY_RECIPE.replace(old, mended, 1), (new, now))
        changed = [(a, b) for a, b in zip(text.split("\n"), now.split("\n")) if a != b]
        expect(len(changed) == 1, changed)
        patch = done.stdout.decode()
        expect(f"-{changed[0][0]}\n+{changed[0][1]}\n" in patch and "holds for" in patch, patch)
        expect_exit(run("verify", recipe, "--model", model()), 0)


def check_fix_of_several_lines_and_of_none():
    text = TINY_RECIPE.replace("version", "versoin").replace("threads: 2", "threads: \"2\"").replace("f32}", "fp32}  # \u00fc")
    recipe = write("fix.yaml", text.replace("\n", "\r\n"))
    report = json.loads(run_well("verify", recipe, "--model", model(), "--fix", "--json"))
    expect([fix["line"] for fix in report["fixes"]] == [1, 3, 8], report)
    with open(recipe, "rb") as source:
        now = source.read().decode()
    expect(now == TINY_RECIPE.replace("f32}", "f32}  # \u00fc").replace("\n", "\r\n"), now)
    before = os.stat(recipe).st_mtime_ns
    report = json.loads(run_well("verify", recipe, "--model", model(), "--fix", "--json"))
    expect(report["fixes"] == [] and os.stat(recipe).st_mtime_ns == before, "nothing to mend, nothing written")
    as_json = write("fix.json", json.dumps({"versoin": 1, "model_name": "t", "precision": {"kv_cache": "f23"},
                                            "input_constraints": {"kv_cache_seq_len": {"max": 64}, "seq_len": {"max": 8}}}))
    run_well("verify", as_json, "--model", model(), "--fix")
    with open(as_json, encoding="utf-8") as source:
        expect('"version": 1' in source.read(), "JSON stays JSON")
    expect_exit(run("verify", os.path.join(ROOT, "tests", "chain", "modules", "mlp.mlir"), "--fix"), 2)
    expect_exit(run("verify", recipe, "--fix", "--sarif"), 2)
    os.symlink(recipe, path_of("link.yaml"))
    write("fix.yaml", text)
    expect_exit(run("verify", path_of("link.yaml"), "--model", model(), "--fix"), 6)


def check_ten_at_most_sorted_and_without_what_follows():
    """A fault is told once: what can only be wrong because of it is not said."""
    many = TINY_RECIPE + "".join(f"zzz{i}: {i}\n" for i in range(14))
    said = run("verify", write("many.yaml", many), "--model", model()).stderr.decode()
    lines = [int(line) for line in re.findall(r"many\.yaml:(\d+):\d+: error", said)]
    expect(len(lines) == 10 and lines == sorted(lines) and "ingot: 4 more not shown" in said, said)
    for old, new, _ in MENDS:
        done = run("verify", write("one.yaml", TINY_RECIPE.replace(old, new, 1)), "--model", model())
        expect(len(codes(done)) == 1, f"{new}: {codes(done)}")
    for gone in ("version: 1\n", "model_name: tiny\n"):
        done = run("verify", write("one.yaml", TINY_RECIPE.replace(gone, "")), "--model", model())
        expect(codes(done) == [b"R0009"], f"without {gone}: {codes(done)}")


ASCEND = TINY_RECIPE.replace("{arch: x86_64, cpu: x86-64-v3, threads: 2}", "{name: ascend-910b2, ai_core_preference: cube}")
MISSPELT = TINY_RECIPE.replace("  seq_len:", "  seq_lem:")
# What a report must write otherwise than it stands in a recipe or a path: braces and controls in messages, names that
# are no URI, a name as of a host, bytes that are no UTF-8.
HARD = [
    ("\u00fc \u2603%41#?.yaml", MISSPELT), ("a:b.yaml", MISSPELT), ("[1]{2}\n\x7f.yaml", MISSPELT),
    ("c.yaml", TINY_RECIPE.replace("activations: f32", 'activations: "f3\\x01\\e\\u2028\u00fc{0}[a](b)"')),
    ("c.yaml", TINY_RECIPE.replace("activations: f32", 'activations: "\u00fc", "kv_c\\tache": f32')),
    ("c.yaml", TINY_RECIPE.encode().replace(b"tiny", b"t\xff\x01")), ("c.yaml", ""), ("c.json", '{"versoin": 1}'),
    ("c.yaml", TINY_RECIPE.replace("version: 1", 'version: 1\nmodel: "\\x01m\u00f6\\e{}.gguf"')),
    ("c.mlir", "func.func @f(%x: tensor<2xf32>) -> tensor<3xf32> { return %x : tensor<2xf32> }"),
]


def sarif_logs():
    """Of every kind of place and level, and of recipes without a fault."""
    with open(model(), "rb") as source:
        write("cut.gguf", source.read()[:3000])
    good = write("good.yaml", TINY_RECIPE)
    logs = [run("verify", write("s.yaml", TINY_RECIPE.replace(old, new)), "--model", model(), "--sarif").stdout
            for old, new, *_ in [*FAULTS.values(), *MENDS]]
    logs += [run("verify", write(name, text), "--sarif").stdout for name, text in HARD]
    logs += [run("verify", *args, "--sarif").stdout for args in (
        [good, "--model", path_of("cut.gguf")], [good], [path_of("no such.yaml")], [KEPT.name], [""],
        ["/" + write("i.yaml", MISSPELT)], [os.fsencode(KEPT.name) + b"/\xff\xfe.yaml"],
        [write("w.yaml", ASCEND), "--model", model()], [good, "--model", model()])]
    return [json.loads(log) for log in logs]


def faults_of(validator, logs):
    return [f"{list(error.path)}: {error.message}" for log in logs for error in validator.iter_errors(log)]


def needs_jsonschema():
    if not jsonschema:
        raise Skip("Python has no jsonschema (Debian: python3-jsonschema)")


def check_sarif_is_of_its_schema():
    """data/schemas/verify-sarif.json: the published one, less what is not written."""
    needs_jsonschema()
    with open(os.path.join(ROOT, "data", "schemas", "verify-sarif.json"), encoding="utf-8") as source:
        schema = json.load(source)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator, logs = jsonschema.Draft202012Validator(schema), sarif_logs()
    expect(not faults_of(validator, logs), faults_of(validator, logs))
    seen, fixes = set(), 0
    for result in (result for log in logs for result in log["runs"][0]["results"]):
        seen.add(result["level"])
        seen.update(result["locations"][0]["physicalLocation"]["region"] if result["locations"] else {"no place"})
        fixes += "fixes" in result
    expect({"error", "warning", "startLine", "endColumn", "byteOffset"} <= seen and fixes >= 8, (seen, fixes))
    logs[-1]["runs"][0]["results"].append({"ruleId": "R0001", "level": "fatal", "message": {}, "locations": []})
    expect(faults_of(validator, logs[-1:]), "the schema refuses what is none")


def check_sarif_is_of_the_published_schema():
    """What OASIS publishes (`./dev fetch-schema`); `format` too, as far as it is used: references as RFC 3986 writes them."""
    needs_jsonschema()
    path = os.environ.get("INGOT_SARIF_SCHEMA")
    if not path:
        raise Skip("INGOT_SARIF_SCHEMA names no schema (`./dev fetch-schema` downloads it)")
    with open(path, encoding="utf-8") as source:
        schema = json.load(source)
    jsonschema.Draft4Validator.check_schema(schema)
    formats, logs = jsonschema.FormatChecker(()), sarif_logs()
    name = r"(?:[\w.~!$&'()*+,;=@-]|%[0-9A-F]{2})"  # no colon: that would end a scheme; no //: that begins a host
    formats.checks("uri-reference")(lambda text: re.fullmatch(rf"/?(?:{name}+(?:/{name}+)*/?)?", text, re.A) is not None)
    formats.checks("uri")(lambda text: re.fullmatch(rf"https://{name}+(?:/{name}+)*", text, re.A) is not None)
    validator = jsonschema.Draft4Validator(schema, format_checker=formats)
    expect(not faults_of(validator, logs), faults_of(validator, logs))
    place = next(log for log in logs if log["runs"][0]["results"])["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    for key, wrong in (("artifactLocation", {"uri": "a b"}), ("artifactLocation", {"uri": "//host/a"}), ("region", {}),
                       ("region", {"startLine": 0}), ("place", 1)):
        kept = dict(place)
        place[key] = wrong
        expect(faults_of(validator, logs), f"the schema refuses {key}: {wrong}")
        place.clear()
        place.update(kept)
    return f"{len(logs)} reports"


def check_sarif_messages_say_what_the_text_says():
    """A brace in a message is written twice (3.11.5): a reader takes one as the place of an argument."""
    for old, new in (("{max: 64}", "64"), ("activations: f32", 'activations: "{0}"')):
        recipe = write("b.yaml", TINY_RECIPE.replace(old, new))
        done = run("verify", recipe, "--model", model(), "--sarif")
        (result,) = json.loads(done.stdout)["runs"][0]["results"]
        text = result["message"]["text"]
        expect("{" in text and not re.search(r"[{}]", text.replace("{{", "").replace("}}", "")), text)
        said = done.stderr.decode()
        message = re.search(r": error\[\w+\]: (.*)", said)[1]
        expect(text.replace("{{", "{").replace("}}", "}").startswith(message), (text, said))


def check_sarif_fixes_mend():
    """What a review tool applies, line and columns in characters, holds afterwards; nothing where --fix would not write."""
    in_a_row = ('{version: 1, model_name: "\u00fc\u2603", precision: {activations: fp32, kv_cache: f32}, '
                "input_constraints: {seq_len: {max: 8}, kv_cache_seq_len: {max: 64}}}\n")
    for text, mended in [*((TINY_RECIPE.replace(old, new, 1), mended) for old, new, mended in MENDS), (in_a_row, "f32")]:
        recipe = write("m.yaml", text)
        (result,) = json.loads(run("verify", recipe, "--model", model(), "--sarif").stdout)["runs"][0]["results"]
        expect(("fixes" in result) == (mended is not None), result)
        if mended is None:
            continue
        (change,) = result["fixes"][0]["artifactChanges"]
        (replacement,) = change["replacements"]
        region, lines = replacement["deletedRegion"], text.split("\n")
        line = lines[region["startLine"] - 1]
        lines[region["startLine"] - 1] = (line[:region["startColumn"] - 1] + replacement["insertedContent"]["text"] +
                                          line[region["endColumn"] - 1:])
        write("m.yaml", "\n".join(lines))
        expect_exit(run("verify", recipe, "--model", model()), 0)
    piped = json.loads(run("verify", "-", "--sarif", stdin=MISSPELT.encode()).stdout)["runs"][0]["results"]
    expect(piped and all("fixes" not in result for result in piped), "standard input is no file to mend")


def check_usage():
    expect_exit(run("verify"), 2)
    expect_exit(run("verify", path_of("none.yaml")), 6)
    expect_exit(run("verify", write("good.yaml", TINY_RECIPE), "--model", model(), "--sarif", "--json"), 2)
    done = run("verify", write("good.yaml", TINY_RECIPE), "--model", model(), "--target=l4Os")
    expect(done.returncode == 3 and b"l4Os" in done.stderr, done.stderr)


if __name__ == "__main__":
    main(globals())
