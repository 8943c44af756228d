"""Operators and functions of ``operator`` x kinds of operands: results and exceptions of Python."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR, Mismatch
from symgrad.ops.composed.operators import FUNCTIONS
from tests.against_numpy import function_of

OPERANDS = {
    "float": "x", "int": "3", "negative": "-2", "bool": "True", "list": "[x, 2.0, 3]", "tuple": "(x, 2.0)", "text": "'ab'", "array": "a",
    "integers": "np.array([1, 2])", "none": "None", "dict": "{0: x, 3: 2.0}",
}  # fmt: skip
NAMES = sorted({f.__name__ for f in FUNCTIONS} - {"setitem", "delitem", "call", "methodcaller"})
UNARY = frozenset({"neg", "pos", "invert", "inv"})
HEAD = """import operator
import numpy as np
def total(r):
    if isinstance(r, (list, tuple)):
        return sum(total(v) for v in r)
    return 0.0 if r is None or isinstance(r, str) else np.sum(r)
"""


def outcome(call: Any) -> Any:
    """The value of a call, or that it raises."""
    try:
        return float(call())
    except (InvalidIR, Mismatch):
        raise
    except Exception as error:
        return type(error)


def same(name: str, operands: str) -> None:
    text = f"{HEAD}def f(x):\n    a = np.array([x, 2.0 * x])\n    r = operator.{name}({operands})\n    return total(r) + 0.5 * x\n"
    function = function_of(text)
    expected, got = outcome(lambda: function(1.3)), outcome(lambda: symgrad.value_and_grad(function, verify=False)(1.3)[0])
    if isinstance(expected, float) and isinstance(got, float):
        assert got == pytest.approx(expected, rel=1e-12, nan_ok=True), text
        slope = (function(1.3 + 1e-6) - function(1.3 - 1e-6)) / 2e-6
        assert symgrad.grad(function)(1.3) == pytest.approx(slope, rel=1e-5, abs=1e-6, nan_ok=True), text
    elif not isinstance(expected, float):
        assert not isinstance(got, float), (text, expected)


@pytest.mark.sweep(24)
@pytest.mark.parametrize("kind", OPERANDS)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore")
def test_a_function_gives_what_python_gives(name: str, kind: str) -> None:
    one = OPERANDS[kind]
    for other in [""] if name in UNARY else OPERANDS.values():
        same(name, f"{one}, {other}" if other else one)


@pytest.mark.parametrize("name", NAMES)
def test_operands_have_no_names(name: str) -> None:
    with pytest.raises(TypeError):
        getattr(operator, name)(a=1, b=2)
    with pytest.raises(Exception, match=r".") as raised:
        symgrad.grad(function_of(f"{HEAD}def f(x):\n    return x * operator.{name}(a=x, b=2)\n"), verify=False)(1.3)
    assert not isinstance(raised.value, InvalidIR | Mismatch)


def test_arrays_are_not_concatenated() -> None:
    with pytest.raises(TypeError):
        operator.concat(np.ones(2), np.ones(2))
    for name in ("concat", "iconcat"):
        with pytest.raises(symgrad.SymgradError, match="only lists, tuples and strings are concatenated"):
            symgrad.grad(function_of(f"{HEAD}def f(x):\n    return np.sum(operator.{name}(x, x))\n"))(np.ones(2))


OWN = """
class Own:
    def __init__(self, v):
        self.v = v
    def __radd__(self, other):
        return np.sin(self.v) * len(other)
    def __iter__(self):
        return iter([self.v])
