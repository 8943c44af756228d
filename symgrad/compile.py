"""The pipeline: a function, the types of its arguments and what is asked for -> compiled source.

The only file that knows the order of the stages.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import gc
import inspect
import itertools
import os
import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from keyword import iskeyword
from typing import Any

from symgrad.adjoint.account import tell_kept
from symgrad.adjoint.activity import matters
from symgrad.adjoint.checks import check
from symgrad.adjoint.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.reverse import split_pullback as split_halves
from symgrad.codegen.header import Header
from symgrad.codegen.numba import Halves, Kernel, Pair, Surface, emit_kernel, emit_pair
from symgrad.codegen.python import Emitted, emit
from symgrad.codegen.saved_kernels import kernel_piece
from symgrad.errors import BadArgument, CaughtException, InvalidIR, NotActive, NotScalar, SaveError, SymgradError, UnsureAlias
from symgrad.frontend.lower import Lowered, Result, lower
from symgrad.frontend.source import Source, describe, read
from symgrad.ir.core import Func, Value, clone
from symgrad.ir.show import reachable
from symgrad.ir.types import Array, List, Scalar, Type, Unknown
from symgrad.ir.verify import verify
from symgrad.jit import Pending
from symgrad.location import Loc
from symgrad.loops.lower import to_loops
from symgrad.loops.reach import OutOfReach
from symgrad.notes import Notes
from symgrad.passes.apart import apart
from symgrad.passes.borrow import borrow
from symgrad.passes.cancel import cancel
from symgrad.passes.cells import cells
from symgrad.passes.cse import cse
from symgrad.passes.dce import dce
from symgrad.passes.doubts import doubts
from symgrad.passes.fold import fold
from symgrad.passes.forwarding import forwarding
from symgrad.passes.hoist import hoist
from symgrad.passes.kept import kept
from symgrad.passes.masks import masks
from symgrad.passes.relations import relations
from symgrad.passes.reuse import reuse
from symgrad.passes.stacks import stacks
from symgrad.passes.unbox import unbox, unbox_plainly
from symgrad.passes.unread import unread
from symgrad.passes.zeroing import zeroing
from symgrad.runtime.load import load
from symgrad.saving import Outside, module, outside, tested
from symgrad.signature import Abstract, Compiled, Related, Request, Signature, Tree, extent_words

Pass = Callable[[Func], Func]
Emission = Callable[["Job"], Emitted]
PROGRAM = "__symgrad_program__"  #: attribute of a generated function: what gives its own IR, from which its derivative starts
#: before and after differentiating
SIMPLIFY: tuple[Pass, ...] = (fold, cse, dce, cancel)
OPTIMISE: tuple[Pass, ...] = (fold, cse, dce, hoist, fold, dce)
#: what makes NumPy code faster and its text farther from the user's; nothing is differentiated afterwards
LOWER: tuple[Pass, ...] = (forwarding, dce, kept, masks, zeroing, dce, borrow, unbox, cells, dce, reuse)
#: the same for halves of pullbacks, which have no plain form to fall back on
LOWER_HALVES: tuple[Pass, ...] = (forwarding, dce, kept, masks, zeroing, dce, borrow, unbox_plainly, cells, dce, reuse)
#: the stages whose IR is kept, in order, each with what the function is then
STAGES: dict[str, str] = {
    "lowered": "the function as the frontend has read it",
    "simplified": "what is differentiated",
    "adjoint": "both halves as they are made",
    "optimized": "what is emitted",
    "forward": "of a pullback: the half that gives the result and what is kept",
    "backward": "of a pullback: the half that gives the gradients",
}


def simplify(func: Func, passes: tuple[Pass, ...] = SIMPLIFY) -> Func:
    """Run passes in order."""
    for one in passes:
        func = checked(one(func))
    return func


def checked(func: Func) -> Func:
    """Hold a function to the IR's rules, where ``SYMGRAD_CHECK`` is set (as in our tests)."""
    if os.environ.get("SYMGRAD_CHECK"):
        verify(func)
    return func


