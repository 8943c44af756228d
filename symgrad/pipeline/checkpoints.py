"""The loops that a derivative is to run again -> their places in the program, with the number of snapshots of each."""

from __future__ import annotations

from symgrad.errors import BadArgument
from symgrad.location import Loc
from symgrad.pipeline.job import Job


def loops_run_again(job: Job) -> dict[Loc, int]:
    """The places of the loops in ``checkpoints``; one that names no loop of the program is refused."""
    chosen: dict[Loc, int] = {}
    for name, count in job.request.checkpoints:
        places = [loc for loc in job.lowered.loops if is_named(job, loc, name)]
        if not places:
            what = f"there is no loop {f'on line {name}' if isinstance(name, int) else f'over {name}'} whose rounds could be run again"
            known = ", ".join(spoken(loc, variables) for loc, variables in sorted(job.lowered.loops.items(), key=lambda item: item[0].line))
            raise BadArgument(what, job.source.loc(job.source.node), f"its loops: {known}" if known else "it has no loop")
        chosen.update(dict.fromkeys(places, count))
    return chosen


def is_named(job: Job, loc: Loc, name: int | str) -> bool:
    """Is a loop the one on a line of the function's own file, or over a variable?"""
    if isinstance(name, int):
        return loc.line == name and loc.file == job.source.file
    return name in job.lowered.loops[loc]


def spoken(loc: Loc, variables: tuple[str, ...]) -> str:
    """A loop as it is told to the user: ``t (line 4)``."""
    return f"{', '.join(variables) or 'while'} (line {loc.line})"


__all__ = ["loops_run_again"]
