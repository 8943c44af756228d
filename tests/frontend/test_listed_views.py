"""Arrays in lists that share memory with others and are written to: correct, or refused.

Against plain Python.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.against_numpy import function_of, judged

VIEWS = ("np.diag(a)", "np.diagonal(a)", "np.diag(a)[1:]", "a.ravel()", "a[0]", "a.T[0]", "a[1:]", "a", "a.copy()", "np.reshape(a, -1)",
         "np.asarray(a)", "np.broadcast_to(a[0], (2, 3))")  # fmt: skip
WAYS = {
    "literal": "l = [V]",
    "appended": "l = []\nl.append(V)",
    "appended in a loop": "l = []\nfor _ in range(n):\n    l.append(V)",
    "appended in a loop by name": "d = V\nl = []\nfor _ in range(n):\n    l.append(d)",
    "stored in a loop": "l = [np.zeros(3)] * 3\nfor i in range(n):\n    l[i] = V",
    "comprehension": "l = [V for _ in range(n)]",
    "extended": "l = []\nfor _ in range(n):\n    l.extend([V])",
    "added": "l = []\nfor _ in range(n):\n    l = l + [V]",
    "inserted": "l = [np.zeros(3)]\nfor _ in range(n):\n    l.insert(0, V)",
    "in a branch": "l = []\nfor _ in range(n):\n    if x > 0.0:\n        l.append(V)",
    "in tuples": "l = []\nfor _ in range(n):\n    l.append((V, x))\nl = [p[0] for p in l]",
    "dict": "l = [{'v': V}['v'] for _ in range(n)]",
}
STORES = ("a[0, 1] += 1.0", "a *= 0.5", "a[1:] = x")


@pytest.mark.sweep(30)
@pytest.mark.parametrize(("view", "way", "store"), list(product(VIEWS, WAYS, STORES)), ids=str)
def test_what_a_list_holds_after_a_store(view: str, way: str, store: str) -> None:
    body = f"{WAYS[way].replace('V', view)}\n{store}\nreturn np.sum(np.sin(a * 0.2)) - 0.3 * np.sum(l[0] * l[0]) * x"
    text = "import numpy as np\ndef f(a, x, n):\n    a = a * 1.5\n" + "".join(f"    {line}\n" for line in body.splitlines())
    verdict = judged(function_of(text), {"a": np.sin(np.arange(1.0, 10.0)).reshape(3, 3), "x": 0.7, "n": 3})
    assert verdict[0] in ("right", "refused", "not taken"), (text, verdict)


def test_the_diagonal_of_a_matrix_is_read_only() -> None:
    """As NumPy's is, whatever function gives it."""
    for text in ("np.diag(a)", "np.diagonal(a)", "a.diagonal()"):
        source = f"import numpy as np\ndef f(a):\n    d = {text}\n    d[0] = 1.0\n    return np.sum(d)\n"
        with pytest.raises(UnsupportedSyntax, match="this array or view is read-only"):
            symgrad.grad(function_of(source))(np.ones((3, 3)))
