"""The guard of a derived function: tests argument types by plain expressions, written here, and calls the code that fits.

Arguments that no test accepts take the slow path.
"""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from symgrad.abstraction import PYTHON_NUMBERS, attributes_beside, record_names
from symgrad.containers import container_of
from symgrad.dispatch.entry import Entry, Names, all_relied_tests, are_apart, captured_text, is_converted
from symgrad.errors import BadArgument
from symgrad.identity import Same
from symgrad.ir.types import DTYPES, Array, List, Scalar
from symgrad.kinds import distribution_name, slots_of
from symgrad.signature import DISTRIBUTION, FEW, Abstract, Many, Static, Tree, is_choice, is_container, is_cycle, part_of
from symgrad.text import has_literal, is_name, keys_of, literal, one_line, respelled
from symgrad.tracebacks import REFUSALS, is_trimmed, pass_on

Around = tuple[str, ...]  #: the texts of the containers around a value, from outside to inside


def condition(text: str, item: Abstract, names: Names, around: Around = ()) -> list[str] | None:
    """Tests, in order, that the value ``text`` has the abstract value ``item``; None where only the slow path can decide."""
    match item:
        case Scalar(kind=kind, dtype=None):
            return [f"{names.of(type)}({text}) is {names.of(_python_type(kind))}"]
        case Scalar(dtype=str() as dtype):
            return [f"{names.of(type)}({text}) is {names.of(np.dtype(DTYPES[dtype]).type)}"]
        case Array(dtype=str() as dtype, shape=shape) if shape is not None:
            is_array, *lies = array_condition(text, item, names)
            known = (
                is_array,
                f"{text}.dtype is {names.of(np.dtype(DTYPES[dtype]))}",
                f"{text}.ndim == {len(shape)}",
            )
            return [*known, *_extent_tests(text, [extent == 1 for extent in shape], names), *lies]
        case List() if is_numbers(item):
            return _number_tests(text, item, names, "==")
        case List(item=List() as inner, of="list"):
            return _many_condition(text, Many(list, inner, FEW), names, around)
        case Many():
            return _many_condition(text, item, names, around)
        case Static():
            return _static_condition(text, item, names, around)
        case Tree():
            return _tree_condition(text, item, names, around)
    return None


def is_numbers(item: Abstract) -> bool:
    """Whether the item is a list of Python numbers of one kind."""
    return isinstance(item, List) and isinstance(item.item, Scalar) and item.item.dtype is None


def _number_tests(text: str, item: Abstract, names: Names, compared: str) -> list[str]:
    """Tests of a list of numbers of one kind; compared by ``<=``, there may be none."""
    assert isinstance(item, List)
    assert isinstance(item.item, Scalar)
    kinds = f"{names.of(set)}({names.of(map)}({names.of(type)}, {text}))"
    return [f"{names.of(type)}({text}) is {names.of(list)}", f"{kinds} {compared} {names.of({_python_type(item.item.kind)})}"]


def _many_condition(text: str, item: Many, names: Names, around: Around) -> list[str] | None:
    """Tests of a long list or tuple: of its length, and of each item."""
    first = [f"{names.of(type)}({text}) is {names.of(item.kind)}"]
    first += [f"{names.of(len)}({text}) > {item.least}"] if item.least >= 0 else []
    if isinstance(item.item, Scalar) and item.item.dtype is None:
        return [*first, f"{names.of(set)}({names.of(map)}({names.of(type)}, {text})) == {names.of({_python_type(item.item.kind)})}"]
    word = f"{names.prefix}item"
    while word in text:
        word += "_"
    around = (*around, text)
    tests = _number_tests(word, item.item, names, "<=") if is_numbers(item.item) else condition(word, item.item, names, around)
    return None if tests is None else [*first, f"{names.of(all)}({' and '.join(tests)} for {word} in {text})"]


def array_condition(text: str, item: Array, names: Names) -> list[str]:
    """Tests that the value is an array with the memory layout of ``item``, of any dtype and shape."""
    lies = [LAYOUT_TESTS[item.layout].format(text)] if item.layout in LAYOUT_TESTS else []
    return [f"{names.of(type)}({text}) is {names.of(np.ndarray)}", *lies]


