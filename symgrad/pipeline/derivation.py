"""The stages: a job -> the IR of its derivative, and the methods that turn it into texts.

Every module that rewrites IR is imported here, and only on demand: a hit of the disk cache needs none of them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from symgrad.adjoint.checks import check, check_holomorphic, checked_when_run
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.reverse import split_pullback as split_halves
from symgrad.adjoint.saving.costs import INTERPRETED, READ, Costs
from symgrad.adjoint.saving.recomputed_calls import unmarked
from symgrad.adjoint.solvers import solutions
from symgrad.codegen.describing import label
from symgrad.codegen.header import Header
from symgrad.codegen.numba import Surface, as_lists
from symgrad.codegen.pairs import Halves, emit_pair
from symgrad.codegen.python import emit
from symgrad.codegen.texts import Emitted, Kernel, Pair
from symgrad.errors import SymgradError
from symgrad.frontend.containers.results import Lowered, Result
from symgrad.identity import Same
from symgrad.ir.core import Func, clone, holds_complex, reachable, walk
from symgrad.ir.verify import verify
from symgrad.ops.analysis.contents import holds_any
from symgrad.passes.simplification.relations import relations
from symgrad.pipeline.along import active_results, emission, kernel, result_text, tangent_words, written
from symgrad.pipeline.emission import Emission, argument_names, emitted_for, printed, run_once, saved, seed_checks, seeds_of
from symgrad.pipeline.job import (
    Job,
    asks_result,
    document,
    free_name,
    lines_of,
    numbered,
    own_document,
    parameter_text,
    passed_text,
    sequence,
    untold,
    with_leaves,
)
from symgrad.pipeline.kernel_texts import crossing_lists, gradients_only, halves_in_loops, whole_kernel
from symgrad.pipeline.linear import emission as linear_emission
from symgrad.pipeline.linear import kernels as linear_kernels
from symgrad.pipeline.linear import linear
from symgrad.pipeline.modes import by_columns, matrices, matrices_inside
from symgrad.pipeline.registry import LOWERED, OPTIMISE, PREPARE, READABLE, REMARKS, SIMPLIFY
from symgrad.pipeline.runner import PassContext, outline, run, timed
from symgrad.pipeline.weights import places, weighted_by
from symgrad.pipeline.wrt import budget_of, check_active
from symgrad.runtime.support import array_of, check_items, check_keys, fitting_seed, list_seed
from symgrad.signature import Related, Static, extent_words
from symgrad.tables import named
from symgrad.tangent import trajectories
from symgrad.tangent.write import push_forward
from symgrad.text import docstring

Read = Callable[[str], Any] | None
Kernels = Callable[[Job, Surface], Kernel | Pair]

#: the modules that register the emitters of derivatives of solutions of equations
ENTERED = (solutions, trajectories)

#: suffixes of the names of functions generated in addition to a function
ENDS = ("", "_plain", "_primal", "_kernel", "_numpy", "_forward_kernel", "_backward_kernel", "_again")


@dataclass(frozen=True, slots=True)
class Derivation:
    """The result of the stages for a job, and its emitters: as NumPy code, as kernels; ``program`` returns it as IR again."""

    job: Job
    name: str  #: of the emitted function
    emission: Emission
    kernels: Kernels
    result: str = ""
    doc: str = ""
    program: Callable[[], Lowered] | None = None
    as_read: Callable[[], Derivation] | None = None  #: the derivation of the original function, if this one is of a rewritten form

    def readable(self) -> Derivation:
        """The derivation of the original function."""
        return self if self.as_read is None else self.as_read()

    def kernel(self, job: Job) -> Kernel | Pair:
        """The texts for numba; raises OutOfReach where there are none."""
        words: Mapping[str, str] = {} if job.outside is None else job.outside.words
        converted = dict(job.signature.converted)
        leaves = [words.get(text, text) + converted.get(text, "") for _, text in job.lowered.inputs]
        if "getattr" in job.signature.names and any("getattr(" in leaf for leaf in leaves):
            from symgrad.loops.reach import OutOfReach

            raise OutOfReach("a parameter called getattr beside an attribute whose name is no identifier")
        from symgrad.loops.reach import check_length

        check_length(
            sum(1 for stage in ("adjoint", "simplified") if stage in job.stages for _ in walk(job.stages[stage].body)), "operations"
        )
        return self.kernels(
            job,
            Surface(self.name, parameter_text(job), passed_text(job), self.doc, leaves, self.result, job.lowered.objects, lines_of(job)),
        )

    def primal(self) -> tuple[ast.Module, dict[str, Any], str]:
        """The function itself, to be run once: a tree, its global names, and its own name."""
        job, name = self.job, f"{self.name}_primal"
        return *run_once(job, job.stages["simplified"], name, numbered(job.lowered.result, itertools.count())), name

    def saved(self, examples: Any, kernel: bool) -> str:
        """The text of a saved module, with the kernels if requested."""
        plain = self.readable()
        return saved(plain.job, plain.emission, self.name, examples, self.kernel if kernel else None)


def derivation(job: Job, read: Read) -> Derivation:
    """Run the stages. ``read`` evaluates expressions over the arguments, if there are any; see ``seek_relations``."""
    if job.request.primal:
        return function_itself(job, read)
    job.check_output()
    primal = simplified(job, job.lowered.func, read)
    active = list(range(job.output.count))
    wrt = job.requested()
    names = {Same(item.value): path for path, item in job.signature.leaves() if isinstance(item, Static)}
    try:
        check(primal, wrt, active, names, [text for _, text in job.lowered.inputs])
    except SymgradError as refusal:
        refusal.objects = {**job.lowered.objects, **refusal.objects}
        raise
    check_active(job, primal, wrt, active)
    if job.request.holomorphic:
        check_holomorphic(primal, wrt, active)
    primal = checked_when_run(primal, wrt, active)
    if asks_result(job, primal):
        job.stage("simplified", primal)
    if job.request.jacobian:
        job.by_columns = by_columns(job, primal, wrt, active, read)
    make = partial(maker(job), wrt=wrt, active=active)
    if job.request.sparsity:
        return make(job, primal)
    return of_best_form(job, primal, make)


def maker(job: Job) -> Callable[..., Derivation]:
    """The function that makes the requested derivative."""
    if job.request.along:
        return product_forwards if job.request.mode == "forward" else gradient_along
    if job.request.sparsity:
        return frame_of_sparsity
    request = job.request
    kinds = {request.pullback: pullback, request.forward: directional, request.linear: linearized, request.jacobian: jacobian_matrices}
    return kinds.get(True, whole_gradient)


def simplified(job: Job, func: Func, read: Read) -> Func:
    """The lowered function after the first passes, which another derivative may have run already."""
    reading = job.reading
    if reading is not None and reading.func is not None and reading.simplified is not None:
        job.stages |= {"lowered": reading.func, "simplified": reading.simplified}
        job.relations = reading.related
        return clone(reading.simplified)
    alone = len(reachable(func)) == 1  # copies share their callees
    job.stage("lowered", func)
    func = run(SIMPLIFY, run(LOWERED, func) if job.lowered.fresh else func)
    seek_relations(job, func, read)
    func = job.stage("simplified", func)
    if reading is not None and alone:
        reading.lowered, reading.func, reading.simplified = job.lowered, job.stages["lowered"], job.stages["simplified"]
    return func


def of_best_form(job: Job, func: Func, make: Callable[[Job, Func], Derivation]) -> Derivation:
    """The derivation of a function in its fastest form; of the original function on demand."""
    if job.request.optimize == "read":
        func = clone(func)
        for one in reachable(func):
            if one.original is not None:
                one.body = run(SIMPLIFY, run(LOWERED, one)).body
            label(one)
        return make(job, func)
    before = outline(func)
    func = prepared(job, func)
    if outline(func) == before:
        return make(job, func)
    as_read = cache(lambda: make(replace(job, stages=dict(job.stages)), untold(clone(job.stages["simplified"]))))
    return replace(make(job, job.stage("prepared", func)), as_read=as_read)


def prepared(job: Job, func: Func) -> Func:
    """The function in the form whose derivative runs fastest; complex numbers are left as they are.

    For kernels dot products are batched to matrix products; small arrays become numbers where that is faster;
    loop-invariant ops are hoisted.
    """
    if holds_complex(func):
        if func.notes is not None:
            hint = "split it into real and imaginary part where that takes too long"
            message = "a function of complex numbers runs as it is shown, in none of the faster forms"
            func.notes.add("passes", "unproved", func.loc, message, hint=hint)
        return func
    stage = PREPARE if job.target is None else job.target.prepare()
    return run(stage, func, PassContext(job.target is not None, job.request.guarded))


def costs(job: Job) -> Costs:
    """The cost model of the target."""
    return READ if job.request.optimize == "read" else INTERPRETED if job.target is None else job.target.costs()


def seek_relations(job: Job, func: Func, read: Read) -> None:
    """Request code specialised to relations between the arguments' extents, where that makes more shapes known."""
    if read is None:
        return
    words = {symbol: text for text, symbol in extent_words(job.signature).items()}
    job.relations = tuple(relations(func, words))
    if job.reading is not None:
        job.reading.related = job.relations
    pins = tuple((text, 0) for text in job.relations if read(text) == 0)
    if pins:
        raise Related(pins)


