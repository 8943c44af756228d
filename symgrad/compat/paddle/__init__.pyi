# Written by "python -m tests.stubs --write" from the signatures in symgrad/vocabulary.
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.compat.paddle import autograd as autograd
from symgrad.compat.paddle import io as io
from symgrad.compat.paddle import linalg as linalg
from symgrad.compat.paddle import metric as metric
from symgrad.compat.paddle import nn as nn
from symgrad.compat.paddle import optimizer as optimizer
from symgrad.compat.paddle import regularizer as regularizer
from symgrad.compat.paddle import static as static
from symgrad.compat.paddle.places import CPUPlace as CPUPlace
from symgrad.eager.autograd import enable_grad as enable_grad
from symgrad.eager.autograd import grad as grad
from symgrad.eager.autograd import is_grad_enabled as is_grad_enabled
from symgrad.eager.autograd import no_grad as no_grad
from symgrad.eager.autograd import set_grad_enabled as set_grad_enabled
from symgrad.eager.creation import arange as arange
from symgrad.eager.creation import eye as eye
from symgrad.eager.creation import full as full
from symgrad.eager.creation import linspace as linspace
from symgrad.eager.creation import normal as normal
from symgrad.eager.creation import ones as ones
from symgrad.eager.creation import rand as rand
from symgrad.eager.creation import randint as randint
from symgrad.eager.creation import randn as randn
from symgrad.eager.creation import uniform as uniform
from symgrad.eager.creation import zeros as zeros
from symgrad.eager.storing import load as load
from symgrad.eager.tensor import Tensor as Tensor
from symgrad.eager.tensor import set_default_dtype as set_default_dtype
from symgrad.eager.tensor import to_tensor as to_tensor
from symgrad.runtime.random import seed as seed
from symgrad.static.mode import disable_static as disable_static
from symgrad.static.mode import enable_static as enable_static
from symgrad.static.mode import in_dynamic_mode as in_dynamic_mode
from symgrad.static.parameters import ParamAttr as ParamAttr
from symgrad.vocabulary.typed import abs as abs
from symgrad.vocabulary.typed import acos as acos
from symgrad.vocabulary.typed import acosh as acosh
from symgrad.vocabulary.typed import add as add
from symgrad.vocabulary.typed import add_n as add_n
from symgrad.vocabulary.typed import addmm as addmm
from symgrad.vocabulary.typed import all as all
from symgrad.vocabulary.typed import allclose as allclose
from symgrad.vocabulary.typed import amax as amax
from symgrad.vocabulary.typed import amin as amin
from symgrad.vocabulary.typed import any as any
from symgrad.vocabulary.typed import argmax as argmax
from symgrad.vocabulary.typed import argmin as argmin
from symgrad.vocabulary.typed import argsort as argsort
from symgrad.vocabulary.typed import asin as asin
from symgrad.vocabulary.typed import asinh as asinh
from symgrad.vocabulary.typed import assign as assign
from symgrad.vocabulary.typed import atan as atan
from symgrad.vocabulary.typed import atan2 as atan2
from symgrad.vocabulary.typed import atanh as atanh
from symgrad.vocabulary.typed import bitwise_and as bitwise_and
from symgrad.vocabulary.typed import bitwise_left_shift as bitwise_left_shift
from symgrad.vocabulary.typed import bitwise_not as bitwise_not
from symgrad.vocabulary.typed import bitwise_or as bitwise_or
from symgrad.vocabulary.typed import bitwise_right_shift as bitwise_right_shift
from symgrad.vocabulary.typed import bitwise_xor as bitwise_xor
from symgrad.vocabulary.typed import bmm as bmm
from symgrad.vocabulary.typed import broadcast_shape as broadcast_shape
from symgrad.vocabulary.typed import broadcast_tensors as broadcast_tensors
from symgrad.vocabulary.typed import broadcast_to as broadcast_to
from symgrad.vocabulary.typed import bucketize as bucketize
from symgrad.vocabulary.typed import cast as cast
from symgrad.vocabulary.typed import ceil as ceil
from symgrad.vocabulary.typed import cholesky as cholesky
from symgrad.vocabulary.typed import chunk as chunk
from symgrad.vocabulary.typed import clip as clip
from symgrad.vocabulary.typed import concat as concat
from symgrad.vocabulary.typed import cos as cos
from symgrad.vocabulary.typed import cosh as cosh
from symgrad.vocabulary.typed import count_nonzero as count_nonzero
from symgrad.vocabulary.typed import cross as cross
from symgrad.vocabulary.typed import cummax as cummax
from symgrad.vocabulary.typed import cummin as cummin
from symgrad.vocabulary.typed import cumprod as cumprod
from symgrad.vocabulary.typed import cumsum as cumsum
from symgrad.vocabulary.typed import deg2rad as deg2rad
from symgrad.vocabulary.typed import det as det
from symgrad.vocabulary.typed import diag as diag
from symgrad.vocabulary.typed import diag_embed as diag_embed
from symgrad.vocabulary.typed import diagflat as diagflat
from symgrad.vocabulary.typed import diagonal as diagonal
from symgrad.vocabulary.typed import diff as diff
from symgrad.vocabulary.typed import digamma as digamma
from symgrad.vocabulary.typed import dist as dist
from symgrad.vocabulary.typed import divide as divide
from symgrad.vocabulary.typed import dot as dot
from symgrad.vocabulary.typed import eigh as eigh
from symgrad.vocabulary.typed import eigvalsh as eigvalsh
from symgrad.vocabulary.typed import einsum as einsum
from symgrad.vocabulary.typed import equal as equal
from symgrad.vocabulary.typed import equal_all as equal_all
from symgrad.vocabulary.typed import erf as erf
from symgrad.vocabulary.typed import exp as exp
from symgrad.vocabulary.typed import expand as expand
from symgrad.vocabulary.typed import expand_as as expand_as
from symgrad.vocabulary.typed import expm1 as expm1
from symgrad.vocabulary.typed import flatten as flatten
from symgrad.vocabulary.typed import flip as flip
from symgrad.vocabulary.typed import floor as floor
from symgrad.vocabulary.typed import floor_divide as floor_divide
from symgrad.vocabulary.typed import floor_mod as floor_mod
from symgrad.vocabulary.typed import fmax as fmax
from symgrad.vocabulary.typed import fmin as fmin
from symgrad.vocabulary.typed import frac as frac
from symgrad.vocabulary.typed import full_like as full_like
from symgrad.vocabulary.typed import gather as gather
from symgrad.vocabulary.typed import gather_nd as gather_nd
from symgrad.vocabulary.typed import greater_equal as greater_equal
from symgrad.vocabulary.typed import greater_than as greater_than
from symgrad.vocabulary.typed import hypot as hypot
from symgrad.vocabulary.typed import increment as increment
from symgrad.vocabulary.typed import index_add as index_add
from symgrad.vocabulary.typed import index_fill as index_fill
from symgrad.vocabulary.typed import index_put as index_put
from symgrad.vocabulary.typed import index_sample as index_sample
from symgrad.vocabulary.typed import index_select as index_select
from symgrad.vocabulary.typed import inner as inner
from symgrad.vocabulary.typed import inv as inv
from symgrad.vocabulary.typed import inverse as inverse
from symgrad.vocabulary.typed import isclose as isclose
from symgrad.vocabulary.typed import isfinite as isfinite
from symgrad.vocabulary.typed import isinf as isinf
from symgrad.vocabulary.typed import isnan as isnan
from symgrad.vocabulary.typed import kron as kron
from symgrad.vocabulary.typed import kthvalue as kthvalue
from symgrad.vocabulary.typed import lerp as lerp
from symgrad.vocabulary.typed import less_equal as less_equal
from symgrad.vocabulary.typed import less_than as less_than
from symgrad.vocabulary.typed import lgamma as lgamma
from symgrad.vocabulary.typed import log as log
from symgrad.vocabulary.typed import log10 as log10
from symgrad.vocabulary.typed import log1p as log1p
from symgrad.vocabulary.typed import log2 as log2
from symgrad.vocabulary.typed import logaddexp as logaddexp
from symgrad.vocabulary.typed import logcumsumexp as logcumsumexp
from symgrad.vocabulary.typed import logical_and as logical_and
from symgrad.vocabulary.typed import logical_not as logical_not
from symgrad.vocabulary.typed import logical_or as logical_or
from symgrad.vocabulary.typed import logical_xor as logical_xor
from symgrad.vocabulary.typed import logit as logit
from symgrad.vocabulary.typed import logsumexp as logsumexp
from symgrad.vocabulary.typed import masked_fill as masked_fill
from symgrad.vocabulary.typed import masked_select as masked_select
from symgrad.vocabulary.typed import matmul as matmul
from symgrad.vocabulary.typed import matrix_power as matrix_power
from symgrad.vocabulary.typed import max as max
from symgrad.vocabulary.typed import maximum as maximum
from symgrad.vocabulary.typed import mean as mean
from symgrad.vocabulary.typed import median as median
from symgrad.vocabulary.typed import meshgrid as meshgrid
from symgrad.vocabulary.typed import min as min
from symgrad.vocabulary.typed import minimum as minimum
from symgrad.vocabulary.typed import mm as mm
from symgrad.vocabulary.typed import mod as mod
from symgrad.vocabulary.typed import moveaxis as moveaxis
from symgrad.vocabulary.typed import multi_dot as multi_dot
from symgrad.vocabulary.typed import multiply as multiply
from symgrad.vocabulary.typed import mv as mv
from symgrad.vocabulary.typed import nan_to_num as nan_to_num
from symgrad.vocabulary.typed import nanmean as nanmean
from symgrad.vocabulary.typed import nansum as nansum
from symgrad.vocabulary.typed import neg as neg
from symgrad.vocabulary.typed import negative as negative
from symgrad.vocabulary.typed import nonzero as nonzero
from symgrad.vocabulary.typed import norm as norm
from symgrad.vocabulary.typed import not_equal as not_equal
from symgrad.vocabulary.typed import ones_like as ones_like
from symgrad.vocabulary.typed import outer as outer
from symgrad.vocabulary.typed import pinv as pinv
from symgrad.vocabulary.typed import pow as pow
from symgrad.vocabulary.typed import prod as prod
from symgrad.vocabulary.typed import put_along_axis as put_along_axis
from symgrad.vocabulary.typed import qr as qr
from symgrad.vocabulary.typed import quantile as quantile
from symgrad.vocabulary.typed import rad2deg as rad2deg
from symgrad.vocabulary.typed import reciprocal as reciprocal
from symgrad.vocabulary.typed import remainder as remainder
from symgrad.vocabulary.typed import repeat_interleave as repeat_interleave
from symgrad.vocabulary.typed import reshape as reshape
from symgrad.vocabulary.typed import roll as roll
from symgrad.vocabulary.typed import rot90 as rot90
from symgrad.vocabulary.typed import round as round
from symgrad.vocabulary.typed import rsqrt as rsqrt
from symgrad.vocabulary.typed import scale as scale
from symgrad.vocabulary.typed import scatter as scatter
from symgrad.vocabulary.typed import scatter_nd as scatter_nd
from symgrad.vocabulary.typed import scatter_nd_add as scatter_nd_add
from symgrad.vocabulary.typed import searchsorted as searchsorted
from symgrad.vocabulary.typed import sign as sign
from symgrad.vocabulary.typed import sin as sin
from symgrad.vocabulary.typed import sinh as sinh
from symgrad.vocabulary.typed import slice as slice
from symgrad.vocabulary.typed import slogdet as slogdet
from symgrad.vocabulary.typed import solve as solve
from symgrad.vocabulary.typed import sort as sort
from symgrad.vocabulary.typed import split as split
from symgrad.vocabulary.typed import sqrt as sqrt
from symgrad.vocabulary.typed import square as square
from symgrad.vocabulary.typed import squeeze as squeeze
from symgrad.vocabulary.typed import stack as stack
from symgrad.vocabulary.typed import stanh as stanh
from symgrad.vocabulary.typed import std as std
from symgrad.vocabulary.typed import strided_slice as strided_slice
from symgrad.vocabulary.typed import subtract as subtract
from symgrad.vocabulary.typed import sum as sum
from symgrad.vocabulary.typed import svd as svd
from symgrad.vocabulary.typed import swapaxes as swapaxes
from symgrad.vocabulary.typed import t as t
from symgrad.vocabulary.typed import take as take
from symgrad.vocabulary.typed import take_along_axis as take_along_axis
from symgrad.vocabulary.typed import tan as tan
from symgrad.vocabulary.typed import tanh as tanh
from symgrad.vocabulary.typed import tensordot as tensordot
from symgrad.vocabulary.typed import tile as tile
from symgrad.vocabulary.typed import topk as topk
from symgrad.vocabulary.typed import trace as trace
from symgrad.vocabulary.typed import transpose as transpose
from symgrad.vocabulary.typed import triangular_solve as triangular_solve
from symgrad.vocabulary.typed import tril as tril
from symgrad.vocabulary.typed import triu as triu
from symgrad.vocabulary.typed import trunc as trunc
from symgrad.vocabulary.typed import unbind as unbind
from symgrad.vocabulary.typed import unsqueeze as unsqueeze
from symgrad.vocabulary.typed import unstack as unstack
from symgrad.vocabulary.typed import var as var
from symgrad.vocabulary.typed import where as where
from symgrad.vocabulary.typed import zeros_like as zeros_like

