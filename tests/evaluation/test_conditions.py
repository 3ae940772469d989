"""The conditions of a number on both sides: how two flat mappings are compared, that a run under a paper's conditions
is reproduced, and that another is not. What every paper says of runs that differ in one thing stands in
tests/contract/test_adversarial.py."""

from __future__ import annotations

from dataclasses import asdict, replace

import adversarial
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiers import FULL

import workbench as wb
from workbench.data.origin import Origin, SourceFile
from workbench.data.registry import ENTRIES, load_entry
from workbench.errors import DataError, SettingError
from workbench.index.store import key_of
from workbench.methods.gfm_rag import hub
from workbench.papers import conditions
from workbench.papers.comparable import _foreseen
from workbench.papers.condition import DIFFERS, NOTHING, OTHERS, SAME, UNKNOWN, Condition, Stated, compare, same
from workbench.papers.conditions import Known, known_of
from workbench.papers.tables import NOT_COMPARABLE, REPRODUCED, Cell, _cells, _with_prompts, tables
from workbench.published import paper, papers

# -- two mappings -----------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["reader's k", "method's mode", "tree.beta", "budget", "questions"])
VALUES = st.one_of(st.booleans(), st.integers(-5, 20_000), st.text("abc", min_size=1), st.just("none"))


@given(st.dictionaries(NAMES, VALUES, min_size=1), st.data())
def test_what_differs_alone_is_named_with_both_values_and_the_place(values, data):
    theirs = {key: Stated(value, f"place of {key}") for key, value in values.items()}
    assert {one.state for one in compare(theirs, values)} == {SAME}
    key, other = data.draw(st.sampled_from([*values])), data.draw(VALUES)
    unlike = [one for one in compare(theirs, {**values, key: other}) if one.state != SAME]
    assert [one.name for one in unlike] == [] if same(other, values[key]) else [key]
    for one in unlike:
        assert one.state == DIFFERS
        assert one.why == f"{key}: {one.ours}, there {one.theirs} [place of {key}]"


@given(st.dictionaries(NAMES, VALUES, min_size=1), st.data())
def test_what_either_side_does_not_say_is_unknown(values, data):
    key = data.draw(st.sampled_from([*values]))
    theirs = {name: Stated(value, "there") for name, value in values.items()}
    silent = {name: value for name, value in values.items() if name != key}
    (unlike,) = [one for one in compare(theirs, silent) if one.state != SAME]
    assert (unlike.name, unlike.state) == (key, UNKNOWN) and "the run does not say, there" in unlike.why
    (unlike,) = [one for one in compare(theirs | {key: Stated(None, "there")}, values) if one.state != SAME]
    assert (unlike.name, unlike.state) == (key, UNKNOWN) and unlike.why.endswith("there it is not said [there]")
    assert not [one for one in compare({key: Stated(values[key], "there", needed=False)}, {})]


def test_settings_that_the_paper_does_not_state_are_named_together():
    ours = {"method's mode": "leaves", "method's depth": 3, "tree.beta": 1}
    theirs = {key: Stated(None, f"settings.{key[:4]}", OTHERS) for key in ours}
    assert [one.why for one in compare(theirs, ours)] == [
        "method's other settings: mode=leaves, depth=3, there it is not said [settings.meth]",
        "tree.other settings: beta=1, there it is not said [settings.tree]",
    ]


@pytest.mark.parametrize(("theirs", "ours", "state"), [
    (("gpt-4o-mini",), ["openai:gpt-4o-mini-2024-07-18"], SAME),
    (("gpt-4o-mini",), ["openai:gpt-4o-mini", "rules"], DIFFERS),
    (("gpt-4o-mini",), ["worked:meridian#7000ef98"], DIFFERS),
    ((), ["rules"], DIFFERS),
    ((), ["openai:gpt-4o-mini"], UNKNOWN),
    (("contriever",), ["facebook/contriever[max_tokens=256]"], UNKNOWN),
    (("contriever[max_tokens=256]",), ["facebook/contriever[max_tokens=256]"], SAME),
    (("contriever",), ["facebook/contriever-msmarco"], DIFFERS),
    (("contriever",), NOTHING, UNKNOWN),
])  # fmt: skip
def test_models_and_encoders_go_by_their_names(theirs, ours, state):
    (one,) = compare({"model": Stated(theirs, "engines.method", "named")}, {"model": ours})
    assert one.state == state


