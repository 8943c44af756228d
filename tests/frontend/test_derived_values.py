"""Instances of classes that derive from tuple, float, int and str: classes x operations, compared with plain Python.

Value, output and gradient are those of Python, or the program is refused. ``REFUSED`` lists the pairs that are refused.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.plainly import function_of

HEAD = "import math, operator\nimport numpy as np\n"
#: the classes; each pairs its body with the expression of an instance, from floats x and y and an int n
NUMBERS = {
    "methods": ("class C(float):\n    def twice(self): return C(2 * self)\n    def squared(self): return self * self\n", "C(x)"),
    "attribute": (
        "class C(float):\n    def __new__(cls, value, unit='m'):\n        self = super().__new__(cls, value * 2)\n        self.unit = unit\n"
        "        return self\n    def twice(self): return C(self + self, self.unit)\n    def squared(self): return self * self\n",
        "C(x, 'km')",
    ),
    "__init__": (
        "class C(float):\n    def __new__(cls, value, unit): return float.__new__(cls, value)\n"
        "    def __init__(self, value, unit): self.unit, self.number = unit, value\n"
        "    def twice(self): return C(self.number * 2, self.unit)\n    def squared(self): return self ** 2 + len(self.unit)\n",
        "C(x, unit='m')",
    ),
    "operators": (
        "class C(float):\n    def __add__(self, o): return C(float(self) + 3 * float(o))\n    __radd__ = __add__\n"
        "    def __mul__(self, o): return C(super().__mul__(o) + 1.0)\n    def __lt__(self, o): return False\n"
        "    def __neg__(self): return C(float(self) * 5)\n    def twice(self): return self + self\n    def squared(self): return self * self\n",
        "C(x)",
    ),
    "conversions": (
        "class C(float):\n    def __float__(self): return 3.0\n    def __abs__(self): return 7.0\n    def __bool__(self): return False\n"
        "    def __int__(self): return 4\n    def __round__(self, k=0): return 2.0\n    def __floor__(self): return 9\n"
        "    def __repr__(self): return 'C'\n    def __eq__(self, o): return True\n    __hash__ = float.__hash__\n"
        "    def twice(self): return 2 * self\n    def squared(self): return self * self\n",
        "C(x)",
    ),
    "two bases": (
        "class A:\n    def twice(self): return type(self)(2 * self)\nclass B(float):\n    def squared(self): return self * self\nclass C(A, B):\n    pass\n",
        "C(x)",
    ),
    "int": ("class C(int):\n    def twice(self): return C(2 * self)\n    def squared(self): return self * self\n", "C(n)"),
    "int with __add__": (
        "class C(int):\n    def __new__(cls, value=0): return int.__new__(cls, value + 1)\n    def __add__(self, o): return C(int(self) + o)\n"
        "    def twice(self): return self + self\n    def squared(self): return self ** 2\n",
        "C(n)",
    ),
}
ON_NUMBERS = (
    "r = c.squared() * y", "r = c.twice().squared()", "r = c + y", "r = y + c", "r = c * c", "r = y - c", "r = c - y", "r = c / y", "r = y / c",
    "r = c ** 2", "r = 2.0 ** c", "r = -c * y", "r = abs(c) * y", "r = float(c) * y", "r = int(c) * y", "r = round(c, 1) * y", "r = math.sin(c) * y",
    "r = np.sin(c) * y", "r = math.floor(c) * y", "r = y if c else 2 * y", "r = y if c == 0.7 else 2 * y", "r = y if c < 5 else 2 * y",
    "r = y * isinstance(c, C) + isinstance(c, (float, int)) * y", "r = y * (type(c) is C) + 2 * (type(c + c) is C)",
    "r = y * (type(c.twice()) is C) + (type(c * 2.0) in (float, int))", "r = sum([c, c.twice(), y])", "r = max(c, y) * min(c, 2.0)",
    "r = y * isinstance(max(c, C(0)), C) if C is not None else y", "r = np.sum(np.array([c, y]) * 2.0)", "r = np.array([1.0, 2.0]) @ np.array([y, y]) * c",
    "r = float(np.sum(np.array([1.0, y]) * c))", "r = c\n    for i in range(3): r = r + c\n    r = r * y",
    "q = c\n    for i in range(3): q = q.twice()\n    r = q.squared() * y", "q = c if y > 0 else c.twice()\n    r = q.squared()",
    "q = c if y > 9 else y\n    r = q * y", "r = 0.0\n    for q in (c, c.twice()): r += q.squared() * y", "q = [c, c.twice()]\n    r = q[0].squared() + q[1] * y",
    "q = []\n    for i in range(n + 3): q.append(c)\n    r = sum(q) * y", "q = []\n    for i in range(n + 3): q.append(c)\n    r = q[n].squared() * y",
    "print(f'{c:.2f}', '%.3f' % c)\n    r = c * y", "print(c, [c])\n    r = c * y", "print(str(c), repr(c))\n    r = y", "r = y * len(f'{c:.3f}')", "d = {'k': c}\n    r = d['k'].squared() * y",
    "c.extra = y\n    r = c.extra * c", "r = c.real * y", "r = y * c.is_integer()", "r = divmod(c, 2.0)[1] * y", "r = (c // 2) * y + c % 2",
    "def g(v): return v.squared() * y\n    r = g(c) + g(c.twice())", "r = (lambda v, w=c: v * w)(y)", "r = y * (c is c) + y * (c is C(c))",
    "d = {c: y}\n    r = d[c]", "d = {2: y, 3: 2.0}\n    r = d[c]", "r = C.squared(c) * y", "r = float.__add__(c, y) if isinstance(c, float) else y",
    "r = operator.add(c, y) * operator.mul(y, c)", "c += y\n    r = c * y + isinstance(c, C)", "r = y * hash(c)", "r = math.hypot(c, y)",
    "r = [y, 2 * y, 3 * y, 5 * y, y, y, y, y, y, y, y][c]", "r = sum(y * i for i in range(c))", "r = y * sum(1 for v in [c, 1.5] if v == c)", "r = sorted([c, y, 0.1])[1] * y",
    "r = np.array([y, y * y, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])[c] * 2", "r = np.maximum(c, y) + np.where(c > 0, c, y)", "r = complex(c, y).real * c.imag + y",
    "try:\n        r = c / 0\n    except ZeroDivisionError:\n        r = c * y", "match c:\n        case float(): r = c * y\n        case _: r = y",
    "z = np.zeros(3)\n    z[0] = c\n    r = np.sum(z) * y", "r = pow(c, 2) * y", "r = y * callable(c) + c", "r = getattr(c, 'twice')() * y", "r = y * hasattr(c, 'unit')",
    "r = c.missing * y", "r = c + 'a'", "r = c[0]", "r = len(c) * y",
)  # fmt: skip
TUPLES = {
    "methods": (
        "class C(tuple):\n    def twice(self): return C(2 * v for v in self)\n    def dot(self, o): return sum(a * b for a, b in zip(self, o))\n",
        "C((x, y))",
    ),
    "__new__": (
        "class C(tuple):\n    __slots__ = ()\n    def __new__(cls, a, b): return tuple.__new__(cls, (a, b))\n"
        "    a = property(operator.itemgetter(0))\n    @property\n    def b(self): return self[1]\n"
        "    def twice(self): return C(2 * self[0], 2 * self[1])\n    def dot(self, o): return self.a * o.a + self.b * o.b\n",
        "C(x, y)",
    ),
    "operators": (
        "class C(tuple):\n    def __new__(cls, a, b): return super().__new__(cls, (a, b))\n"
        "    def __add__(self, o): return C(self[0] + o[0], self[1] + o[1])\n    def __mul__(self, s): return C(self[0] * s, self[1] * s)\n"
        "    __rmul__ = __mul__\n    def __eq__(self, o): return True\n    def __hash__(self): return 1\n    def __len__(self): return 7\n"
        "    def __getitem__(self, k): return 2 * super().__getitem__(k)\n    def twice(self): return self * 2.0\n    def dot(self, o): return self[0] * o[0]\n",
        "C(x, y)",
    ),
    "classmethod": (
        "class C(tuple):\n    def __new__(cls, *v): return super().__new__(cls, v)\n    @classmethod\n    def of(cls, v): return cls(v, v)\n"
        "    def twice(self): return self.of(self[0])\n    def dot(self, o): return sum(map(operator.mul, self, o))\n    def __iter__(self): return iter([1.0, 2.0])\n",
        "C(x, y)",
    ),
}
ON_TUPLES = (
    "r = c.dot(c)", "r = c.twice().dot(c)", "a, b = c\n    r = a * b", "r = c[0] * c[-1]", "r = len(c) * c[0]", "r = sum(c) * y", "r = (c + c)[1] * y", "r = (c * 2)[1] * y",
    "r = (2 * c)[0] * y", "r = y if c == (x, y) else 2 * y", "r = y if (x, y) == c else 2 * y", "r = y if c < (9.0, 1.0) else 2 * y", "r = y * isinstance(c, tuple) * isinstance(c, C)",
    "r = y * (type(c) is C) + (type(c + c) is tuple) + (type(c[:1]) is tuple)", "r = 0.0\n    for v in c: r += v * y", "r = np.sum(np.array(c) ** 2)",
    "r = np.dot(c, [1.0, 2.0])", "def g(a, b): return a * b\n    r = g(*c)", "r = max(c) * min(c)", "a, *b = c\n    r = a * b[0]", "r = c.index(x) + y", "r = y * (x in c)",
    "for i in range(3): c = c.twice()\n    r = c.dot(c)", "q = c if x > 0 else c.twice()\n    r = q.dot(c)", "q = [c, c.twice()]\n    r = q[1].dot(q[0])",
    "q = []\n    for i in range(n + 3): q.append(c)\n    r = q[n].dot(c)", "r = list(c)[0] * tuple(c)[1]", "print(c, f'{c}')\n    r = y * c[0]", "c.extra = y\n    r = c.extra * x",
    "d = {(1, 2): x, 'k': c}\n    r = d['k'].dot(c)", "d = {c: y}\n    r = d[c]", "match c:\n        case (a, b): r = a * b\n        case _: r = y", "r = y if c else x", "r = sorted(c)[0] * y",
    "r = [v * y for v in reversed(c)][0]", "r = dict(zip('ab', c))['b'] * x", "r = np.array([1.0, y, x])[list(map(int, c))[0]]", "c += (y,)\n    r = sum(c) + isinstance(c, C)", "r = tuple.__getitem__(c, 0) * y",
    "r = sum(v * w for v, w in zip(c, c))", "r = sum(i * v for i, v in enumerate(c))", "c[0] = y\n    r = y", "r = c.missing", "r = c[n] * y", "r = C.dot(c, c)", "r = hash(c) * y", "r = np.array([c, c]).sum()",
)  # fmt: skip
TEXTS = {
    "methods": ("class C(str):\n    def tagged(self): return C(self + '!')\n    def size(self): return len(self)\n", "C('ab')"),
    "operators": (
        "class C(str):\n    def __new__(cls, text):\n        self = str.__new__(cls, text.upper())\n        self.raw = text\n        return self\n"
        "    def __add__(self, o): return C(self.raw + 'zz')\n    def __eq__(self, o): return len(o) == 2\n    def __hash__(self): return 5\n"
        "    def __len__(self): return 9\n    def tagged(self): return self + '?'\n    def size(self): return len(self.raw)\n",
        "C('ab')",
    ),
}
ON_TEXTS = (
    "r = y * len(c)", "r = y * c.size() + c.tagged().size()", "r = y if c == 'ab' else 2 * y", "r = y if 'ab' == c else 2 * y", "r = y * len(c + 'x') * len('x' + c)", "r = y * len(c.upper())", "r = y * (c.upper() == 'AB')",
    "d = {'ab': x, 'AB': 2.0}\n    r = d[c] * y", "d = {c: x}\n    r = d[c] * d['ab']", "r = y * ('a' in c) + c.startswith('a')", "print(f'{c}|{c!r}|{c:>5}')\n    r = y", "print(c, [c], '%s' % c)\n    r = y", "r = y * len([v for v in c])",
    "r = y * isinstance(c, str) * (type(c) is C) + (type(c + 'a') is str)", "r = y * len(c[0]) * (c[0] == 'a')", "r = y * len(','.join([c, 'x']))", "r = y if c in ('ab', 'x') else x", "r = y if c else x", "r = getattr(y, c, 3.0) * y", "q = c.tagged() if x > 0 else c\n    r = q.size() * y",
    "for i in range(2): c = c.tagged()\n    r = c.size() * y", "r = y * len(c * 2)", "r = {'ab': 1.0, 'AB': 5.0}.get(c, 2.0) * y", "r = y * ord(c[0])", "match c:\n        case 'ab': r = x\n        case _: r = y", "r = y * (c is c) + (C(c) is c)", "r = y * (sorted([c, 'a'])[0] == 'a')",
)  # fmt: skip
CASES = [
    (kind, name, text)
    for classes, texts, kind in ((NUMBERS, ON_NUMBERS, "number"), (TUPLES, ON_TUPLES, "tuple"), (TEXTS, ON_TEXTS, "text"))
    for name in classes
    for text in texts
]
CLASSES = {"number": NUMBERS, "tuple": TUPLES, "text": TEXTS}


def program(kind: str, name: str, text: str) -> str:
    body, instance = CLASSES[kind][name]
    return f"{HEAD}{body}\ndef f(x, y, n=2):\n    c = {instance}\n    {text}\n    return r\n"


def result(call: Any) -> Any:
    """What a call returns, or the exception of Python that it raises."""
    try:
        return call()
    except SymgradError:
        raise
    except Exception as error:
        return type(error)


def judge(text: str, jit: Any) -> str:
    """Right or refused; anything else is an AssertionError."""
    plain, function = function_of(text), function_of(text)
    expected = result(lambda: plain(0.7, 1.3))
    try:
        outcome = result(lambda: symgrad.value_and_grad(function, wrt=("x", "y"), allow_unused=True, jit=jit)(0.7, 1.3))
    except SymgradError as error:
        assert type(error).__name__ not in ("InvalidIR", "Mismatch"), f"{error}\n{text}"
        return "refused"
    if isinstance(expected, type):
        assert outcome is expected, f"{outcome}, and Python raises {expected}\n{text}"
        return "right"
    assert not isinstance(outcome, type), f"{outcome} is raised\n{text}"
    value, gradient = outcome
    assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-12), f"{value}, and Python gives {expected}\n{text}"
    for k in range(2):
        up, down = ([0.7, 1.3] for _ in range(2))
        up[k], down[k] = up[k] + 1e-6, down[k] - 1e-6
        slope = (plain(*up) - plain(*down)) / 2e-6
        assert math.isclose(gradient[k], slope, rel_tol=1e-5, abs_tol=1e-5), f"{gradient}, {slope} along {k}\n{text}"
    return "right"


@pytest.mark.sweep(16)
@pytest.mark.parametrize("jit", [False, "auto"], ids=["numpy", "numba"])
@pytest.mark.parametrize(("kind", "name", "text"), CASES, ids=[f"{case[0]}-{case[1]}-{case[2]}".replace("\n", ";") for case in CASES])
def test_an_instance_is_what_python_makes_of_it(kind: str, name: str, text: str, jit: Any) -> None:
    assert judge(program(kind, name, text), jit) in ("right", "refused")


SINGLE = """
class Single:
    held, count = None, 0
    def __new__(cls, *args):
        Single.count += 1
        if cls.held is None:
            cls.held = super().__new__(cls)
        return cls.held
