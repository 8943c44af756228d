"""Calls of SciPy's solvers: the user's function becomes a function of the program, and the result a differentiable value.

The call itself stays. Its function argument is replaced by that function as lowered, with its free
variables as arguments. After the call, ``implicit`` says which equation the result solves.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from symgrad.errors import BadArgument, UnsupportedSyntax
from symgrad.frontend.derivatives.inner import Derivative, Inner, changes_around, names_of
from symgrad.frontend.objects.opaque import opaque_operand
from symgrad.frontend.objects.operands import known_value, unwrap
from symgrad.frontend.objects.python_results import with_tuples_in
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import Binding, Bound, Broken, External, Fun, Num, Obj, Partial, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.ir.core import Call, Const, Func, Operand, Value, walk
from symgrad.ir.types import BOOL, INT, Object, Scalar, Type, is_complex
from symgrad.ops.composed.equations import Result, part_of
from symgrad.runtime.solvers import convergence, differentiated_by, integrated, reached
from symgrad.text import is_name

#: the types of the result attributes that have no derivative
TYPES: dict[str, Type] = {
    **dict.fromkeys(("success", "converged"), BOOL),
    **dict.fromkeys(("message", "flag", "method"), Object("str")),
    **dict.fromkeys("status nfev njev nhev nit nlu iterations function_calls".split(), INT),
}
#: other attributes of SciPy's results: methods of dicts, and attributes of single methods
OTHERS = """
    get keys values items copy pop popitem setdefault update clear jac jac_inv hess hess_inv fun fjac r qtf cov_x ipvt final_simplex
    direc allvecs maxcv nhev_total constr grad lagrangian_grad optimality v tr_radius cg_niter constr_violation
