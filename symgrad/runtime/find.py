"""Looks up a function of the runtime by its name in emitted text."""

from __future__ import annotations

import importlib
from typing import Any

from symgrad.runtime.vector_text import CIRCULAR, VECTOR

MODULES = tuple(
    f"symgrad.runtime.{name}"
    for name in (
        "support",
        "lists",
        "special",
        "shapes_of_shares",
        "cotangents",
        "contractions",
        "fourier",
        "schedules",
        "marks",
        "solvers",
        "trajectories",
        "compressed",
        "batches",
    )
)
#: modules by their names in emitted text; SciPy's occur in derivatives of functions that call SciPy
SCIPY = {
    "special": "scipy.special",
    "solving": "scipy.linalg",
    "interpolate": "scipy.interpolate",
    "filtering": "scipy.signal",
    "cmath": "cmath",
}
#: functions that only kernels call, by the module that defines them: it imports numba
KERNEL = {
    **dict.fromkeys(("plus", "larger", "smaller"), "symgrad.runtime.folds"),
    **dict.fromkeys(VECTOR.values(), "symgrad.runtime.vector"),
    **dict.fromkeys(CIRCULAR, "symgrad.runtime.circular"),
    **dict.fromkeys(("new_empty", "new_zeros"), "symgrad.runtime.memory"),
    **dict.fromkeys(
        ("product_into", "add_product", "inverse_into", "determinant", "cofactors_into", "triangular_into", "solution_into"),
        "symgrad.runtime.matrices",
    ),
    **dict.fromkeys(("convolution_into", "correlation_into"), "symgrad.runtime.convolutions"),
    **dict.fromkeys(("order_into", "sorted_into", "middle_into"), "symgrad.runtime.orders"),
    **dict.fromkeys(("snapshot_after", "count_within"), "symgrad.runtime.kernel_schedules"),
    **dict.fromkeys(("digamma_of", "trigamma_of"), "symgrad.runtime.gammas"),
    **dict.fromkeys(("orders_of", "factorial_of", "choices_of", "root_of"), "symgrad.runtime.counting"),
}


def find(name: str) -> Any:
    """The runtime's function of that name, or the module of SciPy."""
    if name in SCIPY:
        return importlib.import_module(SCIPY[name])
    for module in [KERNEL[name]] if name in KERNEL else MODULES:
        try:
            function = getattr(importlib.import_module(module), name, None)
        except ModuleNotFoundError:
            continue
        if function is not None:
            return function
    raise LookupError(f"the runtime has no function {name!r}")
