"""Results of functions: one number for a gradient; other results are refused at the return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import NotScalar

TARGETS = [False, "auto"]


def none_on_a_path(x):
    if x > 0:
        return None
    return x * x


def end_on_a_path(x):
    if x < 0:
        return x * x


def text_on_a_path(x):
    if x > 0:
        return "none"
    return x * x


def none(x):
    y = x * x  # noqa: F841


def text(x):
    return "x"


def a_list(x):
    return [x]


def a_tuple(x):
    return x, x


def a_dict(x):
    return {"x": x}


def unknown_array(x):
    return np.loadtxt(["1 2", "3 4"]) @ np.array([x, x])


def unknown_number(x):
    return np.loadtxt(["1 2"]) @ np.array([x, x])


def aux_of(function):
    return lambda x: (function(x), 1)


DERIVATIVES = {
    "grad": lambda f, x, jit: symgrad.grad(f, jit=jit)(x),
    "value_and_grad": lambda f, x, jit: symgrad.value_and_grad(f, jit=jit)(x),
    "has_aux": lambda f, x, jit: symgrad.grad(aux_of(f), has_aux=True, jit=jit)(x),
    "both": lambda f, x, jit: symgrad.value_and_grad(aux_of(f), has_aux=True, jit=jit)(x),
}


@pytest.mark.parametrize("jit", TARGETS)
@pytest.mark.parametrize("what", DERIVATIVES)
@pytest.mark.parametrize(
    "function",
    [none_on_a_path, end_on_a_path, text_on_a_path, none, text, a_list, a_tuple, a_dict, unknown_array],
    ids=lambda f: f.__name__,
)
def test_no_number_is_refused(function, what, jit):
    with pytest.raises(NotScalar) as refused:
        DERIVATIVES[what](function, 2.0, jit)
    assert "not one number" in str(refused.value)
    assert "test_results.py:" in str(refused.value)


@pytest.mark.parametrize("jit", TARGETS)
@pytest.mark.parametrize("what", DERIVATIVES)
def test_the_other_path_has_a_gradient(what, jit):
    for function in (none_on_a_path, end_on_a_path, text_on_a_path):
        gradient = DERIVATIVES[what](function, -2.0, jit)
        assert -4.0 in (gradient, *(gradient if isinstance(gradient, tuple) else ()))


@pytest.mark.parametrize("jit", TARGETS)
def test_unknown_numbers_are_taken(jit):
    assert symgrad.value_and_grad(unknown_number, jit=jit)(2.0) == (6.0, 3.0)


@pytest.mark.parametrize("jit", TARGETS)
def test_pullbacks(jit):
    for function in (none_on_a_path, text_on_a_path, none, text):
        with pytest.raises(NotScalar, match="the output is"):
            symgrad.vjp(function, 2.0, jit=jit)
    out, pullback = symgrad.vjp(unknown_array, 2.0, jit=jit)
    assert out.tolist() == [6.0, 14.0]
    assert pullback(np.array([1.0, 1.0])) == (10.0,)
    out, pullback = symgrad.vjp(a_tuple, 2.0, jit=jit)
    assert pullback((1.0, 2.0)) == (3.0,)


def test_a_refusal_can_be_followed():
    """The hint says to return a number on every path."""
    with pytest.raises(NotScalar, match="return a number on every path"):
        symgrad.grad(none_on_a_path)(2.0)

    def mended(x):
        if x > 0:
            return 0.0 * x
        return x * x

    assert symgrad.grad(mended)(2.0) == 0.0


def test_inside_another_derivative():
    def outer(x):
        return symgrad.grad(unknown_array)(x) + x

    with pytest.raises((NotScalar, TypeError), match="not one number"):
        symgrad.grad(outer)(2.0)


def test_the_readable_form_and_the_second_derivative_look_too():
    assert "check_result(" in symgrad.grad(none_on_a_path).source(1.0)
    second: Any = symgrad.grad(symgrad.grad(none_on_a_path))
    assert second(-2.0) == 2.0
    with pytest.raises(NotScalar):
        second(2.0)


def test_a_saved_module_looks_too(tmp_path):
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(none_on_a_path), path, -2.0)
    space: dict[str, Any] = {"__name__": "saved"}
    exec(path.read_text(encoding="utf-8"), space)
    assert space["none_on_a_path_grad"](-2.0) == -4.0
    with pytest.raises(TypeError, match="not one number"):
        space["none_on_a_path_grad"](2.0)
