"""Derivatives in other processes: pickled by name or by value."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symgrad
from symgrad import errors, static

cloudpickle = pytest.importorskip("cloudpickle")
HERE = Path(__file__).parent
PROGRAM = HERE / "travelling_program.py"
ALL = ["decorated", "second", "named", "lambda", "closure", "method", "declared", "recursive", "kinds", "text", "guarded"]
FEW = ["decorated", "method", "guarded"]


def run(*command: str, code: str | None = None) -> str:
    """What a program prints that runs with warnings as errors."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent.parent)}
    told = subprocess.run(
        [sys.executable, "-W", "error", *command], input=code, capture_output=True, text=True, timeout=120, env=environment
    )
    assert told.returncode == 0, told.stderr
    return told.stdout


def arrived(*ways: str) -> list[str]:
    """The lines that the program prints for these ways to go."""
    return run(str(PROGRAM), *ways).splitlines()


# ------------------------------------------------------------------ round trips of functions of a program


def test_derivatives_of_a_program_travel_to_its_processes() -> None:
    lines = arrived("fork", "spawn", "forkserver", "executor", "threads")

    few = ("fork", "forkserver", "executor", "threads")
    assert sorted(lines) == sorted([f"spawn {name}" for name in ALL] + [f"{way} {name}" for way in few for name in FEW])


def test_derivatives_of_a_program_travel_to_workers_of_joblib() -> None:
    pytest.importorskip("joblib")

    assert sorted(arrived("loky")) == sorted(f"loky {name}" for name in ALL)


def test_derivatives_of_a_program_travel_to_workers_of_dask() -> None:
    pytest.importorskip("dask")

    assert sorted(arrived("dask")) == sorted(f"dask {name}" for name in ALL)


@pytest.mark.slow
def test_kernels_of_a_program_travel() -> None:
    pytest.importorskip("joblib")
    pytest.importorskip("numba")

    assert arrived("kernels") == []


SENDER = """
import sys, cloudpickle, symgrad
def f(x):
    return scale * helper(x)
def helper(x):
    return x * x
scale = 5.0
derivative = symgrad.grad(f)
out, pullback = symgrad.vjp(f, 2.0)
with open(sys.argv[1], "wb") as stream:
    cloudpickle.dump((derivative, pullback, {"f": f}), stream)
"""
RECEIVER = """
import sys, pickle
with open(sys.argv[1], "rb") as stream:
    derivative, pullback, held = pickle.load(stream)
print(derivative(2.0), pullback(1.0)[0], derivative.grad(2.0))
import inspect
print(inspect.getsource(derivative._function).splitlines()[1].strip())
"""


def test_the_text_goes_with_the_function(tmp_path: Path) -> None:
    program, data = tmp_path / "program.py", tmp_path / "data.pickle"
    program.write_text(SENDER)
    run(str(program), str(data))
    program.unlink()

    lines = run("-c", RECEIVER, str(data)).splitlines()
    assert lines[0] == "20.0 20.0 10.0"
    assert lines[1] == "return scale * helper(x)"


# ------------------------------------------------------------------ what a pickle is


SCALE = 3.0


def importable(x):
    return SCALE * x * x


def local_function(factor):
    def local(x, power=2):
        return factor * importable(x) * np.sin(x) ** power

    return local


def test_what_can_be_imported_travels_by_name() -> None:
    derivative = symgrad.grad(importable)
    data = pickle.dumps(derivative)

    assert pickle.loads(data) is derivative
    assert len(data) < 400


def test_what_comes_twice_is_one_derivative() -> None:
    derivative = symgrad.grad(local_function(2.0))
    first, second = (pickle.loads(pickle.dumps(derivative)) for _ in range(2))

    assert first is second
    assert first(0.7) == derivative(0.7)
    assert pickle.loads(pickle.dumps(symgrad.grad(local_function(3.0)))) is not first


def test_a_module_registered_for_travel_by_value_travels_by_value() -> None:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        again = pickle.loads(pickle.dumps(symgrad.grad(importable)))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])

    assert again is not symgrad.grad(importable)
    assert again(2.0) == 12.0


def test_copies_are_the_derivative_itself() -> None:
    derivative = symgrad.grad(lambda x: x * x)

    assert copy.deepcopy({"d": derivative})["d"] is derivative
    assert copy.copy(derivative) is derivative


def test_a_decorated_function_keeps_its_derivatives() -> None:
    @symgrad.differentiable
    def local(x):
        return x**3 if x > 1.0 else local(x + 1.0)

    again = cloudpickle.loads(cloudpickle.dumps(local))
    assert (again(2.0), again.grad(2.0), again.grad.grad(2.0), again.value_and_grad(2.0)) == (8.0, 12.0, 12.0, (8.0, 12.0))
    arrived = pickle.loads(pickle.dumps(local.grad))
    assert arrived._function.grad is arrived


