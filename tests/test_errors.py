"""Every kind of error: its class, its section in docs/errors.md, and a program that provokes it."""

from __future__ import annotations

import ast
import importlib
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import anew, planted
from structure import FILES, tree_of

import symgrad
from symgrad import eager, errors
from symgrad.eager import Tensor
from symgrad.errors import SymgradError, UnknownFunction, UnsupportedSyntax, kinds, render, together
from symgrad.frontend.text.source import from_source
from symgrad.location import Loc

DOCUMENT = Path(__file__).parent.parent / "docs" / "errors.md"
TWO = np.array([1.0, 2.0])


def unknown_function(x):
    return np.sort_complex(x).real.sum()


def unsupported_syntax(x):
    def inner():
        yield x

    return sum(inner()) + (yield x)


def no_derivative(x):
    return np.linalg.svd(x)[0].sum()


def unsupported_argument(x):
    return np.exp(x, subok=False).sum()


def shape_mismatch(x):
    return (x[:3].sum() + np.ones(2) * np.ones(3)).sum()


def unsure_alias(x):
    y, halved = x.copy(), []
    while len(halved) < x[0]:
        halved.append(y)
        y *= 0.5
    return sum(v.sum() for v in halved)


def written_and_read(x, y):
    x[0] = 2.0
    return (x * y).sum()


def opaque():
    return TWO.copy()


opaque_of_library = type("Opaque", (), {"__call__": staticmethod(np.frombuffer)})()


def unknown_type(x):
    y = np.frombuffer(bytearray(16))
    y[0] = x
    return y[0]


def cast_store(x):
    y = np.zeros(3, dtype=int)
    y[0] = x
    return y.sum()


def not_active(x, w):
    return x * x


def not_scalar(x):
    return 2.0 * x


def shrunk(x):
    return shrunk(x / (x - 3.0)) if x > 1.0 else x


def caught(x):
    try:
        y = shrunk(x)
    except ZeroDivisionError:
        y = 2 * x
    return y


def square(x):
    return x * x


def stale():
    function = from_source("def f(x): return x * x")
    function.__code__ = function.__code__.replace(co_consts=(None, 1.0), co_name="other")
    return symgrad.grad(function)(1.0)


def unsaved():
    data = np.ones(3)

    def f(w):
        return (data * w).sum()

    symgrad.save(symgrad.grad(f), Path("never_written.py"), 1.0)


def numba_missing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("symgrad.targets.has_numba", lambda: False)
        symgrad.grad(square, jit=True)


def scipy_missing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "scipy", None)
        patch.delitem(sys.modules, "symgrad.implicit", raising=False)
        importlib.import_module("symgrad.implicit")


def dask_missing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "distributed", None)
        patch.delitem(sys.modules, "symgrad.integrations.dask", raising=False)
        importlib.import_module("symgrad.integrations.dask")


def cluster_failed():
    distributed = pytest.importorskip("distributed")
    from symgrad.integrations.dask import ShardedSum

    with distributed.Client(processes=False, n_workers=1, dashboard_address=":0") as client:
        total = ShardedSum(square, [1.0], client=client)
    total.value(1.0)


def cloudpickle_missing():
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "cloudpickle", None)
        pickle.dumps(symgrad.grad(lambda x: x * x))


def tensor():
    return Tensor(np.array([1.0, 2.0]), stop_gradient=False)


def freed():
    y = (tensor() ** 2).sum()
    y.backward()
    y.backward()


def overwritten():
    x = tensor()
    y = (x * x).sum()
    x.set_value([3.0, 4.0])
    y.backward()


def mismatched():
    with planted("x * x", "x + x"):
        symgrad.value_and_grad(anew(square))(3.0)


