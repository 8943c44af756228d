"""``match``: each case is a test and the names that its pattern binds, lowered in order as ``elif`` is."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.calls.attributes import attribute_of
from symgrad.frontend.constructs.targets import bind
from symgrad.frontend.containers.iterables import known_items
from symgrad.frontend.flow.absent import present
from symgrad.frontend.flow.flow import branch, choose, run
from symgrad.frontend.objects.derived import as_base, is_derived
from symgrad.frontend.objects.operands import known_value, static_binding
from symgrad.frontend.objects.outside import check_reader, item_text, outside, rely_on_keys
from symgrad.frontend.objects.protocols import class_of
from symgrad.frontend.objects.reading import attribute_text, entry_of_class, from_class, users_bases
from symgrad.frontend.state.bindings import MISSING, Binding, Choice, External, Iter, Maybe, Num, Obj, OneOf, Ref, Static, View
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import held_items, is_long
from symgrad.frontend.state.tables import statement
from symgrad.frontend.values.comparison import comparison
from symgrad.frontend.values.exact import is_instance
from symgrad.frontend.values.truths import condition, truth
from symgrad.ir.core import FALSE, TRUE, Const, Operand
from symgrad.ir.types import List
from symgrad.text import key_word

#: the test of a pattern, and the names that it binds
Case = tuple[Operand, dict[str, Binding]]
NEVER: Case = (FALSE, {})
#: classes whose one positional pattern matches the value itself
ITSELF = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


@statement(ast.Match)
def match_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    return cases(ctx, ctx.evaluate(node.subject), node.cases, rest)


def cases(ctx: Lowering, subject: Binding, left: list[ast.match_case], rest: list[ast.stmt]) -> bool:
    """Lower the first matching case; ``rest`` follows the statement."""
    if not left:
        return False
    case, *others = left
    test, names = matched(ctx, case.pattern, subject)

    def bound() -> None:
        for name, binding in names.items():
            bind(ctx, ast.copy_location(ast.Name(name, ast.Store()), case.pattern), binding)

    def guarded() -> Binding:
        assert case.guard is not None
        bound()
        return Num(condition(ctx, case.guard))

    def then() -> None:
        bound()
        run(ctx, case.body)

    if case.guard is not None:
        if isinstance(test, Const):
            test = truth(ctx, guarded(), case.guard) if test.value else FALSE
        else:
            test = truth(ctx, choose(ctx, test, case.guard, guarded, lambda: Num(FALSE)), case.guard)
    return branch(ctx, test, then, lambda: void(cases(ctx, subject, others, [])), rest, ctx.loc(case.pattern))


def void(_: bool) -> None:
    """The remaining cases are in a branch of their own, where nothing follows them."""


def matched(ctx: Lowering, pattern: ast.pattern, subject: Binding) -> Case:
    """The test whether a value matches a pattern."""
    if isinstance(subject, Maybe) and isinstance(pattern, ast.MatchSequence | ast.MatchMapping | ast.MatchClass):
        return all_of(ctx, [(present(ctx, subject), {}), matched(ctx, pattern, subject.inner)])
    match pattern:
        case ast.MatchValue(value=value):
            return equal(ctx, subject, ctx.evaluate(value), pattern), {}
        case ast.MatchSingleton(value=value):
            return same(ctx, subject, value, pattern), {}
        case ast.MatchAs(pattern=inner, name=name):
            test, names = (TRUE, {}) if inner is None else matched(ctx, inner, subject)
            return test, names if name is None else {**names, name: subject}
        case ast.MatchOr(patterns=patterns):
            return any_of(ctx, [matched(ctx, p, subject) for p in patterns], pattern)
        case ast.MatchSequence(patterns=patterns):
            return sequence(ctx, patterns, subject, pattern)
        case ast.MatchMapping():
            return mapping(ctx, pattern, subject)
        case ast.MatchClass():
            return instance(ctx, pattern, subject)
    raise UnsupportedSyntax("this pattern cannot be differentiated", ctx.loc(pattern), "write if and isinstance")


def equal(ctx: Lowering, subject: Binding, value: Binding, node: ast.AST) -> Operand:
    """``subject == value``, for a value that is a literal or has a dotted name."""
    return truth(ctx, comparison(ctx, ast.Eq(), subject, value, node), node)


def same(ctx: Lowering, subject: Binding, value: bool | None, node: ast.AST) -> Operand:
    """``subject is value``, for None, True and False."""
    if known := known_value(subject):
        return Const(known[0] is value)
    if not isinstance(subject, Num | Ref | Maybe | OneOf):
        return FALSE
    return truth(ctx, comparison(ctx, ast.Is(), subject, Static(None) if value is None else Num(Const(value)), node), node)


def all_of(ctx: Lowering, parts: list[Case]) -> Case:
    """All parts match."""
    names = {name: binding for _, bound in parts for name, binding in bound.items()}
    tests = [test for test, _ in parts if not (isinstance(test, Const) and test.value)]
    if any(isinstance(test, Const) for test in tests):
        return NEVER
    conjunction: Operand = TRUE
    for test in tests:
        conjunction = test if conjunction is TRUE else ctx.call("logical_and", conjunction, test)
    return conjunction, names


def any_of(ctx: Lowering, parts: list[Case], node: ast.AST) -> Case:
    """The first part that matches; unless that is static, all must bind the same names."""
    open_: list[Case] = []
    for test, names in parts:
        if isinstance(test, Const) and not test.value:
            continue
        open_.append((test, names))
        if isinstance(test, Const):
            break
    if not open_:
        return NEVER
    if any(names != open_[0][1] for _, names in open_):
        raise UnsupportedSyntax("alternatives that bind different values cannot be differentiated", ctx.loc(node), "write two cases")
    if isinstance(open_[-1][0], Const):
        return TRUE, open_[0][1]
    disjunction = open_[0][0]
    for test, _ in open_[1:]:
        disjunction = ctx.call("logical_or", disjunction, test)
    return disjunction, open_[0][1]


#: the flags of classes whose instances match patterns of sequences and mappings
MATCHED = 1 << 5 | 1 << 6


def asked_plainly(ctx: Lowering, subject: Binding, *words: str) -> Binding:
    """The storage of an instance that is matched as a sequence or mapping; refused if that calls methods of its class."""
    base = as_base(ctx, subject, *words)
    cls = class_of(base)
    if is_derived(base) or cls is not None and not issubclass(cls, tuple | list | dict) and cls.__flags__ & MATCHED:
        raise UnsupportedSyntax("the matched class overrides methods that the pattern calls", ctx.builder.loc, "write if and isinstance")
    return base


def items_in(ctx: Lowering, subject: Binding, node: ast.AST) -> list[Binding] | None:
    """The items of a sequence; None for anything else: numbers, strings, and arrays too."""
    if isinstance(subject, View):  # a view is no sequence
        return None
    subject = asked_plainly(ctx, subject, "__len__", "__getitem__", "__iter__")
    if isinstance(subject, Choice):
        raise UnknownType("which of two objects is matched here is not known", ctx.loc(node), "test its class before")
    if (held := held_items(subject, ctx.state)) is not None:
        return held
    if is_long(subject, ctx.state) or isinstance(subject, Ref) and isinstance(ctx.type_of(subject), List):
        raise UnknownType("the length of this list is not known", ctx.loc(node), "test its length with len before")
    match subject:
        case Iter(kind="range"):
            if (known := known_items(ctx, subject, node)) is None:
                raise UnknownType("the length of this range is not known", ctx.loc(node), "test its length with len before")
            return known
        case Static(value) if isinstance(value, tuple | list):
            return [static_binding(v) for v in value]
        case External(value, text) if isinstance(value, tuple | list):
            check_reader(ctx, value)
            rely_on_keys(ctx, value, text)
            return [outside(ctx, v, f"{text}[{k}]", f"item_{k}") for k, v in enumerate(value)]
    return None


def sequence(ctx: Lowering, patterns: list[ast.pattern], subject: Binding, node: ast.AST) -> Case:
    """``[a, b, *rest]``."""
    items = items_in(ctx, subject, node)
    star = next((k for k, p in enumerate(patterns) if isinstance(p, ast.MatchStar)), None)
    if items is None or len(items) != len(patterns) if star is None else items is None or len(items) < len(patterns) - 1:
        return NEVER
    assert items is not None
    if star is None:
        return all_of(ctx, [matched(ctx, p, item) for p, item in zip(patterns, items, strict=True)])
    after = len(patterns) - star - 1
    middle = patterns[star]
    assert isinstance(middle, ast.MatchStar)
    end = len(items) - after
    parts = [matched(ctx, p, item) for p, item in zip(patterns[:star], items[:star], strict=True)]
    parts += [matched(ctx, p, item) for p, item in zip(patterns[star + 1 :], items[end:], strict=True)]
    if middle.name is not None:
        parts.append((TRUE, {middle.name: ctx.new_object("list", enumerate(items[star:end]))}))
    return all_of(ctx, parts)


def mapping(ctx: Lowering, pattern: ast.MatchMapping, subject: Binding) -> Case:
    """``{"kind": "circle", "radius": r, **rest}``."""
    match subject := asked_plainly(ctx, subject, "__len__", "__getitem__", "get", "keys"):
        case Obj(key) if key.kind == "dict" and key.cls is not set:
            ctx.check_keys(key, pattern, in_order=pattern.rest is not None)
            content = dict(ctx.state.entries(key))
        case External(value, text) if isinstance(value, Mapping):
            check_reader(ctx, value)
            rely_on_keys(ctx, value, text)
            content = {k: outside(ctx, v, item_text(ctx, text, k), key_word(k)) for k, v in value.items()}
        case _:
            return NEVER
    parts: list[Case] = []
    for key_node, inner in zip(pattern.keys, pattern.patterns, strict=True):
        known = known_value(ctx.evaluate(key_node))
        if not known or known[0] not in content:
            return NEVER
        parts.append(matched(ctx, inner, content.pop(known[0])))
    if pattern.rest is not None:
        parts.append((TRUE, {pattern.rest: ctx.new_object("dict", content.items())}))
    return all_of(ctx, parts)


def instance(ctx: Lowering, pattern: ast.MatchClass, subject: Binding) -> Case:
    """``Circle(radius=r)``, ``Circle(r)``, for user classes."""
    cls = ctx.evaluate(pattern.cls)
    if not (isinstance(cls, Static) and isinstance(cls.value, type)):
        raise UnsupportedSyntax("this class cannot be matched here", ctx.loc(pattern.cls), "use isinstance")
    if not is_instance(ctx, subject, [cls.value], pattern):
        return NEVER
    if issubclass(cls.value, ITSELF) and entry_of_class(ctx, cls.value, "__match_args__") is MISSING:
        if len(pattern.patterns) > 1 or pattern.kwd_patterns:
            raise UnsupportedSyntax(f"{cls.value.__name__} is matched with more than one pattern", ctx.loc(pattern), "use isinstance")
        return all_of(ctx, [matched(ctx, p, subject) for p in pattern.patterns])
    match_args = from_class(ctx, cls.value, "__match_args__", ())
    if pattern.patterns and users_bases(cls.value):
        ctx.rely(attribute_text(ctx, cls.value, "__match_args__"), match_args)
    names = [*match_args[: len(pattern.patterns)], *pattern.kwd_attrs]
    inner = [*pattern.patterns, *pattern.kwd_patterns]
    if len(names) != len(inner):
        raise UnsupportedSyntax(
            f"{cls.value.__name__} has fewer positional patterns",
            ctx.loc(pattern),
            f"write as many as its __match_args__: {', '.join(map(str, match_args)) or 'none'}",
        )
    if any(isinstance(test := has(ctx, subject, name, pattern), Const) and not test.value for name in names):
        return NEVER
    return all_of(ctx, [matched(ctx, p, attribute_of(ctx, subject, name, pattern)) for p, name in zip(inner, names, strict=True)])


def has(ctx: Lowering, subject: Binding, name: str, node: ast.AST) -> Operand:
    """A test whether a value has an attribute."""
    return truth(ctx, ctx.apply(Static(hasattr), [subject, Static(name)], {}, node), node)
