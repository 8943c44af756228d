"""Subscripts that are read: ``x[...]`` as a number, a view or a copy, and the items of lists and dicts."""

from __future__ import annotations

import ast
import collections
import enum
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.containers.dict_items import item_of_dict, item_of_external
from symgrad.frontend.containers.static_containers import item_of_range
from symgrad.frontend.containers.stepping import is_iterator
from symgrad.frontend.flow.absent import argument, as_python_does, definite
from symgrad.frontend.flow.chosen import list_item_at
from symgrad.frontend.flow.edges import fail, sees
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds
from symgrad.frontend.flow.sequences import shares
from symgrad.frontend.memory.exception_texts import check_index, text_of_index
from symgrad.frontend.memory.failing import is_step_open
from symgrad.frontend.objects.derived import as_base, is_derived, item_or_missing, says_what_is_missing
from symgrad.frontend.objects.dicts import is_dict
from symgrad.frontend.objects.operands import known_value, static_binding
from symgrad.frontend.objects.protocols import as_index
from symgrad.frontend.objects.python_values import as_text, python_item
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    External,
    Iter,
    Maybe,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Step,
    Tup,
    View,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.members import is_enumeration, plain
from symgrad.frontend.state.pinning import pinnable, pinned
from symgrad.frontend.values.exact import exact_class
from symgrad.ir.core import NONE, ONE, ZERO, Const, Operand
from symgrad.ir.types import INT, Array, List, Scalar, Type, Unknown
from symgrad.kinds import is_closed
from symgrad.ops.composed import joining
from symgrad.ops.indexing import OPERANDS, is_basic


@dataclass(frozen=True, slots=True)
class Index:
    """An evaluated subscript: one letter and its operands for each item; ``bindings`` are the items themselves."""

    spec: str
    operands: tuple[Operand, ...]
    bindings: tuple[Any, ...]
    is_tuple: bool = False  #: the brackets contain a tuple, perhaps of one item

    @property
    def step(self) -> Step:
        return Step(self.spec, self.operands)


def index_of(ctx: Lowering, node: ast.expr | Index) -> Index:
    """Evaluate the expression between the brackets, unless that has been done."""
    if isinstance(node, Index):
        return node
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    places = [(item, n) for n in nodes for item in items_between(ctx, n)]
    return index_of_items(ctx, [item for item, _ in places], [n for _, n in places], isinstance(node, ast.Tuple))


def items_between(ctx: Lowering, node: ast.expr) -> list[Any]:
    """The items of one expression in a display: one item, or all items of a starred one."""
    if isinstance(node, ast.Starred):
        spread = ctx.evaluate(ast.copy_location(ast.Tuple([node], ast.Load()), node))
        assert isinstance(spread, Tup)
        return list(spread.items)
    return [slice_parts(ctx, node) if isinstance(node, ast.Slice) else ctx.evaluate(node)]


def index_of_items(ctx: Lowering, items: list[Any], nodes: Sequence[ast.AST], is_tuple: bool) -> Index:
    """The index of the items between brackets; a slice is a tuple of its parts."""
    if not is_tuple and isinstance(items[0], Tup):
        items, is_tuple = list(items[0].items), True
    letters, operands = "", list[Operand]()
    for item, part in zip(items, nodes if len(nodes) == len(items) else [nodes[0]] * len(items), strict=True):
        letter, values = index_item(ctx, item, part)
        letters += letter
        operands += values
    return Index(letters, tuple(operands), tuple(items), is_tuple)


def subscript(ctx: Lowering, owner: Binding, node: ast.expr) -> Index:
    """Evaluate the brackets after an owner: a key of a dict is no index."""
    if is_dict(owner) or isinstance(owner, External) and isinstance(owner.value, dict):
        return Index("", (), (held_item(ctx, node, node),))
    return index_of(ctx, node)


