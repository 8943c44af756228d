"""Emission for numba: a function as loops over numbers -> a kernel, and the plain Python function that calls it.

Only the differences from the NumPy target are here: the decorator, the imports of a saved file, and the
fallback. If the kernel raises anything, the NumPy function is called with the same arguments, and raises what
Python raises or returns the right result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np

from symgrad.codegen.expressions import NUMPY_TYPES, Names, literal
from symgrad.codegen.header import Header, no_lines, result_text
from symgrad.codegen.python import emit
from symgrad.codegen.seam import replaced
from symgrad.codegen.texts import DECORATOR, Emitted, Kernel, Lines, Seed
from symgrad.ir.core import Func, Operand, Value, uses
from symgrad.ir.crossing import Crossing
from symgrad.ir.types import Array, List, Scalar, Type
from symgrad.runtime.find import find
from symgrad.text import docstring, identifier, is_dotted, is_name

#: dtypes of numbers for which numba has one type, whether Python's or NumPy's
WIDE = (None, "any", "f64", "i64", "bool")
LEFT = "# the NumPy code takes over: it raises too, or continues"


@dataclass(frozen=True, slots=True)
class Surface:
    """The interface of the caller: its name, the text between its parentheses, the arguments passed on, and its docstring.

    ``leaves`` returns the expression of each parameter of the program. ``result`` is the template of the result.
    ``objects`` are the names in these two.
    """

    name: str
    signature: str
    passed: str
    doc: str
    leaves: Sequence[str]
    result: str
    objects: Mapping[str, Any]
    lines: Lines = no_lines
    lists: Mapping[int, Crossing] = field(default_factory=dict)  #: the list parameters, which are passed as arrays
    numpy: str = ""  #: the name of NumPy, which converts between lists and arrays
    effects: Emitted | None = None  #: the side effects after the kernel, called as ``effects_name``
    effects_name: str = ""
    shown: Sequence[int] = ()  #: the indices of its parameters; it also receives the last ``handed`` results of the kernel
    handed: int = 0

    def with_effects(self, name: str, effects: Emitted, parameters: Sequence[int], handed: int) -> Surface:
        """The same surface, with side effects after the kernel."""
        objects = {**self.objects, **effects.namespace}
        return replace(self, objects=objects, effects=effects, effects_name=name, shown=parameters, handed=handed)

    def with_lists(self, lists: Mapping[int, Crossing], results: Mapping[int, Crossing]) -> Surface:
        """The same surface, with list arguments and list results passed as arrays."""
        if not lists and not results:
            return self
        taken = {*self.objects, *names_in([*self.leaves, f"lambda {self.signature}: 0"])}
        (name,) = distinct(["np"], taken)
        needed = bool(lists) or any(form.depth > 1 for form in results.values())
        objects = {**self.objects, name: np} if needed else self.objects
        return replace(self, objects=objects, lists=lists, numpy=name, result=as_lists(self.result, results, name))

    def type_of(self, place: int, parameter: Value) -> Type:
        """The type of a kernel parameter's argument; a list type for an array made from a list."""
        return List(parameter.type) if self.leaf_of[place] in self.lists else parameter.type

    @property
    def leaf_of(self) -> list[int]:
        """For each parameter of the kernel, the index of the leaf that it holds or is made from."""
        return [k for k in range(len(self.leaves)) for _ in (self.lists[k].dtypes if k in self.lists else ("",))]

    @property
    def passed_leaves(self) -> list[str]:
        """The expression of each parameter of the kernel."""
        return [text for k, leaf in enumerate(self.leaves) for text in self.passed_for(k, leaf)]

    def passed_for(self, place: int, leaf: str) -> list[str]:
        """The expressions of the kernel parameters that represent one leaf."""
        if place not in self.lists:
            return [leaf]
        form, lists = self.lists[place], [leaf]
        if form.depth > 1:
            row, number = distinct(["row", "number"], {*names_in([leaf]), self.numpy})
            lists = [f"[len({row}) for {row} in {leaf}]", f"[{number} for {row} in {leaf} for {number} in {row}]"]
        return [f"{self.numpy}.array({text}, {self.numpy}.{NUMPY_TYPES[dtype]})" for text, dtype in zip(lists, form.dtypes, strict=True)]


