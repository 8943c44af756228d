"""Kernels of complex numbers, compared with the NumPy code; none falls back.

The derivatives of the NumPy code are compared with differences in ``tests/ops/test_complex.py``; two of each field's programs are here too.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad import check_grads, from_source, grad, value_and_grad
from symgrad.errors import NotCompiled
from symgrad.testing import compare_grads

pytest.importorskip("numba")
HEAD = "import cmath\nimport math\nimport numpy as np\n\n"
Z = np.array([0.9 + 0.4j, -1.3 + 0.8j, 0.7 - 1.1j, 0.3 + 1.6j])
X = np.array([0.9, -1.3, 0.7, 1.6])
M = np.array([[0.9 - 0.2j, -1.3 + 1.1j], [0.7 + 0.3j, 1.6 - 0.8j]])
ARGUMENTS = {"z": Z, "x": X, "c": 0.6 - 1.1j, "m": M, "r": 0.7, "n": 5, "e": np.zeros(0, complex), "g": np.repeat(Z, 2)[::2]}
PROGRAMS = {
    "an iteration": """
def f(c, n):
    w = 0j
    for k in range(n):
        w = w*w + 0.3*c
    return abs(w)**2
""",
    "an escape time": """
def f(c, n):
    w = c
    s = 0.0
    for k in range(n):
        w = w*w + c
        s = s + abs(w)
        if abs(w) > 4.0:
            break
    return s
""",
    "a grid of iterations": """
def f(x, c):
    s = 0.0
    for i in range(4):
        w = complex(x[i], 0.5)
        for k in range(5):
            w = w*w*0.5 + c
        s += w.real*w.imag + abs(w)
    return s
""",
    "a filter with complex coefficients": """
def f(z, x):
    n = len(z)
    out = np.zeros(n, dtype=complex)
    for i in range(n):
        for j in range(3):
            if i - j >= 0:
                out[i] += z[j]*x[i-j]
    return np.sum(np.abs(out)**2)
""",
    "a recursive filter": """
def f(c, x):
    y = np.zeros(len(x), dtype=np.complex128)
    s = 0j
    for k in range(len(x)):
        s = c*s*0.5 + x[k]
        y[k] = s
    return np.sum(y.real**2) + np.sum(np.abs(y))
""",
    "transfer matrix": """
def f(x, c):
    a, b, cc, d = 1+0j, 0j, 0j, 1+0j
    for k in range(len(x)):
        ph = np.exp(1j*x[k]*c)
        m11, m12, m21, m22 = ph, 0.1*ph, 0.1/ph, 1/ph
        a, b, cc, d = a*m11 + b*m21, a*m12 + b*m22, cc*m11 + d*m21, cc*m12 + d*m22
    t = 1/d
    return abs(t)**2 + abs(b/d)**2
""",
    "transfer matrix arrays": """
def f(x):
    m = np.eye(2, dtype=complex)
    for k in range(len(x)):
        l = np.array([[np.exp(1j*x[k]), 0.1], [0.1, np.exp(-1j*x[k])]])
        m = l @ m
    return np.abs(m[0,0])**2 + m[1,0].real
""",
    "fourier sum": """
def f(x, r):
    s = 0.0
    for k in range(5):
        a = 0j
        for i in range(len(x)):
            a += x[i]*np.exp(-2j*np.pi*k*i*r/len(x))
        s += abs(a)**2*k
    return s
""",
    "phasors on a grid": """
def f(x, c):
    e = np.zeros(8, dtype=complex)
    h = np.zeros(8, dtype=complex)
    for t in range(6):
        for i in range(1, 7):
            h[i] = h[i] + 0.3*(e[i+1] - e[i])
        for i in range(1, 7):
            e[i] = e[i]*np.exp(1j*x[0]) + 0.3*(h[i] - h[i-1])*c
        e[3] += np.exp(1j*x[1]*t)
    return np.sum(np.abs(e)**2)
