"""Image filters: bilateral filter, Sobel edges and a histogram."""

import numpy as np


def pad_reflect(img, r):
    return np.pad(img, r, mode="reflect")


def bilateral(img, radius, sigma_s, sigma_r):
    h, w = img.shape
    padded = pad_reflect(img, radius)
    out = np.zeros_like(img)
    for y in range(h):
        for x in range(w):
            total = 0.0
            norm = 0.0
            for dy in range(-radius, radius + 1):
                for dx in range(-radius, radius + 1):
                    value = padded[y + radius + dy, x + radius + dx]
                    ws = np.exp(-(dx**2 + dy**2) / (2 * sigma_s**2))
                    wr = np.exp(-((value - img[y, x]) ** 2) / (2 * sigma_r**2))
                    total += ws * wr * value
                    norm += ws * wr
            out[y, x] = total / norm
    return out


KERNEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


def sobel(img):
    windows = np.lib.stride_tricks.sliding_window_view(img, (3, 3))
    gx = np.einsum("ijkl,kl->ij", windows, KERNEL)
    gy = np.einsum("ijkl,kl->ij", windows, KERNEL.T)
    return np.hypot(gx, gy)


def soft_histogram(img, bins=8):
    centers = (np.arange(bins) + 0.5) / bins
    d = np.abs(img.ravel()[:, None] - centers[None, :]) * bins
    weights = np.clip(1 - d, 0, None)
    return weights.sum(axis=0) / img.size


def loss(img, sigma_s, sigma_r, reference):
    smooth = bilateral(img, 2, sigma_s, sigma_r)
    edges = sobel(smooth)
    hist = soft_histogram(smooth)
    entropy = -np.sum(hist * np.log(hist + 1e-6))
    return np.mean((smooth - reference) ** 2) + 0.01 * edges.mean() + 0.01 * entropy


WRT = ("img", "sigma_s", "sigma_r")


def arguments():
    r = np.random.default_rng(0)
    ref = np.linspace(0.1, 0.9, 9)[:, None] * np.ones((9, 8))
    return ref + 0.05 * r.normal(size=ref.shape), 1.5, 0.2, ref
