"""The programs of the documentation run, and its commands print the documented output."""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from pages import renewed, run_page
from planted import planted

import symgrad
import symgrad.eager
from symgrad.errors import NotCompiled

ROOT = Path(__file__).parent.parent


#: pages whose programs other tests run: those of errors are wrong on purpose, those of the language are a table of examples
TESTED_ELSEWHERE = {"docs/errors.md", "docs/language.md"}
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("**/*.md"))]
WITH_PROGRAMS = [p for p in PAGES if p not in TESTED_ELSEWHERE and re.search("^```(python|console)$", (ROOT / p).read_text(), re.MULTILINE)]

#: pages whose programs start pools of processes
STARTS_POOLS = {"docs/clusters.md"}


@pytest.mark.parametrize("document", [pytest.param(p, marks=[pytest.mark.slow] if p in STARTS_POOLS else []) for p in WITH_PROGRAMS])
def test_programs_run_and_print_what_is_shown(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    page = (ROOT / document).read_text()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    shown = run_page(page, tmp_path / ("example.py" if document == "README.md" else "model.py"))

    if request.config.getoption("--update-golden"):
        (ROOT / document).write_text(renewed(page, shown))
    assert [place.printed for place in shown] == [place.text for place in shown]


def test_what_a_page_shows_is_held_to_what_is_printed(tmp_path: Path) -> None:
    page = (
        "```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n\n```python\n# other.py\nprint('other')\n```\n\n"
        "```python\nprint(x + 1)\n```\n\n```console\n$ python other.py\nanother\n```\n"
    )
    shown = run_page(page, tmp_path / "model.py")

    assert [(place.text, place.printed) for place in shown] == [
        ("2\n", "1\n"),
        ("$ python other.py\nanother\n", "$ python other.py\nother\n"),
    ]
    assert renewed(page, shown) == page.replace("text\n2", "text\n1").replace("another\n```", "other\n```")


def test_the_first_command() -> None:
    (command,) = re.findall(r"&& python -m symgrad (show \S+)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    process = subprocess.run([sys.executable, "-m", "symgrad", *command.split()], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    for word in ("def loss(", "value:", "gradient:", "def loss_grad("):
        assert word in process.stdout


@pytest.mark.parametrize("document", PAGES)
def test_links_lead_somewhere(document: str) -> None:
    # pages of the gallery are there on the site only
    for target in re.findall(r"\]\((?!http|gallery/)([^)#]+)", (ROOT / document).read_text()):
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
    if name == "SciPyMissing":
        monkeypatch.setitem(sys.modules, "scipy", None)
        monkeypatch.delitem(sys.modules, "symgrad.implicit", raising=False)
    if name == "DaskMissing":
        monkeypatch.setitem(sys.modules, "distributed", None)
        monkeypatch.delitem(sys.modules, "symgrad.integrations.dask", raising=False)
    if name == "ClusterFailed":
        pytest.importorskip("distributed")
    if name == "CloudpickleMissing":
        monkeypatch.setitem(sys.modules, "cloudpickle", None)
    names = {"np": np, "scipy": pytest.importorskip("scipy"), "symgrad": symgrad, "Tensor": symgrad.eager.Tensor, "save": symgrad.save}
    fault = planted("x * x", "x + x") if name == "Mismatch" else contextlib.nullcontext()
    with fault, pytest.raises(Exception) as caught:
        imported(path, grad=symgrad.grad, **names)
    said = str(caught.value).replace(f"{tmp_path}/", "")
    said = f"{type(caught.value).__name__}: {said}"
    said = "\n".join(line.rstrip() for line in said.splitlines()) + "\n"

    if request.config.getoption("--update-golden"):
        whole = ERRORS.read_text()
        ERRORS.write_text(whole.replace(sample[0], sample[0].replace(f"```text\n{sample['text']}", f"```text\n{said}")))
    assert type(caught.value).__name__ == name
    assert said == sample["text"]


@pytest.mark.slow
def test_the_page_of_a_first_notebook_runs_as_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    programs = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "first_notebook.md").read_text(), re.MULTILINE | re.DOTALL)
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(program) for program in programs])

    nbclient.NotebookClient(book, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(output.get("text", "") for cell in book.cells for output in cell.outputs)
    assert "def misfit_grad(" in printed
    assert (tmp_path / "misfit_gradient.py").exists()


def test_the_page_of_errors_shows_what_a_notice_prints(tmp_path: Path) -> None:
    pytest.importorskip("numba")
    (sample,) = SAMPLE.finditer(ERRORS.read_text().partition("\n# Notices")[2])
    path = tmp_path / "model.py"
    path.write_text(sample["code"])
    with pytest.warns(NotCompiled) as told:
        imported(path, grad=symgrad.grad, np=np)

    assert f"NotCompiled: {told[0].message}\n".replace(f"{tmp_path}/", "") == sample["text"]


def imported(path: Path, **names: object) -> ModuleType:
    """The module that a file holds, with some names that it does not define."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    vars(module).update(names)
    spec.loader.exec_module(module)
    return module
