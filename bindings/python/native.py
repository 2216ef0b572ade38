"""How the extension tacit._native comes to be: its declarations are the public header itself, as the preprocessor sees it.

Nothing is declared twice, so a function that the library gains is bound the next time the package is built.
"""
from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import cffi

# cffi knows the types of these headers by itself and cannot read what a compiler puts in them.
KNOWN_HEADERS = ("stdbool.h", "stddef.h", "stdint.h")

# What the package adds: a task that a thread of Python may stop while another is in a call, without taking the interpreter's lock.
EXTRA_DECLARATIONS = """
typedef struct tacit_python_task {
    int stop;
    void *handle;
} tacit_python_task;
bool tacit_python_cancelled(void *context);
extern "Python" void tacit_python_report(void *context, const char *stage, uint64_t done, uint64_t total);
extern "Python" void tacit_python_news(void *context, const char *line);
extern "Python" bool tacit_python_changed(void *context, const char *json);
"""

SOURCE = """
#include "tacit/tacit.h"

typedef struct tacit_python_task {
    int stop;
    void *handle;
} tacit_python_task;

static bool tacit_python_cancelled(void *context) {
    return __atomic_load_n(&((tacit_python_task *)context)->stop, __ATOMIC_RELAXED) != 0;
}
"""


def declarations(include: Path) -> str:
    """The public header without preprocessor lines, as cffi reads it."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    with tempfile.TemporaryDirectory() as empty:
        for name in KNOWN_HEADERS:
            Path(empty, name).touch()
        command = [*compiler, "-E", "-P", "-DTACIT_NO_ATTRIBUTES", "-nostdinc", "-I", empty, "-I", str(include), str(include / "tacit" / "tacit.h")]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def builder(include: Path, **linking) -> cffi.FFI:
    """A cffi builder of tacit._native; `linking` goes to the extension (library_dirs, extra_link_args and so on)."""
    ffi = cffi.FFI()
    ffi.cdef(declarations(include))
    ffi.cdef(EXTRA_DECLARATIONS)
    ffi.set_source("tacit._native", SOURCE, **linking)
    return ffi
