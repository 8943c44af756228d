"""The classes of dicts and sets with computed keys, and of views of them."""

from __future__ import annotations

import collections

from symgrad.ops.composed.growing import GrowingCounter, GrowingOrderedDict
from symgrad.ops.composed.growing_dicts import GrowingDefaultDict, GrowingDict
from symgrad.ops.composed.growing_inner import INNER, OrderedInnerSet
from symgrad.ops.composed.growing_sets import GrowingSet, OrderedSet
from symgrad.ops.composed.growing_views import GrowingItems, GrowingKeys, GrowingValues

#: the dicts, with their classes in Python
OF_DICTS: dict[type, type] = {GrowingDict: dict, GrowingDefaultDict: collections.defaultdict, GrowingCounter: collections.Counter}
OF_DICTS |= {INNER[cls]: python for cls, python in OF_DICTS.items()}
OF_DICTS[GrowingOrderedDict] = collections.OrderedDict
#: those that are sets
SETS = (GrowingSet, OrderedSet, INNER[GrowingSet], OrderedInnerSet)
#: the class of each in Python
CLASSES: dict[type, type] = {
    **OF_DICTS,
    **dict.fromkeys(SETS, set),
    GrowingKeys: type({}.keys()),
    GrowingValues: type({}.values()),
    GrowingItems: type({}.items()),
}
#: the public attributes of each
METHODS: dict[type, list[str]] = {
    cls: [word for word in dir(cls) if not word.startswith("_") and hasattr(python, word)] for cls, python in CLASSES.items()
}
#: those that are dicts
DICTS = tuple(OF_DICTS)

__all__ = ["CLASSES", "DICTS", "METHODS", "SETS"]
