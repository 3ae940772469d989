"""One small story in the layout of every system that is read: three passages, the last of which says nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa
import pyarrow.parquet as pq

ORSBY = "Orsby lies on the River Aldra. Nora Whitlock founded the town."
ALDRA = "The River Aldra flows into Lake Mira."
FOG = "Nothing is known of the fog."


def write(path: Path, value: Any) -> Path:
    """A JSON file, or a file with that text."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def parquet(path: Path, rows: list[dict]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)


# -- HippoRAG --------------------------------------------------------------------------------------------------------

HIPPO_DOCS = [
    {
        "idx": "chunk-a1",
        "passage": f"Orsby\n{ORSBY}",
        "extracted_entities": ["Orsby", "Nora Whitlock"],
        "extracted_triples": [["Orsby", "lies on", "River Aldra"], ["Nora Whitlock", "founded", "Orsby"]],
    },
    {
        "idx": "chunk-b2",
        "passage": f"River Aldra\n{ALDRA}",
        "extracted_entities": ["Lake Mira"],
        "extracted_triples": [["River Aldra", "flows into", "Lake Mira"], ["River Aldra", "flows"], [1, None, "x"]],
    },
    {"idx": "chunk-c3", "passage": FOG, "extracted_entities": [], "extracted_triples": []},
]


def hipporag2(folder: Path) -> Path:
    value = {"docs": HIPPO_DOCS, "avg_ent_chars": 9.0, "avg_ent_words": 1.5}
    write(folder / "openie_results_ner_gpt-4o-mini.json", value)
    write(folder / "gpt-4o-mini_encoder" / "chunk_embeddings" / "vdb_chunk.parquet", "vectors")
    return folder


def hipporag1(folder: Path) -> Path:
    docs = []
    for place, doc in enumerate(HIPPO_DOCS):
        title, _, text = doc["passage"].rpartition("\n")
        docs.append({**doc, "idx": place, "title": title, "text": text})
    del docs[2]["idx"]
    return write(folder / "openie_tales_results_ner_gpt-3.5-turbo-1106_3.json", {"docs": docs, "ents_by_doc": []})


# -- Microsoft GraphRAG ----------------------------------------------------------------------------------------------

MS_UNITS = [("u1", ORSBY), ("u2", ALDRA), ("u3", FOG)]
MS_ENTITIES = [
    ("ORSBY", "geo", "Orsby is a town.", ["u1"]),
    ("NORA WHITLOCK", "person", "She founded Orsby.", ["u1"]),
    ("RIVER ALDRA", "geo", "A river.", ["u1", "u2"]),
    ("LAKE MIRA", "", "", ["u2"]),
]
MS_RELATIONS = [
    ("ORSBY", "RIVER ALDRA", "Orsby lies on the River Aldra", 8.0, ["u1"]),
    ("NORA WHITLOCK", "ORSBY", "Nora Whitlock\nfounded Orsby", 9.0, ["u1"]),
    ("RIVER ALDRA", "LAKE MIRA", "The river feeds the lake", 1.5, ["u1", "u2"]),
]


def msgraphrag(folder: Path, version: int = 3) -> Path:
    """The tables of 3.x, of 2.x, of 1.x or of 0.x."""
    old = version < 2
    prefix, title = ("create_final_" if old else ""), ("name" if version == 0 else "title")
    inside = folder / "output" / ("20240810-150058/artifacts" if version == 0 else "")

    def named(name: str) -> str:
        return f'"{name}"' if version == 0 else name

    def table(name: str, rows: list[dict]) -> None:
        parquet(inside / f"{prefix}{name}.parquet", rows)

    units = []
    for number, (unit, text) in enumerate(MS_UNITS):
        document = {"document_id": "d1"} if version == 3 else {"document_ids": ["d1"]}
        units.append({"id": unit, "human_readable_id": number, "text": text, "n_tokens": 9, **document})
    table("text_units", units)
    table(
        "entities",
        [
            {"id": f"e{n}", title: named(name), "type": named(kind), "description": said, "text_unit_ids": ids}
            for n, (name, kind, said, ids) in enumerate(MS_ENTITIES)
        ],
    )
    table(
        "relationships",
        [
            {
                "id": f"r{n}", "source": named(source), "target": named(target), "description": said,
                "weight": weight, "text_unit_ids": ",".join(ids) if version == 0 else ids,
            }
            for n, (source, target, said, weight, ids) in enumerate(MS_RELATIONS)
        ],
    )  # fmt: skip
    table("documents", [{"id": "d1", "title": "tales.txt", "text": "…"}])
    table("community_reports", [{"id": "c1", "title": "All of it"}, {"id": "c2", "title": "The river"}])
    table("covariates", [{"id": "k1", "subject_id": "ORSBY"}])
    (inside / "lancedb").mkdir()
    return folder


# -- LightRAG --------------------------------------------------------------------------------------------------------


