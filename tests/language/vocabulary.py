"""The functions of NumPy and SciPy that are known, by module and kind, from the tables of the vocabulary."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

import symgrad.frontend.lower  # noqa: F401 - which fills the tables
from symgrad.frontend.library.draws import DRAWS, SCALED, SPREAD
from symgrad.frontend.library.solvers import SOLVERS
from symgrad.frontend.objects.opaque import MUTATORS
from symgrad.frontend.state.tables import METHODS, SPECIAL
from symgrad.ops import signatures
from symgrad.ops.composed import COMPOSED, SCIPY, VERSIONED, VERSIONED_LINALG
from symgrad.ops.composed.distributions import DISTRIBUTIONS
from symgrad.ops.declare import ROWS
from symgrad.ops.rows.complexes import INSTEAD

DIFFERENTIABLE = "differentiable"
CONSTANT = "constant"
IN_PLACE = "changed in place"
REFUSED = "refused"
KINDS = (DIFFERENTIABLE, CONSTANT, IN_PLACE, REFUSED)
#: what gives places, counts, kinds or answers and is said in other functions: the tables do not say so of these
SAY_NO_NUMBERS = frozenset({
    "nonzero", "ix_", "isscalar", "iscomplexobj", "isrealobj", "shape", "ndim", "size", "dtype", "finfo", "iinfo", "ndindex",
    "fftfreq", "rfftfreq",
})  # fmt: skip


def kind_of_row(call: str) -> str:
    """What the row of a spelling is."""
    name = call.partition("(")[0]
    row = ROWS[name] if name in ROWS else ROWS[f"{name}1"]
    if row.missing:
        return REFUSED
    return DIFFERENTIABLE if row.differentiable or name in INSTEAD else CONSTANT


def kind_of_composition(name: str) -> str:
    """What is said in other functions: the derivative passes through it, unless it changes its argument or gives no numbers."""
    return IN_PLACE if name in MUTATORS - {"partition", "resize", "sort"} else CONSTANT if name in SAY_NO_NUMBERS else DIFFERENTIABLE


def module_of(function: Any) -> str:
    """The module of NumPy's that a function is called by; empty for those of other packages."""
    home = getattr(function, "__module__", None) or ""
    return home if home.partition(".")[0] == "numpy" else ""


def known() -> dict[str, dict[str, str]]:
    """For each module the kind of each function."""
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    kinds["numpy"] |= {name: kind_of_row(row) for table in (signatures.UFUNCS, signatures.OPERATORS) for name, row in table.items()}
    for module, spelled in (("numpy", signatures.NUMPY), ("numpy.linalg", signatures.LINALG), ("scipy.special", signatures.SCIPY_SPECIAL),
                            ("methods of arrays", signatures.METHODS)):  # fmt: skip
        kinds[module] |= {name: kind_of_row(two[1]) for name, two in spelled.items()}
    kinds["methods of arrays"] |= {name: kind_of_row(row) for name, row in signatures.ATTRIBUTES.items()}
    kinds["methods of arrays"] |= {name: kind_of_composition(name) for kind, name in METHODS if kind == "array"}
    kinds["methods of arrays"] |= dict.fromkeys(("sort", "partition"), IN_PLACE)
    kinds["numpy"] |= {
        dtype.__name__: DIFFERENTIABLE if issubclass(dtype, np.inexact) else CONSTANT for dtype in signatures.DTYPE_CALLS
    } | {"frexp": kind_of_row("frexp(x)")}
    for function in (*COMPOSED, *SPECIAL):
        if (module := module_of(function)) and not module.startswith("numpy.random"):
            kinds[module].setdefault(function.__name__, kind_of_composition(function.__name__))
    public = [(module, table) for module, table in SCIPY.items() if "._" not in module]  # the others serve SciPy's own source
    for module, table in (("numpy", VERSIONED), ("numpy.linalg", VERSIONED_LINALG), *public):
        kinds[module] |= {name: kind_of_composition(name) for name in table}
    for module, solvers in SOLVERS.items():
        kinds[module] |= dict.fromkeys(solvers, DIFFERENTIABLE)
    for name, part in signatures.QUADRATURE.items():
        kinds["numpy.polynomial"][f"{part}.{name}"] = CONSTANT
    kinds["numpy.random"] |= {
        name: DIFFERENTIABLE if name in SCALED or name == "choice" else CONSTANT for name in (*DRAWS, *SPREAD, "choice")
    }
    kinds["numpy.random"] |= {"shuffle": IN_PLACE, "default_rng": CONSTANT, "RandomState": CONSTANT}
    return {module: dict(sorted(kinds[module].items())) for module in sorted(kinds)}


def distributions() -> dict[str, list[str]]:
    """For each distribution of ``scipy.stats`` what is known of it."""
    return {name: sorted(table) for name, table in DISTRIBUTIONS.items()}
