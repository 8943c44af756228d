"""Sources of a function's text: Python, a loader, a notebook, a prompt, the command line, or symgrad itself.

They are candidates only: ``matching`` compiles each text again and compares.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import linecache
import os
import stat
import sys
import types
from collections.abc import Iterator
from typing import Any

from symgrad.frontend.matching import instruction_span
from symgrad.location import OWN_FILES

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
