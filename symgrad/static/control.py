"""Branches and loops in programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from symgrad.static.program import FLOATS, Branch, Loop, Number, Variable
from symgrad.vocabulary import tensors


def leaves(structure: Any) -> list[Any]:
    """The variables and numbers of nested lists, tuples and dicts."""
    if structure is None:
        return []
    if isinstance(structure, list | tuple):
        return [leaf for item in structure for leaf in leaves(item)]
    if isinstance(structure, dict):
        return [leaf for key in sorted(structure) for leaf in leaves(structure[key])]
    return [structure]


def rebuilt(structure: Any, values: list[Any]) -> Any:
    """The structure with these values as its leaves."""
    if structure is None:
        return None
    if isinstance(structure, list | tuple):
        return type(structure)(rebuilt(item, values) for item in structure)
    if isinstance(structure, dict):
        entries = {key: rebuilt(structure[key], values) for key in sorted(structure)}
        return {key: entries[key] for key in structure}
    return values.pop(0)


def named(leaf: Any) -> str | Number:
    """How a step names a value."""
    if isinstance(leaf, Variable):
        return leaf.name
    if isinstance(leaf, bool | int | float):
        return Number(leaf)
    raise TypeError(f"a branch or loop cannot return a {type(leaf).__name__}")


def tested(test: Any, word: str, function: str) -> None:
    """Refuse a test that is no bool of one element."""
    if not isinstance(test, Variable):
        raise TypeError(f"{word} of {function} must be a Variable, not {type(test).__name__}")
    if test.dtype != np.bool_:
        raise TypeError(f"{word} of {function} must be bool, and {test.name} is {test.dtype}")
    if any(extent not in (1, -1) for extent in test.shape):
        raise TypeError(f"{word} of {function} must have one element, and {test.name} has shape {list(test.shape)}")


def callable_or_none(value: Any, word: str, function: str) -> None:
    """Refuse a value that is neither callable nor None."""
    if value is not None and not callable(value):
        raise TypeError(f"{word} of {function} must be callable, not {type(value).__name__}")


def cond(
    pred: Variable,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    return_names: Any = None,
) -> Any:
    """The result of ``true_fn()`` if ``pred`` holds when the program runs, else that of ``false_fn()``; both have one structure."""
    tested(pred, "pred", "cond")
    for word, function in (("true_fn", true_fn), ("false_fn", false_fn)):
        callable_or_none(function, word, "cond")
    program = pred.program
    results, blocks = [], []
    for function in (true_fn, false_fn):
        with program.inner() as block:
            results.append(None if function is None else function())
        blocks.append(block)
    first, second = leaves(results[0]), leaves(results[1])
    if len(first) != len(second):
        raise TypeError("true_fn and false_fn must give results of the same structure")
    outer = program.current_block()
    outs = [outer.create_var(program.names.new("cond.tmp"), *common(a, b)) for a, b in zip(first, second, strict=True)]
    yields = (tuple(map(named, first)), tuple(map(named, second)))
    words = tuple(out.name for out in outs)
    for out, a, b in zip(outs, first, second, strict=True):
        out.stop_gradient = is_stopped(a) and is_stopped(b)
    reads = [pred.name, *outside(blocks[0]), *outside(blocks[1])]
    outer.step(Branch(pred.name, (blocks[0], blocks[1]), yields, words), "cond", list(dict.fromkeys(reads)), words)
    return rebuilt(results[0], list(outs))


def common(a: Any, b: Any) -> tuple[tuple[int, ...], Any]:
    """Shape and dtype of either of two values."""
    if not isinstance(a, Variable) or not isinstance(b, Variable):
        known = a if isinstance(a, Variable) else b
        return (known.shape, known.dtype) if isinstance(known, Variable) else ((), np.asarray(a).dtype)
    if len(a.shape) != len(b.shape):
        raise ValueError(f"{a.name} and {b.name} have different numbers of axes")
    return tuple(x if x == y else -1 for x, y in zip(a.shape, b.shape, strict=True)), np.result_type(a.dtype, b.dtype)


def outside(block: Any) -> list[str]:
    """The names that a block reads from outside itself."""
    names: list[str] = []
    own: set[str] = set(block.vars)
    for op in block.ops:
        names += [name for name in op.desc.inputs if name not in own]
    return names


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], is_test: bool = False, name: str | None = None
) -> list[Any]:
    """Run ``body(*loop_vars)``, which returns the next values, while ``cond(*loop_vars)`` is true."""
    for word, function in (("cond", cond), ("body", body)):
        if not callable(function):
            raise TypeError(f"{word} of while_loop must be callable, not {type(function).__name__}")
    if not isinstance(loop_vars, list | tuple) or not loop_vars:
        raise ValueError("loop_vars must be a list or tuple that is not empty")
    first = next((v for v in leaves(loop_vars) if isinstance(v, Variable)), None)
    if first is None:
        raise TypeError("one of loop_vars must be a Variable")
    program = first.program
    flat = leaves(loop_vars)
    outer = program.current_block()
    with program.inner() as test_block:
        carried = [inner_variable(test_block, v) for v in flat]
        test = cond(*rebuilt(list(loop_vars), list(carried)))
    tested(test, "the test", "while_loop")
    with program.inner() as body_block:
        for v in carried:
            body_block.vars[v.name] = v
        next_values = body(*rebuilt(list(loop_vars), list(carried)))
        next_values = list(next_values) if isinstance(next_values, list | tuple) else [next_values]
    results = leaves(next_values)
    if len(results) != len(flat):
        raise ValueError(f"the body gives {len(results)} values for {len(flat)} loop_vars")
    outs = [outer.create_var(program.names.new("while.tmp"), *common(v, r)) for v, r in zip(flat, results, strict=True)]
    around = [body_block.var(name) for name in outside(body_block) if not any(name == v.name for v in carried)]
    still = all(is_stopped(v) for v in [*flat, *around])
    for out, a, b in zip(outs, flat, results, strict=True):
        out.stop_gradient = still or is_stopped(a) and is_stopped(b) or out.dtype.kind not in FLOATS
    names = tuple(v.name for v in carried)
    step = Loop(
        tuple(map(named, flat)), names, (test_block, test.name), (body_block, tuple(map(named, results))), tuple(o.name for o in outs)
    )
    reads = [v.name for v in flat if isinstance(v, Variable)]
    reads += [n for n in [*outside(test_block), *outside(body_block)] if n not in names]
    outer.step(step, "while", list(dict.fromkeys(reads)), step.outputs)
    return [rebuilt(item, [outs.pop(0) for _ in leaves(item)]) for item in loop_vars]


def inner_variable(block: Any, value: Any) -> Variable:
    """Return a loop-carried variable; it may carry a derivative in later iterations even if its initial value does not."""
    shape, dtype = (value.shape, value.dtype) if isinstance(value, Variable) else ((), np.asarray(value).dtype)
    variable: Variable = block.create_var(block.program.names.new("loop"), shape, dtype, dtype.kind not in FLOATS)
    return variable


def is_stopped(value: Any) -> bool:
    """Whether no derivative passes it."""
    return value.stop_gradient if isinstance(value, Variable) else True


def case(
    pred_fn_pairs: Sequence[tuple[Variable, Callable[[], Any]]], default: Callable[[], Any] | None = None, name: str | None = None
) -> Any:
    """Return the result of the function of the first true condition, else ``default()``; without a default, the last function is used."""
    if not isinstance(pred_fn_pairs, list | tuple) or not pred_fn_pairs:
        raise TypeError("pred_fn_pairs must be a list or tuple of pairs (test, function)")
    callable_or_none(default, "default", "case")
    for place, pair in enumerate(pred_fn_pairs):
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not callable(pair[1]):
            raise TypeError(f"pred_fn_pairs[{place}] must be a pair (test, function), not {pair!r}")
        tested(pair[0], f"the test of pred_fn_pairs[{place}]", "case")
    (test, function), *rest = pred_fn_pairs
    if not rest and default is None:
        return function()
    return cond(test, function, (lambda: case(rest, default)) if rest else default)


def switch_case(branch_index: Variable, branch_fns: Any, default: Callable[[], Any] | None = None, name: str | None = None) -> Any:
    """Run the function that a number selects from a dict, pairs (number, function) or a list; else ``default()`` or the last one."""
    if not isinstance(branch_index, Variable) or branch_index.dtype.kind not in "iu":
        what = f"{branch_index.name}, which is {branch_index.dtype}" if isinstance(branch_index, Variable) else type(branch_index).__name__
        raise TypeError(f"branch_index of switch_case must be a Variable of integers, not {what}")
    if not isinstance(branch_fns, Mapping | list | tuple) or not branch_fns:
        raise TypeError(f"branch_fns must be a dict, list or tuple of functions that is not empty, not {branch_fns!r}")
    callable_or_none(default, "default", "switch_case")
    pairs = list(branch_fns.items()) if isinstance(branch_fns, Mapping) else list(branch_fns)
    pairs = [pair if isinstance(pair, tuple | list) else (number, pair) for number, pair in enumerate(pairs)]
    for pair in pairs:
        if len(pair) != 2 or not isinstance(pair[0], int) or not callable(pair[1]):
            raise TypeError(f"branch_fns must hold functions, or pairs (number, function), not {pair!r}")
    if len({number for number, _ in pairs}) < len(pairs):
        raise ValueError(f"a number appears twice in branch_fns: {sorted(number for number, _ in pairs)}")
    index = tensors.reshape(branch_index, [])
    last = max(pairs, key=lambda pair: int(pair[0]))[1]
    tests = [(tensors.equal(index, int(number)), function) for number, function in pairs]  # type: ignore[attr-defined]
    return case(tests, last if default is None else default)
