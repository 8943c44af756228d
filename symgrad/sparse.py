"""Sparse Jacobians and Hessians: a function -> a callable that returns ``scipy.sparse`` arrays.

The pattern says which entries may differ from zero. Columns that share no row have one colour, and one sweep computes them all: its seed
is 1 in each of them. Each call compares the matrix with one more sweep in a random direction.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from symgrad.bound import Bound, Stage, bound
from symgrad.derivatives import derive
from symgrad.errors import BadArgument, InvalidIR, SaveError, SciPyMissing
from symgrad.parameters import Mode, Options, function_loc
from symgrad.runtime.compressed import blocks_of, directions_of, entries_of_columns, entries_of_stars, flat, seeds_of, shaped
from symgrad.sparsity.colors import column_colors, lists_of, star_colors
from symgrad.sparsity.frame import Frame, Program
from symgrad.sparsity.saved import sparse_module
from symgrad.tracebacks import boundary
from symgrad.verification.duplicate import Duplicate, NotCopied

By = Literal["columns", "rows", "stars"]

Arguments = tuple[tuple[Any, ...], dict[str, Any]]  #: those in order, and those by name

#: the number of plans kept for each Jacobian
KEPT = 32
#: the number of colours shown
SHOWN = 24
#: the sweeps by which a matrix is computed
MEANS = {"columns": "forward by columns", "rows": "backward by rows", "stars": "of the gradient forward by stars"}
#: the number of rows that are searched for an entry that a pattern misses
LOOKED_AT = 8


def scipy_sparse() -> Any:
    """``scipy.sparse``; raises SciPyMissing with the install command."""
    try:
        import scipy.sparse
    except ImportError:
        raise SciPyMissing(
            "sparse derivatives are scipy.sparse arrays, and SciPy is not installed", hint="pip install scipy, or leave sparsity out"
        ) from None
    return scipy.sparse


@dataclass(frozen=True, eq=False)
class Plan:
    """The plan for a matrix of one pattern: the positions of its entries, and the colours."""

    rows: np.ndarray
    columns: np.ndarray
    shape: tuple[int, int]
    by: By
    colors: np.ndarray

    @cached_property
    def seeds(self) -> np.ndarray:
        """The seed of each sweep."""
        return seeds_of(self.colors)

    def describe(self) -> str:
        """The matrix and its colours, in a line."""
        size = f"{self.shape[0]} x {self.shape[1]}, {self.rows.size} entries"
        colors = " ".join("-" if color < 0 else str(color) for color in self.colors[:SHOWN].tolist())
        more = " ..." if self.colors.size > SHOWN else ""
        return f"{size}, {self.sweeps} sweeps {MEANS[self.by]}, of the colours {colors}{more}"

    @property
    def sweeps(self) -> int:
        """How many sweeps compute the matrix."""
        return int(self.colors.max(initial=-1)) + 1


def planned(pattern: Any, mode: Mode, symmetric: bool) -> Plan:
    """A plan for a pattern, a CSR array: by columns or by rows, whichever has fewer colours, or by stars."""
    if symmetric:
        pattern = (pattern + pattern.T).tocsr()
    pattern.sort_indices()
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    columns = pattern.indices.astype(np.int64)
    of_rows = lists_of(pattern.indptr, pattern.indices)
    if symmetric:
        return Plan(rows, columns, pattern.shape, "stars", star_colors(of_rows))
    by: By = "columns"
    colors = None
    if mode != "reverse":
        transposed = pattern.tocsc()
        colors = column_colors(lists_of(transposed.indptr, transposed.indices), pattern.shape[0])
    if mode != "forward":
        most = None if colors is None else int(colors.max(initial=-1)) + 1
        others = column_colors(of_rows, pattern.shape[1], most)
        by, colors = ("columns", colors) if others is None else ("rows", others)
    assert colors is not None
    return Plan(rows, columns, pattern.shape, by, colors)


def checked_pattern(sparsity: Any) -> Any:
    """A pattern that a user passes, as a CSR array of bools; None for ``"auto"``."""
    sparse = scipy_sparse()
    if isinstance(sparsity, str):
        if sparsity == "auto":
            return None
        raise BadArgument(f"there is no sparsity {sparsity!r}", hint='sparsity is "auto", or a pattern: an array or scipy.sparse matrix')
    hint = "pass a matrix of bools: a row for each element of the result, a column for each of the argument"
    try:
        pattern = sparsity if sparse.issparse(sparsity) else np.asarray(sparsity)
    except ValueError:
        raise BadArgument("the rows of the pattern have different lengths", hint=hint) from None
    if pattern.ndim != 2 or pattern.dtype.kind not in "biuf":
        what = f"the pattern has the shape {pattern.shape} and the dtype {pattern.dtype}"
        raise BadArgument(what, hint=hint)
    return sparse.csr_array(pattern != 0)


class SparseJacobian:
    """The Jacobian of a function as sparse arrays; called like the function itself. Made by ``jacobian`` and ``hessian``."""

    #: why it cannot be differentiated, and the way out
    __symgrad_refuses__ = (
        "a sparse Jacobian is a scipy.sparse array, which has no derivative",
        "leave sparsity out: jacobian and hessian without it can be differentiated",
    )

    def __init__(self, frame: Any, settings: Options, sparsity: Any, mode: Mode, symmetric: bool) -> None:
        self._frame, self._settings, self._sparsity, self._mode, self._symmetric = frame, settings, sparsity, mode, symmetric
        self._given = checked_pattern(sparsity)
        self._plans: dict[Any, Plan] = {}
        self._writes: dict[Program, bool] = {}  #: programs that may run several times: does each write to its arguments?
        is_bound = isinstance(frame, Bound)
        self._own: Any = frame._derived if is_bound else frame
        self._instance = (frame._instance,) if is_bound else ()
        sweep = replace(
            self._own._options,
            wrt=0 if settings.wrt is None else settings.wrt,
            verify=settings.verify,
            jit=settings.jit,
            allow_unused=True,
            strict=False,
        )
        self._forward: Any = derive(self._own._of, replace(sweep, what="jvp"))
        self._reverse: Any = derive(self._own._of, replace(sweep, what="vjp"))
        self.__name__ = self._forward.__name__.removesuffix("_jvp") + "_jacobian"
        self.__doc__ = self._forward.__doc__

    @boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The Jacobian, or with ``has_aux`` the Jacobian and the auxiliary result."""
        call = self._call(args, kwargs)
        key = call.key()
        plan = self._plan(call, key)
        entries = call.entries(plan)
        wrong = call.wrong_rows(plan, entries)
        if wrong.size and self._given is None:  # these values take other branches than the call from which the pattern was computed
            plan = self._renewed(call, key, plan)
            entries = call.entries(plan)
            wrong = call.wrong_rows(plan, entries)
        if wrong.size:
            raise call.refusal(plan, wrong, self._given is None)
        whole = call.matrices(plan, entries)
        return (whole, call.aux) if self._settings.has_aux else whole

    @boundary
    def plan(self, *args: Any, **kwargs: Any) -> Plan:
        """The plan for the Jacobian of such arguments."""
        call = self._call(args, kwargs)
        return self._plan(call, call.key())

    @boundary
    def pattern(self, *args: Any, **kwargs: Any) -> Any:
        """The entries that are computed for such arguments, as a ``scipy.sparse`` array of bools."""
        plan = self.plan(*args, **kwargs)
        return scipy_sparse().csr_array((np.ones(plan.rows.size, bool), (plan.rows, plan.columns)), plan.shape)

    @boundary
    def source(self, *args: Any, **kwargs: Any) -> str:
        """The source of one sweep, for such arguments (without arguments: the latest forward sweep)."""
        if not args and not kwargs:
            return str(self._forward.source())
        return str(self._sweep(self.plan(*args, **kwargs)).source(*self._instance, *args, **kwargs))

    @boundary
    def ir(self, *args: Any, stage: Stage = None, **kwargs: Any) -> str:
        """The IR of one sweep, for such arguments."""
        return str(self._sweep(self.plan(*args, **kwargs)).ir(*self._instance, *args, stage=stage, **kwargs))

    @boundary
    def explain(self, *args: Any, **kwargs: Any) -> str:
        """How the matrix is computed for such arguments, and the remarks on each line in a sweep."""
        plan = self.plan(*args, **kwargs)
        about = f"{self!r}: {plan.describe()}\n\n"
        return about + str(self._sweep(plan).explain(*self._instance, *args, **kwargs))

    def _sweep(self, plan: Plan) -> Any:
        """The derivative that computes sums of columns or of rows."""
        return self._reverse if plan.by == "rows" else self._forward

    @property
    def __signature__(self) -> inspect.Signature:
        signature: inspect.Signature = self._frame.__signature__
        return signature

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return SparseJacobian(bound(self._frame, instance), self._settings, self._sparsity, self._mode, self._symmetric)

    def __repr__(self) -> str:
        shown = repr(self._sparsity) if isinstance(self._sparsity, str) else "..."
        return f"{repr(self._frame).replace('frame(', 'jacobian(', 1).removesuffix(')')}, sparsity={shown})"

    def __reduce__(self) -> tuple[Any, ...]:
        return SparseJacobian, (self._frame, self._settings, self._sparsity, self._mode, self._symmetric)

    def __symgrad_module__(self, args: tuple[Any, ...], kwargs: dict[str, Any], saved: Callable[..., str]) -> str:
        """The text of a module that computes the matrix for such arguments; ``saved`` returns the text of a sweep."""
        hint = "save one sweep: symgrad.save(symgrad.jvp(f), path)"
        if self._instance:
            raise SaveError("a method's Jacobian depends on its instance", hint="save the Jacobian of a function")
        if not args and not kwargs:
            raise SaveError("the pattern is that of a call, and no arguments are passed", hint="symgrad.save(jacobian, path, *args)")
        if self._check_writes(args, kwargs):
            raise SaveError("the function writes to its arguments, and a sparse Jacobian runs it several times", hint=hint)
        self(*args, **kwargs)  # which compares the pattern with the function
        call = self._call(args, kwargs)
        plan = self._plan(call, call.key())
        passed = self._forward.arguments((), args, kwargs)
        labels = self._forward.by_name(call.frame.tangents(shaped(call.direction, call.frame.inputs)), args, passed, 0)
        parts = plan.by, plan.rows, plan.columns, tuple(map(int, plan.shape)), plan.colors
        return sparse_module(
            saved(self._sweep(plan), args, kwargs),
            self._own.source(*args, **kwargs),
            call.frame.program.wrt,
            self.__name__,
            parts,
            list(labels),
            self._settings.has_aux,
        )

    # -------------------------------------------------------------- plans

    def _check_writes(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return self._check(args, kwargs, self._own(*args, **kwargs).program)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Sweeps:
        args = (*self._instance, *args)
        frame = self._own(*args, **kwargs)
        if frame.program not in self._writes:
            self._writes[frame.program] = self._check(args, kwargs, frame.program)
        before = Duplicate().all(args, kwargs) if self._writes[frame.program] else None
        return Sweeps(frame, self._own, self._forward, self._reverse, len(self._instance), (args, kwargs), before)

    def _check(self, args: tuple[Any, ...], kwargs: dict[str, Any], program: Program) -> bool:
        """Whether the function writes to its arguments. Refuses one that cannot run several times; records the matrix's symmetry."""
        table, function = self._own._table, self._own._function
        entry = table.find(table.bind(args, kwargs).arguments)
        comparable = table.comparable(entry.signature, entry.compiled)
        what = f"a sparse Jacobian runs {function.__qualname__} several times, and "
        hint = "use jacobian without sparsity, which runs it once"
        if comparable is None or comparable.once is not None:
            why, loc = ("that may have effects", function_loc(function)) if comparable is None else comparable.once
            raise BadArgument(what + why, loc, hint)
        self._symmetric = self._symmetric and not (comparable.cut or comparable.custom)
        writes = bool(program.mutated) or comparable.stores
        try:
            if writes:
                Duplicate().all(args, kwargs)
        except NotCopied:
            raise BadArgument(f"{what}it writes to an argument that cannot be copied", function_loc(function), hint) from None
        return writes

    def _plan(self, call: Sweeps, key: Any) -> Plan:
        """The plan for a call; a plan of an earlier call with the same key is reused."""
        plan = self._plans.get(key)
        if plan is None:
            pattern = call.pattern() if self._given is None else self._fitting(call)
            plan = self._keep(key, pattern)
        return plan

    def _fitting(self, call: Sweeps) -> Any:
        """The user's pattern, which must have the shape of the Jacobian."""
        if self._given.shape != call.shape:
            what = f"the pattern has the shape {self._given.shape}, and the Jacobian {call.shape}"
            raise BadArgument(what, hint="a pattern has a row for each element of the result, and a column for each of the argument")
        return self._given

    def _renewed(self, call: Sweeps, key: Any, plan: Plan) -> Plan:
        """A plan for the pattern of these values and that of the values before."""
        before = scipy_sparse().csr_array((np.ones(plan.rows.size, bool), (plan.rows, plan.columns)), plan.shape)
        return self._keep(key, call.pattern() + before)

    def _keep(self, key: Any, pattern: Any) -> Plan:
        plan = self._plans[key] = planned(pattern, self._mode, self._symmetric)
        while len(self._plans) > KEPT:
            self._plans.pop(next(iter(self._plans)))
        return plan


@dataclass(slots=True)
class Sweeps:
    """One call: its sweeps and their results."""

    frame: Frame
    frame_of: Any  #: returns the frame for arguments
    forward: Any
    reverse: Any
    instances: int  #: 1 if the first argument is an instance, which has no tangent
    passed: Arguments
    before: Arguments | None  #: copies of the arguments, if each sweep writes to them
    direction: np.ndarray = field(init=False)  #: of the sweep that the matrix is compared with
    slope: np.ndarray = field(init=False)
    outputs: tuple[Any, ...] = field(init=False)
    aux: Any = None
    values: tuple[Any, ...] = ()  #: the values of the arguments on which a pattern depends

    def __post_init__(self) -> None:
        wrt = set(self.frame.program.wrt)
        self.values = tuple(pattern_key(value, k in wrt) for k, value in enumerate(self.frame.values))
        self.direction = directions_of(sum(np.size(leaf) for leaf in self.frame.inputs))
        out, tangent, *aux = self.swept(self.direction, self.passed)  # on the user's own arguments, so that they are written to once
        self.outputs, self.slope = self.frame.outputs(out), flat(self.frame.outputs(tangent))
        self.aux = aux[0] if aux else None

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the whole matrix."""
        return self.slope.size, self.direction.size

    def arguments(self) -> Arguments:
        """The arguments of another sweep."""
        return self.passed if self.before is None else Duplicate().all(*self.before)

    def swept(self, direction: np.ndarray, arguments: Arguments) -> Any:
        """The result of ``jvp`` in a direction."""
        args, kwargs = arguments
        tangents = self.frame.tangents(shaped(direction, self.frame.inputs))
        return self.forward.pushed(args[: self.instances], args[self.instances :], tangents, kwargs)

    def in_columns(self, seeds: np.ndarray) -> np.ndarray:
        """The derivatives in some directions, a row for each; the only function that computes sums of columns."""
        rows = [flat(self.frame.outputs(self.swept(seed, self.arguments())[1])) for seed in seeds]
        return np.array(rows).reshape(len(seeds), self.shape[0])

    def in_rows(self, seeds: np.ndarray) -> np.ndarray:
        """The gradients of some weighted sums of the results, a row for each; the only function that computes sums of rows."""
        args, kwargs = self.arguments()
        _, pullback, *_ = self.reverse(*args, **kwargs)
        rows = [flat(self.frame.gradients(pullback(self.frame.seed(shaped(seed, self.outputs))))) for seed in seeds]
        return np.array(rows).reshape(len(seeds), self.shape[1])

    def pattern(self) -> Any:
        """The pattern for these arguments."""
        args, kwargs = self.arguments()
        entries = self.frame.program.pattern(self.frame_of(*args, **kwargs).values)
        return scipy_sparse().csr_array((np.ones(entries.columns.size, bool), entries.columns, entries.offsets), self.shape)

    def key(self) -> Any:
        """The key of a pattern: the program, the shapes, and the values without derivatives."""
        return self.frame.program, self.shape, self.values

    def entries(self, plan: Plan) -> np.ndarray:
        """The entries of the matrix, in the order of the plan."""
        seeds = plan.seeds
        match plan.by:
            case "columns":
                return entries_of_columns(self.in_columns(seeds), plan.colors, plan.rows, plan.columns)
            case "rows":
                return entries_of_columns(self.in_rows(seeds), plan.colors, plan.columns, plan.rows)
        return entries_of_stars(self.in_columns(seeds), plan.colors, plan.rows, plan.columns)

    def wrong_rows(self, plan: Plan, entries: np.ndarray) -> np.ndarray:
        """The rows of the matrix that disagree with the slope in the direction of the comparison, beyond rounding.

        Where rounding of much larger rows, or values that are not finite, may be the cause, a row counts only if the
        pattern misses one of its entries.
        """
        rows, parts = self.shape[0], entries * self.direction[plan.columns]
        with np.errstate(invalid="ignore", over="ignore"):
            slope = np.bincount(plan.rows, parts, rows)
            apart = np.abs(slope - self.slope)
            sizes = np.bincount(plan.rows, np.abs(parts), rows) + np.abs(self.slope)
        known, infinite = np.isfinite(apart), np.isfinite(slope) != np.isfinite(self.slope)
        precision = max((np.finfo(leaf.dtype).eps for leaf in map(np.asarray, (*self.frame.inputs, *self.outputs))), default=0.0)
        largest = sizes[known].max(initial=0.0)
        differ = known & (apart > precision**0.5 * sizes + 1e3 * precision * largest)
        doubtful = ~differ & ((apart > precision**0.5 * sizes) | infinite | ~np.isfinite(slope))
        for row in np.flatnonzero(doubtful)[:LOOKED_AT].tolist():
            differ[row] = self.missed(plan, row, bool(infinite[row])) is not None
        return np.flatnonzero(differ)

    def missed(self, plan: Plan, row: int, may_be_nan: bool = True) -> tuple[int, float] | None:
        """The column of the largest derivative in a row that the pattern has no entry for, and that derivative."""
        seed = np.zeros(self.shape[0])
        seed[row] = 1.0
        derivatives = self.in_rows(seed[None])[0]
        derivatives[plan.columns[plan.rows == row]] = 0.0
        if not may_be_nan:
            derivatives[~np.isfinite(derivatives)] = 0.0
        column = int(np.argmax(np.abs(derivatives))) if derivatives.size else 0
        if not derivatives.size or not derivatives[column]:
            return None
        direction = np.zeros(self.shape[1])
        direction[column] = 1.0
        return (column, derivatives[column]) if self.in_columns(direction[None])[0, row] else None  # 0 * inf is nan in one of the modes

    def refusal(self, plan: Plan, wrong: np.ndarray, is_ours: bool) -> BadArgument | InvalidIR:
        """The error for a pattern that misses entries, which names one of them."""
        for row in wrong[:LOOKED_AT].tolist():
            if (entry := self.missed(plan, row)) is not None:
                what = f"the pattern has no entry at ({row}, {entry[0]}), where the derivative is {entry[1]:.6g}"
                break
        else:
            what = f"row {wrong[0]} of the Jacobian does not match the derivative in a random direction"
        if is_ours:
            return InvalidIR(what)
        return BadArgument(what, hint='add the missing entries to the pattern, or use sparsity="auto"')

    def matrices(self, plan: Plan, entries: np.ndarray) -> Any:
        """The matrix in the structure of the results and the arguments, a block for each pair of leaves."""
        blocks = blocks_of(entries, plan.rows, plan.columns, plan.shape, self.outputs, self.frame.inputs)
        return self.frame.matrices(blocks)


def pattern_key(value: Any, varies: bool) -> Any:
    """The part of a value on which a pattern may depend: its shape, and all of it if it consists of integers."""
    match value:
        case np.ndarray():
            same = varies or value.dtype.kind in "fcO"
            return value.shape, value.dtype.str, None if same else hashlib.blake2b(np.ascontiguousarray(value).data).digest()
        case list() | tuple():
            return tuple(pattern_key(item, varies) for item in value)
        case bool() | int() | str() | bytes() | np.integer() | np.bool_():
            return value
    return type(value)


__all__ = ["Plan", "SparseJacobian"]
