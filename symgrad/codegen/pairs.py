"""The halves of a pullback as loops -> two kernels, and a Python function that calls the first and returns the second.

If the first kernel raises, the NumPy function is called instead. If the second raises, the NumPy code of both
halves runs from the start (``Again``) on saved arguments, because only kernels can read the residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from symgrad.codegen.header import result_text
from symgrad.codegen.numba import LEFT, Spellings, Surface, distinct, filled, module_text, names_in
from symgrad.codegen.texts import Again, Pair, Seed
from symgrad.ir.core import Func, uses
from symgrad.ir.types import Array
from symgrad.runtime.support import array_of, array_seed, check_items, check_keys, fitting_seed, laid_alike, list_seed, tangent_of
from symgrad.text import docstring

Item = TypeVar("Item")
#: helper functions that a caller uses besides kernels and NumPy code
HELPERS = (array_of, array_seed, check_items, check_keys, fitting_seed, laid_alike, list_seed, tangent_of)
CALLED: dict[str, Any] = {called.__name__: called for called in HELPERS}


@dataclass(frozen=True, slots=True)
class Halves:
    """A pullback as halves: the parameters of ``backward`` are the last results of ``forward``, then the seeds.

    ``copies`` maps results of ``forward`` to the parameters that they copy. ``out`` and ``gradients`` are
    templates; ``returned`` is the returned expression over ``out`` and ``pullback``. For a linear function of
    tangents, these replace the seeds.
    """

    forward: Func
    backward: Func
    copies: Mapping[int, int]
    out: str
    gradients: str
    seeds: Sequence[Seed]
    returned: str
    doc: str
    called: str = "pullback"  #: the name of the returned function, and of its parameter
    argument: str = "out_grad"
    checks: Sequence[str] = ()  #: the lines that check the seeds against the structure of the result

    @property
    def residuals(self) -> int:
        return len(self.backward.params) - len(self.seeds)

    @property
    def own(self) -> int:
        """The number of the function's own results."""
        return len(self.forward.body.yields) - self.residuals


@dataclass(frozen=True, slots=True)
class Words:
    """Names of the caller: of the results of both kernels, of saved arguments, of NumPy."""

    results: list[str]
    gradients: list[str]
    kept: list[str]
    numpy: Spellings


def emit_pair(surface: Surface, halves: Halves, again: Again) -> Pair:
    """The texts of the kernels and of their caller."""
    stem, own, residuals = surface.name, halves.own, halves.residuals
    ahead, back, fallback = f"{stem}_forward_kernel", f"{stem}_backward_kernel", f"{stem}_numpy"
    words = words_of(surface, halves, again, {ahead, back, fallback, again.name})
    keeping, kept = argument_lines(surface, halves, again, words)
    leaves, passed = only_read(halves.forward, surface.passed_leaves), only_read(halves.backward, second_arguments(halves, words))
    out = filled(halves.out, converted_all(words.numpy, words.results[:own], halves.forward))
    gradients = filled(halves.gradients, converted_all(words.numpy, words.gradients, halves.backward))
    lines = [f"def {stem}({surface.signature}):", f"    {docstring(halves.doc)}", "    try:"]
    lines += [f"        {', '.join(words.results)} = {ahead}({', '.join(leaves)})", f"    except Exception:  {LEFT}"]
    lines += [f"        return {fallback}({surface.passed})", *(f"    {line}" for line in keeping)]
    lines += [f"    out = {out}", *(f"    {line}" for seed in halves.seeds for line in seed.kept)]
    lines += ["", f"    def {halves.called}({halves.argument}):", *(f"        {line}" for line in halves.checks), "        try:"]
    lines += [f"            {', '.join(words.gradients)} = {back}({', '.join(passed)})", f"        except Exception:  {LEFT}"]
    lines += [f"            return {again.name}({', '.join([*kept, *(seed.fitted for seed in halves.seeds)])})"]
    lines += [f"        return {gradients}", "", f"    return {halves.returned}", ""]
    types = only_read(halves.forward, [surface.type_of(k, value) for k, value in enumerate(halves.forward.params)])
    taken = only_read(halves.backward, [own + k if k < residuals else v.type for k, v in enumerate(halves.backward.params)])
    for half in (halves.forward, halves.backward):
        half.body.args = only_read(half, half.params)
    first, second = (module_text(half, name, "", surface.lines) for half, name in ((halves.forward, ahead), (halves.backward, back)))
    space = {**again.emitted.namespace, **CALLED, words.numpy.numpy: np}
    return Pair(stem, (ahead, first), (back, second), "\n".join(lines), (again.name, again.emitted.text), leaves, types, taken, space)


def words_of(surface: Surface, halves: Halves, again: Again, taken: set[str]) -> Words:
    """Unused names."""
    taken |= {"out", halves.called, halves.argument, *CALLED, *surface.objects}
    taken |= {word for seed in halves.seeds for word in (seed.shape, seed.dtype) if word is not None}
    taken |= names_in([*surface.leaves, f"lambda {surface.signature}: 0", result_text(halves.out, halves.own)])
    taken |= names_in([result_text(halves.gradients, len(halves.backward.body.yields))])
    hints = [*halves.forward.results[: halves.own], *(value.name for value in halves.backward.params[: halves.residuals])]
    results = distinct(hints, taken)
    numpy = distinct(["np"], taken | set(results))
    gradients = distinct(halves.backward.results, {*taken, *results, *numpy})
    kept = distinct([f"{halves.forward.params[k].name or 't'}_kept" for k in again.places], {*taken, *results, *numpy})
    return Words(results, gradients, kept, Spellings(numpy[0]))


def argument_lines(surface: Surface, halves: Halves, again: Again, words: Words) -> tuple[list[str], list[str]]:
    """Lines that save the arguments of the rerun, where nothing else does, and the expressions that read them."""
    lines, kept = [], []
    for k, word in zip(again.places, words.kept, strict=True):
        text, type_ = surface.leaves[k], halves.forward.params[k].type
        if isinstance(type_, Array) and k not in surface.lists and k in halves.copies and type_.layout in ("C", "?"):
            word = words.results[halves.copies[k]]
        else:
            copied = f"list({text})" if k in surface.lists else f"laid_alike({text})" if isinstance(type_, Array) else text
            lines.append(f"{word} = {copied}")
        kept.append(word)
    return lines, kept


def second_arguments(halves: Halves, words: Words) -> list[str]:
    """The arguments of the second kernel: residuals, in the types that the first has returned, and seeds."""
    numpy, count = words.numpy, halves.residuals
    residuals = [numpy.exact(word, value.type) for word, value in zip(words.results[halves.own :], halves.backward.params, strict=False)]
    return residuals + [numpy.seed(seed, value.type) for seed, value in zip(halves.seeds, halves.backward.params[count:], strict=True)]


def converted_all(numpy: Spellings, words: Sequence[str], half: Func) -> list[str]:
    """The first results of a half as NumPy scalars of their types."""
    return [numpy.converted(word, operand) for word, operand in zip(words, half.body.yields, strict=False)]


def only_read(half: Func, items: Sequence[Item]) -> list[Item]:
    """The items of those parameters of a half that it reads."""
    read = uses(half.body)
    return [item for value, item in zip(half.params, items, strict=True) if value in read]


__all__ = ["Halves", "emit_pair"]
