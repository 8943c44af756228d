"""Cost model for recomputing a value instead of saving it, for each kind of op and each target.

Scalar costs are counted in additions. A tape entry is written, held in memory and read: for the interpreter the
time of two to five additions, more with more iterations; for a kernel that of a dozen. Arrays are saved by
reference, which costs no time but keeps all their memory: cheap array arithmetic is always recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.core import Call
from symgrad.ir.types import Array, Scalar

#: arithmetic that a processor does in a cycle for several elements
LIGHT = frozenset(["add", "subtract", "multiply", "negative", "positive", "square"])
#: what takes a processor a few cycles more, and the interpreter no longer
DIVISIONS = frozenset(["divide"])
#: choosing between elements that are there
CHOICES = frozenset(["where", "clip", "copysign", "fabs"])
#: polynomials in machine code
FUNCTIONS = frozenset([
    "sqrt", "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "arcsin", "arccos", "arctan", "arctan2", "hypot", "power", "reciprocal",
])  # fmt: skip
#: what is done with integers and truth values to find an index or a side
WHOLE = frozenset([
    "floor_divide", "mod", "minimum", "maximum", "abs", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal",
    "logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor", "invert", "isnan", "isfinite",
    "number", "extent", "shape_of", "list_len", "not_", "both", "either",
])  # fmt: skip

NEVER = 1_000_000  #: of what is not done twice: solving, sums, what a user's function does


@dataclass(frozen=True, slots=True)
class Costs:
    """Of one op on numbers by its kind, and what keeping a number costs: as much as may be spent on computing it again."""

    light: int
    division: int
    choice: int
    function: int
    tape: int
    by_name: bool = False  #: is nothing saved but what has a name?
    arrays: bool = False  #: is a tape with places arrays, however the places are counted?

    def of(self, op: Call) -> int:
        """The cost of an op on numbers; 0 if it only reads, counts or compares, ``NEVER`` if it is not done again."""
        if op.name in WHOLE:
            return 0
        if op.name in LIGHT:
            return self.light
        if op.name in DIVISIONS:
            return self.division
        if op.name in CHOICES:
            return self.choice
        return self.function if op.name in FUNCTIONS else NEVER

    def is_cheap(self, op: Call) -> bool:
        """May the op be done again, if its operands are had for nothing?"""
        type_ = op.outs[0].type
        if isinstance(type_, Array):
            return op.name in LIGHT or op.name in DIVISIONS or op.name in CHOICES
        return isinstance(type_, Scalar) and self.of(op) <= self.tape


@dataclass(frozen=True, slots=True)
class Reading(Costs):
    """Of text that is read: what has no name is computed again where it is needed, as a person would write it; nothing is fast."""

    def of(self, op: Call) -> int:
        """Nothing, but of what the user gave a name."""
        return 0 if self.is_cheap(op) else NEVER

    def is_cheap(self, op: Call) -> bool:
        """Is it anything but a variable of the user's?"""
        return op.name != "as_written" or op.outs[0].name is None


#: measured: a sum of floats takes 12 ns, ``math.sin`` 45 ns, a slot of a tape 10 ns of a short one and 60 ns of one that fits no cache
INTERPRETED = Costs(light=1, division=1, choice=2, function=4, tape=2)
#: an addition takes a quarter of a nanosecond, 16 bytes of memory written and read a dozen times that
COMPILED = Costs(light=1, division=4, choice=1, function=20, tape=12, arrays=True)
READ = Reading(light=0, division=0, choice=0, function=0, tape=0, by_name=True)
