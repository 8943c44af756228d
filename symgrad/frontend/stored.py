"""What a function stores in lists, dicts and instances that it was given: written to them where it ends, as after a plain call.

Arrays are left as they were: a function that writes to one writes to a copy.  What is stored must be something that emitted code can make:
numbers, arrays, texts, lists, tuples and dicts of these, objects that were given, and instances of plain classes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.bindings import (
    MISSING,
    Binding,
    Broken,
    External,
    HeapKey,
    Location,
    Maybe,
    Missing,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Tup,
    View,
)
from symgrad.frontend.context import Lowering
from symgrad.frontend.opaque import opaque_operand
from symgrad.frontend.printed import as_given
from symgrad.frontend.reading import owner_name
from symgrad.ir.core import Block, Const, If, Operand, Value
from symgrad.ir.types import Array, Object
from symgrad.runtime.support import instance_of, refill
from symgrad.text import root_of


@dataclass(slots=True)
class Storing:
    """The end of a function: ``before`` is what the objects that were given held when it began."""

    ctx: Lowering
    node: ast.AST
    before: Mapping[HeapKey, Any]
    inputs: list[tuple[Value, str]]
    given: dict[HeapKey, Value] = field(default_factory=dict)  #: operands for objects that were given
    made: dict[Any, Operand] = field(default_factory=dict)  #: what was made for memory and objects, so that one stays one

    def run(self) -> None:
        """Store what has changed."""
        state = self.ctx.state
        for key, path in list(self.ctx.arguments.items()):
            if path in self.ctx.stored and key in self.before:
                content = state.heap[key]
                if isinstance(content, tuple) and any(isinstance(b, Broken) for _, b in content):
                    what = f"what is stored in {path} depends on the path taken, or on which of two objects it is"
                    raise UnsupportedSyntax(what, self.ctx.loc(self.node), "store it in a new object and return that")
                self.store(key, content)

    def store(self, key: HeapKey, content: Any) -> None:
        """Give an object what it holds now."""
        before = self.before[key]
        if key.kind == "list":
            if content != before or isinstance(content, Ref):
                self.call(refill, self.object(key), self.list_of(Obj(key)))
            return
        old, new = (dict(c) for c in (before, content))
        names = [k for k in new if not isinstance(new[k], Missing)]
        if key.kind == "dict" and [k for k in old if k in names] + [k for k in names if k not in old] != names or old.keys() - set(names):
            if key.kind != "dict" or any(isinstance(b, Maybe) and b.absent == MISSING for b in new.values()):
                raise UnsupportedSyntax(f"a part of {self.ctx.arguments[key]} is deleted", self.ctx.loc(self.node), "set it to None")
            self.call(refill, self.object(key), self.dict_of(content))
            return
        for name in names:
            if name not in old or new[name] != old[name]:
                self.one(key, name, new[name])

    def one(self, key: HeapKey, name: Any, value: Binding) -> None:
        """Store one attribute or item, if it is there."""
        put = setattr if key.kind == "record" else operator.setitem
        if isinstance(value, Maybe) and value.absent == MISSING:
            there = Block()
            with self.ctx.inside(there):
                self.call(put, self.object(key), Const(name), self.value(value.inner))
            self.made.clear()
            self.ctx.builder.append(If([], self.ctx.builder.loc, value.present, there, Block()))
            return
        self.call(put, self.object(key), Const(name), self.value(value))

    def call(self, function: Any, *operands: Operand, effect: bool = True) -> Operand:
        name = "setattr" if function is setattr else function.__name__ if function in (tuple, dict) else owner_name(self.ctx, function)
        return self.ctx.call("opaque" if effect else "opaque_pure", Const(function, name), *operands, names=())

    def object(self, key: HeapKey) -> Operand:
        """An object that was given, as an operand."""
        if key not in self.given:
            path = self.ctx.arguments[key]
            value = self.given[key] = Value(Object(key.kind), root_of(path))
            self.inputs.append((value, f"({path})"))
        return self.given[key]

    def value(self, binding: Binding) -> Operand:
        """What is stored, as an operand."""
        match binding:
            case View() | Broken():
                pass
            case Ref(location=location):
                return self.array(binding, location)
            case Num() | Static() | OneOf():
                return self.ctx.read(binding, self.node)
            case Maybe(inner=Num() | Static()):
                return self.ctx.read(binding, self.node)
            case External():
                return opaque_operand(self.ctx, binding, self.node)
            case Tup(items, kind):
                inside = [self.value(item) for item in items]
                if kind is not None:
                    return self.ctx.call("opaque_pure", Const(kind, owner_name(self.ctx, kind)), *inside, names=())
                return self.call(tuple, self.ctx.call("list_of", *inside), effect=False)
            case Obj(key) if key in self.before:
                return self.object(key)
            case Obj(key) if not key.doubtful and key not in self.ctx.state.twins:
                if key not in self.made:
                    self.made[key] = self.new_object(binding, key)
                return self.made[key]
        what = "this cannot be stored in an object that the function was given"
        raise UnsupportedSyntax(what, self.ctx.loc(self.node), "store numbers, arrays, lists, tuples or dicts of these")

    def array(self, binding: Ref, location: Location) -> Operand:
        """An array that was given is stored itself; what was computed as a copy that nothing else is done to."""
        version = self.ctx.state.memory[location]
        if isinstance(version, Value) and not binding.path and any(version is value for value, _ in self.inputs):
            return version
        if not isinstance(self.ctx.type_of(binding), Array):
            raise UnknownType("the type of what is stored is not known", self.ctx.loc(self.node), "convert it with np.asarray or float")
        if binding.path or location not in self.made:
            made = self.ctx.call("copy", self.ctx.read(binding, self.node))
            if binding.path:
                return made
            self.made[location] = made
        return self.made[location]

    def new_object(self, binding: Obj, key: HeapKey) -> Operand:
        """A list, dict or instance that was made in the function."""
        content = self.ctx.state.heap[key]
        if key.exact is None and key.kind == "list" and key.cls in (None, tuple):
            made = self.list_of(binding)
            return self.call(tuple, made, effect=False) if key.cls is tuple else made
        if key.exact is None and key.kind == "dict" and key.cls is None:
            return self.dict_of(content)
        if key.kind == "record" and isinstance(key.cls, type) and not key.cls.__module__.startswith("symgrad"):
            names = [Const(name) for name, _ in self.ctx.state.entries(key)]
            values = [self.value(b) for _, b in self.ctx.state.entries(key)]
            cls = Const(key.cls, owner_name(self.ctx, key.cls))
            return self.call(instance_of, cls, self.ctx.call("list_of", *names), *values, effect=False)
        return self.value(Broken("it is of a class of its own"))

    def list_of(self, binding: Obj) -> Operand:
        content = self.ctx.state.heap[binding.key]
        if isinstance(content, Ref):
            copy = self.ctx.call("list_slice", self.ctx.read(content), Const(None), Const(None), Const(None))
            return as_given(self.ctx, copy, False, self.node)
        return self.ctx.call("list_of", *[self.value(b) for _, b in content])

    def dict_of(self, content: Any) -> Operand:
        pairs = [self.ctx.call("list_of", Const(k), self.value(b)) for k, b in content]
        return self.call(dict, self.ctx.call("list_of", *pairs), effect=False)


__all__ = ["Storing"]
