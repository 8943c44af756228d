"""The state of lowering one program: where ops go, what names are bound to, which function is being read."""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from symgrad.errors import BadArgument, ShapeMismatch, SymgradError, UnknownType, UnsupportedSyntax, UnsureAlias
from symgrad.frontend.bindings import (
    MISSING,
    Binding,
    Bound,
    Broken,
    External,
    HeapKey,
    Location,
    Maybe,
    Missing,
    Name,
    Num,
    Obj,
    OneOf,
    Ref,
    State,
    Static,
    Step,
    Tup,
)
from symgrad.frontend.known import TESTS, Decided
from symgrad.frontend.members import plain
from symgrad.frontend.mixed import MIXING, Mixed
from symgrad.frontend.reach import memory_within
from symgrad.frontend.skeletons import Skeleton, settled, skeleton
from symgrad.frontend.source import Source
from symgrad.frontend.tables import (
    CALLS,
    EXPRESSIONS,
    METHODS,
    PARTS,
    SPECIAL,
    SPREAD,
    STATEMENTS,
    callee,
    expression,
    method,
    special,
    statement,
)
from symgrad.identity import Same
from symgrad.ir.core import UNDEF, Block, Const, Func, If, Operand, Value
from symgrad.ir.types import UNDEFINED, UNKNOWN, Array, List, Object, Scalar, Struct, Type, Unknown
from symgrad.kinds import passed_instead, row_of, what_of
from symgrad.location import NOWHERE, Loc
from symgrad.notes import Notes
from symgrad.ops.build import Builder
from symgrad.ops.declare import ROWS
from symgrad.signature import QUESTIONS


@dataclass(eq=False, slots=True)
class Frame:
    """One activation of a function: its source, and the frame whose variables it can see."""

    source: Source
    parent: Frame | None = None
    locals: frozenset[str] = frozenset()
    top: bool = False
    loop: Loop | None = None
    consume: Callable[[Binding], Operand] | None = None  #: of a generator: lowers what is done with a value; whether that ends it
    consumer: Frame | None = None  #: of a generator: the frame that goes over it
    lives_on: bool = False  #: of a generator that runs something when it is closed: a name holds it while a loop goes over it
    place: Loc | None = None  #: where all its lines stand for the user: a composition of ours stands where it is called


@dataclass(eq=False, slots=True)
class Loop:
    """The loop being lowered: its two flags are names of the state, so that joins merge them."""

    depth: int
    exits: set[int] = field(default_factory=set)
    watchers: dict[int, tuple[Any, ...]] = field(default_factory=dict)  #: of the exceptions that it is left with, by their kind

    @property
    def stop(self) -> tuple[Any, str]:
        return (self, "stop")

    @property
    def exit(self) -> tuple[Any, str]:
        return (self, "exit")


@dataclass(eq=False, slots=True)
class Going:
    """What a loop goes over: the lists and dicts, each with what must not change, and where they can be given a position instead."""

    lists: dict[HeapKey, Any]
    sites: frozenset[Any] = frozenset()


@dataclass(slots=True)
class Captured:
    """A value read from outside the function: where (an expression over its globals, cells or arguments) and as what."""

    text: str
    value: Value
    abstract: Any
    seen: Any = None


class Storing(Protocol):
    """What is told of each change of an object or of memory; see ``stored``."""

    def changed(self, key: HeapKey, before: Any) -> None:
        """An object holds something else."""
        ...

    def replaced(self, location: Location, old: Operand) -> None:
        """Memory holds another value."""
        ...

    def array_stored(self, ref: Ref, value: Operand, last: Step | None) -> None:
        """An array is written to."""
        ...

    def sorting(self, descending: Operand | None) -> AbstractContextManager[None]:
        """A list is put in order inside."""
        ...

    def is_outside(self, key: HeapKey) -> bool:
        """Can the caller see an object?"""
        ...

    def value(self, binding: Binding) -> Operand:
        """What is stored, as an operand."""
        ...

    def known_handle(self, key: HeapKey) -> Operand | None:
        """The operand that stands for an object of the caller's, if it is known."""
        ...


