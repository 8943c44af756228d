"""Arrays in lists of any length and in dicts with computed keys, changed in place under several names."""

from __future__ import annotations

import numpy as np
import pytest

from tests.frontend.test_methods_of_growing_dicts import check_targets
from tests.plainly import verdict

NUMBERS = np.array([3, 5, 3, 2, 7, 5, 3, 2, 4, 1, 20])
X = np.array([0.3, 1.1])

#: programs that are followed
SURE = {
    "+=": "d = {}\nfor n in numbers:\n    d[n] = np.zeros(2)\nfor n in numbers:\n    d[n] += a * n\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "+= vector": "d = {}\nfor n in numbers:\n    if n not in d:\n        d[n] = np.ones(2)\n    d[n] += x * n\n    d[n] *= b\n"
    "s = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "[i] =": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor n in numbers:\n    d[n][0] = a * n\n    d[n][1] += b\n"
    "s = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "alias then store": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\nq[0] = a\nq[1] += b\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "list of values before": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nd[3] += a\ne = list(d.values())\n"
    "return e[0].sum() * b + d[3][0]",
    "in branch": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor n in numbers:\n    if n > 3:\n        d[n][0] = a * n\n"
    "    else:\n        d[n] *= b\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "alias in branch": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\nif b > 1:\n    q[0] = a\nelse:\n    q[1] = b\n"
    "return d[3].sum() * q[0]",
    "inner loop": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor n in numbers:\n    q = d[n]\n    for i in range(2):\n"
    "        q[i] += a * i * q[1 - i]\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "values loop": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor v in d.values():\n    v *= a\n    v[0] = b\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "items loop": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor k, v in d.items():\n    v += a * k\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "function": "def put(h, k, w):\n    h[k] += w\nd = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor n in numbers:\n"
    "    put(d, n, a * n)\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "setdefault": "d = {}\nfor n in numbers:\n    d.setdefault(n, np.zeros(2))[0] += a * n\ns = 0.0\nfor k, v in d.items():\n"
    "    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "setdefault +": "d = {}\nfor n in numbers:\n    v = d.setdefault(n, np.zeros(2))\n    v += x * a\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "defaultdict": "d = collections.defaultdict(lambda: np.zeros(2))\nfor n in numbers:\n    d[n] += x * a\n    d[n][0] += n\n"
    "s = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "matrix": "d = {}\nfor n in numbers:\n    d[n] = np.eye(2) * a\nfor n in numbers:\n    d[n][0, :] += x\n"
    "    d[n][:, 1] *= b\nreturn sum(v.sum() * k for k, v in d.items())",
    "out view kept": "d = {}\nfor n in numbers:\n    d[n] = np.eye(2) * a\nr = d[3][0]\nr[1] = b\nr += x\n"
    "return sum(v.sum() * k for k, v in d.items()) * r[0]",
    "np.add out": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nfor n in numbers:\n    np.add(d[n], x * a, out=d[n])\n"
    "s = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "plain list": "L = []\nfor n in numbers:\n    L.append(np.zeros(2))\nfor i, n in enumerate(numbers):\n    L[i] += a * n\n"
    "    L[i][0] *= b\ns = 0.0\nfor v in L:\n    s = s * 0.9 + v[0] * v[1]\nreturn s",
    "plain list swap": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\nL[0], L[1] = L[1], L[0]\nL[0] += a\n"
    "return L[0].sum() * L[1][0]",
    "plain list same": "q = np.ones(2)\nL = []\nfor n in numbers:\n    L.append(q)\nL[0] += a\nreturn L[1].sum() * b",
    "two lists": "L, M = [], []\nfor n in numbers:\n    q = np.ones(2)\n    L.append(q)\n    M.append(q)\nq = None\nL[0] += a\n"
    "return L[0].sum() * b + M[0].sum()",
    "comprehension list": "L = [np.ones(2) * n for n in numbers]\nfor i, n in enumerate(numbers):\n    L[i] += a * n\n"
    "return sum(v.sum() * v[0] for v in L)",
    "repeat": "L = [np.ones(2)] * 3\nfor i, n in enumerate(numbers[:3]):\n    L[i] += a * n\n"
    "return sum(v.sum() * v[0] for v in L)",
    "insert": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\nq = L[0]\nL.insert(0, np.zeros(2))\nq += a\n"
    "return L[1].sum() * L[0].sum()+q[0]",
    "reverse": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\nq = L[0]\nL.reverse()\nq += a\n"
    "return L[-1].sum() * L[0].sum()+q[0]",
    "int array float add": "d = {}\nfor n in numbers:\n    d[n] = np.zeros(2, dtype=int)\nfor n in numbers:\n    d[n] += n\n"
    "return a * d[3].sum()",
    "broadcast": "d = {}\nfor n in numbers:\n    d[n] = np.zeros((2, 2))\nfor n in numbers:\n    d[n] += x * a\n"
    "return sum(v.sum() * k for k, v in d.items())",
    "self add": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nfor n in numbers:\n    d[n] += d[3] * a\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "other entry": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nd[3] += d[5] * a\nd[5] += d[3] * b\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "returned by function": "def made(h, k):\n    return h[k]\nd = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nq = made(d, 3)\n"
    "q[0] = a\nreturn d[3].sum() * b",
    "while": "d = {}\nk = 1\nwhile k < 50:\n    d[k] = np.ones(2) * a\n    k = k * 3\nfor k in d:\n    d[k][0] += b * k\n"
    "s = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "reassigned name": "d = {}\nq = np.ones(2)\nfor n in numbers:\n    d[n] = q\n    q = np.ones(2) * a\n    q[0] = b\n"
    "    d[n][1] += a\ns = 0.0\nfor k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "recursive writer": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\ndef w(v, k):\n    v[0] = v[0] + a * k\n    if k > 0:\n"
    "        w(v, k - 1)\nw(d[3], int(numbers[0]))\nreturn d[3].sum() * b",
    "recursive writer list": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ndef w(v, k):\n    v[0] = v[0] + a * k\n"
    "    if k > 0:\n        w(v, k - 1)\nw(L[1], int(numbers[0]))\nreturn L[1].sum() * b",
    "recursive dict": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\ndef w(h, k):\n    h[k] += a * k\n    if k > 2:\n"
    "        w(h, k - 1)\nd[4] = d[4] * b\nw(d, 5)\nreturn sum(v.sum() for v in d.values())",
    "sort in place": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nd[3][0] = 9.0 * a\nd[3].sort()\nreturn d[3][1] * b",
    "fill": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nd[3].fill(a)\nreturn d[3].sum() * b",
    "copyto": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nnp.copyto(d[3], x * a)\nreturn d[3].sum() * b",
    "swap parts": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nd[3][0], d[5][0] = d[5][0] * a, d[3][0]\n"
    "return d[3].sum() * b + d[5][0]",
    "try": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\ntry:\n    d[777] += a\nexcept KeyError:\n"
    "    d[3] += a * b\nreturn d[3].sum() * b",
    "try index": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ntry:\n    L[777][0] += a\nexcept IndexError:\n"
    "    L[3] += a * b\nreturn L[3].sum() * b",
    "loop break": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nfor k in d:\n    d[k] += a\n    if d[k][0] > 5:\n"
    "        break\n    d[k][1] *= b\nreturn sum(v[0] * v[1] for v in d.values())",
    "closure": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\ndef put(k):\n    d[k] += a\n    d[k][0] *= b\n"
    "for n in numbers:\n    put(n)\nreturn sum(v[0] * v[1] for v in d.values())",
    "generator": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\ndef gen():\n    for k in d:\n        d[k] += a\n"
    "        yield d[k]\ns = 0.0\nfor v in gen():\n    s += v.sum()\nreturn s * b + d[3][0]",
    "comprehension use": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nw = [v * 2.0 for v in d.values()]\nd[3] += a\n"
    "return sum(q.sum() for q in w) * d[3][0]",
    "stack": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nm = np.array(list(d.values()))\nd[3] += a\n"
    "return m.sum() * d[3][0]",
    "stack after": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nd[3] += a\nm = np.array(list(d.values()))\nd[3] *= b\n"
    "return m.sum() * d[3][0]",
    "view of item kept written": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nr = d[3][:1]\nr += a\nreturn d[3][0] * b",
    "item in tuple": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nt = (d[3], a)\nt[0][0] = b\nreturn d[3].sum() * t[1]",
    "zip values": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\ne = {}\nfor n in numbers:\n    e[n] = np.ones(2)\n"
    "for k in d:\n    e[k] += d[k] * a\n    d[k] *= b\nreturn sum(v.sum() for v in e.values()) + d[3][0]",
    "adam": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nm = {k: np.zeros(2) for k in d}\n"
    "v = {k: np.zeros(2) for k in d}\nfor t in range(3):\n    for k in d:\n        g = 2 * d[k] * a\n"
    "        m[k] = 0.9 * m[k] + 0.1 * g\n        v[k] = 0.99 * v[k] + 0.01 * g * g\n"
    "        d[k] -= b * m[k] / (np.sqrt(v[k]) + 1e-3)\nreturn sum(w.sum() for w in d.values())",
    "confusion": "c = {}\nfor p, q in zip(numbers[:-1], numbers[1:]):\n    if p not in c:\n        c[p] = np.zeros(21)\n"
    "    c[p][q] += a\nreturn sum((w * w).sum() for w in c.values()) * b",
    "embedding": "e = {}\nfor n in numbers:\n    e.setdefault(n, x * n)\ns = 0.0\nfor n in numbers:\n"
    "    s = s + (e[n] * x).sum() * a\n    e[n] = e[n] * b\nreturn s",
    "embedding in place": "e = {}\nfor n in numbers:\n    e.setdefault(n, x * n)\ns = 0.0\nfor n in numbers:\n"
    "    s = s + (e[n] * x).sum() * a\n    e[n] *= b\nreturn s",
    "2d list": "L = [[np.zeros(2) for _ in range(2)] for _ in numbers]\nfor i in range(len(numbers)):\n    L[i][0] += a * i\n"
    "return sum(v[0].sum() * v[1].sum() + v[0][0] for v in L) * b",
    "appended to another list": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = []\nfor v in L:\n    e.append(v)\nq = L[0]\n"
    "q[0] = a\nreturn e[0].sum() * b + q[0]",
    "copied list": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = list(L)\nq = L[0]\nq[0] = a\n"
    "return e[0].sum() * b + q[0]",
    "appended by index": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = []\nfor i in range(len(numbers)):\n"
    "    e.append(L[i])\nq = L[0]\nq[0] = a\nreturn e[0].sum() * b + q[0]",
    "put in tuples": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = []\nfor v in L:\n    e.append((v, 1.0))\n"
    "q = L[0]\nq[0] = a\nreturn e[0][0].sum() * b + q[0]",
    "sorted list": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = sorted(L, key=lambda v: -v[0])\nq = L[-1]\n"
    "q[0] = a\nreturn e[0].sum() * b + q[0]",
    "joined lists": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = L + L\nq = L[1]\nq[0] = a\n"
    "return e[1].sum() * b + q[0]",
    "appended in a while": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = []\nwhile L and len(e) < 3:\n"
    "    e.append(L[len(e)])\nq = L[1]\nq[0] = a\nreturn e[1].sum() * b + q[0]",
    "appended backwards": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = []\nfor v in reversed(L):\n    e.append(v)\n"
    "q = L[-1]\nq[0] = a\nreturn e[0].sum() * b + q[0]",
}  # fmt: skip

