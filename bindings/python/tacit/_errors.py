"""One exception for each status of the library, made from its table.

Every exception is a :class:`TacitError`; some are also what Python calls such a thing, so that ``except ValueError`` and the like
do what one expects. Its text is the library's sentence, which names the place and the remedy.
"""
from __future__ import annotations

from tacit._native import ffi, lib

_BUILT_IN = {
    "USAGE": ValueError,
    "INPUT": ValueError,
    "REFUSED": PermissionError,
    "NO_MEMORY": MemoryError,
    "IO": OSError,
    "NETWORK": ConnectionError,
    "NOT_FOUND": LookupError,
    "LIMIT": ValueError,
    "NOT_CONVERGED": ArithmeticError,
}


class TacitError(Exception):
    """Something that the library said no to.

    ``status`` is the name of what went wrong (``"REFUSED"``), ``code`` the exit code of a program that ends with it, ``option`` the
    argument that the sentence names first (``"test_fraction"``), or None.
    """

    status: str = "INTERNAL"
    code: int = 1
    option: str | None = None


class PrivacyWarning(UserWarning):
    """What was asked for works, and is less private than it may look."""


def _text(pointer) -> str:
    return ffi.string(pointer).decode("utf-8", "replace")


def _spell(text: str) -> tuple[str, str | None]:
    """A sentence with its options written as arguments, and the first argument."""
    kept = ffi.new("char[]", text.encode())
    found, parts, first, rest = ffi.new("tacit_named_option *"), [], None, ffi.cast("const char *", kept)
    while lib.tacit_text_option(rest, found):
        name = ffi.string(found.name, found.name_length).decode().replace("-", "_")
        value = b"" if found.value == ffi.NULL else ffi.unpack(found.value, found.value_length)
        parts += [ffi.unpack(rest, found.begin - rest), f"{name}=".encode(), value]
        first, rest = first or name, found.end
    return b"".join([*parts, ffi.string(rest)]).decode("utf-8", "replace"), first


def spell(text: str) -> str:
    """A sentence of the library with its options written as arguments: ``test_fraction=``, ``delta=1e-5``."""
    return _spell(text)[0]


def _exceptions() -> dict[int, type[TacitError]]:
    made = {}
    for value in sorted(ffi.typeof("tacit_status").elements):
        if value == lib.TACIT_OK:
            continue
        status = _text(lib.tacit_status_name(value))
        name = "".join(word.capitalize() for word in status.split("_")) + "Error"
        bases = (TacitError, _BUILT_IN[status]) if status in _BUILT_IN else (TacitError,)
        about = _text(lib.tacit_status_text(value))
        members = {"__doc__": about[0].upper() + about[1:] + ".", "__module__": "tacit", "status": status,
                   "code": lib.tacit_status_exit_code(value)}
        made[value] = type(name, bases, members)
    return made


EXCEPTIONS = _exceptions()
globals().update({made.__name__: made for made in EXCEPTIONS.values()})
__all__ = ["TacitError", "PrivacyWarning", *(made.__name__ for made in EXCEPTIONS.values())]


def new_error():
    """An error for a call to write into."""
    return ffi.new("tacit_error *")


def check(status: int, error) -> None:
    """Raise what a call that ended with `status` wrote into `error`."""
    if status == lib.TACIT_OK:
        return
    text, option = _spell(_text(error.text))
    raised = EXCEPTIONS.get(status, TacitError)(text or _text(lib.tacit_status_text(status)))
    raised.option = option
    raise raised
