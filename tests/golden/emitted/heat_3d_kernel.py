@njit(error_model="numpy", cache=True)
def heat_3d_grad_kernel(start, steps):
    t = start.shape[0]
    t_1 = start.shape[1]
    t_2 = start.shape[2]
    if t == 1 or t_1 == 1 or t_2 == 1:
        raise ValueError
    t_3 = t - 2 if t - 2 > 0 else 0
    t_4 = t_1 - 2 if t_1 - 2 > 0 else 0
    t_5 = t_2 - 2 if t_2 - 2 > 0 else 0
    t_6 = t_3 + 4
    t_7 = t_4 + 4
    t_8 = t_5 + 4
    A = new_empty((t, t_1, t_2))
    B = new_empty((t, t_1, t_2))
    for i in range(t):
        for j in range(t_1):
            for k in range(t_2):
                t_9 = start[i, j, k]
                A[i, j, k] = t_9
                B[i, j, k] = t_9
    for _ in range(steps):
        for i in range(t_3):
            t_9 = i + 2
            t_10 = i + 1
            for j in range(t_4):
                t_11 = j + 1
                t_12 = j + 2
                for k in range(t_5):
                    t_13 = k + 1
                    t_14 = A[t_10, t_11, t_13]
                    t_15 = 2.0 * t_14
                    t_16 = 0.125 * (A[t_9, t_11, t_13] - t_15 + A[i, t_11, t_13])
                    t_16 += 0.125 * (A[t_10, t_12, t_13] - t_15 + A[t_10, j, t_13])
                    t_15 = t_16 + 0.125 * (A[t_10, t_11, k + 2] - t_15 + A[t_10, t_11, k])
                    B[t_10, t_11, t_13] = t_15 + t_14
        for i in range(t_3):
            t_9 = i + 2
            t_10 = i + 1
            for j in range(t_4):
                t_11 = j + 1
                t_12 = j + 2
                for k in range(t_5):
                    t_13 = k + 1
                    t_14 = B[t_10, t_11, t_13]
                    t_15 = 2.0 * t_14
                    t_16 = 0.125 * (B[t_9, t_11, t_13] - t_15 + B[i, t_11, t_13])
                    t_16 += 0.125 * (B[t_10, t_12, t_13] - t_15 + B[t_10, j, t_13])
                    t_15 = t_16 + 0.125 * (B[t_10, t_11, k + 2] - t_15 + B[t_10, t_11, k])
                    A[t_10, t_11, t_13] = t_15 + t_14
    A_grad = new_empty((t, t_1, t_2))
    for i in range(t):
        for j in range(t_1):
            for k in range(t_2):
                A_grad[i, j, k] = 2 * A[i, j, k]
    B_grad = new_zeros((t, t_1, t_2))
    padded = new_zeros((t_6, t_7, t_8))
    padded_1 = new_zeros((t_6, t_7, t_8))
    for _ in range(steps - 1, -1, -1):
        for i in range(t_3):
            t_6 = i + 1
            t_7 = i + 2
            for j in range(t_4):
                t_8 = j + 1
                t_9 = j + 2
                for k in range(t_5):
                    t_10 = k + 1
                    t_11 = A_grad[t_6, t_8, t_10]
                    A_grad[t_6, t_8, t_10] = 0.0
                    padded[t_7, t_9, k + 2] = t_11
        for i in range(t):
            t_6 = i + 1
            t_7 = i + 2
            for j in range(t_1):
                t_8 = j + 1
                t_9 = j + 2
                for k in range(t_2):
                    t_10 = padded[t_6, t_8, k + 2] * 0.125
                    t_10 += padded[t_6, t_8, k] * 0.125
                    t_11 = k + 1
                    t_10 += padded[t_6, t_9, t_11] * 0.125
                    t_10 += padded[t_6, j, t_11] * 0.125
                    t_10 += padded[t_7, t_8, t_11] * 0.125
                    t_10 += padded[i, t_8, t_11] * 0.125
                    t_11 = padded[t_6, t_8, t_11]
                    t_12 = t_11 * 0.125
                    t_10 += (-t_12 - t_12 - t_12) * 2.0 + t_11
                    B_grad[i, j, k] += t_10
        for i in range(t_3):
            t_6 = i + 1
            t_7 = i + 2
            for j in range(t_4):
                t_8 = j + 1
                t_9 = j + 2
                for k in range(t_5):
                    t_10 = k + 1
                    t_11 = B_grad[t_6, t_8, t_10]
                    B_grad[t_6, t_8, t_10] = 0.0
                    padded_1[t_7, t_9, k + 2] = t_11
        for i in range(t):
            t_6 = i + 1
            t_7 = i + 2
            for j in range(t_1):
                t_8 = j + 1
                t_9 = j + 2
                for k in range(t_2):
                    t_10 = padded_1[t_6, t_8, k + 2] * 0.125
                    t_10 += padded_1[t_6, t_8, k] * 0.125
                    t_11 = k + 1
                    t_10 += padded_1[t_6, t_9, t_11] * 0.125
                    t_10 += padded_1[t_6, j, t_11] * 0.125
                    t_10 += padded_1[t_7, t_8, t_11] * 0.125
                    t_10 += padded_1[i, t_8, t_11] * 0.125
                    t_11 = padded_1[t_6, t_8, t_11]
                    t_12 = t_11 * 0.125
                    t_10 += (-t_12 - t_12 - t_12) * 2.0 + t_11
                    A_grad[i, j, k] += t_10
    for i in range(t):
        for j in range(t_1):
            for k in range(t_2):
                B_grad[i, j, k] += A_grad[i, j, k]
    return B_grad,


def heat_3d_grad(start, steps):
    """Gradient of heat_3d with respect to start.  Written by symgrad from programs.py:49."""
    try:
        return heat_3d_grad_kernel(start, steps)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return heat_3d_grad_numpy(start, steps)
