"""Names bound to an inner list of a list of lists on some paths only."""

from __future__ import annotations

import itertools

import pytest

from tests.plainly import verdict

BEGIN = """
t = [[] for _ in range(n)]
for k in range(n):
    t[k].append(x[0] * (k + 1.0))
"""
#: where ``row`` is bound, or another place that holds it
READS = {
    "branch": "if w > 1.0:\n    row = t[-1]\n    row[0] *= x[1]",
    "branch in a branch": "if w > 9.0:\n    pass\nelse:\n    if w > 1.0:\n        row = t[0]\n        row[0] *= x[1]",
    "branch in a loop": "for k in range(n):\n    if w > 1.0 + k:\n        row = t[k]\n        row[0] *= x[1]",
    "loop without rounds": "for k in range(m):\n    row = t[k]\n    row.append(x[1])",
    "while": "k = 0\nwhile k < m:\n    row = t[k]\n    row[0] *= x[1]\n    k += 1",
    "dict": "d = {}\nif w > 1.0:\n    d['a'] = t[-1]\n    d['a'][0] *= x[1]",
}
SHARES = {
    "no other name": "",
    "join": "if w < 5.0:\n    u = t\nelse:\n    u = [[x[2]], [x[1]]]\nu[0][0] *= 2.0",
    "list": "v = list(t)\nv[0][0] += x[2]",
    "list of both": "q = [t, t]\nq[0][0][0] += x[2]",
}
ENDS = {"unread": "", "read": "if w > 1.0:\n    s += row[0]", "stored to": "if w > 1.0:\n    row[0] = x[2] * 3.0\n    s += t[-1][0]"}
CASES = list(itertools.product(READS, SHARES, ENDS, (False, True)))
ARGUMENTS = ((3.3, 3, 2), (0.5, 3, 0), (7.0, 2, 1))


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


@pytest.mark.sweep(18)
@pytest.mark.parametrize("case", CASES, ids=["-".join(map(str, case)) for case in CASES])
def test_a_path_that_reads_no_list_raises_nothing(case: tuple[str, str, str, bool]) -> None:
    read, share, end, is_nested = case
    body = "\n".join((BEGIN, READS[read], SHARES[share]))
    if is_nested:
        body = f"t = [[0.0]]\nif w > -1.0:\n{indented(body)}"
    whole = "\n".join(("s = 0.0", body, ENDS[end], "return s + sum(sum(row) for row in t)"))
    text = f"def f(x, w, n, m):\n{indented(whole)}"
    for w, n, m in ARGUMENTS:
        answer = verdict(text, [[0.3, 0.7, 0.4], w, n, m])
        assert answer == "right" or share != "no other name" or end != "unread", (answer, text)
