"""Emission: a ``Func`` -> Python source: the user's statements, then, for a gradient, its backward half.

Layout chooses the nesting, naming assigns variables, expressions spell the ops, and the writer makes statements of them. This module
puts the functions of a program together and prints them, with the names that their module needs. ``annotate`` adds what a tree cannot
hold: section marks and, on the right, lines of the user's source.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, count
from typing import Any

from symgrad.codegen.expressions import Names
from symgrad.codegen.header import Header, collect, outer_names, plain_header
from symgrad.codegen.seam import nodes, to_run, to_text
from symgrad.codegen.texts import Emitted, Lines, Mark, Tie
from symgrad.codegen.writer import Writer
from symgrad.ir.core import Call, Func, callees, walk
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.runtime.find import find


def emit(func: Func, header: Header) -> Emitted:
    """The source of a function and of the functions that it calls.

    >>> from symgrad.ir.core import Block, Value
    >>> from symgrad.ops.build import Builder
    >>> from symgrad.ir.types import FLOAT
    >>> import symgrad.ops.rows.engine
    >>> x = Value(FLOAT, "x")
    >>> build = Builder(Block([x]))
    >>> build.block.yields = [build.call("number", x)]
    >>> print(emit(Func("f", build.block), Header("f", "x")).text)
    def f(x):
        return float(x)
    <BLANKLINE>
    """
    marks: dict[ast.stmt, Mark] = {}
    definitions, names = written(func, header, marks)
    text, read = to_text(ast.Module(definitions, []))
    text, line_map = annotate(text, definitions, read.body, marks, header.lines if header.comments else None, func.notes)
    mentioned = {node.id for node in nodes(read) if isinstance(node, ast.Name)}
    return Emitted(text, {k: v for k, v in names.namespace.items() if k in mentioned}, line_map)


def emit_to_run(func: Func, header: Header) -> tuple[ast.Module, dict[str, Any]]:
    """A function as a tree that is compiled and never printed, and its global names."""
    definitions, names = written(func, replace(header, once=True), {})
    return to_run(ast.Module(definitions, [])), names.namespace


def written(func: Func, header: Header, marks: dict[ast.stmt, Mark]) -> tuple[list[ast.stmt], Names]:
    """The definitions of a function and of its callees, with the names that they take from their module."""
    funcs = called(func)
    headers = {func: header}
    taken = {header.name, header.again.partition("(")[0], *header.beside}
    users = users_names([other for other in funcs if other.original is not None], {**dict.fromkeys(sorted(taken)), **header.objects})
    funcs = [other for other in funcs if other not in users]
    taken |= set(users.values())
    for other in funcs:
        if other is not func:
            plain = plain_header(other, taken | set(header.objects))
            headers[other] = replace(plain, once=header.once, lines=header.lines, comments=header.comments, is_read=header.is_read)
            taken.add(headers[other].name)
    headers |= {other: Header(name, "") for other, name in users.items()}
    hidden = frozenset(taken).union(*(outer_names(headers[other]) for other in funcs))
    names = Names(hidden - set(header.objects), find, dict(header.objects))
    names.namespace |= {name: other.original for other, name in users.items()}
    texts: dict[Call, str] = {}
    inner = {other: collect(other, names, texts) for other in funcs}
    return [Writer(other, headers[other], names, headers, marks, inner[other], texts).function() for other in funcs], names


def users_names(funcs: list[Func], taken: Mapping[str, Any]) -> dict[Func, str]:
    """The names of the user's functions that the text calls; ``taken`` are other names, with what they denote."""
    originals: dict[str, Any] = dict(taken)
    names: dict[Func, str] = {}
    for func in funcs:
        base = func.original.__name__
        wishes = chain((base,), (f"{base}_{k}" for k in count(1)))
        names[func] = next(name for name in wishes if originals.get(name, func.original) is func.original and not hasattr(builtins, name))
        originals[names[func]] = func.original
    return names


