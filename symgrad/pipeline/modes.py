"""A function -> the IR of its Jacobians, by rows (reverse mode) or by columns (forward mode), as ``mode`` says.

``"auto"`` chooses columns where the arguments hold fewer numbers than the results. Sizes that types leave open
are read from the arguments, and become part of the code's signature.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from symgrad.adjoint.matrices.jacobian import jacobian
from symgrad.adjoint.saving.costs import Costs
from symgrad.ir.core import For, Func, Op, Value, While, walk
from symgrad.ir.sums import ONE, sum_of
from symgrad.ir.types import Array, Scalar, Tape, Type
from symgrad.ops.batched import NotBatched
from symgrad.ops.seeds.seed_products import holds_products
from symgrad.pipeline.job import Job
from symgrad.pipeline.wrt import budget_of
from symgrad.signature import Related, extent_words, is_choice
from symgrad.tangent.columns import columns
from symgrad.tangent.in_turn import columns_in_turn

#: a number of elements: integer coefficients by products of extent symbols
Polynomial = dict[tuple[str, ...], int]


def by_columns(job: Job, func: Func, wrt: list[int], active: list[int], read: Callable[[str], Any] | None) -> bool:
    """Whether to compute the Jacobian by columns; raises Related where that depends on the sizes of the arguments at hand."""
    if job.request.mode != "auto":
        return job.request.mode == "forward"
    chosen = next((value for text, value in job.request.pins if is_choice(text)), None)
    if chosen is not None:
        return bool(chosen)
    inputs, outputs = sizes(func, wrt, active)
    if inputs is None or outputs is None:
        return False
    more = combined(outputs, inputs, -1)
    if set(more) <= {()}:
        return more.get((), 0) > 0 or not more and job.target is not None and is_looped(func)
    words = {symbol: text for text, symbol in extent_words(job.signature).items()}
    if read is None or any(symbol not in words for product in more for symbol in product):
        return False
    fewer, rest = {p: -count for p, count in more.items() if count < 0}, {p: count for p, count in more.items() if count > 0}
    text = f"{expression(fewer, words)} < {expression(rest, words)}"
    raise Related(((text, bool(read(text))),))


def matrices(job: Job, primal: Func, wrt: list[int], active: list[int], costs: Costs) -> Func:
    """The IR of the Jacobians, by columns or by rows."""
    name = f"{primal.name}_jacobian"
    if job.by_columns:
        try:
            return columns(primal, wrt, active, name=name)
        except NotBatched:
            if job.request.mode == "forward":
                return columns_in_turn(primal, wrt, active, name=name, costs=costs)
    return jacobian(primal, wrt, active, name=name, costs=costs, compiled=job.target is not None, budget=budget_of(job))


def matrices_inside(what: str, func: Func, wrt: list[int], active: list[int], taken: set[str]) -> Func:
    """The Jacobians of a function inside another one: by columns if requested, or if types prove that there are fewer columns.

    Also by columns where each row would read a stack of values saved by a loop: such rows cannot be
    differentiated again.
    """
    if what == "jacfwd" or what == "jacobian" and surely_by_columns(func, wrt, active):
        try:
            return columns(func, wrt, active, taken=taken)
        except NotBatched:
            if what == "jacfwd":
                return columns_in_turn(func, wrt, active, taken=taken)
    rows = jacobian(func, wrt, active, taken=taken)
    if what == "jacobian" and any(map(reads_stacks, rows.body.ops)):
        with suppress(NotBatched):
            return columns(func, wrt, active, taken=taken)
    return rows


def reads_stacks(op: Op) -> bool:
    """Whether a loop reads, in each iteration, a stack of values saved before it."""
    if not isinstance(op, For):
        return False
    inside = {value for inner in walk(op.body) for value in inner.outs}
    inside |= {value for inner in walk(op.body) for block in inner.blocks for value in block.args} | set(op.body.args)
    read = {value for inner in walk(op.body) for value in inner.operands if isinstance(value, Value)}
    return any(isinstance(value.type, Tape) and not value.type.indexed for value in read - inside)


def surely_by_columns(func: Func, wrt: Iterable[int], active: Iterable[int]) -> bool:
    """Whether types prove that the parameters hold fewer numbers than the results."""
    inputs, outputs = sizes(func, wrt, active)
    more = None if inputs is None or outputs is None else combined(outputs, inputs, -1)
    return more is not None and set(more) == {()} and more[()] > 0


def is_looped(func: Func) -> bool:
    """Whether a function has loops but no matrix products: then rows are as fast as columns."""
    return any(isinstance(op, For | While) for op in walk(func.body)) and not holds_products(func.body)


def sizes(func: Func, wrt: Iterable[int], active: Iterable[int]) -> tuple[Polynomial | None, Polynomial | None]:
    """The total sizes of some parameters and of some results; None where unknown."""
    return total([func.params[k].type for k in wrt]), total([func.body.yields[k].type for k in active])


def total(types: Iterable[Type]) -> Polynomial | None:
    """The total number of elements of values of these types."""
    whole: Polynomial = {}
    for type_ in types:
        shape = () if isinstance(type_, Scalar) else type_.shape if isinstance(type_, Array) else None
        if shape is None:
            return None
        size: Polynomial = {(): 1}
        for extent in shape:
            terms = sum_of(extent)
            if terms is None:
                return None
            size = multiplied(size, {() if symbol == ONE else (str(symbol),): count for symbol, count in terms.items()})
        whole = combined(whole, size, 1)
    return whole


def combined(a: Polynomial, b: Polynomial, times: int) -> Polynomial:
    """``a + times * b``."""
    whole = dict(a)
    for product, count in b.items():
        whole[product] = whole.get(product, 0) + times * count
    return {product: count for product, count in whole.items() if count}


def multiplied(a: Polynomial, b: Polynomial) -> Polynomial:
    """``a * b``.

    >>> multiplied({("n",): 2, (): 1}, {("m",): 1})
    {('m', 'n'): 2, ('m',): 1}
    """
    whole: Polynomial = {}
    for one, count in a.items():
        for other, times in b.items():
            product = tuple(sorted((*one, *other)))
            whole[product] = whole.get(product, 0) + count * times
    return whole


def expression(size: Polynomial, words: Mapping[str, str]) -> str:
    """A number of elements as an expression over the arguments.

    >>> expression({("n", "n"): 1, ("n",): 2, (): 3}, {"n": "x.shape[0]"})
    'x.shape[0] * x.shape[0] + 2 * x.shape[0] + 3'
    """
    terms = [[*([str(count)] if count > 1 or not product else []), *(words[s] for s in product)] for product, count in size.items()]
    return " + ".join(map(" * ".join, terms)) or "0"


__all__ = ["by_columns", "matrices", "matrices_inside"]
