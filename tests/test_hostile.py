"""Hostile names, keys, files and directories: no data of the user's is executed, no file of the user's is overwritten.

Every payload would append to ``canary`` if it ran as code, in whatever namespace.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import enum
import importlib.util
import inspect
import json
import os
import runpy
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad import static
from symgrad.__main__ import main
from symgrad.compat import paddle
from symgrad.eager import storing
from symgrad.errors import BadArgument, CacheNotUsed, SaveError, SymgradError
from symgrad.files import write_file
from symgrad.ir.parse import parse
from symgrad.runtime import cache
from symgrad.static import Executor, Program, Scope, append_backward, program_guard
from symgrad.static.initializers import Assign
from symgrad.testing import check_grads
from symgrad.vocabulary import tensors

RUN = "canary.append(1)"
NAMES = {
    "call": f"k.__class__({RUN})",
    "argument": f"w), {RUN}, (w",
    "statement": f"w; {RUN}; w",
    "newline": f"w\n{RUN}\n#",
    "carriage return": f"w\r{RUN}\r#",
    "separator": f"w\u2028{RUN}",
    "quote": f"w'] or {RUN} or p['w",
    "double quote": f'w"] or {RUN} or p["w',
    "triple quote": f'"""\n{RUN}\n"""',
    "triple quotes": f"'''\n{RUN}\n'''",
    "backslash": "w\\",
    "field": "{0.__class__}",
    "place": "{0}",
    "brace": f"{{{RUN}}}",
    "percent": "%s%(w)s",
    "keyword": "class",
    "constant": "None",
    "debug": "__debug__",
    "ligature": "\ufb01",
    "blank": "a b",
    "empty": "",
    "digit": "1st",
    "dotted": "w.real",
    "item": "w[0]",
    "sum": "w.shape[0] - v.shape[0]",
    "comment": "# w",
    "null": "a\0b",
    "surrogate": "\ud800",
    "assignment": "(canary := 1)",
    "result": "__result_0__",
    "owner": "__owner__",
    "numpy": "np",
    "builtin": "range",
    "reader": "getattr",
    "guard": "_k0",
    "cotangent": "w_grad",
    "private": "__w",
}
SOME = ("call", "quote", "triple quote", "newline", "ligature", "reader", "place")
W = np.array([0.5, -1.0, 2.0])
V = np.array([1.0, 3.0])
every = pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
some = pytest.mark.parametrize("name", [NAMES[word] for word in SOME], ids=SOME)


@pytest.fixture(autouse=True)
def canary() -> Iterator[list[int]]:
    """What every payload appends to; it must be empty in the end."""
    hits: list[int] = []
    builtins.canary = hits  # type: ignore[attr-defined]
    yield hits
    del builtins.canary  # type: ignore[attr-defined]
    assert not hits, "a payload ran"


def record(name: str) -> SimpleNamespace:
    """An object as ``json.loads`` gives its attributes."""
    return SimpleNamespace(**{"w": W.copy(), "k": 1.0, name: V.copy()})


def of_both(p: Any) -> Any:
    """A function of a record that reads an ordinary attribute, beside hostile ones."""
    h = p.w
    for k in range(2):
        h = np.tanh(h) * (k + 1.0)
    return np.sum(h * p.w)


def reading(name: str, kind: str) -> Any:
    """A function that reads something by its hostile name."""
    read = {"attribute": f"getattr(p, {name!r})", "key": f"p[{name!r}]", "deep": f"p['part'][0][{name!r}]"}[kind]
    return symgrad.from_source(f"def f(p):\n    v = {read}\n    return np.sum(v * v * v)\n")


def shaped(name: str, kind: str) -> Any:
    """An argument for ``reading``."""
    held = {"w": W.copy(), "k": 1.0, name: V.copy()}
    return {"attribute": SimpleNamespace(**held), "key": held, "deep": {"part": [held]}}[kind]


def part(value: Any, name: str, kind: str) -> Any:
    """What ``reading`` reads, of an argument or of its gradient."""
    return vars(value)[name] if kind == "attribute" else value[name] if kind == "key" else value["part"][0][name]


EXPECTED = symgrad.grad(of_both)(SimpleNamespace(w=W)).w


# ------------------------------------------------------------------ every emitter, every name


def test_a_payload_that_runs_is_seen(canary: list[int]) -> None:
    for text in (f"p.{NAMES['call']}", NAMES["statement"], NAMES["newline"], f"q['{NAMES['quote']}'], p['w']"):
        with contextlib.suppress(TypeError):  # what the payload itself gives need not be of use
            exec(text, {"p": SimpleNamespace(k=1), "q": {"w": None}, "w": 1})

        assert canary.pop() == 1


@every
def test_an_attribute_that_is_not_read(name: str) -> None:
    derivative = symgrad.grad(of_both)
    for _ in range(2):  # the second call goes through the guard
        gradient = derivative(record(name))

        assert np.allclose(vars(gradient)["w"], EXPECTED)
        assert not np.any(vars(gradient)[name])


@every
@pytest.mark.parametrize("kind", ["attribute", "key", "deep"])
def test_what_is_read_by_its_name(name: str, kind: str) -> None:
    derivative = symgrad.value_and_grad(reading(name, kind))
    for factor in (1.0, 2.0):
        argument = shaped(name, kind)
        part(argument, name, kind)[:] *= factor
        value, gradient = derivative(argument)

        assert np.isclose(value, np.sum((factor * V) ** 3))
        assert np.allclose(part(gradient, name, kind), 3 * (factor * V) ** 2)


@some
@pytest.mark.parametrize("kind", ["attribute", "key"])
def test_what_a_kernel_reads_by_its_name(name: str, kind: str) -> None:
    pytest.importorskip("numba")
    derivative = symgrad.grad(reading(name, kind), jit=True)

    assert all(np.allclose(part(derivative(shaped(name, kind)), name, kind), 3 * V**2) for _ in range(2))


@every
def test_the_text_of_a_kernel(name: str) -> None:
    pytest.importorskip("numba")
    derivative = symgrad.grad(reading(name, "key"), jit=True)
    text = derivative.source(shaped(name, "key"), optimize="speed")

    assert "njit" in text
    assert not called(text)


@every
def test_a_store_through_a_name(name: str) -> None:
    f = symgrad.from_source(f"def f(p):\n    v = getattr(p, {name!r})\n    v[0] = p.w[1]\n    return np.sum(v * p.w[:2])\n")
    derivative = symgrad.grad(f)
    for _ in range(2):
        argument = record(name)
        gradient = derivative(argument)

        assert np.allclose(gradient.w, [W[1], W[0] + V[1], 0.0])
        assert np.allclose(vars(gradient)[name], [0.0, W[1]])
        assert np.array_equal(vars(argument)[name], V)


@every
def test_a_saved_module(name: str, tmp_path: Path) -> None:
    derivative = symgrad.grad(reading(name, "key"))
    symgrad.save(derivative, tmp_path / "saved.py", shaped(name, "key"))
    module = load(tmp_path / "saved.py")
    module.check()

    assert np.allclose(module.f_grad(shaped(name, "key"))[name], 3 * V**2)
    with pytest.raises(TypeError, match="was made for"):
        module.f_grad({"w": W})


@every
def test_a_saved_module_for_an_object(name: str, tmp_path: Path) -> None:
    f = symgrad.from_source(f"def f(p, x):\n    return np.sum(getattr(p, {name!r}) * x)\n")
    derivative = symgrad.grad(f, wrt="x")
    derivative(record(name), V)
    symgrad.save(derivative, tmp_path / "saved.py")

    assert np.allclose(load(tmp_path / "saved.py").f_grad(record(name), V), V)


@some
def test_a_saved_kernel(name: str, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    derivative = symgrad.grad(reading(name, "key"), jit=True)
    symgrad.save(derivative, tmp_path / "saved.py", shaped(name, "key"))
    text = (tmp_path / "saved.py").read_text()

    assert "njit" in text
    assert not called(text)
    assert np.allclose(load(tmp_path / "saved.py").f_grad(shaped(name, "key"))[name], 3 * V**2)


@every
def test_what_is_shown(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    derivative = symgrad.grad(reading(name, "attribute"))
    argument = shaped(name, "attribute")
    assert not called(derivative.source(argument))
    assert not called(derivative.source(argument, optimize="speed"))
    for stage in ("lowered", "simplified", "adjoint", "optimized"):
        text = derivative.ir(argument, stage=stage)
        assert text.splitlines() == text.removesuffix("\n").split("\n"), "one statement a line"
        parse(text)
    symgrad.explain(derivative, argument)
    assert "return np.sum(v * v * v)" in capsys.readouterr().out


@every
def test_a_pullback_of_a_dict(name: str) -> None:
    f = symgrad.from_source(f"def f(x):\n    return {{{name!r}: x * x, 'other': [2.0 * x]}}\n")
    out, pullback = symgrad.vjp(f, W)
    assert np.allclose(out[name], W**2)

    assert np.allclose(pullback({name: np.ones(3), "other": [np.ones(3)]}), 2 * W + 2)


@some
def test_a_pullback_in_kernels(name: str) -> None:
    pytest.importorskip("numba")
    f = symgrad.from_source(f"def f(x):\n    return {{{name!r}: x * x, 'other': [2.0 * x]}}\n")
    out, pullback = symgrad.vjp(f, W, jit=True)
    assert np.allclose(out[name], W**2)

    assert np.allclose(pullback({name: np.ones(3), "other": [np.ones(3)]}), 2 * W + 2)


@some
@pytest.mark.parametrize("kind", ["attribute", "key"])
def test_the_second_order(name: str, kind: str) -> None:
    check_grads(reading(name, kind), (shaped(name, kind),), order=2)


@every
@pytest.mark.parametrize("place", ["global", "cell", "module"])
def test_what_is_read_from_outside(name: str, place: str) -> None:
    held = {"w": W, name: V.copy(), "part": {name: 2.0}}
    owner: Any = types.ModuleType("mine") if place == "module" else SimpleNamespace()
    vars(owner)[name] = V.copy()
    space = {"np": np, "owner": owner, "held": held}
    body = f"return np.sum(x * getattr(owner, {name!r})) * held['part'][{name!r}]"
    text = f"def f(x):\n    {body}\n"
    if place == "cell":
        text = f"def outer(owner, held):\n    def f(x):\n        {body}\n    return f\n"
    function = symgrad.from_source(text, globals=space)
    derivative = symgrad.grad(function(owner, held) if place == "cell" else function)
    for _ in range(2):
        assert np.allclose(derivative(V), 2 * V)
    vars(owner)[name] = V + 1.0
    held["part"][name] = 3.0
    assert np.allclose(derivative(V), 3 * (V + 1.0)), "what is outside is read again"


@every
def test_a_program(name: str, tmp_path: Path) -> None:
    program, startup = Program(), Program()
    with program_guard(program, startup):
        x = static.data(name or "x", [-1, 3], "float64")
        weight = static.create_parameter([3, 2], "float64", f"{name}_weight", default_initializer=Assign(np.ones((3, 2))))
        loss = tensors.mean(tensors.tanh(tensors.matmul(x, weight)))
        ((_, gradient),) = append_backward(loss)
    scope = Scope()
    Executor().run(startup, scope=scope)
    fed = {name or "x": np.array([W])}
    value, actual = Executor().run(program, fed, [loss, gradient], scope)
    assert np.isclose(value, np.tanh(1.5))
    assert np.allclose(actual, np.outer(W, [0.5, 0.5]) / np.cosh(1.5) ** 2)
    assert not called(program.source([loss.name]))
    static.save(program, tmp_path / "kept", scope)
    again, other = static.load_program(tmp_path / "kept"), Scope()
    static.load(again, tmp_path / "kept", other)
    assert np.allclose(Executor().run(again, fed, [loss.name, gradient.name], other)[1], actual)


@every
def test_a_state_in_a_file(name: str, tmp_path: Path) -> None:
    storing.save({name: V, "w": [name]}, tmp_path / "state")
    state = storing.load(tmp_path / "state")

    assert list(state) == [name, "w"]
    assert np.array_equal(state[name], V)


@every
def test_the_command_line(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.py"
    lines = ["from types import SimpleNamespace", "import numpy as np", "def f(p):", "    return np.sum(p.w ** 2)"]
    lines.append(f"example_arguments = {{'f': (SimpleNamespace(**{{'w': np.ones(3), {name!r}: 1.0}}),)}}")
    path.write_text("\n".join([*lines, ""]))

    assert main(["show", f"{path}:f"]) == 0
    assert main(["check", f"{path}:f"]) == 0
    assert main(["explain", f"{path}:f", "--json"]) == 0
    assert "p.w" in capsys.readouterr().out


# ------------------------------------------------------------------ objects that say what they are


class Text(str):
    """A text of which every form is code."""

    def __repr__(self) -> str:
        return RUN

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return RUN


class Whole(int):
    """An integer of which every form is code."""

    def __repr__(self) -> str:
        return RUN

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return RUN


class Real(float):
    """A float of which every form is code."""

    def __repr__(self) -> str:
        return RUN

    __str__ = __repr__

    def __format__(self, form: str) -> str:
        return RUN


class Key:
    """A key whose form is code."""

    def __repr__(self) -> str:
        return RUN


class Colour(enum.Enum):
    RED = 1


class Word(str, enum.Enum):
    RED = "red"


class Order(enum.IntEnum):
    FIRST = 1


#: attributes that Python, NumPy or symgrad look for on other objects
SPECIAL = ["__class__", "__dict__", "__symgrad_derivative__", "__symgrad__", "symgrad_transparent", "__wrapped__", "__array__", "__array_function__",
           "__module__", "__code__", "dtype", "shape", "_fields", "__dataclass_fields__", "__func__", "__self__", "__name__", "__call__", "__len__",
           "__iter__", "__getattr__", "__getattribute__", "__eq__", "__hash__", "__slots__", "__globals__", "__init__", "keys", "item"]  # fmt: skip


def kind_name(value: Any) -> str:
    return type(value).__name__


@pytest.mark.parametrize("key", [Text("k"), Whole(3), Word.RED, Order.FIRST, np.str_("k"), True], ids=kind_name)
def test_keys_of_an_argument(key: Any) -> None:
    f = symgrad.from_source("def f(p):\n    t = 0.0\n    for v in p.values():\n        t = t + np.sum(v * v)\n    return t\n")
    derivative = symgrad.grad(f)
    for _ in range(2):
        gradient = derivative({key: V})
        assert np.allclose(gradient[key], 2 * V)


OUTSIDE = [Text("k"), Whole(3), Real(1.5), Key(), Colour.RED, Word.RED, Order.FIRST, 1.5, float("nan"), float("inf"), (1, "a"), (Key(), 2),
           b"k'", None, np.str_("k"), frozenset({1}), len]  # fmt: skip


@pytest.mark.parametrize("key", OUTSIDE, ids=kind_name)
def test_keys_of_a_dict_outside(key: Any) -> None:
    text = "def f(x):\n    t = 0.0\n    for k, v in held.items():\n        t = t + np.sum(x * v)\n    return t\n"
    held = {key: 2.0, "other": 3.0}
    derivative = symgrad.grad(symgrad.from_source(text, globals={"np": np, "held": held}))

    assert all(np.allclose(derivative(V), [5.0, 5.0]) for _ in range(2))
    held[key] = 4.0
    assert np.allclose(derivative(V), [7.0, 7.0])


@pytest.mark.parametrize("value", [Text("mode"), Whole(3), Real(1.5), Text('"""')], ids=kind_name)
@pytest.mark.parametrize("way", ["argument", "default", "global", "attribute"])
def test_values_whose_form_is_code(value: Any, way: str, tmp_path: Path) -> None:
    arguments: tuple[Any, ...] = (V,)
    match way:
        case "default":
            f = symgrad.from_source("def f(x, mode=held):\n    return np.sum(x * x)\n", globals={"np": np, "held": value})
        case "global":
            text = "def f(x):\n    return np.sum(x * x) if held == 'mode' else np.sum(x * x)\n"
            f = symgrad.from_source(text, globals={"np": np, "held": value})
        case _:
            f = symgrad.from_source("def f(x, mode):\n    return np.sum(x * x)\n")
            arguments = (V, SimpleNamespace(mode=value) if way == "attribute" else value)
    derivative = symgrad.grad(f)
    try:
        results = [derivative(*arguments) for _ in range(2)]
    except SymgradError as refusal:
        assert refusal.what
        return
    assert np.allclose(results, 2 * V)
    try:
        symgrad.save(derivative, tmp_path / "saved.py", *arguments)
    except SaveError as refusal:
        assert "cannot be written" in refusal.what
    else:
        assert np.allclose(load(tmp_path / "saved.py").f_grad(*arguments), 2 * V)


