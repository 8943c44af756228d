"""Attributes of classes, functions and modules, and variables of closures, that a function assigns to, beside plain Python.

Values, gradients by differences, and what each call leaves, for owners x stores x places; lookups through instances and derived classes;
what somebody else changes between calls.
"""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
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
    check(program(owner, store, place), jit=True, calls=2)
