"""Hints for functions and methods without a rule: their replacements. ``tests/ways_out.py`` follows each hint."""

from __future__ import annotations

from typing import Any

from symgrad.errors import UnknownFunction

#: for functions that modify their argument, if no other way is known
WRITE_OUT = "replace it by statements of your own, or call it before and pass the result"
#: for functions that take a function
IN_A_LOOP = "replace it by a loop or a comprehension"
#: for functions that read the variables of a running function
NAMED = "write the expression out, or pass the values in a dict"

CUSTOM = UnknownFunction.default_hint
SAME = "use the value itself in its place"
OUTSIDE = "call it outside of the function"
DENSE = "write np.linalg.solve(A.toarray(), b)"
SQUARES = "write scipy.optimize.minimize of the sum of squares"
POINTS = "pass it symgrad.stop_gradient(x), and compute the distances to the points that it finds with np.linalg.norm"
INDICES = "pass it symgrad.stop_gradient(x): its result is indices"
SYMMETRIC = "of a symmetric matrix write w, v = np.linalg.eigh(A) and (v * np.{}(w)) @ v.T"
MASKED = "use np.where(mask, x, 0.0), and divide by the count for a mean"

#: functions and classes by public module and name
FUNCTIONS = {
    "numpy.matrix": "use an array of two axes, and @ for products",
    "numpy.nditer": "iterate over x.ravel()",
    "numpy.frompyfunc": "write np.array([f(v) for v in x])",
    "numpy.ma.array": MASKED,
    "numpy.ma.MaskedArray": MASKED,
    "numpy.ma.masked_less": MASKED,
    "numpy.ma.masked_greater": MASKED,
    "numpy.ma.masked_where": MASKED,
    "numpy.ma.masked_invalid": MASKED,
    "numpy.load": "read the file before, and pass the array as an argument",
    "numpy.polynomial.chebyshev.Chebyshev": "write np.polyfit and np.polyval",
    "asyncio.run": "write the coroutine as a plain def, and call it",
    "collections.UserDict": "use a dict",
    "collections.UserList": "use a list",
    "collections.UserString": "use a str",
    "contextlib.closing": "write try and finally, and call close() there",
    "builtins.delattr": "write del with the name, as in del point.name",
    "builtins.memoryview": SAME,
    "array.array": "use a list or np.array",
    "ctypes.c_double": SAME,
    "ctypes.c_float": SAME,
    "decimal.Decimal": SAME,
    "fractions.Fraction": SAME,
    "json.dumps": SAME,
    "pickle.dumps": SAME,
    "struct.pack": SAME,
    "weakref.ReferenceType": SAME,
    "threading.Thread": "call its function itself",
    "scipy.integrate.dblquad": "write scipy.integrate.quad of a function that calls quad",
    "scipy.interpolate.UnivariateSpline": "use scipy.interpolate.make_interp_spline, which passes through all points",
    "scipy.linalg.ldl": "of a positive definite matrix write np.linalg.cholesky",
    "scipy.linalg.logm": SYMMETRIC.format("log"),
    "scipy.linalg.lu_factor": "write np.linalg.solve in place of lu_factor and lu_solve",
    "scipy.linalg.lu": "write np.linalg.solve or np.linalg.det",
    "scipy.linalg.schur": "of a symmetric matrix write np.linalg.eigh",
    "scipy.linalg.sqrtm": SYMMETRIC.format("sqrt"),
    "scipy.ndimage.zoom": "write scipy.ndimage.map_coordinates at the new points",
    "scipy.ndimage.rotate": "write scipy.ndimage.map_coordinates at the new points",
    "scipy.ndimage.affine_transform": "write scipy.ndimage.map_coordinates at the new points",
    "scipy.optimize.curve_fit": SQUARES,
    "scipy.optimize.least_squares": SQUARES,
    "scipy.optimize.leastsq": SQUARES,
    "scipy.optimize.nnls": CUSTOM,
    "scipy.optimize.minimize_scalar": "write scipy.optimize.minimize",
    "scipy.signal.decimate": "write scipy.signal.lfilter, and take every q-th item with [::q]",
    "scipy.signal.sosfilt": "write scipy.signal.lfilter with the coefficients of butter(..., output='ba')",
    "scipy.signal.stft": "write np.fft.rfft of the windows",
    "scipy.signal.lti": "write the solution with scipy.integrate.solve_ivp",
    "scipy.sparse.diags": "write np.diag(x)",
    "scipy.sparse.linalg.spsolve": DENSE,
    "scipy.spatial.KDTree": POINTS,
    "scipy.spatial.cKDTree": POINTS,
    "scipy.spatial.ConvexHull": INDICES,
    "scipy.spatial.Delaunay": INDICES,
    "scipy.spatial.transform.Rotation": "write the matrix with np.cos and np.sin",
    "scipy.stats.gaussian_kde": "write np.mean(scipy.stats.norm.pdf(v, x, width))",
    "scipy.stats.fit": "of a normal distribution write np.mean(x) and np.std(x)",
    "scipy.stats.rvs": "draw with loc=0 and scale=1, then write loc + scale * draws",
    "scipy.stats.spearmanr": "pass it symgrad.stop_gradient(x): its derivative is zero",
    "scipy.stats.ttest_ind": "write its formula with np.mean and np.var(x, ddof=1)",
    "scipy.stats.ttest_rel": "write its formula with np.mean and np.var(x, ddof=1)",
}

