"""Exceptions: classes, arguments and causes; ``finally`` that returns; reductions of empty sequences."""

from __future__ import annotations

from itertools import product

import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import function_of, verdict

CLASSES = """
import functools
class Own(Exception):
    def __init__(self, value, code=3):
        super().__init__(value, code)
        self.value = value
class Slots:
    __slots__ = ("v", "w")
def fails(a, n):
    if n > 2:
        raise Own(a * n)
    return a / n
"""
#: what is raised first: for 0, for 1, for 5
FIRST = {"division": "r = a / n", "callee": "r = fails(a, n)", "index": "r = [a, a * 2][n]", "several": "r = fails(a, n) + [a, a * 2][n]"}
#: how another exception follows from the first, which is ``e``
FOLLOWS = {
    "from": "raise Own(a, 7) from e",
    "from none": "raise Own(a, 7) from None",
    "from a class": "raise Own(a, 7) from KeyError",
    "from another": "raise Own(a, 7) from TypeError('t', 2)",
    "alone": "raise Own(a, 7)",
    "made before": "made = Own(a * 2)\n            raise made from e",
    "again": "try:\n                raise Own(a, 7) from e\n            except Own as inner:\n                inner.value += 1\n                raise",
    "first again": "raise",
}
#: what is asked of the exception that arrives
QUESTIONS = {
    "cause": "r += a * (2 if own.__cause__ is None else 3)",
    "class of the cause": "r += a * (2 if isinstance(own.__cause__, ArithmeticError) else 3 if isinstance(own.__cause__, KeyError) else 5)",
    "suppressed": "r += a * (2 if own.__suppress_context__ else 3)",
    "value": "r += own.value * len(own.args)",
}


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("first", "follows", "question"), list(product(FIRST, FOLLOWS, QUESTIONS)))
def test_exceptions_know_what_they_were_raised_from(first: str, follows: str, question: str) -> None:
    program = f"""{CLASSES}
def f(a, n):
    r = 1.0
    try:
        try:
            {FIRST[first]}
        except Exception as e:
            r = 2.0
            {FOLLOWS[follows]}
    except Own as own:
        {QUESTIONS[question]}
    return r * a
"""
    for n in (0, 1, 5):
        assert verdict(program, [0.7, n]) in ("right", "raises")


ASKED = {
    "arguments": "print(e.args, e.args[0], len(e.args))\n        r = a * len(str(e))",
    "its class": "print(type(e).__name__, type(e) is IndexError, e.__class__.__name__)\n        r = a * 2",
    "whether it is one of": "r = a * (2 if isinstance(e, (IndexError, KeyError)) else 3) + isinstance(e, ArithmeticError)",
    "its text": "print(e, repr(e), [str(e)])\n        r = a * 2",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "first", ["r = a / n", "r = [a, a * 2][n] / n", "r = np.ones(3).reshape(n + 1, -1)[0, n]", "r = math.sqrt(a - n) / n"]
)
@pytest.mark.parametrize("asked", ASKED)
def test_what_operations_raise_can_be_asked(first: str, asked: str) -> None:
    program = f"def f(a, n):\n    try:\n        {first}\n    except Exception as e:\n        {ASKED[asked]}\n    return r\n"
    for n in (0, 1, 5):
        assert verdict(program, [0.7, n]) == "right"


@pytest.mark.parametrize(("body", "what"), [("raise Own(a)", "own"), ("r = a / n", "an operation's")])
def test_what_python_stores_where_it_raises_is_refused(body: str, what: str) -> None:
    program = f"{CLASSES}def f(a, n):\n    try:\n        {body}\n    except Exception as e:\n        r = a if e.__context__ is None else 2.0\n    return r\n"
    with pytest.raises(UnsupportedSyntax, match=r"__context__.* is not supported(.|\n)*raise it from the other exception"):
        symgrad.grad(function_of(program))(0.7, 0)


def test_a_slot_that_was_not_filled_is_missing() -> None:
    program = (
        f"{CLASSES}def f(a, n):\n    c = Slots()\n    try:\n        return c.w * 3\n    except AttributeError:\n        return a * 5\n"
    )
    assert verdict(program, [0.7, 0]) == "right"


