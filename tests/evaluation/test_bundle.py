"""A bundle holds what its runs hold, says nothing of the machine, and is written whole or not at all."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest
from direction import harm_of_direction
from dot_traces import dot_trace
from rounds import bdtr_trace
from test_analyses import QUESTIONS, written
from test_views import HOSTILE
from typer.testing import CliRunner

import workbench as wb
from workbench.cli.app import app
from workbench.data import Dataset
from workbench.errors import DataError, SettingError
from workbench.records import Passage, Question
from workbench.testing import small_index
from workbench.trace import Trace
from workbench.views.bundle.contents import Contents
from workbench.views.bundle.parts import traced_parts
from workbench.views.bundle.store import bare
from workbench.views.parts import Part
from workbench.views.render import html_of

PACKED = re.compile(r'hopscope\("(\w+)","([A-Za-z0-9+/=]+)"\)\n')


def unpacked(words: str):
    return json.loads(gzip.decompress(base64.b64decode(words)))


def chunks(folder: Path) -> dict[str, object]:
    """Every chunk of a bundle in a folder, by name."""
    found = (PACKED.fullmatch(path.read_text("ascii")) for path in (folder / "data").iterdir())
    return {name: unpacked(packed) for name, packed in (match.groups() for match in found)}


def summary(page: Path):
    return unpacked(re.search(r'id="summary">([^<]+)<', page.read_text("utf-8"))[1])


def part_of(data) -> Part | str:
    if isinstance(data, str):
        return data
    kind, look, facts, *inside = data
    return Part(kind, tuple(map(part_of, inside)), look, facts)


def questions(folder: Path) -> list[dict]:
    """The details of all questions, with their parts as HTML."""
    found = chunks(folder)
    whole = [one for at in range(len(found)) for one in found[f"q{at}"]]
    for cell in (cell for one in whole for cell in one["cells"] if cell):
        cell["parts"] = {title: html_of(part_of(data)) for title, data in cell["parts"]}
    return whole


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A real run of two methods over the tiny corpus, read by rules with compression, and its index."""
    from tiny import TinyEncoder, tiny_dataset

    folder, data = tmp_path_factory.mktemp("bundles"), tiny_dataset()
    index = wb.Index.build(data, None, folder / "index", encoder=TinyEncoder(), progress=False)
    methods = [wb.method(spec, index) for spec in ("dense", "bdtr[backbone=dense]")]
    reader = wb.reader("direct[compress=similarity]", index=index)
    return wb.evaluate(data.questions, methods, reader, folder / "first", progress=False), index


@pytest.fixture(scope="module")
def folder(made, tmp_path_factory):
    run, index = made
    return wb.bundle(run, out=tmp_path_factory.mktemp("written") / "bundle", index=index, progress=False)


def test_the_page_lists_questions_answers_scores_and_causes(made, folder):
    run, _ = made
    said = summary(folder / "index.html")
    assert [one["name"] for one in said["columns"]] == run.methods
    assert [one["id"] for one in said["questions"]] == [question.id for question in run.questions]
    assert said["questions"][0]["gold"] == ["Lake Mira"] and said["questions"][0]["kinds"] == ["bridge", "2 hops"]
    assert said["measures"][0] == "accuracy"
    for column, method in enumerate(run.methods):
        rows = {row["question_id"]: row for row in run.rows if row["method"] == method}
        cases = {case.question_id: case.cause for case in wb.diagnose(run).cases if case.method == method}
        for question, cell in zip(run.questions, said["cells"][column], strict=True):
            row = rows[question.id]
            expected = [row["scores"].get(measure) for measure in said["measures"]]
            assert cell["scores"] == pytest.approx(expected, abs=5e-5)
            assert (cell["answer"], cell["cause"]) == (row["answer"], cases.get(question.id, ""))