class Recapture(Exception):
    """An array from outside was found: lowering starts again with it in memory from the beginning."""

    def __init__(self, captured: Captured) -> None:
        super().__init__(captured.text)
        self.captured = captured


class StoredOutside(Exception):
    """Arrays are written to that are the caller's to see: lowering starts again, and what is stored in them is stored there too."""

    def __init__(self, texts: frozenset[str]) -> None:
        super().__init__(texts)
        self.texts = texts


class NeedsState(Exception):
    """Something asks for an iterator after its first use: lowering starts again, and those made at these places have a position."""

    def __init__(self, sites: frozenset[Any]) -> None:
        super().__init__(sites)
        self.sites = sites


class GivenUp(Exception):
    """Something is refused, and nobody will be told: the function is lowered in another way next, or was refused before in a better one."""


class Unresolved(Exception):
    """A recursive call whose result is not known yet: this path tells nothing."""


class Raised(Exception):
    """The path that is being lowered surely raises here: what is left of the statement is never reached."""


#: the codes of a path: it goes on, or how it has left
NEXT, BREAK, CONTINUE, RETURN = 0, 1, 2, 3
CODE: Name = (None, "code")  #: the name that holds it
OUTSIDE: Any = "outside"  #: in the place of a frame, of names for arrays from outside that are written to: nobody forgets those
RAISED: Any = "raised"  #: in the place of a frame, of names that say which exception is pending
RESULT = "%return"  #: the variable of each frame that holds what it returns

ROUNDS = 400  #: rounds of loops that are written out, in all
WRITTEN = 2000  #: and statements in them: a gradient of so many takes up to half a minute
NESTED = 90  #: branches and loops inside of one another: Python reads no text of more than a hundred levels of indentation


