"""Operands held during the evaluation of other operands: stores x aliases x joins, compared with plain Python.

An alias binds another name or place to an object; a join gives the first name another object on some paths; a store changes the object
through the alias; a question reads it by the first name. No answer may be wrong, and where no store follows, each must be right.
"""

from __future__ import annotations

import ast
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import symgrad.frontend
from tests.plainly import verdict

CLASSES = """
class C:
    def __init__(self, v): self.v = v
class H:
    def __init__(self, o): self.o = o
    def __enter__(self): return self.o
    def __exit__(self, *e): {store_exit}
"""

#: what an object is, how it is stored to through ``q``, and what is read of it by ``o``
KINDS = {
    "instance": ("C({})", "q.v = 7.0 * a", "o.v"),
    "list": ("[{}]", "q[0] = 7.0 * a", "o[0]"),
    "dict": ("{{'k': {}}}", "q['k'] = 7.0 * a", "o['k']"),
    "array": ("np.array([1.0, 2.0]) * {}", "q[0] = 7.0 * a", "np.sum(o)"),
    "grown": ("[{}, 1.0]", "q.append(7.0 * a)", "sum(o)"),
}

#: what gives ``o`` another object on some paths, or on all
JOINS = {
    "branch": "if a < {sign}:\n    o = {other}",
    "else": "if a < {sign}:\n    s = 1.0\nelse:\n    o = {other}",
    "loop": "for i in range(n):\n    o = {other}",
    "nested loop": "for i in range(2):\n    for j in range(n):\n        o = {other}",
    "while": "while n > 0:\n    o = {other}\n    n -= 1",
    "call": "rebind()",
    "comprehension": "t = [rebind() for i in range(2)]",
    "expression": "o = o if a > {sign} else {other}",
}

#: where the object is held: the lines before the join, around it, and after
HOLDERS = {
    "name": ("q = o\n{join}\n{store}", False),
    "argument": ("use(o, upd())", True),
    "keyword": ("use(k=upd(), q=o)", False),
    "list display": ("l = [o, upd()]\nq = l[0]\n{store}", True),
    "tuple": ("q, k = o, upd()\n{store}", True),
    "dict display": ("d = {{'o': o, 'k': upd()}}\nq = d['o']\n{store}", True),
    "for item": ("for q in (C(1.0), o)[1:]:\n    {join}\n    {store}", False),
    "comprehension item": ("t = [use(q, upd()) for q in (o,)]", True),
    "manager": ("with H(o) as q:\n    {join}\n    {store}", False),
    "return": ("q, k = pair()\n{store}", True),
    "attribute": ("h = H(o)\n{join}\nq = h.o\n{store}", False),
    "default": ("def late(q=o):\n    {store}\n    return 0.0\n{join}\nlate()", False),
    "finally": ("q = out()\n{store}", True),
}


def indented(text: str, depth: int = 1) -> str:
    return "".join("    " * depth + line + "\n" for line in text.splitlines())


def filled(template: str, **parts: str) -> str:
    """A template with parts of several lines, each as deep as its place."""
    lines: list[str] = []
    for line in template.splitlines():
        depth = len(line) - len(line.lstrip())
        lines += [" " * depth + part for part in line.lstrip().format(**parts).splitlines()]
    return "\n".join(lines)


def program(kind: str, join: str, holder: str, sign: str, stored: bool) -> str:
    initial, store, question = KINDS[kind]
    joined = JOINS[join].format(sign=sign, other=initial.format("c"))
    template, _ = HOLDERS[holder]
    body = filled(template, join=joined, store=store if stored else "s = 1.0")
    rebinding = JOINS["branch"].format(sign=sign, other=initial.format("c"))
    inside = rebinding if join in ("call", "comprehension") else joined.replace("n > 0", "m > 0").replace("n -= 1", "m -= 1")
    inside = ("m = n\n" if join == "while" else "") + (inside.replace("range(n)", "range(n)"))
    text = CLASSES.format(store_exit="pass")
    text += "def f(a, c, n):\n"
    text += indented(f"o = {initial.format('a')}")
    text += indented("def rebind():\n    nonlocal o\n" + indented(rebinding) + "    return 1.0")
    text += indented("def upd():\n    nonlocal o\n" + indented(inside) + "    return 1.0")
    text += indented("def use(q, k):\n" + indented(store if stored else "s = 1.0") + "    return 1.0")
    text += indented("def pair():\n    return o, upd()")
    text += indented("def out():\n    try:\n        return o\n    finally:\n        upd()")
    text += indented(body)
    return text + indented(f"return {question} * 2.0 + a")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("nth", [6, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stored", [True, False], ids=["stored", "read"])
def test_what_is_held_is_reached(kind: str, stored: bool, nth: int) -> None:
    """One join of all, and every n-th of the others."""
    counts = {"right": 0, "refused": 0}
    for k, (join, holder, sign) in enumerate(product(JOINS, HOLDERS, ("0", "9"))):
        if k % nth == list(KINDS).index(kind) % nth or (join, sign) == ("branch", "0"):
            counts[verdict(program(kind, join, holder, sign, stored), [0.7, -0.6, 2])] += 1
    assert counts["right"] >= (5 if stored else counts["refused"]), counts


#: calls that give a value which no operand holds
GIVING = {"attribute_of", "load", "items_of", "unpack"}


def held_apart(function: ast.FunctionDef) -> list[str]:
    """Locals of a statement's lowering that are given by something else than ``evaluate`` and used after more is evaluated."""
    versions: dict[str, int] = {}
    evaluated: list[int] = []
    kept: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name):
            if node.value.func.id in GIVING and isinstance(node.targets[0], ast.Name):
                versions.setdefault(node.targets[0].id, node.lineno)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("evaluate", "hold"):
            evaluated += [node.lineno] if node.func.attr == "evaluate" else []
            if node.func.attr == "hold":
                kept |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    uses = {n.id: n.lineno for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return [name for name, line in versions.items() if name not in kept and any(line < at <= uses.get(name, 0) for at in evaluated)]


@pytest.mark.parametrize(
    "module", ["statements", "targets", "expressions", "operators", "comparison", "truths", "calls", "loads", "stores", "attributes"]
)
def test_what_is_not_evaluated_as_an_expression_is_held(module: str) -> None:
    tree = ast.parse(next(Path(symgrad.frontend.__file__).parent.rglob(f"{module}.py")).read_text())
    functions = [n for n in tree.body if isinstance(n, ast.FunctionDef)]
    assert {f.name: held_apart(f) for f in functions if held_apart(f)} == {}


def shortened(x):
    def total(held):
        for v in x:
            if v > 0.8:
                held = [held[0]]
            held.append(v)
        return sum(v * v for v in held)

    return total([x[0], x[1]])


def test_what_is_handed_to_a_function_is_its_parameter_alone() -> None:
    """An operand would keep the first list alive beside the second one, and each round would copy the list that is either."""
    derivative = symgrad.value_and_grad(shortened)
    x = np.array([0.7, 0.9, 1.3])
    value, slopes = derivative(x)
    assert value == pytest.approx(shortened(x), rel=1e-12)
    steps = 1e-6 * np.eye(3)
    assert slopes == pytest.approx([(shortened(x + step) - shortened(x - step)) / 2e-6 for step in steps], rel=1e-8)
    assert "slice" not in derivative.source()
