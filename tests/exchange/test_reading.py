"""What each system wrote becomes a data set: passages, facts with the right passages, and all that was paid for."""

from __future__ import annotations

import json
from dataclasses import replace

import layouts
import pytest
from layouts import ALDRA, FOG, ORSBY, write
from tiny import TinyEncoder

import workbench as wb
from workbench import exchange
from workbench.data.profiles import EntityProfile, RelationProfile
from workbench.errors import DataError, SettingError
from workbench.index import Index
from workbench.records import Passage, Question

ALL = [(kind, version) for kind, versions in layouts.LAYOUTS.items() for version in versions]


def triples(data) -> dict[str, tuple]:
    return {record.passage_id: record.triples for record in data.extractions}


def entities(data) -> dict[str, tuple]:
    return {record.passage_id: record.entities for record in data.extractions}


# -- every format ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "version"), ALL)
def test_it_is_recognised_indexed_without_an_engine_and_found_again(kind, version, tmp_path):
    path = layouts.LAYOUTS[kind][version](tmp_path / "tales")
    assert exchange.recognise(path) == kind
    data = exchange.read(path)
    assert data == exchange.read(str(path), kind) == wb.load(path) and data.folder == path
    assert data.name == "tales"
    assert [passage.text.splitlines()[-1] for passage in data.passages] == [
        text if kind != "youtu" or text == FOG else f"{title} {text}"
        for title, text in (("Orsby", ORSBY), ("River Aldra", ALDRA), ("Fog", FOG))
    ]
    assert len(data.extractions) == 3 and all(record.triples for record in data.extractions[:2])
    assert data.extractions[2].triples == () and data.extractions[2].failure is None
    Index.build(data, None, tmp_path / "index", encoder=TinyEncoder(), progress=False)
    index = Index.open(tmp_path / "index", TinyEncoder())
    assert {"orsby", "nora whitlock", "river aldra", "lake mira"} <= set(index.facts.phrases)
    assert ("profiles" in index.manifest["layers"]) == (data.profiles is not None)
    assert index.left_out == data.left_out
    evidence = wb.method("hipporag2", index).retrieve("Who founded Orsby?", k=2)
    assert evidence.passages[0].item == data.passages[0]
    for thing in (data, index, *data.extractions, data.profiles):
        assert repr(thing) and (thing is None or thing._repr_html_())


def test_questions_beside_an_index_are_read(tmp_path):
    path = layouts.hipporag2(tmp_path / "tales")
    gold = exchange.read(path).passages[0].id
    (path / "questions.jsonl").write_text(json.dumps({"question": "Who founded Orsby?", "support": [gold]}) + "\n")
    assert wb.load(path).questions == (Question("questions-1", "Who founded Orsby?", (), support=(gold,)),)
    (path / "questions.jsonl").write_text('{"question": "Who?", "support": ["nowhere"]}\n')
    with pytest.raises(DataError, match="the gold passage 'nowhere' is not in the corpus"):
        wb.load(path)


def test_a_name_is_given_or_that_of_the_folder_that_someone_named(tmp_path):
    layouts.msgraphrag(tmp_path / "rivers", 1)
    layouts.gfmrag1(tmp_path / "rivers")
    layouts.youtu(tmp_path / "rivers")
    layouts.lightrag(tmp_path / "rivers" / "rag_storage")
    for inside, kind in (("output", "msgraphrag"), ("processed/stage1", "gfmrag"), ("rag_storage", "lightrag")):
        assert exchange.read(tmp_path / "rivers" / inside, kind).name == "rivers"
    assert exchange.read(tmp_path / "rivers" / "output" / "graphs" / "tales_new.json").name == "tales"
    assert exchange.read(tmp_path / "rivers", "youtu", name="other").name == "other"


