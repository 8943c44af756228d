"""Compiled kernels compared with Python: loops, elements, errors, ownership."""

import re
import sys

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from numba.core.runtime import _nrt_python, rtsys

from symgrad.runtime.compiling import KernelCompiler
from symgrad.runtime.memory import new_empty, new_zeros

OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True}


def compiled(function):
    return numba.njit(pipeline_class=KernelCompiler, **OPTIONS)(function)


# ------------------------------------------------------------------ loops


def up(n, a, b):
    total = 0
    for i in range(n):
        total = total * 3 + i
    for i in range(a, b):
        total = total * 5 + i
    return total


def down(n, a, b):
    total = 0
    for i in range(n - 1, -1, -1):
        for j in range(a, b, -1):
            total = (total * 3 + i * j) % 1000003
    return total


def by_two(n, a, b):
    total = 0
    for i in range(a, b, 2):
        total = total * 3 + i
    for i in range(b, a, -3):
        total = total * 3 + i
    return total


def by_a_variable(n, a, b):
    total = 0
    step = 1 if n > 2 else 2
    for i in range(a, b, step):
        total = total * 3 + i
    return total


def left(n, a, b):
    total = i = 0
    for i in range(n):
        if i == a:
            break
        for j in range(i):
            if j == b:
                continue
            total += j
    return total + 100 * i


def again(n, a, b):
    total = 0
    for k in range(3):
        n = n - k
        for i in range(n):
            total += i
            n = 7  # the range is made
        for i in range(n):
            total += 10 * i
    return total


@pytest.mark.parametrize("function", [up, down, by_two, by_a_variable, left, again], ids=lambda f: f.__name__)
def test_loops_go_as_in_python(function):
    kernel = compiled(function)
    for n in (-2, 0, 1, 2, 5):
        for a in (-3, 0, 4):
            for b in (-4, 0, 3, 4, 6):
                assert kernel(n, a, b) == function(n, a, b), (n, a, b)


# ------------------------------------------------------------------ elements


def places(x):
    n = x.shape[0]
    for i in range(n):
        x[i, 0] += 3 * x[i - 1, -1]
    for i in range(n - 1, -2, -1):
        x[i, 1] -= x[i, i]
    k = -n
    for i in range(n):
        x[k, i] = x[k, i] * 2
        k = k + 1
    for i in range(-1, 1):
        x[i, i] += 1
    return x[-1, -2] + x[0, 0]


KINDS = [np.float64, np.float32, np.int64, np.int8]
LAYOUTS = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "gaps": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", KINDS, ids=lambda d: d.__name__)
def test_elements_are_where_numpy_has_them(dtype, layout):
    mine, other = (LAYOUTS[layout]((np.arange(9).reshape(3, 3) % 5).astype(dtype)) for _ in range(2))
    with np.errstate(over="ignore"):
        want = places(other)
    assert compiled(places)(mine) == want
    assert np.array_equal(mine, other)


def by_numbers(x, mask, where, unsigned):
    total = 0.0
    for i in range(where.shape[0]):
        if mask[where[i]]:
            total += x[where[i], 0, i]
        x[0, where[i], unsigned[i]] = i
        mask[i] = not mask[where[i]]
    return total


def test_indices_from_arrays_count_from_the_end():
    x, mask = np.arange(27.0).reshape(3, 3, 3), np.array([True, False, True])
    where, unsigned = np.array([-1, 2, -3]), np.array([0, 1, 2], np.uint8)
    y, other = x.copy(), mask.copy()
    assert compiled(by_numbers)(x, mask, where, unsigned) == by_numbers(y, other, where, unsigned)
    assert np.array_equal(x, y) and np.array_equal(mask, other)


def sum_below_zero(x, n):
    total = 0.0
    at = n
    for i in range(3):
        total += x[at]
        at = at - 1 if i > 0 else at + 0
    low = 0
    for i in range(3):
        total += 10.0 * x[low]
        low = low * 2 - 1
    return total


def test_what_may_become_negative_counts_from_the_end():
    x = np.arange(5.0)
    assert compiled(sum_below_zero)(x, 0) == sum_below_zero(x, 0)


def shared(x):
    y = x
    for i in range(2):
        if i == 1:
            y = new_zeros((3,))
        y[i] += 1.0
        pair = (i, i + 1)
        x[pair[1]] += pair[0]
    return x, y


