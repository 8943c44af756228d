"""Pickles functions: by name where another process can import them, else by value with their source text.

Pickling by value uses cloudpickle, which stores the function's code, globals and cells. The pickle also holds the source text of the code
and the declarations (``rules``) of the functions that it calls.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import io
import linecache
import pickle
import sys
import threading
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from symgrad.errors import CloudpickleMissing, SourceNotFound
from symgrad.frontend.text.matching import KEPT, same_code
from symgrad.frontend.text.source import describe, plain_function, text_of
from symgrad.identity import Same
from symgrad.ops.declarations import DECLARATIONS, DECLARED, Declaration
from symgrad.runtime.batches import BATCH, Batch
from symgrad.runtime.load import imported

#: names of the module that is the program; each process has another one. ``multiprocessing`` imports that of its parent by the second
MAIN = ("__main__", "__mp_main__")
#: packages whose functions do not depend on the user's program
LIBRARIES = frozenset({"numpy", "scipy", "symgrad", *sys.stdlib_module_names}) - {"__main__"}


@dataclass(frozen=True, slots=True)
class Named:
    """A function that another process can import; ``rules`` are declarations that the import does not repeat."""

    module: str
    qualname: str
    rules: bytes | None = None


@dataclass(frozen=True, slots=True)
class Carried:
    """A function by value, as cloudpickle bytes."""

    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class OfBatch:
    """A batched function in a pickle: the function for one example, or its placeholder, and the axes."""

    function: Any
    in_axes: Any
    out_axes: Any


Reference = Named | Carried | OfBatch


@dataclass(frozen=True, slots=True)
class Rule:
    """A user's declaration and its function, or the name of the module whose import repeats it."""

    function: Any
    declaration: Declaration | None
    module: str = ""


# ------------------------------------------------------------------ pickling


def refer(function: types.FunctionType, outer: Any) -> Reference:
    """Return the placeholder of a function in a pickle; raise CloudpickleMissing if it must be pickled by value and cannot.

    ``outer`` is the cloudpickle module that is pickling, or None for plain pickle.
    """
    batch: Batch | None = getattr(function, BATCH, None)
    if batch is not None:
        of = refer(batch.function, outer) if isinstance(batch.function, types.FunctionType) else batch.function
        return OfBatch(of, batch.in_axes, batch.out_axes)
    if is_importable(function):
        rules = foreign_rules([function], function.__module__)
        return Named(function.__module__, function.__qualname__, dumped(None, function, outer, rules) if rules else None)
    return Carried(dumped(function, function, outer))


def writer(caller: types.FrameType | None) -> Any:
    """Return the cloudpickle module that is reducing an object (there may be several), or None for other picklers."""
    while caller is not None and str(caller.f_globals.get("__name__", "")).startswith("symgrad."):
        caller = caller.f_back
    name = "" if caller is None else str(caller.f_globals.get("__name__", ""))
    module = sys.modules.get(name) if name.endswith("cloudpickle") else None
    return module if hasattr(module, "Pickler") else None


def is_importable(value: types.FunctionType | type) -> bool:
    """Whether another process can import the same function or class under its name."""
    module = value.__module__
    if module in MAIN or module is None or is_registered(module):
        return False
    try:
        return find(module, value.__qualname__) is value
    except (ImportError, AttributeError, SourceNotFound):
        return False


def is_registered(module: str) -> bool:
    """Whether the user registered this module for pickling by value (``cloudpickle.register_pickle_by_value``)."""
    cloudpickle: Any = sys.modules.get("cloudpickle")
    registered = cloudpickle.list_registry_pickle_by_value() if cloudpickle is not None else ()
    return any(module == name or module.startswith(f"{name}.") for name in registered)


def find(module: str, qualname: str) -> Any:
    """Return the function or class of that name in a module, importing the module if necessary."""
    member: Any = sys.modules.get(module) or importlib.import_module(module)
    for part in qualname.split("."):
        member = inspect.getattr_static(member, part) if isinstance(member, type) else getattr(member, part)
    return member if isinstance(member, type) else plain_function(member)


def dumped(value: Any, about: types.FunctionType | type, outer: Any = None, rules: Sequence[Rule] = ()) -> bytes:
    """Pickle a value, the rules that it relies on, and the texts of all functions pickled by value."""
    try:
        cloudpickle = outer or imported("cloudpickle")
    except ImportError:
        what = f"{describe(about)} cannot be imported by another process, so it travels by value, which needs cloudpickle"
        raise CloudpickleMissing(what) from None
    main: Any = sys.modules.get("__main__")
    if getattr(main, "__name__", "") == "__mp_main__":  # the main module of a spawned process: no other process has it under that name
        cloudpickle.register_pickle_by_value(main)
    stream = io.BytesIO()
    pickler = pickler_class(cloudpickle, classes_by_name=outer is None)(stream)
    pickler.dump(value)
    written = 0
    while rules or written < len(pickler.by_value):  # a rule may hold further functions, which rely on further rules
        new, written = pickler.by_value[written:], len(pickler.by_value)
        pickler.dump([*rules, *rules_of(new)])
        rules = ()
    pickler.dump(None)
    functions = [value for value in pickler.by_value if isinstance(value, types.FunctionType)]
    pickler.dump((functions, texts_of(functions)))
    return stream.getvalue()


