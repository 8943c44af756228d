"""Builtin functions and classes."""

from __future__ import annotations

import types

import numpy as np

from tests.language.table import Section

BUILTINS = Section("Builtin functions")
read, carried_out, kept, refused = BUILTINS.read, BUILTINS.carried_out, BUILTINS.kept, BUILTINS.refused
ERROR = "UnsupportedSyntax"


class Plain:
    """An object with an attribute."""

    def __init__(self, value):
        self.value = value


class Named(Plain):
    """One with what a class may define."""

    def __init__(self, value):
        super().__init__(value)
        object.__setattr__(self, "factor", 3.0)

    @property
    def half(self):
        return self.value / 2.0

    @staticmethod
    def twice(value):
        return 2.0 * value

    @classmethod
    def of(cls, value):
        return cls(value)


def changed_by_name(owner, y):
    setattr(owner, "value", owner.value * y)
    return vars(owner)["value"]


read("abs", "pow", "round")(lambda x, y: abs(-x) * pow(x, y) * round(x))
read("sum")(lambda v: sum(v) * sum([v[0], v[1]], 2.0))
read("max", "min")(lambda x, y, v: max(x, y) * min(v) + max(v, key=abs))
read("divmod")(lambda x, y: divmod(x, y)[1] * divmod(x, y)[0])
read("float", "int")(lambda x, n: float(x) * int(x) * float(n))
read("complex")(lambda x, y: abs(complex(x, y) ** 2))
read("bool", "all", "any")(lambda x, v: x * x if bool(x) and all(v) and any(a > 1.0 for a in v) else x)
read("sorted", "reversed")(lambda v: sorted(v)[0] * list(reversed(v))[0])
read("len")(lambda v: np.sum(v * v) / len(v))
read("range")(lambda x, n: sum(x**k for k in range(1, n)))
read("enumerate", "zip")(lambda v: sum(k * a * b for k, (a, b) in enumerate(zip(v, v[1:]))))
read("map", "filter")(lambda v: sum(map(lambda a: a * a, filter(lambda a: a > 0.0, v))))
read("iter", "next")(lambda v: next(iter(v)) ** 2)
carried_out("list", "tuple")(lambda x, y: list((x, y))[0] * tuple([x, y])[1])
carried_out("dict")(lambda x, y: dict(a=x, b=y)["a"] * dict([("c", y)])["c"])
carried_out("set", "frozenset")(lambda x: x * len(set((1, 2, 2))) * len(frozenset([1, 1])))
carried_out("slice")(lambda v: np.sum(v[slice(1, None)] ** 2))
carried_out("isinstance", "callable")(lambda x: x * x if isinstance(x, float) and callable(abs) else x)
carried_out("issubclass")(lambda x: x * x if issubclass(bool, int) else x)
carried_out("type")(lambda x: x * x if type(x) is float else x)
carried_out("getattr", "hasattr")(lambda v: np.sum(getattr(v, "T") ** 2) if hasattr(v, "shape") else 0.0)
carried_out("super", "object", "property", "staticmethod", "classmethod", beside=(Plain, Named))(
    lambda x: Named.of(x).half * Named.twice(x) * Named(x).factor
)
carried_out("vars", "setattr", beside=(changed_by_name,))(lambda x, y: changed_by_name(Plain(x), y))
carried_out("str", "repr", "format")(lambda x, n: x * len(str("ab")) * len(repr("c")) * len(format(12, "5d")))
kept("chr", "ord", "hex", "bin", "oct", "ascii")(lambda x: x * (ord("a") + len(chr(98) + hex(17) + bin(5) + oct(9) + ascii("e"))))
kept("bytes", "bytearray", "memoryview")(lambda x: x * len(bytes(3)) * len(bytearray(2)) * len(memoryview(b"a")))


def without_attribute(x):
    point = types.SimpleNamespace(a=x, b=2.0)
    del point.b
    return point.a * x


@refused("delattr", error=ERROR, instead=without_attribute)
def without_attribute_by_name(x):
    point = types.SimpleNamespace(a=x, b=2.0)
    delattr(point, "b")
    return point.a * x


carried_out("NotImplemented", "Ellipsis")(lambda v: np.sum(v[...] ** 2) if NotImplemented is not Ellipsis else 0.0)
carried_out("None", "True", "False")(lambda x: x * x if None is not True is not False else x)


@kept("print")
def printed(x):
    print("at", x)
    return x * x


@kept("str", text='"{}".format(x)')
def printed_as_text(x):
    print(str(x))
    return x * x


@kept("open")
def written_to_a_file(x):
    stream = open("/dev/null")
    stream.close()
    return x * x


def frames(name, function, instead=lambda x: x * x):
    refused(name, error=ERROR, instead=instead)(function)


frames("eval", lambda x: eval("x * x"))
frames("exec", lambda x: exec("y = 1") or x * x)
frames("compile", lambda x: x * x if compile("1", "", "eval") else x)
frames("locals", lambda x: locals()["x"] ** 2)
frames("globals", lambda x: x * x if globals() else x)
frames("dir", lambda x: x * x if dir() else x)
frames("vars", lambda x: vars()["x"] ** 2)
refused("breakpoint", error=ERROR, instead=lambda x: x * x, runs=False)(lambda x: x * x if breakpoint() is None else x)
refused("input", error=ERROR, instead=lambda x: x * x, runs=False)(lambda x: float(input()) * x)
refused("hash", error=ERROR, instead=lambda x: x * x)(lambda x: x * x if hash(x) else x)
kept("id")(lambda x: x * x if id(x) else x)

SECTIONS = [BUILTINS]
