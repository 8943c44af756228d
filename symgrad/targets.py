"""The targets that ``jit=`` names, each a record. A new target is one more record in ``TARGETS``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from symgrad.errors import BadArgument, NumbaMissing, SymgradError
from symgrad.jit import Jit, of_a_length, with_kernels
from symgrad.pipeline.runner import import_passes
from symgrad.pipeline.target import Target, Texts
from symgrad.runtime.kernels import COMPARED, has_numba, is_compared, own_compiler
from symgrad.runtime.load import LOCK, imported

if TYPE_CHECKING:
    from symgrad.adjoint.saving.costs import Costs
    from symgrad.pipeline.derivation import Derivation
    from symgrad.pipeline.job import Job
    from symgrad.pipeline.runner import Stage

#: the target of ``jit=True`` and ``jit="auto"``
USUAL = "numba"


def target_of(jit: Jit) -> Target | None:
    """Return the requested target, or None for NumPy code."""
    return None if jit is False else TARGETS[jit if isinstance(jit, str) and jit != "auto" else USUAL]


def available(jit: Jit) -> Jit:
    """Return the request, with "auto" replaced by False if numba is not installed. Compiles nothing.

    Raises BadArgument unless it is a bool, "auto" or the name of a target, and the target's own error if it is not installed.
    """
    if not (isinstance(jit, bool) or isinstance(jit, str) and (jit == "auto" or jit in TARGETS)):
        raise BadArgument(f"jit is True, False, 'auto' or the name of a target, not {jit!r}", hint=f"targets: {', '.join(TARGETS)}")
    target = target_of(jit)
    missing = None if target is None else target.missing()
    if missing is not None and jit != "auto":
        raise missing
    return False if missing is not None else jit


# ------------------------------------------------------------------ kernels that numba compiles


def numba_missing() -> SymgradError | None:
    return None if has_numba() else NumbaMissing("jit=True compiles with numba, which is not installed")


def numba_costs() -> Costs:
    costs: Costs = imported("symgrad.adjoint.saving.costs").COMPILED
    return costs


def numba_prepare() -> Stage:
    stage: Stage = imported("symgrad.pipeline.registry").PREPARE_COMPILED
    return stage


def numba_emit(derivation: Derivation, job: Job) -> Texts:
    return of_a_length(derivation.kernel(job))


def numba_warm() -> None:
    """Import the stages for kernels; numba itself is imported when it is needed."""
    if has_numba():
        imported("symgrad.pipeline.lowering")
        import_passes(imported("symgrad.pipeline.registry").PIPELINES["numba"])
        if "numba" in sys.modules:
            with LOCK:
                own_compiler()


def numba_remark() -> tuple[str, str] | None:
    if not has_numba() or is_compared():
        return None
    what = "whether symgrad's kernel compiler works with this release of numba, so numba's own is used, which takes longer"
    return what, f"install a tested release, {COMPARED[0]} to {COMPARED[-1]}"


NUMBA = Target("numba", "numba", numba_missing, numba_costs, numba_prepare, numba_emit, with_kernels, numba_warm, numba_remark, kept=True)
TARGETS: dict[str, Target] = {target.name: target for target in (NUMBA,)}

__all__ = ["NUMBA", "TARGETS", "available", "target_of"]
