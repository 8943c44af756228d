"""Attributes of a parameter that a layer creates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class ParamAttr:
    """Name, first values, and whether it is trained; ``need_clip``: is its gradient clipped with the others?"""

    name: str | None = None
    initializer: Any = None
    learning_rate: float = 1.0
    regularizer: Any = None
    trainable: bool = True
    do_model_average: bool = True
    need_clip: bool = True


def attributes(attribute: Any) -> ParamAttr | None:
    """Return the parameter attributes of a layer's ``..._attr`` argument; None: no such parameter."""
    if attribute is False:
        return None
    if attribute is None or attribute is True:
        return ParamAttr()
    if isinstance(attribute, ParamAttr):
        return attribute
    if isinstance(attribute, str):
        return ParamAttr(name=attribute)
    if hasattr(attribute, "values"):
        return ParamAttr(initializer=attribute)
    raise TypeError(f"an attribute must be a ParamAttr, a name, an initializer or False, not {type(attribute).__name__}")
