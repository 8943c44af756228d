"""Renders ``Facts`` as one self-contained HTML page: it sends no request, and no text of the user becomes markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from symgrad.explaining import timings as table_of_timings
from symgrad.highlight import pieces
from symgrad.location import Loc
from symgrad.notes import KINDS, Note
from symgrad.report.drawing import drawing
from symgrad.report.facts import OBTAINED, Facts, Line, Place
from symgrad.report.html import Html, element, join

#: kinds of notes that the two texts side by side show already
SHOWN_BESIDE = frozenset({"forward", "backward", "emitted"})
#: how many colours tie lines
COLOURS = 8
WHAT = {
    "grad": "gradient",
    "value_and_grad": "value and gradient",
    "vjp": "pullback",
    "jvp": "derivative in a direction",
    "primal": "function",
    "linearize": "linear part",
    "jacobian": "Jacobian",
    "hvp": "Hessian times vector",
    "vhp": "vector times Hessian",
}


@cache
def asset(name: str) -> Html:
    """A file of this package that becomes part of the page."""
    return Html((Path(__file__).parent / name).read_text(encoding="utf-8"))


def digest(text: str) -> str:
    """Return the hash that identifies a script or style in a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page(facts: Facts, *, times: bool = True, version: str = "") -> str:
    """Return the whole page; without ``times`` it is the same for the same input.

    Its policy allows its one script and its one style, and no request.
    """
    style, script = asset("page.css"), asset("page.js")
    policy = f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="generator", content=f"symgrad {version}".strip()),
        element("meta", name="color-scheme", content="light dark"),
        element("title", f"{facts.title} — symgrad"),
        element("style", style),
    )
    body = element("body", element("main", content(facts, times), id="page"), element("script", script))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def content(facts: Facts, times: bool = True) -> Html:
    """Return the content of the page: the head, the two texts, the tabs."""
    ties = Ties(facts)
    return join([head(facts), pair(facts, ties), tabs(facts, ties, times)])


class Ties:
    """The words that link lines: one for each line of the user, with a colour if the derivative has lines for it."""

    def __init__(self, facts: Facts) -> None:
        places: dict[Place, None] = {}
        for listing in facts.functions:
            places |= dict.fromkeys(place for line in listing.lines for place in line.places)
        self.numbers = {place: number for number, place in enumerate(places)}
        used = dict.fromkeys(place for line in facts.derivative for place in line.places if place in self.numbers)
        order = sorted(used, key=self.numbers.__getitem__)
        self.colours = {place: number % COLOURS for number, place in enumerate(order)}

    def word(self, place: Place) -> str:
        """The word of a place."""
        return f"u{self.numbers[place]}" if place in self.numbers else ""

    def of(self, places: Sequence[Place]) -> str | None:
        """The words of some positions, as an attribute."""
        return " ".join(filter(None, map(self.word, places))) or None

    def at(self, loc: Loc) -> str:
        """The word of a location."""
        return self.word((loc.file, loc.line))

    def colour(self, places: Sequence[Place]) -> str:
        """The class of the colour of a line."""
        return next((f" c{self.colours[place]}" for place in places if place in self.colours), "")


# ------------------------------------------------------------------ the head


def head(facts: Facts) -> Html:
    """Return the head: the derivative, the types, and the result."""
    wrt = join([element("code", name) for name in facts.wrt], ", ")
    types = [
        element("span", element("code", name), " ", element("span", type_, class_="type"), class_="chip") for name, type_ in facts.signature
    ]
    what = WHAT.get(facts.what, facts.what)
    of = facts.title if facts.title.count("(") > 1 and facts.title.startswith("grad(grad") else facts.name
    title = element("h1", element("span", f"{what[0].upper()}{what[1:]} of "), element("code", of))
    lines = [
        element("p", "with respect to ", wrt, class_="wrt") if facts.wrt else "",
        element("p", *types, class_="types", aria_label="types"),
    ]
    if facts.call is not None:
        words = ", ".join(f"{name}={value}" for name, value in facts.call.arguments)
        rows = [("arguments", words), ("value", facts.call.value), (what, facts.call.derivative)]
        lines.append(
            element(
                "dl",
                *(piece for word, value in rows for piece in (element("dt", word), element("dd", element("code", value)))),
                class_="call",
            )
        )
    return element("header", element("div", title, verdict(facts), class_="title"), *lines)


