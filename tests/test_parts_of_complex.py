"""Stores to the real and imaginary parts of arrays: differences, forward against reverse, second order, both targets."""

from __future__ import annotations

import ast
import textwrap
import warnings
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad import check_grads, from_source, grad
from symgrad.errors import NotCompiled, SymgradError, UnknownType, UnsupportedSyntax

Z = np.array([0.9 + 0.4j, -1.3 + 0.8j, 0.7 - 1.1j, 0.3 + 1.6j])
M = np.array([[0.9 - 0.2j, -1.3 + 1.1j, 0.4j], [0.7 + 0.3j, 1.6 - 0.8j, 2.2 + 0.5j]])
X = np.array([0.9, -1.3, 0.7, 1.6])
ARGUMENTS = {"z": Z, "m": M, "x": X, "r": 0.7}
#: bodies that give ``w``
BODIES = {
    "both parts, then elements": "w = z * 1\nw.real = x * x\nw.imag[1:3] = x[:2] * w.real[2:]\nw.imag[0] = x[3] * w.real[1]",
    "in place": "w = z * 1\nw.real += x\nw.imag *= x\nw.imag -= x * w.real\nw.imag[1] += x[0]\nw.real[0] -= x[1] * w.imag[0]",
    "places": "w = z * 1\nw.imag[[0, 2, 0]] += x[:3]\nw.imag[[0, 3]] = x[:2] ** 2\nw.real[x > 0] = x[x > 0] * 2\nnp.add.at(w.real, [0, 2, 0], x[:3])",
    "a view that sees later stores": "w = z * 1\nv = w.imag\nw[0] = 3j * w[1]\nw.imag[2] = x[0]\nw.real = x\nw = w * v",
    "a view that is written to": "w = z * 1\nv = w.real\nv[1:] = x[1:] * 3\nnp.real(w)[0] = x[0]\nnp.imag(w)[2:] = x[1:3]\nw = w * w",
    "an argument": "z.real = x * 2\nz.imag[::2] *= x[:2]\nw = z * z",
    "parts exchanged": "w = z * 1\nt = w.real.copy()\nw.real = w.imag\nw.imag = t",
    "parts that overlap": "w = z * 1\nw.real[1:] = w.imag[:-1]\nw.imag[1:] = w.imag[:-1]\nw[:-1].real = w[1:].real",
    "a loop": "w = z * 1\nfor i in range(4):\n    w.real[i] = w.real[i - 1] * x[i]\n    w.imag[i] += w.real[i] ** 2",
    "a loop over whole parts": "w = z * 1\nfor i in range(3):\n    w.real = w.imag * x\n    w.imag = w.real * w.real + x",
    "a branch": "w = z * 1\nif r > 0:\n    w.real = x * r\nelse:\n    w.imag = x",
    "views of a matrix": "w = m * 1\nw.real[0] = m[1].imag\nw.T.imag[1] = w.real[:, 0] * 2\nw.reshape(6).imag[2:4] = m[0, :2].real",
    "a result that is put there": "w = z * 1\nnp.multiply(x, x, out=w.real)",
    "new arrays": "w = np.empty_like(z)\nw.real, w.imag = z.imag, -z.real\nu = w\nu.imag[...] = np.cumsum(x)\nw = w * u",
    "a list, a function": "ws = [z * 1, z * 2]\nws[0].imag[1] = x[0]\ndef g(v):\n    v[1:] = v[:-1] * x[1:]\ng(ws[1].imag)\nw = ws[0] * ws[1]",
    "a real array": "w = x * 1\nw.real = x * x\nw.real[0] = 3 * x[1]\nw = w + 1j * w",
    "complex numbers into a real part": "w = z * 1\nwith np.errstate():\n    w.real = (z * z).real\n    w.imag = x",
    "nothing and one": "w = z[:0] * 1\nw.real = x[:0]\nu = z[:1] * 1\nu.imag = x[:1]\nw = np.concatenate([w, u])",
    "no axes": "w = np.zeros((), complex)\nw.real = r\nw.imag = r * r\nw = w * np.ones(1)",
}  # fmt: skip


