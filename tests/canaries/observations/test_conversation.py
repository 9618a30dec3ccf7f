"""Dialogues as they are observed: the candidate's own answers are what is said, and both arms see the same text."""

from dataclasses import replace
from functools import cache

import dialogues
import pytest
from arms import context, draft

from draftgate.canaries.checks.conversation import differs, turns
from draftgate.canaries.faults import registry
from draftgate.canaries.observations import conversation
from draftgate.canaries.targets.strategies import Strategies
from draftgate.engine.errors import PromptTooLong


@cache
def observed(code=None):
    made = context(draft(registry.find(code).apply(Strategies()) if code else None), dialogues.suite())
    return conversation.observe(made, dialogues.NUMBERS)


def test_every_dialogue_is_played_to_its_last_turn():
    found = observed()["dialogues"]

    assert [canary.id for canary in dialogues.CANARIES] == [dialogue["canary"] for dialogue in found]
    assert [3] * 4 == [len(dialogue["turns"]) for dialogue in found]


def test_no_more_turns_are_played_than_the_suite_says():
    numbers = replace(dialogues.NUMBERS, turns=2, prompts=1, tokens=2)
    made = context(draft(), replace(dialogues.suite(), conversation=numbers))

    (dialogue,) = conversation.observe(made, numbers)["dialogues"]
    assert 2 == len(dialogue["turns"])


def test_the_first_answer_begins_from_nothing_and_the_others_from_what_was_kept():
    for dialogue in observed()["dialogues"]:
        kept = [turn["kept"] for turn in dialogue["turns"]]
        prompts = [turn["prompt"] for turn in dialogue["turns"]]

        assert 0 == kept[0] < kept[1] < kept[2]
        assert prompts[0] < kept[2] < prompts[2]


def test_an_honest_engine_answers_as_from_a_fresh_cache_and_needs_no_replay():
    played = list(turns(observed()))

    assert [] == [turn.name for turn in played if differs(turn) or turn.replay]
    assert any(number.drafted for turn in played for number in turn.live.rounds)


@pytest.mark.parametrize("code", ["F40", "F43", "F54"])
def test_a_cache_that_keeps_too_much_answers_otherwise_and_is_replayed(code):
    played = list(turns(observed(code)))

    differing = [turn for turn in played if differs(turn)]
    assert differing
    assert differing == [turn for turn in played if turn.replay]
    assert all(len(turn.replay["margin"]) == len(turn.live.tokens) for turn in differing)


REWORDED = {
    "forgets what was answered": "{% for m in messages if m.role != 'assistant' %}{{ m.content }} {% endfor %}",
    "counts the turns first": "{{ messages | length }} turns: {% for m in messages %}{{ m.content }} {% endfor %}",
    "marks the last turn": "{% for m in messages %}{{ 'Now: ' if loop.last }}{{ m.content }} {% endfor %}",
    "glues turns together": "{% for m in messages %}{{ m.content }}{% endfor %}",
}


@pytest.mark.parametrize("name", REWORDED)
def test_a_template_that_words_earlier_turns_otherwise_changes_no_answer(name, monkeypatch):
    """Both caches are asked the same visible text, and of a text that changed only what is the same is kept."""
    made = context(draft(), dialogues.suite())
    monkeypatch.setattr(made.candidate.model.tokenizer, "chat_template", REWORDED[name])

    played = list(turns(conversation.observe(made, replace(dialogues.NUMBERS, tokens=8))))

    assert [] == [turn.name for turn in played if differs(turn)]
    assert ("glues" in name) == any(turn.resumed for turn in played)


def test_what_stands_before_the_first_user_turn_is_said_with_it():
    system, first, second = dialogues.canary(1, ("a", "b")), "a", "b"
    opened = replace(system, messages=({"role": "system", "content": "s"}, *system.messages))

    said = [[message["content"] for message in messages] for messages in conversation.opened(opened)]
    assert [["s", first], [second]] == said


def test_dialogues_that_cannot_fit_are_refused_before_anything_is_recorded():
    long = replace(dialogues.suite(), conversation=replace(dialogues.NUMBERS, tokens=1000))

    with pytest.raises(PromptTooLong, match="multi-turn-1"):
        context(draft(), long).check_prompts()
