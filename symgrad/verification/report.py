"""A difference between generated code and the user's function -> the error, with a report to send.

The report holds the program, the types of the arguments and the versions, and no user numbers except the two
results.
"""

from __future__ import annotations

import platform
import sys
import types
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from symgrad.errors import Mismatch, SourceNotFound
from symgrad.frontend.text.source import Source, read
from symgrad.signature import Signature

#: the maximum length of a result in a message, and in a report
SHOWN, REPORTED = 60, 2000


def mismatch(
    function: types.FunctionType,
    what: str,
    ours: Any,
    theirs: Any,
    program: Mapping[str, str],
    signature: Signature,
    arguments: Mapping[str, Any],
    others: Iterable[types.FunctionType],
) -> Mismatch:
    """The error for two results; ``what`` describes the difference, ``program`` the compiled request."""
    source = source_of(function)
    lines = ["symgrad: a mismatch", what]
    lines += [f"{name}: {text}" for name, text in (*program.items(), *versions().items())]
    lines += [f"signature: {signature}", "arguments: " + ", ".join(f"{name}: {form(value)}" for name, value in arguments.items())]
    lines += ["", f"compiled: {shown_result(ours, REPORTED)}", f"function: {shown_result(theirs, REPORTED)}"]
    for one in dict.fromkeys((function, *others)):
        lines += ["", *text_of(one)]
    loc = None if source is None else source.loc(source.node)
    return Mismatch(what, loc, ours=ours, theirs=theirs, report="\n".join(lines) + "\n")


def versions() -> dict[str, str]:
    """The versions of Python and of the packages involved."""
    from importlib.metadata import PackageNotFoundError, version  # imports the email package

    def version_of(name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            return "none"

    names = ("symgrad", "numpy", "numba", "scipy")
    return {"python": f"{sys.version.split()[0]} on {platform.system()} {platform.machine()}", **{name: version_of(name) for name in names}}


def source_of(function: types.FunctionType) -> Source | None:
    """The source of a function, if available."""
    try:
        return read(function)
    except SourceNotFound:
        return None


def text_of(function: types.FunctionType) -> list[str]:
    """The source lines of a function."""
    source = source_of(function)
    if source is None:
        return [f"# {function.__qualname__}: its source is not kept"]
    return [source.line(number) for number in range(source.node.lineno, (source.node.end_lineno or source.node.lineno) + 1)]


def shown_result(value: Any, length: int = SHOWN) -> str:
    """A short form of a result: an exception by its class, long texts cut."""
    if isinstance(value, Exception):
        return f"{type(value).__name__}: {value}"[:length] if length > SHOWN else type(value).__name__
    with np.printoptions(precision=17 if length > SHOWN else 6, threshold=50):
        text = " ".join(repr(value).split())
    return text if len(text) <= length else f"{text[: length - 3]}..."


def form(value: Any) -> str:
    """The description of an argument without its numbers."""
    if isinstance(value, np.ndarray):
        order = "" if value.flags.c_contiguous else " by columns" if value.flags.f_contiguous else " with strides"
        return f"{value.dtype}{list(value.shape)}{order}"
    if isinstance(value, tuple | list) and type(value) in (tuple, list):
        inside = ", ".join(form(item) for item in value[:8]) + (", ..." if len(value) > 8 else "")
        return f"({inside})" if isinstance(value, tuple) else f"[{inside}]"
    return type(value).__name__


__all__ = ["mismatch", "shown_result"]
