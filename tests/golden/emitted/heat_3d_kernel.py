@njit(error_model="numpy", cache=True)
def heat_3d_grad_kernel(start, steps):
    t = start.shape[0]
    t_1 = start.shape[1]
    t_2 = start.shape[2]
    if 1 in (t, t_1, t_2):
        raise ValueError
    t_3 = max(t - 2, 0)
    t_4 = max(t_1 - 2, 0)
    t_5 = max(t_2 - 2, 0)
    t_6 = steps - 1
    A = new_empty((t, t_1, t_2))
    B = new_empty((t, t_1, t_2))
    for i in range(t):
        for j in range(t_1):
            for k in range(t_2):
                t_7 = start[i, j, k]
                A[i, j, k] = t_7
                B[i, j, k] = t_7
    for _ in range(steps):
        for i in range(t_3):
            t_7 = i + 2
            t_8 = i + 1
            for j in range(t_4):
                t_9 = j + 1
                t_10 = j + 2
                for k in range(t_5):
                    t_11 = k + 1
                    t_12 = A[t_8, t_9, t_11]
                    t_13 = 2.0 * t_12
                    t_14 = 0.125 * (A[t_7, t_9, t_11] - t_13 + A[i, t_9, t_11])
                    t_14 = t_14 + 0.125 * (A[t_8, t_10, t_11] - t_13 + A[t_8, j, t_11])
                    t_13 = t_14 + 0.125 * (A[t_8, t_9, k + 2] - t_13 + A[t_8, t_9, k])
                    B[t_8, t_9, t_11] = t_13 + t_12
        for i in range(t_3):
            t_7 = i + 2
            t_8 = i + 1
            for j in range(t_4):
                t_9 = j + 1
                t_10 = j + 2
                for k in range(t_5):
                    t_11 = k + 1
                    t_12 = B[t_8, t_9, t_11]
                    t_13 = 2.0 * t_12
                    t_14 = 0.125 * (B[t_7, t_9, t_11] - t_13 + B[i, t_9, t_11])
                    t_14 = t_14 + 0.125 * (B[t_8, t_10, t_11] - t_13 + B[t_8, j, t_11])
                    t_13 = t_14 + 0.125 * (B[t_8, t_9, k + 2] - t_13 + B[t_8, t_9, k])
                    A[t_8, t_9, t_11] = t_13 + t_12
    A_grad = new_empty((t, t_1, t_2))
    for i in range(t):
        for j in range(t_1):
            for k in range(t_2):
                A_grad[i, j, k] = 2 * A[i, j, k]
    B_grad = new_zeros((t, t_1, t_2))
    t_grad = new_empty((t_3, t_4, t_5))
    t_grad_1 = new_empty((t_3, t_4, t_5))
    t_grad_2 = new_empty((t_3, t_4, t_5))
    t_grad_3 = new_empty((t_3, t_4, t_5))
    t_7 = new_empty((t_3, t_4, t_5))
    t_8 = new_empty((t_3, t_4, t_5))
    for _ in range(t_6, -1, -1):
        for i in range(t_3):
            t_6 = i + 1
            for j in range(t_4):
                t_9 = j + 1
                for k in range(t_5):
                    t_10 = k + 1
                    t_11 = A_grad[t_6, t_9, t_10]
                    t_7[i, j, k] = t_11
                    A_grad[t_6, t_9, t_10] = 0.0
                    t_10 = t_11 * 0.125
                    B_grad[t_6, t_9, k] += t_10
                    t_grad[i, j, k] = -t_10
                for k in range(t_5):
                    B_grad[t_6, t_9, k + 2] += t_7[i, j, k] * 0.125
            for j in range(t_4):
                for k in range(t_5):
                    t_9 = t_7[i, j, k] * 0.125
                    B_grad[t_6, j, k + 1] += t_9
                    t_grad[i, j, k] -= t_9
            for j in range(t_4):
                t_9 = j + 2
                for k in range(t_5):
                    B_grad[t_6, t_9, k + 1] += t_7[i, j, k] * 0.125
        for i in range(t_3):
            for j in range(t_4):
                t_6 = j + 1
                for k in range(t_5):
                    t_9 = t_7[i, j, k] * 0.125
                    B_grad[i, t_6, k + 1] += t_9
                    t_grad[i, j, k] -= t_9
        for i in range(t_3):
            t_6 = i + 2
            for j in range(t_4):
                t_9 = j + 1
                for k in range(t_5):
                    t_10 = t_7[i, j, k]
                    B_grad[t_6, t_9, k + 1] += t_10 * 0.125
                    t_grad_1[i, j, k] = t_grad[i, j, k] * 2.0
                    t_grad_1[i, j, k] += t_10
        for i in range(t_3):
            t_6 = i + 1
            for j in range(t_4):
                t_9 = j + 1
                for k in range(t_5):
                    t_10 = k + 1
                    B_grad[t_6, t_9, t_10] += t_grad_1[i, j, k]
                    t_11 = B_grad[t_6, t_9, t_10]
                    t_8[i, j, k] = t_11
                    B_grad[t_6, t_9, t_10] = 0.0
                    t_10 = t_11 * 0.125
                    A_grad[t_6, t_9, k] += t_10
                    t_grad_2[i, j, k] = -t_10
                for k in range(t_5):
                    A_grad[t_6, t_9, k + 2] += t_8[i, j, k] * 0.125
            for j in range(t_4):
                for k in range(t_5):
                    t_9 = t_8[i, j, k] * 0.125
                    A_grad[t_6, j, k + 1] += t_9
                    t_grad_2[i, j, k] -= t_9
            for j in range(t_4):
                t_9 = j + 2
                for k in range(t_5):
                    A_grad[t_6, t_9, k + 1] += t_8[i, j, k] * 0.125
        for i in range(t_3):
            for j in range(t_4):
                t_6 = j + 1
                for k in range(t_5):
                    t_9 = t_8[i, j, k] * 0.125
                    A_grad[i, t_6, k + 1] += t_9
                    t_grad_2[i, j, k] -= t_9
        for i in range(t_3):
            t_6 = i + 2
            for j in range(t_4):
                t_9 = j + 1
                for k in range(t_5):
                    t_10 = t_8[i, j, k]
                    A_grad[t_6, t_9, k + 1] += t_10 * 0.125
                    t_grad_3[i, j, k] = t_grad_2[i, j, k] * 2.0
                    t_grad_3[i, j, k] += t_10
        for i in range(t_3):
            t_6 = i + 1
            for j in range(t_4):
                t_9 = j + 1
                for k in range(t_5):
                    A_grad[t_6, t_9, k + 1] += t_grad_3[i, j, k]
    for i in range(t):
        for j in range(t_1):
            for k in range(t_2):
                B_grad[i, j, k] += A_grad[i, j, k]
    return B_grad,


def heat_3d_grad(start, steps):
    """Gradient of heat_3d with respect to start.  Written by symgrad from programs.py:49."""
    try:
        return heat_3d_grad_kernel(start, steps)
    except Exception:  # left to NumPy, which raises too, or goes on
        return heat_3d_grad_numpy(start, steps)