def program(name: str) -> tuple[Any, dict[str, Any]]:
    """A real function that depends on all of ``w``, and its arguments."""
    body = BODIES[name]
    used = {word: own(value) for word, value in ARGUMENTS.items() if word in names(body)}
    text = f"def f({', '.join(used)}):\n{textwrap.indent(body, '    ')}\n"
    text += "    return np.sum(np.abs(w) ** 2 * (1.0 + np.abs(w))) + np.sum(w.real * w.imag)\n"
    return from_source(text, globals={"np": np}), used


def names(body: str) -> set[str]:
    """The names that a body mentions."""
    return {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}


def own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", BODIES)
def test_derivatives_agree_with_differences(name: str) -> None:
    function, arguments = program(name)
    value, _ = symgrad.value_and_grad(function, wrt=tuple(arguments))(**arguments)

    assert value == pytest.approx(function(**{k: own(v) for k, v in arguments.items()}), rel=1e-13)
    check_grads(function, tuple(arguments.values()), order=2, directions=1)


@pytest.mark.sweep(20)
@pytest.mark.parametrize("name", BODIES)
def test_kernels_give_what_numpy_code_gives(name: str) -> None:
    pytest.importorskip("numba")
    function, arguments = program(name)
    expected = grad(function, wrt=tuple(arguments))(**arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCompiled)
        computed = grad(function, wrt=tuple(arguments), jit=True)(**arguments)

    for one, other in zip(computed, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)


def test_single_precision_and_gaps() -> None:
    def f(z: Any, x: Any) -> Any:
        w = z * 1
        w.real[1:] = x[1:] * w.imag[:-1]
        w.imag += x
        return np.sum(np.abs(w) ** 2)

    by_z, by_x = grad(f, wrt=("z", "x"))(Z, X)
    narrow = grad(f, wrt=("z", "x"))(Z.astype(np.complex64), X.astype(np.float32))
    apart = grad(f, wrt=("z", "x"))(np.repeat(Z, 2)[::2], np.repeat(X, 2)[::2])

    assert (narrow[0].dtype, narrow[1].dtype) == (np.complex64, np.float32)
    np.testing.assert_allclose(narrow[0], by_z, rtol=1e-5)
    np.testing.assert_allclose(narrow[1], by_x, rtol=1e-5)
    np.testing.assert_array_equal(apart[0], by_z)
    np.testing.assert_array_equal(apart[1], by_x)


def test_the_text_stores_to_the_part() -> None:
    def f(z: Any, x: Any) -> Any:
        w = z * 1
        w.imag = x
        return np.sum(np.abs(w) ** 2)

    assert "w.imag[...] = x" in grad(f, wrt=("z", "x")).source(Z, X)


def imaginary_part_of_floats(x: Any) -> Any:
    w = x * 1
    w.imag = x
    return np.sum(w)


def element_of_that(x: Any) -> Any:
    w = x * 1
    w.imag[0] = 2.0
    return np.sum(w)


def another_attribute(x: Any) -> Any:
    w = x * 1
    w.dtype = complex
    return np.sum(w)


def complex_numbers_in_place(x: Any) -> Any:
    w = x * 1
    w += 1j * x
    return np.sum(w)


def of_unknown_kind(x: Any) -> Any:
    w = x * 1 if x[0] > 0 else x * 1j
    w.real = x
    return np.sum(np.abs(w))


@pytest.mark.parametrize(
    ("function", "kind", "what"),
    [
        (imaginary_part_of_floats, TypeError, "does not have imaginary part"),
        (element_of_that, UnsupportedSyntax, "read-only"),
        (another_attribute, UnsupportedSyntax, "attribute 'dtype' of an array cannot be assigned to"),
        (complex_numbers_in_place, SymgradError, "cannot take a complex in place"),
        (of_unknown_kind, UnknownType, "whether this array is complex is not known"),
    ],
)
def test_what_numpy_refuses_is_refused(function: Any, kind: type[Exception], what: str) -> None:
    with pytest.raises(kind, match=what):
        grad(function)(X)


def test_hints_work() -> None:
    def reshaped(x: Any) -> Any:
        return np.sum(np.reshape(x * x, (2, 2)))

    def made_complex(x: Any) -> Any:
        w = x * (1 + 0j)
        w += 1j * x
        w.real = x
        return np.sum(np.abs(w) ** 2)

    def copied(x: Any) -> Any:
        w = (x * 1).imag.copy()
        w[0] = 2.0 * x[0]
        return np.sum(w)

    for function in (reshaped, made_complex, copied):
        check_grads(function, (X,))
