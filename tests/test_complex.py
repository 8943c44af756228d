"""Gradients of real functions of complex numbers, ``df/dx - i df/dy``: values, forms, refusals."""

from __future__ import annotations

import cmath
import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import symgrad
from symgrad import grad, value_and_grad, vjp
from symgrad.errors import (
    BadArgument,
    NoDerivative,
    NotCompiled,
    NotScalar,
    UnknownFunction,
)
from symgrad.testing import check_grads
from tests.against_numpy import function_of, judged

Z = np.array([1 + 2j, -0.5 + 0.3j, 0.7 - 1.1j])


def energy(z: Any) -> Any:
    return np.sum(np.abs(z) ** 2)


def test_the_convention() -> None:
    assert grad(lambda z: z.real)(1 + 2j) == 1
    assert grad(lambda z: z.imag)(1 + 2j) == -1j
    assert grad(lambda z: (z * z).real)(1 + 2j) == 2 * (1 + 2j)
    assert grad(lambda z: abs(z) ** 2)(1 + 2j) == pytest.approx(2 * (1 - 2j))
    np.testing.assert_allclose(grad(energy)(Z), 2 * Z.conj())


def test_one_step_against_the_conjugate_of_the_gradient_descends() -> None:
    gradient = grad(energy)(Z)

    assert energy(Z - 1e-3 * gradient.conj()) < energy(Z)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda z: abs(z), 0j), (lambda z: np.abs(z), 0j), (lambda z: abs(z) ** 2, 0j), (lambda z: abs(z + 3) + 2.0 * abs(z), 1 + 0j),
    ],
)  # fmt: skip
def test_the_slope_of_a_size_at_zero_is_zero(function: Any, expected: complex) -> None:
    assert grad(function)(0j) == expected
    np.testing.assert_array_equal(grad(lambda z: np.sum(function(z)))(np.zeros(2, complex)), [expected] * 2)


def test_a_real_argument_has_a_real_gradient() -> None:
    x = np.array([0.3, -0.8])
    gradients = grad(lambda x, z: np.sum(np.abs(np.exp(1j * x) + z * x)), wrt=(0, 1))(x, Z[:2])

    assert gradients[0].dtype == np.float64 and gradients[1].dtype == np.complex128
    assert gradients[0].flags.owndata and gradients[0].flags.writeable


def test_what_is_given_has_the_type_of_the_argument() -> None:
    assert type(grad(lambda z: abs(z * z))(1 + 2j)) is complex
    assert type(grad(lambda z, n: abs(z) if n else 0.0)(1 + 2j, 0)) is complex
    assert type(grad(lambda x: abs(cmath.exp(1j * x)) + x)(0.3)) is float
    assert grad(lambda z: np.sum(np.abs(z)))(Z.astype(np.complex64)).dtype == np.complex64


def test_a_gradient_that_does_not_depend_on_the_path_taken_is_complex() -> None:
    def f(z: Any, n: int) -> Any:
        total = 0.0
        for _ in range(n):
            total += abs(z) * 1.0
        return total

    assert grad(f)(1 + 2j, 0) == 0 and type(grad(f)(1 + 2j, 0)) is complex


def test_a_pullback_takes_a_complex_seed() -> None:
    def f(z: Any) -> Any:
        return z * z

    out, pullback = vjp(f, Z)

    np.testing.assert_array_equal(out, Z * Z)
    np.testing.assert_allclose(pullback(np.full(3, 1j))[0], 2j * Z)
    np.testing.assert_allclose(pullback(1.0)[0], 2 * Z)
    assert pullback(np.ones(3))[0].dtype == complex
    assert vjp(lambda z: z.conjugate(), 1 + 2j)[1](1j)[0] == -1j
    assert type(vjp(lambda z: 2 * z, 1 + 2j)[1](1.0)[0]) is complex


def test_a_complex_seed_for_a_real_result_is_refused() -> None:
    with pytest.raises(TypeError, match="complex seed"):
        vjp(energy, Z)[1](1j)
    with pytest.raises(TypeError, match="complex seed"):
        vjp(lambda z: np.abs(z), Z)[1](np.full(3, 1j))


