"""``df.debug()``: the text runs under pdb, and ``debug_nans`` names the first variable that is not finite."""

from __future__ import annotations

import cProfile
import dis
import io
import linecache
import math
import pdb
import pstats
import sys
import types
from types import FrameType
from typing import Any

import numpy as np
import pytest
from differences import children

import symgrad
from tests.explorer.samples import SAMPLES
from tests.programs import PROGRAMS


def leaves(value: Any) -> list[Any]:
    """The values in a tree, in order."""
    inside = children(value)
    return [value] if inside is None else [leaf for part in inside for leaf in leaves(part)]


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("jit", [False, "auto"])
def test_the_text_that_is_stepped_through_computes_the_derivative(name: str, jit: bool | str) -> None:
    function, args, wrt = SAMPLES[name]
    derived = symgrad.grad(function, wrt, jit=jit)
    for nans in (False, True):
        step = derived.debug(*args, debug_nans=nans)
        for ours, theirs in zip(leaves(step(*args)), leaves(derived(*args)), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.sweep(60)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_every_program_can_be_stepped_through(program: Any) -> None:
    args = program.arguments(program.sizes[-1])
    derived = symgrad.grad(program.function, program.wrt)
    step = derived.debug(*args)
    ours, theirs = leaves(step(*program.arguments(program.sizes[-1]))), leaves(derived(*program.arguments(program.sizes[-1])))
    for one, other in zip(ours, theirs, strict=True):
        if one is not None:
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_pdb_steps_through_the_statements() -> None:
    function, args, wrt = SAMPLES["gated"]
    step = symgrad.grad(function, wrt).debug(*args)
    typed = io.StringIO("\n".join([*["next"] * 4, "print('h is', h.tolist())", "list 1, 40", "continue"]) + "\n")
    shown = io.StringIO()
    debugger = pdb.Pdb(stdin=typed, stdout=shown, nosigint=True, readrc=False)
    debugger.use_rawinput = False
    debugger.runcall(step, *args)
    text = shown.getvalue()
    assert "-> for i in range(n):" in text
    assert "z_grad = h_grad * (1 - h * h)" in text


def test_values_from_outside_are_there() -> None:
    space: dict[str, Any] = {"np": np, "K": 2.0}
    derived = symgrad.grad(symgrad.from_source("def f(x): return np.sum(K * x * x)", globals=space))
    np.testing.assert_allclose(derived.debug(np.ones(2))(np.ones(2)), 4.0 * np.ones(2))


# ------------------------------------------------------------------ the first that is not finite


def root(x: Any) -> Any:
    y = x * x
    z = np.sqrt(y)
    return np.sum(z * 3.0)


def chain(x: Any, n: int) -> Any:
    h = x
    for _ in range(n):
        h = h * h
    return np.sum(np.log(h))


def test_the_first_variable_that_is_not_finite_is_named_with_its_line() -> None:
    x = np.array([1.0, 0.0])
    derived = symgrad.grad(root)
    with np.errstate(all="ignore"):
        assert not np.isfinite(derived(x)).all()
        with pytest.raises(FloatingPointError) as caught:
            derived.debug(x, debug_nans=True)(x)
    lines = str(caught.value).splitlines()
    assert lines[0].startswith("y_grad is not finite after y_grad = ")
    assert lines[1].endswith(f"test_debugging.py:{root.__code__.co_firstlineno + 2}")
    assert lines[2].strip() == "z = np.sqrt(y)"
    assert len(lines) == 3


def test_the_forward_half_is_named_too_where_it_began_there() -> None:
    x = np.array([1e200])
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="h was not finite before, after h = h \\* h") as caught:
        symgrad.grad(chain).debug(x, 3, debug_nans=True)(x, 3)
    assert f":{chain.__code__.co_firstlineno + 3}" in str(caught.value)