#: names that Python takes for a function and a class
NAMABLE = {word: name for word, name in NAMES.items() if "\0" not in name and name.isprintable() | (name != "\ud800")}


@pytest.mark.parametrize("name", NAMABLE.values(), ids=NAMABLE.keys())
def test_functions_with_names_that_are_code(name: str, tmp_path: Path) -> None:
    inner = symgrad.from_source("def inner(x):\n    return x * x\n")
    f = symgrad.from_source("def f(x):\n    return np.sum(inner(x) * 2.0)\n", globals={"np": np, "inner": inner})
    for function in (inner, f):
        function.__name__ = function.__qualname__ = function.__module__ = name
        function.__doc__ = name
    derivative = symgrad.grad(f)
    assert np.allclose([derivative(V), derivative(V)], 4 * V)
    assert not called(derivative.source(V))
    symgrad.explain(derivative, V)
    symgrad.save(derivative, tmp_path / "saved.py", V)
    symgrad.save(derivative, tmp_path / "saved.py", V)
    module = load(tmp_path / "saved.py")
    module.check()
    assert np.allclose(module.f_grad(V), 4 * V)


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "a\x1b[2Jb"], ids=["surrogate", "null", "escape"])
@pytest.mark.parametrize("jit", [False, "auto"])
def test_functions_with_names_that_no_file_holds(name: str, jit: Any, tmp_path: Path) -> None:
    f = symgrad.from_source("def f(x):\n    return np.sum(x * x)\n")
    f.__name__ = f.__qualname__ = f.__module__ = name
    derivative = symgrad.grad(f, jit=jit)
    assert np.allclose([derivative(V), derivative(V)], 2 * V)
    symgrad.save(derivative, tmp_path / "saved.py", V)

    assert np.allclose(load(tmp_path / "saved.py").f_grad(V), 2 * V)
    assert "\x1b" not in (tmp_path / "saved.py").read_text() + derivative.source(V)


