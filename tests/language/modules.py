"""Functions and classes of Python's own modules."""

from __future__ import annotations

import bisect
import cmath
import collections
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import random
import statistics
import types

import numpy as np

from tests.language.table import Section

MATH = Section("math")
CMATH = Section("cmath")
ITERTOOLS = Section("itertools")
FUNCTOOLS = Section("functools")
COLLECTIONS = Section("collections")
OPERATOR = Section("operator")
RANDOM = Section(
    "random",
    "Numbers drawn at run time are constants. If the parameters of a draw carry a derivative, use a generator of NumPy:\n"
    "`rng.normal(x, 1.0)`.",
)
COPY = Section("copy")
OTHERS = Section("Other modules")
ERROR = "UnsupportedSyntax"
UNKNOWN = "UnknownFunction"

read = MATH.read
read("math.sin", "math.cos", "math.tan")(lambda x: math.sin(x) + math.cos(x) * math.tan(x))
read("math.asin", "math.acos", "math.atan", "math.atan2")(lambda x, y: math.asin(y) * math.acos(y) + math.atan(x) + math.atan2(x, y))
read("math.sinh", "math.cosh", "math.tanh", "math.asinh", "math.acosh", "math.atanh")(
    lambda x, y: math.sinh(x) + math.cosh(x) * math.tanh(y) + math.asinh(x) + math.acosh(x) + math.atanh(y)
)
read("math.exp", "math.exp2", "math.expm1", "math.log", "math.log2", "math.log10", "math.log1p")(
    lambda x, y: math.exp(x) + math.exp2(y) * math.expm1(x) + math.log(x) * math.log(y, 3.0) + math.log2(x) * math.log10(y) + math.log1p(y)
)
read("math.sqrt", "math.cbrt", "math.pow", "math.hypot", "math.dist")(
    lambda x, y: math.sqrt(x) * math.cbrt(y) + math.pow(x, y) + math.hypot(x, y) + math.dist([x, y], [0.0, 1.0])
)
read("math.erf", "math.erfc", "math.gamma", "math.lgamma")(lambda x: math.erf(x) * math.erfc(x) + math.gamma(x) + math.lgamma(x))
read("math.degrees", "math.radians", "math.fabs", "math.copysign")(
    lambda x, y: math.degrees(x) * math.radians(y) + math.fabs(x) + math.copysign(x, -1.0)
)
read("math.floor", "math.ceil", "math.trunc", "math.fmod", "math.modf")(
    lambda x, y: x * (math.floor(x) + math.ceil(x) + math.trunc(y)) + math.fmod(x, y) + math.modf(x)[0]
)
read("math.fsum", "math.prod")(lambda v, x: math.fsum(v) * math.prod(v) * x)
read("math.gcd", "math.lcm")(lambda x, n: x * math.gcd(12, n) * math.lcm(n, 4))
read("math.isnan", "math.isinf", "math.isfinite")(lambda x: x * x if math.isfinite(x) and not math.isnan(x) and not math.isinf(x) else x)
read("math.pi", "math.e", "math.tau", "math.inf", "math.nan")(
    lambda x: x * math.pi * math.e * math.tau if x < math.inf and x != math.nan else x
)
MATH.kept("math.comb", "math.perm", "math.factorial", "math.isqrt")(
    lambda x, n: x * math.comb(n, 2) * math.perm(n, 1) * math.factorial(n) * math.isqrt(n)
)
read("math.isclose")(lambda x, y: x * y if math.isclose(x, y) else x)
read("math.nextafter")(lambda x, n: x * math.nextafter(x, n))
MATH.kept("math.ulp")(lambda x, n: x * math.ulp(n))
read("math.frexp", "math.ldexp", "math.remainder")(lambda x, y: math.frexp(x)[0] * math.ldexp(y, 2) + math.remainder(x, y))
read("math.hypot")(lambda x, y: math.hypot(x, y, 2.0))

