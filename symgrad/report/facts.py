"""Collects ``Facts`` about a derivative for given arguments: everything that a page or table shows, as plain data."""

from __future__ import annotations

import linecache
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from symgrad.bound import Bound
from symgrad.codegen.texts import Emitted, Tie
from symgrad.derivatives import EVERY, Derived
from symgrad.dispatch.entry import Entry
from symgrad.errors import BadArgument
from symgrad.frontend.text.source import Source, describe, read
from symgrad.ir.core import Func
from symgrad.ir.show import show
from symgrad.location import Loc
from symgrad.notes import KINDS, Note, Notes, Timing
from symgrad.parameters import resolve_wrt
from symgrad.pipeline.job import STAGES
from symgrad.report.graph import Graph, graph_of, type_word
from symgrad.runtime.load import LOCK
from symgrad.signature import Compiled
from symgrad.testing import Comparison, compare_grads

#: kinds of remarks about how a value reaches the backward half, with the mark of its line
OBTAINED = {"saved": "saved", "undone": "saved", "recomputed": "recomputed", "carried": "carried", "kept": "kept"}
#: the maximal length of a displayed value
WIDEST = 400
Place = tuple[str, int]  #: a file and a line


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text, and the positions in the function that it derives from."""

    number: int
    text: str
    places: tuple[Place, ...] = ()
    half: str = ""  #: of the derivative: "forward" or "backward"
    tape: bool = False  #: it saves a value for the backward half, or reads one


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines of one file, in order."""

    file: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call, and the results of the function and its derivative, as text."""

    arguments: tuple[tuple[str, str], ...]
    value: str
    derivative: str


@dataclass(slots=True)
class Facts:
    """The facts shown about a derivative. ``functions`` are the user's lines: the function, then its callees, by file."""

    title: str  #: such as ``grad(loss)``
    name: str  #: of the function
    what: str  #: which derivative
    wrt: tuple[str, ...]
    signature: tuple[tuple[str, str], ...]  #: parameters and their types
    functions: list[Listing]
    derivative: list[Line]
    running: str  #: the text that runs
    kernel: str | None  #: the text that numba compiles, where there is one
    notes: list[Note]
    stages: dict[str, str]
    graph: Graph
    timings: list[Timing] = field(default_factory=list)
    call: Call | None = None
    comparisons: list[Comparison] | None = None
    why_unchecked: str = "no arguments to try it with"

    @property
    def file(self) -> str:
        """The file of the function."""
        return self.functions[0].file

    def told_of(self, place: Place) -> list[Note]:
        """The notes about a line, by kind, in the order in which kinds are printed."""
        own = [note for note in self.notes if (note.loc.file, note.loc.line) == place]
        return sorted(own, key=lambda note: ORDER[note.kind])


ORDER = {kind: number for number, kind in enumerate(KINDS)}


def facts_of(
    derived: Derived | Bound, args: Sequence[Any] = (), *, signature: str | None = None, jit: bool = False, run: bool = True
) -> Facts:
    """All that is shown of a derivative for arguments like these, or for a signature; without both for the latest call.

    With ``run`` the function and the derivative are called with the arguments, and the derivative is compared with differences.
    """
    if isinstance(derived, Bound):
        args = (derived._instance, *args) if args else args
        derived = cast("Derived", derived._derived)
    entry = derived._entry(tuple(args), {}, signature)
    source = read(derived._function)
    again, emitted, notes = compile_for_reading(derived, entry)
    stages = again.stages()
    options, order = derived._options, list(entry.signature.names)
    every = options.what in EVERY and options.wrt is None
    facts = Facts(
        title=repr(derived),
        name=describe(derived._function),
        what=options.what,
        wrt=derived._positional_floats(entry.signature) if every else resolve_wrt(options, derived._function),
        signature=tuple((name, type_word(entry.signature[name])) for name in order),
        functions=listings(source, emitted.line_map, notes),
        derivative=derivative_lines(emitted.text, emitted.line_map, source),
        running=again.text,
        kernel=kernel_text(entry) if jit else None,
        notes=list(notes),
        stages={name: show(stages[name], folders=False) for name in STAGES if name in stages},
        graph=graph_of(first_of(stages, ("simplified", "lowered", "optimized"))),
        timings=list(notes.trace.timings),
    )
    if run and args:
        add_call(facts, derived, tuple(args))
    return facts


def first_of(stages: Mapping[str, Func], names: Sequence[str]) -> Func:
    """The function of the first of some stages that there is."""
    return stages[next(name for name in names if name in stages)]


