"""Checks of the names in a request against the function: arguments in ``wrt``, and loops in ``checkpoints``.

The result may not depend on an argument, or two arguments may be one object. A checkpointed loop is named by its line or its variable.
"""

from __future__ import annotations

from symgrad.adjoint.analysis.activity import matters
from symgrad.adjoint.saving.budget import Budget
from symgrad.errors import BadArgument, NotActive, UnsureAlias
from symgrad.ir.core import Func
from symgrad.ir.types import Array, is_float
from symgrad.location import Loc
from symgrad.paths import meet
from symgrad.pipeline.job import Job
from symgrad.signature import Inactive
from symgrad.text import array_copy_of, root_of


def check_active(job: Job, func: Func, wrt: list[int], active: list[int]) -> None:
    """Record the arguments in ``wrt`` that the result does not depend on; with ``strict`` they are refused.

    Also refuses one object in two parts of an argument, where that matters: a step in one part would move both.
    """
    for one, other in job.lowered.aliases.items():
        if root_of(one) == root_of(other) and any(meet(path, job.request.wrt) for path in (one, other)):
            what = f"{one} and {other} are the same object, and the function changes it or tests its identity"
            raise UnsureAlias(what, job.parameter_loc(root_of(one)), "pass a copy in one of the two places")
    written, converted = {text for _, text in job.lowered.inputs}, dict(job.signature.converted)
    for path, item in job.signature.leaves():
        is_active = isinstance(item, Array) and is_float(item) and meet(path, job.request.wrt)
        if is_active and array_copy_of(path + converted.get(path, "")) in written:
            what = f"{path} is written to, where the caller sees it, and a gradient with respect to it is requested"
            raise UnsureAlias(what, job.parameter_loc(root_of(path)), "bind the attribute to a new array instead")
    silent = job.request.allow_unused or job.lowered.raises
    several = job.request.pullback or silent and job.request.guarded  # otherwise one object would have two tangents
    for group in () if several else job.signature.same:
        both = [name for name in job.request.wrt if name in group]
        if len(both) > 1:
            what = f"{both[0]} and {both[1]} are the same object, and the function writes to it"
            raise UnsureAlias(what, job.parameter_loc(both[1]), "take the gradient of one of the two, or pass a .copy()")
    if silent:
        return
    relevant = matters(func, wrt, active)
    for name in job.request.wrt:
        own = [k for k, _ in job.inputs_of(name) if k in wrt]
        if own and not any(k in relevant for k in own):
            told = report_inactive(job, name, own)
            if job.request.strict:
                raise NotActive(told.what, told.loc)
            job.inactive.append(told)


def report_inactive(job: Job, name: str, own: list[int]) -> Inactive:
    """The report on an argument that the result does not depend on: why, and where."""
    from symgrad.pipeline.inactive import in_text, why_inactive  # rarely needed

    lowered = job.stages["lowered"]
    results = lowered.body.yields[: job.output.count]
    reason = why_inactive(lowered, [lowered.params[k] for k in own], results, shapes=job.order == 1)
    if reason is None and job.order > 1:
        reason = f"the derivative that is differentiated here is the same for every {name}", lowered.loc
    why, loc = reason or in_text(job.source, root_of(name))
    return Inactive(
        f"the result does not depend on {name}: {why}", job.parameter_loc(root_of(name)) if loc is None or not loc.file else loc
    )


# ------------------------------------------------------------------ loops that run again


def budget_of(job: Job) -> Budget | None:
    """The memory budget of the loops, by ``checkpoints`` and ``memory``; None without limit. A line without a loop is refused."""
    if not job.request.checkpoints and job.request.memory is None:
        return None
    chosen: dict[Loc, int] = {}
    for name, count in job.request.checkpoints:
        places = [loc for loc in job.lowered.loops if is_named(job, loc, name)]
        if not places:
            told = f"on line {name}" if isinstance(name, int) else f"over {name}"
            loops = sorted(job.lowered.loops.items(), key=lambda item: item[0].line)
            known = ", ".join(spoken(loc, variables) for loc, variables in loops)
            hint = f"its loops: {known}" if known else "it has no loop, or its iterations are unrolled"
            raise BadArgument(f"there is no loop {told} whose iterations could run again", job.source.loc(job.source.node), hint)
        chosen.update(dict.fromkeys(places, count))
    return Budget(chosen, job.request.memory)


def is_named(job: Job, loc: Loc, name: int | str) -> bool:
    """Whether a loop is on a line of the function's own file, or has a variable of that name."""
    if isinstance(name, int):
        return loc.line == name and loc.file == job.source.file
    return name in job.lowered.loops[loc]


def spoken(loc: Loc, variables: tuple[str, ...]) -> str:
    """A loop in a message: ``t (line 4)``."""
    return f"{', '.join(variables) or 'while'} (line {loc.line})"


__all__ = ["budget_of", "check_active"]
