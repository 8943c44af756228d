"""Dicts, sets, tuples, and iteration over known objects: value and gradient on both targets."""
# ruff: noqa: B007, C401, C408, E731, F401, SIM105 - the constructs are the point
# mypy: ignore-errors

from __future__ import annotations

import collections
import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from verdicts import Verdicts, check_right

import symgrad
from symgrad.errors import SymgradError

X = np.array([0.9, 1.3, 0.7, 1.6])
VERDICTS = Verdicts()
right = VERDICTS.right


@right
def star(x):
    def g(a, b, *r):
        return a * b + sum(r)

    return g(*x[:3]) + [*x[1:], 2.0][0] ** 2


@right
def try_import(x):
    try:
        import math

        import notthere

        k = 2.0
    except ImportError:
        k = 3.0
    return k * x[0]


@right
def try_import2(x):
    try:
        from math import nosuch
    except (ValueError, ImportError):
        k = 3.0
    finally:
        j = x[1]
    return k * x[0] * j


@right
def ctxs(x):
    with contextlib.nullcontext(x[3]) as w:
        q = x[0] * w
    with contextlib.nullcontext(), contextlib.suppress(ValueError, KeyError):
        q = q * q
    return q


@right
def dd_float(x):
    d = collections.defaultdict(float)
    for i, v in enumerate(x):
        d[i % 3] += v * v
    return d[0] * d[1] * d[2]


@right
def dd_list(x):
    d = collections.defaultdict(list)
    for i, v in enumerate(x):
        d[i % 2].append(v)
    return sum(a * b for a, b in d.values()) + len(d)


@right
def dd_lambda(x):
    d = collections.defaultdict(lambda: x[0] * 2)
    d["a"] *= x[1]
    d["b"]
    e = d.copy()
    e["z"] += 1
    return d["a"] + sum(d.values()) * e["z"] + len(d)


@right
def dd_int(x):
    d = collections.defaultdict(int)
    for w in "abca":
        d[w] += 1
    return d["a"] * x[0] + d["b"] * x[1] + d["q"] * x[2] + len(d) * x[3]


