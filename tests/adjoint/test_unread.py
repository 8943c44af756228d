"""Elements that ``where`` does not choose have gradient zero, even where their slope is infinite."""

from itertools import product

import numpy as np
import pytest

import symgrad
from symgrad.testing import check_grads
from tests.against_numpy import function_of, judged

STEEP = """np.sqrt(x)|1 / x|x / x|np.log(x)|x**0.5|np.arcsin(1 - x)|x / (x * s)|np.power(x, -0.5)|s / x|np.hypot(x, 0.0 * x)|np.cbrt(x) * x
np.log1p(x - 1)|np.sqrt(x * s) / x|np.arctanh(1 - x)|np.divide(s, x)|np.reciprocal(x)|x * s / x.sum(0)|np.logaddexp(1 / x, s)
np.linalg.norm(x[..., None], axis=-1)|np.std(np.stack([x, -x]), axis=0)|np.std(np.stack([x, -x]), axis=0) ** 2 / x|v / x|x[0] / x[1]
np.prod(np.stack([x, 1 / x]), axis=0)|np.max(np.stack([x, np.sqrt(x)]), axis=0)""".replace("\n", "|").split("|")
MOVES = """@|@[:, None]|@.T|@.ravel()|np.reshape(@, (1, -1))|@[::-1]|np.flip(@, 1)|np.roll(@, 1)|np.concatenate([@, @])|np.stack([@, @], 1)
np.repeat(@, 2)|np.tile(@, 2)|@[1:]|@[:, [1, 0, 1]]|np.squeeze(@[None])|@.swapaxes(0, 1)|np.moveaxis(@, 0, 1)|np.take(@, [0, 1], 1)|@.copy()
np.broadcast_to(@, (2, *@.shape))|np.expand_dims(@, 1)|np.diagonal(@[:2, :2])|np.atleast_3d(@)|@.flatten()|np.pad(@, 1)|@[0, 1]|np.tril(@)""".replace(
    "\n", "|"
).split("|")
#: of what is broadcast or summed a whole row is chosen or not
SUMS = """np.sum(@, axis=1)|np.sum(@, axis=1, keepdims=True)|np.mean(@, axis=1)|np.sum(@)|np.cumsum(@, 1)|@.sum(1)[:, None] * x0|np.prod(@, 1)""".split(
    "|"
)
VECTOR = "x[0] / x[1]"  #: the one of them that has another shape than ``x``
X = np.array([[0.7, 0.0, 1.3], [0.4, 0.9, 0.0]])
ROWS = np.array([[0.7, 0.3, 1.3], [0.0, 0.0, 0.0]])


def arguments(x: np.ndarray, chosen: np.ndarray) -> dict[str, object]:
    return {"x": x.copy(), "c": chosen, "s": 1.3, "v": np.array([0.4, -0.7, 0.6]), "x0": np.array([1.1, 0.6, -0.8])}


def held(source: str, argument: dict[str, object], jit: object) -> None:
    verdict = judged(function_of(source), argument, jit=jit)
    if verdict[0] == "not taken" and VECTOR in source:
        pytest.skip("a vector that NumPy does not move in this way, or does not broadcast to what is chosen")
    assert verdict[0] == "right", (source, verdict)


@pytest.mark.sweep(44)
@pytest.mark.parametrize(("steep", "move", "jit"), [(s, m, k % 9 == 4) for k, (s, m) in enumerate(product(STEEP, MOVES))])
def test_elements_that_were_moved(steep: str, move: str, jit: bool) -> None:
    chosen = move.replace("@", "c").replace("c.T", "np.transpose(c)")
    source = f"import numpy as np\ndef f(x, c, s, v, x0):\n    y = {steep}\n    return np.sum(np.where({chosen}, {move.replace('@', 'y')} * s, 0.5))\n"
    held(source, arguments(X, X > 0), jit)


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("steep", "total", "jit"), [(s, t, k % 9 == 4) for k, (s, t) in enumerate(product(STEEP[:-3], SUMS))])
def test_sums_of_which_none_is_chosen(steep: str, total: str, jit: bool) -> None:
    chosen = "np.all(c)" if total == "np.sum(@)" else "c[:, None]" if "keepdims" in total or "[:, None]" in total else "c"
    chosen = "np.reshape(c, (2, 1))" if "cumsum" in total else chosen
    source = f"import numpy as np\ndef f(x, c, s, v, x0):\n    y = {steep}\n    return np.sum(np.where({chosen}, {total.replace('@', 'y')} * s, 0.5))\n"
    held(source, arguments(ROWS, np.array([True, False])), jit)


@pytest.mark.sweep(29)
@pytest.mark.parametrize(("steep", "move", "jit"), [(s, m, k % 9 == 4) for k, (s, m) in enumerate(product(STEEP, MOVES))])
def test_branches_that_are_not_taken(steep: str, move: str, jit: bool) -> None:
    """What is stored cannot be reversed on one side alone."""
    moved = move.replace("@", "y")
    lines = [f"y = {steep}", f"m = np.zeros(np.shape({moved}))", f"m[...] = {moved}", "r = 0.5 * s", "if s > 3:", "    r += np.sum(m * s)"]
    source = "import numpy as np\ndef f(x, c, s, v, x0):\n    " + "\n    ".join(lines) + "\n    return r\n"
    held(source, arguments(X, X > 0), jit)


def test_nothing_is_chosen_where_the_branches_around_say_which() -> None:
    """The division stands in the way that raised nothing: there its cotangent is that of the result."""

    def divided(y: np.ndarray, z: np.ndarray) -> float:
        w = 0.7 * z
        try:
            if np.sum(w) >= 3.6:
                raise ValueError
            z /= 1.2 + y.reshape(-1, 1) ** 2
        except ValueError:
            w = 2.0 * w
        return np.sum(w**2) + np.sum(z**2)

    derived = symgrad.grad(divided, argnums=(0, 1))
    for size in (0.2, 2.0):
        argument = np.linspace(0.5, 1.5, 4), np.full((4, 3), size)
        check_grads(divided, argument, wrt=(0, 1))
        assert "where" not in derived.source(*argument)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", (False, True), ids=("numpy", "kernel"))
@pytest.mark.parametrize(
    "source",
    (
        "y = np.sqrt(x)\n    return np.sum(np.where(c, y, 0)) + np.sum(np.where(c[::-1] & c, y * s, 0))",
        "y = np.sqrt(x)\n    return np.where(c, 1, 0) * s + np.where(c, y, 0) + np.where(x > 0.1, y, x)",
        "y = np.sqrt(x)\n    z = np.zeros((4, 3))\n    z[1:3] = y\n    return np.sum(np.where(z > 0, z, 0))",
        "k = x[1]\n    return np.where(k > 0, x / k, 0.0)",
        "r = np.sqrt(np.sum(x * x * c, axis=1))\n    return np.where((r > 0)[:, None], x / r[:, None], 0)",
        "t = 0.0\n    for i in range(2):\n        y = np.sqrt(x[i])\n        t += np.sum(np.where(c[i], y, 0))\n    return t * x",
        "if s > 0:\n        y = np.sqrt(x)\n    else:\n        y = x\n    return np.where(c, y, 0)",
    ),
)
def test_several_ways(source: str, jit: bool) -> None:
    held(f"import numpy as np\ndef f(x, c, s, v, x0):\n    {source}\n", arguments(X, X > 0), jit)
