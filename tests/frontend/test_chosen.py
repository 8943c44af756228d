"""Names that are one of two objects, by branch, iteration, index or key: kinds x choices x stores x questions.

The name ``t`` is one of ``p`` and ``q``, which have names of their own. A store through one of the three names is seen through the others
where they are one object.
"""

from __future__ import annotations

from itertools import product

import pytest

import symgrad
from symgrad.errors import NotCompiled
from tests.plainly import HEAD, function_of, verdict

CLASS = """
class C:
    def __init__(self, v): self.v = v
class H: pass
def better(u, w, get):
    if get(u) > get(w):
        return u
    return w
"""

#: what an object is made of, what is read of it, and stores through a name
KINDS = {
    "instance": ("C({})", "{}.v", ["{}.v = {}.v * 2.0 + a", "{}.v += b"]),
    "new attribute": ("C({})", "{}.v", ["{}.v, {}.w = a * b, 1.0", "del {}.v\n{}.v = a"]),
    "list": ("[{}, 1.0]", "{}[0]", ["{}[0] = {}[0] * 2.0 + a", "{}[n - 3] += b"]),
    "grown": ("[{}, 1.0]", "sum({})", ["{}.append(a)", "{}.insert(0, b)", "{}.pop()", "{} += [a]"]),
    "shorter": ("[{}] * n", "sum({})", ["{}.append(a)", "{}.pop()", "{}.extend([b, a])"]),
    "dict": ("{{'k': {}}}", "{}['k']", ["{}['k'] = {}['k'] * 2.0 + a", "{}['l'] = a"]),
    "array": ("np.array([1.0, 2.0]) * {}", "{}[1]", ["{}[1] = {}[0] * a", "{} *= b", "{}[:] = a"]),
    "array in instance": ("C(np.array([1.0, 2.0]) * {})", "{}.v[1]", ["{}.v[1] = {}.v[0] * a", "{}.v = np.ones(2) * a", "{}.v += b"]),
    "list in instance": ("C([{}, 2.0])", "{}.v[0]", ["{}.v[0] = {}.v[1] * a", "{}.v = [a, b]"]),
    "instance in list": ("[C({}), 2.0]", "{}[0].v", ["{}[0].v = {}[1] * a", "{}[0] = C(b)"]),
}  # fmt: skip

#: how ``t`` becomes one of them; ``READ`` is what is read of each
CHOICES = {
    "branch": "t = p\nif READ(q) > READ(p):\n    t = q",
    "expression": "t = q if a > b else p",
    "else": "if a < 0.0:\n    t = p\nelse:\n    if b > 1.0:\n        t = q\n    else:\n        t = p",
    "fresh": "t = p\nif a > b:\n    t = OTHER",
    "none": "t = None\nfor c in (p, q):\n    if t is None or READ(c) > READ(t):\n        t = c",
    "loop": "t = p\nfor i in range(n):\n    if READ(q) > i:\n        t = q",
    "nested loop": "t = p\nfor i in range(n):\n    for j in range(i):\n        if READ(q) > j:\n            t = q",
    "while": "t, i = p, 0\nwhile i < n:\n    if READ(q) > i:\n        t = q\n    i += 1",
    "call": "t = better(p, q, READ)",
    "comprehension": "t = p\ns = [(t := c) for c in (p, q) if READ(c) > 1.0]",
    "key": "t = max((p, q), key=READ)",
    "index": "t = [p, q][n % 2]",
    "place": "l = [p, q]\nfor i in range(2):\n    t = l[i]\n    if READ(t) > 1.0:\n        break",
    "attribute": "h = H()\nh.best = p\nif READ(q) > READ(h.best):\n    h.best = q\nt = h.best",
    "swap": "t, u = p, q\nif a > b:\n    t, u = u, t",
    "swaps": "t, u = p, q\nfor i in range(n):\n    t, u = u, t",
    "dict": "d = {'k': p}\nif a > b:\n    d['k'] = q\nt = d['k']",
    "item": "l = [p]\nif a > b:\n    l[0] = q\nt = l[0]",
    "early return": "def g():\n    if a > b:\n        return q\n    return p\nt = g()",
}  # fmt: skip

