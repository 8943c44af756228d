"""``symgrad.ravel``: trees of parameters as vectors and back; refusals."""

from __future__ import annotations

import collections
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, IntegerArgument
from symgrad.trees import form_of


class Pair(NamedTuple):
    left: float
    right: np.ndarray


@dataclass(frozen=True)
class Model:
    w: np.ndarray
    name: str = "model"
    is_fixed: bool = True


TREES = [
    (2.0, [2.0]),
    (np.float32(2.0), [2.0]),
    (np.arange(6.0).reshape(2, 3).T, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]),
    (np.array(3.0), [3.0]),
    (np.zeros((0, 3)), []),
    ([1.0, (2.0, [3.0])], [1.0, 2.0, 3.0]),
    ({"b": 1.0, "a": {0: np.ones(2)}}, [1.0, 1.0, 1.0]),
    (collections.OrderedDict(z=1.0, a=2.0), [1.0, 2.0]),
    (Pair(1.0, np.array([2.0])), [1.0, 2.0]),
    (Model(np.array([1.0, 2.0], np.float32)), [1.0, 2.0]),
    (SimpleNamespace(x=1.0, y=None), [1.0]),
    ((), []),
]


@pytest.mark.parametrize(("tree", "numbers"), TREES, ids=[str(k) for k in range(len(TREES))])
def test_there_and_back(tree: Any, numbers: list[float]) -> None:
    vector, unravel = symgrad.ravel(tree)
    assert vector.tolist() == numbers
    assert vector.ndim == 1
    again = unravel(vector)
    assert same(tree, again)
    assert symgrad.ravel(unravel(2 * vector + 1))[0].tolist() == [2 * x + 1 for x in numbers]
    assert same(tree, again)  # a tree is in memory of its own


def same(one: Any, other: Any) -> bool:
    """Are two trees of one class, with leaves of the same class, dtype and value?"""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other) and not np.shares_memory(one, other)
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, Model | SimpleNamespace):
        return same(vars(one), vars(other))
    return one == other


def test_the_dtype_is_the_largest_and_leaves_have_their_own_again() -> None:
    vector, unravel = symgrad.ravel([np.ones(1, np.float32), np.float32(2.0)])
    assert vector.dtype == np.float32
    vector, unravel = symgrad.ravel([np.ones(1, np.float32), 2.0])
    assert vector.dtype == np.float64
    assert unravel(vector)[0].dtype == np.float32


SHARED = np.ones(2)
LOOP: list[Any] = [1.0]
LOOP.append(LOOP)
#: a tree, the error, a part of its message, and the tree that its hint leads to
REFUSED = [
    ({"n": 3}, IntegerArgument, "tree['n'] is the integer 3", {"n": 3.0}),
    ([np.arange(3)], IntegerArgument, "tree[0] is an array of integers", [np.arange(3.0)]),
    (Pair(1j, SHARED), BadArgument, "tree.left is complex", (0.0, 1.0, SHARED)),
    ({"f": abs, "x": 1.0}, BadArgument, "tree['f'] is builtin_function_or_method", {"x": 1.0}),
    ([np.array(["a"])], BadArgument, "tree[0] is ndarray", []),
    ({"a": SHARED, "b": SHARED}, BadArgument, "tree['b'] and tree['a'] are the same array", {"a": SHARED, "b": SHARED.copy()}),
    (LOOP, BadArgument, "tree[1] holds itself", [1.0]),
]


@pytest.mark.parametrize(("tree", "error", "message", "way_out"), REFUSED, ids=[case[2] for case in REFUSED])
def test_what_is_no_tree_of_floats(tree: Any, error: type[Exception], message: str, way_out: Any) -> None:
    with pytest.raises(error) as refused:
        symgrad.ravel(tree)
    assert message in str(refused.value)
    symgrad.ravel(way_out)


def test_a_vector_of_another_length_is_refused() -> None:
    _, unravel = symgrad.ravel([1.0, np.ones(2)])
    for vector in (np.ones(2), np.ones(4), np.ones((3, 1)), 1.0):
        with pytest.raises(BadArgument, match="holds 3 numbers"):
            unravel(vector)
    with pytest.raises(BadArgument, match="complex128"):
        unravel(np.ones(3) + 1j)


@pytest.mark.parametrize(
    "other", [{"a": 1.0}, {"a": 1.0, "c": np.ones(2)}, {"a": 1.0, "b": np.ones(3)}, [1.0, np.ones(2)], {"a": "x", "b": np.ones(2)}]
)
def test_a_tree_of_another_form_is_refused(other: Any) -> None:
    with pytest.raises(BadArgument, match="in its place"):
        form_of({"a": 1.0, "b": np.ones(2)}).vector(other)


def test_entries_are_found_by_their_keys() -> None:
    assert form_of({"a": 1.0, "b": 2.0}).vector({"b": 20.0, "a": 10.0}).tolist() == [10.0, 20.0]
