"""The extension has all of the public header."""
import re
from pathlib import Path

import pytest

import tacit
from tacit._native import lib

HEADERS = Path(__file__).resolve().parents[3] / "include" / "tacit"


def public_functions():
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"/\*.*?\*/|#define.*?(?<!\\)\n", "", header.read_text(), flags=re.DOTALL)
        yield from re.findall(r"^[a-z][\w ]*[ *](tacit_\w+)\(", text, re.MULTILINE)


@pytest.mark.parametrize("name", sorted(set(public_functions())))
def test_function_is_bound(name):
    assert callable(getattr(lib, name))


@pytest.mark.skipif(not HEADERS.exists(), reason="the headers are not beside the package")
def test_the_header_was_understood():
    assert {"tacit_frame_fit", "tacit_string_free", "tacit_status_name", "tacit_site_leave"} <= set(public_functions())


def test_version_is_that_of_the_library():
    assert re.fullmatch(r"\d+\.\d+\.\d+", tacit.version()) and tacit.__version__ == tacit.version()
