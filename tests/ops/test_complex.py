"""Expressions of complex numbers through ``symgrad.grad``, compared with differences.

The gradient of a real ``f`` with respect to ``z = x + iy`` is ``df/dx - i df/dy``. A row is allowed for complex numbers only if it
occurs here.
"""

from __future__ import annotations

import ast
import cmath
import importlib.util
import math
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.ir.core import Call, walk
from symgrad.ir.types import is_complex
from symgrad.ops.rows.complexes import RIGHT
from symgrad.pipeline.job import Job

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
RNG = np.random.default_rng(4)
HEAD = "import cmath\nimport math\nimport symgrad\nimport numpy as np\n\n"
SPACE: dict[str, Any] = {"np": np, "math": math, "cmath": cmath, "symgrad": symgrad}
if importlib.util.find_spec("scipy") is not None:
    HEAD = "from scipy import special\n" + HEAD
    SPACE["special"] = importlib.import_module("scipy.special")
Z = np.array([0.9 + 0.4j, -1.3 + 0.8j, 0.7 - 1.1j, 0.3 + 1.6j])
M = np.array([[0.9 - 0.2j, -1.3 + 1.1j, 0.4j], [0.7 + 0.3j, 1.6 - 0.8j, 2.2 + 0.5j], [-0.4 - 0.6j, 0.8 + 0.1j, 1.9 - 1.2j]])
X = np.array([0.9, -1.3, 0.7, 1.6])
C = 0.6 - 1.1j
ARGUMENTS = {"z": Z, "m": M, "x": X, "c": C, "r": 0.7, "ib": np.array([True, False, True, True])}
#: of a vector ``z``, a matrix ``m``, both complex; a real vector ``x``; numbers ``c``, complex, and ``r``, real; a mask ``ib``
WORDS = """np.abs(z)|np.absolute(m)|z.real|z.imag|np.real(z)|np.imag(m)|np.conj(z)|z.conj()|z.conjugate()|np.angle(z)|np.abs(z) ** 2|z * z.conj()
z + x|x - z|z * x|z / x|x / z|1j * x|-z|+z|z * c + r|c / z|np.square(z)|np.reciprocal(z)|z ** 2|z ** 3|z ** -1|z ** 2.5|z ** c|r ** z|c ** x|z ** x|2.0 ** z
np.exp(z)|np.exp(1j * x)|np.exp2(z)|np.expm1(z)|np.log(z)|np.log2(z)|np.log10(z)|np.log1p(z)|np.sqrt(z)|np.sin(z)|np.cos(z)|np.tan(z)|np.arcsin(z)
np.arccos(z)|np.arctan(z)|np.sinh(z)|np.cosh(z)|np.tanh(z)|np.arcsinh(z)|np.arccosh(z)|np.arctanh(z)|np.power(z, 2)|np.add(z, x)|np.where(ib, z, x)|np.where(ib, x, z)
np.sum(z)|np.sum(m, axis=0)|m.sum(axis=1, keepdims=True)|np.mean(z)|m.mean(axis=0)|np.prod(z)|m.prod(axis=1)|np.cumsum(z)|np.cumprod(z)|np.cumprod(m, axis=1)
m @ m|m @ z[:3]|z[:3] @ m|z @ z|m @ x[:3]|x[:3] @ m|m.real @ m|np.dot(z, z)|np.dot(m, m)|np.dot(z, x)|z.dot(x)|np.vdot(z, z)|np.vdot(z, x)|np.vdot(x, z)|np.vdot(m, m)|np.outer(z, x)
np.tensordot(m, m)|np.tensordot(m, m.real, axes=1)|np.einsum('ij,jk->ik', m, m)|np.einsum('i,i->', z, x)|np.einsum('ii->', m)|np.einsum('i,ij,j->', z[:3], m, x[:3])
np.einsum('i,ij,j,j->i', z[:3], m, x[:3], z[1:])|np.stack([m, m]) @ np.stack([m, m])|np.linalg.inv(m)|np.linalg.solve(m, z[:3])|np.linalg.solve(m, x[:3])|np.linalg.solve(m, m @ m)
np.linalg.solve(m.real + np.eye(3), z[:3])|np.linalg.det(m)|np.linalg.det(m[:2, :2])|np.linalg.norm(z)|np.linalg.norm(m)|np.linalg.norm(m, axis=0)|np.linalg.norm(m, axis=1, keepdims=True)
np.trace(m)|np.diagonal(m)|np.diag(z)|np.diag(m)|np.swapaxes(m, 0, 1)|np.moveaxis(m, 0, 1)|m.T|m.T.conj() @ m|m.reshape(9)|m.ravel()|m.flatten()|m.transpose()|np.transpose(m, (1, 0))
np.expand_dims(z, 0)|np.squeeze(z[None])|np.broadcast_to(z, (2, 4))|z[1].item() * z|np.flip(z)|np.flip(m, axis=1)|np.roll(z, 1)|np.tril(m)|np.triu(m)|np.concatenate([z, x])|np.concatenate([m, m], axis=1)
np.stack([z, x])|np.stack([m, m], axis=1)|np.vstack([m, m])|np.hstack([z, z])|np.array([z[0], c, r])|np.array([z, z])|np.split(z, 2)[0]|np.array_split(z, 3)[1]|np.tile(z, 2)|np.repeat(z, 2)
np.concatenate([v * c for v in m])|np.stack([v * c for v in m])|np.repeat(m, 2, axis=1)|np.take(z, [0, 1, 1])|z.take([1, 1])|z[[0, 0, 2]]|z[ib]|m[1]|m[:, 1]|m[0, 1:]|z[::-1]|z[1:] - z[:-1]|np.compress(ib, z)
np.delete(z, 1)|np.pad(z, 1)|np.full(3, c)|np.full_like(z, c)|np.asarray(z) * 2|z.copy()|z.astype(complex)|x.astype(complex) * c|z.astype(np.complex64)|complex(c) * z|complex(r, 0.5) * z|complex(r) ** 0.3
np.diff(z)|np.kron(z, x)|np.inner(z, z)|np.convolve(z, x[:2])|np.convolve(x[:2], z)|np.convolve(z[:3], z, 'same')|np.cross(m, m.conj())|np.trapezoid(z)|np.append(z, c)|np.polyval(z, c)|np.linalg.matrix_power(m, 2)|np.average(z, weights=x)
cmath.exp(c)|cmath.log(c)|cmath.log(c, 3.0)|cmath.log10(c)|cmath.sqrt(c)|cmath.sqrt(-r)|cmath.sin(c)|cmath.cos(c)|cmath.tan(c)|cmath.asin(c)|cmath.acos(c)|cmath.atan(c)|cmath.sinh(c)|cmath.cosh(c)
cmath.tanh(c)|cmath.asinh(c)|cmath.acosh(c)|cmath.acosh(c - 3)|cmath.atanh(c)|cmath.phase(c)|cmath.polar(c)[0]|cmath.polar(c)[1] * c|cmath.rect(r, 0.4)|abs(c)|c.real * c.imag|c.conjugate() * c|c ** 2|c ** r|r ** c
np.array(z)|z.item(1) * z|np.expand_dims(c, 0)|np.ones_like(z) * z|np.zeros_like(z) + z|np.asarray(c) * z|np.ascontiguousarray(m.T)|m.T.copy()|np.atleast_1d(c) * z
np.fft.fft(z)|np.fft.fft(z, 3)|np.fft.rfft(x)|np.fft.irfft(z)|np.fft.fftshift(z)|np.fft.ifftshift(m, axes=0)|np.fft.fft2(m) * m
np.linalg.cholesky(m @ m.conj().T)|np.linalg.qr(m)[0]|np.linalg.qr(m[:, :2])[1]|np.linalg.pinv(m[:, :2])|np.linalg.pinv(m[:2])|np.linalg.slogdet(m)[1]|np.linalg.slogdet(m)[0] * c|np.var(m, axis=0)|np.std(z, ddof=1)|np.linalg.lstsq(m[:, :2], z[:3])[0]
np.gradient(z)|np.correlate(z, x[:2] * 1j)|np.select([ib], [z], c)|np.transpose([z, z * c])|np.asfortranarray(m).copy()|(m * c).T.copy()|np.abs(np.linalg.eig(m)[1])|np.linalg.eigvals(m) ** 2|np.linalg.eig(m.real)[0]|np.abs(np.linalg.eigh(m + m.conj().T)[1])|np.linalg.eigvalsh(m)|np.linalg.svd(m, compute_uv=False)|np.abs(np.linalg.svd(m[:, :2], full_matrices=False)[0])|np.linalg.norm(m, 'nuc')|np.linalg.norm(m, 2)|np.linalg.norm(z, 1)|np.linalg.norm(z, 3)|np.linalg.norm(m, np.inf)
np.linalg.cholesky(m @ m.conj().T, upper=True)|np.linalg.eigvalsh(m, UPLO='U')|np.abs(np.linalg.eigh(m + m.conj().T, 'U')[1])|np.linalg.pinv(m[:2], rcond=1e-9)|np.linalg.pinv(m + m.conj().T, hermitian=True)
np.pad(z, 2, 'mean')|np.pad(z, 3, 'reflect', reflect_type='odd')|np.pad(m, (1, 2), 'linear_ramp', end_values=c)|np.emath.sqrt(z)|np.emath.logn(2, z)|np.emath.power(z, c)|np.emath.arccos(z)|np.linalg.cond(m, 'fro')
pow(c, 3)|sum([c, r, z[0]])|sum(z)|np.float64(r) * c|np.complex128(c) ** 2|np.multiply.outer(z, x)|np.add.reduce(z)|np.multiply.reduce(z)|np.complex64(c) * r|z * np.array(c)|np.prod(z) * z"""
OF_SCIPY = """special.wofz(z)|special.wofz(x)|special.lambertw(z)|special.lambertw(x)|special.lambertw(z, 1)|special.loggamma(z)|special.gamma(z)|special.psi(z - 2)
special.erfi(z)|special.exp1(z)|special.expi(z)|special.jv(1.5, z)|special.yv(1.5, z)|special.iv(0.3, z)|special.kv(1, z)|special.hankel1(0.5, z)|special.hankel2(1, z)
special.hankel1(1.5, x + 2.0)|special.wofz(3 * z)"""
EXPRESSIONS = [e for line in (f"{WORDS}\n{OF_SCIPY}" if "special" in SPACE else WORDS).splitlines() for e in line.split("|")]
#: bodies that give ``result``
BODIES = {
    "loop that carries": "result = 0\nfor v in z:\n    result = result * c + v ** 2",
    "loop that begins real": "result = 1.0\nfor v in x:\n    result = result * 0.7 + 1j * v",
    "while": "result, n = c, 0\nwhile abs(result) < 9.0 and n < 6:\n    result = result ** 2 + c\n    n += 1",
    "stores": "result = np.zeros(4, dtype=complex)\nfor i in range(4):\n    result[i] = z[i] * result[i - 1].conjugate() + x[i]",
    "augmented": "result = z.copy()\nresult *= 2j\nresult[1:] += result[:-1]\nresult[0] -= x[0]",
    "stores in places": "result = z * 1\nresult[[0, 2]] = x[:2]\nresult[ib] += z[ib]",
    "store of a row": "result = m.copy()\nresult[0] = x[:3]\nresult[:, 1] = result[:, 0] * c",
    "view": "w = z * 2\nv = w[1:]\nv *= c\nresult = w",
    "lists in a list": "t = []\nfor v in z:\n    t.append([v, v * c])\nfor k in range(3):\n    t[k][1] = t[k + 1][0] * t[k][1]\nresult = np.array(t)",
    "values put": "result = z * 1\nnp.put(result, [0, 2], x[:2] * 1j)\nnp.putmask(result, ib, result.conj())",
    "stores to parts": "result = z * 1\nresult.real = x * z.imag\nresult.imag[1:] += x[1:] * result.real[:-1]",
    "vectors and values of any matrix": "w, v = np.linalg.eig(m)\nresult = (v * np.exp(w)) @ np.linalg.inv(v)",
    "vectors and values": "w, v = np.linalg.eigh(m)\nresult = (v * w**2) @ v.conj().T",
    "singular vectors together": "u, s, vh = np.linalg.svd(m[:, :2], full_matrices=False)\nresult = (u * np.sqrt(s)) @ vh",
    "branch": "if r > 0:\n    result = c * r\nelse:\n    result = r",
    "real on one path": "if r > 0:\n    result = r * 1.5\nelse:\n    result = c\nresult = result * c",
    "list": "items = []\nfor k in range(4):\n    items.append(z[k] * (1 + k * 1j))\nresult = np.array(items)",
    "list that is changed": "items = [c, 2 * c, r * c]\nfor k in range(3):\n    items[k] = items[k - 1] * c\nresult = sum(items)",
    "lists joined": "items = [v for v in z]\nitems = (items + items)[1:5]\nresult = np.array(items) * c",
    "join of a list": "items = []\nfor v in m:\n    items.append(v * c)\nresult = np.concatenate(items) + np.stack(items).ravel()",
    "list of rows": "items = [v * c for v in m]\nresult = items[0] * items[1] + items[2]",
    "tolist": "result = 0j\nfor v in z.tolist():\n    result = result * 0.5 + v * v",
    "filled": "result = np.empty((4, 2), dtype=np.complex128)\nresult[:, 0] = z\nresult[:, 1] = z * x",
    "cell that is read again": "w = np.zeros(5, complex)\nfor i in range(4):\n    w[i + 1] = w[i] * c + z[i]\nresult = w",
    "newton": "result = c\nfor i in range(4):\n    result = result - (result ** 3 - z[0]) / (3 * result ** 2)",
    "leapfrog": "q, p = c, z[0]\nfor i in range(5):\n    p = p - 0.1 * 1j * q * abs(q)\n    q = q + 0.1 * p\nresult = q * p",
    "inner function": "def g(t):\n    return t * t.conjugate() + t\n\nresult = g(z) + g(c)",
    "split and joined": "a, b = np.split(z, 2)\nresult = np.concatenate([b * 2, a])",
    "of a tuple": "parts = (z, x * 1j)\nresult = np.concatenate(parts) * c",
    "name bound in a loop": "for i in range(3):\n    w = z * (i + c)\nresult = w * z",
    "name bound on a path": "if r > 0:\n    w = z * c\n    v = [z[1], w[0]]\nfor i in range(2):\n    if r > 0:\n        z = z * w + v[i]\nresult = z",
    "stopped": "result = z * c + 0.0 * symgrad.stop_gradient(z)",
    "empty like": "result = np.empty_like(z)\nresult[:] = z * c",
    "list that is joined": "items = []\nfor v in z:\n    items.append(v * c)\nitems = items + items[1:]\nresult = np.array(items)",
    "list of lists": "items = [[c, r * c], [z[0], z[1]]]\nresult = np.array(items) @ z[:2]",
    "appended and popped": "items = [c]\nfor v in z:\n    items.append(v * items[-1])\nlast = items.pop()\nresult = last * items[-1]",
    "stack of a list": "items = []\nfor v in m:\n    items.append(v * c)\nresult = np.stack(items) @ m",
    "stacked from an array": "result = np.concatenate(m) + np.vstack(m).ravel()",
}
NAMES = list(ARGUMENTS)


