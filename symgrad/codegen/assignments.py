"""Emission of ops without blocks: an expression, or the statements that assign the results."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from symgrad.codegen.expressions import Names, constant, has_path, spell
from symgrad.codegen.header import Header
from symgrad.codegen.layout import Layout, is_pop
from symgrad.codegen.seam import as_statement, assign, method, subtracted, tuple_of
from symgrad.ir.core import Apply, Call, Const, Func, If, Operand, Value, same_operand
from symgrad.ir.types import Array, Scalar
from symgrad.ir.unbound import is_undefined
from symgrad.ops.declare import ROWS


@dataclass(slots=True)
class AssignmentWriter:
    """Emits the ops of one function that have no blocks."""

    func: Func
    header: Header
    names: Names
    headers: dict[Func, Header]
    layout: Layout = field(init=False)
    name_of: dict[Value, str] = field(init=False)
    passed: set[Value] = field(init=False)  #: possibly unbound values that cannot be copied; kernels copy those that branches do not bind
    unset: dict[str, None] = field(init=False, default_factory=dict)  #: names that are copied where they may be unbound

    # ------------------------------------------------------------------ expressions

    def expression(self, operand: Operand, borrow: bool = False) -> ast.expr:
        """The expression printed where an operand is read; ``borrow``: it is read at once."""
        if isinstance(operand, Const):
            function = operand.value
            return ast.Name(self.headers[function].name) if isinstance(function, Func) else constant(operand, self.names)
        if operand not in self.layout.nested:
            return ast.Name(self.name_of[operand])
        op = self.layout.producer[operand]
        if isinstance(op, If):
            return self.choice(op)
        if isinstance(op, Apply):
            return self.application(op)
        assert isinstance(op, Call)
        if is_pop(op):
            return method(self.expression(op.args[0]), "pop")
        expression = spell(op, self.layout.text(op), self.operands(op), self.names, borrow).value
        assert expression is not None
        return expression

    def choice(self, op: If) -> ast.expr:
        """``a if test else b``, ``a and b``, ``a or b``."""
        test = self.expression(op.test)
        then, orelse = (block.yields[0] for block in op.blocks)
        if op not in self.layout.shortcuts:
            return ast.IfExp(test, self.expression(then), self.expression(orelse))
        is_and = self.layout.shortcuts[op]
        rest = self.expression(then if is_and else orelse)
        kind = ast.And if is_and else ast.Or
        parts = rest.values if isinstance(rest, ast.BoolOp) and isinstance(rest.op, kind) else [rest]
        return ast.BoolOp(kind(), [*(test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, kind) else [test]), *parts])

    def application(self, op: Apply) -> ast.expr:
        """A call of another emitted function."""
        assert op.func is not None
        return ast.Call(ast.Name(self.headers[op.func].name), [self.expression(a) for a in op.args], [])

    def operands(self, op: Call) -> list[ast.expr]:
        """The expressions of a call's operands."""
        row = ROWS[op.name]
        reads = row.elementwise or row.statement and row.consumes and has_path(row)
        return [self.expression(a, bool(reads)) for a in op.args]

    def target(self, values: list[Value]) -> ast.expr:
        """The assigned variables."""
        return tuple_of([ast.Name(self.name_of[v]) for v in values])

    # ------------------------------------------------------------------ assignments

    def copies(self, pairs: list[tuple[Value, Operand]]) -> list[ast.stmt]:
        """Simultaneous assignments: one after the other in an order without conflicts, or as one assignment of tuples."""
        pending: list[tuple[str, Operand, set[str]]] = []
        self.hand_on(o for t, o in pairs if o in self.layout.nested or isinstance(o, Value) and self.name_of[o] != self.name_of[t])
        for target, operand in pairs:
            if is_undefined(operand):
                continue
            name = self.name_of[target]
            if isinstance(operand, Value) and operand not in self.layout.nested and self.name_of[operand] == name:
                continue
            pending.append((name, operand, {self.name_of[v] for v in self.layout.leaves([operand])}))
        assignments: list[ast.stmt] = []
        while pending:
            free = next((p for p in pending if not any(p[0] in other[2] for other in pending if other is not p)), None)
            if free is None:
                together = ast.Tuple([ast.Name(p[0]) for p in pending])
                assignments.append(assign(together, ast.Tuple([self.expression(p[1]) for p in pending])))
                break
            pending.remove(free)
            assignments.append(assign(ast.Name(free[0]), self.expression(free[1])))
        return assignments

    def hand_on(self, operands: Iterable[Operand]) -> None:
        """Record the names that are read, though they may be unbound, where operands get other names."""
        doubtful: list[Operand] = [o for o in operands if o in self.passed]
        self.unset |= {self.name_of[value]: None for value in self.layout.leaves(doubtful) if value in self.passed}

    def call(self, op: Call) -> list[ast.stmt]:
        """Emit one row."""
        row = ROWS[op.name]
        before: list[ast.stmt] = []
        if row.consumes and op.outs:
            before = self.copies([(op.outs[0], op.args[0])])
        if row.emit == "push":
            return before + self.push(op)
        if row.emit == "pop":
            return before + self.pop(op)
        short = self.augmented(op)
        if short is not None:
            return [*before, short]
        operands = self.operands(op)
        outs: dict[str, ast.expr] = {}
        if row.consumes and op.outs:
            operands[0] = ast.Name(self.name_of[op.outs[0]])
        elif row.statement:
            outs = {name: ast.Name(self.name_of[v]) for name, v in zip(row.outs, op.outs, strict=False)}
        spelled = spell(op, self.layout.text(op), operands, self.names, outs=outs)
        if op.name == "evaluated" and isinstance(operands[0], ast.Name):
            return before  # it is computed where it is assigned
        if spelled.value is None:
            return before + [subtracted(statement) for statement in spelled.statements]
        if op.outs and (any(self.layout.count.get(o) for o in op.outs) or any(o.name for o in op.outs)):
            return [*before, self.summed(op, spelled.value) or assign(self.target(op.outs), spelled.value)]
        if isinstance(spelled.value, ast.Name | ast.Constant):
            return before
        function = op.args[0].value if op.name == "opaque" and isinstance(op.args[0], Const) else None
        return [*before, as_statement(function, spelled.value)]

    def push(self, op: Call) -> list[ast.stmt]:
        """``tape.append(value)``, or a tuple of several."""
        items = [self.expression(a) for a in op.args[1:]]
        return [ast.Expr(method(ast.Name(self.name_of[op.outs[0]]), "append", tuple_of(items)))] if items else []

    def pop(self, op: Call) -> list[ast.stmt]:
        """``value = tape.pop()``."""
        call = method(ast.Name(self.name_of[op.outs[0]]), "pop")
        values = op.outs[1:]
        if not values:
            return []
        if not any(self.layout.count.get(v) for v in values):
            return [ast.Expr(call)]
        return [assign(self.target(values), call)]

    def augmented(self, op: Call) -> ast.stmt | None:
        """``x[path] += v``, where the stored value is the old content of the place plus ``v``, or another operation on both."""
        if self.layout.text(op) != "x[path] = v" or op.args[1] not in self.layout.nested:
            return None
        value = op.args[1]
        assert isinstance(value, Value)
        producer = self.layout.producer[value]
        if isinstance(producer, Call) and ROWS[producer.name].by_name:
            return self.augmented_as_written(op, producer)
        if not isinstance(producer, Call) or len(producer.args) != 2 or producer.args[0] not in self.layout.nested:
            return None
        old = self.layout.producer[producer.args[0]]
        expression = spell(producer, self.layout.text(producer), [ast.Name("x"), ast.Name("y")], self.names).value
        if not isinstance(old, Call) or self.layout.text(old) not in ("x[path]", "x[path].copy()") or not isinstance(expression, ast.BinOp):
            return None
        if self.header.fast and isinstance(expression.op, ast.MatMult):
            return None  # NumPy is slower to multiply in place
        if not isinstance(expression.left, ast.Name) or expression.left.id != "x":
            return None
        if not isinstance(expression.right, ast.Name) or expression.right.id != "y":
            return None
        place, read = [op.args[0], *op.args[2:]], old.args
        if old.settings["index"] != op.settings["index"] or len(place) != len(read) or not all(map(same_operand, place, read)):
            return None
        if isinstance(value.type, Array) and value.type.dtype != getattr(op.args[0].type, "dtype", None):
            return None
        operands = self.operands(op)
        operands[1] = ast.Constant(0)
        (store,) = spell(op, self.layout.text(op), [ast.Name(self.name_of[op.outs[0]]), *operands[1:]], self.names).statements
        assert isinstance(store, ast.Assign)
        target = store.targets[0]
        assert isinstance(target, ast.Name | ast.Subscript)
        return ast.AugAssign(target, expression.op, self.expression(producer.args[1], True))

    def augmented_as_written(self, op: Call, producer: Call) -> ast.stmt | None:
        """``x[path] += v``, where the user wrote it that way."""
        operands = self.operands(op)
        (store,) = spell(op, self.layout.text(op), [ast.Name(self.name_of[op.outs[0]]), *operands[1:]], self.names).statements
        if not producer.settings["is_augmented"] or not isinstance(store, ast.Assign) or not isinstance(store.value, ast.BinOp):
            return None
        target, value = store.targets[0], store.value
        assert isinstance(target, ast.Subscript)
        whole = isinstance(target.slice, ast.Constant) and target.slice.value is ...
        place = target.value if whole and isinstance(target.value, ast.Name) else target
        if ast.unparse(place) != ast.unparse(value.left):
            return None
        return ast.AugAssign(place, value.op, value.right)

    def summed(self, op: Call, value: ast.expr) -> ast.stmt | None:
        """``total += v`` for a number that is reassigned; a cotangent passed as a parameter may be a 0-d array."""
        seeded = any((p.name or "").endswith("_grad") for p in self.func.params)
        if seeded or len(op.outs) != 1 or not isinstance(op.outs[0].type, Scalar):
            return None
        name = self.name_of[op.outs[0]]
        held = [a for a in op.args if isinstance(a, Value) and self.name_of.get(a) == name]
        if not all(isinstance(a.type, Scalar) for a in held):
            return None  # the name's old value was an array, if only 0-d, which would be written to
        if ROWS[op.name].by_name and not op.settings["is_augmented"]:
            return None  # it stays as the user wrote it
        if isinstance(value, ast.BinOp) and isinstance(value.left, ast.Name) and value.left.id == name:
            return ast.AugAssign(value.left, value.op, value.right)
        return None
