"""Arithmetic operators to ops: on numbers, arrays, containers, and instances that define their own."""

from __future__ import annotations

import ast
import math
import operator
import re
import types
from typing import Any

from symgrad.errors import NoDerivative, UnsupportedSyntax
from symgrad.frontend.containers.appending import as_list, of_class_of
from symgrad.frontend.containers.growing_dicts import new_dict
from symgrad.frontend.containers.static_containers import counters, is_outside
from symgrad.frontend.containers.stepping import is_iterator
from symgrad.frontend.flow.absent import as_python_does, definite
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds
from symgrad.frontend.flow.flow import branch
from symgrad.frontend.objects.derived import OF_ARRAYS, as_base, check_union
from symgrad.frontend.objects.dicts import SET_OPERATORS, is_dict, is_set, merged
from symgrad.frontend.objects.operands import known_value, with_items
from symgrad.frontend.objects.protocols import OWN_OPERATORS, class_of, own_method
from symgrad.frontend.objects.python_results import instance_made_by_call
from symgrad.frontend.objects.python_values import python_operator, set_from_outside
from symgrad.frontend.objects.reading import from_class
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    Binding,
    External,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Tup,
    View,
    python_class,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import is_number_or_array
from symgrad.frontend.state.members import as_number
from symgrad.frontend.state.tables import expression
from symgrad.frontend.values.exact import exact_class
from symgrad.frontend.values.printed import for_printing
from symgrad.frontend.values.truths import condition
from symgrad.ir.core import NONE, ONE, ZERO, Call, Const, Operand
from symgrad.ir.types import Array, List, Scalar
from symgrad.ops import spelling
from symgrad.ops.composed.lists import repeated, repeated_tuple
from symgrad.tables import COMPARISONS, OPERATORS, pairs

STATIC_OPERATORS: dict[type[ast.AST], Any] = COMPARISONS | {
    kind: OPERATORS[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.Div, ast.BitOr, ast.BitAnd)
}


def row_of(ctx: Lowering, kind: type[ast.AST], node: ast.AST) -> str:
    """The row of an operator."""
    name = spelling.operator(kind)
    if name is None:
        raise UnsupportedSyntax("this operator cannot be differentiated", ctx.loc(node))
    return name


@expression(ast.BinOp)
def binop(ctx: Lowering, node: ast.BinOp) -> Binding:
    left = ctx.evaluate(node.left)
    return binary(ctx, type(node.op), left, ctx.evaluate(node.right), node)


