@njit(error_model="numpy", cache=True)
def cholesky_grad_kernel(matrix):
    t = matrix.shape[0]
    t_1 = matrix.shape[1]
    if 1 in (t, t_1):
        raise ValueError
    t_2 = t - 1
    A = new_empty((t, t_1))
    for i in range(t):
        for j in range(t_1):
            A[i, j] = matrix[i, j]
    for j in range(t):
        t_3 = t - j
        for k in range(j):
            if k >= t_1:
                raise ValueError
            t_4 = A[j, k]
            t_5 = max(t_3, 0)
            if j >= t_1:
                raise ValueError
            for i in range(t_5):
                t_5 = j + i
                A[t_5, j] -= A[t_5, k] * t_4
        if j >= t_1:
            raise ValueError
        t_3 = np.sqrt(A[j, j])
        A[j, j] = t_3
        t_4 = j + 1
        for i in range(max(t - t_4, 0)):
            t_5 = t_4 + i
            A[t_5, j] /= t_3
    A_grad = new_empty((t, t_1))
    for i in range(t):
        for j in range(t_1):
            A_grad[i, j] = np.float64(1.0 if j <= i else 0.0)
    for j in range(t_2, -1, -1):
        t_2 = j + 1
        t_3 = max(t - t_2, 0)
        if j >= t_1:
            raise ValueError
        t_4 = A[j, j]
        total = 0.0
        for i in range(t_3):
            t_3 = t_2 + i
            t_5 = A_grad[t_3, j] / t_4
            total = plus(total, t_5 * A[t_3, j])
            A_grad[t_3, j] = t_5
        t_grad = -total
        A_grad[j, j] += t_grad
        t_grad = A_grad[j, j] * (0.5 / t_4)
        A_grad[j, j] = t_grad
        t_2 = t - j
        for k in range(j - 1, -1, -1):
            t_3 = max(t_2, 0)
            if k >= t_1:
                raise ValueError
            t_4 = A[j, k]
            t_grad = 0.0
            for i in range(t_3):
                t_3 = j + i
                t_5 = -A_grad[t_3, j]
                t_grad = plus(t_grad, t_5 * A[t_3, k])
                A_grad[t_3, k] += t_5 * t_4
            A_grad[j, k] += t_grad
    return A_grad,


def cholesky_grad(matrix):
    """Gradient of cholesky with respect to matrix.  Written by symgrad from programs.py:106."""
    try:
        return cholesky_grad_kernel(matrix)
    except Exception:  # left to NumPy, which raises too, or goes on
        return cholesky_grad_numpy(matrix)
