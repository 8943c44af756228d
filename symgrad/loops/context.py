"""The state of one function's lowering: the lowered form of each value, and the allocation of arrays.

The rules of all topics receive a ``Context``; ``lower.py`` adds the walk.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Operand, Undef, Value, While, walk
from symgrad.ir.types import Array, Dim, Extent, List, Scalar, ShapeOf, Type, Undefined
from symgrad.ir.unbound import is_undefined
from symgrad.loops.bailouts import bail_out, if_zero, is_python, is_python_int
from symgrad.loops.forms import DTYPES, Form, refuse, refuse_dtype, remember, stored
from symgrad.loops.later_stores import LaterStores
from symgrad.loops.numbers.scalars import is_index_arithmetic, lower_scalar
from symgrad.loops.paths import Item
from symgrad.loops.reach import OutOfReach, in_words, named
from symgrad.loops.writer import BOUNDED, FLOAT_BITS, LARGEST, Writer
from symgrad.ops.build import known_extents, symbols
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts


@dataclass(slots=True)
class Stacks:
    """A tape as lists, with the types of the saved values."""

    items: tuple[Type, ...]
    lists: list[Value]


@dataclass(slots=True)
class Saved:
    """The memory of one saved value on a slot tape: arrays, a list of arrays (no ``extents``), or an inner tape."""

    type: Type
    handles: list[Value]
    extents: tuple[Operand, ...] | None = None
    inner: Slots | None = None
    shape: tuple[Operand | None, ...] = ()  #: of a shape: its known extents; the others are saved


@dataclass(slots=True)
class Slots:
    """A slot tape; ``prefix`` are the iterations of the outer loops that it belongs to, ``counts`` the iteration counts of all loops."""

    saved: list[Saved]
    prefix: tuple[Operand, ...]
    counts: tuple[Operand, ...]


#: the types of list items in memory; applies to inner lists too
Held = Scalar | Array | List


@dataclass(slots=True)
class Listing:
    """A numba list, of numbers, of arrays or of such lists; without ``handle`` while it is empty."""

    item: Held | Undefined
    handle: Value | None = None

    @property
    def known(self) -> Value:
        assert self.handle is not None
        return self.handle


@dataclass(slots=True)
class Turn:
    """The end of a pullback's first half: its block, the results, the seeds, and the block of the second half."""

    first: Block
    results: list[Operand]
    seeds: list[Value]
    second: Block


#: the lowered form of a value of the program
Thing = Form | Operand | tuple[Any, ...] | Stacks | Slots | Listing


@dataclass(slots=True)
class Frame:
    """A block during lowering: the last use of each value, and the live recipes."""

    block: Block
    last: dict[Value, int]
    alive: dict[Value, Form] = field(default_factory=dict)
    symbols: dict[str, Operand] = field(default_factory=dict)  #: extents of arrays created here


