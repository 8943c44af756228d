"""Methods of ufuncs over axes, indices and settings, compared with NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

UFUNCS = "add multiply subtract divide maximum minimum fmax fmin hypot logaddexp power arctan2 fmod".split()
#: ufuncs that several axes may be reduced with at once
REORDERED = "add multiply maximum minimum fmax fmin hypot logaddexp".split()
#: NumPy's own ``reduce`` and ``reduceat`` of these are not one element after the other, and depend on the layout
BY_LAYOUT = "power arctan2".split()
ARGUMENTS = {"x": np.linspace(0.4, 2.0, 12).reshape(2, 3, 2)[:, ::-1] * 1.0, "v": np.array([1.3, 0.7, 1.9]), "s": 0.6}

REDUCED = """{0}.reduce(x)|{0}.reduce(x, -1)|{0}.reduce(x[0], 1, None, None, True)|{0}.reduce(x[:, :0], axis=0)|{0}.reduce(v)|{0}.reduce(x, dtype=float)|
{0}.reduce(x, initial=0.7)|{0}.reduce(x, 1, None, None, False, s)|{0}.reduce(x, axis=1, where=x > 0.8, initial=1.5)|{0}.reduceat(v, [0, 2])|
{0}.reduceat(v, [0, 2, 1, 1])|{0}.reduceat(x, [1, 0], axis=1)|{0}.reduceat(x, np.array([0, 1]), -1)"""
MORE = "{0}.reduce(x, axis=None)|{0}.reduce(x, (0, 2))|{0}.reduce(x, axis=(-1, 0), keepdims=True)"
RUNNING = "{0}.accumulate(v)|{0}.accumulate(x, 1)|{0}.accumulate(x, axis=-1)|{0}.accumulate(x[:, :0], 1)|{0}.outer(v, x[0])|{0}.outer(s, v)"
STORES = """{0}.at(y, ([0, 1, 0], [1, 1, 1]), s)|{0}.at(y, (slice(None), 1), x[0] + 1)|{0}.at(y, slice(0, 1), v[:2])|{0}.at(y, 1, 0.5)|{0}.at(y, x > 1.1, s)|
{0}.at(y, [1, 1, 0], x[:1] + 1)|{0}.at(y[0, :, 1], [0, 2, 0], v)|{0}.at(y, (Ellipsis, [1, 1]), 1.5)|{0}.at(y[0, 1], slice(0, 2), v[1:])"""
UNARY = "negative exp sqrt square absolute reciprocal".split()
OF_ONE = "{0}.at(y, [0, 0])|{0}.at(y[0, :, 0], [2, 0, 2])|{0}.at(y, (0, slice(1, 3)))|{0}.at(y, x > 1.1)"


def calls() -> list[str]:
    """All calls, as bodies of functions."""
    bodies = []
    for name in UFUNCS:
        reduced = [] if name in BY_LAYOUT else REDUCED.split("|") + (MORE.split("|") if name in REORDERED else [])
        bodies += [f"return {text.strip().format(f'np.{name}')}" for text in [*reduced, *RUNNING.split("|")]]
        bodies += [f"y = x * 1.0; {text.strip().format(f'np.{name}')}; return y * v[0]" for text in STORES.split("|")]
    for name in UNARY:
        bodies += [f"y = x * 1.0; {text.format(f'np.{name}')}; return y * v[0]" for text in OF_ONE.split("|")]
    return bodies


@pytest.mark.sweep(9)
@pytest.mark.parametrize("body", calls())
def test_methods_of_ufuncs_are_numpys(body: str) -> None:
    verdict, words = judged(function_of(f"import numpy as np\ndef f(x, v, s):\n    {body}"), ARGUMENTS)
    assert verdict in ("right", "not taken"), words


@pytest.mark.parametrize("call", ["np.subtract.reduce(x, axis=(0, 1))", "np.power.reduce(v)", "np.divide.reduce(x, where=x > 1.0)"])
def test_what_has_no_one_answer_is_refused(call: str) -> None:
    function = function_of(f"import numpy as np\ndef f(x, v, s):\n    return {call}")
    assert judged(function, ARGUMENTS)[0] in ("refused", "not taken")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("dtype", ["bool", "i1", "u1", "i8", "f4"])
@pytest.mark.parametrize("name", ["subtract", "hypot", "fmax", "logaddexp", "divide", "logical_xor", "bitwise_or"])
def test_results_have_numpys_dtypes(name: str, dtype: str) -> None:
    arguments = {"i": np.array([[3, 1, 2], [4, 5, 1]]).astype(dtype), "x": np.ones(3)}
    for call in (f"np.{name}.reduce(i) * x", f"np.{name}.reduce(i, 1)[0] * x", f"np.{name}.accumulate(i, 1) * x"):
        verdict, words = judged(function_of(f"import numpy as np\ndef f(i, x):\n    return {call}"), arguments)
        assert verdict in ("right", "not taken") or name == "bitwise_or" and verdict == "refused", (call, words)


def test_ufuncs_with_a_mask_keep_integers() -> None:
    body = "z = np.full_like(x, 7.0); np.ldexp(x, k, out=z, where=x > 1.0); np.add(x, 1.0, out=(z,), where=x < 0.9); return z * x"
    arguments = {"x": np.array([0.5, 1.5, 2.5, 0.95]), "k": np.array([1, -1, 2, 3])}
    assert judged(function_of(f"import numpy as np\ndef f(x, k):\n    {body}"), arguments)[0] == "right"
