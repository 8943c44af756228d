"""The static API argument by argument: accepted values, names of gradients, callbacks, checkpoints."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from symgrad import static
from symgrad.errors import BadArgument
from symgrad.optimizer import SGD
from symgrad.static import Executor, Program, append_backward, data, gradients, program_guard
from symgrad.static.initializers import Assign
from symgrad.vocabulary import network, tensors

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.3, -0.7]])
W = np.array([[0.1, 0.2], [-0.3, 0.4], [0.5, -0.6]])
V = np.array([0.7, -0.9])


def parameter(name: str, value: Any, **words: Any) -> Any:
    value = np.asarray(value)
    return static.create_parameter(value.shape, value.dtype, name, default_initializer=Assign(value), **words)


class Sample:
    """A program with two parameters and one that does not feed the loss; ``a = x @ w``, ``b = a * v``, the loss is its sum."""

    def __init__(self) -> None:
        self.main, self.startup = Program(), Program()
        with program_guard(self.main, self.startup):
            self.x = data("x", [-1, 3], "float64")
            self.w, self.v, self.u = parameter("w", W), parameter("v", V), parameter("u", V)
            self.a = tensors.matmul(self.x, self.w)
            self.b = self.a * self.v
            self.loss = tensors.sum(self.b)
            self.aside = self.u * 2.0

    def run(self, fetch: list[Any], **feed: Any) -> list[Any]:
        with static.scope_guard(static.Scope()):
            Executor().run(self.startup)
            return Executor().run(self.main, {"x": X, **feed}, fetch)

    def __enter__(self) -> Sample:
        self.guard = program_guard(self.main, self.startup)
        self.guard.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.guard.__exit__(*error)


W_GRAD = X.T @ np.ones((2, 2)) * V
V_GRAD = (X @ W).sum(0)


def names(pairs: list[Any]) -> list[tuple[str, str]]:
    return [(p.name, g.name) for p, g in pairs]


# ------------------------------------------------------------------ append_backward: what is asked for


@pytest.mark.parametrize(
    ("asked", "actual"),
    [
        (lambda m: None, ["w", "v"]),
        (lambda m: [m.v, m.w], ["v", "w"]),
        (lambda m: (m.v, "w"), ["v", "w"]),
        (lambda m: {"w"}, ["w"]),
        (lambda m: [m.w, "w"], ["w", "w"]),
        (lambda m: [], []),
        (lambda m: ["nobody", "w"], ["w"]),
        (lambda m: [m.u, m.w], ["w"]),
        (lambda m: [m.x, m.w], ["w"]),
    ],
)
def test_parameter_list(asked: Any, actual: list[str]) -> None:
    with Sample() as sample:
        pairs = append_backward(sample.loss, asked(sample))
        assert isinstance(pairs, list)
        assert all(isinstance(pair, tuple) for pair in pairs)
        assert names(pairs) == [(name, f"{name}@GRAD") for name in actual]
    expected = {"w": W_GRAD, "v": V_GRAD}
    for (p, _), value in zip(pairs, sample.run([g for _, g in pairs]), strict=True):
        assert value == pytest.approx(expected[p.name])


def test_gradient_variables() -> None:
    with Sample() as sample:
        ((p, gradient), _) = append_backward(sample.loss)
    assert p is sample.w
    assert (gradient.shape, gradient.dtype, gradient.persistable, gradient.stop_gradient) == ((3, 2), sample.w.dtype, False, False)
    assert sample.main.global_block().var("w@GRAD") is gradient


def test_intermediates_and_the_loss_itself_have_pairs() -> None:
    with Sample() as sample:
        sample.x.stop_gradient = False
        pairs = append_backward(sample.loss, [sample.a, sample.loss, sample.x])
    assert names(pairs) == [(v.name, f"{v.name}@GRAD") for v in (sample.a, sample.loss, sample.x)]
    actual = sample.run([g for _, g in pairs])
    assert actual[0] == pytest.approx(np.ones((2, 2)) * V)
    assert actual[1] == pytest.approx(1.0)
    assert actual[2] == pytest.approx(np.ones((2, 2)) * V @ W.T)


def test_a_free_data_variable_is_differentiated_but_not_listed() -> None:
    with Sample() as sample:
        sample.x.stop_gradient = False
        assert [p.name for p, _ in append_backward(sample.loss)] == ["w", "v"]
    assert sample.run(["x@GRAD"])[0] == pytest.approx(np.ones((2, 2)) * V @ W.T)


def test_what_is_not_trained_is_given_when_it_is_asked_for() -> None:
    for asked, actual in ((None, ["w"]), (["v"], ["v"])):
        with Sample() as sample:
            sample.v.trainable = False
            assert not sample.v.stop_gradient
            assert [p.name for p, _ in append_backward(sample.loss, asked)] == actual


def test_a_seed_is_listed_even_if_nothing_can_be_differentiated() -> None:
    with Sample() as sample:
        before = len(sample.main.global_block().ops)
        assert append_backward(sample.loss, no_grad_set={sample.b}) == []
        (seed,) = sample.main.global_block().ops[before:]
        assert (seed.type, seed.output_arg_names) == ("fill_constant", [f"{sample.loss.name}@GRAD"])


@pytest.mark.parametrize(
    ("cut", "expected"),
    [
        (lambda m: {m.w}, ["v"]),
        (lambda m: ["w"], ["v"]),
        (lambda m: ("w@GRAD", "nobody"), ["v"]),
        (lambda m: {m.a}, ["v"]),
        (lambda m: [m.b], []),
        (lambda m: [m.loss], []),
        (lambda m: {m.v, "w"}, []),
    ],
)
def test_no_grad_set(cut: Any, expected: list[str]) -> None:
    with Sample() as sample:
        passed = cut(sample)
        before = type(passed)(passed)
        assert [p.name for p, _ in append_backward(sample.loss, no_grad_set=passed)] == expected
        assert passed == before


@pytest.mark.parametrize(
    "argument", [lambda m: "w", lambda m: m.w, lambda m: {"w": 1}, lambda m: frozenset({"w"}), lambda m: [1], lambda m: [None]]
)
def test_no_grad_set_of_a_wrong_kind(argument: Any) -> None:
    with Sample() as sample:
        with pytest.raises(TypeError):
            append_backward(sample.loss, no_grad_set=argument(sample))
        with pytest.raises(TypeError):
            gradients(sample.loss, sample.w, no_grad_set=argument(sample))


@pytest.mark.parametrize("loss", ["loss", None, 1.0, [1], np.ones(())])
def test_a_loss_of_a_wrong_kind(loss: Any) -> None:
    with Sample(), pytest.raises(TypeError):
        append_backward(loss)


def test_a_list_of_the_loss_is_refused() -> None:
    with Sample() as sample, pytest.raises(TypeError):
        append_backward([sample.loss])  # type: ignore[arg-type]


@pytest.mark.parametrize("argument", [lambda m: "w", lambda m: m.w, lambda m: [m.w, 3], lambda m: [None], lambda m: {"w": 1}])
def test_a_parameter_list_of_a_wrong_kind(argument: Any) -> None:
    with Sample() as sample, pytest.raises(TypeError, match="parameter_list"):
        append_backward(sample.loss, argument(sample))


def test_a_loss_that_no_operation_made() -> None:
    with Sample() as sample:
        for loss in (sample.x, sample.w):
            with pytest.raises(ValueError, match="loss.op is None"):
                append_backward(loss)


def test_a_loss_with_many_elements_is_seeded_with_ones() -> None:
    with Sample() as sample:
        pairs = append_backward(sample.b)
    assert sample.run([pairs[0][1]])[0] == pytest.approx(W_GRAD)


def test_a_loss_of_shape_one() -> None:
    with Sample() as sample:
        loss = tensors.reshape(sample.loss, [1])
        pairs = append_backward(loss)
    assert sample.run([pairs[1][1]])[0] == pytest.approx(V_GRAD)


def test_gradients_go_to_the_program_of_the_loss() -> None:
    with Sample() as sample:
        pass
    other = Program()
    with program_guard(other):
        assert [p.name for p, _ in append_backward(sample.loss)] == ["w", "v"]
    assert not other.global_block().vars
    assert "w@GRAD" in sample.main.global_block().vars


# ------------------------------------------------------------------ stop_gradient


def test_stopping_after_use_counts() -> None:
    with Sample() as sample:
        sample.a.stop_gradient = True
        assert [p.name for p, _ in append_backward(sample.loss)] == ["v"]


def test_a_stopped_loss() -> None:
    with Sample() as sample:
        sample.loss.stop_gradient = True
        assert append_backward(sample.loss) == []


def test_what_is_set_free_behind_a_stop_is_a_leaf() -> None:
    with Sample() as sample:
        y = sample.x * 3.0
        assert y.stop_gradient
        y.stop_gradient = False
        sample.w.stop_gradient = True
        loss = tensors.sum(tensors.matmul(y, sample.w))
        ((variable, gradient),) = append_backward(loss, [y, sample.x, sample.w])
    assert variable is y
    assert sample.run([gradient])[0] == pytest.approx(np.ones((2, 2)) @ W.T)


def test_other_paths_flow_on_when_one_is_cut() -> None:
    with Sample() as sample:
        left, right = sample.v * 2.0, sample.v * 3.0
        loss = tensors.sum(left * right)
        ((_, gradient),) = append_backward(loss, no_grad_set=[left])
    assert sample.run([gradient])[0] == pytest.approx(2 * V * 3.0)


def test_one_output_of_several_without_gradient() -> None:
    with Sample() as sample:
        first, _, _ = tensors.split(
            sample.x @ sample.w @ tensors.reshape(sample.v, [2, 1]) * sample.w[:, :1].sum() + sample.v.sum() + sample.x, 3, axis=1
        )
        loss = tensors.sum(first)
        pairs = append_backward(loss)
    assert [p.name for p, _ in pairs] == ["w", "v"]
    ones = np.array([[1.0], [1.0]])
    value = X @ W @ V
    expected = (X.T @ ones @ V[None, :]) * W[:, 0].sum()
    expected[:, 0] += value.sum()
    assert sample.run([pairs[0][1]])[0] == pytest.approx(expected)


# ------------------------------------------------------------------ names


def test_a_name_that_is_taken_has_a_number() -> None:
    with Sample() as sample:
        sample.main.global_block().create_var("w@GRAD", (1,), "float64")
        pairs = append_backward(sample.loss)
    assert names(pairs) == [("w", "w@GRAD_0"), ("v", "v@GRAD")]
    assert sample.run([pairs[0][1]])[0] == pytest.approx(W_GRAD)


def test_later_calls_have_names_of_their_own() -> None:
    with Sample() as sample:
        calls = [append_backward(sample.loss) for _ in range(3)]
    assert [g.name for pairs in calls for _, g in pairs] == [
        "w@GRAD", "v@GRAD", "grad/grad/w@GRAD", "grad/grad/v@GRAD", "grad/grad/grad/w@GRAD", "grad/grad/grad/v@GRAD",
    ]  # fmt: skip
    seeds = [op.output_arg_names for op in sample.main.global_block().ops if op.type == "fill_constant"]
    assert seeds == [[f"{sample.loss.name}@GRAD{end}"] for end in ("", "_0", "_1")]
    for value in sample.run([pairs[0][1] for pairs in calls]):
        assert value == pytest.approx(W_GRAD)


def test_parts_of_what_is_used_twice_in_one_operation() -> None:
    with Sample() as sample:
        loss = tensors.sum(sample.v * sample.v)
        ((_, gradient),) = append_backward(loss)
    ops = sample.main.global_block().ops[-2:]
    assert ops[0].output_arg_names == ["v@GRAD@RENAME@block0@0", "v@GRAD@RENAME@block0@1"]
    assert (ops[1].type, ops[1].input_arg_names, ops[1].output_arg_names) == ("sum", ops[0].output_arg_names, ["v@GRAD"])
    assert sample.run([gradient])[0] == pytest.approx(2 * V)


def test_second_order_by_append_backward() -> None:
    with Sample() as sample:
        ((_, first),) = append_backward(tensors.sum(sample.v * sample.v * sample.v), ["v"])
        ((_, second),) = append_backward(tensors.sum(first * first), ["v"])
    assert sample.run([second])[0] == pytest.approx(36 * V**3)


# ------------------------------------------------------------------ callbacks


def test_the_protocol_of_callbacks() -> None:
    calls: list[Any] = []

    def callback(tag: str) -> Any:
        def call(**words: Any) -> str:
            assert sorted(words) == ["block", "context"]
            context, block = words["context"], words["block"]
            current = context["__current_op_desc__"]
            assert block.ops[-1].desc is current
            assert not any("@GRAD" in name for name in block.vars)
            assert all(isinstance(name, str) for key, name in context.items() if key != "__current_op_desc__")
            calls.append((tag, current.type(), id(context), sorted(k for k in context if k.endswith("@GRAD"))))
            return "ignored"

        return call

    with Sample() as sample:
        append_backward(tensors.sum(sample.v * sample.v), callbacks=(callback("one"), callback("two")))
    assert [(tag, kind) for tag, kind, _, _ in calls] == [
        (tag, kind) for kind in ("reduce_sum_grad", "elementwise_mul_grad", "sum") for tag in ("one", "two")
    ]
    assert len({call[2] for call in calls}) == 1
    assert len({tuple(call[3]) for call in calls}) == 1
    assert "v@GRAD" in calls[0][3]


@pytest.mark.parametrize(
    ("argument", "error"),
    [(print, TypeError), ({1}, TypeError), ("cb", TypeError), (3, TypeError), ([3], ValueError), ([None], ValueError)],
)
def test_callbacks_of_a_wrong_kind(argument: Any, error: type[Exception]) -> None:
    with Sample() as sample, pytest.raises(error):
        append_backward(sample.loss, callbacks=argument)


def test_no_callbacks() -> None:
    with Sample() as sample:
        assert [p.name for p, _ in append_backward(sample.loss, callbacks=[])] == ["w", "v"]


def test_errors_of_callbacks_pass() -> None:
    def fail(**words: Any) -> None:
        raise KeyError("mine")

    with Sample() as sample, pytest.raises(KeyError, match="mine"):
        append_backward(sample.loss, callbacks=[fail])


# ------------------------------------------------------------------ checkpoints


@pytest.mark.parametrize("argument", [lambda m: [], lambda m: (m.a,)])
def test_checkpoints_that_have_no_effect(argument: Any) -> None:
    with Sample() as sample:
        assert isinstance(append_backward(sample.loss, checkpoints=argument(sample)), list)


def test_checkpoints_are_sorted_by_place_and_callbacks_are_silent() -> None:
    seen: list[Any] = []
    with Sample() as sample:
        result = append_backward(sample.loss, checkpoints=[sample.b, sample.a], callbacks=[lambda **words: seen.append(1)])
        assert isinstance(result, tuple)
        pairs, kept = result
    assert kept == [sample.a.name, sample.b.name]
    assert not seen
    assert [v == pytest.approx(e) for v, e in zip(sample.run([g for _, g in pairs]), (W_GRAD, V_GRAD), strict=True)] == [True, True]
    assert not any(".subprog" in n for op in sample.main.global_block().ops for n in op.output_arg_names)


def test_names_are_no_checkpoints() -> None:
    with Sample() as sample, pytest.raises(AttributeError):
        append_backward(sample.loss, checkpoints=["a"])


def test_unknown_checkpoints_are_dropped() -> None:
    with Sample() as other:
        stranger = other.a * 2.0
    with Sample() as sample:
        _, kept = append_backward(sample.loss, checkpoints=[stranger])
    assert kept == []


# ------------------------------------------------------------------ the context of distributed training


def test_distop_context() -> None:
    context = SimpleNamespace(grad_var_to_var={}, grad_op_id_to_op_id={})
    with Sample() as sample:
        append_backward(sample.loss, distop_context=context)
        with pytest.raises(AttributeError):
            append_backward(sample.loss, distop_context=object())
    assert context.grad_var_to_var[1]["w@GRAD"] == "w"
    assert context.grad_op_id_to_op_id


# ------------------------------------------------------------------ gradients


@pytest.mark.parametrize("argument", ["w", None, {1}, ["w"], [None], 3])
def test_what_is_no_variable(argument: Any) -> None:
    with Sample() as sample:
        with pytest.raises(TypeError):
            gradients(argument, sample.w)
        with pytest.raises(TypeError):
            gradients(sample.loss, argument)


def test_forms_of_targets_and_inputs() -> None:
    for targets in (lambda m: m.loss, lambda m: [m.loss], lambda m: (m.loss,)):
        for inputs in (lambda m: m.w, lambda m: [m.w], lambda m: (m.w,)):
            with Sample() as sample:
                actual = gradients(targets(sample), inputs(sample))
                assert isinstance(actual, list)
                assert sample.run(actual)[0] == pytest.approx(W_GRAD)


def test_inputs_that_nothing_reaches() -> None:
    with Sample() as sample:
        assert gradients(sample.loss, []) == []
        assert gradients(sample.loss, sample.u) == [None]
        assert gradients(sample.loss, sample.x) == [None]
        assert [g is None for g in gradients(sample.loss, [sample.u, sample.w, sample.x])] == [True, False, True]
        assert gradients(sample.loss, sample.w, no_grad_set=[sample.a]) == [None]
        assert gradients(sample.loss, sample.w, no_grad_set=[sample.w]) == [None]
        assert gradients(sample.loss, sample.w, no_grad_set=[sample.loss]) == [None]
        sample.loss.stop_gradient = True
        assert gradients(sample.loss, sample.w) == [None]


def test_an_input_twice() -> None:
    with Sample() as sample:
        actual = gradients(sample.loss, [sample.w, sample.w])
    assert [value == pytest.approx(W_GRAD) for value in sample.run(actual)] == [True, True]


def test_a_target_as_input() -> None:
    with Sample() as sample:
        actual = [*gradients(sample.b, sample.b), *gradients(sample.b, [sample.b, sample.w]), *gradients(sample.b, sample.b, sample.a)]
    ones, own, through, seeded = sample.run(actual)
    assert ones == pytest.approx(np.ones((2, 2)))
    assert own == pytest.approx(np.ones((2, 2)))
    assert through == pytest.approx(W_GRAD)
    assert seeded == pytest.approx(X @ W)


def test_a_target_that_feeds_another() -> None:
    with Sample() as sample:
        y = sample.v * sample.v
        z = y * 4.0
        for targets in ([y, z], [z, y]):
            assert sample.run(gradients(targets, sample.v))[0] == pytest.approx(10 * V)
        (mixed,) = gradients([y, z], sample.v, [None, sample.u])
    assert sample.run([mixed])[0] == pytest.approx(2 * V + 8 * V * V)


def test_intermediate_and_leaf() -> None:
    with Sample() as sample:
        y = sample.v * sample.v
        z = y * y + sample.v
        actual = gradients(z, [y, sample.v])
    assert sample.run(actual)[0] == pytest.approx(2 * V**2)
    assert sample.run(actual)[1] == pytest.approx(4 * V**3 + 1)


@pytest.mark.parametrize(
    ("argument", "error"),
    [
        (lambda m: "v", TypeError),
        (lambda m: np.ones((2, 2)), TypeError),
        (lambda m: [1.0], TypeError),
        (lambda m: [m.b, m.b], ValueError),
        (lambda m: m.u, ValueError),
        (lambda m: tensors.transpose(m.w, [1, 0]), ValueError),
        (lambda m: [tensors.cast(m.b, "float32")], TypeError),
    ],
)
def test_target_gradients_that_do_not_fit(argument: Any, error: type[Exception]) -> None:
    with Sample() as sample, pytest.raises(error):
        gradients(sample.b, sample.w, argument(sample))


@pytest.mark.parametrize("argument", [None, [], [None], (None,)])
def test_target_gradients_that_are_ones(argument: Any) -> None:
    with Sample() as sample:
        assert sample.run(gradients(sample.b, sample.w, argument))[0] == pytest.approx(W_GRAD)


def test_an_open_extent_agrees_with_a_known_one() -> None:
    with Sample() as sample:
        seed = data("seed", [2, 2], "float64")
        (actual,) = gradients(sample.b, sample.w, seed)
    assert sample.run([actual], seed=np.full((2, 2), 3.0))[0] == pytest.approx(3 * W_GRAD)


def test_seeds_are_differentiated() -> None:
    with Sample() as sample:
        seed = data("seed", [2], "float64")
        seed.stop_gradient = False
        (first,) = gradients(sample.v * sample.v * sample.v, sample.v, seed)
        (tangent,) = gradients(first, seed, sample.u)
        assert tangent is not None
    assert sample.run([tangent], seed=np.zeros(2))[0] == pytest.approx(3 * V**3)


def test_names_of_gradients_of_several_calls() -> None:
    with Sample() as sample:
        actual = [gradients(sample.loss, sample.w)[0] for _ in range(3)]
    assert [g.name for g in actual if g is not None] == ["w@GRAD", "grad/grad/w@GRAD", "grad/grad/grad/w@GRAD"]


def test_third_order() -> None:
    with Sample() as sample:
        y: Any = sample.v**4.0
        for _ in range(3):
            (y,) = gradients(y, sample.v)
    assert sample.run([y])[0] == pytest.approx(24 * V)


def test_second_order_of_what_is_linear() -> None:
    with Sample() as sample:
        (first,) = gradients(sample.loss, sample.w)
        assert gradients(first, sample.w) == [None]
        (slope,) = gradients(network.relu(sample.v), sample.v)
        assert gradients(slope, sample.v) == [None]


def test_second_order_of_a_softmax() -> None:
    with Sample() as sample:
        y = network.softmax(sample.v)
        (first,) = gradients(y * y, sample.v)
        (second,) = gradients(first, sample.v)

    def slope(v: Any) -> Any:
        s = np.exp(v) / np.exp(v).sum()
        return 2 * s * (s - (s * s).sum())

    expected = [sum(slope(V + h) - slope(V - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert sample.run([second])[0] == pytest.approx(expected, abs=1e-8)


def test_inputs_of_another_program() -> None:
    with Sample() as other:
        pass
    with Sample() as sample, pytest.raises(ValueError, match="program"):
        gradients(sample.loss, other.w)


# ------------------------------------------------------------------ clones


def test_a_clone_for_tests_is_what_was_there_before_training() -> None:
    with Sample() as sample:
        before = [op.type for op in sample.main.clone(for_test=True).global_block().ops]
        SGD(0.1).minimize(sample.loss)
        after = sample.main.clone(for_test=True)
    assert [op.type for op in after.global_block().ops] == before
    with static.scope_guard(static.Scope()):
        Executor().run(sample.startup)
        (value,) = Executor().run(after, {"x": X}, [sample.loss.name])
        assert value == pytest.approx(np.sum(X @ W * V))
        assert np.asarray(static.global_scope().find_var("w")) == pytest.approx(W)


def test_a_clone_stands_alone() -> None:
    with Sample() as sample:
        append_backward(sample.loss)
        copy = sample.main.clone()
        copied = copy.global_block().var(sample.loss.name)
        again = append_backward(copied)
    assert [g.name for _, g in again] == ["grad/grad/w@GRAD", "grad/grad/v@GRAD"]
    assert all(p.program is copy for p, _ in again)
    assert "grad/grad/w@GRAD" not in sample.main.global_block().vars


# ------------------------------------------------------------------ names that are no words


NASTY = [
    "a b",
    "x'",
    'x"""',
    "x\n    import os",
    "for",
    "np",
    "x²",
    "é",
    "0",
    "",
    "__import__('os')",
    "x; y",
    "\\",
    "program",
    "{0}",
    "x#",
    "None",
    "t",
]


