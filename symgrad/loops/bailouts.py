"""Bail-outs: tests on which a kernel is left so that the NumPy code runs; and whether numbers are Python's own."""

from __future__ import annotations

from symgrad.ir.core import TRUE, Const, Operand
from symgrad.ir.types import Scalar, Type
from symgrad.ops.build import Builder

#: a Python integer of larger magnitude may overflow in the next operation
LARGE = 2**62


def is_python(*types: Type) -> bool:
    """Whether Python arithmetic may apply: not if one operand is surely NumPy's."""
    return all(isinstance(t, Scalar) and t.dtype in (None, "any") for t in types)


def is_python_int(*types: Type) -> bool:
    """Whether all of them are Python integers, which do not overflow."""
    return is_python(*types) and all(isinstance(t, Scalar) and t.kind in ("int", "bool") for t in types)


def bail_out(build: Builder, test: Operand) -> None:
    """Leave the kernel if the test holds."""
    if not (isinstance(test, Const) and not test.value):
        build.call_many("bail_out", test)


def unless_finite(build: Builder, value: Operand) -> None:
    """Leave the kernel if a result is infinite or nan: Python may have raised."""
    bail_out(build, build.call("not_", build.call("isfinite", value, via="math")))


def if_zero(build: Builder, value: Operand) -> None:
    """Leave the kernel if a divisor is zero."""
    if isinstance(value, Const):
        if not value.value:
            bail_out(build, TRUE)
        return
    bail_out(build, build.call("equal", value, Const(0) if getattr(value.type, "kind", None) == "int" else Const(0.0)))


def unless_small(build: Builder, value: Operand) -> None:
    """Leave the kernel unless a float is small enough for an integer of 62 bits (nan is not)."""
    small = build.call("less", build.call("abs", value), Const(float(LARGE)))
    bail_out(build, build.call("not_", small))


def unless_whole(build: Builder, value: Operand, signed: bool) -> None:
    """Leave the kernel if a NumPy integer has more than 62 bits: as a Python integer it may grow."""
    if isinstance(value, Const):
        return
    bail_out(build, build.call("greater", value, Const(LARGE)))
    if signed:
        bail_out(build, build.call("less", value, Const(-LARGE)))


__all__ = ["LARGE", "bail_out", "if_zero", "is_python", "is_python_int", "unless_finite", "unless_small", "unless_whole"]