def graphml(nodes: dict[str, dict], edges: list[tuple[str, str, dict]]) -> str:
    """As networkx writes it: keys d0, d1 …, of nodes and then of edges."""
    names = [(of, name) for of, rows in (("node", nodes.values()), ("edge", (e[2] for e in edges))) for row in rows
             for name in row]  # fmt: skip
    keys = {pair: f"d{n}" for n, pair in enumerate(dict.fromkeys(names))}
    parts = ["<?xml version='1.0' encoding='utf-8'?>", '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    parts += [f'<key id="{key}" for="{of}" attr.name="{name}" attr.type="string"/>' for (of, name), key in keys.items()]

    def data(of: str, row: dict) -> str:
        return "".join(f'<data key="{keys[of, name]}">{escape(str(value))}</data>' for name, value in row.items())

    parts.append('<graph edgedefault="undirected">')
    parts += [f"<node id={quoteattr(name)}>{data('node', row)}</node>" for name, row in nodes.items()]
    parts += [
        f"<edge source={quoteattr(source)} target={quoteattr(target)}>{data('edge', row)}</edge>"
        for source, target, row in edges
    ]
    return "\n".join([*parts, "</graph></graphml>"])


LIGHT_NODES = {
    "Orsby": ("location", "Orsby is a town.<SEP>Orsby was founded by Nora.", "chunk-1"),
    "Nora Whitlock": ("person", "She founded Orsby.", "chunk-1"),
    "River Aldra": ("naturalobject", "A river.", "chunk-1<SEP>chunk-2"),
    "Lake Mira": ("UNKNOWN", "The river feeds it.", "chunk-2"),
}
LIGHT_EDGES = [
    ("Orsby", "River Aldra", "Orsby lies on the river.", "geography,location", "1.0", "chunk-1"),
    ("Nora Whitlock", "Orsby", "She founded it.<SEP>She was its mayor.", "", "2.0", "chunk-1"),
    ("River Aldra", "Lake Mira", "The river feeds the lake.", "hydrology", "3.0", "chunk-2"),
]


def lightrag(folder: Path, old: bool = False) -> Path:
    """The stores of 1.5, or those of the early versions, with names in quotes."""

    def named(name: str) -> str:
        return f'"{name.upper()}"' if old else name

    chunks = {}
    for number, text in enumerate((ORSBY, ALDRA, FOG), 1):
        more = (
            {} if old else {"file_path": "unknown_source" if number == 3 else "/in/tales.txt", "_id": f"chunk-{number}"}
        )
        chunks[f"chunk-{number}"] = {
            "tokens": 9, "content": text, "chunk_order_index": number - 1, "full_doc_id": "doc-1", **more,
        }  # fmt: skip
    write(folder / "kv_store_text_chunks.json", chunks)
    write(folder / "kv_store_full_docs.json", {"doc-1": {"content": "…"}})
    nodes = {
        named(name): {"entity_type": named(kind), "description": said, "source_id": ids}
        for name, (kind, said, ids) in LIGHT_NODES.items()
    }
    edges = [
        (named(a), named(b), {"weight": weight, "description": said, "keywords": words, "source_id": ids})
        for a, b, said, words, weight, ids in LIGHT_EDGES
    ]
    write(folder / "graph_chunk_entity_relation.graphml", graphml(nodes, edges))
    write(folder / "vdb_chunks.json", {"embedding_dim": 2, "data": [], "matrix": ""})
    answer = {"return": "…", "cache_type": "extract"}
    if old:
        write(folder / "kv_store_llm_response_cache.json", {"local": {"h1": answer, "h2": answer}})
    else:
        write(folder / "kv_store_llm_response_cache.json", {"default:extract:h1": answer})
        write(folder / "kv_store_entity_chunks.json", {"Lake Mira": {"chunk_ids": ["chunk-2", "chunk-1"], "count": 2}})
        write(folder / "kv_store_relation_chunks.json", {"Lake Mira<SEP>River Aldra": {"chunk_ids": ["chunk-1"]}})
    return folder


# -- gfm-rag ---------------------------------------------------------------------------------------------------------

TEXTS = {"Orsby": ORSBY, "River Aldra": ALDRA, "Fog": FOG}


def gfmrag1(folder: Path) -> Path:
    stage = folder / "processed" / "stage1"
    write(folder / "raw" / "dataset_corpus.json", TEXTS)
    write(
        stage / "kg.txt",
        "orsby,lies on,river aldra\nnora whitlock,founded,orsby\nriver aldra,flows into,lake mira\n"
        "river aldra,equivalent,aldra river\na,line,of,four\nelsewhere,is,nowhere\n",
    )
    write(
        stage / "document2entities.json",
        {"Orsby": ["orsby", "nora whitlock", "river aldra"], "River Aldra": ["river aldra", "lake mira"], "Fog": []},
    )
    asked = {
        "id": "q1", "question": "Which lake does the river at Orsby flow into?", "answer": "Lake Mira",
        "type": "bridge", "question_entities": ["orsby", "river"], "supporting_facts": ["Orsby", "River Aldra"],
        "supporting_entities": ["orsby", "river aldra", "lake mira"],
    }  # fmt: skip
    write(stage / "test.json", [asked])
    write(stage / "train.json", [asked, {**asked, "id": "q2"}])
    return folder


def gfmrag2(folder: Path, own_texts: bool = False) -> Path:
    """The tables of 2.x; the texts in the nodes, or in a file."""
    stage = folder / "processed" / "stage1"
    nodes = ["name,type,attributes"]
    for title, text in TEXTS.items():
        attributes = str({"content": text}) if own_texts else "{}"
        nodes.append(f'Doc {title},document,"{attributes}"')
    nodes += ["orsby,entity,{}", "nora whitlock,person,\"{'description': 'She founded it, alone.', 'born': 1801}\"",
              "river aldra,entity,", "lake mira,entity,{}"]  # fmt: skip
    write(stage / "nodes.csv", "\n".join(nodes) + "\n")
    write(stage / "relations.csv", "name,attributes\nlies on,{}\nfounded,{}\nflows into,{}\nis_mentioned_in,{}\n")
    write(
        stage / "edges.csv",
        "source,relation,target,attributes\n"
        "orsby,lies on,river aldra,{}\nnora whitlock,founded,orsby,\"{'weight': 2}\"\n"
        "river aldra,flows into,lake mira,{}\n"
        "orsby,is_mentioned_in,Doc Orsby,{}\nnora whitlock,is_mentioned_in,Doc Orsby,{}\n"
        "river aldra,is_mentioned_in,Doc Orsby,{}\nDoc River Aldra,mentions,river aldra,{}\n"
        "lake mira,is_mentioned_in,Doc River Aldra,{}\norsby,equivalent,nora whitlock,{}\n"
        "Doc Orsby,next,Doc Fog,{}\n",
    )
    asked = {
        "question": "Who founded it?", "answer": "Nora Whitlock", "answer_aliases": ["N. Whitlock", "Whitlock, Nora"],
        "start_nodes": {"entity": ["orsby"], "document": ["Doc Fog"]},
        "target_nodes": {"entity": "nora whitlock", "document": ["Doc Orsby"]}, "supporting_documents": ["Doc Orsby"],
    }  # fmt: skip
    write(stage / "train.json", [asked])
    if not own_texts:
        write(folder / "raw" / "documents.json", {f"Doc {title}": text for title, text in TEXTS.items()})
    return folder


# -- Youtu-GraphRAG --------------------------------------------------------------------------------------------------


def youtu_node(name: Any, chunk: str | None, kind: str = "", label: str = "entity") -> dict:
    properties = {"name": name} | ({"chunk id": chunk} if chunk else {}) | ({"schema_type": kind} if kind else {})
    return {"label": label, "properties": properties}


def youtu_edges() -> list[dict]:
    orsby, nora = youtu_node("Orsby", "aaaa1111", "location"), youtu_node("Nora Whitlock", "aaaa1111", "person")
    aldra, mira = youtu_node("River Aldra", "aaaa1111", "location"), youtu_node("Lake Mira", "bbbb2222")
    community = youtu_node("Waters", None, label="community")
    edges = [
        (orsby, "lies_on", aldra),
        (nora, "founded", orsby),
        (aldra, "flows_into", mira),
        (orsby, "has_attribute", youtu_node("type: town", "aaaa1111", label="attribute")),
        (orsby, "has_attribute", youtu_node("status: old", "aaaa1111", label="attribute")),
        (orsby, "has_attribute", youtu_node("weather: fog", "cccc3333", label="attribute")),
        (aldra, "member_of", community),
        (mira, "member_of", community),
        (orsby, "represented_by", youtu_node("Orsby", None, label="keyword")),
    ]
    return [{"start_node": start, "relation": relation, "end_node": end} for start, relation, end in edges]


def youtu(folder: Path) -> Path:
    write(folder / "output" / "graphs" / "tales_new.json", youtu_edges())
    write(
        folder / "output" / "chunks" / "tales.txt",
        f"id: aaaa1111\tChunk: Orsby {ORSBY}\nid: bbbb2222\tChunk: River Aldra {ALDRA}\n"
        f"id: cccc3333\tChunk: Fog\\n{FOG}\nid: zzzz9999\tChunk: River Aldra {ALDRA}\n",
    )
    return folder


LAYOUTS = {
    "hipporag": {"2": hipporag2, "1": hipporag1},
    "msgraphrag": {str(v): (lambda folder, v=v: msgraphrag(folder, v)) for v in (3, 2, 1, 0)},
    "lightrag": {"1.5": lightrag, "early": lambda folder: lightrag(folder, old=True)},
    "gfmrag": {"1": gfmrag1, "2": gfmrag2, "2-texts": lambda folder: gfmrag2(folder, own_texts=True)},
    "youtu": {"2025": youtu},
}
