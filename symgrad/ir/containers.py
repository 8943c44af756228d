"""Type predicates: which values have mutable memory, and which contain other values."""

from __future__ import annotations

from symgrad.ir.core import Value
from symgrad.ir.types import Array, Box, List, Scalar, Tape, Type, Unknown


def has_memory(value: Value) -> bool:
    return isinstance(value.type, Array | List | Tape | Unknown | Box)


def leaf(type_: Type) -> Type:
    """The type inside the innermost lists."""
    while isinstance(type_, List):
        type_ = type_.item
    return type_


def is_of_numbers(type_: Type) -> bool:
    """Whether a list, at any depth, holds only numbers, which share no memory with their source."""
    return isinstance(leaf(type_), Scalar)


def is_number_list(type_: Type) -> bool:
    """Whether the type is that of a list of numbers."""
    return isinstance(type_, List) and isinstance(type_.item, Scalar)


def is_of_lists(type_: Type) -> bool:
    """Whether the type is that of a list of lists."""
    return isinstance(type_, List) and isinstance(type_.item, List)


def is_container(value: Value) -> bool:
    return isinstance(value.type, List | Tape | Unknown | Box)


__all__ = ["has_memory", "is_container", "is_number_list", "is_of_lists", "is_of_numbers", "leaf"]
