"""Abstract values of bindings: their forms, without values, for loops and recursive functions before their bodies are lowered."""

from __future__ import annotations

import enum
import functools
from collections.abc import Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    REFUSED,
    Binding,
    Broken,
    Choice,
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
    is_row,
    row_at,
)
from symgrad.frontend.state.program_state import State
from symgrad.ir.core import NONE, UNDEF, Const, Operand, Value
from symgrad.ir.types import BOOL, INT, TEXT, UNDEFINED, UNKNOWN, Array, List, Object, Type, Unknown, join
from symgrad.location import Loc
from symgrad.ops.composed import growing_classes
from symgrad.text import is_name


@dataclass(frozen=True, slots=True)
class Skeleton:
    """The form of a binding: its structure, with types for values.

    ``form`` is "num"; "array"; "tuple"; "object" (another object in each iteration: ``same`` is its kind, class and
    keys; a list of any length has ``None`` for keys, and one item; a list inside the list of lists that owns it has
    the location of the outer list for keys, and its index for an item); "maybe" (its one item, or the binding
    ``same``); "oneof" (one of the constants in ``same``); "same" (a binding that must not change); "missing";
    "broken"; or "view" (of the array in ``same`` through the steps in ``same``; its items are the numbers in the
    steps that differ by path, see ``view_form``).
    """

    form: str
    type: Type = UNDEFINED
    items: tuple[Skeleton, ...] = ()
    same: Any = None
    #: of a "same" object, or one inside a list of lists: its form as an object of its own
    anew: Skeleton | None = field(default=None, compare=False)
    sites: tuple[Any, ...] = field(default=(), compare=False)  #: locations that may have created a dict


NOTHING = Skeleton("missing")
SEVERAL = 24  #: the most constants of one "oneof"
DIFFERENT = "it is bound to values of different kinds on different paths"
PRESENT = Skeleton("num", BOOL)  #: the bool that says whether a value exists
PLACE = Skeleton("num", INT)  #: the index among constants


def skeleton(binding: Binding, state: State, type_of: Any, above: tuple[HeapKey, ...] = (), views: bool = False) -> Skeleton:
    """The form of a binding in a state; ``type_of(ref)`` is the type of a ``Ref``. ``views``: views have forms of their own."""
    match binding:
        case Missing():
            return NOTHING
        case Num(operand):
            return Skeleton("num", operand.type)
        case Ref():
            return view_form(binding, type_of(binding)) if views else Skeleton("array", type_of(binding))
        case Tup(items, kind):
            return Skeleton("tuple", items=tuple(skeleton(i, state, type_of, above, views) for i in items), same=kind)
        case Maybe(inner=inner, absent=absent):
            if (held := resolved_by_paths(binding, state)) is not binding:
                return skeleton(held, state, type_of, above, views)
            return maybe(skeleton(inner, state, type_of, above, views), absent)
        case OneOf(values=values):
            held = resolved_by_paths(binding, state)
            return Skeleton("oneof", same=values) if held is binding else Skeleton("same", same=held)
        case Choice() if constants_of(binding):
            return Skeleton("oneof", same=constants_of(binding))
        case Broken(why):
            return Skeleton("broken", same=why, sites=tuple(sorted(binding.sites)))
        case Obj(key):
            return Skeleton("same", same=binding, anew=_object_skeleton(key, state, type_of, above, views))
    return Skeleton("same", same=binding)


def _object_skeleton(key: HeapKey, state: State, type_of: Any, above: tuple[HeapKey, ...], views: bool) -> Skeleton | None:
    """The form of an object, if another one may take its place."""
    content = state.heap.get(key)
    if content is None or key.kind not in ("list", "dict", "record") or key.doubtful or key.unordered or key in above:
        return None
    if isinstance(content, Ref):
        whole = Skeleton("object", items=(skeleton(content, state, type_of),), same=(key.kind, key.cls, None, key.exact))
        return row_of(content.location, whole) if is_row(content) else whole
    items = tuple(skeleton(b, state, type_of, (*above, key), views) for _, b in content)
    return Skeleton("object", items=items, same=(key.kind, key.cls, tuple(k for k, _ in content), key.exact), sites=key.sites)


