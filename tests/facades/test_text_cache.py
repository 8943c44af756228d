"""Generated texts on disk: reused for equal jobs only, safe under damage and races."""

from __future__ import annotations

import dataclasses
import os
import shutil
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import runs_of

import symgrad
from symgrad import compile as compiling
from symgrad.errors import NotCompiled
from symgrad.pipeline import shelf
from symgrad.runtime import cache

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of the test's own."""
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "root"))
    monkeypatch.delenv("SYMGRAD_CHECK", raising=False)
    monkeypatch.setattr(cache, "STARTED", 2**63)  # whoever has just written our source
    monkeypatch.setattr(shelf, "texts_directory", cache.texts_directory)
    cache.sources.cache_clear()
    return tmp_path / "root"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The functions on which the stages have run."""
    outputs: list[str] = []

    def derived(job: Any, read: Any) -> Any:
        outputs.append(job.source.name)
        return before(job, read)

    before = compiling.derived
    monkeypatch.setattr(compiling, "derived", derived)
    return outputs


WAVES = """
def waves(x, y):
    s = 0.0
    for i in range(len(x)):
        s += x[i] * y * np.sin(x[i])
    return s
"""
X = np.array([0.3, -1.2, 0.7])


def new(text: str, name: str | None = None, **names: Any) -> Any:
    """The function as another process would define it: all its objects are new."""
    return symgrad.from_source(text, name, {"__name__": "user", "np": np, **names})


def keys(directory: Path) -> set[str]:
    """What is kept."""
    return {path.name for folder in directory.glob("texts-*") for path in folder.iterdir()}


def looked_at(derivative: Any, *args: Any) -> dict[str, Any]:
    """Everything that can be asked of a derivative."""
    value, gradient = derivative(*args)
    return {
        "value": value,
        "gradient": np.asarray(gradient).tolist(),
        "source": derivative.source(),
        "readable": symgrad.value_and_grad(derivative._function).source(*args),
        "stages": {stage: derivative.ir(stage=stage) for stage in ("lowered", "simplified", "adjoint", "optimized")},
        "ir": derivative.ir(),
        "difference": derivative.ir(stage=("adjoint", "optimized")),
        "explain": derivative.explain(),
    }


# ------------------------------------------------------------------ found again


def test_what_has_been_compared_with_the_function_is_not_compared_again(place: Path) -> None:
    for text, verify, expected in (
        (WAVES, None, 1),
        (WAVES, None, 0),
        (WAVES.replace("0.0", "0.0  # nothing"), None, 1),
        (WAVES, "gradient", 1),
    ):
        function = new(text)
        with runs_of(function) as counted:
            symgrad.value_and_grad(function, jit=True, verify=verify)(X, 0.5)

        assert min(len(counted), 1) == expected


def test_what_has_been_made_is_not_made_again(place: Path, runs: list[str]) -> None:
    first = symgrad.value_and_grad(new(WAVES), jit=True)
    value, gradient = first(X, 2.0)
    assert runs == ["waves"]
    assert {name.partition(".")[2] for name in keys(place)} == {"numpy", "kernel", "compared"}

    second = symgrad.value_and_grad(new(WAVES), jit=True)
    again, other = second(X, 2.0)
    assert runs == ["waves"]
    assert again == value
    assert other.tolist() == gradient.tolist()
    assert second.source() == first.source()
    assert second.source(optimize="speed") == first.source(optimize="speed")
    assert runs == ["waves"], "the text of the kernel says it all"


def test_everything_that_can_be_asked_is_the_same(runs: list[str], tmp_path: Path) -> None:
    first = looked_at(symgrad.value_and_grad(new(WAVES), jit=True), X, 2.0)
    runs.clear()
    derivative = symgrad.value_and_grad(new(WAVES), jit=True)
    derivative(X, 2.0)
    assert not runs
    assert looked_at(derivative, X, 2.0) == first
    symgrad.save(derivative, tmp_path / "kept.py", X, 2.0)
    os.environ[cache.VARIABLE] = "off"
    derivative = symgrad.value_and_grad(new(WAVES), jit=True)
    assert looked_at(derivative, X, 2.0) == first
    symgrad.save(derivative, tmp_path / "made.py", X, 2.0)
    assert (tmp_path / "kept.py").read_text() == (tmp_path / "made.py").read_text()


def test_a_gradient_of_what_was_found_is_right(runs: list[str]) -> None:
    text = "def quartic(x): return x * x * x * x"

    def both() -> tuple[float, float]:
        first = symgrad.grad(new(text), jit=True)
        return first(2.0), symgrad.grad(first, jit=True)(2.0)

    assert both() == (32.0, 48.0)
    runs.clear()
    assert both() == (32.0, 48.0)
    assert runs == ["quartic"], "of the first derivative, whose IR is asked for; the second one was found"


def test_pullbacks_are_found(runs: list[str]) -> None:
    text = "def table(x, y): return np.outer(np.sin(x), y), x * y"
    args = (X, np.array([1.0, 2.0, 5.0]))
    seeds = (np.arange(9.0).reshape(3, 3), X)
    results = []
    for _ in range(2):
        out, pullback = symgrad.vjp(new(text), *args, jit=True)
        results.append([a.tolist() for a in (*out, *pullback(seeds))])

    assert runs == ["table"]
    assert results[0] == results[1]


def test_why_there_is_no_kernel_is_found(runs: list[str]) -> None:
    text = "def shown(x):\n    for v in x:\n        print([v])\n    return np.sum(x * x)"
    told = []
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            assert symgrad.grad(new(text), jit=True)(X).tolist() == (2 * X).tolist()
        told.append([(str(w.message), w.category, w.filename, w.lineno) for w in caught])

    assert runs == ["shown"]
    assert told[0] == told[1]
    assert told[0][0][1] is NotCompiled
    assert ":3" in told[0][0][0], "with the line"


def test_classes_of_arguments_are_found() -> None:
    @dataclasses.dataclass
    class Weights:
        w: Any
        b: float

    text = "def line(p, x): return np.sum(p.w * x) + p.b"
    for _ in range(2):
        gradient = symgrad.grad(new(text), jit=True)(Weights(X, 1.0), X)
        assert type(gradient) is Weights
        assert gradient.w.tolist() == X.tolist()
        assert gradient.b == 1.0


def test_the_numpy_code_that_stands_behind_a_kernel_is_found(runs: list[str]) -> None:
    text = "def inverse(x, n):\n    s = 1.0\n    for i in range(n):\n        s = s / x\n    return s"
    for _ in range(2):
        derivative = symgrad.grad(new(text), jit=True)
        assert derivative(2.0, 2) == -0.25
        with pytest.raises(ZeroDivisionError):
            derivative(0.0, 2)
    assert runs[:1] == ["inverse"]


def test_relations_of_extents_are_asked_for_without_the_stages(runs: list[str]) -> None:
    text = "def split(x, y):\n    z = x * 1.0\n    z[: len(y)] = y * z[: len(y)]\n    return np.sum(z[:-1] * y)"
    args = (np.arange(4.0), np.arange(3.0))
    expected = symgrad.grad(new(text))(*args).tolist()
    runs.clear()
    assert symgrad.grad(new(text), jit=True)(*args).tolist() == expected
    first = list(runs)
    assert symgrad.grad(new(text), jit=True)(*args).tolist() == expected
    assert runs == first
    derivative = symgrad.grad(new(text), jit=True)
    with pytest.raises(ValueError):
        derivative(np.arange(5.0), np.arange(3.0))


# ------------------------------------------------------------------ not found


def entered(place: Path, make: Callable[[], Any], *args: Any) -> set[str]:
    """What is kept that was not before."""
    before = keys(place)
    make()._entry(args, {}, None)
    return keys(place) - before


TWICE = "def twice(v): return 2.0 * v\ndef f(x): return twice(x) * x"
THRICE = "def twice(v): return 3.0 * v\ndef f(x): return twice(x) * x"


def test_whatever_differs_is_made_anew(place: Path) -> None:
    def asked(text: str, what: Any = symgrad.grad, wrt: Any = None, names: dict[str, Any] | None = None, **options: Any) -> Any:
        return lambda: what(new(text, **(names or {})), wrt, jit=options.pop("jit", True), **options)

    plain = "def f(x, y): return c * x * y"
    told: list[tuple[str, Callable[[], Any], tuple[Any, ...]]] = [
        ("itself", asked(plain, names={"c": 2.0}), (1.0, 2.0)),
        ("a constant", asked(plain.replace("c", "2.0")), (1.0, 2.0)),
        ("another", asked(plain.replace("c", "2.5")), (1.0, 2.0)),
        ("of another type", asked(plain.replace("c", "2")), (1.0, 2.0)),
        ("a place in the file", asked("\n" + plain, names={"c": 2.0}), (1.0, 2.0)),
        ("the type of a global", asked(plain, names={"c": np.float64(2.0)}), (1.0, 2.0)),
        ("its rank", asked(plain.replace("return c", "return np.sum(c)"), names={"c": np.ones(3)}), (1.0, 2.0)),
        ("its dtype", asked(plain.replace("return c", "return np.sum(c)"), names={"c": np.ones(3, "f4")}), (1.0, 2.0)),
        ("the type of an argument", asked(plain, names={"c": 2.0}), (1.0, 2)),
        ("its dtype", asked(plain, names={"c": 2.0}), (1.0, np.float32(2))),
        ("of which", asked(plain, wrt=1, names={"c": 2.0}), (1.0, 2.0)),
        ("of both", asked(plain, wrt=(0, 1), names={"c": 2.0}), (1.0, 2.0)),
        ("of one, as a tuple", asked(plain, wrt=(0,), names={"c": 2.0}), (1.0, 2.0)),
        ("with the value", asked(plain, symgrad.value_and_grad, names={"c": 2.0}), (1.0, 2.0)),
        ("unused", asked(plain, names={"c": 2.0}, allow_unused=True), (1.0, 2.0)),
        ("if it can be", asked(plain, names={"c": 2.0}, jit="auto"), (1.0, 2.0)),
        ("cut", asked("def f(x, y):\n    z = x * x\n    return z * x"), (1.0, 2.0)),
        ("cut there", asked("def f(x, y):\n    z = x * x\n    return z * x", no_grad="z"), (1.0, 2.0)),
        ("a function that is called", asked(TWICE), (1.0,)),
        ("another one", asked(THRICE), (1.0,)),
        ("arrays", asked("def f(x): return np.sum(x * x)"), (X,)),
        ("of one element", asked("def f(x): return np.sum(x * x)"), (X[:1],)),
        ("of two axes", asked("def f(x): return np.sum(x * x)"), (np.ones((2, 3)),)),
        ("single", asked("def f(x): return np.sum(x * x)"), (X.astype("f4"),)),
        ("by rows", asked("def f(x):\n    y = x.ravel()\n    y[0] = 2.0\n    return np.sum(x * y)"), (np.ones((2, 3)),)),
        ("by columns", asked("def f(x):\n    y = x.ravel()\n    y[0] = 2.0\n    return np.sum(x * y)"), (np.ones((3, 2)).T,)),
        ("an axis", asked("def f(x, k): return np.sum(np.sum(x * x, axis=k))"), (np.ones((2, 3)), 0)),
        ("the other axis", asked("def f(x, k): return np.sum(np.sum(x * x, axis=k))"), (np.ones((2, 3)), 1)),
        ("a choice by text", asked("def f(x, how): return x if how == 'a' else 2.0 * x"), (1.0, "a")),
        ("the other choice", asked("def f(x, how): return x if how == 'a' else 2.0 * x"), (1.0, "b")),
        ("a closure", lambda: symgrad.grad(over(2.0), jit=True), (1.0,)),
        ("over an integer", lambda: symgrad.grad(over(2), jit=True), (1.0,)),
        ("another default", asked("def f(x, n=3):\n    for i in range(n):\n        x = x * x\n    return x"), (1.0, 3.0 > 2)),
    ]
    for what, make, args in told:
        assert entered(place, make, *args), what
    for what, make, args in told:
        assert not entered(place, make, *args), what


def over(factor: Any) -> Any:
    def f(x: Any) -> Any:
        return factor * x * x

    return f


@pytest.mark.parametrize("name", ["sys.version", "np.__version__", "sources"])
def test_another_version_makes_everything_anew(name: str, place: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def gradient() -> float:
        return float(symgrad.grad(new("def f(x): return x * x"), jit=True)(3.0))

    assert gradient() == gradient() == 6.0
    assert runs == ["f"]
    if name == "sources":
        known = cache.sources()
        assert known is not None
        monkeypatch.setattr(cache, "sources", lambda: ("0", known[1]))
    else:
        monkeypatch.setattr(cache.sys if name.startswith("sys") else cache.np, name.partition(".")[2], "4.0")
    assert gradient() == gradient() == 6.0
    assert runs == ["f", "f"]


def test_the_digest_is_of_our_own_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(Path(symgrad.__file__).parent, tmp_path / "symgrad", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(cache, "__file__", str(tmp_path / "symgrad" / "runtime" / "cache.py"))
    digests = []
    for path, text in [
        ("", ""),
        ("passes/simplification/fold.py", "# a comment\n"),
        ("passes/more.py", ""),
        ("passes/simplification/fold.py", "# a comnemt\n"),
    ]:
        if path:
            (tmp_path / "symgrad" / path).write_text(text)
        cache.sources.cache_clear()
        known = cache.sources()
        assert known is not None
        digests.append(known[0])
    cache.sources.cache_clear()

    assert len(set(digests)) == 4
    monkeypatch.setattr(cache, "STARTED", max(changed for *_, changed, _ in cache.own_files()) - 1)
    assert cache.sources() is None, "changed since this process began, which may run the old one"
    cache.sources.cache_clear()


def test_source_that_changes_while_it_runs_is_not_believed(place: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    cache.sources()
    files = cache.own_files()
    monkeypatch.setattr(cache, "own_files", lambda: (*files[1:], (files[0][0], 1, 2, 3, 4)))
    cache.files_after.cache_clear()
    for _ in range(2):
        assert symgrad.grad(new("def f(x): return x * x"), jit=True)(3.0) == 6.0
    cache.files_after.cache_clear()

    assert runs == ["f", "f"]
    assert not keys(place)


def test_source_that_changes_when_all_of_it_has_been_imported_is_not_looked_at(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert symgrad.grad(new("def f(x): return x * x"), jit=True)(3.0) == 6.0
    kept = keys(place)
    monkeypatch.setattr(cache, "own_files", lambda: ())
    assert symgrad.grad(new("def f(x): return x * x * x"), jit=True)(3.0) == 27.0
    assert keys(place) > kept

    monkeypatch.setitem(cache.sys.modules, "symgrad.another", symgrad)
    assert symgrad.grad(new("def f(x): return x * x + x"), jit=True)(3.0) == 7.0
    assert len(keys(place)) == 2 * len(kept), "nobody knows from which files the new module is"


def test_what_only_this_process_knows_is_not_kept(place: Path, runs: list[str]) -> None:
    def own(x: float) -> float:
        return x * x

    symgrad.rule(own, "own(x)", x_grad="2 * x * out_grad")
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotCompiled)
            assert symgrad.grad(new("def f(x): return own(x) * 2.0", own=own), jit=True)(3.0) == 12.0

    assert runs == ["f", "f"]
    assert not keys(place)


def test_a_name_for_something_else_is_something_else(runs: list[str]) -> None:
    text = "def f(x, how):\n    return np.sum(x * table[how])"
    for table in ({"w": X, "v": X}, {"w": 2 * X, "v": X}, {"w": np.float64(3.0), "v": X}):
        got = symgrad.grad(new(text, table=table), jit=True)(X, "w")
        assert got.tolist() == (table["w"] * np.ones(3)).tolist()

    assert runs == ["f", "f"], "values are read at each call, types are not"


# ------------------------------------------------------------------ never in the way

CUBE = "def cube(x): return x * x * x"


def damaged(text: str) -> list[str]:
    """What may become of a file."""
    head, _, body = text.partition("\n")
    return ["", head, text[: len(text) // 2], f"{head}\n{body.replace('cube', 'cubf')}", f"{'0' * len(head)}\n{body}", body, "\0" * 100]


@pytest.mark.parametrize("number", range(7))
def test_a_damaged_file_is_made_anew(number: int, place: Path, runs: list[str]) -> None:
    assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    files = [path for folder in place.glob("texts-*") for path in folder.iterdir()]
    whole = {path: path.read_text() for path in files}
    for path in files:
        path.write_text(damaged(whole[path])[number])

    assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    assert runs == ["cube", "cube"]
    assert {path: path.read_text() for path in files} == whole
    assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    assert runs == ["cube", "cube"]


def test_a_file_in_the_place_of_another_is_not_taken(place: Path, runs: list[str]) -> None:
    assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    cubes = keys(place)
    assert symgrad.grad(new("def cube(x): return x * x"), jit=True)(2.0) == 4.0
    (folder,) = place.glob("texts-*")
    for name in cubes:
        (kind,) = {name.partition(".")[2]}
        (other,) = [n for n in keys(place) - cubes if n.endswith(kind)]
        shutil.copy(folder / name, folder / other)

    assert symgrad.grad(new("def cube(x): return x * x"), jit=True)(2.0) == 4.0
    assert runs == ["cube", "cube", "cube"]


@pytest.mark.parametrize("content", [{}, [], {"relations": [], "text": 1}, {"relations": 1, "text": None}, {
    "relations": [], "text": "def f(): pass", "name": "f", "again": True, "namespace": {"x": ["os", "system"]}, "classes": {}}, {
    "relations": [], "text": "def f(): pass", "name": "f", "again": True, "namespace": {}, "classes": {"A": 7}}])  # fmt: skip
def test_a_record_of_another_form_is_not_taken(content: Any, place: Path, runs: list[str]) -> None:
    assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    (folder,) = place.glob("texts-*")
    for name in keys(place):
        key, _, kind = name.partition(".")
        assert cache.write_record(folder, key, kind, content)

    assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    assert runs == ["cube", "cube"]


def test_a_full_or_closed_disk_is_no_matter(place: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    for _ in range(2):
        assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0
    assert runs == ["cube", "cube"]
    assert not keys(place)


def test_explaining_runs_the_stages(place: Path, runs: list[str]) -> None:
    derivative = symgrad.grad(new(CUBE), jit=True)
    derivative(2.0)
    pages = [derivative.explain(2.0) for _ in range(2)]

    assert runs == ["cube"] * 3
    assert pages[0] == pages[1]


@pytest.mark.parametrize("how", ["off", "", "SYMGRAD_CHECK", "open to all", "a file", "closed"])
def test_where_nothing_is_to_be_kept_nothing_is(how: str, place: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    match how:
        case "off" | "":
            monkeypatch.setenv(cache.VARIABLE, how)
        case "SYMGRAD_CHECK":
            monkeypatch.setenv("SYMGRAD_CHECK", "1")
        case "a file":
            place.write_text("")
        case "open to all":
            place.mkdir()
            place.chmod(0o777)
            monkeypatch.setattr(cache, "TOLD", [(place, "said before")])
        case "closed":
            monkeypatch.setattr(os, "access", lambda *args: False)
    for _ in range(2):
        assert symgrad.grad(new(CUBE), jit=True)(2.0) == 12.0

    assert runs == ["cube", "cube"]
    assert not keys(place)


def test_many_may_write_at_once(place: Path) -> None:
    results: list[float] = []

    def run() -> None:
        results.append(symgrad.grad(new(CUBE), jit=True)(2.0))

    threads = [threading.Thread(target=run) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [12.0] * 6
    assert len(keys(place)) == 3


def test_directories_of_other_versions_are_cleared_away(place: Path) -> None:
    assert cache.texts_directory() is not None
    for number in range(12):
        directory = cache.fresh_directory(f"texts-{number}")
        assert directory is not None
        os.utime(directory, (number, number))
    (place / "kernels-0").mkdir()
    used = cache.fresh_directory("texts-5")
    newest = cache.fresh_directory("texts-new")

    assert used in (left := set(place.iterdir()))
    assert newest in left
    assert place / "kernels-0" in left
    assert place / "texts-4" not in left
    assert len(left) <= cache.KEPT + 1
