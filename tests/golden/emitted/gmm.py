def gmm_grad(alphas, means, inverse, x, gamma):
    """Gradient of gmm with respect to alphas, means, inverse.  Written by symgrad from programs.py:13."""
    # forward
    count = x.shape[0]
    dimension = x.shape[1]
    logs = np.diagonal(inverse, 0, 1, 2)
    factors = np.tril(inverse, -1)
    t = np.exp(logs)
    t_1 = np.eye(dimension)
    factors += t[:, :, None] * t_1
    centred = x[:, None, :] - means
    whitened = np.einsum("kij,nkj->nki", factors, centred)
    t_2 = logs.sum(1)
    t_2 += alphas
    terms = (whitened**2).sum(2)
    terms *= 0.5
    np.subtract(t_2, terms, out=terms)
    largest = terms.max(1)
    terms -= largest[:, None]
    np.exp(terms, out=terms)
    t_2 = terms.sum(1)
    top = alphas.max()
    alphas_grad = alphas - top
    np.exp(alphas_grad, out=alphas_grad)
    t_3 = alphas_grad.sum()
    t_4 = 0.5 * gamma**2

    # backward
    t_5 = logs.shape
    factors_grad = t_4 * -2 * factors
    alphas_grad *= -1.0 * count / t_3                    # 24: normalised = count * (top + np.log(np...
    np.divide(1.0, t_2, out=t_2)                         # 22: likelihood = np.sum(largest + np.log(...
    terms *= t_2[:, None]
    t_grad = terms.sum(0)                                # 20: terms = alphas + np.sum(logs, axis=1)...
    terms *= -0.5
    t_2 = terms[:, :, None]
    whitened *= np.broadcast_to(t_2, whitened.shape)
    whitened *= 2
    alphas_grad += t_grad
    logs_grad = 1.0 + np.broadcast_to(t_grad[:, None], t_5)
    factors_grad_1 = np.einsum("nki,nkj->kij", whitened, centred)  # 19: whitened = np.einsum("kij,nkj->nki",...
    factors_grad += factors_grad_1
    centred_grad = np.einsum("nki,kij->nkj", whitened, factors)
    means_grad = centred_grad.sum(0)                     # 18: centred = x[:, None, :] - means
    np.negative(means_grad, out=means_grad)
    t_grad = (factors_grad * t_1).sum(2, keepdims=True)  # 17: factors = np.tril(inverse, -1) + np.e...
    t_grad_1 = np.zeros(t_5)
    t_grad_1[:, :, None] += t_grad
    t_grad_1 *= t
    logs_grad += t_grad_1
    inverse_grad = np.tril(factors_grad, -1)
    inverse_grad_1 = diagonal_place(logs_grad, inverse.shape, 0, 1, 2)  # 16: logs = np.diagonal(inverse, axis1=1,...
    inverse_grad += inverse_grad_1
    return alphas_grad, means_grad, inverse_grad
