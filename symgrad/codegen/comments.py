"""Adds to printed text what a tree cannot hold: section marks and, on the right, lines of the user's source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from symgrad.codegen.texts import Tie
from symgrad.location import NOWHERE, Loc
from symgrad.notes import Notes

CUT = 40
INDENT = 4  #: of the body of a function
COLUMN = 47
LAST_COLUMN = 64
#: sections preceded by a blank line, if one of these sections has been printed
AFTER = {"forward": ("backward",)}

Lines = Callable[[str, int], str]


@dataclass(slots=True)
class Mark:
    """The marks of one emitted statement.

    Its source location, whether it is in the backward half, whether its function has no halves, whether it
    accesses a tape, and the section that it begins.
    """

    loc: Loc = NOWHERE
    backward: bool = False
    whole: bool = False
    tape: bool = False
    section: str = ""


def statements(body: list[ast.stmt], above: tuple[ast.stmt, ...] = ()) -> Iterator[tuple[ast.stmt, tuple[ast.stmt, ...]]]:
    """Every statement in text order, with its enclosing statements."""
    for statement in body:
        yield statement, above
        for name in ("body", "orelse"):
            yield from statements(getattr(statement, name, []), (*above, statement))


def quote(loc: Loc, lines: Lines) -> str:
    """The comment that quotes a line of the user's source, cut to fit."""
    try:
        text = (loc.text or lines(loc.file, loc.line)).strip()
    except (OSError, LookupError):
        text = ""
    text = "".join(c if c.isprintable() else " " for c in text)
    if len(text) > CUT:
        text = text[: CUT - 3].rstrip() + "..."
    return f"# {loc.line}: {text}" if text else f"# {loc.line}"


def annotate(
    text: str, printed: list[ast.stmt], read: list[ast.stmt], marks: dict[ast.stmt, Mark], lines: Lines | None, notes: Notes | None = None
) -> tuple[str, list[Tie]]:
    """Add comments to a text, and return where its lines come from.

    ``printed`` are the statements that were printed, ``read`` the same statements parsed from the text. Without
    ``lines`` no comments are added.
    """
    rows = text.splitlines()
    marked: dict[int, tuple[Mark, bool]] = {}
    last = 0
    for (statement, above), (twin, _) in zip(statements(printed), statements(read), strict=True):
        mark = marks.get(statement)
        if mark is None:
            continue
        headed = any(marks[s].loc.line == mark.loc.line for s in above if s in marks)  # its line is quoted at the head of the block
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
        out.append(f"{row:<{column - 2}}  {quote(mark.loc, lines)}" if first and lines is not None else row)
        if mark.loc.line and notes is not None:
            kind = "emitted" if mark.whole else "backward" if mark.backward else "forward"
            notes.add("codegen", kind, mark.loc, row[INDENT:])
        if mark.loc.line:
            line_map.append(Tie(len(out), mark.loc, mark.backward, mark.tape))
    return "\n".join(out) + "\n", line_map
