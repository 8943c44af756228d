"""Converts rows of samples to the arrays that programs are fed (``paddle.fluid.DataFeeder``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from symgrad.static import Program, Variable, default_main_program


class DataFeeder:
    """Turns samples, each a tuple with a value for every variable, into arrays by name."""

    def __init__(self, feed_list: Sequence[Variable | str], place: Any = None, program: Program | None = None) -> None:
        block = (default_main_program() if program is None else program).global_block()
        self.variables = [block.var(entry) if isinstance(entry, str) else entry for entry in feed_list]

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, np.ndarray[Any, Any]]:
        """The arrays: one row for each sample, in the shape of the variable."""
        columns = list(zip(*iterable, strict=True))
        if len(columns) != len(self.variables):
            raise ValueError(f"a sample has {len(columns)} values for {len(self.variables)} variables")
        arrays = {}
        for variable, column in zip(self.variables, columns, strict=True):
            rows = np.asarray(column, variable.dtype)
            arrays[variable.name] = rows.reshape([len(column), *variable.shape[1:]]) if -1 not in variable.shape[1:] else rows
        return arrays
