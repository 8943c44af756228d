"""Calls of NumPy, ``math``, methods and operators as rows."""

from __future__ import annotations

import ast
import bisect
import cmath
import inspect
import math
import statistics
import typing
from typing import Any

import numpy as np
import pytest

from symgrad.ir.core import Const
from symgrad.ops import composed, spelling
from symgrad.ops.declare import ROWS
from symgrad.ops.spelling import BindError, Bound, NotSettings, method, nearest, operator, plain, spelled


def bind(function: Any, *args: Any, **kwargs: Any) -> Bound:
    actual = spelled(function)
    assert actual is not None
    return actual.bind(args, kwargs)


def test_every_spelling_calls_a_row_with_its_params_and_settings() -> None:
    for s in (*spelling.CALLABLES.values(), *spelling.OF_ARRAYS.values()):
        if s.row == "einsum":
            continue
        row = ROWS[s.row]
        assert {k.arg for k in s.target.keywords} <= set(row.settings), s.name
        if not any(isinstance(a, ast.Starred) for a in s.target.args):
            assert len(s.target.args) == len([p for p in row.params if not p.startswith("*")]), s.name
        names = {n.id for a in (*s.target.args, *(k.value for k in s.target.keywords)) for n in ast.walk(a) if isinstance(n, ast.Name)}
        assert names <= set(s.signature.parameters), s.name


