"""Methods of Python's containers and texts."""

from __future__ import annotations

import collections

from tests.language.table import Section

LISTS = Section("Methods of lists and tuples")
DICTS = Section(
    "Methods of dicts",
    "Derivatives pass through the values of a dict. Its keys are static, or computed ints, bools, floats, strings and tuples of these. "
    "The static methods below are differentiated if keys are computed. "
    "Classes that derive from lists and dicts are read with their own methods, operators and attributes.",
)
SETS = Section(
    "Methods of sets",
    "The elements of a set are static, or computed ints, floats, strings and tuples of these, in the order of Python.",
)
DEQUES = Section("Methods of deques")
TEXTS = Section("Methods of strings")
NUMBERS = Section("Methods and attributes of numbers")
ERROR = "UnsupportedSyntax"
UNKNOWN = "UnknownFunction"


@LISTS.read("list.append", "list.extend", "list.insert")
def growing(x, n):
    items = [x]
    for k in range(n):
        items.append(x * items[k])
    items.extend([2.0 * x, 1.0])
    items.insert(0, -x)
    return items[0] * items[3] * items[-2]


@LISTS.read("list.pop", "list.remove", "list.clear")
def shrinking(x, y):
    items, others = [x, y, x * y, 2.0], [x]
    items.remove(2.0)
    others.clear()
    return items.pop() * items.pop(0) * len(others + [x])


@LISTS.read("list.sort", "list.reverse", "list.copy")
def put_in_order(v):
    items = list(v)
    before = items.copy()
    items.sort(key=lambda a: -a)
    items.reverse()
    return items[0] * before[0]


LISTS.read("list.index", "list.count")(lambda x, y: [x, y, x].index(y) * x * [x, y, x].count(x))
LISTS.read("tuple.index", "tuple.count")(lambda x, y: (x, y).index(y) * x * (x, y, x).count(x))


@DICTS.carried_out("dict.get", "dict.setdefault", "dict.update")
def filled(x, y):
    held = {"a": x}
    held.update(b=y, c=x * y)
    held.setdefault("d", 2.0 * x)
    return held.get("d") * held.get("b", 0.0) * held.get("e", x)


DICTS.read("dict.items")(lambda x, v: sum(a * x for _, a in sorted({b > 0: b for b in v}.items())))


@DICTS.carried_out("dict.pop", "dict.popitem", "dict.clear", "dict.copy")
def emptied(x, y):
    held = {"a": x, "b": y, "c": x * y}
    other = held.copy()
    key, last = held.popitem()
    first = held.pop("a")
    held.clear()
    return first * last * other["b"]


DICTS.read("dict.items", "dict.keys", "dict.values")(
    lambda x, table: sum(x**k for k in table.values()) + len(table.keys()) * sum(a * x for _, a in table.items())
)
DICTS.carried_out("dict.fromkeys")(lambda x, y: dict.fromkeys(("a", "b"), x)["b"] * y)


@DICTS.carried_out("OrderedDict.move_to_end")
def moved(x, y):
    held = collections.OrderedDict(a=x, b=y)
    held.move_to_end("a")
    return list(held.values())[1] * x


@DICTS.read("Counter.most_common", "Counter.total", "Counter.elements")
def counted(x):
    counts = collections.Counter("abca")
    return x ** counts.total() * counts.most_common(1)[0][1] * len(list(counts.elements()))


@DICTS.read("Counter.subtract")
def subtracted(x):
    counts = collections.Counter("aab")
    counts.subtract("a")
    return x * counts["a"]


@SETS.carried_out("set.add", "set.discard", "set.remove", "set.update", "set.clear", "set.copy", "set.pop")
def visited(x, n):
    seen, others = {1}, {5}
    seen.add(2)
    seen.update((3, 4))
    seen.discard(9)
    seen.remove(4)
    copied = seen.copy()
    others.pop()
    copied.clear()
    return x * x if 2 in seen and not copied and not others else x


SETS.carried_out("set.union", "set.intersection", "set.difference", "set.symmetric_difference")(
    lambda x: x ** len({1, 2}.union({3}).intersection({2, 3}).difference({9}).symmetric_difference({4}))
)
SETS.carried_out("set.issubset", "set.issuperset", "set.isdisjoint")(
    lambda x: x * x if {1}.issubset({1, 2}) and {1, 2}.issuperset({1}) and {1}.isdisjoint({2}) else x
)


@SETS.carried_out("set.intersection_update", "set.difference_update")
def changed_by_another(x):
    kept = {1, 2, 3}
    kept.intersection_update({1, 2})
    kept.difference_update({1})
    return x ** len(kept)


SETS.carried_out("frozenset.union", "frozenset.intersection", "frozenset.difference", "frozenset.symmetric_difference", "frozenset.copy")(
    lambda x: x ** len(frozenset((1, 2)).union({3}).intersection({2, 3}).difference({9}).symmetric_difference({4}).copy())
)
SETS.carried_out("frozenset.issubset", "frozenset.issuperset", "frozenset.isdisjoint")(
    lambda x: x * x if frozenset((1,)).issubset({1, 2}) and frozenset((1, 2)).issuperset({1}) and frozenset((1,)).isdisjoint({2}) else x
)


@SETS.carried_out("set.symmetric_difference_update")
def changed_by_one_half(x):
    kept = {1, 2, 3}
    kept.symmetric_difference_update({3, 4, 5})
    return x ** len(kept)


