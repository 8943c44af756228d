"""Writes one compiled derivative as a self-contained module: parameters with defaults, a type guard, a self-check.

Captured values become keyword parameters with their current values as defaults; a value without a literal is refused by name.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from symgrad.codegen.module import module_text, scalar_text
from symgrad.codegen.seam import replaced
from symgrad.codegen.texts import Emitted
from symgrad.errors import SaveError
from symgrad.ir.types import Array, List, Scalar
from symgrad.signature import FEW, Abstract, Many, Request, Signature, Static, Tree, is_choice, part_of
from symgrad.text import identifier, literal, one_line, respelled, root_of, value_of

NUMPY_NAMES = {"i": "int", "u": "uint", "f": "float", "c": "complex"}
PYTHON_NAMES = {"bool": "bool", "int": "int", "float": "float", "complex": "complex"}
STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


# ------------------------------------------------------------------ the outside of the saved function


@dataclass(frozen=True, slots=True)
class Outside:
    """The parameters of a saved function: in its definition, in a call that passes them on, and the names of captured values."""

    signature: str
    passed: str
    words: Mapping[str, str] = field(default_factory=dict)


def outside(function: types.FunctionType, captured: Iterable[tuple[str, str | None]], objects: Mapping[str, Any]) -> Outside:
    """Return the user's parameters with defaults, and captured scalars as keyword parameters."""
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    names = {p.name for p in parameters}
    words: dict[str, str] = {}
    values: dict[str, Any] = {}
    refused: list[str] = []
    for expression, name in captured:
        if root_of(expression) in names:
            continue
        value = read(expression, objects)
        word = base = "value" if name is None else identifier(name)
        number = 1
        while word in names or word in values or word in ("np", "math"):
            number += 1
            word = f"{base}_{number}"
        words[expression], values[word] = word, value
        if not is_scalar(value):
            refused.append(name or expression)
    if refused:
        names_of = ", ".join(sorted(set(refused)))
        raise SaveError(f"it depends on {names_of}, which cannot be written to a file", hint="pass it as an argument")
    return Outside(definition(parameters, values), handed_on(parameters, values), words)


def read(expression: str, objects: Mapping[str, Any]) -> Any:
    """Return the current value of an expression over the function's own objects."""
    try:
        return value_of(expression, objects.__getitem__)
    except Exception as error:
        raise SaveError(f"{expression} cannot be read: {error}") from None


def is_scalar(value: Any) -> bool:
    """Whether a value can be written as a default."""
    return isinstance(value, bool | int | float | complex | str | np.bool_ | np.number | type(None))


def definition(parameters: Sequence[inspect.Parameter], values: Mapping[str, Any]) -> str:
    """Return the text between the parentheses. A default without a literal is omitted, and so are those before it."""
    kind = inspect.Parameter
    plain = [p for p in parameters if p.kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)]
    last = max((k for k, p in enumerate(plain) if p.default is p.empty or not is_scalar(p.default)), default=-1)
    parts = []
    for k, p in enumerate(plain):
        parts.append(f"{p.name}={scalar_text(p.default)}" if k > last else p.name)
        if p.kind is kind.POSITIONAL_ONLY and (k + 1 == len(plain) or plain[k + 1].kind is not kind.POSITIONAL_ONLY):
            parts.append("/")
    star = next((f"*{p.name}" for p in parameters if p.kind is kind.VAR_POSITIONAL), "*")
    only = [p for p in parameters if p.kind is kind.KEYWORD_ONLY]
    if only or values or star != "*":
        parts.append(star)
    parts += [p.name if p.default is p.empty or not is_scalar(p.default) else f"{p.name}={scalar_text(p.default)}" for p in only]
    parts += [f"{name}={scalar_text(value)}" for name, value in values.items()]
    return ", ".join([*parts, *(f"**{p.name}" for p in parameters if p.kind is kind.VAR_KEYWORD)])


