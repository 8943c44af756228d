"""The text to read keeps the user's statements, names temporaries, and computes the same as the code that runs."""

from __future__ import annotations

import ast
import copy
import inspect
import math
import re
import textwrap
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy as xp
import pytest
from programs import PROGRAMS, Program

import symgrad
from symgrad.codegen.texts import Emitted
from symgrad.pipeline.loading import Later

HALF = 0.5
#: names that say nothing
NAMELESS = re.compile(r"\bt_\d+\b")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Emitted, bool]]:
    """The text of a derivative that is read, with its globals, and whether it keeps the user's."""
    seen: list[tuple[Emitted, bool]] = []

    def keep(later: Later) -> Emitted:
        reading = None if later.reading is None else later.reading(None)
        seen.append((reading or later.readable(), reading is not None))
        return seen[-1][0]

    monkeypatch.setattr(Later, "shown", keep)

    def source(derivative: Any, *arguments: Any) -> tuple[Emitted, bool]:
        derivative.source(*arguments)
        return seen[-1]

    return source


def run(emitted: Emitted, *arguments: Any) -> Any:
    """What the function of a text returns."""
    namespace = {"np": np, "math": math, **emitted.namespace}
    exec(compile(emitted.text, "<text>", "exec"), namespace)
    (*_, name) = [node.name for node in ast.parse(emitted.text).body if isinstance(node, ast.FunctionDef)]
    return namespace[name](*arguments)


