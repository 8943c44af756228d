"""Statements to ops: assignment in all its forms, exits, assert and raise, try and with."""

from __future__ import annotations

import ast
import functools
import sys
import types
from dataclasses import replace
from typing import Any

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.calls.attributes import attribute_of
from symgrad.frontend.constructs.expressions import defaults_of
from symgrad.frontend.constructs.targets import bind, cut_stored, delete_attribute, store_attribute
from symgrad.frontend.constructs.verbatim import Beginning, as_written, begin, evaluated, name_view
from symgrad.frontend.containers.generators import yielded
from symgrad.frontend.containers.growing_dicts import check_known
from symgrad.frontend.flow.absent import argument
from symgrad.frontend.flow.edges import fail
from symgrad.frontend.flow.flow import branch, leave, run
from symgrad.frontend.functions.memoised import KEEPS
from symgrad.frontend.memory.loads import load, subscript
from symgrad.frontend.memory.stores import check_axes, check_cast, delete_item, is_changed_there, store_item
from symgrad.frontend.objects.derived import as_base, defined_by_base, is_derived
from symgrad.frontend.objects.dicts import SET_OPERATORS, is_dict, is_set, merged
from symgrad.frontend.objects.function_attributes import new_function
from symgrad.frontend.objects.operands import as_array, known_value
from symgrad.frontend.objects.outside import change_outside, outside, variable_of_module
from symgrad.frontend.objects.protocols import OWN_OPERATORS, own_method
from symgrad.frontend.objects.python_values import refuse_change
from symgrad.frontend.objects.reading import LIBRARIES, absolute_name, module_named, name_in_module
from symgrad.frontend.state.bindings import MISSING, Binding, External, Fun, Obj, Ref, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import AssignedOutside
from symgrad.frontend.state.program_state import BREAK, CONTINUE, RESULT, RETURN
from symgrad.frontend.state.reach import holders
from symgrad.frontend.state.tables import statement
from symgrad.frontend.values.operators import binary, first_answer, is_of_numpy
from symgrad.frontend.values.truths import condition
from symgrad.ir.core import Call
from symgrad.ir.types import Array, List, Scalar, is_plural, same_extent
from symgrad.ops.declare import ROWS
from symgrad.ops.shapes import rank_of


