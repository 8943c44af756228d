"""Lays out a ``Graph``: rows from top to bottom, with a frame around each loop and branch.

Nodes are in layers by the longest path that leads to them, as in the method of Sugiyama, Tagawa and Toda (1981): layers, then an order
within each layer by the mean position of the predecessors, then positions without overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from symgrad.report.graph import Edge, Graph, Node

LETTER = 6.7  #: the width of a letter of labels
ROW = 16  #: the height of a line of a label
PADDING = 10
GAP_X, GAP_Y = 22, 34
HEAD = 24  #: the height of the title of a frame
BACK = 22  #: margin of a loop's content
LEAST = 54  #: the width of the narrowest node


@dataclass(slots=True)
class Box:
    """A rectangle: its left upper corner and its extents."""

    x: float
    y: float
    width: float
    height: float


@dataclass(slots=True)
class Layout:
    """Boxes by the number of their nodes, titles of parts of frames with their boxes, and the extents of the whole."""

    boxes: dict[int, Box]
    titles: list[tuple[str, Box]]
    width: float
    height: float


def layout_of(graph: Graph) -> Layout:
    """Compute the layout.

    >>> from symgrad.report.graph import Edge, Graph, Node
    >>> laid = layout_of(Graph("f", [Node(0, "parameter", "x"), Node(1, "op", "tanh")], [Edge(0, 1)]))
    >>> laid.boxes[0].y < laid.boxes[1].y, laid.boxes[0].x == laid.boxes[1].x
    (True, True)
    """
    arranger = Arranger(graph.edges, above(graph.nodes))
    width, height = arranger.arrange(graph.nodes)
    for node in graph.nodes:
        arranger.move(node, GAP_X / 2, GAP_X / 2)
    return Layout(arranger.boxes, arranger.titles, width + GAP_X, height + GAP_X)


def above(nodes: Sequence[Node], frames: tuple[int, ...] = ()) -> dict[int, tuple[int, ...]]:
    """Return for each node its enclosing frames from the outermost, and the node itself last."""
    chains: dict[int, tuple[int, ...]] = {}
    for node in nodes:
        chains[node.number] = (*frames, node.number)
        for _, inner in node.parts:
            chains |= above(inner, (*frames, node.number))
    return chains


class Arranger:
    """Arranges nodes, from the innermost frames outwards."""

    def __init__(self, edges: Sequence[Edge], chains: Mapping[int, tuple[int, ...]]) -> None:
        self.edges = [edge for edge in edges if not edge.back]
        self.chains = chains
        self.boxes: dict[int, Box] = {}
        self.titles: list[tuple[str, Box]] = []
        self.title_of: dict[int, list[Box]] = {}

    def arrange(self, nodes: Sequence[Node]) -> tuple[float, float]:
        """Place nodes from the origin on; return their total extents."""
        if not nodes:
            return 0.0, 0.0
        for node in nodes:
            width, height = self.extents(node)
            self.boxes[node.number] = Box(0.0, 0.0, width, height)
        sources = self.sources_of(nodes)
        layers = in_layers(nodes, sources)
        top = 0.0
        for layer in layers:
            layer.sort(key=lambda node: self.wished(node, sources))
            self.place(layer, sources)
            height = max(self.boxes[node.number].height for node in layer)
            for node in layer:
                box = self.boxes[node.number]
                self.move(node, 0.0, top + (height - box.height) / 2)
            top += height + GAP_Y
        left = min(self.boxes[node.number].x for node in nodes)
        for node in nodes:
            self.move(node, -left, 0.0)
        return max(self.boxes[node.number].x + self.boxes[node.number].width for node in nodes), top - GAP_Y

    def extents(self, node: Node) -> tuple[float, float]:
        """Return width and height of a node; the content of a frame is laid out first."""
        wide = max(LEAST, LETTER * max(len(node.label), len(node.detail)) + 2 * PADDING)
        if node.kind not in ("loop", "branch"):
            return wide, (2 if node.detail else 1) * ROW + PADDING
        x, tallest = float(PADDING), 0.0
        for title, inner in node.parts:
            head = HEAD + (ROW if title else 0)
            width, height = self.arrange(inner)
            if title:
                box = Box(x, float(HEAD), max(width, LEAST), ROW)
                self.titles.append((title, box))
                self.title_of.setdefault(node.number, []).append(box)
            for one in inner:
                self.move(one, x, head + PADDING / 2)
            x += max(width, LEAST) + GAP_X
            tallest = max(tallest, head + height)
        room = BACK if node.kind == "loop" else 0  # for edges to the next iteration
        return max(wide, x - GAP_X + PADDING + room), tallest + 2 * PADDING if node.parts else HEAD + PADDING / 2

    def sources_of(self, nodes: Sequence[Node]) -> dict[int, list[int]]:
        """For each of some nodes those among them that an edge leads from, directly or from within a frame."""
        places = {node.number: place for place, node in enumerate(nodes)}
        sources: dict[int, list[int]] = {number: [] for number in places}
        for edge in self.edges:
            start = next((n for n in self.chains[edge.source] if n in places), None)
            end = next((n for n in self.chains[edge.target] if n in places), None)
            if start is not None and end is not None and places[start] < places[end]:
                sources[end].append(start)
        return sources

    def wished(self, node: Node, sources: Mapping[int, list[int]]) -> float:
        """Return the ideal centre of a node: below its operands."""
        middles = [self.boxes[n].x + self.boxes[n].width / 2 for n in sources[node.number]]
        return sum(middles) / len(middles) if middles else 0.0

    def place(self, layer: Sequence[Node], sources: Mapping[int, list[int]]) -> None:
        """Place the nodes of a layer, each as near to its ideal position as its predecessors allow."""
        free = float("-inf")
        shift = 0.0
        for node in layer:
            box = self.boxes[node.number]
            best = self.wished(node, sources) - box.width / 2
            x = max(best, free)
            shift += x - best
            self.move(node, x - box.x, 0.0)
            free = x + box.width + GAP_X
        for node in layer:  # a shift to the right is distributed among all
            self.move(node, -shift / len(layer), 0.0)

    def move(self, node: Node, dx: float, dy: float) -> None:
        """Move a node with all that is in it."""
        box = self.boxes[node.number]
        box.x, box.y = box.x + dx, box.y + dy
        for title in self.title_of.get(node.number, ()):
            title.x, title.y = title.x + dx, title.y + dy
        for _, inner in node.parts:
            for one in inner:
                self.move(one, dx, dy)


def in_layers(nodes: Sequence[Node], sources: Mapping[int, list[int]]) -> list[list[Node]]:
    """Assign nodes to layers by the longest path that leads to them; a node without operands is placed just above its first user."""
    depth: dict[int, int] = {}
    for node in nodes:
        depth[node.number] = max((depth[n] + 1 for n in sources[node.number]), default=0)
    readers: dict[int, list[int]] = {}
    for number, others in sources.items():
        for other in others:
            readers.setdefault(other, []).append(number)
    for node in reversed(nodes):
        if not sources[node.number] and node.kind != "parameter" and node.number in readers:
            depth[node.number] = min(depth[n] for n in readers[node.number]) - 1
    layers: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in nodes:
        layers[max(depth[node.number], 0)].append(node)
    return [layer for layer in layers if layer]


__all__ = ["Box", "Layout", "layout_of"]
