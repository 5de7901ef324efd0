#!/usr/bin/env python3
"""Compares template_tool with Jinja (python3-jinja2, settings of Hugging Face transformers) on the
chat templates of a folder: INGOT_TEMPLATE_DIR, *.jinja, such as llama.cpp's models/templates.

    python3 tests/text/compare_templates.py BUILD/tests/text/template_tool

A template passes if every conversation is rendered equally, or refused by both. A template that
template_tool does not support must be refused when it is parsed; these are counted.
"""
import datetime
import glob
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def user(content):
    return {"role": "user", "content": content}


def assistant(content, **more):
    return {"role": "assistant", "content": content, **more}


TOOLS = [
    {"type": "function", "function": {
        "name": "get_weather", "description": "Weather <of> a 'city' & \"place\"",
        "parameters": {"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "description": "The city\nname"},
            "days": {"type": "integer", "enum": [1, 2, 3]},
            "options": {"type": "array", "items": {"type": "string"}},
            "more": {"type": ["string", "null"], "default": None}}}}},
    {"type": "function", "function": {"name": "now", "description": "Time",
                                      "parameters": {"type": "object", "properties": {}}}},
]
CALL = {"id": "call12345", "type": "function", "function": {
    "name": "get_weather",
    "arguments": {"city": "Köln", "days": 2, "x": 1.5, "b": True, "n": None, "l": ["a", {"k": "v"}]}}}
CONVERSATIONS = {
    "plain": [user("Hello, <|im_end|> world  ")],
    "system": [{"role": "system", "content": "  You are terse.\n"}, user("Why?")],
    "turns": [user("a"), assistant("b"), user("c")],
    "think": [user("a"), assistant("<think>\nhm\n</think>\n\nb"), user("c"), assistant("  d  ")],
    "reasoning": [user("q"), assistant("answer", reasoning_content="some reasoning"), user("again")],
    "parts": [user([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}])],
    "image": [user([{"type": "text", "text": "see"}, {"type": "image"}])],
    "tool": [user("weather?"), assistant("", tool_calls=[CALL]),
             {"role": "tool", "tool_call_id": "call12345", "name": "get_weather", "content": "{\"t\": 20}"},
             assistant("It is 20."), user("ok")],
    "tools": [{"role": "system", "content": "s"}, user("weather?"),
              assistant(None, tool_calls=[CALL, dict(CALL, id="call67890")]),
              {"role": "tool", "tool_call_id": "call12345", "name": "get_weather", "content": "20"},
              {"role": "tool", "tool_call_id": "call67890", "name": "get_weather", "content": "21"}],
    "odd": [assistant("first")],
    "role": [{"role": "custom", "content": "x"}, user("y")],
    "unicode": [user("Übersetze «Straße» 🐕\u2028 ﬁ"), assistant("日本\tok"), user("' \" \\ \n")],
    "empty": [user("")],
}


def contexts():
    base = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>"}
    for name, messages in CONVERSATIONS.items():
        for prompt in (True, False):
            yield f"{name}/{prompt}", dict(base, messages=messages, add_generation_prompt=prompt)
        yield f"{name}/tools", dict(base, messages=messages, add_generation_prompt=True, tools=TOOLS,
                                    enable_thinking=False)


def agrees(parsed, context, got):
    """Is got (None: refused) what Jinja renders? What is lazy in Python is a list in template_tool, so
    that it renders where Jinja says that a generator is no list."""
    try:
        return parsed.render(**context) == got
    except Exception as error:  # every kind of refusal is one
        return got is None or "generator" in str(error)


def compare(tool, environment, path, folder):
    """'' if equal, 'unsupported', or the name of the first conversation that differs."""
    with open(path, newline="", encoding="utf-8") as file:
        parsed = environment.from_string(file.read())
    for name, context in contexts():
        context_path = os.path.join(folder, "context.json")
        with open(context_path, "w", encoding="utf-8") as file:
            json.dump(context, file)
        done = subprocess.run([tool, path, context_path], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        if done.returncode == 1:
            return "unsupported"
        got = done.stdout.decode() if done.returncode == 0 else None
        if not agrees(parsed, context, got):
            return name
    return ""


def main():
    templates = os.environ.get("INGOT_TEMPLATE_DIR")
    if not templates:
        print("skip templates: INGOT_TEMPLATE_DIR is not set")
        return 0
    try:
        import make_template_cases
    except ImportError:
        print("skip templates: python3-jinja2 is not installed")
        return 0
    environment = make_template_cases.environment()
    environment.globals["strftime_now"] = datetime.datetime(2026, 7, 4).strftime
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(templates, "*.jinja"))):
            results[path] = compare(sys.argv[1], environment, path, folder)
    for path, result in results.items():
        name = os.path.basename(path)
        if result == "unsupported":
            print(f"skip {name}: refused when parsed")
        else:
            print(f"ok {name}" if not result else f"not ok {name}: conversation {result} differs")
    num_equal = sum(not r for r in results.values())
    num_unsupported = sum(r == "unsupported" for r in results.values())
    print(f"{num_equal} of {len(results)} templates equal, {num_unsupported} refused when parsed")
    return 0 if num_equal + num_unsupported == len(results) and num_equal else 1


if __name__ == "__main__":
    sys.exit(main())
