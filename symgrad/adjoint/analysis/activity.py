"""Activity analysis: a value is active if it depends on an active input and an active result depends on it.

Both conditions are closures over one dependence table, so loops are at their fixed point without iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import NoDerivative
from symgrad.identity import Same
from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Operand, Value, While, walk
from symgrad.ir.types import UNKNOWN, Array, Box, List, Object, Scalar, Tape, Type, Unknown
from symgrad.ops.declare import ROWS
from symgrad.ops.files import FILES

#: rows that call opaque functions
OPAQUE = ("opaque", "opaque_pure")


def may_be_active(type_: Type) -> bool:
    """Whether a value of this type can carry a derivative."""
    match type_:
        case Scalar(kind=kind):
            return kind in ("float", "complex")
        case Array(kind=kind):
            return kind in (None, "float", "complex")
        case List(item=item):
            return may_be_active(item)
        case Object():
            return type_.python_class is not None
    return isinstance(type_, Tape | Unknown | Box)


@dataclass(slots=True)
class Dependences:
    """The dependence table in both directions: which values each value influences, and which it depends on."""

    forward: dict[Value, list[Value]] = field(default_factory=dict)
    backward: dict[Value, list[Value]] = field(default_factory=dict)
    tapes: list[tuple[Value, Value]] = field(default_factory=list)
    owners: dict[Operand, Value] = field(default_factory=dict)  #: an opaque method and its owner
    objects: dict[Any, Value] = field(default_factory=dict)  #: objects from outside, as values
    opened: set[Value] = field(default_factory=set)  #: results of opaque calls that may have side effects, such as open files
    stores: list[tuple[Call, Value]] = field(default_factory=list)  #: opaque calls and the objects that may store their arguments

    def kept(self, op: Call) -> None:
        """Link the arguments of an opaque call to the objects that may store them and include them in any later result."""
        if op.name == "opaque_attribute":
            held = self.value_of(op.args[0])
            self.owners[op.outs[0]] = held
            self.link(held, op.outs[0])
        for held in self.storing(op) if op.name in OPAQUE else ():
            self.stores.append((op, held))
            for source in op.args[1:]:
                self.link(source, held)

    def value_of(self, operand: Operand) -> Value:
        """The value of an operand; for an object from outside, its handle."""
        return operand if isinstance(operand, Value) else self.objects.setdefault(Same(operand.value), Value(UNKNOWN))

    def storing(self, op: Call) -> list[Value]:
        """The objects that an opaque call may store its arguments in: the owner of a method, files, other objects passed."""
        callee, *args = op.args
        if callee in self.owners:
            return [self.owners[callee]] if op.name == "opaque" else []
        if isinstance(callee, Const) and (place := FILES.get(Same(callee.value))) is not None:
            file = place.argument(args, op.settings["names"])
            return [] if file is None else [self.value_of(file)]
        return [a for a in args if a in self.opened] if op.name == "opaque" else []

    def link(self, source: Operand, target: Operand) -> None:
        """Link ``target`` to ``source``, if both can carry a derivative."""
        if isinstance(source, Value) and isinstance(target, Value) and may_be_active(source.type) and may_be_active(target.type):
            self.forward.setdefault(source, []).append(target)
            self.backward.setdefault(target, []).append(source)
            if isinstance(source.type, Tape) and isinstance(target.type, Tape):
                self.tapes.append((source, target))

    def link_all(self, sources: Iterable[Operand], targets: Iterable[Operand]) -> None:
        """Link pair by pair; surplus ``targets`` at the end carry no derivative."""
        for source, target in zip(sources, targets, strict=False):
            self.link(source, target)


def dependences(block: Block, existing: Dependences | None = None) -> Dependences:
    """The dependence table of a block and the blocks inside it, added to ``existing`` if there is one."""
    table = existing or Dependences()
    for op in block.ops:
        match op:
            case Call():
                table.kept(op)
                table.opened.update(out for out in op.outs if op.name == "opaque" and isinstance(out.type, Unknown))
                for source in differentiated(op):
                    for out in op.outs:
                        table.link(source, out)
            case For() | While():
                carried = op.carried
                for group in (op.inits, op.body.yields):
                    table.link_all(group, carried)
                    table.link_all(group, op.outs[: len(carried)])
                if isinstance(op, While):
                    table.link_all(op.inits, op.test.args)
            case If():
                table.link_all(op.then.yields, op.outs)
                table.link_all(op.orelse.yields, op.outs)
            case Apply():
                for source in op.args:
                    for out in op.outs:
                        table.link(source, out)
        for inner in op.blocks:
            dependences(inner, table)
    return table


def differentiated(op: Call) -> Iterator[Operand]:
    """The operands to which an op passes a derivative; for an opaque call all that may be active."""
    row = ROWS[op.name]
    if row.missing is not None or op.name in OPAQUE:
        yield from op.args
        return
    for _, param, source in parameters(op):
        if row.partials.get(param) is not None or row.pullbacks.get(param) is not None:
            yield source


def parameters(op: Call) -> Iterator[tuple[int, str, Operand]]:
    """Each operand with the row parameter that it binds, and its position within a variadic one."""
    row = ROWS[op.name]
    for place, source in enumerate(op.args):
        param = row.params[min(place, len(row.params) - 1)]
        yield max(place - len(row.params) + 1, 0), param, source


def closure(start: Iterable[Value], table: dict[Value, list[Value]]) -> set[Value]:
    """All values reached from ``start``."""
    reached: set[Value] = set()
    todo = list(start)
    while todo:
        value = todo.pop()
        if value not in reached:
            reached.add(value)
            todo += table.get(value, ())
    return reached


def varied_values(funcs: Sequence[Func], start: Iterable[Value]) -> set[Value]:
    """The values that depend on ``start``, values of the first function; all parameters of the other functions count as dependent."""
    table = Dependences()
    for func in funcs:
        dependences(func.body, table)
    return closure([*start, *(value for func in funcs[1:] for value in func.params)], table.forward)


def active_values(func: Func, wrt: Sequence[int], active_results: Sequence[int] = (0,)) -> set[Value]:
    """The values of ``func`` that carry a derivative from a result in ``active_results`` to a parameter in ``wrt``."""
    table = dependences(func.body)
    varied = closure((p for k in wrt if may_be_active((p := func.params[k]).type)), table.forward)
    useful = closure(results_of(func, active_results), table.backward)
    active = varied & useful
    for op in walk(func.body):
        refuse(op, active)
    return active | whole_tapes(active, table)


def whole_tapes(active: set[Value], table: Dependences) -> set[Value]:
    """All states of each tape with an active state, so that pushes and pops of cotangents stay paired."""
    both: dict[Value, list[Value]] = {}
    for a, b in table.tapes:
        both.setdefault(a, []).append(b)
        both.setdefault(b, []).append(a)
    return closure((v for v in both if v in active), both)


def results_of(func: Func, indices: Sequence[int]) -> list[Value]:
    """The results that are values and can carry a derivative."""
    chosen = [func.body.yields[k] for k in indices]
    return [r for r in chosen if isinstance(r, Value) and may_be_active(r.type)]


def refuse(op: Op, active: set[Value]) -> None:
    """Raise if a derivative would have to pass through an op that has none."""
    if not isinstance(op, Call) or not any(out in active for out in op.outs):
        return
    row = ROWS[op.name]
    if row.missing is not None and any(a in active for a in op.args):
        why, _, hint = row.missing.partition("; ")
        raise NoDerivative(f"{op.name} has no derivative: {why}", op.loc, hint or None)
    if op.name in OPAQUE and any(a in active for a in op.args):
        raise NoDerivative("a call of an unknown function is not differentiated", op.loc)


def matters(func: Func, wrt: Sequence[int], active_results: Sequence[int] = (0,)) -> set[int]:
    """The indices in ``wrt`` of parameters that can influence an active result."""
    useful = closure(results_of(func, active_results), dependences(func.body).backward)
    return {k for k in wrt if func.params[k] in useful}
