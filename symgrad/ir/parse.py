"""Parser: the text form of the IR -> ``Func``, the inverse of ``show``.

A line is scanned from left to right, blocks by their indentation. Errors name their line.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import UNDEF, Apply, Call, Const, For, Func, If, Op, Operand, Value, While
from symgrad.ir.scan import (
    NAME,
    STRING,
    SYMBOL,
    ParseError,
    Scanner,
    parse_type,
    read_literal,
    read_type,
)
from symgrad.ir.types import INT, UNKNOWN, join
from symgrad.location import NOWHERE, Loc
from symgrad.ops.declare import ROWS


def parse(text: str) -> Func:
    """The first function of the text; the following ones are its callees.

    >>> print(parse("func twice(x: float) -> float:\\n    y = add(x, x) : float\\n    return y").name)
    twice
    """
    functions = parse_all(text)
    if not functions:
        raise ParseError("line 1: there is no function")
    return functions[0]


def parse_all(text: str) -> list[Func]:
    """All functions of the text."""
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")]
    known: dict[str, Func] = {}
    readers = []
    at = 0
    while at < len(lines):
        number, line = lines[at]
        if _depth(line, number) != 0:
            raise ParseError(f"line {number}: a function begins at the margin: {line.strip()}")
        end = at + 1
        while end < len(lines) and lines[end][1].startswith(" "):
            end += 1
        reader = _Reader(lines[at:end], known)
        known[reader.title] = reader.func
        readers.append(reader)
        at = end
    return [reader.read() for reader in readers]


def _depth(line: str, number: int) -> int:
    spaces = len(line) - len(line.lstrip(" "))
    if spaces % 4:
        raise ParseError(f"line {number}: indent by four spaces: {line.strip()}")
    return spaces // 4


@dataclass
class _Reader:
    """Parses one function, line by line."""

    lines: list[tuple[int, str]]
    known: dict[str, Func]
    at: int = 0
    title: str = ""
    func: Func = field(default_factory=lambda: Func(""))
    values: dict[str, Value] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scan = self.next()
        scan.want("func ")
        self.title = scan.take(r"[^\s(]+", "a name")
        self.func.name = re.sub(r"~\d+$", "", self.title)
        scan.want("(")
        while not scan.has(")"):
            if self.func.params:
                scan.want(",")
            param = self.define(scan)
            scan.want(":")
            param.type = read_type(scan)
            self.func.params.append(param)
        if scan.has("->"):
            self.results(scan)
        scan.want(":")
        self.func.loc = self.place(scan)

    def results(self, scan: Scanner) -> None:
        if scan.has("nothing"):
            return
        while True:
            if scan.sees(rf"(?:{SYMBOL}|`[^`]*`)\s*:(?!\s*(?:@|$))"):
                self.func.results.append(scan.take(rf"{SYMBOL}|`[^`]*`", "a name").strip("`"))
                scan.want(":")
            read_type(scan)
            if not scan.has(","):
                return

    def read(self) -> Func:
        body = self.func.body
        if self.at < len(self.lines) and re.match(r"\s+['\"]", self.lines[self.at][1]):
            scan = self.next()
            self.func.doc = ast.literal_eval(scan.take(STRING, "a string"))
        body.ops, body.yields = self.block(1, "return")
        if self.at < len(self.lines):
            raise self.peek().fail("nothing may follow the return")
        return self.func

    # -------------------------------------------------------------- lines

    def peek(self) -> Scanner:
        number, line = self.lines[self.at]
        return Scanner(line, number)

    def next(self) -> Scanner:
        scan = self.peek()
        self.at += 1
        return scan

    def ahead(self, depth: int, pattern: str) -> bool:
        """Whether the next line has this depth and begins with the pattern."""
        if self.at >= len(self.lines):
            return False
        number, line = self.lines[self.at]
        return _depth(line, number) == depth and re.compile(pattern).match(line.lstrip()) is not None

    def place(self, scan: Scanner) -> Loc:
        """The location at the end of the line."""
        if not scan.has("@"):
            if not scan.at_end():
                raise scan.fail(f"unexpected text at column {scan.at}")
            return NOWHERE
        text = scan.text[scan.at :].strip()
        file, colon, line = text.removesuffix("~").rpartition(":")
        if not line.isdigit():
            raise scan.fail("after @ stands a line, or file:line")
        return Loc(file if colon else self.func.loc.file, int(line), backward=text.endswith("~"))

    # -------------------------------------------------------------- names and operands

    def define(self, scan: Scanner, shared: bool = False) -> Value:
        text = scan.take(NAME, "a name")
        if text in self.values and not shared:
            raise scan.fail(f"{text} is defined twice")
        if text.startswith("%"):
            name = None
        else:
            name = text[1:].partition("`")[0] if text.startswith("`") else text.partition(".")[0]
        self.values[text] = value = Value(UNKNOWN, name)
        return value

    def operand(self, scan: Scanner) -> Operand:
        if scan.match(r"undef\b(?!\.)") is not None:
            return UNDEF
        if scan.has("$"):
            return Const(None, read_literal(scan))
        if scan.has("&"):
            title = scan.take(r"[^\s,()]+", "the name of a function")
            if title not in self.known:
                raise scan.fail(f"there is no function {title}")
            return Const(self.known[title], title.partition("~")[0])
        if scan.sees(r"(?:inf|nan)\b(?!\.)") or not scan.sees(r"[^\W\d]|`|%") or scan.sees(r"(?:None|True|False)\b(?!\.)"):
            return Const(read_literal(scan))
        text = scan.match(NAME)
        if text is not None and text in self.values:
            return self.values[text]
        if text is not None and IS_VALUE.fullmatch(text):
            raise scan.fail(f"{text} is not defined")
        if text is None:
            text = scan.take(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", "an operand")
        return Const(None, text)

    # -------------------------------------------------------------- blocks

    def block(self, depth: int, word: str) -> tuple[list[Op], list[Operand]]:
        ops: list[Op] = []
        while not self.ahead(depth, rf"{word}\b(?!\()"):
            if depth == 1 and self.ahead(1, "-- backward --"):
                self.next()
                self.func.split = len(ops)
                continue
            if self.at >= len(self.lines):
                number, line = self.lines[-1]
                raise ParseError(f"line {number}: {word!r} is missing after: {line.strip()}")
            ops.append(self.op(depth))
        scan = self.next()
        scan.want(word)
        yields: list[Operand] = []
        while not scan.at_end():
            if yields:
                scan.want(",")
            yields.append(self.operand(scan))
        self.place(scan)
        return ops, yields

    def op(self, depth: int) -> Op:
        scan = self.next()
        if _depth(scan.text, scan.number) != depth:
            raise scan.fail(f"expected {4 * depth} spaces")
        for word, read in (("for ", self.read_for), ("while", self.read_while), ("if ", self.read_if)):
            if scan.sees(rf"{word}\s*(?:[:`%\w$]|until)") and not scan.sees(r"\w+\s*[=(.]"):
                scan.has(word)
                return read(scan, depth)
        return self.read_call(scan)

    def read_call(self, scan: Scanner) -> Op:
        outs: list[Value] = []
        pattern = rf"(?:{NAME})(?:\s*,\s*(?:{NAME}))*\s*=(?!=)"
        count = 0
        start = scan.at
        if scan.sees(pattern):
            names = scan.take(pattern, "names")
            count = len(re.findall(NAME, names))
        after = scan.at
        op: Op
        if scan.match(r"apply\s+(?!\()") is not None:
            title = scan.take(r"[^\s(]+", "the name of a function")
            if title not in self.known:
                raise scan.fail(f"there is no function {title}")
            args, settings = self.arguments(scan)
            op = Apply([], NOWHERE, self.known[title], args)
        else:
            name = scan.take(r"[^\W\d]\w*", "the name of an op")
            args, settings = self.arguments(scan)
            row = ROWS.get(name)
            op = Call([], NOWHERE, name, args, {**(row.settings if row is not None else {}), **settings})
        if count:
            scan.want(":")
            types = [read_type(scan)]
            while scan.has(","):
                types.append(read_type(scan))
            if len(types) != count:
                raise scan.fail(f"{count} results and {len(types)} types")
            end, scan.at = scan.at, start
            for k, type_ in enumerate(types):
                if k:
                    scan.want(",")
                outs.append(self.define(scan))
                outs[-1].type = type_
            assert scan.at <= after
            scan.at = end
        op.outs = outs
        op.loc = self.place(scan)
        return op

    def arguments(self, scan: Scanner) -> tuple[list[Operand], dict[str, Any]]:
        scan.want("(")
        args: list[Operand] = []
        settings: dict[str, Any] = {}
        first = True
        while not scan.has(")"):
            if not first:
                scan.want(",")
            first = False
            word = scan.match(r"[^\W\d]\w*=(?!=)")
            if word is not None:
                settings[word[:-1]] = read_literal(scan)
            elif settings:
                raise scan.fail("an operand stands before the settings")
            else:
                args.append(self.operand(scan))
        return args, settings

    def carries(self, depth: int) -> tuple[list[str], list[Value], list[Operand], list[Value]]:
        """The ``carry`` lines and the ``rounds`` line: printed names, inner values, inits, outs."""
        names, inside, inits, outs = [], [], [], []
        while self.ahead(depth, r"carry\s"):
            scan = self.next()
            scan.want("carry")
            at = scan.at
            names.append(scan.take(NAME, "a name"))
            scan.at = at
            value = self.define(scan)
            scan.want("=")
            inits.append(self.operand(scan))
            scan.want("->")
            out = self.define(scan)
            value.type = out.type = inits[-1].type
            if scan.has(":"):
                value.type = out.type = read_type(scan)
                if scan.has("->"):
                    out.type = read_type(scan)
            self.place(scan)
            inside.append(value)
            outs.append(out)
        if self.ahead(depth, r"rounds\s*->"):
            scan = self.next()
            scan.take(r"rounds\s*->", "rounds")
            outs.append(self.define(scan))
            outs[-1].type = INT
            self.place(scan)
        return names, inside, inits, outs

    def read_for(self, scan: Scanner, depth: int) -> Op:
        index = self.define(scan)
        index.type = INT
        scan.want("in")
        op = For(backward=scan.match(r"reversed\s*\(") is not None, batch=scan.match(r"batch\s*\(") is not None)
        scan.want("range")
        bounds, _ = self.arguments(scan)
        if len(bounds) != 3:
            raise scan.fail("range takes start, stop, step")
        op.start, op.stop, op.step = bounds
        if op.backward or op.batch:
            scan.want(")")
        op.until = scan.has("until")
        scan.want(":")
        op.loc = self.place(scan)
        _, inside, op.inits, op.outs = self.carries(depth + 1)
        op.body.args = [index, *inside]
        op.body.ops, op.body.yields = self.block(depth + 1, "yield")
        return op

    def read_while(self, scan: Scanner, depth: int) -> Op:
        op = While(until=scan.has("until"))
        scan.want(":")
        op.loc = self.place(scan)
        names, op.test.args, op.inits, op.outs = self.carries(depth + 1)
        op.test.ops, op.test.yields = self.block(depth + 1, "test")
        for name, value in zip(names, op.test.args, strict=True):
            self.values[name] = again = Value(value.type, value.name)
            op.body.args.append(again)
        op.body.ops, op.body.yields = self.block(depth + 1, "yield")
        return op

    def read_if(self, scan: Scanner, depth: int) -> Op:
        op = If(test=self.operand(scan))
        stated: list[bool] = []
        if scan.has("->"):
            while True:
                out = self.define(scan)
                op.outs.append(out)
                stated.append(scan.sees(r":\s*[^@\s]"))
                if stated[-1]:
                    scan.want(":")
                    out.type = read_type(scan)
                if not scan.has(","):
                    break
        scan.want(":")
        op.loc = self.place(scan)
        op.then.ops, op.then.yields = self.block(depth + 1, "yield")
        if self.ahead(depth, r"else\s*:"):
            self.next()
            op.orelse.ops, op.orelse.yields = self.block(depth + 1, "yield")
        for k, out in enumerate(op.outs):
            if not stated[k] and k < min(len(op.then.yields), len(op.orelse.yields)):
                out.type = join(op.then.yields[k].type, op.orelse.yields[k].type)
        return op


IS_VALUE = re.compile(r"`.*|%.*|.*\.\d+")

__all__ = ["ParseError", "parse", "parse_all", "parse_type"]