@pytest.mark.parametrize("name", [n for n in NASTY if n])
def test_names_never_reach_the_code(name: str) -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup), static.name_scope(name):
        x = data(name, [2], "float64")
        w = parameter(name + "w", V)
        loss = tensors.sum(x * w * w)
        ((_, gradient),) = append_backward(loss)
    assert gradient.name == f"{name}w@GRAD"
    with static.scope_guard(static.Scope()):
        Executor().run(startup)
        (actual,) = Executor().run(main, {name: V}, [gradient])
    assert actual == pytest.approx(2 * V * V)
    assert str(main)


# ------------------------------------------------------------------ what depends on extents that are not known


def test_an_axis_of_unknown_extent_is_not_split() -> None:
    with Sample() as sample:
        for call in (lambda: tensors.split(sample.x, 2), lambda: tensors.split(sample.x, [1, -1]), lambda: tensors.unbind(sample.x)):
            with pytest.raises(ValueError, match="not known"):
                call()
        with pytest.raises(ValueError, match="lengths"):
            tensors.split(sample.x, [1, 1], axis=1)
        with pytest.raises(ValueError, match="lengths"):
            tensors.split(sample.x, [-1, -1], axis=1)


def test_a_clone_for_tests_reads_running_means() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [-1, 2], "float64")
        out = static.nn.batch_norm(x, momentum=0.5)
    test = main.clone(for_test=True)
    values = np.array([[1.0, 2.0], [3.0, 6.0]])
    with static.scope_guard(static.Scope()):
        Executor().run(startup)
        Executor().run(main, {"x": values})
        mean, variance = np.array([1.0, 2.0]), 0.5 + np.array([0.5, 2.0])
        for _ in range(2):
            (actual,) = Executor().run(test, {"x": values}, [out.name])
            assert actual == pytest.approx((values - mean) / np.sqrt(variance + 1e-5))


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_a_clone_for_tests_drops_nothing(mode: str) -> None:
    main = Program()
    with program_guard(main):
        x = data("x", [4], "float64")
        y = network.dropout(x, 0.25, mode=mode)
    (actual,) = Executor().run(main.clone(for_test=True), {"x": np.ones(4)}, [y.name])
    assert actual.tolist() == [1.0 if mode == "upscale_in_train" else 0.75] * 4