@dataclass
class Lowering:
    """Everything that lowering one function shares."""

    builder: Builder
    frame: Frame
    state: State = field(default_factory=State)
    captured: dict[Any, Captured] = field(default_factory=dict)
    arguments: dict[HeapKey, str] = field(default_factory=dict)  #: lists, dicts and instances that were given, by the path to them
    identities: set[str] = field(default_factory=set)  #: of which of them it matters whether they are one object with another
    stored: set[str] = field(default_factory=set)  #: which of them are changed
    standing: dict[HeapKey, set[str]] = field(default_factory=dict)  #: of which of them an object may be, by paths
    outside: dict[str, None] = field(default_factory=dict)  #: the expressions of the objects that were reached from outside
    storing: Storing | None = None  #: carries out on the caller's objects what is done to those that are followed
    arrays: dict[str, Ref | Obj] = field(default_factory=dict)  #: captured memory, by the text that reads it
    followed: dict[Same, tuple[str, Ref | Obj]] = field(default_factory=dict)  #: what is read from outside at first, with its expression
    owned: dict[str, Ref] = field(default_factory=dict)  #: arrays that objects among the arguments hold, by their paths
    texts: dict[Value, str] = field(default_factory=dict)  #: inputs of the program, by the expression that reads them
    pins: Mapping[str, Any] = field(default_factory=dict)  #: integers whose value is part of the signature
    refusals: list[SymgradError] = field(default_factory=list)
    on_trial: bool = False  #: what is refused here is not refused for good
    no_grad: frozenset[str] = frozenset()
    derive: Callable[..., Any] | None = None
    caught: list[tuple[type, Loc]] = field(default_factory=list)  #: exception classes that are refused where they are raised
    watchers: tuple[Any, ...] = ()  #: what sees the exceptions that are raised here, outermost first: see ``exceptions``
    edges: list[Any] = field(default_factory=list)  #: to these, in the blocks that are being built
    raisables: list[Any] = field(default_factory=list)  #: what they may be
    handling: list[Any] = field(default_factory=list)  #: the exceptions that handlers around have taken
    keeps: list[Loc] = field(default_factory=list)  #: where functions are called whose results are kept
    stack: list[Any] = field(default_factory=list)
    forms: dict[Any, Any] = field(default_factory=dict)  #: what loops carried when they were last lowered
    recursive: dict[Any, Any] = field(default_factory=dict)
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
    stateful: frozenset[Any] = frozenset()  #: where iterators are made that are used in several places: see ``stepping``
    sequences: bool = False  #: lists of any length may hold what has parts, and many items known one by one become such a list
    parted: bool = False  #: that was done
    looped: bool = False  #: it is asked for what a loop goes over
    rounds: int = 0  #: how many rounds of loops have been written out
    statements: int = 0  #: and how many statements in them
    nested: int = 0  #: in how many branches and loops the current block stands
    going: list[Going] = field(default_factory=list)  #: for each loop around, what it goes over
    unresolved: int = 0  #: how often a path ended at a recursive call whose result was not known yet
    external_names: dict[str, Any] = field(default_factory=dict)
    relied: dict[tuple[str, str, Any], Any] = field(default_factory=dict)  #: what was read of what is outside: see ``Relied``
    keeps_text: bool = False  #: values keep the text of the user's expressions, for a derivative that is read and never run
    views: dict[Any, Any] = field(default_factory=dict)  #: then also those that are bound to names
    reserved: frozenset[str] = frozenset({"np", "math"})  #: names that no object of the user's may have in emitted text

    # -------------------------------------------------------------- places

    def loc(self, node: ast.AST | None) -> Loc:
        """The place of a node in the user's file."""
        if self.frame.place is not None:
            return self.frame.place
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
        """Note that the program contains what an expression read; ``aspect`` says what of it.  Compositions of ours do not change."""
        if self.frame.place is None:
            self.relied[text, aspect, value if aspect in QUESTIONS else None] = value

    # -------------------------------------------------------------- tables

    def evaluate(self, node: ast.expr) -> Binding:
        """Lower an expression."""
        lower = EXPRESSIONS.get(type(node))
        if lower is None:
            raise self.refuse(UnsupportedSyntax, f"{_spoken(node)} cannot be differentiated", node)
        before = self.builder.loc
        self.builder.loc = self.loc(node)
        height = len(self.state.operands)
        outer, self.handing = self.handing, None
        try:
            binding = lower(self, node)
        except SymgradError as error:
            raise error.at(self.loc(node)) from None
        finally:
            self.builder.loc, self.handing = before, outer
        assert isinstance(binding, Binding)
        binding = settled(binding, self.state)
        if isinstance(binding, Broken) and isinstance(node, ast.Attribute | ast.Subscript):
            raise self.refuse(UnknownType, binding.why, node, binding.hint or None)
        self.release(height)
        self.hold(binding)
        return binding

    # -------------------------------------------------------------- operands

    def hold(self, binding: Binding) -> None:
        """Note that a value has been evaluated which the statement being lowered has still to use."""
        if not isinstance(binding, Num | Static):  # which reach no object and no memory
            self.state.operands = (*self.state.operands, binding)

    def release(self, height: int) -> None:
        """Forget the operands above a height: what was to be done with them is done."""
        if len(self.state.operands) > height:
            self.state.operands = self.state.operands[:height]

    @contextmanager
    def operands(self) -> Iterator[None]:
        """What is evaluated inside is used inside."""
        height = len(self.state.operands)
        try:
            yield
        finally:
            self.release(height)

    def hand_over(self, *args: Binding) -> None:
        """Operands of a call become parameters of the function whose body is lowered: from now on they have these names alone."""
        height, self.handing = self.handing, None
        while height is not None and len(self.state.operands) > height and _is_handed(self.state.operands[-1], args):
            self.release(len(self.state.operands) - 1)

    def apply(self, callee: Binding, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
        """Call what a binding stands for."""
        lower = CALLS.get(type(callee))
        if lower is None:
            raise self.refuse(UnsupportedSyntax, "this cannot be called", node)
        return lower(self, callee, args, kwargs, node)

    def apply_method(self, owner: Binding, name: str, args: list[Binding], node: ast.AST) -> Binding:
        """Call a method by its name."""
        return self.apply(Bound(owner, name), args, {}, node)

    # -------------------------------------------------------------- bindings and values

    def call(self, name: str, *args: Operand, hint: str | None = None, **settings: Any) -> Value:
        (value,) = self.call_many(name, *args, hints=(hint,), **settings)
        if name in TESTS:
            self.decided.computed(name, args, value)
        if name in MIXING:
            self.mixed.computed(name, args, value)
        return value

    def call_many(self, name: str, *args: Operand, hints: tuple[str | None, ...] = (), **settings: Any) -> list[Value]:
        """The results of an op, which is watched: see ``failing``."""
        if not self.watchers:
            return self.builder.call_many(name, *args, hints=hints, **settings)
        SPREAD["before"](self, name, args, settings)
        try:
            return self.builder.call_many(name, *args, hints=hints, **settings)
        except ShapeMismatch:
            SPREAD["mismatched"](self, name, args, settings)
            raise

    def look(self, view: Ref) -> None:
        """Let whoever watches see whether there is such a part of an array, when the view of it is made."""
        if self.watchers:
            operands = [o for step in view.path for o in step.operands]
            SPREAD["before"](self, "view", (self.state.memory[view.location], *operands), {"index": spelled(view.path)})

    def make(self, value: Operand, name: str | None = None) -> Binding:
        """A binding for a new value: memory of its own if it is an array or list, else a number."""
        if isinstance(value.type, Array | List):
            location = Location(name, self.builder.loc)
            self.state.memory[location] = value
            return Ref(location)
        return PARTS["taken apart"](self, value) if isinstance(value.type, Struct) else Num(value)

    def shared(self, value: Operand, *owners: Binding) -> Binding:
        """A binding for a value that may share memory with others."""
        binding = self.make(value)
        for location in memory_within(binding, self.state) if owners else ():
            for owner in owners:
                if isinstance(owner, Ref) and owner.location is not location:
                    self.state.pair(location, owner.location)
                    if owner.location in self.state.stale:
                        self.state.stale[location] = self.state.stale[owner.location]
        return binding

    def item_of(self, owner: Ref, value: Operand) -> Binding:
        """A binding for an item that was read out of a list of any length; an array in it is the same array."""
        binding = self.shared(value, owner)
        if not isinstance(binding, Ref) or not isinstance(self.type_of(binding), List):
            return binding
        held = self.list_in_memory(binding)
        self.state.twins |= {held.key}  # the list holds it too
        return held

    def list_sharing(self, value: Operand, *owners: Binding) -> Obj:
        """A new list whose items are items of other lists: the arrays among them are the same arrays."""
        binding = self.make(value)
        assert isinstance(binding, Ref)
        if isinstance(value.type, List) and not isinstance(value.type.item, Scalar | Object):
            for owner in owners:
                for location in memory_within(owner, self.state):
                    if location in self.state.memory:
                        self.state.pair(binding.location, location)
        return self.new_object("list", binding, tuple if isinstance(value.type, List) and value.type.of == "tuple" else None)

    def list_in_memory(self, ref: Ref) -> Obj:
        """A list of any length that came out of another one, or the tuple that stands for it in the user's program."""
        type_ = self.type_of(ref)
        of = type_.of if isinstance(type_, List) else "list"
        if of == "either":
            what = "what is read here is a list on some paths and a tuple on others"
            raise UnknownType(what, self.builder.loc, "make all of them tuples")
        return self.new_object("list", ref, tuple if of == "tuple" else None, type_.named if isinstance(type_, List) else None)

    def check_fresh(self, ref: Ref) -> None:
        """Refuse to read memory that a store through another name may have changed."""
        stored = self.state.stale.get(ref.location)
        if stored is not None:
            self.unsure = True
            name = ref.location.name or "this array"
            raise UnsureAlias(
                f"{name} may or may not share memory with what was written to at line {stored.line}",
                self.builder.loc, notes=[(stored, "the store")])  # fmt: skip

    def read(self, binding: Binding, node: ast.AST | None = None) -> Operand:
        """The operand that a binding stands for; containers become lists, objects constants."""
        match binding:
            case Num(operand):
                return operand
            case Ref(location, path):
                self.check_fresh(binding)
                value = self.state.memory[location]
                if not path:
                    return value
                operands = [o for step in path for o in step.operands]
                with self.unwatched():  # the index was checked when the view was made
                    return self.call("view", value, *operands, index=spelled(path), hint=None)
            case Static(value, name):
                return self.constant(value, name)
            case Tup(items, kind):
                return standing_for(self.list_of(items, node), tuple, kind)
            case Obj(key) if key.kind == "list":
                content = self.state.heap[key]
                return self.read(content, node) if isinstance(content, Ref) else self.list_of([b for _, b in content], node)
            case Maybe():
                return self.boxed(binding, node)
            case OneOf(place, values):
                selection: Operand = self.read(values[-1])
                for k in range(len(values) - 2, -1, -1):
                    selection = self.one_or_other(self.call("equal", place, Const(k)), self.read(values[k]), selection)
                return selection
            case Broken(why, hint):
                self.check_position(binding)
                raise self.refuse(UnknownType, why, node, hint or None)
            case Missing():
                raise self.refuse(UnsupportedSyntax, "this name is not bound here", node)
        row = row_of(binding.value) if isinstance(binding, External) else None
        if row is not None and isinstance(binding, External):
            name_match = re.search(r"\['(\w+)'\]$|\.((?!cell_contents)\w+)$|^(\w+)$", binding.text)
            name = "x" if name_match is None else next(filter(None, name_match.groups()))
            raise self.refuse(BadArgument, what_of(row, name), node, passed_instead(row, name))
        raise self.refuse(UnsupportedSyntax, f"{_kind_word(binding)} cannot be used as a number", node)

    def check_position(self, binding: Binding) -> None:
        """Start again where what is read would be right with an iterator that has a position."""
        if isinstance(binding, Broken) and not binding.sites <= self.stateful:
            raise NeedsState(binding.sites)

    def boxed(self, binding: Maybe, node: ast.AST | None) -> Operand:
        """What may be None as one value, of which nothing is known any more."""
        held = settled(binding, self.state)
        if not isinstance(held, Maybe):
            return self.read(held, node)
        if not isinstance(held.inner, Num | Ref | Static):
            raise self.refuse(UnsupportedSyntax, f"{_kind_word(held.inner)} that may be None cannot be used as one value", node)
        if self.notes is not None:
            told = "what this is, None or a value, so that nothing is known of it any more"
            self.notes.add("frontend", "unproved", self.builder.loc, told, hint="test it for None before")
        with self.inside(Block()) as there:
            inner = self.read(held.inner, node)
        return self.one_or_other(held.present, inner, self.read(held.absent, node), there)

    def one_or_other(self, test: Operand, one: Operand, other: Operand, block: Block | None = None) -> Operand:
        """One of two operands, of which nothing is known any more; the first may be computed in a block of its own."""
        out = Value(UNKNOWN)
        there = block or Block()
        there.yields = [one]
        self.builder.append(If([out], self.builder.loc, test, there, Block([], [], [other])))
        return out

    def constant(self, value: Any, name: str | None = None) -> Const:
        """A constant operand; objects without a literal need a name to be spelled by."""
        value = plain(value)
        if isinstance(value, enum.Enum):
            raise UnsupportedSyntax(f"{value} cannot be used as a number", self.builder.loc, "use its value")
        if isinstance(value, bool | int | float | complex | str | bytes | type(None) | type(Ellipsis)):
            return Const(value)
        spelled_as = name or getattr(value, "__name__", type(value).__name__)
        return Const(value, str(spelled_as))

    def whole(self, binding: Binding, node: ast.AST | None = None) -> Operand:
        """A list as one value of any length, whose items may have parts."""
        content = self.state.heap[binding.key] if isinstance(binding, Obj) and binding.key.kind == "list" else None
        if isinstance(content, tuple):
            value: Operand = PARTS["listed"](self, [item for _, item in content], node)
            return value
        return self.read(binding, node)

    def list_of(self, items: Any, node: ast.AST | None = None) -> Operand:
        """A list value with the given items."""
        self.holes = self.holes or any(isinstance(item, Static) and item.value is None or isinstance(item, Maybe) for item in items)
        return self.call("list_of", *[self.read(item, node) for item in items])

    def type_of(self, binding: Binding) -> Type:
        """The type of the value of a binding, without adding ops to the program."""
        match binding:
            case Num(operand):
                return operand.type
            case Ref(location, path):
                type_ = self.state.memory[location].type
                if not path:
                    return type_
                operands = [o for step in path for o in step.operands]
                types = [type_, *(o.type for o in operands)]
                view_type = ROWS["view"].law(types, {"index": spelled(path)}, self.builder.asked([self.state.memory[location], *operands]))
                assert isinstance(view_type, Type)
                return view_type
            case Static(value) if isinstance(plain(value), enum.Enum):
                return Object(type(value).__name__)
            case Static(value, name):
                return self.constant(value, name).type
        return Object(type(binding).__name__)

    def skeleton(self, binding: Binding, state: State) -> Skeleton:
        """The form of a binding in a state that is not the current one."""
        kept, self.state = self.state, state
        try:
            return skeleton(binding, state, self.type_of)
        finally:
            self.state = kept

    def array_of(self, value: Operand, dtype: str | None = None, shape: tuple[int, ...] | None = None) -> Value:
        """An array of a list, of lists in lists as deep as they go."""
        depth, inner = 0, value.type
        while isinstance(inner, List):
            depth, inner = depth + 1, inner.item
        if isinstance(inner, Struct) and inner.form.form == "object":
            raise UnsupportedSyntax("an array of objects is not followed", self.builder.loc, "make an array of a number of each")
        return self.call("array_of", value, dtype=dtype, shape=shape, depth=max(depth, 1))

    # -------------------------------------------------------------- names

    def home(self, name: str, frame: Frame | None = None) -> Frame | None:
        """The frame in which a name lives, None if it is a global or builtin of the source."""
        frame = frame or self.frame
        while frame is not None:
            if name in frame.locals:
                return frame
            if frame.parent is None:
                return None
            frame = frame.parent
        return None

    def number(self, name: Name, otherwise: Operand | None = None) -> Operand:
        """The number that a name of ours is bound to: a code, a flag."""
        held = self.state.names.get(name, MISSING)
        return otherwise if held == MISSING and otherwise is not None else self.read(held)

    def assign(self, name: str, binding: Binding, node: ast.AST | None = None) -> None:
        """Bind a variable."""
        home = self.home(name) or self.frame
        if home.top and name in self.no_grad:
            binding = self.stopped(binding)
        match binding:
            case Num(Value() as value) if value.name is None:
                value.name = name
            case Ref(location, ()):
                location.name = location.name or name
                version = self.state.memory[location]
                if isinstance(version, Value) and version.name is None:
                    version.name = name
        self.state.names[home, name] = binding

    def stopped(self, binding: Binding) -> Binding:
        """The same without a derivative, item by item."""
        match binding:
            case Num(Value() as value):
                return Num(self.call("stop_gradient", value))
            case Ref():
                return self.shared(self.call("stop_gradient", self.read(binding)), binding)
            case Tup(items, kind):
                return Tup(tuple(map(self.stopped, items)), kind)
            case Maybe(present, inner, absent):
                return Maybe(present, self.stopped(inner), absent)
            case Obj(key):
                content = self.state.heap[key]
                self.check_alone(key)
                self.state.heap[key] = content if isinstance(content, Ref) else tuple((k, self.stopped(b)) for k, b in content)
        return binding

    def store(self, ref: Ref, value: Operand, last: Step | None = None) -> None:
        """Write to memory through a view; every other view of the same location sees it."""
        path = (*ref.path, last) if last is not None and last.spec else ref.path
        if not path or path[-1].spec.startswith("."):
            path = (*path, Step("e"))
        self.check_fresh(ref)
        if ref.location in self.state.bases:
            SPREAD["stored"](self, ref, value, last)
            return
        if ref.location.read_only or any(step.read_only for step in ref.path):
            raise UnsupportedSyntax("NumPy gives this view read-only, and it is written to", self.builder.loc, "write to a copy")
        base = self.state.memory[ref.location]
        if isinstance(base.type, Unknown) or isinstance(base.type, Array) and base.type.shape is None and base.type.dtype is None:
            raise UnknownType("the type of what is written to is not known", self.builder.loc)
        operands = [o for step in path for o in step.operands]
        hint = ref.location.name or (base.name if isinstance(base, Value) else None)
        self.state.memory[ref.location] = self.call("set_at", base, value, *operands, index=spelled(path), hint=hint)
        self.state.stored(ref.location, self.builder.loc)
        self.renew(ref.location)
        if self.storing is not None:
            self.storing.array_stored(ref, value, last)

    def renew(self, location: Location) -> None:
        """Let arrays that may be one that was written to have what it holds now."""
        if any(location in bases for bases in self.state.bases.values()):
            SPREAD["renewed"](self, location)

    def write_out(self, node: ast.AST) -> None:
        """Count one more round that is written out; there is an end to that."""
        self.rounds += 1
        self.statements += sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) or 1
        if self.rounds > ROUNDS or self.statements > WRITTEN:
            raise self.refuse(UnsupportedSyntax, "this loop would have to be written out, and is too long for that", node)

    def check_keys(self, key: HeapKey, node: ast.AST | None = None) -> None:
        """Refuse to ask which keys a dict has, if that depends on the path taken."""
        content = self.state.heap[key]
        if not isinstance(content, Ref) and any(self.is_doubtful(b) for _, b in content):
            raise self.refuse(UnknownType, "which keys this dict has depends on the path taken", node)

    def is_doubtful(self, item: Binding) -> bool:
        """Does it depend on the path whether a dict has this item?"""
        item = settled(item, self.state)
        return isinstance(item, Broken | Missing) or isinstance(item, Maybe) and isinstance(item.absent, Missing)

    def may_be_unbound(self, binding: Binding) -> bool:
        """Is this the value of a name that some branch does not bind?"""
        return isinstance(binding, Num) and binding.operand in self.doubtful

    def check_sure(self, key: HeapKey, content: Any) -> None:
        """Refuse to have a list as one value which on some paths is not there; its items, one by one, are not asked for there."""
        if key.doubtful and not isinstance(content, Ref):
            what = "a list that is made on some paths only becomes longer or shorter"
            raise UnsupportedSyntax(what, self.builder.loc, "make it on every path")

    def check_still(self, key: HeapKey) -> None:
        """Refuse to make a list longer or shorter while a loop goes over it."""
        self.check_alone(key)
        sites = [going.sites for going in self.going if key in going.lists]
        if self.unroll and not frozenset().union(*sites) <= self.stateful:
            raise NeedsState(frozenset().union(*sites))
        if sites:
            raise UnsupportedSyntax("a list is changed while it is iterated over", self.builder.loc, "iterate over a copy of it")

    def replace_version(self, location: Location, value: Operand) -> None:
        """Give a location its next content."""
        if location in self.state.bases:
            what = "an array that is one of several is changed in a way that is not followed"
            raise UnsureAlias(what, self.builder.loc)
        before = self.state.memory[location]
        self.state.memory[location] = value
        self.renew(location)
        self.state.stored(location, self.builder.loc)
        if self.storing is not None:
            self.storing.replaced(location, before)
        for key in list(self.state.kin):
            content = self.state.heap.get(key)
            if isinstance(content, Ref) and content.location is location:
                self.spread(key, None)

    # -------------------------------------------------------------- objects

    def change(self, key: HeapKey, content: tuple[tuple[Any, Binding], ...] | Ref) -> None:
        """Give an object its next content; what may be the same object has it where it is."""
        self.check_alone(key)
        before, self.state.heap[key] = self.state.heap.get(key, ()), content
        if self.storing is not None:
            self.storing.changed(key, before)
        self.spread(key, before)

    def spread(self, key: HeapKey, before: Any) -> None:
        """Let objects that may be one that was changed hold what it holds now, where they are it."""
        if key in self.state.kin:
            SPREAD["changed"](self, key, before)

    def check_alone(self, key: HeapKey) -> None:
        """Refuse to change an object that another name may or may not be bound to."""
        if key in self.state.twins:
            raise UnsureAlias(f"{_kind_word(Obj(key))} that another name may or may not be bound to is changed", self.builder.loc)
        if key in self.state.kin and isinstance(held := self.state.heap.get(key), Ref):  # the others have theirs in memory of their own
            copy = self.call("list_slice", self.read(held), Const(None), Const(None), Const(None))
            self.state.memory[held.location] = copy
        self.compared(key)

    def stands_for(self, object_key: HeapKey, keys: Iterable[HeapKey]) -> None:
        """Note that an object is, on some path, one of the arguments."""
        for key in keys:
            if key in self.arguments:
                self.arguments[object_key] = self.arguments[key]
                self.standing.setdefault(object_key, set()).update(self.standing.get(key, set()) | {self.arguments[key]})

    def compared(self, *keys: HeapKey) -> None:
        """Note that it matters whether objects are one with others that were given."""
        self.identities |= {self.arguments[key] for key in keys if key in self.arguments}

    def new_object(self, kind: str, content: Any, cls: Any = None, exact: type | None = None) -> Obj:
        """A mutable object of known structure; ``exact`` is its class where that is not clear from the kind."""
        key = HeapKey(kind, cls, exact=exact)
        self.state.heap[key] = content if isinstance(content, Ref) else tuple(content)
        return Obj(key)

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

    @contextmanager
    def region(self, block: Block) -> Iterator[list[Any]]:
        """Build in a block; the exceptions that are pending at its end are entered in the list."""
        mark, pending = len(self.edges), list[Any]()
        if self.nested == NESTED:
            what = (
                "branches and loops are nested too deeply here, those of paths that leave early and of rounds that are written out included"
            )
            raise UnsupportedSyntax(what, self.builder.loc, "look values up in an array, or go over data in a loop")
        with self.builder.inside(block):
            self.nested += 1
            try:
                yield pending
            except (Raised, Unresolved):
                self.state.dead = True
                pending += SPREAD["close"](self, mark)
                raise
            except BaseException:
                del self.edges[mark:]
                raise
            finally:
                self.nested -= 1
            if len(self.edges) > mark:
                pending += SPREAD["close"](self, mark)


