"""Dependence rules: a rule for each row that is not elementwise, and one for all others.

Without a rule, each element of a result depends on all elements of all operands for which the row has a
derivative: always correct, and dense. Rules are sparser where that holds for all values of the operands. Only
index selection, branches and loops depend on values, those of the current run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from symgrad.ir.core import Call
from symgrad.ops.declare import Row
from symgrad.ops.indexing import steps, subscript
from symgrad.sparsity.forms import as_integers, everything, filled, laid_alike, union_of_forms
from symgrad.sparsity.graph import Graph
from symgrad.tables import named


@dataclass(slots=True)
class Applied:
    """One op that has run: its operands with their forms, None where these are empty, and its results."""

    graph: Graph
    op: Call
    row: Row
    operands: list[Any]
    forms: list[Any]
    results: tuple[Any, ...]
    on_forms: Callable[[list[Any]], tuple[Any, ...]]  #: runs the op on forms
    passes: list[bool]  #: for each operand: does the row have a derivative for it?

    def form(self, place: int) -> Any:
        """The form of an operand."""
        form = self.forms[place] if self.passes[place] else None
        return filled(self.operands[place], 0) if form is None else form

    def active(self) -> list[Any]:
        """The nonempty forms of the operands for which the row has a derivative."""
        return [form for form, passes in zip(self.forms, self.passes, strict=True) if passes and form is not None]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the result."""
        return np.shape(self.results[0])


Rule = Callable[[Applied], tuple[Any, ...]]


def one(form: Any, shape: tuple[int, ...], of: Any) -> tuple[Any, ...]:
    """A form as that of the only result."""
    if not isinstance(of, np.ndarray):
        return (int(np.asarray(form).reshape(())[()]),)
    return (laid_alike(of, np.broadcast_to(form, shape)),)


# ------------------------------------------------------------------ the rules


def dense(a: Applied) -> tuple[Any, ...]:
    """Every element depends on all elements of all operands."""
    total = everything(a.graph, a.active())
    return tuple(filled(result, total) for result in a.results)


def elementwise(a: Applied) -> tuple[Any, ...]:
    """Each element depends on the same elements of the operands, with broadcasting."""
    form: Any = 0
    for other in a.active():
        form = a.graph.join(form, np.asarray(other, np.int64) if isinstance(other, list) else other)
    return one(form, a.shape, a.results[0])


def moved(a: Applied) -> tuple[Any, ...]:
    """Each element depends on the element that it is a copy of: the op itself moves the sets."""
    return tuple(as_integers(result) for result in handed_on(a))


def handed_on(a: Applied) -> tuple[Any, ...]:
    """The same for moved objects."""
    return a.on_forms([a.form(k) if passes else operand for k, (operand, passes) in enumerate(zip(a.operands, a.passes, strict=True))])


def reduced(a: Applied) -> tuple[Any, ...]:
    """Each element depends on those along the reduced axes, and on the initial value."""
    form = np.asarray(a.form(0), np.int64)
    axis = a.op.settings.get("axis")
    axes = tuple(range(form.ndim)) if axis is None else tuple(k % form.ndim for k in (axis if isinstance(axis, tuple) else (axis,)))
    total: Any = unions_along(a.graph, form, axes).reshape(a.shape)
    if "initial" in a.row.params:
        total = a.graph.join(total, a.form(a.row.params.index("initial")))
    return one(total, a.shape, a.results[0])