def test_what_is_fetched_and_kept_shares_no_memory() -> None:
    main, startup = Program(), Program()
    with program_guard(main, startup):
        x = data("x", [2, 2], "float64")
        w = parameter("w", np.eye(2))
        flat, same = tensors.reshape(w, [4]), tensors.reshape(x, [4])
        static.nn.overwrite(w, tensors.transpose(x, [1, 0]))
    passed = np.array([[1.0, 2.0], [3.0, 4.0]])
    with static.scope_guard(static.Scope()):
        Executor().run(startup)
        results = Executor().run(main, {"x": passed}, [flat, same, w, w])
        kept = np.array([[1.0, 3.0], [2.0, 4.0]])
        for array in (passed, *results):
            array[...] = 7.0
        assert np.asarray(static.global_scope().find_var("w")).tolist() == kept.tolist()


def test_settings_of_several_kinds_are_not_confused() -> None:
    main = Program()
    with program_guard(main):
        x = data("x", [2], "int64")
        whole, real = tensors.pow(x, 2), tensors.pow(x, 2.0)
    actual = Executor().run(main, {"x": np.array([1, 2])}, [whole, real])
    assert [value.dtype for value in actual] == [whole.dtype, real.dtype]
    assert whole.dtype != real.dtype


def test_two_losses_with_an_optimiser_each() -> None:
    with Sample() as sample:
        second = tensors.sum(sample.w * sample.w)
        SGD(0.5).minimize(sample.loss, parameters=[sample.w])
        ((_, gradient),) = append_backward(second)
        SGD(0.25).apply_gradients([(sample.w, gradient)])
        with pytest.raises(ValueError, match="minimize"):
            append_backward(tensors.sum(sample.w * 2.0))
    with static.scope_guard(static.Scope()):
        Executor().run(sample.startup)
        (actual,) = Executor().run(sample.main, {"x": X}, [gradient])
        assert actual == pytest.approx(2 * W)
        assert np.asarray(static.global_scope().find_var("w")) == pytest.approx(W - 0.5 * W_GRAD - 0.25 * 2 * W)


