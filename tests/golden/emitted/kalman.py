def kalman_grad(motion, noise, seen, error, measurements):
    """Gradient of kalman with respect to motion, noise, error.  Written by symgrad from programs.py:79."""
    t = motion.shape[0]
    state = np.zeros(t)
    spread = np.eye(t)
    t = measurements.shape[0]
    tape = [None] * t
    spread_1 = spread
    state_1 = state
    for i in range(t):
        state_2 = motion @ state_1
        t_1 = motion @ spread_1
        spread_2 = t_1 @ motion.T
        spread_2 += noise
        surprise = seen @ state_2
        np.subtract(measurements[i], surprise, out=surprise)
        t_2 = seen @ spread_2
        innovation = t_2 @ seen.T
        innovation += error
        t_2 = np.linalg.solve(innovation, t_2)
        t_3 = t_2.T
        state_2 += t_3 @ surprise
        t_3 = t_3 @ seen
        spread_3 = t_3 @ spread_2
        np.subtract(spread_2, spread_3, out=spread_3)
        t_4 = np.linalg.solve(innovation, surprise)
        t_5 = np.linalg.det(innovation)
        tape[i] = spread_1, state_1, t_1, spread_2, surprise, innovation, t_2, t_3, t_4, t_5
        spread_1 = spread_3
        state_1 = state_2

    # backward
    spread_grad = np.zeros(spread.shape)
    state_grad = np.zeros(state.shape)
    error_grad = np.zeros(error.shape)
    noise_grad = np.zeros(noise.shape)
    motion_grad = np.zeros(motion.shape)
    motion_grad_columns = []
    motion_grad_rows = []
    for i in reversed(range(t)):                   # 84: for z in measurements:
        spread, state, t, spread_1, surprise, innovation, t_1, t_2, t_3, t_4 = tape[i]
        innovation_grad = cofactors(innovation)    # 92: likelihood -= 0.5 * (surprise @ np.li...
        innovation_grad *= -0.5 / t_4
        surprise_grad = -0.5 * t_3
        t_4 = innovation.T
        t_5 = np.linalg.solve(t_4, -0.5 * surprise)
        innovation_grad -= t_5[:, None] * t_3
        surprise_grad += t_5
        t_grad = -spread_grad                      # 91: spread = spread - gain @ seen @ spread
        spread_grad += t_2.T.dot(t_grad)
        t_1 = t_1.T                                # 90: state = state + gain @ surprise
        t_2 = seen.T                               # 91: spread = spread - gain @ seen @ spread
        t_grad = t_grad.dot(spread_1.T).dot(t_2)
        t_grad += state_grad[:, None] * surprise   # 90: state = state + gain @ surprise
        surprise_grad += state_grad.dot(t_1)
        t_grad = t_grad.T.copy()
        t_3 = np.linalg.solve(t_4, t_grad)         # 89: gain = np.linalg.solve(innovation, se...
        innovation_grad -= t_3.dot(t_1)
        error_grad += innovation_grad              # 88: innovation = seen @ spread @ seen.T +...
        t_grad = innovation_grad.dot(seen)
        t_grad += t_3
        spread_grad += t_2.dot(t_grad)
        state_grad_1 = (-surprise_grad).dot(seen)  # 87: surprise = z - seen @ state
        state_grad_1 += state_grad
        noise_grad += spread_grad                  # 86: spread = motion @ spread @ motion.T +...
        t_grad = spread_grad.dot(motion)
        motion_grad += spread_grad.T.dot(t)
        motion_grad += t_grad.dot(spread.T)
        spread_grad = motion.T.dot(t_grad)
        motion_grad_columns.append(state_grad_1)   # 85: state = motion @ state
        motion_grad_rows.append(state)
        state_grad = state_grad_1.dot(motion)
    add_products(motion_grad, motion_grad_columns, motion_grad_rows)
    return motion_grad, noise_grad, error_grad