def bools_as_masks(ctx: Lowering, owner: Ref, index: Index) -> tuple[Ref, Index]:
    """Replace bools in an index by masks of one element along new axes: ``x[flag]`` is ``x[None][np.array([flag])]``."""
    types = [o.type for o in index.operands]
    places = [sum(OPERANDS[letter] for letter in index.spec[:k]) for k in range(len(index.spec))]
    bools = [letter == "i" and is_bool(types[place]) for letter, place in zip(index.spec, places, strict=True)]
    if not any(bools):
        return owner, index
    axes, letters = "", ""
    operands: list[Operand] = []
    for letter, place, is_flag in zip(index.spec, places, bools, strict=True):
        own = list(index.operands[place : place + OPERANDS[letter]])
        if is_flag:
            axes, letters = axes + "n", letters + "i"
            operands.append(ctx.call("reshape", own[0], ONE))
            continue
        mask = types[place] if letter == "i" else None
        rank = mask.rank if isinstance(mask, Array) and mask.kind == "bool" else 1
        if rank is None:
            raise UnknownType("a bool is an index beside a mask of unknown rank", ctx.builder.loc)
        axes += {"i": "s" * rank, "s": "s", "e": "e", "n": ""}[letter]
        letters += letter
        operands += own
    first = Step(axes, (NONE,) * (3 * axes.count("s")))
    return Ref(owner.location, (*owner.path, first)), replace(index, spec=letters, operands=tuple(operands))


def is_bool(of: Type) -> bool:
    """Whether an index of this type is a bool, or an array of bools without axes."""
    return isinstance(of, Scalar | Array) and of.kind == "bool" and (isinstance(of, Scalar) or of.shape == ())


def slice_parts(ctx: Lowering, node: ast.Slice) -> tuple[Binding | None, ...]:
    return tuple(None if part is None else as_index(ctx, ctx.evaluate(part), part) for part in (node.lower, node.upper, node.step))


def index_item(ctx: Lowering, item: Any, node: ast.AST) -> tuple[str, list[Operand]]:
    """The letter and operands of one item."""
    item = as_index(ctx, item, node) if isinstance(item, Obj | Maybe) else item
    match item:
        case tuple():
            return "s", [NONE if p is None else ctx.read(p, node) for p in item]
        case Static(value=None):
            return "n", []
        case Static(value=value) | External(value=value) if value is Ellipsis:
            return "e", []
        case Static(value=value) if isinstance(value, slice):
            return "s", [Const(p) for p in (value.start, value.stop, value.step)]
        case Iter(kind="slice", parts=parts):
            return "s", list(parts)
        case Static(value=value) if isinstance(plain(value), enum.Enum):
            return "i", [Const(value, value.name)]  # the key of a dict
        case OneOf(values=values) if all(isinstance(v.value, str | enum.Enum) for v in values):
            return "i", [Const(values[0].value, str(values[0].value))]  # one of the keys of a dict
        case Obj(key) if key.kind == "list" and key.cls is tuple:
            what = "a tuple whose length is not known at compile time cannot be an index"
            raise UnsupportedSyntax(what, ctx.loc(node), "write the indices one by one in the subscript")
        case Obj(key) if key.kind == "list":
            held = ctx.state.heap[key]
            places = ctx.read(item, node)
            is_whole = isinstance(held, Ref) and isinstance(places.type, List) and places.type.item == INT  # it may be empty
            return "i", [ctx.array_of(places, "i64" if is_whole or not isinstance(held, Ref) and not held else None)]
        case Iter(kind="range", parts=parts):
            return "i", [ctx.call("arange", *parts, dtype=None)]
    return "i", [ctx.read(argument(ctx, item, node), node)]


def index_itself(ctx: Lowering, index: Index, as_tuple: bool, node: ast.AST) -> Binding:
    """``np.s_[...]``: the index itself."""
    items: list[Binding] = []
    for item in index.bindings:
        parts = tuple(NONE if p is None else ctx.read(p, node) for p in item) if isinstance(item, tuple) else None
        items.append(item if parts is None else Iter("slice", parts))
    return items[0] if len(items) == 1 and not as_tuple else Tup(tuple(items))


def held_item(ctx: Lowering, node: ast.expr | Index, whole: ast.AST) -> Binding:
    """The expression between the brackets, as the one argument of a method."""
    if isinstance(node, ast.Slice):
        parts = tuple(NONE if p is None else ctx.read(p, node) for p in slice_parts(ctx, node))
        return Iter("slice", parts)
    if not isinstance(node, Index):
        return ctx.evaluate(node)
    if node.is_tuple and all(isinstance(item, Binding) for item in node.bindings):
        return Tup(node.bindings)
    if len(node.bindings) != 1 or not isinstance(node.bindings[0], Binding):
        raise UnsupportedSyntax("an instance that is indexed and augmented takes one index", ctx.loc(whole))
    return node.bindings[0]


