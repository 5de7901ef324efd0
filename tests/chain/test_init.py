#!/usr/bin/env python3
"""`ingot init`: a recipe that compiles as it is written, for every family, and nothing of a hostile file in it."""
import json
import os
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import Kept, expect, expect_exit, main, run, run_well
from tiny_model import FAMILIES, make_model

KEPT = Kept()
path_of = KEPT.at


def check_every_family_compiles_without_a_word():
    for family in FAMILIES:
        make_model(path_of("m.gguf"), family=family, context=200)
        done = run("init", path_of("m.gguf"), "-o", path_of(f"{family}.yaml"))
        expect_exit(done, 0)
        expect(done.stdout == b"" and done.stderr == b"", done.stderr)
        with open(path_of(f"{family}.yaml"), encoding="utf-8") as source:
            text = source.read()
        expect(f"family {family}," in text and "made for 200 tokens" in text and "a chat template" in text, text)
        expect(re.search(r"^    max: 192$", text, re.M) and 'model: "m.gguf"' in text, text)
        verified = run("verify", path_of(f"{family}.yaml"))
        expect_exit(verified, 0)
        expect(b"error" not in verified.stderr and b"warning" not in verified.stderr, verified.stderr)
    made = run("compile", path_of("llama.yaml"), "-o", path_of("m.ingot"))
    expect_exit(made, 0)
    expect(b"warning" not in made.stderr, made.stderr)
    said = json.loads(run_well("compile", path_of("llama.yaml"), "--dry-run", "--json"))
    bound = int(re.search(r'max_memory_gb: "(\d+) MiB"', text)[1]) << 20
    expect(said["memory"]["total_bytes"] <= bound, f"{said['memory']['total_bytes']} of {bound}")


def check_each_key_stands_there_with_its_meaning():
    make_model(path_of("m.gguf"))
    text = run_well("init", path_of("m.gguf"), "-o", "-").decode()
    for key in ("version", "dims", "kv_cache_seq_len", "threads", "kv_cache_page_size", "max_memory_gb", "fusion_rules"):
        expect(re.search(rf"^[ #-]*{key}:", text, re.M), key)
    expect("# Type in which keys and values are kept.\n  kv_cache: f16\n" in text, text)


def taken_into_use(lines, at):
    """The text with the key in line `at` taken out of its comment, and with it the lines it stands under."""
    lines, depth = list(lines), None
    for i in range(at, -1, -1):
        match = re.match(r"( *)#?(- )?\w+:", lines[i])
        if match and (depth is None or len(match[1]) < depth):
            depth = len(match[1])
            lines[i] = lines[i].replace("#", "", 1)
    return "\n".join(lines) + "\n"


def check_every_comment_may_be_taken_into_use():
    """Each key that stands in a comment, alone: it is known, it stands where it belongs, and what it shows is a value of
    its kind. What is refused then is what the value says of this model or machine."""
    make_model(path_of("m.gguf"))
    run_well("init", path_of("m.gguf"), "-o", path_of("commented.yaml"))
    with open(path_of("commented.yaml"), encoding="utf-8") as source:
        lines = source.read().splitlines()
    keys = [i for i, line in enumerate(lines) if re.match(r" *#(- )?\w+: \S", line)]
    expect(len(keys) > 30, lines)
    for i in keys:
        with open(path_of("used.yaml"), "w", encoding="utf-8") as out:
            out.write(taken_into_use(lines, i))
        done = run("verify", path_of("used.yaml"))
        said = done.stderr.decode()
        expect(not re.search(r"error\[(R000\d|R0010|U\d+)\]", said), f"{lines[i]}: {said}")
        expect(done.returncode == 0 or re.search(r"error\[(R001[12]|H\d+)\]", said), f"{lines[i]}: {said}")


def check_nothing_is_overwritten():
    make_model(path_of("m.gguf"))
    with open(path_of("mine.yaml"), "w", encoding="utf-8") as out:
        out.write("mine")
    done = run("init", path_of("m.gguf"), "-o", path_of("mine.yaml"))
    expect_exit(done, 2)
    expect(b"--force" in done.stderr and open(path_of("mine.yaml"), encoding="utf-8").read() == "mine", done.stderr)
    run_well("init", path_of("m.gguf"), "-o", path_of("mine.yaml"), "--force")
    expect(open(path_of("mine.yaml"), encoding="utf-8").read().startswith("# Made by"), "written over")
    expect_exit(run("init", path_of("m.gguf")), 2)
    expect_exit(run("init", path_of("m.gguf"), "-o", path_of("m.gguf"), "--force"), 2)
    expect(run("init", path_of("m.gguf"), "-o", path_of("none/r.yaml")).returncode == 6, "no such folder")


def check_a_hostile_file():
    """Names with line ends cannot add keys; broken files leave nothing behind."""
    evil = 'x"\nmax_memory_gb: 1\nmodel: /etc/passwd\n\x1b[2J' + "y" * 5000
    make_model(path_of("evil.gguf"), more_metadata={"general.name": evil, "tokenizer.ggml.pre": "smollm"})
    run_well("init", path_of("evil.gguf"), "-o", path_of("evil.yaml"))
    text = open(path_of("evil.yaml"), encoding="utf-8").read()
    expect(len(re.findall(r"^max_memory_gb:", text, re.M)) == 1 and "/etc/passwd" not in
           "\n".join(line for line in text.splitlines() if line.startswith("model:")) and "\x1b" not in text, text)
    whole = open(path_of("evil.gguf"), "rb").read()
    for name, data in (("cut", whole[:200]), ("magic", b"GGUX" + whole[4:]), ("count", whole[:8] + struct.pack("<Q", 1 << 60) + whole[16:]),
                       ("empty", b"")):
        with open(path_of(name + ".gguf"), "wb") as out:
            out.write(data)
        done = run("init", path_of(name + ".gguf"), "-o", path_of(name + ".yaml"))
        expect(done.returncode == 3 and not os.path.exists(path_of(name + ".yaml")), f"{name}: {done.returncode} {done.stderr}")
    expect_exit(run("init", path_of("none.gguf"), "-o", path_of("n.yaml")), 6)


if __name__ == "__main__":
    main(globals())
