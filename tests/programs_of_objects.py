"""Programs of the corpus that keep books in Python's own objects: texts, sets, tables, keys, exceptions, functions made of functions.

Each construct stands in several ways, alone, in a loop, in a branch, behind a call and beside the others. ``programs.PROGRAMS`` has them all.
"""
# ruff: noqa: B007, B904, C408, C416, C417, E731, F841, PERF401, PLR1704, PLW0603, PLW2901, RET, SIM - the constructs are the point
# mypy: ignore-errors

from __future__ import annotations

import collections
import contextlib
import functools
import itertools
import math
import operator

import numpy as np
from programs import Group, matrix, signed, two_vectors, vector

# ------------------------------------------------------------------ texts

texts = Group("texts")
GENES = "GATTACAGATTTACCAGGAT"
CHARGE = {"A": 0.5, "C": -1.0, "G": 1.5, "T": 0.25}
GRID = ("#..#.", "..#..", ".#..#", "#....")


def a_text(n):
    return vector(n), (GENES * 3)[: 5 * n]


@texts(a_text)
def letters_by_index(x, genes):
    total = 0.0
    for i in range(len(genes)):
        if genes[i] == "A" and genes[i - 1] != "A":
            total += x[i % len(x)] ** 2
        elif genes[i] in "GC":
            total *= 1.0 + 0.05 * x[0]
    return total


@texts(a_text)
def letters_as_keys(x, genes):
    active = {"A": x[0], "C": x[1] * x[2], "G": np.sin(x[2]), "T": 1.0}
    total = 1.0
    for i in range(len(genes)):
        total += CHARGE[genes[i]] * active[genes[-1 - i]] * x[i % len(x)]
    return total


@texts(a_text)
def parts_of_texts(x, genes):
    total, k = 0.0, 0
    while k + 3 <= len(genes):
        word = genes[k : k + 3]
        if word.startswith("GA") or word.endswith("T"):
            total += x[k % len(x)] * word.count("A")
        elif word == word[::-1]:
            total -= 0.5 * x[0]
        k += 2 if word[0] == "G" else 1
    return total * x[1]


@texts(a_text)
def texts_that_are_joined(x, genes):
    total, last = 0.0, ""
    for i in range(len(genes)):
        last = (last + genes[i])[-2:]
        total += x[i % len(x)] ** (1 + len(set(last)))
        if last.lower() == "at":
            last = ""
            total += x[0] * x[1]
    return total


@texts()
def a_board(x):
    total = 0.0
    for row in range(len(GRID)):
        for start in range(3):
            a, b = row, start
            while 0 <= a < len(GRID) and b < 5 and GRID[a][b] == ".":
                total += x[(a + b) % len(x)] * 0.5**b
                a, b = a + 1, b + 1
    return total * x[0]


@texts(a_text)
def letters_with_handlers(x, genes):
    total = 0.0
    for i in range(len(genes) + 2):
        try:
            total += CHARGE[genes[i]] * x[i % len(x)] ** 2
        except IndexError:
            total *= x[0]
    return total


# ------------------------------------------------------------------ sets

sets = Group("sets")


def places(n):
    return vector(n), [(3 * k) % n for k in range(n)] + [0, 1]