class Context:
    """The function, the writer, and the lowered form of each value."""

    def __init__(self, func: Func, unsure: Set[Value] = frozenset()) -> None:
        self.func = func
        self.unsure = unsure
        self.facts = Facts(func)
        self.writer = Writer()
        self.writer.build.taken = symbols(func)
        self.env: dict[Value, Thing] = {}
        self.frames: list[Frame] = []
        self.home: dict[Form, Block] = {}
        self.by_symbol: dict[str, Operand] = {}
        self.params: list[Value] = []  #: the lowered parameters
        self.inner: dict[Value, tuple[Value, Slots, Operand]] = {}  #: inner tapes: the outer tape, the arrays, the outer iteration
        self.saved_now: set[tuple[Op, Operand]] = set()  #: values saved before the op that saves them on the tape
        self.wants = memory_wanted(func)
        self.stored_arrays = stored_arrays(func, self.facts)
        self.later_stores = LaterStores(func, self.facts)
        self.groups: dict[Op, list[Call]] = {}  #: groups of stores that can be done together
        self.waiting: list[Any] = []  #: the pending stores of one group
        self.turn: Turn | None = None  #: for a pullback
        self.integers = known_extents(func)

    # -------------------------------------------------------------- values

    def parameter(self, value: Value) -> None:
        """Create the lowered parameter; its extents are known at entry."""
        parameter = Value(value.type, value.name)
        self.writer.fixed.add(parameter)
        self.params.append(parameter)
        if isinstance(value.type, Array):
            refuse(value.type)
            extents = self.extents_at(parameter, value)
            for dim, extent in zip(value.type.shape or (), extents, strict=True):
                if isinstance(dim, Dim) and dim.offset == 0:
                    self.by_symbol[dim.symbol] = extent
            self.env[value] = self.memory(parameter, value, extents)
        elif isinstance(value.type, Scalar):
            self.env[value] = parameter
        elif isinstance(value.type, ShapeOf) and value.type.shape is not None:
            self.env[value] = tuple(self.writer.pure("shape_part", parameter, axis=k) for k in range(len(value.type.shape)))
        elif self.facts.count.get(value, 0):
            raise OutOfReach(f"{named(value)}, which is {in_words(value.type)}", self.func.loc)

    def check_integers(self) -> None:
        """Leave if an integer argument used in counting has more than 62 bits: then no loop iteration overflows."""
        counted = {operand for op in walk(self.func.body) for operand in counted_from(op)}
        for value, parameter in zip(self.func.params, self.params, strict=True):
            if value in counted and is_python_int(value.type) and not self.writer.is_checked_small(parameter):
                self.writer.check("check_less", parameter, Const(2**LARGEST))
                self.writer.check("check_at_least", parameter, Const(-(2**LARGEST)))

    def check_ones(self) -> None:
        """Leave if an extent of an argument contradicts its type as to being 1: the caller has not checked it."""
        plural: dict[Operand, None] = {}
        with self.writer.at_entry():
            for value, parameter in zip(self.func.params, self.params, strict=True):
                for axis, extent in enumerate(value.type.shape or () if isinstance(value.type, Array) else ()):
                    if extent == 1:
                        self.writer.build.call_many("check_single", parameter, axis=axis)
                    elif isinstance(extent, Dim) and extent.plural and (operand := self.resolve(extent)) is not None:
                        plural[operand] = None
            if plural:
                self.writer.build.call_many("check_plural", *plural)

    def extents_at(self, handle: Value, value: Value) -> tuple[Operand, ...]:
        """The extents of a value's memory, read where they are unknown, or where the value may be unbound."""
        assert isinstance(value.type, Array)
        assert value.type.shape is not None
        extents: list[Operand] = []
        for axis, extent in enumerate(value.type.shape):
            known = None if value in self.unsure else self.resolve_here(extent)
            extents.append(known or self.writer.pure("extent", handle, axis=axis))
        return tuple(extents)

    def resolve(self, extent: Extent, *tables: dict[str, Operand]) -> Operand | None:
        """The operand of an extent, from the arguments or from one of the tables."""
        if isinstance(extent, int):
            return Const(extent)
        operand = next((t[extent.symbol] for t in (self.by_symbol, *tables) if extent.symbol in t), None)
        if operand is None or not extent.offset:
            return operand
        return self.writer.larger(self.writer.add(operand, Const(extent.offset)), Const(0))

    def resolve_here(self, extent: Extent) -> Operand | None:
        """The operand of an extent, from the arguments or from arrays created in enclosing blocks."""
        return self.resolve(extent, *(f.symbols for f in self.frames))

    def known_extents(self, type_: Type, extents: Sequence[Operand]) -> tuple[Operand, ...]:
        """The computed extents, or those of the type."""
        shape = type_.shape if isinstance(type_, Array) else None
        if shape is None or len(shape) != len(extents):
            return tuple(extents)
        return tuple(self.resolve_here(e) or computed for e, computed in zip(shape, extents, strict=True))

    def memory(self, handle: Value, value: Value, extents: Sequence[Operand]) -> Form:
        """The form of a value in memory."""
        dtype = refuse(value.type)
        return stored(self.writer, handle, dtype, extents, frozenset({self.facts.find((value, False))}), value.name)

    def thing(self, operand: Operand) -> Thing:
        """The lowered form of an operand."""
        if isinstance(operand, Value):
            return self.env[operand]
        if isinstance(operand.value, Undef):
            raise OutOfReach("a variable that is unbound on some path", self.writer.loc)
        return operand

    def number(self, operand: Operand) -> Operand:
        """The operand as a lowered number."""
        lowered = self.thing(operand)
        if isinstance(lowered, Form) and lowered.rank == 0:
            return lowered.at(())
        if isinstance(lowered, Form | tuple | Stacks | Slots | Listing):
            raise OutOfReach("an array where a number is needed", self.writer.loc)
        return lowered

    def form(self, operand: Operand) -> Form:
        """The operand as an array form; a number is one of rank 0."""
        lowered = self.thing(operand)
        if isinstance(lowered, Form):
            return lowered
        if isinstance(lowered, tuple | Stacks | Slots | Listing) or not isinstance(lowered.type, Scalar):
            what = "a shape or a list" if isinstance(lowered, tuple | Stacks | Slots | Listing) else in_words(lowered.type)
            raise OutOfReach(f"{what} where an array is needed", self.writer.loc)
        dtype = lowered.type.dtype if lowered.type.dtype not in (None, "any") else DTYPES.get(lowered.type.kind)
        return Form(refuse_dtype(dtype), (), lambda index: lowered)

    def extents(self, operand: Operand) -> tuple[Operand, ...]:
        """The extents that an operand of shape type lists."""
        lowered = self.thing(operand)
        if isinstance(lowered, tuple):
            return lowered
        if isinstance(lowered, Form):
            return lowered.extents
        if isinstance(lowered, Stacks | Slots | Listing):
            raise OutOfReach("a shape that is not known", self.writer.loc)
        return (lowered,)

    def item(self, operand: Operand) -> Item:
        """The operand as one subscript."""
        lowered = self.thing(operand)
        if isinstance(lowered, Const) and lowered.value is None:
            return None
        if isinstance(lowered, tuple | Stacks | Slots | Listing):
            raise OutOfReach("an index that is a tuple", self.writer.loc)
        return lowered

    # -------------------------------------------------------------- memory

    def materialised(self, operand: Operand) -> Form:
        """The array in row-major memory, which is allocated if it has none."""
        form = self.form(operand)
        if form.memory is not None:
            return form
        name = operand.name if isinstance(operand, Value) else None
        return self.give_memory(form, operand, name)

    def give_memory(self, form: Form, operand: Operand | None, name: str | None = None) -> Form:
        """Give memory to a recipe: store its elements in a new array."""
        handle = self.new_array(form, name)
        cells = frozenset({self.facts.find((operand, False))} if isinstance(operand, Value) else {handle})
        if self.home.get(form) is self.frames[-1].block:
            remember(form, self.writer, handle, cells)
            return form
        return stored(self.writer, handle, form.dtype, form.extents, cells, name)

    def new_array(self, form: Form, name: str | None = None) -> Value:
        """A new array with the elements of a form."""
        if isinstance(form.value, Const) and form.value.value == 0:
            return self.writer.call("zeros", *form.extents, hint=name, dtype=form.dtype)
        handle = self.writer.empty(form.dtype, form.extents, name)
        self.fill(handle, form)
        return handle

    def fill(self, handle: Value, form: Form) -> None:
        """Store the elements of a form."""
        with self.writer.nest(form.extents) as index:
            self.writer.store(handle, form.at(index), index)

    def overlap(self, x: Form, value: Form) -> bool:
        """Whether an element of ``value`` may be read from the memory of ``x``; alias classes do not distinguish iterations."""
        if not x.cells & value.reads():
            return False
        apart = all(root.memory is not None and root.memory is not x.memory for root in value.roots() if root.cells)
        return not (apart and x.memory is not None and self.is_new(x.memory))

    def is_new(self, handle: Value) -> bool:
        """Whether the array was created in this iteration of the current block, and has no alias so far."""
        block = self.writer.build.block
        for op in walk(block):
            plain = isinstance(op, Call) and op.name in ELEMENTS
            if handle in op.operands and not plain or any(handle in inner.yields for inner in op.blocks):
                return False
        return any(isinstance(op, Call) and op.name in ("zeros", "empty") and handle in op.outs for op in block.ops)

    def owned(self, operand: Operand) -> Form:
        """An array whose memory the program releases: it may be written to."""
        form = self.materialised(operand)
        assert form.memory is not None
        return form

    def result(self, operand: Operand) -> Operand:
        """The operand that the function returns: a number, or memory."""
        lowered = self.thing(operand) if not is_undefined(operand) else operand
        if isinstance(lowered, Form):
            memory = self.materialised(operand).memory
            assert memory is not None
            return memory
        if isinstance(lowered, tuple):
            return self.writer.call("shape_from", *lowered)
        if isinstance(lowered, Stacks | Slots | Listing):
            raise OutOfReach("a result that is a tape or a list", self.func.loc)
        return lowered

    # -------------------------------------------------------------- numbers

    def scalar_op(self, op: Call, args: list[Operand]) -> list[Operand]:
        """Lower a row applied to numbers."""
        types = [a.type for a in args]
        if op.name in ("add", "subtract") and is_python_int(*types) and is_index_arithmetic(op, args):
            result = self.writer.add(*args) if op.name == "add" else self.writer.subtract(*args)
            return [result]
        if op.name in BOUNDED and is_python_int(*types) and self.writer.stays_small(op.name, args):
            if op.name == "floor_divide":
                if_zero(self.writer.build, args[1])
            return [self.writer.pure(op.name, *args, hint=op.outs[0].name, **op.settings)]
        if op.name in COMPARING:
            self.compare_exactly(args)
        block = self.writer.build.block
        before = len(block.ops)
        results = lower_scalar(self.writer.build, op, args)
        for new_op in block.ops[before:]:
            if isinstance(new_op, Call) and new_op.outs:
                self.writer.maker[new_op.outs[0]] = new_op
        return results

    def compare_exactly(self, args: list[Operand]) -> None:
        """Bail out if a Python integer compared with a Python float has more bits than the float: numba would round it."""
        kinds = [getattr(a.type, "kind", None) for a in args]
        if sorted(map(str, kinds)) != ["float", "int"] or not is_python(*(a.type for a in args)):
            return
        whole = args[kinds.index("int")]
        if not self.writer.is_short(whole):
            build = self.writer.build
            bail_out(build, build.call("greater", build.call("abs", whole), Const(2**FLOAT_BITS)))


