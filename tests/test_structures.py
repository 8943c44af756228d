"""Copies, pattern matching of classes, recursive structures, and Python's modules, on both targets."""
# ruff: noqa: B019, E731, PT018 - the constructs are the point
# mypy: ignore-errors

from __future__ import annotations

import bisect
import copy
import dataclasses
import functools
import itertools
import operator
import statistics
import typing
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from verdicts import Verdicts, check_right

import symgrad
from symgrad.errors import SymgradError

X = np.array([0.9, 1.3, 0.7, 1.6])
VERDICTS = Verdicts()
right = VERDICTS.right


class Pt(NamedTuple):
    x: float
    y: float = 1.0

    @property
    def r(self):
        return self.x * self.y

    @classmethod
    def unit(cls, a):
        return cls(a, a)

    @staticmethod
    def two(a):
        return 2 * a


@dataclasses.dataclass
class D:
    a: float
    b: list
    c: dict = dataclasses.field(default_factory=dict)
    d: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(2))


class Node:
    def __init__(self, v, l=None, r=None):
        self.v, self.l, self.r = v, l, r

    def total(self):
        s = self.v
        if self.l is not None:
            s = s * self.l.total()
        if self.r is not None:
            s = s + self.r.total()
        return s


def depth(n):
    return 0 if n is None else 1 + max(depth(n.l), depth(n.r))


def tsum(d):
    return d["v"] + sum(tsum(k) * 2 for k in d["kids"])


@right
def nt_property(x):
    p = Pt(x[0], x[1])
    return p.r * Pt.unit(x[2]).r + Pt.two(x[3]) + p._asdict()["y"]


@right
def dc_asdict(x):
    p = D(x[0], [x[1], x[2]])
    p.d[0] = x[3]
    e = dataclasses.asdict(p)
    t = dataclasses.astuple(p)
    e["b"][0] = 5.0
    return (
        e["a"] * p.b[0] * e["b"][1] + t[0] + t[1][0] + sum(getattr(p, f.name) for f in dataclasses.fields(p) if f.name == "a") + e["d"][0]
    )


@right
def it_product(x):
    s = 0.0
    for a, b in itertools.product(x[:2], repeat=2):
        s += a * b
    for a, b in itertools.product(x, [1.0, 2.0]):
        s += a * b
    return s


@right
def it_chain_starmap(x):
    s = 0.0
    for v in itertools.chain(x[:2], x[2:]):
        s = s * 0.5 + v
    for f in itertools.starmap(pow, [(x[0], 2), (x[2], 3)]):
        s += f
    for v in itertools.repeat(x[1], 3):
        s *= v
    return s + sum(itertools.accumulate(x)) + list(itertools.accumulate(x, operator.mul))[-1] + list(itertools.accumulate(x, max))[2]


@right
def deepcopy_list(x):
    a = [x[0], [x[1], x * 2]]
    b = copy.copy(a)
    c = copy.deepcopy(a)
    a[1][0] = x[2]
    a[1][1][0] = 100.0
    return b[1][0] * c[1][0] * a[0] + c[1][1][0] + b[1][1][0] * x[0]


@right
def deepcopy_obj(x):
    p = D(x[0], [x[1]])
    q = copy.deepcopy(p)
    r = copy.copy(p)
    q.b[0] = q.b[0] * 2
    p.a = 7.0
    r.b.append(x[3])
    return p.b[0] * q.b[0] + r.a + len(p.b) * x[2]


@right
def setattr_etc(x):
    p = D(x[0], [])
    for k in ("a", "b"):
        setattr(p, k, getattr(p, "a") * x[1])
    del p.c
    return p.a * p.b + (not hasattr(p, "c")) * x[0] + vars(p)["a"]


@right
def list_slice_assign(x):
    l = [x[0], x[1], x[2], x[3]]
    m = l
    l[::2] = [l[1] * 2, l[3] * 3]
    l[1:1] = [x[0]]
    l[3:] = []
    l[:1] = x[:2]
    del l[0:1]
    return sum(v * (i + 1) for i, v in enumerate(m)) * len(m)


@right
def bisect_use(x):
    knots = [0.0, 0.5, 1.0, 1.5, 2.0]
    s = 0.0
    for v in x:
        i = bisect.bisect(knots, v)
        s += (v - knots[i - 1]) * i + bisect.bisect_left(knots, 1.0)
    return s


@right
def stats_use(x):
    return statistics.mean(x) * statistics.median(x) + statistics.fmean(x) + statistics.stdev(x) + statistics.pvariance([x[0], x[1]])


@right
def cast_use(x):
    return typing.cast("float", x[0]) * x[1]


