"""Dynamic texts and sets: each operation on them is a call of Python's own function at run time.

No derivative passes through them. A number read from a text or a set is refused if it depends on an
active argument.
"""

from __future__ import annotations

import ast
import builtins
import operator
import types
from collections.abc import Iterable
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.objects.dicts import SET_OPERATORS, elements_of, is_set
from symgrad.frontend.objects.operands import static_binding
from symgrad.frontend.objects.outside import rely_on_keys
from symgrad.frontend.objects.python_results import with_tuples_in
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    External,
    Generator,
    Iter,
    Missing,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Tup,
    View,
    known_key,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import pinnable
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import BOOL, FLOAT, INT, TEXT, Array, List, Object, Scalar, Struct, Type
from symgrad.tables import COMPARISONS, OPERATORS

#: the dtypes of NumPy's numbers that can be read from a set
NUMBERS_OF_ARRAYS: dict[str, Type] = {
    **{dtype: Scalar("int", dtype) for dtype in "i8 i16 i32 i64 u8 u16 u32".split()},
    "f64": Scalar("float", "f64"),
}
#: the types of elements that can be read from a set
ITEMS: dict[str, Type] = {"int": INT, "bool": BOOL, "float": FLOAT, "str": TEXT, **NUMBERS_OF_ARRAYS}
#: functions that iterate over their arguments
OVER_ITEMS = (list, tuple, sorted, min, max, sum, any, all, enumerate, zip, map, filter, iter)
#: the name of a variable that holds a dynamic text or set, or a value of such a type
HINTS = {"str": "text", "set": "elements", "frozenset": "elements", "bool": "flag", "int": "count"}
#: the result types of methods of texts
METHODS_OF_TEXTS: dict[str, Type] = {
    **dict.fromkeys(
        """
        upper lower strip lstrip rstrip replace title capitalize zfill ljust rjust center swapcase casefold removeprefix removesuffix join
        format expandtabs
        """.split(),
        TEXT,
    ),
    **dict.fromkeys("isdigit isalpha isupper islower isspace isalnum isnumeric isdecimal istitle startswith endswith".split(), BOOL),
    **dict.fromkeys(("count", "find", "rfind", "index", "rindex"), INT),
    **dict.fromkeys(("split", "rsplit", "splitlines"), List(TEXT)),
}
#: methods of sets by the operators that do the same, and predicates
COMBINING = {name: OPERATORS[kind] for kind, name in SET_OPERATORS.items()}
#: the classes of elements of a set from outside that are read at compile time
PLAIN = {str, int, bool, type(None)}
ASKING = ("issubset", "issuperset", "isdisjoint")
#: the methods of sets that change nothing
OF_SETS = (*COMBINING, *ASKING, "copy")


# ------------------------------------------------------------------ classification


def is_text(binding: Binding) -> bool:
    """Whether the binding is a text, static or dynamic."""
    return python_class(binding) is str or isinstance(binding, Static) and isinstance(binding.value, str)


def is_some_set(binding: Binding) -> bool:
    """Whether the binding is a set or frozenset, static or dynamic."""
    known = isinstance(binding, Static) and isinstance(binding.value, set | frozenset)
    return known or python_class(binding) in (set, frozenset) or is_set(binding)


def element_kind(binding: Binding) -> str:
    """The kind of a set's elements: ``int``, ``bool``, ``float``, ``str``, ``tuple``, a dtype, or ``number`` for others.

    Empty if they are of several kinds.
    """
    assert isinstance(binding, Num)
    assert isinstance(binding.operand.type, Object)
    return binding.operand.type.name.partition("[")[2].rstrip("]")


def as_text(ctx: Lowering, binding: Binding) -> Binding:
    """One of several texts as a dynamic text."""
    if isinstance(binding, OneOf) and all(isinstance(value.value, str) for value in binding.values):
        texts = Tup(binding.values)
        return answer(ctx, operator.getitem, [with_tuples_in(ctx, texts, ast.Constant(None)), binding.place], TEXT)
    return binding


