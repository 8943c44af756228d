"""Resolves texts that name a part of an argument, ``params.w`` or ``p['layers'][0].w``, in signatures and in arguments.

A path is data: it is parsed, and may consist of names, attributes, constant keys and indices only. Nothing in it is executed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from symgrad.containers import call_of_base, copied_container
from symgrad.errors import BadArgument
from symgrad.ir.types import Array, List, is_float
from symgrad.signature import Abstract, Many, Own, Signature, Static, Tree, part_of
from symgrad.text import attribute, has_literal, is_inside, is_name, item, literal, root_of, tree_of

#: an attribute by its name, or an item by its key: which of the two, and that
Step = tuple[bool, Any]
#: the maximal length of a path
LONGEST = 1000
#: how many paths an error lists
LISTED = 12
FORM = "a path has names, attributes, keys and indices: wrt='p.w', wrt=\"p['w']\", wrt='p.layers[0].w'"


def steps_of(path: str) -> tuple[str, tuple[Step, ...]]:
    """Return the parameter and the steps of a path; raise BadArgument for any other text.

    >>> steps_of("p.layers[0]['w']")
    ('p', ((True, 'layers'), (False, 0), (False, 'w')))
    """
    try:
        tree: Any = ast.parse(path, mode="eval").body if len(path) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    steps: list[Step] = []
    while not isinstance(tree, ast.Name):
        match tree:
            case ast.Attribute(value=owner, attr=name):
                steps.append((True, name))
            case ast.Subscript(value=owner, slice=index) if is_key(index):
                steps.append((False, ast.literal_eval(index)))
            case _:
                raise BadArgument(f"wrt={path[:80]!r} is not a path", hint=FORM)
        tree = owner
    return tree.id, tuple(reversed(steps))


def is_key(index: ast.expr) -> bool:
    """Whether a subscript is a constant key, or a tuple of these."""
    match index:
        case ast.Constant(value=value):
            return has_literal(value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float())):
            return True
        case ast.Tuple(elts=keys):
            return all(map(is_key, keys))
    return False


def spelled(path: str) -> str:
    """Return a path in the compiler's spelling.

    >>> spelled('p["w"] . b'), spelled("x")
    ("p['w'].b", 'x')
    """
    if is_name(path):
        return path
    text, steps = steps_of(path)
    for is_attribute, key in steps:
        text = attribute(text, key) if is_attribute else item(text, key)
    return text


def part_at(signature: Signature, path: str) -> Abstract | None:
    """Return the abstract value of the part of an argument that a path names, or None."""
    if is_name(path):
        return signature[path]
    root, steps = steps_of(path)
    held: Abstract = signature[root]
    for is_attribute, key in steps:
        if not isinstance(held, Tree):
            return None
        if is_attribute and held.form in ("sequence", "mapping"):
            key = key if is_item(held, key) else Own(key)
        elif (held.form in ("object", "named")) is not is_attribute:
            return None
        place = next((k for k, name in enumerate(held.names) if type(name) is type(key) and name == key), None)
        if place is None:
            return None
        held = held.items[place]
    return held


def is_item(held: Tree, name: str) -> bool:
    """Whether an attribute of a dict of a user's class reads an item: by ``__getattr__``, or as the dict is its own ``__dict__``."""
    reads_items = "__dict__" in held.own or hasattr(held.kind, "__getattr__")
    return held.form == "mapping" and reads_items and name in held.keys and name not in held.own and not hasattr(held.kind, name)


def by_items(signature: Signature, path: str) -> str:
    """Return a path with attributes that read items replaced by the items."""
    if is_name(path):
        return path
    text, steps = steps_of(path)
    held: Abstract | None = signature[text]
    for is_attribute, key in steps:
        is_plain = isinstance(held, Tree) and is_attribute and held.form == "mapping" and is_item(held, key)
        text = attribute(text, key) if is_attribute and not is_plain else item(text, key)
        held = part_at(signature, text)
    return text


def attributes_of_containers(path: str, held: Abstract) -> list[str]:
    """Return the paths of attributes of lists and dicts in an argument or a part of one."""
    if not isinstance(held, Tree):
        return []
    parts = [(name, part_of(path, held, name), part) for name, part in zip(held.names, held.items, strict=True)]
    return [inner for name, text, part in parts for inner in ([text] if isinstance(name, Own) else attributes_of_containers(text, part))]


def paths_in(path: str, held: Abstract) -> list[str]:
    """The paths of an argument's parts, itself first."""
    if not isinstance(held, Tree):
        return [path]
    pairs = zip(held.names, held.items, strict=True)
    parts = [(part_of(path, held, name), part) for name, part in pairs if not (isinstance(name, Own) and isinstance(part, Static))]
    return [path, *(inner for text, part in parts for inner in paths_in(text, part))]


