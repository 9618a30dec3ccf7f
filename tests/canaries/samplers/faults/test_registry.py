import re

from draftgate.canaries.samplers.faults.registry import BY_NAME, FAULTS, INNOCENT

WANTED = {f"F{n:02d}" for n in (*range(1, 14), *range(18, 24))}


def test_names_are_different_and_every_row_makes_a_sampler():
    assert len(BY_NAME) == len(FAULTS) + len(INNOCENT)
    assert all(row.make() is not None for row in BY_NAME.values())


def test_all_faults_of_the_anchors_table_are_there():
    assert 21 <= sum("A" in row.codes for row in FAULTS)


def test_the_catalogues_sampler_faults_are_there():
    there = {code for row in FAULTS for code in row.codes if re.fullmatch(r"F\d\d", code)}

    assert WANTED - there == set()


def test_at_least_six_lossless_algorithms_are_there():
    wanted = {"token", "block", "resample-until-disagree", "no-bonus", "ignore-draft", "multi-draft"}

    assert wanted <= {row.name for row in INNOCENT}
