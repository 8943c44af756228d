"""table: values and slopes of ``scipy.interpolate`` splines at active points; the spline itself is data.

The slope of a spline is a spline of one degree less, which SciPy evaluates: C. de Boor, A Practical Guide to Splines (1978), chapter X.
"""

from __future__ import annotations

from typing import Any

from symgrad.ir.types import UNKNOWN, Array, Scalar, Type
from symgrad.ops.declare import rule
from symgrad.ops.indexing import Extents
from symgrad.ops.rows.elementwise import elementwise
from symgrad.ops.shapes import fresh_layout

__all__: list[str] = []


def _of_points(place: int) -> Any:
    """A law: an array of doubles, one for each point; without axes where there is one point."""

    def law(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
        match types[place]:
            case Scalar():
                return Array("f64", ())
            case Array(shape=shape) as points:
                return Array("f64", shape, fresh_layout([points]))
        return UNKNOWN

    return law


def _of_columns(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    match types[1]:
        case Scalar():
            return Array("f64", (settings["count"],))
        case Array(shape=shape) if shape is not None:
            return Array("f64", (*shape, settings["count"]))
    return Array("f64", None)


def _of_one_point(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Scalar("float", "f64") if all(isinstance(t, Scalar) for t in types[:2]) else UNKNOWN


# objects that are called: CubicSpline, BSpline, UnivariateSpline, ...; the slope beyond the degree is zero
elementwise("interpolant(s, x)", emit="s(x)", law=_of_points(1), ds=None, dx="interpolant_slope(s, x, 1)")
for _name, _text in (("interpolant_at", "s(x, order)"), ("interpolant_slope", "interpolant_slope(s, x, order)")):
    elementwise(f"{_name}(s, x, order)", emit=_text, law=_of_points(1), ds=None, dx="interpolant_slope(s, x, order + 1)", dorder=None)
# several numbers at each point: ``count`` along a last axis
for _name, _text in (("interpolant_columns", "s(x, order)"), ("slope_of_columns", "interpolant_slope(s, x, order)")):
    rule(
        f"{_name}(s, x, order, count=1)",
        _of_columns,
        emit=_text,
        s_grad=None,
        x_grad="sum(out_grad * slope_of_columns(s, x, order + 1, count=count), axis=-1)",
    )
# knots, coefficients and degree of FITPACK, in a tuple
_DATA = "no_slope(tck, of='the spline that splev evaluates')"
elementwise(
    "splev(x, tck, order)",
    emit="interpolate.splev(x, tck, order)",
    law=_of_points(0),
    dx="splev_slope(x, tck, order + 1)",
    dtck=_DATA,
    dorder=None,
)
elementwise(
    "splev_slope(x, tck, order)",
    emit="splev_slope(x, tck, order)",
    law=_of_points(0),
    dx="splev_slope(x, tck, order + 1)",
    dtck=_DATA,
    dorder=None,
)
for _name, _text in (
    ("bisplev", "interpolate.bisplev(x, y, tck, across, along)"),
    ("bisplev_slope", "bisplev_slope(x, y, tck, across, along)"),
):
    elementwise(
        f"{_name}(x, y, tck, across, along)",
        emit=_text,
        law=_of_one_point,
        dx="bisplev_slope(x, y, tck, across + 1, along)",
        dy="bisplev_slope(x, y, tck, across, along + 1)",
        dtck="no_slope(tck, of='the spline that bisplev evaluates')",
        dacross=None,
        dalong=None,
    )
