def lstm_grad(weights, bias, initial, inputs, targets):
    """Gradient of lstm with respect to weights, bias, initial.  Written by symgrad from programs.py:29."""
    # forward
    size = initial.shape[0]
    cell = np.zeros(size)
    t_1 = inputs.shape[0]
    tape = [None] * t_1
    t_2 = 2 * size
    t_3 = 3 * size
    cell_1 = cell
    hidden = initial
    for t in range(t_1):
        t_4 = np.concatenate([inputs[t], hidden])
        t_5 = weights @ t_4
        gates = t_5 + bias
        gates_shape = t_5.shape
        t_5 = -gates[:size]
        np.exp(t_5, out=t_5)
        forget = 1.0 + t_5
        np.divide(1.0, forget, out=forget)
        t_6 = -gates[size:t_2]
        np.exp(t_6, out=t_6)
        ingate = 1.0 + t_6
        np.divide(1.0, ingate, out=ingate)
        t_7 = -gates[t_2:t_3]
        np.exp(t_7, out=t_7)
        outgate = 1.0 + t_7
        np.divide(1.0, outgate, out=outgate)
        change = np.tanh(gates[t_3:])
        cell_2 = forget * cell_1
        cell_2 += ingate * change
        t_8 = np.tanh(cell_2)
        tape[t] = cell_1, hidden, t_4, gates_shape, t_5, t_6, t_7, change, t_8
        hidden = outgate * t_8
        cell_1 = cell_2

    # backward
    t_2 = 3 * size                             # 39: outgate = 1.0 / (1.0 + np.exp(-gates[...
    t_3 = 2 * size                             # 38: ingate = 1.0 / (1.0 + np.exp(-gates[s...
    cell_grad = np.zeros(cell.shape)
    hidden_grad = np.zeros(initial.shape)
    bias_grad = np.zeros(bias.shape)
    weights_grad = np.zeros(weights.shape)
    for t in reversed(range(t_1)):             # 35: for t in range(inputs.shape[0]):
        cell, hidden, t_1, gates_shape, t_4, t_5, t_6, change, t_7 = tape[t]
        t_8 = 1.0 + t_6                        # 39: outgate = 1.0 / (1.0 + np.exp(-gates[...
        outgate = 1.0 / t_8
        hidden_1 = outgate * t_7               # 42: hidden = outgate * np.tanh(cell)
        hidden_1 -= targets[t]                 # 43: loss += np.sum((hidden - targets[t])...
        hidden_1 *= 2
        hidden_grad += hidden_1
        outgate_shape = t_6.shape              # 39: outgate = 1.0 / (1.0 + np.exp(-gates[...
        outgate_grad = unbroadcast(hidden_grad * t_7, outgate_shape)  # 42: hidden = outgate * np.tanh(cell)
        t_grad = hidden_grad * outgate
        t_7 = t_7 * t_7
        np.subtract(1, t_7, out=t_7)
        t_grad *= t_7
        cell_grad += t_grad
        t_7 = 1.0 + t_5                        # 38: ingate = 1.0 / (1.0 + np.exp(-gates[s...
        ingate = 1.0 / t_7
        t_grad = unbroadcast(cell_grad, (ingate * change).shape)  # 41: cell = forget * cell + ingate * change
        ingate_shape = t_5.shape               # 38: ingate = 1.0 / (1.0 + np.exp(-gates[s...
        ingate_grad = unbroadcast(t_grad * change, ingate_shape)  # 41: cell = forget * cell + ingate * change
        change_shape = change.shape            # 40: change = np.tanh(gates[3 * size :])
        change_grad = unbroadcast(t_grad * ingate, change_shape)  # 41: cell = forget * cell + ingate * change
        t_9 = 1.0 + t_4                        # 37: forget = 1.0 / (1.0 + np.exp(-gates[:...
        forget = 1.0 / t_9
        forget_shape = t_4.shape
        forget_grad = unbroadcast(cell_grad * cell, forget_shape)  # 41: cell = forget * cell + ingate * change
        cell_grad = cell_grad * forget
        t_grad = change * change               # 40: change = np.tanh(gates[3 * size :])
        np.subtract(1, t_grad, out=t_grad)
        t_grad *= change_grad
        gates_grad = np.zeros(gates_shape)
        gates_grad[t_2:] += t_grad
        outgate /= t_8                         # 39: outgate = 1.0 / (1.0 + np.exp(-gates[...
        outgate *= outgate_grad
        outgate *= t_6
        gates_grad[t_3:t_2] += outgate
        ingate /= t_7                          # 38: ingate = 1.0 / (1.0 + np.exp(-gates[s...
        ingate *= ingate_grad
        ingate *= t_5
        gates_grad[size:t_3] += ingate
        forget /= t_9                          # 37: forget = 1.0 / (1.0 + np.exp(-gates[:...
        forget *= forget_grad
        forget *= t_4
        gates_grad[:size] += forget
        bias_grad += gates_grad                # 36: gates = weights @ np.concatenate((inp...
        weights_grad += gates_grad[:, None] * t_1
        t_grad = gates_grad @ weights
        hidden_grad = concatenate_part(t_grad, [inputs[t], hidden], 1, 0)
        hidden_grad = hidden_grad.copy()
    return weights_grad, bias_grad, hidden_grad
