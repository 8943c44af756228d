"""Global variables that a function assigns: their values, the result and its gradient."""

from __future__ import annotations

import itertools
import linecache
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax

COUNTER = itertools.count()
HEAD = """import contextlib
import numpy as np
COUNT, MODE, LAST, SCALE = 0, "plain", None, 1.5
def set_mode(mode):
    global MODE
    MODE = mode
def mode(): return MODE
class Using:
    def __init__(self, mode): self.mode = mode
    def __enter__(self):
        self.before = MODE
        set_mode(self.mode)
    def __exit__(self, *args): set_mode(self.before)
@contextlib.contextmanager
def using(mode):
    before = MODE
    set_mode(mode)
    yield
    set_mode(before)
def counted(x):
    global COUNT
    COUNT += 1
    return x * COUNT
def down(x, n):
    global COUNT
    COUNT += 1
    return x if n <= 0 else down(x * 1.5, n - 1)
def reads(n): return COUNT if n <= 0 else reads(n - 1) + COUNT
def f(x):
    global COUNT, MODE, LAST, SCALE
"""
#: bodies of ``f``
BODIES = {
    "a counter": "COUNT += 1\nreturn np.sum(x) * COUNT",
    "in a loop": "for k in range(3):\n    COUNT += k\n    x = x * 1.5\nreturn np.sum(x) * COUNT",
    "in a while": "while COUNT < 4:\n    COUNT = COUNT + 1\n    x = x * SCALE\nreturn np.sum(x)",
    "on one path": "if np.sum(x) > 0:\n    COUNT = COUNT + 10\nreturn np.sum(x) * COUNT",
    "on the other path": "if np.sum(x) < 0:\n    COUNT = COUNT + 10\nelse:\n    LAST = 2.0\nreturn np.sum(x) * (COUNT + 1)",
    "in a function": "return np.sum(counted(x)) + np.sum(counted(x * 2))",
    "in a function in a loop": "y = x * 0\nfor _ in range(3):\n    y = y + counted(x)\nreturn np.sum(y)",
    "in one that calls itself": "return np.sum(down(x, 2)) * COUNT",
    "read by one that calls itself": "COUNT = 3\na = reads(2)\nCOUNT = 5\nreturn np.sum(x) * (a + reads(2))",
    "a text": "set_mode('other')\nreturn np.sum(x) * (2.0 if mode() == 'other' else 3.0)",
    "a manager": "with Using('other'):\n    y = x * 2 if mode() == 'other' else x\nreturn np.sum(y) * (5 if mode() == 'plain' else 7)",
    "a generator as manager": "with using('other'):\n    y = x * 2 if mode() == 'other' else x\nreturn np.sum(y) * (5 if MODE == 'plain' else 7)",
    "a number that carries a derivative": "SCALE = np.sum(x * x)\nreturn SCALE * x[0]",
    "an array": "LAST = x * 2\nreturn np.sum(LAST * x)",
    "a tuple": "LAST = (np.sum(x), 3)\nreturn LAST[0] * LAST[1]",
    "a list": "LAST = [1.0, 2.0]\nreturn np.sum(x) * LAST[1]",
    "none": "LAST = None\nreturn np.sum(x) if LAST is None else 0.0",
    "an augmented array": "LAST = x * 1.0\nLAST += x\nreturn np.sum(LAST * x)",
    "before an exception": "try:\n    COUNT = 7\n    raise ValueError\nexcept ValueError:\n    x = x * COUNT\nreturn np.sum(x)",
    "in finally": "try:\n    y = x * 2\nfinally:\n    COUNT = 9\nreturn np.sum(y) * COUNT",
    "as a loop variable": "for COUNT in range(3):\n    x = x * SCALE\nreturn np.sum(x) * COUNT",
    "in a comprehension": "return np.sum(x) * sum([v for v in [COUNT, 2.0]]) + counted(1.0)",
    "in a lambda": "g = lambda v: v * COUNT\nCOUNT = 4\nreturn np.sum(g(x))",
    "in a nested function": "def g(v):\n    global COUNT\n    COUNT += 2\n    return v * COUNT\nreturn np.sum(g(x)) + np.sum(g(x))",
    "one that a function around hides": "def outer():\n    COUNT = 1\n    def inner():\n        global COUNT\n        COUNT += 5\n        return COUNT\n"
    "    return inner() + COUNT\nreturn np.sum(x) * outer()",
    "one that is new": "global FRESH\nFRESH = np.sum(x)\nreturn FRESH * 2",
    "unpacked": "COUNT, SCALE = 3, 2.5\nreturn np.sum(x) * COUNT * SCALE",
    "from an argument": "LAST = x\nreturn np.sum(x * LAST)",
}
NAMES = ("COUNT", "MODE", "LAST", "SCALE", "FRESH")


