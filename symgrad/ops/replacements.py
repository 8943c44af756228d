"""Hints for functions and methods without a rule: their replacements. ``tests/ways_out.py`` follows each hint."""

from __future__ import annotations

from typing import Any

#: for functions that modify their argument, if no other way is known
WRITE_OUT = "replace it by statements of your own, or call it before and pass the result"
#: for functions that take a function
IN_A_LOOP = "replace it by a loop or a comprehension"
#: for functions that read the variables of a running function
NAMED = "write the expression out, or pass the values in a dict"

#: functions and classes by module and name
FUNCTIONS = {
    "numpy.roots": "write np.linalg.eigvals of its companion matrix",
    "collections.UserDict": "use a dict",
    "collections.UserList": "use a list",
    "collections.UserString": "use a str",
    "contextlib.closing": "write try and finally, and call close() there",
    "builtins.delattr": "write del with the name, as in del point.name",
}

#: methods of numbers, texts, dicts and sets by name
METHODS = {
    "as_integer_ratio": "call it before, and pass its result as an argument",
    "hex": "call it before, and pass its result as an argument",
    "to_bytes": "call it before, and pass its result as an argument",
}

#: functions that inspect a running function beyond its variables
OF_FRAMES = {
    "breakpoint": "leave it out; pdb.runcall(df.debug(x), x) steps through the derivative df",
    "input": "read it before, and pass it as an argument",
    "compile": "compile it before, outside of the function",
    "globals": "name the variable itself, or pass it as an argument",
    "stack": "pass the text or number that you need of its result as an argument",
}


def instead_of(function: Any) -> str | None:
    """Return the replacement for a function or class without a rule, or None.

    >>> import collections
    >>> instead_of(collections.UserDict)
    'use a dict'
    """
    module = getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    if module is None and owner is not None:  # a method of the generator behind the functions of ``random``
        module = type(owner).__module__
    return FUNCTIONS.get(f"{(module or '').lstrip('_')}.{getattr(function, '__name__', '')}")


__all__ = ["FUNCTIONS", "IN_A_LOOP", "METHODS", "NAMED", "OF_FRAMES", "WRITE_OUT", "instead_of"]
