"""Type checkers on a user's program: correct calls pass, wrong calls are reported."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symgrad
from tests.stubs import stale

ROOT = Path(__file__).resolve().parent.parent
#: programs, and calls that are wrong, to be appended to them
PROGRAMS = {
    "typed_program.py": [
        "symgrad.grad(loss)(model)",
        "symgrad.grad(loss)(model, x, scale='two')",
        "symgrad.grad(loss)(model, x).nothing",
        "symgrad.value_and_grad(energy)('text')",
        "symgrad.grad(loss, strikt=True)",
        "symgrad.jacobian(layer)(np.ones(2))",
        "symgrad.linearize(energy)('text')",
        "stiffness.grad('text')",
        "stiffness.nothing",
        "spring.energy(point)",
        "spring.energy.grad('text', 1.0)",
        "double('text')",
        "block(np.ones(2))",
        "cube('text')",
        "unravel(vector).nothing",
    ],
    "typed_tensors.py": [
        "x.nothing",
        "x.sum(axes=0)",
        "x + 'text'",
        "paddle.add(x)",
        "paddle.exp('text')",
        "paddle.nothing",
        "nn.nothing",
        "static.nothing",
        "nn.functional.relu(x, 1.0)",
        "nn.Softmax(axes=1)",
        "paddle.add(x, data)",
        "largest('text')",
    ],
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_runs(name: str) -> None:
    runpy.run_path(str(Path(__file__).parent / name))
    assert (Path(symgrad.__file__).parent / "py.typed").is_file()


def test_the_stubs_of_tensors_say_what_the_signatures_say() -> None:
    assert not [path.name for path in stale()], "run: python -m tests.stubs --write"


@pytest.mark.slow
def test_the_stubs_of_tensors_have_the_names_of_the_modules(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    modules = ["symgrad.compat.paddle", "symgrad.vocabulary.methods", "symgrad.layers"]
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--ignore-missing-stub", *modules]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    # a method is its function, whose first parameter has another name than self; the last three are no names of the modules
    told = ('stub parameter "self" differs', "methods.Plain is not", "methods.S is not", "kinds.Pool@")
    assert not [line for line in run.stdout.splitlines() if not any(text in line for text in told)], run.stdout + run.stderr


def with_wrong_calls(name: str, folder: Path) -> tuple[Path, list[int]]:
    """A program with its wrong calls below, and their lines."""
    text = (Path(__file__).parent / name).read_text()
    path = folder / "program.py"
    path.write_text(text + "\n".join(PROGRAMS[name]) + "\n")
    first = text.count("\n") + 1
    return path, list(range(first, first + len(PROGRAMS[name])))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_mypy_in_its_strict_mode(name: str, tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    path, lines = with_wrong_calls(name, tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--follow-imports=silent"]
    command += ["--cache-dir", str(tmp_path / "cache"), str(path)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(ROOT)}, check=False)
    assert sorted({int(line) for line in re.findall(r"^program.py:(\d+): error", run.stdout, re.MULTILINE)}) == lines, run.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_pyright_in_its_strict_mode(name: str, tmp_path: Path) -> None:
    if (pyright := shutil.which("pyright")) is None:
        pytest.skip("pyright is not installed")
    path, lines = with_wrong_calls(name, tmp_path)
    settings = {"extraPaths": [str(ROOT)], "typeCheckingMode": "strict", "include": [path.name], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run = subprocess.run([pyright, "--pythonpath", sys.executable], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert sorted({int(line) for line in re.findall(r"program.py:(\d+):\d+ - error", run.stdout)}) == lines, run.stdout
