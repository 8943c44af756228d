"""Conversions between bindings and the operands, types and values of the IR; every op is emitted and watched for exceptions here."""

from __future__ import annotations

import ast
import enum
from collections.abc import Container
from dataclasses import replace
from typing import Any

from symgrad.errors import BadArgument, ShapeMismatch, SymgradError, UnknownType, UnsupportedSyntax, UnsureAlias
from symgrad.frontend.state.abstract_values import Skeleton, resolved_by_paths, skeleton, views_in
from symgrad.frontend.state.alias_hints import way_apart
from symgrad.frontend.state.bindings import (
    Binding,
    Bound,
    Broken,
    External,
    Fun,
    HeapKey,
    Iter,
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
    is_row,
    python_class,
)
from symgrad.frontend.state.interruptions import NeedsState
from symgrad.frontend.state.members import plain
from symgrad.frontend.state.path_conditions import TESTS
from symgrad.frontend.state.pinning import pinned_as
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.reach import memory_within, reached
from symgrad.frontend.state.shared_state import MIXING, SharedState
from symgrad.frontend.state.tables import PARTS, SPREAD
from symgrad.ir.core import Block, Const, If, Operand, Value
from symgrad.ir.types import UNKNOWN, Array, List, Object, Struct, Type, Unknown
from symgrad.kinds import passed_instead, row_of, what_of
from symgrad.ops.composed import growing_classes
from symgrad.ops.indexing import is_part
from symgrad.text import last_word


