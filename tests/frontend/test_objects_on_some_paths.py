"""Lists, dicts and instances held by a dict or instance on some paths only, compared with plain Python."""

from __future__ import annotations

import pytest

import symgrad
from tests.plainly import HEAD, check_kernel_and_second_derivative, function_of, verdict

POINTS = [(0.5, 1.5), (-0.5, 1.5), (0.5, -1.5), (-0.5, -1.5)]
CLASS = "class O:\n    def __init__(self, v): self.v = v\n"
PROGRAMS = [
    "if a > 0: d['k'] = [a]\nl = d.get('k', [])\ns = len(l) * b + sum(l)",
    "if a > 0: d['k'] = [a]\nd['k'] = d.get('k', []) + [b]\ns = len(d['k']) * a + d['k'][0] * 3",
    "if a > 0: d['k'] = [a]\nl = d.setdefault('k', [])\nl.append(b)\ns = len(l) * a + sum(d['k'])",
    "if a > 0: d['k'] = [a]\nl = d['k'] if 'k' in d else [b, b, a]\ns = sum(l) * len(l)",
    "if a > 0: d['k'] = O(a)\no = d.get('k', O(b))\no.v *= 2\ns = (d['k'].v if 'k' in d else b) + o.v * 3",
    "o = O(a)\nif a > 0: o.w = [a, b]\nif b > 0: o.w = [b]\ns = (sum(o.w) if hasattr(o, 'w') else a) + len(getattr(o, 'w', [])) * b",
    "if a > 0: d['k'] = {'z': a}\ntry:\n    s = d['k']['z'] * 3\n    d['k']['y'] = b\nexcept KeyError as e:\n    print(e)\n    s = b\ns += len(d) * a",
    "k = 'lo' if a > 0 else 'hi'\nd[k] = [a]\nif b > 0: d.pop(k)\ns = len(d) * a + b",
    "for v in (a, b):\n    k = 'lo' if v > 0 else 'hi'\n    d[k] = [v]\n    if v > 1: s += d.pop(k)[0]\ns += len(d) * a",
    "for v in (a, b, a):\n    if v > 0: continue\n    d['k'] = d.get('k', []) + [v]\n    if len(d['k']) == 2: s += d.pop('k')[0] * b\ns += len(d)",
]


def program(body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return f"{CLASS}def f(a, b):\n    d = {{}}\n    s = a * b\n{lines}    return s * (1 + a * a)\n"


@pytest.mark.parametrize("body", PROGRAMS)
def test_both_paths_are_those_of_python(body: str) -> None:
    for point in POINTS:
        assert verdict(program(body), list(point)) == "right"


@pytest.mark.parametrize("body", PROGRAMS[1:10:4])
def test_kernels_and_second_derivatives(body: str) -> None:
    check_kernel_and_second_derivative(program(body), POINTS[0])


def test_one_function_takes_one_path_after_the_other() -> None:
    for body in PROGRAMS:
        f = function_of(HEAD + program(body))
        derivative = symgrad.value_and_grad(f, wrt=("a", "b"))
        for point in POINTS:
            assert derivative(*point)[0] == pytest.approx(f(*point))
