"""Disk cache: texts that an earlier process generated for the same job, found by a digest of all inputs.

The cache holds data and source texts, checked in form, never pickles; an invalid record is regenerated.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from typing import Any

from symgrad.codegen.texts import Emitted, Kernel, Pair, Tie
from symgrad.frontend.containers.results import Result
from symgrad.identity import Same
from symgrad.ir.faithful import LIBRARIES, Faithful, Plain, Unfaithful, known_object, plain_data, plain_place, plain_type
from symgrad.ir.scan import parse_type
from symgrad.ir.types import Type
from symgrad.location import Loc
from symgrad.loops.reach import OutOfReach
from symgrad.pipeline.job import Job, is_made_of, lines_of, parameter_text, passed_text
from symgrad.runtime.cache import family_of, read_record, texts_directory, write_record
from symgrad.signature import Abstract, Many, Related, Signature, Tree
from symgrad.text import is_dotted

Read = Callable[[str], Any]
#: the exceptions of reading an invalid record
MISREAD = (KeyError, IndexError, TypeError, ValueError, AttributeError, ImportError)


@dataclass(frozen=True, slots=True)
class Found:
    """Cached NumPy code: its text, the name of its function, and whether it can be differentiated again."""

    emitted: Emitted
    name: str
    again: bool


@dataclass(slots=True)
class Shelf:
    """The cache entry of one job."""

    job: Job
    place: Path
    key: str
    before: dict[str, Any] = field(init=False)  #: the objects that the frontend has named

    def __post_init__(self) -> None:
        self.before = dict(self.job.lowered.objects)

    def record(self, kind: str) -> Any:
        """The cached record, None if there is none."""
        return read_record(self.place, self.key, kind)

    def keep(self, kind: str, content: Plain) -> None:
        """Write a record, if possible."""
        write_record(self.place, self.key, kind, content)

    # -------------------------------------------------------------- NumPy code

    def numpy(self, read: Read | None) -> Found | None:
        """The NumPy code, None if it must be generated; raises Related where more specialised code exists for such arguments."""
        try:
            kept = self.record("numpy")
            relations = texts_in(kept["relations"])
            if kept["text"] is None:
                code = None
            else:
                namespace = {text_in(name): named(spec) for name, spec in kept["namespace"].items()}
                classes = {text_in(name): self.classes()[number] for name, number in kept["classes"].items()}
                emitted = Emitted(text_in(kept["text"]), namespace, self.ties(kept["ties"]))
                code = Found(emitted, text_in(kept["name"]), kept["again"] is True)
        except MISREAD:
            return None
        if read is not None:
            raise_related(relations, read)
        if code is not None:
            self.job.lowered.objects.update(classes)
        return code

    def keep_relations(self) -> None:
        """Write the relations to test on the arguments, for a job that is then compiled with pins."""
        self.keep("numpy", {"relations": list(self.job.relations), "text": None})

    def keep_numpy(self, code: Found) -> None:
        """Write the NumPy code, if every object named in its text can be identified in another process."""
        objects, classes = self.job.lowered.objects, self.classes()
        added = {name: value for name, value in objects.items() if name not in self.before}
        own = {name: value for name, value in code.emitted.namespace.items() if objects.get(name) is not value}
        numbers = {name: next((k for k, kind in enumerate(classes) if kind is value), None) for name, value in added.items()}
        known = {name: spec_of(value) for name, value in own.items()}
        if None not in numbers.values() and None not in known.values():
            content = {"relations": list(self.job.relations), "text": code.emitted.text, "name": code.name, "again": code.again}
            ties = [[tie.line, tie.loc.line - self.first] for tie in code.emitted.line_map if tie.loc.file == self.job.source.file]
            self.keep("numpy", {**content, "namespace": known, "classes": numbers, "ties": ties})

    @property
    def first(self) -> int:
        """The line on which the user's function begins."""
        return self.job.source.node.lineno

    def ties(self, kept: list[list[int]]) -> list[Tie]:
        """The origins of the lines of a text, adjusted to the function's current place in its file."""
        source = self.job.source
        pairs = [(int(line), int(place) + self.first) for line, place in kept]
        return [Tie(line, Loc(source.file, place, text=source.line(place))) for line, place in pairs]

    def classes(self) -> list[type]:
        """The classes of gradient containers: those of the arguments, in order."""
        return [types.SimpleNamespace, *(item.kind for item in trees(self.job.signature))]

    # -------------------------------------------------------------- first calls

    def compared(self) -> bool:
        """Whether an earlier process has compared these texts with the user's function, with its current text."""
        try:
            return bool(self.record("compared")["source"] == self.source())
        except MISREAD:
            return False

    def keep_compared(self) -> None:
        """Record that this process has compared them."""
        self.keep("compared", {"source": self.source()})

    def source(self) -> str:
        """A digest of the text of the user's function."""
        source = self.job.source
        lines = source.lines[source.node.lineno - 1 : source.node.end_lineno]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    # -------------------------------------------------------------- kernels

    def kernel(self) -> Kernel | Pair | OutOfReach | None:
        """The texts of the kernels, or why there are none; None if not cached."""
        try:
            kept = self.record("kernel")
            match kept["form"]:
                case "Kernel":
                    return Kernel(**read_fields(Kernel, kept))
                case "Pair":
                    return Pair(**read_fields(Pair, kept))
                case "refused":
                    return OutOfReach(text_in(kept["reason"]), None if kept["loc"] is None else read_place(kept["loc"]))
        except MISREAD:
            pass
        return None

    def keep_kernel(self, kernel: Kernel | Pair | OutOfReach) -> None:
        """Write the texts of the kernels, or why there are none."""
        if isinstance(kernel, OutOfReach):
            loc = None if kernel.loc is None else plain_place(kernel.loc)
            self.keep("kernel", {"form": "refused", "reason": kernel.reason, "loc": loc})
            return
        with contextlib.suppress(Unfaithful):
            self.keep("kernel", {"form": type(kernel).__name__, **{p.name: plain_field(getattr(kernel, p.name)) for p in fields(kernel)}})


