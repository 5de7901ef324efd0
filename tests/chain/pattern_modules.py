"""Modules of IR text for the tests of fusion rules: a builder, and a module with a rule, compiled and run."""
import array
import json
import os
import random
import re
import struct

from support import expect, expect_exit, run, run_well
from test_module_text import compare, count, outputs, random_values, read_npy, signature, write_npy

M, N, K = 24, 48, 64
# Sums of 64 products of at most 1/4, and a few roundings behind them.
BOUND = 2 * (K + 16) * (K / 4)
MODES = {"allow": "mode: allow", "require": "mode: require", "forbid": "mode: forbid", "atomic": "atomic: true"}
# The same for the form of an attention.
FORMS = {"flash": "mode: require, use_flash_attention: true", "flash-atomic": "atomic: true, use_flash_attention: true",
         "flash-allow": "use_flash_attention: true", "plain": "mode: require, use_flash_attention: false"}


class Module:
    """A function @main, written line by line. A value is (name, shape, element type)."""

    def __init__(self):
        self.arguments, self.lines, self.count = [], [], 0

    def argument(self, *shape, elem="f32", param=None):
        name = param or f"x{len(self.arguments)}"
        mark = f' {{ingot.param = "{param}"}}' if param else ""
        value = (f"%{name}", shape, elem)
        self.arguments.append(f"{value[0]}: {kind(value)}{mark}")
        return value

    def new(self, shape, elem="f32"):
        self.count += 1
        return f"%v{self.count}", tuple(shape), elem

    def line(self, text):
        self.lines.append("  " + text)

    def constant(self, number, elem="f32"):
        value = self.new((), elem)
        self.line(f"{value[0]} = arith.constant {number} : {elem}")
        return value

    def empty(self, shape, elem="f32"):
        value = self.new(shape, elem)
        self.line(f"{value[0]} = tensor.empty() : {kind(value)}")
        return value

    def filled(self, number, shape, elem="f32"):
        scalar, onto = self.constant(number, elem), self.empty(shape, elem)
        value = self.new(shape, elem)
        self.line(f"{value[0]} = linalg.fill ins({scalar[0]} : {elem}) outs({onto[0]} : {kind(onto)}) -> {kind(value)}")
        return value

    def generic(self, maps, inputs, shape, body, loops=None, onto=None, elem="f32"):
        """maps: results of the loops i, j, k, l, ... as text, one per input and one for the result. body: lines
        over the inputs a, b, c, ... and what the result held, `old`, that give %r."""
        loops = loops or "p" * len(shape)
        names = ", ".join("ijklmn"[:len(loops)])
        onto = onto or self.empty(shape, elem)
        value = self.new(shape, elem)
        spaces = ", ".join(f"affine_map<({names}) -> ({m})>" for m in maps)
        iterators = ", ".join('"parallel"' if c == "p" else '"reduction"' for c in loops)
        block = ", ".join([f"%{c}: {v[2]}" for c, v in zip("abcdefgh", inputs)] + [f"%old: {elem}"])
        self.line(f"{value[0]} = linalg.generic {{indexing_maps = [{spaces}], iterator_types = [{iterators}]}}")
        ins = f"ins({', '.join(v[0] for v in inputs)} : {', '.join(map(kind, inputs))}) " if inputs else ""
        self.line(f"    {ins}outs({onto[0]} : {kind(onto)}) {{")
        self.line(f"^bb0({block}):")
        for text in body.split(";"):
            self.line("  " + text.strip())
        self.line(f"  linalg.yield %r : {elem}")
        self.line(f"}} -> {kind(value)}")
        return value

    def product(self, x, w, transposed=False):
        """x [m, k] times w, [n, k] if transposed, else [k, n]."""
        shape = (x[1][0], w[1][0 if transposed else 1])
        onto = self.filled("0.0", shape)
        value = self.new(shape)
        space = "(i, j, k)"
        maps = ("indexing_maps = [" + ", ".join(f"affine_map<{space} -> ({r})>" for r in ("i, k", "j, k", "i, j")) + "] "
                if transposed else "")
        self.line(f"{value[0]} = linalg.matmul {maps}ins({x[0]}, {w[0]} : {kind(x)}, {kind(w)}) "
                  f"outs({onto[0]} : {kind(onto)}) -> {kind(value)}")
        return value

    def softmax(self, x, dimension):
        onto, value = self.empty(x[1]), self.new(x[1])
        self.line(f"{value[0]} = linalg.softmax dimension({dimension}) ins({x[0]} : {kind(x)}) "
                  f"outs({onto[0]} : {kind(onto)}) -> {kind(value)}")
        return value

    def reduce(self, x, dimension, op="arith.addf", start="0.0"):
        shape = x[1][:dimension] + x[1][dimension + 1:]
        onto, value = self.filled(start, shape), self.new(shape)
        self.line(f"{value[0]} = linalg.reduce {{ {op} }} ins({x[0]} : {kind(x)}) outs({onto[0]} : {kind(onto)}) "
                  f"dimensions = [{dimension}]")
        return value

    def text(self, *results):
        types = ", ".join(f'{kind(v)} {{ingot.name = "y{i}"}}' for i, v in enumerate(results))
        tail = f"  return {', '.join(v[0] for v in results)} : {', '.join(map(kind, results))}"
        return "\n".join([f"func.func @main({', '.join(self.arguments)}) -> ({types}) {{", *self.lines, tail, "}"]) + "\n"


