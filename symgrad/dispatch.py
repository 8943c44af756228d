"""Calls of a derived function to the code generated for their signature.

A ``Table`` keeps one compiled function a signature and writes a *guard*: a function with the user's
parameters that tests types with plain expressions and calls the right one. What no test accepts goes
the slow way: bind, find the signature, look it up, compile. Failures are not kept.
"""

from __future__ import annotations

import contextlib
import inspect
import linecache
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from symgrad.errors import SymgradError, UnknownType, UnsupportedArgument, UnsupportedSyntax, UnsureAlias
from symgrad.ir.types import DTYPES, INT, Array, List, Scalar
from symgrad.ops.spelling import Custom, declared
from symgrad.saving import examples_of
from symgrad.signature import (
    PYTHON_NUMBERS,
    Abstract,
    Compiled,
    Signature,
    Static,
    Tree,
    abstract,
    abstract_value,
    array_leaves,
    laid_out,
    leaves_of,
)

#: signatures kept for one function, and how many of them its guard tests before it goes the slow way
KEPT, GUARDED = 256, 8
#: one lock for all compiling: deriving one function may need another
LOCK = threading.RLock()

Pins = tuple[tuple[str, Any], ...]
Make = Callable[..., Compiled]  #: of a function, a signature and, where there are any, pins


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """A name that stood for a function, class or text while compiling, and what it stood for.

    Generated code contains what such an object does, so it holds only as long as the name stands for the same.
    """

    place: Any  #: a dict of globals, a cell, or a module
    name: str
    value: Any
    code: types.CodeType | None

    def holds(self) -> bool:
        """Is it still the same?"""
        missing = object()
        match self.place:
            case dict():
                now = self.place.get(self.name, missing)
            case types.CellType():
                now = self.place.cell_contents
            case _:
                now = getattr(self.place, self.name, missing)
        same = now == self.value if isinstance(self.value, str) and isinstance(now, str) else now is self.value
        return same and (self.code is None or now.__code__ is self.code)

    def tests(self, names: Names) -> list[str]:
        """The same as expressions."""
        spelled = {dict: f"[{self.name!r}]", types.CellType: ".cell_contents"}.get(type(self.place), f".{self.name}")
        text = f"{names.of(self.place)}{spelled}"
        if isinstance(self.value, str):
            return [f"{text} == {self.value!r}"]
        code = [] if self.code is None else [f"{text}.__code__ is {names.of(self.code)}"]
        return [f"{text} is {names.of(self.value)}", *code]


LIBRARIES = frozenset({"numpy", "scipy", "symgrad", *sys.stdlib_module_names}) - {"__main__"}