# ------------------------------------------------------------------ calls of Python's functions


def answer(ctx: Lowering, function: Any, operands: Iterable[Operand], type_: Type, names: tuple[str, ...] = ()) -> Binding:
    """The result of a Python function with a known result type; ``names`` are those of the trailing keyword operands."""
    word = getattr(function, "__name__", "")
    is_written = getattr(builtins, word, None) is function or isinstance(function, types.MethodDescriptorType)
    name = word if is_written else owner_name(ctx, function)
    hint = HINTS.get(str(type_).removeprefix("object[").partition("[")[0].rstrip("]"))
    value = ctx.call("opaque_pure", Const(function, name), *operands, hint=hint, names=names, type=type_)
    return ctx.list_sharing(value) if isinstance(type_, List) else Num(value)


def operand_of(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    """A value as Python represents it; a set of static elements is built where it is read."""
    kind, elements = known_elements(ctx, binding)
    if kind is not None:
        inside = Tup(tuple(map(static_binding, elements)))
        return ctx.call("opaque_pure", Const(kind, kind.__name__), *([with_tuples_in(ctx, inside, node)] if inside.items else []))
    return with_tuples_in(ctx, as_text(ctx, binding), node)


def known_elements(ctx: Lowering, binding: Binding) -> tuple[type | None, list[Any]]:
    """The class and the elements of a static set; a class of None for everything else."""
    match binding:
        case Obj(key) if is_set(binding):
            return key.exact or set, elements_of(ctx, binding)
        case Static(set() | frozenset() as value):
            return type(value), list(value)
    return None, []


def set_from_outside(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """A set from outside whose elements are plain, as a new set of its class; the elements are a dependence. All else is unchanged."""
    if not isinstance(binding, External) or type(binding.value) not in (set, frozenset) or {*map(type, binding.value)} - PLAIN:
        return binding
    rely_on_keys(ctx, binding.value, binding.text)
    elements = sorted(binding.value, key=lambda element: (type(element).__name__, repr(element)))
    return ctx.apply(Static(type(binding.value)), [Tup(tuple(map(static_binding, elements)))], {}, node)


def python_operator(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """``a op b`` where one operand is a dynamic text or set; None where neither is, or Python has no such operator for them."""
    if python_class(a) is None and python_class(b) is None:
        return None
    if kind is ast.Add and is_text(a) and is_text(b):
        return answer(ctx, operator.add, [operand_of(ctx, a, node), operand_of(ctx, b, node)], TEXT)
    if kind is ast.Mult and (is_text(a) and is_integer_binding(ctx, b) or is_text(b) and is_integer_binding(ctx, a)):
        return answer(ctx, operator.mul, [operand_of(ctx, a, node), operand_of(ctx, b, node)], TEXT)
    if kind in (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor) and is_some_set(a) and is_some_set(b):
        return of_sets(ctx, OPERATORS[kind], a, b, node)
    return None


def of_sets(ctx: Lowering, function: Any, a: Binding, b: Binding, node: ast.AST) -> Binding:
    """A set computed from two, of the class of the first."""
    return answer(ctx, function, [operand_of(ctx, a, node), operand_of(ctx, b, node)], type_of_sets(ctx, function, [a, b]))


def type_of_sets(ctx: Lowering, function: Any, sets: list[Binding]) -> Object:
    """The type of a set computed from several, of the class of the first."""
    several = sets[:1] if function is operator.sub else sets
    kinds = dict.fromkeys(kind_of_elements(ctx, one) or "" for one in several if not is_empty(ctx, one))
    first = sets[0]
    name = "frozenset" if python_class(first) is frozenset or isinstance(first, Obj) and first.key.exact is frozenset else "set"
    return Object(f"{name}[{next(iter(kinds)) if len(kinds) == 1 else ''}]")


def is_empty(ctx: Lowering, binding: Binding) -> bool:
    """Whether the set is known to be empty."""
    kind, elements = known_elements(ctx, binding)
    return kind is not None and not elements


def python_comparison(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """Compare a dynamic text or set with a value of its class; a value of another class is never equal to it."""
    function = COMPARISONS.get(type(op))
    classes = python_class(a), python_class(b)
    if function is None or classes == (None, None):
        return None
    if is_text(a) and is_text(b) or is_some_set(a) and is_some_set(b):
        return answer(ctx, function, [operand_of(ctx, a, node), operand_of(ctx, b, node)], BOOL)
    other = b if classes[0] is not None else a
    if isinstance(op, ast.Eq | ast.NotEq) and (isinstance(other, Num | Tup | Static) or is_some_set(other)):
        if not isinstance(other, Num) or isinstance(other.operand.type, Scalar) or python_class(other) is not None:
            return Num(Const(isinstance(op, ast.NotEq)))
    return None


def python_membership(ctx: Lowering, a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """``a in b`` where ``b`` is a dynamic text or set, or ``a`` a dynamic and ``b`` a static text; None for all else."""
    if is_text(b) and is_text(as_text(ctx, a)) and (python_class(b) or not isinstance(a, Static)):
        return answer(ctx, operator.contains, [operand_of(ctx, b, node), operand_of(ctx, a, node)], BOOL)
    if python_class(b) in (set, frozenset) and kind_of(ctx, a) is not None:
        return answer(ctx, operator.contains, [operand_of(ctx, b, node), operand_of(ctx, a, node)], BOOL)
    return None


def python_item(ctx: Lowering, owner: Binding, index: Any, node: ast.AST) -> Binding:
    """An item or a part of a text."""
    place: Operand = index.operands[0] if index.operands else Const(None)
    if index.spec == "s":
        place = ctx.call("opaque_pure", Const(slice, "slice"), *index.operands)
    elif index.spec != "i":
        return definite(ctx, MISSING, node, TypeError, "string indices must be integers")
    return answer(ctx, operator.getitem, [operand_of(ctx, owner, node), place], TEXT)


def python_method(
    ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding | None:
    """A method of a dynamic text or set, or a method of a static text with a dynamic argument; None for all else."""
    args = listed_for(ctx, owner, name, args, node)
    if is_text(owner) and name in METHODS_OF_TEXTS and all(is_plain(ctx, a) for a in (*args, *kwargs.values())):
        operands = [operand_of(ctx, a, node) for a in (*args, *kwargs.values())]
        return answer(ctx, getattr(str, name), [operand_of(ctx, owner, node), *operands], METHODS_OF_TEXTS[name], tuple(kwargs))
    if not is_some_set(owner) or not any(python_class(x) for x in (owner, *args)):
        return None
    if name == "copy" and not args:
        return owner if python_class(owner) is frozenset else answer(ctx, set, [ctx.read(owner)], ctx.read(owner).type)
    if name not in (*COMBINING, *ASKING) or kwargs or not args:
        return changed(ctx, owner, name, node)
    others = [as_set(ctx, a, node) for a in args]
    if any(other is None for other in others):
        return None
    first, *more = [other for other in others if other is not None]
    if name in COMBINING:
        kind = type_of_sets(ctx, COMBINING[name], [owner, first, *more])
        return answer(ctx, method_of_set(kind.name, name), [operand_of(ctx, one, node) for one in (owner, *args)], kind)
    function = method_of_set("frozenset" if python_class(owner) is frozenset else "set", name)
    return answer(ctx, function, [operand_of(ctx, one, node) for one in (owner, first, *more)], BOOL)


def method_of_set(kind: str, name: str) -> Any:
    """A method of sets or frozensets."""
    return getattr(frozenset if kind.startswith("frozenset") else set, name)


def listed_for(ctx: Lowering, owner: Binding, name: str, args: list[Binding], node: ast.AST) -> list[Binding]:
    """The arguments of a method of texts: ``join`` lists an iterator before it reads the first item."""
    if name != "join" or not is_text(owner):
        return args
    return [ctx.apply(Static(list), [a], {}, node) if isinstance(a, Iter | Generator | View) else a for a in args]


def changed(ctx: Lowering, owner: Binding, name: str, node: ast.AST) -> Binding | None:
    """Refuse a method that changes a dynamic set."""
    if python_class(owner) is not set:
        return None
    note_changed(ctx)
    what = f"{name!r} may change a set whose elements are not known at compile time"
    raise UnsupportedSyntax(what, ctx.loc(node), "make a new set, as in s = s | {x}")


def refuse_change(ctx: Lowering, kind: type[ast.AST], owner: Binding, value: Binding, node: ast.AST) -> None:
    """Refuse an augmented assignment that changes a set, if the set or the other operand is dynamic."""
    is_changed = python_class(owner) is set or is_set(owner) and not is_frozen(owner) and python_class(value) in (set, frozenset)
    if is_changed and kind in (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor):
        note_changed(ctx, owner)
        what = "an augmented assignment changes a set whose elements are not known at compile time"
        raise UnsupportedSyntax(what, ctx.loc(node), "make a new set, as in s = s | {x}")


def note_changed(ctx: Lowering, owner: Binding | None = None) -> None:
    """Record the locations that may have created the changed set, so that it becomes a set of dynamic elements."""
    ctx.growing_sites.update(dict.fromkeys((*ctx.set_sites, *(owner.key.sites if isinstance(owner, Obj) else ())), True))


def is_frozen(binding: Binding) -> bool:
    """Whether the binding is a static frozenset."""
    return isinstance(binding, Obj) and binding.key.exact is frozenset


def python_length(ctx: Lowering, binding: Binding) -> Operand:
    """The number of items of a dynamic text or set."""
    return ctx.call("opaque_pure", Const(len, "len"), ctx.read(binding), type=INT)


def python_truth(ctx: Lowering, binding: Binding) -> Operand:
    """Whether a dynamic text or set has any items."""
    return ctx.call("opaque_pure", Const(bool, "bool"), ctx.read(binding), type=BOOL)


def items_listed(ctx: Lowering, function: Any, args: list[Binding], node: ast.AST) -> list[Binding]:
    """The arguments of a function that iterates over them: dynamic texts and sets become lists of their items."""
    compares_arguments = function in (min, max) and len(args) > 1
    if function not in OVER_ITEMS or compares_arguments or not any(python_class(a) for a in args):
        return args
    return [python_items(ctx, a, node) if python_class(a) is not None else a for a in args]


def python_items(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """The items of a dynamic text or set as a new list, in Python's order of iteration."""
    kind = "str" if python_class(binding) is str else element_kind(binding)
    if kind not in ITEMS:
        what = "the elements of a set that is not known at compile time are taken out of it"
        raise UnsupportedSyntax(what, ctx.loc(node), "iterate over the list that it was made from")
    items = ITEMS[kind]
    return answer(ctx, list, [ctx.read(binding)], List(items))


# ------------------------------------------------------------------ sets of dynamic elements


def set_of_computed(ctx: Lowering, kind: type, binding: Binding, node: ast.AST) -> Binding | None:
    """A set with dynamic elements; None where all are static, or would be if integers of the call were."""
    if python_class(binding) in (set, frozenset):
        return answer(ctx, kind, [ctx.read(binding)], Object(f"{kind.__name__}[{element_kind(binding)}]"))
    if pinnable(ctx, binding) is not None or all_known(ctx, binding) or (elements := kind_of_elements(ctx, binding)) is None:
        return None
    return answer(ctx, kind, [operand_of(ctx, binding, node)], Object(f"{kind.__name__}[{elements}]"))


def all_known(ctx: Lowering, binding: Binding) -> bool:
    """Whether each item of a tuple or list is static."""
    match binding:
        case Tup(items):
            return all(not isinstance(known_key(item), Missing) for item in items)
        case Obj(key) if key.kind == "list" and not isinstance(content := ctx.state.heap[key], Ref):
            return all(not isinstance(known_key(item), Missing) for _, item in content)
    return False


def as_set(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding | None:
    """An argument of a method of sets as a set."""
    if is_some_set(binding):
        return binding
    return set_of_computed(ctx, set, binding, node) or (ctx.apply(Static(set), [binding], {}, node) if all_known(ctx, binding) else None)


def kind_of_elements(ctx: Lowering, binding: Binding) -> str | None:
    """The kind of a container's elements; None where they are of several kinds, or may be unhashable."""
    if python_class(binding) is not None:
        return "str" if python_class(binding) is str else element_kind(binding)
    match binding:
        case Obj() | Static() if is_some_set(binding):
            return one_kind(kind_of(ctx, static_binding(element)) for element in known_elements(ctx, binding)[1])
        case Tup(items):
            return one_kind(kind_of(ctx, item) for item in items)
        case Obj(key) if key.kind == "list":
            content = ctx.state.heap[key]
            return of_type(ctx.type_of(content)) if isinstance(content, Ref) else one_kind(kind_of(ctx, item) for _, item in content)
        case Ref():
            return of_type(ctx.type_of(binding))
    return None


def one_kind(kinds: Iterable[str | None]) -> str | None:
    """The common kind of several; None where they differ."""
    several = dict.fromkeys(kinds)
    return next(iter(several)) if len(several) == 1 else None


def of_type(type_: Type) -> str | None:
    """The kind of the items of a list or an array type."""
    match type_:
        case List(item=Scalar(kind="int" | "bool" | "float" as kind, dtype=None)):
            return kind
        case List(item=Scalar(kind="int" | "bool" | "float", dtype=dtype)) | Array(kind="int" | "bool" | "float", dtype=dtype, shape=(_,)):
            return of_dtype(dtype)
        case List(item=Object(name="str")):
            return "str"
        case List(item=Struct(items=items)) if items and all(isinstance(part, Scalar) and part.kind in ("int", "bool") for part in items):
            return "tuple"
        case List(item=List(item=Scalar(kind="int" | "bool"), of="tuple")):
            return "tuple"
    return None


def of_dtype(dtype: str | None) -> str:
    """The kind of NumPy's numbers of a dtype."""
    return dtype if dtype in NUMBERS_OF_ARRAYS else "number"


def kind_of(ctx: Lowering, binding: Binding) -> str | None:
    """The kind of one element."""
    match binding:
        case Static(value):
            return "str" if isinstance(value, str) else None
        case Num(operand) if isinstance(operand.type, Scalar) and operand.type.kind != "complex":
            return operand.type.kind if operand.type.dtype is None else of_dtype(operand.type.dtype)
        case Tup(items, None):
            kinds = [kind_of(ctx, item) for item in items]
            return None if None in kinds or "float" in kinds else "tuple"
    return "str" if python_class(binding) is str else None


def is_plain(ctx: Lowering, binding: Binding) -> bool:
    """Whether the argument is valid for methods of texts: texts, integers, None, or several texts."""
    match binding:
        case Static(value):
            return value is None or isinstance(value, str)
        case Tup(items):
            return all(is_plain(ctx, item) for item in items)
        case OneOf(values=values):
            return all(isinstance(value.value, str) for value in values)
    return python_class(binding) is str or is_integer_binding(ctx, binding) or kind_of_elements(ctx, binding) == "str"


def is_integer_binding(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding is an integer."""
    return isinstance(binding, Num) and getattr(ctx.type_of(binding), "kind", None) in ("int", "bool")


__all__ = ["answer", "as_text", "is_text", "python_comparison", "python_item", "python_items", "python_length", "python_membership"]
__all__ += ["python_method", "python_operator", "python_truth", "set_of_computed"]
