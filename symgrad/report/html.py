"""Converts text to HTML: the only place where text becomes markup. Everything is escaped here.

``Html`` is markup that was made here. ``element`` and ``join`` take text and ``Html``: a plain text is escaped, in content and in
attributes alike, so that no name, source line or message can become an element.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

VOID = frozenset({"meta", "link", "br", "hr", "input"})
NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*(:[a-zA-Z]+)?")
#: characters that a page must not contain: controls, lone surrogates, and marks that change the direction of text
UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


class Html(str):
    """Markup."""

    __slots__ = ()


def escaped(text: Any) -> Html:
    """Escape a text; markup is returned unchanged.

    >>> escaped("<b>&'")
    '&lt;b&gt;&amp;&#39;'
    """
    if isinstance(text, Html):
        return text
    plain = UNSHOWN.sub(lambda match: f"\\u{ord(match[0]):04x}", str(text))
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#39;")):
        plain = plain.replace(character, entity)
    return Html(plain)


def join(parts: Iterable[Any], between: str = "") -> Html:
    """Parts one after the other, each escaped unless it is markup."""
    return Html(escaped(between).join(map(escaped, parts)))


def element(name: str, /, *content: Any, **attributes: Any) -> Html:
    """Return an element. ``class_`` is ``class``, ``aria_label`` is ``aria-label``; attributes that are None or False are omitted.

    >>> element("p", "a < b", class_="note", title='"')
    '<p class="note" title="&quot;">a &lt; b</p>'
    """
    words = []
    for word, value in attributes.items():
        key = word.rstrip("_").replace("_", "-")
        if not NAME.fullmatch(key) or key.startswith("on") or key in ("style", "srcdoc"):
            raise ValueError(f"no attribute: {key}")
        if value is True:
            words.append(f" {key}")
        elif value is not None and value is not False:
            words.append(f' {key}="{escaped(value)}"')
    if not NAME.fullmatch(name):
        raise ValueError(f"no element: {name}")
    head = f"<{name}{''.join(words)}>"
    return Html(head if name in VOID else f"{head}{join(content)}</{name}>")


__all__ = ["Html", "element", "escaped", "join"]