# ------------------------------------------------------------------ reading


def load(ctx: Lowering, owner: Binding, node: ast.expr | Index, whole: ast.AST) -> Binding:
    """``owner[node]``."""
    if is_one_of_kinds(owner):
        index = index_of(ctx, node)
        return each(ctx, owner, whole, lambda value: load(ctx, value, index, whole))
    owner = definite(ctx, owner, whole)
    if isinstance(owner, Obj) and is_derived(owner) and as_base(ctx, owner, "__getitem__") is not owner:
        if says_what_is_missing(ctx, owner):
            return item_or_missing(ctx, owner, held_item(ctx, node, whole), whole)
        owner = as_base(ctx, owner, "__getitem__")
    match owner := as_text(ctx, owner):
        case Ref():
            return load_array(ctx, owner, index_of(ctx, node), whole)
        case View():
            name = exact_class(ctx, owner, whole).__name__
            return definite(ctx, MISSING, whole, TypeError, f"{name!r} object is not subscriptable")
        case Tup(items):
            return load_sequence(ctx, owner, list(items), index_of(ctx, node), whole)
        case Obj(key) if key.kind == "list":
            content = ctx.state.heap[key]
            if key.exact is collections.deque and "s" in index_of(ctx, node).spec:
                return definite(ctx, MISSING, whole, TypeError, "sequence index must be integer, not 'slice'")
            if isinstance(content, Ref):
                index = index_of(ctx, node)
                if index.spec == "i" and key.exact is collections.deque:
                    check_index(ctx, owner, ctx.read(content), index.operands[0])
                return load_list(ctx, content, index, whole)
            return load_sequence(ctx, owner, [b for _, b in content], index_of(ctx, node), whole)
        case Obj() if is_dict(owner):
            return item_of_dict(ctx, owner, as_base(ctx, held_item(ctx, node, whole), "__hash__", "__eq__"), whole)
        case Iter(kind="range"):
            index = index_of(ctx, node)
            return item_of_range(ctx, owner, index.spec, index.operands, whole)
        case Iter(kind="flat", parts=(Ref() as whole_array,)):
            index = index_of(ctx, node)
            vector = in_a_row(ctx, whole_array)
            return ctx.make(ctx.call("take", ctx.read(vector, whole), *index.operands, index=index.spec))
        case External(value, text):
            return item_from_outside(ctx, owner, value, text, node, whole)
        case Static() if (item := item_of_static(ctx, owner, node, whole)) is not None:
            return item
        case Num() if python_class(owner) is str:
            return python_item(ctx, owner, index_of(ctx, node), whole)
        case Num(operand) if isinstance(operand.type, Unknown):
            index = index_of(ctx, node)
            return ctx.make(ctx.call("take", operand, *index.operands, index=index.spec))
        case Num(operand) if isinstance(operand.type, Scalar) and (item := item_of_scalar(ctx, owner, operand, node, whole)) is not None:
            return item
        case Obj(key) if key.kind == "record":
            return ctx.apply_method(owner, "__getitem__", [held_item(ctx, node, whole)], whole)
    if is_iterator(owner):
        name = exact_class(ctx, owner, whole).__name__
        return definite(ctx, MISSING, whole, TypeError, f"{name!r} object is not subscriptable")
    text = ast.unparse(whole.value) if isinstance(whole, ast.Subscript) else "x"
    hint = f"write np.atleast_1d({text}) for {text}, or give the function an array"
    raise UnsupportedSyntax("this cannot be indexed", ctx.loc(whole), hint)


def item_from_outside(ctx: Lowering, owner: Binding, value: Any, text: str, node: ast.expr | Index, whole: ast.AST) -> Binding:
    """An item of an object from outside; NumPy's objects that are subscripted make indices and arrays."""
    if value is np.s_ or value is np.index_exp:
        return index_itself(ctx, index_of(ctx, node), value is np.index_exp, whole)
    if value is np.r_ or value is np.c_:
        return concatenated_by_index(ctx, value, index_of(ctx, node), whole)
    if value is np.mgrid or value is np.ogrid:
        return grid(ctx, value, index_of(ctx, node), whole)
    if type(value) in (list, tuple) and isinstance(node, ast.Slice):
        return load(ctx, ctx.apply(Static(type(value)), [owner], {}, whole), node, whole)
    return item_of_external(ctx, value, text, held_item(ctx, node, whole), whole)


