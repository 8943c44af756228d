"""Every operator on every program of the corpus, compared with differences and with each other; also inside a function.

``test_forward.py``, ``test_jacobians.py``, ``test_columns.py``, ``test_sparse.py`` and ``test_batches.py`` hold ``jvp``, ``linearize``, the
matrices and ``vmap`` to the corpus; here are products with Hessians, linear functions as kernels, and reverse over forward in a function.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np
import programs_of_objects  # noqa: F401  # enters its programs
import pytest
from differences import derivative, direction_for, double, inner, same
from programs import PROGRAMS, Program
from test_corpus import positions, selected, tolerance, value_of
from test_forward import without_integers

import symgrad
from symgrad.errors import InvalidIR, Mismatch, SymgradError

SMOOTH = pytest.mark.parametrize("program", [p for p in PROGRAMS if p.second], ids=lambda p: p.name)
TARGETS = pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning", "ignore::symgrad.errors.NotCompiled")


@pytest.mark.sweep(300)
@TARGETS
@SMOOTH
def test_products_with_hessians_are_differences_of_gradients(program: Program, jit: bool) -> None:
    by, size = positions(program)[0], program.sizes[0]
    arguments = program.arguments(size)
    generator = np.random.default_rng(1)
    seed, direction = direction_for(arguments[by], generator), direction_for(arguments[by], generator)
    narrowed = Program(program.function, program.group, program.arguments, program.sizes, by, True)
    gradient = symgrad.grad(program.function, wrt=by)
    try:
        product = symgrad.hvp(program.function, wrt=by, jit=jit)(*arguments, **vector_of(program, direction))
    except SymgradError as refusal:
        with pytest.raises(type(refusal)):  # as the derivative of the gradient is
            symgrad.jvp(gradient, program.arguments(size), (without_integers(direction),), wrt=by)
        return
    expected = derivative(lambda t: inner(value_of(narrowed, size, gradient)((t,)), double(seed)), double(arguments[by]), double(direction))
    close = 10 * tolerance(selected(program, arguments))
    assert same(arguments, program.arguments(size)), "an argument was written to"
    assert inner(product, seed) == pytest.approx(expected, rel=close, abs=close)
    weighted = symgrad.vhp(program.function, wrt=by, jit=jit)
    other = weighted(*program.arguments(size), **vector_of(program, direction))
    assert inner(other, seed) == pytest.approx(inner(product, seed), rel=close * 1e-2, abs=close * 1e-2)


def vector_of(program: Program, direction: Any) -> dict[str, Any]:
    """The vector by its name."""
    names = program.function.__code__.co_varnames[: program.function.__code__.co_argcount]
    return {next(name for name in ("v", "vector", "direction") if name not in names): direction}


@pytest.mark.sweep(300)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_linear_functions_as_kernels_give_the_tangents(program: Program) -> None:
    pytest.importorskip("numba")
    arguments = program.arguments(program.sizes[0])
    chosen = selected(program, arguments)
    direction = without_integers(direction_for(chosen, np.random.default_rng(7)))
    tangent = symgrad.jvp(program.function, arguments, direction, wrt=positions(program))[1]
    try:
        _, linear = symgrad.linearize(program.function, *program.arguments(program.sizes[0]), wrt=positions(program), jit=True)
    except SymgradError as refusal:
        with pytest.raises(type(refusal)):
            symgrad.linearize(program.function, *program.arguments(program.sizes[0]), wrt=positions(program))
        return
    close = 1e-9 if tolerance(chosen) < 1e-6 else 1e-4
    assert [linear(*direction) for _ in range(2)] == pytest.approx([tangent, tangent], rel=close, abs=close)


def along(function: Callable[..., Any], by: tuple[int, ...], tangents: tuple[Any, ...], count: int) -> Callable[..., Any]:
    """The derivative of a function in a direction, as a function of its arguments that symgrad reads."""

    def one(a):
        return symgrad.jvp(function, (a,), tangents, wrt=by)[1]

    def two(a, b):
        return symgrad.jvp(function, (a, b), tangents, wrt=by)[1]

    def three(a, b, c):
        return symgrad.jvp(function, (a, b, c), tangents, wrt=by)[1]

    return (one, two, three)[count - 1]


@pytest.mark.sweep(300)
@TARGETS
@SMOOTH
def test_reverse_over_forward_in_a_function_is_the_product_with_the_hessian(program: Program, jit: bool) -> None:
    by, size = positions(program)[:1], program.sizes[0]
    arguments = program.arguments(size)
    generator = np.random.default_rng(1)
    tangent, direction = (without_integers(direction_for(arguments[by[0]], generator)) for _ in range(2))
    if has_no_floats(tangent):
        return
    inside = along(program.function, by, (tangent,), len(arguments))
    try:
        gradient = symgrad.grad(inside, wrt=by[0], jit=jit, allow_unused=True)(*arguments)
    except SymgradError as refusal:
        assert not isinstance(refusal, InvalidIR | Mismatch), refusal
        return
    product = symgrad.jvp(symgrad.grad(program.function, wrt=by[0]), program.arguments(size), (direction,), wrt=by)[1]
    close = tolerance(selected(program, arguments)) * 1e-1
    assert inner(gradient, direction) == pytest.approx(inner(product, tangent), rel=close, abs=close)


def has_no_floats(tree: Any) -> bool:
    """Is a direction empty, or an instance, which a test of leaves does not go into?"""
    return tree is None or isinstance(tree, types.SimpleNamespace)
