"""What generated code calls where a solver has been called: was it successful?"""

from __future__ import annotations

import math
import warnings
from typing import Any


def convergence(success: Any, message: Any) -> float:
    """The factor of the derivative of a solution: 1.0, or nan where the solver did not converge, after a warning with its message.

    >>> convergence(True, "")
    1.0
    """
    if success:
        return 1.0
    warnings.warn(f"the solver did not converge, and its result has no derivative (nan): {message}", RuntimeWarning, stacklevel=3)
    return math.nan
