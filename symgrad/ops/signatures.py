"""table: the spelling of each row in NumPy, ``math``, builtins, methods and operators: the callable's signature and the row's call.

``spelling`` makes spellings of them.
"""

from __future__ import annotations

import ast

import numpy as np

from symgrad.tables import pairs

#: keyword arguments of every ufunc
UFUNC = "/, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True"
#: ufuncs: NumPy's name and, where it differs, the row's
UFUNCS = {
    name: name
    for name in """
        fabs square reciprocal exp exp2 expm1 log log2 log10 log1p sqrt cbrt hypot logaddexp logaddexp2 sin cos tan arcsin arccos arctan
        arctan2 sinh cosh tanh arcsinh arccosh arctanh deg2rad rad2deg float_power fmod maximum minimum fmax fmin copysign heaviside sign
        floor ceil trunc rint signbit logical_and logical_or logical_xor logical_not isnan isinf isfinite gcd lcm conjugate ldexp nextafter
        spacing
    """.split()
} | {"radians": "deg2rad", "degrees": "rad2deg"}
#: ufuncs whose plain text is an operator or a builtin
OPERATORS = {
    name: name
    for name in """
        add subtract multiply divide negative positive power mod floor_divide greater greater_equal less less_equal equal not_equal
        bitwise_and bitwise_or bitwise_xor invert left_shift right_shift
    """.split()
} | {"absolute": "abs"}
#: functions of the math module and their rows
MATH = pairs(
    """
    sin:sin cos:cos tan:tan asin:arcsin acos:arccos atan:arctan atan2:arctan2 sinh:sinh cosh:cosh tanh:tanh asinh:arcsinh acosh:arccosh
    atanh:arctanh exp:exp exp2:exp2 expm1:expm1 log:log log2:log2 log10:log10 log1p:log1p sqrt:sqrt cbrt:cbrt hypot:hypot pow:power
    fabs:fabs fmod:fmod copysign:copysign degrees:rad2deg radians:deg2rad erf:erf erfc:erfc gamma:gamma lgamma:lgamma floor:floor
    ceil:ceil trunc:trunc isnan:isnan isinf:isinf isfinite:isfinite gcd:gcd lcm:lcm ldexp:ldexp nextafter:nextafter ulp:ulp
    factorial:factorial comb:comb perm:perm isqrt:isqrt
    """
)
#: functions of ``cmath``
CMATH = {name: MATH[name] for name in "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp log log10 sqrt".split()}
#: operators of the syntax, in expressions and in ``x += y``
AST_OPERATORS: dict[type[ast.AST], str] = {
    getattr(ast, node): row
    for node, row in pairs(
        """
        Add:add Sub:subtract Mult:multiply Div:divide FloorDiv:floor_divide Mod:mod Pow:power MatMult:matmul BitAnd:bitwise_and
        BitOr:bitwise_or BitXor:bitwise_xor LShift:left_shift RShift:right_shift USub:negative UAdd:positive Invert:invert Not:not_
        Gt:greater GtE:greater_equal Lt:less LtE:less_equal Eq:equal NotEq:not_equal Is:is_ IsNot:is_not In:contains NotIn:not_contains
        """
    ).items()
}

