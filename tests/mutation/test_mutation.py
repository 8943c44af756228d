"""Faults put into the package itself: the edits, how tests run on them, and (slow) that each is detected."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HERE = Path(__file__).parent
from equivalent import EQUIVALENT
from faults import EDITS, Fault, annotations, faults_of, mutated
from run import Laboratory, tried
from suite import Ran, Suite, by_turns, lines_of

PACKAGE = HERE.parent.parent / "symgrad"


def test_each_edit_changes_one_place_of_a_module_that_still_is_python() -> None:
    module = "passes/simplification/dce.py"
    tree = ast.parse((PACKAGE / module).read_text())
    lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    actual = list(faults_of(PACKAGE, module, lines))
    texts = {fault: mutated(PACKAGE, fault) for fault in actual[::5]}
    unchanged = ast.dump(tree)

    assert {fault.kind for fault in actual} >= set(EDITS) - {"constant off by one", "other operator"}
    assert all(ast.dump(ast.parse(text)) != unchanged for text in texts.values())


# ------------------------------------------------------------------ a small package with tests

SIGNS = '''"""Signs."""


def sign(x: float) -> int | None:
    """The sign of a number."""
    if x < 0:
        return -1
    return (
        1 if x > 0
        else 0
    )


def unread(x: float) -> int:
    return 3
'''
TESTS = """
from symgrad.signs import sign, unread

def test_of_one_number():
    assert sign(2.0) == 1

def test_that_fails_without_a_fault():
    assert sign(0.0) == 1

def test_that_asks_nothing():
    unread(0.0)
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    for name, text in {
        "symgrad/__init__.py": "",
        "symgrad/signs.py": SIGNS,
        "tests/test_signs.py": TESTS,
        "pytest.ini": "[pytest]",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def faults_in_signs(place: Path) -> dict[tuple[int, str], Fault]:
    return {(fault.line, fault.kind): fault for fault in faults_of(place / "symgrad", "signs.py", {4, 14})}


def test_what_a_test_finds_and_what_none_does(small: Path) -> None:
    laboratory = object.__new__(Laboratory)  # without a copy of the repository
    laboratory.place, laboratory.package = small, small / "symgrad"
    known = faults_in_signs(small)
    actual, other, unread = known[6, "negated condition"], known[9, "other comparison"], known[15, "constant off by one"]
    suite = Suite(small, small / "symgrad", 1.0, rows=(("tests",),))

    assert dict(suite.survivors([actual, other, unread], laboratory.faulty)) == {
        actual: "FAILED tests/test_signs.py::test_of_one_number - assert -1 == 1",
        other: None,  # the test that would tell fails without the fault too
        unread: None,
    }
    assert (small / "symgrad" / "signs.py").read_text() == SIGNS


def test_the_lines_of_a_fault_are_those_that_run_with_it(small: Path) -> None:
    known = faults_in_signs(small)

    assert lines_of(small / "symgrad", known[9, "other comparison"]) == {9}
    assert lines_of(small / "symgrad", known[4, "early return"]) == {6, 7}
    assert lines_of(small / "symgrad", known[15, "constant off by one"]) == {15}


def test_nothing_of_an_annotation_is_a_fault_that_is_chosen(small: Path) -> None:
    numbers = annotations(small / "symgrad" / "signs.py")

    assert {kind for (_, kind), fault in faults_in_signs(small).items() if fault.number in numbers} == {"other operator"}


def test_the_quickest_tests_come_first_and_then_those_of_all_files_by_turns() -> None:
    seconds = {"a::1": 3.0, "a::2": 1.0, "b::1": 4.0, "b::2": 9.0, "a::3": 2.5}
    tests = [Ran(name, time, frozenset()) for name, time in seconds.items()]

    assert [one.test for one in by_turns(tests, first=1)] == ["a::2", "a::3", "b::1", "a::1", "b::2"]


# ------------------------------------------------------------------ the package


def test_a_line_in_which_a_fault_makes_no_difference_stands_in_its_function() -> None:
    trees = {module: ast.parse((PACKAGE / module).read_text()) for module, *_ in EQUIVALENT}
    for module, name, kind, text in EQUIVALENT:
        lines = (PACKAGE / module).read_text().splitlines()
        places = [
            range(f.lineno - 1, f.end_lineno or 0) for f in ast.walk(trees[module]) if isinstance(f, ast.FunctionDef) and f.name == name
        ]

        assert kind in EDITS
        assert any(lines[k].strip() == text for place in places for k in place), f"{module} {name}: {text}"


@pytest.mark.slow
def test_no_fault_is_overlooked_by_all_and_none_that_gives_a_wrong_number_by_a_first_call_with_slopes() -> None:
    actual = tried(220, [1], None, 5.0)
    wrong = [one for one in actual if one.programs.get("suite")]

    assert len(actual) >= 200
    assert wrong
    assert not [str(one.fault) for one in wrong if not one.programs["first"] and not one.programs["slopes"]]
    assert not [str(one.fault) for one in actual if one.verdict == "nobody"]
