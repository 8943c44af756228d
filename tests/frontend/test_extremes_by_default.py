"""``max`` and ``min`` with ``key`` and ``default``, ``getattr`` with a default: iterables and classes x defaults, against plain Python."""

from __future__ import annotations

from itertools import product

import pytest

from tests.plainly import check_kernel_and_second_derivative, verdict

HELPERS = """
class P:
    def __init__(self, v): self.v = v
def told(v):
    print("key", round(float(v), 6))
    return -v
def drawn(x):
    for v in x:
        print("item", round(float(v), 6))
        if v > 0: yield v
"""
ITEMS = {
    "list": "[v for v in x if v > 0]", "generator": "(v for v in x if v > 0)", "printing": "drawn(x)", "array": "x[x > 0]", "filter": "filter(lambda v: v > 0, x)",
    "pairs": "[(v, a) for v in x if v > 0]", "enumerated": "[p for p in enumerate(x) if p[1] > 0]", "known": "[a, b]", "none": "[]",
}  # fmt: skip
KEYS = {"none": "", "lambda": ", key=lambda v: v * v", "printing": ", key=told", "tuple": ", key=lambda v: (v > 0.5, -v)"}
KEYS_OF_PAIRS = {"none": "", "item": ", key=lambda p: p[1]", "tuple": ", key=lambda p: (p[1], -p[0])"}
DEFAULTS = {"none": "None", "number": "a", "constant": "2.0"}
DATA = {"two": [0.3, -0.4, 0.7], "one": [0.9], "none": [-0.5], "empty": []}
CASES = [
    (name, items, key, default)
    for name, (items, default) in product(("max", "min"), product(ITEMS, DEFAULTS))
    for key in (KEYS_OF_PAIRS if items in ("pairs", "enumerated") else KEYS)
]


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("name", "items", "key", "default"), CASES)
def test_the_extreme_or_the_default(name: str, items: str, key: str, default: str) -> None:
    is_pair = items in ("pairs", "enumerated")
    default = "(a, b)" if is_pair and default != "none" else DEFAULTS[default]
    of_pair = "m[0] * 2.0 + m[1]" if is_pair else "m * m"
    call = f"{name}({ITEMS[items]}{(KEYS_OF_PAIRS if is_pair else KEYS)[key]}, default={default})"
    lines = ["x = np.array(x)", f"m = {call}", f"return b if m is None else a * ({of_pair})"]
    text = HELPERS + "def f(a, b, x):\n" + "".join(f"    {line}\n" for line in lines)
    for data in DATA.values():
        verdict(text, [0.4, 1.7, data])


def test_kernels_and_second_derivatives() -> None:
    text = "def f(a, b, x):\n    return max([a * v for v in x if v > 0], key=lambda v: v * v, default=b * b) ** 2 * b\n"
    for data in DATA.values():
        check_kernel_and_second_derivative(text, (0.4, 1.7, data or [0.0]))


def test_the_best_object_is_that_object() -> None:
    text = HELPERS + (
        "def f(a, b, x):\n    ps = [P(a), P(b), P(a * b)]\n    w = max(ps, key=lambda p: p.v, default=None)\n    w.v = w.v * 3\n"
        "    return sum(k * p.v for k, p in enumerate(ps)) + max([p for p in ps if p.v > 50], key=lambda p: p.v, default=P(a)).v\n"
    )
    assert verdict(text, [0.4, 1.7, []]) == verdict(text, [1.9, 0.3, []]) == "right"


#: classes with computed attributes, some of them on some paths only
CLASSES = {
    "__getattr__": "def __getattr__(self, n):\n        if n == 'k' and self.v > 0.5: return 3.0 * self.v\n        raise AttributeError(n)",
    "kept in a dict": "def __getattr__(self, n):\n        try:\n            return {'k': self.v * self.v}[n]\n"
    "        except KeyError:\n            raise AttributeError(n) from None",
    "property": "@property\n    def k(self):\n        if self.v < 0.5: raise AttributeError('k')\n        return math.sqrt(self.v)",
    "both": "@property\n    def k(self): raise AttributeError('k')\n    def __getattr__(self, n): return 2.0 * self.v if n == 'k' else 1.0",
}
ASKED = [
    "getattr(o, 'k', b)",
    "getattr(o, 'missing', b)",
    "(2.0 if hasattr(o, 'k') else b)",
    "getattr(o, 'v', b)",
    "hasattr(o, 'missing') + b",
]


@pytest.mark.parametrize(("cls", "asked"), [*product(CLASSES, ASKED)])
def test_attributes_that_methods_compute(cls: str, asked: str) -> None:
    head = f"class O:\n    def __init__(self, v): self.v = v\n    {CLASSES[cls]}\n"
    for a in (0.4, 0.9):
        assert verdict(f"{head}def f(a, b):\n    o = O(a)\n    return a * {asked} + b\n", [a, 1.7]) == "right"
        assert verdict(f"{head}q = O(0.7)\ndef f(a, b):\n    o = q\n    return a * {asked} + b\n", [a, 1.7]) == "right"