def test_variables_that_stand_for_several_arrays():
    x, y = np.ones(3), np.ones(3)
    for a, b in zip(compiled(shared)(x), shared(y)):
        assert np.array_equal(a, b)


def test_bounds_are_checked_if_that_is_asked_for():
    kernel = numba.njit(pipeline_class=KernelCompiler, boundscheck=True, **OPTIONS)(lambda x, i: x[i])
    assert kernel(np.ones(3), -3) == 1.0
    with pytest.raises(IndexError):
        kernel(np.ones(3), 3)


# ------------------------------------------------------------------ errors, and memory


def checked(x, limit):
    if x.shape[0] < 2:
        raise ValueError
    total = 0.0
    held = new_empty((2,))
    for i in range(x.shape[0]):
        array = new_zeros((4,))
        if x[i] > limit:
            raise ArithmeticError
        array[0] = x[i]
        held = array
        if x[i] == limit:
            raise ValueError
    for i in range(4):
        total += held[i]
    return x, held, total


def in_use():
    stats = rtsys.get_allocation_stats()
    return stats.mi_alloc - stats.mi_free


@pytest.fixture
def counted():
    """Allocations are counted."""
    _nrt_python.memsys_enable_stats()
    yield
    _nrt_python.memsys_disable_stats()


def test_errors_are_raised_and_lose_no_memory(counted):
    kernel, x = compiled(checked), np.array([1.0, 2.0, 3.0])
    kernel(x, 9.0)
    before, references = in_use(), sys.getrefcount(x)
    for _ in range(10):
        with pytest.raises(ValueError):
            kernel(x[:1], 9.0)
        with pytest.raises(ValueError):
            kernel(x, 3.0)
        with pytest.raises(ArithmeticError):
            kernel(x, 1.5)
        same, held, total = kernel(x, 9.0)
        assert np.shares_memory(same, x) and total == 3.0 and list(held) == [3.0, 0.0, 0.0, 0.0]
    del same, held
    assert in_use() == before and sys.getrefcount(x) == references


# ------------------------------------------------------------------ what it is for


def stencil(x, y):
    n, m = x.shape
    if n < 2:
        raise ValueError
    if m < 2:
        raise ValueError
    for i in range(n - 1):
        for j in range(m - 1):
            y[i, j] = x[i, j] * x[i + 1, j] + x[i, j + 1] * y[i, j]
    for i in range(n - 1, -1, -1):
        for j in range(m):
            x[i, j] += y[i, j] * 2.0
    return x[0, 0]


def test_llvm_is_given_less_than_half(monkeypatch):
    sizes = []
    add = numba.core.codegen.CPUCodeLibrary.add_ir_module

    def count(library, module):
        sizes.append(len(re.findall("\n", str(module))))
        add(library, module)

    monkeypatch.setattr(numba.core.codegen.CPUCodeLibrary, "add_ir_module", count)
    types = (numba.float64[:, ::1], numba.float64[:, ::1])
    numba.njit(error_model="numpy")(stencil).compile(types)
    whole = list(sizes)
    sizes.clear()
    compiled(stencil).compile(types)
    assert len(sizes) == len(whole) - 1 and sizes[0] < whole[0] / 2


def polynomial(x, n):
    total = x
    for i in range(n):
        total = total * x + 1.5 * i
        total = total * x - 0.5 * i
        total = total * x + 2.5 * i
        total = total * x - 3.5 * i
    return total


def test_the_same_is_asked_of_numba_when_types_are_inferred_and_when_it_is_lowered(monkeypatch):
    asked = []
    find = numba.types.Function.get_call_type

    def get_call_type(function, context, args, keywords):
        asked.append((function, tuple(args)))
        return find(function, context, args, keywords)

    monkeypatch.setattr(numba.types.Function, "get_call_type", get_call_type)
    kernel = compiled(polynomial)
    assert kernel(0.5, 3) == polynomial(0.5, 3)
    products = [what for what in asked if what[0].name.startswith("Function(<built-in function mul>")]
    assert 0 < len(products) <= 2 * len(set(products)) < 8


def refused(x):
    return x + "text"


def test_what_is_remembered_is_forgotten_after_a_refusal():
    with pytest.raises(numba.errors.TypingError):
        compiled(refused)(1.0)
    assert "resolve_function_type" not in vars(numba.core.registry.cpu_target.typing_context)
