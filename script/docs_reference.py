"""Write what the program's own tables give: the pages of docs/reference about every command and every setting of a method, and the settings
as the bindings have them.

With --check nothing is written: the files that are out of date are named, and the exit code is 1.
"""
import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import bindings_settings

ROOT = Path(__file__).resolve().parent.parent
NOTICE = "<!-- Written by script/docs --reference from the program's tables. Change the tables, not this page. -->\n"
KINDS = {"flag": "", "file": "file", "integer": "whole number", "number": "number", "numbers": "comma-separated numbers",
         "words": "comma-separated words", "setting": "NAME=VALUE, may be given several times", "choice": "one of these words", "text": "text"}


class Program:
    def __init__(self, path):
        self.path, self.kept = path, {}

    def run(self, *words):
        if words not in self.kept:
            self.kept[words] = self.start(words)
        return self.kept[words]

    def start(self, words):
        environment = {**os.environ, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
        return subprocess.run([self.path, *words], check=True, capture_output=True, text=True, env=environment).stdout

    def document(self, *words):
        return json.loads(self.run(*words, "--json"))

    def topic(self, name):
        """What 'tacit help NAME --json' lists; nothing where the program has no such topic."""
        done = subprocess.run([self.path, "help", name, "--json"], capture_output=True, text=True, check=False)
        return json.loads(done.stdout)[name] if done.returncode == 0 else []

    def usage(self, name):
        """The lines of the usage, as help shows them."""
        lines = self.run("help", *name.split()).splitlines()
        first = lines.index("Usage") + 1
        return [line[2:] for line in lines[first:lines.index("", first)]]


def words_of(text):
    """A paragraph of a help text. What would be mark-up is escaped, and flags are code."""
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", re.sub(r"([*_<])", r"\\\1", text))


def cell(text):
    """The same in a cell of a table."""
    return words_of(re.sub(r"\s+", " ", text).strip()).replace("|", "\\|")


def code(text):
    """Code in a cell: a bar would end the cell."""
    return f"<code>{text.replace('|', '&#124;')}</code>" if "|" in text else f"`{text}`"


def page_of(name):
    return name.replace(" ", "-") + ".md"


def option_row(option):
    flag = f"--{option['name']}" + (f" {option['placeholder']}" if option["placeholder"] else "")
    default = "required" if option["required"] else code(option["default"]) if option["default"] is not None else ""
    return f"| {code(flag)} | {KINDS[option['kind']]} | {default} | {cell(option['help'])} |"


def command_page(program, command, documented):
    about = program.document("help", *command["name"].split())
    lines = [f"# tacit {command['name']}", "", f"{about['summary'][0].upper()}{about['summary'][1:]}.", "", NOTICE, "```text",
             *program.usage(command["name"]), "```", ""]
    if about["description"]:
        lines += [words_of(about["description"]), ""]
    if about["arguments"]:
        lines += ["## Arguments", "", "| argument | what it is |", "|---|---|"]
        lines += [f"| {code(one['name'])} | {cell(one['help'])} |" for one in about["arguments"]] + [""]
    if about["options"]:
        lines += ["## Options", "", "| option | value | default | what it does |", "|---|---|---|---|"]
        lines += [option_row(option) for option in about["options"]] + [""]
    lines += ["## Examples", ""]
    for example in about["examples"]:
        lines += [words_of(example["text"]), "", "```", example["command"], "```", ""]
    more = ["[Options of every command](README.md#options-of-every-command)"]
    if command["name"] in documented:
        more.append(f"[what it prints with `--json`](../json.md#tacit-{command['name'].replace(' ', '-')})")
    return "\n".join(lines) + "\n" + "; ".join(more) + ".\n"


def overview(program, commands):
    lines = ["# Commands", "", "Every command of `tacit`, as `tacit help COMMAND` explains it.", "", NOTICE]
    section = None
    for command in commands:
        about = program.document("help", *command["name"].split())
        if about["section"] != section:
            section = about["section"]
            lines += [f"## {section}", "", "| command | what it does |", "|---|---|"]
        after = commands[commands.index(command) + 1:]
        lines.append(f"| [{command['name']}]({page_of(command['name'])}) | {cell(about['summary'])} |")
        if not after or program.document("help", *after[0]["name"].split())["section"] != section:
            lines.append("")
    lines += ["## Options of every command", "", "| option | what it does |", "|---|---|"]
    text = program.run("help", "version")
    common = re.search(r"Options of every command\n(.*?)\n\n", text, re.DOTALL).group(1)
    for found in re.finditer(r"^  (--\S+)\s+(.*(?:\n {6,}.*)*)", common, re.MULTILINE):
        lines.append(f"| `{found.group(1)}` | {cell(found.group(2))} |")
    return "\n".join(lines) + "\n"


def value_of(parameter):
    if "choices" in parameter:
        return " or ".join(f"`{word}`" for word in parameter["choices"])
    if "range" in parameter:
        return f"{number(parameter['range'][0])} to {number(parameter['range'][1])}"
    return "text"


def number(value):
    if isinstance(value, str):
        return value
    return f"{value:g}" if value != int(value) or abs(value) >= 1e7 else str(int(value))


def methods_page(program):
    lines = ["# Methods and their settings", "",
             "Every method with every setting: `--set NAME=VALUE` on the command line, `set: {NAME: VALUE}` in a study. "
             "A method's own page says what it computes and what it costs.", "", NOTICE]
    for method in program.document("methods"):
        name, page = method["name"], ROOT / "docs/methods" / f"{method['name']}.md"
        title = f"[{name}](../methods/{name}.md)" if page.exists() else name
        unit = {"none": "no differential privacy", "record": "one row", "party": "all rows of a party"}.get(
            method["unit"], "one row or all rows of a party")
        lines += [f"## {name}", "", f"{title}: {words_of(method['title'])}. {words_of(method['reference'])}. Protects: {unit}. Terms: {method['terms']}.", ""]
        if not method["parameters"]:
            lines += ["It has no settings.", ""]
            continue
        lines += ["| setting | values | default | what it does |", "|---|---|---|---|"]
        for one in method["parameters"]:
            default = one["default"] if isinstance(one["default"], str) else number(one["default"])
            lines.append(f"| `{one['name']}` | {value_of(one)} | {code(default) if default else ''} | {cell(one['help'])} |")
        lines.append("")
    return "\n".join(lines)


BEGIN, END = "<!-- study settings: begin -->\n", "<!-- study settings: end -->\n"


def study_page(settings):
    """The page about definitions, with the table of settings as the program has it. Mappings have a section each on the page."""
    text = (ROOT / "docs/reference/study.md").read_text(encoding="utf-8")
    sections = {heading.lower() for heading in re.findall(r"^## (\w+)$", text, re.MULTILINE)}
    lines = ["| key | value | default | meaning |", "|---|---|---|---|"]
    for one in settings:
        default = "required" if one["required"] else cell(one["default"] or "")
        more = f" ([its keys](#{one['name']}))" if one["name"] in sections else ""
        lines.append(f"| `{one['name']}` | {code(one['form']) if one['form'] else ''} | {default} | {cell(one['help'])}{more} |")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    return before + BEGIN + "\n".join(lines) + "\n" + END + after


def endpoints_page(endpoints):
    lines = ["# What parties ask of a coordinator", "",
             "The coordinator answers these requests over TLS, in protobuf ([proto/tacit.proto](../../proto/tacit.proto)). "
             "[openapi.yaml](../openapi.yaml) has those of the dashboard and the party page.", "", NOTICE,
             "| path | request | what it does |", "|---|---|---|"]
    lines += [f"| `{one['name']}` | {cell(one['form'])} | {cell(one['help'])} |" for one in endpoints]
    return "\n".join(lines) + "\n"


def pages(program):
    """{path: text}"""
    commands = program.document("help")["commands"]
    documented = set(re.findall(r"^## tacit (.+)$", (ROOT / "docs/reference/json.md").read_text(encoding="utf-8"), re.MULTILINE))
    made = {f"commands/{page_of(command['name'])}": command_page(program, command, documented) for command in commands}
    made["commands/README.md"] = overview(program, commands)
    made["methods.md"] = methods_page(program)
    settings, endpoints = program.topic("study-settings"), program.topic("endpoints")
    if settings:
        made["study.md"] = study_page(settings)
    if endpoints:
        made["endpoints.md"] = endpoints_page(endpoints)
        made["commands/README.md"] += "\nParties ask a coordinator over [these paths](../endpoints.md).\n"
    made = {f"docs/reference/{name}": text for name, text in made.items()}
    return {**made, **bindings_settings.files(program.document("methods"))}


def main():
    parser = argparse.ArgumentParser(prog="script/docs --reference", description=__doc__)
    parser.add_argument("--tacit", required=True, help="the program")
    parser.add_argument("--check", action="store_true", help="write nothing; say what is out of date")
    given = parser.parse_args()
    made = pages(Program(given.tacit))
    commands = ROOT / "docs/reference/commands"
    commands.mkdir(exist_ok=True)
    old = {f"docs/reference/commands/{path.name}" for path in commands.glob("*.md")}
    stale = [name for name, text in made.items()
             if not (ROOT / name).exists() or (ROOT / name).read_text(encoding="utf-8") != text]
    stale += sorted(old - set(made))
    if given.check:
        for name in stale:
            print(f"{name} is out of date: run script/docs --reference, and commit what it writes")
        return 1 if stale else 0
    for name in stale:
        if name in made:
            (ROOT / name).write_text(made[name], encoding="utf-8")
        else:
            (ROOT / name).unlink()
    print(f"{len(made)} files, {len(stale)} of them changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