def test_a_pullback_inside_a_function() -> None:
    def inner(z: Any) -> Any:
        return z * z * z

    def f(z: Any) -> Any:
        _, pullback = symgrad.vjp(inner, z)
        return np.sum(np.abs(pullback(1j * z)[0]) ** 2)

    check_grads(f, (Z,))


def test_a_gradient_inside_a_function() -> None:
    check_grads(lambda z: np.sum(np.abs(grad(lambda w: np.sum(np.abs(w) ** 3))(z)) ** 2), (Z,))


def test_comparison_with_differences() -> None:
    check_grads(lambda z: np.sum(np.abs(np.exp(z)) * z.real), (Z,), order=2)
    with pytest.raises(AssertionError, match="disagree"):
        check_grads(with_a_wrong_gradient, (Z,))


def doubled(g: Any) -> Any:
    return 2 * g


def with_a_wrong_gradient(z: Any) -> Any:
    return symgrad.on_backward(np.sum(np.abs(z) ** 2), doubled)


# ------------------------------------------------------------------ what is refused


REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda z: np.sum(z), NotScalar, "the output is complex.*\n.*\n.*\n.*\n.*vjp with a complex seed"),
    (lambda z: np.max(z).real, NoDerivative, "max is not known for complex"),
    (lambda z: np.sum(np.sort(z)).real, NoDerivative, "for complex"),
    (lambda z: np.sum(np.sign(z)).real, NoDerivative, "sign is not known for complex"),
    (lambda z: np.sum(np.real_if_close(z)).real, UnknownFunction, "real_if_close"),
    (lambda z: np.sum(np.cov(z, z)).real, UnknownFunction, "cov"),
    (lambda z: np.nan_to_num(z).real.sum(), NoDerivative, "nan_to_num"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "error", "message"), REFUSED)
def test_what_is_not_known_of_complex_numbers_is_refused(function: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"(?s){message}"):
        grad(function)(Z)


def test_an_array_that_is_complex_on_one_path_only_is_refused() -> None:
    def f(x: Any, c: float) -> Any:
        w = x * 1.0 if c > 0 else x * 1j
        return np.sum(np.abs(w))

    with pytest.raises(NoDerivative, match="whether w is complex is not known"):
        grad(f)(np.ones(3), 1.0)


def test_an_order_of_complex_numbers_is_refused_as_python_does() -> None:
    def f(z: Any) -> Any:
        return abs(z) if z > 1 else 0.0

    with pytest.raises(TypeError):
        grad(f)(1 + 2j)


def test_functions_that_call_themselves_are_refused() -> None:
    def f(z: Any, n: float) -> Any:
        return z if abs(z) > 4 or n > 20 else f(z * z + 0.7, n + 1)

    def g(x: Any, n: float) -> Any:
        return x if n > 3 else g(np.abs(np.sign(1j * x + n)) * x, n + 1)

    for function, at in ((lambda z, n: abs(f(z, n)), 0.3 + 0.2j), (g, 0.7)):
        with pytest.raises(NoDerivative, match="calls itself|known for complex"):
            grad(function)(at, 0.0)


def test_rules_of_the_users_are_refused() -> None:
    @symgrad.custom_vjp
    def cube(z: Any) -> Any:
        return z**3

    cube.defvjp(lambda z: (z**3, z), lambda z, g: (g * 3 * z**2,))

    with pytest.raises(NoDerivative, match="for complex"):
        grad(lambda z: np.sum(np.abs(cube(z))))(Z)


# ------------------------------------------------------------------ values that carry no derivative


@pytest.mark.parametrize("function", [lambda x, z: np.sum(x) * np.linalg.norm(z), lambda x, z: np.sum(x) * np.abs(np.vdot(z, z)),
                                      lambda x, z: np.sum(x) * np.angle(z)[0], lambda x, z: np.sum(x) * np.sum(np.sort(z).real)])  # fmt: skip
def test_complex_numbers_without_a_derivative_have_the_value_that_numpy_gives_them(function: Any) -> None:
    x = np.array([0.5, 1.5])
    value, gradient = value_and_grad(function)(x, Z)

    assert value == pytest.approx(function(x, Z))
    np.testing.assert_allclose(gradient, np.full(2, function(x, Z) / 2.0))


