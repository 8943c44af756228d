"""Types as expressions of the guard: a value matches its part of the signature if all of them hold."""

from __future__ import annotations

import enum
import sys
import types
from typing import Any

import numpy as np

from symgrad.abstraction import PYTHON_NUMBERS, attributes_beside, record_names
from symgrad.containers import container_of
from symgrad.dispatch.watch import Names
from symgrad.identity import Same
from symgrad.ir.types import DTYPES, Array, List, Scalar
from symgrad.kinds import distribution_name, slots_of
from symgrad.signature import DISTRIBUTION, FEW, Abstract, Many, Static, Tree, is_cycle, part_of
from symgrad.text import keys_of, literal, respelled

Around = tuple[str, ...]  #: the texts of the containers around a value, outermost first


def condition(text: str, item: Abstract, names: Names, around: Around = ()) -> list[str] | None:
    """Tests, in order, that the value ``text`` matches ``item``; None where only the slow path can tell."""
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
    """Tests of a list of numbers of one kind; with ``<=`` as comparison it may be empty."""
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
    """Tests that the value is an array with the layout of ``item``, of any dtype and shape."""
    lies = [LAYOUT_TESTS[item.layout].format(text)] if item.layout in LAYOUT_TESTS else []
    return [f"{names.of(type)}({text}) is {names.of(np.ndarray)}", *lies]


#: tests of an array's memory layout; ``fnc`` is column-major but not also row-major
LAYOUT_TESTS = {"C": "{}.flags.c_contiguous", "F": "{}.flags.fnc", "N": "not {}.flags.forc"}


def _python_type(kind: str) -> type:
    return next(python for python, scalar in PYTHON_NUMBERS.items() if scalar.kind == kind)


def _extent_tests(text: str, single: list[bool], names: Names) -> list[str]:
    if not any(single):
        return [] if not single else [f"{names.of(len)}({text}) != 1"] if len(single) == 1 else [f"1 not in {text}.shape"]
    return [f"{text}.shape[{axis}] {'==' if one else '!='} 1" for axis, one in enumerate(single)]


def _static_condition(text: str, item: Static, names: Names, around: Around) -> list[str] | None:
    """Tests that the key of an object is unchanged; they agree with ``abstraction.static`` and its callers."""
    value = item.value
    if is_cycle(item):
        return [f"{text} is {around[-1 - item.key[1]]}"]
    if value is None:
        return [f"{text} is None"]
    if isinstance(value, enum.Enum):
        return [f"{text} is {names.of(value)}"]
    if type(value) in (str, bytes):
        return [f"{names.of(type)}({text}) is {names.of(type(value))}", f"{text} == {literal(value)}"]
    if isinstance(value, str):  # a user's class may define any comparison
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
    """Tests that the value is the ``scipy.stats`` distribution of a name; None for one that only computes the same."""
    public = vars(sys.modules["scipy.stats"])
    if public.get(word) is not value:
        return None
    own = names.of(value)
    named = [f"{text}.name == {literal(word)}"] if getattr(value, "name", None) == word else []
    return [f"{text} is {own}", *named, f"{names.of(public)}[{literal(word)}] is {own}"]


def _method_condition(text: str, method: types.MethodType, names: Names) -> list[str]:
    """Tests that the value is a method of the same object, with the same function or code."""
    function, code = method.__func__, getattr(method.__func__, "__code__", None)
    of = f"{text}.__func__" if code is None else f"{names.of(getattr)}({text}.__func__, '__code__', None)"
    return [f"{names.of(type)}({text}) is {names.of(types.MethodType)}", f"{text}.__self__ is {names.of(method.__self__)}",
            f"{of} is {names.of(function if code is None else code)}"]  # fmt: skip


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
    """A path over the parameters for the guard, in which a parameter may be called ``getattr``."""
    return respelled(path, str, names.of(getattr)) if "getattr(" in path else path