def module_of(body: str, before: str = "") -> dict[str, Any]:
    """The names of a module whose function ``f`` has this body, with definitions before it."""
    text = HEAD.replace("def f(x):", f"{before}def f(x):") + "".join(f"    {line}\n" for line in body.splitlines())
    path = f"<globals {next(COUNTER)}>"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    names: dict[str, Any] = {"__name__": "globals_module", "symgrad": symgrad}
    exec(compile(text, path, "exec"), names)  # noqa: S102
    return names


def state(names: dict[str, Any]) -> list[Any]:
    """What the global variables hold."""
    held = [names.get(name, "unset") for name in NAMES]
    return [value.tolist() if isinstance(value, np.ndarray) else value for value in held]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("name", BODIES)
def test_global_variables_are_assigned_to(name: str, jit: Any) -> None:
    x = np.array([1.0, 0.5, 2.0])
    plain, ours = module_of(BODIES[name]), module_of(BODIES[name])
    derivative = symgrad.value_and_grad(ours["f"], jit=jit)
    for _ in range(3):  # what one call leaves, the next one finds
        before = {key: plain[key] for key in NAMES if key in plain}
        expected = plain["f"](x.copy())
        after = {key: plain[key] for key in NAMES if key in plain}
        value, gradient = derivative(x.copy())
        assert value == pytest.approx(expected)
        assert state(ours) == state(plain)
        for k in range(3):
            steps = []
            for h in (1e-6, -1e-6):
                plain.update(before)
                steps.append(plain["f"](x + h * np.eye(3)[k]))
            assert gradient[k] == pytest.approx((steps[0] - steps[1]) / 2e-6, rel=1e-5, abs=1e-5)
        plain.update(after)


def test_deleting_one_is_refused() -> None:
    names = module_of("LAST = 1\ndel LAST\nreturn np.sum(x)")
    with pytest.raises(UnsupportedSyntax, match="bind it to None instead"):
        symgrad.grad(names["f"])(np.ones(3))
    names = module_of("LAST = 1\nLAST = None\nreturn np.sum(x)")
    np.testing.assert_array_equal(symgrad.grad(names["f"])(np.ones(3)), np.ones(3))


@pytest.mark.parametrize("change", ["n += 1", "seen.append(1.0)", "held['a'] = 2.0", "said.v = 4.0", "global COUNT; COUNT = 3"])
@pytest.mark.parametrize("how", ["symgrad.grad(inner)(x)", "symgrad.value_and_grad(inner)(x)[1]", "symgrad.vjp(inner, x)[1](1.0)"])
def test_what_a_function_changes_that_is_differentiated_inside_is_refused(change: str, how: str) -> None:
    """Its variables and objects would be what they were, for whoever reads them afterwards."""
    body = f"""n, seen, held, said = 0, [], {{'a': 1.0}}, Using('plain')
said.v = 2.0
def inner(v):
    {"nonlocal n" if change.startswith("n ") else "pass"}
    {change}
    return np.sum(v * v)
g = {how}
return np.sum(g) * (n + len(seen) + held['a'] + said.v + COUNT)"""
    names = module_of(body)
    with pytest.raises(UnsupportedSyntax):
        symgrad.grad(names["f"])(np.array([1.0, 0.5, 2.0]))


#: a rule for ``squared`` with a function of each kind
RULES = {
    "a declared function": "@symgrad.elementwise(dx='2 * x')\ndef squared(x):\n    global COUNT\n    COUNT += 1\n    return x * x\n",
    "a backward function that assigns": "@symgrad.custom_vjp\ndef squared(x): return x * x\ndef forward(x): return x * x, x\n"
    "def backward(x, g):\n    global COUNT\n    COUNT += 10\n    return (g * 2 * x,)\nsquared.defvjp(forward, backward)\n",
    "a backward function that reads": "@symgrad.custom_vjp\ndef squared(x): return x * x\n"
    "def forward(x):\n    global COUNT\n    COUNT += 1\n    return x * x, x\n"
    "def backward(x, g): return (g * 2 * x * COUNT,)\nsquared.defvjp(forward, backward)\n",
}


@pytest.mark.parametrize("rule", RULES)
def test_rules_that_assign_to_global_variables_are_refused(rule: str) -> None:
    """They run when the program does, or in its backward half: what they leave is not known to what follows."""
    names = module_of("return np.sum(squared(x)) * (COUNT + 1)", RULES[rule])
    with pytest.raises(symgrad.SymgradError):
        symgrad.value_and_grad(names["f"])(np.ones(3))


