"""A growing function: parameters, operations, and gradients of existing values, in any order and to any depth.

Values are identified by keys (names of variables, tensors). A gradient transforms the function by the adjoint; the keys then refer to
the values of the new function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from symgrad.adjoint.analysis.activity import active_values, matters, may_be_active
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.errors import NoDerivative
from symgrad.ir.core import Block, Call, Const, Func, If, Operand, Value, While, blocks_within, clone_block, substitute, walk
from symgrad.ir.types import INT, Array, Scalar, Type, is_complex, join, same_extent
from symgrad.ops.build import Builder, known_extents, symbols
from symgrad.pipeline.registry import OPTIMISE
from symgrad.pipeline.runner import run
from symgrad.record.compiled import Compiled, Key, finished
from symgrad.record.operations import Operation, append


@dataclass
class Graph:
    """A function under construction. ``values`` maps keys to values."""

    builder: Builder = field(default_factory=lambda: Builder(Block()))
    values: dict[Key, Operand] = field(default_factory=dict)
    objects: dict[str, Any] = field(default_factory=dict)  #: objects that ops name, other than functions of NumPy and symgrad
    params: list[Key] = field(default_factory=list)  #: the keys of the parameters, in order
    labels: Set[Key] = frozenset()  #: the keys of values in blocks inside that cuts may name

    @property
    def block(self) -> Block:
        """The body of the function."""
        return self.builder.block

    def parameter(self, key: Key, type_: Type, name: str | None = None) -> Value:
        """Add a parameter."""
        value = Value(self.builder.distinct(type_), name)
        self.block.args.append(value)
        self.params.append(key)
        self.values[key] = value
        return value

    def operation(self, operation: Operation, inputs: Sequence[Key], outputs: Sequence[Key]) -> None:
        """Append an operation."""
        for key, value in zip(outputs, self.apply(operation, [self.values[key] for key in inputs]), strict=True):
            self.values[key] = value

    def apply(self, operation: Operation, inputs: list[Operand]) -> list[Operand]:
        """Append an operation and return its results."""
        return append(self.builder, operation, inputs, self.objects)

    def name(self, key: Key, value: Operand, name: str) -> None:
        """Bind a key to a value, and name the value in emitted text."""
        if isinstance(value, Value) and value not in self.block.args:
            value.name = name
        self.values[key] = value

    def label(self, keys: Iterable[Key]) -> None:
        """Register values in nested blocks that cuts may name."""
        for key in keys:
            value = self.values.get(key)
            if key in self.labels and isinstance(value, Value):
                self.values[key] = self.builder.call("label", value, hint=value.name, key=key)

    def type(self, key: Key) -> Type:
        """Return the type of a value."""
        return self.values[key].type

    def ones(self, operand: Operand) -> Operand:
        """Return the default seed of a target."""
        if isinstance(operand.type, Scalar):
            dtype = operand.type.dtype
            return Const(1.0) if dtype in (None, "any", "f64") else self.builder.call("cast", Const(1.0), dtype=dtype)
        return self.builder.call("ones_like", operand)

    def like(self, seed: Operand, target: Operand) -> Operand:
        """A seed as a number or as an array, whichever its target is."""
        if isinstance(target.type, Scalar) and not isinstance(seed.type, Scalar):
            return self.builder.call("sum", seed)
        if isinstance(seed.type, Scalar) and not isinstance(target.type, Scalar):
            return self.builder.call("spread", seed, self.builder.call("shape_of", target))
        return seed

    def agree(self, key: Key, other: Key, message: str) -> None:
        """Let two arrays of one rank be refused, when they are there, if their shapes differ."""
        types = [self.values[one].type for one in (key, other)]
        for axis, (a, b) in enumerate(zip(*(t.shape or () for t in types if isinstance(t, Array)), strict=False)):
            if not same_extent(a, b):
                extents = [self.builder.call("extent", self.values[one], axis=axis) for one in (key, other)]
                self.builder.call_many("check_count", *extents, Const(message))

    def zeros(self, key: Key) -> Operand:
        """Zeros like a value."""
        operand = self.values[key]
        return Const(0.0) if isinstance(operand.type, Scalar) else self.builder.call("zeros_like", operand)

    # ---------------------------------------------------------------- control flow

    def inside(self, make: Callable[[], list[Operand]], args: Sequence[Value] = ()) -> Block:
        """Context manager: a nested block, whose definitions are dropped afterwards."""
        block = Block(list(args))
        before = dict(self.values)
        with self.builder.inside(block):
            block.yields = make()
        self.values = before
        return block

    def branch(self, test: Operand, outputs: Sequence[Key], sides: Sequence[Callable[[], list[Operand]]]) -> None:
        """Append a branch."""
        then, orelse = [self.inside(side) for side in sides]
        outs = [Value(join(a.type, b.type)) for a, b in zip(then.yields, orelse.yields, strict=True)]
        test = self.builder.call("number", test, kind="bool")
        self.builder.append(If(outs, self.builder.loc, test, then, orelse))
        self.values.update(zip(outputs, outs, strict=True))

    def loop(
        self,
        inits: Sequence[Operand],
        carried: Sequence[Key],
        test: Callable[[], list[Operand]],
        body: Callable[[], list[Operand]],
        outputs: Sequence[Key],
    ) -> None:
        """Append a loop that runs while its test holds."""
        kinds = [init.type for init in inits]
        for _ in range(8):
            blocks = []
            for make in (test, body):
                args = [Value(kind) for kind in kinds]
                before = dict(self.values)
                self.values.update(zip(carried, args, strict=True))
                blocks.append(self.inside(make, args))
                self.values = before
            wider = [join(a, b.type) for a, b in zip(kinds, blocks[1].yields, strict=True)]
            if wider == kinds:
                break
            kinds = wider
        with self.builder.inside(blocks[0]):
            blocks[0].yields = [self.builder.call("number", blocks[0].yields[0], kind="bool")]
        outs = [Value(kind) for kind in kinds]
        self.builder.append(While([*outs, Value(INT)], self.builder.loc, list(inits), blocks[0], blocks[1]))
        self.values.update(zip(outputs, outs, strict=True))

    # ---------------------------------------------------------------- gradients

    def gradients(
        self, targets: Sequence[Key], inputs: Sequence[Key], seeds: Sequence[Key | None], cuts: Iterable[Key] = ()
    ) -> list[Operand | None]:
        """Return the gradients of ``sum(<seed, target>)`` with respect to each input, None where no target depends on it.

        No derivative passes values in ``cuts``, or labelled so. Inputs may be intermediate values, which get the total derivative.
        """
        pairs = [(self.values[t], None if s is None else self.values[s]) for t, s in zip(targets, seeds, strict=True)]
        seed_operands = [self.ones(target) if seed is None else self.like(seed, target) for target, seed in pairs]
        keys = list(self.values)
        sources = [self.values[key] for key in keys]
        ends = [self.values[t] for t in targets]
        table: dict[Value, Operand] = {}
        body = clone_block(Block(self.block.args, self.block.ops, [*ends, *sources, *seed_operands]), table)
        cuts = dict.fromkeys(cuts)
        stopped = dict.fromkeys(v for key in cuts if isinstance(v := self.values.get(key), Value))
        for value in stopped:
            self.interpose(body, table[value], "barrier", len(ends))
        for block in [inner for op in walk(body) for inner in op.blocks] if self.labels else ():
            for op in list(block.ops):
                if isinstance(op, Call) and op.name == "label" and op.settings["key"] in cuts:
                    self.interpose(block, op.outs[0], "barrier", len(block.yields))
        variables = [v for key in inputs if isinstance(v := self.values[key], Value) and v not in stopped and may_be_active(v.type)]
        places = self.probed(body, {value: table[value] for value in variables}, len(ends))
        before = len(body.args)
        whole = Func("recorded", body, [], split=None)
        active = list(range(len(ends)))
        reached = matters(whole, list(places.values()), active)
        wrt = [k for k in dict.fromkeys(places.values()) if k in reached]
        if wrt:
            real_only(whole, wrt, active)
            # keys must be bound to the values that later operations read, not to copies
            derivative = gradient(whole, wrt, active_results=active, value=True, seeds=True, taken=set(self.builder.taken), shared=True)
            body = expanded(derivative).body
        count = len(ends) + len(keys)
        seed_values = body.yields[count : count + len(seed_operands)]
        table = dict(zip(body.args[before:], seed_values, strict=False))
        # the parameter of a probe serves its derivative; a read of its shape becomes a read of the probed value's shape
        table.update({body.args[k]: body.yields[len(ends) + sources.index(v)] for v, k in places.items() if k >= len(self.params)})
        cotangents = body.yields[count + len(seed_operands) :]
        strip(body, PASSED, table, cotangents)
        body.args = body.args[: len(self.params)]
        again = dict(zip(self.block.args, body.args, strict=True))
        news = body.yields[len(ends) : count]
        self.values = {key: again.get(old, new) for key, old, new in zip(keys, sources, news, strict=True)}  # type: ignore[arg-type]
        body.yields = []
        func = Func("recorded", body)
        self.builder = Builder(body, extents=known_extents(func), taken=self.builder.taken | symbols(func))
        gradients = dict(zip(wrt, cotangents, strict=True))
        answers: list[Operand | None] = []
        for old in [sources[keys.index(key)] for key in inputs]:
            place = places.get(old) if isinstance(old, Value) else None
            answers.append(None if place is None else gradients.get(place))
        return answers

    def probed(self, body: Block, variables: dict[Value, Operand], ends: int) -> dict[Value, int]:
        """Let each variable be a parameter of the body, if need be by a probe, and return the places of the parameters."""
        places: dict[Value, int] = {}
        for value, own in variables.items():
            if own not in body.args:
                assert isinstance(own, Value)
                body.args.append(Value(own.type, own.name))
                self.interpose(body, own, "probe", ends, body.args[-1])
                places[value] = len(body.args) - 1
            else:
                places[value] = body.args.index(own)
        return places

    def interpose(self, body: Block, value: Operand, row: str, ends: int, *more: Operand) -> None:
        """Let everything after ``value``, and the targets, read it through an op that does nothing in the program."""
        assert isinstance(value, Value)
        place = next((k + 1 for k, op in enumerate(body.ops) if value in op.outs), 0)
        out = Value(value.type, value.name)
        rest = Block([], body.ops[place:], body.yields[:ends])
        substitute(rest, {value: out})
        body.yields[:ends] = rest.yields
        body.ops.insert(place, Call([out], self.builder.loc, row, [value, *more], {}))

    # ---------------------------------------------------------------- functions

    def function(self, results: Sequence[Operand], name: str, known: Sequence[Key] = (), kernel: bool = False) -> Compiled:
        """Compile the function of some of the values; ``known`` are available values, which become parameters.

        ``kernel``: with all parameters that its kernel reads.
        """
        table: dict[Value, Operand] = {}
        body = clone_block(Block(self.block.args, self.block.ops, list(results)), table)
        if self.labels:
            strip(body, ("label",), {}, [])
        params = list(zip(self.params, body.args, strict=True))
        replaced: dict[Value, Operand] = {}
        for key in known:
            old = self.values[key]
            new = table[old] if isinstance(old, Value) else None
            if isinstance(new, Value) and new not in body.args and new not in replaced:
                replaced[new] = parameter = Value(new.type, new.name)
                params.append((key, parameter))
        substitute(body, replaced)
        body.args = [value for _, value in params]
        func = run(OPTIMISE, Func(name, body))
        return finished(func, [key for key, _ in params], name, self.objects, kernel)


def real_only(func: Func, wrt: Sequence[int], active: Sequence[int]) -> None:
    """No gradient is taken of complex numbers here: these packages have conventions of their own for them."""
    if any(is_complex(value.type) for value in active_values(func, wrt, active)):
        raise NoDerivative("the gradient of complex tensors is not supported", hint="use symgrad.grad of a NumPy function")


PASSED = ("barrier", "probe")  #: ops that do nothing in the program


def strip(body: Block, rows: Sequence[str], table: dict[Value, Operand], results: list[Operand]) -> None:
    """Replace ops of some rows, also in nested blocks."""
    for block in [*blocks_within(body)]:
        gone = [op for op in block.ops if isinstance(op, Call) and op.name in rows]
        if gone:
            table.update({op.outs[0]: op.args[0] for op in gone})
            block.ops = [op for op in block.ops if not (isinstance(op, Call) and op.name in rows)]
    body.yields, tail = [*body.yields, *results], len(results)
    substitute(body, table)
    results[:] = body.yields[len(body.yields) - tail :]
    del body.yields[len(body.yields) - tail :]
