"""The body of a generator as text that can be resumed: at its beginning, or after any of its ``yield`` statements.

The generator's whole state is then in variables of its frame: ``AT`` holds the point of resumption, and each ``for``
iterates over an iterator with a position that is a variable too. On resumption it runs the rest of the interrupted
iteration, then the unchanged loop.
"""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass, field
from typing import Any

from symgrad.frontend.text.source import own_nodes
from symgrad.identity import Same
from symgrad.ops.composed.stepping import positioned

SENT = "%sent"  #: the value sent to the generator on resumption; None if there is none
SOURCE = "%from"  #: the iterator of a ``yield from`` whose result is assigned
VALUE = "%value"  #: the value that the generator has returned
DELEGATED = "%item"  #: an item that ``yield from`` delegates
AT = "%at"  #: the state of a generator: 0 running, or not begun; the number of a ``yield``; -1 at its end


class NotResumable(Exception):
    """There is a ``yield`` inside a statement that cannot be resumed."""


def load(name: str) -> ast.expr:
    return ast.Name(name, ast.Load())


def store(name: str, value: Any) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], value if isinstance(value, ast.expr) else ast.Constant(value))


def is_at(*places: int) -> ast.expr:
    tests: list[ast.expr] = [ast.Compare(load(AT), [ast.Eq()], [ast.Constant(k)]) for k in places]
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


