"""Saves programs and parameters to files, and loads them: JSON, and arrays in an ``npz``.

Nothing in a file is executed or unpickled: functions are looked up by name in the tables of ``symgrad.functional``, texts of subscripts
must match a small grammar, names and settings are data. Unexpected data is refused.
"""

from __future__ import annotations

import inspect
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from symgrad.errors import SaveError
from symgrad.files import check_free, write_file
from symgrad.functional import (
    activations,
    elements,
    losses,
    matrices,
    network,
    normalisation,
    resampling,
    selection,
    statistics,
    tensors,
    updates,
    windows,
)
from symgrad.record.operations import Operation
from symgrad.static.compiling import reads, writes
from symgrad.static.executor import Executor
from symgrad.static.program import Apply, Block, Branch, Description, Gradient, Loop, Number, Op, Parameter, Program, Step, Variable
from symgrad.static.scope import Scope, global_scope
from symgrad.vocabulary.indexing import reader, writer

FORMAT, VERSION = "symgrad program", 1
MODULES = (
    *(tensors, network, windows, updates, activations, elements, losses, matrices, normalisation, resampling, selection, statistics),
)
TABLES = {module.__name__.rsplit(".", 1)[1]: module for module in MODULES}
#: every function that a file may name
FUNCTIONS: dict[str, Callable[..., Any]] = {
    f"{table}.{name}": function
    for table, module in TABLES.items()
    for name, function in vars(module).items()
    if inspect.isfunction(function) and function.__module__ == module.__name__
}
NAMES = {function: name for name, function in FUNCTIONS.items()}
SUBSCRIPTS = {"getitem": reader, "setitem": writer}
NUMBER = r"-?\d{1,18}"
ITEM = rf"(?:None|\.\.\.|i\d{{1,2}}|{NUMBER}|(?:{NUMBER})?:(?:{NUMBER})?(?::{NUMBER})?)"
SUBSCRIPT = re.compile(rf"{ITEM}(?:, {ITEM})*,?", re.ASCII)
DTYPES = frozenset("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split())
LARGEST = 2**40  #: no extent is larger


# ------------------------------------------------------------------ saving


def save(program: Program, path: str | Path, scope: Scope | None = None, *, overwrite: bool = False) -> None:
    """Write the program to ``path.json``, and the values of persistable variables to ``path.npz``.

    Raises SaveError for a program with functions other than those of ``symgrad.functional``, and if a path is a link or a file that
    ``save`` did not write, unless ``overwrite`` is true.
    """
    write(program, path, global_scope() if scope is None else scope, {}, overwrite)


def write(program: Program, path: str | Path, scope: Scope, more: Mapping[str, Any], overwrite: bool) -> None:
    """Write both files; ``more`` is added to the JSON document."""
    page = {**described(program), **more}
    kept = [v.name for v in program.global_block().vars.values() if v.persistable and v.name in scope.values]
    arrays = {f"v{k}": np.asarray(scope.values[name]) for k, name in enumerate(kept)}
    arrays |= {f"c{k}": array for k, array in enumerate(program.constants.values())}
    content = json.dumps({**page, "values": kept}, indent=1, allow_nan=False).encode()
    if any(array.dtype.name not in DTYPES for array in arrays.values()):
        raise SaveError("the program holds values that are not numbers")
    for ending in (".npz", ".json"):
        check_free(f"{path}{ending}", is_own, overwrite)
    write_file(f"{path}.npz", lambda file: write_arrays(file, arrays), is_own, overwrite)
    write_file(f"{path}.json", lambda file: file.write(content), is_own, overwrite)


def write_arrays(file: IO[bytes], arrays: Mapping[str, Any]) -> None:
    """Write arrays, and a comment that identifies the file."""
    np.savez(file, **arrays)
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = FORMAT.encode()


def is_own(path: Path) -> bool:
    """Whether ``save`` wrote this file, or the JSON document next to it."""
    if path.suffix == ".npz":
        with zipfile.ZipFile(path) as archive:
            if archive.comment == FORMAT.encode():
                return True
    return bool(json.loads(path.with_name(f"{path.stem}.json").read_text())["format"] == FORMAT)


def described(program: Program) -> dict[str, Any]:
    """A program as plain data."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "gradient_calls": program.gradient_calls,
        "constants": list(program.constants),
        "blocks": [
            {
                "parent": block.parent_idx,
                "variables": [variable_page(v) for v in block.vars.values() if v.block is block],
                "carried": [name for name, v in block.vars.items() if v.block is not block],
                "steps": [step_page(step) for step in block.steps],
                "operations": [[op.type, list(op.desc.inputs), list(op.desc.outputs), op.desc.backward] for op in block.ops],
            }
            for block in program.blocks
        ],
    }


def variable_page(variable: Variable) -> dict[str, Any]:
    """A variable as plain data."""
    return {
        "name": variable.name,
        "shape": list(variable.shape),
        "dtype": variable.dtype.name,
        "stop_gradient": variable.stop_gradient,
        "persistable": variable.persistable,
        "is_data": variable.is_data,
        "trainable": variable.trainable if isinstance(variable, Parameter) else None,
    }


def function_page(operation: Operation) -> list[Any]:
    """Which function it is: its name in a table, or a subscript."""
    function = operation.function
    if function in NAMES and not operation.named:
        return [NAMES[function]]
    said = getattr(function, "subscript", None)
    if said is not None:
        return [operation.name, *said]
    raise SaveError(f"the program applies {operation.name}, which is not a function of symgrad.functional, so it cannot be saved")


def plain(value: Any) -> Any:
    """A setting as JSON has it: tuples are lists, floats that are not finite are named."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return {"float": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def place(operand: str | Number) -> Any:
    """A name, or a number in braces."""
    return {"number": plain(operand.value)} if isinstance(operand, Number) else operand


def step_page(step: Step) -> dict[str, Any]:
    """A step as plain data."""
    match step:
        case Apply(operation, inputs, outputs):
            settings = [[name, plain(value)] for name, value in operation.settings]
            return {
                "step": "apply",
                "function": function_page(operation),
                "present": list(operation.present),
                "settings": settings,
                "inputs": [place(i) for i in inputs],
                "outputs": list(outputs),
            }
        case Gradient(targets, seeds, cuts, pairs):
            return {
                "step": "gradient",
                "targets": list(targets),
                "seeds": list(seeds),
                "cuts": list(cuts),
                "pairs": [list(pair) for pair in pairs.items()],
            }
        case Branch(test, blocks, yields, outputs):
            return {
                "step": "branch",
                "test": test,
                "blocks": [b.idx for b in blocks],
                "yields": [[place(y) for y in ys] for ys in yields],
                "outputs": list(outputs),
            }
        case Loop(inits, carried, test, body, outputs):
            return {
                "step": "loop",
                "inits": [place(i) for i in inits],
                "carried": list(carried),
                "test": [test[0].idx, test[1]],
                "body": [body[0].idx, [place(y) for y in body[1]]],
                "outputs": list(outputs),
            }
    raise AssertionError(step)


# ------------------------------------------------------------------ loading


def load(program: Program, path: str | Path, scope: Scope | None = None) -> None:
    """Load the persistable variables of a program from ``path.npz``; all must match.

    Raises SaveError for files that are damaged or belong to another program.
    """
    scope = global_scope() if scope is None else scope
    page = read_page(path)
    values, _ = arrays_of(page, path)
    variables = program.global_block().vars
    for name, array in values.items():
        variable = variables.get(name)
        need(variable is not None and variable.persistable, f"the program has no parameter {name!r}")
        assert variable is not None
        fits(array, variable)
    scope.put(values)


def load_program(path: str | Path) -> Program:
    """Return the program in ``path.json``; ``load`` loads its parameters."""
    page = read_page(path)
    try:
        program = program_of(page)
    except RecursionError:
        raise SaveError("the file is not a saved program: it is nested too deeply") from None
    _, constants = arrays_of(page, path)
    for name, array in constants.items():
        fits(array, program.global_block().vars[name])
    program.constants = constants
    return program


def need(holds: Any, what: str) -> None:
    """Refuse a file."""
    if not holds:
        raise SaveError(f"the file is not a saved program: {what}")


def read_page(path: str | Path) -> dict[str, Any]:
    """The page of JSON."""
    try:
        page = json.loads(Path(f"{path}.json").read_text())
    except (ValueError, RecursionError) as error:
        raise SaveError(f"the file is not a saved program: {error}") from None
    need(isinstance(page, dict) and page.get("format") == FORMAT, "it does not say so")
    need(page.get("version") == VERSION, f"its version is {page.get('version')!r}, and {VERSION} is understood")
    return dict(page)


def arrays_of(page: Mapping[str, Any], path: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values of persistable variables, and those of constants."""
    names = [words(page, "values"), words(page, "constants")]
    try:
        with open(f"{path}.npz", "rb") as stream, np.load(stream, allow_pickle=False) as file:
            keys = [[f"{letter}{k}" for k in range(len(group))] for letter, group in zip("vc", names, strict=True)]
            need(sorted(file.files) == sorted([*keys[0], *keys[1]]), "its arrays are not those it says")
            arrays = [{name: file[key] for name, key in zip(group, ks, strict=True)} for group, ks in zip(names, keys, strict=True)]
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise SaveError(f"the arrays cannot be read: {error}") from None
    return arrays[0], arrays[1]


def fits(array: Any, variable: Variable) -> None:
    """Refuse values of another shape or dtype."""
    said, stored = (variable.shape, variable.dtype), (array.shape, array.dtype)
    need(said == stored, f"{variable.name!r} is {said[1]} of shape {said[0]}, and {stored[1]} of shape {stored[0]} is kept")


def words(page: Any, key: str) -> list[str]:
    """A list of different names."""
    names = page.get(key) if isinstance(page, dict) else None
    need(isinstance(names, list) and all(isinstance(w, str) and 0 < len(w) < 1000 for w in names), f"{key} must be names")
    assert isinstance(names, list)
    return names


def bounded_integer(value: Any, low: int, high: int, what: str) -> int:
    """An integer between bounds."""
    need(type(value) is int and low <= value < high, f"{what} must be an integer from {low} to {high - 1}")
    return int(value)


def entries(page: Any, key: str) -> list[Any]:
    """A list."""
    items = page.get(key) if isinstance(page, dict) else None
    need(isinstance(items, list), f"{key} must be a list")
    return list(items)  # type: ignore[arg-type]


def program_of(page: Mapping[str, Any]) -> Program:
    """Return the program of a JSON document."""
    program = Program()
    program.gradient_calls = bounded_integer(page.get("gradient_calls"), 0, LARGEST, "gradient_calls")
    pages = entries(page, "blocks")
    need(pages, "there is no block")
    for index, inner in enumerate(pages):
        need(isinstance(inner, dict), "a block must be an object")
        parent = bounded_integer(inner.get("parent"), -1 if index == 0 else 0, max(index, 0), "parent")
        block = Block(program, index, parent)
        program.blocks[index:] = [block]
        for entry in entries(inner, "variables"):
            add_variable(block, entry)
    for block, inner in zip(program.blocks, pages, strict=True):
        for name in words(inner, "carried"):
            owner = next((other for other in program.blocks if name in other.vars and other.vars[name].block is other), None)
            need(owner is not None and name not in block.vars, f"nothing carries {name!r}")
            assert owner is not None
            block.vars[name] = owner.vars[name]
    for block, inner in zip(program.blocks, pages, strict=True):
        block.steps = [step_of(block, entry) for entry in entries(inner, "steps")]
        for entry in entries(inner, "operations"):
            good = isinstance(entry, list) and len(entry) == 4 and isinstance(entry[0], str) and type(entry[3]) is bool
            need(good, "an operation is wrong")
            read, written = (words({"names": part}, "names") for part in entry[1:3])
            block.ops.append(Op(block, Description(entry[0], read, written, backward=entry[3])))
    results = {name for step in program.blocks[0].steps for name in writes(step)}
    in_order(program.blocks[0], {name for name, v in program.blocks[0].vars.items() if v.persistable or name not in results})
    for name in words(page, "constants"):
        need(name in program.blocks[0].vars, f"there is no constant {name!r}")
    for block in program.blocks:
        for name in block.vars:
            stem, _, number = name.rpartition(".")[0].rpartition("_") if "." in name else name.rpartition("_")
            if stem and re.fullmatch(r"\d{1,9}", number, re.ASCII):
                program.names.after(stem.rpartition("/")[2], int(number))
    return program


def in_order(block: Block, ready: set[str]) -> set[str]:
    """Refuse steps that read a name before it is made; the result is the set of names after the last step."""

    def there(asked: Iterable[str | Number | None], known: set[str]) -> None:
        for name in asked:
            need(not isinstance(name, str) or name in known, f"{name!r} is read before it is made")

    for step in block.steps:
        match step:
            case Branch(test, blocks, yields, _):
                there([test], ready)
                for side, outs in zip(blocks, yields, strict=True):
                    there(outs, in_order(side, set(ready)))
            case Loop(inits, carried, test, body, _):
                there(inits, ready)
                there([test[1]], in_order(test[0], ready.union(carried)))
                there(body[1], in_order(body[0], ready.union(carried)))
            case _:
                there(reads(step), ready)
        ready.update(writes(step))
    return ready


def add_variable(block: Block, page: Any) -> None:
    """Add a variable to a block."""
    (name,) = words({"name": [page.get("name") if isinstance(page, dict) else None]}, "name")
    need(name not in block.vars, f"{name!r} appears twice")
    shape = [bounded_integer(extent, -1, LARGEST, "an extent") for extent in entries(page, "shape")]
    need(len(shape) <= 64 and isinstance(page.get("dtype"), str) and page["dtype"] in DTYPES, f"shape or dtype of {name!r}")
    flags = [page.get(key) for key in ("stop_gradient", "persistable", "is_data")]
    trainable = page.get("trainable")
    need(all(type(flag) is bool for flag in flags) and (trainable is None or type(trainable) is bool), f"{name!r} must say what it is")
    variable: Variable
    if trainable is None:
        variable = Variable(block, name, shape, page["dtype"])
    else:
        variable = Parameter(block, name, shape, page["dtype"], trainable)
    variable.stop_gradient, variable.persistable, variable.is_data = flags
    block.vars[name] = variable


def operand_of(block: Block, entry: Any) -> str | Number:
    """Return a known name or a number."""
    if isinstance(entry, dict):
        value = setting_of(entry.get("number"))
        need(set(entry) == {"number"} and type(value) in (bool, int, float), "an operand must be a name or a number")
        return Number(value)
    return known_name(block, entry)


def known_name(block: Block, name: Any) -> str:
    """Return a known name."""
    need(isinstance(name, str) and block.find(name) is not None, f"there is no variable {name!r}")
    return str(name)


def setting_of(value: Any) -> Any:
    """A setting: lists become tuples."""
    if isinstance(value, list):
        return tuple(setting_of(item) for item in value)
    if isinstance(value, dict):
        need(set(value) == {"float"} and value["float"] in ("inf", "-inf", "nan"), "a setting must be plain data")
        return float(value["float"])
    need(value is None or type(value) in (bool, int, float, str), "a setting must be plain data")
    return value


def function_of(page: Any) -> Callable[..., Any]:
    """A function by its name in the tables, or of a subscript."""
    need(isinstance(page, list) and page and isinstance(page[0], str), "a function must be named")
    if page[0] in SUBSCRIPTS and len(page) == 3:
        text, count = page[1], bounded_integer(page[2], 0, 64, "the number of indices")
        need(isinstance(text, str) and SUBSCRIPT.fullmatch(text), f"{text!r} is not a subscript")
        need(re.findall(r"i\d+", text) == [f"i{k}" for k in range(count)], f"{text!r} does not have {count} indices")
        return SUBSCRIPTS[page[0]](text, count)
    need(len(page) == 1 and page[0] in FUNCTIONS, f"there is no function {page[0]!r}")
    return FUNCTIONS[page[0]]


def step_of(block: Block, page: Any) -> Step:
    """Return the step of a JSON document."""
    need(isinstance(page, dict), "a step must be an object")
    blocks = block.program.blocks

    def inner(index: Any) -> Block:
        return blocks[bounded_integer(index, block.idx + 1, len(blocks), "a block inside")]

    kind = page.get("step")
    if kind == "gradient":
        targets = [known_name(block, n) for n in words(page, "targets")]
        cuts = words(page, "cuts")
        need(all(any(name in other.vars for other in blocks) for name in cuts), "a gradient cuts what there is not")
        seeds = tuple(None if seed is None else known_name(block, seed) for seed in entries(page, "seeds"))
        pairs = [[known_name(block, n) for n in words({"pair": pair}, "pair")] for pair in entries(page, "pairs")]
        need(len(seeds) == len(targets) > 0 and all(len(pair) == 2 for pair in pairs), "a gradient is wrong")
        return Gradient(tuple(targets), seeds, tuple(cuts), dict(pairs))
    outputs = tuple(known_name(block, n) for n in words(page, "outputs"))
    if kind == "apply":
        return Apply(operation_of(page), tuple(operand_of(block, i) for i in entries(page, "inputs")), outputs)
    if kind == "branch":
        sides, yields = [inner(i) for i in entries(page, "blocks")], entries(page, "yields")
        need(len(sides) == len(yields) == 2 and all(isinstance(ys, list) and len(ys) == len(outputs) for ys in yields), "a branch is wrong")
        first, second = (tuple(operand_of(side, y) for y in ys) for side, ys in zip(sides, yields, strict=True))
        return Branch(known_name(block, page.get("test")), (sides[0], sides[1]), (first, second), outputs)
    need(kind == "loop", f"there is no step {kind!r}")
    test, body = entries(page, "test"), entries(page, "body")
    need(len(test) == len(body) == 2 and isinstance(body[1], list), "a loop is wrong")
    inits = tuple(operand_of(block, i) for i in entries(page, "inits"))
    carried = tuple(words(page, "carried"))
    around, within = inner(test[0]), inner(body[0])
    need(len(inits) == len(carried) == len(body[1]) == len(outputs), "a loop carries as many values as it gives")
    need(all(name in around.vars and name in within.vars for name in carried), "a loop carries what it does not know")
    return Loop(inits, carried, (around, known_name(around, test[1])), (within, tuple(operand_of(within, y) for y in body[1])), outputs)


def operation_of(page: Any) -> Operation:
    """An operation: as many inputs as are present, and only settings that its function has."""
    function = function_of(page.get("function"))
    present, settings = entries(page, "present"), entries(page, "settings")
    need(all(type(p) is bool for p in present) and sum(present) == len(entries(page, "inputs")), "its inputs are not those it says")
    parameters = inspect.signature(function).parameters.values()
    places = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    if not any(p.kind is p.VAR_POSITIONAL for p in parameters):
        need(len(present) <= len(places), f"{function.__name__} has fewer inputs")
        places = places[len(present) :]
    allowed = {p.name for p in [*places, *(p for p in parameters if p.kind is p.KEYWORD_ONLY)]}
    pairs = []
    for entry in settings:
        need(isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str), "a setting must be a name and a value")
        need(entry[0] in allowed, f"{function.__name__} has no setting {entry[0]!r}")
        allowed.discard(entry[0])
        pairs.append((entry[0], setting_of(entry[1])))
    return Operation(function, tuple(present), tuple(pairs))


# ------------------------------------------------------------------ inference models


def save_inference_model(
    path: str | Path,
    feed_vars: Sequence[Variable],
    fetch_vars: Sequence[Variable],
    executor: Executor | None = None,
    program: Program | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Save a program in evaluation mode, with its feeds and fetches; raises the errors of ``save``."""
    program = fetch_vars[0].program if program is None else program
    names = {"feed": [v.name for v in feed_vars], "fetch": [v.name for v in fetch_vars]}
    write(program.clone(for_test=True), path, global_scope(), names, overwrite)


def load_inference_model(path: str | Path, executor: Executor | None = None) -> list[Any]:
    """Return the program, the names of its feeds and the variables to fetch; values are loaded into the current scope."""
    program = load_program(path)
    load(program, path)
    page, block = read_page(path), program.global_block()
    return [program, [known_name(block, n) for n in words(page, "feed")], [block.vars[known_name(block, n)] for n in words(page, "fetch")]]
