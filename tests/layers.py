#!/usr/bin/env python3
"""Keep the house in order: which folder may include which, and what a library must never do.

    tests/layers.py ROOT         check the repository at ROOT
    tests/layers.py --self-test  plant each violation in a small tree and expect it to be found

Prints TAP, one line a rule, so that a failure names the rule and then each place that breaks it.
"""
import re
import sys
import tempfile
from pathlib import Path

# Each folder of src may include itself and the folders before it, sub-folders by themselves.
LAYERS = ["base", "num", "num/glm", "num/kernel", "num/noisy", "num/portable", "rand", "store", "person",
          "data", "data/formula", "data/graph", "data/impute", "data/measure", "data/reading", "data/schema", "data/source", "person/instrument", "person/sensor",
          "privacy/account", "privacy/mechanism", "privacy/ledger", "privacy",
          "model/family", "model", "model/classifier", "model/export", "model/report", "net",
          "crypto", "crypto/prf", "crypto/sum", "crypto/paillier", "crypto/ot", "crypto/garble", "crypto/share", "crypto/linear",
          "session", "session/board", "session/carrier", "session/center", "session/local", "session/mail", "session/masked", "session/plan", "session/wire",
          "method", "method/ensemble", "method/exact", "method/neighbours", "method/private", "method/secure", "method/tables", "method/time",
          "method/transfer", "lab", "lab/plot", "lab/audit", "lab/reproduce", "study", "study/archive", "study/people", "web", "center", "coordinator", "site/history", "site", "site/enrol",
          "api", "api/document", "api/frame", "api/option", "api/study", "cli", "cli/commands", "cli/help", "cli/people", "cli/print", "cli/process"]
# Folders whose sub-folders stand at their level: each uses the others. One that is listed before its folder does not.
LEVEL = {layer: layer.split("/")[0] for at, layer in enumerate(LAYERS)
         if layer.split("/")[0] in {"num", "data", "model", "session", "method", "site", "api", "cli"} and "/" in layer and layer.split("/")[0] in LAYERS[:at]}
TOPS_IN_ORDER = list(dict.fromkeys(layer.split("/")[0] for layer in LAYERS))
TOPS = set(TOPS_IN_ORDER)
# Programs that talk over the network only: neither uses the other's code.
APART = {("site", "coordinator"), ("site", "center")}
# The programs' folders are tested together, by tests/service.
TESTED_TOGETHER = {"service": {"study", "web", "center", "coordinator", "site"}}
FOREIGN = {"tests", "bench", "fuzz", "examples", "experiments", "bindings"}
TOP_FOLDERS = ["tests", "proto", "web", "bindings", "examples", "experiments", "bench", "fuzz"]
LONGEST_FILE = 600
LONGEST_LINE = 110  # ColumnLimit of .clang-format, which leaves comments and what it cannot break as they are
LEADS_IN = re.compile(r"\A(?=.*\b[Ss]tart)(?=.*(?:\b[Uu]ses\b|\b[Mm]ay use\b))", re.DOTALL)
# Headers for their own folder and its tests: whoever includes one could make noise of any grade, charge past the gate or
# take an accountant apart. All have this ending, and no other header has it.
INTERNAL = re.compile(r"(^|_)parts\.h$")

# Who knows of HTTP and TLS below the pages for people: the carriers of what is said. What a round, a site or a coordinator does is the same
# whatever carries it. The doctor names the libraries' versions.
CARRIED = {"session", "method", "lab", "study", "coordinator", "site"}
CARRIERS = {"session/carrier/carrier_https.c", "session/carrier/listener_https.c", "session/carrier/carrier_files.c",
            "coordinator/coordinator_https.c", "coordinator/coordinator_files.c", "coordinator/coordinator_envelopes.c", "site/site_envelope.c"}
BENEATH = re.compile(r"^(net/client\.h|net/server\.h|session/carrier/carrier_(https|files)\.h|microhttpd\.h|curl/.*)$")
NAMES_VERSIONS = {("site/doctor.c", "curl/curl.h")}

