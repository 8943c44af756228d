"""Calls of NumPy's functions over ranks, extents, dtypes and the places of their arguments, each against NumPy itself.

The functions are those that the tables of spellings, compositions and special calls know; their parameters are read from NumPy. Each
is called with its first arguments alone, and with every other parameter once, by name and by position. By hand are only values
for parameters that take particular ones (``VALUES`` by the parameter's name, ``OWN`` by the function's).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from symgrad.frontend.state.tables import SPECIAL
from symgrad.ops.composed import COMPOSED
from symgrad.ops.spelling import CALLABLES
from tests import against_numpy
from tests.ops.laws import values

#: of one array, of two, of three: shapes that every call is tried with, then those that only a function's first calls are
ONE: list[tuple[int, ...]] = [(3,), (2, 3), (), (0,), (1,), (3, 3), (0, 3), (2, 2, 3), (3, 0), (1, 1), (2, 1, 2, 2)]
TWO: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3,), (3,)), ((2, 3), (2, 3)), ((), ()), ((0,), (0,)), ((2, 3), (3,)), ((3,), ()), ((3, 3), (3, 3)), ((), (3,)), ((1,), (3,)), ((3,), (1,)),
    ((3,), (2,)), ((2,), (5,)), ((3,), (2, 3)), ((2, 3), (3, 2)), ((0, 3), (3,)), ((1, 1), (1, 1)), ((2, 2, 2), (2, 2)), ((2, 3, 3), (3,)),
    ((2, 3, 3), (2, 3, 3)), ((2, 3), ()), ((3, 3), (3,)), ((0,), (3,)), ((3,), (0,)),
]  # fmt: skip
FIRST = 7  #: how many of the shapes every call is tried with
DTYPES = ("bool", "i8", "u8", "i32", "i64", "f32")

#: values of parameters by name, the first of them where the parameter is required
VALUES: dict[str, list[str]] = {
    "axis": ["0", "None", "-1", "1", "(0, 1)"], "axes": ["None", "(1, 0)", "0", "1"], "m": ["2", "0", "3"], "keepdims": ["True"], "ddof": ["1", "3"], "decimals": ["1"],
    "where": ["w"], "initial": ["0.5"], "out": [], "dtype": ["np.float32", "np.float64"], "order": ["'C'", "'F'", "'K'"], "casting": [], "subok": [],
    "shape": ["(3,)", "3", "(2, 3)", "-1", "()"], "newshape": [], "copy": ["True"], "device": [], "like": [], "kind": ["'stable'"], "stable": ["True"],
    "n": ["2", "1", "0", "3"], "k": ["0", "1", "-1"], "N": ["2", "3", "0"], "M": ["3", "0", "1"], "num": ["4", "1", "0"], "deg": ["1", "2"],
    "indices_or_sections": ["1", "3", "[1]", "[1, 2]", "[2, 1]"], "repeats": ["2", "0", "[1, 2, 0]"], "reps": ["2", "(2, 1)", "0", "(1, 2, 1)"],
    "shift": ["1", "-1", "(1,)"], "source": ["0", "-1"], "destination": ["0", "-1"], "axis1": ["0", "1"], "axis2": ["1", "0"], "offset": ["1", "-1"],
    "a_min": ["0.8", "None"], "a_max": ["1.2", "None"], "min": ["0.8"], "max": ["1.2"], "pad_width": ["1", "(1, 2)", "0"], "q": ["0.3", "0.0", "1.0", "[0.2, 0.7]"],
    "method": ["'lower'", "'nearest'", "'weibull'"], "weights": ["y"], "returned": ["True"], "bins": ["3"], "range": ["(0.0, 2.0)"], "density": ["True"],
    "increasing": ["True"], "indices": ["[0]", "0", "[0, 1]", "[[0], [0]]", "np.array(0)"], "obj": ["0", "-1", "[0]"], "kth": ["0", "1"],
    "side": ["'right'"], "sorter": [], "prepend": ["0.5", "y"], "append": ["0.5", "y"], "to_end": ["y", "0.5"], "to_begin": ["y", "0.5"], "left": ["0.1"],
    "right": ["0.2"], "period": ["1.5"], "edge_order": ["2"], "base": ["2.0"], "endpoint": ["False"], "retstep": ["True"], "UPLO": ["'U'"], "upper": ["True"],
    "rcond": ["None"], "rtol": ["0.5"], "atol": ["0.5"], "hermitian": ["True"], "full_matrices": ["False"], "compute_uv": ["False"], "bias": ["True"],
    "rowvar": ["False"], "nan": ["0.5"], "posinf": ["2.0"], "neginf": ["-2.0"], "equal_nan": ["True"], "mode": ["'wrap'", "'clip'", "'same'", "'valid'"],
    "include_initial": ["True"], "axisa": ["0"], "axisb": ["0"], "axisc": ["0"], "dx": ["0.5"], "minlength": ["5"], "discont": ["2.0"], "indexing": ["'ij'"],
    "sparse": ["True"], "ord": ["None", "1", "2", "0", "np.inf", "-np.inf", "3", "'fro'", "'nuc'"], "correction": ["1"], "mean": ["0.5"], "norm": ["'ortho'"],
    "condition": ["w"], "mask": ["w"], "cond": ["w"], "start": ["0", "-1"], "axisb_": [], "full": [], "cov": [], "w": [], "fweights": [], "aweights": [],
    "ndmin": ["3", "1"], "ndmax": [], "wrap": [], "assume_unique": [], "invert": ["True"], "return_index": ["True"], "return_inverse": ["True"], "return_counts": ["True"],
    "overwrite_input": [], "interpolation": [], "kwargs": [], "extobj": [], "signature": [], "tol": [], "trim": [], "max_rank": [], "d": ["0.5"], "s": ["None"],
    "p": ["x"], "sorted": [], "number": [], "default": ["0.5"], "optimize": [], "beta": ["2.0"], "bool": [], "return_indices": [], "strict": [], "writeable": [],
}  # fmt: skip
#: values of parameters of some functions: whole calls where the function takes no arrays, or takes them otherwise
OWN: dict[str, dict[str, list[str]]] = {
    "np.percentile": {"q": ["30", "[10, 70]", "0", "100.0"]}, "np.nanpercentile": {"q": ["30", "[10, 70]"]}, "np.tensordot": {"axes": ["0", "1", "2", "((0,), (0,))"]},
    "np.squeeze": {"axis": ["0", "None"]}, "np.expand_dims": {"axis": ["0", "-1", "(0, 1)", "1"]}, "np.diff": {"n": ["2", "1", "0", "3", "4"]},
    "np.linalg.matrix_power": {"n": ["2", "0", "1", "-1", "3"]}, "np.select": {"condlist": ["[w]", "[w, ~w]"], "choicelist": ["[x]", "[x, y]"]},
    "np.piecewise": {"condlist": ["[w]", "w"], "funclist": ["[np.square]", "[np.square, 0.5]"]}, "np.put": {"ind": ["[0]", "[0, -1]"], "v": ["y", "0.5"]},
    "np.place": {"vals": ["y", "0.5"]}, "np.putmask": {"values": ["y", "0.5"]}, "np.fill_diagonal": {"val": ["0.5", "y"]}, "np.copyto": {"src": ["y", "0.5"]},
    "np.put_along_axis": {"indices": ["np.argsort(x, axis=0)"], "values": ["0.5", "y"], "axis": ["0"]}, "np.insert": {"values": ["0.5", "y"]},
    "np.take_along_axis": {"indices": ["np.argsort(x, axis=-1)"]}, "np.choose": {"a": ["w.astype(int)"], "choices": ["[x, y]"]},
    "np.searchsorted": {"a": ["np.sort(x)"], "v": ["y"]}, "np.digitize": {"x": ["x"], "bins": ["np.sort(y)"]}, "np.interp": {"x": ["x"], "xp": ["np.sort(y)"], "fp": ["y"]},
    "np.bincount": {"x": ["w.astype(int)"], "weights": ["x"]}, "np.apply_along_axis": {"func1d": ["np.sum", "np.cumsum", "lambda r: r if r[0] > 1 else np.array([1] * len(r))", "lambda r: 1 if r[0] > 1 else r[0]"], "axis": ["0"], "arr": ["x"]},
    "np.apply_over_axes": {"func": ["np.sum"], "a": ["x"], "axes": ["[0]", "[0, 1]"]}, "np.linspace": {"start": ["x"], "stop": ["y"], "num": ["3", "1", "0"]},
    "np.logspace": {"start": ["x"], "stop": ["y"], "num": ["3"]}, "np.geomspace": {"start": ["x"], "stop": ["y"], "num": ["3"]}, "np.full": {"fill_value": ["x", "0.5"]},
    "np.histogram": {"bins": ["3", "[0.5, 1.0, 2.0]"], "weights": ["x"]}, "np.linalg.multi_dot": {"arrays": ["[x, y]", "[x, y, x]"]}, "np.rollaxis": {"start": ["0", "1"]},
    "np.block": {"arrays": ["[x, y]", "[[x], [y]]"]}, "np.einsum": {"operands": ["'...i,...i', x, y", "'...i->...', x", "'ij->ji', x", "'ij,jk', x, y"]},
    "np.pad": {"mode": ["'edge'", "'reflect'", "'symmetric'", "'wrap'", "'mean'", "'linear_ramp'"]}, "np.convolve": {"mode": ["'same'", "'valid'", "'full'"]},
    "np.correlate": {"mode": ["'same'", "'valid'", "'full'"]}, "np.linalg.qr": {"mode": ["'r'", "'reduced'"]}, "np.cov": {"y": ["y"], "ddof": ["0", "1", "3"]},
    "np.trapezoid": {"y": ["x"], "x": ["y"], "dx": ["0.5", "y"]}, "np.unwrap": {"period": ["1.5"]}, "np.where": {"condition": ["w"], "x": ["x"], "y": ["y"]},
    "np.fromfunction": {"function": ["np.add"], "shape": ["(2, 3)"]}, "np.eye": {"N": ["3"]}, "np.arange": {"start_or_stop": ["3", "2.5"], "stop": ["5"], "step": ["2"]},
    "np.average": {"weights": ["y"]}, "np.reshape": {"shape": ["-1", "(-1, 1)", "(3,)", "(1, 3)"]}, "np.broadcast_to": {"shape": ["(2, 3)", "3", "()"]},
    "np.resize": {"new_shape": ["(2, 2)", "5", "0"]}, "np.gradient": {"varargs": ["0.5", "y"]}, "np.round": {"decimals": ["1", "-1"]}, "np.linalg.vector_norm": {"ord": ["1", "3", "0", "np.inf"]},
    "np.lib.stride_tricks.sliding_window_view": {"window_shape": ["2"]}, "np.vectorize": {"pyfunc": []}, "np.fromiter": {"iter": ["x"], "dtype": ["float"]},
    "np.ndindex": {"shape": []}, "np.ndenumerate": {"arr": []}, "np.compress": {"condition": ["[True]", "w"]}, "np.extract": {"condition": ["w"]},
    "np.transpose": {"axes": ["None", "(1, 0)", "(0, 1)", "(1, 2, 0)"]}, "np.roll": {"shift": ["1", "-2", "(1, 1)"]}, "np.linalg.tensordot": {"axes": ["0", "1", "2"]},
    "np.poly": {"seq_of_zeros": ["x"]}, "np.meshgrid": {"xi": ["x, y", "x"]}, "np.ix_": {"args": ["w", "[0, 1]"]}, "np.lexsort": {"keys": ["(x, y)", "x"]},
    "np.isin": {"element": ["x"], "test_elements": ["y"]}, "np.tri": {"N": ["3"]}, "np.linalg.lstsq": {"rcond": ["None"]}, "np.permute_dims": {"axes": ["(1, 0)"]},
}  # fmt: skip
#: parameters that take several arrays, as a sequence or one after the other
SEVERAL = {"arrays": "[x, y]", "tup": "[x, y]", "arys": "x", "xi": "x, y", "args": "x, y", "operands": "x, y"}
#: functions that write to their first argument
WRITING = frozenset({"np.put", "np.place", "np.putmask", "np.fill_diagonal", "np.copyto", "np.put_along_axis"})
#: functions that draw, read files, iterate, or are classes
NOT_CALLED = frozenset(
    {"np.empty", "np.empty_like", "np.indices", "np.vectorize", "np.ndindex", "np.ndenumerate", "np.fromiter", "np.linalg.eig"}
)
MODULES = {"np": np, "np.linalg": np.linalg, "np.fft": np.fft, "np.lib.stride_tricks": np.lib.stride_tricks}


# ------------------------------------------------------------------ which calls there are


@cache
def functions() -> dict[str, Any]:
    """NumPy's functions that the tables know, by the text that names them; of several names of one the first."""
    known: dict[str, Any] = {}
    for table in (CALLABLES, COMPOSED, SPECIAL):
        for function in table:
            name = getattr(function, "__name__", "")
            for module, where in MODULES.items():
                if vars(where).get(name) is function and not isinstance(function, type) and f"{module}.{name}" not in NOT_CALLED:
                    known.setdefault(f"{module}.{name}", function)
                    break
    return known