def emit_kernel(func: Func, surface: Surface) -> Kernel:
    """The texts of a function that ``loops`` has lowered.

    >>> from symgrad.ir.types import FLOAT
    >>> from symgrad.ir.core import Block, Func, Value
    >>> x = Value(FLOAT, "x")
    >>> surface = Surface("same", "x", "x", "The same.", ["x"], "({0},)", {})
    >>> print(emit_kernel(Func("same", Block([x], [], [x]), ["out"]), surface).caller)
    def same(x):
        \"\"\"The same.\"\"\"
        try:
            return same_kernel(x)
        except Exception:  # the NumPy code takes over: it raises too, or continues
            return same_numpy(x)
    <BLANKLINE>
    """
    parameters = [name.strip() for name in surface.signature.split(",")] if surface.signature else []
    plain = all(map(is_name, parameters))
    results = func.body.yields
    template = ast.parse(result_text(surface.result, len(results)), mode="eval").body
    flat = (
        plain
        and not surface.lists
        and surface.effects is None
        and list(surface.leaves) == parameters
        and all(is_reached(value.type) for value in func.params)
    )
    flat = flat and not names_in([ast.unparse(template)]) & set(surface.objects)
    whole = flat and is_nest(template) and not any(map(converted, results))
    read = uses(func.body)
    used = [k for k, value in enumerate(func.params) if flat or value in read]
    values = [func.params[k] for k in used]
    leaves = [surface.passed_leaves[k] for k in used]

    types = [surface.type_of(k, func.params[k]) for k in used]
    func.body.args = values
    kernel, fallback = f"{surface.name}_kernel", f"{surface.name}_numpy"
    text = module_text(func, kernel, surface.result if whole else "", surface.lines)
    emitted = Kernel(surface.name, kernel, text, "", fallback, leaves, types, whole, flat)
    emitted.caller = caller_text(emitted, surface, template, list(zip(func.results, results, strict=False)))
    return emitted


def module_text(func: Func, name: str, result: str = "", lines: Lines = no_lines) -> str:
    """The text of a module with one kernel, whose parameters are the function's."""
    words = distinct([value.name for value in func.params], {name, "np", "math", "njit"})
    emitted = emit(func, Header(name, ", ".join(words), dict(zip(func.params, words, strict=True)), result, "", lines, kernel=True))
    imports = ["from numba import njit", *import_lines({"np": np, **emitted.namespace})]
    return "\n".join([docstring(f"{name}, written by symgrad."), "", *imports, "", "", DECORATOR, emitted.text])


@dataclass(frozen=True, slots=True)
class Spellings:
    """Texts that name NumPy, by its name in the caller."""

    numpy: str

    def converted(self, word: str, operand: Operand) -> str:
        """A kernel's number as a NumPy scalar of its type."""
        kind = converted(operand)
        return word if kind is None else f"{self.numpy}.{kind}({word})"

    def exact(self, word: str, type_: Type) -> str:
        """A number returned by a kernel, in the exact type that the next kernel expects."""
        dtype = type_.dtype if isinstance(type_, Scalar) else None
        return word if dtype in WIDE else f"{self.numpy}.{NUMPY_TYPES[dtype]}({word})"

    def seed(self, seed: Seed, type_: Type) -> str:
        """A seed in the type that the kernel expects."""
        match type_:
            case Scalar(kind=kind, dtype=None | "any"):
                return f"{'complex' if kind == 'complex' else 'float'}({seed.argument})"
            case Scalar(dtype=str() as dtype):
                return f"{self.numpy}.{NUMPY_TYPES[dtype]}({seed.argument})"
            case Array(dtype=str() as dtype) if seed.shape is not None:
                return f"array_seed({seed.argument}, {seed.shape}, {self.numpy}.{NUMPY_TYPES[dtype]})"
        return seed.argument


def filled(template: str, texts: Sequence[str]) -> str:
    """A template filled with the texts of its results."""
    tree = ast.parse(result_text(template, len(texts)), mode="eval").body
    space = {f"__result_{k}__": ast.parse(text, mode="eval").body for k, text in enumerate(texts)}
    return ast.unparse(ast.fix_missing_locations(replaced(tree, space)))


def as_lists(template: str, lists: Mapping[int, Crossing], numpy: str = "np") -> str:
    """A template that converts arrays in it to lists; a list of lists has two arrays.

    >>> as_lists("({0}, {{'c': {1}}})", {1: Crossing("f64")})
    "({0}, {{'c': {1}.tolist()}})"
    >>> as_lists("({0}, {1})", {0: Crossing("f64", 2)})
    '([part.tolist() for part in np.split({1}, np.cumsum({0}))[:-1]], {2})'
    """

    def text_of(place: int) -> str:
        first = place + sum(form.depth - 1 for k, form in lists.items() if k < place)
        if place not in lists:
            return f"{{{first}}}"
        if lists[place].depth == 1:
            return f"{{{first}}}.tolist()"
        return f"[part.tolist() for part in {numpy}.split({{{first + 1}}}, {numpy}.cumsum({{{first}}}))[:-1]]"

    return re.sub(r"\{\{|\}\}|\{(\d+)\}", lambda m: text_of(int(m[1])) if m[1] else m[0], template)


