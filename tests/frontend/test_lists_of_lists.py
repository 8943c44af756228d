"""Lists of lists of any length whose inner lists change: random programs with several names."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR, Mismatch, SymgradError
from tests.against_numpy import function_of

HEAD = """import numpy as np

def total(g):
    t = 0.0
    for i, q in enumerate(g):
        for j, v in enumerate(q):
            t += (0.3 + 0.1 * i + 0.07 * j) * v
    return t

def fill(row, v):
    for j in range(len(row)):
        row[j] = row[j] * 0.5 + v * (j + 1)

def pick(g, i):
    return g[i]

def put(g, i, j, v):
    g[i][j] = v

def fresh(x, v):
    return [v * u for u in x]
"""
INDICES = ("0", "1", "-1", "2", "k", "len(g) - 1", "k + 1")
PLACES = ("0", "1", "-1", "k", "2")
NEW_LISTS = ("[[0.5] * n for _ in range(n)]", "[[v, x[0], 1.0] for v in x]", "[list(x) for _ in range(n)]", "[[v * w for w in x] for v in x]",
             "[fresh(x, v) for v in x]", "np.outer(x, x).tolist()")  # fmt: skip
NEW_ROWS = ("[x[0]] * n", "list(x)", "[v * 0.5 for v in x]", "fresh(x, 0.7)", "g[I][:]", "list(g[I])", "[x[1], x[0], 2.0]", "g[I] + [x[0]]")
NUMBERS = ("x[0] * 0.5", "x[1]", "np.sin(x[2])", "g[I][J] * 0.7", "r[J] + 0.2", "h[I][J] * x[0]", "t * 0.3", "0.4")
TESTS = ("x[0] > 0.1", "x[1] > x[2]", "g[I][J] > 0.3", "k == 1", "len(g) > n")


class Program:
    """A random program of a seed, which binds g and h to lists of lists, r and s to lists, t to a number and k to an integer."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.loops = 0

    def filled(self, text: str) -> str:
        while "I" in text or "J" in text or "NUMBER" in text or "ROW" in text or "LISTS" in text or "TEST" in text:
            for word, choices in (("NUMBER", NUMBERS), ("ROW", NEW_ROWS), ("LISTS", NEW_LISTS), ("TEST", TESTS)):
                if word in text:
                    text = text.replace(word, self.random.choice(choices), 1)
                    break
            else:
                places = [f"i{self.loops}"] if self.loops else []
                word, choices = ("I", INDICES) if "I" in text else ("J", PLACES)
                text = text.replace(word, self.random.choice((*choices, *places)), 1)
        return text

    def statement(self, depth: int) -> list[str]:
        plain = (
            "g[I][J] = NUMBER", "g[I][J] += NUMBER", "g[I][J] = NUMBER", "h[I][J] = NUMBER", "r[J] = NUMBER", "r[J] += NUMBER", "s[J] = NUMBER",
            "r = g[I]", "r = g[I]", "s = h[I]", "s = r", "r = s", "r = pick(g, I)", "r = ROW", "s = ROW", "g[I] = ROW", "g.append(ROW)",
            "g[I] = r", "g.append(r)", "g.insert(1, ROW)", "r.append(NUMBER)", "g[I].append(NUMBER)", "h = g", "h = g[:]", "h = list(g)",
            "h = [q for q in g]", "h = [q[:] for q in g]", "h = LISTS", "g = LISTS", "g, h = h, g", "g[I], g[J] = g[J], g[I]", "g.reverse()",
            "fill(g[I], NUMBER)", "fill(r, NUMBER)", "put(g, I, J, NUMBER)", "put(h, I, J, NUMBER)", "t += sum(r)", "t += total(g) * 0.1",
            "t += np.sum(np.array(LISTS)) * 0.1", "r = g[I] if TEST else s", "r = g[I] if TEST else g[I]", "h = g if TEST else h",
            "d = {'a': g, 'b': r}; d['a'][I][J] = NUMBER; t += d['b'][J]", "p = (g, r); p[0][I][J] = NUMBER; t += p[1][J]",
            "t += sum(sum(q) for q in g)", "t += max(g[I]) * 0.2", "r[J], s[J] = s[J], r[J]", "k = (k + 1) % 2", "if len(g) > 3: r = g.pop()",
            "if len(g) > 3: g.pop(0)", "g.extend(h)", "r = sorted(g[I])", "g[I].sort()", "g[I].reverse()", "del r[3:]", "g[I][J] *= r[J]",
        )  # fmt: skip
        if depth and self.random.random() < 0.4:
            kind = self.random.choice(("if", "if", "else", "for", "for", "over", "enumerate", "zip", "try", "while"))
            looping = kind in ("for", "over", "enumerate", "zip", "while")
            if looping and self.loops >= 2:
                return self.statement(0)
            head = {
                "if": "if TEST:", "else": "if TEST:", "try": "try:", "for": f"for i{self.loops + 1} in range(n - 1):",
                "over": f"for i{self.loops + 1}, q in enumerate(g[:]): q[0] += 0.1" if self.random.random() < 0.2 else "for r in g:",
                "enumerate": f"for i{self.loops + 1}, r in enumerate(g[:3]):", "zip": "for r, s in zip(g, h):", "while": "while t < 2.0:",
            }[kind]  # fmt: skip
            lines = [self.filled(head)]
            if lines[0].endswith("0.1"):
                return lines
            named = looping and f"i{self.loops + 1}" in lines[0]
            self.loops += named
            inner = [self.statement(depth - 1) for _ in range(self.random.randint(1, 3))]
            if kind in ("over", "zip"):  # no list is longer or shorter while it is iterated over
                inner = [lines for lines in inner if not any(w in line for line in lines for w in ("append", "insert", "extend", "pop"))]
            body = [line for lines in [*inner, ["t += 0.7"]] for line in lines]
            self.loops -= named
            lines += ["    " + line for line in body]
            if kind == "else":
                lines += ["else:", *("    " + line for line in self.statement(depth - 1))]
            if kind == "try":
                lines += [
                    self.filled("    if TEST: raise ValueError"),
                    "except ValueError:",
                    *("    " + line for line in self.statement(depth - 1)),
                ]
            return lines
        return [self.filled(self.random.choice(plain))]

    def text(self) -> str:
        lines = [self.filled(line) for line in ("t = 0.0", "k = int(x[0] > 0.3)", "g = LISTS", "h = LISTS")]
        lines += [
            self.filled(self.random.choice(("r = ROW", "r = g[1]", "r = h[-1]"))),
            self.filled(self.random.choice(("s = ROW", "s = r", "s = g[0]"))),
        ]
        for _ in range(self.random.randint(3, 8)):
            lines += self.statement(2)
        lines.append("return t + total(g) + 0.5 * total(h) + 0.3 * sum(r) * x[0] + 0.2 * sum(s)")
        return HEAD + "\ndef f(x):\n    n = len(x)\n" + "".join(f"    {line}\n" for line in lines)


