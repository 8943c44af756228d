"""Functions of SciPy's array layer that compute only where a condition holds, expressed by NumPy functions.

SciPy's own functions call them: distributions of ``scipy.stats`` where a parameter is infinite, say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import need


def apply_where(cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None) -> Any:
    """``f1`` of the operands where the condition holds, and ``f2`` of them, or a value, where it does not; each is called with its elements
    alone.
    """
    need((f2 is None) != (fill_value is None), "apply_where takes either a second function or a fill value")
    operands: Any = args if isinstance(args, tuple) else (args,)
    if isinstance(cond, bool) and (cond or f2 is not None):
        return np.asarray((f1 if cond else f2)(*np.broadcast_arrays(*operands)))
    cond, *operands = np.broadcast_arrays(cond, *operands)
    if np.ndim(cond) == 0:
        if cond:
            return np.asarray(f1(*operands))
        return np.asarray(fill_value if f2 is None else f2(*operands))
    inside = f1(*[operand[cond] for operand in operands])
    if f2 is None:
        out = np.full(np.shape(cond), fill_value, dtype=np.result_type(inside, fill_value))
    else:
        outside = f2(*[operand[~cond] for operand in operands])
        out = np.zeros(np.shape(cond), dtype=np.result_type(inside, outside))
        out[~cond] = outside
    out[cond] = inside
    return out


def lazyselect(condlist: Any, choicelist: Any, arrays: Any, default: Any = 0) -> Any:
    """Return for each element the result of the last condition that holds; each function receives its elements only."""
    operands = [np.ravel(operand) for operand in np.broadcast_arrays(*arrays)]
    shape = np.shape(np.broadcast_arrays(*arrays)[0])
    out = np.full(np.shape(operands[0]), default, dtype=float)
    for cond, choice in zip(condlist, choicelist):
        held = np.ravel(np.broadcast_to(cond, shape))
        out[held] = choice(*[operand[held] for operand in operands])
    return np.reshape(out, shape)


SELECTING = {"apply_where": apply_where}
#: the same of the module that distributions take it from
SELECTING_LAZILY = {"_lazyselect": lazyselect}
