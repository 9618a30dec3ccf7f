from draftgate.engine.training.corpus.sample import Sample, turns


def test_user_and_assistant_take_turns_behind_the_system():
    assert ["user", "assistant", "user"] == [turn["role"] for turn in turns("a", "b", "c")]
    assert [{"role": "system", "content": "s"}, {"role": "user", "content": "a"}] == turns("a", system="s")


def test_the_answer_is_the_last_turn():
    assert "b" == Sample(messages=turns("a", "b")).answer