def compile_for_reading(derived: Derived, entry: Entry) -> tuple[Compiled, Emitted, Notes]:
    """Compile the derivative again as NumPy code; return its text to read and the remarks on that text."""
    notes, own = Notes(), Notes()
    with LOCK:
        again = derived._make(derived._function, entry.signature, entry.compiled.pins, notes)
        assert again.readable is not None
        text: Emitted | None = again.readable.told(own)
        if text is None:
            return again, again.readable.shown(), notes
    own.trace.timings = notes.trace.timings
    return again, text, own


def kernel_text(entry: Entry) -> str | None:
    """The text that numba compiles; None where the derivative runs as NumPy code."""
    pending = entry.compiled.pending
    shown = entry.compiled if pending is None else pending.shown()
    return shown.text if "njit" in shown.text else None


# ------------------------------------------------------------------ lines


def derivative_lines(text: str, ties: Sequence[Tie], source: Source) -> list[Line]:
    """Return the lines of the derivative's text, each with the positions that it derives from.

    The ``def`` line derives from that of the function, and a statement equal to the user's from the user's line.
    """
    origins: dict[int, list[Tie]] = {}
    for tie in ties:
        origins.setdefault(tie.line, []).append(tie)
    rows = text.rstrip("\n").split("\n")
    backward = min((tie.line for tie in ties if tie.backward), default=len(rows) + 1)
    verbatim = lines_by_text(source)
    lines = []
    for number, row in enumerate(rows, 1):
        own = origins.get(number, [])
        half = "" if not own else "backward" if own[0].backward else "forward"
        places = tuple(dict.fromkeys(place_of(tie.loc) for tie in own))
        if not places and number < backward and row.strip() in verbatim:
            places, half = ((source.file, verbatim[row.strip()]),), "forward"
        elif row.startswith("def "):
            places = ((source.file, source.node.lineno),)
        lines.append(Line(number, row, places, half, any(tie.tape for tie in own)))
    return lines


def lines_by_text(source: Source) -> dict[str, int]:
    """Return the lines of a function by their text, for unique texts that are whole statements."""
    numbers: dict[str, list[int]] = {}
    for number in range(source.node.lineno + 1, (source.node.end_lineno or source.node.lineno) + 1):
        numbers.setdefault(source.line(number).strip(), []).append(number)
    return {text: rows[0] for text, rows in numbers.items() if len(rows) == 1 and "=" in text}


def place_of(loc: Loc) -> Place:
    """The file and the line of a location."""
    return loc.file, loc.line


def listings(source: Source, ties: Sequence[Tie], notes: Notes) -> list[Listing]:
    """Return the lines of the function, then those of other functions with remarks, by file."""
    first, last = source.node.lineno, source.node.end_lineno or source.node.lineno
    own = Listing(source.file, tuple(Line(n, source.line(n), ((source.file, n),)) for n in range(first, last + 1)))
    places = {place_of(tie.loc): tie.loc.text for tie in ties} | {place_of(note.loc): note.loc.text for note in notes}
    outside: dict[str, dict[int, str]] = {}
    for (file, number), text in places.items():
        if file and number and not (file == source.file and first <= number <= last):
            outside.setdefault(file, {})[number] = text or linecache.getline(file, number).rstrip("\n")
    others = [Listing(file, tuple(Line(n, rows[n], ((file, n),)) for n in sorted(rows))) for file, rows in sorted(outside.items())]
    return [own, *others]


# ------------------------------------------------------------------ a call


def add_call(facts: Facts, derived: Derived, args: tuple[Any, ...]) -> None:
    """Call the function and the derivative, and compare the derivative with differences."""
    names = [name for name, _ in facts.signature]
    call: Any = derived
    facts.call = Call(
        arguments=tuple((names[k] if k < len(names) else f"argument {k}", shown_value(value)) for k, value in enumerate(args)),
        value=shown_value(derived._of(*fresh(args))),
        derivative=shown_value(call(*fresh(args))),
    )
    if derived._options.what not in ("grad", "value_and_grad"):
        facts.why_unchecked = f"{derived._options.what} is not compared with differences here"
        return
    try:
        facts.comparisons = compare_grads(derived._of, fresh(args), 1, wrt=facts.wrt, directions=3)
    except BadArgument as refusal:
        facts.why_unchecked = refusal.what


def fresh(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of the arguments, since the function may write to them."""
    return deepcopy(args)


def shown_value(value: Any) -> str:
    """A value as text that fits a page: numbers of NumPy as Python's, long arrays shortened."""
    with np.printoptions(legacy="1.25", threshold=60, precision=6):
        text = repr(value)
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 1]}…"


__all__ = ["OBTAINED", "Call", "Facts", "Line", "Listing", "facts_of"]
