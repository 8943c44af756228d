"""More programs that are refused, as in ``ways_out``: statements, arrays that may share memory, arguments of NumPy and SciPy."""

from __future__ import annotations

from ways_out import ARGUMENT, NONE, SYNTAX, TYPE, expression, way

ALIAS = "UnsureAlias"


def of_array(name: str, error: str, hint: str, old: str, new: str, runs: bool = True) -> None:
    """Enter an expression of x, an array, which is summed, and the one to which the hint leads."""
    way(name, error, hint, f"def f(x):\n    return np.sum({old}) + x[0] * x[1]\n", (old, new), runs=runs)


# ------------------------------------------------------------------ statements, and arrays that may share memory

way("eval in a loop", SYNTAX,
    "write (v * v) in its place", """
def f(x):
    total = 0.0
    for v in x:
        total += eval("v * v")
    return total
""",
    ('eval("v * v")', "(v * v)"))  # fmt: skip
way("eval of a global variable", SYNTAX,
    "write K in its place", """
K = 3.0

def f(a):
    return a * a * eval("K")
""",
    ('eval("K")', "K"))  # fmt: skip
way("eval of a call", SYNTAX,
    "write math.sin(a) in its place", """
def f(a):
    return eval("math.sin(a)") * a
""",
    ('eval("math.sin(a)")', "math.sin(a)"))  # fmt: skip
way("exec of an assignment", SYNTAX,
    "write k = 2.0 in its place", """
def f(a):
    exec("k = 2.0")
    return a * a
""",
    ('exec("k = 2.0")', "k = 2.0"))  # fmt: skip
way("globals asked with a default", SYNTAX,
    "name the variable itself, or pass it as an argument", """
K = 3.0

def f(a):
    return a * a * globals().get("K", 1.0)
""",
    ('globals().get("K", 1.0)', "K"))  # fmt: skip
way("a name among the local variables", SYNTAX,
    "write {'a': a, 'b': b} in its place", """
def f(a):
    b = 2.0
    return a * a if "b" in locals() else a
""",
    ("locals()", "{'a': a, 'b': b}"))  # fmt: skip
way("how many local variables", SYNTAX,
    "write {'a': a, 'b': b, 'c': c} in its place", """
def f(a):
    b, c = 1, 2
    return a * a * len(locals())
""",
    ("locals()", "{'a': a, 'b': b, 'c': c}"))  # fmt: skip
way("local variables in a format", SYNTAX,
    "write {'a': a, 'b': b} in its place", """
def f(a):
    b = 2.0
    return a * a * len("{b}".format(**locals()))
""",
    ("locals()", "{'a': a, 'b': b}"))  # fmt: skip
way("a list that is an argument on some paths", SYNTAX,
    "write numbers.copy() in line 2", """
def f(x, numbers):
    held = numbers
    if x[0] > 2.0:
        held = list(numbers)
    held += [x[0]]
    return sum(v * v for v in held) * x[1]
""",
    ("held = numbers\n", "held = numbers.copy()\n"))  # fmt: skip
DIAGONALS = [
    ("ijj->ij", "y[:, k, k]", "1", "", ":, 0", ":, 0"),
    ("iji->ij", "y[k, :, k]", "0", "", "0, :", "0, :"),
    ("ijj->ji", "y[:, k, k]", "1", " and the axes of the value in the order 'ij'", "0, :", ":, 0"),
    ("iji->ji", "y[k, :, k]", "0", " and the axes of the value in the order 'ij'", "0, :", ":, 0"),
]
for _subscripts, _place, _axis, _order, _read, _direct in DIAGONALS:
    way(f"a store to the diagonal {_subscripts}", ALIAS, f"store to {_place}, with k = np.arange(y.shape[{_axis}]){_order}", f"""
def f(x):
    y = np.outer(np.outer(x, x), x).reshape(4, 4, 4)
    d = np.einsum('{_subscripts}', y)
    d[{_read}] = x * x
    return np.sum(y * y)
""",
        (f"    d = np.einsum('{_subscripts}', y)\n    d[{_read}] = x * x",
         f"    k = np.arange(y.shape[{_axis}])\n    d = {_place}\n    d[{_direct}] = x * x\n    {_place} = d"))  # fmt: skip
