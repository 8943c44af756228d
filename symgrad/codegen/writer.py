"""Emission of one function: control flow becomes ``for``, ``while``, ``if``, ``break`` and ``return`` again, ops become statements."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from symgrad.codegen.assignments import AssignmentWriter
from symgrad.codegen.expressions import path_tree
from symgrad.codegen.header import BUILTINS, names_of, outer_names, result_text
from symgrad.codegen.kernels import compiled_sooner
from symgrad.codegen.layout import is_fused, plan, statements_alone
from symgrad.codegen.naming import assign_names, distinct_names
from symgrad.codegen.seam import assign, negated, replaced, tuple_of
from symgrad.codegen.texts import Mark
from symgrad.codegen.unpacking import Unpacking
from symgrad.codegen.views import with_memory
from symgrad.ir.containers import is_number_list
from symgrad.ir.core import Apply, Block, Call, Const, For, Func, If, Op, Operand, Value, While, walk
from symgrad.ir.types import UNKNOWN, Array, Type
from symgrad.ir.unbound import Unbound, is_undefined
from symgrad.location import Loc
from symgrad.ops.analysis.aliases import TAPES

LEAVES = (ast.Break, ast.Return, ast.Raise)
Finish = Callable[[list[Operand]], list[ast.stmt]]


@dataclass(slots=True)
class Writer(AssignmentWriter):
    """Emits one function."""

    marks: dict[ast.stmt, Mark]
    inner: set[str]  #: names bound in rows' texts
    texts: dict[Call, str]  #: of the ops' rows
    template: ast.expr | None = field(init=False)
    unbound: Mapping[Value, object] = field(init=False)  #: possibly unbound values
    flags: int = 0
    viewed: set[str] = field(default_factory=set)  #: names of views created before loops

    def __post_init__(self) -> None:
        func, header = self.func, self.header
        once = True
        self.template = None
        if header.result:
            text = result_text(header.result, len(func.body.yields))
            self.template = ast.parse(text, mode="eval").body
            once = all(text.count(f"__result_{k}__") == 1 for k in range(len(func.body.yields)))
        self.layout = statements_alone(func, self.texts) if header.once else plan(func, self.texts, once, not header.kernel, header.is_read)
        self.unbound = Unbound.of(func.body).sides
        self.passed = set(begin_unbound(func) if header.kernel else self.unbound)
        own, _ = names_of(f"lambda {header.signature}: 0")
        fixed: dict[Value, str] = {}
        for value in func.params:
            bound = header.bind.get(value, value.name or "")
            if bound in own and bound not in fixed.values():
                fixed[value] = bound
        if any("getattr(" in path for path in header.bind.values()):
            self.names.use("getattr")
        reserved = self.names.reserved() | self.inner | set(BUILTINS) | {"np", "math"}
        if header.is_read:
            reserved -= self.names_elsewhere()
        if header.once:
            self.name_of = distinct_names(func, self.layout, fixed, reserved)
        else:
            is_read = not (header.fast or header.kernel)
            self.name_of = assign_names(func, self.layout, fixed, reserved, self.starts_again, is_read)

    def names_elsewhere(self) -> set[str]:
        """The parameters of the other functions in the text, which this one may use as names of its own."""
        names = set().union(*(outer_names(h) for h in self.headers.values() if h is not self.header)) - outer_names(self.header)
        return names - {h.name for h in self.headers.values()} - self.names.namespace.keys() - set(self.names.spelling.values())

    # ------------------------------------------------------------------ the function

    def function(self) -> ast.stmt:
        """The whole definition."""
        definition = ast.parse(f"def {self.header.name}({self.header.signature}): pass").body[0]
        assert isinstance(definition, ast.FunctionDef)
        body = self.entry()
        split = self.func.split
        if split is None:
            body += self.with_views(self.tail(self.func.body, self.give_back, True))
        else:
            halves = [self.func.body.ops[:split], self.func.body.ops[split:]]
            first, second = (self.with_views(self.ops(half)) for half in halves)
            body += self.section(first, "forward" if second else "forward and backward")
            is_mixed = self.header.is_read and any(map(is_fused, self.func.body.ops[split:]))
            body += self.section(second, "forward and backward" if is_mixed else "backward")
            body += self.give_back(self.func.body.yields)
        bound = parameters(definition.args) | bound_first(body)
        body = [*(assign(ast.Name(name), ast.Constant(None)) for name in self.unset if name not in bound), *body]
        if self.header.kernel:
            body = compiled_sooner(body)
        if self.header.is_read:
            vectors = frozenset(self.name_of[p] for p in self.func.params if is_number_list(p.type) or is_vector(p.type))
            variables = frozenset(self.name_of.values()) | (self.names.namespace.keys() - {"np", "math"})
            named = [(name, value.type) for value, name in self.name_of.items()]
            single = frozenset(name for name, type_ in named if isinstance(type_, Array) and type_.dtype != "f64")
            lists = frozenset(name for name, type_ in named if is_number_list(type_))
            body = Unpacking(self.marks, self.header.lines, self.func.loc, variables, vectors, single, lists).function(body)
        if self.starts_again:
            body = [self.guarded(body)]
        definition.body = [ast.Expr(ast.Constant(self.header.doc)), *body] if self.header.doc else body or [ast.Pass()]
        return definition

    @property
    def starts_again(self) -> bool:
        """Whether the plain form is called with the same arguments if an exception is raised."""
        return bool(self.func.guarded and self.header.again)

    def guarded(self, body: list[ast.stmt]) -> ast.stmt:
        """The body, with a call of the plain form if it raises."""
        again = ast.parse(self.header.again, mode="eval").body
        names = [self.names.use(kind) for kind in sorted(self.func.guarded)]
        kinds = names[0] if len(names) == 1 else ast.Tuple(names)
        return ast.Try(body, [ast.ExceptHandler(kinds, None, [ast.Return(again)])], [], [])

    def entry(self) -> list[ast.stmt]:
        """Assignments of the values that are bound on entry."""
        assignments: list[ast.stmt] = []
        for value in self.func.params:
            text = self.header.bind.get(value)
            if text is not None and text != self.name_of[value]:
                assignments.append(assign(ast.Name(self.name_of[value]), path_tree(text, self.names)))
        return assignments

    def section(self, statements: list[ast.stmt], name: str) -> list[ast.stmt]:
        """One half of a gradient, with its mark on the first statement."""
        if statements:
            self.marks.setdefault(statements[0], Mark()).section = name
        return statements

    def with_views(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements; in code that is only run, with the slices and memoryviews of loops created before the loops."""
        if not self.header.fast:
            return body
        types: dict[str, list[Type]] = {}
        for value, name in self.name_of.items():
            types.setdefault(name, []).append(value.type)
        for value in self.unbound:
            types.setdefault(self.name_of.get(value, ""), []).append(UNKNOWN)
        taken = {*types, *self.names.reserved(), *self.viewed}
        body, added = with_memory(body, types, taken, self.names.use("memoryview"))
        self.marks.update((statement, Mark()) for statement in added)  # the line comment belongs to the loop itself
        self.viewed |= taken
        return body

    def give_back(self, yields: list[Operand]) -> list[ast.stmt]:
        """The ``return``."""
        operands = [self.expression(y) for y in yields]
        if self.template is None:
            return [ast.Return(tuple_of(operands))] if operands else []
        space = {f"__result_{k}__": operand for k, operand in enumerate(operands)}
        return [ast.Return(replaced(self.template, space))]

    # ------------------------------------------------------------------ blocks

    def ops(self, ops: list[Op]) -> list[ast.stmt]:
        """The statements of ops."""
        statements: list[ast.stmt] = []
        for op in ops:
            if self.layout.is_root(op):
                statements += self.marked(self.statement(op), op)
        return statements

    def marked(self, statements: list[ast.stmt], op: Op) -> list[ast.stmt]:
        """Record where statements come from."""
        for statement in statements:
            if statement not in self.marks:
                tape = isinstance(op, Call) and op.name in TAPES
                self.marks[statement] = Mark(op.loc, op in self.layout.backward, self.func.split is None, tape)
        return statements

    def tail(
        self, block: Block, finish: Finish, splits: bool, in_loop: bool = False, yields: list[Operand] | None = None
    ) -> list[ast.stmt]:
        """The statements of a block and of its end.

        If the end ``splits``, or the user wrote ``continue``, a trailing ``if`` takes the end into its
        branches.
        """
        yields = block.yields if yields is None else yields
        roots = [op for op in block.ops if self.layout.is_root(op)]
        last = roots[-1] if roots else None
        if not isinstance(last, If) or last in self.layout.choices or not self.splittable(last, block, yields, in_loop):
            return self.ops(roots) + finish(yields)
        skips = in_loop and self.goes_on_after(last)
        if not splits and not skips:
            return self.ops(roots) + finish(yields)
        statements = self.ops(roots[:-1])
        sides: list[list[ast.stmt]] = []
        for inner in (last.then, last.orelse):
            table = dict(zip(last.outs, inner.yields, strict=True))
            ending = [table.get(y, y) if isinstance(y, Value) else y for y in yields]
            sides.append(self.tail(inner, finish, splits, in_loop, ending))
        return statements + self.marked(self.guard(self.expression(last.test), sides[0], sides[1], skips), last)

    def splittable(self, last: If, block: Block, yields: list[Operand], in_loop: bool) -> bool:
        """Whether the results of the ``if`` are only yielded at the end, with plain variables, and bound where they are returned."""
        if not in_loop and any(is_undefined(y) for inner in last.blocks for y in inner.yields):
            return False
        if any(isinstance(y, Value) and y in self.layout.nested for y in yields):
            return False
        handed = [y for y in block.yields if isinstance(y, Value)]
        return bool(last.outs) and all(self.layout.count.get(out, 0) == sum(y is out for y in handed) for out in last.outs)

    def goes_on_after(self, op: If) -> bool:
        """Whether the user's ``if`` ended in ``continue``: its other branch is not indented deeper than the ``if`` itself."""
        if op in self.layout.backward or not op.orelse.ops:
            return False
        mine, theirs = (self.depth_of(place) for place in (op.loc, op.orelse.ops[0].loc))
        return mine is not None and theirs is not None and theirs <= mine and op.loc.line < op.orelse.ops[0].loc.line

    def depth_of(self, loc: Loc) -> int | None:
        """How far a line of the source is indented."""
        text = loc.text or self.header.lines(loc.file, loc.line)
        return len(text) - len(text.lstrip()) if text.strip() else None

    def guard(self, test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt], skips: bool = False) -> list[ast.stmt]:
        """An ``if``; a branch that leaves comes first, and the other follows it without ``else``."""
        if then and isinstance(then[-1], LEAVES):
            return [ast.If(test, then, []), *orelse]
        if orelse and isinstance(orelse[-1], LEAVES):
            return [ast.If(negated(test), orelse, []), *then]
        if skips and orelse:
            return [ast.If(test, [*then, ast.Continue()], []), *orelse]
        return self.branch(test, then, orelse)

    def branch(self, test: ast.expr, then: list[ast.stmt], orelse: list[ast.stmt]) -> list[ast.stmt]:
        """An ``if`` without empty branches."""
        if then:
            return [ast.If(test, then, orelse)]
        if orelse:
            return [ast.If(negated(test), orelse, [])]
        return [] if isinstance(test, ast.Name | ast.Constant) else [ast.Expr(test)]

    # ------------------------------------------------------------------ statements

    def statement(self, op: Op) -> list[ast.stmt]:
        """The statements of one op."""
        match op:
            case Call():
                return self.call(op)
            case If() if op in self.layout.choices:
                self.hand_on(y for block in op.blocks for y in block.yields)
                return [assign(self.target(op.outs), self.choice(op))]
            case If():
                return self.print_if(op)
            case For():
                return self.print_for(op)
            case While():
                return self.print_while(op)
            case Apply():
                call = self.application(op)
                return [assign(self.target(op.outs), call)] if op.outs else [ast.Expr(call)]
        raise AssertionError(op)

    # ------------------------------------------------------------------ control flow

    def print_if(self, op: If) -> list[ast.stmt]:
        """``if``; each branch ends by assigning the result variables."""

        def finish(yields: list[Operand]) -> list[ast.stmt]:
            return self.copies([(o, y) for o, y in zip(op.outs, yields, strict=True) if self.layout.count.get(o)])

        then, orelse = (self.tail(block, finish, False) for block in op.blocks)
        return self.branch(self.expression(op.test), then, orelse)

    def needed(self, op: For | While) -> set[Value]:
        """The carried variables that are read in the loop or after it."""
        count = self.layout.count
        tested = op.test.args if isinstance(op, While) else op.carried
        return {a for a, t, o in zip(op.carried, tested, op.outs, strict=False) if count.get(a) or count.get(t) or count.get(o)}

    def loop_end(self, targets: list[Value], needed: set[Value], until: bool) -> Finish:
        """The end of an iteration: the assignments of carried variables, and the exit."""

        def finish(yields: list[Operand]) -> list[ast.stmt]:
            copies = self.copies([(t, y) for t, y in zip(targets, yields, strict=False) if t in needed])
            return self.leave(copies, yields[-1]) if until else copies

        return finish

    def leave(self, copies: list[ast.stmt], test: Operand) -> list[ast.stmt]:
        """Copies, then ``break`` if the test, evaluated before them, is true."""
        if isinstance(test, Const):
            return [*copies, ast.Break()] if test.value else copies
        condition = self.expression(test)
        written = {n.id for c in copies if isinstance(c, ast.Assign) for t in c.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
        if written & {self.name_of[v] for v in self.layout.leaves([test])}:
            flag = self.fresh("leave")
            return [assign(ast.Name(flag), condition), *copies, ast.If(ast.Name(flag), [ast.Break()], [])]
        return [*copies, ast.If(condition, [ast.Break()], [])]

    def fresh(self, base: str) -> str:
        """An unused variable name."""
        taken = {*self.name_of.values(), *self.names.reserved()}
        name = base
        while name in taken:
            self.flags += 1
            name = f"{base}_{self.flags}"
        return name

    def enter(self, op: For | While) -> list[ast.stmt]:
        """Assignments before a loop."""
        needed = self.needed(op)
        assignments = self.copies([(c, i) for c, i in zip(op.carried, op.inits, strict=True) if c in needed])
        if self.counts(op):
            assignments.append(assign(ast.Name(self.name_of[op.outs[-1]]), ast.Constant(0)))
        for statement in assignments:
            self.marks[statement] = Mark()  # the line comment belongs to the loop itself
        return assignments

    def counts(self, op: For | While) -> bool:
        """Whether the number of iterations is read."""
        return len(op.outs) > len(op.carried) and bool(self.layout.count.get(op.outs[-1]))

    def body(self, op: For | While, before: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of an iteration."""
        if self.counts(op):
            before = [*before, ast.AugAssign(ast.Name(self.name_of[op.outs[-1]]), ast.Add(), ast.Constant(1))]
        splits = op.until and isinstance(op.body.yields[-1], Value)
        statements = before + self.tail(op.body, self.loop_end(op.carried, self.needed(op), op.until), splits, True)
        return statements or [ast.Pass()]

    def print_for(self, op: For) -> list[ast.stmt]:
        """``for i in range(...)``."""
        bounds = [self.expression(o) for o in (op.start, op.stop, op.step)]
        if is_int(op.step, 1):
            bounds.pop()
            if is_int(op.start, 0):
                bounds.pop(0)
        over: ast.expr = ast.Call(self.names.use("range"), bounds, [])
        if op.backward:
            over = ast.Call(self.names.use("reversed"), [over], [])
        return [*self.enter(op), ast.For(ast.Name(self.name_of[op.index]), over, self.body(op, []), [])]

    def print_while(self, op: While) -> list[ast.stmt]:
        """``while test``, or an infinite loop that is left when the test fails."""
        entry = self.enter(op)
        before = self.ops(op.test.ops)
        test = self.expression(op.test.yields[0])
        if before:
            before = [*before, ast.If(negated(test), [ast.Break()], [])]
            test = ast.Constant(True)
        return [*entry, ast.While(test, self.body(op, before), [])]


def is_int(operand: Operand, value: int) -> bool:
    """Whether the operand is this literal."""
    return isinstance(operand, Const) and type(operand.value) is int and operand.value == value


def parameters(node: ast.AST) -> set[str]:
    """The names of the parameters in a tree."""
    return {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}


def bound_first(body: list[ast.stmt]) -> set[str]:
    """The names bound before the first statement that may read another one."""
    simple = itertools.takewhile(lambda statement: isinstance(statement, ast.Assign | ast.Expr), body)
    targets = [target for statement in simple if isinstance(statement, ast.Assign) for target in statement.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def is_vector(type_: Type) -> bool:
    """Whether a type is that of an array of one axis."""
    return isinstance(type_, Array) and type_.rank == 1


def begin_unbound(func: Func) -> Iterator[Value]:
    """The loop-carried values that are unbound before the first iteration."""
    for op in walk(func.body):
        if isinstance(op, For | While):
            yield from (slot for slot, init in zip(op.carried, op.inits, strict=True) if is_undefined(init))