# ------------------------------------------------------------------ what is listed


def kinds(sample: Sample, start: int) -> list[str]:
    return [op.type for op in sample.main.global_block().ops[start:]]


def test_operations_are_listed_again_before_their_gradients() -> None:
    with Sample() as sample:
        a = tensors.add(sample.x, 1.0)  # type: ignore[attr-defined]
        b = tensors.tanh(a)  # type: ignore[attr-defined]
        c = tensors.matmul(b, sample.w)
        d = tensors.exp(c)  # type: ignore[attr-defined]
        e = tensors.square(d)  # type: ignore[attr-defined]
        start = len(sample.main.global_block().ops) + 1
        loss = tensors.sum(e)
        _, actual = append_backward(loss, checkpoints=[d, b])
        listed = sample.main.global_block().ops[start:]
    assert actual == [b.name, d.name]
    gradients_after, again, gradients_between = (
        ["fill_constant", "reduce_sum_grad", "square_grad"],
        ["matmul_v2"],
        ["exp_grad", "matmul_v2_grad"],
    )
    assert [op.type for op in listed] == [*gradients_after, *again, *gradients_between]
    copy, exp_gradient = listed[3], listed[4]
    assert copy.output_arg_names == [f"{c.name}.subprog_1"]
    assert exp_gradient.input_arg_names[0] == f"{c.name}.subprog_1"


