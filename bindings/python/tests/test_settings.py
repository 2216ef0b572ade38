"""tacit.settings has a function for each method, with the settings that the library knows as its signature."""
import inspect
import typing

import pytest

import tacit

METHODS = {method["name"]: method["parameters"] for method in tacit.methods() if method["parameters"]}


def function_of(method):
    return getattr(tacit.settings, method.replace("-", "_"))


def test_there_is_a_function_for_each_method_with_settings():
    assert sorted(tacit.settings.__all__) == sorted(name.replace("-", "_") for name in METHODS)


@pytest.mark.parametrize("method", METHODS)
def test_the_signature_is_that_of_the_library(method):
    given = inspect.signature(function_of(method)).parameters.values()
    hints = typing.get_type_hints(function_of(method))
    assert [one.name.rstrip("_") for one in given] == [one["name"].replace("-", "_") for one in METHODS[method]]
    for parameter, one in zip(given, METHODS[method]):
        assert parameter.default == one["default"] and parameter.kind is inspect.Parameter.KEYWORD_ONLY
        expected = {"number": float, "count": int}.get(one["type"])
        assert expected is None or hints[parameter.name] is expected
        assert one["type"] != "choice" or list(typing.get_args(hints[parameter.name])) == one["choices"]


@pytest.mark.parametrize("method", METHODS)
def test_only_what_differs_from_the_defaults_is_set(method):
    assert function_of(method)() == {}
    for parameter, one in zip(inspect.signature(function_of(method)).parameters, METHODS[method]):
        if one["type"] == "choice":
            last = one["choices"][-1]
            assert function_of(method)(**{parameter: last}) == ({one["name"]: last} if last != one["default"] else {})


def test_calls_take_what_the_functions_return():
    chosen = tacit.settings.output(loss="huber", width=0.25)
    assert tacit.explain("output", settings=chosen)["charged"]["epsilon"] == tacit.explain("output")["charged"]["epsilon"]
    with pytest.raises(tacit.UsageError):
        tacit.explain("plr", settings=tacit.settings.dpsgd(hidden=[8, 4]))
    with pytest.raises(TypeError):
        tacit.settings.plr(widht=0.25)
