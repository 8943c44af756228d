"""A function over a batch as plain Python: one call for each example, results side by side.

This is what ``vmap`` means. Generated code is compared with it, and the frontend lowers calls of ``Batch`` to the same loop.
"""

from __future__ import annotations

import copy
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.errors import BadArgument
from symgrad.text import attribute, has_literal, item

#: the attribute of a function that only calls a ``Batch``: the batch
BATCH = "__symgrad_batch__"
#: objects with attributes that are no trees of arrays
NO_TREES = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.ModuleType,
    type,
    np.ufunc,
    np.ndarray,
    np.generic,
)
#: where the examples of an argument are: an axis, None for one argument of all examples, or a tree of these
Axes = Any
EMPTY = "an empty batch does not determine the shape of a result that the code does not know"
NO_AXES = "no argument of {name} has a batch axis: in_axes is None for all of them"


@dataclass(frozen=True, slots=True)
class Place:
    """One parameter of a batched function: its name in messages, the axes of its examples, and whether all examples share a number."""

    word: str
    axes: Axes
    optional: bool = False


@dataclass(frozen=True, eq=False)
class Batch:
    """``function`` over a batch, with ``in_axes`` and ``out_axes`` as ``vmap`` has them."""

    function: Callable[..., Any]
    in_axes: Axes = 0
    out_axes: Axes = 0
    parameters: tuple[inspect.Parameter, ...] = field(default=(), repr=False)

    @property
    def name(self) -> str:
        """How messages call the function."""
        return str(getattr(self.function, "__qualname__", None) or type(self.function).__name__)

    def __repr__(self) -> str:
        said = [f", {word}={axes!r}" for word, axes in (("in_axes", self.in_axes), ("out_axes", self.out_axes)) if axes != 0]
        return f"vmap({self.name}{''.join(said)})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.name
        places, named = places_of(name, self.parameters, self.in_axes, len(args), tuple(kwargs))
        leaves = [
            leaf for place, arg in zip(places, args, strict=True) for leaf in mapped_leaves(arg, place.axes, place.word, place.optional)
        ]
        leaves += [leaf for word, arg in kwargs.items() for leaf in mapped_leaves(arg, named[word].axes, word, named[word].optional)]
        if not leaves:
            raise BadArgument(NO_AXES.format(name=name))
        size = batch_size([(word, axis, np.shape(array)[axis]) for array, axis, word in leaves])
        results = []
        for k in range(size):
            passed = [example(arg, place.axes, k, place.optional) for place, arg in zip(places, args, strict=True)]
            by_name = {word: example(arg, named[word].axes, k, named[word].optional) for word, arg in kwargs.items()}
            results.append(self.function(*passed, **by_name))
        if not results:
            raise BadArgument(EMPTY)
        return together(results, self.out_axes)


# ------------------------------------------------------------------ parameters


def places_of(
    name: str, parameters: Sequence[inspect.Parameter], in_axes: Axes, count: int, keywords: Sequence[str]
) -> tuple[list[Place], dict[str, Place]]:
    """Return the batch axes of ``count`` arguments and of keyword arguments; raise BadArgument if ``in_axes`` does not fit them.

    A tuple or list has an axis for each parameter by position; keyword arguments beyond it have axis 0. Parameters
    with a default may be missing in it, and are then shared by all examples.
    """
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    words = [p.name for p in parameters if p.kind in kinds]
    words += [f"argument {k}" for k in range(len(words), count)]
    optional = {p.name for p in parameters if p.default is not p.empty}
    if not isinstance(in_axes, tuple | list):
        by_word = dict.fromkeys(words, in_axes)
    else:
        by_word = dict(zip(words, in_axes, strict=False)) | dict.fromkeys(words[len(in_axes) : count])
        unsaid = [word for word in words[len(in_axes) : count] if word not in optional]
        unpassed = [word for word in words[count : len(in_axes)] if word not in optional and word not in keywords]
        if unsaid or unpassed or len(in_axes) > len(words):
            what = f"in_axes of {name} has {len(in_axes)} items, and {count} arguments are passed"
            raise BadArgument(what, hint="give an item for each argument, None where all examples share it")
    places = [Place(word, by_word[word], word in optional) for word in words[:count]]
    return places, {word: Place(word, by_word.get(word, 0), word in optional) for word in keywords}


# ------------------------------------------------------------------ trees


def is_tree(value: Any) -> bool:
    """Whether it is a container of arrays: a dict, list, tuple, or an instance with attributes."""
    if isinstance(value, dict | list | tuple):
        return True
    return hasattr(value, "__dict__") and not isinstance(value, NO_TREES)


def parts_of(value: Any) -> list[tuple[Any, Any]]:
    """The items of a tree by key, position or attribute."""
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list | tuple) else list(vars(value).items())


