"""Instances of classes that derive from lists and dicts: classes x operations x origins, compared with plain Python.

Value, gradient, and what the caller's object holds afterwards are those of Python itself, or the program is refused.
"""

from __future__ import annotations

import collections
import copy
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.containers import items_held
from symgrad.errors import BadArgument, InvalidIR, Mismatch, SymgradError
from tests.plainly import function_of

HEAD = "import collections, copy\nimport numpy as np\n"
ATTRIBUTES = """
    def __getattr__(self, k): return self[k]
    def __setattr__(self, k, v): self[k] = v
    def __delattr__(self, k): del self[k]
"""
#: the bodies of classes that derive from dict; ``D`` is the class
DICTS = {
    "methods of dict as attributes": "class D(dict):\n    __getattr__ = dict.__getitem__\n    __setattr__ = dict.__setitem__\n"
    "    __delattr__ = dict.__delitem__\n",
    "attributes": f"class D(dict):{ATTRIBUTES}",
    "AttributeError": "class D(dict):\n    def __getattr__(self, k):\n        try:\n            return self[k]\n"
    "        except KeyError:\n            raise AttributeError(k) from None\n",
    "its own __dict__": "class D(dict):\n    def __init__(self, *a, **k):\n        super().__init__(*a, **k)\n        self.__dict__ = self\n",
    "get": "class D(dict):\n    __getattr__ = dict.get\n",
    "plain": "class D(dict):\n    def own(self): return self['a'] * self['b']\n",
    "__missing__": "class D(dict):\n    def __missing__(self, k): return 5.0\n",
    "__missing__ that stores": "class D(dict):\n    def __missing__(self, k):\n        v = self[k] = 2.5\n        return v\n",
    "__getitem__": "class D(dict):\n    def __getitem__(self, k): return 2 * super().__getitem__(k)\n",
    "__setitem__": "class D(dict):\n    def __setitem__(self, k, v): super().__setitem__(k, 3 * v)\n",
    "__delitem__": "class D(dict):\n    def __delitem__(self, k): dict.__setitem__(self, k, 9.0)\n",
    "questions": "class D(dict):\n    def __bool__(self): return False\n    def __contains__(self, k): return True\n"
    "    def __eq__(self, o): return True\n    __hash__ = None\n",
    "views": "class D(dict):\n    def items(self): return [('q', 100.0)]\n    def values(self): return [1.0]\n    def get(self, k, d=None): return 8.0\n",
    "changes": "class D(dict):\n    def update(self, *a, **k): super().update(*a, u=1.5, **k)\n    def pop(self, k, *d): return 4 * super().pop(k, *d)\n"
    "    def __or__(self, o): return {'s': 3.0}\n    def copy(self): return D(self)\n",
    "an attribute": "class D(dict):\n    k = 2.0\n    def __init__(self, *a, **k):\n        super().__init__(*a, **k)\n        self.n = 3.0\n"
    "    @property\n    def own_total(self): return sum(self.values()) * self.n * self.k\n    def own(self): return self.own_total\n",
    "__init__": "class D(dict):\n    def __init__(self, **k):\n        for name, v in k.items(): self[name] = v * 2\n",
    "defaultdict": "class D(collections.defaultdict):\n    def __init__(self, *a, **k): super().__init__(float, *a, **k)\n    def own(self): return self['zz'] + 2\n",
    "OrderedDict": "class D(collections.OrderedDict):\n    def own(self): return self['a'] + 2\n",
    "Counter": "class D(collections.Counter):\n    def own(self): return self['zz'] + 2\n",
    "UserDict": "class D(collections.UserDict):\n    def own(self): return self['a'] + 2\n",
    "a defaultdict itself": "def D(**k): return collections.defaultdict(lambda: 4.0, **k)\n",
    "an OrderedDict itself": "D = collections.OrderedDict\n",
    "a Counter itself": "D = collections.Counter\n",
}
ON_DICTS = (
    "r = p['a'] * x", "r = p.a * x + p.b", "p.c = p.a * x; r = p.c + p['c']", "p['c'] = p['a'] * x; r = p['c']", "del p.a; r = x * len(p)",
    "p.a = x * 3; r = p.a * p['a']", "del p['a']; r = x * len(p) + sum(p.values())", "r = getattr(p, 'a', 3.0) * x + getattr(p, 'zz', 1.0)",
    "r = x if hasattr(p, 'zz') else 2 * x", "r = p['zz'] * x; r += len(p)", "r = p.zz * x", "r = p.get('a', 1.0) * x + p.get('zz', 1.0)",
    "r = (x if 'a' in p else 2 * x) * (x if 'zz' in p else 3 * x)", "r = x if p else 2 * x", "r = 0.0\n    for k in p: r += p[k] * x",
    "r = 0.0\n    for k, v in p.items(): r += v * x", "r = sum(p.values()) * x * len(list(p))",
    "q = dict(p); q['a'] = 7.0; r = q['a'] * x + p['a'] + sum(q.values())", "q = {**p, 'z': x}; r = sum(q.values())",
    "q = p.copy(); q['a'] = x; r = q['a'] + p['a'] + 10 * (type(q) is dict)", "q = copy.copy(p); q['a'] = x; r = q['a'] + p['a']",
    "q = copy.deepcopy(p); q['a'] = x; r = q['a'] + p['a']", "p.update(a=x, e=1.0); r = p['a'] + sum(p.values())",
    "r = p.setdefault('zz', x) * p.setdefault('a', 3.0)", "r = p.pop('a') * x + p.pop('zz', 2.0)", "k, v = p.popitem(); r = v * x + len(p)",
    "q = p | {'a': x}; r = sum(q.values()) + 10 * (type(q) is dict)", "q = p; q |= {'a': x}; r = sum(p.values())",
    "r = (x if p == {'a': 2.0, 'b': 3.0} else 2 * x) * (x if p != {'a': 2.0, 'b': 3.0} else 2 * x)",
    "p['a'] *= x; p.b *= x; r = p['a'] * p.b", "r = p.own() * x", "p.n = x; r = p.n * p['a']", "r = x * len(vars(p))",
    "r = dict.__getitem__(p, 'a') * x + dict.get(p, 'zz', 2.0)", "dict.__setitem__(p, 'a', x); r = p['a']", "r = x * len(f'{p}')",
    "match p:\n        case {'a': y}: r = y * x\n        case _: r = x", "r = x * len([k for k in reversed(p)])",
    "if x > 0: p['a'] = x * x\n    r = p['a'] * 2", "for i in range(3): p['a'] = p['a'] * x\n    r = p['a']",
    "def g(q): q['a'] = q['a'] * x; return q['a']\n    r = g(p) + g(p)", "q = {'in': p}; q['in']['a'] = x; r = p['a'] * x",
    "try:\n        r = p['zz'] * p.zz * x\n    except (KeyError, AttributeError) as e:\n        r = 3 * x * isinstance(e, KeyError)",
    "q = p if x > 0 else {'a': 1.0}; r = q['a'] * x", "r = x * isinstance(p, dict) + x * (p is p)",
)  # fmt: skip
LISTS = {
    "plain": "class V(list):\n    def dot(self, o): return sum(a * b for a, b in zip(self, o))\n",
    "operators": "class V(list):\n    def __add__(self, o): return V([a + b for a, b in zip(self, o)])\n    def __mul__(self, k): return V([a * k for a in self])\n"
    "    __rmul__ = __mul__\n    def __neg__(self): return V([-a for a in self])\n    def dot(self, o): return sum(a * b for a, b in zip(self, o))\n",
    "__iadd__": "class V(list):\n    def __iadd__(self, o):\n        for k in range(len(self)): self[k] += o[k]\n        return self\n"
    "    def __radd__(self, o): return [3.0]\n",
    "__getitem__": "class V(list):\n    def __getitem__(self, k): return 2 * super().__getitem__(k)\n",
    "__setitem__": "class V(list):\n    def __setitem__(self, k, v): super().__setitem__(k, 3 * v)\n",
    "__iter__": "class V(list):\n    def __iter__(self): return iter([1.0, 5.0])\n",
    "__len__": "class V(list):\n    def __len__(self): return 7\n",
    "questions": "class V(list):\n    def __bool__(self): return False\n    def __contains__(self, k): return True\n    def __eq__(self, o): return True\n"
    "    def __lt__(self, o): return True\n    __hash__ = None\n",
    "append": "class V(list):\n    def append(self, v): super().append(2 * v)\n    def extend(self, o):\n        for v in o: self.append(v)\n"
    "    def pop(self, *a): return 10 * super().pop(*a)\n    def copy(self): return V(self)\n",
    "an attribute": "class V(list):\n    k = 2.0\n    def __init__(self, *a):\n        super().__init__(*a)\n        self.n = 3.0\n"
    "    @property\n    def first(self): return self[0] * self.n * self.k\n",
    "__getattr__": "class V(list):\n    push = list.append\n    first = property(lambda s: s[0])\n    def __getattr__(self, n): return 1.25\n",
    "UserList": "class V(collections.UserList):\n    def dot(self, o): return sum(a * b for a, b in zip(self, o))\n",
}
ON_LISTS = (
    "r = v[0] * x * v[-1]", "w = v[:2]; w[0] = x; r = w[0] * v[0] + 10 * (type(w) is list)", "v[0] = x; v[-1] = x * x; r = v[0] * v[1]",
    "v[:1] = [x, x]; r = sum(v)", "del v[0]; r = v[0] * x * len(v)", "r = x * len(v) if v else 2 * x", "r = 0.0\n    for a in v: r += a * x",
    "r = 0.0\n    for k, a in enumerate(v): r += a * x * k", "r = 0.0\n    for a, b in zip(v, v): r += a * b * x", "r = sum([a * x for a in v])",
    "r = min(v) * max(v) * sum(v) * x", "w = list(v); w[0] = x; r = w[0] * v[0]", "w = v + v; r = sum(w) * x + 10 * (type(w) is list)",
    "w = [x, x] + v; r = sum(w)", "w = 2 * v; r = sum(w) * x + len(v * 2)", "w = v; w += [x, x]; r = sum(v) * x + 10 * (w is v)",
    "w = v; w *= 2; r = sum(v) * x + 10 * (w is v)", "w = [x]; w += v; r = sum(w)", "r = sum(-v) * x",
    "r = (x if v == [2.0, 3.0] else 2 * x) * (x if [2.0, 3.0] != v else 3 * x)", "r = x if v < [1.0, 9.0] else 2 * x",
    "r = (x if 3.0 in v else 2 * x) * (x if 30.0 in v else 3 * x)", "v.append(x); r = sum(v) * v[-1]", "v.extend([x, 1.0]); r = sum(v) * len(v)",
    "v.insert(0, x); r = v[0] * x", "r = v.pop() * x + v.pop(0)", "r = x * v.index(3.0) + v.count(3.0)", "v.remove(2.0); r = v[0] * x",
    "v.reverse(); r = v[0] * x", "v.sort(reverse=True); r = v[0] * x", "r = sorted(v)[0] * x * list(reversed(v))[0]",
    "w = v.copy(); w[0] = x; r = w[0] * v[0] + 10 * (type(w) is list)", "w = copy.copy(v); w[0] = x; r = w[0] * v[0] + 10 * (type(w) is list)",
    "a, b = v; r = a * b * x", "r = (lambda *a: sum(a) * x)(*v)", "r = np.sum(np.array(v)) * x", "r = np.dot(v, [x, 1.0]) + np.sum(np.ones(2) * x * v)",
    "v[0] *= x; r = v[0]", "r = v.dot(v) * x", "v.z = x; r = v.z * v[0]", "r = v.first * x", "v.push(x); r = v[-1] * x", "r = v.zz * x",
    "r = x * len(f'{v}')", "match v:\n        case [a, b]: r = a * b * x\n        case _: r = x", "if x > 0: v.append(x)\n    r = v[-1] * 2",
    "for i in range(3): v.append(v[-1] * x)\n    r = v[-1] + len(v)", "r = 0.0\n    for a in v:\n        r += a * x\n        if len(v) < 4: v.append(x)",
    "def g(q): q[0] = q[0] * x; return q[0]\n    r = g(v) + g(v)", "w = [v, v]; w[0][0] = x; r = w[1][0] * x", "it = iter(v); r = next(it) * x + next(it)",
    "r = list.__getitem__(v, 0) * x + list.__len__(v)", "w = v if x > 0 else [1.0, 1.0]; r = w[0] * x", "r = x * isinstance(v, list) + x * (v is v)",
)  # fmt: skip
CASES = [
    *((cls, DICTS[cls], "p", "D(a=2.0, b=3.0)", text) for cls in DICTS for text in ON_DICTS),
    *((cls, LISTS[cls], "v", "V([2.0, 3.0])", text) for cls in LISTS for text in ON_LISTS),
]


