"""Properties of a lowered function for running it in addition to its derivative: side effects, inner dtypes, cut derivatives."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping

import numpy as np

from symgrad.frontend.lowered_function import Lowered
from symgrad.frontend.opaque import GENERATORS
from symgrad.ir.core import Call, Const, Op, Operand, Value, reachable, walk
from symgrad.ir.types import INT, Array, List, Object, Scalar, Type
from symgrad.location import Loc
from symgrad.ops.declare import CUTS, USER_ROWS
from symgrad.runtime.support import refill
from symgrad.text import root_of

#: calls that store in their argument
STORES = (setattr, delattr, operator.setitem, operator.delitem, refill, np.copyto)
#: methods that store in lists, sets and deques
STORING = frozenset({"append", "extend", "pop", "add", "discard", "sort"})
#: the types of objects whose content the frontend tracks
FOLLOWED = tuple(map(Object, ("list", "dict", "record")))
#: the type of Python sets that a program creates for itself (``frontend/growing_sets.py``)
OWN = Object("container")
#: constructors of generators that draw the same numbers for the same seed
SEEDED = (np.random.default_rng, np.random.RandomState)


def ops_of(lowered: Lowered) -> Iterator[Op]:
    """Every op of a function and of its callees."""
    for func in reachable(lowered.func):
        yield from walk(func.body)


def why_once(lowered: Lowered, names: tuple[str, ...]) -> tuple[str, Loc] | None:
    """Why, and where, a second run of a function would be observable; None if it would not. ``names`` are its parameters."""
    makers: dict[Operand, Call] = {out: op for op in ops_of(lowered) if isinstance(op, Call) for out in op.outs}
    outsiders = {value for value, text in lowered.inputs if root_of(text.removeprefix("(")) not in names}
    for op in ops_of(lowered):
        if isinstance(op, Call) and op.name == "opaque" and not is_repeatable(op, makers):
            store = stored_in(op, makers)
            if isinstance(store, Value) and store not in outsiders:
                continue
            what = "it assigns to a global variable" if isinstance(store, Const) else said(op.args[0], makers)
            return what, op.loc
    outside = next((root for root in lowered.mutated if root not in ("", *names)), None)  # no name: a copy
    if outside is not None:
        return "it writes to an array or list from outside", lowered.func.loc
    if lowered.keeps:
        return "it calls a cached function", lowered.keeps[0]
    return None


def stores(lowered: Lowered) -> bool:
    """Whether a function stores in objects that it receives."""
    makers: dict[Operand, Call] = {out: op for op in ops_of(lowered) if isinstance(op, Call) for out in op.outs}
    calls = [op for op in ops_of(lowered) if isinstance(op, Call)]
    return any(op.name == "store_outside" or op.name == "opaque" and stored_in(op, makers) is not None for op in calls)


def stored_in(op: Call, makers: Mapping[Operand, Call]) -> Operand | None:
    """The object that a call emitted by the frontend stores in; None for any other call."""
    function = op.args[0]
    if isinstance(function, Const):
        return op.args[1] if function.value in STORES else None
    attribute = makers.get(function)
    if attribute is None or attribute.name != "opaque_attribute" or attribute.settings["attribute"] not in STORING:
        return None
    owner = attribute.args[0]
    return owner if owner.type in FOLLOWED else None


def is_repeatable(op: Call, makers: Mapping[Operand, Call]) -> bool:
    """Whether a call creates a generator from a seed, or draws from such a generator, or uses a set created in the function."""
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
    """The effect of an opaque call, in words."""
    attribute = makers.get(function)
    value = function.value if isinstance(function, Const) else None
    if value is print:
        return "it prints"
    if value in STORES:
        return "it stores a value in an object that was passed to it"
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
    """Whether derivatives of the function deliberately differ from the mathematical ones."""
    return any(isinstance(op, Call) and (op.name in CUTS or op.name in USER_ROWS) for op in ops_of(lowered))


def is_custom(lowered: Lowered) -> bool:
    """Whether the forward function of a ``custom_vjp`` computes a value; it may differ from the function's."""
    return any(isinstance(op, Call) and op.name == "custom" for op in ops_of(lowered))


def dtypes_of(lowered: Lowered) -> frozenset[str]:
    """The dtypes of the values in a function."""
    return frozenset(name for op in ops_of(lowered) for out in op.outs for name in names_in(out.type))


def names_in(type_: Type) -> Iterator[str]:
    """The dtypes in a type."""
    if isinstance(type_, List):
        yield from names_in(type_.item)
    elif isinstance(type_, Array | Scalar) and type_.dtype is not None:
        yield type_.dtype


__all__ = ["dtypes_of", "is_custom", "is_cut", "stores", "why_once"]
