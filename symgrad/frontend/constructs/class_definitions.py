"""``class`` statements in functions: the class is created while compiling, and its methods are nested functions of the enclosing frame.

The class is a real one, so that everything asked of a class is answered as for one from outside. Its methods are placeholders without a
body; a call of one is a call of the nested function that it represents (``SharedState.methods``).
"""

from __future__ import annotations

import abc
import ast
import collections
import dataclasses
import functools
import types
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.constructs.expressions import defaults_of
from symgrad.frontend.flow.absent import as_python_does
from symgrad.frontend.objects.function_attributes import new_function
from symgrad.frontend.objects.operands import known_value, unwrap
from symgrad.frontend.state.bindings import Binding, Fun, Num, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special, statement
from symgrad.frontend.text.source import own_nodes
from symgrad.ir.core import Call, Const, Func, reachable, walk

#: decorators that are applied to placeholders, and to the class itself
OF_METHODS = (property, staticmethod, classmethod, functools.cached_property, abc.abstractmethod)
OF_CLASSES = (dataclasses.dataclass, functools.total_ordering)
#: modules of classes and metaclasses whose creation of a class has no effect
OF_PYTHON = frozenset({"abc", "builtins", "collections", "dataclasses", "enum", "typing"})


@statement(ast.ClassDef)
def class_definition(ctx: Lowering, node: ast.ClassDef, rest: list[ast.stmt]) -> None:
    """Create the class, and bind its name."""
    check_supported(ctx, node)
    before = len(ctx.methods)
    decorators = [decorator_of(ctx, one) for one in node.decorator_list]
    bases = tuple(constant(ctx, base) for base in node.bases)
    words = {str(word.arg): constant(ctx, word.value) for word in node.keywords}
    check_bases(ctx, bases, words.get("metaclass", type), node)
    source = ctx.frame.source
    content: dict[str, Any] = {"__module__": source.function.__module__, "__qualname__": source.qualname_of(node), "__annotations__": {}}
    for part in node.body:
        define(ctx, part, content)

    def create() -> Any:
        resolved = types.resolve_bases(bases)
        whole = content if resolved is bases else {**content, "__orig_bases__": bases}
        cls = types.new_class(node.name, resolved, words, lambda names: names.update(whole))
        return functools.reduce(lambda held, decorator: decorator(held), reversed(decorators), cls)

    cls = as_python_does(ctx, node, create)
    ctx.definitions |= {(held.node, held.frame): cls for held in [*ctx.methods.values()][before:]}
    ctx.defined_classes.add(cls)
    ctx.assign(node.name, Static(cls, node.name), node)


def refused(ctx: Lowering, what: str, node: ast.AST) -> UnsupportedSyntax:
    """The refusal of a part of a class."""
    return UnsupportedSyntax(what, ctx.loc(node), "write it outside the function")


def check_supported(ctx: Lowering, node: ast.ClassDef) -> None:
    """Refuse a class in a loop, which is another one in each iteration, and methods that assign to variables of the function."""
    if ctx.nested:
        raise refused(ctx, "a class definition in a branch or loop is not supported", node)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Nonlocal | ast.Global):
            raise refused(ctx, "a method of a class in a function assigns to variables outside of it", inner)
        private = getattr(inner, "attr", None) or getattr(inner, "id", None) or getattr(inner, "name", None)
        if isinstance(private, str) and private.startswith("__") and not private.endswith("__"):
            raise refused(ctx, f"the private name {private!r} in a class in a function is not supported", inner)
    bound = {part.name for part in node.body if isinstance(part, ast.FunctionDef)}
    bound |= {name.id for part in node.body for name in own_nodes([part]) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)}
    for part in node.body:
        defaults = [*part.args.defaults, *filter(None, part.args.kw_defaults)] if isinstance(part, ast.FunctionDef) else []
        values = [part.value] if isinstance(part, ast.Assign | ast.AnnAssign) and part.value is not None else defaults
        for name in own_nodes([value for value in values if not isinstance(value, ast.Name) or isinstance(part, ast.FunctionDef)]):
            if isinstance(name, ast.Name) and name.id in bound:
                raise refused(ctx, "a value in the body of a class in a function reads another attribute of the class", name)


def check_bases(ctx: Lowering, bases: tuple[Any, ...], metaclass: Any, node: ast.ClassDef) -> None:
    """Refuse base classes and metaclasses that run the user's code when a class is created: it would run at the first call only."""
    kinds = [metaclass, *(type(base) for base in bases)]
    if any(kind.__module__ not in OF_PYTHON for kind in kinds if isinstance(kind, type) and issubclass(kind, type)):
        raise refused(ctx, "a metaclass of the program's creates a class in a function", node)
    above = [cls for base in bases if isinstance(base, type) for cls in base.__mro__]
    if any("__init_subclass__" in vars(cls) for cls in above if cls.__module__ not in OF_PYTHON):
        raise refused(ctx, "a base class of a class in a function has an __init_subclass__", node)


