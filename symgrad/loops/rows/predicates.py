"""Boolean masks as predicates: computes a masked selection over the whole array and keeps it where the mask holds.

    x[m].sum()         ->      where(m, x, 0).sum()
    g[m] += v          ->      g += where(m, v, -0.0)

Loops over the whole array vectorise; loops over a mask's indices do not. Selections that are expensive, or used
otherwise than by sums and stores through the same mask, stay as they are. Works in place, before the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.ir.core import Block, Call, Const, Func, Operand, Value
from symgrad.ir.types import DTYPES, Array, Scalar, ShapeOf
from symgrad.loops.rows.table import pointwise, price_of
from symgrad.ops.build import Builder, symbols
from symgrad.ops.shapes import axes_of

#: the maximum cost of an element that is computed where the mask does not hold
CHEAP_ENOUGH = 8


def predicates(func: Func) -> Func:
    """Use masks as predicates where that pays, in place."""
    work = Predicates(func)
    work.builder.taken = symbols(func)
    while work.find():
        pass
    work.rewrite(func.body)
    return func


@dataclass(slots=True)
class Chosen:
    """A value that depends on a mask: the selected elements, or (``shape``) their shape."""

    mask: Value
    block: Block
    shape: bool = False


@dataclass(slots=True)
class Predicates:
    """The rewriting: the masked values, and the whole array that replaces each."""

    func: Func
    builder: Builder = field(default_factory=Builder)
    needed: set[Value] = field(default_factory=set)  #: masked values that must be stored contiguously
    chosen: dict[Value, Chosen] = field(default_factory=dict)
    whole: dict[Value, Operand] = field(default_factory=dict)
    counts: dict[tuple[Block, Value], Operand] = field(default_factory=dict)

    # -------------------------------------------------------------- analysis

    def find(self) -> bool:
        """Find the masked values; True if new ones must be stored contiguously."""
        before = len(self.needed)
        self.chosen.clear()
        self.scan(self.func.body)
        return len(self.needed) > before

    def scan(self, block: Block) -> None:
        for op in block.ops:
            operands = {o for o in op.operands if o in self.chosen}
            rule = rule_of(op) if isinstance(op, Call) else None
            verdict = rule.sees(self, op, block) if isinstance(op, Call) and rule is not None else None
            apart = any(self.chosen[g].block is not block for g in operands if isinstance(g, Value))
            if verdict is None or apart or isinstance(verdict, Chosen) and op.outs[0] in self.needed:
                self.needed.update(g for g in operands if isinstance(g, Value))
            elif isinstance(verdict, Chosen):
                self.chosen[op.outs[0]] = verdict
            for inner in op.blocks:
                self.scan(inner)
        self.needed.update(y for y in block.yields if isinstance(y, Value) and y in self.chosen)

    def elements(self, operand: Operand) -> Chosen | None:
        """The mask of an array of selected elements; None for other operands."""
        chosen = self.chosen.get(operand) if isinstance(operand, Value) else None
        return None if chosen is None or chosen.shape else chosen

    def shape(self, operand: Operand) -> Chosen | None:
        """The mask of a shape of selected elements; None for other operands."""
        chosen = self.chosen.get(operand) if isinstance(operand, Value) else None
        return chosen if chosen is not None and chosen.shape else None

    def together(self, operands: Sequence[Operand]) -> Chosen | None:
        """The common mask of a rule's operands; None if they have several, or if another operand does not fit the remaining axes."""
        chosen = [c for c in map(self.elements, operands) if c is not None]
        if not chosen or any(c.mask is not chosen[0].mask for c in chosen):
            return None
        most = max(rank_of(o) for o in operands if self.elements(o) is not None)
        for o in operands:
            if self.elements(o) is None and not (isinstance(o.type, Scalar) or isinstance(o.type, Array) and 0 <= rank_of(o) < most):
                return None
            if self.elements(o) is not None and rank_of(o) != most:
                return None
        return chosen[0]

    # -------------------------------------------------------------- rewriting

    def rewrite(self, block: Block) -> None:
        rewritten = Block()
        for op in block.ops:
            for inner in op.blocks:
                self.rewrite(inner)
            rule = rule_of(op) if isinstance(op, Call) else None
            if isinstance(op, Call) and rule is not None and self.concerns(op, rule, block):
                with self.builder.inside(rewritten), self.builder.at(op.loc):
                    rule.writes(self, op, block)
            else:
                rewritten.ops.append(op)
        block.ops = rewritten.ops

    def concerns(self, op: Call, rule: Rule, block: Block) -> bool:
        """Whether the op must be rewritten."""
        if any(o in self.chosen for o in op.operands) or any(o in self.chosen for o in op.outs):
            return True
        return op.name in STORES and rule.sees(self, op, block) is not None

    def over(self, operand: Operand) -> Operand:
        """The whole array that replaces a masked operand; other operands stay."""
        return self.whole.get(operand, operand) if isinstance(operand, Value) else operand

    def keep(self, op: Call, value: Operand) -> None:
        """Record the replacement of the op's result, in the dtype of the result."""
        (out,) = op.outs
        dtype = out.type.dtype if isinstance(out.type, Array) else None
        if dtype is not None and isinstance(value.type, Array) and value.type.dtype not in (None, dtype):
            value = self.builder.call("cast", value, dtype=dtype)
        self.whole[out] = value

    def give(self, op: Call, name: str, *args: Operand, **settings: Any) -> None:
        """Append an op that computes the result of the old one."""
        value = self.builder.call(name, *args, **settings)
        self.builder.block.ops[-1].outs = [op.outs[0]]
        if isinstance(op.outs[0].type, Scalar) != isinstance(value.type, Scalar):
            op.outs[0].type = value.type

    def select(self, mask: Value, value: Operand, other: Operand, rank: int) -> Value:
        """An array of rank ``rank``: the value where the mask holds, and the other one elsewhere."""
        further = tuple(range(rank_of(mask), rank))
        return self.builder.call("where", self.builder.call("expand_dims", mask, axis=further) if further else mask, value, other)

    def count(self, mask: Value, block: Block) -> Operand:
        """The number of elements that the mask selects."""
        if (block, mask) not in self.counts:
            count = self.builder.call("count_nonzero", mask)
            self.counts[block, mask] = self.builder.call("number", count, kind="int")
        return self.counts[block, mask]

    def fits(self, x: Operand, mask: Value) -> None:
        """Check that the mask's extents equal those of the axes that it indexes."""
        for axis in range(rank_of(mask)):
            self.builder.call_many("check_equal", self.builder.call("extent", x, axis=axis), self.builder.call("extent", mask, axis=axis))