def own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def used(text: str) -> list[str]:
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    return [name for name in NAMES if name in names]


def program(body: str) -> tuple[str, dict[str, Any]]:
    """The text of a real function that depends on all of ``result``, its real and imaginary parts each in its own way; its arguments."""
    arguments = {name: ARGUMENTS[name] for name in used(body)}
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    head = f"{HEAD}def f({', '.join([*arguments, 'iw'])}):\n{lines}"
    space = dict(SPACE)
    exec(f"{head}    return result\n", space)
    result = space["f"](**{k: own(v) for k, v in arguments.items()}, iw=0.0)
    weights = RNG.normal(size=np.shape(result)) + 1j * RNG.normal(size=np.shape(result))
    return f"{head}    return np.sum((iw * result).real) + 0.3 * np.sum(result * np.conj(result)).real\n", {**arguments, "iw": weights}


def cases() -> list[Any]:
    bodies = {**{e: f"result = {e}" for e in EXPRESSIONS}, **BODIES}
    return [pytest.param(*program(body), id=name) for name, body in bodies.items()]


CASES = cases()


def active(args: dict[str, Any]) -> tuple[str, ...]:
    return tuple(name for name in args if not name.startswith("i"))


def direction(value: Any, part: complex) -> Any:
    """A direction of real numbers, or of imaginary ones where there are any."""
    drawn = RNG.normal(size=np.shape(value)) * (part if np.iscomplexobj(value) else 1)
    return drawn if isinstance(value, np.ndarray) else drawn[()]


