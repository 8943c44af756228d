def heat_3d_grad(start, steps):
    """Gradient of heat_3d with respect to start.  Written by symgrad from programs.py:49."""
    A = start.copy()
    B = start.copy()
    A_view = A[1:-1, 1:-1, 1:-1]
    A_view_1 = A[2:, 1:-1, 1:-1]
    A_view_2 = A[:-2, 1:-1, 1:-1]
    A_view_3 = A[1:-1, 2:, 1:-1]
    A_view_4 = A[1:-1, :-2, 1:-1]
    A_view_5 = A[1:-1, 1:-1, 2:]
    A_view_6 = A[1:-1, 1:-1, :-2]
    B_view = B[1:-1, 1:-1, 1:-1]
    B_view_1 = B[2:, 1:-1, 1:-1]
    B_view_2 = B[:-2, 1:-1, 1:-1]
    B_view_3 = B[1:-1, 2:, 1:-1]
    B_view_4 = B[1:-1, :-2, 1:-1]
    B_view_5 = B[1:-1, 1:-1, 2:]
    B_view_6 = B[1:-1, 1:-1, :-2]
    for _ in range(steps):
        t = A_view
        t_1 = 2.0 * t
        t_2 = A_view_1 - t_1
        t_2 += A_view_2
        t_2 *= 0.125
        t_3 = A_view_3 - t_1
        t_3 += A_view_4
        t_3 *= 0.125
        t_2 += t_3
        np.subtract(A_view_5, t_1, out=t_1)
        t_1 += A_view_6
        t_1 *= 0.125
        t_2 += t_1
        np.add(t_2, t, out=B_view)
        t = B_view
        t_1 = 2.0 * t
        t_2 = B_view_1 - t_1
        t_2 += B_view_2
        t_2 *= 0.125
        t_3 = B_view_3 - t_1
        t_3 += B_view_4
        t_3 *= 0.125
        t_2 += t_3
        np.subtract(B_view_5, t_1, out=t_1)
        t_1 += B_view_6
        t_1 *= 0.125
        t_2 += t_1
        np.add(t_2, t, out=A_view)

    # backward
    A_grad = 2 * A
    B_grad = np.zeros(start.shape)
    A_grad_view = A_grad[1:-1, 1:-1, 1:-1]
    B_grad_view = B_grad[1:-1, 1:-1, :-2]
    B_grad_view_1 = B_grad[1:-1, 1:-1, 2:]
    B_grad_view_2 = B_grad[1:-1, :-2, 1:-1]
    B_grad_view_3 = B_grad[1:-1, 2:, 1:-1]
    B_grad_view_4 = B_grad[:-2, 1:-1, 1:-1]
    B_grad_view_5 = B_grad[2:, 1:-1, 1:-1]
    B_grad_view_6 = B_grad[1:-1, 1:-1, 1:-1]
    A_grad_view_1 = A_grad[1:-1, 1:-1, :-2]
    A_grad_view_2 = A_grad[1:-1, 1:-1, 2:]
    A_grad_view_3 = A_grad[1:-1, :-2, 1:-1]
    A_grad_view_4 = A_grad[1:-1, 2:, 1:-1]
    A_grad_view_5 = A_grad[:-2, 1:-1, 1:-1]
    A_grad_view_6 = A_grad[2:, 1:-1, 1:-1]
    for _ in reversed(range(steps)):           # 53: for _ in range(steps):
        t = A_grad_view                        # 60: A[1:-1, 1:-1, 1:-1] = (
        t_grad = t * 0.125                     # 63: + 0.125 * (B[1:-1, 1:-1, 2:] - 2.0 *...
        B_grad_view += t_grad
        t_grad_1 = -t_grad
        B_grad_view_1 += t_grad
        B_grad_view_2 += t_grad                # 62: + 0.125 * (B[1:-1, 2:, 1:-1] - 2.0 *...
        t_grad_1 -= t_grad
        B_grad_view_3 += t_grad
        B_grad_view_4 += t_grad                # 61: 0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[...
        t_grad_1 -= t_grad
        B_grad_view_5 += t_grad
        t_grad_1 *= 2.0
        t_grad_1 += t
        A_grad_view[...] = 0.0                 # 60: A[1:-1, 1:-1, 1:-1] = (
        B_grad_view_6 += t_grad_1              # 61: 0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[...
        t = B_grad_view_6                      # 54: B[1:-1, 1:-1, 1:-1] = (
        t_grad = t * 0.125                     # 57: + 0.125 * (A[1:-1, 1:-1, 2:] - 2.0 *...
        A_grad_view_1 += t_grad
        t_grad_1 = -t_grad
        A_grad_view_2 += t_grad
        A_grad_view_3 += t_grad                # 56: + 0.125 * (A[1:-1, 2:, 1:-1] - 2.0 *...
        t_grad_1 -= t_grad
        A_grad_view_4 += t_grad
        A_grad_view_5 += t_grad                # 55: 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[...
        t_grad_1 -= t_grad
        A_grad_view_6 += t_grad
        t_grad_1 *= 2.0
        t_grad_1 += t
        B_grad_view_6[...] = 0.0               # 54: B[1:-1, 1:-1, 1:-1] = (
        A_grad_view += t_grad_1                # 55: 0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[...
    B_grad += A_grad                           # 51: A = start.copy()
    return B_grad,
