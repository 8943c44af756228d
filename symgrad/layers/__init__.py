"""Layers as objects: they hold parameters, have a training and an evaluation mode, and save and load their state as a dict."""

from symgrad.layers.containers import LayerList, ParameterList, Sequential
from symgrad.layers.kinds import (
    AvgPool1D,
    AvgPool2D,
    BatchNorm1D,
    BatchNorm2D,
    Bilinear,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Dropout,
    Embedding,
    Flatten,
    GroupNorm,
    Identity,
    InstanceNorm1D,
    InstanceNorm2D,
    LayerNorm,
    Linear,
    MaxPool1D,
    MaxPool2D,
    PReLU,
)
from symgrad.layers.layer import Layer, ParameterTensor
from symgrad.layers.wrapped import *  # noqa: F403
from symgrad.layers.wrapped import __all__ as wrapped

__all__ = [*wrapped, "AvgPool1D", "AvgPool2D", "BatchNorm1D", "BatchNorm2D", "Bilinear", "Conv1D", "Conv2D", "Conv2DTranspose", "Dropout"]
__all__ += ["Embedding", "Flatten", "GroupNorm", "Identity", "InstanceNorm1D", "InstanceNorm2D", "Layer", "LayerList", "LayerNorm"]
__all__ += ["Linear", "MaxPool1D", "MaxPool2D", "PReLU", "ParameterList", "ParameterTensor", "Sequential"]
