"""Dispatch of calls of a derived function to the code generated for their signature.

A ``Table`` holds one compiled function per signature, with a guard in front. Calls that no test of the guard
accepts take the slow path: bind, find the signature, look it up, compile. Failures are not cached.
"""

from __future__ import annotations

import contextlib
import inspect
import types
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from symgrad.abstraction import abstract, laid_out
from symgrad.dispatch.entry import Entry, Trail, evaluated, examples_of, forget_trails, refuse_overlap, refuse_shared, trail_of
from symgrad.dispatch.guard import MISSING, Users, write_guard
from symgrad.errors import NotActiveWarning, SymgradError, UnknownType, UnsupportedArgument, UnsupportedSyntax, UnsureAlias
from symgrad.ir.types import INT, Array
from symgrad.progress import watched
from symgrad.runtime.load import LOCK
from symgrad.signature import FEW, Comparable, Compiled, Related, Signature, holds_many, is_relation
from symgrad.tracebacks import refused
from symgrad.verification.duplicate import Duplicate, NotCopied
from symgrad.verification.first_call import Comparison, FirstCall, Parts, Verify, compared, verified

#: the number of signatures kept for one function, and of those tested by its guard before the slow path
KEPT, GUARDED = 256, 8

#: refusals that more specific types may avoid: with memory layouts and sizes
MAY_FOLLOW = (UnsureAlias, UnsupportedArgument, UnsupportedSyntax, UnknownType)

