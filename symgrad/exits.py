"""Checks every returned cotangent against its argument, at every call, where ``SYMGRAD_CHECK`` is set.

A gradient has the form of its argument: for an array, an array of the same shape and dtype; for a number, a number. Its memory is writable,
does not overlap itself, and is shared with no argument, seed, value or other gradient.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np

from symgrad.abstraction import abstract, record_names
from symgrad.containers import items_held
from symgrad.errors import InvalidIR
from symgrad.identity import Same
from symgrad.kinds import slots_of
from symgrad.parameters import resolve_wrt
from symgrad.paths import value_at
from symgrad.text import item as spelled
from symgrad.tracebacks import boundary

Leaf = tuple[str, Any]  #: a path and the value there
NUMBERS = (float, complex, np.inexact)
#: the dtypes to which arrays of long numbers are converted
WIDEST = {"g": np.dtype(np.float64), "G": np.dtype(np.complex128)}


def checked() -> bool:
    """Whether results are checked."""
    return bool(os.environ.get("SYMGRAD_CHECK"))


def watched(guard: Callable[..., Any]) -> Callable[..., Any]:
    """A guard whose results are looked at."""

    @functools.wraps(guard)
    @boundary
    def call(derived: Any, /, *args: Any, **kwargs: Any) -> Any:
        forms = form(args), form(kwargs)
        return look(derived, guard(derived, *args, **kwargs), (args, kwargs), forms)

    return call


Call = tuple[tuple[Any, ...], dict[str, Any]]  #: the positional and the named arguments of a call


def look(derived: Any, result: Any, call: Call, forms: Call) -> Any:
    """Check the gradients in the result of a derivative, and return it; a pullback checks its gradients at each call.

    ``forms`` are the arguments before the call, which may have modified them.
    """
    options = derived._options
    if options.what in ("primal", "jacobian", "hvp", "vhp", "frame"):
        return result
    arguments = dict(derived._table.bind(*call).arguments)
    before = dict(derived._table.bind(*forms).arguments)
    every = options.what == "vjp" and options.wrt is None
    names = derived._positional_floats(abstract(before)) if every else resolve_wrt(options, derived._function)
    passed = {name: value_at(arguments, name) for name in names}
    arguments, before = {**arguments, **passed}, {**before, **{name: part_before(before, name, passed[name]) for name in names}}
    held = Exit(arguments, names, not isinstance(options.wrt, tuple) and not every, before)
    if options.what == "vjp":
        out, pullback, *aux = result
        return (out, held.pullback(pullback, out), *aux)
    if options.what == "value_and_grad":
        held.check(result[1], result[0])
    else:
        held.check(result[0] if options.has_aux else result, None)
    return result


def part_before(before: dict[str, Any], name: str, now: Any) -> Any:
    """Return the part of the arguments before the call that a path names; attributes of lists are not recorded."""
    try:
        return value_at(before, name)
    except AttributeError:
        return form(now)


def look_forward(out: Any, tangent: Any, inputs: Any) -> None:
    """Raise InvalidIR if a tangent differs in form from its result, or shares memory."""
    others = [*leaves("an argument or its tangent", inputs), *leaves("the value", out)]
    look_at("tangent", list(paired_with_arguments("the result", tangent, out)), others)


def look_at(word: str, pairs: Sequence[tuple[str, Any, Any]], others: Sequence[tuple[str, Any]]) -> None:
    """Raise InvalidIR if a derivative differs in form from its counterpart, or shares memory with another value.

    ``pairs`` are triples of path, derivative and counterpart; ``others`` are the values that must not share memory with it.
    """
    for path, part, of in pairs:
        if (fault := misfit(part, of)) is not None:
            raise InvalidIR(f"the {word} of {path} {fault}")
    arrays = [(path, part) for path, part, _ in pairs if isinstance(part, np.ndarray)]
    for path, one in arrays:
        for place, other in others:
            if overlap(one, other):
                raise InvalidIR(f"the {word} of {path} shares memory with {place}")
    for (path, one), (place, other) in combinations(arrays, 2):
        if overlap(one, other):
            raise InvalidIR(f"the {word}s of {path} and {place} share memory")


class Exit:
    """The arguments of a call, and the paths ``wrt`` of those with gradients.

    ``before`` are the arguments before the call, if it may have modified them.
    """

    def __init__(self, arguments: dict[str, Any], wrt: tuple[str, ...], single: bool, before: dict[str, Any] | None = None) -> None:
        self.arguments, self.wrt, self.single = arguments, wrt, single
        self.before = arguments if before is None else before

    def check(self, gradients: Any, value: Any, seed: Any = None) -> None:
        """Raise InvalidIR if a gradient differs in form from its argument, or shares memory."""
        parts = (gradients,) if self.single else gradients
        pairs = [pair for name, part in zip(self.wrt, parts, strict=True) for pair in paired_with_arguments(name, part, self.before[name])]
        look_at("gradient", pairs, [*leaves("the argument", self.arguments), *leaves("the value", value), *leaves("the seed", seed)])

    def pullback(self, function: Callable[..., Any], value: Any) -> Callable[..., Any]:
        """Return a pullback that checks its gradients."""

        @functools.wraps(function)
        @boundary
        def call(*seeds: Any, **named: Any) -> Any:
            gradients = function(*seeds, **named)
            self.check(gradients, value, [*seeds, *named.values()])
            return gradients

        return call


def form(tree: Any, depth: int = 0) -> Any:
    """Return the same arrays and numbers in new lists, dicts and namespaces, unaffected by changes of the originals."""
    if depth > 9 or isinstance(tree, np.ndarray | np.generic | type) or callable(tree):
        return tree
    if isinstance(tree, dict):
        return {key: form(item, depth + 1) for key, item in items_held(tree)}
    if isinstance(tree, list):
        return [form(item, depth + 1) for item in items_held(tree)]
    if isinstance(tree, tuple):
        items = [form(item, depth + 1) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    if is_object(tree):
        return SimpleNamespace(**{name: form(item, depth + 1) for name, item in attributes_of(tree).items()})
    return tree


def paired_with_arguments(path: str, gradient: Any, argument: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield each gradient with the number or array it belongs to, or None."""
    if gradient is None:
        return
    if isinstance(argument, dict):
        for key, item in gradient.items():
            yield from paired_with_arguments(spelled(path, key), item, argument[key])
    elif isinstance(argument, list | tuple):
        for k, (item, of) in enumerate(zip(gradient, argument, strict=True)):
            yield from paired_with_arguments(f"{path}[{k}]", item, of)
    elif isinstance(argument, np.ndarray | np.generic | float | complex):
        yield path, gradient, argument
    elif is_object(gradient):
        for name, item in attributes_of(gradient).items():
            yield from paired_with_arguments(f"{path}.{name}", item, getattr(argument, name, None))