@dataclass(slots=True)
class Job:
    """One compilation: what was asked, what was lowered, and the IR after each stage."""

    source: Source
    signature: Signature
    request: Request
    lowered: Lowered
    stages: dict[str, Func] = field(default_factory=dict)
    outside: Outside | None = None  #: the parameters of the function as it is saved

    def stage(self, name: str, func: Func) -> Func:
        assert name in STAGES
        checked(func)
        self.stages[name] = clone(func)
        return func

    # -------------------------------------------------------------- what is differentiated

    @property
    def output(self) -> Result:
        """The differentiated part of the result."""
        return self.lowered.result.items[0] if self.request.has_aux else self.lowered.result

    def check_output(self) -> None:
        """A gradient needs one number; ``has_aux`` needs a pair; nothing is asked of a function that always raises."""
        loc = self.source.loc(self.source.node)
        if self.request.has_aux and len(self.lowered.result.items) != 2:
            raise BadArgument("has_aux=True needs a function that returns (out, aux)", loc)
        if self.request.pullback or self.lowered.raises:
            return
        operands = self.lowered.func.body.yields
        if self.output.count != 1 or self.output.items:
            raise NotScalar("the output is not one number", self.result_loc())
        type_ = operands[0].type
        if not is_one_number(type_):
            raise NotScalar(f"the output is {type_}, not one number", self.result_loc())

    def result_loc(self) -> Loc:
        return self.source.loc(self.source.node)

    def inputs_of(self, name: str) -> list[tuple[int, str]]:
        """Parameters of the program that belong to an argument, with their paths."""
        found = []
        for k, (_, text) in enumerate(self.lowered.inputs):
            if text == name or text.startswith((f"{name}.", f"{name}[")):
                found.append((k, text))
        return found

    def wanted(self) -> list[int]:
        """Which parameters of the program a gradient is asked for."""
        made = []
        for name in self.request.wrt:
            made += [k for k, _ in self.inputs_of(name) if carries(self.lowered.func.params[k].type)]
        return list(dict.fromkeys(made))

    def check_active(self, func: Func, wrt: list[int], active: list[int]) -> None:
        if self.request.allow_unused or self.request.pullback or self.lowered.raises:
            return
        for group in self.signature.same:
            both = [name for name in self.request.wrt if name in group]
            if len(both) > 1:
                what = f"{both[0]} and {both[1]} are one array, and the function writes to it"
                raise UnsureAlias(what, self.parameter_loc(both[1]), "ask for the gradient of one of the two, or pass a .copy()")
        relevant = matters(func, wrt, active)
        for name in self.request.wrt:
            own = [k for k, _ in self.inputs_of(name) if k in wrt]
            if own and not any(k in relevant for k in own):
                raise NotActive(f"the result does not depend on {name}", self.parameter_loc(name))

    def parameter_loc(self, name: str) -> Loc:
        arguments = self.source.node.args
        for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]:
            if a is not None and a.arg == name:
                return self.source.loc(a)
        return self.source.loc(self.source.node)

    # -------------------------------------------------------------- the structure of results

    def gradients(self, places: dict[int, int], order: list[int]) -> Result:
        """The gradients in the structure of the arguments; ``order`` collects which results of the program they are."""
        parts = tuple(self.structure(name, name, self.signature[name], places, order) for name in self.request.wrt)
        if self.request.structure == "single":
            return parts[0]
        return sequence(parts, "(", ")")

    def structure(self, path: str, name: str, item: Abstract, places: dict[int, int], order: list[int]) -> Result:
        if not isinstance(item, Tree):
            place = next((places[k] for k, text in self.inputs_of(name) if text == path and k in places), None)
            if place is None:
                return Result("None", 0)
            order.append(place)
            return Result("{}", 1)
        spell: Callable[[Any], str] = {
            "sequence": lambda n: f"{path}[{n}]", "mapping": lambda n: f"{path}[{n!r}]",
            "named": lambda n: f"{path}.{n}", "object": lambda n: f"{path}.{n}",
        }[item.form]  # fmt: skip
        inner = tuple(self.structure(spell(n), name, i, places, order) for n, i in zip(item.names, item.items, strict=True))
        count = sum(i.count for i in inner)
        match item.form:
            case "sequence":
                return sequence(inner, *("()" if issubclass(item.kind, tuple) else "[]"))
            case "mapping":
                pairs = ", ".join(f"{safe_literal(n)}: {t.text}" for n, t in zip(item.names, inner, strict=True))
                return Result("{{" + pairs + "}}", count, inner)
        owner = self.class_name(item.kind if item.form == "named" or is_made_of(item.kind, item.names) else types.SimpleNamespace)
        if item.form == "named":
            return Result(f"{owner}({', '.join(i.text for i in inner)})", count, inner)
        return Result(f"{owner}({', '.join(f'{n}={t.text}' for n, t in zip(item.names, inner, strict=True))})", count, inner)

    def class_name(self, kind: type) -> str:
        name, number = kind.__name__, 0
        while self.lowered.objects.get(name, kind) is not kind:
            number += 1
            name = f"{kind.__name__}_{number}"
        self.lowered.objects[name] = kind
        return name


