"""Forked children beside compiling threads: no state is half updated, and no lock stays held."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
ROOT = Path(__file__).parents[2]

BEGIN = """
import faulthandler, os, sys, threading, time, warnings
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)

def ended(child, seconds=20.0):
    deadline = time.monotonic() + seconds
    while (state := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if state[0] == 0:
        time.sleep(1.0)  # the child says where it waits
        os.kill(child, 9)
        os.waitpid(child, 0)
        return "hangs"
    return os.waitstatus_to_exitcode(state[1])
"""

WAITING = """
from symgrad.runtime.load import LOCK
state, begun = {"half": False}, threading.Event()

def build():
    with LOCK:
        state["half"] = True
        begun.set()
        time.sleep(0.2)
        state["half"] = False

thread = threading.Thread(target=build)
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    free = threading.Thread(target=lambda: state.__setitem__("free", LOCK.acquire(timeout=5)))
    free.start()
    free.join()
    os._exit(0 if state.get("free") and not state["half"] else 1)
thread.join()
print(ended(child), LOCK.acquire(timeout=5))
"""

#: ``first`` is what the thread does first, so that the children meet whatever is imported for it
COMPILING = """
import numpy as np
import symgrad
stop = threading.Event()

def compile_on():
    while not stop.is_set():
        {first}(lambda x: x * x * np.exp(x){jit})(1.0)

thread = threading.Thread(target=compile_on)
thread.start()
states = []
for k in range({children}):
    time.sleep({pause})
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(20)
        os._exit(0 if symgrad.grad(lambda x: x * x * x{jit})(2.0) == 12.0 else 1)
    states.append(ended(child))
    if states[-1] == "hangs":
        break
stop.set()
thread.join()
print(*states)
"""

#: every way that imports something late; what is imported without the lock is printed
IMPORTING = """
import importlib.abc
import pickle
import traceback
import numpy as np
import symgrad
from symgrad.runtime.load import LOCK
warnings.simplefilter("ignore")

class Watch(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        stack = [frame for frame in traceback.extract_stack() if "importlib" not in frame.filename]
        ours = [frame for frame in stack if os.sep + "symgrad" + os.sep in frame.filename]
        if ours and not LOCK._is_owned() and "find_spec" not in ours[-1].line:
            print(name, ours[-1].filename, ours[-1].lineno)
        return None

sys.meta_path.insert(0, Watch())

def f(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i] * x[i]
    return total

def constant(x):
    return 3.0

X = np.ones(3)
for jit in {jits}:
    symgrad.grad(f, jit=jit)(X, 3)
    symgrad.value_and_grad(f, jit=jit)(X, 3)
    symgrad.vjp(f, X, 3, jit=jit)[1](1.0)
    symgrad.grad(f, jit=jit).source(X, 3)
    symgrad.grad(f, jit=jit).explain(X, 3)
symgrad.grad(f, verify="gradient")(X, 3)
symgrad.grad(symgrad.grad(lambda x: x ** 3))(2.0)
symgrad.grad(constant)(2.0)
symgrad.grad(constant).explain(2.0)
symgrad.check_grads(f, (X, 3), wrt=0)
symgrad.save(symgrad.grad(f), os.path.join(sys.argv[1], "saved.py"), X, 3)
try:
    pickle.dumps(symgrad.grad(lambda x: x))
except pickle.PicklingError:
    pass
print("done")
"""

#: another thread holds the lock meanwhile
HOLDING = """
import importlib, pkgutil
import symgrad
from symgrad.runtime.load import LOCK
held, done = threading.Event(), threading.Event()

def hold():
    with LOCK:
        held.set()
        done.wait()

threading.Thread(target=hold, daemon=True).start()
held.wait()
faulthandler.dump_traceback_later(60, exit=True)
for module in pkgutil.walk_packages(symgrad.__path__, "symgrad."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ImportError as error:
            assert not error.name.startswith("symgrad"), error
done.set()
print("done")
"""


def told(program: str, directory: Path) -> str:
    """What a program prints in a process of its own, where warnings are errors."""
    path = directory / "program.py"
    path.write_text(BEGIN + program)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SYMGRAD_CACHE_DIR": "off"}
    process = subprocess.run(
        [sys.executable, "-W", "error", str(path), str(directory)], capture_output=True, text=True, timeout=200, env=environment
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.strip() if not process.stderr else process.stdout + process.stderr


def test_a_fork_waits_for_what_is_being_compiled(tmp_path: Path) -> None:
    assert told(WAITING, tmp_path) == "0 True"


@pytest.mark.parametrize("pause", [0.0, pytest.param(0.02, marks=pytest.mark.slow)])
@pytest.mark.parametrize("first", ["symgrad.grad", pytest.param("symgrad.value_and_grad", marks=pytest.mark.slow)])
def test_children_compile_while_a_thread_of_the_parent_does(first: str, pause: float, tmp_path: Path) -> None:
    assert told(COMPILING.format(first=first, jit="", children=8, pause=pause), tmp_path) == " ".join(["0"] * 8)


@pytest.mark.slow
@pytest.mark.parametrize("pause", [0.0, 0.02, 0.5])
def test_children_compile_kernels_while_a_thread_of_the_parent_does(pause: float, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    assert told(COMPILING.format(first="symgrad.grad", jit=", jit=True", children=4, pause=pause), tmp_path) == "0 0 0 0"


@pytest.mark.parametrize("jits", ["(False,)", pytest.param("(True,)", marks=pytest.mark.slow)])
def test_what_is_imported_late_is_imported_under_the_lock(jits: str, tmp_path: Path) -> None:
    if jits == "(True,)":
        pytest.importorskip("numba")
    assert told(IMPORTING.replace("{jits}", jits), tmp_path) == "done"


def test_no_module_needs_the_lock_to_be_imported(tmp_path: Path) -> None:
    assert told(HOLDING, tmp_path) == "done"
