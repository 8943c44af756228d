def cholesky_grad(matrix):
    """Gradient of cholesky with respect to matrix.  Written by symgrad from programs.py:106."""
    try:
        A = matrix.copy()
        n = matrix.shape[0]
        A_cells = memoryview(A)
        for j in range(n):
            for k in range(j):
                A[j:, j] -= A[j:, k] * A[j, k]
            A_cells[j, j] = math.sqrt(A_cells[j, j])
            A[j + 1:, j] /= A[j, j]

        # backward
        A_grad = np.tril(np.broadcast_to(1.0, matrix.shape))
        A_cells_1 = memoryview(A)
        A_grad_cells = memoryview(A_grad)
        for j in reversed(range(n)):           # 110: for j in range(n):
            t = j + 1                          # 114: A[j + 1 :, j] /= A[j, j]
            t_1 = A_cells_1[j, j]
            t_grad = A_grad[t:, j] / t_1
            A_grad[t:, j] = t_grad
            A_grad_cells[j, j] -= t_grad.dot(A[t:, j])
            A_grad_cells[j, j] = A_grad_cells[j, j] * (0.5 / t_1)  # 113: A[j, j] = np.sqrt(A[j, j])
            for k in reversed(range(j)):       # 111: for k in range(j):
                t_grad = -A_grad[j:, j]        # 112: A[j:, j] -= A[j:, k] * A[j, k]
                A_grad[j:, k] += t_grad * A[j, k]
                A_grad_cells[j, k] += t_grad.dot(A[j:, k])
        return A_grad,
    except (ArithmeticError, ValueError):
        return cholesky_grad_plain(matrix)
