#!/usr/bin/env python3
"""Modules made to take all memory or time: what they take follows from their size, or they are refused with a
code. Memory is bounded by the kernel (RLIMIT_AS); the time limit is there for what would hang."""
import json
import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from support import TINY_RECIPE, expect, expect_exit, main, run, run_well, scratch
from tiny_model import make_model

KEPT = scratch()
T = "tensor<4xf32>"
SANITIZED = "sanitize" in json.loads(run("version", "--json").stdout)["build_mode"]


def bounded():
    if not SANITIZED:  # which needs the address space
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def compiled(text, *options):
    path = os.path.join(KEPT.name, "m.mlir")
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return run("compile", path, "--dry-run", *options, timeout=300, preexec_fn=bounded)


def refused(text, code, exit_code, *words):
    done = compiled(text)
    said = done.stderr.decode()
    expect_exit(done, exit_code)
    expect(f"error[{code}]" in said and all(word in said for word in words), said)


def accepted(text):
    expect_exit(compiled(text), 0)


def main_function(body, result, type_=T, arguments=None):
    return (f"func.func @main({arguments or f'%x: {type_}'}) -> {type_} {{\n{body}  return {result} : {type_}\n}}\n")


def generic(name, ins, type_=T, body="math.exp %p : f32"):
    """An elementwise op of one input."""
    dims = ", ".join(f"d{i}" for i in range(type_.count("x")))
    same = f"affine_map<({dims}) -> ({dims})>"
    loops = ", ".join(['"parallel"'] * type_.count("x"))
    return (f"  {name} = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{loops}]}} "
            f"ins({ins} : {type_}) outs(%x : {type_}) {{\n  ^bb0(%p: f32, %o: f32):\n    %f = {body}\n"
            f"    linalg.yield %f : f32\n  }} -> {type_}\n")


def call(name, callee, value):
    return f"  {name} = func.call @{callee}({value}) : ({T}) -> {T}\n"


def private(name, body, result):
    return f"func.func private @{name}(%x: {T}) -> {T} {{\n{body}  return {result} : {T}\n}}\n"


def fan_out(depth, calls):
    """Functions that each call the next so many times."""
    text = [main_function(call("%r", "f0", "%x"), "%r")]
    for i in range(depth):
        body, last = "", "%x"
        for k in range(calls):
            body += call(f"%r{k}", f"f{i + 1}", last)
            last = f"%r{k}"
        text.append(private(f"f{i}", body, last))
    return "".join(text) + private(f"f{depth}", generic("%r", "%x"), "%r")


def check_calls_that_double():
    refused(fan_out(27, 2), "P0014", 4, "@main", "939524095 operations", "at most 1048576", "calls @f0 1 time",
            "scf.for")
    refused(fan_out(300, 2), "P0014", 4, "more than")  # more than 64 bits count
    accepted(fan_out(8, 2))


def check_calls_in_a_chain():
    accepted(fan_out(3000, 1))


def check_functions_that_call_themselves():
    loop = private("a", call("%r", "b", "%x"), "%r") + private("b", call("%r", "a", "%x"), "%r")
    done = compiled(main_function(call("%r", "a", "%x"), "%r") + loop)
    expect(done.returncode == 3 and b"error[" in done.stderr, done.stderr)
    once = private("a", call("%r", "a", "%x"), "%r")
    refused(main_function(call("%r", "a", "%x"), "%r") + once, "P0005", 3, "calls itself")


def check_functions_that_nothing_calls():
    text = main_function(generic("%r", "%x"), "%r")
    for i in range(3000):
        text += private(f"f{i}", call("%r", f"f{i + 1}", "%x"), "%r")
    accepted(text + private("f3000", "", "%x"))


def check_ops_in_a_row():
    body, last = "", "%x"
    for i in range(3000):
        body += generic(f"%r{i}", last)
        last = f"%r{i}"
    accepted(main_function(body, last))


def check_scalars_that_double():
    """A walk along operands that does not see where it has been takes 2^2000 steps."""
    body, last = "", "%x"
    for i in range(2000):
        body += f"  %s{i} = arith.addf {last}, {last} : f32\n"
        last = f"%s{i}"
    accepted(main_function(body, last, "f32"))


