"""Runs, gold, rankings of other systems and traces on the command line."""

from __future__ import annotations

import json

from workbench.testing.data import tiny_index

QUESTIONS = [
    {"id": "q1", "question": "Who founded Orsby?", "answers": ["Nora Whitlock"], "support": []},
    {"id": "q2", "question": "Where does the River Aldra end?", "answers": ["Lake Mira"], "support": []},
]


def test_a_run_goes_out_and_is_measured_beside_others(workbench, tmp_path):
    index = tiny_index()
    first, second = index.passages.passages[0].id, index.passages.passages[1].id
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(one) + "\n" for one in QUESTIONS))
    (tmp_path / "qrels.txt").write_text(f"q1 0 {first} 1\nq2 0 {second} 2\n")
    asked = ("-q", tmp_path / "q.jsonl", "--qrels", tmp_path / "qrels.txt", "--measure", "mrr@5", "--json")
    workbench("evaluate", index.folder, *asked, "-m", "bm25", "-o", tmp_path / "run")
    files = ("--trec", tmp_path / "trec", "--openinference", tmp_path / "t.jsonl", "--index", index.folder)
    said = json.loads(workbench("export", tmp_path / "run", *files, "--begin", "2026-11-24", "--json").stdout)
    assert [one["file"].rpartition("/")[2] for one in said] == ["qrels.txt", "bm25.run", "t.jsonl"]
    spans = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text().splitlines()]
    assert spans[0]["start_time"] == "2026-11-24T00:00:00.000000+00:00"
    assert any("document.content" in name for name in spans[0]["attributes"])

    (tmp_path / "theirs.run").write_text(f"q1 Q0 {second} 1 3 theirs\nq1 Q0 {first} 2 2 theirs\n")
    rankings = ("--ranking", tmp_path / "trec" / "bm25.run", "--ranking", tmp_path / "theirs.run")
    said = json.loads(
        workbench("evaluate", index.folder, *asked, "-m", "bm25", *rankings, "-o", tmp_path / "both").stdout
    )
    table = {row["method"]: row["mrr@5"] for row in said["table"]}
    assert table["bm25"] == table["ranking[tag=bm25]"] and table["ranking[tag=theirs]"] == (1 / 2 + 0) / 2
    assert said["notes"] == ["theirs: 1 question of 2 without a ranking in the file: nothing is found"]
    assert {row["method"] for row in said["compare"]} == {"ranking[tag=bm25]", "ranking[tag=theirs]"}


def test_what_is_wrong_is_said_in_a_line(workbench, tmp_path):
    index = tiny_index()
    for words in ((), ("--to", tmp_path / "g.graphml", "--trec", tmp_path / "t")):
        assert "name what to write" in workbench("export", index.folder, *words, code=1).output
    words = ("--to", tmp_path / "g.graphml", "--seconds")
    assert "belong to --openinference" in workbench("export", index.folder, *words, code=1).output
    assert "is not a run" in workbench("export", index.folder, "--trec", tmp_path / "t", code=1).output
    (tmp_path / "q.jsonl").write_text(json.dumps(QUESTIONS[0]) + "\n")
    (tmp_path / "bad.run").write_text("q1 Q0 p1\n")
    words = ("evaluate", index.folder, "-q", tmp_path / "q.jsonl", "--ranking", tmp_path / "bad.run")
    assert "bad.run, line 1 has 3 fields" in workbench(*words, code=1).output