def item_of_static(ctx: Lowering, owner: Static, node: ast.expr | Index, whole: ast.AST) -> Binding | None:
    """An item of an object that is known at compile time; None for objects without items."""
    value = owner.value
    if is_enumeration(value):
        return Static(value[static_index(ctx, index_of(ctx, node), whole)])
    if isinstance(value, str | bytes | range):
        index = index_of(ctx, node)
        if isinstance(value, str) and index.spec in ("i", "s") and not all(isinstance(operand, Const) for operand in index.operands):
            return python_item(ctx, owner, index, whole)
        key = static_index(ctx, index, whole)
        if isinstance(key, int) and not -len(value) <= key < len(value):
            word = {str: "string index", bytes: "index", range: "range object index"}[type(value)]
            return definite(ctx, MISSING, whole, IndexError, f"{word} out of range")
        return static_binding(as_python_does(ctx, whole, lambda: value[key]))
    if is_closed(value) and hasattr(value, "__getitem__") and not isinstance(node, Index):
        return item_of_closed(ctx, owner, node, whole)
    return None


def item_of_scalar(ctx: Lowering, owner: Num, operand: Operand, node: ast.expr | Index, whole: ast.AST) -> Binding | None:
    """A number under a subscript: NumPy's, with an index that selects no axis, or an error; None for an index of another kind."""
    assert isinstance(operand.type, Scalar)
    if operand.type.dtype is None and not isinstance(node, Index):
        kind = exact_class(ctx, owner, whole).__name__
        return definite(ctx, MISSING, whole, TypeError, f"{kind!r} object is not subscriptable")
    index = index_of(ctx, node)
    if index.spec == "":
        return owner
    if index.spec == "e":  # an array without axes, but the number itself has no axes
        return ctx.make(ctx.call("to_array", operand, dtype=None))
    if set(index.spec) <= {"e", "n"}:
        return ctx.make(ctx.call("reshape", operand, *[Const(1)] * index.spec.count("n")))
    if operand.type.dtype != "any" and any(is_bool(o.type) for o in index.operands):  # a mask of a NumPy number
        return load(ctx, ctx.make(ctx.call("to_array", operand, dtype=None)), index, whole)
    if set(index.spec) <= {"i", "s", "e", "n"}:
        return definite(ctx, MISSING, whole, IndexError, "invalid index to scalar variable.")
    return None


def item_of_closed(ctx: Lowering, owner: Binding, node: ast.expr, whole: ast.AST) -> Binding:
    """A field of a table or an item of another library's array, read at run time."""
    if isinstance(node, ast.Slice) or isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice) for part in node.elts):
        raise UnsupportedSyntax("a slice of this cannot be taken here", ctx.loc(whole), "make it an array first, with np.asarray")
    place = ctx.read(ctx.evaluate(node), node)
    return Num(ctx.call("opaque_pure", Const(operator.getitem, owner_name(ctx, operator.getitem)), ctx.read(owner, whole), place))


def load_array(ctx: Lowering, owner: Ref, index: Index, node: ast.AST) -> Binding:
    """An element is a number, a basic index a view, any other index a copy."""
    check_places(ctx, index, node)
    if not index.spec and ctx.frame.place is not None and isinstance(whole := ctx.type_of(owner), Array) and whole.rank:
        return owner  # a composition that converts arrays without axes to numbers
    types = [o.type for o in index.operands]
    known = all(isinstance(t, Scalar | Array) or k is NONE or isinstance(k, Const) for t, k in zip(types, index.operands, strict=True))
    if not known:
        return view_or_copy(ctx, owner, index)
    owner, index = bools_as_masks(ctx, owner, index)
    types = [o.type for o in index.operands]
    if not is_basic(index.spec, types):
        return ctx.make(ctx.call("take", ctx.read(owner, node), *index.operands, index=index.spec))
    view = Ref(owner.location, (*owner.path, index.step))
    view_type = ctx.type_of(view)
    whole = ctx.type_of(owner)
    if isinstance(view_type, Scalar) or isinstance(whole, Array) and whole.shape is not None and not isinstance(view_type, Array):
        return Num(ctx.call("take", ctx.read(owner, node), *index.operands, index=index.spec))  # an element of an array of any dtype
    if isinstance(view_type, Array) and view_type.shape is not None:
        ctx.look(view)
        if can_be_missing(index) and owner.location not in ctx.state.stale:
            ctx.call_many("evaluated", ctx.read(view))  # Python checks the index now, even if the view is never read
        return view
    return view_or_copy(ctx, owner, index)


