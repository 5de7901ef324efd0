#!/usr/bin/env python3
"""Rules of the source tree that no compiler checks. Prints `ok NAME` or `not ok NAME: where`."""
import ast
import collections
import os
import re
import subprocess
import sys

ROOT = os.environ.get("INGOT_SOURCE_DIR") or os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
# A library's headers may be included by these folders of src only.
LIBRARY_HEADERS = {"llvm-c/": {"codegen"}, "yaml.h": {"text"}, "jansson.h": {"text", "cli"}}
MAX_LINES = {".c": 800, ".h": 400}
MAX_COLUMNS = 100
# Words are put together here so that this file does not hold them.
OPEN_ENDS = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]
UNSAFE_CALLS = ["alloca", "setjmp", "longjmp", "strcpy", "strcat", "sprintf", "vsprintf", "gets",
                "strtok", "system", "popen", "tmpnam"]
# base.h has their replacements, which take an empty array.
ARRAY_CALLS = ["qsort", "bsearch"]
NETWORK_CALLS = ["socket", "connect", "getaddrinfo"]
# Facts about models belong in data files and .def tables.
MODEL_NAMES = re.compile(r"\b(llama|qwen\d?|gemma\d?|smollm\d?|mistral|falcon)\b", re.IGNORECASE)

failures = []


def tracked(*suffixes):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                            capture_output=True, text=True).stdout.splitlines()
    return [p for p in listed if p.endswith(suffixes) and os.path.isfile(os.path.join(ROOT, p))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as source:
        return source.read()


def strip_comments_and_strings(text):
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.DOTALL)


def check(name, problems):
    problems = list(problems)
    if problems:
        failures.append(name)
        for problem in problems[:20]:
            print(f"not ok {name}: {problem}")
        if len(problems) > 20:
            print(f"{len(problems) - 20} more")
    else:
        print(f"ok {name}")


def folder_of(path):
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def load_layers():
    layers = {}
    for line in read("LAYERS").splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, allowed = line.partition(":")
            layers[name.strip()] = set(allowed.split())
    return layers


def layer_problems(sources):
    layers = load_layers()
    order = list(layers)
    for name, allowed in layers.items():
        for other in allowed:
            if other not in layers or order.index(other) >= order.index(name):
                yield f"LAYERS: {name} names {other}, which does not stand above it"
    for path in sources:
        folder = folder_of(path)
        if folder is None:
            continue
        if folder not in layers:
            yield f"{path}: folder {folder} is not in LAYERS"
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if not match:
                continue
            target = match.group(2).split("/")[0]
            if match.group(1) == '"' and target in layers and target != folder:
                if target not in layers[folder]:
                    yield f"{path}:{number}: {folder} may not include {match.group(2)}"
            for prefix, owners in LIBRARY_HEADERS.items():
                if match.group(2).startswith(prefix) and folder not in owners:
                    yield f"{path}:{number}: only {', '.join(owners)} may include {match.group(2)}"


def length_problems(sources):
    for path in sources:
        lines = read(path).splitlines()
        limit = MAX_LINES.get(os.path.splitext(path)[1])
        if limit and len(lines) >= limit:
            yield f"{path}: {len(lines)} lines, the limit is {limit}"


def column_problems(sources):
    for path in sources:
        for number, line in enumerate(read(path).splitlines(), 1):
            if len(line) > MAX_COLUMNS:
                yield f"{path}:{number}: {len(line)} columns"


def word_problems(paths, words, strip):
    pattern = re.compile(r"\b(" + "|".join(words) + r")\b" + (r"\s*\(" if strip else ""))
    for path in paths:
        text = strip_comments_and_strings(read(path)) if strip else read(path)
        for number, line in enumerate(text.splitlines(), 1):
            match = pattern.search(line)
            if match:
                yield f"{path}:{number}: {match.group(1)}"


def place_problems(paths):
    pattern = re.compile("/wo" + r"rk/|\.\./sha" + "red|/fa" + "rm/|/ho" + "me/")
    for path in paths:
        if path.startswith(".ci/"):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            if pattern.search(line):
                yield f"{path}:{number}: {line.strip()[:80]}"


def model_name_problems(sources):
    for path in sources:
        if folder_of(path) is None:
            continue
        text = read(path)
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
        for line in code.splitlines():
            match = MODEL_NAMES.search(line)
            if match:
                yield f"{path}: {match.group(1)} in: {line.strip()[:70]}"


