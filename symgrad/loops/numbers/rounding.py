"""Rounding to decimal digits, comparing within a tolerance, and replacing numbers that are not finite, as ops on scalars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgrad.ir.core import Const, Operand
from symgrad.loops.bailouts import bail_out
from symgrad.loops.reach import OutOfReach
from symgrad.ops.build import Builder

#: the largest number of digits whose power of ten is a float
DIGITS = 22
#: multiples of a power of ten below this have rounding errors that are small beside ``DOUBT``
LARGE = 1e11
#: how near to a tie a number may be
DOUBT = 1e-4


def rounded_to(build: Builder, x: Operand, digits: int) -> Operand:
    """``round(x, digits)``: the float nearest to a whole multiple of a power of ten, which is the same for Python and NumPy.

    The kernel is left near ties, where Python decides by the exact value of the float and NumPy by that of the product.
    """
    if not 0 <= digits <= DIGITS:
        raise OutOfReach("round to tens, or to more than 22 digits", build.loc)
    scale = Const(10.0**digits)
    scaled = build.call("multiply", x, scale)
    whole = build.call("rint", scaled)
    distance = build.call("abs", build.call("subtract", scaled, whole, via=None), via="numpy")
    bail_out(build, build.call("not_", build.call("less", distance, Const(0.5 - DOUBT))))
    bail_out(build, build.call("greater", build.call("abs", scaled, via="numpy"), Const(LARGE)))
    return build.call("divide", whole, scale, via=None)


def in_tens(build: Builder, x: Operand, decimals: int, narrowed: Callable[[Operand], Operand]) -> Operand:
    """``np.round``: scale, round to an integer, and scale back, as NumPy does; ``narrowed`` rounds to the width of ``x``."""
    if not decimals:
        return build.call("rint", x)
    there, back = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    scale = Const(10.0 ** abs(decimals))
    return build.call(back, build.call("rint", narrowed(build.call(there, x, scale))), scale)


def close_to(build: Builder, x: Operand, y: Operand, rtol: float, atol: float) -> Operand:
    """``np.isclose``: numbers near a finite one, or equal infinities."""
    tolerance = build.call("add", Const(float(atol)), build.call("multiply", Const(float(rtol)), build.call("abs", y, via="numpy")))
    near = build.call("less_equal", build.call("abs", build.call("subtract", x, y, via=None), via="numpy"), tolerance)
    return build.call("logical_or", build.call("logical_and", near, build.call("isfinite", y, via="math")), build.call("equal", x, y))


def finite_limits(settings: Mapping[str, Any]) -> dict[float, Any]:
    """The replacements of ``np.nan_to_num`` for the infinities and nan."""
    largest = float(np.finfo(float).max)
    above, below = (settings[name] for name in ("posinf", "neginf"))
    return {np.inf: largest if above is None else above, -np.inf: -largest if below is None else below, np.nan: settings["nan"]}


def without(build: Builder, x: Operand, limits: Mapping[float, Any]) -> Operand:
    """A choice for each kind of number that is not finite."""
    result = x
    for limit, value in limits.items():
        test = build.call("equal", x, Const(limit)) if limit == limit else build.call("not_equal", x, x)
        result = build.call("where", test, Const(float(value)), result, via=None)
    return result
