"""Copies of containers, and instances as dicts and tuples: ``copy``, ``dataclasses.asdict``, ``setattr``."""

from __future__ import annotations

import ast
import copy
import dataclasses
from typing import Any

from symgrad.containers import container_of
from symgrad.errors import UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.constructs.targets import store_attribute
from symgrad.frontend.containers.growing_dicts import is_growing
from symgrad.frontend.flow.absent import as_python_does, definite
from symgrad.frontend.objects.derived import BY_OTHERS, NAMESPACE, STORAGE, attributes_of, defined_by_base, is_derived, namespace_of
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.objects.operands import known_value, unwrap
from symgrad.frontend.objects.reading import from_class
from symgrad.frontend.objects.running import of_frames
from symgrad.frontend.state.bindings import MISSING, Binding, External, HeapKey, Location, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.frontend.values.exact import exact_class, is_anything
from symgrad.ir.types import Array, List, Scalar
from symgrad.ops.composed import asking

Args = list[Binding]
Kwargs = dict[str, Binding]


def check_copied(ctx: Lowering, key: HeapKey, word: str, node: ast.AST) -> None:
    """Refuse a class that defines how it is copied."""
    own = (word, "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__")
    said = [from_class(ctx, key.cls, name) for name in own] if isinstance(key.cls, type) and key.kind == "record" else []
    if any(held is not None and held is not getattr(object, name, None) for name, held in zip(own, said, strict=False)):
        raise UnsupportedSyntax(f"{key.cls.__name__} defines how it is copied", ctx.loc(node), "copy its fields")
    if said and word == "__deepcopy__" and from_class(ctx, key.cls, "__getattr__") is not None:  # Python looks up the method of the object
        answer = ctx.apply(Static(asking.has_attribute), [Obj(key), Static(word)], {}, node)
        if known_value(answer) != [False]:
            raise UnsupportedSyntax(f"__getattr__ of {key.cls.__name__} gives __deepcopy__", ctx.loc(node), "copy its fields")


def check_refilled(ctx: Lowering, key: HeapKey, node: ast.AST) -> None:
    """Refuse to copy an instance whose class overrides a method by which Python fills a copy, item by item."""
    cls = key.cls
    said = [word for word in ("__getattr__", "append", "extend", "__setitem__", "__iter__", "items") if not defined_by_base(cls, word)]
    if said or container_of(cls) in BY_OTHERS or NAMESPACE in dict(ctx.state.entries(key)):
        what = (
            f"a copy of an instance of {cls.__name__} is filled by {said[0]}" if said else f"how {cls.__name__} is copied is not supported"
        )
        raise UnsupportedSyntax(what, ctx.loc(node), f"make another {cls.__name__} from its items")


def copied_constant(ctx: Lowering, binding: Static, copies: Any, node: ast.AST) -> Binding:
    """A constant, which is its own copy; or Python's exception if it cannot be copied."""
    if as_python_does(ctx, node, lambda: copies(binding.value)) is not binding.value:
        raise UnsupportedArgument("a copy of this would be another object", ctx.loc(node), "copy it outside the function")
    return binding


