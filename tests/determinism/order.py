"""Reads a package for places where what must not matter could be seen: the order of sets, identities, the order of directories.

What is a set is read off annotations and assignments; every function of the package is annotated, and mypy holds them to it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

#: calls that see the elements of a set in no order; ``sorted``, ``min`` and ``max`` only without a key, for keys may be equal
FREE = frozenset({"any", "all", "len", "bool", "set", "frozenset", "sum", "sorted", "min", "max", "isinstance", "type", "repr"})
KEYED = frozenset({"sorted", "min", "max"})
#: calls and methods that go through what they are given in order
ORDERED = frozenset(
    {"list", "tuple", "iter", "enumerate", "zip", "map", "filter", "dict", "deque", "fromkeys", "extend", "join", "chain", "from_iterable"}
)
OF_SETS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
BY_CHANCE = {"id": "an identity is used up with its object: use Same", "hash": "hashes differ from process to process"}
DIRECTORIES = frozenset({"listdir", "scandir", "iterdir", "glob", "rglob"})


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was found: the file, the text of the expression, the line, and what is wrong."""

    file: str
    text: str
    line: int
    what: str


def kind_of(annotation: ast.expr | None) -> str | None:
    """ "set" for sets of anything but integers, "holds sets" for mappings to such; None for all else."""
    match annotation:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return kind_of(left) or kind_of(right)
        case ast.Name(id="set" | "frozenset" | "Set" | "AbstractSet" | "MutableSet"):
            return "set"
        case ast.Subscript(value=ast.Name(id="set" | "frozenset" | "Set" | "AbstractSet" | "MutableSet"), slice=item):
            return None if ast.unparse(item) in ("int", "int | None", "bool") else "set"
        case ast.Subscript(value=ast.Name(id="dict" | "Mapping" | "defaultdict" | "MutableMapping"), slice=ast.Tuple(elts=[_, item])):
            return "holds sets" if kind_of(item) == "set" else None
        case ast.Constant(value=str(text)):
            return kind_of(ast.parse(text, mode="eval").body)
    return None


def agreed(kinds: Mapping[str, set[str | None]]) -> dict[str, str]:
    """Names that mean the same kind wherever they are defined."""
    return {name: kind for name, held in kinds.items() if len(held) == 1 and (kind := next(iter(held))) is not None}


@dataclass(slots=True)
class Known:
    """What the definitions of a package say: of functions and attributes by name, and of the attributes of each class."""

    functions: dict[str, str] = field(default_factory=dict)
    attributes: dict[str, str] = field(default_factory=dict)
    classes: dict[str, dict[str, str | None]] = field(default_factory=lambda: defaultdict(dict))

    @staticmethod
    def of(trees: Iterable[ast.AST]) -> Known:
        """Read the definitions."""
        functions: dict[str, set[str | None]] = defaultdict(set)
        attributes: dict[str, set[str | None]] = defaultdict(set)
        known = Known()
        for node in (n for tree in trees for n in ast.walk(tree)):
            if isinstance(node, ast.FunctionDef):
                functions[node.name].add(kind_of(node.returns))
            elif isinstance(node, ast.ClassDef):
                for inner in ast.walk(node):
                    match inner:
                        case ast.AnnAssign(target=ast.Name(id=name) | ast.Attribute(value=ast.Name(id="self"), attr=name), annotation=said):
                            attributes[name].add(kind_of(said))
                            known.classes[node.name][name] = kind_of(said)
                        case ast.FunctionDef(name=name, decorator_list=[ast.Name(id="property")], returns=said):
                            attributes[name].add(kind_of(said))
        known.functions, known.attributes = agreed(functions), agreed(attributes)
        return known


