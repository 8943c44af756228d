"""``explain``: a program for each kind of remark, and two complete pages."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.__main__ import main
from symgrad.explaining import explain
from symgrad.location import Loc
from symgrad.notes import KINDS, STAGES, Note, Notes
from symgrad.passes.simplification.doubts import DOUBTS
from tests.programs import PROGRAMS, Program

PAGE = (Path(__file__).parent.parent.parent / "docs" / "explain.md").read_text()


def notes_of(function: Callable[..., Any], args: Sequence[Any], wrt: Any = None) -> tuple[Notes, str]:
    """What is told while a gradient is made, and the text that came of it."""
    derived = symgrad.grad(function, wrt)
    entry = derived._entry(tuple(args), {}, None)
    notes = Notes()
    compiled = derived._make(derived._function, entry.signature, entry.compiled.pins, notes)
    assert compiled.text == entry.compiled.text
    return notes, compiled.text


# ------------------------------------------------------------------ programs


def recur(x: Any, w: Any, n: int) -> Any:
    h = x
    for _ in range(n):
        z = w * h + x
        if np.sum(z) > 0:
            h = np.tanh(z)
        else:
            h = 0.5 * z
    return np.sum(h)


def relax(x: Any, w: Any, n: int) -> Any:
    shift = np.max(x)
    total = np.log(np.sum(np.exp(x - shift))) + shift
    steps = n * 2
    for _ in range(n):
        x[1:] = x[1:] * x[:-1] * w
    return np.sum(x) + total * math.sqrt(steps)


def overwritten(x: Any) -> Any:
    y = np.sin(x)
    z = np.sum(y * y)
    y[:] = 1.0
    y[:] = x
    return z + np.sum(y)


def swapped(x: Any, n: int) -> Any:
    a = x.copy()
    for i in range(n):
        a = np.outer(a, a)[i]
        a[i] = a[0] * 2.0
    return np.sum(a)


def invariant(x: Any, n: int) -> Any:
    total = 0.0
    for _ in range(n):
        m = n * 2 + 1
        total += np.sin(x * m)
    return total


def twice(x: Any) -> Any:
    a = np.sin(x)
    b = np.sin(x) + 1.0
    return a * b


def printing(x):
    print("here")
    return np.sum(x)


def passive(x: Any, w: Any) -> Any:
    a = x * 3.0
    b = w + 1.0
    n = len(b)
    return np.sum(b) * n + 0.0 * a[0]


def power(x: Any, n: int) -> Any:
    return x * power(x, n - 1) if n else 1.0


def spread(x: Any, y: Any, k: int) -> Any:
    return np.sum(x[:k] * y[k:])


def gather(x: Any, index: Any) -> Any:
    y = x * 2.0
    y[index] = x[index] ** 2
    return np.sum(y * y)


def gather_twice(x: Any, index: Any) -> Any:
    return symgrad.grad(gather)(x, index)[0]


def by_columns(x: Any, w: Any) -> Any:
    y = np.zeros((2, 3))
    y[0, 0] = x[1]
    y.reshape(-1)[0] = x[0]
    return np.sum(w * y)


def unknown(x: Any) -> Any:
    place = os.getcwd()
    place.upper()
    return np.sum(x * x)


def scaled(x: Any, factors: Any, axis: int) -> Any:
    for factor in factors:
        x = twice(x) * factor
    return np.sum(np.sum(x, axis=axis))


def by_name(x: Any) -> Any:
    table = {"a0": x, "a1": x * 2.0}
    total = 0.0
    for k in range(2):
        total = total + np.sum(np.sin(table[f"a{k}"]))
    return total


def last_above(x: Any, limit: Any) -> Any:
    last = None
    for v in x:
        if v > limit:
            last = v
    print(json.dumps(last))
    return last * limit


def text_of(x: Any) -> Any:
    for v in x:
        print([v])
    return np.sum(x * x)


def elements(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(1, len(x)):
        total += np.exp(x[i] * w) * x[i - 1]
    return total


def rooted(x: Any, w: Any) -> Any:
    total = 0.0
    for i in range(1, len(x)):
        total += np.exp(x[i] * w) * x[i - 1]
    return math.sqrt(total)


def chosen(x: Any, w: Any, steps: int) -> Any:
    for _ in range(steps):
        mask = x > w
        x[mask] = x[mask] * w
    return np.sum(x)


@symgrad.checkpoint
def damped(x: Any) -> Any:
    return np.sin(x) * np.exp(-x)


def damped_twice(x: Any) -> Any:
    y = damped(x)
    return np.sum(damped(y))


def diffused(x: Any, n: int) -> Any:
    y = x.copy()
    for _ in range(n):
        y[1:-1] = y[1:-1] + 0.1 * (y[:-2] - 2.0 * y[1:-1] + y[2:])
    return np.sum(y * y)


def pair(x: Any, k: int) -> Any:
    total = 0.0
    for _ in range(3):
        total += x[k] * x[k + 1] * total
        k = 1 - k
    return total


def recurrent(w: Any, h: Any, n: int) -> Any:
    for _ in range(n):
        h = np.tanh(w @ h)
    return np.sum(h)


def repeated(w: Any, h: Any, n: int) -> Any:
    total = 0.0
    for i in range(n):
        total = total + np.sum(w @ (h * i))
    return total


def activated(x: Any) -> Any:
    return np.sum(0.5 * x * (1.0 + np.tanh(0.8 * (x + 0.04 * x * x * x))))


VECTOR = np.arange(1.0, 7.0)
INDEX = np.array([0, 2])
LOOP = (VECTOR, 0.5, 3)
#: a program, and what is told of it: kind, line of the function (counted from its first), name, words of the message
TOLD: list[tuple[Callable[..., Any], tuple[Any, ...], Any, str, int, str, str]] = [
    (relax, LOOP, ("x", "w"), "copied", 0, "x", "the function writes to it"),
    (recur, LOOP, ("x", "w"), "active", 3, "z", ""),
    (relax, LOOP, "x", "inactive", 3, "steps", "int has no derivative"),
    (passive, (VECTOR, VECTOR), "w", "inactive", 1, "a", "it carries no derivative with respect to w"),
    (relax, LOOP, "x", "inactive", 1, "shift", "it carries no derivative with respect to x"),
    (recur, LOOP, ("x", "w"), "rule", 5, "tanh(x)", "x_grad = out_grad * (1 - out * out)"),
    (relax, LOOP, "x", "kept", 2, "np.exp(x - shift)", "line {2} needs it, and it is still live"),
    (
        recur,
        LOOP,
        ("x", "w"),
        "saved",
        2,
        "h",
        "line {3} needs it, but the next iteration replaces it; it is saved on a tape in each iteration",
    ),
    (recur, LOOP, ("x", "w"), "saved", 4, "np.sum(z) > 0", "line {4} needs it, but the next iteration replaces it; it is saved on a tape"),
    (overwritten, (VECTOR,), None, "saved", 1, "y", "line {2} needs it, but line {3} overwrites it; a copy of it is saved"),
    (relax, LOOP, ("x", "w"), "undone", 5, "x", "the elements it overwrites are saved and restored"),
    (relax, LOOP, ("x", "w"), "recomputed", 5, "x[1:] * x[:-1]", "from x"),
    (recur, LOOP, ("x", "w"), "carried", 5, "h", "equals h after the branch"),
    (recur, LOOP, ("x", "w"), "carried", 2, "h", "its value after an iteration is the saved start value of the next"),
    (invariant, (0.5, 3), None, "moved", 3, "m", "computed once, before the loop of line {2}"),
    (twice, (0.5,), None, "moved", 2, "sin", "reuses the result of line {1}"),
    (relax, LOOP, "x", "lowered", 1, "max", "the result does not change with it, so its derivative is not taken"),
    (recur, LOOP, ("x", "w"), "lowered", 3, "sum", "(a * b).sum() is a.dot(b)"),
    (scaled, (np.ones((2, 3)), (1.0, 2.0), 0), None, "pinned", 0, "axis", "0 is a constant of the code"),
    (scaled, (np.ones((2, 3)), (1.0, 2.0), 0), None, "inlined", 2, "twice", "the call is inlined"),
    (scaled, (np.ones((2, 3)), (1.0, 2.0), 0), None, "unrolled", 1, "", "the loop is unrolled"),
    (by_name, (VECTOR,), None, "unproved", 4, "", "whether all loops can be kept"),
    (last_above, (VECTOR, 0.1), "x", "unproved", 5, "", "whether this is None, so its type is no longer known"),
    (last_above, (VECTOR, 0.1), "x", "unproved", 6, "", "whether the value here is None, so it is tested"),
    (power, (0.5, 3), None, "rule", 1, "power(...)", "power_forward keeps what power_backward needs"),
    (recur, LOOP, ("x", "w"), "forward", 2, "", "for i in range(n):"),
    (recur, LOOP, ("x", "w"), "backward", 2, "", "for i in reversed(range(n)):"),
    (power, (0.5, 3), None, "emitted", 1, "", "power_forward(x, n - 1)"),
    (swapped, (VECTOR, 2), None, "unproved", 2, "a", "whether its stores can be undone one by one, so the whole array is copied"),
    (spread, (VECTOR, VECTOR, 3), None, "unproved", 1, "t_grad", DOUBTS["unbroadcast"].message),
    (gather, (VECTOR, INDEX), None, "unproved", 2, "index", DOUBTS["add_at"].message),
    (gather, (VECTOR, INDEX), None, "unproved", 2, "index", DOUBTS["take_written"].message),
    (gather_twice, (VECTOR, INDEX), None, "unproved", -4, "index", DOUBTS["add_written"].message),
    (by_columns, (VECTOR, np.ones((2, 3), order="F")), None, "unproved", 3, "y_grad", DOUBTS["by_rows"].message),
    (elements, (VECTOR, 0.1), None, "lowered", 2, "x", "the loop reads it by elements only, from a list"),
    (elements, (VECTOR, 0.1), None, "lowered", 2, "x_grad", "a list while the loop runs"),
    (elements, (VECTOR, 0.1), None, "lowered", 3, "x", "a Python float"),
    (elements, (VECTOR, 0.1), None, "fused", 2, "", "each iteration is reversed as soon as it has run"),
    (damped_twice, (VECTOR,), None, "rerun", 1, "", "nothing inside is saved, and it runs again in the backward half"),
    (rooted, (VECTOR, 0.1), None, "unfused", 2, "", "the reverse of an iteration starts from total, which is known after the loop"),
    (recur, LOOP, ("x", "w"), "unfused", 2, "", "the reverse of an iteration depends on that of the next one through h_grad"),
    (rooted, (VECTOR, 0.1), None, "saved", 3, "np.exp(x[i] * w)", "which costs less than computing np.exp(x[i] * w) again"),
    (chosen, (VECTOR, 2.0, 2), "x", "lowered", 2, "mask", "its indices are computed once"),
    (relax, LOOP, ("x", "w"), "lowered", 5, "x", "the value that was just stored is used"),
    (diffused, (VECTOR, 2), None, "lowered", 3, "y_grad", "a slice of it is not set to zero, since its old value is added again"),
    (diffused, (VECTOR, 2), None, "lowered", 3, "multiply", "computed into the memory of an operand"),
    (diffused, (VECTOR, 2), None, "lowered", 3, "y", "the stored value is computed in place"),
    (printing, (VECTOR,), None, "unverified", 1, "", "it prints, so the first call is not compared"),
    (diffused, (VECTOR, 2), None, "copied", 3, "y_grad", "y_grad is written to before it is read for the last time"),
    (relax, LOOP, ("x", "w"), "lowered", 5, "x_grad", "a slice of it is set to zero only after its last read"),
    (relax, LOOP, ("x", "w"), "lowered", 5, "x_grad", "a view of x_grad, which is not written to while it is read"),
    (relax, LOOP, ("x", "w"), "lowered", 5, "w_grad", "stays one of NumPy's numbers"),
    (pair, (VECTOR, 1), None, "lowered", 2, "x", "stays an array, since no loop here iterates along each of its axes"),
    (pair, (VECTOR, 1), None, "recomputed", 3, "x[k] * x[k + 1]", "from x[k], x[k + 1]"),
    (
        gather,
        (np.ones((6, 2)), INDEX),
        None,
        "lowered",
        2,
        "x_grad",
        "elements are addressed by flat indices, which makes adding to them faster",
    ),
    (gather, (VECTOR, INDEX), None, "lowered", 2, "x_grad", "added element by element, which is fast in NumPy for vectors only"),
    (recurrent, (np.eye(6), VECTOR, 2), None, "lowered", 2, "w_grad", "outer products are summed after the loop"),
    (repeated, (np.eye(6), VECTOR, 2), None, "lowered", 3, "w_grad", "as their factors would take memory for each iteration"),
    (activated, (VECTOR,), None, "lowered", 1, "multiply", "ops on vectors of more than 65536 elements are done in pieces of 8192"),
    (unknown, (VECTOR,), None, "unproved", 1, "getcwd", DOUBTS["opaque"].message),
    (unknown, (VECTOR,), None, "unproved", 2, "place", DOUBTS["opaque"].message),
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("function", "args", "wrt", "kind", "line", "name", "words"), TOLD, ids=[f"{t[0].__name__}-{t[3]}-{k}" for k, t in enumerate(TOLD)]
)
def test_what_is_told(function: Callable[..., Any], args: Any, wrt: Any, kind: str, line: int, name: str, words: str) -> None:
    first = function.__code__.co_firstlineno
    notes, _ = notes_of(function, args, wrt)
    words = re.sub(r"\{(\d+)\}", lambda m: str(first + int(m[1])), words)
    remarks = [(note.loc.line - first, note.name, note.message) for note in notes if note.kind == kind]

    assert any(at == line and about == name and words in message for at, about, message in remarks), remarks


def test_what_cannot_be_compiled_is_told() -> None:
    pytest.importorskip("numba")
    text = symgrad.grad(text_of, jit=True).explain(VECTOR)

    assert re.search(r"uncompiled +kernels do not support .*, so the whole derivative runs as NumPy code", text), text


def test_with_jit_the_lines_are_those_of_the_kernel() -> None:
    pytest.importorskip("numba")
    text = symgrad.grad(recur, wrt=("x", "w"), jit=True).explain(*LOOP)

    assert "uncompiled" not in text
    assert "NumPy's numbers" not in text  # how NumPy code is lowered says nothing of a kernel
    assert re.search(r"emitted +.*\n(?: {8,}.*\n)*? +for \w+ in range\(", text), text


def test_every_kind_and_every_doubt_is_provoked() -> None:
    assert {told[3] for told in TOLD} == set(KINDS) - {"uncompiled"}
    assert {doubt.message for doubt in DOUBTS.values()} <= {told[6] for told in TOLD}


def test_every_kind_is_on_the_page() -> None:
    assert dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE, re.MULTILINE)) == KINDS


# ------------------------------------------------------------------ the collector


def test_what_is_told_twice_is_kept_once() -> None:
    notes = Notes()
    for _ in range(2):
        notes.add("plan", "saved", Loc("f.py", 3), "why", name="h")
    assert len(notes) == 1


@pytest.mark.parametrize(("stage", "kind"), [("plan", "guessed"), ("oracle", "saved")])
def test_kinds_and_stages_are_those_of_the_tables(stage: str, kind: str) -> None:
    with pytest.raises(LookupError):
        Notes().add(stage, kind, Loc("f.py", 1), "")


def test_what_is_not_proved_needs_a_way_out() -> None:
    with pytest.raises(ValueError, match="way out"):
        Notes().add("plan", "unproved", Loc("f.py", 1), "anything")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("program", PROGRAMS[::11], ids=lambda program: program.name)
def test_telling_changes_nothing_and_every_note_has_a_place(program: Program) -> None:
    notes, text = notes_of(program.function, program.arguments(program.sizes[-1]), program.wrt)

    assert text
    assert {note.stage for note in notes} <= set(STAGES)
    assert all(note.loc.line and note.loc.file for note in notes if note.kind != "rule")


# ------------------------------------------------------------------ the page


#: stages whose words change with every better way of emitting; what they tell is in the table above
EMITTING = {"passes", "lowering", "codegen", "numba"}


@pytest.mark.parametrize(("function", "args"), [(recur, LOOP), (relax, LOOP)], ids=["recur", "relax"])
def test_the_page(function: Callable[..., Any], args: tuple[Any, ...], golden: Callable[[str, str], None]) -> None:
    notes, _ = notes_of(function, args, ("x", "w"))
    code = function.__code__
    lines = Path(code.co_filename).read_text().splitlines()
    last = max(n for _, _, n in code.co_lines() if n)
    told = [note for note in notes if note.stage not in EMITTING]
    text = explain(function.__name__, told, lambda file, line: lines[line - 1], (code.co_filename, code.co_firstlineno, last))
    # lines count from the function's first, so that the page does not change with what stands above it in this file
    first = code.co_firstlineno - 1
    text = re.sub(r"^( *)(\d+)(?=  )", lambda m: f"{int(m[2]) - first:>3}", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=\bline )\d+", lambda m: str(int(m[0]) - first), text)

    golden(function.__name__, text)


RUN = """
import numpy as np, symgrad
from tests.facades.test_explain import relax, swapped
symgrad.explain(symgrad.grad(relax, wrt=("x", "w")), np.ones(6), 0.5, 3)
symgrad.explain(swapped, np.ones(3), 2)
"""


def test_two_runs_print_the_same() -> None:
    root = str(Path(__file__).parent.parent.parent)
    texts = []
    for seed in ("1", "2"):
        place = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": root}
        ran = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, env=place)
        assert ran.returncode == 0, ran.stderr
        texts.append(ran.stdout)
    assert texts[0] == texts[1]
    assert "saved" in texts[0]


def test_lines_of_functions_that_are_called_stand_apart() -> None:
    text = symgrad.grad(lambda x: twice(x) * 2.0).explain(0.5)

    assert "\nwhat it calls\n" in text
    assert "a = np.sin(x)" in text.partition("what it calls")[2]


def test_notes_of_another_file_are_listed_under_its_name() -> None:
    notes = [Note("activity", "active", Loc("other.py", 4), "", "y")]

    assert "\nother.py, which it calls\n4  its line 4\n" in explain("f", notes, lambda file, line: f"its line {line}", ("f.py", 1, 1))


def test_all_kinds_of_derivatives() -> None:
    for derived in (symgrad.value_and_grad(twice), symgrad.grad(symgrad.grad(twice)), symgrad.grad(twice).primal):
        text = derived.explain(0.5)
        assert "a = np.sin(x)" in text
        assert re.search(r"forward|emitted", text)


class Model:
    scale = 2.0

    @symgrad.differentiable
    def loss(self, x: Any) -> Any:
        return np.sum(x * x) * self.scale


def test_methods(capsys: pytest.CaptureFixture[str]) -> None:
    symgrad.explain(Model().loss.grad, VECTOR)
    shown = capsys.readouterr().out

    assert "return np.sum(x * x) * self.scale" in shown
    assert "square(x)" in shown


def test_without_arguments_the_latest_or_a_signature() -> None:
    derived = symgrad.grad(twice)
    by_call = derived.explain(np.float64(0.5))
    assert derived.explain() == by_call
    assert "for x: f64[!x0]" in symgrad.grad(recur).explain(signature="f8[:], float, int")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program_for_explain.py"
    path.write_text("import numpy as np\n\ndef loss(x, w):\n    return np.sum(w * x ** 2)\n")
    assert main(["explain", f"{path}:loss", "--sig", "f8[:], float"]) == 0
    assert "4      return np.sum(w * x ** 2)" in capsys.readouterr().out
    assert main(["explain", f"{path}:loss", "--args", "np.ones(3), 2.0", "--wrt", "w", "--value", "--json"]) == 0
    assert "explanation" in capsys.readouterr().out
