"""The command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from symgrad.__main__ import main

PROGRAM = """
import numpy as np

def loss(x, w):
    return np.sum(w * x ** 2)

def wrong(x):
    return np.sum(np.linalg.eigvals(x).real)

example_arguments = {"loss": (np.array([1.0, 2.0]), 3.0)}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program_for_cli.py"
    path.write_text(PROGRAM)
    return str(path)


def test_show(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss"]) == 0
    shown = capsys.readouterr().out
    for part in ("def loss(x, w):", "value:", "15.0", "gradient:", "6.", "12.", "def loss_grad(x, w"):
        assert part in shown


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--sig", "f8[:], float"], "def loss_grad"),
        (["--sig", "f8, f8"], "def loss_grad"),
        (["--args", "np.ones(2), 2.0", "--wrt", "w"], "2.0"),
        (["--wrt", "x,w"], "(array("),
        (["--ir"], "func loss"),
        (["--stage", "lowered"], "func loss"),
        (["--stage", "lowered,optimized"], "+++ optimized"),
        (["--value"], "def loss_value_and_grad"),
    ],
)
def test_show_options(program: str, options: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss", *options]) == 0
    assert part in capsys.readouterr().out


def test_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["gradient"] == [6.0, 12.0]
    assert facts["value"] == 15.0


def test_check(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{program}:loss", "--order", "2"]) == 0
    assert "agrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["show", "{}:wrong", "--args", "np.eye(2)"], 1),
        (["show", "{}:nowhere"], 2),
        (["show", "nowhere.py:f"], 2),
        (["show", "no.such.module:f"], 2),
        (["show", "f"], 2),
        (["check", "{}:wrong"], 2),
        (["show", "{}:loss", "--args", "1 +"], 2),
        (["show", "{}:loss", "--args", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0"], 2),
    ],
)
def test_exit_codes(program: str, command: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.format(program) for part in command]) == code
    assert capsys.readouterr().err


def test_usage() -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2


def test_as_a_program(program: str) -> None:
    run = subprocess.run([sys.executable, "-m", "symgrad", "show", f"{program}:loss"], capture_output=True, text=True)
    assert run.returncode == 0
    assert "def loss_grad" in run.stdout