def check_kernels_in_a_row():
    matrix = "tensor<4x4xf32>"
    def text(num):
        body, last = "", "%x"
        for i in range(num):
            body += (f"  %r{i} = linalg.matmul ins({last}, %x : {matrix}, {matrix}) outs(%x : {matrix}) -> "
                     f"{matrix}\n")
            last = f"%r{i}"
        return main_function(body, last, matrix)
    accepted(text(1500))
    inserts, last = "", "%b"
    many = "tensor<5000xf32>"
    for i in range(5000):
        inserts += f"  %r{i} = tensor.insert_slice %x into {last}[{i}] [1] [1] : tensor<1xf32> into {many}\n"
        last = f"%r{i}"
    refused(main_function(inserts, last, many, f"%x: tensor<1xf32>, %b: {many}"), "P0014", 4, "4096 kernels",
            "@main")


def check_arithmetic_that_every_kernel_copies():
    many = "tensor<2000xf32>"
    body, last = "", "%s"
    for i in range(1000):
        body += f"  %s{i} = arith.addf {last}, {last} : f32\n"
        last = f"%s{i}"
    into = "%b"
    for i in range(2000):
        body += f"  %c{i} = arith.constant {i} : index\n  %t{i} = tensor.insert {last} into {into}[%c{i}] : {many}\n"
        into = f"%t{i}"
    refused(main_function(body, into, many, f"%s: f32, %b: {many}"), "P0014", 4, "1048576 operations")


def check_arguments_results_and_constants():
    arguments = ", ".join(f"%x{i}: {T}" for i in range(5000)) + f", %x: {T}"
    accepted(main_function("", "%x", arguments=arguments))
    accepted(main_function("", "%x", arguments=arguments.replace(T, "f32", 5000)))
    body, last = "", "%x"
    for i in range(3000):
        body += f"  %c{i} = arith.constant dense<[{i}.0, 1.0, 2.0, 3.0]> : {T}\n"
        body += generic(f"%r{i}", last)
        last = f"%c{i}" if i % 2 else f"%r{i}"
    done = compiled(main_function(body, last))
    expect(done.returncode in (0, 3), done.stderr.decode())


def check_sizes():
    large = "tensor<1099511627776xf32>"  # more than an artifact could hold: refused here, not where it is opened
    refused(main_function(generic("%r", "%x", large), "%r", large), "P0007", 3, "1099511627776 pieces", "smaller first size")
    splat = "tensor<268435456xf32>"
    accepted(main_function(f"  %c = arith.constant dense<1.5> : {splat}\n" + generic("%r", "%c", splat), "%r", splat))
    refused(main_function(generic("%r", "%x", "tensor<2305843009213693952xf32>"), "%r",
                          "tensor<2305843009213693952xf32>"), "I0011", 3, "2^48")
    refused(main_function("", "%x", "tensor<" + "1x" * 30 + "f32>"), "I0011", 3, "16 dimensions")


def check_nesting():
    loops = "".join(f"scf.for %i{i} = %c to %c step %c {{\n" for i in range(10000)) + "}\n" * 10000
    refused(main_function("  %c = arith.constant 1 : index\n" + loops, "%x"), "I0011", 3, "nesting deeper")


def check_names_of_files():
    """Any bytes that a file system takes: the IR names a module's file, and reads what it wrote of it; it does not name
    a model's."""
    make_model(os.path.join(KEPT.name, "m.gguf"), layers=1)
    recipe, module = os.path.join(KEPT.name, "r.yaml"), os.path.join(KEPT.name, "m.mlir")
    with open(recipe, "w", encoding="utf-8") as out:
        out.write(TINY_RECIPE)
    with open(module, "w", encoding="utf-8") as out:
        out.write("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n")

    def dump_of(*arguments):
        run_well("compile", *arguments, "--dry-run", "--dump-ir-after=bind-recipe", f"--dump-dir={KEPT.name}/ir")
        (dump,) = os.listdir(os.path.join(KEPT.name, "ir"))
        path = os.path.join(KEPT.name, "ir", dump)
        expect_exit(run("opt", path), 0)
        with open(path, encoding="utf-8") as file:
            return file.read()

    for name, written in (("a\tb", "a\\09b"), ("a\nb", "a\\0Ab"), ('a"b', "a\\22b"), ("a\\b", "a\\\\b"), ("a\\u0041", "a\\\\u0041"),
                          ("\u00e9\x7f", "\\C3\\A9\\7F"), (os.fsdecode(b"a\xffb"), "a\\FFb")):
        for source, arguments in ((module, []), (os.path.join(KEPT.name, "m.gguf"), [recipe, "--model"])):
            named = os.path.join(KEPT.name, name + os.path.splitext(source)[1])
            os.link(source, named)
            found = f'{written}.mlir":' in dump_of(*arguments, named)
            expect(found == (source == module), f"{name!r}: not as IR text escapes it")


if __name__ == "__main__":
    main(globals())
