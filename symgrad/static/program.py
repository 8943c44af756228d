"""``Program``: a sequence of operations on named variables, run later.

A program holds the requested operations, not IR: the executor builds the graph of the fetched variables for the shapes that are fed, so
that code is generated for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.functional import tensors
from symgrad.record.compiled import Jit
from symgrad.record.operations import Operation
from symgrad.vocabulary.dispatch import STATIC
from symgrad.vocabulary.methods import Methods

FLOATS = "fc"
#: methods of programs, registered by the modules that implement them
ABOUT: dict[str, Callable[..., Any]] = {}

# ------------------------------------------------------------------ names


class Names:
    """Unique names: ``fc_0``, ``fc_1``, ..."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}  # the number that the next name with a stem has

    def new(self, stem: str) -> str:
        """The next name with this stem."""
        number = self.counts.get(stem, 0)
        self.counts[stem] = number + 1
        return f"{stem}_{number}"

    def after(self, stem: str, number: int) -> None:
        """Let the next names with this stem have larger numbers."""
        self.counts[stem] = max(self.counts.get(stem, 0), number + 1)


SCOPES: list[str] = []


@contextmanager
def name_scope(prefix: str | None = None) -> Iterator[None]:
    """Names of operations made inside begin with the prefix."""
    SCOPES.append(prefix or "")
    try:
        yield
    finally:
        SCOPES.pop()


LAYERS: list[str] = []


@contextmanager
def layer(name: str) -> Iterator[str]:
    """Results of operations made inside are named after a layer: ``fc_0.tmp_0``, ``fc_0.tmp_1``."""
    LAYERS.append(name)
    try:
        yield name
    finally:
        LAYERS.pop()


# ------------------------------------------------------------------ variables


class Variable(Methods["Variable"]):
    """A named value of a program: ``shape`` has -1 where an extent is known only when it runs."""

    __slots__ = ("block", "dtype", "is_data", "name", "need_check_feed", "persistable", "shape", "stop_gradient")

    def __init__(
        self, block: Block, name: str, shape: Sequence[int], dtype: Any, stop_gradient: bool = False, persistable: bool = False
    ) -> None:
        self.block, self.name, self.shape, self.dtype = block, name, tuple(shape), np.dtype(dtype)
        self.stop_gradient, self.persistable = stop_gradient, persistable
        self.is_data = False
        self.need_check_feed = False

    @property
    def program(self) -> Program:
        """The program it belongs to."""
        return self.block.program

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    def detach(self) -> Variable:
        """The same values, which no derivative passes."""
        variable: Variable = ABOUT["append"](tensors.assign, self)
        variable.stop_gradient = True
        return variable

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"var {self.name} : shape{self.shape}, dtype={self.dtype}, stop_gradient={self.stop_gradient}"

    def __bool__(self) -> bool:
        raise TypeError(f"{self.name} has no value until the program runs; use static.nn.cond")

    def __iter__(self) -> Iterator[Variable]:
        if not self.shape or self.shape[0] < 0:
            raise TypeError(f"{self.name} of shape {list(self.shape)} cannot be iterated over: it is not known how many parts it has")
        return (self[k] for k in range(self.shape[0]))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self.name} has no value until the program runs")


class Parameter(Variable):
    """A variable whose value persists between runs; ``trainable``: optimisers update it."""

    __slots__ = ("attributes", "initializer", "optimize_attr", "trainable")

    def __init__(
        self,
        block: Block,
        name: str,
        shape: Sequence[int],
        dtype: Any,
        trainable: bool = True,
        initializer: Any = None,
        attributes: Any = None,
    ) -> None:
        super().__init__(block, name, shape, dtype, False, True)
        self.trainable, self.initializer, self.attributes = trainable, initializer, attributes


# ------------------------------------------------------------------ operations


@dataclass(eq=False, slots=True)
class Description:
    """The description of one operation: ``type``, and the names of its inputs and outputs."""

    kind: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)
    backward: bool = False  #: whether it is part of a backward half
    number: int = field(default_factory=itertools.count(1).__next__)

    def id(self) -> int:
        """A number that no other operation has."""
        return self.number

    def original_id(self) -> int:
        """The same number."""
        return self.number

    def type(self) -> str:
        """The name of the operation."""
        return self.kind

    def input_arg_names(self) -> list[str]:
        """The names of the inputs."""
        return list(self.inputs)

    def output_arg_names(self) -> list[str]:
        """The names of the outputs."""
        return list(self.outputs)


