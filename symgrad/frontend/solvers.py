"""Calls of SciPy's solvers: the user's function becomes a function of the program, and the result a value with a derivative.

The call stays what it is. What it is given in the place of the user's function is that function as it was read, with all that it reads
from around it as arguments. Behind the call stands ``implicit``, which says of which equation the result is the solution.
"""

from __future__ import annotations

import ast
import inspect
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import BadArgument, UnsupportedSyntax
from symgrad.frontend.bindings import Binding, Fun, Num, Obj, Ref, Static, Tup
from symgrad.frontend.context import Lowering
from symgrad.frontend.handed import with_tuples_in
from symgrad.frontend.inner import Derivative, Inner, names_of
from symgrad.frontend.opaque import opaque_operand
from symgrad.frontend.operands import known_value
from symgrad.frontend.reading import owner_name
from symgrad.ir.core import Const, Func, Operand, Value
from symgrad.ir.types import FLOAT, Scalar, Type

#: a number of Python's or NumPy's
NUMBER = Scalar("float", "any")


@dataclass(slots=True)
class Enclosed:
    """A function of some unknowns, lowered on parameters of its own, and the values that it reads from around it."""

    func: Func
    count: int  #: of its unknowns
    held: list[Value]

    def reading(self, values: Sequence[Value]) -> Func:
        """The same with all these values as parameters behind the unknowns."""
        inside = dict(zip(self.held, self.func.body.args[self.count :], strict=True))
        self.func.body.args[self.count :] = [inside.get(v) or Value(v.type, v.name) for v in values]
        self.held = list(values)
        return self.func


@dataclass(slots=True)
class Solving:
    """A call of one of SciPy's solvers: the arguments by name, as they were written."""

    ctx: Lowering
    node: ast.AST
    function: Any
    name: str
    bound: dict[str, Binding]
    keywords: frozenset[str]
    refused: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Solving:
        """Find out which argument is which."""
        name = function.__name__
        try:
            bound = inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            raise BadArgument(f"{name}: {error}", ctx.loc(node)) from None
        named = dict(bound.arguments)
        more = next((p.name for p in inspect.signature(function).parameters.values() if p.kind is p.VAR_KEYWORD), None)
        if more is not None:
            named |= named.pop(more, {})
        return cls(ctx, node, function, name, named, frozenset(kwargs))

    def refuse(self, what: str, hint: str | None = None) -> UnsupportedSyntax:
        """A refusal of this call."""
        return UnsupportedSyntax(f"{self.name}: {what}", self.ctx.loc(self.node), hint)

    def known(self, word: str, otherwise: Any = None) -> Any:
        """The value of an argument that is known while compiling."""
        if word not in self.bound:
            return otherwise
        values = known_value(self.bound[word])
        if not values:
            raise self.refuse(f"{word}= must be known while compiling", "write a literal")
        return values[0]

    def check_absent(self, *words: str, hint: str) -> None:
        """Refuse arguments that are not followed."""
        for word in words:
            if word in self.bound and known_value(self.bound[word]) != [None]:
                raise self.refuse(f"{word}= is not followed where a derivative is taken", hint)

    @property
    def args(self) -> list[Binding]:
        """What the user's function is given after its unknowns."""
        held = self.bound.get("args", Tup(()))
        if isinstance(held, Tup):
            return list(held.items)
        return list(known_value(held)[0]) if known_value(held) in ([()], [None]) else [held]

    # ---------------------------------------------------------------- functions

    def enclosed(self, of: Binding, unknowns: list[tuple[str, Type]], args: list[Binding], name: str,
                 results: Callable[[Binding], list[Operand]]) -> Enclosed:  # fmt: skip
        """Lower a function on unknowns of these names and types, and further arguments."""
        inner = Inner(self.ctx, Derivative(of, name), self.node)
        outs: list[Operand] = []
        entry = self.ctx.state
        self.ctx.state = entry.copy()
        prototypes = [self.ctx.make(Value(type_, word)) for word, type_ in unknowns]
        try:
            inner.enter(list(range(len(unknowns))), [*prototypes, *args], {}, lambda value, aux: outs.extend(results(value)))
        finally:
            self.ctx.state = entry
        func, held = inner.function(outs)
        func.name = name
        return Enclosed(func, len(unknowns), held)

    def printed(self, enclosed: Enclosed) -> Const:
        """A function as an operand of the call."""
        func = self.ctx.derive("itself", enclosed.func, [], [], self.ctx.builder.taken)
        return Const(func, func.name)

    def spoken(self, of: Binding, otherwise: str) -> str:
        """The name of the user's function, if it has one."""
        match of:
            case Fun(node=ast.FunctionDef(name=name)):
                return name
            case Static(value) if str(getattr(value, "__name__", "")).isidentifier():
                return str(value.__name__)
        return otherwise

    def unknown(self, of: Binding, place: int, otherwise: str) -> str:
        """The name that the user's function has for an unknown."""
        try:
            names = names_of(self.ctx, of, self.node)
        except (UnsupportedSyntax, TypeError, ValueError):
            return otherwise
        return names[place] if place < len(names) else otherwise

    # ---------------------------------------------------------------- the call

    def call(self, functions: dict[str, Enclosed], more: dict[str, Binding] | None = None) -> Value:
        """The call itself, with functions of the program in the place of the user's."""
        ctx = self.ctx
        union = list(dict.fromkeys(v for one in functions.values() for v in one.held))
        replaced: dict[str, Operand] = {}
        for word, one in functions.items():
            one.reading(union)
            replaced[word] = self.printed(one)
        bound = {word: held for word, held in self.bound.items() if word != "args"} | (more or {})
        if union:
            bound["args"] = Tup(tuple(ctx.make(v) for v in union))
        positional = [w for w in self.bound if w not in self.keywords and w in bound]
        order = self.leading(positional)
        words = [*order, *(w for w in bound if w not in order)]
        operands = [replaced[w] if w in replaced else self.operand(bound[w]) for w in words]
        function = Const(self.function, owner_name(ctx, self.function))
        return ctx.call("solver", function, *operands, names=tuple(words[len(order) :]))

    def leading(self, positional: list[str]) -> list[str]:
        """Those arguments by position in front of which no other has gone."""
        parameters = list(inspect.signature(self.function).parameters)
        count = next((k for k, word in enumerate(positional) if parameters[k] != word), len(positional))
        return positional[:count]

    def operand(self, held: Binding) -> Operand:
        """An argument as SciPy is given it."""
        if isinstance(held, Obj | Tup):
            return with_tuples_in(self.ctx, held, self.node)
        return opaque_operand(self.ctx, held, self.node)

    def item(self, result: Operand, place: int) -> Value:
        """One of several results."""
        return self.ctx.call("opaque_pure", Const(operator.getitem, "getitem"), result, Const(place), names=())

    def attribute(self, result: Operand, name: str) -> Value:
        """A field of a result."""
        return self.ctx.call("opaque_attribute", result, attribute=name)

    def solution(self, result: Operand, valid: Operand, equation: Enclosed, type_: Type) -> Binding:
        """The result as the solution of an equation."""
        value = self.ctx.call("implicit", result, valid, *equation.held, func=equation.func, type=type_)
        return self.ctx.make(value)


