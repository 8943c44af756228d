"""Hints for a refused store to an array that may share memory: how to rewrite the program so that it does not."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from symgrad.errors import Note, UnsureAlias
from symgrad.frontend.state.bindings import Location
from symgrad.frontend.text.source import Source
from symgrad.location import Loc

LOOPS = ("for ", "while ")
COPY = UnsureAlias.default_hint or ""
#: functions and methods that return views
VIEWS = set(
    """
    reshape ravel view transpose squeeze swapaxes moveaxis expand_dims broadcast_to atleast_1d atleast_2d asarray diagonal flip
    """.split()
)
NAMED = 3  #: the most arrays that a hint names


def way_apart(locations: Sequence[Location], stored: Loc, source: Source, top: Source) -> tuple[str, list[Note]]:
    """The hint for arrays that may be the same, of which the first is read, and the other locations that matter.

    ``source``: the function that reads it; ``top``: the function that is differentiated.
    """
    variables = bound_first(source.node)
    views = [(one, text) for one in locations if one.may_be_view and is_expression(text := text_at(one.owner))]
    for one, text in views:
        if (store := diagonal_stored(text)) is not None:
            return store, [(one.owner, "a diagonal: stores to it change the array")]
    if views:
        one, text = views[0]
        note = "a view of another array, or a copy: that depends on the memory layout of the other array"
        return f"write {wrapped(text)}.copy() in line {one.owner.line}", [(one.owner, note)]
    known = [*dict.fromkeys(one.name for one in locations if one.name in variables)] or names_stored(source.node, stored.line)
    if copied := copied_where_bound(source, known):
        return copied, []
    if passed := copied_where_passed(top, [one.name for one in locations], stored):
        return passed, []
    joined = [one for one in locations if one.name in variables and one.owner.line and not one.outside]
    if stored.text.lstrip().startswith("def "):
        owners = inner_parameters(source.node)
        if (parameter := next((one.name for one in joined if one.name in owners), None)) is not None:
            return f"write {parameter} = {parameter}.copy() as the first statement of {owners[parameter]}", []
    place = next((one.owner for one in joined if one.owner.text.lstrip().startswith((*LOOPS, "if "))), None)
    if place is None:
        return copied_before([name for name in known if name in variables], stored, variables), []
    is_loop = place.text.lstrip().startswith(LOOPS)
    names = list(dict.fromkeys(str(one.name) for one in joined if one.owner == place))
    names = [name for name in names if not is_loop or variables[name] < place.line][:NAMED] or names[:1]
    copies = f"write {', '.join(names)} = {', '.join(f'{name}.copy()' for name in names)}"
    if is_loop:
        return f"{copies} as the first statement of the loop at line {place.line}", [(place, "one of several arrays in each iteration")]
    return f"{copies} after the if statement at line {place.line}", [(place, "one of two arrays from here on")]


def diagonal_stored(text: str) -> str | None:
    """The hint for a diagonal by ``np.einsum``: the store to the array itself; None for other texts.

    >>> diagonal_stored("np.einsum('ijj->ij', y)")
    'store to y[:, k, k], with k = np.arange(y.shape[1])'
    """
    match ast.parse(text, mode="eval").body:
        case ast.Call(func=ast.Attribute(attr="einsum"), args=[ast.Constant(value=str(subscripts)), array], keywords=[]):
            letters, _, result = subscripts.replace(" ", "").partition("->")
        case _:
            return None
    repeated = [letter for letter in dict.fromkeys(letters) if letters.count(letter) > 1]
    if not letters.isalpha() or len(repeated) != 1 or {*result} != {*letters}:
        return None
    index, whole = ", ".join("k" if letter == repeated[0] else ":" for letter in letters), wrapped(ast.unparse(array))
    order = "".join(dict.fromkeys(letters if repeated[0] * letters.count(repeated[0]) in letters else repeated[0] + letters))
    ordered = "" if order == result else f" and the axes of the value in the order {order!r}"
    return f"store to {whole}[{index}], with k = np.arange({whole}.shape[{letters.index(repeated[0])}]){ordered}"


def list_apart(source: Source, changed: Loc) -> str | None:
    """The hint for a list that is changed at a location and may be identical to another list; None where there is no such list."""
    names = names_stored(source.node, changed.line)
    for node in ast.walk(source.node):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.List(elts=[item]), op=ast.Mult(), right=count)):
                if name in names and not isinstance(item, ast.Constant):
                    return f"write [{ast.unparse(item)} for _ in range({ast.unparse(count)})] in line {node.lineno}"
    return copied_where_bound(source, names)


def argument_apart(source: Source, parameters: Sequence[str]) -> str | None:
    """The hint to copy arguments where another name is bound to them; None where none is."""
    return copied_where_bound(source, parameters, direct=True)


def copied_where_bound(source: Source, names: Sequence[str | None], direct: bool = False) -> str | None:
    """The hint to copy the arrays of these names wherever they get another name; None where they get none.

    ``direct``: not where these other names are bound to names in turn.
    """
    every = second_names(source.node, names) or second_names(source.node, names, rows=True)
    return copied_at(source, [node for node in every if not direct or roots(node) & {*names}][:NAMED])


def copied_at(source: Source, places: Sequence[ast.expr]) -> str | None:
    """The hint to copy the values of these expressions; None without any."""
    texts = [text_at(place) if place.line == node.end_lineno else ast.unparse(node) for node in places for place in [source.loc(node)]]
    at_lines = [f"{wrapped(text)}.copy() in line {node.lineno}" for text, node in zip(texts, places, strict=True)]
    return f"write {' and '.join(at_lines)}" if at_lines else None


def copied_where_passed(top: Source, names: Sequence[str | None], stored: Loc) -> str | None:
    """The hint to copy the arrays of these names where they are passed to the function that stores to them; None where none is."""
    if stored.file != top.file or top.node.lineno <= stored.line <= (top.node.end_lineno or 0):
        return None
    functions = [one for one in ast.walk(ast.parse("\n".join(top.lines))) if isinstance(one, ast.FunctionDef)]
    storing = {one.name for one in functions if one.lineno <= stored.line <= (one.end_lineno or 0)}
    calls = [node for node in ast.walk(top.node) if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in storing]
    passed = [argument for call in calls for argument in call.args if roots(argument) & {*names}]
    return copied_at(top, sorted(passed, key=lambda node: node.lineno)[:NAMED])


# ------------------------------------------------------------------ where an array gets another name


def second_names(function: ast.AST, names: Sequence[str | None], rows: bool = False) -> list[ast.expr]:
    """The expressions that bind another name to an array of these names or to a part of it, or append it to a list; in order.

    ``rows``: the targets of a loop over such an array are also such names.

    >>> tree = ast.parse("v = x[1:]; w = x * 2; u, k = v.T, 3; held.append(u)")
    >>> [ast.unparse(node) for node in second_names(tree, ["x"])]
    ['x[1:]', 'v.T', 'u']
    >>> [ast.unparse(node) for node in second_names(ast.parse("rows = [x for _ in range(2)]; pair = [0, y]"), ["x", "y"])]
    ['x', 'y']
    """
    group, places = set(names), dict[ast.expr, None]()
    nodes = sorted((node for node in ast.walk(function) if isinstance(node, ast.stmt | ast.NamedExpr)), key=lambda node: node.lineno)
    for node in (*nodes, *nodes):  # in a loop, an earlier statement may read a later binding
        for target, value in bindings_of(node):
            if roots(value) & group and (target in names or not isinstance(value, ast.Subscript) or holds_slice(value)):
                group.add(target)
                places[value] = None
        if isinstance(node, ast.For) and {word.id for word in ast.walk(node.iter) if isinstance(word, ast.Name)} & group:
            targets = {word.id for word in ast.walk(node.target) if isinstance(word, ast.Name)}
            group |= targets if rows else targets & {*names}
    return sorted(places, key=lambda node: (node.lineno, node.col_offset))


def bindings_of(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """The names that a statement binds with their expressions; an appended item counts under the list's name."""
    match node:
        case ast.Assign(targets=[ast.Subscript(value=ast.Call() as view)]) | ast.AugAssign(target=ast.Subscript(value=ast.Call() as view)):
            return [("", view)]  # the target of the store has no name
        case ast.Assign(targets=targets, value=value):
            pairs = [(target, value) for target in targets]
        case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
            pairs = [(target, value)]
        case ast.Expr(ast.Call(func=ast.Attribute(value=ast.Name() as target, attr="append"), args=[value])):
            pairs = [(target, value)]
        case _:
            return []
    several = [(t, v) for t, v in pairs if isinstance(t, ast.Tuple) and isinstance(v, ast.Tuple) and len(t.elts) == len(v.elts)]
    pairs += [pair for t, v in several for pair in zip(t.elts, v.elts, strict=True)]
    pairs += [(target, item) for target, value in pairs if isinstance(value, ast.List) for item in value.elts]
    pairs += [(target, value.elt) for target, value in pairs if isinstance(value, ast.ListComp)]
    return [(target.id, value) for target, value in pairs if isinstance(target, ast.Name)]