@pytest.mark.parametrize("name", NAMABLE.values(), ids=NAMABLE.keys())
def test_classes_with_names_that_are_code(name: str) -> None:
    held = type(name, (), {"__module__": name})()
    held.w = V
    derivative = symgrad.grad(symgrad.from_source("def f(p):\n    return np.sum(p.w ** 3)\n"))
    for _ in range(2):
        assert np.allclose(derivative(held).w, 3 * V**2)


USED = [
    "np",
    "range",
    "len",
    "getattr",
    "type",
    "x_grad",
    "_k0",
    "_kholds",
    "isinstance",
    "list",
    "check",
    "__result_0__",
    "__owner__",
    "guard",
]


@pytest.mark.parametrize("name", USED)
def test_parameters_called_like_what_texts_use(name: str, tmp_path: Path) -> None:
    text = f"def f(x, {name}):\n    t = 0.0\n    for v in {name}['a b']:\n        t = t + numpy.sum(x * v)\n    return t\n"
    f = symgrad.from_source(text, globals={"numpy": np})
    argument = {"a b": [1.0, 2.0]}
    derivative = symgrad.grad(f)
    assert np.allclose([derivative(V, argument), derivative(V, argument)], 3.0)
    symgrad.save(derivative, tmp_path / "saved.py", V, argument)
    assert np.allclose(load(tmp_path / "saved.py").f_grad(V, argument), 3.0)
    check_grads(f, (V, argument))
    check_grads(f, (V, argument), order=2, modes=("reverse",))


