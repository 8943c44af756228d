"""Programs that are refused, with what their hints say done to them: a text, and the edit that follows the hint literally.

A row without ``runs`` is a program that Python does not run either, or that gives something else where the way out is taken.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """A program, the kind of its refusal, its hint, and the texts that are replaced to follow that."""

    name: str
    error: str
    hint: str
    text: str
    edits: tuple[tuple[str, str], ...]
    runs: bool = True
    before: str = ""  #: what stands before the function

    @property
    def mended(self) -> str:
        """The edited program; each edit must apply."""
        text = self.text
        for old, new in self.edits:
            assert old in text, f"{self.name}: {old!r} is not in the program"
            text = text.replace(old, new)
        return text


WAYS: list[Way] = []
SYNTAX, FUNCTION, ARGUMENT, NONE, TYPE = "UnsupportedSyntax", "UnknownFunction", "UnsupportedArgument", "NoDerivative", "UnknownType"
NUMBER = "use the number itself, or a list or tuple of numbers"
DECLARE = "call it in a function with a symgrad.custom_vjp, or pass it symgrad.stop_gradient(x) if its derivative is zero"


def way(name: str, error: str, hint: str, text: str, *edits: tuple[str, str], runs: bool = True) -> None:
    """Enter a program of x, an array, or of a and b, numbers."""
    one = Way(name, error, hint, text.strip("\n") + "\n", edits, runs)
    if one not in WAYS:  # the module of programs may be imported under two names
        WAYS.append(one)


def expression(name: str, error: str, hint: str, old: str, new: str, runs: bool = True) -> None:
    """Enter an expression of a, b and n, and the one to which the hint leads."""
    way(name, error, hint, f"def f(a, b, n):\n    return {old}\n", (old, new), runs=runs)


# ------------------------------------------------------------------ statements

way("a class in a loop", SYNTAX, "write it outside the function", """
def f(a):
    s = a
    while s < 3.0:
        class Point:
            value = 2.0
        s = s * Point.value
    return s * a
""", ("        class Point:\n            value = 2.0\n", ""), ("def f(a):\n", "class Point:\n    value = 2.0\n\ndef f(a):\n"))  # fmt: skip
way("groups of exceptions", SYNTAX, "handle each class with except, without the star", """
def f(a):
    try:
        y = a / 0.0
    except* ZeroDivisionError:
        y = a * a
    return y
""", ("except*", "except"))  # fmt: skip
way("an async function inside", SYNTAX, "write it as a plain def, and await its inputs before the call", """
def f(a):
    async def twice():
        return 2.0 * a
    return a * a
""", ("async def", "def"))  # fmt: skip
way("a yield in an expression", SYNTAX, "yield in a statement or an assignment of its own", """
def steps(a):
    yield a * ((yield a) or 1.0)

def f(a):
    return sum(steps(a))
""", ("yield a * ((yield a) or 1.0)", "got = yield a\n    yield a * (got or 1.0)"))  # fmt: skip
way("an augmented name that is not bound", SYNTAX, "assign to k before this line", """
def f(a):
    k += a
    return k * a
""", ("    k += a", "    k = 0.0\n    k += a"), runs=False)  # fmt: skip
way("a name that is nowhere", SYNTAX, "define scale, or pass it as an argument", """
def f(a):
    return scale * a
""", ("f(a)", "f(a, scale=2.0)"), runs=False)  # fmt: skip
way("a deleted name", SYNTAX, "assign to k before this line", """
def f(a):
    k = a * a
    del k
    return k
""", ("    del k\n", "    del k\n    k = a * a\n"), runs=False)  # fmt: skip
way("an attribute of a function that keeps its results", SYNTAX,
    "assign it to a variable, or to an instance that the function makes or is given", """
import functools

@functools.lru_cache
def g(k):
    return 2.0 * k

def f(a):
    g.count = 1
    return g(2) * a
""", ("    g.count = 1\n", "    count = 1\n"))  # fmt: skip
way("a property that a class attribute replaces", SYNTAX, "give the attribute another name", """
class A:
    @property
    def n(self):
        return 3.0

def f(a):
    A.n = 3.0
    return a * A.n
""", ("A.n", "A.m"))  # fmt: skip
way("a class attribute that becomes a function", SYNTAX, "keep the function in a dict that the class holds", """
class A:
    functions = {}

def twice(v):
    return 2.0 * v

def f(a):
    A.apply = twice
    return A.apply(a)
""", ("A.apply = twice", "A.functions['apply'] = twice"), ("A.apply(a)", "A.functions['apply'](a)"))  # fmt: skip
way("a metaclass that says what assigning does", SYNTAX, "assign to an attribute of an instance, or to a global variable", """
class Meta(type):
    def __setattr__(cls, name, value):
        super().__setattr__(name, 2.0 * value)

