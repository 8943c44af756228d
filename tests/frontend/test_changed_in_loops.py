"""Lists that change during a loop over them: lists x loops x changes x tests, compared with plain Python."""

from __future__ import annotations

from itertools import product

import pytest

from tests.plainly import verdict

LISTS = {
    "known": "l = [a, b, a * b, b]",
    "argument": "l = lst",
    "copy": "l = list(lst)",
    "made in a loop": "l = []\nfor i in range(n):\n    l.append(a * i)",
}
LOOPS = {
    "itself": "for v in l:", "enumerate": "for i, v in enumerate(l):", "zip": "for v, w in zip(l, (1.0, 2.0, 3.0, 4.0, 5.0)):",
    "iter": "it = iter(l)\nfor v in it:", "map": "for v in map(lambda u: u * 2, l):",
}  # fmt: skip
CHANGES = {
    "append": "l.append(v * 0.5)", "remove": "l.remove(l[0])", "pop": "l.pop()", "pop first": "l.pop(0)", "insert": "l.insert(0, a)",
    "store": "l[-1] = v * 3", "delete": "del l[0]", "clear": "l.clear()", "extend": "l += [a]", "slice": "l[1:] = [a, b]", "reverse": "l.reverse()",
}  # fmt: skip
TESTS = {"by value": "if v > 1.0 and len(l) < 7:", "by length": "if 1 < len(l) < 6:"}


def program(initial: str, loop: str, change: str, test: str) -> str:
    lines = [
        *LISTS[initial].splitlines(),
        "s = 0.0",
        *LOOPS[loop].splitlines(),
        "    s = s * 1.5 + v",
        f"    {TESTS[test]}",
        f"        {CHANGES[change]}",
    ]
    return "def f(a, b, n, lst):\n" + "".join(f"    {line}\n" for line in [*lines, "return s + 3 * sum(l) + len(l)"])


@pytest.mark.sweep(20)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("initial", LISTS)
def test_a_loop_sees_what_its_body_does(initial: str, change: str) -> None:
    verdicts = {
        (loop, test): verdict(program(initial, loop, change, test), [0.7, 1.9, 4, [0.6, 1.5, 2.6]]) for loop, test in product(LOOPS, TESTS)
    }
    assert sum(v in ("right", "raises") for v in verdicts.values()) >= 4, verdicts