way("the stack", SYNTAX,
    "pass the text or number that you need of its result as an argument", """
import inspect

def f(a):
    return a * a * (2 if inspect.stack()[0].function == "f" else 3)
""",
    ("def f(a):", "def f(a, name='f'):"),
    ("inspect.stack()[0].function", "name"))  # fmt: skip
way("a kept function that prints", SYNTAX,
    "leave functools.lru_cache out, or call the function before", """
import functools

@functools.lru_cache
def scale(k):
    print("computing")
    return 2.0 * k

def f(a, n):
    return a * a * scale(n)
""",
    ("@functools.lru_cache\n", ""))  # fmt: skip
way("a yield from inside of an expression", SYNTAX,
    "assign it first, as in value = yield from steps(a)", """
def steps(a):
    yield a
    return 10 * a

def f(a):
    def outer():
        r = 2 * (yield from steps(a))
        yield r * a
    return sum(outer())
""",
    ("        r = 2 * (yield from steps(a))\n", "        value = yield from steps(a)\n        r = 2 * value\n"))  # fmt: skip
way("next of one of two generators", TYPE,
    "choose between two lists, and make one iterator of that, as in iter([*p] if c else [*q])", """
def squares(x):
    for v in x:
        yield v * v

def f(x):
    it = squares(x) if x[1] > 0 else squares(x)
    return next(it) * next(it)
""",
    ("squares(x) if x[1] > 0 else squares(x)", "iter([*squares(x)] if x[1] > 0 else [*squares(x)])"))  # fmt: skip
way("a class with a __getattribute__", SYNTAX,
    "use properties", """
class A:
    def __init__(self, p):
        self.p = p
    def __getattribute__(self, name):
        return object.__getattribute__(self, name) * 3

def f(a):
    return A(a).p * a
""",
    ("    def __getattribute__(self, name):\n"
     "        return object.__getattribute__(self, name) * 3\n",
     "    @property\n    def q(self):\n        return self.p * 3\n"),
    ("A(a).p", "A(a).q"))  # fmt: skip
way("a number in a format", NONE,
    "use the number itself, or a list or tuple of numbers", """
def f(a):
    return float("%.17g" % (a * 1.1)) * a
""",
    ('float("%.17g" % (a * 1.1))', "(a * 1.1)"))  # fmt: skip
way("whether it is an array", TYPE,
    "test it before the paths join, or pass it as an argument", """
def f(x):
    v = x if x[0] > 0 else 2.0
    return np.sum(x * x) * (2 if isinstance(v, np.ndarray) else 3)
""",
    ("    v = x if x[0] > 0 else 2.0\n", "    is_array = True if x[0] > 0 else False\n"),
    ("isinstance(v, np.ndarray)", "is_array"))  # fmt: skip
way("the type of a number of two classes", TYPE,
    "convert it to one class, for example with float", """
def f(x):
    v = x[0] if x[1] > 0 else 1.0
    return x[0] * x[0] * (2 if type(v) is float else 3)
""",
    ("x[0] if x[1]", "float(x[0]) if x[1]"), runs=False)  # fmt: skip
way("a class made by type", SYNTAX,
    "define the class outside the function", """
def f(a):
    C = type("C", (), {"k": 2.0})
    return a * a * C.k
""",
    ('def f(a):\n    C = type("C", (), {"k": 2.0})\n', "class C:\n    k = 2.0\n\ndef f(a):\n"))  # fmt: skip
way("a view or a copy", ALIAS,
    "write x[::-1].reshape(2, 2).copy() in line 3", """
def f(x):
    v = x[::-1].reshape(2, 2).ravel()
    y = x[::-1].reshape(2, 2)
    w = y.T.ravel()
    w[0] = 0.0
    return np.sum(y * y) + np.sum(v * v) + w[1]
""",
    ("x[::-1].reshape(2, 2)\n    w = y.T.ravel()", "x[::-1].reshape(2, 2).copy()\n    w = y.T.ravel().copy()"), runs=False)  # fmt: skip