def parameters(name: str, function: Any) -> list[inspect.Parameter]:
    """The parameters of a function; of a ufunc its operands alone."""
    if isinstance(function, np.ufunc):
        return [inspect.Parameter(f"x{k}", inspect.Parameter.POSITIONAL_ONLY) for k in range(function.nin)]
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return []


@dataclass(frozen=True)
class Slot:
    """One parameter with the texts that are given for it."""

    name: str
    texts: tuple[str, ...]
    required: bool
    by_position: bool
    default: Any = None


def slots(name: str, function: Any) -> list[Slot]:
    """The parameters of a function with values; required ones without values of their own are arrays, in turn."""
    letters = iter("xyzv")
    own = OWN.get(name, {})
    result = []
    for p in parameters(name, function):
        if p.kind is p.VAR_KEYWORD:
            continue
        spread = p.kind is p.VAR_POSITIONAL
        required = p.default is p.empty and (not spread or p.name in SEVERAL)
        if p.name in own:
            texts = own[p.name]
        elif p.name in SEVERAL:
            texts = [SEVERAL[p.name]]
        elif p.name in VALUES and not (
            required
            and p.name in ("x", "y", "p", "n", "k", "mean", "d", "s")
            and name not in ("np.linalg.matrix_power", "np.identity", "np.fft.fftfreq", "np.fft.rfftfreq")
        ):
            texts = VALUES[p.name]
        elif required:
            texts = [next(letters)]
        else:
            texts = ["y"]
        if required and len(texts) == 1 and texts[0] == "x":
            letters = iter("yzv")
        result.append(Slot(p.name, tuple(texts), required, p.kind is not p.KEYWORD_ONLY, None if required else p.default))
    return result


