"""Validates a request for a derivative against a function's parameters and the types of its arguments."""

from __future__ import annotations

import ast
import inspect
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

import numpy as np

from symgrad.abstraction import abstract_value, from_annotation, parse_signature, split_types
from symgrad.errors import BadArgument, IntegerArgument, SourceNotFound
from symgrad.frontend.text.source import body_nodes, local_names, read
from symgrad.ir.types import DTYPES, Array, List, Scalar
from symgrad.jit import Jit
from symgrad.kinds import passed_instead, row_of, what_of
from symgrad.location import Loc
from symgrad.paths import belongs, no_part, part_at, spelled
from symgrad.signature import Abstract, Many, Signature, Static, Tree
from symgrad.targets import available
from symgrad.text import is_name, root_of
from symgrad.text import item as item_path
from symgrad.verification.first_call import Verify, checked_verify

Wrt = int | str | tuple[int | str, ...] | list[int | str] | None
What = Literal["grad", "value_and_grad", "vjp", "jvp", "linearize", "primal", "jacobian", "hvp", "vhp", "frame"]

Checkpoints = Mapping[int | str, int] | None
Mode = Literal["auto", "reverse", "forward"]
#: the function that computes a Jacobian by a mode
JACOBIANS: dict[Mode, str] = {"auto": "jacobian", "reverse": "jacrev", "forward": "jacfwd"}


@dataclass(frozen=True, slots=True)
class Options:
    """A request for a derivative, before it is validated against a function.

    ``wrt`` None: the first parameter, or for ``vjp``, ``jvp`` and ``linearize`` every positional argument that can carry a derivative.
    """

    what: What = "grad"
    wrt: int | str | tuple[int | str, ...] | None = None
    has_aux: bool = False
    allow_unused: bool = False
    no_grad: frozenset[str] = frozenset()
    bound: bool = False  #: the first parameter is an instance; positions count from the next
    strict: bool = False  #: an argument without influence on the result is an error
    jit: Jit = False  #: compiled by numba, or by the target of that name; "auto": where possible
    mode: Mode = "reverse"  #: the method for a Jacobian: by rows, by columns, or by the cheaper of the two
    holomorphic: bool = False  #: a complex function of complex numbers, which has a complex derivative
    verify: Verify = None  #: whether the first call is compared with the function; None: as set in the environment
    checkpoints: tuple[tuple[int | str, int], ...] = ()  #: loops with checkpoints, by variable or line, each with its number of snapshots
    memory: int | None = None  #: bytes for the snapshots of all outermost loops

    @property
    def word(self) -> str:
        """The function that is called for this."""
        return JACOBIANS[self.mode] if self.what == "jacobian" else self.what


def options(
    what: What,
    wrt: Wrt,
    argnums: Wrt,
    has_aux: bool,
    allow_unused: bool,
    no_grad: Iterable[str],
    jit: Jit,
    strict: bool = False,
    verify: Verify = None,
    mode: Mode = "reverse",
    checkpoints: Checkpoints = None,
    memory: int | str | None = None,
    holomorphic: bool = False,
) -> Options:
    """Check the request as far as possible without the function."""
    if jit is not False:
        available(jit)
    if strict is True and allow_unused is True:
        raise BadArgument("strict=True refuses what allow_unused=True allows", hint="give one of them")
    if checkpoints and memory is not None:
        raise BadArgument("checkpoints and memory both set the number of snapshots of a loop", hint="give one of them")
    if wrt is not None and argnums is not None:
        raise BadArgument("wrt and argnums are one argument under two names", hint="give one of them")
    wrt = wrt if wrt is not None else argnums
    wrt = tuple(wrt) if isinstance(wrt, list) else wrt
    for item in wrt if isinstance(wrt, tuple) else (wrt,):
        if isinstance(item, bool) or not isinstance(item, int | str | None):
            raise BadArgument(
                f"wrt names a parameter by position, name or path, not by {item!r}",
                hint="for example wrt=0, wrt='x', wrt=('x', 'p.w')",
            )
    flags = {"has_aux": has_aux, "allow_unused": allow_unused, "strict": strict, "holomorphic": holomorphic}
    aux, unused, refuses, is_complex = (checked_flag(word, value) for word, value in flags.items())
    mode, verify = checked_mode(mode), checked_verify(verify)
    return Options(
        what,
        wrt,
        aux,
        unused,
        checked_names(no_grad),
        strict=refuses,
        jit=jit,
        mode=mode,
        verify=verify,
        holomorphic=is_complex,
        checkpoints=checked_checkpoints(checkpoints),
        memory=None if memory is None else bytes_of(memory),
    )


