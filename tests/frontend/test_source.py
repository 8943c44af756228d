"""Finding the source of functions."""

from __future__ import annotations

import ast
import doctest
import functools
import importlib
import linecache
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import symgrad
from symgrad.errors import SourceNotFound, StaleSource, UnsupportedSyntax
from symgrad.frontend.text.source import from_source, read

first, second = (lambda x: x * 2), (lambda x: (x * 2) + 1)
same_left, same_right = (lambda x: x + 1), (lambda x: x + 1)
nested = lambda x: lambda y: x * y  # noqa: E731
GLOBAL = 3.0


def decorate(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


@decorate
def decorated(x):
    return x


@functools.lru_cache
def cached(x):
    "Doc."
    return x * GLOBAL


class Model:
    def plain(self, x, *, k=2):
        return self.__scale(x) * k

    def __scale(self, x):
        return x

    @staticmethod
    def static(x):
        return x

    @classmethod
    def of_class(cls, x):
        return x


def outer(k):
    unbound = None
    del unbound

    def inner(x):
        return k * x * GLOBAL

    return inner


def text_of(function: Any) -> str:
    return ast.unparse(read(function).node)


def test_lambdas_of_one_line() -> None:
    assert text_of(first) == "lambda x: x * 2"
    assert text_of(second) == "lambda x: x * 2 + 1"
    assert read(same_left).node.col_offset < read(same_right).node.col_offset
    assert text_of(nested) == "lambda x: lambda y: x * y"
    assert text_of(nested(1)) == "lambda y: x * y"
    assert list(read(nested(1)).cells) == ["x"]


def test_lines_are_those_of_the_file() -> None:
    source = read(cached)
    assert source.file == cached.__wrapped__.__code__.co_filename
    statement = source.node.body[1]
    assert source.line(statement.lineno) == "    return x * GLOBAL"
    assert source.loc(statement.value).excerpt("") == "return x * GLOBAL\n       ^^^^^^^^^^"
    assert not source.node.decorator_list


def test_columns_count_characters() -> None:
    source = read(from_source("def f(x):\n    s = 'äöü'; y = x\n    return y"))
    assert source.loc(source.node.body[1].value).excerpt("").splitlines()[1] == " " * 15 + "^"


def test_methods() -> None:
    for function in (Model.plain, Model().plain):
        assert read(function).class_name == "Model"
    assert read(Model.plain).mangle("__scale") == "_Model__scale"
    assert read(Model.plain).mangle("__init__") == "__init__"
    assert read(Model.plain).defaults == {"k": 2}
    assert read(Model.static).name == "static"
    assert read(Model.of_class).name == "of_class"


def test_names_are_read_when_asked() -> None:
    source = read(outer(5.0))
    assert source.read_name("k") == 5.0
    assert source.read_name("GLOBAL") == 3.0
    assert source.read_name("len") is len
    with pytest.raises(NameError):
        source.read_name("nowhere")


def test_a_wrapper_is_itself() -> None:
    assert read(decorated).name == "wrapper"


def test_from_source() -> None:
    f = from_source("""
        def helper(x):
            return x + 1

        def f(x):
            return helper(x) * np.pi
    """)
    assert f(0.0) == pytest.approx(3.14159265)
    assert read(f).name == "f"
    linecache.clearcache()
    assert read(f).line(5) == "    return helper(x) * np.pi"
    assert from_source("def a(x): return 1\ndef b(x): return 2", "a")(0) == 1
    assert from_source("   def f(x):\n       return 2 * x\n")(3) == 6
    space = {"f": 1, "k": 4.0}
    by_name = from_source("lambda x: k * x * x", globals=space)
    assert (by_name(3.0), symgrad.grad(by_name)(3.0), space["f"], "__symgrad_lambda__" in space) == (36.0, 24.0, 1, False)
    space = {"k": 4}
    g = from_source("def g(x): return k * x", globals=space)
    space["k"] = 5
    assert g(2) == 10
    with pytest.raises(UnsupportedSyntax, match="not Python"):
        from_source("def f(x: return")
    with pytest.raises(SourceNotFound):
        from_source("x = 1")


@pytest.mark.parametrize("function", [len, eval("lambda x: x"), functools.partial(outer, 1), 3, int])
def test_no_source(function: Any) -> None:
    with pytest.raises(SourceNotFound):
        read(function)


def test_coroutines_are_refused() -> None:
    async def f(x):
        return x

    with pytest.raises(UnsupportedSyntax):
        read(f)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that edits a module on disk, and the module."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "edited.py"
    path.write_text("def f(x):\n    return x * 2\n\ndef g(x):\n    return x + 1\n")
    edited = importlib.import_module("edited")
    linecache.clearcache()

    def edit(text: str) -> None:
        path.write_text(text)
        os.utime(path, (1, 1))
        linecache.checkcache(str(path))

    yield edited, edit
    del sys.modules["edited"]


def test_stale_source(module: Any) -> None:
    edited, edit = module
    edit("import math\n\n\ndef f(x):\n    # a comment\n    return x * 2\n\ndef g(x):\n    return x + 2\n")
    assert read(edited.f).node.lineno == 4, "moved, but the same"
    with pytest.raises(StaleSource) as caught:
        read(edited.g)
    edit("def f(x:")
    with pytest.raises(StaleSource):
        read(edited.f)
    edit("def f(x):\n    return x * 3\n\ndef g(x):\n    return x + 2\n")
    assert caught.value.hint == "write import importlib, edited; importlib.reload(edited)"
    exec(caught.value.hint.removeprefix("write "))
    assert read(edited.g).line(5) == "    return x + 2"


def test_text_read_before_the_edit_is_kept(module: Any) -> None:
    edited, edit = module
    assert read(edited.g).node.lineno == 4
    text = "".join(linecache.getlines(edited.__file__))
    Path(edited.__file__).write_text("def f(x):\n    return 0\n")
    assert "".join(linecache.getlines(edited.__file__)) == text
    assert read(edited.g).node.lineno == 4


def test_doctest() -> None:
    text = (
        ">>> from symgrad.frontend.text.source import read\n>>> def f(x):\n...     return x * 2\n>>> read(f).line(2)\n'    return x * 2'\n"
    )
    test = doctest.DocTestParser().get_doctest(text, {}, "t", "t", 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_command_line_text_is_refused_or_found() -> None:
    code = "from symgrad.frontend.text.source import read\ndef f(x): return x\ntry: print(read(f).name)\nexcept Exception as e: print(type(e).__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() in ("f", "SourceNotFound")


def test_what_tools_hang_on_the_trees_of_others_is_left_alone() -> None:
    """IPython hangs its parent on every node of a text that a traceback shows, also on those that all trees share."""
    tree = ast.parse("y = x")
    shared = tree.body[0].value.ctx
    shared.parent = tree
    try:
        assert symgrad.grad(symgrad.from_source("def f(x):\n    y = x * x\n    return y"))(3.0) == 6.0
    finally:
        del shared.parent