def handed_on(parameters: Sequence[inspect.Parameter], values: Mapping[str, Any]) -> str:
    """Return the arguments of a call with the same parameters."""
    named = inspect.Parameter.KEYWORD_ONLY
    first = [f"{STARS.get(p.kind, '')}{p.name}" for p in parameters if p.kind is not named and p.kind is not inspect.Parameter.VAR_KEYWORD]
    keywords = [f"{name}={name}" for name in [*(p.name for p in parameters if p.kind is named), *values]]
    return ", ".join([*first, *keywords, *(f"**{p.name}" for p in parameters if p.kind is inspect.Parameter.VAR_KEYWORD)])


# ------------------------------------------------------------------ the test of the types


#: the names in the tests of arguments
TESTING = ("np", "isinstance", "len", "list", "tuple", "all", "getattr", "TypeError", *PYTHON_NAMES.values())


def tested(text: str, name: str, signature: Signature, pins: Iterable[tuple[str, Any]], identities: Collection[str]) -> str:
    """Add a guard to the function ``name``: code for one signature is wrong for another.

    ``identities`` are paths of objects whose identity matters. Where a parameter has the name of an object that the
    test uses, the object gets another name, defined before the function.
    """
    tree = ast.parse(text)
    names = {node.id if isinstance(node, ast.Name) else node.arg for node in ast.walk(tree) if isinstance(node, ast.Name | ast.arg)}
    words = {word: word for word in TESTING}
    definition = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    for word in sorted({node.arg for node in ast.walk(definition.args) if isinstance(node, ast.arg)}.intersection(TESTING)):
        words[word] = next(other for k in itertools.count(1) if (other := f"{word}_{k}") not in names)
    tests = [test for path, item in signature.params for test in tests_of(path, item, words)]
    tests += [f"{spelled(path, words)} == {scalar_text(value)}" for path, value in pins if not is_choice(path)]
    tests += [f"{spelled(group[0], words)} is {spelled(other, words)}" for group in signature.same for other in group[1:]]
    tests += [f"{spelled(one, words)} is not {spelled(other, words)}" for one, other in signature.distinct(identities)]
    lines = text.splitlines()
    first = definition.body[0]
    described = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    place = first.end_lineno if described else first.lineno - 1
    assert place is not None
    if tests:
        message = scalar_text(f"{name} was made for {one_line(str(signature))}")
        lines[place:place] = [f"    if not ({' and '.join(tests)}):", f"        raise {words['TypeError']}({message})"]
    others = [f"import numpy as {other}" if word == "np" else f"{other} = {word}" for word, other in words.items() if word != other]
    return "\n".join([*others, *([""] if others else []), *lines]) + "\n"


def spelled(path: str, words: Mapping[str, str]) -> str:
    """Return the text of a path over the parameters, one of which may be called ``getattr``."""
    return respelled(path, str, words["getattr"]) if "getattr(" in path else path


def tests_of(path: str, item: Abstract, words: Mapping[str, str]) -> list[str]:
    """Yield expressions that test an argument against the signature; ``words`` are names for the functions that they use."""
    read, is_a, numpy = spelled(path, words), words["isinstance"], words["np"]
    match item:
        case Scalar(kind=kind, dtype=None):
            return [f"{is_a}({read}, {words[PYTHON_NAMES[kind]]})"]
        case Scalar(dtype=str() as dtype):
            return [f"{is_a}({read}, {numpy_name(dtype, numpy)})"]
        case Array(dtype=str() as dtype, shape=shape, layout=layout) if shape is not None:
            tests = [f"{is_a}({read}, {numpy}.ndarray)", f"{read}.dtype == {numpy_name(dtype, numpy)}", f"{read}.ndim == {len(shape)}"]
            tests += [f"{read}.shape[{axis}] {'==' if extent == 1 else '!='} 1" for axis, extent in enumerate(shape)]
            lies = {"C": ".flags.c_contiguous", "F": ".flags.fnc"}.get(layout)
            if layout == "N":
                tests.append(f"not {read}.flags.forc")
            return [*tests, f"{read}{lies}"] if lies else tests
        case List():
            return [f"{is_a}({read}, {words['list']})"]
        case Many(kind=kind, item=inner):
            word = next(word for k in itertools.count() if (word := f"item_{k}") not in read)
            of_item = " and ".join(tests_of(word, inner, words))
            return [f"{is_a}({read}, {words[kind.__name__]})", f"{words['all']}({of_item} for {word} in {read})"]
        case Tree(form="mapping", names=names):
            return [f"{words['list']}({read}) == [{', '.join(map(literal, names))}]", *tests_inside(path, item, words)]
        case Tree(form="sequence" | "named", names=names):
            return [f"{words['len']}({read}) == {len(names)}", *tests_inside(path, item, words)]
        case Tree():
            return tests_inside(path, item, words)
        case Static(value=value) if value is None:
            return [f"{read} is None"]
        case Static(value=str() as value) if type(value) is str:
            return [f"{read} == {scalar_text(value)}"]
    raise SaveError(
        f"it was made for one object as {path}, {item}, which cannot be written to a file", hint="save a function that does not take it"
    )


