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


def integrated(result: Any) -> float:
    """The same for what ``scipy.integrate.quad`` gives with ``full_output=True``, which has a message if it did not converge.

    >>> integrated((0.5, 5.5e-15, {"neval": 21}))
    1.0
    """
    return convergence(len(result) == 3, result[-1] if len(result) == 3 else result[3])


def reached(report: Any) -> float:
    """The same for what ``scipy.integrate.odeint`` reports with ``full_output=True``.

    >>> reached({"message": "Integration successful."})
    1.0
    """
    return convergence(report["message"] == "Integration successful.", report["message"])
