"""
Deblurring
==========

A picture is blurred and noisy. We seek a sharp picture with two properties: its blurred version is
close to the data, and its brightness has few jumps (*total variation*, Rudin, Osher and Fatemi
1992). The program contains only the blur; the gradient supplies its transpose.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

import symgrad


def blurred(picture, kernel):
    """The mean over a neighbourhood, weighted by the kernel; borders are omitted."""
    width = kernel.shape[0]
    rows, columns = picture.shape[0] - width + 1, picture.shape[1] - width + 1
    out = np.zeros((rows, columns))
    for i in range(width):
        for j in range(width):
            out += kernel[i, j] * picture[i : i + rows, j : j + columns]
    return out


def misfit(pixels, seen, kernel, weight):
    size = seen.shape[0] + kernel.shape[0] - 1
    picture = pixels.reshape(size, size)
    down = picture[1:, :-1] - picture[:-1, :-1]
    right = picture[:-1, 1:] - picture[:-1, :-1]
    jumps = np.sqrt(down**2 + right**2 + 1e-4)
    return np.sum((blurred(picture, kernel) - seen) ** 2) + weight * np.sum(jumps)


# %%

row, column = np.mgrid[0:64, 0:64]
disc = (row - 22) ** 2 + (column - 24) ** 2 < 150
square = (abs(row - 42) < 12) & (abs(column - 42) < 10)
truth = 0.8 * disc + 0.5 * square
offset = np.arange(-4, 5)
kernel = np.exp(-(offset[:, None] ** 2 + offset**2) / 8.0)
kernel /= kernel.sum()
seen = blurred(truth, kernel) + 0.01 * np.random.default_rng(2).normal(size=(56, 56))

function = symgrad.value_and_grad(misfit)
start = np.pad(seen, 4, mode="edge").ravel()
best = minimize(
    function,
    start,
    args=(seen, kernel, 0.003),
    jac=True,
    method="L-BFGS-B",
    options={"maxiter": 150},
)
estimate = best.x.reshape(64, 64)
print(f"{best.nfev} calls for {truth.size} unknown pixels")

figure, axes = plt.subplots(1, 3, figsize=(7.0, 2.6), layout="constrained")
for axis, image, title in zip(axes, (truth, seen, estimate), ("truth", "seen", "found")):
    axis.imshow(image, cmap="gray", vmin=0.0, vmax=1.3)
    axis.set_title(title)
    axis.axis("off")
plt.show()

inner = (slice(4, -4), slice(4, -4))
assert np.abs(estimate - truth)[inner].mean() < 0.5 * np.abs(seen - truth[inner]).mean()

# %%

print(function.source())
