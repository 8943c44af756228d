"""A job -> words of its texts: the parameters, the docstring, the lines of the user's source that comments quote."""

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable
from typing import Any

from symgrad.location import Loc
from symgrad.pipeline.job import Job
from symgrad.text import one_line


def document(job: Job, what: str) -> str:
    where = job.source.loc(job.source.node)
    wrt = ", ".join(job.request.wrt)
    return f"{what} of {job.source.name} with respect to {wrt}.  Written by symgrad from {file_name(where)}:{where.line}."


def free_name(job: Job, wish: str, *ends: str) -> str:
    """A name that, with any of these ends, none of the user's objects has in the text: the function itself may be one of them."""
    taken = job.lowered.objects
    wishes = itertools.chain((wish,), (f"{wish}_{n}" for n in itertools.count(1)))
    return next(name for name in wishes if not any(f"{name}{end}" in taken for end in ends))


def file_name(where: Loc) -> str:
    """The name of a file, safe inside a docstring."""
    file = one_line(where.file).replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in file if c.isalnum() or c in "._- <>")


def lines_of(job: Job) -> Callable[[str, int], str]:
    def line(file: str, number: int) -> str:
        if file == job.source.file:
            return job.source.line(number)
        return linecache.getline(file, number).rstrip("\n")

    return line


STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def parameter_text(job: Job) -> str:
    """The user's own parameters; defaults are read from the user's function by the guard."""
    if job.outside is not None:
        return job.outside.signature
    parts, star = [], False
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            star = True
        parts.append(f"{STARS.get(p.kind, '')}{p.name}")
        if p.kind is p.POSITIONAL_ONLY:
            rest = [q for q in inspect.signature(job.source.function).parameters.values() if q.kind is q.POSITIONAL_ONLY]
            if p.name == rest[-1].name:
                parts.append("/")
    return ", ".join(parts)


def passed_text(job: Job) -> str:
    """The same parameters, handed on."""
    if job.outside is not None:
        return job.outside.passed
    parts = []
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        parts.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{STARS.get(p.kind, '')}{p.name}")
    return ", ".join(parts)
