def heat_3d_grad(start, steps):
    """Gradient of heat_3d with respect to start.  Written by symgrad from programs.py:47."""
    # forward
    A = start.copy()
    B = start.copy()
    for _ in range(steps):
        t = A[1:-1, 1:-1, 1:-1]
        t_1 = 2.0 * t
        t_2 = A[2:, 1:-1, 1:-1] - t_1
        t_2 += A[:-2, 1:-1, 1:-1]
        t_2 *= 0.125
        t_3 = A[1:-1, 2:, 1:-1] - t_1
        t_3 += A[1:-1, :-2, 1:-1]
        t_3 *= 0.125
        t_2 += t_3
        np.subtract(A[1:-1, 1:-1, 2:], t_1, out=t_1)
        t_1 += A[1:-1, 1:-1, :-2]
        t_1 *= 0.125
        t_2 += t_1
        np.add(t_2, t, out=B[1:-1, 1:-1, 1:-1])
        t = B[1:-1, 1:-1, 1:-1]
        t_1 = 2.0 * t
        t_2 = B[2:, 1:-1, 1:-1] - t_1
        t_2 += B[:-2, 1:-1, 1:-1]
        t_2 *= 0.125
        t_3 = B[1:-1, 2:, 1:-1] - t_1
        t_3 += B[1:-1, :-2, 1:-1]
        t_3 *= 0.125
        t_2 += t_3
        np.subtract(B[1:-1, 1:-1, 2:], t_1, out=t_1)
        t_1 += B[1:-1, 1:-1, :-2]
        t_1 *= 0.125
        t_2 += t_1
        np.add(t_2, t, out=A[1:-1, 1:-1, 1:-1])

    # backward
    A_grad = 2 * A
    B_grad = np.zeros(start.shape)
    for _ in reversed(range(steps)):           # 51: for _ in range(steps):
        t = A_grad[1:-1, 1:-1, 1:-1].copy()    # 58: A[1:-1, 1:-1, 1:-1] = (
        A_grad[1:-1, 1:-1, 1:-1] = 0.0
        t_grad = t * 0.125                     # 61: + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 *...
        B_grad[1:-1, 1:-1, :-2] += t_grad
        t_grad_1 = -t_grad
        B_grad[1:-1, 1:-1, 2:] += t_grad
        B_grad[1:-1, :-2, 1:-1] += t_grad      # 60: + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 *...
        t_grad_1 -= t_grad
        B_grad[1:-1, 2:, 1:-1] += t_grad
        B_grad[:-2, 1:-1, 1:-1] += t_grad      # 59: 0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[...
        t_grad_1 -= t_grad
        B_grad[2:, 1:-1, 1:-1] += t_grad
        t_grad_1 *= 2.0
        t_grad_1 += t
        B_grad[1:-1, 1:-1, 1:-1] += t_grad_1
        t = B_grad[1:-1, 1:-1, 1:-1].copy()    # 52: B[1:-1, 1:-1, 1:-1] = (
        B_grad[1:-1, 1:-1, 1:-1] = 0.0
        t_grad = t * 0.125                     # 55: + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 *...
        A_grad[1:-1, 1:-1, :-2] += t_grad
        t_grad_1 = -t_grad
        A_grad[1:-1, 1:-1, 2:] += t_grad
        A_grad[1:-1, :-2, 1:-1] += t_grad      # 54: + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 *...
        t_grad_1 -= t_grad
        A_grad[1:-1, 2:, 1:-1] += t_grad
        A_grad[:-2, 1:-1, 1:-1] += t_grad      # 53: 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[...
        t_grad_1 -= t_grad
        A_grad[2:, 1:-1, 1:-1] += t_grad
        t_grad_1 *= 2.0
        t_grad_1 += t
        A_grad[1:-1, 1:-1, 1:-1] += t_grad_1
    B_grad += A_grad                           # 49: A = start.copy()
    return B_grad,