def checked_flag(word: str, value: Any) -> bool:
    """Return an argument as a bool; raise BadArgument for anything else.

    >>> checked_flag("has_aux", True), checked_flag("has_aux", 0)
    (True, False)
    """
    if value is None or isinstance(value, bool | int | np.bool_) and value in (0, 1):
        return bool(value)
    raise BadArgument(f"{word} is True or False, not {value!r}")


def checked_names(no_grad: Any) -> frozenset[str]:
    """Return the names in ``no_grad``; raise BadArgument unless it is a string or a collection of strings."""
    names = (no_grad,) if isinstance(no_grad, str) else tuple(no_grad) if isinstance(no_grad, Iterable) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise BadArgument(f"no_grad names variables of the function, not {no_grad!r}", hint="for example no_grad=('scale',)")
    return frozenset(names)


def checked_checkpoints(checkpoints: Checkpoints) -> tuple[tuple[int | str, int], ...]:
    """Return loops and their numbers of snapshots as pairs; raise BadArgument for anything but such a dict.

    >>> checked_checkpoints({"t": 10})
    (('t', 10),)
    """
    hint = 'for example checkpoints={"t": 10}, or with the number of its line checkpoints={12: 10}'
    if checkpoints is None:
        return ()
    if not isinstance(checkpoints, Mapping):
        raise BadArgument(f"checkpoints is a dict from loops to numbers of snapshots, not {checkpoints!r}", hint=hint)
    for loop, count in checkpoints.items():
        if isinstance(loop, bool) or not isinstance(loop, int | str):
            raise BadArgument(f"checkpoints names a loop by its variable or its line, not by {loop!r}", hint=hint)
        if isinstance(count, bool) or not isinstance(count, int) or count < 1:
            raise BadArgument(f"a loop keeps at least one snapshot, and checkpoints gives {count!r}", hint=hint)
    return tuple(checkpoints.items())


#: bytes by unit: powers of a thousand, and of 1024
UNITS = {
    "B": 1,
    **{f"{letter}B": 1000 ** (k + 1) for k, letter in enumerate("KMGT")},
    **{f"{letter}iB": 1024 ** (k + 1) for k, letter in enumerate("KMGT")},
    "kB": 1000,
}
QUANTITY = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]+)\s*")


def bytes_of(memory: int | str) -> int:
    """Return an amount of memory in bytes; raise BadArgument for an invalid text.

    >>> bytes_of("200 MB"), bytes_of("1.5 GiB"), bytes_of(4096)
    (200000000, 1610612736, 4096)
    """
    hint = f'for example memory="200 MB", or a number of bytes; units are {", ".join(UNITS)}'
    if isinstance(memory, int) and not isinstance(memory, bool):
        count = memory
    else:
        match = QUANTITY.fullmatch(memory) if isinstance(memory, str) else None
        if match is None or match[2] not in UNITS:
            raise BadArgument(f'memory is an amount such as "200 MB", not {memory!r}', hint=hint)
        count = int(Fraction(match[1]) * UNITS[match[2]])
    if count < 1:
        raise BadArgument(f"memory is at least one byte, not {memory!r}", hint=hint)
    return count


def checked_mode(mode: Any) -> Mode:
    """Raise BadArgument for an unknown mode."""
    for one in JACOBIANS:
        if mode == one:
            return one
    raise BadArgument(f"there is no mode {mode!r}", hint='mode is "auto", "reverse" or "forward"')


