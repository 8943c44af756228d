"""``Layer``: parameters, buffers and sublayers by name, and the operations on all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.eager.tensor import Tensor, apply, default_dtype
from symgrad.static.appending import made_parameter
from symgrad.static.initializers import Constant, XavierUniform
from symgrad.static.mode import in_static_mode
from symgrad.static.parameters import ParamAttr, attributes
from symgrad.static.program import Names, Parameter, Variable
from symgrad.vocabulary.dispatch import APPLY, GROUP

if TYPE_CHECKING:
    from symgrad.vocabulary.methods import Plain
    from symgrad.vocabulary.typed import T

NAMES = Names()


class ParameterTensor(Tensor):
    """A tensor that a layer trains; ``trainable`` is the opposite of ``stop_gradient``."""

    __slots__ = ("attributes",)
    __hash__ = object.__hash__

    def __init__(self, value: np.ndarray[Any, Any], name: str, said: ParamAttr) -> None:
        super().__init__(value, not said.trainable, name)
        self.attributes = said
        self.persistable = True

    @property
    def trainable(self) -> bool:
        """Whether it requires a gradient."""
        return not self.stop_gradient

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self.stop_gradient = not value


APPLY[ParameterTensor], GROUP[ParameterTensor] = apply, GROUP[Tensor]


class Layer:
    """Base of all layers: ``forward`` computes the result.

    Parameters, sublayers and registered buffers assigned to attributes are tracked.

    >>> class Twice(Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.weight = self.create_parameter([2], default_initializer=Constant(3.0))
    ...     def forward(self, x):
    ...         return x * self.weight * 2.0
    >>> layer = Twice()
    >>> [name for name, _ in layer.named_parameters()], layer(Tensor(np.array([1.0, 2.0]))).tolist()
    (['weight'], [6.0, 12.0])
    """

    def __init__(self, name_scope: str | None = None, dtype: Any = None) -> None:
        self.training = True
        self.scope_name = NAMES.new(name_scope or type(self).__name__.lower())
        self.own_dtype = np.dtype(dtype or default_dtype())
        self.own_parameters: dict[str, Any] = {}
        self.own_layers: dict[str, Layer] = {}
        self.own_buffers: dict[str, Any] = {}
        self.transient: set[str] = set()  #: buffers that are no part of the state
        self.hooks_before: dict[int, Callable[..., Any]] = {}
        self.hooks_after: dict[int, Callable[..., Any]] = {}

    # ---------------------------------------------------------------- attributes

    def tables(self) -> list[dict[str, Any]]:
        """Return the tables of tracked attributes."""
        return [vars(self)[name] for name in ("own_parameters", "own_layers", "own_buffers") if name in vars(self)]

    def __setattr__(self, name: str, value: Any) -> None:
        tables = self.tables()
        kind = 0 if isinstance(value, ParameterTensor | Parameter) else 1 if isinstance(value, Layer) else None
        if kind is None and len(tables) == 3 and name in tables[2] and isinstance(value, Tensor | Variable | None):
            kind = 2
        if kind is not None and len(tables) < 3:
            raise AttributeError("call super().__init__() before assigning parameters or layers")
        for table in tables:
            table.pop(name, None)
        if kind is None:
            object.__setattr__(self, name, value)
        else:
            vars(self).pop(name, None)
            tables[kind][name] = value

    def __getattr__(self, name: str) -> Any:
        for table in self.tables():
            if name in table:
                return table[name]
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in self.tables():
            if name in table:
                del table[name]
                return
        object.__delattr__(self, name)

    # ---------------------------------------------------------------- making

    def create_parameter(
        self, shape: Sequence[int], attr: Any = None, dtype: Any = None, is_bias: bool = False, default_initializer: Any = None
    ) -> Any:
        """A parameter named after the layer, of the program in static mode; None where ``attr`` is False."""
        said = attributes(attr)
        if said is None:
            return None
        kind = np.dtype(dtype or self.own_dtype)
        name = said.name or NAMES.new(f"{self.scope_name}.{'b' if is_bias else 'w'}")
        initializer = said.initializer or default_initializer or (Constant(0.0) if is_bias else XavierUniform())
        if in_static_mode():
            return made_parameter(shape, kind, name, said, initializer)
        return ParameterTensor(initializer.values(tuple(int(e) for e in shape), kind), name, said)

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Enter a parameter under a name that need not be an identifier."""
        self.own_parameters[name] = parameter
        return parameter

    def add_sublayer(self, name: str, sublayer: Layer) -> Layer:
        """Enter an inner layer under a name that need not be an identifier."""
        self.own_layers[name] = sublayer
        return sublayer

    def register_buffer(self, name: str, tensor: Any, persistable: bool = True) -> None:
        """Register a tensor that is stored with the parameters and not trained; ``persistable``: it is part of the state."""
        self.own_buffers[name] = tensor
        if not persistable:
            self.transient.add(name)

    # ---------------------------------------------------------------- finding

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The layers directly inside."""
        yield from self.own_layers.items()

    def children(self) -> Iterator[Layer]:
        """The layers directly inside."""
        yield from self.own_layers.values()

    def named_sublayers(self, prefix: str = "", include_self: bool = False) -> Iterator[tuple[str, Layer]]:
        """All layers inside, with their paths; each once."""
        seen: set[int] = set()

        def walk(layer: Layer, path: str) -> Iterator[tuple[str, Layer]]:
            if id(layer) in seen:
                return
            seen.add(id(layer))
            yield path, layer
            for name, inner in layer.own_layers.items():
                yield from walk(inner, f"{path}.{name}" if path else name)

        pairs = walk(self, prefix)
        if not include_self:
            next(pairs)
        yield from pairs

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers inside."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_of(self, table: str, prefix: str, inner: bool) -> Iterator[tuple[str, Any]]:
        """Yield the entries of a table of the layer and its sublayers, with their paths, without repetition."""
        seen: set[int] = set()
        layers = self.named_sublayers(prefix, True) if inner else [(prefix, self)]
        for path, layer in layers:
            for name, value in vars(layer)[table].items():
                if value is not None and id(value) not in seen:
                    seen.add(id(value))
                    yield f"{path}.{name}" if path else name, value

    def named_parameters(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Any]]:
        """The parameters with their paths."""
        return self.named_of("own_parameters", prefix, include_sublayers)

    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        """The parameters."""
        return [value for _, value in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(self, prefix: str = "", include_sublayers: bool = True) -> Iterator[tuple[str, Any]]:
        """The buffers with their paths."""
        return self.named_of("own_buffers", prefix, include_sublayers)

    def buffers(self, include_sublayers: bool = True) -> list[Any]:
        """The buffers."""
        return [value for _, value in self.named_buffers(include_sublayers=include_sublayers)]

    def full_name(self) -> str:
        """A name that no other layer has."""
        return self.scope_name

    # ---------------------------------------------------------------- changing

    def train(self) -> Layer:
        """Let all layers compute as in training."""
        for layer in self.sublayers(include_self=True):
            layer.training = True
        return self

    def eval(self) -> Layer:
        """Let all layers compute as in a test."""
        for layer in self.sublayers(include_self=True):
            layer.training = False
        return self

    def apply(self, function: Callable[[Layer], None]) -> Layer:
        """Call a function on every layer, the inner ones first."""
        for layer in self.children():
            layer.apply(function)
        function(self)
        return self

    def clear_gradients(self) -> None:
        """Clear the gradients of all parameters."""
        for parameter in self.parameters():
            parameter.clear_gradient()

    # ---------------------------------------------------------------- state

    def state_dict(self) -> dict[str, Any]:
        """Parameters and buffers by path: the tensors themselves."""
        tensors: dict[str, Any] = {}
        for path, layer in self.named_sublayers(include_self=True):
            kept = {**layer.own_parameters, **{n: b for n, b in layer.own_buffers.items() if n not in layer.transient}}
            tensors |= {f"{path}.{name}" if path else name: value for name, value in kept.items() if value is not None}
        return tensors

    def set_state_dict(self, state_dict: Mapping[str, Any], use_structured_name: bool = True) -> tuple[list[str], list[str]]:
        """Load values by path or by parameter name; return the paths without a value and the unknown names."""
        own = {path if use_structured_name else tensor.name: tensor for path, tensor in self.state_dict().items()}
        for name, tensor in own.items():
            if name in state_dict:
                tensor.set_value(np.asarray(state_dict[name]))
        return [name for name in own if name not in state_dict], [name for name in state_dict if name not in own]

    set_dict = load_dict = set_state_dict

    # ---------------------------------------------------------------- running

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the layer's result."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        for hook in list(self.hooks_before.values()):
            changed = hook(self, inputs)
            inputs = inputs if changed is None else changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*inputs, **kwargs)
        for hook in list(self.hooks_after.values()):
            changed = hook(self, inputs, result)
            result = result if changed is None else changed
        return result

    def register_forward_pre_hook(self, hook: Callable[..., Any]) -> Removable:
        """Call ``hook(layer, inputs)`` before ``forward``; a result other than None replaces the inputs."""
        return Removable(self.hooks_before, hook)

    def register_forward_post_hook(self, hook: Callable[..., Any]) -> Removable:
        """Call ``hook(layer, inputs, result)`` after ``forward``; a result other than None replaces the result."""
        return Removable(self.hooks_after, hook)

    def extra_repr(self) -> str:
        """Return the settings that ``repr`` shows in parentheses."""
        return ""

    def __repr__(self) -> str:
        lines = [f"({name}): {layer!r}".replace("\n", "\n  ") for name, layer in self.named_children()]
        inside = "".join(f"\n  {line}" for line in lines)
        return f"{type(self).__name__}({self.extra_repr()}{inside}{chr(10) if lines else ''})"


class TensorLayer(Layer):
    """Base of the layers that return one tensor; its static type is the class of the first input."""

    if TYPE_CHECKING:

        def __call__(self, *inputs: T | Plain, **kwargs: Any) -> T:
            raise NotImplementedError


class Removable:
    """A hook that was registered; ``remove()`` takes it away."""

    def __init__(self, table: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self.table, self.key = table, max(table, default=-1) + 1
        table[self.key] = hook

    def remove(self) -> None:
        """Take the hook away."""
        self.table.pop(self.key, None)