class A(metaclass=Meta):
    pass

def f(a):
    A.n = 2.0
    return a * a
""", ("def f(a):\n    A.n = 2.0", "N = 1.0\n\ndef f(a):\n    global N\n    N = 2.0"))  # fmt: skip
way("an attribute of a function that means something to Python", SYNTAX, "assign to it before the function is called", """
def g(v, k=2.0):
    return v * k

def f(a):
    g.__defaults__ = (3.0,)
    return g(a)
""", ("    g.__defaults__ = (3.0,)\n", ""), ("\ndef f", "g.__defaults__ = (3.0,)\n\ndef f"))  # fmt: skip
way("an attribute that __getattr__ answers for on some paths", SYNTAX, "assign to it before, on every path", """
class A:
    def __getattr__(self, name):
        return 3.0

def f(a):
    if a > 0.5:
        A.n = 2.0
    return a * A().n
""", ("    if a > 0.5:", "    A.n = 3.0\n    if a > 0.5:"))  # fmt: skip
way("an attribute of a decorated function inside", SYNTAX, "assign to it before, where the function is made", """
import functools

def f(a):
    def g(v):
        return v * a
    @functools.wraps(g)
    def h(v):
        return g(v) * h.scale
    if a < 0.5:
        h.scale = 2.0
    h.scale = h.scale if hasattr(h, "scale") else 3.0
    return h(a)
""", ("    if a < 0.5:", "    h.scale = 3.0\n    if a < 0.5:"))  # fmt: skip
way("a function whose results are kept reads what is assigned to", SYNTAX,
    "leave functools.lru_cache out, or pass it the value as an argument", """
import functools

class A:
    n = 2.0

@functools.lru_cache
def g(k):
    return k * A.n

def f(a):
    A.n = 3.0
    return a * g(2)
""", ("def g(k):", "def g(k, n):"), ("k * A.n", "k * n"), ("g(2)", "g(2, A.n)"))  # fmt: skip
way("attributes that are changed as a dict", SYNTAX, "assign to the attribute or variable itself", """
def g(v):
    g.__dict__["n"] = 2.0
    return v * g.n
g.n = 1.0

def f(a):
    return g(a)
""", ('g.__dict__["n"] = 2.0', "g.n = 2.0"))  # fmt: skip
way("attributes that are read as a dict", SYNTAX, "read the attributes by their names", """
class A:
    pass
held = A()
held.n = 1.0
attributes = vars(held)

def f(a):
    held.n = 2.0
    return a * attributes["n"]
""", ('attributes["n"]', "held.n"))  # fmt: skip
way("attributes of a function that are read as a dict", SYNTAX, "read it by its name", """
def g(v):
    return v
g.n = 1.0

def f(a):
    g.n = 2.0
    return g(a) * g.__dict__["n"]
""", ('g.__dict__["n"]', "g.n"))  # fmt: skip
way("a function without end", SYNTAX, "add a branch that returns without calling the function", """
def g(a, n=3):
    return g(a, n - 1) * a

def f(a):
    return g(a)
""", ("    return g(a, n", "    if n == 0:\n        return a\n    return g(a, n"), runs=False)  # fmt: skip
way("items of a dict from outside that its class reads otherwise", SYNTAX,
    "make the instance of Twice in the function, of a plain dict", """
class Twice(dict):
    def __getitem__(self, k):
        return 2.0 * super().__getitem__(k)

HELD = Twice(b=2.0)

def f(a):
    return a * a * sum(HELD.values())
""", ("sum(HELD", "sum(Twice({'b': 2.0})"))  # fmt: skip
way("a class that changes what its base is computed by", SYNTAX, "derive the class from dict", """
import collections

class Doubled(collections.OrderedDict):
    def __setitem__(self, k, v):
        super().__setitem__(k, 2.0 * v)

def f(a):
    held = Doubled()
    held["b"] = a
    return held["b"] * a
""", ("collections.OrderedDict", "dict"))  # fmt: skip
way("a special method that is no function", SYNTAX, "define __len__ with def in Seven", """
class Seven(list):
    __len__ = property(lambda self: lambda: 7)

def f(a):
    return a * a * len(Seven([a]))
""", ("__len__ = property(lambda self: lambda: 7)", "def __len__(self): return 7"))  # fmt: skip
way("a copy that its class fills", SYNTAX, "make another Noted from its items", """
import copy

class Noted(list):
    def append(self, item):
        super().append(item)

def f(a):
    held = copy.copy(Noted([a, 2.0]))
    return held[0] * held[1] * a
""", ("copy.copy(Noted([a, 2.0]))", "Noted([a, 2.0])"))  # fmt: skip
way("a pattern of an instance with methods of its own", SYNTAX, "write if and isinstance", """
class Pair(list):
    def __len__(self):
        return 2

