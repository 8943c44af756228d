"""A function object -> its source text and syntax tree, with absolute line numbers, or a clear refusal; the names that it binds.

The text is looked up by the function's own code object (wrappers are not unwrapped: they are functions like others) and compiled again.
It is accepted only if the result is the same code.
"""

from __future__ import annotations

import ast
import builtins
import functools
import hashlib
import inspect
import linecache
import math
import os
import sys
import textwrap
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from symgrad.errors import SourceNotFound, StaleSource, UnknownFunction, UnsupportedSyntax
from symgrad.frontend.text.matching import KEPT, Place, copy_tree, lines_of, locate, parsed, texts_elsewhere, texts_of_file
from symgrad.kinds import COMPILED, converts, numba_kind
from symgrad.location import Loc
from symgrad.text import is_dotted, is_name
from symgrad.tracebacks import boundary

#: file names that unrelated texts share
LAMBDA = "__symgrad_lambda__"  #: the name of a function whose text is a lambda, while it is defined
SHARED = ("<string>", "<stdin>", "<console>", "<input>", "<unknown>")


@dataclass(slots=True)
class Source:
    """The text and tree of one function, and the values of its names."""

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

    def qualname_of(self, node: ast.FunctionDef | ast.Lambda | ast.ClassDef) -> str:
        """The ``__qualname__`` of the function, or of a function or class that its text defines."""
        path, separator = self.function.__qualname__, ".<locals>."
        if node is self.node:
            return path
        start = (node.lineno, node.col_offset)
        for outer in ast.walk(self.node):  # the outermost first
            if isinstance(outer, ast.FunctionDef | ast.Lambda | ast.ClassDef) and outer is not self.node:
                if (outer.lineno, outer.col_offset) < start < (outer.end_lineno or 0, outer.end_col_offset or 0):
                    path += separator + getattr(outer, "name", "<lambda>")
                    separator = "." if isinstance(outer, ast.ClassDef) else ".<locals>."
        return path + separator + getattr(node, "name", "<lambda>")

    @property
    def globals(self) -> dict[str, Any]:
        """The function's own globals: the live dict, no copy."""
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
        pairs = zip(reversed(positional), reversed(defaults), strict=False)  # they may be those of another function
        return dict(pairs) | (self.function.__kwdefaults__ or {})

    def line(self, number: int) -> str:
        """The text of a line of the file, counted from 1; empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def loc(self, node: ast.AST) -> Loc:
        """The location of a node; columns count characters."""
        line = getattr(node, "lineno", self.node.lineno)
        text = self.line(line)
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
        one_line = getattr(node, "end_lineno", line) == line
        return Loc(self.file, line, _characters(text, start), _characters(text, end) if one_line and end is not None else len(text), text)

    def read_name(self, name: str, in_cells: bool = True) -> Any:
        """The current value of a name that is not local: cell, global, builtin; raises ``NameError`` as Python does."""
        if in_cells and name in self.cells:
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


# ------------------------------------------------------------------ entry points


def plain_function(function: Any) -> types.FunctionType:
    """The Python function behind a method, a cached function, a numba function, or an object of ours that behaves exactly like one.

    No other wrapper is unwrapped: it may change the function's result.
    """
    while not isinstance(function, types.FunctionType):
        if isinstance(function, types.MethodType | staticmethod | classmethod):
            function = function.__func__
        elif stands_for_its_function(function):
            function = function.__wrapped__
        else:
            raise not_python(function)
    return function


def not_python(value: Any) -> SourceNotFound:
    """The refusal of a callable that is not a Python function."""
    name = describe(value)
    hint = f"write lambda x: {name}(x)" if is_dotted(name) else "pass a function that is written in Python"
    return SourceNotFound(f"{name} is not a Python function", hint=hint)


def stands_for_its_function(value: Any) -> bool:
    """Whether a wrapper computes the same as its function: a cache, numba's compiler without conversions, or one of ours."""
    kind = type(value)
    if kind is types.FunctionType:
        return False
    same = kind is functools._lru_cache_wrapper or getattr(kind, "symgrad_transparent", False)
    return same or numba_kind(value) in COMPILED and not converts(value)


def seen_through(value: Any) -> types.FunctionType | None:
    """The Python function that an object wraps without a change.

    Any other wrapper may change the result, whatever its ``__wrapped__`` is.
    """
    wrapped = getattr(value, "__wrapped__", None) if stands_for_its_function(value) else None
    return wrapped if isinstance(wrapped, types.FunctionType) else None


def describe(function: Any) -> str:
    """The name of a callable in a message."""
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
    unlike = False  # whether there is a text, but another one
    for text in texts_of_file(plain):
        place = locate(text, plain)
        if place is not None:
            return _source(plain, place, text)
        unlike = unlike or where.file not in SHARED or code.co_name in parsed(text).places
    for text in texts_elsewhere(plain):
        place = locate(text, plain, exactly=True)
        if place is not None:
            return _source(plain, place, text)
    if unlike:
        raise stale(plain, where)
    raise without_source(plain, where)


