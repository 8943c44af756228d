"""Stores of a function in lists, dicts and instances that it was passed: emitted in program order, as in a plain call.

A *handle* is an operand for an object of the caller's: the path of an argument, or the emitted copy of an object that was created here
and then stored in an argument. Every change of the tracked object is applied to the handle at once, so that the state after an
exception is the same as in Python. Arrays that were passed keep their contents; others are written to together with the tracked copy. A
stored value must be one that emitted code can build: numbers, arrays, texts, lists, tuples, dicts and sets of these, objects that were
passed, and instances of plain classes.
"""

from __future__ import annotations

import ast
import collections
import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.containers import call_of_base, container_of, delete_in_base, instance_of_container, store_in_base
from symgrad.errors import UnknownType, UnsupportedSyntax, UnsureAlias
from symgrad.frontend.flow.sequences import taken_apart
from symgrad.frontend.objects.derived import STORAGE, storage_of
from symgrad.frontend.objects.opaque import opaque_operand
from symgrad.frontend.objects.python_results import as_given
from symgrad.frontend.objects.reading import from_class, owner_name
from symgrad.frontend.state.alias_hints import argument_apart
from symgrad.frontend.state.bindings import (
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
    Step,
    Tup,
    View,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import spelled
from symgrad.frontend.state.interruptions import StoredOutside
from symgrad.ir.core import NONE, Block, Call, Const, If, Operand, Value
from symgrad.ir.types import Array, List, Object, Scalar, Struct
from symgrad.runtime.support import instance_of, refill
from symgrad.text import root_of

#: the location of this module's errors: the statement that is being lowered
HERE = ast.Pass()
#: the type of an operand that is an array from outside, to which the function writes
FROM_OUTSIDE = Object("array")
#: builtins that emitted text calls by their own names
BY_NAME = (setattr, delattr, tuple, dict, set, frozenset, slice)


@dataclass(slots=True)
class Storing:
    """Applies the program's changes of tracked objects to the caller's objects."""

    ctx: Lowering
    inputs: list[tuple[Value, str]]
    paths: dict[HeapKey, str]  #: the objects that were given, by where they were
    handles: dict[HeapKey, Value] = field(default_factory=dict)  #: of these, those that were needed
    descending: Operand | None = None  #: while a list is sorted: whether in reverse order

    # -------------------------------------------------------------- handles

    def is_outside(self, key: HeapKey) -> bool:
        """Whether the caller can see an object."""
        return key in self.ctx.arguments or key in self.ctx.state.handles

    def known_handle(self, key: HeapKey) -> Operand | None:
        """The handle of an object of the caller's; None where it depends on the path which object it is."""
        if key in self.ctx.state.handles:
            return self.ctx.state.handles[key]
        if key not in self.paths:
            return None
        if key not in self.handles:
            path = self.paths[key]
            value = self.handles[key] = Value(Object(key.kind), root_of(path))
            self.inputs.append((value, f"({path})"))
        return self.handles[key]

    def handle(self, key: HeapKey) -> Operand:
        """The handle of an object of the caller's that is about to be changed."""
        handle = self.known_handle(key)
        if handle is None:
            what = "the object changed here depends on the path taken, and is one that the function was passed or has stored"
            parameters = [root_of(path) for path in sorted(self.ctx.standing.get(key, ())) or self.ctx.arguments.values()]
            hint = argument_apart(self.ctx.frame.source, parameters) or "change it before the branch or loop, or store a copy"
            raise UnsupportedSyntax(what, self.ctx.builder.loc, hint)
        self.ctx.stored |= self.ctx.standing.get(key, set()) | ({self.paths[key]} if key in self.paths else set())
        return handle

    # -------------------------------------------------------------- changes of objects

    def changed(self, key: HeapKey, before: Any) -> None:
        """Apply a change of a tracked object to the caller's object."""
        if not self.is_outside(key):
            return
        after = self.ctx.state.heap[key]
        if key.kind == "list":
            self.list_changed(key, before, after)
        elif not isinstance(before, Ref) and not isinstance(after, Ref):
            self.items_changed(key, dict(before), dict(after))

    def items_changed(self, key: HeapKey, old: dict[Any, Binding], new: dict[Any, Binding]) -> None:
        """Store and delete attributes, items or elements."""
        old = {k: b for k, b in old.items() if not isinstance(b, Missing)}
        new = {k: b for k, b in new.items() if not isinstance(b, Missing)}
        if key.kind == "dict" and [k for k in old if k in new] + [k for k in new if k not in old] != list(new):
            self.call(refill, self.handle(key), self.dict_of(key, tuple(new.items())))
            return
        for name in [k for k in old if k not in new]:
            remove = self.remover(key)
            self.where_present(old[name], lambda held, name=name, remove=remove: self.remove(key, name, remove))
        for name, binding in new.items():
            if name not in old or old[name] is not binding:
                self.where_present(binding, lambda held, name=name: self.put(key, name, held))

    def where_present(self, binding: Binding, do: Any) -> None:
        """Apply ``do`` to a binding that may be missing, on the paths where it exists."""
        if not (isinstance(binding, Maybe) and binding.absent == MISSING):
            do(binding)
            return
        there, handles, arrays = Block(), dict(self.ctx.state.handles), dict(self.ctx.state.stored_arrays)
        with self.ctx.inside(there):
            do(binding.inner)
        self.ctx.state.handles.update({key: None for key in self.ctx.state.handles if key not in handles})
        self.ctx.state.stored_arrays.update({place: None for place in self.ctx.state.stored_arrays if place not in arrays})
        self.ctx.builder.append(If([], self.ctx.builder.loc, binding.present, there, Block()))

    def remove(self, key: HeapKey, name: Any, function: Any) -> None:
        if function is None:
            self.method(key, "discard", self.key_operand(name))
        else:
            self.call(function, self.handle(key), self.key_operand(name))

    def put(self, key: HeapKey, name: Any, value: Binding) -> None:
        """Store one attribute or item."""
        if key.cls is set:
            self.method(key, "add", self.key_operand(name))
            return
        stored = self.value(value)
        self.call(self.setter(key), self.handle(key), self.key_operand(name), stored)

    def setter(self, key: HeapKey) -> Any:
        """The function that stores an attribute or item, bypassing the class of an instance."""
        if key.kind == "record":
            return setattr if from_class(self.ctx, key.cls, "__setattr__") is object.__setattr__ else object.__setattr__
        return store_in_base if self.ctx.storages else operator.setitem

    def remover(self, key: HeapKey) -> Any:
        """The function that deletes an attribute or item; None for an element of a set."""
        if key.kind == "record":
            return delattr if from_class(self.ctx, key.cls, "__delattr__") is object.__delattr__ else object.__delattr__
        return None if key.cls is set else delete_in_base if self.ctx.storages else operator.delitem

    def key_operand(self, name: Any) -> Operand:
        """A key, the name of an attribute, or an element of a set."""
        if isinstance(name, tuple):
            return self.call(tuple, self.ctx.call("list_of", *map(self.key_operand, name)), effect=False)
        return self.ctx.constant(name, None if isinstance(name, str | int | float | bool | None) else owner_name(self.ctx, name))

    def list_changed(self, key: HeapKey, before: Any, after: Any) -> None:
        """Apply the change from the old to the new content of a list to the caller's list."""
        if isinstance(after, Ref):
            self.list_became_value(key, before, after)
        elif isinstance(before, Ref) or key.exact is not None:
            self.call(refill, self.handle(key), self.ctx.call("list_of", *[self.value(b) for _, b in after]))
        else:
            self.spliced(key, [b for _, b in before], [b for _, b in after])

    def spliced(self, key: HeapKey, old: list[Binding], new: list[Binding]) -> None:
        """Replace the part of a list that differs."""
        first = next((k for k, (a, b) in enumerate(zip(old, new, strict=False)) if a is not b), min(len(old), len(new)))
        rest = zip(old[first:][::-1], new[first:][::-1], strict=False)
        last = next((k for k, (a, b) in enumerate(rest) if a is not b), min(len(old), len(new)) - first)
        gone, come = len(old) - first - last, [self.value(b) for b in new[first : len(new) - last]]
        if not gone and not come:
            return
        if not gone and first == len(old):
            for value in come:
                self.method(key, "append", value)
        elif gone == len(come) == 1:
            self.call(self.setter(key), self.handle(key), Const(first), come[0])
        elif gone == 1 and not come:
            self.call(self.remover(key), self.handle(key), Const(first))
        else:
            part = self.call(slice, Const(first), Const(first + gone), effect=False)
            self.call(self.setter(key), self.handle(key), part, self.ctx.call("list_of", *come))

    def list_became_value(self, key: HeapKey, before: Any, after: Ref) -> None:
        """Apply a list's change from static items to one value to the caller's list."""
        version = self.ctx.state.memory[after.location]
        maker = self.maker(version)
        if maker is not None and maker.name == "list_of" and isinstance(before, tuple) and len(maker.args) == len(before):
            return
        if maker is not None and maker.name == "list_join":
            self.method(key, "extend", self.of_operand(maker.args[1]))
            return
        self.refilled(key, version)

    def replaced(self, location: Location, old: Operand) -> None:
        """Apply a new version of a list or array in memory to the caller's objects."""
        state = self.ctx.state
        if isinstance(state.memory[location].type, Array):
            self.check_outside(location)
        if location in state.stored_arrays:
            self.array_changed(location)
        for key in dict.fromkeys([*self.ctx.arguments, *state.handles]):
            content = state.heap.get(key)
            if isinstance(content, Ref) and content.location is location and not content.path:
                self.list_replaced(key, old, state.memory[location])

    def list_replaced(self, key: HeapKey, old: Operand, new: Operand) -> None:
        """Apply an op on a tracked list to the caller's list."""
        maker = self.maker(new)
        match maker:
            case Call(name="list_append", args=[before, item]) if before is old:
                self.method(key, "append", self.of_operand(item))
            case Call(name="list_set", args=[before, place, item]) if before is old:
                self.call(self.setter(key), self.handle(key), place, self.of_operand(item))
            case Call(name="list_drop", args=[before]) if before is old:
                self.method(key, "pop")
            case Call(name="list_slice", args=[before, Const(1), Const(None), Const(None)]) if before is old:
                self.method(key, "pop", Const(0))
            case Call(name="list_join", args=[before, others]) if before is old:
                self.method(key, "extend", self.of_operand(others))
            case _:
                self.refilled(key, new)

    def refilled(self, key: HeapKey, version: Operand) -> None:
        """Give a list of the caller's the items of another list, or sort it: its items stay the same objects."""
        if self.descending is not None and not self.ctx.storages:
            function = self.ctx.call("opaque_attribute", self.handle(key), attribute="sort")
            self.ctx.call("opaque", function, self.descending, names=("reverse",))
            return
        self.call(refill, self.handle(key), self.copy_of_list(version))

    @contextmanager
    def sorting(self, descending: Operand | None) -> Iterator[None]:
        """Mark changes of a list inside as sorting without a key; with a key the operand is None."""
        self.descending = descending
        yield
        self.descending = None

    def maker(self, value: Operand) -> Call | None:
        """The call in the current block that defines a value; None if there is none."""
        ops = self.ctx.builder.block.ops
        maker = next((op for op in reversed(ops) if any(out is value for out in op.outs)), None)
        return maker if isinstance(maker, Call) else None

    def global_stored(self, names: dict[str, Any], name: str, value: Binding) -> None:
        """Assign to a global variable of a module."""
        self.call(operator.setitem, Const(names, owner_name(self.ctx, names, "module_names")), Const(name), self.value(value))

    def attribute_stored(self, owner: Any, name: str, value: Binding, word: str | None = None) -> None:
        """Assign to an attribute of a class, function or cell, or delete it; ``word`` names the owner in emitted text."""
        holder = Const(owner, owner_name(self.ctx, owner, word))
        if isinstance(value, Missing):
            self.call(delattr, holder, Const(name))
        else:
            self.call(setattr, holder, Const(name), self.value(value))

    # -------------------------------------------------------------- changes of arrays

    def array_stored(self, ref: Ref, value: Operand, last: Step | None) -> None:
        """Apply a store to the caller's copies of an array; the first store to an array from outside restarts lowering."""
        self.check_outside(ref.location)
        if ref.location in self.ctx.state.stored_arrays:
            self.array_changed(ref.location, ref.path if last is None else (*ref.path, last), value)

    def check_outside(self, location: Location) -> None:
        """Restart at the first store to an array from outside; refuse a store to an array that only may share memory with one."""
        if self.array_from_outside(location) is not None:
            return
        others = (location, *self.ctx.state.partners.get(location, ()))
        outside = (*self.ctx.owned.items(), *reversed(self.ctx.arrays.items()))  # for each array, the first expression that reads it
        known = {held.location: text for text, held in outside if isinstance(held, Ref)}
        if texts := frozenset(known[other] for other in others if other in known and self.array_from_outside(other) is None):
            raise StoredOutside(texts)
        for other in others:
            if self.array_from_outside(other) is not None:
                self.ctx.unsure = True
                name = other.name or "an array from outside"
                what = f"the array written to may share memory with {name}, which the caller sees"
                raise UnsureAlias(what, self.ctx.builder.loc, f"write to {name} itself, by an index, or to a copy of it")

    def array_from_outside(self, location: Location) -> Operand | None:
        """The operand of an array from outside, which the program tracks as a copy; None for any other array."""
        held = self.ctx.state.stored_arrays.get(location) or ()
        return next((operand for _, operand in held if operand.type == FROM_OUTSIDE), None)

    def array_changed(self, location: Location, path: tuple[Step, ...] = (), value: Operand = NONE) -> None:
        """Update the caller's arrays after a store to the program's array at a path; a stored number is stored directly."""
        held = self.ctx.state.stored_arrays[location]
        if held is None:
            self.ctx.unsure = True
            what = "an array is written to that is stored in an object passed to the function"
            raise UnsupportedSyntax(what, self.ctx.builder.loc, "store a copy of it")
        item = path[-1].operands[0] if len(path) == 1 and path[-1].spec == "i" and isinstance(value.type, Scalar) else NONE
        for place, array in held:
            if array.type == FROM_OUTSIDE:
                self.store_outside(array, location, path, value)
            elif not place and isinstance(item.type, Scalar):
                self.call(operator.setitem, array, item, value)
            else:
                self.call(np.copyto, array, self.ctx.read(Ref(location, place)))

    def store_outside(self, array: Operand, location: Location, path: tuple[Step, ...], value: Operand) -> None:
        """Store in an array from outside the value that was stored in the tracked array.

        A number is stored directly. Any other value is read back from the tracked array, because it may have been a
        part of the same array.
        """
        held = self.ctx.state.memory[location].type
        indices = [o.type for step in path for o in step.operands if isinstance(o.type, Array)]
        if not isinstance(held, Array) or any(index.dtype == held.dtype for index in indices):
            path = ()  # the array may be its own index
        if not path or path[-1].spec.startswith("."):
            path = (*path, Step("e"))
        operands = [o for step in path for o in step.operands]
        with self.ctx.unwatched():
            stored = value if path[-1].spec != "e" and isinstance(value.type, Scalar) else self.ctx.read(Ref(location, path))
            self.ctx.call_many("store_outside", array, stored, *operands, index=spelled(path))

    # -------------------------------------------------------------- operands

    def call(self, function: Any, *operands: Operand, effect: bool = True) -> Operand:
        name = function.__name__ if function in BY_NAME else owner_name(self.ctx, function)
        with self.ctx.unwatched():  # the program's own store is already watched
            return self.ctx.call("opaque" if effect else "opaque_pure", Const(function, name), *operands, names=())

    def method(self, key: HeapKey, name: str, *operands: Operand) -> None:
        """Call a method of an object of the caller's."""
        if key in self.ctx.storages or self.ctx.storages and key.kind == "list":
            self.call(call_of_base, self.handle(key), Const(name), *operands)
            return
        with self.ctx.unwatched():
            self.ctx.call("opaque", self.ctx.call("opaque_attribute", self.handle(key), attribute=name), *operands, names=())

    def of_operand(self, operand: Operand) -> Operand:
        """An item for a list of any length, as the caller holds it: an array or list as a copy that nothing writes to."""
        if isinstance(operand.type, Struct) and all(isinstance(part, Scalar) for part in operand.type.items):
            return self.value(taken_apart(self.ctx, operand))  # a tuple of numbers; any other object may have other references
        if not isinstance(operand.type, Array | List):
            return operand
        for location, version in self.ctx.state.memory.items():
            if version is operand:
                if (outside := self.array_from_outside(location)) is not None:
                    return outside
                self.ctx.state.stored_arrays[location] = None
        if isinstance(operand.type, Array):
            return self.ctx.call("copy", operand)
        return as_given(self.ctx, self.ctx.call("list_slice", operand, NONE, NONE, NONE), False, HERE)

    def value(self, binding: Binding) -> Operand:
        """The operand that is stored for a binding."""
        match binding:
            case View() | Broken():
                pass
            case Ref(location=location) if isinstance(self.ctx.state.memory[location].type, List):
                return self.of_operand(self.ctx.read(binding, HERE))
            case Ref(location=location):
                return self.array(binding, location)
            case Num() | Static() | OneOf():
                return self.ctx.read(binding, HERE)
            case Maybe(inner=Num() | Static()):
                return self.ctx.read(binding, HERE)
            case External():
                return opaque_operand(self.ctx, binding, HERE)
            case Tup(items, kind):
                inside = [self.value(item) for item in items]
                if kind is not None:
                    return self.ctx.call("opaque_pure", Const(kind, owner_name(self.ctx, kind)), *inside, names=())
                return self.call(tuple, self.ctx.call("list_of", *inside), effect=False)
            case Obj(key) if self.is_outside(key):
                if (held := self.known_handle(key)) is not None:
                    return held
            case Obj(key) if not key.doubtful and key not in self.ctx.state.twins:
                handle = self.ctx.state.handles[key] = self.new_object(binding, key)
                return handle
        what = "this cannot be stored in an object that was passed to the function"
        raise UnsupportedSyntax(what, self.ctx.builder.loc, "store numbers, arrays, lists, tuples or dicts of these")

    def array(self, binding: Ref, location: Location) -> Operand:
        """The operand of an array: a passed array itself; of a computed array a copy, which later stores update too."""
        held = self.ctx.state.stored_arrays.get(location, ())
        known = next((copy for path, copy in held or () if path == binding.path), None)
        if known is not None:
            return known
        version = self.ctx.state.memory[location]
        if isinstance(version, Value) and not binding.path and any(version is value for value, _ in self.inputs):
            self.ctx.state.stored_arrays[location] = None
            return version
        if not isinstance(self.ctx.type_of(binding), Array):
            raise UnknownType("the type of the stored value is not known", self.ctx.builder.loc, "convert it with np.asarray or float")
        if self.ctx.state.partners.get(location):
            others = [self.ctx.state.stored_arrays.get(other, ()) for other in self.ctx.state.partners[location]]
            if any(other or other is None for other in others):
                what = "the stored value may share memory with one that was stored before"
                raise UnsureAlias(what, self.ctx.builder.loc, "store a copy")
        copy = self.ctx.call("copy", self.ctx.read(binding, HERE))
        self.ctx.state.stored_arrays[location] = None if held is None else (*held, (binding.path, copy))
        return copy

    def new_object(self, binding: Obj, key: HeapKey) -> Operand:
        """A list, dict, set or instance that was created in the function."""
        content = self.ctx.state.heap[key]
        if key.kind == "list" and key.exact in (None, collections.deque) and key.cls in (None, tuple):
            items = self.list_of(binding)
            kind = key.exact or (tuple if key.cls is tuple else None)
            return items if kind is None else self.call(kind, items, effect=False)
        if key.kind == "dict" and not isinstance(content, Ref):
            self.ctx.check_keys(key)
            if key.cls is set:
                return self.call(key.exact or set, self.ctx.call("list_of", *[self.key_operand(k) for k, _ in content]), effect=False)
            if key.cls is None and key.exact in (None, collections.OrderedDict):
                return self.dict_of(key, content)
        if (storage := storage_of(self.ctx, binding)) is not None:
            return self.new_instance(key, storage)
        if key.kind == "record" and isinstance(key.cls, type) and not key.cls.__module__.startswith("symgrad"):
            names = [Const(name) for name, _ in self.ctx.state.entries(key)]
            values = [self.value(b) for _, b in self.ctx.state.entries(key)]
            cls = Const(key.cls, owner_name(self.ctx, key.cls))
            return self.call(instance_of, cls, self.ctx.call("list_of", *names), *values, effect=False)
        return self.value(Broken("objects of its class cannot be stored"))

    def new_instance(self, key: HeapKey, storage: Binding) -> Operand:
        """An instance of a class that derives from a builtin class: changes of a container's storage apply to the instance, too."""
        entries = dict(self.ctx.state.entries(key))
        del entries[STORAGE]
        is_container = container_of(key.cls) is not None
        held_items: Any = storage  # a list or dict, if the class derives from one
        if is_container and (held_items.key.exact not in (None, collections.OrderedDict) or held_items.key.doubtful):
            return self.value(Broken("its contents are not supported"))
        cls, names = Const(key.cls, owner_name(self.ctx, key.cls)), self.ctx.call("list_of", *[Const(name) for name in entries])
        values = [self.value(held) for held in entries.values()]
        content = self.new_object(held_items, held_items.key) if is_container else self.value(storage)
        instance = self.call(instance_of_container, cls, content, names, *values, effect=False)
        if is_container:
            self.ctx.state.handles[held_items.key] = instance
            self.ctx.storages[held_items.key] = key.cls
        return instance

    def list_of(self, binding: Obj) -> Operand:
        content = self.ctx.state.heap[binding.key]
        if isinstance(content, Ref):
            return self.copy_of_list(self.ctx.read(content))
        return self.ctx.call("list_of", *[self.value(b) for _, b in content])

    def copy_of_list(self, version: Operand) -> Operand:
        """A list of any length, with tuples in it where the user's program has tuples."""
        return as_given(self.ctx, self.ctx.call("list_slice", version, NONE, NONE, NONE), False, HERE)

    def dict_of(self, key: HeapKey, content: tuple[tuple[Any, Binding], ...]) -> Operand:
        pairs = [self.ctx.call("list_of", self.key_operand(k), self.value(b)) for k, b in content]
        return self.call(key.exact or dict, self.ctx.call("list_of", *pairs), effect=False)


__all__ = ["Storing"]
