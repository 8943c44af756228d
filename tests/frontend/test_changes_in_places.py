"""Side effects during the evaluation of an expression: effects x places, compared with plain Python."""

from __future__ import annotations

from itertools import product

import pytest

from tests.against_numpy import function_of, judged

HEAD = """import contextlib
import numpy as np

class Box:
    def __init__(self, v):
        self.v = v

def halves(v):
    while True:
        v = 0.5 * v + 0.3
        yield v

def f(x, y):
    v = np.array([1.0, 2.0, 3.0]) * x
    z = x * y
    k = 0
"""
#: for each thing that changes: statements before, the expression (a number) that changes it, and the expression that reads it at the end
CHANGES = {
    "variable of a closure": (
        "acc = y\ndef g(u):\n    nonlocal acc\n    acc = 0.5 * acc + u\n    return acc", "g(0.3)", "acc"),
    "unbound variable of a closure": (
        "if y > 9.0:\n    acc = y\ndef g(u):\n    nonlocal acc\n    acc = x * u\n    return acc", "g(0.3)", "acc"),
    "array": ("acc = np.array([y, x])\ndef g(u):\n    acc[0] = 0.5 * acc[0] + u\n    return acc[0]", "g(0.3)", "acc[0] * acc[1]"),
    "array by a name": ("acc = np.array([y, x])\nown = acc[:1]\ndef g(u):\n    own += u\n    return own[0]".replace("own += u", "own[:] += u"),
                        "g(0.3)", "acc[0]"),
    "list": ("acc = [y]\ndef g(u):\n    acc.append(0.5 * acc[-1] + u)\n    return acc[-1]", "g(0.3)", "acc[-1] * len(acc)"),
    "list that shrinks": ("acc = [y * n for n in range(1, 40)]", "acc.pop()", "acc[-1] * len(acc)"),
    "dict": ("acc = {'v': y}\ndef g(u):\n    acc['v'] = 0.5 * acc['v'] + u\n    return acc['v']", "g(0.3)", "acc['v']"),
    "attribute": ("acc = Box(y)\ndef g(b, u):\n    b.v = 0.5 * b.v + u\n    return b.v", "g(acc, 0.3)", "acc.v"),
    "walrus": ("acc = y", "(acc := 0.5 * acc + 0.3)", "acc"),
    "generator": ("acc = halves(y)", "next(acc)", "next(acc)"),
    "iterator": ("acc = iter([y * n for n in range(1, 40)])", "next(acc)", "next(acc)"),
}  # fmt: skip
#: where it stands, as G
PLACES = {
    "while": "while G > 0.1 and k < 3:\n    k += 1",
    "while alone": "while G < 0.0:\n    k += 1",
    "while behind and": "while k < 3 and G > 0.1:\n    k += 1",
    "while behind or": "while k < 2 or G < -9.0:\n    k += 1",
    "while not": "while not (G < 0.1 or k > 2):\n    k += 1\n    z = z * G",
    "while of a loop": "for t in v:\n    k = 0\n    while G > 0.2 * t and k < 2:\n        k += 1",
    "while with else": "while k < 2 and G > 0.1:\n    k += 1\nelse:\n    z = z * G",
    "while chosen": "while (1.0 if G > 0.5 else 2.0) < 1.5 and k < 3:\n    k += 1",
    "while true": "while True:\n    k += 1\n    if G < 0.1 or k > 3:\n        break",
    "if": "if G > 0.1:\n    z = 2.0 * z",
    "elif": "if x > 9.0:\n    z = 1.0\nelif G > 0.1:\n    z = 2.0 * z",
    "and": "z = z * float(y > 0.1 and G > 0.1)",
    "or": "z = z * float(y > 0.1 or G > 0.1) + G",
    "chosen": "z = z * (2.0 if G > 0.1 else 3.0)",
    "on a side": "z = z * (G if y > 0.1 else 3.0)",
    "chain": "z = z + (0.0 < G < 5.0)",
    "argument": "z = max(G, 0.1) * z + max(0.1, G)",
    "two arguments": "z = (lambda a, b: a - 2.0 * b)(G, G)",
    "keyword": "z = (lambda a, b: a - 2.0 * b)(b=G, a=G)",
    "default": "def h(a, b=G):\n    return a * b\nz = h(z) + h(x)",
    "operands": "z = G - 2.0 * G",
    "item": "z = z + v[int(G) % 3]",
    "slice": "z = z + np.sum(v[int(G * 0.1):])",
    "store": "v[int(G) % 3] = G\nz = z + v[0] * v[1]",
    "augmented": "v[int(G) % 3] += G\nz = z + v[0] * v[1]",
    "sequence": "a, b = G, G\nz = z * a + b",
    "iterable": "for t in [G, x, G]:\n    z = z * 0.5 + t",
    "bound": "for t in range(1 + int(G) % 3):\n    z = z * 0.5 + t",
    "element": "z = z + sum([G * n for n in range(3)])",
    "condition": "z = z + sum([1.0 * n for n in range(3) if G > 0.1 * n])",
    "lazy": "z = z + sum(G for _ in range(2))",
    "stopped": "z = z + any(G > 0.1 * n for n in range(3))",
    "dict": "d = {'a': G, 'b': G}\nz = z + d['a'] - 2.0 * d['b']",
    "with": "with contextlib.nullcontext(G) as t:\n    z = z * t",
    "try": "try:\n    if G > 0.1:\n        raise ValueError\n    z = 5.0\nexcept ValueError:\n    z = z * G",
    "finally": "try:\n    z = z * G\nfinally:\n    z = z + G",
    "assert": "assert G > -9.0",
    "match": "match int(G):\n    case 0:\n        z = z * G\n    case _:\n        z = z + G",
    "text": "t = f'{G > 0.1}'\nz = z * len(t)",
    "inner function": "def h():\n    return G * 2.0\nz = z + h() * h()",
    "returned": "def h():\n    if G > 0.1:\n        return G\n    return x\nz = z + h()",
}


def source(change: str, place: str) -> str:
    before, expression, end = CHANGES[change]
    body = f"{before}\n{PLACES[place].replace('G', expression)}\nreturn z + 1.5 * {end} + 0.25 * k\n"
    return HEAD + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.sweep(10)
@pytest.mark.parametrize(("change", "place"), list(product(CHANGES, PLACES)), ids=str)
def test_what_changes_while_an_expression_is_evaluated(change: str, place: str) -> None:
    verdict = judged(function_of(source(change, place)), {"x": 0.7, "y": 0.9})
    assert verdict[0] in ("right", "refused", "not taken"), (source(change, place), verdict)
