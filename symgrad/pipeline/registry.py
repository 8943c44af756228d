"""Every pass, and the order in which they run for each target. ``python -m symgrad passes`` prints this page.

A pass is a record of ``PASSES``. A stage lists passes in order; ``PIPELINES`` lists the stages of each target,
top to bottom.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from symgrad.ops.analysis.contents import CONTENTS
from symgrad.pipeline.runner import Pass, Stage

ALL = ("loops", "stores", "derivative")

#: the passes by name; the first sentence of a pass function's docstring describes it
PASSES: dict[str, Pass] = {
    one.name: one
    for one in (
        # of any function
        Pass("observed", at="passes.simplification.dce:observed", preserves=("loops", "derivative"), optional=False),
        Pass("fold", at="passes.simplification", preserves=("derivative",), records=True),
        Pass("cse", at="passes.simplification", preserves=("derivative",), records=True),
        Pass("if_conversion", at="passes.control_flow", needs=("branches",), preserves=("derivative",)),
        Pass("dce", at="passes.simplification", preserves=("derivative",), records=True),
        Pass("cancelled_maxima", at="passes.simplification", needs=("extremes",), preserves=("loops", "derivative")),
        Pass("dot_products", at="passes.batching", takes=("guarded",), preserves=("loops", "derivative")),
        Pass(
            "scalar_replacement",
            at="passes.representation",
            needs=("known arrays in loops",),
            takes=("compiled",),
            preserves=("loops", "derivative"),
        ),
        Pass("batch", at="passes.batching", needs=("batches",), takes=("guarded",), preserves=("derivative",)),
        Pass(
            "primal_invariants",
            at="passes.control_flow.loop_invariants:primal_invariants",
            needs=("loops",),
            takes=("guarded",),
            preserves=("derivative",),
        ),
        # of gradients
        Pass("branch_fusion", at="passes.control_flow", needs=("reversed branches",)),
        Pass("loop_invariants", at="passes.control_flow", needs=("loops",), preserves=("loops",)),
        Pass("dead_tapes", at="passes.simplification.dce:dead_tapes", needs=("tapes",), preserves=("loops",)),
        Pass("remarks.kept", needs=("remarks",), at="adjoint.saving.remarks:tell_kept", preserves=ALL),
        Pass("remarks.doubts", needs=("remarks",), at="passes.simplification.doubts:doubts", preserves=ALL),
        # for NumPy, and for text that is read
        Pass("constant_lists", at="passes.simplification", needs=("lists",), preserves=("loops", "stores", "derivative")),
        # for text that is read
        Pass("verbatim", at="passes.reading"),
        Pass("added", at="passes.reading.readable:added"),
        Pass("repeated", at="passes.reading.readable:repeated", preserves=("loops",)),
        Pass("sunk", at="passes.reading.readable:sunk"),
        Pass("earlier", at="passes.reading"),
        Pass("current_shapes", at="passes.reading.readable:current_shapes", preserves=("loops",)),
        # for files
        Pass("stack_tapes", at="passes.memory", optional=False),
        Pass("tape_splitting", at="passes.memory", requires=("stack_tapes",), optional=False),
        # for NumPy
        Pass("unread", at="passes.simplification.dce:unread", preserves=("loops", "stores")),
        Pass("zeroing", at="passes.memory", needs=("stores",)),
        Pass("hoisted_tapes", at="passes.control_flow", needs=("tapes in loops",)),
        Pass("forwarding", at="passes.memory", needs=("stores",)),
        Pass("masks", at="passes.memory", needs=("parts", "stores", "additions")),
        Pass("scatter_add", at="passes.memory", needs=("additions",), preserves=("loops",)),
        Pass("peephole", at="passes.simplification", preserves=("loops",)),
        Pass("outer_products", at="passes.batching", needs=("products",)),
        Pass("dead_zeroing", at="passes.memory", needs=("stores",), preserves=("loops",)),
        Pass("first_writes", at="passes.memory", needs=("additions",), preserves=("loops",)),
        Pass("reversals", at="passes.control_flow", needs=("additions",), preserves=("loops", "stores")),
        Pass("copy_elision", at="passes.memory", needs=("parts",), preserves=("loops", "stores")),
        Pass("unbox", at="passes.representation", preserves=("loops",)),
        Pass("unbox_plainly", at="passes.representation.unbox:unbox_plainly", preserves=("loops",)),
        Pass("array_to_list", at="passes.representation", needs=("cells in loops",)),
        Pass("list_layout", at="passes.representation", needs=("cell lists",), requires=("array_to_list",)),
        Pass("counters", at="passes.simplification", needs=("parts in loops",), preserves=("loops", "stores")),
        Pass("row_tiling", at="passes.batching", needs=("chains",)),
        Pass("buffer_reuse", at="passes.memory", preserves=("loops",)),
        # for kernels: array statements
        Pass("half_fusion", at="passes.control_flow", needs=("branches",)),
        Pass("loops.crossing", at="loops.lists", optional=False),
        Pass("loops.texts", at="loops.lists"),
        Pass("loops.list_lengths", at="loops.lists", preserves=("stores",)),
        Pass("loops.trying", at="loops.transforms", needs=("failures",)),
        Pass("loops.leaving", at="loops.transforms", needs=("branches",)),
        Pass("loops.predicates", at="loops.rows"),
        Pass("loops.tape_reads", at="loops.tapes", needs=("stores",)),
        Pass("loops.saved_reductions", at="loops.tapes", needs=("loops",)),
        Pass("loops.ordering", needs=("sorts",), at="loops.rows.ordering:sorted_once"),
        Pass("loops.messages", at="loops.lower:without_messages", optional=False),
        Pass("loops.float_widths", at="loops.transforms", preserves=("loops", "stores"), optional=False),
        Pass("loops.empties", at="loops.lists", preserves=("loops", "stores"), optional=False),
        Pass("loops.ranks", at="loops.transforms", preserves=("loops", "stores")),
        Pass("loops.definedness", at="loops.transforms", takes=("unsure",), preserves=("loops",), optional=False),
        # for kernels: loops over numbers
        Pass("loops.loop_fusion", at="loops.transforms", takes=("writer",), loose=True, on_block=True),
        Pass("loops.array_contraction", at="loops.transforms", takes=("writer",), loose=True, on_block=True),
        Pass("loops.buffers", at="loops.transforms", takes=("writer",), loose=True, on_block=True),
        Pass("loops.tiling", at="loops.transforms", takes=("writer",), loose=True, on_block=True),
        Pass("loops.column_layout", at="loops.transforms", takes=("writer",), loose=True, on_block=True),
        Pass("loops.unaliased", at="loops.transforms.buffers:unaliased", optional=False, loose=True, on_block=True),
        Pass("loops.ssa", at="loops.transforms", requires=("loops.unaliased",), optional=False, loose=True),
        Pass("loops.finiteness", at="loops.transforms", requires=("loops.ssa",), on_block=True, loose=True),
        Pass("loops.checks", at="loops.transforms.checks:checks_first", preserves=("loops",), requires=("loops.ssa",), on_block=True),
    )
}


def stage(name: str, passes: str) -> Stage:
    """A stage of the passes with these names."""
    return Stage(name, tuple(PASSES[word] for word in passes.split()))


# ------------------------------------------------------------------ stages of all targets

#: for a newly lowered function, before exceptions are part of its behaviour
LOWERED = stage("lowered", "observed")
#: before a function is differentiated, and for each half of a pullback
SIMPLIFY = stage("simplify", "fold cse if_conversion dce cancelled_maxima")
#: for a gradient
OPTIMISE = stage("optimise", "fold cse dce branch_fusion loop_invariants fold cse dce")
#: emits remarks for ``explain``
REMARKS = stage("remarks", "remarks.kept remarks.doubts")

# ------------------------------------------------------------------ NumPy code

#: brings a function to the form whose derivative runs fastest
PREPARE = stage(
    "prepare",
    "batch fold cse dce scalar_replacement fold cse if_conversion dce cancelled_maxima primal_invariants cse dce",
)
#: before anything is printed
PRINTABLE = stage("printable", "unread dce zeroing dce")
#: makes NumPy code faster, and its text less like the user's
LOWER = stage(
    "lower",
    "constant_lists hoisted_tapes forwarding dce dead_tapes masks scatter_add peephole cse outer_products "
    "dead_zeroing zeroing first_writes dce reversals copy_elision unbox array_to_list list_layout "
    "counters dce row_tiling buffer_reuse",
)
#: the same without a fallback for exceptions: for the halves of a pullback
LOWER_HALVES = stage(
    "lower halves",
    "constant_lists hoisted_tapes forwarding dce dead_tapes masks scatter_add peephole cse outer_products "
    "dead_zeroing zeroing first_writes dce reversals copy_elision unbox_plainly array_to_list "
    "list_layout counters dce buffer_reuse",
)
#: for a file: tapes are plain lists
FILED = stage("filed", "stack_tapes tape_splitting")

# ------------------------------------------------------------------ recorded programs

#: removes unread ops
LIVE = stage("live", "dce")
#: shows a program with each statement as recorded
SHOWN = stage("shown", "unread dce")

# ------------------------------------------------------------------ readable text

READABLE = stage("readable", "verbatim dce fold dce fold cse dce constant_lists added repeated dce sunk current_shapes dce earlier")

# ------------------------------------------------------------------ kernels

#: brings a function to the form whose derivative runs fastest as a kernel
PREPARE_COMPILED = stage(
    "prepare",
    "dot_products dce scalar_replacement fold cse if_conversion dce cancelled_maxima primal_invariants cse dce",
)
#: for a gradient as array statements, before lowering to loops; a pullback is split first, and its halves are not joined
ARRAYS = stage(
    "arrays",
    "loops.crossing loops.texts dce loops.list_lengths hoisted_tapes half_fusion loops.trying "
    "loops.leaving loops.predicates loops.tape_reads loops.saved_reductions loops.ordering "
    "loops.messages",
)
#: turns tapes with an unknown number of items into lists
GROWING = stage("growing tapes", "stack_tapes tape_splitting")
#: infers the type of every number, and the definedness of every name
NUMBERS = stage("numbers", "loops.empties loops.ranks loops.float_widths loops.definedness")
#: improves the loops that implement the array statements: values are handles of memory until ``loops.versions``
LOOPS = stage(
    "loops",
    "loops.loop_fusion loops.array_contraction loops.buffers loops.tiling loops.column_layout "
    "loops.unaliased loops.ssa loops.finiteness dce loops.checks",
)


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
            yield f"    {one.name:24}{one.summary}"
            yield f"    {'':24}({kind}{after}{needed}{preserved})"


__all__ = ["PASSES", "PIPELINES", "page"]