def program(body: str, name: str, maker: str, text: str, way: str) -> str:
    """A function of x and perhaps of the instance, and what makes the instance."""
    start = (
        "" if way == "argument" else f"    {name} = HELD\n" if way == "outside" else f"    {name} = {maker.replace('2.0', 'x * 0 + 2.0')}\n"
    )
    outside = f"HELD = {maker}\n" if way == "outside" else ""
    parameters = f"x, {name}" if way == "argument" else "x"
    return f"{HEAD}{body}def make(): return {maker}\n{outside}def f({parameters}):\n{start}    {text}\n    return r\n"


def held(value: Any) -> Any:
    """The class, items and attributes of a container, past what its class says of them."""
    if isinstance(value, collections.UserDict | collections.UserList):
        return held(value.data)
    if not isinstance(value, list | dict):
        return value
    items = [held(item) for item in items_held(value)] if isinstance(value, list) else [(k, held(v)) for k, v in items_held(value)]
    beside = getattr(value, "__dict__", {})
    return type(value).__name__, items, "items" if beside is value else dict(beside)


def leaves(value: Any) -> Iterator[Any]:
    """What a tree of tuples, lists and dicts holds, from left to right."""
    if isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.items()))
    else:
        yield value


def near(one: Any, other: Any) -> bool:
    ones, others = list(leaves(one)), list(leaves(other))
    return len(ones) == len(others) and all(
        math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(ones, others, strict=True)
    )