def shelf_of(job: Job, seeking: bool) -> Shelf | None:
    """The cache entry of a job; None without a disk cache, or if the job cannot be serialised.

    It must be called before the stages run, because they change the lowered function. ``seeking``: whether more
    specialised code for related arguments may exist.
    """
    if job.lowered.caught:
        return None
    place = texts_directory()
    if place is None:
        return None
    try:
        said = [plain_job(job), seeking]
    except (Unfaithful, RecursionError):
        return None
    digest = hashlib.sha256(json.dumps(said, separators=(",", ":")).encode()).hexdigest()
    return Shelf(job, place, f"{family_of(job.source.function)}-{digest}")


def raise_related(relations: list[str], read: Read) -> None:
    """Raise a request for code specialised to those relations of extents that hold."""
    pins = tuple((text, 0) for text in relations if read(text) == 0)
    if pins:
        raise Related(pins)


# ------------------------------------------------------------------ the key


def plain_job(job: Job) -> Plain:
    """All inputs of a job's texts, as plain data; raises Unfaithful for values without a plain form."""
    faithful, lowered, request = Faithful(), job.lowered, job.request
    main = faithful.function(lowered.func)
    inputs = [[faithful.value(value), text] for value, text in lowered.inputs]
    captured = [[held.text, faithful.value(held.value)] for held in lowered.captured]
    where = plain_place(job.source.loc(job.source.node))
    line = lines_of(job)
    quoted = [[loc.file, loc.line, line(loc.file, loc.line)] for loc in faithful.places.values() if loc.line and not loc.text]
    asked = [
        list(request.wrt),
        request.structure,
        request.value,
        request.has_aux,
        request.pullback,
        request.allow_unused,
        request.strict,
        sorted(request.no_grad),
        request.optimize,
        plain_data(request.pins),
        request.jit,
        request.primal,
        request.jacobian,
        request.mode,
        request.along,
        request.forward,
        request.linear,
        plain_data(request.checkpoints),
        request.memory,
        request.holomorphic,
    ]
    return [
        main,
        faithful.plain(),
        inputs,
        captured,
        quoted,
        asked,
        [plain_result(lowered.result), list(lowered.mutated), lowered.raises, plain_objects(job), list(map(list, lowered.aliases.items()))],
        [job.source.name, where, parameter_text(job), passed_text(job)],
        [
            [[name, plain_abstract(item)] for name, item in job.signature.params],
            plain_data(job.signature.same),
            plain_data(job.signature.converted),
        ],
        None if job.target is None else numba_version(),
    ]


