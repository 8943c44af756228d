"""One attempt to lower a function: returns a ``Lowered``, or raises an interruption with the facts that the next attempt needs.

Each number, array or list in the function's arguments becomes a parameter, and so does each value that is read from outside (globals,
cells, attributes). The results are flattened the same way.
"""

from __future__ import annotations

import ast
import builtins as python_builtins
import collections
import enum
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symgrad.abstraction import mutable_parts
from symgrad.containers import CONTAINERS, container_of, instance_of_container
from symgrad.errors import SymgradError, UnsupportedSyntax, UnsureAlias, together
from symgrad.frontend.calls.declared import call_itself, is_declared
from symgrad.frontend.constructs.class_definitions import check_kept, check_result
from symgrad.frontend.containers.growing_dicts import is_growing
from symgrad.frontend.containers.growing_inner import enter_pools
from symgrad.frontend.containers.growing_sets import result_of
from symgrad.frontend.containers.results import (
    OWNER,
    Lowered,
    Result,
    derived_text,
    in_template,
    leaf_result,
    raises,
    record_text,
    relied_on,
    result_names,
)
from symgrad.frontend.flow.entry_copies import copy_written
from symgrad.frontend.functions.activation import body_result
from symgrad.frontend.functions.recursion import close_over, keep_arguments
from symgrad.frontend.library.messages import change_loggers
from symgrad.frontend.objects.assigned_attributes import enter_assigned
from symgrad.frontend.objects.columns import split
from symgrad.frontend.objects.derived import NAMESPACE, STORAGE, check_container, check_given, check_named_tuple, is_remade, storage_of
from symgrad.frontend.objects.dicts import COUNTED
from symgrad.frontend.objects.distinct import distinct_pairs, related_outside
from symgrad.frontend.objects.outside import constant_text
from symgrad.frontend.objects.reading import check_namespaces, owner_name, users_bases
from symgrad.frontend.objects.stored import FROM_OUTSIDE, Storing
from symgrad.frontend.state.abstract_values import Skeleton
from symgrad.frontend.state.bindings import Binding, Broken, External, HeapKey, Location, Num, Obj, Ref, Static, Tup
from symgrad.frontend.state.caller import Captured
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.input_names import qualify
from symgrad.frontend.state.interruptions import LoggersChange, Raised, StoredOutside, Unresolved
from symgrad.frontend.state.pinning import pin_splits
from symgrad.frontend.state.program_state import OUTSIDE, Frame
from symgrad.frontend.text.source import Source, global_names, local_names
from symgrad.identity import Same
from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, applied, definitions, walk
from symgrad.ir.types import BOOL, INT, Array, Dim, Extent, List, Struct, Type, holds_parts, is_plural
from symgrad.notes import Notes
from symgrad.ops.build import Builder
from symgrad.ops.declarations import DECLARED
from symgrad.ops.declare import ROWS
from symgrad.paths import arrays_of_objects, owned_arrays
from symgrad.signature import Abstract, Many, Own, Signature, Tree, containers_of, is_cycle, leaf_paths, leaves_of, part_of, related_extents
from symgrad.signature import Static as StaticArgument
from symgrad.text import array_copy_of, attribute, copy_of, is_name, root_of

#: containers that are not trees of numbers: each read is recorded, and they are not changed
MUTABLE = (set, collections.deque, bytearray, list, dict)