@dataclass
class Resuming:
    """The transformation of one generator; ``names`` are its extra variables, ``numbers`` those of its ``yield`` statements."""

    names: set[str] = field(default_factory=lambda: {AT, SENT})
    numbers: dict[Same, int] = field(default_factory=dict)
    held: dict[Same, str] = field(default_factory=dict)  #: the variable of the iterator of each ``for``, the same in all copies of it
    delegates: dict[str, int] = field(default_factory=dict)  #: the variable of the iterator of each ``yield from``, and its number

    def whole(self, function: ast.FunctionDef) -> list[ast.stmt]:
        """The body, to be run each time that the generator is resumed."""
        body = function.body
        for inner in own_nodes(body):
            if isinstance(inner, ast.Yield):
                self.numbers[Same(inner)] = len(self.numbers) + 1
            elif isinstance(inner, ast.For):
                self.held[Same(inner)] = f"%it{len(self.held)}"
        loops = [n for n in own_nodes(body) if isinstance(n, ast.For) and is_delegation(n)]
        self.delegates = {self.held[Same(n)]: self.inside(n)[0] for n in loops}
        self.names |= set(self.held.values())
        ended = ast.If(is_at(-1), [ast.Return(None)], [])
        statements = [ended, *self.entered(body), store(AT, -1)]
        for statement in statements:
            for inner in ast.walk(statement):
                if "lineno" in inner._attributes and not hasattr(inner, "lineno"):
                    ast.copy_location(inner, function)
        return statements

    def inside(self, node: ast.AST | list[ast.stmt]) -> list[int]:
        """The numbers of the ``yield`` statements in statements."""
        nodes = node if isinstance(node, list) else [node]
        return [self.numbers[Same(n)] for whole in nodes for n in ast.walk(whole) if Same(n) in self.numbers]

    def entered(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """Statements that run from the beginning if ``AT`` is 0, else from the point of resumption: those before it are skipped."""
        guarded: list[ast.stmt] = []
        last = max((k for k, s in enumerate(statements) if self.inside(s)), default=-1)
        for k, statement in enumerate(statements):
            if not self.inside(statement):
                plain = self.ending(statement)
                guarded += plain if k > last else [ast.If(is_at(0), plain, [])]
            elif k == last and k == 0:
                guarded += self.one(statement)
            else:
                guarded.append(ast.If(is_at(0, *self.inside(statement)), self.one(statement), []))
        return guarded

    def rest(self, statements: list[ast.stmt], targets: list[int]) -> list[ast.stmt]:
        """The rest of statements that were suspended at one of the ``yield`` statements ``targets``."""
        first = next(k for k, s in enumerate(statements) if set(self.inside(s)) & set(targets))
        if len(targets) > 1 and not set(targets) <= set(self.inside(statements[first])):
            return self.entered(statements)
        statement = statements[first]
        remaining = self.one(statement, targets)
        for k in range(first + 1, len(statements)):
            remaining += self.one(statements[k]) if self.inside(statements[k]) else self.ending(statements[k])
        return remaining

    def ending(self, statement: ast.stmt) -> list[ast.stmt]:
        """A statement without ``yield``; where it returns, the generator is at its end."""
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            return [statement]
        if isinstance(statement, ast.Return):
            return [store(AT, -1), statement]
        for name in ("body", "orelse", "finalbody"):
            if isinstance(held := getattr(statement, name, None), list):
                setattr(statement, name, [part for inner in held for part in self.ending(inner)])
        for handler in getattr(statement, "handlers", []):
            handler.body = [part for inner in handler.body for part in self.ending(inner)]
        return [statement]

    def one(self, statement: ast.stmt, targets: list[int] | None = None) -> list[ast.stmt]:
        """A statement with ``yield`` in it: run from its beginning or, with ``targets``, resumed at one of these."""
        within = self.inside(statement) if targets is None else targets
        match statement:
            case ast.Expr(value=ast.Yield()):
                number = self.numbers[Same(statement.value)]
                if targets is not None:
                    return [store(AT, 0)]
                yielding = [store(AT, number), copied(statement, self), ast.If(is_at(-1), [ast.Return(None)], []), store(AT, 0)]
                return [ast.If(is_at(0), yielding, [ast.If(is_at(number), [store(AT, 0)], [])])]
            case ast.If(test=test, body=body, orelse=orelse):
                inner, other = self.inside(body), self.inside(orelse)
                if targets is not None and not set(targets) & set(other):
                    return self.rest(body, targets)
                if targets is not None and not set(targets) & set(inner):
                    return self.rest(orelse, targets)
                chosen: ast.expr = ast.BoolOp(ast.And(), [is_at(0), test])
                chosen = ast.BoolOp(ast.Or(), [chosen, is_at(*inner)]) if inner else chosen
                return [ast.If(chosen, self.entered(body), self.entered(orelse))]
            case ast.For(orelse=[]) | ast.While(orelse=[]):
                return self.loop(statement, within, targets is None)
        raise NotResumable

    def loop(self, statement: ast.For | ast.While, within: list[int], begins: bool) -> list[ast.stmt]:
        """A loop that is resumed: the iterator is created at the beginning; the rest of an iteration runs first."""
        setup: list[ast.stmt] = []
        again: ast.stmt
        if isinstance(statement, ast.For):
            name = self.held[Same(statement)]
            if begins:
                call = ast.Call(ast.Constant(positioned), [statement.iter], [])  # type: ignore[arg-type]
                setup.append(ast.If(is_at(0), [store(name, call)], []))
            rest = self.rest(copied_all(statement.body, self), within)
            again = ast.For(statement.target, load(name), self.entered(copied_all(statement.body, self)), [])
        else:
            rest = self.rest(copied_all(statement.body, self), within)
            again = ast.While(statement.test, self.entered(copied_all(statement.body, self)), [])
        if not any(isinstance(n, ast.Break | ast.Continue) for n in at_level(rest)):
            resumed = ast.If(is_at(*within), rest, []) if begins else None
            return [*setup, *([resumed] if resumed is not None else rest), again]
        flag = f"%go{len(self.names)}"
        self.names.add(flag)
        once = ast.For(ast.Name("%round", ast.Store()), ast.Tuple([ast.Constant(0)], ast.Load()), breaking(rest, flag), [])
        self.names.add("%round")
        return [*setup, store(flag, True), ast.If(is_at(*within), [once], []) if begins else once, ast.If(load(flag), [again], [])]


def copied(statement: ast.stmt, work: Resuming) -> ast.stmt:
    return copied_all([statement], work)[0]


def copied_all(statements: list[ast.stmt], work: Resuming) -> list[ast.stmt]:
    """A copy of statements that keeps the numbers of their ``yield``."""
    copies = copy.deepcopy(statements)
    for one, two in zip(statements, copies, strict=True):
        for old, new in zip(ast.walk(one), ast.walk(two), strict=True):
            if Same(old) in work.numbers:
                work.numbers[Same(new)] = work.numbers[Same(old)]
            if Same(old) in work.held:
                work.held[Same(new)] = work.held[Same(old)]
    return copies


def at_level(statements: list[ast.stmt]) -> list[ast.AST]:
    """The nodes of statements, without those inside loops and functions."""
    nodes: list[ast.AST] = []
    todo: list[ast.AST] = list(statements)
    while todo:
        node = todo.pop()
        nodes.append(node)
        if not isinstance(node, ast.For | ast.While | ast.FunctionDef | ast.Lambda):
            todo += ast.iter_child_nodes(node)
    return nodes


def breaking(statements: list[ast.stmt], flag: str) -> list[ast.stmt]:
    """Statements whose ``break`` also clears a flag."""

    class Clearing(ast.NodeTransformer):
        def visit_For(self, node: ast.For) -> ast.AST:
            return node

        def visit_While(self, node: ast.While) -> ast.AST:
            return node

        def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
            return [store(flag, False), node]

    whole = Clearing().visit(ast.Module(statements, []))
    body: list[ast.stmt] = whole.body
    return body


def returned(generator: Any) -> Any:
    """The value with which a generator returned. The frontend lowers it; it has no meaning in Python."""
    raise TypeError(generator)


class Sending(ast.NodeTransformer):
    """``x = yield v`` as ``yield v`` and ``x = None``; the values that generators return, and ``x = yield from g``, as assignments."""

    sent: ast.expr = ast.Constant(None)

    def visit_Assign(self, node: ast.Assign) -> Any:
        match node.value:
            case ast.Yield():
                parts: list[ast.stmt] = [ast.Expr(node.value), ast.Assign(node.targets, self.sent)]
            case ast.YieldFrom(value=source):
                value = ast.Call(ast.Constant(returned), [load(SOURCE)], [])  # type: ignore[arg-type]
                over = self.visit(located(ast.Expr(ast.YieldFrom(load(SOURCE))), node))
                parts = [store(SOURCE, source), over, ast.Assign(node.targets, value)]
            case _:
                return node
        return [located(part, node) for part in parts]

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is None:
            return node
        kept = self.visit(located(store(VALUE, node.value), node))
        return [*(kept if isinstance(kept, list) else [kept]), located(ast.Return(None), node)]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node


def located(statement: ast.stmt, origin: ast.AST) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(statement, origin))