#: what is stored through which names, in order
STORES = {"chosen": "t", "first": "p", "second": "q", "both": "tp", "back": "qt", "all": "tpqt", "none": ""}
WHERE = {"after": "{}", "branch": "if b > 0.5:\n    {}", "loop": "for k in range(2):\n    {}"}


def indented(text: str, depth: int = 1) -> str:
    return "".join("    " * depth + line + "\n" for line in text.splitlines())


def program(kind: str, choice: str, names: str, where: str, form: int) -> str:
    initial, read, stores = KINDS[kind]
    stored = stores[form % len(stores)]
    lines = [f"p, q = {initial.format('a')}, {initial.format('b')}", f"get = lambda o: {read.format('o')}"]
    lines.append(CHOICES[choice].replace("READ", "get").replace("OTHER", initial.format("a * b")))
    for name in names:
        lines.append(WHERE[where].format(stored.replace("{}", name).replace("\n", "\n    " if where != "after" else "\n")))
    total = " + ".join(f"{weight} * {read.format(name)}" for weight, name in ((1.0, "t"), (10.0, "p"), (100.0, "q")))
    lines.append(f"return {total} + (a if t is p else b) + (a * b if q is t else a)")
    return CLASS + "def f(a, b, n):\n" + "".join(map(indented, lines))


def cases() -> list[tuple[str, str, str, str]]:
    return list(product(KINDS, CHOICES, STORES, WHERE))


ARGUMENTS = ([0.7, 1.9, 3], [1.9, 0.7, 4])


def counted(some: list[tuple[int, tuple[str, str, str, str]]]) -> dict[str, int]:
    counts = {"right": 0, "refused": 0, "raises": 0}
    for form, (kind, choice, stores, where) in some:
        text = program(kind, choice, STORES[stores], where, form)
        counts[verdict(text, ARGUMENTS[form // 7 % 2])] += 1
    return counts


@pytest.mark.sweep(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_store_reaches_the_object_that_it_is(kind: str) -> None:
    mine = [(k, case) for k, case in enumerate(cases()) if case[0] == kind]
    counts = counted(mine[list(KINDS).index(kind) :: 41])
    assert counts["right"] > counts["refused"], counts


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("choice", CHOICES)
def test_every_store_reaches_the_object_that_it_is(kind: str, choice: str) -> None:
    mine = [(k, case) for k, case in enumerate(cases()) if case[:2] == (kind, choice)]
    counted([(form + shift, case) for form, case in mine for shift in (0, 8)])


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", ["instance", "list", "array", "array in instance"])
@pytest.mark.parametrize("choice", ["branch", "loop", "swaps", "index"])
def test_kernels_and_second_derivatives_agree(kind: str, choice: str) -> None:
    f = function_of(HEAD + program(kind, choice, STORES["all"], "after", 0))
    args = ARGUMENTS[0]
    value, gradient = symgrad.value_and_grad(f, wrt=("a", "b"))(*args)
    try:
        compiled = symgrad.value_and_grad(f, wrt=("a", "b"), jit=True)(*args)
    except NotCompiled:
        compiled = value, gradient
    assert compiled[0] == pytest.approx(value)
    assert compiled[1] == pytest.approx(gradient)

    def slope(a: float) -> float:
        return float(symgrad.grad(f, wrt="a")(a, *args[1:]))

    second = symgrad.grad(symgrad.grad(f, wrt="a"), wrt="a", allow_unused=True)(*args)
    differences = (slope(args[0] + 1e-5) - slope(args[0] - 1e-5)) / 2e-5
    assert float(second or 0.0) == pytest.approx(differences, rel=1e-4, abs=1e-4)
