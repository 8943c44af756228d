"""Reads the functions of a module's text without running it: they are built from compiled code and from literal values.

Assignments whose right side is a value (``symgrad.values``) are read, modules of ``MODULES`` are imported, and everything else at the
top of the text is passed over, with a remark.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import importlib
import linecache
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.text.matching import KEPT
from symgrad.values import NotAValue, value_of

#: modules whose import runs nothing of the user's
MODULES = frozenset({"__future__", "cmath", "collections", "functools", "itertools", "math", "numpy", "operator", "scipy", "typing"})
#: annotations that say a type
ANNOTATIONS = {"float": float, "int": int, "bool": bool, "complex": complex}


class NotPython(ValueError):
    """The text cannot be parsed: the message, and the line."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class Module:
    """The definitions of a text: functions by name, data, and remarks on skipped statements by line."""

    file: str
    functions: dict[str, types.FunctionType] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    remarks: list[tuple[int, str]] = field(default_factory=list)


def read_module(text: str, name: str = "edited.py") -> Module:
    """Read a text without executing it; raise NotPython if it is invalid. ``name`` is the displayed file name.

    >>> module = read_module("SCALE = 2.0\\ndef f(x):\\n    return SCALE * x\\nprint('never printed')\\n")
    >>> list(module.functions), module.data, module.remarks
    (['f'], {'SCALE': 2.0}, [(4, "print('never printed') is not executed")])
    """
    file = file_of(text, name)
    tree = parsed(text, file)
    code = compile(tree, file, "exec", dont_inherit=True)
    module = Module(file)
    space: dict[str, Any] = {"__name__": "explored", "__builtins__": builtins, KEPT: {file: text}}
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    codes = {(one.co_name, one.co_firstlineno): one for one in code.co_consts if isinstance(one, types.CodeType)}
    for statement in tree.body:
        try:
            read_statement(statement, module, space, codes)
        except NotAValue as error:
            module.remarks.append((statement.lineno, str(error)))
    return module


def file_of(text: str, name: str) -> str:
    """The name under which a text is compiled: its end is that of the file that is edited."""
    return f"<explorer {hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:12]}>/{name}"


def parsed(text: str, file: str) -> ast.Module:
    """The tree of a text that compiles; NotPython where there is none."""
    try:
        tree = ast.parse(text, file)
        compile(tree, file, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise NotPython(error.msg, error.lineno or 0) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise NotPython(str(error) or type(error).__name__, 0) from None
    return tree


Codes = dict[tuple[str, int], types.CodeType]


def read_statement(statement: ast.stmt, module: Module, space: dict[str, Any], codes: Codes) -> None:
    """Read the definitions of a top-level statement; raise NotAValue with the reason if it is skipped."""
    match statement:
        case ast.Import() | ast.ImportFrom():
            space.update(imported(statement))
        case ast.Assign(targets=[ast.Name(id=name)], value=tree) | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as tree):
            space[name] = module.data[name] = value_of(tree, module.data)
        case ast.FunctionDef():
            function = function_of(statement, module, space, codes)
            space[statement.name] = module.functions[statement.name] = function
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
            return
        case _:
            raise NotAValue(f"{first_line(statement)} is not executed")


def first_line(node: ast.AST) -> str:
    """The head of a statement."""
    return ast.unparse(node).split("\n")[0]


def imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, Any]]:
    """Return the names that a trusted import binds; raise NotAValue otherwise."""
    if not is_trusted(statement):
        raise NotAValue(
            f"{ast.unparse(statement)} is not executed; modules that are imported: {', '.join(sorted(MODULES - {'__future__'}))}"
        )
    for alias in statement.names:
        try:
            if isinstance(statement, ast.Import):
                whole = importlib.import_module(alias.name)
                first = alias.name.partition(".")[0]
                yield (alias.asname, whole) if alias.asname else (first, importlib.import_module(first))
            elif statement.module != "__future__":
                yield alias.asname or alias.name, getattr(importlib.import_module(str(statement.module)), alias.name)
        except (ImportError, AttributeError) as error:
            raise NotAValue(str(error)) from None


def is_trusted(statement: ast.Import | ast.ImportFrom) -> bool:
    """Whether an import names modules of ``MODULES`` alone."""
    names = [alias.name for alias in statement.names] if isinstance(statement, ast.Import) else [statement.module or ""]
    named = not isinstance(statement, ast.ImportFrom) or statement.level == 0 and all(alias.name != "*" for alias in statement.names)
    return named and all(name.partition(".")[0] in MODULES for name in names)


def function_of(node: ast.FunctionDef, module: Module, space: dict[str, Any], codes: Codes) -> types.FunctionType:
    """Build the function of a ``def`` from its code and the values of its defaults; raise NotAValue if that is not sufficient."""
    if node.decorator_list:
        raise NotAValue(f"{node.name} has a decorator, which is not executed")
    for one in ast.walk(node):
        if isinstance(one, ast.Import | ast.ImportFrom) and not is_trusted(one):
            raise NotAValue(f"{node.name} imports in line {one.lineno}: {ast.unparse(one)} is not executed")
    function = types.FunctionType(codes[node.name, node.lineno], space, node.name)
    function.__module__ = "explored"
    function.__defaults__ = tuple(value_of(default, module.data) for default in node.args.defaults) or None
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    function.__kwdefaults__ = {arg.arg: value_of(default, module.data) for arg, default in pairs if default is not None} or None
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    function.__annotations__ = {
        p.arg: ANNOTATIONS[p.annotation.id] for p in parameters if isinstance(p.annotation, ast.Name) and p.annotation.id in ANNOTATIONS
    }
    function.__doc__ = ast.get_docstring(node, clean=False)
    return function


__all__ = ["MODULES", "Module", "NotPython", "file_of", "parsed", "read_module"]
