import re


def test_a_copy_is_in_its_order(drawn):
    for made in drawn("copying"):
        question, answer = made.messages

        assert answer["content"] in question["content"]


def test_what_is_looked_up_stands_with_its_name_or_at_its_place(drawn):
    for made in drawn("recall"):
        question = made.messages[0]["content"]

        assert made.answer in question
        assert 1 == len(made.answer.split())


def test_counting_names_every_number_of_the_range_and_sums_are_right(drawn):
    for made in drawn("counting"):
        numbers = [int(n) for n in re.findall(r"\d+", made.messages[0]["content"])]
        if ", " in made.answer:
            assert list(range(numbers[0], numbers[1] + 1)) == [int(n) for n in made.answer.split(", ")]
        else:
            sign = -1 if " - " in made.messages[0]["content"] else 1
            assert numbers[0] + sign * numbers[1] == int(made.answer)
