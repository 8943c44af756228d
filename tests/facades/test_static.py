"""The static API: programs, appended gradients, control flow, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.errors import BadArgument
from symgrad.static import Executor, Program, append_backward, data, gradients, program_guard
from symgrad.static.initializers import Assign, Constant, Normal, Uniform, XavierNormal, XavierUniform
from symgrad.vocabulary import network, tensors

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
W = np.array([[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]])


def parameter(name: str, value: Any) -> Any:
    return static.create_parameter(value.shape, value.dtype, name, default_initializer=Assign(value))


def built() -> tuple[Program, Program, Any, Any]:
    """A program with one layer: the loss is the mean of its squares."""
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [-1, 3], "float64")
        w = parameter("w", W)
        loss = tensors.mean(tensors.square(tensors.matmul(x, w)))  # type: ignore[attr-defined]
    return main, startup, w, loss


def run(main: Program, startup: Program, fetch: list[Any], **feed: Any) -> list[Any]:
    with static.scope_guard(static.Scope()):
        Executor().run(startup)
        return Executor().run(main, feed, fetch)


def differences(main: Program, startup: Program, loss: Any, name: str, value: Any, **feed: Any) -> Any:
    """The gradient of a fetched loss with respect to a parameter, by central differences."""
    slopes = np.zeros_like(value)
    with static.scope_guard(static.Scope()) as _:
        executor = Executor()
        executor.run(startup)
        for place in np.ndindex(value.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[place] += step
                static.global_scope().var(name).set(moved)
                sides.append(float(executor.run(main, feed, [loss])[0]))
            slopes[place] = (sides[0] - sides[1]) / 2e-6
    return slopes


def test_append_backward() -> None:
    main, startup, w, loss = built()
    with program_guard(main, startup):
        ((parameter_, gradient),) = append_backward(loss)
    assert parameter_ is w
    assert (gradient.name, gradient.shape) == ("w@GRAD", (3, 2))
    (actual,) = run(main, startup, [gradient], x=X)
    assert actual == pytest.approx(differences(main, startup, loss, "w", W, x=X), abs=1e-8)
    (named,) = run(main, startup, ["w@GRAD"], x=X[:1])
    assert named.shape == (3, 2)


def test_second_order_and_names() -> None:
    main, startup, w, loss = built()
    with program_guard(main, startup):
        (first,) = gradients(loss, w)
        assert first is not None
        (second,) = gradients(tensors.sum(first * first), w)
        assert second is not None
    assert (first.name, second.name) == ("w@GRAD", "grad/grad/w@GRAD")
    product = X.T @ X / 2
    expected = 2 * product @ (product @ W)
    assert run(main, startup, [second], x=X)[0] == pytest.approx(expected * 1.0, abs=1e-10)


def test_a_parameter_used_twice_has_parts() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        w = parameter("w", W)
        loss = tensors.sum(w * w + w)
        append_backward(loss)
    names = [name for op in main.global_block().ops for name in op.output_arg_names]
    assert {f"w@GRAD@RENAME@block0@{k}" for k in range(3)} <= set(names)
    assert main.global_block().ops[-1].type == "sum"
    assert run(main, startup, ["w@GRAD"])[0] == pytest.approx(2 * W + 1)


def test_callbacks_see_every_operation() -> None:
    main, startup, _, loss = built()
    seen: list[tuple[str, Any]] = []
    with program_guard(main, startup):
        append_backward(loss, callbacks=[lambda block, context: seen.append((context["__current_op_desc__"].type(), block.ops[-1].type))])
    assert [kind for kind, _ in seen] == ["reduce_mean_grad", "square_grad", "matmul_v2_grad"]
    assert all(kind == last for kind, last in seen)


def test_checkpoints_list_operations_again() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        w = parameter("w", W)
        a = tensors.exp(w)  # type: ignore[attr-defined]
        b = tensors.tanh(a)  # type: ignore[attr-defined]
        c = tensors.square(b)  # type: ignore[attr-defined]
        loss = tensors.sum(c)
        pairs, names = append_backward(loss, checkpoints=[c])
    assert names == [c.name]
    assert f"{a.name}.subprog_0" in {name for op in main.global_block().ops for name in op.output_arg_names}
    expected = 2 * np.tanh(np.exp(W)) * (1 - np.tanh(np.exp(W)) ** 2) * np.exp(W)
    assert run(main, startup, [pairs[0][1]])[0] == pytest.approx(expected)


def test_branch() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [], "float64")
        w = parameter("w", np.array(3.0))
        y = static.nn.cond(x > 0.0, lambda: w * w * x, lambda: w * 5.0)
        ((_, gradient),) = append_backward(y)
    assert run(main, startup, [y, gradient], x=2.0) == [pytest.approx(18.0), pytest.approx(12.0)]
    assert run(main, startup, [y, gradient], x=-2.0) == [pytest.approx(15.0), pytest.approx(5.0)]


def test_loop() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        n = data("n", [], "int64")
        w = parameter("w", np.array([1.1, 0.9]))
        k = tensors.zeros_like(n)  # type: ignore[attr-defined]
        _, power = static.nn.while_loop(lambda k, p: k < n, lambda k, p: [k + 1, p * w], [k, tensors.ones_like(w)])  # type: ignore[attr-defined]
        loss = tensors.sum(power)
        ((_, gradient),) = append_backward(loss)
    value, actual = run(main, startup, [loss, gradient], n=4)
    assert value == pytest.approx(1.1**4 + 0.9**4)
    assert actual == pytest.approx(4 * np.array([1.1, 0.9]) ** 3)


def test_layers() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        image = data("image", [-1, 1, 6, 6], "float64")
        hidden = static.nn.conv2d(image, 2, 3, act="relu")
        normed = static.nn.batch_norm(hidden)
        pooled = network.max_pool2d(normed, 2)
        out = static.nn.fc(pooled, 3, activation="softmax")
        loss = tensors.mean(tensors.square(out))  # type: ignore[attr-defined]
        pairs = append_backward(loss)
    assert [p.name for p, _ in pairs] == ["conv2d_0.w_0", "conv2d_0.b_0", "batch_norm_0.w_0", "batch_norm_0.b_0", "fc_0.w_0", "fc_0.b_0"]
    values = np.random.default_rng(0).normal(size=(4, 1, 6, 6))
    results = run(main, startup, [loss, *(g for _, g in pairs)], image=values)
    assert [r.shape for r in results[1:]] == [tuple(p.shape) for p, _ in pairs]


def test_running_means_are_kept() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [-1, 2], "float64")
        static.nn.batch_norm(x, momentum=0.5)
    values = np.array([[1.0, 2.0], [3.0, 6.0]])
    with static.scope_guard(static.Scope()):
        Executor().run(startup)
        Executor().run(main, {"x": values})
        assert np.asarray(static.global_scope().find_var("batch_norm_0.w_1")) == pytest.approx([1.0, 2.0])


def test_clones() -> None:
    main, startup, _, loss = built()
    with program_guard(main, startup):
        copy = main.clone()
        ((_, gradient),) = append_backward(copy.global_block().var(loss.name))
    assert "w@GRAD" not in main.global_block().vars
    assert run(copy, startup, [gradient], x=X)[0].shape == (3, 2)
    test = copy.clone(for_test=True)
    assert not any("GRAD" in name for op in test.global_block().ops for name in op.output_arg_names)
    assert run(test, startup, [loss.name], x=X)[0] == pytest.approx(np.mean((X @ W) ** 2))


def test_a_program_prints_its_ir() -> None:
    main, _, _, loss = built()
    with program_guard(main):
        append_backward(loss)
    text = str(main)
    assert "matmul(" in text
    assert "w_GRAD" in text


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda main, w, loss: append_backward("loss"), TypeError),
        (lambda main, w, loss: append_backward(w), ValueError),
        (lambda main, w, loss: append_backward(loss, parameter_list="w"), TypeError),
        (lambda main, w, loss: append_backward(loss, parameter_list=[1]), TypeError),
        (lambda main, w, loss: append_backward(loss, no_grad_set="w"), TypeError),
        (lambda main, w, loss: append_backward(loss, callbacks=print), TypeError),
        (lambda main, w, loss: append_backward(loss, callbacks=[1]), ValueError),
        (lambda main, w, loss: gradients("loss", w), TypeError),
        (lambda main, w, loss: gradients([], w), ValueError),
        (lambda main, w, loss: gradients([loss, loss], w), ValueError),
        (lambda main, w, loss: gradients(loss, w, [loss, loss]), ValueError),
        (lambda main, w, loss: gradients(loss, w, w), ValueError),
        (lambda main, w, loss: gradients(loss, w, no_grad_set=w), TypeError),
        (lambda main, w, loss: tensors.matmul(w, w), ValueError),
        (lambda main, w, loss: bool(loss), TypeError),
        (lambda main, w, loss: Executor().run(main, {"y": X}, [loss]), ValueError),
        (lambda main, w, loss: Executor().run(main, {"x": X[0]}, [loss]), ValueError),
        (lambda main, w, loss: Executor().run(main, {"x": X}, [3]), TypeError),
        (lambda main, w, loss: Executor().run(main, {}, [loss], static.Scope()), BadArgument),
    ],
)
def test_refused(call: Any, error: type[Exception]) -> None:
    main, startup, w, loss = built()
    with program_guard(main, startup), pytest.raises(error):
        call(main, w, loss)


def test_programs_are_for_static_mode() -> None:
    _, _, w, loss = built()
    with pytest.raises(AssertionError):
        append_backward(loss)
    with pytest.raises(AssertionError):
        gradients(loss, w)


@pytest.mark.parametrize("kind", [Constant(2.0), Uniform(seed=1), Normal(seed=1), XavierUniform(seed=1), XavierNormal(seed=1)])
def test_initializers(kind: Any) -> None:
    first, second = kind.values((3, 4), np.dtype("float32")), kind.values((3, 4), np.dtype("float32"))
    assert first.dtype == np.float32
    assert first.shape == (3, 4)
    assert np.array_equal(first, second)


def test_a_parameter_that_is_there_already_is_shared_or_refused() -> None:
    main, startup = Program(), Program()
    Value, Attribute = static.initializers.Assign, static.ParamAttr
    with program_guard(main, startup):
        w = static.create_parameter([2], "float64", name="w", default_initializer=Value([1.0, 2.0]))
        plain = static.create_parameter([2], "float64", name="plain")
        assert static.create_parameter([2], "float64", name="w") is w
        assert static.create_parameter([2], "float64", name="w", attr=Attribute(initializer=Value(np.array([1.0, 2.0])))) is w
        assert static.create_parameter([2], "float64", attr=Attribute(name="plain")) is plain
        for words, what in (
            ({"name": "w", "default_initializer": Value([1.0, 3.0])}, "another initializer"),
            ({"name": "plain", "default_initializer": Value([1.0, 3.0])}, "another initializer"),
            ({"attr": Attribute(name="w", trainable=False)}, "another trainable"),
            ({"attr": Attribute(name="w", learning_rate=0.1)}, "another learning_rate"),
        ):
            with pytest.raises(ValueError, match=what):
                static.create_parameter([2], "float64", **words)
        x = data("x", [-1, 2], "float64")
        shared = [static.nn.fc(x, 2, weight_attr=Attribute(name="table"), bias_attr=False) for _ in range(2)]
        with pytest.raises(ValueError, match="another initializer"):
            static.nn.fc(x, 2, weight_attr=Attribute(name="table", initializer=Value(np.eye(2))), bias_attr=False)
    assert [p.name for p in main.all_parameters()] == ["w", "plain", "table"]
    assert len(shared) == 2


def test_a_shared_parameter_is_filled_by_every_startup_program_it_is_made_under() -> None:
    main, first, second = Program(), Program(), Program()
    for startup in (first, second):
        with program_guard(main, startup):
            w = static.create_parameter([2], "float64", name="w", default_initializer=static.initializers.Assign([1.0, 2.0]))
    for startup in (first, second):
        scope = static.Scope()
        static.Executor().run(startup, scope=scope)
        assert scope.values[w.name].tolist() == [1.0, 2.0]
