"""Functions in programs that are started, typed or imported otherwise than from a file."""

from __future__ import annotations

import ast
import code
import doctest
import importlib
import linecache
import os
import py_compile
import re
import runpy
import subprocess
import sys
import threading
import time
import types
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SourceNotFound, StaleSource
from symgrad.frontend.text.source import read
from tests.places.programs import PROGRAM, ROOT, run


def pasted(hint: str | None) -> str:
    """The code in a hint: what follows ``write``."""
    assert hint is not None
    assert hint.startswith("write ")
    return hint.removeprefix("write ")


# ------------------------------------------------------------------ how a program is started


def test_a_command() -> None:
    assert run("-c", PROGRAM) == "6.0"
    assert run("-Wignore", "-c", PROGRAM.replace("def f(x):\n    return np.sum(x) * 6", "f = lambda x: np.sum(x) * 6")) == "6.0"


def test_a_file_as_standard_input(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with path.open() as file:
        process = subprocess.run(
            [sys.executable, "-"], stdin=file, capture_output=True, text=True, timeout=120, env=environment, check=True
        )
    assert process.stdout.strip() == "6.0"


def test_a_program_from_a_pipe_is_refused_with_a_line_that_works() -> None:
    shown = run("-", stdin=PROGRAM)
    assert "SourceNotFound: Python has kept no source of f (<stdin>)" in shown
    (hint,) = re.findall(r"write (f = symgrad\.from_source\('''def f\(x\): \.\.\.'''\))", shown)
    followed = hint.replace("...", "return np.sum(x) * 6")
    assert run("-", stdin=re.sub(r"def f.*\n.*\n", f"{followed}\n", PROGRAM)) == "6.0"


def test_a_module_a_package_and_a_zip_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "place_of_run.py").write_text(PROGRAM)
    assert run("-m", "place_of_run", place=tmp_path) == "6.0"
    assert run(str(tmp_path / "place_of_run.py")) == "6.0"
    archive = tmp_path / "archive.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("zipped_place.py", "def f(x):\n    return x * x\n")
        file.writestr("__main__.py", PROGRAM)
    assert run(str(archive)) == "6.0"
    monkeypatch.syspath_prepend(str(archive))
    assert symgrad.grad(importlib.import_module("zipped_place").f)(3.0) == 6.0
    del sys.modules["zipped_place"]


