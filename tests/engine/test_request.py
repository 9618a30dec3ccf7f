import json

import pytest

from draftgate.engine.request import Arrival, Generation, Round, Sampling

NAN = float("nan")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"temperature": -0.1}, "temperature must be a finite number >= 0, not -0.1; use 0 for greedy"),
        ({"temperature": NAN}, "temperature must be a finite number >= 0, not nan"),
        ({"temperature": float("inf")}, "temperature must be a finite number >= 0, not inf"),
        ({"top_k": -1}, "top_k must be >= 0, not -1; use 0 to keep every token"),
        ({"top_p": 0.0}, r"top_p must lie in \(0, 1\], not 0.0; use 1 to keep every token"),
        ({"top_p": 1.5}, r"top_p must lie in \(0, 1\], not 1.5"),
        ({"top_p": NAN}, r"top_p must lie in \(0, 1\], not nan"),
        ({"min_p": -0.5}, r"min_p must lie in \[0, 1\], not -0.5; use 0 to keep every token"),
        ({"min_p": NAN}, r"min_p must lie in \[0, 1\], not nan"),
    ],
)
def test_sampling_refuses_what_no_law_is_defined_for(values, message):
    with pytest.raises(ValueError, match=message):
        Sampling(**values)


def test_sampling_takes_the_edges_of_its_ranges():
    assert Sampling(temperature=0.0, top_k=0, top_p=1.0, min_p=0.0) == Sampling()
    assert Sampling(min_p=1.0).min_p == 1


def test_a_generation_survives_the_record():
    answer = Generation(
        name="a",
        tokens=(1, 2, 3),
        text="bcd",
        finish="length",
        prefill=1,
        arrivals=(Arrival(0.5, 1), Arrival(0.75, 2)),
        rounds=(Round(4, 1, 2, 0),),
    )

    assert answer == Generation.from_json(json.loads(json.dumps(answer.to_json())))
