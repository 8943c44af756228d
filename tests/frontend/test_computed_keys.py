"""Dicts with known keys and lists, subscripted with computed keys and indices, compared with plain Python.

Products: kinds of keys x operations x handlers x places, and kinds of values x what is done with them; each at several arguments, so that
each key is met, and one that is not there.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotCompiled
from tests.plainly import HEAD, function_of, verdict

#: keys of a dict, and expressions of the key that is computed: the third key is not there
KEYS = {
    "ints": (["0", "1"], "int(np.floor(3.0 * a)) % 3"),
    "negative": (["-1", "-2"], "-1 - int(np.floor(3.0 * a)) % 3"),
    "floats": (["0.0", "0.5"], "np.floor(3.0 * a) % 3 / 2.0"),
    "ints asked with floats": (["0", "1"], "np.floor(3.0 * a) % 3"),
    "floats asked with ints": (["0.0", "1.0", "1.5"], "int(np.floor(3.0 * a)) % 3"),
    "bools": (["True"], "a > 0.5"),
    "ints asked with bools": (["1", "5"], "bool(a > 0.5)"),
    "bools asked with ints": (["False", "True"], "int(np.floor(3.0 * a)) % 3"),
    "numpy": (["0", "1"], "np.argmax(np.array([0.4 - a, a - 0.3, 3.0 * a - 2.1]))"),
    "float32": (["0.0", "0.1"], "np.float32(np.floor(3.0 * a) % 3 / 10.0)"),
    "mixed": (["'k'", "0", "None", "1.0", "(0, 1)"], "int(np.floor(3.0 * a)) % 3"),
    "texts": (["'u'", "'v'"], "'u' if a < 0.3 else ('v' if a < 0.6 else 'w')"),
    "none": (["None", "1"], "None if a < 0.3 else int(np.floor(3.0 * a)) % 3"),
    "pairs": (["(0, 'u')", "(1, 'u')"], "(int(np.floor(3.0 * a)) % 3, 'u')"),
    "pairs of numbers": (["(0, 1)", "(1, 0)", "(1,)", "0"], "(int(np.floor(3.0 * a)) % 3, int(np.floor(3.0 * a + 1.0)) % 2)"),
    "of the loop": (["0", "1"], "i + int(a > 0.6)"),
}  # fmt: skip

#: what is asked of the dict ``d`` and gives ``s``
OPERATIONS = {
    "item": "s = d[k]",
    "get": "s = d.get(k, b * b)",
    "get of none": "s = d.get(k)\nif s is None:\n    s = a * b",
    "in": "s = a if k in d else b",
    "not in": "s = a * b\nif k not in d:\n    s = b",
    "checked": "s = b\nif k in d:\n    s = d[k] * 2.0\n    d[k] = a * s\n    d[k] += b",
    "augmented": "d[k] += a\ns = d[k]",
    "augmented in place": "d[k] *= b\nd[k] -= a\ns = b",
    "read, then stored": "s = d[k]\nd[k] = s * a",
    "counted": "if k not in d:\n    raise KeyError(k)\nd[k] = a * b\ns = d[k]",
    "pop": "s = d.pop(k)",
    "pop with default": "s = d.pop(k, b)",
    "del": "del d[k]\ns = a",
    "setdefault": "s = d.setdefault(k, b) if k in d else b * a",
    "set": "s = a if k in {KEYS} else b * b",
}  # fmt: skip

HANDLERS = {
    "none": "{}",
    "KeyError": "try:\n    {}\nexcept KeyError as e:\n    s = b * 3.0\n    print(str(e), repr(e), len(e.args))",
    "LookupError": "try:\n    {}\nexcept (ZeroDivisionError, LookupError):\n    s = a * a",
    "else": "try:\n    {}\nexcept KeyError:\n    s = b\nelse:\n    s = s * 2.0",
    "finally": "try:\n    try:\n        {}\n    finally:\n        b = b * 2.0\nexcept KeyError as e:\n    s = b\n    print(e)",
    "another": "try:\n    {}\nexcept IndexError:\n    s = b",
}

PLACES = {
    "straight": "{}",
    "branch": "if b > 0.4:\n    {}\nelse:\n    s = b",
    "loop": "for i in range(2):\n    {}\n    t = t + s",
    "loop over data": "for v in x:\n    a = a + 0.2 * v\n    {}\n    t = t + s * v",
    "function": "def g(a, b):\n    {}\n    return s\nt = g(a, b)\ns = t",
}

ARGUMENTS = [[a, 0.7, np.array([0.37, 1.13])] for a in (0.15, 0.45, 0.83)]


def put(outer: str, inner: str) -> str:
    """A text in the place of ``{}``, as deep as that stands."""
    line = next(line for line in outer.splitlines() if "{}" in line)
    depth = line[: len(line) - len(line.lstrip())]
    return outer.replace("{}", inner.replace("\n", f"\n{depth}"))


def program(keys: str, operation: str, handler: str, place: str) -> str:
    known, computed = KEYS[keys]
    held = "{" + ", ".join(f"{key}: {value}" for key, value in zip(known, ("a * b", "b + 0.1", "a", "b", "1.5"), strict=False)) + "}"
    asked = put(HANDLERS[handler], f"k = {computed}\n" + OPERATIONS[operation].replace("KEYS", ", ".join(known)))
    body = f"i = 0\ns = t = 0.0\nd = {held}\n" + put(PLACES[place], asked)
    body += f"\nr = s + 2.0 * t\nfor key in ({', '.join(known)},):\n    r = r + d.get(key, 0.3) * b\nreturn r"
    return "def f(a, b, x):\n" + "".join(f"    {line}\n" for line in body.splitlines())


CASES = list(itertools.product(KEYS, OPERATIONS, HANDLERS, PLACES))


def counted(cases: list[tuple[str, str, str, str]]) -> dict[str, int]:
    counts = {"right": 0, "refused": 0, "raises": 0}
    for case in cases:
        for args in ARGUMENTS:
            counts[verdict(program(*case), args)] += 1
    return counts


@pytest.mark.sweep(5)
@pytest.mark.parametrize("keys", KEYS)
def test_an_item_is_the_one_whose_key_is_equal(keys: str) -> None:
    mine = [case for case in CASES if case[0] == keys]
    counts = counted(mine[list(KEYS).index(keys) % 61 :: 61])
    assert counts["right"] > 2 * counts["refused"], counts


@pytest.mark.slow
@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_each_item_is_the_one_whose_key_is_equal(keys: str, operation: str) -> None:
    counted([case for case in CASES if case[:2] == (keys, operation)])


#: values of a dict, and what is made of an item ``v``
VALUES = {
    "numbers": (["a", "b * b", "2.0"], "v * v"),
    "arrays": (["x", "x[::-1] * a", "np.array([a, b])"], "np.sum(v * v * np.arange(2))"),
    "arrays that are changed": (["x * a", "x * b", "x * 2.0"], "0.0\nv[0] = a\ns = sum(np.sum(w * w * m) for m, w in enumerate(d.values()))"),
    "arrays that are changed in place": (["x * a", "x * b", "x * 2.0"], "0.0\nd[k] *= b\ns = sum(np.sum(w * w * m) for m, w in enumerate(d.values()))"),
    "parts that are changed": (["x * a", "x * b", "x * 2.0"], "0.0\nd[k][1] += b\ns = sum(np.sum(w * w * m) for m, w in enumerate(d.values()))"),
    "views": (["y[:2]", "y[1:]", "y[::2]"], "0.0\nv[0] = a * b\ns = np.sum(y * y * np.arange(1, 4))"),
    "tuples": (["(a, 1)", "(b, 2)", "(a * b, 3)"], "v[0] * v[1] * len(v)"),
    "tuples of arrays": (["(x, a)", "(x * b, b)", "(x + 1.0, 1.0)"], "np.sum(v[0]) * v[1]"),
    "lists": (["[a]", "[b]", "[a * b]"], "0.0\nv[0] *= b\nd[k][0] = v[0] * 2.0\ns = sum(sum(w) * (m + 1) for m, w in enumerate(d.values()))"),
    "lists of other lengths": (["[a]", "[b, a]", "[]"], "sum(v) * len(v) + b"),
    "dicts": (["{'u': a}", "{'u': b}", "{'u': 1.0}"], "0.0\nv['u'] = v['u'] * a\ns = sum(w['u'] * (m + 1) for m, w in enumerate(d.values()))"),
    "instances": (["C(a)", "C(b)", "C(1.0)"], "0.0\nv.v = v.v * a + b\ns = sum(w.v * (m + 1) for m, w in enumerate(d.values()))"),
    "functions": (["np.sin", "g", "lambda v: v * b"], "v(a)"),
    "functions of NumPy": (["np.sin", "np.cos", "np.exp"], "v(a) + np.sum(v(x))"),
    "methods": (["C(a).twice", "C(b).twice", "C(1.0).twice"], "v(b)"),
    "functions that take others": (["lambda h: h(a)", "lambda h: h(b) * h(a)", "lambda h: b"], "v(np.sin)"),
    "texts": (["'u'", "'v'", "'w'"], "{'u': a, 'v': b, 'w': a * b}[v]"),
    "none": (["a", "None", "b"], "b if v is None else v * v"),
    "bools": (["True", "False", "a > b"], "a if v else b"),
    "keys": (["1", "2", "0"], "0.0\nfor m in range(3):\n    k = d[k]\n    s = s * a + k * b"),
}  # fmt: skip
HOLDERS = {
    "dict": "d = {0: {0}, 1: {1}, 2: {2}}",
    "list": "d = [{0}, {1}, {2}]",
    "tuple": "d = ({0}, {1}, {2})",
    "dict of the first two": "d = {0: {0}, 1: {1}}",
}
CLASS = """
class C:
    def __init__(self, v): self.v = v
    def twice(self, w): return self.v * w * 2.0