def test_a_value_from_outside_called_like_what_the_tests_of_a_saved_module_use(tmp_path: Path) -> None:
    space = {"numpy": np, "isinstance": 2.0, "float": 3.0, "np": 4.0}
    f = symgrad.from_source("def f(x, w):\n    return numpy.sum(x * w) * isinstance * float * np\n", globals=space)
    symgrad.save(symgrad.grad(f), tmp_path / "saved.py", V, 2.0)

    assert np.allclose(load(tmp_path / "saved.py").f_grad(V, 2.0), 48.0)


@pytest.mark.parametrize("name", ["check", "leaves", "rebuilt", "fresh", "total", "t", "rng", "given", "np", "gradients"])
def test_functions_called_like_what_a_self_check_uses(name: str, tmp_path: Path) -> None:
    f = symgrad.from_source(f"def {name}(x):\n    return numpy.sum(x * x)\n", globals={"numpy": np})
    symgrad.save(symgrad.grad(f), tmp_path / "saved.py", np.ones(30))

    runpy.run_path(str(tmp_path / "saved.py"), run_name="__main__")


@pytest.mark.parametrize("jit", [False, "auto"])
def test_a_parameter_called_getattr_beside_a_name_that_is_no_identifier(jit: Any) -> None:
    f = symgrad.from_source("def f(x, getattr):\n    return np.sum(x * getattr.w)\n")
    derivative = symgrad.grad(f, jit=jit)
    for _ in range(2):
        assert np.allclose(derivative(V, SimpleNamespace(**{"w": V, "a b": V})), V)


