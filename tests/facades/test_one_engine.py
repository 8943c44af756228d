"""The gradient APIs contain no derivatives, shape laws or accumulation of their own: a check of their source."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent / "symgrad"
FACADES = ("functional", "vocabulary", "eager", "static", "layers", "optimizer", "compat")
#: what the facades may import of the engine: the record, and what a user's function may call
ALLOWED = {
    "symgrad.errors", "symgrad.files", "symgrad.identity", "symgrad.tables", "symgrad.text", "symgrad.tracebacks", "symgrad.record.operations", "symgrad.record.recipe", "symgrad.record.graph", "symgrad.record.compiled", "symgrad.record.runner", "symgrad.record.quiet", "symgrad.frontend.text.source",
    "symgrad.runtime.marks", "symgrad.runtime.random", "symgrad.runtime.special", "symgrad.ir.core", "symgrad.ir.show",
}  # fmt: skip
FILES = sorted(p for facade in FACADES for p in (ROOT / facade).rglob("*.py"))
WORDS = ("pullback", "cotangent", "unbroadcast", "jacobian")


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_but_the_record_is_imported(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        names = (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [a.name for a in node.names]
            if isinstance(node, ast.Import)
            else []
        )
        for name in names:
            if name.startswith("symgrad.") and name.split(".")[1] not in FACADES:
                assert name in ALLOWED, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_function_is_a_derivative(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            assert not any(word in node.name for word in WORDS), node.name
            assert not (node.name.endswith(("_grad", "_backward")) and node.name not in ("clear_grad", "no_grad", "enable_grad", "append_backward", "list_backward", "save_for_backward"))  # fmt: skip


@pytest.mark.parametrize("path", [p for p in FILES if "functional" in p.parts], ids=lambda p: p.name)
def test_functions_are_plain_numpy(path: Path) -> None:
    for node in ast.parse(path.read_text()).body:
        assert isinstance(node, ast.Expr | ast.Import | ast.ImportFrom | ast.FunctionDef | ast.Assign | ast.AnnAssign), ast.dump(node)
