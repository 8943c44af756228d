"""Keyword arguments without effect: ``device="cpu"``, and ``casting`` where nothing is cast."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.frontend.bindings import Binding
from symgrad.frontend.context import Lowering
from symgrad.frontend.operands import known_value
from symgrad.ir.types import Array, Object, Scalar

#: functions with a parameter ``device`` in NumPy 2
ON_DEVICES = (
    np.arange, np.asanyarray, np.asarray, np.empty, np.empty_like, np.eye, np.full, np.full_like, np.linspace, np.ones, np.ones_like,
    np.zeros, np.zeros_like,
)  # fmt: skip
#: casting rules; each allows an unchanged dtype
CASTING = ("no", "equiv", "safe", "same_kind", "unsafe")
HAVE_DEVICES = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def without_idle(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding]) -> dict[str, Binding]:
    """Return the keyword arguments of a NumPy call without those that do not affect its result."""
    idle = set()
    if HAVE_DEVICES and "device" in kwargs and any(function is one for one in ON_DEVICES):
        idle |= {"device"} if known_value(kwargs["device"]) in ([None], ["cpu"]) else set()
    if "casting" in kwargs and (isinstance(function, np.ufunc) or function is np.clip) and not {"dtype", "signature"} & kwargs.keys():
        rule = known_value(kwargs["casting"])
        idle |= {"casting"} if rule and rule[0] in CASTING and is_of_one_dtype(ctx, [*args, *kwargs.values()]) else set()
    return {name: held for name, held in kwargs.items() if name not in idle} if idle else kwargs


def is_of_one_dtype(ctx: Lowering, operands: list[Binding]) -> bool:
    """Whether all NumPy arrays and numbers have one floating-point dtype; Python's numbers adopt it."""
    types = [type_ for type_ in map(ctx.type_of, operands) if not isinstance(type_, Object)]
    numbers = [type_ for type_ in types if isinstance(type_, Array | Scalar)]
    of_python = [type_ for type_ in numbers if isinstance(type_, Scalar) and type_.dtype is None]
    dtypes = {type_.dtype for type_ in numbers if type_ not in of_python}
    is_known = len(numbers) == len(types) and len(dtypes) == 1 and dtypes <= {"f32", "f64"}
    return is_known and all(type_.kind != "complex" for type_ in of_python)


__all__ = ["HAVE_DEVICES", "without_idle"]
