"""Arguments that are the same object in two places have code of their own, whatever was called first."""

from __future__ import annotations

import copy
import runpy
from dataclasses import dataclass
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

import symgrad
from symgrad.errors import NotActiveWarning, UnsureAlias
from tests.plainly import function_of


@dataclass
class Held:
    k: float


#: an object, how it is changed through ``p``, and what is read of ``q``
KINDS: dict[str, tuple[Any, str, str]] = {
    "dict": ({"k": 2.0, "n": 1}, "p['k'] = p['k'] * 3", "q['k']"),
    "mixed list": ([2.0, "s"], "p[0] = p[0] * 3", "q[0]"),
    "list of floats": ([2.0, 1.0], "p[0] = p[0] * 3", "q[0]"),
    "instance": (Held(2.0), "p.k = p.k * 3", "q.k"),
    "nested": ({"in": {"k": 2.0}}, "p['in']['k'] = p['in']['k'] * 3", "q['in']['k']"),
}
QUESTIONS = {
    "stored": "    {store}\n    return {read} ** 2\n",
    "stored in a loop": "    for i in range(2):\n        {store}\n    return {read} ** 2\n",
    "identity": "    return {read} * (2 if p is q else 3)\n",
    "read": "    return {read} ** 2\n",
}


def pair(held: Any, shared: bool) -> tuple[Any, Any]:
    """A new object twice, or two."""
    one = copy.deepcopy(held)
    return one, one if shared else copy.deepcopy(held)


@pytest.mark.parametrize(("kind", "question"), list(product(KINDS, QUESTIONS)))
def test_one_object_in_two_places(kind: str, question: str) -> None:
    held, store, read = KINDS[kind]
    text = "def f(p, q, w):\n" + QUESTIONS[question].format(store=store, read=read).replace("return ", "return w * ")
    for order in permutations((True, False, True)):
        f = function_of(text)
        derived = symgrad.value_and_grad(f, wrt="w")
        for shared in order:
            value, slope = derived(*pair(held, shared), 0.5)
            assert (value, slope) == pytest.approx((f(*pair(held, shared), 0.5), f(*pair(held, shared), 1.0)))


def test_the_gradient_of_one_object_is_that_of_both_names() -> None:
    f = function_of("def f(p, q):\n    p['k'] = p['k'] * 3\n    return q['k'] ** 2\n")
    held = {"k": 2.0}

    assert symgrad.value_and_grad(f, wrt=("p", "q"), allow_unused=True)(held, held) == (36.0, ({"k": 36.0}, {"k": 36.0}))
    with pytest.raises(UnsureAlias, match="p and q are the same object"):
        symgrad.grad(f, wrt=("p", "q"))(held, held)


def test_a_saved_derivative_is_of_objects_that_are_two(tmp_path: Path) -> None:
    f = function_of("def f(p, q):\n    p.append(q[0])\n    return p[0] * q[1] + len(q)\n")
    derivative = symgrad.grad(f, wrt=("p", "q"))
    symgrad.save(derivative, tmp_path / "saved.py", [1.0, 2.0], [3.0, 4.0])
    space: dict[str, Any] = runpy.run_path(str(tmp_path / "saved.py"))
    held = [3.0, 4.0]

    assert space["f_grad"]([1.0, 2.0], held) == ([4.0, 0.0], [0.0, 1.0])
    with pytest.raises(TypeError, match="was made for"):
        space["f_grad"](held, held)


class Attributes:
    """An instance that has whatever attributes it is given."""


def test_an_object_is_found_in_two_places_whatever_its_attributes_are_called() -> None:
    f = function_of("def f(p, q):\n    setattr(p, 'a b', getattr(p, 'a b') * 3)\n    return getattr(q, 'a b') ** 2\n")
    one, other = Attributes(), Attributes()
    vars(one)["a b"], vars(other)["a b"] = 2.0, 5.0
    both = symgrad.value_and_grad(f, wrt=("p", "q"), allow_unused=True)

    value, gradients = both(one, other)
    assert (value, *(vars(g)["a b"] for g in gradients)) == (25.0, 0.0, 10.0)
    value, gradients = both(other, other)
    assert (value, *(vars(g)["a b"] for g in gradients)) == (225.0, 90.0, 90.0)


def test_that_a_gradient_is_zero_is_told_of_the_code_that_is_used() -> None:
    f = function_of("def f(p, q):\n    p['k'] = p['k'] * 3\n    return q['k'] ** 2\n")
    held = {"k": 2.0}

    assert symgrad.grad(f, wrt="p")(held, held) == {"k": 36.0}
    told_of_others = symgrad.grad(f, wrt="p")
    with pytest.warns(NotActiveWarning, match="does not depend on p") as told:
        assert [told_of_others({"k": 2.0}, {"k": 1.0}) for _ in range(2)] == [{"k": 0.0}] * 2
    assert len(told) == 1


def test_one_object_in_two_places_of_an_argument_is_refused_where_it_matters() -> None:
    f = function_of("def f(d):\n    d['p']['v'] = d['p']['v'] * 3\n    return d['q']['v'] ** 2\n")
    g = function_of("def g(d):\n    return d['p']['v'] * d['q']['v']\nf = g\n")
    held = {"v": 2.0}

    with pytest.raises(UnsureAlias, match="are the same object"):
        symgrad.grad(f)({"p": held, "q": held})

    assert symgrad.grad(f)({"p": {"v": 2.0}, "q": {"v": 2.0}}) == {"p": {"v": 0.0}, "q": {"v": 4.0}}
    assert symgrad.grad(g)({"p": held, "q": held}) == {"p": {"v": 2.0}, "q": {"v": 2.0}}
