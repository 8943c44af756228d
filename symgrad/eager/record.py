"""The record of some tensors, with everything that they depend on, as a recipe and the values of its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from symgrad.eager.node import Edge, GradientNode, LayerNode, Node, Recorded
from symgrad.eager.tensor import Tensor, frozen_graph
from symgrad.errors import Overwritten
from symgrad.identity import Same
from symgrad.record.quiet import quietly
from symgrad.record.recipe import Applied, Backward, Differentiated, Leaf, Step, backward_of, kind_of_value

Array = np.ndarray[Any, Any]


class Record:
    """Everything that some tensors depend on, as a recipe and its values."""

    def __init__(self, targets: Iterable[Tensor]) -> None:
        self.steps: list[Step] = []
        self.values: list[Any] = []
        self.sources: dict[int, Edge] = {}  #: index of a leaf -> its uses
        self.leaves: dict[Tensor, list[int]] = {}  #: leaves -> their indices: one, unless modified in place between uses
        self.inside: list[Tensor] = []  #: results of operations that keep their gradient or have hooks, as often as they were used
        self.first: dict[Recorded, int] = {}  #: the index of a node's first result; the others follow
        self.constants: dict[int, int] = {}
        self.nodes: list[Recorded] = sorted(ancestors(targets), key=attrgetter("order"))
        self.layers: list[LayerNode] = []  #: whose results are values from outside here
        for node in self.nodes:
            if type(node) is Node:
                self.operation(node)
            elif type(node) is GradientNode:
                self.gradient(node)
            elif type(node) is LayerNode:
                self.layers.append(node)
                for edge in node.edges():
                    self.noted(edge)
                    if edge.node is None:
                        self.leaves.setdefault(edge.tensor, [])
                self.first[node] = len(self.values)
                for value in node.results:
                    self.leaf(value)

    def leaf(self, value: Any) -> int:
        """Return the index of a value from outside."""
        self.values.append(value)
        place = len(self.values) - 1
        self.steps.append(Leaf(kind_of_value(value), place))
        return place

    def results(self, node: Recorded) -> tuple[int, ...]:
        """Register the results of a node, and return their indices."""
        start = self.first[node] = len(self.values)
        self.values += node.results
        return tuple(range(start, len(self.values)))

    def reaches(self, tensor: Tensor) -> bool:
        """Whether it is part of the record."""
        return tensor in self.leaves or tensor._node in self.first

    def depending(self, inputs: Sequence[Tensor]) -> set[Recorded]:
        """The nodes whose results depend on one of some tensors."""
        leaves = {Same(tensor) for tensor in inputs if tensor._node is None}
        inner = {(tensor._node, tensor._slot) for tensor in inputs if tensor._node is not None}
        dependents: set[Recorded] = set()
        for node in self.nodes:
            for edge in node.edges():
                if edge.node is None and Same(edge.tensor) in leaves or edge.node in dependents or (edge.node, edge.slot) in inner:
                    dependents.add(node)
                    break
        return dependents

    def constant(self, value: Any) -> int:
        """Return the index of a value without a derivative."""
        if not isinstance(value, np.ndarray):
            return self.leaf(value)
        if id(value) not in self.constants:
            self.constants[id(value)] = self.leaf(value)
        return self.constants[id(value)]

    def noted(self, edge: Edge) -> None:
        """Register a used tensor, if its gradient is retained or observed."""
        tensor = edge.tensor
        if (tensor._retains is not None or tensor._hooks) and tensor._node is not None:
            if edge.node is not tensor._node:
                raise Overwritten(f"{tensor.name} has hooks or keeps its gradient, but was changed in place since it was used")
            self.inside.append(tensor)

    def place(self, edge: Edge) -> int:
        """Return the index of a tensor's state at its use."""
        first = self.first.get(edge.node)
        if first is not None:
            place: int = first + edge.slot
            if self.values[place] is not edge.value:
                raise Overwritten(f"{edge.tensor.name} was changed in place without being recorded, and then used")
            return place
        places = self.leaves.setdefault(edge.tensor, [])
        for place in places:
            if self.values[place] is edge.value:
                return place
        new_place = self.leaf(edge.value)
        places.append(new_place)
        self.sources[new_place] = edge
        return new_place

    def used(self, edge: Edge) -> int:
        """Return the index of a used tensor, and register it."""
        self.noted(edge)
        return self.place(edge)

    def operation(self, node: Node) -> None:
        """Enter an operation."""
        places = tuple([self.used(operand) if type(operand) is Edge else self.constant(operand) for operand in node.inputs])
        self.steps.append(Applied(node.operation, places, self.results(node)))

    def gradient(self, node: GradientNode) -> None:
        """Enter recorded gradients."""
        targets = tuple(map(self.used, node.targets))
        inputs = tuple(map(self.used, node.inputs))
        seeds = tuple([None if s is None else self.used(s) if type(s) is Edge else self.constant(s) for s in node.seeds])
        cuts = tuple(map(self.used, node.cuts))
        self.steps.append(Differentiated(targets, inputs, seeds, cuts, self.results(node)))

    def gradients(
        self, targets: Sequence[Tensor], inputs: Sequence[Tensor], seeds: Sequence[Array | None], cuts: Sequence[Tensor] = ()
    ) -> list[Array | None]:
        """The gradients, as arrays of their own, None where no target depends on an input."""
        ends = tuple([self.place(Edge(t)) for t in targets])
        starts = [self.places(t) for t in inputs]
        stops = tuple([self.place(Edge(t)) for t in cuts])
        seed_places = tuple([None if s is None else self.constant(s) for s in seeds])
        asked = Backward(tuple(self.steps), ends, tuple([p for places in starts for p in places]), seed_places, stops)
        compiled, results = backward_of(asked)
        arguments = []
        for key, scalar in zip(compiled.keys, compiled.scalars, strict=True):
            value = self.values[key]  # type: ignore[call-overload]
            edge = self.sources.get(key)  # type: ignore[call-overload]
            if edge is not None and edge.tensor._version != edge.version:
                raise Overwritten(f"{edge.tensor.name} is needed as it was when it was used, but it was changed in place since")
            arguments.append(value[()] if scalar and isinstance(value, np.ndarray) else value)
        outputs = quietly(compiled.function, *arguments)
        answers: list[Array | None] = []
        rest = iter(results)
        for places, tensor in zip(starts, inputs, strict=True):
            parts = [outputs[k] for k in [next(rest) for _ in places] if k is not None]
            answers.append(fitting(sum(parts[1:], parts[0]), tensor._value) if parts else None)
        return answers

    def places(self, tensor: Tensor) -> list[int]:
        """Return the indices of a tensor whose gradient is requested."""
        if tensor._node is None and (known := self.leaves.get(tensor)):
            return known
        return [self.place(Edge(tensor))]


def fitting(gradient: Any, value: Array) -> Array:
    """The gradient as an array in the shape and dtype of its tensor."""
    array = np.asarray(gradient, value.dtype)
    return array if array.shape == value.shape else np.broadcast_to(array, value.shape).copy()


def ancestors(targets: Iterable[Tensor]) -> set[Recorded]:
    """The nodes that some tensors depend on."""
    visited: set[Recorded] = set()
    todo: list[Recorded] = [t._node for t in targets if t._node is not None]
    while todo:
        node = todo.pop()
        if node in visited:
            continue
        if node.freed:
            raise frozen_graph(node.name)
        visited.add(node)
        todo += [edge.node for edge in node.edges() if edge.node is not None and edge.node not in visited]
    return visited
