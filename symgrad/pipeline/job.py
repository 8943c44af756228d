"""One compilation: the request, the lowered function, the IR after each stage, and the structure of the result.

Also the pieces of its texts: the parameters, the docstring, the lines of the user's source that comments quote.
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import itertools
import linecache
import re
import types
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from symgrad.errors import BadArgument, NotScalar, UnknownType, UnsupportedArgument, UnsupportedSyntax
from symgrad.frontend.containers.results import OWNER, Lowered, Result, in_template
from symgrad.frontend.text.source import Source
from symgrad.ir.core import Call, Func, clone
from symgrad.ir.types import Array, List, Scalar, Type, Unknown, is_complex
from symgrad.location import Loc
from symgrad.loops.reach import in_words
from symgrad.paths import attributes_of_containers, belongs, part_at
from symgrad.pipeline.runner import checked
from symgrad.runtime.batches import BATCH
from symgrad.signature import Abstract, Inactive, Many, Own, Request, Signature, Tree, leaf_paths, part_of
from symgrad.text import identifier, is_inside, is_name, literal, one_line, root_of

if TYPE_CHECKING:
    from symgrad.pipeline.readings import Reading
    from symgrad.pipeline.target import Target
    from symgrad.saving import Outside

#: the stages whose IR is kept, in order, with descriptions
STAGES: dict[str, str] = {
    "lowered": "the function as the frontend has lowered it",
    "simplified": "the function that is differentiated",
    "prepared": "the same in the form whose derivative runs fastest, if that is a different form",
    "adjoint": "both halves before optimisation",
    "optimized": "the code that is emitted",
    "forward": "of a pullback: the half that computes the result and the saved values",
    "backward": "of a pullback: the half that computes the gradients",
}


#: names that emitted text itself uses
TAKEN = frozenset({"np", "math", *dir(builtins)})
#: a leaf of a template, or an escaped brace
LEAVES = re.compile(r"\{\{|\}\}|\{\}")


@dataclass(slots=True)
class Job:
    """One compilation: the request, the lowered function, and the IR after each stage."""

    source: Source
    signature: Signature
    request: Request
    lowered: Lowered
    stages: dict[str, Func] = field(default_factory=dict)
    outside: Outside | None = None  #: the parameters of the function in a saved file
    by_columns: bool = False  #: whether a Jacobian is computed by forward mode
    order: int = 1  #: of the derivative: 2 where the function is itself a derivative
    inactive: list[Inactive] = field(default_factory=list)  #: arguments that the result does not depend on
    relations: tuple[str, ...] = ()  #: relations between extents that would make more shapes known
    target: Target | None = None  #: the compilation target; None for NumPy code alone
    defined: frozenset[str] = frozenset()  #: the names of other functions in the same text
    reading: Reading | None = None  #: the cache of the lowered function, shared with other derivatives

    def stage(self, name: str, func: Func) -> Func:
        assert name in STAGES
        checked(func)
        self.stages[name] = clone(func)
        return func

    # -------------------------------------------------------------- checks of the request

    @property
    def output(self) -> Result:
        """The differentiated part of the result."""
        return self.lowered.result.items[0] if self.request.has_aux else self.lowered.result

    @property
    def of_one_number(self) -> bool:
        """Whether the gradient of one number is requested."""
        return self.request.guarded and not (self.request.jacobian or self.request.along)

    def check_output(self) -> None:
        """Check the result: a gradient needs one number, ``has_aux`` a pair; a function that always raises is not checked."""
        loc = self.source.loc(self.source.node)
        if self.request.has_aux and len(self.lowered.result.items) != 2:
            raise BadArgument("has_aux=True needs a function that returns (out, aux)", loc)
        if self.lowered.raises:
            return
        if not self.output.count and not self.output.items:
            how = "one number" if self.of_one_number else "a number or an array"
            raise NotScalar(f"the output is {self.output.text}, not {how}", self.result_loc(), f"return {how}")
        if not self.request.guarded or self.request.along:
            return
        if self.request.jacobian:
            self.check_matrices()
            return
        operands = self.lowered.func.body.yields
        if self.output.count != 1 or self.output.items:
            raise NotScalar("the output is not one number", self.result_loc())
        type_ = operands[0].type
        if not is_one_number(type_):
            raise NotScalar(f"the output is {in_words(type_)}, not one number", self.result_loc())
        if self.request.holomorphic:
            self.check_complex([type_])
        elif is_complex(type_):
            from symgrad.adjoint.checks import what_makes_complex  # not loaded with code from the disk cache

            refusal = NotScalar(
                "the output is complex, and a gradient is of a real number",
                self.result_loc(),
                "return its real part or absolute value, use vjp with a complex seed, or holomorphic=True",
            )
            refusal.pin = what_makes_complex(self.lowered.func, operands[0], [text for _, text in self.lowered.inputs])
            refusal.objects = self.lowered.objects
            raise refusal

    def check_complex(self, outputs: Sequence[Type]) -> None:
        """Check that a complex derivative is of complex results with respect to complex arguments."""
        for output in outputs:
            if not is_complex(output):
                raise NotScalar(
                    f"the output is {output}, and holomorphic=True is for functions that return a complex number",
                    self.result_loc(),
                    "leave holomorphic out",
                )
        for k in self.requested():
            type_, text = self.lowered.func.params[k].type, self.lowered.inputs[k][1]
            if not is_complex(type_):
                raise BadArgument(
                    f"{text} is {type_}, and holomorphic=True is for complex arguments",
                    self.parameter_loc(root_of(text)),
                    f"pass {text} + 0j, or leave holomorphic out",
                )

    def check_matrices(self) -> None:
        """Check that a Jacobian is of real numbers and arrays of known rank, with respect to such; a holomorphic one of complex ones."""
        func, loc, is_real = self.lowered.func, self.result_loc(), not self.request.holomorphic
        outputs = [operand.type for operand in func.body.yields[: self.output.count]]
        if not is_real:
            self.check_complex(outputs)
        for type_ in outputs:
            if is_complex(type_) and is_real:
                raise NotScalar(
                    "the output is complex, and a Jacobian is of real numbers",
                    loc,
                    "return its parts, for example np.stack([out.real, out.imag]), or pass holomorphic=True",
                )
            if isinstance(type_, Scalar | Array) and not carries(type_):
                raise NotScalar(
                    f"the output holds {type_}: integers and booleans have no derivative",
                    loc,
                    "return them as auxiliary results: (out, aux), with has_aux=True",
                )
            if not isinstance(type_, Array):  # an array is checked at run time
                refuse_unless_array(f"the output holds {type_}", "of", type_, loc, "return arrays, for example np.array(out)")
        for k in self.requested():
            type_, text = func.params[k].type, self.lowered.inputs[k][1]
            loc = self.parameter_loc(root_of(text))
            if is_complex(type_) and is_real:
                raise NotScalar(
                    f"{text} is complex, and a Jacobian is with respect to real numbers",
                    loc,
                    "pass the real and the imaginary part as two arguments, or holomorphic=True",
                )
            refuse_unless_array(f"{text} is {type_}", "with respect to", type_, loc, "pass an array")

    def result_loc(self) -> Loc:
        return self.source.loc(self.source.node)

    def inputs_of(self, name: str) -> list[tuple[int, str]]:
        """The program's parameters that belong to an argument, or to the part at a path, with their paths."""
        inputs = []
        beside_items = attributes_of_containers(root_of(name), self.signature[root_of(name)])  # gradients have no place for these
        places = {text: k for k, (_, text) in enumerate(self.lowered.inputs)}
        for text, k in [*places.items(), *((text, places[other]) for text, other in self.lowered.aliases.items() if other in places)]:
            if belongs(text, name) and not any(is_inside(text, one) and not is_inside(name, one) for one in beside_items):
                inputs.append((k, text))
        return inputs

    def requested(self) -> list[int]:
        """The indices of the program's parameters whose gradients are requested."""
        indices = []
        for name in self.request.wrt:
            indices += [k for k, _ in self.inputs_of(name) if carries(self.lowered.func.params[k].type)]
        return list(dict.fromkeys(indices))

    def parameter_loc(self, name: str) -> Loc:
        arguments = self.source.node.args
        for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if a is not None and a.arg == name:
                return self.source.loc(a)
        return self.source.loc(self.source.node)

    # -------------------------------------------------------------- the structure of results

    def gradients(self, places: dict[int, int], order: list[int]) -> Result:
        """The gradients in the structure of the arguments; ``order`` collects the indices of the program's results."""
        parts = tuple(self.structure(name, name, self.asked(name), places, order) for name in self.request.wrt)
        if self.request.structure == "single":
            return parts[0]
        return sequence(parts, "(", ")")

    def asked(self, path: str) -> Abstract:
        """The abstract value of the argument, or part, of a gradient."""
        held = part_at(self.signature, path)
        assert held is not None
        return held

    def structure(self, path: str, name: str, item: Abstract, places: dict[int, int], order: list[int]) -> Result:
        if isinstance(item, Many) and leaf_paths(item, path) != [path]:
            return self.of_items(path, name, item, places, order)
        if not isinstance(item, Tree):
            place = next((places[k] for k, text in self.inputs_of(name) if text == path and k in places), None)
            if place is None:
                return Result("None", 0)
            order.append(place)
            return Result("{}", 1)
        parts = [(n, i) for n, i in zip(item.names, item.items, strict=True) if not isinstance(n, Own)]
        inner = tuple(self.structure(part_of(path, item, n), name, i, places, order) for n, i in parts)
        return self.container(item, inner)

    def container(self, item: Tree, inner: tuple[Result, ...]) -> Result:
        """A container of gradients in the structure of an argument."""
        count = sum(i.count for i in inner)
        match item.form:
            case "sequence":
                return sequence(inner, *("()" if issubclass(item.kind, tuple) else "[]"))
            case "mapping":
                pairs = ", ".join(f"{in_template(literal(n))}: {t.text}" for n, t in zip(item.keys, inner, strict=True))
                return Result("{{" + pairs + "}}", count, inner, tuple(part_of(OWNER, item, n) for n in item.keys))
        owner = self.class_name(item.kind if item.form == "named" or is_made_of(item.kind, item.names) else types.SimpleNamespace)
        if item.form == "named":
            return Result(f"{owner}({', '.join(i.text for i in inner)})", count, inner, tuple(part_of(OWNER, item, n) for n in item.names))
        words = ", ".join(keyword(n, t.text) for n, t in zip(item.names, inner, strict=True))
        return Result(f"{owner}({words})", count, inner, tuple(part_of(OWNER, item, n) for n in item.names))

    def of_items(self, path: str, name: str, item: Many, places: dict[int, int], order: list[int]) -> Result:
        """The gradient of a long list whose items have parts, built from the lists of the parts' gradients."""
        mine = {text: places[k] for k, text in self.inputs_of(name) if k in places}
        words = {text: f"item_{n}" for n, text in enumerate(text for text in leaf_paths(item, path) if text in mine)}
        if not words:
            return Result("None", 0)
        inside = self.of_item(item.item, iter(leaf_paths(item, path)), words)
        order += [mine[text] for text in words]
        expression = f"[{inside} for {', '.join(words.values())}, in zip({', '.join(['{}'] * len(words))})]"
        return Result(f"tuple({expression})" if item.kind is tuple else expression, len(words))

    def of_item(self, item: Abstract, paths: Iterator[str], words: dict[str, str]) -> str:
        """The text of one item, over the names of its parts' gradients."""
        match item:
            case Many(item=Type()) | Type():
                word = words.get(next(paths), "None")
                return f"tuple({word})" if word != "None" and isinstance(item, Many) and item.kind is tuple else word
            case Many():
                raise UnsupportedSyntax("a list of lists of tuples or objects has no gradient yet", self.result_loc(), "pass arrays")
            case Tree():
                parts = tuple(Result(self.of_item(inner, paths, words), 0) for inner in item.items)
                return self.container(item, parts).text
        return "None"

    def class_name(self, kind: type) -> str:
        """A name for a class, not used by a parameter or another object."""
        stem, number = identifier(kind.__name__), 0
        name = stem = f"class_{stem}" if stem.startswith("__") else stem
        while name in self.signature.names or name in TAKEN or self.lowered.objects.get(name, kind) is not kind:
            number += 1
            name = f"{stem}_{number}"
        self.lowered.objects[name] = kind
        return name


