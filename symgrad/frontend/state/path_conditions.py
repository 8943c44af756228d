"""Path conditions: for each bool that a program computes, the bools that are known where it is true, and where it is false.

``if last is not None and x > last`` implies on one side that ``last`` exists. Only bools count
here, by the operands of the ops that compute them; ``absent`` knows which names they are about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from symgrad.frontend.state.bindings import Known
from symgrad.frontend.state.program_state import NOTHING_KNOWN
from symgrad.ir.core import Const, Operand, Undef, Value


@dataclass(slots=True)
class Decided:
    """The implications of a program's bools, beyond themselves: where they are false, and where they are true."""

    table: dict[Value, tuple[Known, Known]] = field(default_factory=dict)

    def by(self, test: Operand, outcome: bool) -> Known:
        """The path conditions where a test has an outcome."""
        if not isinstance(test, Value):
            return NOTHING_KNOWN
        return {**self.table.get(test, (NOTHING_KNOWN, NOTHING_KNOWN))[outcome], test: outcome}

    def computed(self, name: str, args: tuple[Operand, ...], out: Value) -> None:
        """Record a bool computed from others."""
        if name == "not_":
            self.table[out] = (self.by(args[0], True), self.by(args[0], False))
        elif name == "logical_and":
            self.table[out] = (NOTHING_KNOWN, {**self.by(args[0], True), **self.by(args[1], True)})
        elif name == "logical_or":
            self.table[out] = ({**self.by(args[0], False), **self.by(args[1], False)}, NOTHING_KNOWN)

    def joined(self, sides: Iterable[tuple[Operand, Known]], out: Value) -> None:
        """Record a bool that joins those of the two sides, each with the path conditions of its side."""
        facts = []
        for outcome in (False, True):
            able = [{**known, **self.by(side, outcome)} for side, known in sides if can_be(side, outcome)]
            facts.append(in_all(able))
        if any(facts):
            self.table[out] = (facts[0], facts[1])


#: rows that ``Decided.computed`` handles
TESTS = frozenset({"not_", "logical_and", "logical_or"})


def can_be(operand: Operand, outcome: bool) -> bool:
    """Whether a bool may have an outcome."""
    return not isinstance(operand, Const) or not isinstance(operand.value, Undef) and bool(operand.value) == outcome


def in_all(several: Sequence[Known]) -> Known:
    """The conditions that hold on each of some paths."""
    if not several:
        return NOTHING_KNOWN
    common, *others = several
    for other in others:
        if other is not common:
            common = {k: v for k, v in common.items() if other.get(k) is v}
    return common


__all__ = ["TESTS", "Decided", "in_all"]