DECLARING = """
import math, sys, pickle, textwrap
from textwrap import dedent as straighten
import numpy as np
import symgrad

symgrad.constant(textwrap.dedent, "dedent(x)", result="x")      # a function of a library
nearest = np.vectorize(lambda x: float(round(x)))               # an object that no name leads to
symgrad.rule(nearest, "nearest(x)", x_grad="3 * out_grad", result="x")

@symgrad.elementwise(dx="11.0")
def eleven(x):
    return x

@symgrad.custom_vjp
def outer(x):
    return x

outer.defvjp(lambda x: (eleven(x), None), lambda residuals, out_grad: (out_grad * eleven_there(out_grad),))

@symgrad.constant
def eleven_there(x):
    return 11.0

def f(x):
    return outer(x) + np.sum(nearest(x)) + (straighten(x) if x < 0 else 0.0)

derivative = symgrad.grad(f)
print(derivative(2.0), pickle.dumps(derivative).hex())
"""
RECEIVING = """
import pickle, sys, textwrap
from symgrad.ops.declarations import declared
expected, data = sys.stdin.read().split()
derivative = pickle.loads(bytes.fromhex(data))
print(derivative(2.0) == float(expected) == 14.0, declared(textwrap.dedent) is not None)
"""


def test_declarations_travel_with_the_functions_that_rely_on_them(tmp_path: Path) -> None:
    program = tmp_path / "declaring.py"
    program.write_text(DECLARING)

    assert run("-c", RECEIVING, code=run(str(program))).split() == ["True", "True"]


def test_the_module_that_declares_is_imported_there(tmp_path: Path) -> None:
    (tmp_path / "declaring_module.py").write_text('import shlex\nimport symgrad\n\nsymgrad.constant(shlex.quote, "quote(x)", result="x")\n')
    sending = """
import pickle, sys
sys.path.insert(0, {place!r})
import declaring_module, shlex, symgrad
print(pickle.dumps(symgrad.grad(symgrad.from_source("def f(x): return x * shlex.quote(x)", globals={{"shlex": shlex}}))).hex())
"""
    receiving = """
import pickle, sys
sys.path.insert(0, {place!r})
pickle.loads(bytes.fromhex(sys.stdin.read()))
print("declaring_module" in sys.modules)
"""
    data = run("-c", sending.format(place=str(tmp_path)))
    assert run("-c", receiving.format(place=str(tmp_path)), code=data).strip() == "True"


def test_without_cloudpickle_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)

    with pytest.raises(errors.CloudpickleMissing, match="local cannot be imported by another process") as caught:
        pickle.dumps(symgrad.grad(local_function(2.0)))
    assert isinstance(caught.value, pickle.PicklingError)
    assert str(caught.value.hint).startswith("pip install cloudpickle")
    assert pickle.loads(pickle.dumps(symgrad.grad(importable)))(2.0) == 12.0


# ------------------------------------------------------------------ plain data


def test_names_of_a_program_are_copied_as_plain_data() -> None:
    program = static.Program()
    names = program.names
    assert [names.new("fc"), names.new("fc")] == ["fc_0", "fc_1"]
    twin = copy.deepcopy(names)
    names.after("fc", 7)

    assert (twin.new("fc"), names.new("fc")) == ("fc_2", "fc_8")
    assert pickle.loads(pickle.dumps(names)).new("fc") == "fc_9"


def test_code_of_which_the_file_is_not_told_is_found_among_the_texts_read_before(tmp_path: Path) -> None:
    """cloudpickle 3.1.3 names no file in the code that it writes; a user's own pickle of a function holds nothing else."""
    file = tmp_path / "travelled.py"
    file.write_text("import numpy as np\n\n\ndef other(x):\n    return x\n\n\ndef square(x):\n    return np.sum(x * x)\n")
    names: dict[str, object] = {"__name__": "travelled_by_itself"}
    exec(compile(file.read_text(), str(file), "exec"), names)
    assert symgrad.grad(names["other"])(2.0) == 1.0  # its file has been read
    square = names["square"]
    square.__code__ = square.__code__.replace(co_filename="<dynamic-code>")
    assert symgrad.grad(square)(3.0) == 6.0

    unread = {"__name__": "unread"}
    exec(compile("\n\ndef cube(x):\n    return x * x * x\n", "<dynamic-code>", "exec"), unread)
    with pytest.raises(errors.SourceNotFound, match="has kept no source of cube"):
        symgrad.grad(unread["cube"])(2.0)
