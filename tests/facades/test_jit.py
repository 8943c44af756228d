"""``jit=``: kernels before the NumPy code, which handles the calls that they reject."""

from __future__ import annotations

import importlib.util
import math
import pickle
import sys
import threading

import numpy as np
import pytest
from targets import both, same

import symgrad
from symgrad.errors import NotCompiled, NumbaMissing

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def gradients_checked() -> None:
    """Pullbacks are looked into, and so are handed out as they are."""


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def waves(x, y):
    return x * y + math.sin(x)


def rosenbrock(x):
    s = 0.0
    for i in range(x.shape[0] - 1):
        a = x[i + 1] - x[i] * x[i]
        b = 1.0 - x[i]
        s += 100.0 * a * a + b * b
    return s


def kepler(e, m):
    x, step = m, 1.0
    while abs(step) > 1e-12:
        step = (x - e * math.sin(x) - m) / (1.0 - e * math.cos(x))
        x = x - step
    return x * x


def branches(x, n):
    y = x
    for i in range(n):
        if y > 2.0:
            y = y / 3.0
            continue
        if y < -5.0:
            break
        y = y * y + i
    return math.exp(-y)


@pytest.mark.parametrize("function, args, wrt", [
    (waves, (0.7, 1.3), (0, 1)), (rosenbrock, (np.linspace(-1, 2, 7),), 0), (kepler, (0.4, 1.2), (0, 1)), (branches, (0.7, 6), 0),
    (branches, (3.7, 0), 0), (rosenbrock, (np.ones(1),), 0),
])  # fmt: skip
def test_both_targets_agree(function, args, wrt):
    compiled, plain = both(function, *args, wrt=wrt)
    assert same(compiled, plain), (compiled, plain)


def test_the_source_is_the_kernel_and_its_caller():
    derivative = symgrad.value_and_grad(waves, (0, 1), jit=True)
    text = derivative.source(1.0, 2.0)

    assert text.startswith('@njit(error_model="numpy", cache=True)\ndef waves_value_and_grad_kernel(x, y):')
    assert "except Exception:" in text
    assert "return waves_value_and_grad_numpy(x, y)" in text
    assert derivative.compiled(1.0, 2.0)(1.0, 2.0) == derivative(1.0, 2.0)


def logarithm(x):
    return math.log(x) + 1.0


def quotient(x, y):
    return x / y


def picked(x, k):
    return x[k] * x[-k]


def grown(x, n):
    k = n
    for _ in range(70):
        k = k * 3
    return x * (k % 1000)


def test_what_raises_on_one_target_raises_on_the_other():
    for function, arguments in [
        (logarithm, [(-1.0,), (0.0,), (math.nan,), (math.inf,), (2.0,)]),
        (quotient, [(1.0, 0.0), (math.inf, 2.0), (math.nan, 1.0), (1.0, 3.0), (np.float64(1.0), 0.0), (1.0, np.float64(0.0))]),
        (picked, [(np.ones(3), 2), (np.ones(3), 3), (np.ones(3), -3), (np.ones(3), 4), (np.ones(0), 0), (np.ones(3), 2**70)]),
        (grown, [(2.0, 1), (2.0, 0), (2.0, -7)]),
    ]:
        for args in arguments:
            compiled, plain = both(function, *args)
            assert same(compiled, plain), (function.__name__, args, compiled, plain)


def printing(x):
    for _ in range(2):
        print([x])
    return x * x


def test_what_cannot_be_compiled_runs_with_one_notice(capsys):
    derivative = symgrad.grad(printing, jit=True)
    with pytest.warns(NotCompiled, match=r"printing runs as NumPy code(.|\n)*print\(\[x\]\)") as told:
        assert derivative(2.0) == 4.0
        assert derivative(np.float64(2.0)) == 4.0
        assert symgrad.value_and_grad(printing, jit=True)(2.0) == (4.0, 4.0)
    assert len(told) == 1
    assert told[0].filename == __file__
    assert "kernel" not in derivative.source(2.0)


def printing_too(x):
    for _ in range(2):
        print(x)
    return x * x


def test_auto_is_silent(capsys):
    assert symgrad.grad(printing_too, jit="auto")(2.0) == 4.0


