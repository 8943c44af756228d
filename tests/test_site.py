"""The site: every page is reachable, every public name is in the reference, it builds without warnings and network."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import symgrad

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))
INDEX = (DOCS / "index.md").read_text()
#: pages whose subject is another than the derivative of a function, or that show it in another way
WITHOUT_EMITTED_CODE = {
    "adding.md", "arguments.md", "errors.md", "explorer.md", "notebooks.md", "processes.md", "static_and_eager.md", "where.md",
}  # fmt: skip


# ------------------------------------------------------------------ what is in it


def documented() -> set[str]:
    """The names that the reference documents: those of directives, and all public names of modules."""
    names: set[str] = set()
    for page in (DOCS / "reference").glob("*.md"):
        text = page.read_text()
        names |= {name.removeprefix("symgrad.") for name in re.findall(r"auto(?:function|class|exception):: ([\w.]+)", text)}
        for module, options in re.findall(r"automodule:: symgrad\.([\w.]+)\n((?:   :.*\n)+)", text):
            assert ":members:" in options
            left_out = re.findall(r":exclude-members: (.*)", options)
            names |= {f"{module}.{name}" for name in public(f"symgrad.{module}") if not left_out or name not in left_out[0].split(", ")}
    return names


def public(module: str) -> list[str]:
    """What a module offers: ``__all__``, else the functions and classes that it defines itself."""
    loaded = importlib.import_module(module)
    own = [name for name, value in vars(loaded).items() if getattr(value, "__module__", "") == module and not name.startswith("_")]
    return list(getattr(loaded, "__all__", own))


PACKAGES = [
    "eager", "eager.creation", "static", "static.nn", "layers", "optimizer", "optimizer.lr", "errors",
    *(f"vocabulary.{name}" for name in ("activations", "elements", "losses", "matrices", "network", "normalisation", "resampling",
                                        "selection", "statistics", "tensors")),
]  # fmt: skip


def test_the_reference_has_every_public_name() -> None:
    names = documented()
    assert set(symgrad.__all__) - names == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_has_the_names_of_packages(package: str) -> None:
    modules = {"nn", "lr"}  # documented as modules
    names = {f"{package}.{name}" for name in public(f"symgrad.{package}") if name not in modules}
    alone = {f"errors.{name}" for name in ("SymgradError",)}
    assert names - documented() - alone == set()


def test_the_reference_names_nothing_that_is_not_there() -> None:
    for name in documented():
        place, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module(f"symgrad.{place}".rstrip(".")), last), name


def test_every_page_that_the_index_names_is_there() -> None:
    pages = re.findall(r"^([a-z_/]+)$", "\n".join(re.findall(r"^```\{toctree\}\n(.*?)^```", INDEX, re.MULTILINE | re.DOTALL)), re.MULTILINE)
    assert len(pages) > 30
    assert sorted(pages) == sorted(set(pages))
    for page in pages:
        assert page == "gallery/index" or (DOCS / f"{page}.md").exists(), page
    assert "<!-- other pages -->" in INDEX


def test_notebooks_hold_no_outputs_so_that_the_build_runs_them() -> None:
    notebooks = sorted(DOCS.glob("*.ipynb"))
    assert notebooks
    for path in notebooks:
        cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        assert cells
        assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)


@pytest.mark.parametrize("page", sorted(p.relative_to(DOCS).as_posix() for p in DOCS.glob("**/*.md") if "decisions" not in p.parts))
def test_a_page_that_shows_a_derivative_shows_emitted_code(page: str) -> None:
    text = (DOCS / page).read_text()
    programs = "".join(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    if page in WITHOUT_EMITTED_CODE or not re.search(r"\b(grad|jvp|vjp|jacobian|hessian|vmap)\(", programs):
        return
    shown = "".join(re.findall(r"^```(?:text|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)) + programs
    assert re.search(r"def \w+_(grad|jvp|jacobian|batched|value_and_grad)|_tangent = |# backward", shown), page


@pytest.mark.parametrize("program", GALLERY, ids=lambda path: path.stem)
def test_a_program_of_the_gallery_has_a_picture_a_check_and_emitted_code(program: Path) -> None:
    tree = ast.parse(program.read_text())
    title, underline, *_ = (ast.get_docstring(tree) or "").splitlines()
    calls = {node.func.attr for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)}
    assert len(underline) == len(title)
    assert set(underline) == {"="}
    assert {"show", "source"} <= calls
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))


def test_there_are_twelve_programs_in_the_gallery() -> None:
    assert len(GALLERY) >= 12


# ------------------------------------------------------------------ files around the project


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "version" not in project["project"]
    assert project["tool"]["hatch"]["version"]["path"] == "symgrad/__init__.py"
    assert f"\nversion: {symgrad.__version__}\n" in (DOCS / "CITATION.cff").read_text()
    assert f"\n## {symgrad.__version__} " in (DOCS / "changelog.md").read_text()


def test_the_files_that_a_community_looks_for_are_there() -> None:
    for name in (
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        "pull_request_template.md",
        "ISSUE_TEMPLATE",
        "workflows/docs.yml",
        "workflows/wheel.yml",
    ):
        assert (ROOT / ".github" / name).exists(), name


# ------------------------------------------------------------------ the site itself


class Page(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.anchors |= {attributes[key] or "" for key in ("id", "name") if key in attributes}
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"] or "")
        elif tag in ("script", "img", "link", "source", "iframe"):
            self.loaded += [attributes[key] or "" for key in ("src", "href") if attributes.get(key)]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from a copy of the sources, with warnings as errors."""
    for package in ("sphinx", "furo", "myst_nb", "sphinx_gallery", "matplotlib", "scipy"):
        pytest.importorskip(package)
    place = tmp_path_factory.mktemp("site")
    for folder in ("docs", "examples"):
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns("_build", "__pycache__", "gallery_out"))
    shutil.rmtree(place / "docs" / "gallery", ignore_errors=True)
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    # no proxy answers there: whoever asks the network fails
    offline = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", "out"]
    ran = subprocess.run(command, cwd=place, capture_output=True, text=True, env={**os.environ, **offline, "PYTHONPATH": path})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return place / "out"


