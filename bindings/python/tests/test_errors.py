"""The library's one table of statuses, and the exceptions that are made from it."""
import re
from pathlib import Path

import numpy as np
import pytest

import tacit
from tacit import _errors
from tacit._native import ffi, lib

PACKAGE = Path(tacit.__file__).parent


def statuses():
    return {value: ffi.string(lib.tacit_status_name(value)).decode() for value in ffi.typeof("tacit_status").elements}


def test_every_status_but_success_has_its_exception():
    assert {made.status for made in _errors.EXCEPTIONS.values()} == set(statuses().values()) - {"OK"}
    for value, made in _errors.EXCEPTIONS.items():
        assert issubclass(made, tacit.TacitError)
        assert getattr(tacit, made.__name__) is made
        assert made.status == statuses()[value] and made.code == lib.tacit_status_exit_code(value)


def test_type_hints_know_the_same_exceptions_with_the_same_bases():
    told = dict(re.findall(r"^class (\w+Error)\(TacitError(?:, )?(\w*)\)", (PACKAGE / "_errors.pyi").read_text(), re.MULTILINE))
    assert told == {made.__name__: made.__bases__[1].__name__ if len(made.__bases__) > 1 else ""
                    for made in _errors.EXCEPTIONS.values()}


def test_exceptions_are_what_python_calls_such_things():
    with pytest.raises(ValueError, match="magic") as caught:
        tacit.fit(np.eye(4), [0, 1, 0, 1], method="magic", bounds=(0, 1))
    assert isinstance(caught.value, tacit.UsageError) and caught.value.status == "USAGE" and caught.value.code == 2


def test_options_are_spelled_as_arguments():
    assert _errors.spell("the option 'test-fraction' and the option 'delta=1e-5'") == "test_fraction= and delta=1e-5"
    assert _errors.spell("no option") == "no option"
    assert _errors.spell("größer als the option 'p=é'.") == "größer als p=é."
    with pytest.raises(tacit.UsageError, match=r"^epsilon= must be above 0, or inf, not 0$|^epsilon= must be above 0") as caught:
        tacit.fit(np.eye(4), [0, 1, 0, 1], method="output", epsilon=0, bounds=(0, 1))
    assert caught.value.option == "epsilon"


def test_a_missing_file_is_told_by_name(tmp_path):
    with pytest.raises(tacit.TacitError, match="nowhere.json") as caught:
        tacit.Model.load(tmp_path / "nowhere.json")
    assert caught.value.option is None
