#!/usr/bin/env python3
"""Checks the memory plan of an artifact against the IR text it was planned from. Shares no code with the planner and
none of its arithmetic:

  plan_check.py BEFORE.mlir AFTER.mlir ARTIFACT.ingot      (both dumps of the pass memory-planner)

From the text before the pass: which buffers there are, from which kernel call to which each is in use, what each call
reads and writes. From the text after it, and from the tables of the artifact byte by byte: where each of them lies.
Of both is said: every buffer has one place, aligned, inside its space, on no byte of another buffer that is in use;
no call reads bytes that others wrote last; steps without a barrier between them share nothing that one of them writes;
and, of the artifact, the memory table adds up to what header and sections say."""
import json
import re
import struct
import sys

ALIGN, PAGE, HUGE_PAGE, HUGE_FROM = 64, 4096, 2 << 20, 4 << 20
ELEM_BYTES = {"i1": 1, "i8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8, "index": 8}
WEIGHTS, ARENA, KV, SCRATCH, TOKENS, STARTS, PAGES, LOGITS, PORTS, NUM_SPACES = range(10)
SECTION_MANIFEST, SECTION_STRINGS, SECTION_PLAN, SECTION_CODE, SECTION_WEIGHTS = 1, 2, 5, 6, 7


# ---------------------------------------------------------------- the text

def split_top(text):
    """Parts between commas outside of any bracket or quotes; the > of -> is none."""
    parts, depth, start, in_text = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"' and text[i - 1] != "\\":
            in_text = not in_text
        elif in_text:
            continue
        elif c in "([{<":
            depth += 1
        elif c in ")]}" or c == ">" and text[i - 1] != "-":
            depth -= 1
        elif c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()] if text[start:].strip() else parts


def closing(text, at):
    """Where the bracket that opens at `at` closes."""
    pairs, depth, in_text = {"(": ")", "[": "]", "{": "}", "<": ">"}, 0, False
    for i in range(at, len(text)):
        if text[i] == '"' and text[i - 1] != "\\":
            in_text = not in_text
        elif not in_text and text[i] == text[at]:
            depth += 1
        elif not in_text and text[i] == pairs[text[at]]:
            depth -= 1
            if depth == 0:
                return i
    raise ValueError(f"nothing closes {text[at:at + 40]}")


def memref_bytes(text):
    """Bytes of memref<2x3xf32>; None of anything else."""
    found = re.match(r"memref<((?:\d+x)*)(\w+)>", text)
    if not found:
        return None
    count = 1
    for size in found[1].split("x")[:-1]:
        count *= int(size)
    return count * ELEM_BYTES[found[2]]


class Func:
    """name, is_kernel, is_private, args: (name, bytes or None, attributes' text), body: lines."""

    def __init__(self, line):
        found = re.match(r"\s*func\.func (private )?@([\w.$-]+|\"[^\"]*\")\(", line)
        self.is_private, self.name = bool(found[1]), found[2]
        end = closing(line, found.end() - 1)
        self.args = []
        for part in split_top(line[found.end():end]):
            name, kind = part.split(":", 1)
            self.args.append((name.strip(), memref_bytes(kind.strip()), kind.partition("{")[2]))
        self.is_kernel = "ingot.kernel =" in line[end:]
        self.body = []

    def arg_roles(self):
        """Of a kernel, of each buffer: (reads, writes)."""
        return [("ingot.inout" in attrs or "ingot.result" not in attrs,
                 "ingot.inout" in attrs or "ingot.result" in attrs)
                for _, size, attrs in self.args if size is not None]


def read_module(text):
    funcs, func = {}, None
    for line in text.splitlines():
        if re.match(r"  func\.func ", line):
            func = Func(line)
            if not line.rstrip().endswith("{") and not re.search(r"\{\s*(loc\(.*\))?$", line):
                func = None  # a declaration
            else:
                funcs[func.name] = func
        elif line.startswith("  }"):
            func = None
        elif func:
            func.body.append(line.strip())
    return funcs


VIEW = re.compile(r"(%\w+) = memref\.view (%\w+)\[(%\w+)\]\[\].*? : memref<\d+xi8> to (memref<[^>]*>)")
ALIAS = re.compile(r"(%\w+) = memref\.(?:collapse_shape|expand_shape|cast) (%\w+)")
ALLOC = re.compile(r"(%\w+) = memref\.alloc\(\).*? : (memref<[^>]*>)")
CALL = re.compile(r"(?:func\.)?call @([\w.$-]+|\"[^\"]*\")\((.*?)\)")
CONSTANT = re.compile(r"(%\w+) = arith\.constant (-?\d+) : index")


