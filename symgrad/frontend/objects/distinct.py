"""Aliasing guard of a call: which objects and arrays of the caller must be distinct, and which must be the same."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from itertools import combinations

from symgrad.frontend.state.caller import Captured
from symgrad.frontend.state.context import Lowering
from symgrad.ir.types import Array, List
from symgrad.signature import Signature, containers_of, leaves_of


def related_outside(known: Iterable[Captured], joined: Mapping[str, str], changed: Container[str]) -> tuple[tuple[str, str, bool], ...]:
    """Pairs of outside values that are one object, and pairs that must be two because one of them is changed.

    ``joined`` maps expressions to the other expression that reads the same object.
    """
    relations = [(text, path, True) for text, path in joined.items()]
    leaves = [leaf for held in known if held.text not in joined for leaf in leaves_of(held.text, held.abstract)]
    memory = [(text, item) for text, item in leaves if isinstance(item, Array | List)]
    for (one, first), (other, second) in combinations(memory, 2):
        if type(first) is type(second) and (one in changed or other in changed):
            relations.append((one, other, False))
    return tuple(relations)


def distinct_pairs(
    ctx: Lowering, known: Iterable[Captured], joined: Mapping[str, str], signature: Signature
) -> tuple[tuple[str, str], ...]:
    """Pairs of expressions that must not denote one object: one is read from outside, and one is changed or tested for identity."""
    alone = [held for held in known if held.text not in joined]
    own = [path for held in alone for path, _ in containers_of(held.text, held.abstract)]
    lists = {held.text for held in alone if isinstance(held.abstract, List)}  # the relation of two of them is known
    outside = [text for text in dict.fromkeys([*own, *ctx.outside]) if text not in joined]
    changed = [(text, path) for path in sorted(ctx.stored) for text in outside if path != text and not {path, text} <= lists]
    seen = [(text, path) for text in sorted(ctx.stored) if text in own for path, _ in signature.containers()]
    asked = [(text, path) for text in sorted(ctx.identities) if text in own for path in sorted(ctx.identities) if path not in own]
    return tuple(dict.fromkeys([*changed, *seen, *asked]))


__all__ = ["related_outside", "distinct_pairs"]
