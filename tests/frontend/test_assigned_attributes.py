"""Attributes of classes, functions and modules, and closure variables, that a function assigns.

Values, gradients by differences, and what each call leaves, for owners x stores x places; lookups through instances and derived classes;
what somebody else changes between calls.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import pytest

import symgrad
from symgrad.errors import SymgradError

COUNTER = itertools.count()
POINTS = (0.7, 0.3, 0.6)
STEP = 1e-6


def module_of(text: str) -> dict[str, Any]:
    """The names of a module with this text."""
    path = f"<attributes {next(COUNTER)}>"
    text = f"import functools, types\nimport numpy as np\n{text}\n"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    names: dict[str, Any] = {"__name__": "attributes_module"}
    exec(compile(text, path, "exec"), names)  # noqa: S102
    return names


def left(names: dict[str, Any]) -> str:
    """What a module's ``left`` says is there now."""
    return repr(names["left"]()) if "left" in names else ""


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        return call()
    except SymgradError:
        raise
    except Exception as error:
        return type(error)


def plain_call(text: str, before: tuple[float, ...], x: float) -> tuple[Any, str]:
    """What plain Python gives for a point after calls with others, and what is left then."""
    names = module_of(text)
    for point in before:
        outcome(lambda point=point: names["f"](point))
        names.get("between", int)()
    return outcome(lambda: names["f"](x)), left(names)


def check(text: str, jit: Any = False, calls: int = 3) -> None:
    """Each of some calls gives the value and gradient of plain Python, and leaves what that leaves; what one leaves the next one finds."""
    ours = module_of(text)
    derivative = symgrad.value_and_grad(ours["f"], jit=jit)
    for k, x in enumerate(POINTS[:calls]):
        before = POINTS[:k]
        expected, state = plain_call(text, before, x)
        result = outcome(lambda x=x: derivative(x))
        assert left(ours) == state, f"call {k}"
        if isinstance(expected, type):
            assert result is expected
        else:
            ends = [plain_call(text, before, x + h)[0] for h in (STEP, -STEP)]
            assert result[0] == pytest.approx(expected, rel=1e-12), f"call {k}"
            assert result[1] == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-6), f"call {k}"
        ours.get("between", int)()


def indented(text: str, by: int = 4) -> str:
    return "".join(f"{' ' * by}{line}\n" for line in text.splitlines())


#: what has the attribute: what stands before the function, what in its first lines, the attribute, and expressions that read it
OWNERS: dict[str, tuple[str, str, str, str]] = {
    "a class": ("class A:\n    n = 1.5\na = A()", "", "A.n", "A.n * a.n + A().n"),
    "the class of an instance": ("class A:\n    n = 1.5\na = A()", "", "type(a).n", "A.n + a.n"),
    "a base class": ("class A:\n    n = 1.5\nclass B(A): pass\nclass C(A):\n    n = 4.0\nA_left = A", "", "A.n", "B.n * B().n + C.n + C().n"),
    "a derived class": ("class A:\n    n = 1.5\nclass B(A): pass", "", "B.n", "A.n * B.n + B().n + A().n"),
    "a function": ("def A(v): return v * A.n\nA.n = 1.5", "", "A.n", "A(2.0) + A.n"),
    "a wrapper": (
        "def wrapped(g):\n    @functools.wraps(g)\n    def w(v): return g(v) * w.n\n    w.n = 1.5\n    return w\n@wrapped\ndef A(v): return v",
        "", "A.n", "A(2.0) + A.n",
    ),
    "a function inside": ("class A: pass", "def g(v): return v * g.n\ng.n = 1.5", "g.n", "g(2.0) + g.n"),
    "a module": ("A = types.ModuleType('A')\nA.n = 1.5", "", "A.n", "A.n * A.n"),
}  # fmt: skip
#: stores, and how what they leave is read as a number
STORES: dict[str, tuple[str, str]] = {
    "assigned": ("{t} = {t} * x + 1.0", "{r}"),
    "augmented": ("{t} += x", "{r}"),
    "unpacked": ("{t}, y = x * {t}, 2.0", "{r} * y"),
    "a list": ("{t} = [x, 2.0]\n{t}.append(x * x)\n{t} = {t}[0] + {t}[2]", "{r}"),
    "an array": ("{t} = np.array([x, {t}])\n{t}[0] *= x\n{t} = {t}.sum()", "{r}"),
    "by name": ("setattr({o}, 'n', getattr({o}, 'n') + x)", "{r}"),
}
#: where the store stands
PLACES = {
    "in the function": "{store}",
    "in a loop": "for k in range(3):\n{inside}    x = x * 1.1",
    "in a while": "k = x\nwhile k < 3.0:\n{inside}    k = k * 2.0 + 1.0",
    "in a branch": "if x > 0.5:\n{inside}y = 3.0",
    "in a handler": "try:\n    raise ValueError\nexcept ValueError:\n{inside}",
    "before an exception": "try:\n{inside}    raise ValueError\nexcept ValueError:\n    x = x * 2.0",
    "in a function inside": "def store(x):\n{inside}    return 1.0\nx = x * store(x) * store(x)",
    "in a lambda's call": "def store(x):\n{inside}    return x\nx = x + sum([(lambda v: store(v))(x) for k in range(2)])",
    "in a generator": "def steps(x):\n    for k in range(2):\n{deeper}        yield x * k\nx = x + sum(steps(x))",
}
PRODUCT = [(o, s, p) for o in OWNERS for s in STORES for p in PLACES]