class Entry:
    """calls: (kernel, [(root, offset, bytes) per buffer]); a root is ("alloc", n) or ("arg", n). sizes: of roots."""

    def __init__(self, funcs, func):
        self.name, self.calls, self.sizes, self.num_allocs = func.name, [], {}, 0
        self.arena = [i for i, arg in enumerate(func.args) if "ingot.arena" in arg[2]]
        self.roles = [attrs for _, _, attrs in func.args]
        bound = {}
        for i, (name, size, _) in enumerate(func.args):
            if size is not None:
                bound[name] = (("arg", i), 0, size)
                self.sizes["arg", i] = size
        self.walk(funcs, func, bound)

    def walk(self, funcs, func, bound):
        constants = {}
        for line in func.body:
            if found := CONSTANT.match(line):
                constants[found[1]] = int(found[2])
            elif found := ALLOC.match(line):
                root = ("alloc", self.num_allocs)
                self.num_allocs += 1
                self.sizes[root] = memref_bytes(found[2])
                bound[found[1]] = (root, 0, self.sizes[root])
            elif found := VIEW.match(line):
                root, offset, _ = bound[found[2]]
                bound[found[1]] = (root, offset + constants[found[3]], memref_bytes(found[4]))
            elif found := ALIAS.match(line):
                bound[found[1]] = bound[found[2]]
            elif found := CALL.match(line):
                self.call(funcs, funcs[found[1]], [bound.get(name) for name in split_top(found[2])])
            elif not re.match(r"return|%\w+ = (affine\.apply|arith\.constant)|\}", line):
                raise ValueError(f"@{self.name}: {line[:80]}")

    def call(self, funcs, callee, operands):
        if callee.is_kernel:
            self.calls.append((callee, [o for o in operands if o]))
            return
        inner = {name: operand for (name, _, _), operand in zip(callee.args, operands) if operand}
        self.walk(funcs, callee, inner)


def read_entries(text):
    funcs = read_module(text)
    return {name: Entry(funcs, f) for name, f in funcs.items() if not f.is_private and not f.is_kernel}


# ---------------------------------------------------------------- the artifact

class Artifact:
    """Tables of the file as they lie there (src/abi/plan.h); no checksum is looked at."""
    HEADER = ("kernel_abi max_threads vocab context page_len max_pages num_pages max_sequences model_name _ "
              "weights arena kv kv_page scratch ports io runtime reserve").split()
    TABLES = "levels kernels kernel_code entries steps buffers scalars memory ports checks".split()

    def __init__(self, data):
        _, _, num_sections, self.file_bytes, at, _ = struct.unpack_from("<8sIIQQQ", data)
        self.sections = [struct.unpack_from("<IIQQQ", data, at + 32 * i) for i in range(num_sections)]
        base = next(s[2] for s in self.sections if s[0] == SECTION_PLAN)
        strings = next(s[2] for s in self.sections if s[0] == SECTION_STRINGS)
        numbers = struct.unpack_from("<10I9Q20Q", data, base)
        self.header = dict(zip(self.HEADER, numbers))
        tables = dict(zip(self.TABLES, zip(numbers[19::2], numbers[20::2])))

        def table(name, form):
            offset, count = tables[name]
            size = struct.calcsize(form)
            return [struct.unpack_from(form, data, base + offset + size * i) for i in range(count)]

        def string(at):
            return data[strings + at:data.index(b"\0", strings + at)].decode()

        self.counts = {name: count for name, (_, count) in tables.items()}
        self.kernels = [(string(k[0]), k[1]) for k in table("kernels", "<4I")]
        self.buffers = [(b[0], b[2], b[3]) for b in table("buffers", "<IIQQ")]
        steps = table("steps", "<4IIIqqqII")
        self.entries = {}
        for bucket, first, count, name, *rest in table("entries", "<9I"):
            listed = []
            for step in steps[first:first + count]:
                kernel, num = self.kernels[step[0]]
                listed.append((kernel, self.buffers[step[1]:step[1] + num], bool(step[3])))
            self.entries.setdefault(string(name), []).append((bucket, rest, listed))
        self.largest_bucket = max(bucket for versions in self.entries.values() for bucket, _, _ in versions)


# ---------------------------------------------------------------- what must hold

def overlap(a, b):
    return a[0] == b[0] and a[1] < b[1] + b[2] and b[1] < a[1] + a[2]


