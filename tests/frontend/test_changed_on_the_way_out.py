"""State changed by handlers and ``finally``: it differs between the paths with and without an exception."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from plainly import function_of

import symgrad

#: what is there before the block, what changes it, and what is read of it afterwards
CHANGES = {
    "list": ("v = [np.sin(x), np.cos(x)]", "v[-1] = np.tanh(x)", "np.sum(v[0] * v[1])"),
    "longer list": ("v = [np.sin(x)]", "v.append(np.tanh(x))", "np.sum(v[-1])"),
    "dict": ("v = dict(a=np.sin(x), b=x[0])", "v['a'] = np.tanh(x) * v['b']; v['b'] = x[1] ** 2", "np.sum(v['a']) * v['b']"),
    "list in a list": ("v = [[np.sin(x), x], x[1]]", "v[0][0] = v[0][1] * v[1]; v[1] = x[0]", "np.sum(v[0][0]) * v[1]"),
    "array": ("v = np.sin(x)", "v[0] = x[1] ** 2", "np.sum(v ** 2)"),
    "array in a list": ("u = np.sin(x); v = [u, x]", "v[0][0] = x[1] ** 2; v[1] = u * 2", "np.sum(v[0] * v[1]) + u[0]"),
}
# fmt: off
#: blocks of which the ways out hold the change on one of them or on both
BLOCKS = {
    "finally": ["try:", "    y = x[k] * 2", "finally:", "    {change}"],
    "finally behind two": ["try:", "    if x[k] > 0.1:", "        y = x[k + 1] * 2", "finally:", "    {change}"],
    "handler": ["try:", "    y = x[k] * x[k + 1]", "except IndexError:", "    {change}"],
    "body": ["try:", "    {change}", "    y = x[k] * 2", "except IndexError:", "    y = x[0] ** 3"],
    "else": ["try:", "    y = x[k] * x[k + 1]", "except IndexError:", "    y = x[0] ** 3", "else:", "    {change}"],
    "raised again": ["try:", "    y = x[k] * x[k + 1]", "    {change}", "except IndexError:", "    y = x[0] ** 3", "    raise"],
    "finally in try": ["try:", "    try:", "        y = x[k] * 2", "    finally:", "        {change}", "except IndexError:", "    y = x[0] ** 3"],
    "edge outside": [
        "try:", "    y = x[k] * 2", "    try:", "        y = x[k + 1] * y", "    finally:", "        {change}",
        "except IndexError:", "    y = x[0] ** 3",
    ],
    "two finallies": ["try:", "    try:", "        y = x[k] * 2", "        {change}", "    finally:", "        z = 1.0", "finally:", "    x[2] = z"],
    "three finallies": [
        "try:", "    try:", "        try:", "            {change}", "            y = x[k] * 2", "        finally:", "            z = y",
        "    finally:", "        x[2] = 1.0", "finally:", "    x[1] = 2.0 * x[2]",
    ],
    "loop": ["for j in range(2):", "    try:", "        y = x[k + j] * 2", "    finally:", "        {change}"],
}
# fmt: on
#: what reads it
ENDS = {
    "return": ["return y * ({read})"],
    "branch": ["if x[0] > 0.5:", "    return y", "return y * ({read})"],
}


def text_of(change: str, block: str, end: str) -> str:
    before, changed, read = CHANGES[change]
    lines = ["y = x[0]", before, *BLOCKS[block], *ENDS[end]]
    return "import numpy as np\n\n\ndef f(x, k):\n" + "".join(f"    {line.format(change=changed, read=read)}\n" for line in lines)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("k", [0, 5])
@pytest.mark.parametrize("case", list(itertools.product(CHANGES, BLOCKS, ENDS)), ids=" - ".join)
def test_each_way_goes_on_with_what_it_holds(case: tuple[str, str, str], k: int) -> None:
    f = function_of(text_of(*case))
    x = np.array([0.3, 0.7, 0.4])
    try:
        expected = f(x.copy(), k)
    except IndexError:
        with pytest.raises(IndexError):
            symgrad.value_and_grad(f, wrt=0)(x.copy(), k)
        return
    value, gradient = symgrad.value_and_grad(f, wrt=0)(x.copy(), k)
    assert value == pytest.approx(expected, rel=1e-14)
    slopes = [(f(x + 1e-6 * one, k) - f(x - 1e-6 * one, k)) / 2e-6 for one in np.eye(3)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-8)
