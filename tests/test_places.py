from workbench.places import home


def test_a_kernel_beside_its_notebook_finds_the_projects_folders(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "lab").mkdir()
    for folder in ("notebooks", "lab"):
        monkeypatch.chdir(tmp_path / folder)
        assert home() == tmp_path
    monkeypatch.chdir(tmp_path)
    assert home() == tmp_path


def test_a_project_may_be_called_lab(tmp_path, monkeypatch):
    (tmp_path / "lab" / "notebooks").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "lab")
    assert home() == tmp_path / "lab"


def test_the_environment_wins(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert home() == tmp_path
