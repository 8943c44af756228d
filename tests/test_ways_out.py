"""Each hint, applied to the program that provoked it, gives a correct gradient."""

from __future__ import annotations

import collections
import copy
import functools
import inspect
import itertools
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.special
import scipy.stats
from more_ways_out import of_array
from ways_out import WAYS, Way

import symgrad
from symgrad.errors import SymgradError

ARGUMENTS: dict[str, Any] = {"x": np.array([0.7, -1.3, 2.1, 0.4]), "a": 0.7, "b": 1.9, "n": 5, "numbers": [0.35, 1.45, -0.65]}
MODULES = {m.__name__: m for m in (collections, functools, itertools, math, random, symgrad)} | {"np": np, "scipy": scipy}
STEP = 1e-6


def function_of(text: str) -> Callable[..., Any]:
    """The function f of a program."""
    return symgrad.from_source(text, "f", {"__name__": "ways", **MODULES})


def called_with(function: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a program, by the names of its parameters."""
    return {name: copy.deepcopy(ARGUMENTS[name]) for name in inspect.signature(function).parameters if name in ARGUMENTS}


def slope(function: Callable[..., Any], name: str, arguments: dict[str, Any]) -> Any:
    """The differences of a function along an argument."""
    value = arguments[name]
    if isinstance(value, float):
        return (function(**{**arguments, name: value + STEP}) - function(**{**arguments, name: value - STEP})) / (2 * STEP)
    rows = STEP * np.eye(len(value))
    return np.array([function(**{**arguments, name: value + r}) - function(**{**arguments, name: value - r}) for r in rows]) / (2 * STEP)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_a_hint_is_a_way_out(way: Way) -> None:
    function, mended = function_of(way.text), function_of(way.mended)
    arguments = called_with(mended)
    wrt = tuple(name for name, value in arguments.items() if not isinstance(value, int | list))
    with pytest.raises(SymgradError) as caught:
        symgrad.value_and_grad(function, wrt=wrt, allow_unused=True, verify=False)(**called_with(function))
    assert (type(caught.value).__name__, caught.value.hint) == (way.error, way.hint)

    value, gradients = symgrad.value_and_grad(mended, wrt=wrt, allow_unused=True)(**arguments)
    assert value == pytest.approx(mended(**arguments), rel=1e-12)
    if way.runs:
        assert value == pytest.approx(function_of(way.text)(**called_with(mended)), rel=1e-12)
    for name, gradient in zip(wrt, gradients, strict=True):
        np.testing.assert_allclose(gradient, slope(mended, name, arguments), rtol=1e-6, atol=1e-8)


def test_programs_are_told_apart() -> None:
    assert of_array.__module__ == "more_ways_out"  # which enters its programs too
    assert len({way.name for way in WAYS}) == len(WAYS) >= 150
