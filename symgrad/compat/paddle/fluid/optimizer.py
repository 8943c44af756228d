"""``paddle.fluid.optimizer``."""

from symgrad.optimizer import SGD, Adagrad, Adam, Momentum, RMSProp

SGDOptimizer, AdagradOptimizer, AdamOptimizer, MomentumOptimizer, RMSPropOptimizer = SGD, Adagrad, Adam, Momentum, RMSProp

__all__ = [
    "SGD", "Adagrad", "AdagradOptimizer", "Adam", "AdamOptimizer", "Momentum", "MomentumOptimizer", "RMSProp", "RMSPropOptimizer",
    "SGDOptimizer",
]  # fmt: skip
