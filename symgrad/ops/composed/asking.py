"""Attributes of instances whose class computes them, by a property or ``__getattr__``, which may raise that there is none."""

from __future__ import annotations

from typing import Any


def has_attribute(owner: Any, name: str) -> bool:
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    return True


def attribute_or(owner: Any, name: str, default: Any) -> Any:
    try:
        return getattr(owner, name)
    except AttributeError:
        return default


def property_or(get: Any, otherwise: Any, name: str) -> Any:
    """A property of a class with ``__getattr__``."""
    try:
        return get()
    except AttributeError:
        return otherwise(name)
