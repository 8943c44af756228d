"""Derivatives by numeric parameters: spacings, bounds, fill values, quantile ranks, shapes of distributions.

Each stands for a parameter of its own; the derivative by it is right or refused, never left out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import symgrad
from tests.against_numpy import function_of

pytest.importorskip("scipy")

HEAD = "import math\nimport numpy as np\nfrom scipy import integrate, linalg, signal, special, stats\n"
#: expressions of a number ``c`` and a vector ``x``
EXPRESSIONS = """np.quantile(x, c)|np.percentile(x, 100*c)|np.nanquantile(x, c)|np.nanpercentile(x, 90*c)|np.quantile(x, c, method='lower')
np.quantile(x, c, method='midpoint')|np.quantile(x, c, method='hazen')|np.quantile(x, c, axis=0)|np.interp(0.3, x, x, left=c)
np.interp(-9.0, np.sort(x), x, left=c)|np.interp(9.0, np.sort(x), x, right=c)|np.interp(c, [0.0, 0.5, 1.0], x[:3])
np.interp(3.3, np.sort(x), x, period=5*c)|np.interp(x, np.array([0.0, c, 3.0]), x[:3])|np.trapezoid(x, dx=c)|np.gradient(x, c)
np.gradient(x, c)[1]|np.logspace(c, 2, 3)|np.logspace(0, 1, 3, base=2+c)|np.geomspace(c, 2.0, 4)|np.linspace(c, 2, 4)
np.linspace(0, c, 4, endpoint=False)|np.linspace(0, c, 5, retstep=True)[1]|np.pad(x, 1, constant_values=c)
np.pad(x, 2, mode='linear_ramp', end_values=c)|np.std(x, ddof=c)|np.var(x, ddof=c)|np.nan_to_num(x / (x - x[0]) * 0, nan=c)
np.nan_to_num(np.array([np.inf, 1.0]) * 1.0, posinf=c)|np.linalg.norm(x, ord=1+c)|np.linalg.norm(x, 2 + c)
np.unwrap(4 * x, period=4 + c)|np.unwrap(4 * x, discont=4 + c)|np.average(x, weights=x ** c)|np.sum(x, initial=c)
np.prod(x, initial=c)|np.max(x, initial=9*c)|np.min(x, initial=-c)|np.full(3, c)|np.full_like(x, c)
np.select([x > 1], [x], default=c)|np.select([x > 1], [c], default=x)|np.piecewise(x, [x > 1], [c, 2*c])|np.where(x > 1, c, x)
np.clip(x, c, None)|np.clip(x, None, 2*c)|np.kaiser(5, 3*c)|np.fft.fftfreq(5, c)|np.fft.rfftfreq(5, c)|np.roll(x, 1) * c
np.polyval([1.0, c, 2], x)|np.polyval(x, c)|np.vander(np.array([c, 2*c]))|np.heaviside(0.0, c)|np.copysign(c, -x)|np.ldexp(c, 2)
np.frexp(c)[0]|np.modf(3.3 * c)[0]|np.divmod(x, c)[1]|np.float_power(x, c)|np.fmod(x, c)|np.remainder(x, c)|np.round(c, 1) * c
np.isclose(x, c) * c|np.diff(x, prepend=c)|np.diff(x, append=c)|np.ediff1d(x, to_end=c)|np.insert(x, 1, c)|np.append(x, c)
np.cumsum(x * c)|np.add.reduce(x, initial=c)|np.add.accumulate(x * c)|np.multiply.outer(x, c)|np.cov(x, x * c, ddof=1)
np.corrcoef(x, x ** c)|np.convolve(x, [c, 1.0])|np.tensordot(x, x * c, 1)|np.outer(x, [c, 1])|np.cross([c, 1, 2], x[:3])
np.einsum('i,->i', x, c)|np.histogram(x, bins=3, range=(0.0, 3 * c))[1]
np.histogram(x, bins=3, range=(0.0, 3 * c), density=True)[0]|np.bincount([0, 1, 1], weights=[c, 1.0, c])
np.digitize(x, [c, 2 * c]) * c|np.searchsorted(x, c) * c|np.sinc(c)|np.i0(c)|np.angle(c + 1j)|np.real_if_close(c)
np.place(x.copy(), x > 1, c) or c|np.tri(3) * c|np.eye(3) * c|np.diag([c, 1.0])|np.ones(3) * c|sum(x, c)|math.fsum([c, 1.0])
math.prod([c, 2.0], start=c)|math.dist([c, 1.0], [0.0, 0.0])|math.hypot(c, 1.0, 2.0)|math.remainder(3.0, c)|math.fmod(3.0, c)
math.modf(3.3*c)[0]|math.ldexp(c, 3)|math.frexp(c)[0]|math.copysign(c, -1.0)|math.pow(c, 1.5)|math.log(3.0, 1 + c)
math.atan2(c, 1.0)|round(c, 2) * c|divmod(3.0, c)[1]|pow(c, 2)|max(c, 0.1)|abs(-c)|c // 0.3 * c|3.0 % c|(-3.0) % c
complex(c, 1).real|float(c)|max([c, 0.1])|min(c, 9.0, key=lambda v: -v)|sorted([c, 0.1])[1]|special.logsumexp(x, b=c)
special.gammaln(c)|special.betaln(c, 2.0)|special.xlogy(x, c)|special.huber(c, x)|special.pseudo_huber(c, x)|special.expit(x * c)
stats.norm.pdf(x, c, 1 + c)|stats.norm.cdf(x, loc=c)|stats.norm.ppf(c * 0.5)|stats.gamma.pdf(x, 1 + c)|stats.expon.cdf(x, scale=c)
stats.t.logpdf(x, 3 + c)|stats.poisson.pmf(2, c)|stats.uniform.pdf(x, 0, 9 * c)|stats.beta.logpdf(0.3, 1 + c, 2)
integrate.trapezoid(x, dx=c)|integrate.simpson(x, dx=c)|signal.fftconvolve(x, [c, 1.0])|stats.lognorm.pdf(x, c)
stats.weibull_min.pdf(x, 1 + c)|linalg.expm([[c, 1.0], [0.0, c]])|linalg.toeplitz([c, 1.0])|np.ma.masked_invalid(x * c).sum()
np.fromiter([c, 2 * c], float)|np.array([c, 1], dtype=float)|np.asarray(c)|np.atleast_1d(c)|np.meshgrid([c, 1.0], x)[0]
np.ogrid[c:3.0:1.0]|np.mgrid[0:2:c]|np.r_[c, x]|np.r_[0:2:3j] * c|np.c_[x, x * c]|np.arange(c, 3.0)|np.arange(0.1, 3.0, c)
np.random.default_rng(0).normal(c, 1.0, 3)|np.random.default_rng(0).uniform(0, c, 3)|np.random.default_rng(0).normal(0.0, c)
np.random.default_rng(0).exponential(c, 2)|np.random.default_rng(0).gamma(1 + c, 1.0)
np.random.default_rng(0).standard_normal(3) * c|np.triu(x * c)|np.tile(c, 3)|np.repeat(c, 3)|np.broadcast_to(c, (3,))
np.nanstd(x * c)|np.ptp(x * c)|np.median(x * c)|np.partition(x * c, 1)|np.linalg.norm([c, 1.0])|np.spacing(c) * c
np.nextafter(c, 2.0)|np.trunc(3 * c) * c|np.fix(3 * c) * c|np.putmask(x.copy(), x > 1, c) or c|np.choose([0, 1], [c, 2 * c])
np.compress([True, False], [c, 1.0])|np.take([c, 2 * c], [1, 1])|np.block([[c, 1.0]])|np.bartlett(4) * c|np.nanmax(x * c)
np.count_nonzero(x > c) * c|np.square(c)|np.deg2rad(c)|np.maximum.reduce([c, 0.1])|np.hstack([c, x])|np.roots([1.0, -c, 0.1])
np.poly([c, 1.0])|np.polyfit(x, x ** (1 + c), 1)|np.linalg.lstsq(np.outer(x, [1.0, 2.0, 0.0][:1]), x * c, rcond=None)[0]
np.linalg.pinv([[c, 1.0], [0.0, 1.0]])|np.linalg.matrix_power(np.array([[c, 1.0], [0.0, 1.0]]), 3)|np.cumprod(x * c)
np.nancumsum(x * c)|np.trim_zeros([0.0, c])|np.unique([c, 0.1, c])|np.setdiff1d([c, 0.1], [0.1])|np.union1d([c], [0.1])
np.rot90(np.diag([c, 1.0]))|np.fft.fft([c, 1.0]).real|np.fft.irfft([c, 1.0])|np.hypot(c, x)|np.logaddexp(c, x)|np.nanprod(x * c)
np.inner(x, x * c)|np.vdot(x, x * c)|np.kron(x, [c, 1.0])"""
X = np.array([0.7, 1.9, 1.1, 2.3])


@pytest.mark.sweep(6)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("expression", [each for line in EXPRESSIONS.splitlines() for each in line.split("|")])
@pytest.mark.parametrize("number", [float, np.float64])
def test_the_derivative_by_a_parameter_is_right_or_refused(expression: str, number: Any) -> None:
    function = function_of(f"{HEAD}def f(c, x):\n    return c * 0.5 + np.sum(np.asarray({expression}) * 1.3)\n")
    c, step = number(0.83), 1e-5
    expected = (function(c + step, X.copy()) - function(c - step, X.copy())) / (2 * step)
    try:
        gradient = symgrad.grad(function, verify=False)(c, X.copy())
    except symgrad.SymgradError:
        return

    assert math.isclose(gradient, expected, rel_tol=1e-5, abs_tol=1e-5)
