"""Questions with the same answer on every path are decided at compile time."""

from __future__ import annotations

import pytest

from tests.plainly import verdict

HEAD = """
import types, typing
class Symbol:
    def __new__(cls): return 1.0  # whose instances are not followed
KINDS = (Symbol,)
Row = list[float]
has_symbols = True
def is_symbol(v):
    if has_symbols:
        if isinstance(v, (list, tuple)): return any([isinstance(item, KINDS) for item in v])
        return isinstance(v, KINDS)
    return False
def sine(v): return Symbol() if is_symbol(v) else math.sin(v)
"""
BODIES = {
    "of a function": "return sine(a)", "of a list": "return Symbol() if is_symbol([a, b]) else a * b",
    "and": "if has_symbols and isinstance(a, KINDS):\n    return Symbol()\nreturn a * b",
    "or": "if not (has_symbols and False or not isinstance(a, KINDS)):\n    return Symbol()\nreturn a * b",
    "and of NumPy's bool": "t = (np.float64(a) > 9.0) and isinstance(a, KINDS)\nreturn a * b if t is False else a",
    "both sides": "if a > 0.5:\n    flag = False\nelse:\n    flag = False\nif flag:\n    return Symbol()\nreturn a * b",
    "of other classes": "if a > 0.5:\n    k = 1\nelse:\n    k = 1.0\nreturn a * b * len(str(k))",
    "signed zeros": "if a > 0.5:\n    z = 0.0\nelse:\n    z = -0.0\nreturn a * math.copysign(b, z)",
    "an alias of an annotation": "r = Row\nreturn a * b if r is Row else a", "a cast": "return typing.cast(Row, [a, b])[1] * a",
}  # fmt: skip


@pytest.mark.parametrize("args", [[0.7, 1.9], [0.3, -1.2]], ids=["first", "second"])
@pytest.mark.parametrize("name", BODIES)
def test_the_answer_of_all_paths_is_settled(name: str, args: list[float]) -> None:
    body = "".join(f"    {line}\n" for line in BODIES[name].splitlines())
    assert verdict(f"{HEAD}def f(a, b):\n{body}", args) in (["right", "refused"] if name == "of other classes" else ["right"])
