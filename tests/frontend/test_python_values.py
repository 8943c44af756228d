"""Dynamic texts and sets, compared with Python; no active number is read from them."""

from __future__ import annotations

import collections
import random
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import Mismatch, NoDerivative

X = np.array([0.4, -1.3, 2.1, 0.7])
BASES = "GATTACA"
WEIGHTS = {"A": 0.5, "C": 1.5, "G": 2.0, "T": -1.0}
CLASSES = {"A": "purine", "G": "purine", "C": "pyrimidine", "T": "pyrimidine"}
PAIRS = {frozenset("A"): 1.0, frozenset("AT"): 2.0, frozenset("CG"): 3.0, frozenset("AC"): 0.25}
BOARD = ("r..k", ".pP.", "....", "R..K")
WALLS = frozenset({(1, 1), (0, 2)})


def check(f: Any, *others: Any, x: np.ndarray = X, targets: Any = (False,)) -> None:
    """Value and gradient against the function and its differences, in two calls; kernels hold no texts and no sets."""
    slopes = [(f(x + s, *others) - f(x - s, *others)) / 2e-6 for s in 1e-6 * np.eye(len(x))]
    for jit in targets:
        derived = symgrad.value_and_grad(f, jit=jit)
        for _ in range(2):
            value, gradient = derived(x, *others)
            assert value == pytest.approx(f(x, *others), rel=1e-12)
            np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


# ------------------------------------------------------------------ questions to texts, everywhere