def verdict(facts: Facts) -> Html:
    """In one line whether the derivative agrees with differences."""
    if facts.comparisons is None:
        return element("p", facts.why_unchecked, class_="verdict unknown")
    agrees = all(comparison.agrees for comparison in facts.comparisons)
    return element(
        "p", "agrees with differences" if agrees else "differs from differences", class_=f"verdict {'right' if agrees else 'wrong'}"
    )


# ------------------------------------------------------------------ the two texts


def pair(facts: Facts, ties: Ties) -> Html:
    """The function and its derivative, side by side."""
    what = WHAT.get(facts.what, facts.what)
    listings = []
    for number, listing in enumerate(facts.functions):
        if number:
            same = listing.file == facts.file
            listings.append(element("h3", "what it calls" if same else f"what it calls, in {name_of(listing.file)}"))
        listings.append(
            element("ol", *code_lines(listing.lines, ties, facts, "f"), class_="code", aria_label=f"lines of {name_of(listing.file)}")
        )
    button = element("button", "Show all notes", type="button", class_="all-notes", aria_pressed="false", hidden=True)
    own = element(
        "section",
        element("div", element("h2", "The function"), element("span", name_of(facts.file), class_="file"), button, class_="bar"),
        *listings,
        class_="pane function",
        aria_label="the function",
    )
    rows = element("ol", *code_lines(facts.derivative, ties, facts, "d"), class_="code", aria_label=f"lines of the {what}")
    other = element(
        "section",
        element("div", element("h2", f"Its {what}"), element("span", "written by symgrad", class_="file"), class_="bar"),
        rows,
        class_="pane derivative",
        aria_label=f"its {what}",
    )
    told = (
        "Lines of one colour belong together. Point at a line to see what it becomes; click it, or press Enter, to read what was decided."
    )
    return join([element("p", told, class_="help"), element("div", own, other, class_="pair")])


def name_of(file: str) -> str:
    """The name of a file without its folders: a page does not say where it was made."""
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def code_lines(lines: Sequence[Line], ties: Ties, facts: Facts, side: str) -> list[Html]:
    """The rows of a listing."""
    coloured = pieces("\n".join(line.text for line in lines))
    return [code_line(line, colours, ties, facts, side) for line, colours in zip(lines, coloured, strict=True)]


def code_line(line: Line, coloured: list[tuple[str, str]], ties: Ties, facts: Facts, side: str) -> Html:
    """Return one row: number, text, marks, and below a line of the function its remarks."""
    if line.half and coloured and coloured[-1][0] == "comment":  # the line of the user's that it comes from, which the tie shows
        coloured = coloured[:-1]
        if coloured and coloured[-1][0] == "plain":
            coloured = [*coloured[:-1], ("plain", coloured[-1][1].rstrip())]
    text = join(element("span", piece, class_=f"k-{kind}") if kind != "plain" else piece for kind, piece in coloured)
    marks = line_marks(line, facts) if side == "f" else tape_marks(line)
    notes = notes_below(facts.told_of(line.places[0])) if side == "f" and line.places else Html("")
    row = element(
        "div",
        element("span", line.number, class_="number", aria_hidden="true"),
        element("code", text or "\n"),
        element("span", *marks, class_="marks") if marks else "",
        class_="row",
    )
    kind = f"line {line.half}{ties.colour(line.places)}".replace("  ", " ").rstrip()
    return element("li", row, notes, class_=kind, data_key=ties.of(line.places), data_side=side if line.places else None)


def line_marks(line: Line, facts: Facts) -> list[Html]:
    """Return the marks of a line: values saved or recomputed for the backward half."""
    marks: dict[str, dict[str, list[str]]] = {}
    for note in facts.told_of(line.places[0]) if line.places else ():
        word = OBTAINED.get(note.kind)
        if word and word != "kept":
            marks.setdefault(word, {}).setdefault(note.name, []).append(note.message)
    shown = []
    for word, names in marks.items():
        title = "; ".join(f"{name}: {', '.join(reasons)}" if name else ", ".join(reasons) for name, reasons in names.items())
        shown.append(element("span", f"{word} {short(', '.join(filter(None, names)))}".rstrip(), class_=f"mark {word}", title=title))
    return shown


def short(name: str) -> str:
    """A name or expression that fits a mark."""
    return name if len(name) <= 18 else f"{name[:17]}…"


def tape_marks(line: Line) -> list[Html]:
    """Whether a line of the derivative saves a value, or reads a saved one."""
    if not line.tape:
        return []
    word = "read back" if line.half == "backward" else "saved here"
    title = "reads a value that the forward half has saved" if line.half == "backward" else "kept for the backward half"
    return [element("span", word, class_="mark saved", title=title)]


