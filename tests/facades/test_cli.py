"""The command line: forms of arguments, output, errors."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from symgrad.__main__ import main
from symgrad.errors import Notice, kinds

PROGRAM = """
import numpy as np

def loss(x, w):
    return np.sum(w * x ** 2)

def wrong(x):
    return np.sum(np.roots(x).real)

def cube(x):
    return x * x * x

def of_dict(p):
    return p[3] * p[3]

example_arguments = {"loss": (np.array([1.0, 2.0]), 3.0), "power": 3}

def power(x):
    return x
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program_for_cli.py"
    path.write_text(PROGRAM)
    return str(path)


def test_show(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss"]) == 0
    shown = capsys.readouterr().out
    for part in ("def loss(x, w):", "value:", "15.0", "gradient:", "6.", "12.", "def loss_grad(x, w"):
        assert part in shown


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--sig", "f8[:], float"], "def loss_grad"),
        (["--sig", "f8, f8"], "def loss_grad"),
        (["--args", "np.ones(2), 2.0", "--wrt", "w"], "2.0"),
        (["--wrt", "x,w"], "(array("),
        (["--ir"], "func loss"),
        (["--stage", "lowered"], "func loss"),
        (["--stage", "lowered,optimized"], "+++ optimized"),
        (["--value"], "def loss_value_and_grad"),
    ],
)
def test_show_options(program: str, options: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss", *options]) == 0
    assert part in capsys.readouterr().out


def test_json(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["gradient"] == [6.0, 12.0]
    assert facts["value"] == 15.0


def test_json_of_what_json_does_not_know(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:cube", "--args", "np.inf", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (facts["arguments"], facts["value"]) == (["inf"], "inf")
    assert main(["show", f"{program}:of_dict", "--args", "{3: 2.0}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["gradient"] == {"3": 4.0}


def test_higher_orders_are_shown(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:cube", "--args", "2.0", "--order", "3"]) == 0
    shown = capsys.readouterr().out
    assert "gradient: 12.0" in shown
    assert "order 3:  6.0" in shown
    assert main(["check", f"{program}:cube", "--args", "2.0", "--order", "3"]) == 0
    assert main(["check", f"{program}:loss", "--order", "3"]) == 0


@pytest.mark.parametrize("text", ["def f(x:\n    return x\n", "def f(x): return '\udcff'\n"])
def test_a_file_that_is_not_python(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken_for_cli.py"
    path.write_bytes(text.encode(errors="surrogateescape"))
    assert main(["show", f"{path}:f"]) == 2
    assert "is not Python" in capsys.readouterr().err


def test_modules_beside_the_file_are_found_when_the_function_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "beside_for_cli.py").write_text("def g(x):\n    return x * x\n")
    (tmp_path / "late_for_cli.py").write_text("def f(x):\n    import beside_for_cli\n    return beside_for_cli.g(x)\n")
    before = sys.path[:]
    assert main(["show", f"{tmp_path}/late_for_cli.py:f", "--args", "3.0"]) == 0
    assert "gradient: 6.0" in capsys.readouterr().out
    assert sys.path == before


def test_check(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", f"{program}:loss", "--order", "2"]) == 0
    assert "agrees" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (["show", "{}:wrong", "--args", "np.eye(2)"], 1),
        (["show", "{}:nowhere"], 2),
        (["show", "nowhere.py:f"], 2),
        (["show", "no.such.module:f"], 2),
        (["show", "f"], 2),
        (["check", "{}:wrong"], 2),
        (["show", "{}:loss", "--args", "1 +"], 2),
        (["show", "{}:loss", "--wrt", ""], 2),
        (["show", "..relative:f"], 2),
        (["check", "{}:loss", "--directions", "0"], 2),
        (["check", "{}:cube", "--args", "2"], 2),
        (["show", "{}:power"], 2),
        (["show", "{}:loss", "--args", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0"], 2),
    ],
)
def test_exit_codes(program: str, command: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([part.format(program) for part in command]) == code
    assert capsys.readouterr().err


def test_usage() -> None:
    with pytest.raises(SystemExit) as caught:
        main([])
    assert caught.value.code == 2


def test_as_a_program(program: str) -> None:
    run = subprocess.run([sys.executable, "-m", "symgrad", "show", f"{program}:loss"], capture_output=True, text=True)
    assert run.returncode == 0
    assert "def loss_grad" in run.stdout


# ------------------------------------------------------------------ the page of errors


def test_errors_prints_the_sections_about_kinds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errors", "NotScalar", "notcompiled"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("## NotScalar\n\nThe gradient of a function whose result is not one number")
    assert "**What to do.** Return a sum" in shown
    assert "\n## NotCompiled\n" in shown
    assert "## FreedGraph" not in shown


def test_errors_without_a_kind_lists_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errors"]) == 0
    named = [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()]
    assert named[: len(kinds())] == [kind.__name__ for kind in kinds()]
    assert sorted(named[len(kinds()) :]) == sorted(notice.__name__ for notice in Notice.__subclasses__())
    assert main(["errors", "--json", "NotScalar"]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["NotScalar"]


def test_errors_of_a_kind_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["errors", "NotThere"]) == 2
    assert "there is no kind of error 'NotThere'" in capsys.readouterr().err


@pytest.mark.slow
def test_an_installed_package_has_the_page_of_errors(tmp_path: Path) -> None:
    root = Path(__file__).parent.parent.parent
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(root)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    command = [sys.executable, "-m", "symgrad", "errors", "NotScalar"]
    told = subprocess.run(command, cwd=tmp_path / "installed", capture_output=True, text=True, check=True)

    assert (tmp_path / "installed" / "symgrad" / "errors.md").read_text() == (root / "docs" / "errors.md").read_text()
    assert told.stdout.startswith("## NotScalar")


def test_passes_are_listed_for_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["passes", "numba"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("numba:\n  read: ")
    assert "\n    loops.loop_fusion " in shown
    assert "(required; after loops.unaliased)" in shown

    assert main(["passes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() >= {"numpy", "numba"}
    assert main(["passes", "fortran"]) == 2
    assert "there is no target 'fortran'; there are numpy, " in capsys.readouterr().err


def test_explain_says_what_each_pass_took(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{program}:loss", "--timings"]) == 0
    page = capsys.readouterr().out
    assert "    ms  runs  pass\n" in page
    assert "  simplify\n" in page


def test_the_ir_after_a_pass_is_shown(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", f"{program}:loss", "--stage", "loop_invariants"]) == 0
    assert "-- backward --" in capsys.readouterr().out
