"""Going through wrong answers without a browser: a run, several, a diagnosis; causes, cases, what was read, traces."""

from __future__ import annotations

import pytest
from test_views import Checked

import workbench as wb
from workbench.analyses.diagnose import diagnose
from workbench.errors import SettingError
from workbench.llm.engine import RulesEngine, note
from workbench.llm.step import Result
from workbench.trace import Event, Trace
from workbench.views.proofs import proof_from_trace
from workbench.views.render import html_of
from workbench.views.reports import case_part

READERS = {"brief": "direct[prompt=brief]", "short": "cot[compress=graph-walk[budget=60]]"}


class Wrong(RulesEngine):
    """Whatever is asked, the answer is a harbour and no <b>gold</b>."""

    def run(self, step, inputs, *, trace=None):
        if "reply" not in step.output.model_fields:
            return super().run(step, inputs, trace=trace)
        reply = "It ends at a pier.\nFINAL ANSWER: Harbour <b>Pier</b>"
        results = [Result(step.output(reply=reply)) for _ in inputs]
        note(trace, self.name, step, results)
        return results


@pytest.fixture
def runs(tiny, tiny_index, tmp_path):
    engine = Wrong()
    methods = [wb.method("dense", tiny_index), wb.method("bm25", tiny_index)]
    return {
        label: wb.evaluate(tiny.questions, methods, wb.reader(spec, engine), out=tmp_path / label, progress=False)
        for label, spec in READERS.items()
    }


@pytest.fixture
def failures(runs, tiny):
    return wb.ablate(runs, tiny.questions)


def shown(failures) -> tuple:
    return failures._of.value, failures._why.value, failures._wrong.value


def test_it_starts_with_the_first_configuration_and_lists_its_wrong_answers(failures):
    assert shown(failures) == ("brief · dense", "every cause", failures.case.question_id)
    assert [case.question_id for case in failures.cases] == ["q1", "q2", "q3"]
    assert [place for _, place in failures._of.options] == [
        "brief · dense", "brief · bm25", "short · dense", "short · bm25",
    ]  # fmt: skip
    assert "Harbour &lt;b&gt;Pier&lt;/b&gt;" in failures._head.html
    assert repr(failures) == "Failures of brief · dense: 3 wrong answers (every cause)"


def test_another_configuration_and_another_cause(failures):
    assert {case.method for case in failures.choose("short", "bm25")} == {"bm25"}
    assert shown(failures)[:2] == ("short · bm25", "every cause")
    cause = failures.cases[0].cause
    chosen = failures.choose(cause=cause)
    assert {case.cause for case in chosen} == {cause} and shown(failures)[1] == cause
    assert failures.choose("brief")[0].reader == READERS["brief"]
    failures._of.value = "short · dense"
    assert failures.diagnosis.run.config["reader"].startswith("cot[")


def test_a_case_is_picked_by_id_text_or_list(failures, tiny):
    assert failures.pick("q2").question == tiny.questions[1].question
    assert failures.pick(tiny.questions[0].question).question_id == "q1"
    failures._wrong.value = "q3"
    assert failures.case.question_id == "q3" and "should have abstained" in failures._head.html
    with pytest.raises(SettingError, match="q9"):
        failures.pick("q9")


def test_what_does_not_exist_leaves_all_as_it_is(failures):
    before = shown(failures), failures.case
    with pytest.raises(SettingError, match="there is no configuration 'brief · ircot'; there are brief · dense"):
        failures.choose(method="ircot")
    with pytest.raises(SettingError, match="for the cause 'bad luck'"):
        failures.choose(cause="bad luck")
    assert (shown(failures), failures.case) == before


def test_what_was_retrieved_stands_beside_what_was_read(failures):
    failures.choose("short", "dense")
    failures.pick("q1")
    left, right = failures._contexts.html.split("<b>read</b>")
    assert "<b>retrieved</b>" in left and "class='gone'" in left and "class='gone'" not in right
    assert "class='gold'>Lake Mira" in left
    failures.choose("brief", "dense")
    assert "class='gone'" not in failures._contexts.html  # nothing was compressed


def test_the_trace_is_shown_with_what_was_thought(failures):
    assert failures.trace and "It ends at a pier." in failures._trace.html
    assert "no query was executed" in failures._proof.html


def test_a_diagnosis_and_a_folder_are_sources_too(runs, tiny, tmp_path):
    run = runs["brief"]
    of_folder = wb.ablate(tmp_path / "brief", tiny.questions)
    of_diagnosis = wb.ablate(diagnose(run, tiny.questions))
    assert [case.question_id for case in of_folder.cases] == [case.question_id for case in of_diagnosis.cases]


def test_a_run_without_wrong_answers_says_so(tiny, tiny_index, tmp_path):
    class Right(RulesEngine):
        def run(self, step, inputs, *, trace=None):
            return [Result(step.output(reply="Lake Mira")) for _ in inputs]

    run = wb.evaluate(tiny.questions[:1], [wb.method("dense", tiny_index)], wb.reader(READERS["brief"], Right()),
                      out=tmp_path / "right", progress=False)  # fmt: skip
    failures = wb.ablate(run, tiny.questions)
    assert failures.cases == [] and failures.case is None and failures.trace is None
    assert "every answer is right" in failures._head.html


def test_a_diagnosis_shows_itself(runs, tiny):
    found = diagnose(runs["short"], tiny.questions)
    page = " ".join(Checked(found._repr_html_()).shown)
    for part in ("6 of 6 answers by cot[compress=", "should have abstained", "Harbour <b>Pier</b>"):
        assert part in page
    assert repr(found).startswith("Why 6 of 6 answers by cot[")
    for case in found.cases:
        Checked(html_of(case_part(case)))
        assert case.question_id in repr(case) and f"{case.cause}" in repr(case)


def test_a_page_without_a_kernel_shows_the_diagnosis(failures):
    assert "Why 6 of 6 answers" in failures._repr_mimebundle_()["text/html"]


# -- a query that a trace tells of -------------------------------------------------------------------------------------

MATCH = {
    "pattern": ["Orsby", "lies on", "?x"], "fact": ["orsby", "lies on", "river aldra"], "score": 0.9, "exact": True,
    "turned": False, "passages": ["p1"],
}  # fmt: skip


def test_a_query_is_read_off_a_trace():
    outputs = {
        "query": "SELECT ?x", "patterns": [MATCH["pattern"]], "wanted": "?x", "broken": None, "mark": "verified",
        "bindings": [{"values": {"?x": "river aldra"}, "matches": [MATCH], "score": 0.9}],
        "answers": [["river aldra", 0.9]],
    }  # fmt: skip
    proof = proof_from_trace(Trace(events=[Event(0, None, "CHAIN", "execute", outputs=outputs)]))
    assert proof.mark == "verified" and proof.answers[0] == ("river aldra", 0.9)
    assert proof.bindings[0].matches[0].fact.passages == ("p1",)
    assert proof_from_trace(Trace()) is None


def test_a_query_with_a_flaw_is_read_too():
    proof = proof_from_trace(
        Trace(events=[Event(0, None, "CHAIN", "execute", outputs={"query": "", "flaw": "no SELECT"})])
    )
    assert proof.flaw == "no SELECT" and proof.bindings == ()
