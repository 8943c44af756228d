"""Relative imports inside functions."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax

MODULES = {
    "__init__.py": "scale = 3.0\n",
    "shapes.py": "import math\nfactor = 2.0\ndef area(r):\n    return math.pi * r * r\n",
    "inner/__init__.py": "",
    "inner/model.py": """
def beside(r):
    from .near import twice
    return twice(r) * r

def above(r):
    from ..shapes import area, factor as f
    return area(r) * f

def package(r):
    from .. import scale
    return r * scale

def module(r):
    from .. import shapes
    return shapes.area(r)

def too_high(r):
    from .... import nothing
    return r

def missing(r):
    try:
        from ..absent import nothing
    except ImportError:
        return r * 5.0
    return r
""",
    "inner/near.py": "def twice(v):\n    return v + v\n",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The module of a package whose functions import from beside and above themselves."""
    folder = tmp_path_factory.mktemp("packages")
    for name, text in MODULES.items():
        path: Path = folder / "parcel" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("parcel.inner.model")


@pytest.mark.parametrize("name", ["beside", "above", "package", "module", "missing"])
def test_what_a_relative_import_names_is_read(model: Any, name: str) -> None:
    function = getattr(model, name)
    value, slope = symgrad.value_and_grad(function)(1.5)
    assert value == pytest.approx(function(1.5))
    assert slope == pytest.approx((function(1.5 + 1e-6) - function(1.5 - 1e-6)) / 2e-6, rel=1e-8)


def test_a_number_that_is_imported_may_change(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    derivative = symgrad.grad(model.package)
    assert derivative(1.5) == 3.0
    monkeypatch.setattr(importlib.import_module("parcel"), "scale", 4.0)
    assert derivative(1.5) == 4.0


def test_beyond_the_top_is_what_python_raises(model: Any) -> None:
    with pytest.raises(ImportError) as expected:
        model.too_high(1.5)
    with pytest.raises(ImportError) as raised:
        symgrad.grad(model.too_high)(1.5)
    assert str(raised.value) == str(expected.value)


def test_without_a_package_the_whole_name_is_asked_for() -> None:
    function = symgrad.from_source("def f(x):\n    from .shapes import area\n    return area(x)\n")
    with pytest.raises(UnsupportedSyntax, match="write the whole name of the module"):
        symgrad.grad(function)(1.0)
    whole = symgrad.from_source("def f(x):\n    from math import sin\n    return sin(x)\n")
    assert symgrad.grad(whole)(0.0) == 1.0
