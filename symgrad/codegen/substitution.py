"""Forward substitution in emitted statements, for text that is read: a temporary that is read once is printed where it is read.

t = a * b; x += t    ->   x += a * b      both from one line of the user's
t = -s; x += t * a   ->   x -= s * a
t = list(g); t[0]    ->   g[0]

Only temporaries go; the user's variables, and their cotangents, keep their statements.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Any

from symgrad.codegen.seam import replaced
from symgrad.codegen.signs import added, sign
from symgrad.codegen.texts import Mark
from symgrad.identity import DisjointSets

WIDTH = 96
INDENT = 4
SIMPLE = (ast.Assign, ast.AugAssign, ast.Return)
LEAVES = (ast.Break, ast.Continue, ast.Return, ast.Raise)
#: expressions with variables of their own
SCOPED = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr)
#: methods that change their object
CHANGING = frozenset({"append", "pop", "insert", "extend", "clear", "remove", "sort", "fill", "update"})
#: the runtime's conversion of an array to lists, and Python's
LISTS = frozenset({"list", "nested_list"})
NUMBER = re.compile(r"(_\d+)+$")


@dataclass(slots=True)
class Effects:
    """The effects of a statement on names: loads (with repetitions), stores, and changes in place."""

    loads: list[str] = field(default_factory=list)
    stores: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    is_opaque: bool = False  #: whether it may do anything else

    @staticmethod
    def of(statement: ast.AST) -> Effects:
        """The effects of a statement, with those of the blocks inside it."""
        effects = Effects()
        effects.visit(statement)
        return effects

    def visit(self, node: Any) -> None:
        """Add the effects of a node."""
        match node:
            case list():
                for item in node:
                    self.visit(item)
            case ast.Name(id=name):
                self.loads.append(name)
            case ast.Assign(targets=targets, value=value):
                self.visit(value)
                self.store(targets)
            case ast.AugAssign(target=target, value=value):
                self.visit(value)
                self.visit(target)
                self.store([target])
                self.changes.add(root_of(target))
            case ast.For(target=target, iter=items, body=body, orelse=orelse):
                self.store([target])
                self.visit([items, *body, *orelse])
            case ast.Delete(targets=targets):
                self.visit(targets)
                self.changes.update(map(root_of, targets))
            case ast.Assign() | ast.AugAssign() | ast.If() | ast.While() | ast.Return() | ast.Raise() | ast.expr():
                self.is_opaque |= isinstance(node, SCOPED)
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
                    self.changes.add(root_of(node.func.value))
                self.visit(list(ast.iter_child_nodes(node)))
            case ast.Expr(value=value):
                self.is_opaque |= not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute)
                self.visit(value)
            case ast.stmt():
                self.is_opaque |= not isinstance(node, ast.Break | ast.Continue | ast.Pass)
                self.visit(list(ast.iter_child_nodes(node)))
            case ast.AST():
                self.visit(list(ast.iter_child_nodes(node)))

    def store(self, targets: list[ast.expr]) -> None:
        """Add the stores to targets."""
        for target in targets:
            match target:
                case ast.Name(id=name):
                    self.stores.add(name)
                case ast.Tuple(elts=parts) | ast.List(elts=parts):
                    self.store(parts)
                case _:
                    self.visit(target)
                    self.changes.add(root_of(target))


def root_of(node: ast.expr) -> str:
    """The variable whose memory an expression denotes; "" if there is none."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


class Aliases(DisjointSets[str]):
    """Classes of names that may share memory: those of the names in expressions that are no arithmetic."""

    def __init__(self, body: list[ast.stmt]) -> None:
        super().__init__()
        for node in (node for statement in body for node in ast.walk(statement)):
            match node:
                case ast.Assign(targets=targets, value=value):
                    self.join([*names_shown([*targets]), *names_shown([value])])
                case ast.For(target=target, iter=items):
                    self.join([*names_shown([target]), *names_shown([items])])
                case ast.Call(func=ast.Attribute(value=owner, attr=attribute), args=args) if attribute in CHANGING:
                    self.join([*names_shown([owner]), *names_shown(args)])

    def join(self, names: list[str]) -> None:
        """Record that these names may share memory."""
        for name in names[1:]:
            self.unite(names[0], name)

    def shared(self, names: set[str], others: set[str]) -> bool:
        """Whether one of the names may share memory with one of the others."""
        return not {self.find(name) for name in names}.isdisjoint({self.find(other) for other in others})


def names_shown(nodes: list[ast.expr]) -> Iterator[str]:
    """The names whose memory the values of expressions may show."""
    for node in nodes:
        match node:
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Constant():
                continue
            case ast.Name(id=name):
                if name not in ("np", "math"):
                    yield name
            case _:
                yield from names_shown([child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])


