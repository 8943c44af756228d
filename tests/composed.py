"""Random compositions of operators, as source text: each function is an operator applied to the one before it.

``composition(seed)`` writes functions ``f0``, ``f1``, ... of a vector of three numbers; what each of them returns is a number or such a
vector. ``f0`` is a program, and ``f1`` calls an operator of it on ``f0`` in one of the forms in which a user holds an argument: a tree, a
record, an attribute of an object, a path into one of these, beside a keyword, with auxiliary results.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

HEAD = """
import collections
import dataclasses
import types

import numpy as np

import symgrad
from symgrad.implicit import root

V = np.array([0.7, -0.4, 0.9])
W = np.array([[0.4, -0.2, 0.1], [0.3, 0.5, -0.6], [-0.1, 0.2, 0.8]])


@dataclasses.dataclass
class Data:
    a: np.ndarray
    b: float


Pair = collections.namedtuple("Pair", "a b")


class Model:
    def __init__(self, a):
        self.a = a
"""

#: programs that return a number
NUMBERS = (
    "return np.sum(np.sin(x) * x) + x[0] * x[1]",
    "return np.log(np.sum(np.exp(W @ x))) * np.tanh(x[2])",
    "y = np.zeros(3)\n    for k in range(3):\n        y[k] = np.sin(x[k]) * x[k - 1]\n    return np.sum(y * y)",
    "total = 0.0\n    for a in x:\n        total = total + np.sin(total) * a + a * a\n    return total",
    "z, n = x[0], 0\n    while n < 3:\n        z = np.sin(z) + x[1] * z\n        n += 1\n    return z * x[2]",
    "return np.sum(np.where(x > 0.4, x**3, np.cos(x))) if x[0] > -2.0 else np.sum(x)",
    "h = [x[0] * x[1], x[2]]\n    h.append(np.sin(h[0]))\n    return sum(a * a for a in h)",
    "d = {'p': x * x, 'q': x[1]}\n    d['q'] *= np.sum(d['p'])\n    return d['q'] + np.prod(np.cos(x))",
    "return np.linalg.solve(np.eye(3) * 3.0 + np.outer(x, x), V) @ x",
)
#: programs that return a vector
VECTORS = (
    "return np.sin(W @ x) * x",
    "y = x.copy()\n    y[1:] += y[:-1] * x[1:]\n    return np.tanh(y)",
    "out = []\n    for k in range(3):\n        out.append(np.sin(x[k]) * x[(k + 1) % 3])\n    return np.array(out)",
    "return np.array([x[0] * x[1], np.exp(-x[1] ** 2), x[2] ** 3])",
    "z = x\n    for _ in range(2):\n        z = np.sin(z) * x + 0.3 * z\n    return z",
    "return np.cumsum(x * x) / (1.0 + np.sum(x * x))",
    "return np.linalg.solve(np.eye(3) * 3.0 + np.outer(x, x), V + x)",
)


@dataclass(frozen=True)
class Form:
    """How a function of a vector becomes one of an argument that holds the vector.

    ``define`` writes it as ``form`` of ``f``; ``args`` are its arguments for ``x``, and ``tangent`` those of a direction. ``part`` reads a
    gradient's part that belongs to ``x``, ``wrt`` is said to the operator, ``axes`` to ``vmap``.
    """

    define: str
    args: str = "(x,)"
    tangent: str = "(v,)"
    part: str = ""
    wrt: str = ""
    axes: str = "0"
    keywords: str = ""
    vector: str = "v"  #: for ``hvp``


FORMS = {
    "plain": Form("def form(x): return f(x)"),
    "lambda": Form("form = lambda y: f(y) * 0.9"),
    "dict": Form("def form(p): return f(p['a']) * p['b']", "({'a': x, 'b': 1.5},)", "({'a': v, 'b': 0.3},)", "['a']",
                 axes="({'a': 0, 'b': None},)", vector="{'a': v, 'b': 0.3}"),
    "dict by path": Form("def form(p): return f(p['a']) * p['b']", "({'a': x, 'b': 1.5},)", wrt="p['a']", axes="({'a': 0, 'b': None},)"),
    "list": Form("def form(p): return f(p[0]) * p[1]", "([x, 1.5],)", "([v, 0.3],)", "[0]", axes="([0, None],)", vector="[v, 0.3]"),
    "dataclass": Form("def form(p): return f(p.a) * p.b", "(Data(x, 1.5),)", "(Data(v, 0.3),)", ".a", axes="(Data(0, None),)",
                      vector="Data(v, 0.3)"),
    "dataclass by path": Form("def form(p): return f(p.a) * p.b", "(Data(x, 1.5),)", wrt="p.a", axes="(Data(0, None),)"),
    "named tuple": Form("def form(p): return f(p.a) * p.b", "(Pair(x, 1.5),)", "(Pair(v, 0.3),)", ".a", axes="(Pair(0, None),)",
                        vector="Pair(v, 0.3)"),
    "object by path": Form("def form(self, s): return f(self.a) * s", "(Model(x), 1.5)", wrt="self.a", axes="(0, None)"),
    "two arguments": Form("def form(s, x): return f(x) * s", "(1.5, x)", "(0.3, v)", wrt="x", axes="(None, 0)"),
    "keyword": Form("def form(x, *, k=1.0): return f(x) * k", keywords=", k=1.5"),
    "position": Form("def form(s, x): return f(x) * s", "(1.5, x)", wrt="#1", axes="(None, 0)"),
    "stars": Form("def form(*a): return f(a[0]) * a[1]", "(x, 1.5)", "(v, 0.3)", wrt="#0", axes="(0, None)"),
}  # fmt: skip


def asked(form: Form) -> str:
    """What an operator is told of the argument."""
    return "" if not form.wrt else f", argnums={form.wrt[1:]}" if form.wrt.startswith("#") else f", wrt={form.wrt!r}"


def single(form: Form) -> str:
    """The tangents of what the operator is told of."""
    return "(v,)" if form.wrt else form.tangent


def read(form: Form) -> str:
    """Where the gradient has the part of ``x``: it is the only one in ``wrt``."""
    return form.part


#: operators on functions that return numbers, by name: the expression, and whether its value is a number; {d} is the derivative's argument
def of_numbers(form: Form, aux: bool) -> dict[str, tuple[str, bool]]:
    a, t, s, w, k = form.args, read(form), single(form), asked(form), form.keywords
    more = ", has_aux=True" if aux else ""
    first = "[0]" if aux else ""
    inside = a[1:-1].removesuffix(",")
    return {
        "grad": (f"symgrad.grad(form{w}{more})({inside}{k}){first}{t}", False),
        "value_and_grad": (f"symgrad.value_and_grad(form{w}{more})({inside}{k})[1]{t} * 0.5", False),
        "jvp": (f"symgrad.jvp(form, {a}, {s}{w}{more}{k})[1]", True),
        "jvp of what is returned": (f"symgrad.jvp(form{w}{more})({a}, {s}{k})[1]", True),
        "linearize": (f"symgrad.linearize(form, {inside}{w}{more}{k})[1](*{s})", True),
        "vjp": (f"symgrad.vjp(form, {inside}{w}{more}{k})[1](0.8){'' if form.wrt else '[0]'}{t}", False),
        "hvp": (f"symgrad.hvp(form, {a}, {'v' if form.wrt else form.vector}{w}{more}{k}){first}{t}", False),
        "vhp": (f"symgrad.vhp(form, {a}, {'v' if form.wrt else form.vector}{w}{more}{k}){first}{t}", False),
        "hessian": (f"symgrad.hessian(form{w}{more})({inside}{k}){first}{t}{t} @ v", False),
        "hessian forward": (f"symgrad.hessian(form, mode='forward'{w}{more})({inside}{k}){first}{t}{t} @ v", False),
        "jacobian": (f"symgrad.jacobian(form{w}{more})({inside}{k}){first}{t}", False),
        "jacfwd": (f"symgrad.jacfwd(form{w}{more})({inside}{k}){first}{t}", False),
    }


def of_vectors(form: Form, aux: bool) -> dict[str, tuple[str, bool]]:
    a, t, s, w, k = form.args, read(form), single(form), asked(form), form.keywords
    more = ", has_aux=True" if aux else ""
    first = "[0]" if aux else ""
    inside = a[1:-1].removesuffix(",")
    return {
        "jvp": (f"symgrad.jvp(form, {a}, {s}{w}{more}{k})[1]", False),
        "linearize": (f"symgrad.linearize(form, {inside}{w}{more}{k})[1](*{s})", False),
        "vjp": (f"symgrad.vjp(form, {inside}{w}{more}{k})[1](v){'' if form.wrt else '[0]'}{t}", False),
        "jacobian": (f"symgrad.jacobian(form{w}{more})({inside}{k}){first}{t} @ v", False),
        "jacfwd": (f"symgrad.jacfwd(form{w}{more})({inside}{k}){first}{t} @ v", False),
        "jacrev": (f"symgrad.jacrev(form{w}{more})({inside}{k}){first}{t}.T @ v", False),
        "determinant": (f"np.linalg.det(symgrad.jacobian(form{w}{more})({inside}{k}){first}{t} + 4.0 * np.eye(3))", True),
    }


#: operators that take the function as it is: the expression, whether it takes one that returns numbers, and whether it is a number
WHOLE = {
    "checkpoint of a number": ("symgrad.checkpoint(f)(x)", True, True),
    "checkpoint of a vector": ("symgrad.checkpoint(f)(x)", False, False),
    "root": ("root(lambda y, a: y + 0.1 * np.tanh(f(y)) - a, x, x)", False, False),
    "root of a number": ("root(lambda y, a: y + 0.1 * np.tanh(f(y)) - a, x, x)", True, False),
    "three steps": ("x - 0.1 * np.tanh(symgrad.grad(f)(x)) - 0.1 * np.tanh(symgrad.grad(f)(x * 0.5))", True, False),
    "sum of squares": ("np.sum(f(x) ** 2)", False, True),
}


def batched(form: Form, number: bool) -> tuple[str, bool]:
    """``vmap`` over a batch of three."""
    stack = "np.stack([x, 0.5 * x, x * v])"
    args = form.args.replace("x", stack, 1) if form.args.count("x") == 1 else form.args
    passed = args[1:-1].removesuffix(",") + form.keywords
    return f"symgrad.vmap(form, in_axes={form.axes})({passed}){'' if number else '.T @ v'}", False


def composition(seed: int, depth: int = 3) -> tuple[str, list[str]]:
    """The text of a random composition, and the words of what it is composed of."""
    draw = random.Random(seed)
    number = draw.random() < 0.6
    lines = [HEAD, "", f"def f0(x):\n    {draw.choice(NUMBERS if number else VECTORS)}\n"]
    words = ["number" if number else "vector"]
    for level in range(1, depth + 1):
        name = draw.choice(list(FORMS))
        form = FORMS[name]
        aux = draw.random() < 0.25 and name != "lambda"
        choices = of_numbers(form, aux) if number else of_vectors(form, aux)
        whole = {
            word: (text, result) for word, (text, takes, result) in WHOLE.items() if takes is number and (level == 1 or "root" not in text)
        }
        over = name not in ("object by path", "stars", "lambda", "keyword")
        operator = draw.choice([*choices, *choices, *whole, *(["vmap"] if over else [])])
        define = form.define.replace("return ", "return (", 1) + ", np.sum(f(V)))" if aux else form.define
        text = [f"def f{level}(x):", f"    f, v = f{level - 1}, np.cos(V * {level}.0)"]
        if operator in choices:
            expression, result = choices[operator]
        elif operator == "vmap":
            expression, result = batched(form, number)
            define = form.define
        else:
            expression, result = whole[operator]
            define = name = ""
        text += [f"    {define}"] if define else []
        lines.append("\n".join([*text, f"    return {expression}", ""]))
        words.append(f"{operator} ({name}{', aux' if aux else ''})")
        number = result
    return "\n".join(lines), words