def along(result: Any, steps: dict[str, Any], names: tuple[str, ...]) -> float:
    return float(sum(np.sum(np.asarray(g) * steps[name]) for g, name in zip(result, names, strict=True)).real)


def moved(args: dict[str, Any], steps: dict[str, Any], h: float) -> dict[str, Any]:
    def one(value: Any, step: Any) -> Any:
        return value + h * step if isinstance(value, np.ndarray) else type(value)(value + h * step)

    return {k: one(v, steps[k]) if k in steps else own(v) for k, v in args.items()}


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("source", "args"), CASES)
def test_gradients_agree_with_differences(source: str, args: dict[str, Any]) -> None:
    function, names = symgrad.from_source(source, "f"), active(args)
    value, result = symgrad.value_and_grad(function, wrt=names, allow_unused=True)(**args)

    assert value == pytest.approx(function(**{k: own(v) for k, v in args.items()}), rel=1e-12)
    for part in (1, 1j):
        steps = {name: direction(args[name], part) for name in names}
        if "complex64" in source:
            double = symgrad.from_source(source.replace("complex64", "complex128"), "f")
            expected = along(symgrad.grad(double, wrt=names)(**args), steps, names)
        else:
            expected = (function(**moved(args, steps, 1e-6)) - function(**moved(args, steps, -1e-6))) / 2e-6
        assert along(result, steps, names) == pytest.approx(expected, rel=1e-5 if "complex64" in source else 1e-6, abs=1e-7)
    for name, g in zip(names, result, strict=True):
        assert np.shape(g) == np.shape(args[name])
        assert np.iscomplexobj(g) == np.iscomplexobj(args[name])


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("source", "args"), [case for case in CASES if "complex64" not in case.values[0]])
def test_second_derivatives_agree_with_differences_of_gradients(source: str, args: dict[str, Any]) -> None:
    function, names = symgrad.from_source(source, "f"), active(args)
    first = symgrad.grad(function, wrt=names, allow_unused=True)
    steps, other = ({n: direction(args[n], 1) + (direction(args[n], 1j) if np.iscomplexobj(args[n]) else 0) for n in names} for _ in "ab")
    weights = {f"iv{k}": steps[n] for k, n in enumerate(names)}
    total = " + ".join(f"np.sum(np.real(result[{k}] * iv{k}))" for k in range(len(names)))
    text = f"def slope({', '.join([*args, *weights])}):\n    result = first({', '.join(f'{n}={n}' for n in args)})\n    return {total}\n"
    slope = symgrad.from_source(text, "slope", {"first": first, "np": np})
    second = symgrad.grad(slope, wrt=names, allow_unused=True)(**args, **weights)
    h = 1e-5
    expected = (along(first(**moved(args, other, h)), steps, names) - along(first(**moved(args, other, -h)), steps, names)) / (2 * h)

    assert along(second, other, names) == pytest.approx(expected, rel=1e-5, abs=1e-5)