def test_a_condition_is_the_same_differs_or_is_unknown():
    assert Condition("k", "5", "5").state == SAME
    assert Condition("k", "5", "3", "why").state == DIFFERS
    assert Condition("k", "", "3", "why").state == Condition("k", "5", "", "why").state == UNKNOWN
    assert Condition("k", "5", "3", "why", open=True).state == UNKNOWN


# -- prompts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("verdict", "ours", "state"), [
    ("", "ours (answer)", DIFFERS),
    (" same 100% of bdtr-fig8", "the source's prompt (fingerprint) (answer)", SAME),
    (" holds 100% of bdtr-fig8", "the source's prompt (fingerprint) (answer)", SAME),
    (" damaged 95% of bdtr-fig8", "the source's prompt (fingerprint) (answer)", SAME),
    (" unsure 80% of bdtr-fig8", "80% of the source's, as of another of its prompts (answer)", UNKNOWN),
    (" part 45% of bdtr-fig8", "45% of the source's (answer)", DIFFERS),
    (" same 100% of youtu-a8", "ours (answer)", DIFFERS),
])  # fmt: skip
def test_a_prompt_from_a_file_is_the_source_s_by_its_fingerprint_or_by_what_is_said(verdict, ours, state):
    """The run carries the fingerprint; of another paper's prompt it says nothing. Only a wording from a file can be
    named as the source's."""
    source = paper("bdtr")
    source = replace(source, terms={**source.terms, "prompts": {"source": ["bdtr-fig8"]}})
    wording = f"answer v2 file 0123456789ab{verdict}"

    def compared(source):
        stated = Stated(source.terms["prompts"]["source"], "prompts.source", "wording")
        return next(compare({"prompts": stated}, {"prompts": [("answer", wording)]}))

    assert (compared(source).ours, compared(source).state) == (ours, state)
    assert compared(_with_prompts(source, (wording,))).state == SAME
    assert compared(_with_prompts(source, ("answer v2 file ba9876543210",))).state == state


@pytest.mark.parametrize("wrong", ["answer v2 0123456789ab", "answer v2 file", "file 0123456789ab"])
def test_ours_are_not_the_source_s(wrong):
    with pytest.raises(SettingError, match="should name a wording from a file"):
        tables("bdtr", source_prompts=[wrong])


# -- whole runs -------------------------------------------------------------------------------------------------------


@pytest.fixture
def verdict(monkeypatch):
    """The cell of a printed number by the run that a paper asks for, with this mean."""
    monkeypatch.setattr(hub, "cached", lambda repository: ["a" * 40])

    def verdict(source, printed, value):
        wanted = Cell(printed.table, printed.backbone, printed.method, printed.data, printed.measure, printed.value)
        found = next(_foreseen(source, wanted), None)
        if found is None:
            return None
        (cell,) = _cells(source, printed, [replace(found.of, run=adversarial.scored(found, value))])
        return cell

    return verdict


@pytest.mark.full
@pytest.mark.parametrize("name", papers())
def test_under_all_conditions_a_number_is_reproduced_and_what_is_open_never_is(verdict, name):
    """The first row of each method and table, every fourth one of them, of the paper as if it said everything, and as
    it is."""
    closed, tried = adversarial.closed(name), set()
    for printed in closed.scores.itertuples():
        row = printed.table, printed.backbone, printed.method
        if row in tried or printed.kind != "score" or printed.note:
            continue
        tried.add(row)
        if not FULL and len(tried) % 4:
            continue
        if (cell := verdict(closed, printed, printed.value)) is None:
            assert printed.method in closed.terms.get("absent", {})
            continue
        assert (cell.verdict, cell.why) == (REPRODUCED, ())
        cell = verdict(paper(name), printed, printed.value)
        assert cell.verdict == NOT_COMPARABLE and any("it is not said" in why for why in cell.why)
    assert len(tried) > 5


