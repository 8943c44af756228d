"""Blocks of a page -> what the site shows: flowcharts as drawings, so that no script need be loaded for them, and emitted code in colours.

Of a flowchart in the language of Mermaid, nodes ``name["label"]`` and arrows ``name --> other`` are read; what an arrow leads to stands
above what it comes from.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape

from docutils import nodes
from sphinx.application import Sphinx

WIDTH, HEIGHT, GAP, LEVEL = 124, 30, 18, 68  #: of a box, between boxes, and from one level to the next


def drawing(text: str) -> str:
    """The chart as SVG, in the colours of the page."""
    labels: dict[str, str] = dict(re.findall(r'^ *(\w+)\["(.*?)"\]', text, re.MULTILINE))
    arrows: list[tuple[str, str]] = re.findall(r"^ *(\w+) --> (\w+)", text, re.MULTILINE)
    above = {name: [end for start, end in arrows if start == name] for name in labels}

    @cache
    def level(name: str) -> int:
        return 1 + max(map(level, above[name]), default=-1)

    rows: list[list[str]] = [[] for _ in range(1 + max(map(level, labels)))]
    for name in labels:
        rows[level(name)].append(name)
    wide = max(len(row) for row in rows) * (WIDTH + GAP)
    places = {}
    for depth, row in enumerate(rows):
        left = (wide - len(row) * (WIDTH + GAP) + GAP) / 2
        places |= {name: (left + k * (WIDTH + GAP), depth * LEVEL + 2) for k, name in enumerate(row)}
    lines = [curve(places[start], places[end]) for start, end in arrows]
    boxes = [box(*places[name], label) for name, label in labels.items()]
    size = f"0 0 {wide} {(len(rows) - 1) * LEVEL + HEIGHT + 4}"
    return f'<svg class="flowchart" role="img" aria-label="which package imports which" viewBox="{size}">{"".join(lines + boxes)}</svg>'


def curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """An arrow from the top of one box to the bottom of another."""
    x, y = start[0] + WIDTH / 2, start[1]
    to_x, to_y = end[0] + WIDTH / 2, end[1] + HEIGHT
    bend = (y - to_y) / 2
    head = f"M{to_x - 4} {to_y + 7} L{to_x} {to_y} L{to_x + 4} {to_y + 7}"
    return f'<path d="M{x} {y} C{x} {y - bend} {to_x} {to_y + bend} {to_x} {to_y} {head}"/>'


def box(x: float, y: float, label: str) -> str:
    """A box with its label."""
    text = f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT / 2 + 5}">{escape(label)}</text>'
    return f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5"/>{text}'


def show(app: Sphinx, document: nodes.document) -> None:
    """Put drawings in the place of charts, and let output that holds functions have the colours of Python."""
    for block in list(document.findall(nodes.literal_block)):
        if block.get("language") == "mermaid":
            block.replace_self(nodes.raw("", drawing(block.astext()), format="html"))
        elif block.get("language") == "text" and re.search(r"^def \w+\(", block.astext(), re.MULTILINE):
            # forced, for what is printed beside the function need not be Python
            block["language"], block["force"] = "python", True


def setup(app: Sphinx) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("doctree-read", show)
    return {"parallel_read_safe": True}
