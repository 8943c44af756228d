"""``ravel``: trees of parameters <-> vectors, and the form of a tree, which fixes the order of gradients and matrices."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from symgrad.abstraction import record_names
from symgrad.errors import BadArgument, IntegerArgument
from symgrad.identity import Same
from symgrad.tracebacks import boundary
from symgrad.verification.directions import children, is_float, item_names, with_items

Tree = TypeVar("Tree")
Vector = np.ndarray[tuple[int], np.dtype[Any]]
#: leaves that hold no number: they stay as they are
HELD = (str, bytes, bool, np.bool_, type(None))


@boundary
def ravel(tree: Tree) -> tuple[Vector, Callable[[Any], Tree]]:
    """All numbers of a tree of parameters as one vector, and the function that makes a tree of the same form of such a vector.

    A tree is a float, an array of floats, or a tuple, list, dict, dataclass, NamedTuple or instance that holds trees. The numbers stand
    in the order of the tree, those of a dict in the order of its keys. The vector is a copy; its dtype is the largest of those in the
    tree, float64 where there is no number. ``unravel`` takes anything that NumPy makes a vector of that length of, and each leaf of what it
    returns has its shape and dtype again. Texts, bools and None stay as they are.

    Raises IntegerArgument for integers, and BadArgument for complex numbers, arrays of other objects, an array that stands at
    two places, and a container that holds itself. ``unravel`` raises BadArgument for a vector of another length.

    >>> import symgrad
    >>> vector, unravel = symgrad.ravel({"w": np.array([[1.0, 2.0]]), "b": 3.0})
    >>> vector
    array([1., 2., 3.])
    >>> unravel(2 * vector)
    {'w': array([[2., 4.]]), 'b': 6.0}
    """
    form = form_of(tree)
    return form.vector(tree), form.tree


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a tree: an example of it, and the shape and dtype of each leaf, by its name."""

    example: Any
    name: str  #: how errors call the tree
    shapes: tuple[tuple[int, ...], ...]
    dtype: np.dtype[Any]  #: of the vector
    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """The length of the vector."""
        return sum(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """How many numbers each leaf holds."""
        return [size_of(shape) for shape in self.shapes]

    def vector(self, tree: Any, like: np.dtype[Any] | None = None) -> Vector:
        """The numbers of a tree of this form; entries of dicts and attributes are found by their names.

        Raises BadArgument for a tree of another form.
        """
        parts = [np.ravel(self.fitted(leaf, k)) for k, leaf in enumerate(self.leaves(tree))]
        dtype = self.dtype if like is None else like
        return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)

    def fitted(self, leaf: Any, k: int) -> np.ndarray:
        """A leaf as an array of the shape of the leaf at place ``k``; BadArgument if it is none."""
        array = np.asarray(leaf)
        if array.shape != self.shapes[k] or array.dtype.kind not in "fiu":
            is_number = array.dtype.kind in "fiu"
            said = f"has the shape {array.shape}" if is_number else f"is {type(leaf).__name__}"
            raise BadArgument(f"{self.names[k]} is an array of the shape {self.shapes[k]}, and what stands in its place {said}")
        return array

    def leaves(self, tree: Any) -> list[Any]:
        """What stands in the places of the leaves, in order."""
        return [leaf for _, leaf in pairs(self.example, tree, self.name)]

    def tree(self, vector: Any) -> Any:
        """The tree of a vector."""
        numbers = np.asarray(vector)
        if numbers.shape != (self.size,):
            raise BadArgument(f"the vector has the shape {numbers.shape}, and {self.name} holds {self.size} numbers")
        if numbers.dtype.kind not in "fiu":
            raise BadArgument(f"the vector has the dtype {numbers.dtype}, and {self.name} holds floats")
        return self.with_leaves(self.parts(numbers))

    def tangent(self, vector: Any) -> Any:
        """The tangent of a vector, as ``symgrad.jvp`` takes it: a tree with None in the place of what holds no number."""
        return rebuilt(self.example, iter(self.parts(np.asarray(vector))), in_kind, held=False)

    def stack(self, columns: np.ndarray) -> Any:
        """The tree of a matrix that has a row for each number: each leaf has the axis of the columns as its last."""
        return self.with_others(self.parts(columns))

    def parts(self, numbers: np.ndarray) -> list[np.ndarray]:
        """The parts of an array of numbers along its first axis, in the shapes of the leaves."""
        divided = np.split(numbers, np.cumsum(self.sizes)[:-1]) if self.shapes else []
        return [part.reshape((*shape, *numbers.shape[1:])) for part, shape in zip(divided, self.shapes, strict=True)]

    def with_leaves(self, leaves: list[Any]) -> Any:
        """The tree with other leaves, each in the kind and dtype of its own."""
        return rebuilt(self.example, iter(leaves), in_kind)

    def with_others(self, leaves: list[Any]) -> Any:
        """The tree with anything in the places of the leaves."""
        return rebuilt(self.example, iter(leaves), lambda example, leaf: leaf)


