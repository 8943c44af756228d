"""Circular functions and their inverses in a form that LLVM vectorises in loops; for generated numba code only.

As those of ``vector``; arguments beyond 2**20 are left to the C library.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# numba's cache does not notice a change of these constants: empty it then
from symgrad.runtime.vector import ROUNDER, SIGN_BIT, bits, from_bits, multiply_add, part, vectorisable

#: pi/2 in parts of 33 bits, whose products with a whole number of up to 20 bits are exact (Cody and Waite), and the rest
TWO_OVER_PI = 0.6366197723675814
HALF_PI_1, HALF_PI_2, HALF_PI_3, HALF_PI_4 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487111665e-21, 8.4784276603689e-32
HALF_PI, HALF_PI_LOW = 1.5707963267948966, 6.123233995736766e-17
#: up to here the reduction of the circular functions is exact enough
CIRCULAR_LIMIT = 1048576.0  # 2**20
TAN_PI_8, TAN_3_PI_8 = 0.41421356237309503, 2.414213562373095


@part
def quadrants(x: float) -> tuple[float, float, int]:
    """``x - n * pi/2`` in two parts, for the nearest whole n and ``abs(x) <= CIRCULAR_LIMIT``, and an integer that ends as n does."""
    shifted = x * TWO_OVER_PI + ROUNDER
    n = shifted - ROUNDER
    # the products with the first three parts of pi/2 are exact, and so is the first difference
    first = x - n * HALF_PI_1
    part = n * HALF_PI_2
    second = first - part
    back = second - first
    low = (first - (second - back)) - (part + back)
    part = n * HALF_PI_3
    r = second - part
    back = r - second
    low += (second - (r - back)) - (part + back)
    return r, low - n * HALF_PI_4, bits(shifted)


@part
def sine_tail(r: float, low: float) -> float:
    """``sin(r + low) - r`` for ``abs(r) <= pi / 4``: degree 13, off by 2**-55.5 of the sine."""
    z = r * r
    return low * (1.0 - 0.5 * z) + r * z * (
        -0.16666666666666666
        + z
        * (
            0.008333333333330925
            + z * (-0.00019841269836722418 + z * (2.755731608381636e-06 + z * (-2.5051127944014188e-08 + z * 1.5917848524808262e-10)))
        )
    )


@part
def cosine_tail(r: float, low: float) -> float:
    """``cos(r + low) - (1 - r**2 / 2)``, the difference rounded, for ``abs(r) <= pi / 4``: degree 14, off by 2**-59.5 of the cosine."""
    z = r * r
    half = 0.5 * z
    lost = (1.0 - (1.0 - half)) - half
    return lost + (
        z
        * z
        * (
            0.041666666666666664
            + z
            * (
                -0.0013888888888887382
                + z * (2.480158729874307e-05 + z * (-2.7557317260008837e-07 + z * (2.0876143827993133e-09 + z * -1.1382456778061306e-11)))
            )
        )
        - r * low
    )


@part
def circular(x: float, quadrant: int) -> float:
    """``sin(x + quadrant * pi/2)`` for ``abs(x) <= CIRCULAR_LIMIT``."""
    r, low, turns = quadrants(x)
    turns += quadrant
    sine = r + sine_tail(r, low)
    cosine = (1.0 - 0.5 * (r * r)) + cosine_tail(r, low)
    return from_bits(bits(cosine if turns & 1 else sine) ^ ((turns & 2) << 62))


#: elements that the variants take which ``seldom`` declares; registers of 512 bits hold 64 bytes
LANES = 1024


def seldom(name: str) -> Any:
    """Declare a C library function for a rare branch, so that LLVM still vectorises the loop.

    LLVM vectorises no loop that calls an unknown function, and calls a known vector variant for every element. A
    function with a declared masked variant is called one by one, for the elements that need it. That variant is
    declared, but never defined: it takes more elements at once than any register holds, even of bytes, so it is never
    chosen.
    """
    own, masked = f"symgrad_seldom_{name}", f"symgrad_seldom_{name}_{LANES}"

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        module, double = builder.module, ir.DoubleType()
        if own not in module.globals:
            function = ir.Function(module, ir.FunctionType(double, [double]), own)
            function.linkage = "linkonce_odr"
            for attribute in ("noinline", "nounwind", "readnone", "willreturn"):
                set.add(function.attributes, attribute)
            block = ir.IRBuilder(function.append_basic_block())
            block.ret(block.call(ir.Function(module, ir.FunctionType(double, [double]), name), function.args))
            lanes, mask = ir.VectorType(double, LANES), ir.VectorType(ir.IntType(1), LANES)
            variant = ir.Function(module, ir.FunctionType(lanes, [lanes, mask]), masked)
            address = ir.IntType(8).as_pointer()
            used = ir.GlobalVariable(module, ir.ArrayType(address, 1), "llvm.compiler.used")
            used.linkage, used.section = "appending", "llvm.metadata"
            used.initializer = ir.Constant(used.value_type, [variant.bitcast(address)])
        call = builder.call(module.globals[own], args)
        for attribute in ("nounwind", "readnone", f'"vector-function-abi-variant"="_ZGV_LLVM_M{LANES}v_{own}({masked})"'):
            set.add(call.attributes, attribute)
        return call

    @intrinsic
    def call(typing: Any, x: Any) -> Any:
        return types.float64(types.float64), generate

    return call


far_sin, far_cos, far_tan = seldom("sin"), seldom("cos"), seldom("tan")


@vectorisable
def vector_sin(x: float) -> float:
    """The sine."""
    x = float(x)
    y = circular(x, 0)
    if abs(x) > CIRCULAR_LIMIT:
        y = far_sin(x)
    return x if x == 0.0 else y


@vectorisable
def vector_cos(x: float) -> float:
    """The cosine."""
    x = float(x)
    y = circular(x, 1)
    if abs(x) > CIRCULAR_LIMIT:
        y = far_cos(x)
    return y


@vectorisable
def vector_tan(x: float) -> float:
    """The tangent."""
    x = float(x)
    r, low, turns = quadrants(x)
    tail = sine_tail(r, low)
    sine = r + tail
    sine_low = (r - sine) + tail
    near = 1.0 - 0.5 * (r * r)
    tail = cosine_tail(r, low)
    cosine = near + tail
    cosine_low = (near - cosine) + tail
    top, top_low = (cosine, cosine_low) if turns & 1 else (-sine, -sine_low)
    bottom, bottom_low = (sine, sine_low) if turns & 1 else (cosine, cosine_low)
    inverse = -1.0 / bottom
    y = top * inverse
    y += (multiply_add(y, bottom, top) + (top_low + y * bottom_low)) * inverse
    if abs(x) > CIRCULAR_LIMIT:
        y = far_tan(x)
    return x if x == 0.0 else y


@part
def arctan_tail(z: float) -> float:
    """``atan(t) / t - 1`` for ``z = t**2 <= tan(pi/8)**2``."""
    return z * (
        -0.3333333333333333
        + z
        * (
            0.19999999999995438
            + z
            * (
                -0.14285714284649173
                + z
                * (
                    0.11111111013860688
                    + z
                    * (
                        -0.0909090452147169
                        + z
                        * (
                            0.07692181876036845
                            + z
                            * (
                                -0.06664492945806264
                                + z
                                * (0.05857988350245762 + z * (-0.05084610357631765 + z * (0.03920743321261197 + z * -0.01914724896461177)))
                            )
                        )
                    )
                )
            )
        )
    )


@vectorisable
def vector_arctan(x: float) -> float:
    """The inverse tangent, from those of x, ``(x - 1) / (x + 1)`` or ``-1 / x``: degree 10, off by 2**-56.9."""
    x = float(x)
    a = abs(x)
    top = a if a <= TAN_PI_8 else (a - 1.0 if a <= TAN_3_PI_8 else -1.0)
    bottom = 1.0 if a <= TAN_PI_8 else (a + 1.0 if a <= TAN_3_PI_8 else a)
    eighths = 0.0 if a <= TAN_PI_8 else (0.5 if a <= TAN_3_PI_8 else 1.0)
    t = top / bottom
    base = eighths * HALF_PI
    y = base + t
    y += ((base - y) + t) + (t * arctan_tail(t * t) + eighths * HALF_PI_LOW)
    return from_bits(bits(y) | (bits(x) & SIGN_BIT))


@vectorisable
def vector_arctan2(y: float, x: float) -> float:
    """The angle of the point (x, y): as ``vector_arctan`` of ``abs(y / x)``, then in its quadrant."""
    y, x = float(y), float(x)
    a, b = abs(y), abs(x)
    far = a == math.inf and b == math.inf
    a = 1.0 if far else a
    b = 1.0 if far else b
    scale = 0.25 if a > 1e300 or b > 1e300 else 1.0
    a, b = a * scale, b * scale
    flat = a <= TAN_PI_8 * b
    steep = a > TAN_3_PI_8 * b
    top = a if flat else (-b if steep else a - b)
    bottom = b if flat else (a if steep else a + b)
    eighths = 0.0 if flat else (1.0 if steep else 0.5)
    t = 0.0 if a == 0.0 and b == b else top / bottom
    behind = bits(x) < 0
    t = -t if behind else t
    eighths = 2.0 - eighths if behind else eighths
    base = eighths * HALF_PI
    angle = base + t
    angle += ((base - angle) + t) + (t * arctan_tail(t * t) + eighths * HALF_PI_LOW)
    return from_bits(bits(angle) | (bits(y) & SIGN_BIT))
