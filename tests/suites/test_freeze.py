from draftgate.suites import freeze
from draftgate.suites.loader import digest


def test_the_command_prints_the_digest(folder, capsys):
    assert freeze.main([str(folder)]) == 0
    assert capsys.readouterr().out == digest(folder) + "\n"


def test_the_command_refuses_an_edited_suite_until_it_is_declared_unreleased(folder, rewrite, capsys):
    rewrite("suite.toml", "miss = 1e-3", "miss = 1e-1")

    assert freeze.main([str(folder)]) == 2
    refused = capsys.readouterr()
    assert refused.out == ""
    assert "is frozen with other content" in refused.err
    assert freeze.main([str(folder), "--unreleased"]) == 0


def test_the_command_refuses_a_folder_that_is_not_there(tmp_path, capsys):
    assert freeze.main([str(tmp_path / "nowhere")]) == 2
    assert "nowhere" in capsys.readouterr().err
