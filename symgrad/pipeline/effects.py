"""Properties of a lowered function for running it beside its derivative: side effects, inner dtypes, cut derivatives."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping

import numpy as np

from symgrad.frontend.lowered_function import Lowered
from symgrad.frontend.opaque import GENERATORS
from symgrad.ir.core import Call, Const, Op, Operand, Value, walk
from symgrad.ir.show import reachable
from symgrad.ir.types import INT, Array, List, Object, Scalar, Type
from symgrad.location import Loc
from symgrad.ops.declare import CUTS, USER_ROWS
from symgrad.runtime.support import refill
from symgrad.text import root_of

#: calls that store in objects that were given
STORES = (setattr, delattr, operator.setitem, operator.delitem, refill, np.copyto)
#: methods that store in lists, sets and deques
STORING = frozenset({"append", "extend", "pop", "add", "discard", "sort"})
#: the types of objects whose content the frontend follows
FOLLOWED = tuple(map(Object, ("list", "dict", "record")))
#: the type of the sets of Python's own that a program makes for itself (``frontend/growing_sets.py``)
OWN = Object("container")
#: what makes a generator that draws the same numbers for the same seed
SEEDED = (np.random.default_rng, np.random.RandomState)


def ops_of(lowered: Lowered) -> Iterator[Op]:
    """Every op of a function and of those that it calls."""
    for func in reachable(lowered.func):
        yield from walk(func.body)


def why_once(lowered: Lowered, names: tuple[str, ...]) -> tuple[str, Loc] | None:
    """Why a function cannot be run a second time unseen, and where; None if it can. ``names`` are those of its parameters."""
    makers: dict[Operand, Call] = {out: op for op in ops_of(lowered) if isinstance(op, Call) for out in op.outs}
    outsiders = {value for value, text in lowered.inputs if root_of(text.removeprefix("(")) not in names}
    for op in ops_of(lowered):
        if isinstance(op, Call) and op.name == "opaque" and not is_repeatable(op, makers):
            store = stored_in(op, makers)
            if isinstance(store, Value) and store not in outsiders:
                continue
            what = "it assigns to a global variable" if isinstance(store, Const) else said(op.args[0], makers)
            return what, op.loc
    outside = next((root for root in lowered.mutated if root not in ("", *names)), None)  # nothing: a copy
    if outside is not None:
        return "it writes to an array or list from outside", lowered.func.loc
    if lowered.keeps:
        return "it calls a function whose results are kept", lowered.keeps[0]
    return None


def stores(lowered: Lowered) -> bool:
    """Does a function store something in objects that it was given?"""
    makers: dict[Operand, Call] = {out: op for op in ops_of(lowered) if isinstance(op, Call) for out in op.outs}
    calls = [op for op in ops_of(lowered) if isinstance(op, Call)]
    return any(op.name == "store_outside" or op.name == "opaque" and stored_in(op, makers) is not None for op in calls)


def stored_in(op: Call, makers: Mapping[Operand, Call]) -> Operand | None:
    """The object that a call which the frontend has written stores something in; None of any other call."""
    function = op.args[0]
    if isinstance(function, Const):
        return op.args[1] if function.value in STORES else None
    attribute = makers.get(function)
    if attribute is None or attribute.name != "opaque_attribute" or attribute.settings["attribute"] not in STORING:
        return None
    owner = attribute.args[0]
    return owner if owner.type in FOLLOWED else None


def is_repeatable(op: Call, makers: Mapping[Operand, Call]) -> bool:
    """Does a call make a generator from a seed, or draw from one that was made so; or does it use a set that is made in the function?"""
    function = op.args[0]
    if isinstance(function, Const) and any(value.type == OWN for value in (*op.args[1:], *op.outs)):
        return True
    if isinstance(function, Const):
        return function.value in SEEDED and len(op.args) > 1 and op.args[1].type == INT
    attribute = makers.get(function)
    owner = None if attribute is None else makers.get(attribute.args[0])
    source = None if owner is None or owner.name != "generator" else makers.get(owner.args[0])
    return source is not None and source.name == "opaque" and is_repeatable(source, makers)


def said(function: Operand, makers: Mapping[Operand, Call]) -> str:
    """What a call does that cannot be seen into."""
    attribute = makers.get(function)
    value = function.value if isinstance(function, Const) else None
    if value is print:
        return "it prints"
    if value in STORES:
        return "it stores something in an object that it was given"
    if (getattr(value, "__module__", None) or "").startswith("numpy.random") or isinstance(
        getattr(value, "__self__", None), np.random.RandomState
    ):
        return "it draws random numbers"
    if attribute is not None and attribute.name == "opaque_attribute":
        owner, name = attribute.args[0], attribute.settings["attribute"]
        drawing = owner.type == Object("generator") or isinstance(owner, Const) and isinstance(owner.value, GENERATORS)
        return "it draws random numbers" if drawing else f"it calls .{name}(), which may have effects"
    return f"it calls {getattr(value, '__qualname__', 'an object')}, which may have effects"


def is_cut(lowered: Lowered) -> bool:
    """Are derivatives of the function others than the mathematics says, on purpose?"""
    return any(isinstance(op, Call) and (op.name in CUTS or op.name in USER_ROWS) for op in ops_of(lowered))


def is_custom(lowered: Lowered) -> bool:
    """Is a value said by the forward function of a ``custom_vjp``, which may give another one than the function?"""
    return any(isinstance(op, Call) and op.name == "custom" for op in ops_of(lowered))


def dtypes_of(lowered: Lowered) -> frozenset[str]:
    """The dtypes of the values of a function."""
    return frozenset(name for op in ops_of(lowered) for out in op.outs for name in names_in(out.type))


def names_in(type_: Type) -> Iterator[str]:
    """The dtypes in a type."""
    if isinstance(type_, List):
        yield from names_in(type_.item)
    elif isinstance(type_, Array | Scalar) and type_.dtype is not None:
        yield type_.dtype


__all__ = ["dtypes_of", "is_custom", "is_cut", "stores", "why_once"]
