"""A function and the types of its arguments -> ``Lowered``: repeats attempts as long as one of them says what it must know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from symgrad.abstraction import laid_out_as
from symgrad.errors import SymgradError, UnsupportedSyntax, UnsureAlias
from symgrad.frontend import (
    arrays,
    attributes,
    builtins,
    calls,
    comparison,
    complexes,
    comprehensions,
    copying,
    expressions,
    factors,
    failing,
    folding,
    fourier,
    iterators,
    keyed,
    lists,
    loops,
    managers,
    match,
    number_builtins,
    operator_module,
    operators,
    ordering,
    raising,
    running,
    statements,
    truths,
    try_statements,
)
from symgrad.frontend.attempt import Attempt
from symgrad.frontend.caller import Captured
from symgrad.frontend.interruptions import AssignedOutside, CallsItself, GivenUp, LoggersChange, NeedsState, Recapture, StoredOutside
from symgrad.frontend.libraries import Varied, passes_unread, unread_sources
from symgrad.frontend.lowered_function import Lowered
from symgrad.frontend.source import Source
from symgrad.identity import Same
from symgrad.ir.show import reachable
from symgrad.notes import Note, Notes
from symgrad.ops.composed import composed
from symgrad.signature import Signature, is_relation

#: they fill the tables
CONSTRUCTS = (arrays, attributes, builtins, calls, comparison, complexes, comprehensions, copying, expressions, factors, failing, folding,
              fourier, iterators, keyed, lists, loops, managers, match, number_builtins, operator_module, operators, ordering, raising,
              running, statements, truths, try_statements)  # fmt: skip
RESTARTS = 200


def lower(source: Source, signature: Signature, *, derive: Callable[..., Any] | None = None, varied: Varied | None = None,
          no_grad: Iterable[str] = (), wrt: Iterable[str] = (), pins: Mapping[str, Any] | None = None, notes: Notes | None = None,
          keeps_text: bool = False) -> Lowered:  # fmt: skip
    """Lower a function for a signature. Every offence of the function is reported at once.

    ``pins`` are integers, by the expression that reads them, whose value is part of the signature. ``notes`` collects
    what is told of decisions, here and in the stages that get the function. If it ``keeps_text``, values keep the user's expressions.
    ``varied`` is the activity analysis; without it no source of a library is read.
    """

    met: set[Same] = set()

    def attempted(read_sources: frozenset[Same]) -> Result:
        return attempt_until_known(source, signature, frozenset(wrt), Options(derive, frozenset(no_grad), pins or {}, notes is not None,
                                                                              keeps_text, read_sources, met))  # fmt: skip

    result = attempted(frozenset()) if varied is None else with_sources_of_libraries(attempted, met, wrt, varied)
    if notes is not None:
        tell(notes, source, result.told or (), pins or {}, result.refused)
        for func in reachable(result.lowered.func):
            func.notes = notes
    return result.lowered


def with_sources_of_libraries(attempted: Callable[[frozenset[Same]], Result], met: set[Same], wrt: Iterable[str],
                              varied: Varied) -> Result:  # fmt: skip
    """A function as ``attempted`` lowers it, with the sources of the functions of libraries that a derivative passes through.

    Those that cannot be read are called as they are, and refused where their derivative is needed. If the function is refused as it is,
    it may be because of what such functions give: then the sources of all that were ``met`` are read.
    """
    read_sources = frozenset[Same]()
    try:
        result = attempted(read_sources)
    except SymgradError:
        read = None
        while read is None and met - read_sources:  # a function whose source is read may call further ones
            read_sources = frozenset(met)
            read = unless_refused(attempted, read_sources)
        if read is None or has_composition(read_sources) and passes_unread(read.lowered, wrt, varied):
            raise
        result = read
    while unread := unread_sources(result.lowered, wrt, varied) - read_sources:
        read_sources |= unread
        further = unless_refused(attempted, read_sources)
        if further is None:
            break
        result = further
    return result


def has_composition(sources: frozenset[Same]) -> bool:
    """Is one of these said by a composition, which has refused the call?  What it says is of more use than what is refused later."""
    return any(composed(source.value) is not None for source in sources)


def unless_refused(attempted: Callable[[frozenset[Same]], Result], read_sources: frozenset[Same]) -> Result | None:
    """What an attempt gives, or None; what is refused for want of an integer is attempted again when that is known."""
    try:
        return attempted(read_sources)
    except SymgradError as refusal:
        if any(error.pin for error in refusal.errors):
            raise
        return None


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked of all attempts alike: see ``Attempt``."""

    derive: Callable[..., Any] | None
    no_grad: frozenset[str]
    pins: Mapping[str, Any]
    tells: bool
    keeps_text: bool
    read_sources: frozenset[Same]
    met: set[Same]  #: collects the functions and classes of libraries whose source was not read


