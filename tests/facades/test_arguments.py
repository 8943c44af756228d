"""No argument of the gradient APIs is accepted and ignored."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from symgrad import optimizer
from symgrad.eager import Tensor, grad
from symgrad.vocabulary import network, normalisation, resampling, selection, tensors

ROOT = Path(__file__).parent.parent.parent / "symgrad"
PACKAGES = ("vocabulary", "static", "optimizer", "eager", "compat", "functional", "record")
#: names, places and kinds of storage, of which there is one here; what says how, not what, is computed; what protocols hand over
HARMLESS = {
    "name", "name_", "place", "executor", "lod_level", "type", "sparse", "is_sparse", "is_distributed", "use_cudnn", "return_names", "is_test",
    "startup_program", "feed_var_name", "fetch_var_name", "use_program_cache", "kinds", "copy", "self", "cls", "error", "zero_copy", "num_workers", "places",
    "sorted", "memo", "is_arithmetic",
}  # fmt: skip
#: methods whose other forms read the argument
FORMS = {
    ("methods.py", "said"),
    ("backward.py", "derived"),
    ("lr.py", "rate"),
    *(("resampling.py", name) for name in ("nearest", "nearest_wide", "linear", "cubic")),
}
FILES = sorted(p for package in PACKAGES for p in (ROOT / package).rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_argument_is_read(path: Path) -> None:
    for function in ast.walk(ast.parse(path.read_text())):
        if not isinstance(function, ast.FunctionDef) or (path.name, function.name) in FORMS:
            continue
        a = function.args
        every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
        read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
        empty = all(isinstance(s, ast.Expr | ast.Raise) and not isinstance(getattr(s, "value", None), ast.Call) for s in function.body)
        unread = {argument.arg for argument in every} - read - HARMLESS
        assert empty or not unread, f"{function.name} ignores {sorted(unread)}"


X = np.array([[0.5, -1.0], [2.0, 0.3]], "float32")


@pytest.mark.parametrize(
    "call",
    [
        lambda x: tensors.sum(x, dtype="float64"),
        lambda x: tensors.prod(x, dtype="float64"),
        lambda x: tensors.cumsum(x, dtype="float64"),
        lambda x: tensors.full_like(x, 2.0, "float64"),
        lambda x: network.softmax(x, dtype="float64"),
        lambda x: network.log_softmax(x, dtype="float64"),
    ],
)
def test_dtypes_are_kept_to(call: Any) -> None:
    assert call(Tensor(X)).dtype == np.float64


def test_ignored_labels_have_no_part() -> None:
    x = Tensor(X, stop_gradient=False)
    label = Tensor(np.array([1, -100]))
    loss = network.cross_entropy(x, label)
    (actual,) = grad(loss, x)
    alone = Tensor(X[:1], stop_gradient=False)
    expected = network.cross_entropy(alone, Tensor(np.array([1])))
    (part,) = grad(expected, alone)
    assert actual is not None
    assert part is not None
    assert loss.item() == expected.item()
    assert actual.numpy() == pytest.approx(np.concatenate([part.numpy(), np.zeros((1, 2))]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: resampling.pad(Tensor(X[None, None]), [1, 1, 1, 1], data_format="NHWC"),
        lambda: optimizer.Adam(lazy_mode=True),
        lambda: optimizer.AdamW(multi_precision=True),
        lambda: selection.sort(Tensor(X), stable=True),
        lambda: selection.put_along_axis(Tensor(X), Tensor(np.array([[0]])), 1.0, 0, broadcast=False),
        lambda: normalisation.instance_norm(Tensor(X[None, None]), Tensor(np.zeros(1)), Tensor(np.ones(1))),
    ],
)
def test_what_is_not_there_is_refused(call: Any) -> None:
    with pytest.raises(ValueError, match="not supported"):
        call()


@pytest.mark.parametrize("label", [-1, 7])
def test_labels_outside_are_refused(label: int) -> None:
    with pytest.raises((ValueError, IndexError)):
        network.cross_entropy(Tensor(X), Tensor(np.array([0, label])))
    kept = network.cross_entropy(Tensor(X), Tensor(np.array([0, label])), ignore_index=label)
    assert kept.item() == pytest.approx(network.cross_entropy(Tensor(X[:1]), Tensor(np.array([0]))).item())
    with pytest.raises((ValueError, IndexError)):
        network.embedding(Tensor(np.array([label])), Tensor(X))


def test_shares_of_right_labels() -> None:
    scores = Tensor(np.array([[0.1, 0.5, 0.4], [0.7, 0.2, 0.1]]))
    labels = Tensor(np.array([[2], [0]]))
    assert network.accuracy(scores, labels).item() == 0.5
    assert network.accuracy(scores, labels, k=2).item() == 1.0


def test_slopes_at_the_kinks() -> None:
    """Of elu and selu at 0 that from below, as documented; of relu6 none at either end."""
    for function, point, slope in ((network.elu, 0.0, 1.0), (network.selu, 0.0, 1.0507009873554805 * 1.6732632423543772),
                                   (network.relu6, 0.0, 0.0), (network.relu6, 6.0, 0.0)):  # type: ignore[attr-defined]  # fmt: skip
        x = Tensor(np.array([point]), stop_gradient=False)
        (actual,) = grad(function(x), x)
        assert actual is not None
        assert actual.item() == pytest.approx(slope)
