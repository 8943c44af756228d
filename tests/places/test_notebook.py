"""Notebook cells of every shape, run by nbclient in a real kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.places.kernel import executed

ROOT = Path(__file__).parent.parent.parent

#: what is shown, the cell, and what its last output is; None where the cell only prepares another one
CELLS: list[tuple[str, str, str | None]] = [
    ("where the package is", f"import sys; sys.path.insert(0, {str(ROOT)!r})", None),
    (
        "imports and a function in one cell",
        "import numpy as np, symgrad\n\ndef f(x):\n    return np.sum(x * np.sin(x))\n\nprint(symgrad.grad(f)(np.zeros(2)))",
        "[0. 0.]",
    ),
    ("a shorter name", "def grad(function):\n    return lambda x: float(symgrad.grad(function)(x))", None),
    ("an import in the middle of a cell", "def g(x):\n    return math.exp(x) * np.sum(x)\nimport math\ngrad(g)(0.0)", "1.0"),
    ("a definition", "def again(x):\n    return 2 * x\nfirst = again\ngrad(again)(1.0)", "2.0"),
    ("the function defined again", "def again(x):\n    return 3 * x\ngrad(again)(1.0), grad(first)(1.0), again is first", "(3.0, 2.0, False)"),
    ("one cell run once", "def same(x):\n    return 5 * x\ngrad(same)(1.0)", "5.0"),
    ("and once more", "def same(x):\n    return 5 * x\ngrad(same)(1.0)", "5.0"),
    ("a class", "class Model:\n    def __init__(self, k):\n        self.k = k\n    def loss(self, x):\n        return self.__twice(x) * self.k\n"
     "    def __twice(self, x):\n        return 2 * x\n    @staticmethod\n    def square(x):\n        return np.square(x)\n"
     "grad(Model(3.0).loss)(1.0), grad(Model.square)(2.0)", "(6.0, 4.0)"),
    ("%%time in front", "%%time\nimport math\ndef timed(x):\n    return np.sum(x) * math.pi", None),
    ("what %%time defined", "round(grad(timed)(1.0), 2)", "3.14"),
    ("%%time with a result at its end", "%%time\ndef timed_too(x):\n    return np.sum(x) * 7\ngrad(timed_too)(1.0)", "7.0"),
    ("%time", "%time h = lambda x: np.cos(x) * 4\ngrad(h)(0.0) + 1", "1.0"),
    ("%%capture", "%%capture said\ndef captured(x):\n    return np.sum(x) * 9\nprint(grad(captured)(1.0))", None),
    ("what %%capture kept", "said.stdout.strip()", "'9.0'"),
    ("other magics and a shell command", "%pwd\n!true\nx = !echo 1\ndef beside(x):\n    return np.sum(x) * 8\n%who_ls function\ngrad(beside)(1.0)", "8.0"),
    ("run_line_magic", "get_ipython().run_line_magic('time', 'line = lambda x: x * 6')\ngrad(line)(1.0)", "6.0"),
    ("exec with a text of its own", "exec('def hidden(x): return x')\ntry: grad(hidden)(1.0)\nexcept symgrad.errors.SourceNotFound as e: print(e.hint)",
     "write hidden = symgrad.from_source('''def hidden(x): ...''')"),
    ("a decorator", "import functools\ndef twice(function):\n    @functools.wraps(function)\n    def wrapper(x):\n        return 2 * function(x)\n"
     "    return wrapper\n\n@twice\ndef decorated(x):\n    return np.sum(x) * 3\n\n@symgrad.differentiable\ndef own(x):\n    return x ** 2\n"
     "grad(decorated)(1.0), own.grad(3.0)", "(6.0, 6.0)"),
    ("lambdas", "pair = (lambda x: x + 1), (lambda x: (x + 1) * 2); grad(pair[0])(1.0), grad(pair[1])(1.0)", "(1.0, 2.0)"),
    ("lambdas of a comprehension", "made = [lambda x, k=k: k * x for k in (2.0, 3.0)]\n[grad(m)(1.0) for m in made]", "[2.0, 3.0]"),
    ("nested functions", "def outer(k):\n    def inner(x):\n        return k * np.sum(x)\n    return inner, lambda x: np.sum(x) * k * 2\n"
     "[grad(f)(1.0) for f in outer(5.0)]", "[5.0, 10.0]"),
    ("await at the top", "import asyncio\nawait asyncio.sleep(0)\ndef awaited(x):\n    return np.sum(x) * 4\n"
     "async def later(x):\n    await asyncio.sleep(0)\n    return grad(awaited)(x)\nawait later(1.0)", "4.0"),
    ("a function defined beside an await", "if True:\n    await asyncio.sleep(0)\n    def conditional(x):\n        return np.sum(x) * 11\ngrad(conditional)(1.0)", "11.0"),
    ("a semicolon at the end", "def quiet(x):\n    return np.sum(x) * 2\nprint(grad(quiet)(1.0)); grad(quiet)(1.0);", "2.0"),
    ("one line", "one = lambda x: np.sum(x) * 12; grad(one)(1.0)", "12.0"),
    ("a cell that fails", "def survived(x):\n    return np.sum(x) * 13\n1 / 0\ndef never(x): return x", None),
    ("a refusal, whose traceback is shown", "def refused(x):\n    class Local:\n        pass\n    return np.sum(x)\ngrad(refused)(1.0)", None),
    ("what it had defined", "grad(survived)(1.0)", "13.0"),
    ("a future import", "from __future__ import annotations\ndef annotated(x: np.ndarray) -> float:\n    return np.sum(x) * 14\ngrad(annotated)(1.0)", "14.0"),
    ("and what follows it", "def follows(x: Undefined):\n    return np.sum(x) * 15\ngrad(follows)(1.0)", "15.0"),
    ("every result shown", "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.ast_node_interactivity = 'all'", None),
    ("a function where every result is shown", "def shown(x):\n    return np.sum(x) * 17\n1\ngrad(shown)(1.0)", "17.0"),
    ("and back", "InteractiveShell.ast_node_interactivity = 'last_expr'", None),
    ("a module for autoreload", "import os, pathlib\nsys.dont_write_bytecode = True\nsys.path.insert(0, os.getcwd())\n"
     "module = pathlib.Path('reloaded_by_test.py'); _ = module.write_text('import numpy as np\\nK = 1\\ndef f(x):\\n    return np.sum(x) * 2\\n"
     "class M:\\n    def loss(self, x):\\n        return x * 2\\n')\n%load_ext autoreload\n%autoreload 2\nimport reloaded_by_test as r", None),
    ("before the edit", "old = r.f, r.M().loss\n[grad(one)(1.0) for one in old]", "[2.0, 2.0]"),
    ("the edit", "import time; time.sleep(0.02)\n_ = module.write_text('import numpy as np\\n# moved\\nK = 1\\ndef f(x):\\n    return np.sum(x) * 30\\n"
     "class M:\\n    def loss(self, x):\\n        return x * 40\\n'); os.utime(module, (2e9, 2e9))", None),
    ("after the edit", "[grad(one)(1.0) for one in (r.f, r.M().loss)]", "[30.0, 40.0]"),
    ("the functions held before the edit", "[bool(grad(one)(1.0) == one(1.0)) for one in old]", "[True, True]"),
    ("a text that is not what was compiled", "import linecache\ndef stale(x):\n    return np.sum(x) * 18\n"
     "name = stale.__code__.co_filename\nlines = linecache.cache[name][2]\n"
     "linecache.cache[name] = (0, None, [line.replace('18', '19') for line in lines], name)\n_ih[-1] = get_ipython().history_manager.input_hist_parsed[-1] = ''\n"
     "try: grad(stale)(1.0)\nexcept symgrad.errors.SymgradError as e: print(type(e).__name__)", "StaleSource"),
    ("a cell whose text linecache has lost", "linecache.clearcache()\ngrad(one)(1.0), grad(nested := lambda x: np.sum(x) * 20)(1.0)", "(12.0, 20.0)"),
]  # fmt: skip


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each cell shows last, from one run of the notebook."""
    cells = executed([text for _, text, _ in CELLS], tmp_path_factory.mktemp("notebook"))
    return {name: last_output(cell) for (name, _, _), cell in zip(CELLS, cells, strict=True)}


def last_output(cell: Any) -> str:
    """The text that a cell shows last; the error, if it raised one."""
    texts, stream = [""], ""
    for output in cell.outputs:
        if output.output_type == "error":
            texts.append("\n".join(output.traceback[-4:]))
        elif output.output_type == "stream":  # which comes in parts
            stream += output.text
            texts.append(stream)
        else:
            texts.append(output.data["text/plain"])
    return texts[-1].strip()


@pytest.mark.sweep(3)
@pytest.mark.parametrize(("name", "expected"), [(name, expected) for name, _, expected in CELLS if expected is not None])
def test_a_cell(name: str, expected: str, outputs: dict[str, str]) -> None:
    assert outputs[name] == expected