def program(owner: str, store: str, place: str) -> str:
    """A program of the product."""
    before, first, target, read = OWNERS[owner]
    change, result = STORES[store]
    change = change.format(t=target, o=target.removesuffix(".n"))
    body = PLACES[place].format(store=change, inside=indented(change), deeper=indented(change, 8))
    lines = [first, "y = 2.0", body, f"return ({result.format(r=read)}) * x + y"]
    state = "vars(A).get('n'), vars(B).get('n') if 'B' in globals() else 0"
    return f"{before}\ndef f(x):\n{indented(chr(10).join(filter(None, lines)))}def left(): return {state}"


@pytest.mark.sweep(40)
@pytest.mark.parametrize(("owner", "store", "place"), PRODUCT)
def test_owners_by_stores_by_places(owner: str, store: str, place: str) -> None:
    check(program(owner, store, place))


@pytest.mark.sweep(400)
@pytest.mark.parametrize(("owner", "store", "place"), PRODUCT[::5])
def test_the_same_as_kernels(owner: str, store: str, place: str) -> None:
    check(program(owner, store, place), jit="auto", calls=2)


#: programs of which each is about one thing
PROGRAMS = {
    "a class attribute that a derived class has on one path": """
class A: n = 1.5
class B(A): pass
def f(x):
    if x > 0.5:
        B.n = 3.0 * x
    return A.n * x + B.n * B().n
def left(): return vars(B).get('n')
def between(): vars(B).get('n') and delattr(B, 'n')
""",
    "an attribute of its own on one path": """
class A: n = 7.0
def f(x):
    made = A()
    A.n = 3.0 * x
    if x > 0.5:
        made.n = x
    return x * made.n
def left(): return A.n
""",
    "deleted": """
class A: n = 1.5
class B(A): pass
def f(x):
    B.n = x
    y = B.n * x
    del B.n
    return y * B.n * x + hasattr(B, 'n') + hasattr(B, 'm')
def left(): return 'n' in vars(B)
""",
    "missing at first": """
def g(x):
    try:
        g.calls += 1
    except AttributeError:
        g.calls = 1
    return x * g.calls
def f(x): return g(x) + g(x)
def left(): return g.calls
""",
    "asked for, then made": """
def g(x):
    if not hasattr(g, 'cache'):
        g.cache = {}
    g.cache['v'] = x * 2.0
    return x * g.cache['v'] * getattr(g, 'scale', 3.0)
def f(x): return g(x) + g(x)
def left(): return g.cache
""",
    "in a function that calls itself": """
def fib(x, n):
    fib.calls += 1
    return x if n <= 1 else fib(x * 1.1, n - 1) + fib(x, n - 2)
fib.calls = 0
def f(x): return fib(x, int(4.0 + x)) * fib.calls
def left(): return fib.calls
""",
    "a class method of two classes": """
class A:
    n = 0
    scale = 2.0
    @classmethod
    def bump(cls, v):
        cls.n += 1
        cls.scale = cls.scale * v
        return cls.scale
    def step(self, v): return self.bump(v) * self.__class__.n
class B(A): pass
def f(x): return B.bump(x) + A.bump(x) + B().step(x) + A().step(x)
def left(): return A.n, A.scale, B.n, B.scale
""",
    "a private attribute, read through super": """
class A:
    __n = 1.0
    shared = 2.0
    def step(self, x):
        A.__n += 1
        return x * self.__n
class B(A):
    shared = 5.0
    def step(self, x):
        A.shared = x
        return super().step(x) * super().shared * self.shared
def f(x): return B().step(x) + A().step(x)
def left(): return A._A__n, A.shared
""",
    "an array, a list and a dict that the class holds": """
class A:
    w, log, held = np.ones(2), [], {}
W = A.w
def f(x):
    A.w *= x
    A.w[0] = x * x
    A.log += [x]
    A.log.append(A.w.sum())
    A.held['v'] = x * A.log[-1]
    return A.held['v'] * W[0] * len(A.log)
def left(): return A.w, W, A.log, A.held
""",
    "one instance for all": """
class S:
    one = None
    def __init__(self): self.v = 1.0
    @classmethod
    def get(cls):
        if cls.one is None:
            cls.one = cls()
        return cls.one
def f(x):
    S.get().v = S.get().v * x
    return S.get().v
def left(): return S.one.v
""",
    "one of two classes, and of two functions": """
class A: n = 1.0
class B(A): n = 2.0
def g(v): return v
def h(v): return 2.0 * v
g.k = h.k = 1.0
def f(x):
    c, r = (A, g) if x > 0.5 else (B, h)
    c.n = c.n * x
    r.k += x
    return A.n * x + B.n + g.k * h.k
def left(): return A.n, B.n, g.k, h.k
""",
    "asked of one of two": """
class A: n = 1.0
class B: pass
def g(v): return v
def h(v): return 2.0 * v
g.k = 3.0
def f(x):
    c, r = (A, g) if x > 0.5 else (B, h)
    A.n = A.n * 2
    y = getattr(c, 'n', 7.0) * x + getattr(r, 'k', 5.0)
    return y * c.n if hasattr(c, 'n') else y
def left(): return A.n
""",
    "what raises in Python": """
import enum
from typing import NamedTuple
class E(enum.Enum): R = 1
class P(NamedTuple): a: float
class A:
    def go(self): pass
def tried(change):
    try:
        change()
    except (AttributeError, TypeError):
        return 1.0
    return 0.0
def member(): E.R = 2
def builtin(): float.n = 1
def field(): P(1.0).a = 2.0
def method(): A().go.n = 1
def f(x): return x * (tried(member) + 2 * tried(builtin) + 4 * tried(field) + 8 * tried(method))
def left(): return list(E)
""",
    "raises after a store": "class A: n = 0\ndef f(x):\n    A.n += 1\n    if x > 0: raise ValueError('no')\n    return x\ndef left(): return A.n",
    "variables of closures": """
def make():
    n = 1.0
    def count(v):
        nonlocal n
        n = n * v + 1.0
        return n
    return count, lambda: n
one, one_left = make()
two, two_left = make()
def f(x):
    for k in range(2):
        one(x)
    two(x)
    return one(x) * one_left() + two_left()
def left(): return one_left(), two_left()
""",
    "a global name that functions around it have too": """
K = 2.0
def make():
    K = 1.0
    def f(x):
        nonlocal K
        K = K * x
        def g():
            global K
            K = K + x
            return K + sum([K for k in range(2)])
        return g() * K
    return f, lambda: K
f, cell = make()
def left(): return K, cell()
""",
    "a slot beside it, a property that stores, a descriptor that counts": """
class D:
    reads = 0
    def __get__(self, instance, owner=None):
        D.reads += 1
        return instance.v * 2.0
class A:
    __slots__ = ('v',)
    d = D()
    n = 1.0
    @property
    def m(self): return type(self).n
    @m.setter
    def m(self, value): type(self).n = value
def f(x):
    a = A()
    a.v = x
    a.m = a.m * a.d
    a.m += 1.0
    return a.m * a.n * a.d * D.reads
def left(): return A.n, D.reads
""",
    "a setting that a manager changes": """
class Setting: scale = 2.0
class Using:
    def __init__(self, scale): self.scale = scale
    def __enter__(self): self.before, Setting.scale = Setting.scale, self.scale
    def __exit__(self, *args):
        Setting.scale = self.before
        return True
def layer(x): return x * Setting.scale
def f(x):
    with Using(x):
        y = layer(x)
        if x > 0.5:
            raise ValueError
        y = y * 3.0
    return y + layer(x)
def left(): return Setting.scale
""",
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, jit: Any) -> None:
    check(PROGRAMS[name], jit=jit)