def notes_below(notes: Sequence[Note]) -> Html:
    """Return the remarks on a line, by kind."""
    rows: list[Html] = []
    groups: dict[tuple[str, str, str], list[str]] = {}
    for note in notes:
        if note.kind not in SHOWN_BESIDE:
            names = groups.setdefault((note.kind, note.message, note.hint), [])
            if note.name and note.name not in names:
                names.append(note.name)
    last = ""
    for (kind, message, hint), names in groups.items():
        label = element("dt", kind, title=KINDS[kind], class_=f"kind {OBTAINED.get(kind, kind)}") if kind != last else element("dt")
        about = element("code", ", ".join(names)) if names else ""
        told = [about, ": " if names and message else "", message]
        if hint:
            told.append(element("span", "try: ", hint, class_="hint"))
        rows += [label, element("dd", *told)]
        last = kind
    return element("dl", *rows, class_="notes", hidden=True) if rows else Html("")


# ------------------------------------------------------------------ tabs


def tabs(facts: Facts, ties: Ties, times: bool) -> Html:
    """The graph, the IR, the check, the code that runs, the times: one is shown at a time."""
    panels = [
        ("graph", "Graph", element("div", drawing(facts.graph, ties.at), class_="scroll", tabindex="0", role="group", aria_label="graph")),
        ("ir", "IR", tabbed("stage", "stages of the IR", [(name, name, block(text)) for name, text in facts.stages.items()])),
        ("check", "Check", check(facts)),
        ("running", "Code that runs", python_block(facts.running)),
    ]
    if facts.kernel is not None:
        panels.append(("kernel", "Kernel", python_block(facts.kernel)))
    if times and facts.timings:
        panels.append(("times", "Times", block(table_of_timings(facts.title, facts.timings))))
    return element("section", tabbed("tab", "more about it", panels), class_="more")


def tabbed(group: str, label: str, panels: Sequence[tuple[str, str, Html]]) -> Html:
    """Tabs as the ARIA practices have them: without a script all panels are shown, one below the other."""
    buttons = [
        element(
            "button",
            title,
            type="button",
            role="tab",
            id=f"{group}-{name}",
            aria_controls=f"{group}-{name}-panel",
            aria_selected="true" if number == 0 else "false",
            tabindex="0" if number == 0 else "-1",
        )
        for number, (name, title, _) in enumerate(panels)
    ]
    shown = [
        element(
            "div",
            element("h3", title, class_="panel-title"),
            panel,
            role="tabpanel",
            id=f"{group}-{name}-panel",
            aria_labelledby=f"{group}-{name}",
            class_="panel",
            data_first=number == 0,
        )
        for number, (name, title, panel) in enumerate(panels)
    ]
    return element("div", element("div", *buttons, role="tablist", aria_label=label, class_=f"tablist {group}"), *shown, class_="tabs")


def block(text: str) -> Html:
    """A text in lines."""
    return element("pre", text.rstrip("\n"), tabindex="0")


def python_block(text: str) -> Html:
    """A text of Python in lines."""
    rows = [
        join(element("span", piece, class_=f"k-{kind}") if kind != "plain" else piece for kind, piece in row)
        for row in pieces(text.rstrip("\n"))
    ]
    return element("pre", join(rows, "\n"), tabindex="0")


def check(facts: Facts) -> Html:
    """The comparison with differences, as a table."""
    if facts.comparisons is None:
        return element("p", f"Not compared: {facts.why_unchecked}.", class_="empty")
    names = ("direction", "argument", "mode", "derivative", "beside", "", "difference", "allowed", "")
    top = element("tr", *(element("th", name, scope="col") for name in names))
    rows = []
    for comparison in facts.comparisons:
        cells = (
            str(comparison.direction + 1),
            comparison.leaf,
            comparison.mode,
            f"{comparison.generated:.12g}",
            comparison.method,
            f"{comparison.differences:.12g}",
            f"{abs(comparison.generated - comparison.differences):.1e}",
            f"{comparison.tolerance:.0e}",
            "agrees" if comparison.agrees else "differs",
        )
        rows.append(element("tr", *(element("td", cell) for cell in cells), class_="right" if comparison.agrees else "wrong"))
    told = (
        "The derivative in random directions, by each mode, beside differences of the function itself or, where it takes complex numbers, "
        "a step in an imaginary direction; then the two modes beside each other."
    )
    return element("div", element("p", told), element("table", element("thead", top), element("tbody", *rows)), class_="check")


__all__ = ["content", "page"]