@dataclass(frozen=True, slots=True)
class Rule:
    """A row's rewriting: ``sees`` returns the mask of its result (True: an unmasked result, None: not rewritable), ``writes`` emits it."""

    sees: Callable[[Predicates, Call, Block], Chosen | bool | None]
    writes: Callable[[Predicates, Call, Block], None]


def rule_of(op: Call) -> Rule | None:
    """The rule of a row."""
    rule = RULES.get(op.name)
    return rule or (POINTWISE if pointwise(op) and price_of(op) <= CHEAP_ENOUGH else None)


def rank_of(operand: Operand) -> int:
    """The rank of an operand; -1 if unknown."""
    match operand.type:
        case Array(shape=shape) | ShapeOf(shape=shape):
            return -1 if shape is None else len(shape)
    return 0


def is_mask(operand: Operand) -> bool:
    return isinstance(operand, Value) and isinstance(operand.type, Array) and operand.type.dtype == "bool" and rank_of(operand) > 0


def kind_of(operand: Operand) -> str:
    """The letter of an array's dtype: ``f`` floats, ``i`` and ``u`` integers, ``b`` booleans."""
    dtype = operand.type.dtype if isinstance(operand.type, Array) else None
    return "" if dtype is None or dtype == "f16" else dtype[0]


# ------------------------------------------------------------------ reads


