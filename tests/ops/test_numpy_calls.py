"""NumPy's functions over ranks, extents, dtypes and argument positions: value, kind and gradient, or refused."""

from __future__ import annotations

import collections

import pytest

from tests.ops.numpy_calls import Case, cases, functions, judged

#: the fast test tries one in so many calls; the slow ones are parts of the whole
STEP, PARTS = 331, 24

#: what has been wrong: each stands for a class
ONCE_WRONG = [
    Case("np.average(x, None, None, True)", ((3,), (3,))), Case("np.vecdot(x, y)", ((3, 3), (3, 3)), ("bool", "bool")),
    Case("np.percentile(x, 30, None, None, False, 'nearest')", ((3,), (3,)), ("i32", "i32")), Case("np.nancumsum(x)", ((3, 3), (3,)), ("i8", "i8")),
    Case("np.nanprod(x, axis=0)", ((), (3,))), Case("np.median(x, 0)", ((0, 3), (3,))), Case("np.geomspace(x, y, 3)", ((3,), (3,)), ("u8", "u8")),
    Case("np.angle(x)", ((3,), (3,)), ("bool", "bool")), Case("np.modf(x)", ((3,), (3,)), ("i8", "i8")), Case("np.ix_(w)", ((3,), (3,))),
    Case("np.float_power(x, y)", ((3, 3), (3, 3)), ("i8", "f64")), Case("np.histogram(x)", ((), (3,))), Case("np.sum(x, dtype=np.float32)", ((3,), (3,))),
    Case("np.percentile(x, 30, keepdims=True)", ((), (3,))), Case("np.nanvar(x, ddof=3)", ((3,), (3,)), ("i32", "i32")), Case("np.size(x, None)", ((3,), (3,))),
    Case("np.repeat(x, 2, axis=-1)", ((), (3,))), Case("np.convolve(x, y, 'same')", ((), ())), Case("np.var(x, mean=0.5)", ((3,), (3,)), ("f32", "f32")),
    Case("np.concatenate(x)", ((2, 3), (3,))), Case("np.einsum('ij->ji', x)", ((2, 3), (3,))), Case("np.arctan2(x, y)", ((3,), (3,)), ("i8", "f64")),
    Case("np.average(x, None, y, True)", ((3,), (3,)), ("i8", "i8")), Case("np.average(x, 1, y, True)", ((2, 3), (3,)), ("f64", "f32")),
    Case("np.nan_to_num(x, nan=0.5)", ((3,), (3,)), ("i64", "i64")), Case("np.emath.power(2, x)", ((3,), (3,)), ("f32", "f32")),
    Case("np.linspace(x, 2, 1, retstep=True)", ((3,), (3,))), Case("np.pad(x > 1, 2, 'linear_ramp', end_values=1) * x[0]", ((3,), (3,))),
    Case("np.pad(x > 1, ((1, 0), (0, 2)), 'mean') * x[0, 0]", ((3, 3), (3,))), Case("np.pad(x > 1, 1, 'median') * x[0, 0]", ((2, 3), (3,))),
    *(Case(f"np.linalg.lstsq(x, {b})", (shape, (3,))) for b in ("x", "np.ones(x.shape[0])") for shape in ((0, 3), (3, 0), (0, 0), (2, 3))),
    *(Case(f"np.linalg.matrix_rank(x, {how})", (shape, (3,))) for how in ("rtol=0.5", "hermitian=True") for shape in ((0, 0), (3, 3))),
]  # fmt: skip


def check(some: list[Case]) -> collections.Counter[str]:
    """How many of some calls are right, refused, or not taken by NumPy; none may be anything else."""
    outcomes = [(case, *judged(case)) for case in some]
    wrong = [f"{case}: {verdict}: {words}" for case, verdict, words in outcomes if verdict not in ("right", "refused", "not taken")]
    assert not wrong, "\n".join(wrong[:20])
    return collections.Counter(verdict for _, verdict, _ in outcomes)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numpys_functions_are_numpys() -> None:
    assert check(cases()[::STEP])["right"] > 20


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", ONCE_WRONG, ids=str)
def test_what_was_wrong_is_right(case: Case) -> None:
    assert judged(case)[0] == "right", judged(case)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_all_calls_of_numpys_functions_are_numpys(part: int) -> None:
    assert check(cases()[part::PARTS])["right"] > 100


def test_the_functions_are_those_that_are_known() -> None:
    assert len(functions()) > 250
