"""Order of evaluation: constructs x side effects of their parts, compared with plain Python."""

from __future__ import annotations

from itertools import product

import pytest

from tests.plainly import verdict

#: what the parts of a construct are: ``t`` prints its number and gives a value, ``up`` changes what was evaluated before it, ``no`` raises
PRELUDE = """
class Said:
    def __init__(self, v): self.v = v
    def __str__(self):
        print("str", self.v)
        return f"<{self.v}>"
    def __eq__(self, other):
        print("eq", self.v)
        return self.v == other.v
    def __hash__(self): return 1
def f(a, n):
    held, said, array = [1, 2], Said(3), np.array([1.0, 2.0])
    one, other = Said(1), Said(2)
    both = [one, other]
    pick = both[n]
    def t(k, v=1):
        print("t", k)
        return v
    def up(k):
        print("up", k)
        held.append(k)
        said.v = k
        array[0] = k
        return k
    def no(k):
        print("no", k)
        raise KeyError(k)
    def deco(v):
        print("deco")
        def wrap(h):
            print("wrap")
            return lambda u: h(u) * v
        return wrap
    r = a
"""
#: constructs of two parts
CONSTRUCTS = {
    "a text": 'm = f"{FIRST} {SECOND} {held}"\nr = a * len(m)',
    "a text with conversions": 'm = f"{FIRST!s} {SECOND!s:>4}|{said!s:>6}"\nr = a * len(m)',
    "a text with a width": 'm = f"{FIRST}{7:>{t(5, 4)}}{SECOND}"\nr = a * len(m)',
    "a dict comprehension": "d = {t(k, k): (FIRST, SECOND) for k in (4, 5)}\nr = a * len(d)",
    "a dict": "d = {t(1, 'p'): FIRST, t(2, 'q'): SECOND}\nr = a * len(d)",
    "decorators": "@deco((FIRST, a)[1])\n@deco((SECOND, a)[1])\ndef h(u): return u\nr = h(a)",
    "defaults": "def h(u, v=FIRST, *, w=SECOND): return u\nr = h(a)",
    "a call": "r = a + len([FIRST, *[SECOND], t(5)])",
}
PARTS = {"prints": "t(8)", "changes": "up(9)", "raises": "no(7)", "a list": "held", "an instance": "said", "an array": "array[0]"}


@pytest.mark.sweep(8)
@pytest.mark.parametrize("construct", CONSTRUCTS)
@pytest.mark.parametrize(("first", "second"), list(product(PARTS, repeat=2)))
def test_parts_are_evaluated_in_order(construct: str, first: str, second: str) -> None:
    lines = CONSTRUCTS[construct].replace("FIRST", PARTS[first]).replace("SECOND", PARTS[second])
    body = "\n".join(f"        {line}" for line in lines.splitlines())
    program = f"{PRELUDE}    try:\n{body}\n    except KeyError:\n        r = a * 5\n    return r + len(held)\n"
    assert verdict(program, [0.7, 0]) == "right"


#: who is asked whether two are equal, and for how many
QUESTIONS = {
    "in a list": "2 if pick in [one, other] else 3",
    "in a tuple": "2 if pick in (other, one) else 3",
    "not in a list": "2 if Said(2) not in [one, other] else 3",
    "index": "[one, other].index(pick)",
    "index of an equal one": "both.index(Said(2))",
    "count": "[other, one, other].count(pick)",
    "remove": "both.remove(pick) or len(both)",
}


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("n", [0, 1])
def test_items_are_asked_whether_they_equal_what_is_sought(question: str, n: int) -> None:
    assert verdict(f"{PRELUDE}    return a * ({QUESTIONS[question]})\n", [0.7, n]) == "right"
