#!/usr/bin/env python3
"""Installs Ingot into a fresh folder and builds examples/generate.c against that copy alone, with
pkg-config, as C and as C++; then runs it. An artifact to run may be given by INGOT_ARTIFACT."""
import os
import subprocess
import sys
import tempfile

ROOT = os.environ["INGOT_SOURCE_DIR"]
BUILD = os.path.dirname(os.path.abspath(sys.argv[1]))
failures = 0


def check(name, is_good, detail=""):
    global failures
    print(f"ok {name}" if is_good else f"not ok {name}: {detail}")
    failures += not is_good


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def find(folder, name):
    for where, _, names in os.walk(folder):
        if name in names:
            return where
    return None


def main():
    with tempfile.TemporaryDirectory() as prefix:
        # A build with a sanitizer cannot be linked into a plain program.
        options = run("meson", "introspect", "--buildoptions", BUILD).stdout
        if '"name": "b_sanitize", "value": "none"' not in options:
            print("skip install: the build has a sanitizer in it")
            return 0
        installed = run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", prefix)
        check("install", installed.returncode == 0, installed.stdout[-500:] + installed.stderr[-500:])
        pc_folder, lib_folder = find(prefix, "ingot.pc"), find(prefix, "libingot.so")
        check("files", bool(pc_folder and lib_folder and find(prefix, "ingot.h")))
        if not pc_folder or not lib_folder:
            return 1
        env = dict(os.environ, PKG_CONFIG_PATH=pc_folder, PKG_CONFIG_SYSROOT_DIR=prefix,
                   LD_LIBRARY_PATH=lib_folder)
        flags = run("pkg-config", "--cflags", "--libs", "ingot", env=env)
        check("pkg-config", flags.returncode == 0, flags.stderr)
        source = os.path.join(ROOT, "examples", "generate.c")
        program = os.path.join(prefix, "generate")
        built = run("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", source, *flags.stdout.split(),
                    "-o", program)
        check("build the example", built.returncode == 0, built.stderr[-800:])
        cxx = run("c++", "-x", "c++", "-Wall", "-Wextra", "-Werror", "-fsyntax-only",
                  *flags.stdout.split(), "-", input="#include <ingot.h>\nint main() { return 0; }\n")
        check("the header is C++ too", cxx.returncode == 0, cxx.stderr[-800:])
        if built.returncode:
            return 1
        usage = run(program, env=env)
        check("usage", usage.returncode == 2 and "usage:" in usage.stderr, usage.stderr)
        missing = run(program, "/nonexistent.ingot", "x", "1", env=env)
        check("a missing file is exit 6 with a code",
              missing.returncode == 6 and "U0002" in missing.stderr, missing.stderr)
        artifact = os.environ.get("INGOT_ARTIFACT")
        if artifact:
            answer = run(program, artifact, "The capital of France is", "8", env=env)
            check("answer", answer.returncode == 0 and len(answer.stdout) > 8, answer.stderr)
        else:
            print("skip answer: INGOT_ARTIFACT is not set")
        leftover = run("nm", "-D", "--defined-only", os.path.join(lib_folder, "libingot.so"))
        names = [line.split()[-1] for line in leftover.stdout.splitlines()]
        check("only the public interface is exported",
              names and all(name.startswith("ingot_") for name in names), str(names))
        needed = run("readelf", "-d", os.path.join(lib_folder, "libingot.so")).stdout
        check("no compiler in the library", "LLVM" not in needed and "yaml" not in needed, needed)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
