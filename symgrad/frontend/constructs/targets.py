"""Assignment to a target: a name, a subscript, an attribute, or a pattern of these, over which a value is unpacked."""

from __future__ import annotations

import ast
import dataclasses
import operator
import types
from functools import partial

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.calls.attributes import attribute_of
from symgrad.frontend.containers.growing_dicts import check_attribute
from symgrad.frontend.containers.iterables import Items, items_of, plain, read_at_once, sequence
from symgrad.frontend.flow.absent import definite, definite_item
from symgrad.frontend.flow.edges import fail, fail_unless
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds
from symgrad.frontend.flow.flow import choose
from symgrad.frontend.functions.overwriting import is_held_by
from symgrad.frontend.memory.exception_texts import check_enough, check_unpacked
from symgrad.frontend.memory.loads import Index
from symgrad.frontend.memory.stores import done, places_of, store_array, store_item
from symgrad.frontend.objects.assigned_attributes import assign_attribute, can_be_assigned, remove_attribute
from symgrad.frontend.objects.derived import NAMESPACE, become_namespace, is_derived, is_of_base, namespace_of
from symgrad.frontend.objects.function_attributes import assign_to_function
from symgrad.frontend.objects.opaque import followed
from symgrad.frontend.objects.outside import change_outside
from symgrad.frontend.objects.protocols import own_method
from symgrad.frontend.objects.reading import entry_of_class, from_class, generated, rely_on_entry
from symgrad.frontend.state.bindings import MISSING, Binding, Bound, Choice, External, Fun, Iter, Num, Obj, OneOf, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import standing_for
from symgrad.frontend.state.tables import special
from symgrad.frontend.values.exact import exact_class
from symgrad.ir.core import ZERO, Const
from symgrad.ir.types import Array, Scalar


def bind(ctx: Lowering, target: ast.expr, value: Binding) -> None:
    """Assign to a name, a subscript, an attribute, or a pattern of these."""
    match target:
        case ast.Name(id=name):
            ctx.assign(name, value, target)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items = unpack(ctx, value, parts, target)
            ctx.hold(Tup(tuple(items)))
            for part, item in zip(parts, items, strict=True):
                bind(ctx, part.value if isinstance(part, ast.Starred) else part, item)
        case ast.Subscript():
            store_item(ctx, ctx.evaluate(target.value), target.slice, value, target)
            cut_stored(ctx, target)
        case ast.Attribute():
            store_attribute(ctx, ctx.evaluate(target.value), target, value)
        case _:
            raise UnsupportedSyntax("this cannot be assigned to", ctx.loc(target))


def cut_stored(ctx: Lowering, target: ast.expr) -> None:
    """Cut the derivative of a store through a name in ``no_grad``, too."""
    root = target
    while isinstance(root, ast.Subscript | ast.Attribute):
        root = root.value
    if isinstance(root, ast.Name) and root.id in ctx.no_grad:
        home = ctx.home(root.id)
        binding = ctx.state.names.get((home, root.id))
        if home is not None and home.top and isinstance(binding, Ref) and not binding.path:
            version = ctx.state.memory[binding.location]
            ctx.state.memory[binding.location] = ctx.call("cut", version, hint=root.id)


def store_attribute(ctx: Lowering, owner: Binding, target: ast.Attribute, value: Binding) -> None:
    """``owner.name = value``."""
    if is_one_of_kinds(owner) or isinstance(owner, OneOf):
        each(ctx, owner, target, lambda held: done(store_attribute(ctx, held, target, value)))  # type: ignore[func-returns-value]
        return
    if isinstance(owner, Choice):
        both = owner.then, owner.orelse
        one, other = (partial(store_attribute, ctx, held, target, value) for held in both)
        choose(ctx, owner.test, target, lambda: done(one()), lambda: done(other()))
        return
    owner = definite(ctx, owner, target, AttributeError, f"'NoneType' object has no attribute {target.attr!r}")
    if isinstance(owner, Obj) and owner.key.kind == "record":
        name = ctx.frame.source.mangle(target.attr)
        check_attribute(ctx, owner, name, target)
        if name == NAMESPACE and is_derived(owner):
            become_namespace(ctx, owner, value, target)
            return
        if not own_setter(ctx, owner, name, value, target):
            set_directly(ctx, owner, name, value, target)
        return
    check_has_attribute(ctx, owner, target.attr, target)
    if isinstance(owner, Ref) and isinstance(type_ := ctx.type_of(owner), Array):
        if target.attr == "shape" and isinstance(target.value, ast.Name) and keeps_memory_in_shape(ctx, owner, type_):
            ctx.assign(target.value.id, ctx.apply(Static(np.reshape, "np.reshape"), [owner, value], {}, target), target)
            return
        store_part(ctx, owner, type_, target, value)
        return
    if isinstance(owner, External):
        change_outside(ctx, owner)
        raise UnsupportedSyntax(
            f"attribute {target.attr!r} of an object from outside the function is assigned to",
            ctx.loc(target),
            "return the new value instead",
        )
    if isinstance(owner, Static) and can_be_assigned(owner.value):
        assign_attribute(ctx, owner.value, ctx.frame.source.mangle(target.attr), value, target)
        return
    if isinstance(owner, Fun):
        assign_to_function(ctx, owner, target.attr, value, target)
        return
    check_holds_none(ctx, owner, target.attr)
    raise UnsupportedSyntax(
        f"attribute {target.attr!r} cannot be assigned to",
        ctx.loc(target),
        "assign it to a variable, or to an instance that the function makes or is given",
    )


