"""Realistic programs from many fields, never adapted to symgrad: correct on NumPy, most of them compiled.

The table says what is not compiled yet, with a part of the message that comes instead: whoever mends one takes its entry out.
``python -m tests.realistic.run`` prints what becomes of all, with times.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import warnings
from types import ModuleType

import pytest

import symgrad
from symgrad.errors import NotCompiled
from tests.realistic.run import NAMES, TOLERANCE, disagreement

#: programs that run as NumPy code with ``jit=True``
UNCOMPILED = {
    "chess": "operations, which numba would take minutes to compile",
    "ekf": "operations, which numba would take minutes to compile",
    "huckel": "a text or a set that is computed",
    "karplus_strong": "a call of np.random.RandomState",
    "shortest_path": "a call of with_tuples",
    "spectral_loss": "arrays of complex128",
}


def program(name: str) -> ModuleType:
    return importlib.import_module(f"tests.realistic.{name}")


def check(name: str, jit: bool) -> list[str]:
    """The program's value and gradient, against the program and its differences; the notices of what is not compiled."""
    module = program(name)
    arguments = module.arguments()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("always")
        value, gradients = symgrad.value_and_grad(module.loss, wrt=module.WRT, jit=jit)(*arguments)
        plain = module.loss(*module.arguments())
    assert value == pytest.approx(plain, rel=1e-10)
    assert disagreement(module.loss, module.WRT, module.arguments(), gradients) < TOLERANCE
    assert [w.message for w in caught if not isinstance(w.message, NotCompiled)] == []
    return [str(w.message) for w in caught]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", NAMES)
def test_right_on_numpy(name: str) -> None:
    assert check(name, jit=False) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in UNCOMPILED])
def test_compiled(name: str) -> None:
    pytest.importorskip("numba")
    assert check(name, jit=True) == []
    derived = symgrad.value_and_grad(program(name).loss, wrt=program(name).WRT, jit=True)
    assert "_kernel(" in derived.source(*program(name).arguments())


@pytest.mark.slow
@pytest.mark.parametrize("name", UNCOMPILED)
def test_not_compiled_with_this_notice(name: str) -> None:
    pytest.importorskip("numba")
    (notice,) = check(name, jit=True)
    assert UNCOMPILED[name] in notice
