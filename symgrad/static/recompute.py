"""Checkpoints: which operations are listed once more before their gradients.

Recomputing saves memory where a backward half keeps what the forward half made. Code made by the engine
keeps only what gradients need, so the checkpoints change what is listed and give the same gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.static.compiling import writes
from symgrad.static.program import Block


def listed_again(block: Block, found: Any, checkpoints: Sequence[str], targets: Sequence[str]) -> None:
    """List the operations between checkpoints a second time, their results named ``<name>.subprog_<k>``."""
    order = [op for op in block.ops if any(name in block.vars for name in op.desc.outputs)]
    places = sorted(k for k, op in enumerate(order) if set(op.desc.outputs) & set(checkpoints))
    needed = {name for step in found.steps for name in writes(step)}
    start = 0
    for number, place in enumerate(places):
        for op in order[start:place]:
            if needed.isdisjoint(op.desc.outputs):
                continue
            outs = [name if name in checkpoints or name in targets else f"{name}.subprog_{number}" for name in op.desc.outputs]
            block.listed(op.type, op.desc.inputs, outs, **op.desc.attributes).desc.backward = True
        start = place + 1