def counted_from(op: Op) -> Sequence[Operand]:
    """The operands of an op that may grow: summands, loop-carried values, and a loop's start unless it is a literal."""
    if isinstance(op, For) and isinstance(op.operands[0], Const) and isinstance(op.operands[2], Const):
        return op.inits
    counts = isinstance(op, For | While) or isinstance(op, Call) and op.name in ("add", "subtract")
    return op.operands if counts else ()


COMPARING = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
#: rows that access single elements of arrays, or read extents
ELEMENTS = frozenset({"take", "set_at", "add_at", "extent"})


#: functions of matrices, which read each element several times
OF_MATRICES = frozenset(
    {"matmul", "dot", "matmul_left", "matmul_right", "dot_left", "dot_right", "inv", "det", "slogdet", "cofactors", "cholesky", "solve"}
)


def stored_arrays(func: Func, facts: Facts) -> set[tuple[Value, bool]]:
    """The alias classes of arrays that are stored to."""
    first = [op.args[0] for op in walk(func.body) if isinstance(op, Call) and ROWS[op.name].consumes]
    return {facts.find((v, False)) for v in first if isinstance(v, Value) and isinstance(v.type, Array)}


def is_computed(operand: Operand, makers: dict[Value, Op]) -> bool:
    """Whether an elementwise op computes the array, so that it is best computed once."""
    maker = makers.get(operand) if isinstance(operand, Value) else None
    return isinstance(maker, Call) and ROWS[maker.name].elementwise


def memory_wanted(func: Func) -> set[Value]:
    """Arrays that need memory: yielded by blocks, stored to, or saved on tapes."""
    operands: list[Operand] = list(func.body.yields)
    makers = {out: op for op in walk(func.body) for out in op.outs}
    for op in walk(func.body):
        if isinstance(op, Call):
            if ROWS[op.name].consumes and op.name != "accumulate":  # a sum with a recipe is a recipe
                operands.append(op.args[0])
            if op.name == "push":
                operands += op.args[1:]
            if op.name in OF_MATRICES and all(isinstance(a.type, Array) and a.type.rank == 2 for a in op.args[:2]):
                operands += [a for a in op.args[:2] if is_computed(a, makers)]
        elif isinstance(op, For | While):
            operands += op.inits
        for block in op.blocks:
            operands += block.yields
    return {v for v in operands if isinstance(v, Value) and isinstance(v.type, Array)}
