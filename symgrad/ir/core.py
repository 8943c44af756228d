"""The program representation: values, calls, loops, branches, functions.

Structured SSA. Every op computes new values from old ones and has no effects other than those that its row
declares. Control flow is ops that contain blocks. There is no flow graph and no phi: a block takes arguments
and ends by yielding operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.identity import Same
from symgrad.ir.types import BOOL, COMPLEX, FLOAT, INT, UNDEFINED, UNKNOWN, Object, Type, is_complex
from symgrad.location import NOWHERE, Loc
from symgrad.notes import Notes


@dataclass(eq=False, slots=True)
class Value:
    """The result of an op or the argument of a block; defined once, compared by identity."""

    type: Type
    name: str | None = None  #: the user's name, if it has one
    label: str | None = None  #: a description after which the cotangent of an unnamed value is named

    def __repr__(self) -> str:
        return f"<{self.name or '%'}: {self.type}>"


@dataclass(frozen=True, slots=True, eq=False)
class Const:
    """A literal, a Python object known at compile time, or a name unbound on this path (``UNDEF``).

    ``name`` spells an object without a literal form (a function, a dtype, a class).
    """

    value: Any
    name: str | None = None

    @property
    def type(self) -> Type:
        plain = PLAIN_TYPES.get(type(self.value))
        if plain is not None:
            return plain
        match self.value:
            case bool():
                return BOOL
            case int():
                return INT
            case float():
                return FLOAT
            case complex():
                return COMPLEX
            case Undef():
                return UNDEFINED
            case None:
                return Object("None")
        return Object(type(self.value).__name__) if self.name is None else Object(self.name)

    def key(self) -> tuple[Any, ...]:
        """A key that is equal for constants that may replace one another (0 and 0.0 and False may not)."""
        if isinstance(self.value, bool | int | float | complex | str | type(None)):
            return (type(self.value), repr(self.value))
        return (type(self.value), Same(self.value))

    def __repr__(self) -> str:
        return f"Const({self.name or self.value!r})"


class Undef:
    """The value of a name that is not bound on the path taken."""

    def __repr__(self) -> str:
        return "undef"


#: the types of literals, cached because they are read often
PLAIN_TYPES: dict[type, Type] = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX, Undef: UNDEFINED}

UNDEF = Const(Undef())
NONE, ZERO, ONE, TRUE, FALSE = Const(None), Const(0), Const(1), Const(True), Const(False)

Operand = Value | Const


@dataclass(eq=False, slots=True)
class Block:
    """Ops in order of evaluation, then the operands that the block yields to its parent."""

    args: list[Value] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)
    yields: list[Operand] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Op:
    """Base of all ops; abstract."""

    outs: list[Value] = field(default_factory=list)
    loc: Loc = NOWHERE

    @property
    def operands(self) -> list[Operand]:
        return []

    def replace_operands(self, new: list[Operand]) -> None:
        assert not new

    @property
    def blocks(self) -> Sequence[Block]:
        return ()


@dataclass(eq=False, slots=True)
class Call(Op):
    """``outs = name(*args, **settings)``: one row of the vocabulary applied.

    Settings are Python data known at compile time (axis, keepdims, an index path).
    """

    name: str = ""
    args: list[Operand] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def operands(self) -> list[Operand]:
        return self.args

    def replace_operands(self, new: list[Operand]) -> None:
        self.args = list(new)


# Most ops are calls, and passes read these two of every op: plain attributes avoid a property call.
Call.operands = Call.args  # type: ignore[misc, method-assign, assignment]
Call.blocks = ()  # type: ignore[method-assign, assignment]


@dataclass(eq=False, slots=True)
class For(Op):
    """``for body.args[0] in range(start, stop, step)``; ``body.args[1:]`` are loop-carried, starting from ``inits``.

    The body yields the carried values of the next iteration and, if ``until`` is set, finally a bool that ends
    the loop after this iteration. ``outs`` are the carried values after the loop and, if ``until`` is set,
    finally the number of iterations started. ``backward`` runs the same indices from last to first. ``batch``:
    the iterations are the examples of a ``vmap`` batch.
    """

    start: Operand = ZERO
    stop: Operand = ZERO
    step: Operand = ONE
    inits: list[Operand] = field(default_factory=list)
    body: Block = field(default_factory=Block)
    until: bool = False
    backward: bool = False
    batch: bool = False

    @property
    def operands(self) -> list[Operand]:
        return [self.start, self.stop, self.step, *self.inits]

    def replace_operands(self, new: list[Operand]) -> None:
        self.start, self.stop, self.step, *self.inits = new

    @property
    def blocks(self) -> Sequence[Block]:
        return [self.body]

    @property
    def index(self) -> Value:
        return self.body.args[0]

    @property
    def carried(self) -> list[Value]:
        return self.body.args[1:]


@dataclass(eq=False, slots=True)
class While(Op):
    """``while test: body``. Both blocks take the carried values; ``test`` yields one bool and has no side effect.

    ``body`` yields as in ``For``. ``outs`` are the carried values and finally, always, the number of iterations
    started.
    """

    inits: list[Operand] = field(default_factory=list)
    test: Block = field(default_factory=Block)
    body: Block = field(default_factory=Block)
    until: bool = False

    @property
    def operands(self) -> list[Operand]:
        return self.inits

    def replace_operands(self, new: list[Operand]) -> None:
        self.inits = list(new)

    @property
    def blocks(self) -> Sequence[Block]:
        return [self.test, self.body]

    @property
    def carried(self) -> list[Value]:
        return self.body.args


@dataclass(eq=False, slots=True)
class If(Op):
    """``if test``; both blocks take no arguments and yield one operand for each of ``outs``."""

    test: Operand = TRUE
    then: Block = field(default_factory=Block)
    orelse: Block = field(default_factory=Block)

    @property
    def operands(self) -> list[Operand]:
        return [self.test]

    def replace_operands(self, new: list[Operand]) -> None:
        (self.test,) = new

    @property
    def blocks(self) -> Sequence[Block]:
        return [self.then, self.orelse]


@dataclass(eq=False, slots=True)
class Apply(Op):
    """A call of another function of the program: ``outs = func(*args)``."""

    func: Func | None = None
    args: list[Operand] = field(default_factory=list)

    @property
    def operands(self) -> list[Operand]:
        return self.args

    def replace_operands(self, new: list[Operand]) -> None:
        self.args = list(new)


@dataclass(eq=False, slots=True)
class Func:
    """A function of the program: ``body.args`` are its parameters, ``body.yields`` its results.

    ``results`` names the results for readers (``out``, ``x_grad``). ``split`` is the number of leading ops that
    form the forward half, if the function has two. ``notes`` collects remarks of the stages if requested;
    copies of the function share it. ``guarded``: if an exception of these classes is raised, the original
    function is called instead. ``shares``: the memory that results may share while the body is incomplete, see
    ``ops/analysis/aliases.py``. ``original``: the user's function that the function was lowered from; text that is read calls
    that one. ``known``: analyses of the function in its present state, and the passes that change nothing in it, while a stage
    runs (``passes/facts.py``).
    """

    name: str
    body: Block = field(default_factory=Block)
    results: list[str] = field(default_factory=list)
    loc: Loc = NOWHERE
    split: int | None = None
    doc: str = ""
    notes: Notes | None = None
    guarded: frozenset[str] = frozenset()
    shares: Any = None
    original: Any = None
    known: dict[str, Any] | None = None

    @property
    def params(self) -> list[Value]:
        return self.body.args


def inner_first(block: Block) -> Iterator[Block]:
    """A block and all blocks inside it, each after those inside it."""
    for op in block.ops:
        for inner in op.blocks:
            yield from inner_first(inner)
    yield block


def operands_within(op: Op) -> Iterator[Operand]:
    """All operands of an op and of the ops in its blocks."""
    yield from op.operands
    for block in op.blocks:
        yield from block.yields
        for inner in block.ops:
            yield from operands_within(inner)


def walk(block: Block) -> Iterator[Op]:
    """Every op of a block and of the blocks inside it, in order of evaluation; constant work per op at any depth."""
    above: list[tuple[Iterator[Block], Iterator[Op]]] = []
    blocks: Iterator[Block] = iter(())
    ops = iter(block.ops)
    while True:
        for op in ops:
            yield op
            if op.blocks:
                above.append((blocks, ops))
                blocks, ops = iter(op.blocks), iter(())
                break
        else:
            inner = next(blocks, None)
            if inner is not None:
                ops = iter(inner.ops)
            elif above:
                blocks, ops = above.pop()
            else:
                return


def blocks_within(block: Block) -> Iterator[Block]:
    """The block, then the blocks of its ops, outer first."""
    yield block
    for op in walk(block):
        yield from op.blocks


def ops_within(op: Op) -> Iterator[Op]:
    """The op, then the ops in its blocks, in order of evaluation."""
    yield op
    for block in op.blocks:
        yield from walk(block)


def defined_by(op: Op) -> Iterator[Value]:
    """The results of an op, then everything that its blocks define."""
    yield from op.outs
    for block in op.blocks:
        yield from definitions(block)


def uses(block: Block) -> dict[Value, int]:
    """How often each value is read in a block and the blocks inside it, yields included."""
    count: dict[Value, int] = {}
    pending = [block]
    for inner in pending:
        operands: list[Operand] = [*inner.yields]
        for op in inner.ops:
            operands += op.operands
            pending += op.blocks
        for operand in operands:
            if isinstance(operand, Value):
                count[operand] = count.get(operand, 0) + 1
    return count


def same_operand(a: Operand, b: Operand) -> bool:
    """Whether two operands are the same value, or equal constants of one class."""
    return a is b or isinstance(a, Const) and isinstance(b, Const) and a.key() == b.key()


def key_of(operand: Operand) -> Any:
    """A key that is equal for equal operands."""
    return operand.key() if isinstance(operand, Const) else operand


def resolved(operand: Operand, table: Mapping[Value, Operand]) -> Operand:
    """The replacement of an operand; chains of replacements are followed."""
    while isinstance(operand, Value) and operand in table:
        operand = table[operand]
    return operand


def substitute(block: Block, table: dict[Value, Operand]) -> None:
    """Replace operands in place, in a block and the blocks inside it; chains of replacements are resolved."""
    if not table:
        return

    for op in block.ops:
        op.replace_operands([resolved(o, table) for o in op.operands])
        for child in op.blocks:
            substitute(child, table)
    block.yields = [resolved(o, table) for o in block.yields]


def clone_block(block: Block, table: dict[Value, Operand]) -> Block:
    """A copy with fresh values; ``table`` maps old values to new ones and is extended."""

    def fresh(value: Value) -> Value:
        table[value] = copy = Value(value.type, value.name, value.label)
        return copy

    def new(operand: Operand) -> Operand:
        return table.get(operand, operand) if isinstance(operand, Value) else operand

    copy = Block([fresh(a) for a in block.args])
    for op in block.ops:
        copy.ops.append(clone_op(op, table, new, fresh))
    copy.yields = [new(o) for o in block.yields]
    return copy


def clone_op(op: Op, table: dict[Value, Operand], new: Any, fresh: Any) -> Op:
    """A copy of one op for ``clone_block``."""
    match op:
        case Call():
            copy: Op = Call([], op.loc, op.name, [new(a) for a in op.args], dict(op.settings))
        case For():
            copy = For(
                [],
                op.loc,
                new(op.start),
                new(op.stop),
                new(op.step),
                [new(i) for i in op.inits],
                clone_block(op.body, table),
                op.until,
                op.backward,
                op.batch,
            )
        case While():
            inits = [new(i) for i in op.inits]
            copy = While([], op.loc, inits, clone_block(op.test, table), clone_block(op.body, table), op.until)
        case If():
            copy = If([], op.loc, new(op.test), clone_block(op.then, table), clone_block(op.orelse, table))
        case Apply():
            copy = Apply([], op.loc, op.func, [new(a) for a in op.args])
        case _:
            raise AssertionError(op)
    copy.outs = [fresh(o) for o in op.outs]
    return copy


def holds_complex(func: Func, seen: frozenset[int] = frozenset()) -> bool:
    """Whether a value of a function, or of its callees, is known to be complex."""
    if any(is_complex(v.type) for v in definitions(func.body)) or any(is_complex(y.type) for y in func.body.yields):
        return True
    inner = [op.func for op in walk(func.body) if isinstance(op, Apply) and op.func is not None and id(op.func) not in seen]
    return any(holds_complex(one, seen | {id(func), id(one)}) for one in inner)


def clone(func: Func, name: str | None = None) -> Func:
    """A copy of a function with fresh values."""
    copy = clone_block(func.body, {})
    return Func(name or func.name, copy, list(func.results), func.loc, func.split, func.doc, func.notes, func.guarded)


def definitions(block: Block) -> Iterator[Value]:
    """Everything that a block or one inside it defines."""
    yield from block.args
    for op in walk(block):
        yield from op.outs
        for inner in op.blocks:
            yield from inner.args


# ------------------------------------------------------------------ the functions that a function calls


def reachable(func: Func) -> list[Func]:
    """The function and all that it calls, in order of first call."""
    functions = [func]
    for each in functions:
        for op in walk(each.body):
            functions += [callee for callee in dict.fromkeys(callees(op)) if callee not in functions]
    return functions


def callees(op: Op) -> list[Func]:
    """The functions of the program that an op calls, or passes to a solver that calls them."""
    if isinstance(op, Apply):
        return [] if op.func is None else [op.func]
    return [a.value for a in op.operands if isinstance(a, Const) and isinstance(a.value, Func)]


def applied(body: Block) -> list[Func]:
    """Every function that a body calls, directly or through others, in order."""
    funcs: dict[Func, None] = {}
    todo = [body]
    while todo:
        for op in walk(todo.pop()):
            if isinstance(op, Apply) and op.func is not None and op.func not in funcs:
                funcs[op.func] = None
                todo.append(op.func.body)
    return list(funcs)


def invariant_ops(block: Block, varying: set[Value], may_move: Callable[[Call], bool]) -> dict[Value, Call]:
    """Return the ops of a block that ``may_move`` accepts and that read nothing that varies, by their results.

    ``varying`` holds the values from elsewhere that differ from run to run. Afterwards it also holds the results of the other ops.
    """
    varying.update(out for op in block.ops for out in op.outs)
    invariant: dict[Value, Call] = {}
    for op in block.ops:
        if isinstance(op, Call) and may_move(op) and varying.isdisjoint(op.operands):
            varying.difference_update(op.outs)
            invariant |= dict.fromkeys(op.outs, op)
    return invariant


__all__ = ["FALSE", "NONE", "ONE", "TRUE", "UNDEF", "UNKNOWN", "ZERO", "Apply", "Block", "Call", "Const", "For", "Func", "If", "Op"]
__all__ += ["Operand", "Undef", "Value", "While", "applied", "blocks_within", "callees", "clone", "clone_block", "defined_by"]
__all__ += ["definitions", "holds_complex", "invariant_ops", "key_of", "operands_within", "ops_within", "reachable", "substitute", "uses"]
__all__ += ["walk"]
