"""The shared state of one lowering, which all constructs read and write: the insertion point, bindings of names, refusals."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import SymgradError, together
from symgrad.frontend.state.bindings import Binding, HeapKey, Link, Location, Obj, Ref
from symgrad.frontend.state.caller import Captured, Storing
from symgrad.frontend.state.interruptions import GivenUp
from symgrad.frontend.state.path_conditions import Decided
from symgrad.frontend.state.program_state import Frame, Going, State
from symgrad.frontend.text.source import Source
from symgrad.identity import Same
from symgrad.ir.core import UNDEF, Block, Const, Func, Operand, Value
from symgrad.ir.layout import kind_in
from symgrad.ir.types import Type
from symgrad.location import Loc
from symgrad.notes import Notes
from symgrad.ops.build import Builder
from symgrad.signature import QUESTIONS
from symgrad.text import root_of

#: libraries written largely in Python, whose source is lowered where a derivative passes through it
READABLE = ("scipy", "numpy.polynomial")


def is_readable(value: Any) -> bool:
    """Whether a function or class comes from a library whose source is read."""
    module = getattr(value, "__module__", None) or ""
    return any(module == home or module.startswith(f"{home}.") for home in READABLE)


#: modules whose variables never change
UNCHANGED = ("scipy.", "numpy.polynomial.", "symgrad.ops.composed.", "symgrad.functional.", "symgrad.implicit")


#: operators whose result has the widest class of their operands, in Python and NumPy
ARITHMETIC = frozenset({"add", "subtract", "multiply", "floor_divide", "mod", "negative", "positive", "abs"})
#: rows that pass numbers on, with the operands that the result may be or hold
HOLDING: dict[str, slice] = {
    "list_of": slice(None),
    "list_append": slice(None),
    "list_join": slice(None),
    "list_set": slice(0, None, 2),
    "list_take": slice(1),
    "table_set": slice(0, None, 3),
    "table_take": slice(1),
    "list_slice": slice(1),
    "list_drop": slice(1),
    "stop_gradient": slice(1),
}
#: rows that ``Mixed.computed`` handles
MIXING = ARITHMETIC | HOLDING.keys() | {"power"}


@dataclass(slots=True)
class Mixed:
    """The values of several possible classes, and the number of tests of classes."""

    values: set[Operand] = field(default_factory=set)
    unsure: set[Operand] = field(default_factory=set)  #: values that may be of a wider class: an integer to a negative power
    asked: int = 0

    def joined(self, out: Value, operands: tuple[Operand, ...]) -> None:
        """Record a value that is one of several, or holds them."""
        if any(self.is_narrower(operand, out.type) for operand in operands):
            self.values.add(out)

    def is_narrower(self, operand: Operand, type_: Type) -> bool:
        """Whether a number, or one in a list, may be of a narrower kind than the type that holds it."""
        own, wide = kind_in(operand.type), kind_in(type_)
        return operand in self.values or own is not None and wide is not None and own != wide

    def computed(self, name: str, args: tuple[Operand, ...], out: Value) -> None:
        """Record a value computed from others."""
        if name in HOLDING:
            self.joined(out, args[HOLDING[name]])
        elif name == "power":
            exponent = args[1]
            whole = isinstance(exponent, Const) and isinstance(exponent.value, (int, float)) and exponent.value >= 0
            if kind_in(out.type) in ("int", "bool") and not whole:
                self.unsure.add(out)
        elif name in ARITHMETIC and kind_in(out.type) in ("int", "bool") and any(a in self.unsure for a in args):
            self.unsure.add(out)
        elif kind_in(out.type) is not None and any(a in self.values for a in args):
            if not any(a not in self.values and kind_in(a.type) == kind_in(out.type) for a in args):
                self.values.add(out)


@dataclass
class SharedState:
    """The state that lowering one function shares."""

    builder: Builder
    frame: Frame
    top: Source = field(init=False)  #: the function that is lowered, in which others are inlined
    state: State = field(default_factory=State)
    captured: dict[Any, Captured] = field(default_factory=dict)
    tuple_classes: dict[type, None] = field(default_factory=dict)  #: user classes of tuples among the arguments
    storages: dict[HeapKey, type] = field(default_factory=dict)  #: classes of passed instances, by their storages
    arguments: dict[HeapKey, str] = field(default_factory=dict)  #: lists, dicts and instances that were passed, by their paths
    identities: set[str] = field(default_factory=set)  #: paths of arguments whose identity with another object matters
    stored: set[str] = field(default_factory=set)  #: paths of arguments that are changed
    standing: dict[HeapKey, set[str]] = field(default_factory=dict)  #: the arguments that an object may be, by path
    outside: dict[str, None] = field(default_factory=dict)  #: the expressions of objects that were read from outside
    storing: Storing | None = None  #: applies changes of tracked objects to the caller's objects
    arrays: dict[str, Ref | Obj] = field(default_factory=dict)  #: captured memory, by the text that reads it
    followed: dict[Same, tuple[str, Ref | Obj]] = field(default_factory=dict)  #: initial reads from outside, with their expressions
    namespaces: set[Same] = field(default_factory=set)  #: dicts in which names are looked up: of modules, functions and instances
    read_dicts: set[Same] = field(default_factory=set)  #: dicts from outside that are read as dicts
    owned: dict[str, Ref] = field(default_factory=dict)  #: arrays inside objects among the arguments, by their paths
    texts: dict[Value, str] = field(default_factory=dict)  #: inputs of the program, by the expression that reads them
    assigned_inputs: set[Value] = field(default_factory=set)  #: inputs that are assigned to the variable of their name
    pins: Mapping[str, Any] = field(default_factory=dict)  #: integers whose value is part of the signature
    refusals: list[SymgradError] = field(default_factory=list)
    literals: dict[Operand, int] = field(default_factory=dict)  #: integers of NumPy's whose value is static, as in np.int64(1)
    on_trial: bool = False  #: refusals are provisional
    no_grad: frozenset[str] = frozenset()
    derive: Callable[..., Any] | None = None
    caught: list[tuple[type, Loc]] = field(default_factory=list)  #: exception classes that are refused where they are raised
    watchers: tuple[Any, ...] = ()  #: the handlers around the current op, outermost first: see ``exceptions``
    edges: list[Any] = field(default_factory=list)  #: exception edges in the blocks that are being built
    raisables: list[Any] = field(default_factory=list)  #: the exceptions of these edges
    handling: list[Any] = field(default_factory=list)  #: the exceptions that enclosing handlers have caught
    is_silent: bool = False  #: a message was omitted that its logger discards
    loggers_change: bool = False  #: the function changes the levels of loggers
    keeps: list[Loc] = field(default_factory=list)  #: call sites of memoised functions
    loops: dict[Loc, tuple[str, ...]] = field(default_factory=dict)  #: the loops of the program, with their loop variables
    stack: list[Any] = field(default_factory=list)
    methods: dict[Any, Any] = field(
        default_factory=dict
    )  #: placeholders of methods of classes that the program defines -> nested functions
    definitions: dict[Any, type] = field(default_factory=dict)  #: nested functions, each with its frame -> the class whose method it is
    defined_classes: set[type] = field(default_factory=set)  #: classes that the program defines
    forms: dict[Any, Any] = field(default_factory=dict)  #: loop-carried forms of each loop at its last lowering
    recursive: dict[Any, Any] = field(default_factory=dict)
    too_deep: set[Any] = field(default_factory=set)  #: functions that recurse with ever new forms of arguments, while they are lowered
    assigned_outside: Mapping[Any, Any] = field(default_factory=dict)  #: functions and owners of attributes, by the assigned name
    assigned_reads: int = 0  #: how often one of these was read
    recursive_sites: frozenset[Any] = frozenset()  #: functions that proved to be recursive
    closed: dict[Func, list[Value]] = field(default_factory=dict)  #: the free variables of each function of the program
    completed: set[Any] = field(default_factory=set)  #: calls that already pass these free variables
    notes: Notes | None = None  #: remarks about decisions, if they were requested
    unroll: bool = False  #: loops of a static number of iterations are unrolled
    mixed: Mixed = field(default_factory=Mixed)  #: numbers that may be of several classes
    doubtful: set[Operand] = field(default_factory=lambda: {UNDEF})  #: values of names that some branch does not bind
    decided: Decided = field(default_factory=Decided)  #: the results of tests of names that may be None
    height: int = 0  #: the number of operands when the statement being lowered began
    handing: int | None = None  #: operands above this height belong to the call being made, and have no other use
    unpacked: ast.expr | None = None  #: the expression whose value is unpacked into names at once
    holes: bool = False  #: a list was created with None for items that are filled later: its items may be None
    filled_later: bool = False  #: such a list has a dynamic length
    tagged: bool = False  #: whether may-alias arrays are distinguished by bools: see ``aliases``
    unsure: bool = False  #: distinguishing them would have helped
    laid: bool = False  #: the memory layout of arrays was requested
    splits: list[str] = field(default_factory=list)  #: the integers that decide branches after which a type is unknown
    has_real_eig: bool = False  #: a program computes the eigenvalues of a real matrix, which are complex here whatever they are in NumPy
    stateful: frozenset[Any] = frozenset()  #: locations of iterators that are used in several statements: see ``stepping``
    links: dict[Location, Link] = field(default_factory=dict)  #: arrays that lists of any length hold, which are all different ones there
    dict_sites: dict[Any, None] = field(default_factory=dict)  #: where dicts of known keys are created
    set_sites: dict[Any, None] = field(default_factory=dict)  #: where sets are created of elements that are computed
    factories: dict[str, Binding] = field(default_factory=dict)  #: what makes missing items, by the pools of ``growing_inner``
    #: where dicts are created that get keys which are computed, or (False) that may be followed as such dicts: see ``growing_dicts``
    growing_sites: dict[Any, bool] = field(default_factory=dict)
    read_sources: frozenset[Same] = frozenset()  #: library functions and classes whose source is lowered
    met_sources: set[Same] = field(default_factory=set)  #: library functions and classes that are called without that
    sequences: bool = False  #: lists of any length may hold structured items, and many static items become such a list
    parted: bool = False  #: a structured item was packed
    looped: bool = False  #: an iterable of a loop is being evaluated
    rounds: int = 0  #: the number of unrolled iterations
    statements: int = 0  #: and of the statements in them
    recursive_calls: int = 0  #: the number of recursive calls that a static number decides, each inlined
    nested: int = 0  #: nesting depth of the current block in branches and loops
    going: list[Going] = field(default_factory=list)  #: the iterable of each enclosing loop
    unresolved: int = 0  #: how often a path ended at a recursive call whose result was unknown
    bodies: int = 0  #: nesting depth of the current block in bodies of recursive functions
    passes_over: bool = False  #: a loop whose body ends at such a call is lowered as if it had no iterations
    external_names: dict[str, Any] = field(default_factory=dict)
    relied: dict[tuple[str, str, Any], Any] = field(default_factory=dict)  #: the reads from outside: see ``Relied``
    keeps_text: bool = False  #: values keep the text of the user's expressions, for a derivative that is read and never run
    keeps_calls: bool = False  #: with ``keeps_text``: user functions that are called at several places are functions of the program
    calls_again: bool = False  #: there are such functions
    views: dict[Any, Any] = field(default_factory=dict)  #: with ``keeps_text``: also the views bound to names
    reserved: frozenset[str] = frozenset({"np", "math"})  #: names that no user object may have in emitted text

    def __post_init__(self) -> None:
        self.top = self.frame.source

    # -------------------------------------------------------------- locations

    def loc(self, node: ast.AST | None) -> Loc:
        """The location of a node in the user's file."""
        place = self.frame.place or self.frame.called_at
        if place is not None:
            return place
        return self.frame.source.loc(node) if node is not None and hasattr(node, "lineno") else self.builder.loc

    def refuse(self, kind: type[SymgradError], what: str, node: ast.AST | None = None, hint: str | None = None) -> SymgradError:
        """An error of the given kind at a node, to be raised by the caller."""
        return kind(what, self.loc(node), hint)

    def note_refusal(self, error: SymgradError) -> None:
        """Record a refusal and go on, so that all are reported at once; give up early if another attempt follows."""
        self.refusals.append(error)
        if not self.on_trial and (self.unroll or self.unsure and not self.tagged or self.parted):
            raise GivenUp from None

    @contextmanager
    def trial(self) -> Iterator[list[SymgradError]]:
        """Lower something provisionally: its refusals are collected in the list and then discarded.

        A refusal that is raised follows those in the list, and is raised together with them.
        """
        kept, outer = self.refusals, self.on_trial
        self.refusals, self.on_trial = [], True
        try:
            yield self.refusals
        except SymgradError as error:
            if not self.refusals:
                raise
            raise together([*self.refusals, error]) from None
        finally:
            self.refusals, self.on_trial = kept, outer

    def provisionally(self, lower: Callable[[], Binding]) -> tuple[Binding | None, SymgradError | None]:
        """What ``lower`` returns, and None; or, if something in it is refused, None and the refusal, with everything as before it."""
        entry, block, edges, facts = self.state, self.builder.block, len(self.edges), len(self.builder.facts)
        length = len(block.ops)
        self.state = entry.copy()
        refusal: SymgradError | None = None
        try:
            with self.trial() as refusals:
                result = lower()
            if not refusals:
                return result, None
            refusal = together(refusals)
        except SymgradError as error:
            refusal = error
        self.state, self.builder.block = entry, block
        del block.ops[length:], self.edges[edges:], self.builder.facts[facts:]
        return None, refusal

    def rely(self, text: str, value: Any, aspect: str = "itself") -> None:
        """Record that the program depends on the value of an expression; ``aspect`` says on which property of it.

        Our own compositions do not change, nor do the libraries whose source is read.
        """
        if self.frame.place is None and not self.is_of_library(text):
            self.relied[text, aspect, value if aspect in QUESTIONS else None] = value

    def is_of_library(self, text: str) -> bool:
        """Whether an expression reads a composition of ours, or a library whose source is read."""
        owner = self.external_names.get(root_of(text))
        return (getattr(owner, "__module__", None) or "").startswith(UNCHANGED)

    # -------------------------------------------------------------- blocks

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Emit into a block of its own, outside all handlers."""
        with self.builder.inside(block), self.unwatched():
            yield block

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Leave all handlers: only the caller sees exceptions raised inside."""
        watchers, self.watchers = self.watchers, ()
        try:
            yield
        finally:
            self.watchers = watchers