def kind(value):
    return f"tensor<{''.join(f'{n}x' for n in value[1])}{value[2]}>" if value[1] else value[2]


def product(n=None, transposed=True, param=None):
    """x times a weight; stored as [n, k], as tiles of it are, or as [k, n]."""
    m, n = Module(), n or N
    x = m.argument(M, K)
    w = m.argument(*((n, K) if transposed else (K, n)), param=param)
    return m, m.product(x, w, transposed)


def add(m, a, b, map_b="i, j"):
    return m.generic(["i, j", map_b, "i, j"], [a, b], a[1], "%r = arith.addf %a, %b : f32")


def relu(m, a):
    zero = m.constant("0.0")
    return m.generic(["i, j", "i, j"], [a], a[1], f"%r = arith.maximumf %a, {zero[0]} : f32")


def scaled(m, a, factor="0.125"):
    number = m.constant(factor)
    return m.generic([", ".join("ijk"[:len(a[1])])] * 2, [a], a[1], f"%r = arith.mulf %a, {number[0]} : f32")


SUM_OF_PRODUCTS = "%s = arith.mulf %a, %b : f32; %r = arith.addf %s, %old : f32"


def causal(m, scores):
    """Keys up to the row's own number are seen."""
    return m.generic(["i, j, k"] * 2, [scores], scores[1],
                     "%row = linalg.index 1 : index; %key = linalg.index 2 : index;"
                     "%seen = arith.cmpi ule, %key, %row : index; %hidden = arith.constant 0xFF800000 : f32;"
                     "%r = arith.select %seen, %a, %hidden : f32")


def masked(where, shape, elem="f32"):
    """Numbers added to the scores or, of type i1, which of them are seen; read at `where` of heads i, rows j, keys k."""
    body = ("%r = arith.addf %a, %b : f32" if elem == "f32" else
            "%hidden = arith.constant 0xFF800000 : f32; %r = arith.select %b, %a, %hidden : f32")
    return lambda m, scores: m.generic(["i, j, k", where, "i, j, k"], [scores, m.argument(*shape, elem=elem)], scores[1],
                                       body)


