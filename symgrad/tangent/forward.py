"""The forward sweep: one walk over a function, its state, and the table of tangent functions by kind of op.

The tangent of a value is emitted after it, by ops that mirror the program: a store to an array stores the tangent to the tangent array.
So nothing is saved, and tangents share and overwrite memory as the values do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.adjoint.accumulate import Ledger, cotangent_type, zero_number
from symgrad.adjoint.analysis.memory import Memory, has_memory
from symgrad.adjoint.analysis.zero_masks import has_same_shape
from symgrad.adjoint.unbroadcast import conformed
from symgrad.ir.core import Block, Call, Const, Func, Op, Operand, Value, walk
from symgrad.ir.layout import Layout
from symgrad.ir.types import Array, List, Scalar, Tape, Type
from symgrad.ir.unbound import Unbound, is_undefined
from symgrad.ops.build import Builder, know
from symgrad.ops.declare import ROWS
from symgrad.tables import entered

#: emits one op with its tangents at the builder's insertion point
Push = Callable[["Forward", Any], None]
#: by the name of a row, else by the kind of op
TABLE: dict[str | type[Op], Push] = {}
#: returns the function that computes values and tangents of a called function
Functions = Callable[[Func, tuple[int, ...], tuple[int, ...]], Func]


def pushes(*kinds: str | type[Op]) -> Callable[[Push], Push]:
    """Register a tangent function for kinds of ops."""
    return entered(TABLE, *kinds)


def hinted(value: Operand) -> str:
    """The name of a tangent: ``h_tangent`` for ``h``; for an unnamed value a name that need not become a variable."""
    name = value.name if isinstance(value, Value) else None
    return f"{name}_tangent" if name and not name.endswith("_tangent") else name or "%t_tangent"


#: the type of a tangent that is loop-carried or passed: that of a cotangent
tangent_type = cotangent_type


@dataclass(slots=True)
class Forward:
    """The walk: the ``active`` values, and the ``tangents`` of those computed so far."""

    func: Func
    active: set[Value]
    functions: Functions
    builder: Builder
    tangents: dict[Value, Operand] = field(default_factory=dict)
    ledger: Ledger = field(init=False)
    memory: Memory = field(init=False)
    varied: set[Operand] = field(init=False)  #: vectors determined up to a phase whose use is checked

    def __post_init__(self) -> None:
        know(self.builder, self.func)
        self.varied = {op.args[0] for op in walk(self.func.body) if isinstance(op, Call) and op.name == "varied"}
        layout = Layout()
        layout.enter(self.func.body)
        self.memory = Memory.of(self.func, layout)
        self.ledger = Ledger(self.builder, {}, Unbound.of(self.func.body), self.func.params)

    # ---------------------------------------------------------------- the whole function

    def run(self, wrt: Sequence[int], active_results: Sequence[int]) -> None:
        """Add to the function a parameter for each tangent in ``wrt``, and a result for each active result's. Works in place."""
        body = self.func.body
        params = [Value(tangent_type(body.args[k].type), hinted(body.args[k])) for k in wrt]
        self.tangents |= {body.args[k]: param for k, param in zip(wrt, params, strict=True)}
        self.block(body)
        with self.builder.inside(body):
            outs = [self.held(body.yields[k], tangent_type(body.yields[k].type)) for k in active_results]
        body.args += params
        body.yields += outs

    def block(self, block: Block) -> None:
        """Emit the tangents of a block's ops, each after its op. Works in place."""
        ops, block.ops = block.ops, []
        with self.builder.inside(block):
            for op in ops:
                with self.builder.at(op.loc):
                    self.op(op)

    def op(self, op: Op) -> None:
        """Emit one op, with its tangents if it has any."""
        push = TABLE.get(op.name) if isinstance(op, Call) else None
        if isinstance(op, Call) and not any(out in self.active for out in op.outs):
            self.builder.append(op)
            return
        (push or TABLE[type(op)])(self, op)

    # ---------------------------------------------------------------- tangents

    def zero(self, value: Operand) -> Operand:
        """A zero tangent, in the form of the value."""
        if isinstance(value, Const):
            known = isinstance(value.value, bool | int | float | complex) and value.name is None
            return zero_number(value.type) if known else value
        if isinstance(value.type, Array) and value.type.kind in ("int", "bool"):
            return self.builder.call("zeros_of", self.builder.call("shape_of", value), hint=hinted(value), dtype="f64")
        zero = self.ledger.zero(value)
        if isinstance(zero, Value):
            zero.name = hinted(value)
        return zero

    def held(self, value: Operand, slot: Type) -> Operand:
        """The tangent of a yielded value, zeros if it has none, in the dtype and form of its slot."""
        if is_undefined(value):
            return value
        tangent = self.tangents.get(value) if isinstance(value, Value) else None
        tangent = self.zero(value) if tangent is None else tangent
        return conformed(self.builder, tangent, Value(slot), hinted(value))

    def settle(self, tangent: Operand, out: Value, start: int, whole: bool) -> Operand:
        """A tangent in the dtype and shape of its value; ``whole``: no operand without a tangent has broadcast the value.

        ``start`` is the index in the block where the ops that computed it begin.
        """
        hint = hinted(out)
        tangent = conformed(self.builder, tangent, out, hint)
        have, want = tangent.type, out.type
        if isinstance(want, Array):
            if isinstance(have, Scalar) and want.shape != ():
                tangent = self.builder.call("spread", tangent, self.builder.call("shape_of", out), hint=hint)
            elif isinstance(have, Array) and not whole and not has_same_shape(tangent, out):
                tangent = self.builder.call("spread", tangent, self.builder.call("shape_of", out), hint=hint, axis=(), keepdims=True)
        elif not isinstance(want, Scalar) and not whole:  # the form of a value of unknown type is read at run time
            tangent = self.builder.call("add", tangent, self.builder.call("zeros_like", out), hint=hint)
        return self.owned(tangent, out, start)

    def owned(self, tangent: Operand, out: Value, start: int) -> Operand:
        """A tangent of a value that owns its memory: copied if it is not new and one of the two is written to."""
        if not isinstance(tangent, Value) or not isinstance(tangent.type, Array | List | Tape):
            return tangent
        makers = {value: op for op in self.builder.block.ops[start:] for value in op.outs}
        maker = makers.get(tangent)
        if isinstance(maker, Call) and ROWS[maker.name].alias == "fresh" and not ROWS[maker.name].consumes:
            return tangent
        sources = [value for value, one in self.tangents.items() if one is tangent or isinstance(maker, Call) and one in maker.args]
        if any(self.is_written(value) for value in (out, *sources)):
            return self.builder.call("copy", tangent, hint=hinted(out))
        return tangent

    def is_written(self, value: Value) -> bool:
        """Whether the memory of a value is written to."""
        return has_memory(value.type) and self.memory.find(value) in self.memory.stores


__all__ = ["TABLE", "Forward", "Functions", "hinted", "pushes", "tangent_type"]
