"""Copies of programs."""

from __future__ import annotations

import copy
from typing import Any

from symgrad.functional import network as f
from symgrad.record.operations import Operation
from symgrad.static.compiling import reads
from symgrad.static.program import ABOUT, Apply, Block, Branch, Description, Gradient, Loop, Op, Parameter, Program, Step, Variable

#: settings that differ in a test
TRAINING = (f.dropout, f.keep_mask)


def copied(program: Program, for_test: bool) -> Program:
    """A copy with variables of its own; ``for_test``: without gradients and all that follows from them, and as in a test."""
    made = Program()
    made.names, made.constants = copy.deepcopy(program.names), dict(program.constants)
    made.random_seed, made.gradient_calls, made.starts = program.random_seed, program.gradient_calls, dict(program.starts)
    made.blocks = [Block(made, b.idx, b.parent_idx) for b in program.blocks]
    for old, new in zip(program.blocks, made.blocks, strict=True):
        for name, variable in old.vars.items():
            new.vars[name] = twin(variable, new)
        gone: set[str] = set()
        for step in old.steps:
            if for_test and (isinstance(step, Gradient) or gone & set(reads(step))):
                gone.update(step.pairs.values() if isinstance(step, Gradient) else step.outputs)
                continue
            new.steps.append(tested(step) if for_test else moved(step, made))
        dropped = {op for op in old.ops if for_test and (gone & {*op.desc.inputs, *op.desc.outputs} or "@GRAD" in "".join(op.desc.outputs))}
        for op in old.ops:
            if op not in dropped:
                new.ops.append(Op(new, Description(op.type, list(op.desc.inputs), list(op.desc.outputs), dict(op.desc.attributes))))
    return made


def twin(variable: Variable, block: Block) -> Variable:
    """The same variable in another program."""
    made: Variable
    if isinstance(variable, Parameter):
        made = Parameter(
            block, variable.name, variable.shape, variable.dtype, variable.trainable, variable.initializer, variable.attributes
        )
    else:
        made = Variable(block, variable.name, variable.shape, variable.dtype, variable.stop_gradient, variable.persistable)
    made.stop_gradient, made.persistable, made.is_data = variable.stop_gradient, variable.persistable, variable.is_data
    return made


def moved(step: Step, program: Program) -> Step:
    """The same step, its blocks those of another program."""
    made: Any = copy.copy(step)
    if isinstance(step, Branch):
        made.blocks = tuple(program.blocks[b.idx] for b in step.blocks)
    if isinstance(step, Loop):
        made.test = (program.blocks[step.test[0].idx], step.test[1])
        made.body = (program.blocks[step.body[0].idx], step.body[1])
    return made  # type: ignore[no-any-return]


def tested(step: Step) -> Step:
    """A step as it is in a test."""
    if isinstance(step, Apply) and step.operation.function in TRAINING:
        words = dict(step.operation.settings)
        words["p"] = 0.0
        return Apply(Operation(step.operation.function, step.operation.present, tuple(words.items())), step.inputs, step.outputs)
    return copy.copy(step)


ABOUT["clone"] = copied
