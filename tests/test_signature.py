"""Abstract signatures of values and texts."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from symgrad.abstraction import abstract, array_leaves, from_annotation, parse_signature, parse_type
from symgrad.errors import BadArgument
from symgrad.ir.types import Array, Dim, List, Scalar
from symgrad.signature import Static, Tree

Pair = namedtuple("Pair", "a b")


@dataclass
class Record:
    w: Any
    name: str = "n"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "float"),
        (1, "int"),
        (True, "bool"),
        (1j, "complex"),
        (np.float32(1), "scalar f32"),
        (np.int64(1), "scalar i64"),
        (np.bool_(True), "scalar bool"),
        (np.ones((2, 1)), "f64[!x0, 1]"),
        (np.array(1.0), "f64[]"),
        (np.ones(0, np.float32), "f32[!x0]"),
        (np.ones(2, np.longlong), "i64[!x0]"),
        ([1.0, 2.0], "list[float]"),
        ([1, 2.0], "list(0=int, 1=float)"),
        ([], "list()"),
        ((1.0, np.ones(2)), "tuple(0=float, 1=f64[!x_10])"),
        ({"w": 1.0}, "dict(w=float)"),
        (Pair(1.0, 2), "Pair(a=float, b=int)"),
        (Record(np.ones(3)), "Record(w=f64[!x_w0], name=object[str])"),
        (None, "object[NoneType]"),
        ("a", "object[str]"),
        (np, "object[module]"),
        (np.array(["a"]), "object[ndarray]"),
        (np.ma.ones(3), "object[MaskedArray]"),
        (np.ones(3, ">f8"), "f64[!x0]"),
    ],
)
def test_values(value: Any, text: str) -> None:
    assert str(abstract({"x": value})["x"]) == text


def test_keys() -> None:
    def key(**values: Any) -> Any:
        return abstract(values)

    assert key(x=np.ones(3)) == key(x=np.zeros(4))
    assert hash(key(x=np.ones(3))) == hash(key(x=np.zeros(4)))
    assert key(x=np.ones(3)) != key(x=np.ones(1))
    assert key(x="a") != key(x="b")
    assert key(x=None) != key(x="None")
    assert key(x={"a": 1.0, "b": 1.0}) != key(x={"b": 1.0, "a": 1.0})
    assert key(f=lambda x: x) != key(f=lambda x: x)
    assert key(x=1) != key(x=True)
    assert key(x=1) != key(x=1.0)

    def fresh(k: float) -> Any:
        return lambda x: x

    def closed(k: float) -> Any:
        return lambda x: k

    assert key(f=fresh(1)) == key(f=fresh(2))
    assert key(f=closed(1)) != key(f=closed(2)), "the cells of the first would be read"


def test_same_objects() -> None:
    x = np.ones(3)
    assert abstract({"x": x, "y": x, "z": x.copy()}).same == (("x", "y"),)
    assert abstract({"x": x, "p": {"w": [x, 1.0]}}).same == (("x", "p['w'][0]"),)
    assert [path for path, _ in array_leaves("p", {"w": (x, Record(x))})] == ["p['w'][0]", "p['w'][1].w"]


def test_a_cycle_ends() -> None:
    x: list[Any] = [1.0, "a"]
    x.append(x)
    assert isinstance(abstract({"x": x})["x"], Tree)


def test_leaves() -> None:
    signature = abstract({"p": {"w": (1.0, "s")}, "q": Pair(1.0, 2)})
    assert [(path, str(item)) for path, item in signature.leaves()] == [
        ("p['w'][0]", "float"),
        ("p['w'][1]", "object[str]"),
        ("q.a", "float"),
        ("q.b", "int"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("float", Scalar("float")),
        ("f8", Scalar("float", "f64")),
        ("float32", Scalar("float", "f32")),
        ("f4[:]", Array("f32", (Dim("x0", 0, True),))),
        ("f64[:, 1]", Array("f64", (Dim("x0", 0, True), 1))),
        ("i8[:]", Array("i64", (Dim("x0", 0, True),))),
        ("f8[]", Array("f64", ())),
        ("list[float]", List(Scalar("float"))),
        ("bool", Scalar("bool")),
    ],
)
def test_texts(text: str, expected: Any) -> None:
    assert parse_type(text) == expected


@pytest.mark.parametrize("text", ["f9", "f8[", "q[:]", "", "f8 float"])
def test_bad_texts(text: str) -> None:
    with pytest.raises(BadArgument):
        parse_type(text)


def test_signature_texts() -> None:
    assert str(parse_signature("(f8[:, :], float)", ("a", "b"))) == "a: f64[!a0, !a1], b: float"
    with pytest.raises(BadArgument, match="1 types for 2 parameters"):
        parse_signature("f8", ("a", "b"))


def test_annotations() -> None:
    assert from_annotation(float, "x") == Scalar("float")
    assert from_annotation("f8[:]", "x") == Array("f64", (Dim("x0", 0, True),))
    assert from_annotation(np.float32, "x") == Scalar("float", "f32")
    assert from_annotation("np.ndarray", "x") is None
    assert from_annotation(list, "x") is None


def test_statics_keep_their_object() -> None:
    item = abstract({"x": print})["x"]
    assert isinstance(item, Static)
    assert item.value is print