def can_be_missing(index: Index) -> bool:
    """Whether the index may be invalid: it contains an integer, or a step that may be 0."""
    operands = iter(index.operands)
    parts = [(letter, [next(operands) for _ in range(OPERANDS[letter])]) for letter in index.spec]
    return any(letter == "i" or letter == "s" and is_step_open(part[2]) for letter, part in parts)


def view_or_copy(ctx: Lowering, owner: Ref, index: Index) -> Binding:
    """An index of unknown kind: the result may or may not share memory."""
    return ctx.shared(ctx.call("view", ctx.read(owner), *index.operands, index=index.spec), owner)


def load_list(ctx: Lowering, owner: Ref, index: Index, node: ast.AST) -> Binding:
    if index.spec == "i":
        return ctx.item_at(owner, index.operands[0])
    if index.spec == "s":
        return ctx.list_sharing(ctx.call("list_slice", ctx.read(owner), *index.operands), owner)
    raise UnsupportedSyntax("a list takes one index", ctx.loc(node))


def load_sequence(ctx: Lowering, owner: Binding, items: list[Binding], index: Index, node: ast.AST) -> Binding:
    """A tuple or list of static structure."""
    if index.spec == "i" and not isinstance(index.operands[0], Const):
        return list_item_at(ctx, owner, items, index.operands[0], node)
    if index.spec == "s" and isinstance(owner, Obj) and owner.key.cls is None and is_part_computed(ctx, items, index):
        return ctx.list_sharing(ctx.call("list_slice", ctx.list_of(items, node), *index.operands), *items)
    key = static_index(ctx, index, node)
    if isinstance(key, slice):
        chosen = items[key]
        return Tup(tuple(chosen)) if isinstance(owner, Tup) else ctx.new_object("list", enumerate(chosen))
    if not isinstance(key, int) or not -len(items) <= key < len(items):
        if isinstance(key, int) and sees(ctx, IndexError):
            fail(ctx, IndexError, text_of_index(owner))
        what = f"index {key!r} is out of range for {len(items)} items"
        raise UnsupportedSyntax(what, ctx.loc(node), f"its indices are 0 to {len(items) - 1}" if items else None)
    return items[key]


def is_part_computed(ctx: Lowering, items: list[Binding], index: Index) -> bool:
    """Whether the bounds of a slice are dynamic, for a list of numbers or of arrays."""
    open_ends = [Num(o) for o in index.operands if not isinstance(o, Const)]
    alike = {type(item) for item in items} in ({Num}, {Ref})
    return bool(open_ends) and alike and all(pinnable(ctx, end) is None for end in open_ends)


def static_index(ctx: Lowering, index: Index, node: ast.AST) -> Any:
    if not all(isinstance(o, Const) for o in index.operands) or len(index.spec) != 1:
        raise pinned(ctx, UnsupportedSyntax("this index must be a literal", ctx.loc(node)), map(Num, index.operands))
    values = [o.value for o in index.operands if isinstance(o, Const)]
    return slice(*values) if index.spec == "s" else values[0] if values else None


# ------------------------------------------------------------------ writing


def check_places(ctx: Lowering, index: Index, node: ast.AST) -> None:
    """Refuse a member of an enumeration as an index: it is only valid as a key of dicts."""
    if any(isinstance(o, Const) and isinstance(o.value, enum.Enum) for o in index.operands):
        raise UnsupportedSyntax("a member of an enumeration is not an index", ctx.loc(node), "use its value")


def is_in_a_row(ctx: Lowering, ref: Ref) -> bool:
    """Whether the elements of an array are contiguous in memory."""
    ctx.laid = True
    type_, root = ctx.type_of(ref), ctx.state.memory[ref.location].type
    return getattr(type_, "rank", None) == 1 or all(getattr(t, "layout", "?") in ("C", "CF") for t in (type_, root))


