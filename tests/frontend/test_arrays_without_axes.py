"""0-d arrays on some paths, numbers or None on others, changed in place: correct, or refused.

Against plain Python.
"""

from itertools import product

import numpy as np
import pytest

from tests.against_numpy import function_of, judged, plainly

MAKE = ("np.where(x > 0.11, x, 0.4 * x)", "np.array(x * 2.0)", "np.asarray(y[0] * x)", "np.reshape(y[:1] * x, ())", "np.array(0.5)")
CHANGES = ("s -= y[1]", "s *= x", "s[...] = s * y[0]", "s[()] += x", "s = s * x", "s = float(s) * x", "np.sin(s, out=s)")
PLACES = {
    "straight": "C",
    "else behind a return": "if x > y[1]:\n    if np.sum(y) > 0.1:\n        return 0.64 * y[0]\nelse:\n    C",
    "one side": "if x > y[0]:\n    C",
    "other is a number": "if x > y[0]:\n    s = 2.0 * x\nelse:\n    C",
    "loop": "for i in range(n):\n    C",
    "loop left early": "for i in range(n):\n    if y[0] * i > 0.4:\n        break\n    C",
    "handler": "try:\n    C\n    if x > 0.3:\n        raise ValueError('large')\nexcept ValueError:\n    s = s + 1.0",
}
USES = ("x + s", "float(s) * x", "s.copy() * x", "np.sum(s)", "s.ravel()[0]", "s.item() * 1.0", "s.flatten()[0]", "s.astype(float) * x",
        "np.sum(s * y)", "s.tolist() * x", "s[()] + x")  # fmt: skip


@pytest.mark.sweep(108)
@pytest.mark.parametrize(("make", "change", "place", "use"), list(product(MAKE, CHANGES, PLACES, USES)), ids=str)
def test_a_change_of_an_array_without_axes(make: str, change: str, place: str, use: str) -> None:
    body = f"s = {make}\n{PLACES[place].replace('C', change)}\nreturn {use}"
    text = "import numpy as np\ndef f(x, y, n):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    for x in (0.05, 0.7):
        arguments = {"x": x, "y": np.array([0.3, 0.1, 0.4]), "n": 3}
        try:
            plainly(function_of(text), arguments)
        except (AttributeError, TypeError):
            continue  # a number has no such method
        verdict = judged(function_of(text), arguments)
        assert verdict[0] in ("right", "refused", "not taken"), (text, verdict)