def texts_of(functions: Sequence[types.FunctionType]) -> dict[str, str]:
    """Return the source files of these functions."""
    texts: dict[str, str] = {}
    for function in functions:
        file = function.__code__.co_filename
        text = None if file in texts else text_of(function)
        if text is not None:
            texts[file] = text
    return texts


WITHIN = threading.local()  #: ``classes``: those that are being written by value, outermost first


def pickler_class(cloudpickle: Any, classes_by_name: bool) -> Any:
    """Return the pickler class that pickles functions of the program by value, and records these and all declared objects.

    ``classes_by_name``: with plain pickle, instances of the program's classes are unpickled as instances of the receiving program's own
    classes; cloudpickle pickles classes by value and recognises them.
    """

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        def __init__(self, stream: io.BytesIO) -> None:
            super().__init__(stream)
            self.by_value: list[Any] = []
            self.declared = {Same(value) for value in DECLARATIONS}

        def reducer_override(self, obj: Any) -> Any:
            by_value = getattr(type(obj), "__symgrad_reduce__", None)
            if by_value is not None:
                return by_value(obj)
            if isinstance(obj, types.CodeType):
                return code_of_file, (obj.co_filename, *self.dispatch_table[types.CodeType](obj)[:2])
            if classes_by_name and isinstance(obj, type) and obj.__module__ in MAIN and obj not in within() and is_named(obj):
                return class_reduced(obj)
            reduced = super().reducer_override(obj)
            by_name = isinstance(obj, NAMED_KINDS) and reduced is NotImplemented
            if not by_name and (isinstance(obj, types.FunctionType) or Same(obj) in self.declared):
                self.by_value.append(obj)
            return reduced

    return Pickler


def code_of_file(file: str, make: Callable[..., types.CodeType], arguments: tuple[Any, ...]) -> types.CodeType:
    """Return code with the name of its file, which locates its text; cloudpickle 3.1.3 and later omit the name."""
    return make(*arguments).replace(co_filename=file)


def within() -> list[type]:
    """Return the classes that this thread is pickling by value."""
    if not hasattr(WITHIN, "classes"):
        WITHIN.classes = []
    classes: list[type] = WITHIN.classes
    return classes


def is_named(kind: type) -> bool:
    """Whether the program can look up a class by its name."""
    try:
        return find(kind.__module__, kind.__qualname__) is kind
    except (AttributeError, SourceNotFound):
        return False


def class_reduced(kind: type) -> tuple[Any, ...]:
    """Reduce a class of the program: to the same class of the receiving program if it has one, else to this class by value."""
    within().append(kind)
    try:
        return own_or_carried, (kind.__qualname__, dumped(kind, kind))
    finally:
        within().pop()


# ------------------------------------------------------------------ rules


def rules_of(values: Sequence[Any]) -> list[Rule]:
    """Return the declarations about callables pickled by value, and about those that they may call."""
    declared = {Same(value) for value in DECLARATIONS}
    own = [Rule(value, DECLARATIONS[value]) for value in values if Same(value) in declared]
    return [*own, *foreign_rules([value for value in values if isinstance(value, types.FunctionType)], "")]


def foreign_rules(functions: list[types.FunctionType], home: str) -> list[Rule]:
    """Return declarations about callees pickled by name, except those that importing module ``home`` repeats."""
    reached = reached_objects(functions) if DECLARATIONS else {}
    rules: list[Rule] = []
    for function, declaration in DECLARATIONS.items():
        if declaration.module in ("", home) or Same(function) not in reached:
            continue
        if declaration.module not in MAIN and declaration.module in sys.modules:
            rules.append(Rule(None, None, declaration.module))
        elif isinstance(function, NAMED_KINDS) and (not isinstance(function, types.FunctionType) or is_importable(function)):
            rules.append(Rule(function, declaration))
    return rules