def misfit(gradient: Any, argument: Any) -> str | None:
    """Describe how a gradient differs in form from its argument."""
    if type(argument) is np.ndarray:
        if not isinstance(gradient, np.ndarray):
            return f"is {type(gradient).__name__}, not an array"
        held = WIDEST.get(argument.dtype.char, argument.dtype.newbyteorder("="))
        if gradient.shape != argument.shape or gradient.dtype != held:
            return f"is {gradient.dtype}{list(gradient.shape)}, not {argument.dtype}{list(argument.shape)}"
        if not gradient.flags.writeable:
            return "cannot be written to"
        if gradient.size > 1 and any(not stride and extent > 1 for stride, extent in zip(gradient.strides, gradient.shape, strict=True)):
            return "overlaps itself"
    elif isinstance(argument, NUMBERS) and not isinstance(gradient, NUMBERS):
        return f"is {type(gradient).__name__}, not a number"
    elif isinstance(argument, NUMBERS) and not is_alike(gradient, argument):
        return f"is {type(gradient).__name__}, not {type(argument).__name__}"
    return None


def is_alike(gradient: Any, argument: Any) -> bool:
    """Whether two numbers have the same precision, and both are real or both complex."""
    have, want = (np.asarray(number).dtype for number in (gradient, argument))
    return have == WIDEST.get(want.char, want)


def leaves(path: str, tree: Any, above: tuple[Same, ...] = ()) -> Iterator[Leaf]:
    """Yield the arrays in lists, tuples, dicts and instances; ``above`` are the enclosing containers."""
    if isinstance(tree, np.ndarray):
        yield path, tree
        return
    if Same(tree) in above:
        return
    around = (*above, Same(tree))
    if isinstance(tree, dict):
        for key, item in tree.items():
            yield from leaves(f"{path} {key}", item, around)
    elif isinstance(tree, list | tuple):
        for item in tree:
            yield from leaves(path, item, around)
    elif len(above) < 9 and is_object(tree) and not isinstance(tree, type) and not callable(tree):
        for item in attributes_of(tree).values():
            yield from leaves(path, item, around)


def attributes_of(tree: Any) -> dict[str, Any]:
    """Return the values in the slots and the ``__dict__`` of an instance."""
    own = vars(tree) if hasattr(tree, "__dict__") else {}
    return {name: own[name] if name in own else getattr(tree, name) for name in record_names(tree)}


def is_object(tree: Any) -> bool:
    """Whether it is an instance with attributes of its own."""
    return hasattr(tree, "__dict__") or bool(slots_of(type(tree)))


def overlap(one: Any, other: Any) -> bool:
    """Whether two arrays share memory."""
    return np.may_share_memory(one, other) and np.shares_memory(one, other)
