"""The class of a bool: Python's or NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plainly import verdict

TRUTHS = {
    "any of a list": "any(lst)", "all of a list": "all(lst)", "any of NumPy's": "any([x[0] > 0, x[1] > 0])",
    "any of a generator": "any(v > 0 for v in x)", "all of a generator": "all(v > -9 for v in x)", "any of a map": "any(map(lambda v: v > 0, x))",
    "any of an array": "any(x > 0)", "np.any": "np.any(x > 0)", "any of nothing": "any([])", "in a tuple": "x[0] in (x[1], x[0])",
    "in a list": "x[0] in [x[1], x[0]]", "in a list of any length": "lst[0] in lst", "in an array": "x[0] in x", "in a set": "1 in {1, 2}",
    "in a range": "3 in range(n)", "number in a range": "x[0] in range(n)", "in a deque": "x[0] in collections.deque([x[0]])",
    "not in": "x[0] not in (x[1], x[2])", "not": "not x[0] > 5", "equal": "x[0] == x[0]", "bool": "bool(x[0] > 0)", "less": "x[0] < 5",
    "chain": "0 < x[0] < 5", "and": "x[0] > 0 and a > 0", "tuples": "(x[0], 1) == (x[0], 1)", "lists": "[x[0]] == [x[0]]",
    "dicts": "{'k': x[0]} == {'k': x[0]}", "order of tuples": "(x[0], 1) < (x[1], 1)", "of Python's": "a > 0", "isinstance": "isinstance(a, float)",
    "conditional": "(x[0] > 0 if a > 0 else False)", "operator.gt": "operator.gt(x[0], 0)", "operator.not_": "operator.not_(x[0])",
    "operator.truth": "operator.truth(x[0])", "operator.contains": "operator.contains([x[0]], x[0])", "xor": "(x[0] > 0) ^ (a > 0)",
    "max": "max(x[0] > 0, x[1] > 0)", "kept": "list(filter(None, [x[0] > 0]))[0]", "count": "[x[0]].count(x[0]) == 1", "is": "(x[0] > 0) is True",
}  # fmt: skip
QUESTIONS = {
    "is": "v is True", "isinstance": "isinstance(v, bool)", "printed": "print(v, repr(v)) is None", "NumPy's": "isinstance(v, np.bool_)",
    "inverted": "~v == -2", "sum": "isinstance(v + v, int)", "type": "type(v) is bool",
}  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_answer_is_a_bool_of_the_right_class(question: str) -> None:
    verdicts = []
    for truth in TRUTHS.values():
        lines = f"import operator\ndef f(a, x, lst, n):\n    v = {truth}\n    return a * (2 if {QUESTIONS[question]} else 3) + x[0]\n"
        verdicts.append(verdict(lines, [0.7, np.array([0.7, -1.3, 2.1]), [0.5, 1.5, 2.5], 4]))
    assert verdicts.count("right") >= 35, dict(zip(TRUTHS, verdicts, strict=True))