"""
#: a number of Python's or NumPy's
NUMBER = Scalar("float", "any")


@dataclass(slots=True)
class Enclosed:
    """A function of some unknowns, lowered with parameters of its own, and the values of its free variables."""

    func: Func
    count: int  #: of its unknowns
    held: list[Value]

    def reading(self, values: Sequence[Value]) -> Func:
        """The same function with all these values as parameters after the unknowns."""
        inside = dict(zip(self.held, self.func.body.args[self.count :], strict=True))
        self.func.body.args[self.count :] = [inside.get(v) or Value(v.type, v.name) for v in values]
        self.held = list(values)
        return self.func


@dataclass(slots=True)
class Solving:
    """A call of one of SciPy's solvers, with its arguments by name, as they were written."""

    ctx: Lowering
    node: ast.AST
    function: Any
    name: str
    bound: dict[str, Binding]
    keywords: frozenset[str]

    @classmethod
    def of(cls, ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Solving:
        """Bind the arguments to their names."""
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
        """The value of an argument that must be static."""
        if word not in self.bound:
            return otherwise
        values = known_value(self.bound[word])
        if not values:
            raise self.refuse(f"{word}= must be known at compile time", "write a literal")
        return values[0]

    def check_absent(self, *words: str, hint: str) -> None:
        """Refuse arguments that are not supported."""
        for word in words:
            if word in self.bound and known_value(self.bound[word]) != [None]:
                raise self.refuse(f"{word}= is not supported where a derivative is taken", hint)

    @property
    def args(self) -> list[Binding]:
        """The arguments of the user's function after its unknowns."""
        held = self.bound.get("args", Tup(()))
        if isinstance(held, Tup):
            return list(held.items)
        return [] if known_value(held) in ([()], [None]) else [held]

    # ---------------------------------------------------------------- functions

    def enclosed(
        self,
        of: Binding,
        unknowns: Sequence[tuple[str, Type]],
        name: str,
        results: Callable[[Binding], list[Operand]],
        before: Sequence[Binding] = (),
    ) -> Enclosed:
        """Lower a function on unknowns of these names and types: its arguments are those ``before``, the unknowns, and ``args``."""
        inner = Inner(self.ctx, Derivative(of, name), self.node)
        outs: list[Operand] = []
        entry = self.ctx.state
        self.ctx.state = entry.copy()
        prototypes = [self.ctx.make(Value(type_, word)) for word, type_ in unknowns]
        places = list(range(len(before), len(before) + len(unknowns)))
        around = self.ctx.state

        def use(value: Binding, aux: Binding | None) -> None:
            outs.extend(results(value))
            after = self.ctx.state
            if any(after.memory.get(k) is not v for k, v in around.memory.items()) or changes_around(around, after):
                raise self.refuse("the function has a side effect", "return the values that it computes instead")

        try:
            inner.enter(places, [*before, *prototypes, *self.args], {}, use)
        finally:
            self.ctx.state = entry
        func, held = inner.function(outs)
        if any(isinstance(op, Call) and op.name == "drawn" for op in walk(func.body)):
            raise self.refuse("the function draws new random numbers in each evaluation", "draw them before, and pass them in args=")
        if any(is_complex(value.type) for value in (*held, *outs)):
            raise self.refuse("the function reads or returns complex numbers", "pass it the real and the imaginary part as two numbers")
        func.name = name
        return Enclosed(func, len(unknowns), held)

    def as_written(self, word: str, unknowns: Sequence[tuple[str, Type]], otherwise: str) -> Enclosed:
        """The user's function as SciPy calls it, with any result."""
        of = self.bound[word]
        named = [(self.unknown(of, place, name), type_) for place, (name, type_) in enumerate(unknowns)]
        return self.enclosed(of, named, self.spoken(of, otherwise), lambda value: [with_tuples_in(self.ctx, value, self.node)])

    def derivatives(self, unknown: Type, *words: str) -> dict[str, Enclosed]:
        """The derivative functions that the user passes to SciPy; only its search uses them."""
        unknowns = {word: [("x", unknown), ("p", unknown)] if word == "hessp" else [("x", unknown)] for word in words}
        return {word: self.as_written(word, unknowns[word], word) for word in words if self.is_function(word)}

    def derivatives_of_rate(self, word: str, unknowns: Sequence[tuple[str, Type]]) -> dict[str, Enclosed]:
        """The Jacobian of a rate that the user passes to SciPy, if it is a function."""
        return {word: self.as_written(word, unknowns, word)} if self.is_function(word) else {}

    def is_function(self, word: str) -> bool:
        """Whether an argument is a function."""
        held = self.bound.get(word)
        return isinstance(held, Fun | Bound | Derivative | Partial) or isinstance(held, Static | External) and callable(held.value)

    def spoken(self, of: Binding, otherwise: str) -> str:
        """The name of the user's function, if it has one."""
        match of:
            case Fun(node=ast.FunctionDef(name=name)):
                return name
            case Static(value) if is_name(getattr(value, "__name__", None)):
                return str(value.__name__)
        return otherwise

    def unknown(self, of: Binding, place: int, otherwise: str) -> str:
        """The name of an unknown in the user's function."""
        try:
            names = names_of(self.ctx, of, self.node)
        except (UnsupportedSyntax, TypeError, ValueError):
            return otherwise
        return names[place] if place < len(names) else otherwise

    # ---------------------------------------------------------------- the call

    def call(
        self, functions: dict[str, Enclosed], more: dict[str, Binding] | None = None, type_: Type | None = None, hint: str | None = None
    ) -> Value:
        """The call itself, with functions of the program in place of the user's."""
        ctx = self.ctx
        union = list(dict.fromkeys(v for one in functions.values() for v in one.held))
        replaced: dict[str, Operand] = {}
        for word, one in functions.items():
            func = one.reading(union)
            replaced[word] = Const(func, func.name)
        bound = {word: held for word, held in self.bound.items() if word != "args"} | (more or {})
        if union:
            bound["args"] = Tup(tuple(ctx.make(v) for v in union))
        positional = [w for w in self.bound if w not in self.keywords and w in bound]
        order = self.leading(positional)
        words = [*order, *(w for w in bound if w not in order)]
        operands = [replaced[w] if w in replaced else self.operand(bound[w]) for w in words]
        function = Const(self.function, owner_name(ctx, self.function))
        return ctx.call("solver", function, *operands, hint=hint, names=tuple(words[len(order) :]), type=type_)

    def leading(self, positional: list[str]) -> list[str]:
        """The leading positional arguments, up to the first whose predecessor was removed."""
        parameters = list(inspect.signature(self.function).parameters)
        count = next((k for k, word in enumerate(positional) if parameters[k] != word), len(positional))
        return positional[:count]

    def operand(self, held: Binding) -> Operand:
        """An argument as SciPy takes it."""
        if isinstance(held, Obj) and held.key.kind == "dict" and not isinstance(self.ctx.state.heap[held.key], Ref):
            entries = dict(self.ctx.state.entries(held.key))
            if held.key.cls is None and all(isinstance(word, str) for word in entries):
                values = [self.operand(value) for value in entries.values()]
                return self.ctx.call("opaque_pure", Const(dict, "dict"), *values, names=tuple(entries))
        if isinstance(held, Obj | Tup):
            return with_tuples_in(self.ctx, held, self.node)
        return opaque_operand(self.ctx, held, self.node)

    def part(self, result: Operand, part: int | str | tuple[()], type_: Type | None = None, hint: str | None = None) -> Value:
        """An item of a result, or an attribute."""
        type_ = TYPES.get(part) if type_ is None and isinstance(part, str) else type_
        return self.ctx.call("solved", result, part=part, type=type_, hint=hint)

    def solution(self, value: Value, valid: Operand, equation: Enclosed) -> Binding:
        """The result as the solution of an equation."""
        return self.ctx.make(self.ctx.call("implicit", value, valid, *equation.held, func=equation.func))

    def record(self, result: Operand, fields: dict[str, Binding]) -> Binding:
        """The result as an object with these attributes."""
        others = {word: unread(word) for word in OTHERS.split() if word not in fields}
        return self.ctx.new_object("record", [("reported", Num(result)), *fields.items(), *others.items()], Result)

    def settings(self, words: Sequence[str]) -> list[Operand]:
        """The values of keywords that also apply to the integrals and solutions of the derivatives.

        They have no derivative (see ``adjoint/solvers/solutions.py`` and ``trajectories.py``). If the positions of breaks
        have one, it is refused (``BREAKS`` in ``adjoint/calling.py``).
        """
        return [self.operand(self.bound[word]) for word in words]


def unread(word: str, hint: str = "read .x, .fun, .root or .y, and words and counts such as .success and .nfev") -> Broken:
    """An attribute of a result that has no derivative here."""
    return Broken(f"the attribute {word} of a result of SciPy is not supported where a derivative is taken", hint)


def items_of(solving: Solving, held: Binding) -> list[Binding] | None:
    """The items of a list or tuple of known length."""
    if isinstance(held, Tup):
        return list(held.items)
    if isinstance(held, Obj) and held.key.kind == "list" and not isinstance(solving.ctx.state.heap[held.key], Ref):
        return [item for _, item in solving.ctx.state.entries(held.key)]
    return None


def is_value(held: Binding) -> bool:
    """Whether the binding is a number or an array, or may be one."""
    return isinstance(held, Num | Ref)


def is_real_number(held: Binding) -> bool:
    """Whether the binding is one number that is certainly not complex."""
    return isinstance(held, Num) and isinstance(held.operand.type, Scalar) and held.operand.type.kind != "complex"


@special(part_of)
def attribute_of_result(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """An attribute of a solver's result."""
    result, name = ctx.read(args[0], node), unwrap(args[1])
    return Num(ctx.call("solved", result, part=name, type=TYPES[name]))


@special(convergence, integrated, reached)
def asked_by_the_result(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A check of a solver's success, which the result already contains if it has a derivative."""
    return Static(None)


@special(differentiated_by)
def sensitivity_of_the_result(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """How the differential equation is differentiated that the op before this says."""
    words = known_value(args[0])
    if not words:
        raise UnsupportedSyntax("sensitivity= must be known at compile time", ctx.loc(node), 'write "forward" or "adjoint"')
    differentiated_by(words[0])
    calls = [op for op in ctx.builder.block.ops if isinstance(op, Call) and op.name in ("trajectory", "opaque")]
    if calls and calls[-1].name == "trajectory":  # else SciPy is called with a function that cannot be followed
        calls[-1].settings["sensitivity"] = words[0]
    return Static(None)


__all__ = ["NUMBER", "Enclosed", "Solving", "is_real_number", "is_value", "items_of", "unread"]
