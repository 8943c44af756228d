"""A backward sweep in stages, between which hooks and functions with user-defined derivatives run.

A stage starts at some tensors and ends at the next ones at which the sweep stops; the engine computes its gradients. A tensor's
gradient is complete when everything recorded after the tensor has been reversed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.eager.node import Edge, GradientNode, LayerNode, switch
from symgrad.eager.record import Record
from symgrad.eager.tensor import Tensor, apply, fitted, holding
from symgrad.errors import BadArgument
from symgrad.functional import tensors as functions
from symgrad.vocabulary import tensors

Array = np.ndarray[Any, Any]
Key = tuple[int, int]


def key_of(tensor: Tensor) -> Key:
    """Return the key of a tensor's value, shared by all tensors with that value."""
    return (id(tensor), -1) if tensor._node is None else (id(tensor._node), tensor._slot)


def order_of(tensor: Tensor) -> int:
    """When it was made, of all that was recorded."""
    return -1 if tensor._node is None else tensor._node.order


def seed_array(seed: Tensor | None, target: Tensor) -> Array | None:
    """The seed in the shape and dtype of its target."""
    return None if seed is None else np.array(seed._value, target.dtype).reshape(target._value.shape)


def seed_edge(seed: Tensor | None, target: Tensor) -> Any:
    """Return a seed in recorded form: None, an array, or an edge that carries derivatives."""
    if seed is None or seed.stop_gradient:
        return seed_array(seed, target)
    return Edge(seed_like(seed, target))


def seed_like(seed: Tensor, target: Tensor) -> Tensor:
    """The seed in the shape and dtype of its target, recorded."""
    reshaped = seed if seed.shape == target.shape else apply(functions.reshape, seed, shape=tuple(target.shape))
    return reshaped if reshaped.dtype == target.dtype else apply(functions.cast, reshaped, dtype=target.dtype.name)


def whole_seed(seed: Tensor | None, target: Tensor) -> Tensor:
    """The seed as a tensor in the shape of its target; ones if there is none."""
    if seed is None:
        return holding(np.ones_like(target._value))
    if seed.stop_gradient:
        return holding(np.array(seed._value, target.dtype).reshape(target._value.shape))
    return seed_like(seed, target)


def engine_gradients(
    record: Record, targets: Sequence[tuple[Tensor, Tensor | None]], inputs: Sequence[Tensor], cuts: Sequence[Tensor], create_graph: bool
) -> list[Tensor | None]:
    """The gradients that the engine computes; with ``create_graph`` they are recorded themselves."""
    ends = [target for target, _ in targets]
    arrays = record.gradients(ends, inputs, [seed_array(seed, target) for target, seed in targets], cuts)
    if not create_graph:
        return [None if gradient is None else holding(gradient) for gradient in arrays]
    kept = [(tensor, gradient) for tensor, gradient in zip(inputs, arrays, strict=True) if gradient is not None]
    node = GradientNode(
        [Edge(t) for t in ends],
        [Edge(t) for t, _ in kept],
        [seed_edge(s, t) for t, s in targets],
        [Edge(t) for t in cuts],
        tuple([gradient for _, gradient in kept]),
    )
    tensors: list[Tensor | None] = []
    slot = 0
    for gradient in arrays:
        if gradient is None:
            tensors.append(None)
            continue
        answer = holding(gradient, False)
        answer._node, answer._slot = node, slot
        slot += 1
        tensors.append(answer)
    return tensors


def run_hooks(tensor: Tensor, gradient: Tensor, hooks: Iterable[Callable[[Tensor], Tensor | None]]) -> Tensor:
    """The gradient of a tensor after its hooks have run."""
    for hook in hooks:
        replacement = hook(gradient)
        if replacement is None:
            continue
        gradient = fitted(replacement, gradient._value, f"the result of a hook of {tensor.name}")
    return gradient


def at_use(edge: Edge) -> Tensor:
    """Return a tensor with its state at the use: the leaf itself, or a substitute."""
    if edge.node is None:
        return edge.tensor  # type: ignore[no-any-return]
    return result_of(edge.node, edge.slot, edge.value)


def result_of(node: Any, slot: int, value: Array) -> Tensor:
    """Return a substitute tensor for a recorded result."""
    tensor = holding(value, False)
    tensor._node, tensor._slot = node, slot
    return tensor


