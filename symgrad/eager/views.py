"""Views: tensors that share elements. A store to one changes the others.

The array of a tensor is never written to; a store creates another array. So the sharing of memory is modelled here. A ``Family`` is a
tensor, its root, and the views created from it; each member records the functions that created it. A store to any member creates a new
root, from which the other members are created again, and recorded as before. A ``Memory`` holds families that share elements but not
their records (``detach``): they exchange values only.
"""

from __future__ import annotations

import copy
import math
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.eager.node import MODE
from symgrad.errors import LeafInPlace
from symgrad.functional import matrices, tensors
from symgrad.functional.selection import put
from symgrad.vocabulary.dispatch import apply
from symgrad.vocabulary.indexing import fitted_value, spelled, stored, taken_places

Array = np.ndarray[Any, Any]
#: functions and their settings, one after the other
Steps = tuple[tuple[Callable[..., Any], dict[str, Any]], ...]
#: a family, and the path from its root to the tensor
View = tuple["Family", Steps]

#: the functions whose results show elements of their input; reads by slices, integers and new axes are such too
RESHAPING = (tensors.reshape, tensors.flatten)
SHOWING: tuple[Any, ...] = (
    *RESHAPING,
    tensors.transpose,
    tensors.squeeze,
    tensors.unsqueeze,
    tensors.part,
    tensors.plane,
    matrices.diagonal,
)
for _function in SHOWING:
    _function.shows = True
PRUNED = 16  #: the minimal number of references before dead ones are dropped


class Memory:
    """Elements that several families show. ``shape`` is that of the first root, ``families`` refer to those that are alive."""

    __slots__ = ("families", "shape")

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.families: list[weakref.ref[Family]] = []

    def __deepcopy__(self, memo: Any) -> Memory:
        return Memory(self.shape)

    def alive(self) -> list[Family]:
        """The families that some tensor belongs to."""
        return living(self.families)

    def spread(self, source: Family) -> None:
        """Hand the values of one family on to the others."""
        others = [family for family in self.alive() if family is not source]
        if not others:
            return
        elements = np.empty(math.prod(self.shape), source.value.dtype)
        for family in (*others, source):  # the source's own view comes last
            elements[places(self.shape, family.origin)] = family.value
        for family in others:
            family.value = elements[places(self.shape, family.origin)]
            for member, steps in family.members():
                member.replace(apply_views(steps, family.value))


class Family:
    """A root and its views. ``origin`` derives the root from the memory; ``value`` and ``node`` describe the root."""

    __slots__ = ("__weakref__", "like", "memory", "node", "origin", "references", "root", "slot", "stopped", "value")

    def __init__(self, root: Any, memory: Memory, origin: Steps) -> None:
        self.memory, self.origin = memory, origin
        self.root: Callable[[], Any] = weakref.ref(root)
        self.references: list[weakref.ref[Any]] = [weakref.ref(root)]
        self.like = root.standing
        self.enter(root)
        self.registered()

    def registered(self) -> None:
        """Note in the memory that there is this family."""
        if len(self.memory.families) >= PRUNED:
            self.memory.families = [weakref.ref(family) for family in self.memory.alive()]
        self.memory.families.append(weakref.ref(self))

    def __deepcopy__(self, memo: Any) -> Family:
        """A family of the copies of its members, which join it one by one."""
        family = Family.__new__(Family)
        family.memory, family.origin, family.like = copy.deepcopy(self.memory, memo), self.origin, self.like
        family.value, family.slot, family.stopped = copy.deepcopy(self.value, memo), self.slot, self.stopped
        family.node = copy.deepcopy(self.node, memo)
        family.root, family.references = nobody, []
        family.registered()
        return family

    def joined(self, tensor: Any, steps: Steps) -> View:
        """Let the copy of a member be a member."""
        if not steps:
            self.root = weakref.ref(tensor)
        self.references.append(weakref.ref(tensor))
        return (self, steps)

    def enter(self, root: Any) -> None:
        """Update the root."""
        self.value, self.node, self.slot, self.stopped = root._value, root._node, root._slot, root.stop_gradient

    def add(self, tensor: Any) -> None:
        """A tensor that shows elements of the root."""
        if len(self.references) >= PRUNED and len(self.references) >= 2 * len(living(self.references)):
            self.references = [weakref.ref(one) for one in living(self.references)]
        self.references.append(weakref.ref(tensor))

    def members(self) -> Iterator[tuple[Any, Steps]]:
        """Return the living tensors, and the path from the root to each."""
        for tensor in living(self.references):
            yield tensor, tensor._view[1]

    def whole(self) -> Any:
        """Return the root, or a substitute."""
        root = self.root()
        return self.like(self.value, self.node, self.slot, self.stopped) if root is None else root

    def changed(self, replacement: Any) -> None:
        """Replace the root by another tensor, and compute its views from it again."""
        views = [(tensor, steps) for tensor, steps in self.members() if steps]
        root = self.root()
        if root is None:
            root = replacement
        else:
            root.become(replacement)  # the views are computed from the root, so that its hooks run
        self.enter(root)
        for tensor, steps in views:
            stopped = tensor.stop_gradient and tensor._node is not None
            shown = root
            for function, settings in steps:
                shown = apply(function, shown, **settings)
            tensor.become(shown)
            tensor.stop_gradient = tensor.stop_gradient or stopped
        self.memory.spread(self)