def test_what_is_dropped_again_reads_a_seed() -> None:
    with Sample() as sample:
        dropped = network.dropout(sample.a, 0.5)
        b = dropped * sample.v
        loss = tensors.sum(b)
        pairs, _ = append_backward(loss, checkpoints=[b])
        ops = sample.main.global_block().ops
    seeds = [op.output_arg_names for op in ops if op.type == "seed"]
    masks = [op.input_arg_names for op in ops if op.type == "keep_mask"]
    assert len(seeds) == 1
    assert len(masks) == 2
    assert all(seeds[0][0] in read for read in masks)
    mask_of = (X @ W != 0) * 1.0
    b_value, gradient = sample.run([b, next(g for p, g in pairs if p.name == "v")])
    assert gradient == pytest.approx((b_value / V).sum(0))
    assert np.all((b_value == 0) | (mask_of != 0))


def test_a_loop_is_not_computed_again() -> None:
    with Sample() as sample:
        y = static.nn.cond(tensors.sum(sample.x) > 0.0, lambda: sample.b * 2.0, lambda: sample.b)
        with pytest.raises(BadArgument, match="computed again"):
            append_backward(tensors.sum(y), checkpoints=[sample.b])


def test_parts_are_summed_before_the_sum_is_read() -> None:
    with Sample() as sample:
        y = sample.a * sample.a + sample.a
        start = len(sample.main.global_block().ops) + 2
        append_backward(tensors.sum(y))
        assert kinds(sample, start) == ["reduce_sum_grad", "elementwise_add_grad", "elementwise_mul_grad", "sum", "matmul_v2_grad"]