def names_stored(function: ast.AST, line: int) -> list[str | None]:
    """The names that the statements at a line bind, or store to a part of.

    >>> names_stored(ast.parse("u = v; w[i] += np.sum(u); w.sort()"), 1)
    ['u', 'w']
    """
    names: list[str | None] = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assign | ast.AugAssign) and node.lineno == line:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
            names += [name for part in parts for name in sorted(roots(part))]
        elif isinstance(node, ast.Expr) and node.lineno == line and isinstance(call := node.value, ast.Call):
            names += sorted(roots(call.func.value)) if isinstance(call.func, ast.Attribute) else []
    return [*dict.fromkeys(name for name in names if name != "np")]


def roots(node: ast.expr) -> set[str]:
    """The names of the arrays that an expression may be a view of."""
    match node:
        case ast.Name(id=name):
            return {name}
        case ast.Subscript(value=whole) | ast.Attribute(value=whole, attr="T" | "real" | "imag"):
            return roots(whole)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=word), args=[whole, *_]) if word in VIEWS:
            return roots(whole)
        case ast.Call(func=ast.Attribute(value=whole, attr=word)) if word in VIEWS:
            return roots(whole)
        case ast.IfExp(body=one, orelse=two):
            return roots(one) | roots(two)
    return set()


def holds_slice(node: ast.Subscript) -> bool:
    return any(isinstance(part, ast.Slice) for part in ast.walk(node.slice))


