"""Notebook output in a real kernel: both texts, formulas, tables, and the magic ``%%symgrad``."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.notebook.display import bundle
from symgrad.notebook.formulas import formulas
from tests.explorer.samples import HOSTILE, SAMPLES, Reader
from tests.places.kernel import executed

ROOT = Path(__file__).parent.parent.parent

CELLS = {
    "start": f"import sys; sys.path.insert(0, {str(ROOT)!r})\nimport numpy as np, symgrad\n%load_ext symgrad\nSTART = np.ones(3)",
    "shown": "def square(x):\n    return x * x\nd = symgrad.grad(square)\nd(3.0)\nd",
    "not yet": "symgrad.grad(lambda y: y * 3.0)",
    "explained": "d.explain()",
    "magic": "%%symgrad --wrt x,w --args 'START, 0.5'\ndef loss(x, w):\n    h = np.tanh(w * x)\n    return np.sum(h * h)",
    "named": "print([np.shape(part) for part in loss_grad(START, 0.5)], repr(loss_grad))",
    "types": "%%symgrad first --sig 'f8[:]'\ndef first(x):\n    return np.sum(x * x)\ndef second(x):\n    return x",
    "second": "%%symgrad --order 2 --args 2.0\ndef cube(x):\n    return x * x * x",
    "second named": "float(cube_grad(2.0))",
    "hessian": "%%symgrad --order 2 --wrt 0 --args START\ndef cubes(x):\n    return np.sum(x ** 3)",
    "hessian named": "cubes_grad(START).tolist()",
    "no function": "%%symgrad\nx = 1",
    "bad option": "%%symgrad --nothing\nx = 1",
    "bad values": "%%symgrad --args 'open(1)'\ndef f(x):\n    return x * x",
    "raises": "%%symgrad\n1 / 0",
    "refused": "%%symgrad --args 2.0\ndef refused(x):\n    exec('y = x')\n    return x",
    "after": "6 * 7",
}


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The outputs of each cell, from one run of the notebook."""
    ran = executed(list(CELLS.values()), tmp_path_factory.mktemp("display"))
    return {name: cell.outputs for name, cell in zip(CELLS, ran, strict=True)}


def data(outputs: list[Any]) -> dict[str, str]:
    """What a cell shows as its result."""
    return next(output.data for output in outputs if output.output_type in ("execute_result", "display_data"))


def test_a_derivative_is_shown_beside_its_function(cells: dict[str, list[Any]]) -> None:
    shown = data(cells["shown"])
    assert shown["text/plain"].startswith("grad(square)")
    text = Reader(shown["text/html"]).text
    assert "def square(x):" in text
    assert "def square_grad(x):" in text
    assert "x: float" in text
    assert (
        shown["text/latex"]
        == r"$\displaystyle \begin{aligned} square(x) &= x^{2} \\ \frac{\partial square}{\partial x} &= 2 x \end{aligned}$"
    )


def test_before_a_call_only_the_name_is_shown(cells: dict[str, list[Any]]) -> None:
    assert set(data(cells["not yet"])) == {"text/plain"}


def test_what_explain_says_is_a_table(cells: dict[str, list[Any]]) -> None:
    read = Reader(data(cells["explained"])["text/html"])
    assert [tag for tag, _ in read.elements].count("table") == 1
    assert "square(x): x_grad = out_grad * (2 * x)" in read.text


def test_the_magic_shows_and_names_the_derivative(cells: dict[str, list[Any]]) -> None:
    assert "def loss_grad(x, w):" in Reader(data(cells["magic"])["text/html"]).text
    assert cells["named"][0].text == "[(3,), ()] grad(loss, wrt=('x', 'w'))\n"
    assert "def first_grad(x):" in Reader(data(cells["types"])["text/html"]).text
    assert data(cells["second named"])["text/plain"] == "12.0"
    assert data(cells["hessian named"])["text/plain"] == "[[6.0, 0.0, 0.0], [0.0, 6.0, 0.0], [0.0, 0.0, 6.0]]"


