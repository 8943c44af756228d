"""Only ``frontend/objects/reading.py`` reads what stands outside the function: a check of the source."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[2] / "symgrad" / "frontend"
FUNCTIONS = {"getattr", "hasattr", "vars", "dir", "getattr_static", "import_module", "__import__"}
ATTRIBUTES = {"__dict__", "__globals__", "__closure__", "__defaults__", "__kwdefaults__"}

#: what an object is called: words of messages and stems of emitted names, and which library it is of
NAMES = {"__name__", "__qualname__", "__module__"}
#: modules whose content is Python's or NumPy's own
LIBRARIES = {
    "np",
    "np.random",
    "np.fft",
    "math",
    "cmath",
    "operator",
    "builtins",
    "functools",
    "itertools",
    "iterating",
    "ast",
    "python_builtins",
    "__builtins__",
    "object",
    "ufunc",
}
#: variables that hold nodes of syntax trees, code objects or types of the IR, by the modules that read their fields so
NODES = {"node", "inner", "statement", "new", "old", "self.node", "callee.node", "loader"}
TYPES = {"type_", "t", "target"}

#: other reads, by module and function: how many, and why no record is needed
REASONS: dict[tuple[str, str], tuple[int, str]] = {
    ("activation", "default_places"): (2, "each is read by a text when the call leaves the argument out"),
    ("adapters", "*"): (12, "what a callable that was given stands for: made once, before a program is read; the table tells them apart"),
    ("attributes", "attribute_of"): (1, "names that Python's texts and sets have"),
    ("attributes", "of_kind"): (1, "names that Python's tuples have"),
    ("abstract_values", "static_part"): (1, "a field of a binding"),
    ("attributes", "of_class"): (1, "the walk through the classes; each case notes what it takes"),
    ("attributes", "of_entry"): (1, "the walk through the classes; each case notes what it takes"),
    ("interpolants", "*"): (
        7,
        "what SciPy's splines say of themselves: classes and functions of one library, told apart by identity before",
    ),
    ("calls", "-"): (1, "the code of a Python function's own"),
    ("calls", "is_dispatching"): (1, "the same"),
    ("samples", "parts"): (1, "the function that a wrapper of SciPy's holds, which never changes"),
    ("python_values", "*"): (2, "methods of texts and sets of Python's"),
    ("batches", "*"): (3, "fields of a binding, for the name of a function in messages"),
    ("frames", "file_of"): (3, "the file of a function of an installed package, which tells only whether it is one"),
    ("calls", "call_of_kind"): (1, "functions that classes of the standard library define in Python"),
    ("calls", "call_static"): (4, "marks that only objects of ours have"),
    ("class_definitions", "*"): (5, "fields of nodes of syntax trees, and of a property that the program itself defines"),
    ("starred", "fields_of"): (2, "which kind of class is called: its fields are written when it is defined"),
    ("classes", "*"): (7, "which kind of class is made: its fields are written when it is defined"),
    ("dicts", "combined"): (1, "a method of a set of ours"),
    ("iterables", "every_item"): (1, "a field of a binding"),
    ("outside", "variable_of_module"): (1, "which module it is"),
    ("purity", "is_pure_use"): (2, "what a function that may be called is written in; it is called by name"),
    ("purity", "makes_seeded"): (1, "the same"),
    ("matching", "*"): (10, "the fields of code objects and nodes; the loader and the file of a module, and where a text is kept"),
    ("loads", "*"): (3, "a class of another library's; fields of types"),
    ("methods", "call_method"): (1, "a method of a generator of random numbers"),
    ("nested", "*"): (4, "marks that only derivatives of ours have"),
    ("declared", "check_conversions"): (2, "what numba was told when the function was declared"),
    ("outside", "outside"): (3, "the kind of an object, whose identity or class is noted"),
    ("derived", "*"): (4, "classes of containers, which are refused if they define what counts"),
    ("reach", "memory_held"): (1, "fields of bindings"),
    ("derived_values", "of_super_class"): (2, "which class defines the name; its entry is read by the getter"),
    ("comparison", "is_by_identity"): (2, "whether a class of C compares by identity"),
    ("results", "record_text"): (1, "which kind of class is made, as in classes"),
    ("source", "*"): (11, "the getter's own way to names; whether a wrapper is one of Python's"),
}


def reads(path: Path) -> list[tuple[str, str]]:
    """The reads of attributes by name in a module: the function that does it, and the expression."""
    reads_of: list[tuple[str, str]] = []

    def visit(node: ast.AST, function: str) -> None:
        match node:
            case ast.FunctionDef(name=name) if function == "-":
                function = name
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[first, *rest]) if name in FUNCTIONS:
                if not is_plain(first, rest):
                    reads_of.append((function, ast.unparse(node)))
            case ast.Attribute(attr=name) if name in ATTRIBUTES:
                reads_of.append((function, ast.unparse(node)))
        for inner in ast.iter_child_nodes(node):
            visit(inner, function)

    visit(ast.parse(path.read_text()), "-")
    return reads_of


def is_plain(owner: ast.expr, rest: list[ast.expr]) -> bool:
    """Is it a field of a type of the IR or of a node, something of a library's, or what an object is called?"""
    text = ast.unparse(owner)
    if rest and isinstance(rest[0], ast.Constant) and rest[0].value in NAMES:
        return True
    return text in LIBRARIES | NODES | TYPES or text.endswith(".type") or "ctx.type_of(" in text


@pytest.mark.parametrize("path", sorted(FRONTEND.rglob("*.py")), ids=lambda path: path.stem)
def test_the_outside_world_has_one_getter(path: Path) -> None:
    if path.stem == "reading":
        return
    counts = Counter(function for function, _ in reads(path))
    whole = REASONS.get((path.stem, "*"))
    if whole is not None:
        assert sum(counts.values()) <= whole[0], reads(path)
        return
    for function, count in counts.items():
        allowed, _ = REASONS.get((path.stem, function), (0, ""))

        assert count <= allowed, [text for where, text in reads(path) if where == function]