def g(v): return v * v * v
"""


@pytest.mark.sweep(6)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("holder", HOLDERS)
def test_values_of_any_kind_are_chosen_among(values: str, holder: str) -> None:
    held, use = VALUES[values]
    holder_text = HOLDERS[holder]
    for place, value in enumerate(held):
        holder_text = holder_text.replace(f"{{{place}}}", value)
    read = f"k = int(np.floor(3.0 * a))\nv = d[k]\ns = {use}"
    if not holder.startswith("dict"):
        read = read.replace("d.values()", "d")
    guarded = put("try:\n    {}\nexcept LookupError as e:\n    print(e)\n    s = b\nreturn s + a * b", read)
    body = "y = np.array([a, b, a * b])\n" + holder_text + "\n" + guarded
    text = CLASS + "def f(a, b, x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert {verdict(text, args) for args in ARGUMENTS} <= NOT_RIGHT.get((values, holder), {"right"})


#: what is not followed, and what Python raises
NOT_RIGHT = {("views", holder): {"refused"} for holder in HOLDERS} | {
    ("arrays that are changed in place", "tuple"): {"raises"}, ("parts that are changed", "tuple"): {"right"},
}  # fmt: skip


@pytest.mark.sweep(5)
@pytest.mark.parametrize("keys", ["ints", "texts", "pairs", "numpy", "floats"])
@pytest.mark.parametrize("operation", ["item", "augmented", "pop", "get"])
def test_kernels_and_second_derivatives_agree(keys: str, operation: str) -> None:
    f = function_of(HEAD + program(keys, operation, "KeyError", "straight"))
    for args in ARGUMENTS:
        value, gradient = symgrad.value_and_grad(f, wrt=("a", "b"), allow_unused=True)(*args)
        try:
            compiled = symgrad.value_and_grad(f, wrt=("a", "b"), jit=True, allow_unused=True)(*args)
        except NotCompiled:
            compiled = value, gradient
        assert compiled[0] == pytest.approx(value)
        assert compiled[1] == pytest.approx(gradient)

        def slope(b: float, args: list[Any] = args) -> float:
            return float(symgrad.grad(f, wrt="b", allow_unused=True)(args[0], b, args[2]))

        second = symgrad.grad(symgrad.grad(f, wrt="b", allow_unused=True), wrt="b", allow_unused=True)(*args)
        differences = (slope(args[1] + 1e-5) - slope(args[1] - 1e-5)) / 2e-5
        assert float(second or 0.0) == pytest.approx(differences, rel=1e-4, abs=1e-4)


ABSENT = {
    "int": "{0: a}[int(9.0 * a)]",
    "numpy": "{0: a}[np.int64(9.0 * a)]",
    "float": "{0: a}[np.floor(9.0 * a) / 2.0]",
    "bool": "{False: a}[a > 0.2]",
    "pair": "{(0, 'u'): a}[int(9.0 * a), 'u']",
    "text": "{'u': a, 'v': b}['u' if a < 0.2 else 'w']",
    "pop": "{0: a}.pop(int(9.0 * a))",
    "outside": "TABLE[int(9.0 * a)](a)",
    "array": "{0: a}[np.array([1.0, a])]",
    "list": "{0: a}.get([int(9.0 * a)])",
}


@pytest.mark.parametrize("kind", ABSENT)
@pytest.mark.parametrize("jit", [False, "auto"])
def test_the_error_says_what_python_says(kind: str, jit: Any) -> None:
    f = function_of(HEAD + f"TABLE = {{0: np.sin, 1: np.cos}}\ndef f(a, b):\n    return {ABSENT[kind]} * b\n")
    with pytest.raises((KeyError, TypeError)) as plain:
        f(0.7, 1.1)
    with pytest.raises(plain.type) as ours:
        symgrad.grad(f, allow_unused=True, jit=jit)(0.7, 1.1)
    assert repr(ours.value) == repr(plain.value)


OUTSIDE = {
    "functions": "TABLE[k](a) * b",
    "numbers": "NUMBERS[k] * a * NUMBERS.get(k + 1, b)",
    "in dict": "a * b if k in NUMBERS else a",
    "in list": "a * b if k in LISTED else a",
    "not in set": "a * b if k not in ELEMENTS else a",
    "default": "NUMBERS.get(k, a) * b",
    "arrays": "np.sum(ARRAYS[k]) * a * b",
}


@pytest.mark.parametrize("kind", OUTSIDE)
def test_dicts_from_outside(kind: str) -> None:
    text = """
