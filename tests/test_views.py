"""Every record shows itself, whatever its fields hold: nothing in it is acted upon, and nothing floods a notebook."""

from __future__ import annotations

import dataclasses
import re
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path as FilePath

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel
from tiny import TinyEncoder

from workbench import display
from workbench.data import Dataset, Extraction
from workbench.index import Index
from workbench.llm.meter import Meter
from workbench.llm.step import Result, Step, Usage
from workbench.records import (
    Answer,
    Binding,
    Compressed,
    ContextEntity,
    ContextGraph,
    ContextRelation,
    Entity,
    Evidence,
    Match,
    Passage,
    Path,
    Pattern,
    Proof,
    Question,
    Reading,
    Report,
    Triple,
    Unit,
    ranked,
)
from workbench.text import clean
from workbench.trace import Event, Trace, TraceDiff
from workbench.views import VIEWS_OF, parts
from workbench.views.palette import THEMED_CSS
from workbench.views.parts import number
from workbench.views.render import KINDS, STYLE

TAGS = {
    *("div", "style", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "span", "b", "i", "p", "pre"),
    *("ul", "li", "figure"),
}
CLASSES = {
    *("two", "steps", "hopscope-bump"),
    *("hopscope", "mathjax_ignore", "n", "q", "tag", "bad", "note"),
    *("hop", *(f"h{hop}" for hop in range(6)), "named", "gold", "gone", "beside", "side", "line"),
    *("mark", "same", "differs", "unknown", "none"),
}
# \n and \t apart, what moves a terminal's cursor, turns the direction of text or ends a line in JavaScript
UNSHOWABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "\"' onmouseover='alert(1)' x=\"",
    "--><!-- ]]> <![CDATA[",
    "</style></pre></details><style>*{display:none}",
    "&lt;b&gt; &amp; &#60;b&#62;",
    "javascript:alert(1)",
    "\x1b[2J\x00\x07\r\x9b31m",
    "\u202egnp.exe\u2066\u2028\u2029",
    "\ud800",
    "{0} %s \\ $x$ `",
    "</script></body></html><!--<script>",
    "{{ 7 * 7 }} {% for x in y %} {# #}",
    'href="http://example.org/x" src=//example.org',
    "Kättern 東京",
)
hostile = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), max_size=4).map("".join)


class Said(BaseModel):
    said: str


def trace_of(text: str) -> Trace:
    trace = Trace()
    with trace.span("CHAIN", text, **{text: text, "list": [text, {text: 1.5}]}) as span:
        span.set(failure=text, value=text)
        span.score([(text, 0.5)])
        span.tokens(prompt=1)
    return trace


def records(text: str) -> list:
    """One of each record, with the text in every field that takes one."""
    passage, triple, entity = Passage(text, text, text), Triple(text, text, text, (text,)), Entity(text, text, text)
    path, trace = Path((text, text), (text,), (text,)), trace_of(text)
    report = Report(text, text, text, (text,), 1)
    hop = {"question": text, "answer": text, "support": text, text: text}
    question = Question(text, text, (text,), text, 2, (text,), (hop,))
    extraction = Extraction(text, (text,), ((text, text, text),), text, text)
    unit, described = Unit(text, text, text, (text,)), ContextEntity(text, text, 1, 2)
    relation = ContextRelation(text, text, text, 1.5, 1, 2, 3, (text,))
    tables = ContextGraph((described,), (relation,), (unit,), (unit,))
    compressed = Compressed(
        text, text, 9, tables, ContextGraph((), (relation,), (), (unit,)), text, 9, 10, (text,), ((text, 0),),
        ((text, 0, (text,)), (text, None, (text, text))), text,
    )  # fmt: skip
    pattern = Pattern(text, text, text)
    match = Match(pattern, triple, 0.5, turned=True)
    binding = Binding(((text, text),), (match,), 0.5)
    proof = Proof(text, (pattern,), text, text, (binding,), (match,), 1, ranked([text], [0.5]), text, text)
    reading = Reading(text, text, True, True, text, text, 5)
    return [
        passage,
        triple,
        report,
        path,
        entity,
        question,
        dataclasses.replace(question, hops=text),
        extraction,
        Evidence(
            text, text, text, ranked([passage], [0.5]), ranked([entity], [0.5]), ranked([triple], [0.5]),
            ranked([path], [0.5]), ranked([report], [0.5]), 1, text, trace,
        ),
        Evidence(text, text, text, (), context=tables),
        unit,
        described,
        relation,
        tables,
        compressed,
        dataclasses.replace(compressed, kept=()),
        pattern,
        match,
        binding,
        proof,
        Proof(text, flaw=text),
        reading,
        Answer(text, text, False, text, text, (text,), None, "rules", trace),
        Answer(text, text, reading=reading, proof=proof),
        Answer(text, text, False, text, text, (text,), text, text),
        Answer(text, "", True),
        trace,
        trace[0],
        Event(0, None, text, text),
        TraceDiff(((text, text, text, {text: [text]}),)),
        Dataset(text, (passage,), (question,), (extraction,), text),
        Result(Said(said=text), messages=({"role": text, "content": text},)),
        Result(None, failure=text, text=text),
        Step(text, Said, lambda value: [], lambda values: []),
        meter_of(text),
    ]  # fmt: skip


