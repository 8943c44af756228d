"""Every row alone: derivatives against differences, twice; linearity; laws against computed types."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

from symgrad.errors import UnsupportedArgument
from symgrad.ir.types import Array, Dim, List, Scalar, Shape, Type
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import Extents
from symgrad.passes.facts import BORROWED
from tests.ops import trace
from tests.ops.samples import CONSTANT_SAMPLES, SAMPLES
from tests.ops.trace import Node

RNG = np.random.default_rng(5)
NAMES = [f"{k}-{text}" for k, (text, _) in enumerate(SAMPLES)]
#: engine rows and rows that need lists or tapes, tested with the engine; those of complex numbers and transforms are in ``test_complex.py`` and ``test_fourier.py``
ELSEWHERE = set(
    """view take take_written set_at add_at add_written accumulate spread array_or_zeros in_form unbroadcast number tape push pop list_of list_append list_drop
    table_take table_set table_add_at list_take list_set list_add list_add_at list_repeat custom on_backward probe label as_written may_share array_of list_from concatenate_list split_like stack_list unstack
    split array_split list_join python_numbers to_array drawn expm modulus squared_modulus conj unit_conjugate inverse_modulus imaginary real_part complex_of complex_arccosh
    complex_power complex_log eig fourier fftshift ifftshift fftfreq rfftfreq implicit attained integral trajectory weighted_sensitivity
    interpolant interpolant_at interpolant_columns splev bisplev complex_gamma lambertw wofz varied unphased_tangent""".split()
)


def active(args: dict[str, Any]) -> list[str]:
    return [name for name in args if not name.startswith("i")]


def outputs(text: str, args: dict[str, Any]) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [o.value for o in trace.call(text, **{k: Node(v) for k, v in args.items()}).outs]


def inner(a: Any, b: Any) -> float:
    return float(np.sum(np.asarray(a) * np.asarray(b)))


def direction(x: Any) -> Any:
    return float(RNG.normal()) if isinstance(x, float) else RNG.normal(size=np.shape(x))


def first_order(text: str, args: dict[str, Any], seeds: list[Any]) -> tuple[list[Node], list[Any]]:
    nodes = {k: Node(v) for k, v in args.items()}
    cotangents = trace.call(text, **nodes)
    wrt = [nodes[name] for name in active(args)]
    total: list[Any] = [None] * len(wrt)
    for out, seed in zip(cotangents.outs, seeds, strict=True):
        for k, g in enumerate(trace.grads(out, seed, wrt)):
            if g is not None:
                total[k] = g if total[k] is None else trace.apply("add", [total[k], g], {})
    return wrt, total


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args"), SAMPLES, ids=NAMES)
def test_cotangents_agree_with_differences(text: str, args: dict[str, Any]) -> None:
    seeds = [direction(o) for o in outputs(text, args)]
    if text.startswith("eigh"):
        seeds[1] = np.zeros_like(seeds[1])
    wrt, cotangents = first_order(text, args, seeds)
    steps = {name: direction(args[name]) for name in active(args)}
    h = 1e-6
    moved = [outputs(text, {k: v + s * h * steps[k] if k in steps else v for k, v in args.items()}) for s in (1, -1)]
    expected = sum(inner(seed, np.subtract(a, b)) for seed, a, b in zip(seeds, *moved, strict=True)) / (2 * h)
    got = sum(inner(trace.plain(g), steps[name]) for name, g in zip(active(args), cotangents, strict=True) if g is not None)

    assert got == pytest.approx(expected, rel=2e-6, abs=2e-7)
    for name, g in zip(active(args), cotangents, strict=True):
        assert g is not None, name
        assert np.shape(trace.plain(g)) == np.shape(args[name])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args"), SAMPLES, ids=NAMES)
def test_second_derivatives_agree_with_differences_of_the_first(text: str, args: dict[str, Any]) -> None:
    if text.startswith(("eigh", "cofactors", "kaiser(4")) or text == "det(x)" and abs(np.linalg.det(args["x"])).min() < 1e-9:
        pytest.skip("first order only")
    seeds = [direction(o) for o in outputs(text, args)]
    steps = {name: direction(args[name]) for name in active(args)}
    other = {name: direction(args[name]) for name in active(args)}

    def slope(at: dict[str, Any]) -> float:
        _, cotangents = first_order(text, at, seeds)
        return sum(inner(trace.plain(g), steps[name]) for name, g in zip(active(at), cotangents, strict=True))

    wrt, cotangents = first_order(text, args, seeds)
    h = 1e-5
    expected = (slope({k: v + h * other[k] if k in other else v for k, v in args.items()})
                - slope({k: v - h * other[k] if k in other else v for k, v in args.items()})) / (2 * h)  # fmt: skip
    got = 0.0
    for name, g in zip(active(args), cotangents, strict=True):
        if isinstance(g, Node):
            for to, second in zip(active(args), trace.grads(g, steps[name], wrt), strict=True):
                got += 0.0 if second is None else inner(trace.plain(second), other[to])

    assert got == pytest.approx(expected, rel=2e-5, abs=2e-5)


@pytest.mark.parametrize(("text", "args"), SAMPLES, ids=NAMES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_cotangents_are_linear_in_the_cotangent(text: str, args: dict[str, Any]) -> None:
    outs = outputs(text, args)
    a, b = [direction(o) for o in outs], [direction(o) for o in outs]
    both = [first_order(text, args, s)[1] for s in (a, b, [2.0 * x + y for x, y in zip(a, b, strict=True)])]

    for one, two, three in zip(*both, strict=True):
        np.testing.assert_allclose(2.0 * np.asarray(trace.plain(one)) + trace.plain(two), trace.plain(three), rtol=1e-9, atol=1e-9)


def single(text: str) -> str:
    match = re.match(r"\w+", text)
    assert match
    return match[0]


def test_every_differentiable_row_has_a_sample() -> None:
    covered = {single(text) for text, _ in SAMPLES}
    used = {
        name for row in ROWS.values() for t in (*row.partials.values(), *row.pullbacks.values()) if t for name in re.findall(r"(\w+)\(", t)
    }
    unsampled = {r.name for r in ROWS.values() if r.differentiable} - covered - ELSEWHERE
    # cotangents are reached by the second derivatives of their rows

    assert unsampled <= used | {n for n in unsampled if n.startswith("einsum")}, sorted(unsampled - used)


def test_every_name_in_a_derivative_is_known() -> None:
    for row in ROWS.values():
        for text in (*row.partials.values(), *row.pullbacks.values()):
            for name in re.findall(r"(\w+)\(", text or ""):
                assert name in ROWS or name in ("fit", "part", "of_part", "are_alike", "dual", "unphased", "turned"), (row.name, name)


# ------------------------------------------------------------------ laws


def symbolic(x: Any, extents: dict[int, Dim]) -> Type:
    """The type of a value with symbols for extents other than 0 and 1, equal for equal extents."""
    type_ = trace.type_of(x)
    if isinstance(type_, Array) and type_.shape is not None:
        return Array(type_.dtype, tuple(e if e < 2 else extents.setdefault(e, Dim(f"n{e}", 0, True)) for e in type_.shape))  # type: ignore[operator]
    return type_


def check(said: Type, value: Any, text: str) -> None:
    """Is the value what the type says?"""
    if isinstance(said, Array):
        assert isinstance(value, np.ndarray), (text, str(said), type(value))
        real = trace.type_of(value)
        assert isinstance(real, Array)
        assert said.dtype in (None, real.dtype), (text, str(said), real)
        if said.shape is not None:
            assert len(said.shape) == value.ndim, (text, str(said), value.shape)
            for e, n in zip(said.shape, value.shape, strict=True):
                known = e if isinstance(e, int) else int(e.symbol[1:]) + e.offset if re.fullmatch(r"n\d+", e.symbol) else n
                assert known == n, (text, str(said), value.shape)
                assert not (isinstance(e, Dim) and e.plural and n == 1), (text, str(said), value.shape)
        if said.layout == "C":
            assert value.flags.c_contiguous, (text, str(said))
    elif isinstance(said, Scalar):
        real = trace.type_of(value)
        assert isinstance(real, Scalar), (text, str(said), value)
        assert real.kind == said.kind, (text, str(said), value)
        assert said.dtype in ("any", real.dtype), (text, str(said), real)


def law_of(text: str, args: dict[str, Any], symbols: bool) -> tuple[Type, ...]:
    node = trace.call(text, **{k: Node(v) for k, v in args.items()})
    assert node.row is not None
    extents: dict[int, Dim] = {}
    values = [trace.plain(a) for a in node.args]
    types = [symbolic(v, extents) if symbols else trace.type_of(v) for v in values]
    dim: Extents = lambda k: values[k] if isinstance(values[k], int) else Dim("?")  # noqa: E731
    type_ = node.row.law(types, node.settings, dim)
    return type_ if isinstance(type_, tuple) else (type_,)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args"), SAMPLES + CONSTANT_SAMPLES)
def test_laws_say_what_is_computed(text: str, args: dict[str, Any]) -> None:
    outs = outputs(text, args)
    for symbols in (False, True):
        for said, value in zip(law_of(text, args, symbols), outs, strict=True):
            check(said, value, text)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args"), SAMPLES + CONSTANT_SAMPLES)
def test_laws_hold_for_float32(text: str, args: dict[str, Any]) -> None:
    if single(text) in ("inv",):
        pass
    low = {k: v.astype(np.float32) if isinstance(v, np.ndarray) and v.dtype == float else v for k, v in args.items()}
    outs = outputs(text, low)
    for said, value in zip(law_of(text, low, True), outs, strict=True):
        check(said, value, text)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_laws_accept_what_is_unknown(name: str) -> None:
    from symgrad.ir.types import UNKNOWN

    row = ROWS[name]
    if name in ELSEWHERE or name in ("zeros_of", "part"):
        return
    for one in (UNKNOWN, Array(None, None), Array("f64", None), Array(None, (Dim("n", 0, True),)), Scalar("float", "any"), List(UNKNOWN)):
        if name == "diag_indices_from" and getattr(one, "rank", None) != 2:  # it has as many results as the array has axes
            with pytest.raises(UnsupportedArgument, match="is supported for matrices"):
                row.law([one], dict(row.settings), lambda k: Dim("?"))
            continue
        type_: Any = row.law([one] * max(len(row.params), 1), dict(row.settings), lambda k: Dim("?"))

        assert isinstance(type_, Type | tuple)


def test_the_law_of_diagonal_indices_takes_matrices_of_unknown_extents() -> None:
    type_: Any = ROWS["diag_indices_from"].law([Array("f64", (Dim("n"), Dim("n")))], {}, lambda k: Dim("?"))

    assert [(part.dtype, part.rank) for part in type_] == [("i64", 1), ("i64", 1)]


SCALARS: list[Any] = [
    2.0,
    3,
    True,
    np.float64(2.0),
    np.float32(2.0),
    np.int64(2),
    np.array(2.0),
    np.array([1.0, 2.0], np.float32),
    np.array([1, 2]),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", ["add", "multiply", "divide", "power", "maximum", "greater", "floor_divide", "mod", "arctan2", "where", "bitwise_and", "hypot"]
)
@pytest.mark.parametrize("via", [None, "numpy", "math"])
def test_promotion_is_numpys(name: str, via: str | None) -> None:
    row = ROWS[name]
    if via and "via" not in row.settings or via == "math" and (row.math is None or name == "where"):
        return
    extra = f", via={via!r}" if via else ""
    for x in SCALARS:
        for y in SCALARS:
            args = {"c": True, "x": x, "y": y} if name == "where" else {"x": x, "y": y}
            if (
                via == "math"
                and name == "maximum"
                and type(x) is not type(y)
                or via == "math"
                and any(isinstance(v, np.ndarray) for v in (x, y))
                or name == "where"
                and via is None
                and type(x) is not type(y)
            ):
                continue
            text = f"{name}({', '.join(args)}{extra})"
            try:
                (value,) = outputs(text, args)
            except TypeError:
                continue
            (said,) = law_of(text, args, False)
            check(said, value, f"{text} {x!r} {y!r}")


def test_shapes_of_broadcasting_are_exact_where_extents_are_known() -> None:
    n, m = Dim("n", 0, True), Dim("m", 0, True)
    cases: list[tuple[Shape, Shape, Shape]] = [
        ((n,), (n,), (n,)),
        ((n, 1), (m,), (n, m)),
        ((), (n,), (n,)),
        ((1,), (1,), (1,)),
        ((2, n), (n,), (2, n)),
    ]
    for a, b, expected in cases:
        assert ROWS["add"].law([Array("f64", a), Array("f64", b)], {"via": None}, lambda k: Dim("?")) == Array(
            "f64", expected, "?" if len(expected) > 1 else "C"
        )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args"), [*SAMPLES, *CONSTANT_SAMPLES])
def test_a_fresh_result_is_memory_of_its_own(text: str, args: dict[str, Any]) -> None:
    row = ROWS[single(text)]
    if row.alias != "fresh" or row.consumes or row.name in BORROWED or not re.fullmatch(r"\w+\([^()]*\)", text):
        return
    for value in outputs(text, args):
        if isinstance(value, np.ndarray) and value.size:
            assert value.flags.writeable
            assert not any(isinstance(a, np.ndarray) and np.shares_memory(value, a) for a in args.values())
            assert all(stride or extent < 2 for stride, extent in zip(value.strides, value.shape, strict=True))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("text", "args"), CONSTANT_SAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_row_without_a_derivative_does_not_change_with_its_operands(text: str, args: dict[str, Any]) -> None:
    row = ROWS[single(text)]
    floats = [k for k, v in args.items() if np.asarray(v).dtype.kind == "f" and k not in row.partials and row.pullbacks.get(k) is None]
    if row.partials or any(pullback is not None for pullback in row.pullbacks.values()) or "empty" in text:
        pytest.skip("it has a derivative, or what it gives is not set")
    moved = {k: v * (1 + 1e-9) if k in floats else v for k, v in args.items()}

    for one, other in zip(outputs(text, args), outputs(text, moved), strict=True):
        np.testing.assert_array_equal(one, other)
