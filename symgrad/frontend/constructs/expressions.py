"""Literals, displays, f-strings, lambdas and subscripts to bindings."""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.growing_dicts import is_to_grow, let_grow, new_dict, new_growing, note_new_site
from symgrad.frontend.containers.stars import elements, in_one_tuple
from symgrad.frontend.flow.absent import as_python_does
from symgrad.frontend.memory.loads import load
from symgrad.frontend.objects.derived import as_base
from symgrad.frontend.objects.function_attributes import new_function
from symgrad.frontend.objects.operands import known_value, static_key
from symgrad.frontend.objects.outside import entries_of
from symgrad.frontend.objects.protocols import own_method
from symgrad.frontend.state.bindings import Binding, Missing, Num, Obj, Static, known_key
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import expression
from symgrad.frontend.values.printed import for_printing
from symgrad.ir.core import Const
from symgrad.ir.types import Scalar
from symgrad.ops.composed.growing import put_all


@expression(ast.Constant)
def constant(ctx: Lowering, node: ast.Constant) -> Binding:
    if isinstance(node.value, bool | int | float | complex):
        return Num(Const(node.value))
    return Static(node.value)


@expression(ast.Tuple)
def tuple_(ctx: Lowering, node: ast.Tuple) -> Binding:
    return in_one_tuple(ctx, elements(ctx, node.elts), node)


@expression(ast.List)
def list_(ctx: Lowering, node: ast.List) -> Binding:
    if any(isinstance(item, ast.Starred) for item in node.elts):
        return gathered(ctx, node)
    return ctx.new_object("list", enumerate(elements(ctx, node.elts)))


def gathered(ctx: Lowering, node: ast.List) -> Binding:
    """A list display with starred parts, some of which may be of any length; it is built part by part."""
    result = ctx.new_object("list", ())
    ctx.hold(result)
    for item in node.elts:
        if isinstance(item, ast.Starred):
            ctx.apply_method(result, "extend", [ctx.evaluate(item.value)], item)
        else:
            ctx.apply_method(result, "append", [ctx.evaluate(item)], item)
    return result


@expression(ast.Set)
def set_(ctx: Lowering, node: ast.Set) -> Binding:
    """A set, of static elements or of elements of one kind."""
    return ctx.apply(Static(set), [in_one_tuple(ctx, elements(ctx, node.elts), node)], {}, node)


@expression(ast.Dict)
def dict_(ctx: Lowering, node: ast.Dict) -> Binding:
    if is_to_grow(ctx, node):
        return growing_display(ctx, node)
    content: dict[Any, Binding] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            merged = entries_of(ctx, ctx.evaluate(value), value)
            if merged is None:
                note_new_site(ctx, node)
                raise UnsupportedSyntax("only a dict of known keys can be unpacked with **", ctx.loc(value))
            content.update(merged)
        else:
            sought = ctx.evaluate(key)
            if isinstance(known_key(sought), Missing):
                note_new_site(ctx, node)
            place = static_key(ctx, sought, key)
            content[place] = ctx.evaluate(value)
    return new_dict(ctx, content.items(), node)


def growing_display(ctx: Lowering, node: ast.Dict) -> Binding:
    """A dict with dynamic keys: its items are stored one after the other."""
    result = new_growing(ctx, None, node)
    ctx.hold(result)
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            ctx.apply(Static(put_all), [result, ctx.evaluate(value)], {}, value)
            continue
        sought = ctx.evaluate(key)
        ctx.hold(sought)
        ctx.apply_method(result, "__setitem__", [sought, ctx.evaluate(value)], node)
    let_grow(ctx, result)
    return result


@expression(ast.Lambda)
def lambda_(ctx: Lowering, node: ast.Lambda) -> Binding:
    return new_function(ctx, node, defaults_of(ctx, node.args))


def defaults_of(ctx: Lowering, arguments: ast.arguments) -> tuple[tuple[str, Binding], ...]:
    """The defaults of a nested function, evaluated where it is defined."""
    plain = [*arguments.posonlyargs, *arguments.args]
    defaults = [(a.arg, ctx.evaluate(d)) for a, d in zip(plain[len(plain) - len(arguments.defaults) :], arguments.defaults, strict=True)]
    defaults += [(a.arg, ctx.evaluate(d)) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return tuple(defaults)


@expression(ast.JoinedStr)
def formatted_text(ctx: Lowering, node: ast.JoinedStr) -> Binding:
    """A text of values, each of which is formatted as it is when it is evaluated."""
    template, values = "", []
    for k, part in enumerate(node.values):
        match part:
            case ast.Constant(value=str(text)):
                template += text.replace("{", "{{").replace("}", "}}")
            case ast.FormattedValue():
                form, held = formatted(ctx, part, is_last=k == len(node.values) - 1)
                template += form
                values.append(held)
    plain = [item for v in values for item in known_value(v)]
    if len(plain) == len(values):
        return Static(as_python_does(ctx, node, lambda: template.format(*plain)))
    return Num(ctx.call("format_text", Const(template), *[ctx.read(v, node) for v in values]))


def formatted(ctx: Lowering, part: ast.FormattedValue, is_last: bool) -> tuple[str, Binding]:
    """A value in an f-string: its placeholder in the template, and the binding that goes there.

    A value that may change before the whole text is built is converted to text at once.
    """
    value, conversion, form = part.value, max(part.conversion, 0), ""
    held = ctx.evaluate(value)
    if part.format_spec is not None:
        spec = ctx.evaluate(part.format_spec)
        if not isinstance(spec, Static):
            what = "a format that is computed cannot be differentiated"
            raise UnsupportedSyntax(what, ctx.loc(part.format_spec), "write it as a literal")
        form = f":{spec.value}"
    if not conversion and own_method(ctx, held, "__format__") is not None:
        held, form = ctx.apply(Static(format, "format"), [held, Static(form[1:])], {}, value), ""
    if form and not conversion:
        held = as_base(ctx, held, "__format__", "__str__", "__repr__")
    if form and not conversion and isinstance(held, Obj) and held.key.kind == "record":
        raise UnsupportedSyntax("a format of an instance is not supported", ctx.loc(value), "format its attributes")
    template = "{" + (f"!{chr(conversion)}" if conversion else "") + form + "}"
    if len(known_value(held)) == 1:
        return template, held
    text = Num(for_printing(ctx, held, value, "__repr__" if conversion and chr(conversion) in "ra" else "__str__"))
    if is_last or isinstance(held, Num) and isinstance(held.operand.type, Scalar):
        return template, text
    return "{}", Num(ctx.call("format_text", Const(template), text.operand))


@expression(ast.NamedExpr)
def walrus(ctx: Lowering, node: ast.NamedExpr) -> Binding:
    value = ctx.evaluate(node.value)
    frame, target = ctx.frame, node.target.id
    while frame.parent is not None and target not in frame.locals and frame.parent.source is frame.source:
        frame = frame.parent
    kept, ctx.frame = ctx.frame, frame
    ctx.assign(target, value, node)
    home = ctx.home(target)
    if home is not None and home.top and target in ctx.no_grad:
        value = ctx.state.names[home, target]  # the bound variable carries no derivative, and is the value of the expression
    ctx.frame = kept
    return value


@expression(ast.Subscript)
def subscript(ctx: Lowering, node: ast.Subscript) -> Binding:
    return load(ctx, ctx.evaluate(node.value), node.slice, node)
