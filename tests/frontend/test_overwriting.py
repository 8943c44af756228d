"""``overwrite_a`` and similar settings: omitted where nothing else holds the argument, otherwise refused."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")
from tests.plainly import verdict

HEAD = "import scipy.linalg as linalg\n"
FRESH = [
    "linalg.solve(x * 2.0, x[0] * 1.0, overwrite_a=True, overwrite_b=True)[0]", "np.median(np.abs(x), overwrite_input=True)",
    "linalg.cholesky(x @ x.T, lower=True, overwrite_a=True, check_finite=False)[1, 0]", "linalg.inv(x @ x.T, overwrite_a=True)[0, 1]",
    "linalg.det((lambda v: v * 2.0)(x), overwrite_a=True)", "linalg.solve(x, np.dot(x, x).T, overwrite_b=True).T[0, 1]",
    "np.median(x[x > 0.35], overwrite_input=True)", "np.percentile(x * 2.0, 30.0, overwrite_input=True)",
]  # fmt: skip
HELD = [
    "linalg.solve(x, x[0], overwrite_b=True)[0]", "linalg.det(x, overwrite_a=True)", "linalg.det((lambda v: v)(x), overwrite_a=True)",
    "linalg.det(np.asarray(x), overwrite_a=True)", "np.median(np.ravel(x), overwrite_input=True)", "linalg.det(x.T, overwrite_a=True)",
    "linalg.det([y := x * 2.0][0], overwrite_a=True)",
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [*((body, "right") for body in FRESH), *((body, "refused") for body in HELD)])
def test_only_what_nothing_else_holds_may_be_overwritten(body: str, expected: str) -> None:
    assert verdict(f"{HEAD}def f(x): return {body}\n", [np.array([[2.0, 0.3], [0.4, 1.5]])]) == expected


GIVEN_SHAPES = {
    "y = x * 2.0; y.shape = (-1, 1); return (y @ y.T)[0, 1]": "right", "y = np.zeros((2, 2)); y[:, 0] = x; y.shape = 4; return y @ np.arange(4.0)": "right",
    "y = x * 2.0; y.shape = (2, 2); return y[0, 0]": "raises", "z = x * 1.0; y = z.view(float); y[0] = 7.0; return z @ y": "right",
    "y = x * 2.0; z = y; y.shape = (-1, 1); return (z @ z.T)[0, 1]": "refused", "x.shape = (-1, 1); return (x @ x.T)[0, 1]": "refused",
    "y = x[::2]; y.shape = (1, -1); return y[0, 0]": "refused", "y = x.view('f4'); return y[0]": "refused",
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), GIVEN_SHAPES.items())
def test_a_shape_is_given_in_place_where_one_name_holds_the_array(body: str, expected: str) -> None:
    assert verdict(f"def f(x): {body}\n", [np.array([1.5, 0.4])]) == expected
