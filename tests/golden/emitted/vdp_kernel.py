@njit(error_model="numpy", cache=True)
def vdp_grad_kernel(x, v, stiffness, h, steps):
    t = steps if steps > 0 else 0
    t_1 = steps - 1
    t_2 = 0.5 * h
    v_tape = new_empty((t,))
    x_tape = new_empty((t,))
    for i in range(steps):
        v_tape[i] = v
        x_tape[i] = x
        middle_x = x + t_2 * v
        middle_v = v + t_2 * (stiffness * (1.0 - x * x) * v - x)
        x += h * middle_v
        t = stiffness * (1.0 - middle_x * middle_x) * middle_v - middle_x
        v += h * t
    v_grad = math.cos(v)
    if not math.isfinite(v):
        raise ArithmeticError
    x_grad = 2 * x
    stiffness_grad = 0.0
    for i in range(t_1, -1, -1):
        t_grad = v_grad * h
        v = v_tape[i]
        x = x_tape[i]
        t = 1.0 - x * x
        t_1 = stiffness * t
        middle_v = v + t_2 * (t_1 * v - x)
        t_grad_1 = t_grad * middle_v
        middle_x = x + t_2 * v
        t_3 = 1.0 - middle_x * middle_x
        middle_v_grad = t_grad * (stiffness * t_3)
        stiffness_grad += t_grad_1 * t_3
        t_grad_1 *= stiffness
        middle_x_grad = t_grad_1 * middle_x * -2 - t_grad
        middle_v_grad += x_grad * h
        t_grad = middle_v_grad * t_2
        x_grad -= t_grad
        t_grad_1 = t_grad * v
        v_grad = v_grad + middle_v_grad + t_grad * t_1
        stiffness_grad += t_grad_1 * t
        t_grad = t_grad_1 * stiffness
        x_grad += t_grad * x * -2
        x_grad += middle_x_grad
        v_grad += middle_x_grad * t_2
    return x_grad, v_grad, stiffness_grad


def vdp_grad(x, v, stiffness, h, steps):
    """Gradient of vdp with respect to x, v, stiffness.  Written by symgrad from programs.py:69."""
    try:
        return vdp_grad_kernel(x, v, stiffness, h, steps)
    except Exception:  # the NumPy code takes over: it raises too, or continues
        return vdp_grad_numpy(x, v, stiffness, h, steps)