def binary(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding:
    """One binary operator on two bindings."""
    if is_number_or_array(a) and is_number_or_array(b):
        return of_operands(ctx, kind, a, b, node)
    if is_one_of_kinds(a):
        return each(ctx, a, node, lambda value: binary(ctx, kind, value, b, node))
    if is_one_of_kinds(b):
        return each(ctx, b, node, lambda value: binary(ctx, kind, a, value, node))
    a, b = (each(ctx, x, node, as_number) if isinstance(x, OneOf) and all(as_number(v) is not v for v in x.values) else x for x in (a, b))
    if not class_of(a) and not isinstance(a, Static):
        b = definite(ctx, b, node)
    if not class_of(b) and not isinstance(b, Static):
        a = definite(ctx, a, node)
    if (class_of(a) or class_of(b)) and (special := own_operator(ctx, kind, a, b, node)) is not None:
        return special
    if kind in SET_OPERATORS:
        a, b = set_from_outside(ctx, a, node), set_from_outside(ctx, b, node)
    if kind is ast.BitOr:
        check_union(ctx, a, b, node)
    words = OF_ARRAYS if is_of_numpy(ctx, a) or is_of_numpy(ctx, b) else ()
    a, b = as_base(ctx, a, *words), as_base(ctx, b, *words)
    if (result := counters(ctx, kind, a, b, node) or python_operator(ctx, kind, a, b, node)) is not None:
        return result
    if kind in SET_OPERATORS and any(isinstance(x, View) and x.keys for x in (a, b)):
        a, b = (ctx.apply(Static(set, "set"), [x], {}, node) if isinstance(x, View) else x for x in (a, b))
    if (result := of_containers(ctx, kind, a, b, node)) is not None:
        return result
    match a, b:
        case Static(one), Static(two):
            try:
                return Static(STATIC_OPERATORS[kind](one, two))
            except (KeyError, TypeError) as error:
                raise UnsupportedSyntax(f"this operation fails: {error}", ctx.loc(node)) from None
        case Static(str(text)), _ if kind is ast.Mod:
            return Num(ctx.call("format_percent", Const(text), shown_for(ctx, text, b, node)))
    return of_operands(ctx, kind, a, b, node)


def of_containers(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """The same on sequences, sets and dicts: joined, repeated, or no operands of this operator."""
    match a, b:
        case (View(), _) | (_, View()) if kind in ARITHMETIC and kind is not ast.Sub:
            return not_operands(ctx, kind, a, b, node)
        case _ if kind in SIGNS_OF and (is_iterator(a) or is_iterator(b)):
            return not_operands(ctx, kind, a, b, node)
        case Tup(one), Tup(two) if kind is ast.Add:
            return Tup(one + two)
        case (Tup(), Obj(k)) | (Obj(k), Tup()) if kind is ast.Add and k.kind == "list" and k.cls is None:
            return not_concatenated(ctx, a, b, node)
        case (Tup(kind=None), Obj(k)) | (Obj(k), Tup(kind=None)) if kind is ast.Add and k.cls is tuple:
            return ctx.list_sharing(ctx.call("list_join", ctx.read(a, node), ctx.read(b, node)), a, b)
        case Obj(k), Obj(m) if k.kind == m.kind == "list" and kind is ast.Add:
            alike = k.exact is m.exact and (k.cls is tuple) == (m.cls is tuple)
            return of_class_of(ctx, a, add_lists(ctx, a, b)) if alike else not_concatenated(ctx, a, b, node)
        case Obj(), Obj() if kind is ast.BitOr and is_dict(a) and is_dict(b):
            ored = merged(ctx, a, b)
            return new_dict(ctx, ctx.state.entries(ored.key), node, ored.key.cls, ored.key.exact)
        case Obj(), Obj() if kind in SET_OPERATORS and is_set(a) and is_set(b):
            return ctx.apply_method(a, SET_OPERATORS[kind], [b], node)
        case (Obj(k), Num(n)) | (Num(n), Obj(k)) if kind is ast.Mult and isinstance(ctx.state.heap[k], Ref) and is_python_integer(n):
            function = repeated_tuple if k.cls is tuple else repeated
            return of_class_of(ctx, Obj(k), ctx.apply(Static(function), [as_list(ctx, Obj(k)), Num(n)], {}, node))
        case (Obj(k), Num(n)) | (Num(n), Obj(k)) if (
            kind is ast.Mult and k.kind == "list" and is_python_integer(n) and not isinstance(n, Const)
        ):
            return of_class_of(ctx, Obj(k), repeated_often(ctx, Obj(k), n, node))
        case (Obj() | Tup() as items, Num(Const(int(n)))) | (Num(Const(int(n))), Obj() | Tup() as items) if kind is ast.Mult and not (
            isinstance(items, Obj) and items.key.kind != "list"
        ):
            return of_class_of(ctx, items, repeat(ctx, items, n))
        case (Obj() | Tup() as items, Num(operand)) | (Num(operand), Obj() | Tup() as items) if kind in SIGNS_OF and is_pythons(operand):
            repeats = kind is ast.Mult and is_python_integer(operand) and not (isinstance(items, Obj) and items.key.kind != "list")
            if not repeats and not (isinstance(items, Obj) and items.key.kind == "record"):
                return not_operands(ctx, kind, a, b, node)
        case (Obj(k), Obj() | Tup()) | (Obj() | Tup(), Obj(k)) if kind in SIGNS_OF and kind is not ast.Sub and k.kind == "dict":
            return not_operands(ctx, kind, a, b, node)
    return None


def of_operands(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding:
    """The same on two bindings that Python or NumPy takes as numbers or arrays."""
    match a, b:
        case Num(Const(int(m), None)), Num(Const(int(n), None)) if kind in STATIC_OPERATORS:
            try:
                return Num(Const(STATIC_OPERATORS[kind](m, n)))
            except ZeroDivisionError:
                pass  # it is raised at run time
    if no_operator(ctx, kind, a, b):
        return not_operands(ctx, kind, a, b, node)
    if ctx.unroll and isinstance(a, Num) and isinstance(b, Num) and (known := folded(kind, a.operand, b.operand)) is not None:
        return Num(known)
    p, q = ctx.read(as_array_operand(ctx, kind, a, b, node), node), ctx.read(as_array_operand(ctx, kind, b, a, node), node)
    whole = getattr(p.type, "kind", None) in ("int", "bool") and getattr(p.type, "dtype", "") is None
    if kind is ast.Pow and whole and isinstance(q, Const) and type(q.value) is int and q.value < 0:
        p = ctx.call("number", p, kind="float")  # an integer to a negative power is a float
    if kind is ast.Pow and (known := complex_power(p, q)) is not None:
        return Num(known)
    if kind is ast.Pow:
        check_real(ctx, p, q, node)
    if isinstance(p.type, List) and kind is ast.Mult:
        raise UnsupportedSyntax("a list of unknown length cannot be repeated", ctx.loc(node), "use np.full or np.zeros")
    return ctx.make(ctx.call(row_of(ctx, kind, node), p, q))


#: rows whose results are never negative
NONNEGATIVE = frozenset({"abs", "fabs", "exp", "square", "sqrt", "hypot"})


def complex_power(base: Operand, exponent: Operand) -> Const | None:
    """A static negative number to a static fractional power, which is complex."""
    values = [o.value for o in (base, exponent) if isinstance(o, Const) and o.name is None and type(o.value) in (int, float)]
    fractional = len(values) == 2 and values[0] < 0 and math.isfinite(values[1]) and not float(values[1]).is_integer()
    return Const(values[0] ** values[1]) if fractional else None


def check_real(ctx: Lowering, base: Operand, exponent: Operand, node: ast.AST) -> None:
    """Refuse a negative Python number to a fractional power at run time: the result is complex, and has no derivative rule."""
    types = (base.type, exponent.type)
    if not all(isinstance(t, Scalar) and t.dtype is None and t.kind in ("int", "bool", "float") for t in types):
        return
    if getattr(exponent.type, "kind", None) != "float" or isinstance(exponent, Const) and float(exponent.value).is_integer():
        return
    maker = ctx.builder.block.ops[-1] if ctx.builder.block.ops else None
    if isinstance(base, Const) and base.value >= 0 or isinstance(maker, Call) and maker.outs == [base] and maker.name in NONNEGATIVE:
        return
    test = ctx.call("less", base, ZERO)
    if not isinstance(exponent, Const):
        test = ctx.call("logical_and", test, ctx.call("greater", ctx.call("mod", exponent, ONE), ZERO))

    def refused() -> None:
        what = "a negative number to a fractional power is complex, and has no derivative here"
        hint = "make it complex before: complex(x) ** y"
        ctx.builder.call_many("raise_error", ctx.constant(NoDerivative, "NoDerivative"), Const(what), NONE, Const(hint))
        ctx.state.dead = True

    branch(ctx, test, refused, lambda: None, [], ctx.loc(node))


def folded(kind: type[ast.AST], a: Operand, b: Operand) -> Const | None:
    """The folded result of an operator on two static integers: in unrolled loops these become indices and keys."""
    if not all(isinstance(o, Const) and type(o.value) is int and abs(o.value) < 1 << 30 for o in (a, b)) or kind not in INTEGER_OPERATORS:
        return None
    try:
        return Const(INTEGER_OPERATORS[kind](a.value, b.value))  # type: ignore[union-attr]
    except (ZeroDivisionError, ValueError):
        return None


INTEGER_OPERATORS = {
    kind: OPERATORS[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Mod, ast.FloorDiv, ast.BitAnd, ast.BitOr, ast.BitXor)
}


def as_array_operand(ctx: Lowering, kind: type[ast.AST], one: Binding, other: Binding, node: ast.AST) -> Binding:
    """A list, tuple or range that is combined with an array or a NumPy number in arithmetic, as an array."""
    if isinstance(one, Num | Ref) or not is_of_numpy(ctx, other) or kind is ast.Mult and isinstance(other, Num):  # which repeats a list
        return one
    one = with_items(ctx, one, node)
    if isinstance(one, Obj | Tup):
        return ctx.make(ctx.array_of(ctx.read(one), None))
    return one


def is_of_numpy(ctx: Lowering, binding: Binding) -> bool:
    """Whether the binding is certainly an array or a NumPy number."""
    type_ = ctx.type_of(binding) if isinstance(binding, Ref | Num) else None
    return isinstance(type_, Array) or isinstance(type_, Scalar) and type_.dtype not in (None, "any")


OWN_SIGNS: dict[type[ast.AST], str] = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
SIGNS: dict[type[ast.AST], Any] = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}


def own_operator(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """An operator that a user class defines (``__add__`` and the like)."""
    stem = OWN_OPERATORS.get(kind)
    if stem is None:
        return None
    words = (f"__{stem}__", f"__r{stem}__")
    one, two = class_of(a), class_of(b)
    # a derived class comes first if it overrides the method
    kept = one is two or one is not None and two is not None and from_class(ctx, one, words[1]) is from_class(ctx, two, words[1])
    tries = [(a, b, words[0]), (b, a, words[1])][: 1 if one is two else 2] if kept else own_tries(a, b, words)
    answer = first_answer(ctx, tries, a, node)
    is_lacking = (isinstance(a, Obj) or isinstance(b, Obj)) and all(lacks(ctx, owner, word) for owner, _, word in tries)
    if answer is None and (is_lacking or any(own_method(ctx, owner, word) is not None for owner, _, word in tries)):
        return not_operands(ctx, kind, a, b, node)
    return answer


def lacks(ctx: Lowering, owner: Binding, word: str) -> bool:
    """Whether a value is certainly one of Python's numbers, or an instance whose class has no such method."""
    if isinstance(owner, Obj) and owner.key.kind == "record":
        return from_class(ctx, owner.key.cls, word) is None
    return isinstance(owner, Num) and is_pythons(owner.operand)


def own_tries(a: Binding, b: Binding, words: tuple[str, str]) -> list[tuple[Binding, Binding, str]]:
    """The methods that Python tries for ``a op b``, in its order: that of a class derived from the other's comes first."""
    tries = [(a, b, words[0]), (b, a, words[1])]
    one, two = class_of(a), class_of(b)
    return tries[::-1] if one is not None and two is not None and one is not two and issubclass(two, one) else tries


def first_answer(ctx: Lowering, tries: list[tuple[Binding, Binding, str]], left: Binding, node: ast.AST) -> Binding | None:
    """The result of the first of some methods that does not return ``NotImplemented``."""
    for owner, other, word in tries:
        if own_method(ctx, owner, word) is None:
            continue
        if owner is not left and not is_left_to(ctx, left, class_of(owner)):
            word = "a number" if isinstance(left, Num) else "an array"
            what = f"NumPy's result for {word} and an instance of {getattr(class_of(owner), '__name__', 'a class')} is not known"
            raise UnsupportedSyntax(what, ctx.loc(node), "set __array_ufunc__ = None in the class")
        answer = ctx.apply_method(owner, word, [other], node)
        if not (isinstance(answer, Static | External) and answer.value is NotImplemented):
            return answer
    return None


def is_left_to(ctx: Lowering, left: Binding, cls: type | None) -> bool:
    """Whether the left operand leaves an operator to the class on the right.

    An array applies it elementwise by default, and so does a NumPy number if NumPy reads the instance as an array.
    """
    type_ = ctx.type_of(left) if isinstance(left, Num | Ref) else None
    if type_ is None or isinstance(type_, List) or isinstance(type_, Scalar) and type_.dtype is None or python_class(left) is not None:
        return True
    is_number = isinstance(type_, Scalar)
    if cls is None:
        return is_number
    if (said := from_class(ctx, cls, "__array_ufunc__", MISSING)) is not MISSING:
        return said is None
    if from_class(ctx, cls, "__array_priority__", OF_NUMBERS) > (OF_NUMBERS if is_number else 0.0):
        return True
    return is_number and not any(all(from_class(ctx, cls, word) is not None for word in words) for words in READ_AS_ARRAYS)


#: NumPy's priority of numbers, and of what defines none
OF_NUMBERS = -1e6
#: NumPy reads an instance as an array if its class has one of these, or both of the last two
READ_AS_ARRAYS = (("__array__",), ("__array_interface__",), ("__array_struct__",), ("__len__", "__getitem__"))


#: operators of numbers
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.MatMult, ast.Mod, ast.FloorDiv)
ORDERS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def are_containers(a: Binding, b: Binding) -> bool:
    """Whether both are containers or instances."""
    return all(isinstance(x, Tup | Obj) or is_outside(x) for x in (a, b))


def shown_for(ctx: Lowering, text: str, value: Binding, node: ast.AST) -> Operand:
    """The operand of ``text % value``: instances as the directives convert them, by ``str`` or ``repr``."""
    letters = [letter for letter in re.findall(r"%[^%a-zA-Z]*([a-zA-Z%])", text) if letter != "%"]
    words = ["__repr__" if letter in "ra" else "__str__" for letter in letters]
    if isinstance(value, Tup) and value.kind is None and len(words) == len(value.items):
        return instance_made_by_call(
            ctx, tuple, "tuple", [ctx.call("list_of", *[for_printing(ctx, x, node, w) for x, w in zip(value.items, words, strict=True)])]
        )
    return for_printing(ctx, value, node, words[0] if len(words) == 1 else "__str__")


#: the spelling of operators in Python's messages
SIGNS_OF = {
    getattr(ast, kind): sign
    for kind, sign in (pairs("Add:+ Sub:- Mult:* Div:/ MatMult:@ Mod:% FloorDiv://") | {"Pow": "** or pow()"}).items()
}
SIGNS_OF_BITS: dict[type[ast.AST], str] = {ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}


#: constants without arithmetic, except that texts are joined and repeated
WITHOUT_ARITHMETIC = (str, bytes, type(None), types.FunctionType, types.BuiltinFunctionType, types.ModuleType, type)


def no_operator(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding) -> bool:
    """Whether Python has no such operator for two numbers, or for a number and a constant that is none."""
    numbers = [x for x in (a, b) if isinstance(x, Num) and isinstance(ctx.type_of(x), Scalar)]
    if any(x.operand in ctx.mixed.unsure or x.operand in ctx.mixed.values for x in numbers):
        return False  # it may be of a narrower class than its type
    if len(numbers) == 2:
        kinds = {getattr(ctx.type_of(x), "kind", "") for x in numbers}
        return kind in SIGNS_OF_BITS and bool(kinds & {"float", "complex"}) or kind in (ast.FloorDiv, ast.Mod) and "complex" in kinds
    others = [x for x in (a, b) if isinstance(x, Static) and isinstance(x.value, WITHOUT_ARITHMETIC)]
    return len(numbers) == len(others) == 1 and kind in SIGNS_OF | SIGNS_OF_BITS and kind is not ast.Mult


def not_operands(ctx: Lowering, kind: type[ast.AST], a: Binding, b: Binding, node: ast.AST) -> Binding:
    """An operator that Python lacks for these classes: the program raises as Python does."""
    one, two = (exact_class(ctx, x, node).__name__ for x in (a, b))
    sign = (SIGNS_OF | SIGNS_OF_BITS)[kind]
    sign = f"{sign.split()[0]}=" if isinstance(node, ast.AugAssign) else sign
    return definite(ctx, MISSING, node, TypeError, f"unsupported operand type(s) for {sign}: {one!r} and {two!r}")


def not_concatenated(ctx: Lowering, a: Binding, b: Binding, node: ast.AST) -> Binding:
    """Concatenation of a sequence with one of another class: the program raises as Python does."""
    one, two = (exact_class(ctx, x, node) for x in (a, b))
    own = next((base.__name__ for base in (list, tuple) if issubclass(one, base)), one.__name__)
    other = two.__name__ if two.__module__ == "builtins" else f"{two.__module__}.{two.__name__}"
    return definite(ctx, MISSING, node, TypeError, f'can only concatenate {own} (not "{other}") to {own}')


def is_pythons(operand: Operand) -> bool:
    """Whether the operand is a Python number."""
    return isinstance(operand.type, Scalar) and operand.type.dtype is None


def is_python_integer(operand: Operand) -> bool:
    """Whether the operand is a Python integer."""
    return isinstance(operand.type, Scalar) and operand.type.kind in ("int", "bool") and operand.type.dtype is None


def add_lists(ctx: Lowering, a: Obj, b: Obj) -> Binding:
    one, two = ctx.state.heap[a.key], ctx.state.heap[b.key]
    if isinstance(one, Ref) or isinstance(two, Ref):
        return ctx.list_sharing(ctx.call("list_join", ctx.read(a), ctx.read(b)), a, b)
    return ctx.new_object("list", enumerate([x for _, x in one] + [x for _, x in two]), None, a.key.exact)


def repeated_often(ctx: Lowering, items: Obj, times: Operand, node: ast.AST) -> Binding:
    """A list of static items, repeated a dynamic number of times."""
    one = [item for _, item in ctx.state.entries(items.key)]
    whole = ctx.whole(items, node)
    ctx.filled_later = ctx.filled_later or any(item == ABSENT for item in one)
    is_plain = isinstance(whole.type, List) and isinstance(whole.type.item, Scalar)
    if is_plain or any(item == ABSENT for item in one) and all(isinstance(item, Num | Static) for item in one):
        return ctx.list_sharing(ctx.call("list_repeat", whole, times, hint="items"))
    return ctx.apply(Static(repeated), [ctx.list_sharing(whole, items), Num(times)], {}, node)


def repeat(ctx: Lowering, items: Binding, times: int) -> Binding:
    if isinstance(items, Tup):
        return Tup(items.items * times)
    assert isinstance(items, Obj)
    content = ctx.state.heap[items.key]
    if isinstance(content, Ref):
        raise UnsupportedSyntax("a list of unknown length cannot be repeated", ctx.builder.loc)
    return ctx.new_object("list", enumerate([b for _, b in content] * times), None, items.key.exact)


@expression(ast.UnaryOp)
def unary(ctx: Lowering, node: ast.UnaryOp) -> Binding:
    if isinstance(node.op, ast.Not):
        test = condition(ctx, node.operand)
        return Num(Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test))
    return signed(ctx, type(node.op), ctx.evaluate(node.operand), node)


def signed(ctx: Lowering, kind: type[ast.unaryop], binding: Binding, node: ast.AST) -> Binding:
    """``-binding`` and the like."""
    binding = definite(ctx, binding, node)
    if isinstance(binding, Num) and isinstance(binding.operand, Const) and binding.operand.name is None:
        value = binding.operand.value
        return Num(Const(as_python_does(ctx, node, lambda: SIGNS[kind](value))))
    if own_method(ctx, binding, word := OWN_SIGNS[kind]) is not None:
        return ctx.apply_method(binding, word, [], node)
    binding = as_base(ctx, binding, word)
    if known := known_value(binding):
        return Num(Const(as_python_does(ctx, node, lambda: SIGNS[kind](known[0]))))
    return ctx.make(ctx.call(row_of(ctx, kind, node), ctx.read(binding, node)))
