"""Optimisers for programs and for tensors, clipping of gradients, and schedules of learning rates."""

from symgrad.optimizer import lr
from symgrad.optimizer.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from symgrad.optimizer.methods import SGD, Adagrad, Adam, AdamW, Momentum, Optimizer, RMSProp
from symgrad.optimizer.regularizers import L1Decay, L2Decay

__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue", "L1Decay", "L2Decay", "Momentum"]
__all__ += ["Optimizer", "RMSProp", "lr"]
