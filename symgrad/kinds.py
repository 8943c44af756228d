"""The kinds of objects that are accepted as arguments and as data, as one table; ``docs/arguments.md`` shows it.

Plain arrays and numbers of Python or NumPy are handled before this table is used. Classes of other libraries are recognised by the names
of their modules, so that nothing is imported.
"""

from __future__ import annotations

import collections.abc
import sys
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from symgrad.errors import UnknownFunction
from symgrad.location import Loc

#: accepted unchanged; converted to another class or dtype; accepted as data without a gradient; refused
Verdict = Literal["taken", "converted", "data", "refused"]
#: attributes of a class that change no result of NumPy; all others of ``ndarray`` count as overrides
HARMLESS = frozenset(
    """
    __module__ __doc__ __dict__ __weakref__ __slots__ __new__ __init__ __init_subclass__ __annotations__ __annotate__ __annotate_func__
    __firstlineno__ __static_attributes__ __qualname__ __orig_bases__ __parameters__ __repr__ __str__ __reduce__ __reduce_ex__ __setstate__
    __getstate__
    """.split()
)


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """A row: the name of the kind, its treatment, what to pass instead, and the test that recognises it."""

    name: str  #: with its article
    verdict: Verdict
    means: str  #: the conversion, or the hint what to pass instead
    is_one: Callable[[Any], bool]


def of_classes(*classes: type) -> Callable[[Any], bool]:
    """Return a test for instances of classes."""
    return lambda value: isinstance(value, classes)


def of_library(module: str, *names: str) -> Callable[[Any], bool]:
    """Return a test for instances of a library's classes, by module and class name, including derived classes."""

    def is_one(value: Any) -> bool:
        return belongs(type(value), module, names)

    return is_one


def belongs(cls: type, module: str, names: tuple[str, ...]) -> bool:
    """Whether a class or one of its bases has one of these names in a module or package; without names, any class of it."""
    return any(
        (base.__module__ == module or base.__module__.startswith(f"{module}.")) and (not names or base.__name__ in names)
        for base in cls.__mro__
    )


