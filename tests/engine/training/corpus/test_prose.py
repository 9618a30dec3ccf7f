def test_prose_is_made_of_sentences_that_begin_with_a_capital(drawn):
    for made in drawn("prose"):
        sentences = made.answer.split(". ")

        assert made.free
        assert 3 <= len(sentences) <= 6
        assert all(sentence[0].isupper() for sentence in sentences)
        assert made.answer.endswith(".")


def test_the_story_begins_with_who_was_asked_about_or_a_place(drawn):
    told = drawn("prose")
    named = [s for s in told if any(word in s.messages[-2]["content"] for word in s.answer.split()[:2])]

    assert len(named) > len(told) / 2


def test_stories_differ(drawn):
    assert len({made.answer for made in drawn("prose")}) == 150
