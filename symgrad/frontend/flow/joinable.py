"""Predicates of joins on two bindings of a name: functions, objects, iterators, lists of numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from symgrad.frontend.state.abstract_values import inner_of
from symgrad.frontend.state.bindings import (
    Binding,
    Bound,
    Broken,
    Choice,
    Fun,
    Generator,
    HeapKey,
    Iter,
    Obj,
    Partial,
    Ref,
    Static,
    Tup,
)
from symgrad.frontend.state.program_state import State
from symgrad.ir.core import Const, Operand


def can_be_called(binding: Binding) -> bool:
    """Whether the binding is a function."""
    if isinstance(binding, Choice):
        return can_be_called(binding.then) and can_be_called(binding.orelse)
    return isinstance(binding, Fun | Bound | Partial) or isinstance(binding, Static) and callable(binding.value)


def with_parts(binding: Binding, change: Callable[[Binding], Binding]) -> Binding:
    """A function with another binding in the place of each that it holds: defaults, the owner of a method, arguments of a partial."""
    match binding:
        case Fun(defaults=pairs) if pairs:
            return replace(binding, defaults=tuple((name, change(held)) for name, held in pairs))
        case Bound(owner=owner):
            return replace(binding, owner=change(owner))
        case Partial(function=function, args=args, kwargs=kwargs):
            named = tuple((name, change(held)) for name, held in kwargs)
            return replace(binding, function=change(function), args=tuple(map(change, args)), kwargs=named)
    return binding


def is_same_number(a: Operand, b: Operand) -> bool:
    """Whether two operands are the same constant number, to the last bit."""
    if not (isinstance(a, Const) and isinstance(b, Const)):
        return False
    return type(a.value) is type(b.value) and isinstance(a.value, bool | int | float) and repr(a.value) == repr(b.value)


def sites_of(binding: Binding) -> frozenset[Any]:
    """The locations that create an iterator without a position, or one of several."""
    if isinstance(binding, Broken):
        return binding.sites
    return frozenset({binding.key.cls}) if isinstance(binding, Iter | Generator) and binding.key is not None else frozenset()


def holds_object(binding: Binding) -> bool:
    """Whether the binding is a list, dict or instance, or a tuple with one in it."""
    binding = inner_of(binding)
    return isinstance(binding, Obj) or isinstance(binding, Tup) and any(map(holds_object, binding.items))


def reordered(top: State, end: State) -> bool:
    """Mark the dicts whose order of keys changes in an iteration; return whether there is one."""
    changed = [key for key in top.heap if key.kind == "dict" and key.cls is not set and not key.unordered and not same_order(top, end, key)]
    for key in changed:
        key.unordered = True
    return bool(changed)


def same_order(top: State, end: State, key: HeapKey) -> bool:
    """Whether the common keys of a dict have the same order in two states."""
    one, other = top.heap.get(key), end.heap.get(key)
    if end.dead or one is None or other is None or isinstance(one, Ref) or isinstance(other, Ref):
        return True
    before, after = dict(one), dict(other)
    return [k for k in before if k in after] == [k for k in after if k in before]


def chooses_object(binding: Binding) -> bool:
    """Whether ``holds_object`` is true on some path."""
    if isinstance(binding, Choice):
        return chooses_object(binding.then) or chooses_object(binding.orelse)
    return holds_object(binding)


__all__ = ["can_be_called", "chooses_object", "holds_object", "reordered", "sites_of", "with_parts"]
