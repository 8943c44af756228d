@njit(error_model="numpy", cache=True)
def cholesky_grad_kernel(matrix):
    t = matrix.shape[0]
    t_1 = matrix.shape[1]
    if t == 1 or t_1 == 1:
        raise ValueError
    t_2 = t - 1
    if t - 2 >= t_1:
        raise ValueError
    if t_2 >= t_1:
        raise ValueError
    if t_2 - 1 >= t_1:
        raise ValueError
    A = new_empty((t_1, t))
    for i in range(t):
        for j in range(t_1):
            A[j, i] = matrix[i, j]
    for j in range(t):
        t_3 = t - j
        for k in range(j):
            t_4 = A[k, j]
            for i in range(t_3 if t_3 > 0 else 0):
                t_5 = j + i
                A[j, t_5] -= A[k, t_5] * t_4
        t_3 = np.sqrt(A[j, j])
        A[j, j] = t_3
        t_4 = j + 1
        for i in range(t - t_4 if t - t_4 > 0 else 0):
            t_5 = t_4 + i
            A[j, t_5] /= t_3
    A_grad = new_empty((t_1, t))
    for i in range(t):
        for j in range(t_1):
            A_grad[j, i] = np.float64(1.0 if j <= i else 0.0)
    for j in range(t_2, -1, -1):
        t_2 = j + 1
        t_3 = A[j, j]
        total = 0.0
        for i in range(t - t_2 if t - t_2 > 0 else 0):
            t_4 = t_2 + i
            t_5 = A_grad[j, t_4] / t_3
            total = plus(total, t_5 * A[j, t_4])
            A_grad[j, t_4] = t_5
        t_grad = -total
        A_grad[j, j] += t_grad
        t_grad = A_grad[j, j] * (0.5 / t_3)
        A_grad[j, j] = t_grad
        t_2 = t - j
        for k in range(j - 1, -1, -1):
            t_3 = A[k, j]
            t_grad = 0.0
            for i in range(t_2 if t_2 > 0 else 0):
                t_4 = j + i
                t_5 = -A_grad[j, t_4]
                t_grad = plus(t_grad, t_5 * A[k, t_4])
                A_grad[k, t_4] += t_5 * t_3
            A_grad[k, j] += t_grad
    A_grad_1 = new_empty((t, t_1))
    for i in range(t):
        for j in range(t_1):
            A_grad_1[i, j] = A_grad[j, i]
    return A_grad_1,


def cholesky_grad(matrix):
    """Gradient of cholesky with respect to matrix.  Written by symgrad from programs.py:106."""
    try:
        return cholesky_grad_kernel(matrix)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return cholesky_grad_numpy(matrix)
