"""The page of a derivative: both texts, linked lines, reasons, the IR, a check; names shown as text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.__main__ import main
from symgrad.highlight import pieces
from symgrad.report.facts import Facts, facts_of
from symgrad.report.graph import Edge, Graph, Node
from symgrad.report.graph_texts import dot, mermaid
from symgrad.report.html import Html, element, escaped
from symgrad.report.layout import layout_of
from symgrad.report.page import page
from tests.explorer.samples import HOSTILE, SAMPLES, Reader
from tests.programs import PROGRAMS

ROOT = Path(__file__).parent.parent.parent


def facts(name: str, **words: Any) -> Facts:
    function, args, wrt = SAMPLES[name]
    return facts_of(symgrad.grad(function, wrt), args, **words)


# ------------------------------------------------------------------ facts


@pytest.mark.parametrize("name", SAMPLES)
def test_the_text_beside_the_function_is_that_of_source(name: str) -> None:
    function, args, wrt = SAMPLES[name]
    shown = facts(name)

    assert "\n".join(line.text for line in shown.derivative) == symgrad.grad(function, wrt).source(*args).rstrip("\n")


@pytest.mark.sweep(50)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_telling_of_the_text_changes_no_text(program: Any) -> None:
    args = program.arguments(program.sizes[-1])
    derived = symgrad.grad(program.function, program.wrt)
    source = derived.source(*args)
    shown = facts_of(derived, args, run=False)
    assert "\n".join(line.text for line in shown.derivative) == source.rstrip("\n")
    assert page(shown, times=False)


def test_lines_belong_to_the_lines_that_they_come_from() -> None:
    shown = facts("gated")
    first = shown.functions[0].lines[0].number
    origins = {line.text.split("#")[0].strip(): [number - first for _, number in line.places] for line in shown.derivative}

    assert origins["def gated_grad(x, w, n):"] == [0]
    assert origins["h = x"] == [2]
    assert origins["z = w * h + x"] == [4]
    assert origins["z_grad = h_grad * (1 - h * h)"] == [6]
    assert origins["w_grad += z_grad.dot(h_1)"] == [4]
    halves = [line.half for line in shown.derivative if line.half]
    assert halves == sorted(halves, key=("forward", "backward").index)


def test_lines_that_save_are_marked() -> None:
    shown = facts("gated")
    tape = [(line.half, line.text.strip()) for line in shown.derivative if line.tape]
    assert tape == [("forward", "tape[i] = h, z"), ("backward", "h_1, z = tape[i]")]

    told = {(note.kind, note.name) for note in shown.notes}
    assert {("saved", "h"), ("saved", "z"), ("recomputed", "np.sum(z)")} <= told
    assert not any("as_written" in note.name for note in shown.notes)


def test_lines_of_functions_that_are_called_are_listed() -> None:
    own, called = facts("calling").functions
    texts = [line.text.strip() for line in called.lines]
    assert texts == ["z = y * y", "return z * 3.0"]
    assert own.file == called.file


def test_what_was_called_is_shown_and_compared() -> None:
    shown = facts("gated")
    assert shown.call is not None
    assert shown.call.arguments[2] == ("n", "4")
    assert shown.comparisons is not None
    assert all(comparison.agrees for comparison in shown.comparisons)
    cells = re.findall(r"<td>(.*?)</td>", page(shown))
    assert {"forward", "reverse", "complex step", "the other mode"} <= set(cells)

    assert facts("gated", run=False).call is None
    assert facts_of(symgrad.grad(SAMPLES["gated"][0]), signature="f8[:], float, int").call is None


def test_the_function_may_write_to_its_arguments() -> None:
    def overwrites(x: Any) -> Any:
        x[0] = x[1] * 2.0
        return np.sum(x * x)

    x = np.array([1.0, 2.0])
    shown = facts_of(symgrad.grad(overwrites), (x,))
    assert x[0] == 1.0
    assert shown.comparisons is not None
    assert all(comparison.agrees for comparison in shown.comparisons)


def test_the_kernel_is_shown_where_there_is_one() -> None:
    pytest.importorskip("numba")
    function, args, _ = SAMPLES["stores"]
    shown = facts_of(symgrad.grad(function, jit=True), args, jit=True, run=False)
    assert shown.kernel is not None
    assert "njit" in shown.kernel
    assert 'id="tab-kernel"' in page(shown)
    compiled = symgrad.grad(function, jit=True)
    compiled(*args)
    called = facts_of(compiled, args, jit=True, run=False)
    assert (called.kernel, called.running) == (shown.kernel, shown.running)
    assert facts_of(symgrad.grad(lambda x: np.sum(np.abs(np.fft.fft(x))), jit="auto"), (np.ones(4),), jit=True, run=False).kernel is None


def test_second_derivatives_and_methods_have_pages() -> None:
    class Model:
        def __init__(self) -> None:
            self.k = 3.0

        def loss(self, x: Any) -> Any:
            return np.sum(np.sin(x) * self.k)

    shown = facts_of(symgrad.grad(Model().loss), (np.ones(2),))
    assert shown.comparisons is not None
    assert page(shown)
    twice = facts_of(symgrad.grad(symgrad.grad(symgrad.from_source("def cube(x): return x * x * x"))), (2.0,))
    assert twice.call is not None
    assert float(twice.call.derivative) == pytest.approx(12.0)
    assert page(twice)


# ------------------------------------------------------------------ the page


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_needs_nothing_from_elsewhere(name: str) -> None:
    text = page(facts(name))
    read = Reader(text)
    for tag, attributes in read.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert "href" not in attributes
        assert "style" not in attributes
        assert not any(word.startswith("on") for word in attributes)
    assert not re.search(r"url\((?!#arrow)|@import", text)
    (policy,) = [attributes["content"] for _, attributes in read.elements if attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert str(Path(__file__).parent) not in text  # it names files, and no folders


def test_a_page_holds_both_texts_and_the_reasons() -> None:
    text = Reader(page(facts("gated"))).text
    for part in (
        "def gated(x, w, n):",
        "def gated_grad(x, w, n):",
        "is saved on a tape in each iteration",
        "func gated(",
        "agrees with differences",
        "in all",
        "recomputed np.sum(z)",
    ):
        assert part in text, part


def test_every_word_that_ties_lines_is_on_both_sides() -> None:
    read = Reader(page(facts("gated")))
    lines = [attributes for tag, attributes in read.elements if tag == "li"]
    left = {key for line in lines if line.get("data-side") == "f" for key in (line.get("data-key") or "").split()}
    right = {key for line in lines if line.get("data-side") == "d" for key in (line.get("data-key") or "").split()}
    assert right
    assert right <= left
    drawn = {attributes["data-key"] for tag, attributes in read.elements if tag == "g" and attributes.get("data-key")}
    assert drawn
    assert drawn <= left


def test_tabs_name_the_panels_that_they_show() -> None:
    read = Reader(page(facts("gated")))
    panels = {attributes["id"] for _, attributes in read.elements if attributes.get("role") == "tabpanel"}
    tabs = [attributes for _, attributes in read.elements if attributes.get("role") == "tab"]
    assert {tab["aria-controls"] for tab in tabs} == panels
    assert len({tab["id"] for tab in tabs}) == len(tabs)
    assert [tab["id"] for tab in tabs if tab["id"] and tab["id"].startswith("stage-")] == [
        "stage-lowered", "stage-simplified", "stage-adjoint", "stage-optimized"]  # fmt: skip


def test_a_wrong_gradient_is_told() -> None:
    def half(x: Any) -> Any:
        return x * 0.5

    wrong = symgrad.custom_vjp(half)
    wrong.defvjp(lambda x: (half(x), x), lambda x, seed: (seed * 2.0,))
    read = Reader(page(facts_of(symgrad.grad(lambda x: wrong(x), verify=False), (1.5,))))
    assert read.named("wrong")
    assert "differs from differences" in read.text


# ------------------------------------------------------------------ the same page each time


def test_equal_input_gives_an_equal_page_in_every_process(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\ndef f(p, x):\n    return np.sum(np.tanh(p['w'] * x) + p['b'])\n"
                       "example_arguments = {'f': ({'w': np.ones(2), 'b': 0.5}, np.ones(2))}\n")  # fmt: skip
    texts = []
    for seed in ("1", "2"):
        out = tmp_path / f"page{seed}.html"
        place = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-m", "symgrad", "report", f"{program}:f", "--no-times", "-o", str(out)], check=True, env=place)
        texts.append(out.read_text())
    assert texts[0] == texts[1]
    assert str(tmp_path) not in Reader(texts[0]).text.replace(str(program), "")


def test_report_writes_and_replaces_its_own_pages_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program, out = tmp_path / "program.py", tmp_path / "page.html"
    program.write_text("def f(x):\n    return x * x\n")
    command = ["report", f"{program}:f", "--args", "3.0", "-o", str(out)]
    assert main(command) == 0
    assert main(command) == 0
    out.write_text("<html>mine</html>")
    assert main(command) == 1
    assert "symgrad has not written it" in capsys.readouterr().err
    assert main([*command, "--overwrite"]) == 0
    assert main(["report", f"{program}:f", "--sig", "float"]) == 0
    assert "no arguments to try it with" in capsys.readouterr().out


# ------------------------------------------------------------------ names stay text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_keys_and_texts_stay_text(name: str) -> None:
    space: dict[str, Any] = {"np": np, "KEY": name, "__name__": name}
    function = symgrad.from_source(f"def f(p):\n    w = p[{name!r}]  # {name!r}\n    return np.sum(w * w)\n", globals=space)
    text = page(facts_of(symgrad.grad(function), ({name: np.ones(2)},)))
    plain = page(
        facts_of(symgrad.grad(symgrad.from_source("def f(p):\n    w = p['k']  # 'k'\n    return np.sum(w * w)\n")), ({"k": np.ones(2)},))
    )

    tags = [tag for tag, _ in Reader(text).elements]
    assert sorted(set(tags)) == sorted({tag for tag, _ in Reader(plain).elements})
    assert tags.count("script") == 1
    assert tags.count("style") == 1
    assert all(not word.startswith("on") for _, attributes in Reader(text).elements for word in attributes)
    assert "\u202e" not in text
    assert "\x00" not in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_labels_of_graphs(name: str) -> None:
    graph = Graph(name, [Node(0, "parameter", name, name), Node(1, "op", name)], [Edge(0, 1, name)])
    drawn = mermaid(graph)
    assert len(drawn.splitlines()) == 4
    assert not re.search(r"[<>](?!/?br/?>|\|)", drawn.replace("-->", "").replace("<br/>", ""))
    assert dot(graph).count("\n") == 5


def test_markup_is_made_in_one_place() -> None:
    assert escaped("<a href='x'>&\"") == "&lt;a href=&#39;x&#39;&gt;&amp;&quot;"
    assert element("p", Html("<b>"), "<b>", title="\"'<") == '<p title="&quot;&#39;&lt;"><b>&lt;b&gt;</p>'
    for word in ("onclick", "style", "srcdoc", "a b"):
        with pytest.raises(ValueError, match="no attribute"):
            element("p", **{word: "x"})
    with pytest.raises(ValueError, match="no element"):
        element("p onclick=x")

    makers = {path.name for path in (ROOT / "symgrad").rglob("*.py") if re.search(r"\bHtml\((?!str\))", path.read_text())}
    assert makers <= {"html.py", "page.py", "server.py", "display.py"}


# ------------------------------------------------------------------ colours and drawings


@pytest.mark.parametrize(
    "text", ["x = 'a\nb", "def f(:", "\tif", "'''", 'f\'{x!r:>{w}}\' + """a\nb"""', "", "\x00", "é = 1  # ü\r\nx", "x\\"]
)
def test_colouring_never_changes_a_text(text: str) -> None:
    assert "\n".join("".join(piece for _, piece in row) for row in pieces(text)) == text


@pytest.mark.parametrize("name", SAMPLES)
def test_nodes_do_not_overlap_and_stand_in_their_frames(name: str) -> None:
    graph = facts(name, run=False).graph
    boxes = layout_of(graph).boxes

    def inside(nodes: list[Node], frame: Any) -> None:
        for number, node in enumerate(nodes):
            box = boxes[node.number]
            if frame is not None:
                assert frame.x <= box.x
                assert box.x + box.width <= frame.x + frame.width
                assert box.y + box.height <= frame.y + frame.height
            for other in nodes[number + 1 :]:
                there = boxes[other.number]
                apart = box.x + box.width <= there.x or there.x + there.width <= box.x
                assert apart or box.y + box.height <= there.y or there.y + there.height <= box.y
            inside([one for _, inner in node.parts for one in inner], box)

    inside(graph.nodes, None)