Pins = tuple[tuple[str, Any], ...]
Call = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]  #: a function, its arguments, its keywords
Make = Callable[..., Compiled]  #: compiles a function for a signature and, optionally, pins


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a derivative, as far as the comparison of first calls needs it."""

    verify: Verify = False
    parts: Parts = field(default_factory=Parts)
    program: Mapping[str, str] = field(default_factory=dict)  #: a description for reports
    inner: Callable[[], Table] | None = None  #: for a derivative of a derivative: the table of the first derivative


@dataclass(slots=True, eq=False, weakref_slot=True)
class Table:
    """The compiled code of one derived function. ``function`` is the user's; ``install`` receives each new guard."""

    function: types.FunctionType
    make: Make
    install: Callable[[Callable[..., Any]], None]
    asked: Asked = field(default_factory=Asked)
    entries: dict[Signature, list[Entry]] = field(default_factory=dict)
    latest: Entry | None = None
    refused: set[Signature] = field(default_factory=set)  #: signatures with lists of any length whose code needs every item
    listed: set[Signature] = field(default_factory=set)  #: signatures with every item of short number lists, whose code needs them
    opened: set[Signature] = field(default_factory=set)  #: signatures with short lists of any length, whose kernels are shorter
    untold: list[Entry] = field(default_factory=list)  #: entries whose zero gradients have not been reported yet
    code: types.CodeType = field(init=False)
    parameters: inspect.Signature = field(init=False)

    def __post_init__(self) -> None:
        TABLES.add(self)
        self.reset()

    def reset(self) -> None:
        """Discard everything: the function is new, or its code has been replaced."""
        self.code, self.parameters = self.function.__code__, inspect.signature(self.function, follow_wrapped=False)
        self.entries, self.latest, self.untold = {}, None, []
        self.refused, self.listed, self.opened = set(), set(), set()
        self.install(write_guard(Users(self.function, self.code, self.parameters), self.find_slowly, []))

    def check_code(self) -> None:
        """Reset if the function's code was replaced, as by reloading a module in place."""
        if self.function.__code__ is not self.code:
            with LOCK:
                self.reset()

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """The call's arguments by parameter, with defaults filled in."""
        self.check_code()
        try:
            bound = inspect.signature(self.function, follow_wrapped=False).bind(*args, **kwargs)
        except TypeError as error:
            raise refused(TypeError(f"{self.function.__qualname__}() {error}")) from None
        bound.apply_defaults()
        return bound

    def find_slowly(self, passed: tuple[tuple[str, Any, Any], ...], more: tuple[Any, ...], named: Mapping[str, Any]) -> Call:
        """The call to make where no test of the guard holds. ``passed``: parameter, value, and the default that means omission."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        kinds = self.parameters.parameters
        positional = [item for item in passed if kinds[item[0]].kind is not inspect.Parameter.KEYWORD_ONLY]
        # an argument before the last positional one may just equal its default
        count = max((i + 1 for i, (_, value, left_out) in enumerate(positional) if value is not left_out), default=0)
        count = len(positional) if more else count
        for index, (name, value, left_out) in enumerate(passed):
            if index < count and len(args) == index and value is not MISSING:
                args.append(value)
            elif value is not left_out:
                kwargs[name] = value
        bound = self.bind((*args, *more), {**kwargs, **named})
        entry = self.find(bound.arguments)
        if entry.compiled.pending is not None:
            entry = self.ready(entry, bound.arguments)
        if entry.awaited and verified(self.asked.verify):
            call = self.compared(entry, bound)
            if call is not None:
                return call, (), {}
        return entry.compiled.function, bound.args, bound.kwargs

    def compared(self, entry: Entry, bound: inspect.BoundArguments) -> Callable[[], Any] | None:
        """Compare code with the user's function at its first call; return a function for the call's result, None for a plain call."""
        assert entry.first is not None
        call = compared(entry.first, partial(self.comparison, entry, bound))
        if entry.first.passed:
            with LOCK:
                self.guard()
            if call is not None and entry.compiled.comparable is not None:
                entry.compiled.comparable.keep()
        return call

    def comparison(self, entry: Entry, bound: inspect.BoundArguments) -> Comparison:
        """The comparison at the first call of code; for a derivative of a derivative the first derivative is compared before."""
        function: Callable[..., Any] = self.function
        inner = None if self.asked.inner is None else self.asked.inner()
        if inner is not None:
            below = inner.exact_entry(entry.signature, entry.compiled.pins)
            first = below.first if below.compiled.pending is None else FirstCall()
            if first is not None and not first.passed:
                self.compare_below(inner, below, bound, first)
            function = below.compiled.function
        slopes = verified(self.asked.verify) == "gradient"
        comparable = self.comparable(entry.signature, entry.compiled)
        return Comparison(
            function, self.function, entry.compiled, comparable, entry.signature, bound, self.asked.parts, self.asked.program, slopes
        )

    def compare_below(self, inner: Table, below: Entry, bound: inspect.BoundArguments, first: FirstCall) -> None:
        """Compare the derivative that this one differentiates, on copies if it has stores: the call must store once."""
        comparable = self.comparable(below.signature, below.compiled)
        if comparable is not None and comparable.stores:
            duplicate = Duplicate()
            try:
                bound = inspect.BoundArguments(bound.signature, {name: duplicate.of(value) for name, value in bound.arguments.items()})
            except NotCopied:
                return
        compared(first, partial(inner.comparison, below, bound))

    def comparable(self, signature: Signature, compiled: Compiled) -> Comparable | None:
        """How the user's function is compared with code, which may be a derivative's derivative."""
        if self.asked.inner is None:
            return compiled.comparable
        inner = self.asked.inner()
        return inner.comparable(signature, inner.exact_entry(signature, compiled.pins).compiled)

    def first_call(self, signature: Signature, compiled: Compiled) -> FirstCall | None:
        """The record of the first call of compiled code; None for code without comparison."""
        verify = verified(self.asked.verify)
        comparable = self.comparable(signature, compiled) if verify else None
        if comparable is None or comparable.once is not None or verify is True and comparable.seen():
            return None
        return FirstCall()

    def ready(self, entry: Entry, arguments: Mapping[str, Any]) -> Entry:
        """Compile code that has waited for its first call; once, also with several threads."""
        with LOCK, self.watched():
            pending = entry.compiled.pending
            assert pending is not None
            compiled = pending.compiled(lambda text: evaluated(self.function, text, entry.compiled.objects, arguments))
            done = replace(entry, compiled=compiled)
            self.put(entry, done)
            if compiled is not pending.numpy:
                pending.given_up.append(partial(self.give_up_kernel, compiled, pending.numpy))
            return done

    def watched(self) -> contextlib.AbstractContextManager[None]:
        """Report a long compilation on a terminal."""
        return watched(f"the derivative of {self.function.__qualname__}")

    def put(self, old: Entry, new: Entry) -> None:
        """Replace an entry by another one, with a new guard."""
        self.entries = {s: [new if e is old else e for e in kept] for s, kept in self.entries.items()}
        self.latest = new
        if not new.awaited:
            self.guard()

    def give_up_kernel(self, compiled: Compiled, numpy: Compiled) -> None:
        """Install the NumPy code where a kernel raises an exception that the NumPy code does not."""
        with LOCK:
            for entry in [e for kept in self.entries.values() for e in kept if e.compiled is compiled]:
                self.put(entry, replace(entry, compiled=numpy))

    def guard(self) -> None:
        """Install a guard with the newest entries, except those with a pending report or comparison."""
        ready = [e for kept in self.entries.values() for e in kept if e.compiled.pending is None and not e.awaited]
        recent = [e for e in ready if not any(e is untold for untold in self.untold)][-GUARDED:]
        self.install(write_guard(Users(self.function, self.code, self.parameters), self.find_slowly, recent[::-1]))

    def find(self, arguments: Mapping[str, Any]) -> Entry:
        """The code for these arguments, compiled if necessary."""
        opened = abstract(arguments, least=0)
        if opened in self.opened:
            return self.tell(self.entry_for(opened, arguments))
        entry = self.followed(arguments)
        if opened != entry.signature and is_long(entry):
            other = self.shorter(entry, opened, arguments)
            if other is not None:
                self.opened.add(opened)
                entry = other
            self.latest = entry
        return self.tell(entry)

    def shorter(self, entry: Entry, opened: Signature, arguments: Mapping[str, Any]) -> Entry | None:
        """The code with short lists of any length, if its kernel has at most half as many lines, or is the only one."""
        try:
            other = self.entry_for(opened, arguments)
        except SymgradError:
            return None
        assert entry.compiled.pending is not None
        lines = entry.compiled.pending.lines()
        fewer = None if other.compiled.pending is None else other.compiled.pending.lines()
        return other if fewer is not None and (lines is None or 2 * fewer <= lines) else None

    def followed(self, arguments: Mapping[str, Any]) -> Entry:
        """The code for these arguments: a function refused with lists of any length may compile item by item."""
        listed = abstract(arguments, whole=True, listed=True)
        if listed not in self.listed:
            try:
                return self.of_any_length(arguments)
            except MAY_FOLLOW as refusal:
                if listed == abstract(arguments, whole=True):
                    raise
                try:
                    entry = self.entry_for(listed, arguments)
                except SymgradError:
                    raise refusal from None
                self.listed.add(listed)
                return entry
        return self.entry_for(listed, arguments)

    def of_any_length(self, arguments: Mapping[str, Any]) -> Entry:
        """The code for these arguments with lists of any length."""
        signature = abstract(arguments)
        if holds_many(signature):
            whole = abstract(arguments, whole=True)
            if sum(1 for _ in whole.leaves()) > KNOWN:
                return self.entry_for(signature, arguments)
            if signature not in self.refused:
                try:
                    return self.entry_for(signature, arguments)
                except MAY_FOLLOW:
                    self.refused.add(signature)
            signature = whole
        return self.entry_for(signature, arguments)

    def entry_for(self, signature: Signature, arguments: Mapping[str, Any]) -> Entry:
        """The code for a signature, compiled if necessary."""
        try:
            entry = self.fitting(replace(signature, same=()), arguments)
        except SymgradError:
            if not signature.same:
                raise
            entry = self.fitting(signature, arguments)  # a refusal for two objects may not apply to one
        if (entry.compiled.mutated or entry.compiled.identities) and signature.same:
            signature.check_sharing()
            entry = self.fitting(signature, arguments)
        if entry.compiled.mutated:
            refuse_overlap(self.function, arguments, entry)
        if entry.compiled.apart:
            refuse_shared(self.function, arguments, entry)
        self.latest = entry
        return entry

    def fitting(self, signature: Signature, arguments: Mapping[str, Any]) -> Entry:
        """The code for a signature; memory layouts become part of it only where views depend on them."""
        entry = self.known(signature, arguments)
        if entry is not None:
            return entry
        laid = laid_out(signature, arguments)
        entry = self.known(laid, arguments)
        if entry is not None:
            return entry
        trail = trail_of(self.function, signature, arguments)
        try:
            return self.compile(signature, arguments, (), trail)
        except MAY_FOLLOW as refusal:
            unsure = isinstance(refusal, UnsureAlias)
            if laid == signature or not unsure and not any(error.by_layout for error in refusal.errors):
                return self.sized(signature, arguments, refusal, trail)
            if isinstance(refusal, UnsureAlias) and not refusal.laid:
                return self.sized(laid, arguments, refusal, trail)
        try:
            return self.compile(laid, arguments, (), trail)
        except MAY_FOLLOW as refusal:
            return self.sized(laid, arguments, refusal, trail)

    def sized(self, signature: Signature, arguments: Mapping[str, Any], refusal: SymgradError, trail: Trail) -> Entry:
        """Specialise a function that cannot be compiled for any sizes to these: loops can then be unrolled, lists have known lengths.

        The smallest sizes alone are tried first: loops over others stay loops.
        """
        tried: Pins = ()
        for most in (FEW, LARGE):
            pins = sizes(self.function, signature, arguments, refusal, most)
            if pins != tried:
                tried = pins
                with contextlib.suppress(SymgradError):
                    return self.compile(signature, arguments, pins, trail)
        raise refusal from None

    def entry(self, signature: Signature, pins: Pins = ()) -> Entry:
        """The code for a signature given in advance."""
        self.check_code()
        matches = (e for e in self.entries.get(signature, ()) if e.compiled.pins == pins and e.still_holds(self.function, None))
        return self.tell(next(matches, None) or self.compile(signature, None, pins))

    def exact_entry(self, signature: Signature, pins: Pins) -> Entry:
        """The code for a signature and exactly these pinned integers; raises the refusal that names a further one it needs."""
        self.check_code()
        matches = (e for e in self.entries.get(signature, ()) if e.compiled.pins == pins and e.still_holds(self.function, None))
        return self.tell(next(matches, None) or self.compile(signature, None, pins, exact=True))

    def current(self) -> Entry | None:
        """The entry used last, if the function is unchanged."""
        self.check_code()
        return self.latest

    def known(self, signature: Signature, arguments: Mapping[str, Any] | None) -> Entry | None:
        """The valid code for this signature; without arguments, relations between arguments are not tested."""
        entries = self.entries.get(signature, ())
        if arguments is None:
            entries = [e for e in entries if not any(is_relation(text) for text, _ in e.compiled.pins)]
        return next((e for e in entries if e.still_holds(self.function, arguments)), None)

    def compiled_for(self, signature: Signature, arguments: Mapping[str, Any] | None, pins: Pins, trail: Trail | None) -> Compiled:
        """Compile; an integer that must be known (such as an axis) becomes part of the signature with its value."""
        seek = arguments is not None
        while True:
            read = partial(evaluated, self.function, objects={}, arguments=arguments or {}) if seek else None
            try:
                return self.make(self.function, signature, pins, read=read, readings=None if trail is None else trail.readings)
            except Related as related:
                more = tuple(pair for pair in related.pins if pair not in pins)
                pins, seek = pins + more, bool(more)
            except SymgradError as refusal:
                new_pins = {e.pin: e.objects for e in refusal.errors if e.pin not in (None, *dict(pins))}
                if not new_pins or arguments is None:
                    raise
                pins += tuple((text, evaluated(self.function, text, objects, arguments)) for text, objects in new_pins.items() if text)

    def compile(
        self, signature: Signature, arguments: Mapping[str, Any] | None, pins: Pins = (), trail: Trail | None = None, exact: bool = False
    ) -> Entry:
        """Compile the code for a signature, once also with several threads, and install a new guard with it."""
        with LOCK, self.watched():
            entry = self.known(signature, arguments) if not exact and (arguments is not None or not pins) else None
            if entry is not None:
                return entry
            examples = None if arguments is None else examples_of(self.function, arguments)
            compiled = self.compiled_for(signature, arguments, pins, trail)
            entry = Entry(signature, compiled, examples, self.first_call(signature, compiled), trail)
            if trail is not None:
                trail.keep(entry)
            entries = {s: list(kept) for s, kept in self.entries.items()}
            entries.setdefault(signature, []).append(entry)
            while sum(map(len, entries.values())) > KEPT:
                oldest = next(iter(entries))
                del entries[oldest][0]
                if not entries[oldest]:
                    del entries[oldest]
            self.entries, self.latest = entries, entry
            if entry.compiled.inactive and len(entries[signature]) == 1:
                self.untold.append(entry)
            if not entry.awaited:
                self.guard()
        return entry

    def tell(self, entry: Entry) -> Entry:
        """Report once the zero gradients of code in use: code for distinct objects may be replaced by that for one object."""
        if any(held is entry for held in self.untold):
            with LOCK:
                inactive = entry.compiled.inactive if any(held is entry for held in self.untold) else ()
                self.untold = [held for held in self.untold if held is not entry]
                self.guard()
            for told in inactive:
                NotActiveWarning(told.what, told.loc).give()
        return entry


#: every live table, so that a new rule can reset them
TABLES: weakref.WeakSet[Table] = weakref.WeakSet()


def forget_all() -> None:
    """Discard all code: the vocabulary has changed."""
    with LOCK:
        forget_trails()
        for table in list(TABLES):
            table.reset()


def is_long(entry: Entry) -> bool:
    """Whether the kernel of code that waits for its first call takes long to compile, or there is none."""
    lines = 0 if entry.compiled.pending is None else entry.compiled.pending.lines()
    return lines is None or lines > LONG


LONG = 600  #: a longer kernel is also compiled with short lists of any length: numba takes about a second for a hundred lines
KNOWN = 300  #: arguments with more items are not compiled item by item: time and memory grow with the square of their number
LARGE = 64  #: larger sizes do not become part of a signature


def sizes(function: types.FunctionType, signature: Signature, arguments: Mapping[str, Any], refusal: SymgradError, most: int) -> Pins:
    """The extents of arrays and the integers, among the arguments and captured values, up to ``most``, as pins."""
    texts = [
        f"{path}.shape[{k}]"
        for path, item in signature.leaves()
        if isinstance(item, Array)
        for k, e in enumerate(item.shape or ())
        if e != 1
    ]
    texts += [path for path, item in signature.leaves() if item == INT]
    texts += [text for text in refusal.integers if text not in texts]
    pins = ((text, evaluated(function, text, refusal.objects, arguments)) for text in texts)
    return tuple((text, value) for text, value in pins if abs(value) <= most)
