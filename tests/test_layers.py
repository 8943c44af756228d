"""The import rule of ``docs/architecture.md``, sizes of modules and functions, and what importing costs.

Also what importing costs, and that the pages about the structure are true.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from structure import BOXES, FACE, FILES, ROOT, imported, imports, pages, tree_of, unit

#: rows from the top; every name is a module or a package of symgrad
ROWS = [
    {"location", "identity", "tables", "text", "highlight", "progress"},
    {"errors", "notes", "values", "containers"},
    {"tracebacks"},
    {"ir"},
    {"signature", "kinds"},
    {"abstraction", "paths"},
    {"ops"},
    {"runtime"},
    {"frontend", "passes", "adjoint", "codegen"},
    {"saving", "files", "loops", "explaining", "verification", "tangent", "debugging"},
    {"sparsity", "trees"},
    {"pipeline"},
    {"jit"},
    {"targets"},
    {"compile", "dispatch", "marks", "parameters", "bound", "directions"},
    {"pickling", "rules", "exits", "along", "typed"},
    {"derivatives", "custom_rules"},
    {"callables"},
    {"batching", "sparse"},
    {"api"},
    {"jacobians"},
    {"implicit", "integrations", "orders"},
    {"contractions"},
    {"testing"},
    {"report"},
    {"explorer", "notebook"},
    {"command"},
    {"functional"},
    {"record", "optim"},
    {"vocabulary"},
    {"eager"},
    {"static"},
    {"layers"},
    {"optimizer"},
    {"compat"},
    {"__main__"},
]
LEVELS = {name: level for level, row in enumerate(ROWS) for name in row}
#: what runtime may import: generated code must drag nothing in
RUNTIME = {"containers", "errors", "location", "runtime", "text"}
#: the IR's text form and verifier read the table of rows, which is below them: settings are printed where they differ
EXCEPTIONS = {("ir", "symgrad.ops.declare")}
#: imported inside functions only, because they are slow to import: where, and what
LAZY = {"sympy", "numba"}
#: what only generated numba code imports, and nothing here
FOR_NUMBA = {"runtime/folds.py", "runtime/memory.py", "runtime/matrices.py", "runtime/gammas.py", "runtime/orders.py", "runtime/vector.py", "runtime/convolutions.py",
             "runtime/circular.py", "runtime/counting.py", "runtime/kernel_schedules.py", "runtime/compiling.py", "runtime/lowering.py"}  # fmt: skip


#: the files of each module or package of symgrad
PACKAGES: dict[str, list[Path]] = {}
for file in FILES:
    PACKAGES.setdefault(unit(file), []).append(file)


@pytest.mark.parametrize("here", [name for name in PACKAGES if name not in (FACE, "__main__")])
def test_imports_point_up(here: str) -> None:
    assert here in LEVELS, f"{here} has no row in this test's table"
    for path, name in ((path, name) for path in PACKAGES[here] for name in imported(path)):
        parts = name.split(".")
        if parts[0] != "symgrad" or (here, name) in EXCEPTIONS:
            continue
        there = parts[1] if len(parts) > 1 else FACE
        assert there != FACE, f"{path.name} imports the package's face"
        assert f"{'/'.join(parts[1:])}.py" not in FOR_NUMBA or path.relative_to(ROOT).as_posix() in FOR_NUMBA
        if here == "runtime":
            assert there in RUNTIME, f"runtime imports {name}"
        assert there == here or LEVELS[there] < LEVELS[here], f"{path.name} imports {name}, which is not above it"


@pytest.mark.parametrize("package", PACKAGES)
def test_slow_modules_are_imported_late(package: str) -> None:
    files = [path for path in PACKAGES[package] if path.relative_to(ROOT).as_posix() not in FOR_NUMBA]
    for path, node in ((path, node) for path in files for node in tree_of(path).body):
        late = isinstance(node, ast.FunctionDef | ast.ClassDef | ast.If)
        assert late or not {name.split(".")[0] for name in imports(node)} & LAZY, path


#: in ``ops`` the table and the program that derives its partials read each other, the latter inside a function
@pytest.mark.parametrize("package", sorted({unit(p) for p in FILES if p.parent != ROOT} - {"ops"}))
def test_modules_of_a_package_import_one_way(package: str) -> None:
    TopologicalSorter(imports_within(package)).prepare()  # raises CycleError


@pytest.mark.parametrize("package", sorted({unit(p) for p in FILES if p.parent.parent != ROOT and p.parent != ROOT} - {"ops"}))
def test_folders_of_a_package_import_one_way(package: str) -> None:
    """A folder counts as one module, so that the folders of a package have an order in which they can be read."""
    between: dict[str, set[str]] = {}
    for name, others in imports_within(package).items():
        here = name.partition(".")[0]
        between.setdefault(here, set()).update({other.partition(".")[0] for other in others} - {here})

    TopologicalSorter(between).prepare()


def imports_within(package: str) -> dict[str, set[str]]:
    """For each module of a package the modules of the package that it imports, by their names below it."""
    inside = f"symgrad.{package}."
    modules = {".".join(p.relative_to(ROOT / package).with_suffix("").parts): p for p in FILES if unit(p) == package}
    return {
        name: {other.removeprefix(inside) for other in imported(path) if other.startswith(inside)}
        for name, path in modules.items()
        if path.stem != "__init__"
    }


def test_no_function_of_the_frontend_imports() -> None:
    for path in PACKAGES["frontend"]:
        for function in ast.walk(tree_of(path)):
            assert not isinstance(function, ast.FunctionDef | ast.Lambda) or not imports(function), path


def depth_of(node: ast.AST, depth: int = 0) -> int:
    """How many statements with a body contain each other; ``elif`` is no statement of its own."""
    deepest = depth
    for name, value in ast.iter_fields(node):
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, ast.FunctionDef | ast.ClassDef | ast.expr) or not isinstance(inner, ast.AST):
                continue
            is_elif = isinstance(node, ast.If) and name == "orelse" and len(value) == 1 and isinstance(inner, ast.If)
            is_nested = isinstance(inner, ast.For | ast.While | ast.If | ast.With | ast.Try | ast.Match) and not is_elif
            deepest = max(deepest, depth_of(inner, depth + is_nested))
    return deepest


@pytest.mark.parametrize("package", PACKAGES)
def test_modules_and_functions_are_short(package: str) -> None:
    for path in PACKAGES[package]:
        is_short = len(path.read_text(encoding="utf-8").splitlines()) <= 500
        assert is_short or path.name == "derived.py", f"{path} has more than 500 lines"
    for node in (node for path in PACKAGES[package] for node in ast.walk(tree_of(path))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= 60, f"{node.name} has {lines} lines, not at most 60"
            assert depth_of(node) <= 4, f"statements of {node.name} contain each other {depth_of(node)} deep, not at most 4"


def test_few_tables_are_laid_out_by_hand() -> None:
    assert sum(path.read_text(encoding="utf-8").count("# fmt: skip") for path in FILES) <= 20
    assert not any("# fmt: off" in path.read_text(encoding="utf-8") for path in FILES)


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_what_it_is(package: str) -> None:
    for path in [path for path in PACKAGES[package] if path.stat().st_size]:
        doc = ast.get_docstring(tree_of(path))
        assert doc, f"{path} has no docstring"
        assert len(doc.splitlines()) <= 7, f"the docstring of {path} has more than six lines"


def test_the_pages_about_the_structure_are_true() -> None:
    """``python -m tests.structure --write`` writes them."""
    stale = [path.name for path, text in pages().items() if path.read_text(encoding="utf-8") != text]

    assert not stale


def test_each_part_of_the_package_is_in_one_box_of_the_picture() -> None:
    boxed = [name for names in BOXES.values() for name in names]

    assert sorted(boxed) == sorted({unit(path) for path in FILES} - {FACE})


# ------------------------------------------------------------------ what importing costs

GENERATING = """
import sys
import numpy as np
import symgrad