def check_places(entry, steps, space_bytes, faults):
    """steps: (kernel's name, [(space, offset, bytes)], barrier or None), one for each call of the entry."""
    say = lambda text: faults.append(f"@{entry.name}: {text}")
    if [name for name, _, _ in steps] != [kernel.name for kernel, _ in entry.calls]:
        return say(f"other steps: {len(steps)} for {len(entry.calls)} calls")
    place, life = {}, {}
    for i, ((kernel, buffers), (_, places, _)) in enumerate(zip(entry.calls, steps)):
        if len(buffers) != len(places):
            return say(f"step {i}, @{kernel.name}: {len(places)} buffers instead of {len(buffers)}")
        for (root, offset, size), (space, at, length) in zip(buffers, places):
            where = (space, at - offset, entry.sizes[root])
            if place.setdefault(root, where) != where:
                say(f"step {i}, @{kernel.name}: {root} lies at {where}, and at {place[root]} before")
            if length != size:
                say(f"step {i}, @{kernel.name}: {length} bytes of {root} instead of {size}")
            life[root] = (life.get(root, (i, i))[0], i)
    for root, (space, at, size) in place.items():
        if at % ALIGN:
            say(f"{root} at {at} of space {space} is not aligned")
        if at < 0 or at + size > space_bytes.get(space, 0):
            say(f"{root} of {size} bytes at {at} leaves its space {space} of {space_bytes.get(space, 0)}")
        if (root[0] == "alloc") != (space == ARENA):
            say(f"{root} lies in space {space}")
    order = sorted(place, key=lambda root: place[root])
    for i, a in enumerate(order):
        for b in order[i + 1:]:
            if place[b][0] != place[a][0] or place[b][1] >= place[a][1] + place[a][2]:
                break
            is_together = a[0] == "arg" or life[a][0] <= life[b][1] and life[b][0] <= life[a][1]
            if is_together and overlap(place[a], place[b]) and not is_shared_weight(place, a, b):
                say(f"{a} in steps {life[a]} and {b} in steps {life[b]} share bytes: {place[a]}, {place[b]}")
    check_contents(entry, place, say)
    check_barriers(entry, steps, say)


def is_shared_weight(place, a, b):
    """Equal weights may lie in one place: nothing writes them."""
    return place[a][0] == WEIGHTS and place[a] == place[b]


def check_contents(entry, place, say):
    """What a call reads in the arena was written there last as the same buffer."""
    written = []  # (interval, root), no two of them on one byte
    for i, (kernel, buffers) in enumerate(entry.calls):
        for (root, offset, size), (reads, _) in zip(buffers, kernel.arg_roles()):
            if not reads or root[0] != "alloc":
                continue
            start = place[root][1] + offset
            mine = sum(min(end, start + size) - max(at, start) for at, end, by in written
                       if by == root and at < start + size and start < end)
            if mine != size:
                say(f"step {i}, @{kernel.name} reads {size} bytes of {root}, {size - mine} of them another's")
        for (root, offset, size), (_, writes) in zip(buffers, kernel.arg_roles()):
            if not writes or root[0] != "alloc":
                continue
            start, end = place[root][1] + offset, place[root][1] + offset + size
            kept = []
            for at, till, by in written:
                kept += [part for part in ((at, min(till, start), by), (max(at, end), till, by)) if part[0] < part[1]]
            written = kept + [(start, end, root)]


def check_barriers(entry, steps, say):
    open_steps = []  # since the last barrier
    for i, ((kernel, _), (_, places, barrier)) in enumerate(zip(entry.calls, steps)):
        if barrier is None:
            return
        mine = list(zip(places, (writes for _, writes in kernel.arg_roles())))
        for j, others in open_steps:
            for a, a_writes in mine:
                for b, b_writes in others:
                    if (a_writes or b_writes) and overlap(a, b):
                        say(f"steps {j} and {i} share {a} without a barrier")
        open_steps = [] if barrier else open_steps + [(i, mine)]


def check_text(before, after, faults):
    """The plan as the text after the pass has it. Returns the bytes of each entry's arena."""
    arenas = {}
    for name, entry in before.items():
        planned = after.get(name)
        if planned is None:
            faults.append(f"@{name} is gone")
            continue
        arena = ("arg", planned.arena[0]) if planned.arena else None
        arenas[name] = planned.sizes.get(arena, 0)
        # Spaces of their own for the other arguments, numbered as they were without the arena.
        number = lambda root, arena=arena: (ARENA if root == arena else
                                            NUM_SPACES + root[1] - (arena is not None and root > arena))
        steps = [(kernel.name, [(number(root), at, size) for root, at, size in buffers], None)
                 for kernel, buffers in planned.calls]
        spaces = {number(root): size for root, size in planned.sizes.items()}
        check_places(entry, steps, spaces, faults)
    return arenas