def meter_of(text: str) -> Meter:
    meter = Meter()
    meter.add(text, Usage(calls=1, money=None))
    return meter


NAMES = [f"{type(record).__name__}-{position}" for position, record in enumerate(records("x"))]
LLM = Result | Step | Meter  # these print themselves in workbench/llm
OURS = [position for position, record in enumerate(records("x")) if not isinstance(record, LLM)]


class Checked(HTMLParser):
    """Fails on whatever views do not emit."""

    def __init__(self, html: str):
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.shown: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in TAGS
        assert all(name in ("class", "open", "data-bump") for name, _ in attributes)
        assert {part for name, value in attributes if name == "class" for part in value.split()} <= CLASSES
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] == "style":
            assert data in STYLE + THEMED_CSS
        else:
            self.shown.append(data)

    def refuse(self, data):
        raise AssertionError(f"views emit no {data!r}")

    handle_comment = handle_decl = handle_pi = unknown_decl = refuse


@given(hostile)
def test_no_text_is_acted_upon(text):
    for record in records(text):
        html = record._repr_html_()
        Checked(html)
        assert not UNSHOWABLE.search(html)
        assert isinstance(repr(record), str)


def test_a_terminal_gets_no_control_characters():
    made = records("\x1b[2J\x00\x07\r\x9b31m\u202e\u2028\ud800")
    assert not [NAMES[position] for position in OURS if UNSHOWABLE.search(repr(made[position]))]


@pytest.mark.parametrize("letter", ["a", "<", "'", "\n", "東"])
def test_a_text_of_100_kb_stays_small(letter):
    for position, record in enumerate(records(letter * 100_000)):
        html = record._repr_html_()
        Checked(html)
        assert len(unescape(html)) < 32_000, NAMES[position]  # escaping makes at most six of one
        if position in OURS:
            assert len(repr(record)) < 10_000, NAMES[position]


def test_an_ordinary_text_is_shown_as_it_is():
    text = 'Râul & «Двина» <= 3 "quoted" it\'s 東京'
    for record in records(text):
        if not isinstance(record, Meter):
            assert text in " ".join(Checked(record._repr_html_()).shown).replace("\\'", "'")


def test_a_long_text_says_how_long_it_is():
    assert clean("x" * 3000, 10) == "xxxxxxxxxx… (3,000 characters)"
    for record in (Passage("p", "t", "x" * 3000), Trace(events=[Event(0, None, "TOOL", "s", {"text": "x" * 3000})])):
        assert "(3,000 characters)" in record._repr_html_()


def test_the_chunks_of_a_document_are_told_apart_in_a_terminal():
    """By the ends of their ids, which are LightRAG's; their titles are the document's."""
    ids = [f"doc-{'0' * 32}-chunk-00{number}" for number in range(2)]
    passages = ranked([Passage(id, "tales.txt", "…") for id in ids], [1.0, 0.5])
    said = repr(Evidence("Who?", "lightrag", "1/rank", passages))
    assert all(id in said for id in ids)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "–"), (float("nan"), "–"), (0.5, "0.5000"), (0.0, "0.0000"), (1e-7, "1e-07"), (12345, "12,345")],
)
def test_numbers_are_short(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    "record",
    [
        Passage("p", "", ""),
        Question("q", ""),
        Path((), ()),
        Evidence("", "", "", ()),
        Evidence("q", "m", "cosine", ranked([Passage("p", "t", "x")] * 30, [float("nan")] * 30)),
        Answer("", ""),
        Unit("", ""),
        ContextEntity(""),
        ContextRelation("", ""),
        ContextGraph(),
        Compressed("", "", 0, ContextGraph(), ContextGraph(), "", 0, 0),
        Pattern("", "", ""),
        Binding((), (), 0.0),
        Proof(),
        Proof(broken=3),
        Reading(""),
        Trace(),
        Trace("off"),
        TraceDiff(()),
        Dataset("empty", ()),
    ],
    ids=lambda record: type(record).__name__,
)
def test_an_empty_record_shows_itself_too(record):
    assert repr(record)
    Checked(record._repr_html_())