def test_what_turns_out_to_be_complex_is_refused_when_it_runs() -> None:
    def f(x: Any, p: Any) -> Any:
        return np.sum(np.abs(x * np.diag(scipy.linalg.sqrtm(p)) + 1) ** 2)

    x, df = np.array([1.0, 2.0]), grad(f)

    np.testing.assert_allclose(df(x, np.diag([4.0, 1.0])), 2 * (x * [2.0, 1.0] + 1) * [2.0, 1.0])
    with pytest.raises(TypeError, match="complex value of unknown origin"):
        df(x, np.diag([-4.0, 1.0]))


def test_the_square_of_a_modulus_is_smooth_at_zero() -> None:
    def f(z: Any) -> Any:
        return np.sum(np.abs(z) ** 2)

    z, v = np.array([0j, 1j]), np.array([1 + 2j, 0.5])
    check_grads(f, (z,), order=2)
    np.testing.assert_array_equal(symgrad.hvp(f, z, v), 2 * v.conj())


def test_a_number_that_fills_an_array_is_complex_in_forward_mode() -> None:
    check_grads(lambda c, z: np.sum(np.abs(np.full(3, c) * z[:3]) ** 2), (0.6 - 1.1j, Z), order=2, directions=1)


def test_what_has_been_given_a_type_is_known_to_be_complex() -> None:
    check_grads(lambda x: np.sum(np.abs(x * np.asarray(np.roots([1.0, 2.0, 5.0]), dtype=complex) + 1) ** 2), (np.array([1.0, 2.0]),))


# ------------------------------------------------------------------ forms


def test_kernels_leave_short_complex_numbers_to_numpy() -> None:
    pytest.importorskip("numba")
    with pytest.warns(NotCompiled, match="complex64"):
        np.testing.assert_allclose(grad(energy, jit=True)(Z.astype(np.complex64)), 2 * Z.conj(), rtol=1e-6)