def leaves(value: Any) -> list[Any]:
    """The numbers and arrays in a result."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    if value is None:
        return []
    return leaves(list(vars(value).values())) if hasattr(value, "__dict__") else [value]


def assignments(text: str) -> list[str]:
    """The assignments of a text, as Python prints them."""
    return [ast.unparse(node) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Assign | ast.AugAssign)]


@pytest.mark.sweep(10)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_texts_compute_what_runs(program: Program, shown: Callable[..., tuple[Emitted, bool]]) -> None:
    arguments = program.arguments(program.sizes[0])
    if len(inspect.signature(program.function).parameters) > len(arguments):
        pytest.skip("defaults stand in the signature of the guard")
    derivative = symgrad.value_and_grad(program.function, argnums=program.wrt)
    expected = leaves(derivative(*copy.deepcopy(arguments)))

    emitted, _ = shown(derivative, *arguments)

    actual = leaves(run(emitted, *copy.deepcopy(arguments)))
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    own = re.search(r"\bt\b", inspect.getsource(program.function))
    assert own or not NAMELESS.search(emitted.text)


def jacobi(a, b, n):
    for _ in range(n):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a[1:-1] = 0.5 * (b[:-2] + b[2:])
    return np.sum(a)


def factored(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, n):
            a[i, j] -= a[i, :i] @ a[:i, j]
    return np.sum(a)


def pendulum(q, p, n):
    h = 1.0 / n
    energy = 0.0
    for i in range(n):
        qm = q + 0.5 * h * p
        p = p - h * math.sin(qm)
        q = qm + 0.5 * h * p
        energy = energy + 0.5 * p * p - math.cos(q)
    return energy


def softened(x, weight):
    top = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - top)
    s = np.sum(e, axis=-1, keepdims=True)
    return np.sum(weight * (e / s))


def views(x, w):
    head = x[1:]
    tail = x[:-1]
    y = head * w + tail * tail
    z = np.zeros(3)
    z[0] = np.sum(y)
    z[1:] += y[:2] * HALF
    return np.sum(z * z)


def filtered(params, ys):
    a, b, q = params
    n, m = ys.shape
    x = low = 0.0
    p, s = 1.0, q
    for t in range(n):
        x = a * x
        p = a * p * a + q
        k = p / (p + b)
        x = x + k * (ys[t, 0] - x)
        p = (1.0 - k) * p
        low, s = s, low + x * p
    return x * p + low + m * s


def stepped(x, stiffness):
    dt, mass = 0.02, 1.5
    steps = 3
    n = len(x)
    v = np.zeros(n)
    for _ in range(steps):
        force = -stiffness * max(np.sum(x), 0.1) * x
        v += dt * force / mass
        x = x + dt * v if x[0] > 0 else x - dt * v
    return np.sum(x * x)


def centred(x):
    x = x - np.mean(x)
    y = np.exp(x)
    x = x * y
    return np.sum(x * x)


A = np.array([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.1, 0.3, 1.8]])
X = np.array([0.7, -0.3, 1.1, 0.4])


@pytest.mark.parametrize(
    ("function", "arguments", "wrt"),
    [
        (jacobi, (X, X[::-1].copy(), 2), (0, 1)),
        (factored, (A,), 0),
        (pendulum, (0.4, 0.1, 3), (0, 1)),
        (softened, (A, A.T.copy()), 0),
        (views, (X, 1.5), (0, 1)),
        (filtered, (np.array([0.9, 0.4, 0.2]), A), 0),
        (centred, (X,), 0),
        (stepped, (X, 2.0), (0, 1)),
    ],
)
def test_statements_stand_as_they_were_written(
    function: Any, arguments: Any, wrt: Any, shown: Callable[..., tuple[Emitted, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SYMGRAD_CHECK", "1")  # what prevents the text is raised
    derivative = symgrad.value_and_grad(function, wrt=wrt)
    expected = leaves(derivative(*copy.deepcopy(arguments)))

    emitted, keeps = shown(derivative, *arguments)

    written = set(assignments(emitted.text))
    missing = [line for line in assignments(textwrap.dedent(inspect.getsource(function))) if line not in written]
    assert keeps and not missing
    assert function is views or "unbroadcast" not in emitted.text
    assert function in (pendulum, filtered, stepped) or "tape" not in emitted.text
    assert function is not filtered or "params_grad = np.array([a_grad, b_grad, q_grad])" in emitted.text
    for one, other in zip(leaves(run(emitted, *copy.deepcopy(arguments))), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def by_other_names(x):
    a = xp.exp(x) * xp.sum(x)
    b = HALF * a + math.pi
    return np.sum(b * b)


def test_modules_have_their_usual_names(shown: Callable[..., tuple[Emitted, bool]]) -> None:
    derivative = symgrad.value_and_grad(by_other_names)
    expected = derivative(X)

    emitted, keeps = shown(derivative, X)

    assert keeps and "a = np.exp(x) * np.sum(x)" in emitted.text and "b = HALF * a + math.pi" in emitted.text
    value, gradient = run(emitted, X)
    assert value == pytest.approx(expected[0])
    np.testing.assert_allclose(gradient, expected[1])


def hidden_names(np_, x):
    np = np_  # a number, and no module
    return np * x + np


def test_a_variable_called_as_a_module_is_no_module(shown: Callable[..., tuple[Emitted, bool]]) -> None:
    derivative = symgrad.value_and_grad(hidden_names, wrt=(0, 1))
    expected = derivative(2.0, 3.0)

    emitted, _ = shown(derivative, 2.0, 3.0)

    assert run(emitted, 2.0, 3.0) == expected


def reversed_order(x, w):
    y = x * w
    w = w + 1.0
    z = y * w
    w = w * 2.0
    return np.sum(z * w * y)


def test_text_reads_a_variable_as_it_is_there(shown: Callable[..., tuple[Emitted, bool]]) -> None:
    """A name that has another value by then is spelled otherwise."""
    derivative = symgrad.value_and_grad(reversed_order, wrt=(0, 1))
    expected = leaves(derivative(X, 1.5))

    emitted, _ = shown(derivative, X, 1.5)

    for one, other in zip(leaves(run(emitted, X, 1.5)), expected, strict=True):
        np.testing.assert_allclose(one, other)


def test_what_cannot_be_kept_is_shown_as_it_runs(shown: Callable[..., tuple[Emitted, bool]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal while the user's text is kept leaves the text that was there before."""
    from symgrad import compile as compiling
    from symgrad.errors import UnsupportedSyntax

    def refuse(*_: Any, **__: Any) -> types.NoneType:
        raise UnsupportedSyntax("no text is kept")

    derivative = symgrad.grad(pendulum)
    derivative(0.4, 0.1, 3)
    monkeypatch.delenv("SYMGRAD_CHECK", raising=False)
    monkeypatch.setattr(compiling, "lower", refuse)

    emitted, keeps = shown(derivative, 0.4, 0.1, 3)

    assert not keeps and run(emitted, 0.4, 0.1, 3) == pytest.approx(derivative(0.4, 0.1, 3))


def signed_sum(x, y):
    z = -2.5 * y
    return np.sum(np.exp(x) + -1.5 * y / 3.0) + np.sum(-(-0.5 * x * y) * z)


