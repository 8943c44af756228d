"""``no_grad``: all ways to assign and read a variable; names that are not variables."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad


class Record:
    """An object with attributes."""


def named(x: Any) -> Any:
    return (y := x * x) * x


def stored_in_a_dict(x: Any) -> Any:
    y = {}
    y["a"] = x * x
    return y["a"] * x


def stored_in_a_list_of_lists(x: Any) -> Any:
    y = [[x, x], [x]]
    y[0][1] = x * x
    return y[0][1] * x


def stored_in_an_object(x: Any) -> Any:
    y = Record()
    y.a = x * x  # type: ignore[attr-defined]
    return y.a * x  # type: ignore[attr-defined]


def appended(x: Any) -> Any:
    y = []
    for k in range(12):
        y.append(x * x / 12)
        y[k] += 0.0
    return sum(y) * x


def written_by_numpy(x: Any) -> Any:
    y = np.zeros(1)
    np.add(y, x * x, out=y)
    return np.sum(y) * x


def written_through_a_view(x: Any) -> Any:
    y = np.zeros(2)
    part = y[1:]
    part[:] = x * x
    return np.sum(y) * x


def written_by_a_function(x: Any) -> Any:
    y = np.zeros(1)

    def put(array: Any) -> None:
        array[:] = x * x

    put(y)
    return np.sum(y) * x


def branched(x: Any) -> Any:
    y = {"a": x * x} if x > 5.0 else {"a": x * x}
    return y["a"] * x


@pytest.mark.parametrize("function", [named, stored_in_a_dict, stored_in_a_list_of_lists, stored_in_an_object, appended, written_by_numpy,
                                      written_through_a_view, written_by_a_function, branched])  # fmt: skip
def test_no_derivative_flows_through_a_variable_whoever_writes_to_it(function: Callable[..., Any]) -> None:
    """Each is ``y * x`` with ``y = x * x`` held constant."""
    assert np.isclose(symgrad.grad(function, no_grad="y")(3.0), 9.0)
    assert np.isclose(symgrad.jvp(function, (3.0,), (1.0,), no_grad="y")[1], 9.0)


def test_the_same_as_a_kernel() -> None:
    pytest.importorskip("numba")
    assert np.isclose(symgrad.grad(appended, no_grad="y", jit="numba")(3.0), 9.0)


def of_inner_names(x: Any) -> Any:
    def inner(z: Any) -> Any:
        w = z * x
        return w * w

    return inner(sum(a * a for a in (x, x)))


@pytest.mark.parametrize("name", ["missing", "inner", "z", "w", "a", "np"])
@pytest.mark.parametrize("derive", [symgrad.grad, symgrad.hessian, symgrad.linearize])
def test_what_is_no_variable_of_the_function_is_refused(derive: Callable[..., Any], name: str) -> None:
    with pytest.raises(symgrad.errors.BadArgument, match=f"no variable '{name}'"):
        derive(of_inner_names, no_grad={name})


@pytest.mark.parametrize("function", [functools.partial(named), symgrad.vmap(named)])
def test_variables_of_a_wrapped_function_are_no_variables_of_the_wrapper(function: Callable[..., Any]) -> None:
    with pytest.raises(symgrad.errors.BadArgument, match="stop_gradient"):
        symgrad.grad(function, no_grad="y")


def product(x: Any, w: Any) -> Any:
    return x * x * w


def test_a_parameter_is_left_out_of_wrt() -> None:
    with pytest.raises(symgrad.errors.BadArgument, match="leave x out of wrt"):
        symgrad.grad(product, wrt=("x", "w"), no_grad="x")
    with pytest.raises(symgrad.errors.BadArgument, match="leave x out of wrt"):
        symgrad.vjp(product, 3.0, 2.0, no_grad="x")
    assert symgrad.grad(product, wrt="w", no_grad="x")(3.0, 2.0) == 9.0


def test_a_derivative_has_no_variables() -> None:
    with pytest.raises(symgrad.errors.BadArgument, match="inner one"):
        symgrad.grad(symgrad.grad(named), no_grad="y")
    assert symgrad.grad(symgrad.grad(named, no_grad="y"), allow_unused=True)(3.0) == symgrad.hessian(named, no_grad="y", allow_unused=True)(
        3.0
    )
