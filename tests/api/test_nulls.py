"""Every public function takes a NULL wherever it takes a pointer: a status and a sentence, and never a crash. With nothing at all; and, with
objects that are good for everything else, one NULL at a time: where the header says that a NULL is none, it is a usage error.

What is called is read from the headers, so that a new function is tried too.
"""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HEADERS = sorted((Path(__file__).resolve().parents[2] / "include" / "tacit").glob("*.h"))
LIBRARY = os.environ["LIBTACIT"]
TYPES = {"double": ctypes.c_double, "bool": ctypes.c_bool, "size_t": ctypes.c_size_t, "ptrdiff_t": ctypes.c_ssize_t,
         "unsigned": ctypes.c_uint, "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64, "int": ctypes.c_int}


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 512)]


def functions(needed=False):
    """(name, what it returns, its parameters as written), and the places that must not be NULL where these are `needed`"""
    for path in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)
        for returns, name, inside, after in re.findall(r"^([A-Za-z_][\w \t]*[ *]+)(tacit_\w+)\(([^;{]*?)\)((?:\s*TACIT_\w+(?:\([\d\s,]*\))?)*)\s*;", text, re.M):
            inside = " ".join(inside.split())
            found = re.search(r"TACIT_NONNULL\(([\d\s,]*)\)", after)
            function = name, returns.strip(), [] if inside == "void" else inside.split(", ")
            yield (*function, [int(place) - 1 for place in found[1].split(",")] if found else []) if needed else function


def kind_of(parameter):
    """Of a parameter: pointer, or its type as ctypes has it (an enumeration is an int)."""
    if "*" in parameter:
        return ctypes.c_void_p
    words = [word for word in parameter.split() if word != "const"]
    return TYPES.get(words[0], ctypes.c_int)


def call(library, name, returns, parameters, given):
    """Call with 0 everywhere but in `given`, by position; what it returned, and the error."""
    error = Error()
    function = library[name]
    function.argtypes = [kind_of(parameter) for parameter in parameters]
    function.restype = ctypes.c_int if returns == "tacit_status" else ctypes.c_void_p if "*" in returns else ctypes.c_size_t
    values = [None if kind is ctypes.c_void_p else kind(0) for kind in function.argtypes]
    for place, value in given.items():
        values[place] = value
    if parameters and parameters[-1].startswith("tacit_error *"):
        values[-1] = ctypes.addressof(error)
    return function(*values), error


def play():
    """All calls, in a process of its own: a line for each before it is made, and what is wrong after it."""
    library = ctypes.CDLL(LIBRARY)
    for name, returns, parameters in functions():
        pointers = [place for place, parameter in enumerate(parameters) if "*" in parameter and not parameter.startswith("tacit_error *")]
        room = (ctypes.c_char * 4096)()
        # Nothing at all; and room for each result while everything else is missing.
        trials = [{}] + [{place: ctypes.addressof(room)} for place in pointers if re.search(r"\*\* ?(out|json|yaml|model|bytes|xml)$", parameters[place])]
        for given in trials:
            print(f"call {name} {sorted(given)}", flush=True)
            found, error = call(library, name, returns, parameters, given)
            needs = returns == "tacit_status" and pointers and not (given and len(pointers) == 1)
            optional = name in ("tacit_methods_document",) and given
            if needs and not optional and found == 0:
                print(f"wrong {name} took NULL as if nothing were missing", flush=True)
            if returns == "tacit_status" and (found != 0) != (error.text != b""):
                print(f"wrong {name} failed without a sentence", flush=True)
            if returns == "tacit_status" and call(library, name, returns, [*parameters[:-1], "void *"], given)[0] != found:
                print(f"wrong {name} says something else without an error to fill", flush=True)
            if name.endswith("_free") and found is not None:
                print(f"wrong {name} returns no NULL", flush=True)