@sets(places)
def sets_of_computed_places(x, order):
    seen = set(order[: len(order) // 2])
    total = 0.0
    for k in range(len(x)):
        if k in seen:
            total += x[k] ** 2
        else:
            total += 0.3 * x[k]
    return total * len(seen | {0, 1}) + x[0] * (seen <= set(order))


@sets(places)
def sets_in_order(x, order):
    total = 1.0
    for k in sorted(set(order)):
        total = total * 0.9 + x[k] ** 2
    return total + len({k % 2 for k in order}) * x[0]


@sets(places)
def sets_of_pairs(x, order):
    walls = {(0, 1), (2, 2), (1, 0)}
    path = [(k % 3, k // 3) for k in order]
    total = 0.0
    for i in range(3):
        for j in range(len(x)):
            if (i, j) in walls or (i, j) in set(path):
                continue
            total += x[j] * (i + 1) ** 2
    return total + len(set(path) & walls) * x[0] ** 2


@sets(lambda n: (signed(n), np.arange(n) % 2))
def labels_that_are_checked(x, labels):
    if not set(labels.tolist()) <= {0, 1}:
        raise ValueError(f"labels must be 0 or 1, got {set(labels.tolist())}")
    return np.sum(np.where(labels == 1, x**2, 0.5 * x))


# ------------------------------------------------------------------ lists of lists

tables = Group("tables")


@tables(two_vectors)
def edit_distance(x, y):
    table = [[0.0] * (len(y) + 1) for _ in range(len(x) + 1)]
    for i in range(1, len(x) + 1):
        table[i][0] = table[i - 1][0] + 0.7
    for j in range(1, len(y) + 1):
        table[0][j] = table[0][j - 1] + 0.8
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            table[i][j] = min(table[i - 1][j] + 0.7, table[i][j - 1] + 0.8, table[i - 1][j - 1] + (x[i - 1] - y[j - 1]) ** 2)
    return table[-1][-1]


@tables()
def triangle_of_numbers(x):
    rows = [[x[0]]]
    for k in range(1, len(x)):
        before = rows[-1]
        rows.append([x[k], *(a + 0.5 * b for a, b in itertools.pairwise(before)), x[k] * before[-1]])
    return sum(math.sin(a) for row in rows for a in row)


@tables()
def neighbours_in_lists(x):
    near = [[] for _ in range(len(x))]
    for i in range(len(x)):
        for j in range(i):
            if abs(x[i] - x[j]) < 0.6:
                near[i].append(j)
                near[j].append(i)
    return sum(x[i] * x[j] for i, others in enumerate(near) for j in others) + x[0]


@tables(lambda n: (matrix(n, n) + 2.0 * np.eye(n),))
def elimination_in_lists(m):
    a = m.tolist()
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i][k] / a[k][k]
            for j in range(k, n):
                a[i][j] -= f * a[k][j]
    return math.log(abs(math.prod(a[k][k] for k in range(n))))


@tables()
def rows_by_another_name(x):
    table = [[a, 0.5 * a] for a in x]
    for k in range(len(table)):
        row = table[k]
        row[0] *= row[1]
        row.append(row[0] + x[0])
    last = table[-1]
    last[1] = table[0][2] ** 2
    return sum(sum(row) for row in table)


# ------------------------------------------------------------------ keys that are computed

keys = Group("keys")


@keys()
def functions_by_computed_keys(x):
    table = {0: math.sin, 1: lambda t: t * t, 2: functools.partial(max, 0.9)}
    return sum(table[k % 3](float(a)) for k, a in enumerate(x))


@keys()
def counts_by_keys(x):
    counts, sums = collections.Counter(), collections.defaultdict(float)
    for k, a in enumerate(x):
        counts["low" if a < 1.0 else "high"] += 1
        sums[k % 2] += a**2
    return sums[0] / (1 + counts["low"]) + sums[1] * (1 + counts["high"])


@keys()
def memo_of_a_recursion(x):
    known = {0: x[0], 1: x[1]}

    def term(k):
        if k not in known:
            known[k] = 0.5 * term(k - 1) + math.sin(term(k - 2)) * x[k % 3]
        return known[k]

    return term(5)


@keys()
def groups_of_lists(x):
    groups = {"small": [], "large": []}
    for a in x:
        groups["small" if a < 1.0 else "large"].append(a)
    return sum(k * sum(part) ** 2 for k, part in enumerate(groups.values(), start=1)) + len(groups["small"]) * x[0]


# ------------------------------------------------------------------ exceptions and managers

handlers = Group("handlers")


class TooLarge(ArithmeticError):
    def __init__(self, amount, limit):
        super().__init__(f"{amount} > {limit}")
        self.amount, self.limit = amount, limit


def limited(t, limit=1.2):
    if t > limit:
        raise TooLarge(t, limit)
    return t * t


@handlers()
def handlers_on_the_path(x):
    total = 0.0
    for a in x:
        try:
            total += limited(a)
        except TooLarge as error:
            total += 0.5 * error.amount * error.limit
        else:
            total *= 1.1
        finally:
            total += 0.1 * a
    return total


@handlers()
def raised_again(x):
    total = 0.0
    for k, a in enumerate(x):
        try:
            try:
                total += limited(a, 1.0)
            except ArithmeticError as error:
                if k % 2:
                    raise
                raise ValueError(k) from error
        except ValueError:
            total += 0.3 * a
        except TooLarge:
            total -= 0.2 * a**2
    return total


@handlers(lambda n: (matrix(3, 3) + n * np.eye(3) - 4.5 * np.eye(3),))
def linear_algebra_that_fails(m):
    try:
        return np.sum(np.log(np.diagonal(np.linalg.cholesky(m @ m.T - 2.0 * np.eye(3)))))
    except np.linalg.LinAlgError:
        return np.sum(m**3)


@contextlib.contextmanager
def shifted(state, by):
    state["at"] += by
    try:
        yield state["at"]
    except TooLarge as error:
        state["at"] = 0.1 * error.amount
    finally:
        state["at"] *= 0.5


@handlers()
def managers_that_suppress(x):
    state, total = {"at": x[0]}, 0.0
    for a in x:
        with shifted(state, a) as now, contextlib.suppress(KeyError):
            total += limited(now)
            if now > 1.0:
                raise KeyError("left")
            total += 1.0
    return total + state["at"]


@handlers()
def left_through_finally(x):
    def search(t):
        for a in x:
            try:
                if a * t > 0.9:
                    return a * t
            finally:
                t = 0.8 * t + 0.1
        return t

    return search(x[0]) + search(0.2 * x[1])


# ------------------------------------------------------------------ functions of functions

functions = Group("functions")


def doubled(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return 2.0 * function(*args, **kwargs)

    return inner


@doubled
def weighted(t, *, by=0.5):
    return by * t**2


@functools.lru_cache(maxsize=None)
def binomials(n):
    return [math.comb(n, k) for k in range(n + 1)]


@functools.singledispatch
def size_of(t):
    return t * t


@size_of.register
def _(t: list):
    return sum(size_of(a) for a in t)


@functions()
def wrapped_and_cached(x):
    terms = [weighted(a, by=b) for a, b in zip(x, binomials(3))]
    return functools.reduce(operator.add, terms) + functools.partial(weighted, by=3.0)(x[0]) + size_of([x[1], [x[2], x[0]]])


@functions()
def counters_of_closures(x):
    calls = 0

    def step(t):
        nonlocal calls
        calls += 1
        return t * calls

    total = 0.0
    for a in x:
        if a > 0.9:
            total += step(a)
        total += 0.1 * calls * a
    return total


TALLY = 0.0


@functions()
def a_global_that_is_stored(x):
    global TALLY
    TALLY = 0.0
    for a in x:
        TALLY += a * a
        TALLY *= 0.9
    return TALLY * x[0]


def running_mean():
    total, count, received = 0.0, 0, 0.0
    while True:
        received = yield total / (count or 1)
        total += received
        count += 1


@functions()
def values_that_are_sent(x):
    mean = running_mean()
    next(mean)
    result = 0.0
    for a in x:
        result += a * mean.send(a**2)
    return result


@functions()
def deques_of_the_last(x):
    last = collections.deque([x[0]] * 3, maxlen=3)
    total = 0.0
    for a in x:
        last.append(a * last[0])
        total += sum(last) / len(last)
    last.rotate(1)
    return total + last[0] * last.popleft()


@functions()
def starred_targets(x):
    first, *middle, last = list(x)
    total = first * last
    while middle:
        head, *middle = middle
        total = total * 0.7 + head**2
    return total


def sorted_in_halves(items):
    if len(items) < 2:
        return items
    middle = len(items) // 2
    left, right = sorted_in_halves(items[:middle]), sorted_in_halves(items[middle:])
    result, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return result + left[i:] + right[j:]


@functions(second=False)
def merge_sort(x):
    return sum((k + 1) * a**2 for k, a in enumerate(sorted_in_halves(list(x))))


@functions()
def recursion_that_stores(x):
    y = x.copy()

    def halve(low, high):
        if high - low > 1:
            middle = (low + high) // 2
            y[middle] += 0.3 * y[low] * y[high - 1]
            halve(low, middle)
            halve(middle, high)

    halve(0, len(y))
    return np.sum(y**2)


# ------------------------------------------------------------------ all of it together

together = Group("together")


class Ledger:
    fee = 0.01

    def __init__(self, opening, names):
        self.balances = dict.fromkeys(names, opening)
        self.failed = 0

    def move(self, source, target, amount):
        if amount > self.balances[source]:
            raise TooLarge(amount, self.balances[source])
        self.balances[source] -= amount
        self.balances[target] += amount * (1 - self.fee)
        return amount if source in {"a", "b"} else 0.0

    def total(self):
        return sum(self.balances.values())


@together()
def a_ledger(x):
    book, moved = Ledger(2.0 * x[0], "abc"), 0.0
    for k, amount in enumerate(x):
        source, target = "abc"[k % 3], "abc"[(k + 1) % 3]
        try:
            moved += book.move(source, target, amount * (1 + k % 2))
        except TooLarge as error:
            book.failed += 1
            book.balances[target] += 0.1 * error.limit
    return book.total() * moved + book.failed * x[1] + book.balances["c"] ** 2


@together(a_text)
def a_parser(x, genes):
    stack, total = [x[0]], 0.0
    for letter in genes:
        match letter:
            case "G":
                stack.append(stack[-1] * x[1])
            case "A" if len(stack) > 1:
                total += stack.pop()
            case "T" | "C":
                stack[-1] = math.tanh(stack[-1] + CHARGE[letter])
            case _:
                total *= 0.9
    return total + sum(stack)


@together()
def a_priority_queue(x):
    queue, total = [], 0.0
    for k, a in enumerate(x):
        queue.append((a, k))
        queue.sort()
        if len(queue) > 2:
            low, place = queue.pop(0)
            total += low * (place + 1)
    while queue:
        a, k = queue.pop()
        total = total * 0.8 + a**2 * k
    return total


@together()
def a_table_by_words(x):
    rows = [{"name": f"row {k}", "value": a, "tags": {"even"} if k % 2 == 0 else {"odd"}} for k, a in enumerate(x)]
    for row in rows:
        if "even" in row["tags"]:
            row["value"] *= x[0]
        row["share"] = row["value"] / (1.0 + row["value"])
    return sum(row["share"] ** 2 for row in rows if row["name"].startswith("row")) + max(row["value"] for row in rows)
