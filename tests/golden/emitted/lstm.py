def lstm_grad(weights, bias, initial, inputs, targets):
    """Gradient of lstm with respect to weights, bias, initial.  Written by symgrad from programs.py:31."""
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
        gates = weights @ t_4
        gates += bias
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
        forget *= cell_1
        ingate *= change
        forget += ingate
        t_8 = np.tanh(forget)
        tape[t] = cell_1, hidden, t_4, t_5, t_6, t_7, change, t_8
        outgate *= t_8
        cell_1 = forget
        hidden = outgate

    # backward
    t_4 = bias.shape                           # 37: for t in range(inputs.shape[0]):
    weights_grad = np.zeros(weights.shape)
    cell_grad = np.zeros(cell.shape)
    hidden_grad = np.zeros(initial.shape)
    bias_grad = np.zeros(t_4)
    weights_grad_columns = []
    weights_grad_rows = []
    for t in reversed(range(t_1)):
        cell, hidden, t_1, t_5, t_6, t_7, change, t_8 = tape[t]
        t_9 = 1.0 + t_7                        # 41: outgate = 1.0 / (1.0 + np.exp(-gates[...
        outgate = 1.0 / t_9
        hidden_1 = outgate * t_8               # 44: hidden = outgate * np.tanh(cell)
        hidden_1 -= targets[t]                 # 45: loss += np.sum((hidden - targets[t])...
        hidden_1 *= 2
        hidden_grad += hidden_1
        outgate_grad = hidden_grad * t_8       # 44: hidden = outgate * np.tanh(cell)
        t_grad = hidden_grad * outgate
        t_8 = t_8 * t_8
        np.subtract(1, t_8, out=t_8)
        t_grad *= t_8
        cell_grad += t_grad
        ingate_grad = cell_grad * change       # 43: cell = forget * cell + ingate * change
        t_8 = 1.0 + t_6                        # 40: ingate = 1.0 / (1.0 + np.exp(-gates[s...
        ingate = 1.0 / t_8
        change_grad = cell_grad * ingate       # 43: cell = forget * cell + ingate * change
        forget_grad = cell_grad * cell
        t_10 = 1.0 + t_5                       # 39: forget = 1.0 / (1.0 + np.exp(-gates[:...
        forget = 1.0 / t_10
        cell_grad = cell_grad * forget         # 43: cell = forget * cell + ingate * change
        t_11 = change * change                 # 42: change = np.tanh(gates[3 * size :])
        np.subtract(1, t_11, out=t_11)
        gates_grad = np.zeros(t_4)
        np.multiply(change_grad, t_11, out=gates_grad[t_3:])
        outgate /= t_9                         # 41: outgate = 1.0 / (1.0 + np.exp(-gates[...
        outgate_grad *= outgate
        np.multiply(outgate_grad, t_7, out=gates_grad[t_2:t_3])
        ingate /= t_8                          # 40: ingate = 1.0 / (1.0 + np.exp(-gates[s...
        ingate_grad *= ingate
        np.multiply(ingate_grad, t_6, out=gates_grad[size:t_2])
        forget /= t_10                         # 39: forget = 1.0 / (1.0 + np.exp(-gates[:...
        forget_grad *= forget
        np.multiply(forget_grad, t_5, out=gates_grad[:size])
        bias_grad += gates_grad                # 38: gates = weights @ np.concatenate((inp...
        weights_grad_columns.append(gates_grad)
        weights_grad_rows.append(t_1)
        t_grad = gates_grad.dot(weights)
        hidden_grad = concatenate_part(t_grad, [inputs[t], hidden], 1, 0)
        hidden_grad = hidden_grad.copy()
    add_products(weights_grad, weights_grad_columns, weights_grad_rows)
    return weights_grad, bias_grad, hidden_grad
