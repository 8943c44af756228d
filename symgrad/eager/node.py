"""The nodes of a record: which operation created a tensor, and its inputs."""

from __future__ import annotations

import functools
import inspect
import itertools
import os
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar, overload

import numpy as np

from symgrad.record.operations import Operation, Settings

Function = TypeVar("Function", bound=Callable[..., Any])
COUNT = itertools.count()
OURS = str(Path(__file__).parent.parent) + os.sep  #: where files of ours are
FRAMES = 3  #: the number of the user's frames recorded for each operation
#: the sweeps over a record, which tensors offer as methods; entered by ``autograd``
SWEEPS: dict[str, Callable[..., Any]] = {}


class Mode(threading.local):
    """Whether recording is on, in this thread."""

    enabled = True


MODE = Mode()


class switch:  # noqa: N801 (a decorator and a context)
    """A context and decorator in which recording is on or off."""

    def __init__(self, mode: bool, function: Callable[..., Any] | None = None) -> None:
        self.mode, self.function = mode, function
        self.before: list[bool] = []
        if function is not None:
            functools.update_wrapper(self, function)

    def __enter__(self) -> None:
        self.before.append(MODE.enabled)
        MODE.enabled = self.mode

    def __exit__(self, *error: object) -> None:
        MODE.enabled = self.before.pop()

    @overload
    def __call__(self, function: Function, /) -> Function: ...
    @overload
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.function is None:
            function = args[0]
            if inspect.isgeneratorfunction(function):
                return self.generator(function)

            @functools.wraps(function)
            def run(*inner: Any, **words: Any) -> Any:
                with switch(self.mode):
                    return function(*inner, **words)

            return run
        if inspect.isgeneratorfunction(self.function):
            return self.generator(self.function)(*args, **kwargs)
        with switch(self.mode):
            return self.function(*args, **kwargs)

    def generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A generator whose own code runs in the mode; the code that runs between its values does not."""

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Iterator[Any]:
            inner = function(*args, **kwargs)
            resume, sent = inner.send, None
            while True:
                try:
                    with switch(self.mode):
                        item = resume(sent)
                except StopIteration as end:
                    return end.value  # type: ignore[no-any-return]
                try:
                    sent = yield item
                    resume = inner.send
                except GeneratorExit:
                    with switch(self.mode):
                        inner.close()
                    raise
                except BaseException as error:
                    sent, resume = error, inner.throw

        return run


def called_from() -> list[tuple[types.CodeType, int]]:
    """Return the innermost frames of the user's code, each as a code object and an offset; ``line_of`` returns the line."""
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(OURS):
        frame = frame.f_back
    frames: list[tuple[types.CodeType, int]] = []
    while frame is not None and len(frames) < FRAMES:
        frames.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    return frames


def line_of(code: types.CodeType, place: int) -> int:
    """The line of an instruction."""
    return next((line for start, end, line in code.co_lines() if start <= place < end and line is not None), code.co_firstlineno)


class Edge:
    """The state of a tensor at its use: its array, and the node that created it (None for a leaf)."""

    __slots__ = ("node", "slot", "tensor", "value", "version")

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.node, self.slot = tensor, tensor._node, tensor._slot
        self.value, self.version = tensor._value, tensor._version


class Node:
    """One recorded operation.

    ``inputs`` are edges, Python numbers, or arrays through which no derivative passes; ``results`` the arrays that came out.
    """

    __slots__ = ("freed", "inputs", "operation", "order", "parts", "results", "stack")

    def __init__(self, operation: Operation, inputs: tuple[Any, ...], results: tuple[np.ndarray[Any, Any], ...]) -> None:
        self.operation, self.inputs, self.results = operation, inputs, results
        self.order = next(COUNT)
        self.freed = False
        self.parts: list[weakref.ref[Any]] | None = None  #: where a tensor was split: all of its parts
        self.stack = called_from()

    @property
    def name(self) -> str:
        """The name of the operation."""
        return self.operation.name

    def free(self) -> None:
        """Release the record."""
        self.freed, self.inputs, self.results = True, (), ()

    def edges(self) -> Iterator[Edge]:
        """The tensors through which derivatives pass."""
        for operand in self.inputs:
            if type(operand) is Edge:
                yield operand


class GradientNode:
    """Recorded gradients, which can be differentiated again. ``seeds`` are edges, arrays, or None for ones."""

    __slots__ = ("cuts", "freed", "inputs", "order", "results", "seeds", "stack", "targets")

    name = "gradient"

    def __init__(
        self, targets: list[Edge], inputs: list[Edge], seeds: list[Any], cuts: list[Edge], results: tuple[np.ndarray[Any, Any], ...]
    ) -> None:
        self.targets, self.inputs, self.seeds, self.cuts, self.results = targets, inputs, seeds, cuts, results
        self.order = next(COUNT)
        self.freed = False
        self.stack = called_from()

    def free(self) -> None:
        """Release the record."""
        self.freed, self.targets, self.inputs, self.seeds, self.cuts, self.results = True, [], [], [], [], ()

    def edges(self) -> Iterator[Edge]:
        """The tensors through which derivatives pass."""
        yield from self.targets
        yield from self.inputs
        yield from self.cuts
        for seed in self.seeds:
            if type(seed) is Edge:
                yield seed


class LayerNode:
    """A recorded call of a function with a user-defined derivative: ``call`` maps gradients of the results to gradients of ``inputs``."""

    __slots__ = ("call", "freed", "inputs", "order", "results", "stack", "word")

    def __init__(self, word: str, call: Callable[..., Any], inputs: list[Any], results: tuple[np.ndarray[Any, Any], ...]) -> None:
        self.word, self.call, self.inputs, self.results = word, call, inputs, results
        self.order = next(COUNT)
        self.freed = False
        self.stack = called_from()

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.word

    def free(self) -> None:
        """Release the record."""
        self.freed, self.call, self.inputs, self.results = True, no_call, [], ()

    def edges(self) -> Iterator[Edge]:
        """The tensors through which derivatives pass."""
        for operand in self.inputs:
            if type(operand) is Edge:
                yield operand


def no_call(*gradients: Any) -> Any:
    """Replaces a released record."""
    raise AssertionError("a record that was freed is not swept")


Recorded = Node | GradientNode | LayerNode


def operation(function: Callable[..., Any], present: tuple[bool, ...], settings: Settings) -> Operation:
    """The same object for the same operation: comparing and hashing are then fast."""
    key = (function, present, repr(settings) if settings else "")
    interned = OPERATIONS.get(key)
    if interned is None:
        interned = OPERATIONS[key] = Operation(function, present, settings)
    return interned


OPERATIONS: dict[Any, Operation] = {}
