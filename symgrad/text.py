"""Writes the user's names, keys and paths as Python text, validated, and reads such text.

Data (the name of an attribute, a key, the name of a class or file) reaches generated text only through this module. A *path* is an
expression that reads a value: names, attributes, items with literal keys, ``getattr`` with a literal, sums of these, copies of lists, and
the conversions of ``kinds.conversion``. Paths are evaluated by walking their syntax tree (``value_of``), never with ``eval``.
"""

from __future__ import annotations

import ast
import keyword
import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TypeGuard

#: for each class of literals, the conversion of an instance of a subclass to the class itself, independent of the subclass's methods
EXACT: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bool: bool,
    int: int.__index__,
    float: float.__pos__,
    complex: complex.__pos__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
}
SIMPLE = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*|\[(?:\d+|'[^'\\]*')\])*")


# ------------------------------------------------------------------ names


def is_name(word: Any) -> TypeGuard[str]:
    """Whether a word is an identifier that Python reads unchanged: no keyword, and not altered by normalisation.

    >>> is_name("x_grad"), is_name("a b"), is_name("class"), is_name("__debug__"), is_name("\\ufb01")
    (True, False, False, False, False)
    """
    return (
        type(word) is str
        and word.isidentifier()
        and not keyword.iskeyword(word)
        and word != "__debug__"
        and (word.isascii() or unicodedata.normalize("NFKC", word) == word)
    )


def is_dotted(word: Any) -> TypeGuard[str]:
    """Whether a text consists of names separated by dots."""
    return type(word) is str and all(map(is_name, word.split(".")))


def is_interned(word: str) -> bool:
    """Whether two constants of this text are one object in Python: certain only for texts that look like identifiers.

    >>> is_interned("key"), is_interned("a b")
    (True, False)
    """
    return word.isidentifier()


@lru_cache(maxsize=4096)
def _identifier(word: str) -> str:
    # Python itself decides about identifiers: some of their characters are not word characters
    parts = (letter if f"_{letter}".isidentifier() else "_" for letter in unicodedata.normalize("NFKC", word))
    word = unicodedata.normalize("NFKC", "".join(parts))
    if not word.isidentifier():
        word = f"t_{re.sub(r'[^A-Za-z0-9_]', '_', word)}"
    return f"{word}_" if keyword.iskeyword(word) or word == "__debug__" else word


def identifier(word: Any) -> str:
    """Return the identifier nearest to a word, for names that symgrad introduces.

    >>> identifier("x y"), identifier("lambda"), identifier("3d"), identifier("x); print(1")
    ('x_y', 'lambda_', 't_3d', 'x___print_1')
    """
    return _identifier(str.__str__(word) if isinstance(word, str) else type(word).__name__)


# ------------------------------------------------------------------ literals and keys


def exact(value: Any) -> Any:
    """Return a number or text as an instance of the builtin class, whose ``repr`` is Python's; other values unchanged."""
    kind = type(value)
    if kind in EXACT or value is None:
        return value
    return next((make(value) for base, make in EXACT.items() if issubclass(kind, base)), value)


def has_literal(value: Any) -> bool:
    """Whether it is a number, a text, None or a tuple of these, of exactly these classes."""
    kind = type(value)
    if kind is float or kind is complex:
        return math.isfinite(value.real) and math.isfinite(value.imag)
    return value is None or kind in EXACT or kind is tuple and all(map(has_literal, value))


def literal(value: Any) -> str:
    """Return the literal of a value; raise ValueError if it has none.

    >>> literal("it's"), literal((1, 2.5, None))
    ('"it\\'s"', '(1, 2.5, None)')
    """
    if not has_literal(value):
        raise ValueError(f"{type(value).__name__} has no literal")
    return repr(value)


def integers(values: Iterable[Any], width: int = 120) -> str:
    """Integers as the items of a list, in lines of at most ``width`` characters.

    >>> integers([1, -2, 30]), integers(range(5), 6)
    ('1, -2, 30', '0, 1,\\n2, 3,\\n4')
    """
    lines: list[str] = [""]
    for word in (int.__repr__(int(value)) for value in values):
        if lines[-1] and len(lines[-1]) + len(word) + 2 > width:
            lines.append("")
        lines[-1] += f"{', ' if lines[-1] else ''}{word}"
    return ",\n".join(lines)


def plain_key(key: Any) -> Any:
    """Return an equal key that has a literal; raise ValueError for keys of other kinds.

    Keys that override comparison or hash are rejected. Members of ``IntEnum`` and similar classes become their values.
    """
    kind: Any = type(key)
    if has_literal(key):
        return key
    base: Any = next((base for base in (str, int) if issubclass(kind, base)), None)
    if base is None or not (kind.__eq__ is base.__eq__ and kind.__hash__ is base.__hash__ or kind.__module__ == "numpy"):
        raise ValueError(f"a key of {kind.__name__}")
    return EXACT[base](key)


def keys_of(mapping: Iterable[Any]) -> tuple[Any, ...]:
    """Return the keys of a dict, and words that distinguish equal keys of different classes; no words if all keys are texts.

    >>> keys_of({"a": 0}), keys_of({1: 0}), keys_of({True: 0}) == keys_of({1.0: 0})
    (('a',), (1, '1'), False)
    """
    keys = tuple(mapping)
    if all(type(key) is str for key in keys):
        return keys
    return (*keys, ", ".join(map(exact_word, keys)))


def exact_word(key: Any) -> str:
    """Return a word that distinguishes equal keys of different classes."""
    try:
        return literal(plain_key(key))
    except ValueError:
        return type(key).__qualname__


def has_plain_keys(mapping: Iterable[Any]) -> bool:
    """Whether every key has a literal, or equals a text or an integer."""
    try:
        for key in mapping:
            plain_key(key)
    except ValueError:
        return False
    return True


def key_word(key: Any) -> str:
    """Return a name for the item with this key, without calling methods of the key."""
    return str(key) if has_literal(key) else type(key).__name__


# ------------------------------------------------------------------ paths


def attribute(owner: str, name: str, reader: str = "getattr") -> str:
    """Return the expression that reads an attribute; ``reader`` is the name of ``getattr`` in the text.

    >>> attribute("p", "w"), attribute("p", "a b"), attribute("p", "k.__class__(print(1))")
    ('p.w', "getattr(p, 'a b')", "getattr(p, 'k.__class__(print(1))')")
    """
    return f"{owner}.{name}" if is_name(name) else f"{reader}({owner}, {literal(exact(name))})"


def item(owner: str, key: Any) -> str:
    """Return the expression that reads an item; raise ValueError for a key without a literal.

    >>> item("p", "it's"), item("p", 3)
    ('p["it\\'s"]', 'p[3]')
    """
    return f"{owner}[{literal(key)}]"


def copy_of(path: str) -> str:
    """Return the expression of a copy of a list.

    >>> copy_of("p.w")
    '[*p.w]'
    """
    return f"[*{path}]"


def array_copy_of(path: str) -> str:
    """Return the expression of a copy of an array with the same memory layout.

    >>> array_copy_of("p.w")
    "p.w.copy('K')"
    """
    return f"{path}.copy('K')"


def each(path: str, part: str) -> str:
    """Return the expression of a list comprehension over a list; ``part`` is an expression over the name ``item``.

    >>> each("p.layers", "item['w']")
    "[item['w'] for item in p.layers]"
    """
    return f"[{part} for item in {path}]"


@lru_cache(maxsize=4096)
def tree_of(path: str) -> ast.expr:
    """Return the syntax tree of a path; raise ValueError for any other expression. The tree is shared and immutable."""
    tree = ast.parse(path, mode="eval").body
    check(tree)
    return tree


def check(tree: ast.AST) -> None:
    """Raise ValueError unless the tree is a path."""
    match tree:
        case ast.Name():
            return
        case ast.Attribute(value=owner):
            check(owner)
        case ast.Subscript(value=owner, slice=key):
            check(owner)
            if not isinstance(key, ast.Name):
                ast.literal_eval(key)
        case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str())], keywords=[]):
            check(owner)
        case ast.List(elts=[ast.Starred(value=owner)]):
            check(owner)
        case ast.ListComp(elt=part, generators=[ast.comprehension(target=ast.Name(id="item"), iter=owner, ifs=[])]):
            check(owner)
            check(part)
        case ast.Call(func=ast.Attribute(value=owner, attr="__array__"), args=[], keywords=[]):
            check(owner)
        case ast.Call(func=ast.Attribute(value=owner, attr="astype" | "copy"), args=[ast.Constant(value=str())], keywords=[]):
            check(owner)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            check(left)
            check(right)
        case ast.Compare(left=left, ops=[ast.Lt()], comparators=[right]):
            check(left)
            check(right)
        case ast.Constant(value=int()):
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            check(operand)
        case _:
            raise ValueError(f"{ast.unparse(tree) if isinstance(tree, ast.expr) else tree} is not a path")


