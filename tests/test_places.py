from workbench.places import home


def test_a_kernel_beside_its_notebook_finds_the_projects_folders(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    monkeypatch.chdir(tmp_path / "notebooks")
    assert home() == tmp_path
    monkeypatch.chdir(tmp_path)
    assert home() == tmp_path


def test_the_environment_wins(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert home() == tmp_path
