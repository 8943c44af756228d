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
from symgrad.verification.agreement import children, is_float
from symgrad.verification.directions import item_names, with_items

Tree = TypeVar("Tree")
Vector = np.ndarray[tuple[int], np.dtype[Any]]
#: leaves that hold no number: they are copied
HELD = (str, bytes, bool, np.bool_, type(None))


@boundary
def ravel(tree: Tree) -> tuple[Vector, Callable[[Any], Tree]]:
    """Return all numbers of a tree of parameters as one vector, and the function ``unravel`` that rebuilds the tree from such a vector.

    A tree is a float, an array of floats, or a tuple, list, dict, dataclass, NamedTuple or instance that holds trees. The vector lists the
    numbers in the order of the tree, those of a dict in the order of its keys. It is a copy; its dtype is the widest dtype in the tree,
    or float64 for a tree without numbers. ``unravel`` accepts any sequence of that length, and restores the shape and dtype of each leaf.
    Texts, bools and None are copied from the tree.

    Raises IntegerArgument for integers, and BadArgument for complex numbers, arrays of objects, an array that occurs twice, and a
    container that contains itself. ``unravel`` raises BadArgument for a vector of another length.

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
        """The number of elements of each leaf."""
        return [size_of(shape) for shape in self.shapes]

    def vector(self, tree: Any, like: np.dtype[Any] | None = None) -> Vector:
        """Return the numbers of a tree of this form; items of dicts and attributes are matched by name.

        Raises BadArgument for a tree of another form.
        """
        parts = [np.ravel(self.fitted(leaf, k)) for k, leaf in enumerate(self.leaves(tree))]
        dtype = self.dtype if like is None else like
        return np.concatenate([np.zeros(0, dtype), *parts]).astype(dtype, copy=False)

    def fitted(self, leaf: Any, k: int) -> np.ndarray:
        """Return a leaf as an array of the shape of leaf ``k``; raise BadArgument if its shape differs."""
        array = np.asarray(leaf)
        if array.shape != self.shapes[k] or array.dtype.kind not in "fiu":
            is_number = array.dtype.kind in "fiu"
            said = f"has the shape {array.shape}" if is_number else f"is {type(leaf).__name__}"
            raise BadArgument(f"{self.names[k]} is an array of the shape {self.shapes[k]}, and the value in its place {said}")
        return array

    def leaves(self, tree: Any) -> list[Any]:
        """Return the counterparts of the leaves, in order."""
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
        """Return a vector as a tangent for ``symgrad.jvp``: a tree with None for leaves without numbers."""
        return rebuilt(self.example, iter(self.parts(np.asarray(vector))), in_kind, held=False)

    def stack(self, columns: np.ndarray) -> Any:
        """Return the tree of a matrix with one row for each number: the last axis of each leaf is that of the columns."""
        return self.with_others(self.parts(columns))

    def parts(self, numbers: np.ndarray) -> list[np.ndarray]:
        """Split an array along its first axis into parts of the shapes of the leaves."""
        divided = np.split(numbers, np.cumsum(self.sizes)[:-1]) if self.shapes else []
        return [part.reshape((*shape, *numbers.shape[1:])) for part, shape in zip(divided, self.shapes, strict=True)]

    def with_leaves(self, leaves: list[Any]) -> Any:
        """Return the tree with other leaves, each converted to the kind and dtype of the original."""
        return rebuilt(self.example, iter(leaves), in_kind)

    def with_others(self, leaves: list[Any]) -> Any:
        """Return the tree with arbitrary values in place of the leaves."""
        return rebuilt(self.example, iter(leaves), lambda example, leaf: leaf)


def form_of(tree: Any, name: str = "tree", is_result: bool = False) -> Form:
    """Return the form of a tree; raises the errors of ``ravel``. A function's result may hold an array twice, but no bool."""
    leaves = list(checked(tree, name, frozenset(), None if is_result else {}))
    dtype = np.result_type(*(np.asarray(leaf).dtype for _, leaf in leaves)) if leaves else np.dtype(float)
    return Form(tree, name, tuple(np.shape(leaf) for _, leaf in leaves), dtype, tuple(spelled for spelled, _ in leaves))


def checked(value: Any, name: str, above: frozenset[Same], arrays: dict[Same, str] | None) -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a tree with their names; ``arrays`` collects the position of each array, or is None for a result."""
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
    """Raise unless the leaf is real and floating-point."""
    kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
    if isinstance(value, int) or kind and kind in "iub":
        said = "an array of integers" if isinstance(value, np.ndarray) else f"the integer {value}"
        raise IntegerArgument(f"{name} is {said}", hint="pass floats; pass values that are not parameters as another argument")
    if isinstance(value, complex) or kind == "c":
        raise BadArgument(f"{name} is complex", hint="hold the real part and the imaginary part as two parameters")
    if not is_float(value):
        raise BadArgument(f"{name} is {type(value).__name__}, which holds no floats", hint="pass it as another argument of the function")


def pairs(example: Any, tree: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Yield each leaf of an example with its counterpart in a tree of the same form."""
    items = children(example)
    if items is None:
        if not isinstance(example, HELD):
            yield example, tree
        return
    for item, spelled, inner in zip(items, item_names(example, name), items_in_order(example, tree, name), strict=True):
        yield from pairs(item, inner, spelled)


def items_in_order(example: Any, tree: Any, name: str) -> list[Any]:
    """Return the items of a tree in the order of an example's; raise BadArgument if the forms differ."""
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
    raise BadArgument(f"{name} is {kind_of(example)}, and the value in its place is {kind_of(tree)}")


def kind_of(value: Any) -> str:
    """Describe a container: its class, and its length or keys."""
    match value:
        case dict():
            return f"a {type(value).__name__} with the keys {', '.join(map(repr, value)) or 'none'}"
        case tuple() | list():
            return f"a {type(value).__name__} of {len(value)}"
    return type(value).__name__


def rebuilt(example: Any, leaves: Iterator[Any], leaf: Callable[[Any, Any], Any], held: bool = True) -> Any:
    """Rebuild a tree in the form of an example from new leaves; ``held`` keeps leaves without numbers."""
    items = children(example)
    if items is not None:
        return with_items(example, [rebuilt(item, leaves, leaf, held) for item in items])
    if isinstance(example, HELD):
        return example if held else None
    return leaf(example, next(leaves))


def in_kind(example: Any, leaf: Any) -> Any:
    """Return a copy of a leaf in the kind and dtype of an example."""
    if isinstance(example, np.ndarray):
        return np.array(leaf, example.dtype)
    return example.dtype.type(leaf) if isinstance(example, np.generic) else float(leaf)


def size_of(shape: tuple[int, ...]) -> int:
    """Return the number of elements of an array of this shape."""
    return int(np.prod(shape, dtype=int))


__all__ = ["ravel"]
