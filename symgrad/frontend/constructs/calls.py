"""Calls: one lowering for each kind of binding that is called."""

from __future__ import annotations

import ast
import enum
import functools
import random
import types
from typing import Any

import numpy as np

from symgrad.errors import SymgradError, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.calls.classes import IN_PYTHON, construct, super_of
from symgrad.frontend.calls.common_arguments import without_idle
from symgrad.frontend.calls.declared import call_declared, call_function, is_declared, run_again_in_reverse
from symgrad.frontend.calls.derived_values import values_read
from symgrad.frontend.calls.distributions import distribution_of
from symgrad.frontend.calls.rows import OF_PLACES, call_row, check_words, with_out_by_name, without_places
from symgrad.frontend.calls.vectorize import from_outside
from symgrad.frontend.constructs.comprehensions import comprehension, first_of, sum_generator
from symgrad.frontend.constructs.directional import make_directional, make_linear
from symgrad.frontend.constructs.starred import call_with_rest
from symgrad.frontend.constructs.verbatim import evaluated
from symgrad.frontend.containers.growing_sets import without_order
from symgrad.frontend.containers.stars import elements
from symgrad.frontend.derivatives.batches import batched_of, make_batched
from symgrad.frontend.derivatives.nested import DERIVING, derivative_of, make_derivative
from symgrad.frontend.flow.absent import argument, definite
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds
from symgrad.frontend.flow.flow import each_side
from symgrad.frontend.functions.adapters import GETTERS, adapted
from symgrad.frontend.functions.functions import call_nested
from symgrad.frontend.functions.memoised import run_again
from symgrad.frontend.functions.overwriting import without_overwriting
from symgrad.frontend.library.frames import enters_package, unless_refused
from symgrad.frontend.library.interpolants import call_interpolant, is_interpolant
from symgrad.frontend.library.methods import call_method
from symgrad.frontend.library.samples import UNDECORATED, call_of_samples, parts
from symgrad.frontend.library.solvers import call_solver
from symgrad.frontend.library.ufuncs import is_of_numpys, masked_ufunc, ufunc_method
from symgrad.frontend.memory.loads import items_known
from symgrad.frontend.memory.stores import store_result
from symgrad.frontend.objects.derived import OF_ARRAYS, as_base, call_base, is_base_method, is_derived, is_of_base
from symgrad.frontend.objects.keywords import keyword_arguments
from symgrad.frontend.objects.opaque import call_unknown, followed, opaque
from symgrad.frontend.objects.operands import are_complex, known_value
from symgrad.frontend.objects.outside import change_outside, item_text, outside, rely_on_class, rely_on_keys
from symgrad.frontend.objects.protocols import as_float, class_of
from symgrad.frontend.objects.python_values import items_listed, listed_for, python_method
from symgrad.frontend.objects.reading import LIBRARIES, check_call, from_class, is_of_library, owner_name, read_attribute, root_of
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    Bound,
    Choice,
    External,
    Fun,
    Generator,
    Iter,
    Num,
    Obj,
    OneOf,
    Ref,
    Rest,
    Static,
    Tup,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import is_number_or_array
from symgrad.frontend.state.tables import PLAIN, SPECIAL, callee, expression
from symgrad.frontend.text.source import seen_through
from symgrad.frontend.values.exact import dtype_question, exact_class
from symgrad.frontend.values.printed import for_printing
from symgrad.frontend.values.static_texts import text_method
from symgrad.identity import Same
from symgrad.ir.core import Value
from symgrad.ir.types import Scalar, Unknown
from symgrad.kinds import OF_NUMBA, as_python, is_closed, numba_kind
from symgrad.ops import spelling
from symgrad.ops.composed import composed, defaults, parameters_of, positional, rebuilt_from, words_of
from symgrad.ops.composed.drawing import DRAWING
from symgrad.ops.declarations import DECLARED
from symgrad.runtime.batches import Batch
from symgrad.runtime.marks import Checkpointed

#: callables that also accept None
OF_ANYTHING = (isinstance, type, print, str, repr, callable, hasattr, getattr, next, bool)


