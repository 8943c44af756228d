"""Every question about a value x every kind of value, compared with plain Python: results, prints, exceptions."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.plainly import HEAD as IMPORTS
from tests.plainly import function_of, verdict

HEAD = """import copy, dataclasses, enum, functools, operator, types
from typing import NamedTuple
Pt = collections.namedtuple("Pt", "a b c")
@dataclasses.dataclass
class D:
    a: float
    b: object = None
    c: float = 2.0
@dataclasses.dataclass(frozen=True, order=True)
class F:
    a: float
    b: float = 1.0
    c: float = 2.0
class C:
    k = 3
    def __init__(self, a): self.a = a; self.b = [a, a * 2]
    def __len__(self): return 3
    def __getitem__(self, i): return self.b[i] if i < 2 else self.a
    def __iter__(self): return iter((self.a, self.b[0], self.b[1]))
    def __contains__(self, v): return v == self.a
    def __eq__(self, o): return isinstance(o, C) and self.a == o.a
    def __bool__(self): return True
    def __call__(self, v): return v * self.a
    def __repr__(self): return "C!"
class L(list):
    def first(self): return self[0]
class B: pass
class Col(enum.Enum):
    R = 1
    G = 2
class I(enum.IntEnum):
    R = 1
    G = 2
def gen(x):
    for v in x: yield v * 2
