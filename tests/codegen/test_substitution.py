"""Statements of the text to read: fewer temporaries, branches and signs, and the same values."""

from __future__ import annotations

import ast
import copy
import textwrap
from typing import Any

import numpy as np
import pytest

from symgrad.codegen.seam import to_text
from symgrad.codegen.substitution import Substitution
from symgrad.codegen.sums import summed_up, with_one_test, with_pops
from symgrad.codegen.texts import Mark
from symgrad.location import Loc

USERS = frozenset({"x", "w", "y", "k", "out"})


def rewritten(text: str, lines: int = 1) -> str:
    """The rewritten statements of a backward half; the statements come from one line of the user's, or each from a line of its own."""
    body = ast.parse(textwrap.dedent(text)).body
    statements = [node for statement in body for node in ast.walk(statement) if isinstance(node, ast.stmt)]
    marks = {statement: Mark(Loc("f.py", 1 if lines == 1 else k + 1), True) for k, statement in enumerate(statements)}
    body = with_one_test(body, marks)
    for _ in range(2):
        body = Substitution(marks, USERS, frozenset({"s_grad"})).function(body)
        body = summed_up(body, marks, {"s_grad"}, {"items"})
    return to_text(ast.Module(with_pops(body, marks), []))[0].strip()


def values(text: str) -> dict[str, Any]:
    """The arrays and numbers that the statements leave in the user's variables."""
    rng = np.random.default_rng(3)
    space: dict[str, Any] = {name: rng.normal(size=3) for name in ("x", "w", "y", "x_grad", "w_grad", "y_grad", "s_grad")}
    space |= {"np": np, "items": [1.0, 2.0, 3.0], "k": 1, "flag": True, "tape": [1.5, 2.5]}
    exec(text, space)
    return {name: value for name, value in space.items() if name == "items" or name.removesuffix("_grad") in USERS | {"s"}}