def tests_inside(path: str, item: Tree, words: Mapping[str, str]) -> list[str]:
    """Yield the tests of the items of a container."""
    return [t for name, inner in zip(item.names, item.items, strict=True) for t in tests_of(part_of(path, item, name), inner, words)]


def numpy_name(dtype: str, numpy: str = "np") -> str:
    """Return a dtype as text.

    >>> numpy_name("f32"), numpy_name("bool")
    ('np.float32', 'np.bool_')
    """
    return f"{numpy}.bool_" if dtype == "bool" else f"{numpy}.{NUMPY_NAMES[dtype[0]]}{dtype[1:]}"


def random_of(signature: Signature) -> tuple[str, ...] | None:
    """Random arguments for a signature: three where an extent is free."""

    def one(item: Abstract) -> str:
        match item:
            case Scalar(kind="float", dtype=None):
                return "float(rng.uniform(0.5, 1.5))"
            case Scalar(kind="int", dtype=None):
                return "2"
            case Array(dtype=str() as dtype, shape=shape) if shape is not None and dtype[0] == "f":
                extents = "".join(f"{e if isinstance(e, int) else 3}, " for e in shape)
                return f"rng.uniform(0.5, 1.5, ({extents})).astype({numpy_name(dtype)})"
            case Tree(form="mapping", names=names, items=items):
                return "{" + ", ".join(f"{literal(n)}: {one(i)}" for n, i in zip(names, items, strict=True)) + "}"
            case Tree(form="sequence", items=items, kind=kind):
                inside = "".join(f"{one(i)}, " for i in items)
                return f"({inside})" if issubclass(kind, tuple) else f"[{inside.removesuffix(', ')}]"
            case Many(kind=kind, item=inner):
                return f"{kind.__name__}({one(inner)} for _ in range({FEW + 1}))"
        raise ValueError(item)

    try:
        return tuple(one(item) for _, item in signature.params)
    except ValueError:
        return None


# ------------------------------------------------------------------ the module