def test_the_magic_says_what_is_wrong(cells: dict[str, list[Any]]) -> None:
    assert cells["no function"][0].text == "%%symgrad: the cell defines no function\n"
    assert "unrecognized arguments: --nothing" in cells["bad option"][0].text
    assert "open is not among the functions" in cells["bad values"][0].text
    assert cells["raises"][0].ename == "ZeroDivisionError"
    assert cells["refused"][0].ename == "UnsupportedSyntax"
    assert data(cells["after"])["text/plain"] == "42"


# ------------------------------------------------------------------ without a kernel


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_shown(name: str) -> None:
    function, args, wrt = SAMPLES[name]
    derived = symgrad.grad(function, wrt)
    derived(*args)
    read = Reader(bundle(derived)["text/html"])
    for line in derived.source(*args).splitlines():
        assert line.partition("#")[0].rstrip() in read.text
    assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in read.elements}
    assert Reader(derived.explain()._repr_html_()).elements


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_text(name: str) -> None:
    function = symgrad.from_source(f"def f(p):\n    w = p[{name!r}]  # {name!r}\n    return np.sum(w * w)\n")
    derived = symgrad.grad(function)
    derived({name: np.ones(2)})
    for markup in (bundle(derived)["text/html"], derived.explain()._repr_html_()):
        tags = [tag for tag, _ in Reader(markup).elements]
        assert not {"script", "img", "svg"} & set(tags)
        assert tags.count("style") == 1


def test_methods_are_shown() -> None:
    class Model:
        k = 2.0

        def loss(self, x: Any) -> Any:
            return x * x * self.k

    derived = symgrad.grad(Model().loss)
    derived(3.0)
    assert "def loss_grad(self, x):" in Reader(derived._repr_mimebundle_()["text/html"]).text


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ("def f(x, w):\n    h = np.tanh(w * x) ** 2\n    return h / (1.0 + math.exp(-x))\n", (0.75, 1.25)),
        ("def f(x, w):\n    return math.sqrt(x * x + w * w) * math.log(x) - np.arctan(w / x)\n", (0.75, 1.25)),
    ],
)
def test_formulas_are_those_of_the_function_and_of_its_slopes(text: str, args: tuple[float, float]) -> None:
    import sympy

    from symgrad.notebook.formulas import closed_forms

    function = symgrad.from_source(text)
    derived = symgrad.grad(function, ("x", "w"))
    stages = derived._entry(args, {}, None).compiled.stages()
    value, slopes = closed_forms(stages["simplified"]), closed_forms(stages["optimized"])
    assert value is not None
    assert slopes is not None
    symbols = [sympy.Symbol(name, real=True) for name in ("x", "w")]
    point = dict(zip(symbols, args, strict=True))
    assert float(value[0].subs(point)) == pytest.approx(float(function(*args)))
    for symbol, slope in zip(symbols, slopes, strict=True):
        assert float(slope.subs(point)) == pytest.approx(float(sympy.diff(value[0], symbol).subs(point)))
    assert formulas("f", stages["simplified"], stages["optimized"], ["x", "w"]) is not None


@pytest.mark.parametrize(
    "text",
    ["def f(x):\n    return x if x > 0.0 else -x\n", "def f(x):\n    return np.floor(x) * x\n", "def f(x, n=3):\n    return x ** n\n"],
)
def test_what_is_no_closed_form_has_none(text: str) -> None:
    derived = symgrad.grad(symgrad.from_source(text))
    derived(1.5)
    assert "text/latex" not in bundle(derived)


def test_an_explanation_is_a_text_like_any_other() -> None:
    derived = symgrad.grad(lambda x: x * x)
    derived(1.0)
    page = derived.explain()
    assert isinstance(page, str)
    copied = pickle.loads(pickle.dumps(page))
    assert type(copied) is str
    assert copied == page