TABLE, NUMBERS, LISTED, ELEMENTS = {0: np.sin, 1: lambda v: v * v, 2: math.exp}, {0: 2.0, 2: 3.0}, [0, "u", 2.0], {1, 2}
ARRAYS = {0: np.arange(3.0), 1: np.ones(2)}
def f(a, b):
    k = int(np.floor(3.0 * a))
    try:
        return STATED
    except KeyError as e:
        print(e)
        return a * a * b
""".replace("STATED", OUTSIDE[kind])
    assert [verdict(text, [a, 0.7]) for a in (0.15, 0.45, 0.83)] == ["right"] * 3


def test_a_dict_of_many_keys() -> None:
    text = """
def f(a, b):
    d = {i: i * a for i in range(30)}
    k = int(np.floor(35.0 * a))
    d[k] += b * b
    try:
        return d[k] * d[k + 1] + sum(d.values())
    except KeyError as e:
        return a * e.args[0]
"""
    assert [verdict(text, [a, 0.7]) for a in (0.0051, 0.451, 0.8511, 0.9011)] == ["right", "right", "right", "raises"]


def test_a_key_may_be_a_new_one() -> None:
    def stored(a: float, b: float) -> float:
        d = {0: a, 1: b}
        d[int(np.floor(3.0 * a))] = a * b
        return d[0] * d[1]

    gradient = symgrad.grad(stored, wrt=("a", "b"))
    assert gradient(0.15, 0.7) == pytest.approx((2 * 0.15 * 0.0 + 0.7 * 0.7, 2 * 0.15 * 0.7))
    assert gradient(0.83, 0.7) == pytest.approx((0.7, 0.83))


def test_a_dict_that_has_no_keys_while_compiling() -> None:
    def stored(a: float) -> float:
        d: dict[int, float] = {}
        d[int(np.floor(3.0 * a))] = a
        return d[0]

    assert symgrad.grad(stored)(0.1) == 1.0
    with pytest.raises(KeyError):
        symgrad.grad(stored)(0.5)


ORDERS = {
    "deleted": "if a > 0.5:\n    del d[0]\nd[0] = a * b",
    "stored in turn": "if a > 0.5:\n    d[2], d[3] = a, b\nelse:\n    d[3], d[2] = a, b",
    "popped": "if a > 0.5:\n    d[0] = d.pop(0) * b",
    "computed": "d.pop(int(np.floor(2.0 * a)))\nd[0] = a * b\nd[1] = b",
    "in a loop": "for i in range(2):\n    if a > 0.5:\n        d[0] = d.pop(0) * b",
    "copied": "if a > 0.5:\n    del d[0]\nd[0] = a * b\nd = d.copy()",
    "same order": "if a > 0.5:\n    d[2] = a\nelse:\n    d[2] = b\nd[3] = a",
    "the last one": "if a > 0.5:\n    del d[1]\nd[1] = a",
}
ASKED = {
    "values": "sum(v * (m + 1) for m, v in enumerate(d.values()))",
    "items": "sum(v * (m + 1) * (k + 2) for m, (k, v) in enumerate(d.items()))",
    "first": "a * next(iter(d)) + d[0]",
    "last": "d.popitem()[1]",
    "text": "(print(d) or a)",
    "items by key": "d[0] * d[1]",
    "length": "a * len(d)",
    "equal": "a if d == {1: b, 0: a * b} else b",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("change", ORDERS)
@pytest.mark.parametrize("asked", ASKED)
def test_the_order_of_keys_may_depend_on_the_path(change: str, asked: str) -> None:
    body = f"d = {{0: a, 1: b}}\n{ORDERS[change]}\nreturn {ASKED[asked]} * b"
    text = "def f(a, b):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    verdicts = {verdict(text, [a, 0.7]) for a in (0.15, 0.83)}
    if change in ("same order", "the last one") or asked == "items by key" and change != "in a loop":
        assert verdicts == {"right"}


OPERATORS = {
    "neg": "operator.neg(a) * operator.pos(b)",
    "invert": "operator.invert(4) * a + operator.inv(n) * b",
    "bits": "a * operator.and_(n, 6) + b * operator.or_(n, 4) * operator.xor(n, 1) * operator.lshift(n, 2) * operator.rshift(9, 1)",
    "getitem": "operator.getitem(x, 1) * operator.getitem({0: a, 1: b}, int(a > 0.5)) * operator.getitem((a, b), n % 2)",
    "slices": "np.sum(operator.getitem(x, slice(0, 1))) * operator.getitem(np.outer(x, x), (0, 1))",
    "in place": "operator.iadd(a, b) * operator.imul(b, a) - operator.isub(a, 1.0) * operator.itruediv(a, b)",
    "call": "operator.call(lambda v, w=1.0: v * w, a, w=b)",
    "getter": "operator.itemgetter(1)(x) * sum(map(operator.neg, [a, b]))",
}


@pytest.mark.parametrize("kind", OPERATORS)
def test_functions_of_the_operator_module(kind: str) -> None:
    assert verdict(f"import operator\ndef f(a, b, n, x):\n    return {OPERATORS[kind]}\n", [0.7, 1.3, 3, np.array([0.4, 1.7])]) == "right"


def test_functions_that_store() -> None:
    text = """
