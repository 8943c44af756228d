"""Lowers numba's typed IR of a kernel to LLVM, with fewer instructions than numba's own lowering.

A kernel is mostly loops over ranges whose bodies read and write elements of arrays. For each of these numba emits many instructions,
which LLVM simplifies again; that is most of the compile time. All other instructions are left to numba.
"""

from __future__ import annotations

import operator
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from llvmlite.ir import FunctionType, IntType
from numba.core import cgutils, ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.lowering import Lower
from numba.np.arrayobj import load_item, mark_positive, store_item

WORD = IntType(64)
#: the type of an empty assembler text that hides from LLVM, at no cost, how the index of a loop changes. If LLVM knows it, it tests
#: before the loop whether the accesses of the loops inside overlap, but assumes an overlap wherever an address decreases
ONE_WORD = FunctionType(WORD, [WORD])
#: operators whose results are not negative if their operands are not
RISING = (operator.add, operator.iadd, operator.mul, operator.imul, operator.floordiv, operator.ifloordiv)


@dataclass(slots=True, eq=False)
class Loop:
    """A loop over ``range(start, stop)``, or over ``range(start, stop, -1)``, while it is lowered."""

    start: Any  #: numba's variables, the first None for 0
    stop: Any
    step: int
    bounds: tuple[Any, Any] | None = None  #: the values of both, once the range is made
    place: Any = None  #: the address of the next iteration's index
    left: Any = None  #: the address of the number of remaining iterations, none if not positive
    around: bool = False  #: whether it contains other loops

    def keep(self, builder: Any) -> None:
        """Allocate both addresses."""
        if self.place is None:
            self.place, self.left = cgutils.alloca_once(builder, WORD), cgutils.alloca_once(builder, WORD)

    def enter(self, builder: Any) -> None:
        """Begin to count."""
        assert self.bounds is not None
        start, stop = self.bounds
        self.keep(builder)
        builder.store(start, self.place)
        builder.store(builder.sub(stop, start) if self.step == 1 else builder.sub(start, stop), self.left)

    def next(self, builder: Any) -> tuple[Any, Any]:
        """Return the index of the next iteration, and whether it exists."""
        self.keep(builder)
        left, index = builder.load(self.left), builder.load(self.place)
        there = builder.icmp_signed(">", left, WORD(0))
        with builder.if_then(there):
            builder.store(builder.sub(left, WORD(1), flags=["nsw"]), self.left)
            builder.store(builder.add(index, WORD(self.step)), self.place)
        if self.around and self.step < 0:
            index = builder.asm(ONE_WORD, "", "=r,0", [index], False)
        return index, there


@dataclass(frozen=True, slots=True)
class Index:
    """A whole number as an index."""

    value: Any  #: as wide as an address
    wraps: bool  #: whether it may be negative, and count from the end


