"""Names, keys and paths as text: they are read back unchanged, and only one module writes them."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from structure import tree_of

from symgrad import text

ROOT = Path(text.__file__).parent
FILES = sorted(path for path in ROOT.rglob("*.py") if "__pycache__" not in path.parts)

names = st.one_of(
    st.text(max_size=8), st.sampled_from(["class", "a b", "w", "\ufb01", "x']", 'x"]', "\\", "\n", "getattr(", "_", "print(1)"])
).filter(lambda name: not hasattr(object, name) and name != "__dict__")  # which every instance has, whatever is stored under the name
keys = st.recursive(
    st.one_of(names, st.integers(), st.booleans(), st.none(), st.floats(allow_nan=False, allow_infinity=False), st.binary(max_size=3)),
    lambda inner: st.tuples(inner, inner),
    max_leaves=3,
)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.booleans(), names, keys), max_size=4), st.sampled_from(["p", "getattr", "x_1", "é"]))
def test_a_path_reads_what_it_was_made_for(steps: list[tuple[bool, str, Any]], root: str) -> None:
    whole = value = SimpleNamespace(end=1.0)
    path = root
    for is_attribute, name, key in reversed(steps):
        whole = SimpleNamespace(**{name: whole}) if is_attribute else {key: whole}  # type: ignore[assignment]
    for is_attribute, name, key in steps:
        path = text.attribute(path, name) if is_attribute else text.item(path, key)

    assert text.value_of(path, {root: whole}.__getitem__) is value
    assert text.root_of(path) == root
    assert text.names_in(path) == {root}
    assert text.is_inside(path, root)
    spelled = text.respelled(path, {root: "other[0]"}.__getitem__, "reader")
    assert eval(spelled, {"other": [whole], "reader": getattr}) is value


@pytest.mark.parametrize(
    ("path", "value"),
    [(text.copy_of("p.w"), [1.0, 2.0]), ("p.x.astype('float64')", [3.0]), ("getattr(p, 'a b').__array__().astype('float64')", [4.0])],
)
def test_copies_and_conversions_are_paths(path: str, value: list[float]) -> None:
    whole = SimpleNamespace(w=[1.0, 2.0], x=np.array([3.0], ">f8"), **{"a b": np.array([4.0], ">f4")})

    assert list(text.value_of(path, {"p": whole}.__getitem__)) == value
    assert text.value_of(path, {"p": whole}.__getitem__) is not whole.w
    assert text.names_in(path) == {"p"}
    assert text.root_of(path) == ("" if path == "[*p.w]" else "p")
    spelled = text.respelled(path, {"p": "other[0]"}.__getitem__, "reader")
    assert list(eval(spelled, {"other": [whole], "reader": getattr})) == value


@given(st.text(max_size=12))
@example("A\u00b7")  # a character of identifiers, not of words
def test_an_identifier_is_a_name(word: str) -> None:
    assert text.is_name(text.identifier(word))
    assert not text.is_name(word) or text.identifier(word) == word


@given(st.text(max_size=30))
def test_a_docstring_is_one_statement_and_a_comment_one_line(words: str) -> None:
    (statement,) = ast.parse(text.docstring(words)).body

    assert isinstance(statement, ast.Expr)
    assert ast.literal_eval(statement.value) == words
    assert len(ast.parse(f"x = 1  # {text.one_line(words)}").body) == 1


@pytest.mark.parametrize("path", ["f()", "p.w()", "getattr(p)", "getattr(p, name)", "getattr(p, 'a', 1)", "p[f()]", "p.astype(f())", "p.astype('f8', p)", "[*f()]", "[p]", "[*p, p]", "lambda: 0", "[p][0]", "p if q else r",
                                  "p['a' 'b' + f()]", "p / q", "x := 1", "1 .real.f()", "f'{p}'", "(p, q)", "p[0:f()]"])  # fmt: skip
def test_what_is_no_path_is_not_evaluated(path: str) -> None:
    def read_name(name: str) -> Any:
        raise AssertionError("nothing is read")

    with pytest.raises((ValueError, SyntaxError)):
        text.value_of(path, read_name)


# ------------------------------------------------------------------ no other module does it

#: what runs text: generated code behind the seam, sources that users hand over, formulas of our tables and checked ones of users
RUNNING = {
    "dispatch/guard.py": {"exec"}, "runtime/load.py": {"exec"}, "runtime/kernels.py": {"exec"}, "frontend/text/source.py": {"exec"},
    "ops/rows/elementwise.py": {"eval"},
}  # fmt: skip
#: what may ask whether a word is an identifier: tables of our own, symbols of extents, colours of words
ASKING = {"text.py", "highlight.py", "ops/declare.py", "ops/analysis/affine.py", "ir/sums.py"}


@cache
def trees() -> dict[str, ast.Module]:
    """The syntax tree of each module of the package."""
    return {path.relative_to(ROOT).as_posix(): tree_of(path) for path in FILES}


def test_what_runs_text_is_known() -> None:
    callers: dict[str, set[str]] = {}
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("eval", "exec"):
                callers.setdefault(file, set()).add(node.func.id)

    assert callers == RUNNING


def test_names_are_judged_in_one_module() -> None:
    asking = {path.relative_to(ROOT).as_posix() for path in FILES if re.search(r"\bisidentifier\b|\biskeyword\b", path.read_text())}

    assert asking == ASKING


def test_keys_are_spelled_in_one_module() -> None:
    """No f-string puts between brackets what a key says of itself."""
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.JoinedStr) or file == "text.py":
                continue
            for before, part in zip(node.values, node.values[1:], strict=False):
                opened = isinstance(before, ast.Constant) and str(before.value).endswith("[")
                assert not (opened and isinstance(part, ast.FormattedValue) and part.conversion == ord("r")), f"{file}: {ast.unparse(node)}"