def test_runpy(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("def f(x):\n    return x * x\n")
    assert symgrad.grad(runpy.run_path(str(path))["f"])(3.0) == 6.0


def test_a_file_that_moved_with_its_bytecode(tmp_path: Path) -> None:
    """The loader knows the file, whatever the code says."""
    path = tmp_path / "here.py"
    path.write_text("def f(x):\n    return x * x\n")
    spec = importlib.util.spec_from_file_location("here", path)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    exec(compile(path.read_text(), "/built/elsewhere/here.py", "exec"), module.__dict__)
    assert symgrad.grad(module.f)(3.0) == 6.0


# ------------------------------------------------------------------ prompts


TYPED = "import numpy as np, symgrad\ndef f(x):\n    return np.sum(x) * 6\n\ng = lambda x: np.sum(x) * 7; h = lambda x: np.sum(x) * 8\n"
TYPED += "[float(symgrad.grad(one)(1.0)) for one in (f, g, h)]\ndef f(x): return np.sum(x) * 9\n\nfloat(symgrad.grad(f)(1.0))\n"


@pytest.mark.parametrize("basic", ["", "1"])
def test_the_prompt(basic: str, tmp_path: Path) -> None:
    """Before Python 3.13 the text is found in what ``readline`` keeps."""
    pytest.importorskip("readline")
    if sys.version_info < (3, 13) and not basic:
        pytest.skip("there is one prompt only")
    shown = typed(TYPED, {"PYTHON_BASIC_REPL": basic, "PYTHON_HISTORY": str(tmp_path / "history"), "HOME": str(tmp_path)})
    assert "[6.0, 7.0, 8.0]" in shown, shown
    assert re.search(r"^9\.0", shown, re.MULTILINE), shown


def typed(text: str, environment: dict[str, str]) -> str:
    """What an interpreter shows on a terminal into which lines are typed, each when the prompt is there."""
    pytest.importorskip("termios")
    terminal, other = os.openpty()
    settings = {**os.environ, **environment, "PYTHONPATH": str(ROOT), "TERM": "dumb", "NO_COLOR": "1"}
    process = subprocess.Popen([sys.executable, "-q", "-i"], stdin=other, stdout=other, stderr=other, env=settings, start_new_session=True)
    os.close(other)
    shown = bytearray()

    def collect() -> None:
        while True:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                return
            if not part:
                return
            shown.extend(part)

    reader = threading.Thread(target=collect)
    reader.start()
    prompts = 0
    for line in [*text.splitlines(), "exit()"]:
        for _ in range(1200):
            if len(re.findall(rb"(>>>|\.\.\.) ", bytes(shown))) > prompts:
                break
            time.sleep(0.05)
        prompts = len(re.findall(rb"(>>>|\.\.\.) ", bytes(shown)))
        os.write(terminal, line.encode() + b"\n")
    try:
        process.wait(60)
    finally:
        process.kill()
        reader.join(60)
        os.close(terminal)
    return shown.decode(errors="replace").replace("\r", "")


def test_a_console_without_a_text_is_refused() -> None:
    console = code.InteractiveConsole()
    console.push("f = lambda x, order=2: x ** order")
    with pytest.raises(SourceNotFound) as caught:
        symgrad.grad(console.locals["f"])(3.0)  # type: ignore[index]
    text = pasted(caught.value.hint)
    assert text == 'symgrad.from_source("lambda x, order=2: ...")'
    assert symgrad.grad(eval(text.replace("...", "x ** order")))(3.0) == 6.0


def test_an_interactive_file(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    assert "6.0" in run("-i", str(path), stdin="print(float(symgrad.grad(f)(2.0)))\n")


# ------------------------------------------------------------------ texts that are executed


def test_exec_with_a_text_in_linecache() -> None:
    text = "def f(x):\n    return x * x\nclass A:\n    def g(self, x):\n        return x * 2\n"
    name = "<generated by a template 1>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    assert symgrad.grad(space["f"])(3.0) == 6.0
    assert symgrad.grad(space["A"]().g)(3.0) == 2.0
    del linecache.cache[name]


def test_exec_without_a_text_is_refused_with_a_line_that_works() -> None:
    space: dict[str, Any] = {}
    exec("def f(x: int, *rest, w=None, s=1.5, **more): return x * x", space)
    with pytest.raises(SourceNotFound) as caught:
        symgrad.grad(space["f"])(3.0)
    text = pasted(caught.value.hint)
    assert text == "f = symgrad.from_source('''def f(x, *rest, w=None, s=1.5, **more): ...''')"
    exec(text.replace("...", "\n    y = x * x\n    return y"), {"symgrad": symgrad}, space)
    assert symgrad.grad(space["f"])(3.0) == 6.0


def test_what_a_function_without_a_text_reads_is_handed_over() -> None:
    """Names of the module, of the enclosing function, and the class of a method."""
    text = "K = 2.0\ndef f(x): return K * x\ndef outer(k):\n    def inner(x): return k * x\n    return inner\n"
    text += "class Model:\n    def loss(self, x): return K * x\n"
    space: dict[str, Any] = {"symgrad": symgrad, "k": 5.0}
    exec(text + "inner = outer(k)\n", space)
    for name, body, slope in (("f", "K * x", 2.0), ("inner", "k * x", 5.0), ("Model().loss", "K * x", 2.0)):
        with pytest.raises(SourceNotFound) as caught:
            symgrad.grad(eval(name, space))(3.0)
        exec(pasted(caught.value.hint).replace("...", f"return {body}"), space)
        assert symgrad.grad(eval(name, space))(3.0) == slope


def test_a_module_of_bytecode_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, home = tmp_path / "kept_as_bytecode.py", tmp_path / "home"
    path.write_text("def f(x):\n    return x * x\n")
    home.mkdir()
    py_compile.compile(str(path), cfile=str(home / "kept_as_bytecode.pyc"), dfile="kept_as_bytecode.py", doraise=True)
    monkeypatch.syspath_prepend(str(home))
    with pytest.raises(SourceNotFound, match="loaded from kept_as_bytecode.pyc alone") as caught:
        symgrad.grad(importlib.import_module("kept_as_bytecode").f)(3.0)
    assert caught.value.hint == f"put kept_as_bytecode.py into {home}"
    path.rename(home / path.name)
    assert run("-c", "import kept_as_bytecode as k, symgrad; print(symgrad.grad(k.f)(3.0))", place=home) == "6.0"


def test_doctest() -> None:
    text = (
        ">>> import numpy as np, symgrad\n>>> def f(x):\n...     return np.sum(x) * 6\n>>> float(symgrad.grad(f)(1.0))\n6.0\n"
        ">>> pair = (lambda x: x * 2), (lambda x: x * 3)\n>>> float(symgrad.grad(pair[1])(1.0))\n3.0\n"
    )
    test = doctest.DocTestParser().get_doctest(text, {}, "t", "t", 0)
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_parts_of_a_file_run_one_after_another(tmp_path: Path) -> None:
    """As editors run cells of a script: the file is the whole, the unit that is compiled a part of it."""
    text = "import numpy as np\nimport math\n# %%\nimport operator\ndef f(x):\n    return np.sum(x) * operator.add(2, 3) * math.floor(1.5)\n# %%\n"
    path = tmp_path / "script.py"
    path.write_text(text)
    space: dict[str, Any] = {}
    tree = ast.parse(text)
    for body in (tree.body[:2], tree.body[2:]):
        exec(compile(ast.Module(body, []), str(path), "exec"), space)
    assert symgrad.grad(space["f"])(1.0) == 5.0


# ------------------------------------------------------------------ code that is watched


@pytest.mark.parametrize("watch", [sys.settrace, sys.setprofile])
def test_functions_that_are_traced_or_have_run_often(watch: Any) -> None:
    def f(x):
        total = 0.0
        for k in range(3):
            total += np.sum(x) * k
        return total

    for _ in range(100):  # Python replaces instructions by faster ones
        f(1.0)
    before = sys.gettrace() if watch is sys.settrace else sys.getprofile()
    watch(lambda *_: None)
    try:
        f(1.0)
        assert symgrad.grad(f)(1.0) == 3.0
    finally:
        watch(before)


def test_asserts_that_pytest_rewrites_are_compared_exactly(monkeypatch: pytest.MonkeyPatch) -> None:
    def f(x):
        assert x > 0, "positive"
        return x * 2

    assert any("@py" in name for name in f.__code__.co_varnames), "pytest rewrites this file"
    assert read(f).node.name == "f"
    lines = linecache.getlines(__file__)
    for new in (("return x * 2", "return x * 3"), ("x > 0, ", "x < 0, ")):
        replacement = [line.replace(*new) for line in lines]
        monkeypatch.setitem(linecache.cache, __file__, (0, None, replacement, __file__))
        monkeypatch.setattr(linecache, "checkcache", lambda *_: None)
        with pytest.raises(StaleSource):
            read(types.FunctionType(f.__code__, {**f.__globals__, "__spec__": None}, "f"))