def root_of(path: str) -> str:
    """Return the name at the beginning of a path; empty for a copy.

    >>> root_of("self.w[0]"), root_of("getattr(p, 'a b')['k']")
    ('self', 'p')
    """
    if path.startswith("[item"):
        over = tree_of(path)
        return root_of(ast.unparse(over.generators[0].iter)) if isinstance(over, ast.ListComp) else ""
    prefix = re.match(r"[^\W\d]\w*", path)
    if prefix is None or path[: prefix.end() + 1] != "getattr(":
        return prefix[0] if prefix else ""
    tree: Any = tree_of(path)
    while not isinstance(tree, ast.Name):
        match tree:
            case ast.Call(func=ast.Attribute(value=tree)) | ast.Call(args=[tree, *_]):
                pass
            case ast.BinOp(left=tree):
                pass
            case _:
                tree = tree.value
    return tree.id


def last_word(text: str) -> str | None:
    """Return the name at the end of an expression: a variable, a key or an attribute; None if there is none.

    >>> last_word("f.__globals__['LOCK']"), last_word("self.lock"), last_word("cell.cell_contents")
    ('LOCK', 'lock', None)
    """
    match = re.search(r"\['(\w+)'\]$|\.((?!cell_contents)\w+)$|^(\w+)$", text)
    return None if match is None else next(filter(None, match.groups()))


