"""The comparison of the first call with the function itself: detected faults, functions that are not run twice, cost."""

from __future__ import annotations

import functools
import inspect
import io
import linecache
import math
import types
from collections import namedtuple
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from planted import anew, planted, runs_of

import symgrad
from symgrad.errors import BadArgument, Mismatch
from symgrad.frontend.objects.stored import Storing

X = np.array([0.3, -0.7, 1.1])
KINDS = ("grad", "value_and_grad", "vjp", "primal")


def wave(x):
    return np.sum(np.sin(x) * x)


def call(kind, function, *args, **options):
    if kind == "primal":
        return symgrad.grad(anew(function), **options).primal(*args)
    return symgrad.vjp(anew(function), *args, **options) if kind == "vjp" else getattr(symgrad, kind)(anew(function), **options)(*args)


# ------------------------------------------------------------------ what is found


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_in_generated_code_is_a_mismatch_and_never_a_number(kind: str) -> None:
    with planted("np.sin", "np.arctan") as changed, pytest.raises(Mismatch) as caught:
        call(kind, wave, X)

    assert changed
    assert caught.value.theirs == pytest.approx(wave(X))
    assert caught.value.ours == pytest.approx(np.sum(np.arctan(X) * X))
    assert "the code for wave gives" in str(caught.value)


@pytest.mark.parametrize("kind", ["value_and_grad", "vjp"])
def test_a_fault_in_a_kernel_is_a_mismatch(kind: str) -> None:
    pytest.importorskip("numba")
    with planted("vector_sin(", "2.0 * vector_sin(") as changed, pytest.raises(Mismatch):
        call(kind, wave, X, jit=True)

    assert changed


@pytest.mark.parametrize("kind", ["grad", "value_and_grad", "vjp"])
def test_a_fault_in_a_kernel_s_gradient_alone_is_a_mismatch(kind: str) -> None:
    pytest.importorskip("numba")
    with planted("vector_cos(", "2.0 * vector_cos(") as changed, pytest.raises(Mismatch, match="and its NumPy code gives the gradient"):
        call(kind, wave, X, jit=True)

    assert changed


def test_each_further_call_raises_until_verification_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    with planted("np.sin", "np.arctan"):
        derived = symgrad.value_and_grad(anew(wave))
        for argument in (X, X, np.zeros(3)):  # at zero the two would agree
            with pytest.raises(Mismatch):
                derived(argument)
        monkeypatch.setenv("SYMGRAD_VERIFY", "0")

        assert derived(X)[0] == pytest.approx(np.sum(np.arctan(X) * X))


def test_other_signatures_are_compared_for_themselves() -> None:
    derived = symgrad.value_and_grad(anew(wave))
    derived(X)
    with planted("np.sin", "np.arctan"), pytest.raises(Mismatch):
        derived(X.astype(np.float32))

    assert derived(X)[0] == pytest.approx(wave(X))


def test_what_is_auxiliary_is_compared_too() -> None:
    def loss(x):
        return np.sum(x * x), {"waves": np.sin(x), "name": "loss"}

    for kind in ("grad", "value_and_grad", "vjp"):
        call(kind, loss, X, has_aux=True)
        with planted("np.sin", "np.tan"), pytest.raises(Mismatch):
            call(kind, loss, X, has_aux=True)


def test_a_second_derivative_is_compared_with_the_first_and_that_with_the_function() -> None:
    def cube(x):
        return x * x * math.sin(x)

    with planted("math.sin", "math.tan"), pytest.raises(Mismatch):
        symgrad.grad(symgrad.grad(anew(cube)))(0.7)
    with planted("math.sin", "math.tan"), pytest.raises(Mismatch):
        symgrad.value_and_grad(symgrad.grad(anew(cube)))(0.7)

    symgrad.value_and_grad(symgrad.grad(anew(cube)))(0.7)


def test_a_number_where_the_function_raises_is_a_mismatch_and_so_is_the_reverse() -> None:
    def first(x, n):
        if n > 2:
            raise ValueError("too large")
        return x * n

    with planted("n > 2", "n > 7"), pytest.raises(Mismatch, match="gives 6.0, and the function itself raises ValueError"):
        symgrad.value_and_grad(anew(first))(2.0, 3)
    with planted("n > 2", "n > -7"), pytest.raises(Mismatch, match="raises ValueError, and the function itself gives 4.0"):
        symgrad.value_and_grad(anew(first))(2.0, 2)
    with pytest.raises(ValueError, match="too large"):
        symgrad.value_and_grad(anew(first))(2.0, 3)


