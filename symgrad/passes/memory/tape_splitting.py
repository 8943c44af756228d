"""Tape splitting: one tape for each saved value instead of one of tuples. Saved files then use plain lists.

push(tape, h, t)  ->  push(h_tape, h); push(t_tape, t)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.identity import DisjointSets
from symgrad.ir.core import UNDEF, Apply, Block, Call, For, Func, If, Op, Operand, Value, While, walk
from symgrad.ir.types import Tape


def tape_splitting(func: Func) -> Func:
    """Split the tapes of a function, in place; tapes that are parameters or results stay whole."""
    pieces = Pieces()
    pieces.gather(func)
    if pieces.models:
        split = len(func.body.ops) if func.split is None else func.split
        halves = Block([], func.body.ops[:split]), Block([], func.body.ops[split:])
        for half in halves:
            pieces.block(half)
        func.body.ops = [op for half in halves for op in half.ops]
        func.split = None if func.split is None else len(halves[0].ops)
    return func


@dataclass(slots=True)
class Pieces(DisjointSets[Value]):
    """Union-find of the values that are one tape, and the tapes that each is split into."""

    models: dict[Value, Call] = field(default_factory=dict)  #: a push on each tape that may be split
    tapes: dict[Value, list[Value]] = field(default_factory=dict)

    def join(self, *values: Operand) -> None:
        tapes = [v for v in values if isinstance(v, Value) and isinstance(v.type, Tape)]
        for other in tapes[1:]:
            self.unite(tapes[0], other)

    def gather(self, func: Func) -> None:
        """Join the values that are the same tape, and find a push on each."""
        pushes: list[Call] = []
        pops: list[Call] = []
        whole: list[Operand] = [*func.body.args, *func.body.yields]
        for op in walk(func.body):
            match op:
                case Call(name="push" | "pop", args=[tape, *_], outs=[rest, *_]):
                    self.join(tape, rest)
                    (pushes if op.name == "push" else pops).append(op)
                case Call(name="copy", args=[tape], outs=[out]):
                    self.join(tape, out)
                case Call(args=args) | Apply(args=args):
                    whole += args
                case For() | While():
                    for slot in zip(op.inits, op.carried, op.body.yields, op.outs, strict=False):
                        self.join(*slot)
                    if isinstance(op, While):
                        for pair in zip(op.test.args, op.carried, strict=True):
                            self.join(*pair)
                case If():
                    for then, orelse, out in zip(op.then.yields, op.orelse.yields, op.outs, strict=True):
                        self.join(then, orelse, out)
        self.join_items(pushes, pops)
        kept = {self.find(v) for v in whole if isinstance(v, Value) and isinstance(v.type, Tape)}
        for op in pushes:
            root = self.find(op.outs[0])
            if root not in kept and len(self.models.get(root, op).args) == len(op.args):
                self.models[root] = op
            else:
                kept.add(root)
                self.models.pop(root, None)

    def join_items(self, pushes: list[Call], pops: list[Call]) -> None:
        """Join an item popped from a position of a tape with the one pushed there, above all tapes of inner loops."""
        places: dict[tuple[Value, int], list[Operand]] = {}
        for _ in range(2):
            for op in (*pushes, *pops):
                for k, item in enumerate(op.args[1:] or op.outs[1:]):
                    places.setdefault((self.find(op.outs[0]), k), []).append(item)
            for items in places.values():
                self.join(*items)

    def split(self, value: Operand) -> list[Value] | None:
        """The tapes that replace a tape; None for a value that is not split."""
        if not isinstance(value, Value) or not isinstance(value.type, Tape) or (model := self.models.get(self.find(value))) is None:
            return None
        if value not in self.tapes:
            items = self.operands(model.args[1:])
            if len(items) < 2 and items == model.args[1:]:
                return None
            filled = bool(value.type.items)
            self.tapes[value] = [Value(Tape((item.type,) if filled else ()), tape_name(item)) for item in items]
        return self.tapes[value]

    def operands(self, operands: list[Operand]) -> list[Operand]:
        pieces: list[Operand] = []
        for operand in operands:
            pieces += self.split(operand) or [operand]
        return pieces

    def expanded(self, operands: list[Operand], slots: list[Value]) -> list[Operand]:
        """Operands for slots, some of which are split; operands beyond the slots stay."""
        pieces: list[Operand] = []
        for operand, slot in zip(operands, slots, strict=False):
            parts = self.split(slot)
            pieces += [operand] if parts is None else self.split(operand) or [UNDEF] * len(parts)
        return pieces + operands[len(slots) :]

    def values(self, values: list[Value]) -> list[Value]:
        return [part for v in values for part in (self.split(v) or [v])]

    def block(self, block: Block) -> None:
        block.ops = [new for op in block.ops for new in self.op(op)]
        block.args = self.values(block.args)

    def op(self, op: Op) -> list[Op]:
        match op:
            case Call(name="tape") if (parts := self.split(op.outs[0])) is not None:
                return [Call([part], op.loc, "tape", [], {}) for part in parts]
            case Call(name="push") if (parts := self.split(op.outs[0])) is not None:
                before = self.split(op.args[0]) or []
                items = self.operands(op.args[1:])
                return [Call([part], op.loc, "push", [old, item], {}) for part, old, item in zip(parts, before, items, strict=True)]
            case Call(name="pop") if (parts := self.split(op.outs[0])) is not None:
                before = self.split(op.args[0]) or []
                outs = self.values(op.outs[1:])
                return [Call([part, out], op.loc, "pop", [old], {}) for part, old, out in zip(parts, before, outs, strict=True)]
            case Call(name="copy") if (parts := self.split(op.outs[0])) is not None:
                copied = self.split(op.args[0]) or []
                return [Call([part], op.loc, "copy", [old], {}) for part, old in zip(parts, copied, strict=True)]
            case For() | While():
                slots = list(op.carried)
                op.inits = self.expanded(op.inits, slots)
                op.body.yields = self.expanded(op.body.yields, slots)
                if isinstance(op, While):
                    self.block(op.test)
                self.block(op.body)
            case If():
                op.then.yields = self.expanded(op.then.yields, op.outs)
                op.orelse.yields = self.expanded(op.orelse.yields, op.outs)
                self.block(op.then)
                self.block(op.orelse)
        op.outs = self.values(op.outs)
        return [op]


def tape_name(item: Operand) -> str:
    """The name of the tape of one value."""
    name = getattr(item, "name", None) or "saved"
    return name if name.endswith("_tape") else f"{name}_tape"