def is_inside(path: str, owner: str) -> bool:
    """Whether a path reads the same value as another path, or a part of it.

    >>> is_inside("p.w[0]", "p.w"), is_inside("getattr(p, 'a b')", "p"), is_inside("p.width", "p.w")
    (True, True, False)
    """
    if path == owner:
        return True
    if "getattr(" not in path:
        return path.startswith((f"{owner}.", f"{owner}["))
    whole = ast.dump(tree_of(owner))
    return any(isinstance(node, ast.expr) and ast.dump(node) == whole for node in ast.walk(tree_of(path)))


def names_in(path: str) -> set[str]:
    """Return the names that a path reads.

    >>> names_in("getattr(p, 'a b').shape[0]")
    {'p'}
    """
    if SIMPLE.fullmatch(path):
        return {root_of(path)}
    names: set[str] = set()
    pending: list[ast.AST] = [tree_of(path)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.ListComp):
            pending.append(node.generators[0].iter)
        else:
            pending += node.args if isinstance(node, ast.Call) and is_getattr(node) else ast.iter_child_nodes(node)
    return names


def value_of(path: str, read_name: Callable[[str], Any]) -> Any:
    """Evaluate a path; ``read_name`` returns the values of names.

    >>> value_of("p['w'].real + 1", {"p": {"w": 2.0}}.__getitem__)
    3.0
    """

    def visit(tree: ast.AST) -> Any:
        match tree:
            case ast.ListComp(elt=part, generators=[over]):
                text = ast.unparse(part)
                return [value_of(text, lambda name, item=item: item) for item in visit(over.iter)]  # type: ignore[misc]
            case ast.Constant(value=bool() as value):
                return value
            case ast.Name(id=name):
                return read_name(name)
            case ast.Attribute(value=owner, attr=name):
                return getattr(visit(owner), name)
            case ast.Subscript(value=owner, slice=key):
                return visit(owner)[visit(key) if isinstance(key, ast.Name) else ast.literal_eval(key)]
            case ast.Call(args=[owner, ast.Constant(value=str() as name)]):
                return getattr(visit(owner), name)
            case ast.List(elts=[ast.Starred(value=owner)]):
                return [*visit(owner)]
            case ast.Call(func=ast.Attribute(value=owner, attr="__array__")):
                return visit(owner).__array__()
            case ast.Call(func=ast.Attribute(value=owner, attr="astype"), args=[ast.Constant(value=dtype)]):
                return visit(owner).astype(dtype)
            case ast.Call(func=ast.Attribute(value=owner, attr="copy"), args=[ast.Constant(value=order)]):
                return visit(owner).copy(order)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return visit(left) + visit(right)
            case ast.BinOp(left=left, op=ast.Sub(), right=right):
                return visit(left) - visit(right)
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return visit(left) * visit(right)
            case ast.Compare(left=left, comparators=[right]):
                return visit(left) < visit(right)
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(operand=operand):
                return -visit(operand)
        raise AssertionError(tree)

    return visit(tree_of(path))


