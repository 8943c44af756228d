@njit(error_model="numpy", cache=True)
def yule_walker_grad_kernel(correlations):
    t_1 = correlations.shape[0]
    if t_1 == 1:
        raise ValueError
    t_2 = t_1 - 1
    if t_2 < 0:
        raise ValueError
    if 1 >= t_1:
        raise ValueError
    if 0 >= t_1:
        raise ValueError
    if 0 >= t_2:
        raise ValueError
    t_3 = t_2 if t_2 > 0 else 0
    t_4 = t_1 - 2
    if 0 >= t_3:
        raise ValueError
    coefficients = new_zeros((t_2,))
    error_2 = correlations[0]
    reflection = -correlations[1] / error_2
    coefficients[0] = reflection
    error_tape = new_empty((t_3,))
    reflection_tape = new_empty((t_3,))
    coefficients_old_tape = [new_empty((0,))] * t_3
    error = error_2
    reflection_1 = reflection
    for k in range(1, t_2):
        error_1 = error * (1.0 - reflection_1 * reflection_1)
        t_2 = k - 1
        coefficients_old = new_empty((k,))
        total = 0.0
        for i in range(k):
            t_5 = coefficients[i]
            total = plus(total, t_5 * correlations[k + -i])
            coefficients_old[i] = t_5
        reflection_2 = -(correlations[k + 1] + total) / error_1
        t = new_empty((k,))
        for i in range(k):
            t_5 = coefficients[i] + reflection_2 * coefficients[t_2 + -i]
            t[i] = t_5
        for i in range(k):
            coefficients[i] = t[i]
        error_tape[k] = error
        reflection_tape[k] = reflection_1
        coefficients_old_tape[k] = coefficients_old
        coefficients[k] = reflection_2
        error = error_1
        reflection_1 = reflection_2
    coefficients_grad = new_empty((t_3,))
    for i in range(t_3):
        coefficients_grad[i] = 2 * coefficients[i]
    correlations_grad = new_zeros((t_1,))
    error_grad = 0.0
    reflection_grad = 0.0
    for k in range(t_4, 0, -1):
        reflection_grad += coefficients_grad[k]
        coefficients_grad[k] = 0.0
        error = error_tape[k]
        reflection_2 = reflection_tape[k]
        coefficients_old = coefficients_old_tape[k]
        if coefficients_old.shape[0] != k:
            raise ValueError
        t_1 = new_empty((k,))
        for i in range(k):
            coefficients[i] = coefficients_old[i]
            t_1[i] = coefficients_grad[i]
            coefficients_grad[i] = 0.0
        t_2 = k - 1
        reflection_grad_1 = 0.0
        for i in range(k):
            t_3 = t_1[i]
            t_4 = t_2 + -i
            reflection_grad_1 = plus(reflection_grad_1, t_3 * coefficients[t_4])
            coefficients_grad[t_4] += t_3 * reflection_1
        reflection_grad += reflection_grad_1
        t_2 = 1.0 - reflection_2 * reflection_2
        error_1 = error * t_2
        t_grad = reflection_grad / error_1
        error_grad_1 = error_grad - t_grad * reflection_1
        t_grad = -t_grad
        for i in range(k):
            t_3 = t_grad * coefficients[i]
            t_4 = k + -i
            correlations_grad[t_4] += t_3
            t_3 = t_grad * correlations[t_4] + t_1[i]
            coefficients_grad[i] += t_3
        correlations_grad[k + 1] += t_grad
        error_grad = error_grad_1 * t_2
        t_grad = error_grad_1 * error
        reflection_grad = t_grad * reflection_2 * -2
        reflection_1 = reflection_2
    reflection_grad += coefficients_grad[0]
    t_grad = reflection_grad / error_2
    error_grad -= t_grad * reflection
    correlations_grad[0] += error_grad
    t_grad = -t_grad
    correlations_grad[1] += t_grad
    return correlations_grad,


def yule_walker_grad(correlations):
    """Gradient of yule_walker with respect to correlations.  Written by symgrad from programs.py:118."""
    try:
        return yule_walker_grad_kernel(correlations)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return yule_walker_grad_numpy(correlations)
