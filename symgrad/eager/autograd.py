"""``backward`` and ``grad``: build a recipe from the record of some tensors, compile its backward half and run it."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from symgrad.eager.dump import dump
from symgrad.eager.node import MODE, SWEEPS, Function, Node, switch
from symgrad.eager.record import Record
from symgrad.eager.staged import Staged, engine_gradients
from symgrad.eager.tensor import Tensor, stored_gradient
from symgrad.errors import NotReached, required
from symgrad.tracebacks import boundary, refused
from symgrad.vocabulary.dispatch import STATIC

Array = np.ndarray[Any, Any]


@overload
def no_grad(function: None = None) -> switch: ...
@overload
def no_grad(function: Function) -> Function: ...
def no_grad(function: Any = None) -> Any:
    """Do not record: a context and a decorator, with and without parentheses."""
    return switch(False, function)


@overload
def enable_grad(function: None = None) -> switch: ...
@overload
def enable_grad(function: Function) -> Function: ...
def enable_grad(function: Any = None) -> Any:
    """Record, also inside ``no_grad``."""
    return switch(True, function)


def is_grad_enabled() -> bool:
    """Whether recording is on."""
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


# ------------------------------------------------------------------ arguments


def tensors_of(argument: Any, name: str) -> list[Tensor]:
    """A tensor, or a list or tuple of them, not empty."""
    if isinstance(argument, Tensor):
        return [argument]
    required(isinstance(argument, list | tuple), f"{name} must be a Tensor, or a list or tuple of Tensors")
    required(argument, f"{name} must not be empty")
    for item in argument:
        required(isinstance(item, Tensor), f"{name} must hold Tensors, not {type(item).__name__}")
    return list(argument)


def seeds_of(argument: Any, targets: list[Tensor], name: str) -> list[Tensor | None]:
    """A seed or None for each target; shapes must agree, but one element fits one element."""
    if argument is None or isinstance(argument, list | tuple) and not argument:
        return [None] * len(targets)
    seeds = [argument] if isinstance(argument, Tensor) else argument
    required(isinstance(seeds, list | tuple), f"{name} must be a Tensor, or a list or tuple of Tensors and None")
    for seed in seeds:
        required(seed is None or isinstance(seed, Tensor), f"{name} must hold Tensors and None, not {type(seed).__name__}")
    required(len(seeds) == len(targets), f"{name} has {len(seeds)} entries for {len(targets)} tensors")
    for seed, target in zip(seeds, targets, strict=True):
        if seed is not None and seed.shape != target.shape and not seed.size == target.size == 1:
            raise refused(ValueError(f"a seed of shape {seed.shape} does not fit a tensor of shape {target.shape}"))
        if seed is not None and seed.dtype.kind == "c" and target.dtype.kind != "c":
            raise refused(TypeError(f"a seed of {seed.dtype} does not fit a tensor of {target.dtype}; take its real part"))
    return list(seeds)


def truth(value: Any, name: str) -> None:
    """Raise unless the argument is a bool."""
    required(isinstance(value, bool), f"{name} must be a bool, not {type(value).__name__}")


# ------------------------------------------------------------------ backward


@boundary
def backward(tensors: Any, grad_tensors: Any = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None) -> None:
    """Add the gradient of ``sum(<seed, tensor>)`` to ``grad`` of every leaf that the tensors depend on.

    Seeds that are None are ones. Without ``retain_graph`` the record is freed. ``dump_backward_graph_path`` is a folder
    for the graph and the places it was recorded at.

    Raises AssertionError for arguments of a wrong kind, ValueError for seeds of a wrong shape, FreedGraph for a second
    sweep through a freed record.

    >>> x = Tensor(np.array(3.0), stop_gradient=False)
    >>> backward([x * x])
    >>> x.grad.item()
    6.0
    """
    required(not STATIC[0], "backward works on tensors; call disable_static() first")
    targets = tensors_of(tensors, "tensors")
    required(len({id(t) for t in targets}) == len(targets), "a tensor appears twice in tensors")
    seeds = seeds_of(grad_tensors, targets, "grad_tensors")
    truth(retain_graph, "retain_graph")
    pairs = [(t, s) for t, s in zip(targets, seeds, strict=True) if not t.stop_gradient]
    record = Record([t for t, _ in pairs])
    if dump_backward_graph_path is not None:
        dump(record.nodes, dump_backward_graph_path)
    if not pairs:
        return
    leaves = dict.fromkeys([*record.leaves, *(t for t, _ in pairs if t._node is None)])
    for tensor, gradient in swept(record, pairs, list(leaves)):
        if tensor._node is None:
            accumulate(tensor, gradient._value)
        else:
            tensor._grad = stored_gradient(gradient._value)
    for part in unused_parts(record):
        part._grad = stored_gradient(np.zeros_like(part._value))
    if not retain_graph:
        for node in record.nodes:
            node.free()


def accumulate(tensor: Tensor, gradient: Array) -> None:
    """Add to ``grad``, in place."""
    if tensor._grad is None:
        tensor._grad = stored_gradient(gradient)
        tensor._grad._name = f"{tensor.name}@GRAD" if tensor._name else None
    else:
        tensor._grad.renew(tensor._grad._value + gradient)


def watched(record: Record, targets: list[tuple[Tensor, Tensor | None]]) -> dict[int, Tensor]:
    """Tensors inside the record, or targets, that keep their gradient or have hooks."""
    ends = [t for t, _ in targets if t._node is not None and (t._retains is not None or t._hooks)]
    return {id(t): t for t in [*record.inside, *ends]}


def unused_parts(record: Record) -> list[Tensor]:
    """Return parts that retain their gradient, of tensors of which only other parts are used."""
    parts: dict[int, Tensor] = {}
    for node in record.nodes:
        for reference in (isinstance(node, Node) and node.parts) or ():
            part = reference()
            if part is not None and part._retains is not None and part._node is not None and part._node not in record.first:
                parts[id(part)] = part
    return list(parts.values())


def swept(record: Record, targets: list[tuple[Tensor, Tensor | None]], leaves: list[Tensor]) -> list[tuple[Tensor, Tensor]]:
    """Each tensor that is to have its gradient set, with the gradient; hooks have run."""
    inside = watched(record, targets)
    sources = [*leaves, *inside.values()]
    if not record.layers and not any(t._hooks for t in sources):
        gradients = engine_gradients(record, targets, sources, (), False)
        return [(t, g) for t, g in zip(sources, gradients, strict=True) if g is not None]
    staged = Staged(record, targets, leaves, inside.values())
    return [*staged.before, *((t, g) for t in leaves if (g := staged.gradient(t)) is not None)]


# ------------------------------------------------------------------ grad


@boundary
def grad(outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: bool | None = None, create_graph: bool = False,
         only_inputs: bool = True, allow_unused: bool = False, no_grad_vars: Any = None, *,
         dump_backward_graph_path: str | None = None) -> list[Tensor | None]:  # fmt: skip
    """Return the gradients of ``sum(<seed, output>)`` with respect to the inputs, as a list; ``grad`` attributes are unchanged.

    Only the hooks of tensors through which the outputs depend on the inputs run.

    With ``create_graph`` they can be differentiated again. An input that no output depends on is refused, or with
    ``allow_unused`` gives None. No derivative passes what is in ``no_grad_vars``.

    Raises AssertionError for arguments of a wrong kind, ValueError (NotReached) for an unused input.

    >>> x = Tensor(np.array(3.0), stop_gradient=False)
    >>> (first,) = grad(x * x * x, x, create_graph=True)
    >>> (second,) = grad(first, x)
    >>> first.item(), second.item()
    (27.0, 18.0)
    """
    required(not STATIC[0], "grad works on tensors; call disable_static() first")
    targets = tensors_of(outputs, "outputs")
    sources = tensors_of(inputs, "inputs")
    required(retain_graph is None or isinstance(retain_graph, bool), "retain_graph must be a bool or None")
    truth(create_graph, "create_graph")
    truth(only_inputs, "only_inputs")
    required(only_inputs, "only_inputs=False is not supported yet")
    truth(allow_unused, "allow_unused")
    cuts = cuts_of(no_grad_vars)
    seeds = seeds_of(grad_outputs, targets, "grad_outputs")
    for name, group in (("outputs", targets), ("inputs", sources)):
        if len({id(t) for t in group}) != len(group):
            raise refused(RuntimeError(f"(AlreadyExists) a duplicate tensor appears in {name}"))
    live = [(t, s) for t, s in zip(targets, seeds, strict=True) if not t.stop_gradient]
    record = Record([*(t for t, _ in live), *(s for _, s in live if s is not None and create_graph)])
    if dump_backward_graph_path is not None:
        dump(record.nodes, dump_backward_graph_path)
    cut = {id(t) for t in cuts}
    ends_ids = {id(t) for t, _ in live}
    reached = [t for t in sources if id(t) not in cut and (id(t) in ends_ids or record.reaches(t))]
    blocked = [t for t in cuts if record.reaches(t) and not any(t is end for end in targets)]
    gradient_by_id: dict[int, Tensor | None] = {}
    if live and reached:
        passed = record.depending(reached)
        hooked = [t for t in watched(record, live).values() if t._hooks and (t._node in passed or any(t is one for one in reached))]
        layers = [node for node in record.layers if node in passed]
        if layers or hooked or any(t._hooks for t in reached):
            staged = Staged(record, live, reached, hooked, blocked, create_graph, layers)
            gradient_by_id = {id(t): staged.gradient(t) for t in reached}
        else:
            gradients = engine_gradients(record, live, reached, blocked, create_graph)
            gradient_by_id = {id(t): g for t, g in zip(reached, gradients, strict=True)}
    for place, tensor in enumerate(sources):
        if gradient_by_id.get(id(tensor)) is None and not allow_unused:
            raise NotReached(f"the {place}-th input does not appear in the backward graph; set allow_unused=True to get None for it")
    answers = [gradient_by_id.get(id(tensor)) for tensor in sources]
    for answer in answers:
        if answer is not None and create_graph:
            answer.stop_gradient = False
    return answers


def cuts_of(argument: Any) -> list[Tensor]:
    """Tensors that no derivative passes."""
    if argument is None:
        return []
    if isinstance(argument, Tensor):
        return [argument]
    required(isinstance(argument, list | tuple | set), f"no_grad_vars must be a Tensor, list, tuple or set, not {type(argument).__name__}")
    for item in argument:
        required(isinstance(item, Tensor), f"no_grad_vars must hold Tensors, not {type(item).__name__}")
    return list(argument)


SWEEPS["backward"] = backward