def text_of(part: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", re.sub("</?span[^>]*>", "", part))).split())


def test_details_hold_ranking_contexts_replay_and_trace(made, folder):
    run, _ = made
    for question, one in zip(run.questions, questions(folder), strict=True):
        for row, cell in zip([row for row in run.rows if row["question_id"] == question.id], one["cells"], strict=True):
            parts = {name: text_of(part) for name, part in cell["parts"].items()}
            at = [parts["ranking"].index(f" {name} ") for name, _ in row["ranking"]]
            assert at == sorted(at) and "Orsby lies on" in parts["ranking"]
            for whole in (True, False):
                assert " ".join(run.context(row, retrieved=whole).split()) in parts["context"]
            events = [event.step for event in run.trace(question.id, row["method"])]
            assert ("replay" in parts) == ("trace" in parts) == ("stages" not in parts) == (row["method"] != "dense")
            stepped = cell["parts"].get("stages") or cell["parts"]["trace"]
            steps = [unescape(step).strip() for step in re.findall(r"</span> ([^<]+)", stepped)]
            if row["method"] == "dense":
                (stage,) = re.findall("<summary><b>([^<]+)</b></summary>", stepped)
                events = events[events.index(stage) + 1 :]  # inside the stage, which is the reader's
            assert steps[: len(events)] == events


def test_a_replay_has_a_step_for_each_stage_and_a_dot_one_for_each_iteration():
    asked = Question("q", "?", ("x",), support=("p2",))
    replayed = shown({"label": "bdtr", "settings": {"iterations": 1}}, bdtr_trace(), asked)
    assert re.findall(r"<summary><b>([^<]+)</b></summary>", replayed["replay"]) == ["round 0", "round 1", "end"]
    assert replayed["replay"].count("data-bump='{") == 1
    traced = shown({"label": "dotrag", "settings": {}}, dot_trace(), asked)
    assert "hopscope-graph" in traced["DOTs"] and "<b>iteration 1</b>" in traced["DOTs"]
    assert "Ilse Varn" in traced["DOTs"] and "trace" in traced
    broken = shown({"label": "dotrag", "settings": {}}, bdtr_trace(), asked)
    assert "nothing to replay" in broken["DOTs"]  # said, and the trace is there all the same


def test_a_method_without_a_view_of_its_own_has_stages_that_say_all_that_its_trace_says():
    trace, asked = Trace(), Question("q", "?", ())
    with trace.span("CHAIN", "new[x=1]"):
        with trace.span("RETRIEVER", "look", depth=3) as look:
            look.score([("p1", 0.75)])
            with trace.span("LLM", "judge", engine="openai:m") as judge:
                judge.set(verdict="fits")
        with trace.span("EMBEDDING", "encode question", text="?"):
            pass
    with trace.span("CHAIN", "direct") as read:
        read.set(answer="Orsby")
    parts = dict(traced_parts({"label": "new[x=1]", "settings": {}}, trace, asked, {"p1": Passage("p1", "Mira", "")}))
    assert list(parts) == ["stages"] and parts["stages"].look == "steps"
    stages = html_of(parts["stages"])
    assert re.findall("<summary><b>([^<]+)</b></summary>", stages) == ["look", "direct"]
    words = text_of(stages)
    for said in ("RETRIEVER", "in: depth 3", "Mira 0.7500", "LLM judge", "out: verdict fits", "out: answer Orsby"):
        assert said in words
    assert [*shown({"label": "new", "settings": {}}, Trace(), asked)] == ["trace"]  # which says that it has nothing


@pytest.mark.parametrize("spec", ["bm25", "hipporag2", "linearrag", "rrf", "youtu"])
def test_what_a_method_did_is_stepped_through(spec):
    asked = Question("q", "When was the engineer behind the Lanthorn Bridge born?", ())
    trace = wb.method(spec, small_index()).retrieve(asked.question).trace
    (_, searched), *_ = traced_parts({"label": spec, "settings": {}}, trace, asked, {})
    assert searched.look == "steps" and searched.inside


def shown(config, trace, asked) -> dict[str, str]:
    return {title: html_of(part) for title, part in traced_parts(config, trace, asked, {})}


def test_the_results_have_means_labels_differences_outcomes_and_causes(folder):
    page = (folder / "index.html").read_text("utf-8")
    for words in ("Means", "Differences", "Side by side", "Why answers are wrong", "by rules", "95 %"):
        assert words in page
    assert "#questions=&amp;show=only%3A0%3A1" in page


def test_a_row_of_a_paper_is_shown_with_its_verdict(tmp_path):
    from test_analyses import BDTR

    run = written(
        tmp_path / "run", {"hipporag2": {}, "bdtr": BDTR}, {"hipporag2": {"em": [0, 1]}, "bdtr": {"em": [1, 1]}},
        questions=QUESTIONS[:2], data={"name": "musique/dev/hipporag-1000", "fingerprint": ""}, trace="off",
    )  # fmt: skip
    page = (wb.bundle(run, out=tmp_path / "b", progress=False) / "index.html").read_text("utf-8")
    assert "Papers&#x27; tables" in page or "Papers' tables" in page
    assert "not comparable" in page and "The paper&#x27;s claims" in page and str(tmp_path) not in page


def test_configurations_are_compared_at_equal_budgets(made, folder):
    """By the same table and figure as `wb.compare`, drawn in the page; rules spent no dollars."""
    run, _ = made
    page = (folder / "index.html").read_text("utf-8")
    shown = page[page.index("Equal budgets") : page.index("Side by side")]
    assert re.findall(r"<summary>equal (\w+)</summary>", shown) == ["tokens", "requests"]
    for row in wb.compare(run, at="tokens").rows:
        assert f">{row['quality']:.4f}<" in shown and f">{row['cost']:.4f}<" in shown
    for drawn in re.findall("src='data:image/svg[+]xml;base64,([^']+)'", shown):
        assert base64.b64decode(drawn).startswith(b"<?xml")
    assert shown.count("<img ") == 2


def test_equal_runs_give_equal_bytes_wherever_they_are(made, folder, tmp_path):
    run, index = made
    moved = tmp_path / "elsewhere" / run.folder.name
    shutil.copytree(run.folder, moved)
    again = wb.bundle(moved, out=tmp_path / "again", index=index, progress=False)
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(again).as_posix() for path in again.rglob("*") if path.is_file())
    assert all((folder / name).read_bytes() == (again / name).read_bytes() for name in names)
    said = json.loads((folder / "bundle.json").read_text())
    assert said["files"] == {
        name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names if name != "bundle.json"
    }


