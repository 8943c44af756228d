"""Outside objects, read in every way and changed between calls: code is never stale.

Each thing is a text that is run in a module of its own, each way to read it the body of a function, each change a text that is run
between two calls. After each change value and gradient are those of the function as it is now, on both targets.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import sys
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.dispatch.table import Table
from symgrad.errors import SymgradError

HEAD = "import math, sys, types, functools, enum, dataclasses\nfrom typing import NamedTuple\nimport numpy as np\n"
NUMBER = itertools.count()
POINT, STEP = 0.7, 1e-6


@dataclass(frozen=True)
class Thing:
    """Something outside: how it is made, the bodies of functions that read it, and what changes it."""

    definition: str
    reads: tuple[str, ...]
    changes: tuple[str, ...]


def expressions(*texts: str) -> tuple[str, ...]:
    return tuple(f"return {text}" for text in texts)


THINGS: dict[str, Thing] = {
    "a number": Thing(
        "K = 2.0",
        expressions("a * K", "(lambda v: v * K)(a)", "sum([a * K for _ in range(2)])", "a * K * (2 if isinstance(K, int) else 3)"),
        ("K = 5.0", "K = 5", "K = np.float64(7.0)", "K = True"),
    ),
    "a text": Thing("K = 'p'", expressions("a * 2 if K == 'p' else a * 3", "a * len(K)"), ("K = 'q'", "K = 'pp'")),
    "a cell": Thing(
        "def make():\n    k = 2.0\n    def g(v):\n        return v * k\n    def put(w):\n        nonlocal k\n        k = w\n"
        "    return g, put\nG, PUT = make()",
        expressions("G(a)", "G(G(a))", "[G(a) for _ in range(2)][1]"),
        ("PUT(5.0)", "PUT(5)", "PUT(np.float64(3.0))", "G, PUT = make()"),
    ),
    "a function": Thing(
        "def g(v, k=2.0, *, w=3.0, mode='p', flag=False):\n"
        "    return v * k * w * (2 if mode == 'p' else 5) * (7 if flag else 1)",
        expressions("g(a)", "g(a, mode='p')", "functools.reduce(lambda x, y: g(x), range(2), a)", "sum(map(g, (a, a)))"),
        (
            "g.__code__ = (lambda v, k=1.0, *, w=1.0, mode='p', flag=False: v * v).__code__",
            "g.__defaults__ = (5.0,)",
            "g.__kwdefaults__ = dict(g.__kwdefaults__, w=4.0)",
            "g.__kwdefaults__['mode'] = 'q'",
            "g.__kwdefaults__['flag'] = True",
            "g = lambda v, mode='p': v * 9",
        ),
    ),
    "attributes of a function": Thing(
        "def g(v): return v\ng.k = 2.0\ng.h = math.sin\ng.mode = 'p'\ng.table = {'p': 2.0}",
        (
            *expressions("a * g.k", "g.h(a)", "a * 2 if g.mode == 'p' else a * 3", "a * g.table['p']", "a * getattr(g, 'k', 1.0)"),
            *expressions("a * getattr(g, 'z', 1.0)", "a * 2 if hasattr(g, 'z') else a * 3", "a * 2 if hasattr(g, 'k') else a * 3"),
        ),
        (
            "g.k = 5.0",
            "g.k = 5",
            "g.h = math.cos",
            "g.mode = 'q'",
            "g.table['p'] = 7.0",
            "g.table = {'p': 9.0}",
            "g.z = 4.0",
            "del g.z",
            "del g.k",
        ),
    ),
    "an attribute that a function reads of itself": Thing(
        "def g(v): return v * g.k\ng.k = 2.0", expressions("g(a)", "g(g(a))"), ("g.k = 5.0", "g.k = 5", "g.k = np.float64(2.5)")
    ),
    "a module": Thing(
        "M = types.ModuleType(NAME + '_m')\nM.k = 2.0\nM.h = math.sin\nsys.modules[NAME + '_m'] = M\nalias = M",
        (
            "import {name}_m\n    return a * {name}_m.k",
            "import {name}_m as m\n    return m.h(a)",
            "from {name}_m import k\n    return a * k",
            "from {name}_m import h\n    return h(a)",
            "return a * alias.k",
            "return alias.h(a)",
            "from {name}_m import h as g\n    return g(a) * getattr(alias, 'z', 3.0)",
            "return a * 2 if hasattr(alias, 'z') else a * 3",
        ),
        (
            "M.k = 5.0",
            "M.k = 5",
            "M.h = math.cos",
            "M.z = 4.0",
            "alias = types.SimpleNamespace(k=9.0, h=math.tan)",
            "M = types.ModuleType(NAME + '_m')\nM.k = 11.0\nM.h = math.tan\nsys.modules[NAME + '_m'] = M",
        ),
    ),
    "an alias of NumPy": Thing(
        "xp = np", expressions("xp.sin(a)", "xp.abs(a) * xp.pi"), ("xp = types.SimpleNamespace(sin=math.cos, abs=abs, pi=3.0)", "xp = np")
    ),
    "a module that comes later": Thing(
        "pass",
        (
            "try:\n        import {name}_late\n        return a * 2\n    except ImportError:\n        return a * 3",
            "try:\n        from {name}_late import k\n    except ImportError:\n        k = 3.0\n    return a * k",
        ),
        (
            "M = types.ModuleType(NAME + '_late')\nM.k = 7.0\nsys.modules[NAME + '_late'] = M",
            "del M.k",
            "M.k = 5.0",
            "del sys.modules[NAME + '_late']",
        ),
    ),
    "an instance": Thing(
        "class C:\n    k = 2.0\n    def go(self, v): return v * self.k\n    @property\n    def p(self): return self.k * 2\n"
        "    @staticmethod\n    def s(v): return v * 3\n    @classmethod\n    def c(cls, v): return v * cls.k\n    def __call__(self, v): return v * 4\n"
        "class D(C):\n    pass\nO = D()\nO.own = 1.5",
        expressions(
            "O.go(a)", "a * O.k", "a * O.own", "a * O.p", "O.s(a)", "O.c(a)", "O(a)", "D.s(a)", "D.c(a)", "a * D.k",
            "a * getattr(O, 'z', 1.0)", "a * 2 if hasattr(O, 'z') else a * 3", "a * (2 if isinstance(O, D) else 3)",
            "a * 2 if hasattr(D, 'z') else a * 3", "a * getattr(D, 'z', 1.0)",
        ),
        (
            "O.k = 5.0", "del O.k", "C.k = 7.0", "D.k = 4.0", "O.z = 3.0", "del O.z", "D.z = 6.0", "del D.z", "O.own = 2",
            "O.go = lambda v: v * 9", "del O.go", "C.go = lambda self, v: v * 8", "D.go = lambda self, v: v * 11",
            "C.p = property(lambda self: 3.0)", "D.p = 13.0", "O.s = lambda v: v * 17", "C.s = staticmethod(lambda v: v * 5)",
            "D.c = classmethod(lambda cls, v: v * 6)", "C.__call__ = lambda self, v: v * 10",
            "class E(C):\n    own = 2.5\nO.__class__ = E", "O = C()\nO.own = 4.0",
        ),
    ),
    "a class of which instances are made": Thing(
        "class C:\n    def __init__(self, v): self.v = v\n    def __add__(self, o): return self.v + o.v\n    def go(self): return self.v * 2\n"
        "    def __len__(self): return 3\n    def __bool__(self): return True",
        expressions(
            "C(a).v", "C(a).go()", "C(a) + C(1.0)", "a * len(C(a))", "a * 2 if C(a) else a * 3", "a * getattr(C(a), 'z', 1.0)",
            "a * 2 if hasattr(C(a), 'z') else a * 3", "(lambda c: c.v * c.v)(C(a))",
        ),
        (
            "C.__init__ = lambda self, v: setattr(self, 'v', v * 3)", "C.go = lambda self: self.v * 5", "C.z = 4.0",
            "C.__add__ = lambda self, o: self.v * 100", "C.__len__ = lambda self: 7", "C.__bool__ = lambda self: False", "del C.z",
            "C.v = property(lambda self: 2.0, lambda self, v: None)", "C.__getattr__ = lambda self, n: 9.0",
        ),
    ),
    "what a class does not define": Thing(
        "class B:\n    pass\nclass C(B):\n    def __init__(self, v): self.v = v\n    def __add__(self, o): return C(self.v + o)",
        (
            "c = C(a)\n    c += 1.0\n    return c.v",
            "return (C(a) + 2.0).v",
            "return a * 2 if C(a) else a * 3",
            "c = C(a)\n    c.v = a * 2\n    return c.v",
            "return a * (2 if callable(C(a)) else 3)",
        ),
        (
            "C.__iadd__ = lambda self, o: C(self.v * 100)",
            "B.__bool__ = lambda self: False",
            "B.__call__ = lambda self: 1",
            "B.__len__ = lambda self: 0",
            "del C.__iadd__",
            "C.v = property(lambda self: 5.0, lambda self, v: None)",
        ),
    ),
    "match arguments": Thing(
        "class P:\n    __match_args__ = ('u', 'v')\n    def __init__(self, u, v): self.u, self.v = u, v",
        ("match P(a, 3.0):\n        case P(w):\n            return w * 2", "match P(a, 3.0):\n        case P(w, z):\n            return w * z * w"),
        ("P.__match_args__ = ('v', 'u')", "P.__match_args__ = ('u', 'v')"),
    ),
    "a named tuple": Thing(
        "class P(NamedTuple):\n    u: float\n    v: float = 2.0\n    def area(self): return self.u * self.v",
        expressions("P(a).v * a", "P(a).area()", "P(a, 3.0).area()", "sum(P(a))"),
        ("P.__new__.__defaults__ = (5.0,)", "P.area = lambda self: self.u * 9", "P._field_defaults['v'] = 8.0"),
    ),
    "a dataclass": Thing(
        "@dataclasses.dataclass\nclass P:\n    u: float\n    v: float = 2.0\n    l: list = dataclasses.field(default_factory=list)\n"
        "    w: float = dataclasses.field(default=3.0, kw_only=True)\n    def area(self): return self.u * self.v",
        expressions("P(a).v * a", "P(a).area()", "P(a, 3.0).area()", "P(a).w * a + len(P(a).l)", "P(a, w=a).v * a"),
        ("P.__init__.__defaults__ = (5.0, *P.__init__.__defaults__[1:])", "P.__init__.__kwdefaults__['w'] = 7.0",
         "P.__dataclass_fields__['v'].default = 9.0", "P.v = 11.0", "P.__init__.__defaults__ = P.__init__.__defaults__[1:]", "P.area = lambda self: self.u * 9", "def init(self, u, v=4.0): self.u, self.v = u, v * 2\nP.__init__ = init"),
    ),
    "a builtin that a global covers": Thing(
        "def h(v): return abs(v)",
        expressions("abs(a)", "max(a, 0.1)", "sum([a, a])", "h(a)", "a * len((1, 2))", "a * float(2)", "min(map(abs, (a, a)))"),
        (
            "abs = lambda v: v * 3", "max = lambda *v: v[0] * 4", "sum = lambda v: v[0] * 5", "len = lambda v: 7", "float = lambda v: 9.0",
            "del abs", "map = lambda g, v: [v[0] * 11]", "del float, len, sum, max",
        ),
    ),
    "a name that comes later": Thing(
        "def g(v):\n    try:\n        return v * LATE\n    except NameError:\n        return v * 5",
        (
            "try:\n        return late(a)\n    except NameError:\n        return a * 3",
            "return g(a)",
            "k = 1.0\n    try:\n        k = 2.0\n        k = LATE\n    finally:\n        return a * k",
        ),
        ("LATE = 7.0", "def late(v): return v * v", "del late", "LATE = 2", "del LATE"),
    ),
    "containers": Thing(
        "L = [1.0, 2.0]\nD = {'p': 2.0, 'f': math.sin}\nT = (2.0, 'p')\nN = {'in': {'k': [1.0, 's']}}\nS = {1, 2}",
        expressions(
            "a * L[0]", "a * len(L)", "a * sum(L)", "a * D['p']", "D['f'](a)", "a * len(D)", "a * 2 if 'z' in D else a * 3", "a * T[0]",
            "a * 2 if T[1] == 'p' else a * 3", "a * N['in']['k'][0]", "a * 2 if 3 in S else a * 3", "a * len(S)", "a * D.get('z', 4.0)",
            "a * sum(v * k for k, v in enumerate(L))",
        ),
        (
            "L[0] = 5.0", "L.append(3.0)", "L[0] = 5", "D['p'] = 7.0", "D['f'] = math.cos", "D['z'] = 9.0", "del D['z']", "T = (3.0, 'q')",
            "N['in']['k'][0] = 4.0", "N['in'] = {'k': [6.0]}", "S.add(3)", "S.discard(1)", "L = [2.0]", "D = {'p': 1.0, 'f': math.tan}",
        ),
    ),
    "an enumeration": Thing(
        "class E(enum.Enum):\n    A = 2.0\n    B = 3.0\n    def scale(self, v): return v * self.value\nK = E.A",
        expressions("a * E.A.value", "K.scale(a)", "a * 2 if K is E.A else a * 3", "a * K.value"),
        ("K = E.B", "E.scale = lambda self, v: v * 7", "E.A._value_ = 5.0"),
    ),
    "defaults of the function itself": Thing(
        "pass", ("DEFAULTS", "KEYWORDS"), ("f.__defaults__ = (5.0,)", "f.__kwdefaults__ = {'k': 7.0}", "f.__kwdefaults__ = {'k': 2}")
    ),
}  # fmt: skip

#: changes after which a function is refused: classes that come to say themselves how attributes are read
REFUSABLE = ("__getattr__",)


def module_of(thing: Thing, body: str, name: str) -> types.ModuleType:
    """A module with the thing and the function."""
    head = "def f(a, k=2.0):" if body == "DEFAULTS" else "def f(a, *, k=2.0):" if body == "KEYWORDS" else "def f(a):"
    body = "return a * k" if body in ("DEFAULTS", "KEYWORDS") else body.replace("{name}", name)
    text = f"{HEAD}NAME = {name!r}\n{thing.definition}\n{head}\n    {body}\n"
    path = f"<{name}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    module = sys.modules[name] = types.ModuleType(name)
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def apply(module: types.ModuleType, change: str) -> None:
    """Run a change, with a source that can be read."""
    path = f"<{module.__name__} {next(NUMBER)}>"
    linecache.cache[path] = (len(change), None, change.splitlines(keepends=True), path)
    with contextlib.suppress(KeyError, AttributeError, NameError):
        exec(compile(change, path, "exec"), module.__dict__)


@pytest.fixture(autouse=True)
def modules() -> Iterator[None]:
    yield
    for name in [name for name in sys.modules if name.startswith("world_")]:
        del sys.modules[name]


def now(function: Any) -> Any:
    """Value and slope of a function as it is, or what it raises."""
    try:
        ends = [function(POINT + s) for s in (STEP, -STEP)]
        return float(function(POINT)), (ends[0] - ends[1]) / (2 * STEP)
    except Exception as error:
        return error


def answer(derived: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            value, slope = derived(POINT)
            return float(value), float(slope)
        except Exception as error:
            return error


def check(where: str, expected: Any, got: Any, refusable: bool) -> bool:
    """Is an answer right?  A refusal is told apart, anything else is a fault."""
    if isinstance(expected, Exception):
        assert type(got) is type(expected) or isinstance(got, SymgradError), f"{where}: {got!r} where Python raises {expected!r}"
        return True
    if isinstance(got, SymgradError):
        assert refusable, f"{where}: refused, {got}"
        return False
    assert not isinstance(got, Exception), f"{where}: {got!r}, plain Python {expected}"
    assert np.allclose(got, expected, rtol=1e-6, atol=1e-8), f"{where}: {got}, plain Python {expected}"
    return True


def tried(kind: str, reads: tuple[str, ...], jit: Any) -> None:
    thing = THINGS[kind]
    for body in reads:
        module = module_of(thing, body, f"world_{next(NUMBER)}")
        derived = symgrad.value_and_grad(module.f, allow_unused=True, jit=jit)
        assert check(f"{kind}: {body}", now(module.f), answer(derived), False)
        for change in thing.changes:
            apply(module, change)
            refusable = any(word in change for word in REFUSABLE)
            check(f"{kind}: {body}: after {change}", now(module.f), answer(derived), refusable)


def tried_on_several(kind: str, reads: tuple[str, ...]) -> None:
    """A derivative of the same function is made after each change, beside the first one: what was read for that may not hold any more."""
    thing = THINGS[kind]
    for body in reads:
        module = module_of(thing, body, f"world_{next(NUMBER)}")
        kept = []
        for change in ("pass", *thing.changes):
            apply(module, change)
            refusable = any(word in change for word in REFUSABLE)
            kept.append(symgrad.value_and_grad(module.f, allow_unused=True))
            check(f"{kind}: {body}: made after {change}", now(module.f), answer(kept[-1]), refusable)


@pytest.mark.parametrize("kind", THINGS)
def test_code_follows_what_is_outside(kind: str) -> None:
    tried(kind, THINGS[kind].reads[::2], False)


@pytest.mark.parametrize("kind", THINGS)
def test_derivatives_made_later_follow_what_is_outside(kind: str) -> None:
    tried_on_several(kind, THINGS[kind].reads[1::3])


@pytest.mark.slow
@pytest.mark.parametrize("kind", THINGS)
def test_derivatives_made_later_follow_what_is_outside_however_it_is_read(kind: str) -> None:
    tried_on_several(kind, THINGS[kind].reads)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "jit"), [(kind, jit) for kind in THINGS for jit in (False, "auto")])
def test_code_and_kernels_follow_what_is_outside(kind: str, jit: Any) -> None:
    tried(kind, THINGS[kind].reads, jit)


def test_a_second_call_with_nothing_changed_compiles_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[Any] = []
    compile_ = Table.compile
    monkeypatch.setattr(Table, "compile", lambda self, *args: compiled.append(args) or compile_(self, *args))
    for kind, thing in THINGS.items():
        module = module_of(thing, thing.reads[0], f"world_{next(NUMBER)}")
        derived = symgrad.value_and_grad(module.f, allow_unused=True)
        answer(derived)
        compiled.clear()
        for _ in range(3):
            answer(derived)

        assert not compiled, kind