way("a view of an array that a loop replaces", ALIAS,
    "write y[1:].copy() in line 3 and y[1:].copy() in line 9", """
def f(x):
    y, s = x * 2.0, 0.0
    q = y[1:]
    while s < x[2]:
        s += 0.6
        q[0] = q[0] + 2.0
        if x[0] > 0.0:
            y = np.sin(y)
            q = y[1:]
        y[1] += 0.5
    return np.sum(q) * y[0]
""",
    ("q = y[1:]", "q = y[1:].copy()"), runs=False)  # fmt: skip
way("a store to a matrix that is reshaped", ALIAS,
    "write y.reshape(-1).copy() in line 3", """
def f(x):
    y = np.outer(x, x)[:, ::-1] if x[0] > 5.0 else np.outer(x, x)
    y.reshape(-1)[:] = y[0, 0] * np.arange(16.0)
    return np.sum(y * y)
""",
    ("y.reshape(-1)[:]", "y.reshape(-1).copy()[:]"), runs=False)  # fmt: skip
way("one list in all places of another", ALIAS,
    "write [[0.1] * 3 for _ in range(len(s))] in line 3", """
def f(x):
    s = [v for v in x * x if v > 0.0]
    g = [[0.1] * 3] * len(s)
    k = 0
    while k < len(s):
        g[k][1] = g[k - 1][0] * x[k]
        k += 1
    return g[-1][1] * x[0]
""",
    ("[[0.1] * 3] * len(s)", "[[0.1] * 3 for _ in range(len(s))]"), runs=False)  # fmt: skip
way("two views that are swapped in a loop", ALIAS,
    "write y[1:].copy() in line 3 and v.copy() in line 6 and u.copy() in line 6", """
def f(x):
    y, z = x * 2.0, x * 3.0
    u, v = y[1:], z[1:]
    while u[0] * u[0] < 9.0:
        u[0] = u[0] * 1.5 + v[1]
        u, v = v, u
    return np.sum(y * z) + u[0]
""",
    ("u, v = y[1:], z[1:]", "u, v = y[1:].copy(), z[1:]"),
    ("u, v = v, u", "u, v = v.copy(), u.copy()"), runs=False)  # fmt: skip
way("an array that a called function replaces in a loop", ALIAS,
    "write x.copy() in line 15", """
def grow(v, s):
    k = 0
    while s < 3.0 and k < 5:
        k += 1
        s = s + 1.0
        if s > 2.0:
            v = v * 0.5
        else:
            v[0] = s * v[1]

def f(x, a):
    total = 0.0
    for i in range(3):
        total += np.sum(x)
        grow(x, a)
    return total + np.sum(x * x)
""",
    ("grow(x, a)", "grow(x.copy(), a)"), runs=False)  # fmt: skip
way("np.vectorize of a function that returns integers", ARGUMENT,
    "return floats only, 0.0 instead of 0", """
def f(x):
    return np.sum(np.vectorize(lambda v: 0 if v < 0 else v * v)(x))
""",
    ("0 if", "0.0 if"), runs=False)  # fmt: skip
way("apply_along_axis of a function that returns integers", ARGUMENT,
    "return floats only, 0.0 instead of 0", """
def f(x):
    return np.sum(np.apply_along_axis(lambda r: 0 if r[0] < 0 else r[1] * r[0], 1, x.reshape(2, 2)))
""",
    ("0 if", "0.0 if"), runs=False)  # fmt: skip
way("an array of bools", "CastStore",
    "make the array float, for example dtype=float", """
def f(x):
    y = np.array([True, False])
    y[0] = x[0]
    return y.sum() * x[1] * x[2]
""",
    ("np.array([True, False])", "np.array([True, False], dtype=float)"), runs=False)  # fmt: skip
way("a view that is read only", SYNTAX,
    "write to a copy", """
def f(x):
    y = np.broadcast_to(x[:1] * 2.0, (3,))
    y[0] = 1.0
    return np.sum(y * y)
""",
    ("np.broadcast_to(x[:1] * 2.0, (3,))", "np.broadcast_to(x[:1] * 2.0, (3,)).copy()"), runs=False)  # fmt: skip
