"""Classification of sentences by author, Austen or Melville: an embedding and two layers, with tensors.

Data: 700 sentences each from "Emma" (1815) and "Moby-Dick" (1851), both in the public domain; names of persons are removed.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from symgrad import optimizer
from symgrad.eager import Tensor, no_grad
from symgrad.vocabulary import network, tensors

DATA = Path(__file__).parent / "data" / "sentences.txt"
AUTHORS = ("austen", "melville")
TRAINING = 1100  #: number of training sentences; the other 300 are the test set
LENGTH = 40  #: number of words per sentence; shorter sentences are padded with the empty word 0


def sentences() -> tuple[Any, Any, list[str]]:
    """Word numbers (1400, 40), authors (1400,), and the words; number 1 is unknown, a word seen at most once in training."""
    lines = [line.rstrip("\n").split("\t") for line in DATA.read_text().splitlines() if not line.startswith("#")]
    texts = [re.findall(r"[a-z']+", text.lower())[:LENGTH] for _, text in lines]
    counts = Counter(word for words in texts[:TRAINING] for word in words)
    known = ["", "?", *sorted(w for w, n in counts.items() if n > 1)]
    numbers = {word: k for k, word in enumerate(known)}
    coded = np.zeros((len(texts), LENGTH), "int64")
    for row, words in enumerate(texts):
        coded[row, : len(words)] = [numbers.get(word, 1) for word in words]
    return coded, np.array([AUTHORS.index(author) for author, _ in lines]), known


def parameters(words: int, generator: np.random.Generator, width: int = 24, hidden: int = 16, dtype: str = "float32") -> list[Tensor]:
    """The embedding, and the weights and biases of two layers."""
    shapes = [(words, width), (width, hidden), (hidden,), (hidden, 2), (2,)]
    values = [generator.normal(0.0, 0.3, shape) if len(shape) == 2 else np.zeros(shape) for shape in shapes]
    return [Tensor(value.astype(dtype), stop_gradient=False) for value in values]


def scores(words: Any, weights: list[Tensor], rest: float = 0.0) -> Any:
    """The logits of both authors: the mean of the word vectors, then two layers; ``rest`` is the dropout rate."""
    table, first, first_offset, second, second_offset = weights
    vectors = network.embedding(Tensor(words), table, padding_idx=0)
    number = Tensor((words != 0).sum(axis=1, keepdims=True).astype(table.dtype))
    mean = tensors.sum(vectors, axis=1) / number
    hidden = network.relu(tensors.matmul(network.dropout(mean, rest), first) + first_offset)
    return tensors.matmul(hidden, second) + second_offset


def train(epochs: int = 6, batch: int = 32) -> float:
    """Train the classifier, print the progress, and return its accuracy on the test set."""
    words, authors, known = sentences()
    generator = np.random.default_rng(3)
    weights = parameters(len(known), generator)
    method = optimizer.Adam(0.01, parameters=weights)
    right = 0.0
    for epoch in range(epochs):
        order, losses = generator.permutation(TRAINING), []
        for start in range(0, TRAINING - batch + 1, batch):
            chosen = order[start : start + batch]
            loss = network.cross_entropy(scores(words[chosen], weights, 0.2), Tensor(authors[chosen]))
            loss.backward()
            method.step()
            method.clear_grad()
            losses.append(loss.item())
        with no_grad():
            found = scores(words[TRAINING:], weights).numpy().argmax(axis=1)
        right = float(np.mean(found == authors[TRAINING:]))
        print(f"epoch {epoch + 1:2d}   loss {np.mean(losses):.4f}   test {100 * right:.1f} %", flush=True)
    return right


if __name__ == "__main__":
    print(f"the author of {100 * train():.1f} % of the test sentences is found")