#: expressions of a text ``c`` and a place ``i`` in a text, which are true or whole numbers
QUESTIONS = [
    "c == 'A'", "'T' != c", "c < 'C'", "c >= 'G'", "c in 'GC'", "c not in 'AT'", "'A' in c", "c in ('A', 'T')", "c in ['G']", "c in WEIGHTS",
    "c in {'C', 'G'}", "not c", "c and 1", "len(c)", "len(c + c)", "(c * 2).count('A')", "c.lower() == 'a'", "c.isupper()", "c.isdigit()",
    "BASES.count(c)", "BASES.find(c)", "BASES.index(c)", "c.startswith('G')", "BASES.endswith(c)", "BASES[i:].count('A')",
    "BASES[:i + 1] == 'GAT'", "(c + BASES[i % 7]) == 'GA'", "f'{c}{i}' == 'A1'", "('x' + c).upper() == 'XA'", "CLASSES[c] == 'purine'",
    "CLASSES[c] == CLASSES[BASES[i % 7]]", "c.replace('A', 'B') == 'B'", "c == 3", "c == None", "c is None", "len(set(c + BASES[i % 7]))",
    "frozenset(c + 'T') == frozenset('AT')", "set(BASES[:i + 1]) == {'G', 'A'}", "set(BASES[:i]) <= set('GAT')",
    "len(set(BASES[:i]) & set('AC'))", "len({c, 'A'})", "'-'.join([c, 'b']) == 'A-b'", "c.strip() == c", "sum(d == 'A' for d in BASES[:i])",
    "len([d for d in BASES[i:] if d > 'B'])", "len(c.split('A'))", "isinstance(c, str)",
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_to_a_text_in_a_loop_and_in_a_call(question: str) -> None:
    lines = ["def ask(c, i):", f"    return {question}", "def f(x, bases):", "    total = 0.0", "    for i in range(len(bases)):",
             "        c = bases[i]", f"        if {question}:", "            total += x[i % 4] * (i + 1)", "        else:",
             "            total += x[0] * x[1]", "        total += x[2] * int(bool(ask(c, i)))", "    return total"]  # fmt: skip
    space = {"BASES": BASES, "WEIGHTS": WEIGHTS, "CLASSES": CLASSES}
    check(written("\n".join(lines), space), BASES + "ATGC" * 16)  # more letters than loops that are written out have rounds


#: expressions that raise for some letters, and what
RAISING = [
    ("'GAT'.index(c)", "ValueError"), ("{'A': 1, 'T': 2}[c]", "KeyError"), ("len(c[i % 3])", "IndexError"), ("int(c)", "ValueError"),
    ("len(BASES.split(c.strip('C')))", "ValueError"), ("len(BASES[i])", "IndexError"), ("'xTA'.rindex(c)", "LookupError"),
    ("int(BASES[i] == c)", "(KeyError, IndexError)"),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["", "Exception"])
@pytest.mark.parametrize(("question", "raised"), RAISING)
def test_a_question_that_raises_in_a_handler(question: str, raised: str, kind: str) -> None:
    lines = ["def f(x, bases):", "    total, sums = 0.0, []", "    for i in range(len(bases)):", "        c = bases[i]", "        try:",
             f"            total += x[i % 4] * ({question})", "            sums.append(total)", f"        except {kind or raised}:",
             "            total = 0.5 * total + x[0] * x[1]", "        else:", "            total *= 0.9",
             "    return total + sum(sums)"]  # fmt: skip
    f = written("\n".join(lines), {"BASES": BASES})
    try:
        f(X, BASES * 3)
    except Exception as error:
        with pytest.raises(type(error)) as refusal:
            symgrad.grad(f)(X, BASES * 3)
        assert str(refusal.value) == str(error)
    else:
        check(f, BASES * 3)


def written(text: str, space: dict[str, Any]) -> Any:
    """The function of a text, with a file that inspect finds."""
    import linecache

    name = f"<test of texts {len(linecache.cache)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    inside = dict(space)
    exec(compile(text, name, "exec"), inside)
    return inside["f"]


# ------------------------------------------------------------------ tables by texts and sets


def weight_of_each(x, bases):
    total = 0.0
    for i in range(len(bases)):
        total += WEIGHTS[bases[i]] * x[i % 4] ** 2
    return total


def active_table(x, bases):
    table = {"A": x[0], "C": x[1] * x[2], "G": x[2], "T": x[3] * 2}
    total = 1.0
    for i in range(len(bases)):
        total += table[bases[i]] * table.get(bases[-i], x[0])
    return total


def pairs_of_bonds(x, first, second):
    total = 0.0
    for k in range(len(first)):
        total += PAIRS[frozenset(BASES[first[k]] + BASES[second[k]])] * x[k % 4] ** 2
    return total


def on_a_board(x, row):
    total = 0.0
    for column in range(4):
        a, b = row, column
        while 0 <= a < 4 and BOARD[a][b] == ".":
            total += x[b] * (a + 1)
            a -= 1
    return total


def around_walls(x, walls):
    total = 0.0
    for i in range(4):
        for j in range(3):
            if (i, j) in walls or (i, j) in WALLS:
                continue
            total += x[i] * (j + 1)
    return total


@pytest.mark.parametrize(
    ("f", "others"),
    [
        (weight_of_each, (BASES * 5,)), (active_table, (BASES * 5,)), (pairs_of_bonds, (np.array([0, 1, 2, 1]), np.array([5, 3, 4, 4]))),
        (pairs_of_bonds, ([1, 1, 6], [1, 3, 5])), (on_a_board, (2,)), (around_walls, (frozenset({(2, 0)}),)), (around_walls, ({(2, 0), (3, 2)},)),
        (around_walls, ([(2, 0)],)), (around_walls, (((2, 0),),)),
    ],
)  # fmt: skip
def test_tables_by_texts_and_sets(f: Any, others: Any) -> None:
    check(f, *others, targets=(False, "auto"))


def test_a_text_that_is_no_key_raises() -> None:
    with pytest.raises(KeyError, match="X"):
        symgrad.grad(weight_of_each)(X, "GATX" * 8)


# ------------------------------------------------------------------ sets of what is computed


def labels_checked(x, labels):
    if not set(labels.tolist()) <= {0, 1}:
        raise ValueError(f"labels must be 0 or 1, got {sorted(set(labels.tolist()))}")
    return np.sum(x * labels)


def overlap(x, start):
    path, i = [], start
    while i > 0:
        i = i // 2
        path.append((i, i % 2))
    shared = set(path) & {(1, 1), (3, 1), (0, 0)}
    return np.sum(x) * len(shared) / len(set(path) | {(9, 9)})


def of_whole_numbers(x, order):
    seen = set(order[:3])
    total = 0.0
    for k in sorted(seen | {1}):
        total += x[k] * (k + 1)
    for k in range(4):
        if k not in seen:
            total *= x[k]
    return total + len(seen - {0}) * x[0] + x[1] * seen.issuperset({0}) + x[2] * seen.isdisjoint([3])


def of_floats(x, data):
    levels = set(data)
    return x[0] * len(levels) + x[1] * (data[0] in levels) + x[2] * (levels == {1.5, 2.5})


@pytest.mark.parametrize(
    ("f", "others"),
    [
        (labels_checked, (np.array([0, 1, 1, 0]),)), (overlap, (13,)), (overlap, (64,)), (of_whole_numbers, ([0, 2, 2, 3],)),
        (of_whole_numbers, (np.array([3, 1, 1, 3]).tolist(),)), (of_floats, ([1.5, 2.5, 1.5],)),
    ],
)  # fmt: skip
def test_sets_of_what_is_computed(f: Any, others: Any) -> None:
    check(f, *others)


def test_what_a_check_raises() -> None:
    with pytest.raises(ValueError, match=r"labels must be 0 or 1, got \[0, 2\]"):
        symgrad.grad(labels_checked)(X, np.array([0, 2, 2, 0]))


# ------------------------------------------------------------------ nothing that carries a derivative gets through


LEAKS = [
    "min(set([x[0], x[1]]))", "sum(set(x.tolist()))", "max({*x.tolist()})", "sorted(set(x.tolist()))[0]", "[v for v in set([x[0], x[1]])][0]",
    "list(set(x.tolist()))[0]", "set([x[0]]).pop()", "sum(frozenset([x[0] * 2, x[1]]) - {1.0})", "next(iter(set([x[0], 2.0])))",
    "float(f'{x[0]}')", "float(str(x[0]))", "sum(v for v in {x[0], x[1]})",
]  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS)
def test_a_number_that_comes_out_of_a_set_or_a_text_is_refused_or_right(leak: str) -> None:
    f = written(f"def f(x):\n    return x[2] * ({leak})\n", {})
    slopes = [(f(X + s) - f(X - s)) / 2e-6 for s in 1e-6 * np.eye(4)]
    try:
        gradient = symgrad.grad(f)(X)
    except symgrad.SymgradError:
        return
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def test_the_message_where_a_number_comes_out_of_a_set() -> None:
    f = written("def f(x):\n    return x[2] * sum({float(x[0]), float(x[1])})\n", {})
    with pytest.raises(NoDerivative, match="is stored in a set and read from it again") as refusal:
        symgrad.grad(f)(X)
    assert "use the number itself, or a list or tuple of numbers" in str(refusal.value)
    check(written("def f(x):\n    return x[2] * sum([x[0], x[1]])\n", {}))


