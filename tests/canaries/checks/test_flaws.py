"""One strict JSON document, or the reason why not."""

import pytest

from draftgate.canaries.checks import flaws
from draftgate.canaries.checks.flaws import Flaw, Flawed, NotStrict, document, satisfies


@pytest.mark.parametrize(("text", "value"), [("{}", {}), (' [1, "a", null]\n', [1, "a", None]), ("1e300", 1e300)])
def test_strict_json_is_read(text, value):
    assert value == document(text)


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("", Flaw.NOT_JSON),
        ("{'a': 1}", Flaw.NOT_JSON),
        ('{"a": 1', Flaw.NOT_JSON),
        ('{"a": 1,}', Flaw.NOT_JSON),
        ('{"a": 1} and so on', Flaw.TRAILING),
        ('{"a": 1}{"a": 1}', Flaw.TRAILING),
        ('{"a": {"b": 1, "b": 1}}', Flaw.REPEATED_KEY),
        ('{"a": NaN}', Flaw.NOT_FINITE),
        ("-Infinity", Flaw.NOT_FINITE),
        ("1e999", Flaw.NOT_FINITE),
        ("9" * 10_000, Flaw.NOT_FINITE),
        ("[" * 100_000, Flaw.TOO_DEEP),
        ("\ud800", Flaw.NOT_JSON),
    ],
)
def test_what_is_not_strict_is_refused_by_type(text, flaw):
    with pytest.raises(NotStrict) as caught:
        document(text)

    assert flaw is caught.value.flaw


def test_a_schema_accepts_or_does_not():
    assert satisfies({"a": 1}, {"required": ["a"]})
    assert not satisfies({}, {"required": ["a"]})


DEEP = "[" * 500 + "]" * 500
BOMB = {  # each step asks the next one twice, and the last is asked 2**40 times
    "$ref": "#/$defs/0",
    "$defs": {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(40)} | {"40": {}},
}
FORKING = {"items": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}  # doubles with each level of the answer
NESTED = {"$ref": "#/$defs/it", "$defs": {"it": {"items": {"$ref": "#/$defs/it"}}}}


@pytest.mark.parametrize(
    ("value", "schema", "flaw"),
    [
        (10**400, {"multipleOf": 0.5}, Flaw.NOT_FINITE),
        (document(DEEP), NESTED, Flaw.TOO_DEEP),
        (document(f"[{DEEP}, {DEEP}]"), {"uniqueItems": True}, Flaw.TOO_DEEP),
        ({}, BOMB, Flaw.TOO_SLOW),
        (document("[" * 40 + "]" * 40), FORKING, Flaw.TOO_SLOW),
        ("a" * 64, {"pattern": "^(a+)+$(?!.)b"}, Flaw.TOO_SLOW),
        ({"a" * 64 + "b": 1}, {"patternProperties": {"^(a+)+$": True}, "additionalProperties": False}, Flaw.TOO_SLOW),
    ],
)
def test_what_a_schema_cannot_be_asked_of_is_refused_by_type(value, schema, flaw, monkeypatch):
    monkeypatch.setattr(flaws, "SECONDS", 0.2)

    with pytest.raises(NotStrict) as refused:
        satisfies(value, schema)

    assert flaw is refused.value.flaw


def test_a_flaw_says_which_of_its_kind():
    assert "not JSON" == str(Flawed(Flaw.NOT_JSON))
    assert "arguments that break the tool's schema (add)" == str(Flawed(Flaw.WRONG_ARGUMENTS, "add"))