def test_gradients_of_views_and_targets_that_were_asked_for_before() -> None:
    """What an earlier call handed out is still what later operations read."""
    with Sample() as sample:
        turned = tensors.transpose(sample.w, [1, 0])  # type: ignore[attr-defined]
        y = tensors.square(turned)  # type: ignore[attr-defined]
        gradients([y, turned], [sample.w])
        first = gradients(tensors.sum(y), turned)[0]
        second = gradients(tensors.sum(y * turned), turned)[0]
    a, b = sample.run([first, second])
    assert a == pytest.approx(2 * W.T)
    assert b == pytest.approx(3 * W.T**2)


def test_a_target_that_is_cut_stays_cut() -> None:
    with Sample() as sample:
        stopped = sample.w.detach()
        y = tensors.square(sample.w + stopped)  # type: ignore[attr-defined]
        (first,) = gradients([y, stopped * 2.0, stopped], [sample.w])
        (second,) = gradients(first, [sample.w])
    a, b = sample.run([first, second])
    assert a == pytest.approx(4 * W)
    assert b == pytest.approx(2 * np.ones_like(W))


def test_what_is_made_of_cut_variables_alone_is_a_leaf() -> None:
    with Sample() as sample:
        (actual,) = gradients(sample.loss, [sample.a], no_grad_set={"w"})
    assert sample.run([actual])[0] == pytest.approx(np.ones((2, 2)) * V)


