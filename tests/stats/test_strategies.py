from fractions import Fraction

from hypothesis import HealthCheck, find, given, settings

from draftgate.stats import strategies

FEW = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None)


@FEW
@given(strategies.law_pairs(4))
def test_laws_are_fractions_that_sum_to_one(pair):
    for law in pair:
        assert len(law) == 4
        assert sum(law) == 1
        assert all(isinstance(mass, Fraction) and mass >= 0 for mass in law)


@FEW
@given(strategies.disjoint(5))
def test_disjoint_laws_share_no_token(pair):
    assert sum(min(p, q) for p, q in zip(*pair, strict=True)) == 0


@FEW
@given(strategies.chains(most_tokens=4, longest=3))
def test_a_chain_has_one_law_more_than_drafts(chain):
    assert len(chain.target) == len(chain.draft) + 1
    assert {chain.vocabulary} == {len(law) for law in (*chain.target, *chain.draft)}


@FEW
@given(strategies.trees())
def test_parents_come_before_their_children(parents):
    assert parents[0] == -1
    assert all(0 <= parent < node for node, parent in enumerate(parents) if node)


@FEW
@given(strategies.masks(3), strategies.batch_sizes(20))
def test_a_mask_allows_something_and_a_batch_has_rows(mask, rows):
    assert any(mask)
    assert 1 <= rows <= 20


def test_what_trips_samplers_is_met():
    for wanted in (
        lambda pair: pair[0] == pair[1],
        lambda pair: max(pair[1]) == 1,
        lambda pair: any(0 < mass < Fraction(1, 2**1000) for mass in pair[0]),
        lambda pair: len(set(pair[0])) < 3 and min(pair[0]) > 0,
        lambda pair: not any(p and q for p, q in zip(*pair, strict=True)),
    ):
        assert find(strategies.law_pairs(3), wanted, settings=FEW_MORE)


FEW_MORE = settings(max_examples=2000, deadline=None, derandomize=True, database=None)


def test_the_smallest_failing_chain_is_found_or_there_is_none():
    found = strategies.smallest(lambda chain: chain.draft[0][0] < chain.target[0][0], most_examples=100)

    assert (2, 1) == (found.vocabulary, len(found.draft))
    assert strategies.smallest(lambda chain: False, most_examples=20) is None
