"""Attributes of classes, functions and modules that the program assigns to: each becomes a variable, resolved as Python resolves it.

The first assignment restarts lowering (``AssignedOutside``). The attribute is then read at the
beginning, and bound under its owner and its name. Each assignment also stores in the owner, in
program order. An attribute that exists on some paths only has a bool that says whether it exists.
"""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.edges import fail, fail_unless
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.objects.outside import outside, variable
from symgrad.frontend.objects.reading import (
    attribute_text,
    entry_text,
    from_class,
    has_own_entry,
    is_descriptor,
    is_of_library,
    own_entries,
    own_entry,
    read_name,
    rely_on_no_entry,
    special_entry,
)
from symgrad.frontend.state.abstract_values import decided, resolved_by_paths
from symgrad.frontend.state.bindings import (
    MISSING,
    Above,
    Binding,
    Bound,
    Choice,
    External,
    Fun,
    Generator,
    Maybe,
    Name,
    Num,
    Obj,
    OneOf,
    Partial,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering, presence_of
from symgrad.frontend.state.interruptions import AssignedOutside
from symgrad.frontend.state.program_state import Frame
from symgrad.frontend.text.source import Source
from symgrad.identity import Same
from symgrad.ir.core import FALSE, TRUE, Const, Operand

#: the hint where an attribute cannot be assigned to
INSTEAD = "assign to an attribute of an instance, or to a global variable"
#: the flag of a class created by a statement, whose attributes can be assigned to
MADE_BY_STATEMENT = 1 << 9


# ------------------------------------------------------------------ identity and lookup of attributes


def key_of(owner: Any, name: str) -> Name:
    """The key of an attribute; that of a module's attribute is its global variable."""
    return Same(own_entries(owner) if isinstance(owner, types.ModuleType) else owner), name


def enter_assigned(ctx: Lowering, frame: Frame, assigned: Mapping[Any, Any]) -> None:
    """Read the outside variables that the program assigns to, as variables of its own; an undefined global stays unbound."""
    for key, source in assigned.items():
        if not isinstance(source, Source):
            enter_attribute(ctx, source, key[1])
            continue
        ctx.frame = Frame(source)
        try:
            value, text, _ = read_name(ctx, source, key[1], isinstance(key[0].value, types.CellType))
        except NameError:
            continue
        finally:
            ctx.frame = frame
        ctx.state.names[key] = outside(ctx, value, text, key[1])


def enter_attribute(ctx: Lowering, owner: Any, name: str) -> None:
    """Read an attribute that the program assigns to, when the program begins."""
    key = key_of(owner, name)
    there = has_own_entry(owner, name)
    ctx.state.names[presence_of(key)] = Num(TRUE if there else FALSE)
    if not there:
        rely_on_no_entry(ctx, owner, name)
        return
    ctx.state.names[key] = outside(ctx, own_entry(owner, name), entry_text(ctx, owner, name), name)


@dataclass(frozen=True, slots=True)
class Place:
    """One owner of an attribute: whether it has the attribute, and its value."""

    present: Operand
    read: Callable[[], Binding]


def places(ctx: Lowering, owners: Iterable[Any], attr: str, node: ast.AST) -> list[Place]:
    """The owners that may have an attribute, in order, up to the first that certainly has it."""
    result: list[Place] = []
    for owner in owners:
        key = key_of(owner, attr)
        if key in ctx.assigned_outside:
            present = ctx.number(presence_of(key), TRUE)  # a read of an unbound global variable is refused
            known = decided(present, ctx.state)
            if known is not False:
                result.append(Place(TRUE if known else present, lambda key=key: variable(ctx, key, node)))  # type: ignore[misc]
        elif has_own_entry(owner, attr):
            result.append(Place(TRUE, lambda owner=owner: of_others(ctx, owner, attr, node)))  # type: ignore[misc]
        else:
            rely_on_no_entry(ctx, owner, attr)
        if result and isinstance(result[-1].present, Const):
            break
    return result


def of_others(ctx: Lowering, owner: Any, attr: str, node: ast.AST) -> Binding:
    """An unassigned attribute of a class, where the program assigns to the same one of a derived class."""
    held = own_entry(owner, attr)
    if is_descriptor(held):
        what = f"{attr!r} of {owner.__name__} is a method or property, and the program assigns to this attribute of another class"
        raise UnsupportedSyntax(what, ctx.loc(node), "give the attribute another name")
    return outside(ctx, held, entry_text(ctx, owner, attr), attr)


@dataclass(frozen=True, slots=True)
class Lookup:
    """The lookup of an attribute: the owners in order, the instance's own entry, and Python's message if none has it."""

    owners: Sequence[Any]
    what: str
    own: Binding = MISSING
    cls: type | None = None  #: of an instance


def lookup(ctx: Lowering, owner: Binding, attr: str) -> Lookup | None:
    """The lookup of an attribute that the program assigns to in one of its owners; None for all others."""
    if all(name != attr for _, name in ctx.assigned_outside):
        return None
    result = lookup_of(ctx, owner, attr)
    if result is None or not any(key_of(o, attr) in ctx.assigned_outside for o in result.owners):
        return None
    if isinstance(result.owners[0], type):
        ctx.rely(attribute_text(ctx, result.owners[0], "__mro__"), result.owners[0].__mro__)
    if isinstance(owner, External):
        ctx.rely(owner.text, type(owner.value), "type")
        if type(owner.value).__dictoffset__:
            ctx.rely(f"{owner.text}.__dict__", attr, "unset" if result.own == MISSING else "contains")
    return result


def lookup_of(ctx: Lowering, owner: Binding, attr: str) -> Lookup | None:
    """The lookup of an attribute of a class, function, module or instance; None for other owners, and for special attributes."""
    nowhere = f"object has no attribute {attr!r}"
    match owner:
        case Static(types.FunctionType() as function) | Bound(function=types.FunctionType() as function):
            return Lookup([function], f"{'function' if isinstance(owner, Static) else 'method'!r} {nowhere}")
        case Static(types.ModuleType() as module):
            return Lookup([module], f"module {module.__name__!r} has no attribute {attr!r}")
        case Static(type() as cls):
            if is_descriptor(special_entry(type(cls), attr), data=True):
                return None
            return Lookup(cls.__mro__, f"type object {cls.__name__!r} has no attribute {attr!r}", cls=type(cls))
        case Above(inner, after):
            order = inner.value.__mro__ if isinstance(inner, Static) and isinstance(inner.value, type) else kind_of(inner).__mro__
            return Lookup(order[order.index(after) + 1 :] if after in order else order, f"'super' {nowhere}")
        case Obj(key) if key.kind == "record" and isinstance(key.cls, type):
            own = resolved_by_paths(dict(ctx.state.entries(key)).get(attr, MISSING), ctx.state)
            return Lookup(key.cls.__mro__, f"{key.cls.__name__!r} {nowhere}", own, key.cls)
        case External(value):
            own = owner if has_own_entry(value, attr) else MISSING
            return Lookup(type(value).__mro__, f"{type(value).__name__!r} {nowhere}", own, type(value))
        case Tup(kind=kind) if kind is not None and attr not in kind._fields:
            return Lookup(kind.__mro__, f"{kind.__name__!r} {nowhere}", cls=kind)
    return None


def kind_of(binding: Binding) -> type:
    """The class of an instance."""
    if isinstance(binding, Obj) and isinstance(binding.key.cls, type):
        return binding.key.cls
    return type(binding.value) if isinstance(binding, External) else object


# ------------------------------------------------------------------ reads


def assigned_attribute(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Binding | None:
    """An attribute that the program assigns to, read from the first owner that has it; None for all others."""
    way = lookup(ctx, owner, attr)
    if way is None or not (way.own == MISSING or may_be_missing(way.own)):
        return None
    ways = places(ctx, way.owners, attr, node)
    if isinstance(way.own, Maybe):
        held = way.own
        ways = [Place(held.present, lambda: held.inner), *ways]
    if not ways or not isinstance(ways[-1].present, Const):
        check_nowhere(ctx, way, attr, node)
    return first_of(ctx, ways, node, way.what)


def first_of(ctx: Lowering, ways: list[Place], node: ast.AST, what: str) -> Binding:
    """The value from the first owner that has the attribute; if none has it, the program raises as Python does."""
    if not ways:
        return definite(ctx, MISSING, node, AttributeError, what)
    first, rest = ways[0], ways[1:]
    if isinstance(first.present, Const):
        return first.read()
    if not rest:
        fail_unless(ctx, first.present, AttributeError, what)
        ctx.state.known = {**ctx.state.known, first.present: True}
        return first.read()
    return choose(ctx, first.present, node, first.read, lambda: first_of(ctx, rest, node, what))


def may_be_missing(binding: Binding) -> bool:
    """Whether an instance has the attribute on some paths only."""
    return isinstance(binding, Maybe) and binding.absent == MISSING


def check_nowhere(ctx: Lowering, way: Lookup, attr: str, node: ast.AST) -> None:
    """Refuse a lookup where the owner's class defines an attribute that no owner may have."""
    if way.cls is not None and (special_entry(way.cls, attr) is not MISSING and way.cls not in way.owners or has_fallback(ctx, way.cls)):
        what = f"{attr!r} is assigned to on some paths only, and {way.cls.__name__} provides it on the others"
        raise UnsupportedSyntax(what, ctx.loc(node), "assign to it before, on every path")


def has_fallback(ctx: Lowering, cls: type) -> bool:
    """Whether a user class defines ``__getattr__``."""
    return isinstance(from_class(ctx, cls, "__getattr__"), types.FunctionType)


def is_present(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> Operand | None:
    """Whether an attribute that the program assigns to exists; None for all other attributes."""
    way = lookup(ctx, owner, attr)
    if way is None or not (way.own == MISSING or may_be_missing(way.own)):
        return None
    ways = places(ctx, way.owners, attr, node)
    if not ways or not isinstance(ways[-1].present, Const):
        check_nowhere(ctx, way, attr, node)
    result: Operand = way.own.present if isinstance(way.own, Maybe) else FALSE
    for place in ways:
        if isinstance(place.present, Const):
            return TRUE
        result = place.present if result is FALSE else ctx.call("logical_or", result, place.present)
    return result


# ------------------------------------------------------------------ stores


def assign_attribute(ctx: Lowering, owner: Any, attr: str, value: Binding, node: ast.AST) -> None:
    """``owner.attr = value`` of a class, a function or a module."""
    check_assigned(ctx, owner, attr, node)
    if isinstance(owner, type) and may_bind(value):
        what = f"attribute {attr!r} of class {owner.__name__} becomes a function or descriptor"
        raise UnsupportedSyntax(what, ctx.loc(node), "keep the function in a dict that the class holds")
    key = followed_key(ctx, owner, attr)
    assert ctx.storing is not None
    if isinstance(owner, types.ModuleType):
        ctx.storing.global_stored(key[0].value, attr, value)
    else:
        ctx.storing.attribute_stored(owner, attr, value)
    ctx.bind_outside(key, value)


def remove_attribute(ctx: Lowering, owner: Any, attr: str, node: ast.AST) -> None:
    """``del owner.attr`` of a class or a function."""
    if isinstance(owner, types.ModuleType):
        raise UnsupportedSyntax(f"global variable {attr!r} is deleted", ctx.loc(node), "bind it to None instead")
    check_assigned(ctx, owner, attr, node)
    key = followed_key(ctx, owner, attr)
    present = ctx.number(presence_of(key))
    if decided(present, ctx.state) is not True:
        fail_unless(ctx, present, AttributeError, attr)
    assert ctx.storing is not None
    ctx.storing.attribute_stored(owner, attr, MISSING)
    ctx.state.names[presence_of(key)] = Num(FALSE)


def followed_key(ctx: Lowering, owner: Any, attr: str) -> Name:
    """The name of an attribute that is assigned to; restarts lowering if the assignment was not known."""
    key = key_of(owner, attr)
    if key not in ctx.assigned_outside:
        raise AssignedOutside(key, owner)
    return key


def can_be_assigned(owner: Any) -> bool:
    """Whether the owner is a class, a function written in Python, or a module."""
    return isinstance(owner, type | types.FunctionType | types.ModuleType)


def check_assigned(ctx: Lowering, owner: Any, attr: str, node: ast.AST) -> None:
    """Refuse to assign to an attribute that is special in Python, or whose owner defines assignment itself."""
    if isinstance(owner, type) and owner in ctx.defined_classes:
        what = f"attribute {attr!r} of a class that the function defines is assigned to"
        raise UnsupportedSyntax(what, ctx.loc(node), "keep it in a variable of the function")
    if isinstance(owner, type):
        check_class(ctx, owner, attr, node)
    is_other = isinstance(owner, types.ModuleType) and (type(owner) is not types.ModuleType or has_own_entry(owner, "__getattr__"))
    if is_of_library(owner) or is_other:
        raise UnsupportedSyntax(f"attribute {attr!r} of an object of a library cannot be assigned to", ctx.loc(node), INSTEAD)
    if attr.startswith("__") and attr.endswith("__"):
        what = f"{attr!r} of {owner.__name__} is assigned to, and Python itself reads it"
        raise UnsupportedSyntax(what, ctx.loc(node), "assign to it before the function is called")


def check_class(ctx: Lowering, cls: type, attr: str, node: ast.AST) -> None:
    """The same for a class: checks its metaclass, and the current entry."""
    if not cls.__flags__ & MADE_BY_STATEMENT:
        fail(ctx, TypeError, f"cannot set {attr!r} attribute of immutable type {cls.__name__!r}")
    if issubclass(cls, enum.Enum) and attr in cls.__members__:
        fail(ctx, AttributeError, f"cannot reassign member {attr!r}")
    meta = type(cls)
    if any(special_entry(meta, word) is not own_entry(type, word) for word in ("__setattr__", "__delattr__")):
        what = f"{meta.__name__}, the metaclass of {cls.__name__}, overrides assignment to attributes"
        raise UnsupportedSyntax(what, ctx.loc(node), INSTEAD)
    if is_descriptor(special_entry(meta, attr)):
        what = f"attribute {attr!r} of {cls.__name__} is defined by its metaclass {meta.__name__}"
        raise UnsupportedSyntax(what, ctx.loc(node), INSTEAD)
    if any(is_descriptor(own_entry(base, attr)) for base in cls.__mro__):
        what = f"attribute {attr!r} of {cls.__name__} is a method, property or slot, and is assigned to"
        raise UnsupportedSyntax(what, ctx.loc(node), "give the attribute another name")


def may_bind(value: Binding) -> bool:
    """Whether a value may change when it is read through an instance: a function, a property."""
    match value:
        case Fun() | Bound() | Partial() | Generator():
            return True
        case Static(held) | External(held):
            return is_descriptor(held)
        case Obj(key) if isinstance(key.cls, type):
            return special_entry(key.cls, "__get__") is not MISSING
        case OneOf(values=held):
            return any(map(may_bind, held))
        case Choice(then=one, orelse=two):
            return may_bind(one) or may_bind(two)
        case Maybe(inner=inner):
            return may_bind(inner)
    return False


__all__ = ["assign_attribute", "assigned_attribute", "can_be_assigned", "enter_attribute", "is_present", "remove_attribute"]
