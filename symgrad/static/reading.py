"""Lowers a NumPy function to a program whose variables keep the names of the source."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import BadArgument
from symgrad.record.operations import Operation, lowered, named_values
from symgrad.record.recipe import kind_of_value, of_type, said, type_of
from symgrad.static.program import ABOUT, FLOATS, Apply, Program


def read_function(function: Callable[..., Any], types: dict[str, Any]) -> Program:
    """Return the program of a function: its parameters are fed, and its top-level assignments define variables."""
    names = list(inspect.signature(function).parameters)
    if set(types) != set(names):
        raise BadArgument(f"{function.__name__} takes {', '.join(names)}; there are types for {', '.join(types) or 'none'}")
    program = Program()
    block = program.global_block()
    for name in names:
        shape, dtype = said(types[name])
        variable = block.create_var(name, shape, dtype, dtype.kind not in FLOATS)
        variable.is_data = True
    samples = [np.empty([2 if e == -1 else e for e in block.vars[name].shape], block.vars[name].dtype) for name in names]
    kinds = tuple(type_of(kind_of_value(sample), place) for place, sample in enumerate(samples))
    present = (True,) * len(names)
    func = lowered(Operation(function, present), kinds).func
    if not func.body.yields:
        raise BadArgument(f"{function.__name__} returns neither an array nor a number")
    inner = {word: value for word, value in named_values(func).items() if word not in names and of_type(value.type) is not None}
    results: list[tuple[str, Any]] = [(word, value.type) for word, value in inner.items()]
    results += [("out", value.type) for value in func.body.yields]
    outputs: list[str] = []
    for word, type_ in results:
        shape_and_dtype = of_type(type_)
        if shape_and_dtype is None:
            raise BadArgument(f"{function.__name__} gives a {type_}; a program's results are arrays and numbers")
        name = word
        while name in block.vars:
            name = program.names.new(word)
        block.create_var(name, *shape_and_dtype, stop_gradient=shape_and_dtype[1].kind not in FLOATS)
        outputs.append(name)
    operation = Operation(function, present, named=tuple(inner))
    block.step(Apply(operation, tuple(names), tuple(outputs)), function.__name__, names, outputs)
    return program


ABOUT["from_function"] = read_function
