"""Programs whose loops or functions run again for their reverse: plain functions of an array and a number of rounds."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import symgrad

Function = Callable[..., Any]


@dataclass(frozen=True)
class Looping:
    """A function of ``x`` and ``n``, and the loops to run again; ``line`` counts from the function's first one where a ``while`` is meant.

    ``stages``: the most rounds that it is tried with.
    """

    function: Function
    variable: str = "t"
    line: int | None = None
    rounds: int = 23

    def checkpoints(self, count: int) -> dict[int | str, int]:
        if self.line is None:
            return {self.variable: count}
        return {self.function.__code__.co_firstlineno + self.line: count}

    @property
    def name(self) -> str:
        return self.function.__name__


def recurrence(x, n):
    h = x
    for t in range(n):
        h = np.tanh(h) + 0.1 * x * h
    return np.sum(h * h)


def in_place(x, n):
    h = x.copy()
    c = 1.0
    for t in range(n):
        h[1:-1] = h[1:-1] + 0.1 * np.sin(h[:-2]) * c
        c = c * 0.9 + h[1] * 0.01
    return np.sum(h * h) * c


def inner_loop(x, n):
    h = x.copy()
    s = 0.0
    for t in range(n):
        a = np.sin(h)
        for k in range(3):
            a = a * np.tanh(h) + a * k
            s = s + a[1] * h[0]
        h = h + 0.1 * a
    return np.sum(h * h) + s


def with_break(x, n):
    h = x
    for t in range(n):
        h = np.sin(h) * 1.1 + h * h * 0.1
        if h[-1] > 2.0:
            break
        if t % 3 == 1:
            continue
        h = h * np.cos(x)
    return np.sum(h)


def with_return(x, n):
    h = x
    for t in range(n):
        h = np.sin(h) * 1.3
        if h[0] > 0.5:
            return np.sum(h * h)
    return np.sum(h)


def while_loop(x, n):
    h = x
    t = 0
    while t < n and h[0] < 1.5:
        h = np.sin(h) * 1.2 + 0.1 * x
        t += 1
    return np.sum(h * h)


def while_true(x, n):
    h, k = x, 0
    while True:
        h = np.sin(h) * 1.2
        k += 1
        if k >= n:
            break
    return np.sum(h)


def downwards(x, n):
    h = x
    for t in range(n, 1, -2):
        h = np.sin(h) * 0.1 * t + x
    return np.sum(h * x)


def from_three(x, n):
    h = x
    for t in range(3, n):
        h = np.sin(h) * t + x
    return np.sum(h * x)


def in_reverse(x, n):
    h = x
    for t in reversed(range(1, n, 3)):
        h = np.sin(h) * t + x
    return np.sum(h * x)


def over_items(x, n):
    h = x
    for i, t in enumerate(x[:n]):
        h = np.sin(h) * t + i
    return np.sum(h * x)


def numbers(x, n):
    a, b = x[0], 1.0
    for t in range(n):
        a, b = np.sin(a) * b, b * 0.9 + a * a
    return a * b


def two_loops(x, n):
    h = x
    for t in range(n):
        h = np.sin(h) * x
    h = h * h
    for t in range(n):
        h = np.sin(h) * x + h
    return np.sum(h * h)


def in_branch(x, n):
    h = x * 2
    if n > 2:
        for t in range(n):
            h = np.sin(h) * x
    return np.sum(h * h)


def in_loop(x, n):
    h = x * 2
    for k in range(3):
        for t in range(n):
            h = np.sin(h) * x + k
    return np.sum(h * h)


def both_of_two(x, n):
    h = x * 2
    for t in range(3):
        for t in range(n):
            h = np.sin(h) * x + 0.1 * t
        h = h * h
    return np.sum(h * h)


def advanced(h, n, x):
    for t in range(n):
        h = np.sin(h) * x + 0.1 * t
    return h


def in_callee(x, n):
    return np.sum(advanced(x * x, n, x) ** 2)


def cells(x, n):
    y = np.zeros(n + 1)
    y[0] = x[0]
    for t in range(n):
        y[t + 1] = np.sin(y[t]) * x[1]
    return np.sum(y * y)


def overwritten_after(x, n):
    h = x * 1.0
    v = np.cos(x)
    for t in range(n):
        h = np.sin(h) * v
        h[0] = h[0] * v[1]
    v[0] = h[1]
    h[1] = 7.0 * h[1] * h[1]
    return np.sum(h * v)


def argument(x, n):
    for t in range(n):
        x[t % 3] = np.sin(x[(t + 1) % 3]) * x[t % 3]
    return np.sum(x * x)


def growing_list(x, n):
    hs = [x]
    for t in range(n):
        hs.append(np.sin(hs[-1]) * hs[0])
    return sum(np.sum(h * h) for h in hs)


def arrays_in_list(x, n):
    hs = [x, x * 2]
    for t in range(n):
        hs[0] = hs[1] * np.sin(hs[0])
        hs[1][0] = hs[0][1]
    return np.sum(hs[0] * hs[1])


def in_dict(x, n):
    d = {"a": x, "b": 1.0}
    for t in range(n):
        d["a"] = np.sin(d["a"]) * d["b"]
        d["b"] = d["b"] * 0.9 + d["a"][0]
    return np.sum(d["a"]) * d["b"]


def handled(x, n):
    h = x
    for t in range(n):
        try:
            h = np.sin(h) * x
            if h[0] > 0.9:
                raise ValueError
        except ValueError:
            h = h * 0.5
    return np.sum(h)


def single_precision(x, n):
    h = x.astype(np.float32)
    for t in range(n):
        h = np.sin(h) * h
    return np.sum(h)


def complex_numbers(x, n):
    z = x + 1j * x
    for t in range(n):
        z = z * z * 0.5 + x
    return np.sum(z.real * z.imag)


def strided(x, n):
    h = np.zeros(2 * len(x))[::2]
    h[:] = x
    for t in range(n):
        h[1:] = np.sin(h[:-1]) * h[1:]
    return np.sum(h)


LOOPS = [
    *map(Looping, (recurrence, in_place, inner_loop, with_break, with_return, downwards, from_three, in_reverse, over_items, numbers,
                   two_loops, in_branch, in_loop, both_of_two, in_callee, cells, overwritten_after, argument, growing_list,
                   arrays_in_list, in_dict, handled, single_precision, strided)),
    Looping(complex_numbers, rounds=7), Looping(while_loop, line=3), Looping(while_true, line=2),
]  # fmt: skip


# ------------------------------------------------------------------ functions that run again


@dataclass(frozen=True)
class Calling:
    """A function of ``x`` and ``w`` that calls others, as they are and checkpointed."""

    function: Callable[[Callable[[Function], Function]], Function]

    def plain(self) -> Function:
        return self.function(lambda inner: inner)

    def checkpointed(self) -> Function:
        return self.function(symgrad.checkpoint)

    @property
    def name(self) -> str:
        return self.function.__name__


@dataclass(frozen=True)
class Scaling:
    """A callable instance with a method."""

    factor: float

    def scaled(self, h, w):
        return np.tanh(w @ h) * self.factor

    def __call__(self, h, w):
        return np.sin(w @ h) * h * self.factor


def layers(mark):
    @mark
    def layer(h, w):
        a = np.tanh(w @ h)
        return np.sin(a) * a + h

    def loss(x, w):
        for _ in range(4):
            x = layer(x, w)
        return np.sum(x * x)

    return loss


def stores_to_argument(mark):
    @mark
    def smoothed(y, x):
        for i in range(len(x)):
            y[i] = np.sin(y[i - 1]) * x[i] + y[i]
        return np.sum(y)

    def loss(x, w):
        y = np.cos(x)
        s = smoothed(y, x * 2)
        y[0] = y[1] * s
        s = s + smoothed(y, x) * y[0]
        return s * np.sum(y) + w[0, 0]

    return loss


def keywords_and_returns(mark):
    @mark
    def early(h, w, *, k=2):
        if h[0] > 0.5:
            return np.sin(h)
        for i in range(k):
            h = h * np.cos(h)
            if h[1] > 3:
                return h * 2
        return {"a": h, "b": [h * 2, w]}["a"]

    return lambda x, w: np.sum(early(x * 1.0, w, k=3) * early(early(x * 10, w), w, k=1))


def containers(mark):
    @mark
    def layer(h, w):
        return np.tanh(w @ h) * h

    @mark
    def block(h, w):
        t = layer(h, w)
        return {"t": layer(np.sin(t), w), "s": [t * t, 3.0]}

    def loss(x, w):
        r = block(x, w)
        return np.sum(r["t"] * r["s"][0]) * r["s"][1]

    return loss


def list_that_grows(mark):
    @mark
    def extended(items, x):
        items.append(x * x)
        items[0] = np.sin(x)
        return items[-1] * items[0]

    def loss(x, w):
        items = [x]
        a = extended(items, x)
        b = extended(items, a)
        return np.sum(a * b * items[0] * items[1] * items[2]) * w[0, 1]

    return loss


def method(mark):
    class Scaled:
        def __init__(self, k):
            self.k = k

        @mark
        def apply(self, x):
            return np.sin(x) * self.k * x

    scaled = Scaled(0.5)
    return lambda x, w: np.sum(scaled.apply(scaled.apply(x))) * w[1, 1]


def around_a_loop(mark):
    @mark
    def steps(h, w):
        for _ in range(3):
            h = np.sin(h) * w[0] + h
        return h

    return lambda x, w: np.sum(steps(steps(x, w), w) ** 2)


def marked_inside(mark):
    def loss(x, w):
        def layer(h):
            return np.tanh(w @ h) * x

        again = mark(layer)
        h = x
        for _ in range(3):
            h = again(h)
        return np.sum(mark(lambda v: np.sin(v) * v)(h))

    return loss


def marked_methods(mark):
    scaling = Scaling(0.7)
    halved, scaled, applied = functools.partial(np.multiply, 0.5), mark(scaling.scaled), mark(scaling)

    def loss(x, w):
        h = mark(scaling.scaled)(x, w) + scaled(x * x, w) + applied(x, w)
        return np.sum(mark(halved)(h) * h)

    return loss


CALLS = [
    Calling(f)
    for f in (
        layers, stores_to_argument, keywords_and_returns, containers, list_that_grows, method, around_a_loop, marked_inside, marked_methods,
    )
]  # fmt: skip

__all__ = ["CALLS", "LOOPS", "Calling", "Looping"]