def any_of(*tests: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a test that accepts the values that any of several tests accepts."""
    return lambda value: any(test(value) for test in tests)


def of_dtypes(kinds: str) -> Callable[[Any], bool]:
    """Return a test for NumPy arrays and numbers by the kind of their dtype."""
    return lambda value: isinstance(value, np.ndarray | np.generic) and value.dtype.kind in kinds


def overrides(cls: type) -> tuple[str, ...]:
    """Return the attributes of ``ndarray`` or ``memmap`` that a subclass overrides.

    >>> class Signal(np.ndarray):
    ...     def power(self): return (self * self).sum()
    >>> class Scaled(np.ndarray):
    ...     def __mul__(self, other): return 2 * np.ndarray.__mul__(self, other)
    >>> overrides(Signal), overrides(Scaled)
    ((), ('__mul__',))
    """
    order = cls.__mro__
    base = next(c for c in order if c is np.memmap or c is np.ndarray)
    own = [name for c in order[: order.index(base)] for name in vars(c)]
    return tuple(n for n in dict.fromkeys(own) if n not in HARMLESS and (hasattr(base, n) or n.startswith("__")))


def is_plain_subclass(value: Any) -> bool:
    """Whether it is an array of a subclass that overrides no operation of NumPy."""
    return isinstance(value, np.ndarray) and type(value) is not np.ndarray and not overrides(type(value))


def is_long(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.char in "gG"


def is_swapped(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufc" and not value.dtype.isnative


def is_array_like(value: Any) -> bool:
    """Whether it is an object of another library that NumPy would convert to an array or dispatch to."""
    kind = type(value)
    if isinstance(value, np.ndarray | np.generic | type) or kind.__module__.split(".")[0] in ("builtins", "symgrad"):
        return False
    return any(hasattr(kind, name) for name in ("__array__", "__array_function__", "__array_interface__", "__array_priority__"))


#: the rows, in the order of recognition: the first match is an object's kind
KINDS: tuple[Kind, ...] = (
    Kind("a masked array", "refused", "x.filled(value) or x.compressed()", of_classes(np.ma.MaskedArray)),
    Kind("an np.matrix", "refused", "np.asarray(x)", of_classes(np.matrix)),
    Kind("a structured array or record", "refused", "x['name']", of_dtypes("V")),
    Kind("an np.recarray", "refused", "np.asarray(x)", of_classes(np.recarray)),
    Kind("a datetime64 or timedelta64", "refused", "(x - start) / np.timedelta64(1, 's')", of_dtypes("mM")),
    Kind("an array of objects", "refused", "x.astype(float)", of_dtypes("O")),
    Kind("an array of strings", "refused", "x.astype(float)", lambda v: isinstance(v, np.ndarray) and v.dtype.kind in "SUT"),
    Kind(
        "an array of a subclass that overrides something",
        "refused",
        "np.asarray(x)",
        lambda v: isinstance(v, np.ndarray) and type(v) is not np.ndarray and bool(overrides(type(v))),
    ),
    Kind("a big-endian array", "converted", "an array of the machine's byte order", is_swapped),
    Kind("a longdouble or clongdouble", "converted", "float64 or complex128, in which everything is computed", is_long),
    Kind("an np.memmap", "converted", "np.ndarray", of_classes(np.memmap)),
    Kind("an array of a subclass that overrides nothing", "converted", "np.ndarray", is_plain_subclass),
    Kind(
        "a pandas Series, Index or DataFrame",
        "refused",
        "x.to_numpy()",
        of_library("pandas", "Series", "Index", "DataFrame", "ExtensionArray", "NDFrame"),
    ),
    Kind("an xarray DataArray, Variable or Dataset", "refused", "x.values", of_library("xarray", "DataArray", "Variable", "Dataset")),
    Kind("a scipy.sparse array or matrix", "refused", "x.toarray()", of_library("scipy.sparse", "sparray", "spmatrix", "_spbase")),
    Kind("a torch tensor", "refused", "x.detach().numpy()", of_library("torch", "Tensor")),
    Kind(
        "a JAX array", "refused", "np.asarray(x)", any_of(of_library("jax", "Array", "Tracer"), of_library("jaxlib", "Array", "ArrayImpl"))
    ),
    Kind("a TensorFlow tensor", "refused", "x.numpy()", of_library("tensorflow", "Tensor", "EagerTensor", "Variable", "ResourceVariable")),
    Kind("a CuPy array", "refused", "x.get()", of_library("cupy", "ndarray")),
    Kind("a polars Series or DataFrame", "refused", "x.to_numpy()", of_library("polars", "Series", "DataFrame", "LazyFrame")),
    Kind("a dask array or frame", "refused", "np.asarray(x)", of_library("dask", "Array", "Series", "DataFrame")),
    Kind("a decimal.Decimal", "refused", "float(x)", of_library("decimal", "Decimal")),
    Kind("a fractions.Fraction", "data", "float(x)", of_library("fractions", "Fraction")),
    Kind("an array.array", "data", "np.asarray(x)", of_library("array", "array")),
    Kind("a memoryview", "data", "np.asarray(x)", of_classes(memoryview)),
    Kind("a range", "data", "np.arange(n, dtype=float)", of_classes(range)),
    Kind("a set or frozenset", "refused", "sorted(x)", of_classes(set, frozenset)),
    Kind("a generator or iterator", "refused", "list(x)", of_classes(collections.abc.Iterator)),
    Kind("an array of another library", "refused", "np.asarray(x)", is_array_like),
)
#: kinds recognised by methods alone: such an object may be an instance of a user's class, whose attributes are read
BY_METHODS = KINDS[-1]
#: refused as numbers, but iterated and read like other objects
OPEN = frozenset({"a set or frozenset", "a generator or iterator", BY_METHODS.name})
#: the rows of classes outside NumPy, cached
ROWS: weakref.WeakKeyDictionary[type, Kind | None] = weakref.WeakKeyDictionary()
#: combined with arrays, NumPy creates arrays of objects from it
FRACTION = next(kind for kind in KINDS if kind.name == "a fractions.Fraction")


#: modules of immutable objects: an attribute or method of such an object is read from the object when the code runs
UNCHANGING = frozenset({"datetime", "fractions", "pathlib"})


def is_unchanging(value: Any) -> bool:
    """Whether it is an immutable date, time, time span, fraction or path.

    >>> import datetime
    >>> is_unchanging(datetime.date(2020, 1, 1)), is_unchanging([1.0])
    (True, False)
    """
    return not isinstance(value, type) and type(value).__module__.partition(".")[0] in UNCHANGING


#: the slots of classes, cached
SLOTS: weakref.WeakKeyDictionary[type, tuple[types.MemberDescriptorType, ...]] = weakref.WeakKeyDictionary()


def slots_of(cls: type) -> tuple[types.MemberDescriptorType, ...]:
    """Return the slots of a class and of its bases, those of the bases first.

    >>> class Point:
    ...     __slots__ = ("x", "y")
    >>> [slot.__name__ for slot in slots_of(Point)]
    ['x', 'y']
    """
    if cls not in SLOTS:
        members = [held for base in reversed(cls.__mro__) if "__slots__" in vars(base) for held in vars(base).values()]
        SLOTS[cls] = tuple(held for held in members if isinstance(held, types.MemberDescriptorType))
    return SLOTS[cls]


#: classes of ``scipy.interpolate`` whose instances are functions of one variable, and of an order of derivative
SPLINES = ("PPoly", "BSpline", "UnivariateSpline")


def is_spline(value: Any) -> bool:
    """Whether it is a spline of SciPy, which is data where it is called."""
    interpolate = sys.modules.get("scipy.interpolate")
    return interpolate is not None and isinstance(value, tuple(getattr(interpolate, name) for name in SPLINES))


def row_of(value: Any) -> Kind | None:
    """Return the row of an object, or None.

    >>> row_of(np.ma.ones(3)).means
    'x.filled(value) or x.compressed()'
    >>> row_of(np.ones(3)), row_of("text")
    (None, None)
    """
    if isinstance(value, np.ndarray | np.generic):
        return next((kind for kind in KINDS if kind.is_one(value)), None)
    cls = type(value)
    if cls not in ROWS:
        ROWS[cls] = next((kind for kind in KINDS if kind.is_one(value)), None)
    return ROWS[cls]


def conversion(value: Any) -> str:
    """Return the conversion to append to an expression for an array or number; empty if none is needed.

    >>> conversion(np.ones(3, ">f8")), conversion(np.longdouble(1)), conversion(np.ones(3))
    (".astype('float64')", ".astype('float64')", '')
    """
    if not isinstance(value, np.ndarray | np.generic) or type(value) is np.ndarray and value.dtype.isnative and not is_long(value):
        return ""
    kind = row_of(value)
    if kind is None or kind.verdict != "converted":
        return ""
    base = ".__array__()" if isinstance(value, np.ndarray) and type(value) is not np.ndarray else ""
    dtype = native(value.dtype)
    return f"{base}.astype({dtype.name!r})" if dtype != value.dtype else base


def native(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype used for computation: in native byte order, and at most double precision."""
    wide = {"g": np.dtype(np.float64), "G": np.dtype(np.complex128)}
    return wide.get(dtype.char, dtype if dtype.isnative else dtype.newbyteorder("="))


#: attributes in which an instance of a class of distributions may differ from the one in ``scipy.stats``
OF_DISTRIBUTIONS = ("a", "b", "badvalue", "shapes")


def distribution_name(value: Any) -> str | None:
    """Return the name of a distribution in ``scipy.stats``, or of one that computes the same, or None."""
    if not type(value).__module__.startswith("scipy.stats."):
        return None
    stats: Any = sys.modules.get("scipy.stats")
    name = getattr(value, "name", None)
    own = getattr(stats, name, None) if isinstance(name, str) else None
    if own is None:
        return next((word for word in MULTIVARIATE if getattr(stats, word, None) is value), None)
    same = type(own) is type(value) and all(repr(getattr(own, word, None)) == repr(getattr(value, word, None)) for word in OF_DISTRIBUTIONS)
    return name if same else None


#: multivariate distributions, which have no name attribute
MULTIVARIATE = ("multivariate_normal", "dirichlet")


def is_closed(value: Any) -> bool:
    """Whether an object is opaque although it has attributes or items."""
    kind = row_of(value)
    return kind is not None and kind.verdict == "refused" and kind.name not in OPEN


def what_of(kind: Kind, name: str) -> str:
    """Return the message about a refused object.

    >>> what_of(KINDS[0], "weights")
    'weights is a masked array, which is not supported in computations'
    """
    return f"{name} is {kind.name}, which is not supported in computations"


def passed_instead(kind: Kind, name: str) -> str:
    """Return the hint for an argument of a kind: the value to pass instead.

    >>> passed_instead(KINDS[0], "weights")
    'pass weights.filled(value) or weights.compressed()'
    """
    text = kind.means
    for before, after in (("x.", f"{name}."), ("(x", f"({name}"), ("x[", f"{name}[")):
        text = text.replace(before, after)
    return f"pass {text}"


# ------------------------------------------------------------------ numba's callables


#: numba's classes of callables: compiled functions, elementwise functions, and those whose text
#: does not determine the result
COMPILED, VECTORIZED, REFUSED = ("Dispatcher", "CFunc"), ("DUFunc",), ("CUDADispatcher", "GUFunc", "StencilFunc")


def numba_kind(value: Any) -> str | None:
    """The class name of one of numba's callables; None for all else."""
    kind = type(value)
    if not kind.__module__.startswith("numba"):
        return None
    names = [cls.__name__ for cls in kind.__mro__]
    return next((name for name in (*REFUSED, *VECTORIZED, *COMPILED) if name in names), None)


#: the module of numba's own forms of functions of Python
OF_NUMBA = "numba.misc.special"


def as_python(value: Any) -> Any:
    """The Python function that is equivalent to a numba function: ``range`` for ``prange``; other values are unchanged."""
    if getattr(value, "__module__", None) == OF_NUMBA and getattr(value, "__name__", None) == "prange":
        return range
    return value


def declared_types(value: Any) -> list[tuple[str, ...]]:
    """The declared parameter types of a compiled function; empty if numba specialises it at the call."""
    if getattr(value, "_can_compile", True):
        return []
    return [tuple(map(str, signature.args)) for signature in value.nopython_signatures]


def converts(value: Any) -> bool:
    """Whether a compiled function declares types to which numba converts its arguments or variables."""
    return bool(getattr(value, "locals", None) or declared_types(value))


def refused(value: Any, kind: str, loc: Loc | None = None) -> UnknownFunction:
    """The refusal of a stencil or a generalized ufunc, which has no derivative, with a hint."""
    name = getattr(value, "__name__", None) or "this function"
    what = f"{name} is a {kind} of numba, whose source does not show what it computes from arrays"
    return UnknownFunction(what, loc, "declare it with symgrad.rule, or write the loop over elements in an njit function")


__all__ = ["COMPILED", "FRACTION", "KINDS", "OF_NUMBA", "REFUSED", "VECTORIZED", "Kind", "as_python", "conversion", "converts"]
__all__ += ["declared_types", "is_closed", "is_unchanging", "native", "numba_kind", "overrides", "passed_instead", "refused", "row_of"]
__all__ += ["what_of"]