way("a global variable that is deleted", SYNTAX,
    "bind it to None instead", """
K = 2.0

def f(a):
    global K
    del K
    return a * a
""",
    ("    del K\n", "    K = None\n"))  # fmt: skip
way("a raise without an exception", SYNTAX,
    "name the exception", """
def f(a):
    if a < 0:
        raise
    return a * a
""",
    ("raise", "raise ValueError"))  # fmt: skip
way("what is raised is a text", SYNTAX,
    "raise an exception, as in raise ValueError('negative')", """
def f(a):
    if a < 0:
        raise "negative"
    return a * a
""",
    ('raise "negative"', 'raise ValueError("negative")'))  # fmt: skip
way("errors of NumPy that are raised", SYNTAX,
    "write with np.errstate(all='ignore'):", """
def f(a):
    with np.errstate(divide="raise"):
        return np.log(a) * a
""",
    ('divide="raise"', "all='ignore'"))  # fmt: skip
way("a context manager that yields in a loop", SYNTAX,
    "use a class of your own with __enter__ and __exit__, or put the with around the call of the derivative", """
import contextlib

@contextlib.contextmanager
def scaled(k):
    for _ in range(1):
        yield k

def f(a):
    with scaled(2.0) as k:
        return a * a * k
""",
    ("    for _ in range(1):\n        yield k\n", "    yield k\n"))  # fmt: skip
way("a custom_vjp without its functions", NONE,
    "call g.defvjp(forward, backward)", """
@symgrad.custom_vjp
def g(v):
    return v * v

def f(a):
    return g(a) * a
""",
    ("def f(a):", "g.defvjp(lambda v: (v * v, v), lambda v, t: (2 * v * t,))\n\ndef f(a):"), runs=False)  # fmt: skip
way("a custom_jvp without its rule", NONE,
    "decorate the rule with @g.defjvp", """
@symgrad.custom_jvp
def g(v):
    return v * v

def f(a):
    return g(a) * a
""",
    ("def f(a):",
     "@g.defjvp\n"
     "def rule(primals, tangents):\n"
     "    return primals[0] ** 2, 2 * primals[0] * tangents[0]\n"
     "\n"
     "def f(a):"), runs=False)  # fmt: skip
way("a key that nobody has set", SYNTAX,
    "set it before, or use get('q', 0.0)", """
def f(a):
    held = {"p": a}
    held["q"] *= a
    return held["p"] * a
""",
    ('held["q"] *= a', "held[\"q\"] = held.get('q', 0.0) * a"), runs=False)  # fmt: skip
way("complex numbers in a function that calls itself", NONE,
    "write it as a loop", """
def power(z, k):
    return z if k < 2 else z * power(z, k - 1)

def f(a, n):
    return abs(power(a + 1j, n))
""",
    ("    return z if k < 2 else z * power(z, k - 1)",
     "    w = z\n    for _ in range(k - 1):\n        w = w * z\n    return w"))  # fmt: skip
way("a match of more than a class has", SYNTAX,
    "write as many as its __match_args__: v", """
import dataclasses

@dataclasses.dataclass
class P:
    v: float

def f(a):
    match P(a):
        case P(v, w):
            return v * w
    return a * a
""",
    ("P(v, w)", "P(v)"),
    ("v * w", "v * v"), runs=False)  # fmt: skip
way("an attribute that a class does not have", SYNTAX,
    "nearest known: k", """
class A:
    k = 2.0

def f(a):
    return a * a * A.kk
""",
    ("A.kk", "A.k"), runs=False)  # fmt: skip
way("a bound method as a number", SYNTAX,
    "add () to call it, or read it in a function of its own, declared with symgrad.constant or rule", """
def f(x):
    return x.sum * x[0]
""",
    ("x.sum", "x.sum()"), runs=False)  # fmt: skip
way("ravel of an array by columns", ALIAS,
    "write y.ravel().copy() in line 3", """
def f(x):
    y = (x.reshape(2, 2) * 2.0)[:, ::-1]
    v = y.ravel()
    v[0] = 1.0
    w = y.T.reshape(-1)
    w[1] = 5.0
    return np.sum(y * y)
""",
    ("y.ravel()", "y.ravel().copy()"),
    ("y.T.reshape(-1)", "y.T.reshape(-1).copy()"), runs=False)  # fmt: skip