def sequence(parts: tuple[Result, ...], opened: str, closed: str) -> Result:
    """A tuple or list of results."""
    comma = "," if len(parts) == 1 and opened == "(" else ""
    return Result(f"{opened}{', '.join(p.text for p in parts)}{comma}{closed}", sum(p.count for p in parts), parts)


def is_made_of(kind: type, names: tuple[str, ...]) -> bool:
    """Can an instance be made of its attributes?"""
    return dataclasses.is_dataclass(kind) and set(names) <= {f.name for f in dataclasses.fields(kind) if f.init}


def safe_literal(value: Any) -> str:
    """The literal of a key, safe inside a template."""
    return repr(value).replace("{", "{{").replace("}", "}}")


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
    """Could a parameter of this type have a derivative?"""
    inner = type_.item if isinstance(type_, List) else type_
    return isinstance(inner, Unknown) or isinstance(inner, Scalar | Array) and inner.kind in (None, "float", "complex")


# ------------------------------------------------------------------ the pipeline


def lowered_for(function: types.FunctionType, signature: Signature, request: Request,
                notes: Notes | None = None) -> tuple[Source, Lowered]:  # fmt: skip
    """Lower a function; one that we wrote is taken from its IR, not read back from its text."""
    own = getattr(function, PROGRAM, None)
    source = read(function if own is None else inspect.unwrap(function))
    if own is not None:
        lowered: Lowered = own()
        for func in reachable(lowered.func):
            func.notes = notes
        return source, lowered
    return source, lower(source, signature, derive=derive_inside, no_grad=request.no_grad, pins=dict(request.pins), notes=notes)


def derive_inside(func: Func, wrt: list[int], value: bool, taken: set[str]) -> Func:
    """The gradient of a function that is differentiated inside another one."""
    func = simplify(func)
    check(func, wrt, [0])
    return simplify(expanded(gradient(func, wrt, value=value, taken=taken)))


