"""A third target: derivatives of scalar functions as C. One record, in this file, is all that it takes; nothing of symgrad knows of it."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import anew

import symgrad
from symgrad import targets
from symgrad.adjoint.saving.costs import COMPILED, Costs
from symgrad.errors import BadArgument, NotCompiled, NumbaMissing, SymgradError
from symgrad.ir.core import UNDEF, Block, Call, Const, For, Func, If, Op, Operand, Value
from symgrad.ir.types import Scalar, Tape, Type
from symgrad.loops.reach import OutOfReach
from symgrad.pipeline.derivation import Derivation
from symgrad.pipeline.job import Job
from symgrad.pipeline.registry import PREPARE
from symgrad.pipeline.runner import Stage
from symgrad.pipeline.target import GiveUp, Read, Target
from symgrad.signature import Compiled
from symgrad.static import Executor

# ------------------------------------------------------------------ the target

#: the rows that have a form in C, in terms of their operands
FORMS = {
    "add": "({0} + {1})", "subtract": "({0} - {1})", "multiply": "({0} * {1})", "divide": "({0} / {1})", "negative": "(-{0})",
    "square": "({0} * {0})", "sin": "sin({0})", "cos": "cos({0})", "exp": "exp({0})", "sqrt": "sqrt({0})", "tanh": "tanh({0})",
    "power": "pow({0}, {1})", "number": "{0}", "copy": "{0}", "less": "({0} < {1})", "greater": "({0} > {1})",
    "less_equal": "({0} <= {1})", "greater_equal": "({0} >= {1})",
}  # fmt: skip
KINDS = {"float": "double", "int": "long long", "bool": "int"}


def kind(type_: Type) -> str:
    if isinstance(type_, Scalar) and type_.kind in KINDS:
        return KINDS[type_.kind]
    raise OutOfReach("C code of the tests holds numbers only")


@dataclass
class Printer:
    """Writes a function, one assignment for each op."""

    names: dict[Value, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)

    def read(self, operand: Operand) -> str:
        if isinstance(operand, Value):
            return self.names[operand]
        if operand == UNDEF:  # nobody reads it
            return "0"
        if not isinstance(operand, Const) or not isinstance(operand.value, bool | int | float) or not math.isfinite(operand.value):
            raise OutOfReach("a constant that C code of the tests does not have")
        return repr(operand.value) if isinstance(operand.value, float) else str(int(operand.value))

    def declare(self, value: Value, text: str) -> None:
        self.names[value] = f"v{len(self.names)}"
        self.lines.append(f"{kind(value.type)} {self.names[value]} = {text};")

    def ops(self, ops: list[Op]) -> None:
        for op in ops:
            match op:
                case Call() if op.name in FORMS:
                    self.declare(op.outs[0], FORMS[op.name].format(*map(self.read, op.args)))
                case Call(name="slots"):
                    self.names[op.outs[0]] = name = f"v{len(self.names)}"
                    self.lines.append(f"double {name}[{self.read(op.args[0])} + 1];")
                case Call(name="put", args=[Value() as tape, place, item]):
                    self.names[op.outs[0]] = name = self.names[tape]
                    self.lines.append(f"{name}[{self.read(place)}] = {self.read(item)};")
                case Call(name="get", args=[tape, place]):
                    self.declare(op.outs[0], f"{self.read(tape)}[{self.read(place)}]")
                case For(until=False):
                    self.loop(op)
                case If():
                    self.branch(op)
                case _:
                    raise OutOfReach(f"{getattr(op, 'name', type(op).__name__)}, which C code of the tests does not have", op.loc)

    def loop(self, op: For) -> None:
        index, *carried = op.body.args
        for out, slot, init in zip(op.outs, carried, op.inits, strict=True):
            if isinstance(out.type, Tape):
                self.names[out] = self.read(init)
            else:
                self.declare(out, self.read(init))
            self.names[slot] = self.names[out]
        start, stop, step = map(self.read, (op.start, op.stop, op.step))
        self.names[index] = i = f"i{len(self.names)}"
        count = f"n{len(self.names)}"
        self.lines.append(f"long long {count} = ({step}) > 0 ? (({stop}) - ({start}) + ({step}) - 1) / ({step}) : 0;")
        rounds = f"k = {count} - 1; k >= 0; k--" if op.backward else f"k = 0; k < {count}; k++"
        self.lines += [f"for (long long {rounds}) {{", f"long long {i} = ({start}) + k * ({step});"]
        self.handed_on(op.body, [self.names[out] for out in op.outs])

    def branch(self, op: If) -> None:
        for out in op.outs:
            self.declare(out, "0")
        for word, block in ((f"if ({self.read(op.test)}) {{", op.then), ("else {", op.orelse)):
            self.lines.append(word)
            self.handed_on(block, [self.names[out] for out in op.outs])

    def handed_on(self, block: Block, places: list[str]) -> None:
        """The ops of a block, and what it yields to variables outside; all are read before one is written to."""
        self.ops(block.ops)
        handed = [(self.read(y), place) for y, place in zip(block.yields, places, strict=True) if not isinstance(y.type, Tape)]
        self.lines += [f"double y{k} = {text};" for k, (text, _) in enumerate(handed)]
        self.lines += [*(f"{place} = y{k};" for k, (_, place) in enumerate(handed)), "}"]


@dataclass(frozen=True)
class Text:
    shown: str
    leaves: list[str]
    results: int
    template: str


def emit(derivation: Derivation, job: Job) -> Text:
    func: Func = job.stages["optimized"]
    printer = Printer()
    for k, value in enumerate(func.params):
        printer.names[value] = f"a{k}"
    params = [f"{kind(value.type)} {printer.names[value]}" for value in func.params]
    printer.ops(func.body.ops)
    ends = [f"out[{k}] = {printer.read(y)};" for k, y in enumerate(func.body.yields)]
    body = "\n".join([*printer.lines, *ends])
    text = f"#include <math.h>\nvoid {derivation.name}({', '.join([*params, 'double *out'])}) {{\n{body}\n}}\n"
    return Text(text, [leaf for _, leaf in job.lowered.inputs], len(func.body.yields), derivation.result)


def load(text_: Text, numpy: Compiled, read: Read, give_up: GiveUp) -> Compiled:
    name = text_.shown.split("void ")[1].split("(")[0]
    source, library = FOLDER / f"{name}.c", FOLDER / f"{name}.so"
    source.write_text(text_.shown)
    subprocess.run(["cc", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    entry = getattr(ctypes.CDLL(str(library)), name)

    def run(*args: Any) -> Any:
        out = (ctypes.c_double * text_.results)()
        entry(*(ctypes.c_longlong(a) if isinstance(a, int) else ctypes.c_double(a) for a in args), out)
        return eval(text_.template.format(*map(repr, out)), {"nan": math.nan, "inf": math.inf})

    return replace(numpy, function=run, text=text_.shown, readable=None, plain=numpy.function)


def costs() -> Costs:
    return COMPILED


def prepare() -> Stage:
    return PREPARE


FOLDER = Path()
C = Target("c", "a C compiler", lambda: None, costs, prepare, emit, load)

# ------------------------------------------------------------------ what it gives


@pytest.fixture(autouse=True)
def with_c(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setitem(targets.TARGETS, "c", C)
    monkeypatch.setitem(globals(), "FOLDER", tmp_path)
    yield


def rosenbrock(x: float, y: float) -> float:
    return (1.0 - x) ** 2 + 100.0 * (y - x * x) ** 2


def decay(x: float, rate: float, n: int) -> float:
    for _ in range(n):
        x = x + 0.1 * np.sin(rate * x)
    return x * rate


def chosen(x: float, y: float) -> float:
    if x < y:
        z = np.exp(-x * y)
    else:
        z = y * 0.5
    return z * z


PROGRAMS: list[tuple[Callable[..., float], Any, tuple[Any, ...]]] = [
    (rosenbrock, (0, 1), (0.3, -0.7)),
    (decay, (0, 1), (0.8, 1.3, 5)),
    (chosen, (0, 1), (0.4, 0.6)),
    (chosen, (0, 1), (0.4, 0.3)),
]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize(("function", "wrt", "args"), PROGRAMS, ids=lambda item: getattr(item, "__name__", None))
def test_a_third_target_gives_the_gradients(function: Callable[..., float], wrt: Any, args: tuple[Any, ...]) -> None:
    derived = symgrad.value_and_grad(anew(function), wrt, jit="c")
    value, gradient = derived(*args)

    assert "#include <math.h>" in derived.source(*args)
    assert value == pytest.approx(function(*args), rel=1e-14)
    assert gradient == pytest.approx(symgrad.grad(function, wrt)(*args), rel=1e-12)


def test_what_it_has_no_form_of_runs_as_numpy_code() -> None:
    with pytest.warns(NotCompiled, match="C code of the tests holds numbers only"):
        gradient = symgrad.grad(anew(lambda x: np.sum(x * x)), jit="c")(np.ones(2))

    assert gradient.tolist() == [2.0, 2.0]


def test_a_target_is_named() -> None:
    with pytest.raises(BadArgument, match="not 'fortran'") as caught:
        symgrad.grad(rosenbrock, jit="fortran")
    assert "targets: numba, c" in str(caught.value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert symgrad.grad(anew(rosenbrock), jit="numba")(1.0, 1.0) == 0.0


def test_a_target_that_is_not_there_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> SymgradError:
        return NumbaMissing("there is no compiler")

    monkeypatch.setitem(targets.TARGETS, "c", replace(C, missing=missing))
    with pytest.raises(NumbaMissing, match="there is no compiler"):
        symgrad.grad(rosenbrock, jit="c")


def test_programs_say_that_they_are_compiled_by_numba_only() -> None:
    with pytest.raises(BadArgument, match="a program cannot be compiled by the target 'c'"):
        Executor(jit="c")
