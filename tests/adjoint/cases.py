"""Programs in IR text, each with arguments and the parameters to differentiate."""

from __future__ import annotations

from typing import Any

import numpy as np

X = np.array([0.9, 1.3, 0.7, 1.6])

RNN = """
func f(x: f64[!x0], w: float, n: int) -> scalar f64:
    for i.0 in range(0, n, 1):
        carry h.0 = x -> h.1
        %0 = multiply(w, h.0) : f64[!x0]
        %1 = add(%0, x) : f64[!x0]
        h.2 = tanh(%1) : f64[!x0]
        yield h.2
    %3 = sum(h.1) : scalar f64
    return %3
"""

GATED = """
func f(x: f64[!x0], w: float, n: int) -> scalar f64:
    for i.0 in range(0, n, 1):
        carry h.0 = x -> h.1
        %0 = multiply(w, h.0) : f64[!x0]
        z.0 = add(%0, x) : f64[!x0]
        %1 = sum(z.0) : scalar f64
        %2 = greater(%1, 5.0) : scalar bool
        if %2 -> h.4:
            h.2 = tanh(z.0) : f64[!x0]
            yield h.2
        else:
            h.3 = multiply(0.5, z.0) : f64[!x0]
            yield h.3
        yield h.4
    %3 = sum(h.1) : scalar f64
    return %3
"""

STENCIL = """
func f(x: f64[!x0], n: int) -> scalar f64:
    y.0 = copy(x) : f64[!x0]
    for i.0 in range(0, n, 1):
        carry y.1 = y.0 -> y.2
        %0 = view(y.1, 1, -1, None, index="s") : f64[x0-2]
        %1 = view(y.1, None, -2, None, index="s") : f64[x0-2]
        %2 = view(y.1, 2, None, None, index="s") : f64[x0-2]
        %3 = add(%1, %2) : f64[x0-2]
        %4 = multiply(%0, %3) : f64[x0-2]
        y.3 = set_at(y.1, %4, 1, -1, None, index="s") : f64[!x0]
        yield y.3
    %5 = multiply(y.2, y.2) : f64[!x0]
    %6 = sum(%5) : scalar f64
    return %6
"""

LINEAR_STENCIL = STENCIL.replace("%4 = multiply(%0, %3)", "%4 = add(%0, %3)")

SCAN = """
func f(x: f64[!x0], w: float) -> scalar f64:
    n.0 = extent(x) : int
    y.0 = copy(x) : f64[!x0]
    for i.0 in range(1, n.0, 1):
        carry y.1 = y.0 -> y.2
        j.0 = subtract(i.0, 1) : int
        %0 = take(y.1, j.0, index="i") : scalar f64
        %1 = take(x, i.0, index="i") : scalar f64
        %2 = multiply(%0, %1) : scalar f64
        %3 = multiply(w, %2) : scalar f64
        %4 = sin(%3) : scalar f64
        y.3 = set_at(y.1, %4, i.0, index="i") : f64[!x0]
        yield y.3
    %5 = multiply(y.2, y.2) : f64[!x0]
    %6 = sum(%5) : scalar f64
    return %6
"""

WHILE = """
func f(x: float, w: float) -> float:
    while:
        carry s.0 = x -> s.1
        rounds -> %9
        %0 = less(s.0, 10.0) : bool
        test %0
        s.2 = multiply(s.0, w) : float
        s.3 = add(s.2, 0.3) : float
        yield s.3
    %1 = multiply(s.1, s.1) : float
    return %1
"""

UNTIL = """
func f(x: f64[!x0], n: int) -> scalar f64:
    for i.0 in range(1, n, 2) until:
        carry s.0 = 1.0 -> s.1
        rounds -> %9
        %0 = take(x, i.0, index="i") : scalar f64
        s.2 = multiply(s.0, %0) : scalar f64
        s.3 = add(s.2, s.2) : scalar f64
        %1 = greater(s.3, 3.0) : scalar bool
        yield s.3, %1
    %2 = multiply(s.1, s.1) : scalar f64
    return %2
"""

SWAP = """
func f(x: f64[!x0], n: int) -> scalar f64:
    a.0 = multiply(x, 1.0) : f64[!x0]
    b.0 = multiply(x, 2.0) : f64[!x0]
    for i.0 in range(0, n, 1):
        carry a.1 = a.0 -> a.2
        carry b.1 = b.0 -> b.2
        %0 = view(a.1, 1, None, None, index="s") : f64[x0-1]
        %1 = view(a.1, None, -1, None, index="s") : f64[x0-1]
        %2 = multiply(%0, %1) : f64[x0-1]
        b.3 = set_at(b.1, %2, 1, None, None, index="s") : f64[!x0]
        yield b.3, a.1
    %5 = multiply(a.2, b.2) : f64[!x0]
    %6 = sum(%5) : scalar f64
    return %6
"""

