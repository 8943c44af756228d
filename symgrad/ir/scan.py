"""Scanner of the IR's text form: names, numbers, literals and types. ``parse`` reads the lines."""

from __future__ import annotations

import ast
import re
from typing import Any

from symgrad.ir.types import (
    BOOL,
    COMPLEX,
    DTYPES,
    FLOAT,
    INT,
    UNDEFINED,
    UNKNOWN,
    Array,
    Box,
    Dim,
    Extent,
    List,
    Object,
    Scalar,
    Shape,
    ShapeOf,
    Tape,
    Type,
    kind_of,
)


class ParseError(ValueError):
    """The text is not valid IR; the message begins with the line."""


SYMBOL = r"[^\W\d][\w.]*"
NAME = r"`[^`]*`(?:\.\d+)?|%\??\w+|[^\W\d]\w*(?:\.\d+)?(?![\w.])"
NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf\b|nan\b)j?"
STRING = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
WORDS = {"None": None, "True": True, "False": False}
NUMBERS: dict[str, Type] = {"float": FLOAT, "int": INT, "bool": BOOL, "complex": COMPLEX}


class Scanner:
    """One line and the scanning position in it."""

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.at = 0

    def fail(self, what: str) -> ParseError:
        return ParseError(f"line {self.number}: {what}: {self.text.strip()}")

    def skip(self) -> None:
        while self.at < len(self.text) and self.text[self.at] == " ":
            self.at += 1

    def match(self, pattern: str) -> str | None:
        """Skip the text that matches here and return it; None if the pattern does not match."""
        self.skip()
        match = re.compile(pattern).match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def take(self, pattern: str, what: str) -> str:
        text = self.match(pattern)
        if text is None:
            raise self.fail(f"expected {what} at column {self.at}")
        return text

    def has(self, text: str) -> bool:
        """Whether ``text`` is next; it is skipped then."""
        self.skip()
        if not self.text.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def want(self, text: str) -> None:
        if not self.has(text):
            raise self.fail(f"expected {text!r} at column {self.at}")

    def sees(self, pattern: str) -> bool:
        at = self.at
        matches = self.match(pattern) is not None
        self.at = at
        return matches

    def at_end(self) -> bool:
        self.skip()
        return self.at >= len(self.text) or self.text[self.at] == "@"

    def balanced(self, close: str) -> str:
        """The text up to the matching closing bracket, which is skipped."""
        depth, start = 0, self.at
        while self.at < len(self.text):
            letter = self.text[self.at]
            if letter in "([":
                depth += 1
            elif letter == close and depth == 0:
                self.at += 1
                return self.text[start : self.at - 1]
            elif letter in ")]":
                depth -= 1
            self.at += 1
        raise self.fail(f"{close!r} is missing")


# ------------------------------------------------------------------ types


def parse_type(text: str) -> Type:
    """The type that ``show_type`` printed.

    >>> parse_type("f64[!x0, x0-2, 3]").shape[1]
    Dim(symbol='x0', offset=-2, plural=False)
    """
    scan = Scanner(text, 1)
    type_ = read_type(scan)
    if not scan.at_end():
        raise scan.fail(f"unexpected text at column {scan.at}")
    return type_


def read_type(scan: Scanner) -> Type:
    if scan.has("?"):
        return read_array(scan, None) if scan.text.startswith("[", scan.at) else UNKNOWN
    word = scan.take(r"[a-z]\w*", "a type")
    opens = scan.text.startswith("[", scan.at)
    if word == "scalar":
        dtype = scan.take(r"\w+", "a dtype")
        return Scalar(kind_of(dtype), dtype)
    if word == "undefined":
        return UNDEFINED
    if opens and word in DTYPES:
        return read_array(scan, word)
    if opens and word in ("shape", "list", "tuple", "either", "tape", "slots", "box", "object"):
        scan.at += 1
        return read_bracketed(scan, word)
    if word in NUMBERS:
        number = NUMBERS[word]
        assert isinstance(number, Scalar)
        return Scalar(number.kind, "any") if scan.has("?") else number
    raise scan.fail(f"no type is called {word!r}")


def read_bracketed(scan: Scanner, word: str) -> Type:
    if word == "object":
        return Object(scan.balanced("]"))
    if word == "box":
        return Box(scan.balanced("]"))
    if word == "shape":
        return ShapeOf(read_shape(scan))
    if word in ("list", "tuple", "either"):
        item = read_type(scan)
        scan.want("]")
        return List(item, word)  # type: ignore[arg-type]
    items: list[Type] = []
    while not scan.has("]"):
        if items:
            scan.want(",")
        items.append(read_type(scan))
    return Tape(tuple(items), word == "slots")


def read_array(scan: Scanner, dtype: str | None) -> Array:
    scan.want("[")
    shape = read_shape(scan)
    layout = scan.match(r"/(?:CF|C|F|N)")
    return Array(dtype, shape, layout[1:]) if layout else Array(dtype, shape)  # type: ignore[arg-type]


def read_shape(scan: Scanner) -> Shape | None:
    if scan.has("...]"):
        return None
    extents: list[Extent] = []
    while not scan.has("]"):
        if extents:
            scan.want(",")
        extents.append(read_extent(scan))
    return tuple(extents)


def read_extent(scan: Scanner) -> Extent:
    number = scan.match(r"-?\d+")
    if number is not None:
        return int(number)
    plural = scan.has("!")
    if scan.has("("):
        symbol = f"({scan.balanced(')')})"
    else:
        symbol = scan.take(rf"\?|{SYMBOL}", "an extent")
    shift = scan.match(r"[-+]\d+")
    return Dim(symbol, int(shift or 0), plural)


# ------------------------------------------------------------------ constants


def read_literal(scan: Scanner) -> Any:
    """A Python literal: number, string, tuple, list, None, True, False."""
    text = scan.match(STRING)
    if text is not None:
        return ast.literal_eval(text)
    if scan.sees(r"\([-+.\w]+\)"):
        return complex(scan.take(r"\([-+.\w]+\)", "a number"))
    for opening, close in ("()", "[]"):
        if scan.has(opening):
            items = []
            while not scan.has(close):
                items.append(read_literal(scan))
                if not scan.has(","):
                    scan.want(close)
                    break
            return tuple(items) if opening == "(" else items
    word = scan.match(r"(?:None|True|False)\b")
    if word is not None:
        return WORDS[word]
    number = scan.match(NUMBER)
    if number is None:
        raise scan.fail(f"expected a literal at column {scan.at}")
    if number.endswith("j"):
        return complex(number)
    return int(number) if re.fullmatch(r"[-+]?[\d_]+", number) else float(number)


# ------------------------------------------------------------------ functions
