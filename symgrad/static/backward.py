"""``append_backward`` and ``gradients``: gradients of a program's variables, appended to the program.

One step of the program represents the whole backward half; the engine generates its code when the program is compiled. The block lists
the operations of which the step consists, under the documented names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.errors import BadArgument, required
from symgrad.functional.tensors import ones_like
from symgrad.record.operations import Operation
from symgrad.static.compiling import at_first, build, reads, samples, writes
from symgrad.static.mode import in_static_mode
from symgrad.static.program import FLOATS, Apply, Block, Description, Gradient, Op, Parameter, Program, Step, Variable
from symgrad.static.recompute import Segments
from symgrad.tracebacks import boundary, refused

Pair = tuple[Variable, Variable]
GRAD = "@GRAD"


# ------------------------------------------------------------------ which variables have a gradient


@dataclass(slots=True)
class Reach:
    """Which steps derivatives pass, and which variables have one."""

    steps: list[Step]
    variables: set[str]


def reach(block: Block, targets: Iterable[str], cuts: set[str]) -> Reach:
    """Return the variables that the targets depend on. No path crosses a cut; a variable computed only from cut variables is a leaf."""

    def carries(name: str) -> bool:
        variable = block.vars.get(name)
        return variable is not None and variable.dtype.kind in FLOATS and name not in cuts

    useful = {name for name in targets if carries(name)}
    chosen: list[Step] = []
    for step in reversed(block.steps):
        if useful.isdisjoint(writes(step)) or not any(map(carries, passing(step))):
            continue
        if again := [name for name in writes(step) if name in useful and is_overwritten(block, name)]:
            raise BadArgument(f"{again[0]} is changed by an optimiser before it is read here; build the loss before minimize")
        chosen.append(step)
        useful.update(name for name in passing(step) if carries(name))
    return Reach(chosen, useful)


def is_overwritten(block: Block, name: str) -> bool:
    """If steps write to it: is it a parameter, whose value before them is meant?"""
    variable = block.vars.get(name)
    return variable is not None and variable.persistable and not variable.stop_gradient


def passing(step: Step) -> list[str]:
    """Return the variables that receive a derivative from a step's results."""
    if isinstance(step, Gradient):
        return [*step.targets, *(s for s in step.seeds if s is not None), *step.pairs]
    if isinstance(step, Apply) and step.operation.named:
        return [*reads(step), *step.outputs[: len(step.operation.named)]]
    return reads(step)


# ------------------------------------------------------------------ names


@dataclass(slots=True)
class Naming:
    """The names of gradients in one call; ``number`` counts the calls for the program."""

    program: Program
    number: int
    names: dict[str, str] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """The name of a variable's gradient."""
        if name not in self.names:
            plain = name + GRAD
            taken = self.program.global_block().vars
            if plain in taken:
                plain = "grad/" * self.number + plain if self.number > 1 else self.fresh(plain)
            self.names[name] = plain if plain not in taken else self.fresh(plain)
        return self.names[name]

    def fresh(self, stem: str) -> str:
        """A name with a number at its end."""
        taken, k = self.program.global_block().vars, 0
        while f"{stem}_{k}" in taken:
            k += 1
        return f"{stem}_{k}"


# ------------------------------------------------------------------ the list of operations


Callback = Callable[..., Any]
#: operations whose gradient is an operation of the same kind
GRADIENTS = {"scale": "scale"}


def list_backward(
    block: Block,
    reached: Reach,
    naming: Naming,
    seeds: Sequence[Description],
    callbacks: Sequence[Callback],
    checkpoints: Sequence[str] = (),
) -> dict[int, int]:
    """List the operations of a backward half, and call the callbacks for each but the seeds; the result is the source of each by number."""
    planned = backward_operations(block, reached, naming, Segments(block, reached.steps, checkpoints))
    block.ops += [Op(block, seed) for seed in seeds]
    context: dict[str, Any] = {naming.of(name): name for name in sorted(reached.variables)}
    for description, _ in planned:
        block.ops.append(Op(block, description))
        context["__current_op_desc__"] = description
        for callback in callbacks:
            callback(block=block, context=context)
    return {description.number: source for description, source in planned if source is not None}