@right
def dd_nested(x):
    d = collections.defaultdict(lambda: collections.defaultdict(float))
    for i in range(4):
        d[i // 2][i % 2] += x[i] ** 2
    return d[0][0] * d[1][1] + d[1][0] * d[0][1]


@right
def counter_known(x):
    c = collections.Counter([1, 2, 2, 3])
    c[0] += 2
    e = collections.Counter("aab")
    (k, n), *_ = e.most_common(1)
    return sum(c[i] * x[i] for i in range(4)) + e["a"] * x[0] + n * x[1] * (k == "a") + e["zz"]


@right
def ordered_d(x):
    d = collections.OrderedDict()
    d["b"] = x[0]
    d["a"] = x[1]
    d["c"] = x[2]
    d.move_to_end("b")
    d.move_to_end("c", last=False)
    k, v = d.popitem()
    k2, v2 = d.popitem(last=False)
    return v * 3 + d["a"] ** 2 + v2 * v * len(k)


@right
def dict_or(x):
    a = {"p": x[0], "q": x[1]}
    b = {"q": x[2], "r": x[3]}
    c = a | b
    a |= {"z": x[0] * x[1]}
    e = {**c, **a}
    f = dict(zip("ab", x))
    g = dict.fromkeys(["m", "n"], x[3])
    f.update([("c", x[2])])
    f.update(d=x[3])
    f.clear()
    return sum(c.values()) * c["q"] + a["z"] + len(a) + sum(e.values()) + g["m"] * g["n"] + len(f)


@right
def dict_tuplekeys(x):
    d = {}
    d[(0,)] = x[0]
    d[0] = x[1] * 2
    d[(0, 1), 2] = x[2]
    d[()] = x[3]
    s = 0.0
    for k in d:
        s += len(d) * d[k]
    return d[(0,)] * d[0] + d[((0, 1), 2)] ** 2 + s


@right
def seen_set(x):
    seen = set()
    s = 0.0
    for i in [0, 1, 1, 3, 0]:
        if i in seen:
            continue
        seen.add(i)
        s += x[i] ** 2
    return s * len(seen)


@right
def set_algebra(x):
    a = {0, 1, 2} & {1, 2, 3}
    b = set(range(4)) - a
    c = {i * i for i in range(3)} | {1}
    a.add(0)
    a.discard(2)
    a |= {3}
    b.update([2])
    c.remove(4)
    s = 0.0
    for i in a:
        s = s * x[i] + 1
    for i in sorted(b, reverse=True):
        s = s * x[i] + 2
    if a <= {0, 1, 3} and a == {3, 1, 0} and not a.isdisjoint(b) and c:
        s *= 2
    return s * len(c) + len({"u", "v"} ^ {"v"}) * x[0] + sum(x[k] for k in frozenset([2, 1])) + (5 not in b)


@right
def set_strings(x):
    w = {"b": x[0], "a": x[1]}
    have = set(w) | {"c"}
    s = 1.0
    for k in sorted(have - {"c"}):
        s = s * w[k] + 1
    return s * len(have)


@right
def graph_visit(x):
    g = {0: [1, 2], 1: [3], 2: [3], 3: []}
    seen, todo, s = {0}, [0], 0.0
    while todo:
        n = todo.pop()
        s = s * 0.5 + x[n] ** 2
        for m in g[n]:
            if m not in seen:
                seen.add(m)
                todo.append(m)
    return s


@right
def tup_cmp(x):
    s = x[0]
    if (x[0], x[1]) < (x[0], x[2]):
        s = s * 2
    if (x[0], x[1]) == (x[0], x[1]):
        s = s * x[1]
    if (x[0], x[1], 3) >= (x[0], x[1]):
        s = s * x[2]
    if (1, 2) != (1, x[0]):
        s = s + x[3]
    a, i = max((v, i) for i, v in enumerate(x))
    b = min([(x[0], x[1]), (x[2], x[3])])
    return s + a * i + b[1]


@right
def sort_pairs(x):
    s = sorted([(x[0], x[1]), (x[2], x[3])])
    return s[0][0] * 3 + s[1][1] * s[0][1]


@right
def sort_key_tuple(x):
    s = sorted(x, key=lambda v: (v > 1, -v))
    t = sorted(x, key=lambda v: (v > 1, v), reverse=True)
    return s[0] + 2 * s[1] + 3 * s[2] * s[3] + t[0] * t[1] * 5


@right
def sort_zip_enum(x):
    s = sorted(zip(x, x[::-1]), reverse=True)
    t = [v * i for v, i in sorted((v, i) for i, v in enumerate(x))]
    m = [(v, i) for i, v in enumerate(x)]
    m.sort()
    m.sort(key=lambda p: -p[1])
    return s[0][1] * s[1][0] + t[0] * t[3] + m[0][0] * m[1][1]


@right
def sort_items(x):
    d = {"w": x[:2], "b": x[2:]}
    s = 1.0
    for k, v in sorted(d.items()):
        s = s * v[0] + len(k)
    e = {"p": x[0], "q": x[1], "r": x[2]}

    return s + e[sorted(e)[0]]


@right
def minmax_tuples(x):
    a = max(enumerate(x), key=lambda p: p[1])
    b = min(zip(x, x * x), key=lambda p: (p[1] > 1, -p[0]))
    c = max([(x[0], 3), (x[1], 2)])
    d = min((v, i) for i, v in enumerate(x))
    return a[1] * a[0] + b[0] * b[1] + c[0] * c[1] + d[0] * d[1]


@right
def deque_max(x):
    q = collections.deque(x, maxlen=3)
    q.rotate(1)
    q.append(x[0] * x[1])
    return q[0] * q[1] + q[-1] * 2


@right
def of_a_set_with_what_depends_on_the_path(x):
    seen = set()
    if x[0] > 0.5:
        seen.add(1)
    return x[1] * (1 in seen)


STAGES = {"square": lambda x: x * x, "tanh": np.tanh, "scale": lambda x: 3.0 * x}


@right
def chosen_by_methods_of_texts(x, mode="Two_Three"):
    total = 0.0
    for name in STAGES:
        if name.startswith("s"):
            total = total + STAGES[name](x).sum()
    first, last = mode.lower().split("_")
    if first.strip() == "two" and last.upper() == "THREE" and mode.find("T") == 0:
        total = total * len([c for c in mode if c.isupper()])
    total = total + x["abc".index("b")] ** 2
    return total * {"a-1": x[2], "a1": 1.0}["{}-{}".format("a", 1)] * {"a-1": 2.0}["-".join("a1")]


@right
def zipped_with_an_array_that_is_unpacked(x):
    a, b, c, d = x
    clock = {name: rate * rate for name, rate in zip("abcd", (a, b, c, d))}
    return clock["b"] * clock["c"]


@right
def of_a_list_that_stays_empty_in_each_round(x):
    total = 0.0
    for v in x:
        parts = []
        if v > 0.8:
            total = total + len(parts) + v
            for _ in (1, 2):
                total = total * v
        total = total + v * v
    return total + len(parts)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_value_and_gradient_are_right(f: Callable[..., Any], jit: bool) -> None:
    check_right(f, X, jit)


def of_a_set_of_constants(x):
    total = 1.0
    for word in {"b", "a"}:
        total = total * {"a": x[0], "b": x[1]}[word] + 1.0
    return total


def of_lists_in_order_of_their_items(x):
    held = sorted([[x[0], x[1]], [x[2], x[3]]])
    return held[0][0] * held[1][1]


def test_lists_are_sorted_item_by_item() -> None:
    value, _ = symgrad.value_and_grad(of_lists_in_order_of_their_items)(X)

    assert value == pytest.approx(of_lists_in_order_of_their_items(X))
    symgrad.check_grads(of_lists_in_order_of_their_items, (X,), wrt=0)


def test_a_set_of_constants_has_the_order_of_the_user_s_code() -> None:
    value, _ = symgrad.value_and_grad(of_a_set_of_constants)(X)
    assert value == pytest.approx(of_a_set_of_constants(X))
    symgrad.check_grads(of_a_set_of_constants, (X,), wrt=0)


def of_parts_by_name(x):
    return {"a": x * 2.0, "b": [x[0], x * x]}


def test_a_pullback_takes_a_dict_where_the_function_gives_one() -> None:
    out, pullback = symgrad.vjp(of_parts_by_name, X)
    (x_grad,) = pullback({"a": np.ones(4), "b": [3.0, X]})
    assert list(out) == ["a", "b"]
    np.testing.assert_allclose(x_grad, 2.0 + np.array([3.0, 0.0, 0.0, 0.0]) + 2.0 * X * X)