def in_a_row(ctx: Lowering, ref: Ref) -> Binding:
    """An array as a vector, row-major: a view where possible, else a copy."""
    if getattr(ctx.type_of(ref), "rank", None) == 1:
        return ref
    if is_in_a_row(ctx, ref):
        return Ref(ref.location, (*ref.path, Step(".reshape:1", (Const(-1),))))
    return ctx.make(ctx.call("flatten", ctx.read(ref)))


def concatenated_by_index(ctx: Lowering, kind: Any, index: Index, node: ast.AST) -> Binding:
    """``np.r_[...]`` and ``np.c_[...]`` of numbers, arrays and ranges."""
    parts: list[Binding] = []
    types: list[Any] = []
    for item in index.bindings:
        if isinstance(item, Static) or isinstance(item, Num) and isinstance(item.operand.type, Unknown):
            raise UnsupportedSyntax("this item of np.r_ or np.c_ cannot be differentiated", ctx.loc(node), "use np.concatenate")
        if isinstance(item, tuple):
            start, stop, step = (None if p is None else ctx.read(p, node) for p in item)
            if stop is None or any(getattr(o.type, "kind", "int") != "int" for o in (start, stop, step) if o is not None):
                raise UnsupportedSyntax("a range in np.r_ must be of integers", ctx.loc(node), "use np.arange or np.linspace")
            item = ctx.make(ctx.call("arange", start or Const(0), stop, step or Const(1), dtype=None))
        parts.append(item)
        types.append(ctx.type_of(item))
    if {t.dtype for t in types if isinstance(t, Array)} == {"f32"} and not any(isinstance(t, Scalar) and t.dtype for t in types):
        # Python numbers take the dtype of the arrays
        parts = [Num(ctx.call("cast", ctx.read(p), dtype="f32")) if isinstance(t, Scalar) else p for p, t in zip(parts, types, strict=True)]
        types = []
    plain = all(isinstance(t, Scalar) or getattr(t, "dtype", None) in ("f64", "i64") for t in types)
    if not plain and any(isinstance(t, Scalar) for t in types):
        raise UnsupportedSyntax("numbers beside such an array in np.r_ or np.c_ are not supported", ctx.loc(node), "use np.concatenate")
    return ctx.apply(Static(joining.joined_rows if kind is np.r_ else joining.joined_columns), [Tup(tuple(parts))], {}, node)


def grid(ctx: Lowering, kind: Any, index: Index, node: ast.AST) -> Binding:
    """``np.mgrid[...]`` and ``np.ogrid[...]``: an imaginary step is a number of points, the end included."""
    axes: list[Binding] = []
    for item in index.bindings:
        if not isinstance(item, tuple) or item[1] is None:
            raise UnsupportedSyntax(
                "an axis of np.mgrid or np.ogrid is a range with an end", ctx.loc(node), "write the end too, as in np.mgrid[0:3]"
            )
        start, stop, step = (Num(default) if part is None else part for part, default in zip(item, (ZERO, NONE, ONE), strict=True))
        count = known_value(step)
        if count and isinstance(count[0], complex):
            axes.append(ctx.apply(Static(np.linspace, "np.linspace"), [start, stop, Num(Const(int(abs(count[0]))))], {}, node))
        else:
            axes.append(ctx.apply(Static(np.arange, "np.arange"), [start, stop, step], {}, node))
    if len(axes) == 1:
        return axes[0]
    return ctx.apply(Static(joining.open_grid if kind is np.ogrid else joining.dense_grid), [Tup(tuple(axes))], {}, node)


def become_value(ctx: Lowering, owner: Obj, value: Binding, node: ast.AST) -> None:
    """Give a list of any length the content of ``value``, a new list that holds the same arrays."""
    ctx.check_still(owner.key)
    content = ctx.state.heap[owner.key]
    assert isinstance(content, Ref)
    ctx.replace_list(content, ctx.whole(value, node))
    shares(ctx, value, content)


def items_known(ctx: Lowering, value: Binding, node: ast.AST) -> list[Binding]:
    """The items assigned to a slice of a list, one by one."""
    new_list = ctx.apply(Static(list, "list"), [value], {}, node)
    content = ctx.state.heap[new_list.key] if isinstance(new_list, Obj) else None
    if not isinstance(content, tuple):
        raise UnsupportedSyntax("the number of items assigned to a slice of a list is not known", ctx.loc(node), "append them one by one")
    return [b for _, b in content]


__all__ = ["Index", "become_value", "index_of", "load", "subscript"]