def name_problems(sources):
    where = collections.defaultdict(list)
    for path in sources:
        if path.startswith("src/"):
            where[os.path.basename(path)].append(path)
    for paths in where.values():
        if len(paths) > 1:
            yield "same file name: " + ", ".join(paths)


def opening_problems(sources):
    for path in sources:
        if path.startswith(("src/", "include/")) and not read(path).lstrip().startswith("//"):
            yield f"{path}: no opening comment"


def guard_problems(headers):
    for path in headers:
        if not path.startswith(("src/", "include/")):
            continue
        text = read(path)
        if not re.search(r"#ifndef INGOT_\w+_H\n#define INGOT_\w+_H\n", text):
            yield f"{path}: no include guard INGOT_..._H"


def diag_problems():
    seen = {}
    for path in tracked(".def"):
        if "/diags/" not in path:
            continue
        for code in re.findall(r"^DIAG\((\w+),", read(path), flags=re.MULTILINE):
            if not re.fullmatch(r"[RFTIPMBHXSU]\d{4}", code):
                yield f"{path}: code {code} is not a letter and four digits"
            if code in seen:
                yield f"{path}: code {code} is also in {seen[code]}"
            seen[code] = path


def build_file_problems(sources):
    """Every source file is listed in a meson.build: a forgotten one would silently not exist."""
    listed = " ".join(read(p) for p in tracked("meson.build"))
    # The build takes a pass's file from its line.
    listed += " ".join(name + ".c" for name in re.findall(r"(?m)^PASS\((\w+),", read("src/passes/passes.def")))
    for path in sources:
        if path.startswith(("src/", "tests/")) and path.endswith(".c"):
            name = os.path.basename(path)
            if path.startswith("tests/fuzz/fuzz_"): # listed by what follows fuzz_
                name = "'" + name[len("fuzz_"):-len(".c")] + "'"
            if name not in listed:
                yield f"{path}: in no meson.build"


def link_problems():
    for path in tracked(".md"):
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", read(path)):
            if "://" in target or target.startswith("mailto:"):
                continue
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), target)):
                yield f"{path}: link to {target}"


def recipe_doc_problems():
    """Every key of the recipe is in its manual, written out or as `.name` beside its group."""
    manual = read("docs/recipe.md")
    for path in re.findall(r'^RECIPE_(?:MODEL_|SUBGRAPH_)?KEY\(\w+, "([^"]+)"', read("src/recipe/recipe.def"),
                           flags=re.MULTILINE):
        group, _, name = path.rpartition(".")
        if f"`{path}`" not in manual and not (f"`{group}." in manual and f"`.{name}`" in manual):
            yield f"{path} is not in docs/recipe.md"


def script_problems():
    for path in tracked(".py"):
        try:
            ast.parse(read(path), path)
        except SyntaxError as error:
            yield f"{path}:{error.lineno}: {error.msg}"
    for path in ["dev", ".ci/run"]:
        if os.path.exists(os.path.join(ROOT, path)):
            done = subprocess.run(["bash", "-n", path], cwd=ROOT, capture_output=True, text=True)
            if done.returncode:
                yield done.stderr.strip()


def main():
    headers = tracked(".h")
    sources = tracked(".c") + headers
    texts = tracked(".c", ".h", ".def", ".py", ".md", ".yaml", ".mlir", "dev", "meson.build")
    check("layers", layer_problems(sources))
    check("file-lengths", length_problems(sources))
    check("columns", column_problems(sources))
    check("open-ends", word_problems(texts, OPEN_ENDS, False))
    check("unsafe-calls", word_problems([p for p in sources if folder_of(p)], UNSAFE_CALLS, True))
    check("empty-arrays", word_problems([p for p in sources if folder_of(p) not in (None, "base")],
                                        ARRAY_CALLS, True))
    check("no-network", word_problems([p for p in sources if not p.startswith("src/server/")],
                                      NETWORK_CALLS, True))
    check("no-machine-paths", place_problems(texts))
    check("no-model-names-in-c", model_name_problems(sources))
    check("unique-file-names", name_problems(sources))
    check("opening-comments", opening_problems(sources))
    check("include-guards", guard_problems(headers))
    check("diagnostic-codes", diag_problems())
    check("listed-in-meson", build_file_problems(sources))
    check("markdown-links", link_problems())
    check("recipe-manual", recipe_doc_problems())
    check("scripts-parse", script_problems())
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