@pytest.mark.slow
def test_links_of_the_site_lead_somewhere(site: Path) -> None:
    pages = {path: Page(path.read_text()) for path in site.glob("**/*.html")}
    assert len(pages) > 130
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.exists(), f"{path.name}: {link}"
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].anchors, f"{path.name}: {link}"


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Path) -> None:
    for path in site.glob("**/*.html"):
        for address in Page(path.read_text()).loaded:
            assert not urlsplit(address).netloc, f"{path.name} loads {address}"


@pytest.mark.slow
def test_every_program_of_the_gallery_was_run_and_drawn(site: Path) -> None:
    for program in GALLERY:
        page = (site / "gallery" / f"{program.stem}.html").read_text()
        assert f"sphx_glr_{program.stem}_001.png" in page
        assert "Written by symgrad from" in page or "<span" in page.partition("_kernel")[2], program.stem


@pytest.mark.slow
def test_the_reference_shows_all_keywords_in_one_signature(site: Path) -> None:
    text = (site / "reference" / "derivatives.html").read_text()
    for name in ("grad", "linearize", "hvp"):
        assert text.count(f'id="symgrad.{name}"') == 1
        signature = text.partition(f'id="symgrad.{name}"')[2].partition("</dt>")[0]
        assert ">jit<" in signature
        assert "settings" not in signature
    assert "Unpack" not in text


@pytest.mark.slow
def test_notebooks_show_what_a_notebook_shows(site: Path) -> None:
    text = (site / "shown_in_a_notebook.html").read_text()
    assert text.count('class="sg-pair"') == 2
    assert "sg-cell" in text


@pytest.mark.slow
def test_charts_are_drawn_and_emitted_code_has_colours(site: Path) -> None:
    assert '<svg class="flowchart"' in (site / "architecture.html").read_text()
    assert '<span class="nf">length_grad</span>' in (site / "index.html").read_text()