NESTED = """
func f(x: f64[!x0], w: float, n: int) -> float?:
    for i.0 in range(0, n, 1):
        carry s.0 = w -> s.1
        m.0 = add(i.0, 1) : int
        for j.0 in range(0, m.0, 1):
            carry t.0 = s.0 -> t.1
            %0 = take(x, j.0, index="i") : scalar f64
            %1 = multiply(t.0, %0) : float?
            t.2 = sin(%1) : float?
            yield t.2
        s.2 = multiply(t.1, s.0) : float?
        yield s.2
    return s.1
"""

BROADCAST = """
func f(a: f64[!a0, !a1], b: f64[!a1], c: f64[!a0, 1], w: float) -> scalar f64:
    %0 = multiply(a, b) : f64[!a0, !a1]
    %1 = add(%0, c) : f64[!a0, !a1]
    %2 = multiply(%1, w) : f64[!a0, !a1]
    %3 = divide(%2, c) : f64[!a0, !a1]
    %4 = tanh(%3) : f64[!a0, !a1]
    %5 = sum(%4) : scalar f64
    return %5
"""

MAYBE_ONE = """
func f(a: f64[a0, a1], b: f64[b0], w: f64[]) -> scalar f64:
    %0 = multiply(a, b) : f64[...]
    %1 = multiply(%0, w) : f64[...]
    %2 = sin(%1) : f64[...]
    %3 = sum(%2) : scalar f64
    return %3
"""

SAFE_LOG = """
func f(x: f64[!x0]) -> scalar f64:
    %0 = greater(x, 0.0) : bool[!x0]
    %1 = sqrt(x) : f64[!x0]
    %2 = where(%0, %1, 0.0) : f64[!x0]
    %3 = sum(%2) : scalar f64
    return %3
"""

GATHER = """
func f(x: f64[!x0], p: i64[!p0]) -> scalar f64:
    y.0 = copy(x) : f64[!x0]
    %0 = take(x, p, index="i") : f64[!p0]
    %1 = multiply(%0, %0) : f64[!p0]
    y.1 = set_at(y.0, %1, p, index="i") : f64[!x0]
    %2 = take(y.1, p, index="i") : f64[!p0]
    %3 = sin(%2) : f64[!p0]
    y.2 = add_at(y.1, %3, p, index="i") : f64[!x0]
    %4 = multiply(y.2, y.2) : f64[!x0]
    %5 = sum(%4) : scalar f64
    return %5
"""

LIST = """
func f(x: f64[!x0], n: int) -> scalar f64:
    l.0 = list_of() : list[?]
    for i.0 in range(0, n, 1):
        carry l.1 = l.0 -> l.2 : list[scalar f64]
        %0 = take(x, i.0, index="i") : scalar f64
        %1 = sin(%0) : scalar f64
        l.3 = list_append(l.1, %1) : list[scalar f64]
        yield l.3
    for i.1 in range(0, n, 1):
        carry s.0 = 0.5 -> s.1 : float?
        %2 = list_take(l.2, i.1) : scalar f64
        s.2 = multiply(%2, s.0) : float?
        s.3 = add(s.2, %2) : float?
        yield s.3
    return s.1
"""

OVERLAP = """
func f(x: f64[!x0]) -> scalar f64:
    y.0 = multiply(x, x) : f64[!x0]
    %0 = view(y.0, None, -1, None, index="s") : f64[x0-1]
    %1 = multiply(%0, 2.0) : f64[x0-1]
    y.1 = set_at(y.0, %1, 1, None, None, index="s") : f64[!x0]
    %2 = multiply(y.1, y.1) : f64[!x0]
    %3 = sum(%2) : scalar f64
    return %3
"""