def resolve_wrt(options: Options, function: types.FunctionType) -> tuple[str, ...]:
    """Return the parameters in ``wrt``, and paths to parts of them, in the compiler's spelling."""
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    star = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    positional = named[options.bound :]
    every = {p.name for p in parameters}
    of_wrapped = parts_by_wrapped_names(function, parameters)
    asked = options.wrt if isinstance(options.wrt, tuple) else (0 if options.wrt is None else options.wrt,)

    def one(item: int | str) -> str:
        if isinstance(item, str) and item in every:
            return item
        if isinstance(item, str) and item in of_wrapped:
            return of_wrapped[item]
        if isinstance(item, int) and -len(positional) <= item < len(positional):
            return positional[item]
        if isinstance(item, str) and not is_name(item) and root_of(path := spelled(item)) in every:
            return path
        if isinstance(item, int) and star is not None and item >= len(positional):
            return f"{star}[{item + options.bound - len(named)}]"  # the instance is the first item where no parameter takes it
        hint = f"its parameters are {', '.join([*positional, *sorted(every - set(positional))]) or 'none'}"
        if not every:
            hint = "it takes no arguments: differentiate a function that takes the varying values as arguments"
        if isinstance(item, int) and star is not None:
            hint = f"wrt={star!r} gives the gradients of all that *{star} takes"
        raise BadArgument(f"{function.__qualname__} has no parameter {item!r}", function_loc(function), hint)

    names = tuple(one(item) for item in asked)
    if not names or any(belongs(one, other) or belongs(other, one) for one, other in combinations(names, 2)):
        raise BadArgument(
            f"wrt={options.wrt!r} names {'nothing' if not names else 'an argument or a part of it twice'}", function_loc(function)
        )
    return names


def parts_by_wrapped_names(function: types.FunctionType, parameters: list[inspect.Parameter]) -> dict[str, str]:
    """The parts of ``*args`` and ``**kwargs`` by the parameter names of the function that ``functools.wraps`` names.

    >>> import functools
    >>> @functools.wraps(lambda x, y, *, scale: x * y * scale)
    ... def wrapper(*args, **kwargs): ...
    >>> parts_by_wrapped_names(wrapper, list(inspect.signature(wrapper, follow_wrapped=False).parameters.values()))
    {'x': 'args[0]', 'y': 'args[1]', 'scale': "kwargs['scale']"}
    """
    star = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
    stars = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
    try:
        wrapped = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return {}
    taken = sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)
    parts = {}
    for place, parameter in enumerate(wrapped):
        by_place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        if by_place and star is not None and place >= taken:
            parts[parameter.name] = f"{star}[{place - taken}]"
        elif parameter.kind is parameter.KEYWORD_ONLY and stars is not None:
            parts[parameter.name] = item_path(stars, parameter.name)
    return parts