def test_the_report_has_the_program_and_its_types_and_none_of_its_data() -> None:
    data = np.array([12345.678, -98765.4321])

    def loss(w, x, names):
        return np.sum(np.sin(w * x))

    with planted("np.sin", "np.tan"), pytest.raises(Mismatch) as caught:
        symgrad.value_and_grad(anew(loss))(0.5, data, {"first": 77.25})
    report = caught.value.report

    for part in ("symgrad: a mismatch", "numpy:", "python:", "signature: w: float, x: f64[", "np.sum(np.sin(w * x))", "float64[2]"):
        assert part in report
    assert repr(caught.value.ours) in report
    assert repr(caught.value.theirs) in report
    assert not any(secret in report for secret in ("12345", "98765", "77.25"))


def test_a_method_is_compared_with_its_instance() -> None:
    @dataclass
    class Model:
        scale: float

        def loss(self, x):
            return np.sum(np.sin(self.scale * x))

    with planted("np.sin", "np.tan"), pytest.raises(Mismatch):
        symgrad.value_and_grad(Model(2.0).loss)(X)


# ------------------------------------------------------------------ what is asked for


@pytest.mark.parametrize("kind", ["grad", "value_and_grad", "vjp"])
def test_verification_is_left_out_where_that_is_asked_for(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with planted("np.sin", "np.arctan"):
        call(kind, wave, X, verify=False)
        monkeypatch.setenv("SYMGRAD_VERIFY", "0")
        call(kind, wave, X)
        with pytest.raises(Mismatch):
            call(kind, wave, X, verify=True)


def test_a_decorated_function_is_verified_as_it_is_asked() -> None:
    with planted("np.sin", "np.arctan"):
        symgrad.differentiable(anew(wave), verify=False).value_and_grad(X)
        with pytest.raises(Mismatch):
            symgrad.differentiable(anew(wave)).value_and_grad(X)


def test_what_verify_cannot_be_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadArgument, match="verify is True, False or 'gradient'"):
        symgrad.grad(wave, verify="values")
    monkeypatch.setenv("SYMGRAD_VERIFY", "perhaps")
    with pytest.raises(BadArgument, match="SYMGRAD_VERIFY"):
        symgrad.grad(anew(wave))(X)


# ------------------------------------------------------------------ what it costs


@pytest.mark.parametrize("kind", KINDS)
def test_the_function_runs_once_and_later_calls_do_not_run_it(kind: str) -> None:
    function = anew(wave)
    derived = symgrad.grad(function).primal if kind == "primal" else None if kind == "vjp" else getattr(symgrad, kind)(function)
    for expected in (1, 0, 0):
        with runs_of(function) as counted:
            derived(X) if derived else symgrad.vjp(function, X)

        assert len(counted) == expected


@pytest.mark.parametrize("kind", ["grad", "value_and_grad"])
def test_the_guard_is_that_of_a_function_that_is_not_verified(kind: str) -> None:
    texts = []
    for verify in (True, False):
        derived = getattr(symgrad, kind)(anew(wave), verify=verify)
        derived(X)
        guard = type(derived).__call__
        texts.append((guard.__code__.co_code, "".join(linecache.getlines(guard.__code__.co_filename))))

    assert texts[0] == texts[1]


def test_a_function_that_calls_its_own_derivative_is_compared_without_end_of_that() -> None:
    def tower(x, n):
        return x * x if n == 0 else x * inner(x, n - 1)

    inner = symgrad.value_and_grad(tower, verify=True)

    assert inner(2.0, 0) == (4.0, 4.0)


# ------------------------------------------------------------------ effects happen once


def printing(x):
    print("at", x)
    return x * x


def drawing(x):
    return x * np.random.rand()


def drawing_from(x, random):
    return x * random.normal()


MORE = 1


@functools.lru_cache
def table(n):
    return n + MORE


