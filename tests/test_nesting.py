"""Functions of one long or deeply nested construct: differentiated, or refused as such, and never a ``RecursionError``."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest
from test_growth import body, function_of

import symgrad
from symgrad.errors import UnsupportedSyntax


def indented(depth: int, *lines: str) -> list[str]:
    return [" " * depth + line for line in lines]


def statement_nest(heads: Callable[[int], str], depth: int) -> str:
    """Statements with a body, each in the body of the one before."""
    inside = [line for k in range(depth) for line in indented(k, heads(k))]
    return body(["s = w", *inside, *indented(depth, "s = s * 1.1"), "w = s"])


def expression(text: str) -> str:
    return body([f"w = {text}"])


def elif_chain(count: int) -> str:
    words = [f"{'elif' if k else 'if'} w > {count - k}:\n        s = s * {k}.5" for k in range(count)]
    return body(["s = w", *words, "else:\n        s = s * x[0]", "w = s"])


def called_in_turn(count: int) -> str:
    """Functions of which each calls the one before."""
    first = "def g0(w):\n    return np.sin(w)\n\n\n"
    return first + "".join(f"def g{k}(w):\n    return g{k - 1}(w) * 1.01\n\n\n" for k in range(1, count)) + expression(f"g{count - 1}(w)")


def literal(opened: str, closed: str, count: int, word: str = "w * {k}") -> str:
    return body([f"held = {opened}{', '.join(word.format(k=k) for k in range(count))}{closed}", "w = held[7] * w"])


#: a construct so long or so deep, and whether it is followed
PROGRAMS: dict[str, tuple[str, bool]] = {
    "a sum of a thousand terms": (expression(" + ".join(f"x[{k % 4}] * w" for k in range(1000))), True),
    "a product of three hundred": (expression(" * ".join(["w"] * 300)), True),
    "brackets": (expression("(w + " * 90 + "x[0]" + ")" * 90), True),
    "calls in calls": (expression("np.sin(" * 90 + "w" + ")" * 90), True),
    "signs": (expression("-" * 300 + "w"), True),
    "methods of methods": (expression("np.sum(x" + ".copy()" * 300 + ") * w"), True),
    "slices of slices": (expression("np.sum(x" + "[:]" * 300 + ") * w"), True),
    "tests in turn": (expression("w if " + " and ".join(f"x[{k % 4}] > -{k}.5" for k in range(300)) + " else x[1]"), True),
    "choices": (expression("".join(f"w * {k} if w > {k} else " for k in range(60)) + "w"), True),
    "choices beyond the bound": (expression("".join(f"w * {k} if w > {k} else " for k in range(300)) + "w"), False),
    "branches": (statement_nest(lambda k: f"if w > -{k}.5:", 85), True),
    "loops": (statement_nest(lambda k: f"for i{k} in range(1):", 19), True),
    "loops and branches": (statement_nest(lambda k: f"for i{k} in range(1):" if k % 2 else f"if w > -{k}.5:", 30), True),
    "loops that end": (statement_nest(lambda k: f"while s < {k + 1}:", 18), True),
    "loops of a generator": (expression("sum(w * x[0] " + " ".join(f"for i{k} in range(1)" for k in range(18)) + ")"), True),
    "elif": (elif_chain(80), True),
    "elif beyond the bound": (elif_chain(500), False),
    "branches in turn": (body([f"if w > {k}:\n        w = w * 0.5 + x[0]" for k in range(200)]), True),
    "early exits": (body([f"if w > {k + 1}:\n        return w * {k}.5" for k in range(150)]), False),
    "calls of functions": (called_in_turn(200), True),
    "functions of functions": (body(["g = lambda v: v * w", *["g = (lambda h: lambda v: h(v) * 1.01)(g)"] * 200, "w = g(x[0])"]), True),
    "a list": (literal("[", "]", 300), True),
    "a tuple": (literal("(", ")", 300), True),
    "an array": (literal("np.array([", "])", 300), True),
    "a dict": (literal("{", "}", 300, "{k}: w * {k}"), True),
    "a list in a list": (body([f"held = {'[' * 90}w{']' * 90}", f"w = held{'[0]' * 90} * w"]), True),
    "a tuple in a tuple": (body(["held = (w,)", *["held = (held, w)"] * 300, "w = held[1] * w"]), True),
    "names": (body([*(f"v{k} = w * {k}" for k in range(500)), "w = " + " + ".join(f"v{k}" for k in range(500))]), True),
    "stores": (body(["y = x.copy()", *(f"y[{k % 4}] = y[{(k + 1) % 4}] * w" for k in range(500)), "x = y"]), True),
    "statements": (body([f"w = np.sin(w) * x[{k % 4}] + {k}.5" for k in range(2000)]), True),
}


def outcome(text: str, jit: bool) -> bool:
    """Is a program differentiated, and right beside differences? It may be refused as too deep, and nothing else."""
    function, x, w = function_of(text), np.array([0.7, 1.1, 0.4, 0.9]), 0.8
    try:
        gradient = symgrad.grad(function, "w", jit=jit)(x, w)
    except UnsupportedSyntax as refusal:
        assert "nested too deeply" in str(refusal)
        return False
    assert np.isclose(gradient, (function(x, w + 1e-6) - function(x, w - 1e-6)) / 2e-6, rtol=1e-5, atol=1e-6)
    return True


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_long_or_deep_is_followed_or_refused(name: str) -> None:
    text, is_followed = PROGRAMS[name]
    assert outcome(text, jit=False) == is_followed


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:f runs as NumPy code")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_long_or_deep_is_compiled_or_runs_as_numpy_code(name: str) -> None:
    text, is_followed = PROGRAMS[name]
    start = time.process_time()
    assert outcome(text, jit=True) == is_followed
    assert time.process_time() - start < 60
