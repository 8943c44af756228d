"""Layers without parameters, generated from a table: each calls a function of the vocabulary with stored settings."""

from __future__ import annotations

import inspect
from typing import Any

from symgrad.layers.layer import Layer
from symgrad.tables import pairs
from symgrad.vocabulary import activations, losses, network, normalisation, resampling, tensors


def wrapping(module: Any, names: str, input_count: int = 1) -> dict[str, tuple[Any, int]]:
    """Entries of the table: layers with the functions of a module that they call."""
    return {layer: (getattr(module, function), input_count) for layer, function in pairs(names).items()}


#: the layer's name -> its function, and how many of the function's first arguments come when it is called
WRAPPED: dict[str, tuple[Any, int]] = {
    **wrapping(
        network,
        """
        ReLU:relu ReLU6:relu6 Sigmoid:sigmoid LogSigmoid:log_sigmoid Softsign:softsign Silu:silu Swish:swish Mish:mish LeakyReLU:leaky_relu
        ELU:elu SELU:selu Softplus:softplus GELU:gelu Hardtanh:hardtanh Hardsigmoid:hardsigmoid Softmax:softmax LogSoftmax:log_softmax
        """,
    ),
    **wrapping(tensors, "Tanh:tanh"),
    **wrapping(
        activations,
        """
        CELU:celu Hardswish:hardswish Hardshrink:hardshrink Softshrink:softshrink Tanhshrink:tanhshrink ThresholdedReLU:thresholded_relu
        GLU:glu Maxout:maxout
        """,
    ),
    **wrapping(
        resampling,
        """
        PixelShuffle:pixel_shuffle PixelUnshuffle:pixel_unshuffle ChannelShuffle:channel_shuffle Unfold:unfold Fold:fold
        Upsample:interpolate ZeroPad2D:zeropad2d Pad1D:pad Pad2D:pad AdaptiveAvgPool1D:adaptive_avg_pool1d
        AdaptiveAvgPool2D:adaptive_avg_pool2d AdaptiveMaxPool1D:adaptive_max_pool1d AdaptiveMaxPool2D:adaptive_max_pool2d
        """,
    ),
    **wrapping(normalisation, "LocalResponseNorm:local_response_norm"),
    **wrapping(
        network,
        """
        MSELoss:mse_loss L1Loss:l1_loss SmoothL1Loss:smooth_l1_loss CrossEntropyLoss:cross_entropy NLLLoss:nll_loss
        BCELoss:binary_cross_entropy BCEWithLogitsLoss:binary_cross_entropy_with_logits
        """,
        2,
    ),
    **wrapping(
        losses,
        """
        KLDivLoss:kl_div HingeEmbeddingLoss:hinge_embedding_loss SoftMarginLoss:soft_margin_loss
        MultiLabelSoftMarginLoss:multi_label_soft_margin_loss PoissonNLLLoss:poisson_nll_loss CosineSimilarity:cosine_similarity
        PairwiseDistance:pairwise_distance
        """,
        2,
    ),
    **wrapping(
        losses,
        """
        MarginRankingLoss:margin_ranking_loss CosineEmbeddingLoss:cosine_embedding_loss TripletMarginLoss:triplet_margin_loss
        GaussianNLLLoss:gaussian_nll_loss
        """,
        3,
    ),
}


def wrapped(name: str) -> type[Layer]:
    """The layer of an entry; its arguments are the function's others."""
    function, input_count = WRAPPED[name]
    signature = inspect.signature(function)
    rest = signature.replace(parameters=list(signature.parameters.values())[input_count:])

    class Wrapped(Layer):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(name)
            self.settings = rest.bind(*args, **kwargs).arguments

        def forward(self, *inputs: Any) -> Any:
            """Compute the layer's result."""
            return function(*inputs, **self.settings)

        def extra_repr(self) -> str:
            """Return the settings that ``repr`` shows in parentheses."""
            return ", ".join(f"{word}={value!r}" for word, value in self.settings.items())

    Wrapped.__name__ = Wrapped.__qualname__ = name
    Wrapped.__doc__ = function.__doc__
    return Wrapped


globals().update({name: wrapped(name) for name in WRAPPED})
__all__ = [*WRAPPED]