def test_nothing_is_recognised_in_what_is_none_of_them(tmp_path):
    (tmp_path / "corpus.jsonl").write_text("{}")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "folder.json").mkdir()
    for path in (
        tmp_path,
        tmp_path / "corpus.jsonl",
        tmp_path / "list.json",
        tmp_path / "folder.json",
        tmp_path / "no",
    ):
        assert exchange.recognise(path) is None
    with pytest.raises(DataError, match=r"in no format that can be read.*an OpenIE file of HippoRAG.*a BEIR folder"):
        exchange.read(tmp_path)
    with pytest.raises(DataError, match=r"nowhere does not exist; give the folder"):
        exchange.read(tmp_path / "nowhere")


def test_a_wrong_kind_or_option_is_named(tmp_path):
    layouts.youtu(tmp_path)
    with pytest.raises(SettingError, match=r"kind='neo4j' is unknown; choose one of hipporag, msgraphrag"):
        exchange.read(tmp_path, "neo4j")
    with pytest.raises(SettingError, match=r"youtu has no option 'documents'; it has chunks, strict"):
        exchange.read(tmp_path, documents="x")
    with pytest.raises(DataError, match=r"is not a working folder of LightRAG \(graph_chunk.*\); give the file"):
        exchange.read(tmp_path, "lightrag")


# -- HippoRAG --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("write_layout", "ids"), [
    (layouts.hipporag2, ("chunk-a1", "chunk-b2", "chunk-c3")), (layouts.hipporag1, ("0", "1", "2")),
])  # fmt: skip
def test_hipporag(tmp_path, write_layout, ids):
    data = exchange.read(write_layout(tmp_path))
    assert data.passages == tuple(Passage(*row) for row in zip(ids, ("Orsby", "River Aldra", ""), (ORSBY, ALDRA, FOG)))
    assert triples(data) == {
        ids[0]: (("Orsby", "lies on", "River Aldra"), ("Nora Whitlock", "founded", "Orsby")),
        ids[1]: (("River Aldra", "flows into", "Lake Mira"),),
        ids[2]: (),
    }
    assert entities(data)[ids[0]] == ("Orsby", "Nora Whitlock")
    assert data.profiles is None  # names alone
    assert data.left_out[0] == "2 triples that are not three words"


def test_hipporag_says_which_model_made_the_records_and_what_becomes_of_the_vectors(tmp_path):
    data = exchange.read(layouts.hipporag2(tmp_path))
    assert data.extractions[0].made_by == "HippoRAG openie_results_ner_gpt-4o-mini.json"
    assert data.left_out[1] == "the vectors in gpt-4o-mini_encoder: encoded anew by the index's own encoder"
    write(tmp_path / "openie_results_ner_other.json", {"docs": layouts.HIPPO_DOCS})
    with pytest.raises(
        DataError,
        match=r"contains 2 candidates for an OpenIE file.*: .*ner_gpt-4o-mini.json, .*ner_other.json; give one",
    ):
        exchange.read(tmp_path)
    assert exchange.read(tmp_path / "openie_results_ner_other.json").name == tmp_path.name


def test_a_hipporag_passage_is_encoded_as_it_stood(tmp_path):
    passages = ["Title\nText\nmore", "no title", "\nleading", "Title\n"]
    docs = [
        {"idx": str(n), "passage": p, "extracted_entities": [], "extracted_triples": []} for n, p in enumerate(passages)
    ]
    data = exchange.read(write(tmp_path / "openie_results_ner_m.json", {"docs": docs}))
    assert [passage.content for passage in data.passages] == passages