# ------------------------------------------------------------------ what is known only when it runs


@pytest.mark.parametrize("shapes", [((3, 2), (1, 2)), ((1, 2), (3, 2)), ((2, 2), (3, 2))])
def test_a_seed_of_another_shape_is_refused_when_it_is_fed(shapes: Any) -> None:
    main = Program()
    with program_guard(main):
        x, seed = data("x", [-1, 2], "float64"), data("seed", [-1, 2], "float64")
        x.stop_gradient = False
        (actual,) = gradients(x * x, x, seed)
    for rows in (1, 3):
        assert Executor().run(main, {"x": np.ones((rows, 2)), "seed": np.full((rows, 2), 2.0)}, [actual])[0] == pytest.approx(4.0)
    with pytest.raises(ValueError, match="another shape"):
        Executor().run(main, {"x": np.ones(shapes[0]), "seed": np.ones(shapes[1])}, [actual])


def test_a_seed_of_another_program() -> None:
    with Sample() as other:
        seed = other.b * 1.0
    with Sample() as sample, pytest.raises(ValueError, match="different programs"):
        gradients(sample.b, sample.w, seed)


def test_gradients_of_gradients_with_respect_to_what_is_fed_by_name() -> None:
    main = Program()
    with program_guard(main):
        z = main.global_block().create_var("z", [2], "float64")
        (first,) = gradients(z * z * z, z)
        (second,) = gradients(first, z)
    actual = Executor().run(main, {"z": np.array([1.0, 2.0])}, [first, second])
    assert [value.tolist() for value in actual] == [[3.0, 12.0], [6.0, 12.0]]