@contextmanager
def collector_paused() -> Iterator[None]:
    """No search for garbage meanwhile: all that is made stays in use, and looking through it again and again takes a third of the time."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


#: what a stage raises when it meets a program that it was not made for
FAULTS = (AssertionError, LookupError, AttributeError, TypeError, ValueError, RuntimeError, StopIteration)


@collector_paused()
def compile_gradient(function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None = None) -> Compiled:
    """Generate, load and return the derivative of a function for one signature; a fault of ours is refused as such.

    ``notes`` collects what the stages tell of their decisions.
    """
    try:
        return generated(function, signature, request, notes)
    except SymgradError:
        raise
    except FAULTS as fault:
        source = read(inspect.unwrap(function))
        what = f"{source.name} could not be differentiated: {type(fault).__name__} in a stage of symgrad"
        raise InvalidIR(what, source.loc(source.node)) from fault


def generated(function: types.FunctionType, signature: Signature, request: Request, notes: Notes | None = None) -> Compiled:
    """Run the stages."""
    source, lowered = lowered_for(function, signature, request, notes)
    job = Job(source, signature, request, lowered)
    if request.primal:
        return function_itself(job)
    job.check_output()
    job.stage("lowered", lowered.func)
    primal = job.stage("simplified", simplify(lowered.func))
    seek_relations(job, primal)
    active = list(range(job.output.count))
    wrt = job.wanted()
    check(primal, wrt, active)
    job.check_active(primal, wrt, active)
    if request.pullback:
        return pullback(job, primal, wrt, active)
    keep = request.value or request.has_aux
    made = job.stage("adjoint", expanded(gradient(primal, wrt, active_results=active, value=keep, name=f"{primal.name}_grad")))
    count = len(primal.body.yields)
    if keep and not request.value:  # only the auxiliary results are returned
        del made.body.yields[: job.output.count], made.results[: job.output.count]
        count -= job.output.count
    made = job.stage("optimized", doubts(tell_kept(simplify(made, OPTIMISE))))
    places = {k: (count if keep else 0) + n for n, k in enumerate(wrt)}
    order: list[int] = list(range(count)) if request.value else []
    whole = job.gradients(places, order)
    if request.value:
        whole = sequence((lowered.result, whole), "(", ")")
    elif request.has_aux:
        order += range(count)
        whole = sequence((whole, lowered.result.items[1]), "(", ")")
    what = "value_and_grad" if request.value else "grad"
    text = numbered(whole, iter(order))
    own = partial(program, made, [text for _, text in lowered.inputs], whole, lowered, order)
    name = f"{primal.name}_{what}"
    doc = document(job, "Gradient")
    compiled = finish(job, made, lambda job: emitted_for(job, made, name, text, doc), name)
    setattr(compiled.function, PROGRAM, own)
    return jitted(job, compiled, lambda clean, surface: emit_kernel(clean("optimized"), surface), name, text, doc)


def seek_relations(job: Job, func: Func) -> None:
    """Ask for code that relies on how the extents of the arguments are related, where such code knows more shapes."""
    if job.request.read is None:
        return
    words = {symbol: text for text, symbol in extent_words(job.signature).items()}
    pins = tuple((text, 0) for text in relations(func, words) if job.request.read(text) == 0)
    if pins:
        raise Related(pins)


def function_itself(job: Job) -> Compiled:
    """The function as it was read, without a derivative; it leaves its arguments alone."""
    job.stage("lowered", job.lowered.func)
    func = job.stage("simplified", simplify(clone(job.lowered.func)))
    seek_relations(job, func)
    func = job.stage("optimized", simplify(func, OPTIMISE))
    loc = job.source.loc(job.source.node)
    doc = f"The function {job.source.name} itself.  Written by symgrad from {file_name(loc)}:{loc.line}."
    text = numbered(job.lowered.result, itertools.count())
    compiled = finish(job, func, lambda job: emitted_for(job, func, func.name, text, doc), func.name)
    return jitted(job, compiled, lambda clean, surface: emit_kernel(clean("optimized"), surface), func.name, text, doc)


def jitted(job: Job, compiled: Compiled, emission: Callable[[Callable[[str], Func], Surface], Kernel | Pair], name: str, result: str = "",
           doc: str = "") -> Compiled:  # fmt: skip
    """With ``jit``, the same as what is to be compiled by numba when it is first called."""
    if not job.request.jit or job.lowered.caught:
        return compiled

    def clean(stage: str) -> Func:
        func = simplify(to_loops(job.stages[stage]), OPTIMISE)
        func.notes = job.stages[stage].notes
        return func

    def texts(job: Job) -> Kernel | Pair:
        words: Mapping[str, str] = {} if job.outside is None else job.outside.words
        leaves = [words.get(text, text) for _, text in job.lowered.inputs]
        return emission(
            clean, Surface(name, parameter_text(job), passed_text(job), doc, leaves, result, job.lowered.objects, lines_of(job))
        )

    compiled = replace(compiled, saved=partial(compiled.saved, kernel=texts) if isinstance(compiled.saved, partial) else None)
    pending = Pending(job.source.function, compiled, partial(texts, job), job.request.jit == "auto")
    if job.lowered.func.notes is not None:
        tell_kernel(job.lowered.func.notes, pending, job.source.loc(job.source.node))
    return replace(compiled, pending=pending)


def tell_kernel(notes: Notes, pending: Pending, loc: Loc) -> None:
    """What is emitted for numba in the place of what is emitted for NumPy, or what keeps the derivative from being compiled."""
    told = notes.taken("codegen")
    made = pending.texts()
    if isinstance(made, OutOfReach):
        notes.made |= dict.fromkeys(told)
        message = f"kernels cannot hold {made.reason}, so the whole derivative runs as NumPy code"
        notes.add("numba", "uncompiled", made.loc or loc, message)


def program(func: Func, texts: list[str], result: Result, lowered: Lowered, order: list[int]) -> Lowered:
    """A function of ours as if it had just been lowered, so that it can be differentiated again."""
    copy = clone(func)
    copy.split = copy.notes = None
    copy.body.yields = [copy.body.yields[k] for k in order]
    copy.results = [copy.results[k] for k in order]
    return Lowered(copy, list(zip(copy.params, texts, strict=True)), result, lowered.captured, dict(lowered.objects), lowered.mutated,
                   lowered.caught)  # fmt: skip


def numbered(result: Result, numbers: Iterator[int]) -> str:
    """The template of a result with its leaves numbered.

    >>> numbered(Result("{{'a': {}}}", 1), iter([3]))
    "{{'a': {3}}}"
    """
    return re.sub(r"\{\{|\}\}|\{\}", lambda m: f"{{{next(numbers)}}}" if m[0] == "{}" else m[0], result.text)


def pullback(job: Job, primal: Func, wrt: list[int], active: list[int]) -> Compiled:
    """A pair of functions: forward gives the result and a closure over the residuals."""
    name = primal.name
    whole = job.stage("adjoint", expanded(gradient(primal, wrt, active_results=active, value=True, seeds=True, name=f"{name}_vjp")))
    whole = doubts(tell_kept(simplify(whole, OPTIMISE)))
    job.stage("optimized", whole)
    forward, backward = split_halves(whole)
    count = len(primal.body.yields)
    inside = ", ".join(f"{{{k}}}" for k in range(count, len(forward.body.yields)))
    result = numbered(job.lowered.result, itertools.count())
    forward, backward = job.stage("forward", simplify(forward)), job.stage("backward", simplify(backward))
    words = argument_names([v.name for v in backward.params])
    taken = ", ".join(words)
    order: list[int] = []
    gradients = job.gradients({k: n for n, k in enumerate(wrt)}, order)
    header = Header(f"{name}_backward", taken, {}, numbered(gradients, iter(order)),
                    document(job, "Backward half of the pullback"), lines_of(job), objects=job.lowered.objects)  # fmt: skip
    seeds = seed_text(job.output)
    returned = "out, pullback" if not job.request.has_aux else "out[0], pullback, out[1]"
    returns = f"({result}, ({inside}{',' if inside else ''}))"

    def emission(job: Job) -> Emitted:
        last = printed(backward, job)
        second = emit(last, replace(header, bind=dict(zip(last.params, words, strict=True))))
        first = emitted_for(job, forward, f"{name}_forward", returns, document(job, "Forward half of the pullback"))
        text = (
            f"{first.text}\n\n{second.text}\n\n"
            f"def {name}_vjp({parameter_text(job)}):\n"
            f'    """{document(job, "Value and pullback")}"""\n'
            f"    out, residuals = {name}_forward({passed_text(job)})\n\n"
            f"    def pullback(out_grad):\n"
            f"        return {name}_backward(*residuals{seeds})\n\n"
            f"    return {returned}\n"
        )
        return Emitted(text, {**first.namespace, **second.namespace}, first.line_map)

    compiled = finish(job, whole, emission, f"{name}_vjp")
    halves = Halves(
        header.name, result, header.result, [text for text in seeds.split(", ") if text], returned, document(job, "Value and pullback")
    )
    return jitted(job, compiled, lambda clean, surface: emit_pair(clean("forward"), clean("backward"), surface, halves), f"{name}_vjp")


def argument_names(hints: list[str | None]) -> list[str]:
    made: list[str] = []
    for hint in hints:
        base = "".join(c if f"t{c}".isidentifier() else "_" for c in hint or "t")
        base = word = base if base.isidentifier() and not iskeyword(base) else f"t_{base}"
        number = 0
        while word in made or word in ("np", "math"):
            number += 1
            word = f"{base}_{number}"
        made.append(word)
    return made


def seed_text(output: Result, path: str = "out_grad") -> str:
    """The seeds handed to the backward half: parts of ``out_grad`` in the structure of the output."""
    if not output.items:
        return f", {path}" if output.count else ""
    return "".join(seed_text(item, f"{path}[{k}]") for k, item in enumerate(output.items))


def document(job: Job, what: str) -> str:
    where = job.source.loc(job.source.node)
    wrt = ", ".join(job.request.wrt)
    return f"{what} of {job.source.name} with respect to {wrt}.  Written by symgrad from {file_name(where)}:{where.line}."


def file_name(where: Loc) -> str:
    """The name of a file, safe inside a docstring."""
    file = where.file.replace("\\", "/").rsplit("/", 1)[-1]
    return "".join(c for c in file if c.isalnum() or c in "._- <>")


def lines_of(job: Job) -> Callable[[str, int], str]:
    import linecache

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
    """The same parameters, handed on."""
    if job.outside is not None:
        return job.outside.passed
    parts = []
    for p in inspect.signature(job.source.function, follow_wrapped=False).parameters.values():
        parts.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{STARS.get(p.kind, '')}{p.name}")
    return ", ".join(parts)


def printed(func: Func, job: Job) -> Func:
    """A copy of a function as it is printed: for ``"speed"`` in the form that NumPy runs fastest, in a file with plain lists as tapes."""
    func = dce(unread(clone(func)))
    if job.outside is not None:
        return apart(stacks(func))
    return simplify(func, LOWER_HALVES if job.request.pullback else LOWER) if job.request.optimize == "speed" else func


def emitted_for(job: Job, func: Func, name: str, result: str, doc: str) -> Emitted:
    """Emit a function that takes the user's own parameters."""
    words: Mapping[str, str] = {} if job.outside is None else job.outside.words
    names = {*job.signature.names, *words.values()}
    func = printed(func, job)
    bind: dict[Value, str] = {}
    for value, (_, expression) in zip(func.params, job.lowered.inputs, strict=False):
        text = words.get(expression, expression)
        bind[value] = text
        if text in names:
            value.name = text
    again = f"{name}_plain({passed_text(job)})"
    return emit(
        func,
        Header(
            name,
            parameter_text(job),
            bind,
            result,
            doc,
            lines_of(job),
            objects=job.lowered.objects,
            fast=job.outside is None and job.request.optimize == "speed",
            again=again,
        ),
    )


