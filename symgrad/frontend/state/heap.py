"""The heap of arrays and objects: creates them, updates their contents, and copies them before changes that another name may see."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from symgrad.errors import UnknownType, UnsupportedSyntax, UnsureAlias
from symgrad.frontend.state.abstract_values import decided, resolved_by_paths
from symgrad.frontend.state.alias_hints import list_apart
from symgrad.frontend.state.bindings import (
    NO_KEYS,
    Binding,
    Broken,
    HeapKey,
    Link,
    Location,
    Maybe,
    Missing,
    Obj,
    Ref,
    Step,
    is_row,
    row_at,
)
from symgrad.frontend.state.conversions import Conversions, kind_word, spelled
from symgrad.frontend.state.interruptions import NeedsState
from symgrad.frontend.state.reach import memory_within
from symgrad.frontend.state.tables import SPREAD
from symgrad.ir.core import Const, Operand, Value
from symgrad.ir.types import UNDEFINED, Array, List, Object, Scalar, Struct, Type, Unknown


def is_immutable(item: Type) -> bool:
    """Whether an item of a list is a number, or a tuple of numbers. A list that begins empty counts, too."""
    if isinstance(item, Struct):
        return item.form.form == "tuple" and all(part.form == "num" for part in item.form.items)
    return isinstance(item, Scalar) or item == UNDEFINED


class Heap(Conversions):
    """Arrays in memory and objects of static structure: creation, stores, and refusals."""

    # -------------------------------------------------------------- new objects

    def new_object(self, kind: str, content: Any, cls: Any = None, exact: type | None = None) -> Obj:
        """A mutable object of static structure; ``exact`` is its class if the kind does not determine it."""
        key = HeapKey(kind, cls, exact=exact)
        self.state.heap[key] = content if isinstance(content, Ref) else tuple(content)
        return Obj(key)

    def item_of(self, owner: Ref, value: Operand) -> Binding:
        """A binding for an item read from a list of any length; an array in it is the same array."""
        binding = self.shared(value, owner)
        if not isinstance(binding, Ref) or not isinstance(self.type_of(binding), List):
            return binding
        held = self.list_in_memory(binding)
        self.state.twins |= {held.key}  # the list holds it too
        return held

    def item_at(self, owner: Ref, index: Operand) -> Binding:
        """An item of a list of any length; an inner list without other references stays in its owner's memory."""
        held = self.held(owner)
        item = self.call("list_take", held, index)
        type_ = item.type
        if owner.location in self.state.owning and not owner.path and isinstance(type_, Array) and type_.rank:
            array = self.item_of(owner, item)
            assert isinstance(array, Ref)
            self.links[array.location] = Link(owner.location, index, {held})
            return array
        if owner.location not in self.state.owning or owner.path or not isinstance(type_, List):
            return self.item_of(owner, item)
        if type_.of != "list" or type_.named is not None or not is_immutable(type_.item):
            return self.item_of(owner, item)
        row = self.new_object("list", row_at(owner.location, index, held, item))
        self.state.twins |= {row.key}
        return row

    def list_sharing(self, value: Operand, *owners: Binding) -> Obj:
        """A new list whose items are items of other lists: the arrays among them are the same arrays."""
        binding = self.make(value)
        assert isinstance(binding, Ref)
        if isinstance(value.type, List) and not isinstance(value.type.item, Scalar | Object):
            for owner in owners:
                for location in memory_within(owner, self.state):
                    if location in self.state.memory:
                        self.state.pair(binding.location, location)
        return self.new_object("list", binding, tuple if isinstance(value.type, List) and value.type.of == "tuple" else None)

    def list_in_memory(self, ref: Ref) -> Obj:
        """A list of any length read from another one, or the tuple that it represents in the user's program."""
        type_ = self.type_of(ref)
        of = type_.of if isinstance(type_, List) else "list"
        if of == "either":
            what = "the value read here is a list on some paths and a tuple on others"
            raise UnknownType(what, self.builder.loc, "make all of them tuples")
        return self.new_object("list", ref, tuple if of == "tuple" else None, type_.named if isinstance(type_, List) else None)

    # -------------------------------------------------------------- stores to arrays

    def check_writable(self, ref: Ref) -> None:
        """Raise if the array or view is read-only."""
        if ref.location.read_only or any(step.read_only for step in ref.path):
            raise UnsupportedSyntax("this array or view is read-only, and it is written to", self.builder.loc, "write to a copy")

    def store(self, ref: Ref, value: Operand, last: Step | None = None) -> None:
        """Write to memory through a view; every other view of the same location sees it."""
        path = (*ref.path, last) if last is not None and last.spec else ref.path
        if not path or path[-1].spec.startswith("."):
            path = (*path, Step("e"))
        self.check_fresh(ref)
        if ref.location in self.state.bases:
            SPREAD["stored"](self, ref, value, last)
            return
        self.check_writable(ref)
        base = self.state.memory[ref.location]
        if isinstance(base.type, Unknown) or isinstance(base.type, Array) and base.type.shape is None and base.type.dtype is None:
            raise UnknownType("the type of the array written to is not known", self.builder.loc)
        if (link := self.link_of(ref.location)) is not None:
            base = self.call("copy", base)
        operands = [o for step in path for o in step.operands]
        hint = ref.location.name or (base.name if isinstance(base, Value) else None)
        self.state.memory[ref.location] = self.call("set_at", base, value, *operands, index=spelled(path), hint=hint)
        self.state.stored(ref.location, self.builder.loc)
        self.renew(ref.location)
        if link is not None:
            self.hold_again(link, ref.location)
        if self.storing is not None:
            self.storing.array_stored(ref, value, last)

    def link_of(self, location: Location) -> Link | None:
        """The place of an array in the list that alone holds it, if the array is still there."""
        link = self.links.get(location)
        if link is None or link.owner not in self.state.owning or self.state.memory[link.owner] not in link.versions:
            return None
        owners = [key for key, content in self.state.heap.items() if isinstance(content, Ref) and content.location is link.owner]
        is_known = not any(key in self.state.twins or key in self.state.kin or key in self.state.handles for key in owners)
        return link if is_known and link.owner not in self.state.stale else None

    def hold_again(self, link: Link, location: Location) -> None:
        """Update the item of a list after a store to that array."""
        before = self.state.memory[link.owner]
        with self.unwatched():
            now = self.call("list_set", before, link.index, self.state.memory[location])
        self.state.memory[link.owner] = now
        self.state.stale.pop(link.owner, None)
        self.extend_links(link.owner, before, now)

    def extend_links(self, owner: Location, before: Operand, now: Operand) -> None:
        """Record that the arrays of a list keep their indices in its next content."""
        for link in self.links.values():
            if link.owner is owner and before in link.versions:
                link.versions.add(now)

    def renew(self, location: Location) -> None:
        """Update the arrays that may be one that was written to."""
        if any(base.location is location for bases in self.state.bases.values() for base in bases):
            SPREAD["renewed"](self, location)

    def to_change(self, content: Ref, owns: bool = False) -> Operand:
        """The content of a list, as a value that may be written to."""
        if is_row(content):
            return self.call("copy", self.held(content))
        return self.held(content) if owns else self.read(content)

    def replace_list(self, content: Ref, value: Operand, owns: bool = False) -> None:
        """Give a list its next content; ``owns``: its inner lists still have no other reference."""
        location = content.location
        if is_row(content):
            value = self.call("list_set", self.state.memory[location], content.path[0].operands[0], value)
        elif not owns:
            self.share_rows(location)
        self.replace_version(location, value)

    def is_cell(self, content: Ref, value: Operand) -> bool:
        """Whether the list is one of numbers inside a list of lists that alone holds it, so that a number is stored in place."""
        if not is_row(content) or content.location not in self.state.owning or not isinstance(value.type, Scalar):
            return False
        row = self.type_of(content)
        return isinstance(row, List) and (isinstance(row.item, Scalar) or row.item == UNDEFINED)

    def store_cell(self, content: Ref, place: Operand, value: Operand) -> None:
        """Store a number in a list inside the list of lists that owns it, in the memory of the outer list."""
        location = content.location
        table, index = self.state.memory[location], content.path[0].operands[0]
        self.replace_version(location, self.call("table_set", table, index, place, value, hint=location.name))

    def replace_version(self, location: Location, value: Operand) -> None:
        """Give a location its next content."""
        if location in self.state.bases:
            what = "an array that is one of several, by the path taken, is changed in an unsupported way"
            raise UnsureAlias(what, self.builder.loc)
        before = self.state.memory[location]
        self.state.memory[location] = value
        self.renew(location)
        self.state.stored(location, self.builder.loc)
        if self.storing is not None:
            self.storing.replaced(location, before)
        for key in list(self.state.kin):
            content = self.state.heap.get(key)
            if isinstance(content, Ref) and content.location is location and not is_row(content):
                self.spread(key, None)

    # -------------------------------------------------------------- changes of objects

    def change(self, key: HeapKey, content: tuple[tuple[Any, Binding], ...] | Ref) -> None:
        """Give an object its next content; objects that may be the same are updated in place."""
        self.check_alone(key)
        held = self.state.heap.get(key)
        if isinstance(held, Ref) and is_row(held):
            self.replace_list(held, self.held(content) if isinstance(content, Ref) else self.list_of([item for _, item in content]))
            return
        if isinstance(held, Ref):
            self.share_rows(held.location)
        before, self.state.heap[key] = self.state.heap.get(key, ()), content
        if self.storing is not None:
            self.storing.changed(key, before)
        self.spread(key, before)

    def spread(self, key: HeapKey, before: Any) -> None:
        """Give objects that may be the changed one its new content, on the condition that they are it."""
        if key in self.state.kin:
            SPREAD["changed"](self, key, before)

    def check_alone(self, key: HeapKey) -> None:
        """Refuse to change an object that another name may or may not be bound to."""
        others = [other for other, same in self.state.kin.get(key, NO_KEYS).items() if decided(same, self.state) is not False]
        if key in self.state.twins and not self.is_in_place(key) or not self.state.twins.isdisjoint(others):
            raise UnsureAlias(
                f"{kind_word(Obj(key))} that may be bound to another name as well is changed",
                self.builder.loc,
                list_apart(self.frame.source, self.builder.loc) or "bind the other name to a copy, as in other = list(held)",
            )
        if key in self.state.kin and isinstance(held := self.state.heap.get(key), Ref):  # the others have memory of their own
            copy = self.call("list_slice", self.read(held), Const(None), Const(None), Const(None))
            self.state.memory[held.location] = copy
        self.compared(key)

    def is_in_place(self, key: HeapKey) -> bool:
        """Whether a list is inside a list of lists that alone holds it, so that changes apply there."""
        row = self.state.heap.get(key)
        if not isinstance(row, Ref) or not is_row(row) or row.location not in self.state.owning or key in self.state.kin:
            return False
        owners = {k for k, content in self.state.heap.items() if isinstance(content, Ref) and content.location is row.location}
        return owners.isdisjoint(self.state.handles) and all(
            is_row(self.state.heap[k]) or k not in self.state.twins and k not in self.state.kin for k in owners
        )

    def stands_for(self, object_key: HeapKey, keys: Iterable[HeapKey]) -> None:
        """Record that an object is, on some path, one of the arguments."""
        for key in keys:
            if key in self.arguments:
                self.arguments[object_key] = self.arguments[key]
                self.standing.setdefault(object_key, set()).update(self.standing.get(key, set()) | {self.arguments[key]})

    def compared(self, *keys: HeapKey) -> None:
        """Record that the identity of objects with other arguments matters."""
        self.identities |= {self.arguments[key] for key in keys if key in self.arguments}

    # -------------------------------------------------------------- refusals

    def check_keys(self, key: HeapKey, node: ast.AST | None = None, in_order: bool = True) -> None:
        """Refuse to read the keys of a dict, or their order, if that depends on the path taken."""
        content = self.state.heap[key]
        is_doubtful = not isinstance(content, Ref) and any(self.is_doubtful(b) for _, b in content)
        for site in key.sites if is_doubtful or in_order and key.unordered else ():
            self.growing_sites.setdefault(site, False)
        if is_doubtful:
            raise self.refuse(UnknownType, "which keys this dict has depends on the path taken", node)
        if in_order and key.unordered:
            what = "the key order of this dict depends on the path taken"
            raise self.refuse(UnknownType, what, node, "store all keys in one order before the branch")

    def is_doubtful(self, item: Binding) -> bool:
        """Whether it depends on the path if a dict has this item."""
        item = resolved_by_paths(item, self.state)
        return isinstance(item, Broken | Missing) or isinstance(item, Maybe) and isinstance(item.absent, Missing)

    def check_sure(self, key: HeapKey, content: Any) -> None:
        """Refuse to read a list as one value that does not exist on some paths; its items, one by one, are not read there."""
        if key.doubtful and not isinstance(content, Ref):
            what = "a list that is created on some paths only is lengthened or shortened"
            raise UnsupportedSyntax(what, self.builder.loc, "create it on every path")

    def check_still(self, key: HeapKey) -> None:
        """Refuse to change the length of a list while a loop iterates over it."""
        self.check_alone(key)
        sites = [going.sites for going in self.going if key in going.lists]
        if self.unroll and not frozenset().union(*sites) <= self.stateful:
            raise NeedsState(frozenset().union(*sites))
        if sites:
            raise UnsupportedSyntax("a list is changed while it is iterated over", self.builder.loc, "iterate over a copy of it")
