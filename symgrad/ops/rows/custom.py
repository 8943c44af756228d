"""table: calls of functions with a ``custom_vjp``; ``adjoint/reversals/custom.py`` replaces them by the user's backward function.

``custom`` returns its first operand; its derivative is the result of a lowered backward function for the residuals.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.core import Func
from symgrad.ir.types import UNKNOWN, Type
from symgrad.ops.declare import constant, missing, rule
from symgrad.ops.indexing import Extents
from symgrad.ops.shapes import same_law


def _gradient(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    func: Func | None = settings["func"]
    return UNKNOWN if func is None else func.body.yields[settings["position"]].type


# ``actives`` of the operands are differentiated; the others, each ``held``, are residuals
rule(
    "custom(value, *rest, func=None, actives=0)",
    same_law,
    emit="value",
    alias="same",
    value_grad=None,
    rest_grad="custom_backward(out_grad, *rest, func=func, actives=actives, position=position)",
)
constant("held(x)", same_law, emit="x", alias="same", cheap=True)
missing("custom_backward(g, *rest, func=None, actives=0, position=0)", _gradient, "it is taken out after differentiating")
