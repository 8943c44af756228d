"""Pullbacks in kernels: values saved per iteration, read by any number of calls of the second half."""

from __future__ import annotations

import copy
import functools
import importlib.util
import math
import warnings
from typing import Any

import numpy as np
import pytest
from differences import leaves
from targets import same

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def gradients_checked() -> None:
    """Pullbacks are looked into, and so are handed out as they are."""


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


R = np.random.default_rng(5)


def held(function: Any, wrt: Any, *arguments: Any) -> Any:
    """The kernels' pullback, when for several seeds, out of order, it has given what the NumPy code gives.

    The caller's arguments, the result and every gradient are spoilt as soon as they are there.
    """
    passed = copy.deepcopy(arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        out, pullback = symgrad.vjp(function, *passed, wrt=wrt, jit=True)
    expected, plain = symgrad.vjp(function, *arguments, wrt=wrt)
    assert same(out, expected, 1e-10, 1e-13)
    seeds = [seed_for(expected) for _ in range(3)]
    reference = [copy.deepcopy(plain(seed)) for seed in seeds]
    spoil(passed)
    spoil(out)
    left = left_to_numpy(pullback)
    for k in (0, 1, 0, 2, 1):
        actual = pullback(seeds[k])
        assert same(actual, reference[k], 1e-9, 1e-12), (actual, reference[k])
        spoil(actual)
    assert not left
    return pullback


def seed_for(out: Any) -> Any:
    if isinstance(out, tuple):
        return tuple(map(seed_for, out))
    return R.standard_normal(out.shape) if isinstance(out, np.ndarray) else float(R.standard_normal())


def spoil(value: Any) -> None:
    for leaf in leaves(value):
        if isinstance(leaf, np.ndarray):
            leaf[...] = 7


def left_to_numpy(pullback: Any) -> list[Any]:
    """A list that will hold the calls of the NumPy code that a pullback makes."""
    calls: list[Any] = []
    (name,) = (name for name in pullback.__code__.co_names if name.endswith("_again"))
    behind = pullback.__globals__[name]

    def seen(*args: Any) -> Any:
        calls.append(args)
        return behind(*args)

    pullback.__globals__[name] = seen
    return calls


# ------------------------------------------------------------------ what is kept


def arrays_of_rounds(x, w, n):
    h = x
    for _ in range(n):
        h = np.tanh(w * h + x)
    return h * w


def numbers_of_rounds(x, w, n):
    s = w
    for i in range(n):
        s = math.sin(s) * x[i] + s * s * 0.1
    return s


def rounds_in_rounds(x, w, n):
    for k in range(n):
        s = w
        for j in range(k, x.shape[0]):
            x = x * math.cos(s)
            s = s * 0.5 + x[j]
        x = np.sin(x)
    return x


def until_it_is_small(x, w, n):
    while np.sum(x * x) > 0.5:
        x = np.sin(x) * w
        w = w * 0.9
    return np.sum(x)


def rounds_until_in_rounds(x, w, n):
    total = 0.0
    for k in range(n):
        s = w + k
        while s > 0.3:
            s = s * 0.6 * math.cos(x[k])
            total = total + s * s
    return total


def branches_in_rounds(x, w, n):
    s = 0.0
    for i in range(n):
        if x[i] > 0:
            y = math.sin(x[i] * w)
            s = s + y * y
        elif s > 0.1:
            s = s * s
    return s


def left_early(x, w, n):
    for i in range(n):
        x = np.tanh(x) * w
        if x[0] * x[0] < 0.2:
            break
        if i == 3:
            return np.sum(x * x)
    return np.sum(x)


def shrinking(x, w, n):
    for _ in range(n):
        x = np.sin(x[:-1]) * w + x[1:]
    return np.sum(x)


def of_any_length(x, w, n):
    while x.shape[0] > 2:
        x = np.concatenate((x[1:-1] * w, np.sin(x[:1])))
    return x


def restored(x, w, n):
    y = x.copy()
    for i in range(n):
        y[i] = math.sin(y[i]) * w
        y[i + 1] += y[i] * y[i]
    return y


def a_list_that_grows(x, w, n):
    actual = []
    for i in range(n):
        if x[i] > 0:
            actual.append(x[i] * w)
    s = 0.0
    for each in actual:
        s = s + each * each
    return s


def arrays_in_a_list(x, w, n):
    actual = [x]
    for i in range(n):
        actual.append(np.sin(actual[i]) * w)
    return actual[-1] * actual[1]


def only_on_some_paths(x, w, n):
    s = 0.0
    for i in range(n):
        if x[i] > 0:
            y = x * w
        if i > 1:
            s = s + y[i] * y[0]
    return s


def several_results(x, w, n):
    h = x
    for _ in range(n):
        h = np.sin(h) * w
    return h, np.sum(h * x)


def the_argument_itself(x, w, n):
    for _ in range(n):
        w = w * math.sin(w)
    return x, x * w


def no_rounds_of_loops(x, w, n):
    return np.exp(x) * w + np.outer(x, x)[0]


KEEPING = [arrays_of_rounds, numbers_of_rounds, rounds_in_rounds, until_it_is_small, rounds_until_in_rounds, branches_in_rounds, left_early,
           shrinking, of_any_length, restored, a_list_that_grows, arrays_in_a_list, only_on_some_paths, several_results,
           the_argument_itself, no_rounds_of_loops]  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", KEEPING, ids=lambda f: f.__name__)
def test_pullbacks_give_what_numpy_gives(function: Any) -> None:
    x = np.array([0.9, -0.4, 1.3, 0.7, -1.1, 0.3])
    for n in (4, 0, 1) if function not in (only_on_some_paths, arrays_in_a_list) else (4, 3):
        held(function, ("x", "w"), x * 1.2, 0.8, n)


def test_tapes_are_handed_over_as_arrays() -> None:
    text = symgrad.differentiable(wrt=("x", "w"), jit=True)(arrays_of_rounds).vjp.source(np.ones(3), 0.8, 4)

    assert "h_tape = new_empty((n if n > 0 else 0, t))" in text
    assert "_backward_kernel(" in text
    assert "[]" not in text


def test_numbers_that_are_pushed_are_handed_over_as_arrays() -> None:
    text = symgrad.differentiable(wrt=("x", "w"), jit=True)(branches_in_rounds).vjp.source(np.ones(6), 0.8, 4)
    forward, backward, _ = text.split("\ndef ", 2)

    assert ".pop()" in forward + backward
    assert ".append(" in backward


def test_arrays_that_lie_in_other_ways() -> None:
    x = np.linspace(-1.0, 1.0, 24).reshape(4, 6)
    for passed in (x, np.asfortranarray(x), x[:, ::2], x[::-1]):
        held(lambda x, w: np.sum(np.sin(x @ x.T * w), axis=0), (0, 1), passed, 0.7)


# ------------------------------------------------------------------ what is left to NumPy


def of_structures(p, x, n):
    y = p["y"]
    for _ in range(n):
        y = np.sin(y * p["b"][0]) + x
    return y * p["b"][1]


def test_what_kernels_do_not_take_runs_again_with_the_arguments_of_then(monkeypatch: pytest.MonkeyPatch) -> None:
    def arguments() -> Any:
        return {"y": np.array([0.3, -0.2]), "b": (0.7, 3.0)}, np.array([1.0, 2.0])

    def not_taken(*arguments: Any) -> Any:
        raise TypeError

    p, x = arguments()
    _, pullback = symgrad.vjp(of_structures, p, x, 3, wrt=("p", "x"), jit=True)
    _, plain = symgrad.vjp(of_structures, *arguments(), 3, wrt=("p", "x"))
    p["y"][:], p["b"], x[:] = 9.0, (4.0, 4.0), 5.0
    left = left_to_numpy(pullback)

    monkeypatch.setitem(pullback.__globals__, "array_seed", not_taken)

    for seed in (np.ones(2, np.float32), np.array([0.5, -1.0], np.float32)):
        actual, expected = pullback(seed), plain(seed)
        assert same((*actual[0]["b"], actual[0]["y"], actual[1]), (*expected[0]["b"], expected[0]["y"], expected[1]))
    assert len(left) == 2


def laid_in_other_ways(x, w):
    return x * w + np.sin(x.T.reshape(-1)[1]) * np.cos(x.reshape(-1)[2])


def test_what_runs_again_sees_arrays_that_lie_as_they_did() -> None:
    x = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(4, 6)
    for passed in (x, np.asfortranarray(x), x[:, ::2], x[::-1]):
        pullback, plain = (symgrad.vjp(laid_in_other_ways, passed, 3.0, jit=jit)[1] for jit in (True, False))
        left = left_to_numpy(pullback)
        seed = np.ones(passed.shape)

        assert same(pullback(seed), plain(seed))
        assert left


@pytest.mark.parametrize("seed", [2.0, [1.0, 2.0, 3.0], np.arange(3), np.ones(1), np.arange(6.0)[::2]], ids=str)
def test_seeds_of_other_kinds_are_made_to_fit(seed: Any) -> None:
    pullback, plain = pullbacks_of_rounds()
    left = left_to_numpy(pullback)

    assert same(pullback(seed), plain(seed), 1e-9, 1e-12)
    assert not left


@functools.cache
def pullbacks_of_rounds() -> tuple[Any, Any]:
    """The pullback of one function on both targets, compiled once."""
    arguments = np.array([0.3, -0.2, 0.9]), 0.8, 3
    compiled, plain = (symgrad.vjp(arrays_of_rounds, *arguments, wrt=("x", "w"), jit=jit)[1] for jit in (True, False))
    return compiled, plain


@pytest.mark.parametrize("seed", [np.ones(2), np.ones((1, 3)), "text", None], ids=str)
def test_seeds_that_do_not_fit_raise(seed: Any) -> None:
    _, pullback = symgrad.vjp(arrays_of_rounds, np.ones(3), 0.8, 3, wrt=("x", "w"), jit=True)
    with pytest.raises((TypeError, ValueError)):
        pullback(seed)


@pytest.mark.parametrize("function", [arrays_of_rounds, branches_in_rounds])
def test_saved_pullbacks_have_their_kernels(function: Any, tmp_path: Any) -> None:
    derivative = symgrad.differentiable(wrt=("x", "w"), jit=True)(function).vjp
    x = np.array([0.9, -0.4, 1.3])
    out, plain = symgrad.vjp(function, x, 0.8, 3, wrt=("x", "w"))
    symgrad.save(derivative, tmp_path / "saved.py", x, 0.8, 3)
    spec = importlib.util.spec_from_file_location("saved", tmp_path / "saved.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    actual, pullback = getattr(module, f"{function.__name__}_vjp")(x, 0.8, 3)
    seeds = [np.ones(3), np.ones(3, np.float32)] if isinstance(out, np.ndarray) else [1.0, -0.5]

    assert any(name.endswith("_backward_kernel") for name in pullback.__code__.co_names)
    assert same(actual, out, 1e-10, 1e-13)
    for seed in seeds:
        assert same(pullback(seed), plain(seed), 1e-9, 1e-12)
