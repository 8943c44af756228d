"""``PyLayer``: functions of tensors with user-defined derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.eager.node import MODE, Edge, LayerNode, switch
from symgrad.eager.tensor import FLOATS, Tensor, fitted, holding
from symgrad.errors import BadArgument, Overwritten
from symgrad.vocabulary.dispatch import STATIC


class PyLayerContext:
    """The context shared by ``forward`` and ``backward``: saved tensors, and attributes."""

    def __init__(self) -> None:
        self.container: tuple[Any, ...] = ()
        self.versions: tuple[int | None, ...] = ()
        self.stopped: tuple[Any, ...] = ()
        self.materialize = True

    def save_for_backward(self, *tensors: Any) -> None:
        """Save tensors for ``backward``, which reads them by ``saved_tensor()``."""
        self.container = tensors
        self.versions = tuple(t._version if isinstance(t, Tensor) else None for t in tensors)

    def saved_tensor(self) -> tuple[Any, ...]:
        """Return the saved tensors; raise if one was modified in place since."""
        for tensor, version in zip(self.container, self.versions, strict=True):
            if isinstance(tensor, Tensor) and tensor._version != version:
                raise Overwritten(f"{tensor.name} was saved for backward, but it was changed in place since")
        return self.container

    def mark_not_inplace(self, *args: Any) -> None:
        """Results are never the memory of inputs: nothing to do."""

    def mark_non_differentiable(self, *args: Any) -> None:
        """Let no derivative pass these results."""
        self.stopped = args

    def set_materialize_grads(self, value: bool) -> None:
        """Select whether ``backward`` receives zeros or None for results without a gradient."""
        self.materialize = bool(value)


class PyLayer:
    """Base of functions with a user-defined derivative: two static methods, ``forward(ctx, *args)`` and ``backward(ctx, *gradients)``.

    ``backward`` returns a gradient, or None, for each tensor among the arguments of ``forward``. It computes with tensors,
    so that its results can be differentiated again.

    >>> class Cube(PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, gradient):
    ...         (x,) = ctx.saved_tensor()
    ...         return gradient * 3 * x * x
    >>> x = Tensor(np.array(2.0), stop_gradient=False)
    >>> Cube.apply(x).backward()
    >>> x.grad.item()
    12.0
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Compute the function."""
        raise NotImplementedError("a PyLayer needs a static method forward(ctx, *args)")

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """Compute the gradients of the arguments from those of the results."""
        raise NotImplementedError("a PyLayer needs a static method backward(ctx, *gradients)")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Compute, and record that the derivative is ``backward``'s."""
        if STATIC[0]:
            raise BadArgument("a PyLayer works on tensors", hint="call disable_static() first")
        if MODE.enabled and any(holds_active(argument) for argument in (*args, *kwargs.values())):
            what = f"{cls.__name__}.apply is passed a list or dict that holds a tensor whose gradient is requested"
            raise BadArgument(what, hint="pass the tensors one by one")
        ctx = PyLayerContext()
        with switch(False):
            forward_result = cls.forward(ctx, *args, **kwargs)
        several = isinstance(forward_result, tuple | list)
        outs = list(forward_result) if several else [forward_result]
        inputs = [argument for argument in (*args, *kwargs.values()) if isinstance(argument, Tensor)]
        results = [out for out in outs if isinstance(out, Tensor)]
        if not results:
            raise BadArgument(f"{cls.__name__}.forward gives no tensor")
        if not MODE.enabled or all(argument.stop_gradient for argument in inputs):
            return forward_result
        edges = [Edge(argument) if not argument.stop_gradient else None for argument in inputs]
        node = LayerNode(
            cls.__name__, lambda argument: gradients_of(cls, ctx, inputs, results, argument), edges, tuple([out._value for out in results])
        )
        answers = []
        slot = 0
        for out in outs:
            if not isinstance(out, Tensor):
                answers.append(out)
                continue
            answer = holding(out._value, out.dtype.kind not in FLOATS or any(out is other for other in ctx.stopped))
            if not answer.stop_gradient:
                answer._node, answer._slot = node, slot
            slot += 1
            answers.append(answer)
        return type(forward_result)(answers) if several else answers[0]


def holds_active(value: Any) -> bool:
    """Whether a container holds a tensor that requires a gradient."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set) else ()
    return any(not part.stop_gradient if isinstance(part, Tensor) else holds_active(part) for part in parts)


def gradients_of(
    cls: type[PyLayer], ctx: PyLayerContext, inputs: list[Tensor], results: list[Tensor], cotangents: dict[int, Tensor]
) -> list[Tensor | None]:
    """The gradients that ``backward`` computes from cotangents by the number of the result: one for each input, in its shape."""
    zeros = [holding(np.zeros_like(out._value)) if ctx.materialize else None for out in results]
    backward_result = cls.backward(ctx, *[cotangents.get(slot, zero) for slot, zero in enumerate(zeros)])
    parts = list(backward_result) if isinstance(backward_result, tuple | list) else [backward_result]
    if len(parts) != len(inputs):
        raise ValueError(f"{cls.__name__}.backward gives {len(parts)} gradients, and forward has {len(inputs)} tensors among its arguments")
    return [
        None
        if gradient is None or source.stop_gradient
        else fitted(gradient, source._value, f"gradient {place} of {cls.__name__}.backward")
        for place, (gradient, source) in enumerate(zip(parts, inputs, strict=True))
    ]


__all__ = ["PyLayer", "PyLayerContext"]