def test_the_schema_of_a_part_names_every_kind():
    schema = (FilePath(__file__).parents[1] / "docs" / "formats.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?) \|", schema.partition("## Parts of a page")[2].partition("\n## ")[0], re.M)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(KINDS)


# -- the index ------------------------------------------------------------------------------------------------------


@pytest.fixture
def hostile_index(tmp_path) -> Index:
    text = "".join(part for part in HOSTILE if part != "\ud800")
    data = Dataset(text, (Passage(text, text, text),), (), (Extraction(text, (text,), ((text, text, "b"),), text),))
    encoder = TinyEncoder()
    encoder.name = text
    return Index.build(data, None, tmp_path / "<b onclick='x'>", encoder=encoder, progress=False)


def test_an_index_shows_itself_and_acts_upon_nothing(hostile_index):
    for thing in (hostile_index, hostile_index.data, hostile_index.graph, *hostile_index._layers.values()):
        Checked(thing._repr_html_())
        assert not UNSHOWABLE.search(repr(thing) + thing._repr_html_())


def test_an_index_says_what_it_holds(tiny_index):
    shown = " ".join(Checked(tiny_index._repr_html_()).shown)
    for word in ("tiny", str(tiny_index.folder), "passages 8", "facts 10", "phrases 10", "threshold=0.8", "by hand"):
        assert word in shown
    assert repr(tiny_index).startswith(f"Index tiny {tiny_index.folder}\n")
    assert "layers passages, extractions, facts, synonyms" in repr(tiny_index)


def test_a_data_set_says_what_it_holds(tiny):
    shown = " ".join(Checked(tiny._repr_html_()).shown)
    for word in ("tiny", tiny.fingerprint, "passages 8", "questions 3", "extractions 8", "Orsby lies on", "Lake Mira"):
        assert word in shown
    assert repr(tiny).startswith(f"Dataset tiny {tiny.fingerprint}\n  passages     8\n")


def test_a_graph_says_what_it_holds(tiny_index):
    assert "relation_pairs_directed 14" in " ".join(Checked(tiny_index.graph._repr_html_()).shown)


# -- records are values ---------------------------------------------------------------------------------------------

VALUES = [record for record in records("x") if dataclasses.is_dataclass(record) and not isinstance(record, LLM)]


@pytest.mark.parametrize("record", VALUES, ids=lambda record: type(record).__name__)
def test_records_are_frozen_and_compare_by_value(record):
    name = dataclasses.fields(record)[0].name
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        setattr(record, name, "other")
    copy = dataclasses.replace(record)
    assert copy == record and copy is not record
    for field in dataclasses.fields(record):
        if field.compare:
            assert dataclasses.replace(record, **{field.name: "other"}) != record


@pytest.mark.parametrize("record", VALUES, ids=lambda record: type(record).__name__)
def test_records_can_be_members_of_a_set(record):
    if isinstance(record, TraceDiff):
        record = TraceDiff((("place", "what", 1, 2),))  # one whose own values can be
    assert len({record, dataclasses.replace(record)}) == 1


def test_the_trace_takes_no_part_in_comparing_evidence():
    first, second = (Evidence("q", "m", "cosine", (), trace=trace_of(text)) for text in "ab")
    assert first == second and hash(first) == hash(second)


def test_graphs_compare_by_value(tiny_index):
    graph, again = tiny_index.graph, Index.open(tiny_index.folder).graph
    assert graph == again and graph is not again
    assert graph != dataclasses.replace(graph, synonym=graph.synonym * 2)
    assert graph != 1


def test_the_views_of_every_record_are_found_by_the_module_that_defines_it():
    """A view is loaded when its record is first shown, so the table must name each, and no base may be shown in the
    place of a class whose view is not loaded yet."""
    files = {path.stem for path in FilePath(parts.__file__).parent.glob("*.py")}
    for name in files - {"__init__"}:
        import_module(f"workbench.views.{name}")
    shown = {
        (cls, view.__module__.removeprefix("workbench.views."))
        for of in (display.html, display.text, parts.view)
        for cls, view in of.registry.items()
        if cls.__module__.startswith("workbench.")
        and not cls.__module__.startswith("workbench.views.")
        and view.__module__ != cls.__module__
    }
    told = {(place, view) for place, views in VIEWS_OF.items() for view in views}
    assert {(cls.__module__.removeprefix("workbench."), view) for cls, view in shown} == told
    classes = {cls for cls, _ in shown}
    nested = [(cls, one) for cls in classes for one in cls.__mro__[1:] if one in classes]
    assert not [pair for pair in nested if pair[0].__module__ != pair[1].__module__]