def outcome(text: str, x: float, way: str, jit: Any = None) -> tuple[Any, Any, Any]:
    """What a run gives: value and gradient (None of plain Python) or the exception, and what the instance holds then."""
    function = function_of(text)
    space = function.__globals__
    args = [space["make"]()] if way == "argument" else []
    try:
        value, gradient = (function(x, *args), None) if jit is None else symgrad.value_and_grad(function, jit=jit)(x, *args)
    except (Mismatch, InvalidIR):
        raise
    except SymgradError as refusal:
        return refusal, None, None
    except Exception as error:
        value, gradient = type(error).__name__, None
    return value, gradient, held(args[0] if args else space.get("HELD"))


def judge(text: str, way: str, jit: bool) -> str:
    """Right, or refused; anything else is an AssertionError."""
    value, gradient, after = outcome(text, 0.7, way, jit)
    if isinstance(value, SymgradError):
        return "refused"
    expected, _, state = outcome(text, 0.7, way)
    assert near(value, expected), f"{value}, and Python gives {expected}\n{text}"
    assert near(after, state), f"{after} is left, and by Python {state}\n{text}"
    if gradient is not None:
        above, below = (outcome(text, 0.7 + h, way)[0] for h in (1e-6, -1e-6))
        assert math.isclose(gradient, (above - below) / 2e-6, rel_tol=1e-5, abs_tol=1e-5), text
    return "right"


