"""The loops that ``checkpoints`` selects -> their places in the program, with their numbers of snapshots."""

from __future__ import annotations

from symgrad.adjoint.budget import Budget
from symgrad.errors import BadArgument
from symgrad.location import Loc
from symgrad.pipeline.job import Job


def budget_of(job: Job) -> Budget:
    """The snapshot budget of the loops of a program: by ``checkpoints`` and ``memory``. A name or line without a loop is refused."""
    chosen: dict[Loc, int] = {}
    for name, count in job.request.checkpoints:
        places = [loc for loc in job.lowered.loops if is_named(job, loc, name)]
        if not places:
            told = f"on line {name}" if isinstance(name, int) else f"over {name}"
            loops = sorted(job.lowered.loops.items(), key=lambda item: item[0].line)
            known = ", ".join(spoken(loc, variables) for loc, variables in loops)
            hint = f"its loops: {known}" if known else "it has no loop, or its rounds are written out one by one"
            raise BadArgument(f"there is no loop {told} whose rounds could be run again", job.source.loc(job.source.node), hint)
        chosen.update(dict.fromkeys(places, count))
    return Budget(chosen, job.request.memory)


def is_named(job: Job, loc: Loc, name: int | str) -> bool:
    """Whether a loop is on a line of the function's own file, or has a variable of that name."""
    if isinstance(name, int):
        return loc.line == name and loc.file == job.source.file
    return name in job.lowered.loops[loc]


def spoken(loc: Loc, variables: tuple[str, ...]) -> str:
    """A loop in messages: ``t (line 4)``."""
    return f"{', '.join(variables) or 'while'} (line {loc.line})"


__all__ = ["budget_of"]