def is_getattr(node: ast.AST) -> bool:
    """Whether it is a call of ``getattr`` with a literal, for an attribute whose name is no identifier."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) == 2
        and isinstance(node.args[1], ast.Constant)
        and type(node.args[1].value) is str
    )


def respelled(path: str, spell: Callable[[str], str], reader: str = "getattr") -> str:
    """Return a path with renamed names; ``reader`` is the name of ``getattr``.

    >>> respelled("getattr(p, 'a b')[0]", {"p": "q"}.__getitem__, "_k0")
    "_k0(q, 'a b')[0]"
    """
    if SIMPLE.fullmatch(path):
        root = root_of(path)
        return f"{spell(root)}{path[len(root) :]}"

    def visit(tree: ast.AST) -> Any:
        match tree:
            case ast.Name(id=name):
                return ast.parse(spell(name), mode="eval").body
            case ast.Call(args=[owner, name]) if is_getattr(tree):
                return ast.Call(ast.Name(reader), [visit(owner), name], [])
            case ast.List(elts=[ast.Starred(value=owner)]):
                return ast.List([ast.Starred(visit(owner))])
            case ast.ListComp(elt=part, generators=[over]):
                element = ast.parse(respelled(ast.unparse(part), str, reader), mode="eval").body
                return ast.ListComp(element, [ast.comprehension(over.target, visit(over.iter), [], 0)])
            case ast.Compare(left=left, ops=ops, comparators=[right]):
                return ast.Compare(visit(left), ops, [visit(right)])
        return type(tree)(**{part: visit(value) if isinstance(value, ast.expr) else value for part, value in ast.iter_fields(tree)})

    return ast.unparse(visit(tree_of(path)))


# ------------------------------------------------------------------ comments and docstrings


def one_line(words: str) -> str:
    """Return a text on one line, with unprintable characters replaced by blanks: for comments, file names, messages."""
    words = str.__str__(words)
    return words if words.isprintable() else "".join(c if c.isprintable() else " " for c in words)


def quoted(words: str) -> str:
    """Return a string literal, in double quotes unless that needs more escapes.

    >>> print(quoted("it's"), quoted('say "hi"'))
    "it's" 'say "hi"'
    """
    text = repr(str.__str__(words))
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in text and "\\'" not in text else text


def docstring(words: str) -> str:
    """Return a string in triple quotes if possible, else a literal."""
    words = str.__str__(words)
    plain = all(c.isprintable() or c == "\n" for c in words) and "\\" not in words and '"""' not in words and words[-1:] != '"'
    return f'"""{words}"""' if plain else quoted(words)


__all__ = ["array_copy_of", "attribute", "copy_of", "docstring", "each", "exact", "has_literal", "has_plain_keys", "identifier"]
__all__ += ["is_dotted", "is_getattr", "is_inside", "is_interned", "is_name", "item", "key_word", "keys_of", "last_word", "literal"]
__all__ += ["names_in", "one_line", "plain_key", "quoted", "respelled", "root_of", "tree_of", "value_of"]
