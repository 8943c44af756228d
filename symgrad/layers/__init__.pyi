# Written by "python -m tests.stubs --write" from the signatures in symgrad/vocabulary.
from symgrad.layers.containers import LayerList as LayerList
from symgrad.layers.containers import ParameterList as ParameterList
from symgrad.layers.containers import Sequential as Sequential
from symgrad.layers.kinds import AvgPool1D as AvgPool1D
from symgrad.layers.kinds import AvgPool2D as AvgPool2D
from symgrad.layers.kinds import BatchNorm1D as BatchNorm1D
from symgrad.layers.kinds import BatchNorm2D as BatchNorm2D
from symgrad.layers.kinds import Bilinear as Bilinear
from symgrad.layers.kinds import Conv1D as Conv1D
from symgrad.layers.kinds import Conv2D as Conv2D
from symgrad.layers.kinds import Conv2DTranspose as Conv2DTranspose
from symgrad.layers.kinds import Dropout as Dropout
from symgrad.layers.kinds import Embedding as Embedding
from symgrad.layers.kinds import Flatten as Flatten
from symgrad.layers.kinds import GroupNorm as GroupNorm
from symgrad.layers.kinds import Identity as Identity
from symgrad.layers.kinds import InstanceNorm1D as InstanceNorm1D
from symgrad.layers.kinds import InstanceNorm2D as InstanceNorm2D
from symgrad.layers.kinds import LayerNorm as LayerNorm
from symgrad.layers.kinds import Linear as Linear
from symgrad.layers.kinds import MaxPool1D as MaxPool1D
from symgrad.layers.kinds import MaxPool2D as MaxPool2D
from symgrad.layers.kinds import PReLU as PReLU
from symgrad.layers.layer import Layer as Layer
from symgrad.layers.layer import ParameterTensor as ParameterTensor
from symgrad.layers.wrapped import AdaptiveAvgPool1D as AdaptiveAvgPool1D
from symgrad.layers.wrapped import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from symgrad.layers.wrapped import AdaptiveMaxPool1D as AdaptiveMaxPool1D
from symgrad.layers.wrapped import AdaptiveMaxPool2D as AdaptiveMaxPool2D
from symgrad.layers.wrapped import BCELoss as BCELoss
from symgrad.layers.wrapped import BCEWithLogitsLoss as BCEWithLogitsLoss
from symgrad.layers.wrapped import CELU as CELU
from symgrad.layers.wrapped import ChannelShuffle as ChannelShuffle
from symgrad.layers.wrapped import CosineEmbeddingLoss as CosineEmbeddingLoss
from symgrad.layers.wrapped import CosineSimilarity as CosineSimilarity
from symgrad.layers.wrapped import CrossEntropyLoss as CrossEntropyLoss
from symgrad.layers.wrapped import ELU as ELU
from symgrad.layers.wrapped import Fold as Fold
from symgrad.layers.wrapped import GELU as GELU
from symgrad.layers.wrapped import GLU as GLU
from symgrad.layers.wrapped import GaussianNLLLoss as GaussianNLLLoss
from symgrad.layers.wrapped import Hardshrink as Hardshrink
from symgrad.layers.wrapped import Hardsigmoid as Hardsigmoid
from symgrad.layers.wrapped import Hardswish as Hardswish
from symgrad.layers.wrapped import Hardtanh as Hardtanh
from symgrad.layers.wrapped import HingeEmbeddingLoss as HingeEmbeddingLoss
from symgrad.layers.wrapped import KLDivLoss as KLDivLoss
from symgrad.layers.wrapped import L1Loss as L1Loss
from symgrad.layers.wrapped import LeakyReLU as LeakyReLU
from symgrad.layers.wrapped import LocalResponseNorm as LocalResponseNorm
from symgrad.layers.wrapped import LogSigmoid as LogSigmoid
from symgrad.layers.wrapped import LogSoftmax as LogSoftmax
from symgrad.layers.wrapped import MSELoss as MSELoss
from symgrad.layers.wrapped import MarginRankingLoss as MarginRankingLoss
from symgrad.layers.wrapped import Maxout as Maxout
from symgrad.layers.wrapped import Mish as Mish
from symgrad.layers.wrapped import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from symgrad.layers.wrapped import NLLLoss as NLLLoss
from symgrad.layers.wrapped import Pad1D as Pad1D
from symgrad.layers.wrapped import Pad2D as Pad2D
from symgrad.layers.wrapped import PairwiseDistance as PairwiseDistance
from symgrad.layers.wrapped import PixelShuffle as PixelShuffle
from symgrad.layers.wrapped import PixelUnshuffle as PixelUnshuffle
from symgrad.layers.wrapped import PoissonNLLLoss as PoissonNLLLoss
from symgrad.layers.wrapped import ReLU as ReLU
from symgrad.layers.wrapped import ReLU6 as ReLU6
from symgrad.layers.wrapped import SELU as SELU
from symgrad.layers.wrapped import Sigmoid as Sigmoid
from symgrad.layers.wrapped import Silu as Silu
from symgrad.layers.wrapped import SmoothL1Loss as SmoothL1Loss
from symgrad.layers.wrapped import SoftMarginLoss as SoftMarginLoss
from symgrad.layers.wrapped import Softmax as Softmax
from symgrad.layers.wrapped import Softplus as Softplus
from symgrad.layers.wrapped import Softshrink as Softshrink
from symgrad.layers.wrapped import Softsign as Softsign
from symgrad.layers.wrapped import Swish as Swish
from symgrad.layers.wrapped import Tanh as Tanh
from symgrad.layers.wrapped import Tanhshrink as Tanhshrink
from symgrad.layers.wrapped import ThresholdedReLU as ThresholdedReLU
from symgrad.layers.wrapped import TripletMarginLoss as TripletMarginLoss
from symgrad.layers.wrapped import Unfold as Unfold
from symgrad.layers.wrapped import Upsample as Upsample
from symgrad.layers.wrapped import ZeroPad2D as ZeroPad2D

__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool2D",
    "AvgPool1D",
    "AvgPool2D",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1D",
    "BatchNorm2D",
    "Bilinear",
    "CELU",
    "ChannelShuffle",
    "Conv1D",
    "Conv2D",
    "Conv2DTranspose",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "Dropout",
    "ELU",
    "Embedding",
    "Flatten",
    "Fold",
    "GELU",
    "GLU",
    "GaussianNLLLoss",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "Identity",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "KLDivLoss",
    "L1Loss",
    "Layer",
    "LayerList",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1D",
    "MaxPool2D",
    "Maxout",
    "Mish",
    "MultiLabelSoftMarginLoss",
    "NLLLoss",
    "PReLU",
    "Pad1D",
    "Pad2D",
    "PairwiseDistance",
    "ParameterList",
    "ParameterTensor",
    "PixelShuffle",
    "PixelUnshuffle",
    "PoissonNLLLoss",
    "ReLU",
    "ReLU6",
    "SELU",
    "Sequential",
    "Sigmoid",
    "Silu",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
    "TripletMarginLoss",
    "Unfold",
    "Upsample",
    "ZeroPad2D",
]