SAME = [
    ("product_grad = x_grad * w\nw_grad += product_grad", "w_grad += x_grad * w"),
    ("product_grad = -x_grad\nw_grad += product_grad * w\ny_grad += product_grad * y", "w_grad -= x_grad * w\ny_grad -= x_grad * y"),
    ("w_grad += -x_grad + -y_grad", "w_grad -= x_grad + y_grad"),
    ("w_grad += -x_grad * y", "w_grad -= x_grad * y"),
    ("w_grad = -(x_grad * y * 2.0)", "w_grad = -x_grad * y * 2.0"),
    ("w_grad = 1.0 * 0.5 * x_grad", "w_grad = 0.5 * x_grad"),
    ("x_grad = w * y\nx_grad -= np.sin(w)", "x_grad = w * y - np.sin(w)"),
    ("x_grad += w\nx_grad += w", "x_grad += 2 * w"),
    ("x_grad -= w * 2.0\nx_grad += y", "x_grad -= w * 2.0 - y"),
    ("items_grad = list(w)\nx_grad = items_grad[0] * y\ny_grad = items_grad[2] * y", "x_grad = w[0] * y\ny_grad = w[2] * y"),
    ("items[k] = items[k] + 2.0", "items[k] += 2.0"),
    ("y = items[-1]\nitems.pop()\nx_grad += y * w\nw_grad += y", "y = items.pop()\nx_grad += y * w\nw_grad += y"),
    ("if flag:\n    y = items[-1]\n    items.pop()\nitems.pop()", "if flag:\n    y = items.pop()\nitems.pop()"),
    ("y = items[0]\nitems.pop()\nx_grad += y", "y = items[0]\nitems.pop()\nx_grad += y"),
    ("y = items[-1]\ntape.pop()\nx_grad += y", "y = items[-1]\ntape.pop()\nx_grad += y"),
    ("y = items[-1]\nitems.append(2.0)\nitems.pop()", "y = items[-1]\nitems.append(2.0)\nitems.pop()"),
    ("if flag:\n    t_grad = w * y\nif flag:\n    x_grad += t_grad", "if flag:\n    x_grad += w * y"),
    ("if not flag:\n    x_grad = w\nif flag:\n    x_grad = y", "if flag:\n    x_grad = y\nelse:\n    x_grad = w"),
    ("total_grad = w * y\ny_grad = w + 1.0\nx_grad = total_grad", "x_grad = w * y\ny_grad = w + 1.0"),
    ("x_grad_1 = x_grad * w\ny_grad += x_grad * y\nx_grad = x_grad_1", "y_grad += x_grad * y\nx_grad = x_grad * w"),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_statements_are_shorter_and_compute_the_same(before: str, after: str) -> None:
    assert rewritten(before) == after
    for name, value in values(before).items():
        np.testing.assert_allclose(values(after)[name], value, rtol=1e-15, err_msg=name)


STAY = [
    "part_grad = x_grad * w\nx_grad[0] = 0.0\nw_grad += part_grad",  # an operand changes in between
    "part_grad = x_grad[1:] * 2.0\nother_grad = x_grad\nother_grad[1] = 0.0\nw_grad[1:] += part_grad",  # so does one by another name
    "part_grad = x_grad * w\nw = y + 1.0\nw_grad += part_grad",  # or the name has another value
    "part_grad = x_grad * w\nw_grad += part_grad\ny_grad += part_grad",  # it is read twice
    "part_grad = tape.pop() * w\ny_grad = y * tape.pop()\nx_grad += part_grad",  # what it pops has an order
    "x_grad += w\nx_grad -= x_grad.dot(w)",  # the second addition reads the sum
    "s_grad = w * y\ns_grad += np.sin(w)",  # an array of less precision stays one
    "for i in range(3):\n    part_grad = w * i\n    if i == 1:\n        break\nx_grad += part_grad",  # it is read behind the loop
    "part_grad = w * 1.5\nfor i in range(3):\n    x_grad += part_grad\n    part_grad = w * i",  # and carried around it
    "if k:\n    part_grad = w * y\nelse:\n    part_grad = y * 2.0\nx_grad += part_grad",  # one of two definitions
    "if flag:\n    flag = k > 2\nif flag:\n    x_grad += w",  # the test has another value
    "w_grad = np.array([(lambda part: part * 2.0)(w) for part in x])",
]


@pytest.mark.parametrize("text", STAY)
def test_statements_stay_where_a_value_would_be_another(text: str) -> None:
    after = rewritten(text)
    assert ast.dump(ast.parse(after)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("text", [before for before, _ in SAME] + STAY)
def test_statements_of_several_lines_compute_the_same(text: str) -> None:
    after = rewritten(text, lines=2)
    expected = values(text)
    for name, value in values(after).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-14, err_msg=f"{name} in {after}")


def random_statements(rng: np.random.Generator, count: int, depth: int = 0) -> list[str]:
    """Random statements on a few names: assignments, additions, stores to items, branches and loops."""
    names = ["x_grad", "w_grad", "y_grad", "a_grad", "b_grad", "c_grad"]
    out: list[str] = []
    for _ in range(count):
        one, two, three = rng.choice(names, 3)
        out += [
            [f"{one} = {two} * {three}"], [f"{one} = -{two}"], [f"{one} += {two} * 2.0"], [f"{one} -= -{three} * {two}"],
            [f"{one} = {two}[::-1]"], [f"{one} = {two}"], [f"{one}[1] = 0.5"], [f"{one} = {two} - {three}"], [f"{one} = 0.5 * {one}"],
            [f"{one} = {two}.copy()"],
        ][rng.integers(10)]  # fmt: skip
        if depth < 2 and rng.random() < 0.15:
            inner = [f"    {line}" for line in random_statements(rng, 4, depth + 1)]
            out += [["if flag:", "if not flag:", "for i in range(2):"][rng.integers(3)], *inner]
    return out


@pytest.mark.parametrize("seed", range(60))
def test_random_statements_compute_the_same(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = [f"{name} = np.array({rng.normal(size=3).tolist()})" for name in ("a_grad", "b_grad", "c_grad")]
    text = "\n".join([*start, *random_statements(rng, 25), "x = x_grad + a_grad", "w = w_grad - b_grad * c_grad", "y = 1.0 * y_grad"])
    expected = copy.deepcopy(values(text))
    for lines in (1, 2):
        after = rewritten(text, lines)
        for name, value in values(after).items():
            np.testing.assert_allclose(value, expected[name], rtol=1e-9, atol=1e-9, err_msg=f"{name} in\n{text}\n->\n{after}")
