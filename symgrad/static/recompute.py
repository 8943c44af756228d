"""Checkpoints: the operations that run again before their gradients.

Recomputing saves memory if a backward half saves every primal value. Generated code saves only the values that gradients need, so the
checkpoints change the listing and not the gradients.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

from symgrad.errors import BadArgument
from symgrad.functional import network
from symgrad.static.compiling import writes
from symgrad.static.program import Block, Branch, Description, Loop, Op, Step


class Segments:
    """The operations of a block between checkpoints; recomputed outputs are named ``<name>.subprog_<k>``."""

    def __init__(self, block: Block, steps: Sequence[Step], checkpoints: Sequence[str]) -> None:
        if checkpoints and any(isinstance(step, Branch | Loop) for step in steps):
            raise BadArgument("a branch or a loop cannot be computed again between checkpoints")
        self.order = [op.desc for op in block.ops if not op.desc.backward]
        self.maker = {name: place for place, desc in enumerate(self.order) for name in desc.outputs}
        self.ends = sorted({self.maker[name] for name in checkpoints if name in self.maker})
        needed = {name for step in steps for name in writes(step)}
        needed |= {name for desc in self.order if not needed.isdisjoint(desc.outputs) for name in desc.inputs if self.is_drawn(name)}
        self.again: list[list[Description]] = []
        self.renamed: list[dict[str, str]] = []
        for number, (start, end) in enumerate(pairwise([-1, *self.ends])):
            own = [desc for desc in self.order[start + 1 : end] if not needed.isdisjoint(desc.outputs)]
            new = {name: f"{name}.subprog_{number}" for desc in own for name in desc.outputs}
            for desc in own:
                self.seeded(block, desc)
            copies = [
                Description(
                    desc.kind,
                    [new.get(name, name) for name in desc.inputs],
                    [new[name] for name in desc.outputs],
                    dict(desc.attributes),
                    True,
                )
                for desc in own
            ]
            self.again.append(copies)
            self.renamed.append(new)

    def is_drawn(self, name: str) -> bool:
        """Whether it is computed from random numbers."""
        return name in self.maker and self.order[self.maker[name]].kind == network.keep_mask.__name__

    def seeded(self, block: Block, desc: Description) -> None:
        """Make random operations read a seed, so that recomputation draws the same numbers."""
        if self.is_drawn(desc.outputs[0]) and not any(name.endswith(".seed") for name in desc.inputs):
            seed = f"{desc.outputs[0]}.seed"
            place = next(k for k, op in enumerate(block.ops) if op.desc is desc)
            block.ops.insert(place, Op(block, Description("seed", [], [seed])))
            desc.inputs.append(seed)

    def of(self, step: Step) -> int | None:
        """Return the number of a step's segment; None after the last checkpoint."""
        place = self.maker.get(next(iter(writes(step)), ""), len(self.order))
        number = bisect_left(self.ends, place)
        return number if number < len(self.ends) else None
