"""Saved sparse Jacobians and Hessians: modules that run without symgrad give the same matrices; refusals."""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, SaveError

sparse = pytest.importorskip("scipy.sparse")
SCALE = 1.5
POINTS = np.linspace(0.1, 1.0, 6)


def chain(u, k=2.0):
    return SCALE * k * u[:-1] ** 2 - np.sin(u[1:])


def rosenbrock(x):
    return np.sum((x[1:] - x[:-1] ** 2) ** 2)


def tree(p, x, *, scale=1.0):
    return {"squares": scale * p["w"] * x**2, "sum": np.sum(x) * p["w"][:1]}


def with_sum(x):
    return x**3, np.sum(x)


def branches(x):
    return x * x if x[0] > 0.0 else x * x[::-1]


def writes(x):
    x[0] = 2.0
    return x * x


CASES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "columns": (symgrad.jacobian(chain, "u", sparsity="auto"), (POINTS,)),
    "rows": (symgrad.jacobian(chain, "u", sparsity="auto", mode="reverse"), (POINTS, 3.0)),
    "pattern": (symgrad.jacobian(chain, "u", sparsity=np.eye(5, 6) + np.eye(5, 6, 1)), (POINTS,)),
    "tree": (symgrad.jacobian(tree, ("p", "x"), sparsity="auto"), ({"w": np.arange(3.0)}, np.ones(3))),
    "hessian": (symgrad.hessian(rosenbrock, sparsity="auto"), (POINTS,)),
    "auxiliary": (symgrad.jacobian(with_sum, has_aux=True, sparsity="auto"), (POINTS,)),
    "single": (symgrad.jacobian(chain, "u", sparsity="auto"), (POINTS.astype(np.float32),)),
    "nothing": (symgrad.jacobian(with_sum, has_aux=True, sparsity="auto"), (np.zeros(0),)),
}


def leaves(result: Any) -> list[Any]:
    """What stands in dicts and tuples."""
    items = result.values() if isinstance(result, dict) else result if isinstance(result, tuple) else None
    return [result] if items is None else [leaf for item in items for leaf in leaves(item)]


IMPORTING = """
import importlib, pickle, sys
with open("calls", "rb") as file:
    calls = pickle.load(file)
results = {name: getattr(importlib.import_module(name), function)(*args) for name, function, args in calls}
assert not [name for name in sys.modules if name.startswith("symgrad")]
with open("results", "wb") as file:
    pickle.dump(results, file)
"""


def test_a_module_gives_the_same_matrix_without_symgrad(tmp_path: Path) -> None:
    for name, (jacobian, args) in CASES.items():
        symgrad.save(jacobian, tmp_path / f"{name}.py", *args)
        symgrad.save(jacobian, tmp_path / f"{name}.py", *args)  # over what it has written before
    calls = [(name, jacobian.__name__, args) for name, (jacobian, args) in CASES.items()]
    (tmp_path / "calls").write_bytes(pickle.dumps(calls))
    run = subprocess.run([sys.executable, "-c", IMPORTING], cwd=tmp_path, capture_output=True, text=True, check=False, env={})
    assert run.returncode == 0, run.stderr
    results = pickle.loads((tmp_path / "results").read_bytes())
    for name, (jacobian, args) in CASES.items():
        for ours, expected in zip(leaves(results[name]), leaves(jacobian(*args)), strict=True):
            if not sparse.issparse(expected):
                assert ours == expected
                continue
            assert (type(ours), ours.shape, ours.dtype, ours.nnz) == (type(expected), expected.shape, expected.dtype, expected.nnz), name
            np.testing.assert_array_equal(ours.toarray(), expected.toarray(), err_msg=name)


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location("saved", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_later_calls(tmp_path: Path) -> None:
    jacobian, path = symgrad.jacobian(chain, "u", sparsity="auto"), tmp_path / "saved.py"
    symgrad.save(jacobian, path, POINTS)
    module = loaded(path)
    np.testing.assert_array_equal(module.chain_jacobian(2 * POINTS, k=0.5).toarray(), jacobian(2 * POINTS, k=0.5).toarray())
    with pytest.raises(ValueError, match=r"saved for arguments that give the shape \(5, 6\)"):
        module.chain_jacobian(np.ones(9))
    with pytest.raises(TypeError, match="was made for"):
        module.chain_jacobian([1.0, 2.0])
    module.check()


def test_a_pattern_of_other_values(tmp_path: Path) -> None:
    """The values of a later call take another branch, whose entries the pattern misses; saved for such values the module has them."""
    jacobian, path, other = symgrad.jacobian(branches, sparsity="auto"), tmp_path / "saved.py", -np.arange(1.0, 5.0)
    symgrad.save(jacobian, path, np.ones(4))
    np.testing.assert_array_equal(loaded(path).branches_jacobian(np.ones(4)).toarray(), 2.0 * np.eye(4))
    with pytest.raises(ValueError, match="misses an entry in row 0 for these arguments: save the matrix again"):
        loaded(path).branches_jacobian(other)
    symgrad.save(jacobian, path, other)
    np.testing.assert_array_equal(loaded(path).branches_jacobian(other).toarray(), jacobian(other).toarray())


def test_the_text(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    symgrad.save(symgrad.jacobian(chain, "u", sparsity="auto"), path, POINTS)
    text = path.read_text()
    assert "chain_jacobian_colors = np.array([\n    0, 1, 0, 1, 0, 1\n], int)" in text
    assert "chain_jacobian_plan = ('columns', chain_jacobian_rows, chain_jacobian_columns, (5, 6), chain_jacobian_colors)" in text


class Model:
    scale = 2.0

    def squares(self, x):
        return self.scale * x**2


def flat(x):
    return x**2


def test_what_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "saved.py"
    with pytest.raises(SaveError, match="no arguments are passed") as caught:
        symgrad.save(CASES["columns"][0], path)
    assert "symgrad.save(jacobian, path, *args)" in (caught.value.hint or "")
    with pytest.raises(SaveError, match="writes to its arguments") as caught:
        symgrad.save(symgrad.jacobian(writes, sparsity="auto"), path, np.ones(3))
    assert "symgrad.save(symgrad.jvp(f), path)" in (caught.value.hint or "")
    symgrad.save(symgrad.jvp(writes), path, np.ones(3))
    with pytest.raises(SaveError, match="two functions called flat"):
        symgrad.save(symgrad.jacobian(flat, sparsity="auto"), path, np.ones(3))
    with pytest.raises(BadArgument, match="misses an entry|no entry"):
        symgrad.save(symgrad.jacobian(chain, "u", sparsity=np.eye(5, 6)), path, POINTS)
    with pytest.raises(SaveError, match="depends on its instance"):
        symgrad.save(symgrad.jacobian(Model().squares, sparsity="auto"), path, np.ones(3))
    with pytest.raises(SaveError, match="runs several functions") as caught:
        symgrad.save(OfProcesses(), path)
    assert "symgrad.save(symgrad.grad(f), path)" in (caught.value.hint or "")


class OfProcesses:
    """Like a sum over the shards of a cluster."""

    __symgrad_refuses__ = ("it is computed by other processes", "call it")