""",
    "phasors by slices": """
def f(x, c):
    e = np.zeros(8, dtype=complex)
    h = np.zeros(8, dtype=complex)
    for t in range(6):
        h[:-1] += 0.3*(e[1:] - e[:-1])
        e[1:] += 0.3*c*(h[1:] - h[:-1])
        e[3] += np.exp(1j*x[1]*t)
    return np.sum(np.abs(e)**2) + np.sum(x)
""",
    "quantum amplitudes": """
def f(x, z):
    psi = z/np.sqrt(np.sum(np.abs(z)**2))
    for k in range(4):
        psi = np.exp(-1j*x*0.1)*psi
        t = psi.copy()
        psi[1:] += 0.1j*t[:-1]
        psi[:-1] += 0.1j*t[1:]
    return np.sum(x*np.abs(psi)**2) + psi[0].imag
""",
    "expressions of arrays": """
def f(z, x):
    w = np.exp(1j*x)*z.conj() + np.sqrt(z)/np.log(z)
    return np.sum(np.abs(w)) + np.mean(w).real
""",
    "functions": """
def f(z):
    s = 0.0
    for v in z:
        w = np.sin(v)*np.cosh(v) + np.tanh(v) + np.arctan(v/3) + v**3 + v**-2 + v**0.5 + v**(1+2j)
        s += w.real + abs(w)
    return s
""",
    "cmath": """
def f(c):
    w = cmath.exp(c)*cmath.log(c) + cmath.sqrt(c) + cmath.sin(c)/cmath.cosh(c)
    return abs(w) + cmath.phase(w)
""",
    "Newton's method": """
def f(c):
    w = c
    for k in range(6):
        w = w - (w**3 - 1)/(3*w**2)
    return w.real + 2*w.imag
""",
    "where": """
def f(z, x):
    w = np.where(x > 0, z, x)
    return np.sum((w*w).real)
""",
    "real on one path": """
def f(x, c):
    s = 0.0
    for k in range(len(x)):
        if x[k] > 0:
            w = x[k]*c
        else:
            w = x[k]
        s += abs(w)
    return s
""",
    "list of complex": """
def f(z, c):
    items = []
    for v in z:
        items.append(v*c)
    s = 0j
    for k in range(len(items)):
        s = s*0.5 + items[k]**2
    return s.real
""",
    "while tape": """
def f(c):
    w = c
    n = 0
    while abs(w) < 50 and n < 20:
        w = w*w + c
        n += 1
    return np.log(abs(w))
""",
    "power iteration": """
def f(m, z):
    v = z[:2]
    for k in range(3):
        v = m @ v
        v = v/np.sqrt(np.sum(np.abs(v)**2))
    return np.abs(np.vdot(v, m @ v))
""",
    "convolve": """
def f(z, x):
    return np.sum(np.abs(np.convolve(z, x))**2)
""",
    "abs zero": """
def f(z):
    s = 0.0
    for k in range(len(z)):
        s += abs(z[k] - z[0])
    return s + z[0].real
""",
    "a divisor of zero": """
def f(z):
    w = 1/(z - (0.9 + 0.4j))
    return np.sum(np.abs(w))
""",
    "cumsum": """
def f(z):
    return np.sum(np.abs(np.cumsum(z))**2)
""",
    "arrays joined": """
def f(z, x):
    w = np.concatenate([z, x*1j])
    u = np.stack([z, z*x])
    return np.sum(np.abs(w)**2) + np.abs(np.sum(u[1]*w[:4]))
""",
    "matrices of lists": """
def f(x, c):
    t = [[1+0j, 0j], [0j, 1+0j]]
    for k in range(len(x)):
        a = np.exp(1j*x[k]*c)
        t = [[t[0][0]*a + t[0][1], t[0][0] - t[0][1]*a], [t[1][0]*a, t[1][1] + t[1][0]]]
    m = np.array(t)
    return np.sum(np.abs(m)**2) + (m[0,1]*m[1,0]).real
