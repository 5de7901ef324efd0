#!/usr/bin/env python3
"""Conversations of `ingot run --chat`: driven by lines and on a terminal, with history, reuse of what is
in the KV cache, a full context, Ctrl-C and Ctrl-D."""
import json
import os
import pty
import re
import select
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import INGOT, clean_environment, expect, expect_exit, main, run, run_well, scratch
from tiny_model import make_model

RECIPE_TEXT = """version: 1
model_name: tiny
precision: {weights: as_stored, activations: f32, kv_cache: f32}
input_constraints:
  seq_len: {min: 1, max: 16, step: 16}
  kv_cache_seq_len: {max: CONTEXT}
targets:
  - {arch: x86_64, cpu: x86-64-v3, threads: 2}
memory_optimization: {kv_cache_page_size: 16}
"""
KEPT = scratch()
LONG = 65536  # an answer of this many tokens takes long enough to be stopped


def tiny(context):
    model, recipe, artifact = (os.path.join(KEPT.name, f"{context}.{end}") for end in ("gguf", "yaml", "ingot"))
    if not os.path.exists(artifact):
        make_model(model, layers=1, context=context, weights="Q8_0")
        with open(recipe, "w", encoding="utf-8") as out:
            out.write(RECIPE_TEXT.replace("CONTEXT", str(context)))
        run_well("compile", recipe, "--model", model, "-o", artifact, timeout=400)
    return artifact


def lines(text, *args, context=512):
    return run("run", tiny(context), "--chat", "--lines", "--ignore-eos", "--greedy", *args, stdin=text)


def check_lines_are_answered_in_turn():
    done = lines(b"hello\n\nhow are you\r\nbye", "-n", "5")
    expect_exit(done, 0)
    expect(re.search(rb"3 answers: \d+ prompt tokens read, \d+ reused, 15 generated", done.stderr), done.stderr)
    expect(done.stdout.endswith(b"\n") and done.stdout.count(b"\n") >= 3, done.stdout)
    expect(b"> " not in done.stderr, "no prompt line without a terminal")
    again = lines(b"hello\n\nhow are you\r\nbye", "-n", "5")
    expect(again.stdout == done.stdout, "the same again")


def check_json_lines_and_reuse():
    done = lines(b"hello\nagain\nand again\n", "-n", "4", "--json", "--system", "Be brief.")
    expect_exit(done, 0)
    header, *answers = map(json.loads, done.stdout.splitlines())
    expect(header == {"schema": "ingot-run-lines", "schema_version": 1}, header)
    expect(len(answers) == 3, answers)
    expect(answers[0]["reused_tokens"] == 0, answers[0])
    for before, answer in zip(answers, answers[1:]):
        expect(answer["reused_tokens"] >= before["prompt_tokens"], (before, answer))
        expect(answer["prompt_tokens"] > before["prompt_tokens"], "the history grows")
        expect(answer["generated_tokens"] == 4 and answer["finish_reason"] == "length", answer)


def check_history_goes_through_the_template():
    done = lines(b"hello\nagain\n", "-n", "3", "--json", "--show-prompt")
    expect_exit(done, 0)
    first = json.loads(done.stdout.splitlines()[1])
    shown = b"".join(json.loads(line.split(b" ", 1)[1]).encode() for line in done.stderr.splitlines()
                     if re.match(rb'\d+ "', line)).decode()
    one = "<|im_start|>user\nhello<|im_end|>\n<|im_start|>assistant\n"
    expect(shown.startswith(one + one), shown)
    expect(shown.endswith("<|im_end|>\n<|im_start|>user\nagain<|im_end|>\n<|im_start|>assistant\n"), shown)
    expect(shown[2 * len(one):].startswith(first["text"][:1]), (shown, first))


def check_reuse_changes_no_result():
    """The second answer is what the whole second prompt gives to a model that has seen nothing."""
    done = lines(b"hello\nagain\n", "-n", "8", "--json", "--show-prompt")
    first, second = map(json.loads, done.stdout.splitlines()[1:])
    ids = [int(line.split()[0]) for line in done.stderr.splitlines() if re.match(rb'\d+ "', line)]
    ids = ids[first["prompt_tokens"]:]
    expect(len(ids) == second["prompt_tokens"] and second["reused_tokens"] > 0, second)
    with scratch() as folder:
        prompts, out = os.path.join(folder, "p.json"), os.path.join(folder, "o.json")
        with open(prompts, "w", encoding="utf-8") as file:
            json.dump([{"name": "second", "ids": ids}], file)
        run_well("eval", tiny(512), "--prompts", prompts, "--greedy", "8", "-o", out)
        with open(out, encoding="utf-8") as file:
            greedy = json.load(file)[0]["greedy"]
    names = [b"", b"", b""] + [bytes([i]) for i in range(256)] + [b"he", b"ll", b"hell"]
    text = b"".join(names[i] if i < len(names) else b"" for i in greedy)
    expect(text.decode("utf-8", "replace") == second["text"], (greedy, text, second["text"]))


