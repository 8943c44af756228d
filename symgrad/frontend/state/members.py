"""Members of enumerations, which are constants: their numbers, and the expression by which emitted text reaches them."""

from __future__ import annotations

import enum
from typing import Any

from symgrad.frontend.state.bindings import Binding, Num, Static
from symgrad.ir.core import Const


def plain(value: Any) -> Any:
    """The number or text that a member of an ``IntEnum`` or the like equals; any other value unchanged.

    >>> plain(enum.IntEnum("Order", "FIRST SECOND").SECOND)
    2
    """
    if not isinstance(value, enum.Enum):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    return float(value) if isinstance(value, float) else value


def as_number(binding: Binding) -> Binding:
    """A numeric member as a number."""
    if isinstance(binding, Static) and isinstance(binding.value, enum.Enum) and isinstance(binding.value, int | float):
        return Num(Const(plain(binding.value)))
    return binding


def is_enumeration(value: Any) -> bool:
    """Whether the value is a class of enumeration members."""
    return isinstance(value, enum.EnumMeta)


__all__ = ["as_number", "is_enumeration", "plain"]