def backward_operations(block: Block, reached: Reach, naming: Naming, segments: Segments) -> list[tuple[Description, int | None]]:
    """Return the gradient operations in order, each with the number of its forward operation.

    A variable read several times has parts, which are summed before the sum is read. Before the gradients of a segment its
    operations are listed again.
    """
    uses: dict[str, int] = {}
    for step in reached.steps:
        for name in passing(step):
            if name in reached.variables:
                uses[name] = uses.get(name, 0) + 1
    listed = {name: op.desc for op in block.ops for name in op.desc.outputs}
    planned: list[tuple[Description, int | None]] = []
    parts: dict[str, list[str]] = {}
    begun: set[int] = set()

    def add_up(name: str) -> None:
        planned.append((Description("sum", parts.pop(name), [naming.of(name)], backward=True), None))

    for step in reached.steps:
        segment = segments.of(step)
        if segment is not None and segment not in begun:
            begun.add(segment)
            planned += [(description, None) for description in segments.again[segment]]
        results = [name for name in writes(step) if name in reached.variables]
        for name in results:
            if name in parts:
                add_up(name)
        outs: list[str] = []
        for name in passing(step):
            if name not in reached.variables:
                continue
            if uses[name] > 1:
                own = parts.setdefault(name, [])
                own.append(f"{naming.of(name)}@RENAME@block{block.idx}@{len(own)}")
                outs.append(own[-1])
            else:
                outs.append(naming.of(name))
        source = listed.get(next(iter(writes(step)), ""))
        kind = "gradient" if source is None else source.kind
        renamed = {} if segment is None else segments.renamed[segment]
        inputs = [*(renamed.get(name, name) for name in reads(step)), *(naming.of(r) for r in results)]
        planned.append(
            (Description(GRADIENTS.get(kind, f"{kind}_grad"), inputs, outs, backward=True), None if source is None else source.number)
        )
    for name in list(parts):
        add_up(name)
    return planned


# ------------------------------------------------------------------ arguments


def kinds(value: Any, allowed: tuple[type, ...], name: str, function: str) -> None:
    """Refuse an argument of another kind."""
    if not isinstance(value, allowed):
        words = ", ".join(k.__name__ for k in allowed)
        raise refused(TypeError(f"the argument {name} of {function} must be {words}, not {type(value).__name__}"))


def cut_names(program: Program, no_grad_set: Any, function: str) -> set[str]:
    """The variables that no derivative passes: those in ``no_grad_set``, and those with ``stop_gradient``."""
    names = {v.name for v in program.list_vars() if v.stop_gradient and not derived(program, v)}
    if no_grad_set is None:
        return names
    kinds(no_grad_set, (set, list, tuple), "no_grad_set", function)
    for item in no_grad_set:
        kinds(item, (Variable, str), "no_grad_set[i]", function)
        names.add(item.removesuffix(GRAD) if isinstance(item, str) else item.name)
    return names


def derived(program: Program, variable: Variable) -> bool:
    """Whether a variable has ``stop_gradient`` only because all of its inputs do."""
    return variable.dtype.kind not in FLOATS


def outermost(variables: Iterable[Variable]) -> None:
    """Refuse variables of a branch or a loop: outside it they have no value."""
    for variable in variables:
        if variable.block.idx != 0:
            raise BadArgument(f"{variable.name} belongs to a branch or a loop", hint="return it from there, and use the result outside")


def needs_static(function: str) -> None:
    """Refuse to append to a program while operations run at once."""
    required(in_static_mode(), f"{function} works on programs; call enable_static() first")


# ------------------------------------------------------------------ append_backward