@dataclass(eq=False, slots=True)
class Op:
    """One listed operation of a block."""

    block: Block
    desc: Description

    @property
    def type(self) -> str:
        """The name of the operation."""
        return self.desc.kind

    @property
    def input_arg_names(self) -> list[str]:
        """The names of the inputs."""
        return list(self.desc.inputs)

    @property
    def output_arg_names(self) -> list[str]:
        """The names of the outputs."""
        return list(self.desc.outputs)

    @property
    def attrs(self) -> dict[str, Any]:
        """Its settings."""
        return dict(self.desc.attributes)

    def __repr__(self) -> str:
        words = ", ".join(f"{name}={value!r}" for name, value in self.desc.attributes.items())
        return f"{', '.join(self.desc.outputs)} = {self.type}({', '.join(self.desc.inputs)}{', ' if words else ''}{words})"


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number as an input of an operation."""

    value: float


@dataclass(eq=False, slots=True)
class Apply:
    """A step: one operation."""

    operation: Operation
    inputs: tuple[str | Number, ...]
    outputs: tuple[str, ...]


@dataclass(eq=False, slots=True)
class Gradient:
    """A step that computes gradients; ``pairs`` are (variable, gradient)."""

    targets: tuple[str, ...]
    seeds: tuple[str | None, ...]
    cuts: tuple[str, ...]
    pairs: dict[str, str]


@dataclass(eq=False, slots=True)
class Branch:
    """A step that runs one of two blocks; ``yields`` are the results of each."""

    test: str
    blocks: tuple[Block, Block]
    yields: tuple[tuple[str | Number, ...], tuple[str | Number, ...]]
    outputs: tuple[str, ...]


@dataclass(eq=False, slots=True)
class Loop:
    """A step: the body runs while the test holds; ``carried`` are the names of the carried values inside the blocks."""

    inits: tuple[str | Number, ...]
    carried: tuple[str, ...]
    test: tuple[Block, str]
    body: tuple[Block, tuple[str | Number, ...]]
    outputs: tuple[str, ...]


Step = Apply | Gradient | Branch | Loop


@dataclass(eq=False)
class Block:
    """Variables by name, the steps in order, and the listed operations."""

    program: Program
    idx: int = 0
    parent_idx: int = -1
    vars: dict[str, Variable] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    ops: list[Op] = field(default_factory=list)

    def var(self, name: str) -> Variable:
        """The variable of this name; ValueError if there is none."""
        variable = self.find(name)
        if variable is None:
            raise ValueError(f"there is no variable {name!r} in this block")
        return variable

    def find(self, name: str) -> Variable | None:
        """The variable of this name, here or in a block around, or None."""
        if name in self.vars:
            return self.vars[name]
        return self.program.blocks[self.parent_idx].find(name) if self.parent_idx >= 0 else None

    def has_var(self, name: str) -> bool:
        """Whether there is a variable of this name."""
        return name in self.vars

    def create_var(
        self,
        name: str | None = None,
        shape: Sequence[int] = (),
        dtype: Any = "float32",
        stop_gradient: bool = False,
        persistable: bool = False,
    ) -> Variable:
        """A new variable."""
        name = name or self.program.names.new("tmp")
        variable = self.vars[name] = Variable(self, name, shape, dtype, stop_gradient, persistable)
        return variable

    def all_parameters(self) -> list[Parameter]:
        """The parameters, in order of creation."""
        return [v for v in self.vars.values() if isinstance(v, Parameter)]

    def step(self, step: Step, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Op:
        """Append a step and list it."""
        self.steps.append(step)
        self.program.version += 1
        return self.listed(kind, inputs, outputs, **attributes)

    def listed(self, kind: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> Op:
        """List an operation."""
        op = Op(self, Description(kind, list(inputs), list(outputs), attributes))
        self.ops.append(op)
        return op


class Program:
    """Operations on named variables.

    >>> from symgrad import static
    >>> program = static.Program()
    >>> with static.program_guard(program):
    ...     x = static.data("x", [-1, 3])
    ...     y = x * 2.0
    >>> y.shape
    (-1, 3)
    """

    def __init__(self) -> None:
        self.names = Names()
        self.blocks: list[Block] = [Block(self)]
        self.current = 0
        self.version = 0
        self.constants: dict[str, np.ndarray[Any, Any]] = {}
        self.random_seed = 0
        self.gradient_calls = 0
        self.schedules: list[tuple[str, Callable[[], float]]] = []  #: variables that follow a schedule, with the schedule
        self.starts: dict[str, Parameter] = {}  #: for a startup program: the parameters that it initialises
        self.compiled: dict[Any, Any] = {}
        self.plans: dict[Any, Any] = {}

    def global_block(self) -> Block:
        """The outermost block."""
        return self.blocks[0]

    def current_block(self) -> Block:
        """The block that operations are appended to."""
        return self.blocks[self.current]

    def block(self, index: int) -> Block:
        """A block by its number."""
        return self.blocks[index]

    @property
    def num_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.blocks)

    def all_parameters(self) -> list[Parameter]:
        """The parameters, in order of creation."""
        return self.global_block().all_parameters()

    def list_vars(self) -> Iterator[Variable]:
        """Every variable."""
        for block in self.blocks:
            yield from block.vars.values()

    @contextmanager
    def inner(self) -> Iterator[Block]:
        """A new block inside the current one, to which operations are appended meanwhile."""
        block = Block(self, len(self.blocks), self.current)
        self.blocks.append(block)
        before, self.current = self.current, block.idx
        try:
            yield block
        finally:
            self.current = before

    def clone(self, for_test: bool = False) -> Program:
        """Return a copy with variables of its own; ``for_test``: in evaluation mode, without gradients and their dependents."""
        program: Program = ABOUT["clone"](self, for_test)
        return program

    @classmethod
    def from_function(cls, function: Callable[..., Any], /, **types: Any) -> Program:
        """Return the program of a NumPy function: its parameters are fed, and variables keep the names of the source.

        ``types`` contains for each parameter a type (``"f8[:, 3]"``) or an example. Results are ``out``, ``out_0``,
        ...
        """
        program: Program = ABOUT["from_function"](function, types)
        return program

    def run(self, feed: dict[str, Any] | None = None, fetch_list: Sequence[Any] | None = None, *, jit: Jit = False) -> list[Any]:
        """Feed values by name, run, and return the fetched values, like an ``Executor``."""
        results: list[Any] = ABOUT["run"](self, feed, fetch_list, jit)
        return results

    def state_dict(self, mode: str = "all", scope: Any = None) -> dict[str, Any]:
        """Return copies of persistent values by name: of parameters (``"param"``), of optimisers (``"opt"``), or ``"all"``."""
        state: dict[str, Any] = ABOUT["state_dict"](self, mode, scope)
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any], scope: Any = None) -> None:
        """Put values in, by name; names that the program does not have are left out."""
        ABOUT["set_state_dict"](self, state_dict, scope)

    def source(self, fetch_list: Sequence[Any] | None = None, *, jit: Jit = False) -> str:
        """The Python that is run to fetch some variables, by default all, where extents that are not known are not 1."""
        return str(ABOUT["source"](self, fetch_list, jit))

    def __repr__(self) -> str:
        return str(ABOUT["text"](self))

    __str__ = __repr__


# ------------------------------------------------------------------ the default programs

DEFAULTS: list[tuple[Program, Program]] = [(Program(), Program())]


def default_main_program() -> Program:
    """The program that operations are appended to."""
    return DEFAULTS[-1][0]


def default_startup_program() -> Program:
    """Return the program that initialises the parameters."""
    return DEFAULTS[-1][1]


@contextmanager
def program_guard(main_program: Program, startup_program: Program | None = None) -> Iterator[None]:
    """Append to other programs meanwhile."""
    if not isinstance(main_program, Program) or not isinstance(startup_program, Program | None):
        raise TypeError("program_guard takes Programs")
    DEFAULTS.append((main_program, startup_program or default_startup_program()))
    before, STATIC[0] = STATIC[0], True
    try:
        yield
    finally:
        DEFAULTS.pop()
        STATIC[0] = before
