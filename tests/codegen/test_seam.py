"""The printer: its text parses back to the same tree."""

from __future__ import annotations

import ast
import textwrap

import pytest

from symgrad.codegen.seam import to_text


def round_trip(text: str) -> str:
    return to_text(ast.parse(text))[0]


def test_a_shared_node_is_printed_right_in_both_places() -> None:
    total = ast.BinOp(ast.Name("a"), ast.Add(), ast.Name("b"))
    tree = ast.Module([ast.Assign([ast.Name("t")], total), ast.Assign([ast.Name("y")], ast.Attribute(total, "T"))], [])

    assert to_text(tree)[0] == "t = a + b\ny = (a + b).T\n"


def test_a_negative_literal_under_a_power_keeps_its_parentheses() -> None:
    tree = ast.Module([ast.Expr(ast.BinOp(ast.Constant(-2.0), ast.Pow(), ast.Constant(2)))], [])

    assert to_text(tree)[0] == "(-2.0)**2\n"


@pytest.mark.parametrize("text", [
    "def f[T](x: T):\n    return x\n", "x = f'{a!r:>{w}} {b}'\n", "match x:\n    case 1:\n        pass\n", "y = (yield)\n",
    "x = a if b else (c if d else e)\n", "f = lambda *a, k=1: (a, k)\n", "x = -(-a) ** -b ** (c ** d)\n", "x = (not a) == b\n",
    "x[a:b, ::2, ..., None] += 1\n", "x = {**a, 'b': [*c, 1j]}\n", "def f(a, /, b=1, *c, d, e=2, **g):\n    'doc'\n    return a @ b @ (c @ d)\n",
    "x = a < b < c and (d or e)\n", "assert a, 'b'\n", "raise ValueError('a') from b\n", "del a[0], b\n", "x = '\\ud800\\n\\'\"'\n",
])  # fmt: skip
def test_text_means_the_same_after_printing(text: str) -> None:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        pytest.skip("newer syntax")

    assert ast.dump(ast.parse(to_text(tree)[0])) == ast.dump(ast.parse(text))


def test_the_printer_leaves_the_tree_alone() -> None:
    tree = ast.parse("x = a + b * c")
    before = ast.dump(tree, include_attributes=True)

    to_text(tree)

    assert ast.dump(tree, include_attributes=True) == before
    assert not any(hasattr(node, "_pp") for node in ast.walk(tree))


def test_long_lines_are_not_wrapped() -> None:
    text = textwrap.dedent(f"x = f({', '.join('argument_' + str(k) for k in range(40))})\n")

    assert round_trip(text) == text


def test_a_docstring_cannot_leave_its_quotes() -> None:
    hostile = '"""\nimport os\n"""'
    tree = ast.Module([ast.Expr(ast.Constant(hostile))], [])

    assert ast.literal_eval(to_text(tree)[0]) == hostile
