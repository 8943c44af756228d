"""A call that may overwrite an argument with its result -> the same call without that, if nothing else holds the argument.

``scipy.linalg.solve(a, b.T @ c, overwrite_b=True)``: the second argument is undefined after the
call, and no name refers to it.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Sequence
from typing import Any

from symgrad.frontend.functions.recursive_effects import is_fresh
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.reading import root_of
from symgrad.frontend.state.bindings import Binding
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.reach import holders, memory_in

#: the prefix of the setting's name; the argument's name follows
OVERWRITE = "overwrite_"
#: packages whose functions have such settings; of other functions they are parameters like any other
OVERWRITING = ("numpy", "scipy")
#: words that name an argument in another way
ARGUMENTS = {"overwrite_input": "a"}


def without_overwriting(ctx: Lowering, function: Any, args: Sequence[Binding], kwargs: dict[str, Binding]) -> dict[str, Binding]:
    """The keywords of a call without the settings that allow overwriting an argument, if nothing else holds it."""
    words = [word for word, held in kwargs.items() if word.startswith(OVERWRITE) and known_value(held) == [True]]
    if not words or root_of(function) not in OVERWRITING:
        return kwargs
    arguments: dict[str, Binding] = {}
    with contextlib.suppress(TypeError, ValueError):
        arguments = inspect.signature(function).bind_partial(*args, **kwargs).arguments
    taken = [arguments.get(ARGUMENTS.get(word, word.removeprefix(OVERWRITE))) for word in words]
    unused = {word for word, held in zip(words, taken, strict=True) if held is not None and is_held_by(ctx, held, 1)}
    return {word: held for word, held in kwargs.items() if word not in unused}


def is_held_by(ctx: Lowering, array: Binding, most: int) -> bool:
    """Whether an array was created in the function and has at most that many references from names, objects and operands."""
    locations = list(memory_in(array))
    outside = {location for held in (*ctx.arrays.values(), *ctx.owned.values()) for location in memory_in(held)}
    seen = (location in outside or holders(location, ctx.state) > most or not is_fresh(ctx, location) for location in locations)
    return bool(locations) and not any(seen)


__all__ = ["is_held_by", "without_overwriting"]