derived = symgrad.value_and_grad(symgrad.from_source({text!r}), wrt=(0, 1))
derived(np.ones(3), 0.5)
symgrad.grad(symgrad.grad(symgrad.from_source("def f(x): return x ** 3")))(2.0)
derived.source()
slow = {{"sympy", "numba", "scipy", "jax", "torch"}} & {{name.split(".")[0] for name in sys.modules}}
assert not slow, slow
"""
PROGRAM = """
import numpy as np

def f(x, w):
    for i in range(3):
        x = np.tanh(w * x) if i else x
    return np.sum(x)
"""


Run = Callable[[str], str]


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What a fresh interpreter prints, with compiled modules kept as an installed package keeps them: those of one test for the next."""
    kept = tmp_path_factory.getbasetemp() / "compiled"
    return lambda code: printed_by(code, kept)


def printed_by(code: str, kept: Path) -> str:
    place = {"PYTHONPATH": str(ROOT.parent), "PYTHONPYCACHEPREFIX": str(kept), "PYTHONDONTWRITEBYTECODE": ""}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **place})
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_neither_importing_nor_generating_imports_what_is_slow(run: Run) -> None:
    run("import sys, symgrad; symgrad.grad; assert not {'sympy', 'numba', 'scipy'} & set(sys.modules)")
    run(GENERATING.format(text=PROGRAM))


def test_a_first_derivative_imports_and_reads_what_it_needs(run: Run) -> None:
    program = "import sys, symgrad; symgrad.grad(symgrad.from_source('def square(x): return x * x'))(3.0)"
    loops = "assert not {'symgrad.pipeline.lowering', 'importlib.metadata'} & set(sys.modules)"
    read = "from symgrad.ops import spelling; assert spelling.signature_of.cache_info().misses < 10"
    run("; ".join((program, loops, read)))


def test_what_a_kernel_needs_is_imported_before_it_is_called_unless_its_text_is_kept(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("numba")
    code = """
import os, sys, symgrad
os.environ["SYMGRAD_CACHE_DIR"] = {place!r}
derivative = symgrad.grad(symgrad.from_source("def {name}(x): return x * x"), jit=True)
print("symgrad.pipeline.lowering" in sys.modules, "numba" in sys.modules)
derivative(3.0)
"""
    programs = [code.format(place=str(tmp_path / "kept"), name=name) for name in ("square", "square", "other")]
    assert [run(program).strip() for program in programs] == ["True False", "False False", "True False"]


def test_where_numba_runs_already_the_compiler_of_kernels_is_imported_with_it(run: Run) -> None:
    pytest.importorskip("numba")
    code = """
import numba, os, sys, symgrad
os.environ["SYMGRAD_CACHE_DIR"] = "off"
symgrad.grad(symgrad.from_source("def square(x): return x * x"), jit=True)
print("symgrad.runtime.compiling" in sys.modules)
"""
    assert run(code).strip() == "True"


@pytest.mark.slow  # figures of time belong to a quiet machine
def test_importing_is_quick(run: Run) -> None:
    whole = "import time; start = time.process_time(); import symgrad; print(time.process_time() - start)"
    engine = "import numpy, time; start = time.process_time(); import symgrad; symgrad.grad; print(time.process_time() - start)"
    for code in (whole, engine):
        run(code)
        taken = min(float(run(code)) for _ in range(3))
        print(f"{1000 * taken:.0f} ms")

        assert taken < 0.35
