"""The optimisers: each names the function that computes its step, and the state of a parameter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgrad.eager.node import switch
from symgrad.eager.tensor import Tensor
from symgrad.functional import updates
from symgrad.identity import Same
from symgrad.optimizer.lr import LRScheduler
from symgrad.optimizer.regularizers import regularizer
from symgrad.record.quiet import quietly
from symgrad.static.appending import append as append_operation
from symgrad.static.appending import create_parameter
from symgrad.static.backward import append_backward
from symgrad.static.initializers import Constant
from symgrad.static.mode import in_static_mode
from symgrad.static.parameters import ParamAttr
from symgrad.static.program import Parameter, Program, Variable, program_guard
from symgrad.static.scope import global_scope

Pairs = list[tuple[Any, Any]]


class Optimizer:
    """Base of the optimisers.

    ``learning_rate``: a number or a schedule. ``parameters``: tensors to change, for ``step()``; a program's are found by
    ``minimize``. ``weight_decay``: a coefficient or a regulariser. ``grad_clip``: a clipping of gradients.
    """

    function: Callable[..., Any]
    #: the state of a parameter: names, initial values, and whether each is one number
    memory: tuple[tuple[str, float, bool], ...] = ()

    def __init__(
        self, learning_rate: Any = 0.001, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None, name: str | None = None
    ) -> None:
        if isinstance(learning_rate, bool | str) or not isinstance(learning_rate, LRScheduler) and not hasattr(learning_rate, "__float__"):
            raise TypeError(f"learning_rate must be a number or an LRScheduler, not {type(learning_rate).__name__}")
        if grad_clip is not None and not callable(grad_clip):
            raise TypeError(f"grad_clip must be a ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm, not {type(grad_clip).__name__}")
        self.learning_rate, self.weight_decay, self.grad_clip, self.name = learning_rate, regularizer(weight_decay), grad_clip, name
        self.parameters = None if parameters is None else listed_parameters(parameters)
        self.settings: dict[str, Any] = {}
        self.remembered: dict[Same, list[np.ndarray[Any, Any]]] = {}
        self.rates: list[Variable] = []

    # ---------------------------------------------------------------- the rate

    def get_lr(self) -> float:
        """The learning rate of the next step."""
        return self.learning_rate.get_lr() if isinstance(self.learning_rate, LRScheduler) else float(self.learning_rate)

    def set_lr(self, value: float) -> None:
        """Set the learning rate; raises if a schedule determines it."""
        if isinstance(self.learning_rate, LRScheduler):
            raise RuntimeError("the learning rate follows a schedule")
        self.learning_rate = float(value)
        for rate in self.rates:
            global_scope().var(rate.name).set(np.asarray(value, rate.dtype))

    # ---------------------------------------------------------------- preparation of gradients

    def prepared(self, pairs: Pairs) -> Pairs:
        """The gradients clipped, then with the terms of regularisers added."""
        if self.grad_clip is not None:
            pairs = self.grad_clip(pairs)
        regularized = []
        for parameter, gradient in pairs:
            own = getattr(getattr(parameter, "attributes", None), "regularizer", None) or self.weight_decay
            regularized.append((parameter, gradient if own is None else own.added(gradient, parameter)))
        return regularized

    # ---------------------------------------------------------------- programs

    def minimize(
        self, loss: Any, startup_program: Program | None = None, parameters: Any = None, no_grad_set: Any = None, parameter_list: Any = None
    ) -> tuple[list[Any], Pairs]:
        """Append the gradient of ``loss`` and a step of every parameter; for tensors: ``step()`` after ``loss.backward()``."""
        if not in_static_mode():
            if not isinstance(loss, Tensor):
                raise TypeError(f"loss must be a Tensor, not {type(loss).__name__}")
            if any(argument is not None for argument in (parameters, parameter_list, no_grad_set)):
                raise ValueError("for tensors, pass parameters= when the optimiser is made")
            self.step()
            return [], [(p, p.grad) for p in self.chosen()]
        requested = parameters if parameter_list is None else parameter_list
        pairs = append_backward(loss, requested if requested is not None else self.parameters, no_grad_set)
        with program_guard(loss.program, startup_program):
            return self.apply_gradients(pairs), pairs

    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameters: Any = None, no_grad_set: Any = None, callbacks: Any = None
    ) -> Pairs:
        """Append the gradient of ``loss``."""
        pairs: Pairs = append_backward(loss, parameters if parameters is not None else self.parameters, no_grad_set, callbacks)
        return pairs

    def apply_gradients(self, params_grads: Pairs) -> list[Any]:
        """Append a step of every parameter."""
        before = len(params_grads[0][0].program.global_block().ops) if params_grads else 0
        for parameter, gradient in self.prepared(list(params_grads)):
            block = parameter.program.global_block()
            outs = [parameter]
            for part, value, single in self.memory:
                shape = [] if single else parameter.shape
                hidden = ParamAttr(trainable=False)
                name = block.program.names.new(f"{parameter.name}_{part}")
                kept = create_parameter(shape, parameter.dtype, name, hidden, default_initializer=Constant(value))
                kept.stop_gradient = True
                outs.append(kept)
            updated = append_operation(self.function, parameter, gradient, self.rate_of(parameter), *outs[1:], **self.said(parameter))
            assign(outs, updated if isinstance(updated, list) else [updated])
        return params_grads[0][0].program.global_block().ops[before:] if params_grads else []

    def rate_of(self, parameter: Parameter) -> Variable:
        """The variable that holds the learning rate, times the parameter's own factor."""
        block = parameter.program.global_block()
        factor = getattr(parameter.attributes, "learning_rate", 1.0)
        for rate in self.rates:
            if rate.program is parameter.program and rate.dtype == parameter.dtype:
                return rate if factor == 1.0 else rate * factor
        name = block.program.names.new("learning_rate")
        hidden = ParamAttr(trainable=False)
        variable = create_parameter([], parameter.dtype, name, hidden, default_initializer=Constant(self.get_lr()))
        variable.stop_gradient = True
        block.program.schedules.append((variable.name, self.get_lr))
        self.rates.append(variable)
        return variable if factor == 1.0 else variable * factor

    def said(self, parameter: Any) -> dict[str, Any]:
        """The settings of a parameter's step."""
        return self.settings

    # ---------------------------------------------------------------- tensors

    def chosen(self) -> list[Tensor]:
        """The tensors to change."""
        if self.parameters is None:
            raise ValueError("pass the tensors that are to be changed: parameters=[...]")
        return [p for p in self.parameters if not p.stop_gradient]

    def step(self) -> None:
        """Change every tensor that has a gradient."""
        rates: dict[Any, Any] = {}
        with switch(False):
            pairs = self.prepared([(p, p.grad) for p in self.chosen() if p.grad is not None])
            for parameter, gradient in pairs:
                kept = self.remembered.get(Same(parameter))
                if kept is None:
                    shape = parameter._value.shape
                    kept = [np.full(() if single else shape, value, parameter.dtype) for _, value, single in self.memory]
                if parameter.dtype not in rates:
                    rates[parameter.dtype] = np.asarray(self.get_lr(), parameter.dtype)
                rate = rates[parameter.dtype]
                value = parameter._value
                if gradient._value.shape != value.shape:
                    raise ValueError(f"the gradient of {parameter.name} has shape {gradient.shape}, and it has {parameter.shape}")
                updated = quietly(self.function, value, gradient._value, rate, *kept, **self.said(parameter))
                new, *rest = updated if isinstance(updated, tuple) else (updated,)
                parameter.hold(np.asarray(new, value.dtype))
                self.remembered[Same(parameter)] = [np.asarray(one, value.dtype) for one in rest]

    def state_dict(self) -> dict[str, Any]:
        """Return the state of each parameter by name, and that of the schedule as ``LR_Scheduler``."""
        state: dict[str, Any] = {}
        for parameter in self.parameters or ():
            for (part, _, _), value in zip(self.memory, self.remembered.get(Same(parameter), []), strict=False):
                state[f"{parameter.name}_{part}_0"] = Tensor(value.copy())
        if isinstance(self.learning_rate, LRScheduler):
            state["LR_Scheduler"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Load a state; parameters that it does not name restart."""
        for parameter in self.parameters or ():
            kept = [state_dict.get(f"{parameter.name}_{part}_0") for part, _, _ in self.memory]
            if kept and all(value is not None for value in kept):
                self.remembered[Same(parameter)] = [np.array(value, parameter.dtype) for value in kept]
        if isinstance(self.learning_rate, LRScheduler) and "LR_Scheduler" in state_dict:
            self.learning_rate.set_state_dict(state_dict["LR_Scheduler"])

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clear the gradients of all tensors."""
        for parameter in self.parameters or ():
            parameter.clear_gradient(set_to_zero)

    clear_gradients = clear_grad


def listed_parameters(parameters: Any) -> list[Any]:
    """Return the parameters as a list; raise for a single one, which would be iterated over."""
    if isinstance(parameters, Tensor | Variable | str):
        raise TypeError(f"parameters must be a list of parameters, not one {type(parameters).__name__}; write [parameter]")
    parameter_list = list(parameters)
    for place, parameter in enumerate(parameter_list):
        if not isinstance(parameter, Tensor | Variable | str):
            raise TypeError(f"parameters[{place}] must be a parameter, not {type(parameter).__name__}")
    return parameter_list


def assign(kept: list[Any], results: list[Any]) -> None:
    """Let the last operation write its results to variables, which have these values from here on and in the next run."""
    step, op = results[0].block.steps[-1], results[0].block.ops[-1]
    names = {new.name: old.name for old, new in zip(kept, results, strict=True)}
    step.outputs = tuple(names.get(name, name) for name in step.outputs)
    op.desc.outputs = [names.get(name, name) for name in op.desc.outputs]
    for new in results:
        del new.block.vars[new.name]


def only_plain(lazy_mode: bool, multi_precision: bool) -> None:
    """Refuse forms of Adam that are not there."""
    if lazy_mode or multi_precision:
        raise ValueError("lazy_mode and multi_precision are not supported")


class SGD(Optimizer):
    """A step down the gradient."""

    function = staticmethod(updates.sgd)


class Momentum(Optimizer):
    """Gradient descent with momentum."""

    function = staticmethod(updates.momentum)
    memory = updates.MEMORY["momentum"]

    def __init__(
        self,
        learning_rate: Any = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.settings = {"mu": float(momentum), "nesterov": bool(use_nesterov)}


class Adam(Optimizer):
    """Adam (Kingma and Ba 2015)."""

    function = staticmethod(updates.adam)
    memory = updates.MEMORY["adam"]

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        only_plain(lazy_mode, multi_precision)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.settings = {"beta1": float(beta1), "beta2": float(beta2), "epsilon": float(epsilon)}


class AdamW(Adam):
    """Adam with decay of the parameters themselves (Loshchilov and Hutter 2019)."""

    function = staticmethod(updates.adamw)

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: float = 0.01,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        only_plain(lazy_mode, multi_precision)
        super().__init__(learning_rate, beta1, beta2, epsilon, parameters, None, grad_clip, name=name)
        self.decay, self.decays = float(weight_decay), apply_decay_param_fun

    def said(self, parameter: Any) -> dict[str, Any]:
        """The settings of a parameter's step."""
        decays = self.decays is None or self.decays(parameter.name)
        return {**self.settings, "decay": self.decay if decays else 0.0}


class RMSProp(Optimizer):
    """RMSProp (Hinton 2012)."""

    function = staticmethod(updates.rmsprop)
    memory = updates.MEMORY["rmsprop"]

    def __init__(
        self,
        learning_rate: Any,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.settings = {"rho": float(rho), "epsilon": float(epsilon), "mu": float(momentum)}
        if centered:
            self.function = updates.rmsprop_centered  # type: ignore[assignment]
            self.memory = updates.MEMORY["rmsprop_centered"]


class Adagrad(Optimizer):
    """AdaGrad (Duchi et al. 2011)."""

    function = staticmethod(updates.adagrad)
    memory = updates.MEMORY["adagrad"]

    def __init__(
        self,
        learning_rate: Any,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self.settings = {"epsilon": float(epsilon)}
        self.memory = (("moment", float(initial_accumulator_value), False),)