@dataclass(slots=True)
class Substitution:
    """Substitutes the temporaries of one function; ``users`` are the words in the user's source."""

    marks: dict[ast.stmt, Mark]
    users: Container[str]
    single: frozenset[str]  #: the variables that hold arrays of other numbers than float64
    aliases: Aliases = field(default_factory=lambda: Aliases([]))
    fixed: set[str] = field(default_factory=set)  #: names that are not substituted anywhere

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements of a function."""
        self.aliases = Aliases(body)
        self.fixed = {
            node.id
            for s in body
            for scoped in ast.walk(s)
            if isinstance(scoped, SCOPED)
            for node in ast.walk(scoped)
            if isinstance(node, ast.Name)
        }
        self.fixed |= loads_from_around(body, set())
        return self.block(body, 1, set())

    def block(self, body: list[ast.stmt], depth: int, above: set[str]) -> list[ast.stmt]:
        """The rewritten statements of a block; ``above`` are the names stored in the blocks around it."""
        own = above.union(*(names_stored(statement) for statement in body))
        for statement in body:
            for name in ("body", "orelse"):
                if inner := getattr(statement, name, None):
                    setattr(statement, name, self.block(inner, depth + 1, own))
        k = len(body) - 1
        while k >= 0:
            match body[k]:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) as definition:
                    if name not in self.fixed and name not in above and self.substitute(body, k, name, value, depth):
                        self.hand_on_mark(definition, body[k + 1 :])
                        del body[k]
            k -= 1
        return body

    def hand_on_mark(self, definition: ast.stmt, rest: list[ast.stmt]) -> None:
        """Let the next statement begin the section that the removed one began."""
        if (mark := self.marks.get(definition)) is not None and mark.section and rest:
            self.marks.setdefault(rest[0], Mark()).section = mark.section

    def is_kept(self, name: str) -> bool:
        """Whether a name is a variable of the user's, or its cotangent."""
        return NUMBER.sub("", name).removesuffix("_grad") in self.users

    def substitute(self, body: list[ast.stmt], place: int, name: str, value: ast.expr, depth: int) -> bool:
        """Substitute the value assigned at a place of a block, if that is possible; return whether it was."""
        readers = readers_of(body, place, name)
        if len(readers) == 1 and self.rename(body, place, readers[0], name):
            return False
        if self.is_kept(name) and not (len(readers) == 1 and is_next_version(body[readers[0]], name)):
            return False
        if self.add_up(body, place, name, value, depth):
            return True
        if not readers or not self.is_constant(body, place, readers[-1], value):
            return False
        if not self.is_in_order(body, place, readers[0], name, value):
            return False
        count = sum(Effects.of(body[k]).loads.count(name) for k in readers)
        line = self.marks.get(body[place], Mark()).loc
        if (opened := opened_of(value)) is not None:
            rewritten = {k: with_items(body[k], name, opened) for k in readers}
        elif is_short(value) or count == 1 and (self.is_kept(name) or all(self.marks.get(body[k], Mark()).loc == line for k in readers)):
            rewritten = {k: with_value(body[k], name, value) for k in readers}
        else:
            return False
        if any(new is None or width(new) + depth * INDENT > WIDTH for new in rewritten.values()):
            return False
        if is_negated_name(value) and any(map(has_sign_inside, rewritten.values())):
            return False
        for k, new in rewritten.items():
            assert new is not None
            for part, child in ast.iter_fields(new):
                setattr(body[k], part, child)
        return True

    def rename(self, body: list[ast.stmt], place: int, reader: int, name: str) -> bool:
        """Assign to ``x`` directly where ``x = t`` is the only reader of a temporary; return whether that was possible."""
        match body[reader]:
            case ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=read)) if read == name and not self.is_kept(name):
                between = [Effects.of(statement) for statement in body[place + 1 : reader]]
                leaves = any(isinstance(node, LEAVES) for statement in body[place + 1 : reader] for node in ast.walk(statement))
                if other in self.fixed or leaves or any(other in e.loads or other in e.stores or e.is_opaque for e in between):
                    return False
                body[place].targets = [ast.Name(other)]  # type: ignore[attr-defined]
                self.hand_on_mark(body[reader], body[reader + 1 :])
                del body[reader]
                return True
        return False

    def add_up(self, body: list[ast.stmt], place: int, name: str, value: ast.expr, depth: int) -> bool:
        """Write ``t = a + b`` in place of ``t = a`` and a later ``t += b``; return whether the statements have this form."""
        first = next((k for k in range(place + 1, len(body)) if name in (e := Effects.of(body[k])).loads or name in e.stores), None)
        if first is None or not isinstance(value, ast.BinOp | ast.UnaryOp) or name in self.single:
            return False
        match body[first]:
            case ast.AugAssign(target=ast.Name(id=other), op=ast.Add() | ast.Sub() as op, value=term) if other == name:
                joined = ast.Assign([ast.Name(name)], added(value, op, term))
                if name in Effects.of(term).loads or not self.is_constant(body, place, first, value):
                    return False
                if not self.is_in_order(body, place, first, name, value):
                    return False
                lines = [self.marks.get(body[k], Mark()).loc.line for k in (place, first)]
                if width(joined) + depth * INDENT > WIDTH or lines[0] != lines[1] and not is_short(value):
                    return False
                self.marks[joined] = self.marks[body[first]]
                body[first] = joined
                return True
        return False

    def is_constant(self, body: list[ast.stmt], place: int, last: int, value: ast.expr) -> bool:
        """Whether an expression has the same value at each statement up to the last one."""
        read = set(Effects.of(value).loads)
        between = [Effects.of(statement) for statement in body[place + 1 : last]]
        if any(e.is_opaque or not read.isdisjoint(e.stores) or self.aliases.shared(read, e.changes) for e in between):
            return False
        own = Effects.of(value)
        return not own.changes and not own.is_opaque and not is_copy(value)

    def is_in_order(self, body: list[ast.stmt], place: int, reader: int, name: str, value: ast.expr) -> bool:
        """Whether no other exception comes before those of the value if it is evaluated at its reader; the backward half raises none."""
        if self.marks.get(body[place], Mark()).backward or not (own := exceptions_of(value)):
            return True
        before, is_read = exceptions_before(body[reader], name)
        between = [s for s in body[place + 1 : reader] if not self.marks.get(s, Mark()).backward]
        others = before.union(*map(exceptions_of, between))
        return is_read and (not others or len(own | others) == 1)


