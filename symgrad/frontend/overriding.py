"""User classes that override how Python itself treats instances: overrides that lowering does not support are refused."""

from __future__ import annotations

import types
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.context import Lowering
from symgrad.frontend.reading import entry_of_class

#: special methods that no construct calls, or that change no number
HARMLESS = {"__new__", "__repr__", "__str__", "__format__", "__hash__", "__doc__", "__reduce__", "__getnewargs__", "__class_getitem__",
            "__init_subclass__", "__copy__", "__deepcopy__", "__annotate__", "__annotate_func__", "__del__", "__replace__"}  # fmt: skip
#: stems of the operators that are first looked up in the class of a named tuple
OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul", "mod", "floordiv")
ASKED = {f"__{r}{stem}__" for stem in OPERATORS for r in ("", "r", "i")} | {
    "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__neg__", "__pos__", "__invert__", "__abs__", "__bool__", "__contains__",
}  # fmt: skip


def own_names(cls: type, base: type) -> dict[str, Any]:
    """The definitions in the classes between a class and one of its bases."""
    order = cls.__mro__
    return {name: held for c in reversed(order[: order.index(base)]) for name, held in vars(c).items()}


def check_named_tuple(ctx: Lowering, cls: type) -> None:
    """Refuse a named tuple that overrides its fields' behaviour: construction, unpacking, comparison or addition."""
    base = next(c for c in cls.__mro__ if "_fields" in vars(c))
    own = own_names(cls, base)
    fields = (*cls._fields, "_make", "_replace", "_asdict", "__new__")  # type: ignore[attr-defined]
    peculiar = [n for n, held in own.items() if n in fields or is_special(n) and n not in HARMLESS | ASKED and callable(held)]
    if peculiar:
        what = f"{cls.__name__} is a named tuple that overrides {peculiar[0]}"
        raise UnsupportedSyntax(what, ctx.builder.loc, "use a class that is not a tuple")


def check_container(ctx: Lowering, cls: type) -> None:
    """Refuse a user class derived from list, tuple or dict that overrides a method of theirs."""
    base = next((c for c in cls.__mro__ if c in (list, tuple, dict)), cls)
    own = own_names(cls, base)
    peculiar = [n for n, held in own.items() if n not in HARMLESS and callable(held) and (hasattr(base, n) or is_special(n))]
    if peculiar:
        what = f"{cls.__name__} is a {base.__name__} that overrides {peculiar[0]}"
        raise UnsupportedSyntax(what, ctx.builder.loc, f"use a plain {base.__name__}")


def check_making(ctx: Lowering, cls: type) -> None:
    """Refuse to create an instance of a class whose construction is more than calls of ``__new__`` and ``__init__``."""
    if isinstance(entry_of_class(ctx, type(cls), "__call__"), types.FunctionType):
        raise UnsupportedSyntax(f"{type(cls).__name__}, the metaclass of {cls.__name__}, defines __call__", ctx.builder.loc)


def check_reading(ctx: Lowering, cls: type) -> None:
    """Refuse to read attributes of instances whose class overrides attribute access."""
    if isinstance(entry_of_class(ctx, cls, "__getattribute__"), types.FunctionType):
        raise UnsupportedSyntax(f"{cls.__name__} defines __getattribute__", ctx.builder.loc, "use properties")


def is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


__all__ = ["check_container", "check_making", "check_named_tuple", "check_reading"]