""",
    "list of rows": """
def f(m, c):
    rows = [m[0]*c, m[1]]
    for k in range(3):
        rows.append(rows[k]*rows[k+1].conj())
    return np.sum(np.abs(rows[-1] + rows[0])**2)
""",
    "products": """
def f(m, z):
    a = np.dot(m, z[:2])
    b = np.vdot(a, z[2:])
    return abs(b)**2 + np.outer(a, a.conj())[0,1].imag + np.linalg.norm(a)
""",
    "a stencil": """
def f(z, x):
    w = np.zeros(10, complex)
    w[2:6] = z
    for t in range(3):
        w[1:-1] = w[1:-1] + 0.1j*(w[2:] - 2*w[1:-1] + w[:-2]) - 1j*x[0]*w[1:-1]
    return np.sum(np.arange(10)*np.abs(w)**2)
""",
    "a grid of two axes": """
def f(m, r):
    e = np.zeros((4,4), complex)
    for t in range(3):
        for i in range(1,3):
            for j in range(1,3):
                e[i,j] = (e[i-1,j]+e[i+1,j]+e[i,j-1]+e[i,j+1])*0.2j*r + m[i-1,j-1]
    return np.sum(np.abs(e)**2)
""",
    "reductions along axes": """
def f(m):
    w = m - m.mean(axis=0)
    v = np.sum(m*m.conj(), axis=1).real
    return np.sum(np.abs(w)) + np.sum(v*v)
""",
    "layouts": """
def f(m):
    w = np.tril(m) + np.flip(m, axis=1)*2 + m.T.conj() + np.roll(m, 1, axis=0)
    return np.sum(np.abs(w)**2) + np.trace(m).imag
""",
    "a number of either branch": """
def f(c, r):
    if r > 0.5:
        z = c*r
    else:
        z = complex(r, 1.0)
    return z.real*z.imag + z.conjugate().imag
""",
    "powers": """
def f(z, x):
    return np.sum((z**x).real) + np.sum((z**2).imag) + np.sum(np.abs(2.0**z)) + np.sum(((0.5+z)**-3).real)
""",
    "int powers loop": """
def f(c):
    s = 0.0
    for k in range(4):
        s += (c**k).real
    return s
""",
    "angle": """
def f(z):
    return np.sum(np.angle(z)*np.arange(4)) + np.sum(np.log(z).imag)
""",
    "a Fourier series": """
def f(x):
    t = np.linspace(0, 1, 6)
    s = np.zeros(6, complex)
    for k in range(4):
        s += x[k]*np.exp(2j*np.pi*k*t)
    return np.sum(np.abs(s)**4)
""",
    "compared with zero": """
def f(z):
    s = 0.0
    for v in z:
        if v != 0:
            s += abs(v)
        else:
            s += 1.0
    return s
""",
    "nothing to add": """
def f(e):
    s = 0j
    for v in e:
        s += v*v
    return s.real
""",
    "gaps in memory": """
def f(g):
    s = 0j
    for v in g:
        s += v*v
    return abs(s)
