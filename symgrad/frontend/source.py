"""A function object to its text and syntax tree, with absolute line numbers, or a clear refusal.

The text is looked up by the function's own code object (wrappers are not looked through, they are
functions like others) and compiled again: only if that gives the same code is the text believed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import inspect
import linecache
import math
import textwrap
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.errors import SourceNotFound, StaleSource, UnsupportedSyntax
from symgrad.location import Loc

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
#: the global of a made namespace that keeps its texts by file name, should ``linecache`` be cleared
KEPT = "__symgrad_source__"
FUTURE = 0x1FF0000  # the bits of co_flags that __future__ imports set
#: local names that pytest's rewriting of assert leaves in the code
REWRITTEN = ("@py_", "@pytest_")


@dataclass(slots=True)
class Source:
    """The text and tree of one function, and what its names stand for."""

    function: types.FunctionType
    node: ast.FunctionDef | ast.Lambda  #: decorators stripped; line numbers are those of the file
    file: str
    lines: tuple[str, ...] = field(repr=False)  #: of the whole file
    class_name: str | None = None  #: the class around it, for ``self.__private``

    @property
    def name(self) -> str:
        """The function's name, ``lambda_`` for a lambda."""
        return "lambda_" if isinstance(self.node, ast.Lambda) else self.node.name

    @property
    def qualified_name(self) -> str:
        return f"{self.function.__module__}.{self.function.__qualname__}"

    @property
    def globals(self) -> dict[str, Any]:
        """The function's own globals, alive."""
        return self.function.__globals__

    @property
    def cells(self) -> dict[str, types.CellType]:
        """Names of the enclosing functions, with the cells that hold them."""
        return dict(zip(self.function.__code__.co_freevars, self.function.__closure__ or (), strict=True))

    @property
    def defaults(self) -> dict[str, Any]:
        """Default values by parameter, keyword-only ones included."""
        code, defaults = self.function.__code__, self.function.__defaults__ or ()
        positional = code.co_varnames[: code.co_argcount]
        return dict(zip(positional[len(positional) - len(defaults) :], defaults, strict=True)) | (self.function.__kwdefaults__ or {})

    def line(self, number: int) -> str:
        """The text of a line of the file, counted from 1; empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def loc(self, node: ast.AST) -> Loc:
        """Where a node stands; columns count characters."""
        line = getattr(node, "lineno", self.node.lineno)
        text = self.line(line)
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        one_line = getattr(node, "end_lineno", line) == line
        return Loc(self.file, line, _characters(text, start), _characters(text, end) if one_line and end is not None else len(text), text)

    def read_name(self, name: str) -> Any:
        """What a name that is not local stands for now: cell, global, builtin; ``NameError`` as Python has it."""
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:
                raise NameError(f"cannot access free variable {name!r}") from None
        if name in self.globals:
            return self.globals[name]
        if hasattr(builtins, name):
            return getattr(builtins, name)
        raise NameError(f"name {name!r} is not defined")

    def mangle(self, name: str) -> str:
        """The name that Python uses for ``__private`` inside a class."""
        if self.class_name is None or not name.startswith("__") or name.endswith("__"):
            return name
        return f"_{self.class_name.lstrip('_')}{name}"


@dataclass(frozen=True, slots=True)
class _Place:
    """A function of a file: its node, the class directly around it."""

    node: FunctionNode
    class_name: str | None

    @property
    def first_line(self) -> int:
        decorators = getattr(self.node, "decorator_list", [])
        lines: list[int] = [self.node.lineno, *(d.lineno for d in decorators)]
        return min(lines)

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


# ------------------------------------------------------------------ the way in


def plain_function(function: Any) -> types.FunctionType:
    """The Python function behind a method, a cached function, or an object of ours that behaves exactly like one.

    Nothing else is looked through: what a wrapper does to its function may matter.
    """
    while not isinstance(function, types.FunctionType):
        if isinstance(function, types.MethodType | staticmethod | classmethod):
            function = function.__func__
        elif isinstance(function, functools._lru_cache_wrapper) or getattr(type(function), "symgrad_transparent", False):
            function = function.__wrapped__
        else:
            raise SourceNotFound(f"{describe(function)} is not a Python function", hint=f"wrap it: lambda x: {describe(function)}(x)")
    return function


def seen_through(value: Any) -> types.FunctionType | None:
    """The Python function that an object only keeps results of, compiles with numba, or stands for as one of ours does.

    What any other wrapper does may matter, whatever it says that it wraps.
    """
    kind = type(value)
    same = kind is functools._lru_cache_wrapper or kind.__module__.startswith("numba.") or getattr(kind, "symgrad_transparent", False)
    wrapped = getattr(value, "__wrapped__", None) if same else None
    return wrapped if isinstance(wrapped, types.FunctionType) else None


def describe(function: Any) -> str:
    """How a callable is named in a message."""
    return str(getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function))


def read(function: Callable[..., Any]) -> Source:
    """The source of a function, method or lambda.

    >>> def half(x):
    ...     return x / 2
    >>> read(half).node.name, read(half).line(2)
    ('half', '    return x / 2')
    """
    plain = plain_function(function)
    code = plain.__code__
    where = Loc(code.co_filename, code.co_firstlineno)
    found_any = False
    for text in _texts(plain):
        found_any = True
        place = _locate(text, code)
        if place is not None:
            return _source(plain, place, text)
    if not found_any:
        raise SourceNotFound(
            f"Python has kept no source of {describe(plain)} ({code.co_filename})", None if where.file.startswith("<") else where
        )
    raise StaleSource(f"the text of {describe(plain)} is not what was compiled: the file has changed since", where)


def _source(function: types.FunctionType, place: _Place, text: str) -> Source:
    code = function.__code__
    lines = tuple(text.splitlines())
    if isinstance(place.node, ast.AsyncFunctionDef):
        loc = Loc(code.co_filename, place.node.lineno, 0, 0, lines[place.node.lineno - 1])
        raise UnsupportedSyntax("a coroutine cannot be differentiated", loc, hint="write it as a plain def")
    node = copy_tree(place.node)
    assert isinstance(node, ast.FunctionDef | ast.Lambda)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    return Source(function, node, code.co_filename, lines, place.class_name)


def from_source(text: str, name: str | None = None, globals: dict[str, Any] | None = None) -> types.FunctionType:
    """Define a function from its text, for places where Python keeps no source.

    The text runs in ``globals`` as with ``exec``, by default in a namespace of its own with ``np`` and ``math``.
    The last function of the text is returned unless ``name`` says which.

    >>> from_source("def twice(x): return 2 * x")(4)
    8
    """
    text = textwrap.dedent(text).strip() + "\n" if text[:1].isspace() else text
    file = f"<symgrad source {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        loc = Loc(file, error.lineno or 0, (error.offset or 1) - 1, 0, (error.text or "").rstrip("\n"))
        raise UnsupportedSyntax(f"not Python: {error.msg}", loc) from None
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if name is None and not names:
        raise SourceNotFound("the text defines no function", hint="write def f(x): ...")
    namespace: dict[str, Any] = {"__name__": "symgrad_source", "np": np, "math": math} if globals is None else globals
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace.setdefault(KEPT, {})[file] = text
    exec(compile(tree, file, "exec", dont_inherit=True), namespace)
    made: Any = namespace.get(name or names[-1])
    if not isinstance(made, types.FunctionType):
        raise SourceNotFound(f"the text defines no function {name or names[-1]!r}", hint=f"it defines {', '.join(names) or 'none'}")
    return made


def _characters(text: str, byte: int) -> int:
    """A column as characters; ``ast`` counts bytes."""
    return min(byte, len(text)) if text.isascii() else len(text.encode()[:byte].decode(errors="ignore"))


# ------------------------------------------------------------------ finding the text


def _texts(function: types.FunctionType) -> Iterator[str]:
    """Texts that may hold the function: as first read, as it is now, as kept by us, as the interactive prompt kept it."""
    file, seen = function.__code__.co_filename, set()

    def interactive() -> list[str]:
        try:
            return inspect.findsource(function.__code__)[0]
        except (OSError, IndexError, TypeError):
            return []

    def now() -> list[str]:
        linecache.checkcache(file)
        return linecache.getlines(file, function.__globals__)

    kept = function.__globals__.get(KEPT, {}) if isinstance(function.__globals__.get(KEPT, {}), dict) else {}
    for get in (lambda: linecache.getlines(file, function.__globals__), now, lambda: [kept.get(file, "")], interactive):
        text = "".join(get())
        if text.strip() and text not in seen:
            seen.add(text)
            yield text


@functools.lru_cache(maxsize=16)
def _index(text: str) -> tuple[_Place, ...]:
    """Every function of a text; none if it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    found: list[_Place] = []

    def visit(node: ast.AST, class_name: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, FunctionNode):
                found.append(_Place(child, class_name))
            visit(child, child.name if isinstance(child, ast.ClassDef) else class_name)

    visit(tree, None)
    return tuple(found)