class Objects:
    """One good object of each type that calls take."""

    SCHEMA = 'label: {name: y, classes: ["no", "yes"]}\ncolumns:\n  - {name: x, kind: number, low: 0, high: 50}\n'

    def __init__(self, library, folder):
        self.library, self.kept = library, []
        os.mkdir(os.path.join(folder, "c"), 0o700)
        with open(os.path.join(folder, "c", "schema.yaml"), "w") as file:
            file.write(self.SCHEMA)
        self.options = self.make("tacit_options_create")
        self.coordinator = self.make("tacit_coordinator_start", os.path.join(folder, "c").encode(), None, None)
        self.done("tacit_study_create", self.coordinator, b"s", b"y ~ x", ctypes.c_size_t(3), None)
        line = ctypes.c_void_p()
        self.done("tacit_study_invite", ctypes.byref(line), self.coordinator, b"s", None)
        site = self.make("tacit_options_create")
        for name, value in ((b"home", os.path.join(folder, "home").encode()), (b"source", b"rows")):
            self.done("tacit_options_set", site, name, value)
        self.frame = self.rows()
        self.site = self.make("tacit_site_invited", json.loads(ctypes.string_at(line.value))["invitations"][0].encode(), self.frame, site, None)
        self.ledger = self.make("tacit_ledger_at", os.path.join(folder, "ledger.db").encode(), b"rows")
        seed = self.make("tacit_options_create")
        for name, value in ((b"method", b"plr"), (b"epsilon", b"1"), (b"lambda", b"0.1"), (b"seed", b"1")):
            self.done("tacit_options_set", seed, name, value)
        described = self.rows()
        schema = self.make("tacit_options_create")
        self.done("tacit_options_set", schema, b"schema-text", self.SCHEMA.encode())
        self.done("tacit_frame_describe", described, schema, None)
        self.model = self.make("tacit_frame_fit", described, seed, None, None)

    def done(self, name, *arguments):
        error = Error()
        given = [ctypes.c_void_p(one) if isinstance(one, int) else one for one in arguments]
        if self.library[name](*given, ctypes.byref(error)) != 0:
            raise SystemExit(f"{name}: {error.text.decode()}")

    def make(self, name, *arguments):
        out = ctypes.c_void_p()
        self.done(name, ctypes.byref(out), *arguments)
        return out.value

    def rows(self):
        frame = self.make("tacit_frame_table", ctypes.c_size_t(40))
        x, y = (ctypes.c_double * 40)(*range(40)), (ctypes.c_char_p * 40)(*(b"yes" if k % 3 else b"no" for k in range(40)))
        self.kept += [x, y]
        self.done("tacit_frame_add_numbers", frame, b"x", x, 0, ctypes.c_ssize_t(0), None)
        self.done("tacit_frame_add_texts", frame, b"y", y)
        return frame

    def good(self, name, parameter):
        """What is good for a parameter: an object, a text, or room that is zero."""
        for kind in ("options", "coordinator", "frame", "site", "ledger", "model"):
            if re.search(rf"tacit_{kind} \*\w", parameter):
                return self.rows() if (name, kind) == ("tacit_study_site", "frame") else getattr(self, kind)
        if re.search(r"^(const )?char \*\w", parameter):
            text = ctypes.create_string_buffer(b"x")
        elif re.search(r"const char \*const \*", parameter):
            text = (ctypes.c_char_p * 64)(*[b"x"] * 64)
        else:
            text = ctypes.create_string_buffer(65536)
        self.kept.append(text)
        return ctypes.addressof(text)


def play_one_at_a_time():
    library = ctypes.CDLL(LIBRARY)
    with tempfile.TemporaryDirectory() as folder:
        objects = Objects(library, folder)
        for name, returns, parameters, needed in functions(needed=True):
            for place, parameter in enumerate(parameters):
                if "*" not in parameter or parameter.startswith("tacit_error *") or (name, place) == ("tacit_site_answer", 0):  # which would wait
                    continue
                given = {other: objects.good(name, about) for other, about in enumerate(parameters) if "*" in about and other != place}
                given.update({other: kind_of(about)(1) for other, about in enumerate(parameters) if "*" not in about})
                print(f"one {name} {place}", flush=True)
                found, error = call(library, name, returns, parameters, given)
                if place in needed and found != 1:
                    print(f"wrong {name}: {parameter} must not be NULL, and then it is {found}: {error.text.decode()}", flush=True)
                if returns == "tacit_status" and (found != 0) != (error.text != b""):
                    print(f"wrong {name} failed without a sentence", flush=True)
        library.tacit_site_free(ctypes.c_void_p(objects.site))
        library.tacit_coordinator_free(ctypes.c_void_p(objects.coordinator))


class Nulls(unittest.TestCase):
    def play(self, what):
        """The lines of a process of its own. A text that is good for every parameter is also taken as a path: the process stands in a folder that goes."""
        with tempfile.TemporaryDirectory(prefix="tacit-test-") as folder:
            environment = {**os.environ, "HOME": folder, "TACIT_HOME": os.path.join(folder, "home")}
            done = subprocess.run([sys.executable, os.path.abspath(__file__), what], capture_output=True, text=True, cwd=folder, env=environment)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0, f"after {lines[-1:]}: {done.stderr}")
        self.assertEqual([line for line in lines if line.startswith("wrong")], [])
        return lines

    def test_every_function_survives_nulls_and_says_what_is_missing(self):
        lines = self.play("play")
        called = {line.split()[1] for line in lines if line.startswith("call")}
        self.assertEqual(called, {name for name, _, _ in functions()})
        self.assertGreater(len(called), 60)

    def test_one_argument_at_a_time_may_be_missing(self):
        lines = self.play("one")
        tried = {(line.split()[1], int(line.split()[2])) for line in lines if line.startswith("one")}
        wanted = {(name, place) for name, _, _, needed in functions(needed=True) for place in needed}
        self.assertEqual(wanted - tried, set())
        self.assertGreater(len(wanted), 120)


if __name__ == "__main__":
    if sys.argv[1:] == ["play"]:
        play()
    elif sys.argv[1:] == ["one"]:
        play_one_at_a_time()
    else:
        unittest.main(verbosity=2)
