"""Programs from NumPy functions: variables have the names of the source, and gradients refer to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.errors import SymgradError
from symgrad.static import Program, append_backward, gradients, program_guard

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
W = np.array([[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]])


def layered(x: Any, w: Any) -> Any:
    h = np.tanh(x @ w)
    scale = np.sum(h) * 2.0
    for _ in range(2):
        h = h * h
    kept = h + 1.0
    kept[0] = 3.0
    total = np.sum(kept) * scale
    return total, h


def program_of_layers() -> Program:
    return Program.from_function(layered, x="f8[:, 3]", w=W)


def values(w: Any) -> tuple[Any, Any]:
    h = np.tanh(X @ w)
    scale = np.sum(h) * 2.0
    h = h**4
    return (6.0 + np.sum(h[1] + 1.0)) * scale, h


def test_variables_have_the_names_of_the_source() -> None:
    program = program_of_layers()
    block = program.global_block()
    assert block.var("x").shape == (-1, 3)
    assert block.var("w").shape == (3, 2)
    assert {"h", "scale", "kept", "total", "out"} <= set(block.vars)
    actual = program.run({"x": X, "w": W}, ["total", "h", "out"])
    assert actual[0] == pytest.approx(values(W)[0])
    assert actual[1] == pytest.approx(values(W)[1])
    assert actual[2] == pytest.approx(values(W)[0])


def test_gradients_go_to_arguments_and_to_what_is_inside() -> None:
    program = program_of_layers()
    block = program.global_block()
    with program_guard(program):
        total = block.var("total")
        actual = gradients(total, [block.var(name) for name in ("w", "h", "scale", "kept")])
    assert all(g is not None for g in actual)
    w, h, scale, kept = program.run({"x": X, "w": W}, actual)
    expected = np.zeros_like(W)
    for place in np.ndindex(W.shape):
        step = np.zeros_like(W)
        step[place] = 1e-6
        expected[place] = (values(W + step)[0] - values(W - step)[0]) / 2e-6
    assert w == pytest.approx(expected, abs=1e-7)
    size = 2.0 * np.sum(np.tanh(X @ W))
    assert h == pytest.approx(np.array([[0.0, 0.0], [1.0, 1.0]]) * size)
    assert scale == pytest.approx(values(W)[0] / size)
    assert kept == pytest.approx(np.full((2, 2), size))


def test_cuts_and_what_does_not_depend() -> None:
    program = program_of_layers()
    block = program.global_block()
    with program_guard(program):
        assert gradients(block.var("h"), block.var("scale")) == [None]
        assert gradients(block.var("scale"), block.var("kept")) == [None]
        (through,) = gradients(block.var("total"), block.var("w"), no_grad_set=["scale"])
        pairs = append_backward(block.var("total"), ["w", "h"])
    assert [g.name for _, g in pairs] == ["grad/grad/grad/grad/w@GRAD", "grad/grad/grad/grad/h@GRAD"]
    (actual,) = program.run({"x": X, "w": W}, [through])
    size = 2.0 * np.sum(np.tanh(X @ W))
    inside = np.tanh(X @ W)
    expected = X[1][:, None] * (4 * inside[1] ** 3 * (1 - inside[1] ** 2) * size)
    assert actual == pytest.approx(expected)


def test_the_source_is_python() -> None:
    program = program_of_layers()
    text = program.source(["total"])
    assert text.startswith("def program(x, w):")
    assert "np.tanh" in text
    compile(text, "<text>", "exec")


def test_other_shapes_are_compiled_anew() -> None:
    program = program_of_layers()
    assert program.run({"x": X[:1], "w": W}, ["h"])[0] == pytest.approx(np.tanh(X[:1] @ W) ** 4)
    assert program.run({"x": X[:0], "w": W}, ["h"])[0].shape == (0, 2)


def test_numbers() -> None:
    def powers(x: Any, n: Any) -> Any:
        y = x
        for _ in range(int(n)):
            y = y * x
        return y

    program = Program.from_function(powers, x="f8[:]", n="int")
    with program_guard(program):
        (slope,) = gradients(program.global_block().var("out"), program.global_block().var("x"))
    assert [v.tolist() for v in program.run({"x": [2.0, 1.0], "n": 3}, ["out", slope])] == [[16.0, 1.0], [32.0, 4.0]]


@pytest.mark.parametrize("types", [{}, {"x": "f8[:]"}, {"x": "f8[:]", "w": "f8[:]", "z": 1}, {"x": "what", "w": "f8"}])
def test_types_that_do_not_fit(types: Any) -> None:
    with pytest.raises(SymgradError):
        Program.from_function(layered, **types)


def test_what_gives_no_array_is_refused() -> None:
    def names(x: Any) -> Any:
        return "text"

    with pytest.raises(SymgradError):
        Program.from_function(names, x="f8")


def test_a_clone_is_differentiated_too() -> None:
    program = program_of_layers().clone()
    with program_guard(program):
        (actual,) = gradients(program.global_block().var("total"), program.global_block().var("scale"))
    assert program.run({"x": X, "w": W}, [actual])[0] == pytest.approx(values(W)[0] / (2.0 * np.sum(np.tanh(X @ W))))
    assert static.default_main_program() is not program
