@njit(error_model="numpy", cache=True)
def kalman_grad_kernel(motion, noise, seen, error, measurements):
    t = motion.shape[0]
    t_1 = motion.shape[1]
    t_2 = noise.shape[0]
    t_3 = noise.shape[1]
    t_4 = seen.shape[0]
    t_5 = seen.shape[1]
    t_6 = error.shape[0]
    t_7 = error.shape[1]
    t_8 = measurements.shape[0]
    t_9 = measurements.shape[1]
    if t == 1 or t_1 == 1 or t_2 == 1 or t_3 == 1 or t_4 == 1 or t_5 == 1 or t_6 == 1 or t_7 == 1 or t_8 == 1 or t_9 == 1:
        raise ValueError
    if t_1 != t or t != t_2 or t_2 != t_3 or t_5 != t_3 or t_9 != t_4 or t_4 != t_6 or t_6 != t_7:
        raise ValueError
    state = new_zeros((t,))
    spread = new_empty((t, t))
    for i in range(t):
        for j in range(t):
            spread[i, j] = np.float64(1.0 if i == j else 0.0)
    spread_tape = new_empty((t_8, t, t))
    state_tape = new_empty((t_8, t))
    spread_tape_1 = new_empty((t_8, t, t))
    surprise_tape = new_empty((t_8, t_9))
    innovation_tape = new_empty((t_8, t_4, t_4))
    state_1 = new_empty((t,))
    spread_1 = new_empty((t_2, t_3))
    innovation = new_empty((t_6, t_7))
    t_10 = new_empty((t, t))
    t_11 = new_empty((t, t))
    t_12 = new_empty((t,))
    t_13 = new_empty((t_4, t_3))
    t_14 = new_empty((t_4, t_4))
    t_15 = new_empty((t_4,))
    t_16 = new_empty((t_4, t_3))
    t_17 = new_empty((t, t_5))
    t_18 = new_empty((t, t_3))
    matrix = new_empty((1, t_4))
    tape = new_empty((t_8, t_4, t))
    t_19 = new_empty((t_4, 1))
    tape_1 = new_empty((t_8, t, t))
    tape_2 = new_empty((t_8, t, t_5))
    tape_3 = new_empty((t_8, t_9))
    tape_4 = new_empty((t_8,))
    for i_1 in range(t_8):
        product_into(t_10, motion, spread)
        product_into(t_11, t_10, motion.T)
        for i in range(t):
            total = 0.0
            for j in range(t):
                total = plus(total, motion[i, j] * state[j])
                spread_1[i, j] = t_11[i, j] + noise[i, j]
            state_1[i] = total
            t_12[i] = 0.0
        product_into(t_13, seen, spread_1)
        product_into(t_14, t_13, seen.T)
        state_2 = new_empty((t_3,))
        spread_2 = new_empty((t_3, t_3))
        for i in range(t_4):
            total = 0.0
            for j in range(t_3):
                total = plus(total, seen[i, j] * state_1[j])
            t_15[i] = total
            for j in range(t_7):
                t_20 = t_14[i, j] + error[i, j]
                innovation[i, j] = t_20
                innovation_tape[i_1, i, j] = t_20
        solution_into(t_16, innovation, t_13)
        product_into(t_17, t_16.T, seen)
        product_into(t_18, t_17, spread_1)
        for i in range(t_7):
            t_20 = measurements[i_1, i] - t_15[i]
            matrix[0, i] = t_20
            surprise_tape[i_1, i] = t_20
            for j in range(t_3):
                t_21 = t_16[i, j]
                t_12[j] = plus(t_12[j], t_21 * t_20)
                tape[i_1, i, j] = t_21
        solution_into(t_19, innovation, matrix.T)
        for i in range(t_3):
            state_2[i] = state_1[i] + t_12[i]
            state_tape[i_1, i] = state[i]
            for j in range(t_3):
                t_20 = spread_1[i, j]
                spread_2[i, j] = t_20 - t_18[i, j]
                spread_tape[i_1, i, j] = spread[i, j]
                tape_1[i_1, i, j] = t_10[i, j]
                spread_tape_1[i_1, i, j] = t_20
                tape_2[i_1, i, j] = t_17[i, j]
        for i in range(t_7):
            tape_3[i_1, i] = t_19[i, 0]
        tape_4[i_1] = determinant(innovation)
        spread = spread_2
        state = state_2
    spread_grad = new_zeros((t, t))
    state_grad = new_zeros((t,))
    error_grad = new_zeros((t_6, t_7))
    noise_grad = new_zeros((t_2, t_3))
    motion_grad = new_zeros((t, t_1))
    t_grad = new_empty((t, t))
    t_grad_1 = new_empty((t, t))
    spread_grad_1 = new_empty((t_5, t))
    t_grad_2 = new_empty((t, t_4))
    surprise_grad = new_empty((t_4,))
    innovation_grad = new_empty((t_7, t_7))
    t_grad_3 = new_empty((t_7, t_5))
    spread_grad_2 = new_empty((t_5, t_5))
    state_grad_1 = new_empty((t_5,))
    t_grad_4 = new_empty((t, t_1))
    motion_grad_1 = new_empty((t, t))
    matrix = new_empty((1, t_9))
    t_2 = new_empty((t_9, 1))
    t_5 = new_empty((t_4, t_4))
    t_6 = new_empty((t, t))
    t, t_4 = new_empty((t_4, t_4)), new_empty((t_4, t))
    for i_1 in range(t_8 - 1, -1, -1):
        t_grad_5 = -0.5 / tape_4[i_1]
        t_8 = innovation_tape[i_1]
        cofactors_into(t, t_8)
        t_9 = t_8.T
        t_10 = spread_tape_1[i_1]
        t_11 = tape_2[i_1]
        t_12 = seen.T
        for i in range(t_7):
            matrix[0, i] = -0.5 * surprise_tape[i_1, i]
            total = 0.0
            for j in range(t_3):
                total = plus(total, state_grad[j] * tape[i_1, i, j])
            surprise_grad[i] = total
        solution_into(t_2, t_9, matrix.T)
        for i in range(t_3):
            for j in range(t_3):
                t_grad[i, j] = -spread_grad[i, j]
        product_into(t_grad_1, t_grad, t_10.T)
        product_into(spread_grad_1, t_11.T, t_grad)
        product_into(t_grad_2, t_grad_1, t_12)
        for i in range(t_3):
            for j in range(t_3):
                spread_grad[i, j] += spread_grad_1[i, j]
            for j in range(t_7):
                t_10 = state_grad[i] * surprise_tape[i_1, j]
                t_grad_2[i, j] += t_10
        solution_into(t_4, t_9, t_grad_2.T)
        t_8 = tape[i_1]
        product_into(t_5, t_4, t_8.T)
        for i in range(t_7):
            for j in range(t_7):
                t_8 = t_grad_5 * t[i, j] - t_2[i, 0] * tape_3[i_1, j]
                t_8 -= t_5[i, j]
                innovation_grad[i, j] = t_8
                error_grad[i, j] += t_8
        product_into(t_grad_3, innovation_grad, seen)
        for i in range(t_7):
            for j in range(t_3):
                t_grad_3[i, j] += t_4[i, j]
        product_into(spread_grad_2, t_12, t_grad_3)
        for i in range(t_3):
            state_grad_1[i] = 0.0
            for j in range(t_3):
                spread_grad[i, j] += spread_grad_2[i, j]
                noise_grad[i, j] += spread_grad[i, j]
        for i in range(t_7):
            for j in range(t_3):
                t_8 = -0.5 * tape_3[i_1, i] + t_2[i, 0] + surprise_grad[i]
                t_8 = plus(state_grad_1[j], -t_8 * seen[i, j])
                state_grad_1[j] = t_8
        product_into(t_grad_4, spread_grad, motion)
        product_into(t_6, spread_grad.T, tape_1[i_1])
        t_8 = spread_tape[i_1]
        product_into(motion_grad_1, t_grad_4, t_8.T)
        spread_grad = new_empty((t_1, t_1))
        product_into(spread_grad, motion.T, t_grad_4)
        for i in range(t_3):
            state_grad_1[i] += state_grad[i]
            for j in range(t_3):
                motion_grad[i, j] += t_6[i, j]
                motion_grad[i, j] += motion_grad_1[i, j]
                t_8 = state_grad_1[i] * state_tape[i_1, j]
                motion_grad[i, j] += t_8
            state_grad[i] = 0.0
        for i in range(t_3):
            for j in range(t_3):
                t_8 = plus(state_grad[j], state_grad_1[i] * motion[i, j])
                state_grad[j] = t_8
    return motion_grad, noise_grad, error_grad


def kalman_grad(motion, noise, seen, error, measurements):
    """Gradient of kalman with respect to motion, noise, error.  Written by symgrad from programs.py:79."""
    try:
        return kalman_grad_kernel(motion, noise, seen, error, measurements)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return kalman_grad_numpy(motion, noise, seen, error, measurements)
