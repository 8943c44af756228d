"""Starred targets: operands x patterns, for arrays and lists of any length, compared with plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.against_numpy import function_of

SOURCES = {
    "an array": "x",
    "a slice": "x[1:]",
    "rows of a matrix": "np.outer(x, x)",
    "a list of any length": "[v * v for v in x]",
    "a list of known length": "[x[0], x[1] * 2, x[2], x[3]]",
    "a tuple": "(x[0], x[1] * 2, x[2])",
}
PATTERNS = {"a, *r": "a", "*r, a": "a", "a, *r, b": "a + 2.0 * b", "a, b, *r": "a + 2.0 * b"}
USES = {
    "read": ("pass", "sum(np.sum(v) * (i + 1) for i, v in enumerate(r)) + len(r)"),
    "stored to": ("r[0] = r[0] * 2", "sum(np.sum(v) * (i + 1) for i, v in enumerate(r)) + np.sum(s)"),
    "longer": ("r.append(a * 3)", "sum(np.sum(v) * (i + 1) for i, v in enumerate(r))"),
    "written through": ("r[0] *= 2", "np.sum(s) + np.sum(r[0]) * np.sum(r[-1])"),
}


def program(source: str, pattern: str, use: str) -> Callable[[Any], Any]:
    change, read = USES[use]
    lines = [f"s = {SOURCES[source]}", f"{pattern} = s", change, f"return np.sum({PATTERNS[pattern]}) * ({read})"]
    return function_of("import numpy as np\n\ndef f(x):\n" + "".join(f"    {line}\n" for line in lines))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_starred_target_takes_what_python_gives_it(source: str, pattern: str) -> None:
    x = np.array([0.3, 0.7, 0.4, 1.1])
    for use in USES:
        f = program(source, pattern, use)
        expected = f(x.copy())
        try:
            value, gradient = symgrad.value_and_grad(f, verify=False)(x.copy())
        except SymgradError:
            assert source not in ("a list of known length", "a tuple") and use != "read", use
            continue
        assert value == pytest.approx(expected, rel=1e-12), use
        differences = [(f(x + step) - f(x - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
        assert gradient == pytest.approx(differences, rel=1e-6, abs=1e-7), use


@pytest.mark.parametrize("n", [0, 1, 2])
def test_too_few_values_raise_as_in_python(n: int) -> None:
    f = function_of("def f(x):\n    a, b, *r = x\n    return a * b + sum(r)\n")
    x = np.linspace(0.5, 1.0, n)
    if n < 2:
        with pytest.raises(ValueError, match="not enough values to unpack"):
            f(x)
        with pytest.raises(ValueError, match="not enough values to unpack"):
            symgrad.grad(f, verify=False)(x)
    else:
        assert symgrad.grad(f)(x) == pytest.approx([1.0, 0.5])
