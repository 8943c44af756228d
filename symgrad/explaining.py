"""``explain``: renders the remarks of the stages as a page, line by line of the user's function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from symgrad.notes import KINDS, Note, Timing
from symgrad.runtime.load import imported

LABEL = max(map(len, KINDS)) + 2  #: the width of a kind
Lines = Callable[[str, int], str]  #: a line of a file


class Explanation(str):
    """The report of ``explain``: a text, which notebooks show as a table."""

    __slots__ = ("heading", "lines", "notes")
    heading: str
    notes: Sequence[Note]
    lines: Lines

    def _repr_html_(self) -> str:
        table: str = imported("symgrad.notebook.display").table(self.heading, self.notes, self.lines)
        return table

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def explain(title: str, notes: Iterable[Note], lines: Lines, span: tuple[str, int, int]) -> Explanation:
    """Return the report; ``span`` is the file of the user's function, with its first and last line.

    >>> from symgrad.location import Loc
    >>> notes = [Note("activity", "active", Loc("f.py", 2), "", "y"), Note("activity", "active", Loc("f.py", 2), "", "z")]
    >>> print(explain("grad of f", notes, lambda file, line: ["def f(x):", "    y = z = 2 * x"][line - 1], ("f.py", 1, 2)))
    grad of f
    <BLANKLINE>
    1  def f(x):
    2      y = z = 2 * x
           active      y, z
    """
    places: dict[str, dict[int, list[Note]]] = {}
    notes = list(notes)
    for note in notes:
        places.setdefault(note.loc.file, {}).setdefault(note.loc.line, []).append(note)
    file, first, last = span
    own = places.pop(file, {})
    output = [title, ""]
    inside = range(first, last + 1)
    output += listing(file, [n for n in inside if n in own or lines(file, n).strip()], own, lines)
    outer = {file: {n: line_notes for n, line_notes in own.items() if n not in inside and n}, **places}
    for other, table in sorted(outer.items()):
        numbers = sorted(n for n in table if n)
        if numbers:
            output += ["", f"{other}, which it calls" if other != file else "what it calls"]
            output += listing(other, numbers, table, lines)
    page = Explanation("\n".join(line.rstrip() for line in output) + "\n")
    page.heading, page.notes, page.lines = title, notes, lines
    return page


def listing(file: str, numbers: list[int], notes: dict[int, list[Note]], lines: Lines) -> list[str]:
    """Return the lines of a file, each followed by its remarks."""
    width = len(str(max(numbers, default=0)))
    output = []
    for number in numbers:
        text = lines(file, number)
        indent = len(text) - len(text.lstrip())
        output.append(f"{number:>{width}}  {text.rstrip()}")
        output += [f"{' ' * (width + 2 + indent)}{line}" for line in below(text.strip(), notes.get(number, []))]
    return output


def below(text: str, notes: list[Note]) -> list[str]:
    """Return the remarks on one line, by kind; equal remarks on several names are merged."""
    output = []
    for kind in KINDS:
        groups: dict[tuple[str, str], list[str]] = {}
        for note in notes:
            if note.kind == kind and not (kind in ("forward", "emitted") and note.message.strip() == text):
                names = groups.setdefault((note.message, note.hint), [])
                if note.name and note.name not in names:
                    names.append(note.name)
        label = kind
        common = min((len(message) - len(message.lstrip()) for message, _ in groups), default=0)  # of emitted text
        for (message, hint), names in groups.items():
            message = message[common:]
            about = ", ".join(names)
            output.append(f"{label:{LABEL}}{about}{': ' if about and message else ''}{message}")
            output += [f"{'':{LABEL}}try: {hint}"] if hint else []
            label = ""
    return output


def timings(title: str, taken: Sequence[Timing]) -> str:
    """Return the time of each pass in ms, in the order of the stages, summed over equal names in a stage.

    >>> print(timings("grad of f", [Timing("simplify", "fold", 0.002), Timing("simplify", "fold", 0.001)]))
    grad of f
    <BLANKLINE>
        ms  runs  pass
       3.0     2  simplify
       3.0     2    fold
    <BLANKLINE>
       3.0     2  in all
    <BLANKLINE>
    """
    stages: dict[str, dict[str, list[float]]] = {}
    for one in taken:
        stages.setdefault(one.stage, {}).setdefault(one.name, []).append(one.seconds)
    table = [title, "", "    ms  runs  pass"]
    for stage, passes in stages.items():
        table.append(line(stage, [second for seconds in passes.values() for second in seconds]))
        table += [line(f"  {name}", seconds) for name, seconds in passes.items() if len(passes) > 1 or name != stage]
    return "\n".join([*table, "", line("in all", [one.seconds for one in taken])]) + "\n"


def line(name: str, seconds: Sequence[float]) -> str:
    """A line of the table."""
    return f"{1000 * sum(seconds):6.1f}  {len(seconds):4}  {name}"


__all__ = ["Explanation", "explain", "timings"]