def test_the_shared_extractions_in_hipporags_layout_give_the_same_facts(shared, tmp_path):
    data = wb.load(shared / "datasets" / "musique-train-100")
    of = {record.passage_id: record for record in data.extractions}
    docs = [
        {
            "idx": passage.id,
            "passage": f"{passage.title}\n{passage.text}",
            "extracted_entities": list(of[passage.id].entities) if passage.id in of else [],
            "extracted_triples": [list(triple) for triple in of[passage.id].triples] if passage.id in of else [],
        }
        for passage in data.passages
    ]
    read = exchange.read(write(tmp_path / "openie_results_ner_m.json", {"docs": docs}))
    assert read.passages == data.passages
    # HippoRAG's files hold a triple that has an empty member; it is no fact here.
    facts = {p: set(record.triples) for p, record in of.items()}
    assert all(
        {t for t in facts.get(p, ()) if all(map(str.strip, t))} == set(said) for p, said in triples(read).items()
    )
    count = sum(map(len, facts.values()))
    assert count - sum(map(len, triples(read).values())) <= 20 < 8_000 < count


# -- Microsoft GraphRAG ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [3, 2, 1, 0])
def test_msgraphrag(tmp_path, version):
    data = exchange.read(layouts.msgraphrag(tmp_path, version))
    assert data.passages == tuple(Passage(unit, "tales.txt", text) for unit, text in layouts.MS_UNITS)
    feeds = ("RIVER ALDRA", "The river feeds the lake", "LAKE MIRA")
    assert triples(data) == {
        "u1": (
            ("ORSBY", "Orsby lies on the River Aldra", "RIVER ALDRA"),
            ("NORA WHITLOCK", "Nora Whitlock founded Orsby", "ORSBY"),
            feeds,
        ),
        "u2": (feeds,),
        "u3": (),
    }
    assert entities(data)["u2"] == ("RIVER ALDRA", "LAKE MIRA")
    assert data.profiles.entities == (
        EntityProfile("ORSBY", "geo", "Orsby is a town.", ("u1",)),
        EntityProfile("NORA WHITLOCK", "person", "She founded Orsby.", ("u1",)),
        EntityProfile("RIVER ALDRA", "geo", "A river.", ("u1", "u2")),
    )
    assert data.profiles.relations[1:] == (
        RelationProfile("NORA WHITLOCK", "ORSBY", "Nora Whitlock\nfounded Orsby", (), 9.0, ("u1",)),
        RelationProfile("RIVER ALDRA", "LAKE MIRA", "The river feeds the lake", (), 1.5, ("u1", "u2")),
    )
    assert data.left_out == ("2 community reports", "1 claim", "the vectors: encoded anew by the index's own encoder")


def test_msgraphrag_is_read_from_any_of_its_folders(tmp_path):
    data = exchange.read(layouts.msgraphrag(tmp_path))
    for path in (tmp_path / "output", tmp_path / "output" / "entities.parquet"):
        assert exchange.recognise(path) == "msgraphrag" and exchange.read(path).passages == data.passages


def test_msgraphrag_needs_its_tables_and_columns(tmp_path):
    output = layouts.msgraphrag(tmp_path) / "output"
    layouts.parquet(output / "text_units.parquet", [{"id": "u1", "body": "x"}])
    with pytest.raises(DataError, match=r"text_units.parquet has no column 'text'; it has id, body: is it of another"):
        exchange.read(tmp_path)
    (output / "text_units.parquet").write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"text_units.parquet is not a whole Parquet file.*copy it again"):
        exchange.read(tmp_path)
    (output / "text_units.parquet").unlink()
    with pytest.raises(DataError, match=r"no text_units.parquet and no create_final_text_units.parquet; copy it there"):
        exchange.read(tmp_path)


# -- LightRAG --------------------------------------------------------------------------------------------------------


