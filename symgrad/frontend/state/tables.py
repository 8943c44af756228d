"""The tables of constructs, filled by the sibling modules.

The keys: of ``STATEMENTS`` and ``EXPRESSIONS`` the syntax node, of ``CALLS`` the kind of binding, of ``METHODS`` the
kind of owner and the name, of ``SPECIAL`` the callable itself. ``Lowering``, which all constructs share, looks them
up.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.frontend.state.bindings import Binding
from symgrad.tables import entered

Lowering = Any  #: the state, which is in a layer above the tables
Lower = Callable[[Lowering, Any], Binding]
LowerStatement = Callable[[Lowering, Any, list[ast.stmt]], bool | None]
Special = Callable[[Lowering, list[Binding], dict[str, Binding], ast.AST], Binding]
Call = Callable[[Lowering, Any, list[Binding], dict[str, Binding], ast.AST], Binding]
Method = Callable[[Lowering, Any, list[Binding], ast.AST], Binding]

EXPRESSIONS: dict[type[ast.AST], Lower] = {}
STATEMENTS: dict[type[ast.AST], LowerStatement] = {}
CALLS: dict[type[Binding], Call] = {}
METHODS: dict[tuple[str, str], Method] = {}
#: hooks for three events: a change of an object or array that may be aliased, a new op, the end of
#: a block with exceptions
SPREAD: dict[str, Callable[..., Any]] = {}
#: packing and unpacking of structured items of lists
PARTS: dict[str, Callable[..., Any]] = {}
#: callables that are neither rows nor user functions: builtins, and NumPy functions that take lists
SPECIAL: dict[Any, Special] = {}
#: the hint for a call of something that is no function
PLAIN = "call a plain function or method in its place"


def expression(*kinds: type[ast.AST]) -> Callable[[Lower], Lower]:
    """Enter a function into the table of expressions."""
    return entered(EXPRESSIONS, *kinds)


def statement(*kinds: type[ast.AST]) -> Callable[[LowerStatement], LowerStatement]:
    """Enter a function into the table of statements."""
    return entered(STATEMENTS, *kinds)


def callee(*kinds: type[Binding]) -> Callable[[Call], Call]:
    """Enter a function into the table of calls."""
    return entered(CALLS, *kinds)


def method(kind: str, *names: str) -> Callable[[Method], Method]:
    """Enter a function into the table of methods: of a list, a dict or an array."""
    return entered(METHODS, *((kind, name) for name in names))


def special(*callables: Any) -> Callable[[Special], Special]:
    """Enter a function into the table of special calls."""
    return entered(SPECIAL, *callables)