# ------------------------------------------------------------------ kinds of derivatives


def whole_gradient(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """The gradient, with the value or auxiliary results if requested."""
    lowered, keep = job.lowered, job.request.value or job.request.has_aux
    with timed(primal.notes, "differentiate", "gradient"):
        derivative = gradient(
            primal, wrt, active_results=active, value=keep, name=f"{primal.name}_grad", costs=costs(job), fused=True, budget=budget_of(job)
        )
        derivative.guarded = primal.guarded
        has_custom = holds_any(derivative, "custom derivatives", "calls")
        derivative = job.stage("adjoint", expanded(derivative) if has_custom else derivative)
    count = len(primal.body.yields) if keep else 0
    if keep and not job.request.value:  # only the auxiliary results are returned
        count = without_output(job, derivative, count)
    places = {k: count + n for n, k in enumerate(wrt)}
    order: list[int] = list(range(count)) if job.request.value else []
    whole = job.gradients(places, order)
    if job.request.value:
        whole = sequence((lowered.result, whole), "(", ")")
    kind = "value_and_grad" if job.request.value else "grad"
    return in_one_piece(job, derivative, kind, "Gradient", with_aux(job, whole, order, count), order)


def jacobian_matrices(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """The Jacobians, with the auxiliary results if requested."""
    with timed(primal.notes, "differentiate", "jacobian"):
        derivative = job.stage("adjoint", matrices(job, primal, wrt, active, costs(job)))
    count = len(primal.body.yields)
    if job.request.has_aux:
        count = without_output(job, derivative, count)
    else:
        del derivative.body.yields[:count], derivative.results[:count]
        count = 0
    order: list[int] = []
    leaves = [job.gradients({k: count + number * len(wrt) + n for n, k in enumerate(wrt)}, order) for number in range(job.output.count)]
    whole = with_leaves(job.output, leaves)
    return in_one_piece(job, derivative, "jacobian", "Jacobian", with_aux(job, whole, order, count), order)


def product_forwards(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """The derivative of a gradient in the direction of an argument, with the auxiliary results if requested."""
    aux = job.request.has_aux
    with timed(primal.notes, "differentiate", "push_forward"):
        derivative = expanded(push_forward(primal, wrt, active, f"{job.source.name}_hvp"))
        derivative.guarded = primal.guarded
    first = len(primal.params)
    of_path = {job.lowered.inputs[k][1]: tangent for k, tangent in zip(wrt, derivative.params[first:], strict=True)}
    del job.lowered.inputs[first:]  # of another form of the same function
    job.lowered.inputs += weighted_by(job, derivative, [of_path[like] for _, like in places(job)])
    count = without_output(job, derivative, len(primal.body.yields))
    if not aux:
        del derivative.body.yields[:count], derivative.results[:count]
        count = 0
    derivative = job.stage("adjoint", derivative)
    order = list(range(count, count + job.output.count))
    return in_one_piece(job, derivative, "hvp", "Hessian-vector product", with_aux(job, job.output, order, count), order)


def gradient_along(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """The gradient of the sum of the results weighted by an argument, with the auxiliary results if requested."""
    aux = job.request.has_aux
    with timed(primal.notes, "differentiate", "gradient"):
        name = f"{job.source.name}_hvp"
        derivative = gradient(
            primal, wrt, active_results=active, value=aux, seeds=True, name=name, costs=costs(job), fused=True, budget=budget_of(job)
        )
        derivative = expanded(derivative)
    first = len(primal.params)
    del job.lowered.inputs[first:]  # of another form of the same function
    job.lowered.inputs += weighted_by(job, derivative, derivative.params[first:])
    derivative = job.stage("adjoint", derivative)
    count = without_output(job, derivative, len(primal.body.yields)) if aux else 0
    order: list[int] = []
    whole = job.gradients({k: count + n for n, k in enumerate(wrt)}, order)
    return in_one_piece(job, derivative, "hvp", "Hessian-vector product", with_aux(job, whole, order, count), order)


def without_output(job: Job, derivative: Func, count: int) -> int:
    """Remove the differentiated results from a function's own ones; return how many are left."""
    del derivative.body.yields[: job.output.count], derivative.results[: job.output.count]
    return count - job.output.count


def with_aux(job: Job, whole: Result, order: list[int], count: int) -> Result:
    """The structure of the derivative, with that of the auxiliary results, the first ``count``, if requested."""
    if job.request.value or not job.request.has_aux:
        return whole
    order += range(count)
    return sequence((whole, job.lowered.result.items[1]), "(", ")")


def in_one_piece(job: Job, derivative: Func, kind: str, title: str, whole: Result, order: list[int]) -> Derivation:
    """The derivation of a derivative in one function; ``whole`` is the structure of its results, ``order`` their indices."""
    if job.request.optimize == "read":
        verify(derivative)  # the plan for readable text differs from the one for code that runs
        derivative = job.stage("optimized", readable(derivative))
        verify(derivative)
    else:
        derivative = job.stage("optimized", run(REMARKS, run(OPTIMISE, derivative)))
    text = numbered(whole, iter(order))
    stem = job.source.name if job.request.along else job.stages["simplified"].name
    name = free_name(job, f"{stem}_{kind}", *ENDS)
    doc = document(job, title)
    own = partial(program, derivative, [text for _, text in job.lowered.inputs], whole, job.lowered, order)
    return Derivation(job, name, lambda job: emitted_for(job, derivative, name, text, doc), whole_kernel, text, doc, own)


def readable(func: Func) -> Func:
    """The function for text to read; so are the gradients of functions whose calls it keeps."""
    for one in reachable(func):
        if one.original is None:
            result = run(READABLE, one)
            one.body, one.split = result.body, result.split
    return func


def function_itself(job: Job, read: Read) -> Derivation:
    """The original function, without a derivative; it does not change its arguments."""
    return of_best_form(job, unmarked(simplified(job, clone(job.lowered.func), read)), itself)


def itself(job: Job, func: Func) -> Derivation:
    """The text of a function without a derivative."""
    func = job.stage("optimized", run(OPTIMISE, func))
    doc = own_document(job)
    text = numbered(job.lowered.result, itertools.count())
    name = free_name(job, func.name, *ENDS)
    return Derivation(job, name, lambda job: emitted_for(job, func, name, text, doc), whole_kernel, text, doc)


def program(func: Func, texts: list[str], result: Result, lowered: Lowered, order: list[int]) -> Lowered:
    """A generated function as if it had just been lowered, so that it can be differentiated again."""
    copy = clone(func)
    copy.split = copy.notes = None
    copy.body.yields = [copy.body.yields[k] for k in order]
    copy.results = [copy.results[k] for k in order]
    return Lowered(copy, list(zip(copy.params, texts, strict=True)), result, lowered.captured, dict(lowered.objects), lowered.mutated,
                   lowered.copied, lowered.caught, relied=lowered.relied, fresh=False, identities=lowered.identities,
                   aliases=lowered.aliases, apart=lowered.apart, related=lowered.related, loops=lowered.loops)  # fmt: skip


def pullback(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """A pair of functions: forward returns the result and a closure over the residuals."""
    name = free_name(job, primal.name, "_forward", "_backward", *(f"_vjp{end}" for end in ENDS))
    with timed(primal.notes, "differentiate", "gradient"):
        whole = gradient(
            primal, wrt, active_results=active, value=True, seeds=True, name=f"{name}_vjp", costs=costs(job), budget=budget_of(job)
        )
        whole = job.stage("adjoint", expanded(whole))
    whole = run(REMARKS, run(OPTIMISE, whole))
    job.stage("optimized", whole)
    forward, backward = split_halves(whole, len(primal.body.yields), len(active))
    count = len(primal.body.yields)
    inside = ", ".join(f"{{{k}}}" for k in range(count, len(forward.body.yields)))
    result = numbered(job.lowered.result, itertools.count())
    forward, backward = job.stage("forward", run(SIMPLIFY, forward)), job.stage("backward", run(SIMPLIFY, backward))
    words = argument_names([v.name for v in backward.params], job.lowered.objects)
    taken = ", ".join(words)
    order: list[int] = []
    gradients = job.gradients({k: n for n, k in enumerate(wrt)}, order)
    gradients_text, doc = numbered(gradients, iter(order)), document(job, "Backward half of the pullback")
    header = Header(f"{name}_backward", taken, {}, gradients_text, doc, lines_of(job), objects=job.lowered.objects)
    seeds = seeds_of(job.output, [primal.body.yields[k].type for k in active], "out[0]" if job.request.has_aux else "out")
    returned = "out, pullback" if not job.request.has_aux else "out[0], pullback, out[1]"
    returns = f"({result}, ({inside}{',' if inside else ''}))"

    shapes = "".join(f"    {line}\n" for seed in seeds for line in seed.kept)
    passed = ", ".join(["*residuals", *(seed.fitted for seed in seeds)])
    checks = seed_checks(job.output, "out_grad", "out[0]" if job.request.has_aux else "out")
    checked = "".join(f"        {line}\n" for line in checks)

    def emission(job: Job) -> Emitted:
        last = printed(backward, job)
        second = emit(last, replace(header, bind=dict(zip(last.params, words, strict=True)), beside=job.defined))
        job = replace(job, defined=job.defined | second.defined)
        first = emitted_for(job, forward, f"{name}_forward", returns, document(job, "Forward half of the pullback"))
        text = (
            f"{first.text}\n\n{second.text}\n\n"
            f"def {name}_vjp({parameter_text(job)}):\n"
            f"    {docstring(document(job, 'Value and pullback'))}\n"
            f"    out, residuals = {name}_forward({passed_text(job)})\n{shapes}\n"
            f"    def pullback(out_grad):\n{checked}"
            f"        return {name}_backward({passed})\n\n"
            f"    return {returned}\n"
        )
        called = named(fitting_seed, list_seed, array_of, check_items, check_keys)
        return Emitted(text, {**first.namespace, **second.namespace, **called}, first.line_map)

    def kernels(job: Job, surface: Surface) -> Pair:
        doc = document(job, "Value and pullback")
        surface = surface.with_lists(crossing_lists([value for value, _ in job.lowered.inputs]), {})
        gradients_text = as_lists(header.result, crossing_lists(backward.body.yields))
        halves = Halves(*halves_in_loops(job, count, len(seeds)), result, gradients_text, seeds, returned, doc, checks=checks)
        return emit_pair(surface, halves, gradients_only(job, whole, count, replace(header, name=f"{surface.name}_again")))

    return Derivation(job, f"{name}_vjp", emission, kernels)


def directional(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """A function of tangents: value and tangent in one sweep."""
    stem = free_name(job, primal.name, *(f"_jvp{end}" for end in (*ENDS, "_at", *(f"_at{end}" for end in ENDS))))
    sweep, name = f"{stem}_jvp", f"{stem}_jvp_at"
    active = active_results(job, primal)
    func = written(job, primal, wrt, active, sweep)
    text = result_text(job, active, len(primal.body.yields))
    words = tangent_words(job, wrt)
    doc = document(job, "Value and tangent")

    def kernels(job: Job, surface: Surface) -> Kernel:
        return kernel(job, surface, sweep, text, wrt, words)

    return Derivation(job, name, lambda job: emission(job, func, sweep, name, text, wrt, words), kernels, text, doc)


def linearized(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """The value, and a linear function of tangents that reads the residuals of the value's computation."""
    stem = free_name(job, primal.name, *(f"_linearize{end}" for end in (*ENDS, "_value", "_linear")))
    name = f"{stem}_linearize"
    parts = linear(job, primal, wrt, active_results(job, primal), name, costs(job))

    def kernels(job: Job, surface: Surface) -> Pair:
        return linear_kernels(job, surface, parts, wrt)

    return Derivation(job, name, lambda job: linear_emission(job, parts, name, wrt), kernels)


def frame_of_sparsity(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Derivation:
    """A function that returns the frame of a sparse Jacobian for arguments; other functions compute the derivative itself."""
    from symgrad.loops.reach import OutOfReach
    from symgrad.pipeline.sparsity import frame_emission

    name = free_name(job, f"{primal.name}_frame", *ENDS)

    def kernels(job: Job, surface: Surface) -> Kernel:
        raise OutOfReach("the frame of a sparse Jacobian")

    return Derivation(job, name, lambda job: frame_emission(job, primal, wrt, active, name), kernels)


def derivative_inside(what: str, func: Func, wrt: list[int], active: list[int], taken: set[str], holomorphic: bool = False) -> Func:
    """The gradient of a function, its value and gradient, or its value and tangent, for use inside another function.

    Results that are not ``active`` are auxiliary. They come before the gradient, and after the value if that is
    returned.
    """
    func = run(SIMPLIFY, func)
    check(func, wrt, active)
    if holomorphic:
        check_holomorphic(func, wrt, active)
    func = checked_when_run(func, wrt, active)
    if what == "transpose":
        return run(SIMPLIFY, expanded(gradient(func, wrt, active_results=active, value=False, seeds=True, taken=taken), taken))
    if what in ("jacobian", "jacrev", "jacfwd"):
        derivative = matrices_inside(what, func, wrt, active, taken)
        del derivative.body.yields[: len(active)], derivative.results[: len(active)]
        return run(SIMPLIFY, derivative)
    if what == "jvp":
        return run(SIMPLIFY, expanded(push_forward(func, wrt, active, taken=taken), taken))
    valued, aux = what == "value_and_grad", len(active) < len(func.body.yields)
    derivative = gradient(func, wrt, active_results=active, value=valued or aux, taken=taken, fused=True)
    if aux and not valued:
        del derivative.body.yields[: len(active)], derivative.results[: len(active)]
    return run(SIMPLIFY, expanded(derivative, taken))


__all__ = ["Derivation", "derivation", "derivative_inside"]
