@njit(error_model="numpy", cache=True)
def lu_grad_kernel(matrix):
    t_1 = matrix.shape[0]
    t_2 = matrix.shape[1]
    if t_1 == 1 or t_2 == 1:
        raise ValueError
    t_3 = t_1 - 1
    t_4 = t_1 if t_1 < t_2 else t_2
    t_5 = t_1 - 2
    if t_3 - 1 >= t_2:
        raise ValueError
    if t_5 >= t_2:
        raise ValueError
    A = new_empty((t_1, t_2))
    for i in range(t_1):
        for j in range(t_2):
            A[i, j] = matrix[i, j]
    for k in range(t_3):
        t_3 = k + 1
        t_6 = A[k, k]
        t_7 = t_1 - t_3 if t_1 - t_3 > 0 else 0
        for i in range(t_7):
            t_8 = t_3 + i
            A[t_8, k] /= t_6
        t_6 = t_2 - t_3 if t_2 - t_3 > 0 else 0
        t = new_empty((t_7, t_6))
        for i in range(t_7):
            t_8 = t_3 + i
            for j in range(t_6):
                t_9 = t_3 + j
                t[i, j] = A[t_8, t_9] - A[t_8, k] * A[k, t_9]
        for i in range(t_7):
            t_7 = t_3 + i
            for j in range(t_6):
                A[t_7, t_3 + j] = t[i, j]
    A_grad = new_zeros((t_1, t_2))
    for i in range(t_4):
        A_grad[i, i] = 1.0 / A[i, i]
    for k in range(t_5, -1, -1):
        t_3 = k + 1
        t_4 = t_1 - t_3 if t_1 - t_3 > 0 else 0
        t_5 = t_2 - t_3 if t_2 - t_3 > 0 else 0
        t_6 = new_empty((t_5,))
        for i in range(t_5):
            t_6[i] = 0.0
        t_7 = new_empty((t_4,))
        for i in range(t_4):
            t_8 = t_3 + i
            total = 0.0
            for j in range(t_5):
                t_9 = t_3 + j
                t_10 = -A_grad[t_8, t_9]
                total = plus(total, t_10 * A[k, t_9])
                t_6[j] = plus(t_6[j], A[t_8, k] * t_10)
            t_7[i] = total
        for i in range(t_5):
            A_grad[k, t_3 + i] += t_6[i]
        t_5 = A[k, k]
        total = 0.0
        for i in range(t_4):
            t_4 = t_3 + i
            A_grad[t_4, k] += t_7[i]
            t_6 = A_grad[t_4, k] / t_5
            total = plus(total, t_6 * A[t_4, k])
            A_grad[t_4, k] = t_6
        t_grad = -total
        A_grad[k, k] += t_grad
    return A_grad,


def lu_grad(matrix):
    """Gradient of lu with respect to matrix.  Written by symgrad from programs.py:96."""
    try:
        return lu_grad_kernel(matrix)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return lu_grad_numpy(matrix)
