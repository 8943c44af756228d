"""Handwritten digits with a small convolutional network, as a static program: at least 97 % accuracy on the test images.

Data: "Optical Recognition of Handwritten Digits", E. Alpaydin and C. Kaynak (1998), UCI Machine Learning Repository,
doi:10.24432/C50P49, CC BY 4.0: the 1,797 images of its test part, 8 x 8 pixels of 17 greys.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from symgrad import optimizer, static
from symgrad.eager.creation import seed
from symgrad.static import Program, program_guard
from symgrad.vocabulary import network, tensors

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
TRAINING = 1437  #: number of training images; the other 360 are the test set


def images() -> tuple[Any, Any]:
    """Grey values (1797, 1, 8, 8) between 0 and 1, and the digits as (1797, 1)."""
    with gzip.open(DATA, "rt") as file:
        table = np.loadtxt(file, delimiter=",")
    order = np.random.default_rng(0).permutation(len(table))
    table = table[order]
    return table[:, :64].reshape(-1, 1, 8, 8) / 16.0, table[:, 64:].astype("int64")


def build(dtype: str = "float32", rate: float = 0.01) -> tuple[Program, Program, dict[str, Any]]:
    """The network: two convolutions, a pooling layer, two dense layers; returns loss and logits."""
    main, startup = Program(), Program()
    with program_guard(main, startup):
        image = static.data("image", [-1, 1, 8, 8], dtype)
        label = static.data("label", [-1, 1], "int64")
        hidden = static.nn.conv2d(image, 8, 3, padding=1, act="relu")
        hidden = static.nn.conv2d(hidden, 16, 3, padding=1, act="relu")
        hidden = network.max_pool2d(hidden, 2)
        hidden = static.nn.fc(hidden, 64, activation="relu")
        logits = static.nn.fc(hidden, 10)
        loss = tensors.mean(network.cross_entropy(logits, label, reduction="none"))
        optimizer.Adam(rate).minimize(loss)
    return main, startup, {"loss": loss, "logits": logits}


def train(epochs: int = 8, batch: int = 32) -> float:
    """Train the network, print the progress, and return its accuracy on the test images."""
    seed(7)
    pixels, digits = images()
    pixels = pixels.astype("float32")
    main, startup, named = build()
    test = main.clone(for_test=True)
    executor = static.Executor()
    executor.run(startup)
    generator = np.random.default_rng(1)
    right = 0.0
    for epoch in range(epochs):
        order = generator.permutation(TRAINING)
        losses = []
        for start in range(0, TRAINING - batch + 1, batch):
            chosen = order[start : start + batch]
            (value,) = executor.run(main, {"image": pixels[chosen], "label": digits[chosen]}, [named["loss"]])
            losses.append(float(value))
        feed = {"image": pixels[TRAINING:], "label": digits[TRAINING:]}
        (scores,) = executor.run(test, feed, [named["logits"].name])
        right = float(np.mean(scores.argmax(axis=1) == digits[TRAINING:, 0]))
        print(f"epoch {epoch + 1:2d}   loss {np.mean(losses):.4f}   test {100 * right:.1f} %", flush=True)
    return right


if __name__ == "__main__":
    print(f"{100 * train():.1f} % of the test images are read rightly")
