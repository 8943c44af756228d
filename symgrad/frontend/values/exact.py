"""Exact classes: which Python classes a value may have, and the tests that they answer.

One IR type represents several classes of numbers: a value that is 1 on one path and 1.5 on another
is a ``float`` of the IR. Joins record such values (``mixed``). A test is answered only where the
answer is the same for all classes that a value may have.
"""

from __future__ import annotations

import ast
import collections
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.containers.growing_dicts import class_of_growing
from symgrad.frontend.containers.stepping import class_of_iterator, is_iterator
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.reading import attribute_text, from_class, users_bases
from symgrad.frontend.state.bindings import (
    Binding,
    Bound,
    Choice,
    External,
    Fun,
    HeapKey,
    Iter,
    Maybe,
    Num,
    Obj,
    Partial,
    Ref,
    Static,
    Tup,
    View,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import held_items
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import DTYPES, Array, List, Object, Scalar, Type, Unknown, is_complex
from symgrad.ops.rows.exceptions import class_of

NUMBERS: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}
#: the classes of bindings that determine their own class
VIEWS: dict[tuple[bool, bool], type] = {
    (True, False): type({}.items()),
    (False, True): type({}.keys()),
    (False, False): type({}.values()),
}
OF_RANGE = {"range": range, "slice": slice, "enumerate": enumerate, "zip": zip, "zip_strict": zip}


def classes_of(ctx: Lowering, binding: Binding, node: ast.AST) -> tuple[type, ...]:
    """The classes that a value may have, on all paths."""
    ctx.mixed.asked += 1
    if (held := class_of_iterator(binding, lambda inner: exact_class(ctx, inner, node))) is not None:
        return (held,)
    if (held := class_of_growing(binding) or python_class(binding)) is not None:
        return (held,)
    match binding:
        case Maybe(inner=inner, absent=Static(None)):
            return tuple(dict.fromkeys([*classes_of(ctx, inner, node), type(None)]))
        case Choice(then=then, orelse=orelse):
            return tuple(dict.fromkeys([*classes_of(ctx, then, node), *classes_of(ctx, orelse, node)]))
        case View(pairs=pairs, keys=keys):
            return (VIEWS[pairs, keys],)
        case Tup(kind=kind):
            return (tuple, *ctx.tuple_classes) if kind is None else (kind,)
        case Obj(key):
            return (key.exact or (key.cls if isinstance(key.cls, type) else {"list": list, "dict": dict}[key.kind]),)
        case External(value, text):
            ctx.rely(text, type(value), "type")
            return (type(value),)
        case Static(value):
            return (type(value),)
        case Fun():
            return (types.FunctionType,)
        case Iter(kind=kind) if kind in OF_RANGE:
            return (OF_RANGE[kind],)
        case Num(operand) if (raised := class_of(operand.type)) is not None:
            return (raised,)
        case Num(operand) if operand not in ctx.mixed.unsure:
            if classes := classes_of_number(operand, operand in ctx.mixed.values):
                return classes
        case Ref():
            match ctx.type_of(binding):
                case Array(shape=shape) if shape is not None:  # otherwise it may be a number on some paths
                    return (np.ndarray,)
                case List(of=of):
                    return {"list": (list,), "tuple": (tuple,)}.get(of, (list, tuple))
                case Scalar() as type_:
                    return classes_of_scalar(type_, False)
    raise UnknownType(
        "the class of this is not known at compile time", ctx.loc(node), "test it before the paths join, or pass it as an argument"
    )


def possible_classes(ctx: Lowering, binding: Binding, node: ast.AST) -> tuple[type, ...]:
    """The same without requesting more precision from loops; empty where they are unknown."""
    asked = ctx.mixed.asked
    try:
        return classes_of(ctx, binding, node)
    except UnknownType:
        return ()
    finally:
        ctx.mixed.asked = asked


def classes_of_number(operand: Operand, mixed: bool) -> tuple[type, ...]:
    """The classes of a number; empty where its type does not determine them."""
    if isinstance(operand, Const) and operand.name is None:
        return (type(operand.value),)
    return classes_of_scalar(operand.type, mixed) if isinstance(operand.type, Scalar) else ()


