"""Tracebacks of refusals: the user's own frames, and one hidden frame of symgrad."""

from __future__ import annotations

import math
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from test_errors import PROVOKED, square, unsupported_syntax

import symgrad
from symgrad import eager, static
from symgrad.errors import InvalidIR, SymgradError
from symgrad.location import OWN_FILES, Loc
from symgrad.vocabulary import tensors

PACKAGE = str(Path(symgrad.__file__).parent)


@pytest.fixture(autouse=True)
def gradients_checked() -> None:
    """Derivatives are called as users call them, without the frames of checks."""


def caught(function: Callable[[], Any]) -> Exception:
    """The exception that a call raises."""
    try:
        function()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def frames(error: BaseException) -> list[FrameType]:
    """The frames of an exception, the outermost first."""
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


def ours(error: BaseException) -> list[FrameType]:
    """Those of symgrad, generated code included."""
    return [frame for frame in frames(error) if frame.f_code.co_filename.startswith((PACKAGE, *OWN_FILES))]


class Model:
    @symgrad.differentiable
    def loss(self, x):
        return {x * x, x}


def tensor() -> eager.Tensor:
    return eager.to_tensor([1.0, 2.0], stop_gradient=False)


def in_program(function: Callable[[static.Variable], Any]) -> None:
    static.enable_static()
    try:
        with static.program_guard(static.Program(), static.Program()):
            function(static.data("x", [2], "float64"))
    finally:
        static.disable_static()


