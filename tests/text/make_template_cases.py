#!/usr/bin/env python3
"""Writes template_cases.json: small templates, their variables, and what Jinja 3.1 with the settings of
Hugging Face transformers renders. Needs python3-jinja2. Cases that Jinja refuses are kept as such.

    python3 tests/text/make_template_cases.py > tests/text/template_cases.json
"""
import json
import sys

from jinja2 import nodes
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("body"), [], [], body).set_lineno(line)

    def body(self, caller):
        return caller()


def raise_exception(message):
    raise RuntimeError(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                      sort_keys=sort_keys)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    return env


VARIABLES = {
    "s": "Hello, World", "e": "", "n": 7, "neg": -7, "f": 2.5, "t": True, "z": None,
    "l": [3, 1, 2], "w": ["b", "A", "c"], "d": {"b": 2, "a": 1}, "u": "Grüße 🐕 日本", "ws": " \t x \n",
    "rows": [{"k": "x", "v": 1}, {"k": "y", "v": 2}, {"k": "x", "v": 3}],
    "deep": {"a": {"b": [1, {"c": "q\"'\\\n<&>"}]}}, "quote": "it's", "both": "it's \"x\"",
}

# Blanks around tags.
BLANKS = [
    "a\n{% if t %}\nb\n{% endif %}\nc\n", "  {% if t %}x{% endif %}  ", "\n  {% if t %}\n  y\n  {% endif %}\n",
    "a {%- if t -%} b {%- endif -%} c", "a  {{- s -}}  b", "a\n\n{{- s -}}\n\nb", "{%+ if t %}\nx{% endif %}",
    "  {%+ if t +%}\n  x\n{% endif %}", "{# c #}\nx", "a {#- c -#} b", "  {# c #}\nx", "x{# a\nb #}y",
    "{% raw %}{{ s }}{% if %}{% endraw %}|", "a\n  {% raw -%}  x {%- endraw %}\nb", "x\n", "x\n\n", "\n", "",
    "a\r\nb\rc", "{{ s }}\n{{ s }}\n", "{% if t %} {% endif %}|", "{{ '{%' }}", "{{ \"}}\" }}", "{ { s } }",
    "{% for i in l %}\n  {{ i }}\n{% endfor %}\n.", "{% for i in l -%}\n  {{ i }}\n{%- endfor %}\n.",
    "{%- set x = 1 %}\n{{ x }}", "   {%- set x = 1 -%}   \n\n {{ x }}", "\t{% set x = 1 %}\n{{ x }}",
    "a{% set x = 1 %}\nb", "\u00a0{%- if t %}x{% endif %}", "{{ {'a': {'b': 1}} }}", "{{ {'a': 1}['a'] }}",
]
EXPRESSIONS = [
    "1 + 2 * 3", "(1 + 2) * 3", "7 // 2", "neg // 2", "7 % 3", "neg % 3", "7 / 2", "8 / 2", "2 ** 10",
    "2 ** -1", "-2 ** 2", "- n", "+ n", "-n + 1", "1 - -1", "f * 2", "f // 1", "-f % 2", "1e3", "1.5e-7",
    "0.1 + 0.2", "1e16", "123456789.123", "1_000", "10 / 3", "1 == 1.0", "true == 1", "none == none",
    "1 < 2 < 3", "1 < 2 > 3", "'a' < 'b'", "'b' < 'a'", "[1, 2] < [1, 3]", "[1] == (1,)", "n > f",
    "n in l", "3 in l", "3 not in l", "'ell' in s", "'x' not in s", "'a' in d", "none in [none]",
    "'' in s", "t and n", "e or s", "z or e or 0", "not e", "not t and t", "not (t and e)", "n if t else 0",
    "n if e else 0", "n if e", "1 if e else 2 if e else 3", "s ~ n ~ z ~ t ~ f", "s + '!'", "s * 2", "2 * e",
    "'ab' * 3", "[1] * 2 + [2]", "(1, 2) + (3,)", "()", "(1,)", "[1, 'a', none, true, 2.0]", "d", "rows[0]",
    "s[0]", "s[-1]", "s[100]", "s[1:4]", "s[::-1]", "s[-5:]", "s[:-1]", "s[::2]", "s[10:2:-3]", "l[1:]",
    "l[::-1]", "l[-1]", "l[5] is defined", "u[6]", "u[::-1]", "u[7:]", "rows[-1].v", "rows[-1]['v']",
    "rows.0.k", "d.a", "d['a']", "d.missing", "d['missing'] is defined", "deep.a.b[1].c", "missing",
    "missing is defined", "missing is undefined", "missing | default('x')", "e | default('x')",
    "e | default('x', true)", "z | default('x')", "z | d('x', boolean=True)", "'a' 'b'", "\"a\\n\\t\\\"b\"",
    "'\\x41\\u00e9\\U0001F600\\101\\q'", "'it\\'s'", "true", "True", "none", "None", "false",
    "z is none", "n is number", "f is float", "n is integer", "t is boolean", "t is integer", "s is string",
    "d is mapping", "l is sequence", "s is sequence", "d is sequence", "l is iterable", "n is iterable",
    "n is odd", "n is even", "n is divisibleby 7", "n is divisibleby(2)", "s is not none", "not s is none",
    "n is eq 7", "n is equalto(7)", "n is ne 7", "n is gt 3", "n is lessthan 3", "n is in l", "3 is in l",
    "t is true", "t is false", "'AB' is upper", "'ab' is lower", "missing is iterable", "z is sequence",
    "s is callable", "range is callable", "n is ge(7) and n is le(7)",
    "s | upper", "s | lower", "u | upper", "'straße' | upper", "'hello wORLD' | capitalize",
    "'hello-world (foo) it\\'s x' | title", "ws | trim", "'xxaxx' | trim('x')", "s | length", "u | length",
    "l | length", "d | length", "missing | length", "d | count", "l | join(', ')", "l | join", "s | join('-')",
    "rows | join(',', attribute='k')", "w | join", "l | first", "l | last", "[] | first", "s | first", "s | last",
    "l | list", "s | list", "d | list", "l | sort", "w | sort", "w | sort(case_sensitive=true)",
    "l | sort(reverse=true)", "rows | sort(attribute='v', reverse=true) | map(attribute='v') | list",
    "l | reverse | list", "s | reverse", "l | min", "l | max", "w | max", "l | sum", "rows | sum(attribute='v')",
    "[] | sum", "[1.5, 2] | sum", "l | unique | list", "['a', 'A', 'b'] | unique | list",
    "rows | map(attribute='k') | unique | join", "d | dictsort", "d | dictsort(by='value', reverse=true)",
    "d | items | list", "d.items() | list", "d.keys() | list", "d.values() | list", "d.get('a')", "d.get('x')",
    "d.get('x', 5)", "l | map('string') | join", "w | map('upper') | list", "rows | map(attribute='q', default=0) | list",
    "l | select('odd') | list", "l | reject('odd') | list", "[0, 1, '', 'a'] | select | list",
    "rows | selectattr('k', 'equalto', 'x') | map(attribute='v') | list", "rows | selectattr('k') | list | length",
    "rows | rejectattr('k', 'eq', 'x') | list", "rows | selectattr('v', 'gt', 1) | map(attribute='v') | list",
    "z | select | list", "'5' | int", "'5.7' | int", "'x' | int", "'x' | int(3)", "'ff' | int(0, 16)", "f | int",
    "'1.5' | float", "'x' | float(2.0)", "n | float", "-3 | abs", "neg | abs", "n | string", "z | string",
    "s | replace('l', 'L')", "s | replace('l', 'L', 1)", "'aaa' | replace('', '-')", "s | safe",
    "'a\\nb\\n\\nc' | indent", "'a\\nb' | indent(2, true)", "'a\\n\\nb' | indent(2, blank=true)", "'a\\nb' | indent('> ')",
    "d | tojson", "l | tojson", "deep | tojson", "u | tojson", "u | tojson(ensure_ascii=true)", "f | tojson",
    "z | tojson", "deep | tojson(indent=2)", "d | tojson(indent=4, sort_keys=true)",
    "d | tojson(separators=(',', ':'))", "[] | tojson(indent=2)", "{} | tojson", "s | tojson", "t | tojson",
    "{1: 2, none: 3, true: 4} | tojson", "(1, 2) | tojson", "'\\u2028\\x7f\\x01' | tojson",
    "s.upper()", "s.lower()", "s.title()", "'hello WORLD it\\'s'.title()", "s.capitalize()", "ws.strip()", "ws.lstrip()", "ws.rstrip()",
    "s.strip('Hd')", "s.split(', ')", "s.split()", "' a  b '.split()", "' a  b c '.split(none, 1)", "'a,b,c'.split(',', 1)",
    "'a,b,c'.rsplit(',', 1)", "'a,b,,c'.split(',')", "s.startswith('He')", "s.endswith(('x', 'ld'))", "s.replace('o', '0')",
    "s.replace('o', '0', 1)", "s.find('o')", "s.rfind('o')", "u.find('🐕')", "s.count('l')", "','.join(w)", "s.index('W')",
    "'a\\nb\\r\\nc\\n'.splitlines()", "'12'.isdigit()", "'a1'.isalpha()", "'a1'.isalnum()", "' '.isspace()", "'AB'.isupper()",
    "'prefix'.removeprefix('pre')", "'suffix'.removesuffix('fix')", "'{} {}'.format(1, 'a')", "'{1} {0} {x} {{}}'.format(1, 2, x=3)",
    "l.index(2)", "l.count(1)", "(s | trim).split(',')[0]", "(ws | trim) | upper", "s | upper | lower | length",
    "quote", "[quote, both, 'a\\nb', '\\u200b']", "{'k': [quote]}", "range(3) | list", "range(1, 7, 2) | list", "range(3, 0, -1) | list",
    "dict(a=1, b=2)", "namespace(a=1).a", "1 if missing else 2", "missing ~ 'x'", "missing == missing", "'x' in missing",
    "[1, 2,]", "{'a': 1,}", "(1 if t else 2) + 1", "n is number and s is string", "s is string or missing.x",
    "l | map('abs') | sum", "true + 1", "-t", "f | string", "1e22", "1e-5", "0.0001", "3.0", "-0.0", "1e15", "12345678901234567.0",
    "s | safe + '<&>\\'\"'", "'<' + (s | safe) + '>'", "('<' | safe) ~ '<'", "('<b>' | safe).upper() + '<'", "('<' | safe) * 2 + '<'",
    "('<a>' | safe)[1:] + '<'", "('<' | safe | string) + '<'", "[('<' | safe), '<'] | join + '<'", "('<' | safe).strip() + '&'", "('a<b' | safe).split('<')[0] + '<'",
    # Errors.
    "missing.x", "missing + 1", "1 + 'a'", "1 / 0", "1 % 0", "s + 1", "missing()", "n()", "none.x.y", "1 < 'a'", "n in 5", "1 in s",
    "[1, 'a'] | sort", "missing | tojson", "n | length", "s.split('')", "d.a.b.c", "raise_exception('no')", "l[0:1:0]",
    "range(1, 2, 0) | list", "{[1]: 2}", "n | dictsort", "s.index('zz')",
]
STATEMENTS = [
    "{% if e %}a{% elif n == 7 %}b{% else %}c{% endif %}", "{% if e %}a{% elif z %}b{% else %}c{% endif %}",
    "{% for i in l %}{{ loop.index }}{{ loop.index0 }}{{ loop.first }}{{ loop.last }}{{ loop.length }}{{ loop.revindex }}{{ loop.revindex0 }} {% endfor %}",
    "{% for i in l %}{{ loop.previtem }}<{{ i }}>{{ loop.nextitem }};{% endfor %}", "{% for i in [] %}x{% else %}none{% endfor %}",
    "{% for k, v in d.items() %}{{ k }}={{ v }} {% endfor %}", "{% for k, v in d | dictsort %}{{ k }}={{ v }} {% endfor %}",
    "{% for r in rows if r.k == 'x' %}{{ loop.index }}/{{ loop.length }}:{{ r.v }} {% else %}-{% endfor %}",
    "{% for r in rows if r.k == 'q' %}x{% else %}-{% endfor %}", "{% for c in 'abc' %}{{ c }}.{% endfor %}", "{% for k in d %}{{ k }}{% endfor %}",
    "{% for i in l %}{% for j in w %}{{ loop.depth }}{{ i }}{{ j }}{% endfor %};{% endfor %}", "{% for i in range(10) %}{% if i == 3 %}{% break %}{% endif %}{{ i }}{% endfor %}|",
    "{% for i in range(6) %}{% if i % 2 %}{% continue %}{% endif %}{{ i }}{% endfor %}|", "{% for i in l %}{{ loop.cycle('a', 'b') }}{% endfor %}",
    "{% for i in [1, 1, 2] %}{{ loop.changed(i) }}{% endfor %}", "{% set x = 1 %}{% for i in l %}{% set x = i %}{{ x }}{% endfor %}{{ x }}",
    "{% set x = 1 %}{% if t %}{% set x = 2 %}{% endif %}{{ x }}", "{% set ns = namespace(c=0) %}{% for i in l %}{% set ns.c = ns.c + i %}{% endfor %}{{ ns.c }}",
    "{% set a, b = (1, 2) %}{{ a }}{{ b }}", "{% set x %}a{{ n }}b{% endset %}[{{ x }}]", "{% set x | upper %}abc{% endset %}[{{ x }}]",
    "{% set x | replace('a', 'b') | upper %}abc{% endset %}[{{ x }}]", "{% macro m(a, b=2) %}{{ a }}-{{ b }};{% endmacro %}{{ m(1) }}{{ m(1, 3) }}{{ m(b=5, a=4) }}{{ m() }}",
    "{% macro f(x) %}{% if x > 0 %}{{ x }}{{ f(x - 1) }}{% endif %}{% endmacro %}{{ f(3) }}", "{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in {{ n }}{% endcall %}",
    "{% macro m() %}{% for i in [1, 2] %}{{ caller(i) }}{% endfor %}{% endmacro %}{% call(x) m() %}<{{ x }}>{% endcall %}", "{% macro m(x) %}{{ x | upper }}{% endmacro %}{{ m('a') ~ 'b' }}",
    "{% filter upper %}abc {{ n }}{% endfilter %}", "{% filter replace('a', 'x') | upper %}abc{% endfilter %}", "{% generation %}g{{ n }}{% endgeneration %}",
    "{% set q = 1 %}{% generation %}{% set q = 2 %}{{ q }}{% endgeneration %}{{ q }}", "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a }}",
    "{% set g = 5 %}{% macro m() %}{{ g }}{% endmacro %}{{ m() }}", "{% macro m() %}{{ late }}{% endmacro %}{% set late = 3 %}{{ m() }}",
    "{% for i in l %}{% set inner = i %}{% endfor %}{{ inner is defined }}", "{% for i in l %}{% if loop.first %}{% set s = 'x' %}{% endif %}{{ s }} {% endfor %}",
    "{% set a = [1] %}{% set a = a + [2] %}{{ a }}", "{% set ns = namespace() %}{% set ns.x = 'v' %}{{ ns.x }}{{ ns.y is defined }}", "{{ 1, 2 }}", "{% if t and not e %}y{% endif %}",
    "{% for (a, b) in [(1, 2), (3, 4)] %}{{ a }}{{ b }} {% endfor %}", "{% for x in l, w %}{{ x }}{% endfor %}", "{% set x = 1, 2 %}{{ x }}", "{% for i in missing %}x{% else %}e{% endfor %}",
    "{% set d.x = 1 %}", "{% for a, b in [1] %}{% endfor %}", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", "{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", "{{ raise_exception('Roles must ' ~ 'alternate') }}",
    "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% else %}{% set loop_messages = messages %}{% endif %}{% for m in loop_messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] | trim + '<|end|>\n' }}{% endfor %}",
    # Refused when parsed.
    "{% if x %}", "{% for x %}{% endfor %}", "{{ x", "{% endif %}", "{{ 1 + }}", "{{ (1 }}", "{{ 'a }}", "{% set %}", "{% if t %}{% else %}{% elif t %}{% endif %}", "{{ a b }}", "{# x", "{{ x[ }}", "{% macro %}{% endmacro %}",
    "{{ 1 is }}", "{{ x | }}", "{{ x. }}", "{{ f(a=1, 2) }}", "{% raw %}x", "{{ ) }}", "{{ 1 $ 2 }}", "{{ x | nosuch }}", "{{ x is nosuch }}", "{% break %}", "{% nosuch %}",
]


def main():
    env = environment()
    messages = [{"role": "system", "content": " sys <|end|> "}, {"role": "user", "content": "hi\n"}]
    cases = []
    for template in BLANKS + ["{{ " + e + " }}" for e in EXPRESSIONS] + STATEMENTS:
        try:
            parsed = env.from_string(template)
        except Exception:
            cases.append({"template": template, "refused": "parse"})
            continue
        try:
            cases.append({"template": template, "output": parsed.render(**VARIABLES, messages=messages)})
        except Exception:
            cases.append({"template": template, "refused": "render"})
    json.dump({"variables": dict(VARIABLES, messages=messages), "cases": cases}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
