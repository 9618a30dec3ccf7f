import json
import re

import jsonschema
import pytest

from draftgate.suites import make
from draftgate.suites.loader import SHIPPED, load

SUITES = sorted(make.PLANS)
ORDERS = {
    "copy": make.COPY_ORDERS,
    "count": make.COUNT_ORDERS,
    "json": make.JSON_ORDERS,
    "prose": make.STORY_ORDERS,
}


def given(canary) -> tuple[str, ...]:
    """What a canary's order is about: the blanks of the one template that it follows."""
    order = canary.messages[0]["content"]
    patterns = [re.escape(template).replace(r"\{\}", "(.+)") for template in ORDERS[canary.id.split("-")[0]]]
    (match,) = filter(None, (re.fullmatch(pattern, order) for pattern in patterns))
    return match.groups()


def fields(canary) -> dict[str, str]:
    """The `key=value` pairs of a JSON canary."""
    return dict(pair.split("=") for pair in given(canary)[0].split(", "))


def test_the_shipped_canaries_are_what_the_script_writes(tmp_path):
    make.make(tmp_path)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.jsonl")}

    assert len(written) == 6
    for path, content in written.items():
        assert (SHIPPED / path).read_bytes() == content, path


@pytest.mark.parametrize("name", SUITES)
def test_every_order_follows_a_template(name):
    assert all(given(canary) for canary in load(name).canaries)


@pytest.mark.parametrize("name", SUITES)
def test_an_exact_answer_is_what_the_order_asks_for(name):
    for canary in load(name).of_kind("exact"):
        blanks = given(canary)
        if canary.id.startswith("count"):
            first, last = map(int, blanks)
            assert canary.expect == ", ".join(map(str, range(first, last + 1)))
        else:
            assert blanks == (canary.expect,)


def test_copied_items_have_their_form():
    words = re.compile(f"(?:{'|'.join(make.SYLLABLES)}){{2,3}}")
    forms = {"words": words, "ids": re.compile("[abcdefghkmnprstvwxyz0-9]{6}")}
    for canary in load("core").of_kind("exact"):
        family = canary.id.split("-")[1]
        if family in forms:
            items = canary.expect.split(" ")
            assert 6 <= len(items) <= 14
            assert all(forms[family].fullmatch(item) for item in items)


@pytest.mark.parametrize("name", SUITES)
def test_a_json_schema_accepts_the_given_fields_and_nothing_else(name):
    for canary in load(name).of_kind("json"):
        right = {key: int(value) if key in make.NUMBER_FIELDS else value for key, value in fields(canary).items()}
        key = next(iter(right))
        wrong = [
            right | {"extra": 1},
            {other: value for other, value in right.items() if other != key},
            right | {key: "another"},
            right | {key: None},
            {name: str(value) + " " for name, value in right.items()},
            [right],
        ]
        validator = jsonschema.Draft202012Validator(canary.schema)

        assert validator.is_valid(right)
        assert not any(validator.is_valid(answer) for answer in wrong)


@pytest.mark.parametrize("name", SUITES)
def test_no_order_comes_twice(name):
    orders = [canary.messages[0]["content"] for canary in load(name).canaries]

    assert len(set(orders)) == len(orders)


@pytest.mark.parametrize("name", SUITES)
def test_no_subject_of_a_story_was_trained_on(name):
    subjects = [given(canary)[0] for canary in load(name).of_kind("prose")]

    assert len(set(subjects)) == len(subjects)
    assert not set(subjects) & set(make.TRAINED_ON)


def test_half_of_the_copying_is_words_and_a_third_of_exact_is_counting():
    families = [canary.id.rsplit("-", 1)[0] for canary in load("core").of_kind("exact")]

    assert families == ["copy-words", "copy-ids", "count"] * 16


def test_json_lines_are_plain_objects():
    for line in make.files(make.PLANS["smoke/v1"])["json.jsonl"].splitlines():
        assert json.loads(line)["kind"] == "json"