def with_gaps(value: Any) -> Any:
    return np.repeat(value, 2, axis=-1)[..., ::2] if isinstance(value, np.ndarray) else value


def columns(value: Any) -> Any:
    return np.asfortranarray(value) if isinstance(value, np.ndarray) else value


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("source", "args"), CASES)
def test_the_layout_of_arguments_does_not_matter(source: str, args: dict[str, Any]) -> None:
    function, names = symgrad.from_source(source, "f"), active(args)
    result = symgrad.grad(function, wrt=names, allow_unused=True)
    expected = result(**args)

    for change in (with_gaps, columns):
        arguments = {k: change(v) for k, v in args.items()}
        before = {k: own(v) for k, v in arguments.items()}
        for one, two, name in zip(expected, result(**arguments), names, strict=True):
            np.testing.assert_allclose(two, one, rtol=1e-10, atol=1e-12)
            np.testing.assert_array_equal(arguments[name], before[name])


def narrow(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype != bool:
        return value.astype(np.complex64 if np.iscomplexobj(value) else np.float32)
    return value


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("source", "args"), CASES)
def test_single_precision_is_kept(source: str, args: dict[str, Any]) -> None:
    function, names = symgrad.from_source(source, "f"), active(args)
    arguments = {k: narrow(v) if k != "iw" else v for k, v in args.items()}
    wide = symgrad.grad(function, wrt=names, allow_unused=True)(**args)
    result = symgrad.grad(function, wrt=names, allow_unused=True)(**arguments)

    for name, one, two in zip(names, wide, result, strict=True):
        np.testing.assert_allclose(two, one, rtol=3e-3, atol=3e-3)
        assert not isinstance(arguments[name], np.ndarray) or two.dtype == arguments[name].dtype


