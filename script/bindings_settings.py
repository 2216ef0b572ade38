"""What the bindings know of the settings of methods, made from the list of methods of the program: a function for each method in Python and
in R, with the names, types and defaults of its settings as its signature. script/docs --reference writes the files."""
import keyword
import textwrap

NOTICE = "Written by script/docs --reference from the program's tables. Change the tables, not this file."
R_RESERVED = {"if", "else", "repeat", "while", "function", "for", "next", "break", "TRUE", "FALSE", "NULL", "Inf", "NaN", "NA", "in"}
WIDTH = 140


def name_of(text):
    """A name of a method or of a setting as Python and R write it."""
    plain = text.replace("-", "_")
    return plain + "_" if keyword.iskeyword(plain) or plain in R_RESERVED else plain


def with_settings(methods):
    return [method for method in methods if method["parameters"]]


def filled(first, rest, words, last, width=WIDTH):
    """Words after `first`, comma-separated, broken into lines that go on below `rest`."""
    lines, line = [], first
    for place, word in enumerate(words):
        word += last if place == len(words) - 1 else ","
        if len(line) + 1 + len(word) > width:
            lines.append(line)
            line = rest + word
        else:
            line += ("" if line.endswith("(") or line == rest else " ") + word
    return [*lines, line]


def number(value):
    return f"{value:.15g}" if value != int(value) or abs(value) >= 1e15 else str(int(value))


def wrapped(text, indent):
    return textwrap.wrap(" ".join(text.split()), WIDTH - 4, initial_indent=indent, subsequent_indent=indent, break_long_words=False,
                         break_on_hyphens=False)


def range_of(one):
    if one["type"] not in ("number", "count"):
        return ""
    low, high = (number(float(bound)) for bound in one["range"])
    return f" From {low} to {high}."


# ---- Python ----

def python_type(one):
    return {"number": "float", "count": "int", "text": "Text"}.get(one["type"]) or "Literal[" + ", ".join(f'"{word}"' for word in one["choices"]) + "]"


def python_default(one):
    return f'"{one["default"]}"' if one["type"] in ("choice", "text") else number(one["default"]) if one["type"] == "count" else repr(float(one["default"]))


def python_function(method):
    signature = ["*", *(f"{name_of(one['name'])}: {python_type(one)} = {python_default(one)}" for one in method["parameters"])]
    start = f"def {name_of(method['name'])}("
    lines = filled(start, " " * len(start), signature, ") -> dict[str, Any]:")
    lines += wrapped(f'"""Settings of method {method["name"]}: {method["title"]}.', "    ") + [""]
    for one in method["parameters"]:
        lines += [f"    {name_of(one['name'])}", *wrapped(one["help"] + "." + range_of(one), " " * 8)]
    lines += ['    """']
    pairs = [f'"{one["name"]}": {name_of(one["name"])}' for one in method["parameters"]]
    lines += filled(f"    return _changed({name_of(method['name'])}, {{", " " * 8, pairs, "})")
    return "\n".join(lines).replace("{ ", "{")


def python_module(methods):
    chosen = with_settings(methods)
    head = f'''"""The settings of each method as the arguments of a function, with their types and defaults.

What a function returns is `settings` for :func:`tacit.fit`, :func:`tacit.simulate`, :func:`tacit.explain` and :func:`tacit.audit`:
those that differ from the defaults. {NOTICE}

>>> import tacit
>>> tacit.settings.plr(loss="huber", width=0.25)
{{'loss': 'huber', 'width': 0.25}}
>>> tacit.settings.plr()
{{}}
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Union

Text = Union[str, float, Sequence[Any]]  # a list is written with commas
'''
    names = filled("__all__ = [", " " * 11, [f'"{name_of(method["name"])}"' for method in chosen], "]")
    names[0] = names[0].replace("[ ", "[")
    changed = '''def _changed(function: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """What is not as the function has it by default."""
    defaults = (function.__kwdefaults__ or {}).values()
    return {name: value for (name, value), usual in zip(given.items(), defaults) if type(value) is not type(usual) or value != usual}
'''
    return "\n".join([head, *names, "", "", changed, "", "\n\n\n".join(map(python_function, chosen)), ""])


# ---- R ----

def r_default(one):
    return f'"{one["default"]}"' if one["type"] in ("choice", "text") else number(one["default"])


def r_signature(method, start, width=WIDTH):
    return filled(start, " " * len(start), [f"{name_of(one['name'])} = {r_default(one)}" for one in method["parameters"]], ")", width)


def r_code(methods):
    lines = ["# The settings of each method as the arguments of a function.", f"# {NOTICE}", "",
             "# What is not as the function has it by default.",
             "changed <- function(given, usual) given[!mapply(identical, given, usual)]", ""]
    for method in with_settings(methods):
        name = name_of(method["name"]) + "_settings"
        signature = r_signature(method, f"{name} <- function(")
        signature[-1] += " {"
        pairs = [f'`{one["name"]}` = {name_of(one["name"])}' if name_of(one["name"]) != one["name"] else f'{one["name"]} = {one["name"]}'
                 for one in method["parameters"]]
        body = filled("  changed(list(", " " * 4, pairs, f"), lapply(formals({name}), eval))")
        lines += [*signature, *body, "}", ""]
    return "\n".join(lines)


def r_text(text):
    for character in "\\%{}":
        text = text.replace(character, "\\" + character)
    return " ".join(text.split())


def r_page(methods):
    chosen = with_settings(methods)
    lines = [f"% {NOTICE}", r"\name{tacit_settings}", r"\alias{tacit_settings}"]
    lines += [rf"\alias{{{name_of(method['name'])}_settings}}" for method in chosen]
    lines += [r"\title{Settings of Methods}",
              r"\description{The settings of each method as the arguments of a function, with their defaults. What it returns is",
              r"  \code{settings} for \code{\link{tacit_glm}}, \code{\link{tacit_fit}}, \code{\link{tacit_simulate}},",
              r"  \code{\link{tacit_explain}} and \code{\link{tacit_audit}}.}", r"\usage{"]
    for method in chosen:
        lines += r_signature(method, f"{name_of(method['name'])}_settings(", 88)
    lines += ["}", r"\arguments{"]
    said = {}
    for method in chosen:
        for one in method["parameters"]:
            meaning = r_text(one["help"]) + (": " + ", ".join(rf'\code{{"{word}"}}' for word in one["choices"]) if one["type"] == "choice" else "")
            said.setdefault(name_of(one["name"]), {}).setdefault(meaning, []).append(method["name"])
    for argument in sorted(said):
        meanings = said[argument]
        texts = [meaning if len(meanings) == 1 else f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items()]
        lines += textwrap.wrap(rf"  \item{{{argument}}}{{{'. '.join(texts)}.}}", WIDTH, subsequent_indent="    ", break_long_words=False,
                               break_on_hyphens=False)
    lines += ["}", r"\value{A list of the settings that differ from the defaults, by their names.}",
              r"\seealso{\code{\link{tacit_methods}} says what each method does.}", r"\examples{",
              'plr_settings(loss = "huber", width = 0.25)',
              'tacit_explain("plr", epsilon = 0.5, settings = plr_settings(loss = "huber"))$charged$epsilon', "}"]
    return "\n".join(lines) + "\n"


def files(methods):
    """{path: text}"""
    return {"bindings/python/tacit/settings.py": python_module(methods), "bindings/r/tacit/R/settings.R": r_code(methods),
            "bindings/r/tacit/man/tacit_settings.Rd": r_page(methods)}
