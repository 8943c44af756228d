"""Printer: an IR function -> text that ``parse`` reads back.

The form is described in ``docs/ir.md``. Names are assigned here: ``h.0`` and ``h.1`` are the first and second
value called ``h``, ``%0`` is the first unnamed value. The output is deterministic.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Operand, Undef, Value, While, reachable
from symgrad.ir.types import Type, join
from symgrad.location import NOWHERE, Loc
from symgrad.ops.declare import ROWS
from symgrad.text import one_line

#: words for constants, which are not used as printed names
CONSTANT_WORDS = frozenset({"None", "True", "False", "undef", "inf", "nan"})
IDENTIFIER = re.compile(r"[^\W\d]\w*")
DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
COLUMN = 62  #: the column of the user's line


def show_type(type_: Type) -> str:
    """The text of a type.

    >>> from symgrad.ir.types import Array, Dim
    >>> show_type(Array("f64", (Dim("x0", -2), 3)))
    'f64[x0-2, 3]'
    """
    return str(type_)


def literal(value: Any) -> str:
    """The text of a constant or a setting."""
    if isinstance(value, Undef):
        return "undef"
    if type(value) is str and '"' not in value and "\\" not in value and value.isprintable():
        return f'"{value}"'
    if type(value) is tuple:
        return f"({', '.join(map(literal, value))}{',' if len(value) == 1 else ''})"
    if type(value) is list:
        return f"[{', '.join(map(literal, value))}]"
    return repr(value)


def show_const(const: Const, taken: frozenset[str] = frozenset()) -> str:
    """The text of a constant; ``taken`` are names of parameters."""
    if const.name is None:
        return literal(const.value)
    plain = DOTTED.fullmatch(const.name) and const.name not in CONSTANT_WORDS and const.name not in taken
    return const.name if plain else f"${literal(const.name)}"


def show_settings(op: Call) -> list[str]:
    """The settings that differ from the row's defaults, as keywords."""
    row = ROWS.get(op.name)
    defaults = {} if row is None else row.settings
    ordered = [*(s for s in defaults if s in op.settings), *(s for s in op.settings if s not in defaults)]
    return [f"{s}={setting(op.settings[s])}" for s in ordered if s not in defaults or literal(defaults[s]) != literal(op.settings[s])]


def setting(value: Any) -> str:
    """The text of a setting; a function by its name."""
    return value.name if isinstance(value, Func) else literal(value)


def value_names(func: Func) -> dict[Value, str]:
    """The printed name of every value; versions are numbered in order of definition."""
    names: dict[Value, str] = {}
    versions: dict[str | None, int] = {}

    def define(value: Value) -> None:
        if value in names:
            return
        name = None if value.name is None else quoted(value.name)
        number = versions.get(name, 0)
        versions[name] = number + 1
        names[value] = f"%{number}" if name is None else f"{name}.{number}"

    def visit(block: Block) -> None:
        for op in block.ops:
            match op:
                case For():
                    define(op.index)
                    for inside, out in zip(op.carried, op.outs, strict=False):
                        define(inside)
                        define(out)
                case While():
                    for inside, out in zip(op.test.args, op.outs, strict=False):
                        define(inside)
                        define(out)
                    # the arguments of both blocks are on one line, so they share a name
                    names.update((a, names[t]) for a, t in zip(op.body.args, op.test.args, strict=False) if t in names)
            if not isinstance(op, If):
                for out in op.outs:
                    define(out)
            for inner in op.blocks:
                for argument in inner.args:
                    define(argument)
                visit(inner)
            for out in op.outs:
                define(out)

    for param in func.params:
        if param.name is None or quoted(param.name) in names.values():
            define(param)
        else:
            names[param] = quoted(param.name)
    visit(func.body)
    return names


def quoted(name: str) -> str:
    """A user's name, in back quotes unless it is one word; on one line."""
    return name if IDENTIFIER.fullmatch(name) and name not in CONSTANT_WORDS else f"`{one_line(name).replace('`', '')}`"


def show(func: Func, folders: bool = True) -> str:
    """The text of a function, followed by its callees; ``folders``: with full file paths."""
    functions = reachable(func)
    titles: dict[Func, str] = {}
    for each in functions:
        title, number = each.name, 2
        while title in titles.values():
            title, number = f"{each.name}~{number}", number + 1
        titles[each] = title
    return "\n".join(_Printer(each, titles, folders).text() for each in functions)


