"""The README's commands, example output and lists of names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import symgrad

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def run(*command: str, place: Path = ROOT) -> str:
    """What a Python program prints, with symgrad at hand."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=place, env={**os.environ, "PYTHONPATH": path})
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def blocks(kind: str) -> list[str]:
    """The fenced blocks of a kind."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_first_two_commands_install_and_run_by_themselves() -> None:
    commands = re.findall(r"^    (.+)$", README, re.MULTILINE)

    assert commands[0] == "python -m pip install . && python -m symgrad show examples/rosenbrock.py:loss"
    assert commands[1] == 'python -m pip install ".[test]" && python -m pytest -n 2'


def test_the_example_prints_what_is_shown(tmp_path: Path) -> None:
    (tmp_path / "example.py").write_text(blocks("python")[0])

    assert run("example.py", place=tmp_path).rstrip() == blocks("text")[0].rstrip()


@pytest.mark.parametrize("name", [n for n in symgrad.__all__ if n != "SymgradError"])
def test_every_public_name_is_listed(name: str) -> None:
    assert re.search(rf"`@?(?:symgrad\.)?{name}\b", README), f"the README does not mention {name}"
