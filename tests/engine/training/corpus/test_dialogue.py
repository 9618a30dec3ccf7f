import json
import re


def test_dialogues_have_three_to_seven_questions(drawn):
    for made in drawn("dialogue", 400):
        assert 3 <= sum(turn["role"] == "user" for turn in made.messages) <= 8


def test_the_last_answer_needs_an_earlier_turn(drawn):
    """Every name in the last answer stands in the conversation before it."""
    for made in drawn("dialogue", 400):
        before = " ".join(turn["content"] for turn in made.messages[:-1])
        names = re.findall(r"[A-Za-z0-9_-]{6,}", made.answer)

        assert all(name in before or name in ("called", "number") for name in names)


def test_a_changed_record_stays_json(drawn):
    records = [s for s in drawn("dialogue", 400) if s.messages[1]["content"].startswith("{")]

    assert len(records) > 20
    for made in records:
        assert all(json.loads(turn["content"]) for turn in made.messages if turn["role"] == "assistant")


def test_who_is_named_by_the_system_prompt_is_addressed_each_time(drawn):
    named = [s for s in drawn("dialogue", 400) if s.messages[0]["role"] == "system"]

    assert named
    for made in named:
        answers = [turn["content"] for turn in made.messages if turn["role"] == "assistant"]
        (person,) = {answer.rsplit(", ", 1)[-1] for answer in answers}
        assert person.removesuffix(".") in made.messages[0]["content"]
