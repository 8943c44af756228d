"""A function of a tree of parameters, and its derivatives, as functions of one vector, the form that solvers expect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from symgrad.api import grad, jvp
from symgrad.errors import BadArgument
from symgrad.jacobians import jacobian
from symgrad.jit import Jit
from symgrad.sparse import scipy_sparse
from symgrad.trees import Form, form_of, items_in_order, pairs
from symgrad.verification.agreement import children
from symgrad.verification.directions import with_items

NUMBERS = np.dtype(float)  #: the dtype in which solvers compute


def start(params: Any) -> Form:
    """The form of the parameters that a solver starts from; BadArgument where they hold no number."""
    form = form_of(params, "params")
    if form.size == 0:
        raise BadArgument("params holds no float, so there is nothing to solve for", hint="pass a tree with at least one float")
    return form


def as_tuple(args: Any) -> tuple[Any, ...]:
    """Further arguments as a tuple; anything else is one argument."""
    return args if isinstance(args, tuple) else (args,)


def refuse(what: str, settings: Mapping[str, Any], names: Iterable[str]) -> None:
    """Refuse keywords whose values symgrad supplies."""
    for name in names:
        if name in settings:
            raise BadArgument(
                f"{what} takes no {name}: symgrad supplies it", hint="leave it out, or call SciPy with the result of symgrad.ravel"
            )


class Equations:
    """A function that returns several numbers, and its Jacobian, as functions of a vector.

    ``before``: is there an argument before the parameters, a time or data? ``rows`` is the form that results must have; without it
    the form is that of the first result.
    """

    def __init__(
        self,
        plain: Callable[..., Any],
        function: Callable[..., Any],
        form: Form,
        args: Any,
        jit: Jit,
        sparsity: Any,
        *,
        before: bool = False,
        rows: Form | None = None,
    ) -> None:
        self.plain, self.form, self.args = plain, form, as_tuple(args)
        self.derivative = jacobian(function, wrt=int(before), jit=jit, sparsity=sparsity)
        self.like, self.rows = rows, rows

    def values(self, x: Any, *before: Any) -> np.ndarray:
        """The results as a vector."""
        result = self.plain(*before, self.form.tree(x), *self.args)
        if self.like is not None:
            vector = self.like.vector(result, NUMBERS)
            self.rows = form_of(in_order(self.like.example, result), "the result", is_result=True)
            return vector
        form = form_of(result, "the result", is_result=True)
        if self.rows is None or self.rows.names != form.names:
            self.rows = form
        return self.rows.vector(result, NUMBERS)

    def jacobian(self, x: Any, *before: Any) -> Any:
        """The Jacobian, a row for each result, as a sparse array if requested."""
        if self.rows is None or self.like is not None:
            self.values(x, *before)
        assert self.rows is not None
        return matrix(self.derivative(*before, self.form.tree(x), *self.args), self.rows, self.form)

    def dense(self, x: Any, *before: Any) -> np.ndarray:
        """The Jacobian as an array of NumPy."""
        whole = self.jacobian(x, *before)
        return whole if isinstance(whole, np.ndarray) else np.asarray(whole.toarray())


def in_order(example: Any, tree: Any) -> Any:
    """A tree with the items of its dicts in the order of an example's."""
    items = children(example)
    if items is None:
        return tree
    return with_items(
        example, [in_order(item, part) for item, part in zip(items, items_in_order(example, tree, "the result"), strict=True)]
    )


def matrix(nested: Any, rows: Form, columns: Form) -> Any:
    """The matrix of a Jacobian that is a tree of results, each a tree of parameters; sparse if its blocks are."""
    blocks = [columns.leaves(tree) for tree in rows.leaves(nested)]
    if any(isinstance(block, np.ndarray | np.generic | float) for row in blocks for block in row):
        shaped = [
            [np.reshape(block, (height, width)) for block, width in zip(row, columns.sizes, strict=True)]
            for row, height in zip(blocks, rows.sizes, strict=True)
        ]
        return np.block(shaped).astype(NUMBERS, copy=False)
    return scipy_sparse().block_array(blocks, format="csr")


class HessianProduct:
    """The product of the Hessian of a function with a tree like its gradient: the derivative of the gradient in that direction."""

    def __init__(self, function: Callable[..., Any], args: Any, jit: Jit) -> None:
        self.args = as_tuple(args)
        self.pushed = jvp(grad(function, jit=jit), wrt=0, jit=jit)

    def __call__(self, params: Any, v: Any) -> Any:
        _, tangent = self.pushed((params, *self.args), (v,))
        return tangent


# ------------------------------------------------------------------ bounds


def box_of(bounds: Any, form: Form) -> Any:
    """Bounds as a pair of vectors; SciPy's ``Bounds`` as they are."""
    return bounds if hasattr(bounds, "lb") else box(bounds, form)


def box(bounds: Any, form: Form) -> tuple[np.ndarray, np.ndarray]:
    """Bounds as a pair of vectors; BadArgument where they do not fit."""
    if not isinstance(bounds, tuple) or len(bounds) != 2:
        hint = "bounds=(lower, upper), each a number, None, or a tree of the form of params"
        raise BadArgument("bounds is not a tuple of two", hint=hint)
    lower, upper = (
        edge(side, form, default, name) for side, default, name in zip(bounds, (-np.inf, np.inf), ("lower", "upper"), strict=True)
    )
    return lower, upper


def edge(side: Any, form: Form, default: float, name: str) -> np.ndarray:
    """The lower or the upper bounds as a vector."""
    if side is None or isinstance(side, int | float | np.generic):
        return np.full(form.size, default if side is None else side, NUMBERS)
    parts = []
    for (_, limit), shape, spelled in zip(pairs(form.example, side, f"the {name} bound of params"), form.shapes, form.names, strict=True):
        fits = limit is None or isinstance(limit, int | float | np.generic) or isinstance(limit, np.ndarray) and limit.shape == shape
        if not fits:
            what = f"the {name} bound of {spelled}, which has the shape {shape}, is {type(limit).__name__} of the shape {np.shape(limit)}"
            raise BadArgument(what, hint="a number, None, or an array of the shape of the parameter")
        parts.append(np.full(shape, default if limit is None else limit, NUMBERS).ravel())
    return np.concatenate(parts)