#: libraries whose functions are called opaquely if their composition refuses a call and no
#: derivative passes through it
CALLED_IN_PLACE = ("scipy",)
#: functions of ``math`` that take the items of an iterable
OF_ITEMS = ("prod", "fsum", "dist", "sumprod")
#: libraries whose functions may consume their arguments lazily or in part, and the exceptions
LAZY = ("builtins", "itertools", "functools", "operator", "collections")
TAKE_ALL = (list, tuple, set, frozenset, dict, sum, max, min, sorted)
#: the code shared by all functions that dispatch on the class of their first argument
DISPATCHING: Any = getattr(functools.singledispatch(len), "__code__")  # noqa: B009
#: functions of ``random`` that are called opaquely if their arguments are constants
DRAWN = DRAWING.keys() - {random.shuffle}
#: lowerings of the functions that take derivatives, by name; all others create a gradient
DERIVES = {**DERIVING, "jvp": make_directional, "linearize": make_linear, "vmap": make_batched}


@expression(ast.Call)
def call_expression(ctx: Lowering, node: ast.Call) -> Binding:
    height = len(ctx.state.operands)
    held = ctx.evaluate(node.func)
    called = held.value if isinstance(held, Static) else None
    if called is super and not node.args:
        return super_of(ctx, node)
    lazily = called is sum and len(node.args) == 1 and not node.keywords
    if lazily and isinstance(node.args[0], ast.GeneratorExp):
        return sum_generator(ctx, node.args[0], node)
    if called is next and node.args and isinstance(node.args[0], ast.GeneratorExp):
        return first_of(ctx, node.args[0], elements(ctx, node.args[1:]), node)
    by_key = called in (max, min) and node.keywords  # the key is applied to each item when it is read
    at_once = comprehension if goes_over_at_once(ctx, held) and not by_key else None
    evaluate = evaluated if ctx.keeps_text and is_users(held) else Lowering.evaluate
    if any(isinstance(argument, ast.Starred | ast.GeneratorExp) for argument in node.args):
        args = elements(ctx, node.args, at_once, evaluate)
    else:
        args = [evaluate(ctx, argument) for argument in node.args]
    kwargs = keyword_arguments(ctx, node) if node.keywords else {}
    ctx.handing = height
    if args and isinstance(args[-1], Rest):
        return call_with_rest(ctx, held, args, kwargs, node)
    return ctx.apply(held, args, kwargs, node)


def is_users(held: Binding) -> bool:
    """Whether the callee is a user function."""
    return isinstance(held, Fun) or isinstance(held, Static) and root_of(held.value) not in LIBRARIES


def goes_over_at_once(ctx: Lowering, held: Binding) -> bool:
    """Whether a call iterates over its arguments before anything else can change; functions of the libraries do."""
    if not isinstance(held, Static) or root_of(held.value) not in LIBRARIES:
        return False
    if isinstance(held.value, types.FunctionType) and followed(ctx, held.value):
        return False
    return held.value in TAKE_ALL if root_of(held.value).lstrip("_") in LAZY else True


#: callables that take derivatives inside a function, besides those of one number


