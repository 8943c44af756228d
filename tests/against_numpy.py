"""A function against plain NumPy: the values it gives, what kind each is, and its gradients against differences; or it is refused."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Iterator
from itertools import count
from typing import Any

import numpy as np

import symgrad
from symgrad.errors import InvalidIR, Mismatch, SymgradError

COUNTER = count()
STEPS = (2e-4, 3e-5)


def function_of(source: str, name: str = "f") -> Any:
    """The function of a source, which can be read."""
    path = f"<against numpy {next(COUNTER)}>"
    linecache.cache[path] = (len(source), None, [line + "\n" for line in source.splitlines()], path)
    space: dict[str, Any] = {"__name__": "against_numpy"}
    exec(compile(source, path, "exec"), space)  # noqa: S102
    return space[name]


def leaves(tree: Any) -> list[Any]:
    """The numbers and arrays of a result, in order."""
    return [leaf for part in tree for leaf in leaves(part)] if isinstance(tree, tuple | list) else [tree]


def kind_of_value(value: Any) -> tuple[Any, ...]:
    """What must be alike: an array with its dtype and shape, a number of NumPy's with its dtype, a class of Python's."""
    if isinstance(value, np.ndarray):
        return "array", value.dtype, value.shape
    return ("number", value.dtype) if isinstance(value, np.generic) else (type(value).__name__,)


def equal(one: Any, other: Any, narrow: bool) -> bool:
    """Are two results equal up to rounding?"""
    if np.asarray(one).dtype.kind in "OSUbiu":
        return bool(np.array_equal(one, other))
    size = float(np.max(np.abs(other), initial=0.0, where=np.isfinite(other)))
    return np.allclose(one, other, rtol=3e-5 if narrow else 1e-10, atol=(1e-5 if narrow else 1e-11) * (1 + size), equal_nan=True)


def copies(arguments: dict[str, Any]) -> dict[str, Any]:
    return {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in arguments.items()}


def floats(arguments: dict[str, Any]) -> list[str]:
    """The arguments that carry a derivative."""
    return [k for k, v in arguments.items() if isinstance(v, float) or isinstance(v, np.ndarray | np.generic) and v.dtype.kind == "f"]


def plainly(function: Any, arguments: dict[str, Any]) -> Any:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(**copies(arguments))


def weighed(tree: Any, seeds: list[Any]) -> float:
    """The sum of what is returned, weighed by the seeds."""
    total = 0.0
    for leaf, seed in zip(leaves(tree), seeds, strict=True):
        if np.asarray(leaf).dtype.kind == "f":
            total += float(np.sum(np.asarray(leaf, float) * seed))
    return total


def seeds_for(tree: Any) -> list[Any]:
    """A seed for each number and array of a result."""
    seeds = []
    for leaf in leaves(tree):
        array = np.asarray(leaf)
        weights = np.cos(1.0 + np.arange(array.size)).reshape(array.shape)
        seeds.append(weights.astype(array.dtype) if array.dtype.kind == "f" else weights)
    return [w if isinstance(leaf, np.ndarray) else float(w) if isinstance(leaf, float) and not isinstance(leaf, np.generic) else w[()]
            for w, leaf in zip(seeds, leaves(tree), strict=True)]  # fmt: skip


def in_form(tree: Any, seeds: Iterator[Any]) -> Any:
    """The seeds in the structure of a result."""
    return tuple(in_form(part, seeds) for part in tree) if isinstance(tree, tuple | list) else next(seeds)


def judged(function: Any, arguments: dict[str, Any], kinks: bool = False, jit: Any = False, by_grad: bool = True) -> tuple[str, str]:
    """``right``, ``refused``, ``not taken`` (by NumPy), or what is wrong, with words.

    ``kinks``: a gradient that is no number is as right as any, for there may be none. ``by_grad``: of a number, what ``grad`` computes
    by the first argument alone is looked at too; its passes are others than those of a pullback.
    """
    try:
        expected = plainly(function, arguments)
    except Exception as error:
        return "not taken", type(error).__name__
    if any(np.asarray(leaf).dtype.kind not in "biuf" for leaf in leaves(expected)):
        return "not taken", "no numbers"
    seeds = seeds_for(expected)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            value, pull = symgrad.vjp(function, *copies(arguments).values(), jit=jit)
            gradients = pull(in_form(value, iter(seeds)))
    except InvalidIR as error:
        return "crash", f"InvalidIR: {error}"
    except Mismatch as error:
        return "mismatch", error.what
    except SymgradError as error:
        return "refused", f"{type(error).__name__}: {error.what}"
    except Exception as error:
        return "crash", f"{type(error).__name__}: {error}"
    narrow = any(getattr(v, "dtype", None) == np.float32 for v in arguments.values())
    if len(leaves(value)) != len(leaves(expected)):
        return "structure", f"{value!r:.200} for {expected!r:.200}"
    for one, other in zip(leaves(value), leaves(expected), strict=True):
        if kind_of_value(one) != kind_of_value(other):
            return "kind", f"{kind_of_value(one)} for {kind_of_value(other)}"
        if not equal(one, other, narrow):
            return "value", f"{one!r:.200} for {other!r:.200}"
    actual = dict(zip(floats(arguments), gradients, strict=True))
    for name, g in actual.items():
        if kind_of_value(g) != kind_of_value(arguments[name]) and isinstance(arguments[name], np.ndarray):
            return "gradient kind", f"d{name} is {kind_of_value(g)}"
    for name in actual:
        if (how := differs(function, arguments, name, actual[name], seeds, kinks)) is not None:
            return "gradient", how
    if by_grad and actual and isinstance(expected, float):
        name = next(iter(actual))
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                alone = symgrad.grad(function, name, jit=jit, allow_unused=True)(*copies(arguments).values())
        except SymgradError as error:
            return "refused", f"{type(error).__name__}: {error.what}"
        if not equal(alone * np.asarray(seeds[0]), actual[name], narrow=True):
            return "gradient", f"grad gives {alone!r:.200}, a pullback {actual[name]!r:.200} for {seeds}"
    return "right", ""


def differs(function: Any, arguments: dict[str, Any], name: str, gradient: Any, seeds: list[Any], kinks: bool) -> str | None:
    """How a gradient is not what differences along one direction are, where these are sure."""
    wide = {k: v.astype(float) if isinstance(v, np.ndarray | np.generic) and v.dtype == np.float32 else v for k, v in arguments.items()}
    size = np.size(wide[name])
    direction = np.sin(2.0 + np.arange(size)).reshape(np.shape(wide[name])) if isinstance(wide[name], np.ndarray) else 1.0
    slopes = []

    def at(step: float) -> float:
        there = wide[name] + step * direction
        there = np.asarray(there) if isinstance(wide[name], np.ndarray) else there  # without axes NumPy makes a number of it
        return weighed(plainly(function, {**wide, name: there}), seeds)

    for h in STEPS:
        try:
            moved = [at(k * h) for k in (1, -1, 2, -2)]
        except Exception:
            return None
        slopes.append((8 * (moved[0] - moved[1]) - (moved[2] - moved[3])) / (12 * h))
    slope = float(np.sum(np.asarray(gradient, float) * direction))
    scale = 1 + abs(slopes[1])
    if not np.isfinite(slopes).all() or abs(slopes[0] - slopes[1]) > 1e-5 * scale or kinks and np.isnan(slope):
        return None
    narrow = any(getattr(v, "dtype", None) == np.float32 for v in arguments.values())
    if abs(slope - slopes[1]) <= (3e-3 if narrow else 1e-6) * scale:
        return None
    return f"d{name} along a direction is {slope}, differences {slopes[1]}"
