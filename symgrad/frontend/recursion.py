"""Functions that call themselves."""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Binding
from symgrad.frontend.context import Lowering


def call_recursive(ctx: Lowering, source: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call of a function that is being lowered."""
    raise UnsupportedSyntax(f"{source.name} calls itself, which is not supported yet", ctx.loc(node), "write it as a loop")