bool: np.dtype[np.bool_]
float16: np.dtype[np.float16]
float32: np.dtype[np.float32]
float64: np.dtype[np.float64]
int32: np.dtype[np.int32]
int64: np.dtype[np.int64]

def get_default_dtype() -> str: ...
def is_tensor(x: Any) -> Any: ...
def save(obj: Any, path: str | Path) -> None: ...
def set_device(device: str) -> CPUPlace: ...

__all__ = [
    "CPUPlace",
    "ParamAttr",
    "Tensor",
    "abs",
    "acos",
    "acosh",
    "add",
    "add_n",
    "addmm",
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "arange",
    "argmax",
    "argmin",
    "argsort",
    "asin",
    "asinh",
    "assign",
    "atan",
    "atan2",
    "atanh",
    "autograd",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bmm",
    "bool",
    "broadcast_shape",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "cast",
    "ceil",
    "cholesky",
    "chunk",
    "clip",
    "concat",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "deg2rad",
    "det",
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diff",
    "digamma",
    "disable_static",
    "dist",
    "divide",
    "dot",
    "eigh",
    "eigvalsh",
    "einsum",
    "enable_grad",
    "enable_static",
    "equal",
    "equal_all",
    "erf",
    "exp",
    "expand",
    "expand_as",
    "expm1",
    "eye",
    "flatten",
    "flip",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "floor_mod",
    "fmax",
    "fmin",
    "frac",
    "full",
    "full_like",
    "gather",
    "gather_nd",
    "get_default_dtype",
    "grad",
    "greater_equal",
    "greater_than",
    "hypot",
    "in_dynamic_mode",
    "increment",
    "index_add",
    "index_fill",
    "index_put",
    "index_sample",
    "index_select",
    "inner",
    "int32",
    "int64",
    "inv",
    "inverse",
    "io",
    "is_grad_enabled",
    "is_tensor",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "kron",
    "kthvalue",
    "lerp",
    "less_equal",
    "less_than",
    "lgamma",
    "linalg",
    "linspace",
    "load",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logcumsumexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logsumexp",
    "masked_fill",
    "masked_select",
    "matmul",
    "matrix_power",
    "max",
    "maximum",
    "mean",
    "median",
    "meshgrid",
    "metric",
    "min",
    "minimum",
    "mm",
    "mod",
    "moveaxis",
    "multi_dot",
    "multiply",
    "mv",
    "nan_to_num",
    "nanmean",
    "nansum",
    "neg",
    "negative",
    "nn",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "ones",
    "ones_like",
    "optimizer",
    "outer",
    "pinv",
    "pow",
    "prod",
    "put_along_axis",
    "qr",
    "quantile",
    "rad2deg",
    "rand",
    "randint",
    "randn",
    "reciprocal",
    "regularizer",
    "remainder",
    "repeat_interleave",
    "reshape",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "save",
    "scale",
    "scatter",
    "scatter_nd",
    "scatter_nd_add",
    "searchsorted",
    "seed",
    "set_default_dtype",
    "set_device",
    "set_grad_enabled",
    "sign",
    "sin",
    "sinh",
    "slice",
    "slogdet",
    "solve",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stanh",
    "static",
    "std",
    "strided_slice",
    "subtract",
    "sum",
    "svd",
    "swapaxes",
    "t",
    "take",
    "take_along_axis",
    "tan",
    "tanh",
    "tensordot",
    "tile",
    "to_tensor",
    "topk",
    "trace",
    "transpose",
    "triangular_solve",
    "tril",
    "triu",
    "trunc",
    "unbind",
    "uniform",
    "unsqueeze",
    "unstack",
    "var",
    "where",
    "zeros",
    "zeros_like",
]
