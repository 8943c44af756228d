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
    A = new_empty((t, t_1))
    for i in range(t):
        for j in range(t_1):
            A[i, j] = matrix[i, j]
    for j in range(t):
        t_3 = t - j
        for k in range(j):
            t_4 = A[j, k]
            for i in range(t_3 if t_3 > 0 else 0):
                t_5 = j + i
                A[t_5, j] -= A[t_5, k] * t_4
        t_3 = np.sqrt(A[j, j])
        A[j, j] = t_3
        t_4 = j + 1
        for i in range(t - t_4 if t - t_4 > 0 else 0):
            t_5 = t_4 + i
            A[t_5, j] /= t_3
    A_grad = new_empty((t, t_1))
    for i in range(t):
        for j in range(t_1):
            A_grad[i, j] = np.float64(1.0 if j <= i else 0.0)
    for j in range(t_2, -1, -1):
        t_1 = j + 1
        t_2 = A[j, j]
        total = 0.0
        for i in range(t - t_1 if t - t_1 > 0 else 0):
            t_3 = t_1 + i
            t_4 = A_grad[t_3, j] / t_2
            total = plus(total, t_4 * A[t_3, j])
            A_grad[t_3, j] = t_4
        t_grad = -total
        A_grad[j, j] += t_grad
        t_grad = A_grad[j, j] * (0.5 / t_2)
        A_grad[j, j] = t_grad
        t_1 = t - j
        for k in range(j - 1, -1, -1):
            t_2 = A[j, k]
            t_grad = 0.0
            for i in range(t_1 if t_1 > 0 else 0):
                t_3 = j + i
                t_4 = -A_grad[t_3, j]
                t_grad = plus(t_grad, t_4 * A[t_3, k])
                A_grad[t_3, k] += t_4 * t_2
            A_grad[j, k] += t_grad
    return A_grad,


def cholesky_grad(matrix):
    """Gradient of cholesky with respect to matrix.  Written by symgrad from programs.py:106."""
    try:
        return cholesky_grad_kernel(matrix)
    except Exception:  # left to NumPy, which raises too, or goes on
        return cholesky_grad_numpy(matrix)
