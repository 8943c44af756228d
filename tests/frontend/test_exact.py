"""Class, identity, equality, truth and text: questions x values x paths, each correct or refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.plainly import function_of, verdict

ARRAY = np.array([0.7, -1.3, 2.1])
HEAD = """
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
P = namedtuple("P", "u v")
class C:
    def __init__(self, v): self.v = v
class D(C):
    def __call__(self): return 1
    def __eq__(self, other): return False
    __hash__ = None
"""
VALUES = {
    "int": "3", "float": "a", "bool": "a > 0", "bool literal": "True", "complex": "a * 1j", "text": "'ab'", "none": "None",
    "empty text": "''", "list": "[a, b]", "empty list": "[]", "list of ints": "[1, 2]", "tuple": "(a, b)", "empty tuple": "()",
    "nested": "[(a, 1), [b]]", "named": "P(a, b)", "dict": "{'k': a}", "empty dict": "{}", "set": "{1, 2}", "frozenset": "frozenset([1])",
    "deque": "deque([a, b])", "empty deque": "deque()", "ordered": "OrderedDict(k=a)", "default": "defaultdict(list)",
    "counter": "Counter('aab')", "instance": "C(a)", "callable instance": "D(a)", "class": "C", "function": "abs", "lambda": "(lambda: a)",
    "array": "x * 2", "element": "x[0]", "row": "x[1:]", "keys": "{'k': a}.keys()", "values": "{'k': a}.values()",
    "items": "{'k': a}.items()", "range": "range(3)", "power": "n ** -1", "whole power": "n ** 2", "division": "n / 2", "floor": "n // 2",
}  # fmt: skip
PATHS = {
    "one": "v = {value}",
    "branch": "v = {value} if a > 0 else {other}",
    "other branch": "v = {other}\nif a > 0:\n    v = {value}",
    "loop": "v = {other}\nfor i in range(n):\n    v = {value}",
    "never": "v = {value}\nfor i in range(n - 2):\n    v = {other}",
    "argument": "v = (lambda w: w)({value})",
    "item": "v = [{value}, {other}][0]",
}
QUESTIONS = {
    "int": "isinstance(v, int)", "float": "isinstance(v, float)", "number": "isinstance(v, (int, float))", "list": "isinstance(v, list)",
    "tuple": "isinstance(v, tuple)", "dict": "isinstance(v, dict)", "set": "isinstance(v, (set, frozenset))", "type": "type(v) is float",
    "type of int": "type(v) is int", "ndarray": "isinstance(v, np.ndarray)", "deque": "isinstance(v, deque)", "exact dict": "type(v) is dict",
    "callable": "callable(v)", "bool": "bool(v)", "truth": "not v", "identity": "v is v", "other list": "v == [a, b]",
    "other tuple": "v == (a, b)", "none": "v is None", "member": "v in (v,)", "hasattr": "hasattr(v, 'append')", "equal": "v == {value}",
    "length": "len(v) == 2", "text": "print(v) is None",
}  # fmt: skip


def program(value: str, path: str, question: str) -> str:
    lines = PATHS[path].format(value=VALUES[value], other="1.5" if value not in ("float", "division") else "2").splitlines()
    asked = QUESTIONS[question].replace("{value}", VALUES[value])
    return HEAD + "def f(a, b, n, x):\n" + "".join(f"    {line}\n" for line in [*lines, f"return a * (2 if {asked} else 3) + b"])


@pytest.mark.sweep(3)
@pytest.mark.parametrize("nth", [24, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("question", QUESTIONS)
def test_an_answer_is_right_or_refused(question: str, nth: int) -> None:
    """Each question of each value, and of every n-th that comes by other paths."""
    counts = {"right": 0, "refused": 0, "raises": 0}
    for k, (value, path) in enumerate(product(VALUES, PATHS)):
        if path != "one" and (k + list(QUESTIONS).index(question)) % nth:
            continue
        text = program(value, path, question)
        counts[verdict(text, [0.7, 1.9, 2, ARRAY.copy()])] += 1
    assert counts["right"] >= 12, counts


TUPLES = {
    "index": "M[p]", "class": "u * (2 if isinstance(p, tuple) else 3)", "list": "u * (2 if isinstance(p, list) else 3)", "length": "u * len(p)",
    "items": "p[0] + 2 * p[1] + u", "unpacked": "(lambda i, j: i + 2 * j + u)(*p)", "compared": "u * (2 if p == (1, 1) else 3)",
    "printed": "(print(p), u)[1]",
}  # fmt: skip
LISTS = {
    "comprehension": "e = [(i, i) for i in range(n)]",
    "appended": "e = []\nfor i in range(n):\n    e.append((i, i))",
    "zip": "e = list(zip(range(n), range(n)))",
    "stack": "e = [(0, 1)]\nfor i in range(n):\n    e.pop()\n    e.append((i, i))",
    "lists": "e = [[i, i] for i in range(n)]",
}


@pytest.mark.parametrize("expression", LISTS)
def test_tuples_stay_tuples_in_lists(expression: str) -> None:
    for name, question in TUPLES.items():
        lines = [
            "M = np.outer(x, x)",
            "u = x[0]",
            *LISTS[expression].splitlines(),
            "s = 0.0",
            f"for p in e:\n        s = s + np.sum({question})",
        ]
        text = "def f(x, n):\n" + "".join(f"    {line}\n" for line in [*lines, "return s + u"])

        assert verdict(text, [ARRAY.copy(), 2]) in ("right", "refused"), name


def test_classes_of_one_name_are_told_apart_in_a_message() -> None:
    text = "def f(a, x):\n    v = x[0] > 0 if a > 0.5 else a > 0\n    return a * 2 if type(v) is bool else a\n"
    with pytest.raises(SymgradError, match=r"numpy\.bool_? or bool"):
        symgrad.grad(function_of(text))(0.7, ARRAY)
