"""Overlapping copies within an array: NumPy's result, or a refusal where it depends on NumPy's order."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import function_of, verdict

#: parts of a vector of 9 elements, each of 4
PARTS = (
    "a[:4]",
    "a[5:]",
    "a[2:6]",
    "a[::2][:4]",
    "a[1::2]",
    "a[::-1][:4]",
    "a[3::-1]",
    "a[::-2][:4]",
    "a[-4:]",
    "a[k:k + 4]",
    "a[1:8:2]",
    "a[7::-2]",
)


@pytest.mark.parametrize(("target", "source"), list(product(PARTS, repeat=2)))
def test_a_part_copied_to_another_is_numpys_or_refused(target: str, source: str) -> None:
    outcome = verdict(
        f"def f(x, k):\n    a = x * 1.0\n    {target}[...] = {source}\n    return np.sum(a * np.arange(1.0, 10.0))\n",
        [np.linspace(0.3, 1.9, 9), 2],
    )
    steps = [{"a[::-2][:4]": -2, "a[7::-2]": -2, "a[::-1][:4]": -1, "a[3::-1]": -1, "a[::2][:4]": 2, "a[1::2]": 2, "a[1:8:2]": 2}.get(p, 1)
             for p in (target, source)]  # fmt: skip
    if steps[0] == steps[1] or steps[0] * steps[1] < 0:
        assert outcome == "right"


@pytest.mark.parametrize("store", ["a[:5] = a[::2]", "a[1::2] = a[:4]", "a[::2] = a[:5].copy()", "a[:4] = a[1::2]"])
def test_what_numpy_copies_in_an_order_that_does_no_harm_is_right(store: str) -> None:
    text = f"def f(x):\n    a = x * 1.0\n    {store}\n    return np.sum(a * np.arange(1.0, 10.0))\n"
    assert verdict(text, [np.linspace(0.3, 1.9, 9)]) == "right"


def test_the_way_out_of_an_order_that_counts() -> None:
    f = function_of("import numpy as np\ndef f(x):\n    a = x * 1.0\n    a[::2] = a[:5]\n    return np.sum(a)\n")
    with pytest.raises(UnsupportedSyntax, match="the result depends on NumPy's copy order") as refusal:
        symgrad.grad(f)(np.linspace(0.3, 1.9, 9))
    assert refusal.value.hint == "make a copy of the right side"
    mended = function_of("import numpy as np\ndef f(x):\n    a = x * 1.0\n    a[::2] = a[:5].copy()\n    return np.sum(a)\n")
    assert symgrad.grad(mended)(np.linspace(0.3, 1.9, 9)) == pytest.approx([1, 2, 1, 2, 1, 1, 0, 1, 0])


@pytest.mark.parametrize(
    ("store", "initial"),
    [
        ("a[1] = a[:, 2]", "refused"),
        ("a[:, 1] = a[0]", "refused"),
        ("a.T[1] = a[1]", "right"),  # a column becomes the row of the same place: the cell of both is copied to itself
        ("a[:, 0] = a[0]", "right"),
        ("a[k] = a[:, k]", "right"),
        ("a[..., 2] = a[2, ...]", "right"),
        ("a[:, -1] = a[-1]", "right"),
        ("c = a[:, 0]\n    c[...] = a[0]\n    a[0] = c", "right"),
        ("for i in range(3):\n        a[i] = a[:, i]", "right"),
        ("a[1:, 1] = a[1, 1:]", "refused"),
        ("a.T[1] = a[2]", "refused"),
        ("a[1] = a[2]", "right"),
        ("a[:, 1] = a[:, 0]", "right"),
        ("a[k] = a[k - 1]", "right"),
        ("a[k, 1:] = a[k, :-1]", "right"),
        ("a[k, ::2] = a[k - 1, :2]", "right"),
        ("a[1, ::2] = a[2, :2]", "right"),
        ("a[k] = a[k, ::-1]", "right"),
        ("a[..., 1] = a[..., 2]", "right"),
        ("a.T[1] = a.T[2]", "right"),
        ("a[k][::2] = a[k][:2]", "refused"),
        ("a[1] = a[:, 2].copy()", "right"),
        ("a[1:] = a[:-1]", "right"),
        ("a[:] = a.T", "right"),
        ("a[0] = np.diag(a)", "right"),  # the cell of both is copied to itself
        ("a[:, 1] = np.diagonal(a)", "right"),
        ("a.T[k] = a.diagonal(0, 1, 0)", "right"),
        ("a[1, :2] = np.diag(a, 1)", "refused"),
        ("a[1, ::2] = np.diag(a)[:2]", "refused"),
        ("a[1] = np.diag(a[::-1])", "refused"),
        ("a[1] = np.broadcast_to(a[0, 2:], 3)", "refused"),
        ("a[1, :2] = np.diag(a, 1).copy()", "right"),
    ],
)
def test_rows_and_columns_of_a_matrix(store: str, initial: str) -> None:
    text = f"def f(x, k):\n    a = np.outer(x, x * x)\n    {store}\n    return np.sum(a * np.arange(9.0).reshape(3, 3))\n"
    assert verdict(text, [np.array([0.7, 0.9, 1.3]), 2]) == initial