def call_texts(name: str, function: Any) -> Iterator[str]:
    """The calls of a function: the first arguments alone, then with each other value of each parameter."""
    slots_of = slots(name, function)
    first = [s for s in slots_of if s.required]
    if any(not s.texts for s in first):
        return
    base = [s.texts[0] for s in first]
    yield f"{name}({', '.join(base)})"
    for k, s in enumerate(first):
        for text in s.texts[1:]:
            yield f"{name}({', '.join([*base[:k], text, *base[k + 1 :]])})"
    for s in slots_of:
        if s.required:
            continue
        for text in s.texts:
            if s.name != "varargs":
                yield f"{name}({', '.join([*base, f'{s.name}={text}'])})"
            before = [t for t in slots_of if not t.required and t.by_position]
            if s.by_position and s in before:
                between = [repr(t.default) for t in before[: before.index(s)]]
                if all("<" not in b for b in between):
                    yield f"{name}({', '.join([*base, *between, text])})"


# ------------------------------------------------------------------ which arguments


@dataclass
class Case:
    """A call and its arguments: ``x`` and ``y`` arrays, ``w`` a mask of the shape of ``x``, ``s`` a float."""

    text: str
    shapes: tuple[tuple[int, ...], tuple[int, ...]]
    dtypes: tuple[str, str] = ("f64", "f64")
    arguments: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        x, y = (values(shape, dtype, 3 * k).copy() for k, (shape, dtype) in enumerate(zip(self.shapes, self.dtypes, strict=True)))
        mask = np.arange(x.size).reshape(x.shape) % 2 == 0
        self.arguments = {"x": x, "y": y, "z": y[::-1].copy() if y.ndim else y.copy(), "v": x.copy(), "w": mask, "s": 0.7}

    def __str__(self) -> str:
        x, y = self.shapes
        return f"{self.text} of {self.dtypes[0]}{list(x)}, {self.dtypes[1]}{list(y)}"