@dataclass(slots=True)
class Attempt:
    """One lowering of the function, with the outside arrays known so far."""

    source: Source
    signature: Signature
    known: list[Captured]
    derive: Callable[..., Any] | None
    no_grad: frozenset[str]
    pins: Mapping[str, Any]
    unroll: bool
    notes: Notes | None = None
    stateful: frozenset[Any] = frozenset()
    tagged: bool = False
    sequences: bool = False  #: lists of any length may hold structured items
    stored: frozenset[str] = frozenset()  #: the expressions of arrays to which the function writes visibly to the caller
    wrt: frozenset[str] = frozenset()
    keeps_text: bool = False
    keeps_calls: bool = False
    read_sources: frozenset[Same] = frozenset()  #: library functions and classes whose source is lowered
    #: functions that assign to global variables, and owners of attributes, by the assigned name
    assigned_outside: Mapping[Any, Any] = field(default_factory=dict)
    recursive_sites: frozenset[Any] = frozenset()  #: functions that proved to be recursive
    loggers_change: bool = False  #: the function changes the levels of loggers
    met: set[Same] = field(default_factory=set)  #: library functions and classes that are called without that
    growing_sites: dict[Any, bool] = field(default_factory=dict)  #: locations that create dicts with dynamic keys
    parted: bool = False  #: a structured item was packed
    laid: bool = False  #: the memory layout of an array was queried
    unsure: bool = False  #: it mattered which of several arrays a store writes to
    inputs: list[tuple[Value, str]] = field(default_factory=list)
    locations: dict[str, Location] = field(default_factory=dict)
    joined: dict[str, str] = field(default_factory=dict)  #: values from outside that another expression reads too
    objects: dict[str, Obj] = field(default_factory=dict)  #: lists, dicts and instances among the arguments, by path
    around: list[HeapKey | None] = field(default_factory=list)  #: the containers around the current part of an argument; None: a tuple
    aliases: dict[str, str] = field(default_factory=dict)
    paths: dict[Value, list[str]] = field(default_factory=dict)  #: of the parts of the items of long lists
    relations: dict[str, Extent] = field(init=False)
    owned: frozenset[str] = field(init=False)  #: the paths of arrays inside objects among the arguments, for which no gradient is requested

    def __post_init__(self) -> None:
        self.relations = related_extents(self.pins, self.signature)
        trees = [held for held in self.known if isinstance(held.abstract, Tree)]
        outside = (path for held in trees for path in owned_arrays(held.text, held.abstract, (), inside=True))
        self.owned = arrays_of_objects(self.signature, self.wrt).union(outside)

    def lowered(self) -> Lowered:
        node = self.source.node
        frame = Frame(self.source, None, local_names(node), global_names(node), top=True)
        body = Block()
        ctx = Lowering(
            Builder(body, self.source.loc(node)),
            frame,
            no_grad=self.no_grad,
            derive=self.derive,
            pins=self.pins,
            unroll=self.unroll,
            notes=self.notes,
            stateful=self.stateful,
            tagged=self.tagged,
            sequences=self.sequences and not self.unroll,
            keeps_text=self.keeps_text,
            keeps_calls=self.keeps_calls,
            read_sources=self.read_sources,
            met_sources=self.met,
            growing_sites=self.growing_sites,
            recursive_sites=self.recursive_sites,
            assigned_outside=self.assigned_outside,
            loggers_change=self.loggers_change,
        )
        try:
            return self.lowered_by(ctx, frame, body)
        finally:
            self.unsure, self.parted, self.laid = ctx.unsure, ctx.parted, ctx.laid

    def lowered_by(self, ctx: Lowering, frame: Frame, body: Block) -> Lowered:
        """Lower the function from an empty state."""
        node = self.source.node
        ctx.reserved |= set(self.signature.names) | set(dir(python_builtins))
        ctx.stack.append((self.source.function, node))
        for name, item in self.signature.params:
            ctx.state.names[frame, name] = self.argument(ctx, name, name, item)
        for captured in sorted(self.known, key=lambda held: -len(list(containers_of(held.text, held.abstract)))):
            self.restore(ctx, captured)
        ctx.storing = Storing(ctx, self.inputs, dict(ctx.arguments))
        if self.assigned_outside:
            enter_assigned(ctx, frame, self.assigned_outside)
        if ctx.stateful:
            enter_pools(ctx, node)
        returned = self.body(ctx, frame, node)
        operands: list[Operand] = []
        result = self.flatten(ctx, returned, operands, node)
        if ctx.refusals:
            pin_splits(ctx)
            refusal = together(ctx.refusals)
            refusal.integers = tuple(text for text, held in ctx.captured.items() if held.abstract == INT)
            refusal.objects = {**ctx.external_names, **refusal.objects}
            raise refusal
        body.yields = operands
        if ctx.followed:
            check_namespaces(ctx, self.source.loc(node))
        funcs = applied(body)
        if funcs:
            close_over(ctx, body)
        self.read_copies(ctx.stored)
        for text, held in ctx.captured.items():
            if held.text not in ctx.arrays:
                self.inputs.append((held.value, text))
        body.args = [value for value, _ in self.inputs]
        body.yields = operands
        if any(holds_parts(value.type) for block in (body, *(func.body for func in funcs)) for value in definitions(block)):
            self.inputs = split(ctx.builder, body, self.inputs, self.paths)
        if ctx.closed:
            keep_arguments(ctx)
        body.args, operands = [value for value, _ in self.inputs], body.yields
        if not all(is_name(path) for _, path in self.inputs):
            qualify(self.inputs, definitions(body), ctx.assigned_inputs)
        func = Func(self.source.name, body, result_names(operands), self.source.loc(node))
        if ctx.defined_classes:
            check_kept(ctx, func)
        if ctx.is_silent and change_loggers(func):
            raise LoggersChange
        mutated = self.written_to(ctx, func, node)
        related = related_outside(self.known, self.joined, {*mutated, *ctx.stored, *ctx.identities}) if self.known or self.joined else ()
        apart = distinct_pairs(ctx, self.known, self.joined, self.signature) if ctx.stored or ctx.identities else ()
        return Lowered(func, self.inputs, result, list(ctx.captured.values()), dict(ctx.external_names),
                       tuple(map(root_of, mutated)), tuple(path for path in mutated if path not in self.stored),
                       tuple(ctx.caught), ctx.state.dead, relied_on(ctx),
                       identities=tuple(path for path in sorted(ctx.identities) if root_of(path) in self.signature.names),
                       aliases=self.aliases, apart=apart, related=related, keeps=tuple(ctx.keeps), loops=ctx.loops,
                       calls_again=ctx.calls_again)  # fmt: skip

    def written_to(self, ctx: Lowering, func: Func, node: ast.AST) -> list[str]:
        """The expressions of the arrays that the function writes to; a passed array is written to as a copy."""
        loc, names = self.source.loc(node), dict(self.inputs)
        copies = {self.text_of_copy(path): path for path in sorted(self.stored)}
        changes = any(isinstance(op, Call) and ROWS[op.name].consumes for op in walk(func.body))
        written = copy_written(func, loc, {value for value, text in self.inputs if text in copies}) if changes else []
        mutated = [copies.get(names[value], names[value]) for value in written]
        seen = frozenset(ctx.owned) | {held.text for held in self.known if isinstance(held.abstract, Array)}
        if unknown := seen.intersection(mutated) - self.stored:
            raise StoredOutside(unknown)
        for path in (path for path in mutated if path not in self.stored):
            for group in (group for group in self.signature.same if path in group and not self.owned.isdisjoint(group)):
                what = f"{' and '.join(group)} are the same array, and the function writes to it"
                raise UnsureAlias(what, loc, "pass a .copy() of one of the two")
            if self.notes is not None:
                what = "the function writes to it, and the caller's array must not change"
                self.notes.add("frontend", "copied", loc, what, name=root_of(path))
        return mutated

    def read_copies(self, stored: Container[str]) -> None:
        """Make the program read a copy of each list whose content it replaces at its end: the backward half reads it after that."""
        for k, (value, text) in enumerate(self.inputs):
            if text in stored and isinstance(value.type, List):
                copy = copy_of(text)
                self.inputs[k] = (value, copy)
                self.aliases = {path: copy if other == text else other for path, other in self.aliases.items()} | {text: copy}

    def body(self, ctx: Lowering, frame: Frame, node: ast.FunctionDef | ast.Lambda) -> Binding:
        try:
            if DECLARED and is_declared(ctx, self.source.function):
                return call_itself(ctx, frame, node)
            return body_result(ctx, frame, node)
        except Raised:
            assert ctx.refusals or raises(ctx.builder.block)
            return Num(Const(0.0))  # never returned
        except Unresolved:
            hint = "add a branch that returns without calling the function"
            ctx.note_refusal(UnsupportedSyntax("a function calls itself endlessly", self.source.loc(node), hint))
            return Static(None)
        except SymgradError as error:
            ctx.note_refusal(error.at(self.source.loc(node)))
            return Static(None)

    # -------------------------------------------------------------- arguments

    def argument(self, ctx: Lowering, name: str, path: str, item: Abstract) -> Binding:
        """The binding of an argument or a part of one; a list, dict or instance at two paths is one object."""
        if (first := self.first_place(path)) is not None:
            for (spelled, leaf), (there, _) in zip(leaves_of(path, item), leaves_of(first, item), strict=True):
                self.aliases |= dict(zip(leaf_paths(leaf, spelled), leaf_paths(leaf, there), strict=True))
            return self.objects[first]
        if is_cycle(item):
            return self.container_around(item)
        binding = self.new_argument(ctx, name, path, item)
        if isinstance(binding, Obj):
            self.objects[path] = binding
            ctx.arguments[binding.key] = path
        return binding

    def first_place(self, path: str) -> str | None:
        """The first path of the list, dict or instance at this path."""
        return next((p for group in self.signature.same if path in group for p in group if p in self.objects), None)

    def new_argument(self, ctx: Lowering, name: str, path: str, item: Abstract) -> Binding:
        """The binding of an argument that no other argument holds."""
        if isinstance(item, StaticArgument) and isinstance(item.value, MUTABLE):
            return External(item.value, path)
        if isinstance(item, StaticArgument):
            return Static(item.value, name if path == name else None)
        if isinstance(item, Tree):
            return self.tree(ctx, name, path, item)
        paths = leaf_paths(item, path)
        if isinstance(item, Many):
            item = self.of_many(item)
        if path in self.pins:
            return Num(Const(self.pins[path]))
        item = self.with_pins(item, path)
        value = Value(self.related(ctx.builder.distinct(item), path), name)
        self.inputs.append((value, self.text_of_copy(path) if path in self.stored else paths[0]))
        ctx.texts[value] = path
        if holds_parts(value.type):
            self.paths[value] = paths
        if not isinstance(item, Array | List):
            return Num(value)
        location = next((self.locations[p] for group in self.signature.same if path in group for p in group if p in self.locations), None)
        if location is None:
            location = self.locations[path] = Location(name, ctx.builder.loc, outside=True)
            ctx.state.memory[location] = value
            if path in self.owned and all(self.owned.issuperset(group) for group in self.signature.same if path in group):
                ctx.owned[path] = Ref(location)
            if path in self.stored:
                self.follow(ctx, path, path, Ref(location))
        return Ref(location) if isinstance(item, Array) else ctx.list_in_memory(Ref(location))

    def of_many(self, item: Many) -> List:
        """The type of a list or tuple, of any length, of items with one type."""
        return List(self.of_item(item.item), "tuple" if item.kind is tuple else "list")

    def of_item(self, item: Abstract) -> Type:
        """The type of one of the items."""
        match item:
            case Type():
                return item
            case Many():
                return self.of_many(item)
        if not self.sequences:
            raise UnsupportedSyntax(f"the items of a list are {item}", self.source.loc(self.source.node), "pass arrays")
        types: list[Type] = []
        form = self.form_of_item(item, types)
        return Struct(tuple(types) or (BOOL,), form)

    def form_of_item(self, item: Abstract, types: list[Type]) -> Skeleton:
        """The form of an item of a long list; ``types`` collects the types of its parts."""
        match item:
            case Many() | List():
                list_type = self.of_many(item) if isinstance(item, Many) else item
                types.append(list_type)
                return Skeleton("object", items=(Skeleton("array"),), same=("list", tuple if list_type.of == "tuple" else None, None, None))
            case Type():
                types.append(item)
                return Skeleton("array" if isinstance(item, Array) else "num")
            case StaticArgument() if is_cycle(item):
                return Skeleton("broken", same="it refers back to its own container")
            case StaticArgument(value=value) if not isinstance(value, MUTABLE):
                return Skeleton("same", same=Static(value))
            case Tree(items=items, names=names, kind=kind, form=form):
                parts = tuple(self.form_of_item(inner, types) for inner in items)
                if container_of(kind) is not None or kind in CONTAINERS[:3]:
                    what = f"the items of a list are of {kind.__name__}, which derives from a container"
                    raise UnsupportedSyntax(what, self.source.loc(self.source.node), "pass them as plain lists and dicts, or as a tuple")
                if form == "named" or issubclass(kind, tuple):
                    return Skeleton("tuple", items=parts, same=kind if form == "named" else None)
                words = {"sequence": ("list", None), "mapping": ("dict", None), "object": ("record", kind)}
                return Skeleton("object", items=parts, same=(*words[form], names, None))
        raise UnsupportedSyntax("the items of a list hold a set or a deque", self.source.loc(self.source.node), "pass lists")

    def related(self, item: Type, path: str) -> Type:
        """The type of an argument with those extents that are known in terms of others."""
        if not self.relations or not isinstance(item, Array) or item.shape is None:
            return item

        def known(axis: int, extent: Extent) -> Extent:
            known_extent = self.relations.get(f"{path}.shape[{axis}]", extent)
            return replace(known_extent, plural=True) if isinstance(known_extent, Dim) and is_plural(extent) else known_extent

        return replace(item, shape=tuple(known(axis, extent) for axis, extent in enumerate(item.shape)))

    def container_around(self, item: Abstract) -> Binding:
        """The container that contains itself."""
        assert isinstance(item, StaticArgument)
        key = self.around[-1 - item.key[1]]
        return Broken("it is a tuple that contains itself") if key is None else Obj(key)

    def tree(self, ctx: Lowering, name: str, path: str, item: Tree) -> Binding:
        is_tuple = item.form == "named" or item.form == "sequence" and issubclass(item.kind, tuple)
        kind = {"sequence": "list", "mapping": "dict"}.get(item.form, "record")
        is_instance = container_of(item.kind) is not None
        own = None if is_tuple else HeapKey("record" if is_instance else kind, item.kind if kind == "record" or is_instance else None)
        self.around.append(own)
        parts = []
        for key, inner in zip(item.names, item.items, strict=True):
            word = str(key) if is_name(str(key)) else f"{name}_{key}" if str(key).isalnum() else name
            parts.append((key, self.argument(ctx, word, part_of(path, item, key), inner)))
        self.around.pop()
        if is_instance or item.kind in CONTAINERS:
            assert own is not None
            return self.container(ctx, path, item.kind, own, parts)
        if item.form != "object":
            (check_named_tuple if item.form == "named" else check_container)(ctx, item.kind)
        if item.form == "sequence" and is_tuple and users_bases(item.kind):
            ctx.tuple_classes[item.kind] = None
        if own is None:
            return Tup(tuple(b for _, b in parts), *([item.kind] if item.form == "named" else []))
        ctx.state.heap[own] = tuple(parts)
        return Obj(own)

    def container(self, ctx: Lowering, path: str, cls: type, own: HeapKey, parts: list[tuple[Any, Binding]]) -> Obj:
        """A list or dict of Python's own classes, or an instance of a class derived from one, with the base class's storage."""
        base = container_of(cls)
        beside = {key.name: binding for key, binding in parts if isinstance(key, Own)}
        storage, held = own, base or cls
        if base is not None:
            check_given(ctx, cls)
            storage = HeapKey("list" if base is list else "dict")
            ctx.arguments[storage], ctx.storages[storage] = path, cls
        if held not in (list, dict):
            maker = beside.pop("default_factory", Static(None))
            kind = None if maker == Static(None) else ("made", maker)
            storage.cls, storage.exact = COUNTED if held is collections.Counter else kind, held
        ctx.state.heap[storage] = tuple((key, binding) for key, binding in parts if not isinstance(key, Own))
        if base is not None:
            beside = {NAMESPACE: Static(None)} if NAMESPACE in beside else beside
            ctx.state.heap[own] = ((STORAGE, Obj(storage)), *beside.items())
        return Obj(own)

    def restore(self, ctx: Lowering, captured: Captured) -> None:
        """Put an array, list, dict or instance from outside into memory before anything runs; each object only once."""
        ctx.captured[captured.text] = captured
        if Same(captured.seen) in ctx.followed:
            path, ctx.arrays[captured.text] = ctx.followed[Same(captured.seen)]
            self.joined[captured.text] = path
            return
        if isinstance(captured.abstract, Tree | Many):
            binding = self.argument(ctx, "held", captured.text, captured.abstract)
            assert isinstance(binding, Obj)
            for path, held in mutable_parts(captured.text, captured.seen):
                place = self.objects.get(path) or (Ref(self.locations[path]) if path in self.locations else None)
                if place is not None:
                    ctx.followed[Same(held)] = (path, place)
        else:
            binding = self.restored(ctx, captured)
        ctx.followed[Same(captured.seen)] = (captured.text, binding)
        ctx.arrays[captured.text] = binding

    def with_pins(self, item: Type, path: str) -> Type:
        """An array type with the extents that are part of the signature as numbers."""
        if not isinstance(item, Array) or item.shape is None:
            return item
        return replace(item, shape=tuple(self.pins.get(f"{path}.shape[{k}]", extent) for k, extent in enumerate(item.shape)))

    def restored(self, ctx: Lowering, captured: Captured) -> Ref | Obj:
        """An array, or a list of numbers, from outside."""
        value = Value(ctx.builder.distinct(self.with_pins(captured.abstract, captured.text)), captured.value.name)
        ctx.texts[value] = captured.text
        self.inputs.append((value, array_copy_of(captured.text) if captured.text in self.stored else captured.text))
        ctx.captured[captured.text] = replace(captured, value=value)
        ref = Ref(Location(value.name, ctx.builder.loc, outside=True))
        ctx.state.memory[ref.location] = value
        if captured.text in self.stored:
            self.follow(ctx, captured.text, captured.text.partition(".astype(")[0], ref)
        if not isinstance(value.type, List):
            return ref
        held = ctx.list_in_memory(ref)
        ctx.arguments[held.key] = captured.text
        return held

    def follow(self, ctx: Lowering, text: str, place: str, ref: Ref) -> None:
        """Apply stores to the copy of an array (``ref``) also to the array itself, which the expression ``place`` reads."""
        array = Value(FROM_OUTSIDE, ref.location.name)
        self.inputs.append((array, f"({place})"))
        ctx.state.stored_arrays[ref.location] = (((), array),)
        ctx.state.names[OUTSIDE, text] = ref

    def text_of_copy(self, path: str) -> str:
        """The expression that reads a copy of an array, as the program takes it."""
        return array_copy_of(path + dict(self.signature.converted).get(path, ""))

    # -------------------------------------------------------------- result

    def flatten(self, ctx: Lowering, binding: Binding, operands: list[Operand], node: ast.AST) -> Result:
        """The leaves of the result, and the text that rebuilds it from them."""
        match binding:
            case Tup(items, kind):
                check_result(ctx, kind)
                parts = tuple(self.flatten(ctx, i, operands, node) for i in items)
                inside = ", ".join(p.text for p in parts) + ("," if len(parts) == 1 and kind is None else "")
                text = f"({inside})" if kind is None else f"{owner_name(ctx, kind)}({inside})"
                return Result(text, sum(part.count for part in parts), parts)
            case Obj(key) if key.kind in ("list", "dict") and key.cls is not set and not isinstance(ctx.state.heap[key], Ref):
                ctx.check_keys(key, node)
                pairs = [(k, self.flatten(ctx, b, operands, node)) for k, b in ctx.state.entries(key)]
                parts = tuple(p for _, p in pairs)
                if key.kind == "list":
                    words = ", ".join(p.text for p in parts)
                    text = f"[{words}]" if key.cls is not tuple else f"({words}{',' * (len(parts) == 1)})"
                    return Result(derived_text(ctx, binding, text), sum(part.count for part in parts), parts)
                keys = [constant_text(ctx, k) for k, _ in pairs]
                words = ", ".join(f"{in_template(k)}: {p.text}" for k, p in zip(keys, parts, strict=True))
                text = derived_text(ctx, binding, "{{" + words + "}}")
                return Result(text, sum(part.count for part in parts), parts, tuple(f"{OWNER}[{k}]" for k in keys))
            case Obj() if is_growing(binding):
                return result_of(ctx, binding, operands, node, self.flatten)
            case Obj(key) if (storage := storage_of(ctx, binding)) is not None and is_remade(ctx, key):
                held = self.flatten(ctx, storage, operands, node)
                own = ["__dict__"] if NAMESPACE in dict(ctx.state.entries(key)) else []
                words = f"{owner_name(ctx, instance_of_container)}({owner_name(ctx, key.cls)}, {held.text}, {own}{', None' if own else ''})"
                return replace(held, text=words)
            case Obj(key) if key.kind == "record" and (cls := record_text(ctx, key)) is not None:
                entries = ctx.state.entries(key)
                parts = tuple(self.flatten(ctx, b, operands, node) for _, b in entries)
                words = ", ".join(f"{name}={p.text}" for (name, _), p in zip(entries, parts, strict=True))
                how = tuple(attribute(OWNER, name) for name, _ in entries)
                return Result(f"{cls}({words})", sum(part.count for part in parts), parts, how)
            case Static(value) if value is None or isinstance(value, str | bool | int | float) and not isinstance(value, enum.Enum):
                return Result(in_template(constant_text(ctx, value)), 0)
        try:
            operands.append(operand := ctx.whole(binding, node))
            return leaf_result(ctx, binding, operand.type, node)
        except SymgradError as error:
            ctx.note_refusal(error.at(self.source.loc(node)))
            return Result("{}", 1)


__all__ = ["Attempt"]