FINALLY = {
    "returns": "if n == 0:\n            return a * 7",
    "raises": "if n == 0:\n            raise KeyError(n)",
    "changes": "a = a * 3\n        print(a > 1)",
    "returns always": "return a * 5",
    "loops": "for k in range(n):\n            if k == 1:\n                return a * k",
}
BODIES = {"return": "return a / n", "pass": "r = a / n", "raise": "raise Own(a)", "nested": "return inner(a, n) + 1"}
USES = {
    "added": "s = g(a, n) + 1",
    "bound": "r = g(a, n)\n        s = r * r",
    "loop": "for k in range(2):\n            s += g(a, n - k)",
    "argument": "s = max(g(a, n), a)",
}


@pytest.mark.parametrize(("ending", "body", "use"), list(product(FINALLY, BODIES, USES)))
@pytest.mark.sweep(4)
def test_a_callee_is_left_by_its_finally(ending: str, body: str, use: str) -> None:
    program = f"""{CLASSES}
def inner(a, n):
    try:
        return a / n
    finally:
        if n == 1:
            return a * 11
def g(a, n):
    try:
        {BODIES[body]}
    finally:
        {FINALLY[ending]}
    return a * 13
def f(a, n):
    s = 0.5
    try:
        {USES[use]}
    except (Own, ArithmeticError, KeyError):
        s = s * 3 + a
    return s
"""
    for n in (0, 1, 2):
        assert verdict(program, [0.7, n]) == "right"


@pytest.mark.parametrize("over", ["x[n:]", "list(x)[n:]", "[v for v in x if v > n]", "map(abs, list(x)[n:])", "(v * 2 for v in x[n:])"])
def test_a_fold_of_nothing_is_a_type_error(over: str) -> None:
    program = f"{CLASSES}def f(a, x, n):\n    return a * functools.reduce(lambda p, q: p * q + 1, {over})\n"
    x = [0.7, 1.3]
    assert verdict(program, [0.7, x, 0]) == "right"
    assert verdict(program, [0.7, x, 2]) == "raises"


def test_a_slice_whose_step_may_be_zero_stays_in_its_loop() -> None:
    program = "def f(a, n, k):\n    x = np.ones(4) * a\n    s = a\n    for i in range(n):\n        s += np.sum(x[::k])\n    return s\n"
    assert verdict(program, [0.7, 0, 0]) == "right"
    assert verdict(program, [0.7, 2, 2]) == "right"
    assert verdict(program, [0.7, 2, 0]) == "raises"


NAMES = {
    "branch": "if {test}:\n        v = a * 3",
    "handler": "v = a\n    try:\n        if not {test}:\n            raise ValueError\n    except ValueError as v:\n        pass",
    "loop": "k = 0\n    while k < 3 and {test}:\n        v = a * k\n        k += 1",
}


@pytest.mark.parametrize("kind", ["NameError", "UnboundLocalError", "(KeyError, NameError)"])
@pytest.mark.parametrize("binding", NAMES)
def test_a_handler_of_names_that_may_be_unbound_is_refused_unless_integers_decide(binding: str, kind: str) -> None:
    program = "def f(a, n):\n    {before}{binding}\n    try:\n        {read}\n    except {kind}:\n        r = a * 5\n    return r\n"
    result = {test: NAMES[binding].format(test=test) for test in ("n > 0", "a > n")}
    decided = program.format(before="", binding=result["n > 0"], read="r = v * 2", kind=kind)
    assert [verdict(decided, [0.7, n]) for n in (0, 1)] == ["right", "right"]
    with pytest.raises(UnsupportedSyntax, match="whether 'v' is bound here(.|\n)*bind it to None before"):
        symgrad.grad(function_of(program.format(before="", binding=result["a > n"], read="r = v * 2", kind=kind)))(0.7, 1)
    if binding != "handler":  # what follows the hint is followed
        read = "r = a * 5 if v is None else v * 2"
        followed = program.format(before="v = None\n    ", binding=result["a > n"], read=read, kind=kind)
        assert [verdict(followed, [0.7, n]) for n in (0, 1)] == ["right", "right"]
