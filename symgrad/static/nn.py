"""Layers that make their own parameters, and control flow (``static.nn``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from symgrad.functional import network as f
from symgrad.functional import tensors as t
from symgrad.static.initializers import Constant, Normal, XavierUniform
from symgrad.static.parameters import ParamAttr, attributes
from symgrad.static.program import Branch, Loop, Number, Parameter, Variable, append, create_parameter, default_main_program
from symgrad.static.program import layer as layer_named
from symgrad.vocabulary import network, tensors
from symgrad.vocabulary.dispatch import pair

ACTIVATIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(network, name) for name in ("relu", "relu6", "sigmoid", "softmax", "leaky_relu", "elu", "gelu", "silu")},
    "tanh": tensors.tanh,  # type: ignore[attr-defined]
    "exp": tensors.exp,  # type: ignore[attr-defined]
}


def activated(x: Variable, activation: str | None) -> Any:
    """The result of a layer with its activation."""
    if activation is None:
        return x
    if activation not in ACTIVATIONS:
        raise ValueError(f"the activation {activation!r} is not known; there are {', '.join(sorted(ACTIVATIONS))}")
    return ACTIVATIONS[activation](x)


def layer_of(name: str | None, kind: str) -> AbstractContextManager[str]:
    """Names of a layer: its own, or the next of its kind."""
    return layer_named(name or default_main_program().names.new(kind))


def parameter(layer: str, part: str, shape: Sequence[int], dtype: Any, attribute: ParamAttr, default: Any) -> Parameter:
    """A parameter of a layer: ``fc_0.w_0``."""
    return create_parameter(shape, dtype, attribute.name or f"{layer}.{part}_0", attribute, default_initializer=default)


def fc(x: Any, size: int, num_flatten_dims: int = 1, weight_attr: Any = None, bias_attr: Any = None, activation: str | None = None,
       name: str | None = None) -> Any:  # fmt: skip
    """``x @ weight + bias``: the first ``num_flatten_dims`` axes are rows, the others columns. Several inputs are added."""
    inputs = list(x) if isinstance(x, list | tuple) else [x]
    with layer_of(name, "fc") as layer:
        weight = attributes(weight_attr)
        if weight is None:
            raise ValueError("fc has a weight always")
        made: Any = None
        for k, one in enumerate(inputs):
            rows = num_flatten_dims if num_flatten_dims >= 0 else len(one.shape) + num_flatten_dims
            columns = one.shape[rows:]
            if -1 in columns:
                raise ValueError(f"fc needs to know the extents of {one.name} from axis {rows} on")
            own = ParamAttr(**{**vars(weight), "name": weight.name or f"{layer}.w_{k}"})
            w = create_parameter([math.prod(columns), size], one.dtype, own.name, own, default_initializer=XavierUniform())
            product = append(t.mul, one, w, rows=rows)
            made = product if made is None else append(t.add, made, product)
        said = attributes(bias_attr)
        if said is not None:
            made = append(t.add, made, parameter(layer, "b", [size], inputs[0].dtype, said, Constant(0.0)))
        return activated(made, activation)


def embedding(input: Variable, size: Sequence[int], is_sparse: bool = False, is_distributed: bool = False, padding_idx: int | None = None,
              param_attr: Any = None, dtype: Any = "float32", weight_attr: Any = None, name: str | None = None) -> Any:  # fmt: skip
    """Rows of a weight by their numbers."""
    with layer_of(name, "embedding") as layer:
        said = attributes(param_attr if weight_attr is None else weight_attr)
        if said is None:
            raise ValueError("embedding has a weight always")
        weight = parameter(layer, "w", size, dtype, said, XavierUniform())
        return network.embedding(input, weight, padding_idx)


def conv2d(input: Variable, num_filters: int, filter_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
           groups: int | None = None, param_attr: Any = None, bias_attr: Any = None, use_cudnn: bool = True, act: str | None = None,
           name: str | None = None, data_format: str = "NCHW") -> Any:  # fmt: skip
    """The correlation of images with kernels of its own."""
    with layer_of(name, "conv2d") as layer:
        high, wide = pair(filter_size)
        channels = int(input.shape[1]) // (groups or 1)
        said, bias = attributes(param_attr), attributes(bias_attr)
        if said is None:
            raise ValueError("conv2d has kernels always")
        default = Normal(0.0, math.sqrt(2.0 / (high * wide * int(input.shape[1]))))
        weight = parameter(layer, "w", [num_filters, channels, high, wide], input.dtype, said, default)
        offset = None if bias is None else parameter(layer, "b", [num_filters], input.dtype, bias, Constant(0.0))
        return activated(network.conv2d(input, weight, offset, stride, padding, dilation, groups or 1, data_format), act)


def batch_norm(input: Variable, act: str | None = None, is_test: bool = False, momentum: float = 0.9, epsilon: float = 1e-5,
               param_attr: Any = None, bias_attr: Any = None, data_layout: str = "NCHW", name: str | None = None,
               moving_mean_name: str | None = None, moving_variance_name: str | None = None,
               use_global_stats: bool = False) -> Any:  # fmt: skip
    """Centred and scaled by the statistics of the batch, or in a test by their running means."""
    network.channels_first(data_layout, "NCHW")
    with layer_of(name, "batch_norm") as layer:
        channels = [int(input.shape[1])]
        scale, offset = attributes(param_attr) or ParamAttr(trainable=False), attributes(bias_attr) or ParamAttr(trainable=False)
        weight = parameter(layer, "w", channels, input.dtype, scale, Constant(1.0))
        bias = parameter(layer, "b", channels, input.dtype, offset, Constant(0.0))
        hidden = ParamAttr(trainable=False)
        mean = create_parameter(channels, input.dtype, moving_mean_name or f"{layer}.w_1", hidden, default_initializer=Constant(0.0))
        variance = create_parameter(
            channels, input.dtype, moving_variance_name or f"{layer}.w_2", hidden, default_initializer=Constant(1.0)
        )
        mean.stop_gradient = variance.stop_gradient = True
        if is_test or use_global_stats:
            return activated(append(f.batch_norm, input, mean, variance, weight, bias, epsilon=float(epsilon)), act)
        made, own_mean, own_variance = append(f.batch_norm_train, input, weight, bias, epsilon=float(epsilon))
        for kept, new in ((mean, own_mean), (variance, own_variance)):
            overwrite(kept, append(f.running, kept, new, momentum=float(momentum)))
        return activated(made, act)


def overwrite(kept: Variable, new: Variable) -> None:
    """From here on, and in the next run, the variable has another value."""
    step = new.block.steps[-1]
    assert new.name in step.outputs  # type: ignore[union-attr]
    step.outputs = tuple(kept.name if name == new.name else name for name in step.outputs)  # type: ignore[union-attr]
    del new.block.vars[new.name]
    op = new.block.ops[-1]
    op.desc.outputs = [kept.name if name == new.name else name for name in op.desc.outputs]


# ------------------------------------------------------------------ control flow


def leaves(structure: Any) -> list[Any]:
    """The variables and numbers of nested lists, tuples and dicts."""
    if structure is None:
        return []
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in leaves(item)]
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in leaves(structure[key])]
    return [structure]


def rebuilt(structure: Any, values: list[Any]) -> Any:
    """The structure with other leaves."""
    if structure is None:
        return None
    if isinstance(structure, list | tuple):
        return type(structure)(rebuilt(item, values) for item in structure)
    if isinstance(structure, dict):
        made = {key: rebuilt(structure[key], values) for key in sorted(structure)}
        return {key: made[key] for key in structure}
    return values.pop(0)


def named(leaf: Any) -> str | Number:
    """How a step names a value."""
    if isinstance(leaf, Variable):
        return leaf.name
    if isinstance(leaf, bool | int | float):
        return Number(leaf)
    raise TypeError(f"a branch or loop cannot hand out a {type(leaf).__name__}")


def cond(pred: Variable, true_fn: Callable[[], Any] | None = None, false_fn: Callable[[], Any] | None = None, name: str | None = None,
         return_names: Any = None) -> Any:  # fmt: skip
    """What ``true_fn()`` gives if ``pred`` holds when the program runs, else what ``false_fn()`` gives; both of one structure."""
    program = pred.program
    found, blocks = [], []
    for function in (true_fn, false_fn):
        with program.inner() as block:
            found.append(None if function is None else function())
        blocks.append(block)
    first, second = leaves(found[0]), leaves(found[1])
    if len(first) != len(second):
        raise TypeError("true_fn and false_fn must give results of the same structure")
    outer = program.current_block()
    outs = [outer.create_var(program.names.new("cond.tmp"), *common(a, b)) for a, b in zip(first, second, strict=True)]
    yields = (tuple(map(named, first)), tuple(map(named, second)))
    words = tuple(out.name for out in outs)
    for out, a, b in zip(outs, first, second, strict=True):
        out.stop_gradient = all(getattr(v, "stop_gradient", True) for v in (a, b))
    reads = [pred.name, *outside(blocks[0]), *outside(blocks[1])]
    outer.step(Branch(pred.name, (blocks[0], blocks[1]), yields, words), "cond", list(dict.fromkeys(reads)), words)
    return rebuilt(found[0], list(outs))


def common(a: Any, b: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of either of two values."""
    if not isinstance(a, Variable) or not isinstance(b, Variable):
        known = a if isinstance(a, Variable) else b
        return (known.shape, known.dtype) if isinstance(known, Variable) else ((), np.asarray(a).dtype)
    if len(a.shape) != len(b.shape):
        raise ValueError(f"{a.name} and {b.name} have different numbers of axes")
    return tuple(x if x == y else -1 for x, y in zip(a.shape, b.shape, strict=True)), np.result_type(a.dtype, b.dtype)


