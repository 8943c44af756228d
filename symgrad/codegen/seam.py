"""The Python printer: an ``ast`` tree -> text; also the small trees that the writer builds statements from.

astor prints, through a subclass that corrects its errors on today's Python. The tree is copied first, because astor writes on the nodes
and fails on shared ones. The text is parsed again and compared with the tree; where the two differ ``ast.unparse`` prints instead.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Iterator
from typing import Any

from symgrad.text import is_name

with warnings.catch_warnings():  # astor 0.8.1 names classes of ast that are deprecated
    warnings.simplefilter("ignore")
    from astor.code_gen import SourceGenerator, set_precedence
    from astor.op_util import Precedence

from symgrad.text import docstring, exact, quoted

SIMPLE = (ast.Name, ast.Constant, ast.Attribute)


class Printer(SourceGenerator):  # type: ignore[misc]
    """astor's printer with corrections for strings, powers and definitions; lines are never wrapped."""

    def visit_Constant(self, node: ast.Constant) -> None:
        """Print a literal; strings in double quotes, on one line."""
        if isinstance(node.value, str):
            self.write(quoted(node.value))
        elif isinstance(node.value, complex):
            self.write(ast.unparse(node))
        else:
            super().visit_Constant(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Print an f-string, which astor cannot do from Python 3.14 on."""
        self.write(ast.unparse(node))

    def visit_Expr(self, node: ast.Expr) -> None:
        """Print a docstring, or an expression statement."""
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            self.newline(node)
            self.write(docstring(node.value.value))
        else:
            super().visit_Expr(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Print an operation; a power of simple operands has no spaces."""
        if not isinstance(node.op, ast.Pow) or not (is_simple(node.left) and is_simple(node.right)):
            super().visit_BinOp(node)
            return
        with self.delimit(node, node.op):
            set_precedence(Precedence.Pow + 1, node.left)
            set_precedence(Precedence.PowRHS, node.right)
            self.write(node.left, "**", node.right)

    def visit_FunctionDef(self, node: ast.FunctionDef, is_async: bool = False) -> None:
        """Print a definition, without blank lines around it."""
        if node.decorator_list or is_async or getattr(node, "type_params", None):
            raise NotImplementedError("a definition that is not emitted")
        self.newline(node)
        self.write("def ", node.name, "(")
        self.visit_arguments(node.args)
        self.write(")")
        if node.returns is not None:
            self.write(" -> ", node.returns)
        self.write(":")
        self.body(node.body)


def is_simple(node: ast.expr) -> bool:
    """Whether the node may be next to ``**`` without spaces."""
    return isinstance(node, SIMPLE) or isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant)


class Fields(dict[Any, tuple[str, ...]]):
    """The significant fields of each node class, cached: all but contexts and type comments."""

    def __missing__(self, kind: Any) -> tuple[str, ...]:
        self[kind] = fields = tuple(name for name in kind._fields if name not in ("ctx", "kind", "type_comment"))
        return fields


FIELDS = Fields()


def nodes(tree: Any) -> Iterator[ast.AST]:
    """Every node of a tree, or of a list of trees, except contexts."""
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, ast.AST):
            yield node
            pending += [getattr(node, name, None) for name in FIELDS[type(node)]]


