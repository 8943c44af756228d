"""Removal of stores that clear cotangents: which are removed, and that results stay the same."""

from __future__ import annotations

import numpy as np
import pytest
from interpreter import oracle

import symgrad.compile  # all rows
from symgrad.adjoint.analysis.reductions import cleared
from symgrad.ir.core import Call, walk
from symgrad.ir.parse import parse
from symgrad.ir.verify import verify

TEXT = """\
func f(x: {dtype}[!x0], y: f64[!x0], i: int, j: int) -> {dtype}[!x0]:
    g.0 = copy(x) : {dtype}[!x0]
    %0 = take_written({read}, {taken}, index="i") : scalar {dtype_read}
    g.1 = set_at(g.0, {content}, i, index="i") : {dtype}[!x0]
    g.2 = add_at(g.1, %0, {added}, index="i") : {dtype}[!x0]
    return g.2
"""
USUAL = {"dtype": "f64", "dtype_read": "f64", "read": "g.0", "taken": "i", "content": "0.0", "added": "i"}
OTHERS = [{}, {"added": "j"}, {"taken": "j"}, {"content": "1.0"}, {"read": "y"}, {"dtype": "f32", "read": "y"}]


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_a_cell_that_is_taken_cleared_and_added_again_stays_as_it_was(other: dict[str, str]) -> None:
    func, kept = (parse(TEXT.format(**(USUAL | other))) for _ in range(2))
    verify(func)
    removed = cleared(func.body, {})
    verify(func)
    arguments = [np.array([0.5, -1.5, 2.5], func.params[0].type.dtype.replace("f", "float")), np.array([3.0, 4.0, 5.0]), 1, 2]

    assert removed == (not other)
    assert any(isinstance(op, Call) and op.name == "add_at" for op in walk(func.body)) == bool(other)
    np.testing.assert_array_equal(oracle(func, arguments)[0], oracle(kept, arguments)[0])


assert symgrad.compile.__all__