@boundary
def append_backward(
    loss: Variable,
    parameter_list: Any = None,
    no_grad_set: Any = None,
    callbacks: Any = None,
    checkpoints: Any = None,
    distop_context: Any = None,
) -> Any:
    """Append the gradient of ``loss`` to its program.

    Returns pairs (parameter, gradient): of all trainable parameters that the loss depends on, or of those in
    ``parameter_list``, in its order. No derivative passes variables in ``no_grad_set`` or with ``stop_gradient``.
    Each callback is called as ``callback(block=, context=)`` for every operation listed. With ``checkpoints`` the
    operations between them are listed once more before their gradients, and the result is ``(pairs, names of the
    checkpoints)``.

    Raises TypeError for arguments of a wrong kind, ValueError for a loss that is not the result of an operation.
    """
    needs_static("append_backward")
    kinds(loss, (Variable,), "loss", "append_backward")
    program = loss.program
    block = program.global_block()
    outermost([loss])
    if not any(loss.name in writes(step) for step in block.steps):
        raise refused(ValueError(f"loss.op is None: no operation of the program made {loss.name}"))
    requested = requested_names(parameter_list)
    if callbacks is not None:
        kinds(callbacks, (list, tuple), "callbacks", "append_backward")
    cuts = cut_names(program, no_grad_set, "append_backward")
    if distop_context is not None:
        distop_context.grad_var_to_var, distop_context.grad_op_id_to_op_id  # noqa: B018 (both must be there)
    segments = [c.name for c in checkpoints] if isinstance(checkpoints, list) and checkpoints else []
    number = program.gradient_calls = program.gradient_calls + 1
    naming = Naming(program, number)
    reached = reach(block, [loss.name], cuts)
    seed = loss.name + GRAD if loss.name + GRAD not in block.vars else naming.fresh(loss.name + GRAD)
    naming.names[loss.name] = seed
    opening = Description("fill_constant", [], [seed], backward=True)
    for callback in callbacks or ():
        if not callable(callback):
            block.ops.append(Op(block, opening))
            raise refused(ValueError(f"a callback must be callable, {type(callback).__name__} is not"))
    sources = list_backward(block, reached, naming, [opening], () if segments else callbacks or (), segments)
    gradient_of = enter(block, reached, naming, [loss.name], [None], cuts)
    real = dependent(program, reached, [loss.name], list(gradient_of), cuts)
    if distop_context is not None:
        distop_context.grad_var_to_var.setdefault(number, {}).update({gradient_of[name].name: name for name in gradient_of})
        distop_context.grad_op_id_to_op_id.update(sources)
    if requested is None:
        pairs: list[Pair] = [(p, gradient_of[p.name]) for p in block.all_parameters() if p.trainable and p.name in real]
    else:
        pairs = [(block.vars[name], gradient_of[name]) for name in requested if name in real]
    if segments:
        order = [name for step in block.steps for name in writes(step)]
        return pairs, sorted([s for s in segments if s in order], key=order.index)
    return pairs


def requested_names(parameter_list: Any) -> list[str] | None:
    """The names in ``parameter_list``."""
    if parameter_list is None:
        return None
    kinds(parameter_list, (list, tuple, set), "parameter_list", "append_backward")
    for place, item in enumerate(parameter_list):
        kinds(item, (Variable, str), f"parameter_list[{place}]", "append_backward")
    return [item if isinstance(item, str) else item.name for item in parameter_list]


def enter(
    block: Block, reached: Reach, naming: Naming, targets: Sequence[str], seeds: Sequence[str | None], cuts: set[str]
) -> dict[str, Variable]:
    """Append the step, and make a variable for each gradient."""
    gradient_of: dict[str, Variable] = {}
    for name in [*block.vars]:
        if name in reached.variables:
            source = block.vars[name]
            word = naming.of(name)
            gradient_of[name] = block.vars.get(word) or block.create_var(word, source.shape, source.dtype)
            gradient_of[name].shape, gradient_of[name].dtype = source.shape, source.dtype
    # the cuts are those at this call: later cuts do not affect it
    stops = tuple(name for name in dict.fromkeys(v.name for v in block.program.list_vars()) if name in cuts)
    block.steps.append(Gradient(tuple(targets), tuple(seeds), stops, {name: variable.name for name, variable in gradient_of.items()}))
    block.program.version += 1
    return gradient_of


# ------------------------------------------------------------------ gradients


@boundary
def gradients(targets: Any, inputs: Any, target_gradients: Any = None, no_grad_set: Any = None) -> list[Variable | None]:
    """Append the gradients of ``sum(<target gradient, target>)`` with respect to the inputs; None where no target depends on one.

    A target gradient of None means ones. No derivative crosses variables in ``no_grad_set`` or with ``stop_gradient``.

    Raises TypeError for arguments of a wrong kind, ValueError for lengths or shapes that do not agree, or variables of
    several programs.
    """
    needs_static("gradients")
    ends = variables(targets, "targets")
    starts = variables(inputs, "inputs")
    if not ends:
        raise refused(ValueError("targets is empty"))
    program = ends[0].program
    block = program.global_block()
    seeds = seeds_for(ends, target_gradients)
    arguments = [*ends, *starts, *(seed for seed in seeds if seed is not None)]
    if any(v.program is not program for v in arguments):
        raise refused(ValueError("targets, inputs and target gradients belong to different programs"))
    outermost(arguments)
    if len({v.name for v in ends}) < len(ends):
        raise refused(ValueError("a target appears twice in targets; give it a target gradient of 2 instead"))
    cuts = cut_names(program, no_grad_set, "gradients")
    number = program.gradient_calls = program.gradient_calls + 1
    naming = Naming(program, number)
    names = [end.name for end in ends]
    reached = reach_from(block, names, cuts, {s.name for s in starts})
    asked = [end.name for end, seed in zip(ends, seeds, strict=True) if seed is None]
    opening = [Description("fill_any_like", [name], [name + GRAD], backward=True) for name in asked]
    list_backward(block, reached, naming, opening, ())
    gradient_of = enter(block, reached, naming, names, [None if s is None else s.name for s in seeds], cuts)
    for end, seed in zip(ends, seeds, strict=True):
        if seed is None and end.name + GRAD not in block.vars:
            seeded(end)
    real = dependent(program, reached, names, [s.name for s in starts if s.name in gradient_of], cuts)
    return [gradient_of[start.name] if start.name in real else None for start in starts]