class Desugared(Sending):
    """``x = yield v`` as ``yield v`` and ``x = %sent``, the value sent on resumption; ``yield from`` as a loop."""

    sent = load(SENT)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if not isinstance(node.value, ast.YieldFrom):
            return node
        over = ast.For(ast.Name(DELEGATED, ast.Store()), node.value.value, [ast.Expr(ast.Yield(load(DELEGATED)))], [])
        return located(over, node)


def is_delegation(loop: ast.For) -> bool:
    """Whether a loop replaces a ``yield from``."""
    return isinstance(loop.target, ast.Name) and loop.target.id == DELEGATED


@dataclass(frozen=True)
class Resumed:
    """The body of a generator, which runs at each entry, and its known properties."""

    body: list[ast.stmt]
    names: frozenset[str]  #: its further variables
    count: int  #: its number of ``yield`` statements
    delegates: dict[str, int]


def resumable(function: ast.FunctionDef) -> Resumed | None:
    """The body to run at each entry; None if there is no such body."""
    plain = copy.deepcopy(function)
    plain.body = Desugared().visit(ast.Module(plain.body, [])).body
    work = Resuming()
    try:
        body = work.whole(plain)
    except NotResumable:
        return None
    return Resumed(body, frozenset(work.names), len(set(work.numbers.values())), work.delegates)


def without_sending(statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a generator in a ``for`` loop, which sends no values to it."""
    nodes = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Assign | ast.Return))
    if not any(isinstance(n, ast.Return) and n.value is not None or isinstance(n.value, ast.Yield | ast.YieldFrom) for n in nodes):
        return statements
    body: list[ast.stmt] = Sending().visit(ast.Module(copy.deepcopy(statements), [])).body
    return body


__all__ = ["AT", "DELEGATED", "SENT", "SOURCE", "VALUE", "Resumed", "resumable", "returned", "without_sending"]
