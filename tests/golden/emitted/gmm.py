def gmm_grad(alphas, means, inverse, x, gamma):
    """Gradient of gmm with respect to alphas, means, inverse.  Written by symgrad from programs.py:13."""
    # forward
    count = x.shape[0]
    t = alphas.shape[0]
    terms = np.empty((count, t))
    tape = [None] * t
    for k in range(t):
        t_1 = inverse[k]
        logs = np.diag(t_1)
        factor = np.tril(t_1, -1)
        t_1 = np.exp(logs)
        factor += np.diag(t_1)
        whitened = (x - means[k]) @ factor.T
        t_2 = alphas[k] + logs.sum()
        t_3 = (whitened**2).sum(1)
        t_3 *= 0.5
        np.subtract(t_2, t_3, out=terms[:, k])
        tape[k] = t_1, factor, whitened, 0.5 * gamma**2
    largest = terms.max(1)
    t_1 = terms - largest[:, None]
    np.exp(t_1, out=t_1)
    t_2 = t_1.sum(1)
    top = alphas.max()
    t_3 = alphas - top
    np.exp(t_3, out=t_3)
    t_4 = t_3.sum()

    # backward
    t_3 *= -1.0 * count / t_4
    np.divide(1.0, t_2, out=t_2)                             # 25: likelihood = np.sum(largest + np.log(...
    t_1 *= t_2[:, None]
    alphas_grad = t_3.tolist()
    means_grad = np.zeros(means.shape)
    inverse_grad = np.zeros(inverse.shape)
    for k in reversed(range(t)):                             # 18: for k in range(alphas.shape[0]):
        t, factor, whitened, t_2 = tape[k]
        factor_grad = -2.0 * t_2 * factor                    # 23: squares += 0.5 * gamma**2 * np.sum(fa...
        t_2 = t_1[:, k]                                      # 22: terms[:, k] = alphas[k] + np.sum(logs...
        t_grad = t_2.sum()
        whitened_grad = (-t_2)[:, None] * whitened
        t_grad_1 = t_grad + 1.0
        alphas_grad[k] += float(t_grad)
        factor_grad += whitened_grad.T @ (x - means[k])      # 21: whitened = (x - means[k]) @ factor.T
        means_grad[k] -= whitened_grad.sum(0) @ factor
        logs_grad = diag_back(factor_grad, t.shape, 0) * t   # 20: factor = np.tril(inverse[k], -1) + np...
        logs_grad += t_grad_1
        t_grad = np.tril(factor_grad, -1)
        t_grad += diag_back(logs_grad, inverse[k].shape, 0)  # 19: logs = np.diag(inverse[k])
        inverse_grad[k] += t_grad
    alphas_grad = np.array(alphas_grad)                      # 18: for k in range(alphas.shape[0]):
    return alphas_grad, means_grad, inverse_grad
