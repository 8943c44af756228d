"""Expressions and patterns, one or a few an example."""

from __future__ import annotations

import numpy as np

from tests.language.table import Section

EXPRESSIONS = Section("Expressions")
PATTERNS = Section("Patterns of match")
read, carried_out, kept, refused = EXPRESSIONS.read, EXPRESSIONS.carried_out, EXPRESSIONS.kept, EXPRESSIONS.refused
read("Name", "Constant", "BinOp", "UnaryOp")(lambda x, y: -x * 2.0 + y**3)
read("BoolOp", "Compare", "IfExp")(lambda x, y: x * y if 0.0 < x < 10.0 and not y > 5.0 else y)
read("Call", "Attribute", "keyword")(lambda v: np.sum(v.T * v, axis=0))
read("Subscript", "Slice")(lambda v: v[0] * v[-1] + np.sum(v[::2] ** 2) + v[v > 1.0].sum())
read("Lambda")(lambda x, y: (lambda a, b=y: a * b)(x))
read("NamedExpr")(lambda x: (y := x * x) + y)
read("Tuple", "List", "Starred")(lambda x, y: [x, *(x * y, y)][1] * x)
carried_out("Dict")(lambda x, y: {"a": x, **{"b": y}}["b"] * x)
kept("Set", "SetComp", text="set(items)")(lambda x, n: x * len({n, n * n} & {1, 2}) + x * len({k % n for k in range(n + 40)}))
carried_out("Set")(lambda x, n: x * x if 2 in {1, 2} else x)
read("ListComp", "comprehension")(lambda v: sum([a * b for a in v for b in v if b > 0.0]))
read("GeneratorExp")(lambda v: max(a * a for a in v))
carried_out("DictComp")(lambda x: {k: x**k for k in range(4)}[3])
carried_out("SetComp")(lambda x: x * len({k % 2 for k in (1, 2, 3)}))


@read("Yield", "YieldFrom")
def generator(x, n):
    def powers():
        for k in range(n):
            yield x**k
        yield from [x, 2.0 * x]

    return sum(a * x for a in powers())


@read("Yield")
def values_that_are_sent(x, y):
    def total():
        received, total = 0.0, 0.0
        while True:
            total += received
            received = yield total

    adding = total()
    next(adding)
    return adding.send(x) * adding.send(y)


@kept("JoinedStr", "FormattedValue", text='print("at {:.3f}".format(x))')
def text_with_values(x):
    print(f"at {x:.3f}")
    return x * x


async def later(x):
    return x


@refused("Await", "anext", "aiter", error="UnsupportedSyntax", instead=lambda x: x * x, runs=False)
def waited(x):
    async def square():
        return x * await later(x) * await anext(aiter([x]))

    return square()


@refused("Set", error="NoDerivative", instead=lambda x, y: sum((x * y, x)))
def set_of_computed_values(x, y):
    return sum({x * y, x})


pattern = PATTERNS.read


@pattern("MatchValue", "MatchSingleton", "MatchOr", "MatchAs")
def of_values(x, n):
    match n:
        case None | True:
            return x
        case 3 | 4 as number:
            return x**number
        case other:
            return other * x


@PATTERNS.carried_out("MatchSequence", "MatchStar")
def of_sequences(x, y):
    match [x, y, x * y]:
        case [first, *_, last]:
            return first * last


@PATTERNS.carried_out("MatchMapping")
def of_dicts(x, y):
    match {"kind": "sum", "a": x, "b": y}:
        case {"kind": "sum", "a": a, **rest}:
            return a * rest["b"]


class Shape:
    """What a pattern of a class is asked for."""

    __match_args__ = ("width",)

    def __init__(self, width, height):
        self.width, self.height = width, height


@PATTERNS.carried_out("MatchClass", beside=(Shape,))
def of_instances(x, y):
    match Shape(x, y):
        case Shape(width, height=height):
            return width * height


SECTIONS = [EXPRESSIONS, PATTERNS]
