"""Comparisons to ops: equality, order, identity and membership of numbers, arrays, containers and instances."""

from __future__ import annotations

import ast
import collections
import types
from typing import Any

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.containers.computed_keys import is_among
from symgrad.frontend.containers.dict_items import has_key
from symgrad.frontend.containers.iterables import items_of
from symgrad.frontend.containers.static_containers import is_outside, with_content
from symgrad.frontend.containers.stepping import begin, is_iterator
from symgrad.frontend.flow.absent import as_python_does, definite, either, is_absent, present
from symgrad.frontend.flow.enumerated import each, is_one_of_kinds, predicate_of_one
from symgrad.frontend.flow.flow import choose, choose_in_turn, each_side
from symgrad.frontend.flow.sameness import are_one
from symgrad.frontend.objects.derived import OF_ARRAYS, as_base, is_derived
from symgrad.frontend.objects.dicts import elements_of, is_dict, is_set
from symgrad.frontend.objects.operands import static_binding, static_key, with_items
from symgrad.frontend.objects.outside import rely_on_membership
from symgrad.frontend.objects.protocols import COMPARISONS, ITERABLE, Namespace, class_of, defines_any, own_method
from symgrad.frontend.objects.python_values import is_text, python_comparison, python_membership, set_from_outside
from symgrad.frontend.state.bindings import (
    ABSENT,
    MISSING,
    Binding,
    Bound,
    Choice,
    External,
    Fun,
    Generator,
    Iter,
    Maybe,
    Missing,
    Num,
    Obj,
    OneOf,
    Ref,
    Static,
    Tup,
    View,
    is_range,
    known_key,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.members import as_number
from symgrad.frontend.state.tables import expression
from symgrad.frontend.values.exact import exact_class, is_single, never_equal
from symgrad.frontend.values.identity import identical, identity, negated
from symgrad.frontend.values.operators import ORDERS, STATIC_OPERATORS, are_containers, binary, first_answer, is_of_numpy, own_tries, row_of
from symgrad.frontend.values.truths import as_bool, truth
from symgrad.ir.core import FALSE, TRUE, ZERO, Const, Operand
from symgrad.ir.types import Array, Object, Scalar, Unknown
from symgrad.kinds import is_closed
from symgrad.ops.composed import iterating
from symgrad.text import has_literal, keys_of


def own_comparison(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """A comparison that the user's class defines."""
    words = COMPARISONS.get(type(op))
    answer = None if words is None else first_answer(ctx, own_tries(a, b, words), a, node)
    derived = any(map(is_derived, (a, b)))
    if answer is None and isinstance(op, ast.NotEq) and not derived and (equal := own_comparison(ctx, ast.Eq(), a, b, node)) is not None:
        test = truth(ctx, equal, node)
        return Num(Const(not test.value) if isinstance(test, Const) else ctx.call("not_", test))
    if all(isinstance(x, Obj) and x.key.cls is Namespace for x in (a, b)) and isinstance(op, ast.Eq | ast.NotEq):
        one, two = (ctx.new_object("dict", ctx.state.entries(x.key)) for x in (a, b) if isinstance(x, Obj))
        return comparison(ctx, op, one, two, node)
    by_content = isinstance(a, Tup) and isinstance(b, Tup) or are_containers(a, b) and (is_outside(a) or is_outside(b))
    if answer is None and isinstance(op, ast.Eq) and (class_of(a) or class_of(b)) and not by_content and not derived:
        same = identical(ctx, a, b)
        test = are_one(ctx.state, a, b) if same is None else Const(same)  # type: ignore[assignment]
        return None if test is None else Num(test)
    return answer


@expression(ast.Compare)
def compare(ctx: Lowering, node: ast.Compare) -> Binding:
    left = ctx.evaluate(node.left)
    return chain(ctx, left, list(zip(node.ops, node.comparators, strict=True)), node)


def chain(ctx: Lowering, left: Binding, rest: list[tuple[ast.cmpop, ast.expr]], node: ast.AST) -> Binding:
    (op, right_node), *more = rest
    right = ctx.evaluate(right_node)
    answer = comparison(ctx, op, left, right, node)
    if not more:
        return answer
    test = truth(ctx, answer, node)
    if isinstance(test, Const):
        return chain(ctx, right, more, node) if test.value else answer
    return choose_in_turn(ctx, test, more[0][1], lambda: chain(ctx, right, more, node), lambda: answer)


def as_attribute(ctx: Lowering, held: Binding) -> Binding:
    """An attribute of an opaque object as a value: it may be no method, and may equal anything."""
    match held:
        case Bound(owner=Num(operand=owner), function=None) if isinstance(owner.type, Unknown | Object):
            return Num(ctx.read(held))
    return held


def comparison(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding:
    """One comparison of two bindings: each of the values that either may be, then identity, membership, equality and order."""
    a, b = as_attribute(ctx, a), as_attribute(ctx, b)
    if is_one_of_kinds(a):
        return each(ctx, a, node, lambda value: comparison(ctx, op, value, b, node))
    if is_one_of_kinds(b):
        return each(ctx, b, node, lambda value: comparison(ctx, op, a, value, node))
    if isinstance(a, Choice):  # of functions or classes
        return each_side(ctx, a, node, lambda side: comparison(ctx, op, side, b, node))
    if isinstance(b, Choice):
        return each_side(ctx, b, node, lambda side: comparison(ctx, op, a, side, node))
    if not isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) and not (isinstance(a, Static) and isinstance(b, Static)):
        a, b = as_number(a), as_number(b)
    if isinstance(op, ORDERS) and any(x == ABSENT and isinstance(y, Num | Ref) for x, y in ((a, b), (b, a))):
        return definite(ctx, ABSENT, node)
    if isinstance(a, OneOf):
        return predicate_of_one(ctx, a, node, lambda value: comparison(ctx, op, value, b, node))
    if isinstance(b, OneOf):
        return predicate_of_one(ctx, b, node, lambda value: comparison(ctx, op, a, value, node))
    if isinstance(a, Maybe) or isinstance(b, Maybe):
        return comparison_of_maybe(ctx, op, a, b, node)
    if isinstance(op, ast.Is | ast.IsNot):
        return identity(ctx, a, b, isinstance(op, ast.IsNot), node)
    if isinstance(op, ast.In | ast.NotIn):
        return membership(ctx, op, a, b, node)
    if isinstance(op, ast.Eq | ast.NotEq) and (equal := equality_of_objects(ctx, a, b, node)) is not None:
        return Num(Const(equal == isinstance(op, ast.Eq)))
    if (special := own_comparison(ctx, op, a, b, node) or python_comparison(ctx, op, a, b, node)) is not None:
        return special
    words = OF_ARRAYS if is_of_numpy(ctx, a) or is_of_numpy(ctx, b) else ()
    a, b = as_base(ctx, a, *words), as_base(ctx, b, *words)
    if isinstance(a, View) or isinstance(b, View):
        return views_compared(ctx, op, a, b, node)
    if isinstance(op, ast.Eq | ast.NotEq) and any(isinstance(x, Tup | Obj) for x in (a, b)) and never_equal(ctx, a, b, node):
        return Num(Const(isinstance(op, ast.NotEq)))
    if are_containers(a, b):
        a, b = set_from_outside(ctx, a, node), set_from_outside(ctx, b, node)
        a, b = with_content(ctx, a, node), with_content(ctx, b, node)
    a, b = compared_with_scalar(ctx, a, b, node), compared_with_scalar(ctx, b, a, node)
    if (answer := containers_compared(ctx, op, a, b, node) or known_values_compared(ctx, op, a, b, node)) is not None:
        return answer
    return ctx.make(ctx.call(row_of(ctx, type(op), node), ctx.read(a, node), ctx.read(b, node)))


def equality_of_objects(ctx: Lowering, a: Binding, b: Binding, node: ast.AST) -> bool | None:
    """``a == b`` of methods, iterators, functions and other objects that equal only themselves, where it is known at compile time."""
    if isinstance(a, Bound) and isinstance(b, Bound) and (a.name, a.function) == (b.name, b.function):
        if (same := identical(ctx, a.owner, b.owner)) is not None:
            return same
    if is_iterator(a) and isinstance(b, Ref) or is_iterator(b) and isinstance(a, Ref):
        raise UnsupportedSyntax("NumPy compares an iterator with each number of an array", ctx.loc(node), "make it a list")
    if is_iterator(a) or is_iterator(b):
        return a == b
    return identical(ctx, a, b) if is_by_identity(a) and is_by_identity(b) else None


def containers_compared(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """The comparison of two sets, dicts, or sequences of known length."""
    if is_set(a) and is_set(b):
        return sets_compared(ctx, op, a, b)
    if is_dict(a) and is_dict(b) and isinstance(op, ast.Eq | ast.NotEq):
        return dicts_compared(ctx, op, a, b, node)
    if (items := items_compared(ctx, a, b)) is not None:
        if isinstance(op, ast.Eq | ast.NotEq) and len(items[0]) != len(items[1]):  # for tuples, the items are compared first
            return Num(Const(isinstance(op, ast.NotEq)))
        return tuples_compared(ctx, op, *items, node)  # type: ignore[call-arg,arg-type]
    return tuples_compared(ctx, op, a.items, b.items, node) if isinstance(a, Tup) and isinstance(b, Tup) else None


def known_values_compared(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding | None:
    """The comparison of values that are known at compile time, or that differ for certain, or cannot be ordered."""
    if isinstance(a, Static) and isinstance(b, Static) and not (is_closed(a.value) or is_closed(b.value)):
        try:
            return Num(Const(bool(STATIC_OPERATORS[type(op)](a.value, b.value))))
        except TypeError as error:
            return definite(ctx, MISSING, node, TypeError, str(error))
    if isinstance(a, Num) and isinstance(b, Num) and isinstance(a.operand, Const) and isinstance(b.operand, Const):
        one, two = a.operand.value, b.operand.value
        return Num(Const(as_python_does(ctx, node, lambda: STATIC_OPERATORS[type(op)](one, two))))
    if isinstance(op, ORDERS) and any(isinstance(x, Obj) and x.key.kind == "record" for x in (a, b)):
        names = [exact_class(ctx, x, node).__name__ for x in (a, b)]
        sign = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}[type(op)]
        return definite(ctx, MISSING, node, TypeError, f"{sign!r} not supported between instances of {names[0]!r} and {names[1]!r}")
    if isinstance(op, ast.Eq | ast.NotEq) and (is_unlike(ctx, a, b) or is_unlike(ctx, b, a)):
        return Num(Const(isinstance(op, ast.NotEq)))
    return None


def is_unlike(ctx: Lowering, one: Binding, other: Binding) -> bool:
    """Whether the first is a Python object and the second a number, which it does not equal."""
    if not isinstance(one, Static) or isinstance(other, Static) or ctx.holes and one.value is None:
        return False
    type_ = ctx.type_of(other)
    return type_.is_number and not (isinstance(type_, Array) and type_.shape != ())


def compared_with_scalar(ctx: Lowering, one: Binding, other: Binding, node: ast.AST) -> Binding:
    """A list, tuple or range compared with a NumPy scalar becomes an array; compared with a Python number it does not."""
    type_ = ctx.type_of(other) if isinstance(other, Num | Ref) else None
    if isinstance(type_, Array):
        return with_items(ctx, one, node)
    is_sequence = isinstance(one, Tup) or isinstance(one, Obj) and one.key.kind == "list" or is_range(one)
    if not is_sequence or not isinstance(type_, Scalar) or type_.dtype is None:
        return one
    if type_.dtype == "any":
        what = "whether this number is Python's or NumPy's depends on the path taken"
        raise UnknownType(what, ctx.loc(node), "convert it with float")
    return ctx.make(ctx.array_of(ctx.read(with_items(ctx, one, node), node), None))


def views_compared(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding:
    """A comparison of views of dicts: keys and items compare as sets do, values as objects."""
    if isinstance(a, View) and isinstance(b, View) and isinstance(op, ast.Eq | ast.NotEq) and a.pairs and b.pairs and a.owner and b.owner:
        if not {a.owner.exact, b.owner.exact} & {collections.OrderedDict, collections.Counter}:
            return dicts_compared(ctx, op, Obj(a.owner), Obj(b.owner), node)
    if not isinstance(a, View) or not isinstance(b, View) or not isinstance(op, ast.Eq | ast.NotEq) or not (a.keys and b.keys):
        raise UnsupportedSyntax("this comparison of a view of a dict is not supported", ctx.loc(node), "make it a list or a set")
    one, two = ({static_key(ctx, item, node) for item in view.items} for view in (a, b))
    if not (a.is_current(ctx.state.heap) and b.is_current(ctx.state.heap)):
        raise UnsupportedSyntax("the dict has changed since keys() was called", ctx.loc(node), "call keys() where the keys are used")
    return Num(Const((one == two) == isinstance(op, ast.Eq)))


def tuples_compared(ctx: Lowering, op: ast.cmpop, a: tuple[Binding, ...], b: tuple[Binding, ...], node: ast.AST) -> Binding:
    """A comparison of tuples: the first items that differ decide it."""
    if not a or not b or isinstance(op, ast.Eq | ast.NotEq) and len(a) != len(b) and not any(isinstance(x, Ref) for x in (*a, *b)):
        return Num(Const(bool(STATIC_OPERATORS[type(op)](len(a), len(b)))))
    same = held_as(ctx, a[0], b[0], node)

    def differing() -> Binding:
        return Num(Const(isinstance(op, ast.NotEq))) if isinstance(op, ast.Eq | ast.NotEq) else comparison(ctx, op, a[0], b[0], node)

    def others() -> Binding:
        return tuples_compared(ctx, op, a[1:], b[1:], node)

    if isinstance(same, Const):
        return others() if same.value else differing()
    return choose(ctx, same, node, others, differing)


def held_as(ctx: Lowering, a: Binding, b: Binding, node: ast.AST) -> Operand:
    """Whether an item of one container counts as an item of another: whether it is the same object, or equal.

    ``==`` runs only if they are not the same object, with the first as its left operand.
    """
    same = same_object(ctx, a, b)
    if same is TRUE:
        return TRUE
    if not isinstance(same, Const) and any(class_of(x) is not None for x in (a, b)):
        equal = choose(ctx, same, node, lambda: Num(TRUE), lambda: Num(truth(ctx, comparison(ctx, ast.Eq(), a, b, node), node)))
        return ctx.read(equal, node)
    test = truth(ctx, comparison(ctx, ast.Eq(), a, b, node), node)
    if same is FALSE or isinstance(test, Const) and test.value:
        return test
    return same if isinstance(test, Const) else ctx.call("logical_or", same, test)


def items_compared(ctx: Lowering, a: Binding, b: Binding) -> list[tuple[Binding, ...]] | None:
    """The items of two lists of static structure."""
    if not all(isinstance(x, Obj) and x.key.kind == "list" for x in (a, b)):
        return None
    contents = [ctx.state.heap[x.key] for x in (a, b) if isinstance(x, Obj)]
    items = [tuple(item for _, item in content) for content in contents if not isinstance(content, Ref)]
    return items if len(items) == 2 else None


def dicts_compared(ctx: Lowering, op: ast.cmpop, a: Any, b: Any, node: ast.AST) -> Binding:
    """``==`` and ``!=`` of two dicts: the same keys, in the same order if both are ordered, and equal items."""
    for held in (a, b):
        ctx.check_keys(held.key, node, in_order=held.key.exact is collections.OrderedDict)
    one, two = dict(ctx.state.entries(a.key)), dict(ctx.state.entries(b.key))
    ordered = a.key.exact is b.key.exact is collections.OrderedDict
    if collections.Counter in (a.key.exact, b.key.exact):
        raise UnsupportedSyntax("a comparison of a Counter is not supported", ctx.loc(node), "make it a dict")
    if one.keys() != two.keys() or ordered and list(one) != list(two):
        return Num(Const(isinstance(op, ast.NotEq)))
    return tuples_compared(ctx, op, tuple(one.values()), tuple(two[k] for k in one), node)


def sets_compared(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding) -> Binding:
    """A comparison of two sets created in the function."""
    one, two = (set(elements_of(ctx, held)) for held in (a, b) if isinstance(held, Obj))
    return Num(Const(bool(STATIC_OPERATORS[type(op)](one, two))))


def comparison_of_maybe(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding:
    """A comparison with a value that may be None: None supports only identity and equality."""
    if isinstance(op, ast.In | ast.NotIn) and isinstance(b, Maybe) or isinstance(op, ORDERS):
        return comparison(ctx, op, definite(ctx, a, node), definite(ctx, b, node), node)
    if isinstance(op, ast.In | ast.NotIn):
        return membership(ctx, op, a, b, node)
    for one, other in ((a, b), (b, a)):
        is_array = isinstance(op, ast.Eq | ast.NotEq) and isinstance(one, Maybe) and isinstance(one.inner, Ref)
        if isinstance(one, Maybe) and one.absent == ABSENT == other and not is_array:
            return Num(is_absent(ctx, one) if isinstance(op, ast.Is | ast.Eq) else present(ctx, one))
    if isinstance(a, Maybe):
        return either(ctx, a, node, lambda inner: comparison(ctx, op, inner, b, node))
    return either(ctx, b, node, lambda inner: comparison(ctx, op, a, inner, node))


def is_by_identity(binding: Binding) -> bool:
    """Whether a value is a function or another object that equals only itself."""
    if isinstance(binding, Static):
        plain = getattr(type(binding.value), "__eq__", None) is object.__eq__
        return plain or isinstance(getattr(binding.value, "__self__", None), types.ModuleType)
    return isinstance(binding, Fun)


def in_range(ctx: Lowering, a: Binding, bounds: tuple[Operand, ...], negate: bool, node: ast.AST) -> Binding:
    """``a in range(...)``, without a loop; the step is static."""
    if isinstance(a, Static) and isinstance(a.value, int):  # a member of an enumeration
        a = Num(Const(int(a.value)))
    if isinstance(a, Static | Tup) or is_single(a) or isinstance(a, Obj) and a.key.kind == "list":
        return Num(Const(negate))  # equal to no integer
    start, stop, step = (Num(bound) for bound in bounds)
    count = step.operand
    if not isinstance(count, Const) or not count.value:
        raise UnsupportedSyntax("'in' is not supported for a range with a computed step", ctx.loc(node), "compare with its ends")
    least, most = (start, stop) if count.value > 0 else (stop, start)
    inside = (ast.LtE(), ast.Lt()) if count.value > 0 else (ast.Lt(), ast.LtE())
    apart = binary(ctx, ast.Mod, binary(ctx, ast.Sub, a, start, node), step, node)
    tests = [comparison(ctx, inside[0], least, a, node), comparison(ctx, inside[1], a, most, node)]
    tests += [] if abs(count.value) == 1 and is_integer(ctx, a) else [comparison(ctx, ast.Eq(), apart, Num(ZERO), node)]
    conjunction: Operand = TRUE
    for test in (truth(ctx, t, node) for t in tests):
        if isinstance(test, Const):
            if not test.value:
                return Num(Const(negate))
            continue
        conjunction = test if conjunction is TRUE else ctx.call("logical_and", conjunction, test)
    return Num(Const(not negate)) if conjunction is TRUE else Num(ctx.call("not_", conjunction) if negate else as_bool(ctx, conjunction))


def is_integer(ctx: Lowering, binding: Binding) -> bool:
    return getattr(ctx.type_of(binding), "kind", None) in ("int", "bool")


def same_object(ctx: Lowering, a: Binding, b: Binding) -> Operand:
    """Whether two values are one object, as far as is known. Containers test identity before ``==``."""
    if isinstance(a, Maybe | OneOf) or isinstance(b, Maybe | OneOf):
        return FALSE
    known = identical(ctx, a, b)
    return (TRUE if known else FALSE) if known is not None else are_one(ctx.state, a, b) or FALSE


def among_items(ctx: Lowering, a: Binding, items: list[Binding], node: ast.AST) -> Operand:
    """Whether a value is among some items by identity or equality. User classes are compared one after the other, up to the first match."""
    disjunction: Operand = FALSE
    for k, item in enumerate(items):
        test = held_as(ctx, item, a, node)
        if isinstance(test, Const):
            if test.value:
                return TRUE
            continue
        disjunction = test if isinstance(disjunction, Const) else ctx.call("logical_or", disjunction, test)
        others = items[k + 1 :]
        if others and any(class_of(x) is not None for x in (a, *others)):
            known = choose(ctx, disjunction, node, lambda: Num(TRUE), lambda: Num(among_items(ctx, a, others, node)))  # noqa: B023
            return ctx.read(known, node)
    return disjunction


def membership(ctx: Lowering, op: ast.cmpop, a: Binding, b: Binding, node: ast.AST) -> Binding:
    negate = isinstance(op, ast.NotIn)
    if own_method(ctx, b, "__contains__") is not None:
        test = truth(ctx, ctx.apply_method(b, "__contains__", [a], node), node)
        if isinstance(test, Const):
            return Num(Const(bool(test.value) != negate))
        return Num(ctx.call("not_", test) if negate else test)
    b = as_base(ctx, b, "__contains__")
    if (answer := python_membership(ctx, a, b, node)) is not None:
        test = ctx.read(answer)
        return Num(ctx.call("not_", test) if negate else test)
    if isinstance(b, Obj) and b.key.kind == "dict":
        test = has_key(ctx, b, a, node)
        return Num(Const(test.value != negate) if isinstance(test, Const) else ctx.call("not_", test) if negate else test)
    if isinstance(b, External) and not defines_any(ctx, b.value, "__contains__", *ITERABLE):
        ctx.rely(b.text, type(b.value), "type")
    if isinstance(b, External | Static) and not defines_any(ctx, b.value, "__contains__", *ITERABLE):
        return definite(ctx, MISSING, node, TypeError, f"argument of type {type(b.value).__name__!r} is not iterable")
    if isinstance(b, External):
        if isinstance(b.value, list | tuple):
            ctx.rely(b.text, keys_of(b.value), "keys")
        rely_on_membership(ctx, b.value, b.text, sought := known_key(a))
        if not isinstance(sought, Missing):
            as_python_does(ctx, node, lambda: {sought: None})
            return Num(Const((sought in b.value) != negate))
        if type(b.value) in (list, tuple) and all(map(has_literal, b.value)):
            test = among_items(ctx, a, [*map(static_binding, b.value)], node)
        else:
            test = is_among(ctx, a, b.value, node)
        return Num(Const(test.value != negate) if isinstance(test, Const) else ctx.call("not_", test) if negate else as_bool(ctx, test))
    if is_text(b) and isinstance(a, Num | Ref | Tup | Obj | Iter | Generator):
        kind = exact_class(ctx, a, node)
        name = f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__
        return definite(ctx, MISSING, node, TypeError, f"'in <string>' requires string as left operand, not {name}")
    if isinstance(a, Static) and isinstance(b, Static):
        sought, held = a.value, b.value
        return Num(Const(as_python_does(ctx, node, lambda: sought in held) != negate))
    if isinstance(b, Iter) and b.kind == "range":
        return in_range(ctx, a, b.parts, negate, node)
    if isinstance(b, Ref) and getattr(ctx.type_of(b), "rank", 1) != 1:
        return Num(ctx.call("not_contains" if negate else "contains", ctx.read(b, node), ctx.read(a, node)))
    over = begin(ctx, b, node)
    if isinstance(over, Generator):
        any_equal = ctx.apply(Static(any), [ctx.apply(Static(iterating.equals), [a, over], {}, node)], {}, node)
        test = truth(ctx, any_equal, node)
        return Num(negated(ctx, test) if negate else as_bool(ctx, test))
    b = over
    items = items_of(ctx, b, node)
    if not isinstance(items, list):
        return Num(ctx.call("not_contains" if negate else "contains", ctx.read(b, node), ctx.read(a, node)))
    test = among_items(ctx, a, items, node)
    if isinstance(test, Const):
        return Num(Const(bool(test.value) != negate))
    return Num(ctx.call("not_", test) if negate else as_bool(ctx, test))
