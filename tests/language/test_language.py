"""``docs/language.md`` equals the examples, each example has its class, and no construct of Python is left out."""

from __future__ import annotations

import ast
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from plainly import HEAD, function_of

import symgrad
from symgrad.errors import NotActive, SymgradError, kinds
from symgrad.frontend.state.tables import EXPRESSIONS, METHODS, STATEMENTS
from tests.language import names, vocabulary
from tests.language.page import EXAMPLES, PAGE, WRITTEN, page
from tests.language.table import CARRIED_OUT, CLASSES, KEPT, READ, REFUSED, Example
from tests.language.verdict import check, word_of, words_shown

#: nodes that are looked at by what they stand in
PARTS = {"Starred", "Slice", "FormattedValue"}
#: methods whose names the tables of the frontend have for other kinds than Python's
OF_OTHER_KINDS = {("dict", "elements"), ("dict", "most_common"), ("dict", "total"), ("dict", "move_to_end")}
VERDICTS = {name: {example.verdict for example in EXAMPLES if name in example.names} for example in EXAMPLES for name in example.names}


def example_of(name: str, verdict: str) -> Example:
    """The first example of a construct with a class."""
    return next(example for example in EXAMPLES if name in example.names and example.verdict == verdict)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_an_example_is_what_the_page_says(example: Example) -> None:
    check(example)


@pytest.mark.sweep(25)
@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.verdict != REFUSED], ids=lambda example: example.title)
def test_it_is_right_where_loops_are_compiled(example: Example) -> None:
    pytest.importorskip("numba")
    check(replace(example, verdict=READ), jit="auto")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.title)
def test_an_example_holds_what_it_is_about(example: Example) -> None:
    assert {word_of(name) for name in example.names} <= words_shown(example)


@pytest.mark.parametrize(
    ("name", "verdict", "claimed"),
    [
        ("abs", READ, CARRIED_OUT),
        ("abs", READ, REFUSED),
        ("eval", REFUSED, READ),
        ("isinstance", CARRIED_OUT, KEPT),
        ("print", KEPT, CARRIED_OUT),
    ],
)
def test_another_class_than_the_true_one_is_noticed(name: str, verdict: str, claimed: str) -> None:
    example = example_of(name, verdict)
    with pytest.raises((AssertionError, SymgradError)):
        check(replace(example, verdict=claimed, error="UnsupportedSyntax", instead=example.function))


def test_another_error_and_a_wrong_way_out_are_noticed() -> None:
    example = example_of("eval", REFUSED)
    with pytest.raises(AssertionError):
        check(replace(example, error="UnknownFunction"))
    with pytest.raises(AssertionError):
        check(replace(example, instead=lambda x: x * x * x))


def test_the_page_is_what_the_examples_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.language --write, and read the difference"


def test_the_page_can_be_read() -> None:
    assert len(page().splitlines()) <= 930  # a line for each module of NumPy and SciPy among them


def test_nothing_is_left_out_unsaid() -> None:
    unsaid = [name for name in names.all_names() if name not in VERDICTS and name not in names.LEFT_OUT]
    assert not unsaid, f"give each an example in tests/language, or a reason in LEFT_OUT: {unsaid}"


def test_what_is_left_out_has_no_example_and_is_there() -> None:
    assert not set(names.LEFT_OUT) & set(VERDICTS)
    assert not [name for name, reason in names.LEFT_OUT.items() if reason is not names.LATER and name not in names.all_names()]


def test_errors_and_classes_are_those_that_there_are() -> None:
    assert {example.error for example in EXAMPLES if example.verdict == REFUSED} <= {kind.__name__ for kind in kinds()}
    assert {example.verdict for example in EXAMPLES} == set(CLASSES)


def test_a_node_has_a_word_on_the_page() -> None:
    assert set(names.syntax()) - set(names.LEFT_OUT) <= set(WRITTEN)


@pytest.mark.parametrize(
    "name", [n for kind in (ast.stmt, ast.expr) for n in (c.__name__ for c in kind.__subclasses__()) if n in VERDICTS and n not in PARTS]
)
def test_nodes_that_the_frontend_has_no_entry_for_are_refused(name: str) -> None:
    entered = getattr(ast, name) in STATEMENTS or getattr(ast, name) in EXPRESSIONS
    assert entered == bool(VERDICTS[name] - {REFUSED})


@pytest.mark.parametrize(("kind", "name"), [key for key in METHODS if key[0] in ("list", "dict", "set") and key not in OF_OTHER_KINDS])
def test_a_method_that_the_frontend_has_an_entry_for_is_not_refused_alone(kind: str, name: str) -> None:
    owners = {"list": ("list", "deque"), "dict": ("dict", "OrderedDict", "Counter"), "set": ("set",)}[kind]
    assert any(VERDICTS.get(f"{owner}.{name}", set()) - {REFUSED} for owner in owners)


# ------------------------------------------------------------------ the vocabulary


#: what one array of floats does not show the kind of
OTHERWISE = {
    "block": "takes lists",
    "imag": "constant for real numbers, differentiable for complex ones",
    "roots": "complex, so that a gradient is of its real or imaginary part",
}
#: faults of the functions themselves, to be mended


def of_one_array() -> list[Any]:
    """Functions of NumPy that give numbers for one array of floats, with their kinds."""
    sample, cases = np.array([0.3, 0.8, 0.5]), []
    for name, kind in vocabulary.known()["numpy"].items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = getattr(np, name)(sample.copy())
        except (TypeError, ValueError, IndexError, np.linalg.LinAlgError, AttributeError):
            continue
        if isinstance(result, np.ndarray | np.generic | int | float) and np.asarray(result).dtype.kind in "fiub":
            cases += [(name, kind)] * (name not in OTHERWISE)
    return cases


@pytest.mark.sweep(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "kind"), of_one_array())
def test_a_function_of_numpy_is_of_its_kind(name: str, kind: str) -> None:
    function = function_of(f"{HEAD}def f(v):\n    return np.sum(np.{name}(v) * 1.0)\n")
    gradient = symgrad.grad(function, strict=True)
    if kind == vocabulary.CONSTANT:
        with pytest.raises(NotActive):
            gradient(np.array([0.3, 0.8, 0.5]))
    else:
        assert gradient(np.array([0.3, 0.8, 0.5])).shape == (3,)


def test_what_gives_no_numbers_is_in_the_vocabulary() -> None:
    assert vocabulary.SAY_NO_NUMBERS <= {name for table in vocabulary.known().values() for name in table}