def keeps_memory_in_shape(ctx: Lowering, owner: Ref, type_: Array) -> bool:
    """Whether the shape of an array can be assigned to: its one name is then bound to a reshaped view."""
    in_rows = type_.rank == 1 or type_.layout == "C"
    return in_rows and not owner.path and is_held_by(ctx, owner, 2)  # the name, and the operand of the assignment


def store_part(ctx: Lowering, owner: Ref, type_: Array, target: ast.Attribute, value: Binding) -> None:
    """``z.real = value`` and ``z.imag = value``: writes every element; a real array is its own real part."""
    if target.attr == "flat":
        ctx.apply(Static(np.put, "np.put"), [owner, places_of(ctx, owner, target), value], {}, target)
        return
    if target.attr not in ("real", "imag"):
        raise UnsupportedSyntax(
            f"attribute {target.attr!r} of an array cannot be assigned to",
            ctx.loc(target),
            "make a new array, for example with np.reshape or astype",
        )
    if type_.kind is None or type_.shape is None:
        raise UnknownType("whether this array is complex is not known", ctx.loc(target), "make it complex before, with dtype=complex")
    if type_.kind != "complex" and target.attr == "imag":
        fail(ctx, TypeError, "array does not have imaginary part to set")
    part = attribute_of(ctx, owner, target.attr, target)
    assert isinstance(part, Ref)
    if not (isinstance(value, Ref) and value.location is part.location and value.path == part.path):  # else the value is already there
        store_array(ctx, part, Index("e", (), ()), value, target)


def check_holds_none(ctx: Lowering, owner: Binding, attr: str) -> None:
    """Emit Python's exception for an assignment to an attribute of a method or a named tuple."""
    match owner:
        case Bound(function=types.FunctionType()):
            fail(ctx, AttributeError, f"'method' object has no attribute {attr!r}")
        case Tup(kind=kind) if kind is not None and attr in kind._fields:
            fail(ctx, AttributeError, "can't set attribute")


def check_has_attribute(ctx: Lowering, owner: Binding, attr: str, node: ast.AST) -> None:
    """Emit Python's exception for a new attribute of a number, an array or a container, which have no ``__dict__``."""
    match owner:
        case Num(operand) if not isinstance(operand.type, Scalar):
            return
        case Static(value) if type(value) is not str:
            return
        case Obj(key) if key.kind == "record":
            return
        case Num() | Static() | Tup() | Obj():
            cls = exact_class(ctx, owner, node)
        case Ref() if isinstance(ctx.type_of(owner), Array):
            cls = np.ndarray
        case _:
            return
    if not cls.__dictoffset__ and entry_of_class(ctx, cls, attr) is MISSING:
        name = f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__
        fail(ctx, AttributeError, f"{name!r} object has no attribute {attr!r}")


#: setters that store the attribute and have no other effect
DIRECT = (object.__setattr__, BaseException.__setattr__, types.SimpleNamespace.__setattr__)


def own_setter(ctx: Lowering, owner: Obj, name: str, value: Binding, node: ast.AST) -> bool:
    """Assign by a property's setter or another setter of the class; return whether there is one."""

    if from_class(ctx, owner.key.cls, "__setattr__") not in DIRECT:
        return set_by_class(ctx, owner, name, value, node)
    return set_by_descriptor(ctx, owner, name, value, node)