def exceptions_of(node: ast.AST) -> set[str]:
    """The kinds of exceptions that a text may raise: one for subscripts, one for each function and each operator."""
    return {kind for inner in ast.walk(node) if (kind := exception_of(inner))}


def exception_of(node: ast.AST) -> str:
    """The kind of exception that an operation itself may raise; "" if it is arithmetic that raises none."""
    match node:
        case ast.Subscript() | ast.Call(func=ast.Attribute(attr="item")):
            return "subscript"
        case ast.Call(func=function):
            return ast.unparse(function)
        case ast.BinOp(op=op) if not isinstance(op, ast.Add | ast.Sub | ast.Mult):
            return type(op).__name__
        case ast.Raise():
            return "raise"
    return ""


def exceptions_before(node: ast.AST, name: str) -> tuple[set[str], bool]:
    """The kinds of exceptions that a statement or expression may raise before it reads a name, and whether it reads it on every path."""
    parts: list[ast.AST]
    match node:
        case ast.Name(id=read):
            return set(), read == name
        case ast.IfExp(test=always) | ast.If(test=always) | ast.For(iter=always):
            parts = [always]
        case ast.BoolOp(values=[always, *_]):
            parts = [always]
        case ast.Assign(value=value):
            parts = [value]
        case ast.Compare(left=left, comparators=[right, *_]):
            parts = [left, right]
        case _:
            parts = [*ast.iter_child_nodes(node)]
    kinds: set[str] = set()
    for part in parts:
        before, is_read = exceptions_before(part, name)
        if is_read:
            return kinds | before, True
        kinds |= exceptions_of(part)
    return kinds, False


def names_stored(statement: ast.stmt) -> set[str]:
    """The names that a statement itself stores to; not those stored in blocks inside it."""
    if isinstance(statement, ast.For):
        effects = Effects()
        effects.store([statement.target])
        return effects.stores
    return Effects.of(statement).stores if isinstance(statement, ast.Assign | ast.AugAssign) else set()


def loads_from_around(body: list[ast.stmt], defined: set[str]) -> set[str]:
    """The names that a block, or one inside it, reads without having assigned them before, in it or in a block around it."""
    unknown: set[str] = set()
    defined = set(defined)
    for statement in body:
        blocks = [block for name in ("body", "orelse") if (block := getattr(statement, name, None))]
        if blocks:
            head = [child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.expr)]
            unknown |= {name for node in head for name in Effects.of(node).loads if name not in defined}
            inside = defined | (names_stored(statement) if isinstance(statement, ast.For) else set())
            for block in blocks:
                unknown |= loads_from_around(block, inside)
        else:
            unknown |= set(Effects.of(statement).loads) - defined
        if isinstance(statement, ast.Assign):
            defined |= names_stored(statement)
    return unknown


