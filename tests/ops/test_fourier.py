"""Fourier transforms compared with differences: odd and even lengths, cut and padded, all norms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from symgrad.testing import check_grads

RNG = np.random.default_rng(8)
COMPLEX, REAL = ("fft", "ifft", "irfft", "hfft"), ("rfft", "ihfft")
NORMS = (None, "backward", "ortho", "forward")


def numbers(name: str, *shape: int) -> Any:
    """What a transform takes."""
    array = RNG.normal(size=shape)
    return array if name.startswith(("rfft", "ihfft")) else array + 1j * RNG.normal(size=shape)


def checked(expression: str, order: int = 1, **args: Any) -> None:
    """Compare the gradients of a real function of an expression with differences."""
    value = eval(expression, {"np": np}, dict(args))
    weights = RNG.normal(size=np.shape(value)) + 1j * RNG.normal(size=np.shape(value))
    text = f"import numpy as np\n\ndef f({', '.join([*args, 'w'])}):\n    made = {expression}\n"
    text += "    return np.sum((w * made).real) + 0.3 * np.sum(np.abs(made + 2) ** 2)\n"
    arrays = tuple(k for k, v in enumerate(args.values()) if isinstance(v, np.ndarray))
    check_grads(symgrad.from_source(text, "f"), (*args.values(), weights), order=order, wrt=arrays)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("name", [*COMPLEX, *REAL])
def test_along_one_axis(name: str, norm: str | None) -> None:
    for length in (2, 5, 6) if name in ("irfft", "hfft") else (1, 2, 5, 6):
        checked(f"np.fft.{name}(x, norm={norm!r})", x=numbers(name, length), order=2)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", [*COMPLEX, *REAL])
def test_cut_and_padded(name: str) -> None:
    for length in (4, 5):
        for size in (1, 2, 3, 4, 5, 6, 9, 10):
            checked(f"np.fft.{name}(x, n, norm='ortho')", x=numbers(name, length), n=size)
        checked(f"np.fft.{name}(x, 3)", x=numbers(name, length), order=2)
        checked(f"np.fft.{name}(x, 8)", x=numbers(name, length), order=2)


@pytest.mark.parametrize("name", [*COMPLEX, *REAL])
def test_along_the_first_axis_of_several(name: str) -> None:
    checked(f"np.fft.{name}(x, axis=0)", x=numbers(name, 5, 3), order=2)
    checked(f"np.fft.{name}(x, 7, 1, 'forward')", x=numbers(name, 2, 4, 3))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("shape", [(4, 5), (5, 4), (3, 2, 4)])
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
def test_over_axes(name: str, shape: tuple[int, ...], norm: str | None) -> None:
    checked(f"np.fft.{name}(x, norm={norm!r})", x=numbers(name, *shape), order=1 if norm else 2)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"])
def test_over_axes_cut_and_padded(name: str) -> None:
    for size in ((3, 6), (6, 3), (5, 4)):
        checked(f"np.fft.{name}(x, {size}, (0, 1))", x=numbers(name, 4, 5), order=2 if size[0] == 5 else 1)
        checked(f"np.fft.{name}(x, s={size}, axes=(2, 0), norm='ortho')", x=numbers(name, 4, 2, 5))
    checked(f"np.fft.{name}(x, axes=[0])", x=numbers(name, 4, 3))


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft", "hfft", "fft2", "irfftn"])
def test_of_real_numbers(name: str) -> None:
    checked(f"np.fft.{name}(x)", x=RNG.normal(size=(4, 5)), order=2)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64])
def test_single_precision_is_kept(dtype: Any) -> None:
    def f(x: Any) -> Any:
        return np.sum(np.abs(np.fft.fft(x)) ** 2) + np.sum(np.abs(np.fft.rfft(x.real)) ** 2)

    x = numbers("fft", 6)
    x = x.astype(dtype) if dtype is np.complex64 else x.real.astype(dtype)
    gradient = symgrad.grad(f)(x)

    assert gradient.dtype == dtype
    np.testing.assert_allclose(gradient, symgrad.grad(f)(x.astype(complex) if dtype is np.complex64 else x.astype(float)), rtol=1e-4)


def test_shifts_and_frequencies() -> None:
    checked("np.fft.fftshift(x)", x=numbers("fft", 5, 4), order=2)
    checked("np.fft.ifftshift(x, axes=0)", x=numbers("fft", 5, 4), order=2)
    checked("np.fft.fftshift(x, (0,)) * np.fft.fftfreq(4, 0.5)", x=RNG.normal(size=(5, 4)))
    symgrad.check_grads(lambda d: np.sum(np.fft.fftfreq(5, d) ** 2) + np.sum(np.fft.rfftfreq(6, d=d) ** 3), (0.7,), order=2)


def test_layouts_and_lengths_that_are_not_known() -> None:
    def f(x: Any) -> Any:
        spectrum = np.fft.rfft(x)
        spectrum[0] = 0.0
        spectrum *= np.exp(-np.arange(len(spectrum)) / 3.0)
        return np.sum(np.fft.irfft(spectrum, n=len(x)) ** 2)

    for x in (RNG.normal(size=7), RNG.normal(size=8), RNG.normal(size=16)[::2], RNG.normal(size=1)):
        check_grads(f, (x,), order=2)


def even_length(x: Any) -> Any:
    """The least even number from the length of a vector; infinity until one is found."""
    least = float("inf")
    k = len(x)
    while k > 0 and k < least:
        if k % 2 == 0:
            least = min(least, k)
        k += 1
    return least


def test_a_length_that_begins_as_infinity() -> None:
    def f(x: Any) -> Any:
        size = even_length(x)
        spectrum = np.fft.rfft(x, size)
        return np.sum(np.fft.irfft(spectrum * np.conj(spectrum), n=size)[:2] ** 2)

    gradient = symgrad.value_and_grad(f)
    for length in (4, 5, 1):
        x = RNG.normal(size=length)
        value, slopes = gradient(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        np.testing.assert_allclose(slopes, [(f(x + r) - f(x - r)) / 2e-6 for r in 1e-6 * np.eye(length)], rtol=1e-6, atol=1e-8)
    with pytest.raises(TypeError):
        gradient(np.zeros(0))  # infinity, as in NumPy


def test_a_filter_that_is_learned() -> None:
    def loss(kernel: Any, x: Any, y: Any) -> Any:
        filtered = np.fft.ifft2(np.fft.fft2(x) * np.fft.fft2(kernel, s=x.shape)).real
        return np.mean((filtered - y) ** 2)

    check_grads(loss, (RNG.normal(size=(3, 3)), RNG.normal(size=(6, 5)), RNG.normal(size=(6, 5))), order=2)


def test_a_step_of_a_wave() -> None:
    def f(psi: Any, potential: Any, steps: int) -> Any:
        k = 2 * np.pi * np.fft.fftfreq(len(psi), 0.3)
        kinetic = np.exp(-0.5j * 0.05 * k**2)
        for _ in range(steps):
            psi = psi * np.exp(-0.05j * potential)
            psi = np.fft.ifft(kinetic * np.fft.fft(psi))
        return np.sum(np.abs(psi) ** 2 * np.arange(len(psi)))

    check_grads(f, (numbers("fft", 8), RNG.normal(size=8), 4), order=2)


def test_of_scipy() -> None:
    fft = pytest.importorskip("scipy.fft")
    signal = pytest.importorskip("scipy.signal")

    for n in (None, 4, 7):
        check_grads(lambda x, n: np.sum(np.abs(fft.rfft(x, n)) ** 3), (RNG.normal(size=5), n), wrt=0)
    check_grads(lambda x: np.sum(np.abs(fft.fftn(x, norm="ortho")) ** 3), (numbers("fft", 3, 4),))
    check_grads(lambda x: np.sum(fft.irfft2(x) ** 3), (numbers("fft", 3, 4),))
    check_grads(lambda x: np.sum(np.abs(fft.fftshift(fft.fft(x))) * fft.fftfreq(5)), (numbers("fft", 5),))
    for length in (5, 6):
        check_grads(lambda x: np.sum(np.abs(signal.hilbert(x)) ** 3), (RNG.normal(size=length),), order=2)
        check_grads(lambda x: np.sum(np.abs(signal.hilbert(x, 8)) ** 3), (RNG.normal(size=length),))
    check_grads(lambda x, z: np.sum(np.abs(signal.fftconvolve(x, z)) ** 3), (RNG.normal(size=5), numbers("fft", 3)))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
def test_cosines_and_sines(name: str, kind: int, norm: str | None) -> None:
    fft = pytest.importorskip("scipy.fft")
    text = (
        f"import numpy as np\nimport scipy.fft as fft\n\ndef f(x, w):\n    return np.sum(w * fft.{name}(x, {kind}, norm={norm!r}) ** 3)\n"
    )
    for length in (2, 3, 6):
        x, w = RNG.normal(size=(2, length)), RNG.normal(size=(2, length))
        function = symgrad.from_source(text, "f")
        value, gradient = symgrad.value_and_grad(function)(x, w)
        step = RNG.normal(size=(2, length))
        expected = (function(x + 1e-6 * step, w) - function(x - 1e-6 * step, w)) / 2e-6
        assert value == pytest.approx(np.sum(w * getattr(fft, name)(x, kind, norm=norm) ** 3), rel=1e-12)
        assert np.sum(gradient * step) == pytest.approx(expected, rel=1e-6)


def test_cosines_over_axes() -> None:
    fft = pytest.importorskip("scipy.fft")

    check_grads(lambda x: np.sum(fft.dctn(x, norm="ortho") ** 3), (RNG.normal(size=(3, 4)),), order=2)
    check_grads(lambda x: np.sum(fft.idctn(x, 3, axes=(0,)) ** 3), (RNG.normal(size=(3, 4)),))
    check_grads(lambda x: np.sum(fft.dst(x, axis=0) ** 3), (RNG.normal(size=(3, 4)),))
    check_grads(lambda x: np.sum(fft.idstn(x, 2) ** 3), (RNG.normal(size=(2, 3, 4)),))


def test_fourier_without_a_derivative_keeps_its_value() -> None:
    derivative = symgrad.value_and_grad(lambda x, z: x * np.sum(np.abs(np.fft.hfft(z))))
    z = numbers("fft", 5)

    assert derivative(2.0, z)[1] == pytest.approx(np.sum(np.abs(np.fft.hfft(z))))


@pytest.mark.parametrize("expression", ["np.fft.fft(x, axis=2)", "np.fft.fftn(x, (3, 3), (0, 0))", "np.fft.fft(x, norm='half')",
                                        "np.fft.fft(x, 0)", "np.fft.rfft(x + 1j)"])  # fmt: skip
def test_what_is_not_supported_is_refused(expression: str) -> None:
    text = f"import numpy as np\n\ndef f(x):\n    return np.sum(np.abs({expression}))\n"

    with pytest.raises((SymgradError, TypeError, IndexError, ValueError)):
        symgrad.grad(symgrad.from_source(text, "f"))(np.ones((3, 3)))


def test_a_saved_transform(tmp_path: Any) -> None:
    import runpy

    df = symgrad.grad(lambda x: np.sum(np.abs(np.fft.rfft(x, 7)) ** 3))
    x = RNG.normal(size=5)
    expected = df(x)
    symgrad.save(df, tmp_path / "saved.py")
    (saved_gradient,) = [v for k, v in runpy.run_path(str(tmp_path / "saved.py")).items() if k.endswith("_grad")]

    np.testing.assert_allclose(saved_gradient(x), expected)