def test_spellings_have_numpys_own_parameters() -> None:
    for function, s in spelling.CALLABLES.items():
        if isinstance(function, type | np.ufunc) or not s.name.startswith("np.") or s.name in ("np.arange", "np.where", "np.einsum"):
            continue
        try:
            real = inspect.signature(function)
        except ValueError:
            continue
        unknown = set(s.signature.parameters) - set(real.parameters) - {"operands", "subscripts", "bounds"}
        assert not unknown or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in real.parameters.values()), (s.name, unknown)
        ours = [p.name for p in s.signature.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        theirs = [p.name for p in real.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        if "args" not in theirs:
            assert ours == theirs[: len(ours)], s.name


def test_calls_bind_to_operands_and_settings() -> None:
    assert bind(np.sum, "x", axis=Const(0)) == Bound("sum", ["x"], {"axis": 0, "keepdims": False})
    assert bind(np.sum, "x", (Const(0), Const(1))).settings["axis"] == (0, 1)
    assert bind(math.sin, "x") == Bound("sin", ["x"], {"via": "math"})
    assert bind(np.sin, "x") == Bound("sin", ["x"], {})
    assert bind(abs, "x") == Bound("abs", ["x"], {})
    assert bind(np.absolute, "x") == Bound("abs", ["x"], {"via": "numpy"})
    assert bind(np.zeros, ("n", "m")) == Bound("zeros", ["n", "m"], {"dtype": "f64"})
    assert bind(np.zeros, "n", dtype=Const(np.float32, "np.float32")) == Bound("zeros", ["n"], {"dtype": "f32"})
    assert bind(np.concatenate, ("a", "b"), axis=Const(1)) == Bound("concatenate", ["a", "b"], {"axis": 1})
    assert bind(np.concatenate, "a").row == "concatenate_array"
    assert bind(math.log, "x").row == "log"
    assert bind(math.log, "x", "b") == Bound("log_to_base", ["x", "b"], {})
    assert bind(np.einsum, Const("ij,j->i"), "a", "b") == Bound("einsum2", ["a", "b"], {"subscripts": "ij,j->i"})


def test_what_is_given_besides_asks_for_a_fuller_row() -> None:
    none = Const(None)
    assert bind(np.sum, "x", dtype=Const(None)).row == "sum" and bind(np.sum, "x", where=Const(True)).row == "sum"
    bound = bind(np.sum, "x", where="mask")
    assert bound.row == "sum_of" and bound.args[:2] == ["x", "mask"] and plain(bound.args[2]) is None
    bound = bind(np.sum, "x", dtype=Const(np.float32))
    assert bound.settings == {"axis": None, "keepdims": False, "dtype": "f32"} and plain(bound.args[1]) is none.value
    assert bind(np.max, "x", initial=Const(1.0)).row == "max_of"


def test_lists_and_tuples_that_are_known_are_settings() -> None:
    assert bind(np.tensordot, "x", "y", axes=([Const(0)], [Const(1)])).settings == {"axes": ((0,), (1,))}
    assert bind(np.pad, "x", ((Const(1), Const(0)), (Const(0), Const(2)))).settings["width"] == ((1, 0), (0, 2))


def test_methods_bind_however_their_shape_is_given() -> None:
    reshape, transpose = method("reshape"), method("transpose")
    assert reshape is not None and transpose is not None

    for args in (["x", "n", "m"], ["x", ("n", "m")]):
        assert reshape.bind(args, {}) == Bound("reshape", ["x", "n", "m"], {})
    assert transpose.bind(["x"], {}).settings.get("axes") is None
    for args in (["x", Const(1), Const(0)], ["x", (Const(1), Const(0))]):
        assert transpose.bind(args, {}).settings == {"axes": (1, 0)}


def test_what_is_not_supported_is_refused_by_name() -> None:
    with pytest.raises(BindError, match="dtype"):
        bind(np.sum, "x", dtype=Const(int))
    with pytest.raises(BindError, match="where"):
        bind(np.var, "x", where="mask")
    with pytest.raises(BindError, match="mode"):
        bind(np.pad, "x", Const(1), mode=Const("linear_ramp"))
    with pytest.raises(BindError, match="axs"):
        bind(np.sum, "x", axs=Const(0))
    with pytest.raises(BindError, match="out"):
        bind(np.sin, "x", "y")
    with pytest.raises(BindError, match="order"):
        bind(np.zeros, Const(3), order=Const("F"))
    with pytest.raises(BindError, match="ellipsis"):
        bind(np.einsum, Const("...i->..."), "x")
    with pytest.raises(BindError, match="match"):
        bind(np.einsum, Const("ij,jk->ik"), "x")


def test_a_setting_computed_at_run_time_is_refused_by_name() -> None:
    class Computed:
        pass

    with pytest.raises(NotSettings, match="axis"):
        bind(np.sum, "x", axis=Computed())


def test_operators_and_names() -> None:
    assert all(name in ROWS for name in spelling.AST_OPERATORS.values())
    assert operator(ast.Add) == "add" and operator(ast.MatMult) == "matmul"
    assert spelled(print) is None and spelled([]) is None
    assert "np.tanh" in nearest("np.tahn")
    assert spelling.named_dtype(np.float32) == "f32" and spelling.named_dtype(int) == "i64"


X, Y = np.arange(1.0, 7.0).reshape(2, 3) ** 1.3, np.array([0.5, -1.0, 2.0])
V = np.array([3.0, 1.0, 2.0, 5.0])
W = np.array([3.0, 1.0, np.nan, 2.0, 5.0])
COMPOSED_CALLS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (np.vstack, ((X, Y),), {}), (np.hstack, ((Y, Y),), {}), (np.hstack, ((X, X),), {}), (np.hstack, ((1.0, 2.0),), {}), (np.column_stack, ((Y, Y),), {}),
    (np.column_stack, ((X, X),), {}), (np.dstack, ((Y, Y),), {}), (np.dstack, ((X, X),), {}), (np.dstack, ((X[..., None], X[..., None]),), {}),
    (np.ptp, (X,), {}), (np.ptp, (X,), {"axis": 0}), (np.inner, (Y, Y), {}), (np.inner, (X, X), {}),
    (np.inner, (X, 2.0), {}), (np.vdot, (X, X), {}), (np.kron, (Y, V), {}), (np.kron, (X, X.T), {}), (np.kron, (X, Y), {}), (np.cross, (Y, Y[::-1]), {}),
    (np.cross, (X, X * Y), {}), (np.average, (X,), {}), (np.average, (X,), {"axis": 1, "weights": Y}), (np.average, (X,), {"axis": 0, "weights": Y[[0, 2]], "keepdims": True}), (np.average, (X,), {"weights": X}),
    (np.diff, (V,), {}), (np.diff, (V, 2), {}),
    (np.diff, (X,), {"axis": 0}), (np.diff, (X, 2), {"axis": 1}), (np.trapezoid, (V,), {}), (np.trapezoid, (X,), {"dx": 0.5}),
    (np.trapezoid, (X, np.array([0.0, 1.0])), {"axis": 0}), (np.interp, (np.array([-1.0, 0.5, 1.7, 9.0]), np.arange(4.0), V), {}),
    (np.correlate, (V, Y), {}), (np.correlate, (V, Y, "full"), {}), (np.gradient, (V,), {}), (np.gradient, (V, 0.5), {}), (np.gradient, (X.T @ X,), {"axis": 1}),
    (np.gradient, (X,), {}), (np.gradient, (V, V.cumsum()), {}), (np.gradient, (X.T @ X, 2.0, np.array([0.0, 1.0, 3.0])), {"edge_order": 2}),
    (np.gradient, (V, 0.5), {"edge_order": 2}), (np.gradient, (V.astype(np.float32), V.cumsum()), {}), (np.gradient, (np.arange(4) ** 2,), {}),
    (np.interp, (np.array([-1.0, 0.5, 1.0, 1.7, 9.0]), [0.0, 1.0, 1.0, 2.0], V), {"left": -1.0, "right": 9.0}),
    (np.interp, (np.array([-1.0, 0.5, 1.0, 1.7, 9.0]), [0.5, 0.1, 5.0, 2.0], V), {"period": 3.0}),
    (np.histogram, (V,), {}), (np.histogram, (X, [1.0, 2.0, 2.0, 6.0]), {}), (np.histogram, (X, 3), {"weights": X, "range": (2.0, 7.0)}),
    (np.histogram, (V, 3), {"density": True}), (np.histogram, (np.full(3, 2.0), 4), {}), (np.histogram, (V[:0], 2), {}),
    (np.histogram, (W[:2], 2), {"weights": np.array([1, 2])}), (np.histogram_bin_edges, (V, 3), {}), (math.modf, (2.5,), {}),
    (np.average, (X,), {"axis": 1, "weights": Y, "returned": True}), (np.average, (X,), {"returned": True}),
    (np.linalg.norm, (V,), {}), (np.linalg.norm, (X,), {}), (np.linalg.norm, (X,), {"axis": 1}), (np.linalg.norm, (V, 1), {}),
    (np.linalg.norm, (V, math.inf), {}), (np.linalg.norm, (V, 3), {}), (np.linalg.norm, (X, 1), {}), (np.linalg.norm, (X, math.inf), {}),
    (np.linalg.norm, (X,), {"axis": 0, "keepdims": True}), (np.linalg.norm, (X, "fro"), {}), (np.linalg.norm, (V,), {"keepdims": True}),
    (np.linalg.matrix_power, (X @ X.T, 3), {}), (np.linalg.matrix_power, (X @ X.T, -2), {}), (np.linalg.multi_dot, ([X, X.T, X],), {}),
    (np.logspace, (0.0, 2.0, 5), {}), (np.geomspace, (1.0, 100.0, 5), {}), (np.meshgrid, (Y, V), {}), (np.meshgrid, (Y, V), {"indexing": "ij"}),
    (np.meshgrid, (Y, V, Y), {}), (np.meshgrid, (Y,), {}), (np.meshgrid, (Y, V), {"sparse": True}),
    (np.nonzero, (V > 1,), {}), (np.nonzero, (X > 2,), {}), (np.atleast_1d, (2.0,), {}), (np.atleast_2d, (Y,), {}), (np.rot90, (X,), {}),
    (np.divmod, (V, 2.0), {}), (math.dist, ([1.0, 2.0], [3.0, 5.0]), {}), (np.quantile, (V, 0.3), {}), (np.quantile, (X, 0.3), {"axis": 1}),
    (np.quantile, (X, np.array([0.3, 0.8])), {"axis": 1}), (np.quantile, (X, 0.3), {"axis": (0, 1), "keepdims": True}),
    (np.quantile, (W, 0.5), {}), (np.percentile, (V, 30), {}), (np.percentile, (X, [30, 60]), {"axis": 0}), (np.nanmedian, (W,), {}),
    (np.nanquantile, (W, 0.3), {}), (np.nanpercentile, (W, 40.0), {}), (np.nanprod, (W,), {}), (np.nanvar, (W,), {"ddof": 1}),
    (np.nanstd, (X,), {"axis": 1, "keepdims": True}), (np.nancumsum, (W,), {}), (np.nancumprod, (W,), {}), (np.atleast_3d, (2.0,), {}),
    (np.atleast_3d, (Y,), {}), (np.atleast_3d, (X,), {}), (np.broadcast_arrays, (X, Y, 2.0), {}), (np.append, (X, Y), {}),
    (np.append, (X, X), {"axis": 1}), (np.insert, (V, 1, 7.0), {}), (np.insert, (V, -1, 7.0), {}), (np.insert, (X, 1, Y), {"axis": 0}),
    (np.insert, (np.arange(3), 1, 7.5), {}), (np.insert, (X, 0, 7.0), {"axis": 1}), (np.insert, (X, 2, 7.0), {}), (np.block, ([[X, X], [X, X]],), {}),
    (np.block, ([Y, V],), {}), (np.block, ([[Y], [Y]],), {}), (np.hsplit, (X, 3), {}), (np.hsplit, (V, [1, 2]), {}), (np.vsplit, (X, 2), {}),
    (np.dsplit, (X[..., None], 1), {}), (np.rollaxis, (X[None], 2), {}), (np.rollaxis, (X[None], 0, 3), {}), (np.rollaxis, (X[None], -1, 1), {}),
    (np.resize, (X, (2, 5)), {}), (np.resize, (V, 6), {}), (np.trim_zeros, (np.array([0.0, 2.0, 0.0, 3.0, 0.0]),), {}), (np.trim_zeros, (np.zeros(3),), {}),
    (np.diagflat, (X,), {}), (np.diagflat, (Y, 1), {}), (np.extract, (X > 2, X), {}), (np.select, ([V > 2, V > 1], [V, -V]), {}),
    (np.select, ([V > 2, V > 1], [V, -V], 5.0), {}), (np.piecewise, (V, [V > 2, V < 2], [np.sin, 4.0]), {}),
    (np.piecewise, (V, [V > 2], [np.sin, np.cos]), {}), (np.partition, (V, 1), {}), (np.partition, (X, 1), {"axis": 1}), (np.ediff1d, (X,), {}),
    (np.intersect1d, (Y, V), {}), (np.setxor1d, (Y, V), {}), (np.linalg.tensorsolve, ((X @ X.T)[:, None], np.ones((2, 1))), {}),
    (np.linalg.tensorinv, (X @ X.T, 1), {}), (np.linalg.svdvals, (X,), {}), (np.ediff1d, (V, 1.0, Y), {}), (np.union1d, (Y, V), {}), (np.setdiff1d, (Y, V), {}), (np.vander, (V,), {}), (np.vander, (V, 2), {"increasing": True}),
    (np.polyval, ([1.0, 2.0, 3.0], V), {}), (np.polyval, (V, 2.0), {}), (np.polyadd, (V, Y), {}), (np.polyadd, (Y, V), {}), (np.polysub, (V, Y), {}),
    (np.polymul, (V, Y), {}), (np.polyder, (V,), {}), (np.polyint, (V,), {}), (np.polyfit, (V, V * V - V, 1), {}), (np.cov, (X,), {}),
    (np.cov, (X,), {"rowvar": False, "bias": True}), (np.cov, (V,), {}), (np.cov, (V, V**2), {"ddof": 0}), (np.corrcoef, (X,), {}),
    (np.corrcoef, (V, V**2), {}), (np.apply_along_axis, (np.sum, 0, X), {}), (np.apply_along_axis, (np.sort, 0, X), {}),
    (np.apply_along_axis, (np.sort, 1, X), {}), (np.apply_along_axis, (np.sum, 0, V), {}), (np.apply_over_axes, (np.sum, X, [0, 1]), {}),
    (np.fromfunction, (lambda i, j: i - 2 * j, (2, 3)), {}), (np.ix_, ([0, 1], [2]), {}), (np.modf, (V - 2.5,), {}), (np.angle, (Y,), {}),
    (np.angle, (Y, True), {}), (np.poly, (Y,), {}), (np.poly, ([1.0, 2.0],), {}), (np.linalg.eigvalsh, (X @ X.T,), {}), (np.linalg.cond, (X @ X.T,), {}), (np.linalg.cond, (X @ X.T, 1), {}), (np.lib.stride_tricks.sliding_window_view, (V, 2), {}),
    (typing.cast, (float, 2.0), {}), (bisect.bisect_right, ([1.0, 2.0, 2.0, 3.0], 2.0), {}),
    (bisect.bisect_left, ([1.0, 2.0, 2.0, 3.0], 2.0), {}), (statistics.mean, ([1.0, 2.5],), {}), (statistics.fmean, ([1.0, 2.5],), {}),
    (statistics.median, ([1.0, 2.5, 0.5],), {}), (statistics.variance, ([1.0, 2.5, 0.5],), {}),
    (statistics.pvariance, ([1.0, 2.5, 0.5],), {}), (statistics.stdev, ([1.0, 2.5, 0.5],), {}),
    (statistics.pstdev, ([1.0, 2.5, 0.5],), {}), (statistics.fmean, ([1.0, 2.5], [1.0, 3.0]), {}),
    (statistics.geometric_mean, ([1.0, 2.5],), {}), (statistics.harmonic_mean, ([1.0, 2.5],), {}), (statistics.median_low, ([1.0, 2.5],), {}),
    (statistics.median_high, ([1.0, 2.5],), {}), (statistics.quantiles, ([1.0, 2.5, 0.5],), {}),
    (statistics.quantiles, ([1.0, 2.5, 0.5, 3.0],), {"n": 3, "method": "inclusive"}), (statistics.stdev, ([1.0, 2.5], 1.5), {}),
    (statistics.covariance, ([1.0, 2.5, 0.5], [2.0, 1.0, 4.0]), {}), (statistics.correlation, ([1.0, 2.5, 0.5], [2.0, 1.0, 4.0]), {}),
    (statistics.linear_regression, ([1.0, 2.5, 0.5], [2.0, 1.0, 4.0]), {}),
    (statistics.linear_regression, ([1.0, 2.5, 0.5], [2.0, 1.0, 4.0]), {"proportional": True}), (math.dist, ([1.0, 2.0], [1.0, 4.0]), {}),
    (math.frexp, (-5.0,), {}), (math.frexp, (math.inf,), {}), *((math.remainder, (x, y), {}) for x in (-7.5, 2.5, 0.0, 7.0) for y in (1.0, -2.0, 5.0)),
    (math.isclose, (1.0, 1.0 + 1e-12), {}), (math.isclose, (1.0, math.inf), {"rel_tol": 2.0}), (cmath.isclose, (1j, 1.0), {"abs_tol": 2.0}),
    (sorted, ([3.0, 1.0],), {}), (sorted, ([3.0, 4.0],), {"reverse": True}),
    *((getattr(np, name), args, kwargs) for name, args, kwargs in [
        ("cumulative_sum", (V,), {}), ("cumulative_sum", (X,), {"axis": 1, "include_initial": True}), ("cumulative_prod", (X,), {"axis": 0}),
        ("cumulative_prod", (V,), {"include_initial": True}), ("vecdot", (X, X), {}), ("matvec", (X, Y), {}), ("vecmat", (Y, X.T), {}), ("row_stack", ((X, Y),), {}),
        ("unstack", (X,), {}), ("unstack", (X,), {"axis": 1}),
    ] if name in vars(np)),
    *((getattr(np.linalg, name), args, kwargs) for name, args, kwargs in [
        ("vecdot", (X, X), {}), ("cross", (Y, Y[::-1]), {}), ("vector_norm", (X,), {}), ("vector_norm", (X,), {"axis": 1, "keepdims": True}),
        ("vector_norm", (X,), {"ord": 1}), ("matrix_norm", (X,), {}), ("matrix_norm", (X,), {"keepdims": True}),
    ] if name in vars(np.linalg)),
]  # fmt: skip


def as_inlined(function: Any, args: Any, kwargs: Any) -> Any:
    """A call of a composition with arrays where it says that it takes them."""
    bound = inspect.signature(function).bind(*args, **kwargs)
    for name, value in bound.arguments.items():
        if function.__annotations__.get(name) == "Numbers" and isinstance(value, list | tuple):
            bound.arguments[name] = np.array(value)
    return function(*bound.args, **bound.kwargs)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("function", "args", "kwargs"), COMPOSED_CALLS, ids=[f"{k}-{c[0].__name__}" for k, c in enumerate(COMPOSED_CALLS)])
