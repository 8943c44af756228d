"""Buffer reuse and hoisted allocation in kernels. Works in place, before ``versions``.

An array that an iteration creates and carries to the next one takes the memory of its predecessor, if that is
dead. An array that each iteration creates is allocated once, before the loop.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, For, Op, Operand, Value, While, key_of, substitute, walk
from symgrad.ir.types import Array
from symgrad.loops.accesses import Access, is_apart, summary
from symgrad.loops.uses import Uses
from symgrad.loops.writer import Writer


def buffers(block: Block, writer: Writer) -> None:
    """Avoid allocations in a block and all blocks inside it."""
    for op in [*block.ops]:
        for inner in op.blocks:
            buffers(inner, writer)
        if isinstance(op, For | While):
            if isinstance(op, For):
                replace_carried(op, block, writer)
                overwrite_in_place(op, block)
            hoist_arrays(op, block)


def unaliased(block: Block) -> None:
    """Declare new arrays to LLVM as not overlapping others; works in place."""
    for op in walk(block):
        if isinstance(op, Call) and is_apart(op):
            op.name = f"new_{op.name}"


def hoist_arrays(loop: For | While, block: Block) -> None:
    """Hoist the allocation of arrays that no iteration yields."""
    body = loop.blocks[-1]
    makers = [op for op in body.ops if isinstance(op, Call) and op.name in ("empty", "zeros")]
    if not makers:
        return
    inside = {v for inner in loop.blocks for v in inner.args} | {v for op in walk(body) for v in op.outs}
    uses = Uses(body)
    moved: list[Op] = []
    for op in makers:
        if not uses.escapes(op.outs[0]) and not any(a in inside for a in op.args):
            if op.name == "zeros" and not same_cells(op.outs[0], body, inside, uses):
                continue
            body.ops.remove(op)
            moved.append(op)
    place = block.ops.index(loop)
    block.ops[place:place] = moved


def same_cells(handle: Value, body: Block, inside: set[Value], uses: Uses) -> bool:
    """Whether each iteration first stores to the same cells of an array, and to no others, so that the rest stays zero."""
    accesses = uses.accesses(handle)
    if sum(access.writes for _, access in accesses) != 1:
        return False
    users = uses.inside(None, (op for op, _ in accesses))
    op = next(op for op in body.ops if op in users)
    loops: list[Value] = []
    while isinstance(op, For) and not any(o in inside or o in loops for o in (op.start, op.stop, op.step)) and not op.until:
        loops.append(op.index)
        users = uses.inside(op, (op for op, _ in accesses))
        if len(users) != 1:
            return False
        (op,) = users
    if not (isinstance(op, Call) and op.name == "set_at"):
        return False
    makers = {o.outs[0]: o for o in walk(body) if isinstance(o, Call) and o.outs}
    return all(is_steady(i, loops, makers, inside) for i in op.args[2:])


def is_steady(operand: Operand, loops: list[Value], makers: dict[Value, Call], inside: set[Value]) -> bool:
    """Whether the operand is an index of one of the loops, a value from outside, or a sum of these."""
    if not isinstance(operand, Value) or operand in loops or operand not in inside:
        return True
    op = makers.get(operand)
    return op is not None and op.name in ("add", "subtract") and all(is_steady(a, loops, makers, inside) for a in op.args)


def replace_carried(loop: For, block: Block, writer: Writer) -> None:
    """Overwrite a loop-carried array instead of allocating a new one in each iteration."""
    for k, argument in enumerate(loop.carried):
        yielded, init = loop.body.yields[k], loop.inits[k]
        maker = next((op for op in loop.body.ops if yielded in op.outs), None)
        if not (isinstance(maker, Call) and maker.name == "empty" and isinstance(yielded, Value) and isinstance(argument.type, Array)):
            continue
        others = [y for n, y in enumerate(loop.body.yields) if n != k]
        if any(y in (yielded, argument) for y in others) or not is_new(init, block, loop) or not same_extents(maker, init, block, writer):
            continue
        if may_take_over(loop.body, maker, argument, yielded):
            loop.body.ops.remove(maker)
            substitute(loop.body, {yielded: argument})


def overwrite_in_place(loop: For, block: Block) -> None:
    """Replace a loop-carried array that each iteration yields itself by the array that the loop begins with."""
    table: dict[Value, Operand] = {}
    for k, (init, argument) in enumerate(zip(loop.inits, loop.carried, strict=True)):
        if isinstance(argument.type, Array) and loop.body.yields[k] is argument and sum(i is init for i in loop.inits) == 1:
            assert isinstance(init, Value)
            init.name = argument.name or loop.outs[k].name or init.name
            table |= {argument: init, loop.outs[k]: init}
    kept = [k for k, argument in enumerate(loop.carried) if argument not in table]
    last = [len(loop.carried)] if loop.until else []  # the exit test, and the number of iterations
    loop.body.yields = [loop.body.yields[k] for k in [*kept, *last]]
    loop.outs = [loop.outs[k] for k in [*kept, *last]]
    loop.inits = [loop.inits[k] for k in kept]
    loop.body.args = [loop.index, *(loop.carried[k] for k in kept)]
    substitute(block, table)


def is_new(init: Operand, block: Block, loop: For) -> bool:
    """Whether the initial array is allocated here, for the loop alone."""
    maker = next((op for op in block.ops if init in op.outs), None)
    if not (isinstance(maker, Call) and maker.name in ("empty", "zeros")) or any(y is init for y in block.yields):
        return False
    if sum(i is init for i in loop.inits) > 1:
        return False
    assert isinstance(init, Value)
    uses = Uses(block)
    place = block.ops.index(loop)
    readers = uses.inside(None, (*uses.of(init), *uses.handed.get(init, ())))
    if any(block.ops.index(op) > place for op in readers) or uses.inside(loop, (op for op, _ in uses.accesses(init))):
        return False
    if any(op is not loop for op in uses.handed.get(init, ())):
        return False
    return all(access.index is not None for op, access in uses.accesses(init) if op is not loop)


def same_extents(maker: Call, init: Operand, block: Block, writer: Writer) -> bool:
    """Whether the two arrays have one shape and dtype."""
    first = next(op for op in block.ops if init in op.outs)
    assert isinstance(first, Call)
    keys = [[key_of(writer.same(a)) for a in op.args] for op in (first, maker)]
    return keys[0] == keys[1] and first.settings["dtype"] == maker.settings["dtype"]


def may_take_over(body: Block, maker: Op, old: Value, new: Value) -> bool:
    """Whether the last access of each element of the old array is no later than the store to the same element of the new one."""
    began = False
    for op in body.ops:
        if op is maker:
            continue
        accesses = [a for a in summary(op).accesses if a.handle in (old, new)]
        if any(a.index is None for a in accesses):
            return False
        if old in summary(op).used and not accesses:
            return False
        olds, news = (any(a.handle is handle for a in accesses) for handle in (old, new))
        if began and olds or olds and news and not in_step(op, maker, accesses, old, new):
            return False
        began = began or news
    return True


def in_step(op: Op, maker: Op, accesses: list[Access], old: Value, new: Value) -> bool:
    """Whether the op is a loop whose iterations access disjoint elements, each old one before the store of the new one."""
    if not isinstance(op, For):
        return False
    axes = range(min(len(a.index or ()) for a in accesses))
    return any(all(a.index and a.index[k] is op.index for a in accesses) for k in axes) and may_take_over(op.body, maker, old, new)
