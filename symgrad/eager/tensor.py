"""``Tensor``: an array with its record, and the function that applies and records one operation."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.eager.node import MODE, SWEEPS, Edge, Node, Recorded, operation, switch
from symgrad.eager.views import Carried, View, record_detached, record_view, rewrite, store
from symgrad.errors import FreedGraph, LeafInPlace
from symgrad.functional import tensors as functions
from symgrad.record.operations import MISFIT, misfit, settings_of
from symgrad.record.quiet import quietly
from symgrad.tracebacks import boundary, refused
from symgrad.vocabulary.dispatch import APPLY, CONSTANT, DEFAULT, GROUP, STATIC
from symgrad.vocabulary.methods import Methods

Array = np.ndarray[Any, Any]
NAMES = itertools.count()
FLOATS = "fc"
NUMBERS = frozenset({bool, int, float})


def default_dtype() -> np.dtype[Any]:
    """Return the dtype of tensors created from Python floats; float32 by default."""
    return DEFAULT[0]


def set_default_dtype(dtype: Any) -> None:
    """Set the dtype, float32 or float64, of tensors created from Python floats."""
    numpy_dtype = np.dtype(dtype)
    if numpy_dtype.kind != "f":
        raise refused(TypeError(f"the default dtype must be a float dtype, not {numpy_dtype}"))
    DEFAULT[0] = numpy_dtype


class Tensor(Methods["Tensor"]):
    """An array with a record of its computation; copies its argument.

    ``stop_gradient=True``: it has no gradient. ``grad`` is the sum of the gradients computed by ``backward``, None before.

    >>> x = Tensor(np.array([1.0, 2.0]), stop_gradient=False)
    >>> (x * x).sum().backward()
    >>> x.grad.numpy()
    array([2., 4.])
    """

    __slots__ = (
        "__weakref__",
        "_grad",
        "_hooks",
        "_is_gradient",
        "_name",
        "_node",
        "_retains",
        "_slot",
        "_value",
        "_version",
        "_view",
        "persistable",
        "stop_gradient",
    )
    __array_priority__ = 100
    stop_gradient: bool
    persistable: bool
    _name: str | None
    _value: Array
    _node: Recorded | None
    _slot: int
    _grad: Tensor | None
    _hooks: dict[int, Callable[[Tensor], Tensor | None]] | None
    _retains: int | None  #: None: not retained, unless this is a leaf; else retained as before the hook of this number
    _version: int
    _view: View | None  #: the view that it is, if it may share elements
    _is_gradient: bool  #: whether it is a gradient computed by ``backward``

    def __init__(self, value: Array, stop_gradient: bool = True, name: str | None = None) -> None:
        new_leaf(self, array_of(value), stop_gradient, name)

    def __getstate__(self) -> dict[str, Any]:
        slots = [name for kind in type(self).__mro__ for name in getattr(kind, "__slots__", ())]
        state = {name: getattr(self, name) for name in slots if name not in ("__weakref__", "_view") and hasattr(self, name)}
        return {**state, **getattr(self, "__dict__", {}), "_view": Carried(self._view)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value.of(self) if name == "_view" else value)

    # ---------------------------------------------------------------- attributes

    @property
    def name(self) -> str:
        """The name, unique unless it was given."""
        if self._name is None:
            self._name = f"generated_tensor_{next(NAMES)}"
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = name

    @property
    def data(self) -> Tensor:
        """The tensor itself."""
        return self

    @property
    def shape(self) -> list[int]:
        """The extents."""
        return list(self._value.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self._value.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._value.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype."""
        numpy_dtype: np.dtype[Any] = self._value.dtype
        return numpy_dtype

    @property
    def is_leaf(self) -> bool:
        """Whether it was created by the user, or from operands that require no derivative."""
        return self._node is None or self.stop_gradient

    @property
    def grad(self) -> Tensor | None:
        """The sum of the gradients computed so far."""
        return self._grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise refused(TypeError("the gradient must be a Tensor or None"))
        self._grad = value

    def gradient(self) -> Array | None:
        """The gradient as an array of its own, or None."""
        return None if self._grad is None else self._grad.numpy()

    def numpy(self) -> Array:
        """The values; writing to the array does not change the tensor."""
        return self._value.copy()

    def item(self, *index: int) -> Any:
        """One element as a Python number."""
        return self._value.item(*index)

    def tolist(self) -> Any:
        """The values as nested lists."""
        return self._value.tolist()

    def dim(self) -> int:
        """The number of axes."""
        return self._value.ndim

    def __len__(self) -> int:
        if not self._value.ndim:
            raise refused(TypeError("a tensor without axes has no length"))
        return len(self._value)

    def __float__(self) -> float:
        return float(self.only())

    def __int__(self) -> int:
        return int(self.only())

    def __bool__(self) -> bool:
        return bool(self.only())

    def __index__(self) -> int:
        value = self.only()
        if isinstance(value, float | complex):
            raise refused(TypeError(f"a tensor of {self.dtype} is not an integer"))
        return int(value)

    def only(self) -> Any:
        """The one element that there is, as a Python number."""
        if self._value.size != 1:
            raise refused(ValueError(f"a tensor of shape {self.shape} is not one number"))
        return self._value.item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self._value if dtype is None else self._value.astype(dtype)
        return array.copy() if copy or copy is None and array is self._value else array

    def __repr__(self) -> str:
        values = np.array2string(self._value, separator=", ", prefix="       ")
        return f"Tensor(shape={self.shape}, dtype={self.dtype}, stop_gradient={self.stop_gradient},\n       {values})"

    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[Tensor]:
        return (self[k] for k in range(len(self)))

    # ---------------------------------------------------------------- derivatives

    @boundary
    def backward(
        self, grad_tensor: Tensor | None = None, retain_graph: bool = False, *, dump_backward_graph_path: str | None = None
    ) -> None:
        """Add the gradient of this tensor to ``grad`` of every leaf that it depends on; see ``symgrad.eager.backward``."""
        SWEEPS["backward"](
            [self], None if grad_tensor is None else [grad_tensor], retain_graph, dump_backward_graph_path=dump_backward_graph_path
        )

    def clear_grad(self) -> None:
        """Set the gradient to zeros; the same tensor stays."""
        self.clear_gradient()

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the gradient to zeros, or to None."""
        if self._grad is None:
            return
        if set_to_zero:
            self._grad.renew(np.zeros(self._grad._value.shape, self._grad._value.dtype))
        else:
            self._grad = None

    def detach(self) -> Tensor:
        """A tensor of the same elements without their record: a store to one is seen by the other, and no derivative passes."""
        tensor: Tensor = record_detached(holding(self._value), self)
        return tensor

    def clone(self) -> Tensor:
        """A copy through which derivatives pass."""
        tensor: Tensor = apply(functions.assign, self)
        return tensor

    def retain_grads(self) -> None:
        """Let ``backward`` keep the gradient of this tensor, though it is not a leaf, as the hooks that it has by now leave it."""
        if self._retains is None:
            self._retains = max(self._hooks or (), default=-1) + 1

    @boundary
    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> Hook:
        """Call ``hook(gradient)`` when the gradient of this tensor is computed; a result other than None replaces the gradient."""
        if self.stop_gradient:
            raise refused(RuntimeError("a hook cannot be registered on a tensor with stop_gradient=True"))
        if not callable(hook):
            raise refused(TypeError(f"a hook must be callable, {type(hook).__name__} is not"))
        if self._hooks is None:
            self._hooks = {}
        key = max(max(self._hooks, default=-1) + 1, self._retains or 0)
        self._hooks[key] = hook
        return Hook(self, key)

    # ---------------------------------------------------------------- modification in place

    def writable(self) -> None:
        """Raise if the tensor is a leaf that requires a gradient, while recording."""
        if MODE.enabled and not self.stop_gradient and self._node is None and not self._is_gradient:
            raise LeafInPlace(f"{self.name} is a leaf with stop_gradient=False and cannot be changed in place while recording")

    def become(self, other: Tensor) -> None:
        """Take over the values of another tensor and, while recording, how they were made."""
        self._value = other._value
        self._version += 1
        if MODE.enabled:
            self._node, self._slot, self.stop_gradient = other._node, other._slot, other.stop_gradient

    @boundary
    def set_value(self, value: Any) -> None:
        """Store other values of the same shape, without recording the store."""
        array = np.array(value._value if isinstance(value, Tensor) else value, self.dtype)
        if array.shape != self._value.shape:
            raise refused(ValueError(f"values of shape {array.shape} do not fit a tensor of shape {self._value.shape}"))
        self.hold(array)

    def hold(self, array: Array) -> None:
        """Store an array, which nothing else references, of the same shape and dtype as the values, without recording."""
        if self._view is None:
            self.replace(array)
        else:
            rewrite(self, array)

    def replace(self, array: Array) -> None:
        """Let an array be the values of this tensor alone."""
        self._value = array
        self._version += 1

    def renew(self, array: Array) -> None:
        """Replace the values of a gradient by an array; earlier results keep the old values."""
        self._node = None
        if self._view is None:
            self._value = array
        else:
            rewrite(self, array)

    @staticmethod
    def standing(value: Array, node: Recorded | None, slot: int, stopped: bool) -> Tensor:
        """Return a substitute for a tensor that was freed."""
        tensor = holding(value, stopped)
        tensor._node, tensor._slot = node, slot
        return tensor

    @boundary
    def __setitem__(self, index: Any, value: Any) -> None:
        self.writable()
        inert = not isinstance(value, Tensor) or value.stop_gradient
        with switch(MODE.enabled and not (self._is_gradient and self._node is None and inert)):
            store(self, index, value)


def new_leaf(tensor: Tensor, value: Array, stop_gradient: bool, name: str | None) -> Tensor:
    """Initialise a tensor to which no operation was applied yet."""
    tensor._value = value
    tensor.stop_gradient = stop_gradient
    tensor.persistable = False
    tensor._name = name
    tensor._node = tensor._grad = tensor._hooks = tensor._retains = tensor._view = None
    tensor._is_gradient = False
    tensor._slot = tensor._version = 0
    return tensor


def holding(value: Array, stop_gradient: bool = True) -> Tensor:
    """A tensor of an array that nothing else writes to."""
    return new_leaf(Tensor.__new__(Tensor), value, stop_gradient, None)


def stored_gradient(value: Array) -> Tensor:
    """The gradient that ``backward`` stores at a tensor; it requires a gradient itself, and may be stored to."""
    tensor = holding(value, False)
    tensor._is_gradient = True
    return tensor


class Hook:
    """A registered hook; ``remove()`` takes it away."""

    def __init__(self, tensor: Tensor, key: int) -> None:
        self.tensor, self.key = tensor, key

    def remove(self) -> bool:
        """Remove the hook; return False if it was removed before."""
        return self.tensor._hooks is not None and self.tensor._hooks.pop(self.key, None) is not None


# ------------------------------------------------------------------ recording


def apply(function: Callable[..., Any], *inputs: Any, **settings: Any) -> Any:
    """Apply an operation and record it. Inputs are tensors, Python numbers, arrays or None; settings plain data."""
    values: list[Any] = []
    edges: list[Any] = []
    active = False
    value: Any
    recording = MODE.enabled
    for operand in inputs:
        if isinstance(operand, Tensor):
            value = operand._value
            if recording and not operand.stop_gradient:
                active = True
                edges.append(Edge(operand))
            else:
                edges.append(value)
        elif operand is None:
            value = None
        else:
            kind = type(operand)
            value = operand if kind in NUMBERS else float(operand) if kind is np.float64 else own_array(operand)
            edges.append(value)
        values.append(value)
    try:
        result = quietly(function, *values, **settings)
    except MISFIT as error:
        raise misfit(function, values, settings, error) from None
    if not active:
        if getattr(function, "shows", False):
            return record_view(holding(np.asarray(result)), inputs[0], function, settings)
        if type(result) is np.ndarray:
            return holding(result)
        return [holding(np.asarray(one)) for one in result] if isinstance(result, tuple) else holding(np.asarray(result))
    several = isinstance(result, tuple)
    arrays = tuple(map(np.asarray, result)) if several else (result if type(result) is np.ndarray else np.asarray(result),)
    present = (True,) * len(values) if len(edges) == len(values) else tuple([value is not None for value in values])
    node = Node(operation(function, present, settings_of(settings) if settings else ()), tuple(edges), arrays)
    outs = []
    for slot, array in enumerate(arrays):
        if array.dtype.kind in FLOATS:
            out = holding(array, False)
            out._node, out._slot = node, slot
        else:
            out = holding(array)
            out._slot = slot
        outs.append(out)
    if getattr(function, "shows", False):
        return record_view(outs[0], inputs[0], function, settings)
    return outs if several else outs[0]


def own_array(value: Any) -> Array:
    """An array of its own for a value that is neither a tensor nor a number."""
    plain_array = type(value) is np.ndarray and value.dtype.isnative and value.dtype != object
    return value.copy() if plain_array else array_of(value)


def fitted(gradient: Any, like: Array, what: str) -> Tensor:
    """Return a user's gradient in the dtype of its tensor, recorded; raise if it does not fit the tensor."""
    if not isinstance(gradient, Tensor):
        raise refused(TypeError(f"{what} is {type(gradient).__name__}; it must be a Tensor or None"))
    if gradient._value.shape != like.shape:
        raise refused(ValueError(f"{what} has shape {gradient.shape}, and the tensor it is for has {list(like.shape)}"))
    if gradient.dtype == like.dtype:
        return gradient
    if gradient.dtype.kind == "c" and like.dtype.kind != "c":
        raise refused(TypeError(f"{what} is {gradient.dtype}, and the tensor it is for is {like.dtype}; take its real part"))
    return apply(functions.cast, gradient, dtype=like.dtype.name)  # type: ignore[no-any-return]


