"""The shared state of one lowering, which all constructs read and write: the insertion point, bindings of names, refusals."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import SymgradError
from symgrad.frontend.bindings import Binding, HeapKey, Location, Obj, Ref, State
from symgrad.frontend.caller import Captured, Storing
from symgrad.frontend.frames import Frame, Going
from symgrad.frontend.interruptions import GivenUp
from symgrad.frontend.known import Decided
from symgrad.frontend.links import Link
from symgrad.frontend.mixed import Mixed
from symgrad.identity import Same
from symgrad.ir.core import UNDEF, Block, Func, Operand, Value
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.ops.build import Builder
from symgrad.signature import QUESTIONS
from symgrad.text import root_of

#: libraries that are written in Python for a good part, and whose source is read where a derivative passes through it
READABLE = ("scipy", "numpy.polynomial")


def is_readable(value: Any) -> bool:
    """Does a function or class come from a library whose source is read?"""
    module = getattr(value, "__module__", None) or ""
    return any(module == home or module.startswith(f"{home}.") for home in READABLE)


#: modules whose variables stay as they are
UNCHANGED = ("scipy.", "numpy.polynomial.", "symgrad.ops.composed.", "symgrad.functional.", "symgrad.implicit")


@dataclass
class SharedState:
    """Everything that lowering one function shares."""

    builder: Builder
    frame: Frame
    state: State = field(default_factory=State)
    captured: dict[Any, Captured] = field(default_factory=dict)
    tuple_classes: dict[type, None] = field(default_factory=dict)  #: classes of the user's that tuples among the arguments are of
    storages: dict[HeapKey, type] = field(default_factory=dict)  #: what base classes see of instances that were given, by their classes
    arguments: dict[HeapKey, str] = field(default_factory=dict)  #: lists, dicts and instances that were given, by the path to them
    identities: set[str] = field(default_factory=set)  #: of which of them it matters whether they are one object with another
    stored: set[str] = field(default_factory=set)  #: which of them are changed
    standing: dict[HeapKey, set[str]] = field(default_factory=dict)  #: of which of them an object may be, by paths
    outside: dict[str, None] = field(default_factory=dict)  #: the expressions of the objects that were reached from outside
    storing: Storing | None = None  #: carries out on the caller's objects what is done to those that are followed
    arrays: dict[str, Ref | Obj] = field(default_factory=dict)  #: captured memory, by the text that reads it
    followed: dict[Same, tuple[str, Ref | Obj]] = field(default_factory=dict)  #: what is read from outside at first, with its expression
    namespaces: set[Same] = field(default_factory=set)  #: dicts in which names are looked up: of modules, functions and instances
    read_dicts: set[Same] = field(default_factory=set)  #: dicts from outside that are read as they are
    owned: dict[str, Ref] = field(default_factory=dict)  #: arrays that objects among the arguments hold, by their paths
    texts: dict[Value, str] = field(default_factory=dict)  #: inputs of the program, by the expression that reads them
    pins: Mapping[str, Any] = field(default_factory=dict)  #: integers whose value is part of the signature
    refusals: list[SymgradError] = field(default_factory=list)
    literals: dict[Operand, int] = field(default_factory=dict)  #: integers of NumPy's that are made of one that is known, as in np.int64(1)
    on_trial: bool = False  #: what is refused here is not refused for good
    no_grad: frozenset[str] = frozenset()
    derive: Callable[..., Any] | None = None
    caught: list[tuple[type, Loc]] = field(default_factory=list)  #: exception classes that are refused where they are raised
    watchers: tuple[Any, ...] = ()  #: what sees the exceptions that are raised here, outermost first: see ``exceptions``
    edges: list[Any] = field(default_factory=list)  #: to these, in the blocks that are being built
    raisables: list[Any] = field(default_factory=list)  #: what they may be
    handling: list[Any] = field(default_factory=list)  #: the exceptions that handlers around have taken
    is_silent: bool = False  #: a message was left out that its logger does not take
    loggers_change: bool = False  #: the function changes which messages are taken
    keeps: list[Loc] = field(default_factory=list)  #: where functions are called whose results are kept
    loops: dict[Loc, tuple[str, ...]] = field(default_factory=dict)  #: the loops of the program, with the variables that they go over
    stack: list[Any] = field(default_factory=list)
    forms: dict[Any, Any] = field(default_factory=dict)  #: what loops carried when they were last lowered
    recursive: dict[Any, Any] = field(default_factory=dict)
    too_deep: set[Any] = field(default_factory=set)  #: functions that call themselves in forms without end, while they are lowered
    assigned_outside: Mapping[Any, Any] = field(default_factory=dict)  #: functions and owners of attributes, by what is assigned to
    assigned_reads: int = 0  #: how often one of these has been read
    recursive_sites: frozenset[Any] = frozenset()  #: functions that have turned out to call themselves
    closed: dict[Func, list[Value]] = field(default_factory=dict)  #: what each function of the program reads from around it
    completed: set[Any] = field(default_factory=set)  #: calls that hand this on already
    notes: Notes | None = None  #: what is told of decisions, if somebody asked
    unroll: bool = False  #: loops of a known number of rounds are written out
    mixed: Mixed = field(default_factory=Mixed)  #: numbers that may be of several classes
    doubtful: set[Operand] = field(default_factory=lambda: {UNDEF})  #: values of names that some branch does not bind
    decided: Decided = field(default_factory=Decided)  #: what tests say of names that may be None
    height: int = 0  #: how many operands there were when the statement being lowered began
    handing: int | None = None  #: above which height the operands are those of the call that is made, which has no other use for them
    unpacked: ast.expr | None = None  #: the expression whose value is unpacked into names at once
    holes: bool = False  #: a list has been made with None in places that are filled later: what is read from it may be None
    filled_later: bool = False  #: such a list is of a length that is known when it runs
    tagged: bool = False  #: of arrays that are one of several it is asked which
    unsure: bool = False  #: that would have helped
    laid: bool = False  #: it was asked how arrays lie in memory
    has_real_eig: bool = False  #: of a real matrix the eigenvalues are computed, which are complex here whatever they are to NumPy
    stateful: frozenset[Any] = frozenset()  #: where iterators are made that are used in several places: see ``stepping``
    links: dict[Location, Link] = field(default_factory=dict)  #: arrays that lists of any length hold, which are all different ones there
    dict_sites: dict[Any, None] = field(default_factory=dict)  #: where dicts of known keys are created
    set_sites: dict[Any, None] = field(default_factory=dict)  #: where sets are created of elements that are computed
    factories: dict[str, Binding] = field(default_factory=dict)  #: what makes missing items, by the pools of ``growing_inner``
    #: where dicts are created that get keys which are computed, or (False) that may be followed as such dicts: see ``growing_dicts``
    growing_sites: dict[Any, bool] = field(default_factory=dict)
    read_sources: frozenset[Same] = frozenset()  #: functions and classes of libraries whose source is read
    met_sources: set[Same] = field(default_factory=set)  #: those that are called, and not read
    sequences: bool = False  #: lists of any length may hold what has parts, and many items known one by one become such a list
    parted: bool = False  #: that was done
    looped: bool = False  #: it is asked for what a loop goes over
    rounds: int = 0  #: how many rounds of loops have been written out
    statements: int = 0  #: and how many statements in them
    nested: int = 0  #: in how many branches and loops the current block stands
    going: list[Going] = field(default_factory=list)  #: for each loop around, what it goes over
    unresolved: int = 0  #: how often a path ended at a recursive call whose result was not known yet
    bodies: int = 0  #: in how many bodies of functions that call themselves the current block stands
    passes_over: bool = False  #: a loop whose round ends at such a call goes on as if it had no rounds
    external_names: dict[str, Any] = field(default_factory=dict)
    relied: dict[tuple[str, str, Any], Any] = field(default_factory=dict)  #: what was read of what is outside: see ``Relied``
    keeps_text: bool = False  #: values keep the text of the user's expressions, for a derivative that is read and never run
    views: dict[Any, Any] = field(default_factory=dict)  #: then also those that are bound to names
    reserved: frozenset[str] = frozenset({"np", "math"})  #: names that no object of the user's may have in emitted text

    # -------------------------------------------------------------- places

    def loc(self, node: ast.AST | None) -> Loc:
        """The place of a node in the user's file."""
        place = self.frame.place or self.frame.called_at
        if place is not None:
            return place
        return self.frame.source.loc(node) if node is not None and hasattr(node, "lineno") else self.builder.loc

    def refuse(self, kind: type[SymgradError], what: str, node: ast.AST | None = None, hint: str | None = None) -> SymgradError:
        """An error of a kind at a node, to be raised."""
        return kind(what, self.loc(node), hint)

    def note_refusal(self, error: SymgradError) -> None:
        """Note what is refused, and go on to report all of it at once, if it is to be reported."""
        self.refusals.append(error)
        if not self.on_trial and (self.unroll or self.unsure and not self.tagged or self.parted):
            raise GivenUp from None

    @contextmanager
    def trial(self) -> Iterator[list[SymgradError]]:
        """Lower something for what it tells: what is refused meanwhile stands in the list, and is forgotten."""
        kept, outer = self.refusals, self.on_trial
        self.refusals, self.on_trial = [], True
        try:
            yield self.refusals
        finally:
            self.refusals, self.on_trial = kept, outer

    def rely(self, text: str, value: Any, aspect: str = "itself") -> None:
        """Note that the program contains what an expression read; ``aspect`` says what of it.

        Compositions of ours do not change, nor do the libraries whose source is read.
        """
        if self.frame.place is None and not self.is_of_library(text):
            self.relied[text, aspect, value if aspect in QUESTIONS else None] = value

    def is_of_library(self, text: str) -> bool:
        """Does an expression read something of a composition of ours, or of a library whose source is read?"""
        owner = self.external_names.get(root_of(text))
        return (getattr(owner, "__module__", None) or "").startswith(UNCHANGED)

    # -------------------------------------------------------------- blocks

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Build in a block of its own; nobody in the program sees what is raised there."""
        with self.builder.inside(block), self.unwatched():
            yield block

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """What is raised meanwhile is seen by the caller alone."""
        watchers, self.watchers = self.watchers, ()
        try:
            yield
        finally:
            self.watchers = watchers