def test_lightrag(tmp_path):
    data = exchange.read(layouts.lightrag(tmp_path))
    assert data.passages == (
        Passage("chunk-1", "tales.txt", ORSBY),
        Passage("chunk-2", "tales.txt", ALDRA),
        Passage("chunk-3", "", FOG),
    )
    feeds = ("River Aldra", "hydrology", "Lake Mira")
    assert triples(data) == {
        "chunk-1": (
            ("Orsby", "geography, location", "River Aldra"),
            ("Nora Whitlock", "She founded it.", "Orsby"),
            feeds,  # the store names more chunks than the graph
        ),
        "chunk-2": (feeds,),
        "chunk-3": (),
    }
    assert data.profiles.entities == (
        EntityProfile("Orsby", "location", "Orsby is a town.\nOrsby was founded by Nora.", ("chunk-1",)),
        EntityProfile("Nora Whitlock", "person", "She founded Orsby.", ("chunk-1",)),
        EntityProfile("River Aldra", "naturalobject", "A river.", ("chunk-1", "chunk-2")),
        EntityProfile("Lake Mira", "UNKNOWN", "The river feeds it.", ("chunk-2", "chunk-1")),
    )
    assert data.profiles.relations == (
        RelationProfile(
            "Orsby", "River Aldra", "Orsby lies on the river.", ("geography", "location"), 1.0, ("chunk-1",)
        ),
        RelationProfile("Nora Whitlock", "Orsby", "She founded it.\nShe was its mayor.", (), 2.0, ("chunk-1",)),
        RelationProfile(
            "River Aldra", "Lake Mira", "The river feeds the lake.", ("hydrology",), 3.0, ("chunk-2", "chunk-1")
        ),
    )
    assert data.left_out == (
        "1 cached answer of the model", "the vectors in vdb_*.json: encoded anew by the index's own encoder",
    )  # fmt: skip


def test_early_lightrag(tmp_path):
    data = exchange.read(layouts.lightrag(tmp_path, old=True))
    assert triples(data)["chunk-2"] == (("RIVER ALDRA", "hydrology", "LAKE MIRA"),)
    assert entities(data) == {
        "chunk-1": ("ORSBY", "NORA WHITLOCK", "RIVER ALDRA"), "chunk-2": ("RIVER ALDRA", "LAKE MIRA"), "chunk-3": (),
    }  # fmt: skip
    assert data.profiles.entities[1] == EntityProfile("NORA WHITLOCK", "PERSON", "She founded Orsby.", ("chunk-1",))
    assert data.passages[0].title == "" and data.left_out[0] == "2 cached answers of the model"


def test_workspaces_of_lightrag_are_a_choice_unless_one_is_given(tmp_path):
    layouts.lightrag(tmp_path / "rag_storage" / "rivers")
    assert exchange.read(tmp_path).name == tmp_path.name
    layouts.lightrag(tmp_path / "rag_storage" / "lakes")
    with pytest.raises(DataError, match=r"2 candidates for .*lakes, .*rivers; give one"):
        exchange.read(tmp_path)
    assert exchange.read(tmp_path / "rag_storage" / "lakes").name == "lakes"
    layouts.lightrag(tmp_path)  # nearer than both
    assert exchange.read(tmp_path).folder == tmp_path


def test_an_id_that_is_not_there_is_named_or_left_out_if_asked(tmp_path):
    layouts.lightrag(tmp_path)
    graph = tmp_path / "graph_chunk_entity_relation.graphml"
    write(graph, graph.read_text().replace("chunk-2", "chunk-9").replace(">chunk-1<", ">manual_creation<"))
    with pytest.raises(
        DataError, match=r"graphml, node 1 names the passage 'manual_creation', which is missing;.*strict"
    ):
        exchange.read(tmp_path)
    data = exchange.read(tmp_path, strict=False)
    assert "2 relations that no passage states" in data.left_out
    assert "7 names of passages that are not there" in data.left_out
    assert data.profiles.entities[0] == EntityProfile(
        "Orsby", "location", "Orsby is a town.\nOrsby was founded by Nora.", ()
    )


# -- gfm-rag ---------------------------------------------------------------------------------------------------------