way("a transposed array that is reshaped", ALIAS,
    "write z.reshape(-1).copy() in line 4", """
def f(x, n):
    y = x.reshape(2, 2) * 2.0
    z = y.T if n > 3 else y
    z.reshape(-1)[:] = 1.0
    return np.sum(y * y) + np.sum(x * x)
""",
    ("z.reshape(-1)[:]", "z.reshape(-1).copy()[:]"), runs=False)  # fmt: skip
way("raise of a number", SYNTAX,
    "raise an exception, as in raise ValueError(3)", """
def f(a):
    if a < 0:
        raise 3
    return a * a
""",
    ("raise 3", "raise ValueError(3)"))  # fmt: skip
way("a loop whose length may be endless", SYNTAX,
    "iterate over it in a for statement that breaks", """
def steps(a):
    while True:
        yield a
        a = a * 0.5

def f(a):
    return sum(list(steps(a))[:3])
""",
    ("    return sum(list(steps(a))[:3])",
     "    total, k = 0.0, 0\n"
     "    for v in steps(a):\n"
     "        total, k = total + v, k + 1\n"
     "        if k == 3:\n"
     "            break\n"
     "    return total"), runs=False)  # fmt: skip

# ------------------------------------------------------------------ expressions of numbers

expression("np.ndindex of five", SYNTAX, "write the loops one by one",
    "sum(a * a for _ in np.ndindex(1, 1, 1, 1, 2))",
    "sum(a * a for _ in range(1) for _ in range(1) for _ in range(1) for _ in range(1) for _ in range(2))")  # fmt: skip
expression("a gradient with strict inside", SYNTAX, "leave it out here, and pass it to the outer derivative",
    "symgrad.grad(lambda v: v * v * b, strict=True)(a)", "symgrad.grad(lambda v: v * v * b)(a)")  # fmt: skip
expression("a compiled gradient inside", SYNTAX, "leave it out here, and pass it to the outer derivative",
    "symgrad.grad(lambda v: v * v * b, jit=True)(a)", "symgrad.grad(lambda v: v * v * b)(a)")  # fmt: skip
expression("checkpoint of what is no function", SYNTAX, "pass the function itself: checkpoint(f)(x)",
    "symgrad.checkpoint(a * b)(a)", "symgrad.checkpoint(lambda v: v * b)(a)", runs=False)  # fmt: skip
expression("a keyword of max", ARGUMENT, "leave largest out",
    "max([a, b], largest=2.0) ** 2", "max([a, b]) ** 2", runs=False)  # fmt: skip
expression("objects in order", NONE, "split it into real and imaginary part",
    "sorted([complex(a), complex(b)])[0].real", "sorted([a, b])[0]", runs=False)  # fmt: skip
expression("vars of what is not made here", SYNTAX, "name the attributes",
    "vars(np)['pi'] * a * a", "np.pi * a * a")  # fmt: skip
expression("range of floats", ARGUMENT, "write int(3.0)",
    "sum(a * k for k in range(int(b), 3.0))", "sum(a * k for k in range(int(b), int(3.0)))", runs=False)  # fmt: skip
expression("a gradient that is checked inside", SYNTAX, "leave it out here, and pass it to the outer derivative",
    "symgrad.vjp(lambda v: v * v * b, a, verify=False)[1](1.0)[0]",
    "symgrad.vjp(lambda v: v * v * b, a)[1](1.0)[0]")  # fmt: skip
expression("the keyword of a batch", SYNTAX, "leave axis_size= out",
    "symgrad.vmap(lambda v: v * b, axis_size=3)(np.array([a, b])).sum()",
    "symgrad.vmap(lambda v: v * b)(np.array([a, b])).sum()", runs=False)  # fmt: skip
expression("a mode that is none", "BadArgument", 'mode is "auto", "reverse" or "forward"',
    "symgrad.jacobian(lambda v: np.array([v * b]), mode='both')(a)[0]",
    "symgrad.jacobian(lambda v: np.array([v * b]), mode='auto')(a)[0]", runs=False)  # fmt: skip