import operator
def f(a, b, x):
    y, d, l = x * 1.0, {"u": a}, [a]
    z, m = y, l
    operator.setitem(y, 1, a * b)
    operator.setitem(d, "u", b * b)
    y = operator.iadd(y, x[::-1] * a)
    l = operator.iadd(l, [b])
    return np.sum(z * y) + d["u"] * m[1] * len(l)
"""
    assert verdict(text, [0.7, 1.3, np.array([0.4, 1.7])]) == "right"


SLICES = {
    "front": "sum(l[:k])",
    "back": "sum(l[k:]) * len(l[k:])",
    "without": "sum(v * (m + 1) for m, v in enumerate(l[:k] + l[k + 1:]))",
    "negative": "sum(l[-k:]) + b",
    "steps": "sum(l[k::2])",
    "arrays": "sum(np.sum(v) for v in [x, x * a, x * b][k:]) + b",
}


@pytest.mark.parametrize("kind", SLICES)
def test_a_part_of_a_list_with_ends_that_are_computed(kind: str) -> None:
    text = f"def f(a, b, x):\n    k, l = int(np.floor(3.0 * a)), [a, b, a * b]\n    return {SLICES[kind]} * b\n"
    assert [verdict(text, args) for args in ARGUMENTS] == ["right"] * 3


@pytest.mark.parametrize("dtypes", ["float32", "float64"])
@pytest.mark.parametrize("turned", ["x if a > 0.5 else y", "y if a > 0.5 else x"])
def test_an_array_of_one_of_two_dtypes_is_itself_where_it_has_the_dtype(dtypes: str, turned: str) -> None:
    text = f"""
def f(a, x):
    y = np.array(x * a, dtype="float32")
    z = x * 2.0
    x = z
    w = np.asarray({turned}, dtype=np.{dtypes})
    y[1] = 0.5
    z[0] = 0.25
    return float(np.sum(w * np.arange(1.0, 3.0))) * 1e-6 + np.sum(z * z) * a
"""
    assert [verdict(text, [a, np.array([0.5, 1.5])]) for a in (0.7, 0.3)] == ["right"] * 2
