"""Special methods of user classes: which of them a value has, and their results where Python calls them.

Python looks a special method up in the class, as ``own_method`` does. Every construct that Python
resolves by a special method calls it first.
"""

from __future__ import annotations

import ast
import enum
import types
from typing import Any

from symgrad.containers import container_of
from symgrad.errors import UnknownType
from symgrad.frontend.objects.derived import as_base, defined_by_base, is_derived
from symgrad.frontend.objects.opaque import followed, is_own
from symgrad.frontend.objects.reading import from_class, methods_of, root_of
from symgrad.frontend.state.bindings import Binding, External, Maybe, Num, Obj, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.types import Object, Scalar, Unknown
from symgrad.tables import STEMS

#: operators that a user class may define
OWN_OPERATORS = {kind: stem for kind, stem in STEMS.items() if issubclass(kind, ast.operator)}


class Namespace:
    """Represents ``types.SimpleNamespace`` at compile time: an instance with the attributes that are set."""


Namespace.__name__ = Namespace.__qualname__ = "SimpleNamespace"
Namespace.__module__, Namespace.__doc__ = "types", types.SimpleNamespace.__doc__


#: the methods that classes define for comparisons, with their mirror images
COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {
    kind: (f"__{STEMS[kind]}__", f"__{STEMS[mirrored]}__")
    for kind, mirrored in {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq}.items()
}


#: all special methods for operators and comparisons
OWN_WORDS = [f"__{side}{stem}__" for stem in OWN_OPERATORS.values() for side in ("", "r")] + [
    w for pair in COMPARISONS.values() for w in pair
]


#: either of them makes a value iterable
ITERABLE = ("__iter__", "__getitem__")


def defines_any(ctx: Lowering, value: Any, *words: str) -> bool:
    """Whether the class of a constant defines one of some special methods."""
    return any(from_class(ctx, type(value), word) is not None for word in words)


def class_of(binding: Binding) -> type | None:
    """The class of a user instance, from inside or outside the function."""
    match binding:
        case Obj(key) if key.kind == "record":
            return key.cls  # type: ignore[no-any-return]
        case External(value):
            return type(value)
        case Tup(kind=kind):
            return kind  # type: ignore[no-any-return]
        case Static(value) if isinstance(value, enum.Enum) and any(map(is_own, methods_of(type(value), OWN_WORDS))):
            return type(value)
    return None


def own_method(ctx: Lowering, owner: Binding, word: str) -> Any:
    """A special method that the class of an instance, from inside or outside, defines in Python."""
    match owner:
        case Obj(key) if key.kind == "record":
            if container_of(key.cls) is not None and defined_by_base(key.cls, word):
                return None
            function = from_class(ctx, key.cls, word)
        case External(value) if not isinstance(value, dict | list | tuple):
            function = from_class(ctx, type(value), word)
        case Tup(kind=kind) if kind is not None:
            function = from_class(ctx, kind, word)
        case Static(value) if isinstance(value, enum.Enum):
            function = from_class(ctx, type(value), word)
            return function if followed(ctx, function) else None
        case _:
            return None
    return function if isinstance(function, types.FunctionType) else None


def asked_of(ctx: Lowering, binding: Binding, word: str, args: list[Binding], node: ast.AST) -> Binding | None:
    """The result of a special method of the value's class; None if the class defines none in Python."""
    binding = binding.inner if isinstance(binding, Maybe) and own_method(ctx, binding.inner, word) is not None else binding
    return ctx.apply_method(binding, word, args, node) if own_method(ctx, binding, word) is not None else None


def manages_in_library(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding is a library's context manager, such as a lock or a file. Those of symgrad do not count."""
    match binding:
        case External(value):
            return from_class(ctx, type(value), "__exit__") is not None and root_of(type(value)) != "symgrad"
        case Num(operand):
            return isinstance(operand.type, Unknown | Object)
    return False


def as_index(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """An index or a count: the integer that ``__index__`` returns, else the value itself."""
    return asked_of(ctx, binding, "__index__", [], node) or as_base(ctx, binding, "__index__")


def as_float(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """The argument of a function of numbers: the number that ``__float__`` or ``__index__`` returns, else the value itself."""
    if is_derived(binding) and issubclass(binding.key.cls, float):
        return as_base(ctx, binding)  # C reads the number without a call
    for word in ("__float__", "__index__"):
        number = asked_of(ctx, binding, word, [], node)
        if number is not None:
            return checked(ctx, number, ("float",) if word == "__float__" else ("int", "bool"), word, node)
    return as_base(ctx, binding, "__float__", "__index__")


def checked(ctx: Lowering, number: Binding, kinds: tuple[str, ...], word: str, node: ast.AST) -> Binding:
    """Check that a special method returned a number of the class that Python requires."""
    type_ = ctx.type_of(number) if isinstance(number, Num) else None
    if not isinstance(type_, Scalar) or type_.kind not in kinds:
        raise UnknownType(f"the result of {word} is not known to be of the class that Python requires", ctx.loc(node), "convert it there")
    return number


__all__ = ["COMPARISONS", "ITERABLE", "OWN_OPERATORS", "OWN_WORDS", "Namespace", "as_float", "as_index", "asked_of", "checked", "class_of"]
__all__ += ["defines_any", "manages_in_library", "own_method"]