def plain_result(result: Result) -> Plain:
    """The structure of a result."""
    return [result.text, result.count, [plain_result(item) for item in result.items]]


def plain_objects(job: Job) -> Plain:
    """The names of external objects in texts: the library objects that they are, which are identical, and which are argument classes."""
    numbers: dict[Same, int] = {}
    kinds = [item.kind for item in trees(job.signature)]
    return [
        [name, known_object(value), numbers.setdefault(Same(value), len(numbers)), [value is kind for kind in kinds]]
        for name, value in job.lowered.objects.items()
    ]


def plain_abstract(item: Abstract) -> Plain:
    """A part of a signature, as far as texts depend on it: the content of a ``Static`` is part of the function."""
    match item:
        case Type():
            return plain_type(item)
        case Tree(kind=kind, names=names, items=items):
            said = [item.form, kind.__module__, kind.__qualname__, kind.__name__, issubclass(kind, tuple), is_made_of(kind, names)]
            return ["Tree", said, plain_data(names), [plain_abstract(inner) for inner in items]]
        case Many(kind=kind, item=inner):
            return ["Many", issubclass(kind, tuple), plain_abstract(inner)]
    return ["Static"]


def trees(signature: Signature) -> Iterator[Tree]:
    """Every container among the arguments, outermost first."""

    def inside(item: Abstract) -> Iterator[Tree]:
        if isinstance(item, Tree):
            yield item
            for inner in item.items:
                yield from inside(inner)

    for _, item in signature.params:
        yield from inside(item)


def numba_version() -> str:
    """The version of numba, without importing it."""
    loaded = sys.modules.get("numba")
    if loaded is not None:
        return str(loaded.__version__)
    from importlib.metadata import version  # imports the email package

    return version("numba")


# ------------------------------------------------------------------ records


def text_in(value: Any) -> str:
    """Check that a value is a string."""
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def texts_in(value: Any) -> list[str]:
    """Check that a value is a list of strings."""
    if not isinstance(value, list):
        raise TypeError(value)
    return [text_in(item) for item in value]


def spec_of(value: Any) -> Plain | None:
    """The record of an object named in a text: a library object by its name, a number by its value; None for other objects."""
    return ["number", plain_data(value)] if type(value) in (bool, int, float) else known_object(value)


def named(spec: Any) -> Any:
    """The module, class, function or number that a record identifies."""
    match spec:
        case ["number", bool() | int() as number]:
            return number
        case ["number", ["float", str() as digits]]:
            return float.fromhex(digits)
    home, *names = texts_in(spec)
    if not is_dotted(home) or home.partition(".")[0] not in LIBRARIES or len(names) > 1:
        raise ValueError(spec)
    module = import_module(home)
    return getattr(module, names[0]) if names else module


def plain_field(value: Any) -> Plain:
    """A field of a kernel's texts as plain data: strings, bools, numbers, types, and lists and dicts of these."""
    match value:
        case Type():
            if parse_type(str(value)) != value:
                raise Unfaithful(str(value))
            return {"type": str(value)}
        case dict():
            known = {name: spec_of(item) for name, item in value.items()}
            if None in known.values():
                raise Unfaithful("a name in a caller")
            return {"names": known}
        case list() | tuple():
            return [plain_field(item) for item in value]
    return value


def read_field(value: Any) -> Any:
    """Read a field back, lists as tuples."""
    match value:
        case {"type": str() as text}:
            return parse_type(text)
        case {"names": dict() as names}:
            return {text_in(name): named(spec) for name, spec in names.items()}
        case list():
            return [read_field(item) for item in value]
        case str() | bool() | int():
            return value
    raise TypeError(value)


def read_fields(form: type[Kernel | Pair], kept: dict[str, Any]) -> dict[str, Any]:
    """All fields of a kernel's texts, with their types checked."""
    values = {part.name: read_field(kept[part.name]) for part in fields(form)}
    for part in fields(form):
        value, kind = values[part.name], str(part.type).partition("[")[0]
        if kind == "tuple":
            values[part.name] = value = tuple(value)
        if type(value).__name__ != kind:
            raise TypeError(part.name)
    return values


def read_place(data: Any) -> Loc:
    """Read a source location back."""
    file, line, column, end, text, backward = data
    return Loc(text_in(file), int(line), int(column), int(end), text_in(text), backward is True)


__all__ = ["Found", "Shelf", "shelf_of"]
