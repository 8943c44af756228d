"""Sets that grow by dynamic elements, and the order of iteration of sets at run time.

A set has static elements, or is an immutable Python value, as long as possible. Where a program does more, the locations that may have
created the set are recorded. Lowering restarts and creates an object of ``ops.composed.growing_sets`` at these locations.
"""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.growing_dicts import is_growing, kinds_held, let_grow, lists_of, text_around_growing
from symgrad.frontend.containers.growing_inner import ORDERED, is_inner, is_inner_site, name_in, new_in_pool, pool_of
from symgrad.frontend.containers.results import BY_KEYS, Result
from symgrad.frontend.containers.stepping import new_record, site_of
from symgrad.frontend.objects.dicts import ORDER_UNKNOWN, is_set, new_set
from symgrad.frontend.objects.operands import static_binding, unwrap
from symgrad.frontend.objects.python_results import with_tuples_in
from symgrad.frontend.objects.python_values import is_some_set, known_elements, operand_of, python_items
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import Binding, Num, Obj, Static, Tup, python_class
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.ir.core import ONE, Const, Operand
from symgrad.ir.types import INT, List, Object, Type
from symgrad.ops.composed import growing_classes, growing_inner, growing_sets

#: the type of Python's own set, and of the dict with the numbers of its elements
HELD = Object("container")
OF_KEYS = "a set is made from the keys of a dict, and the program depends on its order"
IN_A_LIST = "iterate over a list of the keys, as in set(list(d))"
IN_ORDER = "iterate over it in order, with sorted"
#: functions whose result does not depend on the order of the elements
ORDERLESS = (sorted, min, max, any, all)


def is_growing_set(binding: Any) -> bool:
    """Whether the binding is such a set."""
    return is_growing(binding) and binding.key.cls in growing_classes.SETS


def new_set_at(ctx: Lowering, elements: Iterable[Any], node: ast.AST) -> Obj:
    """A set of static elements that a program creates."""
    result = new_set(ctx, elements)
    result.key.sites = (site_of(ctx, node),)
    return result


def set_to_grow(ctx: Lowering, args: list[Binding], node: ast.AST) -> Binding | None:
    """A set that a program creates, where one with dynamic elements or with Python's order is required."""
    if args and is_growing_set(args[0]):
        return ctx.apply_method(args[0], "copy", [], node)
    site = site_of(ctx, node)
    if args and is_growing(args[0]) and args[0].key.cls in growing_classes.DICTS and site not in ctx.stateful:  # type: ignore[attr-defined]
        ctx.growing_sites[site] = True
        raise UnsupportedSyntax(OF_KEYS, ctx.loc(node), IN_A_LIST)
    if site not in ctx.stateful:
        return None
    is_alone = (ORDERED, site) in ctx.stateful and not is_inner_site(ctx, growing_sets.GrowingSet, node)
    result = new_record(ctx, growing_sets.OrderedSet, [], node) if is_alone else new_in_pool(ctx, growing_sets.GrowingSet, [], node)
    result.key.sites = (site,)
    ctx.hold(result)
    if args and is_constant(node):  # Python merges in a frozenset constant of its elements
        if is_ordered(result):
            whole = constant_of(ctx, [unwrap(item) for item in args[0].items], node)  # type: ignore[attr-defined]
            python_result(ctx, set.update, [actual(ctx, result, node), Const(whole, owner_name(ctx, whole, "elements"))])
        ctx.apply(Static(growing_sets.keep_all), [result, args[0]], {}, node)
    elif args:
        ctx.apply_method(result, "update", [args[0]], node)
    let_grow(ctx, result)
    return result


def is_constant(node: ast.AST) -> bool:
    """Whether the node is a display of more than two constants."""
    return isinstance(node, ast.Set) and len(node.elts) > 2 and all(isinstance(item, ast.Constant) for item in node.elts)


def constant_of(ctx: Lowering, elements: list[Any], node: ast.AST) -> frozenset[Any]:
    """The constant that Python has compiled from a display, in the user's function or a nested one: an equal set may have another order."""
    codes = [ctx.frame.source.function.__code__]
    for code in codes:
        codes.extend(part for part in code.co_consts if isinstance(part, types.CodeType))
        for held in code.co_consts:
            if isinstance(held, frozenset) and {(type(one), one) for one in held} == {(type(one), one) for one in elements}:
                return held
    raise UnsupportedSyntax(ORDER_UNKNOWN, ctx.loc(node), IN_ORDER)


def note_new_element(ctx: Lowering, owner: Obj) -> None:
    """Record the locations that may have created a set which gets a dynamic element."""
    ctx.growing_sites.update(dict.fromkeys(owner.key.sites, True))