def sees_take(work: Predicates, op: Call, block: Block) -> Chosen | None:
    """``x[mask]``, or a copy of such a selection."""
    x, *index = op.args
    if op.settings["index"] == "e" and not index:
        return work.elements(x)
    if op.settings["index"] != "i" or not is_mask(index[0]) or x in work.chosen or index[0] in work.chosen:
        return None
    mask = index[0]
    assert isinstance(mask, Value)
    return Chosen(mask, block) if rank_of(x) >= rank_of(mask) and kind_of(x) in ("f", "i", "u", "b") else None


def writes_take(work: Predicates, op: Call, block: Block) -> None:
    x, *index = op.args
    if not index:
        work.keep(op, work.over(x))
        return
    assert isinstance(index[0], Value)
    work.fits(x, index[0])
    work.keep(op, work.builder.call("copy", x, hint=op.outs[0].name))


def sees_pointwise(work: Predicates, op: Call, block: Block) -> Chosen | None:
    return work.together(op.args) if all(kind_of(a) != "c" for a in op.args) else None


def writes_pointwise(work: Predicates, op: Call, block: Block) -> None:
    name, settings = ("add", {}) if op.name == "accumulate" else (op.name, op.settings)
    work.keep(op, work.builder.call(name, *map(work.over, op.args), hint=op.outs[0].name, **settings))


# ------------------------------------------------------------------ reductions


def axes_over(op: Call, x: Operand, mask: Value) -> tuple[int, ...] | None:
    """The axes of a reduction over the whole array; None if the masked axis is not reduced."""
    axes = axes_of(op.settings.get("axis"), rank_of(x))
    if axes is None or 0 not in axes or op.settings.get("keepdims"):
        return None
    more = rank_of(mask) - 1
    return (*range(rank_of(mask)), *(k + more for k in axes if k))


def sees_reduction(work: Predicates, op: Call, block: Block) -> bool | None:
    chosen = work.elements(op.args[0])
    if chosen is None or axes_over(op, op.args[0], chosen.mask) is None:
        return None
    if op.name == "mean" and (rank_of(op.args[0]) > 1 or kind_of(op.args[0]) != "f"):
        return None
    return True


def neutral(op: Call) -> Const:
    """The neutral element of a reduction."""
    x = op.args[0]
    kind = kind_of(x)
    if op.name in ("any", "all", "count_nonzero", "sum", "mean", "prod"):
        value: float = {"all": 1, "prod": 1}.get(op.name, 0)
    elif kind == "f":
        value = -np.inf if op.name == "max" else np.inf
    elif kind == "b":
        value = op.name == "min"
    else:
        assert isinstance(x.type, Array)
        assert x.type.dtype is not None
        info = np.iinfo(np.dtype(DTYPES[x.type.dtype]))
        value = int(info.min if op.name == "max" else info.max)
    return Const(float(value) if kind == "f" else bool(value) if kind == "b" else int(value))


def writes_reduction(work: Predicates, op: Call, block: Block) -> None:
    chosen = work.elements(op.args[0])
    assert chosen is not None
    axes = axes_over(op, op.args[0], chosen.mask)
    if op.name in ("max", "min"):
        some = work.builder.call("greater", work.count(chosen.mask, block), Const(0))
        work.builder.call_many("check", some, Const("zero-size array to reduction operation"))
    whole = work.over(op.args[0])
    part = work.select(chosen.mask, whole, neutral(op), rank_of(whole))
    axis = None if axes is None or len(axes) == rank_of(whole) else axes
    if op.name == "mean":
        total = work.builder.call("sum", part, axis=axis)
        work.give(op, "divide", total, work.builder.call("cast", work.count(chosen.mask, block), dtype=total.type.dtype))  # type: ignore[attr-defined]
    else:
        work.give(op, op.name, part, **{**op.settings, "axis": axis})