#: tests of an array's memory layout; ``fnc``: column-major and not row-major
LAYOUT_TESTS = {"C": "{}.flags.c_contiguous", "F": "{}.flags.fnc", "N": "not {}.flags.forc"}


def _python_type(kind: str) -> type:
    return next(python for python, scalar in PYTHON_NUMBERS.items() if scalar.kind == kind)


def _extent_tests(text: str, single: list[bool], names: Names) -> list[str]:
    if not any(single):
        return [] if not single else [f"{names.of(len)}({text}) != 1"] if len(single) == 1 else [f"1 not in {text}.shape"]
    return [f"{text}.shape[{axis}] {'==' if one else '!='} 1" for axis, one in enumerate(single)]


def _static_condition(text: str, item: Static, names: Names, around: Around) -> list[str] | None:
    """Tests that the key of an object is unchanged; they are equivalent to ``abstraction.static`` and its callers."""
    value = item.value
    if is_cycle(item):
        return [f"{text} is {around[-1 - item.key[1]]}"]
    if value is None:
        return [f"{text} is None"]
    if isinstance(value, enum.Enum):
        return [f"{text} is {names.of(value)}"]
    if type(value) in (str, bytes):
        return [f"{names.of(type)}({text}) is {names.of(type(value))}", f"{text} == {literal(value)}"]
    if isinstance(value, str):  # a comparison of a user's class may do anything
        return [f"{text} is {names.of(value)}"]
    if isinstance(value, types.FunctionType):
        return [f"{text} is {names.of(value)}", f"{text}.__code__ is {names.of(value.__code__)}"]
    if isinstance(value, slice | range):
        return [f"{names.of(type)}({text}) is {names.of(type(value))}", f"{text} == {names.of(value)}"]
    if item.key == (type(value), Same(value)):
        return [f"{text} is {names.of(value)}"]
    if isinstance(value, types.MethodType):
        return _method_condition(text, value, names)
    if type(value) is np.ndarray and item.key == (np.ndarray, value.dtype, value.ndim):
        is_array = f"{names.of(type)}({text}) is {names.of(np.ndarray)}"
        return [is_array, f"{text}.dtype == {names.of(value.dtype)}", f"{text}.ndim == {value.ndim}"]
    word = distribution_name(value)
    if word is not None and item.key == (DISTRIBUTION, word):
        return _distribution_condition(text, word, value, names)
    return None


def _distribution_condition(text: str, word: str, value: Any, names: Names) -> list[str] | None:
    """Tests that the value is the distribution that ``scipy.stats`` has under a name; None for one that only computes the same."""
    public = vars(sys.modules["scipy.stats"])
    if public.get(word) is not value:
        return None
    own = names.of(value)
    named = [f"{text}.name == {literal(word)}"] if getattr(value, "name", None) == word else []
    return [f"{text} is {own}", *named, f"{names.of(public)}[{literal(word)}] is {own}"]


def _method_condition(text: str, method: types.MethodType, names: Names) -> list[str]:
    """Tests that the value is a method of the same object with the same function, or one with the same code."""
    function, code = method.__func__, getattr(method.__func__, "__code__", None)
    of = f"{text}.__func__" if code is None else f"{names.of(getattr)}({text}.__func__, '__code__', None)"
    return [
        f"{names.of(type)}({text}) is {names.of(types.MethodType)}",
        f"{text}.__self__ is {names.of(method.__self__)}",
        f"{of} is {names.of(function if code is None else code)}",
    ]


