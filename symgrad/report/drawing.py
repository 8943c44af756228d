"""Draws a ``Graph`` with its ``Layout`` as SVG; nodes are linked to lines of the function."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.location import Loc
from symgrad.report.graph import Edge, Graph, Node
from symgrad.report.html import Html, element
from symgrad.report.layout import Box, Layout, layout_of

#: a graph with more nodes is not drawn
MOST = 400
LONG = 80  #: an edge that passes a layer is at least so high


def drawing(graph: Graph, key: Callable[[Loc], str]) -> Html:
    """Return the drawing; ``key`` returns the word that links a line to everything derived from it."""
    count = sum(1 for _ in graph.all_nodes())
    if count > MOST:
        return element(
            "p", f"The graph has {count} nodes, too many to be drawn: python -m symgrad graph prints it as text.", class_="empty"
        )
    layout = layout_of(graph)
    width, height = round(layout.width), round(layout.height)
    arrow = element(
        "defs",
        element(
            "marker",
            element("path", d="M0,0 L8,4 L0,8 z"),
            id="arrow",
            viewBox="0 0 8 8",
            refX="7",
            refY="4",
            markerWidth="7",
            markerHeight="7",
            orient="auto-start-reverse",
        ),
    )
    nodes = [piece for node in graph.nodes for piece in shapes(node, layout, key)]
    frames = [piece for kind, piece in nodes if kind == "frame"]
    others = [piece for kind, piece in nodes if kind == "node"]
    titles = [text(title, box.x + box.width / 2, box.y + box.height / 2, "part") for title, box in layout.titles]
    frame_boxes = frames_of(graph.nodes, layout)
    edges = [line(edge, layout, frame_boxes) for edge in graph.edges]
    return element(
        "svg",
        arrow,
        *frames,
        *titles,
        *edges,
        *others,
        class_="graph",
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="img",
        aria_label=f"The dataflow of {graph.name}",
    )


def shapes(node: Node, layout: Layout, key: Callable[[Loc], str]) -> list[tuple[str, Html]]:
    """A node as SVG, and those that it holds."""
    box = layout.boxes[node.number]
    tied = key(node.loc) if node.loc is not None and node.loc.line else None
    place = {"x": number(box.x), "y": number(box.y), "width": number(box.width), "height": number(box.height)}
    if node.kind in ("loop", "branch"):
        title = text(node.label, box.x + 10, box.y + 15, "frame-title")
        frame = element("g", element("rect", **place, rx="8"), title, class_=f"frame {node.kind}", data_key=tied)
        return [("frame", frame), *(piece for _, inner in node.parts for one in inner for piece in shapes(one, layout, key))]
    middle = box.x + box.width / 2
    rows = [text(node.label, middle, box.y + (16 if node.detail else box.height / 2), "label")]
    if node.detail:
        rows.append(text(node.detail, middle, box.y + 32, "detail"))
    radius = "13" if node.kind in ("parameter", "result") else "5"
    return [("node", element("g", element("rect", **place, rx=radius), *rows, class_=f"node {node.kind}", data_key=tied))]


def text(words: str, x: float, y: float, kind: str) -> Html:
    """A text around a point."""
    return element("text", words, x=number(x), y=number(y), class_=kind)


def line(edge: Edge, layout: Layout, frames: dict[int, Box]) -> Html:
    """Draw an edge: a curve from below its source to above its target; one to the next iteration runs along the side of the loop."""
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    if edge.back:
        frame = frames.get(edge.target, target)
        path = back_edge(source, target, frame.x + frame.width - 9)
    else:
        path = down(source, target)
    return element("path", d=path, class_="edge back" if edge.back else "edge", marker_end="url(#arrow)")


def frames_of(nodes: Sequence[Node], layout: Layout, frame: Box | None = None) -> dict[int, Box]:
    """Return for each node the box of its innermost frame."""
    boxes: dict[int, Box] = {}
    for node in nodes:
        if frame is not None:
            boxes[node.number] = frame
        for _, inner in node.parts:
            boxes |= frames_of(inner, layout, layout.boxes[node.number])
    return boxes


def inside(inner: Box, outer: Box) -> bool:
    """Whether a box is inside another."""
    return outer.x <= inner.x and outer.y <= inner.y and inner.x + inner.width <= outer.x + outer.width


def down(source: Box, target: Box) -> str:
    """Return a downward curve; a long one avoids the nodes between."""
    x1, y1 = source.x + source.width / 2, source.y + source.height
    x2, y2 = target.x + target.width / 2, target.y - 1
    if inside(target, source):  # from the head of a frame to its content
        x1, y1 = min(max(x2, source.x + 12), source.x + source.width - 12), source.y + 22
    bend = max(12.0, (y2 - y1) / 2)
    aside = 0.0 if y2 - y1 < LONG else (1 if x2 > x1 else -1) * (24 + (y2 - y1) / 7)
    points = [(x1 + aside, y1 + bend), (x2 + aside, y2 - bend), (x2, y2)]
    return f"M{number(x1)},{number(y1)} C{' '.join(f'{number(x)},{number(y)}' for x, y in points)}"


def back_edge(source: Box, target: Box, side: float) -> str:
    """A line back, along a side to the right of both."""
    x1, y1 = source.x + source.width, source.y + source.height / 2
    x2, y2 = target.x + target.width + 1, target.y + target.height / 2
    corner = 6 if y1 > y2 else -6
    turns = [f"M{number(x1)},{number(y1)}", f"H{number(side - 6)}", f"Q{number(side)},{number(y1)} {number(side)},{number(y1 - corner)}"]
    return " ".join([*turns, f"V{number(y2 + corner)}", f"Q{number(side)},{number(y2)} {number(side - 6)},{number(y2)}", f"H{number(x2)}"])


def number(value: float) -> str:
    """A coordinate, the same in every process."""
    return f"{value:.1f}".removesuffix(".0")


__all__ = ["drawing"]
