import pytest

from draftgate.engine.training.ship import SUMS, main, ship, sums


@pytest.fixture
def trained(tmp_path):
    """What a training leaves: two models of the recipe, and things that do not ship."""
    for name in ("target", "draft", "tokenizer"):
        folder = tmp_path / "trained" / name
        folder.mkdir(parents=True)
        (folder / "config.json").write_text("{}")
        (folder / "model.safetensors").write_bytes(name.encode())
    (tmp_path / "trained" / "target.checkpoint.pt").write_bytes(b"large")
    return tmp_path / "trained"


def test_models_of_the_recipe_ship_and_nothing_else(trained, tmp_path):
    to = tmp_path / "embedded"
    (to / "old").mkdir(parents=True)

    assert ["target", "draft"] == ship(trained, to)
    assert {"target", "draft", SUMS} == {path.name for path in to.iterdir()}
    assert b"target" == (to / "target" / "model.safetensors").read_bytes()


def test_sums_are_of_every_weights_file_and_tell_a_changed_one(trained, tmp_path):
    to = tmp_path / "embedded"
    ship(trained, to)
    lines = (to / SUMS).read_text().splitlines()

    assert ["draft/model.safetensors", "target/model.safetensors"] == [line.split("  ")[1] for line in lines]
    assert sums(to) == (to / SUMS).read_text()
    (to / "draft" / "model.safetensors").write_bytes(b"other")
    assert sums(to) != (to / SUMS).read_text()


def test_what_ships_stays_where_nothing_was_trained(tmp_path):
    (tmp_path / "embedded" / "target").mkdir(parents=True)
    with pytest.raises(FileNotFoundError, match="holds no trained model"):
        ship(tmp_path, tmp_path / "embedded")

    assert (tmp_path / "embedded" / "target").is_dir()


def test_the_command_names_what_it_shipped(trained, tmp_path, capsys):
    main([str(trained), "--to", str(tmp_path / "embedded")])

    assert "target, draft\n" == capsys.readouterr().out
