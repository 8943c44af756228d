"""The samples of rows written as Python, and composed NumPy calls, compared with differences.

A sample becomes the text that its row emits; rows whose text calls the runtime are no Python that a user
writes and are reached by second derivatives.
"""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.ops.declare import ROWS
from tests.ops import trace
from tests.ops.samples import CONSTANT_SAMPLES, SAMPLES, Sample

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
RNG = np.random.default_rng(11)
DTYPE_TEXTS = {"f64": "np.float64", "f32": "np.float32", "i64": "np.int64", "bool": "bool"}
#: rows that only the compiler writes, though their texts are plain Python
NOT_SAID = {
    "log_of_base",
    "lowered",
    "gamma",
    "lgamma",
    "digamma",
    "polygamma",
    "untranspose",
    "gaps",
    "over_matrix",
    "share",
    "masked",
    "filled",
    "by_rows",
    "copy_rows",
}


class Fill(ast.NodeTransformer):
    """Puts the operands and settings of a sample into the text of its row."""

    def __init__(self, operands: dict[str, Any], settings: dict[str, Any]) -> None:
        self.operands, self.settings = operands, settings

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.operands and not isinstance(self.operands[node.id], list):
            return ast.parse(self.operands[node.id], mode="eval").body
        if node.id in self.settings:
            value = self.settings[node.id]
            text = DTYPE_TEXTS[value] if node.id == "dtype" and value is not None else repr(value)
            return ast.parse(text, mode="eval").body
        return node

    def visit_Starred(self, node: ast.Starred) -> Any:
        assert isinstance(node.value, ast.Name)
        return [ast.parse(t, mode="eval").body for t in self.operands[node.value.id]]