def check_kept(ctx: Lowering, func: Func) -> None:
    """Refuse that a class defined in the function, or an instance of it, escapes to other code: its methods have no body there.

    An exception without methods may leave the function.
    """
    with_methods = set(ctx.definitions.values())
    for op in [op for reached in reachable(func) for op in walk(reached.body)]:
        for known in [operand.value for operand in op.operands if isinstance(operand, Const)]:
            is_placeholder = isinstance(known, types.FunctionType) and known in ctx.methods
            cls = known if isinstance(known, type) else type(known)
            raised = isinstance(op, Call) and op.name == "raise_error" and with_methods.isdisjoint(cls.__mro__)
            if is_placeholder or cls in ctx.defined_classes and not raised:
                name = (known if is_placeholder else cls).__name__
                what = f"{name} is defined by the function, and code outside of it gets the class or an instance"
                raise UnsupportedSyntax(what, op.loc, "write the class outside the function")
    returned = [operand.value for operand in func.body.yields if isinstance(operand, Const)]
    check_result(ctx, next((known for known in returned if isinstance(known, type)), None))


def check_result(ctx: Lowering, cls: type | None) -> None:
    """Refuse a class that the function defines, or of whose instances one is returned."""
    if cls in ctx.defined_classes:
        what = f"the class {getattr(cls, '__name__', '')}, which the function defines, or an instance of it is returned"
        raise UnsupportedSyntax(what, ctx.builder.loc, "write the class outside the function")


@special(collections.namedtuple)
def named_tuple(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A named tuple whose fields are static."""
    known, words = [unwrap(a) for a in args], {name: unwrap(held) for name, held in kwargs.items()}
    words.setdefault("module", ctx.frame.source.function.__module__)
    cls = as_python_does(ctx, node, lambda: collections.namedtuple(*known, **words))
    ctx.defined_classes.add(cls)
    return Static(cls)


def define(ctx: Lowering, part: ast.stmt, content: dict[str, Any]) -> None:
    """One statement of the class body."""
    match part:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            pass
        case ast.FunctionDef():
            held: Any = placeholder(ctx, new_function(ctx, part, defaults_of(ctx, part.args)), part.name)
            for decorator in reversed(part.decorator_list):
                held = decorated(ctx, decorator, held, content)
            content[part.name] = held
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if other in content:
            content[name] = content[other]
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            content[name] = constant(ctx, value)
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
            content["__annotations__"][name] = annotation_of(ctx, annotation)
            if value is not None:
                content[name] = constant(ctx, value)
        case _:
            raise refused(ctx, "this statement in the body of a class in a function is not supported", part)


def placeholder(ctx: Lowering, function: Fun, name: str) -> types.FunctionType:
    """A function without a body, whose call is a call of a nested one."""

    def method(*args: Any, **kwargs: Any) -> None:
        """Raise, because the body is part of the derivative only."""
        raise UnsupportedSyntax(
            f"method {name!r} of a class that a function defines is called from outside", hint="write the class outside"
        )

    method.__name__ = method.__qualname__ = name
    method.__module__ = ctx.frame.source.function.__module__
    assert isinstance(method, types.FunctionType)
    ctx.methods[method] = function
    return method


def decorated(ctx: Lowering, node: ast.expr, held: Any, content: dict[str, Any]) -> Any:
    """A method with a decorator, which is one of Python's, or the setter of a property of the class."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and isinstance(own := content.get(node.value.id), property):
        if node.attr in ("getter", "setter", "deleter"):
            return getattr(own, node.attr)(held)
    decorator = constant(ctx, node)
    if decorator not in OF_METHODS:
        raise refused(ctx, "this decorator of a method of a class in a function is not supported", node)
    return decorator(held)


def decorator_of(ctx: Lowering, node: ast.expr) -> Any:
    """A decorator of the class, perhaps with arguments."""
    called, words = (node.func, node.keywords) if isinstance(node, ast.Call) and not node.args else (node, [])
    decorator = constant(ctx, called)
    if decorator not in OF_CLASSES:
        raise refused(ctx, "this decorator of a class in a function is not supported", node)
    return functools.partial(decorator, **{str(word.arg): constant(ctx, word.value) for word in words}) if words else decorator


def constant(ctx: Lowering, node: ast.expr) -> Any:
    """A value that is part of the class: a constant, a function, or ``dataclasses.field`` of these."""
    if isinstance(node, ast.Call) and not node.args and known_value(ctx.evaluate(node.func)) == [dataclasses.field]:
        words = {str(word.arg): constant(ctx, word.value) for word in node.keywords}
        return as_python_does(ctx, node, lambda: dataclasses.field(**words))
    held = ctx.evaluate(node)
    if isinstance(held, Fun):
        return placeholder(ctx, held, "<lambda>")
    known = known_value(held) if isinstance(held, Static | Num | Tup) else []
    if len(known) != 1:
        raise refused(ctx, "a value in a class in a function is computed by the program, or may be changed", node)
    return known[0]


def annotation_of(ctx: Lowering, node: ast.expr) -> Any:
    """The annotation of a field. It is not evaluated; ``ClassVar``, ``InitVar`` and calls are refused."""
    is_called = any(isinstance(inner, ast.Call | ast.NamedExpr) for inner in ast.walk(node))
    if is_called or any(word in ast.unparse(node) for word in ("ClassVar", "InitVar", "KW_ONLY")):
        raise refused(ctx, "this annotation in a class in a function is not supported", node)
    return object