def delete_attribute(ctx: Lowering, owner: Binding, target: ast.Attribute) -> None:
    """``del owner.name`` of an instance that was created in the function: by its class's method, or by removing the attribute."""
    name = ctx.frame.source.mangle(target.attr)
    change_outside(ctx, owner)
    if isinstance(owner, Static) and can_be_assigned(owner.value):
        remove_attribute(ctx, owner.value, name, target)
        return
    if isinstance(owner, Fun):
        assign_to_function(ctx, owner, name, MISSING, target)
        return
    if not (isinstance(owner, Obj) and owner.key.kind == "record"):
        raise UnsupportedSyntax("this attribute cannot be deleted", ctx.loc(target))
    cls = owner.key.cls
    if (own := own_method(ctx, owner, "__delattr__")) is not None and not followed(ctx, own):
        raise UnsupportedSyntax(f"an attribute is deleted, and {cls.__name__} defines __delattr__", ctx.loc(target))
    if is_derived(owner) and is_of_base(entry := from_class(ctx, cls, "__delattr__")):
        rely_on_entry(ctx, cls, "__delattr__")
        ctx.apply(Bound(owner, "__delattr__", entry), [Static(name)], {}, target)
    elif own is not None:
        ctx.apply_method(owner, "__delattr__", [Static(name)], target)
    elif not deleted_by_descriptor(ctx, owner, name, target):
        owner = namespace_of(ctx, owner) if is_derived(owner) else owner
        content = dict(ctx.state.entries(owner.key))
        definite_item(ctx, content.pop(name, MISSING), target, AttributeError, f"{cls.__name__!r} object has no attribute {name!r}")
        ctx.change(owner.key, tuple(content.items()))


def deleted_by_descriptor(ctx: Lowering, owner: Obj, name: str, node: ast.AST) -> bool:
    """Delete by a property or another descriptor of the class; return whether there is one."""
    cls = owner.key.cls
    held = entry_of_class(ctx, cls, name)
    rely_on_entry(ctx, cls, name, "type")
    if isinstance(held, property):
        rely_on_entry(ctx, cls, name)
        if held.fdel is None:
            fail(ctx, AttributeError, f"property {name!r} of {cls.__name__!r} object has no deleter")
        ctx.apply(Bound(owner, name, held.fdel), [], {}, node)
        return True
    own = from_class(ctx, type(held), "__delete__")
    if followed(ctx, own):
        ctx.apply(Bound(Static(held, name), "__delete__", own), [owner], {}, node)
        return True
    if own is not None and not isinstance(held, types.MemberDescriptorType):
        raise UnsupportedSyntax(f"attribute {name!r} of {cls.__name__} cannot be deleted here", ctx.loc(node))
    return False


def set_directly(ctx: Lowering, owner: Obj, name: str, value: Binding, node: ast.AST) -> None:
    """Store an attribute in the instance itself, without its class's methods."""
    home = namespace_of(ctx, owner) if is_derived(owner) else owner
    if home is not owner:
        ctx.apply(Static(operator.setitem), [home, Static(name), value], {}, node)
        return
    if not owner.key.cls.__dictoffset__ and entry_of_class(ctx, owner.key.cls, name) is MISSING:
        fail(ctx, AttributeError, f"{owner.key.cls.__name__!r} object has no attribute {name!r}")
    ctx.change(owner.key, tuple({**dict(ctx.state.entries(owner.key)), name: value}.items()))


def set_by_class(ctx: Lowering, owner: Obj, name: str, value: Binding, node: ast.AST) -> bool:
    """Assign with the ``__setattr__`` of the class; that of a frozen dataclass raises."""
    cls = owner.key.cls
    params = from_class(ctx, cls, "__dataclass_params__")
    if params is not None and params.frozen and generated(cls, "__setattr__") is not None:
        fail(ctx, dataclasses.FrozenInstanceError, f"cannot assign to field {name!r}")
    setter = from_class(ctx, cls, "__setattr__")
    if is_derived(owner) and is_of_base(setter):
        rely_on_entry(ctx, cls, "__setattr__")
        ctx.apply(Bound(owner, "__setattr__", setter), [Static(name), value], {}, node)
        return True
    if not isinstance(setter, types.FunctionType):
        what = f"attribute {name!r} is assigned to: {cls.__name__} defines __setattr__"
        raise UnsupportedSyntax(what, ctx.loc(node), "assign to a variable, or to an instance of a plain class")
    rely_on_entry(ctx, cls, "__setattr__")
    ctx.apply(Bound(owner, "__setattr__", setter), [Static(name), value], {}, node)
    return True


