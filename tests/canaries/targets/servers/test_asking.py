"""A prompt is ids, unless a text stands in for them."""

from __future__ import annotations

from served import ask


def test_a_prompt_is_ids_unless_a_text_stands_in_for_them():
    assert ask(prompt=(1, 2)).prompt == [1, 2]
    assert ask({"text": "one"}, prompt=(1, 2)).prompt == "one"
