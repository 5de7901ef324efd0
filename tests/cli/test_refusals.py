#!/usr/bin/env python3
"""What the command line refuses, and how: every documented exit code, every number outside its range,
options that would be ignored, results that would destroy something, full disks; and what every JSON
document begins with."""
import itertools
import json
import os
import re
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import (INGOT, ROOT, TINY_RECIPE, Skip, clean_environment, expect, expect_exit, main, run,
                     run_well, scratch)
from tiny_model import make_model

MLIR = b"func.func @main() -> f32 {\n  %0 = arith.constant 1.0 : f32\n  return %0 : f32\n}\n"
KEPT = scratch()


def kept(name):
    return os.path.join(KEPT.name, name)


def write(path, text):
    with open(path, "wb") as out:
        out.write(text if isinstance(text, bytes) else text.encode())
    return path


def tiny():
    """Model, recipe and artifact, made once."""
    model, recipe, artifact = kept("m.gguf"), kept("r.yaml"), kept("m.ingot")
    if not os.path.exists(artifact):
        make_model(model, layers=1, weights="Q8_0")
        write(recipe, TINY_RECIPE)
        run_well("compile", recipe, "--model", model, "-o", artifact, timeout=400)
    return model, recipe, artifact


def is_sanitized():
    return "sanitize" in json.loads(run("version", "--json").stdout)["build_mode"]


# ---------------------------------------------------------------- exit codes

