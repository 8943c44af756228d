def vdp_grad(x, v, stiffness, h, steps):
    """Gradient of vdp with respect to x, v, stiffness.  Written by symgrad from programs.py:69."""
    t = 0.5 * h
    tape = [None] * steps
    for i in range(steps):
        middle_x = x + t * v
        middle_v = v + t * (stiffness * (1.0 - x * x) * v - x)
        tape[i] = v, x, middle_v
        x += h * middle_v
        t_1 = stiffness * (1.0 - middle_x * middle_x) * middle_v - middle_x
        v += h * t_1

    # backward
    v_grad = math.cos(v)
    x_grad = 2 * x
    stiffness_grad = 0.0
    for i in reversed(range(steps)):           # 71: for _ in range(steps):
        t_grad = v_grad * h                    # 75: v = v + h * (stiffness * (1.0 - middl...
        v, x, middle_v = tape[i]
        t_grad_1 = t_grad * middle_v
        middle_x = x + t * v                   # 72: middle_x = x + 0.5 * h * v
        t_1 = 1.0 - middle_x * middle_x        # 75: v = v + h * (stiffness * (1.0 - middl...
        middle_v_grad = t_grad * (stiffness * t_1)
        stiffness_grad += t_grad_1 * t_1
        middle_x_grad = t_grad_1 * stiffness * middle_x * -2 - t_grad
        middle_v_grad += x_grad * h            # 74: x = x + h * middle_v
        t_grad = middle_v_grad * t             # 73: middle_v = v + 0.5 * h * (stiffness *...
        x_grad -= t_grad
        t_grad_1 = t_grad * v
        t_1 = 1.0 - x * x
        v_grad = v_grad + middle_v_grad + t_grad * (stiffness * t_1)
        stiffness_grad += t_grad_1 * t_1
        x_grad += t_grad_1 * stiffness * x * -2
        x_grad += middle_x_grad                # 72: middle_x = x + 0.5 * h * v
        v_grad += middle_x_grad * t
    return x_grad, v_grad, stiffness_grad
