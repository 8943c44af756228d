"""Operators on numbers, arrays, lists and texts."""

from __future__ import annotations

import numpy as np

from tests.language.table import Section

OPERATORS = Section("Operators")
read, carried_out = OPERATORS.read, OPERATORS.carried_out

read("Add", "Sub", "Mult", "Div", "Pow")(lambda x, y: (x + y) * (x - y) / x**y)
read("FloorDiv", "Mod")(lambda x, y: (x // y + x % y) * x)
read("MatMult")(lambda m, v: np.sum(m @ v[:2]))
read("UAdd", "USub")(lambda x: +x * -x)
read("Not", "And", "Or")(lambda x, y: x * y if not (x > 2.0 or y > 2.0 and x > 1.0) else x)
read("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE")(
    lambda x, y: x * ((x == y) + (x != y) + 2 * (x < y) + 3 * (x <= y) + 4 * (x > y) + 5 * (x >= y))
)
read("BitAnd", "BitOr", "BitXor", "Invert")(lambda v: np.sum(v[(v > 0.0) & ~(v > 1.0) | (v > 2.0) ^ (v > 1.5)] ** 2))
read("LShift", "RShift")(lambda x, n: x * (n << 2) + x * (n >> 1))
carried_out("Is", "IsNot")(lambda x, y: x * y if x is not None and None is None else y)
carried_out("In", "NotIn")(lambda x, y: x * y if "a" in {"a": x} and "b" not in ("a", "c") else y)
read("Add", "Mult")(lambda x, y: sum([x, y] + [x * y] * 2))
read("In")(lambda x, n: x * x if n in (1, 3) else x)

SECTIONS = [OPERATORS]