def rebuilt(value: Any, parts: Sequence[Any]) -> Any:
    """A tree like another one, of other parts."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*parts)
    if isinstance(value, list | tuple):
        return type(value)(parts)
    twin = copy.copy(value)
    for (key, _), part in zip(parts_of(value), parts, strict=True):
        if isinstance(twin, dict):
            twin[key] = part
        else:
            object.__setattr__(twin, key, part)
    return twin


def axes_of_parts(axes: Axes, value: Any, word: str) -> list[Axes]:
    """Return the axis of each part of a tree; raise BadArgument if ``in_axes`` is a tree of another form."""
    return axes_of_keys(axes, [key for key, _ in parts_of(value)], isinstance(value, dict), word, type(value).__name__)


def axes_of_keys(axes: Axes, keys: Sequence[Any], is_mapping: bool, word: str, kind: str) -> list[Axes]:
    """The same of a tree that has these keys, positions or attributes."""
    if axes is None or isinstance(axes, int):
        return [axes] * len(keys)
    said = dict(parts_of(axes)) if is_tree(axes) and isinstance(axes, dict) is is_mapping else {}
    if len(said) != len(keys) or not all(key in said for key in keys):
        what = f"the axes of {word} are {axes!r}, and it is a {kind} of {len(keys)} parts"
        raise BadArgument(what, hint="give an axis, None, or a tree of the same form")
    return [said[key] for key in keys]


def part_word(word: str, value: Any, key: Any) -> str:
    """How a part of a tree is called."""
    if isinstance(value, dict | list | tuple):
        return item(word, key) if has_literal(key) else f"{word}[...]"
    return attribute(word, key)


def check_axis(axis: Any, rank: int | None, word: str, kind: str, said_by: str = "in_axes") -> int:
    """Return a nonnegative axis; raise BadArgument if it is out of range. ``said_by`` is the parameter that holds it."""
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise BadArgument(f"{said_by} is {axis!r} for {word}, which is {kind}", hint="give an axis, or None")
    if rank is None and axis >= 0:
        return axis
    if rank is None or not -rank <= axis < rank:
        hint = f"pass an array whose axis {axis} counts the examples, or write None for {word} in in_axes"
        if said_by == "out_axes":
            hint = "give an axis of the result, that of the examples among them, counted from 0"
        raise BadArgument(f"{word} has no axis {axis}: it is {kind}", hint=hint)
    return axis % rank


def mapped_leaves(value: Any, axes: Axes, word: str, optional: bool = False) -> Iterator[tuple[Any, int, str]]:
    """The arrays of a tree that have a batch axis: each with the axis and its name."""
    if axes is None or value is None:
        return
    if isinstance(value, np.ndarray):
        yield value, check_axis(axes, value.ndim, word, f"an array of shape {value.shape}"), word
    elif isinstance(value, bool | int | float | complex | np.generic):
        if not optional:
            check_axis(axes, 0, word, type(value).__name__)
    elif is_tree(value):
        for (key, part), inner in zip(parts_of(value), axes_of_parts(axes, value, word), strict=True):
            yield from mapped_leaves(part, inner, part_word(word, value, key))


def example(value: Any, axes: Axes, k: int, optional: bool = False) -> Any:
    """One example of an argument."""
    if next(mapped_leaves(value, axes, "", optional), None) is None:
        return value
    if isinstance(value, np.ndarray):
        place: tuple[Any, ...] = (*[slice(None)] * (axes % value.ndim), k)
        return value[place]
    pairs = zip(parts_of(value), axes_of_parts(axes, value, ""), strict=True)
    return rebuilt(value, [example(part, inner, k) for (_, part), inner in pairs])


def batch_size(leaves: Sequence[tuple[str, int, int]]) -> int:
    """How many examples there are; ``leaves`` are the name, the axis and its extent of each array. Raises ValueError if they differ."""
    word, axis, size = leaves[0]
    for other_word, other_axis, other in leaves[1:]:
        if other != size:
            raise ValueError(f"vmap: axis {axis} of {word} has {size} examples, and axis {other_axis} of {other_word} has {other}")
    return size


def together(results: Sequence[Any], out_axes: Axes) -> Any:
    """Stack the results of all examples: each array has an additional axis at ``out_axes``."""
    first = results[0]
    if first is None:
        return None
    if is_tree(first):
        columns = [[part for _, part in parts_of(result)] for result in results]
        axes = axes_of_parts(out_axes, first, "the result")
        return rebuilt(first, [together([column[k] for column in columns], inner) for k, inner in enumerate(axes)])
    if out_axes is None:
        return results[-1]
    stacked = np.stack([np.asarray(result) for result in results])
    axis = check_axis(out_axes, stacked.ndim, "the result", "of that many axes", "out_axes")
    return np.ascontiguousarray(np.moveaxis(stacked, 0, axis))


__all__ = ["Axes", "Batch", "Place", "batch_size", "check_axis", "places_of"]
