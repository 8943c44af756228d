"""numba's compiler, without what kernels do not need."""

from __future__ import annotations

from types import CodeType
from typing import Any

from numba.core import compiler, typed_passes
from numba.core.compiler_machinery import PassManager, register_pass

from symgrad.runtime.lowering import KernelLower

#: passes that do nothing for a kernel: it has no arrays as operands, no blocks of Python, and knows which literals it has
SKIPPED = {"with_lifting", "nopython_rewrites", "dump_parfor_diagnostics"}
#: only for functions inside the function
FOR_CLOSURES = {"inline_closure_likes", "make_function_op_code_to_jit_function"}


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.NativeLowering):
    """Lowers with fewer instructions."""

    _name = "symgrad_kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """What lowers."""
        return KernelLower


class KernelCompiler(compiler.CompilerBase):
    """Compiles one kernel."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        whole = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        skipped = set(SKIPPED)
        if not any(isinstance(item, CodeType) for item in self.state.func_id.code.co_consts):
            skipped |= FOR_CLOSURES
        made = PassManager("kernel")
        for kind, told in whole.passes:
            if kind.name() not in skipped:
                made.add_pass(KernelLowering if kind is typed_passes.NativeLowering else kind, told)
        made.finalize()
        return [made]