def view_form(ref: Ref, type_: Type) -> Skeleton:
    """The form of a view: its array, its steps with UNDEF for each dynamic number, and an item for each of these numbers."""
    steps = [replace(step, operands=(*step.operands[:-2], NONE, NONE)) if step.row else step for step in ref.path]
    open_numbers = [o for step in steps for o in step.operands if isinstance(o, Value)]
    if not steps or is_row(ref) or any(o.type != INT for o in open_numbers):
        return Skeleton("array", type_)
    path = tuple(replace(step, operands=tuple(UNDEF if isinstance(o, Value) else o for o in step.operands)) for step in steps)
    return Skeleton("view", type_, tuple(PLACE for _ in open_numbers), (ref.location, path))


def _merged_views(a: Skeleton, b: Skeleton) -> Skeleton | None:
    """The form that covers two views of one array by steps of the same kinds; None for others."""
    (location, one), (other, two) = a.same, b.same
    if location is not other or [replace(s, operands=()) for s in one] != [replace(s, operands=()) for s in two]:
        return None
    path = []
    for first, second in zip(one, two, strict=True):
        pairs = [*zip(first.operands, second.operands, strict=True)]
        if any(p != q and not all(o is UNDEF or isinstance(o.value, int) for o in (p, q)) for p, q in pairs):
            return None
        path.append(replace(first, operands=tuple(p if p == q else UNDEF for p, q in pairs)))
    count = sum(o is UNDEF for step in path for o in step.operands)
    return Skeleton("view", join(a.type, b.type), (PLACE,) * count, (location, tuple(path)))


def views_in(form: Skeleton, memory: Container[Location]) -> Skeleton:
    """A form in which only views of these arrays are views, others arrays."""
    if form.form == "view":
        return form if form.same[0] in memory else Skeleton("array", form.type)
    items = tuple(views_in(item, memory) for item in form.items)
    anew = None if form.anew is None else views_in(form.anew, memory)
    return form if items == form.items and anew == form.anew else replace(form, items=items, anew=anew)


def holds_view(form: Skeleton) -> bool:
    """Whether the form is a view, or contains one."""
    return form.form == "view" or any(map(holds_view, form.items))


def _bound_by_value(form: Skeleton) -> Skeleton:
    """A form whose values decide whether a name is bound: in a view by static steps, one number becomes a value."""
    if form.form == "view" and not form.items:
        location, path = form.same
        numbers = [(k, n) for k, step in enumerate(path) for n, o in enumerate(step.operands) if type(o.value) is int]
        if not numbers:
            return Skeleton("array", form.type)
        (k, n), *_ = numbers
        opened = replace(path[k], operands=(*path[k].operands[:n], UNDEF, *path[k].operands[n + 1 :]))
        return replace(form, items=(PLACE,), same=(location, (*path[:k], opened, *path[k + 1 :])))
    return replace(form, items=tuple(map(_bound_by_value, form.items))) if form.form == "tuple" else form


def row_of(location: Location, whole: Skeleton) -> Skeleton:
    """The form of a list inside the list of lists that alone holds it: its index; ``whole`` is its form elsewhere."""
    kind, cls, _, exact = whole.same
    return Skeleton("object", items=(PLACE,), same=(kind, cls, location, exact), anew=whole)


def is_of_row(form: Skeleton) -> bool:
    """Whether the form is that of a list inside a list of lists."""
    return form.form == "object" and isinstance(form.same[2], Location)


def rows_in(form: Skeleton, owning: Container[Location]) -> Skeleton:
    """A form in which a list is inside a list of lists only if the outer list alone holds it."""
    if is_of_row(form) and form.same[2] not in owning:
        assert form.anew is not None
        return form.anew
    if form.items:
        return replace(form, items=tuple(rows_in(item, owning) for item in form.items))
    return form


def decided(operand: Operand, state: State) -> bool | None:
    """The value of a bool on the path of a state; None if it is unknown."""
    return bool(operand.value) if isinstance(operand, Const) else state.known.get(operand)


