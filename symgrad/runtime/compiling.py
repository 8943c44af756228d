"""numba's compiler, reduced to the passes that kernels need."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from types import CodeType
from typing import Any

from numba.core import compiler, typed_passes, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import PassManager, register_pass

from symgrad.runtime.lowering import KernelLower

#: passes of numba without effect on kernels, which have no array expressions, object mode or unresolved literals
SKIPPED = {"with_lifting", "nopython_rewrites", "dump_parfor_diagnostics"}
#: only for functions inside the function
FOR_CLOSURES = {"inline_closure_likes", "make_function_op_code_to_jit_function"}


#: operand types that alone determine the result type of a numba function
SETTLED = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.RangeType, types.RangeIteratorType)


@contextmanager
def remembered(context: Any) -> Iterator[None]:
    """Context manager: cache the result types of numba functions by operand types."""
    before = vars(context).get("resolve_function_type")
    find, known = context.resolve_function_type, {}

    def resolve_function_type(function: Any, args: Any, keywords: Any) -> Any:
        if keywords or not isinstance(function, types.Function) or not all(isinstance(type_, SETTLED) for type_ in args):
            return find(function, args, keywords)
        key = function, tuple(args)
        if key not in known:
            known[key] = find(function, args, keywords)
        return known[key]

    context.resolve_function_type = resolve_function_type
    try:
        yield
    finally:
        if before is None:
            del context.resolve_function_type
        else:
            context.resolve_function_type = before


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelTypes(typed_passes.NopythonTypeInference):
    """Infers types, asking everything once."""

    _name = "symgrad_kernel_types"

    def run_pass(self, state: Any) -> Any:
        """Infer."""
        with remembered(state.typingctx):
            return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class KernelLowering(typed_passes.NativeLowering):
    """Lowers with fewer instructions."""

    _name = "symgrad_kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """The class that lowers kernels."""
        return KernelLower

    def run_pass(self, state: Any) -> Any:
        """Lower the kernel. One without loops is optimised as a whole only, which takes a third less time with the same result."""
        if state.library is None and not compute_cfg_from_blocks(state.func_ir.blocks).loops():
            state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
            state.library.enable_object_caching()
            state.library._optimize_functions = partial(lay_out, state.library)
        return super().run_pass(state)


def lay_out(library: Any, module: Any) -> None:
    """Tell LLVM how data lie in memory; numba goes on to improve every function alone, and then all of them again."""
    module.data_layout = library._codegen._data_layout


OWN = {typed_passes.NopythonTypeInference: KernelTypes, typed_passes.NativeLowering: KernelLowering}


class KernelCompiler(compiler.CompilerBase):
    """Compiles one kernel."""

    def define_pipelines(self) -> list[Any]:
        """The passes."""
        whole = compiler.DefaultPassBuilder.define_nopython_pipeline(self.state)
        skipped = set(SKIPPED)
        if not any(isinstance(item, CodeType) for item in self.state.func_id.code.co_consts):
            skipped |= FOR_CLOSURES
        pipeline = PassManager("kernel")
        for kind, told in whole.passes:
            if kind.name() not in skipped:
                pipeline.add_pass(OWN.get(kind, kind), told)
        pipeline.finalize()
        return [pipeline]
