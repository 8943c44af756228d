"""Answers of Python about values of its own classes, and exceptions: values x questions x origins, compared with plain Python."""

from __future__ import annotations

import itertools

import pytest

from tests.plainly import verdict

VALUES = {
    "None": "None", "int": "n", "float": "a", "bool": "a > 0", "text": "'ab'", "list": "[a, b]", "tuple": "(a, b)", "dict": "{'k': a}",
    "set": "{1, 2}", "deque": "collections.deque([a])", "item": "x[0].item()", "element": "x[0]", "least": "min(lst)", "most": "max([a, 1, b])",
    "sorted": "sorted(lst)", "sorted mixed": "sorted([2, a, True])", "array": "x", "divmod": "divmod(a, 0.3)", "function": "abs",
    "generator": "(v for v in lst)", "ord": "ord('a')", "instance": "I()", "class": "int",
}  # fmt: skip
QUESTIONS = {
    "class": "v.__class__.__name__ == 'float'", "documented": "v.__doc__ is None", "scalar": "np.isscalar(v)", "size": "np.size(v) == 1",
    "attribute": "v.nothing", "has": "hasattr(v, '__getitem__')", "dtype": "hasattr(v, 'dtype')", "iterator": "iter(v) is v",
    "in itself": "1 in v", "twice": "isinstance(v * 2, int)", "more": "isinstance(v + 1, float)", "halves": "isinstance(v * 1.5, float)",
    "joined": "len(v + v) > 1", "compared": "v == 'ab'", "number": "isinstance(v, float)", "type": "type(v) is type(a)", "listed": "len(list(v)) > 1",
    "largest": "max(v) > 1", "summed": "sum(v) > 1", "unpacked": "[*v] == []",
}  # fmt: skip
WAYS = {
    "bound": "    v = {V}\n{Q}",
    "branch": "    v = {V}\n    if b < 0:\n        v = None\n{Q}",
    "called": "    def g(w=None):\n        return {V}\n    v = g()\n{Q}",
    "looped": "    v = {V}\n    for _ in range(2):\n        v = {V}\n{Q}",
    "given": "    for v in [{V}]:\n        pass\n{Q}",
}
SHOWN = (
    "print(v)",
    "print([v])",
    "print((v, v))",
    "print({'k': v})",
    "print(f'{v}', '%s' % (v,), '{}'.format(v))",
    "print(repr(v), str(v))",
)
HEAD = "class I:\n    pass\ndef f(a, b, n, x, lst):\n    s = 0.0\n"
ARGS = [0.7, 1.9, 4, [0.7, -1.3], [0.5, 1.5, 2.5]]


def run(body: str) -> str:
    args = [ARGS[0], ARGS[1], ARGS[2], __import__("numpy").array(ARGS[3]), list(ARGS[4])]  # type: ignore[arg-type]
    return verdict(HEAD + body, args)


@pytest.mark.sweep(23)
@pytest.mark.parametrize(("value", "question", "way"), list(itertools.product(VALUES, QUESTIONS, WAYS)))
def test_questions_are_answered_as_in_python(value: str, question: str, way: str) -> None:
    asked = f"    if {QUESTIONS[question]}:\n        s += 1.5\n"
    run(WAYS[way].format(V=VALUES[value], Q=asked) + "    return s * a + b\n")


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("value", "shown", "way"), list(itertools.product([v for v in VALUES if v not in ("function", "instance", "generator")], range(len(SHOWN)), WAYS)))  # fmt: skip
def test_values_are_shown_as_in_python(value: str, shown: int, way: str) -> None:
    run(WAYS[way].format(V=VALUES[value], Q=f"    {SHOWN[shown]}\n") + "    return a * b\n")


CHECKS = ["t(a)", "f'{t(a)}'", "(t(a), b)", "x[10]", "'said'", "f'{a:.1f}'"]


@pytest.mark.parametrize(("message", "holds"), list(itertools.product(CHECKS, ("a > 0", "a < 0", "True", "False", "x[0] > 0"))))
def test_a_message_is_evaluated_where_the_test_fails(message: str, holds: str) -> None:
    verdict_ = run(f"    def t(v):\n        print('asked')\n        return v\n    assert {holds}, {message}\n    return a * b\n")
    assert verdict_ in ("right", "raises")


@pytest.mark.parametrize("change", ["d[k + 'x'] = b", "d.pop(k)", "d.clear()", "d.update(z=a)", "d[k] = b"])
@pytest.mark.parametrize("over", ["d", "d.keys()", "d.items()", "d.values()"])
def test_a_dict_that_grows_or_shrinks_while_it_is_gone_over_raises(change: str, over: str) -> None:
    target = {"d.items()": "k, v", "d.values()": "v"}.get(over, "k")
    key = "        k = 'p'\n" if over == "d.values()" else ""
    run(f"    d = {{'p': a, 'q': b}}\n    for {target} in {over}:\n{key}        {change}\n    return sum(d.values())\n")