PROVOKED: dict[str, Callable[[], Any]] = {
    "UnsupportedSyntax": lambda: symgrad.grad(unsupported_syntax)(1.0),
    "UnknownFunction": lambda: symgrad.grad(unknown_function)(np.eye(2)),
    "UnsupportedArgument": lambda: symgrad.grad(unsupported_argument)(TWO),
    "NoDerivative": lambda: symgrad.grad(no_derivative)(np.eye(2)),
    "ShapeMismatch": lambda: symgrad.grad(shape_mismatch)(TWO),
    "CaughtException": lambda: symgrad.grad(caught)(3.0),
    "UnsureAlias": lambda: symgrad.grad(unsure_alias)(TWO),
    "UnknownType": lambda: symgrad.grad(unknown_type)(1.0),
    "CastStore": lambda: symgrad.grad(cast_store)(1.0),
    "BadArgument": lambda: symgrad.grad(square, wrt="q"),
    "IntegerArgument": lambda: symgrad.grad(square)(2),
    "NotActive": lambda: symgrad.grad(not_active, wrt="w", strict=True)(1.0, 2.0),
    "NotScalar": lambda: symgrad.grad(not_scalar)(TWO),
    "FreedGraph": freed,
    "NotReached": lambda: eager.grad(tensor() * 2, tensor()),
    "Overwritten": overwritten,
    "LeafInPlace": lambda: tensor().__setitem__(0, 1.0),
    "SourceNotFound": lambda: symgrad.grad(eval("lambda x: x * x"))(1.0),
    "StaleSource": stale,
    "SaveError": unsaved,
    "NumbaMissing": numba_missing,
    "SciPyMissing": scipy_missing,
    "CloudpickleMissing": cloudpickle_missing,
    "DaskMissing": dask_missing,
    "ClusterFailed": cluster_failed,
    "Mismatch": mismatched,
}
#: refusals that must name the user's file and line
LOCATED = set(PROVOKED) - {
    "SciPyMissing",
    "CloudpickleMissing",
    "DaskMissing",
    "ClusterFailed",
    "NumbaMissing",
    "SourceNotFound",
    "StaleSource",
    "SaveError",
    "CaughtException",
    "FreedGraph",
    "NotReached",
    "Overwritten",
    "LeafInPlace",
}


def test_classes_sections_and_tests_are_the_same() -> None:
    names = [kind.__name__ for kind in kinds()]
    sections = re.findall(r"^## (\w+)$", DOCUMENT.read_text(), re.MULTILINE)
    assert sections == names
    assert set(PROVOKED) == set(names) - {"InvalidIR"}, "InvalidIR is provoked in tests/ir"


@pytest.mark.parametrize("name", PROVOKED)
def test_provoked(name: str) -> None:
    with pytest.raises(SymgradError) as caught:
        PROVOKED[name]()
    error = caught.value
    assert type(error) is getattr(errors, name), error
    assert f"more: python -m symgrad errors {name}" in str(error)
    if name in LOCATED:
        assert error.loc is not None
        assert Path(__file__).name in error.loc.file
        assert error.loc.line > 0
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)


@pytest.mark.parametrize("f", [lambda x: x.sum() + nowhere(x), lambda x: [][0] + x[0]])  # noqa: F821
def test_what_is_refused_in_a_lambda_is_told(f: Any) -> None:
    with pytest.raises(UnsupportedSyntax, match="not defined|out of range") as caught:
        symgrad.grad(f, verify=False)(TWO)
    assert caught.value.loc is not None


def test_a_function_without_a_rule_is_named() -> None:
    with pytest.raises(UnknownFunction, match="^sort_complex has no rule"):
        symgrad.grad(unknown_function)(TWO)


def test_the_array_of_integers_that_a_derivative_would_be_stored_in_is_named() -> None:
    def f(x):
        counts = np.zeros(2, dtype=int)
        counts[0] = x[0]
        return counts.sum() * x[1]

    with pytest.raises(errors.CastStore, match="^a value that carries a derivative is stored in counts, an array of i64"):
        symgrad.grad(f)(TWO)


LOC = Loc("gated.py", 7, 8, 18, "    z = {w * h, x}")


def test_rendered_with_the_line_and_carets_below_it() -> None:
    error = UnsupportedSyntax("a set display cannot be differentiated", LOC, "try a tuple: (w * h, x)")
    assert render(error).splitlines() == [
        "UnsupportedSyntax: a set display cannot be differentiated",
        "  gated.py:7",
        "      z = {w * h, x}",
        "          ^^^^^^^^^^",
        "  try a tuple: (w * h, x)",
        "  more: python -m symgrad errors UnsupportedSyntax",
    ]


