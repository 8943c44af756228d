"""Names of variables, attributes and functions state their content or action."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from structure import FILES, tree_of
from structure import ROOT as PACKAGE

#: every module of the tests
TESTS = sorted(path for path in (PACKAGE.parent / "tests").rglob("*.py") if "__pycache__" not in path.parts)

#: words that say nothing of what a variable holds
EMPTY = {"made", "found", "had", "wanted", "given"}

Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def local_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The names that functions bind: parameters, variables, functions inside them."""
    todo = [(tree, False)]
    while todo:
        node, inside = todo.pop()
        if inside:
            if isinstance(node, ast.arg):
                yield node.lineno, node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.lineno, node.id
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node.lineno, node.name
            elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name is not None:
                yield node.lineno, node.name
        todo += [(inner, inside or isinstance(node, Function)) for inner in ast.iter_child_nodes(node)]


def other_names(tree: ast.AST) -> Iterator[str]:
    """The names of attributes, and of what stands in a module or class."""
    for node in ast.walk(tree):
        for inner in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield inner.name
            for target in inner.targets if isinstance(inner, ast.Assign) else [inner.target] if isinstance(inner, ast.AnnAssign) else ():
                yield from (name.id for name in ast.walk(target) if isinstance(name, ast.Name))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_a_name_says_what_it_stands_for() -> None:
    tests = [path for path in TESTS if "emitted" not in path.parts]
    trees = {path.relative_to(PACKAGE.parent): tree_of(path) for path in [*FILES, *tests]}
    named = [f"{path}:{line} {name}" for path, tree in trees.items() for line, name in local_names(tree) if name in EMPTY]
    named += [f"{path} {name}" for path, tree in trees.items() for name in other_names(tree) if name in EMPTY]
    assert not named, "\n".join(dict.fromkeys(named))