class Carried:
    """The view of a tensor during a copy: copies of several tensors share elements again, pickled ones do not."""

    def __init__(self, view: View | None, deep: bool = False) -> None:
        self.view, self.deep = view, deep

    def __deepcopy__(self, memo: Any) -> Carried:
        return Carried(None if self.view is None else (copy.deepcopy(self.view[0], memo), self.view[1]), True)

    def __reduce__(self) -> Any:
        return (Carried, (None,))

    def of(self, tensor: Any) -> View | None:
        """The view of the copy."""
        return self.view[0].joined(tensor, self.view[1]) if self.deep and self.view is not None else None


def nobody() -> None:
    """Refers to a root that was not copied."""
    return


def living(references: list[Any]) -> list[Any]:
    """Return the living targets of weak references."""
    return [one for reference in references if (one := reference()) is not None]


def apply_views(steps: Steps, array: Array) -> Array:
    """Apply functions to an array in turn."""
    for function, settings in steps:
        array = np.asarray(function(array, **settings))
    return array


def places(shape: tuple[int, ...], steps: Steps) -> Array:
    """Which elements of an array of this shape, counted as one row, a view shows."""
    return apply_views(steps, np.arange(math.prod(shape)).reshape(shape))


# ------------------------------------------------------------------ becoming members


def view_of(tensor: Any) -> View:
    """The family of a tensor; a new one for a tensor that has shared nothing yet."""
    if tensor._view is None:
        tensor._view = (Family(tensor, Memory(tensor._value.shape), ()), ())
    view: View = tensor._view
    return view


def record_view(tensor: Any, source: Any, function: Callable[..., Any], settings: dict[str, Any]) -> Any:
    """Record that a tensor is a view of its source, unless its elements were copied."""
    family, steps = view_of(source)
    step = ((function, settings),)
    if function in RESHAPING and (family.origin or steps):
        layout = apply_views((*family.origin, *steps), np.empty(family.memory.shape, np.int8))
        if not np.may_share_memory(np.asarray(function(layout, **settings)), layout):
            return tensor
    if not MODE.enabled and not source.stop_gradient:
        tensor._view = (Family(tensor, family.memory, (*family.origin, *steps, *step)), ())
    else:
        tensor._view = (family, (*steps, *step))
        family.add(tensor)
    return tensor


def record_detached(tensor: Any, source: Any) -> Any:
    """Note that a tensor shows all elements of another, and that no derivative passes between them."""
    family, steps = view_of(source)
    tensor._view = (Family(tensor, family.memory, (*family.origin, *steps)), ())
    return tensor


def is_alone(tensor: Any) -> bool:
    """Whether no other living tensor shares its elements."""
    if tensor._view is None:
        return True
    family, _ = tensor._view
    if len(living(family.references)) > 1 or len(family.memory.alive()) > 1:
        return False
    tensor._view = None
    return True


# ------------------------------------------------------------------ stores


def store(tensor: Any, index: Any, value: Any) -> None:
    """``tensor[index] = value``, visible in all views of the modified elements."""
    value = fitted_value(tensor, index, value)
    if is_alone(tensor):
        tensor.become(stored(tensor, index, value))
        return
    if not MODE.enabled:
        rewrite(tensor, stored(tensor, index, value)._value)
        return
    family, steps = tensor._view
    root = family.whole()
    for member in (root, *living(family.references)):
        if member._node is None and not member.stop_gradient and not member._is_gradient:
            what = f"{member.name} is a leaf with stop_gradient=False; a view of it cannot be changed in place while recording"
            raise LeafInPlace(what)
    if steps:
        text, arrays = spelled(index)
        shape = family.value.shape
        family.changed(apply(put, root, value, taken_places(text, places(shape, steps), arrays)))
    else:
        family.changed(stored(root, index, value))


def rewrite(tensor: Any, array: Array) -> None:
    """Let an array of the same shape and dtype be the values, without recording, for all that show them."""
    family, steps = tensor._view
    if steps:
        elements = family.value.reshape(-1).copy()
        elements[places(family.value.shape, steps)] = array
        array = elements.reshape(family.value.shape)
    family.value = array
    for member, inner in family.members():
        member.replace(apply_views(inner, array))
    family.memory.spread(family)


__all__ = ["Carried", "View", "record_detached", "rewrite", "record_view", "store"]