def watches(function: types.FunctionType) -> tuple[Watch, ...]:
    """What a function, and the user's functions that it names, take from globals, cells and modules of the user's as it is."""
    found: dict[tuple[int, str], Watch] = {}
    seen: set[types.CodeType] = set()

    def note(place: Any, name: str, value: Any) -> None:
        if isinstance(value, types.ModuleType):
            return
        inner = getattr(value, "__wrapped__", value)
        if isinstance(value, types.FunctionType | type | str | bytes | types.BuiltinFunctionType | None) or inner is not value:
            code = value.__code__ if isinstance(value, types.FunctionType) else None
            found.setdefault((id(place), name), Watch(place, name, value, code))
        for held in {id(inner): inner, id(value): value}.values():
            if isinstance(held, types.FunctionType) and (held.__module__ or "").split(".")[0] not in LIBRARIES:
                visit(held)

    def visit(held: types.FunctionType) -> None:
        if held.__code__ in seen:
            return
        seen.add(held.__code__)
        custom = declared(held)
        for other in (custom.forward, custom.backward) if isinstance(custom, Custom) else ():
            if isinstance(other, types.FunctionType):
                visit(other)
        names = names_in(held.__code__)
        for name, cell in zip(held.__code__.co_freevars, held.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                note(cell, name, cell.cell_contents)
        for name in names:
            if name not in held.__globals__:
                continue
            value = held.__globals__[name]
            note(held.__globals__, name, value)
            if isinstance(value, types.ModuleType) and value.__name__.split(".")[0] not in LIBRARIES:
                for attribute in names:
                    if attribute in vars(value):
                        note(value, attribute, vars(value)[attribute])

    visit(function)
    return tuple(found.values())


def names_in(code: types.CodeType) -> list[str]:
    """Every global and attribute that a code object and those inside it name, in order."""
    inner = [name for const in code.co_consts if isinstance(const, types.CodeType) for name in names_in(const)]
    return list(dict.fromkeys([*code.co_names, *inner]))


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One signature and the code for it."""

    signature: Signature
    compiled: Compiled
    watched: tuple[Watch, ...] = ()
    examples: tuple[str, ...] | None = None  #: texts of the arguments of the first call, for the self-check of a saved module

    def still_holds(self, function: types.FunctionType, arguments: Mapping[str, Any] | None) -> bool:
        """Is what the code reads from outside of the types it was made for? Without arguments, those are not looked at."""
        return (
            all(watch.holds() for watch in self.watched)
            and all(
                alike(read_captured(function, expression, self.compiled.objects, arguments or {}), item)
                for expression, item in self.compiled.captured
                if arguments is not None
                or root_name(expression) in self.compiled.objects
                or root_name(expression) not in self.signature.names
            )
            and (arguments is None or all(self.pinned(function, text, value, arguments) for text, value in self.compiled.pins))
        )

    def pinned(self, function: types.FunctionType, text: str, value: Any, arguments: Mapping[str, Any]) -> bool:
        """Is an integer what it was when it became part of the code?"""
        try:
            now = evaluated(function, text, self.compiled.objects, arguments)
        except Exception:
            return False
        return type(now) is type(value) and bool(now == value)

    def writes(self, path: str) -> bool:
        """Does the function write to the array that this expression over its parameters reaches?"""
        return any(path == name or path.startswith((f"{name}[", f"{name}.")) for name in self.compiled.mutated)

    def outside_arrays(self) -> list[str]:
        """The expressions of the arrays that are read from outside."""
        return [text for text, item in self.compiled.captured if isinstance(item, Array)]


@dataclass(slots=True, eq=False, weakref_slot=True)
class Table:
    """The compiled code of one derived function. ``function`` is the user's; ``install`` is handed each new guard."""

    function: types.FunctionType
    make: Make
    install: Callable[[Callable[..., Any]], None]
    entries: dict[Signature, list[Entry]] = field(default_factory=dict)
    latest: Entry | None = None
    code: types.CodeType = field(init=False)
    parameters: inspect.Signature = field(init=False)

    def __post_init__(self) -> None:
        TABLES.add(self)
        self.reset()

    def reset(self) -> None:
        """Forget everything: the function is new, or its code has been replaced."""
        self.code, self.parameters = self.function.__code__, inspect.signature(self.function, follow_wrapped=False)
        self.entries, self.latest = {}, None
        self.install(write_guard(self, []))

    def check_code(self) -> None:
        """Start anew if the function's code was replaced, as reloading a module in place does."""
        if self.function.__code__ is not self.code:
            with LOCK:
                self.reset()

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """The call's arguments by parameter, defaults filled in."""
        self.check_code()
        try:
            bound = inspect.signature(self.function, follow_wrapped=False).bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{self.function.__qualname__}() {error}") from None
        bound.apply_defaults()
        return bound

    def call_slowly(self, passed: tuple[tuple[str, Any, Any], ...], more: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A call that no test of the guard accepts. ``passed``: parameter, value, and the value that means it was left out."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        kinds = self.parameters.parameters
        positional = [item for item in passed if kinds[item[0]].kind is not inspect.Parameter.KEYWORD_ONLY]
        # what is not the last argument given by position may just equal its default
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
        return entry.compiled.function(*bound.args, **bound.kwargs)

    def ready(self, entry: Entry, arguments: Mapping[str, Any]) -> Entry:
        """Compile what has waited for its first call; once, however many threads call."""
        with LOCK:
            pending = entry.compiled.pending
            assert pending is not None
            compiled = pending.compiled(lambda text: evaluated(self.function, text, entry.compiled.objects, arguments))
            done = replace(entry, compiled=compiled)
            self.entries = {s: [done if e is entry else e for e in kept] for s, kept in self.entries.items()}
            self.latest = done
            self.guard()
            return done

    def guard(self) -> None:
        """Install a guard that knows the newest entries."""
        recent = [e for kept in self.entries.values() for e in kept if e.compiled.pending is None][-GUARDED:]
        self.install(write_guard(self, recent[::-1]))

    def find(self, arguments: Mapping[str, Any]) -> Entry:
        """The code for these arguments, compiled if need be."""
        signature = abstract(arguments)
        entry = self.fitting(Signature(signature.params), arguments)
        if entry.compiled.mutated and signature.same:
            entry = self.fitting(signature, arguments)
        if entry.compiled.mutated:
            refuse_overlap(self.function, arguments, entry)
        self.latest = entry
        return entry

    def fitting(self, signature: Signature, arguments: Mapping[str, Any]) -> Entry:
        """The code for a signature; how the arrays lie in memory is looked at only where it decides what a view is."""
        entry = self.known(signature, arguments)
        if entry is not None:
            return entry
        laid = laid_out(signature, arguments)
        entry = self.known(laid, arguments)
        if entry is not None:
            return entry
        try:
            return self.compile(signature, arguments)
        except UnsureAlias as refusal:
            if laid == signature:
                return self.sized(signature, arguments, refusal)
        except (UnsupportedSyntax, UnknownType) as refusal:
            return self.sized(signature, arguments, refusal)
        try:
            return self.compile(laid, arguments)
        except UnsureAlias as refusal:
            return self.sized(laid, arguments, refusal)

    def sized(self, signature: Signature, arguments: Mapping[str, Any], refusal: SymgradError) -> Entry:
        """A function that cannot be followed for any sizes, for these: loops can then be written out, lists have known lengths."""
        pins = sizes(self.function, signature, arguments)
        if pins is None:
            raise refusal
        try:
            return self.compile(signature, arguments, pins)
        except SymgradError:
            raise refusal from None

    def entry(self, signature: Signature, pins: Pins = ()) -> Entry:
        """The code for a signature given in advance."""
        self.check_code()
        found = (e for e in self.entries.get(signature, ()) if e.compiled.pins == pins and e.still_holds(self.function, None))
        return next(found, None) or self.compile(signature, None, pins)

    def current(self) -> Entry | None:
        """The entry used last, if the function is still what it was."""
        self.check_code()
        return self.latest

    def known(self, signature: Signature, arguments: Mapping[str, Any] | None) -> Entry | None:
        """The code made for this signature that still holds."""
        return next((e for e in self.entries.get(signature, ()) if e.still_holds(self.function, arguments)), None)

    def made(self, signature: Signature, arguments: Mapping[str, Any] | None, pins: Pins) -> Compiled:
        """Compile; an integer that must be known (an axis, say) is made part of the signature with its value."""
        while True:
            try:
                return self.make(self.function, signature, pins) if pins else self.make(self.function, signature)
            except UnsupportedArgument as refusal:
                offences = [e for e in refusal.errors if isinstance(e, UnsupportedArgument)]
                wanted = {e.pin: e.objects for e in offences if e.pin not in (None, *dict(pins))}
                if not wanted or arguments is None:
                    raise
                pins += tuple((text, evaluated(self.function, text, objects, arguments)) for text, objects in wanted.items() if text)

    def compile(self, signature: Signature, arguments: Mapping[str, Any] | None, pins: Pins = ()) -> Entry:
        """Make the code for a signature, once however many threads ask, and a new guard that knows it."""
        with LOCK:
            entry = self.known(signature, arguments) if arguments is not None or not pins else None
            if entry is not None:
                return entry
            examples = None if arguments is None else examples_of(self.function, arguments)
            entry = Entry(signature, self.made(signature, arguments, pins), watches(self.function), examples)
            entries = {s: list(kept) for s, kept in self.entries.items()}
            entries.setdefault(signature, []).append(entry)
            while sum(map(len, entries.values())) > KEPT:
                oldest = next(iter(entries))
                del entries[oldest][0]
                if not entries[oldest]:
                    del entries[oldest]
            self.entries, self.latest = entries, entry
            self.guard()
            return entry


#: every table alive, so that a new rule can make them start anew
TABLES: weakref.WeakSet[Table] = weakref.WeakSet()


def forget_all() -> None:
    """Compile everything anew when next called: the vocabulary has changed."""
    with LOCK:
        for table in list(TABLES):
            table.reset()


LARGE = 64  #: sizes beyond this are not made part of a signature


def sizes(function: types.FunctionType, signature: Signature, arguments: Mapping[str, Any]) -> Pins | None:
    """The extents of the arrays and the integers among the arguments, as pins; None if there are none, or large ones."""
    texts = [
        f"{path}.shape[{k}]"
        for path, item in signature.leaves()
        if isinstance(item, Array)
        for k, e in enumerate(item.shape or ())
        if e != 1
    ]
    texts += [path for path, item in signature.leaves() if item == INT]
    pins = tuple((text, evaluated(function, text, {}, arguments)) for text in texts)
    return pins if pins and all(abs(value) <= LARGE for _, value in pins) else None


def evaluated(function: types.FunctionType, expression: str, objects: Mapping[str, Any], arguments: Mapping[str, Any]) -> Any:
    """What an expression over the function's globals, cells and arguments is now."""
    scope = dict(arguments)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with contextlib.suppress(ValueError):
            scope[name] = cell.cell_contents
    scope |= objects
    return eval(expression, function.__globals__, scope)


def read_captured(
    function: types.FunctionType, expression: str, objects: Mapping[str, Any], arguments: Mapping[str, Any]
) -> Abstract | None:
    """What an expression over the function's globals, cells and arguments is now; None where it cannot be evaluated."""
    try:
        return abstract_value(evaluated(function, expression, objects, arguments), stem(expression))
    except Exception:
        return None


def alike(one: Abstract | None, other: Abstract) -> bool:
    """Equal but for the names of extents."""
    match one, other:
        case Array(shape=first), Array(shape=second) if first is not None and second is not None:
            return one.dtype == other.dtype and [e == 1 for e in first] == [e == 1 for e in second]
        case Tree(), Tree():
            return (one.kind, one.names) == (other.kind, other.names) and all(map(alike, one.items, other.items))
    return one == other


def stem(expression: str) -> str:
    """The stem of extents' names for a captured expression."""
    return "".join(c if c.isalnum() else "_" for c in expression)


def refuse_overlap(function: types.FunctionType, arguments: Mapping[str, Any], entry: Entry) -> None:
    """Two different arrays over the same memory, one of them written to, have no gradient of their own.

    Nor has an argument that the function also reads from outside.
    """
    leaves = [(path, leaf) for name, value in arguments.items() for path, leaf in array_leaves(name, value)]
    outside = [(text, evaluated(function, text, entry.compiled.objects, arguments)) for text in entry.outside_arrays()]
    for (path, one), (other_path, other) in [*combinations(leaves, 2), *product(outside, leaves)]:
        written = entry.writes(path) or entry.writes(other_path)
        if written and (one is not other or path not in dict(leaves)) and _overlap(one, other):
            raise UnsureAlias(
                f"{path} and {other_path} share memory, and the function writes to it", hint="pass a .copy() of one of the two"
            )


def _overlap(one: Any, other: Any) -> bool:
    return (
        isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and np.may_share_memory(one, other) and np.shares_memory(one, other)
    )


# ------------------------------------------------------------------ the guard


@dataclass(slots=True)
class Names:
    """Objects that the guard's text refers to, by names no parameter has."""

    prefix: str
    objects: dict[str, Any] = field(default_factory=dict)

    def of(self, value: Any) -> str:
        """The name that stands for an object."""
        for name, known in self.objects.items():
            if known is value:
                return name
        name = f"{self.prefix}{len(self.objects)}"
        self.objects[name] = value
        return name


def write_guard(table: Table, entries: list[Entry]) -> Callable[..., Any]:
    """A function of (derived, the user's parameters) that calls the code for what it is given."""
    parameters = list(table.parameters.parameters.values())
    prefix = "_k"
    while any(p.name.startswith(prefix) for p in parameters):
        prefix = "_" + prefix
    names = Names(prefix)
    lines = [f"def guard({', '.join(_parameter_texts(parameters, names))}):"]
    stable = _stable(table, parameters, names)
    arguments = ", ".join(_argument_texts(parameters))
    tests = [test for entry in entries if (test := _test(entry, table, names, stable)) is not None]
    for test in tests:
        lines += _test_lines(test, arguments, names)
    lines.append(f"    return {names.of(table.call_slowly)}({_slow_arguments(parameters, names)})")
    text = "\n".join(lines) + "\n"
    file = f"<symgrad guard {table.function.__qualname__}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = names.objects
    exec(compile(text, file, "exec", dont_inherit=True), namespace)
    made: Callable[..., Any] = namespace.pop("guard")
    return made


def _test_lines(test: Check, arguments: str, names: Names) -> list[str]:
    """The statement of one test. The call stands outside ``try``, so that what it raises is not taken for a test's."""
    call = [f"        return {test.compiled}({arguments})"]
    if test.fallback:  # what the caller of a kernel does, without a call of its own
        call = [
            "        try:",
            f"    {call[0]}",
            f"        except {names.of(Exception)}:",
            f"            return {test.fallback}({arguments})",
        ]
    if not test.may_raise:
        return [f"    if {test.text}:", *call]
    holds = f"{names.prefix}holds"
    return ["    try:", f"        {holds} = {test.text}", f"    except {names.of(_NOT_THERE)}:", f"        {holds} = False",
            f"    if {holds}:", *call]  # fmt: skip


#: what a test may raise where the arguments are not at all like the signature
_NOT_THERE = (AttributeError, KeyError, IndexError, ValueError, NameError)


class Missing:
    """Stands for an argument that was not passed."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()


def _default(parameter: inspect.Parameter) -> Any:
    return MISSING if parameter.default is parameter.empty else parameter.default


def _parameter_texts(parameters: list[inspect.Parameter], names: Names) -> list[str]:
    """The guard's parameters: the user's, all with defaults, then whatever else is passed."""
    kind = inspect.Parameter
    texts, starred = [f"{names.prefix}derived"], False
    plain = [p for p in parameters if p.kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)]
    for index, parameter in enumerate(plain):
        texts.append(f"{parameter.name}={names.of(_default(parameter))}")
        after = plain[index + 1].kind if index + 1 < len(plain) else None
        if parameter.kind is kind.POSITIONAL_ONLY and after is not kind.POSITIONAL_ONLY:
            texts.append("/")
    for parameter in parameters:
        if parameter.kind is kind.VAR_POSITIONAL:
            texts.append(f"*{parameter.name}")
            starred = True
    texts += [] if starred else [f"*{names.prefix}more"]
    texts += [f"{p.name}={names.of(_default(p))}" for p in parameters if p.kind is kind.KEYWORD_ONLY]
    keywords = [p.name for p in parameters if p.kind is kind.VAR_KEYWORD]
    return [*texts, f"**{keywords[0] if keywords else names.prefix + 'named'}"]


def _slow_arguments(parameters: list[inspect.Parameter], names: Names) -> str:
    kind = inspect.Parameter
    single = [p for p in parameters if p.kind not in (kind.VAR_POSITIONAL, kind.VAR_KEYWORD)]
    passed = "".join(f"({p.name!r}, {p.name}, {names.of(_default(p))}), " for p in single)
    more = next((p.name for p in parameters if p.kind is kind.VAR_POSITIONAL), f"{names.prefix}more")
    named = next((p.name for p in parameters if p.kind is kind.VAR_KEYWORD), f"{names.prefix}named")
    return f"({passed}), {more}, {named}"


def _stable(table: Table, parameters: list[inspect.Parameter], names: Names) -> list[str]:
    """Tests that the user's function is as it was, and that nothing it does not take was passed."""
    kind, tests = inspect.Parameter, []
    if not any(p.kind is kind.VAR_POSITIONAL for p in parameters):
        tests.append(f"not {names.prefix}more")
    if not any(p.kind is kind.VAR_KEYWORD for p in parameters):
        tests.append(f"not {names.prefix}named")
    function = names.of(table.function)
    tests.append(f"{function}.__code__ is {names.of(table.code)}")
    if table.function.__defaults__:
        tests.append(f"{function}.__defaults__ is {names.of(table.function.__defaults__)}")
    return tests


@dataclass(frozen=True, slots=True)
class Check:
    """When one entry applies, and the name of its code; ``may_raise``: testing something quite different may raise."""

    text: str
    compiled: str
    may_raise: bool
    fallback: str = ""  #: called if that raises


def _test(entry: Entry, table: Table, names: Names, stable: list[str]) -> Check | None:
    """The test for one entry; None where no cheap test is exact."""
    tests: list[str] = []
    items = dict(entry.signature.params)
    for name, item in items.items():
        made = condition(name, item, names)
        if made is None:
            return None
        tests += made
    for expression, item in entry.compiled.captured:
        text = captured_text(table.function, expression, entry.compiled.objects, names)
        made = None if text is None else condition(text, item, names)
        if made is None:
            return None
        tests += made
    for expression, value in entry.compiled.pins:
        text = captured_text(table.function, expression, entry.compiled.objects, names)
        if text is None:
            return None
        tests += [f"type({text}) is {type(value).__name__}", f"{text} == {value!r}"]
    tests += [*_sharing(table.function, entry, names), *stable]
    for watch in entry.watched:
        tests += watch.tests(names)
    outside = entry.compiled.captured or entry.compiled.pins or entry.watched
    may_raise = bool(outside) or any(isinstance(item, Tree) for item in items.values())
    if entry.compiled.direct is not None:
        kernel, fallback = entry.compiled.direct
        return Check(" and ".join(tests), names.of(kernel), may_raise, names.of(fallback))
    return Check(" and ".join(tests), names.of(entry.compiled.function), may_raise)


def _argument_texts(parameters: list[inspect.Parameter]) -> Iterator[str]:
    kind = inspect.Parameter
    for p in parameters:
        match p.kind:
            case kind.VAR_POSITIONAL:
                yield f"*{p.name}"
            case kind.VAR_KEYWORD:
                yield f"**{p.name}"
            case kind.KEYWORD_ONLY:
                yield f"{p.name}={p.name}"
            case _:
                yield p.name


def _sharing(function: types.FunctionType, entry: Entry, names: Names) -> list[str]:
    """Tests of which arrays are one object; needed only where the function writes to one."""
    tests = [f"{group[0]} is {other}" for group in entry.signature.same for other in group[1:]]
    if not entry.compiled.mutated:
        return tests
    together = [set(group) for group in entry.signature.same]
    memory = [(path, item) for path, item in entry.signature.leaves() if isinstance(item, Array | List)]
    for (one, first), (other, second) in combinations(memory, 2):
        written = entry.writes(one) or entry.writes(other)
        if not written or any({one, other} <= group for group in together):
            continue
        tests.append(f"{one} is not {other}")
        if isinstance(first, Array) and isinstance(second, Array):
            tests.append(f"({one}.base is None and {other}.base is None or not {names.of(np.may_share_memory)}({one}, {other}))")
    for text in entry.outside_arrays():
        spelled = captured_text(function, text, entry.compiled.objects, names)
        tests += [f"not {names.of(np.may_share_memory)}({spelled}, {one})" for one, _ in memory if entry.writes(one) or entry.writes(text)]
    return tests


def condition(text: str, item: Abstract, names: Names) -> list[str] | None:
    """Tests, in order, that the value ``text`` is what ``item`` says; None where only the slow way can tell."""
    match item:
        case Scalar(kind=kind, dtype=None):
            return [f"{names.of(type)}({text}) is {names.of(_python_type(kind))}"]
        case Scalar(dtype=str() as dtype):
            return [f"{names.of(type)}({text}) is {names.of(np.dtype(DTYPES[dtype]).type)}"]
        case Array(dtype=str() as dtype, shape=shape, layout=layout) if shape is not None:
            lies = [f"{LAYOUT_TESTS[layout].format(text)}"] if layout in LAYOUT_TESTS else []
            known = (
                f"{names.of(type)}({text}) is {names.of(np.ndarray)}",
                f"{text}.dtype is {names.of(np.dtype(DTYPES[dtype]))}",
                f"{text}.ndim == {len(shape)}",
            )
            return [*known, *_extent_tests(text, [extent == 1 for extent in shape], names), *lies]
        case List(item=Scalar(dtype=None, kind=kind)):
            return [
                f"{names.of(type)}({text}) is {names.of(list)}",
                f"{names.of(set)}({names.of(map)}({names.of(type)}, {text})) == {names.of({_python_type(kind)})}",
            ]
        case Static():
            return _static_condition(text, item, names)
        case Tree():
            return _tree_condition(text, item, names)
    return None


#: tests of how an array lies in memory; ``fnc`` is by columns and not by rows too
LAYOUT_TESTS = {"C": "{}.flags.c_contiguous", "F": "{}.flags.fnc", "N": "not {}.flags.forc"}


def _python_type(kind: str) -> type:
    return next(python for python, scalar in PYTHON_NUMBERS.items() if scalar.kind == kind)


def _extent_tests(text: str, single: list[bool], names: Names) -> list[str]:
    if not any(single):
        return [] if not single else [f"{names.of(len)}({text}) != 1"] if len(single) == 1 else [f"1 not in {text}.shape"]
    return [f"{text}.shape[{axis}] {'==' if one else '!='} 1" for axis, one in enumerate(single)]


def _static_condition(text: str, item: Static, names: Names) -> list[str] | None:
    value = item.value
    if value is None:
        return [f"{text} is None"]
    if isinstance(value, str):
        return [f"{names.of(type)}({text}) is {names.of(str)}", f"{text} == {value!r}"]
    if isinstance(value, types.FunctionType):
        return [f"{text} is {names.of(value)}", f"{text}.__code__ is {names.of(value.__code__)}"]
    if item.key == (type(value), id(value)):
        return [f"{text} is {names.of(value)}"]
    return None


def _tree_condition(text: str, item: Tree, names: Names) -> list[str] | None:
    tests = [f"{names.of(type)}({text}) is {names.of(item.kind)}"]
    match item.form:
        case "sequence":
            tests.append(f"{names.of(len)}({text}) == {len(item.items)}")
        case "mapping":
            tests.append(f"{names.of(tuple)}({text}) == {names.of(item.names)}")
        case "object":
            tests.append(f"{names.of(tuple)}({text}.__dict__) == {names.of(item.names)}")
    shallow = Tree(item.kind, item.names, tuple(Static(None) for _ in item.items))
    for (path, _), inner in zip(leaves_of(text, shallow), item.items, strict=True):
        made = condition(path, inner, names)
        if made is None:
            return None
        tests += made
    return tests


def root_name(expression: str) -> str:
    """The name that an expression begins with: ``self`` of ``self.w[0]``; empty if it does not begin with one."""
    match = re.match(r"[^\W\d]\w*", expression)
    return match[0] if match else ""


def _parameter_count(code: types.CodeType) -> int:
    starred = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_argcount + code.co_kwonlyargcount + starred


def captured_text(function: types.FunctionType, expression: str, objects: Mapping[str, Any], names: Names) -> str | None:
    """The expression with the user's globals and cells spelled so that the guard can read them."""
    root = root_name(expression)
    rest = expression[len(root) :]
    if root in objects:
        return f"{names.of(objects[root])}{rest}"
    if function.__code__.co_varnames[: _parameter_count(function.__code__)].count(root):
        return expression
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if root in cells:
        return f"{names.of(cells[root])}.cell_contents{rest}"
    if root in function.__globals__:
        return f"{names.of(function.__globals__)}[{root!r}]{rest}"
    return None