@pytest.mark.sweep(4)
@pytest.mark.parametrize("count", [0, 1, 7])
@pytest.mark.parametrize(
    "expression", [e for e in EXPRESSIONS if used(e) in (["z"], ["x"], ["z", "x"], ["z", "c"]) and "[" not in e and "complex64" not in e]
)
def test_arrays_of_other_lengths(expression: str, count: int) -> None:
    args = {"z": np.resize(Z, count) * 0.9, "x": np.resize(X, count) + 0.1, "c": C}
    try:
        value = eval(expression, SPACE, dict(args))
    except (ValueError, IndexError, ZeroDivisionError, np.linalg.LinAlgError):
        pytest.skip("NumPy refuses it")
    if not np.isfinite(value).all():
        pytest.skip("it has no value")
    arguments = {name: args[name] for name in used(expression)}
    text = f"{HEAD}def f({', '.join(arguments)}):\n    result = {expression}\n    return np.sum((result * (0.7 - 0.2j)).real) + np.sum(result.imag * result.real)\n"
    function, names = symgrad.from_source(text, "f"), tuple(arguments)
    result = symgrad.grad(function, wrt=names, allow_unused=True)(**arguments)
    steps = {n: direction(arguments[n], 1) + (direction(arguments[n], 1j) if np.iscomplexobj(arguments[n]) else 0) for n in names}
    expected = (function(**moved(arguments, steps, 1e-6)) - function(**moved(arguments, steps, -1e-6))) / 2e-6

    assert along(result, steps, names) == pytest.approx(expected, rel=1e-6, abs=1e-7)
    for name, g in zip(names, result, strict=True):
        assert np.shape(g) == np.shape(arguments[name])


