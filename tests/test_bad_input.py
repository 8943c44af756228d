"""Bad input to operators: each kind gives an error that names the leaf, for each operator that takes tangents, vectors or axes."""

from __future__ import annotations

import re

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, UnsupportedSyntax

X = np.array([0.3, 0.5, 0.7])
P = {"w": X, "b": [X.copy(), 0.5]}


def loss(p):
    return np.sum(p["w"] ** 2) * p["b"][1] + np.sum(p["b"][0] * p["w"])


TAKING = {
    "jvp": lambda direction: symgrad.jvp(loss, (P,), (direction,)),
    "linearize": lambda direction: symgrad.linearize(loss, P)[1](direction),
    "hvp": lambda direction: symgrad.hvp(loss, P, direction),
    "vhp": lambda direction: symgrad.vhp(loss, P, direction),
}
#: directions that do not fit, with what the message says of the leaf, or of the tree around it
BAD = {
    "a shorter array": ({"w": np.ones(2), "b": [X, 0.5]}, r"\['w'\]"),
    "an array of another rank": ({"w": X, "b": [np.ones((3, 1)), 0.5]}, r"\['b'\]\[0\]"),
    "a complex array": ({"w": X + 0j, "b": [X, 0.5]}, r"\['w'\]"),
    "a number for an array": ({"w": 1.0, "b": [X, 0.5]}, r"\['w'\]"),
    "an array for a number": ({"w": X, "b": [X, np.ones(2)]}, r"\['b'\]\[1\]"),
    "a key less": ({"w": X}, r"the keys \['w', 'b'\]|\['b'\]"),
    "another key": ({"w": X, "c": [X, 0.5]}, r"the keys \['w', 'b'\]|\['b'\]"),
    "an item less": ({"w": X, "b": [X]}, r"\['b'\]"),
    "a number for a list": ({"w": X, "b": 3.0}, r"\['b'\]"),
    "None for an array": ({"w": None, "b": [X, 0.5]}, r"\['w'\]"),
    "a text": ({"w": "x", "b": [X, 0.5]}, r"\['w'\]"),
    "no tree": (X, r"the keys \['w', 'b'\]|\['w'\]"),
    "None": (None, r"the keys \['w', 'b'\]|\['w'\]"),
}


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("operator", TAKING)
def test_a_direction_that_does_not_fit_is_named_by_its_leaf(operator, kind):
    direction, said = BAD[kind]
    with pytest.raises((BadArgument, ValueError), match=said):
        TAKING[operator](direction)
    TAKING[operator]({"w": X, "b": [X, 1.0]})  # in the form of the argument, as the message says


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        (0, "axis 0 of w has 3 examples, and axis 0 of x has 4"),
        (1, "w has no axis 1"),
        ((None, 2), "x has no axis 2"),
        ((None, 0, 0), "in_axes of .* has 3 items, and 2 arguments"),
        ("x", "not 'x'"),
        ((None, {"a": 0}), "in_axes is {'a': 0} for x"),
        (None, "no argument"),
    ],
)
def test_axes_that_an_argument_does_not_have(axes, said):
    with pytest.raises((BadArgument, ValueError), match=said):
        symgrad.vmap(lambda w, x: np.sum(w * x), in_axes=axes)(X, np.ones((4, 3)))


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        (1, "the result has no axis 1"),
        ("x", "not 'x'"),
        ({"a": 0}, "out_axes is {'a': 0} for the result"),
        ((0, 0), "out_axes is (0, 0)"),
    ],
)
def test_axes_that_a_result_does_not_have(axes, said):
    with pytest.raises(BadArgument, match=re.escape(said)):
        symgrad.vmap(lambda w, x: np.sum(w * x), in_axes=(None, 0), out_axes=axes)(X, np.ones((4, 3)))


def tree_of_results(x):
    return {"a": np.sin(x), "b": [x * 2.0, np.sum(x)]}


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("seed", "said"), [
    ({"a": np.ones(3)}, "the seed of out has the keys 'a', and the result 'a', 'b'"),
    ({"a": np.ones(3), "b": [np.ones(3), 1.0], "c": 0.0}, "the seed of out has the keys 'a', 'b', 'c', and the result 'a', 'b'"),
    ({"a": np.ones(3), "b": [np.ones(3)]}, "the seed of out['b'] has 1 item, and the result 2"),
    ({"a": np.ones(3), "b": [np.ones(3), 1.0, 2.0]}, "the seed of out['b'] has 3 items, and the result 2"),
    ({"a": np.ones(3), "b": 1.0}, "the seed of out['b'] is of the class float, and the result has 2 items"),
    ([np.ones(3), [np.ones(3), 1.0]], "the seed of out is of the class list, and the result a dict"),
])  # fmt: skip
def test_seeds_have_the_structure_of_the_result(jit, seed, said):
    _, pullback = symgrad.vjp(tree_of_results, np.ones(3), jit=jit)
    with pytest.raises((TypeError, ValueError), match=re.escape(said)):
        pullback(seed)
    assert pullback({"a": np.ones(3), "b": (np.ones(3), 1.0)})[0] == pytest.approx(3.0 + np.cos(np.ones(3)))