read = CMATH.read
read("cmath.exp", "cmath.log", "cmath.log10", "cmath.sqrt")(
    lambda x, y: abs(cmath.exp(x + 1j * y) * cmath.log(x + 1j * y) * cmath.log10(x + 1j) * cmath.sqrt(x + 1j * y))
)
read("cmath.sin", "cmath.cos", "cmath.tan", "cmath.asin", "cmath.acos", "cmath.atan")(
    lambda x, y: abs(sum([kind(x + 1j * y) for kind in (cmath.sin, cmath.cos, cmath.tan, cmath.asin, cmath.acos, cmath.atan)]))
)
read("cmath.sinh", "cmath.cosh", "cmath.tanh", "cmath.asinh", "cmath.acosh", "cmath.atanh")(
    lambda x, y: abs(sum([kind(x + 1j * y) for kind in (cmath.sinh, cmath.cosh, cmath.tanh, cmath.asinh, cmath.acosh, cmath.atanh)]))
)
read("cmath.phase", "cmath.polar", "cmath.rect")(lambda x, y: cmath.phase(x + 1j * y) + cmath.polar(x + 1j * y)[0] + cmath.rect(x, y).real)
read("cmath.pi", "cmath.e", "cmath.tau", "cmath.inf", "cmath.infj", "cmath.nan", "cmath.nanj")(
    lambda x: x * cmath.pi * cmath.e * cmath.tau if x < cmath.inf and x not in (cmath.nan, cmath.infj, cmath.nanj) else x
)
CMATH.kept("cmath.isnan", "cmath.isinf", "cmath.isfinite")(
    lambda x, y: x * y if cmath.isfinite(x + 1j) and not cmath.isnan(x) and not cmath.isinf(x) else x
)
read("cmath.isclose")(lambda x, y: x * y if not cmath.isclose(x + 1j, y) else x)

read = ITERTOOLS.read
read("itertools.accumulate", "itertools.pairwise")(lambda v: sum(a * b for a, b in itertools.pairwise(itertools.accumulate(v))))
read("itertools.chain", "itertools.islice")(lambda v: sum(a * a for a in itertools.islice(itertools.chain(v, v[1:]), 1, 4)))
read("itertools.product", "itertools.combinations", "itertools.permutations", "itertools.combinations_with_replacement")(
    lambda v: (
        sum(a * b for a, b in itertools.product(v, v))
        * sum(a * b for a, b in itertools.combinations(v, 2))
        * sum(a * b for a, b in itertools.permutations(v, 2))
        * sum(a * b for a, b in itertools.combinations_with_replacement(v, 2))
    )
)
read("itertools.count", "itertools.cycle", "itertools.repeat")(
    lambda v: sum(a * k * b * c for a, k, b, c in zip(v, itertools.count(1), itertools.cycle([1.0, 2.0]), itertools.repeat(3.0)))
)
read("itertools.takewhile", "itertools.dropwhile", "itertools.filterfalse")(
    lambda v: (
        sum(itertools.takewhile(lambda a: a > 0.0, v))
        * sum(itertools.dropwhile(lambda a: a > 0.0, v))
        * sum(itertools.filterfalse(lambda a: a < 0.0, v))
    )
)
read("itertools.starmap", "itertools.compress", "itertools.zip_longest")(
    lambda v: (
        sum(itertools.starmap(lambda a, b: a * b, [(v[0], v[1])]))
        * sum(itertools.compress(v, [1, 0, 1]))
        * sum(a * b for a, b in itertools.zip_longest(v, v[:2], fillvalue=2.0))
    )
)
ITERTOOLS.carried_out("itertools.groupby")(
    lambda v: sum(a * a for key, group in itertools.groupby(v, lambda a: a > 0.0) if key for a in group)
)
ITERTOOLS.carried_out("itertools.tee")(lambda v: sum(a * b for a, b in zip(*itertools.tee(v))))


@functools.cache
def kept_square(x):
    return x * x


@functools.lru_cache(maxsize=8)
def kept_cube(x):
    return x * x * x


def doubled(function):
    @functools.wraps(function)
    def inner(*args):
        return 2.0 * function(*args)

    return inner


@doubled
def wrapped(x):
    return x * x


