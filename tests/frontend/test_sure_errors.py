"""Operations that raise for all values, in several places and under handlers."""

from __future__ import annotations

import pytest

from tests.plainly import verdict

HEAD = """
import abc, dataclasses
class Slotted:
    __slots__ = ("u",)
    def __init__(self, u): self.u = u
class Read:
    def __init__(self, u): self.w = u
    @property
    def u(self): return self.w
class Abstract(abc.ABC):
    @abc.abstractmethod
    def g(self): ...
class Shy:
    def __add__(self, other): return NotImplemented
    def __and__(self, other): return NotImplemented
class Number:
    def __init__(self, v): self.v = v
    def __add__(self, other): return self.v + other if isinstance(other, float) else NotImplemented
    def __radd__(self, other): return other + self.v
@dataclasses.dataclass
class Pair:
    u: float
    v: float
P = collections.namedtuple("P", "u v")
def g(u, /, v, *, w=1.0): return u + v + w
"""
WRONG = {
    "too few values": "p, q = [a]", "too many values": "p, q = a, b, a", "too few for a star": "p, q, *r = (a,)",
    "missing argument": "g(a)", "too many arguments": "g(a, b, a)", "unknown argument": "g(a, b, z=a)", "argument twice": "g(a, b, v=b)",
    "keyword for a position": "g(u=a, v=b)", "missing of a lambda": "(lambda u, v: u)(a)", "missing of a dataclass": "Pair(a)",
    "missing of a tuple": "P(a)", "too many of a dataclass": "Pair(a, b, a)", "not a slot": "Slotted(a).z = b", "slot that is empty": "t = Slotted(a)\ndel t.u\nt.u",
    "no setter": "Read(a).u = b", "no deleter": "del Read(a).u", "no such attribute": "del Read(a).z", "abstract": "Abstract()",
    "too many of a tuple": "P(a, b, a)",
    "argument twice by a star": "g(a, v=b, *[b])",
    "the same class is not asked again": "Number(a) + Number(b)",
    "no operator": "Shy() + a", "no operator of bits": "Shy() & Shy()", "item of a tuple": "t = (a, b)\nt[0] = b", "item of a named tuple": "P(a, b)[0] = b",
    "index past the end": "t = [a, b]\nt[2] = a", "slice of another size": "t = [a, b, a]\nt[::2] = [b]", "not in the set": "s = {1}\ns.remove(2)",
    "not in the dict": "d = {'k': a}\nd.pop('z')", "call of a number": "a(b)", "call of a tuple": "t = a, b\nt(0)",
    "call of an array": "(np.ones(2) * a)(b)", "item of a number": "np.sum(np.ones(2) * a)[0]",
    "items of a number": "np.sum(np.ones(2) * a)[:1, 0]", "attribute of a number": "a.name = 'n'", "attribute of a list": "t = [a]\nt.name = b",
    "attribute of an array": "t = np.ones(2) * a\nt.name = b", "attribute of a text": "'t'.name = a", "attribute of a named tuple": "P(a, b).w = b",
    "rank": "np.r_[np.asarray(a)[0], b]",
}  # fmt: skip
PLACES = {
    "statement": "{0}\ns = s + 1",
    "branch": "if a > 0:\n    {1}\ns = s + 1",
    "other branch": "if a < 0:\n    {1}\ns = s + b",
    "loop": "for k in range(3):\n    s = s + a\n    {1}",
    "function": "def h():\n    {1}\n    return a\ns = h()",
}
HANDLERS = {
    "none": "{0}",
    "its own": "try:\n    {1}\nexcept (TypeError, ValueError, AttributeError, LookupError) as e:\n    s = s * 2 + len(type(e).__name__) * b",
    "any": "try:\n    {1}\nexcept Exception:\n    s = s * 3",
    "finally": "try:\n    {1}\nfinally:\n    print('done')",
    "another": "try:\n    try:\n        {2}\n    except OSError:\n        s = 9.0\nexcept Exception:\n    s = s * b",
}


def filled(pattern: str, text: str) -> str:
    return pattern.format(*(text.replace("\n", "\n" + "    " * deep) for deep in range(3)))


@pytest.mark.sweep(8)
@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize("place", PLACES)
def test_what_python_raises_is_raised(place: str, handler: str) -> None:
    for name, wrong in WRONG.items():
        body = filled("\n    {1}", filled(HANDLERS[handler], filled(PLACES[place], wrong)))
        text = f"{HEAD}def f(a, b):\n    s = a{body}\n    return s * a\n"
        assert verdict(text, [0.7, 1.9]) in ("right", "raises"), (name, text)


def test_an_argument_that_is_missing_raises_what_python_raises() -> None:
    calls = (
        "functools.reduce([a])",
        "np.ndim()",
        "operator.add(a)",
        "itertools.islice([a])",
        "math.floor()",
        "copy.copy()",
        "np.linalg.svd()",
    )
    for call in calls:
        text = f"import copy, functools, operator\ndef f(a, b):\n    try:\n        {call}\n    except TypeError:\n        return a * b\n    return a\n"
        assert verdict(text, [0.7, 1.9]) == "right", call
        assert verdict(f"import copy, functools, operator\ndef f(a):\n    {call}\n    return a\n", [0.7]) == "raises", call
