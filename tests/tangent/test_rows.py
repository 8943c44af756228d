"""The tangent of every row against differences, at the samples of the rows; completeness of the table of push-forwards."""

from __future__ import annotations

import ast
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad.api  # noqa: F401  # enters all rows
from symgrad.adjoint.expand import Expansion, parsed
from symgrad.codegen.header import plain_header
from symgrad.codegen.python import emit
from symgrad.ir.core import Block, Func, Operand, Value
from symgrad.ir.types import is_float
from symgrad.ir.verify import verify
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from symgrad.ops.tangents import APART, PUSHED, TOGETHER, checked
from symgrad.pipeline.registry import OPTIMISE, PRINTABLE
from symgrad.pipeline.runner import run
from symgrad.runtime.load import load
from symgrad.tangent.write import push_forward
from tests.ops import trace
from tests.ops.samples import SAMPLES
from tests.ops.test_rows import active, outputs

RNG = np.random.default_rng(17)
NAMES = [f"{k}-{text}" for k, (text, _) in enumerate(SAMPLES)]


def program(text: str, args: dict[str, Any]) -> Func:
    """A function of one call of a row, or of a few that stand in one another."""
    params = {name: Value(trace.type_of(value), name) for name, value in args.items()}
    builder = Builder(Block(list(params.values())))
    node = parsed(text)
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    row = ROWS[node.func.id]
    if len(row.outs) == 1:
        result = Expansion(builder, dict(params)).value(node)
        outs: list[Operand] = [result]
    else:
        outs = [*builder.call_many(row.name, *params.values())]
    builder.block.yields = outs
    return Func("row", builder.block, [f"out{k}" for k in range(len(outs))])


def direction(x: Any) -> Any:
    return float(RNG.normal()) if isinstance(x, float) else RNG.normal(size=np.shape(x))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(6)
@pytest.mark.parametrize(("text", "args"), SAMPLES, ids=NAMES)
def test_tangents_agree_with_differences(text: str, args: dict[str, Any]) -> None:
    func = program(text, args)
    wrt = [k for k, name in enumerate(args) if name in active(args)]
    results = [k for k, out in enumerate(func.body.yields) if is_float(out.type)]
    forward = push_forward(func, wrt, results)
    verify(forward)
    forward = run(PRINTABLE, run(OPTIMISE, forward))
    header = plain_header(forward, set())
    emitted = emit(forward, header)
    steps = {name: direction(args[name]) for name in active(args)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        returned = load(emitted.text, header.name, emitted.namespace)(*args.values(), *steps.values())
    values, tangents = returned[: len(func.body.yields)], returned[len(func.body.yields) :]
    h = 1e-6
    ends = [outputs(text, {k: v + s * h * steps[k] if k in steps else v for k, v in args.items()}) for s in (1, -1)]

    for value, expected in zip(values, outputs(text, args), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-14)
    for k, tangent in zip(results, tangents, strict=True):
        assert np.shape(tangent) == np.shape(values[k])
        np.testing.assert_allclose(tangent, np.subtract(ends[0][k], ends[1][k]) / (2 * h), rtol=2e-6, atol=1e-6)


def test_the_tables_name_rows_and_operands_that_pass_a_derivative_on() -> None:
    assert checked() == []


def test_no_row_is_in_two_tables() -> None:
    for one, other in ((TOGETHER, APART), (TOGETHER, PUSHED)):
        assert not set(one) & set(other)
    assert [name for table in (TOGETHER, PUSHED) for name in table if ROWS[name].linear] == []


def test_the_tangents_of_both_operands_of_solve_take_one_equation() -> None:
    a, b = np.array([[2.0, 0.3], [-0.4, 1.5]]), np.array([0.7, -1.1])
    da, db, h = np.cos(a), np.sin(b), 1e-6

    derivative = symgrad.jvp(lambda a, b: np.linalg.solve(a, b))

    expected = (np.linalg.solve(a + h * da, b + h * db) - np.linalg.solve(a - h * da, b - h * db)) / (2 * h)
    np.testing.assert_allclose(derivative((a, b), (da, db))[1], expected, rtol=1e-8)
    assert derivative.source(a, b).count("solve(") == 2
