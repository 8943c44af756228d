"""Values that a function writes to a file in memory and reads back: never a silent zero; files that do not decide the result are written."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import symgrad
from tests.plainly import function_of

#: ways to write ``x`` to the file ``b``, and to read a number back
WRITES = {
    "print": ("io.StringIO()", ["print(x[0], file=b)", "print(x[0], 1.0, sep=' ', file=b)"], "float(b.getvalue().split()[0])"),
    "save": ("io.BytesIO()", ["np.save(b, x)", "np.save(file=b, arr=x)", "np.save(arr=x, file=b)"], "np.load(io.BytesIO(b.getvalue()))[0]"),
    "savez": ("io.BytesIO()", ["np.savez(b, x)", "np.savez(b, y=x)"], "np.load(io.BytesIO(b.getvalue())).sum()"),
    "savetxt": ("io.StringIO()", ["np.savetxt(b, x)", "np.savetxt(X=x, fname=b)"], "float(b.getvalue().split()[0])"),
    "json": ("io.StringIO()", ["json.dump(float(x[0]), b)", "json.dump(fp=b, obj=float(x[0]))"], "json.loads(b.getvalue())"),
}
CALLS = [(name, call) for name, (_, calls, _) in WRITES.items() for call in calls]
X = np.array([0.7, -1.3])


def program(name: str, call: str, result: str) -> str:
    return f"import io, json\nimport numpy as np\ndef f(x):\n    b = {WRITES[name][0]}\n    {call}\n    return {result}\n"


@pytest.mark.parametrize(("name", "call"), CALLS)
def test_a_derivative_through_a_file_is_refused(name: str, call: str) -> None:
    function = function_of(program(name, call, f"{WRITES[name][2]} * x[1]"))
    with pytest.raises(symgrad.SymgradError) as refusal:
        symgrad.grad(function)(X)
    assert not isinstance(refusal.value, symgrad.errors.InvalidIR)


@pytest.mark.parametrize(("case", "jit"), [*product(CALLS, [False]), (CALLS[0], "auto")])
def test_a_file_that_does_not_decide_the_result_is_written(case: tuple[str, str], jit: bool | str) -> None:
    function = function_of(program(*case, "np.sum(x * x)"))
    np.testing.assert_allclose(symgrad.grad(function, jit=jit)(X), 2 * X, rtol=1e-14)