def constant_of(operand: Operand, state: State) -> Operand:
    """A bool of Python's as a constant where the path of a state decides it; other operands, also NumPy's bools, as they are."""
    known = state.known.get(operand) if operand.type == BOOL and isinstance(operand, Value) else None
    return operand if known is None else Const(known)


def static_part(binding: Binding, state: State, depth: int = 4) -> object:
    """The static part of a binding: constants, positions, and the structure of the tuples and objects that hold them."""
    if isinstance(binding, Num):
        return repr(binding.operand.value) if isinstance(binding.operand, Const) else None
    key: Any = getattr(binding, "key", None)  # of an object, or of an iterator with a position
    held: Any = enumerate(binding.items) if isinstance(binding, Tup) else state.heap.get(key, binding)
    if isinstance(held, Binding) or not depth:
        return None if isinstance(held, Ref) else binding
    return [(name, static_part(item, state, depth - 1)) for name, item in held]


def resolved_by_paths(binding: Binding, state: State) -> Binding:
    """A binding that may be absent, or one of several, resolved by the path conditions of a state where possible."""
    if isinstance(binding, OneOf):
        left = [v for k, v in enumerate(binding.values) if state.known.get((binding.place, k)) is not False]
        sure = [v for k, v in enumerate(binding.values) if state.known.get((binding.place, k))]
        return sure[0] if sure else left[0] if len(left) == 1 else binding
    if isinstance(binding, Choice) and (chosen := decided(binding.test, state)) is not None:
        return resolved_by_paths(binding.then if chosen else binding.orelse, state)
    if not isinstance(binding, Maybe) or (known := decided(binding.present, state)) is None:
        return binding
    return binding.inner if known else binding.absent


def _is_absent(value: Skeleton) -> bool:
    return value.form == "same" and value.same == ABSENT


def constants_of(binding: Binding) -> tuple[Static, ...]:
    """The functions among which evaluated tests choose, if each of them is static."""
    if not isinstance(binding, Choice):
        return (binding,) if isinstance(binding, Static) else ()
    sides = [constants_of(side) for side in (binding.then, binding.orelse)]
    return tuple(dict.fromkeys([*sides[0], *sides[1]])) if all(sides) else ()


def _constants(form: Skeleton) -> tuple[Static, ...]:
    """The constants of a form that has no other values: texts, enumeration members, None, functions."""
    if form.form == "oneof":
        return form.same  # type: ignore[no-any-return]
    if form.form == "same" and isinstance(form.same, Static):
        value = form.same.value
        return (form.same,) if value is None or isinstance(value, str | enum.Enum) or callable(value) else ()
    return ()


def _merged_constants(a: Skeleton, b: Skeleton) -> Skeleton:
    """The form of one of the constants of two forms; those of the first keep their indices."""
    values = tuple(dict.fromkeys([*_constants(a), *_constants(b)]))
    return Skeleton("oneof", same=values) if len(values) <= SEVERAL else Skeleton("num", type_of_texts(a, b))


def _opaque(value: Skeleton) -> bool:
    if value.form == "oneof":
        return all(v.value is None or isinstance(v.value, str) for v in value.same)
    return value.form == "same" and isinstance(value.same, Static) and (value.same.value is None or isinstance(value.same.value, str))


def type_of_texts(*forms: Skeleton) -> Type:
    """The type of a value that is a text on every path, static or dynamic; unknown if it is not a text on one of them."""
    constants = [value.value for form in forms for value in _constants(form)]
    types = [form.type for form in forms if not _constants(form)]
    is_text = all(isinstance(value, str) and not isinstance(value, enum.Enum) for value in constants)
    return TEXT if is_text and all(type_ == TEXT for type_ in types) else UNKNOWN


