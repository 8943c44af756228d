"""Merges emitted statements, for text that is read: into the tuple assignments that the user wrote, and into array literals.

a = p[0]; b = p[1]   ->   a, b = p
g = np.zeros(p.shape); g[1] += b_grad; g[0] += a_grad   ->   g = np.array([a_grad, b_grad])
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeGuard

from symgrad.codegen.plainer import Canonical, lighten, lighten_tape, over_items, respell, targets_of
from symgrad.codegen.seam import is_same_tree
from symgrad.codegen.substitution import Substitution
from symgrad.codegen.sums import summed_up, with_one_test, with_pops
from symgrad.codegen.texts import Mark
from symgrad.location import Loc

WIDTH = 100
Lines = Callable[[str, int], str]
#: the end of the name of a cotangent
COTANGENT = re.compile(r"_grad(_\d+)?$")
WORD = re.compile(r"[^\W\d]\w*")
#: a line that may bind a name
BINDING = (
    r"\b{0}\b\s*(?:,.*)?(?:[-+*/%@&|^:]|//|\*\*|<<|>>)?=(?!=)"
    r"|\bfor\b[^:]*\b{0}\b[^:]*\bin\b|\b(?:as|def|class|global|nonlocal|import)\b.*\b{0}\b"
)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The names that one statement of the user's assigns, and the items of the tuple assigned to them, or None for one unpacked value."""

    names: tuple[str, ...]
    parts: tuple[str, ...] | None  #: the text of each item; None where one value is unpacked
    is_chain: bool = False  #: whether the statement is ``a = b = 0.0``

    def is_plain(self) -> bool:
        """Whether each item is a name or a number."""
        trees = [ast.parse(part, mode="eval").body for part in self.parts or ()]
        return bool(trees) and all(isinstance(tree, ast.Name | ast.Constant) for tree in trees)


@lru_cache(maxsize=4096)
def pattern_of(line: str) -> Pattern | None:
    """The pattern that one line of source assigns to.

    >>> pattern_of("u, v = u0, 0.0").parts, pattern_of("n, m = x.shape").parts, pattern_of("x = 1.0")
    (('u0', '0.0'), None, None)
    """
    try:
        body = ast.parse(line.strip()).body
    except (SyntaxError, ValueError):
        return None
    match body:
        case [ast.Assign(targets=[ast.Tuple(elts=targets)], value=value)] if all(isinstance(t, ast.Name) for t in targets):
            names = tuple(ast.unparse(t) for t in targets)
            parts = tuple(map(ast.unparse, value.elts)) if isinstance(value, ast.Tuple) else None
            return Pattern(names, parts) if parts is None or len(parts) == len(names) else None
        case [ast.Assign(targets=[_, _, *_] as targets, value=value)] if all(isinstance(t, ast.Name) for t in targets):
            return Pattern(tuple(ast.unparse(t) for t in targets), (ast.unparse(value),) * len(targets), is_chain=True)
    return None