#: programs in which it may not be known what is one array: right, or refused
UNSURE = {
    "alias read after": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\nd[3][0] = a\nreturn q[0] * b + d[3][0]",
    "store after put": "d = {}\nfor n in numbers:\n    q = np.ones(2)\n    d[n] = q\n    q[0] = a * n\n    q += x\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "same array twice": "d = {}\nfor n in numbers:\n    q = np.ones(2)\n    d[n] = q\n    d[n + 100] = q\n    q[0] = a * n\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "same array for all": "d = {}\nq = np.ones(2)\nfor n in numbers:\n    d[n] = q\n    d[n][0] += a\ns = 0.0\nfor k, v in d.items():\n"
    "    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "moved": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nd[1000] = d[3]\nd[3][0] = a\nreturn d[1000][0] * b + d[3][0]",
    "argument stored": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nd[3] = x\nd[3] += a\nreturn d[3].sum() * b + x[0]",
    "argument stored in loop": "d = {}\nfor n in numbers:\n    if n not in d:\n        d[n] = x\n    d[n] += a\nreturn d[3].sum() * b + x[0]",
    "view stored": "m = np.ones((2, 2))\nd = {}\nfor n in numbers:\n    d[n] = m[n % 2]\nd[3] += a\n"
    "return m.sum() * b + d[5][0] + d[2][1]",
    "view stored 2": "d = {}\nfor n in numbers:\n    m = np.ones((2, 2))\n    d[n] = m[0]\n    m[0, 0] = a * n\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "copy of dict": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\ne = d.copy()\nd[3] += a\nreturn e[3].sum() * b + d[3][0]",
    "list of values": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\ne = list(d.values())\nd[3] += a\n"
    "return e[0].sum() * b + d[3][0]",
    "deleted then stored": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\ndel d[3]\nq[0] = a\nreturn q.sum() * b + d[5][0]",
    "popped": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d.pop(3)\nq[0] = a\nreturn q.sum() * b + d[5][0]",
    "replaced then stored": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\nd[3] = np.zeros(2)\nq[0] = a\n"
    "return q.sum() * b + d[3][0]",
    "two aliases": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\np = d[3]\nq = d[5]\np[0] = a\nreturn q[0] * b + p[0]",
    "two aliases may be one": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\np = d[3]\nq = d[numbers[0]]\np[0] = a\n"
    "return q[0] * b + p[0]",
    "alias in branch then store": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\nif b > 1:\n    q[0] = a\nq[1] = b\n"
    "return d[3].sum() * q[0]",
    "alias in loop": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2)\nq = d[3]\nfor n in numbers:\n    q[0] += a * n\n"
    "return d[3].sum() * q[0]",
    "nested list hold": "d = {}\nh = []\nfor n in numbers:\n    q = np.ones(2) * n\n    d[n] = q\n    h.append(q)\nd[3] += a\n"
    "return h[0].sum() * b + d[3][0]",
    "object hold": "class_ = None\nd = {}\nh = {'q': np.ones(2)}\nfor n in numbers:\n    d[n] = np.ones(2)\nd[3] = h['q']\n"
    "d[3] += a\nreturn h['q'].sum() * b + d[3][0]",
    "object hold 2": "d = {}\nh = {'q': np.ones(2)}\nfor n in numbers:\n    d[n] = np.ones(2)\nh['q'] = d[3]\nd[3] += a\n"
    "return h['q'].sum() * b + d[3][0]",
    "carried fresh": "d = {}\nq = np.ones(2)\nfor n in numbers:\n    d[n] = q\n    q[0] += a\n    q = q.copy()\ns = 0.0\n"
    "for k, v in d.items():\n    s = s * 0.9 + v[0] * v[1] * k\nreturn s",
    "choice": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nq = d[3] if b > 1 else d[5]\nq[0] = a\n"
    "return d[3].sum() * b + d[5].sum() + q[0]",
    "choice stmt": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nif b > 1:\n    q = d[3]\nelse:\n    q = d[5]\nq[0] = a\n"
    "return d[3].sum() * b + d[5].sum() + q[0]",
    "choice fresh": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nif b > 1:\n    q = d[3]\nelse:\n    q = np.ones(2)\n"
    "q[0] = a\nreturn d[3].sum() * b + d[5].sum() + q[0]",
    "swap rows": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nd[3], d[5] = d[5], d[3]\nd[3] += a\n"
    "return d[3].sum() * b + d[5][0]",
    "early return": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nfor k in d:\n    d[k] += a\n    if d[k][0] > 5:\n"
    "        return sum(v[0] * v[1] for v in d.values())\nreturn a",
    "view of item kept": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nr = d[3][:1]\nd[3] += a\nreturn r[0] * b",
    "item in known list": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nt = [d[3], d[5]]\nt[0][0] = b * a\nt[1] += a\n"
    "return d[3].sum() + d[5].sum() * b",
    "item in known list loop": "d = {}\nfor n in numbers:\n    d[n] = np.ones(2) * n\nt = [d[3], d[5]]\nfor v in t:\n    v += a\n"
    "return d[3].sum() + d[5].sum() * b",
    "nested lists of arrays": "d = {}\nfor n in numbers:\n    d.setdefault(n, []).append(x * n * a)\n"
    "return sum(sum(w.sum() for w in v) * k for k, v in d.items())",
    "nested lists of arrays written": "d = {}\nfor n in numbers:\n    d.setdefault(n, []).append(x * n * a)\nfor k in d:\n    d[k][0] += b\n"
    "return sum(sum(w.sum() for w in v) * k for k, v in d.items())",
    "pairs with arrays": "d = {}\nfor n in numbers:\n    d[n] = (x * n, a)\nq, w = d[3]\nq += a\nreturn d[3][0].sum() * w",
    "put in a dict by index": "L = []\nfor n in numbers:\n    L.append(np.ones(2) * n)\ne = {}\nfor i, n in enumerate(numbers):\n"
    "    e[n] = L[i]\nq = L[0]\nq[0] = a\nreturn e[3].sum() * b + q[0]",
}  # fmt: skip