CHECK = '''
def leaves(value):
    """The numbers and arrays in nested containers."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (tuple, list)) else None
    return [value] if items is None else [leaf for item in items for leaf in leaves(item)]


def rebuilt(value, parts):
    """Nested containers like these, with their numbers and arrays taken from an iterator."""
    if isinstance(value, dict):
        return {{key: rebuilt(item, parts) for key, item in value.items()}}
    return type(value)(rebuilt(item, parts) for item in value) if isinstance(value, (tuple, list)) else next(parts)


def check():
    """Compare the gradient with differences in random directions."""
    rng = np.random.default_rng(0)
    arguments = {arguments}

    def fresh(value):
        return rebuilt(value, iter([np.copy(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves(value)]))

    def total(shifted):
        return sum(np.sum(leaf) for leaf in leaves({primal}(*shifted){value}) if np.asarray(leaf).dtype.kind == "f")

    {gradients}
    for position, gradient in zip({wrt}, gradients):
        chosen = [np.asarray(leaf).dtype.kind == "f" for leaf in leaves(arguments[position])]
        directions = [rng.normal(size=np.shape(leaf)) for leaf in leaves(arguments[position])]
        width = min(leaf.dtype.itemsize for leaf in map(np.asarray, leaves(arguments[position])) if leaf.dtype.kind == "f")
        step, tolerance = (1e-5, 1e-4) if width == 8 else (1e-2, 5e-2)
        ends = []
        for t in (step, -step):
            moved = [leaf + np.asarray(t * d, np.asarray(leaf).dtype) if c else leaf
                     for leaf, d, c in zip(leaves(arguments[position]), directions, chosen)]
            moved = [type(leaf)(m) if not isinstance(leaf, np.ndarray) else m for leaf, m in zip(leaves(arguments[position]), moved)]
            shifted = fresh(arguments)
            shifted[position] = rebuilt(arguments[position], iter(moved))
            ends.append(total(shifted))
        expected = (ends[0] - ends[1]) / (2 * step)
        derivative = {slope}
        assert abs(derivative - expected) <= tolerance * max(1, abs(expected)), (position, derivative, expected)
    print("{name}: agrees with differences")


if __name__ == "__main__":
    check()
'''
#: forward mode computes the derivative in a direction directly
SLOPE = """
    def slope(position, directions):
        tangents = {{}}
        for k, label in zip({wrt}, {names}):
            shift = directions if k == position else [0.0 for _ in leaves(arguments[k])]
            moved = [np.asarray(d * np.ones(np.shape(leaf)), np.asarray(leaf).dtype) for leaf, d in zip(leaves(arguments[k]), shift)]
            moved = [m if isinstance(leaf, np.ndarray) else type(leaf)(m) for leaf, m in zip(leaves(arguments[k]), moved)]
            tangents[label] = rebuilt(arguments[k], iter(moved))
        tangent = {tangent}
        return sum(np.sum(leaf) for leaf in leaves(tangent) if np.asarray(leaf).dtype.kind == "f")

    gradients = [None for _ in {wrt}]"""
TANGENTS = {"jvp": "{name}(*fresh(arguments))(tangents)[1]", "linearize": "{name}(*fresh(arguments))[1](tangents)"}
OF_GRADIENTS = "sum(np.sum(g * d) for g, d, c in zip(leaves(gradient), directions, chosen) if c)"
#: the names that the check itself binds, except those of the functions that it calls
OF_CHECK = tuple(
    """
    leaves rebuilt check rng arguments fresh total gradients position gradient chosen directions width step tolerance ends moved shifted
    expected derivative out pullback ones leaf t d c g rows per sums k n slope tangents tangent shift label m
    """.split()
)
GRADIENTS = {
    "grad": "gradients = {name}(*fresh(arguments))",
    "aux": "gradients = {name}(*fresh(arguments))[0]",
    "value": "gradients = {name}(*fresh(arguments))[1]",
    "pullback": (
        "out, pullback = {name}(*fresh(arguments))[:2]\n"
        "    ones = [np.ones_like(leaf) if isinstance(leaf, np.ndarray) else type(leaf)(1) for leaf in leaves(out)]\n"
        "    gradients = pullback(rebuilt(out, iter(ones)))"
    ),
    "jacobian": (
        "out = leaves({primal}(*fresh(arguments)){value})\n"
        "    rows = leaves({name}(*fresh(arguments)){value})\n"
        "    per = len(rows) // len(out)\n"
        "    sums = iter([None if rows[n] is None else sum(np.sum(rows[k * per + n], axis=tuple(range(np.ndim(leaf))))\n"
        "                                                  for k, leaf in enumerate(out)) for n in range(per)])\n"
        "    gradients = [[next(sums) for leaf in leaves(arguments[position])] for position in {wrt}]"
    ),
}