def test_gradients_that_were_made_together() -> None:
    with Sample() as sample:
        pairs = append_backward(sample.loss, [sample.b, sample.a, sample.w])
        with pytest.raises(ValueError, match="made together"):
            gradients(pairs[2][1], pairs[1][1])
        (actual,) = gradients(tensors.sum(pairs[2][1] * pairs[2][1]), pairs[2][1])
    assert sample.run([actual])[0] == pytest.approx(2 * W_GRAD)


@pytest.mark.parametrize("make", [lambda x, c: x * c, lambda x, c: c * x, lambda x, c: x**c, lambda x, c: tensors.clip(x, -c, c)])
def test_a_float_of_numpy_makes_nothing_wider(make: Any) -> None:
    main = Program()
    with program_guard(main):
        out = make(data("x", [2], "float32"), np.sqrt(2.0))
    (actual,) = Executor().run(main, {"x": np.ones(2, "float32")}, [out])
    assert actual.dtype == out.dtype == np.float32


def test_extents_that_must_be_multiples_or_others() -> None:
    main = Program()
    with program_guard(main):
        a, b, c = data("a", [-1], "float64"), data("b", [-1, 3], "float64"), data("c", [-1, -1], "float64")
        w, d, k = data("w", [3, 2], "float64"), data("d", [5], "float64"), data("k", [-1], "bool")
        pairs = tensors.reshape(b, [-1, 2])
        shapes = {
            pairs: (-1, 2), tensors.reshape(a, [-1, 768]): (-1, 768), tensors.reshape(c, [-1, 7, 5]): (-1, 7, 5),
            tensors.matmul(c, w): (-1, 2), a + d: (5,), tensors.concat([a, a]): (-1,), tensors.reshape(tensors.concat([a, a]), [-1, 2]): (-1, 2),
            tensors.where(k, a, a * 2.0): (-1,), tensors.reshape(a, [4, 3]): (4, 3),
        }  # fmt: skip
        assert [variable.shape for variable in shapes] == list(shapes.values())
        for call in (lambda: tensors.matmul(b, d), lambda: b + d, lambda: tensors.reshape(w, [-1, 4])):
            with pytest.raises(ValueError, match=r"matmul|add|reshape"):
                call()
    (actual,) = Executor().run(main, {"b": np.ones((4, 3))}, [pairs])
    assert actual.shape == (6, 2)
