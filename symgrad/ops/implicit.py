"""table: solutions of equations that a solver of SciPy has found, and their derivatives by the implicit function theorem.

``solver`` calls SciPy; its result carries no derivative. ``implicit`` is that result again, with the derivative that follows from the
equation which it solves. ``adjoint/implicit.py`` writes that derivative, when one is asked for.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import UNKNOWN, Scalar, Type
from symgrad.ops.declare import constant, missing, rule
from symgrad.ops.indexing import Extents


def _unknown(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return UNKNOWN


def _stated(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return settings["type"] or types[0]


def _factor(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Scalar("float")


def _gradient(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return types[3 + settings["position"]]


# a call of SciPy; among the operands may be functions of the program
constant("solver(f, *args, names=())", _unknown, emit="f(*args)")
# one, or, after a warning with the solver's message, nan
constant("convergence(success, message)", _factor, emit="convergence(success, message)")
# ``x`` solves ``func(x, *rest) == 0``; its derivative is multiplied by ``valid``
rule("implicit(x, valid, *rest, func=None, type=None)", _stated, emit="x", alias="same", cheap=True, x_grad=None, valid_grad=None,
     rest_grad="implicit_backward(out_grad, out, valid, *rest, func=func, position=position)")  # fmt: skip
missing("implicit_backward(g, out, valid, *rest, func=None, position=0)", _gradient, "it is written out after differentiating")