def sequence(parts: tuple[Result, ...], opened: str, closed: str) -> Result:
    """A tuple or list of results."""
    comma = "," if len(parts) == 1 and opened == "(" else ""
    return Result(f"{opened}{', '.join(p.text for p in parts)}{comma}{closed}", sum(p.count for p in parts), parts)


def numbered(result: Result, numbers: Iterator[int]) -> str:
    """The template of a result with its leaves numbered.

    >>> numbered(Result("{{'a': {}}}", 1), iter([3]))
    "{{'a': {3}}}"
    """
    return LEAVES.sub(lambda m: f"{{{next(numbers)}}}" if m[0] == "{}" else m[0], result.text)


def with_leaves(result: Result, leaves: Sequence[Result]) -> Result:
    """A structure with its leaves replaced by structures.

    >>> with_leaves(Result("{{'a': {}}}", 1), [Result("({}, {})", 2)]).text
    "{{'a': ({}, {})}}"
    """
    if not result.items and result.text == "{}":
        return leaves[0]
    pending, rest = iter(leaves), iter(leaves)
    text = LEAVES.sub(lambda m: next(pending).text if m[0] == "{}" else m[0], result.text)
    items = tuple(with_leaves(item, list(itertools.islice(rest, item.count))) for item in result.items)
    return Result(text, sum(leaf.count for leaf in leaves), items, result.how)


