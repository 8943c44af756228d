"""The saved text of a sweep and a plan -> the text of a module that computes the sparse Jacobian, with NumPy and SciPy only."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from textwrap import indent
from typing import Any

import numpy as np

from symgrad.codegen.module import module_text
from symgrad.codegen.texts import Emitted
from symgrad.errors import SaveError
from symgrad.runtime.compressed import compressed_jacobian
from symgrad.text import docstring, identifier, integers, literal

#: begins the line that runs the module's own check
MAIN = '\n\n\nif __name__ == "__main__":'


def sparse_module(text: str, frame: str, wrt: Sequence[int], name: str, plan: tuple[Any, ...], labels: Sequence[str], has_aux: bool) -> str:
    """The saved text of a sweep with a function called ``name`` that calls it for each colour.

    ``frame`` is the text of the function that flattens trees (``pipeline/sparsity.py``), ``wrt`` are the indices of
    the differentiated leaves, ``plan`` is as in ``compressed_jacobian``, and ``labels`` are the names of the
    tangents.
    """
    tree = ast.parse(text)
    sweep = (ast.get_docstring(tree) or "").split()[2]
    taken = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    name = identifier(name)
    if name in taken:
        raise SaveError(f"the module has a function called {name} already", hint="give the function another name")
    own = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == sweep)
    arrays, of_plan = plan_text(name, plan)
    called = ast.unparse(ast.Call(ast.Name(sweep), *handed_on(own.args)))
    names = {node.arg for node in ast.walk(own.args) if isinstance(node, ast.arg)}
    if "compressed_jacobian" in names or f"{name}_plan" in names:
        raise SaveError("a parameter has the name of a function of the module", hint="give the parameter another name")
    leaves, functions = trees_of(frame, wrt, labels)
    lines = [
        f"def {name}({ast.unparse(own.args)}):",
        f"    {docstring(f'The Jacobian as scipy.sparse arrays, by a call of {sweep} for each colour and one to compare with.')}",
        "    return compressed_jacobian(",
        f"        {called},",
        f"        {name}_plan,",
        f"        {leaves},",
        "        (",
        *(f"            {function}," for function in functions),
        "        ),",
        f"    ){'' if has_aux else '[0]'}",
    ]
    more = module_text(
        [Emitted("\n".join([*arrays, of_plan]), {"np": np}), Emitted("\n".join(lines), {"compressed_jacobian": compressed_jacobian})], ""
    )
    sections = more[more.index("import numpy as np") + len("import numpy as np") :].strip("\n")
    others = {node.name for node in ast.parse(sections).body if isinstance(node, ast.FunctionDef)}
    if others & taken:
        raise SaveError(f"the module has two functions called {sorted(others & taken)[0]}", hint="give the function another name")
    text = text.replace(f"The derivative {sweep} ", f"The derivative {name} ", 1)
    if "\nimport numpy as np\n" not in text:
        raise SaveError(f"{name} cannot be written to a file of its own")
    head, main, check = text.partition(MAIN)
    return f"{head.rstrip()}\n\n\n{sections}\n{main.removeprefix(chr(10)) if main else ''}{check}"


def plan_text(name: str, plan: tuple[Any, ...]) -> tuple[list[str], str]:
    """The arrays of a plan as text, and the plan."""
    by, rows, columns, shape, colors = plan
    parts = {"rows": rows, "columns": columns, "colors": colors}
    arrays = [f"{name}_{word} = np.array([\n{indent(integers(values.tolist()), '    ')}\n], int)" for word, values in parts.items()]
    return arrays, f"{name}_plan = ({literal(by)}, {name}_rows, {name}_columns, {literal(shape)}, {name}_colors)"


def handed_on(arguments: ast.arguments) -> tuple[list[ast.expr], list[ast.keyword]]:
    """The arguments of a call that passes on all parameters."""
    positional: list[ast.expr] = [ast.Name(a.arg) for a in (*arguments.posonlyargs, *arguments.args)]
    if arguments.vararg is not None:
        positional.append(ast.Starred(ast.Name(arguments.vararg.arg)))
    keywords = [ast.keyword(a.arg, ast.Name(a.arg)) for a in arguments.kwonlyargs]
    return positional, [*keywords, *([ast.keyword(None, ast.Name(arguments.kwarg.arg))] if arguments.kwarg else [])]


def trees_of(frame: str, wrt: Sequence[int], labels: Sequence[str]) -> tuple[str, list[str]]:
    """The leaves of the arguments, and the functions that take trees apart, which the text of a frame holds."""
    (function,) = ast.parse(frame).body
    assert isinstance(function, ast.FunctionDef)
    last = function.body[-1]
    assert isinstance(last, ast.Return)
    assert isinstance(last.value, ast.Call)
    _, values, tangents, *others = last.value.args
    assert isinstance(tangents, ast.Lambda)
    assert isinstance(tangents.body, ast.Tuple)
    assert isinstance(values, ast.Tuple)
    tangents.body = ast.Dict([ast.parse(literal(label), mode="eval").body for label in labels], tangents.body.elts)
    return ast.unparse(ast.List([values.elts[k] for k in wrt])), [ast.unparse(function) for function in (tangents, *others)]


__all__ = ["sparse_module"]
