"""table: Bessel functions of ``scipy.special``, their relatives and Airy functions, of real order; the order itself has no derivative.

Partials: DLMF 10.6(i), 10.29(i) and 10.51, and 9.2.1 for Airy functions; scaled functions by the rule for products.
"""

from __future__ import annotations

from symgrad.ops.rows.special import special

__all__: list[str] = []


def of_order(text: str, scipy: str | None = None, dx: str = "") -> None:
    """Declare a function of an order and a number."""
    name = scipy or text.partition("(")[0]
    special(text, scipy, dn=f"no_slope(n, of='the order of {name}')", dx=dx)


# ------------------------------------------------------------------ of the orders 0 and 1

special("bessel_j0(x)", "j0", dx="-bessel_j1(x)")
special("bessel_j1(x)", "j1", dx="0.5 * (bessel_j0(x) - bessel_j(2, x))")
special("bessel_y0(x)", "y0", dx="-bessel_y1(x)")
special("bessel_y1(x)", "y1", dx="bessel_y0(x) - out / x")
special("bessel_i0(x)", "i0", dx="bessel_i1(x)")
special("bessel_i1(x)", "i1", dx="0.5 * (bessel_i0(x) + bessel_iv(2, x))")
special("bessel_k0(x)", "k0", dx="-bessel_k1(x)")
special("bessel_k1(x)", "k1", dx="-(bessel_k0(x) + out / x)")
special("i0e(x)", dx="i1e(x) - sign(x) * out")
special("i1e(x)", dx="0.5 * (i0e(x) + ive(2, x)) - sign(x) * out")
special("k0e(x)", dx="out - k1e(x)")
special("k1e(x)", dx="out - k0e(x) - out / x")

# ------------------------------------------------------------------ of any order

of_order("bessel_j(n, x)", "jv", dx="0.5 * (bessel_j(n - 1, x) - bessel_j(n + 1, x))")
of_order("bessel_y(n, x)", "yv", dx="0.5 * (bessel_y(n - 1, x) - bessel_y(n + 1, x))")
of_order("bessel_iv(n, x)", "iv", dx="0.5 * (bessel_iv(n - 1, x) + bessel_iv(n + 1, x))")
of_order("bessel_k(n, x)", "kv", dx="-0.5 * (bessel_k(n - 1, x) + bessel_k(n + 1, x))")
of_order("ive(n, x)", dx="0.5 * (ive(n - 1, x) + ive(n + 1, x)) - sign(x) * out")
of_order("kve(n, x)", dx="out - 0.5 * (kve(n - 1, x) + kve(n + 1, x))")
# of real numbers the scale of these two is 1
of_order("jve(n, x)", dx="0.5 * (jve(n - 1, x) - jve(n + 1, x))")
of_order("yve(n, x)", dx="0.5 * (yve(n - 1, x) - yve(n + 1, x))")
of_order("hankel1(n, x)", dx="0.5 * (hankel1(n - 1, x) - hankel1(n + 1, x))")
of_order("hankel2(n, x)", dx="0.5 * (hankel2(n - 1, x) - hankel2(n + 1, x))")

# ------------------------------------------------------------------ spherical, of whole order: the order 0 has none below

for _kind, _slope in (
    ("j", "(n * BELOW - (n + 1) * ABOVE) / (2 * n + 1)"),
    ("y", "(n * BELOW - (n + 1) * ABOVE) / (2 * n + 1)"),
    ("i", "(n * BELOW + (n + 1) * ABOVE) / (2 * n + 1)"),
    ("k", "-(n * BELOW + (n + 1) * ABOVE) / (2 * n + 1)"),
):
    _name = f"spherical_{_kind}n"
    _neighbours = {"BELOW": f"{_name}(where(n == 0, 1, n) - 1, x)", "ABOVE": f"{_name}(n + 1, x)"}
    of_order(f"{_name}(n, x)", dx=_slope.replace("BELOW", _neighbours["BELOW"]).replace("ABOVE", _neighbours["ABOVE"]))

# ------------------------------------------------------------------ Airy

for _name, _part, _slope in (
    ("airy_ai", 0, "airy_ai_slope(x)"),
    ("airy_ai_slope", 1, "x * airy_ai(x)"),
    ("airy_bi", 2, "airy_bi_slope(x)"),
    ("airy_bi_slope", 3, "x * airy_bi(x)"),
):
    special(f"{_name}(x)", part=("airy", _part), dx=_slope)
