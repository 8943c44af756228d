"""The Black-Scholes price of a European call, and all its Greeks: derivatives of one plain function up to third order."""

from __future__ import annotations

import math

import symgrad


def normal(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def price(spot: float, strike: float, rate: float, volatility: float, years: float) -> float:
    """The price of the call."""
    width = volatility * math.sqrt(years)
    d1 = (math.log(spot / strike) + (rate + 0.5 * volatility**2) * years) / width
    d2 = d1 - width
    return spot * normal(d1) - strike * math.exp(-rate * years) * normal(d2)


example_arguments = {"price": (100.0, 95.0, 0.03, 0.25, 0.75)}

#: name -> the parameters with respect to which the price is differentiated, in order, and the conventional sign
GREEKS = {
    "delta": (("spot",), 1.0),
    "vega": (("volatility",), 1.0),
    "theta": (("years",), -1.0),
    "rho": (("rate",), 1.0),
    "gamma": (("spot", "spot"), 1.0),
    "vanna": (("spot", "volatility"), 1.0),
    "charm": (("spot", "years"), -1.0),
    "volga": (("volatility", "volatility"), 1.0),
    "veta": (("volatility", "years"), -1.0),
    "speed": (("spot", "spot", "spot"), 1.0),
}


def greeks(*arguments: float) -> dict[str, float]:
    """All Greeks at one point of the market."""
    made = {}
    for name, (parameters, sign) in GREEKS.items():
        derived = price
        for parameter in parameters:
            derived = symgrad.grad(derived, wrt=parameter)
        made[name] = sign * derived(*arguments)
    return made


def main() -> None:
    arguments = example_arguments["price"]
    print(f"price  {price(*arguments):12.6f}")
    for name, value in greeks(*arguments).items():
        print(f"{name:6} {value:12.6f}")


if __name__ == "__main__":
    main()