def merge(a: Skeleton, b: Skeleton, anew: bool = False) -> Skeleton:
    """The form that covers both; ``anew``: an object may take the place of another one of its kind."""
    if a == b:
        return of_both_sites(a, b)
    if a.form == "missing" or b.form == "missing":
        return _bound_by_value(b if a.form == "missing" else a)
    if refused := next((x for x in (a, b) if x.form == "broken" and x.same == REFUSED), None):
        return refused
    if a.form == b.form == "view" and (view := _merged_views(a, b)) is not None:
        return view
    if {a.form, b.form} <= {"num", "array", "view"}:
        both = join(a.type, b.type)
        form = "num" if a.form == b.form == "num" and not isinstance(both, Array) else "array"
        return Skeleton(form, both)
    if a.form == b.form == "tuple" and len(a.items) == len(b.items) and a.same is b.same:
        return Skeleton("tuple", items=tuple(merge(x, y, anew) for x, y in zip(a.items, b.items, strict=True)), same=a.same)
    if _constants(a) and _constants(b):
        return _merged_constants(*((b, a) if b.form == "oneof" else (a, b)))
    if "maybe" in (a.form, b.form) or _is_absent(a) or _is_absent(b):
        return _merged_maybe(a, b, anew)
    if _opaque(a) and b.form == "num" or _opaque(b) and a.form == "num" or _opaque(a) and _opaque(b):
        return Skeleton("num", type_of_texts(a, b))
    if anew and (object_form := _merged_objects(a, b)) is not None:
        return object_form
    return Skeleton("broken", same=DIFFERENT, sites=substituted_dicts(a, b))


def substituted_dicts(a: Skeleton, b: Skeleton) -> tuple[Any, ...]:
    """The creation locations of a dict of static keys, for which a dict with dynamic keys is substituted."""
    if "broken" in (a.form, b.form):
        return a.sites if a.form == "broken" else b.sites
    one, two = (x if x.form == "object" else x.anew for x in (a, b))
    is_growing = any(x is not None and x.same[1] in growing_classes.CLASSES for x in (one, two))
    return next((x.sites for x in (one, two) if x is not None and x.same[0] == "dict"), ()) if is_growing else ()


def of_both_sites(a: Skeleton, b: Skeleton) -> Skeleton:
    """The first of two equal forms, with the creation locations of dicts of both."""
    if a is b:
        return a
    sites = a.sites if a.sites == b.sites else tuple(dict.fromkeys([*a.sites, *b.sites]))
    items = tuple(map(of_both_sites, a.items, b.items))
    if sites == a.sites and all(one is other for one, other in zip(items, a.items, strict=True)):
        return a
    return replace(a, items=items, sites=sites)


def _merged_maybe(a: Skeleton, b: Skeleton, anew: bool) -> Skeleton:
    """The form of a value that may be absent, if at least one of two forms may be."""
    if any(x.form == "maybe" and x.same == MISSING for x in (a, b)):
        one, two = (x.items[0] if x.form == "maybe" and x.same == MISSING else x for x in (a, b))
        return or_missing(merge(one, two, anew))
    absents = [x.same for x in (a, b) if x.form == "maybe" or _is_absent(x)]
    inners = [x.items[0] if x.form == "maybe" else x for x in (a, b) if not _is_absent(x)]
    inner = functools.reduce(lambda x, y: merge(x, y, anew), inners)
    return maybe(inner, absents[0]) if absents[0] == absents[-1] else Skeleton("broken", same=DIFFERENT)


def maybe(inner: Skeleton, absent: Binding) -> Skeleton:
    """The form of a value that is absent on some paths. A value of unknown class, or a text among others, may be None without it."""
    if inner.form == "same" and isinstance(inner.same, Obj):
        inner = inner.anew or Skeleton("broken", same=DIFFERENT)
    if inner.form in ("broken", "missing", "maybe"):
        return inner
    if absent == ABSENT and (isinstance(inner.type, Unknown | Object) or _opaque(inner)):
        return Skeleton("num", UNKNOWN)
    if absent == ABSENT and inner.form == "oneof":
        return Skeleton("oneof", same=tuple(dict.fromkeys([*inner.same, ABSENT])))
    if inner.form == "same" and not isinstance(inner.same, Static | External):
        return Skeleton("broken", same=DIFFERENT)
    return Skeleton("maybe", items=(inner,), same=absent)


def merged_item(a: Skeleton, b: Skeleton) -> Skeleton:
    """The form that covers two forms of an object's item, which may be missing."""
    form = merge(a, b, anew=True)
    return or_missing(form) if NOTHING in (a, b) else form


