"""Functions of Python, its library and NumPy x every kind of value, compared with plain Python."""

from __future__ import annotations

from itertools import product

import pytest

from tests.frontend.test_everything_asked import VALUES, check

#: calls and operators with a value ``p``, and with an array ``x`` beside it
CALLS = (
    "math.sin(p)", "math.floor(p)", "math.ceil(p)", "math.trunc(p)", "math.sqrt(p)", "math.exp(p)", "math.log(p)", "math.isnan(p)",
    "math.isfinite(p)", "math.fabs(p)", "math.gamma(p)", "math.degrees(p)", "math.isqrt(p)", "math.factorial(p)", "math.prod(p)",
    "math.frexp(p)", "math.modf(p)", "math.hypot(p, 2)", "math.hypot(p, p)", "math.atan2(p, 2)", "math.atan2(p, p)", "math.fmod(p, 2)",
    "math.fmod(p, p)", "math.copysign(p, 2)", "math.copysign(p, p)", "math.isclose(p, 2)", "math.isclose(p, p)", "math.gcd(p, 2)",
    "math.gcd(p, p)", "math.comb(p, 2)", "math.comb(p, p)", "math.dist(p, 2)", "math.ldexp(p, 2)", "math.ldexp(p, p)",
    "operator.add(p, 1)", "operator.add(p, q)", "operator.sub(p, 1)", "operator.sub(p, q)", "operator.mul(p, 1)", "operator.mul(p, q)",
    "operator.truediv(p, 1)", "operator.truediv(p, q)", "operator.floordiv(p, 1)", "operator.floordiv(p, q)", "operator.mod(p, 1)",
    "operator.mod(p, q)", "operator.pow(p, 1)", "operator.pow(p, q)", "operator.matmul(p, 1)", "operator.matmul(p, q)",
    "operator.and_(p, 1)", "operator.and_(p, q)", "operator.or_(p, 1)", "operator.or_(p, q)", "operator.eq(p, 1)", "operator.eq(p, q)",
    "operator.lt(p, 1)", "operator.lt(p, q)", "operator.concat(p, 1)", "operator.concat(p, q)", "operator.contains(p, 1)",
    "operator.contains(p, q)", "operator.getitem(p, 1)", "operator.getitem(p, q)", "operator.is_(p, 1)", "operator.is_(p, q)",
    "operator.neg(p)", "operator.pos(p)", "operator.not_(p)", "operator.truth(p)", "operator.abs(p)", "operator.index(p)",
    "operator.invert(p)", "operator.length_hint(p)", "operator.itemgetter(0)(p)", "operator.itemgetter(0, 1)(p)",
    "operator.attrgetter('a')(p)", "operator.methodcaller('copy')(p)", "list(itertools.chain(p, p))", "list(itertools.accumulate(p))",
    "list(itertools.islice(p, 2))", "list(itertools.pairwise(p))", "list(itertools.takewhile(bool, p))",
    "list(itertools.dropwhile(bool, p))", "list(itertools.zip_longest(p, [1]))", "list(itertools.product(p, [1, 2]))",
    "list(itertools.permutations(p, 2))", "list(itertools.combinations(p, 2))", "list(itertools.compress(p, [1, 0, 1]))",
    "list(itertools.starmap(max, p))", "list(itertools.chain.from_iterable(p))", "list(itertools.repeat(p, 2))",
    "list(itertools.groupby(p))", "list(itertools.filterfalse(None, p))", "list(itertools.tee(p))",
    "list(itertools.islice(itertools.cycle(p), 4))", "list(map(str, p))", "list(filter(None, p))", "max(p, default=0)", "min(p, key=abs)",
    "max(p, 1)", "sorted(p, reverse=True)", "sorted(p, key=lambda v: -v)", "sum(p, 1.0)", "sum(p, start=2)",
    "list(zip(p, [1, 2, 3], strict=True))", "list(enumerate(p, 5))", "dict.fromkeys(p)", "dict.fromkeys(p, 0)", "dict(p, z=1)",
    "set(p) | {1}", "frozenset(p)", "collections.Counter(p)", "collections.deque(p, maxlen=2)", "collections.OrderedDict(p)",
    "functools.reduce(lambda u, v: u + v, p)", "functools.reduce(lambda u, v: u + v, p, 0)", "''.join(p)", "', '.join(map(str, p))",
    "'%d' % p", "'%.2f' % p", "f'{p!r}'", "f'{p:.2f}'", "f'{p:>6}'", "format(p, '.3f')", "format(p)", "'{:.1f}'.format(p)", "ascii(p)",
    "bin(p)", "hex(p)", "chr(p)", "ord(p)", "complex(p)", "complex(p, 1)", "bytes(p)", "slice(p)", "range(p)", "list(range(p))",
    "range(0, p)", "round(p, 1)", "pow(p, 2, 5)", "divmod(p, p)", "isinstance(p, p)", "type(p)(p)", "type(p)()", "list(p)[0]",
    "iter(p) is p", "next(p)", "next(p, None)", "next(iter(p), 9)", "zip(*p)", "list(zip(*p))", "[*map(float, p)]", "[v for v in p if v]",
    "{k: v for k, v in p}", "{v: 1 for v in p}", "any(v > 1 for v in p)", "[u for v in p for u in v]", "len(p) == 3 and p[0] == p[1]",
    "(lambda u, *v, **w: (u, v, w))(*p)", "getattr(p, '__len__', None) is None", "p if isinstance(p, float) else 1.0",
    "{True: 1, False: 2}[bool(p)]", "[10, 20][bool(p)]", "(p or [0])[0]", "p is None or len(p)", "p == p and p is p", "x[p]",
    "x[p] if isinstance(p, int) else 0", "'abc'[p]", "{'a': 1}.get(p)", "p in {'a': 1}", "p in [1, 2]", "p in 'abc'", "p in range(5)",
    "x * p", "p * x", "x + p", "x == p", "x < p", "2 * p", "p - 1", "p / 2", "'abc' + p", "[1] + p", "(1,) + p", "[1] * p", "'ab' * p",
    "1 < p < 3", "p <= p", "not p == 1", "-p + 1", "np.sin(p)", "np.abs(p)", "np.sum(p)", "np.mean(p)", "np.max(p)", "np.min(p)",
    "np.sort(p)", "np.argmax(p)", "np.cumsum(p)", "np.prod(p)", "np.any(p)", "np.all(p)", "np.ravel(p)", "np.transpose(p)", "np.array(p)",
    "np.asarray(p)", "np.float64(p)", "np.int64(p)", "np.zeros_like(p)", "np.ones_like(p)", "np.copy(p)", "np.squeeze(p)",
    "np.atleast_1d(p)", "np.unique(p)", "np.median(p)", "np.std(p)", "np.isnan(p)", "np.sign(p)", "np.floor(p)", "np.round(p)",
    "np.flip(p)", "np.nonzero(p)", "np.count_nonzero(p)", "np.isfinite(p)", "np.diag(p)", "np.trace(p)", "np.exp(p)", "np.sqrt(p)",
    "np.square(p)", "np.conj(p)", "np.real(p)", "np.isscalar(p)", "np.iterable(p)", "np.ndim(p)", "np.size(p)", "np.shape(p)",
    "np.add(p, p)", "np.add(x, p)", "np.maximum(p, p)", "np.maximum(x, p)", "np.dot(p, p)", "np.dot(x, p)", "np.outer(p, p)",
    "np.outer(x, p)", "np.where(p, 1, 2)", "np.append(p, p)", "np.append(x, p)", "np.concatenate([p, p])", "np.concatenate(p)",
    "np.stack([p, p])", "np.stack(p)", "np.multiply(p, p)", "np.multiply(x, p)", "np.power(p, p)", "np.power(x, p)", "np.isclose(p, p)",
    "np.isclose(x, p)", "np.allclose(p, p)", "np.allclose(x, p)", "np.full(p, 1.0)", "np.zeros(p)", "np.ones(p)", "np.clip(p, 0, 1)",
    "np.clip(x, p, 2)", "np.reshape(x, p)", "np.broadcast_to(p, (3,))", "np.full_like(x, p)", "np.ones(3) * p", "np.array([p, p])",
    "np.array([p, 1.0])", "np.sum([p, p])",
)  # fmt: skip
#: calls of which the exception is one of another class where NumPy or ``math`` is given what is no number
OPEN = (
    "x @ p", "np.vstack(p)", "np.hstack(p)", "'%s' % p", "np.arange(p)", "np.take(x, p)", "np.repeat(x, p)", "np.tile(x, p)", "np.eye(p)",
    "np.linspace(0, 1, p)", "math.dist(p, p)", "math.fsum(p)", "np.diff(p)", "np.linalg.norm(p)", "np.interp(p, [0, 1], [0, 1])",
    "np.array_equal(p, p)", "np.array_equal(x, p)", "list(itertools.islice(itertools.count(p), 2))", "[1, 2, 3][p]", "(1, 2, 3)[p]",
    "math.pow(p, 2)", "math.pow(p, p)",
)  # fmt: skip
#: what else is not right: members of enumerations that are integers become integers, views as keys, and ``None`` to be counted
APART = {
    ("I.G", "list(itertools.repeat(p, 2))"), ("{'a': a}.keys()", "{'a': 1}.get(p)"), ("{'a': a}.keys()", "p in {'a': 1}"), ("None", "collections.Counter(p)"),
    ("C(a)", "x < p"), ("Ellipsis", "x == p"), ("complex(a, 1.0)", "p in range(5)"), ("memoryview(b'ab')", "p in range(5)"),
    ("bytearray(b'ab')", "p in range(5)"), ("object()", "p in range(5)"), ("a if n > 3 else None", "p in 'abc'"), ("Ellipsis", "p in 'abc'"),
    ("memoryview(b'ab')", "math.modf(p)"), ("bytearray(b'ab')", "math.modf(p)"), ("np.array(a)", "iter(p) is p"), ("Ellipsis", "iter(p) is p"), ("functools.partial(max, a)", "iter(p) is p"),
}  # fmt: skip
CASES = [case for case in product(VALUES, CALLS) if case not in APART]
#: of those that were answered otherwise once, one of each class
ONCE = (
    ("[a, 2.0, a*a]", "math.modf(p)"), ("iter(x)", "p in range(5)"), ("x", "p in 'abc'"), ("'abc'", "isinstance(p, p)"), ("None", "f'{p:.2f}'"),
    ("None", "format(p, '.3f')"), ("1", "list(itertools.product(p, [1, 2]))"), ("(x, a)", "np.stack(p)"), ("[a] if n > 20 else (a, 2.0)", "np.atleast_1d(p)"),
    ("iter(x)", "x == p"), ("np.array(a)", "operator.contains(p, 1)"), ("{'a': a}.values()", "np.concatenate([p, p])"), ("I.G", "p in range(5)"),
    ("{'a': a}.items()", "list(itertools.repeat(p, 2))"), ("slice(1, n)", "iter(p) is p"), ("Col.R", "iter(p) is p"), ("Col.R", "type(p)()"),
)  # fmt: skip


@pytest.mark.parametrize(("value", "call"), ONCE)
def test_what_was_answered_otherwise_once_is_answered_as_python_does(value: str, call: str) -> None:
    assert value in VALUES
    assert call in CALLS
    check(value, call)


@pytest.mark.sweep(127)
@pytest.mark.parametrize(("value", "call"), CASES)
def test_a_function_of_any_value_gives_what_python_gives_or_is_refused(value: str, call: str) -> None:
    check(value, call)