def test_one_file_holds_the_same(made, folder, tmp_path):
    run, index = made
    page = wb.bundle(run, out=tmp_path / "one.html", index=index, progress=False)
    assert page.is_file() and [path.name for path in tmp_path.iterdir()] == ["one.html"]
    text = page.read_text("utf-8")
    found = {name: unpacked(data) for name, data in re.findall(r'id="([qt]\d+)">([^<]+)<', text)}
    assert found == chunks(folder) and summary(page) == summary(folder / "index.html")
    still = re.sub(r"<script nonce.*?</script>", "", text, flags=re.DOTALL)
    assert not re.search("src=(?!'data:image/svg)", still)


def test_the_policy_lets_nothing_in_but_what_bears_the_nonce(folder):
    page = (folder / "index.html").read_text("utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    nonce = re.search(r"'nonce-(\w{32})'", policy)[1]
    assert rules == {
        "default-src": "'none'", "script-src": f"'nonce-{nonce}'", "style-src": f"'nonce-{nonce}'",
        "img-src": "data:", "connect-src": "'none'", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    assert nonce not in "".join(path.read_text() for path in (folder / "data").iterdir())
    assert not re.findall(r"""\b(?:src|href|action|data)\s*=\s*["'](?!#|data:image/svg)""", page)
    assert not re.search(r"""<[^>]*\s(?:style|on\w+)\s*=""", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_two_runs_stand_side_by_side(made, tmp_path):
    run, index = made
    other = wb.evaluate(
        run.questions, [wb.method("dense", index), wb.method("bm25", index)], wb.reader("direct", index=index),
        run.folder.with_name("second"), progress=False,
    )  # fmt: skip
    folder = wb.bundle(run, other, out=tmp_path / "both", progress=False)
    names = [one["name"] for one in summary(folder / "index.html")["columns"]]
    assert names == ["first: dense", "first: bdtr[backbone=dense]", "second: dense", "second: bm25"]
    assert len({one["short"] for one in summary(folder / "index.html")["columns"]}) == 4
    page = (folder / "index.html").read_text("utf-8")
    assert "second against first" in page and "direct[compress=similarity]" in page
    assert [cell is not None for cell in questions(folder)[0]["cells"]] == [True] * 4


def test_runs_on_other_questions_of_the_same_id_are_refused(made, tmp_path):
    run, index = made
    asked = [replace(run.questions[0], question="Which sea?")]
    other = wb.evaluate(asked, [wb.method("dense", index)], None, tmp_path / "other", progress=False)
    with pytest.raises(SettingError, match="not about the same questions: 'q1'"):
        wb.bundle(run, other, out=tmp_path / "both", progress=False)


def test_a_run_without_reader_or_traces_is_shown_as_far_as_it_goes(made, tmp_path):
    run, index = made
    bare_run = wb.evaluate(
        run.questions, [wb.method("dense", index)], None, tmp_path / "bare", trace="off", progress=False
    )
    folder = wb.bundle(bare_run, out=tmp_path / "b", progress=False)
    said = summary(folder / "index.html")
    assert said["measures"][0] == "all_gold@5" and not said["answered"]
    assert questions(folder)[0]["cells"][0]["parts"].keys() == {"ranking"}
    assert "The run has no reader" in (folder / "index.html").read_text("utf-8")


# -- damaged and unfinished runs ---------------------------------------------------------------------------------------


@pytest.fixture
def copy(made, tmp_path):
    return Path(shutil.copytree(made[0].folder, tmp_path / "copy"))


@pytest.mark.parametrize("part", ["traces", "contexts"])
def test_missing_files_are_named_and_leave_the_bundle_that_was_there(copy, tmp_path, part):
    target = wb.bundle(copy, out=tmp_path / "b", progress=False)
    before = (target / "index.html").read_bytes()
    next((copy / part).iterdir()).unlink()
    with pytest.raises(DataError, match="question 'q"):
        wb.bundle(copy, out=target, progress=False)
    assert (target / "index.html").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "copy"]


def test_nothing_but_a_bundle_is_overwritten(made, tmp_path):
    run, _ = made
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "index.html").write_text("mine")
    (tmp_path / "thesis.html").write_text("mine")
    for target in ("notes", "thesis.html"):
        with pytest.raises(SettingError, match="no bundle and would be overwritten"):
            wb.bundle(run, out=tmp_path / target, progress=False)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(SettingError, match="is a folder"):
        wb.bundle(run, out=tmp_path / "folder.html", progress=False)
    assert (tmp_path / "thesis.html").read_text() == "mine"
    target = wb.bundle(run, out=tmp_path / "b", progress=False)
    (target / "data" / "q99.js").write_text("old")
    wb.bundle(run, out=target, progress=False)  # replaces its own, whole
    assert not (target / "data" / "q99.js").exists()


def test_the_command_says_where_it_is(made, tmp_path):
    run, _ = made
    result = CliRunner().invoke(
        app, ["bundle", str(run.folder), "--out", str(tmp_path / "b.html"), "--title", "Tiny <run>", "--json"]
    )
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["page"] == str(tmp_path / "b.html") and said["bytes"] == (tmp_path / "b.html").stat().st_size
    assert "<title>Tiny &lt;run&gt;</title>" in (tmp_path / "b.html").read_text("utf-8")
    result = CliRunner().invoke(app, ["bundle", str(tmp_path)])
    assert result.exit_code == 1 and "is not a run" in result.output


# -- what a page must not say ------------------------------------------------------------------------------------------


def test_folders_and_keys_of_this_machine_stay_here(copy, tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "sk-abcdefghijklmnop")
    rows = [json.loads(line) for line in (copy / "results.jsonl").read_text().splitlines()]
    rows[0]["failure"] = f"OSError: {copy}/x and /srv/models/one.gguf refused sk-abcdefghijklmnop"
    (copy / "checksums.json").unlink(missing_ok=True)
    (copy / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    config = json.loads((copy / "run.json").read_text())
    config["engine"] = "local:/srv/models/one.gguf"
    (copy / "checksums.json").unlink(missing_ok=True)
    (copy / "run.json").write_text(json.dumps(config))
    context = next((copy / "contexts").iterdir())
    context.write_text(f"{context.read_text()}\nread from {copy}/notes with sk-abcdefghijklmnop")
    folder = wb.bundle(copy, out=tmp_path / "b", progress=False)
    whole = (folder / "index.html").read_text("utf-8") + json.dumps([chunks(folder), summary(folder / "index.html")])
    whole += (folder / "bundle.json").read_text("utf-8")
    for secret in (str(copy), str(tmp_path), str(Path.home()) + "/", "/srv/models", "sk-abcdefghijklmnop"):
        assert secret not in whole
    assert "one.gguf" in whole and "[key]" in whole and "read from notes" in whole


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("local:/home/ann/m.gguf", "local:m.gguf"),
        ("gfm_rag[checkpoint=/data/x/trained]", "gfm_rag[checkpoint=trained]"),
        (r"C:\Users\ann\m.gguf is missing", "m.gguf is missing"),
        ("see https://example.org/a/b and 3/4 km/h", "see https://example.org/a/b and 3/4 km/h"),
        ("either/or/both", "either/or/both"),
    ],
)
def test_paths_become_names(words, expected):
    assert bare(words) == expected


