"""Emission: a ``Func`` -> Python source: the user's statements, then, for a gradient, its backward half.

``layout`` chooses what is nested, ``naming`` the variables, ``expressions`` spells the ops, and ``writer``
builds statements. This module combines the functions of a program and prints them, with the names that their
module needs.
"""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from symgrad.codegen.comments import Mark, annotate
from symgrad.codegen.expressions import Names
from symgrad.codegen.globals import collect
from symgrad.codegen.header import Header, outer_names, plain_header
from symgrad.codegen.seam import nodes, to_run, to_text
from symgrad.codegen.texts import Emitted
from symgrad.codegen.writer import Writer
from symgrad.ir.core import Call, Func, walk
from symgrad.ir.show import callees
from symgrad.runtime.find import find


def emit(func: Func, header: Header) -> Emitted:
    """The source of a function and of the functions that it calls.

    >>> from symgrad.ir.core import Block, Value
    >>> from symgrad.ops.build import Builder
    >>> from symgrad.ir.types import FLOAT
    >>> import symgrad.ops.engine
    >>> x = Value(FLOAT, "x")
    >>> build = Builder(Block([x]))
    >>> build.block.yields = [build.call("number", x)]
    >>> print(emit(Func("f", build.block), Header("f", "x")).text)
    def f(x):
        return float(x)
    <BLANKLINE>
    """
    marks: dict[ast.stmt, Mark] = {}
    definitions, names = written(func, header, marks)
    text, read = to_text(ast.Module(definitions, []))
    text, line_map = annotate(text, definitions, read.body, marks, header.lines if header.comments else None, func.notes)
    mentioned = {node.id for node in nodes(read) if isinstance(node, ast.Name)}
    return Emitted(text, {k: v for k, v in names.namespace.items() if k in mentioned}, line_map)


def emit_to_run(func: Func, header: Header) -> tuple[ast.Module, dict[str, Any]]:
    """A function as a tree that is compiled and never printed, and its global names."""
    definitions, names = written(func, replace(header, once=True), {})
    return to_run(ast.Module(definitions, [])), names.namespace


def written(func: Func, header: Header, marks: dict[ast.stmt, Mark]) -> tuple[list[ast.stmt], Names]:
    """The definitions of a function and of its callees, with the names that they take from their module."""
    funcs = called(func)
    headers = {func: header}
    taken = {header.name, header.again.partition("(")[0], *header.beside}
    for other in funcs:
        if other is not func:
            headers[other] = replace(plain_header(other, taken | set(header.objects)), once=header.once)
            taken.add(headers[other].name)
    hidden = frozenset(taken).union(*(outer_names(h) for h in headers.values()))
    names = Names(hidden - set(header.objects), find, dict(header.objects))
    texts: dict[Call, str] = {}
    inner = {other: collect(other, names, texts) for other in funcs}
    return [Writer(other, headers[other], names, headers, marks, inner[other], texts).function() for other in funcs], names


def called(func: Func) -> list[Func]:
    """The function and all its callees, callees first."""
    funcs: dict[Func, None] = {}
    pending = [func]
    while pending:
        current = pending.pop()
        if current not in funcs:
            funcs[current] = None
            pending += [callee for op in walk(current.body) for callee in callees(op)]
    return list(funcs)[::-1]


__all__ = ["emit", "emit_to_run"]
