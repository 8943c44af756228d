"""Programs that pages are made of, and the reader of pages that tests use."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np


def gated(x, w, n):
    """A gated recurrence."""
    h = x
    for i in range(n):
        z = w * h + x
        if np.sum(z) > 0:
            h = np.tanh(z)
        else:
            h = 0.5 * z
    return np.sum(h)


def square(y):
    z = y * y
    return z * 3.0


def calling(x):
    return np.sum(np.sin(square(x)))


def stores(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i] * y[i - 1]
    return np.sum(y)


def of_dict(p):
    return np.sum(p["w"] * p["w"]) + p["b"]


def matrix(a, b):
    return np.sum(np.linalg.solve(a, b) ** 2)


#: functions, arguments, and with respect to what
SAMPLES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "gated": (gated, (np.array([0.3, -0.2, 0.5]), 0.7, 4), ("x", "w")),
    "calling": (calling, (np.array([0.3, -0.2]),), None),
    "stores": (stores, (np.array([0.3, -0.2, 0.5]),), None),
    "of_dict": (of_dict, ({"w": np.ones(2), "b": 1.0},), None),
    "matrix": (matrix, (np.array([[2.0, 0.5], [0.1, 3.0]]), np.array([1.0, 2.0])), (0, 1)),
    "empty": (gated, (np.zeros(0), 0.7, 0), None),
}

#: names that would be markup, scripts or attributes, if they were not escaped
HOSTILE = [
    "</script><script>document.title='run'</script>", "<img src=x onerror=\"document.title='run'\">", "\" onmouseover=\"document.title='run'",
    "'><svg onload=document.title='run'>", "&lt;b&gt;", "]]><!--", "</style><style>*{display:none}", "\u202eevil", "{{7*7}}", "a\x00b", "<!--",
]  # fmt: skip


class Reader(HTMLParser):
    """Elements with their attributes, and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        """All text."""
        return "".join(self.texts)

    def named(self, word: str) -> list[dict[str, str | None]]:
        """The attributes of the elements of a class."""
        return [attributes for _, attributes in self.elements if word in (attributes.get("class") or "").split()]