def python_text(text: str, args: dict[str, Any]) -> str | None:
    """The expression that a user writes for a sample; None if there is none."""
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    if call.func.id in NOT_SAID or "shape_of" in text or call.func.id not in ROWS:
        return None
    row = ROWS[call.func.id]
    texts = [ast.unparse(a) for a in call.args]
    settings = {**row.settings, **{k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}}
    types = [trace.type_of(trace.plain(trace.run(a, args))) for a in call.args]
    operands: dict[str, Any] = {}
    for k, p in enumerate(row.params):
        operands[p.lstrip("*")] = texts[k:] if p.startswith("*") else texts[k]
    tree = Fill(operands, settings).visit(ast.parse(trace.text_of(row, settings, types), mode="eval"))
    functions = {n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    return None if any(not hasattr(builtins, f) for f in functions) else ast.unparse(ast.fix_missing_locations(tree))


def said(samples: list[Sample]) -> list[Sample]:
    """The samples that are Python, each text and set of shapes once."""
    result: dict[Any, Sample] = {}
    for text, args in samples:
        expression = python_text(text, args)
        if expression is not None:
            result.setdefault((expression, tuple((k, np.shape(v), type(v)) for k, v in args.items())), (expression, args))
    return list(result.values())


HEAD = (
    "import math\nimport numpy as np\nimport scipy.linalg as solving\nimport scipy.special as special\nimport scipy.signal as filtering\n\n"
)
SPACE = {"np": np, "math": math, "special": pytest.importorskip("scipy.special"), "solving": pytest.importorskip("scipy.linalg"),
         "filtering": pytest.importorskip("scipy.signal")}  # fmt: skip
X, M, B = np.array([0.9, -1.3, 0.7, 1.6]), np.array([[0.9, -1.3, 0.4], [0.7, 1.6, 2.2]]), np.array([True, False, True, True])
#: composed functions and what is spelt by methods: expressions of ``x``, ``m``, the mask ``ib``
CALLS = """np.quantile(x, 0.3)|np.quantile(m, 0.3, axis=1, keepdims=True)|np.percentile(m, [30, 60], axis=1)|np.nanmedian(x)|np.nanvar(m, axis=0)
np.nanstd(x, ddof=1)|np.nancumsum(x)|np.nancumprod(m, axis=1)|np.nanprod(x)|np.cumulative_sum(x, include_initial=True)|np.atleast_3d(m)
np.broadcast_arrays(m, x[:3])[1] * m|np.append(m, x)|np.append(m, m, axis=0)|np.insert(x, 1, x[0])|np.insert(m, 1, x[:2], axis=1)
np.delete(m, 0, axis=1)|np.block([[m, m], [m, m]])|np.hsplit(m, 3)[1]|np.vsplit(m, 2)[1]|np.rollaxis(m, 1)|np.resize(x, (2, 3))
np.trim_zeros(x)|np.diagflat(m)|np.extract(ib, x)|np.select([ib, x > 0], [x * x, 2 * x], 0.5)|np.piecewise(x, [ib], [np.sin, np.exp])
np.partition(x, 2)|np.ediff1d(m, x[0], x[:2])|np.union1d(x, 2 * m)|np.setdiff1d(x, 2 * m)|np.vander(x, 3)|np.polyval(x, x)|np.polymul(x, x[:2])
np.polyadd(x, x[:2])|np.poly(x)|np.frexp(x)[0]|np.linalg.eigvalsh(m @ m.T)|np.linalg.vector_norm(m, axis=1)|np.polyder(x)|np.polyint(x)|np.cov(m)|np.cov(x, x * x)|np.corrcoef(x, x * x)|np.apply_along_axis(np.sum, 0, m)
np.apply_along_axis(lambda t: t * t[0], 0, m)|np.apply_over_axes(np.sum, m, [0, 1])|np.modf(x)[0]|x.take([1, 1])|m.take([1, 0], axis=1)
m.compress([True, False, True], axis=1)|x.conj()|x.round(1) * x|np.maximum.accumulate(x)|np.add.accumulate(m)|np.logaddexp.reduce(m, axis=1)
np.add.outer(x, m)|np.add.reduceat(x, [0, 2])|m.sum(axis=0, where=m > 0, keepdims=True)|x.max(initial=3.0) * x|x.mean(where=ib)|np.interp(x, [-2.0, 0.0, 2.0], x[:3])
np.convolve(x, x[:2])|np.kron(m, m)|np.gradient(x)|np.diff(m, axis=1)|np.trapezoid(m, axis=0)|np.inner(m, m)|np.average(m, axis=1, weights=x[:3])
np.linalg.norm(m, axis=1)|np.linalg.norm(x, 3)|np.linalg.matrix_power(m @ m.T, 2)|np.cross(m, m[::-1])|np.ptp(m, axis=0)|np.dstack([m, m])|np.take(m, [0, 1, 1], axis=1)
np.quantile(m, [0.2, 0.7], axis=0)|np.percentile(x, 30, method='lower')|np.percentile(x, 30, method='inverted_cdf')|np.quantile(m, [0.2, 0.7], axis=1, method='weibull')|np.convolve(x, [1.0, 2.0, -1.0], mode='same')
np.inner([1.0, 2.0, 0.5], m)|np.gradient([x[0], x[1], x[2]])|np.cross(m, [0.5, 1.0, 2.0])|np.linalg.norm(m, 2)|np.linalg.norm(m, -np.inf)|np.linalg.norm(m, "nuc")|np.linalg.norm(m, -2)
np.linalg.cond(m)|np.linalg.svd(m, compute_uv=False)|np.linalg.svd(m, full_matrices=False).S|np.linalg.svd(m)[1]|np.linalg.svd(m)[1] * np.linalg.svd(m)[2].T.shape[0]|np.linalg.qr(m.T, mode="r") ** 2
np.linalg.lstsq(m.T, x[:3], rcond=None)[0]|np.linalg.lstsq(m.T, m.T * x[:3, None], rcond=None)[1]
np.einsum('...i,i->...', m, x[:3])|np.einsum('...ij,...jk', m, m.T)|np.einsum(m, [0, 1], x[:3], [1], [0])|np.einsum('ij,kj->ik', m, m, optimize=True)
np.diff(x, prepend=0.0)|np.diff(x, append=x[0], prepend=x[:2])|np.cross(m.T, x[:3], axis=0)|m[np.s_[1, ::2]]|m[np.index_exp[0, 1:]]"""
EXPRESSIONS = said(SAMPLES) + [(e, {"x": X, "m": M, "ib": B}) for line in CALLS.splitlines() for e in line.split("|")]
IDS = [f"{k}-{e}" for k, (e, _) in enumerate(EXPRESSIONS)]


def active(args: dict[str, Any]) -> list[str]:
    return [name for name in args if not name.startswith("i")]


def numbers(results: Any) -> list[Any]:
    return list(results) if isinstance(results, tuple) else [results]


def value_of(expression: str, args: dict[str, Any]) -> list[Any]:
    return numbers(eval(expression, SPACE, dict(args)))


def function_of(expression: str, args: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """A function whose value depends on all of a result, its slope on the value; and its arguments, weights too."""
    value = value_of(expression, args)
    outs = (
        ["made"]
        if len(value) == 1 and not isinstance(eval(expression, SPACE, dict(args)), tuple)
        else [f"made[{k}]" for k in range(len(value))]
    )
    if "np.linalg.eigh" in expression:
        outs = outs[:1]
    weights = {f"iw{k}": RNG.normal(size=np.shape(v)) if np.shape(v) else float(RNG.normal()) for k, v in enumerate(value[: len(outs)])}
    total = " + ".join(f"np.sum(iw{k} * {o} + 0.3 * {o} * {o})" for k, o in enumerate(outs))
    names = [n for n in (*args, *weights)]
    used = {n.id for n in ast.walk(ast.parse(expression)) if isinstance(n, ast.Name)}
    names = [n for n in names if n in used or n in weights]
    source = f"{HEAD}def f({', '.join(names)}):\n    made = {expression}\n    return {total}\n"
    return symgrad.from_source(source, "f"), {n: {**args, **weights}[n] for n in names}


def own(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def moved(function: Any, args: dict[str, Any], steps: dict[str, Any], h: float) -> Any:
    return function(**{k: own(v) + h * steps[k] if k in steps else own(v) for k, v in args.items()})


def direction(args: dict[str, Any]) -> dict[str, Any]:
    return {k: RNG.normal(size=np.shape(args[k])) if isinstance(args[k], np.ndarray) else float(RNG.normal()) for k in active(args)}


def along(gradients: Any, steps: dict[str, Any]) -> float:
    return sum(float(np.sum(np.asarray(g) * steps[k])) for k, g in gradients.items() if g is not None)


def gradients_of(function: Any, args: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    names = tuple(active(args))
    value, gradients = symgrad.value_and_grad(function, wrt=names, allow_unused=True)(**{k: own(v) for k, v in args.items()})
    return value, dict(zip(names, gradients, strict=True))


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("expression", "args"), EXPRESSIONS, ids=IDS)
def test_gradients_agree_with_differences(expression: str, args: dict[str, Any]) -> None:
    function, arguments = function_of(expression, args)
    value, gradients = gradients_of(function, arguments)
    steps = direction(arguments)
    h = 1e-6
    expected = (moved(function, arguments, steps, h) - moved(function, arguments, steps, -h)) / (2 * h)

    np.testing.assert_allclose(value, function(**arguments), rtol=1e-12)
    assert along(gradients, steps) == pytest.approx(expected, rel=5e-6, abs=5e-7)
    for name, g in gradients.items():
        assert np.shape(g) == np.shape(arguments[name])


def firsts(count: int) -> list[Any]:
    """A few expressions of each function."""
    seen: dict[str, int] = {}
    gradients = []
    for k, (expression, args) in enumerate(EXPRESSIONS):
        key = expression.partition("(")[0]
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= count and active(args):
            gradients.append(pytest.param(expression, args, id=IDS[k]))
    return gradients


@pytest.mark.sweep(24)
@pytest.mark.parametrize(("expression", "args"), firsts(3))
def test_second_derivatives_agree_with_differences_of_gradients(expression: str, args: dict[str, Any]) -> None:
    if (
        "np.linalg.eigh" in expression
        or "np.kaiser" in expression
        or "linalg.det" in expression
        and abs(np.linalg.det(args["x"])).min() < 1e-9
    ):
        pytest.skip("first order only")
    function, arguments = function_of(expression, args)
    names = tuple(active(arguments))
    steps, other = direction(arguments), direction(arguments)
    first = symgrad.grad(function, wrt=names, allow_unused=True)
    weights = {f"iv{k}": steps[n] for k, n in enumerate(names)}
    slope_source = (
        f"def slope({', '.join([*arguments, *weights])}):\n    gradients = first({', '.join(f'{n}={n}' for n in arguments)})\n    return "
        + " + ".join(f"np.sum(gradients[{k}] * iv{k})" for k in range(len(names)))
    )
    slope = symgrad.from_source(slope_source, "slope", {"first": first, "np": np})
    _, second = gradients_of(slope, {**arguments, **weights})
    h = 1e-5
    moved_slopes = [
        along(gradients_of(function, {k: own(v) + s * h * other[k] if k in other else v for k, v in arguments.items()})[1], steps)
        for s in (1, -1)
    ]

    assert along({n: second[n] for n in names}, other) == pytest.approx((moved_slopes[0] - moved_slopes[1]) / (2 * h), rel=5e-5, abs=5e-5)


def with_gaps(value: Any) -> Any:
    """The same numbers as a view of every other one of an array twice as large."""
    if not isinstance(value, np.ndarray) or not value.ndim or value.dtype != float:
        return value
    return np.repeat(value, 2, axis=0)[::2] if value.ndim == 1 else np.repeat(value, 2, axis=-1)[..., ::2]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("change", [with_gaps, lambda v: np.asfortranarray(v) if np.ndim(v) > 1 else v], ids=["gaps", "columns"])
@pytest.mark.parametrize(("expression", "args"), firsts(2))
def test_the_layout_of_arguments_does_not_matter(expression: str, args: dict[str, Any], change: Any) -> None:
    function, arguments = function_of(expression, args)
    other = {k: change(v) for k, v in arguments.items()}
    if all(other[k] is arguments[k] for k in arguments):
        pytest.skip("no array to change")
    (value, gradients), (again, same) = gradients_of_view(function, arguments), gradients_of_view(function, other)

    np.testing.assert_allclose(again, value, rtol=1e-9)
    for name in gradients:
        np.testing.assert_allclose(same[name], gradients[name], rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(other[name], arguments[name])


def gradients_of_view(function: Any, args: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """As ``gradients_of``, but what is handed over is not copied before."""
    names = tuple(active(args))
    value, gradients = symgrad.value_and_grad(function, wrt=names, allow_unused=True)(**args)
    return value, dict(zip(names, gradients, strict=True))


def low(value: Any) -> Any:
    return value.astype(np.float32) if isinstance(value, np.ndarray) and value.dtype == float else value


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("expression", "args"), firsts(2))
def test_single_precision_is_kept(expression: str, args: dict[str, Any]) -> None:
    function, arguments = function_of(expression, args)
    single = {k: low(v) for k, v in arguments.items()}
    arrays = [n for n in active(arguments) if isinstance(single[n], np.ndarray)]
    if not arrays:
        pytest.skip("no array")
    expected_value, expected = gradients_of(function, arguments)
    value, gradients = gradients_of(function, single)

    assert np.asarray(value).dtype == np.asarray(function(**single)).dtype
    assert float(value) == pytest.approx(float(expected_value), rel=1e-3, abs=1e-3)
    for name in arrays:
        assert gradients[name].dtype == np.float32, name
        np.testing.assert_allclose(gradients[name], expected[name], rtol=2e-3, atol=2e-3)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(
    ("expression", "args"), [p for p in firsts(1) if set(p.values[1]) == {"x"} and isinstance(p.values[1]["x"], np.ndarray)]
)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (1, 1), (0, 3)])
def test_arrays_of_few_elements(expression: str, args: dict[str, Any], shape: tuple[int, ...]) -> None:
    if "std" in expression and math.prod(shape) == 1:
        pytest.skip("a standard deviation of zero has no derivative")
    x = np.full(shape, 0.7)
    try:
        with np.errstate(all="raise"):
            expected_value = value_of(expression, {"x": x})
            if any(not np.issubdtype(np.asarray(v).dtype, np.floating) or not np.isfinite(v).all() for v in expected_value):
                raise ValueError
        function, arguments = function_of(expression, {"x": x})
        steps = direction(arguments)
        expected = (moved(function, arguments, steps, 1e-6) - moved(function, arguments, steps, -1e-6)) / 2e-6
    except (ValueError, TypeError, IndexError, ArithmeticError, np.linalg.LinAlgError):
        pytest.skip("NumPy does not take it either")
    _, gradients = gradients_of(function, arguments)

    assert np.shape(gradients["x"]) == shape
    assert along(gradients, steps) == pytest.approx(expected, rel=5e-6, abs=5e-7)


REFUSED = """np.insert(x, [1], x)|np.block(x)|np.diff(x, n=6)|np.pad(x, 1, mode='empty')
np.linalg.pinv(np.outer(x, x), rcond=1e-9, rtol=1e-9)|np.linalg.matrix_rank(np.outer(x, x), tol=1.0, rtol=1e-9) * x
np.sum(x, dtype=int) * x|np.unique(x, axis=0)|np.nan_to_num(x, copy=False)
np.quantile(x, 0.3, weights=x * x, method='inverted_cdf')|np.quantile(x, 1.3 + 0 * x[0])|np.insert(x, 9, x[0])|np.polymul(np.append(0.0, x), x)|np.poly(x[:0])|np.cross(x[:2], x[2:])"""


@pytest.mark.parametrize("expression", [e for line in REFUSED.splitlines() for e in line.split("|")])
def test_forms_that_are_not_supported_are_refused(expression: str) -> None:
    function = symgrad.from_source(f"import numpy as np\n\ndef f(x):\n    return np.sum({expression})\n", "f")

    with pytest.raises((symgrad.SymgradError, IndexError)):
        symgrad.value_and_grad(function)(X)


@pytest.mark.parametrize(
    "expression", ["np.median(x)", "np.quantile(x, 0.3)", "np.percentile(x, [10, 20])", "np.max(x, initial=0.0)", "np.sum(x, where=x > 0)"]
)
def test_what_is_not_a_number_stays_none(expression: str) -> None:
    function = symgrad.from_source(f"import numpy as np\n\ndef f(x):\n    return np.sum({expression})\n", "f")
    x = np.array([1.0, np.nan, 2.0])
    value, _ = symgrad.value_and_grad(function)(x)

    np.testing.assert_array_equal(value, function(x))


def zero_samples() -> list[Any]:
    samples = []
    for text, args in CONSTANT_SAMPLES:
        expression = python_text(text, args)
        floats = [k for k, v in args.items() if isinstance(v, float) or isinstance(v, np.ndarray) and v.dtype == float]
        if expression is not None and floats and "empty" not in expression:
            samples.append(
                pytest.param(expression, {"x": args[floats[0]], **{f"i{k}": v for k, v in args.items() if k != floats[0]}}, id=expression)
            )
    return samples


@pytest.mark.parametrize(("expression", "args"), zero_samples())
def test_constants_pass_no_derivative(expression: str, args: dict[str, Any]) -> None:
    renamed = (
        expression if "iy" not in args else " ".join(ast.unparse(Fill({"y": "iy"}, {}).visit(ast.parse(expression, mode="eval"))).split())
    )
    results = [v for v in value_of(renamed, args) if isinstance(v, np.ndarray | np.generic | bool | float | int)]
    if len(results) != 1 or ("out" in args) or "iout" in args:
        pytest.skip("not one number")
    names = list(args)
    function = symgrad.from_source(f"import numpy as np\n\ndef f({', '.join(names)}):\n    return np.sum(x * x) + np.sum({renamed})\n", "f")
    value, gradients = gradients_of(function, args)

    assert value == pytest.approx(float(function(**args)))
    np.testing.assert_allclose(gradients["x"], 2 * np.asarray(args["x"]))
