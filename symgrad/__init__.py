"""Reverse-mode automatic differentiation of ordinary Python/NumPy functions: each gradient is written as Python source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symgrad.errors import SymgradError
from symgrad.runtime.load import imported

if TYPE_CHECKING:
    from symgrad.api import (
        checkpoint,
        constant,
        custom_jvp,
        custom_vjp,
        differentiable,
        elementwise,
        explain,
        from_source,
        grad,
        jvp,
        linearize,
        on_backward,
        rule,
        save,
        show_ir,
        stop_gradient,
        value_and_grad,
        vjp,
        vmap,
    )
    from symgrad.jacobians import hessian, hvp, jacfwd, jacobian, jacrev, vhp
    from symgrad.testing import check_grads
    from symgrad.trees import ravel

__version__ = "0.1.0"
__all__ = ["SymgradError", "check_grads", "checkpoint", "constant", "custom_jvp", "custom_vjp", "differentiable", "elementwise", "explain"]
__all__ += ["from_source", "grad", "hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jvp", "linearize", "on_backward", "ravel", "rule"]
__all__ += ["save", "show_ir", "stop_gradient", "value_and_grad", "vhp", "vjp", "vmap"]

#: public names by the module that defines them, imported on first access
HOMES = {name: "symgrad.api" for name in __all__ if name != "SymgradError"}
HOMES |= {"check_grads": "symgrad.testing", "ravel": "symgrad.trees"}
HOMES |= dict.fromkeys(("hessian", "hvp", "jacfwd", "jacobian", "jacrev", "vhp"), "symgrad.jacobians")


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'symgrad' has no attribute {name!r}")
    value = globals()[name] = getattr(imported(HOMES[name]), name)
    return value


def load_ipython_extension(shell: Any) -> None:
    """Register the magic ``%%symgrad``; called by ``%load_ext symgrad``."""
    imported("symgrad.notebook.magic").load(shell)


def __dir__() -> list[str]:
    return sorted([*globals(), *HOMES])