# ------------------------------------------------------------------ vectors that are given up to a phase


def phased(a: Any) -> Any:
    return np.sum(np.linalg.eigh(a)[1] * np.arange(9.0).reshape(3, 3)).imag


def unphased(a: Any) -> Any:
    return np.sum(np.abs(np.linalg.eigh(a)[1]) ** 2 * np.arange(9.0).reshape(3, 3))


def test_a_function_of_phases_is_refused_in_both_modes() -> None:
    with pytest.raises(ValueError, match="depends on the phases"):
        symgrad.grad(phased)(M)
    with pytest.raises(ValueError, match="depends on the phases"):
        symgrad.jvp(phased, (M,), (M,))

    step = symgrad.grad(unphased)(M)
    assert np.sum(step * np.conj(step)).real == pytest.approx(
        (unphased(M + 1e-6 * np.conj(step)) - unphased(M - 1e-6 * np.conj(step))) / 2e-6, rel=1e-6
    )


def test_a_product_with_the_hessian_takes_a_complex_direction() -> None:
    along_m = symgrad.hvp(unphased, M, M * (0.3 - 1j))
    gradient, h = symgrad.grad(unphased), 1e-6 * (0.3 - 1j)
    np.testing.assert_allclose(along_m, (gradient(M + h * M) - gradient(M - h * M)) / 2e-6, rtol=1e-5, atol=1e-7)