@functools.singledispatch
def of_its_class(x):
    return x * x


@of_its_class.register
def of_list(x: list):
    return sum(of_its_class(a) for a in x)


class Lazy:
    """What it gives is computed once, when it is first asked for."""

    def __init__(self, value):
        self.value = value

    @functools.cached_property
    def square(self):
        return self.value * self.value


@functools.total_ordering
class Ordered:
    """Ordered by one of the comparisons."""

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    def __eq__(self, other):
        return self.value == other.value


class Scaled:
    """A method of which an argument is fixed."""

    def times(self, factor, x):
        return factor * x * x

    twice = functools.partialmethod(times, 2.0)


read = FUNCTOOLS.read
read("functools.partial", "functools.reduce")(lambda x, y: functools.reduce(functools.partial(lambda a, b, c: a * b * c, x), [y, x, 2.0]))
read("functools.cache", "functools.lru_cache", beside=(kept_square, kept_cube))(lambda x: kept_square(x) * kept_cube(x))
read("functools.wraps", beside=(doubled, wrapped))(lambda x: wrapped(x) * x)
read("functools.cached_property", beside=(Lazy,))(lambda x: Lazy(x).square * x)
read("functools.total_ordering", beside=(Ordered,))(lambda x, y: x * y if Ordered(x) >= Ordered(y) else x)
read("functools.partialmethod", beside=(Scaled,))(lambda x: Scaled().twice(x))
FUNCTOOLS.carried_out("functools.cmp_to_key")(lambda v: sorted(v, key=functools.cmp_to_key(lambda a, b: a - b))[0] ** 2)
read("functools.singledispatch", beside=(of_its_class,))(lambda x: of_its_class(x) + of_its_class([x, 2.0 * x]))


class Pair(collections.namedtuple("Pair", "first second")):
    """Two numbers with names."""


read = COLLECTIONS.read
COLLECTIONS.carried_out("collections.namedtuple", beside=(Pair,))(lambda x, y: Pair(x, y)._replace(first=y).first * x)
read("collections.deque")(lambda x, y: sum(collections.deque([x, y, x * y], maxlen=2)))
COLLECTIONS.carried_out("collections.OrderedDict")(lambda x, y: collections.OrderedDict(a=x, b=y)["b"] * x)
COLLECTIONS.read("collections.Counter")(lambda x: x ** collections.Counter("abca")["a"])


@COLLECTIONS.carried_out("collections.defaultdict")
def default(x, y):
    held = collections.defaultdict(list)
    held["a"].append(x)
    held["a"].append(y)
    return held["a"][0] * held["a"][1]


COLLECTIONS.carried_out("collections.ChainMap")(lambda x, y: collections.ChainMap({"a": x}, {"b": y})["a"] * y)
COLLECTIONS.read("collections.UserDict")(lambda x: collections.UserDict(a=x)["a"] * x)
COLLECTIONS.read("collections.UserList")(lambda x: collections.UserList([x, 2.0])[0] * x)
COLLECTIONS.kept("collections.UserString")(lambda x: len(collections.UserString("ab")) * x)

