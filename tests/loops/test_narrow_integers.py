"""Narrow integers, which wrap in NumPy and grow in numba: kernels give NumPy's results, or leave the call."""

from __future__ import annotations

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

PRODUCTS = """np.outer(i, i)|np.einsum('i,j->ij', i, i)|np.tensordot(i, i, 0)|np.multiply.outer(i, i)|i[:, None] * i|np.dot(i[:, None], i[None])|np.kron(i[:, None], i)|
np.outer(i, i).T|np.outer(i, i)[::-1]|np.tile(i, (4, 1)) + i|np.stack([i, i, -i, i])|np.einsum('ij->ji', np.outer(i, i))|np.broadcast_to(i, (4, 4))|np.diag(i)"""
USES = "{0} @ x|np.dot(x, {0})|np.einsum('ij,j->i', {0}, x)|np.sum({0} * x, axis=1)|np.einsum('ij,j,i->', {0}, x, x)|x @ ({0} @ x)|({0} @ i) * x|np.sum({0}) * x"


@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.sweep(23)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32"])
@pytest.mark.parametrize("use", USES.split("|"))
@pytest.mark.parametrize("product", [p.strip() for p in PRODUCTS.split("|")])
def test_narrow_integers_wrap_in_kernels(product: str, use: str, dtype: str) -> None:
    arguments = {"x": np.linspace(0.3, 1.0, 4), "i": np.array([1, 100, 3, 120], dtype) * (30_000 if dtype == "int32" else 1)}
    verdict, words = judged(function_of(f"import numpy as np\ndef f(x, i):\n    return {use.format(product)}"), arguments, jit=True)
    assert verdict == "right", words