def classes_of_scalar(type_: Scalar, mixed: bool) -> tuple[type, ...]:
    """The classes of numbers of a type; ``mixed`` ones may also be of a narrower kind."""
    python = NUMBERS[type_.kind]
    if type_.dtype not in (None, "any"):
        return (np.dtype(DTYPES[type_.dtype]).type,)
    kinds = list(NUMBERS.values())
    narrower = kinds[: kinds.index(python)] if mixed else []
    if type_.dtype is None:
        return (python, *narrower)
    numpy = {bool: np.bool_, int: np.int64, float: np.float64, complex: np.complex128}
    return (python, numpy[python], *narrower, *(numpy[kind] for kind in narrower))


def check_kind(ctx: Lowering, type_: Type, node: ast.AST) -> None:
    """Refuse a test of the dtype or class of complex numbers that may be real in NumPy: eigenvalues of a real matrix."""
    if ctx.has_real_eig and ctx.frame.place is None and is_complex(type_):
        what = "whether NumPy returns real or complex eigenvalues is known only at run time"
        raise UnknownType(what, ctx.loc(node), "make the matrix complex before, with a + 0j")


def name_in_texts(cls: type) -> str:
    """The name of a class in texts of exceptions: that of a class of C's names its module, as ``numpy.ndarray``."""
    of_python = bool(cls.__flags__ & 1 << 9)  # Py_TPFLAGS_HEAPTYPE
    return cls.__name__ if of_python or cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def exact_class(ctx: Lowering, binding: Binding, node: ast.AST) -> type:
    """The class that a value has on every path."""
    first, *others = classes_of(ctx, binding, node)
    if others:
        names = " or ".join(sorted(map(class_text, (first, *others)), key=lambda text: ("." not in text, text)))
        if isinstance(binding, Tup):
            raise UnknownType(f"the class of this tuple is not supported: {names}", ctx.loc(node), as_named(ctx))
        raise UnknownType(
            f"the class of this depends on the path taken: {names}", ctx.loc(node), "convert it to one class, for example with float"
        )
    return first


def class_text(cls: type) -> str:
    """The name of a class in a message; NumPy's classes are called as some of Python's are."""
    return f"numpy.{cls.__name__}" if issubclass(cls, np.generic) else cls.__name__


def as_named(ctx: Lowering) -> str:
    """The hint where an argument is a tuple of a user class."""
    name = next(iter(ctx.tuple_classes)).__name__
    return f"derive {name} from typing.NamedTuple, or pass a plain tuple"


def is_instance(ctx: Lowering, binding: Binding, kinds: Iterable[Any], node: ast.AST) -> bool:
    """``isinstance(binding, kinds)``."""
    kinds = list(kinds)
    check_metaclasses(ctx, kinds, "__instancecheck__", "an instance", node)
    classes = classes_of(ctx, binding, node)
    answers = {is_below(ctx, held, kinds) for held in classes}
    if len(answers) > 1 and isinstance(binding, Tup):
        raise UnknownType("the class of this tuple is not supported", ctx.loc(node), as_named(ctx))
    if len(answers) > 1:
        raise UnknownType("the class of this depends on the path taken", ctx.loc(node), "convert it to one class, for example with float")
    return True in answers


def is_subclass(ctx: Lowering, held: type, kinds: Iterable[Any], node: ast.AST) -> bool:
    """``issubclass(held, kinds)``."""
    kinds = list(kinds)
    check_metaclasses(ctx, kinds, "__subclasscheck__", "a subclass", node)
    return is_below(ctx, held, kinds)


def check_metaclasses(ctx: Lowering, kinds: list[Any], method: str, what: str, node: ast.AST) -> None:
    """Refuse classes whose user-defined metaclass answers the question."""
    for kind in kinds:
        own = from_class(ctx, type(kind), method)
        if isinstance(own, types.FunctionType) and type(kind).__module__ not in ("abc", "typing"):
            text = f"{type(kind).__name__}, the metaclass of {kind.__name__}, says itself what is {what}"
            raise UnsupportedSyntax(text, ctx.loc(node))


def is_below(ctx: Lowering, held: type, kinds: list[Any]) -> bool:
    """Whether a class derives from one of others; the bases of a user's class are recorded, because they may change."""
    if held not in kinds and users_bases(held):
        ctx.rely(attribute_text(ctx, held, "__mro__"), held.__mro__)
    return any(issubclass(held, kind) for kind in kinds)


def is_callable(ctx: Lowering, binding: Binding, node: ast.AST) -> bool:
    """``callable(binding)``."""
    match binding:
        case Fun() | Bound() | Partial():
            return True
        case Static(value):
            return callable(value)
        case External(value, text):
            ctx.rely(text, type(value), "type")
            return callable(value)
    return all(from_class(ctx, kind, "__call__") is not None for kind in classes_of(ctx, binding, node))


