"""``backward`` and ``grad``: the record of some tensors -> a recipe -> the compiled backward half, called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.eager.dump import dump
from symgrad.eager.node import MODE, SWEEPS, Edge, GradientNode, Node, switch
from symgrad.eager.tensor import Tensor, apply, frozen_graph
from symgrad.errors import BadArgument, NotReached, Overwritten
from symgrad.functional import tensors as functions
from symgrad.record.recipe import Applied, Backward, Differentiated, Leaf, Step, backward_of, kind_of_value
from symgrad.vocabulary.dispatch import STATIC

Array = np.ndarray[Any, Any]


def no_grad(function: Callable[..., Any] | None = None) -> switch:
    """Do not record: a context and a decorator, with and without parentheses."""
    return switch(False, function)


def enable_grad(function: Callable[..., Any] | None = None) -> switch:
    """Record, also inside ``no_grad``."""
    return switch(True, function)


def is_grad_enabled() -> bool:
    """Is recording on?"""
    return MODE.enabled


class set_grad_enabled(switch):  # noqa: N801 (the documented name)
    """Turn recording on or off, at once and, in a ``with``, until its end."""

    def __init__(self, mode: bool) -> None:
        super().__init__(mode)
        self.outer = MODE.enabled
        MODE.enabled = mode

    def __enter__(self) -> None:
        self.before.append(self.outer)
        MODE.enabled = self.mode


# ------------------------------------------------------------------ the record


class Record:
    """All that some tensors were made of, as a recipe with the values at its places."""

    def __init__(self, targets: Iterable[Tensor]) -> None:
        self.steps: list[Step] = []
        self.values: list[Any] = []
        self.sources: dict[int, Edge] = {}  #: place of a leaf -> how it was used
        self.leaves: dict[int, list[int]] = {}  #: id of a leaf -> its places: one, unless it was changed in place between uses
        self.made: dict[tuple[int, int], int] = {}  #: id of a node and slot -> its place
        self.constants: dict[int, int] = {}
        self.nodes: list[Node | GradientNode] = sorted(ancestors(targets), key=lambda node: node.order)
        for node in self.nodes:
            if isinstance(node, Node):
                self.operation(node)
            else:
                self.gradient(node)

    def leaf(self, value: Any) -> int:
        """The place of a value from outside."""
        self.values.append(value)
        place = len(self.values) - 1
        self.steps.append(Leaf(kind_of_value(value), place))
        return place

    def result(self, node: Node | GradientNode, slot: int, value: Any) -> int:
        """The place of what a node made."""
        self.values.append(value)
        self.made[id(node), slot] = len(self.values) - 1
        return len(self.values) - 1

    def constant(self, value: Any) -> int:
        """The place of a value through which no derivative passes."""
        if not isinstance(value, np.ndarray):
            return self.leaf(value)
        if id(value) not in self.constants:
            self.constants[id(value)] = self.leaf(value)
        return self.constants[id(value)]

    def place(self, edge: Edge) -> int:
        """The place of a tensor as it was used."""
        if edge.node is not None:
            found = self.made.get((id(edge.node), edge.slot))
            if found is not None:
                return found
        places = self.leaves.setdefault(id(edge.tensor), [])
        for found in places:
            if self.values[found] is edge.value:
                return found
        made = self.leaf(edge.value)
        places.append(made)
        self.sources[made] = edge
        return made

    def operation(self, node: Node) -> None:
        """Enter an operation."""
        places = tuple([self.place(given) if type(given) is Edge else self.constant(given) for given in node.inputs])
        outputs = tuple([self.result(node, slot, value) for slot, value in enumerate(node.results)])
        self.steps.append(Applied(node.operation, places, outputs))

    def gradient(self, node: GradientNode) -> None:
        """Enter recorded gradients."""
        targets = tuple(map(self.place, node.targets))
        inputs = tuple(map(self.place, node.inputs))
        seeds = tuple([None if s is None else self.place(s) if type(s) is Edge else self.constant(s) for s in node.seeds])
        cuts = tuple(map(self.place, node.cuts))
        outputs = tuple([self.result(node, slot, value) for slot, value in enumerate(node.results)])
        self.steps.append(Differentiated(targets, inputs, seeds, cuts, outputs))

    def gradients(self, targets: Sequence[Tensor], inputs: Sequence[Tensor], seeds: Sequence[Array | None],
                  cuts: Sequence[Tensor] = ()) -> list[Array | None]:  # fmt: skip
        """The gradients, as arrays of their own, None where no target depends on an input."""
        ends = tuple([self.place(Edge(t)) for t in targets])
        starts = [self.places(t) for t in inputs]
        stops = tuple([self.place(Edge(t)) for t in cuts])
        given = tuple([None if s is None else self.constant(s) for s in seeds])
        asked = Backward(tuple(self.steps), ends, tuple([p for places in starts for p in places]), given, stops)
        compiled, results = backward_of(asked)
        arguments = []
        for key, scalar in zip(compiled.keys, compiled.scalars, strict=True):
            value = self.values[key]  # type: ignore[call-overload]
            edge = self.sources.get(key)  # type: ignore[call-overload]
            if edge is not None and edge.tensor._version != edge.version:
                raise Overwritten(f"{edge.tensor.name} is needed as it was when it was used, but it was changed in place since")
            arguments.append(value[()] if scalar and isinstance(value, np.ndarray) else value)
        with np.errstate(all="ignore"):
            found = compiled.function(*arguments)
        answers: list[Array | None] = []
        rest = iter(results)
        for places, tensor in zip(starts, inputs, strict=True):
            parts = [found[k] for k in [next(rest) for _ in places] if k is not None]
            answers.append(fitting(sum(parts[1:], parts[0]), tensor._value) if parts else None)
        return answers

    def places(self, tensor: Tensor) -> list[int]:
        """The places of a tensor whose gradient is asked for."""
        if tensor._node is None and id(tensor) in self.leaves:
            return self.leaves[id(tensor)]
        return [self.place(Edge(tensor))]


def fitting(gradient: Any, value: Array) -> Array:
    """The gradient as an array in the shape and dtype of its tensor."""
    made = np.asarray(gradient, value.dtype)
    return made if made.shape == value.shape else np.broadcast_to(made, value.shape).copy()


def ancestors(targets: Iterable[Tensor]) -> set[Node | GradientNode]:
    """The nodes that some tensors were made by."""
    found: set[Node | GradientNode] = set()
    todo: list[Node | GradientNode] = [t._node for t in targets if t._node is not None]
    while todo:
        node = todo.pop()
        if node in found:
            continue
        if node.freed:
            raise frozen_graph(node.name)
        found.add(node)
        todo += [edge.node for edge in node.edges() if edge.node is not None and edge.node not in found]
    return found


def leaves_of(record: Record) -> list[Tensor]:
    """The leaves that the record reaches."""
    found: dict[int, Tensor] = {}
    for node in record.nodes:
        for edge in node.edges():
            if edge.node is None:
                found[id(edge.tensor)] = edge.tensor
    return list(found.values())


# ------------------------------------------------------------------ arguments


def tensors_of(given: Any, name: str) -> list[Tensor]:
    """A tensor, or a list or tuple of them, not empty."""
    if isinstance(given, Tensor):
        return [given]
    assert isinstance(given, list | tuple), f"{name} must be a Tensor, or a list or tuple of Tensors"
    assert given, f"{name} must not be empty"
    for item in given:
        assert isinstance(item, Tensor), f"{name} must hold Tensors, not {type(item).__name__}"
    return list(given)


def seeds_of(given: Any, targets: list[Tensor], name: str) -> list[Tensor | None]:
    """A seed or None for each target; shapes must agree, but one element fits one element."""
    if given is None or isinstance(given, list | tuple) and not given:
        return [None] * len(targets)
    seeds = [given] if isinstance(given, Tensor) else given
    assert isinstance(seeds, list | tuple), f"{name} must be a Tensor, or a list or tuple of Tensors and None"
    for seed in seeds:
        assert seed is None or isinstance(seed, Tensor), f"{name} must hold Tensors and None, not {type(seed).__name__}"
    assert len(seeds) == len(targets), f"{name} has {len(seeds)} entries for {len(targets)} tensors"
    for seed, target in zip(seeds, targets, strict=True):
        if seed is not None and seed.shape != target.shape and not seed.size == target.size == 1:
            raise ValueError(f"a seed of shape {seed.shape} does not fit a tensor of shape {target.shape}")
    return list(seeds)


def seed_array(seed: Tensor | None, target: Tensor) -> Array | None:
    """The seed in the shape and dtype of its target."""
    return None if seed is None else np.array(seed._value, target.dtype).reshape(target._value.shape)


def truth(value: Any, name: str) -> None:
    """Refuse what is no bool."""
    assert isinstance(value, bool), f"{name} must be a bool, not {type(value).__name__}"


# ------------------------------------------------------------------ backward


def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None) -> None:
    """Add the gradient of ``sum(<seed, tensor>)`` to ``grad`` of every leaf that the tensors were made of.

    Seeds that are None are ones. Without ``retain_graph`` the record is freed. ``dump_backward_graph_path`` is a folder
    for the graph and the places it was recorded at.

    Raises AssertionError for arguments of a wrong kind, ValueError for seeds of a wrong shape, FreedGraph for a second
    sweep through a freed record.

    >>> x = Tensor(np.array(3.0), stop_gradient=False)
    >>> backward([x * x])
    >>> x.grad.item()
    6.0
    """
    assert not STATIC[0], "backward works on tensors; call disable_static() first"
    targets = tensors_of(tensors, "tensors")
    assert len({id(t) for t in targets}) == len(targets), "a tensor stands twice in tensors"
    seeds = seeds_of(grad_tensors, targets, "grad_tensors")
    truth(retain_graph, "retain_graph")
    pairs = [(t, s) for t, s in zip(targets, seeds, strict=True) if not t.stop_gradient]
    record = Record([t for t, _ in pairs])
    if dump_backward_graph_path is not None:
        dump(record.nodes, dump_backward_graph_path)
    if not pairs:
        return
    leaves = {id(t): t for t in leaves_of(record)}
    leaves |= {id(t): t for t, _ in pairs if t._node is None}
    given = [(t, seed_array(s, t)) for t, s in pairs]
    for tensor, gradient in swept(record, given, list(leaves.values())):
        if tensor._node is None:
            accumulate(tensor, gradient)
        else:
            tensor._grad = Tensor(gradient)
    for part in unused_parts(record):
        part._grad = Tensor(np.zeros_like(part._value))
    if not retain_graph:
        for node in record.nodes:
            node.free()


def accumulate(tensor: Tensor, gradient: Array) -> None:
    """Add to ``grad``, in place."""
    if tensor._grad is None:
        tensor._grad = Tensor(gradient)
        tensor._grad._name = f"{tensor.name}@GRAD" if tensor._name else None
    else:
        tensor._grad._value = tensor._grad._value + gradient


def watched(record: Record) -> list[Tensor]:
    """Tensors inside the record that keep their gradient or have hooks."""
    found: dict[int, Tensor] = {}
    for node in record.nodes:
        for edge in node.edges():
            tensor = edge.tensor
            if tensor._node is not None and (tensor._retains or tensor._hooks):
                if edge.node is not tensor._node:
                    raise Overwritten(f"{tensor.name} has hooks or keeps its gradient, but was changed in place since it was used")
                found[id(tensor)] = tensor
    return list(found.values())


def unused_parts(record: Record) -> list[Tensor]:
    """Parts that keep their gradient, of tensors of which only other parts are used."""
    found: dict[int, Tensor] = {}
    for node in record.nodes:
        for reference in (isinstance(node, Node) and node.parts) or ():
            part = reference()
            if part is not None and part._retains and part._node is not None and (id(part._node), part._slot) not in record.made:
                found[id(part)] = part
    return list(found.values())


def swept(record: Record, targets: list[tuple[Tensor, Array | None]], leaves: list[Tensor]) -> list[tuple[Tensor, Array]]:
    """Each tensor that is to have its gradient set, with the gradient; hooks have run."""
    inside = {id(t): t for t in watched(record)} | {id(t): t for t, _ in targets if t._node is not None and (t._retains or t._hooks)}
    wanted = [*leaves, *inside.values()]
    if not any(t._hooks for t in wanted):
        ends = [t for t, _ in targets]
        found = record.gradients(ends, wanted, [s for _, s in targets])
        return [(t, g) for t, g in zip(wanted, found, strict=True) if g is not None]
    return hooked(record, targets, leaves, inside)


def hooked(record: Record, targets: list[tuple[Tensor, Array | None]], leaves: list[Tensor],
           inside: dict[int, Tensor]) -> list[tuple[Tensor, Array]]:  # fmt: skip
    """The sweep in stages: what flows on from a tensor with hooks is what its hooks return."""
    pending: dict[int, tuple[Tensor, Array]] = {}
    total: dict[int, Array] = {}

    def receive(tensor: Tensor, gradient: Array) -> None:
        old = pending.get(id(tensor))
        pending[id(tensor)] = (tensor, gradient if old is None else old[1] + gradient)

    for tensor, seed in targets:
        receive(tensor, np.ones_like(tensor._value) if seed is None else seed)
    answers: list[tuple[Tensor, Array]] = []
    while pending:
        tensor, gradient = max(pending.values(), key=lambda entry: -1 if entry[0]._node is None else entry[0]._node.order)
        del pending[id(tensor)]
        if tensor._retains and tensor._node is not None:
            answers.append((tensor, gradient))
        gradient = run_hooks(tensor, gradient)
        if tensor._node is None:
            total[id(tensor)] = gradient
            answers.append((tensor, gradient))
            continue
        stops = [t for t in inside.values() if t is not tensor]
        wanted = [*leaves, *stops]
        for source, part in zip(wanted, staged(record, tensor, gradient, wanted, stops), strict=True):
            if part is not None:
                receive(source, part)
    return answers


def staged(record: Record, target: Tensor, seed: Array, wanted: list[Tensor], stops: list[Tensor]) -> list[Array | None]:
    """One stage: the gradients up to the next tensors with hooks, each of which is cut for all others."""
    order = target._node.order if target._node is not None else -1
    before = [t for t in stops if t._node is not None and t._node.order <= order]
    leaves = wanted[: len(wanted) - len(stops)]
    found: dict[int, Array | None] = {}
    for tensor, gradient in zip(leaves, record.gradients([target], leaves, [seed], before), strict=True):
        found[id(tensor)] = gradient
    for stop in before:
        others = [t for t in before if t is not stop]
        (found[id(stop)],) = record.gradients([target], [stop], [seed], others)
    return [found.get(id(t)) for t in wanted]


def run_hooks(tensor: Tensor, gradient: Array) -> Array:
    """What the hooks of a tensor make of its gradient."""
    for hook in list((tensor._hooks or {}).values()):
        made = hook(Tensor(gradient))
        if made is not None:
            gradient = made._value
    return gradient


# ------------------------------------------------------------------ grad


def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
         only_inputs: bool = True, allow_unused: bool = False, no_grad_vars: Any = None, *,
         dump_backward_graph_path: str | None = None) -> list[Tensor | None]:  # fmt: skip
    """The gradients of ``sum(<seed, output>)`` with respect to the inputs, as a list; no ``grad`` is touched.

    With ``create_graph`` they can be differentiated again. An input that no output depends on is refused, or with
    ``allow_unused`` gives None. No derivative passes what is in ``no_grad_vars``.

    Raises AssertionError for arguments of a wrong kind, ValueError (NotReached) for an unused input.

    >>> x = Tensor(np.array(3.0), stop_gradient=False)
    >>> (first,) = grad(x * x * x, x, create_graph=True)
    >>> (second,) = grad(first, x)
    >>> first.item(), second.item()
    (27.0, 18.0)
    """
    assert not STATIC[0], "grad works on tensors; call disable_static() first"
    targets = tensors_of(outputs, "outputs")
    sources = tensors_of(inputs, "inputs")
    assert retain_graph is None or isinstance(retain_graph, bool), "retain_graph must be a bool or None"
    truth(create_graph, "create_graph")
    truth(only_inputs, "only_inputs")
    assert only_inputs, "only_inputs=False is not supported yet"
    truth(allow_unused, "allow_unused")
    cuts = cuts_of(no_grad_vars)
    seeds = seeds_of(grad_outputs, targets, "grad_outputs")
    for name, group in (("outputs", targets), ("inputs", sources)):
        if len({id(t) for t in group}) != len(group):
            raise RuntimeError(f"(AlreadyExists) a duplicate tensor stands in {name}")
    live = [(t, s) for t, s in zip(targets, seeds, strict=True) if not t.stop_gradient]
    record = Record([*(t for t, _ in live), *(s for _, s in live if s is not None and create_graph)])
    if dump_backward_graph_path is not None:
        dump(record.nodes, dump_backward_graph_path)
    cut = {id(t) for t in cuts}
    reached = [t for t in sources if not t.stop_gradient and id(t) not in cut]
    ends_ids = {id(t) for t in targets}
    inside = [t for t in cuts if t._node is not None and (id(t._node), t._slot) in record.made or id(t) in record.leaves]
    blocked = [t for t in inside if id(t) not in ends_ids]
    found: dict[int, Array | None] = {}
    if live and reached:
        ends = [t for t, _ in live]
        wanted = list(reached)
        retained = [t for t in watched(record) if t._retains and id(t) not in {id(w) for w in wanted}]
        alone = wanted[0] if len(wanted) == 1 else None
        inside = [*watched(record), *(t for t in ends if t._node is not None)]
        if any(t._hooks and t is not alone for t in inside) or create_graph and any(t._hooks for t in wanted):
            what = "grad does not run hooks of tensors inside the graph, nor does it record what hooks do"
            raise BadArgument(what, hint="use backward(), or remove the hooks")
        arrays = [seed_array(s, t) for t, s in live]
        made = record.gradients(ends, [*wanted, *retained], arrays, blocked)
        found = {id(t): g for t, g in zip([*wanted, *retained], made, strict=True)}
        for tensor in [*wanted, *retained]:
            gradient = found[id(tensor)]
            if gradient is not None and tensor._hooks:
                found[id(tensor)] = run_hooks(tensor, gradient)
            if gradient is not None and tensor._retains and tensor._node is not None:
                tensor._grad = Tensor(gradient)
    for place, tensor in enumerate(sources):
        if found.get(id(tensor)) is None and not allow_unused:
            raise NotReached(f"the {place}-th input does not appear in the backward graph; set allow_unused=True to get None for it")
    node = None
    if create_graph:
        kept = [t for t in sources if found.get(id(t)) is not None]
        ends_ = [Edge(t) for t, _ in live]
        node = GradientNode(ends_, [Edge(t) for t in kept], [seed_edge(s, t) for t, s in live], [Edge(t) for t in blocked],
                            tuple([g for t in kept if (g := found[id(t)]) is not None]))  # fmt: skip
        slots = {id(t): k for k, t in enumerate(kept)}
    answers: list[Tensor | None] = []
    for tensor in sources:
        gradient = found.get(id(tensor))
        if gradient is None:
            answers.append(None)
            continue
        answer = Tensor(gradient, not create_graph)
        if node is not None:
            answer._node, answer._slot = node, slots[id(tensor)]
        answers.append(answer)
    return answers


def seed_edge(seed: Tensor | None, target: Tensor) -> Any:
    """A seed as it is recorded: None, an array, or an edge through which derivatives pass."""
    if seed is None or seed.stop_gradient:
        return seed_array(seed, target)
    return Edge(seed if seed.shape == target.shape else apply(functions.reshape, seed, shape=tuple(target.shape)))


def cuts_of(given: Any) -> list[Tensor]:
    """Tensors that no derivative passes."""
    if given is None:
        return []
    if isinstance(given, Tensor):
        return [given]
    assert isinstance(given, list | tuple | set), f"no_grad_vars must be a Tensor, list, tuple or set, not {type(given).__name__}"
    for item in given:
        assert isinstance(item, Tensor), f"no_grad_vars must hold Tensors, not {type(item).__name__}"
    return list(given)


SWEEPS["backward"] = backward