def test_a_signature_that_is_code() -> None:
    f = symgrad.from_source("def f(x):\n    return np.sum(x * x)\n")
    parameter = inspect.Parameter("x", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameter._name = f"x={RUN}"  # type: ignore[attr-defined]
    f.__signature__ = inspect.Signature([parameter])

    with pytest.raises(BadArgument, match="is not the name of a parameter"):
        symgrad.grad(f)


def test_declarations() -> None:
    def scaled(x: Any, k: Any = Whole(2)) -> Any:
        return x * 2

    with pytest.raises(BadArgument, match="has no literal"):
        symgrad.rule(x_grad="2 * out_grad")(scaled)
    for text in (f"f(x, k={RUN})", f"f(x) = {RUN}", f"f(x={RUN}) = x"):
        with pytest.raises(BadArgument):
            symgrad.elementwise(text)


def test_keywords_of_a_call_that_is_kept() -> None:
    words = {name: 1.0 for name in NAMES.values()}
    counted = np.frompyfunc(len, 1, 1)  # a function that cannot be read
    text = "def f(x):\n    return np.sum(x * x) + dict(**words)['blank']\n"
    f = symgrad.from_source(text, globals={"np": np, "words": words, "counted": counted})
    with pytest.raises((SymgradError, KeyError)):
        symgrad.grad(f)(V)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("value", [1.0, "x", {"a": 1.0}, [1.0, 2.0], None], ids=kind_name)
def test_attributes_that_mean_something_to_python_or_to_us(name: str, value: Any) -> None:
    held = SimpleNamespace(**{"w": V.copy(), name: value})
    inside = symgrad.grad(symgrad.from_source("def f(p):\n    return np.sum(p.w * p.w)\n"))
    outside = symgrad.grad(symgrad.from_source("def f(x):\n    return np.sum(x * held.w)\n", globals={"np": np, "held": held}))
    for _ in range(2):
        assert np.allclose(inside(held).w, 2 * V)
        assert np.allclose(outside(V), V)


class Private:
    """One attribute is private to the class, the other has just that name."""

    def __init__(self, w: Any) -> None:
        self.__w = w
        setattr(self, "__w", 2.0 * w)

    def named(self) -> Any:
        return np.sum(getattr(self, "__w") * self.__w)


def test_a_name_in_a_text_is_not_made_private() -> None:
    def f(p: Private) -> Any:
        return p.named()

    gradient = symgrad.grad(f)(Private(V))
    assert np.allclose(gradient._Private__w, 2 * V)
    assert np.allclose(vars(gradient)["__w"], V)


@every
def test_keyword_arguments(name: str) -> None:
    f = symgrad.from_source("def f(x, **named):\n    t = 0.0\n    for v in named.values():\n        t = t + np.sum(x * v)\n    return t\n")
    derivative = symgrad.grad(f)
    if name in ("", "x"):
        name = "other"
    for _ in range(2):
        assert np.allclose(derivative(V, **{name: V}), V)


# ------------------------------------------------------------------ files of source text

FILES = {
    "quotes": "a'''b\"\"\".py",
    "newline": f"a\n{RUN}\n.py",
    "braces": "{0}.py",
    "backslash": "a\\N.py",
    "blank": "a b.py",
    "code": f"{RUN}.py",
}


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such names")
@pytest.mark.parametrize("file", FILES.values(), ids=FILES.keys())
def test_the_name_of_a_file(file: str, tmp_path: Path) -> None:
    path = tmp_path / file
    lines = [
        "import numpy as np",
        "",
        "",
        "def f(x):",
        f"    y = x * x  # ''' \"\"\" \\ {{0}} \u2028 {RUN}",
        "    return np.sum(y * x)",
        "",
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    derivative = symgrad.grad(load(path).f)
    assert np.allclose([derivative(V), derivative(V)], 3 * V**2)
    assert not called(derivative.source(V))
    parse(derivative.ir(V))
    symgrad.explain(derivative, V)
    symgrad.save(derivative, tmp_path / "saved.py", V)
    saved = load(tmp_path / "saved.py")
    saved.check()
    assert np.allclose(saved.f_grad(V), 3 * V**2)


# ------------------------------------------------------------------ data on the disk


class Pickled:
    """What is called where it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return eval, (RUN,)


def test_arrays_of_objects_are_not_unpickled(tmp_path: Path) -> None:
    np.savez(tmp_path / "state.npz", page=np.array(Pickled(), object))
    with pytest.raises(SaveError, match="not a saved state"):
        storing.load(tmp_path / "state.npz")
    with pytest.raises(SaveError, match="symgrad has not written it"):
        storing.save({}, tmp_path / "state.npz")
    program = Program()
    static.save(program, tmp_path / "kept", Scope())
    page = json.loads((tmp_path / "kept.json").read_text()) | {"values": ["w"]}
    (tmp_path / "kept.json").write_text(json.dumps(page))
    np.savez(tmp_path / "kept.npz", v0=np.array([Pickled()], object))
    with pytest.raises(SaveError, match="cannot be read"):
        static.load(program, tmp_path / "kept", Scope())


CHANGES = [
    {"function": [RUN]}, {"function": ["builtins.eval"]}, {"function": ["getitem", RUN, 0]}, {"function": ["getitem", f"({RUN})", 0]},
    {"settings": [["alpha", RUN]]}, {"settings": [[RUN, 1.0]]}, {"outputs": [RUN, RUN]}, {"inputs": [{"number": RUN}]},
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_program_in_a_file_names_functions_of_the_tables_only(tmp_path: Path, change: dict[str, Any]) -> None:
    program = Program()
    with program_guard(program):
        tensors.tanh(static.data("x", [3], "float64"))
    static.save(program, tmp_path / "kept", Scope())
    page = json.loads((tmp_path / "kept.json").read_text())
    page["blocks"][0]["steps"][0] |= change
    (tmp_path / "kept.json").write_text(json.dumps(page))

    with pytest.raises(SaveError):
        static.load_program(tmp_path / "kept")


# ------------------------------------------------------------------ what is overwritten


def square(x: Any) -> Any:
    return x * x


def saver(kind: str) -> tuple[Callable[..., None], tuple[str, ...]]:
    """A function that saves, and the endings of the files that it writes."""
    match kind:
        case "module":
            derivative = symgrad.grad(square)
            return lambda path, **more: symgrad.save(derivative, path, 2.0, **more), ("",)
        case "state":
            return lambda path, **more: storing.save({"w": V}, path, **more), ("",)
        case "model":
            program = Program()
            with program_guard(program):
                x = static.data("x", [3], "float64")
                y = tensors.tanh(x)
            return lambda path, **more: static.save_inference_model(path, [x], [y], **more), (".json", ".npz")
    return lambda path, **more: static.save(Program(), path, Scope(), **more), (".json", ".npz")


KINDS = pytest.mark.parametrize("kind", ["module", "state", "program", "model"])
CONTENTS = [b"", b"mine", b"# The derivative of mine\n", b"PK\x03\x04", b'{"format": "mine"}', b"[]", b"null"]


@KINDS
@pytest.mark.parametrize("content", CONTENTS, ids=range(len(CONTENTS)))
def test_a_file_of_the_users_is_left_as_it_is(kind: str, content: bytes, tmp_path: Path) -> None:
    save, endings = saver(kind)
    for ending in endings:
        path = tmp_path / f"kept{ending}"
        path.write_bytes(content)
        with pytest.raises(SaveError, match="symgrad has not written it") as refusal:
            save(tmp_path / "kept")
        assert path.read_bytes() == content
        assert "overwrite=True" in str(refusal.value)
        assert list(tmp_path.iterdir()) == [path], "nothing is left behind"
        path.unlink()
    (tmp_path / f"kept{endings[0]}").write_bytes(content)
    save(tmp_path / "kept", overwrite=True)
    save(tmp_path / "kept")  # what symgrad has written it replaces
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(f"kept{ending}" for ending in endings)


@KINDS
@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_is_left_as_it_is(kind: str, dangling: bool, tmp_path: Path) -> None:
    save, endings = saver(kind)
    (tmp_path / "elsewhere").mkdir()
    for ending in endings:
        target, link = tmp_path / "elsewhere" / f"target{ending}", tmp_path / f"kept{ending}"
        if not dangling:
            target.write_text("mine")
        link.symlink_to(target)
        with pytest.raises(SaveError, match="is a symbolic link"):
            save(tmp_path / "kept")
        assert link.is_symlink()
        assert target.exists() is not dangling
        assert dangling or target.read_text() == "mine"
    save(tmp_path / "kept", overwrite=True)
    for ending in endings:
        assert (tmp_path / f"kept{ending}").is_symlink()
        assert (tmp_path / "elsewhere" / f"target{ending}").stat().st_size > 10
    assert len(list((tmp_path / "elsewhere").iterdir())) == len(endings)


def test_a_link_to_a_file_of_ours_is_no_file_of_ours(tmp_path: Path) -> None:
    save, _ = saver("module")
    save(tmp_path / "first.py")
    (tmp_path / "second.py").symlink_to(tmp_path / "first.py")
    with pytest.raises(SaveError, match="is a symbolic link"):
        save(tmp_path / "second.py")


def test_a_file_that_appears_meanwhile_is_left_as_it_is(tmp_path: Path) -> None:
    def produce(file: Any) -> None:
        (tmp_path / "kept").write_text("mine")
        file.write(b"ours")

    with pytest.raises(SaveError, match="was created in the meantime"):
        write_file(tmp_path / "kept", produce, lambda path: False, overwrite=False)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["mine"]


def test_what_cannot_be_written_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, _ = saver("state")
    save(tmp_path / "kept")
    before = (tmp_path / "kept").read_bytes()

    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="No space"):
        save(tmp_path / "kept")
    assert [p.read_bytes() for p in tmp_path.iterdir()] == [before]


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    save, _ = saver("module")
    save(tmp_path / "kept.py")
    (tmp_path / "kept.py").chmod(0o640)
    save(tmp_path / "kept.py")

    assert (tmp_path / "kept.py").stat().st_mode & 0o777 == 0o640


def test_the_functions_of_paddle_overwrite(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("mine")
    paddle.save({"w": V}, tmp_path / "state")
    assert np.array_equal(paddle.load(tmp_path / "state")["w"], V)
    for ending in (".json", ".npz"):
        (tmp_path / f"kept{ending}").write_text("mine")
    paddle.static.save(Program(), str(tmp_path / "kept"))
    assert isinstance(static.load_program(tmp_path / "kept"), Program)


# ------------------------------------------------------------------ caches

posix = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes and owners are those of POSIX")
superuser = pytest.mark.skipif(getattr(os, "geteuid", lambda: 1)() != 0, reason="only the superuser gives files away")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The root of the cache; nothing has been told yet."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "above" / "root"))
    monkeypatch.setattr(cache, "TOLD", [])
    monkeypatch.setattr(cache, "SEEN", set())
    return tmp_path / "above" / "root"


def kernels_in(place: Path) -> Path:
    """The directory of kernels, which is made."""
    directory = cache.private_directory("kernels")
    assert directory == place / "kernels"
    return directory


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    for kind in ("module", "state"):
        for more in ({}, {"overwrite": True}):
            with pytest.raises(OSError, match="directory"):
                saver(kind)[0](tmp_path, **more)
    assert not list(tmp_path.iterdir())


@posix
def test_what_is_no_file_is_written_to_and_stays(tmp_path: Path) -> None:
    save, _ = saver("module")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(SaveError, match="symgrad has not written it"):
        save(pipe)
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(pipe.read_text)
        save(pipe, overwrite=True)
        assert "import numpy as np" in text.result()
    assert pipe.is_fifo()


@posix
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o720, 0o702])
@pytest.mark.parametrize("where", ["root", "kernels"])
def test_a_directory_that_others_can_write_to_is_refused_with_one_notice(mode: int, where: str, place: Path) -> None:
    kernels = kernels_in(place)
    (place if where == "root" else kernels).chmod(mode)
    with pytest.warns(CacheNotUsed, match="others can write to it") as told:
        directories = [cache.private_directory("kernels") for _ in range(3)]

    assert directories == [None] * 3
    assert len(told) == 1
    assert Path(told[0].filename) == Path(__file__)


@posix
def test_work_goes_on_without_the_disk(place: Path) -> None:
    pytest.importorskip("numba")
    place.mkdir(parents=True)
    place.chmod(0o777)
    with pytest.warns(CacheNotUsed):
        assert symgrad.grad(symgrad.from_source("def cubed(x):\n    return x * x * x\n"), jit=True)(2.0) == 12.0
    assert not list(place.iterdir())


@posix
def test_the_way_out_of_the_notice(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.mkdir(parents=True)
    place.chmod(0o777)
    with pytest.warns(CacheNotUsed, match="set SYMGRAD_CACHE_DIR to a directory of your own"):
        assert cache.private_directory("kernels") is None
    monkeypatch.setattr(cache, "TOLD", [])
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "mine"))
    assert cache.private_directory("kernels") == tmp_path / "mine" / "kernels"


@posix
def test_a_directory_below_one_that_others_can_write_to_is_refused(place: Path) -> None:
    kernels_in(place)
    place.parent.chmod(0o777)
    with pytest.warns(CacheNotUsed, match="above is not used"):
        assert cache.private_directory("kernels") is None
    place.parent.chmod(0o1777)  # as /tmp: what is in it is moved by its owner alone
    kernels_in(place)


@posix
def test_a_link_on_the_way_is_followed_to_where_it_leads(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "open" / "root").mkdir(parents=True)
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "link").symlink_to(tmp_path / "open" / "root")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "link"))
    with pytest.warns(CacheNotUsed, match="open is not used"):
        assert cache.private_directory("kernels") is None
    (tmp_path / "open").chmod(0o700)
    (tmp_path / "open" / "root").chmod(0o700)
    assert cache.private_directory("kernels") is not None


@posix
def test_what_is_made_is_closed_to_others(place: Path) -> None:
    before = os.umask(0o022)
    try:
        kernels = kernels_in(place)
        assert cache.keep("text", kernels / "kept")
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (place, kernels, kernels / "kept")]
    assert modes == [0o700, 0o700, 0o600]


@posix
@pytest.mark.parametrize("planted", ["link", "writable", pytest.param("owner", marks=superuser)])
def test_a_file_that_others_may_have_written_is_not_loaded(planted: str, place: Path, tmp_path: Path) -> None:
    kernels = kernels_in(place)
    (kernels / "__pycache__").mkdir()
    file = kernels / "__pycache__" / "planted.pyc"
    match planted:
        case "link":
            (tmp_path / "theirs").write_text("")
            file.symlink_to(tmp_path / "theirs")
        case "writable":
            file.write_text("")
            file.chmod(0o666)
            kernels.chmod(0o755)
        case "owner":
            file.write_text("")
            os.chown(file, 12345, 12345)
    cache.SEEN.clear()

    with pytest.warns(CacheNotUsed, match=r"planted.pyc in it may have been written by others"):
        assert cache.private_directory("kernels") is None


@superuser
def test_a_directory_of_another_user_is_refused(place: Path) -> None:
    os.chown(kernels_in(place), 12345, 12345)
    with pytest.warns(CacheNotUsed, match="it belongs to another user"):
        assert cache.private_directory("kernels") is None


@superuser
def test_a_text_of_another_user_is_not_read(place: Path) -> None:
    kernels = kernels_in(place)
    body = json.dumps({"text": RUN})
    assert cache.keep(f"{cache.checksum('key', 'numpy', body)}\n{body}", kernels / "key.numpy")
    assert cache.read_record(kernels, "key", "numpy") == {"text": RUN}
    os.chown(kernels / "key.numpy", 12345, 12345)
    assert cache.read_record(kernels, "key", "numpy") is None


@posix
def test_a_directory_that_numba_is_told_to_use_must_be_private_too(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = pytest.importorskip("numba.core.config")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o777)
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path / "shared"))
    with pytest.warns(CacheNotUsed, match="shared"):
        assert symgrad.grad(symgrad.from_source("def fifth(x):\n    return x * x * x * x * x\n"), jit=True)(2.0) == 80.0
    assert not [path for path in (tmp_path / "shared").rglob("*") if path.is_file()]


# ------------------------------------------------------------------ helpers


def load(path: Path) -> Any:
    """A module from a file."""
    spec = importlib.util.spec_from_file_location("loaded", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def called(text: str) -> bool:
    """Does a text name the canary in its code?  In literals and comments it may stand."""
    return any(isinstance(node, ast.Name) and node.id == "canary" for node in ast.walk(ast.parse(text)))