def f(a):
    match Pair([a, 2.0]):
        case [first, second]:
            return first * second * a
    return a
""", ("    match Pair([a, 2.0]):\n        case [first, second]:\n            return first * second * a\n    return a",
      "    held = Pair([a, 2.0])\n    if isinstance(held, list) and len(held) == 2:\n        return held[0] * held[1] * a\n    return a"))  # fmt: skip
way("the order of a set of keys", SYNTAX, "iterate over a list of the keys, as in set(list(d))", """
def f(a, b):
    held = {}
    for k in range(int(b * 3.0)):
        held[k * 7] = a
    total = a
    for k in set(held):
        total = total * (a + k)
    return total
""", ("set(held)", "set(list(held))"))  # fmt: skip
way("keys of several kinds", SYNTAX, "convert all keys of the dict to one class, or use a dict for each kind of key", """
def f(a, b):
    z = {round(b): a}
    z["total"] = a * b
    return z["total"] * a
""", ("round(b)", "f'{round(b)}'"))  # fmt: skip
way("an attribute deleted by name", SYNTAX, "write del with the name, as in del point.name", """
import types

def f(a):
    point = types.SimpleNamespace(a=a, b=2.0)
    delattr(point, "b")
    return point.a * a
""", ('delattr(point, "b")', "del point.b"))  # fmt: skip
way("closing", SYNTAX, "write try and finally, and call close() there", """
import contextlib

class File:
    def close(self):
        pass

def f(a):
    file = File()
    with contextlib.closing(file):
        return a * a
""", ("    with contextlib.closing(file):\n        return a * a\n",
      "    try:\n        return a * a\n    finally:\n        file.close()\n"))  # fmt: skip
way("what next steps on outside", SYNTAX, "create the iterator in the function, with iter in a statement before", """
IT = iter([2.0, 3.0])

def f(a):
    return a * a * next(IT)
""", ("IT = iter([2.0, 3.0])\n\ndef f(a):\n", "def f(a):\n    IT = iter([2.0, 3.0])\n"), runs=False)  # fmt: skip
way("a map outside", SYNTAX, "make it a list where it is defined", """
IT = map(abs, [-1.0, 2.0])

def f(a):
    return a * a * sum(IT)
""", ("map(abs, [-1.0, 2.0])", "list(map(abs, [-1.0, 2.0]))"), runs=False)  # fmt: skip
way("an iterator of two kinds", TYPE, "choose between two lists, and make one iterator of that, as in iter([*p] if c else [*q])", """
def f(x):
    it = (t * 2 for t in x) if x[0] > 0 else (t * 2 for t in x)
    total = 0.0
    for k, v in enumerate(it):
        total += k * v * v
    return total
""", ("(t * 2 for t in x) if x[0] > 0 else (t * 2 for t in x)", "iter([t * 2 for t in x] if x[0] > 0 else [t * 2 for t in x])"))  # fmt: skip
way("a dict that changes under a loop", SYNTAX, "iterate over list(d) and read d[key]", """
def f(a, b):
    d = {"p": a}
    doubled = (v * v for v in d.values())
    d["p"] = b
    return sum(doubled) * a
""", ("(v * v for v in d.values())", "(d[key] * d[key] for key in list(d))"))  # fmt: skip
way("a kept function that changes something", SYNTAX, "leave functools.lru_cache out, or call the function before", """
import functools

calls = []

@functools.lru_cache
def scale(n):
    calls.append(n)
    return 2.0 * n

def f(a):
    return a * a * scale(3)
""", ("def f(a):\n    return a * a * scale(3)", "three = scale(3)\n\ndef f(a):\n    return a * a * three"))  # fmt: skip
way("a method that depends on the class", SYNTAX, "call a plain function or method in its place", """
import functools

class C:
    @functools.singledispatchmethod
    def go(self, v):
        return v * v

def f(a):
    return C().go(a)
""", ("    @functools.singledispatchmethod\n", ""))  # fmt: skip
way("a missing key", SYNTAX, "set it before, or use get('b', 0.0)", """
def f(a):
    d = {"a": a * a}
    return d["a"] + d["b"]
""", ('d["b"]', "d.get('b', 0.0)"), runs=False)  # fmt: skip
way("hasattr beside __getattribute__", SYNTAX, "test with isinstance instead, or define the attribute in the class", """
class C:
    def __getattribute__(self, name):
        if name == "magic":
            return 5.0
        raise AttributeError(name)

def f(a):
    return a * a * (2.0 if hasattr(C(), "magic") else 3.0)
""", ("class C:\n", "class C:\n    magic = 5.0\n"))  # fmt: skip

# ------------------------------------------------------------------ functions without a rule

way("a function of SciPy without a rule", FUNCTION, DECLARE, """
def f(a, b):
    return scipy.special.cosdg(a) * b