def check_text(name: str, primal: str, request: Request, parameters: Sequence[str], arguments: Sequence[str], taken: set[str]) -> str:
    """The self-check of a saved derivative; ``taken`` are names with another meaning in the module."""
    what = (
        "jacobian"
        if request.jacobian
        else "pullback"
        if request.pullback
        else "value"
        if request.value
        else "aux"
        if request.has_aux
        else "grad"
    )
    lines, slope = GRADIENTS[what], OF_GRADIENTS
    wrt = "".join(f"{list(parameters).index(n)}, " for n in request.wrt)
    if request.forward or request.linear:
        tangent = TANGENTS["jvp" if request.forward else "linearize"].format(name=name)
        names = "".join(f"{literal(n)}, " for n in request.wrt)
        lines, slope = SLOPE.format(wrt=f"({wrt.strip()})", names=f"({names.strip()})", tangent=tangent), "slope(position, directions)"
    elif request.structure == "single" and not request.jacobian:
        lines += "\n    gradients = (gradients,)"
    template = CHECK
    for word in OF_CHECK:
        if word in taken:
            other = next(other for k in itertools.count(1) if (other := f"{word}_{k}") not in taken)
            template, lines, slope = (re.sub(rf"(?<![.{{])\b{word}\b", other, text) for text in (template, lines, slope))
            arguments = [ast.unparse(replaced(ast.parse(text, mode="eval").body, {word: ast.Name(other)})) for text in arguments]
    value = "[0]" if request.has_aux else ""
    return template.format(
        arguments=f"[{', '.join(arguments)}]",
        primal=primal,
        value=value,
        gradients=lines
        if request.forward or request.linear
        else lines.format(name=name, primal=primal, value=value, wrt=f"({wrt.strip()})"),
        slope=slope,
        wrt=f"({wrt.strip()})",
        name=name,
    )


def module(
    pieces: Sequence[Emitted],
    name: str,
    primal: str,
    function: types.FunctionType,
    signature: Signature,
    request: Request,
    examples: Sequence[str] | None,
    kernel: Emitted | None = None,
    identities: Collection[str] = (),
) -> str:
    """The text of the module: the function itself, its derivative, the kernel, and the self-check where the arguments have texts."""
    compiled = [] if kernel is None else [kernel]
    derivative = Emitted(tested(pieces[-1].text, name, signature, request.pins, identities), {"np": np, **pieces[-1].namespace})
    doc = (
        f"The derivative {name} of {one_line(function.__qualname__)}, {WRITTEN}\n\n"
        f"It was made for {one_line(str(signature))}, with respect to {', '.join(request.wrt)}."
    )
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters)
    samples = examples or random_of(signature)
    floats = all(name in parameters[: len(samples or ())] for name in request.wrt)
    if samples is None or not floats or request.along:
        return module_text([derivative, *compiled], doc, modules_of(function))
    taken = {node.name for piece in pieces for node in ast.walk(ast.parse(piece.text)) if isinstance(node, ast.FunctionDef)}
    check = Emitted(check_text(name, primal, request, parameters, samples, taken), {"np": np})
    doc += " Run as a program it compares itself with differences."
    return module_text([*pieces[:-1], derivative, *compiled, check], doc, modules_of(function))


WRITTEN = "written by symgrad; symgrad is not needed."  #: ends the first line of a saved module


def is_saved_module(path: Path) -> bool:
    """Whether a file begins as a module that ``module`` has written."""
    with path.open("rb") as file:
        first = file.readline(65536).decode(errors="replace")
    return first.lstrip("\"'").startswith("The derivative ") and WRITTEN in first


def modules_of(function: types.FunctionType) -> set[str]:
    """The modules that the user's own function imports: those it names, and those it has names from."""
    modules = set()
    for name in function.__code__.co_names:
        value = function.__globals__.get(name)
        if isinstance(value, types.ModuleType):
            modules.add(value.__name__)
        elif value is not None and isinstance(getattr(value, "__module__", None), str):
            modules.add(value.__module__)
    return {m for m in modules if m.split(".")[0] not in ("symgrad", "__main__", "builtins") and m != function.__module__}
