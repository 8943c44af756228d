"""The steps of ``docs/adding.md``, run on a copy of the project, and the checks that detect wrong steps."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")


class Copy:
    """A copy of the project that is changed as the page says."""

    def __init__(self, place: Path) -> None:
        self.place = place
        skipped = shutil.ignore_patterns("__pycache__", ".*_cache", "golden")
        for name in ("symgrad", "tests"):
            shutil.copytree(ROOT / name, place / name, ignore=skipped)
        shutil.copy(ROOT / "pyproject.toml", place)

    def insert(self, file: str, before: str, text: str) -> None:
        """Put lines before the first line that begins so."""
        path = self.place / file
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = next(k for k, line in enumerate(lines) if line.startswith(before))
        path.write_text("".join([*lines[:at], text, *lines[at:]]), encoding="utf-8")

    def replace(self, file: str, old: str, new: str) -> None:
        path = self.place / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {file}"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def append(self, file: str, text: str) -> None:
        with (self.place / file).open("a", encoding="utf-8") as opened:
            opened.write(text)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy."""
        environment = {**os.environ, "PYTHONPATH": str(self.place), "SYMGRAD_CACHE_DIR": "off"}
        return subprocess.run([sys.executable, *arguments], cwd=self.place, env=environment, capture_output=True, text=True, timeout=300)

    def checks(self, *arguments: str) -> tuple[bool, str]:
        """Do tests of the copy pass?  At least one has to run."""
        done = self.run("-m", "pytest", "-q", "-x", "--no-header", "-p", "no:cacheprovider", "-m", "slow or not slow", *arguments)
        assert " passed" in done.stdout or " failed" in done.stdout, done.stdout[-2000:] + done.stderr[-2000:]
        return done.returncode == 0, done.stdout[-3000:]


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path / "copy")


#: where the row stands that the steps write: by file, the text and what is left of it without the row
HELD = [
    ("symgrad/ops/rows/hypergeometric.py", 'special("cosm1(x)", dx="-sin(x)")\n', ""),
    ("symgrad/ops/signatures.py", "exprel cosm1 ", "exprel "),
    ("tests/ops/samples.py", " exprel cosm1", " exprel"),
]


def row(copy: Copy, declaration: str) -> None:
    """The steps of "A derivative, inside"."""
    assert "ops/spelling.py" in PAGE and "python -m symgrad.ops.derive" in PAGE and "tests/ops/samples.py" in PAGE
    for file, held, rest in HELD:  # the row as it is there, which the steps write anew
        copy.replace(file, held, rest)
    copy.insert("symgrad/ops/rows/special.py", 'special("expit(x)"', declaration + "\n")
    copy.replace("symgrad/ops/signatures.py", "logit log_expit", "logit log_expit cosm1")
    derived = copy.run("-m", "symgrad.ops.derive")
    assert derived.returncode == 0, derived.stderr
    copy.replace("tests/ops/samples.py", "erfcx erfi dawsn", "cosm1 erfcx erfi dawsn")


def a_formula(copy: Copy, right: bool) -> tuple[bool, str]:
    """A row in another module than most: its derivative comes from the formula, or is given, and wrong."""
    pytest.importorskip("scipy")
    row(copy, 'special("cosm1(x) = cos(x) - 1")' if right else 'special("cosm1(x) = cos(x) - 1", dx="sin(x)")')
    is_derived = '"cosm1(x) = cos(x) - 1": {"x": "-sin(x)"}' in (copy.place / "symgrad/ops/derived.py").read_text()
    assert is_derived is right
    return copy.checks("tests/ops/test_rows.py", "tests/ops/test_derived.py", "-k", "cosm1 or committed or formula")


def a_library_function(copy: Copy, right: bool) -> tuple[bool, str]:
    """A function that is best said by others, written in NumPy; or one that is another."""
    assert "is written in NumPy in `ops/composed` instead" in PAGE
    value = "np.sum(x * x) / x.size" if right else "np.sum(x) / x.size"
    text = f'def mean_square(x: Numbers) -> Any:\n    """The mean of the squares."""\n    return {value}\n\n\n'
    copy.insert("symgrad/ops/composed/solving.py", "def circulant", text)
    copy.replace("symgrad/ops/composed/solving.py", '"circulant": circulant,', '"circulant": circulant, "mean_square": mean_square,')
    copy.append(
        "tests/ops/test_adding_here.py",
        "import numpy as np\n\nimport symgrad\n\n\n"
        "def test_it():\n    from symgrad.ops.composed.solving import SOLVING\n\n    x = np.array([0.4, 1.3])\n"
        "    symgrad.check_grads(SOLVING['mean_square'], (x,), order=2)\n    assert SOLVING['mean_square'](x) == np.mean(x**2)\n",
    )
    return copy.checks("tests/ops/test_adding_here.py")