def test_composed_functions_compute_what_numpy_computes(function: Any, args: Any, kwargs: Any) -> None:
    expected, got = function(*args, **kwargs), as_inlined(composed.COMPOSED[function], args, kwargs)
    if isinstance(expected, tuple | list):
        for e, g in zip(expected, got, strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-13)
    else:
        np.testing.assert_allclose(got, expected, rtol=1e-13)
        assert np.shape(got) == np.shape(expected)


CHANGES: list[tuple[Any, tuple[Any, ...]]] = [
    (np.fill_diagonal, (9.0,)), (np.put_along_axis, (np.array([[1], [0]]), 9.0, 1)), (np.put_along_axis, (np.array([[1, 0, 1]]), 9.0, 0)),
    (np.putmask, (X > 2, -X)), (np.putmask, (X > 2, 5.0)), (np.place, (X > 2, 5.0)), (np.place, (X > 2, [5.0, 6.0])),
]  # fmt: skip


@pytest.mark.parametrize(("function", "args"), CHANGES)
def test_composed_functions_change_what_numpy_changes(function: Any, args: Any) -> None:
    expected, got = X.copy(), X.copy()
    function(expected, *args)
    composed.COMPOSED[function](got, *args)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(("function", "row", "args", "kwargs"), [
    (np.take, "take_items", (X, [-7, 7]), {"mode": "wrap"}), (np.take, "take_items", (X, [[-7], [7]], 1), {"mode": "clip"}),
    (np.choose, "choose", ([3, -2, 1], [Y, V[:3]]), {"mode": "wrap"}), (np.choose, "choose", ([3, -2, 1], [Y, V[:3]]), {"mode": "clip"}),
    (np.indices, "indices", ((2, 3),), {"sparse": True}), (np.indices, "indices", ((2, 3),), {"dtype": np.float32}),
    (np.var, "var", (X,), {"axis": 1, "correction": 1}), (np.var, "var", (X, 0), {"mean": np.ones(3), "ddof": 1}),
    (np.convolve, "convolution", (Y, V, "same"), {}), (np.convolve, "convolution", (V, Y), {"mode": "valid"}),
    (np.std, "std", (X,), {"mean": 2.0, "axis": (0, 1), "keepdims": True}),
])  # fmt: skip
def test_what_no_row_takes_is_said_in_others(function: Any, row: str, args: Any, kwargs: Any) -> None:
    if {"mean", "correction"} & set(kwargs) and np.lib.NumpyVersion(np.__version__) < "2.0.0":
        pytest.skip("NumPy does not take it")
    expected, got = function(*args, **kwargs), as_inlined(composed.WIDER[row], args, kwargs)
    for e, g in zip(expected, got, strict=True) if isinstance(expected, tuple) else [(expected, got)]:
        np.testing.assert_allclose(g, e, rtol=1e-13)
        assert np.asarray(g).dtype == np.asarray(e).dtype


def test_least_squares() -> None:
    for b in (Y[:2], X):
        for expected, got in zip(np.linalg.lstsq(X.T, X.T @ b if b.ndim == 1 else X.T, rcond=None),
                                 composed.COMPOSED[np.linalg.lstsq](X.T, X.T @ b if b.ndim == 1 else X.T), strict=True):  # fmt: skip
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_put_into_a_vector() -> None:
    expected, got = V.copy(), V.copy()
    np.put(expected, [0, 2], [7.0, 8.0])
    composed.COMPOSED[np.put](got, [0, 2], [7.0, 8.0])
    np.testing.assert_array_equal(got, expected)


def test_every_composed_function_is_tested() -> None:
    elsewhere = {
        np.put,
        np.linalg.lstsq,
        np.linalg.eigvals,
        np.poly1d,
        bisect.insort_left,
        bisect.insort_right,
        *composed.HEAPS,
        *composed.DRAWING,
        *composed.SCIMATH,
        np.roots,
        np.lib.array_utils.normalize_axis_index,
        np.polynomial.polyutils._fit,
    }
    assert set(composed.COMPOSED) == {function for function, *_ in (*COMPOSED_CALLS, *CHANGES)} | elsewhere
