"""Displays derivatives and the output of ``explain`` in notebooks: HTML without scripts, LaTeX of short closed forms, plain text.

Lines that belong together are lit by rules of CSS alone, so that a notebook that is not trusted, or is seen on a page, shows the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symgrad.bound import Bound
from symgrad.derivatives import Derived
from symgrad.errors import SymgradError
from symgrad.highlight import pieces
from symgrad.notebook.formulas import formulas
from symgrad.notes import KINDS, Note
from symgrad.report.facts import Facts, Line, facts_of
from symgrad.report.html import Html, element, join
from symgrad.report.page import COLOURS, WHAT, Ties

HUES = (235, 20, 175, 330, 66, 262, 200, 42)  #: of the colours that tie lines
#: the colours of tokens: those of the notebook's theme, where it has them
TOKENS = {
    "keyword": "var(--jp-mirror-editor-keyword-color, #8a3ea8)",
    "builtin": "var(--jp-mirror-editor-builtin-color, #0f6c8c)",
    "number": "var(--jp-mirror-editor-number-color, #a3500b)",
    "string": "var(--jp-mirror-editor-string-color, #2f7a39)",
    "comment": "var(--jp-mirror-editor-comment-color, #6b7280)",
    "name": "var(--jp-mirror-editor-def-color, #3440b5)",
}


def bundle(derived: Derived | Bound) -> dict[str, str]:
    """The notebook representations of a derivative: ``text/plain``, and after a call also ``text/html`` and ``text/latex``."""
    shown = {"text/plain": repr(derived)}
    inner: Any = derived._derived if isinstance(derived, Bound) else derived
    if inner._table.current() is None:
        return shown
    try:
        facts = facts_of(derived, run=False)
        stages = inner._entry((), {}, None).compiled.stages()
        formula = None
        if {"simplified", "optimized"} <= {*stages} and facts.what in ("grad", "value_and_grad"):
            formula = formulas(facts.name.rpartition(".")[2], stages["simplified"], stages["optimized"], facts.wrt)
    except SymgradError:
        return shown
    shown["text/html"] = side_by_side(facts, formula)
    if formula is not None:
        shown["text/latex"] = f"$\\displaystyle {formula}$"
    return shown


def side_by_side(facts: Facts, formula: str | None) -> Html:
    """Both texts, their types, and the formulas."""
    ties = Ties(facts)
    keys = dict.fromkeys(key for line in facts.derivative for key in (ties.of(line.places) or "").split())
    types = join([element("code", f"{name}: {type_}") for name, type_ in facts.signature], ", ")
    what = WHAT.get(facts.what, facts.what)
    head = element(
        "p",
        element("b", f"{what} of ", element("code", facts.name)),
        " with respect to ",
        join([element("code", name) for name in facts.wrt], ", "),
        " for ",
        types,
        class_="sg-head",
    )
    left = element("pre", *(rows(listing.lines, ties) for listing in facts.functions))
    right = element("pre", rows(facts.derivative, ties))
    math = element("div", f"$$\\displaystyle {formula}$$", class_="sg-formula") if formula is not None else Html("")
    return element("div", element("style", style(keys)), head, element("div", left, right, class_="sg-pair"), math, class_="sg")


def rows(lines: Sequence[Line], ties: Ties) -> Html:
    """Lines of Python, each with its number and its colour."""
    coloured = pieces("\n".join(line.text for line in lines))
    return join(row(line, text, ties) for line, text in zip(lines, coloured, strict=True))


def row(line: Line, coloured: Sequence[tuple[str, str]], ties: Ties) -> Html:
    """One line."""
    if line.half and coloured and coloured[-1][0] == "comment":
        coloured = coloured[:-1]
    text = join(element("span", piece, class_=f"sg-{kind}") if kind != "plain" else piece for kind, piece in coloured)
    classes = f"sg-line {ties.of(line.places) or ''}{ties.colour(line.places).replace(' c', ' sg-c')}"
    return element("span", element("span", f"{line.number:>4} ", class_="sg-at"), text, "\n", class_=" ".join(classes.split()))


def style(keys: Iterable[str]) -> Html:
    """Rules for this output: a line that is pointed at lights all that have a word in common with it."""
    tied = [f".sg:has(.{key}:hover) .{key}{{background:rgba(255,200,50,.28)}}" for key in keys]
    colours = [f".sg-c{k}{{border-left-color:hsl({HUES[k]} 60% 50%)}}" for k in range(COLOURS)]
    tokens = [f".sg-{kind}{{color:{colour}}}" for kind, colour in TOKENS.items()]
    plain = [
        ".sg-pair{display:flex;flex-wrap:wrap;gap:12px}",
        ".sg-pair pre{flex:1 1 340px;overflow-x:auto;margin:0;padding:6px 0;font-size:12.5px}",
        ".sg-pair pre{border:1px solid rgba(128,128,128,.35);border-radius:6px}",
        ".sg-line{display:block;border-left:3px solid transparent;padding-right:8px}",
        ".sg-at{opacity:.55;user-select:none}",
        ".sg-head{margin:4px 0 8px}",
    ]
    return Html("".join([*plain, *colours, *tokens, *tied]))


# ------------------------------------------------------------------ explain


def table(title: str, notes: Sequence[Note], line: Callable[[str, int], str]) -> Html:
    """The remarks of ``explain`` as a table: the line, its text, the kind of decision, and the decision."""
    order = {kind: number for number, kind in enumerate(KINDS)}
    lines: list[Html] = []
    last = ("", 0)
    for note in sorted(notes, key=lambda note: (note.loc.file, note.loc.line, order[note.kind])):
        place = (note.loc.file, note.loc.line)
        if not place[1]:
            continue
        begins = place != last
        text = line(*place).strip() if begins else ""
        told = [element("code", note.name) if note.name else "", ": " if note.name and note.message else ""]
        told.append(element("code", note.message) if note.kind in ("forward", "backward", "emitted") else note.message)
        told.append(element("i", f" try: {note.hint}") if note.hint else "")
        cells = (place[1] if begins else "", element("code", text), element("span", note.kind, title=KINDS[note.kind]), join(told))
        lines.append(element("tr", *(element("td", cell, class_="sg-cell") for cell in cells)))
        last = place
    head = element("tr", *(element("th", word, class_="sg-cell") for word in ("line", "", "", title)))
    rules = Html(".sg-cell{text-align:left!important;vertical-align:top}.sg-cell:nth-child(2){min-width:16em}")
    return element("div", element("style", rules), element("table", element("thead", head), element("tbody", *lines)), class_="sg")


__all__ = ["bundle", "side_by_side", "table"]
