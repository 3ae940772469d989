"""The look of DOTs, their pictures, and the tracer without a browser; nothing in them is acted upon."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from dot_traces import NEXT, QUESTION, dot_trace, nothing_trace
from hypothesis import given, settings
from judges import Judge
from test_views import UNSHOWABLE, Checked, hostile
from tiny import TinyEncoder

import workbench as wb
from workbench import methods
from workbench.analyses import win_rate
from workbench.data import Dataset
from workbench.data.profiles import EntityProfile, Profiles, RelationProfile
from workbench.errors import SettingError
from workbench.index import Index
from workbench.llm.call import repeat
from workbench.llm.engine import RulesEngine
from workbench.methods.base import Method
from workbench.methods.dotrag.dots import Comparison, Dots, MethodResult, dots, whole_region
from workbench.operators.types import Types
from workbench.reading.render import Context, Contexts
from workbench.records import Answer, Entity, Evidence, Passage, Path, Question, ranked
from workbench.trace import Trace
from workbench.views.dots import COLUMN, dot_drawing, path_drawing
from workbench.views.drawing import Drawing, drawing_data, drawing_entries, type_styles
from workbench.views.node_details import graph_drawing
from workbench.views.palette import GREY

FILMS = {"Glass Harbour": "movie", "Salt Line": "movie", "Ilse Varn": "person", "Pia Norr": "person",
         "Oskar Lind": "person", "Drama": "genre", "Fog": "theme"}  # fmt: skip
TRIPLES = (
    ("Glass Harbour", "directed_by", "Ilse Varn"), ("Salt Line", "directed_by", "Ilse Varn"),
    ("Salt Line", "written_by", "Ilse Varn"), ("Glass Harbour", "starred_actors", "Pia Norr"),
    ("Salt Line", "starred_actors", "Pia Norr"), ("Salt Line", "starred_actors", "Oskar Lind"),
    ("Glass Harbour", "has_genre", "Drama"), ("Salt Line", "has_genre", "Drama"),
)  # fmt: skip
QUESTIONS = (
    Question("q1", QUESTION, ("Oskar Lind", "Pia Norr"), start=("Glass Harbour",), answer_set=True),
    Question("q2", "Who painted the fog?", ()),
)


def swapped(text: str) -> Trace:
    """A trace with a text in place of every name, label, rule and sentence in it."""
    words = ("Glass Harbour", "Ilse Varn", "directed_by", "movie", "names the director", "films of one director",
             "director of", "t_max", "A film.", "partial:", "Who starred")  # fmt: skip

    def put(value):
        if isinstance(value, str):
            return re.sub("|".join(words), lambda _: text, value)
        if isinstance(value, dict):
            return {re.sub("|".join(words), lambda _: text, key): put(item) for key, item in value.items()}
        return [put(item) for item in value] if isinstance(value, list | tuple) else value

    keep = ("id", "label", "nodes", "relations")
    events = []
    for event in dot_trace():
        inputs, outputs = put(dict(event.inputs)), put(dict(event.outputs))
        if event.step == "aggregate":  # the ids of paths name others
            outputs["paths"] = [
                {**{name: one[name] for name in keep}, "confidence": 0.5} for one in event.outputs["paths"]
            ]
        if event.step == "keep":
            outputs = {"kept": event.outputs["kept"], "dropped": put(event.outputs["dropped"])}
        scores = tuple((put(name), score) for name, score in event.scores)
        step = text if event.parent is None else event.step
        events.append(replace(event, step=step, inputs=inputs, outputs=outputs, scores=scores))
    return Trace(events=events)


def things(text: str) -> list:
    """One of each, with the text in every field that takes one."""
    shown = replace(dots(swapped(text)), fallback=text, failure=text, gold=(text,))
    dot = replace(shown.dots[0], failure=text, reason=text)
    beside = Comparison(
        text, (MethodResult(text, (text,), (text,), ((text, text),)), MethodResult(text, (text,), (text,))), (text,)
    )
    other = replace(shown, method=text, dots=(replace(dot, anchors=(), concept=text),), final=())
    return [shown, dot, dot.iterations[1], replace(dot.iterations[0], failure=text), shown.final[0],
            shown.diff(other), other.diff(shown), shown.diff(shown), beside]  # fmt: skip


# -- what they say -----------------------------------------------------------------------------------------------------


def said(thing) -> str:
    return " ".join(" ".join(Checked(thing._repr_html_()).shown).split())


def test_a_retrieval_says_what_happened():
    shown = said(dots(dot_trace(), gold=["Oskar Lind"]))
    for words in (
        QUESTION, "routed by named entities and topics; names of the graph in the question: Glass Harbour (movie)",
        "A film. (movie)", "exact", "DOT 1: films of one director", "weak anchor", "no further candidate was found",
        "two answers could not be read", "names the director or a film of hers", "left out by type: genre 1",
        "nodes per hop: 1 + 2 + 1 + 1", "partial:0.1.1", NEXT, "asked before: director of Glass Harbour",
        "3 nodes were judged before", "no path", "kept, later superseded", "irrelevant 0.70", "not judged",
        "ends at one who starred in it", "←directed_by— / ←written_by—", "So it is told.", "asks next", "salt-line",
    ):  # fmt: skip
        assert words in shown, words
    assert shown.count("Oskar Lind gold") == 3  # as a candidate, on its path, and at the end
    assert "no path was kept: the passages are those of the anchors" in said(dots(nothing_trace()))


def test_a_passage_is_shown_where_it_is_known():
    passage = Passage("salt-line", "Salt Line", "A film by Ilse Varn.")
    tracer = wb.trace_dots(Evidence(QUESTION, "dotrag", "cosine", ranked([passage], [0.66]), trace=dot_trace()))
    assert "A film by Ilse Varn." in tracer._end.html and "glass-harbour" in tracer._end.html


def test_records_in_a_terminal():
    """A terminal is shown what stands unfolded on the page."""
    shown = dots(dot_trace())
    listed = repr(shown)
    assert listed.startswith(f"{QUESTION} dotrag") and "\n  0.2.2  complete 0.92  Glass Harbour —di" in listed
    assert repr(shown.dots[1]).startswith("DOT 1: films of one director high weak anchor")
    stricter = shown.diff(dots(dot_trace(tau=0.95)))
    assert "Salt Line, Ilse Varn" in repr(stricter)
    assert "the same" in repr(shown.diff(shown)) and "0 gained, 1 lost" in said(stricter)


def test_methods_side_by_side():
    found = (
        MethodResult("dotrag", ("p1", "p2"), ("x", "y"), (("x", "y"),)),
        MethodResult("pathrag", ("p2",), ("y", "z")),
    )
    beside = Comparison(QUESTION, found, gold=("z",))
    html = beside._repr_html_()
    assert "<b>y</b>" in html and "<b>p2</b>" in html and "<b>x</b>" not in html and "<b>p1</b>" not in html
    assert "z gold" in said(beside) and "dotrag 2 2 1 1" in " ".join(repr(beside).split())


# -- the picture -------------------------------------------------------------------------------------------------------


def places(drawn: Drawing) -> dict[str, tuple[float, float]]:
    return {node.name: (node.x, node.y) for node in drawn.nodes}


def test_what_a_drawing_shows_and_where():
    drawn = dot_drawing(dots(dot_trace(), gold=["Oskar Lind"]))
    assert {node.name: (node.role, node.x / COLUMN, node.style.name) for node in drawn.nodes} == {
        "Glass Harbour": ("anchor", 0, "movie"),
        "Ilse Varn": ("kept", 1, "person"),
        "Pia Norr": ("path", 1, "person"),
        "Drama": ("path", 1, "genre"),
        "Salt Line": ("kept", 2, "movie"),
        "Oskar Lind": ("kept", 3, "person"),
        "Quell": ("candidate", 4, "year"),
    }
    assert {node.name: node.tooltip.partition("\n")[2] for node in drawn.nodes} == {
        "Glass Harbour": "movie, anchor",
        "Ilse Varn": "person, at hop 1",
        "Pia Norr": "person, at hop 1",
        "Drama": "genre, at hop 1",
        "Salt Line": "movie, at hop 2",
        "Oskar Lind": "person, at hop 3",
        "Quell": "year, candidate, no path leads to it",
    }
    edges = {(drawn.nodes[edge.source].name, drawn.nodes[edge.target].name): edge for edge in drawn.edges}
    assert {ends: edge.style.name for ends, edge in edges.items()} == {
        ("Glass Harbour", "Ilse Varn"): "complete",
        ("Glass Harbour", "Pia Norr"): "not kept",
        ("Glass Harbour", "Drama"): "not kept",
        ("Ilse Varn", "Salt Line"): "complete",
        ("Salt Line", "Oskar Lind"): "complete",
    }
    assert paths(edges["Glass Harbour", "Ilse Varn"]) == "complete: 0.1.1, 0.2.1, 0.2.2"
    for told in ("label", "tooltip"):
        assert [node.name for node in drawn.nodes if "(gold)" in getattr(node, told)] == ["Oskar Lind"]


def paths(edge) -> str:
    return edge.tooltip.splitlines()[-1]


def test_nothing_moves_while_one_steps():
    shown = dots(dot_trace())
    first, second, end = (places(dot_drawing(shown, 0, iteration)) for iteration in (0, 1, 2))
    assert list(first) == ["Glass Harbour"] and list(second) == ["Glass Harbour", "Ilse Varn", "Pia Norr", "Drama"]
    assert first.items() <= second.items() <= end.items()
    partial = dot_drawing(shown, 0, 1).edges[0]
    assert (partial.style.name, paths(partial)) == ("partial", "partial: 0.1.1")


def test_a_hop_that_paths_walk_both_ways_is_one_edge():
    shown = dots(dot_trace())
    one = shown.dots[0].iterations[0]
    back = replace(one.paths[0], id="0.1.9", nodes=("Ilse Varn", "Glass Harbour"))
    dot = replace(shown.dots[0], iterations=(replace(one, paths=(*one.paths, back)),))
    drawn = dot_drawing(replace(shown, dots=(dot,)))
    assert len(drawn.edges) == 3 and paths(drawn.edges[0]).endswith(": 0.1.1, 0.1.9")


def many(n: int = 300) -> Dots:
    """One DOT with n paths to n nodes, of which the last is kept, through three middles."""
    shown = dots(dot_trace())
    (one, _), path = shown.dots[0].iterations, shown.path("0.1.1")
    paths = tuple(
        replace(path, id=f"0.1.{at}", nodes=("Glass Harbour", f"middle {at % 3}", f"end {at}"), similarity=1 - at / n,
                relations=path.relations * 2, fate="kept" if at == n - 1 else "irrelevant")
        for at in range(n)
    )  # fmt: skip
    one = replace(one, paths=paths, kept=(f"0.1.{n - 1}",), candidates=())
    return replace(shown, dots=(replace(shown.dots[0], iterations=(one,)),))


def test_a_crowded_dot_shows_what_matters_most():
    drawn = dot_drawing(many(), limit=200)
    assert len(drawn) == 200 and drawn.left_out == 104
    assert [node.name for node in drawn.nodes if node.role in ("anchor", "kept")] == [
        *("Glass Harbour", "middle 2"),
        "end 299",
    ]
    assert "104 more had no room" in repr(drawn)
    at = list(places(drawn).values())
    assert len(set(at)) == 200
    xs, ys = np.array(at).T
    assert 1 < (np.ptp(xs) * 1.8) / np.ptp(ys) < 3.5  # about as wide and high as its frame


def test_one_path_alone():
    shown = dots(dot_trace())
    drawn = path_drawing(shown, shown.path("0.2.2"))
    assert [(node.x / COLUMN, node.y) for node in drawn.nodes] == [(0, 0), (1, 0), (2, 0), (3, 0)]
    edges = drawing_data(drawn)["edges"]
    assert [(edge["label"], edge["arrows"]) for edge in edges] == [
        ("directed_by", "to"), ("directed_by / written_by", "from"), ("starred_actors", "to"),
    ]  # fmt: skip
    assert {edge.style.name for edge in path_drawing(shown, shown.path("0.1.2")).edges} == {"not kept"}


def test_each_type_has_its_own_mark():
    index = Types.of([("Nowhere", "place"), ("Salt Line", "reel"), ("Oskar Lind", "hand"), ("Lind II", "hand")])
    drawn, before = (dot_drawing(dots(dot_trace()), types=types) for types in (index, None))
    assert {node.name: node.type for node in drawn.nodes}["Salt Line"] == "reel", "the index knows better"
    legend = [entry["name"] for entry in drawing_entries(drawn)]
    assert "place" not in legend and legend[:2] == ["hand", "reel"] and "genre" in legend
    assert {style.name for style in before.types}.isdisjoint({"hand", "reel"})
    untyped = dot_drawing(many(3)).nodes[2]
    assert untyped.style.colour == GREY and "type not in the trace" in untyped.tooltip


# -- the tracer --------------------------------------------------------------------------------------------------------


class Scripted(Method):
    """Writes the trace by hand, as far as the settings let it."""

    name, paper, scale = "dotrag", "", "cosine"
    asked: list  # (question, settings), of all of them

    @dataclass(frozen=True)
    class Settings:
        tau: float = 0.6
        h_max: int = 3
        t_max: int = 2

        def __post_init__(self):
            if self.h_max > 9:
                raise SettingError(f"h_max={self.h_max}; <too> far")

    def retrieve(self, question, k=10, *, budget=None, trace="full"):
        Scripted.asked.append((question, self.settings))
        changed = {name: getattr(self.settings, name) for name in ("tau", "h_max", "t_max")}
        made = dot_trace(**changed) if question == QUESTION else nothing_trace()
        if isinstance(trace, Trace):
            trace._events, made = list(made.events), trace
        shown = dots(made)
        known = {passage.title: passage for passage in self.index.passages.passages}
        entities = [Entity(name, "", "") for name in shown.nodes]
        paths = [Path(path.nodes, ("",) * len(path.relations)) for path in shown.final]
        passages = ranked([known["Salt Line"]], [0.66]) if shown.final else ()
        return Evidence(question, self.label, "cosine", passages, ranked(entities, [1.0] * len(entities)), (),
                        ranked(paths, [1.0] * len(paths)), trace=made)  # fmt: skip

    def search(self, question, k, trace): ...


class Other(Method):
    name, paper, scale = "lightrag", "", "cosine"

    def search(self, question, k, trace):
        passage = self.index.passages.passages[0]
        return Evidence(question, self.label, "cosine", ranked([passage], [1.0]), ranked([Entity("Salt Line")], [1.0]))


class Reads:
    label = name = "reads"
    reads_index, steps, engine = False, (), RulesEngine()

    def contexts(self, evidence):
        return Contexts(Context("", 0, ()))

    def read(self, question, evidence, *, contexts=None, trace=None):
        return Answer(question, "Oskar & Pia" if evidence.paths else "", abstained=not evidence.paths)


@pytest.fixture(scope="module")
def films(tmp_path_factory) -> Index:
    folder = tmp_path_factory.mktemp("films")
    passages = tuple(
        Passage(name.casefold().replace(" ", "-"), name, f"{name} is a {kind}.") for name, kind in FILMS.items()
    )
    profiles = Profiles(
        tuple(EntityProfile(p.title, FILMS[p.title], p.text, (p.id,)) for p in passages),
        tuple(RelationProfile(s, t, f"{s} {label} {t}.", (label,), 1.0, (), label) for s, label, t in TRIPLES),
    )
    data = Dataset("films", passages, QUESTIONS, profiles=profiles)
    return Index.build(data, None, folder / "i", encoder=TinyEncoder(), layers=["typed"], progress=False)


@pytest.fixture
def tracer(films, monkeypatch):
    Scripted.asked = []
    monkeypatch.setitem(methods.METHODS, "dotrag", Scripted)
    monkeypatch.setitem(methods.METHODS, "lightrag", Other)
    return wb.trace_dots(films, QUESTIONS, reader=Reads(), beside=("lightrag",))


def test_it_begins_at_the_end_of_the_first_dot(tracer):
    assert (tracer.dot, tracer.iteration, tracer.path, tracer.answer) == (0, 2, None, "Oskar & Pia")
    assert tracer.shown.gold == ("Glass Harbour", "Oskar Lind", "Pia Norr")
    head = tracer._head.html
    assert "<b>answer: Oskar &amp; Pia</b>" in head and "gold: Oskar Lind / Pia Norr" in head
    assert tracer.trace is tracer._retrieval.trace and "Glass Harbour" in tracer._head.html
    assert tracer._body.html.count("<details>") >= 1 <= tracer._end.html.count("<details>")  # folded, for it is above
    assert [label for label, _ in tracer._stage.options] == [stage.name for stage in tracer.stages]
    assert [stage.name for stage in tracer.stages] == ["rules", "iteration 1", "iteration 2"]
    assert [value for _, value in tracer._paths.options] == ["", "0.2.2", "0.1.1", "0.1.2", "0.2.1", "0.1.3"]
    assert tracer._paths.options[1][0].startswith("✓ 0.2.2 complete 0.92: Glass Harbour —directed_by→ Ilse Varn")
    assert repr(tracer).startswith(f"Tracer at DOT 0, iteration 2: {QUESTION}")


def test_stepping(tracer):
    assert tracer.step(0, 1) == tracer.shown.dots[0].iterations[0]
    assert len(tracer.drawing) == 4 and tracer._stage.value == 1 and "director of Glass Harbour" in tracer._body.html
    assert tracer.step(0, 0) == tracer.shown.dots[0] and len(tracer.drawing) == 1
    assert tracer.step(1).number == 1 and tracer._dot.value == 1
    for dot, iteration, message in ((7, None, "no DOT 7"), (0, 3, "no iteration 3; there are 0, 1, 2")):
        with pytest.raises(SettingError, match=message):
            tracer.step(dot, iteration)
    assert tracer.dot == 1  # where it was
    tracer._dot.value = 0
    assert (tracer.dot, tracer.iteration) == (0, 2)
    tracer._stage.value = 1
    assert (tracer.iteration, len(tracer.drawing)) == (1, 4)


def test_zooming(tracer):
    assert tracer.zoom("1.1.1").nodes == ("Salt Line", "Pia Norr")
    assert (tracer.dot, tracer.iteration, tracer._paths.value) == (1, 1, "1.1.1") and len(tracer.drawing) == 2
    assert "starred in it" in tracer._details.html
    assert tracer.zoom() is None and tracer._details.html == "" and len(tracer.drawing) == 3
    tracer._dot.value = 0
    tracer._paths.value = "0.1.2"
    assert tracer.path.nodes == ("Glass Harbour", "Pia Norr") and tracer.iteration == 1
    with pytest.raises(SettingError, match="no path '5'"):
        tracer.zoom("5")
    assert tracer.path.id == "0.1.2"


def test_a_click_zooms_and_a_click_goes_back(tracer):
    names = [spot.name for spot in tracer.drawing.nodes]
    tracer._picture.frame.picked = names.index("Salt Line")
    assert tracer.path.id == "0.2.2"  # the kept path through it, rather than the one that ends at it
    tracer._picture.frame.picked = 0
    assert tracer.path is None
    tracer._picture.frame.picked = names.index("Drama")
    assert tracer.path.id == "0.1.3"
    tracer.zoom()
    tracer._picture.frame.picked = names.index("Quell")  # no path leads to it
    assert tracer.path is None


def test_settings_are_asked_for_once_and_told_apart(tracer):
    assert {name: slider.value for name, slider in tracer._sliders.items()} == {"tau": 0.6, "h_max": 3, "t_max": 2}
    fewer = tracer.set(h_max=1)
    assert fewer.dots[0].after == (1, 2) and [path.id for path in fewer.lost] == ["0.2.2"]
    assert tracer._sliders["h_max"].value == 1 and "1 gained, 1 lost" in tracer._end.html
    both = tracer.set(tau=0.95)
    assert both.after == "dotrag[h_max=1,t_max=2,tau=0.95]" and both == tracer.changed
    tracer._sliders["h_max"].value = 3
    assert [s.h_max for _, s in Scripted.asked] == [3, 1, 1, 3]
    asked = len(Scripted.asked)
    tracer._sliders["h_max"].value = 1
    assert len(Scripted.asked) == asked  # it had been asked before
    assert not tracer.set(h_max=3, tau=0.6) and tracer.changed is None and tracer.drawing.name
    assert tracer.set(t_max=8).after.endswith("t_max=8,tau=0.6]") and tracer._sliders["t_max"].max == 8


def test_a_setting_that_cannot_be_is_refused(tracer):
    with pytest.raises(SettingError, match="no setting 'colour'"):
        tracer.set(colour=1)
    with pytest.raises(SettingError, match="too> far"):
        tracer.set(h_max=10)
    assert tracer.changed is None and tracer._sliders["h_max"].value == 3
    tracer._sliders["h_max"].max = 20
    tracer._sliders["h_max"].value = 10
    assert "SettingError: h_max=10; &lt;too&gt; far" in tracer._message.html and tracer._sliders["h_max"].value == 3


def test_asking(tracer):
    assert tracer.ask("q2").no_paths and tracer.answer == "(abstained)"
    assert "no path was kept" in tracer._head.html and tracer._question_box.value == "q2: Who painted the fog?"
    own = tracer.ask("Who was Ilse Varn?")
    assert own.gold == () and tracer._question_box.value == "Who was Ilse Varn?"
    tracer._question_box.value = f"q1: {QUESTION}"
    assert tracer.shown.question == QUESTION and len(tracer.shown.dots) == 2
    with pytest.raises(SettingError, match="not among the methods dotrag"):
        tracer.ask("q1", "ircot")
    tracer.set(h_max=1)
    tracer.ask("q2")
    assert tracer.changed is not None and not tracer.changed  # asked with the moved setting, which changes nothing
    asked = len(Scripted.asked)
    tracer._question_box.value = ""
    assert len(Scripted.asked) == asked


def test_the_whole_region(tracer, films):
    part = tracer.region()
    # Three hops from Glass Harbour through films and people, as the rules admit: neither the genre nor the theme.
    assert {node.name: node.hop for node in part.nodes} == {
        "Glass Harbour": 0, "Ilse Varn": 1, "Pia Norr": 1, "Salt Line": 2, "Oskar Lind": 3,
    }  # fmt: skip
    assert len(part.edges) == 5 and {films.typed.names[node.row] for node in part.nodes} == {n.name for n in part.nodes}
    drawn = tracer._picture.frame.drawn
    colours = {node["label"]: drawn["looks"][node["s"]][0] for node in drawn["nodes"]}
    assert colours["Ilse Varn"] == colours["Pia Norr"] != colours["Salt Line"]
    assert [node["label"] for node in drawn["nodes"] if "ring" in node] == ["Glass Harbour"]
    assert len([edge for edge in drawn["edges"] if drawn["lines"][edge["s"]][4] == "kept paths"]) == 3
    tracer.step(0, 1)
    assert tracer._picture.children == (tracer._picture.frame,)
    tracer.step(0, 2)
    assert [n.name for n in tracer.region(1).nodes][:2] == [
        "Salt Line",
        "Ilse Varn",
    ] and tracer.dot == 1  # of the anchors the best connected first
    dot = tracer.shown.dots[0]
    small = whole_region(films, dot, 2)
    assert (len(small), small.left_out, len(small.edges)) == (2, 3, 1)
    strange = replace(dot, anchors=(dot.anchors[0]._replace(name="Nowhere"),))
    with pytest.raises(SettingError, match="the index has no node 'Nowhere'"):
        whole_region(films, strange)
    with pytest.raises(SettingError, match="its search failed"):
        whole_region(films, replace(dot, region=None))


def test_a_region_of_five_thousand_nodes_is_drawn(films):
    rows = range(5_000)
    part = whole_region(films, dots(dot_trace()).dots[0])
    nodes = tuple(part.nodes[0]._replace(row=at, name=f"n{at}", label=f"n{at}", hop=min(at, 3)) for at in rows)
    edges = tuple(part.edges[0]._replace(source=at // 2, target=at) for at in rows[1:])
    drawn = graph_drawing(replace(part, nodes=nodes, edges=edges), {frozenset(("n4", "n9"))}, "kept paths")
    colour = type_styles(part.types)[nodes[9].type].colour
    assert len(drawn) == 5_000 and drawn.nodes[9].style.colour == colour
    assert [(e.source, e.target) for e in drawn.edges if e.style.name == "kept paths"] == [(4, 9)]
    assert drawing_entries(drawn)[-1]["name"] == "kept paths"


def test_other_methods_beside(tracer):
    beside = tracer.beside()
    assert [one.method for one in beside.found] == ["dotrag", "lightrag"] and beside.common == {"Salt Line"}
    assert beside.frame().loc["dotrag", "gold nodes"] == 3 and "<b>Salt Line</b>" in tracer._end.html
    tracer._compare.click()
    tracer.ask("q2")
    assert "found by another method" not in tracer._end.html


# -- two answers -------------------------------------------------------------------------------------------------------


def pia(shown, dimension):
    """Prefers the answer with "Pia", in coherence the first."""
    return 1 if dimension == "coherence" or "Pia" in shown.answer_1 else 2


def judge_() -> Judge:
    return Judge(pia, "<i>{}</i>: it names both")


def test_two_answers_beside_each_other(films, tracer):
    judge = judge_()
    live = wb.trace_dots(films, QUESTIONS, reader=Reads(), beside=("lightrag",), judge=judge)
    assert live.answers is None and [value for _, value in live._rival.options] == ["", "lightrag"]
    pair = live.pair("lightrag")
    assert (pair.a, pair.b, pair.answers["a"]) == ("dotrag", "lightrag", "Oskar & Pia") and pair is live.answers
    assert [one["a_first"] for one in pair.judgements] == [True, False]
    assert [one["winners"]["overall"] for one in pair.judgements] == ["a", "a"]
    assert [one["winners"]["coherence"] for one in pair.judgements] == ["a", "b"], "of each order"
    shown = live._end.html
    Checked(shown)
    assert "judged by openai:judge" in shown and "&lt;i&gt;relevance&lt;/i&gt;: it names both" in shown
    assert shown.count("<td>coherence</td>") == 2 and "won overall 2 of 2" in shown
    assert "it names both" in live.static_html() and live._rival.value == "lightrag"
    live._rival.value = ""
    assert live.answers is None and "judged by" not in live._end.html
    live._rival.value = "lightrag"
    assert live.answers == pair and len(judge.seen) == 2, "it was asked before"
    live.ask("q2")
    assert live.answers is None and live._rival.value == "" and "judged by" not in live._end.html
    assert live.pair("lightrag").answers == {"a": "", "b": ""}
    with pytest.raises(SettingError, match="repeat=1; over an index every question is asked once"):
        live.pair("lightrag", repeat=1)
    assert tracer.pair("lightrag").judgements == () and "not judged: analyses.win_rate" in tracer._end.html
    with pytest.raises(SettingError, match="rules cannot judge"):
        wb.trace_dots(films, QUESTIONS, reader=Reads(), judge="rules")


def test_an_answer_is_read_once(films, tracer):
    class Counts(Reads):
        def __init__(self):
            self.read_ = []

        def read(self, question, evidence, **given):
            self.read_.append(evidence.method)
            return super().read(question, evidence, **given)

    live = wb.trace_dots(films, QUESTIONS, reader=(counts := Counts()), beside=("lightrag",))
    live.pair("lightrag")
    live.pair("lightrag")
    assert counts.read_ == ["dotrag", "lightrag"]
    live.set(h_max=1)
    assert live.pair("lightrag").a == "dotrag[h_max=1]" and counts.read_[2:] == ["dotrag[h_max=1]"]


def test_two_answers_of_a_saved_run(films, tracer, tmp_path):
    methods_ = [wb.method(spec, films) for spec in ("dotrag", "lightrag")]
    made = wb.evaluate(QUESTIONS, methods_, Reads(), out=tmp_path / "run", progress=False)
    saved = wb.trace_dots(made.folder)
    assert saved.pair("lightrag").judgements == () and "not judged" in saved._end.html
    win_rate(made, "lightrag", made, "dotrag", made.questions, judge_(), both_orders=True, keep=True)
    pair = wb.trace_dots(made.folder).pair("lightrag")
    assert (pair.a, pair.b) == ("dotrag", "lightrag") and pair.answers["a"] == "Oskar & Pia"
    assert [one["winners"]["overall"] for one in pair.judgements] == ["a", "a"], "judged from the other side"
    assert [(one["a_first"], one["winners"]["coherence"]) for one in pair.judgements] == [(False, "b"), (True, "a")]
    win_rate(made, "dotrag", made, "lightrag", made.questions, judge_(), both_orders=True, keep=True)
    again = wb.trace_dots(made.folder).pair("lightrag")
    assert [one["a_first"] for one in again.judgements] == [True, False] and again.answers == pair.answers
    for act, message in (
        (lambda: saved.pair("dense"), "the run has no method 'dense'; it has dotrag, lightrag"),
        (lambda: saved.pair("lightrag", repeat=4), "dotrag and lightrag have no repeat 4; choose one from 0 to 0"),
    ):
        with pytest.raises(SettingError, match=message):
            act()
    unread = wb.evaluate(QUESTIONS, methods_, out=tmp_path / "unread", progress=False)
    without = wb.trace_dots(unread)
    assert without._rival.layout.display == "none"
    with pytest.raises(SettingError, match="has no answers"):
        without.pair("lightrag")
    with pytest.raises(SettingError, match="a trace holds no answers"):
        wb.trace_dots(dot_trace(), QUESTIONS).pair("lightrag")


def test_of_repeats_each_has_its_answers(films, tracer, tmp_path):
    """A reader by a model may answer otherwise each time."""

    class Varies(Reads):
        engine = judge_()

        def read(self, question, evidence, *, contexts=None, trace=None):
            return Answer(question, f"Pia, {evidence.method}, take {repeat()}")

    methods_ = [wb.method(spec, films) for spec in ("dotrag", "lightrag")]
    made = wb.evaluate(QUESTIONS, methods_, Varies(), out=tmp_path / "run", repeats=2, progress=False)
    win_rate(made, "dotrag", made, "lightrag", made.questions, judge_(), both_orders=True, keep=True)
    saved = wb.trace_dots(made.folder)
    assert saved.pair("lightrag").answers["b"] == "Pia, the method, take 0"
    later = saved.pair("lightrag", repeat=1)
    assert later.answers["b"] == "Pia, the method, take 1" and len(later.judgements) == 2


def test_a_saved_run_needs_neither_index_nor_engine(tracer, films, tmp_path):
    scripted, other = (wb.method(spec, films) for spec in ("dotrag[h_max=1]", "lightrag"))
    run = wb.evaluate(QUESTIONS, [scripted, other], out=tmp_path / "run", progress=False)
    saved = wb.trace_dots(tmp_path / "run", QUESTIONS)
    assert saved.shown.diff(tracer.shown) and saved.shown.gold and not saved._sliders and saved.answer == ""
    assert saved.ask("q2").no_paths and saved.ask("q1").final
    beside = saved.beside()
    assert [one.method for one in beside.found] == ["dotrag[h_max=1]", "lightrag"] and beside.found[0].paths
    assert wb.trace_dots(run).ask("q1").gold == saved.ask("q1").gold != (), "a run keeps its questions"
    for act, message in (
        (lambda: saved.set(tau=0.5), "a saved retrieval cannot be changed; give an index"),
        (saved.region, "has only the size of a region; to draw it, pass index="),
        (lambda: saved.ask("what else?"), "the run has no question 'what else\\?'"),
    ):
        with pytest.raises(SettingError, match=message):
            act()
    helped = wb.trace_dots(run, QUESTIONS, index=films)
    assert "Salt Line is a movie." in helped._end.html and helped.region().name == "Glass Harbour"


def test_a_trace_at_hand(films):
    alone = wb.trace_dots(dot_trace(), QUESTIONS)
    assert alone.shown.gold[0] == "Glass Harbour" and alone.ask("q1") == alone.shown
    with pytest.raises(SettingError, match="a trace of one question only"):
        alone.ask("q2")
    alone._compare.click()
    assert (
        "SettingError: a trace holds one method; to see lightrag, pathrag beside it, give an index"
        in alone._message.html
    )
    assert wb.trace_dots(nothing_trace()).drawing.nodes[0].name == "Fog"
    assert "Ilse Varn" in wb.trace_dots(dot_trace(), index=films)._picture.frame.page


def test_a_question_without_dots_shows_what_there_is():
    trace = nothing_trace()
    events = [event for event in trace if event.step in ("dotrag", "select regions", "aggregate")]
    tracer = wb.trace_dots(Trace(events=[replace(e, id=n, parent=0 if n else None) for n, e in enumerate(events)]))
    assert tracer.drawing is None and tracer._picture.children == ()
    assert "no answer" in tracer._head.html and tracer._repr_mimebundle_()["text/html"]
    tracer._whole.disabled = False
    tracer._whole.click()
    assert "SettingError" in tracer._message.html


@settings(max_examples=10)
@given(hostile)
def test_a_tracer_acts_upon_no_text(text):
    tracer = wb.trace_dots(swapped(text))
    tracer.zoom("0.2.2")
    for part in (tracer._head, tracer._details, tracer._body, tracer._end):
        if part.html:
            Checked(part.html)
            assert not UNSHOWABLE.search(part.html)
    for label, _ in (*tracer._paths.options, *tracer._dot.options):
        assert not UNSHOWABLE.search(label)