CHANGES = ["add(k)", "discard(0)", "remove(0)", "update([k])", "clear()", "pop()", "difference_update({0})"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("order", [[0, 2, 2], list(range(20))], ids=["few", "many"])
def test_a_set_that_is_not_known_is_changed(change: str, order: list[int]) -> None:
    check(
        written(f"def f(x, order):\n    seen = set(order)\n    k = len(order)\n    seen.{change}\n    return x[0] * len(seen)\n", {}), order
    )


#: sets of several classes of elements, of NumPy's numbers, and under several names; ``few`` and ``many`` are lists of whole numbers
SETS = [
    "t = s\n    t |= {9}\n    return x[0] * len(s)", "s |= {9}\n    return x[0] * len(s)", "t = {1, 2}\n    u = t\n    u |= s\n    return x[0] * len(t)",
    "t = {1, 2}\n    grow(t, s)\n    return x[0] * len(t)", "grow(s, {7})\n    return x[0] * len(s)", "s = s | {7}\n    return x[0] * len(s)",
    "return x[0] * list(s | {'p', 7}).count('p')", "return x[0] * sum(1 for v in s ^ {(1, 2), 1} if v == (1, 2))",
    "return x[0] * isinstance(max(s | {2.5, True}), int)", "return x[0] * max(s - {2.5}) + x[1] * sum(s | set()) + x[2] * min(set() | s)",
    "return x[0] * isinstance(max(set(np.array(order))), int) + x[1]", "return x[0] * max(set(np.array(order))) ** -1",
    "u = sorted(set(np.array(order) > 1))\n    return x[0] * (u[-1] + u[-1])", "return x[0] * isinstance(max({np.int64(k) for k in order}), int)",
    "return x[0] * (s.copy() is s) + x[1]", "return x[0] * [*s, 5][0] + len([*s, *s])", "t = s\n    return x[0] * (t is s)",
    "return x[0] * len(s.union([3, 4], {5}))", "s = frozenset(s)\n    s |= {77}\n    return x[0] * len(s)",
]  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.parametrize("order", [[1, 2], list(range(3, 30))], ids=["few", "many"])
@pytest.mark.parametrize("body", SETS)
def test_sets_of_every_kind_are_right_or_refused(body: str, order: list[int]) -> None:
    f = written(f"def grow(s, other):\n    s |= other\ndef f(x, order):\n    s = set(order)\n    {body}\n", {"np": np})
    try:
        expected: Any = f(X, order)
    except Exception as error:
        expected = type(error), str(error)
    try:
        value: Any = symgrad.value_and_grad(f, wrt="x", verify=False)(X, order)[0]
    except symgrad.SymgradError:
        return
    except Exception as error:
        value = type(error), str(error)
    assert value == pytest.approx(expected) if not isinstance(expected, tuple) else value == expected


def test_an_attribute_that_a_text_does_not_have() -> None:
    f = written("def f(x, s, k):\n    try:\n        s[k].foo\n    except AttributeError:\n        return x[1]\n    return x[0]\n", {})
    assert symgrad.value_and_grad(f, wrt="x")(X, "abc", 1)[0] == X[1]


def test_the_way_out_of_a_change() -> None:
    def f(x, order):
        seen = set(order)
        k = len(order)
        seen = seen | {k}
        return x[0] * len(seen)

    check(f, [0, 2, 2])


# ------------------------------------------------------------------ random programs


def random_program(seed: int) -> str:
    """A loop over a text in which sets and texts are made and asked."""
    r = random.Random(seed)
    texts = ["c", "bases[-i]", "c + bases[-i]", "bases[i:i + 2]", "c.lower()", "'A' + c", "'GAT'"]
    sets = ["set(bases[:i + 1])", "set(c)", "set('GC')", "frozenset(c + bases[-i])", "set('AT') | set(c)", "set(bases) - set(c)"]
    lines = ["def f(x, bases):", "    total, last = x[0] * 1.0, 'G'", "    for i in range(len(bases)):", "        c = bases[i]"]
    for _ in range(r.randint(2, 5)):
        kind = r.randrange(5)
        if kind == 0:
            lines.append(f"        c = {r.choice(texts)}")
            lines.append("        c = c[0]")
            continue
        if kind == 1:
            lines.append("        last = c if total > 0.5 else last" if r.random() < 0.5 else "        last = c")
            test = f"last {r.choice(['==', '<', '!='])} {r.choice(texts)}"
        elif kind == 2:
            test = f"{r.choice(sets)} {r.choice(['<=', '==', '>', '!='])} {r.choice(sets)}"
        elif kind == 3:
            test = f"{r.choice(['c', 'last', 'bases[-i]'])} {r.choice(['in', 'not in'])} {r.choice(sets + texts)}"
        else:
            test = f"len({r.choice(sets + texts)}) {r.choice(['>', '=='])} {r.randint(1, 3)}"
        lines.append(f"        if {test}:")
        lines.append(
            f"            total += x[{r.randrange(4)}] * {r.choice(['0.5', 'x[i % 4]', 'len(c)', 'WEIGHTS.get(c, 0.1)', '(i + 1)'])}"
        )
        if r.random() < 0.4:
            lines += ["        else:", f"            total *= 0.9 + 0.1 * x[{r.randrange(4)}]"]
    return "\n".join([*lines, "    return total"])


@pytest.mark.parametrize("first", range(0, 80, 20))
def test_random_programs_over_texts_and_sets(first: int) -> None:
    results: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + 20):
        f = written(random_program(seed), {"WEIGHTS": WEIGHTS})
        bases = "".join(random.Random(seed).choices("GATC", k=random.Random(seed + 1).randint(1, 12)))
        try:
            check(f, bases, x=X / 4)
        except symgrad.SymgradError as refusal:
            assert not isinstance(refusal, Mismatch), random_program(seed)
            results["refused"] += 1
        else:
            results["right"] += 1
    assert results["right"] >= 16, results
