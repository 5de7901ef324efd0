#!/usr/bin/env python3
"""The command line's contract: exit codes, streams, help, misspelt options, signals."""
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import INGOT, clean_environment, expect, expect_exit, main, run, scratch
from tiny_model import make_model

ESCAPE = b"\x1b"


def option_table():
    return json.loads(run("--help", "--json").stdout)["verbs"]


def check_overview_lists_every_verb():
    done = run()
    expect_exit(done, 0)
    for verb in option_table():
        expect(f"\n  {verb['name']} ".encode() in done.stdout, verb["name"])


def check_every_verb_has_help_and_its_options():
    for verb in option_table():
        done = run(verb["name"], "--help")
        expect_exit(done, 0)
        expect(done.stderr == b"", "help is on stdout alone")
        expect(len(re.findall(rb"\n  .*ingot ", done.stdout)) >= 3, f"three examples of {verb['name']}")
        for option in verb["options"]:
            expect(b"--" + option["name"].encode() in done.stdout, option["name"])


def check_help_follows_the_width():
    for columns in (40, 100):
        text = run("run", "--help", env={"COLUMNS": str(columns)}).stdout.decode()
        wide = [line for line in text.splitlines()
                if len(line) > columns and not line.startswith(("  ingot", "usage", "  cat", "  0",
                                                                "  3", "  6"))]
        expect(not wide, wide)


def check_help_search():
    done = run("--help=seed")
    expect_exit(done, 0)
    expect(b"--seed" in done.stdout, "finds the option")
    expect_exit(run("--help=nosuchword"), 1)


def check_every_option_misspelt_is_corrected():
    for verb in option_table():
        for option in verb["options"]:
            name = option["name"]
            if len(name) < 4:
                continue
            wrong = name[:2] + name[3:]  # one letter left out
            if any(o["name"] == wrong for o in verb["options"]):
                continue
            done = run(verb["name"], "--" + wrong)
            expect_exit(done, 2)
            expect(b"--" + name.encode() in done.stderr,
                   f"{verb['name']} --{wrong}: {done.stderr!r}")


def check_unknown_verb_is_corrected():
    done = run("complie")
    expect_exit(done, 2)
    expect(b"ingot compile" in done.stderr, done.stderr)
    expect(done.stdout == b"", "nothing on stdout")


def check_bad_values_are_refused():
    for args in (["run", "x", "--top-p", "nan"], ["run", "x", "--top-p", "1.5"],
                 ["run", "x", "-n", "-1"], ["run", "x", "-n", "12k"], ["run", "x", "--threads", "0"],
                 ["run", "x", "--temperature", ""], ["run", "x", "--top-k", "1e3"],
                 ["run", "x", "--greedy=yes"], ["run", "x", "-p"], ["explain", "--color", "purple"],
                 ["run", "x", "--seed", "99999999999999999999"]):
        done = run(*args)
        expect_exit(done, 2)
        expect(b"U0004" in done.stderr, (args, done.stderr))


def check_version():
    expect(re.fullmatch(rb"ingot \d+\.\d+\.\d+ \(\w+\)\n", run("--version").stdout), "one line")
    document = json.loads(run("--version", "--json").stdout)
    for key in ("version", "commit", "build_mode", "compiler", "llvm_version", "targets",
                "ir_version", "artifact_version", "recipe_version", "host_cpu_features"):
        expect(key in document, key)
    expect(run("version", "--json").stdout == run("--version", "--json").stdout, "same block")


def check_every_code_is_explained():
    codes = json.loads(run("explain", "--json").stdout)["codes"]
    expect(len(codes) > 8, "a catalogue")
    for entry in codes:
        expect(entry["title"] and len(entry["cause"]) > 20, f"{entry['code']} says too little")
        expect(entry["cause"].endswith((".", ")")), f"{entry['code']}: the cause is a sentence")
        done = run("explain", entry["code"])
        expect_exit(done, 0)
        expect(done.stdout.decode().startswith(f"{entry['code']}: {entry['title']}\n"), entry["code"])
    done = run("explain", "U9999")
    expect_exit(done, 2)


def check_unknown_environment_is_named():
    done = run("explain", "U0001", env={"INGOT_THREAD": "2"})
    expect_exit(done, 0)
    expect(b"INGOT_THREADS" in done.stderr, done.stderr)


