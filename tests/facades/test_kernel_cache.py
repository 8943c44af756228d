"""Kernels on disk: reused by the next process, in a private directory, safe under damage and races."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import symgrad
from symgrad.runtime import cache, kernels

pytest.importorskip("numba")

#: numba has started when its first function is loaded; what is timed is ours
PROGRAM = """
import sys, time
import numba, symgrad
warm = symgrad.from_source("def warm(x): return x * x")
symgrad.grad(warm, jit=True)(1.0)
f = symgrad.from_source('''
def rosenbrock(x):
    s = 0.0
    for i in range(len(x) - 1):
        a, b = x[i + 1] - x[i] * x[i], 1.0 - x[i]
        s += 100.0 * a * a + b * b
    return s
''')
import numpy as np
start = time.process_time()
derivative = symgrad.value_and_grad(f, jit=True)
value, gradient = derivative(np.arange(3.0))
taken = time.process_time() - start
kernel = derivative.compiled.__self__.compiled(np.arange(3.0)).__globals__["rosenbrock_value_and_grad_kernel"]
print(taken, sum(kernel.stats.cache_hits.values()), value, *gradient)
"""


#: a function that is long enough for the stages to take longer than all else
LONG = """
import sys, time
import numba, numpy as np, symgrad
numba.njit(lambda x: x)(1.0)
f = symgrad.from_source('''
def filtered(F, H, Q, R, x, P, ys):
    total = 0.0
    for t in range(ys.shape[0]):
        x = F @ x
        P = F @ P @ F.T + Q
        S = H @ P @ H.T + R
        e = ys[t] - H @ x
        inverse = np.linalg.inv(S)
        K = P @ H.T @ inverse
        x = x + K @ e
        P = P - K @ H @ P
        total = total + 0.5 * (e @ inverse @ e) + 0.5 * np.log(np.linalg.det(S))
    return total
''')
random = np.random.default_rng(0)
four, two = np.eye(4), np.eye(2)
arguments = (0.9 * four, random.normal(size=(2, 4)), 0.1 * four, two, np.ones(4), four, random.normal(size=(5, 2)))
derivative = symgrad.value_and_grad(f, wrt=(0, 1), jit=True)
start = time.process_time()
value, (first, second) = derivative(*arguments)
taken = time.process_time() - start
stages = ("symgrad.adjoint.", "symgrad.passes.", "symgrad.loops.", "symgrad.codegen.writer")
imported = [name for name in sys.modules if name.startswith(stages) and name != "symgrad.loops.reach"]
print(taken, len(imported), value, *first.ravel(), *second.ravel())
"""


def run(place: Path, program: str = PROGRAM) -> list[float]:
    """What a process prints that keeps its kernels there."""
    root = str(Path(symgrad.__file__).parent.parent)
    passed = {**os.environ, "PYTHONPATH": root, "SYMGRAD_CACHE_DIR": str(place), "NUMBA_CACHE_DIR": ""}
    passed.pop("SYMGRAD_CHECK", None)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=passed)
    assert ran.returncode == 0, ran.stderr
    return [float(word) for word in ran.stdout.split()]


@pytest.fixture(scope="module")
def first_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """The directory that a first process leaves, and what the process prints."""
    place = tmp_path_factory.mktemp("first") / "new"
    return place, run(place)


def test_the_next_process_finds_what_was_compiled(first_run: tuple[Path, list[float]]) -> None:
    place, (first, *rest) = first_run
    again, *actual = run(place)
    print(f"first call {first:.3f} s, in the next process {again:.3f} s")

    assert rest[0] == 0
    assert actual[0] == 1
    assert rest[1:] == actual[1:]
    assert rest[1] == 201.0
    directories = list(place.iterdir())
    assert sorted(d.name.partition("-")[0] for d in directories) == ["kernels", "texts"]
    assert {d.stat().st_mode & 0o777 for d in directories} == {0o700}


@pytest.mark.parametrize("content", [b"garbage", b""])
def test_damaged_files_are_made_anew(tmp_path: Path, content: bytes, first_run: tuple[Path, list[float]]) -> None:
    place, (_, _, *rest) = first_run
    shutil.copytree(place, tmp_path, dirs_exist_ok=True)
    kept = [path for path in tmp_path.rglob("*") if path.suffix in (".nbi", ".nbc")]
    assert kept
    for path in kept:
        path.write_bytes(content)
    for _ in range(2):
        _, hits, *actual = run(tmp_path)
        assert actual == rest
    assert hits == 1


def test_the_next_process_needs_no_stage(tmp_path: Path) -> None:
    first, results, *rest = run(tmp_path, LONG)
    again, *actual = run(tmp_path, LONG)
    print(f"first call {first:.3f} s, in the next process {again:.3f} s")

    assert results > 50
    assert actual == [0.0, *rest]


def test_the_directory_is_where_programs_of_the_system_keep_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directories = pytest.importorskip("platformdirs")
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    for base in ("", str(tmp_path / "cache")) if sys.platform == "linux" else ("",):
        monkeypatch.setenv("XDG_CACHE_HOME", base)
        assert cache.cache_root() == directories.user_cache_path("symgrad", appauthor=False)


@pytest.fixture()
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "root"))
    return tmp_path / "root"


def test_the_directory_is_private(place: Path) -> None:
    actual = cache.private_directory("kernels")
    assert actual == place / "kernels"
    assert actual.stat().st_mode & 0o777 == 0o700
    actual.chmod(0o755)
    assert cache.private_directory("kernels") == actual
    assert actual.stat().st_mode & 0o777 == 0o700, "closed to those who could only read"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="modes and owners are those of POSIX")
def test_a_directory_that_others_can_write_to_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "TOLD", [(place, "said before")])
    actual = cache.private_directory("kernels")
    assert actual is not None
    actual.chmod(0o770)
    assert cache.private_directory("kernels") is None
    actual.chmod(0o700)
    place.chmod(0o777)
    assert cache.private_directory("kernels") is None
    place.chmod(0o1777)
    assert cache.private_directory("kernels") == actual
    (place / "link").symlink_to(actual)
    assert cache.private_directory("link") is None
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    assert cache.private_directory("kernels") is None


@pytest.mark.parametrize("value", ["", "off", "file/below"])
def test_without_a_place_kernels_are_compiled_in_memory(value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(cache.VARIABLE, value)
    assert cache.private_directory("kernels") is None
    derivative = symgrad.grad(symgrad.from_source("def cubed(x): return x * x * x"), jit=True)
    assert derivative(2.0) == 12.0
    assert sorted(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_file_is_whole_or_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernel.py"
    threads = [threading.Thread(target=cache.keep, args=("x = 1\n" * 1000, path)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "x = 1\n" * 1000
    assert list(tmp_path.iterdir()) == [path]
    path.write_text("x = 1\n")  # cut off by something else
    assert cache.keep("x = 2\n", path)
    assert path.read_text() == "x = 2\n"

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert not cache.keep("x = 3\n", path)
    assert (path.read_text(), list(tmp_path.iterdir())) == ("x = 2\n", [path])


def test_a_disk_that_fills_up_is_no_matter(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from numba.core.caching import FunctionCache

    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(FunctionCache, "save_overload", full)
    assert symgrad.grad(symgrad.from_source("def fourth(x): return x * x * x * x"), jit=True)(2.0) == 32.0


def test_kernels_of_other_helpers_are_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    kernels.versions.cache_clear()
    before = kernels.versions()
    monkeypatch.setattr(kernels, "helper_texts", lambda: ["def plus(a, b): return a - b"])
    kernels.versions.cache_clear()
    assert kernels.versions() != before
    kernels.versions.cache_clear()


def test_what_our_compiler_fails_at_is_left_to_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    lowering = pytest.importorskip("symgrad.runtime.lowering")

    def another_release(self: Any) -> None:
        raise AttributeError("_singly_assigned_vars")

    def product(x: float, y: float) -> float:
        return x * y * y

    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")
    monkeypatch.setattr(lowering.KernelLower, "init", another_release)
    derivative = symgrad.grad(product, wrt=("x", "y"), jit=True)

    assert derivative(2.0, 3.0) == (9.0, 12.0)
    assert "product_grad_kernel" in derivative.compiled.__globals__ or "njit" in derivative.source(2.0, 3.0)