def saved(job: Job, emission: Emission, name: str, examples: Sequence[str] | None,
          kernel: Callable[[Job], Kernel | Pair] | None = None) -> str:  # fmt: skip
    """The text of a module of its own; ``kernel`` gives that of the kernels that it is to run where numba is installed."""
    if job.lowered.caught:
        raise SaveError("it handles exceptions, which a saved derivative cannot refuse")
    function, objects = job.source.function, job.lowered.objects
    around = outside(function, [(c.text, c.value.name) for c in job.lowered.captured], objects)
    inner = replace(job, outside=around)
    primal = job.stages["simplified"]
    own = emitted_for(inner, primal, primal.name, numbered(job.lowered.result, itertools.count()), "The function itself.")
    pieces = [mentioned(own, objects), mentioned(emission(inner), objects)]
    piece = None
    if kernel is not None:
        with suppress(OutOfReach):
            piece = kernel_piece(kernel(inner), partial(tested, name=name, signature=job.signature, pins=job.request.pins))
    return module(pieces, name, primal.name, function, job.signature, job.request, examples, piece)


def mentioned(emitted: Emitted, objects: Mapping[str, Any]) -> Emitted:
    """The text with those of the user's objects that it names."""
    names = {node.id for node in ast.walk(ast.parse(emitted.text)) if isinstance(node, ast.Name)}
    return Emitted(emitted.text, {n: v for n, v in {**emitted.namespace, **objects}.items() if n in names}, emitted.line_map)


