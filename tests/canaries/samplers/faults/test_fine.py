from draftgate.canaries.samplers.faults import fine


def test_an_effect_is_found_with_the_draws_that_are_planned_for_it(capsys):
    assert 0 == fine.main(["--effect", "0.02"])
    assert "off by 0.02" in capsys.readouterr().out


def test_half_the_effect_needs_four_times_the_draws():
    rounds = [fine.tried(fine.token, effect, 4096).rounds for effect in (0.04, 0.02)]

    assert 3.5 < rounds[1] / rounds[0] < 4.5