def unions_along(graph: Graph, form: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The unions along some axes."""
    kept = tuple(1 if k in axes else n for k, n in enumerate(form.shape))
    count = math.prod(kept)
    groups = np.broadcast_to(np.arange(count).reshape(kept), form.shape)
    return graph.gather(groups, form, count).reshape([n for k, n in enumerate(form.shape) if k not in axes])


def of_lines(a: Applied) -> tuple[Any, ...]:
    """Each element depends on all elements along an axis."""
    form, axis = lines_of(a)
    total = unions_along(a.graph, form, (axis,))
    return one(np.broadcast_to(np.expand_dims(total, axis), form.shape).reshape(a.shape), a.shape, a.results[0])


def of_those_before(a: Applied) -> tuple[Any, ...]:
    """Each element depends on itself and those before it along an axis."""
    form, axis = lines_of(a)
    form = np.array(np.moveaxis(form, axis, 0))
    for k in range(1, len(form)):
        form[k] = a.graph.join(form[k - 1], form[k])
    return one(np.moveaxis(form, 0, axis).reshape(a.shape), a.shape, a.results[0])


def lines_of(a: Applied) -> tuple[np.ndarray, int]:
    """The form of the first operand and an axis; without an axis all elements form one line."""
    form, axis = np.asarray(a.form(0), np.int64), a.op.settings["axis"]
    return (form.ravel(), 0) if axis is None else (form, axis % form.ndim)


def unbroadcast(a: Applied) -> tuple[Any, ...]:
    """Each element depends on those that it was broadcast to."""
    form, shape = np.asarray(a.form(0), np.int64), a.shape
    if form.ndim >= len(shape) and form.shape != shape:
        count = math.prod(shape)
        groups = np.broadcast_to(np.arange(count).reshape(shape), form.shape)
        form = a.graph.gather(groups, form, count).reshape(shape)
    return one(form, shape, a.results[0])


def counted(a: Applied) -> tuple[Any, ...]:
    """``bincount``: each element depends on the weights with its index."""
    return (a.graph.gather(np.asarray(a.operands[0]), np.asarray(a.form(1), np.int64), len(a.results[0])),)


def moved_back(a: Applied) -> tuple[Any, ...]:
    """Each element depends on those taken from its place: the cotangent of a row that moves elements."""
    shape = a.shape
    places = PLACES[a.row.name](np.arange(math.prod(shape)).reshape(shape), a)
    form = np.broadcast_to(np.asarray(a.form(0), np.int64), places.shape)
    inside = places >= 0
    return one(a.graph.gather(places[inside], form[inside], math.prod(shape)).reshape(shape), shape, a.results[0])


#: the source index of each element in the rows of these cotangents, or -1; computed by the row on the array of indices
PLACES: dict[str, Callable[[np.ndarray, Applied], Any]] = {
    "take_items_back": lambda cells, a: np.take(cells, a.operands[1], a.op.settings["axis"]),
    "add_along_axis": lambda cells, a: np.take_along_axis(cells, np.asarray(a.operands[1]), a.op.settings["axis"]),
    "repeat_back": lambda cells, a: np.repeat(cells, a.operands[2], a.op.settings["axis"]),
    "tile_back": lambda cells, a: np.tile(cells, a.operands[2:]),
    "pad_back": lambda cells, a: np.pad(
        cells, a.op.settings["width"], a.op.settings["mode"], **{"constant_values": -1} if a.op.settings["mode"] == "constant" else {}
    ),
}


# ------------------------------------------------------------------ products


def products(a: Applied, left: Any, right: Any) -> tuple[Any, ...]:
    """All pairs of elements of two forms."""
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    pairs = a.graph.join(left.reshape(left.shape + (1,) * right.ndim), right)
    return one(np.reshape(pairs, a.shape), a.shape, a.results[0])


def matmul(a: Applied) -> tuple[Any, ...]:
    """Each element depends on a row of one operand and a column of the other."""
    left, right = (np.asarray(a.form(k), np.int64) for k in (0, 1))
    rows = unions_along(a.graph, left, (left.ndim - 1,))
    columns = unions_along(a.graph, right, (max(right.ndim - 2, 0),))
    rows = rows[..., None] if left.ndim > 1 and right.ndim > 1 else rows
    columns = columns[..., None, :] if left.ndim > 1 and right.ndim > 1 else columns
    return one(np.reshape(a.graph.join(rows, columns), a.shape), a.shape, a.results[0])


def dot(a: Applied) -> tuple[Any, ...]:
    """The same for ``np.dot``, which combines all pairs of rows and columns."""
    left, right = (np.asarray(a.form(k), np.int64) for k in (0, 1))
    if not left.ndim or not right.ndim:
        return one(a.graph.join(left, right), a.shape, a.results[0])
    return products(a, unions_along(a.graph, left, (left.ndim - 1,)), unions_along(a.graph, right, (max(right.ndim - 2, 0),)))


def outer(a: Applied) -> tuple[Any, ...]:
    """Each element depends on one pair of elements."""
    return products(a, np.ravel(a.form(0)), np.ravel(a.form(1)))


def tensordot(a: Applied) -> tuple[Any, ...]:
    """All pairs of elements that are left after reducing the operands along the summed axes."""
    left, right = (np.asarray(a.form(k), np.int64) for k in (0, 1))
    axes = a.op.settings["axes"]
    if isinstance(axes, int):
        axes = tuple(range(left.ndim - axes, left.ndim)), tuple(range(axes))
    first, second = (tuple(part) if isinstance(part, tuple | list) else (part,) for part in axes)
    return products(
        a,
        unions_along(a.graph, left, tuple(k % left.ndim for k in first)),
        unions_along(a.graph, right, tuple(k % right.ndim for k in second)),
    )


def contraction(a: Applied, places: Sequence[int], inputs: Sequence[str], result: str) -> tuple[Any, ...]:
    """Each element depends on the elements of every operand with matching letters of ``np.einsum``."""
    letters_of_all = set().union(*inputs)
    if any(len(set(letters)) < len(letters) for letters in (*inputs, result)) or not set(result) <= letters_of_all:
        return dense(a)
    total: Any = np.zeros(a.shape, np.int64)
    for place, letters in zip(places, inputs, strict=True):
        form = np.asarray(a.form(place), np.int64)
        form = unions_along(a.graph, form, tuple(k for k, letter in enumerate(letters) if letter not in result))
        left = [letter for letter in letters if letter in result]
        form = np.transpose(form, [left.index(letter) for letter in result if letter in left])
        total = a.graph.join(total, form[tuple(slice(None) if letter in left else None for letter in result)])
    return one(total, a.shape, a.results[0])


def einsum(a: Applied) -> tuple[Any, ...]:
    """A sum of products given by letters."""
    subscripts = a.op.settings["subscripts"].replace(" ", "")
    if "." in subscripts:
        return dense(a)
    inputs, result = subscripts.split("->")
    return contraction(a, range(len(a.operands)), inputs.split(","), result)


def einsum_part(a: Applied) -> tuple[Any, ...]:
    """The cotangent of an operand of such a sum: depends on the sum's cotangent and the other operands."""
    subscripts = a.op.settings["subscripts"].replace(" ", "")
    if "." in subscripts:
        return dense(a)
    inputs, result = subscripts.split("->")
    letters = inputs.split(",")
    own = letters.pop(int(a.row.name[-1]))
    return contraction(a, range(len(letters) + 1), [result, *letters], own)


#: the letters of a product of matrices and vectors, by the ranks of its operands
PRODUCTS = {(2, 2): ("ik", "kj", "ij"), (1, 2): ("k", "kj", "j"), (2, 1): ("ik", "k", "i"), (1, 1): ("k", "k", "")}


def product_left(a: Applied) -> tuple[Any, ...]:
    """The cotangent of the left operand of a product: depends on the product's cotangent and the right operand."""
    left, right, result = PRODUCTS.get((len(a.shape), np.ndim(a.operands[1])), ("", "", "*"))
    return dense(a) if result == "*" or np.ndim(a.operands[0]) != len(result) else contraction(a, (0, 1), (result, right), left)


def product_right(a: Applied) -> tuple[Any, ...]:
    """The same for the right operand."""
    left, right, result = PRODUCTS.get((np.ndim(a.operands[1]), len(a.shape)), ("", "", "*"))
    return dense(a) if result == "*" or np.ndim(a.operands[0]) != len(result) else contraction(a, (0, 1), (result, left), right)


def convolution(a: Applied) -> tuple[Any, ...]:
    """Each element depends on the products that it is the sum of."""
    long, short = sorted((np.asarray(a.form(k), np.int64) for k in (0, 1)), key=len, reverse=True)
    total = np.zeros(a.shape, np.int64)
    for k in range(len(short)):
        part = slice(k, k + len(long))
        total[part] = a.graph.join(total[part], a.graph.join(long, short[k]))
    return (total,)


# ------------------------------------------------------------------ stores and lists


def added(a: Applied) -> tuple[Any, ...]:
    """Add to elements of an array, in place."""
    array, value = a.form(0), a.form(1)
    whole, index = place_of(array, a.op.settings["index"], a.operands[2:])
    part = whole[index]
    if isinstance(part, np.ndarray) and not np.may_share_memory(part, whole):  # an index of arrays may select one element twice
        cells = np.arange(whole.size).reshape(whole.shape)[index]
        numbers, places = np.unique(cells, return_inverse=True)
        spots = np.unravel_index(numbers, whole.shape)
        groups = np.concatenate([np.arange(numbers.size), places.ravel()])
        more = np.ravel(np.broadcast_to(value, cells.shape))
        whole[spots] = a.graph.gather(groups, np.concatenate([whole[spots], more]), numbers.size)
    else:
        whole[index] = a.graph.join(part if isinstance(part, np.ndarray) else int(part), value)
    return (array,)


def place_of(array: np.ndarray, index: str, operands: list[Any]) -> tuple[np.ndarray, Any]:
    """The view of an array that a store writes to, and the subscript within it."""
    rest = list(operands)
    subscripts: list[tuple[str, Any]] = []
    for step, count in steps(index):
        own, rest = rest[:count], rest[count:]
        subscripts.append((step[1:], own) if step.startswith(".") else ("", subscript(step, own)))
    for place, (name, own) in enumerate(subscripts):
        if not name and place == len(subscripts) - 1:
            return array, own
        part: Any = getattr(array, name) if name else array[tuple(own)]
        array = part(*own) if callable(part) else part
    return array, ...


def accumulated(a: Applied) -> tuple[Any, ...]:
    """Add to a whole array, in place, or to a number."""
    total = union_of_forms(a.graph, a.form(0), a.form(1))
    if isinstance(form := a.form(0), np.ndarray) and np.shape(total) == form.shape:
        form[...] = total
        total = form
    return (total,)


def added_lists(a: Applied) -> tuple[Any, ...]:
    """Add lists, item by item."""
    return (union_of_forms(a.graph, a.form(0), a.form(1)),)


def added_to_list(a: Applied) -> tuple[Any, ...]:
    """Add to an item of a list, in place."""
    items, place = a.form(0), a.operands[1]
    items[place] = union_of_forms(a.graph, items[place], a.form(2))
    return (items,)


def added_to_slice(a: Applied) -> tuple[Any, ...]:
    """Add to a slice of a list, in place."""
    items, part = a.form(0), slice(*a.operands[1:4])
    items[part] = [union_of_forms(a.graph, x, y) for x, y in zip(items[part], a.form(4), strict=True)]
    return (items,)


#: rows whose results are elements of their operands, or zero; operands without a derivative may select the elements
MOVING = """
    view take set_at copy copy_rows by_rows spread array_or_zeros in_form cast settled number array asarray array_of to_array list_from
    python_numbers reshape ravel flatten transpose untranspose swapaxes moveaxis mT expand_dims squeeze broadcast_to real flip roll
    repeat tile pad tril triu triangle diag diagonal delete compress take_items take_along_axis concatenate concatenate_array
    concatenate_list concatenate_part stack stack_array stack_list stack_part unstack split array_split full full_like fftshift ifftshift
    item item_place stack_place concatenate_place split_like split_array diag_back diagonal_place diag_embed over_matrix take_written
"""
#: rows of lists and tapes, and rows whose result is an operand: they pass objects on unchanged
HANDED = """
    list_of list_append list_set list_take list_slice list_join list_repeat list_drop list_unfold push pop put get label may_share drawn
    or_one
"""
#: rows that reduce along axes
REDUCED = "sum mean max min prod var std median nanmax nanmin nansum nanmean sum_of mean_of max_of min_of prod_of var_of std_of"
#: rows that combine all elements along an axis
LINES = "sort unwrap product_before product_after"
BEFORE = "cumsum cumsum_of cumprod cumprod_of running_max running_min"
#: rows without the trait that work element by element, whichever operand they choose
JOINED = "where choose masked filled"

#: the operand counts of the ``np.einsum`` rows
COUNTS = (1, 2, 3, 4)

RULES: dict[str, Rule] = (
    named(unbroadcast, matmul, dot, outer, tensordot, convolution, matmul_left=product_left, matmul_right=product_right)
    | named(dot_left=product_left, dot_right=product_right, bincount=counted, add_at=added, add_written=added, accumulate=accumulated)
    | named(list_add=added_lists, list_add_at=added_to_list, list_add_slice=added_to_slice)
    | dict.fromkeys(MOVING.split(), moved)
    | dict.fromkeys(HANDED.split(), handed_on)
    | dict.fromkeys(REDUCED.split(), reduced)
    | dict.fromkeys(LINES.split(), of_lines)
    | dict.fromkeys(BEFORE.split(), of_those_before)
    | dict.fromkeys(JOINED.split(), elementwise)
    | dict.fromkeys((f"einsum{count}" for count in COUNTS), einsum)
    | dict.fromkeys((f"einsum{count}_part{part}" for count in COUNTS for part in range(count)), einsum_part)
    | dict.fromkeys(PLACES, moved_back)
)


def rule_of(row: Row) -> Rule:
    """The rule of a row."""
    return RULES.get(row.name, elementwise if row.elementwise else dense)


__all__ = ["RULES", "Applied", "dense", "rule_of"]