def without_source(function: types.FunctionType, where: Loc) -> SourceNotFound:
    """The refusal of a function without a source text, with the line that defines it from its text."""
    what = f"Python has kept no source of {describe(function)} ({where.file})"
    loaded = str(function.__globals__.get("__file__", ""))
    if loaded.endswith(".pyc"):
        folder, name = os.path.split(loaded)
        return SourceNotFound(f"{what}: it is loaded from {name} alone", where, f"put {os.path.basename(where.file)} into {folder or '.'}")
    return SourceNotFound(what, None if where.file.startswith("<") else where, f"write {definition(function)}")


def definition(function: types.FunctionType) -> str:
    """A line to paste that defines a function from its text; the dots represent its body.

    The line passes the globals and free variables that the function reads, if any.

    >>> definition(lambda x: x / 2)
    'symgrad.from_source("lambda x: ...")'
    >>> definition(describe)
    "describe = symgrad.from_source('''def describe(function): ...''')"
    """
    path = function.__qualname__ if is_dotted(function.__qualname__) else function.__name__
    code, name = function.__code__, path if is_dotted(path) else ""
    names = f"{name}.__globals__" if name else "globals()"
    reads = any(word in function.__globals__ and function.__globals__[word] not in (np, math) for word in code.co_names)
    quotes = "'''" if name else '"'  # a def may have several lines
    text = f"{quotes}{header(function)} ...{quotes}"
    if code.co_freevars:
        text += f", globals={{**{names}, {', '.join(f'{word!r}: {word}' for word in code.co_freevars)}}}"
    elif reads:
        text += f", globals={names}"
    return f"{name} = symgrad.from_source({text})" if name else f"symgrad.from_source({text})"


def stale(function: types.FunctionType, where: Loc) -> StaleSource:
    """The refusal of a text that no longer matches the function, with the line that reloads it."""
    what = f"the source of {describe(function)} does not match the compiled code"
    loaded = getattr(sys.modules.get(function.__module__), "__file__", None)
    if not os.path.exists(where.file) and loaded is not None and os.path.exists(loaded):  # a package has compiled it from a text
        return StaleSource(f"{describe(function)} is compiled from a text that Python has not kept", where, UnknownFunction.default_hint)
    if not os.path.exists(where.file):
        return StaleSource(f"{what}: its name now refers to another source", where, "run the cell again")
    module = function.__module__
    hint = "run the program again" if module == "__main__" else None
    if module in sys.modules and module != "__main__" and is_dotted(module):
        hint = f"write import importlib, {module}; importlib.reload({module})"
    return StaleSource(f"{what}: the file has changed since", where, hint)


class Dots:
    """A default value without a short text."""

    def __repr__(self) -> str:
        return "..."


def header(function: types.FunctionType) -> str:
    """The first line of a function's definition, as far as it is known without the text.

    >>> header(lambda x, *, order=2: x), header(header)
    ('lambda x, *, order=2:', 'def header(function):')
    """
    shown = []
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        default = parameter.default
        literal = default is None or type(default) in (bool, int, float) and math.isfinite(default)
        default = default if literal or default is parameter.empty else Dots()
        shown.append(parameter.replace(annotation=parameter.empty, default=default))
    if function.__name__ == "<lambda>":
        return f"lambda {str(inspect.Signature(shown))[1:-1]}".rstrip() + ":"
    name = function.__name__ if is_name(function.__name__) else "f"
    return f"def {name}{inspect.Signature(shown)}:"


def text_of(function: types.FunctionType) -> str | None:
    """The whole text of the file, cell or prompt that defines a function; None if it is not available."""
    near = (text for text in texts_of_file(function) if locate(text, function) is not None)
    return next(near, None) or next((text for text in texts_elsewhere(function) if locate(text, function, exactly=True)), None)


def _source(function: types.FunctionType, place: Place, text: str) -> Source:
    code = function.__code__
    lines = lines_of(text)
    if isinstance(place.node, ast.AsyncFunctionDef):
        loc = Loc(code.co_filename, place.node.lineno, 0, 0, lines[place.node.lineno - 1])
        raise UnsupportedSyntax(
            "a coroutine cannot be differentiated", loc, hint="write it as a plain def, and call it without await and asyncio.run"
        )
    node = copy_tree(place.node)
    assert isinstance(node, ast.FunctionDef | ast.Lambda)
    if isinstance(node, ast.FunctionDef):
        node.decorator_list = []
    return Source(function, node, code.co_filename, lines, place.class_name)