@pytest.mark.parametrize(("leaf", "seed", "error"), [
    ("['a']", {"a": np.ones(2), "b": [np.ones(3), 1.0]}, ValueError),
    ("['b'][0]", {"a": np.ones(3), "b": [np.ones((3, 1)), 1.0]}, ValueError),
    ("['b'][1]", {"a": np.ones(3), "b": [np.ones(3), np.ones(3)]}, ValueError),
    ("['b'][0]", {"a": np.ones(3), "b": [None, 1.0]}, TypeError),
    ("['a']", {"a": 1j, "b": [np.ones(3), 1.0]}, TypeError),
])  # fmt: skip
def test_a_seed_that_does_not_fit_is_named_by_its_place_in_the_result(leaf, seed, error):
    _, pullback = symgrad.vjp(tree_of_results, np.ones(3))
    with pytest.raises(error) as caught:
        pullback(seed)
    assert f"the seed of out{leaf} is" in str(caught.value)


def result(x):
    return np.sin(x) * x[0]


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (np.ones((2, 3)), r"the seed is f64\[.*\], and the result is f64\[.*\]"),
        (np.ones(2), "the seed has another shape than the result"),
        (np.ones(3) * 1j, "the seed is complex, and the result is real"),
        ("a text", "the seed is neither a number nor an array"),
        (None, "the seed is neither a number nor an array"),
    ],
    ids=["more axes", "shorter", "complex", "text", "None"],
)
def test_a_seed_inside_a_function_fits_its_result(seed, said):
    """It is never broadcast to more than the result, which would add up several gradients."""
    with pytest.raises((BadArgument, ValueError), match=said):
        symgrad.grad(lambda x: np.sum(symgrad.vjp(result, x)[1](seed)[0]))(X)


@pytest.mark.parametrize("vector", [2.0, np.ones(1), np.ones((1, 3)), "x", [1.0, 2.0, 3.0]], ids=["number", "one", "row", "text", "list"])
def test_a_vector_inside_a_function_has_the_shape_of_the_gradient(vector):
    for product in (symgrad.hvp, symgrad.vhp):
        with pytest.raises((BadArgument, ValueError), match="the vector (is|has)"):
            symgrad.grad(lambda x, product=product: np.sum(product(lambda y: np.sum(y**3), x, vector)))(X)


def test_seeds_inside_a_function_are_broadcast_to_the_result_as_outside():
    for seed in (2.0, 2, np.full(1, 2.0), np.full(3, 2.0), [2.0, 2.0, 2.0]):
        gradient = symgrad.grad(lambda x, seed=seed: np.sum(symgrad.vjp(result, x)[1](seed)[0]))(X)
        np.testing.assert_allclose(gradient, symgrad.grad(lambda x: np.sum(symgrad.grad(lambda y: np.sum(2.0 * result(y)))(x)))(X))


@pytest.mark.parametrize("name", ["has_aux", "allow_unused", "strict", "holomorphic", "no_grad", "jit", "verify"])
def test_options_of_another_kind_are_refused_by_name(name):
    with pytest.raises(BadArgument, match=name):
        symgrad.grad(result, **{name: 3})
    if name in ("jit", "verify"):
        with pytest.raises(BadArgument, match=name):
            symgrad.vmap(result, **{name: 3})


@pytest.mark.parametrize("settings", [
    {"order": 1.5}, {"order": 4}, {"modes": "forward"}, {"modes": None}, {"directions": 0}, {"directions": 1.5}, {"seed": -1}, {"seed": "a"},
    {"tolerance": -1.0}, {"tolerance": "a"}, {"wrt": 1.5}, {"wrt": {"x"}}, {"args": X},
], ids=str)  # fmt: skip
def test_what_check_grads_cannot_do_is_refused(settings):
    with pytest.raises(BadArgument):
        symgrad.check_grads(loss if "args" not in settings else result, **{"args": (P,), **settings})


def test_check_grads_takes_a_function():
    with pytest.raises(BadArgument, match=r"3\.0 is not a function"):
        symgrad.check_grads(3.0, (X,))


LISTED = [0.1 * k for k in range(12)]


def cubes(p):
    return sum(a * a * a for a in p)


def test_the_tangent_of_a_list_inside_a_function_is_a_list_of_its_length():
    with pytest.raises(ValueError, match="another length than its argument"):
        symgrad.grad(lambda p: symgrad.jvp(cubes, (p,), (p[1:],))[1])(LISTED)
    with pytest.raises(UnsupportedSyntax, match="its tangent is not a list of floats"):
        symgrad.grad(lambda p: symgrad.jvp(cubes, (p,), (np.array(p),))[1])(LISTED)
    gradient = symgrad.grad(lambda p: symgrad.jvp(cubes, (p,), (p,))[1])(LISTED)
    np.testing.assert_allclose(gradient, 9.0 * np.array(LISTED) ** 2)
    by_arrays = symgrad.grad(lambda p: symgrad.jvp(cubes, (np.array(p),), (np.array(p),))[1])(LISTED)
    np.testing.assert_allclose(by_arrays, gradient)
