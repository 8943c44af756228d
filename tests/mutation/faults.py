"""Faults that can be put into a module one at a time: an edit of one node of its syntax tree."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

#: operators that are exchanged
COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot,
    ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr}
#: calls that change nothing but what is told
TELLING = ("add", "tell", "told", "document")


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """An edit: of the ``number``-th node of a module, in the order of ``ast.walk``, by one of ``EDITS``."""

    module: str  #: its path in the package
    line: int
    kind: str
    number: int
    function: str
    text: str  #: the line

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.function}: {self.kind}: {self.text}"


# ------------------------------------------------------------------ edits: a node to what stands in its place, None if it has no such edit


def negated(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
        return node
    return None


def exchanged(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node
    return None


def compared(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        node.ops[0] = COMPARED[type(node.ops[0])]()
        return node
    return None


def computed(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED and not isinstance(node.left, ast.JoinedStr):
        node.op = COMPUTED[type(node.op)]()
        return node
    return None


def swapped(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Call) and len(node.args) >= 2 and not any(isinstance(a, ast.Starred) for a in node.args[:2]):
        if isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "zip", "getattr", "hasattr", "issubclass", "cast", "map"):
            return None
        if ast.dump(node.args[0]) == ast.dump(node.args[1]):
            return None
        node.args[0], node.args[1] = node.args[1], node.args[0]
        return node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div | ast.FloorDiv | ast.Mod):
        node.left, node.right = node.right, node.left
        return node
    return None


def stepped(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(node.value + 1)
    if isinstance(node, ast.Constant) and type(node.value) is bool:
        return ast.Constant(not node.value)
    return None


def dropped(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        return None if isinstance(function, ast.Attribute) and ast.unparse(function.value).endswith("notes") else ast.Pass()
    return ast.Pass() if isinstance(node, ast.AugAssign) else None


def ended(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.FunctionDef) and len(node.body) > 1 and node.args.args:
        first = node.args.args[1 if node.args.args[0].arg == "self" and len(node.args.args) > 1 else 0].arg
        start = 1 if ast.get_docstring(node) else 0
        node.body.insert(start, ast.Return(ast.Name(first, ast.Load())))
        return node
    return None


def left_out(node: ast.AST) -> ast.AST | None:
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and len(node.elts) > 1 and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        node.elts.pop()
        return node
    return None


EDITS: dict[str, Callable[[ast.AST], ast.AST | None]] = {
    "negated condition": negated, "and for or": exchanged, "other comparison": compared, "other operator": computed, "swapped operands": swapped,
    "constant off by one": stepped, "statement dropped": dropped, "early return": ended, "last item left out": left_out,
}  # fmt: skip


class Place(ast.NodeTransformer):
    """Makes one edit."""

    def __init__(self, target: ast.AST, edit: Callable[[ast.AST], ast.AST | None]) -> None:
        self.target, self.edit = target, edit

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.target:
            edited = self.edit(node)
            assert edited is not None
            return ast.copy_location(edited, node)
        return self.generic_visit(node)


def faults_of(root: Path, module: str, reached: set[int]) -> Iterator[Fault]:
    """Every fault of a module, inside those of its functions that are reached: ``reached`` are their first lines."""
    text = (root / module).read_text()
    tree, lines = ast.parse(text), text.splitlines()
    names: dict[ast.AST, str] = {}
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            first = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])
            for inner in ast.walk(function):
                if first in reached:
                    names[inner] = function.name
                else:
                    names.pop(inner, None)
    told = {inner for node in ast.walk(tree) if is_said(node) for inner in ast.walk(node)}
    for number, node in enumerate(ast.walk(tree)):
        if node not in names or node in told or not hasattr(node, "lineno"):
            continue
        for kind, edit in EDITS.items():
            if has_edit(node, kind) and edit(copy.deepcopy(node)) is not None:
                yield Fault(module, node.lineno, kind, number, names[node], lines[node.lineno - 1].strip())


def has_edit(node: ast.AST, kind: str) -> bool:
    """Could the edit apply to nodes of this class?"""
    classes = {
        "negated condition": ast.If | ast.While | ast.IfExp, "and for or": ast.BoolOp, "other comparison": ast.Compare,
        "other operator": ast.BinOp, "swapped operands": ast.Call | ast.BinOp, "constant off by one": ast.Constant,
        "statement dropped": ast.Expr | ast.AugAssign, "early return": ast.FunctionDef, "last item left out": ast.List | ast.Tuple | ast.Set,
    }  # fmt: skip
    return isinstance(node, classes[kind])


def is_said(node: ast.AST) -> bool:
    """Does a statement only raise or tell something, or annotate?"""
    if isinstance(node, ast.Raise | ast.Assert | ast.arguments | ast.JoinedStr):
        return True
    return isinstance(node, ast.If) and "notes" in ast.unparse(node.test)


def annotations(path: Path) -> set[int]:
    """The nodes of annotations, which nothing runs, by their numbers."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    parts = [getattr(node, name, None) for node in nodes for name in ("returns", "annotation")]
    inside = {inner for part in parts if part is not None for inner in ast.walk(part)}
    return {number for number, node in enumerate(nodes) if node in inside}


def mutated(root: Path, fault: Fault) -> str:
    """The text of the module with the fault."""
    tree = ast.parse((root / fault.module).read_text())
    target = list(ast.walk(tree))[fault.number]
    return ast.unparse(ast.fix_missing_locations(Place(target, EDITS[fault.kind]).visit(tree)))


def chosen(root: Path, package: str, count: int, seed: int, reached: dict[str, set[int]]) -> list[Fault]:
    """Some faults of the modules of a package in functions that are reached: of each kind about as many."""
    random = Random(f"{seed} {package}")
    by_kind: dict[str, list[Fault]] = {kind: [] for kind in EDITS}
    for path in sorted((root / package).rglob("*.py")):
        module = path.relative_to(root).as_posix()
        lines = reached.get(module, set())
        for fault in faults_of(root, module, lines) if lines else ():
            by_kind[fault.kind].append(fault)
    annotated = {module: annotations(root / module) for module in reached if (root / module).is_file()}
    for kind, faults in by_kind.items():
        random.shuffle(faults)
        by_kind[kind] = [fault for fault in faults if fault.number not in annotated[fault.module]]
    selection: list[Fault] = []
    while len(selection) < count and any(by_kind.values()):
        selection += [faults.pop() for faults in by_kind.values() if faults]
    return selection[:count]