def check_cut(options: Options, function: types.FunctionType, wrt: tuple[str, ...] | None) -> None:
    """Raise for names in ``no_grad`` that are not variables of the function, and for parameters that are differentiated.

    ``wrt`` None: every positional parameter that holds floats.
    """
    if not options.no_grad:
        return
    node = read(function).node
    defined = {n.name for n in body_nodes(node) if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    variables = local_names(node) - defined
    positional = [a.arg for a in (*node.args.posonlyargs, *node.args.args)][options.bound :]
    roots = set(positional) if wrt is None else set(map(root_of, wrt))
    for name in sorted(options.no_grad):
        if name not in variables:
            others = ", ".join(sorted(variables - roots))
            raise BadArgument(
                f"{function.__qualname__} has no variable {name!r} that no_grad could name",
                function_loc(function),
                f"name one of {others}" if others else "call symgrad.stop_gradient in the function",
            )
        if name in roots:
            raise BadArgument(
                f"no_grad names {name}, and the derivative with respect to {name} is requested",
                function_loc(function, name),
                f"leave {name} out of wrt, or call symgrad.stop_gradient({name}) in the function",
            )


def function_loc(function: types.FunctionType, parameter: str | None = None) -> Loc | None:
    """Return the place of a function, or of one of its parameters, if its text is available."""
    try:
        source = read(function)
    except SourceNotFound:
        return None
    arguments = source.node.args
    for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
        if argument is not None and argument.arg == parameter:
            return source.loc(argument)
    return replace(source.loc(source.node), end_column=len(source.line(source.node.lineno)))


def check_wrt(function: types.FunctionType, names: tuple[str, ...], signature: Signature) -> None:
    """Raise for integers, booleans, and values without numbers. The gradient of an empty list or dict is empty."""
    for name in names:
        item = part_at(signature, name)
        if item is not None and (carries_derivative(item) or is_empty(item)):
            continue
        loc = function_loc(function, root_of(name))
        if item is None:
            error = no_part(signature, name)
            raise BadArgument(error.what, loc, f"{error.hint}{by_name_instead(function, root_of(name))}")
        if number_leaves(item):
            example = {Scalar: f"float({name})", Array: f"{name}.astype(float)"}.get(type(item))
            hint = None if example is None else f"pass floats, for example {example}"
            kind = f"an array of {np.dtype(DTYPES[item.dtype]).name}" if isinstance(item, Array) and item.dtype else str(item)
            raise IntegerArgument(f"{name} is {kind}: integers and booleans have no gradient", loc, hint)
        row = row_of(item.value) if isinstance(item, Static) else None
        if row is not None:
            raise BadArgument(what_of(row, name), loc, passed_instead(row, name))
        raise BadArgument(f"{name} is {item}, which holds no number", loc, hint="leave it out of wrt")


def by_name_instead(function: types.FunctionType, root: str) -> str:
    """The rest of the hint for a missing item of ``*args``, if the function takes ``**kwargs`` too."""
    kinds = {p.kind: p.name for p in inspect.signature(function, follow_wrapped=False).parameters.values()}
    stars = kinds.get(inspect.Parameter.VAR_KEYWORD)
    return f"; what is passed by name is a part of {stars}" if stars and kinds.get(inspect.Parameter.VAR_POSITIONAL) == root else ""


def carries_derivative(item: Abstract) -> bool:
    """Whether the type holds a float or a complex number."""
    return any(leaf.kind not in ("int", "bool") for leaf in number_leaves(item))


def is_empty(item: Abstract) -> bool:
    """Whether it is an empty container, or holds only such containers."""
    return isinstance(item, Tree) and item.form != "object" and all(map(is_empty, item.items))


def number_leaves(item: Abstract) -> list[Scalar | Array]:
    """Yield the types of the numbers and arrays in one argument."""
    match item:
        case Scalar() | Array():
            return [item]
        case List(item=inner) | Many(item=inner):
            return number_leaves(inner)
        case Tree(items=items):
            return [leaf for inner in items for leaf in number_leaves(inner)]
    return []


# ------------------------------------------------------------------ signatures in advance


def given_signature(function: types.FunctionType, text: str) -> Signature:
    """Parse a signature from a text of types; trailing parameters with defaults may be omitted."""
    parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
    count = len(split_types(text.strip().removeprefix("(").removesuffix(")")))
    rest = parameters[count:]
    if any(p.default is p.empty for p in rest):
        rest = []
    stated = parse_signature(text, tuple(p.name for p in parameters[: len(parameters) - len(rest)]))
    return Signature((*stated.params, *((p.name, abstract_value(p.default, p.name)) for p in rest)))


def annotated_signature(function: types.FunctionType) -> Signature:
    """Build a signature from annotations and defaults; raise if an annotation is missing."""
    items = []
    for parameter in inspect.signature(function, follow_wrapped=False).parameters.values():
        item: Abstract | None = from_annotation(parameter.annotation, parameter.name)
        if item is None and parameter.default is not parameter.empty:
            item = abstract_value(parameter.default, parameter.name)
        if item is None:
            raise BadArgument(
                f"the type of {parameter.name} is not known: {function.__qualname__} has not been called yet",
                function_loc(function, parameter.name),
                "pass example arguments, or signature='f8[:], float'",
            )
        items.append((parameter.name, item))
    return Signature(tuple(items))
