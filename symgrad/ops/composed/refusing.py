"""Building blocks of compositions: conversion of parameters to arrays, and refusals at compile time or run time."""

from __future__ import annotations

from typing import Any

from symgrad.errors import UnsupportedArgument

#: a parameter that takes numbers and arrays: a list or tuple that is given for it is an array in the body
Numbers = Any


def inexact(x: Any) -> Any:
    """Integers and bools as floats, so that nothing wraps; floats and complex numbers as they are."""
    return x.astype(float) if x.dtype.kind in "iub" else x


def is_text_or_tuple(x: Any) -> bool:
    """Is it a text or a tuple?  Inlined, what nothing is known of is none."""
    return isinstance(x, str | tuple)


def refuse(what: str) -> None:
    """Refuse a call; while compiling where it is inlined, as it is a row."""
    raise UnsupportedArgument(what)


def need(test: Any, what: str) -> None:
    """Refuse a form of a call, known while compiling, that its composition does not say."""
    if not test:
        refuse(what)


def must(test: Any, what: str) -> None:
    """Refuse operands when the program runs."""
    if not test:
        raise UnsupportedArgument(what)