# ------------------------------------------------------------------ which rows there are


@pytest.mark.slow
def test_every_row_that_is_allowed_is_checked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str] = set()
    stage = Job.stage

    def noted(job: Job, name: str, func: Any) -> Any:
        for op in walk(func.body):
            if isinstance(op, Call) and any(is_complex(v.type) for v in (*op.args, *op.outs)):
                seen.add(op.name)
        return stage(job, name, func)

    monkeypatch.setattr(Job, "stage", noted)
    for case in CASES:
        source, args = case.values
        names = active(args)
        first = symgrad.grad(symgrad.from_source(source, "f"), wrt=names, allow_unused=True)
        first.ir(**args)
        total = " + ".join(f"np.sum(np.abs(result[{k}]) ** 2)" for k in range(len(names)))
        text = f"def slope({', '.join(args)}):\n    result = first({', '.join(f'{n}={n}' for n in args)})\n    return {total}\n"
        symgrad.grad(symgrad.from_source(text, "slope", {"first": first, "np": np}), wrt=names, allow_unused=True).ir(**args)

    assert not (RIGHT - seen), " ".join(sorted(RIGHT - seen))


#: complex numbers that are computed from a complex matrix ``m``
NUMBERS = """np.trace(m)|np.trace(m, 1)|np.einsum('ii', m)|np.einsum('ij,ij', m, x)|np.einsum('ij->', m)|m.item(2)|m[0, 1]|np.take(m, 1)|np.diagonal(m)[1]
np.linalg.trace(m)|np.linalg.det(m)|np.mean(m)|np.vdot(m, x)|np.repeat(m, 2)[3]|np.delete(m, 1)[2]|np.tile(m, 2)[0, 4]|np.pad(m, 1, 'mean')[0, 0]
np.tril(m)[1, 0]|np.prod(m) + np.trace(m)|np.roll(m, 1)[0, 0]|np.kron(m, x)[1, 2]""".replace("\n", "|").split("|")  # fmt: skip


@pytest.mark.parametrize("expression", NUMBERS)
def test_pullbacks_of_complex_numbers_from_real_arguments(expression: str) -> None:
    function = symgrad.from_source(f"{HEAD}def f(x):\n    m = x + 0.7j * x[::-1]\n    return {expression}\n")
    x, seed, step = M.real + np.eye(3), 0.3 - 0.8j, 1e-6
    out, pull = symgrad.vjp(function, x)
    gradient = pull(out * 0 + seed)[0]
    places = [step * np.eye(9)[k].reshape(3, 3) for k in range(9)]
    differences = np.reshape([(seed * (function(x + d) - function(x - d))).real / (2 * step) for d in places], (3, 3))
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, differences, rtol=1e-6, atol=1e-7)