@pytest.mark.sweep(120)
@pytest.mark.parametrize("jit", [False, "auto"], ids=["numpy", "numba"])
@pytest.mark.parametrize("way", ["argument", "outside", "inside"])
@pytest.mark.parametrize(("cls", "body", "name", "maker", "text"), CASES, ids=[f"{case[0]}-{case[4]}".replace("\n", ";") for case in CASES])
def test_an_instance_is_what_python_makes_of_it(cls: str, body: str, name: str, maker: str, text: str, way: str, jit: bool) -> None:
    assert judge(program(body, name, maker, text, way), way, jit) in ("right", "refused")


@pytest.mark.parametrize("way", ["argument", "outside", "inside"])
@pytest.mark.parametrize("cls", [*DICTS][:4])
def test_items_that_are_attributes_are_followed(cls: str, way: str) -> None:
    stored = ("p.c = p.a * x; r = p.c + p['c']", "del p.a; r = x * len(p)", "p['a'] *= x; p.b *= x; r = p['a'] * p.b")
    for text in ("r = p.a * x + p['b']", "p['c'] = p.a * x; r = p['c']", *(() if cls == "AttributeError" else stored)):
        assert judge(program(DICTS[cls], "p", "D(a=2.0, b=3.0)", text, way), way, jit=False) == "right"