def or_missing(form: Skeleton) -> Skeleton:
    """The form of an attribute or key that exists on some paths only."""
    return Skeleton("broken", same=DIFFERENT) if form.form == "maybe" and form.same != MISSING else maybe(form, MISSING)


def _merged_objects(a: Skeleton, b: Skeleton) -> Skeleton | None:
    """The form of an object that is one or the other; None where their structures differ."""
    one, two = (x if x.form == "object" else x.anew for x in (a, b))
    if one is None or two is None or (*one.same[:2], one.same[3]) != (*two.same[:2], two.same[3]):
        return None
    if one.same[2] != two.same[2]:
        one, two = (x.anew if is_of_row(x) and x.anew is not None else x for x in (one, two))
    if one.same[0] == "list" and one.same[2] != two.same[2]:
        one, two = _of_any_length(one), _of_any_length(two)
        if one is None or two is None:
            return None
    if one.same[2] != two.same[2]:
        return None
    items = tuple(merged_item(x, y) for x, y in zip(one.items, two.items, strict=True))
    whole = _merged_objects(one.anew, two.anew) if is_of_row(one) and one.anew is not None and two.anew is not None else None
    return Skeleton("object", items=items, same=one.same, anew=whole, sites=tuple(dict.fromkeys([*one.sites, *two.sites])))


def _of_any_length(form: Skeleton) -> Skeleton | None:
    """The form of a list of numbers, whatever its length."""
    kind, cls, keys, exact = form.same
    if keys is None:
        return form
    if cls is not None or any(i.form != "num" for i in form.items):
        return None
    item: Type = functools.reduce(join, [UNDEFINED, *(i.type for i in form.items)])
    return Skeleton("object", items=(Skeleton("array", List(item)),), same=(kind, cls, None, exact))


def leaves(form: Skeleton) -> list[Skeleton]:
    """The values that a form contains, in order."""
    if form.form in ("tuple", "object", "maybe", "view"):
        own = [PRESENT] if form.form == "maybe" else []
        return own + [leaf for item in form.items for leaf in leaves(item)]
    if form.form == "oneof":
        return [PLACE]
    return [form] if form.form in ("num", "array") else []


def leaf_names(form: Skeleton, name: str) -> list[str]:
    """A name for each value in a form; a value in an object is also named for its key."""
    match form.form, form.same:
        case "tuple", _:
            return [n for item in form.items for n in leaf_names(item, name)]
        case "object", (_, _, keys, _):
            words = [name] if keys is None or is_of_row(form) else [f"{name}_{k}" if is_name(k) else name for k in keys]
            return [n for item, word in zip(form.items, words, strict=True) for n in leaf_names(item, word)]
        case "maybe", _:
            return [f"has_{name}", *leaf_names(form.items[0], name)]
        case "view", _:
            return [name] * len(form.items)
        case "num" | "array" | "oneof", _:
            return [name]
    return []


def item_of(binding: Binding, form: Skeleton, heap: Mapping[HeapKey, Any]) -> list[Binding]:
    """The parts of a tuple or object, one for each item of its form; ``MISSING`` for each if it does not have the form."""
    if form.form == "maybe":
        return [MISSING if binding == form.same else inner_of(binding)]
    binding = inner_of(binding)
    if form.form == "view" and isinstance(binding, Ref):
        operands = [o for step in binding.path for o in step.operands]
        return [Num(o) for o, fixed in zip(operands, (o for step in form.same[1] for o in step.operands), strict=True) if fixed is UNDEF]
    if form.form == "tuple" and isinstance(binding, Tup) and len(binding.items) == len(form.items):
        return list(binding.items)
    if form.form == "object" and isinstance(binding, Obj):
        content, keys = heap[binding.key], form.same[2]
        if keys is None:
            return [content if isinstance(content, Ref) else binding]
        if is_of_row(form):
            return [Num(content.path[0].operands[0]) if isinstance(content, Ref) and is_row(content) else MISSING]
        if not isinstance(content, Ref):
            return [dict(content).get(k, MISSING) for k in keys]
    return [MISSING] * len(form.items)