def up(n, unit):
    return -(-n // unit) * unit


def resident(n):
    return up(n, HUGE_PAGE if n >= HUGE_FROM else PAGE)


def check_artifact(before, arenas, artifact, faults):
    head = artifact.header
    spaces = {WEIGHTS: head["weights"], ARENA: head["arena"], KV: head["kv"], PORTS: head["ports"],
              TOKENS: 4 * max(artifact.largest_bucket, head["max_sequences"]), STARTS: 4 * head["max_sequences"],
              PAGES: 4 * head["max_sequences"] * head["max_pages"], LOGITS: 4 * head["max_sequences"] * head["vocab"]}
    if head["arena"] != max(arenas.values()):
        faults.append(f"the arena has {head['arena']} bytes, the largest entry's {max(arenas.values())}")
    listed = sum(len(versions) for versions in artifact.entries.values())
    if listed != len(before):
        faults.append(f"{listed} entries in the file, {len(before)} in the text")
    for entry in before.values():
        names = [kernel.name for kernel, _ in entry.calls]
        # Versions of an entry for several sizes have its name; their steps tell them apart.
        versions = artifact.entries.get(entry.name) or [v for vs in artifact.entries.values() for v in vs]
        same = [steps for _, _, steps in versions if [name for name, _, _ in steps] == names]
        if not same:
            faults.append(f"@{entry.name}: no entry of the file has its steps")
            continue
        tries = []
        for steps in same:
            tries.append([])
            check_places(entry, steps, spaces, tries[-1])
        faults += min(tries, key=len)


def check_totals(artifact, said, faults):
    """said: the memory of `ingot inspect --json`."""
    head, counts = artifact.header, artifact.counts
    section = lambda *kinds: [up(s[3], PAGE) for s in artifact.sections if s[0] in kinds]
    io = 0
    for size in (4 * max(artifact.largest_bucket, head["max_sequences"]),
                 4 * head["max_sequences"] if head["max_sequences"] > 1 else 0,
                 4 * head["max_sequences"] * head["max_pages"], 4 * head["max_sequences"] * head["vocab"],
                 head["ports"]):
        io = up(io, ALIGN) + size
    # Pointers of each worker, its fault record of 8 words, scalars with their kinds, 64 bytes for each step; per
    # sequence 8 bytes for each token of the vocabulary and 4 for each page; 128 KiB of small objects.
    run_time = (head["max_threads"] * (up(8 * counts["buffers"], ALIGN) + 64) + up(12 * counts["scalars"], ALIGN)
                + 64 * counts["steps"] + head["max_sequences"] * (8 * head["vocab"] + 4 * head["max_pages"])
                + 4 * head["num_pages"] + (128 << 10))
    parts = {"weights": resident(sum(s[3] for s in artifact.sections if s[0] == SECTION_WEIGHTS)),
             "kv pages": resident(head["kv"]), "arena": resident(head["arena"]),
             "scratch": resident(up(head["scratch"], PAGE) * head["max_threads"]), "io": resident(up(io, ALIGN)),
             "code": max(section(SECTION_CODE)), "tables": sum(section(2, 3, 4, 5, 8, 9)), "run time": resident(run_time),
             "reserve": head["reserve"]}
    listed = {part["name"]: part["bytes"] for part in said["parts"]}
    for name in {**parts, **listed}:
        if parts.get(name) != listed.get(name):
            faults.append(f"memory table: {name} is {parts.get(name)} bytes, {listed.get(name)} are said")
    if sum(parts.values()) != said["total_bytes"]:
        faults.append(f"memory table: the parts are {sum(parts.values())} bytes, the total {said['total_bytes']}")


def check(before_text, after_text, artifact_bytes, said=None):
    """What is wrong, a line each; and (buffers, steps) that were looked at."""
    before, after, artifact, faults = read_entries(before_text), read_entries(after_text), Artifact(artifact_bytes), []
    check_artifact(before, check_text(before, after, faults), artifact, faults)
    if said:
        check_totals(artifact, said, faults)
    return faults, (sum(e.num_allocs for e in before.values()), sum(len(e.calls) for e in before.values()))


def main():
    texts = []
    for path in sys.argv[1:3]:
        with open(path, encoding="utf-8") as source:
            texts.append(source.read())
    with open(sys.argv[3], "rb") as source:
        data = source.read()
    said = json.load(open(sys.argv[4], encoding="utf-8"))["memory"] if len(sys.argv) > 4 else None
    faults, (buffers, steps) = check(*texts, data, said)
    for fault in faults:
        print(fault)
    print(f"{buffers} buffers, {steps} steps, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
