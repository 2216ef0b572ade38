"""The library loads PostgreSQL's client, a web server and MPI only when a call needs them, and says so where they are missing."""
import ctypes
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBRARY = os.environ["LIBTACIT"]
RARE = ("libpq", "libmicrohttpd", "libmpi")


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 512)]


def loaded():
    return [name for name in RARE if re.search(rf"/{name}\.so", Path("/proc/self/maps").read_text())]


def scene():
    """In a process of its own: what is loaded after each step, and what a query was answered with."""
    library = ctypes.CDLL(LIBRARY)
    after_loading = loaded()
    json_text = ctypes.c_char_p()
    status = library.tacit_methods_document(ctypes.byref(json_text), None)
    rows = 40
    values, label = (ctypes.c_double * rows)(*[i / rows for i in range(rows)]), (ctypes.c_int32 * rows)(*[int(2 * i >= rows) for i in range(rows)])
    frame, model, error = ctypes.c_void_p(), ctypes.c_void_p(), Error()
    size, step = ctypes.c_size_t, ctypes.c_ssize_t
    library.tacit_frame_dense(ctypes.byref(frame), values, 0, size(rows), size(1), step(8), step(8), None)
    library.tacit_frame_set_classes(frame, label, size(2), None, None)
    library.tacit_frame_set_norm.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_bool, ctypes.c_void_p]
    library.tacit_frame_set_norm(frame, 1, True, None)
    options = ctypes.c_void_p()
    library.tacit_options_create(ctypes.byref(options), None)
    for name, value in ((b"method", b"output"), (b"epsilon", b"1"), (b"lambda", b"0.1")):
        library.tacit_options_set(options, name, value, None)
    fitted = library.tacit_frame_fit(ctypes.byref(model), frame, options, None, None, ctypes.byref(error))
    after_fit = loaded()
    query = ctypes.c_void_p()
    error = Error()
    answer = library.tacit_frame_load(ctypes.byref(query), b"postgres:host=/nowhere/at/all?SELECT 1", None, None, ctypes.byref(error))
    print(json.dumps({"statuses": [status, fitted, answer], "loaded": [after_loading, after_fit, loaded()], "said": error.text.decode()}))


class OnDemand(unittest.TestCase):
    def play(self, **environment):
        done = subprocess.run([sys.executable, __file__, "scene"], env={**os.environ, **environment}, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_they_are_not_among_what_the_library_needs(self):
        needed = subprocess.run(["readelf", "-dW", LIBRARY], capture_output=True, text=True, check=True).stdout
        self.assertIn("libsodium", needed)
        for name in RARE:
            self.assertNotIn(name, needed)

    def test_a_fit_loads_none_of_them_and_a_query_the_one_it_needs(self):
        found = self.play()
        self.assertEqual(found["loaded"], [[], [], ["libpq"]])
        self.assertEqual(found["statuses"][:2], [0, 0])
        self.assertRegex(found["said"], "^PostgreSQL: .*/nowhere/at/all")

    def test_one_that_is_missing_is_named_with_the_remedy(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libpq.so.5", "libpq.so"):
                Path(folder, name).write_text("no library\n")
            path = f"{folder}:{os.environ['LD_LIBRARY_PATH']}" if os.environ.get("LD_LIBRARY_PATH") else folder
            found = self.play(LD_LIBRARY_PATH=path)
        self.assertEqual(found["loaded"][2], [])
        self.assertRegex(found["said"], "^PostgreSQL: libpq.so.* is not there, or too old: install PostgreSQL's client library")


if __name__ == "__main__":
    if sys.argv[1:] == ["scene"]:
        scene()
    else:
        unittest.main(verbosity=2)
