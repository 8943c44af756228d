# Written by "python -m tests.stubs --write" from the signatures in symgrad/vocabulary.
from symgrad.vocabulary.typed import adaptive_avg_pool1d as adaptive_avg_pool1d
from symgrad.vocabulary.typed import adaptive_avg_pool2d as adaptive_avg_pool2d
from symgrad.vocabulary.typed import adaptive_max_pool1d as adaptive_max_pool1d
from symgrad.vocabulary.typed import adaptive_max_pool2d as adaptive_max_pool2d
from symgrad.vocabulary.typed import avg_pool1d as avg_pool1d
from symgrad.vocabulary.typed import avg_pool2d as avg_pool2d
from symgrad.vocabulary.typed import bilinear as bilinear
from symgrad.vocabulary.typed import binary_cross_entropy as binary_cross_entropy
from symgrad.vocabulary.typed import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from symgrad.vocabulary.typed import celu as celu
from symgrad.vocabulary.typed import channel_shuffle as channel_shuffle
from symgrad.vocabulary.typed import conv1d as conv1d
from symgrad.vocabulary.typed import conv1d_transpose as conv1d_transpose
from symgrad.vocabulary.typed import conv2d as conv2d
from symgrad.vocabulary.typed import conv2d_transpose as conv2d_transpose
from symgrad.vocabulary.typed import cosine_embedding_loss as cosine_embedding_loss
from symgrad.vocabulary.typed import cosine_similarity as cosine_similarity
from symgrad.vocabulary.typed import cross_entropy as cross_entropy
from symgrad.vocabulary.typed import dice_loss as dice_loss
from symgrad.vocabulary.typed import dropout as dropout
from symgrad.vocabulary.typed import elu as elu
from symgrad.vocabulary.typed import embedding as embedding
from symgrad.vocabulary.typed import fold as fold
from symgrad.vocabulary.typed import gaussian_nll_loss as gaussian_nll_loss
from symgrad.vocabulary.typed import gelu as gelu
from symgrad.vocabulary.typed import glu as glu
from symgrad.vocabulary.typed import group_norm as group_norm
from symgrad.vocabulary.typed import gumbel_softmax as gumbel_softmax
from symgrad.vocabulary.typed import hardshrink as hardshrink
from symgrad.vocabulary.typed import hardsigmoid as hardsigmoid
from symgrad.vocabulary.typed import hardswish as hardswish
from symgrad.vocabulary.typed import hardtanh as hardtanh
from symgrad.vocabulary.typed import hinge_embedding_loss as hinge_embedding_loss
from symgrad.vocabulary.typed import instance_norm as instance_norm
from symgrad.vocabulary.typed import interpolate as interpolate
from symgrad.vocabulary.typed import kl_div as kl_div
from symgrad.vocabulary.typed import l1_loss as l1_loss
from symgrad.vocabulary.typed import label_smooth as label_smooth
from symgrad.vocabulary.typed import layer_norm as layer_norm
from symgrad.vocabulary.typed import leaky_relu as leaky_relu
from symgrad.vocabulary.typed import linear as linear
from symgrad.vocabulary.typed import local_response_norm as local_response_norm
from symgrad.vocabulary.typed import log_loss as log_loss
from symgrad.vocabulary.typed import log_sigmoid as log_sigmoid
from symgrad.vocabulary.typed import log_softmax as log_softmax
from symgrad.vocabulary.typed import margin_ranking_loss as margin_ranking_loss
from symgrad.vocabulary.typed import max_pool1d as max_pool1d
from symgrad.vocabulary.typed import max_pool2d as max_pool2d
from symgrad.vocabulary.typed import maxout as maxout
from symgrad.vocabulary.typed import mish as mish
from symgrad.vocabulary.typed import mse_loss as mse_loss
from symgrad.vocabulary.typed import multi_label_soft_margin_loss as multi_label_soft_margin_loss
from symgrad.vocabulary.typed import nll_loss as nll_loss
from symgrad.vocabulary.typed import normalize as normalize
from symgrad.vocabulary.typed import one_hot as one_hot
from symgrad.vocabulary.typed import pad as pad
from symgrad.vocabulary.typed import pairwise_distance as pairwise_distance
from symgrad.vocabulary.typed import pixel_shuffle as pixel_shuffle
from symgrad.vocabulary.typed import pixel_unshuffle as pixel_unshuffle
from symgrad.vocabulary.typed import poisson_nll_loss as poisson_nll_loss
from symgrad.vocabulary.typed import prelu as prelu
from symgrad.vocabulary.typed import relu as relu
from symgrad.vocabulary.typed import relu6 as relu6
from symgrad.vocabulary.typed import rms_norm as rms_norm
from symgrad.vocabulary.typed import rrelu as rrelu
from symgrad.vocabulary.typed import scaled_dot_product_attention as scaled_dot_product_attention
from symgrad.vocabulary.typed import selu as selu
from symgrad.vocabulary.typed import sequence_mask as sequence_mask
from symgrad.vocabulary.typed import sigmoid as sigmoid
from symgrad.vocabulary.typed import sigmoid_focal_loss as sigmoid_focal_loss
from symgrad.vocabulary.typed import silu as silu
from symgrad.vocabulary.typed import smooth_l1_loss as smooth_l1_loss
from symgrad.vocabulary.typed import soft_margin_loss as soft_margin_loss
from symgrad.vocabulary.typed import softmax as softmax
from symgrad.vocabulary.typed import softmax_with_cross_entropy as softmax_with_cross_entropy
from symgrad.vocabulary.typed import softplus as softplus
from symgrad.vocabulary.typed import softshrink as softshrink
from symgrad.vocabulary.typed import softsign as softsign
from symgrad.vocabulary.typed import square_error_cost as square_error_cost
from symgrad.vocabulary.typed import swish as swish
from symgrad.vocabulary.typed import tanh as tanh
from symgrad.vocabulary.typed import tanhshrink as tanhshrink
from symgrad.vocabulary.typed import thresholded_relu as thresholded_relu
from symgrad.vocabulary.typed import triplet_margin_loss as triplet_margin_loss
from symgrad.vocabulary.typed import unfold as unfold
from symgrad.vocabulary.typed import upsample as upsample
from symgrad.vocabulary.typed import zeropad2d as zeropad2d

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "channel_shuffle",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dice_loss",
    "dropout",
    "elu",
    "embedding",
    "fold",
    "gaussian_nll_loss",
    "gelu",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hinge_embedding_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "label_smooth",
    "layer_norm",
    "leaky_relu",
    "linear",
    "local_response_norm",
    "log_loss",
    "log_sigmoid",
    "log_softmax",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool2d",
    "maxout",
    "mish",
    "mse_loss",
    "multi_label_soft_margin_loss",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "poisson_nll_loss",
    "prelu",
    "relu",
    "relu6",
    "rms_norm",
    "rrelu",
    "scaled_dot_product_attention",
    "selu",
    "sequence_mask",
    "sigmoid",
    "sigmoid_focal_loss",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmax_with_cross_entropy",
    "softplus",
    "softshrink",
    "softsign",
    "square_error_cost",
    "swish",
    "tanh",
    "tanhshrink",
    "thresholded_relu",
    "triplet_margin_loss",
    "unfold",
    "upsample",
    "zeropad2d",
]