def called(func: Func) -> list[Func]:
    """The function and all its callees, callees first."""
    funcs: dict[Func, None] = {}
    pending = [func]
    while pending:
        current = pending.pop()
        if current not in funcs:
            funcs[current] = None
            pending += [callee for op in walk(current.body) for callee in callees(op)]
    return list(funcs)[::-1]


# ------------------------------------------------------------------ comments

CUT = 40
SHORTEST = 12  #: shorter quotations say nothing
WIDTH = 120  #: the maximum width of a line with its comment
INDENT = 4  #: of the body of a function
COLUMN = 47
LAST_COLUMN = 64
#: sections with a blank line before them, except before the first one printed
AFTER = {"forward": ("backward", "forward and backward")}


def statements(body: list[ast.stmt], above: tuple[ast.stmt, ...] = ()) -> Iterator[tuple[ast.stmt, tuple[ast.stmt, ...]]]:
    """Every statement in the order of the text, with the statements that enclose it."""
    for statement in body:
        yield statement, above
        for name in ("body", "orelse"):
            yield from statements(getattr(statement, name, []), (*above, statement))


def quote(loc: Loc, lines: Lines, room: int = CUT) -> str:
    """The comment that quotes a line of the user's source, cut to fit; only the number where there is no room."""
    try:
        text = (loc.text or lines(loc.file, loc.line)).strip()
    except (OSError, LookupError):
        text = ""
    text = "".join(c if c.isprintable() else " " for c in text)
    room = min(room, CUT)
    if room < SHORTEST:
        text = ""
    elif len(text) > room:
        text = text[: room - 3].rstrip() + "..."
    return f"# {loc.line}: {text}" if text else f"# {loc.line}"


def annotate(
    text: str, printed: list[ast.stmt], read: list[ast.stmt], marks: dict[ast.stmt, Mark], lines: Lines | None, notes: Notes | None = None
) -> tuple[str, list[Tie]]:
    """Text with its comments, and where its lines come from.

    ``printed`` are the statements that were printed, ``read`` the same read from the text; without
    ``lines`` no comments are added.
    """
    rows = text.splitlines()
    marked: dict[int, tuple[Mark, bool]] = {}
    last = 0
    for (statement, above), (twin, _) in zip(statements(printed), statements(read), strict=True):
        mark = marks.get(statement)
        if mark is None:
            continue
        headed = any(marks[s].loc.line == mark.loc.line for s in above if s in marks)  # its line is at the head of the block
        first = mark.backward and mark.loc.line not in (0, last) and not headed
        last = last if headed else mark.loc.line or last
        marked.setdefault(twin.lineno, (mark, first))
    commented = [len(rows[n - 1]) for n, (mark, first) in marked.items() if first]
    column = max([COLUMN, *(w + 2 for w in commented if w + 2 <= LAST_COLUMN)])
    out: list[str] = []
    line_map: list[Tie] = []
    follows: tuple[str, ...] = ()
    starts = {statement.lineno for statement in read[1:]}
    for number, row in enumerate(rows, 1):
        if number in starts:
            out += ["", ""]
        mark, first = marked.get(number, (Mark(), False))
        if lines is not None and mark.section:
            if mark.section in follows:
                out.append("")
            follows = AFTER.get(mark.section, ())
            if mark.section != "forward":  # the user's own statements need no heading
                out.append(f"{row[: len(row) - len(row.lstrip())]}# {mark.section}")
        start = max(column - 2, len(row)) + 2
        room = WIDTH - start - len(f"# {mark.loc.line}: ")
        out.append(f"{row:<{start}}{quote(mark.loc, lines, room)}" if first and lines is not None else row)
        if mark.loc.line and notes is not None:
            kind = "emitted" if mark.whole else "backward" if mark.backward else "forward"
            notes.add("codegen", kind, mark.loc, row[INDENT:])
        if mark.loc.line:
            line_map.append(Tie(len(out), mark.loc, mark.backward, mark.tape))
    return "\n".join(out) + "\n", line_map


__all__ = ["emit", "emit_to_run"]
