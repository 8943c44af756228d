"""Lists that change during iteration: loops x changes x exits, compared with plain Python."""

from __future__ import annotations

import pytest

from tests.plainly import verdict

HEAD = """
class C:
    def __init__(self, v): self.v = v
    def __lt__(self, other): return self.v < other.v
    def __eq__(self, other): return self is other
def f(a, b, n):
    {list}
    s = 0.0
    def use(item):
        nonlocal s
        v = {value}
        s = s * 0.9 + v
        if s > 1:
            {change}
        return v
"""
KINDS = {
    "numbers": ("l = [a, b, 2.0, -0.4]", "item", "s"),
    "instances": ("l = [C(a), C(b), C(2.0), C(-0.4)]", "item.v", "C(s)"),
}
CHANGES = {
    "pop": "l.pop()",
    "pop the first": "l.pop(0)",
    "clear": "l.clear()",
    "append": "if len(l) < 7: l.append({new})",
    "insert": "if len(l) < 6: l.insert(0, {new})",
    "extend": "if len(l) < 7: l.extend([{new}, {new}])",
    "remove": "if len(l) > 2: l.remove(l[1])",
    "store": "l[n % max(len(l), 1)] = {new}",
    "delete": "if len(l) > 3: del l[2]",
    "slice": "l[2:] = [{new}]",
    "reverse": "l.reverse()",
}
WAYS = {
    "for": "for item in l:\n        use(item)",
    "break": "for item in l:\n        use(item)\n        if s > 2.5:\n            break\n    else:\n        s += 10 * a",
    "return": "for item in l:\n        use(item)\n        if s > 2.5:\n            return s * 3 + len(l)",
    "continue": "for item in l:\n        if s > 2.5:\n            s -= 1.0\n            continue\n        use(item)",
    "handler": "for item in l:\n        try:\n            use(item)\n            s += 1 / (len(l) - 3)\n        except ZeroDivisionError:\n            s += a",
    "comprehension": "m = [use(item) for item in l]\n    s += sum(m) * len(m)",
    "filter": "m = [v for item in l if (v := use(item)) > 0]\n    s += sum(m) * len(m)",
    "sum": "s += sum(use(item) for item in l)",
    "any": "s += any(use(item) > 1.95 for item in l)",
    "another name": "k = l\n    for item in l:\n        use(item)\n        l = [item]\n    s += len(k)\n    l = k",
    "map": "s += sum(map(use, l))",
    "enumerate": "for i, item in enumerate(l):\n        s += i\n        use(item)",
    "zip": "for item, i in zip(l, range(9)):\n        s += i\n        use(item)",
    "iter": "it = iter(l)\n    for item in it:\n        use(item)\n    s += len(list(it))",
}
#: ways that are followed whatever becomes of the list
FOLLOWED = ("for", "break", "return", "continue", "comprehension", "filter", "sum")


@pytest.mark.sweep(31)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", WAYS)
def test_each_round_takes_what_is_there_then(kind: str, change: str, way: str) -> None:
    initial, value, new = KINDS[kind]
    program = HEAD.format(list=initial, value=value, change=CHANGES[change].format(new=new))
    program += f"    {WAYS[way]}\n    return s + len(l)\n"
    for args in ([0.7, 1.9, 1], [-9.0, 1.9, 2]):
        answer = verdict(program, args)
        assert answer in ("right", "refused")
        if way in FOLLOWED and kind == "numbers":
            assert answer == "right", program
