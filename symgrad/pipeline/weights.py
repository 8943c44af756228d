"""An argument that holds the weights of a function's results -> parameters of the differentiated function, checked on entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from symgrad.errors import BadArgument
from symgrad.frontend.containers.results import Result
from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, substitute
from symgrad.ir.types import Array, Scalar, Type
from symgrad.ops.build import Builder, symbols
from symgrad.pipeline.emission import seed_places
from symgrad.pipeline.job import Job


def weighted_by(job: Job, func: Func, seeds: Sequence[Value]) -> list[tuple[Value, str]]:
    """Let the seeds of a derivative be computed from the leaves of an argument, whose types must match the arguments in ``wrt``.

    Returns the new parameters, each with the expression that reads it. Raises BadArgument for a leaf of another
    type.
    """
    held = dict(job.signature.leaves())
    builder = Builder(taken=symbols(func))
    inputs: list[tuple[Value, str]] = []
    table: dict[Value, Operand] = {}
    params = dict(zip([text for _, text in job.lowered.inputs], func.params, strict=False))
    for seed, (text, like) in zip(seeds, places(job), strict=True):
        passed, param = held.get(text), params.get(like)
        if param is None or not isinstance(passed, Scalar | Array) or not fits(passed, param.type):
            what = f"{text} is {'not there' if passed is None else passed}, and {like} is {seed.type if param is None else param.type}"
            hint = f"pass {job.request.along} in the form of the gradient, in floats"
            raise BadArgument(what, job.parameter_loc(job.request.along), hint)
        value = Value(builder.distinct(passed), text)
        inputs.append((value, text))
        with builder.at(func.loc):
            table[seed] = tested(builder, value, param, text, like)
    count = len(func.params) - len(seeds)
    rest = Block([], func.body.ops, func.body.yields)
    substitute(rest, table)
    func.body.args = [*func.params[:count], *(value for value, _ in inputs)]
    func.body.ops = [*builder.block.ops, *rest.ops]
    func.body.yields = rest.yields
    func.split = None if func.split is None else func.split + len(builder.block.ops)
    return inputs


def tested(builder: Builder, value: Value, param: Value, text: str, like: str) -> Value:
    """A leaf, cast to the dtype of the corresponding parameter, after a check of its shape."""
    shape = param.type.shape if isinstance(param.type, Array) else ()
    for axis in range(len(shape or ())):
        message = Const(f"{text} has another shape than {like}")
        own, other = (builder.call("extent", one, axis=axis) for one in (value, param))
        builder.block.ops.append(Call([], builder.loc, "check_count", [own, other, message], {}))
    dtype = getattr(param.type, "dtype", None)
    if isinstance(param.type, Array) and getattr(value.type, "dtype", None) != dtype:
        return builder.call("cast", value, dtype=dtype, hint=value.name)
    kind = "complex" if getattr(param.type, "kind", None) == "complex" else "float"
    return builder.call("number", value, kind=kind) if getattr(value.type, "kind", None) != kind else value


def fits(passed: Type, param: Type) -> bool:
    """Whether ``passed`` is real, or complex if the parameter is, and has the rank of the parameter."""
    kinds = ("float", "int", "complex") if getattr(param, "kind", None) == "complex" else ("float", "int")
    if getattr(passed, "kind", None) not in kinds:
        return False
    if isinstance(passed, Array) and isinstance(param, Array):
        return passed.shape is not None and param.shape is not None and len(passed.shape) == len(param.shape)
    return isinstance(passed, Scalar) and isinstance(param, Scalar)


def places(job: Job) -> Iterator[tuple[str, str]]:
    """The leaves of the weights argument, each with the corresponding leaf of the function's argument."""
    output, names = job.output, job.request.wrt
    parts: list[tuple[Result, str]] = [(output, names[0])]
    if job.request.structure != "single":
        parts = list(zip(output.items, names, strict=True))
    of_weights = [text for text, _ in seed_places(output, job.request.along)]
    likes = [text for part, name in parts for text, _ in seed_places(part, name)]
    yield from zip(of_weights, likes, strict=True)
