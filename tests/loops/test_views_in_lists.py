"""Kernels whose lists hold views of arrays that are stored to, compared with differences and Python.

Where nothing is stored behind a view, the kernel has it; where something is, NumPy code runs. The verdict is right either way.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import symgrad

VECTOR = np.array([0.3, -0.7, 1.2])
MATRIX = np.arange(6.0).reshape(3, 2) * 0.3 - 0.4
#: bodies of a function of ``x``, a vector, and whether a kernel holds them
BODIES = {
    "stored before": ("y = x * 1.0\ny[0] = 2.0 * x[1]\nl = [y[i:] for i in range(3)]\nreturn sum([np.sum(v * v) for v in l])", True),
    "stored behind": ("y = x * 1.0\nl = [y[i:] for i in range(3)]\ny[1] = x[0] * 3.0\nreturn sum([np.sum(v * v) for v in l])", False),
    "stored in each round": ("l = []\ny = x * 1.0\nfor i in range(3):\n    y[i] = y[i] * x[0]\n    l.append(y[i:])\nreturn sum([np.sum(v * v) for v in l])", False),
    "one array, again and again": ("l = []\ny = x * 1.0\nfor i in range(3):\n    l.append(y)\n    y *= 1.5\nreturn sum([np.sum(v * x) for v in l])", True),
    "new in each round, stored on a path": (
        "l = []\nfor i in range(3):\n    y = 1 + x\n    y *= np.cos(x[0])\n    if i > 0:\n        y *= np.sin(x[i])\n    l.append(y)\nt = np.column_stack(l)\nreturn np.sum(t * t[0])",
        True,
    ),
    "elements": ("l = [x[..., i] for i in range(x.shape[-1])]\nt = np.array(l)\nreturn np.sum(t * t[0])", True),
    "elements stored before": ("y = x * 2.0\ny[0] = 7.0 * x[1]\nl = [y[..., i] for i in range(3)]\nreturn l[0] * l[1] + l[2]", True),
    "elements stored behind": ("y = x * 2.0\nl = [y[..., i] for i in range(3)]\ny[0] = 7.0 * x[1]\nreturn l[0] * l[1] + l[2]", False),
    "elements stored between": (
        "y = x * 2.0\nl = []\nfor i in range(3):\n    l.append(y[..., i])\n    y[0] = y[0] * x[1]\nreturn l[0] * l[1] + l[2]", False,
    ),
    "rows": ("y = np.outer(x, x)\ny[0, 0] = x[1]\nl = [r for r in y]\nreturn sum([np.sum(r * x) for r in l])", True),
    "rows stored behind": ("y = np.outer(x, x)\nl = [r for r in y]\ny[0, 0] = x[1]\nreturn sum([np.sum(r * x) for r in l])", False),
    "columns": (
        "t = np.zeros((3, 3))\nfor i in range(3):\n    t[i] = x * i + x[0]\nl = [t[:, i] for i in range(3)]\nreturn np.sum(np.stack(l) * x)", True,
    ),
    "unpacked": ("a, b, c = np.array([x[..., i] for i in range(3)])\nreturn a * b + c * c", True),
    "nans beside": ("return np.nanmax(x) * np.nanmin(x) + np.nansum(x * x)", True),
}  # fmt: skip


def function_of(body: str) -> Any:
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return symgrad.from_source(text, "f", {"np": np, "__name__": "views"})


def check(function: Any, x: Any, held: bool | None) -> None:
    """A kernel against the plain function and its differences, and the NumPy code; ``held``: must it be one?"""
    plain = function(x.copy())
    moved = [[function(x + h * unit.reshape(x.shape)) for h in (1e-6, -1e-6)] for unit in np.eye(x.size)]
    slopes = np.reshape([(ahead - behind) / 2e-6 for ahead, behind in moved], x.shape)
    for jit in (False, "numba"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            value, gradient = symgrad.value_and_grad(function, jit=jit)(x.copy())
        assert value == pytest.approx(plain, rel=1e-12)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)
        assert not (jit and held and told), told[0].message


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", BODIES)
def test_views_of_vectors(name: str) -> None:
    body, held = BODIES[name]
    check(function_of(body), VECTOR, held)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("layout", ["C", "F", "strided"])
def test_columns_of_matrices(layout: str) -> None:
    matrix = {"C": MATRIX, "F": np.asfortranarray(MATRIX), "strided": np.repeat(np.repeat(MATRIX, 2, 0), 2, 1)[::2, ::2]}[layout]
    check(
        function_of("a, b = np.array([x[..., k] for k in range(x.shape[-1])])\nreturn np.sum(a * b) + np.sum(x[:, 1:] * x)"), matrix, True
    )
