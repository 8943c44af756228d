"""A job -> words of its texts: the parameters, the docstring, the quoted lines of the user's source."""

from __future__ import annotations

import inspect
import itertools
import linecache
from collections.abc import Callable
from typing import Any

from symgrad.location import Loc
from symgrad.pipeline.job import Job
from symgrad.runtime.batches import BATCH
from symgrad.text import one_line

#: the attribute of a Hessian-vector product's function: the gradient that it differentiates, and the name of its vector
ALONG = "__symgrad_along__"


def document(job: Job, what: str) -> str:
    """The docstring of a derivative, or of one half of it."""
    wrt = ", ".join(job.request.wrt)
    return f"{what} of {described(job)} with respect to {wrt}.  Written by symgrad{origin(job)}."


def own_document(job: Job) -> str:
    """The docstring of a function without a derivative."""
    return f"The function {described(job)} itself.  Written by symgrad{origin(job)}."


def described(job: Job) -> str:
    """The name of the function; a batched function is named after its callee."""
    batch = getattr(job.source.function, BATCH, None)
    return job.source.name if batch is None else one_line(repr(batch))


def origin(job: Job) -> str:
    """The source location of the function, in words."""
    function: Any = job.source.function
    if (product := getattr(function, ALONG, None)) is not None:
        function = product[0]._function
    elif not hasattr(function, BATCH):
        where = job.source.loc(job.source.node)
        return f" from {file_name(where)}:{where.line}"
    while (batch := getattr(function, BATCH, None)) is not None:
        function = getattr(batch.function, "_function", batch.function)
    code = getattr(function, "__code__", None)
    return "" if code is None else f" from {file_name(Loc(code.co_filename, code.co_firstlineno))}:{code.co_firstlineno}"


def free_name(job: Job, wish: str, *ends: str) -> str:
    """A name that, with each of these suffixes, is not used by the user's objects; the function itself may be one of them."""
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
    """The same parameters, as arguments of a call."""
    if job.outside is not None:
        return job.outside.passed
    parts = []
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        parts.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{STARS.get(p.kind, '')}{p.name}")
    return ", ".join(parts)