# A method's entry, and the commands that are about one method's results.
ENTRY = re.compile(r'^const tacit_method tacit_method_\w+ = \{\s*\.name = "([^"]+)"', re.MULTILINE)
ABOUT_ONE_METHOD = {"cli/commands/cmd_describe.c", "cli/commands/cmd_evaluate.c"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
# Comments go and string literals are emptied, line by line preserved, so that only code is judged.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
PRINTS_OR_EXITS = re.compile(r"(?<![\w.>])(v?printf|puts|putchar|perror|exit|abort|quick_exit)\s*\(|\b(stdout|stderr)\b")
LOCALE = re.compile(r"\b(strtod|strtof|strtold|strtod_l|atof|vsnprintf|vsprintf|vasprintf|vfprintf|setlocale|uselocale|newlocale|localeconv)\s*\(")
SETS_LOCALE = re.compile(r"\b(setlocale|uselocale|strtod|strtof|atof)\s*\(")
FRACTION = re.compile(r"%[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?[lL]?[aAeEfFgG]")
DEPENDENCY = re.compile(r"^\w+\s*=\s*dependency\('([^']+)'", re.MULTILINE)


def code_of(text):
    def blank(match):
        token = match.group(0)
        kept = "\n" * token.count("\n")
        return '""' if token[0] in "\"'" else " " + kept
    return TOKEN.sub(blank, text)


def sources(root, folder):
    return sorted(path for path in (root / folder).rglob("*") if path.suffix in (".c", ".h") and path.is_file())


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(2), match.group(1) == '"'


def level(folder):
    return LAYERS.index(LEVEL.get(folder, folder))


def only_earlier_folders_are_included(root):
    for path in sources(root, "src"):
        layer = str(path.relative_to(root / "src").parent)
        if layer not in LAYERS:
            yield f"{path.relative_to(root)}: src/{layer} is not a layer; add it to LAYERS in tests/layers.py"
            continue
        for number, target, quoted in includes(path):
            folder = target.rpartition("/")[0]
            place = f"{path.relative_to(root)}:{number}: includes {target}"
            if folder in LAYERS and level(folder) > level(layer):
                yield f"{place}, but {layer} comes before {folder}"
            elif (layer, folder) in APART:
                yield f"{place}, but {layer} and {folder} are programs apart"
            elif ".." in target.split("/"):
                yield f"{place}; name the folder instead of climbing to it"
            elif quoted and "/" not in target and (path.parent / target).exists():
                yield f"{place}; write {layer}/{target}"


def may_see_the_inside(top, first, owner):
    """Whether files of TOP/FIRST may include the internal headers of src/OWNER."""
    if top == "fuzz":
        return True
    return top in ("src", "tests") and (first == owner or (top == "tests" and owner in TESTED_TOGETHER.get(first, ())))


def internal_headers_stay_in_their_folder(root):
    for top in ["src", "include", *sorted(FOREIGN)]:
        for path in sources(root, top):
            first = path.relative_to(root / top).parts[0]
            for number, target, _ in includes(path):
                folder, _, name = target.rpartition("/")
                owner = folder.split("/")[0]
                internal = folder in LAYERS and INTERNAL.search(name)
                if internal and not may_see_the_inside(top, first, owner):
                    yield f"{path.relative_to(root)}:{number}: includes {target}, which is for src/{owner} and its tests"


def only_carriers_know_what_is_beneath(root):
    for path in sources(root, "src"):
        name = str(path.relative_to(root / "src"))
        if name.split("/")[0] not in CARRIED or name in CARRIERS:
            continue
        for number, target, _ in includes(path):
            if BENEATH.match(target) and (name, target) not in NAMES_VERSIONS:
                yield f"src/{name}:{number}: includes {target}, which only carriers know (session/carrier/carrier.h)"


def no_file_has_the_name_of_another(root):
    seen = {}
    for path in sources(root, "src"):
        if path.name in seen:
            yield f"{path.relative_to(root)}: {seen[path.name]} has the same name"
        seen.setdefault(path.name, path.relative_to(root))


def the_library_includes_no_test(root):
    for folder in ("src", "include"):
        for path in sources(root, folder):
            for number, target, _ in includes(path):
                if target.split("/")[0] in FOREIGN or target in ("check.h", "cmocka.h"):
                    yield f"{path.relative_to(root)}:{number}: includes {target}"


def public_headers_include_only_public_headers(root):
    for path in sources(root, "include"):
        for number, target, _ in includes(path):
            if target.split("/")[0] in TOPS:
                yield f"{path.relative_to(root)}:{number}: includes {target}, which is not installed"


def every_folder_has_a_readme(root):
    folders = [root / "src" / layer for layer in LAYERS]
    folders += [root / name for name in TOP_FOLDERS if (root / name).is_dir()]
    for folder in folders:
        if not (folder / "README.md").is_file():
            yield f"{folder.relative_to(root)}: has no README.md"
        elif folder.parts[len(root.parts)] == "src" and not LEADS_IN.search((folder / "README.md").read_text(encoding="utf-8")):
            yield f"{folder.relative_to(root)}/README.md: say what the folder uses, and where to start reading"


def no_file_is_too_long(root):
    for folder in ("src", "include", "tests"):
        for path in sources(root, folder):
            lines = len(path.read_text(encoding="utf-8").splitlines())
            if lines > LONGEST_FILE:
                yield f"{path.relative_to(root)}: {lines} lines; split it (at most {LONGEST_FILE})"


def cannot_be_broken(line, in_table):
    """A line of a table that is laid out by hand (clang-format off) with a string in it, or a word that no line holds, such as an address."""
    return in_table and '"' in line or max(len(word) for word in line.split()) > LONGEST_LINE - 8


def no_line_is_too_long(root):
    for folder in ("src", "include"):
        for path in sources(root, folder):
            in_table = False
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                in_table = in_table or "clang-format off" in line
                if len(line) > LONGEST_LINE and not cannot_be_broken(line, in_table):
                    yield f"{path.relative_to(root)}:{number}: {len(line)} characters; wrap it (at most {LONGEST_LINE})"
                in_table = in_table and "clang-format on" not in line


def only_the_command_line_prints_or_exits(root):
    for path in sources(root, "src"):
        if path.relative_to(root / "src").parts[0] == "cli":
            continue
        for number, line in enumerate(code_of(path.read_text(encoding="utf-8")).splitlines(), 1):
            match = PRINTS_OR_EXITS.search(line)
            if match and not line.lstrip().startswith("#"):
                yield f"{path.relative_to(root)}:{number}: uses {match.group(1) or match.group(2)}"


def nothing_is_built_for_this_machine_only(root):
    files = [root / "meson.build", *sorted((root / "script").glob("*"))]
    for folder in ["src", *TOP_FOLDERS]:
        files += sorted((root / folder).rglob("meson.build"))
    for path in files:
        if path.is_file() and re.search(r"-m(arch|tune|cpu)=native", path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: asks for the building machine's own instructions"


def setup_installs_every_dependency(root):
    setup = root / "script" / "setup"
    known = setup.read_text(encoding="utf-8") if setup.is_file() else ""
    for name in DEPENDENCY.findall((root / "meson.build").read_text(encoding="utf-8")):
        if name != "threads" and not re.search(rf"^\s*need_module {re.escape(name)} ", known, re.MULTILINE):
            yield f"meson.build: dependency '{name}' has no need_module line in script/setup"


def calls(text, name):
    """The texts between the parentheses of each call, comments left out."""
    text = TOKEN.sub(lambda match: match.group(0) if match.group(0)[0] in "\"'" else "\n" * match.group(0).count("\n"), text)
    for match in re.finditer(rf"(?<![\w.>]){name}\s*\(", text):
        depth, at = 0, match.end() - 1
        for token in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[()]', text[at:]):
            depth += {"(": 1, ")": -1}.get(token.group(0), 0)
            if depth == 0:
                yield text.count("\n", 0, match.start()) + 1, text[at:at + token.end()]
                break


def numbers_are_read_and_written_in_one_place(root):
    """A program may set a locale with a decimal comma: only base/number may read or write a number by the C library. The command line sets none."""
    for folder in ("src", "bindings"):
        for path in sources(root, folder):
            name, text = str(path.relative_to(root)), path.read_text(encoding="utf-8")
            command_line = name.startswith("src/cli/")
            if name == "src/base/number.c":
                continue
            for number, line in enumerate(code_of(text).splitlines(), 1):
                match = (SETS_LOCALE if command_line else LOCALE).search(line)
                if match:
                    yield f"{name}:{number}: uses {match.group(1)}; numbers go through base/number.h"
            for number, call in calls(text, r"(?:f?s?n?printf|[fs]scanf)") if not command_line else ():
                if FRACTION.search("".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', call))):
                    yield f"{name}:{number}: writes a number by the C library; use tacit_format (base/number.h)"


def shared_code_knows_no_method(root):
    """What a method is, its entry says: lists and advice are made from that (method/methods.h). Commands about one method may name it."""
    names = [name for path in sources(root, "src/method") for name in ENTRY.findall(path.read_text(encoding="utf-8"))]
    if not names:
        return
    listed = "|".join(sorted(map(re.escape, names), key=len, reverse=True))
    named = re.compile(rf'(?<!--)\bmethods?\s+(?:{listed})(?![\w-])|strcmp\([^;]*method[^;]*"(?:{listed})"')
    for path in sources(root, "src"):
        name = str(path.relative_to(root / "src"))
        if name.split("/")[0] in ("method", "lab") or name in ABOUT_ONE_METHOD:
            continue
        text = TOKEN.sub(lambda match: match.group(0) if match.group(0)[0] == '"' else "\n" * match.group(0).count("\n"),
                         path.read_text(encoding="utf-8"))
        text = re.sub(r'"(\s*)"', lambda match: match.group(1).count("\n") * "\v", text)  # a sentence is one string
        for match in named.finditer(text):
            number = 1 + sum(text.count(end, 0, match.start()) for end in "\n\v")
            yield f"src/{name}:{number}: '{match.group(0)[:60]}' names a method; make it from the entries' members (method/methods.h)"


PICTURE = "docs/architecture.svg"
PICTURED = re.compile(r"<rect[^>]*/><text[^>]*>([a-z]+)</text>")


def the_picture_shows_every_folder(root):
    """Each folder of src has its box, in the order of LAYERS."""
    path = root / PICTURE
    shown = PICTURED.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    for name in sorted(TOPS ^ set(shown)):
        yield f"{PICTURE}: '{name}' is " + ("not in the picture" if name in TOPS else "no folder of src")
    if set(shown) == TOPS and shown != TOPS_IN_ORDER:
        yield f"{PICTURE}: the folders are shown as {', '.join(shown)}; the order is {', '.join(TOPS_IN_ORDER)}"


# A family's entry, and code that asks which family it has.
FAMILY = re.compile(r'^const tacit_family tacit_family_\w+ = \{\s*\.name = "([^"]+)"', re.MULTILINE)


def shared_code_knows_no_family(root):
    """What a family is, its entry says (model/family/family.h): nobody else compares its name, of whatever it is read."""
    names = [name for path in sources(root, "src/model/family") for name in FAMILY.findall(path.read_text(encoding="utf-8"))]
    if not names:
        return
    named = re.compile(rf'\bstrn?(?:case)?cmp\s*\([^;]*?"(?:{"|".join(map(re.escape, names))})"')
    for path in sources(root, "src"):
        name = str(path.relative_to(root / "src"))
        if name.startswith("model/family/"):
            continue
        text = TOKEN.sub(lambda match: match.group(0) if match.group(0)[0] == '"' else "\n" * match.group(0).count("\n"),
                         path.read_text(encoding="utf-8"))
        for match in named.finditer(text):
            yield f"src/{name}:{text.count(chr(10), 0, match.start()) + 1}: '{match.group(0)[:60]}' asks for a family by its name; ask a member of its entry"


# A session is made in one place, which also runs the coordinator's half and frees what was prepared for it.
RUNS = "session/run.c"
MAKES_A_SESSION = re.compile(r"\(tacit_session\)\s*\{|\btacit_session\s+\w+\s*=\s*\{|(?:->|\.)coordinate\s*\(")


def methods_are_run_in_one_place(root):
    for path in sources(root, "src"):
        name = str(path.relative_to(root / "src"))
        if name == RUNS:
            continue
        text = code_of(path.read_text(encoding="utf-8"))
        for match in MAKES_A_SESSION.finditer(text):
            yield f"src/{name}:{text.count(chr(10), 0, match.start()) + 1}: '{match.group(0)}'; use tacit_run_session and tacit_run_coordinate ({RUNS})"


RULES = [only_earlier_folders_are_included, the_library_includes_no_test, public_headers_include_only_public_headers,
         every_folder_has_a_readme, no_file_is_too_long, only_the_command_line_prints_or_exits,
         nothing_is_built_for_this_machine_only, setup_installs_every_dependency, internal_headers_stay_in_their_folder,
         numbers_are_read_and_written_in_one_place, no_file_has_the_name_of_another, only_carriers_know_what_is_beneath,
         shared_code_knows_no_method, methods_are_run_in_one_place, no_line_is_too_long,
         shared_code_knows_no_family, the_picture_shows_every_folder]

def picture_of(folders):
    return "".join(f'<rect class="box"/><text x="1">{name}</text>\n' for name in folders)


# What to plant, and the rule that must find it; None: no rule may object.
PLANTED = [
    ("a clean tree", {}, None),
    ("an include of a later folder", {"src/num/a.c": '#include "data/schema/schema.h"\n'}, RULES[0]),
    ("the same with other spacing", {"src/num/a.c": ' #  include <cli/main.h>\n'}, RULES[0]),
    ("an include that climbs", {"src/data/a.c": '#include "../num/matrix.h"\n'}, RULES[0]),
    ("an include without its folder", {"src/num/a.c": '#include "matrix.h"\n'}, RULES[0]),
    ("a system header of the same name", {"src/num/a.c": '#include <matrix.h>\n'}, None),
    ("an include of a later sub-folder", {"src/privacy/account/a.c": '#include "privacy/ledger/ledger.h"\n'}, RULES[0]),
    ("an include of an earlier sub-folder", {"src/privacy/ledger/a.c": '#include "privacy/account/release.h"\n'}, None),
    ("a sub-folder that is no layer", {"src/num/extra/a.c": "int a;\n"}, RULES[0]),
    ("a site that uses the coordinator's code", {"src/site/a.c": '#include "coordinator/coordinator.h"\n'}, RULES[0]),
    ("a name twice", {"src/site/a.c": "int a;\n", "src/api/a.c": "int b;\n"}, RULES[10]),
    ("a server in what a site does", {"src/site/site_serve.c": '#include "net/client.h"\n'}, RULES[11]),
    ("a client in a site's links", {"src/site/site_links.c": '#include "net/client.h"\n'}, RULES[11]),
    ("a server in a site's links", {"src/site/site_links.c": '#include "net/server.h"\n'}, RULES[11]),
    ("a carrier by its name in what a coordinator counts", {"src/coordinator/coordinator_metrics.c": '#include "session/carrier/carrier_https.h"\n'}, RULES[11]),
    ("a carrier's own header in its end", {"src/site/site_envelope.c": '#include "session/carrier/carrier_files.h"\n'}, None),
    ("a server in a carrier", {"src/session/carrier/carrier_https.c": '#include "net/client.h"\n'}, None),
    ("a folder that is no layer", {"src/extra/a.c": "int a;\n"}, RULES[0]),
    ("an include of an earlier folder", {"src/data/a.c": '#include "num/matrix.h"\n#include <stdio.h>\n'}, None),
    ("a test's header in the library", {"src/base/a.c": '#include "check.h"\n'}, RULES[1]),
    ("a file of tests in the library", {"src/cli/a.c": '#include "tests/check.h"\n'}, RULES[1]),
    ("a private header in a public one", {"include/tacit/a.h": '#include "base/error.h"\n'}, RULES[2]),
    ("a folder without a README", {"src/lab/README.md": None}, RULES[3]),
    ("a README that leads nobody in", {"src/lab/README.md": "Uses base.\n"}, RULES[3]),
    ("a file that is too long", {"src/base/a.c": "int a;\n" * (LONGEST_FILE + 1)}, RULES[4]),
    ("a test that is too long", {"tests/base/a.c": "int a;\n" * (LONGEST_FILE + 1), "tests/README.md": "text\n"}, RULES[4]),
    ("a file of the greatest length", {"src/base/a.c": "int a;\n" * LONGEST_FILE}, None),
    ("a comment that is too long", {"src/net/a.c": "/* " + 13 * "word and " + "*/\n"}, RULES[14]),
    ("a line of the greatest length", {"src/net/a.c": "/* " + (LONGEST_LINE - 6) * "w" + " */\n"}, None),
    ("an address that no line holds", {"include/tacit/a.h": "/* https://" + 120 * "w" + " */\n"}, None),
    ("a table with a long text", {"src/net/a.h": '/* clang-format off */\nROW("' + 30 * "text " + '")\n/* clang-format on */\n'}, None),
    ("a table that is laid out too wide", {"src/net/a.h": "/* clang-format off */\nROW(" + 30 * "one, " + ")\n/* clang-format on */\n"}, RULES[14]),
    ("a long text after a table", {"src/net/a.h": '/* clang-format off */\n/* clang-format on */\nROW("' + 30 * "text " + '")\n'}, RULES[14]),
    ("a printf", {"src/net/a.c": 'void f(void) { printf("x"); }\n'}, RULES[5]),
    ("a write to stderr", {"src/net/a.c": 'void f(void) { fprintf(stderr, "x"); }\n'}, RULES[5]),
    ("an exit", {"src/net/a.c": "void f(void) { exit (1); }\n"}, RULES[5]),
    ("an abort", {"src/net/a.c": "void f(void) { abort(); }\n"}, RULES[5]),
    ("a printf on the command line", {"src/cli/a.c": 'void f(void) { printf("x"); }\n'}, None),
    ("words in comments and strings, and near misses",
     {"src/net/a.c": '/* never\n printf(x) */ // exit(1)\nchar *s = "abort(";\nint f(char *b) { return snprintf(b, 1, "x"); }\n'
                     "void g(struct s *p) { p->abort(p); _exit(1); }\n"}, None),
    ("a build for this machine only", {"src/num/meson.build": "c_args: '-march=" + "native'\n"}, RULES[6]),
    ("a dependency that setup does not know", {"meson.build": "gmp_dep = dependency('gmp')\n"}, RULES[7]),
    ("a strtod", {"src/data/a.c": "double f(char *s) { return strtod(s, 0); }\n"}, RULES[9]),
    ("an sscanf", {"bindings/r/a.c": 'int f(char *s, double *x) { return sscanf(s, "%lf", x); }\n', "bindings/README.md": "text\n"}, RULES[9]),
    ("a list of arguments printed past the one place", {"src/net/a.c": "void f(va_list v) { vsnprintf(0, 0, 0, v); }\n"}, RULES[9]),
    ("a fraction printed over two lines", {"src/net/a.c": 'int f(char *b) { return snprintf(b, 1,\n "%zu (" "%.3g)", 1); }\n'}, RULES[9]),
    ("a locale set by the program", {"src/cli/a.c": "void f(void) { setlocale(0, 0); }\n"}, RULES[9]),
    ("a fraction printed on the command line, and whole numbers elsewhere",
     {"src/cli/a.c": 'int f(char *b) { return snprintf(b, 1, "%g", 1.0); }\n',
      "src/net/b.c": 'int f(char *b) { return snprintf(b, 1, "%d%% of %s", 1, "%g"[0] ? "x" : ""); }\n'.replace('"%g"[0]', "1") + "/* strtod(%g) */\n"}, None),
    ("a method's name in advice", {"src/method/a.c": 'const tacit_method tacit_method_a = {\n    .name = "gop",\n};\n',
                                   "src/site/b.c": 'char *s = "or choose method "\n          "gop";\n'}, RULES[12]),
    ("a method asked for by its name", {"src/method/a.c": 'const tacit_method tacit_method_a = {\n    .name = "gop",\n};\n',
                                        "src/site/b.c": 'int f(m *p) { return strcmp(p->method->name, "gop"); }\n'}, RULES[12]),
    ("a method's name in its folder", {"src/method/a.c": 'const tacit_method tacit_method_a = {\n    .name = "gop",\n};\nchar *s = "method gop";\n'}, None),
    ("a family asked for by its name", {"src/model/family/a.c": 'const tacit_family tacit_family_a = {\n    .name = "logistic",\n};\n',
                                        "src/method/b.c": 'int f(m *p) { return strcmp(p->family->name,\n "logistic"); }\n'}, RULES[15]),
    ("a family asked for by the start of its name", {"src/model/family/a.c": 'const tacit_family tacit_family_a = {\n    .name = "huber",\n};\n',
                                                     "src/api/b.c": 'int f(char *s) { return strncmp("huber", s, 5); }\n'}, RULES[15]),
    ("a family's name in its folder, in a comment and in a setting's words",
     {"src/model/family/a.c": 'const tacit_family tacit_family_a = {\n    .name = "huber",\n};\nint f(char *s) { return strcmp(s, "huber"); }\n',
      "src/api/b.c": '/* strcmp(a, "huber") */\nchar *s = "huber|logistic";\nint g(char *t) { return strcmp(t, "hubert"); }\n'}, None),
    ("a folder that the picture leaves out", {PICTURE: picture_of(TOPS_IN_ORDER[1:])}, RULES[16]),
    ("a folder that is only in the picture", {PICTURE: picture_of([*TOPS_IN_ORDER, "extra"])}, RULES[16]),
    ("a picture in another order", {PICTURE: picture_of(TOPS_IN_ORDER[::-1])}, RULES[16]),
    ("no picture", {PICTURE: None}, RULES[16]),
    ("a session made by hand", {"src/method/a.c": "void f(void) { tacit_session s = { .plan = 0 }; }\n"}, RULES[13]),
    ("a session filled by hand", {"src/lab/a.c": "void f(tacit_session *s) { *s = (tacit_session){ .plan = 0 }; }\n"}, RULES[13]),
    ("a coordinator's half that is called", {"src/lab/a.c": "int f(m *p) { return p->method->coordinate(0, 0, 0); }\n"}, RULES[13]),
    ("a session where all are made", {"src/session/run.c": "void f(void) { tacit_session s = { .plan = 0 }; }\n"}, None),
    ("the bits of the exact samplers outside rand", {"src/privacy/a.c": '#include "rand/bits_parts.h"\n'}, RULES[8]),
    ("the ledger's inside in a method", {"src/method/a.c": '#include "privacy/ledger/ledger_class_parts.h"\n'}, RULES[8]),
    ("the accountants' inside elsewhere", {"src/lab/a.c": '#include "privacy/account/account_parts.h"\n'}, RULES[8]),
    ("a mechanism's parts in a test of another folder",
     {"tests/method/a.c": '#include "privacy/mechanism/mechanism_parts.h"\n', "tests/README.md": "text\n"}, RULES[8]),
    ("a folder's inside in the folder and in its tests",
     {"src/rand/a.c": '#include "rand/lazy_parts.h"\n', "tests/rand/a.c": '#include "rand/exact_parts.h"\n',
      "tests/README.md": "text\n"}, None),
]


CLEAN = {f"src/{layer}/README.md": "Start here. Uses base.\n" for layer in LAYERS} | {
    "meson.build": "zlib_dep = dependency('zlib')\n", "script/setup": "need_module zlib zlib1g-dev\n",
    PICTURE: picture_of(TOPS_IN_ORDER), "src/num/matrix.h": "#pragma once\n", "include/tacit/tacit.h": "#pragma once\n"}


def plant(root, files):
    """Write these; None: remove."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (root / name).unlink()
        else:
            (root / name).write_text(text, encoding="utf-8")


def uproot(root, files):
    """As it was before."""
    plant(root, {name: CLEAN.get(name) for name in files})
    for folder in sorted({parent for name in files for parent in (root / name).parents if root in parent.parents}, reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


def report(number, name, problems):
    print(("not ok" if problems else "ok") + f" {number} - {name}")
    for problem in problems:
        print(f"# {problem}")
    return not problems


def check(root):
    print(f"1..{len(RULES)}")
    return all([report(number, rule.__name__, list(rule(root))) for number, rule in enumerate(RULES, 1)])


def self_test():
    print(f"1..{len(PLANTED)}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        plant(root, CLEAN)
        for number, (name, files, expected) in enumerate(PLANTED, 1):
            plant(root, files)
            objecting = [rule.__name__ for rule in RULES if list(rule(root))]
            wanted = [expected.__name__] if expected else []
            problems = [] if objecting == wanted else [f"expected {wanted or 'no objection'}, got {objecting}"]
            good &= report(number, name, problems)
            uproot(root, files)
    return good


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if (self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]).resolve())) else 1)
