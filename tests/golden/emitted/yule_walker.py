def yule_walker_grad(correlations):
    """Gradient of yule_walker with respect to correlations.  Written by symgrad from programs.py:118."""
    order = correlations.shape[0] - 1
    coefficients = np.zeros(order)
    error = correlations[0]
    reflection = -correlations[1] / error
    coefficients[0] = reflection
    tape = [None] * order
    error_1 = error
    reflection_1 = reflection
    coefficients_cells = memoryview(coefficients)
    for k in range(1, order):
        error_2 = error_1 * (1.0 - reflection_1 * reflection_1)
        t = coefficients[:k]
        t_1 = -(correlations[k + 1] + t @ correlations[k:0:-1])
        reflection_2 = t_1 / error_2
        t_1 = reflection_2 * coefficients[:k][::-1]
        coefficients_old = coefficients[:k].copy()
        np.add(t, t_1, out=coefficients[:k])
        tape[k] = error_1, reflection_1, coefficients_old
        coefficients_cells[k] = reflection_2
        error_1 = error_2
        reflection_1 = reflection_2

    # backward
    error_grad = 0.0
    reflection_grad = 0.0
    coefficients_grad = 2 * coefficients
    correlations_grad = np.zeros(correlations.shape)
    correlations_grad_cells = memoryview(correlations_grad)
    for k in reversed(range(1, order)):          # 125: for k in range(1, order):
        reflection_grad += coefficients_grad[k]  # 129: coefficients[k] = reflection
        error_1, reflection_2, coefficients_old = tape[k]
        t = coefficients_grad[:k]                # 128: coefficients[:k] += reflection * coef...
        reflection_grad += t.dot(coefficients_old[::-1])
        t = (t * reflection_1)[::-1]
        coefficients_grad[:k] += t
        t = 1.0 - reflection_2 * reflection_2    # 126: error *= 1.0 - reflection * reflection
        error_2 = error_1 * t
        t_grad = reflection_grad / error_2       # 127: reflection = -(correlations[k + 1] +...
        error_grad_1 = error_grad - t_grad * reflection_1
        t_grad = -t_grad
        t_grad_1 = t_grad * correlations[k:0:-1]
        t_grad_2 = t_grad * coefficients_old
        correlations_grad[k:0:-1] += t_grad_2
        coefficients_grad[:k] += t_grad_1
        correlations_grad_cells[k + 1] += t_grad
        error_grad = error_grad_1 * t            # 126: error *= 1.0 - reflection * reflection
        reflection_grad = error_grad_1 * error_1 * reflection_2 * -2
        reflection_1 = reflection_2
    reflection_grad += coefficients_grad[0]      # 124: coefficients[0] = reflection
    t_grad = reflection_grad / error             # 122: reflection = -correlations[1] / corre...
    error_grad -= t_grad * reflection
    correlations_grad[0] += error_grad
    correlations_grad[1] -= t_grad
    return correlations_grad,