def seeded(target: Variable) -> None:
    """Make the variable of a seed of ones, for a target whose gradient nothing requests, so that later gradients get other names."""
    block = target.program.global_block()
    gradient = block.create_var(target.name + GRAD, target.shape, target.dtype)
    block.steps.append(Apply(Operation(ones_like, (True,)), (target.name,), (gradient.name,)))
    block.program.version += 1


def dependent(program: Program, reached: Reach, targets: Sequence[str], names: Sequence[str], cuts: set[str]) -> set[str]:
    """The names that the targets depend on; for gradients of gradients, which may be constant, and for inner blocks, the engine decides."""
    if not any(not isinstance(step, Apply) or step.operation.named for step in reached.steps):
        return set(names)
    graph = build(program, samples(program), [*targets, *names], cuts)
    values = graph.gradients(targets, [at_first(graph, name) for name in names if name in graph.values], [None] * len(targets), cuts)
    return {name for name, value in zip(names, values, strict=True) if value is not None}


def reach_from(block: Block, targets: Sequence[str], cuts: set[str], sources: set[str]) -> Reach:
    """Like ``reach``, restricted to variables that depend on some others."""
    whole = reach(block, targets, cuts)
    for step in whole.steps:
        if isinstance(step, Gradient):
            used = {name for name in step.pairs.values() if name in whole.variables}
            for source, name in step.pairs.items():
                if name in sources and used - {name} and any(source in writes(other) for other in block.steps):
                    what = f"{name} and {min(used - {name})} were made together, so how one depends on the other is not known"
                    raise BadArgument(what, hint="make them by two calls of gradients")
    varied = set(sources)  # including cut variables: variables after them still have a gradient
    for step in block.steps:
        if any(name in varied for name in passing(step)):
            varied.update(name for name in writes(step) if name in whole.variables)
    varied &= whole.variables
    steps = [step for step in whole.steps if any(name in varied for name in writes(step)) and any(n in varied for n in passing(step))]
    return Reach(steps, varied)


def variables(argument: Any, name: str) -> list[Variable]:
    """A variable, or a list or tuple of them."""
    if isinstance(argument, Variable):
        return [argument]
    kinds(argument, (list, tuple), name, "gradients")
    for place, item in enumerate(argument):
        kinds(item, (Variable,), f"{name}[{place}]", "gradients")
    return list(argument)


def seeds_for(targets: list[Variable], argument: Any) -> list[Variable | None]:
    """A seed or None for each target."""
    if argument is None or isinstance(argument, list | tuple) and not argument:
        return [None] * len(targets)
    seeds = [argument] if isinstance(argument, Variable) else argument
    kinds(seeds, (list, tuple), "target_gradients", "gradients")
    for place, seed in enumerate(seeds):
        if seed is not None:
            kinds(seed, (Variable,), f"target_gradients[{place}]", "gradients")
    if len(seeds) != len(targets):
        raise refused(ValueError(f"there are {len(targets)} targets and {len(seeds)} target_gradients"))
    for seed, target in zip(seeds, targets, strict=True):
        if seed is None:
            continue
        if seed.dtype != target.dtype:
            raise refused(TypeError(f"the target gradient {seed.name} is {seed.dtype}, its target {target.dtype}"))
        if len(seed.shape) != len(target.shape) or any(a != b and -1 not in (a, b) for a, b in zip(seed.shape, target.shape, strict=True)):
            raise refused(
                ValueError(f"the target gradient {seed.name} of shape {seed.shape} does not fit {target.name} of shape {target.shape}")
            )
    return list(seeds)


__all__ = ["Parameter", "append_backward", "gradients"]
