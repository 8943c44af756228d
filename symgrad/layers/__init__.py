"""Layers as objects: they hold parameters, run in either mode, and give and take their state as a dict."""

from symgrad.layers.containers import LayerList, ParameterList, Sequential
from symgrad.layers.kinds import (
    AvgPool1D,
    AvgPool2D,
    BatchNorm1D,
    BatchNorm2D,
    Conv1D,
    Conv2D,
    Dropout,
    Embedding,
    Flatten,
    LayerNorm,
    Linear,
    MaxPool1D,
    MaxPool2D,
)
from symgrad.layers.layer import Layer, ParameterTensor
from symgrad.layers.wrapped import *  # noqa: F403
from symgrad.layers.wrapped import __all__ as wrapped

__all__ = [
    *wrapped, "AvgPool1D", "AvgPool2D", "BatchNorm1D", "BatchNorm2D", "Conv1D", "Conv2D", "Dropout", "Embedding", "Flatten", "Layer",
    "LayerList", "LayerNorm", "Linear", "MaxPool1D", "MaxPool2D", "ParameterList", "ParameterTensor", "Sequential",
]  # fmt: skip