@right
def ufunc_at(x):
    y = np.ones(3)
    np.multiply.at(y, [0, 0, 2], x[:3])
    np.maximum.at(y, np.array([1, 1]), x[2:])
    np.divide.at(y, [0], x[3])
    np.multiply.at(y, slice(0, 2), x[:2])
    np.minimum.at(y, slice(None, None, -2), 0.8)
    np.multiply.at(y, -1, x[1])
    np.add.at(y, (np.array([0, 2]),), 1.0)
    return np.sum(y**2)


@right
def rng_choice(x):
    rng = np.random.default_rng(3)
    c = rng.choice([1.0, 2.0, 3.0], size=3)
    i = rng.choice(4, size=2, replace=False)
    k = rng.integers(0, 4)
    p = rng.choice(x, size=2)
    w = rng.multivariate_normal([0.0, 0.0], [[1.0, 0.2], [0.2, 1.0]])
    return np.sum(c * x[:3]) + np.sum(x[i] ** 2) + x[k] + p.sum() ** 2 + w @ x[:2]


@right
def rng_shuffle(x):
    rng = np.random.default_rng(3)
    y = x.copy()
    rng.shuffle(y)
    z = x.copy()
    np.random.seed(1)
    np.random.shuffle(z)
    i = np.arange(4)
    rng.shuffle(i)
    l = [0, 1, 2, 3]
    return np.sum(y * y * np.arange(4)) + z[0] * z[1] + x[i[0]] * 3


@right
def tree_class(x):
    t = Node(x[0], Node(x[1], Node(x[2])), Node(x[3]))
    return t.total() + depth(t) * x[0] + tsum({"v": x[0], "kids": [{"v": x[1], "kids": []}, {"v": x[2] ** 2, "kids": []}]})


@right
def memo_rec(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = x[n] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)
        memo[n] = r
        return r

    return fib(6)


@right
def rec_list_flatten(x):
    def flat(l):
        out = []
        for e in l:
            if isinstance(e, list):
                out.extend(flat(e))
            else:
                out.append(e)
        return out

    v = flat([x[0], [x[1], [x[2]]], x[3]])
    return v[0] * v[1] + v[2] * v[3] + len(v)


@right
def rec_perm(x):
    def det(m):
        if len(m) == 1:
            return m[0][0]
        return sum((-1) ** j * m[0][j] * det([r[:j] + r[j + 1 :] for r in m[1:]]) for j in range(len(m)))

    return det([[x[0], x[1], 1.0], [x[2], x[3], 2.0], [0.5, x[0], x[1]]])


@right
def lru_fib(x):
    @functools.lru_cache(maxsize=None)
    def fib(n):
        return x[n] if n < 2 else fib(n - 1) * 0.5 + fib(n - 2)

    return fib(5)


@right
def raise_other_class(x):
    try:
        if x[0] > 100:
            raise ValueError("k")
        y = x[0] * x[1]
    except KeyError:
        y = x[2]
    return y


@right
def assert_in_try_finally(x):
    try:
        assert x[0] > 0
        y = x[0] * x[1]
    finally:
        assert len(x) == 4
    return y


@right
def items_beside_fewer_and_chosen_ones(x):
    total = 0.0
    for a, b in itertools.zip_longest(x[:2], x[:3], fillvalue=x[3]):
        total = total * 0.5 + a * b
    for v in itertools.compress(x, [1, 0, 1, 0]):
        total += v**2
    for a, b in itertools.zip_longest([x[0]], (1.0, 2.0), fillvalue=3.0):
        total *= a + b
    return total


@right
def matrices_put_in_order_along_an_axis(x):
    m = x.reshape(2, 2).copy()
    m.sort(axis=0)
    v = x.copy()
    v.partition(2)
    return np.sum(m * m * np.arange(4).reshape(2, 2)) + v[2]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_value_and_gradient_are_right(f: Callable[..., Any], jit: bool) -> None:
    check_right(f, X, jit)


def halved_until_small(x):
    def halved(held):
        return held["value"] if held["value"] < 0.1 else halved({"value": held["value"] / 2})

    return halved({"value": x[0]})


def copied_by_itself(x):
    return copy.deepcopy(Copied(x[0])).value * x[1]


class Copied:
    def __init__(self, value):
        self.value = value

    def __deepcopy__(self, memo):
        return Copied(self.value * 2)


@pytest.mark.parametrize("f", [halved_until_small, copied_by_itself])
def test_what_cannot_be_followed_is_refused(f: Callable[..., Any]) -> None:
    f(X)  # it is a good program
    with pytest.raises(SymgradError) as caught:
        symgrad.grad(f)(X)
    assert f"{__file__}:" in str(caught.value)