def is_reached(type_: Type) -> bool:
    """Whether numba accepts an argument of this type, even if it is unread."""
    return isinstance(type_, Scalar) or isinstance(type_, Array) and type_.shape is not None


def is_nest(template: ast.expr) -> bool:
    """Whether a result consists of tuples only, so that the kernel can build it."""
    return all(isinstance(node, ast.Tuple | ast.Name | ast.Load) for node in ast.walk(template))


def converted(result: Operand) -> str | None:
    """The NumPy type of a number as a result; a kernel returns Python numbers."""
    type_ = result.type
    return NUMPY_TYPES[type_.dtype] if isinstance(type_, Scalar) and type_.dtype not in (None, "any") else None


def distinct(hints: Iterable[str | None], taken: Iterable[str]) -> list[str]:
    """A distinct variable name for each hint."""
    used, names = set(taken), []
    for hint in hints:
        name = base = identifier(hint or "t")
        number = 0
        while name in used:
            number += 1
            name = f"{base}_{number}"
        used.add(name)
        names.append(name)
    return names


def import_lines(namespace: Mapping[str, Any]) -> list[str]:
    """The lines that define these names: imports of modules, imports of functions from their modules, and numbers."""
    lines = []
    for name, value in namespace.items():
        if isinstance(value, bool | int | float | np.generic):
            lines.append(f"{name} = {ast.unparse(literal(value, Names(frozenset(), find)))}")
        elif not is_dotted(value.__name__ if isinstance(value, ModuleType) else f"{value.__module__}.{value.__name__}"):
            raise ValueError(f"{name} cannot be imported")
        elif isinstance(value, ModuleType):
            lines.append(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
        else:
            own = value.__name__
            lines.append(f"from {value.__module__} import {own}" + ("" if own == name else f" as {name}"))
    return sorted(lines, key=lambda line: (" = " in line, line))


def caller_text(kernel: Kernel, surface: Surface, template: ast.expr, results: list[tuple[str, Operand]]) -> str:
    """The text of the function that calls the kernel."""
    if surface.numpy in surface.objects:
        kernel.namespace[surface.numpy] = np
    call = f"{kernel.name}({', '.join(kernel.leaves)})"
    lines = [f"def {surface.name}({surface.signature}):", f"    {docstring(surface.doc)}", "    try:"]
    if kernel.direct:
        lines.append(f"        return {call}")
    else:
        taken = {
            kernel.name,
            kernel.fallback,
            surface.effects_name,
            *surface.objects,
            *names_in([surface.signature and f"lambda {surface.signature}: 0"]),
        }
        taken |= names_in([*kernel.leaves, ast.unparse(template)])
        words = distinct([name for name, _ in results], taken)
        lines.append(f"        {', '.join(words) or '_'} = {call}" if words else f"        {call}")
    lines += [f"    except Exception:  {LEFT}", f"        return {kernel.fallback}({surface.passed})"]
    if not kernel.direct:
        names = Spellings(distinct(["np"], taken | set(words))[0])
        texts = [names.converted(word, operand) for word, (_, operand) in zip(words, results, strict=True)]
        kernel.namespace[names.numpy] = np
        if surface.effects is not None:
            kernel.namespace |= surface.effects.namespace
            handed = texts[len(texts) - surface.handed :]
            lines.append(f"    {surface.effects_name}({', '.join([*(surface.leaves[k] for k in surface.shown), *handed])})")
            lines = [*surface.effects.text.rstrip().splitlines(), "", "", *lines]
        kernel.results, kernel.returned = tuple(words), filled(surface.result, texts)
        lines.append(f"    return {kernel.returned}")
    return "\n".join(lines) + "\n"


def names_in(texts: Iterable[str]) -> set[str]:
    """The names in expressions, including parameters of lambdas."""
    nodes = [node for text in texts if text for node in ast.walk(ast.parse(text, mode="eval"))]
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {node.arg for node in nodes if isinstance(node, ast.arg)}


__all__ = ["Surface", "as_lists", "emit_kernel"]
