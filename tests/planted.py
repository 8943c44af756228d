"""Faults put into generated code, a text of which is replaced before it is loaded, or before it is run as a tree; functions made anew, and counted while they run."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from symgrad import jit
from symgrad.pipeline import loading
from symgrad.runtime import load as loader


def anew(function: Any) -> Any:
    """Another function of the same text, of which no derivative is kept."""
    code = function.__code__.replace()
    return types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, function.__closure__)


@contextmanager
def runs_of(function: Any) -> Iterator[list[int]]:
    """A list with one item for each time that the code of a function runs meanwhile."""
    counted: list[int] = []

    def profile(frame: Any, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is function.__code__:
            counted.append(1)

    sys.setprofile(profile)
    try:
        yield counted
    finally:
        sys.setprofile(None)


@contextmanager
def planted(old: str, new: str) -> Iterator[list[str]]:
    """Meanwhile generated NumPy code and kernels say ``new`` where they would say ``old``; gives the texts that were changed."""
    changed: list[str] = []
    load, load_tree, load_kernel = loader.load, loader.load_tree, jit.load_kernel

    def other(text: str) -> str:
        if old in text:
            changed.append(text)
        return text.replace(old, new)

    def load_other(text: str, name: str, namespace: Any, place: Any = None) -> Any:
        return load(other(text), name, namespace, place)

    def load_other_tree(tree: ast.Module, name: str, namespace: Any) -> Any:
        return load_tree(ast.parse(other(ast.unparse(tree))), name, namespace)

    def load_other_kernel(text: str, name: str) -> Any:
        return load_kernel(other(text), name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "load", load_other)
        patch.setattr(loading, "load_tree", load_other_tree)
        patch.setattr(jit, "load_kernel", load_other_kernel)
        yield changed
