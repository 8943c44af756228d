"""Building blocks of compositions: conversion of parameters to arrays, and refusals at compile time or run time."""

from __future__ import annotations

from typing import Any

from symgrad.errors import UnsupportedArgument

#: a parameter for numbers and arrays: a list or tuple passed for it is converted to an array
Numbers = Any


def inexact(x: Any) -> Any:
    """Convert integers and bools to floats, which do not overflow; floats and complex numbers are unchanged."""
    return x.astype(float) if x.dtype.kind in "iub" else x


def is_text_or_tuple(x: Any) -> bool:
    """Whether it is a text or a tuple; false for values of unknown type when inlined."""
    return isinstance(x, str | tuple)


def refuse(what: str) -> None:
    """Refuse a call; at compile time where it is inlined."""
    raise UnsupportedArgument(what)


def need(test: Any, what: str) -> None:
    """Refuse a form of a call, known at compile time, that its composition does not support."""
    if not test:
        refuse(what)


def must(test: Any, what: str) -> None:
    """Refuse operands when the program runs."""
    if not test:
        raise UnsupportedArgument(what)
