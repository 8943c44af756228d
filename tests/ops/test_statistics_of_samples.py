"""Means, moments and scores of ``scipy.stats``: functions x samples x axes x options, values as SciPy's, gradients as differences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

pytest.importorskip("scipy")

HEAD = "import numpy as np\nfrom scipy import stats\nW = np.array([0.4, 1.5, 0.7, 1.1])\n"
#: calls with a sample ``a``; AXIS is replaced by the axis
CALLS = [
    "stats.gmean(a, AXIS)", "stats.gmean(a, AXIS, keepdims=True)", "stats.hmean(a, axis=AXIS)", "stats.pmean(a, 2.5, axis=AXIS)",
    "stats.pmean(a, 0, axis=AXIS)", "stats.pmean(a, -1, axis=AXIS)", "stats.moment(a, 3, AXIS)", "stats.moment(a, 2, axis=AXIS, center=0.3)",
    "stats.moment(a, 1, AXIS)", "stats.moment(a, 0, AXIS)", "stats.moment(a, 1, AXIS, center=0.5)", "stats.skew(a, AXIS)",
    "stats.skew(a, AXIS, bias=False)", "stats.kurtosis(a, AXIS)", "stats.kurtosis(a, AXIS, fisher=False)",
    "stats.kurtosis(a, AXIS, bias=False)", "stats.sem(a, AXIS)", "stats.sem(a, AXIS, ddof=0)", "stats.variation(a, AXIS)",
    "stats.variation(a, AXIS, ddof=1)", "stats.zscore(a, AXIS)", "stats.zscore(a, AXIS, ddof=1)", "stats.zmap(a, a * 2, AXIS)",
    "stats.iqr(a, AXIS)", "stats.iqr(a, axis=AXIS, rng=(20, 60), scale=2.0)", "stats.trim_mean(a, 0.25, AXIS)", "stats.trim_mean(a, 0.0, AXIS)",
    "stats.entropy(a, axis=AXIS)", "stats.entropy(a, a[::-1], axis=AXIS)", "stats.entropy(a, base=2, axis=AXIS)",
    "stats.scoreatpercentile(a, 35.0, axis=AXIS)", "stats.scoreatpercentile(a, 75, (), 'lower', AXIS)",
    "stats.scoreatpercentile(a, [20, 60], axis=AXIS)",
]  # fmt: skip
SAMPLES = {
    "a vector": np.array([0.7, 1.9, 1.1, 2.3]),
    "a matrix": np.array([[0.7, 1.9, 1.1, 2.3], [0.4, 0.9, 1.6, 0.2], [1.3, 0.5, 2.1, 0.8], [1.2, 2.2, 0.3, 1.4]]),
    "narrow": np.array([0.7, 1.9, 1.1, 2.3], np.float32),
    "not in a row": np.arange(1.0, 9.0)[::2] ** 0.5,
}
AXES = ["0", "-1", "None"]


@pytest.mark.sweep(8)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "axis"), list(itertools.product(CALLS, AXES)))
@pytest.mark.parametrize("sample", SAMPLES)
def test_statistics_of_samples(call: str, axis: str, sample: str) -> None:
    function = function_of(f"{HEAD}def f(a):\n    return {call.replace('AXIS', axis)}\n")
    verdict, why = judged(function, {"a": SAMPLES[sample]}, kinks=True)
    assert verdict in ("right", "not taken"), why


#: samples where SciPy says nan or infinity, or warns
ODD = {
    "constant": np.full(4, 0.7), "nearly constant": 0.7 + 1e-17 * np.arange(4.0), "one element": np.array([0.7]), "negative": np.array([-0.7, 1.2, 0.4, 0.9]),
    "zero": np.array([0.0, 1.2, 0.4, 0.9]), "not a number": np.array([np.nan, 1.2, 0.4, 0.9]), "whole": np.array([3, 1, 4, 2]),
    "a list": [0.7, 1.9, 1.1, 2.3],
}  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("sample", ODD)
@pytest.mark.parametrize("call", CALLS)
def test_values_of_odd_samples(call: str, sample: str) -> None:
    """What the gradient is there, nobody says: the value is SciPy's, or it is refused."""
    import symgrad

    function = function_of(
        f"{HEAD}def f(c, a):\n    made = {call.replace('AXIS', '0')}\n    return c * np.sum(made * np.arange(1.0, 1 + np.size(made)).reshape(np.shape(made)))\n"
    )
    try:
        expected = function(1.0, ODD[sample])
    except Exception:
        pytest.skip("SciPy raises")
    try:
        value, _ = symgrad.value_and_grad(function, verify=False)(1.0, ODD[sample])
    except symgrad.SymgradError as error:
        assert not isinstance(error, symgrad.errors.InvalidIR | symgrad.errors.Mismatch), error
        return
    np.testing.assert_allclose(value, expected, rtol=1e-9)


@pytest.mark.parametrize(
    "call",
    [
        "stats.gmean(a, weights=W)",
        "stats.hmean(a, weights=W)",
        "stats.pmean(a, 2.0, weights=W)",
        "stats.gmean(a, weights=np.array([1, 2, 1, 3]))",
    ],
)
def test_weighted_means(call: str) -> None:
    assert judged(function_of(f"{HEAD}def f(a):\n    return {call}\n"), {"a": SAMPLES["a vector"]}) == ("right", "")


def test_options_that_are_not_supported_are_refused() -> None:
    import symgrad

    function = function_of(f"{HEAD}def f(a):\n    return stats.skew(a, nan_policy='omit')\n")
    with pytest.raises(symgrad.SymgradError, match="nan_policy is supported as 'propagate'"):
        symgrad.grad(function)(SAMPLES["a vector"])
    function = function_of(f"{HEAD}def f(a):\n    return stats.skew(a, nan_policy='propagate')\n")
    assert judged(function, {"a": SAMPLES["a vector"]}) == ("right", "")
