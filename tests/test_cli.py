"""The command line as a user types it, on the bundled corpus."""

import json
import platform
import re
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest
from test_views import UNSHOWABLE
from tiny import same_content

from workbench.cli.app import GROUPS, app
from workbench.index import Index
from workbench.testing import HashEncoder


def test_every_verb_has_help(workbench):
    for verb in (verb for verbs in GROUPS.values() for verb in verbs):
        assert "Usage" in workbench(verb, "--help").output


def test_every_verb_has_a_group_and_the_help_shows_them_in_order(workbench):
    registered = [*app.registered_commands, *app.registered_groups]
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert {one.name or one.callback.__name__: one.rich_help_panel for one in registered} == {
        name: group for group, names in GROUPS.items() for name in names
    }
    assert re.findall(r"^│ ([a-z][\w-]*)", workbench("--help").output, re.MULTILINE) == grouped


def test_the_versions_are_said_without_a_verb(workbench):
    said = workbench("--version").output
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    assert said == f"hopscope {project['project']['version']}, Python {platform.python_version()}\n"


def test_executed_notebooks_as_json(workbench, tmp_path):
    """Pages, seconds and the folder of figures."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("figures = 'plots'")])
    notebook.cells[0].metadata["tags"] = ["parameters"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "01_one.ipynb")
    words = ("run", "--notebooks", tmp_path, "-o", tmp_path / "out", "--set", "figures=drawn", "--json")
    said = json.loads(workbench(*words).stdout)
    (one,) = said["notebooks"]
    assert one["notebook"] == str(tmp_path / "out" / "01_one.ipynb") and Path(one["page"]).exists()
    assert one["seconds"] > 0 and Path(said["figures"]).name == "drawn"


@pytest.mark.parametrize(
    ("words", "engine"),
    [
        ((), "worked"),
        (("--data", "meridian"), "worked"),
        (("--data", "DATA"), "rules"),
        (("--set", "data=DATA"), "rules"),
        (("--data", "DATA", "--set", "engine=replay:kept.sqlite"), "replay:kept.sqlite"),
    ],
)
def test_other_data_are_run_by_rules_unless_an_engine_is_given(workbench, tmp_path, words, engine):
    """The replies written by hand are about the bundled corpus; the first line says so."""
    cells = ["data = 'meridian'\nengine = 'worked'", "print(f'{data} by {engine}')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    notebook.cells[0].metadata["tags"] = ["parameters"]
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, tmp_path / "01_one.ipynb")
    given = (word.replace("DATA", str(tmp_path / "mine")) for word in words)
    said = workbench("run", "--notebooks", tmp_path, "-o", tmp_path / "out", *given)
    (output,) = nbformat.read(tmp_path / "out" / "01_one.ipynb", as_version=4).cells[-1].outputs
    assert output.text.strip().endswith(f"by {engine}")
    first = said.output.splitlines()[0]
    assert first.startswith("engine=rules, because the replies written by hand") == (engine == "rules"), first


def test_passages_are_inserted_and_deleted(workbench, notes, tmp_path):
    folder, more = tmp_path / "index", tmp_path / "more"
    workbench("index", notes, "-o", folder, "--encoder", "hash")
    shutil.copytree(folder, tmp_path / "before")
    shutil.copytree(notes, more)
    row = {"id": "new", "title": "Glomma", "text": "The Glomma flows past Halden."}
    with (more / "corpus.jsonl").open("a") as corpus:
        corpus.write(json.dumps(row) + "\n")
    for inserted in (1, 0):
        said = json.loads(workbench("insert", folder, more, "--json").stdout)
        assert said["inserted"] == inserted and said["counts"]["passages"] == 4
    for deleted in (["new"], []):
        said = json.loads(workbench("delete", folder, "new", "--json").stdout)
        assert said["deleted"] == deleted and said["counts"]["passages"] == 3
        assert said["absent"] == ([] if deleted else ["new"])
    assert "not in the index, or deleted before: new" in workbench("delete", folder, "new").stderr
    assert same_content(Index.open(folder), Index.open(tmp_path / "before"))
    (more / "corpus.jsonl").write_text(json.dumps({**row, "id": "0"}) + "\n")
    assert "another passage with the id '0'" in workbench("insert", folder, more, code=1).stderr


def test_the_bundled_corpus_is_asked_by_its_name(workbench, meridian_index, tmp_path, monkeypatch):
    """Its index in the folder of indexes is opened; the trace has the retrieval and the reading."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    shutil.copytree(meridian_index.folder, tmp_path / "indexes" / "meridian")
    said = workbench("ask", "meridian", "Who designed the Lanthorn Bridge?", "-m", "bm25", "--trace")
    assert "First the index" not in said.output and "RETRIEVER match words" in said.output
    assert "CHAIN direct" in said.output and "RULES answer" in said.output
    asked = json.loads(workbench("ask", "meridian", "Who built it?", "-m", "bm25", "--trace", "--json").stdout)
    assert [event["step"] for event in asked["trace"]] == ["bm25", "match words", "direct", "answer"]


