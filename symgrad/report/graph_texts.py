"""Prints a ``Graph`` in the languages of Mermaid and Graphviz (DOT)."""

from __future__ import annotations

import json
from collections.abc import Callable

from symgrad.report.graph import Graph, Node
from symgrad.text import one_line

#: how Mermaid writes the outline of a node
OUTLINES = {"parameter": ("([", "])"), "result": ("([", "])"), "join": ("{{", "}}"), "carried": ("(", ")")}
#: how Graphviz calls it
SHAPES = {"parameter": "ellipse", "result": "ellipse", "join": "hexagon", "carried": "box"}


def mermaid(graph: Graph) -> str:
    """The graph in the language of Mermaid.

    >>> from symgrad.report.graph import Edge, Graph, Node
    >>> print(mermaid(Graph("f", [Node(0, "parameter", "x", "float"), Node(1, "op", "tanh")], [Edge(0, 1, "x")])))
    flowchart TD
        n0(["x<br/>float"])
        n1["tanh"]
        n0 -->|"x"| n1
    """
    lines = ["flowchart TD"]

    def visit(node: Node, indent: str) -> None:
        if not node.parts and node.kind not in ("loop", "branch"):
            left, right = OUTLINES.get(node.kind, ("[", "]"))
            lines.append(f"{indent}n{node.number}{left}{quoted(node)}{right}")
            return
        lines.append(f"{indent}subgraph n{node.number} [{quoted(node)}]")
        for number, (title, nodes) in enumerate(node.parts):
            inner = indent + "    "
            if title:
                lines.append(f'{inner}subgraph n{node.number}p{number} ["{title}"]')
            for one in nodes:
                visit(one, inner + ("    " if title else ""))
            if title:
                lines.append(f"{inner}end")
        lines.append(f"{indent}end")

    def quoted(node: Node) -> str:
        """The label in quotes; Mermaid reads HTML entities in it."""
        return '"' + "<br/>".join(escaped(part) for part in (node.label, node.detail) if part) + '"'

    for node in graph.nodes:
        visit(node, "    ")
    for edge in graph.edges:
        arrow = "-.->" if edge.back else "-->"
        label = f'|"{escaped(edge.label)}"|' if edge.label else ""
        lines.append(f"    n{edge.source} {arrow}{label} n{edge.target}")
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Escape a label for Mermaid: characters other than letters, digits and blanks become numeric entities."""
    return "".join(c if c.isalnum() or c in " _.,:()=/" else f"#{ord(c)};" for c in one_line(text))


def dot(graph: Graph) -> str:
    """The graph in the DOT language."""
    lines = [f"digraph {json.dumps(one_line(graph.name))} {{", "    node [fontname=monospace, fontsize=10];"]

    def visit(node: Node, indent: str) -> None:
        label = json.dumps("\n".join(one_line(part) for part in (node.label, node.detail) if part), ensure_ascii=False)
        if not node.parts and node.kind not in ("loop", "branch"):
            lines.append(f"{indent}n{node.number} [label={label}, shape={SHAPES.get(node.kind, 'box')}];")
            return
        lines.append(f"{indent}subgraph cluster_{node.number} {{ label={label};")
        lines.append(f"{indent}    n{node.number} [label={json.dumps(node.kind)}, shape=plaintext];")
        for number, (title, nodes) in enumerate(node.parts):
            if title:
                lines.append(f"{indent}    subgraph cluster_{node.number}_{number} {{ label={json.dumps(title)};")
            for one in nodes:
                visit(one, indent + ("        " if title else "    "))
            if title:
                lines.append(f"{indent}    }}")
        lines.append(f"{indent}}}")

    for node in graph.nodes:
        visit(node, "    ")
    for edge in graph.edges:
        style = [f"label={json.dumps(one_line(edge.label), ensure_ascii=False)}"] if edge.label else []
        style += ["style=dashed", "constraint=false"] if edge.back else []
        lines.append(f"    n{edge.source} -> n{edge.target}{attributes(style)};")
    return "\n".join([*lines, "}"])


def attributes(style: list[str]) -> str:
    """Attributes of an edge in brackets, if there are any."""
    return f" [{', '.join(style)}]" if style else ""


FORMATS: dict[str, Callable[[Graph], str]] = {"mermaid": mermaid, "dot": dot}

__all__ = ["FORMATS", "dot", "mermaid"]
