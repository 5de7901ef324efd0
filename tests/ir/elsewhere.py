#!/usr/bin/env python3
"""By hand: IR text of other projects (a folder of .mlir files) through the reader, the printer, stock MLIR
and the interpreter, and how many of how many.

    tests/ir/elsewhere.py build/ingot FOLDER [--list KIND] [--functions]

Every part of a file (between lines of // -----) that stock MLIR accepts, is
  parsed        read, verified and printed; else
  refused       by the name of an op, an attribute or a type in the text, or
  refused mute  by a message that names nothing of the text, or
  crashed       neither.
What is parsed is a
  fixpoint      if what stock MLIR prints of our text gives our text again, and
  interpreted   if its last function with a body runs on small random arguments, or
  stopped       if the interpreter refuses it or it faults.
--list prints the parts of one kind; --functions runs each function of a part apart."""
import argparse
import array
import collections
import concurrent.futures
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

STOCK = "mlir-opt-22"
# IR element type: (code of .npy, array code)
TYPES = {"i1": ("|b1", "b"), "i8": ("|i1", "b"), "i16": ("<i2", "h"), "i32": ("<i4", "i"), "i64": ("<i8", "q"),
         "index": ("<i8", "q"), "f16": ("<f2", "H"), "bf16": ("|V2", "H"), "f32": ("<f4", "f"), "f64": ("<f8", "d")}


def call(command, text, limit=60):
    try:
        return subprocess.run(command, input=text.encode(), capture_output=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, -1, b"", b"time is up")


def parts_of(folder):
    for root, _, names in sorted(os.walk(folder)):
        for name in sorted(names):
            if not name.endswith(".mlir"):
                continue
            path = os.path.join(root, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                for number, part in enumerate(re.split(r"(?m)^// -----.*$", file.read())):
                    if part.strip():
                        yield f"{path}#{number}", part


def functions_of(text):
    """The functions of a part, each with the aliases and declarations in front of them; the part itself where
    its text is not that simple."""
    starts = [m.start() for m in re.finditer(r"(?m)^func\.func ", text)]
    if len(starts) < 2:
        return [text]
    pieces = [text[a:b] for a, b in zip(starts, starts[1:] + [len(text)])]
    head = text[:starts[0]] + "".join(piece for piece in pieces if "{" not in piece)
    aliases = "".join(re.findall(r"(?m)^[#!]\w+ = .*\n", text[starts[0]:]))
    return [aliases + head + piece for piece in pieces if "{" in piece]


def npy_of(path, elem, shape, generator):
    code, kind = TYPES[elem]
    count = 1
    for size in shape:
        count *= size
    if kind in "HfdQ" and elem.startswith(("f", "bf")):
        numbers = [generator.uniform(0.25, 1) for _ in range(count)]
        if elem == "f16":
            numbers = [struct.unpack("<H", struct.pack("<e", v))[0] for v in numbers]
        elif elem == "bf16":
            numbers = [struct.unpack("<I", struct.pack("<f", v))[0] >> 16 for v in numbers]
    else:
        numbers = [generator.randrange(2) for _ in range(count)]
    text = f"{{'descr': '{code}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}"
    text += " " * (63 - (len(text) + 10) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(array.array(kind, numbers).tobytes())


def run_arguments(signature, folder):
    """--input options of a printed signature; None if an argument is of no such type."""
    generator, options = random.Random(1), []
    for number, match in enumerate(re.finditer(r"%arg\d+: ([^,{)<]+(?:<[^<>]*(?:<[^<>]*>)?[^<>]*>)?)", signature)):
        kind = re.match(r"(?:(?:tensor|memref|vector)<((?:[?\d]+x)*)(\w+)>|(\w+))$", match[1].strip())
        elem = kind and (kind[2] or kind[3])
        if elem not in TYPES:
            return None
        shape = [3 if size == "?" else int(size) for size in (kind[1] or "").split("x") if size]
        count = 1
        for size in shape:
            count *= size
        if count > 1 << 22:
            return None
        path = os.path.join(folder, f"{number}.npy")
        npy_of(path, elem, shape, generator)
        options += ["--input", f"arg{number}={path}"]
    return options


def interpret(ours, text):
    found = re.findall(r'(?m)^  func\.func (?:private )?@([\w.$-]+|"[^"]*")\((.*)\{$', text)
    if not found:
        return "no function with a body", ""
    name, signature = found[-1]
    with tempfile.TemporaryDirectory() as folder:
        options = run_arguments(signature, folder)
        if options is None:
            return "no arguments to be made", ""
        done = call([ours, "opt", "--run", "--max-steps", "20000000", f"--entry={name}", *options], text)
    if done.returncode < 0 or done.returncode == 70:
        return "crashed", done.stderr.decode(errors="replace")
    return ("interpreted" if done.returncode == 0 else "stopped"), done.stderr.decode(errors="replace")


def names_something(message, text):
    """Does the message name an op, an attribute, a type or a keyword that stands in the text?"""
    first = message.split("\n")[0]
    names = re.findall(r"'([^']+)'|\b([a-z_]+\.[\w.]+)|([#!]?[\w.]+<)|"
                       r"\b(?:type|attribute|operation|dialect|layout|space) '?([\w.]+)", first.split("]", 1)[-1])
    return any(word and word.rstrip("<") in text for group in names for word in group)


def judge(job):
    ours, label, text = job
    stock = call([STOCK], text)
    if stock.returncode != 0:
        return label, ["not stock MLIR"], ""
    first = call([ours, "opt"], text)
    if first.returncode < 0 or first.returncode == 70:
        return label, ["crashed"], first.stderr.decode(errors="replace")
    if first.returncode != 0:
        message = first.stderr.decode(errors="replace")
        return label, ["refused" if names_something(message, text) else "refused mute"], message
    printed = first.stdout.decode()
    theirs = call([STOCK], printed)
    if theirs.returncode != 0:
        return label, ["parsed", "printed no MLIR"], theirs.stderr.decode(errors="replace")
    again = call([ours, "opt"], theirs.stdout.decode())
    is_fixpoint = again.returncode == 0 and again.stdout.decode() == printed
    how, message = interpret(ours, printed)
    return label, ["parsed", "fixpoint" if is_fixpoint else "no fixpoint", how], message or again.stderr.decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ours")
    parser.add_argument("folder")
    parser.add_argument("--list", default="")
    parser.add_argument("--functions", action="store_true")
    options = parser.parse_args()
    jobs = [(options.ours, f"{label}.{i}", piece) for label, part in parts_of(options.folder)
            for i, piece in enumerate(functions_of(part) if options.functions else [part])]
    counts = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for label, kinds, message in pool.map(judge, jobs):
            counts.update(kinds)
            if options.list in kinds:
                print(f"{label}: {message.strip()}")
    accepted = len(jobs) - counts["not stock MLIR"]
    print(f"{len(jobs)} parts, {accepted} of them stock MLIR: " +
          ", ".join(f"{kind} {number}" for kind, number in sorted(counts.items()) if kind != "not stock MLIR"))
    sys.exit(1 if counts["crashed"] else 0)


if __name__ == "__main__":
    main()
