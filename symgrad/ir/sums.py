"""Integers as linear combinations of symbols, for comparing extents and indices.

``2*i - j + 3`` is ``{i: 2, j: -1, ONE: 3}``; a fact is a combination that is not negative. A goal follows from
facts if it is a nonnegative combination of them plus a nonnegative number (Farkas' lemma).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Hashable, Iterable, Mapping
from functools import lru_cache

from symgrad.ir.types import Dim, Extent

Sum = dict[Hashable, int]
ONE = ""  #: the symbol of the constant term
DEPTH = 6  #: the maximum number of facts in one proof
TERM = re.compile(r"([+-]?)(?:(\d+)\*)?(\w+|\([^()]*(?:\([^()]*\)[^()]*)*\))")


def combined(a: Sum, b: Sum, times: int = 1, weight: int = 1) -> Sum:
    """``weight * a + times * b``.

    >>> combined({"i": 1, ONE: 2}, {"i": 1}, -1)
    {'': 2}
    """
    sum_ = {s: weight * c for s, c in a.items()}
    for symbol, count in b.items():
        sum_[symbol] = sum_.get(symbol, 0) + times * count
    return {s: c for s, c in sum_.items() if c}


def product(a: Sum, b: Sum) -> Sum | None:
    """The product with a number; None if both depend on symbols."""
    for one, other in ((a, b), (b, a)):
        if set(one) <= {ONE}:
            return combined({}, other, one.get(ONE, 0))
    return None


def follows(goal: Sum, facts: Iterable[Sum], depth: int = DEPTH) -> bool:
    """Whether ``goal`` is never negative if all of ``facts`` are not.

    >>> follows({"i": 1, "j": -1, ONE: -1}, [{"k": 1, "j": -1, ONE: -1}, {"i": 1, "k": -1}])
    True
    >>> follows({"i": 1, "j": -1}, [{"i": 1}, {"j": 1}])
    False
    """
    facts = list(facts)
    best: list[Sum] | None = None
    for symbol, count in goal.items():
        if symbol == ONE:
            continue
        usable = [f for f in facts if f.get(symbol, 0) * count > 0]
        if best is None or len(usable) < len(best):
            best, chosen = usable, symbol
    if best is None:
        return goal.get(ONE, 0) >= 0
    if not depth:
        return False
    return any(follows(combined(goal, f, -abs(goal[chosen]), abs(f[chosen])), facts, depth - 1) for f in best)


def sum_of(extent: Extent) -> Sum | None:
    """An extent as a linear combination of symbols; None for an unknown one.

    >>> sum_of(Dim("(2*n-m)", 1)), sum_of(Dim("(n||k|)")), sum_of(3)
    ({'n': 2, 'm': -1, '': 1}, {'(n||k|)': 1}, {'': 3})
    """
    if isinstance(extent, int):
        return {ONE: extent} if extent else {}
    if extent.symbol == "?":
        return None
    terms = read_terms(extent.symbol[1:-1]) if extent.symbol.startswith("(") else None
    return combined({extent.symbol: 1} if terms is None else terms, {ONE: extent.offset})


def read_terms(text: str) -> Sum | None:
    """``2*n-m`` as a linear combination; None for any other text."""
    sum_: Sum = {}
    at = 0
    while at < len(text):
        term = TERM.match(text, at)
        if term is None or at and not term[1]:
            return None
        sum_ = combined(sum_, {term[3]: int(f"{term[1]}{term[2] or 1}")})
        at = term.end()
    return sum_


def extent_of(total: Sum, plural: bool = False) -> Extent:
    """The extent of a linear combination, the same for equal combinations.

    >>> str(extent_of({"n": 2, "m": -1, ONE: 1})), str(extent_of({"n": 1, ONE: -2})), extent_of({ONE: 3})
    ('(-m+2*n)+1', 'n-2', 3)
    """
    terms = sorted((str(s), c) for s, c in total.items() if s != ONE)
    rest = total.get(ONE, 0)
    if not terms:
        return rest
    if terms[0][1:] == (1,) and len(terms) == 1:
        return Dim(terms[0][0], rest, plural)
    said = "".join(f"{'-' if c < 0 else '+'}{'' if abs(c) == 1 else f'{abs(c)}*'}{s}" for s, c in terms)
    return Dim(f"({said.removeprefix('+')})", rest, plural)


def product_of(a: Extent, b: Extent) -> Extent | None:
    """The product of two extents as an extent; None where it is not linear and has no symbol."""
    one, other = sum_of(a), sum_of(b)
    if one is None or other is None:
        return None
    sum_ = product(one, other)
    if sum_ is not None:
        return extent_of(sum_)
    plain = [e for e in (a, b) if isinstance(e, Dim) and e.offset == 0 and e.symbol.isidentifier()]
    return Dim(f"({'*'.join(sorted(e.symbol for e in plain))})") if len(plain) == 2 else None


def expression(total: Mapping[Hashable, int], words: Mapping[str, str]) -> str:
    """A linear combination as an expression, with symbols replaced by ``words``; it begins with a positive term.

    >>> expression({"m": 1, "n": -4, ONE: 2}, {"n": "x.shape[0]", "m": "y.shape[1]"})
    'y.shape[1] - 4 * x.shape[0] + 2'
    """
    said = [
        f"{'-' if c < 0 else '+'} {abs(c) if s == ONE else words[str(s)] if abs(c) == 1 else f'{abs(c)} * {words[str(s)]}'}"
        for s, c in total.items()
    ]
    return " ".join(said).removeprefix("+ ")


@lru_cache(maxsize=1024)
def _terms(text: str) -> tuple[tuple[str, int], ...] | None:
    """The terms of a linear expression with their factors; None for any other expression."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return None

    def visit(tree: ast.expr, times: int) -> list[tuple[str, int]]:
        match tree:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as sign, right=right):
                return [*visit(left, times), *visit(right, -times if isinstance(sign, ast.Sub) else times)]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return visit(operand, -times)
            case ast.BinOp(left=ast.Constant(value=int() as factor), op=ast.Mult(), right=right):
                return visit(right, times * factor)
            case ast.Constant(value=int() as number):
                return [(ONE, times * number)]
            case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant(value=int())):
                return [(ast.get_source_segment(text, tree) or "", times)]
        raise ValueError(text)

    try:
        return tuple(visit(tree, 1))
    except ValueError:
        return None


def read_expression(text: str) -> Sum | None:
    """The linear combination of an expression, the inverse of ``expression``; None for any other text.

    >>> read_expression("y.shape[1] - 4 * x.shape[0] + 1")
    {'y.shape[1]': 1, 'x.shape[0]': -4, '': 1}
    """
    terms = _terms(text)
    if terms is None:
        return None
    sum_: Sum = {}
    for symbol, times in terms:
        sum_ = combined(sum_, {symbol: times})
    return sum_