@callee(Static)
def call_static(ctx: Lowering, held: Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    value = as_python(held.value) if getattr(held.value, "__module__", None) == OF_NUMBA else held.value
    if DECLARED and is_declared(ctx, value):
        return call_declared(ctx, value, args, kwargs, node)
    if not any(type(value) is kind for kind in FUNCTIONS) and (result := call_known(ctx, held, value, args, kwargs, node)) is not None:
        return result
    if (what := getattr(value, "__symgrad_derives__", None)) is not None:
        return DERIVES.get(what, make_derivative)(ctx, what, args, kwargs, node)
    if isinstance(value, Batch):
        return ctx.apply(batched_of(ctx, value), args, kwargs, node)
    if (derivative := getattr(value, "__symgrad_derivative__", None)) is not None:
        return ctx.apply(derivative_of(derivative), args, kwargs, node)
    if (inlined := getattr(value, "__symgrad_inlines__", None)) is not None:
        return ctx.apply(Static(inlined), args, kwargs, node)
    if (refusal := getattr(type(value), "__symgrad_refuses__", None)) is not None:
        raise UnsupportedSyntax(refusal[0], ctx.loc(node), refusal[1])
    return call_object(ctx, value, held.name or str(getattr(value, "__name__", "object")), args, kwargs, node)


#: the classes of functions that are not written in Python, and that of most classes
FUNCTIONS = {np.ufunc, types.BuiltinFunctionType, type(np.sum), type} - {types.FunctionType}


def call_known(ctx: Lowering, held: Static, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding | None:
    """Call an object that is known by its class; None for all others."""
    if isinstance(value, Checkpointed):
        return call_checkpointed(ctx, value, args, kwargs, node)
    if (result := call_by_parts(ctx, held, None, args, kwargs, node)) is not None:
        return result
    if isinstance(value, enum.Enum) and isinstance(own := from_class(ctx, type(value), "__call__"), types.FunctionType):
        return call_function(ctx, own, [held, *args], kwargs, node)
    return None


def call_by_parts(
    ctx: Lowering, held: Static | External, text: str | None, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding | None:
    """Call an object of a library that is composed of known functions; ``text`` reaches it. None for all others."""
    if (distribution := distribution_of(ctx, held)) is not None:
        return ctx.apply(distribution, args, kwargs, node)
    if is_interpolant(held.value):
        return call_interpolant(ctx, held, args, kwargs, node)
    if rebuilt_from(type(held.value)) is not None:
        text = text or owner_name(ctx, held.value, type(held.value).__name__.lower())
        return ctx.apply(rebuilt(ctx, held.value, text, node), args, kwargs, node)
    return None


def rebuilt(ctx: Lowering, value: Any, text: str, node: ast.AST) -> Binding:
    """An object from outside, reached by ``text``, rebuilt by its class from its attributes, which are read at each call."""
    ctx.rely(text, type(value), "type")
    parts = [outside(ctx, read_attribute(ctx, value, name), f"{text}.{name}", name) for name in rebuilt_from(type(value)) or ()]
    return ctx.apply(Static(type(value)), parts, {}, node)


def call_checkpointed(ctx: Lowering, value: Checkpointed, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call of the result of ``checkpoint`` for any callable."""
    function: Binding = Static(value.__wrapped__)
    if not isinstance(value.__wrapped__, types.FunctionType | types.MethodType | np.ufunc):
        function = outside(ctx, value.__wrapped__, f"{owner_name(ctx, value)}.__wrapped__", "function")
    return run_again_in_reverse(ctx, lambda: ctx.apply(function, args, kwargs, node), node)


@callee(External)
def call_external(ctx: Lowering, held: External, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    value = held.value
    if is_declared(ctx, value):
        return call_declared(ctx, value, args, kwargs, node)
    if (result := call_by_parts(ctx, held, held.text, args, kwargs, node)) is not None:
        return result
    if isinstance(own := from_class(ctx, type(value), "__call__"), types.FunctionType):
        rely_on_class(ctx, MISSING, type(value), "__call__", own)
        ctx.rely(held.text, type(value), "type")
        if is_of_library(type(value)):
            call = functools.partial(call_function, ctx, own, [held, *args], kwargs, node)
            return unless_refused(ctx, value, owner_name(ctx, value), args, kwargs, node, call)
        return call_function(ctx, own, [held, *args], kwargs, node)
    if isinstance(value, functools.partial):
        return call_outside_partial(ctx, value, held.text, args, kwargs, node)
    if callable(value):
        return opaque(ctx, value, owner_name(ctx, value), args, kwargs, node)
    raise UnsupportedSyntax("this cannot be called", ctx.loc(node), PLAIN)


@callee(Num)
@callee(Ref)
@callee(Tup)
def call_value(ctx: Lowering, held: Num | Ref | Tup, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call of a number, array or tuple: the program raises as Python does, after the arguments are evaluated."""
    if isinstance(held, Num) and isinstance(held.operand.type, Unknown):
        return call_unknown(ctx, held.operand, "this function", args, kwargs, node)
    if isinstance(held, Num) and not isinstance(held.operand.type, Scalar):
        raise UnsupportedSyntax("this cannot be called", ctx.loc(node), PLAIN)
    cls = exact_class(ctx, held, node)
    name = f"numpy.{cls.__name__}" if cls.__module__ == "numpy" else cls.__name__
    return definite(ctx, MISSING, node, TypeError, f"{name!r} object is not callable")


@callee(Choice)
def call_choice(ctx: Lowering, held: Choice, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return each_side(ctx, held, node, lambda side: ctx.apply(side, args, dict(kwargs), node))


@callee(OneOf)
def call_one_of(ctx: Lowering, held: OneOf, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return each(ctx, held, node, lambda value: ctx.apply(value, args, dict(kwargs), node))


@callee(Fun)
def call_fun(ctx: Lowering, held: Fun, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    def call() -> Binding:
        return call_nested(ctx, held, args, kwargs, node)

    return run_again(ctx, held.node, call, node) if held.keeps else call()


@callee(Bound)
def call_bound(ctx: Lowering, held: Bound, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    if isinstance(held.owner, Obj) and is_derived(held.owner) and is_base_method(held.function):
        return call_base(ctx, held.function.__name__, held.owner, args, kwargs, node)
    if held.function is not None:
        return call_function(ctx, held.function, [held.owner, *args], kwargs, node)
    return call_method(ctx, held.owner, held.name, args, kwargs, node)


@callee(Obj)
def call_instance(ctx: Lowering, held: Obj, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    own = from_class(ctx, held.key.cls, "__call__") if held.key.kind == "record" else None
    if held.key.kind != "record" or own is None:
        return definite(ctx, MISSING, node, TypeError, f"{exact_class(ctx, held, node).__name__!r} object is not callable")
    if not isinstance(own, types.FunctionType):
        raise UnsupportedSyntax("this cannot be called", ctx.loc(node), PLAIN)
    rely_on_class(ctx, held, held.key.cls, "__call__", own)
    return call_function(ctx, own, [held, *args], kwargs, node)


def call_outside_partial(
    ctx: Lowering, held: functools.partial[Any], text: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding:
    """A call of ``functools.partial``, reached by ``text``."""
    ctx.rely(f"{text}.func", held.func)
    ctx.rely(f"{text}.args", len(held.args), "len")
    rely_on_keys(ctx, held.keywords, f"{text}.keywords")
    fixed = [outside(ctx, v, f"{text}.args[{k}]", f"argument_{k}") for k, v in enumerate(held.args)]
    named = {k: outside(ctx, v, item_text(ctx, f"{text}.keywords", k), k) for k, v in held.keywords.items()}
    return ctx.apply(Static(held.func), [*fixed, *args], {**named, **kwargs}, node)


def is_maker_of_tuples(value: Any) -> bool:
    """Whether the value is ``_make`` of a named tuple."""
    owner = value.__self__ if isinstance(value, types.MethodType) else None
    return isinstance(owner, type) and issubclass(owner, tuple) and value.__func__.__name__ == "_make"


def no_number(ctx: Lowering, args: list[Binding], node: ast.AST) -> Binding | None:
    """Python's exception if a function of ``math`` gets an argument that is no number; None for numbers."""
    if ctx.watchers and any(getattr(ctx.type_of(a), "rank", 0) for a in args if isinstance(a, Ref)):
        what = "a function of math is called with an array, which raises an exception that a handler may catch"
        raise UnsupportedSyntax(what, ctx.loc(node), "use the function of NumPy")
    for held in args:
        text = isinstance(held, Static) and isinstance(held.value, str | bytes)
        if text or isinstance(held, Tup | Obj | Iter | Generator) and class_of(held) is None:
            return definite(ctx, MISSING, node, TypeError, f"must be real number, not {exact_class(ctx, held, node).__name__}")
    return None


Words = dict[str, Binding]


def call_object(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: Words, node: ast.AST) -> Binding:
    """Call a static Python object."""
    if value is None or isinstance(value, str | bytes | int | float):
        return definite(ctx, MISSING, node, TypeError, f"{type(value).__name__!r} object is not callable")
    kwargs = without_overwriting(ctx, value, args, kwargs) if kwargs else kwargs
    if isinstance(value, np.ufunc):
        args, kwargs = with_out_by_name(value, args, kwargs)
    kwargs = without_idle(ctx, value, args, kwargs) if kwargs else kwargs
    if isinstance(value, np.ufunc) and "where" in kwargs and isinstance(kwargs.get("out"), Ref) and len(args) == value.nin:
        return masked_ufunc(ctx, value, name, args, dict(kwargs), node)
    if isinstance(out := kwargs.get("out"), Ref) and is_of_numpys(value):
        kwargs = {word: held for word, held in kwargs.items() if word != "out"}
        if "casting" in kwargs and (isinstance(value, np.ufunc) or value is np.clip):
            raise UnsupportedArgument(f"the argument casting of {name} with out is not supported", ctx.loc(node), "leave it out")
        result = call_object(ctx, value, name, args, kwargs, node)
        return store_result(ctx, out, result, node)
    if isinstance(value, functools.partial):
        return call_outside_partial(ctx, value, owner_name(ctx, value), args, kwargs, node)
    if isinstance(value, GETTERS):
        return call_function(ctx, adapted(value), args, kwargs, node)
    are_plain = all(map(is_number_or_array, args))
    if not are_plain and is_of_base(value) and isinstance(owner := definite(ctx, args[0], node), Obj):
        if issubclass(exact_class(ctx, owner, node), value.__objclass__):
            return call_base(ctx, value.__name__, owner, args[1:], kwargs, node)
    if not are_plain and is_of_base(value) and isinstance(args[0], External):
        change_outside(ctx, args[0])
        raise UnsupportedSyntax(f"{value.__qualname__} of an object from outside the function", ctx.loc(node), "call the method of a copy")
    args = args if are_plain else values_read(ctx, value, args)
    try:
        lower = SPECIAL.get(value)
    except TypeError:
        lower = None
    spelled = spelling.spelled(value) if lower is None else None
    if lower is not None or spelled is not None:
        return call_lowered(ctx, value, name, args, kwargs, node, lower, spelled)
    if root_of(value) == "math" and value.__name__ not in OF_ITEMS and (missing := no_number(ctx, args, node)) is not None:
        return missing
    if kwargs and UNDECORATED in kwargs and parts(value) is not None and composed(value) is not None:
        kwargs = {word: held for word, held in kwargs.items() if word != UNDECORATED}  # compositions are of arrays of any rank
    saying = composed(value, are_complex(ctx, [*args, *kwargs.values()]), ctx.keeps_text)
    if saying is not None and not (value in DRAWN and all(map(is_constant, (*args, *kwargs.values())))):
        return call_composition(ctx, value, saying, name, args, kwargs, node)
    if (solution := call_solver(ctx, value, args, kwargs, node)) is not None:
        return solution
    return call_of_kind(ctx, value, name, args, kwargs, node)


def call_lowered(
    ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: Words, node: ast.AST, lower: Any, spelled: spelling.Spelling | None
) -> Binding:
    """Call a function that has a lowering of its own, or a row."""
    if spelled is not None and spelled.row in OF_PLACES:
        args = [without_places(ctx, a) for a in args]
    are_plain = all(map(is_number_or_array, args))
    if not are_plain and value not in OF_ANYTHING:
        for k, several in enumerate(args):
            if is_one_of_kinds(several):
                one = functools.partial(call_with, ctx, value, name, args, k, kwargs, node)
                return each(ctx, several, node, one)
        args = [argument(ctx, a, node) for a in args]
    if not are_plain:
        args = without_order(ctx, value, items_listed(ctx, value, args, node), "key" in kwargs, node)
    if root_of(value) == "math" and value.__name__ not in OF_ITEMS and (missing := no_number(ctx, args, node)) is not None:
        return missing
    if not are_plain and (lower is None or root_of(value) == "numpy"):  # NumPy reads the items through the base class
        args = [as_base(ctx, a, *OF_ARRAYS) for a in args]
    if spelled is None:
        check_call(ctx, value, args, kwargs, node)
        return lower(ctx, args, kwargs, node)  # type: ignore[no-any-return]
    if root_of(value) == "math":
        args = [as_float(ctx, a, node) for a in args]
    return call_row(ctx, spelled, args, {k: argument(ctx, a, node) for k, a in kwargs.items()}, node)


def call_of_kind(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: Words, node: ast.AST) -> Binding:
    """Call an object of Python by its kind: a method, class or function that is read, or one that is called as it is."""
    if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, np.ufunc):
        return ufunc_method(ctx, value.__self__, value.__name__, args, kwargs, node)
    if isinstance(value, np.vectorize):
        return ctx.apply(from_outside(ctx, value, node), args, kwargs, node)
    if isinstance(value, types.MethodType) and is_closed(value.__self__):
        return opaque(ctx, value, name, args, kwargs, node)
    if is_maker_of_tuples(value) and not kwargs:
        return construct(ctx, value.__self__, name, items_known(ctx, args[0], node), {}, node)
    if isinstance(value, types.MethodType) and followed(ctx, value.__func__):
        owner = outside(ctx, value.__self__, f"{owner_name(ctx, value)}.__self__", "self_")
        return call_function(ctx, value.__func__, [owner, *args], kwargs, node)
    if isinstance(value, type):
        make = functools.partial(construct, ctx, value, name, args, kwargs, node)
        return unless_refused(ctx, value, name, args, kwargs, node, make) if enters_package(ctx, value) else make()
    is_of_text = isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, str)
    if is_of_text:
        args = listed_for(ctx, Static(value.__self__), value.__name__, args, node)
    if (text := text_method(ctx, value, args, kwargs)) is not None:
        return text
    if is_of_text:
        if (answer := python_method(ctx, Static(value.__self__), value.__name__, args, kwargs, node)) is not None:
            return answer
        args, kwargs = [as_python_container(ctx, a, node) for a in args], {k: as_python_container(ctx, a, node) for k, a in kwargs.items()}
    if (answer := dtype_question(ctx, value, args, kwargs, node)) is not None:
        return answer
    if is_dispatching(value) and args:
        cls = exact_class(ctx, args[0], node)
        target = value.dispatch(cls)
        ctx.rely(owner_name(ctx, value), (cls, target), "dispatches")
        return ctx.apply(Static(target), args, kwargs, node)
    if followed(ctx, value) and (of_samples := call_of_samples(ctx, value, args, kwargs, node)) is not None:
        return of_samples
    if followed(ctx, value) or isinstance(value, types.FunctionType) and any(vars(c).get(value.__name__) is value for c in IN_PYTHON):
        call = functools.partial(call_function, ctx, value, args, kwargs, node)
        return unless_refused(ctx, value, name, args, kwargs, node, call) if enters_package(ctx, value) else call()
    if numba_kind(value) is not None or followed(ctx, seen_through(value)):
        return call_function(ctx, value, args, kwargs, node)
    return opaque(ctx, value, name, args, kwargs, node)


def call_composition(
    ctx: Lowering, value: Any, saying: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding:
    """A library function, lowered by its composition; a SciPy call that the composition refuses becomes opaque."""
    if Same(value) in ctx.read_sources:
        return opaque(ctx, value, name, args, kwargs, node)
    before = len(ctx.refusals)
    try:
        args, kwargs = placed(value, saying, args, kwargs)
        check_words(ctx, saying, name, words_of(value), kwargs, node)
        result = call_function(ctx, saying, args, kwargs, node)
    except SymgradError:
        note_refused(ctx, value)
        raise
    if len(ctx.refusals) > before:
        note_refused(ctx, value)
    return result


def note_refused(ctx: Lowering, value: Any) -> None:
    """Record that the composition refused a call of a library function, which may become opaque."""
    if root_of(value) in CALLED_IN_PLACE:
        ctx.met_sources.add(Same(value))


def is_constant(binding: Binding) -> bool:
    """Whether everything in an argument is static, or an untracked object from outside."""
    match binding:
        case Ref() | Obj() | Num(Value()) | Iter():
            return False
        case Tup(items):
            return all(map(is_constant, items))
    return True


def is_dispatching(value: Any) -> bool:
    """Whether the value was created by ``functools.singledispatch``, which dispatches on the class of the first argument."""
    return isinstance(value, types.FunctionType) and value.__code__ is DISPATCHING and hasattr(value, "dispatch")


def call_with(
    ctx: Lowering, value: Any, name: str, args: list[Binding], k: int, kwargs: dict[str, Binding], node: ast.AST, held: Binding
) -> Binding:
    """A call with one argument replaced by its binding on a path."""
    return call_object(ctx, value, name, [*args[:k], held, *args[k + 1 :]], kwargs, node)


def as_python_container(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """A tuple, list or dict as Python represents it; all else unchanged."""
    is_container = isinstance(binding, Tup) or isinstance(binding, Obj) and binding.key.kind != "record"
    return Num(for_printing(ctx, binding, node)) if is_container else binding


def placed(function: Any, saying: Any, args: list[Binding], kwargs: dict[str, Binding]) -> tuple[list[Binding], dict[str, Binding]]:
    """Arguments for a composition: named from the first whose position differs, without default values for parameters it lacks."""
    own, theirs = positional(saying), positional(function)
    if own is None or theirs is None:
        return args, kwargs
    count = next((k for k, name in enumerate(theirs) if k >= len(own) or own[k] != name and own[k] in theirs), len(args))
    named = {**dict(zip(theirs[count:], args[count:], strict=False)), **kwargs}
    usual, taken = defaults(function), parameters_of(saying)
    left = {name: b for name, b in named.items() if name in taken or name not in usual or known_value(b) != [usual[name]]}
    return [*args[:count], *args[max(count, len(theirs)) :]], left
