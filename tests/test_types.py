"""What type checkers say of a user's program: that it is right, and which wrong calls are wrong."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import symgrad

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(__file__).parent / "typed_program.py"
#: calls that are wrong, to be appended to the program
WRONG = [
    "symgrad.grad(loss)(model)",
    "symgrad.grad(loss)(model, x, scale='two')",
    "symgrad.grad(loss)(model, x).nothing",
    "symgrad.value_and_grad(energy)('text')",
    "symgrad.grad(loss, strikt=True)",
    "symgrad.jacobian(layer)(np.ones(2))",
    "block(np.ones(2))",
    "cube('text')",
    "unravel(vector).nothing",
]


def test_the_program_runs() -> None:
    runpy.run_path(str(PROGRAM))
    assert (Path(symgrad.__file__).parent / "py.typed").is_file()


def program_with_wrong_calls(folder: Path) -> tuple[Path, list[int]]:
    """The program with the wrong calls below, and their lines."""
    text = PROGRAM.read_text()
    path = folder / "program.py"
    path.write_text(text + "\n".join(WRONG) + "\n")
    first = text.count("\n") + 1
    return path, list(range(first, first + len(WRONG)))


@pytest.mark.slow
def test_mypy_in_its_strict_mode(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    path, lines = program_with_wrong_calls(tmp_path)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        "",
        "--follow-imports=silent",
        "--cache-dir",
        str(tmp_path / "cache"),
    ]
    run = subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": str(ROOT)}, check=False)
    assert sorted({int(line) for line in re.findall(r"^program.py:(\d+): error", run.stdout, re.MULTILINE)}) == lines, run.stdout


@pytest.mark.slow
def test_pyright_in_its_strict_mode(tmp_path: Path) -> None:
    if (pyright := shutil.which("pyright")) is None:
        pytest.skip("pyright is not installed")
    path, lines = program_with_wrong_calls(tmp_path)
    settings = {"extraPaths": [str(ROOT)], "typeCheckingMode": "strict", "include": [path.name], "reportUnusedExpression": False}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    run = subprocess.run([pyright, "--pythonpath", sys.executable], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert sorted({int(line) for line in re.findall(r"program.py:(\d+):\d+ - error", run.stdout)}) == lines, run.stdout