"""
AUGMENTED = {
    "an array": ("l = [x, 2.0]; m = l", "l += np.array([x, 3.0 * x])", "np.sum(l) + 2.0 * sum(m)"),
    "a number of NumPy's": ("l = [x, 2.0]; m = l", "l += np.float64(2.0)", "np.sum(l) + 2.0 * sum(m)"),
    "an array into a tuple": ("l = (x, 2.0)", "l += np.array([x, x])", "np.sum(l)"),
    "a list": ("l = [x, 2.0]; m = l", "l += [x]", "np.sum(l) + 2.0 * sum(m)"),
    "an instance with an addition of its own": ("l = [x, 2.0]; m = l", "l += Own(x)", "np.sum(l) + 2.0 * sum(m)"),
    "an array to a list of any length": ("l = [v for v in np.full(3, x)]; m = l", "l += np.full(3, x)", "np.sum(l) + 2.0 * sum(m)"),
    "a number to a list of any length": ("l = [v for v in np.full(3, x)]; m = l", "l += np.sin(x)", "np.sum(l) + 2.0 * sum(m)"),
    "an array as factor": ("l = [x, 2.0]; m = l", "l *= np.array([2, 3])", "np.sum(l) + 2.0 * sum(m)"),
    "a number as factor": ("l = [x, 2.0]; m = l", "l *= 2", "np.sum(l) + 2.0 * sum(m)"),
    "a product of matrices": ("l = np.ones((2, 2)) * x", "l @= np.array([[x, 1.0], [2.0, x]])", "np.sum(l)"),
    "a product of a matrix and lists": ("l = np.ones((2, 2)) * x", "l @= [[x, 1.0], [2.0, x]]", "np.sum(l)"),
}


@pytest.mark.parametrize("case", AUGMENTED)
def test_an_operator_in_place_asks_the_operand_that_python_asks(case: str) -> None:
    before, change, after = AUGMENTED[case]
    for place in ("    {}\n", "    if x > 1.0:\n        {}\n", "    for _ in range(1):\n        {}\n"):
        f = function_of(f"{HEAD}{OWN}\n\ndef f(x):\n    {before}\n" + place.format(change) + f"    return {after}\n")
        try:
            value, slope = symgrad.value_and_grad(f)(1.3)
        except symgrad.SymgradError:  # an array of one of two classes, by the path
            assert place != "    {}\n"
            continue
        assert value == pytest.approx(f(1.3), rel=1e-12)
        assert slope == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)


@pytest.mark.parametrize("operand", ["np.array([x, 2.0])", "[x, 2.0]", "x"])
def test_a_product_of_matrices_in_place_needs_a_matrix(operand: str) -> None:
    f = function_of(f"import numpy as np\n\ndef f(x):\n    a = np.array([x, 2.0 * x])\n    a @= {operand}\n    return np.sum(a)\n")
    with pytest.raises(ValueError, match=r".") as plain:
        f(1.3)
    with pytest.raises(ValueError, match=r".") as raised:
        symgrad.grad(f, verify=False)(1.3)
    assert ("inplace" in str(raised.value)) == ("inplace" in str(plain.value))


def test_a_number_of_pythons_has_no_items() -> None:
    f = function_of("def f(x):\n    try:\n        return x[None]\n    except TypeError as error:\n        return x * len(str(error))\n")
    assert symgrad.value_and_grad(f)(1.3) == (f(1.3), len("'float' object is not subscriptable"))


@pytest.mark.parametrize("power", ["a ** 'ab'", "a * 'ab'", "np.power(a, 'ab')"])
def test_an_array_and_a_text_are_no_operands(power: str) -> None:
    f = function_of(f"import numpy as np\n\ndef f(x):\n    a = np.array([x, 2.0 * x])\n    return np.sum({power})\n")
    with pytest.raises(TypeError, match="ufunc"):
        symgrad.grad(f, verify=False)(1.3)


@pytest.mark.parametrize("operation", ["l + {}", "{} + l", "l - {}", "{} - l", "l / {}", "{} / l", "l ** {}", "l * {}", "l % {}"])
@pytest.mark.parametrize("number", ["x[0]", "np.sum(x)", "np.float64(2.0)"])
@pytest.mark.parametrize("source", ["[v for v in x]", "[x[0], x[1], 2.0]"])
def test_a_list_and_a_number_of_numpys(operation: str, number: str, source: str) -> None:
    f = function_of(f"{HEAD}def f(x):\n    l = {source}\n    return np.sum({operation.format(number)}) * 1.0\n")
    x = np.array([0.3, 0.7, 0.4])
    try:
        expected = f(x.copy())
    except TypeError:  # a list is repeated by integers only
        assert operation == "l * {}"
        with pytest.raises((TypeError, symgrad.SymgradError)):
            symgrad.grad(f, verify=False)(x)
        return
    value, gradient = symgrad.value_and_grad(f, verify=False)(x.copy())
    assert value == pytest.approx(expected, rel=1e-12)
    assert gradient == pytest.approx([(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(3)], rel=1e-6, abs=1e-8)
