"""Appends operations, constants, fed variables and parameters to programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.eager.tensor import default_dtype
from symgrad.record.operations import MISFIT, Operation, misfit, settings_of
from symgrad.static.initializers import Constant, Initializer, XavierUniform
from symgrad.static.parameters import ParamAttr, attributes
from symgrad.static.program import (
    ABOUT,
    FLOATS,
    LAYERS,
    SCOPES,
    Apply,
    Number,
    Parameter,
    Program,
    Variable,
    default_main_program,
    default_startup_program,
)
from symgrad.tables import pairs
from symgrad.vocabulary.dispatch import APPLY, CONSTANT

#: how the functions whose documented operation is called otherwise are listed
KINDS = pairs(
    """
    add:elementwise_add subtract:elementwise_sub multiply:elementwise_mul divide:elementwise_div maximum:elementwise_max
    minimum:elementwise_min power:elementwise_pow floor_divide:elementwise_floordiv remainder:elementwise_mod mean:reduce_mean
    sum:reduce_sum max:reduce_max min:reduce_min prod:reduce_prod matmul:matmul_v2 reshape:reshape2 transpose:transpose2
    squeeze:squeeze2 unsqueeze:unsqueeze2 expand:expand_v2 embedding:lookup_table_v2 flatten:flatten_contiguous_range part:split
    plane:unbind getitem:slice argmax:arg_max argmin:arg_min norm:p_norm
    """
)
PROBES = (2, 3)  #: placeholders of an unknown extent, which show the extents of the result that depend on it
LARGEST = 1 << 22  #: no array that is tried has more elements


def append(function: Any, *inputs: Any, **settings: Any) -> Any:
    """Append an operation to the program of its inputs."""
    first = next(operand for operand in inputs if isinstance(operand, Variable))
    block = first.program.current_block()
    present: list[bool] = []
    names: list[str | Number] = []
    samples: list[Any] = []
    variables: list[Variable] = []
    for operand in inputs:
        present.append(operand is not None)
        if operand is None:
            samples.append(None)
            continue
        if isinstance(operand, bool | int | float):
            operand = float(operand) if isinstance(operand, np.float64) else operand
            names.append(Number(operand))
            samples.append(operand)
            continue
        variable = operand if isinstance(operand, Variable) else constant(first.program, operand)
        if variable.program is not first.program:
            raise ValueError(f"{variable.name} and {first.name} belong to two programs")
        variables.append(variable)
        names.append(variable.name)
        samples.append(variable)
    try:
        inference = inferred(function, samples, settings)
    except MISFIT as error:
        raise misfit(function, samples, settings, error) from error
    stopped = all(v.stop_gradient for v in variables)
    outs = []
    kind = KINDS.get(function.__name__, function.__name__)
    for shape, dtype in inference[0]:
        own = first.program.names.new(f"{LAYERS[-1]}.tmp") if LAYERS else f"{first.program.names.new(kind)}.tmp_0"
        name = "/".join([*filter(None, SCOPES), own])
        outs.append(block.create_var(name, shape, dtype, stopped or dtype.kind not in FLOATS))
    operation = Operation(function, tuple(present), settings_of(settings))
    words = tuple(out.name for out in outs)
    block.step(Apply(operation, tuple(names), words), kind, [v.name for v in variables], words, **settings)
    return outs if inference[1] else outs[0]


def constant(program: Program, value: Any) -> Variable:
    """A variable for an array that is known."""
    array = np.asarray(value)
    if array.dtype == object:
        raise TypeError(f"{type(value).__name__} cannot be an input of an operation")
    name = program.names.new("constant")
    program.constants[name] = array
    return program.global_block().create_var(name, array.shape, array.dtype, True)


def sample(operand: Any, unknown: int, truth: bool = False) -> Any:
    """Return a sample array for a variable; other operands unchanged."""
    if not isinstance(operand, Variable):
        return operand
    shape = tuple(unknown if extent == -1 else extent for extent in operand.shape)
    one = truth if operand.dtype.kind == "b" else operand.dtype.kind in FLOATS
    return np.broadcast_to(np.full((), one, operand.dtype), shape)


Shapes = list[list[tuple[int, ...]]]


def inferred(function: Any, samples: Sequence[Any], settings: dict[str, Any]) -> tuple[list[tuple[tuple[int, ...], np.dtype[Any]]], bool]:
    """Return shape and dtype of each result, computed by NumPy on samples, and whether there are several results.

    An extent that varies with unknown extents, or with the values of bools, is unknown.
    """
    variables = [s for s in samples if isinstance(s, Variable)]
    open_ = any(-1 in s.shape for s in variables)
    truths = (False, True) if any(s.dtype.kind == "b" for s in variables) else (False,)
    outputs: Any = None

    def tried(unknown: int) -> Shapes:
        nonlocal outputs
        shape_lists = []
        for truth in truths:
            outputs = function(*[sample(s, unknown, truth) for s in samples], **settings)
            shape_lists.append([np.shape(m) for m in (outputs if isinstance(outputs, tuple) else (outputs,))])
        return shape_lists

    with np.errstate(all="ignore"):
        try:
            versions = [shapes for unknown in (PROBES if open_ else PROBES[:1]) for shapes in tried(unknown)]
        except ValueError:
            versions = fitting(tried, variables, settings) if open_ else []
            if not versions:
                raise
    results = []
    for one, *shapes in zip(outputs if isinstance(outputs, tuple) else (outputs,), *versions, strict=True):
        results.append((tuple(e[0] if len(set(e)) == 1 else -1 for e in zip(*shapes, strict=True)), np.asarray(one).dtype))
    return results, isinstance(outputs, tuple)


def fitting(tried: Callable[[int], Shapes], variables: Sequence[Variable], settings: Mapping[str, Any]) -> Shapes:
    """The shapes for other trial values of unknown extents: the known extents, and the product of the integers in the settings."""
    numbers = [e for value in settings.values() if isinstance(value, tuple) for e in value if type(e) is int and e > 1]
    whole = math.prod(numbers)
    known = {extent for variable in variables for extent in variable.shape if extent > 0}
    versions: Shapes = []
    for unknown in sorted({1, *known, whole, 2 * whole}):
        if all(math.prod(abs(e) * (unknown if e == -1 else 1) for e in v.shape) <= LARGEST for v in variables):
            with suppress(ValueError):
                shape_lists = tried(unknown)
                versions += shape_lists
                only = unknown
    if versions and len(versions) == len(shape_lists):  # an extent equal to the only value that fits may be so by chance
        versions += [[tuple(-1 if e == only else e for e in shape) for shape in shapes] for shapes in shape_lists]
    return versions


APPLY[Variable] = APPLY[Parameter] = ABOUT["append"] = append
CONSTANT.append(lambda array: constant(default_main_program(), array))


def named_before(program: Program, name: str, shape: Sequence[int], dtype: Any) -> Variable | None:
    """The variable that has this name, None if there is none; another shape or dtype is refused."""
    known = program.global_block().vars.get(name)
    if known is not None and (list(known.shape) != list(shape) or known.dtype != np.dtype(dtype)):
        raise ValueError(
            f"{name!r} has shape {list(known.shape)} and dtype {known.dtype}; it cannot be made again as {list(shape)}, {np.dtype(dtype)}"
        )
    return known


def data(name: str, shape: Sequence[int | None], dtype: Any = None, lod_level: int = 0) -> Variable:
    """A variable that is fed; extents that are not known are -1 or None."""
    if not isinstance(name, str):
        raise TypeError(f"a name must be a str, not {type(name).__name__}")
    program = default_main_program()
    known = named_before(program, name, [-1 if e is None else int(e) for e in shape], dtype or default_dtype())
    if known is not None:
        return known
    variable = program.global_block().create_var(name, [-1 if e is None else int(e) for e in shape], dtype or default_dtype(), True)
    variable.is_data = True
    return variable


def create_parameter(
    shape: Sequence[int], dtype: Any, name: str | None = None, attr: Any = None, is_bias: bool = False, default_initializer: Any = None
) -> Parameter:
    """A parameter of the default program, initialised by the startup program. An existing name is shared."""
    said = attributes(attr)
    if said is None:
        raise ValueError("a parameter cannot be switched off here")
    if said.initializer is None and default_initializer is not None:
        said = replace(said, initializer=default_initializer)
    return made_parameter(shape, dtype, name, said, Constant(0.0) if is_bias else XavierUniform())


def made_parameter(shape: Sequence[int], dtype: Any, name: str | None, said: ParamAttr, default: Initializer) -> Parameter:
    """Return the parameter of a name with its attributes; ``default`` is its initializer if none is given."""
    program = default_main_program()
    name = name or said.name or program.names.new("create_parameter")
    known = named_before(program, name, [int(e) for e in shape], dtype)
    if known is None:
        known = Parameter(program.global_block(), name, [int(e) for e in shape], dtype, said.trainable, said.initializer or default, said)
        program.global_block().vars[name] = known
        program.version += 1
    elif not isinstance(known, Parameter):
        raise ValueError(f"{name!r} is already a variable that is no parameter; give the parameter another name")
    elif (word := differing(said, known)) is not None:
        raise ValueError(
            f"the parameter {name!r} is there already, with another {word}; leave {word} out to share it, or give another name"
        )
    default_startup_program().starts.setdefault(name, known)
    return known


def differing(said: ParamAttr, known: Parameter) -> str | None:
    """Return the attribute that contradicts an existing parameter, or None."""
    there = {**vars(known.attributes or ParamAttr()), "initializer": known.initializer, "trainable": known.trainable}
    unsaid = {**vars(ParamAttr()), "name": said.name}
    return next((word for word, value in vars(said).items() if value != unsaid[word] and value != there[word]), None)
