"""Contexts are cut to the window of the model that reads them, by the rules of the reader, and it is said."""

from __future__ import annotations

import warnings
from dataclasses import replace

import pytest

import workbench as wb
from workbench import tokens
from workbench.errors import SettingError
from workbench.evaluation.fitting import fits
from workbench.layouts import of_evidence
from workbench.llm.engine import RulesEngine

QUESTION = "Who built the viaduct?"


class Narrow(RulesEngine):
    """The rules, with a window."""

    def __init__(self, window):
        super().__init__()
        self._window = window

    @property
    def window(self):
        return self._window


@pytest.fixture(scope="module")
def evidence(meridian_index):
    return wb.method("dense", meridian_index, wb.engine("rules")).retrieve(QUESTION, 60)


SPECS = ("sparql", "cot", "local", "structured", "direct[k=none]", "cot[compress=graph-walk[budget=4000]]",
         "cot[compress=similarity[budget=4000]]", "direct[k=40,layout=graph]")  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_prompt_and_answer_fit_into_the_window(spec, evidence):
    reader = wb.reader(spec, Narrow(2_048))
    whole, contexts = wb.reader(spec, Narrow(None)).contexts(evidence), reader.contexts(evidence)
    room = reader.room(QUESTION)
    assert whole.shown.tokens > room >= contexts.shown.tokens > room / 3  # `local` gives sources half
    assert wb.reader(spec, Narrow(200_000)).contexts(evidence).shown == whole.shown, "a window that holds it"
    assert contexts.retrieved == whole.retrieved  # coverage is measured on what was retrieved
    answer = reader.read(QUESTION, evidence, contexts=contexts)
    cut = [event.outputs["cut_to"] for event in answer.trace if "cut_to" in event.outputs]
    assert cut == [room] or cut[-1] == room


def test_what_a_method_lays_out_keeps_the_shares_of_its_tables(evidence):
    graph = of_evidence(evidence)
    own = replace(evidence, context=replace(graph, sources=graph.chunks[:20]))
    reader = wb.reader("direct", Narrow(4_096))
    shown = reader.contexts(own).shown
    assert shown.cut_to >= shown.tokens > shown.cut_to * 0.8
    kept = len(shown.graph.chunks) / len(graph.chunks), len(shown.graph.sources) / 20
    assert shown.graph.chunks == graph.chunks[: len(shown.graph.chunks)] and abs(kept[0] - kept[1]) < 0.06
    assert tokens.count(shown.text) == shown.tokens


def test_what_will_not_fit_is_said_before_anything_is_asked(meridian_index, tmp_path):
    data, narrow = wb.load("meridian"), Narrow(200)
    method, reader = wb.method("hipporag2", meridian_index, narrow), wb.reader("cot", narrow)
    with pytest.raises(
        SettingError, match=r"hipporag2 asks fact_filter.*of 200 of rules; the window of rules.*context="
    ):
        wb.evaluate(data.questions[:2], [method], reader, tmp_path / "run", progress=False)
    assert not narrow.meter.steps and not (tmp_path / "run").exists()
    with pytest.raises(SettingError, match="does not fit"):
        wb.estimate_run(data.questions[:2], [method], reader, sample=1)


def test_what_is_cut_is_said_before_the_run(meridian_index, tmp_path):
    data, narrow = wb.load("meridian"), Narrow(4_096)
    method, reader = wb.method("dense", meridian_index), wb.reader("cot", narrow)
    with pytest.warns(UserWarning, match=r"contexts for cot are cut to the [23],\d+ tokens.*lays out up to 12,000"):
        wb.evaluate(data.questions[:1], [method], reader, tmp_path / "run", progress=False)
    (said,) = fits({"dense": method}, reader, None)
    assert said in wb.estimate_run(data.questions[:2], [method], reader, sample=1).measured
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wb.evaluate(data.questions[:1], [method], wb.reader("cot", Narrow(None)), tmp_path / "2", progress=False)


# -- what a window makes of the rows of a run -------------------------------------------------------------------------


def rows_of(tmp_path, meridian_index, window, spec="cot", method="dense"):
    """A run of two questions with this window, resumed where there is one, and how many rows it asked anew."""
    narrow, out = Narrow(window), tmp_path / "run"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        reader = wb.reader(spec, narrow)
        made = wb.method(method, meridian_index, narrow)
        run = wb.evaluate(wb.load("meridian").questions[:2], [made], reader, out, progress=False)
    return run, narrow.meter.steps[
        "answer" if spec == "direct" else "stepwise_answer"
    ].calls if narrow.meter.steps else 0


def test_rows_that_were_cut_to_another_window_are_asked_again(meridian_index, tmp_path):
    first, asked = rows_of(tmp_path, meridian_index, 2_048)
    assert asked == 2 and all(row["cut_to"] >= row["read_tokens"] for row in first.rows)
    again, asked = rows_of(tmp_path, meridian_index, 2_048)
    assert (again.rows, asked) == (first.rows, 0)
    wider, asked = rows_of(tmp_path, meridian_index, 4_096)
    assert asked == 2 and all(row["read_tokens"] > was["read_tokens"] for row, was in zip(wider.rows, first.rows))
    assert "2 rows of dense were asked again, because the window of rules changed" in " ".join(wider.notes)


def test_rows_that_no_window_cut_stay_under_every_window_that_holds_them(meridian_index, tmp_path):
    first, _ = rows_of(tmp_path, meridian_index, None)
    assert not any("cut_to" in row for row in first.rows)
    for window in (32_768, None, 65_536):
        same, asked = rows_of(tmp_path, meridian_index, window)
        assert (same.rows, asked) == (first.rows, 0), f"nothing is cut to {window}"
    cut, asked = rows_of(tmp_path, meridian_index, 4_096)
    assert asked == 2 and all(row["cut_to"] < was["read_tokens"] for row, was in zip(cut.rows, first.rows))


def test_a_limit_that_the_window_makes_smaller_is_part_of_a_method(meridian_index, tmp_path):
    def asked(window, spec):
        narrow = Narrow(window)
        made = wb.method(spec, meridian_index, narrow)
        run = wb.evaluate(wb.load("meridian").questions[:1], [made], None, tmp_path / "run", progress=False)
        return run.config["methods"][made.label].get("window"), bool(narrow.meter.steps)

    for spec in ("graph_cot", "ircot[backbone=graph_cot]"):
        assert asked(None, spec) == (None, True)
        assert asked(65_536, spec) == (None, False), "the setting is smaller"
        limits, again = asked(8_192, spec)
        assert limits["prompt_tokens"] < 10_000 and again
        assert asked(8_192, spec) == (limits, False)
