"""One module answers each protocol; a bound on the places that inspect the kind of a binding."""

from __future__ import annotations

import ast
from pathlib import Path

import symgrad.frontend

#: the modules that answer, by what they are asked
ANSWERS = {
    "operators": "operators", "is, ==, order, in": "comparison", "truth": "truths", "one object or two": "sameness", "one array or two": "aliases",
    "class, callable": "exact", "text": "printed", "tuples handed on": "python_results", "special methods": "protocols", "attributes": "attributes", "items": "loads", "items that are stored": "stores",
    "items that are computed": "chosen", "items of dicts": "dict_items", "keys that are computed": "computed_keys", "dicts that get such keys": "growing_dicts",
    "sets that get such elements": "growing_sets", "dicts and sets that stand in such dicts": "growing_inner",
    "orders of lists of any length": "sorting",
    "items with parts": "sequences", "iteration": "iterables", "zip": "zipping", "one item more": "appending", "iterators": "stepping", "length, hasattr": "builtins", "conversions to numbers": "number_builtins", "sums, any, all": "folding",
    "calls": "calls", "calls with a star": "starred", "classes in functions": "class_definitions", "methods": "methods", "methods of lists": "lists", "stores": "targets", "attributes that are assigned to": "assigned_attributes",
    "reading": "conversions", "new objects": "heap", "names": "context", "joins": "joins", "joins of values of different kinds": "joined_choices", "what a join asks": "joinable", "forms": "abstract_values", "operands": "operands", "operands of loops and joins": "filling", "reach": "reach", "one of several": "enumerated",
    "texts and sets that are computed": "python_values", "absent": "absent", "kinds": "bindings", "states of the program": "program_state", "kinship": "kinship", "ranges, counters": "static_containers", "copies": "copying", "patterns": "match", "loops": "carried",
    "examples of a batch": "batches", "results of a batch": "batch_results", "tangents": "directional", "rules for tangents": "pushed",
    "derivatives inside a function": "nested", "functions on parameters of their own": "inner",
    "calls of solvers": "solving", "calls of splines": "interpolants",
    "what generators take and return": "generators", "parts of arguments that a path names": "inner_parts", "what a base class holds": "derived",
    "what __new__ and super() give": "derived_values",
    "identity": "identity", "texts of exceptions": "exception_texts",
}  # fmt: skip
#: how often other modules look at the kind of a binding: this may only become less
MOST = 227
KINDS = {
    "Num",
    "Ref",
    "Tup",
    "Obj",
    "Static",
    "External",
    "Iter",
    "Generator",
    "View",
    "Fun",
    "Bound",
    "Maybe",
    "OneOf",
    "Choice",
    "Partial",
}


def looks(tree: ast.Module) -> list[int]:
    """The lines where the kind of a binding is looked at."""
    lines: list[int] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]) if KINDS & {
                n.id for n in ast.walk(kinds) if isinstance(n, ast.Name)
            }:
                lines.append(node.lineno)
            case ast.MatchClass(cls=ast.Name(id=kind)) if kind in KINDS:
                lines.append(node.lineno)
    return lines


def counts() -> dict[str, int]:
    folder = Path(symgrad.frontend.__file__).parent
    return {
        path.stem: len(looks(ast.parse(path.read_text()))) for path in sorted(folder.rglob("*.py")) if path.stem not in ANSWERS.values()
    }


def test_fewer_and_fewer_look_at_the_kind_of_a_binding() -> None:
    counted = counts()
    assert sum(counted.values()) <= MOST, {name: n for name, n in counted.items() if n}


def test_the_modules_that_answer_exist() -> None:
    modules = {path.stem for path in Path(symgrad.frontend.__file__).parent.rglob("*.py")}
    assert [name for name in ANSWERS.values() if name not in modules] == []