@special(copy.copy)
def copied_once(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """A new array, list, dict or instance with the same items."""
    owner = args[0]
    if is_growing(owner):
        return ctx.apply_method(owner, "__copy__", [], node)
    if isinstance(owner, Obj) and owner.key.kind == "record":
        check_copied(ctx, owner.key, "__copy__", node)
        content = dict(ctx.state.entries(owner.key))
        if is_derived(owner):
            check_refilled(ctx, owner.key, node)
            content[STORAGE] = ctx.apply_method(content[STORAGE], "copy", [], node)
        return ctx.new_object("record", content.items(), owner.key.cls)
    if isinstance(owner, View):
        what = f"cannot pickle {exact_class(ctx, owner, node).__name__!r} object"
        return definite(ctx, MISSING, node, TypeError, what)
    if isinstance(owner, Obj) and (owner.key.cls is tuple or owner.key.exact is frozenset):  # these are immutable
        return owner
    if isinstance(owner, Static):
        return copied_constant(ctx, owner, copy.copy, node)
    if isinstance(owner, Num) and is_anything(ctx, owner):
        return opaque(ctx, copy.copy, "copy.copy", [owner], {}, node)
    return owner if isinstance(owner, Num | Tup) else ctx.apply_method(owner, "copy", [], node)


@special(copy.deepcopy)
def copied(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """New arrays, lists, dicts and instances at all depths; shared objects stay shared."""
    return Copier(ctx, node, {}).copied(args[0])


@dataclasses.dataclass(slots=True)
class Copier:
    """Copies everything that a binding holds; ``done`` maps originals to their copies."""

    ctx: Lowering
    node: ast.AST
    done: dict[HeapKey | Location, Binding]

    def copied(self, binding: Binding) -> Binding:
        match binding:
            case Num() if is_anything(self.ctx, binding):
                return opaque(self.ctx, copy.deepcopy, "copy.deepcopy", [binding], {}, self.node)
            case Num():
                return binding
            case Static():
                return copied_constant(self.ctx, binding, copy.deepcopy, self.node)
            case View():
                return copied_once(self.ctx, [binding], {}, self.node)
            case Tup(items, kind):
                return Tup(tuple(map(self.copied, items)), kind)
            case Ref(location, path) if isinstance(self.ctx.type_of(binding), Array):
                if not path and location in self.done:
                    return self.done[location]
                array = self.ctx.apply_method(binding, "copy", [], self.node)
                if not path:
                    self.done[location] = array
                return array
            case Obj(HeapKey(exact=frozenset_)) if frozenset_ is frozenset:
                return binding
            case Obj(key):
                return self.done[key] if key in self.done else self.object(binding, key)
        raise UnsupportedArgument("this cannot be copied with copy.deepcopy", self.ctx.loc(self.node), "copy the arrays in it")

    def object(self, binding: Obj, key: HeapKey) -> Binding:
        if is_growing(binding):
            self.done[key] = self.ctx.apply_method(binding, "__deepcopy__", [Static(None)], self.node)
            return self.done[key]
        check_copied(self.ctx, key, "__deepcopy__", self.node)
        if is_derived(binding):
            check_refilled(self.ctx, key, self.node)
        content = self.ctx.state.heap[key]
        if isinstance(content, Ref):
            type_ = self.ctx.type_of(content)
            if not isinstance(type_, List) or not isinstance(type_.item, Scalar):
                what = "copy.deepcopy of a list of unknown length takes a list of numbers"
                raise UnsupportedArgument(what, self.ctx.loc(self.node), "copy its items in a comprehension")
            self.done[key] = self.ctx.apply_method(binding, "copy", [], self.node)
            return self.done[key]
        result = self.done[key] = self.ctx.new_object(key.kind, (), key.cls, key.exact)
        result.key.unordered = key.unordered
        self.ctx.change(result.key, tuple((k, self.copied(b)) for k, b in content))
        return result


# ------------------------------------------------------------------ attributes by name


@special(setattr)
def setattr_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    target = ast.copy_location(ast.Attribute(ast.Constant(None), unwrap(args[1]), ast.Store()), node)
    store_attribute(ctx, args[0], target, args[2])
    return Static(None)


@special(vars)
def vars_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The attributes of an instance as a read-only dict, because Python's is the instance's own."""
    if not args:
        return of_frames("vars")(ctx, args, kwargs, node)  # type: ignore[no-any-return]
    if not isinstance(args[0], Obj) or args[0].key.kind != "record":
        raise UnsupportedSyntax("vars takes an instance made in the function", ctx.loc(node), "name the attributes")
    if is_derived(args[0]) and namespace_of(ctx, args[0]) is not args[0]:
        return args[0]
    held = attributes_of(ctx, args[0].key)
    attributes = ctx.new_object("dict", held)
    ctx.state.twins |= {attributes.key}
    return attributes


# ------------------------------------------------------------------ dataclasses


def fields_of(ctx: Lowering, owner: Binding, node: ast.AST) -> list[tuple[str, Binding]] | None:
    """The fields of an instance of a dataclass, None for anything else."""
    if not isinstance(owner, Obj) or not dataclasses.is_dataclass(owner.key.cls):
        return None
    content = dict(ctx.state.entries(owner.key))
    return [(f.name, content[f.name]) for f in dataclasses.fields(owner.key.cls)]


@special(dataclasses.asdict)
def as_dict(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return taken_apart(ctx, args[0], node, lambda pairs: ctx.new_object("dict", pairs))


@special(dataclasses.astuple)
def as_tuple(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    return taken_apart(ctx, args[0], node, lambda pairs: Tup(tuple(b for _, b in pairs)))


def taken_apart(ctx: Lowering, owner: Binding, node: ast.AST, build: Any) -> Binding:
    """An instance of a dataclass, and those in it, rebuilt by ``build`` from their fields, with copies of everything else."""
    if isinstance(owner, External) or fields_of(ctx, owner, node) is None:
        raise UnsupportedSyntax("this takes an instance of a dataclass made in the function", ctx.loc(node), "name its fields")

    def part(binding: Binding) -> Binding:
        if (inner := fields_of(ctx, binding, node)) is not None:
            return build([(name, part(b)) for name, b in inner])  # type: ignore[no-any-return]
        match binding:
            case Tup(items, kind):
                return Tup(tuple(map(part, items)), kind)
            case Obj(key) if key.kind != "record" and not isinstance(content := ctx.state.heap[key], Ref):
                return ctx.new_object(key.kind, [(k, part(b)) for k, b in content], key.cls)
        return Copier(ctx, node, {}).copied(binding)

    return part(owner)


@special(dataclasses.fields)
def fields(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """The fields of a dataclass; only their names can be read."""
    cls = args[0].key.cls if isinstance(args[0], Obj) else args[0].value if isinstance(args[0], Static | External) else None
    if not dataclasses.is_dataclass(cls):
        raise UnsupportedSyntax("dataclasses.fields takes a dataclass", ctx.loc(node))
    return Tup(tuple(ctx.new_object("record", (("name", Static(f.name)),), Named) for f in dataclasses.fields(cls)))


class Named:
    """A field of a dataclass at compile time: its name."""
