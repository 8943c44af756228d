"""Writes a record to files: the forward graph, the backward graph, and where each operation was recorded."""

from __future__ import annotations

import datetime
import linecache
from collections.abc import Sequence
from pathlib import Path

from symgrad.eager.node import Recorded, line_of
from symgrad.eager.tensor import Tensor
from symgrad.errors import required
from symgrad.files import write_file
from symgrad.text import one_line


def quoted(text: str) -> str:
    """A string of the DOT language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def label(tensor: Tensor) -> str:
    """Return the label of an edge: the tensor that flows along it."""
    return f"cpu {tensor.dtype} {tensor.shape}"


def dump(nodes: Sequence[Recorded], folder: str) -> None:
    """Write three files into a folder, which is made if it is not there.

    Raises AssertionError if ``folder`` is no string, OSError if it cannot be made.
    """
    required(isinstance(folder, str), f"dump_backward_graph_path must be a string, not {type(folder).__name__}")
    if not folder:
        raise OSError("dump_backward_graph_path is empty")
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise NotADirectoryError(f"{folder} is not a folder")
    place.mkdir(parents=True, exist_ok=True)
    stem = datetime.datetime.now().strftime("%Y-%m-%d_%H:%M:%S.%f_")
    texts = {"backward_graph.dot": drawn(nodes, True), "ref_forward_graph.dot": drawn(nodes, False), "call_stack.log": stacks(nodes)}
    for name, text in texts.items():
        content = text.encode(errors="replace")
        write_file(place / f"{stem}{name}", lambda file, content=content: file.write(content), lambda path: False, False)  # type: ignore[misc]


def drawn(nodes: Sequence[Recorded], backward: bool) -> str:
    """The graph in the DOT language; edges point as derivatives flow, or as values do."""
    names = {node: f"node_{k}" for k, node in enumerate(nodes)}
    lines = ["digraph G {", "  node [shape=box];"]
    suffix = "GradNode" if backward else ""
    for node, name in names.items():
        lines.append(f"  {name} [label={quoted(node.name + suffix)}];")
    leaves: dict[int, str] = {}
    for node, name in names.items():
        for edge in node.edges():
            tensor = edge.tensor
            if edge.node is not None:
                if edge.node not in names:
                    continue
                other = names[edge.node]
            elif id(tensor) in leaves:
                other = leaves[id(tensor)]
            else:
                other = leaves[id(tensor)] = f"leaf_{len(leaves)}"
                lines.append(f"  {other} [label={quoted('GradNodeAccumulation' if backward else tensor.name)}];")
            ends = (name, other) if backward else (other, name)
            lines.append(f"  {ends[0]} -> {ends[1]} [label={quoted(label(tensor))}];")
    return "\n".join([*lines, "}", ""])


def stacks(nodes: Sequence[Recorded]) -> str:
    """Where each operation was recorded."""
    lines = ["call stacks of the recorded operations, first to last"]
    for node in nodes:
        lines += ["", f"{node.name}:"]
        for code, place in node.stack:
            line = line_of(code, place)
            lines.append(f'  File "{one_line(code.co_filename)}", line {line}, in {one_line(code.co_name)}')
            if text := linecache.getline(code.co_filename, line).strip():
                lines.append(f"    {text}")
    return "\n".join([*lines, ""])
