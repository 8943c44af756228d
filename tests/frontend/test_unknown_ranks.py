"""In-place changes of values that may be arrays or numbers: visible by every name, or refused."""

from itertools import product

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

#: arrays of which the number of axes is not known at compile time
OPEN = ("np.reshape(x * s, n)", "np.reshape(x * s, n)[::-1] * 1.0", "np.reshape(x, n) + np.reshape(x, n)")
HOLD = {
    "alone": ("", "y"), "a name": ("w = y", "w"), "a list": ("w = [y]", "w[0]"), "two lists": ("u = [y]\n    w = [u[0]]", "w[0]"),
    "a dict": ("w = {'a': y}", "w['a']"), "a tuple": ("w, u = y, (y, y)", "w"), "a part": ("w = y[0:]", "w"), "elements": ("w = y", "w[0]"),
}  # fmt: skip
CHANGES = ("+= s", "*= y", "-= 1", "/= 2.0", "**= 2")


@pytest.mark.sweep(7)
@pytest.mark.parametrize(("initial", "hold", "change"), list(product(OPEN, HOLD, CHANGES)))
def test_a_change_is_seen_by_every_name(initial: str, hold: str, change: str) -> None:
    first, target = HOLD[hold]
    source = f"import numpy as np\ndef f(x, s, n):\n    y = {initial}\n    {first or 'pass'}\n    {target} {change}\n    return np.sum(y * y) + np.sum({target})\n"
    for n in (np.array([2, 3]), np.array([6])):
        verdict = judged(function_of(source), {"x": np.arange(6.0) * 0.3 - 0.7, "s": 0.8, "n": n})
        assert verdict[0] in ("right", "refused", "not taken"), (source, verdict)