def test_a_negative_factor_is_subtracted() -> None:
    special = np.array([0.0, -0.0, 1.0, -3.0, math.inf, -math.inf, math.nan, 5e-324])
    x, y = (part.ravel() for part in np.meshgrid(special, special))
    derivative = symgrad.grad(signed_sum, wrt=("x", "y"))
    texts = [derivative.source(x, y), derivative.source(x, y, optimize="speed")]
    assert not any(re.search(r"\+=? -\d|-\(-\d", ast.unparse(ast.parse(text))) for text in texts)
    with np.errstate(all="ignore"):
        gradients = derivative(x, y)
        expected = np.exp(x) + 0.5 * y * (-2.5 * y), -0.5 + 0.5 * x * (-2.5 * y) + -2.5 * (0.5 * x * y)
    for gradient, by_hand in zip(gradients, expected, strict=True):
        np.testing.assert_array_equal(np.isnan(gradient), np.isnan(by_hand))
        np.testing.assert_allclose(gradient, by_hand, rtol=1e-14)


def refused_above(v):
    if v > 1.0:
        raise ValueError("big")
    return v * v


def handled(x):
    y = x
    for k in range(3):
        try:
            y = refused_above(y)
        except ValueError as error:
            y = y * 0.5 + len(str(error))
        y = y * x + k
    return y


def test_a_handler_asks_only_what_can_raise() -> None:
    """Products of floats raise no ``ValueError``: the branch that raises is the handler's test."""
    derivative = symgrad.value_and_grad(handled)
    for x in (0.6, 0.9, 1.2):
        value, slope = derivative(x)
        assert value == handled(x)
        assert slope == pytest.approx((handled(x + 1e-6) - handled(x - 1e-6)) / 2e-6, rel=1e-6)
    text = derivative.source()
    assert "failure" not in text and "isinstance" not in text
    assert text.count("> 1.0:") == 2
    assert " + len(" in text


def named_str(x, texts=("a", "bb")):
    return x * len(str(texts)) + x * max(map(len, map(str, texts)))


def test_builtins_that_numpy_has_had_are_not_asked_of_it() -> None:
    assert symgrad.value_and_grad(named_str)(0.7) == (named_str(0.7), named_str(1.0))


def rates(c, k):
    r1 = k[0] * c[0]
    r2 = k[1] * c[1] * c[0]
    return np.array([-r1 - r2, r1 - r2, 2.0 * r2])


def reaction(c, k, n):
    h = 0.1
    for _ in range(n):
        k1 = rates(c, k)
        k2 = rates(c + 0.5 * h * k1, k)
        c = c + h * k2
    return np.sum(c * c)


def smoothed(x, span):
    a = 2.0 / (span + 1.0)
    out = np.empty(len(x))
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = a * x[i] + (1.0 - a) * out[i - 1]
    return out


def crossing(x):
    return np.sum((smoothed(x, 3) - smoothed(x, 5)) ** 2)


def both(x, w):
    s = np.sin(x) * w
    t = np.cos(x) * s
    return s + t, s * t


def in_turn(x, w):
    a, b = both(x, w)
    c, d = both(a * 0.5, w + 1.0)
    return np.sum(a * b * c * d)


def scaled(x, w):
    x[0] *= w
    y = x * x
    y[-1] += w
    return y


def written_to(x, w):
    a = scaled(x, w)
    b = scaled(a, w)
    return np.sum(a * b)


def spread_out(x, n):
    y = np.zeros(n)
    y += x
    return y * y


def broadcast(x, n):
    a = spread_out(x[0], 1)
    b = spread_out(x[1], n)
    return np.sum(np.sin(a * b))


SCALE = 1.5


def outside(x, w):
    y = SCALE * x
    z = y * w
    return z * y


def read_outside(x, w):
    return np.sum(outside(x, w) * outside(x * x, w))


def halved(x, w):
    if w > 1.0:
        return x * w
    y = x / 2.0
    return y * y


def chosen(x, w):
    a = halved(x, w)
    b = halved(a, w - 1.0)
    return np.sum(a * b)


def once(x, w):
    y = halved(x, w)
    return np.sum(halved(y, w)) + np.max(halved(y, w))


def sum(x, w):
    y = np.tanh(x) * w
    z = y * y - x
    return z * y


def called_as_a_builtin(x, w):
    return np.sum(sum(x, w) * sum(x * w, w + 1.0))


def of_a_function(w):
    def inner(x):
        return np.sum(halved(x, w) * halved(x * x, w))

    return inner