def test_without_numba(monkeypatch):
    monkeypatch.setattr("symgrad.targets.has_numba", lambda: False)
    with pytest.raises(NumbaMissing, match="pip install numba scipy"):
        symgrad.grad(waves, jit=True)
    derivative = symgrad.grad(lambda x: x * x, jit="auto")
    assert derivative(2.0) == 4.0
    assert "njit" not in derivative.source(2.0)


@symgrad.differentiable(jit=True)
def cube(x):
    return x * x * x


def test_the_decorator_and_second_derivatives():
    assert (cube(2.0), cube.primal(2.0), cube.grad(2.0), cube.grad.grad(2.0), cube.value_and_grad(2.0)) == (
        8.0,
        8.0,
        12.0,
        12.0,
        (8.0, 12.0),
    )
    for derivative in (cube.primal, cube.grad, cube.grad.grad):
        assert "njit" in derivative.source(2.0)


def test_a_pickle_keeps_jit():
    again = pickle.loads(pickle.dumps(symgrad.grad(rosenbrock, jit=True)))
    assert again is symgrad.grad(rosenbrock, jit=True)
    assert "njit" in again.source(np.ones(3))


def test_threads_may_call_at_once():
    derivative = symgrad.grad(lambda x: x * x * 0.5, jit=True)
    actual = []
    threads = [threading.Thread(target=lambda: actual.append([derivative(float(k)) for k in range(200)])) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert actual == [[float(k) for k in range(200)]] * 6


def test_structures_of_arguments_and_results():
    def spread(p, x):
        return p["w"] * x[0] + p["b"][1] * p["b"][1] * x[1]

    compiled, plain = both(spread, {"w": 2.0, "b": (1.0, 3.0)}, np.array([0.5, 1.5]))
    assert compiled == plain
    derivative = symgrad.grad(spread, jit=True)
    assert "spread_grad_kernel(p['b'][1], x)" in derivative.source({"w": 2.0, "b": (1.0, 3.0)}, np.ones(2))


def test_layouts_of_arrays():
    derivative = symgrad.grad(lambda x: x[0, 1] * x[1, 0], jit=True)
    x = np.arange(6.0).reshape(2, 3)
    for passed in (x, np.asfortranarray(x), np.hstack([x, x])[:, ::2], x[::-1]):
        assert np.array_equal(derivative(passed), symgrad.grad(lambda x: x[0, 1] * x[1, 0])(passed))
    x.flags.writeable = False
    assert derivative(x)[0, 1] == 3.0


def test_small_functions_are_called_without_a_frame_between():
    derivative = symgrad.value_and_grad(waves, (0, 1), jit=True)
    derivative(1.0, 2.0)
    calls = []
    before = sys.getprofile()
    sys.setprofile(
        lambda frame, event, called: calls.append(frame.f_code.co_name if event == "call" else called.__name__ if event == "c_call" else "")
    )
    try:
        derivative(1.0, 2.0)
    finally:
        sys.setprofile(before)
    assert [call for call in calls if call] == ["guard", "waves_value_and_grad_kernel", "setprofile"]


def test_a_kernel_that_is_too_long_for_the_compiler_runs_as_numpy_code(monkeypatch):
    monkeypatch.setattr("symgrad.loops.reach.LONGEST", 30)

    def long(x):
        for _ in range(x.size):
            x = np.sin(x) * x + np.cos(x) / (2 + x * x) - np.tanh(x) * np.exp(x)
        return np.sum(x * np.sin(x))

    x = np.array([0.3, -0.7])
    with pytest.warns(NotCompiled, match=r"kernels do not support \d+ operations, which numba would take minutes to compile"):
        gradient = symgrad.grad(long, jit=True)(x)
    assert np.allclose(gradient, symgrad.grad(long)(x), rtol=1e-12)


def pair(x):
    return x[0] * x[1] * x[0], math.exp(x[1])


@pytest.mark.parametrize("function, args, seeds", [
    (waves, (0.7, 1.3), [1.0, 2, -0.5]),
    (pair, (np.array([2.0, 3.0]),), [(1.0, 2.0), [0, 1], np.ones(2)]),
])  # fmt: skip
def test_pullbacks_are_compiled(function, args, seeds):
    out, pullback = symgrad.vjp(function, *args, jit=True)
    expected, plain = symgrad.vjp(function, *args)
    assert out == expected
    for seed in seeds:
        assert same(pullback(seed), plain(seed))
    assert any("_backward_kernel" in name for name in pullback.__code__.co_names)
    for wrong in ("text", None):
        with pytest.raises((TypeError, ValueError)):
            pullback(wrong)


def plain(x, w):
    return np.sum(np.tanh(x) * w) * 1.5 + math.sin(w)


@pytest.mark.parametrize("kind", ["value_and_grad", "vjp"])
def test_a_saved_module_compiles_where_numba_is_installed(kind, tmp_path, monkeypatch):
    derivative = getattr(symgrad.differentiable(wrt=(0, 1), jit=True)(plain), kind)
    x = np.linspace(0.1, 1.0, 5)
    expected = derivative(x, 2.0)
    symgrad.save(derivative, tmp_path / "saved.py", x, 2.0)
    for numba in ("numba", None):
        if numba is None:
            monkeypatch.setitem(sys.modules, "numba", None)
        spec = importlib.util.spec_from_file_location("saved", tmp_path / "saved.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        actual = getattr(module, f"plain_{kind}")(x, 2.0)
        if kind == "vjp":
            actual, reference = (actual[0], actual[1](1.0)), (expected[0], expected[1](1.0))
        else:
            reference = expected
        assert same(actual, reference)
        assert hasattr(module, f"plain_{kind}_numpy") == (numba is not None)
        module.check()
        with pytest.raises(TypeError, match="made for"):
            getattr(module, f"plain_{kind}")(x.astype(np.float32), 2.0)
    assert "symgrad" not in module.__dict__


def halves(x, y, n):
    return np.sum(x * y + x[:1]) * n


def test_the_guard_of_a_kernel_leaves_to_it_what_it_tells_apart():
    """A kernel is called for the arrays it is made for alone, and is compiled anew for those that only lie in another way."""
    rows = np.linspace(0.5, 2.0, 12).reshape(3, 4)
    frozen = rows.copy()
    frozen.flags.writeable = False
    same = [(rows[:, ::2], rows[:, 1::2], 2.0), (frozen, rows.T.copy().T, 2.0)]
    others = [
        (rows.astype(np.float32), rows.astype(np.float32), 2.0),
        (rows[0], rows[1], 2.0),
        (rows[:1], rows, 2.0),
        (rows, rows[:, :1], 2.0),
        (rows, rows, np.float64(2.0)),
        (rows, rows, True),
    ]
    jitted, numpy = (symgrad.value_and_grad(halves, wrt=(0, 1), jit=jit) for jit in (True, False))
    for passed in [(rows, rows, 2.0), *same]:  # one entry of the guard: arrays are not looked at
        compare(jitted(*passed), numpy(*passed))
    kernel = jitted.compiled(rows, rows, 2.0).__globals__["halves_value_and_grad_kernel"]
    assert len(kernel.overloads) == 3
    for passed in others:
        alone = symgrad.value_and_grad(halves, wrt=(0, 1), jit=True)
        compare(alone(rows, rows, 2.0), numpy(rows, rows, 2.0))
        compare(alone(*passed), numpy(*passed))
        compare(alone(rows, rows, 2.0), numpy(rows, rows, 2.0))
    assert len(kernel.overloads) == 3
    with pytest.raises(ValueError, match="broadcast"):
        jitted(rows, rows[:2], 2.0)
    for first in ((rows[:1], rows, 2.0), (rows[:, :1], rows[:, :1], 2.0), (rows[:1, :1], rows[:1, :1], 2.0)):
        alone = symgrad.value_and_grad(halves, wrt=(0, 1), jit=True)
        for passed in (first, (rows, rows, 2.0), (rows[:2], rows[:2], 2.0), first):
            compare(alone(*passed), numpy(*passed))


def compare(mine, theirs):
    assert type(mine[0]) is type(theirs[0])
    for one, other in zip((mine[0], *mine[1]), (theirs[0], *theirs[1]), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, other, rtol=1e-5)
