"""A recipe: recorded operations as plain hashable data. Builds the graph, and caches compiled functions by recipe.

Two records of the same structure have equal recipes, so the second one generates nothing. Steps are tuples of
different lengths, which are fast to make, to hash and to compare.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from symgrad.abstraction import PYTHON_NUMBERS, abstract_value, parse_type
from symgrad.errors import BadArgument, UnknownType
from symgrad.ir.types import DTYPES, Array, Scalar, Type
from symgrad.record.compiled import Compiled
from symgrad.record.graph import Graph
from symgrad.record.operations import Operation
from symgrad.runtime.load import LOCK

#: the kind of a value from outside: dtype and which extents are 1, or the class of a Python number
Kind = tuple[Any, ...] | type
#: shape, with -1 for unknown extents, and dtype
Said = tuple[tuple[int, ...], np.dtype[Any]]


class Leaf(NamedTuple):
    """A value from outside."""

    kind: Kind
    place: int


class Applied(NamedTuple):
    """An operation on earlier values."""

    operation: Operation
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Differentiated(NamedTuple):
    """Gradients of earlier values, zeros for an input that no target depends on."""

    targets: tuple[int, ...]
    inputs: tuple[int, ...]
    seeds: tuple[int | None, ...]
    cuts: tuple[int, ...]
    outputs: tuple[int, ...]


Step = Leaf | Applied | Differentiated
Recipe = tuple[Step, ...]


class Backward(NamedTuple):
    """A request for the gradients of a recipe, given all recorded values."""

    recipe: Recipe
    targets: tuple[int, ...]
    inputs: tuple[int, ...]
    seeds: tuple[int | None, ...]
    cuts: tuple[int, ...]


def kind_of_value(value: Any) -> Kind:
    """Return the kind of a value from outside."""
    if isinstance(value, np.ndarray):
        return (value.dtype, tuple([extent == 1 for extent in value.shape]))
    return type(value)


def type_of(kind: Kind, place: int) -> Type:
    """The type of a value from outside.

    >>> str(type_of((np.dtype("float32"), (False, True)), 0))
    'f32[!v0_0, 1]'
    """
    if isinstance(kind, tuple):
        dtype, units = kind
        example = np.zeros(tuple(1 if unit else 2 for unit in units), dtype)
        type_ = abstract_value(example if units else example[()], f"v{place}_")
        if isinstance(type_, Type):
            return type_
        raise UnknownType(f"arrays of {dtype} are not supported")
    return PYTHON_NUMBERS[kind]


def said(example: Any) -> Said:
    """Shape and dtype of a text such as ``f8[:, 3]``, or of an example."""
    if not isinstance(example, str):
        array = np.asarray(example)
        return array.shape, array.dtype
    described = of_type(parse_type(example))
    if described is None:
        raise BadArgument(f"{example!r} is neither an array nor a number")
    inside = example.partition("[")[2].removesuffix("]").split(",")
    known = [int(part) if part.strip().isdecimal() else -1 for part in inside if part.strip()]
    return tuple(known), described[1]


def of_type(type_: Type) -> Said | None:
    """Return shape and dtype of a type; None unless it is an array of known rank or a float."""
    if isinstance(type_, Array) and type_.dtype is not None and type_.shape is not None:
        return tuple(e if isinstance(e, int) else -1 for e in type_.shape), np.dtype(DTYPES[type_.dtype])
    if isinstance(type_, Scalar):
        words = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}
        return (), np.dtype(DTYPES[words[type_.kind] if type_.dtype in (None, "any") else type_.dtype])
    return None


def graph_of(recipe: Recipe) -> Graph:
    """Build the graph of a recipe; its keys are the indices of the values."""
    graph = Graph()
    for step in recipe:
        match step:
            case Leaf(kind, place):
                graph.parameter(place, type_of(kind, place))
            case Applied(operation, inputs, outputs):
                graph.operation(operation, inputs, outputs)
            case Differentiated(targets, inputs, seeds, cuts, outputs):
                gradients = graph.gradients(targets, inputs, seeds, cuts)
                for output, source, operand in zip(outputs, inputs, gradients, strict=True):
                    graph.values[output] = graph.zeros(source) if operand is None else operand
    return graph


KEPT: dict[Backward, tuple[Compiled, tuple[int | None, ...]]] = {}
LIMIT = 4096  #: the number of cached recipes


def backward_of(asked: Backward) -> tuple[Compiled, tuple[int | None, ...]]:
    """Return the compiled backward half, and for each input the index of its gradient among the results, or None."""
    half = KEPT.get(asked)
    if half is None:
        with LOCK:
            half = KEPT.get(asked) or compiled_gradient(asked)
            if len(KEPT) >= LIMIT:
                KEPT.clear()
            KEPT[asked] = half
    return half


def compiled_gradient(asked: Backward) -> tuple[Compiled, tuple[int | None, ...]]:
    """Build, differentiate and compile."""
    graph = graph_of(asked.recipe)
    gradients = graph.gradients(asked.targets, asked.inputs, asked.seeds, asked.cuts)
    results = [g for g in gradients if g is not None]
    known: Sequence[int] = [place for step in asked.recipe if not isinstance(step, Leaf) for place in step.outputs]
    compiled = graph.function(results, "backward", known)
    places: list[int | None] = []
    count = 0
    for gradient in gradients:
        places.append(None if gradient is None else count)
        count += gradient is not None
    return compiled, tuple(places)