def attention(heads=3, rows=11, keys=11, size=16, group=1, masks=(), axis=2, keep=False, key_head=None):
    """Queries, keys and values [heads, rows, size]; `group` heads of queries share one of keys and values."""
    m, shape = Module(), (heads, rows, keys)
    head = key_head or (f"i floordiv {group}" if group > 1 else "i")
    q = m.argument(heads, rows, size)
    k, v = [m.argument(-(-heads // group), keys, size) for _ in range(2)]
    x = m.generic(["i, j, l", f"{head}, k, l", "i, j, k"], [q, k], shape, SUM_OF_PRODUCTS, loops="pppr",
                  onto=m.filled("0.0", shape))
    x = scaled(m, x, "0.25")
    for mask in masks:
        x = mask(m, x)
    weights = m.softmax(x, axis)
    y = m.generic(["i, j, l", f"{head}, l, k", "i, j, k"], [weights, v], (heads, rows, size), SUM_OF_PRODUCTS,
                  loops="pppr", onto=m.filled("0.0", (heads, rows, size)))
    return m.text(y, weights) if keep else m.text(y)


# ---------------------------------------------------------------- compiling and running

def write_gguf(path, params):
    """F32 tensors: {name: (shape, values)}."""
    infos, data = b"", b""
    for name, (shape, values) in params.items():
        infos += struct.pack("<Q", len(name)) + name.encode() + struct.pack("<I", len(shape))
        infos += struct.pack(f"<{len(shape)}Q", *shape[::-1]) + struct.pack("<IQ", 0, len(data))
        data += array.array("f", values).tobytes()
        data += bytes(-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(params), 0) + infos
    with open(path, "wb") as file:
        file.write(head + bytes(-len(head) % 32) + data)


class Case:
    """A module in a folder of its own, with a rule; without one if the mode is None."""

    def __init__(self, folder, text, pattern, mode, extra=""):
        self.folder, self.text = folder, text
        self.recipe = os.path.join(folder, f"{pattern}-{mode}.yaml")
        self.artifact = os.path.join(folder, f"{pattern}-{mode}.ingot")
        self.params = re.findall(r"%(\w+): tensor<([\dx]+)xf32> \{ingot.param", text)
        with open(os.path.join(folder, "module.mlir"), "w", encoding="utf-8") as file:
            file.write(text)
        if self.params:
            values = {}
            for name, sizes in self.params:
                shape = [int(n) for n in sizes.split("x")]
                values[name] = (shape, random_values("f32", count(shape), random.Random(name)))
                write_npy(os.path.join(folder, name + ".npy"), "f32", *values[name])
            write_gguf(os.path.join(folder, "module.gguf"), values)
        with open(self.recipe, "w", encoding="utf-8") as file:
            file.write("version: 1\nmodel_name: m\n" + ("model: module.gguf\n" if self.params else "") +
                       "subgraph: {file: module.mlir}\n" +
                       (f"fusion_rules: [{{pattern: {pattern}, {(MODES | FORMS)[mode]}}}]\n" if mode else "") + extra)

    def built(self):
        """The artifact, for one CPU level."""
        if not os.path.exists(self.artifact):
            run_well("compile", self.recipe, "-o", self.artifact, "--cpu=x86-64-v3")
        return self.artifact

    def shape(self):
        """How many kernels run, one that runs twice counted twice; bytes of the arena."""
        plan = json.loads(run_well("inspect", self.built(), "--json"))
        (arena,) = [p["bytes"] for p in plan["memory"]["parts"] if p["name"] == "arena"]
        return sum(entry["num_steps"] for entry in plan["entries"]), arena

    def program(self):
        """Kernels and calls as text, without the rules."""
        dumps = self.recipe + ".d"
        run_well("compile", self.recipe, "--dry-run", "--dump-ir-after=dedupe", f"--dump-dir={dumps}")
        (name,) = os.listdir(dumps)
        with open(os.path.join(dumps, name), encoding="utf-8") as file:
            return re.sub(r", ingot\.(rules|fusion) = \[\{.*?\}\]", "", file.read())

    def record(self):
        return json.loads(run_well("explain", self.built(), "--json"))

    def rule(self):
        """What the record says of the rule."""
        (rule,) = [r for r in self.record()["rules"] if self.recipe.startswith(f"{self.folder}/{r['pattern']}-")]
        return rule

    def refused(self, *words):
        done = run("compile", self.recipe, "-o", self.artifact)
        expect_exit(done, 1)
        message = done.stderr.decode()
        line = 4 + bool(self.params)
        for word in ("P0061", f"{os.path.basename(self.recipe)}:{line}:", *words):
            expect(word in message, f"'{word}' is not in: {message[:900]}")
        expect(not os.path.exists(self.artifact), "something was written")

    def answers(self, bound=BOUND, given=None):
        """Machine code against the interpreter, for one and two threads, on random inputs or, by name, those given."""
        arguments, results = signature(self.built())
        inputs = []
        for argument in arguments:
            path = os.path.join(self.folder, argument["name"] + ".npy")
            values = (given or {}).get(argument["name"]) or random_values(
                argument["type"], count(argument["shape"]), random.Random(argument["name"]))
            write_npy(path, argument["type"], argument["shape"], values)
            inputs += ["--input", f"{argument['name']}={path}"]
        want, wanted = outputs(self.folder, results, "interpreted", "--result")
        weights = [t for name, _ in self.params for t in ("--input", f"{name}={self.folder}/{name}.npy")]
        run_well("opt", os.path.join(self.folder, "module.mlir"), "--run", *inputs, *weights, *want)
        for threads in (1, 2):
            got, paths = outputs(self.folder, results, "compiled")
            run_well("run", self.artifact, *inputs, *got, f"--threads={threads}")
            for result, ours, theirs in zip(results, paths, wanted):
                compare_codes(ours, theirs) if result["type"] == "i8" else compare(result["name"], ours, theirs, bound)


def quantised(m, y):
    """The rows of y as codes of 8 bits, and their largest magnitudes."""
    most = m.generic(["i, j", "i"], [y], (M,), "%s = math.absf %a : f32; %r = arith.maximumf %s, %old : f32",
                     loops="pr", onto=m.filled("0.0", (M,)))
    codes = m.generic(["i, j", "i", "i, j"], [y, most], (M, K),
                      "%k = arith.constant 127.0 : f32; %z = arith.constant 1.0e-9 : f32; %m = arith.maximumf %b, %z : f32;"
                      "%d = arith.divf %k, %m : f32; %p = arith.mulf %a, %d : f32; %o = math.roundeven %p : f32;"
                      "%r = arith.fptosi %o : f32 to i8", elem="i8")
    return codes, most


def compare_codes(ours, theirs):
    """A number that is off by its last bits is rounded to a neighbour at most."""
    (_, shape, a), (_, other, b) = [read_npy(path) for path in (ours, theirs)]
    expect(shape == other, f"{shape} and {other}")
    worst = max(abs(x - y) for x, y in zip(a, b))
    expect(worst <= 1, f"codes differ by {worst}")
