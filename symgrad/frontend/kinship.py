"""Loop-carried aliasing: which carried objects and arrays are the same in the next iteration, as carried bools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from symgrad.frontend.bindings import NO_KEYS, HeapKey, Location, State
from symgrad.frontend.context import Lowering
from symgrad.frontend.plans import Head, Plan
from symgrad.frontend.reach import reached
from symgrad.ir.core import FALSE, TRUE, Operand


def relate_objects(head: Head, pair: tuple[Any, Any], same: Operand) -> None:
    """Say of two objects, by place or of before the loop, whether they are one."""
    one, two = (x if isinstance(x, HeapKey) else head.objects.get(x) for x in pair)
    if one is not None and two is not None:
        head.state.relate(one, two, same)


def related_objects(ctx: Lowering, entry: State, head: Head, objects: Mapping[Any, HeapKey], end: State) -> list[tuple[Any, Any]]:
    """Which objects of carried places, and of before the loop, may be one in the next round."""
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


def chosen_arrays(plan: Plan, head: Head) -> list[tuple[Any, dict[Location, None]]]:
    """The carried places of arrays of which it is known which ones from before the loop they may be."""
    return [(place, bases) for place, bases in plan.bases.items() if bases and place in head.places]


def bases_of(state: State, location: Location | None) -> Mapping[Location, Operand]:
    """The arrays that one may be, each with the bool that says whether it is; none where that is not known."""
    if location is None or location in state.stale:
        return {}
    return state.bases.get(location, {location: TRUE})


def learn_bases(entry: State, plan: Plan, head: Head, end: State, stays: set[Location],
                carried: Iterable[tuple[Any, Location | None, Location | None]], unbound: set[Any]) -> bool:  # fmt: skip
    """Learn which arrays of before the loop the carried ones are; True if that is news.

    ``carried`` has each place with its array before the first round, and its array after a round.
    ``unbound`` are the names that are bound in the loop alone.
    """
    news = False
    for place, first, last in carried:
        if plan.bases.get(place, {}) is None or place not in head.places:
            continue
        own = [bases_of(entry, first), bases_of(end, last)]
        bases = dict.fromkeys([*own[0], *own[1]])
        known = bool(own[1] and (own[0] or place[0] in unbound)) and all(base in entry.memory and base not in entry.bases for base in bases)
        carried_bases = bases if known and any(base in stays for base in bases) else None
        if (place in plan.bases or carried_bases is not None) and plan.bases.get(place) != carried_bases:
            plan.bases[place] = carried_bases
            news = True
    return news


__all__ = ["bases_of", "chosen_arrays", "learn_bases", "relate_objects", "related_objects"]
