def cholesky_grad(matrix):
    """Gradient of cholesky with respect to matrix.  Written by symgrad from programs.py:104."""
    try:
        # forward
        A = matrix.copy()
        n = matrix.shape[0]
        tape = [None] * n
        for j in range(n):
            tape_1 = [None] * j
            for k in range(j):
                t = A[j, k]
                t_1 = A[j:, k]
                tape_1[k] = t, t_1.copy()
                t_2 = A[j:, j]
                np.subtract(t_2, t_1 * t, out=A[j:, j])
            t = math.sqrt(A.item(j, j))
            A[j, j] = t
            t_1 = j + 1
            t_2 = A[j, j]
            t_3 = A[t_1:, j] / t_2
            tape[j] = t, t_2, t_3, tape_1
            A[t_1:, j] = t_3

        # backward
        A_grad = np.tril(np.broadcast_to(1.0, matrix.shape))
        for j in reversed(range(n)):                        # 108: for j in range(n):
            t = j + 1                                       # 112: A[j + 1 :, j] /= A[j, j]
            t_1, t_2, t_3, tape_1 = tape[j]
            t_grad = A_grad[t:, j] / t_2
            t_2 = t_grad.dot(t_3)
            A_grad[t:, j] = t_grad
            A_grad[j, j] -= t_2
            A_grad[j, j] = A_grad.item(j, j) * (0.5 / t_1)  # 111: A[j, j] = np.sqrt(A[j, j])
            for k in reversed(range(j)):                    # 109: for k in range(j):
                t_grad = -A_grad[j:, j]                     # 110: A[j:, j] -= A[j:, k] * A[j, k]
                t, t_1 = tape_1[k]
                t_grad_1 = t_grad * t
                A_grad[j:, k] += t_grad_1
                A_grad[j, k] += t_grad.dot(t_1)
        return A_grad,
    except (ArithmeticError, ValueError):
        return cholesky_grad_plain(matrix)