def sees_dot(work: Predicates, op: Call, block: Block) -> bool | None:
    a, b = op.args
    both = work.elements(a) is not None and work.elements(b) is not None and rank_of(a) == rank_of(b) == 1
    return True if both and kind_of(a) == kind_of(b) == "f" and work.together(op.args) is not None else None


def writes_dot(work: Predicates, op: Call, block: Block) -> None:
    chosen = work.elements(op.args[0])
    assert chosen is not None
    product = work.builder.call("multiply", *map(work.over, op.args))
    work.give(op, "sum", work.select(chosen.mask, product, Const(0.0), rank_of(product)))


def sees_dot_part(work: Predicates, op: Call, block: Block) -> Chosen | None:
    g, other, shape = op.args
    own = work.shape(shape)
    fits = isinstance(g.type, Scalar) and rank_of(other) == 1 and own is not None
    return work.together([other]) if fits and own is not None and work.together([other]) is not None else None


def writes_dot_part(work: Predicates, op: Call, block: Block) -> None:
    work.keep(op, work.builder.call("multiply", op.args[0], work.over(op.args[1])))


def sees_share(work: Predicates, op: Call, block: Block) -> Chosen | None:
    x, out = op.args
    chosen = work.elements(x)
    return chosen if chosen is not None and rank_of(x) == 1 and kind_of(x) == "f" and isinstance(out.type, Scalar) else None


def writes_share(work: Predicates, op: Call, block: Block) -> None:
    chosen = work.elements(op.args[0])
    assert chosen is not None
    whole = work.over(op.args[0])
    part = work.select(chosen.mask, whole, Const(np.nan), rank_of(whole))
    work.keep(op, work.builder.call("extreme_share", part, op.args[1]))


# ------------------------------------------------------------------ shapes


def sees_shape(work: Predicates, op: Call, block: Block) -> Chosen | None:
    chosen = work.elements(op.args[0])
    return None if chosen is None else Chosen(chosen.mask, block, shape=True)


def writes_shape(work: Predicates, op: Call, block: Block) -> None:
    work.whole[op.outs[0]] = work.builder.call("shape_of", work.over(op.args[0]))


def sees_size(work: Predicates, op: Call, block: Block) -> bool | None:
    """``size`` of a vector, the extent of the masked axis, and the number of elements along it."""
    x = op.args[0]
    if op.name == "size":
        fits = work.elements(x) is not None and rank_of(x) == 1
    elif op.name == "extent":
        fits = work.elements(x) is not None
    else:
        fits = work.shape(x) is not None and axes_of(op.settings["axis"], rank_of(x)) == (0,)
    return True if fits else None


def writes_size(work: Predicates, op: Call, block: Block) -> None:
    x = op.args[0]
    assert isinstance(x, Value)
    mask = work.chosen[x].mask
    axis = op.settings.get("axis") or 0
    if op.name == "extent" and axis:
        work.give(op, "extent", work.over(x), axis=axis + rank_of(mask) - 1)
    else:
        work.give(op, "add", work.count(mask, block), Const(0))


def sees_filled(work: Predicates, op: Call, block: Block) -> Chosen | None:
    """Arrays created in the shape of selected elements: zeros, one number for all, or one for each index of the other axes."""
    chosen = work.shape(op.args[-1])
    if chosen is None or any(a in work.chosen for a in op.args[:-1]):
        return None
    if op.name == "spread" and isinstance(op.args[0].type, Array):
        axes = axes_of(op.settings["axis"], rank_of(op.args[1]))
        if axes is None or 0 not in axes or op.settings["keepdims"] or op.settings["axis"] is None:
            return None
    return Chosen(chosen.mask, block)


