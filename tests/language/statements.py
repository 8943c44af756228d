"""Statements, one or a few an example."""

from __future__ import annotations

import contextlib
import threading

import numpy as np

from tests.language.table import Section

STATEMENTS = Section("Statements")
CALLS = 0
LOCK = threading.Lock()

read, carried_out, kept, refused = STATEMENTS.read, STATEMENTS.carried_out, STATEMENTS.kept, STATEMENTS.refused


@read("Assign", "AnnAssign", "AugAssign")
def assigned(x, y):
    a = b = x * y
    c: float = a + 1.0
    (d, e), *rest = (b, c), x, y
    d *= e
    return d + rest[0] * rest[-1]


@read("Assign", "AugAssign", "Delete")
def stored(v):
    y = v * v
    y[0] = y[1] * v[2]
    y[1:] += v[:2]
    held = {"a": y, "b": v}
    del held["b"], v
    return np.sum(held["a"])


@read("If", "Return")
def clipped(x, y):
    if x < y:
        return y * y
    elif x > 10.0:
        return 10.0 * y
    return x * y


@read("For", "Break", "Continue")
def powers(x, n):
    total = 0.0
    for k in range(10 * n):
        if k == 1:
            continue
        total += x**k
        if total > 50.0:
            break
    else:
        total = 2.0 * total
    return total


@read("While")
def halved(x):
    y = x
    while y > 0.1:
        y = 0.5 * np.sin(y)
    return y


@read("FunctionDef", "Nonlocal")
def inner_function(x, n):
    total = 0.0

    def add(amount, scale=2.0):
        nonlocal total
        total += scale * amount * x

    for k in range(n):
        add(k * x)
    return total


class Tally:
    """What a function keeps of its calls."""

    last = 0.0


@kept("Global", text='module_names["CALLS"] = CALLS + 1')
def global_variable(x):
    global CALLS
    CALLS, Tally.last = CALLS + 1, x * x
    return x * x


@carried_out("Pass")
def nothing(x):
    if x > 0.0:
        pass
    return x * x


@carried_out("Import", "ImportFrom")
def imported_inside(x):
    import math
    from functools import reduce

    return reduce(lambda a, b: a * b, [x, math.exp(x), 2.0])


@carried_out("Match")
def matched_while_compiling(x):
    shape = ("circle", x)
    match shape:
        case ("square", side):
            return side * side
        case ("circle", radius):
            return np.pi * radius**2


@read("Match")
def matched(x, n):
    match n:
        case 0 | 1:
            return x
        case 3 if x > 1.0:
            return x**3
        case _:
            return x * x


@read("Raise", "Try")
def handled(x, n):
    y = x
    try:
        y = y * y
        if n == 3:
            raise ValueError("three")
        y = 2.0 * y
    except (ValueError, TypeError):
        y = np.sin(y)
    else:
        y = -y
    finally:
        y = y + x
    return y


@read("Try")
def handled_where_python_raises(x, table):
    try:
        y = table["c"] * x
    except KeyError:
        y = x * x
    return y


@kept("Assert")
def asserted(x):
    assert x > 0.0
    return np.log(x)


@kept("Raise")
def raised(x):
    if x < 0.0:
        raise ValueError("a negative number")
    return np.sqrt(x)


@read("With")
def entered(x):
    with np.errstate(divide="ignore"):
        y = np.log(x) / x
    return y


@contextlib.contextmanager
def doubled(y):
    yield 2.0 * y


@read("With", beside=(doubled,))
def entered_by_a_generator(x):
    with doubled(x * x) as y:
        return y * x


@read("With")
def entered_by_a_library(x):
    with LOCK:
        return x * x


@kept("Expr")
def called_for_its_effect(x):
    print("at", x)
    return x * x


@read("ClassDef")
def class_inside(x):
    class Point:
        def __init__(self, value):
            self.value = value * x

    return Point(x).value * x


def without_groups(x):
    try:
        y = x / 0.0
    except ZeroDivisionError:
        y = x * x
    return y


@refused("TryStar", error="UnsupportedSyntax", instead=without_groups)
def groups(x):
    try:
        y = x / 0.0
    except* ZeroDivisionError:
        y = x * x
    return y


def waited_for_outside(x):
    total = 0.0
    for item in [x, 2.0 * x]:
        total += item * item
    return total


@refused("AsyncFunctionDef", "AsyncFor", "AsyncWith", error="UnsupportedSyntax", instead=waited_for_outside, runs=False)
def waits(x):
    async def total(source, lock):
        result = 0.0
        async with lock:
            async for item in source:
                result += item * item
        return result

    return total([x, 2.0 * x], None)


SECTIONS = [STATEMENTS]