"""
#: values of every kind, made of an array ``x``, a float ``a`` and an integer ``n``
VALUES = (
    "[a, 2.0, a*a]", "(a, 2.0, a*a)", "{'a': a, 'b': 2.0, 'c': x}", "{1, 2, 3}", "frozenset((1, 2))", "x", "x*2", "x[0]", "a", "n",
    "n > 3", "a > 0", "'abc'", "b'abc'", "None", "range(3)", "range(n)", "slice(1, n)", "[v*a for v in x]", "tuple(v*a for v in x)",
    "(v*a for v in x)", "gen(x)", "iter(x)", "iter([a, 2.0])", "enumerate(x)", "zip(x, x)", "map(lambda v: v*a, x)",
    "reversed([a, 2.0, 3.0])", "filter(None, x)", "{'a': a}.items()", "{'a': a}.keys()", "{'a': a}.values()",
    "collections.deque([a, 2.0, a*a])", "collections.OrderedDict(a=a, b=2.0)", "collections.defaultdict(float, a=a)",
    "collections.Counter('aab')", "Pt(a, 2.0, x)", "D(a)", "F(a)", "C(a)", "L([a, 2.0, 3.0])", "B()", "Col.R", "I.G",
    "types.SimpleNamespace(a=a, b=2.0, c=x)", "lambda v: v*a", "gen", "len", "math", "np.float64(a)", "np.float32(a)", "np.int64(n)",
    "np.array(a)", "np.zeros((2, 3))*a", "np.array([1, 2, 3])", "x > 0.8", "x.astype(np.float32)", "[x, x*2, x]", "[[a, 2.0], [3.0]]",
    "[(a, 1), (2.0, 2)]", "{'a': {'b': a}}", "{n: a, 2: 2.0}", "{(1, 2): a}", "a if n > 3 else None", "[a] if n > 20 else (a, 2.0)",
    "x if a > 0 else a", "[v for v in x if v > 0.8]", "[a]*n", "[None]*3", "list(range(n))", "dict(zip('abc', x))",
    "{k: x[k] for k in range(3)}", "[D(v) for v in x]", "complex(a, 1.0)", "Ellipsis", "itertools.chain([a], x)",
    "functools.partial(max, a)", "x.T", "x.reshape(3, 1)", "x[::2]", "np.s_[1:2]", "divmod(a, 0.3)", "memoryview(b'ab')",
    "bytearray(b'ab')", "type(a)", "D", "object()", "1", "2.5", "True", "''", "[]", "()", "{}", "set()", "(x, a)", "[x]",
)  # fmt: skip
#: what is asked of a value ``p`` and of ``q``, which is ``p``
QUESTIONS = (
    "isinstance(p, list)", "isinstance(p, (tuple, dict))", "isinstance(p, float)", "isinstance(p, int)", "isinstance(p, np.ndarray)",
    "isinstance(p, collections.abc.Iterable)", "isinstance(p, collections.abc.Sequence)", "isinstance(p, collections.abc.Mapping)",
    "isinstance(p, np.floating)", "isinstance(p, str)", "type(p).__name__", "type(p) is type(q)", "p.__class__ is list", "p is q",
    "p is None", "p == q", "p != q", "p == None", "p == [a, 2.0, a*a]", "p == (a, 2.0, a*a)", "len(p)", "bool(p)", "not p",
    "'t' if p else 'f'", "len(p[:2])", "np.shape(p[0])", "np.shape(p[-1])", "np.shape(p['a'])", "len(p + p)", "len(p * 2)",
    "len(p + [1])", "len(p + (1,))", "list(p).__len__()", "len(tuple(p))", "len([*p])", "len({*p})", "len({**p})", "sum(1 for _ in p)",
    "hasattr(p, 'append')", "hasattr(p, 'a')", "hasattr(p, '__len__')", "hasattr(p, '__iter__')", "hasattr(p, 'shape')",
    "getattr(p, 'a', 5)", "np.shape(getattr(p, 'c', None))", "2.0 in p", "'a' in p", "1 in p", "p.index(2.0)", "p.count(2.0)",
    "callable(p)", "np.ndim(p)", "np.size(p)", "np.shape(p)", "np.isscalar(p)", "copy.copy(p) is p", "copy.copy(p) == p",
    "copy.deepcopy(p) == p", "str(p)", "repr(p)", "f'{p}'", "'%s' % (p,)", "len(str(p))", "hash(p) == hash(q)", "id(p) == id(q)",
    "p and 3", "p or 3", "next(iter(p))", "p[1]", "p.a", "p.b", "max(p)", "min(p)", "sorted(p)", "any(p)", "all(p)", "sum(p)",
    "p.get('a')", "p.get('zz', 7)", "p.pop()", "(p.append(3.0), len(p))", "(p.reverse(), len(p))", "p.copy() == p", "-p", "abs(p)",
    "p < q", "p <= q", "p + 1", "p * 2.0", "1 + p", "p ** 2", "p // 1", "p % 2", "round(p)", "int(p)", "float(p)", "p.real", "p.shape",
    "p.dtype", "p.size", "p.ndim", "p()", "p(2.0)", "list(map(type, p))", "[type(v).__name__ for v in p]", "list(reversed(p))",
    "list(enumerate(p))", "list(zip(p, p))", "dict(p)", "set(p)", "tuple(p)", "list(p)", "p & q", "p | q", "p @ q", "~p",
    "p is not None and p == q", "isinstance(p, type)", "issubclass(type(p), list)", "vars(p)", "dir(p)[:1]", "p.__len__()", "p.__doc__",
    "p.__name__", "p.__module__", "p.keys()", "list(p.values())", "list(p.items())", "p.upper()", "p.sum()", "p.mean()", "p.tolist()",
    "p.item()", "divmod(p, 2)", "pow(p, 2)", "p[0:1]", "p[n - 12]", "p[-1]", "p['zz']", "p[5]", "p.zz", "(lambda *v: len(v))(*p)",
    "(lambda **v: len(v))(**p)", "'{}'.format(p)", "'{0!r}'.format(p)", "print(p)", "isinstance(p, (int, float, np.number))",
    "np.asarray(p).shape", "np.array(p).dtype", "np.sum(p)", "np.iterable(p)", "math.isnan(p)", "str(p)[:1]", "p == 'abc'", "p is True",
    "p == True", "p is q is not None", "p not in (1, 2)", "p in (None, 'abc')", "p in [q]", "(p, 1) == (q, 1)", "[p] == [q]",
    "{'k': p} == {'k': q}", "(p,)[0] is q", "[p].index(q)", "[q, p].count(p)",
)  # fmt: skip
#: what is not right: a copy of a named tuple is one with it, and where the exception of a comparison is all that could be seen of it
OPEN = {
    ("Pt(a, 2.0, x)", "copy.copy(p) is p"),
    ("(x, a)", "p == (a, 2.0, a*a)"),
    ("types.SimpleNamespace(a=a, b=2.0, c=x)", "p.__module__"),
}
#: where differences say nothing: a number of these is sought, and it is another one beside it
JUMPING = {("divmod(a, 0.3)", "p.index(2.0)")}
CASES = [case for case in product(VALUES, QUESTIONS) if case not in OPEN | JUMPING]
#: of those that the frontend answered otherwise once, one of each class
ONCE = (
    ("np.array(a)", "list(p)"), ("None", "np.shape(p)"), ("[a, 2.0, a*a]", "abs(p)"), ("len", "'a' in p"), ("range(3)", "'a' in p"), ("'abc'", "p['zz']"),
    ("range(3)", "tuple(p)"), ("enumerate(x)", "list(enumerate(p))"), ("frozenset((1, 2))", "p & q"), ("np.float32(a)", "len(str(p))"),
    ("{'a': a}.items()", "copy.copy(p) is p"), ("math", "copy.copy(p) is p"), ("collections.deque([a, 2.0, a*a])", "copy.deepcopy(p) == p"),
    ("types.SimpleNamespace(a=a, b=2.0, c=x)", "copy.deepcopy(p) == p"), ("{'a': a, 'b': 2.0, 'c': x}", "p.pop()"), ("len", "p()"), ("2.5", "~p"),
    ("collections.Counter('aab')", "p()"), ("{n: a, 2: 2.0}", "(lambda **v: len(v))(**p)"), ("{1, 2, 3}", "(lambda **v: len(v))(**p)"),
    ("{1, 2, 3}", "list(reversed(p))"), ("n > 3", "p.real"), ("lambda v: v*a", "p.__name__"), ("gen(x)", "p.__name__"), ("{'a': a}.values()", "np.sum(p)"),
    ("np.zeros((2, 3))*a", "any(p)"), ("np.zeros((2, 3))*a", "sorted(p)"), ("[D(v) for v in x]", "np.size(p)"), ("bytearray(b'ab')", "copy.copy(p) is p"),
    ("Pt(a, 2.0, x)", "int(p)"), ("x", "p.__doc__"), ("Ellipsis", "1 in p"), ("range(n)", "p['zz']"),
)  # fmt: skip


def check(value: str, question: str) -> None:
    shown = "r if not callable(r) or isinstance(r, type) else 'a function'"
    text = f"{HEAD}def f(x, a, n):\n    p = {value}\n    q = p\n    r = {question}\n    print({shown})\n    return np.sum(x * x) * a\n"
    try:
        verdict(text, [np.array([0.7, 0.9, 1.3]), 0.6, 12])
    except AssertionError as error:
        if str(error).count(" at 0x") < 2:  # where two addresses are printed
            raise


@pytest.mark.parametrize(("value", "question"), ONCE)
def test_what_was_answered_otherwise_once_is_answered_as_python_does(value: str, question: str) -> None:
    assert value in VALUES
    assert question in QUESTIONS
    check(value, question)


@pytest.mark.sweep(120)
@pytest.mark.parametrize(("value", "question"), CASES)
def test_a_value_answers_as_pythons_own_or_is_refused(value: str, question: str) -> None:
    check(value, question)


WAYS_OUT = (
    ("any(np.outer(x, x))", "rows of an array have no truth value", "np.any(np.outer(x, x))"),
    ("sorted(np.outer(x, x))[0][0]", "rows of an array have no truth value and no order", "np.sort(np.outer(x, x), axis=None)[0]"),
    ("np.sum({'a': a}.values())", "takes an iterator, a dict, a view of one or a set as one object", "np.sum(list({'a': a}.values()))"),
    ("np.size([D(v) for v in x])", "an instance of D cannot be used as a number", "np.size([v for v in x])"),
)


@pytest.mark.parametrize(("asked", "words", "instead"), WAYS_OUT)
def test_the_way_out_of_what_is_refused(asked: str, words: str, instead: str) -> None:
    def derivative(expression: str) -> Any:
        return symgrad.grad(function_of(f"{IMPORTS}{HEAD}def f(x, a):\n    r = {expression}\n    return np.sum(x * x) * a + 0.0 * r\n"))

    x = np.array([0.7, 0.9, 1.3])
    with pytest.raises(SymgradError, match=words):
        derivative(asked)(x, 0.6)
    assert derivative(instead)(x, 0.6) == pytest.approx(1.2 * x)