# -------------------------------------------------------------------- roots of one number


def of_bracket(solving: Solving) -> Binding:
    """``brentq`` and its like: a root between two ends, which have no derivative."""
    of, type_ = solving.bound["f"], NUMBER if solving.name == "toms748" else FLOAT
    if solving.known("full_output", False):
        raise solving.refuse("full_output=True is not followed where a derivative is taken", "call scipy.optimize.root_scalar")
    equation = scalar_equation(solving, of, type_)
    if solving.known("disp", True):
        return solving.solution(solving.call({"f": equation}), Const(1.0), equation, type_)
    result = solving.call({"f": equation}, {"full_output": Num(Const(True))})
    return solving.solution(solving.item(result, 0), reported(solving, result, 1), equation, type_)


def scalar_equation(solving: Solving, of: Binding, type_: Type) -> Enclosed:
    """An equation of one number."""
    ctx, node = solving.ctx, solving.node

    def results(value: Binding) -> list[Operand]:
        if not isinstance(value, Num | Ref):
            raise solving.refuse("the function must return a number")
        return [ctx.read(value, node)]

    return solving.enclosed(of, [(solving.unknown(of, 0, "x"), type_)], solving.args, solving.spoken(of, "equation"), results)


def reported(solving: Solving, result: Operand, place: int) -> Value:
    """The factor that is nan where a root was not found."""
    report = solving.item(result, place)
    return solving.ctx.call("convergence", solving.attribute(report, "converged"), solving.attribute(report, "flag"))


#: what is done with a call, by the module and name of the function
SOLVERS: dict[tuple[str, str], Callable[[Solving], Binding]] = {
    **{("scipy.optimize", name): of_bracket for name in ("brentq", "brenth", "bisect", "ridder", "toms748")},
}


def solver_of(function: Any) -> Callable[[Solving], Binding] | None:
    """What is done with a call of one of SciPy's solvers."""
    name = getattr(function, "__name__", None)
    for module in ("scipy.optimize", "scipy.integrate"):
        if (module, name) in SOLVERS and getattr(sys.modules.get(module), str(name), None) is function:
            return SOLVERS[module, str(name)]
    return None


def call_solver(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding | None:
    """A call of one of SciPy's solvers; None for all other functions."""
    lower = solver_of(function)
    return None if lower is None or ctx.derive is None else lower(Solving.of(ctx, function, args, kwargs, node))


__all__ = ["call_solver"]
