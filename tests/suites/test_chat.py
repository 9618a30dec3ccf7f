"""The numbers of chat stand in the suites that require its checks."""

import pytest

from draftgate.stats.design import rate_draws
from draftgate.suites.chat import Chat
from draftgate.suites.loader import load


@pytest.mark.parametrize("name", ["core", "smoke", "fewshot"])
def test_the_rarest_answers_show_the_effect_and_leave_room_for_near_ties(name):
    suite = load(name)
    schemas = 2 * 2 * suite.chat.prompts  # whole and streamed, alone and in company

    assert isinstance(suite.chat, Chat)
    assert {"chat", "logprobs"} <= set(suite.required["server"].greedy)
    assert rate_draws(suite.chat.effect, miss=suite.design.miss) < schemas
