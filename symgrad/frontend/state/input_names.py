"""Names the inputs of a program that are read from parts of arguments, or from outside.

The name of an input is the last part of its path: ``smooth`` for ``weights["smooth"]``. Where another input or an unrelated variable has
that name, the part before is added: ``weights_smooth``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable

from symgrad.ir.core import Value
from symgrad.text import identifier, is_name

WORDS = re.compile(r"[^\W\d]\w*|\d+")
#: words of a path that say only how Python stores a variable
STORAGE = frozenset({"__globals__", "__closure__", "__code__", "__dict__", "cell_contents"})


def qualified(path: str) -> str:
    """The last part of a path with the part before it, numbers not counted.

    >>> qualified('f.__globals__["WEIGHTS"]["smooth"]'), qualified("obstacles[0].x")
    ('WEIGHTS_smooth', 'obstacles_0_x')
    """
    words = [word for word in WORDS.findall(path) if word not in STORAGE]
    first = next((k for k in range(len(words) - 2, -1, -1) if not words[k].isdigit()), 0)
    return identifier("_".join(words[first:]))


def qualify(inputs: Iterable[tuple[Value, str]], variables: Iterable[Value], assigned: Container[Value]) -> None:
    """Rename inputs whose names other inputs, or ``variables``, have too.

    An input in ``assigned`` keeps its name: the user assigns it to the variable of that name.
    """
    parts = [(value, path) for value, path in inputs if value.name and not is_name(path) and "(" not in path and value not in assigned]
    if not parts:
        return
    names = Counter(value.name for value, _ in inputs)
    own = {value for value, _ in inputs}
    names.update({value.name for value in variables if value not in own})
    for value, path in parts:
        if names[value.name] > 1:
            value.name = qualified(path)


__all__ = ["qualify"]