"""
PLAIN = {
    "one instance": f"{SINGLE}def f(x, y):\n    return x * y * (2 if Single() is Single() else 3)\n",
    "attributes": "class C:\n    def __new__(cls, v):\n        self = object.__new__(cls)\n        self.v = v * 2\n        return self\n"
    "    def __init__(self, v): self.w = self.v * v\ndef f(x, y):\n    return C(x).w * y\n",
    "another class": "class A:\n    def __init__(self, v): self.v = v\nclass C:\n    def __new__(cls, v): return A(v) if type(cls) is type else None\n"
    "    def __init__(self, v): 1 / 0\ndef f(x, y):\n    return C(x).v * y\n",
    "a number": "class C:\n    def __new__(cls, v): return v * v\n    def __init__(self, v): 1 / 0\ndef f(x, y):\n    return C(x) * y\n",
    "classes above": "class A:\n    scale = 3.0\n    def __new__(cls, v):\n        self = super().__new__(cls)\n        self.v = v * cls.scale\n"
    "        return self\n    @classmethod\n    def of(cls, v): return cls(v + cls.scale)\nclass C(A):\n    scale = 2.0\n"
    "    @classmethod\n    def of(cls, v): return super().of(v * v)\ndef f(x, y):\n    return C.of(x).v * y\n",
    "super with arguments": "class A:\n    def __init__(self, v): self.v = v\n    def squared(self): return self.v * self.v\n"
    "    @classmethod\n    def of(cls, v): return cls(v + 1)\nclass C(A):\n    def __new__(cls, *v): return super(C, cls).__new__(cls)\n"
    "    def __init__(self, v): super(C, self).__init__(2 * v)\n    def squared(self): return super(C, self).squared() + 1\n"
    "    @classmethod\n    def of(cls, v): return super(C, cls).of(v * v)\ndef f(x, y):\n    return C(x).squared() * C.of(y).squared()\n",
    "a list begun by __new__": "import collections\nclass C(collections.UserList):\n    def __new__(cls, *v):\n        self = super(C, cls).__new__(cls)\n"
    "        super().__init__(self)\n        return self\n    def __init__(self, *v): self.data = list(v)\ndef f(x, y):\n    return sum(C(x, y)) * C(y)[0]\n",
    "super of another class": "class A:\n    pass\nclass C:\n    def m(self): return super(A, self).m()\ndef f(x, y):\n    return C().m() * x * y\n",
    "arguments of object": "class C:\n    def __new__(cls, v): return object.__new__(cls, v)\ndef f(x, y):\n    return C(x) * y\n",
}


@pytest.mark.parametrize("jit", [False, "auto"], ids=["numpy", "numba"])
@pytest.mark.parametrize("name", PLAIN)
def test_new_is_called_as_python_calls_it(name: str, jit: Any) -> None:
    assert judge(PLAIN[name], jit) == "right"


def test_what_is_returned_is_of_its_class_and_second_derivatives_agree() -> None:
    function = function_of("class C(float):\n    def twice(self): return C(2 * self)\ndef f(x):\n    return x * x, [C(x).twice(), 1.0]\n")
    (_, (held, _)), gradient = symgrad.value_and_grad(function, has_aux=True)(0.7)
    assert (type(held).__name__, held, gradient) == ("C", 1.4, 1.4)
    for text in (
        program("number", "operators", "r = float(c.twice() * y * c)"),
        program("tuple", "operators", "r = float(c.twice().dot(c) * y)"),
    ):
        symgrad.check_grads(function_of(text), (0.7, 1.3), wrt=("x", "y"), order=2)
