"""Run-time support: warns where a solver did not converge."""

from __future__ import annotations

import math
import sys
import warnings
from typing import Any

from symgrad.errors import BadArgument


def convergence(success: Any, message: Any) -> float:
    """The factor of the derivative of a solution: 1.0, or nan where the solver did not converge, after a warning with its message.

    >>> convergence(True, "")
    1.0
    """
    if success:
        return 1.0
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and "symgrad" in (str(frame.f_globals.get("__name__"))[:7], frame.f_code.co_filename[1:8]):
        depth, frame = depth + 1, frame.f_back  # to the line of the user's own that led here
    warnings.warn(f"the solver did not converge, and its result has no derivative (nan): {message}", RuntimeWarning, stacklevel=depth)
    return math.nan


def integrated(result: Any) -> float:
    """The same for the result of ``scipy.integrate.quad`` with ``full_output=True``, which has a message if it did not converge.

    >>> integrated((0.5, 5.5e-15, {"neval": 21}))
    1.0
    """
    return convergence(len(result) == 3, result[-1] if len(result) == 3 else result[3])


def reached(report: Any) -> float:
    """The same for the report of ``scipy.integrate.odeint`` with ``full_output=True``.

    >>> reached({"message": "Integration successful."})
    1.0
    """
    done = ("Integration successful.", "Nothing was done; the integration time was 0.")
    return convergence(report["message"] in done, report["message"])


def differentiated_by(sensitivity: str) -> None:
    """Say how the differential equation that was solved last is differentiated: ``"forward"``, ``"adjoint"`` or ``"auto"``.

    >>> differentiated_by("adjoint")
    """
    if sensitivity not in ("auto", "forward", "adjoint"):
        raise BadArgument(f"there is no sensitivity {sensitivity!r}", hint='sensitivity is "auto", "forward" or "adjoint"')