@pytest.mark.parametrize(
    ("function", "arguments", "wrt", "kept"),
    [
        (called_as_a_builtin, (X, 1.5), (0, 1), ()),
        (of_a_function(0.5), (X,), 0, ()),
        (reaction, (X[:3].copy(), X[1:3].copy(), 3), (0, 1), ("k1 = rates(c, k)", "k2 = rates(c + 0.5 * h * k1, k)")),
        (crossing, (X,), 0, ("def smoothed_grad(x, span, out_grad):",)),
        (in_turn, (X, 1.5), (0, 1), ("a, b = both(x, w)",)),
        (in_turn, (X, 1.5), 1, ()),
        (chosen, (X, 1.5), (0, 1), ()),
        (once, (X, 0.5), (0, 1), ()),
        (written_to, (X, 1.5), (0, 1), None),
        (broadcast, (X, 3), 0, ()),
        (read_outside, (X, 1.5), (0, 1), ()),
        (crossing, (X.astype(np.float32),), 0, ()),
        (in_turn, (X[:0], 1.5), (0, 1), ()),
        (in_turn, (X[:1], 1.5), (0, 1), ()),
    ],
)  # fmt: skip
def test_functions_called_at_several_places_are_called(
    function: Any, arguments: Any, wrt: Any, kept: tuple[str, ...] | None, shown: Callable[..., tuple[Emitted, bool]]
) -> None:
    """Their gradients stand in the text once; a function that writes to its argument is inlined."""
    for derive in (symgrad.value_and_grad, symgrad.grad):
        derivative = derive(function, wrt=wrt)
        expected = leaves(derivative(*copy.deepcopy(arguments)))

        emitted, keeps = shown(derivative, *arguments)

        assert keeps and all(line in emitted.text for line in kept or ())
        assert kept is not None or emitted.text.count("def ") == 1
        if kept:
            (name,) = re.findall(r"def (\w+)_grad\(", emitted.text)[:1]
            assert emitted.text.count(f"def {name}_grad") == 1 and f"def {name}(" not in emitted.text
        for one, other in zip(leaves(run(emitted, *copy.deepcopy(arguments))), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-6 if arguments[0].dtype == np.float32 else 1e-12)
            assert np.shape(one) == np.shape(other) and np.asarray(one).dtype == np.asarray(other).dtype


def weighted_path(x, weights):
    length = 0.0
    for i in range(1, len(x)):
        length += (x[i] - x[i - 1]) ** 2
    return length * weights["length"] + weights["scale"] * x[0]


def layered(layers, x):
    for layer in layers:
        x = np.tanh(layer["w"] * x)
    return x.sum()


def moved_on(state, n):
    q = state["q"]
    p = state["p"]
    for _ in range(n):
        p = p - 0.1 * np.sin(q)
        q = q + 0.1 * p
    return q * state["scale"]


@pytest.mark.parametrize(
    ("function", "arguments", "wrt", "named"),
    [
        (weighted_path, (X, {"length": 2.0, "scale": 0.5}), (0, 1), ('weights_length = weights["length"]', 'scale = weights["scale"]')),
        (weighted_path, (X[:1], {"length": 2.0, "scale": 0.5}), 0, ('weights_length = weights["length"]',)),
        (layered, ([{"w": 0.5}, {"w": 1.5}], X), (0, 1), ('layers_0_w = layers[0]["w"]', 'layers_1_w = layers[1]["w"]')),
        (moved_on, ({"q": 0.3, "p": 0.1, "scale": 2.0}, 4), 0, ('q = state["q"]', "q = q + 0.1 * p", "p = p - 0.1 * np.sin(q)")),
    ],
)
def test_parts_of_arguments_are_named_after_their_paths_where_the_last_word_is_ambiguous(
    function: Any, arguments: Any, wrt: Any, named: tuple[str, ...], shown: Callable[..., tuple[Emitted, bool]]
) -> None:
    derivative = symgrad.value_and_grad(function, wrt=wrt)
    value, gradient = derivative(*copy.deepcopy(arguments))
    assert value == pytest.approx(function(*copy.deepcopy(arguments)))
    emitted, _ = shown(derivative, *arguments)
    lines = [line.strip() for line in emitted.text.splitlines()]
    assert [line for line in named if line not in lines] == [] and "_old" not in emitted.text
    for one, other in zip(leaves(run(emitted, *copy.deepcopy(arguments))), leaves((value, gradient)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
