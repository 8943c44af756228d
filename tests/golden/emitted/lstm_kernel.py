@njit(error_model="numpy", cache=True)
def lstm_grad_kernel(weights, bias, initial, inputs, targets):
    t_1 = weights.shape[0]
    t_2 = weights.shape[1]
    t_3 = initial.shape[0]
    t_4 = inputs.shape[0]
    t_5 = inputs.shape[1]
    t_6 = targets.shape[0]
    if t_1 == 1 or t_2 == 1 or t_3 == 1 or t_4 == 1 or t_5 == 1 or t_6 == 1:
        raise ValueError
    if t_3 >= 2147483648:
        raise ValueError
    t_7 = 2 * t_3
    t_8 = 3 * t_3
    t_9 = t_5 + t_3
    if t_2 != t_9:
        raise ValueError
    t_10 = t_4 - 1
    if t_10 >= t_6:
        raise ValueError
    cell = new_zeros((t_3,))
    cell_tape = new_empty((t_4, t_3))
    change_tape = new_empty((t_4, t_3))
    hidden = new_empty((t_3,))
    for i in range(t_3):
        hidden[i] = initial[i]
    t_6 = new_empty((t_1,))
    tape = [new_empty((0,))] * t_4
    tape_1 = new_empty((t_4, t_3))
    tape_2 = new_empty((t_4, t_3))
    tape_3 = new_empty((t_4, t_3))
    tape_4 = new_empty((t_4, t_3))
    for t in range(t_4):
        t_4 = new_empty((t_9,))
        for i in range(t_5):
            t_4[i] = inputs[t, i]
        for i in range(t_3):
            t_4[t_5 + i] = hidden[i]
        for i in range(t_1):
            total = 0.0
            for j in range(t_9):
                total = plus(total, weights[i, j] * t_4[j])
            t_6[i] = total
        tape[t] = t_4
        for i in range(t_3):
            t_4 = vector_exp(-(t_6[i] + bias[i]))
            t_11 = t_3 + i
            t_11 = vector_exp(-(t_6[t_11] + bias[t_11]))
            t_12 = t_7 + i
            t_12 = vector_exp(-(t_6[t_12] + bias[t_12]))
            t_13 = t_8 + i
            t_13 = vector_tanh(t_6[t_13] + bias[t_13])
            t_14 = cell[i]
            t_15 = 1.0 / (1.0 + t_4) * t_14 + 1.0 / (1.0 + t_11) * t_13
            cell[i] = t_15
            t_15 = vector_tanh(t_15)
            cell_tape[t, i] = t_14
            tape_1[t, i] = t_4
            tape_2[t, i] = t_11
            tape_3[t, i] = t_12
            change_tape[t, i] = t_13
            tape_4[t, i] = t_15
            hidden[i] = 1.0 / (1.0 + t_12) * t_15
    cell_grad = new_zeros((t_3,))
    hidden_grad = new_zeros((t_3,))
    bias_grad = new_zeros((t_1,))
    weights_grad = new_zeros((t_1, t_2))
    outgate = new_empty((t_3,))
    ingate = new_empty((t_3,))
    forget = new_empty((t_3,))
    t_grad = new_empty((t_2,))
    for t in range(t_10, -1, -1):
        t_2 = tape[t]
        if t_2.shape[0] != t_9:
            raise ValueError
        cell_grad_1 = new_empty((t_3,))
        gates_grad = new_zeros((t_1,))
        for i in range(t_3):
            t_4 = 1.0 / (1.0 + tape_3[t, i])
            outgate[i] = t_4
            t_6 = tape_4[t, i]
            hidden_grad[i] += 2 * (t_4 * t_6 - targets[t, i])
            t_4 = hidden_grad[i] * t_4 * (1 - t_6 * t_6)
            cell_grad[i] += t_4
            t_4 = 1.0 / (1.0 + tape_2[t, i])
            ingate[i] = t_4
            t_6 = 1.0 / (1.0 + tape_1[t, i])
            forget[i] = t_6
            t_10 = cell_grad[i]
            cell_grad_1[i] = t_10 * t_6
            t_6 = change_tape[t, i]
            gates_grad[t_8 + i] += t_10 * t_4 * (1 - t_6 * t_6)
        for i in range(t_3):
            t_4 = hidden_grad[i] * tape_4[t, i]
            t_6 = tape_3[t, i]
            t_4 = t_4 * (outgate[i] / (1.0 + t_6)) * t_6
            gates_grad[t_7 + i] += t_4
        for i in range(t_3):
            t_4 = cell_grad[i] * change_tape[t, i]
            t_6 = tape_2[t, i]
            t_4 = t_4 * (ingate[i] / (1.0 + t_6)) * t_6
            gates_grad[t_3 + i] += t_4
        for i in range(t_3):
            t_4 = cell_grad[i] * cell_tape[t, i]
            t_6 = tape_1[t, i]
            t_4 = t_4 * (forget[i] / (1.0 + t_6)) * t_6
            gates_grad[i] += t_4
        for i in range(t_9):
            t_grad[i] = 0.0
        for i in range(t_1):
            t_4 = gates_grad[i]
            bias_grad[i] += t_4
            for j in range(t_9):
                weights_grad[i, j] += t_4 * t_2[j]
                t_6 = plus(t_grad[j], t_4 * weights[i, j])
                t_grad[j] = t_6
        for i in range(t_3):
            hidden_grad[i] = t_grad[t_5 + i]
        cell_grad = cell_grad_1
    return weights_grad, bias_grad, hidden_grad


def lstm_grad(weights, bias, initial, inputs, targets):
    """Gradient of lstm with respect to weights, bias, initial.  Written by symgrad from programs.py:31."""
    try:
        return lstm_grad_kernel(weights, bias, initial, inputs, targets)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return lstm_grad_numpy(weights, bias, initial, inputs, targets)