class _Printer:
    """Prints one function, line by line."""

    def __init__(self, func: Func, titles: dict[Func, str], folders: bool) -> None:
        self.func = func
        self.titles = titles
        self.folders = folders
        self.names = value_names(func)
        self.taken = frozenset(self.names[p] for p in func.params)
        self.lines: list[str] = []

    def text(self) -> str:
        func = self.func
        params = ", ".join(f"{self.names[p]}: {p.type}" for p in func.params)
        results = [str(y.type) for y in func.body.yields]
        if len(func.results) == len(results):
            results = [f"{quoted(name)}: {type_}" for name, type_ in zip(func.results, results, strict=True)]
        place = "" if func.loc == NOWHERE else f"{self.file(func.loc)}:{func.loc.line}"
        self.line(0, f"func {self.titles[func]}({params}) -> {', '.join(results) or 'nothing'}:", place)
        if func.doc:
            self.line(1, repr(func.doc))
        for k, op in enumerate(func.body.ops):
            if k == func.split:
                self.line(1, "-- backward --")
            self.op(op, 1)
        if func.split is not None and func.split >= len(func.body.ops):
            self.line(1, "-- backward --")
        self.line(1, self.end("return", func.body))
        return "\n".join(self.lines) + "\n"

    def line(self, depth: int, text: str, place: str = "") -> None:
        text = "    " * depth + text
        self.lines.append(f"{text.ljust(COLUMN)} @ {place}" if place else text)

    def file(self, loc: Loc) -> str:
        return one_line(loc.file if self.folders else PurePath(loc.file).name)

    def place(self, loc: Loc) -> str:
        if loc == NOWHERE:
            return ""
        line = f"{loc.line}~" if loc.backward else str(loc.line)
        return line if loc.file == self.func.loc.file else f"{self.file(loc)}:{line}"

    def operand(self, operand: Operand) -> str:
        if isinstance(operand, Const):
            return f"&{self.titles[operand.value]}" if isinstance(operand.value, Func) else show_const(operand, self.taken)
        return self.names.get(operand, f"%?{operand.name or ''}")

    def operands(self, operands: list[Operand]) -> str:
        return ", ".join(map(self.operand, operands))

    def end(self, word: str, block: Block) -> str:
        return f"{word} {self.operands(block.yields)}".rstrip()

    def block(self, block: Block, depth: int, word: str = "yield") -> None:
        for op in block.ops:
            self.op(op, depth)
        self.line(depth, self.end(word, block))

    def op(self, op: Op, depth: int) -> None:
        place = self.place(op.loc)
        match op:
            case Call() | Apply():
                self.line(depth, self.call(op), place)
            case For():
                steps = f"range({self.operands([op.start, op.stop, op.step])})"
                steps = f"reversed({steps})" if op.backward else f"batch({steps})" if op.batch else steps
                self.line(depth, f"for {self.names[op.index]} in {steps}{' until' if op.until else ''}:", place)
                self.carries(op.carried, op.inits, op.outs, depth + 1)
                self.block(op.body, depth + 1)
            case While():
                self.line(depth, f"while{' until' if op.until else ''}:", place)
                self.carries(op.test.args, op.inits, op.outs, depth + 1)
                self.block(op.test, depth + 1, "test")
                self.block(op.body, depth + 1)
            case If():
                self.line(depth, f"if {self.operand(op.test)}{self.branch_results(op)}:", place)
                self.block(op.then, depth + 1)
                if op.orelse.ops or op.orelse.yields:
                    self.line(depth, "else:")
                    self.block(op.orelse, depth + 1)

    def call(self, op: Call | Apply) -> str:
        words = [self.operand(a) for a in op.args]
        if isinstance(op, Call):
            words += show_settings(op)
            name = op.name
        else:
            name = f"apply {self.titles[op.func] if op.func is not None else '?'}"
        text = f"{name}({', '.join(words)})"
        if not op.outs:
            return text
        return f"{', '.join(self.names[o] for o in op.outs)} = {text} : {', '.join(str(o.type) for o in op.outs)}"

    def carries(self, inside: list[Value], inits: list[Operand], outs: list[Value], depth: int) -> None:
        for value, init, out in zip(inside, inits, outs, strict=False):
            kind = f" : {value.type}" if value.type == out.type else f" : {value.type} -> {out.type}"
            if value.type == out.type == init.type:
                kind = ""  # the initial value implies it
            self.line(depth, f"carry {self.names[value]} = {self.operand(init)} -> {self.names[out]}{kind}")
        for out in outs[len(inits) :]:
            self.line(depth, f"rounds -> {self.names[out]}")

    def branch_results(self, op: If) -> str:
        """The results of a branch, with types where its yields do not imply them."""
        words = []
        for k, out in enumerate(op.outs):
            yields = [b.yields[k].type for b in op.blocks if k < len(b.yields)]
            implied = len(yields) == 2 and join(yields[0], yields[1]) == out.type
            words.append(self.names[out] if implied else f"{self.names[out]}: {out.type}")
        return f" -> {', '.join(words)}" if words else ""


__all__ = ["literal", "show", "show_const", "show_type", "value_names"]
