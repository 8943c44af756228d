"""The text of ``docs/language.md``, from the examples and the vocabulary."""

from __future__ import annotations

import ast
import inspect
import textwrap
from pathlib import Path
from typing import Any

import symgrad
from tests.language import calls, containers, expressions, introduction, modules, operators, statements
from tests.language.names import LEFT_OUT
from tests.language.table import ARGUMENTS, REFUSED, Example, Function, Section
from tests.language.verdict import tree_of
from tests.language.vocabulary import KINDS, distributions, known

PAGE = Path(symgrad.__file__).parent.parent / "docs" / "language.md"
SECTIONS: list[Section] = [
    section for module in (statements, expressions, operators, calls, containers, modules) for section in module.SECTIONS
]
EXAMPLES: list[Example] = [example for section in SECTIONS for example in section.examples]

#: how kinds of nodes are written
WRITTEN = {
    "Assign": "a = b", "AugAssign": "a += b", "AnnAssign": "a: float = b", "Delete": "del", "If": "if", "Return": "return", "For": "for",
    "Break": "break", "Continue": "continue", "While": "while", "FunctionDef": "def", "Nonlocal": "nonlocal", "Global": "global",
    "Pass": "pass", "Import": "import", "ImportFrom": "from ... import", "Match": "match", "Raise": "raise", "Try": "try",
    "Assert": "assert",
    "With": "with", "Expr": "f(x)", "ClassDef": "class", "TryStar": "except*", "AsyncFunctionDef": "async def", "AsyncFor": "async for",
    "AsyncWith": "async with", "Name": "x", "Constant": "2.0", "BinOp": "x + y", "UnaryOp": "-x", "BoolOp": "and or", "Compare": "x < y",
    "IfExp": "x if c else y", "Call": "f(x)", "Attribute": "x.T", "keyword": "f(axis=0)", "Subscript": "x[i]", "Slice": "x[a:b]",
    "Lambda": "lambda", "NamedExpr": ":=", "Tuple": "(x, y)", "List": "[x, y]", "Starred": "*x", "Dict": "{k: x}", "Set": "{1, 2}",
    "ListComp": "[... for ...]", "comprehension": "for ... if ...", "GeneratorExp": "(... for ...)", "DictComp": "{k: ... for ...}",
    "SetComp": "{... for ...}", "Yield": "yield", "YieldFrom": "yield from", "JoinedStr": 'f"..."', "FormattedValue": "{x:.3f}",
    "Await": "await", "MatchValue": "case 3", "MatchSingleton": "case None", "MatchOr": "case a | b", "MatchAs": "case ... as name",
    "MatchSequence": "case [a, b]", "MatchStar": "case [a, *rest]", "MatchMapping": "case {k: a}", "MatchClass": "case C(a)",
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "Pow": "**", "FloorDiv": "//", "Mod": "%", "MatMult": "@", "UAdd": "+x", "USub": "-x",
    "Not": "not", "And": "and", "Or": "or", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "BitAnd": "&",
    "BitOr": "|", "BitXor": "^", "Invert": "~", "LShift": "<<", "RShift": ">>", "Is": "is", "IsNot": "is not", "In": "in",
    "NotIn": "not in",
}  # fmt: skip

HEAD = """# The language

This page lists how symgrad treats each construct of Python. `python -m tests.language --write` generates it from a table of examples, and
the tests run each of them.

Each construct belongs to one of four classes.

- **differentiated**: a derivative passes through it, or it determines the path of the derivative. Value and gradient are right.
- **static**: symgrad evaluates it at compile time, because it depends only on values that are known before the program runs: an item of a
  dict, a branch of a `match`, an imported name. The generated code does not contain it.
- **executed**: no derivative passes through it. The forward half executes it as Python, in program order and once: printing, random
  numbers, files, functions without a rule.
- **refused**: symgrad raises an error with the line and the cause, before any part of the function runs, instead of returning a wrong
  number. The example shows another way to write it. [errors.md](errors.md) has a section for each class of errors.

In this example `math.sin`, the loop and `+=` are differentiated; the dict, the `if` and `isinstance` are static; and `print` is executed:
"""

FUNCTIONS = """
A call of your own function is differentiated as if the function stood in the place of the call. A library function without a rule is
executed if no argument carries a derivative, and refused (`UnknownFunction`) otherwise; [adding.md](adding.md) shows how to define a rule.
The classes below hold for the examples shown: a static construct is differentiated if it depends on a value that is known only at run
time.

The arguments of the examples are
"""

VOCABULARY = """
## NumPy and SciPy

These functions have a rule, or are composed of functions that have one. *Constant* functions return indices, counts, truth values or fixed
numbers, and pass no derivative on. *Changed in place* are functions that write to an argument; derivatives pass through the write. Dtypes,
axes, `out=`, `where=` and other arguments are accepted as far as the rule supports them; any other is refused (`UnsupportedArgument`).
Functions that are not listed have no rule; SciPy functions written in Python are differentiated through their source. Results of the
solvers of `scipy.optimize` and `scipy.integrate` have the derivatives of the solution: [implicit.md](implicit.md).
"""

DISTRIBUTIONS = "Distributions of `scipy.stats`, and the methods with a rule; other methods, such as `pdf`, follow from these:"


def source(thing: Any) -> str:
    """The text of a function or class that stands beside examples."""
    return textwrap.dedent(inspect.getsource(thing))


