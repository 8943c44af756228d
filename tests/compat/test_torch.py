"""The trainings of the examples, step by step compared with PyTorch in float64: the same parameters after 50 steps."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from symgrad import optimizer, static
from symgrad.eager import Tensor
from symgrad.eager.creation import seed
from symgrad.vocabulary import network

torch: Any = pytest.importorskip("torch")
EXAMPLES = Path(__file__).parent.parent.parent / "examples"
STEPS, BATCH = 50, 16


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"beside_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_digits() -> None:
    digits = example("digits")
    pixels, labels = digits.images()
    seed(7)
    main, startup, named = digits.build("float64", 0.003)
    scope = static.Scope()
    executor = static.Executor()
    executor.run(startup, scope=scope)
    names = [p.name for p in main.all_parameters() if p.trainable]
    w = {name: torch.tensor(np.array(scope.values[name]), requires_grad=True) for name in names}
    ours = torch.optim.Adam(list(w.values()), lr=0.003, eps=1e-8)
    for step in range(STEPS):
        chosen = np.arange(step * BATCH, (step + 1) * BATCH) % digits.TRAINING
        executor.run(main, {"image": pixels[chosen], "label": labels[chosen]}, [named["loss"]], scope=scope)
        hidden = torch.relu(torch.nn.functional.conv2d(torch.tensor(pixels[chosen]), w["conv2d_0.w_0"], w["conv2d_0.b_0"], padding=1))
        hidden = torch.relu(torch.nn.functional.conv2d(hidden, w["conv2d_1.w_0"], w["conv2d_1.b_0"], padding=1))
        hidden = torch.amax(torch.nn.functional.unfold(hidden.reshape(-1, 1, 8, 8), 2, stride=2), dim=1).reshape(BATCH, -1)
        hidden = torch.relu(hidden @ w["fc_0.w_0"] + w["fc_0.b_0"])
        loss = torch.nn.functional.cross_entropy(hidden @ w["fc_1.w_0"] + w["fc_1.b_0"], torch.tensor(labels[chosen, 0]))
        ours.zero_grad()
        loss.backward()
        ours.step()
    for name in names:
        assert scope.values[name] == pytest.approx(w[name].detach().numpy(), rel=1e-9, abs=1e-9)


def test_authors() -> None:
    authors = example("authors")
    words, labels, known = authors.sentences()
    weights = authors.parameters(len(known), np.random.default_rng(3), dtype="float64")
    method = optimizer.Adam(0.01, parameters=weights)
    theirs = [torch.tensor(p.numpy(), requires_grad=True) for p in weights]
    other = torch.optim.Adam(theirs, lr=0.01, eps=1e-8)
    for step in range(STEPS):
        chosen = np.arange(step * BATCH, (step + 1) * BATCH) % authors.TRAINING
        loss = network.cross_entropy(authors.scores(words[chosen], weights), Tensor(labels[chosen]))
        loss.backward()
        method.step()
        method.clear_grad()
        vectors = torch.nn.functional.embedding(torch.tensor(words[chosen]), theirs[0], padding_idx=0)
        vectors = vectors * torch.tensor((words[chosen] != 0)[:, :, None])
        mean = vectors.sum(1) / torch.tensor((words[chosen] != 0).sum(1, keepdims=True).astype(float))
        hidden = torch.relu(mean @ theirs[1] + theirs[2])
        loss_ = torch.nn.functional.cross_entropy(hidden @ theirs[3] + theirs[4], torch.tensor(labels[chosen]))
        other.zero_grad()
        loss_.backward()
        other.step()
    for mine, yours in zip(weights, theirs, strict=True):
        assert mine.numpy() == pytest.approx(yours.detach().numpy(), rel=1e-9, abs=1e-9)
