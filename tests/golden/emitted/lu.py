def lu_grad(matrix):
    """Gradient of lu with respect to matrix.  Written by symgrad from programs.py:96."""
    A = matrix.copy()
    n = matrix.shape[0]
    t = n - 1
    for k in range(t):
        t_1 = k + 1
        A[t_1:, k] /= A[k, k]
        A[t_1:, t_1:] -= np.outer(A[t_1:, k], A[k, t_1:])
    t_1 = np.diagonal(A)

    # backward
    A_grad = diagonal_place(1.0 / t_1, matrix.shape)
    A_grad_cells = memoryview(A_grad)
    for k in reversed(range(t)):               # 100: for k in range(n - 1):
        t = k + 1                              # 101: A[k + 1 :, k] /= A[k, k]
        t_grad = -A_grad[t:, t:]               # 102: A[k + 1 :, k + 1 :] -= np.outer(A[k +...
        t_1 = A[t:, k]
        t_grad_1 = t_grad.dot(np.ravel(A[k, t:]))
        A_grad[k, t:] += np.ravel(t_1).dot(t_grad)
        A_grad[t:, k] += t_grad_1
        t_grad = A_grad[t:, k] / A[k, k]       # 101: A[k + 1 :, k] /= A[k, k]
        A_grad[t:, k] = t_grad
        A_grad_cells[k, k] -= t_grad.dot(t_1)
    return A_grad,
