from draftgate.engine.training.corpus.tools import parse_calls


def test_every_call_is_of_a_listed_tool_with_just_its_arguments(drawn):
    for made in drawn("tools"):
        listed = dict(line.rstrip(")").split("(", 1) for line in made.messages[0]["content"].split("\n")[1:])
        for call in parse_calls(made.answer):
            arguments = [a.split(": ")[0] for a in listed[call["name"]].split(", ")]

            assert arguments == list(call["arguments"])


def test_one_and_two_calls_occur_and_the_first_is_asked_for_first(drawn):
    made = drawn("tools")
    counts = {len(parse_calls(s.answer)) for s in made}

    assert counts == {1, 2}
    for s in made:
        places = [s.messages[1]["content"].lower().find(_noun(call)) for call in parse_calls(s.answer)]
        assert -1 not in places


def _noun(call):
    return call["name"].split("_")[-1]


def test_an_answered_call_is_told_in_a_sentence(drawn):
    for made in drawn("tool_answers"):
        assert ["system", "user", "assistant", "tool", "assistant"] == [turn["role"] for turn in made.messages]
        result = made.answer.removeprefix("The result is ").removesuffix(".")
        assert f'{{"result": "{result}"}}' == made.messages[3]["content"]


def test_only_calls_one_a_line_are_read():
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    value = {"name": "f", "arguments": {}}

    assert [value] == parse_calls(call)
    assert [value, value] == parse_calls(f"{call}\n{call}")
    for wrong in ("", "text", f"{call} and", f"{call}{call}", call[:-1], "<tool_call>{</tool_call>"):
        assert parse_calls(wrong) is None
