"""The class of each returned sequence, at any depth, on both targets, compared with plain Python."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError

Pair = collections.namedtuple("Pair", "a b")  # noqa: PYI024  # the class without annotations is meant
X = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.2]])
ITEMS = [0.5, 1.5, 2.5]

#: of ``x``, whose extents are not known at compile time, and ``l``, whose length is not
EXPRESSIONS = """tuple(x)|list(x)|tuple(l)|list(l)|tuple(v for v in l)|tuple([v * 2 for v in l])|tuple(map(float, l))|tuple(reversed(l))
tuple(zip(l, l))|list(zip(l, l))|[(v, v) for v in l]|[[v, v] for v in l]|tuple((v, v) for v in l)|tuple([v, v] for v in l)|Pair(*x)
Pair(x[0], tuple(x))|tuple(l) + tuple(l)|tuple(l)[1:]|tuple(l)[::-1]|tuple(l) * 2|tuple(x) + (x,)|(x[0],) + tuple(x)|tuple(l) + ()|tuple(x)[:1]
tuple(l[1:])|list(tuple(l))|tuple(list(l))|tuple(x.tolist())|list(x.tolist())|tuple(x[0].tolist())|tuple(range(len(l)))|tuple(enumerate(l))
[Pair(v, v) for v in l]|tuple([Pair(v, v) for v in l])|[Pair(v, v) for v in l][0]|[[Pair(v, v)] for v in l]|tuple(tuple(r) for r in x)
[tuple(r) for r in x]|[list(r) for r in x]|tuple(map(tuple, x.tolist()))|tuple(np.split(x, 2))|tuple(x.T)|tuple(x[0])|[tuple(v) for v in x.tolist()]
collections.deque(l)|collections.deque([l[0], l[1]])|collections.deque([l[0]], maxlen=2)|collections.OrderedDict(a=l[0])|list(map(tuple, x))
[(v, v) for v in l][0]|[(v, v) for v in l][1:]|tuple(zip(*x))|(tuple(l), list(l), l)|[[tuple(r)] for r in x]|sorted(tuple(l))""".replace(
    "\n", "|"
)
PLACES = ["{}", "[{}]", "({}, x)", "{{'k': {}}}", "Pair(1.0, {})"]
STATEMENTS = {
    "a star takes a list": "first, *more = tuple(l)\n    return more",
    "a list is extended by a tuple": "more = list(l)\n    more.extend(tuple(l))\n    return more",
    "a list grows by a tuple": "more = list(l)\n    more += tuple(l)\n    return more",
    "what a loop appends": "more = []\n    for v in l:\n        more.append((v, [v]))\n    return more",
    "a tuple in a loop": "made = ()\n    for v in l:\n        made = (v, v)\n    return made",
    "on both paths": "return tuple(l) if x[0, 0] > 0 else tuple(v + 1.0 for v in l)",
}
BODIES = [f"return {place.format(e)}" for e in EXPRESSIONS.split("|") for place in PLACES] + list(STATEMENTS.values())


def classes(tree: Any) -> Any:
    """The classes of the containers in a result."""
    if isinstance(tree, dict):
        return type(tree), {k: classes(v) for k, v in tree.items()}
    if isinstance(tree, tuple | list | collections.deque):
        return type(tree), getattr(tree, "maxlen", None), [classes(v) for v in tree]
    return type(tree) if isinstance(tree, np.ndarray) else None


def ones(tree: Any) -> Any:
    """A seed for a result."""
    if isinstance(tree, dict):
        return {k: ones(v) for k, v in tree.items()}
    if isinstance(tree, tuple | list | collections.deque):
        return type(tree)(*map(ones, tree)) if hasattr(tree, "_fields") else type(tree)(map(ones, tree))
    return np.ones_like(tree)[()] if isinstance(tree, np.ndarray) else 1.0


def total(tree: Any) -> float:
    """The sum of a result, as a seed of ones weighs it."""
    inside = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, tuple | list | collections.deque) else None
    return float(np.sum(tree)) if inside is None else sum(map(total, inside))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("body", BODIES)
def test_the_class_of_a_sequence_is_kept(body: str, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    space = {"np": np, "Pair": Pair, "collections": collections}
    text = f"def f(x, l):\n    {body}\n"
    exec(text, space)
    plain: Any = space["f"]
    f = symgrad.from_source(text, "f", globals={"np": np, "Pair": Pair, "collections": collections})
    expected = plain(X.copy(), list(ITEMS))

    out, pullback = symgrad.vjp(f, X.copy(), list(ITEMS), jit=jit, verify=False)
    gradient = pullback(ones(out))[0]

    assert classes(out) == classes(expected)
    steps = [(total(plain(X + e, ITEMS)) - total(plain(X - e, ITEMS))) / 2e-6 for e in 1e-6 * np.eye(6).reshape(6, 2, 3)]
    np.testing.assert_allclose(gradient, np.reshape(steps, (2, 3)), atol=1e-6)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return (1.0 if isinstance(made[1], Pair) else 7.0) * x[0, 0]", [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        ("return (1.0 if type(made[1]) is Pair else 7.0) * x[0, 0]", [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        ("a, b = made[1]\n    return a * b * x[0, 0]", [[4.5, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        ("return sum(a * b for a, b in made) * x[0, 0]", [[17.5, 0.0, 0.0], [0.0, 0.0, 0.0]]),
    ],
)
def test_named_tuples_in_lists_are_of_their_class(body: str, expected: Any) -> None:
    f = symgrad.from_source(f"def f(x, l):\n    made = [Pair(v, 2 * v) for v in l]\n    {body}\n", "f", globals={"Pair": Pair})
    np.testing.assert_allclose(symgrad.grad(f)(X, list(ITEMS)), expected)


@pytest.mark.parametrize("expression", ["str([Pair(v, v) for v in l]) and x", "[tuple(l) if v > 1.0 else list(l) for v in l]"])
def test_what_would_lose_its_class_is_refused(expression: str) -> None:
    f = symgrad.from_source(f"def f(x, l):\n    return {expression}\n", "f", globals={"Pair": Pair})
    with pytest.raises(SymgradError):  # too large for code of its own for each size, in which all of it is known
        symgrad.vjp(f, np.ones((70, 70)), [1.0] * 70)


def test_tuples_of_rows_and_tuples_keep_their_classes() -> None:
    def f(x: Any) -> Any:
        return [(r, tuple(r)) for r in x]

    x = np.arange(140.0).reshape(70, 2)
    out, pullback = symgrad.vjp(f, x)
    assert [(type(item), type(item[1]), *item[0], *item[1]) for item in out] == [(tuple, tuple, *r, *r) for r in x]
    (gradient,) = pullback([(np.ones(2), (2.0, 3.0))] * 70)
    np.testing.assert_array_equal(gradient, np.tile([3.0, 4.0], (70, 1)))
