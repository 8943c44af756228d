"""Saved modules: they need NumPy only, give the same gradients, check themselves, and can be differentiated again."""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SaveError
from symgrad.testing import check_grads

X = np.array([0.3, 0.7, 1.1])
SCALE = 2.5
TABLE = np.ones(3)
SINGLE = np.float32(0.5)
quietly = symgrad.elementwise("quietly(x) = log(1 + exp(x))")


@symgrad.elementwise(dx="1 - out * out")
def declared(x):
    return np.tanh(x)


def plain(x, w=0.5):
    h = x
    for i in range(3):
        h = np.tanh(w * h + x)
        h[0] = h[1] * x[i]
    return np.sum(h) * SCALE * math.sin(w)


def repeated(x, where):
    y = np.zeros(4)
    y[where] = x * x
    return np.sum(y[where] * x)


def broadcast(x, w):
    return np.sum(quietly(x[:, None] * w) ** 2)


def branches(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0.5:
            continue
        total += x[i] ** 3
        if total > 10.0:
            break
    return total


def trees(p, x):
    return np.sum(np.tanh(p["w"] * x + p["b"][0]) * p["b"][1])


def written(x):
    x[0] = x[1] * x[2]
    return np.sum(x**2)


def single(x):
    return np.sum(np.exp(x) * SINGLE)


def keyword(x, *rest, k=2.0, **more):
    return np.sum(x * rest[0]) * k * more["m"]


WHERE = np.array([0, 2, 2])
P = {"w": X, "b": (0.5, 2.0)}
PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any], Any]] = {
    "plain": (plain, (X, 0.4), {}, (0, 1)),
    "repeated indices": (repeated, (X, WHERE), {}, 0),
    "broadcast": (broadcast, (X, np.array([0.5, 0.25])), {}, (0, 1)),
    "branches": (branches, (X, 3), {}, 0),
    "trees": (trees, (P, X), {}, ("p", "x")),
    "written": (written, (X,), {}, 0),
    "single precision": (single, (X.astype(np.float32),), {}, 0),
    "keywords": (keyword, (X, 2.0), {"k": 3.0, "m": 1.5}, 0),
}


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(one: Any, other: Any) -> None:
    if isinstance(one, dict):
        assert list(one) == list(other)
        one, other = list(one.values()), list(other.values())
    if isinstance(one, tuple | list):
        for a, b in zip(one, other, strict=True):
            same(a, b)
        return
    np.testing.assert_allclose(one, other, rtol=1e-12)


def run(path: Path) -> str:
    """Run a file where symgrad cannot be found."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([sys.executable, "-P", path.name], cwd=path.parent, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", PROGRAMS)
def test_saved_and_read_back(name: str, tmp_path: Path) -> None:
    function, args, kwargs, wrt = PROGRAMS[name]
    derived = symgrad.grad(function, wrt)
    expected = derived(*args, **kwargs)
    path = tmp_path / "saved.py"
    symgrad.save(derived, path)
    assert "symgrad" not in [line.split()[1] for line in path.read_text().splitlines() if line.startswith(("import ", "from "))]
    saved = getattr(load(path), f"{function.__name__}_grad")
    same(saved(*args, **kwargs), expected)
    if name != "keywords":  # whose arguments cannot all be given by position
        assert "agrees" in run(path)


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n != "keywords"])
def test_a_saved_gradient_is_differentiated_again(name: str, tmp_path: Path) -> None:
    function, args, kwargs, wrt = PROGRAMS[name]
    derived = symgrad.grad(function, wrt)
    path = tmp_path / "saved.py"
    symgrad.save(derived, path, *args, **kwargs)
    read = symgrad.from_source(path.read_text(), f"{function.__name__}_grad")
    same(read(*args), derived(*args))
    check_grads(getattr(load(path), function.__name__), args, order=2 if isinstance(wrt, int) else 1)
    check_grads(read, args)


@pytest.mark.parametrize("what", ["value_and_grad", "vjp", "second", "has_aux"])
def test_the_other_forms(what: str, tmp_path: Path) -> None:
    def cube(x):
        return x**3 * SCALE

    def pair(x):
        return np.sum(x**2), x * 2.0

    path = tmp_path / "saved.py"
    match what:
        case "value_and_grad":
            derived = symgrad.value_and_grad(plain, (0, 1))
            symgrad.save(derived, path, X, 0.4)
            same(load(path).plain_value_and_grad(X, 0.4), derived(X, 0.4))
        case "vjp":
            differentiable = symgrad.differentiable(lambda_vector, wrt=(0, 1))
            symgrad.save(differentiable.vjp, path, X, 0.4)
            out, pullback = load(path).lambda_vector_vjp(X, 0.4)
            expected_out, expected = differentiable.vjp(X, 0.4)
            same(out, expected_out)
            same(pullback(X), expected(X))
        case "second":
            derived = symgrad.grad(symgrad.grad(cube))
            symgrad.save(derived, path, 1.5)
            same(load(path).cube_grad_grad(1.5), 6.0 * 1.5 * SCALE)
        case "has_aux":
            derived = symgrad.grad(pair, has_aux=True)
            symgrad.save(derived, path, X)
            same(load(path).pair_grad(X), derived(X))
    assert "agrees" in run(path)


def lambda_vector(x, w):
    return np.sin(x) * w


def test_types_are_held_to(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(plain), path, X, 0.4)
    saved = load(path).plain_grad
    for args in ((np.ones((3, 3)), 0.4), (X.astype(np.float32), 0.4), (np.ones(1), 0.4), ([1.0, 2.0, 3.0], 0.4), (X, 2)):
        with pytest.raises(TypeError, match="made for"):
            saved(*args)


def test_defaults_are_those_of_the_moment(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(plain), path, X, 0.4)
    saved = load(path).plain_grad
    same(saved(X, 0.4, SCALE=5.0), 2.0 * saved(X, 0.4))
    same(saved(X), symgrad.grad(plain)(X))


def test_without_arguments_by_signature(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.grad(plain), path, signature="f8[:], float")
    assert "agrees" in run(path)


def look(g):
    assert g == 1.0


@dataclass
class Model:
    rate: float


MODEL = Model(2.0)


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: np.sum(x * TABLE), "TABLE"),
        (lambda x: np.sum(declared(x)), "declared"),
        (lambda x: symgrad.on_backward(np.sum(x), look), "look"),
    ],
)
def test_what_has_no_text_is_refused_by_name(function: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(SaveError, match=name):
        symgrad.save(symgrad.grad(function), tmp_path / "saved.py", X)
    assert not list(tmp_path.iterdir())


def test_scalars_of_objects_are_written(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    derived = symgrad.grad(lambda x: np.sum(x**2) * MODEL.rate)
    symgrad.save(derived, path, X)
    (saved,) = [v for k, v in vars(load(path)).items() if k.endswith("_grad")]
    same(saved(X), 4.0 * X)


def test_a_function_argument_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SaveError, match="act"):
        symgrad.save(symgrad.grad(lambda x, act: np.sum(act(x))), tmp_path / "saved.py", X, np.sin)


def test_text_cannot_become_code(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    evil = '"""\nimport os\nos.abort()\n"""'

    def f(x, word):
        return np.sum(x**2) if word else x[0]

    f.__qualname__ = evil
    symgrad.save(symgrad.grad(f), path, X, evil)
    assert "agrees" in run(path)