def _tree_condition(text: str, tree: Tree, names: Names, around: Around) -> list[str] | None:
    tests = [f"{names.of(type)}({text}) is {names.of(tree.kind)}"]
    match tree.form:
        case "sequence":
            tests.append(f"{names.of(len)}({text}) == {len(tree.keys)}")
        case "mapping":
            if tree.exactly is None:
                tests.append(f"{names.of(tuple)}({text}) == {names.of(tree.keys)}")
            else:
                tests.append(f"{names.of(keys_of)}({text}) == {names.of(tree.exactly)}")
        case "object":
            whole = f"{names.of(record_names)}({text})" if slots_of(tree.kind) else f"{names.of(tuple)}({text}.__dict__)"
            tests.append(f"{whole} == {names.of(tree.names)}")
    if container_of(tree.kind) is not None:
        tests.append(f"{names.of(attributes_beside)}({text}) == {names.of(tree.own)}")
    for name, inner in zip(tree.names, tree.items, strict=True):
        inner_tests = condition(spelled(part_of(text, tree, name), names), inner, names, (*around, text))
        if inner_tests is None:
            return None
        tests += inner_tests
    return tests


def spelled(path: str, names: Names) -> str:
    """A path over the parameters, spelled for the guard: a parameter may be called ``getattr``."""
    return respelled(path, str, names.of(getattr)) if "getattr(" in path else path


#: the endings of a path that reads an extent, which is an integer
EXTENT = re.compile(r"\.shape\[\d+\]$")


@dataclass(frozen=True, slots=True)
class Users:
    """The user's function as it was when the guard was generated."""

    function: types.FunctionType
    code: types.CodeType
    parameters: inspect.Signature


def write_guard(user: Users, find: Callable[..., Any], entries: list[Entry]) -> Callable[..., Any]:
    """Generate a function of (derived, the user's parameters) that calls the code for its arguments.

    Where no entry matches, ``find`` returns the call to make: a function, its arguments, its keywords.
    """
    parameters = list(user.parameters.parameters.values())
    bad = next((p.name for p in parameters if not is_name(p.name)), None)
    if bad is not None:
        raise BadArgument(f"{bad!r} is not the name of a parameter", hint="leave __signature__ as Python makes it")
    prefix = "_k"
    while any(p.name.startswith(prefix) for p in parameters):
        prefix = "_" + prefix
    names = Names(prefix, user.function.__globals__, frozenset(p.name for p in parameters))
    lines = [f"def guard({', '.join(_parameter_texts(parameters, names))}):"]
    stable = _stable(user, parameters, names)
    arguments = ", ".join(_argument_texts(parameters))
    tests = [test for entry in entries if (test := _test(entry, user.function, names, stable)) is not None]
    slow = f"{names.of(find)}({_slow_arguments(parameters, names)})"
    body = [line for test in tests for line in _test_lines(test, arguments, slow, names, len(tests) == 1)]
    lines += ["    try:", *(f"    {line}" for line in [*body, *_slow_lines(slow, names)])]
    lines += _refusal_lines(names)
    text = "\n".join(lines) + "\n"
    file = f"<symgrad guard {one_line(user.function.__qualname__)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    guard = _defined(_code_of(text, file), names)
    namespace = names.objects
    for direct in (test.entry.compiled.direct for test in tests):
        if direct is not None and direct.called_from is not None:
            direct.called_from(namespace, names.of(direct.kernel))
    return guard


@functools.lru_cache(maxsize=256)
def _code_of(text: str, file: str) -> types.CodeType:
    """The code of a guard's text, cached; functions with like parameters share it, with objects of their own."""
    return compile(text, file, "exec", dont_inherit=True)


def _defined(code: types.CodeType, names: Names) -> Callable[..., Any]:
    """The guard defined by a text.

    A function looks up a name that its globals lack in its builtins, which are fixed at its creation. A guard has the
    globals of the user's function as its builtins. So it reads those globals by name, as fast as that function does,
    and a deleted name is a ``NameError``. Code that reads builtins from the globals later, as C imports do, finds
    Python's.
    """
    namespace = names.objects
    namespace["__builtins__"] = names.home
    exec(code, namespace)
    namespace["__builtins__"] = builtins
    guard: Callable[..., Any] = namespace.pop("guard")
    return guard


@dataclass(frozen=True, slots=True)
class Check:
    """The test of one entry; ``may_raise``: it may raise on arguments of another kind."""

    entry: Entry
    text: str
    may_raise: bool
    light: str  #: the same without the tests that the entry's kernel repeats itself


