"""Classes that a function defines: kinds of classes x uses, on later calls too, against plain Python."""

from __future__ import annotations

from itertools import product

import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import HEAD, check_kernel_and_second_derivative, function_of, verdict

HELPERS = """
import functools
from dataclasses import dataclass, field
from typing import NamedTuple
class Base:
    factor = 2.0
    def __init__(self, v): self.v = v
    def total(self): return self.v * self.factor
    @property
    def half(self): return self.v / 2
    def grow(self, d):
        self.v += d
        return self
class Registered:
    names = []
    def __init_subclass__(cls): Registered.names.append(cls.__name__)
KEPT = []
class Meta(type):
    def __new__(kind, name, bases, content): return super().__new__(kind, name, bases, content | {"k": 2.0})
"""
#: definitions of a class C whose instances have ``v``, ``total``, ``half`` and ``grow``; methods read the variable ``k`` of the function
OWN = "    @property\n    def half(self): return self.v / 2\n    def grow(self, d):\n        self.v += d\n        return self\n"
DEFINITIONS = {
    "plain": "class C:\n    factor = 3.0\n    def __init__(self, v): self.v = v\n    def total(self): return self.v * self.factor * k\n" + OWN,
    "derived": "class C(Base):\n    def total(self): return super().total() * k",
    "derived twice": "class D(Base):\n    factor = 5.0\nclass C(D):\n    def total(self): return D.total(self) + k",
    "dataclass": "@dataclass\nclass C:\n    v: float\n    w: float = 2.0\n    l: list = field(default_factory=list)\n"
    "    def total(self): return self.v * self.w * k + len(self.l)\n" + OWN,
    "own methods": "class C:\n    def __init__(self, v): self.v = v\n    def __add__(self, o): return C(self.v + o.v)\n"
    "    def __call__(self, d): return self.v * d * k\n    __rmul__ = __add__\n    def total(self): return self(2.0) + (self + self).v\n" + OWN,
    "class methods": "class C(Base):\n    @classmethod\n    def of(cls, v): return cls(v * k)\n    @staticmethod\n    def twice(v): return 2 * v\n"
    "    def total(self): return C.of(self.v).v + self.twice(k)",
    "cached": "class C(Base):\n    @functools.cached_property\n    def area(self): return self.v * k\n    def total(self): return self.area + self.area",
    "factory": "def make(k):\n    class C(Base):\n        def total(self): return self.v * k\n    return C\nC = make(k * 2)",
}  # fmt: skip
USES = {
    "method": "s = C(a).total() * C(b).total()",
    "state": "c = C(a)\nc.grow(b).grow(a * b)\ns = c.total() + c.half",
    "later variable": "c = C(a)\ns = c.total()\nk = k + b\ns += c.total()",
    "one of two": "c = C(a) if a > b else C(b)\nc.grow(1.0)\ns = c.total()",
    "loop": "c = C(a)\ns = 0.0\nfor i in range(n):\n    c.grow(b)\n    s += c.total()",
    "list": "s = sum(c.total() * (i + 1) for i, c in enumerate([C(a), C(b), C(a * b)]))",
    "asked": "c = C(a)\ns = a * (isinstance(c, C) + 2 * isinstance(c, Base) + 4 * hasattr(c, 'half') + 8 * (type(c) is C)) + len(type(c).__name__)",
    "key": "s = max([C(a), C(b)], key=lambda c: c.v).total()",
    "exception": "class E(Exception):\n    def __init__(self, v): self.v = v\ntry:\n    if a > b: raise E(C(a))\n    s = b\nexcept E as e:\n    s = e.v.total()",
    "named tuple": "class T(NamedTuple):\n    u: float\n    w: float = 2.0\n    def both(self): return self.u * self.w * k\n"
    "Q = collections.namedtuple('Q', 'p q')\ns = T(a).both() + T(a, b).both() * Q(a, b).q + C(a).total()",
}  # fmt: skip
#: names of classes, and instances that are created with wrong arguments
OUTSIDE = {
    "qualified names": "def g():\n    class C:\n        def m(self):\n            class D: pass\n            return D()\n    return C()\n"
    "print(type(g()).__qualname__, type(g().m()).__qualname__)\ns = a * b",
    "text of a dataclass": "@dataclass\nclass C:\n    v: float\nprint(C(a), [C(b)])\ns = a * b",
    "no arguments": "class C:\n    def go(self): return self\ntry:\n    C(a)\n    s = a\nexcept TypeError as e:\n    print(e)\n    s = b",
}  # fmt: skip
ARGUMENTS = [[0.9, 0.7, 3], [0.4, 1.7, 0]]


