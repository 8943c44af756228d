"""Struct of arrays: a list of structured items becomes one list for each part, before any later stage sees the function.

``List(Struct)`` exists only while a function is lowered. An operation on such a list becomes the
same operation on the list of each part, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.errors import UnsupportedSyntax
from symgrad.ir.core import Apply, Block, Call, Const, For, If, Operand, Value, While, applied, definitions, substitute, walk
from symgrad.ir.types import UNDEFINED, Array, List, Scalar, Struct, Type, holds_parts, join
from symgrad.location import Loc
from symgrad.ops.analysis.alike import Member, of_one_type
from symgrad.ops.build import Builder

#: ops on a list of structured items that apply to the list of each part in the same way
EACH = frozenset(
    {"list_of", "list_append", "list_set", "list_take", "list_slice", "list_join", "list_drop", "list_repeat", "copy", "stop_gradient"}
)
#: rows that search a list for an item, and those that search the lists of the parts
OF_ROWS = {"contains": "contains_row", "list_index": "row_index"}


def columns(type_: Type) -> list[Type]:
    """The types of the parts of a value, in order; for an unstructured value its own type."""
    match type_:
        case Struct(items=items):
            return [part for item in items for part in columns(item)]
        case List(item=item) if holds_parts(item):
            return [List(part) for part in columns(item)]
    return [type_]


def split(builder: Builder, body: Block, inputs: list[tuple[Value, str]], paths: dict[Value, list[str]]) -> list[tuple[Value, str]]:
    """Rewrite a program to lists of parts only; ``paths`` are those of the parts of an input. Returns the inputs."""
    bodies = [body, *(func.body for func in applied(body))]
    every = [value for block in bodies for value in definitions(block)]
    if not any(holds_parts(value.type) for value in [*every, *(value for value, _ in inputs)]):
        return inputs
    infer_empty_lists(bodies)
    work = Splitting(builder)
    new_inputs: list[tuple[Value, str]] = []
    for value, path in inputs:
        if holds_parts(value.type):
            parts = [Value(part, value.name) for part in columns(value.type)]
            work.parts[value] = list(parts)
            new_inputs += zip(parts, paths[value], strict=True)
        else:
            new_inputs.append((value, path))
    body.args = [value for value, _ in new_inputs]
    for block in bodies:
        work.block(block)
    for block in bodies:
        substitute(block, {value: work.named(value) for value in work.renamed})
    return new_inputs


# ------------------------------------------------------------------ types


def infer_empty_lists(bodies: list[Block]) -> None:
    """Give lists that begin empty the type of the items added to them."""
    news = True
    while news:
        news = False
        for body in bodies:
            for op in walk(body):
                for group in list(of_one_type(op)):
                    news |= unified(group, op.loc)


def unified(group: list[Member], loc: Loc) -> bool:
    """Give the members of a group one type, if it is structured; return whether that changes a type."""
    whole: Type = UNDEFINED
    for operand, part, _ in group:
        if isinstance(operand, Value):
            whole = join(whole, part(operand.type))
    if not any(holds_parts(part(operand.type)) for operand, part, _ in group if isinstance(operand, Value)):
        return False
    if not holds_parts(whole):
        raise UnsupportedSyntax("the items of a list are of different kinds", loc, "give all of them the same structure")
    news = False
    for operand, _, back in group:
        if isinstance(operand, Value) and operand.type != (type_ := back(whole)):
            operand.type, news = type_, True
    return news


# ------------------------------------------------------------------ the program


@dataclass(slots=True)
class Splitting:
    """The rewriting of one program: the parts of each structured value, and the values that replace others."""

    builder: Builder
    parts: dict[Value, list[Operand]] = field(default_factory=dict)
    renamed: dict[Value, Operand] = field(default_factory=dict)

    def named(self, value: Value) -> Operand:
        """The value that replaces a value now."""
        now: Operand = value
        while isinstance(now, Value) and now in self.renamed:
            now = self.renamed[now]
        return now

    def of(self, operand: Operand, like: list[Type]) -> list[Operand]:
        """The parts of an operand, one for each type; each part of a constant is the constant itself."""
        if isinstance(operand, Const):
            return [operand] * len(like)
        parts: list[Operand] = self.parts.get(operand, [operand])
        if len(parts) != len(like):
            raise refused(self.builder.loc)
        return parts

    def expanded(self, values: list[Value]) -> list[Value]:
        """Block arguments or results with each structured value replaced by its parts."""
        expanded: list[Value] = []
        for value in values:
            if not holds_parts(value.type):
                expanded.append(value)
                continue
            parts = [Value(self.builder.freshen(part), value.name) for part in columns(value.type)]
            self.parts[value] = list(parts)
            expanded += parts
        return expanded

    def handed(self, operands: list[Operand], to: list[Value]) -> list[Operand]:
        """The operands passed to block arguments or results, by parts."""
        parts: list[Operand] = []
        for place, operand in enumerate(operands):
            if place < len(to) and holds_parts(to[place].type):
                parts += self.of(operand, columns(to[place].type))
            elif isinstance(operand, Value) and operand in self.parts:
                if place < len(to):
                    raise refused(self.builder.loc)
                parts += self.parts[operand]
            else:
                parts.append(operand)
        return parts

    def block(self, block: Block) -> None:
        """Split the ops of a block, in place."""
        if any(holds_parts(value.type) for value in block.args):
            block.args = self.expanded(block.args)
        old, block.ops = block.ops, []
        with self.builder.inside(block):
            for op in old:
                self.builder.loc = op.loc
                self.op(op)
        if any(isinstance(operand, Value) and operand in self.parts for operand in block.yields):
            block.yields = self.handed(block.yields, [])

    def op(self, op: object) -> None:
        """Split one op, at the builder's position."""
        match op:
            case Call():
                touched = [*op.args, *op.outs]
                if any(isinstance(o, Value) and (o in self.parts or holds_parts(o.type)) for o in touched):
                    self.call(op)
                else:
                    self.builder.append(op)
                return
            case If():
                outs = list(op.outs)
                for side in (op.then, op.orelse):
                    ends, side.yields = side.yields, []
                    self.block(side)
                    side.yields = self.handed(ends, outs)
                op.outs = self.expanded(outs)
            case For():
                outs, carried = list(op.outs), op.carried
                op.inits = self.handed(op.inits, carried)
                ends, op.body.yields = op.body.yields, []
                self.block(op.body)
                op.body.yields = self.handed(ends, outs[: len(carried)])
                op.outs = self.expanded(outs)
            case While():
                outs, carried = list(op.outs), list(op.test.args)
                op.inits = self.handed(op.inits, carried)
                ends, op.body.yields = op.body.yields, []
                self.block(op.test)
                self.block(op.body)
                op.body.yields = self.handed(ends, outs[: len(carried)])
                op.outs = self.expanded(outs)
            case Apply():
                if any(isinstance(o, Value) and holds_parts(o.type) for o in op.args):
                    op.args = [part for o in op.args for part in (self.parts.get(o, [o]) if isinstance(o, Value) else [o])]
                op.outs = self.expanded(op.outs)
        self.builder.append(op)  # type: ignore[arg-type]

    def call(self, op: Call) -> None:
        """Split one call."""
        match op.name:
            case "struct_of":
                types = op.outs[0].type
                assert isinstance(types, Struct)
                parts = [part for o, t in zip(op.args, types.items, strict=True) for part in self.of(o, columns(t))]
                self.parts[op.outs[0]] = parts
            case "part_of":
                (whole,), (out,) = op.args, op.outs
                assert isinstance(whole, Value)
                assert isinstance(whole.type, Struct)
                before = sum(len(columns(item)) for item in whole.type.items[: op.settings["place"]])
                own = columns(whole.type.items[op.settings["place"]])
                self.taken(out, self.parts[whole][before : before + len(own)])
            case "contains" | "list_index":
                items, item = op.args
                like = columns(item.type)
                sought = [*self.of(items, like), *self.of(item, like)]
                self.builder.append(Call(op.outs, op.loc, OF_ROWS[op.name], sought, {}))
            case "list_len":
                self.builder.append(Call(op.outs, op.loc, op.name, self.parts[op.args[0]][:1], op.settings))  # type: ignore[index]
            case "array_of" if op.settings["shape"] is None and isinstance(op.args[0].type, List):
                rows = [self.builder.call("array_of", part, dtype=op.settings["dtype"]) for part in self.parts[op.args[0]]]  # type: ignore[index]
                if not all(isinstance(part.type, List) and isinstance(part.type.item, Scalar | Array) for part in self.parts[op.args[0]]):  # type: ignore[index]
                    raise refused(op.loc)
                self.builder.append(Call(op.outs, op.loc, "stack", list(rows), {"axis": 1}))
            case name if name in EACH:
                self.each(op)
            case _:
                raise refused(op.loc)

    def taken(self, out: Value, parts: list[Operand]) -> None:
        """A part that is read: the value of its column, with the type that the program knows."""
        if len(parts) != 1 or holds_parts(out.type):
            self.parts[out] = parts
            return
        (part,) = parts
        self.renamed[out] = part
        if isinstance(part, Value) and isinstance(out.type, Array) and part.type != out.type and part not in self.renamed:
            part.type = out.type

    def each(self, op: Call) -> None:
        """Apply an op on a list to each list of its parts."""
        (out,) = op.outs
        types = columns(out.type)
        whole = {"list_of": range(len(op.args)), "list_append": (0, 1), "list_set": (0, 2), "list_join": (0, 1)}.get(op.name, (0,))
        arg_parts = [self.of(o, types) if k in whole else [o] * len(types) for k, o in enumerate(op.args)]
        results = [Value(self.builder.freshen(t), out.name) for t in types]
        for place, value in enumerate(results):
            self.builder.append(Call([value], op.loc, op.name, [column[place] for column in arg_parts], dict(op.settings)))
        self.parts[out] = list(results)


def refused(loc: Loc) -> UnsupportedSyntax:
    return UnsupportedSyntax("a list of tuples or objects is used as a single value", loc, "iterate over its items")


__all__ = ["columns", "split"]