@statement(ast.Assign)
def assign(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if all(isinstance(t, ast.Tuple | ast.List) for t in node.targets):
        ctx.unpacked = node.value
    is_named = all(isinstance(target, ast.Name) for target in node.targets)
    height = len(ctx.state.operands)
    value = evaluated(ctx, node.value, is_named) if ctx.keeps_text else ctx.evaluate(node.value)
    if len(node.targets) == 1 and isinstance(node.targets[0], ast.Subscript):
        ctx.handing = height  # the operation that stores the value in an object is its last use
    for target in node.targets:
        bind(ctx, target, value)
        if ctx.keeps_text and isinstance(target, ast.Name):
            name_view(ctx, target.id, value)


@statement(ast.AnnAssign)
def annotated(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if node.value is not None:
        bind(ctx, node.target, evaluated(ctx, node.value, isinstance(node.target, ast.Name)))


@statement(ast.AugAssign)
def augmented(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    """``target op= value``: in place on arrays, a new binding on numbers."""
    begun = begin(ctx)
    match node.target:
        case ast.Name(id=name):
            old = ctx.evaluate(ast.copy_location(ast.Name(name, ast.Load()), node.target))
            value = ctx.evaluate(node.value)
            result = in_place(ctx, old, value, node, begun)
            if result is not None:
                ctx.assign(name, result, node)
            elif name in ctx.no_grad:
                cut_stored(ctx, node.target)
        case ast.Subscript():
            owner = ctx.evaluate(node.target.value)
            index = subscript(ctx, owner, node.target.slice)
            old = load(ctx, owner, index, node.target)
            ctx.hold(old)
            value = ctx.evaluate(node.value)
            of_array = isinstance(owner, Ref) and isinstance(ctx.type_of(owner), Array)
            unsure = of_array and isinstance(old, Ref) and getattr(ctx.type_of(old), "shape", ()) is None
            # a view or a copy: writing the result back is right for both
            result = binary(ctx, type(node.op), old, value, node) if unsure else in_place(ctx, old, value, node, begun)
            is_view = isinstance(old, Ref) and isinstance(owner, Ref) and old.location is owner.location
            if result is not None or not is_view and not is_changed_there(owner, old):
                # a result of an index that copies is written back, as Python does
                store_item(ctx, owner, index, result if result is not None else old, node.target)
            cut_stored(ctx, node.target)
        case ast.Attribute():
            owner = ctx.evaluate(node.target.value)
            old = attribute_of(ctx, owner, ctx.frame.source.mangle(node.target.attr), node.target)
            ctx.hold(old)
            result = in_place(ctx, old, ctx.evaluate(node.value), node)
            # a value that was changed in place is assigned, too: a setter is called
            store_attribute(ctx, owner, node.target, old if result is None else result)


def in_full(node: ast.AugAssign) -> str:
    """The plain assignment that is equivalent to an augmented assignment which creates a new value.

    >>> in_full(ast.parse("a[i] *= b + c").body[0])
    'a[i] = a[i] * (b + c)'
    """
    target = ast.unparse(node.target)
    return f"{target} = {ast.unparse(ast.BinOp(ast.parse(target, mode='eval').body, node.op, node.value))}"


def combined(ctx: Lowering, old: Binding, value: Binding, node: ast.AugAssign, begun: Beginning | None) -> Binding:
    """``old op value`` of an augmented assignment whose evaluation began at ``begun``."""
    result = binary(ctx, type(node.op), old, value, node)
    if begun is None:
        return result
    whole = ast.copy_location(ast.BinOp(node.target, node.op, node.value), node)
    return as_written(ctx, whole, result, begun, is_augmented=True)


def is_asked_first(ctx: Lowering, value: Binding) -> bool:
    """Whether a value defines an addition that Python calls before it extends a list."""
    type_ = ctx.type_of(value)
    if isinstance(type_, Scalar) and type_.dtype == "any":
        what = "whether this is a number of Python's or of NumPy's is not known: a list takes neither, and NumPy makes an array"
        raise UnknownType(what, ctx.builder.loc, "append the number to the list, or add it to np.array of the list")
    return is_of_numpy(ctx, value) or own_method(ctx, value, "__radd__") is not None


def in_place_of_base(ctx: Lowering, old: Obj, value: Binding, node: ast.AugAssign, begun: Beginning | None) -> Binding | None:
    """The same for an instance whose class inherits it from a list or dict, which changes in place; or a new value."""
    if isinstance(node.op, ast.Add) and issubclass(old.key.cls, list):  # whatever ``__radd__`` of the other operand does
        ctx.apply_method(as_base(ctx, old), "extend", [value], node)
        return None
    repeats = isinstance(node.op, ast.Mult) and all(defined_by_base(old.key.cls, word) for word in ("__mul__", "__rmul__"))
    if not (repeats or isinstance(node.op, ast.BitOr)):  # Python tries a product before it changes a list
        return combined(ctx, old, value, node, begun)
    return in_place(ctx, as_base(ctx, old), as_base(ctx, value) if isinstance(node.op, ast.BitOr) else value, node, begun)


def in_place(ctx: Lowering, old: Binding, value: Binding, node: ast.AugAssign, begun: Beginning | None = None) -> Binding | None:
    """``old op= value``; None if memory was changed, else the new binding of the target."""
    old = argument(ctx, old, node)
    word = f"__i{OWN_OPERATORS.get(type(node.op))}__"
    if is_derived(old) and own_method(ctx, old, word) is None:
        return in_place_of_base(ctx, old, value, node, begun)
    if isinstance(old, External) and isinstance(old.value, list | dict):
        change_outside(ctx, old)
    if isinstance(old, Obj) and (old.key.cls is tuple or old.key.exact is frozenset):  # these are immutable
        return binary(ctx, type(node.op), old, value, node)
    if isinstance(old, Obj) and old.key.kind == "list" and isinstance(node.op, ast.Add):
        if is_asked_first(ctx, value):
            return binary(ctx, ast.Add, old, value, node)
        ctx.apply_method(old, "extend", [value], node)
        return None
    if isinstance(node.op, ast.BitOr) and is_dict(old):
        check_known(ctx, old, value, node)
    if isinstance(node.op, ast.BitOr) and is_dict(old) and is_dict(value):
        merged(ctx, old, value, into=True)
        return None
    is_repeated = isinstance(node.op, ast.Mult) and isinstance(old, Obj) and old.key.kind == "list"
    if isinstance(old, Obj) and (is_repeated or is_set(old) and is_set(value) and type(node.op) in SET_OPERATORS):
        replacement = binary(ctx, type(node.op), old, value, node)
        if not isinstance(replacement, Obj):
            return replacement
        ctx.change(old.key, ctx.state.heap[replacement.key])
        return None
    refuse_change(ctx, type(node.op), old, value, node)
    if (answer := first_answer(ctx, [(old, value, word)], old, node)) is not None:
        return answer
    if not isinstance(old, Ref):
        if ctx.may_be_list(old):
            what = "whether this changes a list or array in place or makes a new number is not known"
            raise UnknownType(what, ctx.loc(node), f"write {in_full(node)}, or keep values of each kind in a separate list")
        return combined(ctx, old, value, node, begun)
    type_ = ctx.type_of(old)
    if isinstance(type_, List):
        return binary(ctx, type(node.op), old, value, node)
    if isinstance(type_, Array) and type_.shape is not None:
        if isinstance(node.op, ast.MatMult) and rank_of(ctx.type_of(as_array(ctx, value, node))) == 1:
            what = "inplace matrix multiplication requires the first operand to have at least one and the second at least two dimensions."
            fail(ctx, ValueError, what)
        result = ctx.read(combined(ctx, old, value, node, begun), node)
        check_cast(ctx, type_, result, node)
        check_axes(ctx, type_, result, node)
        keep_shape(ctx, type_, result)
        ctx.store(old, result)
        return None
    if ctx.state.near(old.location) or old.path or holders(old.location, ctx.state) > 1:
        what = "whether this changes an array in place or makes a new number is not known"
        raise UnknownType(what, ctx.loc(node), f"write {in_full(node)}")
    return binary(ctx, type(node.op), old, value, node)


def keep_shape(ctx: Lowering, type_: Array, value: Any) -> None:
    """Give the result of an in-place operation its target's shape, if the operation itself raises for any other shape.

    If an extent of the target may be 1, the result may be larger; then the store raises.
    """
    last = ctx.builder.block.ops[-1] if ctx.builder.block.ops else None
    value_type = value.type
    if isinstance(last, Call) and last.outs == [value] and ROWS[last.name].elementwise and isinstance(value_type, Array):
        own, wider = type_.shape, value_type.shape
        if own is None or wider is None or len(own) != len(wider):
            return
        if all(is_plural(extent) or same_extent(extent, other) for extent, other in zip(own, wider, strict=True)):
            value.type = replace(value_type, shape=own)


@statement(ast.Delete)
def delete(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    for target in node.targets:
        match target:
            case ast.Name(id=name) if ctx.home(name) is None and ctx.outer_key(name) in ctx.assigned_outside:
                raise UnsupportedSyntax(f"global variable {name!r} is deleted", ctx.loc(target), "bind it to None instead")
            case ast.Name(id=name):
                ctx.state.names[(ctx.home(name) or ctx.frame), name] = MISSING
            case ast.Subscript():
                delete_item(ctx, ctx.evaluate(target.value), target)
            case ast.Attribute():
                delete_attribute(ctx, ctx.evaluate(target.value), target)


@statement(ast.Expr)
def bare(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    if isinstance(node.value, ast.Yield | ast.YieldFrom):
        return yielded(ctx, node.value, rest)
    if not isinstance(node.value, ast.Constant):
        ctx.evaluate(node.value)
    return False


@statement(ast.Pass)
def pass_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    pass


#: decorators that do not change the function's result
UNSEEN = (*KEEPS, functools.wraps)


@statement(ast.FunctionDef)
def nested(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    decorators = [(decorator, decorator_of(ctx, decorator)) for decorator in node.decorator_list]
    function: Binding = new_function(ctx, node, defaults_of(ctx, node.args))
    for decorator, held in reversed(decorators):
        if (known := known_value(held)) and known[0] in UNSEEN:
            function = replace(function, keeps=True) if known[0] in KEEPS and isinstance(function, Fun) else function
            continue
        function = ctx.apply(held, [function], {}, decorator)
    ctx.assign(node.name, function, node)


def decorator_of(ctx: Lowering, node: ast.expr) -> Binding:
    """The decorator; for a call of one in ``UNSEEN``, the function that is called."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        held = ctx.evaluate(node.func)
        if (known := known_value(held)) and known[0] in UNSEEN:
            return held
    return ctx.evaluate(node)


def imported(ctx: Lowering, find: Any, *names: str) -> Any:
    """The result of an import; where there is none, the program raises as Python does when it comes here."""
    try:
        return find(ctx, *names)
    except ImportError as error:
        fail(ctx, type(error), str(error))


@statement(ast.Import)
def import_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    for alias in node.names:
        home = alias.name.partition(".")[0]
        named_module = imported(ctx, module_named, alias.name)
        module = named_module if alias.asname or home == alias.name else module_named(ctx, home)
        ctx.assign(alias.asname or home, Static(module, module.__name__))


@statement(ast.ImportFrom)
def import_from(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    module = absolute_name(ctx, node.module or "", node.level)
    for alias in node.names:
        if (assigned := variable_of_module(ctx, sys.modules.get(module), alias.name, node)) is not None:
            ctx.assign(alias.asname or alias.name, assigned)
            continue
        value, text = imported(ctx, name_in_module, module, alias.name)
        as_it_is = module.partition(".")[0] in LIBRARIES or isinstance(value, types.ModuleType)
        binding = Static(value, f"{module}.{alias.name}") if as_it_is else outside(ctx, value, text, alias.name)
        ctx.assign(alias.asname or alias.name, binding)


@statement(ast.Nonlocal)
def nonlocal_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    """Exclude the names from the frame's locals, so that assignment finds their home; one without a home is outside the program."""
    global_(ctx, node, rest)


@statement(ast.Global)
def global_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    for name in node.names:
        if ctx.home(name) is None and (key := ctx.outer_key(name)) not in ctx.assigned_outside:
            raise AssignedOutside(key, ctx.frame.source)


@statement(ast.If)
def if_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    test = condition(ctx, node.test)
    loc = ctx.loc(node.test)
    return branch(ctx, test, lambda: run(ctx, node.body), lambda: run(ctx, node.orelse), rest, loc)


@statement(ast.Break)
def break_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    leave(ctx, BREAK)


@statement(ast.Continue)
def continue_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    leave(ctx, CONTINUE)


@statement(ast.Return)
def return_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    evaluate = evaluated if ctx.keeps_text else Lowering.evaluate
    value = Static(None) if node.value is None else evaluate(ctx, node.value)
    ctx.state.names[ctx.frame, RESULT] = value
    leave(ctx, RETURN)
