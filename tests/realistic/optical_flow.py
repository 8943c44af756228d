"""Vision: energy of a dense optical flow field: warped brightness difference and smoothness."""

import numpy as np


def bilinear(image, y, x):
    """Sample an image at a fractional position, clamped at the border."""
    h, w = image.shape
    y = min(max(y, 0.0), h - 1.001)
    x = min(max(x, 0.0), w - 1.001)
    y0, x0 = int(np.floor(y)), int(np.floor(x))
    dy, dx = y - y0, x - x0
    top = (1 - dx) * image[y0, x0] + dx * image[y0, x0 + 1]
    bottom = (1 - dx) * image[y0 + 1, x0] + dx * image[y0 + 1, x0 + 1]
    return (1 - dy) * top + dy * bottom


def charbonnier(x, eps=1e-3):
    return np.sqrt(x**2 + eps**2)


def warp(image, flow):
    warped = np.zeros_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            warped[i, j] = bilinear(image, i + flow[i, j, 0], j + flow[i, j, 1])
    return warped


def smoothness(flow):
    penalty = 0.0
    for component in (flow[..., 0], flow[..., 1]):
        penalty += charbonnier(np.diff(component, axis=0)).sum()
        penalty += charbonnier(np.diff(component, axis=1)).sum()
    return penalty


def loss(flow, first, second, alpha=0.1, valid=None):
    if first.shape != second.shape:
        raise ValueError(f"images differ in shape: {first.shape} and {second.shape}")
    if flow.shape != first.shape + (2,):
        raise ValueError(f"flow has shape {flow.shape}, expected {first.shape + (2,)}")
    if valid is None:
        valid = np.ones(first.shape, dtype=bool)
    difference = charbonnier(warp(second, flow) - first)
    data = np.mean(difference[valid])
    regular = smoothness(flow) / flow.size
    return data + alpha * regular


WRT = ("flow", "second")


def arguments():
    rng = np.random.default_rng(5)
    yy, xx = np.mgrid[0:9, 0:10]
    first = np.sin(0.5 * xx) + np.cos(0.7 * yy)
    second = np.sin(0.5 * (xx - 0.6)) + np.cos(0.7 * (yy - 0.3))
    flow = 0.3 + 0.2 * rng.normal(size=(9, 10, 2))
    valid = np.ones((9, 10), dtype=bool)
    valid[:, 0] = False
    return flow, first, second, 0.1, valid