def check_no_escape_without_a_terminal():
    for env in ({}, {"TERM": "xterm"}, {"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}):
        for args in (["run", "--help"], ["run", "--nosuch"], ["explain", "U0001"]):
            done = run(*args, env=env)
            expect(ESCAPE not in done.stdout + done.stderr, (env, args))


def terminal_output(*args, env):
    """What the program writes when both streams are a terminal."""
    master, slave = pty.openpty()
    environment = clean_environment()
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        environment.pop(name, None)
    environment.update(env)
    process = subprocess.Popen([INGOT, *args], stdin=slave, stdout=slave, stderr=slave,
                               env=environment)
    os.close(slave)
    text = b""
    while True:
        try:
            block = os.read(master, 65536)
        except OSError:
            break
        if not block:
            break
        text += block
    process.wait(60)
    os.close(master)
    return text


def check_color_order():
    args = ["run", "--nosuch"]
    expect(ESCAPE in terminal_output(*args, env={"TERM": "xterm"}), "a terminal has colour")
    expect(ESCAPE not in terminal_output(*args, env={"TERM": "dumb"}), "TERM=dumb")
    expect(ESCAPE not in terminal_output(*args, env={"TERM": "xterm", "NO_COLOR": "1"}), "NO_COLOR")
    expect(ESCAPE in run("run", "--nosuch", env={"INGOT_COLOR": "always"}).stderr, "INGOT_COLOR")
    expect(ESCAPE not in terminal_output("explain", "--color=never", "U9999",
                                         env={"TERM": "xterm", "INGOT_COLOR": "always"}),
           "the flag wins")
    expect(ESCAPE not in terminal_output("explain", "U9999", "--json", env={"TERM": "xterm"}),
           "no colour in JSON")


def check_json_diagnostics_are_json_lines():
    done = run("run", "--json", "--nosuch")
    lines = done.stderr.decode().splitlines()
    expect([json.loads(line) for line in lines if line.startswith("{")] != [], done.stderr)


def check_missing_file_is_6():
    for args in (["run", "/nonexistent.ingot", "-p", "x"], ["inspect", "/nonexistent.gguf"],
                 ["inspect", "/nonexistent.ingot"],
                 ["compile", "/nonexistent.yaml", "-o", "/dev/null"], ["opt", "/nonexistent.mlir"]):
        done = run(*args)
        expect_exit(done, 6)
        expect(done.stdout == b"", "nothing on stdout")


def check_invalid_file_is_3():
    with scratch() as folder:
        for name, text, args in (("a.ingot", b"no artifact" * 400, ["run", "-p", "x"]),
                                 ("a.gguf", b"GGUF" + b"\xff" * 60, ["inspect"]),
                                 ("a.mlir", b"func.func @f( {", ["opt"]),
                                 ("a.yaml", b"verzion: 1\n", ["compile", "--dry-run"])):
            path = os.path.join(folder, name)
            with open(path, "wb") as out:
                out.write(text)
            done = run(args[0], path, *args[1:])
            expect_exit(done, 3)
            expect(re.search(rb"error\[[RFIX]\d{4}\]", done.stderr), done.stderr)


def check_missing_compiler_is_5():
    with scratch() as folder:
        alone = os.path.join(folder, "ingot")
        shutil.copy(INGOT, alone)
        done = subprocess.run([alone, "compile", "recipe.yaml", "-o", "x"], capture_output=True,
                              env=clean_environment())
        expect_exit(done, 5)
        expect(b"U0007" in done.stderr, done.stderr)
        expect_exit(subprocess.run([alone, "explain", "U0007"], capture_output=True,
                                   env=clean_environment()), 0)


def check_a_difference_is_1():
    with scratch() as folder:
        model, listed = os.path.join(folder, "m.gguf"), os.path.join(folder, "list.jsonl")
        make_model(model, layers=1)
        ids = [int(word) for word in run("tokenize", model, "hello").stdout.split()]
        for change, code in ((0, 0), (1, 1)):
            with open(listed, "w", encoding="utf-8") as out:
                out.write(json.dumps({"text": "hello", "ids": [ids[0] + change] + ids[1:]}) + "\n")
            done = run("tokenize", model, "--against", listed)
            expect_exit(done, code)
            expect(done.stdout.startswith(b"%d of 1 equal\n" % (1 - change)), done.stdout)


def check_full_disk_is_6():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([INGOT, "explain"], stdout=full, stderr=subprocess.PIPE)
    expect(done.returncode == 6, f"exit {done.returncode}")
    expect(b"U0003" in done.stderr, done.stderr)


def check_closed_pipe_is_quiet():
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run([INGOT, "--help", "--json"], stdout=write_end, stderr=subprocess.PIPE)
    os.close(write_end)
    expect(done.stderr == b"", done.stderr)
    expect(done.returncode in (141, -signal.SIGPIPE), f"exit {done.returncode}")
    done = subprocess.run(f"exec '{INGOT}' explain >&-", shell=True, stderr=subprocess.PIPE)
    expect(done.stderr == b"" and done.returncode == 0, "a closed stdout is no error")


def wait_until_reading(process):
    """The program has set its handlers once it sleeps in read()."""
    for _ in range(200):
        with open(f"/proc/{process.pid}/wchan", encoding="ascii", errors="replace") as source:
            where = source.read()
        with open(f"/proc/{process.pid}/stat", encoding="ascii", errors="replace") as source:
            state = source.read().rsplit(")", 1)[1].split()[0]
        if state == "S" and ("pipe" in where or "read" in where or where == "0"):
            time.sleep(0.05)
            return
        time.sleep(0.05)


def exit_after_signal(number):
    process = subprocess.Popen([INGOT, "opt"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    wait_until_reading(process)
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode


def check_signals():
    expect(exit_after_signal(signal.SIGINT) == 130, "Ctrl-C is 130")
    expect(exit_after_signal(signal.SIGTERM) == 143, "SIGTERM is 143")


def check_a_bug_is_70():
    expect(exit_after_signal(signal.SIGABRT) == 70, "an abort is 70")


if __name__ == "__main__":
    main(globals())
