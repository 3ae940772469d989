"""Runs: what is in the folder, that they can be stopped anywhere, and that nothing but timings differs."""

import json

import pytest

import workbench as wb
from workbench.errors import EngineUnavailable, SettingError
from workbench.llm import Result
from workbench.llm.meter import Meter
from workbench.methods.base import Method
from workbench.records import ContextGraph, Evidence, Question, Scored, Unit

FIELDS = {
    "question_id", "type", "hops", "method", "key", "ranking", "selected", "nodes", "context", "retrieved",
    "context_tokens", "read", "read_tokens", "answer", "abstained", "scores", "scored", "judge", "reading", "proof",
    "failure", "fallback", "usage",
}  # fmt: skip


class Broken(Method):
    """Fails on one question."""

    name, paper, scale = "broken", "none", "none"

    def search(self, question, k, trace):
        if "founder" in question:
            raise ZeroDivisionError("one hop too many")
        return Evidence(question, self.label, self.scale, ())


class Dying:
    """A reader's engine whose endpoint is gone after some answers."""

    name, workers = "dying", 1

    def __init__(self, lives):
        self.lives, self.meter = lives, Meter()

    def run(self, step, inputs, *, trace=None):
        self.lives -= 1
        if self.lives < 0:
            raise EngineUnavailable("gone")
        return [Result(step.output(thought="", answer="Lake Mira", abstained=False), parse="text")]


@pytest.fixture
def ask(tiny, tiny_index, tmp_path):
    def ask(out="run", methods=("hipporag2", "dense"), reader=True, **settings):
        chosen = [wb.method(spec, tiny_index) if isinstance(spec, str) else spec for spec in methods]
        reader = wb.reader("direct") if reader is True else reader
        return wb.evaluate(tiny.questions, chosen, reader, tmp_path / out, progress=False, **settings)

    return ask


