"""Strings and sets in kernels: a string is the list of its character codes, a set the list of its elements.

    t = "ACGT"[i]; t == "A"      ->      t = [codes[i]]; t == [65]

A set's list may hold an element several times. Other ops on strings and sets are left as they are, and the walk
refuses them. Works in place, before the walk.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import ZERO, Block, Call, Const, Func, Op, Operand, Value, defined_by, substitute, walk
from symgrad.ir.layout import entries
from symgrad.ir.types import INT, List, Object, Scalar, Tape, Type
from symgrad.ops.build import Builder, symbols

#: the types of set elements, by their names in set types
ELEMENTS: dict[str, Type] = {"int": INT, "bool": Scalar("bool"), "str": List(INT)}


def texts(func: Func) -> Func:
    """Replace strings and sets by lists of numbers, in place.

    >>> import operator
    >>> from symgrad.ir.core import Block
    >>> from symgrad.ir.show import show
    >>> import symgrad.ops.spelling, symgrad.ops.rows.kernel  # which load the rows
    >>> builder, i = Builder(), Value(INT, "i")
    >>> with builder.inside(body := Block([i])):
    ...     letter = builder.call("opaque_pure", Const(operator.getitem, "getitem"), Const("CAB"), i, type=Object("str"))
    ...     is_a = builder.call("opaque_pure", Const(operator.eq, "eq"), letter, Const("A"), type=Scalar("bool"))
    >>> body.yields = [is_a]
    >>> print(show(texts(Func("f", body, ["same"]))).strip())
    func f(i: int) -> same: bool:
        %0 = list_of(67, 65, 66) : list[int]
        %1 = array_of(%0, dtype="i32", shape=(3,)) : i32[3]/C
        %2 = list_of(65) : list[int]
        %3 = take(%1, i, index="i") : scalar i32
        %4 = number(%3, kind="int") : int
        %5 = list_of(%4) : list[int]
        %6 = list_equal(%5, %2) : bool
        return %6
    """
    ops = list(walk(func.body))
    if not any(is_asked(op) for op in ops):
        return func
    work = Texts(func)
    work.builder.taken = symbols(func)
    for value in [v for op in func.body.ops for v in defined_by(op)]:
        if (kind := kind_of(value.type)) is not None:
            work.kinds[value] = kind
        value.type = as_lists(value.type)
    with work.builder.at(func.loc):
        work.block(func.body)
        work.literals(ops)
    func.body.ops[:0] = work.entry.ops
    if func.split is not None:
        func.split += len(work.entry.ops)
    substitute(func.body, work.same)
    return func


def is_asked(op: Op) -> bool:
    """Whether the op reads or creates a string or a set."""
    return isinstance(op, Call) and op.name == "opaque_pure" and isinstance(op.args[0], Const) and op.args[0].value in RULES


def as_lists(type_: Type) -> Type:
    """A type with lists in place of strings and sets."""
    match type_:
        case Object(name="str"):
            return List(INT)
        case Object(name=name) if name.partition("[")[0] in ("set", "frozenset") and (item := ELEMENTS.get(name.partition("[")[2][:-1])):
            return List(item)
        case List(item=item):
            return List(as_lists(item), type_.of, type_.named)
        case Tape(items=items):
            return Tape(tuple(map(as_lists, items)), type_.indexed)
    return type_


def kind_of(type_: Type) -> str | None:
    """``"text"``, ``"set"`` or ``"list"`` for such a type, else None."""
    if isinstance(type_, List):
        return "list"
    name = type_.name.partition("[")[0] if isinstance(type_, Object) else ""
    return {"str": "text", "set": "set", "frozenset": "set"}.get(name)


def is_text(operand: Operand) -> bool:
    """Whether the operand is a literal string."""
    return isinstance(operand, Const) and type(operand.value) is str


@dataclass
class Texts:
    """The rewriting of one function; the lists of literal strings are created at its beginning."""

    func: Func
    builder: Builder = field(default_factory=Builder)
    entry: Block = field(default_factory=Block)
    lists: dict[str, Value] = field(default_factory=dict)
    arrays: dict[str, Value] = field(default_factory=dict)
    same: dict[Value, Operand] = field(default_factory=dict)  #: replacements of values
    kinds: dict[Value, str] = field(default_factory=dict)  #: the kinds of values: string, set or list
    letters: set[Value] = field(default_factory=set)  #: strings of one character

    def kinds_of(self, *operands: Operand) -> tuple[str | None, ...]:
        """The kinds of operands: string, set, list or None."""
        return tuple("text" if is_text(o) else self.kinds.get(o) if isinstance(o, Value) else None for o in operands)

    def is_letter(self, operand: Operand) -> bool:
        """Whether the operand is a string of one character."""
        return operand in self.letters or is_text(operand) and isinstance(operand, Const) and len(operand.value) == 1

    def is_within(self, one: Operand, other: Operand) -> Value:
        """Whether each item of one list is among those of the other."""
        return self.builder.call("list_within", self.list_of(one), self.list_of(other))

    def list_of(self, operand: Operand) -> Operand:
        """The list of codes of a string; other operands as they are."""
        while isinstance(operand, Value) and operand in self.same:
            operand = self.same[operand]
        if not isinstance(operand, Const) or type(operand.value) is not str:
            return operand
        if operand.value not in self.lists:
            with self.builder.inside(self.entry):
                codes = self.builder.call("list_of", *(Const(ord(letter)) for letter in operand.value))
            codes.type = List(INT)
            self.lists[operand.value] = codes
        return self.lists[operand.value]

    def array_of(self, text: str) -> Value:
        """The codes of a literal string as an array."""
        if text not in self.arrays:
            codes = self.list_of(Const(text))
            with self.builder.inside(self.entry):
                self.arrays[text] = self.builder.call("array_of", codes, dtype="i32", shape=(len(text),), depth=1)
        return self.arrays[text]

    def block(self, block: Block) -> None:
        """Rewrite the ops of a block, and of the blocks inside it."""
        ops, block.ops = block.ops, []
        for op in ops:
            for inner in op.blocks:
                self.block(inner)
            if not (isinstance(op, Call) and is_asked(op) and self.is_answered(op, block)):
                block.ops.append(op)

    def is_answered(self, op: Call, block: Block) -> bool:
        """Emit the ops that replace an op on strings or sets; False if it has no rule."""
        function, *args = op.args
        assert isinstance(function, Const)
        with self.builder.inside(block), self.builder.at(op.loc):
            result = None if op.settings["names"] else RULES[function.value](self, *args)
        if result is None:
            return False
        (out,) = op.outs
        self.same[out] = result
        if function.value in KINDS:
            self.kinds[out] = KINDS[function.value]
        if function.value is operator.getitem and self.kinds_of(args[0]) == ("text",):
            self.letters.add(out)
        if isinstance(result, Value) and result.name is None:
            result.name = out.name
        return True

    def literals(self, ops: list[Op]) -> None:
        """Replace literal strings in lists and at joins by lists."""
        for op in ops:
            if isinstance(op, Call) and op.name in HOLDING and isinstance(op.outs[0].type, List):
                op.args = [self.list_of(a) if is_text(a) else a for a in op.args]
            for _, places in entries(op):
                for operands, place in places:
                    operands[place] = self.list_of(operands[place]) if is_text(operands[place]) else operands[place]


#: rows that put their operands into a list
HOLDING = frozenset({"list_of", "list_append", "list_set"})

# ------------------------------------------------------------------ rules of Python functions; None: no rule

Answer = Operand | None


def item(work: Texts, owner: Operand, place: Operand) -> Answer:
    """One character of a string, or one item of a list."""
    if place.type not in (INT, Scalar("int", "i64")):
        return None
    call = work.builder.call
    if isinstance(owner, Const) and is_text(owner) and owner.value:
        return call("list_of", call("number", call("take", work.array_of(owner.value), place, index="i"), kind="int"))
    (kind,) = work.kinds_of(owner)
    items = work.list_of(owner)
    if kind == "text":
        return call("list_of", call("list_take", items, place))
    return call("list_take", items, place) if kind == "list" and items.type == List(List(INT)) else None


def equal(work: Texts, one: Operand, other: Operand) -> Answer:
    """Whether two strings, or two sets, are equal."""
    match work.kinds_of(one, other):
        case "text", "text":
            return work.builder.call("list_equal", work.list_of(one), work.list_of(other))
        case "set", "set":
            return work.builder.call("logical_and", work.is_within(one, other), work.is_within(other, one))
    return None


def within(work: Texts, one: Operand, other: Operand) -> Answer:
    """Whether each element of a set is in another one."""
    return work.is_within(one, other) if work.kinds_of(one, other) == ("set", "set") else None


def less(work: Texts, one: Operand, other: Operand) -> Answer:
    """Whether a set is a proper subset of another one."""
    if work.kinds_of(one, other) != ("set", "set"):
        return None
    return work.builder.call("logical_and", work.is_within(one, other), work.builder.call("not_", work.is_within(other, one)))


def among(work: Texts, owner: Operand, sought: Operand) -> Answer:
    """Whether a number or a string is among the items of a list or set, or a character in a string."""
    match work.kinds_of(owner, sought):
        case "set" | "list", "text":
            return work.is_within(work.builder.call("list_of", work.list_of(sought)), owner)
        case "text", "text" if work.is_letter(sought):
            return work.is_within(sought, owner)
        case "set" | "list", None if isinstance(sought.type, Scalar):
            return work.is_within(work.builder.call("list_of", sought), owner)
    return None


def concatenated(work: Texts, one: Operand, other: Operand) -> Answer:
    """The concatenation of two strings."""
    if work.kinds_of(one, other) != ("text", "text"):
        return None
    return work.builder.call("list_join", work.list_of(one), work.list_of(other))


def length(work: Texts, owner: Operand) -> Answer:
    """The length of a string or list."""
    return work.builder.call("list_len", work.list_of(owner)) if work.kinds_of(owner)[0] in ("text", "list") else None


def truth(work: Texts, owner: Operand) -> Answer:
    """Whether a string, a list or a set is not empty."""
    return work.builder.call("greater", work.builder.call("list_len", work.list_of(owner)), ZERO) if work.kinds_of(owner)[0] else None


def collected(work: Texts, *items: Operand) -> Answer:
    """The items of a list or set as another list or set."""
    if not items:
        return work.builder.call("list_of")
    return work.list_of(items[0]) if work.kinds_of(items[0])[0] in ("list", "set") else None


def negated(rule: Callable[..., Answer]) -> Callable[..., Answer]:
    """The negation of a rule's result."""

    def opposite(work: Texts, *args: Operand) -> Answer:
        answer = rule(work, *args)
        return None if answer is None else work.builder.call("not_", answer)

    return opposite


def swapped(rule: Callable[..., Answer]) -> Callable[..., Answer]:
    """A rule with its operands swapped."""
    return lambda work, one, other: rule(work, other, one)


#: constructors of a list or a set from another one
KINDS: dict[Any, str] = {tuple: "list", list: "list", set: "set", frozenset: "set"}
RULES: dict[Any, Callable[..., Answer]] = {
    operator.getitem: item,
    operator.eq: equal,
    operator.ne: negated(equal),
    operator.le: within,
    operator.ge: swapped(within),
    operator.lt: less,
    operator.gt: swapped(less),
    operator.contains: among,
    operator.add: concatenated,
    len: length,
    bool: truth,
    **dict.fromkeys(KINDS, collected),
}


__all__ = ["texts"]
