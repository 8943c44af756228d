"""Lists and tuples returned by NumPy: every question of Python's sequences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.plainly import verdict

#: what gives a list or a tuple of arrays or numbers; ``M`` is a matrix
GIVERS = (
    "np.split(x, 3)", "np.array_split(x, 2)", "np.hsplit(x, 3)", "np.vsplit(M, 3)", "np.meshgrid(x, x)", "np.gradient(M)", "np.unstack(M)",
    "np.nonzero(x)", "np.broadcast_arrays(x, M)", "np.ix_(x, x)", "np.where(x > 0)", "np.unique(x, return_counts=True)", "np.modf(x)",
    "np.divmod(x, 2.0)", "divmod(x[0], 2.0)", "np.linalg.eigh(M @ M.T)", "np.linalg.qr(M)", "x.tolist()", "M.tolist()",
    "[x * k for k in range(n)]", "tuple(x * k for k in range(n))",
)  # fmt: skip
#: questions of ``p`` and of ``q``, which is ``p``
QUESTIONS = (
    "isinstance(p, list)", "isinstance(p, tuple)", "isinstance(p, np.ndarray)", "type(p) in (list, tuple)", "p is q", "p is not q", "p == q", "p != q",
    "len(p)", "len(p[:2])", "len(p[1:])", "len(p + p)", "len(p * 2)", "bool(p)", "not p", "2 if p else 3", "len(p + [x])", "len(p + (x,))",
    "len(list(p))", "len(tuple(p))", "len([*p, *q])", "hasattr(p, 'append')", "hasattr(p, 'shape')", "np.shape(p[0])", "p.index(p[0])", "p[0] in p",
    "any(v is p[1] for v in p)", "p[0] is q[0]", "[p][0] is p", "{'a': p}['a'] is q", "type(reversed(p)).__name__", "type(iter(p)).__name__",
    "(p.append(x), len(q))[1]", "(p.pop(), len(q))[1]", "(p.insert(0, x), len(q))[1]", "(p.extend(q), len(q))[1]", "(p.clear(), len(q))[1]",
    "(p.reverse(), np.shape(q[0]))[1]", "p.copy() is p", "callable(p)", "p.count(3) if isinstance(p[0], float) else 0",
)  # fmt: skip
#: of numbers, of which it is not known whether they are one object, and of what a function made without a row
UNKNOWN = {
    "any(v is p[1] for v in p)": ("np.nonzero(x)", "np.where(x > 0)", "divmod(x[0], 2.0)", "x.tolist()", "M.tolist()"),
    "p[0] is q[0]": ("x.tolist()", "M.tolist()"),
}  # fmt: skip
CASES = [case for case in product(GIVERS, QUESTIONS) if "np.unstack" not in case[0] or hasattr(np, "unstack")]


@pytest.mark.sweep(11)
@pytest.mark.parametrize(("giver", "question"), CASES)
def test_what_a_function_gives_answers_as_pythons_own(giver: str, question: str) -> None:
    text = f"def f(x, n):\n    M = np.outer(x, x) + np.eye(3)\n    p = {giver}\n    q = p\n    print({question})\n    return np.sum(x * x) + len(q)\n"
    outcome = verdict(text, [np.array([0.7, 0.9, 1.3]), 12])
    assert (outcome == "refused") == (giver in UNKNOWN.get(question, ()))


#: lists that are split: NumPy asks for their shape, which they have not
SPLIT_LISTS = {
    "np.array_split([a, b, a * b], 2)": "right", "np.array_split((a, b), 3)": "right", "np.array_split([1, 2, 3], 2)": "right",
    "np.array_split([[a, b], [b, a]], 2, axis=1)": "right", "np.array_split([[a, b, a], [b, a, 2.0]], 2, axis=1)": "refused",
    "np.array_split([[a, b, a], [b, a, 2.0]], 2)": "right", "np.split([a, b, a], [1])": "right", "np.split([a, b], 2)": "raises",
    "np.hsplit([a, b], [1])": "raises", "np.vsplit([[a], [b]], 2)": "raises", "np.vsplit([[a], [b]], [1])": "right",
}  # fmt: skip


@pytest.mark.parametrize("parts", SPLIT_LISTS)
def test_a_list_is_split_as_numpy_does_it(parts: str) -> None:
    text = f"def f(a, b):\n    p = {parts}\n    return sum(np.sum(v) * (k + v.size) for k, v in enumerate(p)) + a * b * len(p)\n"
    assert verdict(text, [0.7, 1.9]) == SPLIT_LISTS[parts]