#: lists and arrays beside things of other kinds, in lists whose items are of no one type
BESIDE = "L = []\nfor n in numbers:\n    L.append([a * n])\nM = []\nfor k in range(len(L)):\n    M.append((k, L[k]))\nfor k, v in M:\n    CHANGE\n"
CHANGES = ("v.append(b)", "v += [b]", "v *= 2", "v[0] = b", "v[0] += b", "del v[0]", "v.extend([a, b])", "v.insert(0, b)", "v.clear()")


def program(body: str) -> str:
    return "def f(a, b, numbers, x):\n" + "".join(f"    {line}\n" for line in body.splitlines())


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", SURE)
def test_what_is_followed(name: str) -> None:
    assert verdict(program(SURE[name]), [0.7, 1.3, NUMBERS, X]) == "right"


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", UNSURE)
def test_arrays_that_may_be_one(name: str) -> None:
    assert verdict(program(UNSURE[name]), [0.7, 1.3, NUMBERS, X]) in ("right", "refused")


@pytest.mark.sweep(9)
@pytest.mark.parametrize("change", CHANGES)
def test_lists_beside_numbers(change: str) -> None:
    text = program(BESIDE.replace("CHANGE", change) + "return sum(L[0]) * a + len(L[0])")
    assert verdict(text, [0.7, 1.3, NUMBERS, X]) in ("right", "refused")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SURE)
def test_both_targets(name: str) -> None:
    pytest.importorskip("numba")
    check_targets(program(SURE[name]), [0.7, 1.3, NUMBERS, X])
