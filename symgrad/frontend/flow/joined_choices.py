"""Joins of values of different kinds: the value after a branch is one of several, at most one of each kind."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from symgrad.frontend.flow.branch_sides import Side
from symgrad.frontend.flow.joinable import can_be_called, holds_object, with_parts
from symgrad.frontend.flow.joined_arrays import JoinedArrays
from symgrad.frontend.state.abstract_values import DIFFERENT, Skeleton, resolved_by_paths
from symgrad.frontend.state.bindings import MISSING, Binding, Broken, Choice, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.state.reach import parts_of
from symgrad.identity import Same
from symgrad.ir.core import FALSE, TRUE, Operand
from symgrad.ir.types import BOOL, Array


@dataclass(slots=True)
class JoinedChoices(JoinedArrays):
    """The part of a join for values of different kinds.

    Values of one kind are joined to one value, so the number of values to choose from is at most the number of kinds, whatever the number
    of joins on the way.
    """

    @abstractmethod
    def binding(self, a: Binding, b: Binding, name: str) -> Binding: ...

    @abstractmethod
    def of_form(self, a: Binding, b: Binding, name: str, form: Skeleton) -> Binding: ...

    @abstractmethod
    def is_outer(self, binding: Binding) -> bool: ...

    def form(self, side: Side, binding: Binding) -> Skeleton:
        return self.ctx.skeleton(binding, self.alive(side), self.entry.memory)

    def either(self, a: Binding, b: Binding) -> Binding:
        """One of several values of different kinds, each as on its paths."""
        if self.then.state.dead or self.orelse.state.dead:
            return self.alone(self.then, a) if self.orelse.state.dead else self.alone(self.orelse, b)
        sides = [self.by_kind(self.then, a), self.by_kind(self.orelse, b)]
        if not sides[0].keys().isdisjoint(sides[1]):
            return self.joined_by_kind(*(self.with_tests(side, x) for side, x in ((self.then, a), (self.orelse, b))))
        values = [self.alone(self.then, a), self.alone(self.orelse, b)]
        if any(isinstance(value, Broken) for value in values):
            return Broken("it is bound to different objects on different paths")
        return Choice(self.op.test, values[0], values[1])

    def joined_by_kind(self, one: dict[Any, tuple[Operand, Binding]], two: dict[Any, tuple[Operand, Binding]]) -> Binding:
        """One of the values of both sides, by kind, each with a test whether the value is this one."""
        nothing = (FALSE, MISSING)
        pairs = [(one.get(kind, nothing), two.get(kind, nothing)) for kind in dict.fromkeys([*one, *two])]
        *several, joint = [self.of_kind(a, b) for (_, a), (_, b) in pairs]
        for ((test, _), (other, _)), value in reversed([*zip(pairs, several, strict=False)]):
            joint = Choice(self.of_both(test, other), value, joint)
        return joint

    def of_kind(self, a: Binding, b: Binding) -> Binding:
        """Two values of one kind as one value; ``MISSING`` on the side that has none."""
        if MISSING in (a, b):
            return self.alone(self.orelse, b) if a == MISSING else self.alone(self.then, a)
        return a if can_be_called(a) else self.binding(a, b, "%alone")

    def by_kind(self, side: Side, binding: Binding) -> dict[Any, Binding]:
        """The values that a binding chooses from, by kind; several of one kind are numbered."""
        values: dict[Any, Binding] = {}
        for value in values_of(resolved_by_paths(binding, side.state)):
            kind, number = self.kind(side, value), 0
            while (kind, number) in values:
                number += 1
            values[kind, number] = value
        return values

    def with_tests(self, side: Side, binding: Binding) -> dict[Any, tuple[Operand, Binding]]:
        """The values that a binding chooses from, by kind, each with a test at the end of the side whether it is this one."""
        with self.ctx.inside(side.block):
            tests = [*self.tests_of(resolved_by_paths(binding, side.state), TRUE)]
        return {kind: (test, value) for test, (kind, value) in zip(tests, self.by_kind(side, binding).items(), strict=True)}

    def tests_of(self, binding: Binding, above: Operand) -> Iterator[Operand]:
        """For each value that a binding chooses from, whether it is this one and ``above`` is true."""
        if not isinstance(binding, Choice):
            yield above
            return
        for test, value in ((binding.test, binding.then), (self.ctx.call("not_", binding.test), binding.orelse)):
            yield from self.tests_of(value, test if above is TRUE else self.ctx.call("logical_and", above, test))

    def kind(self, side: Side, binding: Binding) -> Any:
        """The kind of a value; there are finitely many, apart from functions and other constants, which are kinds of their own."""
        match binding:
            case Obj(key):
                return (key.kind, Same(key.cls), key.exact)
            case Tup(items, kind) if not isinstance(binding, View):
                return (kind, *(self.kind(side, item) for item in items))
            case Num() | Ref():
                type_ = self.form(side, binding).type
                return (type_.dtype, type_.shape and len(type_.shape)) if isinstance(type_, Array) else type_
        return binding

    def alone(self, side: Side, binding: Binding) -> Binding:
        """A value of one path, after the join, unused on the other."""
        is_choice = isinstance(binding, Choice)
        if can_be_called(binding) and all(map(self.is_outer, [binding] if is_choice else parts_of(binding))):
            return binding
        if can_be_called(binding) and not is_choice:
            held = with_parts(binding, lambda part: part if self.is_outer(part) else self.alone(side, part))
            return next((part for part in parts_of(held) if isinstance(part, Broken)), held)
        a, b = (binding, MISSING) if side is self.then else (MISSING, binding)
        if isinstance(binding, Obj):
            return self.binding(a, b, "%alone")
        if isinstance(binding, Choice):
            one, two = (binding.test, FALSE) if side is self.then else (FALSE, binding.test)
            return Choice(self.out(one, two, BOOL, None), self.alone(side, binding.then), self.alone(side, binding.orelse))
        if isinstance(binding, Num | Ref | Tup | Static) and not holds_object(binding):
            return self.of_form(a, b, "%alone", self.form(side, binding))
        return Broken(DIFFERENT)


def values_of(binding: Binding) -> Iterator[Binding]:
    """The values that a binding chooses from, in order."""
    if isinstance(binding, Choice):
        yield from values_of(binding.then)
        yield from values_of(binding.orelse)
    else:
        yield binding
