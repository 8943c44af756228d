"""Source text of a code object: a text is accepted only if Python compiles its function to the same code object.

The comparison is exact in all that determines a function's behaviour; its position in the file may
differ. A function is compiled with the enclosing statement of the module, as notebooks, prompts and
files do, each in units of its own size. Texts come from Python, a loader, a notebook, a prompt, the
command line, or symgrad itself.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import inspect
import itertools
import linecache
import os
import stat
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.errors import SourceNotFound
from symgrad.location import OWN_FILES

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUTURE = 0x1FF0000  # the bits of co_flags that __future__ imports set
#: the flags of a code object that determine the kind of function
KIND = (
    inspect.CO_VARARGS
    | inspect.CO_VARKEYWORDS
    | inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ITERABLE_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_NESTED
    | inspect.CO_OPTIMIZED
    | inspect.CO_NEWLOCALS
)
#: local names that pytest's rewriting of assert leaves in the code
REWRITTEN = ("@py_", "@pytest_")
NOTHING = bytes([dis.opmap["NOP"], 0])
MANY_IMPORTS = 6  #: the most modules with functions called by one function for which every subset of imports is tried


@dataclass(frozen=True, slots=True)
class Place:
    """A function of a text: its node, the enclosing class, and the index of its statement in the module."""

    node: FunctionNode
    class_name: str | None
    statement: int

    @property
    def first_line(self) -> int:
        decorators = getattr(self.node, "decorator_list", [])
        lines: list[int] = [self.node.lineno, *(d.lineno for d in decorators)]
        return min(lines)

    @property
    def name(self) -> str:
        return "<lambda>" if isinstance(self.node, ast.Lambda) else self.node.name


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text's tree, its functions by name, and the names that its statements import."""

    tree: ast.Module
    places: Mapping[str, Sequence[Place]]
    imported: frozenset[str]


@functools.lru_cache(maxsize=16)
def parsed(text: str) -> Parsed:
    """The functions of a text; none if it is not Python."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Parsed(ast.Module([], []), {}, frozenset())
    lines = lines_of(text)
    places: dict[str, list[Place]] = {}
    for number, statement in enumerate(tree.body):
        for node, class_name in functions_within(statement, None, lines):
            place = Place(node, class_name, number)
            places.setdefault(place.name, []).append(place)
    return Parsed(tree, places, frozenset(imported_names(tree)))


@functools.lru_cache(maxsize=16)
def lines_of(text: str) -> tuple[str, ...]:
    """The lines of a text as Python counts them."""
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n"))


def functions_within(node: ast.AST, class_name: str | None, lines: tuple[str, ...] | None) -> Iterator[tuple[FunctionNode, str | None]]:
    """The functions of a node in textual order, each with its innermost class; without ``lines`` every expression is searched.

    Of expressions only a lambda is a function: those on lines without the word are not searched.
    """
    if isinstance(node, FunctionNode):
        yield node, class_name
    elif isinstance(node, ast.ClassDef):
        class_name = node.name
    for child in ast.iter_child_nodes(node):
        if lines is None or not isinstance(child, ast.expr):
            yield from functions_within(child, class_name, lines)
        elif any("lambda" in line for line in lines[child.lineno - 1 : child.end_lineno]):
            yield from functions_within(child, class_name, None)


def imported_names(node: ast.AST) -> Iterator[str]:
    """The names that imports bind in the module, without those in functions and classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in child.names if alias.name != "*")
        elif not isinstance(child, FunctionNode | ast.ClassDef):
            yield from imported_names(child)


# ------------------------------------------------------------------ locating the function


def locate(text: str, function: types.FunctionType, exactly: bool = False) -> Place | None:
    """The function of the text whose code is this function's: at its location, or wherever it has moved.

    ``exactly`` demands that every instruction also comes from the same line and columns.
    """
    code = without_padding(function.__code__)
    places = list(parsed(text).places.get(code.co_name, ()))
    if not places:
        return None
    if is_rewritten(code):
        return matching(rewritten(text, getattr(function.__globals__.get("__spec__"), "loader", None)), code, places, exactly)
    distance: dict[int, int] = {}
    for place in places:
        distance[place.statement] = min(abs(place.first_line - code.co_firstlineno), distance.get(place.statement, sys.maxsize))
    for statement in sorted(distance, key=distance.__getitem__):
        here = [place for place in places if place.statement == statement]
        for unit in units(text, code, statement, here):
            result = matching(unit, code, here, exactly)
            if result is not None:
                return result
    return matching(compiled(text, None, code.co_flags & FUTURE), code, places, exactly)


