"""Source text is used only if it is the text that was compiled."""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from symgrad.errors import SourceNotFound, StaleSource
from symgrad.frontend.text import matching
from symgrad.frontend.text.matching import imported_names, inside, locate, parsed
from symgrad.frontend.text.source import from_source, read
from tests.places.programs import run

ROOT = Path(matching.__file__).parents[2]


def functions_of(text: str, name: str = "<text>", part: slice = slice(None)) -> list[types.FunctionType]:
    """Every function of a text that is a def or a lambda, made of code compiled from some of its statements."""
    tree = ast.parse(text)
    code = compile(ast.Module(tree.body[part], []), name, "exec", dont_inherit=True)
    named = set(parsed(text).places)
    codes = [c for c in inside(code) if c.co_name in named and c.co_flags & 0x3 == 0x3]
    return [types.FunctionType(c, {}, closure=tuple(types.CellType() for _ in c.co_freevars)) for c in codes]


# ------------------------------------------------------------------ what is right is found


@pytest.mark.parametrize(
    "module", ["frontend/text/matching.py", "frontend/text/source.py", "testing.py", "eager/tensor.py", "ops/rows/engine.py"]
)
def test_every_function_of_a_file_is_found_where_it_stands(module: str) -> None:
    text = (ROOT / module).read_text()
    for function in functions_of(text):
        place = locate(text, function, exactly=True)
        assert place is not None, function.__code__
        assert place.first_line == function.__code__.co_firstlineno


UNITS = """
import numpy as np
import math, operator
from os import path

def f(x):
    return np.sum(x) * math.floor(2.5) + operator.add(1, 2) + path.join("a") * (lambda y: np.max(y))(x)

class A:
    def f(self, x):
        return np.sum(x), self.f(x), super().f(x)
"""


@pytest.mark.parametrize(("start", "end"), list(itertools.combinations(range(6), 2)))
def test_a_function_is_found_whatever_was_compiled_with_it(start: int, end: int) -> None:
    """Calls of functions of modules compile otherwise beside the import."""
    for function in functions_of(UNITS, part=slice(start, end)):
        place = locate(UNITS, function, exactly=True)
        assert place is not None
        assert place.first_line == function.__code__.co_firstlineno


def test_names_that_a_module_imports() -> None:
    text = "import a.b, c as d\nif x:\n    from e import f as g, h\nfrom i import *\ndef k():\n    import l\nclass M:\n    import n\ntry:\n    import o\nfinally: pass\n"
    assert sorted(imported_names(ast.parse(text))) == ["a", "d", "g", "h", "o"]


def test_a_function_that_moved_with_all_that_stands_in_it() -> None:
    text = "def f(x):\n    class Local:\n        def g(self, y):\n            return y\n    return Local().g(x)\n"
    (function, *_) = functions_of(text)
    moved = "import math\n\n\n" + text
    place = locate(moved, function)
    assert place is not None
    assert place.first_line == 4
    assert locate(moved, function, exactly=True) is None


def test_generic_functions() -> None:
    if sys.version_info < (3, 12):
        pytest.skip("Python 3.12")
    text = "def f[T](x: T, k=lambda y: y) -> T:\n    return x\n"
    for function in functions_of(text):
        assert locate(text, function, exactly=True) is not None


# ------------------------------------------------------------------ lambdas


def test_lambdas_of_one_line_are_told_apart_by_their_columns() -> None:
    pair = (lambda x: x + 1), (lambda x: x + 1), (lambda x: x + 2)
    chain = (
        (lambda x: x + 1),
        (lambda x: x + 1), lambda x: x + 3,
    )  # fmt: skip
    for group in (pair, chain):
        places = [(read(f).node.lineno, read(f).node.col_offset) for f in group]
        assert places == sorted(set(places))
        assert [read(f).node.body.right.value for f in group] == [f(0) for f in group]  # type: ignore[attr-defined, union-attr]


