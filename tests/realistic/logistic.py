"""Statistics: penalised logistic regression, with a settings object and class weights."""

import logging
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    penalty: str = "l2"
    strength: float = 0.1
    intercept: bool = True
    class_weights: Optional[dict] = None
    clip: float = 30.0

    def __post_init__(self):
        if self.penalty not in ("l1", "l2", "elastic", "none"):
            raise ValueError(f"unknown penalty {self.penalty!r}")


def sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


def standardise(X):
    mean = X.mean(axis=0)
    std = X.std(axis=0)
    std[std == 0] = 1.0
    return (X - mean) / std


def penalty(coef, settings):
    if settings.penalty == "none":
        return 0.0
    l1 = np.abs(coef).sum()
    l2 = 0.5 * (coef**2).sum()
    return settings.strength * {"l1": l1, "l2": l2, "elastic": 0.5 * (l1 + l2)}[settings.penalty]


def loss(beta, X, y, settings=Settings()):
    y = np.asarray(y)
    labels = np.unique(y)
    if not set(labels.tolist()) <= {0, 1}:
        raise ValueError(f"labels must be 0 or 1, got {labels}")
    X = standardise(X)
    if settings.intercept:
        X = np.hstack([np.ones((X.shape[0], 1)), X])
    if X.shape[1] != beta.shape[0]:
        raise ValueError(f"{beta.shape[0]} coefficients for {X.shape[1]} columns")
    scores = np.clip(X @ beta, -settings.clip, settings.clip)
    p = sigmoid(scores)
    weights = np.ones(len(y))
    if settings.class_weights:
        for label, weight in settings.class_weights.items():
            weights[y == label] = weight
    likelihood = weights * np.where(y == 1, np.log(p), np.log1p(-p))
    coef = beta[1:] if settings.intercept else beta
    value = -likelihood.sum() / weights.sum() + penalty(coef, settings)
    accuracy = np.mean((p > 0.5) == (y == 1))
    log.info("loss %.5f accuracy %.3f", value, accuracy)
    return value


WRT = ("beta",)


def arguments():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 4))
    y = (X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.normal(size=30) > 0).astype(int)
    settings = replace(Settings(), penalty="elastic", class_weights={0: 1.0, 1: 1.5})
    return np.array([0.1, 0.8, -1.1, 0.3, 0.05]), X, y, settings
