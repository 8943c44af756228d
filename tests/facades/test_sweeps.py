"""product: effects of ``backward`` and ``grad``: kept gradients, hooks, inputs that are stopped later."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from symgrad.eager import PyLayer, Tensor, grad, no_grad, to_tensor
from symgrad.errors import FreedGraph, NotReached
from symgrad.static import Program, append_backward, data, gradients, program_guard
from symgrad.static.initializers import Assign
from symgrad.static.program import Variable
from symgrad.vocabulary import network, tensors

CALLS: list[str] = []


class Double(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        CALLS.append("layer")
        return gradient * 2


def net(kind: str) -> dict[str, Any]:
    """``x -> a -> b -> y`` and ``w -> c -> y``, all with names; ``kind`` says what makes ``a`` and ``c``."""
    CALLS.clear()
    x, w = (Tensor(np.array([1.0, 2.0]), stop_gradient=False) for _ in range(2))
    make: Callable[..., Any] = Double.apply if kind == "layer" else lambda t: t * 2
    a = make(x)
    b = a * a
    c = make(w)
    return {"x": x, "w": w, "a": a, "b": b, "c": c, "y": (b * c).sum()}


#: the tensors through which ``y`` depends on each; a hook of theirs runs, and of nothing else
PATHS = {"x": "xaby", "a": "aby", "b": "by", "w": "wcy", "c": "cy", "y": "y"}


@pytest.mark.parametrize("kind", ["product", "layer"])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("inputs", [*PATHS, "xw", "bw", "xy"])
def test_hooks_run_on_the_path_only(kind: str, create_graph: bool, inputs: str) -> None:
    for watched in "xwabcy":
        result = net(kind)
        result[watched].register_hook(lambda g, name=watched: CALLS.append(name))
        grad(result["y"], [result[name] for name in inputs], create_graph=create_graph)
        path = {name for one in inputs for name in PATHS[one]}
        assert [c for c in CALLS if c != "layer"] == ([watched] if watched in path else [])
        layers = sum(name in path and bool({source, name} & path) and source in path for name, source in (("a", "x"), ("c", "w")))
        assert kind == "product" or CALLS.count("layer") == layers


@pytest.mark.parametrize("kind", ["product", "layer"])
@pytest.mark.parametrize("hooked", [False, True])
@pytest.mark.parametrize("inputs", [*PATHS, "xw"])
def test_grad_leaves_what_is_kept_alone(kind: str, hooked: bool, inputs: str) -> None:
    result = net(kind)
    for name in "abcy":
        result[name].retain_grads()
    if hooked:
        result["b"].register_hook(lambda g: None)
    result["y"].backward(retain_graph=True)
    before = {name: result[name].grad for name in "xwabcy"}
    values = {name: kept.tolist() for name, kept in before.items()}
    grad(result["y"] * 3.0, [result[name] for name in inputs], retain_graph=True)
    for name, kept in before.items():
        assert result[name].grad is kept
        assert kept.tolist() == values[name]


@pytest.mark.parametrize("hook", [False, True])
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", ["x", "a", "b"])
def test_an_input_that_is_stopped_after_its_use_has_a_gradient(hook: bool, create_graph: bool, name: str) -> None:
    result = net("product")
    expected = grad(result["y"], result[name], retain_graph=True)[0].tolist()
    if hook:
        result[name].register_hook(lambda g: None)
    result[name].stop_gradient = True
    assert grad(result["y"], result[name], create_graph=create_graph)[0].tolist() == expected
    assert grad(result["y"], [result["w"], result[name]], create_graph=create_graph)[1].tolist() == expected


@pytest.mark.parametrize("name", ["x", "a", "b"])
def test_an_input_that_was_stopped_before_its_use_has_none(name: str) -> None:
    def used(tensor: Any, own: str) -> Any:
        tensor.stop_gradient = own == name
        return tensor

    x = used(Tensor(np.array([1.0, 2.0])), "x")
    w = Tensor(np.array([1.0, 2.0]), stop_gradient=False)
    a = used(x * 2, "a")
    b = used(a * w, "b")
    y = (b * w).sum()
    assert grad(y, {"x": x, "a": a, "b": b}[name], allow_unused=True) == [None]
    with pytest.raises(NotReached):
        grad(y, {"x": x, "a": a, "b": b}[name])


def test_an_input_that_is_freed_after_use_is_not_reached() -> None:
    x = to_tensor([1.0, 2.0])
    y = (x * Tensor(np.ones(2, "float32"), stop_gradient=False)).sum()
    x.stop_gradient = False
    assert grad(y, x, allow_unused=True) == [None]


# ------------------------------------------------------------------ what is printed


@pytest.mark.parametrize("shape", [(), (2,), (0,)])
def test_gradients_print_that_a_gradient_may_be_asked_of_them(shape: tuple[int, ...]) -> None:
    x = Tensor(np.ones(shape), stop_gradient=False)
    y = x * 2
    y.retain_grads()
    (y * y).sum().backward()
    for gradient in (x.grad, y.grad):
        assert not gradient.stop_gradient
        assert gradient.is_leaf
        assert "stop_gradient=False" in repr(gradient)
    with no_grad():
        x.grad.set_value(np.zeros(shape))
    x.clear_grad()
    assert not x.grad.stop_gradient
    assert grad(x * x, x)[0].stop_gradient


# ------------------------------------------------------------------ records that were freed

SECOND: dict[str, Callable[[Any, Any, Any], Any]] = {
    "the same": lambda x, h, y: y.backward(), "grad": lambda x, h, y: grad(y, x), "a new operation": lambda x, h, y: (y * 2).backward(),
    "another loss": lambda x, h, y: (h * h).sum().backward(), "its middle": lambda x, h, y: grad(h, x), "with create_graph": lambda x, h, y: grad(y, x, create_graph=True),
    "a view": lambda x, h, y: h[0].backward(), "a store": lambda x, h, y: (h.__setitem__(0, 1.0), h.sum().backward()),
    "two": lambda x, h, y: (y + (x * x).sum()).backward(),
}  # fmt: skip
MAKERS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: x * x, "scale": lambda x: tensors.scale(x, 2.0), "sum": lambda x: x.sum(0, keepdim=True), "view": lambda x: x[:1],
    "layer": Double.apply, "relu": network.relu, "gradient": lambda x: grad((x * x * x).sum(), x, create_graph=True)[0],
}  # fmt: skip


@pytest.mark.parametrize(("maker", "second"), list(itertools.product(MAKERS, SECOND)))
def test_a_freed_record_is_told_of_by_its_error(maker: str, second: str) -> None:
    x = Tensor(np.array([1.0, 2.0]), stop_gradient=False)
    h = MAKERS[maker](x)
    y = (h * 3.0).sum()
    y.backward()
    if (maker, second) == ("view", "a store"):
        return  # a view of a leaf is not changed at all
    with pytest.raises(FreedGraph, match="retain_graph=True") as caught:
        SECOND[second](x, h, y)
    assert isinstance(caught.value, RuntimeError)
    assert isinstance(caught.value, SystemError)
    assert type(caught.value).default_hint


# ------------------------------------------------------------------ names of gradients in programs


def program() -> tuple[Program, Any, Any, Any, Any]:
    main = Program()
    with program_guard(main, Program()):
        x, w = data("x", [2], "float64"), data("w", [2], "float64")
        w.stop_gradient = False
        h = x * w
        y = tensors.sum(h * h)
    return main, x, w, h, y


#: calls that give none: of a variable that is stopped, unreachable, or cut
NONE: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "stopped": lambda x, w, h, y: gradients(y, x), "cut": lambda x, w, h, y: gradients(y, w, no_grad_set=[w]),
    "unreachable": lambda x, w, h, y: gradients(tensors.sum(w), x), "two": lambda x, w, h, y: gradients([y], [x, data("z", [2], "float64")]),
}  # fmt: skip


@pytest.mark.parametrize("kind", NONE)
def test_a_call_that_gives_none_counts_and_leaves_names(kind: str) -> None:
    main, x, w, h, y = program()
    with program_guard(main, Program()):
        assert set(NONE[kind](x, w, h, y)) == {None}
        block = main.global_block()
        (seed,) = [op.output_arg_names[0] for op in block.ops if op.type == "fill_any_like"]
        assert seed in block.vars
        (first,) = gradients(y, w)
        (second,) = gradients(y, w)
        (inner,) = gradients(y, h)
        (third,) = gradients(tensors.sum(y * y), y)
    assert [first.name, second.name, inner.name] == ["w@GRAD", "grad/grad/grad/w@GRAD", "grad/" * 4 + "h@GRAD".replace("h", h.name)]
    assert third.name == "grad/" * 5 + f"{y.name}@GRAD"
    fed = {"x": np.array([1.0, 2.0]), "w": np.array([3.0, 4.0])}
    values = main.run(fed, [first, second, inner, seed])
    assert [v.tolist() for v in values[:3]] == [[6.0, 32.0], [6.0, 32.0], [6.0, 16.0]]
    assert np.all(values[3] == 1.0)


def test_what_lies_behind_a_stopped_input_has_a_name_after_it() -> None:
    main, x, w, h, y = program()
    with program_guard(main, Program()):
        assert gradients(y, x) == [None]
        (gradient,) = gradients(y, h)
        copy = main.clone()
        (again,) = gradients(copy.global_block().var(y.name), copy.global_block().var(h.name))
    assert isinstance(gradient, Variable)
    assert [gradient.name, again.name] == [f"grad/grad/{h.name}@GRAD", f"grad/grad/grad/{h.name}@GRAD"]
    assert main.clone(for_test=True).run({"x": np.ones(2), "w": np.ones(2)}, [y.name])[0] == 2.0


def test_append_backward_after_a_call_that_gave_none() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [2], "float64")
        from symgrad.static import create_parameter

        w = create_parameter([2], "float64", name="w", default_initializer=Assign(np.array([1.0, 2.0])))
        y = tensors.sum(x * w)
        assert gradients(y, x) == [None]
        ((_, gradient),) = append_backward(y)
        assert gradient.name == "w@GRAD"
        assert gradients(y, w)[0].name == "grad/grad/grad/w@GRAD"