def keeping(x):
    return x * table(3)


def storing(x, held):
    held["x"] = 2.0
    return x * x


def appending(x, held):
    held.append(1.0)
    return x * len(held)


COUNTS = np.zeros(3)


def writing_outside(x):
    COUNTS[0] += 1.0
    return x * COUNTS[0]


@pytest.mark.parametrize("function", [printing, drawing, drawing_from, keeping])
def test_functions_with_effects_are_not_run_and_explain_says_so(function) -> None:
    arguments = {"drawing_from": (np.random.default_rng(1),)}.get(function.__name__, ())
    plain, counted = {}, {}
    for key in ("plain", "derived"):
        np.random.seed(5)
        held = tuple(np.random.default_rng(1) if isinstance(g, np.random.Generator) else type(g)(g) for g in arguments)
        out = io.StringIO()
        table.cache_clear()
        code = anew(function)
        with redirect_stdout(out), runs_of(code) as runs:
            value = code(1.5, *held) if key == "plain" else symgrad.value_and_grad(code)(1.5, *held)[0]
        state = [h.bit_generator.state if isinstance(h, np.random.Generator) else h for h in held]
        plain[key] = (value, out.getvalue(), np.random.get_state()[1].tolist(), np.random.get_state()[2], repr(state))
        counted[key] = len(runs)

    assert plain["plain"] == plain["derived"]
    assert counted == {"plain": 1, "derived": 0}
    assert "unverified" in symgrad.grad(anew(function)).explain(1.5, *arguments)


class Counter:
    def __init__(self) -> None:
        self.steps, self.last, self.inner = 0, None, {"log": [1.0]}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counter) and vars(self) == vars(other)


def counting(x, counter):
    counter.steps += 1
    counter.last = np.sin(x)
    counter.inner["log"].append(x)
    return x * counter.steps


def storing_then_raising(x, held):
    held["x"] = x
    if x > 1.0:
        raise ValueError("too large")
    return x


STORING = {"storing": (storing, lambda: {"x": 1.0}), "appending": (appending, lambda: [0.5]), "counting": (counting, Counter),
           "raising": (storing_then_raising, dict)}  # fmt: skip


def outcome_of(function, *args):
    try:
        return function(*args)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("api", [symgrad.grad, symgrad.value_and_grad])
@pytest.mark.parametrize("name", STORING)
def test_functions_that_store_in_their_arguments_are_compared_on_copies(name: str, api: Any) -> None:
    function, make = STORING[name]
    code, held, expected = anew(function), make(), make()
    with runs_of(code) as runs:
        actual = outcome_of(api(code), 1.5, held)
    assert len(runs) == 1
    value = outcome_of(function, 1.5, expected)
    assert held == expected
    assert value == (actual[0] if api is symgrad.value_and_grad and not isinstance(actual, str) else value)
    assert "unverified" not in symgrad.grad(anew(function)).explain(1.5, make())


