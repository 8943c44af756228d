"""The documented names of Paddle's tensors, functions and gradient APIs.

import symgrad.compat.paddle as paddle
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from symgrad.compat.missing import explaining
from symgrad.compat.paddle import autograd, io, linalg, metric, nn, optimizer, regularizer, static
from symgrad.compat.paddle.places import CPUPlace
from symgrad.eager import Tensor, enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled, to_tensor
from symgrad.eager.creation import arange, eye, full, linspace, normal, ones, rand, randint, randn, seed, uniform, zeros
from symgrad.eager.storing import load
from symgrad.eager.storing import save as save_state
from symgrad.eager.tensor import default_dtype, set_default_dtype
from symgrad.static.mode import disable_static, enable_static, in_dynamic_mode
from symgrad.static.parameters import ParamAttr
from symgrad.vocabulary import elements, matrices, selection, statistics, tensors
from symgrad.vocabulary.elements import *  # noqa: F403
from symgrad.vocabulary.matrices import *  # noqa: F403
from symgrad.vocabulary.selection import *  # noqa: F403
from symgrad.vocabulary.statistics import *  # noqa: F403
from symgrad.vocabulary.tensors import *  # noqa: F403

float16, float32, float64 = np.dtype("float16"), np.dtype("float32"), np.dtype("float64")
int32, int64, bool = np.dtype("int32"), np.dtype("int64"), np.dtype("bool")


def get_default_dtype() -> str:
    """Return the dtype of tensors created from Python floats."""
    return default_dtype().name


def set_device(device: str) -> CPUPlace:
    """There is one device, the CPU."""
    if device != "cpu":
        raise ValueError(f"the device {device!r} is not supported; there is 'cpu'")
    return CPUPlace()


def save(obj: Any, path: str | Path) -> None:
    """Save tensors and the containers around them to a file, replacing an existing one."""
    save_state(obj, path, overwrite=True)


def is_tensor(x: Any) -> Any:
    """Whether it is a tensor."""
    return isinstance(x, Tensor)


__all__ = [*tensors.__all__, *elements.__all__, *matrices.__all__, *selection.__all__, *statistics.__all__, "CPUPlace", "ParamAttr"]
__all__ += ["Tensor", "arange", "autograd", "bool", "disable_static", "enable_grad", "enable_static", "eye", "float16", "float32"]
__all__ += ["float64", "full", "get_default_dtype", "grad", "in_dynamic_mode", "int32", "int64", "io", "is_grad_enabled", "is_tensor"]
__all__ += ["linalg", "linspace", "load", "metric", "nn", "no_grad", "normal", "ones", "optimizer", "rand", "randint", "randn"]
__all__ += ["regularizer", "save", "seed", "set_default_dtype", "set_device", "set_grad_enabled", "static", "to_tensor", "uniform", "zeros"]

__getattr__ = explaining("paddle", __all__)