#: what somebody else does between calls, for a class ``A``, one derived from it (``B``) and an instance (``b``)
BETWEEN = {
    "another number": "A.n = A.n * 3.0",
    "another type": "A.n = 7 if isinstance(A.n, float) else 2.5",
    "an attribute of the derived class": "B.n = 4.0",
    "an attribute of the instance": "b.n = 6.0",
    "and not": "vars(b).pop('n', None) if 'n' in vars(b) else setattr(b, 'n', 2.0)",
    "a class of the instance": "b.__class__ = C",
    "a base of the class": "B.__bases__ = (C,)",
    "another class": "global A\n    A = type('A', (), {'n': 5.0})",
    "another function": "g.n = g.n + 10.0",
    "a function without it": "vars(g).pop('n', None)",
}


@pytest.mark.parametrize("change", BETWEEN)
def test_what_somebody_else_changes_between_calls(change: str) -> None:
    text = f"""
class A: n = 1.5
class C(A): n = 8.0
class B(A): pass
b = B()
A_first = A
def g(): g.n = getattr(g, 'n', 2.0) + 1.0
def f(x):
    A.n += 1
    g()
    return x * A.n + B.n * b.n * x + g.n * x * x
def left(): return A.n, A_first.n, C.n, g.n
def between():
    {BETWEEN[change]}
"""
    check(text)


