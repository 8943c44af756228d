"""Parts of an array copied to other parts through other arrays: each is a copy."""

from itertools import product

import numpy as np
import pytest

from tests.against_numpy import function_of, judged

BETWEEN = {
    "whole": "t = np.empty_like(b[0])\nt[...] = SOURCE\nTARGET = t",
    "all": "t = np.zeros(2)\nt[:] = SOURCE\nTARGET = t",
    "two": "t = np.empty(2)\nt[...] = SOURCE\nu = np.empty(2)\nu[...] = t\nTARGET = u",
    "alias": "t = np.empty_like(SOURCE)\nt[...] = SOURCE\nc = b\nTARGET = t[...]",
    "copy": "t = SOURCE.copy()\nTARGET = t[:]",
    "view": "t = SOURCE\nTARGET = t",
    "parts": "t = np.empty(2)\nt[:1] = SOURCE[:1]\nt[1:] = SOURCE[1:]\nTARGET = t",
    "scaled": "t = np.empty(2)\nt[...] = SOURCE\nt *= 0.7\nTARGET = t",
    "filled": "t = np.empty(2)\nnp.copyto(t, SOURCE)\nTARGET = t",
    "out": "t = np.empty(2)\nnp.multiply(SOURCE, 0.9, out=t)\nTARGET = t",
    "swap": "b[0], b[1] = b[1], b[0]\nTARGET = SOURCE * 0.5",
}
PARTS = {
    "row": ("b[i]", "b[0]"),
    "next": ("b[i]", "b[(i + 1) % 2]"),
    "column": ("b[i]", "b[:, 1]"),
    "turned": ("b[:, 0]", "b[i]"),
    "item": ("r", "b[0]"),
}
LOOPS = {
    "counted": "for i in range(2):\n    r = b[i]\n    BODY",
    "rows": "i = -1\nfor r in b:\n    i += 1\n    BODY",
    "while": "i = 0\nwhile i < 2:\n    r = b[i]\n    BODY\n    i += 1",
    "once": "i = n\nr = b[i]\nBODY",
}


RESULTS = ("np.sum(b * np.array([[0.7, 0.2], [-1.3, 0.9]]))", "np.sum(b * w) + np.sum(np.sin(b[0]) * b[1])")


@pytest.mark.sweep(16)
@pytest.mark.parametrize("owner", ["b", "x * 1.5"])
@pytest.mark.parametrize(("between", "parts", "loop", "result"), list(product(BETWEEN, PARTS, LOOPS, RESULTS)), ids=str)
def test_what_is_stored_was_copied(between: str, parts: str, loop: str, result: str, owner: str) -> None:
    source, target = PARTS[parts]
    body = BETWEEN[between].replace("SOURCE", source).replace("TARGET", target)
    form = LOOPS[loop]
    indented = form.replace("BODY", body.replace("\n", "\n    " if loop != "once" else "\n"))
    own = "" if owner == "b" else f"b = {owner}\n"
    text = f"import numpy as np\ndef f({owner[0]}, w, n):\n" + "".join(
        f"    {line}\n" for line in f"{own}{indented}\nreturn {result}".splitlines()
    )
    arguments = {owner[0]: np.array([[0.3, -0.8], [1.1, 0.6]]), "w": np.array([[0.7, 0.2], [-1.3, 0.9]]), "n": 1}

    verdict = judged(function_of(text), arguments)

    assert verdict[0] in ("right", "refused"), (text, verdict)