def test_a_forward_function_that_assigns() -> None:
    rule = (
        "@symgrad.custom_vjp\ndef squared(x): return x * x\ndef forward(x):\n    global COUNT\n    COUNT += 1\n    return x * x, x\n"
        "def backward(x, g): return (g * 2 * x,)\nsquared.defvjp(forward, backward)\n"
    )
    names = module_of("return np.sum(squared(x)) * (COUNT + 1)", rule)
    value, gradient = symgrad.value_and_grad(names["f"])(np.ones(3))
    assert value == 6.0 and names["COUNT"] == 1
    np.testing.assert_array_equal(gradient, np.full(3, 4.0))


def test_a_pullback_that_is_called_after_a_global_variable_has_changed() -> None:
    names = module_of(
        "y, pull = symgrad.vjp(scaled, x)\nSCALE = 5.0\nreturn y + np.sum(pull(1.0)[0])", "def scaled(v): return np.sum(v * SCALE)\n"
    )
    with pytest.raises(UnsupportedSyntax, match="has changed before its pullback was called"):
        symgrad.grad(names["f"])(np.ones(3))
    names = module_of("y, pull = symgrad.vjp(scaled, x)\nCOUNT = 5\nreturn y * COUNT", "def scaled(v): return np.sum(v * SCALE)\n")
    np.testing.assert_array_equal(symgrad.grad(names["f"])(np.ones(3)), np.full(3, 7.5))


#: other ways to read a global variable that the function has assigned to
READS = {
    "an attribute": "return y * this.SCALE",
    "getattr": "return y * getattr(this, 'SCALE')",
    "an import": "import this_module as q\nreturn y * q.SCALE",
    "a name from the module": "from this_module import SCALE as s\nreturn y * s",
    "sys.modules": "import sys\nreturn y * sys.modules['this_module'].SCALE",
    "a function": "return y * scale()",
    "the names of a module": "return y * this.__dict__['SCALE']",
    "the globals of a function": "return y * scale.__globals__['SCALE']",
    "get": "return y * this.__dict__.get('SCALE')",
}


@pytest.mark.parametrize("name", READS)
def test_other_ways_to_a_global_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    import types

    results = []
    for ours in (False, True):
        names = module_of(f"SCALE = SCALE + x[0]\ny = np.sum(x)\n{READS[name]}", "def scale(): return SCALE\n")
        module = types.ModuleType("this_module")
        module.__dict__.update(names)
        function = types.FunctionType(names["f"].__code__, module.__dict__, "f")
        module.__dict__["scale"] = types.FunctionType(names["scale"].__code__, module.__dict__, "scale")
        module.__dict__["this"] = module
        monkeypatch.setitem(sys.modules, "this_module", module)
        try:
            call = symgrad.value_and_grad(function, verify=False) if ours else function
            results.append([call(x) for x in (np.array([1.0, 0.5, 2.0]), np.array([0.3, 0.7, 0.2]))])
        except UnsupportedSyntax:
            return
    for plain, (value, _) in zip(*results, strict=True):
        assert value == pytest.approx(plain)


#: arrays that are stored on one path and written to afterwards
STORED = [
    *(
        (f"{test}\n{write}\nreturn np.sum(LAST) * x[2]", "LAST")
        for test in ("if x[0] > 1:\n    LAST = x * 2", "for k in range(2):\n    if x[k] > 1:\n        LAST = x * 2", "LAST = x * 2")
        for write in ("LAST[0] = 1.0", "LAST *= 2", "np.multiply(LAST, 2, out=LAST)", "LAST.sort()", "v = LAST[1:]\nv[0] = 1.0")
    ),
    *(
        (f"if x[0] > 1:\n    {read} = x * 2\n{read}[0] = 1.0\nreturn np.sum({read}) * x[2]", read)
        for read in ("said.a", "held['a']", "items[0]")
    ),
]


@pytest.mark.parametrize(("body", "read"), STORED)
def test_an_array_that_is_written_to_after_it_was_stored_on_one_path(body: str, read: str) -> None:
    """The caller holds what was made for it: it is written to as well, or the write is refused."""
    before = "said = Using('plain')\nsaid.a = np.ones(3)\nheld = {'a': np.ones(3)}\nitems = [np.ones(3)]\n"
    plain, ours = module_of(body, before), module_of(body, before)
    plain["LAST"], ours["LAST"] = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    call = symgrad.value_and_grad(ours["f"], verify=False)
    for x in (np.array([1.2, 0.7, -0.4]), np.array([0.2, 0.7, -0.4]), np.array([1.5, 0.7, -0.9])):
        expected = plain["f"](x.copy())
        try:
            value, _ = call(x.copy())
        except symgrad.SymgradError:
            return
        assert value == pytest.approx(expected)
        np.testing.assert_allclose(eval(read, ours), eval(read, plain))