def outside(block: Any) -> list[str]:
    """What a block reads from around it."""
    found: list[str] = []
    own: set[str] = set(block.vars)
    for op in block.ops:
        found += [name for name in op.desc.inputs if name not in own]
    return found


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], is_test: bool = False, name: str | None = None
) -> list[Any]:
    """Run ``body(*loop_vars)``, which gives the next values, while ``cond(*loop_vars)`` holds."""
    if not isinstance(loop_vars, list | tuple) or not loop_vars:
        raise ValueError("loop_vars must be a list or tuple that is not empty")
    first = next(v for v in leaves(loop_vars) if isinstance(v, Variable))
    program = first.program
    flat = leaves(loop_vars)
    outer = program.current_block()
    with program.inner() as test_block:
        carried = [inner_variable(test_block, v) for v in flat]
        test = cond(*rebuilt(list(loop_vars), list(carried)))
    with program.inner() as body_block:
        for v in carried:
            body_block.vars[v.name] = v
        made = body(*rebuilt(list(loop_vars), list(carried)))
        made = list(made) if isinstance(made, list | tuple) else [made]
    results = leaves(made)
    if len(results) != len(flat):
        raise ValueError(f"the body gives {len(results)} values for {len(flat)} loop_vars")
    outs = [outer.create_var(program.names.new("while.tmp"), *common(v, r)) for v, r in zip(flat, results, strict=True)]
    for out, a, b in zip(outs, flat, results, strict=True):
        out.stop_gradient = all(getattr(v, "stop_gradient", True) for v in (a, b)) or out.dtype.kind not in "fc"
    names = tuple(v.name for v in carried)
    step = Loop(
        tuple(map(named, flat)), names, (test_block, test.name), (body_block, tuple(map(named, results))), tuple(o.name for o in outs)
    )
    reads = [v.name for v in flat if isinstance(v, Variable)]
    reads += [n for n in [*outside(test_block), *outside(body_block)] if n not in names]
    outer.step(step, "while", list(dict.fromkeys(reads)), step.outputs)
    return [rebuilt(item, [outs.pop(0) for _ in leaves(item)]) for item in loop_vars]


def inner_variable(block: Any, value: Any) -> Variable:
    """A carried value as a loop's blocks see it."""
    shape, dtype = (value.shape, value.dtype) if isinstance(value, Variable) else ((), np.asarray(value).dtype)
    stopped = value.stop_gradient if isinstance(value, Variable) else True
    made: Variable = block.create_var(block.program.names.new("loop"), shape, dtype, stopped)
    return made
