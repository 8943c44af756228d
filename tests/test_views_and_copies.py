"""Views and copies of NumPy: a store to one is visible in the other as in NumPy, or refused; generated cases.

Generated.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from against_numpy import function_of, judged

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: what is made of ``y``
MADE = """y|y[:]|y[...]|y[None]|y[1:]|y[::2]|y[::-1]|y[0]|y[-1:]|y[[0, 1]]|y[y > 0]|y[True]|y[np.array(0)]|y[0:0]|y.T|y.T.T|y.reshape(-1)|y.reshape(3, 2)|y.ravel()|y.flatten()|y.copy()
y.squeeze()|y.transpose()|y.swapaxes(0, 1)|np.ravel(y)|np.reshape(y, (-1,))|np.reshape(y, (2, 3))|np.transpose(y)|np.swapaxes(y, 0, 1)|np.moveaxis(y, 0, 1)|np.expand_dims(y, 0)
np.squeeze(y)|np.atleast_1d(y)|np.atleast_2d(y)|np.atleast_3d(y)|np.asarray(y)|np.asarray(y, None)|np.asarray(y, None, 'F')|np.asarray(y, None, 'C')|np.asarray(y, order='F')|np.asarray(y, order='C')
np.asarray(y, float)|np.asarray(y, np.float32)|np.asarray(y, dtype=float, order='C')|np.asanyarray(y)|np.ascontiguousarray(y)|np.asfortranarray(y)|np.array(y)|np.array(y, copy=False)|np.array(y, copy=None)
np.array(y, None)|np.array(y, float)|np.copy(y)|np.require(y)|y.astype(float)|y.astype(float, copy=False)|np.flip(y)|np.flipud(y)|np.fliplr(y)|np.rot90(y)|np.roll(y, 1)|np.sort(y)|np.diag(y)|np.diagonal(y)
np.real(y)|y.real|np.conj(y)|np.positive(y)|+y|np.abs(y)|np.concatenate([y])|np.stack([y])|np.vstack([y])|np.hstack([y])|np.split(y, 1)[0]|np.array_split(y, 2)[1]|np.vsplit(y, 2)[0]|np.hsplit(y, 3)[1]
np.broadcast_to(y, (2, 3)).copy()|np.take(y, [0, 1], axis=0)|np.where(y > -9, y, y)|np.nan_to_num(y)|np.triu(y)|np.tile(y, 1)|np.repeat(y, 1)|np.append(y, y)|np.append(y, y[:0], axis=0)|np.rollaxis(y, 1)
np.matrix_transpose(y)|np.permute_dims(y, (1, 0))|np.linalg.matrix_transpose(y)|np.broadcast_arrays(y, y)[0].copy()|list(y)[0]|tuple(y)[1]|[r for r in y][0]|np.ascontiguousarray(y.T)|np.asarray(y.T, order='C')
y.view()|y.view(np.ndarray)|y.T.view()|y[1:].view()|y[:, 1]|y[1:, 1:]|y[0, 1:]|y[..., 0]|y[:, None, 0]|y[1, [0, 2]]|y[:, [0, 2]]|np.unstack(y)[0]|np.max(y, axis=0)|np.sum(y, axis=0)|np.cumsum(y, axis=0)|np.clip(y, -9, 9)|np.maximum(y, -9)|y.clip(-9, 9)"""
EXPRESSIONS = [e for line in MADE.splitlines() for e in line.split("|")]
STORES = ("v[...] = 3.0 * v", "v *= 2.0", "v += s")
BASE = (
    "y = x * 1.0",
    "y = np.asfortranarray(x * 1.0)",
    "y = (x * 1.0)[:, ::1]",
    "y = np.repeat(x, 2, axis=1)[:, ::2] * 1.0",
    "y = (x.T * 1.0).T",
)
LATER = ("y, v", "y", "v")
FEW = 23  #: the fast test tries one in so many


def program(expression: str, store: str, base: str, way: str) -> Any:
    """A function that stores to what it has made of an array, or to the array itself."""
    change = store if way == "made" else store.replace("v", "y")
    return function_of(f"import numpy as np\ndef f(x, s):\n    {base}\n    v = {expression}\n    {change}\n    return y * s, v * 1.5\n")


CASES = list(product(EXPRESSIONS, STORES, BASE, ("made", "base")))
X = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.2]])


def check(case: tuple[str, str, str, str]) -> str:
    verdict = judged(program(*case), {"x": X.copy(), "s": 0.8})
    assert verdict[0] in ("right", "refused", "not taken"), (case, verdict)
    return verdict[0]


def test_stores_are_seen_in_views_and_not_in_copies() -> None:
    outcomes = [check(case) for case in CASES[::FEW]]
    assert outcomes.count("right") > len(outcomes) // 2


@pytest.mark.slow
@pytest.mark.parametrize("part", range(12))
def test_all_stores_are_seen_in_views_and_not_in_copies(part: int) -> None:
    for case in CASES[part::12]:
        check(case)


EDGES = """np.sum(x)|np.mean(x)|np.prod(x)|np.var(x)|np.std(x)|np.var(x, ddof=1)|np.std(x, ddof=2)|np.max(x, initial=-1.0)|np.cumsum(x)|np.cumprod(x)|np.sort(x)|np.median(x)|np.quantile(x, 0.5)
np.diff(x)|np.convolve(x, x)|np.outer(x, x)|x @ x|np.dot(x, x)|np.kron(x, x)|np.interp(x, [-1.0, 2.0], [0.5, 1.5])|np.interp(x, [0.0, 1.0, 1.0, 2.0], [0.0, 1.0, 3.0, 2.0])|np.trapezoid(x)|np.gradient(x)
np.linalg.norm(x)|np.linalg.norm(x, 1)|np.linalg.norm(x, np.inf)|np.linalg.norm(x, 0)|np.linalg.norm(x, 3)|np.cov(x)|np.corrcoef(x)|np.average(x)|np.average(x, weights=x)|np.polyval(x, x)|np.poly(x)
np.vander(x)|np.searchsorted(x, x)|np.unique(x)|np.union1d(x, x)|np.nanmean(x)|np.nansum(x)|np.nanvar(x, ddof=1)|np.nanstd(x)|np.nanmax(x)|np.nanprod(x)|np.concatenate([x, x[:0]])|np.stack([x, x])
np.tile(x, 2)|np.repeat(x, 0)|np.pad(x, 1)|np.roll(x, 1)|np.flip(x)|np.resize(x, 3)|np.append(x, 1.0)|np.insert(x, 0, 2.0)|np.delete(x, [])|np.trim_zeros(x)|np.ediff1d(x)|np.cumulative_sum(x, include_initial=True)
np.logaddexp.reduce(x)|np.add.accumulate(x)|np.maximum.accumulate(x)|np.extract(x > 0, x)|np.select([x > 0], [x])|np.where(x > 0, x, 0.0)|np.einsum('i,i->', x, x)|np.einsum('i->', x)|np.tensordot(x, x, 1)
np.inner(x, x)|np.vdot(x, x)|np.linalg.multi_dot([x[None], x[:, None]])|np.meshgrid(x, x)[0]|np.histogram(x, 3)[1]|np.ptp(x)|np.block([x, x])|np.take(x, [])|x[[]]|x[x > 9]|np.array([x, x])|np.sum(x[:0])"""
ENDS = [e for line in EDGES.splitlines() for e in line.split("|")]
VECTORS = [np.zeros(0), np.array([1.7]), np.array([1.7, 0.4, 0.9]), np.array([np.inf, 1.0]), np.array([1.7, -0.5])]


@pytest.mark.parametrize("length", range(2))
def test_no_elements_and_one(length: int) -> None:
    for expression in ENDS[length::2]:
        for vector in VECTORS[:2]:
            f = function_of(f"import numpy as np\ndef f(x, s):\n    return {expression}, s * 2.0\n")
            verdict = judged(f, {"x": vector.copy(), "s": 0.8}, kinks=True)
            assert verdict[0] in ("right", "refused", "not taken"), (expression, vector, verdict)


@pytest.mark.slow
@pytest.mark.parametrize("expression", ENDS)
def test_edges(expression: str) -> None:
    for vector in VECTORS:
        f = function_of(f"import numpy as np\ndef f(x, s):\n    return {expression}, s * 2.0\n")
        verdict = judged(f, {"x": vector.copy(), "s": 0.8}, kinks=True)
        assert verdict[0] in ("right", "refused", "not taken"), (expression, vector, verdict)