def readers_of(body: list[ast.stmt], place: int, name: str) -> list[int]:
    """The statements of a block that read a name before its next assignment; empty if one of them is not simple, or changes it."""
    readers: list[int] = []
    for k in range(place + 1, len(body)):
        effects = Effects.of(body[k])
        if name in effects.loads:
            heads = [body[k].test] if isinstance(body[k], ast.If) else [body[k].iter] if isinstance(body[k], ast.For) else []  # type: ignore[attr-defined]
            in_head = sum(Effects.of(head).loads.count(name) for head in heads)
            if name in effects.changes or not (isinstance(body[k], SIMPLE) or in_head == effects.loads.count(name)):
                return []
            readers.append(k)
        if name in effects.stores:
            return readers if isinstance(body[k], ast.Assign) else []
    return readers


def opened_of(value: ast.expr) -> ast.expr | None:
    """The array that an expression converts to lists, or a part of one that another statement has converted."""
    match value:
        case ast.Call(func=ast.Name(id=function), args=[ast.Name() as array, *_], keywords=[]) if function in LISTS:
            return array
    return None


def is_short(value: ast.expr) -> bool:
    """Whether the expression is ``-x``, ``x[0]`` or a number, which may be repeated."""
    match value:
        case ast.Subscript(value=ast.Name(), slice=ast.Constant(value=int())) | ast.Constant(value=float()):
            return True
    return is_negated_name(value)


def is_next_version(statement: ast.stmt, name: str) -> bool:
    """Whether a statement assigns to ``x`` an expression with ``x_1``."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=other)]):
            return other != name and NUMBER.sub("", name) == other
    return False


def has_sign_inside(statement: ast.stmt | None) -> bool:
    """Whether a statement, with its signs moved outwards, still has one before a name inside a product."""
    copy = replaced(statement, {})
    sign(copy)
    value = getattr(copy, "value", None)
    while isinstance(value, ast.BinOp):
        if any(map(is_negated_name, ast.walk(value.right))):
            return True
        value = value.left
    return value is None or not is_negated_name(value) and any(map(is_negated_name, ast.walk(value)))


def is_negated_name(value: ast.AST) -> bool:
    """Whether the expression is ``-x``."""
    return isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub) and isinstance(value.operand, ast.Name)


def is_copy(value: ast.expr) -> bool:
    """Whether the expression is memory of its own, which a name may denote: a copy, or a new array."""
    match value:
        case ast.Call(func=ast.Attribute(attr=attribute)):
            return attribute in ("copy", "zeros", "empty", "zeros_like", "empty_like")
    return isinstance(value, ast.List)


def with_value(statement: ast.stmt, name: str, value: ast.expr) -> ast.stmt | None:
    """A copy of a statement with a value in place of a name."""
    if isinstance(statement, ast.If | ast.For):
        field_ = "test" if isinstance(statement, ast.If) else "iter"
        parts = dict(ast.iter_fields(statement))
        return type(statement)(**{**parts, field_: replaced(parts[field_], {name: value})})
    new: ast.stmt = replaced(statement, {name: value}) if not stores_to(statement, name) else None  # type: ignore[assignment]
    if new is None:
        assert isinstance(statement, ast.Assign)
        new = ast.Assign(statement.targets, replaced(statement.value, {name: value}))
    return new


def stores_to(statement: ast.stmt, name: str) -> bool:
    """Whether a statement assigns to a name."""
    return name in Effects.of(statement).stores


def with_items(statement: ast.stmt, name: str, array: ast.expr) -> ast.stmt | None:
    """A copy of a statement that reads items of an array instead of those of a list; None if it reads the list otherwise."""
    new = with_value(statement, name, ast.Name(name))
    if new is None:
        return None
    whole = sum(isinstance(node, ast.Name) and node.id == name for node in ast.walk(new))
    targets = sum(stores_to(new, name) for _ in "1")
    items = [node for node in ast.walk(new) if is_item(node, name)]
    if len(items) + targets != whole:
        return None
    for item in items:
        item.value = array  # type: ignore[attr-defined]
    return new


def is_item(node: ast.AST, name: str) -> bool:
    """Whether the expression is an item of a list, by a constant index."""
    match node:
        case ast.Subscript(value=ast.Name(id=base), slice=ast.Constant(value=int())):
            return base == name
    return False


def width(statement: ast.stmt) -> int:
    """The width of a statement's first line."""
    return len(ast.unparse(ast.fix_missing_locations(statement)).partition("\n")[0])


__all__ = ["Substitution"]
