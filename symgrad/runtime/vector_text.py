"""The rows that have a function in ``vector`` or ``circular``, and the source of these functions for saved modules.

Imports no numba. The text of a function is copied into a module with all its dependencies. A module that imports the functions instead
contains their fingerprint, because numba's cache of compiled code does not notice changes of a called function.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

#: rows of the vocabulary, and the functions of real numbers that compute them; float32 is computed as float64 and rounded by the caller
VECTOR = {
    "arctan": "vector_arctan",
    "arctan2": "vector_arctan2",
    "cbrt": "vector_cbrt",
    "cos": "vector_cos",
    "cosh": "vector_cosh",
    "erf": "vector_erf",
    "exp": "vector_exp",
    "exp2": "vector_exp2",
    "expm1": "vector_expm1",
    "float_power": "vector_power",
    "log": "vector_log",
    "log10": "vector_log10",
    "log1p": "vector_log1p",
    "log2": "vector_log2",
    "power": "vector_power",
    "sin": "vector_sin",
    "sinh": "vector_sinh",
    "tan": "vector_tan",
    "tanh": "vector_tanh",
}
#: those of ``circular.py``; the others are in ``vector.py``
CIRCULAR = ("vector_arctan", "vector_arctan2", "vector_cos", "vector_sin", "vector_tan")
MODULES = ("vector", "circular")


def path_of(module: str) -> Path:
    """The file of a module of the runtime."""
    return Path(__file__).with_name(f"{module}.py")


@cache
def fingerprint() -> str:
    """Names the state of the functions: another one for any other text of theirs."""
    return hashlib.sha256(b"".join(path_of(module).read_bytes() for module in MODULES)).hexdigest()[:16]


@cache
def statements(module: str = "vector") -> dict[str, tuple[ast.stmt, str]]:
    """The statement of a module of the runtime that defines each name, with its text; imports one by one.

    A name that it imports from a neighbouring module has that module's statement.
    """
    text = path_of(module).read_text(encoding="utf-8")
    lines = text.splitlines()
    definitions: dict[str, tuple[ast.stmt, str]] = {}
    for node in ast.parse(text).body:
        match node:
            case ast.Import(names):
                definitions |= {a.asname or a.name: (node, f"import {a.name}" + (f" as {a.asname}" if a.asname else "")) for a in names}
            case ast.ImportFrom(str() as other) if other.startswith("symgrad.runtime."):
                definitions |= statements(other.rpartition(".")[2])
            case ast.ImportFrom(other, names) if other != "__future__":
                definitions |= {a.name: (node, f"from {other} import {a.name}") for a in names}
            case ast.FunctionDef(name, decorator_list=decorators):
                first = decorators[0].lineno if decorators else node.lineno
                definitions[name] = node, "\n".join(lines[first - 1 : node.end_lineno])
            case ast.Assign(targets):
                first = node.lineno - 1
                while lines[first - 1].startswith("#:"):
                    first -= 1
                shown = "\n".join(lines[first : node.end_lineno])
                definitions |= {n.id: (node, shown) for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return definitions


#: decorators of numba that say how a function is typed or compiled, by their first argument
TELLING = ("overload", "type_callable", "lower_builtin")


def told_of(node: ast.stmt) -> set[str]:
    """Return the functions for which this one registers an overload, a type or a lowering with numba."""
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    calls = [d for d in decorators if isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id in TELLING]
    return {a.id for call in calls for a in call.args[:1] if isinstance(a, ast.Name)}


def needed(functions: Iterable[str], modules: Iterable[str] = MODULES) -> list[str]:
    """The names that these functions of modules need, and their own, in the order of the modules.

    >>> [name for name in needed(["vector_cosh"]) if name.islower()][-3:]
    ['from_bits', 'exp_tail', 'vector_cosh']
    """
    known = {name: definition for module in modules for name, definition in statements(module).items()}
    waiting = list(functions)
    if unknown := [name for name in waiting if name not in known]:
        raise ValueError(f"no vector functions: {', '.join(unknown)}")
    names: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += [n.id for n in ast.walk(known[name][0]) if isinstance(n, ast.Name) and n.id in known]
            waiting += [other for other, (node, _) in known.items() if name in told_of(node)]
    return [name for name in known if name in names]


def source(functions: Iterable[str], modules: Iterable[str] = MODULES) -> str:
    """The text that defines these functions of modules of the runtime: it needs NumPy and numba, nothing of symgrad.

    >>> source(["vector_log"]).splitlines()[0]
    'import math'
    """
    modules = list(modules)
    known = {name: definition for module in modules for name, definition in statements(module).items()}
    names = needed(functions, modules)
    shown, previous = "", None
    for node, text in dict.fromkeys(known[name] for name in names):
        close = isinstance(node, ast.Import | ast.ImportFrom | ast.Assign) and (previous is None or isinstance(node, type(previous)))
        close = close or isinstance(previous, ast.Import | ast.ImportFrom) and isinstance(node, ast.Import | ast.ImportFrom)
        shown += ("\n" if close else "\n\n\n") + text
        previous = node
    return shown.lstrip() + "\n"