def finish(job: Job, func: Func, emission: Emission, name: str) -> Compiled:
    """Load the text and say what it depends on."""
    emitted = emission(job)
    namespace = {**emitted.namespace, **job.lowered.objects, f"{name}_plain": plain_form(job, emission, name)}
    function = load(emitted.text, name, namespace)
    if job.lowered.caught:
        function = refusing(function, job.lowered.caught)
    captured = tuple((c.text, c.abstract) for c in job.lowered.captured)
    return Compiled(function, emitted.text, func, captured, job.lowered.mutated, job.stages, partial(saved, job, emission, name),
                    job.request.pins, job.lowered.objects, partial(readable, job, emission))  # fmt: skip


def plain_form(job: Job, emission: Emission, name: str) -> Callable[..., Any]:
    """The function as it was differentiated, for where Python's numbers raise; made when it is first needed."""

    @functools.cache
    def made() -> Callable[..., Any]:
        emitted = emission(replace(job, request=replace(job.request, optimize="read")))
        return load(emitted.text, name, {**emitted.namespace, **job.lowered.objects})

    def run(*args: Any, **kwargs: Any) -> Any:
        return made()(*args, **kwargs)

    return run


def readable(job: Job, emission: Emission) -> str:
    """The text nearest to the user's statements."""
    return emission(replace(job, request=replace(job.request, optimize="read"))).text


def refusing(function: Callable[..., Any], caught: tuple[tuple[type[BaseException], Loc], ...]) -> Callable[..., Any]:
    """The user's function handles these exceptions; its derivative says that it cannot follow it there."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except tuple(kind for kind, _ in caught) as error:
            loc = next(loc for kind, loc in caught if isinstance(error, kind))
            raise CaughtException(f"{type(error).__name__} was raised where the function handles it: {error}", loc) from error

    return run


__all__ = ["STAGES", "compile_gradient", "describe", "simplify"]