def inner_of(binding: Binding) -> Binding:
    """The binding without ``Maybe``."""
    return binding.inner if isinstance(binding, Maybe) else binding


def rebuild(form: Skeleton, values: list[Value], state: State, name: str | None, loc: Loc) -> Binding:
    """A binding of a form, built from values (taken from the front of the list)."""
    match form.form:
        case "num":
            return Num(values.pop(0))
        case "array":
            location = Location(name, loc)
            state.memory[location] = values.pop(0)
            return Ref(location)
        case "tuple":
            return Tup(tuple(rebuild(item, values, state, name, loc) for item in form.items), form.same)
        case "object":
            kind, cls, keys, exact = form.same
            key = HeapKey(kind, cls, exact=exact, sites=form.sites)
            items = [rebuild(item, values, state, name, loc) for item in form.items]
            if is_of_row(form):
                state.heap[key] = row_at(keys, items[0].operand)  # type: ignore[attr-defined]
                state.twins |= {key}
                return Obj(key)
            state.heap[key] = tuple(zip(keys, items, strict=True)) if keys is not None else items[0]  # type: ignore[assignment]
            return Obj(key)
        case "view":
            steps = [replace(s, operands=tuple(values.pop(0) if o is UNDEF else o for o in s.operands)) for s in form.same[1]]
            return Ref(form.same[0], tuple(steps))
        case "oneof":
            return OneOf(values.pop(0), form.same)
        case "maybe":
            present = values.pop(0)
            return Maybe(present, rebuild(form.items[0], values, state, name, loc), form.same)
        case "missing":
            return MISSING
        case "broken":
            return Broken(str(form.same), sites=frozenset(form.sites))
    assert isinstance(form.same, Binding)
    return form.same


def places_in(binding: Binding, form: Skeleton, heap: Mapping[HeapKey, Any], whole: bool = False) -> list[Location | None]:
    """The location behind each leaf of a form in a binding, None where there is none; ``whole``: where it is no view of another array."""
    return [None if ref is None or whole and ref.path else ref.location for ref in arrays_in(binding, form, heap)]


def arrays_in(binding: Binding, form: Skeleton, heap: Mapping[HeapKey, Any]) -> list[Ref | None]:
    """The array or view at each leaf of a form in a binding, None where there is none."""
    if form.form in ("tuple", "object", "maybe"):
        own = [None] if form.form == "maybe" else []
        parts = zip(item_of(binding, form, heap), form.items, strict=True)
        return own + [x for item, part in parts for x in arrays_in(item, part, heap)]
    if form.form not in ("num", "array", "oneof"):
        return [None] * len(form.items)
    binding = inner_of(binding)
    return [binding if isinstance(binding, Ref) else None]


def sure_arrays(binding: Binding, form: Skeleton) -> list[Ref | None]:
    """The array or view at each leaf of a form, None where there is none or it may be absent."""
    if form.form == "tuple" and isinstance(binding, Tup):
        return [held for item, part in zip(binding.items, form.items, strict=True) for held in sure_arrays(item, part)]
    return [binding if isinstance(binding, Ref) and form is leaf else None for leaf in leaves(form)]


def with_arrays(binding: Binding, refs: Mapping[Location, Ref]) -> Binding:
    """The same binding with some arrays replaced."""
    if isinstance(binding, Tup):
        return Tup(tuple(with_arrays(item, refs) for item in binding.items), binding.kind)
    return refs.get(binding.location, binding) if isinstance(binding, Ref) else binding


def objects_of(binding: Binding, form: Skeleton, heap: Mapping[HeapKey, Any]) -> list[HeapKey | None]:
    """The object behind each "object" of a form in a binding, None where there is none."""
    held = inner_of(binding)
    own = [held.key if isinstance(held, Obj) else None] if form.form == "object" else []
    if form.form in ("tuple", "object", "maybe") and not (form.form == "object" and form.same[2] is None):
        own += [k for item, part in zip(item_of(binding, form, heap), form.items, strict=True) for k in objects_of(item, part, heap)]
    return own
