"""table: solutions of equations that a solver of SciPy has found, and their derivatives by the implicit function theorem.

``solver`` calls SciPy; its result carries no derivative. ``implicit`` is that result again, with the derivative that follows from the
equation which it solves. ``adjoint/implicit.py`` writes that derivative, when one is asked for.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import UNKNOWN, Scalar, Type
from symgrad.ops.declare import constant, missing, rule
from symgrad.ops.indexing import Extents
from symgrad.text import attribute


def _stated(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return settings["type"] or UNKNOWN


def _same(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return types[0]


def _part(settings: dict[str, Any], types: list[Type]) -> str:
    part = settings["part"]
    return f"result[{part}]" if isinstance(part, int) else attribute("result", part)


def _factor(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Scalar("float")


def _gradient(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return types[3 + settings["position"]]


# a call of SciPy; among the operands may be functions of the program
constant("solver(f, *args, names=(), type=None)", _stated, emit="f(*args)")
# an item of what it gives, by its place, or an attribute, by its name
constant("solved(result, part=0, type=None)", _stated, emit=_part)
# one, or, after a warning with the solver's message, nan
constant("convergence(success, message)", _factor, emit="convergence(success, message)")
# ``x`` solves ``func(x, *rest) == 0``; its derivative is multiplied by ``valid``
rule("implicit(x, valid, *rest, func=None)", _same, emit="x", alias="same", cheap=True, x_grad=None, valid_grad=None,
     rest_grad="implicit_backward(out_grad, out, valid, *rest, func=func, position=position)")  # fmt: skip
missing("implicit_backward(g, out, valid, *rest, func=None, position=0)", _gradient, "it is written out after differentiating")
