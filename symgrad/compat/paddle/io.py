"""``paddle.io``: samples in batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from symgrad.compat.missing import explaining
from symgrad.eager import to_tensor
from symgrad.runtime.random import generator


class Dataset:
    """Base of data sets, which map an index to a sample: ``__getitem__`` and ``__len__``."""

    def __getitem__(self, place: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class TensorDataset(Dataset):
    """The rows of tensors, one of each for a sample."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        self.arrays = [np.asarray(tensor) for tensor in tensors]
        if len({len(array) for array in self.arrays}) != 1:
            raise ValueError(f"tensors must have equally many rows, not {[len(array) for array in self.arrays]}")

    def __getitem__(self, place: int) -> tuple[Any, ...]:
        return tuple(array[place] for array in self.arrays)

    def __len__(self) -> int:
        return len(self.arrays[0])


def collated(samples: Sequence[Any]) -> Any:
    """Samples as a batch: numbers and arrays become tensors with an axis in front; structures stay."""
    first = samples[0]
    if isinstance(first, tuple | list):
        return [collated(column) for column in zip(*samples, strict=True)]
    if isinstance(first, dict):
        return {key: collated([sample[key] for sample in samples]) for key in first}
    return to_tensor(np.stack([np.asarray(sample) for sample in samples]))


class DataLoader:
    """Iterate over a data set in batches; ``shuffle``: in a new random order each time, determined by the seed.

    >>> [batch[0].tolist() for batch in DataLoader(TensorDataset([np.arange(5)]), batch_size=2)]
    [[0, 1], [2, 3], [4]]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        num_workers: int = 0,
        return_list: bool = True,
        places: Any = None,
    ) -> None:
        if batch_size < 1:
            raise ValueError(f"batch_size must be 1 or more, not {batch_size}")
        if not return_list:
            raise ValueError("return_list=False is not supported; batches are lists")
        self.dataset, self.batch_size, self.shuffle, self.drop_last = dataset, batch_size, shuffle, drop_last
        self.collate = collated if collate_fn is None else collate_fn

    def __len__(self) -> int:
        count = len(self.dataset) / self.batch_size
        return math.floor(count) if self.drop_last else math.ceil(count)

    def __iter__(self) -> Iterator[Any]:
        order = np.arange(len(self.dataset))
        if self.shuffle:
            generator().shuffle(order)
        for k in range(len(self)):
            yield self.collate([self.dataset[int(place)] for place in order[k * self.batch_size : (k + 1) * self.batch_size]])


__all__ = ["DataLoader", "Dataset", "TensorDataset"]

if not TYPE_CHECKING:
    __getattr__ = explaining("paddle.io", __all__)