@DEQUES.read("deque.append", "deque.appendleft", "deque.extend", "deque.extendleft", "deque.insert", "deque.maxlen")
def window(x, n):
    recent = collections.deque([x, 2.0 * x], maxlen=4)
    recent.append(x * x)
    recent.appendleft(3.0 * x)
    wide = collections.deque([x])
    wide.extend([x, x * x])
    wide.extendleft([1.0, x])
    wide.insert(1, x)
    return recent[0] * recent[-1] * wide[0] * wide[1] * recent.maxlen


@DEQUES.read(
    "deque.pop", "deque.popleft", "deque.rotate", "deque.reverse", "deque.remove", "deque.clear", "deque.copy", "deque.index", "deque.count"
)
def turned(x, y):
    queue = collections.deque([x, y, x * y, 1.0])
    queue.rotate(1)
    queue.reverse()
    copied = queue.copy()
    copied.remove(1.0)
    old = queue.copy()
    old.clear()
    return queue.pop() * queue.popleft() * copied.index(y) * copied.count(x) * x


words = TEXTS.carried_out
words("str.lower", "str.upper", "str.title", "str.capitalize", "str.casefold", "str.swapcase")(
    lambda x, table: (
        x * table["A".lower()] if "a".upper() + "b".title() + "c".capitalize() + "D".casefold() + "E".swapcase() == "ABCde" else x
    )
)
words("str.strip", "str.lstrip", "str.rstrip", "str.removeprefix", "str.removesuffix")(
    lambda x, table: x * table[" a ".strip().lstrip("b").rstrip("c").removeprefix("d").removesuffix("e")]
)
words("str.split", "str.rsplit", "str.splitlines", "str.partition", "str.rpartition")(
    lambda x, table: (
        x
        * table["a,c".split(",")[0]]
        * table["c,b".rsplit(",")[1]]
        * len("a\nb".splitlines())
        * len("a.b".partition(".") + "c.d".rpartition("."))
    )
)
words("str.startswith", "str.endswith", "str.find", "str.rfind", "str.index", "str.rindex", "str.count")(
    lambda x: (
        x * "abc".find("b") * "abc".rfind("c") * "abc".index("b") * "aba".rindex("a") * "aa".count("a")
        if "abc".startswith("a") and "abc".endswith("c")
        else x
    )
)
words("str.replace", "str.expandtabs")(lambda x, table: x * table["c".replace("c", "a")] * len("a\t".expandtabs(4)))
TEXTS.kept("str.encode")(lambda x: x * len("ab".encode()))
TEXTS.kept("str.join", "str.translate", "str.maketrans")(
    lambda x: x * len("-".join(["a", "b"])) * len("ab".translate(str.maketrans("a", "b")))
)
words("str.center", "str.ljust", "str.rjust", "str.zfill")(lambda x: x * len("a".center(3) + "b".ljust(2) + "c".rjust(2) + "7".zfill(3)))
words("str.isalpha", "str.isalnum", "str.isdigit", "str.isdecimal", "str.isnumeric", "str.isascii")(
    lambda x: x * x if "a".isalpha() and "a1".isalnum() and "1".isdigit() and "2".isdecimal() and "3".isnumeric() and "b".isascii() else x
)
words("str.islower", "str.isupper", "str.istitle", "str.isspace", "str.isidentifier", "str.isprintable")(
    lambda x: (
        x * x if "a".islower() and "B".isupper() and "Ab".istitle() and " ".isspace() and "a".isidentifier() and "c".isprintable() else x
    )
)
words("str.format")(lambda x: x * len("{}-{}".format("a", 1)))
TEXTS.kept("str.format_map", text='"{a}".format_map(dict([("a", "b")]))')(lambda x: x * len("{a}".format_map({"a": "b"})))


@TEXTS.kept("str.format")
def printed_with_format(x):
    print("at {}".format(x))
    return x * x


NUMBERS.read("float.conjugate", "float.real", "float.imag")(lambda x: x.conjugate() * x.real + x.imag)
NUMBERS.read("complex.conjugate", "complex.real", "complex.imag")(lambda x, y: (complex(x, y).conjugate() * 2.0).imag * complex(x, y).real)
number = NUMBERS.refused
NUMBERS.kept("float.fromhex", "int.from_bytes")(lambda x: x * float.fromhex("0x1p1") * int.from_bytes(b"a", "big"))
NUMBERS.read("float.is_integer")(lambda x: x * x if x.is_integer() else 2.0 * x)
number("float.as_integer_ratio", error=UNKNOWN, instead=lambda x, n: n * x)(lambda x, n: float(n).as_integer_ratio()[0] * x)
NUMBERS.kept("float.hex")(lambda x, n: len(float(n).hex()) * x)
NUMBERS.read("int.real", "int.imag", "int.conjugate")(lambda x, n: x * (n.real + n.imag + n.conjugate()))
NUMBERS.read("int.numerator", "int.denominator")(lambda x, n: x * (n.numerator + n.denominator))
NUMBERS.kept("int.bit_length", "int.bit_count")(lambda x, n: x * (n.bit_length() + n.bit_count()))
NUMBERS.read("int.as_integer_ratio")(lambda x, n: x * n.as_integer_ratio()[0])
number("int.to_bytes", error=UNKNOWN, instead=lambda x: x * 2)(lambda x, n: x * len(n.to_bytes(2, "big")))

SECTIONS = [LISTS, DICTS, SETS, DEQUES, TEXTS, NUMBERS]
