"""The bundled world on curated facts: does the graph help once its facts are right? Engine `rules`, so no model.

    python benchmarks/curated.py FOLDER

builds both indexes in FOLDER (curated facts, facts by rules), asks all questions, and prints for each `all_gold@5` of
dense, hipporag2 and bdtr and, for questions whose answer is one entity of the gold graph, the F1 of the nodes that
lightrag and dotrag return against that answer alone.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import workbench as wb
from workbench.data import Dataset
from workbench.records import Question

LAYERS = ("passages", "facts", "synonyms", "typed")
NODES = ("node_f1:nodes", "node_recall:nodes", "node_precision:nodes", "node_count:nodes")


def of_entities(data: Dataset) -> list[Question]:
    """The questions that one entity of the gold graph answers, with its name as the set of answers."""
    named: dict[str, set[str]] = defaultdict(set)
    for entity in data.graph.entities:
        for name in (entity.name, *entity.aliases):
            named[name.casefold()].add(entity.name)
    found = []
    for question in data.questions:
        names = set().union(*(named[answer.casefold()] for answer in question.answers))
        if len(names) == 1:
            found.append(replace(question, answers=tuple(names), answer_set=True))
    return found


def measured(folder: Path, extraction: str | None, asked: Sequence[Question], data: Dataset) -> None:
    rules = wb.engine("rules")
    name = extraction or "rules"
    index = wb.Index.build(data, rules, folder / name, extraction=extraction, layers=LAYERS)
    ranking = [wb.method(spec, index, rules) for spec in ("dense", "hipporag2", "bdtr")]
    run = wb.evaluate(
        data.questions, ranking, None, folder / f"{name}-ranking", measures=["all_gold@5", "recall@5"], trace="off"
    )
    print(f"\n{name}\n{run.table()[['recall@5', 'all_gold@5']].to_string(float_format='{:.4f}'.format)}")
    walking = [wb.method(spec, index, rules) for spec in ("lightrag", "dotrag")]
    run = wb.evaluate(asked, walking, None, folder / f"{name}-nodes", measures=NODES, trace="off")
    nodes = run.table()[list(NODES)].to_string(float_format="{:.4f}".format)
    print(f"{len(asked)} questions answered by one entity\n{nodes}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    meridian = wb.load("meridian")
    for offered in ("curated", None):
        measured(Path(sys.argv[1]), offered, of_entities(meridian), meridian)