class KernelLower(Lower):
    """Lowers one kernel."""

    def init(self) -> None:
        """Classify the variables of plain kinds."""
        super().init()
        self.plain = not (self._disable_sroa_like_opt or self.context.enable_boundscheck or self.func_ir.func_id.is_generator)
        self.values: dict[str, list[Any]] = defaultdict(list)  #: the assignments to each variable
        for block in self.blocks.values():
            for inst in block.body:
                if type(inst) is ir.Assign:
                    self.values[inst.target.name].append(inst.value)
        self.owning: dict[str, bool] = {}
        self.indices: dict[str, list[Index]] = {}  #: of tuples that are indices
        self.parts: dict[tuple[str, str, int], Any] = {}  #: of arrays, in the present block
        self.ends: dict[Any, Any] = {}  #: blocks that raise
        self.operators: dict[tuple[Any, Any], Any] = {}  #: lowerings of operators, by operand types
        self.rounds: dict[str, tuple[Any, Any]] = {}  #: the index of an iteration, and whether it exists
        self.loops: dict[str, Loop] = {}  #: by their iterators
        self.ranges: dict[int, list[Loop]] = defaultdict(list)  #: by the calls that make the ranges
        self.unstored: set[str] = set()
        if self.plain:
            self.find_loops()
        self.naturals = self.find_naturals()

    # ------------------------------------------------------------------ facts about variables

    def definition(self, operand: Any) -> Any:
        """Return the single definition of a variable, through copies; None if it has several."""
        while type(operand) is ir.Var:
            values = self.values.get(operand.name, ())
            operand = values[0] if len(values) == 1 else None
        return operand

    def constant(self, operand: Any) -> int | None:
        """The integer that a variable always holds; None if it is no constant."""
        definition = self.definition(operand)
        return definition.value if type(definition) is ir.Const and type(definition.value) is int else None

    def owns(self, name: str) -> bool:
        """Whether a variable holds a reference count. The caller owns arguments and keeps them alive."""
        is_owner = self.owning.get(name)
        if is_owner is None:
            values = self.values.get(name, ())
            borrowed = self.plain and len(values) == 1 and type(values[0]) is ir.Arg
            is_owner = self.owning[name] = not borrowed and self.context.data_model_manager[self.typeof(name)].contains_nrt_meminfo()
        return is_owner

    def find_naturals(self) -> set[str]:
        """Find the variables that are never negative, barring overflow of 64 bits.

        Optimistic fixed point: a variable is excluded once one of its definitions may be negative.
        """
        rest: dict[str, list[str]] = defaultdict(list)
        wrong = []
        for name, values in self.values.items():
            type_ = self.typeof(name)
            if not (isinstance(type_, types.Integer) and type_.signed and type_.bitwidth == 64):
                wrong.append(name)
                continue
            for value in values:
                under = self.grounds(value)
                if under is None:
                    wrong.append(name)
                    break
                for other in under:
                    rest[other].append(name)
        wrong += [name for name in rest if name not in self.values]
        negative: set[str] = set()
        while wrong:
            name = wrong.pop()
            if name not in negative:
                negative.add(name)
                wrong += rest.get(name, ())
        return set(self.values) - negative

    def grounds(self, value: Any) -> tuple[str, ...] | None:
        """The variables that must not be negative for a value not to be; None if it may be anyway."""
        if type(value) is ir.Var:
            return (value.name,)
        if type(value) is ir.Const:
            return () if type(value.value) is int and value.value >= 0 else None
        if type(value) is not ir.Expr:
            return None
        if value.op in ("binop", "inplace_binop") and value.fn in RISING:
            return (value.lhs.name, value.rhs.name)
        if value.op == "static_getitem" and type(value.index) is int:
            whole = self.definition(value.value)
            is_shape = type(whole) is ir.Expr and whole.op == "getattr" and whole.attr == "shape"
            return () if is_shape and isinstance(self.typeof(whole.value.name), types.Array) else None
        if value.op == "pair_first":
            pair = self.definition(value.value)
            loop = self.loops.get(pair.value.name) if type(pair) is ir.Expr and pair.op == "iternext" else None
            if loop is None:
                return None
            if loop.step > 0:
                return () if loop.start is None else (loop.start.name,)
            last = self.constant(loop.stop)
            return () if last is not None and last >= -1 else None
        return None

    # ------------------------------------------------------------------ variables

    def loadvar(self, name: str) -> Any:
        """The value of a variable."""
        if name in self.unstored:
            raise NotImplementedError("a range that is kept")
        if name in self.indices and name not in self._blk_local_varmap:
            values = [index.value for index in self.indices[name]]
            self._blk_local_varmap[name] = self.context.make_tuple(self.builder, self.typeof(name), values)
        return super().loadvar(name)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store the value of a variable; release the previous one if it owns memory."""
        if not self.plain or argidx is not None or self.owns(name):
            self.forget(name)
            super().storevar(value, name, argidx)
        elif name in self._singly_assigned_vars:
            self._blk_local_varmap[name] = value
        else:
            self.forget(name)
            self._alloca_var(name, self.typeof(name))
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """End the lifetime of a variable; release its memory."""
        if not self.plain or self.owns(name):
            self.forget(name)
            super().delvar(name)

    def forget(self, name: str) -> None:
        """Invalidate the cached reads of an array."""
        if self.parts:
            self.parts = {key: part for key, part in self.parts.items() if key[0] != name}

    # ------------------------------------------------------------------ statements

    def lower_block(self, block: Any) -> None:
        """Lower a block; those that only raise the same error are one."""
        self.parts = {}
        if self.plain and block is not self.blocks[self.firstblk] and self.only_raises(block):
            error = block.body[-1].exc_class
            if error not in self.ends:
                self.ends[error] = self.function.append_basic_block(f"raise.{error.__name__}")
            self.builder.branch(self.ends[error])
            return
        super().lower_block(block)

    def only_raises(self, block: Any) -> bool:
        """Whether the block only raises an error without a message; the memory that variables in registers own would be lost."""
        *before, last = block.body
        if type(last) is not ir.StaticRaise or last.exc_class is None or last.exc_args:
            return False
        for inst in before:
            if type(inst) is ir.Del:
                if inst.value in self._blk_local_varmap and self.owns(inst.value):
                    return False
            elif type(inst) is not ir.Assign or type(inst.value) not in (ir.Global, ir.Const):
                return False
        return True

    def post_lower(self) -> None:
        """Emit the exits that raise, and release the memory that variables own there."""
        for error, block in self.ends.items():
            self.builder.position_at_end(block)
            for name in list(self.varmap):
                if self.owns(name):
                    self.decref(self.typeof(name), self.builder.load(self.getvar(name)))
            self.call_conv.return_user_exc(self.builder, error, None, loc=self.defn_loc, func_name=self.func_ir.func_id.func_name)
        super().post_lower()

    def lower_inst(self, inst: Any) -> None:
        """Lower a statement."""
        if self.plain:
            if type(inst) is ir.Assign and type(inst.value) in (ir.Var, ir.Expr) and self.is_lowered(inst.target.name, inst.value):
                return
            if type(inst) is ir.StaticSetItem and (indices := self.indices_into(inst.target.name, inst.index)):
                self.store_element(inst.target.name, indices, inst.value.name, self.fndesc.calltypes[inst])
                return
        super().lower_inst(inst)

    def is_lowered(self, name: str, value: Any) -> bool:
        """Lower an assignment if it is of the plain kind; was it?"""
        if type(value) is ir.Var:
            return name in self.loops
        match value.op:
            case "call" if loops := self.ranges.get(id(value)):
                for loop in loops:
                    loop.bounds = (WORD(0) if loop.start is None else self.word(loop.start.name), self.word(loop.stop.name))
            case "getiter" if name in self.loops:
                self.loops[name].enter(self.builder)
            case "iternext" if value.value.name in self.loops:
                self.rounds[name] = self.loops[value.value.name].next(self.builder)
            case "pair_first" if value.value.name in self.rounds:
                self.storevar(self.rounds[value.value.name][0], name)
            case "pair_second" if value.value.name in self.rounds:
                self.storevar(self.rounds[value.value.name][1], name)
            case "build_tuple" if name in self._singly_assigned_vars and all(map(is_word, self.typeof(name))):
                self.indices[name] = [Index(self.word(item.name), item.name not in self.naturals) for item in value.items]
            case _:
                return False
        return True

    def lower_assign(self, type_: Any, inst: Any) -> Any:
        """The value that is assigned; arguments are borrowed."""
        if self.plain and type(inst.value) is ir.Arg and not self.owns(inst.target.name):
            argument_type = self.typeof(f"arg.{inst.value.name}")
            if not isinstance(argument_type, types.Omitted):
                return self.context.cast(self.builder, self.fnargs[inst.value.index], argument_type, type_)
        return super().lower_assign(type_, inst)

    def lower_binop(self, type_: Any, expr: Any, op: Any) -> Any:
        """The value of an operator; its lowering is looked up once for all operands of the same types."""
        if not self.plain or expr.static_lhs is not ir.UNDEFINED or expr.static_rhs is not ir.UNDEFINED:
            return super().lower_binop(type_, expr, op)
        signature = self.fndesc.calltypes[expr]
        lower = self.operators.get((op, signature.args))
        if lower is None:
            function = self.context.typing_context.resolve_value_type(op)
            call = function.get_call_type(self.context.typing_context, signature.args, {})
            lower = self.operators[op, signature.args] = self.context.get_function(function, call)
        operands = [
            self.context.cast(self.builder, self.loadvar(item.name), self.typeof(item.name), operand_type)
            for item, operand_type in zip((expr.lhs, expr.rhs), signature.args, strict=True)
        ]
        return self.context.cast(self.builder, lower(self.builder, operands), signature.return_type, type_)

    # ------------------------------------------------------------------ loops over ranges

    def find_loops(self) -> None:
        """Find the loops that count up or down by one, with all the names of their iterators."""
        loops: dict[int, Loop | None] = {}
        for name, values in self.values.items():
            if self.typeof(name) is types.range_iter64_type:
                definition = self.definition(values[0])
                for value in values[1:]:
                    loops[id(self.definition(value))] = None
                if len(values) > 1 or type(definition) is not ir.Expr or definition.op != "getiter":
                    loops[id(definition)] = None
                elif id(definition) not in loops:
                    loops[id(definition)] = self.loop_of(definition)
        bodies = {header: cycle.body for header, cycle in compute_cfg_from_blocks(self.blocks).loops().items()}
        for name, values in self.values.items():
            if self.typeof(name) is types.range_iter64_type and (loop := loops[id(self.definition(values[0]))]):
                self.loops[name] = loop
                self.unstored.add(name)
        for header, body in bodies.items():
            for expr in self.blocks[header].find_exprs("iternext"):
                if expr.value.name in self.loops:
                    self.loops[expr.value.name].around = any(other in body for other in bodies if other != header)

    def loop_of(self, getiter: Any) -> Loop | None:
        """The loop over a range, if it goes up or down by one."""
        call = self.definition(getiter.value)
        if self.typeof(getiter.value.name) is not types.range_state64_type or type(call) is not ir.Expr or call.op != "call":
            return None
        function = self.definition(call.func)
        if call.kws or call.vararg or type(function) is not ir.Global or function.value is not range:
            return None
        step = self.constant(call.args[2]) if len(call.args) == 3 else 1
        if step not in (1, -1) or not all(is_word(self.typeof(item.name)) for item in call.args):
            return None
        loop = Loop(call.args[0] if len(call.args) > 1 else None, call.args[min(len(call.args) - 1, 1)], step)
        self.ranges[id(call)].append(loop)
        self.unstored.add(getiter.value.name)
        return loop

    # ------------------------------------------------------------------ elements of arrays

    def lower_getitem(self, type_: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """An element of an array."""
        indices = self.indices_into(value.name, index) if self.plain else None
        return self.load_element(type_, value.name, indices) if indices else super().lower_getitem(type_, expr, value, index, signature)

    def lower_expr(self, type_: Any, expr: Any) -> Any:
        """The value of an expression."""
        if self.plain and expr.op == "static_getitem" and (indices := self.indices_into(expr.value.name, expr.index)):
            return self.load_element(type_, expr.value.name, indices)
        return super().lower_expr(type_, expr)

    def lower_setitem(self, target: Any, index: Any, value: Any, signature: Any) -> Any:
        """Store an element of an array."""
        indices = self.indices_into(target.name, index) if self.plain else None
        if not indices:
            return super().lower_setitem(target, index, value, signature)
        return self.store_element(target.name, indices, value.name, signature)

    def load_element(self, type_: Any, name: str, indices: list[Index]) -> Any:
        """The element at these indices."""
        array = self.typeof(name)
        item = load_item(self.context, self.builder, array, self.element(name, indices))
        return self.context.cast(self.builder, item, array.dtype, type_)

    def store_element(self, name: str, indices: list[Index], value: str, signature: Any) -> None:
        """Store the element at these indices."""
        array, value_type = self.typeof(name), signature.args[2]
        item = self.context.cast(self.builder, self.loadvar(value), self.typeof(value), value_type)
        item = self.context.cast(self.builder, item, value_type, array.dtype)
        store_item(self.context, self.builder, array, item, self.element(name, indices))

    def indices_into(self, name: str, index: Any) -> list[Index] | None:
        """The indices of one element of an array of numbers; None for any other subscript."""
        type_ = self.typeof(name)
        if type(type_) is not types.Array or not isinstance(type_.dtype, types.Number | types.Boolean):
            return None
        if type(index) is ir.Var and index.name not in self.indices:
            if not is_word(self.typeof(index.name)):
                return None
            indices = [Index(self.word(index.name), index.name not in self.naturals)]
        elif type(index) is ir.Var:
            indices = self.indices[index.name]
        else:
            numbers = index if isinstance(index, tuple) else (index,)
            if not all(type(number) is int for number in numbers):
                return None
            indices = [Index(WORD(number), number < 0) for number in numbers]
        return indices if len(indices) == type_.ndim else None

    def word(self, name: str) -> Any:
        """The value of a whole number."""
        return self.context.cast(self.builder, self.loadvar(name), self.typeof(name), types.intp)

    def element(self, name: str, indices: list[Index]) -> Any:
        """The address of an element."""
        builder, layout = self.builder, self.typeof(name).layout
        places = []
        for axis, index in enumerate(indices):
            place = index.value
            if index.wraps:
                wrapped = builder.add(place, self.part(name, "shape", axis))
                place = builder.select(builder.icmp_signed("<", place, WORD(0)), wrapped, place)
            places.append(place)
        data = self.part(name, "data")
        if layout not in ("C", "F"):
            steps = [builder.mul(place, self.part(name, "strides", axis)) for axis, place in enumerate(places)]
            offset = steps[0]
            for step in steps[1:]:
                offset = builder.add(offset, step)
            return cgutils.pointer_add(builder, data, offset)
        axes = list(range(len(places)))[:: 1 if layout == "C" else -1]
        offset = places[axes[0]]
        for axis in axes[1:]:
            offset = builder.add(builder.mul(offset, self.part(name, "shape", axis)), places[axis])
        return builder.gep(data, [offset])

    def part(self, name: str, field: str, axis: int = -1) -> Any:
        """A part of an array: where its data begin, or one of its extents or strides."""
        key = (name, field, axis)
        if key not in self.parts:
            position = self.context.data_model_manager[self.typeof(name)].get_field_position(field)
            path = [position] if axis < 0 else [position, axis]
            if name in self._blk_local_varmap:
                value = self.builder.extract_value(self._blk_local_varmap[name], path)
            else:
                value = self.builder.load(cgutils.gep_inbounds(self.builder, self.getvar(name), 0, *path))
                if field == "shape":
                    mark_positive(self.builder, value)
            self.parts[key] = value
        return self.parts[key]


def is_word(type_: Any) -> bool:
    """Whether it is a signed integer as wide as an address."""
    return isinstance(type_, types.Integer) and type_.signed and type_.bitwidth == 64
