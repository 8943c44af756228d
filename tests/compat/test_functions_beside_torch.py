"""table: documented functions compared with PyTorch: values and gradients in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad.compat.paddle as paddle
import symgrad.compat.paddle.nn.functional as F

torch: Any = pytest.importorskip("torch")
TF: Any = torch.nn.functional
GENERATOR = np.random.default_rng(11)
ROWS: list[tuple[str, Callable[..., Any], Callable[..., Any], list[Any]]] = []


def a(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def p(*shape: int) -> Any:
    return GENERATOR.uniform(0.1, 0.9, shape)


def row(name: str, ours: Callable[..., Any], theirs: Callable[..., Any], *inputs: Any) -> None:
    ROWS.append((name, ours, theirs, list(inputs)))


for word in ("asinh", "atanh", "erf", "lgamma", "digamma", "floor", "ceil", "round", "sign", "trunc", "frac", "logit", "nan_to_num", "rad2deg", "isnan", "kron", "atan2",
             "hypot", "fmax", "fmin", "logaddexp", "inner"):  # fmt: skip
    count = 2 if word in ("kron", "atan2", "hypot", "fmax", "fmin", "logaddexp", "inner") else 1
    row(word, getattr(paddle, word), getattr(torch, word), *[p(3, 4) for _ in range(count)])
for word in ("celu", "hardswish", "hardshrink", "softshrink", "tanhshrink", "glu", "relu6", "elu", "selu", "silu", "mish", "softplus",
             "softsign", "hardtanh", "gelu", "leaky_relu"):  # fmt: skip
    row(word, getattr(F, word), getattr(TF, word), a(3, 4) * 3)
for word in ("mse_loss", "l1_loss", "smooth_l1_loss", "poisson_nll_loss", "binary_cross_entropy",
             "binary_cross_entropy_with_logits", "cosine_similarity", "pairwise_distance"):  # fmt: skip
    row(word, getattr(F, word), getattr(TF, word), p(3, 4), p(3, 4))
LABELS = np.array([1, 0, 3])
SIGNS = np.array([1.0, -1.0, -1.0])
for how in ("mean", "sum", "none"):
    row(f"nll {how}", lambda x, w, r=how: F.nll_loss(x, paddle.to_tensor(LABELS), w, reduction=r),
        lambda x, w, r=how: TF.nll_loss(x, torch.tensor(LABELS), w, reduction=r), a(3, 4), paddle.to_tensor(p(4)))  # fmt: skip
    row(f"cross entropy {how}", lambda x, w, r=how: F.cross_entropy(x, paddle.to_tensor(LABELS), w, reduction=r),
        lambda x, w, r=how: TF.cross_entropy(x, torch.tensor(LABELS), w, reduction=r), a(3, 4), paddle.to_tensor(p(4)))  # fmt: skip
    row(f"bce {how}", lambda x, y, w, r=how: F.binary_cross_entropy(x, y, w, r),
        lambda x, y, w, r=how: TF.binary_cross_entropy(x, y.detach(), w.detach(), reduction=r), p(3, 4), *[paddle.to_tensor(p(3, 4)) for _ in range(2)])  # fmt: skip
    row(f"bce logits {how}", lambda x, y, w, q, r=how: F.binary_cross_entropy_with_logits(x, y, w, r, q),
        lambda x, y, w, q, r=how: TF.binary_cross_entropy_with_logits(x, y, w, pos_weight=q, reduction=r), a(3, 4), *[paddle.to_tensor(p(3, 4)) for _ in range(3)])  # fmt: skip
    row(f"triplet {how}", lambda x, y, z, r=how: F.triplet_margin_loss(x, y, z, swap=True, reduction=r),
        lambda x, y, z, r=how: TF.triplet_margin_loss(x, y, z, swap=True, reduction=r), a(3, 4), a(3, 4), a(3, 4))  # fmt: skip
row("margin ranking", lambda x, y: F.margin_ranking_loss(x, y, paddle.to_tensor(SIGNS), 0.3),
    lambda x, y: TF.margin_ranking_loss(x, y, torch.tensor(SIGNS), 0.3), a(3), a(3))  # fmt: skip
row("hinge", lambda x: F.hinge_embedding_loss(x, paddle.to_tensor(SIGNS)), lambda x: TF.hinge_embedding_loss(x, torch.tensor(SIGNS)), a(3))
row("soft margin", F.soft_margin_loss, TF.soft_margin_loss, a(3, 4), paddle.to_tensor(np.sign(a(3, 4))))
row("kl", lambda x, y: F.kl_div(x, y, "batchmean"), lambda x, y: TF.kl_div(x, y, reduction="batchmean"), a(3, 4), p(3, 4))
row("cosine embedding", lambda x, y: F.cosine_embedding_loss(x, y, paddle.to_tensor(SIGNS), -0.5),
    lambda x, y: TF.cosine_embedding_loss(x, y, torch.tensor(SIGNS), -0.5), a(3, 4), a(3, 4))  # fmt: skip
row("gaussian", lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True), lambda x, y, v: TF.gaussian_nll_loss(x, y, v, full=True),
    a(3, 4), paddle.to_tensor(a(3, 4)), p(3, 4))  # fmt: skip
row("multi label", F.multi_label_soft_margin_loss, TF.multilabel_soft_margin_loss, a(3, 4), paddle.to_tensor(np.round(p(3, 4))))
row("prelu", F.prelu, TF.prelu, a(2, 3, 4), p(3))
row("normalize", lambda x: F.normalize(x, 3.0), lambda x: TF.normalize(x, 3.0), a(3, 4))
row("group norm", lambda x, w, b: F.group_norm(x, 2, 1e-5, w, b), lambda x, w, b: TF.group_norm(x, 2, w, b), a(2, 4, 3), a(4), a(4))
row("instance norm", lambda x, w, b: F.instance_norm(x, weight=w, bias=b), lambda x, w, b: TF.instance_norm(x, weight=w, bias=b),
    a(2, 4, 3, 2), a(4), a(4))  # fmt: skip
row("layer norm", lambda x, w, b: F.layer_norm(x, 4, w, b), lambda x, w, b: TF.layer_norm(x, (4,), w, b), a(3, 4), a(4), a(4))
for width in (3, 4):
    row(f"local response {width}", lambda x, n=width: F.local_response_norm(x, n, 0.5), lambda x, n=width: TF.local_response_norm(x, n, 0.5), a(2, 6, 3, 2))  # fmt: skip
row("attention", F.scaled_dot_product_attention,
    lambda q, k, v: TF.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)).transpose(1, 2),
    a(2, 3, 2, 4), a(2, 5, 2, 4), a(2, 5, 2, 4))  # fmt: skip
row("bilinear", F.bilinear, TF.bilinear, a(2, 3), a(2, 4), a(5, 3, 4), a(5))
for groups, step, edge, more, wide in ((1, 2, 1, 1, 1), (2, 3, 0, 2, 2), (1, 1, 2, 0, 1)):
    row(f"conv2d transpose {step}", lambda x, w, b, g=groups, s=step, e=edge, m=more, d=wide: F.conv2d_transpose(x, w, b, s, e, m, d, g),
        lambda x, w, b, g=groups, s=step, e=edge, m=more, d=wide: TF.conv_transpose2d(x, w, b, s, e, m, g, d),
        a(2, 4, 3, 4), a(4, 3, 3, 2), a(3 * groups))  # fmt: skip
row("conv1d transpose", lambda x, w: F.conv1d_transpose(x, w, None, 2, 1, 1), lambda x, w: TF.conv_transpose1d(x, w, None, 2, 1, 1), a(2, 3, 5), a(3, 2, 3))  # fmt: skip
row(
    "conv2d",
    lambda x, w, b: F.conv2d(x, w, b, 2, 1, 1, 2),
    lambda x, w, b: TF.conv2d(x, w, b, 2, 1, 1, 2),
    a(2, 4, 5, 5),
    a(6, 2, 3, 3),
    a(6),
)
row("unfold", lambda x: F.unfold(x, [2, 3], 2, 1), lambda x: TF.unfold(x, (2, 3), padding=1, stride=2), a(2, 3, 5, 6))
row("fold", lambda x: F.fold(x, [4, 5], 2, 1, 1), lambda x: TF.fold(x, (4, 5), 2, padding=1), a(2, 12, 30))
for out in (1, 2, 3, 5):
    row(f"adaptive mean {out}", lambda x, n=out: F.adaptive_avg_pool2d(x, n), lambda x, n=out: TF.adaptive_avg_pool2d(x, n), a(2, 3, 5, 7))
    row(f"adaptive max {out}", lambda x, n=out: F.adaptive_max_pool2d(x, n), lambda x, n=out: TF.adaptive_max_pool2d(x, n), a(2, 3, 5, 7))
    row(f"adaptive signal {out}", lambda x, n=out: F.adaptive_avg_pool1d(x, n), lambda x, n=out: TF.adaptive_avg_pool1d(x, n), a(2, 3, 5))
for how in ("nearest", "bilinear", "bicubic"):
    for corners in (False, True):
        for size, factor in (((7, 3), None), (None, 2.5), ((1, 2), None)):
            if how != "nearest" or not corners:
                own = {"size": size, "scale_factor": factor, "mode": how, "align_corners": corners}
                row(f"{how} {corners} {size}", lambda x, w=own: F.interpolate(x, **w),
                    lambda x, w=own: TF.interpolate(x, **{**w, "align_corners": None if w["mode"] == "nearest" else w["align_corners"]}), a(2, 3, 4, 5))  # fmt: skip
row("linear", lambda x: F.interpolate(x, 7, mode="linear"), lambda x: TF.interpolate(x, 7, mode="linear"), a(2, 3, 4))
for how in ("reflect", "replicate", "circular", "constant"):
    row(f"pad {how}", lambda x, h=how: F.pad(x, [1, 2, 2, 0], h), lambda x, h=how: TF.pad(x, (1, 2, 2, 0), h), a(2, 3, 4, 5))
row("pixel shuffle", lambda x: F.pixel_shuffle(x, 2), lambda x: TF.pixel_shuffle(x, 2), a(2, 8, 3, 2))
row("pixel unshuffle", lambda x: F.pixel_unshuffle(x, 2), lambda x: TF.pixel_unshuffle(x, 2), a(2, 3, 4, 6))
row("channel shuffle", lambda x: F.channel_shuffle(x, 3), lambda x: torch.nn.ChannelShuffle(3)(x), a(2, 6, 2, 2))
for word in ("std", "var"):
    row(word, lambda x, f=word: getattr(paddle, f)(x, 1), lambda x, f=word: getattr(torch, f)(x, 1), a(3, 4))
row("median", lambda x: paddle.median(x, 1), lambda x: torch.quantile(x, 0.5, 1), a(3, 4))
row(
    "quantile",
    lambda x: paddle.quantile(x, [0.2, 0.7], 1, True),
    lambda x: torch.quantile(x, torch.tensor([0.2, 0.7], dtype=torch.float64), 1, True),
    a(3, 4),
)
for word in ("cumprod", "cumsum", "logcumsumexp", "cummax", "cummin"):
    row(word, lambda x, f=word: getattr(paddle, f)(x, 1), lambda x, f=word: getattr(torch, f)(x, 1), a(3, 4))
for order in (1.0, 2.0, 3.5, float("inf")):
    row(f"norm {order}", lambda x, n=order: paddle.norm(x, n, 1), lambda x, n=order: torch.norm(x, n, 1), a(3, 4))
row("norm of zeros", paddle.norm, torch.norm, np.zeros((2, 3)))
row("dist", paddle.dist, torch.dist, a(3, 4), a(3, 4))
for falling in (False, True):
    row(f"sort {falling}", lambda x, d=falling: paddle.sort(x, 0, d), lambda x, d=falling: torch.sort(x, 0, d)[0], a(3, 4))
    row(f"argsort {falling}", lambda x, d=falling: paddle.argsort(x, 0, d), lambda x, d=falling: torch.argsort(x, 0, d), a(3, 4))
    row(f"topk {falling}", lambda x, d=falling: paddle.topk(x, 2, 1, d), lambda x, d=falling: torch.topk(x, 2, 1, d), a(3, 4))
row("kthvalue", lambda x: paddle.kthvalue(x, 2, 0, True), lambda x: torch.kthvalue(x, 2, 0, True), a(3, 4))
row("masked select", lambda x: paddle.masked_select(x, x > 0), lambda x: torch.masked_select(x, x > 0), a(3, 4))
row("masked fill", lambda x: paddle.masked_fill(x, x > 0, 2.0), lambda x: torch.masked_fill(x, x > 0, 2.0), a(3, 4))
INDEX = np.array([[0, 2], [1, 3], [3, 0]])
row(
    "put along",
    lambda x, v: paddle.put_along_axis(x, paddle.to_tensor(INDEX), v, 1),
    lambda x, v: x.scatter(1, torch.tensor(INDEX), v),
    a(3, 4),
    a(3, 2),
)
row("add along", lambda x, v: paddle.put_along_axis(x, paddle.to_tensor(INDEX % 2), v, 1, "add"), lambda x, v: x.scatter_add(1, torch.tensor(INDEX % 2), v), a(3, 4), a(3, 2))  # fmt: skip
row(
    "index add",
    lambda x, v: paddle.index_add(x, paddle.to_tensor([1, 1, 0]), 1, v),
    lambda x, v: x.index_add(1, torch.tensor([1, 1, 0]), v),
    a(2, 4),
    a(2, 3),
)
row(
    "index fill",
    lambda x: paddle.index_fill(x, paddle.to_tensor([1, 0]), 1, 0.5),
    lambda x: x.index_fill(1, torch.tensor([1, 0]), 0.5),
    a(2, 4),
)
row("index put", lambda x, v: paddle.index_put(x, (paddle.to_tensor([1, 1]), paddle.to_tensor([0, 0])), v, True), lambda x, v: x.index_put((torch.tensor([1, 1]), torch.tensor([0, 0])), v, True), a(2, 4), a(2))  # fmt: skip
row(
    "gather nd",
    lambda x: paddle.gather_nd(x, paddle.to_tensor([[0, 1], [1, 2]])),
    lambda x: x[torch.tensor([0, 1]), torch.tensor([1, 2])],
    a(2, 4),
)
row(
    "take", lambda x: paddle.take(x, paddle.to_tensor([[0, -1], [3, 0]])), lambda x: x.reshape(-1)[torch.tensor([[0, -1], [3, 0]])], a(2, 4)
)
row("repeat", lambda x: paddle.repeat_interleave(x, 2, 1), lambda x: torch.repeat_interleave(x, 2, 1), a(2, 4))
row(
    "repeat each",
    lambda x: paddle.repeat_interleave(x, paddle.to_tensor([2, 0, 1]), 0),
    lambda x: torch.repeat_interleave(x, torch.tensor([2, 0, 1]), 0),
    a(3, 4),
)
row("meshgrid", paddle.meshgrid, lambda x, y: torch.meshgrid(x, y, indexing="ij"), a(2), a(3))
row("moveaxis", lambda x: paddle.moveaxis(x, [0, 1], [2, 0]), lambda x: torch.moveaxis(x, (0, 1), (2, 0)), a(2, 3, 4))
for turns in (1, 2, 3, -1):
    row(f"rot90 {turns}", lambda x, k=turns: paddle.rot90(x, k, [1, 2]), lambda x, k=turns: torch.rot90(x, k, [1, 2]), a(2, 3, 4))
row("diff", lambda x: paddle.diff(x, 2, 1), lambda x: torch.diff(x, 2, 1), a(2, 5))
row("lerp", paddle.lerp, torch.lerp, a(3, 4), a(3, 4), p(3, 4))
row("cross", paddle.cross, lambda x, y: torch.cross(x, y, dim=0), a(3, 4), a(3, 4))
row(
    "addmm",
    lambda m, x, y: paddle.addmm(m, x, y, 0.5, 2.0),
    lambda m, x, y: torch.addmm(m, x, y, beta=0.5, alpha=2.0),
    a(2, 3),
    a(2, 4),
    a(4, 3),
)
row("bmm", paddle.bmm, torch.bmm, a(2, 3, 4), a(2, 4, 2))
row("mv", paddle.mv, torch.mv, a(3, 4), a(4))
row("trace", paddle.trace, torch.trace, a(3, 4))
row("diag", lambda x: paddle.diag(x, -1), lambda x: torch.diag(x, -1), a(3))
row("diagonal", lambda x: paddle.diagonal(x, 1, 1, 2), lambda x: torch.diagonal(x, 1, 1, 2), a(2, 3, 4))
row("diag embed", lambda x: paddle.diag_embed(x, -1, 0, 2), lambda x: torch.diag_embed(x, -1, 0, 2), a(2, 3))
for word in ("inv", "det", "solve", "pinv"):
    row(word, getattr(paddle.linalg, word), getattr(torch.linalg, word), *[a(3, 3) for _ in range(2 if word == "solve" else 1)])
row(
    "triangular solve",
    lambda x, y: paddle.linalg.triangular_solve(x, y, False, True),
    lambda x, y: torch.linalg.solve_triangular(x.tril().T, y, upper=True),
    a(3, 3),
    a(3, 2),
)
row("max pool", lambda x: F.max_pool2d(x, 3, 2, 1), lambda x: TF.max_pool2d(x, 3, 2, 1), a(2, 3, 6, 5))
row("mean pool", lambda x: F.avg_pool2d(x, 3, 2, 1), lambda x: TF.avg_pool2d(x, 3, 2, 1, count_include_pad=False), a(2, 3, 6, 5))
row("label smooth", lambda x: F.label_smooth(x, epsilon=0.2), lambda x: 0.8 * x + 0.2 / 4, a(3, 4))


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("ours", "theirs", "inputs"), [r[1:] for r in ROWS], ids=[r[0] for r in ROWS])
def test_values_and_gradients(ours: Callable[..., Any], theirs: Callable[..., Any], inputs: list[Any]) -> None:
    mine = [x if isinstance(x, paddle.Tensor) else paddle.to_tensor(x, stop_gradient=False) for x in inputs]
    other = [torch.tensor(x.numpy()) if isinstance(x, paddle.Tensor) else torch.tensor(x, requires_grad=True) for x in inputs]
    actual, expected = ours(*mine), theirs(*other)
    for one, two in zip(*[list(f) if isinstance(f, list | tuple) else [f] for f in (actual, expected)], strict=True):
        assert one.numpy() == pytest.approx(two.detach().numpy(), rel=1e-9, abs=1e-12)
        assert one.shape == list(two.shape)
        if two.requires_grad:
            weights = np.random.default_rng(3).normal(size=one.shape)
            sources = [x for x in mine if not x.stop_gradient]
            result = paddle.grad(one, sources, paddle.to_tensor(weights), allow_unused=True, retain_graph=True)
            reference = torch.autograd.grad(
                two, [x for x in other if x.requires_grad], torch.tensor(weights), allow_unused=True, retain_graph=True
            )
            for g, w in zip(result, reference, strict=True):
                assert (g is None) == (w is None)
                assert g is None or g.numpy() == pytest.approx(w.numpy(), rel=1e-9, abs=1e-10)
