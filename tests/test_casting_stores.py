"""Stores to arrays cast as in NumPy, and narrow integers wrap, on both targets: generated cases."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from against_numpy import function_of, judged

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: ways to store: of ``z`` in ``y``
STORES = """y[:] = z|y[...] = z|y[1:] = z[1:]|y[::2] = z[::2]|y[0] = z[1]|y[[2, 0]] = z[:2]|y[z > 1] = z[z > 1]|y += z|y -= z|y *= z|y[1:] += z[1:]|y[0] += z[0]|y[0] *= z[0]
np.add(y, z, out=y)|np.multiply(z, z, out=y)|y[1] = 1.7|y[:] = 2.9|y += 1.3|y *= 1.7|y[[0, 0, 1]] += z|np.copyto(y, z)|y.fill(1.7)|np.put(y, [0, 2], z[:2])
np.add.at(y, [0, 0, 2], z)|y[:] = z[::-1]|y[0], y[1] = z[1], z[0]|y[i] = z[i]|y[i] += z[i] * 0.7"""
FORMS = [form for line in STORES.splitlines() for form in line.split("|")]
HELD = ("f32", "f64", "i8", "i64", "bool")
GIVEN = ("f64", "f32", "i32", "u8", "bool")
NAMES = {
    "f32": "np.float32",
    "f64": "np.float64",
    "i8": "np.int8",
    "u8": "np.uint8",
    "i32": "np.int32",
    "i64": "np.int64",
    "u64": "np.uint64",
    "bool": "bool",
}
#: arithmetic of integers
SUMS = """a * b|a + b|a - b|a * a * b|a ** 2|-a|a // b|a % b|a << 1|a >> 1|a & b|a ^ b|~a|abs(a)|a * 3|a + 100|a[0] * b[0]|a[0] + b[0]|a[0] ** 3|np.square(a)
np.sum(a)|np.prod(a)|np.cumsum(a)|np.cumprod(a)|a @ b|np.dot(a, b)|np.outer(a, b)|np.add.reduce(a)|np.maximum(a, b)|a.sum() * a[0]|np.diff(a)|a * np.int8(2)|int(a[0]) * int(b[0])
int(a[0]) + 1|float(a[0]) * 1.5|a.astype(np.int8) * 3|np.mean(a)|a / b|a[0] / 3|np.sqrt(a)|a > b|a == 100|np.clip(a, 1, 90)|np.abs(-a)|np.kron(a, b)"""
OPERATIONS = [operation for line in SUMS.splitlines() for operation in line.split("|")]
INTEGERS = ("i8", "u8", "i32", "u64", "i64", "bool")


def array_of_kind(name: str, salt: int = 0) -> Any:
    """Three numbers of a dtype, large ones if they are narrow integers."""
    array = np.array([[100, 50, 3], [7, 120, 90]][salt]) if name != "bool" else np.array([[1, 0, 1], [1, 1, 0]][salt])
    return (array + (0.1 if name[0] == "f" else 0)).astype(NAMES[name].removeprefix("np."))


def stored(form: str, held: str) -> Any:
    """A function that stores in an array of a dtype, and uses it."""
    loop = "for i in range(3):\n        " if "[i]" in form else ""
    return function_of(
        f"import numpy as np\ndef f(x, z):\n    y = np.ones(3, {NAMES[held]})\n    {loop}{form}\n    return y, y * x, x[0] * y[1]\n"
    )


def of_integers(operation: str) -> Any:
    return function_of(
        f"import numpy as np\ndef f(x, a, b):\n    made = {operation}\n    return made, x[0] * made, np.sum(x) * np.sum(made)\n"
    )


X = np.array([0.7, -1.3, 2.1])
STORED = [(form, held, kind) for form, held, kind in product(FORMS, HELD, GIVEN)]
COMPUTED = list(product(OPERATIONS, INTEGERS))
FEW = 9  #: the fast tests try one in so many


def check_store(form: str, held: str, kind: str, jit: Any) -> str:
    """What becomes of a store: ``z`` carries a derivative where it is of floats, but not where it is stored in integers."""
    z = array_of_kind(kind)
    if held not in ("f32", "f64") and kind[0] == "f":
        verdict = judged(stored(form.replace("z", "z.round()"), held), {"x": X, "z": z}, jit=jit)
    else:
        verdict = judged(stored(form, held), {"x": X, "z": z}, jit=jit)
    assert verdict[0] in ("right", "refused", "not taken"), (form, held, kind, verdict)
    return verdict[0]


def check_integers(operation: str, kind: str, jit: Any) -> str:
    verdict = judged(of_integers(operation), {"x": X, "a": array_of_kind(kind), "b": array_of_kind(kind, 1)}, jit=jit)
    assert verdict[0] in ("right", "refused", "not taken"), (operation, kind, verdict)
    return verdict[0]


def test_stores_cast_as_numpys_do() -> None:
    outcomes = [check_store(*case, False) for case in STORED[::FEW]]
    assert outcomes.count("right") > len(outcomes) // 3


def test_integers_wrap_as_numpys_do() -> None:
    outcomes = [check_integers(*case, False) for case in COMPUTED[::5]]
    assert outcomes.count("right") > len(outcomes) // 2


@pytest.mark.slow
@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("held", HELD)
def test_all_stores_cast_as_numpys_do(held: str, jit: Any) -> None:
    cases = [case for case in STORED if case[1] == held]
    for case in cases[:: 4 if jit else 1]:
        check_store(*case, jit)


@pytest.mark.slow
@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("kind", INTEGERS)
def test_all_integers_wrap_as_numpys_do(kind: str, jit: Any) -> None:
    for operation in OPERATIONS[:: 3 if jit else 1]:
        check_integers(operation, kind, jit)


#: ways to use an array that is not returned, of which kernels keep less than the array
UNSEEN = (
    "return np.sum(y * x)",
    "return np.dot(y, x)",
    "return (y * x).sum() + y[1]",
    "t = 0.0\n    for k in range(3):\n        t += y[k] * x[k]\n    return t",
)
ONES = ("np.ones(3, {})", "x.astype({})", "np.zeros(3, {}) + x.astype({})")


@pytest.mark.sweep(26)
@pytest.mark.parametrize(
    ("form", "held", "use", "expression"),
    list(product([f for f in FORMS if "[i]" not in f], ("f32", "i32"), UNSEEN, ONES)),
    ids=lambda value: str(value).replace("\n", " "),
)
def test_what_is_stored_is_rounded_though_the_array_is_never_made(form: str, held: str, use: str, expression: str) -> None:
    text = expression.replace("{}", NAMES[held])
    form = form if held == "f32" else form.replace("z", "z.round()")
    source = f"import numpy as np\ndef f(x, z):\n    y = {text}\n    {form}\n    {use}\n"
    arguments = {"x": X, "z": array_of_kind("f64") * 0.37}
    for jit in (False, True):
        verdict = judged(function_of(source), arguments, jit=jit)  # differences of what is rounded are not sure
        assert verdict[0] in ("right", "refused", "not taken", "gradient") or verdict[0] == "kind" and jit, (source, jit, verdict)
