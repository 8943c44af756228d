"""What becomes of an example: its value, gradient, effects and text, beside what plain Python does."""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import io
import random
import re
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import symgrad
from tests.language.table import ARGUMENTS, CARRIED_OUT, KEPT, REFUSED, Example, Function, arguments_of

STEP = 1e-5
#: what generated text adds to a name that another one has
NUMBER = re.compile(r"_\d+$")
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@cache
def trees(path: str) -> list[Definition]:
    """All functions of a file."""
    return [node for node in ast.walk(ast.parse(Path(path).read_text())) if isinstance(node, Definition)]


def tree_of(function: Function) -> Definition:
    """The syntax of a function of a module of examples: the smallest piece in which all its instructions stand."""
    code = inspect.unwrap(function).__code__
    places = [(line, column) for line, _, column, end in code.co_positions() if line is not None and column is not None and end]
    inside = [node for node in trees(code.co_filename) if all(begins(node) <= place <= ends(node) for place in places)]
    return max(inside, key=begins)


def begins(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Line and column of the first sign."""
    return node.lineno, node.col_offset


def ends(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Line and column behind the last sign."""
    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return node.end_lineno, node.end_col_offset


def numbers_of(function: Function) -> list[str]:
    """The parameters that a gradient is asked for."""
    return [name for name in arguments_of(function) if isinstance(ARGUMENTS[name], float | np.ndarray)]


def run(function: Function, arguments: dict[str, Any]) -> tuple[Any, str]:
    """What a call gives and prints, with the same random numbers each time."""
    random.seed(1)
    np.random.seed(1)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", symgrad.errors.Notice)
        result = function(**arguments)
    return result, printed.getvalue()


def shifted(function: Function, name: str, place: tuple[int, ...], step: float) -> float:
    """The value where one number of an argument is another one."""
    arguments = arguments_of(function)
    if isinstance(arguments[name], float):
        arguments[name] += step
    else:
        arguments[name][place] += step
    return float(run(function, arguments)[0])


def differences(function: Function, name: str) -> Any:
    """The derivative by an argument, by central differences."""
    argument = np.asarray(ARGUMENTS[name])
    slopes = np.zeros(argument.shape)
    for place in np.ndindex(argument.shape):
        slopes[place] = (shifted(function, name, place, STEP) - shifted(function, name, place, -STEP)) / (2 * STEP)
    return slopes


def variables(function: Function) -> dict[str, Any]:
    """The global variables of a function that hold data, as they are now."""
    held = {name: function.__globals__.get(name) for name in inspect.unwrap(function).__code__.co_names}
    return {name: copy.deepcopy(value) for name, value in held.items() if isinstance(value, int | float | list | dict)}


def run_apart(function: Function, call: Function, arguments: dict[str, Any]) -> tuple[Any, str, dict[str, Any]]:
    """What a call gives and prints, and what the global variables of a function hold afterwards; they are put back."""
    before = variables(function)
    result, printed = run(call, arguments)
    after = variables(function)
    function.__globals__.update(before)
    return result, printed, after


def check_right(function: Function, jit: Any = False) -> None:
    """Value, gradient, what is printed, and what arguments and global variables hold afterwards are as in plain Python."""
    names = numbers_of(function)
    plain, own = arguments_of(function), arguments_of(function)
    value, *effects = run_apart(function, function, plain)
    derivative = symgrad.value_and_grad(function, wrt=tuple(names), jit=jit, allow_unused=True)
    (own_value, gradients), *own_effects = run_apart(function, derivative, own)
    np.testing.assert_allclose(own_value, value, rtol=1e-12)
    assert own_effects == effects
    assert repr(own) == repr(plain)
    for name, gradient in zip(names, gradients, strict=True):
        np.testing.assert_allclose(gradient, differences(function, name), rtol=1e-6, atol=1e-8)
    assert any(np.any(gradient) for gradient in gradients), "nothing depends on the arguments"


def check(example: Example, jit: Any = False) -> None:
    """An example is what its class says; raises ``AssertionError`` where it is not."""
    if example.verdict == REFUSED:
        check_refused(example)
        return
    check_right(example.function, jit)
    if example.verdict == CARRIED_OUT:
        left = {word_of(name) for name in example.names} & set(words_of(emitted(example.function)))
        assert not left, f"the gradient still has {left}"
    if example.verdict == KEPT:
        assert is_held(example.function, example.names, example.text), ast.unparse(emitted(example.function))


def check_refused(example: Example) -> None:
    """An example raises its error before it runs, and the way out is right and gives what Python gives for the example."""
    function, instead = example.function, example.instead
    assert instead is not None
    derivative = symgrad.grad(function, wrt=tuple(numbers_of(function)))
    try:
        derivative(**arguments_of(function))
    except symgrad.errors.SymgradError as error:
        assert type(error).__name__ == example.error, str(error)
    else:
        raise AssertionError("it is not refused")
    check_right(instead)
    if example.runs:
        np.testing.assert_allclose(run(function, arguments_of(function))[0], run(instead, arguments_of(instead))[0], rtol=1e-12)


def emitted(function: Function) -> ast.Module:
    """The text of the gradient, without its docstring and comments."""
    text = symgrad.grad(function, wrt=tuple(numbers_of(function)), allow_unused=True).source(**arguments_of(function))
    module = ast.parse(textwrap.dedent(text))
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return module


def words_of(tree: ast.AST) -> Iterator[str]:
    """The kinds of nodes of a tree, and the names and attributes in it."""
    for node in ast.walk(tree):
        yield type(node).__name__
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.FunctionDef(name=word):
                yield NUMBER.sub("", word)
            case ast.Constant(value=None | True | False):
                yield repr(node.value)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.name for alias in names)


def word_of(name: str) -> str:
    """What stands in the syntax for a construct: ``append`` for ``list.append``."""
    return name.rpartition(".")[2]


class LastWords(ast.NodeTransformer):
    """Functions under their last names, without the numbers that tell them from other names: ``random.choice`` and ``choice_1`` are one."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802 - the name that ``ast`` asks for
        """A call of something by its last name."""
        self.generic_visit(node)
        match node.func:
            case ast.Name(id=word) | ast.Attribute(attr=word):
                node.func = ast.Name(NUMBER.sub("", word), ast.Load())
        return node


def plain_text(tree: ast.AST) -> str:
    """A piece of syntax as a text that can be looked for."""
    return ast.unparse(ast.fix_missing_locations(LastWords().visit(copy.deepcopy(tree))))


def is_held(function: Function, names: tuple[str, ...], text: str = "") -> bool:
    """Does a gradient's text hold a statement or expression of the function's with each of some constructs, or the text?"""
    whole = plain_text(emitted(function))
    if text:
        return plain_text(ast.parse(text)) in whole
    tree = tree_of(function)
    pieces = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr) and node is not tree and big(node)]
    return all(any(word_of(name) in words_of(piece) and plain_text(piece) in whole for piece in pieces) for name in names)


def big(piece: ast.AST) -> bool:
    """Is it more than a name?"""
    return not isinstance(piece, ast.Name | ast.Attribute | ast.Constant | ast.Pass)


def words_shown(example: Example) -> set[str]:
    """The constructs that stand in an example and in what is shown beside it."""
    shown = {word for tree in (tree_of(example.function), *map(tree_beside, example.beside)) for word in words_of(tree)}
    return shown


def tree_beside(thing: Any) -> ast.AST:
    """The syntax of a function or class that stands by itself."""
    return ast.parse(textwrap.dedent(inspect.getsource(thing)))