_RED = "axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True"
_AXES = "axis=axis, keepdims=keepdims"
_OF = f"a, where, initial, {_AXES}"
_EXTREME = "a, axis=None, out=None, keepdims=False, initial=None, where=True"
#: functions of NumPy: signature, call of the row
NUMPY = {
    "sum": (f"a, {_RED}", f"sum(a, {_AXES})", f"sum_of({_OF}, dtype=dtype)"),
    "prod": (f"a, {_RED}", f"prod(a, {_AXES})", f"prod_of({_OF}, dtype=dtype)"),
    "mean": (
        "a, axis=None, dtype=None, out=None, keepdims=False, *, where=True",
        f"mean(a, {_AXES})",
        f"mean_of(a, where, {_AXES}, dtype=dtype)",
    ),
    "var": (
        "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=..., mean=..., correction=...",
        f"var(a, {_AXES}, ddof=ddof)",
        f"var_of(a, {_AXES}, ddof=ddof, dtype=dtype)",
    ),
    "std": (
        "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=..., mean=..., correction=...",
        f"std(a, {_AXES}, ddof=ddof)",
        f"std_of(a, {_AXES}, ddof=ddof, dtype=dtype)",
    ),
    **dict.fromkeys(("max", "amax"), (_EXTREME, f"max(a, {_AXES})", f"max_of({_OF})")),
    **dict.fromkeys(("min", "amin"), (_EXTREME, f"min(a, {_AXES})", f"min_of({_OF})")),
    "nansum": (f"a, {_RED}", f"nansum(a, {_AXES})"),
    "nanmean": ("a, axis=None, dtype=None, out=None, keepdims=False, *, where=...", f"nanmean(a, {_AXES})"),
    "nanmax": ("a, axis=None, out=None, keepdims=False, initial=..., where=...", f"nanmax(a, {_AXES})"),
    "nanmin": ("a, axis=None, out=None, keepdims=False, initial=..., where=...", f"nanmin(a, {_AXES})"),
    "any": ("a, axis=None, out=None, keepdims=False, *, where=...", f"any(a, {_AXES})"),
    "all": ("a, axis=None, out=None, keepdims=False, *, where=...", f"all(a, {_AXES})"),
    "argmax": ("a, axis=None, out=None, *, keepdims=False", f"argmax(a, {_AXES})"),
    "argmin": ("a, axis=None, out=None, *, keepdims=False", f"argmin(a, {_AXES})"),
    "count_nonzero": ("a, axis=None, *, keepdims=False", f"count_nonzero(a, {_AXES})"),
    "cumsum": ("a, axis=None, dtype=None, out=None", "cumsum(a, axis=axis)", "cumsum_of(a, axis=axis, dtype=dtype)"),
    "cumprod": ("a, axis=None, dtype=None, out=None", "cumprod(a, axis=axis)", "cumprod_of(a, axis=axis, dtype=dtype)"),
    "clip": ("a, a_min=None, a_max=None, out=None, *, min=..., max=...", "clip(a, a_min, a_max)"),
    "sinc": ("x", "sinc(x)"),
    "i0": ("x", "i0(x)"),
    "round": ("a, decimals=0, out=None", "round(a, decimals=decimals)"),
    "around": ("a, decimals=0, out=None", "round(a, decimals=decimals)"),
    "real": ("val", "real(val)"),
    "imag": ("val", "imag(val)"),
    "nan_to_num": ("x, copy=True, nan=0.0, posinf=None, neginf=None", "nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)"),
    "median": ("a, axis=None, out=None, overwrite_input=False, keepdims=False", f"median(a, {_AXES})"),
    "isreal": ("x", "isreal(x)"),
    "iscomplex": ("x", "iscomplex(x)"),
    "isrealobj": ("x", "isrealobj(x)"),
    "iscomplexobj": ("x", "iscomplexobj(x)"),
    "astype": ("x, dtype, /, *, copy=True, device=None", "cast(x, dtype=dtype)"),
    "unwrap": ("p, discont=None, axis=-1, *, period=6.283185307179586", "unwrap(p, discont=discont, axis=axis, period=period)"),
    "take": ("a, indices, axis=None, out=None, mode='raise'", "take_items(a, indices, axis=axis)"),
    "compress": ("condition, a, axis=None, out=None", "compress(condition, a, axis=axis)"),
    "choose": ("a, choices, out=None, mode='raise'", "choose(a, *choices)"),
    "delete": ("arr, obj, axis=None", "delete(arr, obj, axis=axis)"),
    "pad": (
        "array, pad_width, mode='constant', *, constant_values=0, end_values=..., stat_length=..., reflect_type=...",
        "pad(array, width=pad_width, mode=mode, constant_values=constant_values)",
    ),
    "argwhere": ("a", "argwhere(a)"),
    "isneginf": ("x, out=None", "isneginf(x)"),
    "isposinf": ("x, out=None", "isposinf(x)"),
    "tril_indices_from": ("arr, k=0", "tril_indices_from(arr, k=k)"),
    "triu_indices_from": ("arr, k=0", "triu_indices_from(arr, k=k)"),
    "diag_indices": ("n, ndim=2", "diag_indices(n)"),
    "diag_indices_from": ("arr", "diag_indices_from(arr)"),
    "indices": ("dimensions, dtype=..., sparse=False", "indices(*dimensions)"),
    "lexsort": ("keys, axis=-1", "lexsort(*keys, axis=axis)"),
    "bartlett": ("M", "bartlett(M)"),
    "blackman": ("M", "blackman(M)"),
    "hamming": ("M", "hamming(M)"),
    "hanning": ("M", "hanning(M)"),
    "kaiser": ("M, beta", "kaiser(M, beta)"),
    "fix": ("x, out=None", "fix(x)"),
    "isclose": ("a, b, rtol=1e-05, atol=1e-08, equal_nan=False", "isclose(a, b, rtol=rtol, atol=atol)"),
    "dot": ("a, b, out=None", "dot(a, b)"),
    "matmul": (f"a, b, {UFUNC}", "matmul(a, b)"),
    "outer": ("a, b, out=None", "outer(a, b)"),
    "convolve": ("a, v, mode='full'", "convolution(a, v)"),
    "tensordot": ("a, b, axes=2", "tensordot(a, b, axes=axes)"),
    "reshape": ("a, /, shape, order='C', *, copy=None", "reshape(a, *shape)"),
    "ravel": ("a, order='C'", "ravel(a)"),
    "transpose": ("a, axes=None", "transpose(a, axes=axes)"),
    "permute_dims": ("a, axes=None", "transpose(a, axes=axes)"),
    "matrix_transpose": ("x, /", "mT(x)"),
    "swapaxes": ("a, axis1, axis2", "swapaxes(a, axis1=axis1, axis2=axis2)"),
    "moveaxis": ("a, source, destination", "moveaxis(a, source=source, destination=destination)"),
    "expand_dims": ("a, axis", "expand_dims(a, axis=axis)"),
    "squeeze": ("a, axis=None", "squeeze(a, axis=axis)"),
    "broadcast_to": ("array, shape, subok=False", "broadcast_to(array, *shape)"),
    "flip": ("m, axis=None", "flip(m, axis=axis)"),
    "fliplr": ("m", "flip(m, axis=1)"),
    "flipud": ("m", "flip(m, axis=0)"),
    "roll": ("a, shift, axis=None", "roll(a, shift, axis=axis)"),
    "sort": ("a, axis=-1, kind=None, order=None, *, stable=None", "sort(a, axis=axis)"),
    "argsort": ("a, axis=-1, kind=None, order=None, *, stable=None", "argsort(a, axis=axis)"),
    "take_along_axis": ("arr, indices, axis=-1", "take_along_axis(arr, indices, axis=axis)"),
    "concatenate": ("arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'", "concatenate(*arrays, axis=axis)"),
    "concat": ("arrays, /, axis=0, out=None, *, dtype=None, casting='same_kind'", "concatenate(*arrays, axis=axis)"),
    "stack": ("arrays, axis=0, out=None, *, dtype=None, casting='same_kind'", "stack(*arrays, axis=axis)"),
    "split": ("ary, indices_or_sections, axis=0", "split(ary, sections=indices_or_sections, axis=axis)"),
    "array_split": ("ary, indices_or_sections, axis=0", "array_split(ary, sections=indices_or_sections, axis=axis)"),
    "tile": ("A, reps", "tile(A, *reps)"),
    "repeat": ("a, repeats, axis=None", "repeat(a, repeats, axis=axis)"),
    "diag": ("v, k=0", "diag(v, k=k)"),
    "diagonal": ("a, offset=0, axis1=0, axis2=1", "diagonal(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "trace": ("a, offset=0, axis1=0, axis2=1, dtype=None, out=None", "trace(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "triu": ("m, k=0", "triu(m, k=k)"),
    "tril": ("m, k=0", "tril(m, k=k)"),
    "zeros": ("shape, dtype=float, order='C'", "zeros(*shape, dtype=dtype)"),
    "ones": ("shape, dtype=float, order='C'", "ones(*shape, dtype=dtype)"),
    "empty": ("shape, dtype=float, order='C'", "empty(*shape, dtype=dtype)"),
    "full": ("shape, fill_value, dtype=None, order='C'", "full(fill_value, *shape, dtype=dtype)"),
    "zeros_like": ("a, dtype=None, order='K', subok=True, shape=None", "zeros_as(a, dtype=dtype)"),
    "ones_like": ("a, dtype=None, order='K', subok=True, shape=None", "ones_like(a, dtype=dtype)"),
    "empty_like": ("prototype, dtype=None, order='K', subok=True, shape=None", "empty_like(prototype, dtype=dtype)"),
    "full_like": ("a, fill_value, dtype=None, order='K', subok=True, shape=None", "full_like(a, fill_value, dtype=dtype)"),
    "copy": ("a, order='K', subok=False", "array(a)"),
    "eye": ("N, M=None, k=0, dtype=float, order='C'", "eye(N, M, k=k, dtype=dtype)"),
    "identity": ("n, dtype=float", "eye(n, None, dtype=dtype)"),
    "arange": ("*bounds, dtype=None", "arange(*bounds, dtype=dtype)"),
    "linspace": ("start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0", "linspace(start, stop, num, endpoint=endpoint)"),
    "bincount": ("x, /, weights=None, minlength=0", "bincount(x, weights, minlength=minlength)"),
    "searchsorted": ("a, v, side='left', sorter=None", "searchsorted(a, v, side=side)"),
    "digitize": ("x, bins, right=False", "digitize(x, bins, right=right)"),
    "isin": ("element, test_elements, assume_unique=False, invert=False", "isin(element, test_elements)"),
    "unique": ("ar, return_index=False, return_inverse=False, return_counts=False, axis=None", "unique(ar)"),
    "flatnonzero": ("a", "flatnonzero(a)"),
    "argpartition": ("a, kth, axis=-1", "argpartition(a, kth, axis=axis)"),
    "triu_indices": ("n, k=0, m=None", "triu_indices(n, k=k)"),
    "tril_indices": ("n, k=0, m=None", "tril_indices(n, k=k)"),
    "tri": ("N, M=None, k=0, dtype=float", "tri(N, M, k=k, dtype=dtype)"),
    "array_equal": ("a1, a2, equal_nan=False", "array_equal(a1, a2)"),
    "allclose": ("a, b, rtol=1e-05, atol=1e-08, equal_nan=False", "allclose(a, b, rtol=rtol, atol=atol)"),
    "nanargmax": ("a, axis=None, out=None, *, keepdims=False", f"nanargmax(a, {_AXES})"),
    "nanargmin": ("a, axis=None, out=None, *, keepdims=False", f"nanargmin(a, {_AXES})"),
    "size": ("a", "size(a)"),
    "ndim": ("a", "ndim(a)"),
    "shape": ("a", "shape_of(a)"),
}
#: functions of numpy.linalg
LINALG = {
    "inv": ("a", "inv(a)"),
    "solve": ("a, b", "solve(a, b)"),
    "det": ("a", "det(a)"),
    "slogdet": ("a", "slogdet(a)"),
    "cholesky": ("a, /, *, upper=False", "cholesky(a)"),
    "eigh": ("a, UPLO='L'", "eigh(a)"),
    "eig": ("a", "eig(a)"),
    "pinv": ("a, rcond=None, hermitian=False, *, rtol=...", "pinv(a)"),
    "matrix_transpose": ("x, /", "mT(x)"),
    "matmul": ("x1, x2, /", "matmul(x1, x2)"),
    "outer": ("x1, x2, /", "outer(x1, x2)"),
    "tensordot": ("x1, x2, /, *, axes=2", "tensordot(x1, x2, axes=axes)"),
    "trace": ("x, /, *, offset=0, dtype=None", "trace(x, offset=offset, axis1=-2, axis2=-1)"),
    "diagonal": ("x, /, *, offset=0", "diagonal(x, offset=offset, axis1=-2, axis2=-1)"),
    "matrix_rank": ("A, tol=None, hermitian=False, *, rtol=...", "matrix_rank(A)"),
}
#: dtypes called as functions
DTYPE_CALLS = {
    getattr(np, name): dtype
    for name, dtype in pairs(
        """
        float16:f16 float32:f32 float64:f64 int8:i8 int16:i16 int32:i32 int64:i64 uint8:u8 uint16:u16 uint32:u32 uint64:u64 bool_:bool
        complex64:c64 complex128:c128
        """
    ).items()
}
#: builtins: signature, call of the row
BUILTINS = {
    "abs": ("x, /", "abs(x)"),
    "max": ("x, y, /", "maximum(x, y, via='math')"),
    "min": ("x, y, /", "minimum(x, y, via='math')"),
    "pow": ("x, y", "power(x, y)"),
    "float": ("x, /", "number(x, kind='float')"),
    "int": ("x, /", "number(x, kind='int')"),
    "bool": ("x, /", "number(x, kind='bool')"),
    "complex": ("x, /", "number(x, kind='complex')"),
}

#: methods of arrays; the first parameter is the array
METHODS = {
    name: NUMPY[name] for name in ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all", "argmax", "argmin", "cumsum", "cumprod")
} | {
    "clip": ("a, min=None, max=None, out=None", "clip(a, min, max)"),
    "dot": ("a, b, out=None", "dot(a, b)"),
    "copy": ("a, order='C'", "copy(a)"),
    "item": ("a, *args", "item(a, *args)"),
    "take": ("a, indices, axis=None, out=None, mode='raise'", "take_items(a, indices, axis=axis)"),
    "compress": ("a, condition, axis=None, out=None", "compress(condition, a, axis=axis)"),
    "choose": ("a, choices, out=None, mode='raise'", "choose(a, *choices)"),
    "round": ("a, decimals=0, out=None", "round(a, decimals=decimals)"),
    "conj": ("a", "conjugate(a)"),
    "conjugate": ("a", "conjugate(a)"),
    "argpartition": ("a, kth, axis=-1", "argpartition(a, kth, axis=axis)"),
    "astype": ("a, dtype, order='K', casting='unsafe', subok=True, copy=True", "cast(a, dtype=dtype)"),
    "reshape": ("a, *shape, order='C', copy=None", "reshape(a, *shape)"),
    "ravel": ("a, order='C'", "ravel(a)"),
    "flatten": ("a, order='C'", "flatten(a)"),
    "transpose": ("a, *axes", "transpose(a, axes=axes)"),
    "swapaxes": ("a, axis1, axis2", "swapaxes(a, axis1=axis1, axis2=axis2)"),
    "squeeze": ("a, axis=None", "squeeze(a, axis=axis)"),
    "repeat": ("a, repeats, axis=None", "repeat(a, repeats, axis=axis)"),
    "diagonal": ("a, offset=0, axis1=0, axis2=1", "diagonal(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "trace": ("a, offset=0, axis1=0, axis2=1, dtype=None, out=None", "trace(a, offset=offset, axis1=axis1, axis2=axis2)"),
    "argsort": ("a, axis=-1, kind=None, order=None, *, stable=None", "argsort(a, axis=axis)"),
    "searchsorted": ("a, v, side='left', sorter=None", "searchsorted(a, v, side=side)"),
}
#: attributes of arrays
ATTRIBUTES = pairs("shape:shape_of(a) T:transpose(a) mT:mT(a) size:size(a) ndim:ndim(a) real:real(a) imag:imag(a)")

#: quadrature rules: nodes and weights, by module of ``numpy.polynomial``
QUADRATURE = {"leggauss": "legendre", "hermgauss": "hermite", "hermegauss": "hermite_e", "laggauss": "laguerre", "chebgauss": "chebyshev"}

#: functions of ``scipy.special``: operands, call of the row
SCIPY_SPECIAL = {
    name: (operands, f"{row or name}({operands})")
    for operands, names in {
        "x": """
            exp2 expm1 log1p cbrt i0:bessel_i0 i1:bessel_i1 j0:bessel_j0 j1:bessel_j1 y0:bessel_y0 y1:bessel_y1 k0:bessel_k0 k1:bessel_k1
            erfinv erfcinv erfcx erfi dawsn wofz ndtr log_ndtr ndtri ndtri_exp expit logit log_expit entr i0e i1e k0e k1e exp1 expi exp10
            exprel cosm1 spence ellipk ellipe loggamma wrightomega
        """,
        "x, y": "xlogy xlog1py rel_entr kl_div powm1 binom",
        "v, z": "jv:bessel_j yv:bessel_y iv:bessel_iv kv:bessel_k ive jve yve kve hankel1 hankel2 hyp0f1",
        "x, lmbda": "boxcox boxcox1p inv_boxcox inv_boxcox1p",
        "a, x": "gammainc gammaincc gammaincinv gammainccinv",
        "a, b, x": "betainc betaincc betaincinv betainccinv hyp1f1 hyperu",
        "n, x": "expn eval_legendre eval_chebyt eval_chebyu eval_hermite eval_hermitenorm eval_laguerre",
        "n, a, x": "eval_gegenbauer eval_genlaguerre",
        "phi, m": "ellipkinc ellipeinc",
        "z, m": "poch",
        "h, a": "owens_t",
        "a, b, c, z": "hyp2f1",
        "n, a, b, x": "eval_jacobi",
        "df, t": "stdtr",
        "df, p": "stdtrit",
    }.items()
    for name, row in pairs(names).items()
} | {name: ("x", f"{row or name}(x, via='scipy')") for name, row in pairs("erf erfc gamma gammaln:lgamma psi:digamma digamma").items()}
