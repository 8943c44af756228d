"""Figures to tables, and to what got slower since figures of another time."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tests.bench.columns import COLUMNS
from tests.bench.measure import Figures

SLOWER = 1.10  #: what is said to have become slower
ALLOWED = 1.2  #: times the adjoint by hand
TOLERANCE = 1e-9
BEHIND = 0.2e-6  #: seconds that a compiled call may take longer than NumPy code


def table(results: Mapping[str, Figures], columns: Sequence[str]) -> list[str]:
    """One line a program: its own time, each column relative to that, and what else was measured."""
    shown = [c for c in columns if any(c in f["ratios"] for f in results.values())]
    heads = [
        "function",
        *(COLUMNS[c].title for c in shown),
        "/ hand",
        "/ hand jit",
        "memory",
        "by hand",
        "memory jit",
        "by hand jit",
        "generate",
        "compile",
        "by hand",
        "error",
    ]
    lines = [line("program", heads)]
    for name, f in results.items():
        words = [time_text(f["time"]), *(text(f["ratios"].get(c), "{:.3g}x") for c in shown)]
        words += [text(f.get("direct"), "{:.2f}"), text(f.get("direct_numba"), "{:.2f}")]
        words += [size_text(f["memory"].get(c)) for c in ("numpy", "hand", "numba", "hand_numba")]
        words += [time_text(f.get("generation")), time_text(f.get("compilation"))]
        words += [time_text(f.get("compilation_by_hand")), text(max(f["errors"].values(), default=None), "{:.0e}")]
        lines.append(line(name, words))
    for key, what in (("direct", "symgrad / by hand"), ("direct_numba", "symgrad jit / by hand jit")):
        rows = {name: f[key] for name, f in results.items() if key in f}
        if rows:
            worst = max(rows, key=rows.__getitem__)
            over = sum(v > ALLOWED for v in rows.values())
            lines.append(f"{what}: geometric mean {mean(rows.values()):.3f}, worst {rows[worst]:.2f} ({worst}), {over} above {ALLOWED}")
    lines += smallest(results)
    for name, f in results.items():
        lines += [f"not in the table: {name}, {COLUMNS[c].title}: {why}" for c, why in f["refused"].items()]
        lines += [f"WRONG: {name}, {COLUMNS[c].title}: error {e:.1e}" for c, e in f["errors"].items() if not e <= TOLERANCE]
    return lines


def smallest(results: Mapping[str, Figures]) -> list[str]:
    """How the targets compare where there is least to compute."""
    smallest_of = {name: f["smallest"] for name, f in results.items() if "smallest" in f}
    if not smallest_of:
        return []
    later = {name: t["numba"] - t["numpy"] for name, t in smallest_of.items()}
    behind = [f"{name} by {1e6 * d:.2f} us" for name, d in later.items() if d > BEHIND]
    worst = max(later, key=later.__getitem__)
    told = f"the worst is {worst}: {time_text(smallest_of[worst]['numba'])}, not {time_text(smallest_of[worst]['numpy'])}"
    return [f"smallest arguments: symgrad jit is more than {1e6 * BEHIND:.1f} us behind symgrad on {', '.join(behind) or 'none'}; {told}"]


def line(name: str, words: Sequence[str]) -> str:
    return f"{name:16s}" + "".join(f"{word:>13s}" for word in words)


def text(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def time_text(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


def size_text(size: int | None) -> str:
    if size is None:
        return "-"
    return f"{size / 1e6:.3g} MB" if size >= 1e6 else f"{size / 1e3:.3g} kB"


def mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    return math.exp(statistics.fmean(math.log(v) for v in values))


def growth_table(growth: Mapping[str, Mapping[str, Figures]], lengths: Mapping[str, Mapping[str, Figures]]) -> list[str]:
    """Costs at each size with their exponents, first by the sizes of programs, then by their lengths; what is too large has a mark."""
    lines = ["how cost grows with size; last the exponent, which may be as large as the function's or the work's"] if growth else []
    for name, axes in growth.items():
        for axis, f in axes.items():
            lines.append(row(f"{name}, {axis}", f["sizes"], f"work {f['work']:g}"))
            for c, e in f["exponents"].items():
                title = COLUMNS[c].title if c in COLUMNS else c
                lines.append(row(f"  {title}", map(time_text, f["seconds"][c]), grown_text(e, c in f["large"])))
            if f.get("memory"):
                lines.append(row("  memory", map(size_text, f["memory"]), grown_text(f["memory_exponent"], "memory" in f["large"])))
    for what, kinds in lengths.items():
        lines += [f"how time to {what} grows with the number of statements"] if kinds else []
        for name, f in kinds.items():
            words = [f"{n}: {time_text(s)}" for n, s in zip(f["lengths"], f["seconds"], strict=True)]
            lines.append(row(f"  {name}", words, grown_text(f["exponent"], f["large"])))
    return lines


def row(name: str, words: Iterable[object], last: str) -> str:
    return f"{name:24s}" + "".join(f"{word!s:>15s}" for word in words) + f"    {last}"


def grown_text(exponent: float, large: bool) -> str:
    return f"{exponent:.2f}{'   TOO LARGE' if large else ''}"


def compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What got slower by more than a tenth: ratios to the function itself, memory, time to generate and to compile."""
    before, after = dict(flat(old)), dict(flat(new))
    both = [key for key in after if key in before and before[key] > 0]
    slower = sorted(((after[key] / before[key], key) for key in both if after[key] > SLOWER * before[key]), reverse=True)
    lines = [f"  {factor:5.2f} times  {key}: {before[key]:.3g} -> {after[key]:.3g}" for factor, key in slower]
    better = sum(after[key] * SLOWER < before[key] for key in both)
    return [f"compared with the figures before: {len(slower)} worse, {better} better by a tenth or more, of {len(both)}", *lines]


def flat(results: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Every figure that is compared, by a name of its own."""
    for allocator, programs in results.get("programs", {}).items():
        for name, f in programs.items():
            yield from ((f"{name}, {c} / function, {allocator}", r) for c, r in f["ratios"].items())
            yield from ((f"{name}, memory of {c}, {allocator}", float(m)) for c, m in f["memory"].items() if c in ("numpy", "numba"))
            yield from ((f"{name}, {key}, {allocator}", f[key]) for key in ("generation", "compilation") if key in f)
    for what, kinds in results.get("lengths", {}).items():
        yield from ((f"time to {what} {f['lengths'][-1]} {name}", f["seconds"][-1]) for name, f in kinds.items())
