"""Programs whose recursive functions write to memory, and may be refused or raise; ``test_recursion_that_writes.py`` runs them.

How deep they go depends on the data, so that none of them is written out.
"""

from __future__ import annotations

#: to be refused: what the refusal says, and the program
REFUSED = {
    "overlapping": (
        "share memory",
        """
def h(a, b, n):
    if n == 0:
        return
    a[0] += 0.5 * b[-1]
    b[0] *= 0.3 * a[0]
    h(a, b, n - 1)

def f(x):
    y = x * 1.0
    h(y[1:], y[:-1], int(x[0] * 6.0))
    return y @ y
""",
    ),
    "the same twice": (
        "share memory",
        """
def h(a, b, n):
    if n == 0:
        return b[0]
    a[0] += 0.5 * b[-1]
    return h(a, b, n - 1) + b[0]

def f(x):
    y = x * 1.0
    return h(y, y, int(x[0] * 6.0)) + y @ y
""",
    ),
    "the same twice, deeper": (
        "share memory",
        """
def h(a, b, n):
    if n == 0:
        return b[0]
    a[0] += 0.5 * b[-1]
    return h(a, a, n - 1) + b[0]

def f(x):
    y, z = x * 1.0, x * x
    return h(y, z, int(x[0] * 6.0)) + y @ z
""",
    ),
    "the argument by another name": (
        "share memory",
        """
def f(x):
    y = x * 1.0
    def h(v, n):
        if n == 0:
            return y[0]
        v[0] *= 0.9
        return y[0] + h(v, n - 1)
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    ),
    "the argument by another name, written to there": (
        "share memory",
        """
def f(x):
    y = x * 1.0
    def h(v, n):
        if n == 0:
            return v[0]
        y[0] *= 0.9
        return v[0] + h(v, n - 1)
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    ),
    "written to by both names": (
        "share memory",
        """
def f(x):
    y = x * 1.0
    def h(v, n):
        if n == 0:
            return 1.0
        if n % 2:
            y[0] *= 0.9
        else:
            v[1] += 0.2
        return h(v, n - 1)
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    ),
    "a part of the argument by another name": (
        "share memory",
        """
def f(x):
    y = x * 1.0
    p = y[1:]
    def h(v, n):
        if n == 0:
            return p[0]
        v[1] *= 0.9
        return p[0] + h(v, n - 1)
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    ),
    "an array from outside": (
        "share memory",
        """
K = np.array([1.0, 2.0])
def h(v, n, s):
    if n == 0:
        return K[0]
    v[0] = 0.9 * v[0] + s
    return K[0] * h(v, n - 1, s)

def f(x):
    K[0] = 1.0
    return h(K, int(x[0] * 6.0), x[0]) + K[1]
""",
    ),
    "a list of any length": (
        "a list that may be bound to another name",
        """
def h(v, out, n):
    if n == 0:
        return
    out.append(v[0] * n)
    h(v[1:], out, n - 1)

def f(x):
    out = [t for t in x]
    h(x, out, int(x[0] * 6.0) - 1)
    return sum(out)
""",
    ),
    "a list of arrays around it": (
        "holds other things than numbers",
        """
def f(x):
    out = []
    def h(n):
        if n == 0:
            return
        out.append(x * n)
        h(n - 1)
    h(int(x[0] * 6.0) - 1)
    return sum(out) @ x
""",
    ),
    "items of a list of arrays": (
        "share memory",
        """
def h(rows, v, n):
    if n == 0:
        return rows[0][0]
    v[0] *= 0.9
    return h(rows, v, n - 1)

def f(x):
    rows = [x * k for k in range(1, int(x[0] * 6.0))]
    return h(rows, rows[0], int(x[0] * 6.0)) + rows[0] @ rows[1]
""",
    ),
    "a list of arrays": (
        "share memory",
        """
def h(rows, n):
    if n == 0:
        return rows[0][0]
    rows[n % 2][0] *= 0.9
    return h(rows, n - 1)

def f(x):
    rows = [x * k for k in range(1, int(x[0] * 6.0))]
    return h(rows, int(x[0] * 6.0)) + rows[0] @ rows[1]
""",
    ),
    "an array variable around it": (
        "not a number",
        """
def f(x):
    w = x * 1.0
    def h(n):
        nonlocal w
        if n == 0:
            return w[0]
        w = w * 0.9
        return h(n - 1) + w[1]
    return h(int(x[0] * 6.0)) + w @ w
""",
    ),
    "the results are one array": (
        "share memory",
        """
def g(v, n):
    if n == 0:
        a = v * 2
        return a, a
    return g(v, n - 1)

def f(x):
    a, b = g(x, int(x[0] * 6.0))
    a[0] = 5.0
    return b[0] * x[0]
""",
    ),
    "an array around it is returned and written to": (
        "share memory",
        """
def f(x):
    w = x * 2
    def g(n):
        return w if n == 0 else g(n - 1)
    u = g(int(x[0] * 6.0))
    u[0] = 5.0
    return w[0] + x[1]
""",
    ),
    "read-only": (
        "read-only",
        """
def h(v, n):
    if n == 0:
        return v[0]
    v[0] = 2.0
    return h(v, n - 1)

def f(x):
    y = np.broadcast_to(x[0], (3,))
    return h(y, int(x[0] * 6.0)) + y[0]
""",
    ),
    "an exception on some paths": (
        "was raised where",
        """
def h(v, n):
    v[0] *= 0.9
    if n == 0:
        return 1.0
    if v[0] < 0.6:
        raise ValueError("end")
    return h(v, n - 1) + 1.0

def f(x):
    y, s = x * 1.0, 1.0
    try:
        s = h(y, int(x[0] * 6.0))
    except ValueError:
        s = 2.0
    return s + y @ y
""",
    ),
    "a default": (
        "an array from outside",
        """
def h(n, v=np.ones(3)):
    if n == 0:
        return v[0]
    v[0] *= 0.9
    return h(n - 1)

def f(x):
    return h(int(x[0] * 6.0)) * x[0] + x[1]
""",
    ),
    "a stale array around it": (
        "share memory",
        """
def f(x):
    y = x * 1.0
    z = y if x[0] > 0.6371 else y * 1.0
    def h(n):
        if n == 0:
            return z[0]
        y[0] *= 0.9
        return h(n - 1)
    return h(int(x[0] * 6.0)) + y @ y
""",
    ),
    "a result that is one of two": (
        "share memory",
        """
def h(v, n):
    if n == 0:
        return v if v[0] > 0.6371 else v * 1.0
    v[1] *= 0.9
    return h(v, n - 1)

def f(x):
    y = x * 1.0
    r = h(y, int(x[0] * 6.0))
    r[0] = 3.0
    return r[0] + y @ y
""",
    ),
    "handled, and not read": (
        "was raised where",
        """
def fill(v, i):
    if i > 10:
        return
    v[i] = 1.0
    fill(v, i + 1)

def f(x):
    y = x * 1.0
    try:
        fill(y, int(x[0]))
    except IndexError:
        return y @ y
    return x @ x
""",
    ),
}
#: where Python raises
RAISING = {
    "an index that is out of range, not read": """
def check(v, i):
    if i > 10:
        return
    t = v[i] * 2.0
    check(v, i + 1)

def f(x):
    check(x, int(x[0]))
    return x @ x
""",
    "a result that is not read": """
def check(v, i):
    if i > 10:
        return 0.0
    return v[i] + check(v, i + 1)

def f(x):
    check(x, int(x[0]))
    return x @ x
""",
    "a store that is not read": """
def fill(v, i):
    if i > 10:
        return
    v[i] = 1.0
    fill(v, i + 1)

def f(x):
    y = x * 1.0
    fill(y, int(x[0]))
    return x @ x
""",
    "raises in one that returns nothing": """
def check(v, i):
    if i >= len(v):
        return
    if v[i] < 0.5:
        raise ValueError("small")
    check(v, i + 1)

def f(x):
    check(x, int(x[0]))
    return x @ x
""",
}
#: right, or refused
NEVER_WRONG = {
    "one of two": """
def h(v, n):
    if n == 0:
        return v[0]
    u = v if v[0] > 0.6371 else v * 1.0
    u[1] *= 0.9
    return h(v, n - 1) + v[1]

def f(x):
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    "one of two arrays": """
def h(a, b, n):
    if n == 0:
        return a[0]
    u = a if a[0] > 0.6371 else b
    u[1] *= 0.9
    return h(a, b, n - 1) + b[1]

def f(x):
    y, z = x * 1.0, x * x
    return h(y, z, int(x[0] * 6.0)) + y @ z
""",
    "the results are one array, used before": """
def g(v, n):
    if n == 0:
        a = v * 2
        return a, a[1:]
    return g(v, n - 1)

def f(x):
    a, b = g(x, int(x[0] * 6.0))
    s = b @ b
    a[1] = 5.0
    return s + a @ a
""",
    "masks": """
def h(v, n):
    if n == 0:
        return v[0]
    v[v > 0.6371] *= 0.9
    return h(v[v > 0.3], n - 1) + v[0]

def f(x):
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    "index arrays": """
def h(v, n):
    if n == 0:
        return v[0]
    w = v[np.array([1, 0, 2])]
    w[0] *= 0.9
    v[np.array([0, 0, 1])] += 0.1
    return h(w, n - 1) + v[0]

def f(x):
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    "held while it is called": """
def h(v, n):
    if n == 0:
        return v[0]
    v[0] *= 0.9
    return h(v, n - 1)

def f(x):
    y = x * 1.0
    items = [y, y[1:], (y, 1.0)]
    s = h(items[0], int(x[0] * 6.0))
    t = h(items[1], int(x[0] * 6.0))
    return s + t + items[2][0] @ y + sum(items[1])
""",
    "in an instance": """
class Box:
    def __init__(self, v):
        self.v = v

def h(v, n):
    if n == 0:
        return v[0]
    v[0] *= 0.9
    return h(v, n - 1)

def f(x):
    b = Box(x * 1.0)
    c = Box(b.v)
    s = h(b.v, int(x[0] * 6.0))
    return s + c.v @ b.v
""",
    "a comparison of results": """
def h(v, n):
    if n == 0:
        return v
    v[0] *= 0.9
    return h(v, n - 1)

def f(x):
    y = x * 1.0
    r = h(y, int(x[0] * 6.0))
    return (2.0 if r is y else 1.0) * r[0]
""",
    "finally": """
def h(v, n):
    if n == 0:
        return v[0]
    try:
        return h(v, n - 1)
    finally:
        v[0] *= 0.9

def f(x):
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    "whole as it was": """
def f(x):
    total = 3
    def walk(i):
        nonlocal total
        if i < int(x[0] * 6.0):
            if x[i] > 5.0:
                total += 1.5
            walk(i + 1)
    walk(int(x[0]))
    print(total, total // 2, 10 ** total)
    return x[0] * total + x[total]
""",
    "deleted": """
def f(x):
    total = 1.0
    def h(n):
        nonlocal total
        if n == 0:
            return 1.0
        old = total
        del total
        total = old * x[0]
        return h(n - 1)
    return h(int(x[0] * 6.0)) * total
""",
    "another size each time": """
def h(v, n):
    if n == 0:
        return np.sum(v)
    v[0] *= 0.9
    w = np.concatenate([v, v[:1]])
    return h(w, n - 1) + w[0] + v[0]

def f(x):
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    "conditional expression of calls": """
def h(v, n):
    if n == 0:
        return v[0]
    v[0] *= 0.9
    return (h(v, n - 1) if v[0] > 0.5371 else h(v[1:], n - 1)) + (v[0] > 0.3 and h(v, 0) or v[1])

def f(x):
    y = np.concatenate([x, x])
    return h(y, int(x[0] * 6.0)) + y @ y
""",
}
