"""Unboxing: scalar arithmetic on Python floats instead of NumPy scalars, whose operations cost several times as much.

Elements of arrays are read as ``x.item(i)``, results of NumPy functions are converted by ``float``, and values computed from these
alone are Python floats. Where Python raises and NumPy does not (division by zero, domains, overflow of a power) the emitted function
restarts in the plain form: ``func.guarded`` requests that. Works in place. Values that cannot be unboxed are found by a fixed point
over an ``Agenda``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, TypeVar

from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Operand, Value, While, substitute, walk
from symgrad.ir.types import BOOL, FLOAT, Array, Scalar
from symgrad.ir.unbound import is_absent
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.passes.facts import Facts, Node, halves_kept
from symgrad.passes.simplification.remarks import tell

T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class Agenda(Generic[T]):
    """A worklist: items in order, all due at first. A walk yields the due items in order, and those ahead of it that become due meanwhile.

    >>> agenda = Agenda("abcd")
    >>> [agenda.note("c") or agenda.note("a") if item == "b" else item for item in agenda.walk()]
    ['a', None, 'c', 'd']
    >>> list(agenda.walk()), bool(agenda)
    (['a'], False)
    """

    items: Sequence[T]
    places: dict[T, int] = field(init=False)
    due: set[int] = field(init=False)
    ahead: list[int] = field(default_factory=list)  #: due in the current walk, as a heap
    place: int | None = None  #: the position of the current walk

    def __post_init__(self) -> None:
        self.places = {item: k for k, item in enumerate(self.items)}
        self.due = set(range(len(self.items)))

    def __bool__(self) -> bool:
        return bool(self.due)

    def note(self, item: object) -> None:
        """Mark an item as due; ignore objects that are not items."""
        place = self.places.get(item)  # type: ignore[arg-type]
        if place is not None and place not in self.due:
            self.due.add(place)
            if self.place is not None and place > self.place:
                heappush(self.ahead, place)

    def walk(self) -> Iterator[T]:
        """The due items, in order."""
        self.ahead, self.place = sorted(self.due), -1
        while self.ahead:
            self.place = heappop(self.ahead)
            self.due.discard(self.place)
            yield self.items[self.place]
        self.place = None


#: arithmetic that is the same on Python's floats, which never raises
PLAIN = frozenset({"add", "subtract", "multiply", "negative", "positive", "abs", "accumulate", "square"})
#: arithmetic that raises where NumPy returns inf or nan
RISKY = frozenset({"divide", "power"})
#: functions of the math module too, which raise where NumPy returns inf or nan
MATHS = frozenset(
    """
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp expm1 log log1p log2 log10 sqrt hypot
    """.split()
)
COMPARISONS = frozenset({"less", "less_equal", "greater", "greater_equal", "equal", "not_equal"})
#: rows that take a Python float as well as a NumPy one
EITHER = frozenset({"number", "push", "put", "spread", "full", *(f"{kind}_cell{r}" for kind in ("set", "add") for r in (1, 2, 3))})
#: rows that store a number to an array
STORING = frozenset({"set_at", "add_at"})
#: rows of tapes: the position among operands, or results, of the first saved value
FILLING, EMPTYING = {"push": 1, "put": 2}, {"pop": 1, "get": 0}
#: exceptions of arithmetic on Python numbers
NUMBERS = frozenset({"ArithmeticError", "ValueError"})
#: effects that may be repeated
HARMLESS = frozenset({"check", "check_count", "raise_error", "raise_again", "bail_out", "evaluated"})
NUMPY_FLOAT = Scalar("float", "f64")
#: floats and complex numbers of fewer digits
NARROW = frozenset({"f16", "f32", "c64"})
#: a tape item that code outside the function reads or writes
ELSEWHERE = Const("elsewhere")
#: builtins that return one of their operands
CHOICES = frozenset({"maximum", "minimum"})


def unbox(func: Func) -> Func:
    """Turn NumPy scalars into Python floats, in place."""
    if any(isinstance(op, Apply) for op in walk(func.body)):
        return func
    with halves_kept(func):
        _Unboxer(func, may_start_again(func)).run()
    return func


def unbox_plainly(func: Func) -> Func:
    """As ``unbox``, but only arithmetic that never raises."""
    if not any(isinstance(op, Apply) for op in walk(func.body)):
        with halves_kept(func):
            _Unboxer(func, False).run()
    return func


def may_start_again(func: Func) -> bool:
    """Whether the function may run twice without an observable difference."""
    return not any(isinstance(op, Call) and ROWS[op.name].effect and op.name not in HARMLESS for op in walk(func.body))


@dataclass(slots=True)
class _Unboxer:
    """Computes the largest set of values that can become Python floats."""

    func: Func
    risky: bool
    facts: Facts = field(init=False)
    readers: dict[Value, list[Op]] = field(default_factory=dict)
    groups: list[list[Operand]] = field(default_factory=list)  #: values that must agree: of a loop's slot, a branch's result, a tape's item
    handed: dict[Operand, None] = field(default_factory=dict)  #: in order, because the first one examined may decide
    groups_of: dict[Operand, list[int]] = field(default_factory=dict)  #: by group index
    leaves: dict[Value, Call] = field(default_factory=dict)  #: elements read and results of other functions, with the defining ops
    looped: set[Op] = field(default_factory=set)  #: ops inside loops
    order: list[Value] = field(default_factory=list)
    unboxed: set[Operand] = field(default_factory=set)

    def run(self) -> None:
        self.facts = Facts(self.func)
        self.enter(self.func.body, False)
        self.tapes()
        self.handed = dict.fromkeys(o for group in self.groups for o in group)
        for k, group in enumerate(self.groups):
            for operand in group:
                self.groups_of.setdefault(operand, []).append(k)
        self.order = [v for v in dict.fromkeys([*self.handed, *self.facts.maker]) if isinstance(v, Value) and is_scalar(v)]
        barred: set[Value] = set(self.func.params)
        while True:
            self.settle(barred)
            idle = {leaf for leaf in self.leaves if leaf in self.unboxed and not self.pays(leaf)}
            if not idle:
                break
            barred |= idle
        self.explain()
        if self.unboxed:
            table: dict[Value, Operand] = {}
            self.returned()
            self.rewrite(self.func.body, table)
            substitute(self.func.body, table)
            for value in self.order:
                if value in self.unboxed:
                    value.type = FLOAT

    def enter(self, block: Block, looped: bool) -> None:
        for op in block.ops:
            if looped:
                self.looped.add(op)
            for operand in dict.fromkeys(op.operands):
                if isinstance(operand, Value):
                    self.readers.setdefault(operand, []).append(op)
            match op:
                case For() | While():
                    for k, (init, carried) in enumerate(zip(op.inits, op.carried, strict=True)):
                        more = [op.test.args[k]] if isinstance(op, While) else []
                        self.groups.append([init, carried, op.body.yields[k], op.outs[k], *more])
                case If():
                    self.groups += [list(group) for group in zip(op.outs, op.then.yields, op.orelse.yields, strict=True)]
                case Call() if len(op.outs) == 1 and is_scalar(op.outs[0]) and is_leaf(op):
                    self.leaves[op.outs[0]] = op
            for inner in op.blocks:
                self.enter(inner, looped or isinstance(op, For | While))

    def tapes(self) -> None:
        """Group pushed with popped items; a tape that is a parameter or a result holds no Python floats."""
        find = self.facts.find
        items: dict[Node, dict[int, list[Operand]]] = {}
        filled: set[Node] = set()
        emptied: set[Node] = set()
        for op in walk(self.func.body):
            if isinstance(op, Call) and op.name in (*FILLING, *EMPTYING) and isinstance(op.args[0], Value):
                tape = find((op.args[0], False))
                (filled if op.name in FILLING else emptied).add(tape)
                for k, item in enumerate(op.args[FILLING[op.name] :] if op.name in FILLING else op.outs[EMPTYING[op.name] :]):
                    items.setdefault(tape, {}).setdefault(k, []).append(item)
        outside = {find((v, False)) for v in (*self.func.params, *self.func.body.yields) if isinstance(v, Value)}
        for tape, places in items.items():
            known = tape in filled and tape in emptied and tape not in outside
            self.groups += [group if known else [*group, ELSEWHERE] for group in places.values()]

    # -------------------------------------------------------------- the largest set

    def settle(self, barred: set[Value]) -> None:
        """Compute the largest set without a conflict, by a worklist."""
        self.unboxed = {v for v in self.order if v not in barred}
        values, groups = Agenda(self.order), Agenda(range(len(self.groups)))
        while values or groups:
            for value in values.walk():
                if value in self.unboxed and not self.may_be_python(value):
                    self.take_out(value, values, groups)
            for k in groups.walk():
                agree = all(map(self.is_python, self.groups[k]))
                for operand in dict.fromkeys(self.groups[k]) if not agree else ():
                    if operand in self.unboxed:
                        self.take_out(operand, values, groups)

    def may_be_python(self, value: Value) -> bool:
        """Whether the value is computed from Python numbers, and every op that reads it accepts one."""
        return self.is_made(value) and all(self.takes(op, value) for op in self.readers.get(value, ()))

    def take_out(self, operand: Operand, values: Agenda[Value], groups: Agenda[int]) -> None:
        """Remove a value from the set, and re-examine its operands, its users, the other operands of these, and its groups."""
        assert isinstance(operand, Value)
        self.unboxed.discard(operand)
        maker = self.facts.maker.get(operand)
        for other in maker.args if isinstance(maker, Call) else ():
            values.note(other)
        for op in self.readers.get(operand, ()):
            for other in (*op.args, *op.outs) if isinstance(op, Call) else ():
                values.note(other)
        for k in self.groups_of.get(operand, ()):
            groups.note(k)

    def is_python(self, operand: Operand) -> bool:
        """Whether the operand is a Python number, or unbound."""
        if isinstance(operand, Const):
            return type(operand.value) in (int, float) or is_absent(operand, FLOAT)
        return operand in self.unboxed or is_number(operand)

    def is_made(self, value: Value) -> bool:
        """Whether the value is computed from Python floats alone; its group checks a value passed on by loops, branches and tapes."""
        maker = self.facts.maker.get(value)
        if value in self.leaves or not isinstance(maker, Call) or maker.name in EMPTYING:
            return value in self.leaves or value in self.handed
        return self.stays(maker) and all(map(self.is_python, maker.args[1:] if maker.name == "where" else maker.args))

    def stays(self, op: Call) -> bool:
        """Whether the op returns a Python float for Python floats."""
        via = op.settings.get("via")
        if via == "math":
            return op.name in CHOICES
        if op.name in RISKY:
            return self.risky or op.name == "divide" and is_nonzero(op.args[1])
        if is_widening(op):
            return True
        return (
            op.name in PLAIN or self.risky and op.name in MATHS or op.name == "where" and all(isinstance(a.type, Scalar) for a in op.args)
        )

    def takes(self, op: Op, value: Value) -> bool:
        """Whether the op accepts a Python float instead of a NumPy one, with the same result."""
        if isinstance(op, For | While):
            return value in op.inits
        if not isinstance(op, Call):
            return False
        if op.outs and op.outs[0] in self.unboxed and op.outs[0] not in self.leaves:
            return op.name != "where" or op.args[0] is not value
        if op.name in STORING:
            return op.args[1] is value and isinstance(op.args[0].type, Array) and value not in op.args[2:]
        if op.name in EITHER:
            return True
        others = [a for a in op.args if a is not value]
        if op.name == "accumulate" or ROWS[op.name].elementwise:
            if any(isinstance(a.type, Array) for a in others):
                return all(a.type.dtype in ("f64", "c128") if isinstance(a.type, Array) else isinstance(a.type, Scalar) for a in others)
            return self.takes_scalars(op, others)
        return False

    def takes_scalars(self, op: Call, others: list[Operand]) -> bool:
        """The same for an elementwise scalar op whose result is not unboxed."""
        if op.settings.get("via") == "math":
            return is_number(op.outs[0])
        if any(getattr(a.type, "dtype", None) in NARROW for a in others):
            return False  # a Python float adopts the narrow dtype of the others
        if any(is_numpy(a) and a not in self.unboxed for a in others):
            return True  # it decides how the op behaves
        if op.name in COMPARISONS:
            return self.is_test(op.outs[0])
        return op.name not in PLAIN | RISKY and is_function(op)

    def is_test(self, value: Value) -> bool:
        """Whether a comparison's result only decides branches, wherever it is passed on."""
        pending, seen = [value], {value}
        while pending:
            current = pending.pop()
            if current in self.func.body.yields:
                return False
            new: list[Operand] = []
            for op in self.readers.get(current, ()):
                if isinstance(op, Call) and op.name == "not_":
                    new += op.outs
                elif isinstance(op, Call) and op.name == "where" and current is op.args[0] and isinstance(op.outs[0].type, Scalar):
                    continue
                elif isinstance(op, Call) and op.name not in FILLING or not isinstance(op, Call | If | For | While):
                    return False
            for k in self.groups_of.get(current, ()):
                new += self.groups[k]
            for operand in new:
                if isinstance(operand, Const) and type(operand.value) is not bool:
                    return False
                if isinstance(operand, Value) and operand not in seen:
                    seen.add(operand)
                    pending.append(operand)
        return True

    def pays(self, leaf: Value) -> bool:
        """Whether the ops on an unboxed element or result pay for the conversion."""
        maker = self.leaves[leaf]
        if is_element(maker) and all(map(by_elements, self.readers.get(maker.args[0], ()))):  # type: ignore[arg-type]
            return True  # the array may become a list
        gain = 0
        for op in [op for value in self.handed_on(leaf) for op in self.readers.get(value, ())]:
            if isinstance(op, Call) and op.outs and op.outs[0] in self.unboxed and op.outs[0] not in self.leaves:
                gain += 4 if op.name in MATHS or op in self.looped and maker not in self.looped else 1
        return gain >= (1 if is_element(maker) and maker in self.looped else 2)

    def handed_on(self, value: Value) -> list[Value]:
        """The value, and the values that loops, branches and tapes pass it on to."""
        values = [value]
        for current in values:
            new = {o: None for k in self.groups_of.get(current, ()) for o in self.groups[k] if isinstance(o, Value) and o in self.unboxed}
            values += [o for o in new if o not in values]
        return values

    def explain(self) -> None:
        """Emit remarks: the elements and results that become Python floats, and what prevents it for the others."""
        for leaf, maker in self.leaves.items() if self.func.notes is not None else ():
            about = None if is_element(maker) else leaf  # an element is called by the name of its array
            if leaf in self.unboxed:
                tell(self.func.notes, maker, "a Python float, on which arithmetic is faster than on NumPy's", about)
            else:
                reader = next((op for op in self.readers.get(leaf, ()) if not self.takes(op, leaf)), None)
                reason = "the arithmetic on it would not repay the conversion" if reader is None else f"line {reader.loc.line} needs it so"
                tell(self.func.notes, maker, f"stays one of NumPy's numbers: {reason}", about)

    # -------------------------------------------------------------- rewriting

    def returned(self) -> None:
        """Convert a returned value back to a NumPy scalar where it certainly was one."""
        body = self.func.body
        for k, value in enumerate(body.yields):
            if value in self.unboxed and value.type == NUMPY_FLOAT:
                scalar = Value(NUMPY_FLOAT, value.name if isinstance(value, Value) else None)
                body.ops.append(Call([scalar], self.func.loc, "cast", [value], dict(ROWS["cast"].settings)))
                body.yields[k] = scalar

    def rewrite(self, block: Block, table: dict[Value, Operand]) -> None:
        done: list[Op] = []
        for op in block.ops:
            for inner in op.blocks:
                self.rewrite(inner, table)
            if not isinstance(op, Call) or len(op.outs) != 1:
                done.append(op)
            elif op.name == "number" and op.args[0] in self.unboxed and op.outs[0].type == FLOAT:
                table[op.outs[0]] = op.args[0]
            elif op.outs[0] in self.unboxed and is_widening(op):
                done += self.widened(op, table)
            elif op.outs[0] in self.leaves and op.outs[0] in self.unboxed:
                done += unboxed_leaf(op)
            else:
                if op.outs[0] in self.unboxed:
                    self.plain(op)
                elif op.name in COMPARISONS and all(map(self.is_python, op.args)):
                    op.outs[0].type = BOOL
                done.append(op)
        block.ops = done

    def widened(self, op: Call, table: dict[Value, Operand]) -> list[Op]:
        """Drop the conversion of a Python number to a NumPy one; an integer becomes a float."""
        (number,) = op.args
        if isinstance(number, Const):
            table[op.outs[0]] = Const(float(number.value))
        elif number.type == FLOAT:
            table[op.outs[0]] = number
        else:
            return [Call(op.outs, op.loc, "number", op.args, dict(ROWS["number"].settings))]
        return []

    def plain(self, op: Call) -> None:
        """Choose the Python spelling of arithmetic on Python floats."""
        if op.name in MATHS or op.name in RISKY and not (op.name == "divide" and is_nonzero(op.args[1])):
            self.func.guarded |= NUMBERS
        if op.name == "square":
            op.name, op.args, op.settings = "multiply", [op.args[0], op.args[0]], dict(ROWS["multiply"].settings)
        elif op.name in MATHS or op.name == "power" and not is_int(op.args[1]):
            op.settings = {**op.settings, "via": "math"}
        elif "via" in op.settings and op.name not in CHOICES:
            op.settings = {**op.settings, "via": None}


