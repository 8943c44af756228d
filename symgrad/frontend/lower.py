"""A function and the types of its arguments -> ``Lowered``: repeats attempts while an attempt reports facts that the next one needs."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from symgrad.abstraction import laid_out_as
from symgrad.errors import SymgradError, UnsupportedSyntax, UnsureAlias
from symgrad.frontend.attempt import Attempt
from symgrad.frontend.calls import attributes
from symgrad.frontend.constructs import (
    calls,
    class_definitions,
    comprehensions,
    copying,
    expressions,
    loops,
    managers,
    match,
    raising,
    statements,
    try_statements,
)
from symgrad.frontend.containers.results import Lowered
from symgrad.frontend.library import arrays, builtins, complexes, factors, folding, fourier, iterators, keyed, number_builtins, ordering
from symgrad.frontend.memory import failing
from symgrad.frontend.objects import running
from symgrad.frontend.objects.opaque import source_of_library
from symgrad.frontend.state.caller import Captured
from symgrad.frontend.state.interruptions import AssignedOutside, CallsItself, GivenUp, LoggersChange, NeedsState, Recapture, StoredOutside
from symgrad.frontend.text.source import Source
from symgrad.frontend.values import comparison, lists, operators, truths
from symgrad.identity import Same
from symgrad.ir.core import Call, Const, Func, Op, Value, reachable, walk
from symgrad.notes import Note, Notes
from symgrad.ops.composed import composed
from symgrad.paths import meet
from symgrad.signature import Signature, is_relation

#: importing these modules fills the tables
CONSTRUCTS = (
    *(
        arrays,
        attributes,
        builtins,
        calls,
        class_definitions,
        comparison,
        complexes,
        comprehensions,
        copying,
        expressions,
        factors,
        failing,
        folding,
        fourier,
    ),
    *(iterators, keyed, lists, loops, managers, match, number_builtins, operators, ordering, raising, running, statements, truths),
    try_statements,
)
RESTARTS = 200


def lower(
    source: Source,
    signature: Signature,
    *,
    derive: Callable[..., Any] | None = None,
    varied: Varied | None = None,
    no_grad: Iterable[str] = (),
    wrt: Iterable[str] = (),
    pins: Mapping[str, Any] | None = None,
    notes: Notes | None = None,
    keeps_text: bool = False,
    keeps_calls: bool = False,
) -> Lowered:
    """Lower a function for a signature. All refusals are reported at once.

    ``pins`` are integers, by the expression that reads them, whose value is part of the signature.
    ``notes`` collects remarks about decisions, here and in later stages. If it ``keeps_text``,
    values keep the text of the user's expressions; if it ``keeps_calls``, user functions that are called at
    several places become functions of the program. ``varied`` is the activity analysis; without it
    no library source is lowered.
    """

    met: set[Same] = set()

    def attempted(read_sources: frozenset[Same]) -> Result:
        return attempt_until_known(
            source,
            signature,
            frozenset(wrt),
            Options(derive, frozenset(no_grad), pins or {}, notes is not None, keeps_text, keeps_calls, read_sources, met),
        )

    result = attempted(frozenset()) if varied is None else with_sources_of_libraries(attempted, met, wrt, varied)
    if notes is not None:
        tell(notes, source, result.told or (), pins or {}, result.refused)
        for func in reachable(result.lowered.func):
            func.notes = notes
    return result.lowered


def with_sources_of_libraries(attempted: Callable[[frozenset[Same]], Result], met: set[Same], wrt: Iterable[str], varied: Varied) -> Result:
    """Lower a function with the sources of those library functions that a derivative passes through.

    A function whose source cannot be lowered is opaque, and refused where its derivative is needed.
    If the whole function is refused, opaque results may be the cause: then the sources of all
    functions that were ``met`` are lowered.
    """
    read_sources = frozenset[Same]()
    try:
        result = attempted(read_sources)
    except SymgradError:
        read, read_sources = with_all_met(attempted, met, None, read_sources)
        if read is None or has_composition(read_sources) and passes_unread(read.lowered, wrt, varied):
            raise
        result = read
    while calls_unread(result.lowered) and (unread := unread_sources(result.lowered, wrt, varied) - read_sources):
        read_sources |= unread
        further, read_sources = with_all_met(attempted, met, unless_refused(attempted, read_sources), read_sources)
        if further is None:
            break
        result = further
    return result


def with_all_met(
    attempted: Callable[[frozenset[Same]], Result], met: set[Same], result: Result | None, read_sources: frozenset[Same]
) -> tuple[Result | None, frozenset[Same]]:
    """A result, or that of attempts with the sources of all functions that were met, which may call further ones."""
    while result is None and met - read_sources:
        read_sources |= frozenset(met)
        result = unless_refused(attempted, read_sources)
    return result, read_sources


def calls_unread(lowered: Lowered) -> bool:
    """Whether a program calls a function that is opaque."""
    return any(isinstance(op, Call) and op.name in UNREAD for func in reachable(lowered.func) for op in walk(func.body))


def has_composition(sources: frozenset[Same]) -> bool:
    """Whether one of these has a composition that has refused the call: its message is more useful than a later one."""
    return any(composed(source.value) is not None for source in sources)


def unless_refused(attempted: Callable[[frozenset[Same]], Result], read_sources: frozenset[Same]) -> Result | None:
    """The result of an attempt, or None; a refusal that names an integer is raised, so that the integer is made static."""
    try:
        return attempted(read_sources)
    except SymgradError as refusal:
        if any(error.pin for error in refusal.errors):
            raise
        return None


@dataclass(frozen=True, slots=True)
class Options:
    """The options shared by all attempts: see ``Attempt``."""

    derive: Callable[..., Any] | None
    no_grad: frozenset[str]
    pins: Mapping[str, Any]
    tells: bool
    keeps_text: bool
    keeps_calls: bool
    read_sources: frozenset[Same]
    met: set[Same]  #: collects the library functions and classes whose source was not lowered


@dataclass(frozen=True, slots=True)
class Result:
    """The result of the last attempt, its remarks, and the refusal that caused loops to be unrolled, if they were."""

    lowered: Lowered
    told: Notes | None
    refused: SymgradError | None


def attempt_until_known(source: Source, signature: Signature, wrt: frozenset[str], options: Options) -> Result:
    """Attempt a function with dicts of static keys; if it is refused, or may be at run time, with dicts of dynamic keys."""
    sites: frozenset[Any] = frozenset()  #: locations that create such dicts, as far as the attempts have shown
    result: Result | None = None
    refused: SymgradError | None = None  #: by the attempt that has shown which dicts may be, but need not be, of dynamic keys
    while True:
        growing_sites: dict[Any, bool] = {}
        try:
            result = attempt_with(source, signature, wrt, options, sites, growing_sites)
        except SymgradError as refusal:
            new_sites = growing_sites.keys() - sites
            if not new_sites or any(error.pin for error in refusal.errors):
                if result is None:
                    raise refused or refusal from None
                return result
            refused = None if any(growing_sites[site] for site in new_sites) else refused or refusal
        else:
            if sites.issuperset(growing_sites):
                return result
        sites |= frozenset(growing_sites)


def attempt_with(
    source: Source,
    signature: Signature,
    wrt: frozenset[str],
    options: Options,
    stateful: frozenset[Any],
    growing_sites: dict[Any, bool],
) -> Result:
    """Repeat attempts until one has all facts that it needs.

    ``stateful`` are the locations that create iterators with a position, or dicts with dynamic keys.
    ``growing_sites`` collects the locations of such dicts.
    """
    captured: list[Captured] = []
    refused: SymgradError | None = None
    stored: frozenset[str] = frozenset()
    recursive_sites: frozenset[Any] = frozenset()
    assigned_outside: dict[Any, Any] = {}
    tagged, sequences, laid, loggers_change = False, True, False, False
    for _ in range(RESTARTS):
        told = Notes() if options.tells else None
        unroll = refused is not None
        new_sites: dict[Any, bool] = {}
        attempt = Attempt(source, signature, captured, options.derive, options.no_grad, options.pins, unroll, told, stateful, tagged,
                          sequences, stored, wrt, options.keeps_text, options.keeps_calls, options.read_sources, assigned_outside,
                          recursive_sites, loggers_change, options.met, new_sites)  # fmt: skip
        try:
            lowered = attempt.lowered()
            growing_sites.clear()
            growing_sites.update(new_sites)
            return Result(lowered, told, refused)
        except Recapture as request:
            captured.append(request.captured)
        except CallsItself as request:
            recursive_sites |= {request.site}
        except AssignedOutside as request:
            assigned_outside[request.key] = request.source
        except LoggersChange:
            loggers_change = True
        except StoredOutside as request:
            stored |= request.texts
            captured = [laid_out_now(held) if held.text in request.texts else held for held in captured]
        except NeedsState as request:
            if request.sites <= stateful:
                raise UnsupportedSyntax("an iterator is used in several places", source.loc(source.node), "make it a list") from None
            stateful |= request.sites
        except (SymgradError, GivenUp) as error:
            growing_sites.update(new_sites)
            laid = laid or attempt.laid
            if attempt.unsure and not tagged:
                tagged = True  # bools may determine which of several arrays is written to
                continue
            if sequences and attempt.parted:
                sequences = tagged = False  # it may be supported if static items stay separate
                continue
            if refused is not None:
                raise by_layout(refused, laid) from None
            refused = error if isinstance(error, SymgradError) else None  # with unrolled loops it may be supported
    raise UnsupportedSyntax("too many arrays are read from outside", source.loc(source.node))


def laid_out_now(held: Captured) -> Captured:
    """An array from outside that is written to: its memory layout decides which views alias it."""
    laid = laid_out_as(held.abstract, held.seen)
    return replace(held, abstract=laid if laid.layout in ("C", "F") else held.abstract)


def by_layout(refused: SymgradError, laid: bool) -> SymgradError:
    """The refusal, marked if the memory layout of arrays was queried before."""
    for error in refused.errors:
        if isinstance(error, UnsureAlias):
            error.laid = laid
    return refused


def tell(notes: Notes, source: Source, told: Iterable[Note], pins: Mapping[str, Any], refused: SymgradError | None) -> None:
    """Pass the remarks on, with those about the whole function; later stages use the same collector."""
    loc = source.loc(source.node)
    for text, value in pins.items():
        what = "its value 0, which shapes depend on," if is_relation(text) else repr(value)
        notes.add("frontend", "pinned", loc, f"{what} is a constant of the code, which is compiled again for another value", name=text)
    if refused is not None:
        what = f"whether all loops can be kept ({refused.what}), so those with a known number of iterations are unrolled"
        hint = refused.hint or "keep the types and shapes of the variables that a loop carries the same in each iteration"
        notes.add("frontend", "unproved", refused.loc or loc, what, hint=hint)
    for note in told:
        notes.add(note.stage, note.kind, note.loc, note.message, name=note.name, hint=note.hint)


# ------------------------------------------------------------------ functions of libraries that are lowered from their source


#: the activity analysis: the values of some functions that may carry a derivative with respect to
#: given values of the first
Varied = Callable[[Sequence[Func], Iterable[Value]], set[Value]]
#: rows of opaque calls
UNREAD = ("opaque", "opaque_pure")


def unread_sources(lowered: Lowered, wrt: Iterable[str], varied: Varied) -> frozenset[Same]:
    """The library functions and classes called with a value that may carry a derivative with respect to a parameter in ``wrt``."""
    funcs = reachable(lowered.func)
    calls = [(op, source) for func in funcs for op in walk(func.body) if (source := source_called(op)) is not None]
    if not calls:
        return frozenset()
    values = varied(funcs, [value for value, text in lowered.inputs if meet(text, wrt)])
    return frozenset(Same(source) for op, source in calls if any(operand in values for operand in op.operands))


def passes_unread(lowered: Lowered, wrt: Iterable[str], varied: Varied) -> bool:
    """Whether a derivative with respect to a parameter in ``wrt`` may pass through an opaque call of a library."""
    funcs = reachable(lowered.func)
    calls = [op for func in funcs for op in walk(func.body) if isinstance(op, Call) and op.name in UNREAD]
    values = varied(funcs, [value for value, text in lowered.inputs if meet(text, wrt)]) if calls else set()
    return any(operand in values for op in calls for operand in op.operands)


def source_called(op: Op) -> types.FunctionType | type | None:
    """The library function or class of an opaque call, if it is written in Python."""
    if not isinstance(op, Call) or op.name not in UNREAD or not op.args or not isinstance(op.args[0], Const):
        return None
    return source_of_library(op.args[0].value)


__all__ = ["Varied", "lower", "passes_unread", "unread_sources"]
