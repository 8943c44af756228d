@njit(error_model="numpy", cache=True)
def gmm_grad_kernel(alphas, means, inverse, x, gamma):
    t = alphas.shape[0]
    t_1 = means.shape[0]
    t_2 = means.shape[1]
    t_3 = inverse.shape[0]
    t_4 = inverse.shape[1]
    t_5 = inverse.shape[2]
    t_6 = x.shape[0]
    t_7 = x.shape[1]
    if t == 1 or t_1 == 1 or t_2 == 1 or t_3 == 1 or t_5 == 1 or t_6 == 1 or t_7 == 1:
        raise ValueError
    if t_7 != t_2 or t_2 != t_5:
        raise ValueError
    if t < 1:
        raise ValueError
    t_7 = t - 1
    if t_7 >= t_3:
        raise ValueError
    if t_7 >= t_1:
        raise ValueError
    terms = new_empty((t_6, t))
    t_8 = gamma**2
    if not math.isfinite(t_8):
        raise ArithmeticError
    factor_tape = new_empty((t, t_5, t_5))
    whitened_tape = new_empty((t, t_6, t_5))
    whitened = new_empty((t_6, t_5))
    tape = new_empty((t, t_5))
    matrix = new_empty((t_5, t_5))
    t_9 = new_empty((t_6, t_2))
    for k in range(t):
        t_10 = new_zeros((t_5, t_5))
        total = 0.0
        for i in range(t_5):
            t_11 = inverse[k, i, i]
            t_12 = vector_exp(t_11)
            t_10[i, i] = t_12
            total = plus(total, t_11)
            tape[k, i] = t_12
            for j in range(t_5):
                t_11 = inverse[k, i, j]
                t_11 = np.float64(t_11 if j + 1 <= i else 0.0) + t_10[i, j]
                matrix[i, j] = t_11
                factor_tape[k, i, j] = t_11
        for i in range(t_6):
            for j in range(t_2):
                t_9[i, j] = x[i, j] - means[k, j]
        product_into(whitened, t_9, matrix.T)
        t_10 = alphas[k] + total
        for i in range(t_6):
            total = 0.0
            for j in range(t_5):
                t_11 = whitened[i, j]
                total = plus(total, t_11**2)
                whitened_tape[k, i, j] = t_11
            terms[i, k] = t_10 - 0.5 * total
    alphas_grad = new_empty((t,))
    means_grad = new_zeros((t_1, t_2))
    inverse_grad = new_zeros((t_3, t_4, t_5))
    t_1 = -2.0 * (0.5 * t_8)
    terms_grad = new_empty((t_6, t))
    t_2 = new_empty((t,))
    for i in range(t_6):
        total = -np.inf
        for j in range(t):
            total = larger(total, terms[i, j])
        total_1 = 0.0
        for j in range(t):
            t_3 = vector_exp(terms[i, j] - total)
            t_2[j] = t_3
            total_1 = plus(total_1, t_3)
        for j in range(t):
            terms_grad[i, j] = 1.0 / total_1 * t_2[j]
    top = -np.inf
    for i in range(t):
        top = larger(top, alphas[i])
    t_2 = new_empty((t,))
    total = 0.0
    for i in range(t):
        t_3 = vector_exp(alphas[i] - top)
        t_2[i] = t_3
        total = plus(total, t_3)
    t_grad = -1.0 * t_6 / total
    for i in range(t):
        alphas_grad[i] = t_grad * t_2[i]
    t = new_empty((t_5,))
    t_2 = new_empty((t_5,))
    t_3 = new_empty((t_6, t_5))
    matrix = new_empty((t_6, t_5))
    t_4 = new_empty((t_5, t_5))
    for k in range(t_7, -1, -1):
        for i in range(t_5):
            t[i] = 0.0
            t_2[i] = 0.0
        t_grad = 0.0
        for i in range(t_6):
            t_7 = terms_grad[i, k]
            t_grad = plus(t_grad, t_7)
            t_7 = -t_7
            for j in range(t_5):
                t_3[i, j] = x[i, j] - means[k, j]
                t_8 = t_7 * whitened_tape[k, i, j]
                matrix[i, j] = t_8
                t[j] = plus(t[j], t_8)
        t_grad_1 = t_grad + 1.0
        alphas_grad[k] += t_grad
        product_into(t_4, matrix.T, t_3)
        for i in range(t_5):
            for j in range(t_5):
                t_7 = plus(t_2[j], t[i] * factor_tape[k, i, j])
                t_2[j] = t_7
        t_7 = new_zeros((t_5, t_5))
        for i in range(t_5):
            means_grad[k, i] -= t_2[i]
            t_8 = (t_1 * factor_tape[k, i, i] + t_4[i, i]) * tape[k, i]
            t_7[i, i] = t_8 + t_grad_1
            for j in range(t_5):
                t_8 = t_1 * factor_tape[k, i, j] + t_4[i, j]
                t_8 = np.float64(t_8 if j + 1 <= i else 0.0) + t_7[i, j]
                inverse_grad[k, i, j] += t_8
    return alphas_grad, means_grad, inverse_grad


def gmm_grad(alphas, means, inverse, x, gamma):
    """Gradient of gmm with respect to alphas, means, inverse.  Written by symgrad from programs.py:13."""
    try:
        return gmm_grad_kernel(alphas, means, inverse, x, gamma)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return gmm_grad_numpy(alphas, means, inverse, x, gamma)