PASS = '''"""Takes two negations for none. Works in place."""

from __future__ import annotations

from symgrad.ir.core import Call, Func, Operand, Value, substitute, walk


def renegated(func: Func) -> Func:
    """Let what reads the negative of a negative read the value itself."""
    makers = {out: op for op in walk(func.body) if isinstance(op, Call) for out in op.outs}
    table: dict[Value, Operand] = {}
    for op in makers.values():
        inner = makers.get(op.args[0]) if op.name == "negative" and isinstance(op.args[0], Value) else None
        if inner is not None and inner.name == "negative":
            table[op.outs[0]] = RESULT
            if func.notes is not None:
                func.notes.add("passes", "lowered", op.loc, "the negative of a negative is the value itself")
    substitute(func.body, table)
    return func


__all__ = ["renegated"]
'''
PAIR = """# Two negations are none.

--- what reads the negative of a negative reads the value
func f(x: f64[!x0]) -> f64[!x0]:
    %0 = negative(x) : f64[!x0]/C
    %1 = negative(%0) : f64[!x0]/C
    %2 = sin(%1) : f64[!x0]/C
    return %2
--- becomes
func f(x: f64[!x0]) -> f64[!x0]:
    %0 = negative(x) : f64[!x0]/C
    %1 = negative(%0) : f64[!x0]/C
    %2 = sin(x) : f64[!x0]/C
    return %2
"""


def a_pass(copy: Copy, right: bool) -> tuple[bool, str]:
    """A pass with its pair, entered in the order of passes; or one that gives the negative."""
    assert "`tests/passes/NAME.ir`" in PAGE and "`SIMPLIFY`" in PAGE
    text = PASS.replace("RESULT", "inner.args[0]" if right else "inner.outs[0]")
    (copy.place / "symgrad/passes/renegated.py").write_text(text, encoding="utf-8")
    (copy.place / "tests/passes/renegated.ir").write_text(PAIR, encoding="utf-8")
    copy.replace("symgrad/pipeline/registry.py", 'Pass("cse", ', 'Pass("renegated", preserves=ALL),\n        Pass("cse", ')
    copy.replace("symgrad/pipeline/registry.py", '"fold cse conditions dce cancel"', '"fold renegated cse conditions dce cancel"')
    ran, said = copy.checks("tests/passes/test_passes.py", "-k", "renegated and not tells")
    if ran:
        ran, said = copy.checks("tests/test_corpus.py", "-k", "scalars")
    return ran, said


CONSTRUCT = '''

@special(statistics.fmean)
def fmean(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The mean of numbers."""
    values = ctx.array_of(ctx.read(args[0], node))
    return Num(ctx.call("REDUCTION", values))
'''
PROGRAM = """

@stores()
def mean_of_numbers(x):
    return statistics.fmean([x[0] * x[0], x[0] * 3.0])
"""


def a_construct(copy: Copy, right: bool) -> tuple[bool, str]:
    """A function that takes a container, in the table of special calls, and a program with it; or one that gives a sum."""
    assert "`@special(f)`" in PAGE and "tests/programs.py" in PAGE
    copy.append("symgrad/frontend/library/arrays.py", CONSTRUCT.replace("REDUCTION", "mean" if right else "sum"))
    copy.insert("symgrad/frontend/library/arrays.py", "import ast", "import statistics\n")
    copy.insert("tests/programs.py", "import types", "import statistics\n")
    copy.append("tests/programs.py", PROGRAM)
    return copy.checks("tests/test_corpus.py", "-k", "mean_of_numbers")


STEPS = [a_formula, *(pytest.param(steps, marks=pytest.mark.slow) for steps in (a_library_function, a_pass, a_construct))]


@pytest.mark.parametrize("steps", STEPS)
def test_the_steps_lead_to_what_works(copy: Copy, steps: Callable[[Copy, bool], tuple[bool, str]]) -> None:
    passes, said = steps(copy, True)
    assert passes, said


@pytest.mark.parametrize("steps", STEPS)
def test_what_is_wrong_on_purpose_is_caught(copy: Copy, steps: Callable[[Copy, bool], tuple[bool, str]]) -> None:
    passes, _ = steps(copy, False)
    assert not passes