class Conversions(SharedState):
    """Calls of ops, and conversions between bindings and values of the IR."""

    # -------------------------------------------------------------- ops

    def call(self, name: str, *args: Operand, hint: str | None = None, **settings: Any) -> Value:
        (value,) = self.call_many(name, *args, hints=(hint,), **settings)
        if name in TESTS:
            self.decided.computed(name, args, value)
        if name in MIXING:
            self.mixed.computed(name, args, value)
        return value

    def call_many(self, name: str, *args: Operand, hints: tuple[str | None, ...] = (), **settings: Any) -> list[Value]:
        """The results of an op, which gets exception edges: see ``failing``."""
        if not self.watchers:
            return self.builder.call_many(name, *args, hints=hints, **settings)
        SPREAD["before"](self, name, args, settings)
        try:
            return self.builder.call_many(name, *args, hints=hints, **settings)
        except ShapeMismatch:
            SPREAD["mismatched"](self, name, args, settings)
            raise

    def look(self, view: Ref) -> None:
        """Add the exception edges of a view's indices when the view is created."""
        if self.watchers:
            after_row = 1 + max((k for k, step in enumerate(view.path) if step.row), default=-1)
            whole, path = self.seen(self.state.memory[view.location], view.path[:after_row]), view.path[after_row:]
            SPREAD["before"](self, "view", (whole, *(o for step in path for o in step.operands)), {"index": spelled(path)})

    # -------------------------------------------------------------- values to bindings

    def make(self, value: Operand, name: str | None = None) -> Binding:
        """A binding for a new value: memory of its own if it is an array or list, else a number."""
        if isinstance(value.type, Array | List):
            location = Location(name, self.builder.loc)
            self.state.memory[location] = value
            return Ref(location)
        return PARTS["taken apart"](self, value) if isinstance(value.type, Struct) else Num(value)

    def shared(self, value: Operand, *owners: Binding) -> Binding:
        """A binding for a value that may share memory with others."""
        binding = self.make(value)
        for location in memory_within(binding, self.state) if owners else ():
            for owner in owners:
                if isinstance(owner, Ref) and owner.location is not location:
                    location.may_be_view = True
                    self.state.pair(location, owner.location)
                    if owner.location in self.state.stale:
                        self.state.stale[location] = self.state.stale[owner.location]
        return binding

    # -------------------------------------------------------------- bindings to values

    def check_fresh(self, ref: Ref) -> None:
        """Refuse to read memory that a store through another name may have changed."""
        stored = self.state.stale.get(ref.location)
        if stored is not None:
            self.unsure = True
            name = ref.location.name or "this array"
            hint, notes = way_apart([ref.location, *self.state.near(ref.location)], stored, self.frame.source, self.top)
            what, store = f"{name} may share memory with the array written to at line {stored.line}", [(stored, "the store")]
            if stored.text.lstrip().startswith("def "):  # an argument that is changed somewhere
                what, store = f"{name} may share memory with an array that the function writes to", []
            raise UnsureAlias(what, self.builder.loc, hint, [*store, *notes])

    def seen(self, value: Operand, path: tuple[Step, ...]) -> Operand:
        """The part of an array that a path of views shows."""
        by_row = next((k for k in reversed(range(len(path))) if path[k].row or is_part(path[k].spec)), None)
        if by_row is not None:
            value, path = self.shown(value, path[:by_row], path[by_row]), path[by_row + 1 :]
        if not path:
            return value
        return self.call("view", value, *(o for step in path for o in step.operands), index=spelled(path), hint=None)

    def read(self, binding: Binding, node: ast.AST | None = None) -> Operand:
        """The operand of a binding; containers become lists, objects constants."""
        match binding:
            case Num(operand):
                return operand
            case Ref(location, path):
                if is_row(binding):
                    return self.held(binding)
                self.check_fresh(binding)
                if not path:
                    self.share_rows(location)
                    return self.state.memory[location]
                with self.unwatched():  # the index was checked when the view was created
                    return self.seen(self.state.memory[location], path)
            case Static(value, name):
                return self.constant(value, name)
            case Tup(items, kind):
                return standing_for(self.list_of(items, node), tuple, kind)
            case Obj(key) if key.kind == "list":
                content = self.state.heap[key]
                return self.read(content, node) if isinstance(content, Ref) else self.list_of([b for _, b in content], node)
            case Maybe():
                return self.boxed(binding, node)
            case OneOf(place, values):
                selection: Operand = self.read(values[-1])
                for k in range(len(values) - 2, -1, -1):
                    selection = self.one_or_other(self.call("equal", place, Const(k)), self.read(values[k]), selection)
                return selection
            case Bound(owner=Num(operand=Value(type=Unknown() | Object()) as held), name=name, function=None):
                return self.call("opaque_attribute", held, attribute=name)  # of a Python object: it need be no method
            case Broken():
                raise self.unusable(binding, node)
            case Missing():
                raise self.refuse(UnsupportedSyntax, "this name is not bound here", node)
        row = row_of(binding.value) if isinstance(binding, External) else None
        if row is not None and isinstance(binding, External):
            name = last_word(binding.text) or "x"
            raise self.refuse(BadArgument, what_of(row, name), node, passed_instead(row, name))
        raise self.refuse(UnsupportedSyntax, f"{kind_word(binding)} cannot be used as a number", node, NUMBER_OF.get(type(binding)))

    def may_be_list(self, binding: Binding) -> bool:
        """Whether the value may be a list or array of the function's, read from a list of mixed items."""
        type_ = binding.operand.type if isinstance(binding, Num) else None
        return isinstance(type_, Unknown) and type_.lists

    def check_position(self, binding: Binding) -> None:
        """Restart lowering with an iterator that has a position, where that makes a read right."""
        if isinstance(binding, Broken) and not binding.sites <= self.stateful:
            raise NeedsState(binding.sites)

    def unusable(self, binding: Broken, node: ast.AST | None, name: str = "") -> SymgradError:
        """The refusal of an unusable binding. It names the variable, and the integer that would make it usable if it were static."""
        self.check_position(binding)
        error = self.refuse(
            UnknownType,
            f"{name!r} cannot be used: {binding.why}" if name and not name.startswith("%") else binding.why,
            node,
            binding.hint or None,
        )
        error.follows = binding.follows
        return pinned_as(self, error, binding.pin)

    def boxed(self, binding: Maybe, node: ast.AST | None) -> Operand:
        """A value that may be None as one operand of unknown type."""
        held = resolved_by_paths(binding, self.state)
        if not isinstance(held, Maybe):
            return self.read(held, node)
        if not isinstance(held.inner, Num | Ref | Static):
            raise self.refuse(UnsupportedSyntax, f"{kind_word(held.inner)} that may be None cannot be used as one value", node)
        if self.notes is not None:
            told = "whether this is None, so its type is no longer known"
            self.notes.add("frontend", "unproved", self.builder.loc, told, hint="test it for None before")
        with self.inside(Block()) as there:
            inner = self.read(held.inner, node)
        return self.one_or_other(held.present, inner, self.read(held.absent, node), there)

    def one_or_other(self, test: Operand, one: Operand, other: Operand, block: Block | None = None) -> Operand:
        """One of two operands as one of unknown type; the first may be computed in a block of its own."""
        out = Value(UNKNOWN)
        there = block or Block()
        there.yields = [one]
        self.builder.append(If([out], self.builder.loc, test, there, Block([], [], [other])))
        return out

    def constant(self, value: Any, name: str | None = None) -> Const:
        """A constant operand; an object without a literal needs a name."""
        value = plain(value)
        if isinstance(value, enum.Enum):
            raise UnsupportedSyntax(f"{value} cannot be used as a number", self.builder.loc, "use its value")
        if isinstance(value, bool | int | float | complex | str | bytes | type(None) | type(Ellipsis)):
            return Const(value)
        spelled_as = name or getattr(value, "__name__", type(value).__name__)
        return Const(value, str(spelled_as))

    def whole(self, binding: Binding, node: ast.AST | None = None) -> Operand:
        """A list as one value of any length, whose items may be structured."""
        content = self.state.heap[binding.key] if isinstance(binding, Obj) and binding.key.kind == "list" else None
        if isinstance(content, tuple):
            value: Operand = PARTS["listed"](self, [item for _, item in content], node)
            return value
        return self.read(binding, node)

    def shown(self, value: Operand, path: tuple[Step, ...], step: Step) -> Operand:
        """The result of a row for the part of an array that a path shows; computed again if the array has changed."""
        if step.row and step.operands[-2] is value:
            return step.operands[-1]
        return self.call(step.spec[1:], self.seen(value, path), *step.operands[:-2], **dict(step.settings))

    # -------------------------------------------------------------- lists of lists

    def held(self, binding: Binding) -> Operand:
        """The content of a list, for a reader that does not pass on its inner lists."""
        content = self.state.heap[binding.key] if isinstance(binding, Obj) and binding.key.kind == "list" else binding
        if not isinstance(content, Ref):
            return self.whole(binding) if isinstance(binding, Obj) else self.read(binding)
        if content.path and not is_row(content):
            return self.read(content)
        self.check_fresh(content)
        value = self.state.memory[content.location]
        with self.unwatched():  # the index was checked when the item was read
            for step in content.path:
                index, owner, item = step.operands
                value = item if value is owner else self.call("list_take", value, index)
        return value

    def share_rows(self, location: Location) -> None:
        """Record that a list no longer alone holds its inner lists; those read from it become lists of their own."""
        if location in self.state.owning:
            self.state.owning -= {location}
            self.part_rows()

    def part_rows(self) -> None:
        """Give memory of their own to lists read from a list that no longer alone holds its inner lists."""
        for key in reached(self.state):
            row = self.state.heap.get(key)
            if isinstance(row, Ref) and is_row(row) and (location := row.location) not in self.state.owning:
                if row.path[0].operands[0] in self.doubtful:
                    self.lose(key)
                    continue
                own = Location(None, self.builder.loc)
                self.state.memory[own] = self.held(row)
                self.state.heap[key] = Ref(own)
                self.state.pair(own, location)
                if location in self.state.stale:
                    self.state.stale[own] = self.state.stale[location]

    def lose(self, key: HeapKey) -> None:
        """Refuse later reads of an inner list that was read on some paths only, if it cannot be read on all paths now."""
        lost = Broken("it is an item of a list on some paths only, and the outer list may have other names by now", "bind it on every path")
        for name, binding in self.state.names.items():
            if binding == Obj(key):
                self.state.names[name] = lost
        for owner, content in self.state.heap.items():
            if not isinstance(content, Ref) and any(item == Obj(key) for _, item in content):
                self.state.heap[owner] = tuple((place, lost if item == Obj(key) else item) for place, item in content)
        if key in reached(self.state):
            raise UnsureAlias("a list in a list is held on some paths only", self.builder.loc, lost.hint)

    def list_of(self, items: Any, node: ast.AST | None = None) -> Operand:
        """A list value with the given items."""
        self.holes = self.holes or any(isinstance(item, Static) and item.value is None or isinstance(item, Maybe) for item in items)
        return self.call("list_of", *[self.read(item, node) for item in items])

    def array_of(self, value: Operand, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> Value:
        """An array of a list, or of nested lists of any depth."""
        depth, inner = 0, value.type
        while isinstance(inner, List):
            depth, inner = depth + 1, inner.item
        if isinstance(inner, Struct) and inner.form.form == "object":
            raise UnsupportedSyntax("an array of objects is not supported", self.builder.loc, "make an array of one number per object")
        return self.call("array_of", value, dtype=dtype, shape=shape, depth=max(depth, 1))

    # -------------------------------------------------------------- types and forms

    def type_of(self, binding: Binding) -> Type:
        """The type of a binding's value, without adding ops to the program."""
        match binding:
            case Num(operand):
                return operand.type
            case Ref(location, path):
                if is_row(binding):
                    type_ = self.state.memory[location].type
                    return type_.item if isinstance(type_, List) else UNKNOWN
                return self.type_shown(self.state.memory[location], path)
            case Static(value) if isinstance(plain(value), enum.Enum):
                return Object(type(value).__name__)
            case Static(value, name):
                return self.constant(value, name).type
        return Object(type(binding).__name__)

    def type_shown(self, value: Operand, path: tuple[Step, ...]) -> Type:
        """The type of the part of an array that a path of views shows."""
        if not path:
            return value.type
        first = next((k for k in reversed(range(len(path))) if path[k].row), 0)
        steps = path[first : first + 1] if path[-1].row else path[first + 1 :] if path[first].row else path
        shown = self.type_shown(value, path[: len(path) - len(steps)])
        operands = [o for step in steps for o in (step.operands[:-2] if step.row else step.operands)]
        settings = dict(path[-1].settings) if path[-1].row else {"index": spelled(steps)}
        type_ = self.builder.type_of(path[-1].row or "view", [shown, *(o.type for o in operands)], settings, [value, *operands])
        assert isinstance(type_, Type)
        return type_

    def skeleton(self, binding: Binding, state: State, memory: Container[Location] | None = None) -> Skeleton:
        """The form of a binding in another state; views of arrays in ``memory`` stay views, if views are distinguished."""
        kept, self.state = self.state, state
        try:
            if memory is not None and self.tagged:
                return views_in(skeleton(binding, state, self.type_of, views=True), memory)
            return skeleton(binding, state, self.type_of)
        finally:
            self.state = kept


def standing_for(operand: Operand, kind: type, named: type | None = None) -> Operand:
    """Mark a new list of the IR as a list or a tuple of the user's program."""
    if isinstance(operand, Value) and isinstance(operand.type, List):
        operand.type = replace(operand.type, of="tuple" if kind is tuple else "list", named=named)
    return operand


def spelled(path: tuple[Step, ...]) -> str:
    """The index path of some steps, in the IR's spelling."""
    return ";".join(step.spec for step in path)


#: hints where something that is no number is used as one
NUMBER_OF: dict[type[Binding], str] = {
    Bound: "add () to call it, or read it in a function of its own, declared with symgrad.constant or rule",
    Fun: "add () to call it",
    Obj: "pass the number or array that it holds",
    Iter: "convert it with list, or advance it with next",
}


def is_number_or_array(binding: Binding) -> bool:
    """Whether the binding is a number or an array that exists, of one class, and no text or set."""
    return isinstance(binding, Num | Ref) and python_class(binding) is None


def kind_word(binding: Binding) -> str:
    match binding:
        case Obj(key):
            words = {"list": "a list", "dict": "a set" if key.cls is set else "a dict"}
            if key.cls in growing_classes.CLASSES:
                return f"a {growing_classes.CLASSES[key.cls].__name__} whose keys are not known at compile time"
            return words.get(key.kind, f"an instance of {getattr(key.cls, '__name__', 'a class')}")
    return {"Fun": "a function", "Bound": "a method", "Iter": "an iterator", "External": "an object"}.get(type(binding).__name__, "this")