def stopped_while_reading(number):
    process = subprocess.Popen([INGOT, "opt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    process.stdin.write(b"x" * (1 << 20))  # more than a pipe holds: it is reading when this returns
    process.stdin.flush()
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode


def check_every_documented_exit_code_happens():
    model, recipe, artifact = tiny()
    alone = kept("ingot")
    with open(INGOT, "rb") as source:
        write(alone, source.read())
    os.chmod(alone, 0o755)
    makers = {
        "0": lambda: run("explain", "U0001").returncode,
        "1": lambda: run("tokenize", model, "--against",
                         write(kept("list"), '{"text": "hello", "ids": [1]}\n')).returncode,
        "2": lambda: run("run", artifact).returncode,
        "3": lambda: run("run", model, "-p", "x").returncode,
        "4": lambda: run("run", artifact, "-p", "x", "--threads", "99").returncode,
        "5": lambda: subprocess.run([alone, "opt", "x"], capture_output=True,
                                    env=clean_environment()).returncode,
        "6": lambda: run("run", kept("absent.ingot"), "-p", "x").returncode,
        "70": lambda: stopped_while_reading(signal.SIGABRT),  # what a failed check of ours raises
        "128+n": lambda: "128+n" if stopped_while_reading(signal.SIGTERM) == 143 else None,
    }
    with open(os.path.join(ROOT, "docs", "errors.md"), encoding="utf-8") as source:
        table = source.read().split("## Exit codes")[1].split("##")[0]
    documented = re.findall(r"^\| (\d\S*) \|", table, re.MULTILINE)
    expect(sorted(documented) == sorted(makers), documented)
    for code in documented:
        happened = makers[code]()
        expect(str(happened) == code, f"{happened} instead of {code}")


def check_what_does_not_fit_is_4():
    model, recipe, artifact = tiny()
    long_prompt = "x " * 100
    for args, code in ((["run", artifact, "-p", "x", "-t", "3"], b"X0009"),
                       (["run", artifact, "-p", long_prompt], b"X0011"),
                       (["bench", artifact, "--threads", "1024"], b"X0009"),
                       (["compile", recipe, "--model", model, "--dry-run", "--threads", "3"], b"P0009")):
        done = run(*args)
        expect_exit(done, 4)
        expect(code in done.stderr, done.stderr)


def check_exhausted_memory_is_4_with_a_code():
    if is_sanitized():
        raise Skip("a sanitizer needs the address space")
    limit = 256 << 20
    done = subprocess.run([INGOT, "opt"], input=b"// " + b"x" * (limit // 2), capture_output=True,
                          env=clean_environment(), timeout=120,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    expect_exit(done, 4)
    expect(b"error[U0010]" in done.stderr, done.stderr)


def numbers_outside(option):
    """Texts that are no number, or a number outside the range of the option."""
    words = ["", " ", "nan", "inf", "-inf", "1e999", "0x1", "1 ", " 1", "1,5", "one", "--", "1k",
             "99999999999999999999", "-99999999999999999999"]
    low, high = option["min"], option["max"]
    if option["kind"] == "count":
        return words + ["1.5", "1e0", "+1", "-1", str(int(high) + 1 if high < 1e18 else 10 ** 19)] + (
            [str(int(low) - 1)] if low > 0 else [])
    words += [repr(high * 1.001), repr(low - 0.001)]
    return words + ([repr(low), "-0.0"] if option["kind"] == "real above" else [])


def check_every_number_outside_its_range_is_2():
    count = 0
    for verb in json.loads(run("--help", "--json").stdout)["verbs"]:
        for option in verb["options"]:
            if option["kind"] not in ("count", "real", "real above"):
                continue
            for text in numbers_outside(option):
                done = run(verb["name"], f"--{option['name']}={text}", "x")
                expect(done.returncode == 2 and b"U0004" in done.stderr and done.stdout == b"",
                       f"{verb['name']} --{option['name']}={text!r}: {done.returncode} {done.stderr!r}")
                count += 1
    for text in ("0", "1025", "two", "-1", " 2", "2 ", "0x2"):
        done = run("bench", tiny()[2], env={"INGOT_THREADS": text})
        expect_exit(done, 2)
        expect(b"INGOT_THREADS" in done.stderr, done.stderr)
    for name in ("INGOT_COLOR", "INGOT_PROGRESS"):
        done = run("explain", env={name: "nevr"})
        expect_exit(done, 2)
        expect(name.encode() in done.stderr, done.stderr)
    return f"{count} values"


# ---------------------------------------------------------------- options that would be ignored

def check_options_that_would_be_ignored_are_refused():
    for line in ("opt x --entry=f", "opt x --run --print-locs", "opt --list-passes --list-dialects",
                 "opt --list-passes x", "compile --list-dialects x", "run a -p x -p y", "run a -p x -n 1 -n 2",
                 "run a -p x --system s", "run a -p x --date 2020-01-01", "run a -p x --greedy --seed 1",
                 "run a -p x --greedy --top-p 0.5", "run a -p x -f y", "eval a --text t --topk 3",
                 "eval a --text t -o o", "eval a --text t --prompts p", "eval a --prompts p -o o --window 3",
                 "eval a --text t --greedy 3", "compile r --emit-ir=1 -o x", "compile r --emit-ir=1 --dry-run",
                 "inspect a --color never --color never", "tokenize a x --against l"):
        done = run(*line.split())
        expect(done.returncode == 2 and b"error[U0005]" in done.stderr and done.stdout == b"",
               f"{line}: {done.returncode} {done.stderr!r}")
    done = run("run", "/nonexistent", "-p", "x", "--stop", "a", "--stop", "b", "-q", "-q")
    expect_exit(done, 6)  # these may be repeated


def check_a_verified_gguf_is_refused():
    done = run("inspect", tiny()[0], "--verify")
    expect_exit(done, 2)
    expect(b"--verify" in done.stderr, done.stderr)


# ---------------------------------------------------------------- results

def check_dry_run_may_be_added_to_any_compile():
    model, recipe, _ = tiny()
    before = sorted(os.listdir(KEPT.name))
    plain = run_well("compile", recipe, "--model", model, "--dry-run")
    named = run_well("compile", recipe, "--model", model, "--dry-run", "-o", kept("new.ingot"))
    expect(plain == named, "the same report")
    expect(sorted(os.listdir(KEPT.name)) == before, "a dry run writes nothing")
    expect_exit(run("compile", recipe, "--model", model, "--dry-run", "-o", model), 2)
    expect_exit(run("compile", recipe, "--model", model, "--dry-run", "-o", "/dev/null"), 6)


def check_no_verb_replaces_what_is_no_file_or_an_input():
    model, recipe, artifact = tiny()
    with scratch() as folder:
        pipe, link = os.path.join(folder, "pipe"), os.path.join(folder, "link")
        os.mkfifo(pipe)
        target = write(os.path.join(folder, "target"), "kept")
        os.symlink(target, link)
        prompts = write(os.path.join(folder, "p.json"), '[{"name": "a", "ids": [4, 5]}]')
        mlir = write(os.path.join(folder, "m.mlir"), MLIR)
        makers = [["opt", mlir], ["compile", recipe, "--model", model],
                  ["eval", artifact, "--prompts", prompts]]
        for maker, place in itertools.product(makers, (pipe, link, folder, "/dev/full")):
            done = run(*maker, "-o", place)
            expect_exit(done, 6)
            expect(b"error[U0003]" in done.stderr, done.stderr)
        expect(open(target, encoding="utf-8").read() == "kept" and os.path.islink(link), "the link is whole")
        for maker, place in ((makers[1], model), (makers[1], recipe), (makers[2], prompts),
                             (makers[2], artifact)):
            size = os.path.getsize(place)
            done = run(*maker, "-o", place)
            expect_exit(done, 2)
            expect(b"error[U0005]" in done.stderr and os.path.getsize(place) == size, done.stderr)
        run_well("opt", mlir, "-o", mlir)  # its own result may replace it
        expect(b"arith.constant" in open(mlir, "rb").read(), "rewritten in place")


def check_a_dump_never_replaces_the_dump_it_goes_on_from():
    model, recipe, _ = tiny()
    with scratch() as folder:
        run_well("compile", recipe, "--model", model, "--dry-run", "--dump-ir-after=all",
                 f"--dump-dir={folder}")
        # The pass behind the second dump is the first of the run that goes on from it.
        names = sorted(os.listdir(folder))
        before = os.path.join(folder, "01-" + names[2].split("-", 1)[1])
        os.rename(os.path.join(folder, names[1]), before)
        text = open(before, "rb").read()
        done = run("compile", recipe, "--model", model, "--dry-run", f"--resume-from={before}",
                   "--dump-ir-after=all", f"--dump-dir={folder}")
        expect_exit(done, 2)
        expect(b"error[U0005]" in done.stderr and open(before, "rb").read() == text, done.stderr)


def limited(size, *args):
    return subprocess.run([INGOT, *args], capture_output=True, env=clean_environment(), timeout=400,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))


def check_a_file_size_limit_is_6_and_leaves_nothing():
    model, recipe, artifact = tiny()
    with scratch() as folder:
        prompts = write(os.path.join(folder, "p.json"), '[{"name": "a", "ids": [4, 5]}]')
        mlir, out = write(os.path.join(folder, "m.mlir"), MLIR * 1), os.path.join(folder, "out")
        before = sorted(os.listdir(folder))
        for size, args in ((10, ["opt", mlir, "-o", out]),
                           (20000, ["compile", recipe, "--model", model, "-o", out]),
                           (100, ["eval", artifact, "--prompts", prompts, "-o", out]),
                           (100, ["compile", recipe, "--model", model, "--dry-run", "--dump-ir-after=all",
                                  f"--dump-dir={folder}"])):
            done = limited(size, *args)
            expect_exit(done, 6)
            expect(b"error[U0003]" in done.stderr, done.stderr)
            expect(sorted(os.listdir(folder)) == before, os.listdir(folder))


def check_an_answer_to_a_full_disk_ends():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([INGOT, "run", tiny()[2], "-p", "x", "--ignore-eos"], stdout=full,
                              stderr=subprocess.PIPE, env=clean_environment(), timeout=60)
    expect_exit(done, 6)
    expect(b"answer 1 tokens" in done.stderr or b"answer 2 tokens" in done.stderr, done.stderr)


# ---------------------------------------------------------------- inputs of another kind

def check_a_recipe_of_another_kind_is_named():
    model, _, artifact = tiny()
    for path, what in ((model, b"GGUF"), (artifact, b"artifact"), (KEPT.name, b"folder")):
        done = run("compile", path, "--dry-run")
        expect_exit(done, 3)
        expect(b"error[R0014]" in done.stderr and what in done.stderr, done.stderr)


NUMBERS = ("dims: {architecture: llama, layers: 1, hidden: 64, heads: 2, ffn: 64, vocab: 64, norm_eps: 1e-5}\n")


def check_control_characters_of_files_are_shown():
    """A name in a recipe must not reach the terminal as an escape sequence."""
    for name, shown in (("a\\x1b[31mb", b"a\\u001b[31mb"), ("a\\x9b31mb", b"a\\u009b31mb")):
        recipe = write(kept("esc.yaml"), TINY_RECIPE.replace("as_stored", "Q8_0").replace(
            "model_name: tiny", f'model_name: "{name}"') + NUMBERS)
        report = run_well("compile", recipe, "--dry-run")
        done = run("compile", recipe)
        for text in (report, done.stderr):
            expect(b"\x1b" not in text and b"\xc2\x9b" not in text, text)
        expect(shown in report, report)


def check_a_number_with_an_exponent_has_no_unit():
    for size, exit_code in (("1e-5", 4), ("1E+1", 0), ("2.5e0", 0), ("1e", 3), ("1e-", 3)):
        recipe = write(kept("exp.yaml"), TINY_RECIPE.replace("as_stored", "Q8_0") + NUMBERS +
                       f"max_memory_gb: {size}\n")
        expect_exit(run("compile", recipe, "--dry-run"), exit_code)


def check_bytes_that_are_no_text_have_their_place():
    for text, place in ((b"version: 1\nmodel_name: x\nmodel: \"\xff.gguf\"", b":3:9:"),
                        (b"version: 1\n# \xc3\xa4 \xff\n", b":2:5:")):
        done = run("compile", write(kept("bytes.yaml"), text), "--dry-run")
        expect_exit(done, 3)
        expect(b"bytes.yaml" + place + b" error[R0001]" in done.stderr, done.stderr)


def check_codes_may_be_typed_in_small_letters():
    expect(run_well("explain", "x0009") == run_well("explain", "X0009"), "the same page")
    done = run("explain", "x009")
    expect_exit(done, 2)
    expect(b"X0009" in done.stderr, done.stderr)


def check_inspect_marks_what_is_not_used():
    model, path = tiny()[0], kept("odd.gguf")
    document = json.loads(run_well("inspect", model, "--json"))
    expect(document["unused_tensors"] == [] and "cannot_be_compiled" not in document, document)
    for key in ("llama.block_count", "tokenizer.ggml.tokens", "tokenizer.chat_template", "general.architecture"):
        expect(key not in document["unused_keys"], document["unused_keys"])
    with open(model, "rb") as source:
        data = source.read()
    # The same file with a key and a tensor under names that nothing asks for.
    write(path, data.replace(b"llama.vocab_size", b"llama.vocab_siza")
          .replace(b"blk.0.attn_k.weight", b"blk.0.attn_x.weight"))
    document = json.loads(run_well("inspect", path, "--json"))
    expect(document["cannot_be_compiled"]["code"] == "F0018", document["cannot_be_compiled"])
    expect("unused_tensors" not in document, "unknown, and not guessed")
    write(path, data.replace(b"llama.vocab_size", b"llama.vocab_siza"))
    document = json.loads(run_well("inspect", path, "--json"))
    expect("llama.vocab_siza" in document["unused_keys"], document["unused_keys"])
    text = run_well("inspect", path).decode()
    expect(re.search(r"llama\.vocab_siza .*\(not used\)\n", text), text)
    expect(not re.search(r"llama\.block_count .*\(not used\)\n", text), text)
    alone = kept("ingot")  # without the compiler program it is shown without the marks
    with open(INGOT, "rb") as source:
        write(alone, source.read())
    os.chmod(alone, 0o755)
    done = subprocess.run([alone, "inspect", path, "--json"], capture_output=True, env=clean_environment())
    expect_exit(done, 0)
    expect("unused_keys" not in json.loads(done.stdout) and done.stderr == b"", done.stderr)


# ---------------------------------------------------------------- help and JSON

def check_help_lists_no_variable_of_the_tests():
    text = run_well("run", "--help")
    expect(b"INGOT_THREADS" in text and b"INGOT_GOLDEN_DIR" not in text, text)
    expect(b"standard input" in run_well("tokenize", "--help"), "tokenize reads standard input")
    done = run("explain", "U0001", env={"INGOT_GOLDEN_DIR": "/x"})
    expect(done.stderr == b"", "the tests' variables are known all the same")
    same = [run_well("tokenize", tiny()[0], *args, stdin=b"hello") for args in ((), ("-",))]
    expect(same == [run_well("tokenize", tiny()[0], "hello")] * 2, same)


def check_every_json_document_says_which_it_is():
    model, recipe, artifact = tiny()
    prompts = write(kept("p.json"), '[{"name": "a", "ids": [4, 5]}]')
    text = write(kept("t.txt"), "hello hello")
    listed = write(kept("l.jsonl"), json.dumps({"text": "a", "ids": [68]}) + "\n")
    mlir = write(kept("m.mlir"), MLIR)
    schemas = []
    for args in (["--help"], ["version"], ["explain"], ["explain", "U0001"], ["opt", mlir],
                 ["opt", mlir, "--run"], ["opt", "--list-passes"], ["opt", "--list-dialects"],
                 ["compile", recipe, "--model", model, "--dry-run"],
                 ["compile", recipe, "--model", model, "--emit-ir=1"],
                 ["compile", recipe, "--model", model, "--emit-ir=2"],
                 ["compile", recipe, "--model", model, "-o", kept("j.ingot")],
                 ["inspect", model], ["inspect", artifact], ["inspect", artifact, "--verify"],
                 ["tokenize", model, "a"], ["tokenize", model, "--against", listed],
                 ["eval", artifact, "--text", text],
                 ["eval", artifact, "--prompts", prompts, "-o", kept("o.json")],
                 ["bench", artifact, "--prefill", "8", "--decode", "2", "--runs", "2"],
                 ["run", artifact, "-p", "x", "-n", "2"]):
        done = run(*args, "--json")
        expect(done.returncode in (0, 1), f"{args}: {done.stderr}")
        document = json.loads(done.stdout)
        expect(list(document)[:2] == ["schema", "schema_version"], f"{args}: {list(document)[:2]}")
        expect(isinstance(document["schema_version"], int), document)
        schemas.append(document["schema"])
    expect(json.loads(run("opt", mlir, "--json").stdout)["text"] == run_well("opt", mlir).decode(), "IR text")
    return f"{len(set(schemas))} kinds"


def check_bench_prints_readable_numbers():
    text = run_well("bench", tiny()[2], "--prefill", "8", "--decode", "8", "--runs", "3").decode()
    rows = re.findall(r"^\| \w+ \d+ \| \d+ \| (\S+) \| (\S+) to (\S+) \|$", text, re.MULTILINE)
    expect(len(rows) == 2, text)
    for row in rows:
        expect(all(re.fullmatch(r"\d+(\.\d+)?", number) for number in row), row)
        median, low, high = map(float, row)
        expect(low <= median <= high, row)
        digits = row[0].replace(".", "").strip("0")
        expect(len(digits) <= 4, f"{row}: more digits than runs can support")


if __name__ == "__main__":
    main(globals())
