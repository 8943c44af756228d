"""Statements x every kind of value, and questions under handlers, compared with plain Python."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.frontend.test_everything_asked import HEAD, QUESTIONS, VALUES
from tests.frontend.test_everything_called import CALLS
from tests.plainly import verdict

#: what is done with a value ``p``, which ``q`` is too, and a number ``s``
STATEMENTS = (
    "for v in p: s += 1.0",
    "for v in p:\n        if v: s += 1.0",
    "for k, v in p: s += 1.0",
    "for k, v in enumerate(p): s += k",
    "u, v, w = p\n    print(u)",
    "u, *v = p\n    print(u, len(v))",
    "*u, v = p\n    print(len(u))",
    "(u, v), w = p",
    "del p[0]\n    print(len(p))",
    "del p['a']\n    print(len(p))",
    "del p.a",
    "p[0] = 9.0\n    print(p[0])",
    "p['k'] = 9.0\n    print(p['k'])",
    "p[-1] = s\n    print(p[-1])",
    "p[:2] = [1.0]\n    print(len(p))",
    "p[::2] = [1.0, 2.0]\n    print(len(p))",
    "p.a = 3.0\n    print(p.a)",
    "p.new = 3.0\n    print(p.new)",
    "p += q\n    print(len(p))",
    "p += [1.0]\n    print(len(p), len(q))",
    "p += (1.0,)\n    print(len(p), len(q))",
    "p += 1\n    print(type(p).__name__)",
    "p *= 2\n    print(type(p).__name__)",
    "p -= 1",
    "p **= 2",
    "p |= q",
    "p &= q",
    "with p: s += 1.0",
    "with p as u: s += 1.0",
    "raise p",
    "assert p\n    s += 1.0",
    "assert p, 'no'\n    s += 1.0",
    "if p: s += 1.0",
    "if not p: s += 1.0",
    "while p:\n        s += 1.0\n        break",
    "match p:\n        case [u, *_]: print('seq')\n        case {'a': u}: print('map')\n        case float() | int(): print('num')\n        case str(): print('str')\n        case None: print('none')\n        case _: print('other')",
    "match p:\n        case (u, v, w): print(3)\n        case D(a=u): print('D')\n        case C(): print('C')\n        case _: print('other')",
    "match p:\n        case 1 | 2: print('small')\n        case [] | (): print('empty')\n        case x_ if x_ is q: print('same')",
    "try:\n        for v in p: s += 1.0\n    except TypeError: s += 10.0",
    "try:\n        s += p\n    except TypeError: s += 10.0",
    "try:\n        s += p[0]\n    except (TypeError, IndexError, KeyError) as e: print(type(e).__name__)",
    "try:\n        s += p['a']\n    except (TypeError, IndexError, KeyError) as e: print(type(e).__name__)",
    "try:\n        s += p.a\n    except AttributeError as e: print('no')",
    "try:\n        s += float(p)\n    except (TypeError, ValueError) as e: print(type(e).__name__)",
    "try:\n        s += len(p)\n    except TypeError as e: print('no len')\n    else: s += 1\n    finally: s += 2",
    "try:\n        u, v = p\n    except (TypeError, ValueError) as e: print(type(e).__name__)",
    "try:\n        s += p()\n    except TypeError as e: print('not callable')",
    "try:\n        s += max(p)\n    except (TypeError, ValueError) as e: print(type(e).__name__)",
    "global Z\n    Z = p\n    print(Z is q)",
    "def inner(p=p): return p\n    print(inner() is q)",
    "g = lambda: p\n    print(g() is q)",
    "r = [p, p]\n    print(r[0] is r[1])",
    "r = {'k': p}\n    r['k'] = 1\n    print(len(r))",
    "r = (p for _ in range(2))\n    print(len(list(r)))",
    "print(*p)",
    "print(*p, sep='-')",
    "r = [*p, *q]\n    print(len(r))",
    "r = {**p, 'z': 1}\n    print(len(r))",
    "r = {*p}\n    print(len(r))",
    "def inner(*v, **w): return len(v)\n    print(inner(*p))",
    "def inner(u, v=2, *w): return u\n    print(inner(*p))",
    "if (u := p) is not None: print(u is q)",
    "r = p if p else 0\n    print(r is q)",
    "return p",
    "lst = list(p)\n    lst.append(1.0)\n    print(len(lst))",
    "o = B()\n    o.v = p\n    print(o.v is q)",
    "o = D(p)\n    print(o.a is q, o == D(q))",
    "o = Pt(p, 1, 2)\n    print(o.a is q)",
    "print(isinstance(p, B), hasattr(p, 'zz'))",
    "p = q = 3\n    print(p)",
    "s = s + p * 2 if isinstance(p, float) else s",
    "s = s * (1 if p is None else 2)",
)
#: statements of which the exception is one of another class, or is not raised where nobody reads what would have been made
OPEN = (
    "x += p\n    print(x)",
    "p //= 2",
    "p /= 2",
    "p @= q",
    "x[:] = p\n    print(x)",
    "x[0] = p\n    print(x[0])",
    "M = np.zeros((2, 3))\n    M[0] = p\n    print(M)",
)
#: values whose differences are not those of float64, or that another number beside them is not
ROUNDED = ("np.float32(a)", "x.astype(np.float32)", "divmod(a, 0.3)", "x > 0.8", "bytearray(b'ab')", "object()", "memoryview(b'ab')")
COUNTED = "collections.Counter('aab')"  #: its operators in place ask what they are given for ``items``
CASES = [
    (value, done) for value, done in product(VALUES, STATEMENTS)
    if value not in ROUNDED and not (value == COUNTED and done.startswith(("p += ", "p -= ")))
    and not (value == "{'a': a}.items()" and done in ("p |= q", "p &= q"))  # which hash what the dict holds
]  # fmt: skip
#: of those that did something else once, one of each class
ONCE = (
    ("tuple(v*a for v in x)", "p += (1.0,)\n    print(len(p), len(q))"), ("tuple(v*a for v in x)", "p[0] = 9.0\n    print(p[0])"),
    ("[a, 2.0, a*a]", "del p['a']\n    print(len(p))"), ("[a, 2.0, a*a]", "p['k'] = 9.0\n    print(p['k'])"), ("{1, 2, 3}", "del p[0]\n    print(len(p))"),
    ("collections.deque([a, 2.0, a*a])", "p[:2] = [1.0]\n    print(len(p))"), ("a", "p |= q"), ("None", "raise p"),
)  # fmt: skip
#: questions and calls whose exceptions a handler catches, every so many of them
CAUGHT = [
    case for k, case in enumerate(product(VALUES, (*QUESTIONS, *CALLS))) if k % 41 == 5 and case[0] not in (*ROUNDED, "complex(a, 1.0)")
]
#: those of which the exception is not seen where it is raised
UNSEEN = (
    "np.int64(p)",
    "np.full_like(x, p)",
    "p & q",
    "p | q",
    "~p",
    "divmod(p, 2)",
    "p in {'a': 1}",
    "p in range(5)",
    "copy.copy(p) is p",
)


def check(value: str, body: str) -> None:
    text = f"{HEAD}Z = 0\ndef f(x, a, n):\n    s = 1.0\n    p = {value}\n    q = p\n{body}\n    return np.sum(x * x) * a * s\n"
    try:
        verdict(text, [np.array([0.7, 0.9, 1.3]), 0.6, 12], stores=False)
    except AssertionError as error:
        if str(error).count(" at 0x") < 2:  # where two addresses are printed
            raise


@pytest.mark.parametrize(("value", "done"), ONCE)
def test_what_did_something_else_once_does_what_python_does(value: str, done: str) -> None:
    check(value, f"    {done}")


@pytest.mark.sweep(74)
@pytest.mark.parametrize(("value", "done"), CASES)
def test_a_statement_does_what_pythons_does_or_is_refused(value: str, done: str) -> None:
    check(value, f"    {done}")


@pytest.mark.sweep(11)
@pytest.mark.parametrize(("value", "question"), CAUGHT)
def test_what_a_question_raises_is_caught(value: str, question: str) -> None:
    if question in UNSEEN:
        return
    shown = "print(r if not callable(r) or isinstance(r, type) else 'a function')"
    handler = "except Exception as e:\n        print(type(e).__name__)\n        s = s * 3"
    check(value, f"    try:\n        r = {question}\n        {shown}\n        s = s * 2\n    {handler}")
