#!/usr/bin/env python3
"""Turns text files into C: embed.py PREFIX OUT.c FILE... (or a folder: its *.yaml and *.mlir) writes `const char PREFIX_STEM[]` for each FILE
and the table `const EmbeddedFile PREFIX_files[]` (src/base/embedded.h). Same input, same bytes."""
import os, re, sys


def literal(line):
    body = ''.join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else f'\\{b:03o}' for b in line)
    return f'    "{body}"'


def main():
    prefix, out, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    if len(files) == 1 and os.path.isdir(files[0]):
        files = [os.path.join(files[0], name) for name in os.listdir(files[0]) if name.endswith(('.yaml', '.mlir'))]
    files.sort(key=os.path.basename)
    text = ['// Made by tools/embed.py from data files; do not edit.', '#include "base/embedded.h"', '']
    rows = []
    for path in files:
        data = open(path, 'rb').read()
        if b'\0' in data:
            sys.exit(f'{path}: a NUL byte in a text file')
        name = os.path.basename(path)
        symbol = prefix + '_' + re.sub(r'\W', '_', os.path.splitext(name)[0])
        text += [f'extern const char {symbol}[];', f'const char {symbol}[] =']
        text += [literal(line) for line in data.splitlines(keepends=True)] or ['    ""']
        text[-1] += ';'
        rows.append(f'    {{"{name}", {symbol}, sizeof {symbol} - 1}},')
    text += ['', f'extern const EmbeddedFile {prefix}_files[];', f'const EmbeddedFile {prefix}_files[] = {{']
    text += rows + ['    {0},', '};', '']
    text = '\n'.join(text)
    if os.path.exists(out) and open(out).read() == text:
        return  # nothing to build again
    with open(out, 'w') as f:
        f.write(text)


if __name__ == '__main__':
    main()