def note_order(ctx: Lowering, owner: Binding) -> None:
    """Record the locations that may have created a set whose order is read."""
    if is_inner(owner):
        ctx.growing_sites[ORDERED, name_in(ctx, owner)] = True
    for site in owner.key.sites if isinstance(owner, Obj) else ():
        ctx.growing_sites.update({site: True, (ORDERED, site): True})


def without_order(ctx: Lowering, function: Any, args: list[Binding], has_key: bool, node: ast.AST) -> list[Binding]:
    """The arguments of a function that ignores order: a set is replaced by its elements."""
    if len(args) != 1 or has_key or not is_growing_set(args[0]):
        return args
    if function not in (*ORDERLESS, sum):
        return args
    listed = ctx.apply(Static(growing_sets.elements_of), args, {}, node)
    return [listed] if function in ORDERLESS or all(kind in (int, bool) for kind in kinds_held(ctx, listed)) else args


# ------------------------------------------------------------------ hooks called by the compositions of sets


@special(growing_sets.ask_for_order)
def ask_for_order(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    note_order(ctx, args[0])
    raise UnsupportedSyntax(ORDER_UNKNOWN, ctx.loc(node), IN_ORDER)


@special(growing_sets.popped)
def popped(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (held,) = args
    if not is_ordered(held):
        return ask_for_order(ctx, args, kwargs, node)
    element = python_result(ctx, set.pop, [actual(ctx, held, node)])
    number = Num(python_result(ctx, dict.get, [numbers_of(ctx, held, node), element], INT))
    parts = parts_of(ctx, pool_of(ctx, held, node) if is_inner(held) else held)
    place = ctx.apply_method(parts["numbers"], "index", [number], node)
    if not is_inner(held):
        return ctx.apply(Static(operator.getitem), [parts["stored_keys"], place], {}, node)
    return ctx.apply(Static(operator.getitem), [ctx.apply(Static(operator.getitem), [parts["pairs"], place], {}, node), Num(ONE)], {}, node)


@special(growing_sets.elements_of)
def listed_elements(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (held,) = args
    if is_inner(held):
        return ctx.apply(Static(growing_inner.keys_of), [held], {}, node)
    if is_growing_set(held):
        return ctx.apply_method(parts_of(ctx, held)["stored_keys"], "copy", [], node)
    if python_class(held) is not None:
        return python_items(ctx, held, node)
    return Tup(tuple(static_binding(element) for element in known_elements(ctx, held)[1]))


@special(growing_sets.begun)
def begun(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    function, *several = args
    if (inner := next(filter(is_inner, several), None)) is not None:
        like: Binding = ctx.apply(Static(growing_inner.create_like), [inner], {}, node)
        if is_ordered(like):
            operands = operands_of(ctx, function, several, node)
            pool = parts_of(ctx, pool_of(ctx, like, node))
            key = ctx.read(parts_of(ctx, like)["number"])
            python_result(ctx, dict.__setitem__, [ctx.read(pool["actual"]), key, python_result(ctx, maker(function), operands)])
        return like
    sites = tuple(dict.fromkeys(site for held in several if isinstance(held, Obj) for site in held.key.sites))
    has_order = any(map(is_ordered, several))
    result = new_record(ctx, growing_sets.OrderedSet if has_order else growing_sets.GrowingSet, [], node)
    result.key.sites = sites
    if has_order:
        operands = operands_of(ctx, function, several, node)
        content = {**dict(ctx.state.entries(result.key)), "actual": Num(python_result(ctx, maker(function), operands))}
        ctx.change(result.key, tuple(content.items()))
    return result


def maker(function: Binding) -> Any:
    """The constructor of Python's own set."""
    return set if unwrap(function) is growing_sets.new_like else unwrap(function)


def operands_of(ctx: Lowering, function: Binding, several: list[Binding], node: ast.AST) -> list[Operand]:
    """Its arguments: the sets, or the one that is copied, or none."""
    if unwrap(function) is growing_sets.new_like:
        return []
    return [actual(ctx, held, node) for held in (several[:1] if unwrap(function) is set.copy else several)]


@special(growing_sets.repeated)
def repeated(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    function, held, *others = args
    if is_ordered(held):
        is_one_set = unwrap(function) not in (set.add, set.discard)
        operands = [actual(ctx, other, node) if is_one_set else with_tuples_in(ctx, other, node) for other in others]
        python_result(ctx, unwrap(function), [actual(ctx, held, node), *operands])
    return Static(None)


@special(growing_sets.check_adding)
def check_adding(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    held, other = args
    is_dict = isinstance(other, Obj) and (other.key.kind == "dict" or is_growing(other) and other.key.cls in growing_classes.DICTS)
    if is_dict and is_ordered(held):
        raise UnsupportedSyntax(OF_KEYS, ctx.loc(node), IN_A_LIST)
    return Static(None)


@special(growing_sets.check_set)
def check_set(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    held, other = args
    if is_ordered(held) and not is_some_set(other) and not is_growing_set(other):
        what = "a set is intersected in place with an iterable that is not a set, and the program depends on its order"
        raise UnsupportedSyntax(what, ctx.loc(node), "make a new set, with intersection")
    return Static(None)


@special(growing_sets.new_of_python)
def new_of_python(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    return Num(python_result(ctx, unwrap(args[0]), []))


@special(growing_sets.enter_number)
def enter_number(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    held, element, number = args
    operands = [with_tuples_in(ctx, element, node), ctx.read(number)]
    python_result(ctx, dict.setdefault, [numbers_of(ctx, held, node), *operands])
    return Static(None)


@special(growing_sets.forget_number)
def forget_number(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    held, element = args
    python_result(ctx, dict.pop, [numbers_of(ctx, held, node), with_tuples_in(ctx, element, node)])
    return Static(None)


@special(growing_sets.numbers_in_order)
def numbers_in_order(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (held,) = args
    look_up = ctx.call("opaque_attribute", numbers_of(ctx, held, node), attribute="__getitem__")
    numbers = python_result(ctx, map, [look_up, actual(ctx, held, node)])
    return ctx.list_sharing(python_result(ctx, list, [numbers], List(INT)))


@special(growing_inner.enter_actual)
def enter_actual(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    (held,) = args
    pool, number = parts_of(ctx, pool_of(ctx, held, node)), ctx.read(parts_of(ctx, held)["number"])
    python_result(ctx, dict.setdefault, [ctx.read(pool["actual"]), number, python_result(ctx, set, [])])
    python_result(ctx, dict.setdefault, [ctx.read(pool["numbers_of_elements"]), number, python_result(ctx, dict, [])])
    return Static(None)


def is_ordered(held: Binding) -> bool:
    """Whether such a set has a Python set as its companion."""
    return isinstance(held, Obj) and held.key.cls in (growing_sets.OrderedSet, growing_inner.OrderedInnerSet)


def parts_of(ctx: Lowering, held: Binding) -> dict[str, Any]:
    """The parts of such a set, by name."""
    assert isinstance(held, Obj)
    return dict(ctx.state.entries(held.key))


def actual(ctx: Lowering, held: Binding, node: ast.AST) -> Operand:
    """The companion Python set of such a set, or the set itself."""
    if is_ordered(held):
        return companion(ctx, held, "actual", node)
    if is_growing_set(held) or is_set(held) and isinstance(held, Obj) and held.key.sites:
        ask_for_order(ctx, [held], {}, node)
    if len(known_elements(ctx, held)[1]) > 1:
        what = "a set is combined with one that is known at compile time, and the program depends on its order"
        raise UnsupportedSyntax(what, ctx.loc(node), "add its elements one by one, in a loop over a sorted list")
    return operand_of(ctx, held, node)


def result_of(
    ctx: Lowering,
    owner: Obj,
    operands: list[Operand],
    node: ast.AST,
    flatten: Callable[[Lowering, Binding, list[Operand], ast.AST], Result],
) -> Result:
    """The result for a dict with dynamic keys: its keys and its items; a set is a Python set, whose order is visible."""
    if is_growing_set(owner):
        operands.append(actual(ctx, owner, node))
        return Result("{}", 1)
    text = text_around_growing(ctx, owner, node)
    parts = tuple(flatten(ctx, part, operands, node) for part in lists_of(ctx, owner, node))
    return Result(text.format(*(part.text for part in parts)), sum(part.count for part in parts), parts, BY_KEYS)


def numbers_of(ctx: Lowering, held: Binding, node: ast.AST) -> Operand:
    """The dict with the numbers of a set's elements."""
    return companion(ctx, held, "numbers_of_elements", node)


def companion(ctx: Lowering, held: Binding, name: str, node: ast.AST) -> Operand:
    """A companion Python object of a set: in the set itself, or in its pool under its number."""
    if not is_inner(held):
        return ctx.read(parts_of(ctx, held)[name])
    pool = parts_of(ctx, pool_of(ctx, held, node))
    return python_result(ctx, dict.get, [ctx.read(pool[name]), ctx.read(parts_of(ctx, held)["number"])])


def python_result(ctx: Lowering, function: Any, operands: list[Operand], type_: Type = HELD) -> Operand:
    """The result of a Python function, called in program order."""
    return ctx.call("opaque", Const(function, function.__name__), *operands, type=type_)


__all__ = ["ORDERLESS", "is_growing_set", "new_set_at", "note_new_element", "note_order", "result_of", "set_to_grow", "without_order"]
