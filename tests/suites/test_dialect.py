"""A schema is judged by alone: what it refers to is in it, and nothing is fetched."""

import socket

import pytest
from referencing.exceptions import Unresolvable

from draftgate.suites.dialect import complaint, validator


def nested(depth):
    schema = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object", "properties": {"$ref": {"type": "string"}}},
        {"const": {"$ref": "#/nowhere"}},
        {"items": {"$ref": "#"}},
        {"$ref": "#/$defs/a", "$defs": {"a": {"items": {"$ref": "#/$defs/a"}}}},
        {"$ref": "#here", "$defs": {"a": {"$anchor": "here"}}},
        {"$id": "urn:mine:a", "items": {"$ref": "urn:mine:a"}, "$defs": {"a": True}},
    ],
)
def test_a_schema_that_holds_what_it_refers_to_is_used(schema):
    assert complaint(schema) is None


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"$ref": "#/nowhere"}, "schema refers to '#/nowhere', which it does not hold; write it under $defs"),
        ({"items": {"$dynamicRef": "#no"}}, "schema refers to '#no', which it does not hold"),
        ({"$ref": "http://127.0.0.1:9/x"}, "schema refers to 'http://127.0.0.1:9/x', which it does not hold"),
        ({"$ref": "file:there.json"}, "schema refers to 'file:there.json', which it does not hold"),
        ({"$id": "http://[", "items": {"$ref": "a"}}, "schema refers to 'a', which it does not hold"),
        ({"$ref": "#/title", "title": "x"}, "schema is not a JSON Schema: 'x' is not of type 'object', 'boolean'"),
        ({"$ref": "#/x", "x": {"type": "objects"}}, "schema is not a JSON Schema: 'objects' is not valid"),
        ({"$ref": "#/x", "x": {"$ref": "#/y"}}, "schema refers to '#/y', which it does not hold"),
        ({"pattern": "("}, "schema is not a JSON Schema: '(' is not a 'regex'"),
        (nested(2000), "schema is nested too deeply; make it flatter"),
    ],
)
def test_a_schema_that_does_not_is_refused(schema, expected):
    assert (complaint(schema) or "").startswith(expected)


def test_a_validator_fetches_nothing(monkeypatch):
    monkeypatch.setattr(socket, "socket", None)  # a connection would be a TypeError

    with pytest.raises(Unresolvable):
        validator({"$ref": "http://127.0.0.1:9/x"}).is_valid({})
