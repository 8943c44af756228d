"""Code written for arrays of several libraries: namespaces, devices, forbidden casts."""

from __future__ import annotations

import functools
import sys
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedArgument, UnsupportedSyntax
from tests.verdicts import check_right

X = np.array([0.5, 1.25, 2.0])


@functools.lru_cache(100)
def is_below(cls, module, name):
    try:
        library = sys.modules[module]
    except KeyError:
        return False
    return issubclass(cls, getattr(library, name))


def by_class(x):
    if is_below(type(x), "numpy", "ndarray") and not is_below(type(x), "no_such_library", "ndarray"):
        return np.sum(x * x)
    return np.sum(x)


def by_class_of_dtype(x):
    return np.sum(x) if issubclass(type(x.dtype), np.dtypes.Int64DType) else np.sum(x**3)


def by_tuple_of_classes(x):
    return np.sum(x * x) if issubclass(type(x), (list, np.ndarray)) else np.sum(x)


def without_masks(x):
    if any(np.ma.isMaskedArray(each) for each in (x, x[0], 2.0 * x, 1.0)):
        return np.sum(np.roots(x))
    return np.sum(x**2)


def on_its_device(x):
    places = np.arange(len(x), device=x.device) + np.zeros(3, device=None)
    return np.sum(places * x) if getattr(1.0, "device", None) is None else np.sum(x)


def without_casts(x):
    inside = np.empty_like(x)
    np.clip(x, 1.0, None, out=inside, casting="no")
    return np.sum(np.multiply(inside, x, casting="equiv") * np.add(x, 2.0, casting="safe"))


@pytest.mark.skipif(not hasattr(np.ndarray, "device"), reason="arrays have a device since NumPy 2")
@pytest.mark.parametrize("function", [by_class, by_class_of_dtype, by_tuple_of_classes, without_masks, on_its_device, without_casts])
@pytest.mark.parametrize("jit", [False, True])
def test_right(function: Any, jit: bool) -> None:
    check_right(function, X, jit)


class Base:
    pass


class Derived(Base):
    pass


class Open(type):
    def __subclasscheck__(cls, other):
        return True


class Anything(metaclass=Open):
    pass


def of_users_classes(x):
    return x * x if issubclass(Derived, Base) else x


def by_a_metaclass(x):
    return x * x if issubclass(Base, Anything) else x


def of_no_class(x):
    try:
        return x * x if issubclass(1, int) else x
    except TypeError:
        return 3.0 * x


def test_classes_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = symgrad.grad(of_users_classes)
    assert derivative(3.0) == 6.0
    monkeypatch.setitem(globals(), "Derived", int)
    assert derivative(3.0) == 1.0
    assert symgrad.grad(of_no_class)(3.0) == 3.0
    with pytest.raises(UnsupportedSyntax, match="the metaclass of Anything, says itself what is a subclass"):
        symgrad.grad(by_a_metaclass)(3.0)


def casts_integers(x):
    return np.sum(np.add(x, np.arange(3), casting="no"))


def casts_the_result(x):
    narrow = np.empty(3, dtype=np.float32)
    np.add(x, 1.0, out=narrow, casting="same_kind")
    return np.sum(narrow)


@pytest.mark.parametrize("function", [casts_integers, casts_the_result])
def test_casts_are_refused(function: Any) -> None:
    with pytest.raises(UnsupportedArgument, match="the argument casting of np.add") as caught:
        symgrad.grad(function)(X)
    assert caught.value.hint == "leave it out"


def clips_where(x):
    return np.sum(np.clip(x, 0.0, 1.0, where=np.array([True, False, True])))


def writes_to_windows(x):
    return np.sum(np.lib.stride_tricks.sliding_window_view(x, 2, writeable=True))


@pytest.mark.parametrize(("function", "word"), [(clips_where, "where"), (writes_to_windows, "writeable")])
def test_an_argument_that_is_not_supported_is_named(function: Any, word: str) -> None:
    with pytest.raises(UnsupportedArgument, match=f"the argument {word} of .* is not supported") as caught:
        symgrad.grad(function)(X)
    assert caught.value.hint == "leave it out"
    left_out = symgrad.grad(lambda x: np.sum(np.clip(x, 0.0, 1.0)) + np.sum(np.lib.stride_tricks.sliding_window_view(x, 2)))
    np.testing.assert_array_equal(left_out(X), [2.0, 2.0, 1.0])
