"""Adds colours to text for terminals that show them."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from symgrad.highlight import pieces

#: the classes of tokens in the colours that every terminal has
COLOURS = {"keyword": "35", "builtin": "36", "number": "33", "string": "32", "comment": "90", "name": "1;34"}
WORDS = {"right": "32", "wrong": "1;31", "title": "1", "soft": "90"}


def coloured(options: argparse.Namespace, stream: Any = None) -> bool:
    """Whether to use colours: by ``--color``, else by NO_COLOR and FORCE_COLOR, else if the output is a terminal.

    https://no-color.org: any value of NO_COLOR that is not empty turns colours off.
    """
    if options.color != "auto":
        return bool(options.color == "always")
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    stream = sys.stdout if stream is None else stream
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def painted(text: str, word: str, colours: bool) -> str:
    """A text in one of the colours of ``WORDS``."""
    return f"\x1b[{WORDS[word]}m{text}\x1b[0m" if colours else text


def python(text: str, colours: bool) -> str:
    """A text of Python, its tokens in colours."""
    if not colours:
        return text
    return "\n".join(
        "".join(f"\x1b[{COLOURS[kind]}m{piece}\x1b[0m" if kind in COLOURS else piece for kind, piece in row) for row in pieces(text)
    )


__all__ = ["coloured", "painted", "python"]
