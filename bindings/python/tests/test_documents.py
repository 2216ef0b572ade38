"""Examples in docstrings and in the manual's page run as written."""
import doctest
import importlib
import pkgutil
import re
import warnings
from pathlib import Path

import pytest

import tacit

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PAGES = [Path(__file__).resolve().parents[3] / "docs" / "python.md", Path(__file__).resolve().parents[1] / "README.md"]
MODULES = sorted(module.name for module in pkgutil.iter_modules(tacit.__path__) if module.name != "_native")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tacit.PrivacyWarning)
        assert doctest.testmod(importlib.import_module(f"tacit.{name}"), optionflags=FLAGS).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page(page, tmp_path, monkeypatch):
    """All blocks of a page are one session."""
    if not page.exists():
        pytest.skip("the page is not beside the package")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks
    session = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, page.name, str(page), 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tacit.PrivacyWarning)
        assert doctest.DocTestRunner(optionflags=FLAGS).run(session).failed == 0


def test_everything_public_is_documented():
    for name in tacit.__all__:
        thing = getattr(tacit, name)
        assert (thing.__doc__ or "").strip(), name