def test_what_is_finite_and_what_is_meant_to_be_infinite_passes() -> None:
    def masked(x: Any) -> Any:
        limit = np.full(2, -np.inf)
        return np.sum(np.maximum(x, limit) * 2.0)

    x = np.ones(2)
    np.testing.assert_array_equal(symgrad.grad(masked).debug(x, debug_nans=True)(x), [2.0, 2.0])


def test_what_the_function_raises_is_raised_and_tracing_is_left_as_it_was() -> None:
    import sys

    before = sys.gettrace()
    derived = symgrad.value_and_grad(symgrad.from_source("def f(x): return math.log(x)"))
    with pytest.raises(ValueError, match="math domain error"):
        derived.debug(1.0, debug_nans=True)(-1.0)
    assert sys.gettrace() is before
    assert derived.debug(1.0, debug_nans=True)(2.0) == (math.log(2.0), 0.5)


def test_without_arguments_it_is_that_of_the_latest_call() -> None:
    derived = symgrad.grad(root)
    derived(np.ones(2))
    np.testing.assert_allclose(derived.debug()(np.ones(2)), derived(np.ones(2)))
    assert symgrad.grad(root).debug(signature="f8[:]")(np.ones(1)) == 3.0


def scaled(x, power=2, /, scale=3.0, *rest, shift=1.0, **further):
    return np.sum(scale * x**power) + shift * x[0] + sum(rest) * x[1] + further.get("extra", 0.0) * x[0]


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("further", [{}, {"scale": 2.0}, {"shift": 2.0, "extra": 4.0}])
def test_the_defaults_of_the_function_are_those_of_the_text(further: dict[str, float], jit: bool | str) -> None:
    x = np.array([1.5, 2.0])
    derived = symgrad.grad(scaled, jit=jit)
    np.testing.assert_allclose(derived.debug(x, **further)(x, **further), derived(x, **further))


def test_methods_are_stepped_through() -> None:
    class Model:
        k = 3.0

        def loss(self, x: Any) -> Any:
            return np.sum(x * x * self.k)

    gradient = symgrad.grad(Model().loss)
    np.testing.assert_allclose(gradient.debug(np.ones(2))(np.ones(2)), gradient(np.ones(2)))


def branched(x, limit):
    if x > limit:
        return x * x
    return x


@pytest.mark.parametrize("verify", [True, False])
def test_the_first_call_runs_the_lines_of_the_function_for_coverage(verify: bool) -> None:
    """What docs/debugging.md says of coverage: by the comparison, and not of later calls."""
    first = branched.__code__.co_firstlineno
    lines: set[int] = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code is branched.__code__:
            lines.add(frame.f_lineno - first)
        return trace

    derivative = symgrad.grad(branched, verify=verify)
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        derivative(2.0, 1.0)
        derivative(0.5, 1.0)
    finally:
        sys.settrace(before)
    assert lines & {1, 2, 3} == ({1, 2} if verify else set())


def test_profilers_see_the_name_of_the_function() -> None:
    derivative = symgrad.grad(branched)
    derivative(2.0, 1.0)
    profile = cProfile.Profile()
    profile.runcall(derivative, 2.0, 1.0)

    assert "branched_grad" in {name for _, _, name in pstats.Stats(profile).stats}  # type: ignore[attr-defined]
    assert derivative.compiled(2.0, 1.0).__code__.co_qualname == "branched_grad"


def test_line_profilers_show_the_text_to_read_and_may_pad_the_function_that_is_differentiated() -> None:
    """line_profiler shows files whose names begin with ``<generated``, and appends NOPs to the code of what it profiles."""
    padded = types.FunctionType(branched.__code__, globals(), "branched")
    padded.__code__ = branched.__code__.replace(co_code=branched.__code__.co_code + 2 * bytes([dis.opmap["NOP"], 0]))
    step = symgrad.grad(padded).debug(2.0, 1.0)

    assert padded.__code__ != branched.__code__
    assert step.__code__.co_filename.startswith("<generated")
    assert "x_grad = 2 * x" in "".join(linecache.getlines(step.__code__.co_filename))
    assert step(2.0, 1.0) == symgrad.grad(branched)(2.0, 1.0) == 4.0