def standing_for(operand: Operand, kind: type, named: type | None = None) -> Operand:
    """Mark a new list of the IR as a list or a tuple of the user's program."""
    if isinstance(operand, Value) and isinstance(operand.type, List):
        operand.type = replace(operand.type, of="tuple" if kind is tuple else "list", named=named)
    return operand


def _is_handed(operand: Binding, args: tuple[Binding, ...]) -> bool:
    """Is an operand among some arguments: itself, as the owner of a method, or item by item?"""
    match operand:
        case Bound(owner=owner):
            return _is_handed(owner, args)
        case Tup(items=items) if items:
            return all(isinstance(item, Num | Static) or _is_handed(item, args) for item in items)
    return any(operand is arg for arg in args)


def spelled(path: tuple[Step, ...]) -> str:
    """The index path of some steps, as the IR says it."""
    return ";".join(step.spec for step in path)


def _spoken(node: ast.AST) -> str:
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in type(node).__name__).strip()
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _kind_word(binding: Binding) -> str:
    match binding:
        case Obj(key):
            words = {"list": "a list", "dict": "a set" if key.cls is set else "a dict"}
            return words.get(key.kind, f"an instance of {getattr(key.cls, '__name__', 'a class')}")
    return {"Fun": "a function", "Bound": "a method", "Iter": "an iterator", "External": "an object"}.get(type(binding).__name__, "this")


def is_float(type_: Type) -> bool:
    """Could a value of this type carry a derivative?"""
    match type_:
        case Scalar(kind=kind):
            return kind in ("float", "complex")
        case Array():
            return type_.kind in (None, "float", "complex")
        case List(item=item):
            return is_float(item)
        case Unknown():
            return True
    return False


__all__ = [
    "BREAK", "CALLS", "CODE", "CONTINUE", "EXPRESSIONS", "METHODS", "MISSING", "NEXT", "NOWHERE", "RESULT", "RETURN", "SPECIAL",
    "STATEMENTS", "UNDEFINED", "Captured", "Frame", "Func", "Loop", "Lowering", "Raised", "Unresolved", "callee", "expression", "is_float",
    "method", "special", "spelled", "statement",
]  # fmt: skip
