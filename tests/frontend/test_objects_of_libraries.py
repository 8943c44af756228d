"""Library objects that a function reads: dates, fractions, paths, matches, rows."""

from __future__ import annotations

import datetime

import pytest

import symgrad
from symgrad.errors import SymgradError
from tests.plainly import function_of, verdict

HEAD = "import csv, datetime, fractions, io, os, pathlib, re\nimport numpy as np\n"
PROGRAMS = {
    "dates made": "def f(x):\n    days = (datetime.date(2020, 3, 1) - datetime.date(2020, 1, 1)).days\n    return x ** (days / 365.25) * days\n",
    "dates outside": """
FLOWS = [(datetime.date(2021, 1, 1), 5.0), (datetime.date(2022, 1, 1), 105.0)]
NOW = datetime.datetime(2020, 1, 1, 12)
def f(x, today=datetime.date(2020, 1, 1)):
    late = NOW + datetime.timedelta(days=2) > NOW
    return sum(flow / (1 + x) ** ((day - today).days / 365) for day, flow in FLOWS) + x * late + x * NOW.hour
""",
    "fraction": "THIRD = fractions.Fraction(1, 3)\ndef f(x):\n    return x * THIRD + x * x * float(THIRD) + THIRD.denominator * x\n",
    "path": """
PLACE = pathlib.Path("/a/b.txt")
def f(x):
    return x * x * len(PLACE.name) if PLACE.suffix == ".txt" and PLACE.parent.name == "a" else x * len(str(PLACE / "c"))
""",
    "found in a text": "def f(x):\n    return sum(float(m) for m in re.findall(r'[0-9]+', '1 2 3')) * x\n",
    "pairs found": """
def f(x, spec="k=2.5;n=3"):
    s = 0.0
    for name, v in re.findall(r"([a-z]+)=([0-9.]+)", spec):
        if name == "k":
            s += x * float(v)
        else:
            s += x ** float(v)
    return s
""",
    "unpacked": "def f(x):\n    a, b = re.findall(r'[0-9]', '7 8')\n    return x * float(a) + x * x * float(b)\n",
    "too many to unpack": "def f(x):\n    a, b = re.findall(r'[0-9]', '7 8 9')\n    return x * float(a)\n",
    "a match": "def f(x):\n    m = re.match(r'([0-9]+)x([0-9]+)', '3x4')\n    return x * int(m.group(1)) * int(m[2]) if m else x\n",
    "rows read": """
def f(x):
    s = 0.0
    for row in csv.reader(io.StringIO("1,2\\n3,4\\n")):
        s += float(row[0]) * x + float(row[1]) * x * x
    return s
""",
    "names": "def f(x):\n    return x * len([n for n in os.listdir('.') if n.endswith('.no')]) + x\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    assert verdict(HEAD + PROGRAMS[name], [0.7]) == ("raises" if name.startswith("too many") else "right")


def test_a_date_outside_that_is_replaced() -> None:
    f = function_of(HEAD + "DAY = datetime.date(2020, 1, 3)\ndef f(x):\n    return x ** DAY.day\n")
    derivative = symgrad.grad(f)
    assert derivative(0.7) == pytest.approx(3 * 0.49)
    f.__globals__["DAY"] = datetime.date(2020, 1, 2)
    assert derivative(0.7) == pytest.approx(1.4)


NAMED = """
def f(x):
    rows = csv.reader(io.StringIO("1,2\\n3,4\\n"))
    s = 0.0
    for row in rows:
        s += float(row[0]) * x
        break
    for row in rows:
        s += float(row[1]) * x * x
    return s
"""


#: what may go on with an iterator where a loop has left it
LOOPS = {
    "for": "for row in rows:",
    "enumerate": "for k, row in enumerate(rows):",
    "zip": "for row, k in zip(rows, [1.0, 2.0]):",
    "iter": "for row in iter(rows):",
}


@pytest.mark.parametrize("name", LOOPS)
def test_an_iterator_that_has_a_name_is_refused(name: str) -> None:
    """It would be read at once, and Python goes on with it where a loop has left it."""
    text = HEAD + NAMED.replace("for row in rows:", LOOPS[name])
    with pytest.raises(SymgradError, match="iterated over") as refused:
        symgrad.grad(function_of(text))(0.7)
    assert (refused.value.hint or "").startswith("make it a list")
    assert verdict(text.replace("csv.reader(io.StringIO(", "list(csv.reader(io.StringIO(").replace('"))\n', '")))\n'), [0.7]) == "right"


def test_a_list_of_an_iterator_that_has_a_name_is_read() -> None:
    text = (
        HEAD
        + "def f(x):\n    rows = csv.reader(io.StringIO('1,2'))\n    kept = list(rows)\n    return x * len(kept) + x * x * len(list(rows))\n"
    )
    assert verdict(text, [0.7]) == "right"


FIELDS = "def f(x):\n    r = np.zeros(3, dtype=[('p', float), ('q', float)])\n    return r.size * x\n"


def test_dtypes_with_fields_are_refused() -> None:
    with pytest.raises(SymgradError, match="dtype") as refused:
        symgrad.grad(function_of(HEAD + FIELDS))(0.7)
    assert refused.value.hint == "use an array of numbers, one for each field"
    assert verdict(HEAD + "def f(x):\n    p, q = np.zeros(3), np.zeros(3)\n    return p.size * x + q.sum()\n", [0.7]) == "right"