def _test(entry: Entry, function: types.FunctionType, names: Names, stable: list[str]) -> Check | None:
    """The test of one entry; None where no cheap test is exact."""
    if entry.compiled.identities and any(isinstance(item, Many) and is_container(item.item) for _, item in entry.signature.leaves()):
        return None  # only the slow path tests the identity of list items
    if entry.signature.converted or any(is_converted(text) for text, _ in entry.compiled.captured):
        return None
    tests: list[str] = []
    light: list[str] = []
    items = dict(entry.signature.params)
    for name, item in items.items():
        conditions = condition(name, item, names)
        if conditions is None:
            return None
        tests += conditions
        light += array_condition(name, item, names) if isinstance(item, Array) else conditions
    own = len(tests)
    for expression, item in entry.compiled.captured:
        text = captured_text(function, expression, entry.compiled.objects, names)
        conditions = None if text is None else condition(text, item, names)
        if conditions is None:
            return None
        tests += conditions
    for expression, value in entry.compiled.pins:
        text = captured_text(function, expression, entry.compiled.objects, names)
        if text is None:
            return None
        kind = [] if EXTENT.search(text) else [f"{names.of(type)}({text}) is {names.of(type(value))}"]
        tests += [*kind, f"{f'({text})' if is_choice(text) else text} == {literal(value) if has_literal(value) else names.of(value)}"]
    unchanged = all_relied_tests(function, entry.compiled.relied, entry.compiled.objects, names)
    if unchanged is None:
        return None
    tests += [*unchanged, *_sharing(function, entry, names), *stable]
    outside = entry.compiled.captured or entry.compiled.relied or entry.compiled.pins
    may_raise = bool(outside or function.__kwdefaults__) or any(isinstance(item, Tree) for item in items.values())
    return Check(entry, " and ".join(tests), may_raise, " and ".join([*light, *tests[own:]]))


def _test_lines(test: Check, arguments: str, slow: str, names: Names, alone: bool) -> list[str]:
    """The statement of one test. The call is outside ``try``, so that its exceptions are not taken for the test's."""
    direct = test.entry.compiled.direct
    light = direct is not None and direct.discerning and alone
    if direct is None:
        call = [f"        return {names.of(test.entry.compiled.function)}({arguments})"]
    else:  # the body of a kernel's caller, inlined
        rest = [f"        return {names.of(direct.fallback)}({arguments})"]
        if light:
            rest = [f"        if {test.text}:", f"    {rest[0]}", *(f"    {line}" for line in _slow_lines(slow, names))]
        begin = f"{', '.join(direct.results)} =" if direct.returned else "return"
        call = ["        try:", f"            {begin} {names.of(direct.kernel)}({arguments})"]
        call += [f"        except {names.of(Exception)}:", "            pass"]  # later exceptions do not get this one as context
        if direct.returned:
            names.objects.update(direct.space)
            call += ["        else:", f"            return {direct.returned}"]
        call += rest
    text = test.light if light else test.text
    if not test.may_raise:
        return [f"    if {text}:", *call]
    holds = f"{names.prefix}holds"
    return [
        "    try:",
        f"        {holds} = {text}",
        f"    except {names.of(_NOT_THERE)}:",
        f"        {holds} = False",
        f"    if {holds}:",
        *call,
    ]


def _slow_lines(slow: str, names: Names) -> list[str]:
    """The lines after all tests have failed; the user's code is called from here, so that no internal frame is above it."""
    call = f"{names.prefix}call"
    return [f"    {call} = {slow}", f"    return {call}[0](*{call}[1], **{call}[2])"]


def _refusal_lines(names: Names) -> list[str]:
    """The lines that raise a refusal from here, without the internal frames."""
    error = f"{names.prefix}error"
    return [
        f"    except {names.of(REFUSALS)} as {error}:",
        f"        if not {names.of(is_trimmed)}({error}):",
        f"            {names.of(pass_on)}({error})",
        "            raise",
        "        __tracebackhide__ = True",
        f"        raise {error}",
    ]


