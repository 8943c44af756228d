"""A lowered function: a ``Func`` of the IR, the expressions that read its inputs, and the structure of its result."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.caller import Captured
from symgrad.frontend.context import Lowering
from symgrad.frontend.results import Result
from symgrad.ir.core import Block, Call, Func, If, Operand, Value
from symgrad.location import Loc
from symgrad.signature import Relied


@dataclass(slots=True)
class Lowered:
    """A function as IR: its inputs in the order of ``func.params``, and the structure of its result.

    ``inputs`` are pairs (parameter, Python expression that reads it on entry); ``result`` is a
    template of the returned value over the results of ``func``. ``captured`` holds the values read
    from outside.
    """

    func: Func
    inputs: list[tuple[Value, str]]
    result: Result
    captured: list[Captured]
    objects: dict[str, Any] = field(default_factory=dict)
    mutated: tuple[str, ...] = ()
    copied: tuple[str, ...] = ()  #: the arrays in ``mutated`` that keep their contents
    caught: tuple[tuple[type, Loc], ...] = ()  #: exceptions that the function handles, with the locations
    raises: bool = False  #: the function always raises
    relied: tuple[Relied, ...] = ()
    fresh: bool = True  #: from the user's source, not the program of a derivative
    identities: tuple[str, ...] = ()  #: lists, dicts and instances whose identity with another object matters
    apart: tuple[tuple[str, str], ...] = ()  #: objects that must be distinct: read from outside, and changed arguments
    aliases: dict[str, str] = field(default_factory=dict)  #: paths into an object that another argument holds too, with the path there
    related: tuple[tuple[str, str, bool], ...] = ()  #: pairs of expressions read from outside, and whether they are one object
    keeps: tuple[Loc, ...] = ()  #: call sites of memoised functions
    loops: dict[Loc, tuple[str, ...]] = field(default_factory=dict)  #: the loops of the function, with their loop variables
    calls_again: bool = False  #: a user function is called at several places, see ``kept_calls``


def relied_on(ctx: Lowering) -> tuple[Relied, ...]:
    """The values from outside that the program depends on, as they were."""
    return tuple(
        Relied(text, aspect, value, value.__code__ if isinstance(value, types.FunctionType) else None)
        for (text, aspect, _), value in ctx.relied.items()
    )


def result_names(operands: list[Operand]) -> list[str]:
    """The names of the results of a program."""
    return ["out"] if len(operands) == 1 else [f"out_{k}" for k in range(len(operands))]


def raises(block: Block) -> bool:
    """Whether a block always raises."""
    always = (isinstance(op, If) and all(map(raises, op.blocks)) for op in block.ops)
    return any(isinstance(op, Call) and op.name in ("raise_error", "raise_again") for op in block.ops) or any(always)


__all__ = ["Lowered", "raises", "relied_on", "result_names"]