def cases_of(text: str, first: bool) -> Iterator[Case]:
    """A call over shapes and dtypes; ``first``: more of them."""
    names = {n for n in "xyz" if f"{n}" in words(text)}
    two = len(names) > 1 or "y" in names
    shapes = TWO if two else [(shape, (3,)) for shape in ONE]
    for pair in shapes if first else shapes[:FIRST]:
        yield Case(text, pair)
    for pair in [((3,), (3,)), ((3, 3), (3, 3))] if first else [((3,), (3,))]:
        for dtype in DTYPES:
            yield Case(text, pair, (dtype, dtype))
            if two and first:
                yield Case(text, pair, (dtype, "f64"))
                yield Case(text, pair, ("f64", dtype))


def words(text: str) -> set[str]:
    """The names in an expression."""
    return set(re.findall(r"\w+", text))


@cache
def cases() -> list[Case]:
    """Every call with its arguments."""
    selected = []
    for name, function in functions().items():
        texts = list(dict.fromkeys(call_texts(name, function)))
        for k, text in enumerate(texts):
            selected += list(cases_of(text, k == 0))
    return selected


# ------------------------------------------------------------------ judging

#: functions that have no derivative where what they measure is zero, as a standard deviation of one number
KINKS = re.compile(r"np\.(nan)?std\(|np\.linalg\.\w*norm\(|np\.corrcoef\(")


def source_of(text: str) -> str:
    """A function that returns what a call gives, and a float."""
    name = text.partition("(")[0]
    body = f"made = {text}" if name not in WRITING else f"made = x.copy(){chr(10)}    {text.replace('(x', '(made', 1)}"
    return f"import numpy as np\ndef f(x, y, z, v, w, s):\n    {body}\n    return made, 2.0 * s\n"


def judged(case: Case) -> tuple[str, str]:
    """What becomes of a call."""
    return against_numpy.judged(against_numpy.function_of(source_of(case.text)), case.arguments, bool(KINKS.match(case.text)))


__all__ = ["Case", "cases", "functions", "judged"]