def files(folder):
    """Everything of a run that must not differ from run to run."""
    found = {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    found.pop("timings.jsonl")
    return found


def test_the_folder_holds_what_is_promised(ask, tiny):
    run = ask()
    assert [(row["question_id"], row["method"]) for row in run.rows] == [
        (q.id, m) for q in tiny.questions for m in ("hipporag2", "dense")
    ]
    assert all(row.keys() == FIELDS for row in run.rows)
    first = run.rows[0]
    assert first["scores"]["recall@10"] == 1
    assert "Orsby" in run.context(first)
    assert run.trace("q1", "hipporag2").events[0].step == "hipporag2"
    assert {row["stage"] for row in run.seconds().to_dict("records")} >= {"hipporag2", "hipporag2 / walk", "direct"}
    assert json.loads((run.folder / "usage.json").read_text())["hipporag2"]["fact_filter"]["calls"] == 3
    assert (run.folder / "table.csv").read_text().startswith("method,recall@1")
    config = run.config
    assert (config["engine"], config["data"]["name"], config["reader"]) == ("rules", "tiny", "direct")
    assert config["methods"]["hipporag2"]["settings"]["damping"] == 0.5
    assert config["prompts"].keys() == {"answer", "fact_filter"}


def test_the_same_inputs_give_the_same_bytes(ask):
    assert files(ask("a").folder) == files(ask("b", workers=4).folder)


def test_seconds_say_where_another_row_had_encoded_the_question(ask):
    assert ask(methods=("dense", "hipporag2", "bm25")).table(seconds=True)["reused"].tolist() == [0, 3, 0]


@pytest.mark.parametrize("rows", [0, 3, 6])
def test_a_run_cut_off_anywhere_is_taken_up(ask, rows):
    """Cut in the middle of a row, with and without its timing."""
    whole = files(ask("whole").folder)
    cut = ask("cut").folder
    lines = (cut / "results.jsonl").read_bytes().splitlines(keepends=True)
    torn = lines[rows][:20] if rows < len(lines) else b""
    (cut / "results.jsonl").write_bytes(b"".join(lines[:rows]) + torn)
    for name in ("usage.json", "checksums.json"):  # which are written when a run is closed
        (cut / name).unlink()
    assert files(ask("cut").folder) == whole
    assert len((cut / "timings.jsonl").read_text().splitlines()) == len(lines)


def test_a_broken_question_is_a_row_with_its_failure(ask, tiny_index):
    run = ask(methods=(Broken(tiny_index), "dense"), reader=None)
    failed = [row for row in run.rows if row["failure"]]
    assert [(row["question_id"], row["failure"]) for row in failed] == [("q2", "ZeroDivisionError: one hop too many")]
    assert failed[0]["scores"]["recall@5"] == 0  # it counts, as zero
    assert run.table().loc["broken", "failures"] == 1
    assert "ZeroDivisionError" in repr(run.trace("q2", "broken"))


def test_an_engine_that_dies_stops_the_run_and_the_next_call_goes_on(ask):
    with pytest.raises(EngineUnavailable):
        ask(reader=wb.reader("direct", Dying(lives=3)))
    run = ask(reader=wb.reader("direct", alive := Dying(lives=99)))
    assert alive.lives == 99 - 3  # the first three answers were kept
    assert len(run.rows) == 6


def test_another_run_in_the_folder_is_refused(ask):
    ask()
    with pytest.raises(SettingError, match=r"differs in .*\bk\b"):
        ask(k=7)
    with pytest.raises(SettingError, match="reader"):
        ask(reader=None)


@pytest.mark.parametrize("level", ["off", "ids"])
def test_trace_levels(ask, level):
    run = ask(trace=level)
    assert len(list((run.folder / "traces").iterdir())) == (0 if level == "off" else 6)
    assert len(run.seconds())


def test_the_questions_gold_is_not_shown_to_the_method(ask, tiny_index):
    """A method that looks for anything but the text finds nothing to look at."""
    seen = []

    class Spy(Broken):
        name = "spy"

        def search(self, question, k, trace):
            seen.append(question)
            return Evidence(question, self.label, self.scale, ())

    ask(methods=(Spy(tiny_index),))
    assert all(type(question) is str for question in seen)


class OwnContext(Method):
    """Ranks nothing, and lays out a context of its own."""

    name, paper, scale = "own", "none", "none"

    def search(self, question, k, trace):
        graph = ContextGraph(chunks=(Unit("c1", "The founder of the pier was born by Lake Mira."),))
        return Evidence(question, self.label, self.scale, (), context=graph)


def test_coverage_without_a_reader_is_of_the_context_that_the_method_lays_out(tiny_index, tmp_path):
    question = Question("q", "Where was the founder born?", ("Lake Mira",))
    run = wb.evaluate([question], [OwnContext(tiny_index)], None, tmp_path / "run", measures=["coverage"],
                      progress=False)  # fmt: skip
    (row,) = run.rows
    assert row["scores"]["coverage"] == 1 and row["context_tokens"] > 10 and row["context"] is None
    assert "Lake Mira" in run.context(row, retrieved=True)
    read = wb.evaluate([question], [OwnContext(tiny_index)], wb.reader("direct"), tmp_path / "read",
                       measures=["coverage"], progress=False)  # fmt: skip
    assert read.rows[0]["context_tokens"] == row["context_tokens"]  # the same text
    assert row["layout"] == read.rows[0]["layout"] == "ket_rag"
    passages = wb.evaluate([question], [OwnContext(tiny_index)], wb.reader("direct[layout=passages]"),
                           tmp_path / "passages", measures=["coverage"], progress=False)  # fmt: skip
    assert "layout" not in passages.rows[0]
    again = wb.evaluate([question], [OwnContext(tiny_index)], None, tmp_path / "run", measures=["coverage:substring"],
                        progress=False)  # fmt: skip
    assert again.rows[0]["scores"]["coverage:substring"] == 1  # measured from the stored text


class Choosing(Method):
    """Would have the reader read three passages."""

    name, paper, scale = "choosing", "none", "none"

    def search(self, question, k, trace):
        found = tuple(Scored(passage, 1.0) for passage in self.index.passages.passages[:k])
        cut = f"the final set of 3 passages is cut to k={k}" if k < 3 else None
        return Evidence(question, self.label, self.scale, found, selected=min(3, k), fallback=cut)


def test_a_final_set_that_is_cut_to_k_is_said_of_the_run(ask, tiny, tiny_index):
    n = len(tiny.questions)
    short = ask("short", methods=(Choosing(tiny_index),), reader=None, measures=["recall@1"], k=2)
    said = f"choosing: the final set of {n} of {n} questions is cut to k=2; evaluate with a larger k for the whole"
    assert short.notes == (said,)
    assert ask("whole", methods=(Choosing(tiny_index),), reader=None, measures=["recall@1"], k=3).notes == ()


class Mixing(Method):
    """Ranks on scales that do not go together for one question."""

    name, paper, scale = "mixing", "none", "none"

    def search(self, question, k, trace):
        return Evidence(question, self.label, self.scale, (), mixed="founder" in question)


def test_rows_say_where_scales_were_mixed(ask, tiny, tiny_index):
    run = ask(methods=(Mixing(tiny_index),), reader=None)
    mixed = {row["question_id"] for row in run.rows if row.get("mixed")}
    assert mixed == {one.id for one in tiny.questions if "founder" in one.question} and 0 < len(mixed) < len(run.rows)


def test_a_run_says_temperatures_above_0(ask):
    """Which are those of its settings."""
    labels = "think_on_graph", "think_on_graph[temperature=0.7]", "think_on_graph[temperature=0]", "hipporag2"
    described = ask(methods=labels, reader=None, limit=1).config["methods"]
    steps = "choose_entities", "choose_relations"
    above = [described[label].get("temperatures") for label in labels]
    assert above == [dict.fromkeys(steps, 0.4), dict.fromkeys(steps, 0.7), None, None]
