"""Converts a function of the IR to a ``Graph``: ops are nodes, values are edges, loops and branches are frames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Operand, Undef, Value, While
from symgrad.ir.show import show_const, value_names
from symgrad.location import Loc

LAYOUT = re.compile(r"/[CFN]\b")
#: operators are shown as Python writes them
SIGNS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "power": "**",
    "negative": "-",
    "greater": ">",
    "less": "<",
    "greater_equal": ">=",
    "less_equal": "<=",
    "equal": "==",
    "not_equal": "!=",
    "matmul": "@",
}


@dataclass(slots=True)
class Node:
    """An op, a parameter, a result, or a frame with nodes in it.

    ``kind``: "parameter", "op", "carried" (a loop-carried value), "join" (a result of a branch), "result",
    "loop" or "branch" (frames, whose ``parts`` are titles and nodes).
    """

    number: int
    kind: str
    label: str
    detail: str = ""
    loc: Loc | None = None
    parts: list[tuple[str, list[Node]]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edge:
    """A value that flows from one node to another; ``back``: to the next iteration of a loop."""

    source: int
    target: int
    label: str = ""
    back: bool = False


@dataclass(slots=True)
class Graph:
    """Nodes in program order, and edges between their numbers."""

    name: str
    nodes: list[Node]
    edges: list[Edge]

    def all_nodes(self) -> Iterator[Node]:
        """Yield every node; nodes in frames follow their frame."""
        pending = [iter(self.nodes)]
        while pending:
            node = next(pending[-1], None)
            if node is None:
                pending.pop()
                continue
            yield node
            pending += [iter(inner) for _, inner in reversed(node.parts)]


def graph_of(func: Func) -> Graph:
    """The graph of a function."""
    drawing = Drawing(value_names(func))
    nodes = [drawing.node("parameter", drawing.names[value], type_word(value.type), value) for value in func.params]
    nodes += drawing.block(func.body)
    for number, operand in enumerate(func.body.yields):
        word = func.results[number] if number < len(func.results) else "result"
        result = drawing.node("result", word if isinstance(operand, Value) else f"{word} = {drawing.word(operand)}")
        drawing.connect(operand, result)
        nodes.append(result)
    return Graph(func.name, nodes, drawing.edges)


@dataclass(slots=True)
class Drawing:
    """The state of building a graph: the defining node of each value."""

    names: dict[Value, str]
    sources: dict[Value, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    count: int = 0

    def node(self, kind: str, label: str, detail: str = "", *outs: Value, loc: Loc | None = None) -> Node:
        """Add a node that defines some values."""
        node = Node(self.count, kind, label, detail, loc)
        self.count += 1
        self.sources.update(dict.fromkeys(outs, node))
        return node

    def connect(self, operand: Operand, target: Node, back: bool = False) -> None:
        """Add an edge from the definition of an operand; constants have none."""
        source = self.sources.get(operand) if isinstance(operand, Value) else None
        edge = None if source is None else Edge(source.number, target.number, self.label(operand), back)
        if edge is not None and edge not in self.edges:
            self.edges.append(edge)

    def label(self, operand: Operand) -> str:
        """Return the user's name of a value at the start of the edge."""
        name = self.names.get(operand, "") if isinstance(operand, Value) else ""
        return "" if name.startswith("%") else name.partition(".")[0]

    def word(self, operand: Operand) -> str:
        """An operand in a label: its name, or the constant."""
        if isinstance(operand, Const):
            return "nothing" if isinstance(operand.value, Undef) else show_const(operand)
        return self.names.get(operand, "\u00b7")

    # -------------------------------------------------------------- ops

    def block(self, block: Block) -> list[Node]:
        """The nodes of the ops of a block."""
        return [node for op in block.ops for node in self.op(op)]

    def op(self, op: Op) -> list[Node]:
        """Add the nodes of an op: one, or a frame and the joins of a branch."""
        match op:
            case For() | While():
                return [self.loop(op)]
            case If():
                return self.branch(op)
        label = self.operation(op)
        shown = [": ".join(filter(None, (self.label(out), type_word(out.type)))) for out in op.outs]
        node = self.node("op", label, ", ".join(shown), *op.outs, loc=op.loc)
        for operand in op.operands:
            self.connect(operand, node)
        return [node]

    def operation(self, op: Op) -> str:
        """Return the name of an op with its constants; an operator is infix if one operand is constant."""
        if isinstance(op, Apply) and op.func is not None:
            return op.func.name
        name = op.name if isinstance(op, Call) else type(op).__name__
        constants = [self.word(operand) for operand in op.operands if isinstance(operand, Const)]
        sign = SIGNS.get(name)
        if sign is not None and constants and len(op.operands) == 2:
            left, right = ("\u00b7" if isinstance(operand, Value) else self.word(operand) for operand in op.operands)
            return f"{left} {sign} {right}"
        return " ".join([sign or name, *constants])

    def loop(self, op: For | While) -> Node:
        """Add the frame of a loop: its loop-carried values, then its ops."""
        frame = self.node("loop", self.title(op), loc=op.loc)
        if isinstance(op, For):
            for operand in (op.start, op.stop, op.step):
                self.connect(operand, frame)
            self.sources[op.index] = frame
        parts: list[tuple[str, list[Node]]] = []
        carried = [self.node("carried", self.label(value) or "carried", type_word(value.type), value) for value in op.carried]
        for node, start in zip(carried, op.inits, strict=False):
            self.connect(start, node)
        if isinstance(op, While):
            self.sources.update(zip(op.test.args, carried, strict=False))
            parts.append(("test", self.block(op.test)))
        parts.append(("", [*carried, *self.block(op.body)]))
        for node, out, operand in zip(carried, op.outs, op.body.yields, strict=False):
            self.connect(operand, node, back=True)
            source = self.sources.get(operand) if isinstance(operand, Value) else None
            self.sources[out] = source or node
        for out in op.outs[len(carried) :]:
            self.sources[out] = frame
        frame.parts = parts
        return frame

    def title(self, op: For | While) -> str:
        """The head of a loop, as Python writes it."""
        head = written(op.loc, ("for ", "while "))
        if head or isinstance(op, While):
            return head or "while"
        bounds = [self.word(bound) for bound in (op.start, op.stop, op.step)]
        bounds = bounds[:-1] if bounds[-1] == "1" else bounds
        bounds = bounds[1:] if bounds[0] == "0" and len(bounds) == 2 else bounds
        turned = f"reversed(range({', '.join(bounds)}))" if op.backward else f"range({', '.join(bounds)})"
        return f"for {self.names[op.index].partition('.')[0]} in {turned}"

    def branch(self, op: If) -> list[Node]:
        """Add the frame of a branch with its two sides, and a node for each join."""
        frame = self.node("branch", written(op.loc, ("if ", "elif ")) or "if", loc=op.loc)
        self.connect(op.test, frame)
        frame.parts = [("then", self.block(op.then)), ("else", self.block(op.orelse))]
        frame.parts = [(title, nodes) for title, nodes in frame.parts if nodes]
        joins = []
        for out, then, orelse in zip(op.outs, op.then.yields, op.orelse.yields, strict=False):
            node = self.node("join", self.label(out) or "either", type_word(out.type), out, loc=op.loc)
            self.connect(then, node)
            self.connect(orelse, node)
            joins.append(node)
        return [frame, *joins]


def written(loc: Loc, words: tuple[str, ...]) -> str:
    """The head of a statement as the user wrote it, where one of some words begins the line."""
    text = loc.text.strip()
    return text.rstrip(":") if text.startswith(words) else ""


def type_word(type_: Any) -> str:
    """A type for a reader: without the memory layout, and without the mark of extents that are not 1.

    >>> from symgrad.ir.types import Array
    >>> type_word(Array("f64", (3,), "C"))
    'f64[3]'
    """
    return LAYOUT.sub("", str(type_)).replace("!", "")


__all__ = ["Edge", "Graph", "Node", "graph_of", "type_word"]
