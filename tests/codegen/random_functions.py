"""Random functions of the IR for comparing emitted text with the interpreter: loops, swaps, exits, stores, views, tapes."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from symgrad.ir.core import FALSE, UNDEF, Block, Const, For, Func, If, Operand, Value, While
from symgrad.ir.types import BOOL, FLOAT, INT, Array, Type
from symgrad.location import Loc
from symgrad.ops.build import Builder
from symgrad.ops.rows import arrays, elementwise, engine, engine_lists, engine_opaque, reductions  # noqa: F401

SIZE = 4
VECTOR = Array("f64", (SIZE,), "C")
HINTS = ("h", "x", "y", "z", "t", "np", "lambda", "range", None, None, None)


@dataclass
class Scope:
    """What may be read: vectors that nobody writes to, owned vectors (each with its views), numbers."""

    plain: list[Operand] = field(default_factory=list)
    owned: list[Value] = field(default_factory=list)
    views: dict[Value, list[Value]] = field(default_factory=dict)
    numbers: list[Operand] = field(default_factory=list)
    integers: list[Operand] = field(default_factory=list)
    borrowed: list[Operand] = field(default_factory=list)

    def inner(self) -> Scope:
        """A scope inside: what is owned outside may only be read."""
        views = [v for o in self.owned for v in self.views.get(o, [])]
        return Scope(list(self.plain), [], {}, list(self.numbers), list(self.integers), [*self.borrowed, *self.owned, *views])


class Maker:
    """Builds one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.build = Builder()
        self.line = 1

    def hint(self) -> str | None:
        return self.random.choice(HINTS)

    def function(self, length: int) -> Func:
        x, y, a = Value(VECTOR, "x"), Value(VECTOR, "y"), Value(FLOAT, "a")
        n = Value(INT, "n")
        self.build.block = Block([x, y, a, n])
        scope = Scope([x, y], [], {}, [a, Const(0.5)], [n, Const(2)])
        self.statements(scope, length, 0)
        results: list[Operand] = [*self.random.sample(scope.numbers, min(2, len(scope.numbers))), *scope.owned[:2], self.vector(scope)]
        self.build.block.yields = results
        return Func("f", self.build.block, [f"out{k}" for k in range(len(results))])

    def statements(self, scope: Scope, length: int, depth: int) -> None:
        kinds = ["arithmetic", "arithmetic", "number", "reduce", "fresh", "store", "view", "element", "augment", "accumulate", "zeros"]
        if depth < 3:
            kinds += ["branch", "choice", "choice", "loop", "loop", "while_loop", "taped"]
        for _ in range(length):
            self.line += 1
            with self.build.at(Loc("f.py", self.line)):
                getattr(self, self.random.choice(kinds))(scope, depth)

    # ------------------------------------------------------------------ choices

    def vector(self, scope: Scope) -> Operand:
        views = [v for o in scope.owned for v in scope.views.get(o, [])]
        return self.random.choice([*scope.plain, *scope.owned, *views, *scope.borrowed])

    def number_of(self, scope: Scope) -> Operand:
        return self.random.choice(scope.numbers[-6:])

    def index_of(self, scope: Scope) -> Operand:
        return self.random.choice([Const(0), Const(1), Const(-1), Const(3)])

    # ------------------------------------------------------------------ kinds of statements

    def arithmetic(self, scope: Scope, depth: int) -> None:
        name = self.random.choice(["add", "subtract", "multiply", "maximum"])
        value = self.build.call(name, self.vector(scope), self.random.choice([self.vector(scope), self.number_of(scope)]))
        scope.plain.append(self.build.call("tanh", value, hint=self.hint()))

    def number(self, scope: Scope, depth: int) -> None:
        name = self.random.choice(["add", "subtract", "multiply"])
        value = self.build.call(name, self.number_of(scope), self.number_of(scope))
        scope.numbers.append(self.build.call("tanh", value, hint=self.hint()))

    def reduce(self, scope: Scope, depth: int) -> None:
        scope.numbers.append(self.build.call("tanh", self.build.call("sum", self.vector(scope)), hint=self.hint()))

    def fresh(self, scope: Scope, depth: int) -> None:
        scope.owned.append(self.build.call("copy", self.vector(scope), hint=self.hint()))

    def zeros(self, scope: Scope, depth: int) -> None:
        scope.owned.append(self.build.call("zeros_like", self.vector(scope), hint=self.hint()))

    def consumed(self, scope: Scope) -> Value | None:
        if not scope.owned:
            return None
        old = self.random.choice(scope.owned)
        scope.owned.remove(old)
        scope.views.pop(old, None)
        return old

    def store(self, scope: Scope, depth: int) -> None:
        value = self.number_of(scope)
        old = self.consumed(scope)
        if old is not None:
            index = self.index_of(scope)
            if self.random.random() < 0.5:
                scope.owned.append(self.build.call("set_at", old, value, index, index="i", hint=old.name))
            else:
                scope.owned.append(self.build.call("set_at", old, value, Const(1), Const(None), Const(None), index="s", hint=old.name))

    def augment(self, scope: Scope, depth: int) -> None:
        value = self.number_of(scope)
        old = self.consumed(scope)
        if old is not None:
            path = (Const(1), Const(-1), Const(None))
            was = self.build.call(self.random.choice(["view", "take"]), old, *path, index="s")
            new = self.build.call("add", was, value)
            scope.owned.append(self.build.call("set_at", old, new, *path, index="s", hint=old.name))

    def accumulate(self, scope: Scope, depth: int) -> None:
        old = self.consumed(scope)
        if old is not None:
            g = self.random.choice([*scope.plain, *scope.owned])
            scope.owned.append(self.build.call("accumulate", old, g, hint=old.name))

    def view(self, scope: Scope, depth: int) -> None:
        if scope.owned:
            old = self.random.choice(scope.owned)
            step = self.build.call("view", old, Const(None), Const(None), Const(-1), index="s", hint=self.hint())
            scope.views.setdefault(old, []).append(step)

    def element(self, scope: Scope, depth: int) -> None:
        scope.numbers.append(self.build.call("take", self.vector(scope), self.index_of(scope), index="i", hint=self.hint()))

    def test(self, scope: Scope) -> Operand:
        return self.build.call("greater", self.number_of(scope), Const(0.1))

    def branch(self, scope: Scope, depth: int) -> None:
        op = If([], self.build.loc, self.test(scope))
        taken = [self.consumed(scope) for _ in range(self.random.randint(0, 1))]
        ends = [t for t in taken if t is not None]
        sides = []
        for block in op.blocks:
            with self.build.inside(block):
                inner = scope.inner()
                inner.owned = list(ends)
                self.statements(inner, self.random.randint(0, 3), depth + 1)
                block.yields = [self.number_of(inner), self.random.choice(inner.plain), *self.kept(inner, ends)]
                sides.append(inner)
        if self.random.random() < 0.3:
            op.orelse.yields[0] = op.then.yields[0] if op.then.yields[0] in scope.numbers else Const(0.25)
        op.outs = [Value(FLOAT, self.hint()), Value(VECTOR, self.hint()), *[Value(VECTOR, g.name) for g in ends]]
        self.build.append(op)
        scope.numbers.append(op.outs[0])
        scope.plain.append(op.outs[1])
        scope.owned += op.outs[2:]

    def choice(self, scope: Scope, depth: int) -> None:
        """An ``if`` that may be an expression: of numbers, or ``and``, ``or`` in the test of another."""
        test = self.test(scope)
        op = If([Value(FLOAT)], self.build.loc, test)
        for block in op.blocks:
            with self.build.inside(block):
                block.yields = [self.build.call("tanh", self.number_of(scope)) if self.random.random() < 0.7 else self.number_of(scope)]
        kind = self.random.randint(0, 2)
        if kind:
            op.blocks[kind - 1].ops.clear()
            op.blocks[kind - 1].yields = [test]
            with self.build.inside(op.blocks[2 - kind]) as block:
                block.ops.clear()
                block.yields = [self.test(scope)]
            op.outs = [Value(BOOL)]
        self.build.append(op)
        if kind:
            outer = If([Value(FLOAT, self.hint())], self.build.loc, op.outs[0])
            outer.then.yields, outer.orelse.yields = [self.number_of(scope)], [self.number_of(scope)]
            self.build.append(outer)
            op = outer
        scope.numbers.append(op.outs[0])

    def kept(self, inner: Scope, values: list[Value]) -> list[Operand]:
        """As many owned vectors as were given; stores replace one by one, so that there are enough."""
        return list(inner.owned[: len(values)])

    def carried(self, scope: Scope) -> tuple[list[Operand], list[Type], list[str | None]]:
        inits: list[Operand] = [self.number_of(scope), self.number_of(scope), self.vector_plain(scope), self.vector_plain(scope)]
        types: list[Type] = [FLOAT, FLOAT, VECTOR, VECTOR]
        old = self.consumed(scope)
        if old is not None:
            inits.append(old)
            types.append(VECTOR)
        names = [o.name if isinstance(o, Value) and self.random.random() < 0.7 else self.hint() for o in inits]
        return inits, types, names

    def vector_plain(self, scope: Scope) -> Operand:
        return self.random.choice(scope.plain)

    def round_(self, args: list[Value], scope: Scope, depth: int, index: Value | None) -> list[Operand]:
        inner = scope.inner()
        inner.numbers += args[:2]
        inner.plain = [*scope.plain, *args[2:4]]
        inner.owned = list(args[4:])
        if index is not None:
            scalar = self.build.call("multiply", index, Const(0.25))
            inner.numbers.append(scalar)
        self.statements(inner, self.random.randint(0, 4), depth + 1)
        first, second = self.number_of(inner), self.number_of(inner)
        if self.random.random() < 0.3:
            first, second = args[1], args[0]
        third, fourth = self.random.choice(inner.plain), self.random.choice(inner.plain)
        if self.random.random() < 0.3:
            third, fourth = args[3], self.build.call("add", args[2], args[3], hint=args[3].name)
        return [first, second, third, fourth, *inner.owned[: len(args[4:])]]

    def until(self, scope: Scope, args: list[Value], depth: int) -> Operand:
        """A test at the end of a round, alone or out of an ``if``."""
        if self.random.random() < 0.5:
            return self.build.call("greater", args[0], Const(0.6))
        return FALSE

    def loop(self, scope: Scope, depth: int) -> None:
        inits, types, names = self.carried(scope)
        index = Value(INT, self.random.choice(["i", "j", None]))
        args = [Value(t, n) for t, n in zip(types, names, strict=True)]
        body = Block([index, *args])
        until = self.random.random() < 0.5
        with self.build.inside(body):
            if until and self.random.random() < 0.5:
                yields = self.guarded(args, scope, depth)
            else:
                yields = self.round_(args, scope, depth, index)
                if until:
                    yields.append(self.until(scope, args, depth))
            body.yields = yields
        start = self.random.choice([Const(0), Const(1)])
        stop = self.random.choice(scope.integers)
        outs = [Value(t, n) for t, n in zip(types, names, strict=True)] + ([Value(INT, "rounds")] if until else [])
        self.build.append(For(outs, self.build.loc, start, stop, Const(1), inits, body, until, self.random.random() < 0.4))
        self.after(scope, outs, until)

    def guarded(self, args: list[Value], scope: Scope, depth: int) -> list[Operand]:
        """A round that ends in an ``if`` one branch of which leaves."""
        op = If([], self.build.loc, self.build.call("greater", args[self.random.randint(0, 1)], Const(0.3)))
        leaving = self.random.randint(0, 1)
        for k, block in enumerate(op.blocks):
            with self.build.inside(block):
                block.yields = [*self.round_(args, scope, depth + 1, None), Const(k == leaving)]
        op.outs = [Value(a.type, self.random.choice([a.name, None])) for a in args] + [Value(BOOL)]
        self.build.append(op)
        return list(op.outs)

    def after(self, scope: Scope, outs: list[Value], counted: bool) -> None:
        scope.numbers += outs[:2]
        scope.plain += outs[2:4]
        scope.owned += outs[4 : len(outs) - counted]
        if counted and self.random.random() < 0.5:
            scope.numbers.append(self.build.call("multiply", outs[-1], Const(0.125)))

    def while_loop(self, scope: Scope, depth: int) -> None:
        inits, types, names = self.carried(scope)
        inits.insert(0, Const(0))
        types.insert(0, INT)
        names.insert(0, "k")
        tests = [Value(t, n) for t, n in zip(types, names, strict=True)]
        args = [Value(t, n) for t, n in zip(types, names, strict=True)]
        test, body = Block(tests), Block(args)
        with self.build.inside(test):
            if self.random.random() < 0.5:
                test.yields = [self.build.call("less", tests[0], Const(3))]
            else:
                some = self.build.call("sum", tests[3], hint="t")
                test.yields = [
                    self.build.call("less", self.build.call("add", self.build.call("multiply", tests[0], some), some), Const(1.5))
                ]
        with self.build.inside(body):
            value = self.round_(args[1:], scope, depth, None)
            step = self.build.call("add", args[0], Const(1), hint="k")
            enough = self.build.call("greater", step, Const(3))
            body.yields = [step, *value, enough]
        outs = [Value(t, n) for t, n in zip(types, names, strict=True)] + [Value(INT, "rounds")]
        self.build.append(While(outs, self.build.loc, inits, test, body, True))
        self.after(scope, outs[1:], True)

    def taped(self, scope: Scope, depth: int) -> None:
        """A loop that pushes, and one that pops in reverse."""
        stop = self.random.choice(scope.integers)
        tape = self.build.call("tape", hint="h_tape")
        first, second = Value(VECTOR, "h"), Value(tape.type, "h_tape")
        index = Value(INT, "i")
        body = Block([index, first, second])
        several = self.random.random() < 0.4
        init = self.vector_plain(scope)
        with self.build.inside(body):
            kept = [first, index] if several else [first]
            pushed = self.build.call("push", second, *kept, hint="h_tape")
            new = self.build.call("tanh", self.build.call("add", first, self.number_of(scope)), hint="h")
            body.yields = [new, pushed]
        second.type = pushed.type
        outs = [Value(VECTOR, "h"), Value(pushed.type, "h_tape")]
        self.build.append(For(outs, self.build.loc, Const(0), stop, Const(1), [init, tape], body))
        g, rest = Value(VECTOR, "h_grad"), Value(pushed.type, "h_tape")
        back = Block([Value(INT, "i"), g, rest])
        with self.build.inside(back):
            left, *values = self.build.call_many("pop", rest, hints=("h_tape", self.random.choice(["h", None])))
            new = self.build.call("multiply", g, values[0], hint="h_grad")
            if several:
                new = self.build.call("add", new, values[1])
            back.yields = [self.build.call("tanh", new, hint="h_grad"), left]
        grads = [Value(VECTOR, "h_grad"), Value(pushed.type, "h_tape")]
        self.build.append(For(grads, self.build.loc, Const(0), stop, Const(1), [outs[0], outs[1]], back, False, True))
        scope.plain.append(grads[0])


def random_function(seed: int, length: int = 8) -> Func:
    """One function of ``x``, ``y`` (vectors of four), ``a`` (a float), ``n`` (an int)."""
    return Maker(seed).function(length)


__all__ = ["UNDEF", "random_function"]