# ------------------------------------------------------------------ other locations of a copy


def copied_before(names: list[str | None], stored: Loc, variables: dict[str, int]) -> str:
    """The hint to copy one of the named arrays before the store; a store located at ``def`` concerns the whole function."""
    if stored.text.lstrip().startswith("def "):
        parameter = next((name for name in names if name is not None and variables[name] == 0), None)
        return COPY if parameter is None else f"write {parameter} = {parameter}.copy() as the first statement of the function"
    return f"write {names[0]} = {names[0]}.copy() before line {stored.line}" if names else COPY


def inner_parameters(function: ast.AST) -> dict[str, str]:
    """The parameters of the functions in a function, with the name of their function; none that several of them have."""
    pairs = [(one.arg, node) for node in ast.walk(function) if isinstance(node, ast.FunctionDef) for one in node.args.args]
    several = {name for name, owner in pairs if any(name == other and owner is not its for other, its in pairs)}
    return {name: owner.name for name, owner in pairs if name not in several and owner is not function}


def bound_first(function: ast.AST) -> dict[str, int]:
    """The line of the first binding of each variable of a function, 0 for a parameter."""
    lines: dict[str, int] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef) and node is function:
            lines |= {one.arg: 0 for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            lines[node.id] = min(node.lineno, lines.get(node.id, node.lineno))
    return lines


def text_at(place: Loc) -> str:
    """The text at a location, as far as it is on one line."""
    return place.text[place.column : place.end_column].strip()


def is_expression(text: str) -> bool:
    """Whether a text is a Python expression."""
    try:
        return bool(ast.parse(text, mode="eval"))
    except SyntaxError:
        return False


def wrapped(text: str) -> str:
    """An expression on which a method can be called.

    >>> wrapped("x[1:]"), wrapped("x if c else y")
    ('x[1:]', '(x if c else y)')
    """
    atom = isinstance(ast.parse(text, mode="eval").body, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return text if atom else f"({text})"


__all__ = ["argument_apart", "list_apart", "way_apart"]
