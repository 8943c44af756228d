"""Names bound to different arrays in a loop with ``break`` or ``return``, then a store: correct, or refused.

Each program is checked against plain Python: its value and its gradients, the latter against differences.
"""

from itertools import product

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

LOOPS = {
    "counted": "for k in range(n):\n    B",
    "counted by a number": "for k in range(4):\n    B",
    "while": "k = 0\nwhile k < n:\n    k += 1\n    B",
    "while True": "k = 0\nwhile True:\n    if k >= n:\n        break\n    k += 1\n    B",
    "while of values": "k = 0\nwhile np.sum(a) < 2.0 and k < 3:\n    k += 1\n    B",
    "over an array": "for v in x:\n    B",
    "written out": "for k in (0.2, 0.4, 0.9):\n    B",
    "break first": "for k in range(n):\n    if np.sum(b) > 1.2:\n        break\n    B",
    "break last": "for k in range(n):\n    B\n    if np.sum(b) > 1.2:\n        break",
    "return": "for k in range(n):\n    if np.sum(b) > 1.2:\n        return np.sum(a * b)\n    B",
    "continue": "for k in range(n):\n    if np.sum(b) > 0.5:\n        continue\n    B",
}
BODIES = {
    "one of two": "a = b\nif np.sum(b) > 0.56:\n    b = 0.63 * b",
    "swap": "a, b = b, a",
    "turn": "a, b, c = b, c, a",
    "view of a new one": "c = b * 0.8\nb = c[::-1]",
    "chosen": "a = b if np.sum(c) > 0.9 else c",
    "store under way": "a = b\na[0] += 0.2\nb = c * 0.5",
    "view and whole": "a = c[:]\nif np.sum(a) > 0.4:\n    c = b",
}
STORES = ("a += 0.78 * a", "b[0] = 0.5 * c[1]", "c *= 0.4")


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("loop", "body", "store"), list(product(LOOPS, BODIES, STORES)), ids=str)
def test_a_store_is_seen_by_every_name(loop: str, body: str, store: str) -> None:
    indented = BODIES[body].replace("\n", "\n    ")
    lines = f"a = x * 1.0\nb = y\nc = x + y\n{LOOPS[loop].replace('B', indented)}\n{store}\nreturn np.sum(np.sin(a)) + np.sum(b * b) + np.sum(c) * 0.3"
    text = "import numpy as np\ndef f(x, y, n):\n" + "".join(f"    {line}\n" for line in lines.splitlines())
    for x, y, n in (([0.1, 0.2], [0.5, 0.4], 3), ([1.1, 0.9], [0.3, -0.6], 2)):
        verdict = judged(function_of(text), {"x": np.array(x), "y": np.array(y), "n": n})
        assert verdict[0] in ("right", "refused"), (text, verdict)


FIRST = {
    "counted": "for u in y:\n    BODY",
    "while": "for u in y:\n    while u > 0.33:\n        u -= 0.2\n        BODY",
    "break": "for u in y:\n    while True:\n        if not u > 0.33:\n            break\n        u -= 0.2\n        BODY",
    "two": "for t, u in zip(z, y):\n    while True:\n        if not u > 0.33:\n            break\n        u -= 0.2\n        BODY",
}
CHANGES = ("z = z[0] - np.minimum(y[np.arange(y.size)], z)", "r = z * 2.0\nz = z[0] - np.minimum(y[np.arange(y.size)], z)", "z = z * u")
LATER = {
    "while": "k = 0\nwhile abs(s) > 0.13 and k < 3:\n    s = s / 2.0\n    BODY",
    "counted": "for k in range(n):\n    s = s / 2.0\n    BODY",
    "branch": "if s > 0.13:\n    BODY",
    "none or one": "for k in range(n):\n    if k == 1:\n        break\n    BODY",
}
REPLACED = ("z = np.sin(y)", "r = z * 2.0\nz = np.sin(y)", "r = z * u\nz = y * u")


@pytest.mark.sweep(16)
@pytest.mark.parametrize("caught", [False, True], ids=["plain", "tried"])
@pytest.mark.parametrize(("first", "change", "later", "replaced"), list(product(FIRST, CHANGES, LATER, REPLACED)), ids=str)
def test_an_array_that_a_later_loop_replaces(first: str, change: str, later: str, replaced: str, caught: bool) -> None:
    lines = filled(FIRST[first], change).splitlines()
    if caught:
        lines = [lines[0], "    try:", *("    " + line for line in lines[1:]), "    except ZeroDivisionError:", "        pass"]
    lines = ["s = 1.0", *lines, *filled(LATER[later], replaced).splitlines(), "return np.sum(z ** 2) + s"]
    text = "import numpy as np\ndef f(y, z, n):\n" + "".join(f"    {line}\n" for line in lines)
    for n in (0, 3):
        verdict = judged(function_of(text), {"y": np.array([1.07, -0.76, 0.5]), "z": np.array([0.3, 0.8, -0.4]), "n": n})
        assert verdict[0] in ("right", "refused"), (text, verdict)


def filled(form: str, body: str) -> str:
    """A form with a body in the place of ``BODY``, indented as that is."""
    place = form.index("BODY")
    return form.replace("BODY", body.replace("\n", "\n" + " " * (place - form.rindex("\n", 0, place) - 1)))
