def gmm_grad(alphas, means, inverse, x, gamma):
    """Gradient of gmm with respect to alphas, means, inverse.  Written by symgrad from programs.py:13."""
    try:
        count = x.shape[0]
        t = alphas.shape[0]
        terms = np.empty((count, t))
        t_1 = 0.5 * gamma**2
        tape = [None] * t
        for k in range(t):
            t_2 = inverse[k]
            logs = np.diagonal(t_2)
            factor = np.tril(t_2, -1)
            t_2 = np.exp(logs)
            factor += np.diag(t_2)
            whitened = (x - means[k]) @ factor.T
            t_3 = alphas[k] + logs.sum()
            t_4 = (whitened**2).sum(1)
            t_4 *= 0.5
            np.subtract(t_3, t_4, out=terms[:, k])
            tape[k] = t_2, factor, whitened
        largest = terms.max(1)
        t_2 = terms - largest[:, None]
        np.exp(t_2, out=t_2)
        t_3 = t_2.sum(1)
        top = alphas.max()
        t_4 = alphas - top
        np.exp(t_4, out=t_4)
        t_5 = t_4.sum()

        # backward
        t_4 *= -1.0 * count / t_5
        np.divide(1.0, t_3, out=t_3)                            # 25: likelihood = np.sum(largest + np.log(...
        t_2 *= t_3[:, None]
        t_1 = -2.0 * t_1                                        # 23: squares += 0.5 * gamma**2 * np.sum(fa...
        alphas_grad = t_4.tolist()
        means_grad = np.zeros(means.shape)
        inverse_grad = np.zeros(inverse.shape)
        for k in reversed(range(t)):                            # 18: for k in range(alphas.shape[0]):
            t, factor, whitened = tape[k]
            factor_grad = t_1 * factor                          # 23: squares += 0.5 * gamma**2 * np.sum(fa...
            t_3 = t_2[:, k]                                     # 22: terms[:, k] = alphas[k] + np.sum(logs...
            t_grad = t_3.sum()
            whitened_grad = (-t_3)[:, None] * whitened
            t_grad_1 = t_grad + 1.0
            alphas_grad[k] += float(t_grad)
            factor_grad += whitened_grad.T.dot(x - means[k])    # 21: whitened = (x - means[k]) @ factor.T
            means_grad[k] -= whitened_grad.sum(0).dot(factor)
            logs_grad = diag_back(factor_grad, t.shape, 0) * t  # 20: factor = np.tril(inverse[k], -1) + np...
            logs_grad += t_grad_1
            t_grad = np.tril(factor_grad, -1)
            t_grad += diagonal_place(logs_grad, inverse[k].shape)  # 19: logs = np.diag(inverse[k])
            inverse_grad[k] += t_grad
        alphas_grad = np.array(alphas_grad)                     # 18: for k in range(alphas.shape[0]):
        return alphas_grad, means_grad, inverse_grad
    except (ArithmeticError, ValueError):
        return gmm_grad_plain(alphas, means, inverse, x, gamma)
