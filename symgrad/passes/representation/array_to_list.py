"""Array-to-list: arrays that a loop accesses by single elements only become lists of Python floats while the loop runs.

``s += x.item(i)`` in a loop becomes ``l = x.tolist()`` before it and ``s += l[i]``. The loop, or one inside it,
must count along each axis, so that the conversion pays; an axis indexed by literals only (coordinates) is
assumed to be short. Works in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import UNDEF, Block, Call, Const, For, Func, If, Op, Operand, Value, While, ops_within
from symgrad.ir.types import FLOAT, Array, Dim, Scalar
from symgrad.ops.declare import ROWS
from symgrad.ops.rows.cells import RANKS, nested
from symgrad.passes.facts import halves_kept, holds
from symgrad.passes.simplification.remarks import tell

STORES = {"set_at": "set_cell", "add_at": "add_cell"}
#: rows that read only the shape of an array
SHAPES = frozenset({"shape_of", "extent"})
#: rows that keep an index linear in a loop's index
AFFINE = frozenset({"add", "subtract", "multiply"})
DEPTH = 4  #: how many ops back an index is traced


def array_to_list(func: Func) -> Func:
    """Let loops over single elements work on lists, in place."""
    with halves_kept(func):
        if holds(func, For, While):
            _Lister(func).block(func.body)
        only_floats(func.body)
    return func


@dataclass(slots=True)
class Chain:
    """One array during a loop: its versions inside, and their reads and writes."""

    start: Value
    rank: int
    versions: dict[Value, None] = field(default_factory=dict)
    slots: dict[Op, set[int]] = field(default_factory=dict)  #: loops and branches that yield a version, with the positions
    uses: list[Call] = field(default_factory=list)


class _Lister:
    """Walks a function; new ops are inserted in the block of the loop."""

    def __init__(self, func: Func) -> None:
        self.notes = func.notes
        self.readers: dict[Value, list[tuple[Op, int]]] = {}
        self.ends: dict[Value, list[tuple[Op | None, Block, int]]] = {}  #: where a value is yielded: the op, the block, and the yield index
        self.maker: dict[Value, Op] = {}
        self.index_of: dict[Value, For] = {}
        self.lists: dict[Value, Value] = {}  #: for each array the list of the same elements
        self.enter(func.body, None)

    def enter(self, block: Block, owner: Op | None) -> None:
        for op in block.ops:
            for k, operand in enumerate(op.operands):
                if isinstance(operand, Value):
                    self.readers.setdefault(operand, []).append((op, k))
            for out in op.outs:
                self.maker[out] = op
            if isinstance(op, For):
                self.index_of[op.index] = op
            for inner in op.blocks:
                self.enter(inner, op)
        for k, operand in enumerate(block.yields):
            if isinstance(operand, Value):
                self.ends.setdefault(operand, []).append((owner, block, k))

    # -------------------------------------------------------------- the walk

    def block(self, block: Block) -> None:
        """Convert the arrays of a block's loops where possible, outer loops first."""
        known = dict(self.lists)
        done: list[Op] = []
        for op in block.ops:
            before: list[Op] = []
            after: list[Op] = []
            if isinstance(op, For | While):
                self.loop(op, before, after)
            for inner in op.blocks:
                self.block(inner)
            done += [*before, op, *after]
        block.ops = done
        self.lists = known

    def loop(self, loop: For | While, before: list[Op], after: list[Op]) -> None:
        inside = set(ops_within(loop))
        defined = {value for op in inside for value in (*op.outs, *(a for b in op.blocks for a in b.args))}
        for k in range(len(loop.inits)):
            chain = self.carried(loop, k, inside)
            if chain is not None:
                self.convert(loop, k, chain, before, after)
        for value in sorted_values(loop):
            if value not in defined:
                chain = self.read(loop, value, inside)
                if chain is not None:
                    list_value = self.list_of(chain.start, loop, before)
                    self.readers.setdefault(list_value, []).append((loop, 0))
                    self.rewrite(chain, list_value)

    # -------------------------------------------------------------- legality

    def read(self, loop: Op, value: Value, inside: set[Op]) -> Chain | None:
        """An outer array of which the loop reads elements only."""
        rank = rank_of(value)
        if rank is None:
            return None
        chain = Chain(value, rank, {value: None})
        here = [(op, k) for op, k in self.readers.get(value, ()) if op in inside]
        if not here or any(owner in inside for owner, _, _ in self.ends.get(value, ())):
            return None
        for op, k in here:
            if isinstance(op, Call) and op.name in SHAPES:
                continue
            if not isinstance(op, Call) or k != 0 or op.name != "item" or not is_cell(op, rank):
                return None
            chain.uses.append(op)
        return chain if self.pays(loop, chain, inside) else None

    def carried(self, loop: For | While, k: int, inside: set[Op]) -> Chain | None:
        """An array that the loop changes element by element."""
        init = loop.inits[k]
        rank = rank_of(init)
        if rank is None or not isinstance(init, Value) or rank_of(loop.outs[k]) != rank:
            return None
        chain = Chain(init, rank)
        if not (self.slot(loop, k, chain) and self.follow(loop, chain, inside) and self.closed(chain)):
            return None
        return chain if self.pays(loop, chain, inside) else None

    def slot(self, op: For | While, k: int, chain: Chain) -> bool:
        """Record a slot that carries versions; False if a value in it has another rank."""
        chain.slots.setdefault(op, set()).add(k)
        return all(rank_of(a) == chain.rank for a in (*arguments(op, k), op.outs[k]))

    def follow(self, loop: For | While, chain: Chain, inside: set[Op]) -> bool:
        """Follow the versions through their readers; False if one does more than read or write elements."""
        (start,) = chain.slots[loop]
        pending = arguments(loop, start)
        chain.versions |= dict.fromkeys(pending)
        while pending:
            value = pending.pop()
            new: list[Value] = []
            for op, k in self.readers.get(value, ()):
                match op:
                    case Call() if k == 0 and op.name == "item" and is_cell(op, chain.rank):
                        chain.uses.append(op)
                    case Call() if k == 0 and op.name in STORES and is_cell(op, chain.rank) and is_number(op.args[1]):
                        chain.uses.append(op)
                        new.append(op.outs[0])
                    case Call() if op.name in SHAPES:
                        chain.uses.append(op)
                    case For() | While() if (slot := k - (len(op.operands) - len(op.inits))) >= 0:
                        if not self.slot(op, slot, chain):
                            return False
                        new += [*arguments(op, slot), op.outs[slot]]
                    case _:
                        return False
            for owner, block, k in self.ends.get(value, ()):
                if isinstance(owner, If):
                    chain.slots.setdefault(owner, set()).add(k)
                    new.append(owner.outs[k])
                elif not isinstance(owner, For | While) or block is not owner.body or k not in chain.slots.get(owner, ()):
                    return False
            for version in new:
                if version not in chain.versions and version not in loop.outs:
                    chain.versions[version] = None
                    pending.append(version)
        return True

    def closed(self, chain: Chain) -> bool:
        """Whether all values yielded for the slots are versions of this array."""
        for op, slots in chain.slots.items():
            for block in op.blocks if isinstance(op, If) else [op.blocks[-1]]:
                if any(block.yields[k] not in chain.versions for k in slots):
                    return False
        return True

    def pays(self, loop: Op, chain: Chain, inside: set[Op]) -> bool:
        """Whether some access counts along every axis."""
        accesses = [use for use in chain.uses if use.name not in SHAPES]
        named = named_axes(accesses, chain.rank)
        if any(self.counts(use, chain.rank, named, inside) for use in accesses):
            return True
        if accesses:
            tell(self.notes, loop, "stays an array, since no loop here iterates along each of its axes", chain.start)
        return False

    def counts(self, use: Call, rank: int, named: set[int], inside: set[Op]) -> bool:
        loops = [self.loop_of(index, DEPTH) for axis, index in enumerate(indices(use)) if axis not in named]
        if not len({*loops}) == rank - len(named) > 0:
            return False
        return all(loop is not None and loop in inside and self.is_long(loop) for loop in loops)

    def loop_of(self, index: Operand, depth: int) -> For | None:
        """The loop whose index a subscript is computed from; None if there is none."""
        if not isinstance(index, Value):
            return None
        if index in self.index_of:
            return self.index_of[index]
        maker = self.maker.get(index)
        if depth and isinstance(maker, Call) and maker.name in AFFINE:
            return next((loop for a in maker.args if (loop := self.loop_of(a, depth - 1)) is not None), None)
        return None

    def is_long(self, loop: For) -> bool:
        """Whether the loop may run many iterations, and never exits early."""
        return not loop.until and any(isinstance(bound, Value) for bound in (loop.start, loop.stop))

    # -------------------------------------------------------------- conversion

    def make(self, into: list[Op], loop: Op, name: str, *args: Operand, hint: str | None = None) -> Value:
        row = ROWS[name]
        type_ = row.law([a.type for a in args], row.settings, lambda k: Dim("?"))
        assert not isinstance(type_, tuple)
        op = Call([Value(type_, hint)], loop.loc, name, list(args), dict(row.settings))
        into.append(op)
        self.maker[op.outs[0]] = op
        for k, operand in enumerate(args):
            if isinstance(operand, Value):
                self.readers.setdefault(operand, []).append((op, k))
        return op.outs[0]

    def list_of(self, array: Value, loop: Op, before: list[Op]) -> Value:
        """The list of an array's elements, for reading."""
        if array not in self.lists:
            tell(self.notes, loop, "the loop reads it by elements only, from a list", array)
            hint = None if array.name is None else f"{array.name}_list"
            self.lists[array] = self.make(before, loop, "to_list", array, hint=hint)
        return self.lists[array]

    def own_list(self, array: Value, loop: Op, before: list[Op]) -> Value:
        """A list of an array's elements that the loop may change."""
        maker = self.maker.get(array)
        if isinstance(maker, Call) and maker.name == "zeros_of" and isinstance(array.type, Array) and array.type.rank == 1:
            return self.make(before, loop, "zeros_list", maker.args[0], hint=array.name)
        list_value = self.lists.get(array)
        if list_value is not None and len(self.readers.get(list_value, ())) == 1 and list_value not in self.ends:
            del self.lists[array]  # the array was made from this list, which has no other reader
            self.readers[list_value].append((loop, 0))
            return list_value
        return self.make(before, loop, "to_list", array, hint=array.name)

    def convert(self, loop: For | While, k: int, chain: Chain, before: list[Op], after: list[Op]) -> None:
        """Let a loop's slot carry a list, and convert it to an array afterwards."""
        array = loop.outs[k]
        tell(self.notes, loop, "a list while the loop runs, which reads and writes it by elements only", array)
        shape = [] if chain.rank == 1 else [self.make(before, loop, "shape_of", chain.start)]
        loop.inits[k] = self.own_list(chain.start, loop, before)
        list_value = Value(nested(chain.rank), loop.outs[k].name)
        loop.outs[k] = list_value
        for use in list(chain.uses):
            if use.name in SHAPES:
                use.args[0] = chain.start
        self.rewrite(chain, None)
        for version in chain.versions:
            version.type = nested(chain.rank)
        again = Call([array], loop.loc, "array_of_cells" if chain.rank == 1 else "array_of_lists", [list_value, *shape], {})
        after.append(again)
        self.maker[array] = again
        self.maker[list_value] = loop
        self.readers[list_value] = [(again, 0)]
        self.lists[array] = list_value

    def rewrite(self, chain: Chain, source: Value | None) -> None:
        """Turn element reads and writes into those of a list; ``source`` is read instead of the array."""
        for use in chain.uses:
            if use.name in SHAPES:
                continue
            base = use.args[0] if source is None else source
            if use.name == "item":
                use.name, use.args = f"cell{chain.rank}", [base, *indices(use)]
            else:
                use.name, use.args = f"{STORES[use.name]}{chain.rank}", [base, use.args[1], *indices(use)]
            use.settings = {}