@boundary
def from_source(text: str, name: str | None = None, globals: dict[str, Any] | None = None) -> types.FunctionType:
    """Define a function from its text, for places where Python keeps no source.

    The text runs in ``globals`` as with ``exec``, by default in a namespace of its own with ``np`` and ``math``.
    The last function of the text is returned unless ``name`` says which; a text may be a lambda alone.

    >>> from_source("def twice(x): return 2 * x")(4), from_source("lambda x: 3 * x")(4)
    (8, 12)
    """
    text = textwrap.dedent(text).strip() + "\n" if text[:1].isspace() else text
    file = f"<symgrad source {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
    try:
        tree = ast.parse(text, file)
    except SyntaxError as error:
        loc = Loc(file, error.lineno or 0, (error.offset or 1) - 1, 0, (error.text or "").rstrip("\n"))
        raise UnsupportedSyntax(f"not Python: {error.msg}", loc) from None
    namespace: dict[str, Any] = {"__name__": "symgrad_source", "np": np, "math": math} if globals is None else globals
    if name is None and len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Lambda):
        name, statement = LAMBDA, tree.body[0]
        tree.body[0] = ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(LAMBDA, ast.Store())], statement.value), statement))
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if name is None and not names:
        raise SourceNotFound("the text defines no function", hint="write a def statement in it")
    run_text(tree, text, file, namespace)
    function: Any = namespace.pop(LAMBDA) if name == LAMBDA else namespace.get(name or names[-1])
    if not isinstance(function, types.FunctionType):
        raise SourceNotFound(f"the text defines no function {name or names[-1]!r}", hint=f"it defines {', '.join(names) or 'none'}")
    return function


def run_text(tree: ast.Module, text: str, file: str, namespace: dict[str, Any]) -> None:
    """Run a text as a module under a file name, which need not exist; so the sources of its functions are found later."""
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace.setdefault(KEPT, {})[file] = text
    exec(compile(tree, file, "exec", dont_inherit=True), namespace)


def _characters(text: str, byte: int) -> int:
    """A column as characters; ``ast`` counts bytes."""
    return min(byte, len(text)) if text.isascii() else len(text.encode()[:byte].decode(errors="ignore"))


# ------------------------------------------------------------------ names that a function binds


def assigned(nodes: Iterable[ast.AST], augmented: bool = True) -> set[str]:
    """Names that statements bind, nested functions and comprehensions left out; without ``augmented`` not by ``x += ...``."""
    return set(names_bound(tuple(nodes), augmented))


@lru_cache(maxsize=256)  # trees never change, and a loop's body is lowered until its types settle
def names_bound(nodes: tuple[ast.AST, ...], augmented: bool) -> frozenset[str]:
    """The result of ``assigned``, cached."""
    bound: set[str] = set()
    stack: list[ast.AST] = list(nodes)
    while stack:
        node = stack.pop()
        match node:
            case ast.AugAssign(target=ast.Name()) if not augmented:
                stack.append(node.value)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                stack += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
                continue
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound |= {(a.asname or a.name).split(".")[0] for a in names}
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
        stack += ast.iter_child_nodes(node)
    return frozenset(bound)


def parameters(arguments: ast.arguments) -> list[str]:
    """Every name that a signature binds."""
    plain = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return plain + [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]


@lru_cache(maxsize=256)  # trees never change
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that are local to an activation of a function."""
    names = set(parameters(node.args))
    if isinstance(node, ast.FunctionDef):
        names |= assigned(node.body)
        todo: list[ast.AST] = list(node.body)
        while todo:  # declarations in a nested function do not count
            inner = todo.pop()
            if isinstance(inner, ast.Global | ast.Nonlocal):
                names -= set(inner.names)
            elif not isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.expr):
                todo += ast.iter_child_nodes(inner)
    else:
        names |= {n.target.id for n in ast.walk(node.body) if isinstance(n, ast.NamedExpr)}
    return frozenset(names)


@lru_cache(maxsize=256)
def global_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that a function declares global."""
    return frozenset(name for inner in body_nodes(node) if isinstance(inner, ast.Global) for name in inner.names)


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of statements and expressions, without the bodies of the functions, lambdas and classes that they define."""
    todo = deque(nodes)
    while todo:
        node = todo.popleft()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                todo += [*node.decorator_list, node.args]
            case ast.ClassDef():
                todo += [*node.decorator_list, *node.bases, *node.keywords]
            case ast.Lambda():
                todo.append(node.args)
            case _:
                todo += ast.iter_child_nodes(node)


def body_nodes(function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function's body, without the bodies of the functions, lambdas and classes that it defines."""
    return own_nodes(function.body if isinstance(function, ast.FunctionDef) else [function.body])


@lru_cache(maxsize=256)
def yields(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function is a generator or a coroutine."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in body_nodes(function))