def is_made_of(kind: type, names: tuple[str, ...]) -> bool:
    """Whether an instance can be constructed from its attributes."""
    return dataclasses.is_dataclass(kind) and set(names) <= {f.name for f in dataclasses.fields(kind) if f.init}


def keyword(name: str, value: str) -> str:
    """A keyword argument in a template.

    >>> keyword("w", "{}"), keyword("a b", "{}")
    ('w={}', "**{{'a b': {}}}")
    """
    return f"{name}={value}" if is_name(name) else "**{{" + f"{in_template(literal(name))}: {value}" + "}}"


def refuse_unless_array(what: str, how: str, type_: Type, loc: Loc, hint: str) -> None:
    """Refuse a type other than a number or an array of known rank; compilation then retries with more specific types, if there are any."""
    if isinstance(type_, Scalar) or isinstance(type_, Array) and type_.shape is not None:
        return
    if isinstance(type_, List):
        raise UnsupportedArgument(f"{what}: a Jacobian is {how} numbers and arrays, not {how} lists of any length", loc, hint)
    raise UnknownType(f"{what}: a Jacobian is {how} arrays whose rank is known", loc, "reshape it to a rank that no value decides")


def is_one_number(type_: Type) -> bool:
    match type_:
        case Scalar():
            return True
        case Array(shape=shape):
            return shape is None or all(e == 1 for e in shape)
        case Unknown():
            return True
    return False