#: packages whose functions of arrays have NumPy's names
ARRAY_MODULES = ("jax", "torch", "autograd", "cupy", "tensorflow")

#: methods of numbers, texts, dicts and sets by name
METHODS = {
    "as_integer_ratio": "call it before, and pass its result as an argument",
    "hex": "call it before, and pass its result as an argument",
    "throw": "send a value with send(), and test it in the generator",
    "close": "iterate over the generator to its end",
    "map": IN_A_LOOP,
    "starmap": IN_A_LOOP,
    "submit": "call the function itself",
    "apply": "call the function itself",
    "subs": "write it with NumPy, or call the function that sympy.lambdify gives outside of the function",
    "evalf": "write it with NumPy, or call the function that sympy.lambdify gives outside of the function",
    "pdf": "write the formula of the density in a function",
    "logpdf": "write the formula of the density in a function",
    "gamma": "write scipy.stats.gamma.ppf of uniform draws, as in scipy.stats.gamma.ppf(rng.random(3), a)",
    "to_bytes": "call it before, and pass its result as an argument",
}

#: functions that inspect a running function beyond its variables
OF_FRAMES = {
    "breakpoint": "leave it out; pdb.runcall(df.debug(x), x) steps through the derivative df",
    "input": "read it before, and pass it as an argument",
    "compile": "compile it before, outside of the function",
    "globals": "name the variable itself, or pass it as an argument",
    "stack": "pass the text or number that you need of its result as an argument",
}


def instead_of(function: Any) -> str | None:
    """Return the replacement for a function or class without a rule, or None.

    >>> import collections
    >>> instead_of(collections.UserDict)
    'use a dict'
    """
    module = getattr(function, "__module__", None)
    owner = getattr(function, "__self__", None)
    if module is None and owner is not None:  # a method of the generator behind the functions of ``random``
        module = owner.__module__ if isinstance(owner, type) else type(owner).__module__
    words = [word for word in (module or "").split(".") if not word.startswith("_")] or [(module or "").lstrip("_")]
    name = str(getattr(function, "__name__", ""))
    if words[0] in ARRAY_MODULES:
        return f"write np.{name}"
    heads = dict.fromkeys((name, str(getattr(function, "__qualname__", name)).partition(".")[0]))
    for count in range(len(words), 0, -1):  # the table names the public module, which may be above the one that defines it
        for head in heads:
            if (hint := FUNCTIONS.get(".".join([*words[:count], head]))) is not None:
                return hint
    return instead_of(owner) if isinstance(owner, type) else None  # a function by which a class makes its instances


__all__ = ["FUNCTIONS", "IN_A_LOOP", "METHODS", "NAMED", "OF_FRAMES", "WRITE_OUT", "instead_of"]