expression("the seed of a pullback is missing", SYNTAX, "pass it the seed, as in pullback(1.0)",
    "symgrad.vjp(lambda v: v * v, a)[1]()[0]", "symgrad.vjp(lambda v: v * v, a)[1](1.0)[0]", runs=False)  # fmt: skip
expression("tangents that are no tuple", "BadArgument", "jvp(f, (x,), (dx,))",
    "symgrad.jvp(lambda v: v * v * b, a, 1.0)[1]", "symgrad.jvp(lambda v: v * v * b, (a,), (1.0,))[1]", runs=False)  # fmt: skip
expression("a parameter that there is not inside", "BadArgument", "its arguments are v",
    "symgrad.grad(lambda v: v * v, wrt='w')(a)", "symgrad.grad(lambda v: v * v, wrt='v')(a)", runs=False)  # fmt: skip
expression("a gradient of an array inside", "NotScalar", "sum the output, or use symgrad.jacobian or symgrad.vjp",
    "symgrad.grad(lambda v: v * np.ones(2))(a)", "symgrad.grad(lambda v: (v * np.ones(2)).sum())(a)", runs=False)  # fmt: skip
expression("random numbers of an unknown generator", SYNTAX,
    "replace it by statements of your own, or call it before and pass the result",
    "a * np.random.default_rng().bit_generator.random_raw() * 0 + a * a", "a * a", runs=False)  # fmt: skip
expression("the largest of rows", SYNTAX, "use np.max or np.min",
    "max(np.array([[a, b], [b, a]]))[0]", "np.max(np.array([[a, b], [b, a]]))", runs=False)  # fmt: skip
expression("a yield in a lambda", SYNTAX, "return a list",
    "sum((lambda: (yield a))()) * a", "sum((lambda: [a])()) * a")  # fmt: skip
expression("an index that does not exist", SYNTAX, "its indices are 0 to 1",
    "[a, b][5] * a", "[a, b][1] * a", runs=False)  # fmt: skip

# ------------------------------------------------------------------ expressions of arrays

of_array("np.insert at a list", ARGUMENT, "write the place alone",
    "np.insert(x, [1], x[:2])", "np.insert(x, 1, x[:2])")  # fmt: skip
of_array("coefficients that begin with zero", ARGUMENT, "take them off with np.trim_zeros(p, 'f')",
    "np.polymul(np.array([0.0, 1.0, 0.5]), x) ** 2",
    "np.polymul(np.trim_zeros(np.array([0.0, 1.0, 0.5]), 'f'), x) ** 2")  # fmt: skip
of_array("the cross product of vectors of two", ARGUMENT, "for two write p[0] * q[1] - p[1] * q[0]",
    "np.cross(x[:2], x[2:]) * 2", "(x[0] * x[3] - x[1] * x[2]) * 2", runs=False)  # fmt: skip
of_array("an array of repetitions", ARGUMENT, "give the repetitions as a tuple of integers",
    "np.tile(x, np.array([1, 2])) ** 2", "np.tile(x, (1, 2)) ** 2")  # fmt: skip
of_array("blocks three deep", ARGUMENT, "write np.array, of numbers",
    "np.block([[[x[0]], [x[1]]]]) ** 2", "np.array([[[x[0]], [x[1]]]]) ** 2")  # fmt: skip
of_array("copy of nan_to_num", ARGUMENT, "leave copy out",
    "np.nan_to_num(x * 2.0, copy=False) ** 2", "np.nan_to_num(x * 2.0) ** 2")  # fmt: skip
of_array("a number by rows", ARGUMENT, "write np.atleast_1d",
    "np.ascontiguousarray(x[0]) ** 2", "np.atleast_1d(x[0]) ** 2")  # fmt: skip
of_array("a type of objects", ARGUMENT, "use dtype=float",
    "np.array(x, dtype=object) ** 2", "np.array(x, dtype=float) ** 2")  # fmt: skip
