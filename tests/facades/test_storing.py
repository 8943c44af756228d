"""Saved programs: loaded unchanged; damaged or hostile files are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.errors import SaveError
from symgrad.optimizer import Adam
from symgrad.static import Executor, Program, Scope, append_backward, data, program_guard, scope_guard
from symgrad.static.initializers import Assign
from symgrad.vocabulary import network, tensors

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
W = np.array([[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]])


def built(nasty: str = "w") -> tuple[Program, Program, Any]:
    """A program with indices, constants, a loop, a branch, gradients and an optimiser."""
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [-1, 3], "float64")
        w = static.create_parameter([3, 2], "float64", nasty, default_initializer=Assign(W))
        h = network.leaky_relu(tensors.matmul(x, w) + np.array([0.1, 0.2]))
        picked = h[:, 1] * 2.0 + h[:, np.array([0, 1])][:, 0]
        doubled = static.nn.cond(tensors.sum(picked) > 0.0, lambda: picked * 2.0, lambda: picked * 3.0)
        k = tensors.sum(picked) * 0.0
        _, power = static.nn.while_loop(lambda k, p: k < 3.0, lambda k, p: [k + 1.0, p * p], [k, doubled])
        loss = tensors.mean(tensors.clip(power, -np.inf, 5.0))
        Adam(0.01).minimize(loss)
    return main, startup, loss


def trained(program: Program, loss: str, scope: Scope) -> list[Any]:
    return [Executor().run(program, {"x": X}, [loss], scope)[0] for _ in range(3)]


@pytest.mark.parametrize("name", ["w", "w'\"\n__import__('os')", "../w", "for"])
def test_a_program_comes_back(tmp_path: Path, name: str) -> None:
    main, startup, loss = built(name)
    scope, other = Scope(), Scope()
    Executor().run(startup, scope=scope)
    trained(main, loss.name, scope)
    static.save(main, tmp_path / "kept", scope)
    again = static.load_program(tmp_path / "kept")
    static.load(again, tmp_path / "kept", other)
    for key, value in scope.values.items():
        assert np.array_equal(other.values[key], value)
    assert [op.type for op in again.global_block().ops] == [op.type for op in main.global_block().ops]
    assert trained(again, loss.name, other) == trained(main, loss.name, scope)
    assert again.source([loss.name]) == main.source([loss.name])
    with program_guard(again):
        pairs = append_backward(again.global_block().var(loss.name))
    assert [p.name for p, _ in pairs] == [name]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept.json", "kept.npz"]


def test_a_model_for_inference(tmp_path: Path) -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup), scope_guard(Scope()):
        x = data("x", [-1, 3], "float64")
        y = network.dropout(static.nn.fc(x, 2), 0.5)
        append_backward(tensors.mean(y))
        Executor().run(startup)
        static.save_inference_model(tmp_path / "model", [x], [y])
        w = np.asarray(static.global_scope().find_var("fc_0.w_0"))
    with scope_guard(Scope()):
        program, names, targets = static.load_inference_model(tmp_path / "model")
        (actual,) = Executor().run(program, {names[0]: X}, targets)
    assert actual == pytest.approx(X @ w)


def test_a_function_of_ones_own_cannot_be_saved(tmp_path: Path) -> None:
    def mine(x: Any) -> Any:
        return np.sum(x)

    with pytest.raises(SaveError, match="mine"):
        static.save(Program.from_function(mine, x="f8[:]"), tmp_path / "kept")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    main, startup, _ = built()
    scope = Scope()
    Executor().run(startup, scope=scope)
    static.save(main, tmp_path / "kept", scope)
    return tmp_path / "kept", json.loads((tmp_path / "kept.json").read_text())


def changed(page: Any, *path: Any) -> Any:
    """Set what a path leads to; the last item is the new value."""
    *inside, key, value = path
    place = page
    for step in inside:
        place = place[step]
    place[key] = value


def first(page: Any, kind: str, **words: Any) -> Any:
    """The first step of a kind."""
    steps = page["blocks"][0]["steps"]
    return next(s for s in steps if s["step"] == kind and all(str(v) in str(s.get(k)) for k, v in words.items()))


def nested(depth: int) -> Any:
    """Lists in lists."""
    return [nested(depth - 1)] if depth else 1


CODE = "__import__('os').system('exit 1')"


@pytest.mark.parametrize(
    "damage",
    [
        lambda p: p.update(format="pickle"),
        lambda p: p.update(version=2),
        lambda p: p.update(gradient_calls="1"),
        lambda p: p.update(gradient_calls=True),
        lambda p: p.update(blocks=[]),
        lambda p: p.update(blocks={}),
        lambda p: p.update(constants=["nobody"]),
        lambda p: p.update(values=["nobody"]),
        lambda p: p.update(values=3),
        lambda p: changed(p, "blocks", 0, "parent", 0),
        lambda p: changed(p, "blocks", 1, "parent", 5),
        lambda p: changed(p, "blocks", 1, "parent", 1),
        lambda p: changed(p, "blocks", 0, "carried", ["x"]),
        lambda p: changed(p, "blocks", 0, "variables", 0, "dtype", "object"),
        lambda p: changed(p, "blocks", 0, "variables", 0, "dtype", "O"),
        lambda p: changed(p, "blocks", 0, "variables", 0, "dtype", {"float": "inf"}),
        lambda p: changed(p, "blocks", 0, "variables", 0, "shape", [-2]),
        lambda p: changed(p, "blocks", 0, "variables", 0, "shape", [1.5]),
        lambda p: changed(p, "blocks", 0, "variables", 0, "name", ""),
        lambda p: changed(p, "blocks", 0, "variables", 0, "name", 3),
        lambda p: changed(p, "blocks", 0, "variables", 0, "stop_gradient", 1),
        lambda p: changed(p, "blocks", 0, "variables", 0, 3),
        lambda p: changed(p, "blocks", 0, "steps", 0, "text"),
        lambda p: changed(p, "blocks", 0, "operations", 0, []),
        lambda p: p["blocks"][0]["variables"].append(p["blocks"][0]["variables"][0]),
        lambda p: first(p, "apply").update(step=CODE),
        lambda p: first(p, "apply").update(function=[CODE]),
        lambda p: first(p, "apply").update(function=["os.system"]),
        lambda p: first(p, "apply").update(function=["tensors.np"]),
        lambda p: first(p, "apply").update(function=["tensors.__builtins__"]),
        lambda p: first(p, "apply").update(function="tensors.add"),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", CODE, 0]),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", "i0", 0]),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", "0, x", 0]),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", "0]\n    import os #", 0]),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", "0\n", 0]),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", "١", 0]),
        lambda p: first(p, "apply", function="getitem").update(function=["getitem", "i1", 2]),
        lambda p: first(p, "apply").update(settings=[[CODE, 1]]),
        lambda p: first(p, "apply", function="leaky").update(settings=[["negative_slope", {"float": CODE}]]),
        lambda p: first(p, "apply", function="leaky").update(settings=[["negative_slope", 1], ["negative_slope", 2]]),
        lambda p: first(p, "apply", function="leaky").update(settings=[["x", 1]]),
        lambda p: first(p, "apply").update(settings={"x": 1}),
        lambda p: first(p, "apply").update(present=[True] * 9, inputs=["x"] * 9),
        lambda p: first(p, "apply").update(present=[1, 1]),
        lambda p: first(p, "apply").update(inputs=["nobody", "w"]),
        lambda p: first(p, "apply").update(inputs=[{"number": "1"}, "w"]),
        lambda p: first(p, "apply").update(inputs=[{"number": 1, "more": 2}, "w"]),
        lambda p: first(p, "apply").update(outputs=["nobody"]),
        lambda p: first(p, "branch").update(blocks=[0, 0]),
        lambda p: first(p, "branch").update(blocks=[1, 99]),
        lambda p: first(p, "branch").update(yields=[[], []]),
        lambda p: first(p, "loop").update(test=[0, "x"]),
        lambda p: first(p, "loop").update(carried=["x", "w"]),
        lambda p: first(p, "loop").update(inits=[]),
        lambda p: first(p, "gradient").update(targets=[]),
        lambda p: first(p, "gradient").update(seeds=["nobody"]),
        lambda p: first(p, "gradient").update(pairs=[["x"]]),
        lambda p: first(p, "gradient").update(cuts=["nobody"]),
        lambda p: first(p, "gradient").update(cuts=[["x"]]),
        lambda p: p["blocks"][0]["steps"].reverse(),
        lambda p: p["blocks"][first(p, "branch")["blocks"][0]].update(steps=[]),
        lambda p: first(p, "apply").update(settings=[["x", nested(400)]]),
    ],
)
def test_damaged_pages(kept: tuple[Path, dict[str, Any]], damage: Any) -> None:
    path, page = kept
    damage(page)
    path.with_suffix(".json").write_text(json.dumps(page))
    with pytest.raises(SaveError):
        static.load_program(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 100_000, '{"format": "symgrad program"}', "\x00"])
def test_what_is_no_page(kept: tuple[Path, dict[str, Any]], text: str) -> None:
    kept[0].with_suffix(".json").write_text(text)
    with pytest.raises(SaveError):
        static.load_program(kept[0])


def arrays(path: Path) -> dict[str, Any]:
    with np.load(path.with_suffix(".npz")) as file:
        return {key: file[key] for key in file.files}


@pytest.mark.parametrize(
    "damage",
    [
        lambda a: a.update(v0=np.array([object()])),
        lambda a: a.update(v0=np.zeros(7)),
        lambda a: a.update(v0=np.zeros((3, 2), "float32")),
        lambda a: a.update(c0=np.zeros(5)),
        lambda a: a.update(more=np.zeros(1)),
        lambda a: a.pop("v0"),
    ],
)
def test_damaged_arrays(kept: tuple[Path, dict[str, Any]], damage: Any) -> None:
    path, _ = kept
    loaded = arrays(path)
    damage(loaded)
    np.savez(path.with_suffix(".npz"), **loaded)
    scope = Scope()
    with pytest.raises(SaveError):
        static.load(static.load_program(path), path, scope)
    assert not scope.values


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x04.", b"cos\nsystem\n(S'true'\ntR."])
def test_what_are_no_arrays(kept: tuple[Path, dict[str, Any]], content: bytes) -> None:
    kept[0].with_suffix(".npz").write_bytes(content)
    with pytest.raises(SaveError):
        static.load_program(kept[0])


def test_values_of_another_program_are_refused(kept: tuple[Path, dict[str, Any]]) -> None:
    main = Program()
    with program_guard(main):
        static.create_parameter([2, 2], "float64", "w")
    with pytest.raises(SaveError):
        static.load(main, kept[0], Scope())
    with pytest.raises(FileNotFoundError):
        static.load_program(kept[0].parent / "nothing")