def unshared(node: Any) -> Any:
    """A copy of a tree without shared nodes, with negative numbers as ``-`` applied to positive ones."""
    kind: Any = type(node)
    if kind is list:
        return [unshared(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Constant):
        value = exact(node.value)
        if isinstance(value, int | float) and str(value).startswith("-"):
            return ast.UnaryOp(ast.USub(), ast.Constant(-value))
        return ast.Constant(value, kind=None)
    copy = kind.__new__(kind)
    for name in FIELDS[kind]:
        value = getattr(node, name, None)
        setattr(copy, name, unshared(value) if isinstance(value, ast.AST | list) else value)
    return copy


def to_text(tree: ast.Module) -> tuple[str, ast.Module]:
    """The text of a module, and the tree parsed from that text.

    >>> a = ast.Name("a")
    >>> power = ast.BinOp(ast.UnaryOp(ast.USub(), ast.Constant(2.0)), ast.Pow(), a)
    >>> print(to_text(ast.Module([ast.Expr(power)], []))[0])
    (-2.0)**a
    <BLANKLINE>
    """
    tree = unshared(tree)
    try:
        text = printed(tree)
        read = ast.parse(text)
        if is_same_tree(read, tree):
            return text, read
    except (AttributeError, AssertionError, NotImplementedError, SyntaxError, TypeError, ValueError):
        pass
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    read = ast.parse(text)
    if not is_same_tree(read, tree):
        raise AssertionError(f"a tree that cannot be printed: {text}")
    return text, read


def to_run(tree: ast.Module) -> ast.Module:
    """The module in the form that Python compiles, for code that is never printed.

    >>> space = {}
    >>> a, b = ast.Name("a"), ast.Name("b")
    >>> swapped = ast.Assign([ast.Tuple([a, b])], ast.Tuple([b, a]))
    >>> start = ast.Assign([ast.Tuple([a, b])], ast.Tuple([ast.Constant(-1), ast.Constant(2)]))
    >>> exec(compile(to_run(ast.Module([start, swapped], [])), "text", "exec"), space)
    >>> space["a"], space["b"]
    (2, -1)
    """
    module: ast.Module = in_place(tree, LOAD)
    return module


LOAD, STORE, DELETE = ast.Load(), ast.Store(), ast.Del()
#: fields that hold assignment targets
TARGETS = frozenset({"target", "targets", "optional_vars"})


def in_place(node: Any, context: ast.expr_context) -> Any:
    """A copy as by ``unshared``, with positions and contexts set."""
    kind: Any = type(node)
    if kind is list:
        return [in_place(item, context) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if kind is ast.Constant:
        node = unshared(node)
        kind = type(node)
    copy = kind.__new__(kind)
    if kind._attributes:
        copy.lineno, copy.col_offset = 1, 0
    if "ctx" in kind._fields:
        copy.ctx = context
    for name in FIELDS[kind]:
        value = getattr(node, name, None)
        if isinstance(value, ast.AST | list):
            if name in TARGETS:
                value = in_place(value, DELETE if kind is ast.Delete else STORE)
            else:
                value = in_place(value, context if kind in (ast.Tuple, ast.List, ast.Starred) else LOAD)
        setattr(copy, name, value)
    if kind is ast.Constant:
        copy.kind = None
    return copy


def is_same_tree(a: Any, b: Any) -> bool:
    """Whether two trees are the same program; contexts and positions do not count."""
    kind: Any = type(a)
    if kind is not type(b):
        return not a and not b and (a is None or b is None) and (isinstance(a, list) or isinstance(b, list))
    if kind is str:
        return bool(a == b)
    if kind is list:
        return len(a) == len(b) and all(map(is_same_tree, a, b))
    if isinstance(a, ast.AST):
        for name in FIELDS[kind]:
            one, other = getattr(a, name, None), getattr(b, name, None)
            if one is not other and not is_same_tree(one, other):
                return False
        return True
    return repr(a) == repr(b)


def printed(tree: ast.Module) -> str:
    """The tree printed by the corrected astor."""
    generator = Printer("    ")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        generator.visit(tree)
    return "".join(generator.result).strip("\n") + "\n"


# ------------------------------------------------------------------ small trees


def assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    """``target = value``."""
    return ast.Assign([target], value)


def tuple_of(items: list[ast.expr]) -> ast.expr:
    """One expression, or a tuple of several."""
    return items[0] if len(items) == 1 else ast.Tuple(items)


def negated(test: ast.expr) -> ast.expr:
    """``not test``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def method(base: ast.expr, name: str, *args: ast.expr) -> ast.expr:
    """``base.name(*args)``."""
    return ast.Call(ast.Attribute(base, name), list(args), [])


def as_statement(function: Any, call: ast.expr) -> ast.stmt:
    """A call that is evaluated for its effect, as the equivalent statement where there is one."""
    match call:
        case ast.Call(args=[owner, ast.Constant(value=name), value]) if function is setattr and is_name(name):
            return assign(ast.Attribute(owner, name), value)
        case ast.Call(args=[owner, ast.Constant(value=name)]) if function is delattr and is_name(name):
            return ast.Delete([ast.Attribute(owner, name)])
        case ast.Call(args=[owner, key, value]) if function is operator.setitem:
            return assign(ast.Subscript(owner, as_index(key)), value)
        case ast.Call(args=[owner, key]) if function is operator.delitem:
            return ast.Delete([ast.Subscript(owner, as_index(key))])
    return ast.Expr(call)


def as_index(key: ast.expr) -> ast.expr:
    """``a:b`` for ``slice(a, b)``."""
    match key:
        case ast.Call(func=ast.Name(id="slice"), args=[start, stop], keywords=[]):
            return ast.Slice(start, stop)
    return key


def subtracted(statement: ast.stmt) -> ast.stmt:
    """``x -= v`` for ``x += -v``, and ``x -= 2.0 * v`` for ``x += -2.0 * v``."""
    match statement:
        case ast.AugAssign(target=target, op=ast.Add(), value=value) if (positive := opposite(value)) is not None:
            return ast.AugAssign(target, ast.Sub(), positive)
        case ast.AugAssign(op=ast.Add(), value=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            return statement
        case ast.AugAssign(target=target, op=ast.Add(), value=ast.UnaryOp(op=ast.USub(), operand=value)):
            return ast.AugAssign(target, ast.Sub(), value)
    return statement


def opposite(term: ast.expr) -> ast.expr | None:
    """``2.0`` for ``-2.0`` and ``2.0 * v`` for ``-2.0 * v``, if the number is a float: then no rounding differs."""
    match term:
        case ast.Constant(value=float() as value) if value < 0:
            return ast.Constant(-value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float()) as number):
            return number
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as operator, right=right) if (positive := opposite(left)) is not None:
            return ast.BinOp(positive, operator, right)
    return None


def replaced(node: Any, space: dict[str, ast.expr]) -> Any:
    """A copy of a tree with names replaced."""
    if isinstance(node, list):
        return [replaced(item, space) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and node.id in space:
        return space[node.id]
    return type(node)(**{name: replaced(value, space) for name, value in ast.iter_fields(node)})
