"""A refused op -> the integer or bool expression, read on entry, whose value may make the op unreachable.

Where only such values decide the branch around the op, the refusal names the first one. The code is then
specialised to its value, and a branch that is not taken, with the op in it, is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.ir.core import Block, Func, If, Op, Operand, Value, walk
from symgrad.ir.types import Scalar


def what_decides(func: Func, op: Op, inputs: Sequence[str]) -> str | None:
    """The expression, of those that read the parameters, whose value decides a branch around the op; None if there is none."""
    texts = {
        param: text
        for param, text in zip(func.params, inputs, strict=False)
        if isinstance(param.type, Scalar) and param.type.kind in ("int", "bool")
    }
    makers = {out: one for one in walk(func.body) for out in one.outs}
    return next((text for test in tests_around(func.body, op) if (text := read_by(test, texts, makers)) is not None), None)


def tests_around(block: Block, op: Op) -> Iterator[Operand]:
    """The tests of the branches around an op, outermost first."""
    for one in block.ops:
        for inner in one.blocks:
            if op in walk(inner):
                if isinstance(one, If):
                    yield one.test
                yield from tests_around(inner, op)


def read_by(test: Operand, texts: dict[Value, str], makers: dict[Value, Op]) -> str | None:
    """The first parameter in ``texts`` that a test is computed from, if all its inputs are such parameters."""
    first: str | None = None
    waiting, seen = [test], set[Operand]()
    while waiting:
        value = waiting.pop(0)
        if not isinstance(value, Value) or value in seen:
            continue
        seen.add(value)
        maker = makers.get(value)
        if value in texts:
            first = first or texts[value]
        elif maker is None or maker.blocks:
            return None
        else:
            waiting += maker.operands
    return first


__all__ = ["what_decides"]
