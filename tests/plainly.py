"""A program's text run by symgrad and by plain Python: value, gradient, output and the caller's objects are compared."""

from __future__ import annotations

import contextlib
import copy
import io
import linecache
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR, Mismatch, SymgradError

HEAD = "import collections, itertools, math\nimport numpy as np\n"
COUNTER = iter(range(1 << 30))
STEP = 1e-6


def function_of(text: str) -> Any:
    """The function ``f`` of a program, with a source that can be read."""
    path = f"<plainly {next(COUNTER)}>"
    linecache.cache[path] = (len(text), None, [line + "\n" for line in text.splitlines()], path)
    module = sys.modules["plainly"] = types.ModuleType("plainly")  # where dataclasses look for the module of a class
    namespace = vars(module)
    exec(compile(text, path, "exec"), namespace)  # noqa: S102
    return namespace["f"]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to each float in a tree of arguments."""
    if isinstance(value, bool | int | str | None):
        return
    if isinstance(value, float):
        yield path
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            yield from ((*path, ("item", index)) for index in np.ndindex(value.shape))
    elif isinstance(value, list | tuple):
        for k, item in enumerate(value):
            yield from places(item, (*path, ("item", k)))
    elif isinstance(value, dict):
        for k, item in value.items():
            yield from places(item, (*path, ("item", k)))
    else:
        for k, item in vars(value).items():
            yield from places(item, (*path, ("attr", k)))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """What stands at the end of a way; 0 where a gradient has nothing there."""
    for kind, key in path:
        if value is None:
            return 0.0
        value = getattr(value, key) if kind == "attr" and not isinstance(value, dict) else value[key]
    return 0.0 if value is None else float(value)


def moved(args: list[Any], path: tuple[Any, ...], length: float) -> list[Any]:
    """The arguments with one float changed; what is one object stays one object."""
    arguments = copy.deepcopy(args)
    put(arguments, path, length)
    return arguments


def put(owner: Any, path: tuple[Any, ...], length: float) -> Any:
    """The owner with the float at the end of a way changed: in place, but for tuples."""
    (kind, key), *rest = path
    old = getattr(owner, key) if kind == "attr" else owner[key]
    new = put(old, tuple(rest), length) if rest else old + length
    if isinstance(owner, tuple):
        return (*owner[:key], new, *owner[key + 1 :])
    if kind == "attr":
        object.__setattr__(owner, key, new)
    else:
        owner[key] = new
    return owner


def outcome(call: Any, args: list[Any]) -> tuple[Any, str]:
    """What a call gives and prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call(*args), printed.getvalue()


def shown(value: Any) -> str:
    """A tree of arguments as a text that can be compared."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {shown(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return type(value).__name__ + "(" + ", ".join(map(shown, value)) + ")"
    if isinstance(value, float | int | str | np.ndarray | None):
        return repr(np.round(value, 9).tolist()) if isinstance(value, float | np.ndarray) else repr(value)
    return type(value).__name__ + shown(vars(value))


def verdict(text: str, args: list[Any], stores: bool = True) -> str:
    """``right``, ``refused``, or ``raises`` where both raise the same; raises ``AssertionError`` where symgrad gives anything else than plain Python does.

    ``stores``: what is stored in the arguments is compared too.
    """
    f = function_of(HEAD + text)
    own, plain = copy.deepcopy(args), copy.deepcopy(args)
    numbers = [k for k, argument in enumerate(args) if any(True for _ in places(argument))]
    wrt = tuple(f.__code__.co_varnames[k] for k in numbers)
    try:
        expected, expected_print = outcome(f, plain)
    except Exception as error:
        expected = error
    try:
        (value, gradient), printed = outcome(symgrad.value_and_grad(f, wrt=wrt, allow_unused=True), own)
    except SymgradError as error:
        assert not isinstance(error, InvalidIR | Mismatch), f"{text}\n{error}"
        return "refused"
    except Exception as error:
        assert type(error) is type(expected), f"{text}\nraises {error!r}, plain Python {expected!r}"
        return "raises"
    assert not isinstance(expected, Exception), f"{text}\nvalue {value}, plain Python {expected!r}"
    assert np.isclose(value, expected, rtol=1e-9, equal_nan=True), f"{text}\nvalue {value}, plain Python {expected}"
    assert printed == expected_print, f"{text}\nprinted {printed!r}, plain Python {expected_print!r}"
    if stores:
        assert shown(own) == shown(plain), f"{text}\nstored {shown(own)}, plain Python {shown(plain)}"
    gradients = gradient
    for path in places(args):
        ends = [outcome(f, moved(args, path, s))[0] for s in (STEP, -STEP)]
        slope = (ends[0] - ends[1]) / (2 * STEP)
        (_, first), *rest = path
        arguments = at(gradients[numbers.index(first)], tuple(rest))
        assert np.isclose(arguments, slope, rtol=1e-5, atol=1e-6), f"{text}\ngradient at {path}: {arguments}, differences {slope}"
    return "right"


def program_of(body: str, helpers: str = "") -> str:
    """The text of a function of two numbers, integers and a vector, whose body computes ``s``."""
    return f"{helpers}def f(a, b, numbers, x):\n" + "".join(f"    {line}\n" for line in body.splitlines()) + "    return s\n"


def check_kernel_and_second_derivative(text: str, args: tuple[Any, ...], wrt: tuple[str, ...] = ("a", "b")) -> None:
    """The kernel gives the gradient of the NumPy code, and the second derivative by the first argument is that of differences."""
    f = function_of(HEAD + text)
    assert symgrad.grad(f, wrt=wrt, jit=True)(*args) == pytest.approx(symgrad.grad(f, wrt=wrt)(*args))
    second = symgrad.grad(symgrad.grad(f))(*args)
    ends = [symgrad.grad(f)(args[0] + step, *args[1:]) for step in (STEP, -STEP)]
    assert second == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-6)