def test_a_saved_gradient(tmp_path: Path) -> None:
    def f(z: Any, c: Any) -> Any:
        return np.sum(np.abs(z * cmath.exp(c)) ** 2)

    df = grad(f, wrt=(0, 1))
    expected = df(Z, 0.3 + 0.1j)
    symgrad.save(df, tmp_path / "saved.py")
    spec = importlib.util.spec_from_file_location("saved_complex", tmp_path / "saved.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    gradient = module.f_grad(Z, 0.3 + 0.1j)

    np.testing.assert_allclose(gradient[0], expected[0])
    assert gradient[1] == pytest.approx(expected[1])


def test_it_is_said_that_faster_forms_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    symgrad.explain(energy, Z)

    assert "a function of complex numbers runs as it is shown" in capsys.readouterr().out


def test_the_text_of_a_gradient() -> None:
    text = grad(energy).source(Z)

    assert "return 2 * np.conj(z)" in text


def test_tensors_with_complex_numbers_have_no_gradient() -> None:
    from symgrad.compat import paddle

    tensor = paddle.to_tensor(Z, stop_gradient=False)
    with pytest.raises(NoDerivative, match="complex tensors"):
        (tensor * tensor).sum().backward()


#: functions that have a complex derivative
HOLOMORPHIC: dict[str, Any] = {
    "powers": lambda z: z**3 - 2j * z + 1 / z,
    "functions": lambda z: np.exp(z) * np.sin(2 * z) + np.log(z),
    "a loop": lambda z: [w := z, *[w := w * w + 0.1 * z for _ in range(3)]][-1],
    "the argument itself": lambda z: z,
    "an absolute value of data": lambda z: z * z * abs(2 - 1j),
}


@pytest.mark.parametrize("name", HOLOMORPHIC)
@pytest.mark.parametrize("kind", [complex, np.complex128])
def test_a_holomorphic_function_has_a_complex_derivative(name: str, kind: type) -> None:
    function, z = HOLOMORPHIC[name], kind(0.8 + 0.6j)
    derivative = grad(function, holomorphic=True)
    slope = derivative(z)
    for step in (1e-6, 1e-6j):  # it is the same in both directions
        assert slope == pytest.approx((function(z + step) - function(z - step)) / (2 * step), rel=1e-7)
    value, same = value_and_grad(function, holomorphic=True)(z)
    assert (value, same) == (pytest.approx(function(z)), slope)
    second = grad(derivative, holomorphic=True)(z) if name != "the argument itself" else 0.0
    assert second == pytest.approx((derivative(z + 1e-6) - derivative(z - 1e-6)) / 2e-6, rel=1e-6)


def test_complex_derivatives_of_arrays() -> None:
    derivative = grad(lambda z, w: np.sum(np.exp(z) * w), wrt=("z", "w"), holomorphic=True)
    by_z, by_w = derivative(Z, 0.5j)
    np.testing.assert_allclose(by_z, np.exp(Z) * 0.5j)
    assert by_w == pytest.approx(np.sum(np.exp(Z)))


@pytest.mark.parametrize(
    ("function", "z", "kind", "what"),
    [
        (lambda z: z * z.conjugate(), 1j, NoDerivative, "the conjugate of a complex number has no complex derivative"),
        (lambda z: z.real * z, 1j, NoDerivative, "the real part of a complex number"),
        (lambda z: z.imag * z, 1j, NoDerivative, "the imaginary part of a complex number"),
        (lambda z: abs(z) * z, 1j, NoDerivative, "the absolute value of a complex number"),
        (lambda z: abs(z), 1j, NotScalar, "for functions that return a complex number"),
        (lambda z: z * 1j, 1.0, BadArgument, "for complex arguments"),
    ],
)
def test_what_has_no_complex_derivative(function: Any, z: Any, kind: type[Exception], what: str) -> None:
    with pytest.raises(kind, match=what):
        grad(function, holomorphic=True)(z)


def test_hints_about_complex_derivatives_work() -> None:
    assert grad(lambda z: abs(z) ** 2)(1j) == pytest.approx(-2j)  # leave holomorphic out
    assert grad(lambda z: z * 1j, holomorphic=True)(1.0 + 0j) == 1j  # pass z + 0j
    with pytest.raises(NotScalar, match="holomorphic=True"):
        grad(lambda z: z * z)(1j)


PART_COMPLEX = [
    "np.sum(w.imag)", "np.imag(np.mean(w))", "np.sum(np.sign(w * (0.3 + 1j)).imag)", "np.sum(np.nan_to_num(w).imag)", "np.sum((w * 1j).imag)"
]  # fmt: skip


@pytest.mark.parametrize("expression", PART_COMPLEX)
def test_what_is_zero_for_real_numbers_alone_is_refused_where_an_array_may_be_complex(expression: str) -> None:
    """Of a real array the imaginary part is zero, and so is its derivative; of one that a path makes complex neither is."""
    head = "import numpy as np\ndef f(x):\n    w = np.sqrt(x.astype(complex)) if np.any(x < 0) else np.sqrt(x)\n"
    verdict, words = judged(function_of(f"{head}    return {expression}"), {"x": np.array([0.3, -0.6, 1.6])})
    assert verdict == "refused" and "complex is not known" in words, words


def becomes_complex(a):
    for _ in range(2):
        a = np.exp(1j * a) * (a + 0.3j)
    return np.sum(np.abs(a) ** 2)


def becomes_complex_on_a_path(a):
    for k in range(2):
        w = np.exp(1j * a)
        a = w * (a + 0.3j) if w[0].real > -100.0 else a * k
    return np.sum(np.abs(a) ** 2)


@pytest.mark.parametrize("function", [becomes_complex, becomes_complex_on_a_path])
def test_an_array_that_becomes_complex_in_a_loop_is_refused(function: Any) -> None:
    """Whether the modulus is that of complex numbers shows only when the loop runs. The way out works."""
    x = np.array([0.3, -0.7, 1.1])
    for derivative in (lambda: grad(function)(x), lambda: symgrad.jvp(function, (x,), (x,)), lambda: symgrad.hvp(function, x, v=x)):
        with pytest.raises(NoDerivative, match="whether a is complex is not known"):
            derivative()

    steps = 1e-6 * np.eye(3)
    slopes = [(function(x + h) - function(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(symgrad.grad(lambda a: function(a + 0j))(x), slopes, rtol=1e-6, atol=1e-8)