def reached_objects(functions: list[types.FunctionType]) -> dict[Same, Any]:
    """Return the objects that the functions name, directly or through other functions and classes of the user, by identity."""
    reached: dict[Same, Any] = {}
    waiting: list[tuple[Any, list[str]]] = [(function, []) for function in functions]
    while waiting:
        value, names = waiting.pop()
        if Same(value) in reached and not isinstance(value, types.ModuleType):
            continue
        reached[Same(value)] = value
        users = (getattr(value, "__module__", None) or "").partition(".")[0] not in LIBRARIES
        if isinstance(value, types.ModuleType):  # of which the function may name an attribute
            waiting += [(vars(value)[name], [other for other in names if other != name]) for name in names if name in vars(value)]
        elif isinstance(value, types.FunctionType) and users:
            names = names_in(value.__code__)
            waiting += [(cell.cell_contents, names) for cell in value.__closure__ or () if not is_empty(cell)]
            waiting += [(value.__globals__[name], names) for name in names if name in value.__globals__]
        elif isinstance(value, type) and users:
            waiting += [(member, []) for member in vars(value).values() if isinstance(member, types.FunctionType)]
        if isinstance(inner := getattr(value, "__wrapped__", None), types.FunctionType):
            waiting.append((inner, []))
    return reached


#: kinds of objects that are pickled by name if they can be imported
NAMED_KINDS = (types.FunctionType, types.BuiltinFunctionType, type, np.ufunc)


def is_empty(cell: types.CellType) -> bool:
    """Whether the variable of a cell is unbound."""
    try:
        return cell.cell_contents is None
    except ValueError:
        return True


def declare_again(rules: list[Rule]) -> None:
    """Repeat the declarations that this process lacks."""
    for rule in rules:
        if rule.declaration is None:
            importlib.import_module(rule.module)
        elif rule.function not in DECLARED:
            rule.declaration.declare(rule.function, *rule.declaration.arguments)


# ------------------------------------------------------------------ unpickling

#: functions unpickled by value and still in use, by a digest of their bytes, so that nothing is compiled twice
RESTORED: weakref.WeakValueDictionary[str, types.FunctionType] = weakref.WeakValueDictionary()
#: ``finish``: actions that this thread runs after a pickle has been read completely
LOADING = threading.local()


def resolve(reference: Reference) -> types.FunctionType:
    """Return the function that a pickle refers to; equal bytes return the same function while it is in use."""
    if isinstance(reference, Named):
        function: types.FunctionType = find(reference.module, reference.qualname)
        if reference.rules is not None:
            loaded(reference.rules)
        return function
    if isinstance(reference, OfBatch):
        of = resolve(reference.function) if isinstance(reference.function, Reference) else reference.function
        written: types.FunctionType = imported("symgrad.batching").written(of, reference.in_axes, reference.out_axes)
        return written
    digest = hashlib.sha256(reference.data).hexdigest()
    known = RESTORED.get(digest)
    if known is None:
        known = RESTORED[digest] = loaded(reference.data)
    return known


def loaded(data: bytes) -> Any:
    """Unpickle the bytes of ``dumped``, and register its texts and rules."""
    outer, LOADING.finish = getattr(LOADING, "finish", None), []
    try:
        unpickler = pickle.Unpickler(io.BytesIO(data))
        value, rules = unpickler.load(), []
        while (more := unpickler.load()) is not None:
            rules += more
        functions, texts = unpickler.load()
        for file, text in texts.items():
            if not linecache.getlines(file):
                linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        for function in functions:
            function.__globals__.setdefault(KEPT, {}).update(texts)
        declare_again(rules)
        for step in LOADING.finish:
            step()
    finally:
        LOADING.finish = outer
    return value


def when_loaded(step: Callable[[], None]) -> None:
    """Run an action once the functions of this pickle are complete; during unpickling they may be incomplete."""
    LOADING.finish.append(step)


def own_or_carried(qualname: str, data: bytes) -> type:
    """Return this program's class if its code equals that of the pickled class, else the pickled class."""
    carried: type = loaded(data)
    try:
        own = find("__main__", qualname)
    except (AttributeError, SourceNotFound):
        return carried
    return own if isinstance(own, type) and is_written_alike(own, carried) else carried


def is_written_alike(one: type, other: type) -> bool:
    """Whether two classes have the same members with the same code."""
    ours, theirs = ({name: value for name, value in vars(kind).items() if is_written(name, value)} for kind in (one, other))
    return ours.keys() == theirs.keys() and all(
        same_code(value.__code__, theirs[name].__code__)
        for name, value in ours.items()
        if isinstance(value, types.FunctionType) and isinstance(theirs[name], types.FunctionType)
    )


def is_written(name: str, value: Any) -> bool:
    """Whether the user wrote this member of a class. Members that Python adds differ between versions, and cloudpickle omits them."""
    added = name.startswith("__") and name.endswith("__") and not isinstance(value, types.FunctionType)
    return not added and name not in ("_abc_impl", "__annotate__", "__annotate_func__")


def names_in(code: types.CodeType) -> list[str]:
    """Yield every global and attribute that a code object and its nested code objects name, in order."""
    inner = [name for const in code.co_consts if isinstance(const, types.CodeType) for name in names_in(const)]
    return list(dict.fromkeys([*code.co_names, *inner]))