def writes_filled(work: Predicates, op: Call, block: Block) -> None:
    shape = op.args[-1]
    settings = dict(op.settings)
    if op.name == "spread" and isinstance(op.args[0].type, Array):
        chosen = work.shape(shape)
        axes = axes_of(op.settings["axis"], rank_of(shape))
        assert chosen is not None
        assert axes is not None
        more = rank_of(chosen.mask) - 1
        settings["axis"] = (*range(more + 1), *(k + more for k in axes if k))
    elif op.name == "spread":
        settings = {}
    work.keep(op, work.builder.call(op.name, *op.args[:-1], work.over(shape), **settings))


def sees_unbroadcast(work: Predicates, op: Call, block: Block) -> Chosen | None:
    g, shape = op.args
    chosen = work.shape(shape)
    if chosen is None:
        return None
    if isinstance(g.type, Scalar):
        return Chosen(chosen.mask, block)
    own = work.elements(g)
    return own if own is not None and own.mask is chosen.mask and rank_of(g) == rank_of(shape) else None


def writes_unbroadcast(work: Predicates, op: Call, block: Block) -> None:
    g, shape = op.args
    work.keep(op, work.builder.call("spread", g, work.over(shape)) if isinstance(g.type, Scalar) else work.over(g))


# ------------------------------------------------------------------ stores


def sees_store(work: Predicates, op: Call, block: Block) -> Chosen | bool | None:
    """A store, through a mask, of its own selection or of a value that is the same for all elements; or one to a whole selection."""
    x, v, *index = op.args
    if not index and op.settings["index"] == "e" and work.elements(x) is not None:
        return work.elements(x) if isinstance(v.type, Scalar) or work.together([x, v]) is not None else None
    if op.settings["index"] != "i" or not is_mask(index[0]) or x in work.chosen or index[0] in work.chosen:
        return None
    if kind_of(x) != "f" or rank_of(x) < rank_of(index[0]):
        return None
    own = work.elements(v)
    if own is not None:
        return True if own.mask is index[0] and rank_of(v) == rank_of(x) - rank_of(own.mask) + 1 else None
    fits = isinstance(v.type, Scalar) or isinstance(v.type, Array) and 0 <= rank_of(v) <= rank_of(x) - rank_of(index[0])
    return True if fits and v not in work.chosen else None


def writes_store(work: Predicates, op: Call, block: Block) -> None:
    x, v, *index = op.args
    if not index:
        value = work.over(v)
        if op.name == "add_at":
            value = work.builder.call("add", work.over(x), value)
        elif not isinstance(value.type, Array):
            value = work.builder.call("spread", value, work.builder.call("shape_of", work.over(x)))
        work.keep(op, value)
        return
    mask = index[0]
    assert isinstance(mask, Value)
    work.fits(x, mask)
    part = work.select(mask, work.over(v), x if op.name == "set_at" else Const(-0.0), rank_of(x))
    work.give(op, op.name, x, part, **{**op.settings, "index": "e"})


STORES = frozenset({"set_at", "add_at"})
POINTWISE = Rule(sees_pointwise, writes_pointwise)
RULES: dict[str, Rule] = {
    **dict.fromkeys(("take", "view"), Rule(sees_take, writes_take)),
    "accumulate": POINTWISE,
    **dict.fromkeys(("sum", "mean", "prod", "max", "min", "any", "all", "count_nonzero"), Rule(sees_reduction, writes_reduction)),
    "dot": Rule(sees_dot, writes_dot),
    **dict.fromkeys(("dot_left", "dot_right"), Rule(sees_dot_part, writes_dot_part)),
    "extreme_share": Rule(sees_share, writes_share),
    "shape_of": Rule(sees_shape, writes_shape),
    **dict.fromkeys(("size", "extent", "reduced_size"), Rule(sees_size, writes_size)),
    **dict.fromkeys(("spread", "zeros_of"), Rule(sees_filled, writes_filled)),
    "unbroadcast": Rule(sees_unbroadcast, writes_unbroadcast),
    **dict.fromkeys(sorted(STORES), Rule(sees_store, writes_store)),
}