of_array("hermitian of svd", ARGUMENT, "leave it out",
    "np.linalg.svd(x.reshape(2, 2), compute_uv=False, hermitian=True)",
    "np.linalg.svd(x.reshape(2, 2), compute_uv=False)", runs=False)  # fmt: skip
of_array("a mode of qr", ARGUMENT, "use 'reduced' or 'r'",
    "np.linalg.qr(x.reshape(2, 2), mode='complete')[1] ** 2",
    "np.linalg.qr(x.reshape(2, 2), mode='reduced')[1] ** 2")  # fmt: skip
of_array("a range of floats in r_", SYNTAX, "use np.arange or np.linspace",
    "np.r_[0:1:0.25] * x", "np.arange(0, 1, 0.25) * x")  # fmt: skip
of_array("mgrid without an end", SYNTAX, "write the end too, as in np.mgrid[0:3]",
    "np.mgrid[1:][0] * x", "np.mgrid[0:4] * x", runs=False)  # fmt: skip
of_array("polyfit with its covariance", ARGUMENT, "leave rcond, full and cov out",
    "np.polyfit(np.arange(4.0), x, 1, cov=True)[0]", "np.polyfit(np.arange(4.0), x, 1)")  # fmt: skip
of_array("np.unique along an axis", ARGUMENT, "leave axis out",
    "np.unique(x.reshape(2, 2), axis=0) ** 2", "np.unique(x) ** 2", runs=False)  # fmt: skip
of_array("np.meshgrid of views", ARGUMENT, "leave copy out",
    "np.meshgrid(x, x, copy=False)[0] ** 2", "np.meshgrid(x, x)[0] ** 2")  # fmt: skip
of_array("np.vectorize with a signature", ARGUMENT, "write np.array([f(v) for v in x])",
    "np.vectorize(np.sum, signature='(n)->()')(x.reshape(2, 2)) ** 2",
    "np.array([np.sum(v) for v in x.reshape(2, 2)]) ** 2")  # fmt: skip
of_array("np.vectorize that excludes", ARGUMENT, "write np.array([f(v) for v in x])",
    "np.vectorize(lambda v: v * v, excluded=[1])(x)", "np.array([v * v for v in x])")  # fmt: skip
of_array("dct of a length", ARGUMENT, "leave n out",
    "scipy.fft.dct(x, n=3) ** 2", "scipy.fft.dct(x) ** 2", runs=False)  # fmt: skip
of_array("the mean of a sample in a dtype", ARGUMENT, "leave dtype out",
    "scipy.stats.gmean(np.abs(x), dtype=float)", "scipy.stats.gmean(np.abs(x))")  # fmt: skip
of_array("a filter along axes", ARGUMENT, "leave axes out",
    "scipy.ndimage.gaussian_filter(x, 1.0, axes=(0,)) ** 2", "scipy.ndimage.gaussian_filter(x, 1.0) ** 2")  # fmt: skip
of_array("a median deviation from a center", ARGUMENT, "leave center out",
    "scipy.stats.median_abs_deviation(x, center=np.mean) ** 2",
    "scipy.stats.median_abs_deviation(x) ** 2", runs=False)  # fmt: skip
of_array("gradient of an order", ARGUMENT, "write edge_order=1",
    "np.gradient(x, edge_order=3)", "np.gradient(x, edge_order=1)", runs=False)  # fmt: skip
of_array("a QR decomposition of SciPy's", ARGUMENT, "write mode='economic'",
    "np.abs(scipy.linalg.qr(x.reshape(2, 2), mode='raw')[1])",
    "np.abs(scipy.linalg.qr(x.reshape(2, 2), mode='economic')[1])")  # fmt: skip
of_array("a solver that writes to its matrix", ARGUMENT, "leave out the arguments whose names begin with overwrite",
    "scipy.linalg.solve(x.reshape(2, 2), x[:2], overwrite_a=True)",
    "scipy.linalg.solve(x.reshape(2, 2), x[:2])")  # fmt: skip
of_array("a Fourier transform of a norm that is none", ARGUMENT, "norm is 'backward', 'ortho' or 'forward'",
    "np.abs(np.fft.fft(x, norm='unit'))", "np.abs(np.fft.fft(x, norm='ortho'))", runs=False)  # fmt: skip
