"""Each gradient has the dtype of its argument, on both targets.

The numbers are held against the gradients of the same function in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from plainly import function_of

import symgrad

f4 = np.float32
X, T = np.array([0.7, 1.3, 2.1], f4), np.array([1.0, 2.0, 2.0], f4)
Y = np.array([0.5, -0.4, 1.1])
M = np.arange(9, dtype=f4).reshape(3, 3) / f4(7) + np.eye(3, dtype=f4)
S, D, Z, D64 = f4(0.7), 1.9, np.array(0.7, f4), np.float64(1.9)


class NT(NamedTuple):
    a: Any
    b: Any


@dataclass
class DC:
    a: Any
    b: Any


def loop(x):
    t = 0.0
    for i in range(3):
        t += x[i] * x[i]
    return t


def loop2(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = x[i] * 2
    return np.sum(y * y)


def loop3(x):
    y = np.zeros_like(x)
    s = x[0]
    for i in range(3):
        s = s * x[i]
        y[i] = s
    return np.sum(y)


def loop4(s):
    t = s
    while t < 10:
        t = t * 2.0 + s
    return t


def loop5(x, y):
    t = 0.0
    for i in range(3):
        t = t + (x[i] if x[i] > 1 else y[i])
    return t


# fmt: off
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    ((lambda x: np.sum(x*x)), (X,)),
    ((lambda x: np.max(x)), (T,)),
    ((lambda x: np.min(x)), (-T,)),
    ((lambda s: s*s), (S,)),
    ((lambda s: np.sin(s)*2.0), (S,)),
    ((lambda s: s), (S,)),
    ((lambda s: 2.0*s), (S,)),
    ((lambda s,d: s*d), (S, D,)),
    ((lambda s,d: s*d), (S, D64,)),
    ((lambda s,d: s if d>0 else d), (S, D64,)),
    ((lambda s,d: s if d<0 else d), (S, D64,)),
    ((lambda x,y: np.sum(x if y[0]>0 else y)), (X, Y,)),
    ((lambda x,y: np.sum(x if y[0]<0 else y)), (X, Y,)),
    ((lambda x,y: np.sum(x*y)), (X, Y,)),
    ((lambda x,y: x@y), (X, Y,)),
    ((lambda z: z*z), (Z,)),
    ((lambda z: np.sin(z)), (Z,)),
    ((lambda z: 2.0*z), (Z,)),
    ((lambda m: np.sum(m@m)), (M,)),
    ((lambda m,x: x@m@x), (M, X,)),
    ((lambda m,x,y: np.einsum("i,ij,j->",x,m,y)), (M, X, Y,)),
    ((lambda m,x: np.einsum("i,ij,j->",x,m,x)), (M, X,)),
    ((lambda x: np.mean(x)), (X,)),
    ((lambda x: np.std(x)), (X,)),
    ((lambda x: np.var(x)), (X,)),
    ((lambda x: np.linalg.norm(x)), (X,)),
    ((lambda x: np.prod(x)), (X,)),
    ((lambda x: np.sum(np.sort(x)[:2])), (T,)),
    ((lambda x: np.median(x)), (T,)),
    ((lambda x: np.quantile(x,.3)), (X,)),
    ((lambda x: np.interp(1.0,x,x)), (X,)),
    ((lambda x: np.polyval(x,2.0)), (X,)),
    ((lambda x: sum(x.tolist())), (X,)),
    ((lambda x: sum(v*v for v in x)), (X,)),
    ((lambda x: np.sum(np.stack([x,x])@x)), (X,)),
    ((lambda x: sum(x)), (X,)),
    ((lambda x: np.sum(np.where(x>1,x,0.0))), (X,)),
    ((lambda x,y: np.sum(np.where(x>1,x,y))), (X, Y,)),
    ((lambda x: np.sum(np.clip(x,1,2))), (X,)),
    ((lambda x: np.sum(np.maximum(x,1.4))), (X,)),
    ((lambda x,y: np.sum(np.maximum(x,y))), (X, Y,)),
    ((lambda x: np.sum(np.concatenate([x,x*2]))), (X,)),
    ((lambda x,y: np.sum(np.concatenate([x,y]))), (X, Y,)),
    ((lambda x: np.cumsum(x)[1]), (X,)),
    ((lambda m: np.linalg.det(m)), (M,)),
    ((lambda m: np.sum(np.linalg.inv(m))), (M,)),
    ((lambda m,x: np.sum(np.linalg.solve(m,x))), (M, X,)),
    ((lambda x: x[0]*x[1]), (X,)),
    ((lambda x: float(x[0])*2.0), (X,)),
    ((lambda s: float(s)*2.0), (S,)),
    ((lambda x: np.float64(x[0])*2.0), (X,)),
    ((lambda x: np.sum(x.astype(float)**2)), (X,)),
    ((lambda x: np.sum(np.power(x,2.5))), (X,)),
    ((lambda x,s: np.sum(x*s)), (X, S,)),
    ((lambda x,s: np.sum(x)*s), (X, D,)),
    ((lambda x,s: np.sum(x*s)), (X, D,)),
    ((lambda x,s: np.sum(x*s)), (Y, S,)),
    ((lambda x,s: np.sum(x**s)), (X, S,)),
    ((lambda d: d["a"]*d["b"]), ({"a": S, "b": D},)),
    ((lambda d: np.sum(d["a"]*d["b"])), ({"a": X, "b": Y},)),
    ((lambda t: t[0]*t[1]), ((S, D),)),
    ((lambda t: np.sum(t[0]*t[1])), ([X, Y],)),
    ((lambda t: t.a*t.b), (NT(S, D),)),
    ((lambda t: np.sum(t.a*t.b)), (DC(X, Y),)),
    ((lambda t: t.a*t.b), (DC(S, D64),)),
    ((lambda t: t.a*t.a), (SimpleNamespace(a=S),)),
    ((lambda x: np.sum(np.gradient(x))), (X,)),
    ((lambda x: np.sum(np.diff(x)**2)), (X,)),
    ((lambda x: np.trapezoid(x)), (X,)),
    ((lambda x: np.average(x,weights=x)), (X,)),
    ((lambda x: np.sum(np.outer(x,x))), (X,)),
    ((lambda x: np.logaddexp.reduce(x)), (X,)),
    ((lambda x: np.log(np.sum(np.exp(x-np.max(x))))), (X,)),
    ((lambda s: abs(s)), (S,)),
    ((lambda s: max(s,0.0)), (S,)),
    ((lambda s: max(s,s)), (S,)),
    ((lambda s: s**3), (S,)),
    ((lambda s: 2.0**s), (S,)),
    ((lambda s: round(s,1)*s), (S,)),
    ((lambda s: np.sum(np.full(3,s))), (S,)),
    ((lambda s: np.sum(np.array([s,s]))), (S,)),
    ((lambda s: np.sum(np.array([s,1.0]))), (S,)),
    ((lambda s: math.sin(s)), (S,)),
    ((lambda s,d: math.hypot(s,d)), (S, D,)),
    ((lambda x: np.sum(np.fft.rfft(x).real)), (X,)),
    ((lambda x: np.convolve(x,x)[2]), (X,)),
    ((lambda x: np.sum(np.kron(x,x))), (X,)),
    ((lambda x: np.ptp(x)), (T,)),
    ((lambda x: np.amax(x*1.0)), (T,)),
    ((lambda x: np.nanmax(x)), (T,)),
    ((lambda x: np.sum(np.max(np.stack([x,x]),axis=0))), (T,)),
    ((lambda x: max(x)), (T,)),
    ((lambda x: max(list(x))), (T,)),
    ((lambda x: loop(x)), (X,)),
    ((lambda x: loop2(x)), (X,)),
    ((lambda x: loop3(x)), (X,)),
    ((lambda s: loop4(s)), (S,)),
    ((lambda x: np.sum(np.loadtxt(["1","2","3"])*x)), (X,)),
    ((lambda s: np.loadtxt(["1"])*s), (S,)),
    ((lambda x,y: loop5(x,y)), (X, Y,)),
    ((lambda s,d: (s,d)[0]*1.0), (S, D,)),
    ((lambda x: np.sum(x)+x[0]), (X,)),
    ((lambda x: np.inner(x,x)+1j.real), (X,)),
    ((lambda x: np.sum(np.sqrt(x*x+1))), (X,)),
    ((lambda x: np.sum(abs(x+1j))), (X,)),
    ((lambda s: abs(s+1j)), (S,)),
    ((lambda s: (s*(1+2j)).real), (S,)),
    ((lambda l, s: l[0] * s * l[1]), ([1.0, 2.0], S)),
    ((lambda l, s: np.sum(np.array(l) * s)), ([1.0, 2.0], S)),
    ((lambda x, y: np.sum(np.maximum(x, y))), (T, T + f4(0))),
    ((lambda d: d["a"] * d["b"] * 2.0), ({"a": Z, "b": S},)),
    ((lambda x: np.max(x, initial=f4(2.0))), (T,)),
    ((lambda x: np.max(x, where=x > 1, initial=0)), (T,)),
    ((lambda x: np.sum(x * x)), (X.astype("f2"),)),
    ((lambda s: s * s * 2.0), (np.float16(2),)),
    ((lambda z: np.sum(abs(z))), (X.astype("F"),)),
    ((lambda z: (z * (1 + 2j)).real), (np.complex64(1 + 2j),)),
    ((lambda s: s * f4(2)), (1.5,)),
    ((lambda s: np.sum(np.full(2, f4(2)) * s)), (1.5,)),
    ((lambda d: d["w"][0] * d["p"].a * d["p"].b[1]), ({"w": [S, 2.0], "p": NT(D, X)},)),
]
# fmt: on
#: those that are compiled in the fast tests
COMPILED = {0, 1, 6, 9, 13, 21, 59, 62}


def leaves(value: Any) -> Iterator[Any]:
    """The numbers and arrays in a value."""
    match value:
        case list() | tuple():
            items = list(value)
        case dict():
            items = list(value.values())
        case DC() | SimpleNamespace():
            items = list(vars(value).values())
        case _:
            yield value
            return
    for item in items:
        yield from leaves(item)


def widened(value: Any) -> Any:
    """The same in double precision."""
    match value:
        case tuple() if hasattr(value, "_fields"):
            return type(value)(*map(widened, value))
        case list() | tuple():
            return type(value)(map(widened, value))
        case dict():
            return {key: widened(item) for key, item in value.items()}
        case DC() | SimpleNamespace():
            return type(value)(**{key: widened(item) for key, item in vars(value).items()})
        case np.ndarray():
            return value.astype(complex if value.dtype.kind == "c" else float)
        case np.complexfloating():
            return complex(value)
    return float(value)


def kind(value: Any) -> str:
    """What a number or an array is; NumPy's doubles are Python's."""
    name = f"array of {value.dtype}" if isinstance(value, np.ndarray) else type(value).__name__
    return {"float64": "float", "complex128": "complex"}.get(name, name)


def check(place: int, jit: bool) -> None:
    function, arguments = PROGRAMS[place]
    wrt = tuple(range(len(arguments)))
    gradients = symgrad.grad(function, wrt=wrt, allow_unused=True, jit="auto" if jit else False)(*arguments)
    assert [kind(g) for g in leaves(gradients)] == [kind(a) for a in leaves(arguments)]
    _, pullback = symgrad.vjp(function, *arguments, jit="auto" if jit else False)
    assert [kind(g) for g in leaves(pullback(np.float64(1.0)))] == [kind(a) for a in leaves(arguments)]
    expected = symgrad.grad(function, wrt=wrt, allow_unused=True)(*widened(arguments))
    for one, other in zip(leaves(gradients), leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=3e-2 if "16" in kind(one) else 2e-5, atol=1e-5)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_gradients_have_the_dtype_of_the_argument(place):
    check(place, jit=False)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("place", [p if p in COMPILED else pytest.param(p, marks=pytest.mark.slow) for p in range(len(PROGRAMS))])
def test_kernels_give_the_dtype_of_the_argument(place):
    check(place, jit=True)


@pytest.mark.parametrize("jit", [False, "auto"])
def test_seeds_in_double_precision(jit):
    for function in (lambda x: x * 2.0, lambda x: x[0] * x):
        _, pullback = symgrad.vjp(function, X, jit=jit)
        for seed in (np.ones(3), 2.0, np.float64(2), np.ones(3, f4)):
            assert pullback(seed)[0].dtype == f4


def test_second_derivatives():
    second = symgrad.grad(symgrad.grad(lambda s: s**3))
    assert kind(second(S)) == "float32"
    assert kind(symgrad.grad(lambda x: np.sum(symgrad.grad(lambda y: np.sum(y**3))(x)))(X)) == "array of float32"


def test_zeros_of_what_does_not_matter():
    for argument in (S, X, Z, 2.0, np.float16(1), Y):
        assert kind(symgrad.grad(lambda x: 3.0, allow_unused=True)(argument)) == kind(argument)


# ------------------------------------------------------------------ numbers of which the dtype shows when the program runs

#: what is done with an array of float32 in a loop or branch
BLOCKS = {
    "store": "for j in range(2):\n    y[1] = 0.56",
    "while": "k = 0\nwhile k < 2:\n    y[1] = 0.5 * y[0]\n    k += 1",
    "branch": "if z > 0:\n    y[1] = 0.5 * y[0]\nelse:\n    y = y * 2",
    "carried": "for j in range(2):\n    y = y * np.sin(y)",
    "store in a branch": "for j in range(2):\n    if j:\n        y[0] = y[1] * z",
    "elements": "q = 0.0\nfor v in y:\n    q = q + v * v\ny = y * q",
    "list": "l = [y, y * 2]\nfor j in range(2):\n    l[0] = l[1] * y\ny = l[0]",
    "nested": "for j in range(2):\n    for i in range(2):\n        y[i] *= y[j]",
}
#: a number or array of one dtype or another
MIXED = {
    "loop": "s = z\nfor i in range(n):\n    s = np.var(x)",
    "branch": "s = np.var(x) if z > 0 else z",
    "integer": "s = 1\nfor i in range(n):\n    s = np.var(x)",
    "array": "s = y\nfor i in range(n):\n    s = s * x[0]",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("z", [np.float32(0.3), np.array(0.3, np.float32), -0.3], ids=["number", "array", "python"])
@pytest.mark.parametrize("mixed", MIXED)
@pytest.mark.parametrize("block", BLOCKS)
def test_gradients_have_the_dtype_of_arguments_whatever_they_are_multiplied_by(block: str, mixed: str, z: Any) -> None:
    lines = [*BLOCKS[block].splitlines(), *MIXED[mixed].splitlines(), "return np.sum(s * y)"]
    f = function_of("import numpy as np\n\n\ndef f(x, y, z, n):\n" + "".join(f"    {line}\n" for line in lines))
    x, y = np.arange(16.0).reshape(4, 4) / 4, np.array([0.3, 0.5, 0.2, 0.7], np.float32)
    gradient = symgrad.grad(f, wrt=(0, 1, 2), allow_unused=True)(x, y, z, 2)
    assert [np.asarray(g).dtype for g in gradient] == [np.asarray(a).dtype for a in (x, y, z)]
    exact = symgrad.grad(f, wrt=(0, 1, 2), allow_unused=True)(x, y.astype(float), float(z), 2)
    for one, other in zip(gradient, exact, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=1e-5)