#: exceptions of tests on arguments unlike the signature
_NOT_THERE = (AttributeError, KeyError, IndexError, ValueError, NameError, TypeError)


class Missing:
    """Marks an argument that was not passed."""

    def __repr__(self) -> str:
        return "missing"


MISSING = Missing()


def _default(parameter: inspect.Parameter) -> Any:
    return MISSING if parameter.default is parameter.empty else parameter.default


def _parameter_texts(parameters: list[inspect.Parameter], names: Names) -> list[str]:
    """The guard's parameters: the user's, all with defaults, then any further arguments."""
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
    passed = "".join(f"({literal(p.name)}, {p.name}, {names.of(_default(p))}), " for p in single)
    more = next((p.name for p in parameters if p.kind is kind.VAR_POSITIONAL), f"{names.prefix}more")
    named = next((p.name for p in parameters if p.kind is kind.VAR_KEYWORD), f"{names.prefix}named")
    return f"({passed}), {more}, {named}"


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


def _stable(user: Users, parameters: list[inspect.Parameter], names: Names) -> list[str]:
    """Tests that the user's function is unchanged, and that it accepts everything passed."""
    kind, tests = inspect.Parameter, []
    if not any(p.kind is kind.VAR_POSITIONAL for p in parameters):
        tests.append(f"not {names.prefix}more")
    if not any(p.kind is kind.VAR_KEYWORD for p in parameters):
        tests.append(f"not {names.prefix}named")
    function = names.of(user.function)
    tests.append(f"{function}.__code__ is {names.of(user.code)}")
    if user.function.__defaults__:
        tests.append(f"{function}.__defaults__ is {names.of(user.function.__defaults__)}")
    for name, value in (user.function.__kwdefaults__ or {}).items():
        tests.append(f"{function}.__kwdefaults__[{literal(name)}] is {names.of(value)}")
    return tests


def _sharing(function: types.FunctionType, entry: Entry, names: Names) -> list[str]:
    """Tests of the identity of arrays, lists, dicts and instances; emitted only where it matters to the function."""
    tests = [f"{spelled(group[0], names)} is {spelled(other, names)}" for group in entry.signature.same for other in group[1:]]
    pairs = entry.signature.distinct(entry.compiled.identities)
    tests += [f"{spelled(one, names)} is not {spelled(other, names)}" for one, other in pairs]
    for text, path in entry.compiled.apart:
        tests.append(f"{captured_text(function, text, entry.compiled.objects, names)} is not {spelled(path, names)}")
    for former, latter, same in entry.compiled.related:
        first_text, second_text = (captured_text(function, text, entry.compiled.objects, names) for text in (former, latter))
        tests.append(f"{first_text} is {'' if same else 'not '}{second_text}")
        if not same and {former, latter} <= set(entry.outside_arrays()):
            tests.append(f"not {names.of(np.may_share_memory)}({first_text}, {second_text})")
    if not entry.compiled.mutated:
        return tests
    together = [set(group) for group in entry.signature.same]
    memory = [(path, item) for path, item in entry.signature.leaves() if isinstance(item, Array | List | Many)]
    for (one, first), (other, second) in combinations(memory, 2):
        written = entry.writes(one) or entry.writes(other)
        if not written or any({one, other} <= group for group in together):
            continue
        one, other = spelled(one, names), spelled(other, names)
        tests.append(f"{one} is not {other}")
        if isinstance(first, Array) and isinstance(second, Array):
            tests.append(f"({one}.base is None and {other}.base is None or not {names.of(np.may_share_memory)}({one}, {other}))")
        elif isinstance(first, Many) or isinstance(second, Many):
            tests.append(f"{names.of(are_apart)}({one}, {other})")
    for text in entry.outside_arrays():
        read = captured_text(function, text, entry.compiled.objects, names)
        written_to = [spelled(one, names) for one, _ in memory if entry.writes(one) or entry.writes(text)]
        tests += [f"not {names.of(np.may_share_memory)}({read}, {one})" for one in written_to]
    return tests