@special(object.__setattr__)
def set_as_object(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``object.__setattr__(self, name, value)``, which bypasses the class's own ``__setattr__``."""
    owner, name = definite(ctx, args[0], node), args[1]
    if not isinstance(owner, Obj) or owner.key.kind != "record" or not isinstance(name, Static) or not isinstance(name.value, str):
        raise UnsupportedSyntax("object.__setattr__ takes an instance made in the function, and a name that is known", ctx.loc(node))
    if not set_by_descriptor(ctx, owner, name.value, args[2], node):
        set_directly(ctx, owner, name.value, args[2], node)
    return Static(None)


def set_by_descriptor(ctx: Lowering, owner: Obj, name: str, value: Binding, node: ast.AST) -> bool:
    """Assign by a property or another descriptor of the class; return whether there is one."""
    cls = owner.key.cls
    held = entry_of_class(ctx, cls, name)
    rely_on_entry(ctx, cls, name, "type")
    if isinstance(held, property) and held.fset is not None:
        rely_on_entry(ctx, cls, name)
        ctx.apply(Bound(owner, name, held.fset), [value], {}, node)
        return True
    own = from_class(ctx, type(held), "__set__")
    if followed(ctx, own):
        ctx.apply(Bound(Static(held, name), "__set__", own), [owner, value], {}, node)
        return True
    if isinstance(held, property):
        rely_on_entry(ctx, cls, name)
        fail(ctx, AttributeError, f"property {name!r} of {cls.__name__!r} object has no setter")
    if own is not None and not isinstance(held, types.MemberDescriptorType):
        raise UnsupportedSyntax(
            f"attribute {name!r} of {cls.__name__} cannot be assigned to here",
            ctx.loc(node),
            "make it a property with a setter, or a plain attribute",
        )
    return False


# ------------------------------------------------------------------ unpacking


def unpack(ctx: Lowering, binding: Binding, targets: list[ast.expr], node: ast.AST) -> list[Binding]:
    """Split a value over the targets of an assignment."""
    binding = read_at_once(ctx, binding)
    star = next((k for k, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    binding = sequence(ctx, binding, node)
    if star is None and (columns := columns_of(ctx, binding, len(targets))) is not None:
        return columns
    items = items_of(ctx, binding, node)
    if star is not None and isinstance(items, Items) and not isinstance(binding, Obj):
        binding = ctx.apply(Static(list), [binding], {}, node)
        items = items_of(ctx, binding, node)
    if star is not None and isinstance(items, Items) and isinstance(binding, Obj):
        return unpack_list(ctx, binding, items, star, len(targets) - star - 1, node)
    if not isinstance(items, list):
        items = unpack_memory(ctx, items, len(targets), node)
    if star is None:
        if len(items) != len(targets):
            word, held = ("not enough", f", got {len(items)}") if len(items) < len(targets) else ("too many", "")
            fail(ctx, ValueError, f"{word} values to unpack (expected {len(targets)}{held})")
        return items
    after = len(targets) - star - 1
    if len(items) < len(targets) - 1:
        fail(ctx, ValueError, f"not enough values to unpack (expected at least {len(targets) - 1}, got {len(items)})")
    middle = ctx.new_object("list", enumerate(items[star : len(items) - after]))
    return [*items[:star], middle, *items[len(items) - after :]]


def columns_of(ctx: Lowering, binding: Binding, count: int) -> list[Binding] | None:
    """The columns that ``zip(*rows)`` gives for a dynamic number of rows; without rows there is nothing to unpack. None for all else."""
    if not isinstance(binding, Iter) or binding.kind != "columns" or len(binding.parts[0].items) != count:
        return None
    columns, length = binding.parts
    fail_unless(ctx, ctx.call("greater", length, ZERO), ValueError, f"not enough values to unpack (expected {count}, got 0)")
    return list(columns.items)


def unpack_list(ctx: Lowering, binding: Obj, items: Items, first: int, last: int, node: ast.AST) -> list[Binding]:
    """The first and the last items of a list of any length, and a list of those between them."""
    count = items.bounds[1]
    check_enough(ctx, count, first + last, "at least ")
    rest = standing_for(ctx.call("list_slice", ctx.read(binding), Const(first), Const(-last if last else None), Const(None)), list)
    ends = [items.item(ctx.call("subtract", count, Const(last - k))) for k in range(last)]
    return [*(items.item(Const(k)) for k in range(first)), ctx.list_sharing(rest, binding), *ends]


def unpack_memory(ctx: Lowering, items: Items, count: int, node: ast.AST) -> list[Binding]:
    items = plain(ctx, items)
    extent = ctx.builder.extent_of(items.bounds[1])
    if isinstance(extent, int):
        return [items.item(Const(k)) for k in range(extent)]
    if items.counts:
        raise UnsupportedSyntax("a range cannot be unpacked", ctx.loc(node))
    check_unpacked(ctx, items.bounds[1], count)
    return [items.item(Const(k)) for k in range(count)]
