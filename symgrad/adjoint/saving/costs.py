"""Cost model for recomputing a value instead of saving it, for each kind of op and each target.

Scalar costs are counted in additions. Writing, holding and reading a tape entry costs the interpreter two to
five additions, growing with the iterations, and a kernel a dozen. Arrays are saved by reference, which costs no
time but keeps all their memory: cheap array arithmetic is always recomputed.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.core import Call
from symgrad.ir.types import Array, Scalar

#: arithmetic that a processor does for several elements in one cycle
LIGHT = frozenset(["add", "subtract", "multiply", "negative", "positive", "square"])
#: a few cycles more in a kernel, no slower in the interpreter
DIVISIONS = frozenset(["divide"])
#: selections between existing elements
CHOICES = frozenset(["where", "clip", "copysign", "fabs"])
#: functions that machine code computes by polynomials
FUNCTIONS = frozenset(
    """
    sqrt exp expm1 exp2 log log1p log2 log10 sin cos tan sinh cosh tanh arcsin arccos arctan arctan2 hypot power reciprocal
    """.split()
)
#: integer and bool ops that compute an index or a test
WHOLE = frozenset(
    """
    floor_divide mod minimum maximum abs greater greater_equal less less_equal equal not_equal logical_and logical_or logical_not
    bitwise_and bitwise_or bitwise_xor invert isnan isfinite number extent shape_of list_len not_ both either
    """.split()
)

NEVER = 1_000_000  #: for ops that never run twice: solvers, sums, calls of user functions


@dataclass(frozen=True, slots=True)
class Costs:
    """Costs of an op on numbers by kind, and of saving a number: the limit for recomputing it."""

    light: int
    division: int
    choice: int
    function: int
    tape: int
    by_name: bool = False  #: whether only named values are saved
    arrays: bool = False  #: whether slot tapes are arrays, however their slots are counted

    def of(self, op: Call) -> int:
        """The cost of an op on numbers; 0 if it only reads, counts or compares, ``NEVER`` if it must not run twice."""
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
        """Whether the op may be recomputed, if its operands are available at no cost."""
        type_ = op.outs[0].type
        if isinstance(type_, Array):
            return op.name in LIGHT or op.name in DIVISIONS or op.name in CHOICES
        return isinstance(type_, Scalar) and self.of(op) <= self.tape


@dataclass(frozen=True, slots=True)
class Reading(Costs):
    """Costs for readable text: unnamed values are recomputed where needed, as a person would write it; speed does not count."""

    def of(self, op: Call) -> int:
        """0 for everything but named values."""
        return 0 if self.is_cheap(op) else NEVER

    def is_cheap(self, op: Call) -> bool:
        """Whether the op does not compute a variable of the user's."""
        return op.name != "as_written" or op.outs[0].name is None


#: measured: a sum of floats takes 12 ns, ``math.sin`` 45 ns, a tape entry 10 ns on a short tape and 60 ns on one larger than the cache
INTERPRETED = Costs(light=1, division=1, choice=2, function=4, tape=2)
#: an addition takes a quarter of a nanosecond; writing and reading 16 bytes of memory takes a dozen times that
COMPILED = Costs(light=1, division=4, choice=1, function=20, tape=12, arrays=True)
READ = Reading(light=0, division=0, choice=0, function=0, tape=0, by_name=True)
