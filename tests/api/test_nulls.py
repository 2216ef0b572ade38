"""Every public function takes a NULL wherever it takes a pointer: a status and a sentence, and never a crash.

What is called is read from the headers, so that a new function is tried too.
"""
import ctypes
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

HEADERS = sorted((Path(__file__).resolve().parents[2] / "include" / "tacit").glob("*.h"))
LIBRARY = os.environ["LIBTACIT"]
TYPES = {"double": ctypes.c_double, "bool": ctypes.c_bool, "size_t": ctypes.c_size_t, "ptrdiff_t": ctypes.c_ssize_t,
         "unsigned": ctypes.c_uint, "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64, "int": ctypes.c_int}


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 512)]


def functions():
    """(name, what it returns, its parameters as written)"""
    for path in HEADERS:
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)
        for returns, name, inside in re.findall(r"^([A-Za-z_][\w \t]*[ *]+)(tacit_\w+)\(([^;{]*?)\)[\w\s(),]*;", text, re.M):
            inside = " ".join(inside.split())
            yield name, returns.strip(), [] if inside == "void" else inside.split(", ")


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


class Nulls(unittest.TestCase):
    def test_every_function_survives_nulls_and_says_what_is_missing(self):
        done = subprocess.run([sys.executable, __file__, "play"], capture_output=True, text=True, timeout=600)
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0, f"after {lines[-1:]}: {done.stderr}")
        self.assertEqual([line for line in lines if line.startswith("wrong")], [])
        called = {line.split()[1] for line in lines if line.startswith("call")}
        self.assertEqual(called, {name for name, _, _ in functions()})
        self.assertGreater(len(called), 60)


if __name__ == "__main__":
    if sys.argv[1:] == ["play"]:
        play()
    else:
        unittest.main(verbosity=2)