def check_a_full_context_ends_the_conversation():
    done = lines(b"hello\nagain\nnever read\n", context=64)
    expect_exit(done, 0)
    expect(b"note[X0011]" in done.stderr and b"1 answers" in done.stderr, done.stderr)
    done = lines(b"hello\n" + b"long " * 60 + b"\nnever read\n", "-n", "2", context=64)
    expect_exit(done, 4)
    expect(b"error[X0011]" in done.stderr and b"a new conversation" in done.stderr, done.stderr)
    expect(done.stdout.count(b"\n") >= 1, "the first answer stands")


def check_lines_need_a_chat_and_no_prompt():
    for args in (["--lines"], ["--chat", "--lines", "-p", "x"], ["--chat", "--lines", "-f", "x"],
                 ["--chat", "--lines", "-"], ["--chat"], []):
        done = run("run", tiny(64), *args)
        expect(done.returncode == 2 and b"U0005" in done.stderr, (args, done.returncode, done.stderr))


class Terminal:
    """The program on a terminal of its own."""

    def __init__(self, *args):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen([INGOT, *args], stdin=slave, stdout=slave, stderr=slave,
                                        env=clean_environment({"TERM": "dumb"}), start_new_session=True,
                                        preexec_fn=lambda: self.take(slave))
        os.close(slave)
        self.text = b""

    @staticmethod
    def take(slave):
        import fcntl
        import termios
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    def wait_for(self, what, seconds=60):
        """Reads until the text that came since the last call matches."""
        end, seen = time.monotonic() + seconds, b""
        while not re.search(what, seen):
            left = end - time.monotonic()
            expect(left > 0, f"{what} did not come: {seen[-300:]!r}")
            if not select.select([self.master], [], [], left)[0]:
                continue
            try:
                block = os.read(self.master, 4096)
            except OSError:
                block = b""
            expect(block, f"ended before {what}: {seen[-300:]!r}")
            seen += block
        return seen

    def type(self, text):
        os.write(self.master, text)

    def end(self):
        try:
            while os.read(self.master, 65536):
                pass
        except OSError:
            pass
        return self.process.wait(60)


def check_a_terminal_holds_a_conversation():
    terminal = Terminal("run", tiny(LONG), "--chat", "--ignore-eos", "-n", "6")
    terminal.wait_for(rb"> $")
    terminal.type(b"hello\n")
    terminal.wait_for(rb"hello\r\n(.|\n)*\r\n> $")
    terminal.type(b"again\n")
    terminal.wait_for(rb"again\r\n(.|\n)*\r\n> $")
    terminal.type(b"\x04")
    terminal.wait_for(rb"2 answers: \d+ prompt tokens read, [1-9]\d* reused, 12 generated")
    expect(terminal.end() == 0, "Ctrl-D ends it well")


def check_ctrl_c_stops_an_answer_only():
    terminal = Terminal("run", tiny(LONG), "--chat", "--ignore-eos", "--seed", "5")
    terminal.wait_for(rb"> $")
    terminal.type(b"hello\n")
    terminal.wait_for(rb"hello\r\n(.|\n){3}")
    terminal.type(b"\x03")
    terminal.wait_for(rb"\r\n> $")
    terminal.type(b"again\n")
    terminal.wait_for(rb"again\r\n(.|\n){3}")
    terminal.type(b"\x03")
    terminal.wait_for(rb"\r\n> $")
    terminal.type(b"\x04")
    shown = terminal.wait_for(rb"2 answers: .*generated")
    generated = int(re.search(rb"(\d+) generated", shown).group(1))
    expect(generated < LONG - 100, f"{generated} tokens: the answer was not stopped")
    expect(terminal.end() == 0, "it went on")
    return f"{generated} tokens"


def check_ctrl_c_at_the_prompt_ends():
    terminal = Terminal("run", tiny(512), "--chat")
    terminal.wait_for(rb"> $")
    terminal.type(b"\x03")
    expect(terminal.end() == 130, "exit 130")


if __name__ == "__main__":
    main(globals())
