"""The table of measured programs, and ``python -m tests.bench``; no test of times."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from tests.bench import entered, executor, matrices, second
from tests.bench.__main__ import main
from tests.bench.case import Case
from tests.bench.columns import COLUMNS, Column, copy_of, with_numpy
from tests.bench.growth import exponent, grown
from tests.bench.measure import error
from tests.bench.programs import CASES
from tests.bench.report import compared, growth_table, table
from tests.differences import derivative, direction_for, inner

BY_HAND = [(case, which) for case in CASES for which in ("adjoint", "kernel") if getattr(case, which) is not None]


@pytest.mark.parametrize(("case", "which"), BY_HAND, ids=[f"{case.name}-{which}" for case, which in BY_HAND])
def test_adjoints_by_hand_are_right(case: Case, which: str, random: np.random.Generator) -> None:
    args = case.small()
    value, gradients = getattr(case, which)(*args)
    chosen = tuple(args[k] for k in case.wrt)
    direction = direction_for(chosen, random)

    def along(parts: tuple[Any, ...]) -> Any:
        moved = list(args)
        for k, part in zip(case.wrt, parts, strict=True):
            moved[k] = part
        return case.function(*moved)

    assert value == pytest.approx(case.function(*args), rel=1e-12)
    assert [np.shape(g) for g in gradients] == [np.shape(a) for a in chosen]
    assert inner(gradients, direction) == pytest.approx(float(derivative(along, chosen, direction)), rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_gradients_agree_with_adjoints_by_hand(case: Case) -> None:
    args = case.small()

    assert error(symgrad.value_and_grad(case.function, wrt=case.wrt)(*args), case.adjoint(*args)) < 1e-9


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_sizes_are_named_alike(case: Case) -> None:
    assert set(case.tiny) == set(case.sizes)
    assert set(case.work) <= set(case.sizes)
    for axis in case.work:
        assert len(case.arguments(**{**case.tiny, axis: case.tiny[axis] + 1})) == len(case.small())


def test_it_runs_and_compares(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    command = ["formula", "diffuse", "--columns", "numpy,hand", "--budget", "0.01", "--allocators", "kept"]
    assert main([*command, "--no-growth", "--save", str(first)]) == 0
    results = json.loads(first.read_text())
    assert set(results["programs"]["kept"]) == {"formula", "diffuse"}
    for figures in results["programs"]["kept"].values():
        assert set(figures["ratios"]) == {"numpy", "hand"}
        assert all(ratio > 0 for ratio in figures["ratios"].values())
        assert figures["generation"] > 0
        assert set(figures["memory"]) == {"function", "numpy", "hand"}

    for figures in results["programs"]["kept"].values():
        figures["generation"] /= 1000
    first.write_text(json.dumps(results))
    assert main([*command[1:], "--no-growth", "--save", str(second), "--compare", str(first)]) == 0
    shown = capfd.readouterr().out
    assert "memory: kept" in shown
    assert "symgrad / by hand: geometric mean" in shown
    assert "diffuse, generation, kept" in shown


def test_what_is_not_known_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formula", "nothing", "--columns", "numpy,mkl"]) == 2
    assert capsys.readouterr().out.startswith("not known: mkl, nothing\n")


@pytest.mark.slow
def test_growth_is_fitted_and_flagged() -> None:
    assert exponent([1, 2, 4], [5, 20, 80]) == pytest.approx(2.0)
    orbit = next(case for case in CASES if case.name == "orbit")
    report = grown(orbit, 0.02, ["numpy"])
    assert set(report["steps"]["exponents"]) == {"function", "numpy"}
    report["steps"]["large"] = ["numpy"]
    slow = {"lengths": [1, 2], "seconds": [1.0, 4.0], "exponent": 2.0, "large": True}
    lines = growth_table({"orbit": report}, {"generate": {"loops": slow}})
    assert sum("TOO LARGE" in line for line in lines) == 2


def test_slower_is_said_from_a_tenth_on() -> None:
    def results(ratio: float) -> dict[str, Any]:
        return {"programs": {"kept": {"f": {"ratios": {"numpy": ratio}, "memory": {}}}}}

    assert len(compared(results(1.0), results(1.09))) == 1
    (_, line) = compared(results(1.0), results(1.2))
    assert "1.20 times  f, numpy / function, kept" in line


def test_a_wrong_gradient_is_said() -> None:
    figures = {"time": 1.0, "ratios": {"numpy": 2.0}, "memory": {}, "errors": {"numpy": 0.1}, "refused": {"numba": "lists"}}
    lines = table({"f": figures}, ["numpy", "hand"])

    assert "WRONG: f, symgrad: error 1.0e-01" in lines
    assert "not in the table: f, symgrad jit: lists" in lines


def test_copies_are_new_to_symgrad() -> None:
    case = CASES[0]
    first, second = copy_of(case.function), copy_of(case.function)

    assert first(*case.small()) == case.function(*case.small())
    assert symgrad.grad(first) is not symgrad.grad(second)


def test_another_library_takes_the_place_of_numpy_in_helpers_too() -> None:
    class Louder:
        sum = staticmethod(lambda x: 10.0 * np.sum(x))

    reaction = next(case for case in CASES if case.name == "reaction")
    args = reaction.small()
    assert with_numpy(reaction.function, Louder)(*args) == pytest.approx(10.0 * reaction.function(*args))


@pytest.mark.parametrize("column", [c for c in COLUMNS.values() if not c.needs], ids=lambda column: column.name)
def test_columns_agree(column: Column) -> None:
    assert column.available
    for case in CASES[:3]:
        run = column.build(case)
        assert run is not None
        assert error(run(*case.small()), case.adjoint(*case.small())) < 1e-9


def test_what_the_executor_costs_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    executor.main(rounds=2)
    lines = capsys.readouterr().out.splitlines()

    assert [line[:20].strip() for line in lines[1:]] == list(executor.PROGRAMS)
    assert all(line.count("x") >= 2 and "us" in line for line in lines[1:])


@pytest.mark.slow
def test_what_a_second_process_costs_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("numba")
    second.main(["orbit"], times=1)
    (_, line) = capsys.readouterr().out.splitlines()
    name, first, *figures, stages = line.split()

    assert (name, stages) == ("orbit", "0")
    assert float(first) > float(figures[0])


@pytest.mark.slow
def test_matrices_are_timed(capsys: pytest.CaptureFixture[str]) -> None:
    matrices.main(["elements", "rosenbrock"])

    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines if line.startswith(("elements", "rosenbrock"))] == [
        *[["elements", "numpy"], ["elements", "numba"]] * 2, *[["rosenbrock", "numpy"], ["rosenbrock", "numba"]] * 2,
    ]  # fmt: skip


def test_what_the_first_derivative_enters() -> None:
    """In a process of its own, as this one has derived much; the program is that of the README."""
    text = Path(entered.ROOT.parent, "README.md").read_text(encoding="utf-8")
    assert inspect.getsource(entered.rnn_sum) in text

    command = [sys.executable, "-m", "tests.bench.entered"]
    environment = {key: value for key, value in os.environ.items() if key != "SYMGRAD_CHECK"}
    printed = subprocess.run(command, env=environment, cwd=entered.ROOT.parent, capture_output=True, text=True, check=True).stdout
    count = int(printed.split()[0])

    assert 60 < count <= entered.MOST
    assert printed.splitlines()[0].endswith("calls")
    assert "passes (" in printed
    assert not {"masks", "scatter_add", "batch", "growing_dicts", "python_values"} & set(printed.replace(",", " ").split())
