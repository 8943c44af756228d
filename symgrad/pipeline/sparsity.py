"""A job -> the function that returns, for arguments, the frame of a sparse Jacobian: see ``symgrad/sparsity/frame.py``."""

from __future__ import annotations

import itertools
from string import Formatter

from symgrad.codegen.texts import Emitted
from symgrad.frontend.containers.results import Result
from symgrad.ir.core import Func
from symgrad.pipeline.emission import argument_names, seed_places
from symgrad.pipeline.job import Job, document, numbered, parameter_text, sequence, with_leaves
from symgrad.sparsity.frame import Frame, Program
from symgrad.text import docstring


def frame_emission(job: Job, func: Func, wrt: list[int], active: list[int], name: str) -> Emitted:
    """The text of the function, and its global names."""
    taken = [*job.signature.names, *job.lowered.objects, name]
    frame, program, leaves, tree = argument_names([*taken, "frame", "program", "leaves", "tree"])[len(taken) :]
    converted = dict(job.signature.converted)
    reads = [text + converted.get(text, "") for _, text in job.lowered.inputs]
    order: list[int] = []
    places = {k: n for n, k in enumerate(wrt)}
    parts = tuple(job.structure(own, own, job.signature[own], places, order) for own in job.request.wrt)
    tangents = filled(numbered(sequence(parts, "(", ")"), iter(order)), leaves)
    gradients = job.gradients(places, [])
    lines = [
        f"def {name}({parameter_text(job)}):",
        f"    {docstring(document(job, 'What a sparse Jacobian needs'))}",
        f"    return {frame}(",
        f"        {program},",
        f"        {listed(reads)},",
        f"        lambda {leaves}: {tangents},",
        f"        lambda {tree}: {listed([path for path, _ in seed_places(job.output, tree)])},",
        f"        lambda {leaves}: {filled(numbered(job.output, itertools.count()), leaves)},",
        f"        lambda {tree}: {listed(reads_of(gradients, order, tree))},",
        f"        lambda {leaves}: {matrices(job, wrt, leaves)},",
        "    )",
    ]
    of = Program(func, tuple(wrt), tuple(active), job.lowered.objects, tuple(job.lowered.mutated))
    return Emitted("\n".join(lines) + "\n", {frame: Frame, program: of, **job.lowered.objects})


def matrices(job: Job, wrt: list[int], leaves: str) -> str:
    """The text of the returned value: for each leaf of the result the matrices of all argument leaves, in their structures."""
    order: list[int] = []
    of_leaves = [job.gradients({k: number * len(wrt) + n for n, k in enumerate(wrt)}, order) for number in range(job.output.count)]
    return filled(numbered(with_leaves(job.output, of_leaves), iter(order)), leaves)


def reads_of(gradients: Result, order: list[int], tree: str) -> list[str]:
    """The paths of gradients, in the order of the arguments' leaves."""
    paths = dict(zip(order, (path for path, _ in seed_places(gradients, tree)), strict=True))
    return [paths[place] for place in sorted(paths)]


def filled(template: str, leaves: str) -> str:
    """A template over leaves in a list.

    >>> filled("{{'a': {1}}}", "leaves")
    "{'a': leaves[1]}"
    """
    count = 1 + max((int(place) for _, place, _, _ in Formatter().parse(template) if place), default=-1)
    return template.format(*(f"{leaves}[{k}]" for k in range(count)))


def listed(items: list[str]) -> str:
    """A tuple, as text.

    >>> listed(["x"])
    '(x,)'
    """
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


__all__ = ["frame_emission"]