def test_gfmrag_1(tmp_path):
    data = exchange.read(layouts.gfmrag1(tmp_path))
    assert data.passages == tuple(Passage(title, title, text) for title, text in layouts.TEXTS.items())
    assert triples(data) == {
        "Orsby": (("orsby", "lies on", "river aldra"), ("nora whitlock", "founded", "orsby")),
        "River Aldra": (("river aldra", "flows into", "lake mira"),),
        "Fog": (),
    }
    assert entities(data)["River Aldra"] == ("river aldra", "lake mira")
    assert data.profiles is None
    assert data.left_out == (
        "1 synonym edge, found anew by the index",
        "1 line of kg.txt that has not three parts",
        "1 relation that no passage states",
        "1 start of a question that is no entity",
        "1 list of target entities of a question",
        "2 questions in train.json, read with split='train'",
    )
    asked = Question(
        "q1", "Which lake does the river at Orsby flow into?", ("Lake Mira",), "bridge",
        support=("Orsby", "River Aldra"), start=("orsby",),
    )  # fmt: skip
    assert data.questions == (asked,)
    training = exchange.read(tmp_path / "processed" / "stage1", split="train")
    assert training.passages == data.passages
    assert training.questions == (asked, replace(asked, id="q2"))
    assert "1 question in test.json, read with split='test'" in training.left_out


@pytest.mark.parametrize("own_texts", [False, True])
def test_gfmrag_2(tmp_path, own_texts):
    data = exchange.read(layouts.gfmrag2(tmp_path, own_texts))
    assert data.passages == tuple(Passage(f"Doc {t}", f"Doc {t}", text) for t, text in layouts.TEXTS.items())
    assert triples(data) == {
        "Doc Orsby": (("orsby", "lies on", "river aldra"), ("nora whitlock", "founded", "orsby")),
        "Doc River Aldra": (("river aldra", "flows into", "lake mira"),),
        "Doc Fog": (),
    }
    assert data.profiles.entities == (
        EntityProfile("nora whitlock", "person", "She founded it, alone.", ("Doc Orsby",)),
    )
    assert data.profiles.relations == (RelationProfile("nora whitlock", "orsby", "", (), 2.0, ("Doc Orsby",)),)
    assert data.left_out == (
        "1 synonym edge, found anew by the index", "1 edge between documents",
        "1 start of a question that is no entity", "1 list of target entities of a question",
        "1 attribute 'born' of nodes or edges",
    )  # fmt: skip
    answers = ("Nora Whitlock", "N. Whitlock", "Whitlock, Nora")
    asked = Question("train-1", "Who founded it?", answers, support=("Doc Orsby",), start=("orsby",))
    assert data.questions == (asked,)
    samples = tmp_path / "processed" / "stage1" / "train.json"
    (sample,) = json.loads(samples.read_text(encoding="utf-8"))
    write(samples, [{**sample, "supporting_documents": None}])
    assert exchange.read(tmp_path).questions == (asked,), "gold is what the targets name"


def test_gfmrag_gold_that_is_not_there_is_left_out_if_asked(tmp_path):
    stage = layouts.gfmrag1(tmp_path) / "processed" / "stage1"
    write(stage / "test.json", [{"id": 1, "question": "Where?", "supporting_facts": ["Fog", "Mist"]}])
    data = exchange.read(tmp_path, strict=False)
    assert data.questions == (Question("1", "Where?", support=("Fog",)),)
    assert "1 name of a passage that is not there" in data.left_out


def test_gfmrag_splits(tmp_path):
    stage = layouts.gfmrag1(tmp_path) / "processed" / "stage1"
    with pytest.raises(SettingError, match=r"split='dev' is unknown; choose one of test, train"):
        exchange.read(tmp_path, split="dev")
    (stage / "test.json").unlink()
    assert [one.id for one in exchange.read(tmp_path).questions] == ["q1", "q2"]
    with pytest.raises(DataError, match=r"has no test.json but train.json; read it without split='test'"):
        exchange.read(tmp_path, split="test")
    (stage / "train.json").unlink()
    assert exchange.read(tmp_path).questions == ()
    with pytest.raises(DataError, match=r"has no train.json but no questions at all"):
        exchange.read(tmp_path, split="train")


