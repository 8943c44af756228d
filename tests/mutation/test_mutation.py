"""Faults in the package itself: what the edits are, and, slowly, that whatever gives a wrong number is found by a first call."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from faults import EDITS, faults_of, mutated  # noqa: E402
from run import tried  # noqa: E402

PACKAGE = HERE.parent.parent / "symgrad"


def test_each_edit_changes_one_place_of_a_module_that_still_is_python() -> None:
    module = "passes/dce.py"
    tree = ast.parse((PACKAGE / module).read_text())
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    found = list(faults_of(PACKAGE, module, lines))
    texts = {fault: mutated(PACKAGE, fault) for fault in found}

    assert {fault.kind for fault in found} >= set(EDITS) - {"constant off by one", "other operator"}
    assert all(ast.dump(ast.parse(text)) != ast.dump(tree) for text in texts.values())


@pytest.mark.slow
def test_no_fault_that_gives_a_wrong_number_is_overlooked_by_a_first_call_with_slopes() -> None:
    made = tried(220, 1, None, 120.0)
    wrong = [(fault, found) for fault, _, found in made if found.get("suite")]

    assert len(made) >= 200
    assert wrong
    assert not [str(fault) for fault, found in wrong if not found["first"] and not found["slopes"]]