def without_padding(code: types.CodeType) -> types.CodeType:
    """The code without the NOPs that line_profiler appends, which no compiler emits behind the last return."""
    padding = len(code.co_code)
    while code.co_code[padding - 2 : padding] == NOTHING:
        padding -= 2
    return code.replace(co_code=code.co_code[:padding]) if padding < len(code.co_code) else code


def matching(unit: tuple[types.CodeType, ...], code: types.CodeType, places: list[Place], exactly: bool) -> Place | None:
    """The place of the function whose recompiled code is ``code``; if there are several, the one in the most similar position."""

    def unlike(again: types.CodeType) -> tuple[bool, bool, int]:
        distance = abs(again.co_firstlineno - code.co_firstlineno)
        return positions(again) != positions(code), again.co_qualname != code.co_qualname, distance

    same = [again for again in unit if again.co_name == code.co_name and same_code(again, code)]
    for again in sorted(same, key=unlike):
        if exactly and (again.co_firstlineno != code.co_firstlineno or positions(again) != positions(code)):
            continue
        here = [place for place in places if place.first_line == again.co_firstlineno]
        if len(here) > 1:
            return by_columns(here, again)
        if here:
            return here[0]
    return None


def positions(code: types.CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    """The source position of each instruction."""
    return list(code.co_positions())


def by_columns(places: list[Place], code: types.CodeType) -> Place:
    """Of several functions that begin on one line, the innermost around all positions of the code's instructions."""
    span = instruction_span(code)
    if span is not None:
        around = [p for p in places if _start(body_of(p.node)[0]) <= span[0] and span[1] <= _end(body_of(p.node)[-1])]
        if around:
            return max(around, key=lambda p: _start(body_of(p.node)[0]))
    places = [place for place in places if same_alone(place, code)] or places  # before 3.13 a constant has no columns
    if len({ast.dump(place.node) for place in places}) > 1:
        what = "several functions begin on this line, and Python keeps no columns (-X no_debug_ranges) that tell them apart"
        raise SourceNotFound(what, hint="write them on lines of their own")
    return places[0]


def same_alone(place: Place, code: types.CodeType) -> bool:
    """Whether the code is that of a standalone lambda, without variables of enclosing functions."""
    if not isinstance(place.node, ast.Lambda):
        return False
    whole = compile(ast.Expression(place.node), code.co_filename, "eval", dont_inherit=True)
    inside = [inner for inner in whole.co_consts if isinstance(inner, types.CodeType)]
    return any(same_code(inner.replace(co_flags=inner.co_flags | code.co_flags & inspect.CO_NESTED), code) for inner in inside)


def body_of(node: FunctionNode) -> list[ast.AST]:
    """The statements of a function, or the one expression of a lambda."""
    return [node.body] if isinstance(node, ast.Lambda) else list(node.body)


def instruction_span(code: types.CodeType) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """The first and the last source position of the instructions, or None if Python kept no columns."""
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


# ------------------------------------------------------------------ recompilation


def units(text: str, code: types.CodeType, statement: int, places: list[Place]) -> Iterator[tuple[types.CodeType, ...]]:
    """The code of all functions of a statement, compiled in every way that Python or a notebook may have compiled it."""
    flags = code.co_flags & FUTURE
    called = called_modules(text, statement)
    for names in choices(called):
        yield compiled(text, statement, flags, names)
    if all(place.first_line != code.co_firstlineno for place in places):  # a class inside a function stores its line as a constant
        for place in places:
            yield compiled(text, statement, flags, called, code.co_firstlineno - place.first_line)


def choices(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The subsets of modules that may be imported in the unit: all, none, then any of them.

    From Python 3.12 on, ``np.sum(x)`` compiles differently if ``import numpy as np`` is compiled
    together with it.
    """
    yield names
    fewer = range(len(names) if len(names) <= MANY_IMPORTS else 1)
    for count in fewer:
        yield from itertools.combinations(names, count)


@functools.lru_cache(maxsize=64)
def called_modules(text: str, statement: int) -> tuple[str, ...]:
    """The imported names ``m`` of all calls ``m.f(...)`` in a statement."""
    module = parsed(text)
    called = {
        call.func.value.id
        for call in ast.walk(module.tree.body[statement])
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    }
    return tuple(sorted(called & module.imported))


@functools.lru_cache(maxsize=64)
def compiled(text: str, statement: int | None, flags: int, imported: tuple[str, ...] = (), shift: int = 0) -> tuple[types.CodeType, ...]:
    """The code of every function of a statement (None: of the whole text), compiled with some imports, ``shift`` lines further down."""
    tree: Any = parsed(text).tree
    if statement is not None:
        node = tree.body[statement]
        if shift:
            node = ast.increment_lineno(copy_tree(node), shift)
        start: dict[str, Any] = {"lineno": 1, "col_offset": 0, "end_lineno": 1, "end_col_offset": 0}
        imports = [ast.Import([ast.alias(name, **start)], **start) for name in imported]
        tree = ast.Module([*imports, node], [])
    try:
        module = compile(tree, "<again>", "exec", flags=flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    codes = tuple(inside(module))
    return tuple(code.replace(co_firstlineno=code.co_firstlineno - shift) for code in codes) if shift else codes


@functools.lru_cache(maxsize=4)
def rewritten(text: str, loader: Any) -> tuple[types.CodeType, ...]:
    """The code of every function of a text whose asserts pytest rewrites, as it rewrites them."""
    try:
        tree = ast.parse(text)
        sys.modules["_pytest.assertion.rewrite"].rewrite_asserts(tree, text.encode(), None, getattr(loader, "config", None))
        return tuple(inside(compile(tree, "<again>", "exec", dont_inherit=True)))
    except Exception:  # another version of pytest, whose functions may differ: the text is then not accepted
        return ()


def is_rewritten(code: types.CodeType) -> bool:
    """Whether the code contains asserts that pytest has rewritten."""
    return any(name.startswith(REWRITTEN) for name in (*code.co_varnames, *code.co_names)) or any(
        is_rewritten(const) for const in code.co_consts if isinstance(const, types.CodeType)
    )


def inside(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects among the constants of one, and among theirs."""
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from inside(const)


# ------------------------------------------------------------------ comparison of code objects

FIELDS = tuple(
    """
    co_argcount co_posonlyargcount co_kwonlyargcount co_varnames co_names co_freevars co_cellvars co_code co_exceptiontable
    """.split()
)


def same_code(new: types.CodeType, old: types.CodeType) -> bool:
    """Whether two code objects behave the same, at any position."""
    if any(getattr(new, field) != getattr(old, field) for field in FIELDS) or (new.co_flags ^ old.co_flags) & KIND:
        return False
    return len(new.co_consts) == len(old.co_consts) and all(map(_same_const, new.co_consts, old.co_consts))


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
    copied = type(node).__new__(type(node))
    for name in (*node._fields, *node._attributes):  # trees may share nodes with parents attached by traceback libraries
        if hasattr(node, name):
            value = getattr(node, name)
            setattr(copied, name, copy_tree(value) if isinstance(value, ast.AST | list) else value)
    return copied


# ------------------------------------------------------------------ texts that may define a function


#: the global of a generated namespace that keeps its texts by file name, should ``linecache`` be cleared
KEPT = "__symgrad_source__"
#: the file name of code that cloudpickle has carried, from 3.1.3 on
TRAVELLED = "<dynamic-code>"


def texts_of_file(function: types.FunctionType) -> Iterator[str]:
    """The texts that belong to the function's file name: as first read, as it is now, as kept by symgrad, a loader or the prompt."""
    file, names = function.__code__.co_filename, function.__globals__

    def now() -> str:
        linecache.checkcache(file)
        return "".join(linecache.getlines(file, names))

    def kept() -> str:
        texts = names.get(KEPT)
        return str(texts.get(file, "")) if isinstance(texts, dict) else ""

    def loader() -> str:
        spec: Any = names.get("__spec__")
        return "" if file.startswith("<") else spec.loader.get_source(spec.name)

    def frozen() -> str:  # a frozen module of the interpreter states its file
        return "".join(linecache.getlines(names["__file__"])) if file.startswith("<frozen ") and "__file__" in names else ""

    def prompt() -> str:
        return "" if sys.version_info < (3, 13) else "".join(inspect.findsource(function.__code__)[0])

    yield from _different(lambda: "".join(linecache.getlines(file, names)), now, kept, loader, frozen, prompt)


def texts_elsewhere(function: types.FunctionType) -> Iterator[str]:
    """Texts without a file that may define a function; accepted only if every line and column agrees."""
    code = function.__code__
    return (text for text in _searched(code) if _may_hold(text, code))


def _searched(code: types.CodeType) -> Iterator[str]:
    """The texts of the command line, the prompt and the notebook, as far as the function's file name does not exclude them."""
    file = code.co_filename
    if os.path.exists(file):
        return
    if file == "<string>":
        yield from _command_line()
    if file == "<stdin>":
        with contextlib.suppress(OSError, ValueError, AttributeError):
            yield _standard_input()
        yield from _typed(code)
    if file == TRAVELLED:
        yield from _read_before()
    yield from _cells()


def _may_hold(text: str, code: types.CodeType) -> bool:
    """Whether the line on which the function begins looks right. Few texts are then parsed."""
    lines = text.split("\n", code.co_firstlineno)
    line = lines[code.co_firstlineno - 1] if len(lines) >= code.co_firstlineno else ""
    return "lambda" in line if code.co_name == "<lambda>" else code.co_name in line or "@" in line


def _different(*getters: Any) -> Iterator[str]:
    """The results of the getters, each text once."""
    seen = set()
    for get in getters:
        try:
            text = get().removeprefix("\ufeff")
        except (OSError, ImportError, IndexError, TypeError, AttributeError, SyntaxError, ValueError):
            continue
        if text.strip() and text not in seen:
            seen.add(text)
            yield text


def _command_line() -> Iterator[str]:
    """The arguments of the interpreter, including the program of ``python -c``."""
    for argument in sys.orig_argv[1:]:
        yield argument
        if argument.startswith("-"):
            yield argument.partition("c")[2]


def _standard_input() -> str:
    """The program of ``python < file``; the contents of a pipe are gone."""
    status = os.fstat(0)
    if not stat.S_ISREG(status.st_mode):
        return ""
    return os.pread(0, status.st_size, 0).decode()


def _typed(code: types.CodeType) -> Iterator[str]:
    """The texts typed at a prompt, from the history of ``readline``, if it is in use."""
    readline: Any = sys.modules.get("readline")
    span = instruction_span(code)
    if readline is None or span is None:
        return
    lines = [readline.get_history_item(number) or "" for number in range(1, readline.get_current_history_length() + 1)]
    first, last = code.co_firstlineno, span[1][0]
    for start in range(len(lines) - last, -1, -1):
        if "lambda" in lines[start + first - 1] or any("def " in line for line in lines[start + first - 1 : start + last]):
            for end in range(start + last, min(start + last + 3, len(lines)) + 1):  # closing brackets
                yield "\n".join(lines[start:end]) + "\n"


def _read_before() -> Iterator[str]:
    """The program of this process, and the texts read before, which include those of functions that came by value."""
    for name in ("__main__", "__mp_main__"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None:
            yield "".join(linecache.getlines(file))
    entries = [entry for name, entry in linecache.cache.items() if not name.startswith(OWN_FILES)]
    yield from ("".join(entry[2]) for entry in entries if len(entry) == 4)


def _cells() -> Iterator[str]:
    """The cells that IPython has run, the latest first, each followed by the texts that its magics ran, such as ``%%time``."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None:
        return
    entries = [entry for name, entry in linecache.cache.items() if not name.startswith(OWN_FILES)]
    cached = ["".join(entry[2]) for entry in entries if len(entry) == 4 and entry[1] is None]  # of no file
    for cell in reversed([*shell.history_manager.input_hist_parsed, *cached]):
        waiting = [cell]
        while waiting:
            text = waiting.pop()
            yield text
            waiting += [shell.transform_cell(part) for part in _run_by_magics(text)]


def _run_by_magics(text: str) -> list[str]:
    """The texts passed to ``get_ipython().run_cell_magic`` and ``run_line_magic``."""
    if "magic" not in text:
        return []
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    last = [call.args[-1] for call in calls if call.func.attr in ("run_cell_magic", "run_line_magic") and call.args]  # type: ignore[attr-defined]
    return [node.value for node in last if isinstance(node, ast.Constant) and isinstance(node.value, str)]