def verdict(text: str, x: np.ndarray, derivative: Callable[..., object] | None = None) -> str:
    """Is value and gradient of the program right, or is it refused; "not run" where it raises."""
    function = function_of(text)
    try:
        value = function(x.copy())
        slopes = [(function(x + s) - function(x - s)) / 2e-6 for s in 1e-6 * np.eye(len(x))]
    except (IndexError, ValueError, RecursionError):
        return "not run"
    finer = [(function(x + s) - function(x - s)) / 2e-7 for s in 1e-7 * np.eye(len(x))]
    if not np.isfinite(value) or abs(value) > 1e6 or not np.allclose(slopes, finer, rtol=1e-4, atol=1e-4):
        return "not run"  # at a kink or a jump
    try:
        own, gradient = symgrad.value_and_grad(function)(x.copy())
    except (InvalidIR, Mismatch) as fault:
        return f"crash: {fault}"
    except SymgradError:
        return "refused"
    is_right = np.allclose(own, value, rtol=1e-10) and np.allclose(gradient, slopes, rtol=1e-4, atol=1e-4)
    return "right" if is_right else f"wrong: {own} {value} {gradient} {slopes}"


POINT = np.array([0.4, 0.7, -0.3, 0.9])


@pytest.mark.sweep(180)
@pytest.mark.parametrize("seed", range(1200))
def test_programs_over_lists_of_lists(seed: int) -> None:
    text = Program(seed).text()
    assert verdict(text, POINT) in ("right", "refused", "not run"), text


FROM_THE_CALLER = {
    "an argument": "g.append(c)\n    g[-1][0] = x[0] * 2",
    "an argument of a helper": "fill_last(g, c, x)",
    "one under a key": "d = {'row': c}\n    g.append(d['row'])\n    g[-1][0] = x[0] * 2",
    "at a place": "g[1] = c\n    g[1][0] = x[0] * 2",
    "one of all": "g.append(c)\n    for r in g:\n        r[0] += 1.0",
}


@pytest.mark.parametrize("case", FROM_THE_CALLER)
@pytest.mark.parametrize("n", [3, 12, 500])
def test_a_list_of_the_caller_among_them_stays_his(case: str, n: int) -> None:
    change = FROM_THE_CALLER[case]
    text = f"{HEAD}\n\ndef fill_last(g, row, x):\n    g.append(row)\n    g[-1][0] = x[0] * 2\n\n"
    f = function_of(f"{text}def f(c, x):\n    g = [[v] * 3 for v in x]\n    {change}\n    return sum(c) * x[1] + g[-1][1]\n")
    x = np.linspace(0.3, 1.0, n)
    of_plain, of_derived = [0.1] * n, [0.1] * n
    expected = f(of_plain, x.copy())
    try:
        value = symgrad.value_and_grad(f, wrt="x", verify=False)(of_derived, x.copy())[0]
    except SymgradError:
        assert n > 3
        return
    assert value == pytest.approx(expected, rel=1e-12)
    assert of_derived == pytest.approx(of_plain, rel=1e-12)
    assert of_plain != [0.1] * n