read = OPERATOR.read
read("operator.add", "operator.sub", "operator.mul", "operator.truediv", "operator.pow", "operator.floordiv", "operator.mod")(
    lambda x, y: (
        operator.add(x, y) * operator.sub(x, y)
        + operator.mul(x, operator.truediv(x, y))
        + operator.pow(x, operator.floordiv(x, y))
        + operator.mod(x, y)
    )
)
read("operator.matmul")(lambda m, v: np.sum(operator.matmul(m, v[:2])))
read("operator.eq", "operator.ne", "operator.lt", "operator.le", "operator.gt", "operator.ge")(
    lambda x, y: x * (operator.eq(x, y) + operator.ne(x, y) + operator.lt(x, y) + operator.le(x, y) + operator.gt(x, y) + operator.ge(x, y))
)
read("operator.is_", "operator.is_not", "operator.contains", "operator.not_", "operator.truth")(
    lambda x: (
        x * x
        if operator.is_(None, None)
        and operator.is_not(x, None)
        and operator.contains((1, 2), 1)
        and not operator.not_(x)
        and operator.truth(x)
        else x
    )
)
read("operator.abs", "operator.index")(lambda x, n: operator.abs(x) * operator.index(n))
read("operator.itemgetter", "operator.attrgetter")(lambda x, y: operator.itemgetter(1)([x, y]) * operator.attrgetter("first")(Pair(x, y)))
refused = OPERATOR.refused
read("operator.methodcaller")(lambda v: operator.methodcaller("sum")(v * v))
read("operator.call")(lambda x: operator.call(math.sin, x))
read("operator.neg", "operator.pos")(lambda x, y: operator.neg(x) * operator.pos(y))
read("operator.getitem")(lambda v: operator.getitem(v, 0) ** 2)
read("operator.concat")(lambda x, y: sum(operator.concat([x], [y])) * x)
read("operator.and_", "operator.or_", "operator.xor", "operator.inv", "operator.invert", "operator.lshift", "operator.rshift")(
    lambda x, n: (
        x
        * (
            operator.and_(n, 1)
            + operator.or_(n, 4)
            + operator.xor(n, 1)
            + operator.inv(n)
            + operator.invert(n)
            + operator.lshift(n, 1)
            + operator.rshift(n, 1)
        )
    )
)
read("operator.countOf", "operator.indexOf")(lambda x, y: x * operator.countOf([x, y, x], x) + y * operator.indexOf([x, y], y))
OPERATOR.kept("operator.length_hint")(lambda x: x * operator.length_hint([1]))
read("operator.iadd", "operator.isub", "operator.imul", "operator.itruediv", "operator.ipow", "operator.ifloordiv", "operator.imod")(
    lambda x, y: (
        operator.iadd(x, y) * operator.isub(x, y)
        + operator.imul(x, operator.itruediv(x, y))
        + operator.ipow(x, operator.ifloordiv(x, y))
        + operator.imod(x, y)
    )
)
read("operator.imatmul")(lambda m: operator.imatmul(m * 1.0, m).sum())
read("operator.iconcat")(lambda x, y: sum(operator.iconcat([x], [y])) * x)
read("operator.iand", "operator.ior", "operator.ixor", "operator.ilshift", "operator.irshift")(
    lambda x, n: x * (operator.iand(n, 1) + operator.ior(n, 4) + operator.ixor(n, 1) + operator.ilshift(n, 1) + operator.irshift(n, 1))
)


@read("operator.setitem")
def stored_by_a_function(v):
    y = v * 1.0
    operator.setitem(y, 0, v[1] * v[2])
    return np.sum(y * y)


@read("operator.delitem")
def deleted_by_a_function(x, y):
    held = {"a": x, "b": y}
    operator.delitem(held, "a")
    return held["b"] * x * len(held)


kept = RANDOM.kept
kept("random.random")(lambda x: x * random.random())
kept("random.uniform", "random.triangular", "random.gauss", "random.normalvariate", "random.lognormvariate", "random.vonmisesvariate")(
    lambda x: (
        x * random.uniform(0.0, 2.0)
        + random.triangular(0.0, 2.0)
        + random.gauss(0.0, 1.0)
        + random.normalvariate(0.0, 1.0)
        + random.lognormvariate(0.0, 1.0)
        + random.vonmisesvariate(1.0, 2.0)
    )
)
kept("random.expovariate", "random.betavariate", "random.gammavariate", "random.paretovariate", "random.weibullvariate")(
    lambda x: (
        x * random.expovariate(1.0)
        + random.betavariate(1.0, 2.0)
        + random.gammavariate(1.0, 2.0)
        + random.paretovariate(2.0)
        + random.weibullvariate(1.0, 2.0)
    )
)
kept("random.randint", "random.randrange", "random.getrandbits", "random.randbytes")(
    lambda x: x * random.randint(1, 6) + random.randrange(6) + random.getrandbits(8) + len(random.randbytes(4))
)
kept("random.choice", "random.choices", "random.sample")(
    lambda x: x * random.choice((1.0, 2.0)) + random.choices((1.0, 2.0), k=2)[0] + random.sample((1.0, 2.0), 1)[0]
)
read("random.shuffle")(lambda x: random.shuffle(v := [x * x, 2.0 * x, x]) or v[0])
kept("random.seed", "random.getstate", "random.setstate")(
    lambda x: x * random.random() if random.setstate(random.getstate()) is None and random.seed(1) is None else x
)
kept("random.Random")(lambda x: x * random.Random(1).random())
RANDOM.read("random.uniform", "random.gauss")(lambda x: random.uniform(0.0, x) * random.gauss(x, 1.0))