@pytest.mark.parametrize("api", [symgrad.grad, symgrad.value_and_grad])
@pytest.mark.parametrize(
    ("name", "method"), [("storing", "put"), ("appending", "method"), ("counting", "put"), ("counting", "method"), ("raising", "put")]
)
def test_a_store_that_is_lost_is_told(name: str, method: str, api: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function, make = STORING[name]
    monkeypatch.setattr(Storing, method, lambda self, *args: None)

    with pytest.raises(Mismatch, match="and the function itself leaves|and changes its arguments, which the code does not"):
        api(anew(function))(1.5, make())


def test_a_store_that_rounding_explains_is_none() -> None:
    def cancelling(x, held):
        held.append((x + 1e16) - 1e16 - x)
        return x * x

    held: list[float] = []
    symgrad.value_and_grad(anew(cancelling))(1.1, held)
    assert held == [(1.1 + 1e16) - 1e16 - 1.1]


def test_arrays_that_a_function_writes_to_stay_as_they_were_and_are_not_compared() -> None:
    def both(x, array, held):
        array[0] = x
        held.append(x)
        return x * array[0]

    array, held = np.ones(2), [0.5]
    assert symgrad.value_and_grad(anew(both))(1.5, array, held) == (2.25, 3.0)
    assert array.tolist() == [1.0, 1.0]
    assert held == [0.5, 1.5]


@functools.lru_cache
def pure(n):
    return n + 1


def keeping_what_is_constant(x):
    return x * pure(3)


@pytest.mark.parametrize(("function", "kept"), [(keeping, table), (keeping_what_is_constant, pure)])
def test_a_cache_of_the_users_is_not_filled(function, kept) -> None:
    kept.cache_clear()
    symgrad.grad(anew(function), verify=False)(1.5)

    assert kept.cache_info().currsize == 0


def test_a_generator_made_from_a_seed_is_no_effect() -> None:
    def noisy(x):
        random = np.random.default_rng(3)
        return np.sum(np.sin(x) * random.normal(size=3))

    with planted("np.sin", "np.tan"), pytest.raises(Mismatch):
        symgrad.value_and_grad(anew(noisy))(X)
    function = anew(noisy)
    with runs_of(function) as counted:
        symgrad.value_and_grad(function)(X)

    assert counted == [1]


@pytest.mark.filterwarnings("error")
def test_warnings_are_given_once_and_as_without_verification() -> None:
    def logarithm(x):
        return np.sum(np.log(x))

    for verify in (False, True):
        with pytest.warns(RuntimeWarning) as caught:
            symgrad.value_and_grad(anew(logarithm), verify=verify)(np.array([1.0, -1.0]))

        assert len(caught) == 1


# ------------------------------------------------------------------ arguments


def overwriting(x):
    x[0] = 2.0
    x *= x
    return np.sum(x)


def test_arguments_that_the_function_writes_to_stay_as_they_were() -> None:
    for argument in (X.copy(), np.asfortranarray(np.ones((2, 3))), np.arange(12.0).reshape(3, 4)[::2, ::2]):
        before = argument.copy()
        function = anew(overwriting)
        with runs_of(function) as counted:
            value, _ = symgrad.value_and_grad(function)(argument)

        assert counted == [1]
        assert np.array_equal(argument, before)
        assert value == overwriting(before)


@pytest.mark.parametrize("store", ["x[1:] += x[:-1]", "x[:] = x[::-1]", "np.add(x, x[::-1], out=x)", "y = x.T\n    y *= 2.0"])
@pytest.mark.parametrize("result", ["x", "x[1:]", "(x, np.sum(x))", "[x, x]"])
def test_an_argument_that_is_written_to_and_returned_is_compared_as_it_is_returned(store: str, result: str) -> None:
    written = symgrad.from_source(f"def written(x):\n    {store}\n    return {result}\n")
    argument = X.copy()
    out, _ = symgrad.vjp(written, argument)

    assert argument.tolist() == X.tolist()
    assert repr(out) == repr(written(X.copy()))


def test_an_argument_is_put_back_if_the_frontend_has_overlooked_a_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a function that generated code does not follow: it writes where no code says so."""

    def innocent(x, held):
        return np.sum(x) * held["a"]

    def guilty(x, held):
        x[1] = 9.0
        held["a"] = 5.0
        held["b"] = 1.0
        return np.sum(X) * 2.0

    derived = symgrad.value_and_grad(innocent)
    argument, held = X.copy(), {"a": 2.0}
    table = derived._table
    comparison = type(table).comparison

    def other(self: Any, entry: Any, bound: Any) -> Any:
        outcome = comparison(self, entry, bound)
        outcome.function = guilty
        return outcome

    monkeypatch.setattr(type(table), "comparison", other)
    with pytest.raises(Mismatch, match="and changes its arguments, which the code does not"):
        derived(argument, held)

    assert np.array_equal(argument, X)
    assert held == {"a": 2.0}


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "argument",
    [
        1.5, np.float32(1.5), X, X.astype(np.float32), X + 1j, [0.5, 1.5], (0.5, X), Pair(0.5, X), {"a": X, "b": [0.5, 1.5]}, [X, X],
        types.SimpleNamespace(a=X, b=0.5), np.array(0.5), np.zeros((0, 3)),
    ],
    ids=repr,
)  # fmt: skip
def test_every_kind_of_argument_is_compared(argument) -> None:
    def total(tree):
        if isinstance(tree, float | complex | np.number):
            return abs(tree * 2.0)
        if isinstance(tree, np.ndarray):
            return np.sum(abs(tree * tree))
        if isinstance(tree, dict):
            return total(tree["a"]) + total(tree["b"])
        if isinstance(tree, types.SimpleNamespace):
            return total(tree.a) + total(tree.b)
        return total(tree[0]) + total(tree[1])

    function = anew(total)
    function.__globals__["total"] = function
    with runs_of(function) as counted:
        symgrad.value_and_grad(function, allow_unused=True)(argument)

    assert counted


def test_an_iterator_is_not_gone_over_twice() -> None:
    def total(x, numbers):
        for number in numbers:
            x = x * number
        return x

    try:
        value, _ = symgrad.value_and_grad(total)(2.0, iter([3.0, 4.0]))
    except symgrad.SymgradError:
        return

    assert value == 24.0


TABLE = [0.5, 1.5]


def test_objects_that_are_compared_by_identity_stay_themselves() -> None:
    def scaled(x, by):
        return x * 2.0 * by[0] if by is TABLE else x * 3.0

    try:
        value, _ = symgrad.value_and_grad(scaled)(1.5, TABLE)
    except Mismatch:
        raise
    except symgrad.SymgradError as refusal:
        pytest.skip(str(refusal))

    assert value == scaled(1.5, TABLE)


# ------------------------------------------------------------------ no false alarm


def cancelling(x):
    return np.sum(x) - np.sum(x[::-1]) + np.sum(x * 1e8) - 1e8 * np.sum(x)


def chaotic(x):
    for _ in range(200):
        x = 3.9 * x * (1.0 - x)
    return x


def stepping(x):
    return x * 2.0 if x + 0.1 + 0.2 == 0.3 + x else x * 3.0


def counting(x):
    return x * int(x * 10.0 * 0.1 * 100.0)


def singular(x):
    return x / (x * 0.0)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [cancelling, chaotic, stepping, counting, singular])
def test_rounding_is_no_difference(function, dtype) -> None:
    random = np.random.default_rng(1)
    for _ in range(5):
        argument = random.uniform(0.1, 0.9, 50).astype(dtype) if function is cancelling else dtype(random.uniform(0.1, 0.9))
        symgrad.value_and_grad(anew(function), allow_unused=True)(argument)
        symgrad.grad(anew(function), allow_unused=True)(argument)


def test_a_sum_in_another_order_is_no_difference_even_where_all_cancels() -> None:
    def total(x):
        return np.sum(x) * 1e3

    argument = np.random.default_rng(2).normal(size=1001)
    argument = np.concatenate([argument, -argument])
    with planted("np.sum(x)", "np.sum(x[::3]) + np.sum(x[1::3]) + np.sum(x[2::3])") as changed:
        symgrad.value_and_grad(total)(argument)
    with planted("x.sum()", "(x[::3].sum() + x[1::3].sum() + x[2::3].sum())") as other:
        symgrad.value_and_grad(anew(total))(argument)

    assert changed or other


def test_a_choice_that_a_last_digit_decides_is_no_difference() -> None:
    def chosen(x):
        return x * 2.0 if x * 3.0 < 0.30000000000000004 else x

    with planted("x * 3.0 < 0.30000000000000004", "x * 3.0 < 0.3"):
        symgrad.value_and_grad(chosen)(0.1)


def test_infinities_and_nans_are_equal_to_themselves() -> None:
    def bare(x):
        return np.sum(x * x)

    for argument in (np.array([np.nan, 1.0]), np.array([np.inf, 1.0]), np.array([-np.inf, np.inf])):
        symgrad.value_and_grad(bare)(argument)


def test_a_custom_vjp_may_say_another_value() -> None:
    @symgrad.custom_vjp
    def rounded(x):
        return float(round(x))

    rounded.defvjp(lambda x: (x * 1.0, ()), lambda residuals, g: (g,))

    assert symgrad.value_and_grad(lambda x: rounded(x) * 2.0)(1.25)[0] == 2.5


def test_signatures_show_the_argument() -> None:
    for function in (symgrad.grad, symgrad.value_and_grad, symgrad.vjp, symgrad.differentiable):
        assert inspect.signature(function).parameters["verify"].default is None
