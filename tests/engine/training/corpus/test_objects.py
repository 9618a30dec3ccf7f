import json
from random import Random

import jsonschema

from draftgate.engine.training.corpus.objects import field, shown
from draftgate.engine.training.corpus.words import Draw


def test_every_answer_satisfies_its_schema_by_an_independent_reader(drawn):
    for kind in ("json", "json_free"):
        for made in drawn(kind):
            jsonschema.validate(json.loads(made.answer), made.schema)


def test_given_values_are_in_the_order_and_no_other_object_satisfies_the_schema(drawn):
    for made in drawn("json"):
        value = json.loads(made.answer)

        assert all(key in made.messages[0]["content"] for key in value)
        assert all(shown(item) in made.messages[0]["content"] for item in value.values())
        assert all("const" in spec for spec in made.schema["properties"].values())


def test_free_values_are_not_in_the_schema(drawn):
    assert not any("const" in str(made.schema) for made in drawn("json_free"))
    assert all(made.free for made in drawn("json_free"))


def test_every_type_of_field_is_drawn_and_holds_its_value():
    draw = Draw(Random(1))
    fields = [field(draw, "x", free=False) for _ in range(300)]

    assert {"string", "integer", "boolean", "list"} <= {f.described for f in fields}
    assert any(f.described.startswith("one of ") for f in fields)
    assert any(f.described.startswith("integer from ") for f in fields)
    for f in fields:
        jsonschema.validate(f.value, f.schema)


def test_a_list_is_only_drawn_where_values_are_given():
    draw = Draw(Random(1))

    assert not any(isinstance(field(draw, "x", free=True).value, list) for _ in range(300))


def test_values_are_shown_as_a_sentence_gives_them():
    assert ["true", "false", "41", "a and b", "Tolan"] == [shown(v) for v in (True, False, 41, ["a", "b"], "Tolan")]
