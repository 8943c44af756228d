"""``python -m tests.structure``: are the pages about the structure of the package true? ``--write`` writes them anew.

``docs/modules.md`` and ``docs/tests.md`` list every module with the first sentence of its docstring; ``docs/architecture.md`` holds a picture of the
packages, with an arrow from each to those that it builds on. Both are drawn from the source files and their imports.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent / "symgrad"
DOCS = ROOT.parent / "docs"
#: the package's face, which imports from anywhere
FACE = "__init__"
FILES = sorted(p for p in ROOT.rglob("*.py") if "__pycache__" not in p.parts)
TESTS = sorted(p for p in (ROOT.parent / "tests").rglob("test_*.py") if "__pycache__" not in p.parts)
#: boxes of the picture: a name, and the modules and packages of symgrad in the box
BOXES = {
    "errors and text": (
        "location",
        "identity",
        "text",
        "tables",
        "errors",
        "notes",
        "tracebacks",
        "progress",
        "files",
        "highlight",
        "values",
        "containers",
    ),
    "signatures": ("signature", "paths", "kinds", "abstraction", "parameters", "bound", "directions"),
    "ir": ("ir",),
    "ops": ("ops",),
    "runtime": ("runtime",),
    "frontend": ("frontend", "marks"),
    "passes": ("passes",),
    "adjoint": ("adjoint", "tangent", "sparsity"),
    "codegen": ("codegen", "saving"),
    "loops": ("loops",),
    "pipeline": ("pipeline", "compile", "explaining", "debugging", "jit", "targets"),
    "verification": ("verification", "trees"),
    "dispatch": ("dispatch", "exits"),
    "api": (
        "api",
        "jacobians",
        "implicit",
        "integrations",
        "orders",
        "sparse",
        "along",
        "batching",
        "callables",
        "derivatives",
        "rules",
        "custom_rules",
        "pickling",
        "contractions",
        "testing",
        "typed",
    ),
    "pages and commands": ("report", "notebook", "explorer", "command", "__main__"),
    "functional": ("functional", "optim"),
    "record": ("record",),
    "vocabulary": ("vocabulary",),
    "eager": ("eager",),
    "static": ("static", "layers", "optimizer"),
    "compat": ("compat",),
}
PICTURE = re.compile(r"(?<=<!-- picture -->\n).*?(?=<!-- end of picture -->)", re.DOTALL)


def unit(path: Path) -> str:
    """The module or package of symgrad that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once; who looks at it does not change it."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> list[str]:
    """Every module that is imported, anywhere in a tree."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports are absolute"
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return names


@cache
def imported(path: Path) -> list[str]:
    """Every module that a file imports."""
    return imports(tree_of(path))


def sentence(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    doc = ast.get_docstring(tree_of(path)) or ""
    paragraph = " ".join(doc.partition("\n\n")[0].split()).removeprefix("table: ")
    first = re.match(r".*?\.(?=\s[A-Z`])|.*", paragraph)
    assert first is not None
    return first[0][:1].upper() + first[0][1:].rstrip(".")


def module_page(title: str, files: list[Path], head: str) -> str:
    """A table of modules for each folder."""
    lines = [f"# {title}", "", "`python -m tests.structure --write` writes this page from the modules' docstrings."]
    for folder in sorted({path.parent for path in files}):
        modules = [path for path in files if path.parent == folder and sentence(path)]
        if modules:
            lines += ["", f"## {folder.relative_to(ROOT.parent).as_posix()}", "", f"| module | {head} |", "|---|---|"]
            lines += [f"| `{path.stem}` | {sentence(path).replace('|', chr(92) + '|')} |" for path in modules]
    return "\n".join(lines) + "\n"


def arrows() -> dict[str, set[str]]:
    """For each box those that it imports from, without those that it reaches through another one."""
    box_of = {name: box for box, names in BOXES.items() for name in names}
    direct: dict[str, set[str]] = {box: set() for box in BOXES}
    for path in FILES:
        here = unit(path)
        if here in (FACE, "__main__"):
            continue
        for name in imported(path):
            parts = name.split(".")
            if parts[0] == "symgrad" and len(parts) > 1 and box_of[parts[1]] != box_of[here]:
                direct[box_of[here]].add(box_of[parts[1]])
    order = list(BOXES)
    earlier = {box: {other for other in others if order.index(other) < order.index(box)} for box, others in direct.items()}
    reached: dict[str, set[str]] = {}
    for box in order:
        reached[box] = set().union(earlier[box], *(reached[other] for other in earlier[box]))
    return {box: {o for o in others if not any(o in reached[p] for p in others - {o})} for box, others in earlier.items()}


def picture() -> str:
    """The picture of ``docs/architecture.md``, in the language of Mermaid."""
    names = {box: box.replace(" ", "_") for box in BOXES}
    lines = ["```mermaid", "flowchart BT"]
    lines += [f'    {names[box]}["{box}"]' for box in BOXES]
    lines += [f"    {names[box]} --> {names[other]}" for box, others in arrows().items() for other in BOXES if other in others]
    return "\n".join([*lines, "```"]) + "\n"


def pages() -> dict[Path, str]:
    """The pages as they should be."""
    architecture = DOCS / "architecture.md"
    drawn = picture()
    return {
        DOCS / "modules.md": module_page("Modules", FILES, "what it is"),
        DOCS / "tests.md": module_page("Tests", TESTS, "what it tests"),
        architecture: PICTURE.sub(lambda _: drawn, architecture.read_text(encoding="utf-8"), count=1),
    }


def main() -> int:
    """Compare the pages, or write them."""
    parser = argparse.ArgumentParser(prog="python -m tests.structure", description="compare the pages about the structure with the source")
    parser.add_argument("--write", action="store_true", help="write the pages anew")
    write = parser.parse_args().write
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.name}: {'written' if write else 'differs'}")
        if write:
            path.write_text(pages()[path], encoding="utf-8")
    return int(bool(stale) and not write)


if __name__ == "__main__":
    sys.exit(main())