def test_a_folder_of_documents_is_asked_as_it_stands(workbench, tmp_path, monkeypatch):
    """It is indexed first, in the folder that `index` would fill, and found there by the next question."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKBENCH_HOME", raising=False)
    (tmp_path / "my" / "papers").mkdir(parents=True)
    (tmp_path / "my" / "papers" / "orsby.txt").write_text("Orsby lies on the River Aldra.\n")
    asked = ("ask", "my/papers", "Where does Orsby lie?", "-m", "bm25")
    assert "First the index" in workbench(*asked).output
    again = workbench(*asked).output
    assert "First the index" not in again and "orsby.txt" in again
    (tmp_path / "my" / "papers" / "mira.txt").write_text("Lake Mira is a lake.\n")
    said = " ".join(workbench(*asked, code=1).output.split())
    assert "built from other texts than my/papers holds now" in said and "`workbench index my/papers`" in said
    assert sorted(path.name for path in (tmp_path / "my" / "papers").iterdir()) == ["mira.txt", "orsby.txt"]
    said = " ".join(workbench("check", "my/papers", code=1).output.split())
    assert "is not an index, a run, a grid, a recording or a bundle" in said


def test_a_misspelt_name_is_asked_back(workbench, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "did you mean 'meridian'?" in workbench("ask", "meridan", "Who built it?", "-m", "bm25", code=1).output
    said = workbench("ask", "musique/dev/500@42", "Who built it?", "-m", "bm25", code=1).output
    assert "workbench index musique/dev/500@42" in said


def test_no_model_indexes_the_bundled_corpus_unasked(workbench, tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    said = workbench("ask", "meridian", "Who built it?", "--engine", "openai:gpt-4o-mini", code=1)
    assert "workbench index meridian --engine openai:gpt-4o-mini" in " ".join(said.stderr.split())
    assert not (tmp_path / "indexes").exists()


def test_ask_with_a_compressed_context_a_route_and_a_query(workbench, meridian_index):
    asked = ("ask", meridian_index.folder, "Who designed the Lanthorn Bridge?")
    said = workbench(*asked, "--reader", "cot", "--compress", "graph-walk[budget=500]", "--route", "--json").stdout
    assert json.loads(said)["mark"] is None
    found = json.loads(workbench(*asked, "--reader", "sparql-exec", "--json").stdout)
    assert found["answer"] == "" or found["mark"] in ("verified", "contradicted", "unsupported")
    shown = workbench(*asked, "--reader", "sparql-exec").output
    assert not found["mark"] or f"{found['mark']} by the facts" in shown


def test_index_evaluate_and_resume(workbench, tmp_path):
    corpus = tmp_path / "town"
    corpus.mkdir()
    rows = [
        {"id": f"p{i}", "title": f"Bridge {i}", "text": f"Bridge {i} in Halden was built by Karl Weiss in 190{i}."}
        for i in range(3)
    ]
    (corpus / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    question = {"id": "q", "question": "Who built Bridge 1?", "answers": ["Karl Weiss"], "support": ["p1"]}
    (corpus / "questions.jsonl").write_text(json.dumps(question) + "\n")
    folder, run = tmp_path / "index", tmp_path / "run"
    built = json.loads(workbench("index", corpus, "-o", folder, "--set", "facts.normalise=ascii", "--json").stdout)
    assert built["counts"]["passages"] == 3
    for _ in range(2):
        words = (
            "evaluate",
            folder,
            "-q",
            corpus / "questions.jsonl",
            "-m",
            "dense",
            "-m",
            "bm25",
            "-r",
            "direct",
            "-o",
            run,
            "--json",
        )
        done = json.loads(workbench(*words).stdout)
        assert done["table"][0]["em"] == 1
    assert {row["method"] for row in done["compare"]} == {"bm25"}


def test_documents_that_cannot_be_read_are_named_last_or_refused(workbench, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "bridge.txt").write_text("Karl Weiss built the bridge in Halden.")
    for name in ("blank", "empty"):
        (folder / f"{name}.txt").write_text(" " if name == "blank" else "")
    (folder / "questions.jsonl").write_text('{"question": "Who built it?", "support": ["bridge.txt#1"]}\n')
    said = [
        "2 files skipped, 2 read:",
        "file       why",
        "blank.txt  contains no text; add some, or remove the file",
        "empty.txt  is empty; add some text, or remove the file",
    ]
    for verb in (("index", folder, "-o", tmp_path / "index"), ("estimate", folder)):
        assert [line.strip() for line in workbench(*verb).stderr.splitlines()[-4:]] == said
        skipped = json.loads(workbench(*verb, "--json").stdout)["skipped"]
        assert [one["file"] for one in skipped] == ["blank.txt", "empty.txt"]
        told = workbench(*verb, "--strict", code=1).stderr
        assert f"{folder / 'blank.txt'} contains no text" in told.splitlines()[-1], "a path is not broken into lines"
    assert "skipped" not in workbench("estimate", "meridian", "--strict", "--sample", 1).stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("index", "nowhere"), "neither a data set known by name"),
        (("ask", "nowhere", "?"), "neither a data set known by name nor a folder"),
        (("ask", "INDEX", "?", "-m", "xyzzy"), "no method is called 'xyzzy'; there are "),
        (("ask", "INDEX", "?", "-m", "hiporag2"), "'hiporag2'; did you mean 'hipporag2' or 'hipporag1'? There are "),
        (("ask", "INDEX", "?", "-m", "hipporag2[damping=2]"), "damping=2"),
        (("ask", "INDEX", "?", "-e", "oracle"), "engine 'oracle' is unknown"),
        (("ask", "INDEX", "?", "-r", "xyzzy"), "no reader is called"),
        (("index", "meridian", "--set", "facts"), "write layer.setting=value"),
        (("run", "--set", "colour=blue"), "no notebook has a parameter 'colour'"),
    ],
)
def test_mistakes_are_told_in_one_line_without_a_traceback(workbench, meridian_index, words, said):
    words = [str(meridian_index.folder) if word == "INDEX" else word for word in words]
    result = workbench(*words, code=1)
    told = " ".join(result.stderr.split())
    assert said in told
    assert "Traceback" not in result.output


@pytest.mark.parametrize("words", [("-r", "xyzzy"), ("-m", "xyzzy")])
def test_an_unknown_method_or_reader_is_told_before_an_index_is_built(workbench, tmp_path, monkeypatch, words):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    assert "is called 'xyzzy'; there are" in workbench("ask", "meridian", "?", *words, code=1).stderr
    assert not list(tmp_path.iterdir())


HOSTILE = "\x1b[2J\x9b31m\u202e\x07"


def test_no_name_steers_the_terminal(workbench, tmp_path):
    """Names of files and of settings, in what is said, in what is refused and in JSON."""
    place = tmp_path / f"a{HOSTILE}"
    place.mkdir()
    (place / "notes.txt").write_text("Orsby lies on the River Aldra.")
    (place / f"b{HOSTILE}.txt").write_bytes(b"\xff")
    building = ["index", place, "--encoder", HashEncoder.name, "--out", place / "index"]
    for words in (building, ["estimate", place, "--sample", "0"]):
        for more in ([], ["--json"]):
            said = workbench(*words, *more).output.replace("\r", "")  # of the progress
            assert "notes" in said or "a�" in said or "\\u001b" in said
            assert not UNSHOWABLE.search(said)
    for words in (["index", place / "x"], ["check", place], ["export", place, "--to", f"x.{HOSTILE}"]):
        assert not UNSHOWABLE.search(workbench(*words, code=1).output)
