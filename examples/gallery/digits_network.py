"""
Handwritten digits
==================

A network of two layers, written in NumPy, learns to recognise the digits in the test part of
"Optical Recognition of Handwritten Digits" (Alpaydin and Kaynak 1998, CC BY 4.0). Its parameters
are a dict, and so is its gradient.
"""

import gzip
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import symgrad

DATA = Path("examples/data") if Path("examples/data").is_dir() else Path("../data")


def scores(p, x):
    return np.tanh(x @ p["w"] + p["b"]) @ p["v"] + p["c"]


def loss(p, x, digits):
    z = scores(p, x)
    z = z - np.max(z, axis=1, keepdims=True)
    chosen = z[np.arange(len(digits)), digits]
    return np.mean(np.log(np.sum(np.exp(z), axis=1)) - chosen)


# %%

with gzip.open(DATA / "digits.csv.gz", "rt") as file:
    table = np.random.default_rng(0).permutation(np.loadtxt(file, delimiter=","))
x, digits = table[:, :64] / 16.0, table[:, 64].astype(int)
train, test = slice(0, 1400), slice(1400, None)

random = np.random.default_rng(1)
p = {
    "w": 0.3 * random.normal(size=(64, 32)),
    "b": np.zeros(32),
    "v": 0.3 * random.normal(size=(32, 10)),
    "c": np.zeros(10),
}
step = symgrad.value_and_grad(loss)

# %%
# Steps with momentum, on batches of the data:

speed = {name: np.zeros_like(part) for name, part in p.items()}
history = []
for _ in range(30):
    order = random.permutation(1400)
    values = []
    for part in np.split(order, 28):
        value, slope = step(p, x[part], digits[part])
        values.append(value)
        for name in p:
            speed[name] = 0.9 * speed[name] - 0.05 * slope[name]
            p[name] = p[name] + speed[name]
    history.append(np.mean(values))
right = scores(p, x[test]).argmax(axis=1) == digits[test]
print(f"{100.0 * right.mean():.1f} % of {right.size} digits not seen before are read rightly")
assert right.mean() > 0.95

figure, axes = plt.subplots(2, 8, figsize=(7.0, 2.2), layout="constrained")
for axis, image, digit in zip(axes.flat, x[test], scores(p, x[test]).argmax(axis=1), strict=False):
    axis.imshow(image.reshape(8, 8), cmap="gray_r")
    axis.set_title(digit, fontsize=9)
    axis.axis("off")
plt.show()

# %%

figure, axis = plt.subplots(figsize=(7.0, 2.5), layout="constrained")
axis.semilogy(np.arange(1, 31), history)
axis.set_xlabel("epoch")
axis.set_ylabel("mean loss")
plt.show()

# %%

print(step.source())
