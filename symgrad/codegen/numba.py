"""A function as loops over numbers -> a kernel that numba compiles, and the plain Python function that calls it.

Only what differs from the NumPy target is here: the decorator, the imports of a file of its own, and the
rerun: whatever the kernel raises, the NumPy function is called with the same arguments, and
raises what Python raises, or gives the right result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np

from symgrad.codegen.comments import Lines
from symgrad.codegen.expressions import NUMPY_TYPES, clean
from symgrad.codegen.python import Header, emit, no_lines, replaced, result_text
from symgrad.codegen.seam import docstring
from symgrad.ir.core import Func, Operand, uses
from symgrad.ir.types import Array, Scalar, Type

DECORATOR = '@njit(error_model="numpy", cache=True)'


@dataclass(slots=True)
class Kernel:
    """A kernel and its caller: names and texts.

    ``leaves`` are the expressions over the user's parameters that the kernel's parameters take; ``direct``: these are the
    user's parameters themselves and its result is the whole result, so that the caller only adds the rerun.
    """

    name: str
    text: str  #: of the module: imports, decorator and all
    caller: str
    fallback: str
    leaves: list[str]
    types: list[Type]
    direct: bool
    namespace: dict[str, Any] = field(default_factory=dict)  #: what the caller names besides the kernel and the NumPy function

    @property
    def shown(self) -> str:
        """What a reader wants to see of both."""
        return f"{self.text[self.text.index(DECORATOR) :]}\n\n{self.caller}"


@dataclass(frozen=True, slots=True)
class Surface:
    """What the caller looks like: the name, the text between its parentheses, the same as handed on, and its docstring.

    ``leaves`` gives the expression of each parameter of the program; ``result`` is the template of the result; ``objects``
    are names that those two use.
    """

    name: str
    signature: str
    passed: str
    doc: str
    leaves: Sequence[str]
    result: str
    objects: Mapping[str, Any]
    lines: Lines = no_lines


def emit_kernel(func: Func, surface: Surface) -> Kernel:
    """The texts for a function that ``loops`` has made.

    >>> from symgrad.ir.types import FLOAT
    >>> from symgrad.ir.core import Block, Func, Value
    >>> x = Value(FLOAT, "x")
    >>> surface = Surface("same", "x", "x", "The same.", ["x"], "({0},)", {})
    >>> print(emit_kernel(Func("same", Block([x], [], [x]), ["out"]), surface).caller)
    def same(x):
        \"\"\"The same.\"\"\"
        try:
            return same_kernel(x)
        except Exception:  # left to NumPy, which raises too, or goes on
            return same_numpy(x)
    <BLANKLINE>
    """
    parameters = [name.strip() for name in surface.signature.split(",")] if surface.signature else []
    plain = all(name.isidentifier() for name in parameters)
    results = func.body.yields
    template = ast.parse(result_text(surface.result, len(results)), mode="eval").body
    whole = list(surface.leaves) == parameters and all(is_reached(value.type) for value in func.params)
    whole = whole and plain and is_nest(template) and not any(map(converted, results))
    read = uses(func.body)
    used = [k for k, value in enumerate(func.params) if whole or value in read]
    values = [func.params[k] for k in used]
    leaves = [surface.leaves[k] for k in used]

    kernel, fallback = f"{surface.name}_kernel", f"{surface.name}_numpy"
    words = distinct([value.name for value in values], {kernel, "np", "math", "njit"})
    header = Header(kernel, ", ".join(words), dict(zip(values, words, strict=True)), surface.result if whole else "", "", surface.lines)
    func.body.args = values
    emitted = emit(func, header)
    imports = [*import_lines(emitted.namespace), "from numba import njit"]
    head = docstring(f"The kernel of {surface.name}, written by symgrad.")
    text = "\n".join([head, "", *imports, "", "", DECORATOR, emitted.text])
    made = Kernel(kernel, text, "", fallback, leaves, [value.type for value in values], whole)
    made.caller = caller_text(made, surface, template, list(zip(func.results, results, strict=False)))
    return made


def is_reached(type_: Type) -> bool:
    """Can numba take an argument of this type, though nobody reads it?"""
    return isinstance(type_, Scalar) and type_.kind != "complex" or isinstance(type_, Array) and type_.shape is not None


def is_nest(template: ast.expr) -> bool:
    """Is a result made of tuples only, so that the kernel can make it?"""
    return all(isinstance(node, ast.Tuple | ast.Name | ast.Load) for node in ast.walk(template))


def converted(result: Operand) -> str | None:
    """The NumPy type that a number has as a result: a kernel hands back Python's."""
    type_ = result.type
    return NUMPY_TYPES[type_.dtype] if isinstance(type_, Scalar) and type_.dtype not in (None, "any") else None


def distinct(hints: Iterable[str | None], taken: Iterable[str]) -> list[str]:
    """A variable's name for each hint, none of them twice."""
    used, made = set(taken), []
    for hint in hints:
        name = base = clean(hint or "t")
        number = 0
        while name in used:
            number += 1
            name = f"{base}_{number}"
        used.add(name)
        made.append(name)
    return made


def import_lines(namespace: Mapping[str, Any]) -> list[str]:
    """The imports that give these names: modules, and functions by the modules that define them."""
    made = []
    for name, value in namespace.items():
        if isinstance(value, ModuleType):
            made.append(f"import {value.__name__}" + ("" if value.__name__ == name else f" as {name}"))
        else:
            own = value.__name__
            made.append(f"from {value.__module__} import {own}" + ("" if own == name else f" as {name}"))
    return sorted(made)


def caller_text(kernel: Kernel, surface: Surface, template: ast.expr, results: list[tuple[str, Operand]]) -> str:
    """The text of the function that calls the kernel."""
    call = f"{kernel.name}({', '.join(kernel.leaves)})"
    lines = [f"def {surface.name}({surface.signature}):", f"    {docstring(surface.doc)}", "    try:"]
    if kernel.direct:
        lines.append(f"        return {call}")
    else:
        taken = {kernel.name, kernel.fallback, *surface.objects, *names_in([surface.signature and f"lambda {surface.signature}: 0"])}
        taken |= names_in([*kernel.leaves, ast.unparse(template)])
        words = distinct([name for name, _ in results], taken)
        lines.append(f"        {', '.join(words) or '_'} = {call}" if words else f"        {call}")
    lines += ["    except Exception:  # left to NumPy, which raises too, or goes on", f"        return {kernel.fallback}({surface.passed})"]
    if not kernel.direct:
        numpy = distinct(["np"], taken | set(words))[0]
        space: dict[str, ast.expr] = {}
        for k, (word, (_, operand)) in enumerate(zip(words, results, strict=True)):
            kind = converted(operand)
            if kind is not None:
                kernel.namespace[numpy] = np
            made = ast.Name(word)
            space[f"__result_{k}__"] = made if kind is None else ast.Call(ast.Attribute(ast.Name(numpy), kind), [made], [])
        lines.append(f"    return {ast.unparse(ast.fix_missing_locations(replaced(template, space)))}")
    return "\n".join(lines) + "\n"


def names_in(texts: Iterable[str]) -> set[str]:
    """The names that expressions mention, parameters of lambdas included."""
    nodes = [node for text in texts if text for node in ast.walk(ast.parse(text, mode="eval"))]
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {node.arg for node in nodes if isinstance(node, ast.arg)}


__all__ = ["Kernel", "Surface", "emit_kernel"]