@dataclass(slots=True)
class Unpacking:
    """Rewrites the statements of one function."""

    marks: dict[ast.stmt, Mark]
    lines: Lines
    start: Loc  #: where the user's function begins
    variables: frozenset[str]  #: the variables of the function, its parameters included
    vectors: frozenset[str]  #: the parameters that are vectors, or lists of numbers
    single: frozenset[str]  #: the variables that hold arrays of other numbers than float64
    lists: frozenset[str]  #: the variables that hold lists of numbers
    reads: Counter[str] = field(default_factory=Counter)
    extents: dict[str, int] = field(default_factory=dict)  #: the lengths of the unpacked vectors, by their texts
    end: int = 0  #: the line after the user's function
    constants: dict[str, tuple[int, ast.expr]] = field(default_factory=dict)  #: the user's names for numbers, each with line and number
    named: set[str] = field(default_factory=set)  #: the constants that the text names
    plain: list[Pattern] = field(default_factory=list)  #: the patterns whose items are names and numbers

    def function(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements of the function's body."""
        nodes = [node for statement in body for node in ast.walk(statement)]
        self.reads = Counter(node.id for node in nodes if isinstance(node, ast.Name))
        source = self.source()
        self.plain = [p for p in dict.fromkeys(map(pattern_of, source.values())) if p is not None and p.is_plain()]
        self.constants = {} if {"len", "np"} & self.variables else constants_of(source, self.variables)
        self.vectors -= {name.id for statement in body for name in targets_of(statement)}
        self.plainer(body)
        return self.with_constants(self.block(self.tidied(body, source)), source)

    def tidied(self, body: list[ast.stmt], source: Mapping[int, str]) -> list[ast.stmt]:
        """The statements with fewer temporaries, branches and signs."""
        users = {word for line in source.values() for word in WORD.findall(line)} | set(WORD.findall(self.line(self.start)))
        body = with_one_test(body, self.marks)
        for _ in range(2):
            body = Substitution(self.marks, users, self.single).function(body)
            body = summed_up(body, self.marks, self.single, self.lists)
        return with_pops(body, self.marks)

    def source(self) -> dict[int, str]:
        """The lines of the user's function after its head, as far as statements come from them, by line number."""
        last = max((mark.loc.line for mark in self.marks.values() if mark.loc.file == self.start.file), default=0)
        lines = {line: self.line(Loc(self.start.file, line)) for line in range(self.start.line + 1, last + 1)}
        first = self.line(self.start)
        head = next((k for k, line in lines.items() if line.lstrip().startswith("def ")), 0) if first.lstrip().startswith("@") else 0
        lines = {k: line for k, line in lines.items() if k > head}
        behind = (k for k, line in lines.items() if line.strip() and indent(line) <= indent(first) and line.strip()[0] not in ")]#")
        self.end = next(behind, last + 1)
        return {k: line for k, line in lines.items() if k < self.end}

    def plainer(self, body: list[ast.stmt]) -> None:
        """Respell the statements of a block as the user did, and simplify those of the backward half, in place."""
        for statement in body:
            mark = self.marks.get(statement, Mark())
            if mark.backward:
                lighten(statement, self.variables)
            if mark.loc.line and (isinstance(statement, ast.For) or not mark.backward):
                is_own = mark.loc.file == self.start.file and self.start.line < mark.loc.line < self.end
                known = {name: number for name, (line, number) in self.constants.items() if is_own and line < mark.loc.line}
                self.named |= respell(statement, self.line(mark.loc), known)
            lighten_tape(statement)
            if isinstance(statement, ast.For) and not mark.backward and "enumerate" not in self.variables:
                over_items(statement, self.line(mark.loc))
            for name in ("body", "orelse"):
                self.plainer(getattr(statement, name, []))

    def with_constants(self, body: list[ast.stmt], source: Mapping[int, str]) -> list[ast.stmt]:
        """The statements, with the assignments of the user's constants that they name."""
        for line, text in source.items():
            if self.named.isdisjoint(names_assigned(text)) or not self.constants.keys() >= set(names_assigned(text)):
                continue
            marks = [self.marks.get(statement, Mark()) for statement in body]
            later = (k for k, mark in enumerate(marks) if mark.loc.line > line and mark.loc.file == self.start.file or mark.backward)
            place = next(later, len(body))
            (single,) = ast.parse(text.strip()).body
            self.marks[single] = Mark(Loc(self.start.file, line))
            if place < len(body) and not marks[place].backward:
                self.marks[single].section, marks[place].section = marks[place].section, ""
            body = [*body[:place], single, *body[place:]]
        return body

    def line(self, loc: Loc) -> str:
        """The text of a line of the user's source."""
        try:
            return loc.text or self.lines(loc.file, loc.line)
        except (OSError, LookupError):
            return ""

    def pattern(self, loc: Loc) -> Pattern | None:
        """The pattern of the user's assignment at a location."""
        return pattern_of(self.line(loc)) if loc.line else None

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements of a block; consecutive statements of one source line, or of none, form a group."""
        out: list[ast.stmt] = []
        for loc, group in self.groups(body):
            for statement in group:
                for name in ("body", "orelse"):
                    if inner := getattr(statement, name, None):
                        setattr(statement, name, self.block(inner))
            pattern = self.pattern(loc)
            if pattern is not None:
                group = self.together(group, pattern)
            elif not loc.line:
                for plain in self.plain:
                    group = self.together(group, plain)
            out += group
        return chained(self.arrays(self.exchanged(out)))

    def groups(self, body: list[ast.stmt]) -> Iterator[tuple[Loc, list[ast.stmt]]]:
        """Consecutive statements that come from one line."""
        loc = Loc("", 0)
        group: list[ast.stmt] = []
        for statement in body:
            place = self.marks.get(statement, Mark()).loc
            if group and (place.file, place.line) != (loc.file, loc.line):
                yield loc, group
                group = []
            loc = place
            group.append(statement)
        if group:
            yield loc, group

    def together(self, group: list[ast.stmt], pattern: Pattern) -> list[ast.stmt]:
        """Merge the statements that assign a pattern's names into one, if they are adjacent or independent of those in between."""
        places = {name: k for k, statement in enumerate(group) if (name := target_of(statement)) in pattern.names}
        order = sorted(places.values())
        if len(places) != len(pattern.names) and places and pattern.parts is None:
            return self.with_unread(group, pattern, places)
        if len(places) != len(pattern.names) or self.marks.get(group[order[0]], Mark()).backward:
            return group
        values = {name: group[k].value for name, k in places.items()}  # type: ignore[attr-defined]
        first, stop = order[0], order[-1] + 1
        between = [statement for statement in group[first:stop] if target_of(statement) not in places]
        if not is_at_once([group[k] for k in order]) or between and not (pattern.is_plain() and is_apart(between, values)):
            return group
        if pattern.parts is None:
            single = self.unpacked(pattern, list(map(values.__getitem__, pattern.names)))
        else:
            is_theirs = self.marks.get(group[first]) is not None or says(pattern, values)
            single = at_once(pattern, values) if is_theirs else None
        if single is None:
            return group
        self.marks[single] = self.mark(group[:stop] if pattern.parts is None else group[first:stop])
        if pattern.parts is None:
            return [*self.without_test(group[:first], single, len(pattern.names)), single, *group[stop:]]
        return [*group[:first], *between, single, *group[stop:]]

    def with_unread(self, group: list[ast.stmt], pattern: Pattern, places: Mapping[str, int]) -> list[ast.stmt]:
        """Write ``n, m = x.shape`` for ``n = x.shape[0]``, where nothing else in the text is called ``m``."""
        unread = [name for name in pattern.names if name not in places]
        order = sorted(places.values())
        statements = [group[k] for k in order]
        bases = {ast.unparse(base) for name, k in places.items() if (base := item_base(group[k], pattern.names.index(name))) is not None}
        is_adjacent = (
            order[-1] - order[0] == len(order) - 1
            and len(bases) == 1
            and all(item_base(group[k], pattern.names.index(name)) is not None for name, k in places.items())
        )
        if not is_adjacent or not self.variables.isdisjoint(unread) or self.marks.get(statements[0], Mark()).backward:
            return group
        (text,) = bases
        if not text.endswith(".shape"):
            return group
        targets: list[ast.expr] = [ast.Tuple([ast.Name(name) for name in pattern.names])]
        single = ast.Assign(targets, ast.parse(text, mode="eval").body)
        self.marks[single] = self.mark(statements)
        return [*group[: order[0]], single, *group[order[-1] + 1 :]]

    def mark(self, replaced: list[ast.stmt]) -> Mark:
        """The mark of a replacement for statements: a section begins there if it begins at one of them."""
        marks = [self.marks.get(statement, Mark()) for statement in replaced]
        return replace(marks[-1], section=next((mark.section for mark in marks if mark.section), ""))

    def exchanged(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Replace ``c = x; a = b; b = c`` by ``a, b = b, x`` where the user assigned both at once."""
        out: list[ast.stmt] = []
        while body:
            exchange = self.exchange(body[:3])
            out.append(body[0] if exchange is None else exchange)
            body = body[1 if exchange is None else 3 :]
        return out

    def exchange(self, three: list[ast.stmt]) -> ast.stmt | None:
        """``a, b = b, x`` for three statements, if the user wrote that."""
        match three:
            case [
                ast.Assign(targets=[ast.Name(id=name)], value=value),
                ast.Assign(targets=[ast.Name(id=one)], value=ast.Name() as old),
                ast.Assign(targets=[ast.Name(id=other)], value=ast.Name(id=new)),
            ] if name == new and self.reads[name] == 2:
                pattern = self.pattern(self.marks.get(three[0], Mark()).loc)
                if pattern is not None and not pattern.is_chain and sorted(pattern.names) == sorted((one, other)):
                    single = at_once(pattern, {one: old, other: value})
                    if single is not None:
                        self.marks[single] = self.mark(three[:1])
                    return single
        return None

    def unpacked(self, pattern: Pattern, values: list[ast.expr]) -> ast.stmt | None:
        """``a, b = x`` for the values ``x[0]`` and ``x[1]``; None for other values."""
        bases: set[str] = set()
        for k, value in enumerate(values):
            if not (isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant) and value.slice.value == k):
                return None
            bases.add(ast.unparse(value.value))
        (text, *others) = bases
        if others:
            return None
        if text in self.vectors:
            self.extents[text] = len(values)
        return ast.Assign([ast.Tuple([ast.Name(name) for name in pattern.names])], values[0].value)  # type: ignore[attr-defined]

    def without_test(self, before: list[ast.stmt], single: ast.stmt, count: int) -> list[ast.stmt]:
        """The statements before an unpacking, without the test of the length: unpacking raises that exception itself."""
        assert isinstance(single, ast.Assign)
        plain = Canonical({}).rewritten
        text = ast.unparse(plain(ast.Call(ast.Name("len"), [single.value], [])))
        match before:
            case [*rest, ast.Assign(targets=[ast.Name(id=name)], value=value), ast.If(test=test, body=[ast.Raise()], orelse=[])]:
                if ast.unparse(plain(value)) == text and ast.unparse(test) == f"{name} != {count}" and self.reads[name] == 2:
                    return rest
            case [*rest, ast.If(test=test, body=[ast.Raise()], orelse=[])] if ast.unparse(plain(test)) == f"{text} != {count}":
                return rest
        return before

    # ------------------------------------------------------------------ arrays of elements

    def arrays(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """Replace zeros and additions to each element by one array literal."""
        out: list[ast.stmt] = []
        while body:
            statement, *body = body
            extent = self.extent_of_zeros(statement)
            elements = [element_of(other, target_of(statement)) for other in body[:extent]]
            by_place = {place: value for element in elements if element is not None for place, value in [element]}
            if extent and sorted(by_place) == list(range(extent)):
                array = ast.Attribute(ast.Name("np"), "array")
                assert isinstance(statement, ast.Assign)
                parts = ast.List([by_place[k] for k in range(extent)])
                single = ast.Assign(statement.targets, ast.Call(array, [parts], []) if isinstance(statement.value, ast.Call) else parts)
                if len(ast.unparse(ast.fix_missing_locations(single))) <= WIDTH - 8:
                    self.marks[single] = self.mark([*body[:extent], statement])
                    statement, body = single, body[extent:]
            out.append(statement)
        return out

    def extent_of_zeros(self, statement: ast.stmt) -> int:
        """The number of elements of the zeros that a statement assigns, if the vector of that shape has been unpacked; else 0."""
        match statement:
            case ast.Assign(
                targets=[ast.Name()], value=ast.Call(func=function, args=[ast.Attribute(value=base, attr="shape")], keywords=[])
            ):
                if ast.unparse(function) == "np.zeros":
                    return self.extents.get(ast.unparse(base), 0)
            case ast.Assign(
                targets=[ast.Name()],
                value=ast.BinOp(ast.List(), ast.Mult(), ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=items)])),
            ):
                return self.extents.get(items, 0)
        return 0


def chained(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements, with ``a_grad = b_grad = 0.0`` for consecutive assignments of the same number to cotangents."""
    out: list[ast.stmt] = []
    for statement in body:
        last = out[-1] if out else None
        if last is not None and begins_cotangent(last) and begins_cotangent(statement):
            targets = [*last.targets, *statement.targets]
            if is_same_tree(last.value, statement.value) and sum(len(ast.unparse(target)) + 3 for target in targets) < WIDTH - 16:
                last.targets = targets
                continue
        out.append(statement)
    return out


def begins_cotangent(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    """Whether the statement assigns a number to cotangents."""
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Constant):
        return False
    return all(isinstance(target, ast.Name) and COTANGENT.search(target.id) for target in statement.targets)


def names_assigned(line: str) -> tuple[str, ...]:
    """The names to which a line assigns numbers; empty if it does anything else."""
    try:
        body = ast.parse(line.strip()).body
    except (SyntaxError, ValueError):
        return ()
    pattern = pattern_of(line)
    match body:
        case [ast.Assign(targets=[ast.Name(id=name)], value=value)] if is_number(value):
            return (name,)
        case [ast.Assign(value=ast.Tuple(elts=parts))] if pattern is not None and all(map(is_number, parts)):
            return pattern.names
    return ()


def is_number(node: ast.expr) -> bool:
    """Whether the expression is a literal number."""
    positive = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    return isinstance(positive, ast.Constant) and type(positive.value) in (int, float)


def indent(line: str) -> int:
    """The indentation of a line."""
    return len(line) - len(line.lstrip())


def constants_of(source: Mapping[int, str], variables: Container[str]) -> dict[str, tuple[int, ast.expr]]:
    """The user's constants: names assigned once, a number, outside loops and branches, and not variables of the text."""
    numbers: dict[str, tuple[int, ast.expr]] = {}
    least = min((indent(line) for line in source.values() if line.strip() and line.strip()[0] != ")"), default=0)
    for k, line in source.items():
        if indent(line) == least and (names := names_assigned(line)):
            (statement,) = ast.parse(line.strip()).body
            assert isinstance(statement, ast.Assign)
            parts = statement.value.elts if isinstance(statement.value, ast.Tuple) else [statement.value]
            numbers |= {name: (k, part) for name, part in zip(names, parts, strict=True)}
    times = {name: sum(bool(re.search(BINDING.format(name), line)) for line in source.values()) for name in numbers}
    return {name: number for name, number in numbers.items() if name not in variables and times[name] == 1}


def target_of(statement: ast.stmt) -> str:
    """The one name that a statement assigns to, or ""."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def element_of(statement: ast.stmt, name: str) -> tuple[int, ast.expr] | None:
    """The index and the addend of an addition to an element of an array, if the addend does not read the array; else None."""
    match statement:
        case ast.AugAssign(target=ast.Subscript(value=ast.Name(id=array), slice=ast.Constant(value=int() as place)), value=value):
            if array == name and name not in names_in(value) and isinstance(statement.op, ast.Add | ast.Sub):
                return place, value if isinstance(statement.op, ast.Add) else ast.UnaryOp(ast.USub(), value)
    return None


def item_base(statement: ast.stmt, place: int) -> ast.expr | None:
    """``x`` of ``t = x[place]``; None for other statements."""
    match statement:
        case ast.Assign(value=ast.Subscript(value=base, slice=ast.Constant(value=int() as index))) if index == place:
            return base
    return None


def names_in(tree: ast.AST) -> set[str]:
    """The names in a tree."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def is_plain(statement: ast.stmt) -> bool:
    """Whether the statement assigns a name or a number to a name."""
    return bool(target_of(statement)) and isinstance(statement.value, ast.Name | ast.Constant)  # type: ignore[attr-defined]


def is_apart(statements: list[ast.stmt], values: Mapping[str, ast.expr]) -> bool:
    """Whether statements that assign names and numbers are independent of the assignments of ``values``, so that their order may change."""
    read = set().union(*map(names_in, values.values()))
    return all(
        is_plain(s) and target_of(s) not in read and values.keys().isdisjoint(names_in(s.value))  # type: ignore[attr-defined]
        for s in statements
    )


def is_at_once(statements: list[ast.stmt]) -> bool:
    """Whether all values may be computed before the first is assigned."""
    assigned: set[str] = set()
    for statement in statements:
        if assigned & names_in(statement.value):  # type: ignore[attr-defined]
            return False
        assigned.add(target_of(statement))
    return True


def says(pattern: Pattern, values: dict[str, ast.expr]) -> bool:
    """Whether these are the values that the user assigned."""
    assert pattern.parts is not None
    return [ast.unparse(values[name]) for name in pattern.names] == list(pattern.parts)


def at_once(pattern: Pattern, values: dict[str, ast.expr]) -> ast.stmt | None:
    """``a, b = x, y``, or ``a = b = x``."""
    parts = [values[name] for name in pattern.names]
    targets: list[ast.expr] = [ast.Name(name) for name in pattern.names]
    if pattern.is_chain:
        is_one = all(isinstance(part, ast.Constant) and ast.unparse(part) == ast.unparse(parts[0]) for part in parts)
        return ast.Assign(targets, parts[0]) if is_one else None
    return ast.Assign([ast.Tuple(targets)], ast.Tuple(parts))


__all__ = ["Unpacking"]
