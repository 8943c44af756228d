"""A function -> functions of the same parameters whose result is one number: a contraction of its result, or a directional derivative.

They are generated as text, so that they have a source and can be differentiated like a function of the user.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.abstraction import record_names
from symgrad.api import jvp
from symgrad.errors import BadArgument
from symgrad.frontend.text.source import from_source
from symgrad.text import attribute, has_literal, is_name, item, literal
from symgrad.verification.agreement import children, is_float
from symgrad.verification.directions import by_key, fresh, random_like


def contracted(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], random: np.random.Generator) -> Any:
    """Return a function of the same parameters whose result is a real number: the inner product of the result with random numbers."""
    result = function(*map(fresh, args), **fresh(kwargs))
    if isinstance(result, int | np.integer) or is_float(result) and np.ndim(result) == 0 and not np.iscomplexobj(result):
        return function  # also of an integer, which the function may return on this path alone
    seeds: list[Any] = []
    keys: list[Any] = []
    names = list(inspect.signature(function).parameters)[: len(args)]
    words = free_words([*names, *kwargs])

    def terms(value: Any, path: str) -> list[str]:
        items = children(value)
        if items is None:
            if not is_float(value):
                return []
            seeds.append(random_like(value, random))
            term = f"{words['np']}.sum({path} * {words['seeds']}[{len(seeds) - 1}])"
            return [f"{words['np']}.real({term})" if np.iscomplexobj(value) else term]
        if isinstance(value, dict):
            paths = [item(path, key) if has_literal(key) else by_number(path, key) for key in value]
        elif isinstance(value, tuple | list):
            paths = [item(path, k) for k in range(len(items))]
        else:
            paths = [attribute(path, name, words["getattr"]) for name in record_names(value)]
        return [term for inner, there in zip(items, paths, strict=True) for term in terms(inner, there)]

    def by_number(path: str, key: Any) -> str:
        keys.append(key)
        return f"{path}[{words['keys']}[{len(keys) - 1}]]"

    total = " + ".join(terms(result, words["result"]))
    if not total:
        raise BadArgument("the result holds no float, so it has no derivative")
    return written(function, names, kwargs, total, seeds=seeds, keys=keys)


#: the names in the text of ``written`` besides the parameters
WORDS = ("np", "seeds", "keys", "result", "function", "getattr", "jvp", "tangents")


def free_words(names: Iterable[str]) -> dict[str, str]:
    """Return names for ``WORDS`` that differ from all parameters; raise BadArgument for parameters that are no identifiers."""
    names = list(names)
    bad = next((name for name in names if not is_name(name)), None)
    if bad is not None:
        raise BadArgument(f"an argument called {bad!r} cannot be passed on", hint="pass it inside a dict")
    words: dict[str, str] = {}
    for word in WORDS:
        words[word] = word
        while words[word] in names:
            words[word] = f"{words[word]}_"
    return words


def written(function: Callable[..., Any], names: Sequence[str], keywords: Iterable[str], result: str = "", **objects: Any) -> Any:
    """Return a function with these parameters that calls ``function`` and returns the expression ``result``."""
    names, keywords = list(names), list(keywords)
    words = free_words([*names, *keywords])
    passed = ", ".join([*names, *(f"{name}={name}" for name in keywords)])
    return from_source_of(words, names, keywords, f"{words['function']}({passed})", result or words["result"], function=function, **objects)


def from_source_of(words: Mapping[str, str], names: list[str], keywords: list[str], call: str, result: str, **objects: Any) -> Any:
    """Return a function of two statements: a call, and a return of an expression of its result."""
    text = f"""
        def called({", ".join([*names, *("*" for _ in keywords[:1]), *keywords])}):
            {words["result"]} = {call}
            return {result}
    """
    space = {"np": np, "getattr": getattr, "jvp": jvp, **objects}
    return from_source(text, globals={words[name]: value for name, value in space.items()})


def pushed(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], wrt: Sequence[str], random: np.random.Generator
) -> Any:
    """Return a function of the same parameters that computes the derivative in a random direction of the parameters in ``wrt``."""
    names, keywords = list(inspect.signature(function).parameters)[: len(args)], list(kwargs)
    words = free_words([*names, *keywords])
    passed = {**dict(zip(names, args, strict=True)), **kwargs}
    tangents = tuple(by_key(passed[name], random_like(passed[name], random)) for name in wrt)
    primals = "".join(f"{name}, " for name in names)
    more = "".join(f", {name}={name}" for name in keywords)
    call = f"{words['jvp']}({words['function']}, ({primals}), {words['tangents']}, wrt={literal(tuple(wrt))}{more})"
    return from_source_of(words, names, keywords, call, f"{words['result']}[1]", function=function, tangents=tangents)


__all__ = ["contracted", "pushed", "written"]
