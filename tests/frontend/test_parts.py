"""Parts of arrays that do not exist: the exception is raised where Python raises it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plainly import verdict

#: parts of an array of three rows and four columns; i is 1, or 7
PARTS = ("m[i]", "m[:, i]", "m[i, 1:]", "m.T[i]", "m[::-1][i]", "m[int(np.argmax(m)) + i - 1]", "m[i - 9]")
USES = {
    "unread": "v = {}\nreturn np.sum(m)",
    "statement": "{}\nreturn np.sum(m)",
    "length": "return np.sum(m) * len({})",
    "extent": "return np.sum(m) * {}.shape[0]",
    "length of new": "return np.sum(m[0]) * np.sum(np.ones(len({}), dtype=np.int32))",
    "rank": "return np.sum(m) * {}.ndim",
    "in a list": "v = [{}, m[0]]\nreturn np.sum(m) * len(v)",
    "view of view": "v = {}[::2]\nreturn np.sum(m)",
    "one path": "v = m[0]\nif np.sum(m) > 0:\n    v = {}\nreturn np.sum(m)",
    "read": "v = {}\nreturn np.sum(v * v)",
    "read after a store": "v = {}\nm[0, 0] = 2.0\nreturn np.sum(np.sin(v))",
    "stored to": "v = {}\nv[0] = 2.0\nreturn np.sum(np.sin(m))",
    "in a loop": "s = 0.0\nfor k in range(2):\n    v = {}\n    s += m[k, k]\nreturn s",
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_not_there_raises(part: str, use: str) -> None:
    text = "def f(m, i):\n" + "".join(f"    {line}\n" for line in USES[use].format(part).splitlines())
    m = np.array([[0.3, 1.2, -0.7, 2.0], [1.4, -0.2, 0.6, 0.1], [0.5, -1.1, 0.9, 0.8]])
    for i in (1, 7):
        assert verdict(text, [m, i], stores=False) in ("right", "raises", "refused")