def is_anything(ctx: Lowering, binding: Binding) -> bool:
    """Whether nothing is known about the value, or it is no number, so that it may lack the attributes of arrays."""
    return isinstance(binding, Num | Static) and isinstance(ctx.type_of(binding), Unknown | Object)


def is_single(binding: Binding) -> bool:
    """Whether NumPy treats the value as one object: an iterator, a function, None, a dict or a view of one, a set, a slice."""
    match binding:
        case (
            Iter(kind="slice") | Fun() | View() | Static(None) | Static(types.FunctionType() | slice() | str()) | Obj(HeapKey(kind="dict"))
        ):
            return True
    return is_iterator(binding)


#: families of classes: values of two different families are never equal
FAMILIES: tuple[tuple[type, ...], ...] = (
    (bool, int, float, complex, np.generic, np.ndarray),
    (str,),
    (list,),
    (tuple,),
    (dict,),
    (set, frozenset),
    (type(None),),
)


def never_equal(ctx: Lowering, a: Binding, b: Binding, node: ast.AST) -> bool:
    """Whether two values are of classes whose instances are never equal in Python."""
    try:
        one, two = (classes_of(ctx, x, node) for x in (a, b))
    except UnknownType:
        return False
    if any(issubclass(kind, np.generic | np.ndarray) for kind in (*one, *two)):
        return False  # NumPy compares element by element
    return bool(families_of(one) and families_of(two) and not families_of(one) & families_of(two))


def families_of(classes: tuple[type, ...]) -> set[int]:
    """The families of some classes; empty if one of the classes is in no family."""
    families = [next((k for k, family in enumerate(FAMILIES) if issubclass(kind, family)), other_family(kind)) for kind in classes]
    return set() if None in families else {k for k in families if k is not None}


def other_family(kind: type) -> int | None:
    """The family of a class that equals its own kind alone."""
    return -1 if kind is collections.deque else None


# ------------------------------------------------------------------ questions that dtypes and classes answer


#: functions of NumPy that depend on dtypes alone; older versions lack some of them
WORDS = ("result_type", "promote_types", "common_type", "can_cast", "isdtype", "issubdtype", "iterable")
OF_DTYPES = [*(getattr(np, name) for name in WORDS if hasattr(np, name)), np.ma.isMaskedArray]
#: the packages whose ``array_namespace`` it is
HOMES = ("scipy", "array_api_compat")
#: numbers of Python, by kind
ONE_OF_KIND: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}
UNKNOWN = object()


def dtype_question(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding | None:
    """The result of such a function for the operands; None for other functions, and where an operand's dtype or class is unknown."""
    if not any(function is one for one in OF_DTYPES) and not gives_namespace(function):
        return None
    operands = [like(ctx, binding) for binding in args]
    keywords = {name: like(ctx, binding) for name, binding in kwargs.items()}
    if any(operand is UNKNOWN for operand in (*operands, *keywords.values())):
        return None
    for binding in (*args, *kwargs.values()):
        check_kind(ctx, ctx.type_of(binding), node)
    try:
        answer = function(*operands, **keywords)
    except Exception:  # the function is called at run time, and raises there
        return None
    return Num(Const(answer)) if isinstance(answer, bool) else Static(answer)


def gives_namespace(function: Any) -> bool:
    """Whether the function is ``array_namespace``."""
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    return home in HOMES and getattr(function, "__name__", "") == "array_namespace"


def like(ctx: Lowering, binding: Binding) -> Any:
    """An object of the class, dtype and rank of a binding's value; ``UNKNOWN`` where one of these is unknown."""
    known = known_value(binding)
    if known:
        return known[0]
    items = held_items(binding, ctx.state)
    if items is not None:
        inner = [like(ctx, item) for item in items]
        return UNKNOWN if any(item is UNKNOWN for item in inner) else tuple(inner)
    match ctx.type_of(binding):
        case Array(dtype=str(name), shape=tuple(shape)):
            return np.empty((0,) * len(shape), DTYPES[name])
        case Scalar(kind=kind, dtype=None):
            return ONE_OF_KIND[kind]
        case Scalar(dtype=str(name)) if name in DTYPES:
            return np.zeros((), DTYPES[name])[()]
    return UNKNOWN


__all__ = ["as_named", "classes_of", "dtype_question", "exact_class", "is_anything", "is_callable", "is_instance", "is_single"]
__all__ += ["name_in_texts", "never_equal", "possible_classes"]