def definition(function: Function) -> str:
    """The text of an example in a block: what a lambda gives, or a function without the decorator that enters it into the table."""
    tree = tree_of(function)
    if isinstance(tree, ast.Lambda):
        return f"result = {expression(function)}"
    lines = Path(function.__code__.co_filename).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[tree.lineno - 1 : tree.end_lineno])


def expression(function: Function) -> str:
    """The body of a lambda, on one line."""
    tree = tree_of(function)
    assert isinstance(tree, ast.Lambda)
    text = Path(function.__code__.co_filename).read_text(encoding="utf-8")
    segment = ast.get_source_segment(text, tree.body)
    assert segment is not None
    return " ".join(segment.split())


def is_lambda(function: Function) -> bool:
    """Is it one expression?"""
    return isinstance(tree_of(function), ast.Lambda)


def code(text: str) -> str:
    """A piece of code in a cell of a table."""
    mark = "``" if "`" in text else "`"
    return mark + text.replace("|", r"\|") + mark


def written(name: str, section: str) -> str:
    """A construct as it is written in programs; under the name of a module without that."""
    return WRITTEN.get(name, name).removeprefix(f"{section}.")


def names_of(example: Example) -> str:
    """The constructs of an example."""
    return ", ".join(code(written(name, example.section)) for name in example.names)


def is_row(example: Example) -> bool:
    """Does an example go into a table: is all of it one expression?"""
    functions = [example.function] + ([example.instead] if example.instead else [])
    return not example.beside and all(is_lambda(function) for function in functions)


def row(example: Example) -> str:
    """The line of an example in a table."""
    shown = code(expression(example.function))
    if example.instead is not None:
        shown += f"; instead {code(expression(example.instead))}"
    return f"| {names_of(example)} | {said(example)} | {shown} |"


def said(example: Example) -> str:
    """The class of an example, with the error of what is refused."""
    return f"[refused](errors.md#{example.error.lower()}), `{example.error}`" if example.verdict == REFUSED else example.verdict


def block(example: Example) -> str:
    """An example that has several lines, under a comment that says what it shows."""
    pieces = [source(thing) for thing in example.beside]
    pieces.append(definition(example.function))
    if example.instead is not None:
        pieces.append(f"# instead\n{definition(example.instead)}")
    names = ", ".join(written(name, example.section) for name in example.names)
    verdict = f"{example.verdict}, {example.error}" if example.error else example.verdict
    comment = f"# {names}: {verdict}" + (f", as {example.text}" if example.text else "")
    return "\n".join([comment, *map(without_space, pieces)])


def without_space(text: str) -> str:
    """Some code without empty lines and docstrings of one line, which would be half of it."""
    return "\n".join(line for line in text.splitlines() if line.strip() and not line.strip().startswith('"""'))


def section_text(section: Section) -> list[str]:
    """A section: a table of what is one expression, and blocks of what is more."""
    lines = ["", f"## {section.title}"]
    if section.words:
        lines += ["", section.words]
    rows = [example for example in section.examples if is_row(example)]
    if rows:
        lines += ["", "| construct | class | example |", "|---|---|---|", *map(row, rows)]
    blocks = [block(example) for example in section.examples if not is_row(example)]
    if blocks:
        lines += ["", "```python", "\n\n".join(blocks), "```"]
    return lines


def introduction_text() -> list[str]:
    """The four classes, with the example and what symgrad writes for it."""
    text = symgrad.grad(introduction.loss).source(1.3, 3)
    lines = [HEAD, "```python", definition(introduction.loss), "```", "", "```text", text.rstrip(), "```", FUNCTIONS, "```python"]
    lines += [f"{name} = {shown(value)}" for name, value in ARGUMENTS.items()]
    return [*lines, "```", "", "The gradient is with respect to all numbers and arrays among them.", "", *contents()]


def shown(value: Any) -> str:
    """An argument as it is written."""
    return (
        f"np.{value!r}"
        if hasattr(value, "shape") and value.ndim == 1
        else f"np.array({value.tolist()})"
        if hasattr(value, "shape")
        else repr(value)
    )


def contents() -> list[str]:
    """Links to the sections."""
    titles = [*(section.title for section in SECTIONS), "NumPy and SciPy", "Not covered"]
    return [", ".join(f"[{title}](#{title.lower().replace(' ', '-')})" for title in titles) + "."]


def vocabulary_text() -> list[str]:
    """The functions of NumPy and SciPy."""
    lines = [VOCABULARY.rstrip(), "", "| module | kind | functions |", "|---|---|---|"]
    for module, kinds in known().items():
        for kind in KINDS:
            names = [name for name, one in kinds.items() if one == kind]
            if names:
                lines.append(f"| `{module}` | {kind} | {' '.join(map(code, names))} |")
    each = [f"{code(name)} ({', '.join(table)})" for name, table in distributions().items()]
    return [*lines, "", DISTRIBUTIONS, "; ".join(each) + "."]


def left_out_text() -> list[str]:
    """What has no example, and why."""
    lines = ["", "## Not covered", "", "This page has no examples of the following.", ""]
    reasons: dict[str, list[str]] = {}
    for name, reason in LEFT_OUT.items():
        reasons.setdefault(reason, []).append(name)
    return [*lines, *(f"- {', '.join(map(code, names))}: {reason}." for reason, names in reasons.items())]


def page() -> str:
    """The whole page."""
    lines = introduction_text()
    for section in SECTIONS:
        lines += section_text(section)
    return "\n".join([*lines, *vocabulary_text(), *left_out_text()]) + "\n"
