"""Splits Python source into lines of classified tokens, for terminals and pages; the text itself is unchanged."""

from __future__ import annotations

import builtins
import io
import keyword
import token
import tokenize
from collections.abc import Iterator

BUILTIN = frozenset(name for name in dir(builtins) if not name.startswith("_"))
STRINGS = {token.STRING, *(getattr(token, name) for name in ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END") if hasattr(token, name))}
Piece = tuple[str, str]  #: a class, and the text


def pieces(text: str) -> list[list[Piece]]:
    """Split a text into lines, and each line into pieces.

    Invalid or incomplete Python is classified as far as it can be read.

    >>> pieces("x = 2  # two")
    [[('plain', 'x = '), ('number', '2'), ('plain', '  '), ('comment', '# two')]]
    """
    lines = text.split("\n")
    marked: list[list[tuple[int, int, str]]] = [[] for _ in lines]
    for kind, (first, start), (last, end) in classified(text):
        for row in range(first, min(last, len(lines)) + 1):
            begin, stop = start if row == first else 0, end if row == last else len(lines[row - 1])
            if begin < stop:
                marked[row - 1].append((begin, stop, kind))
    return [list(filled(line, marks)) for line, marks in zip(lines, marked, strict=True)]


def filled(line: str, marks: list[tuple[int, int, str]]) -> Iterator[Piece]:
    """Return the pieces of a line, including the text between tokens."""
    place = 0
    for begin, stop, kind in marks:
        if begin < place:
            continue
        if begin > place:
            yield "plain", line[place:begin]
        yield kind, line[begin:stop]
        place = stop
    if place < len(line):
        yield "plain", line[place:]


def classified(text: str) -> Iterator[tuple[str, tuple[int, int], tuple[int, int]]]:
    """Yield the classified tokens, with their positions."""
    before = ""
    try:
        for item in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            kind = class_of(item.type, item.string, before)
            if item.type not in (token.NL, token.NEWLINE, token.INDENT, token.DEDENT):
                before = item.string
            if kind:
                yield kind, item.start, item.end
    except (tokenize.TokenError, SyntaxError):
        return


def class_of(kind: int, word: str, before: str) -> str:
    """Return the class of a token; ``before`` is the preceding word."""
    if kind in STRINGS:
        return "string"
    if kind == token.COMMENT:
        return "comment"
    if kind == token.NUMBER:
        return "number"
    if kind != token.NAME:
        return ""
    if keyword.iskeyword(word):
        return "keyword"
    if before in ("def", "class"):
        return "name"
    return "builtin" if word in BUILTIN and before != "." else ""


__all__ = ["pieces"]
