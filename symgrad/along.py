"""Hessian-vector products: the derived function of the arguments and a vector, as a Python callable, and its parts."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from inspect import Parameter
from typing import Any, Protocol

from symgrad.compile import PROGRAM
from symgrad.frontend.text.source import from_source
from symgrad.identity import Same
from symgrad.pipeline.job import ALONG
from symgrad.signature import Signature
from symgrad.text import is_name, root_of

#: the attribute of a generated function that tells how to rebuild it: a function and arguments, to which options are added
REMADE = "__symgrad_remade__"
#: the name of the vector: the first of these that is no parameter of the function
NAMES = ("v", "vector", "direction", "weights")
STARS: dict[Any, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}


class Gradient(Protocol):
    """The gradient that is differentiated once more."""

    __name__: str
    _function: types.FunctionType


@functools.lru_cache(maxsize=1024)
def _along(gradient: Same, wrt: str, has_aux: bool, vjp: Callable[..., Any]) -> types.FunctionType:
    of: Any = gradient.value
    parameters = list(inspect.signature(of._function, follow_wrapped=False).parameters.values())
    taken = {p.name for p in parameters}
    vector = next((name for name in (*NAMES, *(f"v_{k}" for k in range(len(taken)))) if name not in taken), "")
    space: dict[str, Any] = {}

    def named(wish: str, value: Any) -> str:
        name = wish if is_name(wish) else "function"
        while name in taken or name in (vector, *space):
            name += "_"
        space[name] = value
        return name

    called, product = named(of.__name__, of), named("vjp", vjp)
    shown = header(parameters, vector, lambda name, value: named(f"default_{name}", value))
    passed = ", ".join([called, *arguments(parameters), f"wrt={wrt}"])
    own = of._function.__name__
    name = own if is_name(own) and own not in (called, product) else "function"
    if has_aux:
        body = f"    _, pullback, aux = {product}({passed}, has_aux=True)\n    return pullback({vector}), aux\n"
    else:
        body = f"    _, pullback = {product}({passed})\n    return pullback({vector})\n"
    function = from_source(f"def {name}({shown}):\n{body}", name, space)
    function.__doc__, function.__qualname__, function.__module__ = of._function.__doc__, of._function.__qualname__, of._function.__module__
    setattr(function, ALONG, (of, vector))
    return function


def along(gradient: Gradient, wrt: Any, has_aux: bool, vjp: Callable[..., Any]) -> types.FunctionType:
    """Return the Hessian-vector product as a function of the gradient's arguments and of a vector, a keyword argument.

    It computes the gradient, with respect to the parameters ``wrt``, of the gradient's inner product with the vector.
    """
    return _along(Same(gradient), repr(wrt), has_aux, vjp)


def header(parameters: list[Parameter], vector: str, default: Callable[[str, Any], str]) -> str:
    """Return the parameters of a function, with the vector as the last keyword-only parameter."""
    shown: list[str] = []
    kinds = [p.kind for p in parameters]
    more = [p for p in parameters if p.kind is Parameter.VAR_KEYWORD]
    for place, p in enumerate(p for p in parameters if p.kind is not Parameter.VAR_KEYWORD):
        if p.kind is Parameter.KEYWORD_ONLY and not {Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY} & set(kinds[:place]):
            shown.append("*")
        shown.append(f"{STARS.get(p.kind, '')}{p.name}" + ("" if p.default is p.empty else f"={default(p.name, p.default)}"))
        if p.kind is Parameter.POSITIONAL_ONLY and Parameter.POSITIONAL_ONLY not in kinds[place + 1 :]:
            shown.append("/")
    if not {Parameter.VAR_POSITIONAL, Parameter.KEYWORD_ONLY} & set(kinds):
        shown.append("*")
    return ", ".join([*shown, vector, *(f"**{p.name}" for p in more)])


def arguments(parameters: list[Parameter]) -> list[str]:
    """Return the arguments of a call that passes all parameters of a function."""
    return [f"{p.name}={p.name}" if p.kind is Parameter.KEYWORD_ONLY else f"{STARS.get(p.kind, '')}{p.name}" for p in parameters]


def standing_for(derivative: Callable[..., Any], function: types.FunctionType) -> Any:
    """Return a placeholder in generated text for a function compiled from the program of a derivative."""

    def program(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    functools.update_wrapper(program, function)
    setattr(program, PROGRAM, getattr(derivative, PROGRAM))
    return program


def without(signature: Signature, name: str) -> Signature:
    """A signature without one parameter."""
    same = tuple(kept for group in signature.same if len(kept := tuple(path for path in group if root_of(path) != name)) > 1)
    return replace(
        signature,
        params=tuple(pair for pair in signature.params if pair[0] != name),
        same=same,
        converted=tuple(pair for pair in signature.converted if root_of(pair[0]) != name),
    )


__all__ = ["ALONG", "REMADE", "along", "standing_for", "without"]