COPY.read("copy.copy", "copy.deepcopy")(lambda v: np.sum(copy.copy(v) * copy.deepcopy(v)) * copy.deepcopy([v])[0][0])


@dataclasses.dataclass
class Point:
    """An instance that carries derivatives."""

    x: float
    y: float = 2.0


@dataclasses.dataclass(frozen=True)
class Circle:
    radius: float


class Managed:
    def __enter__(self):
        return 2.0

    def __exit__(self, *args):
        return False


read = OTHERS.read
read("dataclasses.dataclass", beside=(Point,))(lambda x, y: Point(x, y).x * Point(y).y)
read("dataclasses.replace", "dataclasses.asdict", "dataclasses.astuple", "dataclasses.fields")(
    lambda x, y: (
        dataclasses.replace(Point(x), y=y).y
        * dataclasses.asdict(Point(x))["x"]
        * dataclasses.astuple(Point(x))[1]
        * len(dataclasses.fields(Point))
    )
)


def inserted(held, n):
    bisect.insort_left(held, n)
    bisect.insort_right(held, 2 * n)
    return held


read("types.SimpleNamespace")(lambda x, y: types.SimpleNamespace(a=x, b=y).a * y)
read("bisect.bisect_left", "bisect.bisect_right")(lambda x, n: x * bisect.bisect_left([1, 2, 3], n) * bisect.bisect_right([1, 2, 3], n))
read("bisect.insort_left", "bisect.insort_right", beside=(inserted,))(lambda x, n: x * inserted([1, 3], n)[1] ** 2)
read("heapq.heapify", "heapq.heappush", "heapq.heappop", "heapq.heapreplace", "heapq.heappushpop")(
    lambda v: (
        heapq.heapify(h := list(v))
        or heapq.heappush(h, 0.1)
        or heapq.heapreplace(h, v[0] * 2) * heapq.heappushpop(h, 0.5) * heapq.heappop(h)
    )
)
read("heapq.nlargest", "heapq.nsmallest")(lambda v: heapq.nlargest(2, v)[1] * heapq.nsmallest(1, v)[0])
read(
    "statistics.mean",
    "statistics.fmean",
    "statistics.pvariance",
    "statistics.variance",
    "statistics.median",
    "statistics.stdev",
    "statistics.pstdev",
)(
    lambda v: (
        statistics.mean(v)
        + statistics.fmean(v) * statistics.pvariance(list(v)) * statistics.variance(v)
        + statistics.median(v)
        + statistics.stdev(v) * statistics.pstdev(v)
    )
)
read("statistics.geometric_mean", "statistics.harmonic_mean", "statistics.median_low", "statistics.median_high", "statistics.quantiles")(
    lambda x, y: (
        statistics.geometric_mean([x * x, y * y])
        + statistics.harmonic_mean([x * x, y * y])
        + statistics.median_low([x, y]) * statistics.median_high([x, y])
        + statistics.quantiles([x, y, 3.0])[1]
    )
)
read("statistics.covariance", "statistics.correlation", "statistics.linear_regression")(
    lambda x, y: (
        statistics.covariance([x, y, 2.0], [1.0, x, y])
        + statistics.correlation([x, y, 2.0], [1.0, 0.5, x])
        + statistics.linear_regression([x, y, 2.0], [1.0, 0.5, x]).slope
    )
)

SECTIONS = [MATH, CMATH, ITERTOOLS, FUNCTOOLS, COLLECTIONS, OPERATOR, RANDOM, COPY, OTHERS]
