"""Copies of programs."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from symgrad.functional import network, normalisation, tensors
from symgrad.record.operations import Operation
from symgrad.static.compiling import reads, writes
from symgrad.static.program import ABOUT, Apply, Block, Branch, Description, Gradient, Loop, Op, Parameter, Program, Step, Variable

#: settings that differ in a test
TRAINING = (network.dropout, network.keep_mask)


def copied(program: Program, for_test: bool) -> Program:
    """A copy with variables of its own; ``for_test``: without gradients and all that depends on them, and as in a test."""
    clone = Program()
    clone.names, clone.constants = copy.deepcopy(program.names), dict(program.constants)
    clone.random_seed, clone.gradient_calls, clone.starts = program.random_seed, program.gradient_calls, dict(program.starts)
    clone.blocks = [Block(clone, b.idx, b.parent_idx) for b in program.blocks]
    for old, new in zip(program.blocks, clone.blocks, strict=True):
        for name, variable in old.vars.items():
            new.vars[name] = twin(variable, new)
        statistics = kept_statistics(old) if for_test else {}
        gone: set[str] = set()
        for step in old.steps:
            if for_test and (isinstance(step, Gradient) or gone & set(reads(step)) or is_running(step)):
                gone.update(name for name in writes(step) if name not in old.vars or not old.vars[name].persistable)
                continue
            new.steps.append(moved(tested(step, statistics), clone) if for_test else moved(step, clone))
        for op in old.ops:
            if for_test and (op.desc.backward or gone & {*op.desc.inputs, *op.desc.outputs} or op.type == normalisation.running.__name__):
                continue
            new.ops.append(
                Op(new, Description(op.type, list(op.desc.inputs), list(op.desc.outputs), dict(op.desc.attributes), op.desc.backward))
            )
    return clone


def is_running(step: Step) -> bool:
    """Whether it keeps a running mean."""
    return isinstance(step, Apply) and step.operation.function is normalisation.running


def kept_statistics(block: Block) -> dict[str, str]:
    """For each mean and variance of a batch the variable that holds its running mean."""
    return {str(step.inputs[1]): str(step.inputs[0]) for step in block.steps if isinstance(step, Apply) and is_running(step)}


def twin(variable: Variable, block: Block) -> Variable:
    """The same variable in another program."""
    clone: Variable
    if isinstance(variable, Parameter):
        clone = Parameter(
            block, variable.name, variable.shape, variable.dtype, variable.trainable, variable.initializer, variable.attributes
        )
    else:
        clone = Variable(block, variable.name, variable.shape, variable.dtype, variable.stop_gradient, variable.persistable)
    clone.stop_gradient, clone.persistable, clone.is_data = variable.stop_gradient, variable.persistable, variable.is_data
    return clone


def moved(step: Step, program: Program) -> Step:
    """The same step, its blocks those of another program."""
    clone: Any = copy.copy(step)
    if isinstance(step, Branch):
        clone.blocks = tuple(program.blocks[b.idx] for b in step.blocks)
    if isinstance(step, Loop):
        clone.test = (program.blocks[step.test[0].idx], step.test[1])
        clone.body = (program.blocks[step.body[0].idx], step.body[1])
    return clone  # type: ignore[no-any-return]


def tested(step: Step, statistics: Mapping[str, str]) -> Step:
    """Return a step in evaluation mode: without dropout, and with running statistics instead of those of the batch."""
    if isinstance(step, Apply) and step.operation.function is normalisation.batch_norm_train:
        output, *own = step.outputs
        if all(name in statistics for name in own):
            x, *affine = step.inputs
            places = (x, *(statistics[name] for name in own), *affine)
            return Apply(Operation(normalisation.batch_norm, (True,) * len(places), step.operation.settings), places, (output,))
    if isinstance(step, Apply) and step.operation.function in TRAINING:
        words = dict(step.operation.settings)
        if words.get("mode") == "downscale_in_infer":
            smaller = Operation(tensors.scale, (True,), (("scale", 1.0 - words["p"]),))
            return Apply(smaller, step.inputs[:1], step.outputs)
        words["p"] = 0.0
        return Apply(Operation(step.operation.function, step.operation.present, tuple(words.items())), step.inputs, step.outputs)
    return copy.copy(step)


ABOUT["clone"] = copied