def test_lambdas_in_lambdas_and_in_comprehensions() -> None:
    functions, other = [lambda x, k=k: (lambda y: y * k)(x) for k in (2, 3)], lambda x, k=1: (lambda y: y * k)(x)
    assert read(functions[0]).node.col_offset == read(functions[1]).node.col_offset != read(other).node.col_offset
    assert ast.unparse(read(functions[1]).node) == "lambda x, k=k: (lambda y: y * k)(x)"
    assert read(functions[1]).defaults == {"k": 3}
    curried = lambda x: lambda y: lambda z: x + y + z  # noqa: E731
    assert [ast.unparse(read(f).node) for f in (curried, curried(1), curried(1)(2))] == [
        "lambda x: lambda y: lambda z: x + y + z",
        "lambda y: lambda z: x + y + z",
        "lambda z: x + y + z",
    ]


def test_lambdas_as_defaults_and_decorators() -> None:
    def keep(function: Any) -> Any:
        return lambda decorated: (function, decorated)

    @keep(lambda x: x + 1)
    def decorated(x, k=lambda x: x + 1, *, m=lambda x: x + 2):
        return x

    first, function = decorated
    (second,), third = function.__defaults__, function.__kwdefaults__["m"]
    assert read(first).node.lineno + 1 == read(second).node.lineno == read(third).node.lineno
    assert [ast.unparse(read(f).node) for f in (first, second, third)] == ["lambda x: x + 1", "lambda x: x + 1", "lambda x: x + 2"]
    assert read(second).node.col_offset < read(third).node.col_offset


def test_lambdas_without_columns(tmp_path: Path) -> None:
    """Where they are the same either text does, else the way out is said."""
    program = (
        "from symgrad.frontend.text.source import read\nfrom symgrad.errors import SymgradError\n"
        "same = (lambda x: x + 1), (lambda x: x + 1)\nprint(read(same[1]).name)\n"
        "f, g = (lambda x: (lambda y: y)(x)), (lambda x: (lambda y: y)(x) + 1)\nprint(len(read(g).node.body._fields))\n"
        "def h(k): return (lambda x: x * k), (lambda x: x + k)\n"
        "try: read(h(1)[1])\nexcept SymgradError as e: print(e.hint)\nalone = lambda x: x * 2\nprint(read(alone).name)\n"
    )
    path = tmp_path / "program.py"
    path.write_text(program)
    assert run("-X", "no_debug_ranges", str(path)).splitlines() == ["lambda_", "3", "write them on lines of their own", "lambda_"]


# ------------------------------------------------------------------ what is wrong is not believed

ORIGINAL = '''
import numpy as np
K = 2

def f(x, n=3, *rest, key=None, **more):
    """Doc."""
    total = 0.0
    for i in range(n):
        try:
            total = total + np.sum(x) * i - 1.5
        except ValueError:
            total -= 1
        if total > 3 and x < 2:
            continue
    g = lambda y: y * K + x
    return total, g(x), [z for z in rest if z in {1, 2}], (1, 2.0, "a"), f"{x:.3f}", x[1:2]


class A:
    def f(self, x, n=3, *rest, key=None, **more):
        return self.__private + n
'''