@dataclass(frozen=True, slots=True)
class Result:
    """A function as the last attempt lowered it, with what that told of its decisions, and why loops were written out, if they were."""

    lowered: Lowered
    told: Notes | None
    refused: SymgradError | None


def attempt_until_known(source: Source, signature: Signature, wrt: frozenset[str], options: Options) -> Result:
    """Attempt it with dicts of known keys; where that is refused, or may be when it runs, with dicts that get keys which are computed."""
    sites: frozenset[Any] = frozenset()  #: where such dicts are created, as far as the attempts have told
    result: Result | None = None
    refused: SymgradError | None = None  #: of the attempt that has told what may be created there, and not that it must be
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
    """Attempt it until an attempt knows all that it must.

    ``stateful`` are the places where iterators with a position, and dicts that get keys which are computed, are created.
    ``growing_sites`` collects places of such dicts.
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
                          sequences, stored, wrt, options.keeps_text, options.read_sources, assigned_outside, recursive_sites,
                          loggers_change, options.met, new_sites)  # fmt: skip
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
                tagged = True  # it may be known which of several arrays is written to
                continue
            if sequences and attempt.parted:
                sequences = tagged = False  # it may be followed where what is known item by item stays so
                continue
            if refused is not None:
                raise by_layout(refused, laid) from None
            refused = error if isinstance(error, SymgradError) else None  # with its loops written out the function may still be followed
    raise UnsupportedSyntax("too many arrays are read from outside", source.loc(source.node))


def laid_out_now(held: Captured) -> Captured:
    """An array from outside that is written to: how it lies in memory decides what shows its elements."""
    laid = laid_out_as(held.abstract, held.seen)
    return replace(held, abstract=laid if laid.layout in ("C", "F") else held.abstract)


def by_layout(refused: SymgradError, laid: bool) -> SymgradError:
    """A refusal that says whether it was asked how arrays lie in memory before all was refused."""
    for error in refused.errors:
        if isinstance(error, UnsureAlias):
            error.laid = laid
    return refused


def tell(notes: Notes, source: Source, told: Iterable[Note], pins: Mapping[str, Any], refused: SymgradError | None) -> None:
    """Hand on what was told, with what concerns the whole function; the stages that follow tell the same collector."""
    loc = source.loc(source.node)
    for text, value in pins.items():
        what = "that this is 0, from which shapes follow," if is_relation(text) else repr(value)
        notes.add("frontend", "pinned", loc, f"{what} is part of the code, which is made anew for another value", name=text)
    if refused is not None:
        what = f"that it can be followed with loops as loops ({refused.what}), so those of a known number of rounds are written out"
        hint = refused.hint or "keep the types and shapes of what a loop carries the same in each round"
        notes.add("frontend", "unproved", refused.loc or loc, what, hint=hint)
    for note in told:
        notes.add(note.stage, note.kind, note.loc, note.message, name=note.name, hint=note.hint)


__all__ = ["lower"]
