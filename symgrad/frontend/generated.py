"""Which methods of a class ``dataclasses.dataclass`` has written."""

from __future__ import annotations

import types
from typing import Any


def generated(cls: Any, word: str) -> type | None:
    """The dataclass for which a method of a class was written; None for a method of the user's."""
    base = next((c for c in getattr(cls, "__mro__", ()) if word in vars(c)), None)
    if base is None or "__dataclass_params__" not in vars(base):
        return None
    held = getattr(vars(base)[word], "__wrapped__", vars(base)[word])
    return base if isinstance(held, types.FunctionType) and held.__code__.co_filename == "<string>" else None


__all__ = ["generated"]