class Staged:
    """The gradients of some tensors, in stages; ``before`` are those of tensors that keep theirs."""

    def __init__(
        self,
        record: Record,
        targets: Sequence[tuple[Tensor, Tensor | None]],
        inputs: Sequence[Tensor],
        watched: Iterable[Tensor],
        cuts: Sequence[Tensor] = (),
        create_graph: bool = False,
        layers: Sequence[LayerNode] | None = None,
    ) -> None:
        self.record, self.cuts, self.create_graph = record, list(cuts), create_graph
        self.closed = {key_of(t) for t in cuts}
        self.stops: dict[Key, Tensor] = {}
        self.layers = record.layers if layers is None else layers  # those through which the sweep is to go
        for node in self.layers:
            for slot, value in enumerate(node.results):
                self.stops[id(node), slot] = result_of(node, slot, value)
        for tensor in watched:
            self.stops[key_of(tensor)] = tensor
        if any(t._hooks for t in self.stops.values()) and any(isinstance(node, GradientNode) for node in record.nodes):
            # which parts of a derivative pass a tensor depends on how its rule is written
            what = "a gradient that is differentiated again passes a tensor with hooks"
            raise BadArgument(what, hint="remove the hooks, or put them on leaves")
        self.inputs = {key_of(t): t for t in inputs}
        self.pending: dict[Key, tuple[Tensor, Tensor]] = {}
        self.gradients: dict[Key, Tensor] = {}
        self.before: list[tuple[Tensor, Tensor]] = []
        for tensor, seed in targets:
            self.receive(tensor, whole_seed(seed, tensor))
        while self.pending:
            self.go_on(*max(self.pending.values(), key=lambda entry: order_of(entry[0])))

    def gradient(self, tensor: Tensor) -> Tensor | None:
        """The gradient of a tensor so far; None if there is none."""
        return self.gradients.get(key_of(tensor))

    def added(self, old: Tensor | None, new: Tensor) -> Tensor:
        """One gradient more."""
        if old is None:
            return new
        with switch(self.create_graph):
            return tensors.add(old, new)  # type: ignore[attr-defined, no-any-return]

    def receive(self, tensor: Tensor, gradient: Tensor) -> None:
        """Add to the pending gradient of a tensor."""
        key = key_of(tensor)
        if key not in self.closed:
            old = self.pending.get(key)
            self.pending[key] = (self.stops.get(key, tensor), self.added(old and old[1], gradient))

    def whole(self, tensor: Tensor, gradient: Tensor) -> Tensor:
        """The gradient of a tensor at which the sweep stops, as it flows on."""
        hooks = dict(tensor._hooks or {})
        bound = 0 if tensor._retains is None else tensor._retains
        with switch(self.create_graph):
            gradient = run_hooks(tensor, gradient, [hook for key, hook in hooks.items() if key < bound])
            if tensor._retains is not None and tensor._node is not None:
                self.before.append((tensor, gradient))
            gradient = run_hooks(tensor, gradient, [hook for key, hook in hooks.items() if key >= bound])
        if key_of(tensor) in self.inputs:
            self.gradients[key_of(tensor)] = gradient
        return gradient

    def go_on(self, tensor: Tensor, gradient: Tensor) -> None:
        """One stage."""
        key = key_of(tensor)
        del self.pending[key]
        if tensor._node is None:
            if key in self.inputs:
                self.whole(tensor, gradient)
            return
        if key in self.stops:
            gradient = self.whole(tensor, gradient)
        if isinstance(tensor._node, LayerNode):
            if tensor._node in self.layers:
                self.through(tensor._node, key, gradient)
            return
        order = order_of(tensor)
        stops = {k: t for k, t in self.stops.items() if k != key and order_of(t) <= order and k not in self.closed}
        inner = [t for t in stops.values() if not isinstance(t._node, LayerNode)]
        free = {k: t for k, t in self.inputs.items() if k not in stops and not (k == key and key in self.stops)}
        sources = [*free.values(), *(t for t in stops.values() if isinstance(t._node, LayerNode))]
        parts = engine_gradients(self.record, [(tensor, gradient)], sources, [*self.cuts, *inner], self.create_graph)
        for stop in inner:
            others = [t for t in inner if t is not stop]
            parts += engine_gradients(self.record, [(tensor, gradient)], [stop], [*self.cuts, *others], self.create_graph)
        for source, part in zip([*sources, *inner], parts, strict=True):
            if part is None:
                continue
            if source._node is None or key_of(source) in self.stops:
                self.receive(source, part)
            else:
                self.gradients[key_of(source)] = self.added(self.gradients.get(key_of(source)), part)

    def through(self, node: LayerNode, key: Key, gradient: Tensor) -> None:
        """A stage through a function that defines its own derivative, once the gradients of all its results are complete."""
        cotangents: dict[int, Tensor] = {key[1]: gradient}
        for slot in range(len(node.results)):
            entry = self.pending.pop((id(node), slot), None)
            if entry is not None:
                cotangents[slot] = self.whole(*entry)
        with switch(self.create_graph):
            parts = node.call(cotangents)
        for edge, part in zip(node.inputs, parts, strict=True):
            if type(edge) is Edge and part is not None:
                self.receive(at_use(edge), part)


__all__ = ["Staged", "engine_gradients", "seed_array"]
