"""SciPy's solvers on trees of parameters: the same results as SciPy's functions with differences; refusals."""

from __future__ import annotations

import subprocess
import sys
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument, IntegerArgument

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")
from symgrad.integrations import scipy as solvers  # noqa: E402


@dataclass(frozen=True)
class Model:
    w: np.ndarray
    b: float
    name: str = "model"


class Pair(NamedTuple):
    u: np.ndarray
    k: float


def rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def of_model(model, steepness):
    x = np.concatenate((model.w.ravel(), np.array([model.b])))
    return np.sum(steepness * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


START = Model(np.full((2, 2), 0.9), 0.8)
GRADIENTS = ["CG", "BFGS", "L-BFGS-B", "TNC", "SLSQP", None]
SECOND = ["Newton-CG", "dogleg", "trust-ncg", "trust-krylov", "trust-exact", "trust-constr"]
VALUES = ["Nelder-Mead", "Powell", "COBYQA"]


@pytest.mark.parametrize("method", [*GRADIENTS, *SECOND, *VALUES])
def test_every_method_reaches_the_minimum(method: str | None) -> None:
    start = Model(np.full((2, 2), 0.99), 0.98)  # where the Hessian is positive definite, as dogleg needs
    result = solvers.minimize(of_model, start if method == "dogleg" else START, (10.0,), method)
    assert result.success
    assert isinstance(result.x, Model)
    assert result.x.name == "model"
    assert isinstance(result.x.b, float)
    np.testing.assert_allclose(result.x.w, np.ones((2, 2)), atol=2e-3)
    assert abs(result.x.b - 1.0) < 4e-3


def test_a_hundred_variables_take_fewer_calls_than_differences() -> None:
    start = np.zeros(100)
    calls = 0

    def counted(x: np.ndarray) -> Any:
        nonlocal calls
        calls += 1
        return rosenbrock(x)

    limits = {"maxiter": 10}
    by_differences = optimize.minimize(counted, start, method="L-BFGS-B", options=limits)
    ours = solvers.minimize(rosenbrock, start, method="L-BFGS-B", options=limits)
    assert abs(ours.fun - by_differences.fun) < 1e-3 * ours.fun
    assert calls > 90 * ours.nfev
    np.testing.assert_allclose(solvers.minimize(rosenbrock, start, method="L-BFGS-B").x, 1.0, atol=1e-3)


def test_the_operator_is_the_hessian() -> None:
    params = Model(np.array([[0.3, -1.0], [2.0, 0.5]]), -0.7)
    operator = solvers.hessian_operator(of_model, params, 3.0)
    vector, unravel = symgrad.ravel(params)
    dense = np.array([operator @ row for row in np.eye(vector.size)])
    gradient, step = symgrad.grad(of_model), 1e-6
    sides = [[symgrad.ravel(gradient(unravel(vector + s * row), 3.0).w)[0] for s in (-step, step)] for row in np.eye(vector.size)]
    np.testing.assert_allclose(dense[:, :4], [(right - left) / (2 * step) for left, right in sides], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(dense, dense.T)
    np.testing.assert_allclose(operator.T @ vector, dense.T @ vector)


def test_a_sparse_hessian() -> None:
    result = solvers.minimize(rosenbrock, np.zeros(8), method="trust-constr", sparsity="auto")
    np.testing.assert_allclose(result.x, 1.0, atol=1e-5)


@pytest.mark.slow
def test_kernels_compute_the_same() -> None:
    pytest.importorskip("numba")
    for method in ("BFGS", "trust-ncg"):
        plain, compiled = (solvers.minimize(rosenbrock, np.zeros(5), method=method, jit=jit) for jit in (False, True))
        np.testing.assert_allclose(plain.x, compiled.x, atol=1e-6)


# ------------------------------------------------------------------ bounds, constraints, callbacks


def area(p):
    return -p["w"] * p["h"]


def fence(p):
    return 10.0 - 2.0 * p["w"] - 2.0 * p["h"]


def test_bounds_are_trees_numbers_or_none() -> None:
    lower, upper = {"w": 0.0, "h": None}, {"w": 1.5, "h": None}
    limit = {"type": "ineq", "fun": fence}
    for bounds in ((lower, upper), (0.0, upper), (None, upper), optimize.Bounds([0.0, 0.0], [1.5, np.inf])):
        best = solvers.minimize(area, {"w": 1.0, "h": 2.0}, method="SLSQP", bounds=bounds, constraints=limit)
        np.testing.assert_allclose([best.x["w"], best.x["h"]], [1.5, 3.5])


def test_constraints_are_functions_of_trees() -> None:
    limits: list[Any] = [
        {"type": "ineq", "fun": fence},
        optimize.NonlinearConstraint(fence, 0.0, np.inf),
        optimize.LinearConstraint([[2.0, 2.0]], 0.0, 10.0),
    ]
    for limit in limits:
        best = solvers.minimize(area, {"w": 1.0, "h": 2.0}, method="SLSQP", constraints=limit)
        np.testing.assert_allclose([best.x["w"], best.x["h"]], [2.5, 2.5], atol=1e-6)


def test_callbacks_get_trees() -> None:
    seen: list[Any] = []
    results: list[Any] = []

    def told(intermediate_result: Any) -> None:
        results.append(intermediate_result)

    solvers.minimize(of_model, START, (10.0,), callback=seen.append)
    last = solvers.minimize(of_model, START, (10.0,), callback=told)
    assert isinstance(seen[-1], Model)
    assert results[-1].fun == last.fun
    np.testing.assert_array_equal(results[-1].x.w, last.x.w)


# ------------------------------------------------------------------ residuals, roots, curves


def misfit(p, t, observed):
    return {"fit": p["scale"] * np.exp(-p["rates"] * t) - observed, "prior": [0.1 * (p["scale"] - 2.0)]}


T = np.linspace(0.0, 4.0, 12)
OBSERVED = 2.0 * np.exp(-0.7 * T) + 0.01 * np.cos(17.0 * T)


@pytest.mark.parametrize(
    "settings", [{}, {"sparsity": "auto"}, {"method": "lm"}, {"method": "dogbox", "sparsity": "auto"}, {"loss": "soft_l1"}]
)
def test_least_squares_is_that_of_differences(settings: dict[str, Any]) -> None:
    fit = solvers.least_squares(misfit, {"scale": 1.0, "rates": 1.0}, (T, OBSERVED), **settings)
    theirs = {key: value for key, value in settings.items() if key != "sparsity"}
    plain = optimize.least_squares(lambda x: np.append(x[0] * np.exp(-x[1] * T) - OBSERVED, 0.1 * (x[0] - 2.0)), [1.0, 1.0], **theirs)
    np.testing.assert_allclose([fit.x["scale"], fit.x["rates"]], plain.x, rtol=1e-4)
    assert isinstance(fit.jac, np.ndarray) == ("sparsity" not in settings)


def test_bounds_of_least_squares() -> None:
    fit = solvers.least_squares(misfit, {"scale": 1.0, "rates": 0.3}, (T, OBSERVED), bounds=(0.0, {"scale": None, "rates": 0.5}))
    assert 0.4 < fit.x["rates"] <= 0.5


def chain(pair):
    return [pair.u[1:] - pair.u[:-1] ** 2 + pair.k, pair.u[0] + pair.k - 3.0, np.sum(pair.u)]


@pytest.mark.parametrize("settings", [{}, {"sparsity": "auto"}, {"method": "lm"}, {"method": "krylov"}])
def test_a_root_is_one(settings: dict[str, Any]) -> None:
    zero = solvers.root(chain, Pair(np.full(4, 0.5), 1.0), **settings)
    assert zero.success
    assert isinstance(zero.x, Pair)
    np.testing.assert_allclose(np.hstack(chain(zero.x)), 0.0, atol=1e-5)


def decay(x, p):
    return p["scale"] * np.exp(-p["rate"] * x)


@pytest.mark.parametrize("settings", [{}, {"sigma": np.linspace(1.0, 2.0, 12)}, {"bounds": (0.0, {"scale": 5.0, "rate": 1.0})}])
def test_curves_are_fitted_as_by_differences(settings: dict[str, Any]) -> None:
    best, covariance = solvers.curve_fit(decay, T, OBSERVED, {"rate": 0.9, "scale": 1.0}, **settings)
    theirs = {key: (0.0, [1.0, 5.0]) if key == "bounds" else value for key, value in settings.items()}
    plain, other = optimize.curve_fit(lambda x, rate, scale: scale * np.exp(-rate * x), T, OBSERVED, [0.9, 1.0], **theirs)
    np.testing.assert_allclose([best["rate"], best["scale"]], plain, rtol=1e-5)
    np.testing.assert_allclose(covariance, other, rtol=1e-4)


# ------------------------------------------------------------------ differential equations


def heat(t, y, speed):
    u = y["u"]
    change = np.zeros_like(u)
    change[1:-1] = u[2:] - 2.0 * u[1:-1] + u[:-2]
    return {"s": -y["s"], "u": change * speed}


def event(t, y, speed):
    return y["s"] - 0.5


event.terminal = True  # type: ignore[attr-defined]


@pytest.mark.parametrize(("method", "sparsity"), [("RK45", None), ("Radau", "auto"), ("BDF", "auto"), ("BDF", None), ("LSODA", None)])
def test_differential_equations_of_trees(method: str, sparsity: Any) -> None:
    u = np.sin(np.linspace(0.0, np.pi, 12))
    run = solvers.solve_ivp(
        heat, (0.0, 1.0), {"u": u, "s": 1.0}, method, args=(50.0,), sparsity=sparsity, events=event, rtol=1e-7, atol=1e-9
    )
    assert abs(run.t_events[0][0] - np.log(2.0)) < 1e-5
    assert run.y["s"].shape == run.t.shape
    assert run.y["u"].shape == (12, *run.t.shape)
    # the sine is an eigenvector of second differences
    rate = 50.0 * 2.0 * (1.0 - np.cos(np.pi / 11.0))
    np.testing.assert_allclose(run.y["u"][:, -1], u * np.exp(-rate * run.t[-1]), atol=1e-5)


def test_derivatives_may_come_in_another_order() -> None:
    stiff = solvers.solve_ivp(
        lambda t, y: {"b": -1000.0 * y["b"] + y["a"], "a": -y["a"]}, (0.0, 1.0), {"a": 1.0, "b": 0.0}, "BDF", rtol=1e-8, atol=1e-10
    )
    assert abs(stiff.y["a"][-1] - np.exp(-1.0)) < 1e-6
    assert abs(stiff.y["b"][-1] - np.exp(-1.0) / 999.0) < 1e-6


# ------------------------------------------------------------------ what is refused


REFUSED: list[tuple[str, Any, str, Any]] = [
    ("integers", lambda: solvers.minimize(rosenbrock, [1, 2]), "params[0] is the integer 1", lambda: solvers.minimize(area, {"w": 1.0, "h": 0.0}, tol=1e9)),
    ("no numbers", lambda: solvers.minimize(rosenbrock, {}), "params holds no float", lambda: solvers.minimize(rosenbrock, np.ones(2))),
    ("derivatives", lambda: solvers.minimize(rosenbrock, np.ones(2), jac=rosenbrock), "takes no jac", lambda: solvers.minimize(rosenbrock, np.ones(2))),
    ("sparse Hessians", lambda: solvers.minimize(rosenbrock, np.zeros(3), sparsity="auto"), "takes no sparse Hessian",
     lambda: solvers.minimize(rosenbrock, np.zeros(3), method="trust-constr", sparsity="auto")),
    ("pairs as bounds", lambda: solvers.minimize(rosenbrock, np.zeros(2), bounds=[(0, 1), (0, 2)]), "bounds is not a tuple of two",
     lambda: solvers.minimize(rosenbrock, np.zeros(2), bounds=(0, np.array([1.0, 2.0])))),
    ("bounds of another form", lambda: solvers.minimize(rosenbrock, np.zeros(2), bounds=((0, 1), (0, 2))), "the lower bound of params",
     lambda: solvers.minimize(rosenbrock, np.zeros(2), bounds=(np.zeros(2), np.ones(2)))),
    ("derivatives of constraints", lambda: solvers.minimize(area, {"w": 1.0, "h": 1.0}, method="SLSQP",
                                                            constraints={"type": "ineq", "fun": fence, "jac": fence}), "takes no jac",
     lambda: solvers.minimize(area, {"w": 1.0, "h": 1.0}, method="SLSQP", constraints={"type": "ineq", "fun": fence})),
    ("sparse Jacobians in lm", lambda: solvers.least_squares(chain, Pair(np.ones(4), 1.0), method="lm", sparsity="auto"), "takes no sparse",
     lambda: solvers.least_squares(chain, Pair(np.ones(4), 1.0), method="trf", sparsity="auto")),
    ("sparse Jacobians in broyden1", lambda: solvers.root(chain, Pair(np.ones(4), 1.0), method="broyden1", sparsity="auto"), "takes no Jacobian",
     lambda: solvers.root(chain, Pair(np.ones(4), 1.0), method="hybr", sparsity="auto")),
    ("sparse Jacobians in RK45", lambda: solvers.solve_ivp(heat, (0.0, 1.0), {"u": np.ones(3), "s": 1.0}, args=(1.0,), sparsity="auto"), "takes no sparse",
     lambda: solvers.solve_ivp(heat, (0.0, 1.0), {"u": np.ones(3), "s": 1.0}, "BDF", args=(1.0,), sparsity="auto")),
    ("states of another form", lambda: solvers.solve_ivp(lambda t, y: [1.0], (0.0, 1.0), {"s": 1.0}), "in its place is a list of 1",
     lambda: solvers.solve_ivp(lambda t, y: {"s": 1.0}, (0.0, 1.0), {"s": 1.0})),
    ("bools among residuals", lambda: solvers.least_squares(lambda p: [p, True], 1.0), "the result[1] is", lambda: solvers.least_squares(lambda p: [p, 1.0], 1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message", "way_out"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED])
def test_what_is_refused(call: Any, message: str, way_out: Any) -> None:
    with pytest.raises((BadArgument, IntegerArgument)) as refused:
        call()
    assert message in str(refused.value)
    way_out()


def test_importing_symgrad_imports_no_scipy() -> None:
    text = "import sys, symgrad, symgrad.optim; symgrad.ravel([1.0]); sys.exit('scipy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", text], check=False).returncode == 0


# ------------------------------------------------------------------ other packages


def test_iminuit() -> None:
    iminuit = pytest.importorskip("iminuit")
    vector, unravel = symgrad.ravel({"w": 1.0, "h": np.zeros(2)})

    def loss(p):
        return (p["w"] - 3.0) ** 2 + np.sum((p["h"] - p["w"]) ** 2)

    gradient = symgrad.grad(loss)
    fit = iminuit.Minuit(lambda x: loss(unravel(x)), vector, grad=lambda x: symgrad.ravel(gradient(unravel(x)))[0])
    fit.migrad()
    np.testing.assert_allclose(np.array(fit.values), 3.0, atol=1e-4)


def test_lmfit() -> None:
    lmfit = pytest.importorskip("lmfit")
    columns = symgrad.jacobian(decay, wrt="p")
    parameters = lmfit.create_params(scale=1.0, rate=1.0)

    def jacobian(values: Any) -> Any:
        blocks = columns(T, dict(values.valuesdict()))
        return np.stack([blocks[name] for name in values], axis=1)

    fit = lmfit.minimize(lambda values: decay(T, dict(values.valuesdict())) - OBSERVED, parameters, Dfun=jacobian, col_deriv=0)
    best, _ = solvers.curve_fit(decay, T, OBSERVED, {"scale": 1.0, "rate": 1.0})
    np.testing.assert_allclose([fit.params[name].value for name in ("scale", "rate")], [best["scale"], best["rate"]], rtol=1e-4)


def test_an_estimator_of_scikit_learn() -> None:
    base = pytest.importorskip("sklearn.base")

    def loss(p, x, y):
        return np.mean(np.log1p(np.exp(-(2.0 * y - 1.0) * (x @ p["w"] + p["b"])))) + 0.005 * np.sum(p["w"] ** 2)

    class Logistic(base.ClassifierMixin, base.BaseEstimator):  # type: ignore[misc, name-defined]
        def fit(self, x: Any, y: Any) -> Any:
            self.classes_ = np.unique(y)
            start = {"w": np.zeros(x.shape[1]), "b": 0.0}
            self.params_ = solvers.minimize(loss, start, (x, (y == self.classes_[1]).astype(float))).x
            return self

        def predict(self, x: Any) -> Any:
            return self.classes_[(x @ self.params_["w"] + self.params_["b"] > 0).astype(int)]

    random = np.random.default_rng(0)
    x = random.normal(size=(120, 2))
    y = (x @ np.array([2.0, -1.0]) + 0.3 > 0).astype(int)
    assert Logistic().fit(x[:80], y[:80]).score(x[80:], y[80:]) > 0.9


def test_a_likelihood_of_statsmodels() -> None:
    models = pytest.importorskip("statsmodels.base.model")
    discrete = pytest.importorskip("statsmodels.discrete.discrete_model")

    def likelihood(p, x, y):
        return np.sum(y * (x @ p) - np.exp(x @ p))

    slope, curvature = symgrad.grad(likelihood), symgrad.hessian(likelihood)

    class Poisson(models.GenericLikelihoodModel):  # type: ignore[misc, name-defined]
        def loglike(self, params: Any) -> Any:
            return likelihood(params, self.exog, self.endog)

        def score(self, params: Any) -> Any:
            return slope(params, self.exog, self.endog)

        def hessian(self, params: Any) -> Any:
            return curvature(params, self.exog, self.endog)

    random = np.random.default_rng(0)
    x = np.column_stack([np.ones(200), random.normal(size=200)])
    y = random.poisson(np.exp(x @ np.array([0.5, 0.3]))).astype(float)
    fit = Poisson(y, x).fit(start_params=np.zeros(2), method="newton", disp=False)
    own = discrete.Poisson(y, x).fit(disp=False)
    np.testing.assert_allclose(fit.params, own.params, rtol=1e-6)
    np.testing.assert_allclose(fit.bse, own.bse, rtol=1e-6)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of ArviZ and PyMC about themselves
def test_a_density_for_pymc() -> None:
    """Importing PyMC and compiling its model take most of the time."""
    pymc = pytest.importorskip("pymc")
    from pytensor import tensor
    from pytensor.graph.basic import Apply
    from pytensor.graph.op import Op

    def density(p):
        return -0.5 * np.sum(((OBSERVED[:8] - p[0]) / np.exp(p[1])) ** 2) - 8.0 * p[1] - 0.5 * np.sum(p**2)

    both = symgrad.value_and_grad(density)

    class Density(Op):  # type: ignore[misc]
        """The density and its gradient, so that one call computes the two."""

        def make_node(self, p: Any) -> Any:
            return Apply(self, [tensor.as_tensor_variable(p)], [tensor.dscalar(), tensor.dvector()])

        def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
            value, slope = both(inputs[0])
            outputs[0][0], outputs[1][0] = np.asarray(value), slope

        def L_op(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
            return [cotangents[0] * outputs[1]]

    with pymc.Model() as model:
        p = pymc.Flat("p", shape=2)
        pymc.Potential("density", Density()(p)[0])
    np.testing.assert_allclose(model.compile_dlogp()({"p": np.array([0.5, -0.2])}), symgrad.grad(density)(np.array([0.5, -0.2])))
    run = pymc.sample(draws=400, tune=400, chains=1, cores=1, progressbar=False, random_seed=1, model=model)
    best = solvers.minimize(lambda p: -density(p), np.zeros(2)).x
    assert np.max(np.abs(run.posterior["p"].mean(dim=("chain", "draw")).values - best)) < 0.3


def test_hamiltonian_monte_carlo() -> None:
    """Leapfrog steps with the gradient of a density whose mean and covariance are known (Neal 2011, section 3.3)."""
    precision = np.array([[2.0, 0.8], [0.8, 1.0]])

    def energy(p):
        x = np.array([p["a"] - 1.0, p["b"] + 2.0])
        return 0.5 * x @ precision @ x

    start, unravel = symgrad.ravel({"a": 0.0, "b": 0.0})
    both = symgrad.value_and_grad(energy)

    def at(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = both(unravel(x))
        return float(value), symgrad.ravel(gradient)[0]

    random, x, samples, step = np.random.default_rng(3), start, [], 0.35
    value, gradient = at(x)
    for _ in range(500):
        v = random.normal(size=2)
        before, place, there, slope = value + 0.5 * v @ v, x, value, gradient
        for _ in range(5):
            v = v - 0.5 * step * slope
            place = place + step * v
            there, slope = at(place)
            v = v - 0.5 * step * slope
        if np.log(random.uniform()) < before - there - 0.5 * v @ v:
            x, value, gradient = place, there, slope
        samples.append(x)
    np.testing.assert_allclose(np.mean(samples, axis=0), [1.0, -2.0], atol=0.2)
    np.testing.assert_allclose(np.cov(np.transpose(samples)), np.linalg.inv(precision), atol=0.4)


def test_results_are_scipys_own() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = solvers.minimize(rosenbrock, np.zeros(4), method="BFGS")
    theirs = optimize.minimize(symgrad.value_and_grad(rosenbrock), np.zeros(4), jac=True, method="BFGS")
    assert ours.keys() == theirs.keys()
    for name in ("x", "fun", "jac", "hess_inv", "nfev", "nit"):
        np.testing.assert_array_equal(ours[name], theirs[name])
