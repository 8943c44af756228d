"""Partials of rows against sympy: the committed file is current; hand-written partials equal the formula's."""

from __future__ import annotations

import pytest
import sympy

from symgrad.ops import spelling
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.derive import derive, namespace, say, written
from symgrad.ops.derived import DERIVED
from symgrad.ops.rows.elementwise import FORMULAS, elementwise

assert spelling.CALLABLES
WITH_FORMULA = [row for row in ROWS.values() if row.elementwise and row.formula and row.partials]


def test_the_committed_partials_are_those_that_sympy_derives() -> None:
    import symgrad.ops.derived as module

    with open(str(module.__file__)) as file:
        assert file.read() == written(FORMULAS)
    assert set(DERIVED) == set(FORMULAS)


def meaning(row: Row, text: str) -> sympy.Expr:
    """A partial as a sympy expression, rows with a formula said in it, parameters positive."""
    names = namespace(row.params, positive=True)
    x = sympy.Symbol("x")
    names |= {
        "lowered": lambda y: y - 1, "log_of_base": sympy.log, "ratio": lambda x, y: x / y, "slope_power": lambda x, y, order=1: x**y,
        "order": 1, "math_log": sympy.log, "via": None,
        "exp2": lambda y: 2**y, "sinc_slope": lambda y, n: sympy.diff(sympy.sin(sympy.pi * x) / (sympy.pi * x), x, n).subs(x, y),
    }  # fmt: skip
    for name in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "erf", "erfc"):
        names[name] = lambda y, via=None, name=name: getattr(sympy, name)(y)
    names["out"] = sympy.sympify(row.formula, locals=names)
    return eval(text, {}, names)  # type: ignore[no-any-return]


@pytest.mark.parametrize("row", WITH_FORMULA, ids=lambda r: r.name)
def test_partials_are_the_derivatives_of_the_formula(row: Row) -> None:
    names = namespace(row.params, positive=True)
    whole = sympy.sympify(row.formula, locals=names)
    for p, text in row.partials.items():
        difference = meaning(row, text) - sympy.diff(whole, names[p])
        values = {names[q]: sympy.Rational(7 + 3 * k, 10 + k) for k, q in enumerate(row.params)}

        assert sympy.simplify(difference) == 0 or abs(sympy.N(difference.subs(values), 30)) < 1e-14, (p, text)


def test_partials_are_said_as_one_would_write_them() -> None:
    assert derive(["x"], "tanh(x)") == {"x": "1 - out * out"}
    assert derive(["x"], "exp(x)") == {"x": "out"}
    assert derive(["x"], "sqrt(x)") == {"x": "0.5 / out"}
    assert derive(["x", "y"], "sqrt(x**2 + y**2)") == {"x": "x / out", "y": "y / out"}
    assert derive(["x", "y"], "x / y") == {"x": "1 / y", "y": "-(out / y)"}
    assert derive(["x", "y"], "x + y") == {"x": "1", "y": "1"}


def test_sums_and_quotients_keep_their_parentheses() -> None:
    a, b = sympy.symbols("a b")

    assert say((a + b) ** 2 / (a - b)) == "(a + b) * (a + b) / (a - b)"
    assert say(-a / b + 1) == "1 - (a / b)"


def test_a_new_formula_is_derived_when_it_is_declared() -> None:
    try:
        row = elementwise("softplus_of_tests(x) = log(1 + exp(x))")
        assert "exp(x)" in row.partials["x"]
    finally:
        ROWS.pop("softplus_of_tests", None)
        FORMULAS.pop("softplus_of_tests(x) = log(1 + exp(x))", None)


def test_a_partial_of_no_param_is_refused() -> None:
    with pytest.raises(ValueError, match="no parameter"):
        elementwise("f_of_tests(x) = x", dz="1")