""", ("def f", "cosdg = symgrad.elementwise(dx='-0.017453292519943295 * sin(0.017453292519943295 * x)')(lambda x: scipy.special.cosdg(x))\n\ndef f"),
    ("return scipy.special.cosdg(a)", "return cosdg(a)"))  # fmt: skip
expression("subok", ARGUMENT, "leave it out", "np.exp(a, subok=False) * b", "np.exp(a) * b")
way("a method that is not called", SYNTAX, "add () to call it, or read it in a function of its own, declared with symgrad.constant or rule", """
def f(x):
    return np.sum(x * x.mean)
""", ("x.mean)", "x.mean())"), runs=False)  # fmt: skip

# ------------------------------------------------------------------ frames

VARIABLES = "{'a': a, 'b': b, 'n': n}"
expression("eval", SYNTAX, "write (a * b) in its place", "eval('a * b')", "(a * b)")
expression("exec", SYNTAX, "write k = 1 in its place", "a * b if exec('k = 1') is None else b", "a * b")
expression("locals", SYNTAX, f"write {VARIABLES} in its place", "locals()['a'] ** 2", f"{VARIABLES}['a'] ** 2")
expression("vars", SYNTAX, f"write {VARIABLES} in its place", "vars()['a'] ** 2", f"{VARIABLES}['a'] ** 2")
expression("globals", SYNTAX, "name the variable itself, or pass it as an argument", "a * a * globals()['math'].pi", "a * a * math.pi")
expression("dir", SYNTAX, "write ['a', 'b', 'n'] in its place", "a * a if 'a' in dir() else a", "a * a if 'a' in ['a', 'b', 'n'] else a")
expression("compile", SYNTAX, "compile it before, outside of the function", "a * a if compile('1', '', 'eval') else a", "a * a")
expression("breakpoint", SYNTAX, "leave it out; pdb.runcall(df.debug(x), x) steps through the derivative df",
           "a * a if breakpoint() is None else a", "a * a", runs=False)  # fmt: skip
expression("input", SYNTAX, "read it before, and pass it as an argument", "float(input()) * a * a", "b * a * a", runs=False)
expression(
    "hash",
    SYNTAX,
    "use the value itself as a key, or compute the hash before and pass it as an argument",
    "a * {hash(a): b}[hash(a)]",
    "a * {'a': b}['a']",
)

# ------------------------------------------------------------------ values

expression("a number in a set", NONE, NUMBER, "sum({a * b, a})", "sum([a * b, a])")
expression("a number in a text", NONE, NUMBER, "float(f'{a:.17g}') * b", "a * b")
way("a class that is chosen", TYPE, "convert it to one class, for example with float", """
def f(a):
    v = 1 if a > 0 else 1.5
    return a * a * (2 if isinstance(v, int) else 3)
""", ("1 if a", "float(1) if a"), runs=False)  # fmt: skip
way("a class that is not known", TYPE, "test it before the paths join, or pass it as an argument", """
def f(a):
    v = "s" if a > 0 else a
    return a * a * (2 if isinstance(v, str) else 3)
""", ('    v = "s" if a > 0 else a\n', '    is_text = True if a > 0 else False\n'), ("isinstance(v, str)", "is_text"))  # fmt: skip
way("an array of integers", "CastStore", "make the array float, for example dtype=float", """
def f(a):
    y = np.zeros(3, dtype=int)
    y[0] = a * a
    return y.sum() * a
""", ("dtype=int", "dtype=float"), runs=False)  # fmt: skip
way("shapes that do not fit", "ShapeMismatch", "compare the shapes of the two", """
def f(x):
    return x[:3].sum() + (np.ones(2) * np.ones(3)).sum()
""", ("np.ones(2)", "np.ones(3)"), runs=False)  # fmt: skip
way("an opaque array that is written to", TYPE, "convert it to an array of a known type, with np.asarray and dtype=float", """
def f(x):
    y = np.frombuffer(bytearray(16))
    y[0] = x[0]
    return y[0] * x[1]
""", ("np.frombuffer(bytearray(16))", "np.asarray(np.frombuffer(bytearray(16)), dtype=float)"))  # fmt: skip
way("singular vectors", NONE, "write full_matrices=False, which leaves them out", """
def f(x):
    u = np.linalg.svd(x.reshape(4, 1))[0]
    return (u * u).sum() + (x * x).sum()
""", ("reshape(4, 1)", "reshape(4, 1), full_matrices=False"), runs=False)  # fmt: skip
way("a result that is not one number", "NotScalar", "sum the output, or use symgrad.jacobian or symgrad.vjp", """
def f(x):
    return 2.0 * x * x
""", ("2.0 * x * x", "(2.0 * x * x).sum()"), runs=False)  # fmt: skip