@pytest.mark.parametrize(("method", "off", "expected"), [
    ("text-embedding-3-small", 0.0, REPRODUCED), ("GTR (T5-base)", 0.0, REPRODUCED), ("GTR (T5-base)", 0.3, "differs"),
])  # fmt: skip
def test_a_run_under_conditions_that_are_all_stated_has_a_verdict(verdict, method, off, expected):
    """Recall and full chains of dense retrieval, by stand-ins with the names of the paper's encoders."""
    source = adversarial.stated("catrag")
    for measure in ("recall@5", "all_gold@5"):
        scores = source.scores
        printed = next(scores[(scores["method"] == method) & (scores["measure"] == measure)].itertuples())
        cell = verdict(source, printed, printed.value + off)
        assert (cell.verdict, cell.why) == (expected, ())


# -- what a data set is -----------------------------------------------------------------------------------------------

NAME = "musique/dev/hipporag-1000"
TERMS = {"data": {"musique": NAME}}


@pytest.fixture
def load(monkeypatch, tmp_path, tiny):
    """Has the publisher's files stand for a data set; `found` is what is read of them."""
    monkeypatch.setenv("HOPSCOPE_CACHE", str(tmp_path))

    def load(found):
        conditions._here.cache_clear()

        def read(entry, offline, **options):
            assert entry is ENTRIES[NAME] and offline
            if found is None:
                raise DataError("not here")
            return replace(found, questions=found.questions[:1]) if options else found

        monkeypatch.setattr(conditions, "load_entry", read)

    yield load
    conditions._here.cache_clear()


def test_the_publishers_files_say_what_a_folder_does_not(load, tiny):
    load(None)
    assert known_of(TERMS, "musique") == Known()
    load(replace(tiny, origin=Origin("a folder of this name")))
    assert known_of(TERMS, "musique") == Known()
    files = (SourceFile("musique.json", "0" * 64),)
    load(replace(tiny, origin=Origin("the publisher", files=files)))
    asked = [asdict(question) for question in tiny.questions]
    assert known_of(TERMS, "musique") == Known(tiny.fingerprint, key_of(questions=asked))
    listed = {"fingerprints": {NAME: {"passages": "listed", "questions": None}}}
    assert known_of(TERMS | listed, "musique") == Known("listed", key_of(questions=asked))
    options = {"options": {"musique": {"filtered": True}}}
    assert known_of(TERMS | options, "musique").questions == key_of(questions=asked[:1])
    load(replace(tiny, questions=(), origin=Origin("the publisher", files=files)))
    assert known_of(TERMS, "musique").questions is None, "nobody's questions"


def test_what_is_listed_is_of_data_sets_of_the_papers():
    named = {name for one in papers() for name in paper(one).terms["data"].values()}
    listed = paper("bdtr").terms["fingerprints"]
    assert {*listed} <= named & {*ENTRIES} and all(len(one["passages"]) == 16 for one in listed.values())


def test_the_corpus_of_2wikimultihopqa_is_that_of_its_publisher():
    """As its shared copy has it, which is made of the same file."""
    try:
        data = load_entry(ENTRIES["2wikimultihopqa/dev/matched-137"], offline=True)
    except DataError:
        pytest.skip("the corpus is not on this machine")
    terms = {"data": {"2wiki": "2wikimultihopqa/dev/hipporag-1000"}, **paper("bdtr").terms}
    assert data.fingerprint == known_of(terms, "2wiki").passages
    assert wb.load("meridian").fingerprint != data.fingerprint
