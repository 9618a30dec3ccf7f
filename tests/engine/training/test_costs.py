import pytest
import torch

from draftgate.engine.models import huggingface
from draftgate.engine.training import costs
from draftgate.engine.training.network import build
from draftgate.engine.training.train import export

SHAPE = {"layers": 1, "width": 16, "heads": 2, "inner": 24}


@pytest.fixture
def folders(tokenizer, tmp_path):
    """A deep and a shallow model."""
    torch.manual_seed(0)
    for name, layers in (("deep", 12), ("flat", 1)):
        export(build(SHAPE | {"layers": layers}, 256, tokenizer), tokenizer, tmp_path / name)
    return tmp_path / "deep", tmp_path / "flat"


def test_a_deep_model_costs_several_steps_of_a_shallow_one_and_one_of_its_own(folders):
    deep, flat = costs.costs([(f.name, huggingface.load(f)) for f in folders], turns=5, tokens=8)

    assert (1.0, 1.0, 1.0) == deep.ratio
    assert 1.5 < flat.ratio[1]
    assert flat.ratio[0] <= flat.ratio[1] <= flat.ratio[2]
    assert flat.milliseconds < deep.milliseconds


def test_the_command_prints_a_line_a_model(folders, monkeypatch, capsys):
    monkeypatch.setattr(costs, "TURNS", 1)
    costs.main(list(map(str, folders)))
    lines = capsys.readouterr().out.splitlines()

    assert ["deep", "flat"] == [line.split()[0] for line in lines]
    assert "1.00 [1.00, 1.00] to a target's" in lines[0]
