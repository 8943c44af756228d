"""Unusual arguments of NumPy's functions: orders, dtypes, counts and axes, on both targets."""

from __future__ import annotations

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

ORDERS = """np.array(x, order=@)|np.copy(x, order=@)|np.copy(x, @)|x.copy(order=@)|x.copy(@)|np.asarray(x, order=@)|np.zeros((2, 3), order=@) + x|np.ones((2, 3), order=@) * x
np.full((2, 3), s, order=@)|np.zeros_like(x, order=@) + x|np.ones_like(x, order=@) * x|np.full_like(x, s, order=@)|np.ravel(x, @)|x.ravel(@)|x.ravel(order=@)|x.flatten(@)
np.reshape(x, (3, 2), order=@)|x.reshape(3, 2, order=@)|x.reshape((3, 2), order=@)|np.reshape(x, -1, order=@)|x.reshape(-1, 2, order=@)|np.reshape(x.T, (3, 2), @)
x.astype(float, order=@)|x.astype(np.float32, order=@)|np.add(x, s, order=@)|np.require(x, None, @)|np.require(x, requirements=@)"""
OTHERS = """np.asfortranarray(x)|np.asfortranarray(x * s)|np.require(x)|np.asarray(a=x)|np.array(object=x)|x.astype(float, copy=False)|np.astype(x, np.float64, copy=False)
x.astype(np.float32, copy=False)|np.add(x, s, dtype=float)|np.multiply(x, x, dtype=np.float64)|np.sin(x, dtype=np.float64)|np.exp(x, dtype='f8')|np.zeros_like(x, shape=(3,)) + x
np.ones_like(x, shape=3) * x|np.full_like(x, 2.0, shape=3) * x|np.nanmedian(x, 0)|np.nanmedian(x, axis=1)|np.nanmedian(x, axis=1, keepdims=True)|np.rot90(x, 0)|np.rot90(x, 2)|np.rot90(x, -1)
np.rot90(x, 3)|np.rot90(x, k=1, axes=(1, 0))|np.rot90(x[None], 1, (1, 2))|np.polyder(x[0], 2)|np.polyder(x[0], m=0)|np.polyint(x[0], 2)|np.polyint(x[0], k=s)|np.polyint(x[0], 1, s)
np.apply_over_axes(np.sum, x, 1)|np.apply_along_axis(lambda r, a: r * a, 0, x, s)|np.diff(x, n=0)|np.diff(x, n=5)|np.diff(x, n=4, axis=0)|np.linalg.norm(x, -1)|np.linalg.norm(x, 1, axis=(0, 1))
np.linalg.norm(x, np.inf, axis=(1, 0))|np.linalg.matrix_norm(x, ord=1)|np.linalg.matrix_norm(x[None], ord=np.inf)|np.linalg.norm(x[None], 1, (1, 2), True)|np.kron(x, [1.0, s])"""
LINES = "\n".join([ORDERS.replace("@", repr(order)) for order in "CF"] + [OTHERS]).replace("\n", "|").split("|")
STORES = ("pass", "y[...] = y * s\n    x = x * y.sum()", "y[..., 0] = s", "z = x\n    y *= s\n    x = z + y.sum()")
X = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.2]])


@pytest.mark.sweep(5)
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("text", LINES)
def test_what_else_a_function_takes(text: str, store: str) -> None:
    source = f"import numpy as np\ndef f(x, s):\n    x = x * 1.0\n    y = {text}\n    {store}\n    return y, x\n"
    verdict = judged(function_of(source), {"x": X.copy(), "s": 0.8})
    assert verdict[0] in ("right", "not taken") or store != "pass" and verdict[0] == "refused", (source, verdict)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("text", LINES)
def test_what_else_a_function_takes_in_kernels(text: str) -> None:
    verdict = judged(function_of(f"import numpy as np\ndef f(x, s):\n    return ({text}) * s\n"), {"x": X.copy(), "s": 0.8}, jit="auto")
    assert verdict[0] in ("right", "not taken"), (text, verdict)
