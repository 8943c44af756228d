"""Path conditions: the implications of the outcomes of enclosing tests for other bools, through the bools' definitions.

After ``stopped = failed or late``, a block in which neither holds implies ``not stopped``, though no test says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from symgrad.ir.core import Call, Const, If, Op, Operand, Value

#: rows that combine two bools, with the operand value that decides the result alone
JOINING = {"both": False, "logical_and": False, "either": True, "logical_or": True}


@dataclass(slots=True)
class Implied:
    """The bools that are known in a block."""

    producers: Mapping[Operand, Op]
    known: dict[Operand, bool] = field(default_factory=dict)
    asked: dict[Operand, Operand] = field(default_factory=dict)  #: cache of reduced bools, cleared by each ``note``

    def note(self, test: Operand, outcome: bool) -> None:
        """Record the outcome of a test; the outcomes of enclosing branches are recorded already."""
        test = self.reduced(test)
        if not isinstance(test, Value):
            return
        self.known[test] = outcome
        self.asked.clear()
        match self.producers.get(test):
            case Call(name="not_", args=[inner]):
                self.note(inner, not outcome)
            case Call(name=name, args=[one, other]) if JOINING.get(name) is (not outcome):
                self.note(one, outcome)
                self.note(other, outcome)

    def reduced(self, operand: Operand) -> Operand:
        """The operand that equals a bool in the block: a literal, or the value chosen by the branches taken."""
        if not isinstance(operand, Value):
            return operand
        if operand not in self.asked:
            self.asked[operand] = self.followed(operand)
        return self.asked[operand]

    def followed(self, operand: Operand) -> Operand:
        """``reduced`` without the cache: resolves the bool through its definition."""
        while isinstance(operand, Value) and operand not in self.known:
            op = self.producers.get(operand)
            match op:
                case If() if (outcome := self.outcome(op.test)) is not None:
                    operand = op.blocks[not outcome].yields[op.outs.index(operand)]
                case Call(name="not_", args=[inner]) if (outcome := self.outcome(inner)) is not None:
                    return Const(not outcome)
                case Call(name=name, args=[_, _]) if name in JOINING:
                    sides = [self.outcome(side) for side in op.args]
                    if JOINING[name] in sides:
                        return Const(JOINING[name])
                    return operand if None in sides else Const(not JOINING[name])
                case _:
                    return operand
        return Const(self.known[operand]) if operand in self.known else operand

    def outcome(self, operand: Operand) -> bool | None:
        """Whether a bool is true in the block; None if that is not known."""
        reduced = self.reduced(operand)
        return reduced.value if isinstance(reduced, Const) and isinstance(reduced.value, bool) else None


def implied(producers: Mapping[Operand, Op], taken: Iterable[tuple[Operand, bool]]) -> Implied:
    """The consequences of tests and their outcomes, outermost first."""
    facts = Implied(producers)
    for test, outcome in taken:
        facts.note(test, outcome)
    return facts


__all__ = ["Implied", "implied"]
