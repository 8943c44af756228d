"""Programs over long lists and tuples: element kinds x operations, as texts for ``plainly.verdict``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kind:
    """What a list holds: ``make(random, k)`` gives an item, ``{v}`` in ``number`` is one, ``again`` makes another one of it."""

    make: Callable[[np.random.Generator, int], Any]
    number: str  #: a number of an item
    again: str  #: another item, made of one
    change: str = ""  #: a statement that changes an item in place


KINDS: dict[str, Kind] = {
    "float": Kind(lambda random, k: float(random.normal()), "{v} * {v}", "{v} * 2.0"),
    "array": Kind(lambda random, k: random.normal(size=2), "np.sum({v} ** 2)", "{v} * 2.0", "{v}[0] = c"),
    "shapes": Kind(lambda random, k: random.normal(size=2 + k % 3), "np.sum({v} ** 2)", "np.tanh({v})", "{v} *= c"),
    "matrix": Kind(lambda random, k: random.normal(size=(2, 2)), "np.sum({v}[0] * {v}[1])", "{v} @ {v}", "{v}[1, 0] = c"),
    "tuple": Kind(lambda random, k: (float(random.normal()), random.normal(size=2)), "{v}[0] * np.sum({v}[1])", "({v}[0] + c, {v}[1] * c)"),
    "list": Kind(lambda random, k: [float(random.normal()), float(random.normal())], "{v}[0] * {v}[1]", "[{v}[1], {v}[0]]", "{v}[0] = c"),
    "ragged": Kind(
        lambda random, k: [random.normal(size=2) for _ in range(1 + k % 3)],
        "sum(np.sum(u * u) for u in {v})",
        "[u * c for u in {v}]",
        "{v}.append({v}[0])",
    ),  # fmt: skip
    "dict": Kind(
        lambda random, k: {"w": random.normal(size=2), "b": float(random.normal())},
        "np.sum({v}['w']) * {v}['b']",
        "{{'w': {v}['w'] * c, 'b': {v}['b']}}",
        "{v}['b'] = c",
    ),  # fmt: skip
    "words": Kind(
        lambda random, k: (("a", "b")[k % 2], float(random.normal())), "({v}[1] if {v}[0] == 'a' else 2 * {v}[1])", "('b', {v}[1] * c)"
    ),
}

#: operations over a list ``l`` and a number ``c``, with what makes a number of the outcome
OPERATIONS: dict[str, str] = {
    "iterate": "s = 0.0\nfor v in l:\n    s += {number}\nreturn s * c",
    "enumerate": "s = 0.0\nfor i, v in enumerate(l):\n    s += i * {number}\nreturn s * c",
    "zip": "s = 0.0\nfor v, k in zip(l, range(len(l))):\n    s += k * {number}\nreturn s * c",
    "zip itself": "s = 0.0\nfor u, v in zip(l, l[1:]):\n    s += {number_u} * {number}\nreturn s * c",
    "reversed": "s = 0.0\nfor v in reversed(l):\n    s = s * c + {number}\nreturn s",
    "comprehension": "m = [{again} for v in l]\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "filtered": "m = [v for v in l if {number} > 0]\ns = c\nfor v in m:\n    s += {number}\nreturn s",
    "sum": "return sum({number} for v in l) * c",
    "first and last": "v = l[0]\ns = {number}\nv = l[-1]\nreturn s * {number} * c",
    "computed index": "s = 0.0\nfor i in range(len(l)):\n    v = l[i]\n    s += {number} * i\nreturn s * c",
    "negative index": "s = 0.0\nfor i in range(1, len(l) + 1):\n    v = l[-i]\n    s += {number} * i\nreturn s * c",
    "while": "s, i = 0.0, 0\nwhile i < len(l):\n    v = l[i]\n    s = s * c + {number}\n    i += 2\nreturn s",
    "slice": "s = 0.0\nfor v in l[1:-1]:\n    s += {number}\nreturn s * c",
    "slice by steps": "s = 0.0\nfor v in l[::-2]:\n    s = c * s + {number}\nreturn s",
    "length": "s = 0.0\nfor v in l:\n    s += {number} / len(l)\nreturn s * c",
    "appended": "m = []\nfor v in l:\n    m.append({again})\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "appended to": "m = list(l)\nv = l[0]\nm.append({again})\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "extended": "m = l[:2]\nm.extend(l[3:])\ns = c\nfor v in m:\n    s += {number}\nreturn s",
    "inserted": "m = list(l)\nm.insert(2, l[-1])\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "popped": "m = list(l)\nv = m.pop()\ns = {number} * c\nfor v in m:\n    s += {number}\nreturn s",
    "popped in a loop": "m = list(l)\ns = 0.0\nwhile len(m) > 1:\n    v = m.pop()\n    s = s * c + {number}\nreturn s",
    "deleted": "m = list(l)\ndel m[3]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "stored": "m = list(l)\nv = l[0]\nm[4] = {again}\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s",
    "stored in a loop": "m = list(l)\nfor i in range(1, len(m)):\n    v = m[i]\n    m[i] = {again}\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "slice stored": "m = list(l)\nm[1:4] = l[5:7]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "slice stored at the start": "m = list(l)\nm[:2] = [l[1], l[0]]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "slice stored at the end": "m = list(l)\nm[3:] = l[:2]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "slice stored before the end": "m = list(l)\nm[-3:-1] = l[:1]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "slice stored of all": "m = list(l)\nm[:] = l[1:]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "slice stored between": "m = list(l)\nm[2:2] = l[:2]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "slice stored from behind to before": "m = list(l)\nm[5:2] = l[:1]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "concatenated": "m = l[2:] + l[:2]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "repeated": "m = l * 2\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "written down": "m = [l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], l[9], l[0]]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\n"
    "v = m[3]\nreturn s * c + {number}",
    "a tuple written down": "m = l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], l[9]\ns = 0.0\nfor u, v in zip(m, m[1:]):\n    s += {number} * {number_u}\n"
    "return s * c",
    "written down and changed": "m = [l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], l[9]]\nfor i, v in enumerate(m):\n    m[i] = {again}\ns = 0.0\n"
    "for v in m:\n    s += {number}\nfor v in l:\n    s += {number}\nreturn s",
    "written down, items changed": "m = [l[0], l[1], l[2], l[3], l[4], l[5], l[6], l[7], l[8], l[9]]\nfor v in m:\n    {change}\ns = 0.0\nfor v in l:\n    s += {number}\nreturn s",
    "filled in part": "m = [None] * len(l)\nfor i in range(0, len(l), 2):\n    m[i] = l[i]\ns = 0.0\nfor v in m:\n    if v is not None:\n"
    "        s += {number}\nreturn s * c",
    "changed in another list": "m = []\nfor v in l:\n    m.append(v)\nv = l[2]\n{change}\nv = m[2]\ns = {number}\nv = m[3]\nreturn s * {number}",
    "filled later": "m = [None] * len(l)\nm[-1] = l[-1]\nfor i in range(len(l) - 2, -1, -1):\n    v = l[i]\n    m[i] = {again}\ns = 0.0\n"
    "for i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "repeated often": "m = [l[3]] * len(l)\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "numbers repeated": "m = [c, 2.0] * len(l)\nfor i, v in enumerate(l):\n    m[i] = m[i] + {number}\nreturn sum(m)",
    "popped anywhere": "m = list(l)\nv = m.pop(2)\ns = {number} * c\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s",
    "slice deleted": "m = list(l)\ndel m[2:-3]\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "both ends unpacked": "v, *m, u = l\ns = {number} * {number_u}\nfor v in m:\n    s += {number}\nreturn s * c",
    "compared": "return c * (l == l[:]) + c * (l != l[1:])",
    "found": "return c * l.index(l[3]) + c * (l[2] in l) + c * l.count(l[1])",
    "all at once": "return c * len([v for v in l]) + sum([{number} for v in l])",
    "star arguments": "def g(v, *m):\n    return {number} * len(m)\nreturn g(*l) * c",
    "given back": "return {number} * c if (v := l[4]) is l[4] else c",
    "appended to what was given": "l.append(l[0])\ns = 0.0\nfor v in l:\n    s += {number}\nreturn s * c",
    "filled once more": "m = []\nfor _ in range(3):\n    for v in l:\n        m.append({again})\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "nested": "m = []\nfor i in range(len(l)):\n    m.append([v for v in l[: i + 1]])\ns = 0.0\nfor r in m:\n    for v in r:\n        s += {number}\nreturn s",
    "reversed in place": "m = list(l)\nm.reverse()\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "sorted": "m = sorted(l, key=lambda v: {number})\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "sorted in place": "m = list(l)\nm.sort(key=lambda v: -{number})\ns = 0.0\nfor i, v in enumerate(m):\n    s += i * {number}\nreturn s * c",
    "unpacked": "v, *m = l\ns = {number} * c\nfor v in m:\n    s += {number}\nreturn s",
    "last unpacked": "*m, v = l\ns = {number} * c\nfor v in m:\n    s += {number}\nreturn s",
    "passed": "def g(m):\n    s = 0.0\n    for v in m:\n        s += {number}\n    return s\nreturn g(l) * c + g(l[1:])",
    "returned": "def g(m):\n    return [{again} for v in m]\ns = 0.0\nfor v in g(l):\n    s += {number}\nreturn s",
    "carried": "m = l\nfor _ in range(3):\n    m = [{again} for v in m]\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "chosen": "m = l[1:] if c > 0 else l[2:]\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s * c",
    "recursion": "def g(m):\n    if len(m) == 0:\n        return c\n    v = m[0]\n    return {number} + g(m[1:])\nreturn g(l)",
    "carried item": "u = l[0]\ns = 0.0\nfor v in l[1:]:\n    s += {number} * {number_u}\n    u = v\nreturn s * c",
    "best": "u = l[0]\nfor v in l:\n    if {number} > {number_u}:\n        u = v\nreturn {number_u} * c",
    "changed": "for v in l:\n    {change}\ns = 0.0\nfor v in l:\n    s += {number}\nreturn s",
    "changed through an item": "v = l[2]\n{change}\ns = 0.0\nfor v in l:\n    s += {number}\nreturn s",
    "one twice": "m = list(l)\nm[1] = m[0]\nv = m[1]\n{change}\ns = 0.0\nfor i, v in enumerate(m):\n    s += (i + 1) * {number}\nreturn s",
    "appended and changed": "m = []\nv = l[0]\nfor _ in range(3):\n    m.append(v)\n{change}\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
    "appended, changed inside": "m = []\nfor v in l:\n    m.append(v)\n    {change}\ns = 0.0\nfor v in m:\n    s += {number}\nreturn s",
}


def program(kind: Kind, operation: str) -> str | None:
    """The text of a program; None where the kind of items has no such operation."""
    template = OPERATIONS[operation]
    if "{change}" in template and not kind.change:
        return None
    words = {"number": kind.number.format(v="v"), "number_u": kind.number.format(v="u"), "again": kind.again.format(v="v"),
             "change": kind.change.format(v="v")}  # fmt: skip
    body = template.format(**words)
    return "def f(l, c):\n" + "".join(f"    {line}\n" for line in body.splitlines())


def arguments(kind: Kind, holder: type, length: int) -> list[Any]:
    """The arguments of a program."""
    random = np.random.default_rng(length)
    return [holder(kind.make(random, k) for k in range(length)), 1.25]