def test_gfmrag_nodes_may_go_by_a_uid(tmp_path):
    write(
        tmp_path / "nodes.csv",
        "uid,name,type,attributes\n7,Orsby,document,\"{'content': 'A town.'}\"\n8,orsby,entity,\n",
    )
    write(tmp_path / "relations.csv", "uid,name,attributes\n5,is near,\n")
    write(tmp_path / "edges.csv", "source,relation,target,attributes\n8,5,8,\n8,1,7,\n")
    sample = {"id": 3, "question": "What?", "start_nodes": {"entity": ["8"]}, "target_nodes": {"document": [7]}}
    write(tmp_path / "test.json", [sample])
    data = exchange.read(tmp_path)
    assert data.questions == (Question("3", "What?", support=("7",), start=("orsby",)),)
    assert data.passages == (Passage("7", "Orsby", "A town."),)
    assert triples(data) == {"7": (("orsby", "is near", "orsby"),)}


# -- Youtu-GraphRAG --------------------------------------------------------------------------------------------------


def test_youtu(tmp_path):
    data = exchange.read(layouts.youtu(tmp_path))
    assert [(p.id, p.title, p.text) for p in data.passages] == [
        ("aaaa1111", "", f"Orsby {ORSBY}"), ("bbbb2222", "", f"River Aldra {ALDRA}"), ("cccc3333", "", f"Fog\n{FOG}"),
    ]  # fmt: skip
    assert triples(data) == {
        "aaaa1111": (("Orsby", "lies_on", "River Aldra"), ("Nora Whitlock", "founded", "Orsby")),
        # The river was met in the first chunk, the lake in the second, and only the second names both.
        "bbbb2222": (("River Aldra", "flows_into", "Lake Mira"),),
        "cccc3333": (),
    }
    assert set(data.profiles.entities) == {
        EntityProfile("Orsby", "location", "", ("aaaa1111",)),
        EntityProfile("Orsby", "location", "type: town; status: old", ("aaaa1111",)),
        EntityProfile("Orsby", "location", "weather: fog", ("cccc3333",)),
        EntityProfile("Nora Whitlock", "person", "", ("aaaa1111",)),
        EntityProfile("River Aldra", "location", "", ("aaaa1111",)),
    }
    assert data.left_out == ("1 chunk of an earlier run", "1 community", "1 keyword node")


def test_youtu_where_no_chunk_names_both_ends_both_count(tmp_path):
    edge = {"start_node": layouts.youtu_node("A", "a"), "relation": "is", "end_node": layouts.youtu_node("B", "b")}
    write(tmp_path / "g.json", [edge])
    write(tmp_path / "g.txt", "id: a\tChunk: x\nid: b\tChunk: y\n")
    assert triples(exchange.read(tmp_path)) == {"a": (("A", "is", "B"),), "b": (("A", "is", "B"),)}


def test_youtu_chunks_of_several_lines_and_documents_and_another_place(tmp_path):
    write(tmp_path / "g.json", layouts.youtu_edges())
    chunks = write(
        tmp_path / "elsewhere" / "chunks.txt",
        f"id: aaaa1111\tChunk: Orsby\n\n{ORSBY}\\nabla\n"
        f"id: bbbb2222\tChunk: {{'title': 'River Aldra', 'text': '{ALDRA}'}}\n"
        f"id: cccc3333 \tChunk: {FOG}\n",
    )
    with pytest.raises(
        DataError, match=r"the chunks of .*g.json are missing, looked for as .*g.txt; name the file with"
    ):
        exchange.read(tmp_path)
    data = exchange.read(tmp_path, chunks=chunks)
    # Where line breaks stand as they are, a backslash is a backslash.
    assert [p.content for p in data.passages] == [f"Orsby\n\n{ORSBY}\\nabla", f"River Aldra\n{ALDRA}", FOG]
