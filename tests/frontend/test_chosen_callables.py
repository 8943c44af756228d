"""A name that is one of several callables, each with values of its own: kinds x kinds x choices, against plain Python."""

from __future__ import annotations

from itertools import product

import pytest

from tests.plainly import check_kernel_and_second_derivative, verdict

HELPERS = """
from functools import partial
def scaled(k, v): return np.sum(k * v)
def bent(v, p=1.0): return v ** 2 * p
def make(k):
    def inner(v): return v * k + 1.0
    return inner
class C:
    def __init__(self, k): self.k = k
    def times(self, v): return self.k * v
    def keep(self, v):
        self.k += v
        return self.k * v
    def __call__(self, v): return v + self.k
o = C(0.6)
"""
#: callables of one number, made of ``u``, which has a value of its own on each path
KINDS = {
    "partial": "partial(scaled, {u})", "partial by name": "partial(bent, p={u})", "partial of an array": "partial(scaled, x * {u})",
    "partial of a partial": "partial(partial(scaled), {u})", "partial of a builtin": "partial(pow, {u})", "lambda": "(lambda v, u={u}: v * u)",
    "closure": "make({u})", "method": "C({u}).times", "method that stores": "C({u}).keep", "method of an array": "(lambda v, m=(x * {u}).sum: m() * v)",
    "instance": "C({u})", "function": "math.sin", "plain lambda": "(lambda v: v * a)", "method of an outer": "p.keep", "outside": "o.times",
}  # fmt: skip
CHOICES = {
    "branch": "if a > b:\n    u = a * 2.0\n    g = {one}\nelse:\n    u = b + a\n    g = {two}",
    "expression": "u = a * 1.5\ng = {one} if a > b else {two}",
    "fresh": "u = b\ng = {two}\nif a > b:\n    u = a * a\n    g = {one}",
    "nested": "u = a\ng = {two}\nif a > 0.5:\n    if b < 1.0:\n        u = b * b\n        g = {one}",
    "index": "u = a + b\ng = [{one}, {two}][n % 2]",
    "key": "u = a + b\ng = {{'one': {one}, 'two': {two}}}['one' if a > b else 'two']",
}
ARGUMENTS = [[0.9, 0.7, 4, [0.3, 0.4]], [0.4, 1.7, 3, [0.2, 0.8]]]


def program(one: str, two: str, choice: str) -> str:
    body = CHOICES[choice].format(**{name: KINDS[kind].format(u="u") for name, kind in (("one", one), ("two", two))})
    lines = ["x = np.array(x)", "p = C(b)", *body.splitlines(), "return g(a) * 2.0 + g(b * b) + p.k"]
    return HELPERS + "def f(a, b, n, x):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.sweep(40)
@pytest.mark.parametrize(("one", "two", "choice"), [*product(KINDS, KINDS, CHOICES)])
def test_the_callable_is_that_of_the_path(one: str, two: str, choice: str) -> None:
    for arguments in ARGUMENTS:
        answer = verdict(program(one, two, choice), arguments)
    assert answer == "right" or {"instance", "method that stores", "method of an outer"} & {one, two}


@pytest.mark.parametrize(("one", "two"), [("partial", "lambda"), ("method", "partial by name")])
def test_kernels_and_second_derivatives(one: str, two: str) -> None:
    for a, b, n, x in ARGUMENTS:
        check_kernel_and_second_derivative(program(one, two, "branch"), (a, b, n, x))
