"""Vision: two convolution layers and max pooling written as plain loops."""

import numpy as np


def pad(image, amount, mode="zero"):
    c, h, w = image.shape
    padded = np.zeros((c, h + 2 * amount, w + 2 * amount))
    padded[:, amount : amount + h, amount : amount + w] = image
    if mode == "edge":
        for k in range(amount):
            padded[:, k, :] = padded[:, amount, :]
            padded[:, -1 - k, :] = padded[:, -1 - amount, :]
    elif mode != "zero":
        raise ValueError(f"unknown padding {mode!r}")
    return padded


def conv2d(image, kernels, bias, stride=1, padding=0, mode="zero"):
    out_channels, in_channels, kh, kw = kernels.shape
    if image.shape[0] != in_channels:
        raise ValueError(f"image has {image.shape[0]} channels, kernels expect {in_channels}")
    if padding:
        image = pad(image, padding, mode)
    oh = (image.shape[1] - kh) // stride + 1
    ow = (image.shape[2] - kw) // stride + 1
    out = np.zeros((out_channels, oh, ow))
    for o in range(out_channels):
        for i in range(oh):
            for j in range(ow):
                patch = image[:, i * stride : i * stride + kh, j * stride : j * stride + kw]
                out[o, i, j] = np.sum(patch * kernels[o]) + bias[o]
    return out


def relu(x):
    x = x.copy()
    x[x < 0] = 0
    return x


def max_pool(x, size=2):
    c, h, w = x.shape
    out = np.empty((c, h // size, w // size))
    for i in range(h // size):
        for j in range(w // size):
            out[:, i, j] = x[:, size * i : size * (i + 1), size * j : size * (j + 1)].max(axis=(1, 2))
    return out


def loss(params, image, target, verbose=False):
    x = image
    for number, layer in enumerate(params):
        x = conv2d(x, layer["kernels"], layer["bias"], stride=layer.get("stride", 1), padding=1, mode="edge")
        x = relu(x)
        if number == 0:
            x = max_pool(x)
        if verbose:
            print(f"layer {number}: {x.shape}")
    features = x.mean(axis=(1, 2))
    return float(np.sum((features - target) ** 2))


WRT = ("params",)


def arguments():
    rng = np.random.default_rng(2)
    params = [
        {"kernels": 0.4 * rng.normal(size=(3, 2, 3, 3)), "bias": 0.1 * rng.normal(size=3)},
        {"kernels": 0.4 * rng.normal(size=(2, 3, 3, 3)), "bias": 0.1 * rng.normal(size=2), "stride": 2},
    ]
    return params, rng.normal(size=(2, 8, 8)), np.array([0.5, -0.2])