def carries(type_: Type) -> bool:
    """Whether a parameter of this type can have a derivative."""
    inner = type_
    while isinstance(inner, List):
        inner = inner.item
    return isinstance(inner, Unknown) or isinstance(inner, Scalar | Array) and inner.kind in (None, "float", "complex")


#: the attribute of a Hessian-vector product: the gradient that it differentiates, and the name of its vector
ALONG = "__symgrad_along__"


def document(job: Job, what: str) -> str:
    """The docstring of a derivative, or of one half of it."""
    wrt = ", ".join(job.request.wrt)
    return f"{what} of {described(job)} with respect to {wrt}.  Written by symgrad{origin(job)}."


def own_document(job: Job) -> str:
    """The docstring of a function without a derivative."""
    return f"The function {described(job)} itself.  Written by symgrad{origin(job)}."


def described(job: Job) -> str:
    """The name of the function: a function over a batch is named after its callee."""
    batch = getattr(job.source.function, BATCH, None)
    return job.source.name if batch is None else one_line(repr(batch))


def origin(job: Job) -> str:
    """The location of the function's definition."""
    function: Any = job.source.function
    if (product := getattr(function, ALONG, None)) is not None:
        function = product[0]._function
    elif not hasattr(function, BATCH):
        where = job.source.loc(job.source.node)
        return f" from {file_name(where)}:{where.line}"
    while (batch := getattr(function, BATCH, None)) is not None:
        function = getattr(batch.function, "_function", batch.function)
    code = getattr(function, "__code__", None)
    return "" if code is None else f" from {file_name(Loc(code.co_filename, code.co_firstlineno))}:{code.co_firstlineno}"


def free_name(job: Job, wish: str, *ends: str) -> str:
    """A name that, with any of these suffixes, none of the user's objects has in the text; the function itself may be one of them."""
    taken = job.lowered.objects
    wishes = itertools.chain((wish,), (f"{wish}_{n}" for n in itertools.count(1)))
    return next(name for name in wishes if not any(f"{name}{end}" in taken for end in ends))


def file_name(where: Loc) -> str:
    """The name of a file, safe inside a docstring."""
    file = one_line(where.file).replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in file if c.isalnum() or c in "._- <>")


def lines_of(job: Job) -> Callable[[str, int], str]:
    def line(file: str, number: int) -> str:
        if file == job.source.file:
            return job.source.line(number)
        return linecache.getline(file, number).rstrip("\n")

    return line


STARS: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def parameter_text(job: Job) -> str:
    """The user's own parameters; defaults are read from the user's function by the guard."""
    if job.outside is not None:
        return job.outside.signature
    parts, star = [], False
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        if p.kind is p.VAR_POSITIONAL:
            star = True
        parts.append(f"{STARS.get(p.kind, '')}{p.name}")
        if p.kind is p.POSITIONAL_ONLY:
            rest = [q for q in inspect.signature(job.source.function).parameters.values() if q.kind is q.POSITIONAL_ONLY]
            if p.name == rest[-1].name:
                parts.append("/")
    return ", ".join(parts)


def passed_text(job: Job) -> str:
    """The same parameters, as the arguments of a call."""
    if job.outside is not None:
        return job.outside.passed
    parts = []
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        parts.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{STARS.get(p.kind, '')}{p.name}")
    return ", ".join(parts)


def asks_result(job: Job, func: Func) -> bool:
    """Insert a run-time check of a result of unknown type: a gradient is of one number. Works in place."""
    if job.output.count != 1 or job.output.items or job.lowered.raises:
        return False
    result = func.body.yields[0]
    if isinstance(result.type, Scalar | List) or isinstance(result.type, Array) and None not in (result.type.shape, result.type.dtype):
        return False
    func.body.ops.append(Call([], job.result_loc(), "check_result", [result], {"one": job.of_one_number}))
    return True


def untold(func: Func) -> Func:
    """Switch off remarks for a function."""
    func.notes = None
    return func