""",
}


def program(name: str) -> tuple[Any, list[Any]]:
    """A function, and its arguments."""
    function = from_source(HEAD + PROGRAMS[name].lstrip(), "f")
    return function, [ARGUMENTS[word] for word in function.__code__.co_varnames[: function.__code__.co_argcount]]


def floats(arguments: list[Any]) -> tuple[int, ...]:
    return tuple(k for k, value in enumerate(arguments) if not isinstance(value, int))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_give_what_numpy_code_gives(name: str) -> None:
    function, arguments = program(name)
    with np.errstate(all="ignore"):
        value, gradients = value_and_grad(function, wrt=floats(arguments))(*arguments)
        compiled, computed = value_and_grad(function, wrt=floats(arguments), jit=True)(*arguments)

    assert compiled == pytest.approx(value, rel=1e-12, nan_ok=True)
    for one, other in zip(computed, gradients, strict=True):
        assert np.shape(one) == np.shape(other) and np.iscomplexobj(one) == np.iscomplexobj(other)
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.sweep(40)
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("a divisor of zero", "layouts")])
def test_both_modes_are_compiled(name: str) -> None:
    function, arguments = program(name)

    for comparison in compare_grads(function, tuple(arguments), directions=1, wrt=floats(arguments), jit=True):
        assert comparison.agrees, comparison


def test_complex_derivatives_are_compiled() -> None:
    def f(z: Any) -> Any:
        w = np.zeros(3, dtype=complex)
        s = 0j
        for k in range(3):
            s = s * z[k] + z[0]
            w[k] = s * s
        return w

    for derivative in (symgrad.jacrev, symgrad.jacfwd):
        np.testing.assert_allclose(derivative(f, holomorphic=True, jit=True)(Z), derivative(f, holomorphic=True)(Z), rtol=1e-13)


def test_lists_of_complex_numbers_are_handed_over() -> None:
    def f(zs: Any, rows: Any) -> Any:
        s = 0j
        for z in zs:
            s = s * 0.5 + z * z
        for row in rows:
            for z in row:
                s = s * 0.5 + z.conjugate() * zs[0]
        return abs(s)

    arguments = ([0.3 + 1j, 2 - 1j, 0.5j], [[1j, 2 + 0j], [3 + 1j]] * 5)
    expected, computed = (grad(f, wrt=(0, 1), jit=jit)(*arguments) for jit in (False, True))

    assert computed[0] == pytest.approx(expected[0], rel=1e-13)
    for one, other in zip(computed[1], expected[1], strict=True):
        assert one == pytest.approx(other, rel=1e-13)


def test_python_raises_where_a_kernel_is_left() -> None:
    def f(c: Any) -> Any:
        return abs(1 / (c - 2.0))

    def g(c: Any) -> Any:
        return abs(c - 2.0) + abs(c) ** 2

    with pytest.raises(ZeroDivisionError):
        grad(f, jit=True)(2.0 + 0j)
    assert grad(g, jit=True)(2.0 + 0j) == grad(g)(2.0 + 0j) == 4.0


@pytest.mark.parametrize(
    ("function", "arguments", "what"),
    [
        (lambda z: np.sum(np.abs(np.fft.fft(z)) ** 2), (Z,), "np.fft.fft of an array of complex128|of complex numbers"),
        (lambda z: np.sum(np.abs(z)), (Z.astype(np.complex64),), "complex64"),
        (lambda m: np.abs(np.linalg.det(m)), (M,), "np.linalg.det of complex numbers"),
    ],
)
def test_what_is_not_compiled_is_said(function: Any, arguments: tuple[Any, ...], what: str) -> None:
    expected = grad(function)(*arguments)
    with pytest.warns(NotCompiled, match=what):
        np.testing.assert_array_equal(grad(function, jit=True)(*arguments), expected)
    check_grads(function, arguments, modes=("reverse",), directions=1)


def made_of_booleans(x, a):
    s = 0.0
    for k in range(len(x)):
        z = complex(x[k] > 0.1, a) * complex(a, k)
        s += z.imag * x[k] + abs(z + (x[k] > a)) + complex(np.all(x > -3), a).imag
    return s


def test_a_complex_number_of_booleans() -> None:
    first = (np.linspace(-1.0, 3.0, 6), 0.5)
    compiled, plain = (symgrad.value_and_grad(made_of_booleans, wrt=("x", "a"), jit=jit) for jit in (True, False))
    for arguments in (first, (first[0][::-1], -0.2), (first[0][:1], 0.0)):
        for one, other in zip(compiled(*arguments)[1], plain(*arguments)[1], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)
    assert "made_of_booleans_grad_kernel" in symgrad.grad(made_of_booleans, wrt=("x", "a"), jit=True).source(*first)
