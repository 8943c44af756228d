"""A ``Graph`` and its ``Layout`` -> SVG, in which nodes are tied to lines of the function."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.location import Loc
from symgrad.report.graph import Edge, Graph, Node
from symgrad.report.html import Html, element, join
from symgrad.report.layout import Box, Layout, layout_of

#: a graph with more nodes is not drawn
MOST = 400


def drawing(graph: Graph, key: Callable[[Loc], str]) -> Html:
    """The picture; ``key`` gives the word by which a line is tied to all that comes from it."""
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
    edges = [line(edge, layout) for edge in graph.edges]
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


def line(edge: Edge, layout: Layout) -> Html:
    """An edge: a curve from below its source to above its target; one to the next round goes back along the side."""
    source, target = layout.boxes[edge.source], layout.boxes[edge.target]
    path = back(source, target) if edge.back or target.y < source.y + source.height and not inside(target, source) else down(source, target)
    return element("path", d=path, class_="edge back" if edge.back else "edge", marker_end="url(#arrow)")


def inside(inner: Box, outer: Box) -> bool:
    """Does a box stand in another?"""
    return outer.x <= inner.x and outer.y <= inner.y and inner.x + inner.width <= outer.x + outer.width


def down(source: Box, target: Box) -> str:
    """A curve downwards."""
    x1, y1 = source.x + source.width / 2, source.y + (0 if inside(target, source) else source.height)
    x2, y2 = target.x + target.width / 2, target.y
    if inside(target, source):
        y1, x1 = source.y + 22, min(x2, source.x + source.width - 12)
    bend = max(12.0, (y2 - y1) / 2)
    return join(
        [f"M{number(x1)},{number(y1)} C{number(x1)},{number(y1 + bend)} {number(x2)},{number(y2 - bend)} {number(x2)},{number(y2 - 1)}"]
    )


def back(source: Box, target: Box) -> str:
    """A curve back, along the right of both."""
    x1, y1 = source.x + source.width, source.y + source.height / 2
    x2, y2 = target.x + target.width, target.y + target.height / 2
    side = max(x1, x2) + 26
    return f"M{number(x1)},{number(y1)} C{number(side)},{number(y1)} {number(side)},{number(y2)} {number(x2 + 1)},{number(y2)}"


def number(value: float) -> str:
    """A coordinate, the same in every process."""
    return f"{value:.1f}".removesuffix(".0")


__all__ = ["drawing"]
