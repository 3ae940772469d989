"""Graph-walk compression: the published rules worked out by hand, and what our own walk promises."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walk_graphs import QUESTION, graphs, path, questions

from workbench import layouts, tokens
from workbench.errors import DataError, SettingError
from workbench.reading.compression import GraphWalk, compressor, published, top, truncate
from workbench.reading.compression.texts import families, weight, words
from workbench.records import ContextEntity, ContextGraph, ContextRelation, Unit

# -- the published walk -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "name", "is_seed"),
    [
        ("Where is the old mill?", "OLD MILL", True),  # a: the question holds the name
        ("I just came", "US", True),  # a: even inside of a word
        ("Where is the old mill?", "NEW MILL", False),
        ("Which radio did Ida found for Holm?", "IDA HOLM", True),  # b: both words, apart
        ("Which radio did Ida found?", "IDA HOLM", False),  # b: one is missing, and c: it is short
        ("Who of you saw Ida?", "OF IDA", False),  # b: only one word is longer than two characters
        ("Who led Kestrel?", "KESTREL RADIO", True),  # c: one word of five characters
        ("Who led Tarn?", "TARN VALLEY", False),  # c: four are too few
        ("Could they be known?", "KNOWN COULD", True),  # b has no stop list
        ("Who could?", "COULD NINE", False),  # c has: `could` is on it
    ],
)
def test_seed_rules(question, name, is_seed):
    assert published.seeds(question, [name]) == [name] * is_seed


def test_the_text_takes_the_article_of_a_name_off_and_has_a_stop_list():
    assert published.seeds("Who owns elm?", ["THE ELM"], articles=False) == ["THE ELM"]
    assert published.seeds("Who owns elm?", ["THE ELM"]) == []
    assert published.seeds("Who could?", ["COULD NINE"], stop=frozenset()) == ["COULD NINE"]


def test_hops_on_a_path_of_four_nodes():
    hops = published.hops_from(["NORA WHITLOCK"], path().relations, 3)
    assert hops == {"NORA WHITLOCK": 0, "KESTREL RADIO": 1, "IDA HOLM": 2, "ORSBY": 3}
    assert "ORSBY" not in published.hops_from(["NORA WHITLOCK"], path().relations, 2)
    assert published.hops_from(["NORA WHITLOCK", "ORSBY"], path().relations, 3)["IDA HOLM"] == 1, "from any seed"


def test_expansion_adds_names_of_the_table_one_hop_further_and_once():
    graph = path()
    chunks = (*graph.chunks, Unit("chunk_7", "Tarn Valley and Far Peak."))
    graph = ContextGraph((*graph.entities, ContextEntity("FAR PEAK")), graph.relations, graph.sources, chunks)
    hops = dict(GraphWalk(profile="released").compress(QUESTION, graph).hops)
    assert hops["TARN VALLEY"] == 4  # beside IDA HOLM in chunk 3; the largest hop before is 3
    assert "FAR PEAK" not in hops  # only beside a name that was added itself


def test_released_text_by_hand():
    result = GraphWalk(profile="released").compress(QUESTION, path())
    assert result.seeds == ("NORA WHITLOCK",)
    assert result.text == "\n\n".join(
        [
            "=== Step 0 (from question) ===\n"
            "  NORA WHITLOCK: A manager of broadcasts.\n"
            "    -> KESTREL RADIO: Whitlock directs the station.",
            "  [chunk_1] Nora Whitlock grew up by the sea.",
            "=== Step 1 (hop 1) ===\n  KESTREL RADIO: A station.\n    -> IDA HOLM: Holm founded it in 1931.",
            "  [chunk_2] Kestrel Radio was begun by Ida Holm.",
            "=== Step 2 (hop 2) ===\n  IDA HOLM\n    -> ORSBY: Holm died in Orsby.",
            "  [chunk_3] Ida Holm hiked in Tarn Valley.",
            "=== Step 3 (hop 3) ===\n  ORSBY: A town.",
            "=== Step 4 (hop 4) ===\n  TARN VALLEY: A valley.",
            "  [chunk_4] Tarn Valley is green.",
            "=== Additional context ===",
            "  [chunk_5] Somebody founded something elsewhere.",
            "=== Sources ===",
            "  [7] A report on Orsby and its people.",
        ]
    )
    assert [unit.id for unit in result.dropped.chunks] == ["chunk_6"]
    assert result.tokens == tokens.count(result.text) and result.fallback is None


def test_thesis_writes_all_lines_first_and_then_the_chunks_by_hop():
    graph = path()
    chunks = (*graph.chunks, Unit("chunk_8", "Nora Whitlock ran Kestrel Radio."))
    graph = ContextGraph(graph.entities, graph.relations, graph.sources, chunks)
    text = GraphWalk(profile="thesis").compress(QUESTION, graph).text
    parts = ("Step 0", "Step 4", "[chunk_8]", "[chunk_1]", "[chunk_2]", "[chunk_3]", "[chunk_4]", "[chunk_5]", "[7]")
    places = [text.index(part) for part in parts]
    assert places == sorted(places)  # of hop 0, chunk 8 mentions two names, chunk 1 one; chunk 2 two of hop 1


@pytest.mark.parametrize("budget", [1, 15, 30, 45, 60, 90, 150, 400])
def test_thesis_keeps_to_its_budget(budget):
    graph = path()
    long = ContextEntity("IDA HOLM", "word " * 200)  # at hop 2; what comes after it is not tried
    graph = ContextGraph((*graph.entities, long), graph.relations, graph.sources, graph.chunks)
    result = GraphWalk(profile="thesis", budget=budget).compress(QUESTION, graph)
    assert result.tokens <= budget and dict(result.hops)["ORSBY"] == 3
    whole = GraphWalk(profile="thesis").compress(QUESTION, graph).text
    lines = [line for line in f"\n{result.text}".split("\n  [")[0].splitlines() if line]
    assert lines == [line for line in whole.splitlines() if line][: len(lines)]
    assert len(result.graph.relations) == result.text.count("    -> ")


def test_released_prints_a_block_that_is_too_long_without_its_chunks_and_goes_on():
    graph = path()
    long = ContextEntity("NORA WHITLOCK", "word " * 60)
    graph = ContextGraph((long, *graph.entities[1:]), graph.relations, (), graph.chunks)
    text = GraphWalk(profile="released", budget=60).compress(QUESTION, graph).text  # 46 words
    assert text.count("word") == 60 and "Step 4" in text and "[chunk_" not in text
    long = ContextEntity("NORA WHITLOCK", "word " * 20)
    graph = ContextGraph((long, *graph.entities[1:]), (), (), graph.chunks[:1])
    again = GraphWalk(profile="released", budget=60).compress(QUESTION, layouts.lightrag.write(graph)).text
    assert "by the sea" in again, "but of LightRAG with them"


@pytest.mark.parametrize("profile", ["released", "thesis"])
@pytest.mark.parametrize(
    ("question", "context"),
    [
        ("Where are you?", path()),
        ("Where are you?", layouts.ket_rag.write(path())),
        (QUESTION, ContextGraph(chunks=(Unit("chunk_1", "Nora Whitlock."),))),
        (QUESTION, "no layout at all"),
        (QUESTION, ""),
    ],
)
def test_published_walk_without_seeds_leaves_the_context_as_it_is(profile, question, context):
    result = GraphWalk(profile=profile, budget=10).compress(question, context)
    assert result.text == (context if isinstance(context, str) else layouts.ket_rag.write(context))
    assert result.fallback.endswith("left as it is") and result.graph == result.before
    assert result.tokens == result.tokens_before and not result.hops


# -- our own ----------------------------------------------------------------------------------------------------------


def test_walk_follows_what_units_are_about_to_the_second_hop():
    filler = tuple(Unit(f"chunk_{at}", f"Village {at} has a church and a school.") for at in range(2, 30))
    last = Unit("chunk_30", "Ida Holm was a brewer from the coast.")
    first = Unit("chunk_1", "Nora Whitlock directs the station. It was founded by Ida Holm.")
    context = ContextGraph(chunks=(first, *filler, last))
    walked = GraphWalk(budget=250).compress(QUESTION, context)
    assert last in walked.graph.chunks and first in walked.graph.chunks
    assert dict(walked.hops)["Ida Holm"] == 1
    assert last not in GraphWalk(budget=250, walk=0).compress(QUESTION, context).graph.chunks


def test_a_common_word_does_not_seed_and_a_rare_one_does():
    """And a name counts at the boundaries of words alone."""
    entities = tuple(
        ContextEntity(name) for name in ("WORLD CUP", "WORLD BANK", "WORLD MAP", "ORSBY CLUB", "WHERE", "OR")
    )
    chunks = (*(Unit(f"chunk_{at}", f"The world is thing{at}.") for at in range(9)), Unit("chunk_9", "An Orsby."))
    result = GraphWalk().compress("Where in the world is Orsby?", ContextGraph(entities, chunks=chunks))
    assert "ORSBY CLUB" in result.seeds and not any(name.startswith("WORLD") for name in result.seeds)
    assert "OR" not in result.seeds


def test_no_sentence_is_said_twice():
    said = "Nora Whitlock directs the station."
    context = ContextGraph(chunks=(Unit("chunk_1", said), Unit("chunk_2", f"{said} It stands in Orsby.")))
    result = GraphWalk().compress(QUESTION, context)
    assert result.text.count(said) == 1 and "It stands in Orsby." in result.text


def test_a_unit_that_does_not_fit_is_shortened_by_whole_sentences():
    long = Unit("chunk_1", " ".join([*(f"Row {at} is dull." for at in range(40)), "Nora Whitlock directs it."]))
    result = GraphWalk(budget=110).compress(QUESTION, ContextGraph(chunks=(long,)))
    assert "Nora Whitlock directs it." in result.text and "…" in result.text
    assert result.tokens <= 110 and result.graph.chunks == (long,)
    assert GraphWalk(budget=110, shorten=False).compress(QUESTION, ContextGraph(chunks=(long,))).text == ""


def test_lines_stand_under_their_names_and_do_not_repeat_a_unit():
    graph = path()
    result = GraphWalk(lines=0.5).compress(QUESTION, graph)
    assert "  KESTREL RADIO: A station.\n    -> IDA HOLM: Holm founded it in 1931." in result.text
    said = ContextRelation("NORA WHITLOCK", "KESTREL RADIO", "Nora Whitlock grew up by the sea.")
    result = GraphWalk(lines=0.5).compress(QUESTION, ContextGraph(graph.entities, (said,), (), graph.chunks))
    assert result.graph.relations == () and result.text.count("by the sea") == 1
    assert GraphWalk(lines=0).compress(QUESTION, graph).graph.entities == ()


def test_a_text_in_no_layout_is_refused_and_a_blank_one_is_empty():
    with pytest.raises(DataError, match="no layout"):
        GraphWalk().compress(QUESTION, "Nora Whitlock directs it.")
    assert GraphWalk().compress(QUESTION, " \n").text == ""


@given(questions, graphs, st.integers(1, 400), st.booleans())
def test_budget_holds_and_nothing_is_invented(question, graph, budget, shorten):
    walk = GraphWalk(budget=budget, shorten=shorten)
    result = walk.compress(question, graph)
    assert result == walk.compress(question, graph)
    assert result.tokens == tokens.count(result.text) <= budget
    for table in ("entities", "relations", "sources", "chunks"):
        known = {id(row) for row in getattr(graph, table)}
        assert all(id(row) in known for row in getattr(result.graph, table))
    ids = [name for _, _, names in result.kept for name in names]
    assert all(unit.id in ids for unit in (*result.graph.sources, *result.graph.chunks))
    assert set(result.seeds) == {name for name, hop in result.hops if hop == 0}
    assert [hop for _, hop in result.hops] == sorted(hop for _, hop in result.hops)


# -- settings and peers -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("graph-walk[profile=ours]", "profile='ours'"),
        ("graph-walk[budget=0]", "budget=0"),
        ("graph-walk[budget=1.5]", "budget=1.5"),
        ("graph-walk[max_hops=-1]", "max_hops=-1"),
        ("graph-walk[lines=2]", "lines=2"),
        ("graph-walk[share=x]", "share='x'"),
        ("graph-walk[walk=-1]", "walk=-1"),
        ("graph-walk[shorten=3]", "shorten=3"),
        ("graph-walk[width=many]", "width='many'"),
        ("graph-walk[profile=released,lines=0.2]", "lines has no effect"),
        ("graph-walk[hops=3]", "no setting 'hops'"),
        ("zip", "no compressor is called 'zip'"),
        (7, "7 is not a compressor"),
    ],
)
def test_what_is_no_compressor_is_refused(spec, said):
    with pytest.raises(SettingError, match=said):
        compressor(spec)


def test_peers():
    graph = path()
    whole = layouts.ket_rag.write(graph)
    assert truncate(graph, 10**6) == truncate(whole, 10**6) == whole
    assert whole.startswith(truncate(graph, 20)) and tokens.count(truncate(graph, 20)) <= 20
    assert top(graph, 10**6).count("[chunk_") == 6 and "ORSBY" not in top(graph, 10**6)
    assert top(graph, 18) == "  [chunk_1] Nora Whitlock grew up by the sea."
    assert "A report" in top(ContextGraph(sources=graph.sources), 100) and top("", 5) == ""


def test_a_weight_does_not_depend_on_the_order_of_a_set():
    """A running sum does: 1e16 + 1 is 1e16. The order of a set of words is another one in each process."""
    text = "whale zebra " + " ".join(f"orsby{at}" for at in range(10))
    whale, zebra, *others = families(words(text))
    assert weight(text, {whale: 1e16, zebra: -1e16, **dict.fromkeys(others, 1.0)}) == 10
