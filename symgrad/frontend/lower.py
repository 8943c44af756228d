"""A function and the types of its arguments -> ``Lowered``: it is attempted again as long as an attempt says what it must know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
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
    operators,
    ordering,
    raising,
    statements,
    truths,
    try_statements,
)
from symgrad.frontend.attempt import Attempt
from symgrad.frontend.caller import Captured
from symgrad.frontend.interruptions import GivenUp, NeedsState, Recapture, StoredOutside
from symgrad.frontend.lowered_function import Lowered
from symgrad.frontend.source import Source
from symgrad.ir.show import reachable
from symgrad.notes import Note, Notes
from symgrad.signature import Signature, is_relation

#: they fill the tables
CONSTRUCTS = (arrays, attributes, builtins, calls, comparison, complexes, comprehensions, copying, expressions, factors, failing, folding,
              fourier, iterators, keyed, lists, loops, managers, match, number_builtins, operators, ordering, raising, statements,
              truths, try_statements)  # fmt: skip
RESTARTS = 200


def lower(source: Source, signature: Signature, *, derive: Callable[..., Any] | None = None, no_grad: Iterable[str] = (),
          wrt: Iterable[str] = (), pins: Mapping[str, Any] | None = None, notes: Notes | None = None,
          keeps_text: bool = False) -> Lowered:  # fmt: skip
    """Lower a function for a signature. Every offence of the function is reported at once.

    ``pins`` are integers, by the expression that reads them, whose value is part of the signature. ``notes`` collects
    what is told of decisions, here and in the stages that get the function. If it ``keeps_text``, values keep the user's expressions.
    """
    captured: list[Captured] = []
    refused: SymgradError | None = None
    stateful: frozenset[Any] = frozenset()
    stored: frozenset[str] = frozenset()
    tagged, sequences, laid = False, True, False
    for _ in range(RESTARTS):
        told = None if notes is None else Notes()
        unroll = refused is not None
        attempt = Attempt(source, signature, captured, derive, frozenset(no_grad), pins or {}, unroll, told, stateful, tagged, sequences,
                          stored, frozenset(wrt), keeps_text)  # fmt: skip
        try:
            lowered = attempt.lowered()
        except Recapture as request:
            captured.append(request.captured)
        except StoredOutside as request:
            stored |= request.texts
            captured = [laid_out_now(held) if held.text in request.texts else held for held in captured]
        except NeedsState as request:
            if request.sites <= stateful:
                raise UnsupportedSyntax("an iterator is used in several places", source.loc(source.node), "make it a list") from None
            stateful |= request.sites
        except (SymgradError, GivenUp) as error:
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
        else:
            if notes is not None:
                tell(notes, source, told or (), pins or {}, refused)
                for func in reachable(lowered.func):
                    func.notes = notes
            return lowered
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
