def lu_grad(matrix):
    """Gradient of lu with respect to matrix.  Written by symgrad from programs.py:94."""
    # forward
    A = matrix.copy()
    n = matrix.shape[0]
    t = n - 1
    shape_tape = [None] * t
    for k in range(t):
        t_1 = k + 1
        t_2 = A[t_1:, k]
        np.divide(t_2, A[k, k], out=A[t_1:, k])
        t_2 = np.outer(A[t_1:, k], A[k, t_1:])
        shape = t_2.shape
        shape_tape[k] = shape
        t_3 = A[t_1:, t_1:]
        np.subtract(t_3, t_2, out=A[t_1:, t_1:])
    t_1 = np.diag(A)

    # backward
    A_grad = diag_back(1.0 / t_1, matrix.shape, 0)
    for k in reversed(range(t)):                      # 98: for k in range(n - 1):
        t = k + 1                                     # 99: A[k + 1 :, k] /= A[k, k]
        shape = shape_tape[k]
        t_grad = unbroadcast(-A_grad[t:, t:], shape)  # 100: A[k + 1 :, k + 1 :] -= np.outer(A[k +...
        t_1 = t_grad @ np.ravel(A[k, t:])
        t_2 = A[t:, k]
        t_3 = np.ravel(t_2) @ t_grad
        A_grad[k, t:] += t_3
        A_grad[t:, k] += t_1
        t_1 = A_grad[t:, k]                           # 99: A[k + 1 :, k] /= A[k, k]
        t_3 = A[k, k]
        t_2 = t_1.dot(t_2 / t_3)
        np.divide(t_1, t_3, out=A_grad[t:, k])
        A_grad[k, k] -= t_2
    return A_grad,