def no_part(signature: Signature, path: str) -> BadArgument:
    """Return the error for a path that names no part of an argument; it lists the valid paths."""
    root, steps = steps_of(path)
    for is_attribute, key in steps:
        held = part_at(signature, root)
        if isinstance(held, List | Array | Many) and not is_attribute:
            what = "an array" if isinstance(held, Array) else "a list of numbers, or of more than 8 items,"
            return BadArgument(f"{path} is inside {root}: {what} is differentiated as a whole", hint=f"wrt={root!r}, and index the result")
        root = attribute(root, key) if is_attribute else item(root, key)
    root = root_of(path)
    paths = [part for part in paths_in(root, signature[root]) if "getattr(" not in part]
    more = [f"and {len(paths) - LISTED} more"] if len(paths) > LISTED else []
    return BadArgument(f"{root} has no part {path}", hint=f"its parts are {', '.join([*paths[:LISTED], *more])}")


def value_at(arguments: Mapping[str, Any], path: str) -> Any:
    """Return the part of an argument that a path names."""
    if path in arguments:
        return arguments[path]
    root, steps = steps_of(path)
    held = arguments[root]
    for is_attribute, key in steps:
        held = held[key] if not is_attribute or type(held) is dict and key in held else getattr(held, key)
    return held


def with_parts(arguments: Mapping[str, Any], parts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments with the ``parts`` replaced; the originals are not modified.

    >>> with_parts({"p": {"w": [1.0, 2.0], "b": 3.0}}, {"p['w'][1]": 5.0})
    {'p': {'w': [1.0, 5.0], 'b': 3.0}}
    """
    changed: dict[str, Any] = {}
    for path, value in parts.items():
        root, steps = steps_of(path)
        changed[root] = with_part(changed.get(root, arguments[root]), steps, value)
    return changed


def with_part(held: Any, steps: tuple[Step, ...], value: Any) -> Any:
    """Return a value with the part at some steps replaced."""
    if not steps:
        return value
    (is_attribute, key), *rest = steps
    part = with_part(getattr(held, key) if is_attribute else held[key], tuple(rest), value)
    if is_attribute and isinstance(held, tuple):
        return held._replace(**{key: part})  # type: ignore[attr-defined]  # of a named tuple
    if isinstance(held, tuple):
        return type(held)([*held[:key], part, *held[key + 1 :]])
    changed = copied_container(held) if isinstance(held, list | dict) else copy.copy(held)
    if is_attribute and isinstance(held, dict) and (vars(held) is held or key not in vars(held)):
        call_of_base(changed, "__setitem__", key, part)  # which ``__getattr__`` reads
    elif is_attribute:
        object.__setattr__(changed, key, part)
    elif isinstance(held, list | dict):
        call_of_base(changed, "__setitem__", key, part)
    else:
        changed[key] = part
    return changed


def belongs(path: str, asked: str) -> bool:
    """Whether an expression of the compiler is inside the part of an argument that a path names.

    >>> belongs("p['w'].b", "p['w']"), belongs("p.b", "p.w"), belongs("[item.w for item in p.layers]", "p.layers")
    (True, False, True)
    """
    if is_name(asked):
        return root_of(path) == asked
    if path.startswith("[item"):
        over = tree_of(path)
        return isinstance(over, ast.ListComp) and belongs(ast.unparse(over.generators[0].iter), asked)
    return is_inside(path, asked)


def meet(path: str, wrt: Iterable[str]) -> bool:
    """Whether an expression is inside one of some paths, or contains one."""
    return any(belongs(path, asked) or belongs(asked, path) for asked in wrt)


def in_parts(path: str, asked: str, name: str) -> str:
    r"""Rewrite an expression of an argument as one of ``name``, a dict with a replacement for the part that ``asked`` names.

    >>> in_parts("p['w'].b", "p['w']", "tangents")
    'tangents["p[\'w\']"].b'
    """
    whole, entry = ast.dump(tree_of(asked)), ast.parse(f"{name}[{literal(asked)}]", mode="eval").body

    class Entry(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            return entry if isinstance(node, ast.expr) and ast.dump(node) == whole else self.generic_visit(node)

    return ast.unparse(Entry().visit(ast.parse(path, mode="eval").body))


def arrays_of_objects(signature: Signature, wrt: Container[str]) -> frozenset[str]:
    """The paths of the arrays in objects among the arguments for which no gradient is requested; ``wrt`` has no other effect here."""
    return frozenset(path for name, item in signature.params for path in owned_arrays(name, item, wrt))


def owned_arrays(path: str, item: Abstract, wrt: Container[str], active: bool = False, inside: bool = False) -> Iterator[str]:
    """The paths of the arrays in objects in an argument; if a gradient is requested for it, only those that carry none."""
    active = active or path in wrt
    if isinstance(item, Array) and inside and not (active and is_float(item)):
        yield path
    elif isinstance(item, Tree):
        for key, inner in zip(item.names, item.items, strict=True):
            yield from owned_arrays(part_of(path, item, key), inner, wrt, active, inside or item.form == "object")


__all__ = [
    "belongs",
    "attributes_of_containers",
    "by_items",
    "in_parts",
    "meet",
    "no_part",
    "part_at",
    "paths_in",
    "spelled",
    "steps_of",
    "value_at",
]
__all__ += ["with_parts"]
