"""Functions of the user's, declared: a callable and the text of its derivative to a row and its spelling.

The texts are those of ``ops``: names of parameters, ``out``, ``<output>_grad``, and functions that have rows. Every
declaration makes derived functions forget what they have compiled.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any

from symgrad.dispatch import forget_all
from symgrad.errors import BadArgument
from symgrad.ir.types import UNKNOWN, Type
from symgrad.ops import declare, spelling
from symgrad.ops.declare import ROWS, Law, Row, parse_signature
from symgrad.ops.elementwise import elementwise as elementwise_row
from symgrad.signature import parse_type

NUMBERS = count()


def named(function: Callable[..., Any], text: str | None) -> tuple[str, tuple[str, ...]]:
    """The text of a declaration with a name that no row has yet, and its parameters."""
    if not callable(function):
        raise BadArgument(f"{function!r} is not a function", hint="declare the function itself, and its parameters as a text: 'f(x)'")
    if text is None:
        text = f"{getattr(function, '__name__', 'f')}({', '.join(inspect.signature(function).parameters)})"
    try:
        name, params, settings, _, _ = parse_signature(text)
    except (ValueError, SyntaxError) as error:
        raise BadArgument(f"not a declaration: {error}", hint="write 'f(x, y)' or 'f(x) = exp(x) / 2'") from None
    if settings:
        raise BadArgument(f"{name} has a parameter with a default", hint="declare a function without it")
    return text.strip().replace(name, f"user{next(NUMBERS)}_{name}", 1), params


def register(function: Callable[..., Any], row: Row, params: tuple[str, ...]) -> None:
    """Let emitted text call the function, and the frontend find its row."""
    ROWS[row.name] = replace(row, settings={**row.settings, "function": function})
    words = ", ".join(params)
    name = getattr(function, "__name__", "function")
    spelling.CALLABLES[function] = spelling.spelling(name, words, f"{row.name}({words})")
    forget_all()


def law_of(result: str | Law | None, params: tuple[str, ...]) -> Law:
    """The type of the result: that of a parameter, one that is written out, or not known."""
    if callable(result):
        return result
    if result is None:
        return lambda types, settings, dim: UNKNOWN
    if result in params:
        return same_as(params.index(result))
    known: Type = parse_type(result, "k")
    return lambda types, settings, dim: known


def same_as(position: int) -> Law:
    """The type of the operand at a position."""
    return lambda types, settings, dim: types[position]


def elementwise(function: Callable[..., Any], text: str | None = None, **partials: Any) -> Callable[..., Any]:
    """Declare a function that works element by element.

    ``elementwise(f, "f(x, y)", dx="...", dy=None)``; None says that the derivative is zero. With a formula,
    ``"f(x) = log1p(exp(x))"``, partials not given are derived.
    """
    written, params = named(function, text)
    if "=" not in written and any(f"d{p}" not in partials for p in params):
        raise BadArgument("a partial derivative is missing", hint=f"give {', '.join(f'd{p}=' for p in params)}, or a formula")
    try:
        row = elementwise_row(written, emit=f"function({', '.join(params)})", like=" + ".join([*params, "0.0"]), **partials)
    except ValueError as error:
        raise BadArgument(str(error)) from None
    register(function, row, params)
    return function


def rule(
    function: Callable[..., Any], text: str | None = None, *, result: str | Law | None = None, **cotangents: Any
) -> Callable[..., Any]:
    """Declare a function by the cotangent of each input: ``rule(f, "f(a, b)", result="a", a_grad="out_grad @ b", b_grad=None)``.

    ``result`` is the type of the result: the name of a parameter of the same type, or a type such as ``"f8[:]"``.
    """
    written, params = named(function, text)
    try:
        row = declare.rule(written, law_of(result, params), emit=f"function({', '.join(params)})", **cotangents)
    except ValueError as error:
        raise BadArgument(str(error)) from None
    register(function, row, params)
    return function


def constant(function: Callable[..., Any], text: str | None = None, *, result: str | Law | None = None) -> Callable[..., Any]:
    """Declare that a function has zero derivative in every input, on purpose."""
    written, params = named(function, text)
    register(function, declare.constant(written, law_of(result, params), emit=f"function({', '.join(params)})"), params)
    return function


def custom_vjp(function: Callable[..., Any], forward: Callable[..., Any], backward: Callable[..., Any],
               *, result: str | Law | None = None) -> Callable[..., Any]:  # fmt: skip
    """Declare a function by two others: ``forward(*args) -> out, residuals`` and ``backward(residuals, out_grad) -> gradients``.

    ``backward`` returns a tuple with one gradient for each argument. ``forward`` runs again in the backward half.
    """
    written, params = named(function, None)
    words = ", ".join(params)
    cotangents: dict[str, Any] = {}
    for position, param in enumerate(params):
        name = f"user{next(NUMBERS)}_{param}_grad"
        made = declare.missing(f"{name}(out_grad, {words})", same_as(position + 1), "a custom_vjp has no second derivative",
                               emit=f"backward(forward({words})[1], out_grad)[{position}]")  # fmt: skip
        ROWS[name] = replace(made, settings={"forward": forward, "backward": backward})
        cotangents[f"{param}_grad"] = f"{name}(out_grad, {words})"
    row = declare.rule(written, law_of(result, params), emit=f"function({words})", **cotangents)
    register(function, row, params)
    return function
