"""Programs whose recursive functions write to arrays, or assign to variables around them; ``test_recursion_that_writes.py`` runs them.

How deep they go depends on the data, so that none of them is written out.
"""

from __future__ import annotations

#: to be differentiated
RIGHT = {
    "reshaped": """
def h(v, n):
    if n == 0:
        return v[0]
    u = v.reshape(1, -1)
    u[0, 0] *= 0.9
    return h(v, n - 1) + v[1]

def f(x):
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + h(y[::2], int(x[0] * 6.0)) + y @ y
""",
    "quicksort": """
def sort(a, lo, hi):
    if lo < hi:
        p, i = a[hi], lo
        for j in range(lo, hi):
            if a[j] < p:
                a[i], a[j] = a[j], a[i]
                i += 1
        a[i], a[hi] = a[hi], a[i]
        sort(a, lo, i - 1)
        sort(a, i + 1, hi)

def f(x):
    a = x.copy()
    sort(a, 0, len(a) - 1)
    return a @ np.arange(len(a))
""",
    "a tree": """
def visit(w, s, i):
    if i >= len(w):
        return 0.0
    left = visit(w, s, 2 * i + 1)
    right = visit(w, s, 2 * i + 2)
    s[i] = w[i] + np.sin(left) * right
    return s[i]

def f(x):
    s = np.zeros_like(x)
    top = visit(x, s, 0)
    return top + s @ s
""",
    "permutations": """
def permute(a, k, total):
    if k == len(a):
        total[0] += a @ np.arange(len(a)) * a[0]
        return
    for i in range(k, len(a)):
        a[k], a[i] = a[i], a[k]
        permute(a, k + 1, total)
        a[k], a[i] = a[i], a[k]

def f(x):
    a, total = x[:3].copy(), np.zeros(1)
    permute(a, 0, total)
    return total[0] + a[0]
""",
    "halves": """
def smooth(a):
    if len(a) < 2:
        return 1.0
    m = len(a) // 2
    r = smooth(a[:m]) * smooth(a[m:])
    a[0] = a[0] * a[-1]
    return r + a[0]

def f(x):
    y = x * 1.0
    return smooth(y) + y @ y
""",
    "two halves at once": """
def mix(a, b, n):
    if n == 0:
        return
    a[0] += 0.5 * b[-1]
    b[0] *= 0.3 * a[0]
    mix(b, a, n - 1)

def f(x):
    y = np.concatenate([x, x + 1.0])
    k = int(x[0] * 6.0)
    mix(y[:k], y[k:], k)
    return y @ y + y[0]
""",
    "two rows": """
def mix(a, b, n):
    if n == 0:
        return
    a[0] += 0.5 * b[-1]
    b[0] *= 0.3 * a[0]
    mix(b, a, n - 1)

def f(x):
    m = np.outer(x, x)
    mix(m[0], m[2], int(x[0] * 6.0))
    return np.sum(m ** 2)
""",
    "three that call each other": """
def a(v, w, n):
    return v[0] if n == 0 else b(w, v, n - 1) + c(v, w, n - 1)

def b(v, w, n):
    if n <= 0:
        return 1.0
    v[1] += 0.1 * w[0]
    return a(v, w, n - 1) * w[1]

def c(v, w, n):
    if n > 1:
        b(v, w, n - 2)
    w[0] = w[0] * 0.8 + v[-1]
    return w[0]

def f(x):
    y, z = x * 1.0, x * x
    r = a(y, z, int(x[0] * 6.0))
    return r + y @ z + y[0] * z[1]
""",
    "variables around it": """
def f(x):
    count, total = 0, 0.0
    def walk(i, scale):
        nonlocal count, total
        if i >= int(x[0] * 6.0):
            return
        count += 1
        total = total * 0.7 + x[i] * scale
        walk(2 * i + 1, scale * total)
        walk(2 * i + 2, scale + x[0])
    walk(0, 1.0)
    return total * count
""",
    "a variable that has its old value again": """
def f(x):
    s = x[0]
    def h(n):
        nonlocal s
        if n == 0:
            return s
        old = s
        s = x[1] * s
        r = h(n - 1)
        s = old
        return r + s
    return h(int(x[0] * 6.0)) + s
""",
    "a variable of two functions": """
def f(x):
    s = x[0]
    def g(n):
        nonlocal s
        if n == 0:
            return s
        s = s * x[1]
        return h(n - 1) + s
    def h(n):
        nonlocal s
        if n == 0:
            return s * s
        s += x[2]
        return g(n - 1) * 0.5
    return g(int(x[0] * 6.0)) + s + h(int(x[0] * 6.0)) + s
""",
    "an array around two functions": """
def f(x):
    w, u = x * 1.0, x * x
    def g(n):
        if n == 0:
            return w[0]
        w[0] = w[0] * u[1]
        return h(n - 1) + w[1]
    def h(n):
        if n == 0:
            return u[0]
        u[1] = 0.5 * w[0]
        return g(n - 1) * 0.5
    return g(int(x[0] * 6.0)) + h(2) * w[0] + u @ w
""",
    "memory of results": """
MEMO = np.zeros(30)
def fib(n, x):
    if n < 2:
        return x[n]
    if MEMO[n] != 0.0:
        return MEMO[n]
    MEMO[n] = fib(n - 1, x) + 0.5 * fib(n - 2, x)
    return MEMO[n]

def f(x):
    MEMO[:] = 0.0
    return fib(int(x[0] * 6.0) + 3, x) ** 2
""",
    "a local memory of results": """
def fib(n, x, memo):
    if n < 2:
        return x[n]
    if memo[n] == 0.0:
        memo[n] = fib(n - 1, x, memo) + 0.5 * fib(n - 2, x, memo)
    return memo[n]

def f(x):
    memo = np.zeros(30)
    return fib(int(x[0] * 6.0) + 3, x, memo) ** 2 + memo[3]
""",
    "read in one expression before and after": """
def h(v, n):
    if n == 0:
        return v[0]
    v[0] *= 1.1
    return v[0] + h(v, n - 1) * v[0]

def f(x):
    y = x * 1.0
    a = y[0] + h(y, int(x[0] * 6.0)) + y[0]
    b = (y + h(y, 2)) @ (y * 1.0)
    c = y * h(y, 1)
    return a + b + c[0] + h(y, 1) * h(y, 2)
""",
    "the argument itself": """
def h(v):
    if len(v) == 1:
        return np.sin(v[0])
    v[0] = 0.5 * v[0] + 0.2 * v[-1]
    return 0.4 * v[0] + 0.8 * h(v[1:])

def f(x):
    return h(x) + x @ x
""",
    "integers": """
def h(v, k, n):
    if n == 0:
        return v[0] * 1.0
    k[n % len(k)] += 2.7 * n
    v[k[n % len(k)] % len(v)] *= 1.1
    return h(v, k, n - 1) + k[0]

def f(x):
    y, k = x * 1.0, np.array([1, 2, 3])
    return h(y, k, int(x[0] * 6.0)) + y @ y + k[1] * x[0]
""",
    "in a tuple": """
def h(pair, n):
    a, b = pair
    if n == 0:
        return a[0] * b[0]
    a[0] = a[0] + b[1]
    return h((b, a), n - 1) + a[1]

def f(x):
    y, z = x * 1.0, x * x
    return h((y, z), int(x[0] * 6.0)) + y @ z
""",
    "not there": """
def h(v, n, w=None):
    if n == 0:
        return v[0]
    if w is not None:
        w[0] += v[0]
    v[0] *= 0.9
    return h(v, n - 1, w)

def f(x):
    y, z = x * 1.0, x * x
    return h(y, int(x[0] * 6.0)) + h(y, int(x[0] * 6.0), z) + y @ z
""",
    "a handler that is not reached": """
def h(v, n):
    if n < 0:
        raise ValueError("negative")
    if n == 0:
        return v[0]
    v[0] *= 0.9
    return h(v, n - 1)

def f(x):
    y = x * 1.0
    try:
        s = h(y, int(x[0] * 6.0))
    except ValueError:
        s = 5.0
    return s + y @ y
""",
    "a function among the arguments": """
def apply(g, v, n):
    if n == 0:
        return g(v[0])
    v[0] = g(v[0])
    return apply(g, v, n - 1) * 0.5

def f(x):
    c, y = x[1], x * 1.0
    g = lambda t: np.sin(t) * c
    a = apply(g, y, int(x[0] * 6.0))
    c = x[2]
    return a + apply(g, y, 2) + y @ y
""",
    "an array from outside that changes between the calls": """
K = np.array([1.0, 2.0])
def g(v, n):
    return v * K[0] if n == 0 else g(v, n - 1) * K[1]

def f(x):
    K[0] = 1.0
    a = g(x[0], int(x[0] * 6.0))
    K[0] = x[1]
    return a * g(x[0], int(x[0] * 6.0))
""",
    "the new names of an array": """
def h(v, n):
    if n == 0:
        return v
    w = v[1:]
    w[0] = w[0] * v[0]
    v = v * 2.0
    v[0] = w[0]
    w[1:] += 0.1
    return h(v, n - 1)

def f(x):
    y = x * 1.0
    z = h(y, int(x[0] * 6.0))
    return y @ y + z @ z
""",
    "an inner function that writes": """
def f(x):
    def h(v, n):
        def change(k):
            v[k] = v[k] * x[0]
        if n == 0:
            return v[0]
        change(n % len(v))
        return h(v, n - 1) + v[1]
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y
""",
    "a matrix from its corner": """
def h(m, n):
    if n == 0 or len(m) == 1:
        return m[0, 0]
    m[:, 0] *= 0.5
    m[0] += m[-1]
    return h(m[1:, 1:], n - 1) + h(m.T[1:], n - 1)

def f(x):
    m = np.outer(x, x + 1.0)
    return h(m, 2) + np.sum(m * m.T)
""",
    "flood": """
def fill(m, done, i, j):
    if i < 0 or j < 0 or i >= m.shape[0] or j >= m.shape[1] or done[i, j] > 0.0 or m[i, j] < 0.45:
        return 0.0
    done[i, j] = 1.0
    s = m[i, j]
    for a, b in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        s += fill(m, done, i + a, j + b) * 0.9
    m[i, j] = s
    return s

def f(x):
    m = np.outer(x, x)
    done = np.zeros(m.shape)
    return fill(m, done, 0, 0) + np.sum(m) + np.sum(done * m)
""",
    "global counter": """
COUNT = 0
def h(v, n):
    global COUNT
    if n == 0:
        return v[0]
    COUNT += 1
    v[0] = v[0] * 0.9 + COUNT
    return h(v, n - 1) * 0.5

def f(x):
    global COUNT
    COUNT = 0
    y = x * 1.0
    return h(y, int(x[0] * 6.0)) + y @ y * COUNT
""",
    "best of calls": """
def h(w, i, room):
    best = 0.0
    for c in range(i, len(w)):
        if w[c] < room:
            got = w[c] * 1.5 + h(w, c + 1, room - w[c])
            if got > best:
                best = got
    return best

def f(x):
    return h(x, int(x[0]), 1.95)
""",
    "sum of calls": """
def h(v, i):
    r = sum(h(v, c) for c in range(2 * i + 1, min(len(v), 2 * i + 3)))
    v[i] = v[i] + 0.5 * r
    return v[i] ** 2

def f(x):
    y = x * 1.0
    return h(y, int(x[0])) + y @ y
""",
    "matrices that are returned turned": """
def h(m, n):
    if n == 0:
        return m.T
    m[0] *= 0.5
    return h(m, n - 1)

def f(x):
    m = np.outer(x, x + 1.0)
    t = h(m, int(x[0] * 6.0))
    t[0, 1] = 9.0
    return m[1, 0] * x[0] + np.sum(m * t)
""",
    "none around": """
def f(x):
    best = None
    def search(i):
        nonlocal best
        if i < int(x[0] * 6.0):
            if best is None or x[i] > best:
                best = x[i]
            search(i + 1)
    search(int(x[0]))
    return best ** 2 + x[0]
""",
    "merge sort": """
def sort(a):
    if len(a) < 2:
        return
    m = len(a) // 2
    left, right = a[:m].copy(), a[m:].copy()
    sort(left)
    sort(right)
    i = j = 0
    for k in range(len(a)):
        if j >= len(right) or i < len(left) and left[i] < right[j]:
            a[k] = left[i]
            i += 1
        else:
            a[k] = right[j]
            j += 1

def f(x):
    y = x * 1.0
    sort(y)
    return y @ np.arange(1.0, 6.0)
""",
    "gauss": """
def eliminate(A, b, k):
    n = len(b)
    if k == n:
        return
    for i in range(k + 1, n):
        w = A[i, k] / A[k, k]
        A[i, k:] -= w * A[k, k:]
        b[i] -= w * b[k]
    eliminate(A, b, k + 1)
    b[k] = (b[k] - A[k, k + 1:] @ b[k + 1:]) / A[k, k]

def f(x):
    A, b = np.outer(x, x) + np.eye(5), x * 2.0
    eliminate(A, b, 0)
    return b @ b
""",
    "another one that reads what this one writes": """
K = np.array([1.0, 2.0])
def g(v, n):
    return v * K[0] if n == 0 else g(v, n - 1) * K[1]

def h(v, n):
    if n == 0:
        return v
    K[0] = K[0] * 0.9 + g(v, n)
    return h(v, n - 1) + g(v, 1)

def f(x):
    K[0], K[1] = 1.0, 0.5
    return h(x[0], int(x[0] * 6.0)) + K[0]
""",
    "an array from outside, in the function alone": """
K = np.array([1.0, 2.0])
def h(n, s):
    if n == 0:
        return K[0]
    K[0] = 0.9 * K[0] + s
    return K[0] * h(n - 1, s)

def f(x):
    K[0] = 1.0
    return h(int(x[0] * 6.0), x[0]) + K[1] + K[0]
""",
    "rows in a loop": """
def h(v, n):
    if n == 0:
        return v[0]
    v[0] *= 0.9
    return h(v, n - 1)

def f(x):
    m = np.outer(x, x)
    s = 0.0
    for row in m:
        s += h(row, int(x[0] * 6.0))
    for k in range(3):
        s += h(m[k, k:], k)
    return s + np.sum(m ** 2)
""",
    "printing": """
def h(v, n):
    print(n)
    if n == 0:
        return
    v[0] *= 0.9
    h(v, n - 1)
    print(n, "done")

def f(x):
    y = x * 1.0
    h(y, int(x[0] * 6.0))
    return y @ y
""",
    "printing alone": """
def h(n):
    print(n)
    if n > 0:
        h(n - 1)
        print(n, "done")

def f(x):
    h(int(x[0] * 6.0))
    return x @ x
""",
}