REFUSED: dict[str, Callable[[], Any]] = {
    **PROVOKED,
    "call": lambda: symgrad.grad(unsupported_syntax)(1.0),
    "arguments": lambda: symgrad.grad(square)(1.0, 2.0),
    "grad": lambda: symgrad.grad(square, wrt="q"),
    "value_and_grad": lambda: symgrad.value_and_grad(3),
    "vjp": lambda: symgrad.vjp(unsupported_syntax, 1.0),
    "differentiable": lambda: symgrad.differentiable(wrt="q")(square),
    "source": lambda: symgrad.grad(unsupported_syntax).source(1.0),
    "ir": lambda: symgrad.grad(unsupported_syntax).ir(1.0),
    "compiled": lambda: symgrad.grad(unsupported_syntax).compiled(1.0),
    "explain": lambda: symgrad.explain(unsupported_syntax, 1.0),
    "show_ir": lambda: symgrad.show_ir(unsupported_syntax, 1.0),
    "save": lambda: symgrad.save(square, "never_written.py"),
    "second": lambda: symgrad.grad(unsupported_syntax).grad(1.0),
    "bound": lambda: Model().loss.grad(1.0),
    "bound source": lambda: Model().loss.grad.source(1.0),
    "from_source": lambda: symgrad.from_source("def f(x:"),
    "elementwise": lambda: symgrad.elementwise(square, "square(x)", dy="1"),
    "rule": lambda: symgrad.rule("f(x)", x_grad="nothing(x)")(square),
    "constant": lambda: symgrad.constant("f(y, z)")(square),
    "custom_vjp": lambda: symgrad.custom_vjp(square, square),
    "check_grads": lambda: symgrad.check_grads(unsupported_syntax, (1.0,)),
    "operator": lambda: tensor() + np.ones(3),
    "function": lambda: tensors.add(tensor(), np.ones(3)),
    "function of one": lambda: tensors.exp("text"),
    "method": lambda: tensor().matmul(np.ones(3)),
    "reduction": lambda: tensor().sum(axis=7),
    "backward": lambda: tensor().backward(eager.to_tensor([1.0])),
    "set_value": lambda: tensor().set_value([1.0]),
    "eager.grad": lambda: eager.grad(tensor(), 3),
    "gradients": lambda: static.gradients(1, 2),
    "append_backward": lambda: in_program(lambda x: static.append_backward(3)),
    "run": lambda: in_program(lambda x: static.Executor().run(3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_shows_one_frame_of_ours_which_tools_hide(name: str) -> None:
    error = caught(REFUSED[name])

    assert len(ours(error)) == 1, "".join(traceback.format_exception(error))
    assert ours(error)[0] is frames(error)[-1]
    assert ours(error)[0].f_locals["__tracebackhide__"] is True
    assert error.__cause__ is not None or error.__suppress_context__


@pytest.mark.parametrize("name", ["call", "source", "explain", "vjp", "operator"])
def test_all_frames_are_shown_on_request(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_TRACEBACK", "full")

    assert len(ours(caught(REFUSED[name]))) > 2


def test_what_the_program_raises_itself_keeps_its_frames() -> None:
    def stops(x):
        if x > 1.0:
            raise ValueError("too large")
        return x * x

    derivative = symgrad.grad(stops)
    for value in (2.0, 2.0):  # when it is compiled, and when it is called again
        error = caught(lambda value=value: derivative(value))
        names = [frame.f_code.co_name for frame in ours(error)]
        assert (type(error), names) == (ValueError, ["stops_grad"])
        assert error.__notes__ == [f'in {__file__}:{stops.__code__.co_firstlineno + 2}\n    raise ValueError("too large")']
    assert derivative(0.5) == 1.0


def rooted(x):
    total = 0.0
    for k in range(len(x)):
        total += math.sqrt(x[k])
    return total


@pytest.mark.parametrize("kept", [False, True])
def test_an_exception_of_generated_code_names_the_line_of_the_users_own(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the text was kept on the disk by an earlier derivative, and where an attempt in fast code came before."""
    if kept:
        pytest.importorskip("numba")
        monkeypatch.setenv("SYMGRAD_CACHE_DIR", str(tmp_path))
    line = rooted.__code__.co_firstlineno + 3
    for _ in range(2):
        derivative = symgrad.grad(rooted, jit=kept)
        derivative(np.array([1.0, 4.0]))
        for _ in range(2):
            error = caught(lambda derivative=derivative: derivative(np.array([1.0, -4.0])))
            assert isinstance(error, ValueError)
            assert error.__notes__ == [f"in {__file__}:{line}\n    total += math.sqrt(x[k])"]
            assert error.__context__ is None
            assert {frame.f_code.co_name for frame in ours(error)} == {"rooted_grad"}


def test_the_context_that_the_program_sees_is_kept() -> None:
    derivative = symgrad.grad(rooted)
    for _ in range(2):
        try:
            raise KeyError("outer")
        except KeyError as outer:
            error = caught(lambda: derivative(np.array([1.0, -4.0])))
            assert isinstance(error, ValueError)
            assert error.__context__ is outer


def test_all_frames_of_what_the_program_raises_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_TRACEBACK", "full")
    derivative = symgrad.grad(rooted)

    assert "guard" in [frame.f_code.co_name for frame in ours(caught(lambda: derivative(np.array([1.0, -4.0]))))]


def test_an_error_of_a_kernel_is_not_the_context_of_the_programs_own() -> None:
    pytest.importorskip("numba")

    def picks(x, k):
        return x[k] * x[k]

    derivative = symgrad.grad(picks, jit=True)
    derivative(np.ones(3), 1)
    error = caught(lambda: derivative(np.ones(3), 5))
    assert isinstance(error, IndexError)
    assert error.__context__ is None


def test_a_fault_of_ours_keeps_all_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: Any, **kwargs: Any) -> None:
        raise InvalidIR("a fault", Loc("", 0))

    monkeypatch.setattr("symgrad.compile.lower", fails)

    assert len(ours(caught(lambda: symgrad.grad(lambda x: x * x * 3.0)(1.0)))) > 3


def test_the_class_stands_once_before_the_message(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import symgrad\n\n\ndef f(x):\n    y = x\n    exec('y = 2')\n    return y\n\n\nsymgrad.grad(f)(1.0)\n")
    told = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env={"PYTHONPATH": str(Path(PACKAGE).parent)})

    lines = told.stderr.splitlines()
    shown = [line for line in lines if line.startswith("  File ")]
    assert len(shown) == 2, told.stderr
    assert "<symgrad guard f>" in shown[1]
    (message,) = [line for line in lines if "UnsupportedSyntax:" in line]
    assert (
        message
        == "symgrad.errors.UnsupportedSyntax: exec reads the variables of the running function, and a derivative is another function"
    )


@pytest.mark.parametrize("name", PROVOKED)
def test_a_message_does_not_begin_with_its_class(name: str) -> None:
    error = caught(PROVOKED[name])

    assert isinstance(error, SymgradError)
    assert str(error).startswith(error.what)
    assert not str(error).startswith(name)
    assert str(error).count(f"{name}:") == sum(type(other).__name__ == name for other in error.others)
