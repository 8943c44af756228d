"""The pattern of every row contains each nonzero entry of its Jacobian, at the samples of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad.api  # noqa: F401  # enters all rows
from symgrad.ir.types import is_float
from symgrad.ops.declare import ROWS
from symgrad.sparsity.rules import RULES, dense, rule_of
from symgrad.sparsity.run import pattern_of
from tests.ops.samples import SAMPLES
from tests.ops.test_rows import active, outputs
from tests.tangent.test_rows import program

NAMES = [f"{k}-{text}" for k, (text, _) in enumerate(SAMPLES)]


def flat(values: list[Any]) -> np.ndarray:
    return np.concatenate([np.zeros(0), *(np.ravel(value) for value in values)])


def differences(text: str, args: dict[str, Any], results: list[int]) -> np.ndarray:
    """The Jacobian with a column for each element of the active arguments, by central differences."""
    columns = []
    for name in active(args):
        for place in np.ndindex(np.shape(args[name])):
            ends = []
            for step in (1e-6, -1e-6):
                moved = np.array(args[name], float)
                moved[place] += step
                outs = outputs(text, {**args, name: moved if isinstance(args[name], np.ndarray) else float(moved)})
                ends.append(flat([outs[k] for k in results]))
            columns.append((ends[0] - ends[1]) / 2e-6)
    return np.array(columns).T


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(4)
@pytest.mark.parametrize(("text", "args"), SAMPLES, ids=NAMES)
def test_patterns_hold_what_differences_find(text: str, args: dict[str, Any]) -> None:
    func = program(text, args)
    results = [k for k, out in enumerate(func.body.yields) if is_float(out.type)]
    wrt = [k for k, name in enumerate(args) if name in active(args)]
    actual = pattern_of(func, list(args.values()), wrt, results, {})
    expected = differences(text, args, results)

    pattern = np.zeros(actual.shape, bool)
    for row in range(actual.shape[0]):
        pattern[row, actual.columns[actual.offsets[row] : actual.offsets[row + 1]]] = True
    assert expected.size == 0 or expected.shape == pattern.shape
    if expected.size:
        assert not np.any((np.abs(expected) > 1e-5) & ~pattern)


def test_rules_are_of_rows() -> None:
    assert set(RULES) <= set(ROWS)


def test_a_row_without_a_rule_is_dense() -> None:
    assert rule_of(ROWS["eigh"]) is dense
