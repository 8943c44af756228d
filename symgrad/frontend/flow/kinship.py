"""Loop-carried aliasing: which carried objects and arrays are the same in the next iteration, as carried bools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from symgrad.frontend.flow.filling import Head, Plan
from symgrad.frontend.state.bindings import NO_KEYS, HeapKey, Location, Ref
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.reach import reached
from symgrad.ir.core import FALSE, TRUE, Const, Operand


def relate_objects(head: Head, pair: tuple[Any, Any], same: Operand) -> None:
    """Relate two objects, by place or from before the loop, by a bool that says whether they are one."""
    one, two = (x if isinstance(x, HeapKey) else head.objects.get(x) for x in pair)
    if one is not None and two is not None:
        head.state.relate(one, two, same)


def related_objects(ctx: Lowering, entry: State, head: Head, objects: Mapping[Any, HeapKey], end: State) -> list[tuple[Any, Any]]:
    """The pairs of objects, in carried slots or from before the loop, that may be the same in the next iteration."""
    related: list[tuple[Any, Any]] = []
    live = (reached(head.state) | ctx.arguments.keys()) - head.gone if objects else set()
    places = list(dict.fromkeys([*objects, *head.objects]))
    for n, place in enumerate(places):
        first, last = head.first(place), objects.get(place)
        near: dict[HeapKey, None] = {}
        for state, key in ((entry, first), (end, last)):
            if key is not None:
                near |= dict.fromkeys([key, *state.kin.get(key, NO_KEYS)])
        related += [(place, key) for key in near if key in entry.heap and key in live]
        for other in places[:n]:
            if entry.sameness(first, head.first(other)) is not FALSE or end.sameness(last, objects.get(other)) != FALSE:
                related.append((place, other))
    return related


# ------------------------------------------------------------------ arrays


def chosen_arrays(plan: Plan, head: Head) -> list[tuple[Any, dict[Ref, None]]]:
    """The carried slots of arrays that are known to be one of some arrays from before the loop."""
    return [(place, bases) for place, bases in plan.bases.items() if bases and place in head.places]


def bases_of(state: State, location: Location | None) -> Mapping[Ref, Operand]:
    """The arrays that one may be, each with the bool that says whether it is; none where that is not known."""
    if location is None or location in state.stale:
        return {}
    return state.bases.get(location, {Ref(location): TRUE})


def learn_bases(
    entry: State,
    plan: Plan,
    head: Head,
    end: State,
    stays: set[Location],
    carried: Iterable[tuple[Any, Location | None, Location | None]],
    unbound: set[Any],
) -> bool:
    """Record which arrays from before the loop the carried ones are; return whether that is new.

    ``carried`` has each place with its array before the first iteration, and its array after an
    iteration. ``unbound`` are the names that are bound in the loop only.
    """
    news = False
    for place, first, last in carried:
        if plan.bases.get(place, {}) is None or place not in head.places:
            continue
        own = [bases_of(entry, first), bases_of(end, last)]
        bases = dict.fromkeys([*own[0], *own[1]])
        known = bool(own[1] and (own[0] or place[0] in unbound)) and all(is_before(base, entry) for base in bases)
        carried_bases = bases if known and any(base.location in stays for base in bases) else None
        if (place in plan.bases or carried_bases is not None) and plan.bases.get(place) != carried_bases:
            plan.bases[place] = carried_bases
            news = True
    return news


def is_before(base: Ref, entry: State) -> bool:
    """Whether it is an array from before a loop, or a fixed part of one, that is not itself one of several."""
    fixed = all(isinstance(operand, Const) for step in base.path for operand in step.operands)
    return fixed and base.location in entry.memory and base.location not in entry.bases


__all__ = ["bases_of", "chosen_arrays", "learn_bases", "relate_objects", "related_objects"]