def edits() -> Iterator[str]:
    """Texts with one small change each."""
    pairs = [
        ("* i", "/ i"), ("- 1.5", "- 1.6"), ("1.5", "True"), ("total > 3", "total >= 3"), ("and x < 2", "or x < 2"), ("continue", "break"),
        ("y * K", "K * y"), ("y * K", "y * x"), ("lambda y: y", "lambda y: +y"), ("{1, 2}", "{1, 3}"), ("{1, 2}", "{True, 2}"),
        ('(1, 2.0, "a")', '(1, 2, "a")'), ('(1, 2.0, "a")', '(True, 2.0, "a")'), (":.3f", ":.4f"), ("x[1:2]", "x[1:3]"), ("ValueError", "KeyError"),
        ("range(n)", "range(n + 1)"), ("total -= 1", "total += 1"), ("return total, g(x)", "return g(x), total"), ("total = 0.0", "total = -0.0"),
        ("(x, n=3, *rest", "(x, *rest, n=3"), ("f(x, n=3", "f(x, /, n=3"), ("*rest, key", "*rest, keys"), (", **more", ""), ("np.sum(x)", "sum(x)"),
        ("np.sum(x)", "np.sum"), ("np.sum(x)", "np.sum(x, x)"), ("np.sum(x)", "np.add(x)"), ("total = 0.0\n", "total = 0.0\n    global K\n    K = 3\n"),
        ("f(x, n=3, *rest", "f(n, x=3, *rest"), ("in rest if", "in rest if not"), ("x[1:2]", "(yield)"), ("try:\n            total = total + np.sum(x) * i - 1.5\n",
         "total = total + np.sum(x) * i - 1.5\n        try:\n            pass\n"), ("\ndef f", "\nasync def f"), ("-= 1\n", "-= 1\n        else:\n            x = 0\n"),
    ]  # fmt: skip
    for old, new in pairs:
        text = ORIGINAL.replace(old, new, 1)
        assert text != ORIGINAL, old
        yield text
    yield ORIGINAL.replace("__private", "_private")
    yield ORIGINAL.replace("class A", "class B")


@pytest.mark.parametrize("edited", list(edits()))
def test_a_text_that_was_edited_is_not_believed(edited: str) -> None:
    originals = [f for f in functions_of(ORIGINAL) if f.__name__ == "f"]
    assert all(locate(ORIGINAL, f) is not None for f in originals)
    wrong = originals[1] if "f(self" in edited and ("self._private" in edited or "class B" in edited) else originals[0]
    for text in (edited, "\n# moved\n" + edited):
        assert locate(text, wrong) is None


def test_another_lambda_of_the_same_line_is_not_believed() -> None:
    text = "f = lambda x: x + 1; g = lambda x: x + 2; h = (lambda x: x + 3, lambda x: x + 4)\n"
    for function in functions_of(text):
        place = locate(text, function)
        assert place is not None
        assert isinstance(place.node, ast.Lambda)
        assert eval(ast.unparse(place.node))(0) == function(0)
        left = text.replace(ast.unparse(place.node), "lambda x: x + 5")
        assert locate(left, function) is None


def test_a_text_found_elsewhere_must_agree_in_every_column() -> None:
    text = "def f(x):\n    return x * 2\n"
    (function,) = functions_of(text)
    assert locate(text, function, exactly=True) is not None
    for other in ("\n" + text, text.replace("x * 2", "x  * 2"), text.replace("    ", "        "), text.replace("(x)", "( x)", 1) + "\n\n"):
        assert locate(other, function) is not None
        assert (locate(other, function, exactly=True) is None) == (other != text.replace("(x)", "( x)", 1) + "\n\n")


def test_a_redefined_function_has_its_own_text() -> None:
    """Two cells that go by one file name, of which one is kept."""
    name = "<a cell>"
    first, second = "def f(x):\n    return x * 2\n", "def f(x):\n    return x * 3\n"
    (old,), (new,) = (functions_of(text, name) for text in (first, second))
    linecache.cache[name] = (len(second), None, second.splitlines(keepends=True), name)
    assert read(new).line(2) == "    return x * 3"
    with pytest.raises(StaleSource):
        read(old)
    del linecache.cache[name]
    with pytest.raises(SourceNotFound):
        read(new)


def test_lines_are_counted_as_python_counts_them() -> None:
    text = "def f(x):\n    s = 'a\x0cb\u2028c'\r\n    return x * 2\r\n"
    assert read(from_source(text)).line(3) == "    return x * 2"


def test_trees_are_copied_without_what_others_hang_on_them() -> None:
    """Tools that show tracebacks give nodes parents, also those that all trees share."""
    shared = ast.parse("x").body[0].value.ctx  # type: ignore[attr-defined]
    shared.parent = ast.parse("def f(x): return x").body[0]  # type: ignore[attr-defined]
    try:
        assert read(from_source("def f(x): return x * 7")).name == "f"
    finally:
        del shared.parent  # type: ignore[attr-defined]
