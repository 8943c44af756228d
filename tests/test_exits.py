"""Each gradient has the form of its argument and memory of its own; a fault is detected on exit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR
from symgrad.exits import Exit

X = np.array([[0.7, -1.3, 2.1], [0.4, 1.6, -0.2]])


#: calls that lay out anew what they are given, so that their cotangents may be the seed itself
LAYOUTS = """np.concatenate(x)|np.concatenate(x, axis=0)|np.concatenate([x])|np.einsum('ij->ji', x)|np.einsum('ij->ij', x)|np.stack(x)|np.stack([x])[0]
x.T|x.reshape(3, 2)|x.ravel()|x|x[:]|x[None]|np.expand_dims(x, 1)|np.squeeze(x)|np.moveaxis(x, 0, 1)|np.asarray(x)|np.atleast_2d(x)|np.flip(x)
np.broadcast_to(x, (2, 3))|np.split(x, 1)[0]|np.array_split(x, 1)[0]|np.hstack([x])|np.vstack(x)|np.append(x, x[:0], axis=0)|np.tile(x, 1)|np.repeat(x, 1)
np.take(x, [0, 1], axis=0)|np.compress([True, True], x, axis=0)|np.pad(x, 0)|np.roll(x, 0)|np.real(x)|x.copy()|np.positive(x)|x + 0|x * 1|np.swapaxes(x, 0, 1)
np.diagonal(x)|np.unstack(x)[0]|np.rollaxis(x, 1)|np.matrix_transpose(x)|np.permute_dims(x, (1, 0))|np.block([x])|np.column_stack([x])|np.dstack([x])|x.flatten()
(x, x)|[x, x.T]|(x[0], x[1])|{'a': x, 'b': x}|list(x)|tuple(x)|[tuple(x)]|(tuple(x), x)|{'k': tuple(x)}|tuple(x)[::-1]|tuple(r for r in x)|(x[0],) + tuple(x)|np.where(True, x, 0.0)|np.maximum(x, x)|np.fmax(x, -9.0)|np.nan_to_num(x)|np.sort(x[0])""".split(
    "|"
)
EXPRESSIONS = [e for part in LAYOUTS for e in part.splitlines()]


def ones(tree: Any) -> Any:
    """A seed for a result."""
    if isinstance(tree, dict):
        return {k: ones(v) for k, v in tree.items()}
    return type(tree)(ones(v) for v in tree) if isinstance(tree, tuple | list) else np.full_like(tree, 0.5)[()]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients_have_memory_of_their_own(expression: str, both: bool) -> None:
    if ("unstack" in expression or "matrix_transpose" in expression or "permute_dims" in expression) and not hasattr(np, "unstack"):
        pytest.skip("not in this version of NumPy")
    body = f"made = {expression}\n    return {'(made, y)' if both else 'made'}"
    f = symgrad.from_source(f"import numpy as np\ndef f(x, y):\n    {body}\n", "f")
    out, pullback = symgrad.vjp(f, X.copy(), X.copy())  # raises where a gradient is not in order
    seed = ones(out)
    gradients = pullback(seed)

    gradients[0][...] = 9.0
    again = pullback(ones(out))

    assert all(g.flags.writeable for g in again)
    assert not np.any(again[0] == 9.0)


def held(**arguments: Any) -> Exit:
    return Exit(arguments, tuple(arguments), True)


FAULTS: list[tuple[str, Any, Any, Any, Any]] = [
    ("shares memory with the argument x", X, X.T.T, None, None),
    ("shares memory with the seed", X, X.T.T, None, "gradient"),
    ("shares memory with the value", X, X.copy(), "gradient", None),
    ("is float32[2, 3], not float64[2, 3]", X, X.astype(np.float32), None, None),
    ("is float64[3, 2], not float64[2, 3]", X, X.T.copy(), None, None),
    ("is float64, not an array", np.array(1.0), np.float64(1.0), None, None),
    ("is ndarray, not a number", 1.0, np.array(1.0), None, None),
    ("is int, not a number", 1.0, 3, None, None),
    ("is int64, not a number", 1.0, np.int64(3), None, None),
    ("is float32, not float", 1.0, np.float32(3.0), None, None),
    ("is float64, not float32", np.float32(1.0), np.float64(3.0), None, None),
    ("is float, not float32", np.float32(1.0), 3.0, None, None),
    ("is complex, not float", 1.0, 3.0 + 0j, None, None),
    ("is float, not complex", 1j, 3.0, None, None),
    ("cannot be written to", X, np.broadcast_to(1.0, (2, 3)), None, None),
]  # fmt: skip


@pytest.mark.parametrize(("said", "argument", "gradient", "value", "seed"), FAULTS, ids=[f[0] for f in FAULTS])
def test_faults_are_told(said: str, argument: Any, gradient: Any, value: Any, seed: Any) -> None:
    held_ = held(x=argument.copy() if said.startswith("shares memory with the s") else argument)
    with pytest.raises(InvalidIR, match="the gradient of x") as caught:
        held_.check(gradient, gradient if value else None, gradient if seed else None)

    assert said in str(caught.value)


def test_gradients_that_share_memory_with_each_other_are_told() -> None:
    whole = np.ones((2, 3))
    with pytest.raises(InvalidIR, match="share memory"):
        Exit({"x": [X, X.copy()]}, ("x",), True).check([whole, whole[:]], None)


def test_structures_are_gone_through() -> None:
    arguments = {"p": {"w": X, "b": [1.5, np.ones(2)], "name": "model"}}
    Exit(arguments, ("p",), True).check({"w": X.copy(), "b": [0.5, np.ones(2)], "name": None}, None)
    with pytest.raises(InvalidIR, match=r"p\['b'\]\[1\]"):
        Exit(arguments, ("p",), True).check({"w": X.copy(), "b": [0.5, np.ones(3)], "name": None}, None)


def test_nothing_is_looked_at_without_the_switch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("symgrad.exits.checked", lambda: False)

    def square(x: Any) -> Any:
        return x * x

    derivative = symgrad.grad(square)
    derivative(2.0)

    assert type(derivative).__call__.__name__ == "guard"
    assert not hasattr(type(derivative).__call__, "__wrapped__")
