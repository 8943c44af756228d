"""Every pass, and the order in which they run for each target. ``python -m symgrad passes`` prints this page.

A pass is a record of ``PASSES``. A stage lists passes in order; ``PIPELINES`` lists the stages of each target,
top to bottom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symgrad.passes.contents import CONTENTS
from symgrad.pipeline.runner import Pass, Stage

ALL = ("loops", "stores", "derivative")

#: the passes by name; the first sentence of a pass function's docstring describes it
PASSES: dict[str, Pass] = {
    one.name: one
    for one in (
        # of any function
        Pass("observed", at="passes.dce:observed", preserves=("loops", "derivative"), optional=False),
        Pass("fold", preserves=("derivative",)),
        Pass("cse", preserves=("derivative",)),
        Pass("conditions", needs=("branches",), preserves=("derivative",)),
        Pass("dce", preserves=("derivative",)),
        Pass("cancel", needs=("extremes",), preserves=("loops", "derivative")),
        Pass("paired", takes=("guarded",), preserves=("loops", "derivative")),
        Pass("aggregates", needs=("known arrays in loops",), takes=("compiled",), preserves=("loops", "derivative")),
        Pass("batch", needs=("batches",), takes=("guarded",), preserves=("derivative",)),
        Pass("lift", at="passes.hoist:lift", needs=("loops",), takes=("guarded",), preserves=("derivative",)),
        # of gradients
        Pass("joined", needs=("reversed branches",)),
        Pass("hoist", needs=("loops",), preserves=("loops",)),
        Pass("kept", at="passes.dce:kept", needs=("tapes",), preserves=("loops",)),
        Pass("remarks.kept", needs=("remarks",), at="adjoint.account:tell_kept", preserves=ALL),
        Pass("remarks.doubts", needs=("remarks",), at="passes.doubts:doubts", preserves=ALL),
        # for text that is read
        Pass("verbatim"),
        Pass("added", at="passes.readable:added"),
        Pass("repeated", at="passes.readable:repeated", preserves=("loops",)),
        Pass("sunk", at="passes.readable:sunk"),
        Pass("earlier"),
        Pass("current_shapes", at="passes.readable:current_shapes", preserves=("loops",)),
        # for files
        Pass("stacks", optional=False),
        Pass("apart", requires=("stacks",), optional=False),
        # for NumPy
        Pass("unread", at="passes.dce:unread", preserves=("loops", "stores")),
        Pass("zeroing", needs=("stores",)),
        Pass("refilled", needs=("tapes in loops",)),
        Pass("forwarding", needs=("stores",)),
        Pass("masks", needs=("parts", "stores", "additions")),
        Pass("scatter", needs=("additions",), preserves=("loops",)),
        Pass("leaner", preserves=("loops",)),
        Pass("outer", needs=("products",)),
        Pass("uncleared", needs=("stores",), preserves=("loops",)),
        Pass("first_writes", needs=("additions",), preserves=("loops",)),
        Pass("turned", needs=("additions",), preserves=("loops", "stores")),
        Pass("borrow", needs=("parts",), preserves=("loops", "stores")),
        Pass("unbox", preserves=("loops",)),
        Pass("unbox_plainly", at="passes.unbox:unbox_plainly", preserves=("loops",)),
        Pass("cells", needs=("cells in loops",)),
        Pass("between", needs=("cell lists",), requires=("cells",)),
        Pass("counters", needs=("parts in loops",), preserves=("loops", "stores")),
        Pass("strips", needs=("chains",)),
        Pass("reuse", preserves=("loops",)),
        # for kernels: array statements
        Pass("halves", needs=("branches",)),
        Pass("loops.crossing", optional=False),
        Pass("loops.texts"),
        Pass("loops.counted", preserves=("stores",)),
        Pass("loops.trying", needs=("failures",)),
        Pass("loops.leaving", needs=("branches",)),
        Pass("loops.predicates"),
        Pass("loops.recalled", needs=("stores",)),
        Pass("loops.rounds", needs=("loops",)),
        Pass("loops.ordering", needs=("sorts",), at="loops.ordering:sorted_once"),
        Pass("loops.messages", at="loops.lower:without_messages", optional=False),
        Pass("loops.widths", preserves=("loops", "stores"), optional=False),
        Pass("loops.empties", preserves=("loops", "stores"), optional=False),
        Pass("loops.ranks", preserves=("loops", "stores")),
        Pass("loops.bound", takes=("unsure",), preserves=("loops",), optional=False),
        # for kernels: loops over numbers
        Pass("loops.merge", takes=("writer",), loose=True, on_block=True),
        Pass("loops.contract", takes=("writer",), loose=True, on_block=True),
        Pass("loops.buffers", takes=("writer",), loose=True, on_block=True),
        Pass("loops.strips", takes=("writer",), loose=True, on_block=True),
        Pass("loops.columns", takes=("writer",), loose=True, on_block=True),
        Pass("loops.unaliased", at="loops.buffers:unaliased", optional=False, loose=True, on_block=True),
        Pass("loops.versions", requires=("loops.unaliased",), optional=False, loose=True),
        Pass("loops.finite", requires=("loops.versions",), on_block=True, loose=True),
        Pass("loops.checks", at="loops.checks:checks_first", preserves=("loops",), requires=("loops.versions",), on_block=True),
    )
}


def stage(name: str, passes: str) -> Stage:
    """A stage of the passes with these names."""
    return Stage(name, tuple(PASSES[word] for word in passes.split()))


# ------------------------------------------------------------------ stages of all targets

#: for a newly lowered function, before exceptions are part of its behaviour
LOWERED = stage("lowered", "observed")
#: before a function is differentiated, and for each half of a pullback
SIMPLIFY = stage("simplify", "fold cse conditions dce cancel")
#: for a gradient
OPTIMISE = stage("optimise", "fold cse dce joined hoist fold cse dce")
#: emits remarks for ``explain``
REMARKS = stage("remarks", "remarks.kept remarks.doubts")

# ------------------------------------------------------------------ NumPy code

#: brings a function to the form whose derivative runs fastest
PREPARE = stage("prepare", "batch fold cse dce aggregates fold cse conditions dce cancel lift cse dce")
#: before anything is printed
PRINTABLE = stage("printable", "unread dce zeroing dce")
#: makes NumPy code faster, and its text less like the user's
LOWER = stage("lower", "refilled forwarding dce kept masks scatter leaner cse outer uncleared zeroing first_writes dce turned borrow"
              " unbox cells between counters dce strips reuse")  # fmt: skip
#: the same without a fallback for exceptions: for the halves of a pullback
LOWER_HALVES = stage("lower halves", "refilled forwarding dce kept masks scatter leaner cse outer uncleared zeroing first_writes dce turned"
                     " borrow unbox_plainly cells between counters dce reuse")  # fmt: skip
#: for a file: tapes are plain lists
FILED = stage("filed", "stacks apart")

# ------------------------------------------------------------------ recorded programs

#: removes unread ops
LIVE = stage("live", "dce")
#: shows a program with each statement as recorded
SHOWN = stage("shown", "unread dce")

# ------------------------------------------------------------------ readable text

READABLE = stage("readable", "verbatim dce fold dce fold cse dce added repeated dce sunk current_shapes dce earlier")

# ------------------------------------------------------------------ kernels

#: brings a function to the form whose derivative runs fastest as a kernel
PREPARE_COMPILED = stage("prepare", "paired dce aggregates fold cse conditions dce cancel lift cse dce")
#: for a gradient as array statements, before lowering to loops; a pullback is split first, and its halves are not joined
ARRAYS = stage("arrays", "loops.crossing loops.texts dce loops.counted refilled halves loops.trying loops.leaving loops.predicates"
               " loops.recalled loops.rounds loops.ordering loops.messages")  # fmt: skip
#: turns tapes with an unknown number of items into lists
GROWING = stage("growing tapes", "stacks apart")
#: infers the type of every number, and the definedness of every name
NUMBERS = stage("numbers", "loops.empties loops.ranks loops.widths loops.bound")
#: improves the loops that implement the array statements: values are handles of memory until ``loops.versions``
LOOPS = stage("loops", "loops.merge loops.contract loops.buffers loops.strips loops.columns loops.unaliased loops.versions loops.finite dce"
              " loops.checks")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Step:
    """A transformation between stages that is no pass, because it creates another function."""

    name: str
    summary: str


READ = Step("read", "The frontend reads the user's function and lowers it to the IR.")
DIFFERENTIATE = Step("differentiate", "The adjoint: the IR of a function becomes the IR of its gradient.")
WALK = Step("walk", "Array statements become loops over numbers.")
PRINT = Step("print", "The IR becomes Python text; nothing is rewritten any more.")

#: the stages and steps for each target, in order
PIPELINES: dict[str, tuple[Stage | Step, ...]] = {
    "numpy": (READ, LOWERED, SIMPLIFY, PREPARE, DIFFERENTIATE, OPTIMISE, REMARKS, PRINTABLE, LOWER, PRINT),
    "pullback": (READ, LOWERED, SIMPLIFY, PREPARE, DIFFERENTIATE, OPTIMISE, REMARKS, SIMPLIFY, PRINTABLE, LOWER_HALVES, PRINT),
    "numba": (READ, LOWERED, SIMPLIFY, PREPARE_COMPILED, DIFFERENTIATE, OPTIMISE, REMARKS, ARRAYS, NUMBERS, WALK, LOOPS, OPTIMISE, PRINT),
    "read": (READ, LOWERED, SIMPLIFY, DIFFERENTIATE, READABLE, PRINTABLE, PRINT),
    "file": (READ, LOWERED, SIMPLIFY, DIFFERENTIATE, OPTIMISE, PRINTABLE, FILED, PRINT),
}


def import_passes(target: str) -> None:
    """Import every pass that runs for a target."""
    for part in PIPELINES[target]:
        if isinstance(part, Stage):
            for one in part.passes:
                one.function  # noqa: B018  # looking it up imports its module


def page(target: str) -> Iterator[str]:
    """The pipeline of a target as lines of text."""
    yield f"{target}:"
    for part in PIPELINES[target]:
        if isinstance(part, Step):
            yield f"  {part.name}: {part.summary}"
            continue
        yield f"  {part.name}"
        for one in part.passes:
            kind = "optional" if one.optional else "required"
            after = f"; after {', '.join(one.requires)}" if one.requires else ""
            needed = f"; only for {', or '.join(CONTENTS[word] for word in one.needs)}" if one.needs else ""
            preserved = f"; preserves {', '.join(one.preserves)}" if one.preserves else ""
            yield f"    {one.name:18}{one.summary}"
            yield f"    {'':18}({kind}{after}{needed}{preserved})"


__all__ = ["PASSES", "PIPELINES", "import_passes", "page"]