def test_second_order() -> None:
    text = "class A: n = 2.0\ndef g(v): return v * v * A.n\ndef f(x):\n    A.n = A.n * x\n    return g(x) * A.n\n"
    for jit in (False, "auto"):
        names = module_of(text)
        second = symgrad.grad(symgrad.grad(names["f"], jit=jit), jit=jit)(0.7)
        assert second == pytest.approx(4.0 * 12.0 * 0.7**2, rel=1e-12)  # of 4 x**4
        assert names["A"].n == pytest.approx(2.0 * 0.7)


@pytest.mark.parametrize("read", ["D['n']", "a.__dict__['n']", "g.__dict__['n']", "A.__dict__['n']", "g.__globals__['K']"])
@pytest.mark.parametrize("changed", ["D['n'] += x", "a.__dict__['n'] += x", "g.__dict__['n'] += x", "g.__globals__['K'] += x", "a.n += x",
                                     "g.n += x", "A.n += x"])  # fmt: skip
def test_attributes_that_are_read_or_changed_as_dicts(changed: str, read: str) -> None:
    """They are right, or refused: the dict and the attributes are one thing."""
    text = f"""
class A: n = 1.5
a = A()
a.n = 2.0
D = vars(a)
def g(): pass
g.n = 3.0
K = 4.0
def f(x):
    {changed}
    return ({read} + a.n + g.n + A.n + K) * x
def left(): return a.n, g.n, A.n, K
"""
    try:
        check(text, calls=2)
    except SymgradError:
        return


def test_names_of_parameters_in_emitted_text_are_no_names_of_objects() -> None:
    """A kernel's effects take the objects that are changed as parameters, which are named like their owners."""
    text = """
class C:
    def __init__(self): self.v = 1.0
class A: c = C()
first = A.c
def f(x):
    A.c.v = A.c.v * x
    A.c = C()
    A.c.v = x
    return first.v * A.c.v
def left(): return A.c.v, first.v
"""
    check(text, jit="auto")