def arguments(op: For | While, k: int) -> list[Value]:
    """The arguments for a slot inside the loop."""
    return [op.carried[k]] if isinstance(op, For) else [op.test.args[k], op.body.args[k]]


def only_floats(block: Block) -> None:
    """Convert numbers stored to lists to Python floats, as storing to an array would."""
    done: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            only_floats(inner)
        if isinstance(op, Call) and op.name.startswith(("set_cell", "add_cell")) and op.args[1].type != FLOAT:
            value = op.args[1]
            if isinstance(value, Const):
                op.args[1] = Const(float(value.value))
            else:
                number = Value(FLOAT)
                done.append(Call([number], op.loc, "number", [value], dict(ROWS["number"].settings)))
                op.args[1] = number
        done.append(op)
    block.ops = done


def sorted_values(loop: Op) -> list[Value]:
    """The arrays read in a loop, in order."""
    arrays = {o: None for op in ops_within(loop) for o in op.operands if isinstance(o, Value) and isinstance(o.type, Array)}
    return list(arrays)


def rank_of(operand: Operand) -> int | None:
    """The rank of an array of floats that may become a list."""
    if operand is UNDEF or isinstance(operand, Const) or not isinstance(operand.type, Array) or operand.type.dtype != "f64":
        return None
    return operand.type.rank if operand.type.rank in RANKS else None


def is_cell(op: Call, rank: int) -> bool:
    """Whether the op reads or writes a single element."""
    items = indices(op)
    single = op.settings.get("index", "i" * len(items)) == "i" * rank == "i" * len(items)
    return single and all(isinstance(i.type, Scalar) and i.type.kind == "int" for i in items)


def indices(op: Call) -> list[Operand]:
    """The subscript operands."""
    return op.args[1:] if op.name == "item" else op.args[2:]


def named_axes(uses: list[Call], rank: int) -> set[int]:
    """The axes on which all uses have literal subscripts, at least two different ones."""
    axes = set()
    for axis in range(rank):
        numbers = [index.value if isinstance(index, Const) else None for index in (indices(use)[axis] for use in uses)]
        if None not in numbers and len({*numbers}) > 1:
            axes.add(axis)
    return axes


def is_number(operand: Operand) -> bool:
    """Whether the operand is a number that a list may hold as an element."""
    return isinstance(operand.type, Scalar) and operand.type.kind in ("float", "int")


__all__ = ["STORES", "array_to_list", "indices", "is_cell", "only_floats"]