@functools.lru_cache(maxsize=16)
def _codes(text: str, flags: int) -> tuple[types.CodeType, ...]:
    """The code of every function of a text, compiled anew."""
    try:
        module = compile(text, "<again>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError):
        return ()

    def inside(code: types.CodeType) -> Iterator[types.CodeType]:
        for const in code.co_consts:
            if isinstance(const, types.CodeType):
                yield const
                yield from inside(const)

    return tuple(inside(module))


def _locate(text: str, code: types.CodeType) -> _Place | None:
    """The function of the text whose code is ``code``: where it was, else wherever it has moved to."""
    again = [c for c in _codes(text, code.co_flags & FUTURE) if c.co_name == code.co_name and same_code(c, code)]
    places = [p for p in _index(text) if p.name == code.co_name]
    by_distance = sorted({c.co_firstlineno for c in again}, key=lambda line: abs(line - code.co_firstlineno))
    for line in by_distance:
        here = [p for p in places if p.first_line == line]
        if len(here) == 1:
            return here[0]
        if here:
            return _by_position(here, next(c for c in again if c.co_firstlineno == line), code)
    return None


def _by_position(places: list[_Place], again: types.CodeType, code: types.CodeType) -> _Place | None:
    """Which of several functions that begin on one line: the innermost around all that the code's instructions point to."""
    spans = instruction_span(code if again.co_firstlineno == code.co_firstlineno else again)
    if spans is None:
        return None
    start, end = spans
    around = [p for p in places if _start(body_of(p.node)[0]) <= start and end <= _end(body_of(p.node)[-1])]
    return max(around, key=lambda p: _start(body_of(p.node)[0]), default=None)


def body_of(node: FunctionNode) -> list[ast.AST]:
    """The statements of a function, or the one expression of a lambda."""
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def instruction_span(code: types.CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The first and the last place in the text that the instructions point to, or None where Python kept no columns."""
    places = [
        ((line, column), (end_line, end_column))
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_line is not None and column is not None and end_column
    ]
    return (min(p[0] for p in places), max(p[1] for p in places)) if places else None


def _start(node: ast.AST) -> tuple[int, int]:
    return (node.lineno, node.col_offset)  # type: ignore[attr-defined]


def _end(node: ast.AST) -> tuple[int, int]:
    return (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


# ------------------------------------------------------------------ is it the same code


def same_code(new: types.CodeType, old: types.CodeType) -> bool:
    """Do two code objects do the same, wherever they stand?"""
    if any(name.startswith(REWRITTEN) for name in old.co_varnames):
        return _same_but_asserts(new, old)
    fields = ("co_argcount", "co_posonlyargcount", "co_kwonlyargcount", "co_varnames", "co_names", "co_freevars", "co_cellvars", "co_code")
    if any(getattr(new, f) != getattr(old, f) for f in fields) or (new.co_flags ^ old.co_flags) & (
        inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    ):
        return False
    return len(new.co_consts) == len(old.co_consts) and all(map(_same_const, new.co_consts, old.co_consts))


def _same_but_asserts(new: types.CodeType, old: types.CodeType) -> bool:
    """As ``same_code``, for a function whose asserts pytest has rewritten: its names and line must agree."""
    names = [name for name in old.co_varnames if not name.startswith(REWRITTEN)]
    return (
        new.co_firstlineno == old.co_firstlineno
        and new.co_argcount == old.co_argcount
        and list(new.co_varnames) == names
        and new.co_freevars == old.co_freevars
        and set(new.co_names) <= set(old.co_names) | {"AssertionError"}
    )


def _same_const(new: Any, old: Any) -> bool:
    if isinstance(new, types.CodeType) and isinstance(old, types.CodeType):
        return same_code(new, old)
    if type(new) is not type(old):
        return False
    if isinstance(new, tuple):
        return len(new) == len(old) and all(map(_same_const, new, old))
    if isinstance(new, frozenset):
        return new == old and sorted(map(repr, new)) == sorted(map(repr, old))
    return repr(new) == repr(old)


def copy_tree(node: Any) -> Any:
    """A copy of a syntax tree that shares no node with it."""
    if isinstance(node, list):
        return [copy_tree(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    made = type(node).__new__(type(node))
    for name, value in vars(node).items():  # fields and places
        setattr(made, name, copy_tree(value) if isinstance(value, ast.AST | list) else value)
    return made
