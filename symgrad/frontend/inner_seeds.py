"""The result of an inner function, and a seed of its structure -> the sum of its elements weighted by the seed."""

from __future__ import annotations

import ast
from typing import NoReturn

import numpy as np

from symgrad.errors import BadArgument
from symgrad.frontend.bindings import Binding, Num, Ref, Static
from symgrad.frontend.context import Lowering
from symgrad.frontend.exceptions import fail_unless
from symgrad.frontend.inner import Seeded, holds_floats, parts_of
from symgrad.frontend.operators import binary
from symgrad.ir.core import Const
from symgrad.ir.types import Array, Scalar, Shape, Type, is_complex, same_extent
from symgrad.text import has_literal, item


class Weighing:
    """One call: a result and a seed; an ``exact`` seed is the vector of a product with a Hessian."""

    def __init__(self, ctx: Lowering, held: Seeded, node: ast.AST) -> None:
        self.ctx, self.exact, self.node = ctx, held.exact, node
        self.word, self.whole = ("the vector", "the gradient") if held.exact else ("the seed", "the result")

    def refuse(self, path: str, what: str, hint: str) -> NoReturn:
        raise BadArgument(f"{self.word}{path} {what}", self.ctx.loc(self.node), hint)

    def weighted(self, seed: Binding, out: Binding, path: str = "") -> Binding:
        """The sum of the elements of a result, weighted by a seed of the same structure; both are the parts at ``path``."""
        ctx, node = self.ctx, self.node
        parts, seeds = parts_of(ctx, out), parts_of(ctx, seed)
        if parts is None:
            return self.of_leaf(seed, out, path)
        if seeds is None or [key for key, _ in parts] != [key for key, _ in seeds]:
            self.refuse(path, f"has another structure than {self.whole}{path}", f"give it the form of {self.whole}")
        terms = [self.weighted(one, part, item(path, key) if has_literal(key) else path)
                 for (key, part), (_, one) in zip(parts, seeds, strict=True) if holds_floats(ctx, part)]  # fmt: skip
        total: Binding = terms[0] if terms else Num(Const(0.0))
        for term in terms[1:]:
            total = binary(ctx, ast.Add, total, term, node)
        return total

    def of_leaf(self, seed: Binding, out: Binding, path: str) -> Binding:
        """The same for one number or array."""
        ctx, node = self.ctx, self.node
        self.fit(seed, out, path)
        product = binary(ctx, ast.Mult, seed, out, node)
        product = product if isinstance(ctx.type_of(product), Scalar) else ctx.apply(Static(np.sum, "np.sum"), [product], {}, node)
        return Num(ctx.call("real", ctx.read(product, node))) if is_complex(ctx.type_of(product)) else product

    def fit(self, seed: Binding, out: Binding, path: str) -> None:
        """Refuse a seed that does not match a number or array, or emit a check of its shape."""
        have = self.ctx.type_of(seed) if isinstance(seed, Num | Ref) else None
        want = self.ctx.type_of(out)
        if have is None and not isinstance(seed, Static) and not self.exact:
            return  # a list, which arithmetic converts to an array
        if not isinstance(have, Scalar | Array):
            self.refuse(path, "is neither a number nor an array", f"pass {want}, as {self.whole}{path} is")
        if is_complex(have) and not is_complex(want):
            self.refuse(path, f"is complex, and {self.whole}{path} is real", "take its real part")
        shapes = shape_of(have), shape_of(want)
        if shapes[0] is not None and shapes[1] is not None:
            self.fit_shape(seed, out, shapes[0], shapes[1], path)

    def fit_shape(self, seed: Binding, out: Binding, have: Shape, want: Shape, path: str) -> None:
        """The same for the extents: equal, or, except for vectors, broadcastable to the result."""
        ctx = self.ctx
        if len(have) > len(want) or self.exact and len(have) != len(want):
            self.refuse(path, f"is {ctx.type_of(seed)}, and {self.whole}{path} is {ctx.type_of(out)}", f"give it the shape of {self.whole}")
        for axis, extent in enumerate(have):
            behind = axis + len(want) - len(have)
            if same_extent(extent, want[behind]) or extent == 1 and not self.exact:
                continue
            count = ctx.call("extent", ctx.read(seed, self.node), axis=axis)
            test = ctx.call("equal", count, ctx.call("extent", ctx.read(out, self.node), axis=behind))
            if not self.exact:
                test = ctx.call("logical_or", test, ctx.call("equal", count, Const(1)))
            fail_unless(ctx, test, ValueError, f"{self.word}{path} has another shape than {self.whole}{path}")


def shape_of(type_: Type) -> Shape | None:
    """The extents of a number or an array; None where its rank is unknown."""
    return type_.shape if isinstance(type_, Array) else () if isinstance(type_, Scalar) else None
