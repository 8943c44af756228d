"""The programs in the documents run, and their commands print what they say."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize("document", ["README.md", "docs/adding.md", "docs/static_and_eager.md"])
def test_programs_run(document: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    path = tmp_path / "program.py"
    path.write_text("\n".join(blocks))
    spec = importlib.util.spec_from_file_location("program", path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


def test_the_first_command() -> None:
    (command,) = re.findall(r"&& python -m symgrad (show \S+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    made = subprocess.run([sys.executable, "-m", "symgrad", *command.split()], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    for word in ("def loss(", "value:", "gradient:", "def loss_grad("):
        assert word in made.stdout


@pytest.mark.parametrize("document", ["README.md", *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(document: str) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)", (ROOT / document).read_text()):
        assert ((ROOT / document).parent / target).exists(), target