def test_several_offences_are_one_error() -> None:
    first, second = UnsupportedSyntax("one", LOC), UnknownFunction("two")
    error = together([first, second, UnsupportedSyntax("one", LOC)])
    assert error.errors == [first, second]
    assert "one" in str(error)
    assert "two" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert [type(e) for e in again.errors] == [UnsupportedSyntax, UnknownFunction]


def test_nearest_names_are_the_hint() -> None:
    assert "arctan2" in str(UnknownFunction("unknown", name="atan_2", known=["arctan2", "exp", "atan2"]))


def test_other_python_errors_catch_them() -> None:
    with pytest.raises(TypeError):
        symgrad.grad(square)(2)
    with pytest.raises(ValueError, match="no parameter"):
        symgrad.grad(square, wrt=3)


def test_a_failure_is_not_kept() -> None:
    state = {"value": 1}

    def f(x):
        return x * scale()

    def scale():
        return state["value"]

    derivative = symgrad.grad(f)
    for _ in range(2):
        with pytest.raises(SymgradError):
            derivative(2)
    assert derivative(2.0) == 1.0


# ------------------------------------------------------------------ hints


def hints() -> list[tuple[str, str]]:
    """Every hint that stands in the package as a text, with its place."""
    names = {kind.__name__ for kind in kinds()}
    pairs = [("symgrad/errors.py", kind.default_hint) for kind in kinds() if kind.default_hint]
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if not isinstance(node, ast.Call):
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            words = [word.value for word in node.keywords if word.arg == "hint"] + (node.args[2:3] if called in names else [])
            for text in words:
                if isinstance(text, ast.Constant) and isinstance(text.value, str) or isinstance(text, ast.JoinedStr):
                    pairs.append((f"{path.name}:{node.lineno}", ast.unparse(text)))
    return pairs


def test_hints_hold_no_placeholders_and_are_short() -> None:
    written = hints()
    assert len(written) > 100
    for place, hint in written:
        assert "..." not in hint or "from_source(" in hint, f"{place}: {hint} cannot be pasted"  # there it is the body of a function
        assert len(hint) < 120, f"{place}: {hint}"


def steps_in(n, x):
    total = x
    for _ in range(n):
        total = total * x
    return total


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: symgrad.grad(steps_in, "x")(2.5, 1.5), "write int(n)"),
        (lambda: symgrad.grad(square)(2), "pass floats, for example float(x)"),
        (lambda: symgrad.grad(square)(np.arange(3)), "pass floats, for example x.astype(float)"),
        (lambda: symgrad.save(square, "never_written.py"), "save its gradient: symgrad.save(symgrad.grad(square), path)"),
    ],
)
def test_hints_are_written_in_the_names_of_the_user(call: Callable[[], Any], hint: str) -> None:
    with pytest.raises(SymgradError) as caught:
        call()

    assert caught.value.hint == hint
    assert f"\n  {hint}\n" in str(caught.value)


def test_a_refusal_in_another_file_names_the_call_and_the_function_may_be_declared() -> None:
    space: dict[str, Any] = {"np": np}
    weigh = from_source("def weigh(x):\n    return np.sum(x) * eval('2.0')\n", "weigh", space)
    function = from_source("def g(x):\n    return weigh(x * x)\n\ndef f(x):\n    return g(x) + weigh(x)\n", "f", {"weigh": weigh})
    with pytest.raises(UnsupportedSyntax) as caught:
        symgrad.grad(function)(TWO)
    assert not caught.value.others  # that g returns nothing is a consequence
    [(place, note)] = caught.value.notes
    assert (place.text.strip(), place.line, note) == ("return weigh(x * x)", 2, "called here; or declare weigh with symgrad.rule")
    assert caught.value.loc is not None
    assert caught.value.loc.file != place.file == function.__code__.co_filename

    symgrad.rule(weigh, "weigh(x)", x_grad="2 * out_grad + 0 * x")
    np.testing.assert_allclose(symgrad.grad(function)(TWO), 4 * TWO + 2)