@boundary
def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A tensor of a copy of the data (while programs are built, a variable); Python floats become the default dtype.

    >>> to_tensor([1.0, 2.0]).dtype
    dtype('float32')
    """
    value = array_of(data)
    value = value if dtype is None else value.astype(dtype)
    if STATIC[0]:
        variable = CONSTANT[-1](value)
        variable.stop_gradient = stop_gradient
        return variable  # type: ignore[no-any-return]
    return holding(value, stop_gradient)


def array_of(data: Any) -> Array:
    """A copy of the data; Python floats become the default dtype."""
    if isinstance(data, Tensor):
        value = data._value.copy()
    elif isinstance(data, np.ndarray | np.generic):
        value = np.array(data, data.dtype.newbyteorder("="))
    else:
        try:
            value = np.array(plain(data))
        except ValueError as error:
            raise refused(ValueError("nested lists whose parts have different shapes cannot be made a tensor")) from error
        if value.dtype == np.float64 and not holds_arrays(data):
            value = value.astype(DEFAULT[0])
    if value.dtype.kind not in "biufc":
        raise refused(TypeError(f"{type(data).__name__} cannot be made a tensor; pass numbers, nested lists of them, or an array"))
    return value


def plain(data: Any) -> Any:
    """Nested lists with tensors replaced by their arrays."""
    if isinstance(data, Tensor):
        return data._value
    return [plain(item) for item in data] if isinstance(data, list | tuple) else data


def holds_arrays(data: Any) -> bool:
    """Whether it holds an array, which determines the dtype."""
    if isinstance(data, list | tuple):
        return any(map(holds_arrays, data))
    return isinstance(data, np.ndarray | np.generic | Tensor)


def frozen_graph(name: str) -> FreedGraph:
    """The error for a second sweep."""
    return FreedGraph(f"the record of {name} was freed by an earlier backward; call that with retain_graph=True to go through it twice")


def group(parts: list[Tensor]) -> None:
    """Note which tensors are the parts of one: those that are not used have zeros for a gradient."""
    references = [weakref.ref(part) for part in parts]
    for part in parts:
        if isinstance(part._node, Node):
            part._node.parts = references


APPLY[Tensor] = APPLY[None] = apply
GROUP[Tensor] = group

__all__ = ["Hook", "Tensor", "apply", "default_dtype", "fitted", "frozen_graph", "set_default_dtype", "to_tensor"]