# -- hostile text ------------------------------------------------------------------------------------------------------


def test_hostile_text_is_nowhere_in_the_page_as_it_was(tmp_path):
    """Only letters of base64 and escaped text reach the file; what the browser makes of it is tested in Chromium."""
    text = "".join(HOSTILE).replace("\ud800", "")
    asked = tuple(Question(f"q{at} {text}", text, (text,), text, 2, (text,)) for at in range(2))
    traces = {text: [bdtr_trace(), bdtr_trace()]}
    run = written(
        tmp_path / "run", {text: {"iterations": 1}}, {text: {"em": [0.0, 1.0]}}, questions=asked,
        rankings={text: [[text]] * 2}, traces=traces,
    )  # fmt: skip
    (run.folder / "checksums.json").unlink(missing_ok=True)
    (run.folder / "questions.jsonl").write_text(
        "".join(
            json.dumps({"id": one.id, "question": text, "answers": [text], "support": [text]}) + "\n" for one in asked
        )
    )
    page = wb.bundle(run.folder, out=tmp_path / "b.html", title=text, progress=False).read_text("utf-8")
    for attack in ("<script>alert(1)", "<img src=x", "<!-- ]]>", "</script></body>"):
        assert attack not in page
    begun = [re.sub(r'nonce="\w+"', "nonce", tag) for tag in re.findall(r"<script[^>]*>", page)]
    data = '<script type="text/plain" id="{}">'
    assert begun == [data.format("summary"), "<script nonce>", data.format("q0")]