BRANCH_STORE = """
func f(x: f64[!x0], n: int) -> scalar f64:
    y.0 = copy(x) : f64[!x0]
    for i.0 in range(0, n, 1):
        carry y.1 = y.0 -> y.2
        %0 = sum(y.1) : scalar f64
        %1 = greater(%0, 4.0) : scalar bool
        if %1 -> y.6:
            %2 = multiply(y.1, y.1) : f64[!x0]
            %3 = sin(%2) : f64[!x0]
            y.3 = set_at(y.1, %3, index="e") : f64[!x0]
            yield y.3
        else:
            %4 = view(y.1, 1, None, None, index="s") : f64[x0-1]
            %5 = multiply(%4, %4) : f64[x0-1]
            y.4 = set_at(y.1, %5, None, -1, None, index="s") : f64[!x0]
            yield y.4
        yield y.6
    %6 = multiply(y.2, y.2) : f64[!x0]
    %7 = sum(%6) : scalar f64
    return %7
"""

TWICE = """
func f(x: f64[!x0], n: int) -> scalar f64:
    for i.0 in range(0, n, 1):
        carry a.0 = x -> a.1
        carry b.0 = x -> b.1
        %0 = multiply(a.0, b.0) : f64[!x0]
        %1 = sin(%0) : f64[!x0]
        yield %1, %1
    %2 = multiply(a.1, b.1) : f64[!x0]
    %3 = sum(%2) : scalar f64
    return %3
"""

CONSTANT_YIELD = """
func f(x: f64[!x0], n: int) -> float?:
    for i.0 in range(0, n, 1):
        carry s.0 = 0.5 -> s.1 : float?
        carry t.0 = 0.7 -> t.1 : float?
        %0 = take(x, i.0, index="i") : scalar f64
        s.2 = multiply(%0, s.0) : float?
        s.3 = add(s.2, t.0) : float?
        yield s.3, 0.25
    %2 = multiply(s.1, s.1) : float?
    return %2
"""

AUGMENTED = """
func f(x: f64[!x0], n: int) -> scalar f64:
    y.0 = copy(x) : f64[!x0]
    for i.0 in range(0, n, 1):
        carry y.1 = y.0 -> y.2
        %0 = take(x, i.0, index="i") : scalar f64
        %1 = multiply(%0, %0) : scalar f64
        %2 = take(y.1, 0, index="i") : scalar f64
        %3 = subtract(%2, %1) : scalar f64
        y.3 = set_at(y.1, %3, 0, index="i") : f64[!x0]
        yield y.3
    %4 = multiply(y.2, y.2) : f64[!x0]
    %5 = sum(%4) : scalar f64
    return %5
"""

CASES: dict[str, tuple[str, list[Any], list[int]]] = {
    **{f"rnn {n}": (RNN, [X, 1.3, n], [0, 1]) for n in (0, 1, 3)},
    "gated": (GATED, [X, 1.3, 4], [0, 1]),
    **{f"stencil {n}": (STENCIL, [X, n], [0]) for n in (0, 1, 3)},
    "linear stencil": (LINEAR_STENCIL, [X, 3], [0]),
    "scan": (SCAN, [X, 0.7], [0, 1]),
    "while": (WHILE, [0.7, 1.3], [0, 1]),
    "while, no round": (WHILE, [11.0, 1.3], [0, 1]),
    "until": (UNTIL, [np.array([0.9, 1.3, 0.7, 1.6, 0.3, 0.6, 0.7]), 7], [0]),
    "swap": (SWAP, [X, 3], [0]),
    "nested": (NESTED, [X, 0.9, 3], [0, 1]),
    "broadcast": (
        BROADCAST,
        [np.arange(1.0, 7).reshape(2, 3) / 5, np.array([0.3, -0.4, 0.7]), np.array([[0.8], [1.2]]), 0.6],
        [0, 1, 2, 3],
    ),
    "maybe one": (MAYBE_ONE, [np.arange(1.0, 4).reshape(3, 1) / 5, np.array([0.3, -0.4]), np.array(0.6)], [0, 1, 2]),
    "maybe one, is one": (MAYBE_ONE, [np.arange(1.0, 7).reshape(2, 3) / 5, np.array([0.3]), np.array(0.6)], [0, 1, 2]),
    "gather": (GATHER, [X, np.array([2, 0, 3])], [0]),
    "gather, repeated": (GATHER, [X, np.array([2, 0, 2])], [0]),
    "one value in two slots": (TWICE, [X, 3], [0]),
    "constant yielded": (CONSTANT_YIELD, [X, 3], [0]),
    "augmented": (AUGMENTED, [X, 3], [0]),
    "list": (LIST, [X, 4], [0]),
    "overlap": (OVERLAP, [X], [0]),
    **{f"branch store {n}": (BRANCH_STORE, [X, n], [0]) for n in (1, 4)},
}