def program(definition: str, use: str) -> str:
    lines = ["k = a * 1.5", *DEFINITIONS[definition].splitlines(), *USES[use].splitlines(), "return s"]
    return HELPERS + "def f(a, b, n):\n" + "".join(f"    {line}\n" for line in lines)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("definition", "use"), [*product(DEFINITIONS, USES)])
def test_classes_in_functions(definition: str, use: str) -> None:
    for arguments in ARGUMENTS:
        assert verdict(program(definition, use), arguments) == "right"


@pytest.mark.parametrize(("definition", "use"), [("plain", "state"), ("derived", "loop"), ("dataclass", "later variable")])
def test_kernels_and_second_derivatives(definition: str, use: str) -> None:
    for arguments in ARGUMENTS:
        check_kernel_and_second_derivative(
            program(definition, use).replace("s += c.total()", "s += c.total() * a * b"), (*arguments[:2], 2)
        )


@pytest.mark.parametrize("body", OUTSIDE)
def test_what_is_seen_outside(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in OUTSIDE[body].splitlines())
    for arguments in ARGUMENTS:
        assert verdict(HELPERS + f"def f(a, b, n):\n{lines}    return s\n", arguments) == "right"


def test_an_exception_without_methods_leaves() -> None:
    f = function_of(HEAD + "def f(a, b):\n    class C(ValueError): pass\n    if a > b: raise C('text', a)\n    return a * b\n")
    assert symgrad.value_and_grad(f)(0.4, 0.7) == pytest.approx((0.28, 0.7))
    with pytest.raises(ValueError) as plain:
        f(0.9, 0.7)
    with pytest.raises(ValueError) as error:
        symgrad.value_and_grad(f)(0.9, 0.7)
    assert (type(error.value).__qualname__, error.value.args) == (type(plain.value).__qualname__, plain.value.args)


@pytest.mark.parametrize("returned", ["C", "C(a, b)", "[C(a, b)]"])
def test_a_class_of_the_function_is_not_returned(returned: str) -> None:
    f = function_of(HEAD + f"def f(a, b):\n    C = collections.namedtuple('C', 'x y')\n    return a * b, {returned}\n")
    with pytest.raises(UnsupportedSyntax, match="class C, which the function defines"):
        symgrad.value_and_grad(f, has_aux=True)(0.9, 0.7)


#: programs that need a new class for each call or iteration
REFUSED = {
    "loop": "s = a\nwhile s < 5.0:\n    class C:\n        def go(self): return s * a\n    s += C().go()",
    "branch": "if a > b:\n    class C:\n        k = 2.0\nelse:\n    class C:\n        k = 3.0\ns = a * C.k",
    "assigned": "class C:\n    count = 0\n    def __init__(self): C.count += 1\nC()\nC()\ns = a * C.count",
    "computed": "class C:\n    k = a * 2\ns = a * C.k",
    "list": "class C:\n    items = []\nC.items.append(a)\ns = len(C.items) * a",
    "nonlocal": "t = a\nclass C:\n    def go(self):\n        nonlocal t\n        t = t * 2\nC().go()\ns = t * b",
    "private": "class C:\n    def __init__(self): self.__p = a\ns = C()._C__p * a",
    "init_subclass": "class C(Registered):\n    k = 2.0\ns = a * C.k",
    "metaclass": "class C(metaclass=Meta): pass\ns = a * C.k",
    "called annotation": "class C:\n    x: print('called') = 3.0\ns = a * C.x",
    "instance kept": "class C:\n    def go(self): return 3.0\nKEPT.append(C())\ns = a",
    "class kept": "class C:\n    def go(self): return 3.0\nKEPT.append([C])\ns = a",
    "method kept": "class C:\n    def go(self): return 3.0\nKEPT.append(C.go)\ns = a",
    "tuple kept": "C = collections.namedtuple('C', 'x y')\nKEPT.append(C(a, b))\ns = a",
    "exception leaves": "class C(Exception):\n    def __str__(self): return 'text'\nif a > 5 * b: raise C()\ns = a",
    "class scope": "k = 2.0\nclass C:\n    k = 3.0\n    def go(self, v=k): return v * a\ns = C().go()",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused_is_never_wrong(body: str) -> None:
    lines = "".join(f"    {line}\n" for line in REFUSED[body].splitlines())
    assert verdict(HELPERS + f"def f(a, b, n):\n{lines}    return s\n", ARGUMENTS[0]) == "refused"