class Settings(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Other(Settings):
    @property
    def a(self) -> float:
        return 100.0


class Vector(list):
    def __init__(self, items=()):
        super().__init__(items)
        self.scale = 2.0

    def dot(self, other):
        return sum(a * b for a, b in zip(self, other, strict=True))


def product(x, p):
    return x * p.a * p["a"] + p.b


def scaled(x, v):
    return x * v.dot(v) * v.scale + v[0]


def test_gradients_have_the_structure_of_what_is_held() -> None:
    p, v = Settings(a=2.0, b=3.0), Vector([1.0, 2.0])
    assert symgrad.grad(product, wrt="p")(0.5, p) == {"a": 2.0, "b": 1.0}
    assert symgrad.grad(product, wrt="p.a")(0.5, p) == symgrad.grad(product, wrt="p['a']")(0.5, p) == 2.0
    assert symgrad.grad(scaled, wrt=("x", "v"))(0.5, v) == (10.0, [3.0, 4.0])
    assert symgrad.grad(scaled, wrt="v.scale")(0.5, v) == 2.5
    nested = Settings(inner=Settings(w=np.array([1.0, 2.0]), v=Vector([4.0])), b=3.0)
    gradient = symgrad.grad(lambda p: (p.inner.w @ p.inner.w) * p.b * p.inner.v[0])(nested)
    assert gradient["inner"]["w"].tolist() == [24.0, 48.0]
    assert gradient["inner"]["v"] == [15.0]
    with pytest.raises(BadArgument, match="p has no part p.zz"):
        symgrad.grad(product, wrt="p.zz")(0.5, p)


@pytest.mark.parametrize(("function", "value"), [(product, Settings(a=2.0, b=3.0)), (scaled, Vector([1.0, 2.0]))], ids=["dict", "list"])
def test_derivatives_of_all_modes_and_orders_agree(function: Any, value: Any) -> None:
    symgrad.check_grads(function, (0.5, value), wrt=("x", "p" if function is product else "v"), order=2)


def test_another_class_or_structure_is_another_signature() -> None:
    gradient = symgrad.grad(product)
    for p in (Settings(a=2.0, b=3.0), Other(a=2.0, b=3.0), Settings(a=4.0, b=1.0, c=1.0), Settings(b=1.0, a=4.0), Settings(a=2.0, b=3.0)):
        assert gradient(0.5, p) == p.a * p["a"]
    v, w = Vector([1.0, 2.0]), Vector([1.0, 2.0])
    w.scale, w.more = np.float64(3.0), 1
    gradient = symgrad.grad(scaled)
    assert [gradient(0.5, held) for held in (v, w, v)] == [10.0, 15.0, 10.0]
    gradient = symgrad.grad(lambda x, d: x * d["zz"])
    makers = (float, lambda: 2.0, lambda: 7.0, int)
    assert [gradient(0.5, collections.defaultdict(make)) for make in makers] == [0.0, 2.0, 7.0, 0.0]


def test_one_object_in_two_places_is_one() -> None:
    def stored(x, p, q):
        p.a = x * 2
        return q.a * q["a"] + p["a"]

    derivative = symgrad.value_and_grad(stored)
    one, other = Settings(a=1.0), Settings(a=3.0)
    assert derivative(0.5, one, one) == (2.0, 6.0)
    assert derivative(0.5, other, one) == (2.0, 2.0)
    assert other == one == {"a": 1.0}
    assert derivative(0.5, one, one) == (2.0, 6.0)


def test_what_is_stored_and_returned_is_of_its_class() -> None:
    def stored(x, p):
        p.new = Settings(z=x)
        p.new.y = [x, 2.0]
        return p.new.z * p.new.y[0]

    p = Settings()
    assert symgrad.value_and_grad(stored)(0.5, p) == (0.25, 1.0)
    assert type(p["new"]) is Settings
    assert p == {"new": {"z": 0.5, "y": [0.5, 2.0]}}
    (_, held), gradient = symgrad.value_and_grad(lambda x: (x * x, Settings(a=x, b=[x])), has_aux=True)(0.5)
    assert gradient == 1.0
    assert type(held) is Settings
    assert held == {"a": 0.5, "b": [0.5]}


def test_arguments_are_copied_past_their_class() -> None:
    def written(p):
        p["w"][0] = 7.0
        return np.sum(p["w"] ** 2) * p["b"]

    p = Settings(w=np.array([1.0, 2.0]), b=3.0)
    value, gradient = symgrad.value_and_grad(written)(p)
    assert value == 159.0
    assert gradient["w"].tolist() == [0.0, 12.0]
    assert p["w"].tolist() == [1.0, 2.0]
    assert copy.copy(p) == p


class Pair(tuple):
    def total(self):
        return self[0] + self[1]


@pytest.mark.parametrize("asked", ["isinstance(p, Pair)", "type(p) is tuple", "p.total() > 0", "hasattr(p, 'total')"])
def test_what_depends_on_the_class_of_a_tuple_is_refused(asked: str) -> None:
    function = symgrad.from_source(f"def f(x, p): return x * p[1] if {asked} else 5 * x", globals={"Pair": Pair})
    with pytest.raises(SymgradError, match=r"class of"):
        symgrad.grad(function)(0.5, Pair((1.0, 2.0)))
    assert symgrad.grad(lambda x, p: x * p[1] + len(p) * isinstance(p, tuple), wrt=("x", "p"))(0.5, Pair((1.0, 2.0))) == (2.0, (0.0, 0.5))
