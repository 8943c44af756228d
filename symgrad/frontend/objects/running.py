"""A call that inspects the running function, such as ``eval`` or ``locals`` -> a refusal with a replacement."""

from __future__ import annotations

import ast
import inspect
import sys
import traceback
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.state.bindings import MISSING, Binding
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import SPECIAL
from symgrad.ops.replacements import NAMED, OF_FRAMES
from symgrad.text import is_name

Args = list[Binding]
Kwargs = dict[str, Binding]
READERS: tuple[Any, ...] = (
    *(eval, exec, compile, locals, globals, dir, breakpoint, input, inspect.currentframe, inspect.stack, inspect.trace),
    *(sys._getframe, sys._current_frames, sys.exc_info),
    *(traceback.extract_stack, traceback.format_stack, traceback.print_stack, traceback.walk_stack),
)
#: actions of readers that do not read the variables of the running function
DOES = {
    "breakpoint": "stops the program for a debugger",
    "compile": "creates code at run time",
    "input": "waits for input",
}
SHOWN = 8  #: the most variables that a hint lists


def of_frames(word: str) -> Any:
    """The lowering of a call of a reader, which refuses it: a derivative is another function than the one whose frame it inspects."""
    does = DOES.get(word, "reads the variables of the running function")

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        hint = written_out(ctx, word, node) or OF_FRAMES.get(word, NAMED)
        raise UnsupportedSyntax(f"{word} {does}, and a derivative is another function", ctx.loc(node), hint)

    return lower


def written_out(ctx: Lowering, word: str, node: ast.AST) -> str | None:
    """The replacement for a text that is run, or for variables that are read; None where the call does not determine it."""
    if word in ("eval", "exec") and isinstance(node, ast.Call) and len(node.args) == 1 and isinstance(node.args[0], ast.Constant):
        return text_written_out(word, node.args[0].value)
    bound = [name for (frame, name), held in ctx.state.names.items() if frame is ctx.frame and is_name(name) and held != MISSING]
    if word not in ("locals", "vars", "dir") or not 0 < len(bound) <= SHOWN:
        return None
    pairs = ", ".join(repr(name) if word == "dir" else f"{name!r}: {name}" for name in bound)
    return f"write {'[' if word == 'dir' else '{'}{pairs}{']' if word == 'dir' else '}'} in its place"


def text_written_out(word: str, text: Any) -> str | None:
    """The code of a literal text, if it is one line."""
    try:
        tree = ast.parse(text.strip(), mode=word)
    except (AttributeError, SyntaxError, ValueError):
        return None
    code = ast.unparse(tree)
    atom = not isinstance(tree, ast.Expression) or isinstance(tree.body, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript)
    return None if "\n" in code else f"write {code if atom else f'({code})'} in its place"


for _reader in READERS:
    SPECIAL[_reader] = of_frames(_reader.__name__)

__all__ = ["of_frames"]
