"""What is refused before a function is differentiated, with names and places a user understands."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.activity import closure, dependences, may_be_active, results_of
from symgrad.errors import CastStore, NoDerivative, UnknownFunction
from symgrad.ir.core import Call, Const, Func, Op, Value, walk
from symgrad.ir.types import Array, Scalar, Type
from symgrad.ops.spelling import CALLABLES

#: rows that keep a call of something without a rule in its place
KEPT = ("opaque", "opaque_pure", "opaque_attribute", "touched")


def check(func: Func, wrt: Sequence[int], active_results: Sequence[int]) -> None:
    """Raise for the first op through which a derivative would have to pass and cannot."""
    table = dependences(func.body)
    varied = closure((p for k in wrt if may_be_active((p := func.params[k]).type)), table.forward)
    useful = closure(results_of(func, active_results), table.backward)
    active = varied & useful
    known = [op for op in walk(func.body) if isinstance(op, Call) and op.name == "opaque_attribute"]
    methods = {op.outs[0]: f"method {op.settings['attribute']!r}" for op in known}
    for op in walk(func.body):
        refuse_complex(op, active)
        if isinstance(op, Call):
            refuse_cast(op, varied)
            if any(out in active for out in op.outs):
                refuse_unknown(op, varied, methods)


def refuse_cast(op: Call, varied: set[Value]) -> None:
    """A store into integers cuts the derivative of what is stored."""
    if op.name in ("set_at", "add_at") and kind_of(op.args[0].type) in ("int", "bool") and op.args[1] in varied:
        name = getattr(op.args[0], "name", None) or "this array"
        raise CastStore(
            f"a value that carries a derivative is stored in {name}, an array of {getattr(op.args[0].type, 'dtype', 'int')}", op.loc
        )


def refuse_complex(op: Op, active: set[Value]) -> None:
    for out in op.outs:
        if out in active and kind_of(out.type) == "complex":
            raise NoDerivative("complex numbers that carry a derivative are not supported", op.loc, "write real and imaginary part apart")


def refuse_unknown(op: Call, varied: set[Value], methods: dict[Value, str]) -> None:
    """A call of something without a rule, on a value that carries a derivative."""
    if op.name not in KEPT or not any(a in varied for a in op.args):
        return
    called = next((a for a in op.args if isinstance(a, Const) and (a.name or isinstance(a.value, str))), None)
    name = "a function" if called is None else called.name or str(called.value)
    if op.args and isinstance(op.args[0], Value) and op.args[0] in methods:
        name = methods[op.args[0]]
    if op.name == "touched":
        raise UnknownFunction("an array that carries a derivative is given to a function without a rule, which may change it", op.loc)
    raise UnknownFunction(f"{name} has no rule", op.loc, name=name, known=[s.name for s in CALLABLES.values()])


def kind_of(type_: Type) -> str | None:
    return type_.kind if isinstance(type_, Array | Scalar) else None


__all__ = ["check"]