def form_of(tree: Any, name: str = "tree", is_result: bool = False) -> Form:
    """The form of a tree; raises as ``ravel`` says. In what a function returns an array may stand at two places, and no bool at any."""
    leaves = list(checked(tree, name, frozenset(), None if is_result else {}))
    dtype = np.result_type(*(np.asarray(leaf).dtype for _, leaf in leaves)) if leaves else np.dtype(float)
    return Form(tree, name, tuple(np.shape(leaf) for _, leaf in leaves), dtype, tuple(spelled for spelled, _ in leaves))


def checked(value: Any, name: str, above: frozenset[Same], arrays: dict[Same, str] | None) -> Iterator[tuple[str, Any]]:
    """The leaves of a tree with their names; ``arrays`` collects where each array stands, None for a result."""
    if Same(value) in above:
        raise BadArgument(f"{name} holds itself", hint="a tree of parameters ends in numbers and arrays")
    parts = children(value)
    if parts is not None:
        for part, spelled in zip(parts, item_names(value, name), strict=True):
            yield from checked(part, spelled, above | {Same(value)}, arrays)
        return
    if isinstance(value, HELD) and not (arrays is None and isinstance(value, bool | np.bool_)):
        return
    check_leaf(value, name)
    if arrays is not None and isinstance(value, np.ndarray):
        if (other := arrays.setdefault(Same(value), name)) is not name:
            raise BadArgument(f"{name} and {other} are the same array", hint=f"put a copy of it at {name}, or keep it at one place")
    yield name, value


def check_leaf(value: Any, name: str) -> None:
    """Refuse what is no real float."""
    kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
    if isinstance(value, int) or kind and kind in "iub":
        said = "an array of integers" if isinstance(value, np.ndarray) else f"the integer {value}"
        raise IntegerArgument(f"{name} is {said}", hint="pass floats; pass what is no parameter as another argument")
    if isinstance(value, complex) or kind == "c":
        raise BadArgument(f"{name} is complex", hint="hold the real part and the imaginary part as two parameters")
    if not is_float(value):
        raise BadArgument(f"{name} is {type(value).__name__}, which holds no floats", hint="pass it as another argument of the function")


def pairs(example: Any, tree: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Each leaf of an example beside what stands in its place in a tree of the same form."""
    items = children(example)
    if items is None:
        if not isinstance(example, HELD):
            yield example, tree
        return
    for item, spelled, inner in zip(items, item_names(example, name), beside(example, tree, name), strict=True):
        yield from pairs(item, inner, spelled)


def beside(example: Any, tree: Any, name: str) -> list[Any]:
    """The items of a tree in the order of an example's; BadArgument if they do not belong together."""
    if isinstance(example, dict):
        if isinstance(tree, dict) and tree.keys() == example.keys():
            return [tree[key] for key in example]
    elif isinstance(example, tuple | list):
        if isinstance(tree, tuple if isinstance(example, tuple) else list) and len(tree) == len(example):
            return list(tree)
    else:
        words = record_names(example)
        if all(hasattr(tree, word) for word in words):
            return [getattr(tree, word) for word in words]
    raise BadArgument(f"{name} is {kind_of(example)}, and what stands in its place is {kind_of(tree)}")


def kind_of(value: Any) -> str:
    """A container in words: its class, and what tells it from others of the class."""
    match value:
        case dict():
            return f"a {type(value).__name__} with the keys {', '.join(map(repr, value)) or 'none'}"
        case tuple() | list():
            return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__


def rebuilt(example: Any, leaves: Iterator[Any], leaf: Callable[[Any, Any], Any], held: bool = True) -> Any:
    """A tree in the form of an example, each leaf from the example's and the next of ``leaves``; ``held``: with what holds no number?"""
    items = children(example)
    if items is not None:
        return with_items(example, [rebuilt(item, leaves, leaf, held) for item in items])
    if isinstance(example, HELD):
        return example if held else None
    return leaf(example, next(leaves))


def in_kind(example: Any, leaf: Any) -> Any:
    """A leaf in the kind and dtype of an example, in memory of its own."""
    if isinstance(example, np.ndarray):
        return np.array(leaf, example.dtype)
    return example.dtype.type(leaf) if isinstance(example, np.generic) else float(leaf)


def size_of(shape: tuple[int, ...]) -> int:
    """How many numbers an array of a shape holds."""
    return int(np.prod(shape, dtype=int))


__all__ = ["ravel"]
