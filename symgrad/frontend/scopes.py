"""Scopes: the names that a piece of source binds, and the function each belongs to, from the syntax tree alone."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache


def assigned(nodes: Iterable[ast.AST], augmented: bool = True) -> set[str]:
    """Names that statements bind, nested functions and comprehensions left out; without ``augmented`` not by ``x += ...``."""
    return set(names_bound(tuple(nodes), augmented))


@lru_cache(maxsize=256)  # trees never change, and a loop's body is lowered until its types settle
def names_bound(nodes: tuple[ast.AST, ...], augmented: bool) -> frozenset[str]:
    """The result of ``assigned``, cached."""
    bound: set[str] = set()
    stack: list[ast.AST] = list(nodes)
    while stack:
        node = stack.pop()
        match node:
            case ast.AugAssign(target=ast.Name()) if not augmented:
                stack.append(node.value)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                bound.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                bound.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                stack += [n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr)]
                continue
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                bound |= {(a.asname or a.name).split(".")[0] for a in names}
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                bound.add(name)
            case ast.MatchMapping(rest=str(name)):
                bound.add(name)
        stack += ast.iter_child_nodes(node)
    return frozenset(bound)


def parameters(arguments: ast.arguments) -> list[str]:
    """Every name that a signature binds."""
    plain = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return plain + [a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None]


@lru_cache(maxsize=256)  # trees never change
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that are local to an activation of a function."""
    names = set(parameters(node.args))
    if isinstance(node, ast.FunctionDef):
        names |= assigned(node.body)
        todo: list[ast.AST] = list(node.body)
        while todo:  # declarations in a nested function do not count
            inner = todo.pop()
            if isinstance(inner, ast.Global | ast.Nonlocal):
                names -= set(inner.names)
            elif not isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.expr):
                todo += ast.iter_child_nodes(inner)
    else:
        names |= {n.target.id for n in ast.walk(node.body) if isinstance(n, ast.NamedExpr)}
    return frozenset(names)


@lru_cache(maxsize=256)
def global_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that a function declares global."""
    return frozenset(name for inner in body_nodes(node) if isinstance(inner, ast.Global) for name in inner.names)


def own_nodes(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of statements and expressions, without the bodies of the functions, lambdas and classes that they define."""
    todo = deque(nodes)
    while todo:
        node = todo.popleft()
        yield node
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                todo += [*node.decorator_list, node.args]
            case ast.ClassDef():
                todo += [*node.decorator_list, *node.bases, *node.keywords]
            case ast.Lambda():
                todo.append(node.args)
            case _:
                todo += ast.iter_child_nodes(node)


def body_nodes(function: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function's body, without the bodies of the functions, lambdas and classes that it defines."""
    return own_nodes(function.body if isinstance(function, ast.FunctionDef) else [function.body])


@lru_cache(maxsize=256)
def yields(function: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function is a generator or a coroutine."""
    return any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in body_nodes(function))