@dataclass(slots=True)
class Reader:
    """Reads the body of one function, or of a module."""

    file: str
    known: Known
    owner: str  #: the class around
    parents: dict[ast.AST, ast.AST]
    locals: dict[str, str | None] = field(default_factory=dict)

    def kind(self, node: ast.AST) -> str | None:
        """What an expression is, as far as that is told."""
        match node:
            case ast.Set(elts=elements):
                return None if all(isinstance(e, ast.Constant) and isinstance(e.value, int) for e in elements) else "set"
            case ast.SetComp():
                return "set"
            case ast.Name(id=name):
                return self.locals.get(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if name in self.known.classes.get(self.owner, {}):
                return self.known.classes[self.owner][name]
            case ast.Attribute(attr=name):
                return self.known.attributes.get(name)
            case ast.Call(func=ast.Name(id="set" | "frozenset")):
                return "set"
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in OF_SETS and self.kind(value) == "set":
                return "set"
            case ast.Call(func=ast.Attribute(value=value, attr="get" | "setdefault" | "pop")) if self.kind(value) == "holds sets":
                return "set"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                return self.known.functions.get(name)
            case ast.Subscript(value=value):
                return "set" if self.kind(value) == "holds sets" else None
            case ast.BinOp(left=left, op=ast.BitOr() | ast.BitAnd() | ast.Sub() | ast.BitXor(), right=right):
                return "set" if "set" in (self.kind(left), self.kind(right)) or self.is_view(left) else None
            case ast.IfExp(body=one, orelse=other):
                return self.kind(one) or self.kind(other)
            case ast.BoolOp(values=values):
                return next((k for v in values if (k := self.kind(v)) is not None), None)
            case ast.NamedExpr(value=value):
                return self.kind(value)
        return None

    def is_view(self, node: ast.AST) -> bool:
        """Is it the keys of a dict, of which operators make sets?"""
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "items")

    def enter(self, function: ast.FunctionDef | ast.Lambda) -> None:
        """Note the parameters."""
        arguments = function.args
        for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            self.locals[one.arg] = kind_of(one.annotation)

    def assign(self, nodes: Iterable[ast.AST]) -> None:
        """Note what is assigned to local names; one that is ever a set is one."""
        for node in nodes:
            match node:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=said):
                    self.locals[name] = kind_of(said)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.NamedExpr(target=ast.Name(id=name), value=value):
                    self.locals[name] = self.locals.get(name) or self.kind(value)
                case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
                    for target, value in zip(targets, values):
                        if isinstance(target, ast.Name):
                            self.locals[target.id] = self.locals.get(target.id) or self.kind(value)

    def consumed(self, node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
        """The expressions that a node goes through in order, and how."""
        match node:
            case ast.For(iter=over):
                yield over, "a loop goes over a set"
            case ast.ListComp(generators=generators) | ast.DictComp(generators=generators) | ast.GeneratorExp(generators=generators):
                if not (isinstance(node, ast.GeneratorExp) and self.is_free(node)):
                    yield from ((one.iter, "a comprehension goes over a set") for one in generators)
            case ast.Starred(value=value, ctx=ast.Load()) if not isinstance(self.parents.get(node), ast.Set):
                yield value, "a set is spread out"
            case ast.YieldFrom(value=value):
                yield value, "a set is spread out"
            case ast.Call(func=ast.Attribute(value=value, attr="pop"), args=[], keywords=[]):
                yield value, "some element of a set is taken"
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                if name in ORDERED or name in KEYED and any(k.arg == "key" for k in keywords):
                    yield from ((a, f"{name} goes through a set") for a in args)
            case ast.AugAssign(target=target, op=ast.Add(), value=value) if self.kind(target) != "set":
                yield value, "a set is added to a list"

    def is_free(self, node: ast.GeneratorExp) -> bool:
        """Is a generator expression handed to what sees no order?"""
        match self.parents.get(node):
            case ast.Call(func=ast.Name(id=name), keywords=keywords):
                return name in FREE and not any(k.arg == "key" for k in keywords)
            case ast.Call(func=ast.Attribute(value=value, attr=name)):
                return self.kind(value) == "set" and (
                    name in OF_SETS or name in ("update", "difference_update", "issuperset", "isdisjoint")
                )
        return False

    def places(self, nodes: Iterable[ast.AST]) -> Iterator[Place]:
        """What is found among the nodes."""
        for node in nodes:
            for over, what in self.consumed(node):
                if self.kind(over) == "set" or isinstance(over, ast.BinOp) and self.kind(over) == "set":
                    yield Place(self.file, ast.unparse(over), over.lineno, what)
            match node:
                case ast.Call(func=ast.Name(id="id" | "hash" as name)):
                    yield Place(self.file, ast.unparse(node), node.lineno, BY_CHANCE[name])
                case ast.Name(id="id" | "hash" as name, ctx=ast.Load()) if not isinstance(self.parents.get(node), ast.Call):
                    yield Place(self.file, ast.unparse(node), node.lineno, BY_CHANCE[name])
                case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="id" | "hash" as name), *_]):
                    yield Place(self.file, ast.unparse(node), node.lineno, BY_CHANCE[name])
                case ast.Call(func=ast.Attribute(attr=name)) if name in DIRECTORIES:
                    above = self.parents.get(node)
                    if not (isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id in ("sorted", "any", "all")):
                        yield Place(self.file, ast.unparse(node), node.lineno, "a directory is read in no order")


def own_nodes(root: ast.AST) -> list[ast.AST]:
    """The nodes of a function or module, without the functions inside it."""
    nodes: list[ast.AST] = []
    waiting = list(ast.iter_child_nodes(root))
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)
    return nodes


def read_scope(
    file: str, known: Known, parents: dict[ast.AST, ast.AST], root: ast.AST, owner: str, outer: dict[str, str | None]
) -> Iterator[Place]:
    """What is found in a function, class or module, and in what is inside it."""
    reader = Reader(file, known, owner, parents, dict(outer))
    if isinstance(root, ast.FunctionDef):
        reader.enter(root)
    nodes = own_nodes(root)
    in_order = sorted((n for n in nodes if hasattr(n, "lineno")), key=lambda n: (n.lineno, n.col_offset))
    for _ in range(2):  # what is assigned may stand behind where it is read, in a loop
        reader.assign(in_order)
    yield from reader.places(in_order)
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inside = node.name if isinstance(node, ast.ClassDef) else owner
            yield from read_scope(file, known, parents, node, inside, {} if isinstance(node, ast.ClassDef) else reader.locals)


def places_in(texts: Mapping[str, str]) -> list[Place]:
    """What is found in the files of a package, given as texts."""
    trees = {name: ast.parse(text) for name, text in texts.items()}
    known = Known.of(trees.values())
    places: list[Place] = []
    for name, tree in trees.items():
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        places += read_scope(name, known, parents, tree, "", {})
    return sorted(places, key=lambda place: (place.file, place.line, place.text))


def package(root: Path) -> dict[str, str]:
    """The texts of a package's files, by their paths."""
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
