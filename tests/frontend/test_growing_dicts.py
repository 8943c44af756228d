"""Dicts that get computed keys: kinds of keys x operations x kinds of values."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError, UnsupportedSyntax
from tests.plainly import HEAD, function_of, verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])

#: the key of a number ``n``
KEYS = {"ints": "n", "of Python": "int(n)", "texts": "f'k{n}'", "pairs": "(n, n + 1)"}

#: what is stored, and the number that is computed from an item ``v``
VALUES = {
    "floats": ("a * n + b", "v"),
    "of items": ("b + a * sum(d.values())", "v"),
    "arrays": ("np.array([a, b * n])", "(v[0] * v[1])"),
    "pairs": ("(a * n, b)", "(v[0] * v[1])"),
}

#: how the dict ``d`` is filled and asked, in a loop over numbers ``n`` with the key ``k``; ``s`` is the result
OPERATIONS = {
    "stored": "d[k] = VALUE\n",
    "memo": "if k in d:\n    v = d[k]\n    s = s * 0.5 + NUMBER\nelse:\n    d[k] = VALUE\n",
    "get": "v = d.get(k, VALUE)\ns = s * 0.5 + NUMBER\nd[k] = v\n",
    "setdefault": "v = d.setdefault(k, VALUE)\ns = s * 0.5 + NUMBER\n",
    "deleted": "d[k] = VALUE\nif len(d) > 3:\n    del d[k]\n",
    "popped": "if k in d:\n    v = d.pop(k)\n    s = s * 0.5 + NUMBER\nelse:\n    d[k] = VALUE\n",
    "pop with default": "v = d.pop(k, VALUE)\ns = s * 0.5 + NUMBER\nd[k] = v\n",
    "missing": "try:\n    v = d[k]\nexcept KeyError:\n    d[k] = VALUE\n",
}

#: what the loop behind it iterates over
ORDERS = {
    "keys": "for q in d:\n    v = d[q]\n    s = s * 0.9 + NUMBER\n",
    "values": "for v in d.values():\n    s = s * 0.9 + NUMBER\n",
    "items": "for q, v in d.items():\n    s = s * 0.9 + NUMBER * (1.0 if q in d else 7.0)\n",
}


def program(key: str, operation: str, value: str, order: str) -> str:
    stored, number = VALUES[value]
    body = "".join(f"        {line}\n" for line in f"k = {KEYS[key]}\n{OPERATIONS[operation]}".splitlines())
    behind = "".join(f"    {line}\n" for line in ORDERS[order].splitlines())
    text = f"def f(a, b, numbers):\n    d = {{}}\n    s = a\n    for n in numbers:\n{body}{behind}    return s * len(d)\n"
    return text.replace("VALUE", stored).replace("NUMBER", number)


#: a diagonal of the product, in which each entry of each table stands
FAST = [("ints", "stored", "floats", "items"), ("of Python", "memo", "floats", "keys"), ("texts", "get", "floats", "values"),
        ("pairs", "setdefault", "floats", "values"), ("ints", "deleted", "floats", "keys"), ("ints", "popped", "arrays", "values"),
        ("ints", "pop with default", "floats", "items"), ("ints", "missing", "floats", "items")]  # fmt: skip


@pytest.mark.parametrize(("key", "operation", "value", "order"), FAST)
def test_operations(key: str, operation: str, value: str, order: str) -> None:
    assert verdict(program(key, operation, value, order), [0.7, 1.3, NUMBERS]) == "right"


@pytest.mark.slow
@pytest.mark.parametrize(("key", "operation", "value", "order"), [*itertools.product(KEYS, OPERATIONS, VALUES, ORDERS)])
def test_every_operation(key: str, operation: str, value: str, order: str) -> None:
    """What a list of pairs or of arrays cannot hold is refused; nothing is wrong."""
    text = program(key, operation, value, order)
    assert verdict(text, [0.7, 1.3, NUMBERS]) == "right" or value in ("of items", "arrays", "pairs")


WHOLE = {
    "aliases": "d = {}\ne = d\nfor n in numbers:\n    e[n] = a * n\ns = d[3] * len(e)",
    "handed to a function": "def put(held, k, v):\n    held[k] = v\nd = {}\nfor n in numbers:\n    put(d, n, a * n)\ns = d[3] * len(d)",
    "held by a list": "d = {}\nheld = [d]\nfor n in numbers:\n    held[0][n] = a * n\ns = d[3] * len(d)",
    "recursive memo": "memo = {}\ndef g(n):\n    if n in memo:\n        return memo[n]\n    memo[n] = a * n + np.sin(b)\n    return memo[n]\n"
    "s = 0.0\nfor n in numbers:\n    s = s * 0.5 + g(n)",
    "defaultdict": "d = collections.defaultdict(float)\nfor n in numbers:\n    d[n] += a * n\ns = b\nfor k, v in d.items():\n    s = s * 0.5 + k * v",
    "Counter": "d = collections.Counter()\nfor n in numbers:\n    d[n] += 1\ns = b\nfor k, v in d.items():\n    s = s * a + k * v\ns += d[777]",
    "comprehension": "d = {n: a * n for n in numbers if n > 2}\ns = d[3] + sum(d.values()) * len(d)",
    "table": "d = {(0, 0): a}\nfor i in range(1, numbers.shape[0]):\n    d[i, 0] = d[i - 1, 0] * b\n    d[i, 1] = d[i, 0] * a\ns = d[numbers.shape[0] - 1, 1]",
    "caught": "d = {}\nfor n in numbers:\n    d[n] = a\ns = b\ntry:\n    s += d[777]\nexcept KeyError:\n    s *= a",
    "list of keys": "d = {}\nfor n in numbers:\n    d[n] = a * n\nfor k in [*numbers]:\n    d.pop(k, b)\ns = a + len(d)",
}  # fmt: skip


def whole(name: str) -> str:
    return "def f(a, b, numbers):\n" + "".join(f"    {line}\n" for line in WHOLE[name].splitlines()) + "    return s\n"


@pytest.mark.parametrize("name", WHOLE)
def test_programs(name: str) -> None:
    assert verdict(whole(name), [0.7, 1.3, NUMBERS]) == "right"


#: what Python raises
RAISING = {
    "KeyError": "s = d[777]",
    "KeyError of pop": "s = d.pop(777)",
    "KeyError of del": "del d[777]",
    "larger in a loop": "for k in d:\n    d[k + 1000] = a",
    "smaller in a loop": "for k in d:\n    del d[k]",
    "larger in a loop over items": "for k, v in d.items():\n    d[k + 1000] = v",
    "iterator": "over = iter(d)\nd[777] = a\nfor k in over:\n    s += k",
}


@pytest.mark.parametrize("name", RAISING)
def test_errors(name: str) -> None:
    body = "".join(f"    {line}\n" for line in RAISING[name].splitlines())
    text = f"def f(a, numbers):\n    d = {{}}\n    s = a\n    for n in numbers:\n        d[n] = a * n\n{body}    return s\n"
    assert verdict(text, [0.7, NUMBERS]) == "raises"


def asked(question: str) -> Any:
    return function_of(
        HEAD + f"def f(a, numbers):\n    d = {{}}\n    for n in numbers:\n        d[n] = a * n\n    r = {question}\n    return a * r\n"
    )


@pytest.mark.parametrize(
    "question",
    ["isinstance(d, dict)", "type(d) is dict", "not d", "3 in d", "np.int64(3) in d.keys()", "d[int(numbers[0])]", "len(d.items())",
     "max(d.values())", "hasattr(d, 'get')", "d == {}", "True in d", "d.get(3.0, 1.0)", "len({**d})", "len(d | {})", "d.popitem()[1]",
     "1 * a in d.values()", "len(d.keys() & {3})", "len(d.keys() - {3})", "sorted(d.keys() | {100})[-1]", "d.keys() == {3}"],
)  # fmt: skip
def test_questions(question: str) -> None:
    f = asked(question)
    value, slope = symgrad.value_and_grad(f)(0.7, NUMBERS)
    assert value == pytest.approx(f(0.7, NUMBERS))
    assert slope == pytest.approx((f(0.7 + 1e-6, NUMBERS) - f(0.7 - 1e-6, NUMBERS)) / 2e-6, rel=1e-5)


@pytest.mark.parametrize(
    "question",
    ["hash(d)", "d.stored_keys", "hasattr(d, 'version')", "getattr(d, 'stored_items')", "(1, 2) in d", "'a' in d", "None in d",
     "sum(1 for k in d.keys() | {3})", "len(str(d.keys()))", "d.fromkeys([1])[1]"],
)  # fmt: skip
def test_what_is_not_answered_is_refused(question: str) -> None:
    with pytest.raises(SymgradError):
        symgrad.grad(asked(question))(0.7, NUMBERS)


def test_a_dict_for_each_kind_of_key() -> None:
    """Keys of two kinds are refused; the hint is followed."""

    def mixed(a: float, numbers: np.ndarray) -> float:
        d: dict[Any, float] = {}
        for n in numbers:
            d[n] = a
            d[n, 0] = a * a
        return d[3] + d[3, 0]

    def apart(a: float, numbers: np.ndarray) -> float:
        d: dict[Any, float] = {}
        e: dict[Any, float] = {}
        for n in numbers:
            d[n] = a
            e[n, 0] = a * a
        return d[3] + e[3, 0]

    with pytest.raises(UnsupportedSyntax, match="all of one kind") as caught:
        symgrad.grad(mixed)(0.7, NUMBERS)
    assert "use a dict for each kind of key" in str(caught.value)
    assert symgrad.grad(apart)(0.7, NUMBERS) == pytest.approx(1.0 + 2 * 0.7)


def replaced(a: float, numbers: np.ndarray) -> float:
    d: dict[int, float] = {}
    for n in numbers:
        d[n] = d.get(n, 1.0) * a
    return sum(v * v for v in d.values())


def test_all_ways_to_derivatives() -> None:
    first = symgrad.grad(replaced)(0.7, NUMBERS)
    step = 1e-6
    assert first == pytest.approx((replaced(0.7 + step, NUMBERS) - replaced(0.7 - step, NUMBERS)) / (2 * step), rel=1e-6)
    assert symgrad.grad(replaced, jit="numba")(0.7, NUMBERS) == pytest.approx(first)
    assert symgrad.jvp(replaced, (0.7, NUMBERS), (1.0, None))[1] == pytest.approx(first)
    second = symgrad.grad(symgrad.grad(replaced))(0.7, NUMBERS)
    assert second == pytest.approx(
        (symgrad.grad(replaced)(0.7 + step, NUMBERS) - symgrad.grad(replaced)(0.7 - step, NUMBERS)) / (2 * step), rel=1e-5
    )


def test_what_happens_to_keys_in_a_loop_over_them() -> None:
    """Where the number of keys stays the same, what Python does next depends on its memory."""

    def exchanged(a: float, numbers: np.ndarray) -> float:
        d: dict[int, float] = {}
        for n in numbers:
            d[n] = a
        for k in d:
            del d[k]
            d[k + 1000] = a
        return a

    with pytest.raises(UnsupportedSyntax, match="a loop over a dict deletes keys"):
        symgrad.grad(exchanged)(0.7, NUMBERS)