def is_number(operand: Operand) -> bool:
    """Whether its type is a Python number."""
    return isinstance(operand.type, Scalar) and operand.type.kind in ("float", "int") and operand.type.dtype is None


def is_scalar(operand: Operand) -> bool:
    """Whether the operand is a float that is, or may be, a NumPy scalar."""
    return isinstance(operand.type, Scalar) and operand.type.kind == "float" and operand.type.dtype in ("f64", "any")


def is_numpy(operand: Operand) -> bool:
    """Whether the operand is surely a NumPy scalar."""
    return isinstance(operand.type, Scalar) and operand.type.dtype not in (None, "any")


def is_leaf(op: Call) -> bool:
    """Whether an op on more than numbers yields a NumPy float that can be converted to a Python float."""
    row = ROWS[op.name]
    if row.consumes or row.effect or row.statement or op.name in USER_ROWS or op.settings.get("via") == "math":
        return False
    if is_widening(op):
        return False
    return is_element(op) or op.outs[0].type == NUMPY_FLOAT and op.name not in PLAIN | RISKY | MATHS | {"where", *EMPTYING}


def is_widening(op: Call) -> bool:
    """Whether the op converts a Python number to a NumPy float."""
    return op.name == "cast" and op.settings["dtype"] == "f64" and is_number(op.args[0])


