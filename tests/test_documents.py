"""The programs in the documents run, and their commands print what they say."""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from planted import planted

import symgrad
import symgrad.eager
from symgrad.errors import NotCompiled

ROOT = Path(__file__).parent.parent


@pytest.mark.parametrize(
    "document",
    [
        "README.md",
        "docs/adding.md",
        "docs/arguments.md",
        "docs/batches.md",
        "docs/checking.md",
        "docs/forward.md",
        "docs/jacobians.md",
        "docs/processes.md",
        "docs/static_and_eager.md",
        "docs/where.md",
    ],  # fmt: skip
)
def test_programs_run(document: str, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert blocks
    path = tmp_path / "program.py"
    path.write_text("\n".join(blocks))
    imported(path)


def test_the_page_of_jacobians_shows_what_is_emitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "jacobians.md").read_text()
    shown = SAMPLE.search(page)
    assert shown is not None
    path = tmp_path / "model.py"
    path.write_text("\n".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL)))
    imported(path)
    assert capsys.readouterr().out.strip() == shown["text"].strip()


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


ERRORS = ROOT / "docs" / "errors.md"
#: a sample, and what it prints
SAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<text>.*?)```", re.DOTALL)


def sections() -> dict[str, str]:
    """The sections of the page of errors; what stands before the first is the class of the documented API."""
    first, *rest = re.split(r"^## (\w+)$", ERRORS.read_text().partition("\n# Notices")[0], flags=re.MULTILINE)
    return {"ValueError": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


@pytest.mark.parametrize("name", [name for name in sections() if name != "InvalidIR"])
def test_the_page_of_errors_shows_what_they_print(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    (sample,) = SAMPLE.finditer(sections()[name])
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.py"
    path.write_text(sample["code"])
    if name == "StaleSource":
        loss = tmp_path / "loss.py"
        loss.write_text("def f(x):\n    return x * x\n")
        module = imported(loss)
        monkeypatch.setitem(sys.modules, "loss", module)
        loss.write_text("def f(x):\n    return x * y * x\n")
        linecache.checkcache()
    if name == "NumbaMissing":
        monkeypatch.setattr("symgrad.targets.has_numba", lambda: False)
    if name == "CloudpickleMissing":
        monkeypatch.setitem(sys.modules, "cloudpickle", None)
    given = {"np": np, "scipy": pytest.importorskip("scipy"), "symgrad": symgrad, "Tensor": symgrad.eager.Tensor, "save": symgrad.save}
    fault = planted("x * x", "x + x") if name == "Mismatch" else contextlib.nullcontext()
    with fault, pytest.raises(Exception) as caught:
        imported(path, grad=symgrad.grad, **given)
    said = str(caught.value).replace(f"{tmp_path}/", "")
    said = f"{type(caught.value).__name__}: {said}"
    said = "\n".join(line.rstrip() for line in said.splitlines()) + "\n"

    if request.config.getoption("--update-golden"):
        whole = ERRORS.read_text()
        ERRORS.write_text(whole.replace(sample[0], sample[0].replace(f"```text\n{sample['text']}", f"```text\n{said}")))
    assert type(caught.value).__name__ == name
    assert said == sample["text"]


def test_the_page_of_errors_shows_what_a_notice_prints(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    (sample,) = SAMPLE.finditer(ERRORS.read_text().partition("\n# Notices")[2])
    path = tmp_path / "model.py"
    path.write_text(sample["code"])
    with pytest.warns(NotCompiled) as told:
        imported(path, grad=symgrad.grad, np=np)

    assert f"NotCompiled: {told[0].message}\n".replace(f"{tmp_path}/", "") == sample["text"]


def imported(path: Path, **given: object) -> ModuleType:
    """The module that a file holds, with some names that it does not define."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(given)
    spec.loader.exec_module(module)
    return module
