import numpy as np
import torch
from trials import bundle

from draftgate.canaries.samplers.tables import Tables, likelier_first
from draftgate.stats.kolmogorov_smirnov import uniform_ks
from tolerances import SURE


def test_the_laws_on_the_way_to_a_state_are_handed_out():
    made = bundle()
    tables = Tables(made, torch.float64, torch.device("cpu"))
    problem, first, second = 1, 2, 1
    state = tables.next(tables.next(torch.tensor([problem]), torch.tensor([first])), torch.tensor([second]))
    laws = tables.target[state][0].numpy()

    assert np.array_equal(laws[0], made.problems[1].target[0][0])
    assert np.array_equal(laws[1], made.problems[1].target[1][first])
    assert np.array_equal(laws[2], made.problems[1].target[2][3 * first + second])
    assert np.array_equal(tables.draft[state][0, 1].numpy(), made.problems[1].draft[1][first])
    assert np.array_equal(
        tables.drafter_laws(1, torch.tensor([3 + first]))[0].numpy(), made.problems[1].draft[1][first]
    )


def test_tokens_of_the_stated_law_become_uniform_and_others_do_not():
    probs = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).expand(20_000, 3)
    generator = torch.Generator().manual_seed(0)
    tokens = torch.multinomial(probs, 1, generator=generator)[:, 0]

    assert uniform_ks(likelier_first(probs, tokens, generator), hypothesis="").p_value > SURE
    assert uniform_ks(likelier_first(probs, tokens * 0, generator), hypothesis="").p_value < SURE