def is_element(op: Call) -> bool:
    """Whether the op reads one element."""
    index, x = op.settings.get("index", ""), op.args[0].type if op.args else None
    return (
        op.name == "take"
        and isinstance(x, Array)
        and x.dtype == "f64"
        and index == "i" * (x.rank or 0) != ""
        and all(isinstance(a.type, Scalar) and a.type.kind == "int" for a in op.args[1:])
    )


def by_elements(op: Op) -> bool:
    """Whether an op accesses an array by elements, or only passes it on."""
    if not isinstance(op, Call) or op.name in ("shape_of", "extent"):
        return not isinstance(op, Apply)
    return is_element(op) or op.name in STORING and op.settings["index"] in ("i", "ii", "iii")


def is_function(op: Call) -> bool:
    """Whether the op is a NumPy function, not an operator, so that its result is the same for Python numbers."""
    emit = ROWS[op.name].emit
    return (emit if isinstance(emit, str) else emit(op.settings, [a.type for a in op.args])).startswith("np.")


def is_nonzero(operand: Operand) -> bool:
    """Whether the operand is a nonzero literal."""
    return isinstance(operand, Const) and type(operand.value) in (int, float) and operand.value != 0


def is_int(operand: Operand) -> bool:
    """Whether the operand is an integer; every float has integer powers."""
    return isinstance(operand.type, Scalar) and operand.type.kind == "int"


def unboxed_leaf(op: Call) -> list[Op]:
    """Read an element as a Python float, or convert a result to one."""
    if is_element(op):
        op.name, op.settings = "item", dict(ROWS["item"].settings)
        return [op]
    out = op.outs[0]
    op.outs[0] = inner = Value(out.type)
    return [op, Call([out], op.loc, "number", [inner], dict(ROWS["number"].settings))]


__all__ = ["Agenda", "unbox", "unbox_plainly"]