def test_no_text_is_turned_around_and_ids_stay_apart(tmp_path):
    """Also in what the page unpacks; two ids that differ in what nobody sees have each their own passage."""
    from tiny import TinyEncoder

    names, turned = ("p\u202e", "p\u200f", "p"), "\u202egnp.exe\u202c \u2066\u061c"
    passages = tuple(Passage(name, f"{turned} {at}", "Orsby lies on the Aldra.") for at, name in enumerate(names))
    asked = [Question(turned, f"Where is {turned}?", (turned,), type=turned, support=names[:2])]
    index = wb.Index.build(
        Dataset(turned, passages, tuple(asked), ()), None, tmp_path / "index", encoder=TinyEncoder(),
        layers=["passages"], progress=False,
    )  # fmt: skip
    run = wb.evaluate(asked, [wb.method("dense", index)], wb.reader("direct"), tmp_path / "run", progress=False)
    page = wb.bundle(run, out=tmp_path / "page.html", index=index, progress=False).read_text("utf-8")
    assert not harm_of_direction(page)
    wb.bundle(run, out=tmp_path / "folder", index=index, progress=False)
    shown = text_of(questions(tmp_path / "folder")[0]["cells"][0]["parts"]["ranking"])
    assert all(f" {at} {name} " in shown for at, name in enumerate(("p<U+202E>", "p<U+200F>", "p")))


def test_grids_are_shown_reader_by_reader(made, tmp_path):
    run, index = made
    wb.grid(run.questions, [wb.method("dense", index)], {"a": "direct", "b": "direct[k=1]"}, tmp_path / "grid",
            progress=False)  # fmt: skip
    found = Contents.of([tmp_path / "grid"])
    assert len(found.runs) == 2 and len(found.columns) == 2
    with pytest.raises(SettingError, match="a bundle needs a run"):
        Contents.of([])
